static char help[] = "Time of whole solves by preconditioned Krylov methods, set-up included: CSV on standard output.\n\n\
  -matrices <name,...>  grid7-<n>, grid27-<n>, elasticity-<n>, convection-<n>, or files (Matrix Market: .mtx, .mm; else PETSc's binary format); default grid7-32\n\
  -types <type,...>     matrix types of pcconfigs.def; default gpucsr, and aijcusparse if PETSc has it\n\
  -only <text|text...>  only solvers whose label is one of these texts, between which are bars\n\
  -tolerance <r>        true relative residual, computed in double precision with a matrix of type aij on the host; default 1e-8\n\
  -repeats <n>          timed solves and timed set-ups with new values, of which the median is printed; default 3\n\
  -max_it <n>           upper bound on the iterations; default 10000\n\
  -seconds <s>          begins no further solver after this time; default 1e9\n\
Matrices of the library are stored in double precision. Columns of the table:\n\
  first_ms  a solve with a new matrix: upload, set-up of the preconditioner, and iterations. A smaller matrix is solved before, so that the device has loaded all programs\n\
  solve_ms  a further solve, median\n\
  again_ms  a solve after the values of the matrix have changed, median: upload of the values, numeric set-up, and iterations\n\n";

#include "bench/order.h"
#include "bench/pcmatrices.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define MAX 64

typedef struct {
  char        kind;
  const char *label, *type, *options;
} Config;

static const Config Configs[] = {
#define CONFIG(kind, label, type, options) {kind, label, type, options},
#include "bench/pcconfigs.def"
#undef CONFIG
};

typedef struct {
  PetscInt       repeats, maxit;
  PetscReal      tolerance, seconds;
  PetscLogDouble start;
} Bench;

/* The result of a solver. */
typedef struct {
  KSPConvergedReason reason;
  PetscInt           its;
  PetscReal          residual; /* true relative residual */
  double             first, solve, again;
} Result;

/* A matrix of a type, its vectors and its solver. */
typedef struct {
  Mat A;
  Vec b, x;
  KSP ksp;
} Solver;

static PetscErrorCode SolverDestroy(Solver *s)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscCall(MatDestroy(&s->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolverCreate(const Bench *b, const Config *c, Mat host, PetscBool spd, PetscReal rtol, Solver *s)
{
  PetscBool gmres, cg, ours;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(host, c->type, MAT_INITIAL_MATRIX, &s->A));
  PetscCall(PetscObjectTypeCompare((PetscObject)s->A, MATSEQAIJGPUCSR, &ours));
  if (ours) PetscCall(MatGPUCSRSetStorage(s->A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(MatSetFromOptions(s->A));
  if (spd) PetscCall(MatSetOption(s->A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(s->A, &s->x, &s->b));
  PetscCall(VecSet(s->b, 1));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &s->ksp));
  PetscCall(KSPSetOperators(s->ksp, s->A, s->A));
  PetscCall(KSPSetTolerances(s->ksp, rtol, 1e-300, 1e30, b->maxit));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)s->ksp, &gmres, KSPGMRES, KSPBCGS, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)s->ksp, &cg, KSPCG, "gpucg", ""));
  if (gmres) PetscCall(KSPSetPCSide(s->ksp, PC_RIGHT));
  if (gmres || cg) PetscCall(KSPSetNormType(s->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves from zero.  The norm waits for the device. */
static PetscErrorCode SolverRun(Solver *s, double *seconds)
{
  PetscLogDouble begin, end;
  PetscReal      norm;

  PetscFunctionBeginUser;
  PetscCall(VecSet(s->x, 0));
  PetscCall(VecNorm(s->b, NORM_2, &norm));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSolve(s->ksp, s->b, s->x));
  PetscCall(VecNorm(s->x, NORM_2, &norm));
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The true relative residual, with the matrix on the host. */
static PetscErrorCode SolverResidual(const Solver *s, Mat host, PetscReal *residual)
{
  const PetscScalar *a;
  PetscScalar       *h;
  PetscInt           n;
  PetscReal          norm;
  Vec                x, r;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(s->x, &n));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &x));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(VecGetArrayRead(s->x, &a));
  PetscCall(VecGetArray(x, &h));
  PetscCall(PetscArraycpy(h, a, n));
  PetscCall(VecRestoreArray(x, &h));
  PetscCall(VecRestoreArrayRead(s->x, &a));
  PetscCall(MatMult(host, x, r));
  PetscCall(VecScale(r, -1));
  PetscCall(VecShift(r, 1)); /* the right-hand side consists of ones */
  PetscCall(VecNorm(r, NORM_2, &norm));
  *residual = norm / PetscSqrtReal((PetscReal)n);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The median of `repeats` solves.  change: after new values of the matrix, which differ by a factor of 1. */
