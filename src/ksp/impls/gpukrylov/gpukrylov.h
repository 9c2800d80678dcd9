/* The engine of Krylov methods whose loop runs on the device. A method is one file that lists its steps in a KSPGPUMethod. The engine manages memory, graphs and the preconditioner, replaces the residual, calls monitors
   and sets convergence reasons. Each type derives from a type of PETSc, which solves what the loop does not support. */
#ifndef GPUKRYLOV_H
#define GPUKRYLOV_H

#include <petsc/private/kspimpl.h>
#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "sys/gpurecord.h"
#include "vec/kernels/gpkrylov.h"

typedef struct _n_KSP_GPU KSP_GPU;

/* Vectors of the engine. The vectors of a method follow. */
enum {
  KSP_GPU_X,    /* solution; of the right-preconditioned system if the side is right */
  KSP_GPU_B,    /* right-hand side; the initial residual if the side is right */
  KSP_GPU_D,    /* inverted diagonal of the Jacobi preconditioner */
  KSP_GPU_WORK, /* between the two factors of the preconditioned operator */
  KSP_GPU_VECTORS
};

#define KSP_GPU_VECTOR(g, which) ((g)->vectors + (size_t)(which) * (size_t)(g)->n)

/* The functions launch work and wait for nothing. */
typedef struct {
  const char *type, *base;                                   /* names of the type and of PETSc's type */
  PetscErrorCode (*check)(KSP, KSP_GPU *, const char **why); /* sets *why to what the loop of this method does not support, or leaves it; may be NULL */
  PetscErrorCode (*plan)(KSP, KSP_GPU *);                    /* sets count, period, extra and sums */
  PetscErrorCode (*initialise)(KSP_GPU *, GpKrylovState *);  /* sets members of the state before the start; may be NULL */
  PetscErrorCode (*start)(KSP_GPU *, double *ax);            /* computes the first residual from KSP_GPU_B and ax, the product A x of the initial guess x (NULL if x is zero), and the scalars */
  PetscErrorCode (*iterate)(KSP_GPU *, PetscInt k);          /* iteration k of a period */
  PetscErrorCode (*replace)(KSP_GPU *);                      /* replaces the residual by one that the operator g->exact gives */
  PetscErrorCode (*finish)(KSP_GPU *);                       /* completes the solution after the method has stopped; may be NULL */
  PetscErrorCode (*create)(KSP, KSP_GPU *);                  /* called at the end of KSPGPUCreate_Private(), to initialise data of the method; may be NULL */
  PetscLogDouble (*getflops)(KSP_GPU *, PetscInt its);       /* flops of vector operations of `its` iterations, in addition to vectorflops; may be NULL */
  PetscBool replaces;                                        /* replace() may be launched between two batches */
  PetscInt  products;                                        /* number of products of an iteration */
  PetscInt  applications;                                    /* number of applications of the preconditioner of an iteration */
  PetscInt  vectorflops;                                     /* flops of an iteration per vector entry, without norms, products and preconditioner */
  PetscInt  normflops;                                       /* flops of the norm per vector entry if the KSP computes one that is none of the inner products */
} KSPGPUMethod;

typedef enum {
  KSP_GPU_PC_NONE,
  KSP_GPU_PC_DIAGONAL,
  KSP_GPU_PC_RECORDED
} KSPGPUPCKind;

struct _n_KSP_GPU {
  const KSPGPUMethod *method;
  /* operations of PETSc's type */
  PetscErrorCode (*solve)(KSP);
  PetscErrorCode (*setfromoptions)(KSP, GpOptionItems);
  PetscErrorCode (*view)(KSP, PetscViewer);
  PetscErrorCode (*reset)(KSP);
  PetscErrorCode (*destroy)(KSP);
  PetscErrorCode (*setradius)(KSP, PetscReal);
  PetscErrorCode (*sethappy)(KSP, PetscReal);
  PetscErrorCode (*setfar)(KSP, PetscReal);
  PetscBool   radius;     /* a trust region was requested, which the loop does not support */
  PetscInt    batch;      /* number of iterations of a graph, after which the host reads the state */
  PetscBool   refine;     /* replace the residual where single storage rounds values */
  PetscReal   happy, far; /* tolerances of GMRES for a happy breakdown, and for the deviation of the residual at a restart */
  const char *why;        /* what the loop does not support, so that PETSc's type did the last solve; NULL if the loop did it */

  GpDev          dev;              /* device of the memory below */
  PetscInt       n, count, period; /* number of entries of the vectors, -1 if no memory is allocated; number of vectors; iterations after which the launches repeat */
  PetscInt       allocated;        /* number of vectors that are allocated */
  double        *vectors;          /* [allocated * n] device memory; KSP_GPU_VECTOR() gets one vector */
  double        *partial;          /* [sums * GP_DEV_PARTS] device memory for partial sums of the reductions */
  double        *work;             /* [extra] device memory for arrays of the method */
  PetscInt       sums, extra, allocatedsums, allocatedextra;
  GpKrylovState *state, *polled;    /* state in device memory; [2] copies of it in pinned memory, used alternately */
  PetscInt       ring;              /* number of norms that are stored: batch + 1 */
  double        *norms, *pollnorms; /* [ring] device memory; [2 * ring] copies of it in pinned memory */
  GpDevEvent     copied[2];         /* recorded after the copies to polled[0] and polled[1] */

