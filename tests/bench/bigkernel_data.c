/* Memory and threads of the host for bench_bigkernel.c. */
#define _GNU_SOURCE
#include "bench/bigkernel.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

typedef struct {
  BkBody  body;
  void   *context;
  int     thread;
  int64_t begin, end;
} BkPart;

static void *BkRunPart(void *context)
{
  const BkPart *p = (const BkPart *)context;

  p->body(p->context, p->thread, p->begin, p->end);
  return NULL;
}

void BkParallel(int threads, int64_t n, BkBody body, void *context)
{
  pthread_t *thread = (pthread_t *)malloc((size_t)threads * sizeof(*thread));
  BkPart    *part   = (BkPart *)malloc((size_t)threads * sizeof(*part));

  if (!thread || !part) BkFail("threads", "out of memory");
  for (int t = 0; t < threads; t++) {
    part[t] = (BkPart){body, context, t, n / threads * t + n % threads * t / threads, n / threads * (t + 1) + n % threads * (t + 1) / threads};
    if (t && pthread_create(&thread[t], NULL, BkRunPart, &part[t])) BkFail("threads", "a thread cannot be started");
  }
  (void)BkRunPart(&part[0]);
  for (int t = 1; t < threads; t++) (void)pthread_join(thread[t], NULL);
  free(thread);
  free(part);
}

double BkNow(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void BkFail(const char *what, const char *why)
{
  fprintf(stderr, "bench_bigkernel: %s: %s\n", what, why);
  exit(1);
}

void *BkAlloc(size_t bytes)
{
  void *memory = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (memory == MAP_FAILED) BkFail("host memory", "out of memory; give a smaller --scale");
  (void)madvise(memory, bytes, MADV_HUGEPAGE); /* fewer page faults; without it the program only starts more slowly */
  return memory;
}

void BkFree(void *memory, size_t bytes)
{
  if (memory) (void)munmap(memory, bytes ? bytes : 1);
}

BkView BkRecords(BkProgram p, const void *base, int64_t n)
{
  BkView v = {.n = n, .aligned = p->bytes % 8 == 0, .base = (const unsigned char *)base};

  for (int f = 0; f < p->fields; f++) {
    v.offset[f] = p->offset[f];
    v.stride[f] = p->bytes;
    if (p->offset[f] % p->size[f]) v.aligned = 0;
  }
  return v;
}
