static char help[] = "gpupoly and gpuspai in Krylov methods whose loop runs on the device, compared with PETSc's types: iterations, solutions, new values and patterns.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "ksp/kspview.h"
#include "gpucsrpc.h"
#include <petscksp.h>

#define Check(condition, ...) PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)

typedef struct {
  const char      *name, *base, *type, *pc;
  PCGPUPolyType    poly;
  PCGPUPolyScale   scale;
  PetscInt         degree;
  MatGPUCSRStorage storage; /* of gpupoly in the loop */
} Case;

static const Case Cases[] = {
  {"degree 0", KSPCG, KSPGPUCG, PCGPUPOLY, PC_GPUPOLY_CHEBYSHEV, PC_GPUPOLY_SCALE_JACOBI, 0, MAT_GPUCSR_STORAGE_DOUBLE},
  {"degree 1", KSPCG, KSPGPUCG, PCGPUPOLY, PC_GPUPOLY_CHEBYSHEV, PC_GPUPOLY_SCALE_JACOBI, 1, MAT_GPUCSR_STORAGE_DOUBLE},
  {"degree 2", KSPCG, KSPGPUCG, PCGPUPOLY, PC_GPUPOLY_LEASTSQUARES, PC_GPUPOLY_SCALE_JACOBI, 2, MAT_GPUCSR_STORAGE_DOUBLE},
  {"degree 0, no scaling", KSPCG, KSPGPUCG, PCGPUPOLY, PC_GPUPOLY_CHEBYSHEV, PC_GPUPOLY_SCALE_NONE, 0, MAT_GPUCSR_STORAGE_DOUBLE},
  {"degree 5, no scaling", KSPCG, KSPGPUCG, PCGPUPOLY, PC_GPUPOLY_CHEBYSHEV, PC_GPUPOLY_SCALE_NONE, 5, MAT_GPUCSR_STORAGE_AUTO},
  {"degree 8", KSPCG, KSPGPUCG, PCGPUPOLY, PC_GPUPOLY_CHEBYSHEV, PC_GPUPOLY_SCALE_JACOBI, 8, MAT_GPUCSR_STORAGE_DOUBLE},
  {"degree 8, single precision", KSPCG, KSPGPUCG, PCGPUPOLY, PC_GPUPOLY_CHEBYSHEV, PC_GPUPOLY_SCALE_JACOBI, 8, MAT_GPUCSR_STORAGE_SINGLE},
  {"an approximate inverse", KSPBCGS, KSPGPUBCGS, PCGPUSPAI, PC_GPUPOLY_CHEBYSHEV, PC_GPUPOLY_SCALE_JACOBI, 0, MAT_GPUCSR_STORAGE_SINGLE},
};

/* A grid of 5 points, with convection if the method is not CG. far: couples some points that are not neighbours */
static PetscErrorCode Create(const Case *c, PetscInt n, PetscReal factor, PetscBool far, Mat *A)
{
  const PetscReal side = strcmp(c->base, KSPCG) ? 0.3 : 0;
  PetscInt        begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 7, NULL));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    const PetscInt x = i % n, y = i / n, other = (i + n * n / 2) % (n * n);

    PetscCall(MatSetValue(*A, i, i, factor * (4.1 + 0.1 * (PetscReal)(i % 7)), ADD_VALUES));
    if (x > 0) PetscCall(MatSetValue(*A, i, i - 1, factor * (-1 - side), ADD_VALUES));
    if (x < n - 1) PetscCall(MatSetValue(*A, i, i + 1, factor * (-1 + side), ADD_VALUES));
    if (y > 0) PetscCall(MatSetValue(*A, i, i - n, -factor, ADD_VALUES));
    if (y < n - 1) PetscCall(MatSetValue(*A, i, i + n, -factor, ADD_VALUES));
    if (far && n % 2 == 0 && (i < other ? i : other) % 3 == 0) PetscCall(MatSetValue(*A, i, other, -0.01 * factor, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(const Case *c, Mat A, PetscBool ours, KSP *ksp)
{
  PetscBool poly;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, ours ? c->type : c->base));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, c->pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGPUPOLY, &poly));
  if (poly) {
    PetscCall(PCGPUPolySetType(pc, c->poly));
    PetscCall(PCGPUPolySetScale(pc, c->scale));
    PetscCall(PCGPUPolySetDegree(pc, c->degree));
    PetscCall(PCGPUPolySetStorage(pc, c->storage));
  }
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the loop ran on the device, or why not. */
static PetscErrorCode CheckView(KSP ksp, const char words[])
{
  PetscMPIInt rank;
  char        text[8192], *found;

  PetscFunctionBeginUser;
  PetscCall(GetView(ksp, sizeof(text), text));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscStrstr(text, words, &found));
  Check(found || rank, "The view does not contain '%s': %s", words, text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const Case *c, const char what[], KSP ksp[2])
{
  const char *words = "the whole loop runs on the device";
  Mat         A;
  Vec         b, x[2];
  PetscInt    its[2];
  PetscReal   norm, error;
  PetscBool   streams;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp[0], &A, NULL));
  PetscCall(MatCreateVecs(A, &b, &x[0]));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecSet(b, 1));
  for (int k = 0; k < 2; k++) {
    KSPConvergedReason reason;

    PetscCall(KSPSolve(ksp[k], b, x[k]));
    PetscCall(KSPGetConvergedReason(ksp[k], &reason));
    PetscCall(KSPGetIterationNumber(ksp[k], &its[k]));
    Check(reason > 0, "%s, %s: reason %d", c->name, what, (int)reason);
  }
  PetscCall(VecNorm(x[0], NORM_2, &norm));
  PetscCall(VecAXPY(x[1], -1, x[0]));
  PetscCall(VecNorm(x[1], NORM_2, &error));
  Check(PetscAbsInt(its[0] - its[1]) <= (c->storage == MAT_GPUCSR_STORAGE_SINGLE ? 1 : 0), "%s, %s: %d iterations, and %d on the device", c->name, what, (int)its[0], (int)its[1]);
  Check(error <= 1e-7 * norm, "%s, %s: relative difference %g", c->name, what, (double)(error / norm));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_gpucsr_stream", &streams));
  if (size > 1) words = "several ranks";
  else if (streams) words = "streamed";
  PetscCall(CheckView(ksp[1], words));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sequence of solves: the first one, the same matrix, new values, a new pattern, another size. */
