/* Finds out whether all nonzeros have one value, as in a graph without weights. A format may then store the value once. */
#include "mat/impls/gpucsr/spmv/csr/gpsame.h"

typedef struct {
  GpCsr    C;
  int32_t *other; /* [1] set to 1 if a value differs from the first */
} Same;

GP_STEP(FindOther)
{
  const Same *a = (const Same *)args;

  if (GpValueDiffers(&a->C, i)) *a->other = 1;
}

GpErr GP_IMPL(GpCsrDiffers)(const GpCsr *C, int64_t n, int32_t *other)
{
  Same a = {*C, other};

  return GP_EACH(C->dev, Same, FindOther, n, &a);
}

GP_PAIR(GpCsrSame, const GpCsr *C, int *same);
GpErr GP_IMPL(GpCsrSame)(const GpCsr *C, int *same)
{
  const int64_t first = C->nnz < GP_SAME_FIRST ? C->nnz : GP_SAME_FIRST;
  int32_t      *found = NULL, other = C->nnz == 0;
  GpErr         err = GpDevBorrow(C->dev, sizeof(int32_t), &found);

  if (!err) err = GpDevZero(C->dev, found, sizeof(int32_t));
  for (int64_t n = first; !err && !other; n = C->nnz) {
    err = GP_IMPL(GpCsrDiffers)(C, n, found);
    if (!err) err = GpDevDownload(C->dev, &other, found, sizeof(other));
    if (n == C->nnz) break;
  }
  GpDevReturn(C->dev, &found, sizeof(int32_t));
  *same = !other;
  return err;
}

#if !defined(__CUDACC__)
GpErr GpCsrSame(const GpCsr *C, int *same)
{
  return GP_ON_DEVICE(C->dev, GpCsrSame, C, same);
}

GpErr GpCsrStillSame(const GpCsr *C)
{
  int   same;
  GpErr err = GpCsrSame(C, &same);

  return err || same ? err : GpDevFail(C->dev, GP_ERR_ARGUMENT, "the format was built for nonzeros with one common value, but the new values differ");
}
#endif
