/* The data of a factor of the solver type gpucsr, and functions of the files in this directory. */
#ifndef GPUCSRFACTORIMPL_H
#define GPUCSRFACTORIMPL_H

#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "mat/impls/gpucsr/trisolve/gptrifactor.h"

/* The index arrays of a side, which have the order of the slots of one of its triangles. */
enum {
  MAT_GPUCSR_MAP_IN,    /* first triangle: indices in the right-hand side of MatSolve() */
  MAT_GPUCSR_MAP_LINK,  /* second triangle: slots of the first */
  MAT_GPUCSR_MAP_OUT,   /* second triangle: indices in the solution of MatSolve() */
  MAT_GPUCSR_MAP_FIRST, /* first triangle: rows of the factor, for MatForwardSolve() */
  MAT_GPUCSR_MAP_LAST,  /* second triangle: rows of the factor, for MatBackwardSolve() */
  MAT_GPUCSR_MAPS
};

/* The two triangles of an exact solve, in the order in which they are solved. */
typedef struct {
  GpTri     tri[2];
  int32_t  *map[MAT_GPUCSR_MAPS]; /* device memory; NULL: not needed so far */
  PetscBool built, current;       /* the triangles exist; they have the values of the last numeric factorisation */
} MatGPUCSRSide;

/* The index arrays of approximate solves, which have the order of the columns of A.  NULL: they are the identity. */
enum {
  MAT_GPUCSR_PERM_IN,    /* row of A whose right-hand side belongs to each column, for MatSolve() */
  MAT_GPUCSR_PERM_OUT,   /* column of A whose solution belongs to each row, for MatSolveTranspose() */
  MAT_GPUCSR_PERM_FIRST, /* column of each row of the factor, for MatForwardSolve() */
  MAT_GPUCSR_PERM_LAST,  /* row of the factor of each column, for MatBackwardSolve() */
  MAT_GPUCSR_PERMS
};

/* A unit triangle T = I - S, and a sparse approximate inverse I + R of it.  Rows and columns have the order of the columns of A, so T is a triangle up to a permutation. */
typedef struct {
  PetscInt *i, *j;   /* [n + 1], [nnz] pattern of S and of R, columns ascending */
  int32_t  *source;  /* [nnz] index of each entry in PETSc's factor */
  PetscInt  levels;  /* S to the power of `levels` is zero */
  GpOp      strict;  /* S, NULL: not needed */
  GpOp      inverse; /* R, NULL: not needed */
  PetscInt  sweeps;  /* number of sweeps of a solve */
} MatGPUCSRTriangle;

/* An approximate solve applies a triangle, a diagonal and a triangle: L, the diagonal and the unit triangle of U, or U', the diagonal and U.  Solves with the transpose use the
   transposes of the same operators. */
typedef struct {
  MatGPUCSRTriangle tri[2];                   /* L, of LU and ILU only; U */
  double           *diagonal;                 /* [n] inverse of the diagonal; device memory, as all that follows */
  int32_t          *perm[MAT_GPUCSR_PERMS];   /* NULL: the identity */
  PetscBool         tested[MAT_GPUCSR_PERMS]; /* perm is known */
  double           *work[3];                  /* [n] */
  PetscBool         current;                  /* everything exists and has the values of the last numeric factorisation */
} MatGPUCSRApprox;

/* PETSc's arrays of a factor, and what is derived from them. */
typedef struct {
  PetscInt           n;
  int64_t            nnz;
  const PetscInt    *i, *j;
  const PetscScalar *values;
  const int32_t     *begin, *end; /* [n] rows of U without the diagonal; the inverse of the diagonal follows at end */
  const int32_t     *lower;       /* [n + 1] rows of L, LU and ILU only */
  const int32_t     *col;         /* [nnz] the array j with 32 bits */
} MatGPUCSRFactorArrays;

