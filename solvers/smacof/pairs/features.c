/* Pairs whose dissimilarities are distances between feature vectors.  Every rank holds the vectors of all points. */
#include "solvers/smacof/smacofimpl.h"

double SMACOFGetDistance_Private(PetscInt N, PetscInt dim, const double x[], PetscInt i, PetscInt j)
{
  double d = 0;

  for (PetscInt c = 0; c < dim; c++) d += PetscSqr(x[(size_t)c * N + i] - x[(size_t)c * N + j]);
  return PetscSqrtReal(d);
}

/* Gathers values on every rank, from [ncomponents][n] on each rank to [ncomponents][sum of n].  ld: distance of the components in mine, at least n.
   Collective. */
PetscErrorCode SMACOFGather_Private(MPI_Comm comm, PetscInt n, PetscInt ncomponents, PetscInt ld, const double mine[], double all[])
{
  PetscMPIInt size, m = (PetscMPIInt)n, *counts, *displs;
  size_t      N = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size, &counts, size, &displs));
  PetscCallMPI(MPI_Allgather(&m, 1, MPI_INT, counts, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    displs[r] = (PetscMPIInt)N;
    N += (size_t)counts[r];
  }
  for (PetscInt c = 0; c < ncomponents; c++) PetscCallMPI(MPI_Allgatherv(mine + (size_t)c * ld, m, MPI_DOUBLE, all + (size_t)c * N, counts, displs, MPI_DOUBLE, comm));
  PetscCall(PetscFree2(counts, displs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the rows of a dense matrix on every rank, as [n][N], to be freed by PetscFree().  Vectors get the length 1 for the cosine metric.  Collective. */
PetscErrorCode SMACOFGatherFeatures_Private(Mat F, SMACOFMetric metric, PetscInt *N, PetscInt *n, double **all)
{
  const PetscScalar *a;
  PetscInt           m, ld, bad = -1;

  PetscFunctionBegin;
  PetscCall(MatGetSize(F, N, n));
  PetscCall(MatGetLocalSize(F, &m, NULL));
  PetscCall(MatDenseGetLDA(F, &ld));
  PetscCall(PetscMalloc1((size_t)*N * (size_t)*n, all));
  PetscCall(MatDenseGetArrayRead(F, &a));
  PetscCall(SMACOFGather_Private(PetscObjectComm((PetscObject)F), m, *n, ld, a, *all));
  PetscCall(MatDenseRestoreArrayRead(F, &a));
  for (PetscInt i = 0; i < *N; i++) {
    PetscReal length = 0;

    for (PetscInt f = 0; f < *n; f++) length = hypot(length, (*all)[(size_t)f * *N + i]);
    if (bad < 0 && (PetscIsInfOrNanReal(length) || (metric == SMACOF_METRIC_COSINE && !(length > 0)))) bad = i;
    for (PetscInt f = 0; f < *n && metric == SMACOF_METRIC_COSINE; f++) (*all)[(size_t)f * *N + i] /= length;
  }
  if (bad >= 0) PetscCall(PetscFree(*all));
  PetscCheck(bad < 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG, "The features of point %" PetscInt_FMT " (counted from 0) are not finite, or all 0, which the cosine metric does not support", bad);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the pairs from the matrix of SMACOFSetFeatures().  Collective. */
PetscErrorCode SMACOFPairsCreateFromFeatures_Private(SMACOF s)
{
  SMACOFPairs *D = &s->D;
  PetscInt     m = PETSC_DECIDE;

  PetscFunctionBegin;
  D->comm   = PetscObjectComm((PetscObject)s);
  D->metric = s->metric;
  PetscCall(SMACOFGatherFeatures_Private(s->features, s->metric, &D->N, &D->nfeature, &D->feature));
  PetscCall(PetscSplitOwnership(D->comm, &m, &D->N));
  PetscCallMPI(MPI_Scan(&m, &D->last, 1, MPIU_INT, MPI_SUM, D->comm));
  D->first      = D->last - m;
  D->complete   = PETSC_TRUE;
  D->npairs     = (PetscInt64)D->N * (D->N - 1) / 2;
  D->sumweights = (PetscReal)D->npairs;
  D->stored     = (PetscBool)!s->matrix_free;
  D->single     = (PetscBool)(!s->in_double && s->disparity == SMACOF_DISPARITY_RATIO);
  PetscFunctionReturn(PETSC_SUCCESS);
}
