/* Labels on the device, the sums of the points with each label, |x|^2 of sparse points, and the copy of the points on the host. */
#include "solvers/kmeans/kmeansimpl.h"

/* Forgets all labels, and with them the bounds and the sums. */
PetscErrorCode KMeansPointsForgetLabels_Private(KMeansPoints *P)
{
  PetscFunctionBegin;
  PetscCallGp(P->data.dev, "Labels", GP_ON_DEVICE(P->data.dev, KMeansForget, &P->data));
  P->summed = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeroes the tally for a pass. keep: the update adds differences to the sums of the previous pass, so these stay if they are of as many clusters. */
PetscErrorCode KMeansPointsClearTally_Private(KMeansPoints *P, PetscBool keep)
{
  KMeansData  *A     = &P->data, labels;
  const size_t bytes = (size_t)A->n * sizeof(int32_t);

  PetscFunctionBegin;
  if (keep && P->summed == A->k) {
    PetscCallGp(A->dev, "Sums", GpDevZero(A->dev, A->tally, KMEANS_TALLY * sizeof(int64_t)));
    A->unsummed = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallGp(A->dev, "Sums", GpDevZero(A->dev, A->tally, (size_t)KMeansTallySize(A->k, A->d, A->words) * sizeof(int64_t)));
  P->summed = 0;
  if (!keep) PetscFunctionReturn(PETSC_SUCCESS);
  if (!A->summed) PetscCallGp(A->dev, "Labels", GpDevAlloc(A->dev, bytes, &A->summed));
  labels       = *A;
  labels.label = A->summed;
  PetscCallGp(A->dev, "Labels", GP_ON_DEVICE(A->dev, KMeansForget, &labels));
  P->summed   = A->k;
  A->unsummed = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the number of nonzeros of the longest sparse point, and |x|^2 of all sparse points unless the metric is cosine. row, value: on the host. */
PetscErrorCode KMeansPointsSquare_Private(KMeansPoints *P, const int32_t row[], const double value[])
{
  KMeansData  *A     = &P->data;
  const size_t bytes = (size_t)A->n * sizeof(double);
  double      *square;

  PetscFunctionBegin;
  for (int32_t i = 0; i < A->n; i++) A->longest = PetscMax(A->longest, row[i + 1] - row[i]);
  if (A->cosine) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(A->n, &square));
  for (int32_t i = 0; i < A->n; i++) {
    square[i] = 0;
    for (int32_t e = row[i]; e < row[i + 1]; e++) square[i] += value[e] * value[e];
  }
  PetscCallGp(A->dev, "Points", GpDevAlloc(A->dev, bytes, &A->pointsquare));
  if (A->n) PetscCallGp(A->dev, "Points", GpDevUpload(A->dev, A->pointsquare, square, bytes));
  PetscCall(PetscFree(square));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies an array of the device to new host memory. A NULL array gives NULL. */
static PetscErrorCode KMeansDownload(GpDev dev, const void *from, size_t bytes, void *to)
{
  void *host = NULL;

  PetscFunctionBegin;
  if (from) {
    PetscCall(PetscMalloc1(bytes, (char **)&host));
    *(void **)to = host; /* freed with the points even if the copy fails */
    if (bytes) PetscCallGp(dev, "Points on the host", GpDevDownload(dev, host, from, bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the points to the host, for an update that adds them there. Nothing to do if device memory is host memory. */
PetscErrorCode KMeansPointsKeepOnHost_Private(KMeansPoints *P)
{
  KMeansData  *A     = &P->data, *H;
  const size_t value = A->single ? sizeof(float) : sizeof(double);

  PetscFunctionBegin;
  if (A->host || !GpDevHasMemory(A->dev)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&A->host));
  H         = A->host;
  H->n      = A->n;
  H->d      = A->d;
  H->single = A->single;
  H->words  = A->words;
  H->mass   = A->mass;
  H->cost   = A->cost;
  PetscCall(KMeansDownload(A->dev, A->value, P->values * value, &H->value));
  PetscCall(KMeansDownload(A->dev, A->row, ((size_t)A->n + 1) * sizeof(int32_t), &H->row));
  PetscCall(KMeansDownload(A->dev, A->col, P->values * sizeof(int32_t), &H->col));
  PetscCall(KMeansDownload(A->dev, A->weight, (size_t)A->n * sizeof(double), &H->weight));
  PetscCall(PetscMalloc1(A->n, &H->label));
  PetscCall(PetscMalloc1(A->d, &H->feature));
  PetscCall(PetscArraycpy(H->feature, P->feature, A->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the copy of the points on the host. */
static PetscErrorCode KMeansPointsFreeOnHost(KMeansData *A)
{
  KMeansData *H = A->host;

  PetscFunctionBegin;
  if (!H) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(*(void **)&H->value));
  PetscCall(PetscFree(*(void **)&H->row));
  PetscCall(PetscFree(*(void **)&H->col));
  PetscCall(PetscFree(*(void **)&H->weight));
  PetscCall(PetscFree(H->label));
  PetscCall(PetscFree(H->feature));
  PetscCall(PetscFree(A->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the arrays of this file. */
PetscErrorCode KMeansPointsFreeSums_Private(KMeansPoints *P)
{
  KMeansData *A = &P->data;

  PetscFunctionBegin;
  if (A->summed) GpDevFree(A->dev, &A->summed, (size_t)A->n * sizeof(int32_t));
  if (A->pointsquare) GpDevFree(A->dev, &A->pointsquare, (size_t)A->n * sizeof(double));
  PetscCall(KMeansPointsFreeOnHost(A));
  P->summed = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