/* What is derived from the pattern of PETSc's factor. It is kept until the next symbolic factorisation. */
typedef struct {
  const PetscInt *i, *j; /* PETSc's arrays from which all this was derived */
  int64_t         nnz;
  int32_t        *begin, *end, *lower; /* begin of Cholesky and ICC, and lower, are NULL if PetscInt has 32 bits: they are PETSc's array i */
  int32_t        *col;                 /* NULL: not needed; if PetscInt has 32 bits, PETSc's array j is used */
  GpTriDeps       deps;                /* from the numeric factorisation, for the first triangle; freed when the triangles exist */
} MatGPUCSRFactorPattern;

/* Which triangles a solve uses. */
typedef enum {
  MAT_GPUCSR_SOLVE_BOTH,
  MAT_GPUCSR_SOLVE_FORWARD,
  MAT_GPUCSR_SOLVE_BACKWARD
} MatGPUCSRSolveKind;

typedef PetscErrorCode (*MatGPUCSRNumericFn)(Mat, Mat, const MatFactorInfo *);

/* Identifies the pattern of the matrix whose values the index map of a numeric factorisation refers to. */
typedef struct {
  PetscObjectId    id;
  PetscObjectState nonzerostate;
  const PetscInt  *i, *j;
} MatGPUCSRNumericSource;

/* The numeric phase on the device. */
typedef struct {
  MatGPUCSRFactorNumericType type; /* what the user has asked for */
  GpTriFactor                factor;
  PetscBool                  built;      /* factor has the pattern of the symbolic factorisation */
  PetscBool                  current;    /* factor has the values of the last numeric factorisation */
  PetscBool                  downloaded; /* PETSc's arrays have these values too */
  PetscBool                  tiny;       /* a value of U may be too small for single precision */
  const char                *host;       /* why PETSc computed the last factor on the host; NULL: the device computed it */
  MatGPUCSRNumericSource     source;
} MatGPUCSRNumeric;

/* Composed with the factor, which is PETSc's own: of type MATSEQAIJ for LU and ILU, of type MATSEQSBAIJ for Cholesky and ICC. */
typedef struct {
  GpDev           dev;
  struct _MatOps  host;       /* PETSc's symbolic and numeric operations, which this solver type wraps */
  PetscBool       cholesky;   /* Cholesky or ICC: the factor is its own transpose */
  PetscBool       single;     /* values have single precision on the device */
  PetscBool       indefinite; /* the diagonal of the factor has a negative entry */
  PetscInt        n;
  PetscLogDouble  flops;       /* of one solve */
  IS              row, column; /* permutations of the factorisation */
  MatGPUCSRSide   side[2];     /* triangles of exact solves. [0]: MatSolve(). [1]: MatSolveTranspose() of LU and ILU, built at its first call; unused for Cholesky and ICC */
  double         *w;           /* [2 n] device memory: solutions of both triangles */
  MatGPUCSRBuffer vector[3];   /* for b, y and x in host memory */
  MatGPUCSRApprox approx;      /* approximate solves */

  PetscBool        allowhost; /* -mat_gpucsr_factor_host: solve on the host if the factor does not fit the device memory */
  PetscBool        onhost;    /* the factor did not fit: PETSc solves on the host */
  struct _MatOps   solves;    /* PETSc's solve operations, used if onhost */
  struct _MatOps   reads;     /* PETSc's operations that read the values of the factor on the host */
  MatGPUCSRNumeric numeric;   /* the numeric phase on the device */

  MatGPUCSRFactorPattern pattern;

  MatGPUCSRTrisolve trisolve; /* how to solve with the triangles */
  PetscInt          sweeps;   /* number of sweeps of an approximate solve */
  GpSelMode         select;   /* how the kernels of the products are selected */
  PetscErrorCode (*view)(Mat, PetscViewer);
} MatGPUCSRFactor;

/* default numbers of sweeps */
#define MAT_GPUCSR_SWEEPS_JACOBI 5
#define MAT_GPUCSR_SWEEPS_ISAI   2

#define MAT_GPUCSR_FACTOR_WHAT "solving with the factor on the device (-mat_gpucsr_factor_host solves on the host if memory is too small, -pc_factor_mat_solver_type petsc always)"

#define MAT_GPUCSR_NUMERIC_WHAT "computing the factor on the device (-mat_gpucsr_factor_numeric host computes it on the host)"

