/* Batches of rows of approximate inverses: patterns, plans, and the computation (gpbatch.h). */
#include "pc/kernels/gpbatchimpl.h"

#include <stdlib.h>
#include <string.h>

int GpBatchIsSupported(GpDev dev)
{
  return GpDevKindOf(dev) == GP_DEV_CUDA;
}

static GpErr GpBatchRefuse(GpDev dev)
{
  return GpDevFail(dev, GP_ERR_NOT_BUILT, "the host backend has no kernels for rows of approximate inverses");
}

/* Allocates a status of zeros, followed by `extra` bytes that are zero too. */
static GpErr GpBatchBorrowStatus(GpDev dev, size_t extra, GpBatchStatus **status)
{
  GpErr err = GpDevBorrow(dev, sizeof(**status) + extra, status);

  return err ? err : GpDevZero(dev, *status, sizeof(**status) + extra);
}

/* Downloads the status, unless an error has occurred, and returns its memory. */
static GpErr GpBatchReturnStatus(GpDev dev, size_t extra, GpErr err, GpBatchStatus **device, GpBatchStatus *status)
{
  memset(status, 0, sizeof(*status));
  if (!err) err = GpDevDownload(dev, status, *device, sizeof(*status));
  GpDevReturn(dev, device, sizeof(**device) + extra);
  return err;
}

GpErr GpBatchGetDiagonal(const GpBatchMatrix *A, int32_t *missing, int32_t *unsorted)
{
  GpBatchStatus *device = NULL, status;
  GpErr          err    = GpBatchIsSupported(A->dev) ? GpBatchBorrowStatus(A->dev, 0, &device) : GpBatchRefuse(A->dev);

#if GP_HAVE_CUDA
  if (!err) err = GpBatchScanRows_CUDA(A, device);
#endif
  err       = GpBatchReturnStatus(A->dev, 0, err, &device, &status);
  *missing  = GpBatchFirstRow(status.missing);
  *unsorted = GpBatchFirstRow(status.unsorted);
  return err;
}

#if GP_HAVE_CUDA
/* Numbers of columns that a row may visit. A small number needs little shared memory, so that more rows are computed at the same time. */
static const int GpBatchReaches[] = {128, 512, GP_BATCH_REACH};

typedef struct {
  int     power, lower, reach;
  double  threshold;
  int32_t longest;
} GpBatchPowers;

/* Counts the entries of each row with the smallest sufficient reach. */
static GpErr GpBatchCountPattern(const GpBatchMatrix *A, GpBatchPowers *powers, GpBatchPattern *P)
{
  GpBatchStatus status = {.overflows = 1};
  GpErr         err    = GP_SUCCESS;

  for (size_t t = 0; !err && status.overflows && t < sizeof(GpBatchReaches) / sizeof(*GpBatchReaches); t++) {
    GpBatchStatus *device = NULL;

    powers->reach = GpBatchReaches[t];
    err           = GpBatchBorrowStatus(A->dev, 0, &device);
    if (!err) err = GpBatchCountPattern_CUDA(A, powers->power, powers->threshold, powers->lower, powers->reach, P->rowptr, device);
    err = GpBatchReturnStatus(A->dev, 0, err, &device, &status);
  }
  if (err) return err;
  if (status.overflows) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "the pattern of a row visits more than %d columns", GP_BATCH_REACH);
  if (status.nnz > INT32_MAX - 65536) return GpDevFail(A->dev, GP_ERR_ARGUMENT, "the pattern has %llu nonzeros, more than 32-bit indices can count", status.nnz);
  P->nnz = (int32_t)status.nnz;
  return GP_SUCCESS;
}

GpErr GpBatchCreatePattern(const GpBatchMatrix *A, int power, double threshold, int lower, GpBatchPattern *P)
{
  GpBatchPowers powers = {.power = power, .lower = lower, .threshold = threshold};
  GpErr         err    = GpBatchIsSupported(A->dev) ? GP_SUCCESS : GpBatchRefuse(A->dev);

  *P = (GpBatchPattern){.rows = A->rows};
  if (!err) err = GpDevAlloc(A->dev, ((size_t)A->rows + 1) * sizeof(int32_t), &P->rowptr);
  if (!err) err = GpDevZero(A->dev, P->rowptr, ((size_t)A->rows + 1) * sizeof(int32_t));
  if (!err) err = GpBatchCountPattern(A, &powers, P);
  if (!err) err = GpScan_CUDA(A->dev, A->rows, P->rowptr);
  if (!err) err = GpDevAlloc(A->dev, (size_t)P->nnz * sizeof(int32_t), &P->col);
  if (!err) err = GpBatchFillPattern_CUDA(A, power, threshold, lower, powers.reach, P);
  if (err) GpBatchDestroyPattern(A->dev, P);
  return err;
}

