/* Device memory: allocation and the count of allocated bytes, memory that is freed when another allocation fails, workspace. */
#include "device/gpdeviceimpl.h"

/* Allocates by one of the three allocation functions of the backend, and counts the bytes. If the memory is limited, alloc_shared is used for all allocations: it returns freed memory to the system, while
   the pool of the other two would keep it. */
static GpErr GpDevTakeOnce(GpDev dev, GpErr (*take)(GpDev, size_t, void **), size_t bytes, void *ptr)
{
  GpErr err;

  *(void **)ptr = NULL;
  if (!bytes) return GP_SUCCESS;
  if (dev->limit > 0) {
    const double left = dev->limit > dev->bytes_held ? dev->limit - dev->bytes_held : 0;

    if ((double)bytes > left) return GpDevFail(dev, GP_ERR_MEMORY, "out of device memory on %s: %zu bytes asked for, %.0f of %.0f free (raise -gpucsr_device_memory)", dev->name, bytes, left, dev->limit);
    take = dev->ops->alloc_shared;
  }
  err = take(dev, bytes, (void **)ptr);
  if (!err) dev->bytes_held += (double)bytes;
  return err;
}

/* --- reclaiming ---------------------------------------------------------------------------------------------------------------------- */

void GpDevAddReclaimer(GpDev dev, GpDevReclaimer *r)
{
  r->next         = dev->reclaimers;
  dev->reclaimers = r;
}

void GpDevRemoveReclaimer(GpDev dev, const GpDevReclaimer *r)
{
  GpDevReclaimer **at = &dev->reclaimers;

  while (*at && *at != r) at = &(*at)->next;
  if (*at) *at = r->next;
}

static void GpDevFreeWorkspace(GpDev dev, GpDevWorkspace *w)
{
  dev->ops->release_shared(dev, w->memory);
  dev->bytes_held -= (double)w->bytes;
  *w = (GpDevWorkspace){.bytes = 0};
}

/* Frees memory that can be freed without changing a result: first kept workspace, then memory of the reclaimers. Returns 0 if there is none. Frees nothing during the
   capture of a CUDA graph, because the graph would contain the call that frees. */
static size_t GpDevReclaim(GpDev dev, size_t bytes)
{
  const double left  = dev->limit > dev->bytes_held ? dev->limit - dev->bytes_held : 0;
  size_t       freed = 0;

  if (dev->capturing) return 0;
  if (dev->limit > 0 && left < (double)bytes) bytes -= (size_t)left; /* the limit caused the failure, so the rest suffices */
  for (int k = 0; k < GP_DEV_WORKSPACES; k++) {
    GpDevWorkspace *w = &dev->workspace[k];

    if (!w->memory || w->lent) continue;
    freed += w->bytes;
    GpDevFreeWorkspace(dev, w);
  }
  for (GpDevReclaimer *r = dev->reclaimers; r && !freed; r = r->next) freed = r->reclaim(r->owner, bytes);
  return freed;
}

/* Allocates memory. After a failure reclaims memory and tries again, until the allocation succeeds or nothing can be reclaimed. Reclaimed memory need not be contiguous, so several tries may be
   necessary. */
static GpErr GpDevTake(GpDev dev, GpErr (*take)(GpDev, size_t, void **), size_t bytes, void *ptr)
{
  GpErr err = GpDevTakeOnce(dev, take, bytes, ptr);

  while (err == GP_ERR_MEMORY && GpDevReclaim(dev, bytes)) err = GpDevTakeOnce(dev, take, bytes, ptr);
  return err;
}

/* --- allocation ---------------------------------------------------------------------------------------------------------------------- */

static void GpDevDrop(GpDev dev, void (*drop)(GpDev, void *), void *ptr, size_t bytes)
{
  if (!*(void **)ptr) return;
  if (dev->limit > 0) drop = dev->ops->release_shared;
  drop(dev, *(void **)ptr);
  dev->bytes_held -= (double)bytes;
  *(void **)ptr = NULL;
}

GpErr GpDevAlloc(GpDev dev, size_t bytes, void *ptr)
{
  return GpDevTake(dev, dev->ops->alloc, bytes, ptr);
}

GpErr GpDevTryAlloc(GpDev dev, size_t bytes, void *ptr)
{
  return GpDevTakeOnce(dev, dev->ops->alloc, bytes, ptr);
}

void GpDevFree(GpDev dev, void *ptr, size_t bytes)
{
  GpDevDrop(dev, dev->ops->release, ptr, bytes);
}

GpErr GpDevAllocShared(GpDev dev, size_t bytes, void *ptr)
{
  return GpDevTake(dev, dev->ops->alloc_shared, bytes, ptr);
}

void GpDevFreeShared(GpDev dev, void *ptr, size_t bytes)
{
  GpDevDrop(dev, dev->ops->release_shared, ptr, bytes);
}

/* --- workspace ----------------------------------------------------------------------------------------------------------------------- */

void GpDevKeepWorkspace(GpDev dev)
{
  dev->keeping++;
}

void GpDevDropWorkspace(GpDev dev)
{
  if (--dev->keeping) return;
  for (int k = 0; k < GP_DEV_WORKSPACES; k++) {
    if (dev->workspace[k].memory && !dev->workspace[k].lent) GpDevFreeWorkspace(dev, &dev->workspace[k]);
  }
}

/* Finds kept workspace that suffices. If there is none, *vacant is a free entry of the table, or NULL. If all kept workspace is too small, frees the largest one: the
   usual reason is that the same caller returned it and now needs more. */
