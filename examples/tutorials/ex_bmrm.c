static char help[] = "Trains a classifier, predicts new examples and prints the accuracy.\n\n\
  -m <1000>: number of examples     -n <200>: number of features\n\
  All options of the solver apply, for instance -bmrm_loss logistic -bmrm_reg l1 -bmrm_monitor.\n\n";

/* Compile and run:
     mpicc ex_bmrm.c -o ex_bmrm $(pkg-config --cflags --libs gpucsr) $(pkg-config --variable=rpath gpucsr) -lm
     mpiexec -n 2 ./ex_bmrm -bmrm_lambda 1e-3 -bmrm_converged_reason

   The program makes its data: sparse examples x with a few random features, and the labels +1 or -1 by the sign of <x, v> for a random vector v. */
#include <gpucsr.h>
#include <gpucsrbmrmpredict.h>

#define PER_ROW 10 /* features of an example */

/* A pseudo-random number in [-1, 1) that depends on row and k only, so that the data are the same on any number of ranks. */
static PetscReal GetRandom(PetscInt row, PetscInt k)
{
  unsigned int z = 2654435761u * (unsigned int)(row + 1) + 40503u * (unsigned int)(k + 1);

  z = (z ^ (z >> 15)) * 2246822519u;
  z = (z ^ (z >> 13)) * 3266489917u;
  return (PetscReal)(z ^ (z >> 16)) / 2147483648.0 - 1;
}

/* Creates m examples of n features, numbered from first, and their labels. */
static PetscErrorCode CreateData(PetscInt first, PetscInt m, PetscInt n, Mat *X, Vec *y)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, m, n));
  PetscCall(MatSetType(*X, MATGPUCSR)); /* sparse, on the GPU if there is one; -mat_type overrides it */
  PetscCall(MatSetFromOptions(*X));
  PetscCall(MatSeqAIJSetPreallocation(*X, PER_ROW, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*X, PER_ROW, NULL, PER_ROW, NULL));
  PetscCall(MatCreateVecs(*X, NULL, y));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscReal sum = 0;

    for (PetscInt k = 0; k < PER_ROW; k++) {
      const PetscInt  j = (PetscInt)((GetRandom(first + i, 2 * k) + 1) / 2 * (PetscReal)(n / PER_ROW)) * PER_ROW + k; /* a different feature for every k */
      const PetscReal x = GetRandom(first + i, 2 * k + 1);

      PetscCall(MatSetValue(*X, i, j, x, INSERT_VALUES));
      sum += x * GetRandom(-2, j);
    }
    PetscCall(VecSetValue(*y, i, sum >= 0 ? 1 : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(*y));
  PetscCall(VecAssemblyEnd(*y));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt            m = 1000, n = 200;
  Mat                 X, Xnew;
  Vec                 y, ynew, w, scores;
  BMRM                bmrm;
  BMRMTask            task;
  BMRMQuality         quality;
  BMRMConvergedReason reason;
  PetscReal           J, lower;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize()); /* registers the types of the library */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-m", &m, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(CreateData(0, m, n, &X, &y));
  PetscCall(CreateData(m, m, n, &Xnew, &ynew));

  /* Train a support vector machine: the mean hinge loss plus lambda/2 ||w||^2 */
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &bmrm));
  PetscCall(BMRMSetData(bmrm, X, y));
  PetscCall(BMRMSetLossType(bmrm, "hinge"));
  PetscCall(BMRMSetLambda(bmrm, 1e-3));
  PetscCall(BMRMSetFromOptions(bmrm));
  PetscCall(BMRMSolve(bmrm));

  /* The certificate: no weights have an objective below the lower bound */
  PetscCall(BMRMGetObjective(bmrm, &J, &lower));
  PetscCall(BMRMGetConvergedReason(bmrm, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: objective %.6f, gap %.1e\n", BMRMConvergedReasons[reason], (double)J, (double)(J - lower)));

  /* Predict new examples from their scores X w, and compare the predictions with the labels */
  PetscCall(BMRMGetSolution(bmrm, &w));
  PetscCall(BMRMComputeScores(Xnew, 1, w, &scores));
  PetscCall(BMRMGetTask(bmrm, &task));
  PetscCall(BMRMComputeQuality(task, 1, scores, ynew, &quality));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "accuracy %.3f of %" PetscInt_FMT " new examples\n", (double)quality.accuracy, quality.rows));

  PetscCall(VecDestroy(&scores));
  PetscCall(BMRMDestroy(&bmrm));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&ynew));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Xnew));
  PetscCall(PetscFinalize());
  return 0;
}
