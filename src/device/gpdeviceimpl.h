/* The device object and the table of operations that each backend fills. Files of src/device/ only include this header. */
#ifndef GPDEVICEIMPL_H
#define GPDEVICEIMPL_H

#include "device/gpdevice.h"
#include "device/gpworkers.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_DEV_STAGES  2
#define GP_DEV_POLLS   200000 /* number of polls for a small download before the host synchronises the stream */
#define GP_DEV_STREAMS 4      /* maximum depth of GpDevPushStream() */

#define GP_RING_PIECES  96                  /* number of pinned buffers for copies by several threads */
#define GP_RING_BYTES   ((size_t)128 << 10) /* size of such a buffer */
#define GP_RING_SEGMENT 32                  /* number of buffers that are allocated together, so that one copy can transfer several of them */
#define GP_RING_EVENTS  32                  /* number of copies that may be under way */

typedef struct {
  GpErr (*open)(GpDev, int ordinal);                                   /* fills name, ordinal, streams and the limits of the device */
  void (*close)(GpDev);                                                /* destroys streams and pool; the device must not be used afterwards */
  GpErr (*alloc)(GpDev, size_t, void **);                              /* allocates device memory that kernels on every stream may use */
  void (*release)(GpDev, void *);                                      /* frees memory from alloc; waits until no work uses it */
  GpErr (*alloc_shared)(GpDev, size_t, void **);                       /* allocates device memory that other processes may open */
  void (*release_shared)(GpDev, void *);                               /* frees memory from alloc_shared; waits until no work uses it */
  GpErr (*borrow)(GpDev, size_t, void **);                             /* allocates device memory in stream order, for later work on the stream */
  void (*give_back)(GpDev, void *);                                    /* frees memory from borrow in stream order; does not wait */
  GpErr (*alloc_pinned)(GpDev, size_t, void **);                       /* allocates pinned host memory; kernels can access it */
  void (*release_pinned)(GpDev, void *);                               /* frees memory from alloc_pinned */
  GpErr (*pin)(GpDev, void *, size_t);                                 /* pins host memory in place; GP_ERR_MEMORY: the system refuses */
  void (*unpin)(GpDev, void *);                                        /* ends the pinning of host memory */
  GpErr (*copy_in)(GpDev, void *, const void *, size_t);               /* copies from host to device; the source must not change until the copy is done */
  GpErr (*copy_out)(GpDev, void *, const void *, size_t);              /* copies from device to host; the result is valid after an event or a sync */
  GpErr (*copy_within)(GpDev, void *, const void *, size_t);           /* copies from device to device */
  GpErr (*zero)(GpDev, void *, size_t);                                /* sets all bytes to zero */
  GpErr (*sync)(GpDev);                                                /* waits for all work on the stream */
  GpErr (*event_create)(GpDev, GpDevEvent *);                          /* creates an event that records its time */
  void (*event_destroy)(GpDev, GpDevEvent);                            /* destroys an event */
  GpErr (*event_record)(GpDev, GpDevEvent);                            /* records an event on the stream */
  GpErr (*event_wait)(GpDev, GpDevEvent);                              /* the host waits for an event */
  GpErr (*event_poll)(GpDev, GpDevEvent, int *done);                   /* sets done to 1 if the event has completed; does not wait */
  GpErr (*event_order)(GpDev, GpDevEvent);                             /* later work on the stream waits for an event; the host does not wait */
  GpErr (*event_seconds)(GpDev, GpDevEvent, GpDevEvent, double *);     /* seconds between two events that have completed */
  GpErr (*memory)(GpDev, size_t *available, size_t *total);            /* free and total memory in bytes */
  GpErr (*poll)(GpDev, int *idle);                                     /* sets idle to 1 if all work on the stream is done; does not wait */
  GpErr (*deliver)(GpDev, void *, const void *, size_t);               /* copies 32-bit words to pinned memory, then sets the word behind them to 1 */
  GpErr (*holds)(GpDev, const void *, int *);                          /* Sets the flag to 1 if the pointer is device memory, and then waits for all work on the device. NULL: the backend has no separate memory. */
  GpErr (*graph_begin)(GpDev);                                         /* starts to record the later work of the stream instead of running it; NULL: the backend has no graphs */
  GpErr (*graph_end)(GpDev, int repeats, void **exec, uint64_t *loop); /* Ends the recording. If `repeats` is set and the driver can repeat graphs, loop is the handle for GpLoopEnd(); otherwise it is 0. */
  GpErr (*graph_launch)(GpDev, void *exec);                            /* runs the recorded work in one call */
  void (*graph_destroy)(GpDev, void *exec);                            /* destroys a graph */
} GpDevOps;

