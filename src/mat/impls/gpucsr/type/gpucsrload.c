/* MatLoad() and preallocation from compressed rows, with a check of row pointers and columns.  An optimised PETSc does not check them. */
#include "mat/impls/gpucsr/type/gpucsrtype.h"

/* Finds the first invalid row pointer or column index on any rank.  Collective; all ranks get the same result. */
static PetscErrorCode MatGPUCSRFindDamage(Mat A, const PetscInt rowptr[], const PetscInt col[], MatGPUCSRDamage *damage)
{
  const PetscInt m = A->rmap->n, N = A->cmap->N;
  MPI_Comm       comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt    rank, size, mine, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  damage->found = PETSC_FALSE;
  for (PetscInt i = 0; i < m && !damage->found; i++) {
    damage->falls = (PetscBool)(rowptr[i + 1] < rowptr[i]);
    damage->found = damage->falls;
    damage->row   = A->rmap->rstart + i;
    for (PetscInt k = rowptr[i]; k < rowptr[i + 1] && !damage->found; k++) {
      damage->found  = (PetscBool)(col[k] < 0 || col[k] >= N);
      damage->column = col[k];
    }
  }
  mine = damage->found ? rank : size;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first < size) PetscCallMPI(MPI_Bcast(damage, (PetscMPIInt)sizeof(*damage), MPI_BYTE, first, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises the error on all ranks. */
static PetscErrorCode MatGPUCSRRaiseDamage(Mat A, const MatGPUCSRDamage *damage)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  if (!damage->found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!damage->falls, comm, PETSC_ERR_ARG_OUTOFRANGE, "row %" PetscInt_FMT ": row pointers descend; they must not decrease from row to row", damage->row);
  SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE, "row %" PetscInt_FMT ": column index %" PetscInt_FMT " of a %" PetscInt_FMT " x %" PetscInt_FMT " matrix; columns are counted from 0", damage->row, damage->column, A->rmap->N, A->cmap->N);
}

/* MATMPIAIJ loads a file by MatMPIAIJSetPreallocationCSR(), which uses columns as array indices.  They are therefore checked before.  The error is
   raised after loading, because PETSc frees its buffers only if loading succeeds.  MATSEQAIJ does not use columns as array indices while it
   loads, so they are checked afterwards. */
PetscErrorCode MatLoad_GPUCSR(Mat A, PetscViewer viewer)
{
  Mat_GPUCSR       *g      = (Mat_GPUCSR *)A->spptr;
  Mat_MPIAIJGPUCSR *m      = g->mpi ? (Mat_MPIAIJGPUCSR *)g : NULL;
  MatGPUCSRDamage   damage = {PETSC_FALSE};
  PetscErrorCode    err;

  PetscFunctionBegin;
  if (m) m->loading = &damage;
  err = (*g->base.load)(A, viewer);
  if (m) m->loading = NULL;
  PetscCall(err);
  if (!m) {
    const PetscInt *rowptr, *col;

    PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, &col, NULL, NULL));
    if (rowptr) PetscCall(MatGPUCSRFindDamage(A, rowptr, col, &damage));
  }
  PetscCall(MatGPUCSRRaiseDamage(A, &damage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMPIAIJSetPreallocationCSR_MPIAIJGPUCSR(Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar a[])
{
  Mat_MPIAIJGPUCSR *g      = (Mat_MPIAIJGPUCSR *)A->spptr;
  MatGPUCSRDamage   damage = {PETSC_FALSE};
  PetscInt         *none;

  PetscFunctionBegin;
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  if (i) PetscCall(MatGPUCSRFindDamage(A, i, j, &damage));
  if (damage.found && g->loading) { /* preallocate an empty matrix; MatLoad_GPUCSR() raises the error */
    *g->loading = damage;
    PetscCall(PetscCalloc1(A->rmap->n + 1, &none));
    PetscCall((*g->preallocatecsr)(A, none, NULL, NULL));
    PetscCall(PetscFree(none));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGPUCSRRaiseDamage(A, &damage));
  PetscCall((*g->preallocatecsr)(A, i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMPIAIJSetPreallocation_MPIAIJGPUCSR(Mat A, PetscInt dnz, const PetscInt dnnz[], PetscInt onz, const PetscInt onnz[])
{
  Mat block[2];

  PetscFunctionBegin;
  PetscCall((*((Mat_MPIAIJGPUCSR *)A->spptr)->preallocate)(A, dnz, dnnz, onz, onnz));
  PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRSetPreallocation_Private(Mat A)
{
  Mat_MPIAIJGPUCSR *g = (Mat_MPIAIJGPUCSR *)A->spptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatMPIAIJSetPreallocation_C", &g->preallocate));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJSetPreallocation_C", MatMPIAIJSetPreallocation_MPIAIJGPUCSR));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatMPIAIJSetPreallocationCSR_C", &g->preallocatecsr));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatMPIAIJSetPreallocationCSR_C", MatMPIAIJSetPreallocationCSR_MPIAIJGPUCSR));
  PetscFunctionReturn(PETSC_SUCCESS);
}
