/* The device object and its table of operations. The host backend and the CUDA backend each fill one table.

   Every function returns a GpErr and leaves the message of a failure in dev->error. Copies, kernels and fills are ordered on dev->stream. On a
   GPU they return before the work is done; GpDevDownload(), sync() and event_wait() wait. Work that runs concurrently is submitted to the second
   stream between two calls of GpDevSwapStreams(); events order the two streams. */
#ifndef GPDEVICE_H
#define GPDEVICE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#if !defined(GP_HAVE_CUDA)
  #define GP_HAVE_CUDA 0
#endif

typedef enum {
  GP_SUCCESS = 0,
  GP_ERR_MEMORY,    /* device memory, pinned memory or host memory is exhausted */
  GP_ERR_DEVICE,    /* the CUDA runtime, NCCL or the operating system reported an error */
  GP_ERR_NO_DEVICE, /* there is no GPU, or no driver for it */
  GP_ERR_NOT_BUILT, /* this library was built without the requested backend, or NCCL cannot be opened */
  GP_ERR_ARGUMENT   /* a size or index that the function does not accept */
} GpErr;

typedef enum {
  GP_DEV_HOST,
  GP_DEV_CUDA,
  GP_DEV_KINDS
} GpDevKind;

#define GP_DEV_STAGES      2
#define GP_DEV_PARTS       2112 /* maximum number of blocks of a reduction that is finished on the device; each block has one partial sum in device memory */
#define GP_DEV_STAGE_BYTES ((size_t)1 << 20)
#define GP_DEV_FETCH       ((size_t)1 << 13) /* maximum size in bytes of a download that a kernel writes to pinned memory (deliver) */
#define GP_DEV_TURNS       200000            /* number of polls for a small download before the host synchronises the stream */
#define GP_DEV_CLEAN       ((size_t)1 << 23) /* maximum size in bytes of the zeroed memory that is kept for reuse */

typedef struct GpDev_ *GpDev;
typedef void          *GpDevEvent;
typedef void          *GpDevGraph;

typedef struct {
  const char *runtime;                                             /* name of the backend: "host" or "cuda" */
  GpErr (*open)(GpDev, int ordinal);                               /* fills name, ordinal, stream and the limits of the device */
  void (*close)(GpDev);                                            /* destroys streams and pool; the device must not be used afterwards */
  GpErr (*alloc)(GpDev, size_t, void **);                          /* allocates device memory that kernels on every stream may use */
  void (*release)(GpDev, void *);                                  /* frees memory from alloc; waits until no work uses it */
  GpErr (*alloc_shared)(GpDev, size_t, void **);                   /* allocates device memory that other processes may open */
  void (*release_shared)(GpDev, void *);                           /* frees memory from alloc_shared; waits until no work uses it */
  GpErr (*borrow)(GpDev, size_t, void **);                         /* allocates device memory in stream order, for later work on the stream */
  void (*give_back)(GpDev, void *);                                /* frees memory from borrow in stream order; does not wait */
  GpErr (*alloc_pinned)(GpDev, size_t, void **);                   /* allocates pinned host memory; kernels can access it */
  void (*release_pinned)(GpDev, void *);                           /* frees memory from alloc_pinned */
  GpErr (*copy_in)(GpDev, void *, const void *, size_t);           /* copies from host to device; the source must not change until the copy is done */
  GpErr (*copy_out)(GpDev, void *, const void *, size_t);          /* copies from device to host; the result is valid after an event or a sync */
  GpErr (*copy_within)(GpDev, void *, const void *, size_t);       /* copies from device to device */
  GpErr (*zero)(GpDev, void *, size_t);                            /* sets all bytes to zero */
  GpErr (*sync)(GpDev);                                            /* waits for all work on the stream */
  GpErr (*event_create)(GpDev, GpDevEvent *);                      /* creates an event that records its time */
  void (*event_destroy)(GpDev, GpDevEvent);                        /* destroys an event */
  GpErr (*event_record)(GpDev, GpDevEvent);                        /* records an event on the stream */
  GpErr (*event_wait)(GpDev, GpDevEvent);                          /* the host waits for an event */
  GpErr (*event_order)(GpDev, GpDevEvent);                         /* later work on the stream waits for an event; the host does not wait */
  GpErr (*event_seconds)(GpDev, GpDevEvent, GpDevEvent, double *); /* seconds between two events that have completed */
  GpErr (*memory)(GpDev, size_t *available, size_t *total);        /* free and total memory in bytes */
  GpErr (*graph_begin)(GpDev);                                     /* starts to record the later work of the stream instead of running it; NULL: the backend has no graphs */
  GpErr (*graph_end)(GpDev, GpDevGraph *);                         /* ends the recording and returns the graph */
  GpErr (*graph_launch)(GpDev, GpDevGraph);                        /* runs the recorded work in one call */
  GpErr (*graph_loop)(GpDev, GpDevGraph *, uint64_t *);            /* ends the recording and returns a graph that repeats; see below */
  void (*graph_destroy)(GpDev, GpDevGraph);                        /* destroys a graph */
  GpErr (*poll)(GpDev, int *idle);                                 /* sets idle to 1 if all work on the stream is done; does not wait */
  GpErr (*holds)(GpDev, const void *, int *);                      /* Sets the flag to 1 if the pointer is device memory, and then waits for all work on the device. NULL: the backend has no separate memory. */
  GpErr (*deliver)(GpDev, void *, const void *, size_t);           /* copies 32-bit words to pinned memory, then sets the word behind them to 1 */
} GpDevOps;
/* graph_loop(dev, &graph, &turn), for backends with graphs: one launch of the graph repeats the recorded work until one of its kernels calls
   GpLoopEnd(turn) of gplaunch.h. If turn is 0, the driver has no such graphs, and one launch runs the recorded work once. */

