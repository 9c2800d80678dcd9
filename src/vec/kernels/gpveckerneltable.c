/* The tables made from vec.def, one a runtime, and the wait for reductions. */
#include "vec/kernels/gpveckernel.h"

/* prototypes of the twins of a runtime */
#define PROTOTYPE_MAP(name, runtime)    GpErr GpVec_##name##_##runtime(GpDev, int64_t, const double[3], const double *, const double *, double *);
#define PROTOTYPE_REDUCE(name, runtime) GpErr GpVec_##name##_##runtime(GpVecWork *, int64_t, const double *, const double *, int);
#define PROTOTYPE_OTHERS(runtime) \
  GpErr GpVec_gather_##runtime(GpDev, int32_t, const int32_t *, const double *, double *); \
  GpErr GpVec_scatteradd_##runtime(GpDev, int32_t, const int32_t *, const double *, double *); \
  GpErr GpVec_gatherrows_##runtime(GpDev, int32_t, const int32_t *, int, const double *const[], double *); \
  GpErr GpVec_scatteraddrows_##runtime(GpDev, int32_t, const int32_t *, int, const double *, double *const[]); \
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

GpErr GpVecWorkCreate(GpDev dev, GpVecWork *work)
{
  const size_t pinned = (GP_VEC_RESULTS + 8) * sizeof(double); /* the number on a cache line of its own */
  GpErr        err;

  *work     = (GpVecWork){0};
  work->dev = dev;
  err       = GpDevAlloc(dev, (size_t)GP_VEC_PARTS * GP_VEC_BATCH * sizeof(double), &work->partial);
  if (!err) err = GpDevAlloc(dev, sizeof(uint32_t), &work->ticket);
  if (!err) err = dev->ops->alloc_pinned(dev, pinned, (void **)&work->result);
  if (!err) err = dev->ops->zero(dev, work->ticket, sizeof(uint32_t));
  if (err) {
    GpVecWorkDestroy(work);
    return err;
  }
  work->done  = (uint64_t *)(work->result + GP_VEC_RESULTS);
  *work->done = 0;
  return GP_SUCCESS;
}

void GpVecWorkDestroy(GpVecWork *work)
{
  if (!work->dev) return;
  GpDevFree(work->dev, &work->partial, (size_t)GP_VEC_PARTS * GP_VEC_BATCH * sizeof(double));
  GpDevFree(work->dev, &work->ticket, sizeof(uint32_t));
  if (work->result) work->dev->ops->release_pinned(work->dev, work->result);
  *work = (GpVecWork){0};
}

/* Watches the number.  Now and then it asks whether the stream still works, so that a kernel that died cannot keep us here. */
GpErr GpVecWait(GpVecWork *work)
{
  for (uint32_t spin = 1; __atomic_load_n(work->done, __ATOMIC_ACQUIRE) != work->launched; spin++) {
    int   idle = 0;
    GpErr err;

    if (spin % 8192) continue;
    err = work->dev->ops->poll(work->dev, &idle);
    if (err) return err;
    if (idle && __atomic_load_n(work->done, __ATOMIC_ACQUIRE) != work->launched) return GpDevFail(work->dev, GP_ERR_DEVICE, "a reduction ended without its result");
  }
  return GP_SUCCESS;
}