static PetscErrorCode SolverRepeat(const Bench *b, Solver *s, PetscBool change, double *seconds)
{
  double times[MAX];

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < b->repeats; r++) {
    if (change) {
      PetscScalar *values;

      PetscCall(MatSeqAIJGetArray(s->A, &values));
      PetscCall(MatSeqAIJRestoreArray(s->A, &values)); /* increases the object state */
    }
    PetscCall(SolverRun(s, &times[r]));
  }
  qsort(times, (size_t)b->repeats, sizeof(double), CompareDoubles);
  *seconds = times[b->repeats / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a solver.  If the true residual exceeds the tolerance, solves again with a smaller tolerance of the Krylov method. */
static PetscErrorCode Run(const Bench *b, const Config *c, Mat host, PetscBool spd, PetscBool timed, Result *r)
{
  PetscReal rtol = b->tolerance;

  PetscFunctionBeginUser;
  for (int round = 0; round < 4; round++) {
    Solver s = {NULL};

    PetscCall(SolverCreate(b, c, host, spd, rtol, &s));
    PetscCall(SolverRun(&s, &r->first));
    PetscCall(KSPGetConvergedReason(s.ksp, &r->reason));
    PetscCall(KSPGetIterationNumber(s.ksp, &r->its));
    PetscCall(SolverResidual(&s, host, &r->residual));
    if (r->reason > 0 && r->residual > b->tolerance && round < 3 && timed) rtol *= 0.5 * b->tolerance / r->residual;
    else round = 4;
    if (round == 4 && r->reason > 0 && timed) {
      PetscCall(SolverRepeat(b, &s, PETSC_FALSE, &r->solve));
      PetscCall(SolverRepeat(b, &s, PETSC_TRUE, &r->again));
    }
    PetscCall(SolverDestroy(&s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a solver with its options, and prints a line of the table.  small: a matrix for the first run */
static PetscErrorCode Measure(const Bench *b, const char name[], const Config *c, Mat host, Mat small, PetscBool spd)
{
  Result         r = {KSP_CONVERGED_ITERATING, 0, 0, 0, 0, 0};
  PetscOptions   options;
  PetscErrorCode err;
  MatInfo        info;
  PetscInt       n;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, c->options));
  PetscCall(PetscOptionsPush(options));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = Run(b, c, small, spd, PETSC_FALSE, &r);
  if (!err) err = Run(b, c, host, spd, PETSC_TRUE, &r);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&options));
  PetscCall(MatGetInfo(host, MAT_LOCAL, &info));
  PetscCall(MatGetSize(host, &n, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%" PetscInt_FMT ",%.0f,%s,%s,\"%s\",%" PetscInt_FMT ",%.2e,%.3f,%.3f,%.3f,%s\n", strrchr(name, '/') ? strrchr(name, '/') + 1 : name, n, info.nz_used, spd ? "spd" : "nonsymmetric", c->type, c->label, r.its,
                        (double)r.residual, 1e3 * r.first, 1e3 * r.solve, 1e3 * r.again, err ? "error" : KSPConvergedReasons[r.reason]));
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether the label is in a list with bars between the names.  An empty list has all. */
static PetscBool IsListed(const char label[], const char list[])
{
  const size_t n = strlen(label);

  for (const char *at = list; *list && at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
    if (!strncmp(at, label, n) && (at[n] == '|' || !at[n])) return PETSC_TRUE;
  }
  return (PetscBool) !*list;
}

static PetscErrorCode MeasureMatrix(const Bench *b, const char name[], PetscInt nt, char *types[], const char only[])
{
  Mat       host, small;
  PetscBool spd, chosen;
  PetscInt  bs;
  char      smaller[64];

  PetscFunctionBeginUser;
  PetscCall(PCMatrixCreate(name, &host, &spd));
  PetscCall(MatGetBlockSize(host, &bs));
  PetscCall(PetscSNPrintf(smaller, sizeof(smaller), "%s-8", bs > 1 ? "elasticity" : spd ? "grid7" : "convection"));
  PetscCall(PCMatrixCreate(smaller, &small, &chosen));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Configs); k++) {
    const Config  *c = &Configs[k];
    PetscLogDouble now;

    chosen = (PetscBool)(c->kind == 'b' ? bs > 1 : (c->kind == 's') == spd);
    chosen = (PetscBool)(chosen && IsListed(c->label, only));
    PetscCall(PetscTime(&now));
    if (now - b->start > b->seconds) chosen = PETSC_FALSE;
    for (PetscInt t = 0; t < nt && chosen; t++) {
      if (!strcmp(types[t], c->type)) PetscCall(Measure(b, name, c, host, small, spd));
    }
  }
  PetscCall(MatDestroy(&host));
  PetscCall(MatDestroy(&small));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets a list of names from an option.  The caller frees them. */
static PetscErrorCode GetList(const char option[], const char initial[], PetscInt *n, char *list[])
{
  PetscBool set;

  PetscFunctionBeginUser;
  *n = MAX;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, option, list, n, &set));
  if (!set) {
    *n = 1;
    PetscCall(PetscStrallocpy(initial, &list[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench       b = {.repeats = 3, .maxit = 10000, .tolerance = 1e-8, .seconds = 1e9};
  char       *matrices[MAX], *types[MAX], only[1024] = "";
  PetscInt    nm, nt;
  PetscBool   set;
  const char *device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(GetList("-matrices", "grid7-32", &nm, matrices));
  PetscCall(GetList("-types", MATGPUCSR, &nt, types));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-types", &set));
#if defined(PETSC_HAVE_CUDA)
  if (!set) PetscCall(PetscStrallocpy("aijcusparse", &types[nt++]));
#endif
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", only, sizeof(only), NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &b.tolerance, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &b.seconds, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &b.repeats, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-max_it", &b.maxit, NULL));
  PetscCheck(b.repeats > 0 && b.repeats <= MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeats must be 1 to %d", MAX);
  PetscCall(PetscTime(&b.start));
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# PETSc %d.%d.%d, gpucsr on %s, to a true relative residual of %g, median of %d solves\nmatrix,rows,nonzeros,kind,type,solver,iterations,residual,first_ms,solve_ms,again_ms,reason\n", PETSC_VERSION_MAJOR,
                        PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, device, (double)b.tolerance, (int)b.repeats));
  for (PetscInt m = 0; m < nm; m++) PetscCall(MeasureMatrix(&b, matrices[m], nt, types, only));
  for (PetscInt m = 0; m < nm; m++) PetscCall(PetscFree(matrices[m]));
  for (PetscInt t = 0; t < nt; t++) PetscCall(PetscFree(types[t]));
  PetscCall(PetscFinalize());
  return 0;
}
