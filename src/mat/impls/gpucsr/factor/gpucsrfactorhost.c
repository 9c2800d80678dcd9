/* Use of a factor that the device has computed on the host: its values in PETSc's arrays, and PETSc's solves. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"

/* Gets the data of a factor. */
PetscErrorCode MatGPUCSRFactorGet_Private(Mat F, MatGPUCSRFactor **f)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)F, "MatGPUCSRFactor", (PetscObject *)&container));
  PetscCheck(container, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The factor has lost the object MatGPUCSRFactor that gpucsr composed with it; do not remove composed objects from factors");
  PetscCall(PetscContainerGetPointer(container, (void **)f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of the factor to PETSc's arrays unless they are there. */
PetscErrorCode MatGPUCSRFactorDownload_Private(Mat F, MatGPUCSRFactor *f)
{
  const size_t bytes = (size_t)f->numeric.factor.nnz * sizeof(double);
  PetscScalar *values;
  GpErr        err = GP_SUCCESS;

  PetscFunctionBegin;
  if (!f->numeric.current || f->numeric.downloaded) PetscFunctionReturn(PETSC_SUCCESS);
  if (f->cholesky) PetscCall(MatSeqSBAIJGetArray(F, &values));
  else PetscCall(MatSeqAIJGetArray(F, &values));
  if (bytes) err = GpDevDownload(f->dev, values, f->numeric.factor.val, bytes);
  if (f->cholesky) PetscCall(MatSeqSBAIJRestoreArray(F, &values));
  else PetscCall(MatSeqAIJRestoreArray(F, &values));
  PetscCallGp(f->dev, "copying the factor to the host", err);
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  f->numeric.downloaded = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's solve operations for LU and ILU [0], and for Cholesky and ICC [1]. */
static struct _MatOps HostSolves[2];
static PetscBool      HostSolvesKnown[2];

/* Gets PETSc's solve operations from a factor of a small matrix with a permutation. These operations can solve with every factor of the same type. */
static PetscErrorCode MatGPUCSRFactorFindHostSolves(PetscBool cholesky)
{
  MatFactorInfo info;
  Mat           A, F;
  IS            permutation;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetOptionsPrefix(A, "gpucsr_internal_")); /* options such as -mat_view are not for this matrix */
  PetscCall(MatSetSizes(A, 2, 2, 2, 2));
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocation(A, 1, NULL));
  for (PetscInt row = 0; row < 2; row++) PetscCall(MatSetValue(A, row, row, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 2, 1, -1, &permutation));
  PetscCall(ISSetPermutation(permutation));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(MatGetFactor(A, MATSOLVERPETSC, cholesky ? MAT_FACTOR_ICC : MAT_FACTOR_ILU, &F));
  if (cholesky) {
    PetscCall(MatICCFactorSymbolic(F, A, permutation, &info));
    PetscCall(MatCholeskyFactorNumeric(F, A, &info));
  } else {
    PetscCall(MatILUFactorSymbolic(F, A, permutation, permutation, &info));
    PetscCall(MatLUFactorNumeric(F, A, &info));
  }
  HostSolves[cholesky]      = *F->ops;
  HostSolvesKnown[cholesky] = PETSC_TRUE;
  PetscCall(ISDestroy(&permutation));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the solve operations that PETSc's numeric factorisation sets. */
PetscErrorCode MatGPUCSRFactorSetHostSolves_Private(Mat F, const MatGPUCSRFactor *f)
{
  const struct _MatOps *ops = &HostSolves[f->cholesky];

  PetscFunctionBegin;
  if (!HostSolvesKnown[f->cholesky]) PetscCall(MatGPUCSRFactorFindHostSolves(f->cholesky));
  F->ops->solve             = ops->solve;
  F->ops->solveadd          = ops->solveadd;
  F->ops->solvetranspose    = ops->solvetranspose;
  F->ops->solvetransposeadd = ops->solvetransposeadd;
  F->ops->forwardsolve      = ops->forwardsolve;
  F->ops->backwardsolve     = ops->backwardsolve;
  F->ops->matsolve          = ops->matsolve;
  F->ops->matsolvetranspose = ops->matsolvetranspose;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Defines an operation that PETSc runs on the host with the values of the factor. */
#define ON_HOST(Name, operation, parameters, arguments) \
  static PetscErrorCode Mat##Name##_SolverGPUCSR parameters \
  { \
    MatGPUCSRFactor *f; \
\
    PetscFunctionBegin; \
    PetscCall(MatGPUCSRFactorGet_Private(F, &f)); \
    PetscCall(MatGPUCSRFactorDownload_Private(F, f)); \
    PetscCall((*f->reads.operation)arguments); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
ON_HOST(GetDiagonal, getdiagonal, (Mat F, Vec v), (F, v))
ON_HOST(GetInertia, getinertia, (Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive), (F, negative, zero, positive))
ON_HOST(SetUnfactored, setunfactored, (Mat F), (F))

/* Replaces the operations of a factor that read its values on the host. */
#define REPLACE(Name, operation) \
  if (F->ops->operation && F->ops->operation != Mat##Name##_SolverGPUCSR) { \
    f->reads.operation = F->ops->operation; \
    F->ops->operation  = Mat##Name##_SolverGPUCSR; \
  }
PetscErrorCode MatGPUCSRFactorSetReads_Private(Mat F, MatGPUCSRFactor *f)
{
  PetscFunctionBegin;
  REPLACE(GetDiagonal, getdiagonal)
  REPLACE(GetInertia, getinertia)
  REPLACE(SetUnfactored, setunfactored)
  PetscFunctionReturn(PETSC_SUCCESS);
}
