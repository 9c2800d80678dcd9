/* Tests of preconditioners that multiply by approximate inverses or by their factors: all entries, the application, new values, new patterns. */
#ifndef INVERSE_H
#define INVERSE_H

#include "applied.h"
#include "grid.h"
#include "pc/inverse/pcinverse.h"

/* What an inverse should be. */
typedef struct {
  PetscInt  power;
  PetscReal threshold, filter;
  PetscInt  steps, step_size; /* steps > 0: an adaptive pattern */
  PetscBool local;
} Expected;

/* A preconditioner type. */
typedef struct {
  const char *type;
  PetscReal   skew;                                              /* of the matrices for new values */
  PetscErrorCode (*set)(PC, const Expected *, MatGPUCSRStorage); /* sets the options by functions */
  PCGPUInverse *(*get)(PC);
  PetscErrorCode (*row)(const Grid *, const Expected *, PetscInt first, PetscInt last, PetscInt row, PetscInt *m, PetscInt J[], PetscReal y[]); /* computes the expected row from columns first to last - 1 of A */
  PetscErrorCode (*use)(PC, const Grid *, PetscReal tolerance);                                                                                 /* checks the application */
} InverseType;

static PetscErrorCode InverseCreate(const InverseType *T, const Expected *e, MatGPUCSRStorage storage, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, T->type));
  PetscCall((*T->set)(*pc, e, storage));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares all entries.  The tolerance is relative to the largest entry of a row. */
