/* The data of a factor of the solver type gpucsr, and functions of the files in this directory. */
#ifndef GPUCSRFACTORIMPL_H
#define GPUCSRFACTORIMPL_H

#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "mat/impls/gpucsr/trisolve/gptrisolve.h"

/* The index arrays of a side, which have the order of the slots of one of its triangles. */
enum {
  MAT_GPUCSR_MAP_IN,    /* first triangle: indices in the right-hand side of MatSolve() */
  MAT_GPUCSR_MAP_LINK,  /* second triangle: slots of the first */
  MAT_GPUCSR_MAP_OUT,   /* second triangle: indices in the solution of MatSolve() */
  MAT_GPUCSR_MAP_FIRST, /* first triangle: rows of the factor, for MatForwardSolve() */
  MAT_GPUCSR_MAP_LAST,  /* second triangle: rows of the factor, for MatBackwardSolve() */
  MAT_GPUCSR_MAPS
};

/* Solves with the factor are those with two triangles, one after the other. */
typedef struct {
  GpTri     tri[2];
  int32_t  *map[MAT_GPUCSR_MAPS]; /* device memory; NULL: not needed so far */
  PetscBool built, current;       /* the triangles exist; they have the values of the last numeric factorisation */
} MatGPUCSRSide;

/* Which triangles a solve uses. */
typedef enum {
  MAT_GPUCSR_SOLVE_BOTH,
  MAT_GPUCSR_SOLVE_FORWARD,
  MAT_GPUCSR_SOLVE_BACKWARD
} MatGPUCSRSolveKind;

typedef PetscErrorCode (*MatGPUCSRNumericFn)(Mat, Mat, const MatFactorInfo *);

/* Composed with the factor, which is PETSc's own: of type MATSEQAIJ for LU and ILU, of type MATSEQSBAIJ for Cholesky and ICC. */
typedef struct {
  GpDev           dev;
  struct _MatOps  host;     /* operations that PETSc has set for the phase that follows */
  PetscBool       cholesky; /* Cholesky or ICC: the factor is its own transpose */
  PetscBool       single;   /* values have single precision on the device */
  PetscBool       indefinite;
  PetscInt        n;
  PetscLogDouble  flops; /* of one solve */
  IS              row, column;
  MatGPUCSRSide   side[2];   /* [1]: for the transpose, NULL of LU and ILU until needed, never used for Cholesky */
  double         *w;         /* [2 n] device memory: solutions of both triangles */
  MatGPUCSRBuffer vector[3]; /* for b, y and x in host memory */
} MatGPUCSRFactor;

/* gpucsrfactordata.c: triangles of a factor */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorGetSide_Private(Mat, MatGPUCSRFactor *, PetscBool transpose, MatGPUCSRSide **); /* builds and fills it if necessary */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorGetMap_Private(MatGPUCSRFactor *, MatGPUCSRSide *, int map, const int32_t **);
PETSC_INTERN PetscErrorCode MatGPUCSRFactorReset_Private(MatGPUCSRFactor *); /* frees everything that depends on the pattern */

/* gpucsrfactorsolve.c: solves */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorGet_Private(Mat, MatGPUCSRFactor **);
PETSC_INTERN PetscErrorCode MatGPUCSRFactorSetSolves_Private(Mat, MatGPUCSRFactor *);

/* gpucsrsolvertype.c: the solver type */
PETSC_INTERN PetscErrorCode MatGPUCSRRegisterSolver_Private(void);

/* gpucsrordering.c: the ordering multicolor */
PETSC_INTERN PetscErrorCode MatGPUCSRRegisterOrdering_Private(void);

#endif
