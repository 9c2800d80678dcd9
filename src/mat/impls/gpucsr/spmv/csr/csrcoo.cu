/* Assembly on the device (MatSetValuesCOO()): every nonzero is the sum of its entries in a fixed order. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

typedef struct {
  GpCoo         C;
  int32_t       n;
  const double *entries, *more;
  double       *sum;
} Sum;

/* Adds the entries of nonzero i. Indices below n are this rank's own entries, the others came from other ranks. */
GP_STEP(AddEntries)
{
  const Sum *a = (const Sum *)args;
  double     s = 0;

  for (int32_t e = a->C.start[i]; e < a->C.start[i + 1]; e++) s += a->C.source[e] < a->n ? a->entries[a->C.source[e]] : a->more[a->C.source[e] - a->n];
  a->sum[i] = s;
}

GP_PAIR(GpCooAddEntries, const GpCoo *, int32_t n, const double *entries, const double *more, double *sum);
GpErr GP_IMPL(GpCooAddEntries)(const GpCoo *C, int32_t n, const double *entries, const double *more, double *sum)
{
  const Sum a = {*C, n, entries, more, sum};

  return GP_EACH(C->dev, Sum, AddEntries, C->nnz, &a);
}

#if !defined(__CUDACC__)

GpErr GpCooCreate(GpDev dev, int32_t nnz, const int32_t start[], const int32_t source[], GpCoo *C)
{
  GpErr err;

  *C  = (GpCoo){.dev = dev, .nnz = nnz, .n = start[nnz]};
  err = GpDevAlloc(dev, ((size_t)nnz + 1) * sizeof(int32_t), &C->start);
  if (!err) err = GpDevAlloc(dev, (size_t)C->n * sizeof(int32_t), &C->source);
  if (!err) err = GpDevUpload(dev, C->start, start, ((size_t)nnz + 1) * sizeof(int32_t));
  if (!err) err = GpDevUpload(dev, C->source, source, (size_t)C->n * sizeof(int32_t));
  if (err) GpCooDestroy(C);
  return err;
}

void GpCooDestroy(GpCoo *C)
{
  if (!C->dev) return;
  GpDevFree(C->dev, &C->start, ((size_t)C->nnz + 1) * sizeof(int32_t));
  GpDevFree(C->dev, &C->source, (size_t)C->n * sizeof(int32_t));
  *C = (GpCoo){0};
}

GpErr GpCooSum(const GpCoo *C, int32_t n, const double *entries, const double *more, double *sum)
{
  return GP_ON_DEVICE(C->dev, GpCooAddEntries, C, n, entries, more, sum);
}
#endif
