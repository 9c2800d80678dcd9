/* Declarations shared by the files of the PC type gpuamg. */
#ifndef GPUAMG_H
#define GPUAMG_H

#include <petsc/private/pcimpl.h>
#include <petscksp.h>
#include "gpucsrpc.h"
#include "gpucsrcompat.h"

#define PC_GPUAMG_MOST_LEVELS 30 /* upper bound of -pc_gpuamg_levels */

/* Options of the preconditioner.  A change of them makes the next PCSetUp() start anew. */
typedef struct {
  PetscReal         threshold; /* threshold of strong connections on the finest level; each coarser level has half the threshold of the level before */
  PetscInt          levels;    /* maximum number of levels */
  PetscInt          limit;     /* a level with at most this number of rows is solved by its inverse */
  PCGPUAMGCycle     cycle;
  PCGPUAMGSmoother  smoother;
  PetscInt          sweeps;  /* degree of the Chebyshev polynomial, or number of iterations, before and after each coarse correction */
  PetscReal         ratio;   /* quotient of the largest and the smallest eigenvalue that a Chebyshev smoother damps */
  PetscInt          steps;   /* maximum number of Lanczos steps */
  PetscReal         damping; /* the prolongator is smoothed by I - damping / high D^-1 A, where high is that of the level */
  MatGPUCSRStorage  storage;
  PCGPUAMGReuse     reuse;
  PCGPUAMGHierarchy hierarchy;
} PCGPUAMGOptions;

/* One level.  Level 0 is the finest. */
typedef struct {
  Mat        A;         /* the operator; NULL on a coarse level on the device */
  Mat        P;         /* prolongator from the next coarser level; NULL on the coarsest level, and for levels on the device */
  PetscInt   block;     /* number of unknowns of a node */
  PetscInt   rows;      /* number of rows of A on all ranks */
  PetscInt64 nonzeros;  /* number of nonzeros of A on all ranks */
  PetscInt64 pnonzeros; /* number of nonzeros of P on all ranks */
  PetscReal  high;      /* upper bound of the eigenvalues of D^-1 A, where D is the diagonal of A; 0: not computed */
  PetscBool  norm;      /* high is the maximum norm of D^-1 A, because A is not symmetric */
  PetscInt   nempty;    /* number of rows of this rank that would be zero, because the vectors of the near-null space are linearly dependent on an aggregate */
  PetscInt  *empty;     /* [nempty] local numbers of these rows */
  Vec        l1;        /* 1 divided by the sum of the absolute values of each row; NULL: the smoother is not l1jacobi */
} PCGPUAMGLevel;

typedef struct _n_PCGPUAMGDevice *PCGPUAMGDevice; /* gpuamgdevice.h */

typedef struct {
  PCGPUAMGOptions options;
  PCGPUAMGLevel   level[PC_GPUAMG_MOST_LEVELS];
  PetscInt        n;               /* number of levels; 0: not set up, or the set-up has failed */
  PetscBool       exact;           /* the coarsest level is solved by its inverse; false: by the smoother */
  Mat             inverse;         /* (pseudo-)inverse of the operator of the coarsest level */
  PetscBool       rounded;         /* the set-up uses values of the finest level that are rounded to single precision */
  PetscInt        dropped;         /* dimension of the null space of the operator of the coarsest level, on which the inverse is zero */
  PCGPUAMGDevice  device;          /* the levels on the device; NULL: they are Mats */
  const char     *obstacle;        /* why the levels are Mats; NULL: the user has chosen this */
  PC              mg;              /* the cycle of levels that are Mats, of type PCMG */
  PetscObjectId   matrix;          /* matrix of the last set-up */
  uint64_t        pattern;         /* hash of the pattern of this matrix on this rank */
  char            why[160];        /* why the last set-up has failed; empty: it has not failed */
  PetscInt        setups, refills; /* number of set-ups; number of set-ups that kept the interpolation */
  PetscLogDouble  seconds;         /* duration of the last set-up */
} PC_GPUAMG;