  GpOp              op;             /* operator of the recorded products; NULL: record again */
  PetscInt64        version;        /* GpOp version of the operator when the graphs were recorded */
  GpOp              recordedexact;  /* g->exact when the graphs were recorded */
  PetscInt64        exactversion;   /* GpOp version of recordedexact when the graphs were recorded */
  KSPGPUPCKind      pc;             /* kind of preconditioner in the graphs */
  PCSide            side;           /* side of the preconditioner in the graphs */
  PCGPURecorded     recorded;       /* preconditioner in the graphs, if pc is KSP_GPU_PC_RECORDED */
  PetscInt          steps, covered; /* number of iterations of a graph; period of the graphs */
  PetscInt          graphs, next;   /* number of graphs, which are launched in turn; the one that is launched next */
  PetscGPUCSRGraph *graph;
  PetscInt          capturing; /* index of the graph whose iterations KSPGPULaunchIterations() launches */

  /* replacement of the residual (gpukrylovrefine.c) */
  GpOp         exact;           /* operator with double precision for the residual: `doubled`, or the operator of the matrix */
  GpOp         doubled;         /* operator with the values of the matrix in double precision; NULL: not built */
  MatGPUCSRKey key;             /* host arrays from which it was built */
  PetscBool    refining;        /* this solve replaces the residual */
  PetscBool    stalled;         /* single precision does not suffice to continue */
  PetscBool    again;           /* the solve must start again in double precision */
  PetscBool    unfit;           /* a solve with the matrix of `key` had to start again */
  PetscBool    switched;        /* the last solve has used the double-precision values */
  PetscInt     replacements;    /* number of replacements that were launched in this solve */
  PetscReal    initial;         /* norm at the start */
  PetscReal    reference;       /* norm at the last replacement whose result the host has read */
  PetscInt     noted, interval; /* noted: number of replacements whose result the host has read. interval: number of iterations after which the host replaces the residual in any case */
};

PETSC_INTERN PetscLogEvent  KSP_GPU_Loop;
PETSC_INTERN PetscErrorCode KSPCreate_GPU(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_GPUCG(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_GPUBCGS(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_GPUGMRES(KSP);

/* gpukrylov.c: the parts of a KSP type that all methods share */
PETSC_INTERN PetscErrorCode KSPGPUCreate_Private(KSP, const KSPGPUMethod *);
PETSC_INTERN PetscErrorCode KSPGPUGetData_Private(KSP, KSP_GPU **);

/* gpukrylovpc.c: the preconditioner and the preconditioned operator */
PETSC_INTERN PetscErrorCode KSPGPUGetPC_Private(KSP, KSPGPUPCKind *, PCGPURecorded *, const char **why);
PETSC_INTERN PetscErrorCode KSPGPUApply_Private(KSP_GPU *, const double r[], double z[]);      /* z = M r */
PETSC_INTERN PetscErrorCode KSPGPUMult_Private(KSP_GPU *, GpOp, const double x[], double y[]); /* y = M A x or A M x. If KSPGPUGetScale() is not NULL, the caller multiplies y by it */
PETSC_INTERN PetscErrorCode KSPGPUComputeResidual_Private(KSP_GPU *, double *ax, double y[]);  /* y = B - ax (B if ax is NULL), with M from the left if the side is left; ax is overwritten */
PETSC_INTERN PetscErrorCode KSPGPUStartResidual_Private(KSP_GPU *, double *ax, double y[]);    /* does the same for the start; if the side is right, sets B to the residual and X to zero */
PETSC_INTERN PetscErrorCode KSPGPUReplaceResidual_Private(KSP_GPU *, double y[]);              /* y = the residual of X by the exact operator; uses KSP_GPU_WORK */

static inline const double *KSPGPUGetScale(KSP_GPU *g)
{
  return g->pc == KSP_GPU_PC_DIAGONAL && g->side != PC_RIGHT ? KSP_GPU_VECTOR(g, KSP_GPU_D) : NULL;
}

/* gpukrylovmemory.c: memory and graphs */
PETSC_INTERN PetscErrorCode KSPGPUFree_Private(KSP_GPU *);
PETSC_INTERN PetscErrorCode KSPGPUAllocate_Private(KSP_GPU *, GpDev, PetscInt n);
PETSC_INTERN PetscErrorCode KSPGPUCapture_Private(KSP_GPU *, GpOp, KSPGPUPCKind, PCSide, const PCGPURecorded *);
PETSC_INTERN PetscErrorCode KSPGPULaunchBatch_Private(KSP_GPU *, PetscBool norms, int turn);
PETSC_INTERN PetscErrorCode KSPGPUDownloadState_Private(KSP_GPU *, GpKrylovState *);

/* gpukrylovrefine.c: replacement of the residual */
PETSC_INTERN PetscErrorCode KSPGPUFreeExact_Private(KSP_GPU *);
PETSC_INTERN PetscErrorCode KSPGPUSetUpExact_Private(KSP, KSP_GPU *, Mat, GpOp *);
PETSC_INTERN PetscErrorCode KSPGPUReplaceOften_Private(KSP_GPU *, const GpKrylovState *);
PETSC_INTERN PetscErrorCode KSPGPURescue_Private(KSP, KSP_GPU *, const GpKrylovState *, PetscBool *runs);
PETSC_INTERN PetscErrorCode KSPGPUVerify_Private(KSP, KSP_GPU *, GpKrylovState *, PetscBool *runs);

static inline PetscBool KSPGPUIsSmall(const GpKrylovState *state) /* the method has stopped because the residual is small */
{
  return (PetscBool)(state->status == GP_KRYLOV_ZERO_BETA || state->status == GP_KRYLOV_EXACT || (state->status == GP_KRYLOV_NORM && (state->dp <= state->small || state->dp <= state->early)));
}

/* gpukrylovloop.c: a solve */
PETSC_INTERN PetscErrorCode KSPGPURun_Private(KSP, KSP_GPU *, Mat, GpOp, KSPGPUPCKind, const PCGPURecorded *);

#define PetscCallKrylov(g, ...) PetscCallGp((g)->dev, "a Krylov method", __VA_ARGS__)

#endif
