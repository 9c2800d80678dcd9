/* Levels of PCGPUAMG on the device: the matrices are GpCsr structures instead of Mats, and kernels run the cycle.  One process only. */
#ifndef GPUAMGDEVICE_H
#define GPUAMGDEVICE_H

#include "pc/impls/gpuamg/gpuamg.h"
#include "pc/aggregation/gpagg.h"
#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "mat/impls/gpucsr/spgemm/gpspgemm.h"

/* A matrix in the form that the kernels of the cycle read. */
typedef struct {
  GpCycleMatrix m;      /* m.csr borrows the arrays of another matrix, except for values in single precision, which are `narrow`.  This structure owns m.codes. */
  float        *narrow; /* [nnz] values in single precision, owned; NULL: the cycle uses the values in double precision */
} PCGPUAMGFactor;

typedef struct {
  GpCsr          A, P, R;              /* operator, prolongator and its transpose in double precision.  The operator of the finest level belongs to the matrix. */
  double        *wide;                 /* finest level: values in double precision, if the matrix has single storage; otherwise NULL */
  GpSpgemm       inner, outer;         /* A P and R (A P) */
  GpCsr          middle;               /* A P */
  int32_t        rows;                 /* size of `empty` */
  int32_t       *empty;                /* [rows] whether a row would be zero, because the near-null space is linearly dependent on an aggregate; NULL on the finest level */
  PCGPUAMGFactor a, p, r, at;          /* matrices of the cycle; `a` is empty on the finest level if the kernel of the matrix multiplies there; `at` is the transpose of the operator, which PCApplyTranspose() creates */
  GpCsr          transpose;            /* matrix of `at` */
  void          *scale[GP_PRECISIONS]; /* the smoother multiplies residuals by these numbers: D^-1, or 1 divided by the sum of the absolute values of each row.  Those in single precision are NULL with double storage */
  double        *b, *x[2], *w;         /* vectors of the cycle: right-hand side, two iterates, residual.  They hold numbers in single or double precision (PCGPUAMGDeviceGetVectors()) */
} PCGPUAMGDeviceLevel;

/* An application of the cycle. */
typedef struct {
  PC_GPUAMG     *amg; /* NULL: none */
  PCGPUAMGDevice d;
  const double  *from; /* right-hand side and result */
  double        *to;
  PetscBool      transpose;
} PCGPUAMGCycleContext;

struct _n_PCGPUAMGDevice {
  GpDev               dev;
  GpOp                op;                               /* image of the matrix */
  PCGPUAMGDeviceLevel level[PC_GPUAMG_MOST_LEVELS + 1]; /* level n of n levels is empty, so that the code may refer to the level after the coarsest one */
  GpCycleMatrix       dense, transposed;                /* inverse on the coarsest level, a full matrix; its transpose, which PCApplyTranspose() creates for a matrix that is not symmetric */
  int32_t            *overflow;                         /* one number in device memory: 1 if a value is too large for single precision */
  GpAggMeasure        rows;                             /* sums over the rows of the current level; [rows of the finest level] */
  double             *B;                                /* near-null space of the current level, [rows][k] */
  size_t              bytes;                            /* size of B */
  PetscInt            k;                                /* number of its vectors */

  PCGPUAMGCycleContext recorded; /* the last application since the set-up */
  PetscInt64           version;  /* version of the image for which the finest level was prepared */
  PetscGPUCSRGraph     graph;    /* the cycle of this application; NULL: not captured yet */
};

/* gpuamgdevicelevel.c */
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceGetMatrix_Private(PC_GPUAMG *, PetscBool first);
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceSetFinest_Private(PC_GPUAMG *, PetscBool first); /* first: the pattern is new */
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceMeasure_Private(PC_GPUAMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceEstimate_Private(PC, PetscInt level);
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceMultiply_Private(PC, PetscInt level);
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceNarrow_Private(PCGPUAMGDevice, PetscBool single, const GpCsr *, PCGPUAMGFactor *);

/* gpuamgdeviceprolong.c.  *refused receives PETSC_TRUE if the device cannot aggregate this level */
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceFillBasis_Private(PC);
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceCreateProlongator_Private(PC, PetscInt level, PetscBool *refused);

/* gpuamgdevicecycle.c */
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceCreateVectors_Private(PC_GPUAMG *);
PETSC_INTERN PetscErrorCode PCGPUAMGDeviceStoreInverse_Private(PC_GPUAMG *, PetscInt N, const PetscScalar D[], int32_t rowptr[], int32_t col[]);

#endif
