/* Memory and copies of a key set (gpkeyset.h). */
#include "mat/impls/gpucsr/spmv/common/gpkeyset.h"

#include <stdlib.h>

static size_t GpKeySetBytes(const GpKeySet *S)
{
  return (size_t)S->slots * (sizeof(*S->key) + sizeof(*S->before)) + ((size_t)S->limit + 1) * sizeof(*S->list);
}

static void GpKeySetPlaceArrays(GpKeySet *S, void *memory)
{
  S->key    = (uint64_t *)memory;
  S->before = (int32_t *)(S->key + S->slots);
  S->list   = S->before + S->slots;
}

GpErr GpKeySetCreate(GpDev dev, int32_t limit, GpKeySet *S)
{
  void *memory;
  GpErr err;

  *S  = (GpKeySet){.slots = 4 * limit, .limit = limit};
  err = GpDevBorrowClean(dev, GpKeySetBytes(S), &memory);
  if (!err) GpKeySetPlaceArrays(S, memory);
  return err;
}

static GpErr GpKeySetCreateCopy(GpDev dev, const GpKeySet *S, GpKeySet *H)
{
  void *memory = malloc(GpKeySetBytes(S));

  *H = (GpKeySet){.slots = S->slots, .limit = S->limit};
  if (!memory) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a set of %d keys", (int)S->limit);
  GpKeySetPlaceArrays(H, memory);
  return GP_SUCCESS;
}

GpErr GpKeySetDownload(GpDev dev, const GpKeySet *S, GpKeySet *H)
{
  const GpErr err = GpKeySetCreateCopy(dev, S, H);

  return err ? err : GpDevDownload(dev, H->key, S->key, GpKeySetBytes(S));
}

/* For a small set, the device memory is returned while the host waits for its copy. */
GpErr GpKeySetMove(GpDev dev, GpKeySet *S, GpKeySet *H)
{
  const int small = GpKeySetBytes(S) <= GP_DEV_FETCH;
  GpErr     err   = small ? GpKeySetCreateCopy(dev, S, H) : GpKeySetDownload(dev, S, H);

  if (!err && small) err = GpDevFetchBegin(dev, S->key, GpKeySetBytes(S));
  GpKeySetDestroy(dev, S);
  return err || !small ? err : GpDevFetchEnd(dev, H->key, GpKeySetBytes(H));
}

void GpKeySetDestroy(GpDev dev, GpKeySet *S)
{
  GpDevReturnClean(dev, &S->key, GpKeySetBytes(S), 0);
}
