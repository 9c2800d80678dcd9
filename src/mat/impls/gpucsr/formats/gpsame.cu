/* Do all nonzeros have one value, as those of a graph without weights?  A format may then keep it once, and a product read no other. */
#include "mat/impls/gpucsr/formats/gpsteps.h"

typedef struct {
  GpCsr    C;
  int32_t *other; /* [1] is there a value other than the first? */
} Same;

/* by their bits: a value that no product of a hole can follow, NaN or infinity, is never the same */
GP_STEP(FindOther)
{
  const Same *a = (const Same *)args;

  if (a->C.prec == GP_F32) {
    const uint32_t *v = (const uint32_t *)a->C.val;

    if (v[i] != v[0] || (v[i] & 0x7f800000u) == 0x7f800000u) *a->other = 1;
  } else {
    const uint64_t *v = (const uint64_t *)a->C.val, most = (uint64_t)0x7ff << 52;

    if (v[i] != v[0] || (v[i] & most) == most) *a->other = 1;
  }
}

GP_EXTERN GpErr GP_TWIN(GpCsrDiffers)(const GpCsr *C, int64_t n, int32_t *other)
{
  Same a = {*C, other};

  return GP_EACH(C->dev, Same, FindOther, n, &a);
}

GP_EXTERN GpErr GP_TWIN(GpCsrSame)(const GpCsr *C, int *same);
GP_EXTERN GpErr GP_TWIN(GpCsrSame)(const GpCsr *C, int *same)
{
  const int64_t first = C->nnz < GP_SAME_FIRST ? C->nnz : GP_SAME_FIRST;
  int32_t      *found = NULL, other = C->nnz == 0;
  GpErr         err = GpDevBorrow(C->dev, sizeof(int32_t), &found);

  if (!err) err = C->dev->ops->zero(C->dev, found, sizeof(int32_t));
  for (int64_t n = first; !err && !other; n = C->nnz) {
    err = GP_TWIN(GpCsrDiffers)(C, n, found);
    if (!err) err = GpDevDownload(C->dev, &other, found, sizeof(other));
    if (n == C->nnz) break;
  }
  GpDevReturn(C->dev, &found, sizeof(int32_t));
  *same = !other;
  return err;
}

#if !defined(__CUDACC__)
GpErr GpCsrSame_CUDA(const GpCsr *C, int *same);

GpErr GpCsrSame(const GpCsr *C, int *same)
{
  return GP_ON_DEVICE(C->dev, GpCsrSame, C, same);
}

GpErr GpCsrStillSame(const GpCsr *C)
{
  int   same;
  GpErr err = GpCsrSame(C, &same);

  return err || same ? err : GpDevFail(C->dev, GP_ERR_ARGUMENT, "the values, all one until now, differ");
}
#endif
