/* Reads PETSc's factors.

   LU and ILU (MATSEQAIJ): row i of L without its unit diagonal is at i[i] to i[i+1]. The rows of U follow in descending order; each ends with the inverse of its diagonal
   entry. Cholesky and ICC (MATSEQSBAIJ): A = U' D U; row i holds the negative entries of the unit triangle U, and at its end the inverse of D. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"

PetscErrorCode MatGPUCSRFactorRestoreArrays_Private(Mat F, const MatGPUCSRFactor *f, MatGPUCSRFactorArrays *a)
{
  PetscBool done;

  PetscFunctionBegin;
  if (f->cholesky) {
    PetscCall(MatSeqSBAIJRestoreArray(F, (PetscScalar **)&a->values));
    PetscCall(MatRestoreRowIJ(F, 0, PETSC_FALSE, PETSC_TRUE, &a->n, &a->i, &a->j, &done));
  } else PetscCall(MatSeqAIJRestoreArrayRead(F, &a->values));
  PetscCall(PetscFree2(a->begin, a->end));
  PetscCall(PetscFree2(a->lower, a->col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the rows of U.  The rows of an LU factor are found by their last entry, which is that of the diagonal. */
static PetscErrorCode MatGPUCSRFactorFindRows(const MatGPUCSRFactor *f, MatGPUCSRFactorArrays *a)
{
  int64_t k = f->n ? a->i[f->n] : 0;

  PetscFunctionBegin;
  for (PetscInt row = f->n - 1; row >= 0; row--) {
    if (f->cholesky) {
      a->begin[row] = a->i[row];
      k             = a->i[row + 1] - 1;
    } else {
      a->begin[row] = k;
      while (k < a->nnz && a->j[k] != row) k++;
    }
    PetscCheck(k >= a->begin[row] && k < a->nnz && a->j[k] == row, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " of PETSc's factor has no diagonal entry at its end; use -pc_factor_mat_solver_type petsc", row);
    a->end[row] = k++;
  }
  if (!f->cholesky) {
    for (PetscInt row = 0; row <= f->n; row++) a->lower[row] = a->i[row];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* pattern: also copies the columns to 32 bits. */
PetscErrorCode MatGPUCSRFactorGetArrays_Private(Mat F, const MatGPUCSRFactor *f, PetscBool pattern, MatGPUCSRFactorArrays *a)
{
  MatInfo   info;
  PetscBool done;

  PetscFunctionBegin;
  *a = (MatGPUCSRFactorArrays){0};
  PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
  if (f->cholesky) {
    PetscCall(MatGetRowIJ(F, 0, PETSC_FALSE, PETSC_TRUE, &a->n, &a->i, &a->j, &done));
    PetscCheck(done && a->n == f->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Cannot read the rows of PETSc's factor; use -pc_factor_mat_solver_type petsc");
  } else PetscCall(MatSeqAIJGetCSRAndMemType(F, &a->i, &a->j, NULL, NULL)); /* an LU factor with nodes has no MatGetRowIJ() */
  a->n   = f->n;
  a->nnz = f->cholesky && f->n ? a->i[f->n] : (int64_t)info.nz_used;
  PetscCheck(a->nnz < GP_TRI_MOST && f->n < GP_TRI_MOST, PETSC_COMM_SELF, PETSC_ERR_SUP, "The factor has %lld nonzeros; on the device it can have fewer than 2^31; use -pc_factor_mat_solver_type petsc", (long long)a->nnz);
  if (f->cholesky) PetscCall(MatSeqSBAIJGetArray(F, (PetscScalar **)&a->values));
  else PetscCall(MatSeqAIJGetArrayRead(F, &a->values));
  PetscCall(PetscMalloc2(f->n, &a->begin, f->n, &a->end));
  PetscCall(PetscMalloc2(f->n + 1, &a->lower, pattern ? a->nnz : 0, &a->col));
  PetscCall(MatGPUCSRFactorFindRows(f, a));
  for (int64_t k = 0; k < a->nnz && pattern; k++) a->col[k] = (int32_t)a->j[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}
