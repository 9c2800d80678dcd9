/* The host's part of reductions, and the descriptions of the rows of vec.def. */
#include "device/gpdevice.h"
#include "vec/kernels/gpveckernel.h"
#include "vec/kernels/gpvecreduce.h"

const GpVecRow GpVecMapRows[GP_VEC_MAPS] = {
#define MAP(name, help) {#name, help, 0},
#include "vec/kernels/vec.def"
#undef MAP
};

const GpVecRow GpVecReduceRows[GP_VEC_REDUCTIONS] = {
#define REDUCE(name, results, help) {#name, help, results},
#include "vec/kernels/vec.def"
#undef REDUCE
};

enum {
  PARTS = GP_VEC_BLOCKS * GP_VEC_RESULTS
};

GpErr GpVecWorkCreate(GpDev dev, GpVecWork *work)
{
  GpErr err = GP_SUCCESS;

  *work     = (GpVecWork){0};
  work->dev = dev;
  if (GpDevKindOf(dev) != GP_DEV_HOST) err = GpDevAllocPinned(dev, PARTS * sizeof(double), (void **)&work->parts);
  if (err) {
    GpVecWorkDestroy(work);
    return err;
  }
  if (work->parts) GpWatchReset(work->parts, PARTS);
  return GP_SUCCESS;
}

void GpVecWorkDestroy(GpVecWork *work)
{
  if (!work->dev) return;
  if (work->parts) GpDevFreePinned(work->dev, work->parts);
  *work = (GpVecWork){0};
}

GpErr GpVecExpect(GpVecWork *work, int blocks, int results, int slot, int most, double **parts)
{
  const size_t n = (size_t)blocks * (size_t)results;

  if (work->launches == GP_VEC_RESULTS || work->used + n > PARTS) {
    GpErr err = GpVecWait(work);

    if (err) return err;
  }
  *parts = work->parts + work->used;
  work->used += n;
  work->launch[work->launches++] = (GpVecLaunch){*parts, blocks, results, slot, most};
  return GP_SUCCESS;
}

static GpErr GpVecCollect(GpVecWork *work, const GpVecLaunch *l)
{
  double *result = work->result + l->slot;

  for (int k = 0; k < l->results; k++) result[k] = l->most ? -1 : 0; /* a largest value with position -1 is ignored by GpVecMost() */
  for (int b = 0; b < l->blocks; b++) {
    const double *part = l->parts + (size_t)b * (size_t)l->results;

    for (int k = 0; k < l->results; k++) {
      GpErr err = GpWatchWait(work->dev, part + k);

      if (err) return err;
      if (!l->most) result[k] += part[k];
    }
    if (l->most) GpVecMost(result, part);
  }
  GpWatchReset(l->parts, (size_t)l->blocks * (size_t)l->results);
  return GP_SUCCESS;
}

GpErr GpVecWait(GpVecWork *work)
{
  GpErr err = GP_SUCCESS;

  for (int j = 0; j < work->launches && !err; j++) err = GpVecCollect(work, &work->launch[j]);
  if (err && work->parts) GpWatchReset(work->parts, PARTS);
  work->launches = 0;
  work->used     = 0;
  return err;
}
