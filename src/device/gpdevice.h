/* The device room: one table of operations, filled once by the host runtime and once by the CUDA runtime.

   Every function returns a GpErr; the words that go with it are in dev->error.  Copies, kernels and fills are ordered
   on dev->stream and return at once on a GPU; GpDevDownload(), sync() and event_wait() wait.  What shall run beside that goes on
   the second stream, between two calls of GpDevSwapStreams(); events order the two. */
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
  GP_ERR_MEMORY,    /* the device (or pinned host memory) is full */
  GP_ERR_DEVICE,    /* the runtime reported an error */
  GP_ERR_NO_DEVICE, /* there is no GPU, or no driver for it */
  GP_ERR_NOT_BUILT, /* this library was built without the runtime asked for */
  GP_ERR_ARGUMENT   /* a size or index that the function cannot take */
} GpErr;

typedef enum {
  GP_DEV_HOST,
  GP_DEV_CUDA,
  GP_DEV_KINDS
} GpDevKind;

#define GP_DEV_STAGES      2
#define GP_DEV_PARTS       2112 /* blocks of a reduction that ends on the device, at most: their partial sums lie in device memory */
#define GP_DEV_STAGE_BYTES ((size_t)1 << 20)
#define GP_DEV_FETCH       ((size_t)1 << 13) /* bytes that a download has at most to be called small */
#define GP_DEV_TURNS       200000            /* looks whether it is there */
#define GP_DEV_CLEAN       ((size_t)1 << 23) /* bytes of zeroed memory that are kept, at most */

typedef struct GpDev_ *GpDev;
typedef void          *GpDevEvent;
typedef void          *GpDevGraph;

typedef struct {
  const char *runtime;                                             /* "host" or "cuda" */
  GpErr (*open)(GpDev, int ordinal);                               /* fills name, ordinal and stream */
  void (*close)(GpDev);                                            /* nothing of the device is used afterwards */
  GpErr (*alloc)(GpDev, size_t, void **);                          /* memory the kernels work on, on any stream */
  void (*release)(GpDev, void *);                                  /* waits until nothing uses it */
  GpErr (*alloc_shared)(GpDev, size_t, void **);                   /* such memory that other processes may reach, too */
  void (*release_shared)(GpDev, void *);                           /* waits until nothing uses it */
  GpErr (*borrow)(GpDev, size_t, void **);                         /* memory for what comes next on the stream */
  void (*give_back)(GpDev, void *);                                /* behind that; waits for nothing */
  GpErr (*alloc_pinned)(GpDev, size_t, void **);                   /* host memory that copies run from at full speed, and kernels reach */
  void (*release_pinned)(GpDev, void *);                           /* gives it back */
  GpErr (*copy_in)(GpDev, void *, const void *, size_t);           /* host to device; the source must stay until done */
  GpErr (*copy_out)(GpDev, void *, const void *, size_t);          /* device to host; valid after an event or a sync */
  GpErr (*copy_within)(GpDev, void *, const void *, size_t);       /* device to device */
  GpErr (*zero)(GpDev, void *, size_t);                            /* all bytes zero */
  GpErr (*sync)(GpDev);                                            /* waits for everything on the stream */
  GpErr (*event_create)(GpDev, GpDevEvent *);                      /* an event that can be timed */
  void (*event_destroy)(GpDev, GpDevEvent);                        /* gives it back */
  GpErr (*event_record)(GpDev, GpDevEvent);                        /* at this place of the stream */
  GpErr (*event_wait)(GpDev, GpDevEvent);                          /* the host waits for it */
  GpErr (*event_order)(GpDev, GpDevEvent);                         /* what follows on the stream waits for it, the host does not */
  GpErr (*event_seconds)(GpDev, GpDevEvent, GpDevEvent, double *); /* between two events that have passed */
  GpErr (*memory)(GpDev, size_t *available, size_t *total);        /* bytes */
  GpErr (*graph_begin)(GpDev);                                     /* what follows on the stream is recorded instead of done; NULL: cannot record */
  GpErr (*graph_end)(GpDev, GpDevGraph *);                         /* the record */
  GpErr (*graph_launch)(GpDev, GpDevGraph);                        /* does it, in one call */
  GpErr (*graph_loop)(GpDev, GpDevGraph *, uint64_t *);            /* instead of graph_end: see below */
  void (*graph_destroy)(GpDev, GpDevGraph);                        /* gives it back */
  GpErr (*poll)(GpDev, int *idle);                                 /* is everything on the stream done?  Does not wait */
  GpErr (*holds)(GpDev, const void *, int *);                      /* is this the device's memory, out of the host's reach?  Then waits for whoever writes it.  NULL: never */
  GpErr (*deliver)(GpDev, void *, const void *, size_t);           /* 32-bit words to pinned memory, then 1 to the word behind them */
} GpDevOps;
/* graph_loop(dev, &graph, &turn): a graph that repeats the record until a kernel of it calls GpLoopEnd(turn), of gplaunch.h.  With turn 0 this
   driver cannot, and one launch is one turn.  For runtimes that record. */

