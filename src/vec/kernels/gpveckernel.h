/* Kernels on vectors, each with its host twin: the table made from vec.def, and the place where reductions leave results. */
#ifndef GPVECKERNEL_H
#define GPVECKERNEL_H

#include "device/gpdevice.h"

#define GP_VEC_BATCH   8   /* vectors that one launch of a kernel on many takes */
#define GP_VEC_ROWS    16  /* vectors that are packed by rows together */
#define GP_VEC_RESULTS 64  /* results that wait for one GpVecWait() */
#define GP_VEC_BLOCKS  512 /* blocks of a reduction that the host waits for, at most */

#if defined(__cplusplus)
extern "C" {
#endif

/* a reduction that was launched: where its blocks leave results, how many each, and where they go */
typedef struct {
  double *parts;
  int     blocks, results, slot;
  int     most; /* the largest with its place, not sums */
} GpVecLaunch;

/* Where reductions work.  Their blocks leave partial results in pinned host memory; the host watches for them (device/gpwatch.h) and brings
   them together, always in the order of the blocks: one launch, one short wait, nothing allocated, and the same bits every time. */
typedef struct {
  GpDev       dev;
  double      result[GP_VEC_RESULTS]; /* there after GpVecWait() */
  double     *parts;
  size_t      used; /* of parts */
  int         launches;
  GpVecLaunch launch[GP_VEC_RESULTS];
} GpVecWork;

/* z may be x or y; pointers that the formula does not read may be NULL; scalars holds a, b, c */
typedef GpErr (*GpVecMapFn)(GpDev, int64_t n, const double scalars[3], const double *x, const double *y, double *z);
/* leaves its results from result[slot] on; they are there after GpVecWait().  A place is a double too, -1 when n is 0 */
typedef GpErr (*GpVecReduceFn)(GpVecWork *, int64_t n, const double *x, const double *y, int slot);

/* Entries of x, in blocks, that go to entries of y: block from[j] for every j from start[k] to start[k + 1], in that order, to
   block to[k], which stands in to[] only once.  NULL for from or to: in their order; for start: one each. */
typedef struct {
  int64_t        n; /* of to[] */
  const int32_t *to, *from, *start;
} GpVecMove;

typedef enum {
  GP_VEC_REPLACE,
  GP_VEC_ADD,
  GP_VEC_MAX,
  GP_VEC_MIN
} GpVecMoveOp;

typedef enum {
#define MAP(name, help) GP_VEC_##name,
#include "vec/kernels/vec.def"
#undef MAP
  GP_VEC_MAPS
} GpVecMapId;

typedef enum {
#define REDUCE(name, results, help) GP_VEC_##name,
#include "vec/kernels/vec.def"
#undef REDUCE
  GP_VEC_REDUCTIONS
} GpVecReduceId;

/* the twins of every operation, by runtime */
typedef struct {
  GpErr (*gather)(GpDev, int32_t n, const int32_t *index, const double *x, double *packed);                           /* packed[k] = x[index[k]] */
  GpErr (*scatteradd)(GpDev, int32_t n, const int32_t *index, const double *packed, double *y);                       /* y[index[k]] += packed[k]; no index twice */
  GpErr (*gatherrows)(GpDev, int32_t n, const int32_t *index, int many, const double *const x[], double *packed);     /* packed[k*many + c] = x[c][index[k]], at most GP_VEC_ROWS */
  GpErr (*scatteraddrows)(GpDev, int32_t n, const int32_t *index, int many, const double *packed, double *const y[]); /* y[c][index[k]] += packed[k*many + c] */
  GpErr (*move)(GpDev, GpVecMoveOp, int bs, const GpVecMove *, const double *x, double *y);
  GpErr (*mdot)(GpVecWork *, int64_t n, int many, const double *x, const double *const y[], int slot);  /* result[slot + j] = x . y[j] */
  GpErr (*maxpy)(GpDev, int64_t n, int many, const double alpha[], const double *const x[], double *y); /* y += sum of alpha[j] x[j] */
  GpVecMapFn    map[GP_VEC_MAPS];
  GpVecReduceFn reduce[GP_VEC_REDUCTIONS];
} GpVecKernels;

extern const GpVecKernels GpVecKernelsHost;
extern const GpVecKernels GpVecKernelsCUDA; /* only with GP_HAVE_CUDA */

#define GpVecKernelsOf(dev) GpDevTwin(dev, GpVecKernelsHost, GpVecKernelsCUDA)

/* what the rows are, for those who list them: tests and -help */
typedef struct {
  const char *name, *help;
  int         results; /* of a reduction */
} GpVecRow;

extern const GpVecRow GpVecMapRows[GP_VEC_MAPS], GpVecReduceRows[GP_VEC_REDUCTIONS];

GpErr GpVecWorkCreate(GpDev, GpVecWork *);
void  GpVecWorkDestroy(GpVecWork *);
GpErr GpVecExpect(GpVecWork *, int blocks, int results, int slot, int most, double **parts); /* before a launch: where its blocks leave results */
GpErr GpVecWait(GpVecWork *);                                                                /* until the results of every launch so far are there */

#if defined(__CUDACC__)
  #define GP_VEC_TWIN(name) extern "C" GpErr GpVec_##name##_CUDA
#else
  #define GP_VEC_TWIN(name) GpErr GpVec_##name##_Host
#endif

#if defined(__cplusplus)
}
#endif
#endif