struct GpDev_ {
  const GpDevOps *ops;
  GpDevKind       kind;
  int             ordinal;               /* number of the GPU on this node */
  int             compute_units;         /* number of streaming multiprocessors; 1 on the host */
  int             launches_early;        /* 1 if kernels may be launched while their predecessor runs (programmatic dependent launch) */
  void           *settled;               /* Stream whose latest product started after all kernels that may have written a matrix; the address of the device object: there is no such product. */
  int             cluster_blocks;        /* Maximum number of thread blocks in a cluster; 0: the device has no clusters */
  size_t          shared_bytes;          /* maximum shared memory of a block in bytes; the host uses the value of an H200 */
  double          cache;                 /* size of the L2 cache in bytes; 0: unknown */
  char            name[128];             /* "host", or the name of the GPU */
  unsigned char   uuid[16];              /* universally unique identifier of the GPU; zeros on the host */
  void           *stream;                /* a cudaStream_t; the caller may replace it by PETSc's stream */
  void           *side_stream;           /* the second stream, which has the higher priority */
  void           *own_stream, *own_side; /* the streams that the backend created and will destroy */
  void           *pool, *pool_stream;    /* memory pool, and the stream on which alloc and release use it; pool NULL: the driver has no pools */
  void           *stage[GP_DEV_STAGES];  /* pinned buffers for copies of pageable memory, created at first use */
  GpDevEvent      staged[GP_DEV_STAGES]; /* events after the last copy of each pinned buffer */
  void           *fetched;               /* pinned memory for small downloads, created at first use */
  int             fetching;              /* 1 between GpDevFetchBegin() and GpDevFetchEnd() */
  void           *clean, *clean_stream;  /* memory kept for GpDevBorrowClean(), and the stream on which it was zeroed */
  size_t          clean_bytes;           /* size of clean */
  int             clean_lent;            /* 1 while a caller uses clean */
  double          bytes_in, bytes_out;   /* bytes copied to the device and from the device since it was opened */
  double          bytes_held;            /* bytes allocated now */
  char            error[256];            /* message of the last failure: the operation, and what the runtime reported */
};

extern const GpDevOps GpDevOpsHost;
extern const GpDevOps GpDevOpsCUDA; /* exists only if GP_HAVE_CUDA is set */

/* Selects between the host and the CUDA instance of one thing, such as the kernel tables. */
#if GP_HAVE_CUDA
  #define GpDevSelect(dev, host, cuda) ((dev)->kind == GP_DEV_CUDA ? &(cuda) : &(host))
#else
  #define GpDevSelect(dev, host, cuda) ((void)(dev), &(host))
#endif

/* Opens a device. On failure *dev is NULL, and the message is copied to why (at most whylen bytes) unless why is NULL. */
GpErr GpDevOpen(GpDevKind kind, int ordinal, GpDev *dev, char *why, size_t whylen);
void  GpDevClose(GpDev *dev);
GpErr GpDevCount(GpDevKind kind, int *count, char *why, size_t whylen); /* number of devices of this kind */

GpErr GpDevAlloc(GpDev dev, size_t bytes, void *ptr); /* ptr is the address of the pointer; 0 bytes give NULL */
void  GpDevFree(GpDev dev, void *ptr, size_t bytes);  /* ptr is the address of the pointer, which becomes NULL */

/* Allocates and frees device memory whose address is passed to MPI or to users. Other processes may open it. */
GpErr GpDevAllocShared(GpDev dev, size_t bytes, void *ptr);
void  GpDevFreeShared(GpDev dev, void *ptr, size_t bytes);

/* Allocates and frees workspace that only dev->stream uses, between the two calls. Neither call waits. */
GpErr GpDevBorrow(GpDev dev, size_t bytes, void *ptr);
void  GpDevReturn(GpDev dev, void *ptr, size_t bytes);

/* Allocates and frees workspace that is zero at the start. Up to GP_DEV_CLEAN bytes are kept for reuse and zeroed when they are returned. The
   caller guarantees that the first `clean` bytes are zero again when it returns them; only the others are zeroed. */
GpErr GpDevBorrowClean(GpDev dev, size_t bytes, void *ptr);
void  GpDevReturnClean(GpDev dev, void *ptr, size_t bytes, size_t clean);

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

/* Exchanges dev->stream and dev->side_stream: later work is submitted to the other stream. */
static inline void GpDevSwapStreams(GpDev dev)
{
  void *stream = dev->stream;

  dev->stream      = dev->side_stream;
  dev->side_stream = stream;
}

/* Declares that a kernel may write a matrix: the next product is launched after all earlier work (GpLaunchProduct() of gplaunch.h). */
static inline void GpDevUnsettle(GpDev dev)
{
  dev->settled = dev;
}

GpErr GpDevFail(GpDev dev, GpErr code, const char *format, ...);
GpErr GpDevCheckLaunch(GpDev dev, const char *kernel); /* checks the last launch; required after every launch that may write a matrix */
GpErr GpDevLaunched(GpDev dev, const char *kernel);    /* checks the last launch, of a kernel that writes only vectors */

#if defined(__cplusplus)
}
#endif
#endif
