/* Solves systems with the Laplacian of a graph, which is singular, by CG with gpuamg and with GAMG, and prints the numbers of iterations.
   Argument: -f <file>  the graph in METIS format: the numbers of nodes and edges, then a line with the weights and the neighbours of each node, counted from 1.
   Weights are ignored. */
#include "amgsolver.h"

static PetscErrorCode ReadLine(FILE *f, char line[], size_t size)
{
  PetscFunctionBeginUser;
  PetscCheck(fgets(line, (int)size, f) && (strchr(line, '\n') || feof(f)), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "The file ends too early, or a line is too long");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every rank reads the whole file and sets its rows.  skip: number of weights of a node. */
static PetscErrorCode ReadLaplacian(const char path[], Mat *A)
{
  char     line[65536], *at = line, *next;
  long     head[4];
  FILE    *f = fopen(path, "r");
  PetscInt n, skip, begin, end;

  PetscFunctionBeginUser;
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open %s", path);
  PetscCall(ReadLine(f, line, sizeof(line)));
  for (int k = 0; k < 4; k++) {
    head[k] = strtol(at, &next, 10);
    at      = next;
  }
  n    = (PetscInt)head[0];
  skip = head[2] / 10 % 10 ? PetscMax((PetscInt)head[3], 1) : 0;
  PetscCall(AmgCreateMatrix(PETSC_COMM_WORLD, MATGPUCSR, n, 1, 100, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = 0; i < end; i++) {
    PetscInt degree = 0;

    PetscCall(ReadLine(f, line, sizeof(line)));
    at = line;
    for (PetscInt k = 0; i >= begin; k++, at = next) {
      const PetscInt j = (PetscInt)strtol(at, &next, 10) - 1;

      if (next == at) break;
      if (k < skip) continue;
      PetscCall(MatSetValue(*A, i, j, -1, INSERT_VALUES));
      degree++;
    }
    if (i >= begin) PetscCall(MatSetValue(*A, i, i, degree, INSERT_VALUES));
  }
  (void)fclose(f);
  PetscCall(AmgAssemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, const char prefix[], const char type[], PetscInt *its)
{
  KSP                ksp;
  Vec                x, b;
  MatNullSpace       constant;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(AmgCreateSolver(A, prefix, type, &ksp));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(AmgFillRightSide(b));
  PetscCall(MatGetNullSpace(A, &constant));
  PetscCall(MatNullSpaceRemove(constant, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: %s", type, KSPConvergedReasons[reason]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char         file[PETSC_MAX_PATH_LEN] = "";
  Mat          A;
  MatNullSpace constant;
  PetscInt     its[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", file, sizeof(file), NULL));
  PetscCall(ReadLaplacian(file, &A));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
  PetscCall(MatSetNullSpace(A, constant));
  PetscCall(MatNullSpaceDestroy(&constant));
  PetscCall(Solve(A, "amg_", PCGPUAMG, &its[0]));
  PetscCall(Solve(A, "gamg_", PCGAMG, &its[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " %" PetscInt_FMT "\n", its[0], its[1]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
