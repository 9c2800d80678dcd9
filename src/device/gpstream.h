/* A pipeline that streams data larger than device memory: it transfers a sequence of items through a ring of device buffers, and the caller uses each
   item there, while later items are transferred.

   A visit calls use() for all items in the order in which they were added. use() submits work on GpDevStream(). Events order that work after the transfer of
   its item, and the next transfer into the same buffer after that work. The host waits for no transfer of pinned memory, so GpStreamVisit() may return before the work is
   done. Transfers of a visit may start while the last items of the previous visit are still in use.

   An item comes from one of these sources:
   - pinned memory: transferred in place;
   - pageable memory: a thread copies it to a pinned staging buffer, which is transferred;
   - a fill function: a thread calls it to write a staging buffer.

   The first items, up to a number of bytes, are resident: they are transferred once and stay on the device. Which items are resident changes no result.

   On the host backend device memory is host memory. An item in pinned memory is used in place there, without a copy; staged items are copied as on a GPU. */
#ifndef GPSTREAM_H
#define GPSTREAM_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_STREAM_BUFFERS 3 /* default number of device buffers */

typedef struct GpStream_ *GpStream;

typedef struct {
  int    buffers;  /* Number of device buffers. 1: transfers and work take turns; 2: double buffering; 0: the default, GP_STREAM_BUFFERS. */
  int    threads;  /* number of threads that fill staging buffers; 0: the thread that visits fills them itself */
  int    stages;   /* number of pinned staging buffers; 0: the default, threads + 2 */
  size_t resident; /* upper bound in bytes on the resident items */
} GpStreamOptions;

/* Writes all bytes of an item. Threads call it, for several items at once and not in order; it must not call functions of MPI, PETSc or GpDev. After a failure it
   returns a code other than GP_SUCCESS and writes the reason to why (at most whylen bytes). */
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
   transferred to the host on a stream of their own. Both addresses are valid for work that is submitted before the function returns. */
typedef GpErr (*GpStreamUse)(void *context, int64_t item, const void *device, void *result);

typedef struct {
  int64_t items, resident_items;      /* number of items, and of those that are resident now */
  double  bytes, resident_bytes;      /* sizes of these items */
  double  staged_bytes;               /* size of the items that are transferred through staging buffers; all others are transferred in place */
  double  pageable_bytes;             /* size of the items in pageable memory, for example because pinning was refused */
  double  device_bytes, stage_bytes;  /* device memory of the pipeline with the resident items, and pinned memory of the staging buffers */
  int64_t visits;                     /* number of visits that were begun */
  double  moved, moved_last;          /* bytes transferred to the device in all visits, and in the last one */
  double  returned;                   /* bytes of results transferred to the host in all visits */
  double  timed_bytes, timed_seconds; /* size and duration of the transfers to the device that were timed: a sample of all */
  double  fill_seconds;               /* seconds in fill() and in copies of pageable memory, summed over the threads */
  double  wait_seconds;               /* seconds that visits waited on the host for fills and for free staging buffers; with 0 threads the fills themselves */
} GpStreamInfo;

/* Creates a pipeline without items; options NULL: the defaults. The device must stay open until GpStreamDestroy(). */
GpErr GpStreamCreate(GpDev dev, const GpStreamOptions *options, GpStream *stream);

/* Waits for all transfers and frees everything. */
void GpStreamDestroy(GpStream *stream);

/* Appends an item; its number is the number of items before it. Not during a visit. */
GpErr GpStreamAdd(GpStream stream, const GpStreamItem *item);

/* Allocates buffers and starts threads. GpStreamVisit() does it otherwise. If the buffers do not fit, the message of the error has the bytes needed and free. */
GpErr GpStreamSetUp(GpStream stream);

/* Visits all items. After a failure of use(), of fill() or of the device it waits for all submitted work and returns the error; another visit may follow. Errors of
   fill() are returned for the first item that failed. A source must not change until GpStreamWait() returns. */
GpErr GpStreamVisit(GpStream stream, GpStreamUse use, void *context);

/* The host waits until no transfer reads a source or writes a result: sources may be changed then, and results are valid. */
GpErr GpStreamWait(GpStream stream);

/* Declares that sources have changed: the next visit transfers resident items again. Not during a visit. */
void GpStreamSourcesChanged(GpStream stream);

/* Frees resident items from the last one on, until at least this number of bytes is free or none is left; items that the current visit still needs are kept. Those that
   are freed, and those not transferred yet, are not resident from now on. Returns the number of bytes freed. To be called if another allocation failed. */
size_t GpStreamRelease(GpStream stream, size_t bytes);

void GpStreamGetInfo(GpStream stream, GpStreamInfo *info);

#if defined(__cplusplus)
}
#endif
#endif
