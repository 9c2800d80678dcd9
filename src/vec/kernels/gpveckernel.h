/* Vector kernels, each with a host and a CUDA implementation: the table built from vec.def, and the memory for results of reductions. */
#ifndef GPVECKERNEL_H
#define GPVECKERNEL_H

#include "device/gpsteps.h"

#define GP_VEC_BATCH   8   /* maximum number of vectors in one launch of mdot or maxpy */
#define GP_VEC_ROWS    16  /* maximum number of vectors that gatherrows packs together */
#define GP_VEC_RESULTS 64  /* maximum number of results, and of launches, between two calls of GpVecWait() */
#define GP_VEC_BLOCKS  512 /* maximum number of blocks of a reduction whose partial results the host combines */

#if defined(__cplusplus)
extern "C" {
#endif

/* A reduction that was launched: its partial results, the numbers of blocks and of results per block, and the first entry of GpVecWork.result
   that it fills. */
typedef struct {
  double *parts;
  int     blocks, results, slot;
  int     most; /* 1: the results are a largest value and its position; 0: sums */
} GpVecLaunch;

/* Results of reductions. The blocks write partial results to pinned host memory. The host polls that memory (GpWatchWait()) and combines the
   partial results in block order, so that the results have the same bits in every run. A reduction needs one launch and one short wait, and no
   allocation. */
typedef struct {
  GpDev       dev;
  double      result[GP_VEC_RESULTS]; /* valid after GpVecWait() */
  double     *parts;                  /* pinned memory for partial results; NULL on the host */
  size_t      used;                   /* number of entries of parts in use */
  int         launches;
  GpVecLaunch launch[GP_VEC_RESULTS];
} GpVecWork;

/* Function type of MAP rows. z may be x or y. Pointers that the formula does not read may be NULL. `scalars` holds a, b and c. */
typedef GpErr (*GpVecMapFn)(GpDev, int64_t n, const double scalars[3], const double *x, const double *y, double *z);
/* Function type of REDUCE rows. The results are in result[slot], result[slot + 1], ... after GpVecWait(). A position is stored as a double; it is
   -1 if n is 0. */
typedef GpErr (*GpVecReduceFn)(GpVecWork *, int64_t n, const double *x, const double *y, int slot);

/* Lists of a move of blocks of entries from x to y. Blocks from[start[k]] to from[start[k + 1] - 1] of x are combined, in this order, into block
   to[k] of y. No block occurs twice in to[]. If to or from is NULL, blocks are taken in their own order. If start is NULL, every k has one block. */
typedef struct {
  int64_t        n; /* number of entries of to[] */
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

/* The implementations of all operations for one backend. */
typedef struct {
  GpErr (*gather)(GpDev, int32_t n, const int32_t *index, const double *x, double *packed);                           /* packed[k] = x[index[k]] */
  GpErr (*scatteradd)(GpDev, int32_t n, const int32_t *index, const double *packed, double *y);                       /* y[index[k]] += packed[k]; no index occurs twice */
  GpErr (*gatherrows)(GpDev, int32_t n, const int32_t *index, int many, const double *const x[], double *packed);     /* packed[k * many + c] = x[c][index[k]]; many is at most GP_VEC_ROWS */
  GpErr (*scatteraddrows)(GpDev, int32_t n, const int32_t *index, int many, const double *packed, double *const y[]); /* y[c][index[k]] += packed[k * many + c]; no index occurs twice */
  GpErr (*move)(GpDev, GpVecMoveOp, int bs, const GpVecMove *, const double *x, double *y);
  GpErr (*mdot)(GpVecWork *, int64_t n, int many, const double *x, const double *const y[], int slot);  /* result[slot + j] = x . y[j] */
  GpErr (*maxpy)(GpDev, int64_t n, int many, const double alpha[], const double *const x[], double *y); /* y += alpha[0] x[0] + alpha[1] x[1] + ... */
  GpVecMapFn    map[GP_VEC_MAPS];
  GpVecReduceFn reduce[GP_VEC_REDUCTIONS];
} GpVecKernels;

extern const GpVecKernels GpVecKernels_Host;
extern const GpVecKernels GpVecKernels_CUDA; /* exists only if GP_HAVE_CUDA is set */

#define GpVecKernelsOf(dev) GpDevSelect(dev, GpVecKernels_Host, GpVecKernels_CUDA)

/* Name and description of the rows of vec.def, for tests. */
typedef struct {
  const char *name, *help;
  int         results; /* number of results of a reduction, 0 for other operations */
} GpVecRow;

extern const GpVecRow GpVecMapRows[GP_VEC_MAPS], GpVecReduceRows[GP_VEC_REDUCTIONS];

GpErr GpVecWorkCreate(GpDev, GpVecWork *);
void  GpVecWorkDestroy(GpVecWork *);
GpErr GpVecExpect(GpVecWork *, int blocks, int results, int slot, int most, double **parts); /* before a launch: reserves memory for the partial results of its blocks */
GpErr GpVecWait(GpVecWork *);                                                                /* waits for the results of all launches so far */

/* Opens the definition of an implementation: GP_VEC(gather)(GpDev dev, ...). */
#define GP_VEC(name) GP_EXTERN GpErr GP_IMPL(GpVec_##name)

#if defined(__cplusplus)
}
#endif
#endif
