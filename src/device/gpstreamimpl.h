/* The state of a pipeline (gpstream.h). Files of src/device/ only include this header. */
#ifndef GPSTREAMIMPL_H
#define GPSTREAMIMPL_H

#include "device/gpdeviceimpl.h"
#include "device/gpfillers.h"

#define GP_STREAM_TIMERS 8 /* maximum number of transfers on the way that are timed */

typedef struct {
  GpStreamItem item;
  int          direct;   /* 1: used in place, because its source is pinned and device memory is host memory */
  int          staged;   /* 1: transferred through a staging buffer */
  int          keep;     /* 1: resident, or to become so */
  int          loaded;   /* 1: its resident memory has the data, or the transfer has been submitted */
  void        *resident; /* device memory of a resident item; NULL: none */
  int          slot;     /* slot of its transfer, until its work has been submitted; -1: none */
  int64_t      job;      /* number of the job that fills its staging buffer in this visit */
} GpStreamEntry;

/* A device buffer. A transfer into resident memory takes a slot too, but does not use the buffer. That bounds the number of transfers on the way. */
typedef struct {
  void      *device;
  GpDevEvent copied, used; /* after the transfer, and after the work that reads the buffer */
} GpStreamSlot;

typedef struct {
  void      *device;            /* device memory for a result */
  GpDevEvent written, returned; /* after the work that writes it, and after its transfer to the host */
} GpStreamResult;

typedef enum {
  GP_STAGE_FREE,
  GP_STAGE_FILLING, /* a job has been posted, and the transfer has not been submitted */
  GP_STAGE_COPYING  /* the transfer has been submitted; `copied` tells when it is done */
} GpStreamStageState;

typedef struct {
  void              *memory; /* pinned */
  GpDevEvent         copied;
  GpStreamStageState state;
} GpStreamStage;

typedef struct {
  GpDevEvent begin, end;
  double     bytes; /* size of the transfer between the two events; 0: the timer is free */
} GpStreamTimer;

struct GpStream_ {
  GpDev           dev;
  int             buffers, threads, stages;              /* numbers of device buffers, threads and staging buffers */
  size_t          resident_left;                         /* bytes that further items may add to the resident ones; 0 after the first item that did not fit */
  GpStreamEntry  *entry;                                 /* the items */
  int64_t         n, capacity;                           /* number of items, and of those that the array holds */
  int             changed;                               /* 1: GpStreamSetUp() has work to do */
  int             visiting;                              /* 1 during a visit */
  GpStreamSlot   *slot;                                  /* `buffers` of them */
  GpStreamResult *result;                                /* `buffers` of them */
  GpStreamStage  *stage;                                 /* `stages` of them; job k fills stage k % stages */
  GpFillers       fillers;                               /* NULL until an item is staged */
  size_t          slot_bytes, result_bytes, stage_bytes; /* size of each buffer; 0: not allocated */
  int64_t         current, ahead, posting;               /* of this visit: the item in use, the next one to transfer, the next one whose fill is to be posted */
  int64_t         jobs;                                  /* number of jobs posted in all visits */
  int64_t         sent, freed;                           /* numbers of slots taken and given back in all visits */
  int64_t         results;                               /* number of results in all visits */
  int64_t         timed;                                 /* number of transfers for which a timer was free */
  GpDevEvent      begun;                                 /* start of a visit that transfers resident items: their memory is not in use */
  GpDevEvent      loaded;                                /* after the last transfer into resident memory */
  GpStreamTimer   timer[GP_STREAM_TIMERS];
  GpStreamInfo    info; /* counters; GpStreamGetInfo() computes the other fields */
};

GpErr GpStreamReadTimer(GpStream stream, GpStreamTimer *timer); /* counts the transfer that was timed and frees the timer, if the transfer is done */
GpErr GpStreamCreateEvents(GpStream stream);
void  GpStreamFreeMemory(GpStream stream); /* waits for all transfers; destroys the events, frees device memory and pinned memory */

#endif
