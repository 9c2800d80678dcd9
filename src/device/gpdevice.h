/* The device: memory, copies, streams, events and graphs on the host backend or the CUDA backend.

   Every function returns a GpErr and leaves the message of a failure in GpDevError(). Copies, kernels and fills are ordered on GpDevStream(). On a GPU
   they return before the work is done; GpDevDownload(), GpDevSync() and GpDevEventWait() wait. Work that runs concurrently is submitted to the second
   stream between GpDevPushStream() and GpDevPopStream(); events order the two streams. */
#ifndef GPDEVICE_H
#define GPDEVICE_H

#include "gpucsrdevicetypes.h"
#if defined(__CUDACC__)
  #include "gpucsrdevice.cuh"
#endif

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_DEV_STAGE_BYTES ((size_t)1 << 20)
#define GP_DEV_FETCH       ((size_t)1 << 13) /* maximum size in bytes of a download that a kernel writes to pinned memory */
#define GP_DEV_CLEAN       ((size_t)1 << 23) /* maximum size in bytes of the zeroed memory that is kept for reuse */

typedef void            *GpDevEvent;
typedef struct GpGraph_ *GpGraph;

/* Opens a device. On failure *dev is NULL, and the message is copied to why (at most whylen bytes) unless why is NULL. */
GpErr GpDevOpen(GpDevKind kind, int ordinal, GpDev *dev, char *why, size_t whylen);
void  GpDevClose(GpDev *dev);
GpErr GpDevCount(GpDevKind kind, int *count, char *why, size_t whylen); /* number of devices of this kind */

/* Properties of the device */
const char          *GpDevName(GpDev); /* "host", or the name of the GPU */
int                  GpDevOrdinal(GpDev);
const unsigned char *GpDevUUID(GpDev);          /* 16 bytes; zeros on the host */
int                  GpDevClusterBlocks(GpDev); /* maximum number of thread blocks in a cluster; 0: the GPU has no clusters */
double               GpDevCacheBytes(GpDev);    /* size of the L2 cache; 0: unknown */
int                  GpDevHasMemory(GpDev);     /* 1 if device memory is not host memory */
int                  GpDevHasGraphs(GpDev);

double GpDevBytesHeld(GpDev);                        /* bytes allocated now */
void   GpDevCountBytes(GpDev, int in, double bytes); /* counts bytes that kernels move to or from pinned memory */

/* Bounds the device memory of this process; 0: no bound. The memory pool is not used then, so that other processes can use what is freed. */
void   GpDevSetMemoryLimit(GpDev, double bytes);
double GpDevMemoryLimit(GpDev);
GpErr  GpDevGetMemory(GpDev, size_t *available, size_t *total); /* free and total memory in bytes */

/* The stream of all work is that of GpDevSetStream(), or the backend's own if that was never called, unless another one has been pushed. Push and pop
   wait for nothing. GpDevSetStream() between them has its effect after the pop. */
typedef enum {
  GP_DEV_STREAM_OWN,  /* the stream that the backend created; it can be captured in a graph, which PETSc's stream may not */
  GP_DEV_STREAM_SIDE, /* the second stream, which has the higher priority */
  GP_DEV_STREAM_COPY, /* transfers of a pipeline to the device (gpstream.h) */
  GP_DEV_STREAM_BACK, /* transfers of the results of a pipeline to the host, which overlap those to the device */
  GP_DEV_STREAMS_OWN
} GpDevStreamKind;
void  GpDevSetStream(GpDev, void *stream);
GpErr GpDevPushStream(GpDev, GpDevStreamKind); /* after a failure there is nothing to pop */
GpErr GpDevPopStream(GpDev);                   /* an error if no stream is pushed */

/* Declares that a library call or kernel that was not launched by gpucsrdevice.cuh may write a matrix: the next product is launched after all earlier
   work. */
void GpDevMarkMatrixWrite(GpDev);

