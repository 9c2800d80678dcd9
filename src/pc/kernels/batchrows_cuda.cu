/* Steps before and after the computation of rows: the diagonal of the matrix, and what the rows report. */
#include "pc/kernels/gpbatchkernel.h"

#include <float.h>

static constexpr int BLOCK = 256;

__global__ static void GpBatchScanRowsKernel(GpBatchMatrix A, GpBatchStatus *status)
{
  const int64_t i     = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const int64_t mine  = i - A.first;
  double        d     = 0;
  bool          found = false, ascends = true;

  if (i >= A.n) return;
  for (int32_t k = A.rowptr[i], before = -1; k < A.rowptr[i + 1]; k++) {
    const int32_t c = A.col[k];

    if (c == i) {
      d     = GpBatchValue(A, k);
      found = true;
    }
    ascends = ascends && c > before;
    before  = c;
  }
  A.diagonal[i] = d;
  A.root[i]     = sqrt(fabs(d));
  if (mine < 0 || mine >= A.rows) return;
  if (!found) atomicMax(&status->missing, (uint32_t)(INT32_MAX - mine));
  if (!ascends) atomicMax(&status->unsorted, (uint32_t)(INT32_MAX - mine));
}

extern "C" GpErr GpBatchScanRows_CUDA(const GpBatchMatrix *A, GpBatchStatus *status)
{
  if (!A->n) return GP_SUCCESS;
  return GpLaunch(A->dev, "reading the diagonal", GpBatchScanRowsKernel, GpGrid{GpBlocks(A->n, BLOCK), BLOCK}, *A, status);
}

/* The sum over the rows has a fixed order. */
__global__ static void __launch_bounds__(GP_REDUCE_BLOCK) GpBatchFinishKernel(GpBatchWork w, double *partial)
{
  double sum[1] = {0};

  for (int64_t i = (int64_t)blockIdx.x * GP_REDUCE_BLOCK + threadIdx.x; i < w.P.rows; i += (int64_t)gridDim.x * GP_REDUCE_BLOCK) {
    double largest = 0;

    for (int32_t k = w.P.rowptr[i]; k < w.P.rowptr[i + 1]; k++) largest = fmax(largest, fabs(w.val[k]));
    if (largest < FLT_MIN || largest > FLT_MAX) atomicMax(&w.status->range, (uint32_t)(INT32_MAX - i));
    sum[0] += w.measure[i];
  }
  if (!GpReduceAllBlocks<GpReduceSums>(sum, partial, &w.status->ticket) || threadIdx.x) return;
  w.status->measure = sum[0];
  if (w.status->failed) w.status->pivot = w.measure[INT32_MAX - (int32_t)w.status->failed];
}

extern "C" GpErr GpBatchFinish_CUDA(const GpBatchWork *work, double *partial)
{
  return GpLaunch(work->A.dev, "combining the results of all rows", GpBatchFinishKernel, GpGrid{GpReduceGrid(work->A.dev, work->P.rows), GP_REDUCE_BLOCK}, *work, partial);
}