GpErr GpBatchCountColumns(const GpBatchMatrix *A, const GpBatchPattern *P, int32_t *columns)
{
  GpBatchStatus status = {.overflows = 1};
  GpErr         err    = GpBatchIsSupported(A->dev) ? GP_SUCCESS : GpBatchRefuse(A->dev);

  for (size_t t = 0; !err && status.overflows && t < sizeof(GpBatchReaches) / sizeof(*GpBatchReaches); t++) {
    GpBatchStatus *device = NULL;

    err = GpBatchBorrowStatus(A->dev, 0, &device);
    if (!err) err = GpBatchCountColumns_CUDA(A, P, GpBatchReaches[t], columns, device);
    err = GpBatchReturnStatus(A->dev, 0, err, &device, &status);
  }
  if (!err && status.overflows) err = GpDevFail(A->dev, GP_ERR_ARGUMENT, "the rows of the matrix in the pattern of a row have more than %d columns", GP_BATCH_REACH);
  return err;
}
#else
GpErr GpBatchCreatePattern(const GpBatchMatrix *A, int power, double threshold, int lower, GpBatchPattern *P)
{
  *P = (GpBatchPattern){.rows = A->rows};
  return GpBatchRefuse(A->dev);
}

GpErr GpBatchCountColumns(const GpBatchMatrix *A, const GpBatchPattern *P, int32_t *columns)
{
  return GpBatchRefuse(A->dev);
}
#endif

void GpBatchDestroyPattern(GpDev dev, GpBatchPattern *P)
{
  GpDevFree(dev, &P->rowptr, ((size_t)P->rows + 1) * sizeof(int32_t));
  GpDevFree(dev, &P->col, (size_t)P->nnz * sizeof(int32_t));
}

/* Computes the rows of all classes, and then combines what they report. */
static GpErr GpBatchRun(const GpBatchPlan *plan, GpBatchWork *work, double *partial)
{
  GpErr err = GP_SUCCESS;

#if GP_HAVE_CUDA
  for (int c = 0; !err && c < GP_BATCH_CLASSES; c++) {
    work->part = plan->part[c];
    if (!work->part.count) continue;
    if (plan->kind == GP_BATCH_SPAI) err = GpBatchSpai_CUDA(work, c);
    else err = c <= GP_BATCH_FSAI_TILE32 ? GpBatchFsai_CUDA(work, c) : GpBatchFsaiBlock_CUDA(work, c);
  }
  if (!err && work->P.rows) err = GpBatchFinish_CUDA(work, partial);
#endif
  return err;
}

GpErr GpBatchCompute(const GpBatchPlan *plan, const GpBatchMatrix *A, const GpBatchPattern *P, double *val, GpBatchReport *report)
{
  const size_t   extra = GP_DEV_PARTS * sizeof(double), bytes = (size_t)P->rows * sizeof(double);
  GpBatchWork    work   = {.A = *A, .P = *P, .val = val};
  GpBatchStatus *device = NULL, status;
  GpErr          err    = GpBatchIsSupported(A->dev) ? GpBatchBorrowStatus(A->dev, extra, &device) : GpBatchRefuse(A->dev);

  if (!err) err = GpDevBorrow(A->dev, bytes, &work.measure);
  work.status = device;
  if (!err) err = GpBatchRun(plan, &work, (double *)(device + 1));
  GpDevReturn(A->dev, &work.measure, bytes);
  err     = GpBatchReturnStatus(A->dev, extra, err, &device, &status);
  *report = (GpBatchReport){.failed = GpBatchFirstRow(status.failed), .range = GpBatchFirstRow(status.range), .pivot = status.pivot, .measure = status.measure};
  return err;
}
