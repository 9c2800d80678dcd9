/* cuSPARSE's formats and algorithms on the same matrix, for the benchmarks.  The library does not use this code. */
#ifndef GPUCSR_BENCH_RIVALS_H
#define GPUCSR_BENCH_RIVALS_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

enum {
#define RIVAL(name, format, algorithm, block) RIVAL_##name,
#include "bench/rivals.def"
#undef RIVAL
  RIVALS
};

typedef struct Rival_ *Rival;

extern const char *const RivalNames[RIVALS];

/* y = A x in A's precision with double vectors, after the algorithm's preprocessing; NULL: the format does not suit the matrix, or cuSPARSE has none.
   rowptr, col: the host's copies.  transpose: cuSPARSE's transposed operation on A. */
Rival RivalCreate(int which, const GpCsr *A, const int32_t rowptr[], const int32_t col[], int transpose, double *x, double *y);
int   RivalRun(void *rival);
void  RivalDestroy(Rival *);

#endif
