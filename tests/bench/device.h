/* What the benchmarks of kernels share: the device and two of its events, the check of a call, an order of times. */
#ifndef GPUCSR_BENCH_DEVICE_H
#define GPUCSR_BENCH_DEVICE_H

#include "device/gpdevice.h"
#include <stdio.h>
#include <stdlib.h>

static GpDev      dev;
static GpDevEvent begin, end;
static double     copyrate; /* bytes a second, read plus write */

#define CHECK(call) \
  do { \
    if (call) { \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, dev ? dev->error : "no device"); \
      exit(1); \
    } \
  } while (0)

static int CompareDoubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

#endif
