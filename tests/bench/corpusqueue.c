/* Threads that generate the matrices of the corpus and the reference results of their products. */
#include "bench/corpusqueue.h"

#include <malloc.h>
#include <pthread.h>

#define MOST_AHEAD 1e9 /* largest number of nonzeros in matrices that wait or are being generated */

struct CorpusQueue_ {
  const CorpusJob *jobs;
  int              n, next, taken, threads, stop;
  double           ahead;
  CorpusItem     **ready;
  int              readies;
  pthread_mutex_t  lock;
  pthread_cond_t   change;
  pthread_t        thread[64];
};

static void *Allocate(size_t n, size_t size)
{
  void *p = malloc(n * size + 1);

  if (!p) abort();
  return p;
}

/* values that float holds exactly, so that the test measures the sums and not the rounding of x */
static double *Vector(int32_t n, uint64_t seed)
{
  double *x = (double *)Allocate((size_t)n, sizeof(double));

  for (int32_t i = 0; i < n; i++) x[i] = BenchValue(&seed);
  return x;
}

static void Product(const BenchMatrix *A, const double *x, double **y, double **scale)
{
  *y     = (double *)Allocate((size_t)A->m, sizeof(double));
  *scale = (double *)Allocate((size_t)A->m, sizeof(double));
  for (int32_t i = 0; i < A->m; i++) {
    long double sum = 0, size = 0;

    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      sum += (long double)A->val[k] * x[A->col[k]];
      size += fabs(A->val[k] * x[A->col[k]]);
    }
    (*y)[i]     = (double)sum;
    (*scale)[i] = (double)size;
  }
}

CorpusItem *CorpusItemCreate(const CorpusJob *job)
{
  CorpusItem *item = (CorpusItem *)calloc(1, sizeof(*item));
  BenchMatrix At;

  if (!item) abort();
  item->job = job;
  if (!job->make(job, &item->A)) {
    memset(&item->A, 0, sizeof(item->A));
    return item;
  }
  item->x[0] = Vector(item->A.n, job->seed + 1);
  item->x[1] = Vector(item->A.m, job->seed + 2);
  Product(&item->A, item->x[0], &item->gold[0], &item->scale[0]);
  BenchMatrixCreate(&At, item->A.m, item->A.n, item->A.nnz);
  memcpy(At.rowptr, item->A.rowptr, ((size_t)At.m + 1) * sizeof(int32_t));
  memcpy(At.col, item->A.col, (size_t)At.nnz * sizeof(int32_t));
  memcpy(At.val, item->A.val, (size_t)At.nnz * sizeof(double));
  CorpusTurn(&At);
  Product(&At, item->x[1], &item->gold[1], &item->scale[1]);
  item->trowptr = At.rowptr;
  item->tcol    = At.col;
  item->tval    = At.val;
  return item;
}

void CorpusItemDestroy(CorpusItem **pitem)
{
  CorpusItem *item = *pitem;

  BenchMatrixDestroy(&item->A);
  for (int s = 0; s < 2; s++) {
    free(item->x[s]);
    free(item->gold[s]);
    free(item->scale[s]);
  }
  free(item->trowptr);
  free(item->tcol);
  free(item->tval);
  free(item);
  *pitem = NULL;
}

static void *Work(void *context)
{
  CorpusQueue Q = (CorpusQueue)context;

  pthread_mutex_lock(&Q->lock);
  while (!Q->stop && Q->next < Q->n) {
    const CorpusJob *job = &Q->jobs[Q->next];
    CorpusItem      *item;

    if (Q->ahead > 0 && Q->ahead + job->nnz > MOST_AHEAD) {
      pthread_cond_wait(&Q->change, &Q->lock);
      continue;
    }
    Q->next++;
    Q->ahead += job->nnz;
    pthread_mutex_unlock(&Q->lock);
    item = CorpusItemCreate(job);
    pthread_mutex_lock(&Q->lock);
    Q->ready[Q->readies++] = item;
    pthread_cond_broadcast(&Q->change);
  }
  pthread_mutex_unlock(&Q->lock);
  return NULL;
}

CorpusQueue CorpusQueueStart(const CorpusJob *jobs, int n, int threads)
{
  CorpusQueue Q = (CorpusQueue)calloc(1, sizeof(*Q));

  if (!Q) abort();
#if defined(__GLIBC__)
  mallopt(M_ARENA_MAX, 1); /* large arrays are allocated and freed often: with one arena their pages are reused and need not be cleared again */
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT32_MAX);
  mallopt(M_TOP_PAD, 1 << 26);
#endif
  Q->jobs    = jobs;
  Q->n       = n;
  Q->threads = threads < 1 ? 1 : threads > 64 ? 64 : threads;
  Q->ready   = (CorpusItem **)Allocate((size_t)n, sizeof(CorpusItem *));
  pthread_mutex_init(&Q->lock, NULL);
  pthread_cond_init(&Q->change, NULL);
  for (int t = 0; t < Q->threads; t++)
    if (pthread_create(&Q->thread[t], NULL, Work, Q)) abort();
  return Q;
}

CorpusItem *CorpusQueueNext(CorpusQueue Q)
{
  CorpusItem *item = NULL;

  pthread_mutex_lock(&Q->lock);
  while (!Q->readies && Q->taken < Q->n) pthread_cond_wait(&Q->change, &Q->lock);
  if (Q->readies) {
    item = Q->ready[0]; /* the oldest; otherwise large matrices, which take long to generate, would wait until the end of the run */
    memmove(Q->ready, Q->ready + 1, (size_t)--Q->readies * sizeof(CorpusItem *));
    Q->ahead -= item->job->nnz;
    Q->taken++;
    pthread_cond_broadcast(&Q->change);
  }
  pthread_mutex_unlock(&Q->lock);
  return item;
}

void CorpusQueueStop(CorpusQueue *pQ)
{
  CorpusQueue Q = *pQ;

  pthread_mutex_lock(&Q->lock);
  Q->stop = 1;
  pthread_cond_broadcast(&Q->change);
  pthread_mutex_unlock(&Q->lock);
  for (int t = 0; t < Q->threads; t++) pthread_join(Q->thread[t], NULL);
  while (Q->readies) CorpusItemDestroy(&Q->ready[--Q->readies]);
  pthread_mutex_destroy(&Q->lock);
  pthread_cond_destroy(&Q->change);
  free(Q->ready);
  free(Q);
  *pQ = NULL;
}