/* Sums over each row of this rank.  diagonal: the diagonal entry.  near: sum of the absolute values in this rank's columns, without the diagonal.  far: sum of the absolute values in other ranks' columns. */
typedef struct {
  PetscReal *diagonal, *near, *far;
} PCGPUAMGRows;

PETSC_INTERN PetscLogEvent PC_GPUAMG_SetUp, PC_GPUAMG_Aggregate, PC_GPUAMG_Galerkin, PC_GPUAMG_Coarse, PC_GPUAMG_Graph, PC_GPUAMG_Prolong, PC_GPUAMG_Estimate;

PETSC_INTERN PetscErrorCode PCCreate_GPUAMG(PC);
PETSC_INTERN PetscErrorCode PCReset_GPUAMG(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_GPUAMG(PC, GpOptionItems);
PETSC_INTERN PetscErrorCode PCGPUAMGSetDefaults_Private(PCGPUAMGOptions *);
PETSC_INTERN PetscErrorCode PCGPUAMGSetOptions_Private(PC, const PCGPUAMGOptions *);

/* gpuamghierarchy.c */
PETSC_INTERN PetscErrorCode PCGPUAMGBuild_Private(PC);
PETSC_INTERN PetscErrorCode PCGPUAMGRefill_Private(PC);
PETSC_INTERN PetscErrorCode PCGPUAMGDestroyLevels_Private(PC_GPUAMG *);

/* gpuamgrows.c: properties of the rows.  Both functions set amg->why if they fail. */
PETSC_INTERN PetscErrorCode PCGPUAMGGetRows_Private(PC_GPUAMG *, PetscInt level, PCGPUAMGRows *);
PETSC_INTERN PetscErrorCode PCGPUAMGFreeRows_Private(PCGPUAMGRows *);
PETSC_INTERN PetscErrorCode PCGPUAMGEstimate_Private(PC, PetscInt level, const PCGPUAMGRows *, Vec *inverse); /* sets level->high, and creates the inverse of the diagonal */
PETSC_INTERN PetscErrorCode PCGPUAMGHashPattern_Private(Mat, uint64_t *);

/* gpuamgprolongator.c: creates level->P.  B: [rows][*vectors] near-null space on this rank; replaced by that of the next level.  P stays NULL if there are no aggregates, or if the next level would have more
   than 0.8 times as many rows. */
PETSC_INTERN PetscErrorCode PCGPUAMGGetNearNullSpace_Private(PC, PetscInt *vectors, PetscReal **B);
PETSC_INTERN PetscErrorCode PCGPUAMGCreateProlongator_Private(PC, PetscInt level, const PCGPUAMGRows *, PetscInt vectors, PetscReal **B, Vec inverse);
PETSC_INTERN PetscErrorCode PCGPUAMGSetMatrix_Private(PC, Mat); /* storage and options prefix of a matrix of a level */

/* gpuamgcoarse.c: PCGPUAMGInvert_Private() computes amg->inverse, PCGPUAMGInvertDense_Private() replaces a dense matrix by its inverse, D: [N][N].  Both set amg->why if they fail. */
PETSC_INTERN PetscErrorCode PCGPUAMGInvert_Private(PC);
PETSC_INTERN PetscErrorCode PCGPUAMGInvertDense_Private(PC_GPUAMG *, PetscInt N, PetscScalar D[]);

/* gpuamgcycle.c: creates amg->mg and sets it up. */
PETSC_INTERN PetscErrorCode PCGPUAMGSetUpCycle_Private(PC);

/* gpuamgdevice.c, gpuamgdevicecycle.c: levels on the device */
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceGetObstacle_Private(PC, const char **); /* why the levels cannot be on the device; NULL: they can */
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceBuild_Private(PC, const char **);       /* if a level turns out to be impossible on the device, amg->device stays NULL, and the string tells why */
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceRefill_Private(PC);
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceHashPattern_Private(Mat, uint64_t *);
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceApply_Private(PC, PetscBool transpose, Vec x, Vec y);
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceDestroy_Private(PC_GPUAMG *);

#endif
