static char help[] = "KSPSolve() with factors of singular, indefinite and invalid matrices ends as with plain AIJ, and so does the next one after the values are repaired.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define N 40

static const char *const Faults[] = {"none", "zero pivot", "structurally singular", "NaN", "infinite", "indefinite"};

enum {
  FAULT_NONE,
  FAULT_PIVOT,    /* a diagonal entry becomes zero during elimination */
  FAULT_SINGULAR, /* a row has no entry apart from a stored zero on the diagonal */
  FAULT_NAN,
  FAULT_INFINITE,
  FAULT_INDEFINITE,
  FAULTS
};

/* The value of an entry of a symmetric pentadiagonal matrix with a fault at row N / 2.  The pattern does not depend on the fault. */
static PetscScalar Value(PetscInt i, PetscInt j, int fault)
{
  const PetscInt at = N / 2;

  if (fault == FAULT_SINGULAR && (i == at || j == at)) return 0;
  if (fault == FAULT_PIVOT && (i == at || j == at)) return i == j ? 0 : PetscAbsInt(i - j) == 1 && PetscMin(i, j) == at ? -1 : 0;
  if (i == j) return i != at ? 4.5 + (PetscReal)(i % 3) : fault == FAULT_NAN ? (PetscScalar)NAN : fault == FAULT_INFINITE ? (PetscScalar)INFINITY : fault == FAULT_INDEFINITE ? -3 : 5;
  return PetscAbsInt(i - j) == 1 ? -1 : -0.5;
}

static PetscErrorCode SetValues(Mat A, int fault)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < N; i++) {
    for (PetscInt j = PetscMax(0, i - 2); j < PetscMin(N, i + 3); j++) PetscCall(MatSetValue(A, i, j, Value(i, j, fault), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a solve reports. */
typedef struct {
  KSPConvergedReason reason;
  PCFailedReason     failed;
  PetscInt           its;
} Report;

/* Solves with the fault, then without it, and with it again. */
static PetscErrorCode SolveThrice(PetscBool ours, PCType type, MatFactorShiftType shift, int fault, Report r[3])
{
  Mat A;
  KSP ksp;
  PC  pc;
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, N, N, N, N));
  PetscCall(MatSetType(A, ours ? MATSEQAIJGPUCSR : MATSEQAIJ));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 5, NULL));
  PetscCall(SetValues(A, fault));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 50));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL));
  PetscCall(PCFactorSetShiftType(pc, shift));
  PetscCall(KSPSetFromOptions(ksp));
  for (int round = 0; round < 3; round++) {
    if (round) PetscCall(SetValues(A, round == 1 ? FAULT_NONE : fault));
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &r[round].reason));
    PetscCall(KSPGetIterationNumber(ksp, &r[round].its));
    PetscCall(PCGetFailedReason(pc, &r[round].failed));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(PCType type, MatFactorShiftType shift, int fault, PetscInt *differences, PetscInt *failures)
{
  static const char *const when[] = {"with the fault", "repaired", "with the fault again"};
  Report                   r[2][3];

  PetscFunctionBeginUser;
  for (int ours = 0; ours < 2; ours++) PetscCall(SolveThrice((PetscBool)ours, type, shift, fault, r[ours]));
  for (int round = 0; round < 3; round++) {
    const Report *a = &r[0][round], *b = &r[1][round];

    if (b->reason == KSP_DIVERGED_PC_FAILED) (*failures)++;
    if (a->reason == b->reason && a->failed == b->failed && PetscAbsInt(a->its - b->its) <= 1) continue;
    (*differences)++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, shift %s, %s, %s: %s after %" PetscInt_FMT " iterations, failure %d; with plain AIJ %s, %" PetscInt_FMT ", %d\n", type, MatFactorShiftTypes[shift], Faults[fault], when[round],
                          KSPConvergedReasons[b->reason], b->its, (int)b->failed, KSPConvergedReasons[a->reason], a->its, (int)a->failed));
  }
  PetscCheck(r[1][1].reason > 0 || r[0][1].reason < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, shift %s, %s: the solve with repaired values ends with %s", type, MatFactorShiftTypes[shift], Faults[fault], KSPConvergedReasons[r[1][1].reason]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PCType             types[]     = {PCLU, PCILU, PCCHOLESKY, PCICC};
  static const MatFactorShiftType shifts[]    = {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};
  PetscInt                        differences = 0, failures = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  for (int t = 0; t < 4; t++) {
    for (int s = 0; s < 4; s++) {
      if (t == 1 && shifts[s] == MAT_SHIFT_NONZERO) continue; /* PETSc uses inblocks instead, unless the type is seqaij */
      for (int fault = 0; fault < FAULTS; fault++) PetscCall(Compare(types[t], shifts[s], fault, &differences, &failures));
    }
  }
  PetscCheck(failures > 8, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Only %d solves ended with KSP_DIVERGED_PC_FAILED", (int)failures);
  if (differences) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " differences\n", differences));
  else PetscCall(PetscPrintf(PETSC_COMM_SELF, "all solves end as with plain AIJ\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: exact
    args: -mat_gpucsr_storage double -mat_gpucsr_vec_type {{standard gpu}} -vec_gpu_separate

  test:
    suffix: sweeps
    args: -mat_gpucsr_storage double -mat_gpucsr_vec_type gpu -vec_gpu_separate -mat_gpucsr_trisolve {{jacobi isai}} -mat_gpucsr_trisolve_sweeps 100
    output_file: output/factorfailures_exact.out

TEST*/
