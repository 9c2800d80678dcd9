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

#define GP_NARROW_BLOCK 512

typedef struct {
  const double *in;
  GpLoss       *loss;
} GpNarrow;

/* conversions between float and double vectorise only beyond the x86-64 baseline that distributions build for */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
  #define GP_CLONES __attribute__((target_clones("avx2", "default")))
#else
  #define GP_CLONES
#endif

/* Does any value of a block change by more than the worst so far?  No branch, so that the compiler vectorises it. */
GP_CLONES static int64_t GpNarrowBlock(size_t n, const double in[], float out[], double worst)
{
  int64_t any = 0;

  for (size_t i = 0; i < n; i++) out[i] = (float)in[i];
  for (size_t i = 0; i < n; i++) any |= fabs(in[i] - (double)out[i]) > worst * fabs(in[i]) ? (int64_t)1 : (int64_t)0;
  return any;
}

/* Infinities and NaNs of the input pass through as in AIJ (their change is NaN and fails the comparison); a finite value
   that becomes infinite changed infinitely, so that one comparison finds the loss and overflow.  A block is gone through
   again for the place, which soon is rare: the loss of rounding is bounded. */
static GpErr GpFillNarrow(void *context, size_t offset, size_t bytes, void *destination)
{
  const GpNarrow *N     = (const GpNarrow *)context;
  size_t          first = offset / sizeof(float), n = bytes / sizeof(float);
  const double   *in  = N->in + first;
  float          *out = (float *)destination;

  for (size_t block = 0; block < n; block += GP_NARROW_BLOCK) {
    const size_t end = block + GP_NARROW_BLOCK < n ? block + GP_NARROW_BLOCK : n;

    if (!GpNarrowBlock(end - block, in + block, out + block, N->loss->worst)) continue;
    for (size_t i = block; i < end; i++) {
      const double change = fabs(in[i] - (double)out[i]);

      if (!(change > N->loss->worst * fabs(in[i]))) continue;
      if (isinf(change)) {
        N->loss->overflow = (int64_t)(first + i);
        return GP_ERR_ARGUMENT;
      }
      N->loss->worst = change / fabs(in[i]);
      N->loss->at    = (int64_t)(first + i);
    }
  }
  return GP_SUCCESS;
}

GpErr GpCsrSetValues(GpCsr *A, const double val[], GpLoss *loss)
{
  GpNarrow N     = {val, loss};
  size_t   bytes = (size_t)A->nnz * GpPrecBytes(A->prec);

  *loss = (GpLoss){.worst = 0, .at = -1, .overflow = -1};
  return A->prec == GP_F32 ? GpDevUploadFilled(A->dev, A->val, bytes, GpFillNarrow, &N) : GpDevUpload(A->dev, A->val, val, bytes);
}
