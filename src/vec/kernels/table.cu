/* The table of vector kernels of each backend, built from vec.def. */
#include "vec/kernels/gpveckernel.h"

#define MAP(name, help)             GP_VEC(name)(GpDev, int64_t, const double[3], const double *, const double *, double *);
#define REDUCE(name, results, help) GP_VEC(name)(GpVecWork *, int64_t, const double *, const double *, int);
#include "vec/kernels/vec.def"
#undef MAP
#undef REDUCE
GP_VEC(gather)(GpDev, int32_t, const int32_t *, const double *, double *);
GP_VEC(scatteradd)(GpDev, int32_t, const int32_t *, const double *, double *);
GP_VEC(gatherrows)(GpDev, int32_t, const int32_t *, int, const double *const[], double *);
GP_VEC(scatteraddrows)(GpDev, int32_t, const int32_t *, int, const double *, double *const[]);
GP_VEC(move)(GpDev, GpVecMoveOp, int, const GpVecMove *, const double *, double *);
GP_VEC(mdot)(GpVecWork *, int64_t, int, const double *, const double *const[], int);
GP_VEC(maxpy)(GpDev, int64_t, int, const double[], const double *const[], double *);

#define ENTRY(name)                 GP_IMPL(GpVec_##name),
#define MAP(name, help)             ENTRY(name)
#define REDUCE(name, results, help) ENTRY(name)
const GpVecKernels GP_IMPL(GpVecKernels) = {
  ENTRY(gather) ENTRY(scatteradd) ENTRY(gatherrows) ENTRY(scatteraddrows) ENTRY(move) ENTRY(mdot) ENTRY(maxpy){
#undef REDUCE
#include "vec/kernels/vec.def"
  },
  {
#undef MAP
#define REDUCE(name, results, help) ENTRY(name)
#include "vec/kernels/vec.def"
  },
};
