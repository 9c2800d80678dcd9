/* Matrices of the corpus, made by threads ahead of the one that measures. */
#ifndef GPUCSR_BENCH_CORPUSQUEUE_H
#define GPUCSR_BENCH_CORPUSQUEUE_H

#include "bench/corpus.h"

/* a matrix with its transpose, vectors, and both products in long double sums; A.rowptr is NULL where it could not be read */
typedef struct {
  const CorpusJob *job;
  BenchMatrix      A;
  int32_t         *trowptr, *tcol;
  double          *tval;
  double          *x[2], *gold[2], *scale[2]; /* of A, of its transpose; scale: sums of absolute values */
} CorpusItem;

typedef struct CorpusQueue_ *CorpusQueue;

CorpusQueue CorpusQueueStart(const CorpusJob *jobs, int n, int threads);
CorpusItem *CorpusQueueNext(CorpusQueue); /* whichever is ready, NULL after the last */
void        CorpusQueueStop(CorpusQueue *);
CorpusItem *CorpusItemCreate(const CorpusJob *job);
void        CorpusItemDestroy(CorpusItem **);

#endif
