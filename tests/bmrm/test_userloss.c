static char help[] = "A loss from outside the library: formulas, two includes, one registration.\n\n";

#include <solvers/bmrm/bmrmloss.h>

/* sqrt(1 + (z - y)^2) - 1 */
#define LOSS       rounded
#define LOSS_KINKS -1
#define LOSS_TASK  BMRM_TASK_REGRESSION

FORMULA double LossValue(double z, double y, const double p[])
{
  return sqrt(1 + (z - y) * (z - y)) - 1;
}

FORMULA double LossSlope(double z, double y, const double p[], double side)
{
  return (z - y) / sqrt(1 + (z - y) * (z - y));
}

FORMULA double LossCurvature(double z, double y, const double p[], double side)
{
  return pow(1 + (z - y) * (z - y), -1.5);
}

FORMULA double LossOffset(double u, double y, const double p[])
{
  return sqrt(Larger(0, 1 - u * u)) - 1 - u * y;
}

#include <solvers/bmrm/bmrmpointwise.h>

static PetscErrorCode Create(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(BMRMLossSetPointwise(l, &BMRMPointwise_rounded_Host, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscReal     lambda = 0.3;
  Mat                 X;
  Vec                 y, w;
  BMRM                b;
  BMRMConvergedReason reason;
  PetscScalar         value;
  PetscReal           slope;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(BMRMLossRegister("rounded", Create));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 1, 1, NULL, &X));
  PetscCall(MatSetValue(X, 0, 0, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(X, NULL, &y));
  PetscCall(VecSet(y, 3));
  PetscCall(BMRMCreate(PETSC_COMM_SELF, &b));
  PetscCall(BMRMSetData(b, X, y));
  PetscCall(BMRMSetLossType(b, "rounded"));
  PetscCall(BMRMSetLambda(b, lambda));
  PetscCall(BMRMSetTolerances(b, 1e-12, 0, 1000));
  PetscCall(BMRMSetFromOptions(b));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(BMRMGetSolution(b, &w));
  PetscCall(VecSum(w, &value));
  slope = lambda * PetscRealPart(value) + LossSlope(PetscRealPart(value), 3, NULL, 1);
  PetscCheck(reason == BMRM_CONVERGED_GAP_ATOL && PetscAbsReal(slope) < 1e-5, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, slope %g", BMRMConvergedReasons[reason], (double)slope);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "a loss of one's own: %s, at its optimum\n", BMRMConvergedReasons[reason]));
  PetscCall(BMRMDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&X));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      requires: double

TEST*/