/* gpucsrfactornumeric.c: numeric factorisation on the device */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorCompute_Private(Mat, Mat A, const MatFactorInfo *, MatGPUCSRNumericFn, MatGPUCSRFactor *);
PETSC_INTERN void           MatGPUCSRFactorResetNumeric_Private(MatGPUCSRFactor *); /* frees everything */

/* gpucsrfactorhost.c: the data of a factor; use on the host of a factor that the device has computed */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorGet_Private(Mat, MatGPUCSRFactor **);
PETSC_INTERN PetscErrorCode MatGPUCSRFactorDownload_Private(Mat, MatGPUCSRFactor *);
PETSC_INTERN PetscErrorCode MatGPUCSRFactorSetHostSolves_Private(Mat, const MatGPUCSRFactor *);
PETSC_INTERN PetscErrorCode MatGPUCSRFactorSetReads_Private(Mat, MatGPUCSRFactor *);

/* gpucsrfactorarrays.c: PETSc's factor.  The values are current only after MatGPUCSRFactorDownload_Private(). */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorGetArrays_Private(Mat, MatGPUCSRFactor *, PetscBool pattern, MatGPUCSRFactorArrays *);
PETSC_INTERN PetscErrorCode MatGPUCSRFactorRestoreArrays_Private(Mat, const MatGPUCSRFactor *, MatGPUCSRFactorArrays *);
PETSC_INTERN void           MatGPUCSRFactorTrimPattern_Private(MatGPUCSRFactor *);  /* frees what is not needed after the set-up of a solve */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorResetPattern_Private(MatGPUCSRFactor *); /* frees everything */

/* gpucsrfactormap.c: values of A and of the factor */
PETSC_INTERN PetscBool      MatGPUCSRFactorIsSorted_Private(const MatGPUCSRFactor *, const MatGPUCSRFactorArrays *);
PETSC_INTERN PetscErrorCode MatGPUCSRFactorMapValues_Private(const MatGPUCSRFactor *, const MatGPUCSRFactorArrays *, const PetscInt i[], const PetscInt j[], int32_t **from);

/* gpucsrfactordata.c: exact solves */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorGetSide_Private(Mat, MatGPUCSRFactor *, PetscBool transpose, MatGPUCSRSide **); /* builds and fills it if necessary */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorGetMap_Private(MatGPUCSRFactor *, MatGPUCSRSide *, int map, const int32_t **);
PETSC_INTERN void           MatGPUCSRFactorResetSides_Private(MatGPUCSRFactor *); /* frees everything */

/* gpucsrfactorisai.c: values of S and R.  begin, end: rows of the strict triangle in the arrays a->j, strict and inverse; reverse: it is an upper triangle */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorInvert_Private(const MatGPUCSRFactorArrays *, const int32_t begin[], const int32_t end[], PetscBool reverse, const double strict[], double inverse[]);

/* gpucsrfactorapprox.c: approximate solves */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorGetApprox_Private(Mat, MatGPUCSRFactor *, PetscBool transpose); /* builds and fills it if necessary */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorGetPerm_Private(MatGPUCSRFactor *, int perm, const int32_t **);
PETSC_INTERN PetscErrorCode MatGPUCSRFactorResetApprox_Private(MatGPUCSRFactor *); /* frees everything */

/* gpucsrfactorsweep.c: the sweeps of an approximate solve */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorSweep_Private(MatGPUCSRFactor *, PetscBool transpose, MatGPUCSRSolveKind, const double b[], const double add[], double x[]);

/* gpucsrfactorsolve.c: solves */
PETSC_INTERN PetscErrorCode MatGPUCSRFactorSetSolves_Private(Mat, MatGPUCSRFactor *);

/* gpucsrsolvertype.c: the solver type */
PETSC_INTERN PetscErrorCode MatGPUCSRRegisterSolver_Private(void);

/* gpucsrordering.c: the ordering multicolor */
PETSC_INTERN PetscErrorCode MatGPUCSRRegisterOrdering_Private(void);

#endif
