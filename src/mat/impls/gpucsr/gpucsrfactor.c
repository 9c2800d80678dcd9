/* Factorisation is PETSc's.  In the matrix's own place its values are given up, so it first becomes the plain AIJ it is
   underneath. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

static PetscErrorCode MatLUFactor_SeqAIJGPUCSR(Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRDetach_Private(A, MATSEQAIJ));
  MatGPUCSRStayPlain++; /* the factor that takes A's place */
  PetscCall((*A->ops->lufactor)(A, row, column, info));
  MatGPUCSRStayPlain--;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatILUFactor_SeqAIJGPUCSR(Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRDetach_Private(A, MATSEQAIJ));
  MatGPUCSRStayPlain++; /* the factor that takes A's place */
  PetscCall((*A->ops->ilufactor)(A, row, column, info));
  MatGPUCSRStayPlain--;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCholeskyFactor_SeqAIJGPUCSR(Mat A, IS permutation, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRDetach_Private(A, MATSEQAIJ));
  MatGPUCSRStayPlain++;
  PetscCall((*A->ops->choleskyfactor)(A, permutation, info));
  MatGPUCSRStayPlain--;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatICCFactor_SeqAIJGPUCSR(Mat A, IS permutation, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRDetach_Private(A, MATSEQAIJ));
  MatGPUCSRStayPlain++;
  PetscCall((*A->ops->iccfactor)(A, permutation, info));
  MatGPUCSRStayPlain--;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the parent has the operation (parallel AIJ has none of them) */
PetscErrorCode MatGPUCSRSetFactors_Private(Mat A)
{
  PetscFunctionBegin;
  if (A->ops->lufactor) A->ops->lufactor = MatLUFactor_SeqAIJGPUCSR;
  if (A->ops->ilufactor) A->ops->ilufactor = MatILUFactor_SeqAIJGPUCSR;
  if (A->ops->choleskyfactor) A->ops->choleskyfactor = MatCholeskyFactor_SeqAIJGPUCSR;
  if (A->ops->iccfactor) A->ops->iccfactor = MatICCFactor_SeqAIJGPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*MatILUFactorSymbolic_Base)(Mat, Mat, IS, IS, const MatFactorInfo *);

/* ILU(0) gives the factor a copy of the matrix's composed functions, of which plain AIJ frees only those it knows */
static PetscErrorCode MatILUFactorSymbolic_SeqAIJGPUCSR(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall((*MatILUFactorSymbolic_Base)(F, A, row, column, info));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatProductSetFromOptions_anytype_C", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* found before plain AIJ's when no solver is asked for by name */
PetscErrorCode MatGetFactor_SeqAIJGPUCSR_ILU(Mat A, MatFactorType type, Mat *F)
{
  PetscErrorCode (*create)(Mat, MatFactorType, Mat *);

  PetscFunctionBegin;
  PetscCall(MatSolverTypeGet(MATSOLVERPETSC, MATSEQAIJ, type, NULL, NULL, &create));
  PetscCall((*create)(A, type, F));
  MatILUFactorSymbolic_Base    = (*F)->ops->ilufactorsymbolic;
  (*F)->ops->ilufactorsymbolic = MatILUFactorSymbolic_SeqAIJGPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}
