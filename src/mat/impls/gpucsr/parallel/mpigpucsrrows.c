/* The rows of a parallel matrix as one sequential matrix in device memory (mpigpucsrrows.h). The pattern is built on the host. Values stay on the device if the blocks have images in double precision. */
#include "mat/impls/gpucsr/parallel/mpigpucsrrows.h"

PetscErrorCode MatGPUCSRRowsDestroy_Private(MatGPUCSRRows *R)
{
  const size_t source = (size_t)(R->nnz[0] + R->nnz[1] + R->received) * sizeof(double);

  PetscFunctionBegin;
  if (R->dev) {
    GpDevFree(R->dev, &R->source, source);
    GpDevFree(R->dev, &R->index, (size_t)R->csr.nnz * sizeof(int32_t));
    GpCsrDestroy(&R->csr);
  }
  PetscCall(MatGPUCSRHaloDestroy_Private(&R->halo));
  PetscCall(PetscFree3(R->list.rowptr, R->list.column, R->list.position));
  PetscCall(PetscFree(R->column));
  *R = (MatGPUCSRRows){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether the rows have the pattern of the matrix. */
PetscBool MatGPUCSRRowsHavePattern_Private(Mat A, const MatGPUCSRRows *R)
{
  return (PetscBool)(R->dev && ((PetscObject)A)->id == R->id && A->nonzerostate == R->nonzerostate);
}

/* Rows that other ranks need, and rows that this rank needs. [0]: sent, [1]: received. */
typedef struct {
  PetscMPIInt size;
  GpPeers     rows[2], entries[2]; /* ranks, and numbers of rows and of their entries */
  PetscInt   *row;                 /* global rows that are sent */
  PetscInt   *length[2];           /* numbers of entries of the rows */
  PetscInt   *column[2];           /* global columns of the entries */
  int32_t    *index;               /* positions of the values that are sent */
} MatGPUCSRFetch;

static PetscErrorCode MatGPUCSRFetchDestroy(MatGPUCSRFetch *F)
{
  PetscFunctionBegin;
  for (int s = 0; s < 2; s++) {
    PetscCall(PetscFree2(F->rows[s].rank, F->rows[s].offset));
    PetscCall(PetscFree2(F->entries[s].rank, F->entries[s].offset));
    PetscCall(PetscFree(F->length[s]));
    PetscCall(PetscFree(F->column[s]));
  }
  PetscCall(PetscFree(F->row));
  PetscCall(PetscFree(F->index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the peers for the entries of rows. */
static PetscErrorCode MatGPUCSRFetchCountEntries(Mat A, const GpPeers *rows, const PetscInt length[], PetscMPIInt size, GpPeers *entries)
{
  PetscInt64 *count;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(size, &count));
  for (int p = 0; p < rows->n; p++) {
    for (int32_t k = rows->offset[p]; k < rows->offset[p + 1]; k++) count[rows->rank[p]] += length[k];
  }
  PetscCall(MatGPUCSRPeersCreate_Private(PetscObjectComm((PetscObject)A), count, entries));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Requests rows of other ranks, answers their requests with lengths and columns, and lists the positions of the values that are sent. */
static PetscErrorCode MatGPUCSRFetchPattern(Mat A, const MatGPUCSRList *L, PetscInt nneeded, const PetscInt needed[], MatGPUCSRFetch *F)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  PetscInt64 *count;
  PetscInt    to = 0;
  PetscMPIInt owner;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &F->size));
  PetscCall(PetscCalloc1(F->size, &count));
  for (PetscInt k = 0; k < nneeded; k++) {
    PetscCall(PetscLayoutFindOwner(A->rmap, needed[k], &owner));
    count[owner]++;
  }
  PetscCall(MatGPUCSRPeersCreate_Private(comm, count, &F->rows[1]));
  PetscCall(MatGPUCSRPeersReceive_Private(A, &F->rows[1], count, needed, &F->rows[0], &F->row));
  PetscCall(PetscFree(count));
  const PetscInt given = F->rows[0].offset[F->rows[0].n];

  PetscCall(PetscMalloc1(given, &F->length[0]));
  PetscCall(PetscMalloc1(nneeded, &F->length[1]));
  for (PetscInt k = 0; k < given; k++) F->length[0][k] = L->rowptr[F->row[k] - A->rmap->rstart + 1] - L->rowptr[F->row[k] - A->rmap->rstart];
  PetscCall(MatGPUCSRPeersExchange_Private(A, &F->rows[0], F->length[0], &F->rows[1], F->length[1]));
  for (int s = 0; s < 2; s++) {
    PetscCall(MatGPUCSRFetchCountEntries(A, &F->rows[s], F->length[s], F->size, &F->entries[s]));
    PetscCall(PetscMalloc1(F->entries[s].offset[F->entries[s].n], &F->column[s]));
  }
  PetscCall(PetscMalloc1(F->entries[0].offset[F->entries[0].n], &F->index));
  for (PetscInt k = 0; k < given; k++) {
    for (PetscInt e = L->rowptr[F->row[k] - A->rmap->rstart]; e < L->rowptr[F->row[k] - A->rmap->rstart + 1]; e++) {
      F->column[0][to] = L->column[e];
      F->index[to++]   = L->position[e];
    }
  }
  PetscCall(MatGPUCSRPeersExchange_Private(A, &F->entries[0], F->column[0], &F->entries[1], F->column[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends the received rows to the list. */
static PetscErrorCode MatGPUCSRRowsAppend(MatGPUCSRRows *R, PetscInt nneeded, const MatGPUCSRFetch *F)
{
  const PetscInt own = R->nnz[0] + R->nnz[1], all = own + R->received, m = R->list.m;
  MatGPUCSRList  L = {.m = m + nneeded};

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(L.m + 1, &L.rowptr, all, &L.column, all, &L.position));
  PetscCall(PetscArraycpy(L.rowptr, R->list.rowptr, m + 1));
  PetscCall(PetscArraycpy(L.column, R->list.column, own));
  PetscCall(PetscArraycpy(L.position, R->list.position, own));
  PetscCall(PetscArraycpy(L.column + own, F->column[1], R->received));
  for (PetscInt k = 0; k < nneeded; k++) L.rowptr[m + k + 1] = L.rowptr[m + k] + F->length[1][k];
  for (PetscInt e = own; e < all; e++) L.position[e] = (int32_t)e;
  PetscCall(PetscFree3(R->list.rowptr, R->list.column, R->list.position));
  R->list = L;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the matrix in device memory. columns: those of csr. */
static PetscErrorCode MatGPUCSRRowsUpload(MatGPUCSRRows *R, const PetscInt columns[])
{
  const size_t nnz = (size_t)R->list.rowptr[R->list.m];

  PetscFunctionBegin;
  PetscCheck((PetscInt64)nnz <= GP_OP_MOST, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A rank needs %" PetscInt64_FMT " nonzeros for a sparse product; it can hold at most %" PetscInt64_FMT ": use more processes", (PetscInt64)nnz,
             (PetscInt64)GP_OP_MOST);
  PetscCallGp(R->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrCreate(R->dev, GP_F64, (int32_t)R->list.m, (int32_t)R->n, (int32_t)nnz, &R->csr));
  PetscCallGp(R->dev, MAT_GPUCSR_ROWS_WHAT, GpDevAlloc(R->dev, nnz * sizeof(int32_t), &R->index));
  PetscCallGp(R->dev, MAT_GPUCSR_ROWS_WHAT, GpDevAlloc(R->dev, nnz * sizeof(double), &R->source));
  PetscCallGp(R->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrSetPattern(&R->csr, R->list.rowptr, columns));
  PetscCallGp(R->dev, MAT_GPUCSR_ROWS_WHAT, GpDevUpload(R->dev, R->index, R->list.position, nnz * sizeof(int32_t)));
  PetscCall(PetscLogCpuToGpu(2.0 * (PetscLogDouble)nnz * sizeof(int32_t)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Receives the pattern of the rows of other ranks. */
static PetscErrorCode MatGPUCSRRowsFetch(Mat A, PetscInt nneeded, const PetscInt needed[], MatGPUCSRRows *R)
{
  MatGPUCSRFetch F = {0};
  PetscErrorCode err;

  PetscFunctionBegin;
  err = MatGPUCSRFetchPattern(A, &R->list, nneeded, needed, &F);
  if (!err) R->received = F.entries[1].offset[F.entries[1].n];
  if (!err) err = MatGPUCSRRowsAppend(R, nneeded, &F);
  if (!err) err = MatGPUCSRHaloCreateFromPeers_Private(A, F.entries, &F.index, &R->halo);
  PetscCall(MatGPUCSRFetchDestroy(&F));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRRowsCreate_Private(Mat A, PetscBool blocks, PetscInt nneeded, const PetscInt needed[], MatGPUCSRRows *R)
{
  Mat             block[2];
  const PetscInt *ghost;
  PetscInt       *columns = NULL, nnz;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRRowsDestroy_Private(R));
  PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, &ghost));
  for (int b = 0; b < 2; b++) {
    const PetscInt *rowptr;

    PetscCall(MatSeqAIJGetCSRAndMemType(block[b], &rowptr, NULL, NULL, NULL));
    R->nnz[b] = rowptr ? rowptr[A->rmap->n] : 0;
  }
  nnz = R->nnz[0] + R->nnz[1];
  PetscCall(PetscMalloc3(A->rmap->n + 1, &R->list.rowptr, nnz, &R->list.column, nnz, &R->list.position));
  if (blocks) PetscCall(PetscMalloc1(nnz, &columns));
  PetscCall(MatGPUCSRListRows_Private(A, block, ghost, &R->list, columns));
  R->dev = ((Mat_GPUCSR *)A->spptr)->dev;
  if (blocks) {
    R->n = A->cmap->n + block[1]->cmap->n;
    PetscCall(PetscMalloc1(R->n, &R->column));
    for (PetscInt j = 0; j < A->cmap->n; j++) R->column[j] = A->cmap->rstart + j;
    PetscCall(PetscArraycpy(R->column + A->cmap->n, ghost, block[1]->cmap->n));
  } else {
    if (nneeded >= 0) PetscCall(MatGPUCSRRowsFetch(A, nneeded, needed, R));
    nnz = R->list.rowptr[R->list.m];
    PetscCall(MatGPUCSRColumnsCreate_Private(A->cmap->rstart, A->cmap->rend, nnz, R->list.column, &R->n, &R->column));
    PetscCall(PetscMalloc1(nnz, &columns));
    PetscCall(PetscArraycpy(columns, R->list.column, nnz));
    PetscCall(MatGPUCSRColumnsRenumber_Private(A->cmap->rstart, A->cmap->rend, R->n, R->column, nnz, columns));
  }
  PetscCall(MatGPUCSRRowsUpload(R, columns));
  PetscCall(PetscFree(columns));
  R->id           = ((PetscObject)A)->id;
  R->nonzerostate = A->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of a block to the source: from its image if that has double precision, else from the host. */
static PetscErrorCode MatGPUCSRRowsCopyBlock(Mat A, MatGPUCSRRows *R, PetscInt nnz, double *to)
{
  GpOp         op = MatGPUCSRIs_Private(A) ? ((Mat_SeqAIJGPUCSR *)A->spptr)->op : NULL;
  PetscScalar *val;

  PetscFunctionBegin;
  if (!nnz) PetscFunctionReturn(PETSC_SUCCESS);
  if (op && op->dev == R->dev && op->options.prec == GP_F64 && !GpOpIsStreamed(op)) PetscCall(MatSeqAIJGPUCSRUpload_Private(A, PETSC_FALSE, &op));
  if (op && op->dev == R->dev && op->options.prec == GP_F64 && !GpOpIsStreamed(op)) {
    PetscCallGp(R->dev, MAT_GPUCSR_ROWS_WHAT, GpDevCopyWithin(R->dev, to, op->side[0].csr.val, (size_t)nnz * sizeof(double)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetCSRAndMemType(A, NULL, NULL, &val, NULL));
  PetscCallGp(R->dev, MAT_GPUCSR_ROWS_WHAT, GpDevUpload(R->dev, to, val, (size_t)nnz * sizeof(double)));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)nnz * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRRowsRefresh_Private(Mat A, MatGPUCSRRows *R)
{
  const GpVecKernels *kernels = GpVecKernelsOf(R->dev);
  const PetscInt      own     = R->nnz[0] + R->nnz[1];
  Mat                 block[2];

  PetscFunctionBegin;
  if (MatGPUCSRIs_Private(A)) PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
  else PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL)); /* the matrix has been converted since the symbolic phase */
  for (int b = 0; b < 2; b++) PetscCall(MatGPUCSRRowsCopyBlock(block[b], R, R->nnz[b], R->source + (b ? R->nnz[0] : 0)));
  if (R->halo) {
    PetscCall(MatGPUCSRHaloBegin_Private(R->halo, 1, &(MatGPUCSRVec){.device = R->source}, (double *const *)&R->source));
    PetscCall(MatGPUCSRHaloEnd_Private(R->halo));
    if (R->received) PetscCallGp(R->dev, MAT_GPUCSR_ROWS_WHAT, GpDevCopyWithin(R->dev, R->source + own, R->halo->side[1].device, (size_t)R->received * sizeof(double)));
  }
  PetscCallGp(R->dev, MAT_GPUCSR_ROWS_WHAT, kernels->gather(R->dev, R->csr.nnz, R->index, R->source, (double *)R->csr.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}
