/* Bringing an AIJ matrix's arrays to the device: indices to 32 bits, values to the stored precision, loss measured. */
#include "mat/impls/gpucsr/formats/csrnarrow.h"

#include <math.h>
#include <string.h>

/* the caller has checked that sizes and nonzeros fit 32 bits, so every index does */
static GpErr GpFillIndices(void *context, size_t offset, size_t bytes, void *destination)
{
  const PetscInt *in  = (const PetscInt *)context + offset / sizeof(int32_t);
  int32_t        *out = (int32_t *)destination;

  if (sizeof(PetscInt) == sizeof(int32_t)) memcpy(out, in, bytes);
  else
    for (size_t i = 0; i < bytes / sizeof(int32_t); i++) out[i] = (int32_t)in[i];
  return GP_SUCCESS;
}

GpErr GpCsrSetPattern(GpCsr *A, const PetscInt rowptr[], const PetscInt col[])
{
  GpErr err = GpDevUploadFilled(A->dev, A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t), GpFillIndices, (void *)(uintptr_t)rowptr);

  if (!err) err = GpDevUploadFilled(A->dev, A->col, (size_t)A->nnz * sizeof(int32_t), GpFillIndices, (void *)(uintptr_t)col);
  return err;
}

typedef struct {
  const double *in;
  GpLoss       *loss;
} GpNarrow;

/* Infinities and NaNs of the input pass through as in AIJ (their change is NaN and fails the comparison); a finite
   value that becomes infinite changed infinitely, so that one rare branch finds the loss, its place and overflow. */
static GpErr GpFillNarrow(void *context, size_t offset, size_t bytes, void *destination)
{
  const GpNarrow *N     = (const GpNarrow *)context;
  size_t          first = offset / sizeof(float), n = bytes / sizeof(float);
  const double   *in    = N->in + first;
  float          *out   = (float *)destination;
  double          worst = N->loss->worst;

  for (size_t i = 0; i < n; i++) {
    double v = in[i], change;

    out[i] = (float)v;
    change = fabs(v - (double)out[i]);
    if (change > worst * fabs(v)) {
      if (isinf(change)) {
        N->loss->overflow = (int64_t)(first + i);
        return GP_ERR_ARGUMENT;
      }
      worst       = change / fabs(v);
      N->loss->at = (int64_t)(first + i);
    }
  }
  N->loss->worst = worst;
  return GP_SUCCESS;
}

GpErr GpCsrSetValues(GpCsr *A, const double val[], GpLoss *loss)
{
  GpNarrow N = {val, loss};
  size_t   bytes = (size_t)A->nnz * GpPrecBytes(A->prec);

  *loss = (GpLoss){.worst = 0, .at = -1, .overflow = -1};
  return A->prec == GP_F32 ? GpDevUploadFilled(A->dev, A->val, bytes, GpFillNarrow, &N) : GpDevUpload(A->dev, A->val, val, bytes);
}