GpErr GpDevAlloc(GpDev dev, size_t bytes, void *ptr); /* ptr is the address of the pointer; 0 bytes give NULL */
void  GpDevFree(GpDev dev, void *ptr, size_t bytes);  /* ptr is the address of the pointer, which becomes NULL */

GpErr GpDevTryAlloc(GpDev dev, size_t bytes, void *ptr); /* GpDevAlloc() that reclaims no memory; for memory that the caller can do without */

/* Reclaiming memory. If an allocation fails for lack of memory, the device asks the registered reclaimers, the newest first, to free memory that their owners can do without, and tries
   again. Resident items of pipelines (gpstream.h) are such memory. */
typedef struct GpDevReclaimer_ {
  size_t (*reclaim)(void *owner, size_t bytes); /* Frees at least `bytes` bytes if it can. Returns the number of bytes freed. It may allocate by GpDevTryAlloc() only. */
  void                   *owner;
  struct GpDevReclaimer_ *next; /* set by GpDevAddReclaimer() */
} GpDevReclaimer;

void GpDevAddReclaimer(GpDev dev, GpDevReclaimer *reclaimer);
void GpDevRemoveReclaimer(GpDev dev, const GpDevReclaimer *reclaimer); /* does nothing if it is not registered */

/* Allocates and frees device memory whose address is passed to MPI or to users. Other processes may open it. */
GpErr GpDevAllocShared(GpDev dev, size_t bytes, void *ptr);
void  GpDevFreeShared(GpDev dev, void *ptr, size_t bytes);

/* Allocates and frees workspace that only GpDevStream() uses, between the two calls. Neither call waits. */
GpErr GpDevBorrow(GpDev dev, size_t bytes, void *ptr);
void  GpDevReturn(GpDev dev, void *ptr, size_t bytes);

/* Between these two calls, returned workspace is kept for the next borrower if a bound on the memory excludes the pool. Without it each GpDevReturn() would wait for the device. Pairs of
   calls may be nested. */
void GpDevKeepWorkspace(GpDev dev);
void GpDevDropWorkspace(GpDev dev);

/* Allocates and frees workspace that is zero at the start. Up to GP_DEV_CLEAN bytes are kept for reuse and zeroed when they are returned. The
   caller guarantees that the first `clean` bytes are zero again when it returns them; only the others are zeroed. */
GpErr GpDevBorrowClean(GpDev dev, size_t bytes, void *ptr);
void  GpDevReturnClean(GpDev dev, void *ptr, size_t bytes, size_t clean);

/* Allocates and frees pinned host memory, which kernels can access */
GpErr GpDevAllocPinned(GpDev dev, size_t bytes, void *ptr);
void  GpDevFreePinned(GpDev dev, void *pinned);

/* Pins host memory in place, so that it is transferred without a copy on the host. If the system refuses, the memory stays pageable, *pinned is 0, the
   call succeeds, and GpDevError() has the reason. Memory must be unpinned before it is freed. */
GpErr GpDevPin(GpDev dev, void *memory, size_t bytes, int *pinned);
void  GpDevUnpin(GpDev dev, void *memory);

/* Allocates host memory on pages of its own and pins it; *pinned is 0 if the system refuses to pin it. */
GpErr GpDevAllocHost(GpDev dev, size_t bytes, void *ptr, int *pinned); /* ptr is the address of the pointer; 0 bytes give NULL */
void  GpDevFreeHost(GpDev dev, void *ptr, int pinned);                 /* ptr is the address of the pointer, which becomes NULL */

/* Copies on the stream, like GpDevZero(). They do not wait: the source of GpDevCopyIn() must not change until the copy is done, and the result of GpDevCopyOut()
   is valid after GpDevSync() or an event. */
GpErr GpDevCopyIn(GpDev dev, void *device, const void *host, size_t bytes);
GpErr GpDevCopyOut(GpDev dev, void *host, const void *device, size_t bytes);
GpErr GpDevCopyWithin(GpDev dev, void *to, const void *from, size_t bytes);
GpErr GpDevSync(GpDev dev);            /* waits for all work on the stream */
GpErr GpDevPoll(GpDev dev, int *idle); /* sets idle to 1 if all work on the stream is done; does not wait */