static GpDevWorkspace *GpDevFindWorkspace(GpDev dev, size_t bytes, GpDevWorkspace **vacant)
{
  GpDevWorkspace *small = NULL;

  *vacant = NULL;
  for (int k = 0; k < GP_DEV_WORKSPACES; k++) {
    GpDevWorkspace *w = &dev->workspace[k];

    if (!w->memory) *vacant = w;
    if (!w->memory || w->lent) continue;
    if (w->bytes >= bytes && w->stream == dev->stream) return w;
    if (!small || w->bytes > small->bytes) small = w;
  }
  if (!small) return NULL;
  GpDevFreeWorkspace(dev, small);
  *vacant = small;
  return NULL;
}

/* With a limit, workspace comes from no pool, and freeing it waits for the device. It is therefore kept for the next borrower between GpDevKeepWorkspace() and
   GpDevDropWorkspace(). Work on one stream may use it again without waiting. */
GpErr GpDevBorrow(GpDev dev, size_t bytes, void *ptr)
{
  GpDevWorkspace *vacant = NULL, *w = NULL;
  GpErr           err;

  if (dev->limit > 0 && dev->keeping && bytes) {
    w = GpDevFindWorkspace(dev, bytes, &vacant);
    if (w) {
      w->lent       = 1;
      *(void **)ptr = w->memory;
      return GP_SUCCESS;
    }
  }
  err = GpDevTake(dev, dev->ops->borrow, bytes, ptr);
  if (!err && vacant) *vacant = (GpDevWorkspace){.memory = *(void **)ptr, .bytes = bytes, .stream = dev->stream, .lent = 1};
  return err;
}

void GpDevReturn(GpDev dev, void *ptr, size_t bytes)
{
  for (int k = 0; *(void **)ptr && k < GP_DEV_WORKSPACES; k++) {
    GpDevWorkspace *w = &dev->workspace[k];

    if (w->memory != *(void **)ptr) continue;
    w->lent = 0;
    if (!dev->keeping) GpDevFreeWorkspace(dev, w);
    *(void **)ptr = NULL;
    return;
  }
  GpDevDrop(dev, dev->ops->give_back, ptr, bytes);
}

/* --- limit --------------------------------------------------------------------------------------------------------------------------- */

void GpDevSetMemoryLimit(GpDev dev, double bytes)
{
  dev->limit = bytes;
}

GpErr GpDevGetMemory(GpDev dev, size_t *available, size_t *total)
{
  GpErr err = dev->ops->memory(dev, available, total);

  if (dev->limit > 0) {
    const double left = dev->limit > dev->bytes_held ? dev->limit - dev->bytes_held : 0;

    if ((double)*available > left) *available = (size_t)left;
    if ((double)*total > dev->limit) *total = (size_t)dev->limit;
  }
  return err;
}

/* --- zeroed workspace ---------------------------------------------------------------------------------------------------------------- */

/* Provides zeroed memory of at least the requested size for the current stream. The kept memory is ordered on the stream that zeroed it, so it is
   replaced if another stream needs it, or if it is too small. */
static GpErr GpDevKeepClean(GpDev dev, size_t bytes)
{
  const size_t least = (size_t)1 << 20;
  GpErr        err;

  if (dev->clean && dev->clean_stream == dev->stream && bytes <= dev->clean_bytes) return GP_SUCCESS;
  if (dev->clean) dev->ops->release(dev, dev->clean);
  dev->clean       = NULL;
  dev->clean_bytes = bytes > least ? bytes : least;
  do err = dev->ops->alloc(dev, dev->clean_bytes, &dev->clean);
  while (err == GP_ERR_MEMORY && GpDevReclaim(dev, dev->clean_bytes));
  if (!err) err = dev->ops->zero(dev, dev->clean, dev->clean_bytes);
  if (err && dev->clean) {
    dev->ops->release(dev, dev->clean);
    dev->clean = NULL;
  }
  dev->clean_stream = dev->stream;
  return err;
}

GpErr GpDevBorrowClean(GpDev dev, size_t bytes, void *ptr)
{
  /* A backend without a pool, such as the host backend, has one function for alloc and borrow and keeps no zeroed memory. */
  const int keeps = dev->limit <= 0 && dev->ops->borrow != dev->ops->alloc && !dev->clean_lent && bytes && bytes <= GP_DEV_CLEAN;
  GpErr     err   = keeps ? GpDevKeepClean(dev, bytes) : GP_ERR_MEMORY;

  if (err == GP_ERR_MEMORY) { /* GpDevKeepClean() allocates at least 1 MiB; the requested number of bytes may still fit */
    err = GpDevBorrow(dev, bytes, ptr);
    if (!err && bytes) err = dev->ops->zero(dev, *(void **)ptr, bytes);
    if (err) GpDevReturn(dev, ptr, bytes);
    return err;
  }
  *(void **)ptr = NULL;
  if (err) return err;
  *(void **)ptr   = dev->clean;
  dev->clean_lent = 1;
  dev->bytes_held += (double)bytes;
  return GP_SUCCESS;
}

void GpDevReturnClean(GpDev dev, void *ptr, size_t bytes, size_t clean)
{
  void *p = *(void **)ptr;

  if (!p || p != dev->clean) {
    GpDevReturn(dev, ptr, bytes);
    return;
  }
  if (dev->ops->zero(dev, (char *)p + clean, bytes - clean)) { /* if zeroing fails, the contents are unknown */
    dev->ops->release(dev, p);
    dev->clean = NULL;
  }
  dev->clean_lent = 0;
  dev->bytes_held -= (double)bytes;
  *(void **)ptr = NULL;
}
