/* One power iteration, or a block of a Gauss-Seidel sweep, beside its product: kernels with the iteration's scalars on the device.  No PETSc here. */
#ifndef GPUCSR_PAGERANK_STEP_H
#define GPUCSR_PAGERANK_STEP_H

#include "device/gpdevice.h"

#if defined(__CUDACC__)
  #define GP_STEP_INLINE __host__ __device__ static inline
  #define GP_STEP_DEVICE __device__ static inline
#else
  #define GP_STEP_INLINE static inline
  #define GP_STEP_DEVICE static inline
#endif

#if defined(__cplusplus)
extern "C" {
#endif

enum {
  STEP_RUNNING,
  STEP_SMALL, /* the residual is as small as asked for, or not a number: the host's test knows which */
  STEP_MAX_IT /* as many iterations as were allowed */
};

/* sums over rows of a sweep */
enum {
  STEP_MOVED, /* |change|, of a look |residual| */
  STEP_TOTAL, /* of level times rank, and what dangling nodes hold of it */
  STEP_LOST,
  STEP_SUMS
};

/* lives on the device; once status is not STEP_RUNNING every kernel returns at once */
typedef struct {
  double   norm;   /* |residual|_1 of the ranks before the last step */
  double   target; /* to stop at */
  double   lost;   /* what dangling nodes hold of the newest ranks */
  int32_t  it, max_it;
  int32_t  status;
  uint32_t ticket; /* how many blocks of a reduction are done */
  uint64_t turn;   /* of the graph that repeats until status is set; 0: the host does */
  /* sweeps know ranks up to a factor */
  double  level;               /* times the ranks is what z holds */
  double  moved;               /* |change|_1 of the ranks by the last sweep */
  double  ratio;               /* of the residual to that: what is usual, later what was found */
  double  gathered[STEP_SUMS]; /* over the rows so far */
  int32_t look;                /* the next sweep changes nothing, it measures the residual */
  int32_t products;            /* sweeps and looks */
  int32_t known;               /* the ratio was found */
} StepState;

/* what becomes of the rank of dangling nodes, whose out is 0 */
enum {
  STEP_DROPS,
  STEP_STAYS,
  STEP_MOVES /* by u */
};

/* the operator beside A, entry by entry */
typedef struct {
  int32_t       n;
  int           dangling;
  double        damping;
  const double *out;     /* weight of the links that leave a node */
  const double *inverse; /* sweeps: 1/(1 - damping p) where the share p of a node's rank comes back to it at once; NULL: 1 */
  const double *v, *u;   /* NULL: the same everywhere, which is */
  double        everywhere;
} StepOperator;

/* rows of a block, which product and sweep are about */
typedef struct {
  int32_t first, n;
  int32_t most;        /* rows of the largest block: the sums of every block are as many parts */
  int     last, leads; /* the sweep ends with them here, so that the sums are gathered; and everywhere: the state becomes that of the next one */
} StepRows;

#define STEP_PARTIAL (STEP_SUMS * GP_DEV_PARTS) /* doubles that the partial sums take */

/* The twins of every operation, by runtime.  The ranks x are kept as z, what A multiplies: z = x/out, and x where out is 0, whose columns of A are empty.
   step and sweep come behind a product that came behind whatever else they read. */
typedef struct {
  GpErr (*start)(GpDev, const StepOperator *, StepState begin, StepState *, double *partial, const double *x, double *z);   /* z of x; the state, and lost */
  GpErr (*step)(GpDev, const StepOperator *, StepState *, double *partial, const double *y, const double *z, double *next); /* y = A z: next = z of G x, norm = |G x - x|_1; status */
  GpErr (*sweep)(GpDev, const StepOperator *, StepState *, double *partial, const double *y, double *z, StepRows);          /* y = A z in these rows: they are solved for, or their residual is gathered */
  GpErr (*finish)(GpDev, const StepOperator *, const StepState *, const double *even, const double *odd, double *x);        /* once nothing runs any more: x of z, which an even or odd number of steps left */
} StepKernels;

#define STEP_USUAL 0.85 /* the residual, over what the next sweep would change */

/* before the first iteration; look: the ranks may be good enough as they are */
static inline StepState StepBegin(double target, int32_t max_it, int32_t look, uint64_t turn)
{
  StepState s = {0};

  s.target = target;
  s.max_it = max_it;
  s.turn   = turn;
  s.level  = 1;
  s.ratio  = STEP_USUAL;
  s.look   = look || max_it == 0;
  return s;
}

/* what a sweep over all rows, whose sums state->gathered holds, means for the next one; the last rows call it, or the host that leads */
GP_STEP_INLINE void StepAfterSweep(const StepOperator *G, StepState *s)
{
  if (s->look) {
    s->norm = s->gathered[STEP_MOVED] / s->level;
    if (!(s->norm > s->target)) s->status = STEP_SMALL; /* a NaN ends here too */
    else if (s->it >= s->max_it) s->status = STEP_MAX_IT;
    else if (s->moved > 0) {
      s->ratio = s->norm / s->moved;
      s->known = 1;
    }
    s->look = 0;
  } else {
    const double before = s->moved;

    s->it++;
    s->lost  = s->gathered[STEP_LOST];
    s->level = s->gathered[STEP_TOTAL] + (G->dangling == STEP_DROPS ? G->damping / (1 - G->damping) * s->lost : 0);
    s->moved = s->gathered[STEP_MOVED] / s->level;
    if (!s->known && before > 0) s->ratio = STEP_USUAL * (s->moved < before ? s->moved / before : 1);
    s->look = !(s->moved * s->ratio > s->target) || s->it >= s->max_it;
  }
  s->products++;
  for (int k = 0; k < STEP_SUMS; k++) s->gathered[k] = 0;
}

extern const StepKernels StepKernelsHost;
extern const StepKernels StepKernelsCUDA; /* only with GP_HAVE_CUDA */

#define StepKernelsOf(dev) GpDevTwin(dev, StepKernelsHost, StepKernelsCUDA)

#if defined(__cplusplus)
}
#endif
#endif