struct GpDev_ {
  const GpDevOps *ops;
  GpDevKind       kind;
  int             ordinal;               /* which GPU of the node */
  int             compute_units;         /* streaming multiprocessors; 1 on the host */
  int             launches_early;        /* may a kernel be launched while the one before it ends? */
  void           *settled;               /* the stream on whose latest product no kernel was under way that may have written a matrix; the device itself: none */
  int             cluster_blocks;        /* thread blocks that may reach each other's shared memory; 0: none may; on the host as many as on any GPU with clusters */
  size_t          shared_bytes;          /* of shared memory that a block may have; on the host as many as on an H200 */
  double          cache;                 /* bytes of the last cache before memory; 0: not known */
  char            name[128];             /* "host", or the GPU's own name */
  unsigned char   uuid[16];              /* of the GPU, no other in the world has it; zeros on the host */
  void           *stream;                /* a cudaStream_t; the caller may replace it by PETSc's */
  void           *side_stream;           /* the second one, served first when both have work */
  void           *own_stream, *own_side; /* the ones to destroy */
  void           *pool, *pool_stream;    /* where its memory comes from; NULL: the driver has no pools */
  void           *stage[GP_DEV_STAGES];  /* pinned bounce buffers for pageable memory, made at first use */
  GpDevEvent      staged[GP_DEV_STAGES];
  void           *fetched;              /* pinned likewise: where small downloads arrive */
  int             fetching;             /* is one under way? */
  void           *clean, *clean_stream; /* memory that is zero by the end of what is on that stream */
  size_t          clean_bytes;
  int             clean_lent;
  double          bytes_in, bytes_out; /* copied host to device and back since opening */
  double          bytes_held;          /* allocated now */
  char            error[256];          /* of the last failure: what was asked, what the runtime said */
};

extern const GpDevOps GpDevOpsHost;
extern const GpDevOps GpDevOpsCUDA; /* only with GP_HAVE_CUDA */

/* the twin of a device, of two that are alike but for the runtime: tables of kernels, steps of a build */
#if GP_HAVE_CUDA
  #define GpDevTwin(dev, host, cuda) ((dev)->kind == GP_DEV_CUDA ? &(cuda) : &(host))
#else
  #define GpDevTwin(dev, host, cuda) ((void)(dev), &(host))
#endif

/* Opens a device.  On failure *dev is NULL and the reason is copied to why (when not NULL, whylen bytes). */
GpErr GpDevOpen(GpDevKind kind, int ordinal, GpDev *dev, char *why, size_t whylen);
void  GpDevClose(GpDev *dev);
GpErr GpDevCount(GpDevKind kind, int *count, char *why, size_t whylen); /* how many there are */

GpErr GpDevAlloc(GpDev dev, size_t bytes, void *ptr); /* ptr: address of the pointer; 0 bytes give NULL */
void  GpDevFree(GpDev dev, void *ptr, size_t bytes);  /* ptr: address of the pointer, NULLed */

/* The same for memory whose address leaves this process's own code, to MPI or to users: other processes may open it. */
GpErr GpDevAllocShared(GpDev dev, size_t bytes, void *ptr);
void  GpDevFreeShared(GpDev dev, void *ptr, size_t bytes);

/* The same for work space that dev->stream alone sees, between the two calls: costs the host no wait. */
GpErr GpDevBorrow(GpDev dev, size_t bytes, void *ptr);
void  GpDevReturn(GpDev dev, void *ptr, size_t bytes);

/* The same for work space that is zero to begin with.  Some is kept, zeroed when it comes back, from `clean` bytes on: those before are zero again by then. */
GpErr GpDevBorrowClean(GpDev dev, size_t bytes, void *ptr);
void  GpDevReturnClean(GpDev dev, void *ptr, size_t bytes, size_t clean);

/* Copies between pageable host memory and the device through the pinned buffers, both legs at once.
   The upload has read its source when it returns; the download is complete when it returns. */
GpErr GpDevUpload(GpDev dev, void *device, const void *host, size_t bytes);
GpErr GpDevDownload(GpDev dev, void *host, const void *device, size_t bytes);

/* A download of a few words (whole ones of 32 bits, at most GP_DEV_FETCH bytes) in two steps, one at a time: the host may do something else while the
   device comes to it, and the source may be given back. */
GpErr GpDevFetchBegin(GpDev dev, const void *device, size_t bytes);
GpErr GpDevFetchEnd(GpDev dev, void *host, size_t bytes);

/* The same upload for data made on the way: fill(context, offset, bytes, destination) writes a piece into pinned memory. */
typedef GpErr (*GpDevFill)(void *context, size_t offset, size_t bytes, void *destination);
GpErr GpDevUploadFilled(GpDev dev, void *device, size_t bytes, GpDevFill fill, void *context);

/* what comes next goes on the other stream */
static inline void GpDevSwapStreams(GpDev dev)
{
  void *stream = dev->stream;

  dev->stream      = dev->side_stream;
  dev->side_stream = stream;
}

/* something writes a matrix: products wait for what is under way (GpLaunchProduct() of gplaunch.h) */
static inline void GpDevUnsettle(GpDev dev)
{
  dev->settled = dev;
}

GpErr GpDevFail(GpDev dev, GpErr code, const char *format, ...);
GpErr GpDevCheckLaunch(GpDev dev, const char *kernel); /* after every launch: did it start? */
GpErr GpDevLaunched(GpDev dev, const char *kernel);    /* the same of a kernel that writes nothing but vectors */

#if defined(__cplusplus)
}
#endif
#endif
