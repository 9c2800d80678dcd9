/* The Guttman transform V^+ B(X) X.  V^+ has a closed form for complete data, and is applied by a KSP for weights and listed pairs.  Both
   also with fixed points. */
#include "solvers/smacof/smacofimpl.h"
#include <gpucsr.h>

/* Creates V, the Laplacian of the weights: minus the weights off the diagonal, zero row sums. */
static PetscErrorCode SMACOFTransformCreateLaplacian(const SMACOFPairs *D, const char prefix[], Mat *V)
{
  const PetscInt m = D->last - D->first;
  PetscInt      *nonzeros, *others, n, most = 0, *columns;
  const int     *column;
  double        *delta, *weight;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(m, &nonzeros, m, &others));
  for (PetscInt i = 0; i < m; i++) {
    nonzeros[i] = 1;
    for (int64_t k = D->start[i]; k < D->start[i + 1]; k++) (D->column[k] >= D->first && D->column[k] < D->last) ? nonzeros[i]++ : others[i]++;
    most = PetscMax(most, nonzeros[i] + others[i]);
  }
  PetscCall(MatCreate(D->comm, V));
  PetscCall(MatSetSizes(*V, m, m, D->N, D->N));
  PetscCall(MatSetOptionsPrefix(*V, prefix));
  PetscCall(MatSetType(*V, MATGPUCSR));
  PetscCall(MatGPUCSRSetStorage(*V, MAT_GPUCSR_STORAGE_DOUBLE)); /* in single precision the row sums would not be 0 */
  PetscCall(MatSetFromOptions(*V));
  PetscCall(MatXAIJSetPreallocation(*V, 1, nonzeros, others, NULL, NULL));
  PetscCall(PetscMalloc3(most, &delta, most, &weight, most, &columns));
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt row = D->first + i;
    PetscReal      sum = 0;

    PetscCall(SMACOFPairsGetRow_Private(D, i, &n, &column, delta, weight));
    for (PetscInt k = 0; k < n; k++) {
      sum += weight[k];
      weight[k]  = -weight[k];
      columns[k] = column[k];
    }
    columns[n] = row;
    weight[n]  = sum;
    PetscCall(MatSetValues(*V, 1, &row, n + 1, columns, weight, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*V, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*V, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*V, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(PetscFree3(delta, weight, columns));
  PetscCall(PetscFree2(nonzeros, others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eliminates the fixed points from V.  g->offset becomes V x with x zero except at the fixed points; it is subtracted from right-hand sides. */
static PetscErrorCode SMACOFTransformEliminateFixed(SMACOFTransform *g, Mat V)
{
  const SMACOFFixed *F = g->fixed;
  const PetscInt     m = g->D->last - g->D->first;
  PetscScalar       *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)g->dim * m, &g->offset));
  for (PetscInt c = 0; c < g->dim; c++) {
    PetscCall(VecSet(g->x, 0));
    PetscCall(VecGetArray(g->x, &a));
    for (PetscInt k = 0; k < F->n; k++)
      if (F->point[k] >= g->D->first && F->point[k] < g->D->last) a[F->point[k] - g->D->first] = F->x[k * g->dim + c];
    PetscCall(VecRestoreArray(g->x, &a));
    PetscCall(MatMult(V, g->x, g->b));
    PetscCall(VecGetArray(g->b, &a));
    PetscCall(PetscArraycpy(g->offset + (size_t)c * m, a, m));
    PetscCall(VecRestoreArray(g->b, &a));
  }
  PetscCall(MatZeroRowsColumns(V, F->n, F->point, 1.0, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the transform for the weights of the pairs, which it references; fixed may be NULL.  The initial guess of the KSP is the configuration: every CG iteration
   lowers the majorising function, so the stress decreases even if the tolerance is large.  Collective. */
PetscErrorCode SMACOFTransformCreate_Private(const SMACOFPairs *D, PetscInt dim, const SMACOFFixed *fixed, const char prefix[], SMACOFTransform *g)
{
  const PetscInt m = D->last - D->first;
  MatNullSpace   constants;
  Mat            V;
  PC             pc;

  PetscFunctionBegin;
  *g = (SMACOFTransform){.D = D, .dim = dim, .fixed = fixed};
  if (D->complete) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SMACOFPairsCheckConnected_Private(D, fixed));
  PetscCall(SMACOFTransformCreateLaplacian(D, prefix, &V));
  PetscCall(MatCreateVecs(V, &g->x, &g->b));
  PetscCall(PetscMalloc1((size_t)dim * m, &g->mine));
  if (fixed) PetscCall(SMACOFTransformEliminateFixed(g, V));
  else {
    PetscCall(MatNullSpaceCreate(D->comm, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(V, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscCall(KSPCreate(D->comm, &g->ksp));
  PetscCall(KSPSetOptionsPrefix(g->ksp, prefix));
  PetscCall(KSPSetOperators(g->ksp, V, V));
  PetscCall(KSPSetType(g->ksp, KSPCG));
  PetscCall(KSPGetPC(g->ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(g->ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetInitialGuessNonzero(g->ksp, PETSC_TRUE));
  PetscCall(KSPSetErrorIfNotConverged(g->ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(g->ksp));
  PetscCall(MatDestroy(&V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the closed form for complete data with n fixed points: the inverse of V without their rows and columns is (I + 1 1'/n)/N. */
static PetscErrorCode SMACOFTransformApplyFixed(const SMACOFTransform *g, const double bx[], double y[])
{
  const PetscInt     N = g->D->N;
  const SMACOFFixed *F = g->fixed;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < g->dim; c++) {
    const double *b = bx + (size_t)c * N;
    double       *x = y + (size_t)c * N, pull = 0, sum = 0;

    for (PetscInt k = 0; k < F->n; k++) {
      pull += F->x[k * g->dim + c];
      sum -= b[F->point[k]];
    }
    for (PetscInt i = 0; i < N; i++) sum += b[i];
    sum = (sum + (double)(N - F->n) * pull) / (double)F->n;
    for (PetscInt i = 0; i < N; i++) x[i] = (b[i] + pull + sum) / (double)N;
    for (PetscInt k = 0; k < F->n; k++) x[F->point[k]] = F->x[k * g->dim + c];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with the KSP for each coordinate; the initial guess is x. */
static PetscErrorCode SMACOFTransformApplyKSP(SMACOFTransform *g, const double bx[], const double x[], double y[])
{
  const SMACOFPairs *D = g->D;
  const SMACOFFixed *F = g->fixed;
  const PetscInt     m = D->last - D->first;
  PetscScalar       *b, *a;
  PetscInt           its;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < g->dim; c++) {
    PetscCall(VecGetArrayWrite(g->b, &b));
    PetscCall(VecGetArrayWrite(g->x, &a));
    PetscCall(PetscArraycpy(a, x + (size_t)c * D->N + D->first, m));
    for (PetscInt i = 0; i < m; i++) b[i] = bx[(size_t)c * D->N + D->first + i] - (F ? g->offset[(size_t)c * m + i] : 0);
    for (PetscInt k = 0; F && k < F->n; k++)
      if (F->point[k] >= D->first && F->point[k] < D->last) b[F->point[k] - D->first] = F->x[k * g->dim + c];
    PetscCall(VecRestoreArrayWrite(g->x, &a));
    PetscCall(VecRestoreArrayWrite(g->b, &b));
    PetscCall(KSPSolve(g->ksp, g->b, g->x));
    PetscCall(KSPGetIterationNumber(g->ksp, &its));
    g->its += its;
    PetscCall(VecGetArray(g->x, &a));
    PetscCall(PetscArraycpy(g->mine + (size_t)c * m, a, m));
    PetscCall(VecRestoreArray(g->x, &a));
  }
  PetscCall(SMACOFGather_Private(D->comm, m, g->dim, m, g->mine, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the transform to x, with bx = B(X) X: the result is factor times y.  The vectors bx and y may be exchanged, and bx has undefined contents afterwards.
   For complete data V = N I - 1 1', and V^+ = I/N on vectors with sum 0: y is bx itself, and factor is 1/N.  Collective. */
PetscErrorCode SMACOFTransformApply_Private(SMACOFTransform *g, Vec *bx, Vec x, Vec *y, PetscReal *factor)
{
  const PetscScalar *b, *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  *factor = 1;
  if (g->D->complete && !g->fixed) {
    const Vec swap = *bx;

    *bx     = *y;
    *y      = swap;
    *factor = 1 / (PetscReal)g->D->N;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(*bx, &b));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(*y, &to));
  if (g->D->complete) PetscCall(SMACOFTransformApplyFixed(g, b, to));
  else PetscCall(SMACOFTransformApplyKSP(g, b, from, to));
  PetscCall(VecRestoreArrayRead(*bx, &b));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscCall(VecRestoreArrayWrite(*y, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFTransformDestroy_Private(SMACOFTransform *g)
{
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&g->ksp));
  PetscCall(VecDestroy(&g->b));
  PetscCall(VecDestroy(&g->x));
  PetscCall(PetscFree(g->mine));
  PetscCall(PetscFree(g->offset));
  PetscFunctionReturn(PETSC_SUCCESS);
}
