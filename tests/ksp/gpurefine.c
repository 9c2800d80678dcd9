static char help[] = "Krylov methods on the device with a matrix whose values single storage rounds: the residual of the given matrix meets the tolerance.\n\n\
  -method <gpucg>  : type\n\
  -print           : prints iterations and residuals\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "ksp/kspview.h"
#include <petscksp.h>

typedef struct {
  const char *name;
  PetscInt    n;    /* cells in each of the two directions; 1 in the second one if it is negative */
  PetscReal   jump; /* ratio of the largest and the smallest coefficient */
  PetscReal   convection;
  PetscReal   shift; /* added to the diagonal */
} Problem;

/* The last problem has a condition number of about 1e8, so that replacements with single precision cannot reduce the residual. */
static const Problem Problems[] = {
  {"smooth", 30, 2, 0, 0.01}, {"jumps", 24, 1e3, 0, 1e-3}, {"large jumps", 20, 1e6, 0, 1e-2}, {"convection", 24, 2, 0.4, 0.01}, {"long chain", -400, 1e4, 0, 1e-7},
};

/* A coefficient between 1 and jump that single precision rounds. */
static PetscReal Coefficient(const Problem *p, PetscInt a, PetscInt b)
{
  return PetscPowReal(p->jump, (PetscReal)((a * 7 + b * 13) % 11) / 10) / 3;
}

