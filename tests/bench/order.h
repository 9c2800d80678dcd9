/* The order of times, for qsort(): benchmarks report medians. */
#ifndef GPUCSR_BENCH_ORDER_H
#define GPUCSR_BENCH_ORDER_H

static inline int CompareDoubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

#endif