#define GP_DEV_WORKSPACES 8 /* maximum number of workspaces that are kept for the next borrower */

/* Workspace that is kept or lent (gpdevicememory.c). */
typedef struct {
  void  *memory; /* NULL: this place of the table is free */
  size_t bytes;  /* size, which may be more than the borrower asked for */
  void  *stream; /* stream whose work uses it */
  int    lent;   /* 1: borrowed and not yet returned */
} GpDevWorkspace;

/* Pinned buffers of copies by several threads (gpupload.c), created at first use. Buffers are used in a ring. Their numbers go on from one upload to the next, so that an upload need not wait
   for the copies of the one before it. */
typedef struct {
  char      *segment[GP_RING_PIECES / GP_RING_SEGMENT];
  int        in_place[GP_RING_PIECES / GP_RING_SEGMENT]; /* 1: the segment was pinned in place */
  int        buffers;                                    /* number of allocated buffers */
  GpDevEvent event[GP_RING_EVENTS];                      /* copy b records event b % GP_RING_EVENTS */
  int64_t    end[GP_RING_EVENTS];                        /* number of the first buffer after those of this copy */
  int64_t    copies, completed;                          /* number of copies that were begun, and of those that are known to be complete */
  int64_t    used, released;                             /* number of buffers that were used so far, and of those whose copies are known to be complete */
} GpDevRing;

struct GpDev_ {
  const GpDevOps *ops;
  GpDevKind       kind;
  int             ordinal;                 /* number of the GPU on this node */
  int             compute_units;           /* number of streaming multiprocessors; 1 on the host */
  int             launches_early;          /* 1 if kernels may be launched while their predecessor runs (programmatic dependent launch) */
  int             cluster_blocks;          /* maximum number of thread blocks in a cluster; 0: the device has no clusters */
  size_t          shared_bytes;            /* maximum shared memory of a block in bytes; the host uses the value of an H200 */
  double          cache;                   /* size of the L2 cache in bytes; 0: unknown */
  char            name[128];               /* "host", or the name of the GPU */
  unsigned char   uuid[16];                /* universally unique identifier of the GPU; zeros on the host */
  void           *stream;                  /* a cudaStream_t: the stream of all work */
  void           *below[GP_DEV_STREAMS];   /* the streams under it on the stack of GpDevPushStream() */
  int             depth;                   /* number of streams under it */
  void           *own[GP_DEV_STREAMS_OWN]; /* the streams that the backend created and will destroy */
  void           *early_stream;            /* stream on which the next product may be launched early; the address of the device object: there is none */
  int             capturing;               /* 1 while work is captured */
  int             capture_refused;         /* 1 if work was submitted that cannot be captured */
  int             capture_repeats;         /* 1 while a graph that repeats is captured */
  void           *pool, *pool_stream;      /* memory pool, and the stream on which alloc and release use it; pool NULL: the driver has no pools */
  void           *stage[GP_DEV_STAGES];    /* pinned buffers for copies of pageable memory, created at first use */
  GpDevEvent      staged[GP_DEV_STAGES];   /* events after the last copy of each pinned buffer */
  GpDevRing       ring;
  GpWorkers       workers;              /* threads for copies and loops on the host (gpupload.h), created at first use */
  void           *fetched;              /* pinned memory for small downloads, created at first use */
  int             fetching;             /* 1 between GpDevFetchBegin() and GpDevFetchEnd() */
  void           *clean, *clean_stream; /* memory kept for GpDevBorrowClean(), and the stream on which it was zeroed */
  size_t          clean_bytes;          /* size of clean */
  int             clean_lent;           /* 1 while a caller uses clean */
  GpDevReclaimer *reclaimers;           /* list of those that can free memory when an allocation fails */
  int             keeping;              /* number of calls of GpDevKeepWorkspace() without GpDevDropWorkspace() */
  GpDevWorkspace  workspace[GP_DEV_WORKSPACES];
  double          limit;               /* bound on bytes_held; 0: none */
  double          bytes_in, bytes_out; /* bytes copied to the device and from the device since it was opened */
  double          bytes_held;          /* bytes allocated now */
  char            error[320];          /* message of the last failure: the operation, and what the runtime reported */
};

/* Returns once pinned buffer i may be overwritten. The buffer is created at its first use; later calls wait for the copy that used it last. */
GpErr GpDevStageGet(GpDev dev, int i);

extern const GpDevOps GpDevOpsHost;
extern const GpDevOps GpDevOpsCUDA; /* exists only if GP_HAVE_CUDA is set */

#if defined(__cplusplus)
}
#endif
#endif