/* Diffusion with variable coefficients, and convection. */
static PetscErrorCode Create(const Problem *p, MatType type, Mat *A)
{
  const PetscInt nx = PetscAbsInt(p->n), ny = p->n < 0 ? 1 : p->n, n = nx * ny, strides[] = {1, nx};

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  for (PetscInt i = 0; i < n; i++) {
    PetscReal diagonal = p->shift;

    for (int d = 0; d < 2; d++) {
      const PetscInt x = d ? i / nx : i % nx, size = d ? ny : nx;

      for (int s = -1; s < 2; s += 2) {
        const PetscInt  j = i + s * strides[d];
        const PetscReal c = Coefficient(p, PetscMin(i, j), PetscMax(i, j)) * (1 - s * p->convection);

        if (x + s < 0 || x + s >= size) continue;
        PetscCall(MatSetValue(*A, i, j, -c, INSERT_VALUES));
        diagonal += c;
      }
    }
    PetscCall(MatSetValue(*A, i, i, diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, and computes the norm that the KSP tests of the residual of the given system, relative to that of the right-hand side. */
static PetscErrorCode Solve(Mat A, Mat exact, const char type[], PCType pctype, PCSide side, PetscReal rtol, PetscBool refine, PetscInt *its, KSPConvergedReason *reason, PetscReal *relative, PetscBool *switched)
{
  KSP       ksp;
  PC        pc;
  Vec       b, x, r, z;
  PetscReal norm;
  char      text[8192], *found;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(exact, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(b, &z));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSetPCSide(ksp, side));
  PetscCall(KSPSetTolerances(ksp, rtol, 1e-50, PETSC_DEFAULT, 3000));
  if (!refine) PetscCall(PetscOptionsSetValue(NULL, "-ksp_gpu_refine", "0"));
  PetscCall(KSPSetFromOptions(ksp));
  if (!refine) PetscCall(PetscOptionsClearValue(NULL, "-ksp_gpu_refine"));
  for (int k = 0; k < 2; k++) { /* the second solve uses the recorded graph and the uploaded values */
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
  }
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(GetView(ksp, sizeof(text), text));
  PetscCall(PetscStrstr(text, "used the values in double precision", &found));
  *switched = (PetscBool)(found != NULL);
  PetscCall(PetscStrstr(text, "times by one in double precision", &found));
  PetscCheck(found || *switched || !refine || A == exact, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The view does not tell of the refinement: %s", text);
  PetscCall(MatMult(exact, x, r));
  PetscCall(VecAYPX(r, -1, b));
  if (side == PC_LEFT) {
    PetscCall(PCApply(pc, r, z));
    PetscCall(VecNorm(z, NORM_2, relative));
    PetscCall(PCApply(pc, b, z));
    PetscCall(VecNorm(z, NORM_2, &norm));
  } else {
    PetscCall(VecNorm(r, NORM_2, relative));
    PetscCall(VecNorm(b, NORM_2, &norm));
  }
  *relative /= norm;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(const Problem *p, const char type[], const char base[], PCType pctype, PCSide side, PetscBool print, PetscBool *anyswitched)
{
  const PetscReal tolerances[] = {1e-5, 1e-9, 1e-12};
  Mat             A, B;

  PetscFunctionBeginUser;
  PetscCall(Create(p, MATGPUCSR, &A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_SINGLE));
  PetscCall(Create(p, MATAIJ, &B));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(tolerances); t++) {
    PetscInt           its[3];
    KSPConvergedReason reason[3];
    PetscReal          relative[3];
    PetscBool          switched[3];

    PetscCall(Solve(B, B, base, pctype, side, tolerances[t], PETSC_TRUE, &its[0], &reason[0], &relative[0], &switched[0]));
    PetscCall(Solve(A, B, type, pctype, side, tolerances[t], PETSC_TRUE, &its[1], &reason[1], &relative[1], &switched[1]));
    PetscCall(Solve(A, B, type, pctype, side, tolerances[t], PETSC_FALSE, &its[2], &reason[2], &relative[2], &switched[2]));
    if (print)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%s,%s,%g: base %" PetscInt_FMT " %d %.3g, refined %" PetscInt_FMT " %d %.3g%s, not refined %" PetscInt_FMT " %d %.3g\n", p->name, pctype, PCSides[side], (double)tolerances[t], its[0], (int)reason[0],
                            (double)relative[0], its[1], (int)reason[1], (double)relative[1], switched[1] ? " switched" : "", its[2], (int)reason[2], (double)relative[2]));
    else /* where PETSc's type with aij does not reach the tolerance either, rounding decides what is attained */
      PetscCheck(reason[0] < 0 || (reason[1] > 0 && relative[0] > tolerances[t] && relative[1] <= 100 * relative[0]) || (reason[1] > 0 && relative[1] <= 1.05 * PetscMax(tolerances[t], relative[0])), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s, %s, tolerance %g: %s, the residual of the given system is %g, with %s and aij %g", p->name, pctype, (double)tolerances[t], KSPConvergedReasons[reason[1]], (double)relative[1], base, (double)relative[0]);
    *anyswitched = (PetscBool)(*anyswitched || switched[1]);
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char        type[64] = KSPGPUCG;
  const char *base;
  PetscBool   print, cg, gmres, switched = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-method", type, sizeof(type), NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-print", &print));
  PetscCall(PetscStrcmp(type, KSPGPUCG, &cg));
  PetscCall(PetscStrcmp(type, KSPGPUGMRES, &gmres));
  base = type + 3; /* without "gpu" */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Problems); k++) {
    if (cg && Problems[k].convection != 0) continue;
    if (!cg && Problems[k].jump > 1e4) continue; /* rounding decides whether BiCGStab converges */
    if (!cg && Problems[k].n < 0) continue;
    if (gmres && (Problems[k].jump > 2 || Problems[k].n < 0)) continue; /* GMRES with restarts does not converge */
    PetscCall(Test(&Problems[k], type, base, PCJACOBI, PC_LEFT, print, &switched));
    PetscCall(Test(&Problems[k], type, base, PCGPUFSAI, cg ? PC_LEFT : PC_RIGHT, print, &switched));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "tested %s\n", Problems[k].name));
  }
  if (print) PetscCall(PetscPrintf(PETSC_COMM_SELF, "a solve has %s\n", switched ? "switched to double precision" : "not switched"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: cg
      args: -method gpucg
   test:
      suffix: bcgs
      args: -method gpubcgs
   test:
      suffix: gmres
      args: -method gpugmres

TEST*/
