/* Declarations that the benchmarks of kernels share: the device, two events, and a macro that checks calls. */
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

#endif
