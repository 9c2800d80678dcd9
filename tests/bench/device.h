/* What the benchmarks of kernels share: the device, two events, a macro that checks calls, and times between the events. */
#ifndef GPUCSR_BENCH_DEVICE_H
#define GPUCSR_BENCH_DEVICE_H

#include "bench/order.h"
#include "device/gpdevice.h"
#include <stdio.h>
#include <stdlib.h>

static GpDev      dev;
static GpDevEvent begin, end;
static double     copyrate __attribute__((unused)); /* bytes read plus bytes written, per second */

#define CHECK(call) \
  do { \
    if (call) { \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, dev ? GpDevError(dev) : "no device"); \
      exit(1); \
    } \
  } while (0)

/* Opens the GPU and creates the events. Returns 1, after a message, if there is no GPU. */
static inline int BenchOpen(void)
{
  char why[256];

  if (GpDevOpen(GP_DEV_CUDA, 0, &dev, why, sizeof(why))) {
    fprintf(stderr, "%s\n", why);
    return 1;
  }
  CHECK(GpDevEventCreate(dev, &begin));
  CHECK(GpDevEventCreate(dev, &end));
  return 0;
}

static inline void BenchClose(void)
{
  GpDevEventDestroy(dev, begin);
  GpDevEventDestroy(dev, end);
  GpDevClose(&dev);
}

/* The microseconds since the event `begin` was recorded, when all work on the device has ended. */
static inline double BenchStop(void)
{
  double seconds;

  CHECK(GpDevEventRecord(dev, end));
  CHECK(GpDevEventWait(dev, end));
  CHECK(GpDevEventSeconds(dev, begin, end, &seconds));
  return 1e6 * seconds;
}

static inline double BenchMedian(int n, double times[])
{
  qsort(times, (size_t)n, sizeof(double), CompareDoubles);
  return times[n / 2];
}

static inline void *BenchAllocate(size_t bytes)
{
  void *p = malloc(bytes + 1);

  if (!p) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return p;
}

#endif