static PetscErrorCode Run(const Case *c)
{
  static const PetscInt sizes[] = {12, 12, 12, 12, 7};
  static const char    *names[] = {"first solve", "same matrix", "new values", "new pattern", "another size"};
  KSP                   ksp[2];
  Mat                   A = NULL;

  PetscFunctionBeginUser;
  for (int s = 0; s < 5; s++) {
    if (s == 2) PetscCall(MatScale(A, 3));
    else if (s == 2 + 1 || s == 4 || !s) {
      PetscCall(MatDestroy(&A));
      PetscCall(Create(c, sizes[s], 0.7, (PetscBool)(s == 3), &A));
    }
    for (int k = 0; k < 2; k++) {
      if (!s) PetscCall(CreateSolver(c, A, (PetscBool)k, &ksp[k]));
      if (s == 4) PetscCall(KSPReset(ksp[k]));
      PetscCall(KSPSetOperators(ksp[k], A, A));
    }
    PetscCall(Solve(c, names[s], ksp));
  }
  for (int k = 0; k < 2; k++) PetscCall(KSPDestroy(&ksp[k]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Single precision cannot store the values: an error with a remedy, which works. */
static PetscErrorCode TestRange(void)
{
  Case           c = Cases[6];
  Mat            A;
  KSP            ksp;
  Vec            b, x;
  PetscErrorCode code;

  PetscFunctionBeginUser;
  PetscCall(Create(&c, 12, 1e60, PETSC_FALSE, &A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(MatCreateVecs(A, &b, &x));
  PetscCall(VecSet(b, 1));
  for (int k = 0; k < 2; k++) {
    c.storage = k ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE;
    PetscCall(CreateSolver(&c, A, PETSC_TRUE, &ksp));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    code = KSPSolve(ksp, b, x);
    PetscCall(PetscPopErrorHandler());
    Check(code == (k ? PETSC_SUCCESS : PETSC_ERR_ARG_OUTOFRANGE), "values of 1e60, storage %s: code %d", MatGPUCSRStorages[c.storage], (int)code);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;
  PetscBool   streams;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Cases); k++) {
    PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_gpucsr_stream", &streams));
    if (streams && !strcmp(Cases[k].pc, PCGPUSPAI)) continue; /* the approximate inverse is not streamed */
    if (size > 1 && k % 2 == 0) continue;                     /* PETSc's types solve; a few cases suffice */
    PetscCall(Run(&Cases[k]));
  }
  if (size == 1 && !streams) PetscCall(TestRange());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "recorded preconditioners: equal\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/recorded.out
      args: -mat_gpucsr_storage double
      test:
         suffix: 1
         args: -mat_gpucsr_vec_type {{gpu standard}}
      test:
         suffix: stream
         args: -mat_gpucsr_stream always
      test:
         suffix: 2
         nsize: 2
      test:
         suffix: 4
         nsize: 4

TEST*/
