/* Threads that fill staging buffers of a pipeline (gpstream.h). They know nothing of the device.

   Jobs are numbered from 0 in the order in which they are posted, and begun in that order. One thread posts jobs and waits for them. */
#ifndef GPFILLERS_H
#define GPFILLERS_H

#include "device/gpstream.h"

#define GP_FILLERS_WHY 256 /* maximum length of the message of a failed fill */

typedef struct GpFillers_ *GpFillers;

typedef struct {
  GpStreamFill fill;        /* writes the item; it is not called if there is a source */
  void        *context;     /* context of fill() */
  const void  *source;      /* memory that is copied instead; may be NULL */
  size_t       bytes;       /* size in bytes of the item */
  int64_t      item;        /* number of the item, for fill() */
  void        *destination; /* staging buffer */
} GpFillJob;

/* Starts the threads. At most `slots` jobs are posted whose results the caller still needs. With 0 threads GpFillersWait() does the work. Returns 0, or the
   number of an error of the operating system. */
int  GpFillersCreate(int threads, int slots, GpFillers *fillers);
void GpFillersDestroy(GpFillers *fillers);

int64_t GpFillersPost(GpFillers fillers, const GpFillJob *job); /* returns the number of the job */

/* Waits until the job is done, at most this number of seconds (negative: without a limit; 0: not at all). Returns 1 if it is done. */
int GpFillersWait(GpFillers fillers, int64_t job, double seconds);

GpErr  GpFillersResult(GpFillers fillers, int64_t job, const char **why); /* code and message of a job that is done */
void   GpFillersCancel(GpFillers fillers);                                /* drops the jobs that have not begun and waits for the others */
double GpFillersSeconds(GpFillers fillers);                               /* seconds of all jobs, summed over the threads */

double GpFillersClock(void); /* seconds of a clock that never steps back */

#endif
