/* A pipeline that streams data larger than device memory. It transfers a sequence of items (blocks of bytes) through a ring of device buffers. The caller uses an
   item in its buffer while later items are transferred.

   A visit is one pass over all items. It calls use() for each item, in the order in which they were added. use() submits work on GpDevStream(). Events order this
   work after the transfer of its item, and the next transfer into the same buffer after this work. The host waits for no transfer of pinned memory, so GpStreamVisit()
   may return before the work is done. Transfers of a visit may start while the last items of the previous visit are still in use.

   An item comes from one of these sources:
   - pinned memory: transferred directly from there;
   - pageable memory: a thread copies it to a pinned staging buffer, which is transferred;
   - a fill function: a thread calls it to write a staging buffer.

   The first items, up to a total number of bytes, are resident: they are transferred once and stay on the device. Which items are resident changes no result.

   On the host backend, device memory is host memory. There use() gets the address of the pinned memory itself; the other items are copied through staging buffers as on a GPU. */
#ifndef GPSTREAM_H
#define GPSTREAM_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_STREAM_BUFFERS 3                  /* default number of device buffers */
#define GP_STREAM_BYTES   ((size_t)32 << 20) /* default upper bound on the size of an item */

typedef struct GpStream_ *GpStream;

typedef struct {
  int    buffers;  /* Number of device buffers. 1: transfers and work take turns; 2: double buffering; 0: the default, GP_STREAM_BUFFERS. */
  int    threads;  /* number of threads that fill staging buffers, started with the first item that needs one; 0: the thread that calls GpStreamVisit() fills them itself */
  int    stages;   /* number of pinned staging buffers; 0: the default, threads + 2 */
  size_t resident; /* upper bound in bytes on the resident items */
} GpStreamOptions;

/* Writes all bytes of an item. Several threads call this function at once, each for another item. It must not call functions of MPI, PETSc or GpDev. After a failure
   it returns a code other than GP_SUCCESS and writes the reason to why (at most whylen bytes). */
typedef GpErr (*GpStreamFill)(void *context, int64_t item, void *destination, char *why, size_t whylen);

typedef struct {
  size_t       bytes;      /* size in bytes; 0: nothing is transferred, and use() gets NULL */
  const void  *host;       /* source in host memory, which belongs to the caller; NULL: fill() writes the item */
  int          pinned;     /* 1: the source is pinned; 0: it is pageable */
  GpStreamFill fill;       /* writes the item if host is NULL */
  void        *context;    /* context of fill() */
  size_t       back_bytes; /* size in bytes of a result that use() writes; 0: none */
  void        *back;       /* destination of the result in pinned host memory, which belongs to the caller */
} GpStreamItem;

/* Submits work on GpDevStream() that reads an item at `device`. If the item has a result, the work writes all of it at `result`, in device memory. Results are
   transferred to the host on GP_DEV_STREAM_BACK. Both addresses are valid for work that is submitted before the function returns. */
typedef GpErr (*GpStreamUse)(void *context, int64_t item, const void *device, void *result);

typedef struct {
  int64_t items, resident_items;      /* number of items, and number of the items that are resident now */
  double  bytes, resident_bytes;      /* size of all items, and size of the resident items */
  double  staged_bytes;               /* size of the items that are transferred through staging buffers; all others are transferred in place */
  double  pageable_bytes;             /* size of the items in pageable memory, for example because pinning was refused */
  double  device_bytes, stage_bytes;  /* device memory of the buffers and of the resident items, and pinned memory of the staging buffers */
  int64_t visits;                     /* number of visits, including visits that failed */
  double  moved, moved_last;          /* bytes transferred to the device in all visits, and in the last visit */
  double  returned;                   /* bytes of results transferred to the host in all visits */
  double  timed_bytes, timed_seconds; /* size and duration of those transfers to the device that were timed, a sample of all transfers */
  double  used_bytes, used_seconds;   /* size of the items whose work on the device was timed, a sample of all items, and duration of this work */
  double  fill_seconds;               /* seconds in fill() and in copies of pageable memory, summed over the threads */
  double  wait_seconds;               /* seconds that the host waited in visits for fills and for free staging buffers; with 0 threads, seconds of the fills themselves */
} GpStreamInfo;

/* Sets *exceeds to 1 if `bytes` bytes exceed the free device memory, and then *available to the free bytes. On the host backend only GpDevSetMemoryLimit() bounds the memory. */
GpErr GpStreamIsNeeded(GpDev dev, double bytes, int *exceeds, size_t *available);

/* Returns the upper bound on the size of an item that a user wants: 0 or less for the default, GP_STREAM_BYTES; at least 1 otherwise. */
size_t GpStreamGetItemBytes(double wanted);

/* Computes the upper bound on the resident items, GpStreamOptions.resident. wanted: the bound that a user wants; negative for the default, 90 % of the free device memory less the buffers
   and less `reserved` bytes, which are allocated later. bytes, largest: size of all items, and of the largest one. buffers: as in GpStreamOptions. */
GpErr GpStreamGetBudget(GpDev dev, double wanted, double bytes, double largest, int buffers, double reserved, size_t *resident);

/* Creates a pipeline without items. If options is NULL, all options are 0. The device must stay open until GpStreamDestroy(). */
GpErr GpStreamCreate(GpDev dev, const GpStreamOptions *options, GpStream *stream);

/* Waits for all transfers and frees everything. */
void GpStreamDestroy(GpStream *stream);

/* Appends an item. Items are numbered from 0. Must not be called during a visit. */
GpErr GpStreamAdd(GpStream stream, const GpStreamItem *item);

/* Allocates buffers and starts threads. The first GpStreamVisit() does so if this function was not called. If the buffers do not fit, the error message has the needed and the free bytes. */
GpErr GpStreamSetUp(GpStream stream);

/* Visits all items. After a failure of use(), of fill() or of the device it waits for all submitted work and returns the error; another visit may follow. If fill()
   fails for several items, the error is that of the first of these items. A source must not change until GpStreamWait() returns. */
GpErr GpStreamVisit(GpStream stream, GpStreamUse use, void *context);

/* Waits until no transfer reads a source or writes a result. Afterwards sources may be changed, and results are valid. */
GpErr GpStreamWait(GpStream stream);

/* Declares that sources have changed: the next visit transfers resident items again. Must not be called during a visit. */
void GpStreamSourcesChanged(GpStream stream);

/* Frees the device memory of resident items, the last item first, until at least `bytes` bytes are freed or no resident item is left. It keeps items that the current
   visit still needs. Freed items are transferred in every later visit; so are items that were to become resident and have no memory yet. Returns the number of bytes
   freed. If an allocation fails, the device asks every pipeline to free resident items in this way, and allocates again (GpDevAddReclaimer()). */
size_t GpStreamRelease(GpStream stream, size_t bytes);

void GpStreamGetInfo(GpStream stream, GpStreamInfo *info);

#if defined(__cplusplus)
}
#endif
#endif