/* Sets the flag to 1 if the pointer is device memory, and then waits for all work on the device. */
GpErr GpDevHolds(GpDev dev, const void *pointer, int *holds);

/* Copies between pageable host memory and the device through two pinned buffers, so that the two parts of the copy overlap. When the upload
   returns, the host memory may be overwritten. When the download returns, it is complete. */
GpErr GpDevUpload(GpDev dev, void *device, const void *host, size_t bytes);
GpErr GpDevDownload(GpDev dev, void *host, const void *device, size_t bytes);

/* A small download in two steps: whole 32-bit words, at most GP_DEV_FETCH bytes, one download at a time. Between the steps the host may do other
   work, and the source may be returned by GpDevReturn(). */
GpErr GpDevFetchBegin(GpDev dev, const void *device, size_t bytes);
GpErr GpDevFetchEnd(GpDev dev, void *host, size_t bytes);

/* Uploads data that fill(context, offset, bytes, destination) produces piece by piece in pinned memory. */
typedef GpErr (*GpDevFill)(void *context, size_t offset, size_t bytes, void *destination);
GpErr GpDevUploadFilled(GpDev dev, void *device, size_t bytes, GpDevFill fill, void *context);

/* Events record their time. */
GpErr GpDevEventCreate(GpDev dev, GpDevEvent *event);
void  GpDevEventDestroy(GpDev dev, GpDevEvent event);
GpErr GpDevEventRecord(GpDev dev, GpDevEvent event);                                   /* on the stream */
GpErr GpDevEventWait(GpDev dev, GpDevEvent event);                                     /* the host waits */
GpErr GpDevEventPoll(GpDev dev, GpDevEvent event, int *done);                          /* sets done to 1 if the event has completed; does not wait */
GpErr GpDevEventOrder(GpDev dev, GpDevEvent event);                                    /* later work on the stream waits; the host does not */
GpErr GpDevEventSeconds(GpDev dev, GpDevEvent begin, GpDevEvent end, double *seconds); /* seconds between two events that have completed */

/* Captures the work between the two calls as a graph instead of running it, on the backend's own stream. If `repeats` is set, one launch of the graph
   repeats the work until one of its kernels calls GpLoopEnd(GpGraphGetLoop(graph)). If that handle is 0, the driver has no such graphs, and one launch
   runs the work once. GpGraphCaptureEnd() must be called after an error too; with graph NULL it discards the work. */
GpErr    GpGraphCaptureBegin(GpDev dev, int repeats);
GpErr    GpGraphCaptureEnd(GpDev dev, GpGraph *graph);
GpErr    GpGraphLaunch(GpDev dev, GpGraph graph);
uint64_t GpGraphGetLoop(GpGraph graph);
void     GpGraphDestroy(GpDev dev, GpGraph *graph);

/* Returns 1 if work is being captured. The caller then cannot do its work, for example because it waits for the host, and submits nothing: GpGraphCaptureEnd()
   discards all captured work and returns no graph. */
int GpGraphRefuse(GpDev dev);

/* Numbers that a kernel writes to pinned memory by GpWatchWrite() and the host polls. This takes less time than to wait for the stream. GpWatchReset()
   marks n places as empty. GpWatchWait() waits until a place holds a number; it checks the stream regularly, so that it returns if the kernel failed. */
void  GpWatchReset(double *places, size_t n);
GpErr GpWatchPoll(GpDev dev, const double *place);

static inline int GpWatchIsEmpty(const double *place)
{
  return __atomic_load_n((const int64_t *)place, __ATOMIC_ACQUIRE) == GP_WATCH_EMPTY;
}

static inline GpErr GpWatchWait(GpDev dev, const double *place)
{
  return GpWatchIsEmpty(place) ? GpWatchPoll(dev, place) : GP_SUCCESS;
}

#if defined(__cplusplus)
}
#endif
#endif
