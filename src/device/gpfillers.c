/* Threads that run jobs (gpfillers.h). The jobs are in a ring, which one lock protects. */
#define _GNU_SOURCE
#include "device/gpfillers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GP_FILLERS_THREADS 8 /* upper bound on the default number of threads */

typedef struct {
  GpFillJob job;
  int       done;                /* 1: the job is done */
  GpErr     err;                 /* result */
  char      why[GP_FILLERS_WHY]; /* reason of a failure */
} GpFillSlot;

struct GpFillers_ {
  pthread_mutex_t lock;
  pthread_cond_t  posted, finished; /* signalled when a job has been posted, and when one has been done */
  pthread_t      *thread;
  GpFillSlot     *slot;          /* ring: job k is in slot k % slots */
  int             threads;       /* number of threads that were started */
  int             slots;         /* number of slots */
  int             running;       /* number of jobs that threads work on */
  int             stop;          /* 1: the threads return from GpFillersLoop() */
  int64_t         nposted, next; /* number of jobs posted, and number of the next job to begin */
  double          seconds;       /* duration in seconds of all finished jobs, summed over the threads */
};

double GpFillersClock(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs the next job. The lock is held on entry and on return, but not during the work. */
static void GpFillersRunNext(GpFillers f)
{
  GpFillSlot     *s   = &f->slot[f->next++ % f->slots];
  const GpFillJob j   = s->job;
  GpErr           err = GP_SUCCESS;
  double          begin;

  f->running++;
  pthread_mutex_unlock(&f->lock);
  begin = GpFillersClock();
  if (j.source) memcpy(j.destination, j.source, j.bytes);
  else err = j.fill(j.context, j.item, j.destination, s->why, sizeof(s->why));
  pthread_mutex_lock(&f->lock);
  f->seconds += GpFillersClock() - begin;
  f->running--;
  s->err  = err;
  s->done = 1;
  pthread_cond_broadcast(&f->finished);
}

static void *GpFillersLoop(void *context)
{
  GpFillers f = (GpFillers)context;

  pthread_mutex_lock(&f->lock);
  while (!f->stop) {
    if (f->next < f->nposted) GpFillersRunNext(f);
    else pthread_cond_wait(&f->posted, &f->lock);
  }
  pthread_mutex_unlock(&f->lock);
  return NULL;
}

/* Starts the threads with all signals blocked, so that signal handlers run only in the threads of the program. */
static int GpFillersStart(GpFillers f, int threads)
{
  sigset_t all, old;
  int      code = 0;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  while (!code && f->threads < threads) {
    code = pthread_create(&f->thread[f->threads], NULL, GpFillersLoop, f);
    if (!code) f->threads++;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return code;
}

int GpFillersCreate(int threads, int slots, GpFillers *fillers)
{
  GpFillers          f = (GpFillers)calloc(1, sizeof(*f));
  pthread_condattr_t clock;
  int                code;

  *fillers = NULL;
  if (!f) return ENOMEM;
  pthread_mutex_init(&f->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&f->posted, NULL);
  pthread_cond_init(&f->finished, &clock);
  pthread_condattr_destroy(&clock);
  f->slots  = slots;
  f->slot   = (GpFillSlot *)calloc((size_t)slots, sizeof(*f->slot));
  f->thread = (pthread_t *)calloc((size_t)threads + 1, sizeof(*f->thread));
  code      = f->slot && f->thread ? GpFillersStart(f, threads) : ENOMEM;
  *fillers  = f;
  if (code) GpFillersDestroy(fillers);
  return code;
}

void GpFillersDestroy(GpFillers *fillers)
{
  GpFillers f = *fillers;

  if (!f) return;
  pthread_mutex_lock(&f->lock);
  f->stop = 1;
  pthread_cond_broadcast(&f->posted);
  pthread_mutex_unlock(&f->lock);
  for (int t = 0; t < f->threads; t++) pthread_join(f->thread[t], NULL);
  pthread_cond_destroy(&f->posted);
  pthread_cond_destroy(&f->finished);
  pthread_mutex_destroy(&f->lock);
  free(f->slot);
  free(f->thread);
  free(f);
  *fillers = NULL;
}

int GpFillersCores(int most)
{
  cpu_set_t cores;
  int       n = 1;

  if (!sched_getaffinity(0, sizeof(cores), &cores)) n = CPU_COUNT(&cores);
  return n < most ? n : most;
}

int GpFillersCount(int wanted)
{
  return wanted > 0 ? wanted : GpFillersCores(GP_FILLERS_THREADS);
}

int64_t GpFillersPost(GpFillers f, const GpFillJob *job)
{
  GpFillSlot *s;
  int64_t     number;

  pthread_mutex_lock(&f->lock);
  number    = f->nposted++;
  s         = &f->slot[number % f->slots];
  s->job    = *job;
  s->done   = 0;
  s->why[0] = 0;
  pthread_cond_signal(&f->posted);
  pthread_mutex_unlock(&f->lock);
  return number;
}

int GpFillersWait(GpFillers f, int64_t job, double seconds)
{
  GpFillSlot     *s = &f->slot[job % f->slots];
  struct timespec until;
  int             late = seconds == 0, done;

  if (seconds > 0) {
    const double at = GpFillersClock() + seconds;

    until.tv_sec  = (time_t)at;
    until.tv_nsec = (long)(1e9 * (at - (double)until.tv_sec));
  }
  pthread_mutex_lock(&f->lock);
  while (!s->done && !late) {
    if (!f->threads) GpFillersRunNext(f);
    else if (seconds < 0) pthread_cond_wait(&f->finished, &f->lock);
    else late = pthread_cond_timedwait(&f->finished, &f->lock, &until) == ETIMEDOUT;
  }
  done = s->done;
  pthread_mutex_unlock(&f->lock);
  return done;
}

GpErr GpFillersResult(GpFillers f, int64_t job, const char **why)
{
  const GpFillSlot *s = &f->slot[job % f->slots];

  *why = s->why[0] ? s->why : "the fill function failed and gave no reason";
  return s->err;
}

void GpFillersCancel(GpFillers f)
{
  pthread_mutex_lock(&f->lock);
  f->next = f->nposted;
  while (f->running) pthread_cond_wait(&f->finished, &f->lock);
  pthread_mutex_unlock(&f->lock);
}

double GpFillersSeconds(GpFillers f)
{
  double seconds;

  pthread_mutex_lock(&f->lock);
  seconds = f->seconds;
  pthread_mutex_unlock(&f->lock);
  return seconds;
}

/* --- loops ----------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  GpFillersBody body;
  void         *context;
  int           parts;
  int64_t       n;
} GpFillersRange;

static GpErr GpFillersRunPart(void *context, int64_t part, void *destination, char *why, size_t whylen)
{
  const GpFillersRange *r = (const GpFillersRange *)context;

  (void)destination;
  (void)why;
  (void)whylen;
  r->body(r->context, (int)part, r->n * part / r->parts, r->n * (part + 1) / r->parts);
  return GP_SUCCESS;
}

int GpFillersParts(int64_t n, int64_t grain)
{
  const int64_t most = n / grain, threads = GpFillersCores(GP_FILLERS_PARTS);

  return most < 1 ? 1 : most < threads ? (int)most : (int)threads;
}

void GpFillersRun(int parts, int64_t n, GpFillersBody body, void *context)
{
  GpFillersRange range   = {body, context, parts, n};
  GpFillers      threads = NULL;

  if (parts > 1 && GpFillersCreate(parts, parts, &threads)) threads = NULL;
  for (int p = 0; p < parts; p++) {
    if (threads) (void)GpFillersPost(threads, &(GpFillJob){.fill = GpFillersRunPart, .context = &range, .item = p});
    else (void)GpFillersRunPart(&range, p, NULL, NULL, 0);
  }
  for (int p = 0; p < parts && threads; p++) (void)GpFillersWait(threads, p, -1);
  GpFillersDestroy(&threads);
}
