/* Many personalisations at once: one product moves the rank of all of them. */
#include "pagerank.h"

/* the sum of the rank that dangling nodes hold, for each column */
static PetscErrorCode DanglingRank(const Google *g, Mat X, PetscScalar rank[])
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &n));
  for (PetscInt k = 0; k < n; k++) {
    Vec x;

    rank[k] = 0;
    if (!g->isdangling) continue;
    PetscCall(MatDenseGetColumnVecRead(X, k, &x));
    PetscCall(VecDot(x, g->isdangling, &rank[k]));
    PetscCall(MatDenseRestoreColumnVecRead(X, k, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* column k of Y, A D^-1 x so far, becomes the residual of x; x takes the step unless it is done */
static PetscErrorCode StepColumn(const Google *g, PetscInt k, Vec v, PetscScalar lost, PetscBool step, Mat X, Mat Y, PetscReal *norm1)
{
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(MatDenseGetColumnVec(X, k, &x));
  PetscCall(MatDenseGetColumnVec(Y, k, &y));
  if (g->isdangling && g->dangling == DANGLING_SELF) {
    PetscCall(VecPointwiseMult(g->z, g->isdangling, x));
    PetscCall(VecAXPY(y, 1.0, g->z));
  } else if (g->isdangling) PetscCall(VecAXPY(y, lost, g->dangling == DANGLING_TELEPORT ? v : g->u));
  PetscCall(VecAXPBYPCZ(y, 1 - g->damping, -1.0, g->damping, v, x));
  PetscCall(VecNorm(y, NORM_1, norm1));
  if (step) PetscCall(VecAXPY(x, 1.0, y));
  PetscCall(MatDenseRestoreColumnVec(Y, k, &y));
  PetscCall(MatDenseRestoreColumnVec(X, k, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SolveBatch - Power iterations for many vectors of where bored walkers jump

  Collective

  Input Parameters:
+ g - the operator; its own such vector is not used
. n - how many
. v - [n] the vectors
. o - how
- x - [n] where to begin

  Output Parameters:
+ x - [n] the ranks
- R - of the worst one
*/
PetscErrorCode SolveBatch(Google *g, PetscInt n, const Vec v[], const SolveOptions *o, Vec x[], SolveResult *R)
{
  const Graph *G = g->graph;
  Mat          X, Y = NULL, Z;
  PetscScalar *lost;
  PetscReal    norm1, worst;
  PetscInt     m;
  Vec          plain;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(R, sizeof(*R)));
  PetscCall(VecGetLocalSize(G->out, &m));
  PetscCall(MatCreateDense(G->comm, m, PETSC_DECIDE, G->N, n, NULL, &X));
  PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Z));
  PetscCall(PetscMalloc1(n, &lost));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(MatDenseGetColumnVecWrite(X, k, &plain));
    PetscCall(VecCopy(x[k], plain));
    PetscCall(MatDenseRestoreColumnVecWrite(X, k, &plain));
  }
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  while (!R->reason) {
    PetscCall(MatCopy(X, Z, SAME_NONZERO_PATTERN));
    PetscCall(MatDiagonalScale(Z, g->scale, NULL));
    PetscCall(MatMatMult(G->A, Z, Y ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DEFAULT, &Y));
    PetscCall(DanglingRank(g, X, lost));
    g->matmults++;
    worst = 0;
    for (PetscInt k = 0; k < n; k++) {
      PetscCall(StepColumn(g, k, v[k], lost[k], (PetscBool)(R->iterations < o->max_it), X, Y, &norm1));
      worst = PetscMax(worst, norm1);
    }
    PetscCall(SolveCheck(g, o, worst, R)); /* of the vectors before the step, which the step has brought nearer */
    if (!R->reason) R->iterations++;
  }
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(MatDenseGetColumnVecRead(X, k, &plain));
    PetscCall(VecCopy(plain, x[k]));
    PetscCall(MatDenseRestoreColumnVecRead(X, k, &plain));
  }
  PetscCall(PetscFree(lost));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}