static PetscErrorCode InverseCheckRows(const InverseType *T, PC pc, const Grid *g, const Expected *e, const char what[])
{
  Mat        M = (*T->get)(pc)->matrix;
  PetscInt   begin, end, *J;
  PetscReal *y;

  PetscFunctionBeginUser;
  PetscCheck(M, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: there is no inverse", what);
  PetscCall(MatGetOwnershipRange(M, &begin, &end));
  PetscCall(PetscMalloc2(g->size, &J, g->size, &y));
  for (PetscInt row = begin; row < end; row++) {
    PetscInt           m       = 0, ncols;
    PetscReal          largest = 0;
    const PetscInt    *cols;
    const PetscScalar *vals;

    PetscCall((*T->row)(g, e, e->local ? begin : 0, e->local ? end : g->size, row, &m, J, y));
    PetscCall(MatGetRow(M, row, &ncols, &cols, &vals));
    PetscCheck(ncols == m, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT " has %" PetscInt_FMT " entries, not %" PetscInt_FMT, what, row, ncols, m);
    for (PetscInt a = 0; a < m; a++) largest = PetscMax(largest, PetscAbsReal(y[a]));
    for (PetscInt a = 0; a < m; a++) {
      PetscCheck(cols[a] == J[a] && PetscAbsReal(vals[a] - y[a]) <= 1e-12 * largest, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT ": column %" PetscInt_FMT " has %g; expected: column %" PetscInt_FMT " with %g", what, row, cols[a],
                 (double)vals[a], J[a], (double)y[a]);
    }
    PetscCall(MatRestoreRow(M, row, &ncols, &cols, &vals));
  }
  PetscCall(PetscFree2(J, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the entries and the application. */
static PetscErrorCode InverseCheck(const InverseType *T, PC pc, const Grid *g, const Expected *e, MatGPUCSRStorage storage, const char what[])
{
  PetscFunctionBeginUser;
  PetscCall(InverseCheckRows(T, pc, g, e, what));
  PetscCall((*T->use)(pc, g, storage == MAT_GPUCSR_STORAGE_DOUBLE ? 1e-13 : 1e-6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InverseTestCases(const InverseType *T, const Grid *g, MatType type, MatGPUCSRStorage storage, size_t n, const Expected cases[])
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(GridCreate(g, PETSC_COMM_WORLD, type, &A));
  for (size_t k = 0; k < n; k++) {
    PC   pc;
    char what[64];

    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %" PetscInt_FMT " unknowns, case %d", type, g->size, (int)k));
    PetscCall(InverseCreate(T, &cases[k], storage, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(InverseCheck(T, pc, g, &cases[k], storage, what));
    PetscCheck((*T->get)(pc)->setups == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: an application sets up anew", what);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two changes of the values keep the pattern and the matrix of the inverse.  The second one finds what the first has kept. */
static PetscErrorCode InverseTestValues(const InverseType *T, const Expected *e, MatGPUCSRStorage storage, const Grid *g, Mat A, PC pc)
{
  PCGPUInverse *V = (*T->get)(pc);
  const Mat     M = V->matrix;

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    Grid same = *g;
    Mat  S;

    same.wave = 1.7 - 0.2 * k;
    PetscCall(GridCreate(&same, PETSC_COMM_WORLD, MATAIJ, &S));
    PetscCall(MatCopy(S, A, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&S));
    if (!k) {
      PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
      PetscCall(PCSetUp(pc));
      PetscCall(InverseCheckRows(T, pc, g, e, "a preconditioner that is kept"));
      PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
    }
    PetscCall(PCSetUp(pc));
    PetscCheck(M == V->matrix && V->refills == k + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "New values: the inverse was built anew");
    PetscCall(InverseCheck(T, pc, &same, e, storage, "new values"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values keep the pattern and the matrix of the inverse; another matrix, another power and another size do not. */
static PetscErrorCode InverseTestReuse(const InverseType *T, const Expected *e, MatGPUCSRStorage storage)
{
  Grid     g = GridOf(6, 2), other, small = GridOf(5, 1);
  Expected more = *e;
  PC       pc;
  Mat      A, B;

  PetscFunctionBeginUser;
  g.skew      = T->skew;
  other       = g;
  other.extra = 3;
  more.power++;
  PetscCall(GridCreate(&g, PETSC_COMM_WORLD, MATGPUCSR, &A));
  PetscCall(GridCreate(&other, PETSC_COMM_WORLD, MATAIJ, &B));
  PetscCall(InverseCreate(T, e, storage, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(InverseCheck(T, pc, &g, e, storage, "first set-up"));
  PetscCall(InverseTestValues(T, e, storage, &g, A, pc));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCSetUp(pc));
  PetscCheck((*T->get)(pc)->refills == 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Another matrix: the pattern was kept");
  PetscCall(InverseCheck(T, pc, &other, e, storage, "another matrix"));
  PetscCall((*T->set)(pc, &more, storage));
  PetscCall(PCSetUp(pc));
  PetscCall(InverseCheck(T, pc, &other, &more, storage, "another power"));
  PetscCall((*T->set)(pc, e, storage));
  PetscCall(PCReset(pc));
  PetscCall(MatDestroy(&A));
  PetscCall(GridCreate(&small, PETSC_COMM_WORLD, MATAIJ, &A));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(InverseCheck(T, pc, &small, e, storage, "another size"));
  PetscCall(PCSetType(pc, PCJACOBI));
  for (int k = 0; k < 2; k++) PetscCall(PCSetType(pc, T->type));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up with one option. */
static PetscErrorCode InverseSetUpWith(const InverseType *T, const Expected *e, Mat A, const char option[], const char value[], PC *pc)
{
  char name[32];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "-pc_%s_%s", T->type, option));
  PetscCall(PetscOptionsSetValue(NULL, name, value));
  PetscCall(InverseCreate(T, e, MAT_GPUCSR_STORAGE_SINGLE, pc));
  PetscCall(PetscOptionsClearValue(NULL, name));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetUp(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host the number of threads changes no bit.  The device computes the same rows as the host, up to rounding. */
static PetscErrorCode InverseTestThreads(const InverseType *T, const Expected *e, Mat A)
{
  static const char *threads[] = {"1", "3", "16"};
  Mat                M, D;
  PC                 pc, first;
  PetscReal          norm, difference;
  PetscBool          same;

  PetscFunctionBeginUser;
  PetscCall(InverseSetUpWith(T, e, A, "host", "1", &first));
  M = (*T->get)(first)->matrix;
  PetscCheck((*T->get)(first)->hosted, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The device has computed rows that the host should compute");
  PetscCall(InverseSetUpWith(T, e, A, "host", "0", &pc));
  PetscCall(MatDuplicate((*T->get)(pc)->matrix, MAT_COPY_VALUES, &D));
  PetscCall(MatNorm(M, NORM_FROBENIUS, &norm));
  PetscCall(MatAXPY(D, -1, M, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(D, NORM_FROBENIUS, &difference));
  PetscCheck(difference <= 1e-13 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The rows of the device differ from those of the host by %g", (double)(difference / norm));
  PetscCheck(PetscAbsReal((*T->get)(pc)->measure - (*T->get)(first)->measure) <= 1e-12 * PetscAbsReal((*T->get)(first)->measure), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The measure of the device differs from that of the host");
  PetscCall(MatDestroy(&D));
  PetscCall(PCDestroy(&pc));
  for (int k = 0; k < 3; k++) {
    char option[48];

    PetscCall(PetscSNPrintf(option, sizeof(option), "-pc_%s_threads", T->type));
    PetscCall(PetscOptionsSetValue(NULL, option, threads[k]));
    PetscCall(InverseSetUpWith(T, e, A, "host", "1", &pc));
    PetscCall(PetscOptionsClearValue(NULL, option));
    PetscCall(MatEqual(M, (*T->get)(pc)->matrix, &same));
    PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s threads change the inverse", threads[k]);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(PCDestroy(&first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
