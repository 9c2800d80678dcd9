/* The matrix of an approximate inverse or of its factor (pcinverse.h). */
#include "pc/inverse/pcinverse.h"

#include <stdlib.h>

/* Creates a matrix of type AIJ whose arrays are those of the rows; the rows have columns of this rank only.  PETSc's functions that insert rows would take several times as long. */
static PetscErrorCode PCGPUInverseCreateLocal(PC pc, PCGPUInverse *V, PetscInt n, PetscInt N)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt size;

  PetscFunctionBegin;
  V->val      = V->rows.val; /* the matrix keeps the array */
  V->rows.val = NULL;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) {
    PetscCall(MatCreateSeqAIJWithArrays(comm, n, n, V->rows.rowptr, V->rows.col, V->val, &V->matrix));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  V->none = (PetscInt *)calloc((size_t)n + 1, sizeof(*V->none));
  PetscCheck(V->none, PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of host memory for the row pointers of an approximate inverse with %" PetscInt_FMT " rows", n);
  PetscCall(MatCreateMPIAIJWithSplitArrays(comm, n, n, N, N, V->rows.rowptr, V->rows.col, V->val, V->none, NULL, NULL, &V->matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a matrix of type AIJ from rows that have columns of other ranks. */
static PetscErrorCode PCGPUInverseCreateOverlapping(PC pc, PCGPUInverse *V, PetscInt n, PetscInt N)
{
  const PetscInt *row;
  PetscInt       *col;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)pc), &V->matrix));
  PetscCall(MatSetSizes(V->matrix, n, n, N, N));
  PetscCall(MatSetType(V->matrix, MATMPIAIJ));
  PetscCall(PetscMalloc1(V->rows.rowptr[n], &col));
  PetscCall(ISGetIndices(V->overlap, &row));
  for (PetscInt k = 0; k < V->rows.rowptr[n]; k++) col[k] = row[V->rows.col[k]];
  PetscCall(ISRestoreIndices(V->overlap, &row));
  PetscCall(MatMPIAIJSetPreallocationCSR(V->matrix, V->rows.rowptr, col, V->rows.val));
  PetscCall(PetscFree(col));
  GpInvFreeValues(&V->rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseCreateMatrix_Private(PC pc, PCGPUInverse *V, const PCGPUInverseType *type)
{
  const char *prefix;
  char        appended[32];
  PetscInt    n, N;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  PetscCall(MatGetSize(pc->pmat, &N, NULL));
  if (V->overlap) PetscCall(PCGPUInverseCreateOverlapping(pc, V, n, N));
  else PetscCall(PCGPUInverseCreateLocal(pc, V, n, N));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscSNPrintf(appended, sizeof(appended), "pc_%s_", type->type));
  PetscCall(MatSetOptionsPrefix(V->matrix, prefix));
  PetscCall(MatAppendOptionsPrefix(V->matrix, appended));
  PetscCall(MatConvert(V->matrix, MATGPUCSR, MAT_INPLACE_MATRIX, &V->matrix));
  PetscCall(MatGPUCSRSetStorage(V->matrix, type->storage));
  if (type->lazy) PetscCall(MatGPUCSRSetTranspose(V->matrix, MAT_GPUCSR_TRANSPOSE_LAZY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the sequential matrix with the columns of this rank, and the one with the columns of other ranks; NULL: the matrix is sequential. */
PetscErrorCode PCGPUInverseGetBlocks_Private(const PCGPUInverse *V, Mat *here, Mat *away)
{
  PetscBool mpi;

  PetscFunctionBegin;
  *here = V->matrix;
  *away = NULL;
  PetscCall(PetscObjectTypeCompare((PetscObject)V->matrix, MATMPIAIJGPUCSR, &mpi));
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(V->matrix, here, away, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of the rows to the matrix.  In a row, columns of lower ranks precede those of the diagonal block, and columns of higher ranks follow. */
PetscErrorCode PCGPUInverseRefillMatrix_Private(PCGPUInverse *V)
{
  const GpInvRows *F = &V->rows;
  Mat              here, away;
  const PetscInt  *rowptr, *col;
  PetscScalar     *val, *other = NULL;
  PetscInt         n;
  PetscBool        done;

  PetscFunctionBegin;
  PetscCall(PCGPUInverseGetBlocks_Private(V, &here, &away));
  if (away) PetscCall(MatSeqAIJGetArrayWrite(away, &other));
  PetscCall(MatGetRowIJ(here, 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  PetscCall(MatSeqAIJGetArrayWrite(here, &val));
  for (PetscInt r = 0, before = 0; r < F->rows; r++) { /* before: number of nonzeros of other ranks' columns in the rows above */
    const PetscInt     inside = rowptr[r + 1] - rowptr[r], outside = F->rowptr[r + 1] - F->rowptr[r] - inside;
    const PetscScalar *from  = F->val + F->rowptr[r];
    PetscInt           lower = 0;

    while (lower < outside && F->col[F->rowptr[r] + lower] < V->first) lower++;
    if (outside) PetscCall(PetscArraycpy(other + before, from, lower));
    PetscCall(PetscArraycpy(val + rowptr[r], from + lower, inside));
    if (outside) PetscCall(PetscArraycpy(other + before + lower, from + lower + inside, outside - lower));
    before += outside;
  }
  PetscCall(MatSeqAIJRestoreArrayWrite(here, &val));
  PetscCall(MatRestoreRowIJ(here, 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  if (away) {
    PetscCall(MatSeqAIJRestoreArrayWrite(away, &other));
    PetscCall(PetscObjectStateIncrease((PetscObject)V->matrix));
  }
  GpInvFreeValues(&V->rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseDestroyMatrix_Private(PCGPUInverse *V)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&V->matrix));
  GpInvFree(&V->rows);
  free(V->val);
  free(V->none);
  V->val  = NULL;
  V->none = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
