/* Numbers that a kernel writes to pinned host memory and the host polls. This takes less time than to wait for the stream. A place holds a
   reserved NaN until its number is written, so no separate flag is needed. All functions are inline, because programs that link the library use
   them too. */
#ifndef GPWATCH_H
#define GPWATCH_H

#include "device/gpdevice.h"

#define GP_WATCH_NOTHING 0x7ff8dead5eedbeefLL

#if defined(__CUDACC__)
__device__ static inline void GpWatchTell(volatile double *place, double number)
{
  *place = __double_as_longlong(number) == GP_WATCH_NOTHING ? __longlong_as_double(GP_WATCH_NOTHING ^ 1) : number;
}

#else
  #include <stdio.h>
  #include <string.h>

static inline void GpWatchClear(double *places, size_t n)
{
  const int64_t nothing = GP_WATCH_NOTHING;

  for (size_t k = 0; k < n; k++) memcpy(&places[k], &nothing, sizeof(nothing));
}

static inline int GpWatchIsNothing(const double *place)
{
  return __atomic_load_n((const int64_t *)place, __ATOMIC_ACQUIRE) == GP_WATCH_NOTHING;
}

/* Waits until the place holds a number. It checks the stream regularly, so that it returns if the kernel failed. */
static inline GpErr GpWatch(GpDev dev, const double *place)
{
  for (uint32_t spin = 1; GpWatchIsNothing(place); spin++) {
    int   idle = 0;
    GpErr err;

    if (spin % 16384) continue;
    err = dev->ops->poll(dev, &idle);
    if (err) return err;
    if (idle && GpWatchIsNothing(place)) {
      snprintf(dev->error, sizeof(dev->error), "a kernel finished without writing its result");
      return GP_ERR_DEVICE;
    }
  }
  return GP_SUCCESS;
}
#endif
#endif
