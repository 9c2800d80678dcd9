/* Factorisations, which PETSc computes on the host.  Factorisation in place replaces the contents of the matrix, so the matrix becomes plain
   AIJ first. */
#include "mat/impls/gpucsr/type/gpucsrtype.h"

#define FACTOR_IN_PLACE(Name, operation, parameters, arguments) \
  static PetscErrorCode Mat##Name##_SeqAIJGPUCSR parameters \
  { \
    PetscErrorCode err; \
\
    PetscFunctionBegin; \
    PetscCall(MatGPUCSRDetach_Private(A)); \
    MatGPUCSRKeepPlain_Private++; /* the factor that replaces A must stay plain AIJ */ \
    err = (*A->ops->operation)arguments; \
    MatGPUCSRKeepPlain_Private--; \
    PetscCall(err); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

FACTOR_IN_PLACE(LUFactor, lufactor, (Mat A, IS row, IS column, const MatFactorInfo *info), (A, row, column, info))
FACTOR_IN_PLACE(ILUFactor, ilufactor, (Mat A, IS row, IS column, const MatFactorInfo *info), (A, row, column, info))
FACTOR_IN_PLACE(CholeskyFactor, choleskyfactor, (Mat A, IS permutation, const MatFactorInfo *info), (A, permutation, info))
FACTOR_IN_PLACE(ICCFactor, iccfactor, (Mat A, IS permutation, const MatFactorInfo *info), (A, permutation, info))

/* Replaces the factorisations in place, if the parent type has them.  Parallel AIJ has none. */
PetscErrorCode MatGPUCSRSetFactors_Private(Mat A)
{
  PetscFunctionBegin;
  if (A->ops->lufactor) A->ops->lufactor = MatLUFactor_SeqAIJGPUCSR;
  if (A->ops->ilufactor) A->ops->ilufactor = MatILUFactor_SeqAIJGPUCSR;
  if (A->ops->choleskyfactor) A->ops->choleskyfactor = MatCholeskyFactor_SeqAIJGPUCSR;
  if (A->ops->iccfactor) A->ops->iccfactor = MatICCFactor_SeqAIJGPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*MatGetFactor_Base)(Mat, MatFactorType, Mat *);
static PetscErrorCode (*MatILUFactorSymbolic_Base)(Mat, Mat, IS, IS, const MatFactorInfo *);

/* ILU(0) copies the composed functions of the matrix to the factor.  Plain AIJ removes only its own ones when the factor is destroyed. */
static PetscErrorCode MatILUFactorSymbolic_SeqAIJGPUCSR(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall((*MatILUFactorSymbolic_Base)(F, A, row, column, info));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatProductSetFromOptions_anytype_C", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetFactor_SeqAIJ_ILU(Mat A, MatFactorType type, Mat *F)
{
  PetscBool ours;

  PetscFunctionBegin;
  PetscCall((*MatGetFactor_Base)(A, type, F));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJGPUCSR, &ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  MatILUFactorSymbolic_Base    = (*F)->ops->ilufactorsymbolic;
  (*F)->ops->ilufactorsymbolic = MatILUFactorSymbolic_SeqAIJGPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the ILU factorisation registered for MATSEQAIJ.  Registering one for MATSEQAIJGPUCSR would have no effect: for a named solver PETSc
   takes the first entry whose type name is a prefix of ours, which is that of MATSEQAIJ. */
PetscErrorCode MatGPUCSRRegisterFactors_Private(void)
{
  PetscFunctionBegin;
  PetscCall(MatSolverTypeGet(MATSOLVERPETSC, MATSEQAIJ, MAT_FACTOR_ILU, NULL, NULL, &MatGetFactor_Base));
  PetscCall(MatSolverTypeRegister(MATSOLVERPETSC, MATSEQAIJ, MAT_FACTOR_ILU, MatGetFactor_SeqAIJ_ILU));
  PetscFunctionReturn(PETSC_SUCCESS);
}
