/* Threads that run jobs, such as filling the staging buffers of a pipeline (gpstream.h) and encoding chunks. They do not call the device.

   Jobs are numbered from 0 in the order in which they are posted, and the threads begin them in this order. Only one thread, that of the caller, posts jobs and waits for
   them. */
#ifndef GPFILLERS_H
#define GPFILLERS_H

#include "device/gpstream.h"

#define GP_FILLERS_WHY 256 /* maximum length of the message of a failed fill */

typedef struct GpFillers_ *GpFillers;

typedef struct {
  GpStreamFill fill;        /* writes the item; not called if source is not NULL */
  void        *context;     /* context of fill() */
  const void  *source;      /* memory that is copied to the destination; NULL: fill() is called */
  size_t       bytes;       /* size in bytes of the item */
  int64_t      item;        /* number of the item, for fill() */
  void        *destination; /* staging buffer, or other memory that the job writes */
} GpFillJob;

/* Starts the threads. Job k + slots may be posted only after the result of job k is no longer needed. With 0 threads, GpFillersWait() runs the jobs. Returns 0, or an
   errno. */
int  GpFillersCreate(int threads, int slots, GpFillers *fillers);
void GpFillersDestroy(GpFillers *fillers);

/* Returns `wanted` if that is positive, otherwise the default number of threads: one for each core that the process may use, at most 8. */
int GpFillersCount(int wanted);

/* Returns the number of cores that the process may use, at most `most`. */
int GpFillersCores(int most);

int64_t GpFillersPost(GpFillers fillers, const GpFillJob *job); /* returns the number of the job */

/* Waits until the job is done, at most this number of seconds (negative: without a limit; 0: not at all). Returns 1 if it is done. */
int GpFillersWait(GpFillers fillers, int64_t job, double seconds);

GpErr  GpFillersResult(GpFillers fillers, int64_t job, const char **why); /* code and message of a job that is done */
void   GpFillersCancel(GpFillers fillers);                                /* drops the jobs that have not begun and waits for those that run */
double GpFillersSeconds(GpFillers fillers);                               /* duration of all jobs in seconds, summed over the threads */

double GpFillersClock(void); /* time in seconds of a monotonic clock */

#define GP_FILLERS_PARTS 16 /* maximum number of parts of a loop */

/* A loop over 0 to n - 1, divided into parts of equal size. GpFillersRun() calls body() once for each part, up to `parts` of them at the same time, and returns when all are done. If
   the system refuses threads, the caller's thread does the work. body() must not call functions of MPI, PETSc or GpDev. */
typedef void (*GpFillersBody)(void *context, int part, int64_t begin, int64_t end);
int  GpFillersParts(int64_t n, int64_t grain); /* the number of parts: one for each core that the process may use, each with at least `grain` iterations; at least 1 */
void GpFillersRun(int parts, int64_t n, GpFillersBody body, void *context);

#endif
