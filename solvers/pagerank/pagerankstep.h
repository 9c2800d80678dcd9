/* Kernels of the power iteration and of the Gauss-Seidel sweep. They do everything except the product, and keep the scalars of the iteration on the
   device. This file does not depend on PETSc. */
#ifndef GPUCSR_PAGERANK_STEP_H
#define GPUCSR_PAGERANK_STEP_H

#include <gpucsrdevicetypes.h>

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

/* status of the iteration */
enum {
  STEP_RUNNING,
  STEP_SMALL, /* the residual is at most the target, or not a number; SolveCheck() on the host distinguishes the two */
  STEP_MAX_IT /* the maximum number of iterations is reached */
};

/* sums over the rows of a sweep */
enum {
  STEP_MOVED, /* absolute values of the changes of the ranks; if look is set, absolute values of the residual */
  STEP_TOTAL, /* ranks times level */
  STEP_LOST,  /* ranks times level of the dangling nodes */
  STEP_SUMS   /* number of sums */
};

/* State of an iteration, in the memory of the kernels. If status is not STEP_RUNNING, the kernels return without any change. */
typedef struct {
  double   norm;       /* 1-norm of the residual: of the ranks before the last step, or of the last sweep with look */
  double   target;     /* the iteration stops if norm is at most this */
  double   lost;       /* total of the dangling nodes in the newest ranks, times level */
  int32_t  it, max_it; /* iterations so far and at most */
  int32_t  status;     /* STEP_RUNNING, ... */
  uint32_t ticket;     /* number of thread blocks that have finished a reduction; 0 between kernels */
  uint64_t turn;       /* handle by which a kernel ends the repetition of the CUDA graph. 0: the graph does not repeat itself. */
  /* for sweeps only, which compute the ranks up to a factor */
  double  level;               /* the factor: z belongs to the ranks times level */
  double  moved;               /* 1-norm of the change of the ranks by the last sweep */
  double  ratio;               /* estimate of norm/moved: first STEP_USUAL and the convergence rate, then the last measured value */
  double  gathered[STEP_SUMS]; /* sums over the rows of this sweep so far */
  int32_t look;                /* nonzero: the next sweep measures the residual and changes no rank */
  int32_t products;            /* products with the whole matrix so far: steps, or sweeps with and without look */
  int32_t known;               /* nonzero: ratio is a measured value */
} StepState;

/* treatment of the rank of dangling nodes, for which out is 0 */
enum {
  STEP_DROPS, /* the rank is dropped */
  STEP_STAYS, /* the rank stays at its node */
  STEP_MOVES  /* the rank is distributed as u */
};

/* The Google operator without the matrix A: arrays of n local entries, in the memory of the kernels. */
typedef struct {
  int32_t       n;        /* number of local rows */
  int           dangling; /* STEP_DROPS, ... */
  double        damping;
  const double *out;        /* total weight of the outgoing links of each node */
  const double *inverse;    /* sweeps: 1/(1 - damping p), where p is the diagonal entry of P. NULL: 1. */
  const double *v, *u;      /* teleportation vector, distribution of the rank of dangling nodes. NULL: every entry is `everywhere`. */
  double        everywhere; /* 1/N */
} StepOperator;

/* The rows of a block of a sweep. */
typedef struct {
  int32_t first, n;    /* first local row and number of rows */
  int32_t most;        /* rows of the largest block: all blocks launch the same grid, so that the partial sums match */
  int     last, leads; /* last: last block of this process, whose kernel reduces the sums. leads: no other process takes part, so the kernel also calls StepAfterSweep(). */
} StepRows;

#define STEP_PARTIAL (STEP_SUMS * GP_DEV_PARTS) /* number of partial sums */

/* Table of the kernels of a backend. The ranks x are stored as z, the vector that A multiplies: z = x/out, and z = x where out is 0, since these
   columns of A are empty. step and sweep are launched early behind the product. All else that they read must be complete before that product starts. */
typedef struct {
  GpErr (*start)(GpDev, const StepOperator *, StepState begin, StepState *, double *partial, const double *x, double *z);   /* sets the state and its member lost, and z from x */
  GpErr (*step)(GpDev, const StepOperator *, StepState *, double *partial, const double *y, const double *z, double *next); /* y = A z: sets next to the z of G x, and updates norm = |G x - x|_1, status and lost of the state */
  GpErr (*sweep)(GpDev, const StepOperator *, StepState *, double *partial, const double *y, double *z, StepRows);          /* y = A z in these rows: updates their z, or with look adds up their residual */
  GpErr (*finish)(GpDev, const StepOperator *, const StepState *, const double *even, const double *odd, double *x);        /* if status is set: x from z. z is `even` after an even number of steps, else `odd`. */
} StepKernels;

#define STEP_USUAL 0.85 /* typical ratio of the residual to the change that the next sweep would make */

/* Returns the state before the first iteration. look: the first sweep measures the residual, since the initial ranks may be good enough. */
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

/* Updates the state after a sweep over all rows, whose sums are in s->gathered. It decides whether the next sweep measures the residual (look) and
   whether the iteration stops. The kernel of the last block calls it, or the host if it controls the iteration. */
GP_STEP_INLINE void StepAfterSweep(const StepOperator *G, StepState *s)
{
  if (s->look) {
    s->norm = s->gathered[STEP_MOVED] / s->level;
    if (!(s->norm > s->target)) s->status = STEP_SMALL; /* this form of the comparison is true for NaN too */
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
extern const StepKernels StepKernelsCUDA; /* exists only with GP_HAVE_CUDA */

#define StepKernelsOf(dev) GpDevSelect(dev, StepKernelsHost, StepKernelsCUDA)

#if defined(__cplusplus)
}
#endif
#endif
