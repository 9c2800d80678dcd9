/* Reads PETSc's factors.

   LU and ILU (MATSEQAIJ): row i of L without its unit diagonal is at i[i] to i[i+1]. The rows of U follow in descending order; each ends with the inverse of its diagonal
   entry. Cholesky and ICC (MATSEQSBAIJ): A = U' D U; row i holds the negative entries of the unit triangle U, and at its end the inverse of D. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"
#include "device/gpfillers.h"

#define MAT_GPUCSR_SAME_INT (sizeof(PetscInt) == sizeof(int32_t)) /* PETSc's index arrays need no copies */

PetscErrorCode MatGPUCSRFactorRestoreArrays_Private(Mat F, const MatGPUCSRFactor *f, MatGPUCSRFactorArrays *a)
{
  PetscBool done;

  PetscFunctionBegin;
  if (f->cholesky) {
    PetscCall(MatSeqSBAIJRestoreArray(F, (PetscScalar **)&a->values));
    PetscCall(MatRestoreRowIJ(F, 0, PETSC_FALSE, PETSC_TRUE, &a->n, &a->i, &a->j, &done));
  } else PetscCall(MatSeqAIJRestoreArrayRead(F, &a->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatGPUCSRFactorTrimPattern_Private(MatGPUCSRFactor *f)
{
  GpTriFreeDeps(&f->pattern.deps);
  free(f->pattern.col);
  f->pattern.col = NULL;
}

PetscErrorCode MatGPUCSRFactorResetPattern_Private(MatGPUCSRFactor *f)
{
  PetscFunctionBegin;
  MatGPUCSRFactorTrimPattern_Private(f);
  PetscCall(PetscFree(f->pattern.begin));
  PetscCall(PetscFree(f->pattern.end));
  PetscCall(PetscFree(f->pattern.lower));
  f->pattern = (MatGPUCSRFactorPattern){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- rows ------------------------------------------------------------------------------------------------------------------------ */

/* Finds the rows of U in a Cholesky factor, which end with the diagonal.  Returns the last row that does not, or -1. */
static PetscInt MatGPUCSRFactorFindUpper(const MatGPUCSRFactorArrays *a, int32_t end[])
{
  PetscInt bad = -1;

  for (PetscInt row = 0; row < a->n; row++) {
    const PetscInt last = a->i[row + 1] - 1;

    if (last < a->i[row] || a->j[last] != row) bad = row;
    end[row] = (int32_t)last;
  }
  return bad;
}

/* Finds the rows of U in an LU factor by their last entry, which is that of the diagonal.  Returns the last row that has none, or -1. */
static PetscInt MatGPUCSRFactorScanUpper(const MatGPUCSRFactorArrays *a, int32_t begin[], int32_t end[])
{
  int64_t k = a->n ? a->i[a->n] : 0;

  for (PetscInt row = a->n - 1; row >= 0; row--) {
    begin[row] = (int32_t)k;
    while (k < a->nnz && a->j[k] != row) k++;
    if (k >= a->nnz) return row;
    end[row] = (int32_t)k++;
  }
  return -1;
}

static PetscErrorCode MatGPUCSRFactorCopyIndices(PetscInt n, const PetscInt from[], int32_t **to)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, to));
  for (PetscInt k = 0; k < n; k++) (*to)[k] = (int32_t)from[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Derives the rows from PETSc's arrays. */
static PetscErrorCode MatGPUCSRFactorFindRows(MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a)
{
  MatGPUCSRFactorPattern *p = &f->pattern;
  PetscInt                bad;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRFactorResetPattern_Private(f));
  PetscCall(PetscMalloc1(f->n, &p->end));
  if (f->cholesky) {
    bad = MatGPUCSRFactorFindUpper(a, p->end);
    if (!MAT_GPUCSR_SAME_INT || !f->n) PetscCall(MatGPUCSRFactorCopyIndices(f->n, a->i, &p->begin));
  } else {
    PetscCall(PetscMalloc1(f->n, &p->begin));
    bad = MatGPUCSRFactorScanUpper(a, p->begin, p->end);
    if (!f->n) PetscCall(PetscCalloc1(1, &p->lower));
    else if (!MAT_GPUCSR_SAME_INT) PetscCall(MatGPUCSRFactorCopyIndices(f->n + 1, a->i, &p->lower));
  }
  PetscCheck(bad < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " of PETSc's factor has no diagonal entry at its end; use -pc_factor_mat_solver_type petsc", bad);
  p->i   = a->i;
  p->j   = a->j;
  p->nnz = a->nnz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- columns --------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  const PetscInt *from;
  int32_t        *to;
} MatGPUCSRFactorCopy;

static void MatGPUCSRFactorCopyColumns(void *context, int part, int64_t begin, int64_t end)
{
  const MatGPUCSRFactorCopy *c = (const MatGPUCSRFactorCopy *)context;

  (void)part;
  for (int64_t k = begin; k < end; k++) c->to[k] = (int32_t)c->from[k];
}

/* Copies the columns to 32 bits. */
static PetscErrorCode MatGPUCSRFactorGetColumns(MatGPUCSRFactorPattern *p)
{
  MatGPUCSRFactorCopy c = {p->j, NULL};

  PetscFunctionBegin;
  if (MAT_GPUCSR_SAME_INT || p->col) PetscFunctionReturn(PETSC_SUCCESS);
  p->col = c.to = GpTriAllocate((size_t)p->nnz);
  PetscCheck(p->col, PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of host memory for the %lld columns of a factor", (long long)p->nnz);
  GpFillersRun(GpFillersParts(p->nnz, 8 * GP_TRI_GRAIN), p->nnz, MatGPUCSRFactorCopyColumns, &c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* pattern: the columns with 32 bits are needed too. */
PetscErrorCode MatGPUCSRFactorGetArrays_Private(Mat F, MatGPUCSRFactor *f, PetscBool pattern, MatGPUCSRFactorArrays *a)
{
  MatGPUCSRFactorPattern *p = &f->pattern;
  MatInfo                 info;
  PetscBool               done;

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
  if (!p->end || p->i != a->i || p->j != a->j || p->nnz != a->nnz) PetscCall(MatGPUCSRFactorFindRows(f, a));
  if (pattern) PetscCall(MatGPUCSRFactorGetColumns(p));
  a->begin = p->begin ? p->begin : (const int32_t *)a->i;
  a->end   = p->end;
  a->lower = f->cholesky ? NULL : p->lower ? p->lower : (const int32_t *)a->i;
  a->col   = MAT_GPUCSR_SAME_INT ? (const int32_t *)a->j : p->col;
  PetscFunctionReturn(PETSC_SUCCESS);
}
