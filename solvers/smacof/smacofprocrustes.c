/* Procrustes rotation of a configuration to a target. */
#include "solvers/smacof/smacofimpl.h"
#include <petscblaslapack.h>

/* Subtracts the mean of each coordinate, and returns it.  squares: sum of the squares of the centred coordinates; 0 if they are not more than the rounding errors of the mean. */
static void SMACOFProcrustesCentre(PetscInt N, PetscInt dim, PetscScalar x[], PetscReal mean[], PetscReal *squares)
{
  PetscReal rounding = 0;

  *squares = 0;
  for (PetscInt c = 0; c < dim; c++) {
    PetscScalar *column = x + (size_t)c * (size_t)N;

    mean[c] = 0;
    for (PetscInt i = 0; i < N; i++) mean[c] += PetscRealPart(column[i]);
    mean[c] /= (PetscReal)N;
    for (PetscInt i = 0; i < N; i++) {
      column[i] -= mean[c];
      *squares += PetscRealPart(column[i]) * PetscRealPart(column[i]);
    }
    rounding += (PetscReal)N * PetscSqr((PetscReal)N * PETSC_MACHINE_EPSILON * mean[c]);
  }
  if (*squares <= rounding) *squares = 0;
}

/* Computes the orthogonal matrix R that maximises trace(R^T C) for C = X^T Y, by the singular value decomposition C = U S V^T: R = U V^T.  Matrices are stored by columns.
   trace: the maximum, which is the sum of the singular values. */
static PetscErrorCode SMACOFProcrustesRotate(PetscInt dim, PetscScalar C[], PetscScalar R[], PetscReal *trace)
{
  PetscBLASInt n, info, lwork = 16 * SMACOF_MAX_DIMENSION;
  PetscScalar  U[SMACOF_MAX_DIMENSION * SMACOF_MAX_DIMENSION], Vt[SMACOF_MAX_DIMENSION * SMACOF_MAX_DIMENSION], work[16 * SMACOF_MAX_DIMENSION];
  PetscReal    singular[SMACOF_MAX_DIMENSION];

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(dim, &n));
  PetscCallBLAS("LAPACKgesvd", LAPACKgesvd_("A", "A", &n, &n, C, &n, singular, U, &n, Vt, &n, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's routine gesvd returned info = %d", (int)info);
  *trace = 0;
  for (PetscInt c = 0; c < dim; c++) *trace += singular[c];
  for (PetscInt a = 0; a < dim; a++)
    for (PetscInt b = 0; b < dim; b++) {
      R[b * dim + a] = 0;
      for (PetscInt k = 0; k < dim; k++) R[b * dim + a] += U[k * dim + a] * Vt[b * dim + k];
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the centred configuration x by x R + mean, where R rotates x to the centred target y. */
static PetscErrorCode SMACOFProcrustesApply(PetscInt N, PetscInt dim, const PetscScalar y[], const PetscReal mean[], PetscScalar x[], PetscReal *trace)
{
  PetscScalar C[SMACOF_MAX_DIMENSION * SMACOF_MAX_DIMENSION], R[SMACOF_MAX_DIMENSION * SMACOF_MAX_DIMENSION], row[SMACOF_MAX_DIMENSION];

  PetscFunctionBegin;
  for (PetscInt a = 0; a < dim; a++)
    for (PetscInt b = 0; b < dim; b++) {
      C[b * dim + a] = 0;
      for (PetscInt i = 0; i < N; i++) C[b * dim + a] += x[(size_t)a * (size_t)N + (size_t)i] * y[(size_t)b * (size_t)N + (size_t)i];
    }
  PetscCall(SMACOFProcrustesRotate(dim, C, R, trace));
  for (PetscInt i = 0; i < N; i++) {
    for (PetscInt c = 0; c < dim; c++) row[c] = x[(size_t)c * (size_t)N + (size_t)i];
    for (PetscInt c = 0; c < dim; c++) {
      PetscScalar sum = mean[c];

      for (PetscInt k = 0; k < dim; k++) sum += row[k] * R[c * dim + k];
      x[(size_t)c * (size_t)N + (size_t)i] = sum;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFProcrustes - Rotates, reflects and translates a configuration, so that the sum of its squared distances to the points of a target is as small as possible

  Not Collective

  Input Parameters:
+ dim    - the dimension of both configurations, 1 to `SMACOF_MAX_DIMENSION`
. target - a sequential vector with coordinate c of point i at position c N + i
- x      - the configuration, a vector of the same size

  Output Parameters:
+ x           - the transformed configuration; its distances are the same as before
. dilation    - the factor by which the transformed configuration fits the target best, or `NULL`. It is not applied
- correlation - the sum of the singular values of X^T Y divided by the norms of the centred configurations X and Y, or `NULL`. It is 1 if the configurations differ only by
                a rotation, a reflection, a translation and a factor

  Level: intermediate

  Notes:
  Pass a copy of the vector of `SMACOFGetConfiguration()`, which the solver owns.

  It is an error if all points of the target are in one place, since they determine no rotation. The dilation and the correlation are 0 if all points of x are in one place.

  Reference:
  P. Schoenemann, "A generalized solution of the orthogonal Procrustes problem", Psychometrika 31 (1966).

.seealso: `SMACOFGetConfiguration()`, `SMACOFSetStartConfiguration()`
@*/
PetscErrorCode SMACOFProcrustes(PetscInt dim, Vec target, Vec x, PetscReal *dilation, PetscReal *correlation)
{
  PetscReal    mean[2][SMACOF_MAX_DIMENSION], squares[2], trace = 0;
  PetscScalar *a, *b;
  PetscInt     n, N;
  Vec          y;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(target, VEC_CLASSID, 2);
  PetscValidHeaderSpecific(x, VEC_CLASSID, 3);
  PetscCheck(dim >= 1 && dim <= SMACOF_MAX_DIMENSION, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The dimension is %" PetscInt_FMT ", it must be from 1 to %d", dim, SMACOF_MAX_DIMENSION);
  PetscCall(VecGetSize(target, &N));
  PetscCall(VecGetSize(x, &n));
  PetscCheck(n == N && N && N % dim == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "The configuration has %" PetscInt_FMT " coordinates and the target %" PetscInt_FMT "; expected the same positive multiple of the dimension %" PetscInt_FMT, n, N, dim);
  N /= dim;
  PetscCall(VecDuplicate(target, &y));
  PetscCall(VecCopy(target, y));
  PetscCall(VecGetArray(x, &a));
  PetscCall(VecGetArray(y, &b));
  SMACOFProcrustesCentre(N, dim, a, mean[0], &squares[0]);
  SMACOFProcrustesCentre(N, dim, b, mean[1], &squares[1]);
  if (squares[1] > 0) PetscCall(SMACOFProcrustesApply(N, dim, b, mean[1], a, &trace));
  PetscCall(VecRestoreArray(y, &b));
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(VecDestroy(&y));
  PetscCheck(squares[1] > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "All points of the target are in one place, which determines no rotation; use another target");
  if (dilation) *dilation = squares[0] > 0 ? trace / squares[0] : 0;
  if (correlation) *correlation = squares[0] > 0 ? trace / (PetscSqrtReal(squares[0]) * PetscSqrtReal(squares[1])) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
