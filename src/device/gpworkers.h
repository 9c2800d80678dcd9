/* Threads that are kept between calls and work on one task together. Starting a task takes some microseconds. Creating the threads takes a hundred times as long. The threads do not call the device.

   Only one thread, that of the caller, begins and ends tasks. */
#ifndef GPWORKERS_H
#define GPWORKERS_H

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct GpWorkers_ *GpWorkers;

int  GpWorkersCreate(int threads, GpWorkers *workers); /* returns 0, or an errno */
void GpWorkersDestroy(GpWorkers *workers);
int  GpWorkersCount(GpWorkers workers); /* number of threads; 0 if workers is NULL, or in a child process after fork(), which inherits the structure but not the threads */

/* Has at most `threads` threads call body(context) once each, at the same time. Returns at once. */
void GpWorkersBegin(GpWorkers workers, int threads, void (*body)(void *context), void *context);

/* Waits until each thread that has begun the task has returned from body(). The other threads no longer begin it. */
void GpWorkersEnd(GpWorkers workers);

/* One step of a loop that waits for another thread. turn: number of steps before this one. The first steps keep the core, because most waits are short. */
void GpWorkersPause(int turn);

#if defined(__cplusplus)
}
#endif
#endif
