/* The tables of vector kernels built from vec.def, one for each backend, and the host's part of reductions. */
#include "device/gpwatch.h"
#include "vec/kernels/gpveckernel.h"

/* prototypes of the implementations for one backend */
#define PROTOTYPE_MAP(name, runtime)    GpErr GpVec_##name##_##runtime(GpDev, int64_t, const double[3], const double *, const double *, double *);
#define PROTOTYPE_REDUCE(name, runtime) GpErr GpVec_##name##_##runtime(GpVecWork *, int64_t, const double *, const double *, int);
#define PROTOTYPE_OTHERS(runtime) \
  GpErr GpVec_gather_##runtime(GpDev, int32_t, const int32_t *, const double *, double *); \
  GpErr GpVec_scatteradd_##runtime(GpDev, int32_t, const int32_t *, const double *, double *); \
  GpErr GpVec_gatherrows_##runtime(GpDev, int32_t, const int32_t *, int, const double *const[], double *); \
  GpErr GpVec_scatteraddrows_##runtime(GpDev, int32_t, const int32_t *, int, const double *, double *const[]); \
  GpErr GpVec_move_##runtime(GpDev, GpVecMoveOp, int, const GpVecMove *, const double *, double *); \
  GpErr GpVec_mdot_##runtime(GpVecWork *, int64_t, int, const double *, const double *const[], int); \
  GpErr GpVec_maxpy_##runtime(GpDev, int64_t, int, const double[], const double *const[], double *);

PROTOTYPE_OTHERS(Host)
#define MAP(name, help)             PROTOTYPE_MAP(name, Host)
#define REDUCE(name, results, help) PROTOTYPE_REDUCE(name, Host)
#include "vec/kernels/vec.def"
#undef MAP
#undef REDUCE

const GpVecKernels GpVecKernelsHost = {
  .gather         = GpVec_gather_Host,
  .scatteradd     = GpVec_scatteradd_Host,
  .gatherrows     = GpVec_gatherrows_Host,
  .scatteraddrows = GpVec_scatteraddrows_Host,
  .move           = GpVec_move_Host,
  .mdot           = GpVec_mdot_Host,
  .maxpy          = GpVec_maxpy_Host,
#define MAP(name, help)             .map[GP_VEC_##name] = GpVec_##name##_Host,
#define REDUCE(name, results, help) .reduce[GP_VEC_##name] = GpVec_##name##_Host,
#include "vec/kernels/vec.def"
#undef MAP
#undef REDUCE
};

#if GP_HAVE_CUDA
PROTOTYPE_OTHERS(CUDA)
  #define MAP(name, help)             PROTOTYPE_MAP(name, CUDA)
  #define REDUCE(name, results, help) PROTOTYPE_REDUCE(name, CUDA)
  #include "vec/kernels/vec.def"
  #undef MAP
  #undef REDUCE

const GpVecKernels GpVecKernelsCUDA = {
  .gather         = GpVec_gather_CUDA,
  .scatteradd     = GpVec_scatteradd_CUDA,
  .gatherrows     = GpVec_gatherrows_CUDA,
  .scatteraddrows = GpVec_scatteraddrows_CUDA,
  .move           = GpVec_move_CUDA,
  .mdot           = GpVec_mdot_CUDA,
  .maxpy          = GpVec_maxpy_CUDA,
  #define MAP(name, help)             .map[GP_VEC_##name] = GpVec_##name##_CUDA,
           #define REDUCE(name, results, help) .reduce[GP_VEC_##name] = GpVec_##name##_CUDA,
           #include "vec/kernels/vec.def"
  #undef MAP
  #undef REDUCE
};
#endif

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
  if (dev->kind != GP_DEV_HOST) err = dev->ops->alloc_pinned(dev, PARTS * sizeof(double), (void **)&work->parts);
  if (err) {
    GpVecWorkDestroy(work);
    return err;
  }
  if (work->parts) GpWatchClear(work->parts, PARTS);
  return GP_SUCCESS;
}

void GpVecWorkDestroy(GpVecWork *work)
{
  if (!work->dev) return;
  if (work->parts) work->dev->ops->release_pinned(work->dev, work->parts);
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

/* Combines two largest values with their positions. NaN is larger than any number. Of equal values the one with the lowest position wins;
   positions are compared, because the entries of a block are not contiguous. */
static void GpVecMost(double most[2], const double other[2])
{
  const int nan = other[0] != other[0], had = most[0] != most[0], tie = other[0] == most[0] || (nan && had);

  if (other[1] < 0) return;
  if (most[1] < 0 || other[0] > most[0] || (nan && !had) || (tie && other[1] < most[1])) {
    most[0] = other[0];
    most[1] = other[1];
  }
}

static GpErr GpVecCollect(GpVecWork *work, const GpVecLaunch *l)
{
  double *result = work->result + l->slot;

  for (int k = 0; k < l->results; k++) result[k] = l->most ? -1 : 0; /* a largest value with position -1 is ignored by GpVecMost() */
  for (int b = 0; b < l->blocks; b++) {
    const double *part = l->parts + (size_t)b * (size_t)l->results;

    for (int k = 0; k < l->results; k++) {
      GpErr err = GpWatch(work->dev, part + k);

      if (err) return err;
      if (!l->most) result[k] += part[k];
    }
    if (l->most) GpVecMost(result, part);
  }
  GpWatchClear(l->parts, (size_t)l->blocks * (size_t)l->results);
  return GP_SUCCESS;
}

GpErr GpVecWait(GpVecWork *work)
{
  GpErr err = GP_SUCCESS;

  for (int j = 0; j < work->launches && !err; j++) err = GpVecCollect(work, &work->launch[j]);
  if (err && work->parts) GpWatchClear(work->parts, PARTS);
  work->launches = 0;
  work->used     = 0;
  return err;
}
