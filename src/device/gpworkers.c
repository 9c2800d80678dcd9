/* Threads that are kept between calls (gpworkers.h). Between tasks they wait for a condition variable. */
#define _GNU_SOURCE
#include "device/gpworkers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define GP_WORKERS_SPINS  256   /* number of steps of a wait that keep the core */
#define GP_WORKERS_YIELDS 1024  /* number of steps after which a waiting thread sleeps */
#define GP_WORKERS_SLEEP  20000 /* duration of such a sleep in nanoseconds */
#define GP_WORKERS_LINGER 1000  /* number of steps that a thread waits for the next task before it sleeps, about 50 microseconds: uploads often follow each other */

struct GpWorkers_ {
  pthread_mutex_t lock;
  pthread_cond_t  begun, finished;
  pthread_t      *thread;
  pid_t           process; /* the process that created the threads */
  int             threads; /* number of threads that were started */
  int             left;    /* number of threads that may still begin the task */
  int             running; /* number of threads in body() */
  int             stop;    /* 1: the threads return */
  unsigned        task;    /* number of tasks begun so far, which identifies the current one */
  void (*body)(void *);
  void *context;
};

static void *GpWorkersLoop(void *context)
{
  GpWorkers w    = (GpWorkers)context;
  unsigned  last = 0; /* the last task that this thread has begun */

  pthread_mutex_lock(&w->lock);
  while (!w->stop) {
    if (w->task == last || !w->left) {
      pthread_cond_wait(&w->begun, &w->lock);
      continue;
    }
    last = w->task;
    w->left--;
    w->running++;
    pthread_mutex_unlock(&w->lock);
    w->body(w->context);
    pthread_mutex_lock(&w->lock);
    if (!--w->running) pthread_cond_signal(&w->finished);
    pthread_mutex_unlock(&w->lock);
    for (int turn = 0; turn < GP_WORKERS_LINGER && __atomic_load_n(&w->task, __ATOMIC_RELAXED) == last && !__atomic_load_n(&w->stop, __ATOMIC_RELAXED); turn++) GpWorkersPause(0);
    pthread_mutex_lock(&w->lock);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* Starts the threads with all signals blocked, so that signal handlers run only in the threads of the program. */
int GpWorkersCreate(int threads, GpWorkers *workers)
{
  GpWorkers w = (GpWorkers)calloc(1, sizeof(*w));
  sigset_t  all, old;
  int       code = 0;

  *workers = NULL;
  if (!w) return ENOMEM;
  w->thread  = (pthread_t *)calloc((size_t)threads + 1, sizeof(*w->thread));
  w->process = getpid();
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->begun, NULL);
  pthread_cond_init(&w->finished, NULL);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  if (!w->thread) code = ENOMEM;
  while (!code && w->threads < threads) {
    code = pthread_create(&w->thread[w->threads], NULL, GpWorkersLoop, w);
    if (!code) w->threads++;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  *workers = w;
  if (code) GpWorkersDestroy(workers);
  return code;
}

void GpWorkersDestroy(GpWorkers *workers)
{
  GpWorkers w = *workers;

  if (!w) return;
  if (w->process == getpid()) {
    pthread_mutex_lock(&w->lock);
    __atomic_store_n(&w->stop, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&w->begun);
    pthread_mutex_unlock(&w->lock);
    for (int t = 0; t < w->threads; t++) pthread_join(w->thread[t], NULL);
    pthread_cond_destroy(&w->begun);
    pthread_cond_destroy(&w->finished);
    pthread_mutex_destroy(&w->lock);
  }
  free(w->thread);
  free(w);
  *workers = NULL;
}

int GpWorkersCount(GpWorkers w)
{
  return w && w->process == getpid() ? w->threads : 0;
}

void GpWorkersBegin(GpWorkers w, int threads, void (*body)(void *), void *context)
{
  pthread_mutex_lock(&w->lock);
  w->body    = body;
  w->context = context;
  w->left    = threads;
  __atomic_store_n(&w->task, w->task + 1, __ATOMIC_RELAXED); /* threads that linger read it without the lock */
  pthread_cond_broadcast(&w->begun);
  pthread_mutex_unlock(&w->lock);
}

void GpWorkersEnd(GpWorkers w)
{
  pthread_mutex_lock(&w->lock);
  w->left = 0;
  while (w->running) pthread_cond_wait(&w->finished, &w->lock);
  pthread_mutex_unlock(&w->lock);
}

void GpWorkersPause(int turn)
{
  const struct timespec sleep = {0, GP_WORKERS_SLEEP};

  if (turn < GP_WORKERS_SPINS) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  } else if (turn < GP_WORKERS_YIELDS) sched_yield();
  else nanosleep(&sleep, NULL);
}
