/* The state of a pipeline (gpstream.h). Files of src/device/ only include this header. */
#ifndef GPSTREAMIMPL_H
#define GPSTREAMIMPL_H

#include "device/gpdeviceimpl.h"
#include "device/gpfillers.h"

#define GP_STREAM_TIMERS 8 /* maximum number of unfinished transfers that are timed, and of unfinished work on items */

typedef struct {
  GpStreamItem item;
  int          direct;   /* 1: use() gets the address of the source, because the source is pinned and device memory is host memory */
  int          staged;   /* 1: transferred through a staging buffer */
  int          keep;     /* 1: the item is resident, or becomes resident in the next visit */
  int          loaded;   /* 1: the item is resident and its transfer has been submitted */
  void        *resident; /* device memory of a resident item; NULL: none */
  int          slot;     /* slot that the item holds, from its transfer until its work has been submitted; -1: none */
  int64_t      job;      /* number of the job that fills its staging buffer in this visit */
} GpStreamEntry;

/* A slot of the ring: a device buffer and its events. A transfer into resident memory takes a slot too, without using its buffer. So the number of slots bounds the number
   of unfinished transfers. */
typedef struct {
  void      *device;
  GpDevEvent copied, used; /* recorded after the transfer, and after the work that reads the buffer */
} GpStreamSlot;

typedef struct {
  void      *device;            /* device memory for a result */
  GpDevEvent written, returned; /* recorded after the work that writes the result, and after its transfer to the host */
} GpStreamResult;

typedef enum {
  GP_STAGE_FREE,
  GP_STAGE_FILLING, /* a job that fills the buffer has been posted, and the transfer has not been submitted */
  GP_STAGE_COPYING  /* the transfer has been submitted; `copied` tells when it is done */
} GpStreamStageState;

typedef struct {
  void              *memory; /* pinned */
  GpDevEvent         copied;
  GpStreamStageState state;
} GpStreamStage;

typedef struct {
  GpDevEvent begin, end;
  double     bytes; /* size of the item that is transferred or used between the two events; 0: the timer is free */
} GpStreamTimer;

struct GpStream_ {
  GpDev           dev;
  int             buffers, threads, stages;              /* numbers of device buffers, threads and staging buffers */
  size_t          resident_left;                         /* bytes that items added later may have to become resident; 0 after the first item that did not fit */
  GpStreamEntry  *entry;                                 /* the items */
  int64_t         n, capacity;                           /* number of items, and number of items for which entry[] has memory */
  int             changed;                               /* 1: GpStreamSetUp() has work to do */
  int             visiting;                              /* 1 during a visit */
  int             allocating;                            /* 1 while GpStreamSetUp() allocates memory */
  GpDevReclaimer  reclaimer;                             /* frees resident items if another allocation fails */
  GpStreamSlot   *slot;                                  /* `buffers` of them */
  GpStreamResult *result;                                /* `buffers` of them */
  GpStreamStage  *stage;                                 /* `stages` of them; job k fills stage k % stages */
  GpFillers       fillers;                               /* NULL until an item is staged */
  size_t          slot_bytes, result_bytes, stage_bytes; /* size of each device buffer, result buffer and staging buffer; 0: not allocated */
  int64_t         current, ahead, posting;               /* in this visit: the item in use, the next item to transfer, and the next item whose fill is to be posted */
  int64_t         jobs;                                  /* number of jobs posted in all visits */
  int64_t         sent, freed;                           /* numbers of slots that were taken and that were released, in all visits */
  int64_t         results;                               /* number of results in all visits */
  int64_t         timed, worked;                         /* numbers of transfers and of items in use for which a timer was free */
  GpDevEvent      begun;                                 /* recorded at the start of a visit that transfers resident items: when it completes, no earlier work uses their memory */
  GpDevEvent      loaded;                                /* recorded after the last transfer into resident memory */
  GpStreamTimer   timer[GP_STREAM_TIMERS];               /* of transfers */
  GpStreamTimer   work[GP_STREAM_TIMERS];                /* of the work on items */
  GpStreamInfo    info;                                  /* counters; GpStreamGetInfo() computes the other fields */
};

GpErr  GpStreamReadTimer(GpStream stream, GpStreamTimer *timer, double *bytes, double *seconds); /* if the timed work is done: adds it to the sums and frees the timer */
size_t GpStreamReclaim(void *stream, size_t bytes);                                              /* the function of the reclaimer */
GpErr  GpStreamCreateEvents(GpStream stream);
void   GpStreamFreeMemory(GpStream stream); /* waits for all transfers; destroys the events, frees device memory and pinned memory */

#endif
