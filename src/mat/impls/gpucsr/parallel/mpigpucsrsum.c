/* C = L' X for parallel matrices: every rank multiplies its rows, sends the rows of the product that belong to other ranks, and adds what it receives. The sum is a sparse product with a matrix whose entries are 0
   and 1 (`selection`). The product unites the patterns, and fixes the order of the additions. */
#include "mat/impls/gpucsr/parallel/mpigpucsrrows.h"

/* Downloads a pattern. */
PetscErrorCode MatGPUCSRDownloadPattern_Private(const GpCsr *A, const PetscInt column[], PetscInt **rowptr, PetscInt **col)
{
  const size_t m = (size_t)A->m, nnz = (size_t)A->nnz;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m + 1, rowptr, nnz, col));
  PetscCallGp(A->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrGetIndices(A->dev, A->rowptr, m + 1, *rowptr));
  PetscCallGp(A->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrGetIndices(A->dev, A->col, nnz, *col));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)(m + nnz) * sizeof(int32_t)));
  for (size_t e = 0; e < nnz; e++) (*col)[e] = column[(*col)[e]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of Y that are sent [0] and received [1]. */
typedef struct {
  GpPeers   rows[2], entries[2];
  PetscInt *row;       /* global rows that are received */
  PetscInt *length[2]; /* numbers of nonzeros of the rows */
  PetscInt *column;    /* global columns that are received */
  int32_t  *index;     /* positions in Y of the values that are sent */
} MatGPUCSRScatter;

static PetscErrorCode MatGPUCSRScatterDestroy(MatGPUCSRScatter *S)
{
  PetscFunctionBegin;
  for (int s = 0; s < 2; s++) {
    PetscCall(PetscFree2(S->rows[s].rank, S->rows[s].offset));
    PetscCall(PetscFree2(S->entries[s].rank, S->entries[s].offset));
    PetscCall(PetscFree(S->length[s]));
  }
  PetscCall(PetscFree(S->row));
  PetscCall(PetscFree(S->column));
  PetscCall(PetscFree(S->index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends the pattern of the rows of Y that belong to other ranks. ghost: global numbers of these rows, ascending; rowptr, col: pattern of Y, whose first n rows belong to this rank. */
static PetscErrorCode MatGPUCSRScatterPattern(Mat L, PetscInt nghost, const PetscInt ghost[], const PetscInt rowptr[], const PetscInt col[], MatGPUCSRScatter *S)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)L);
  const PetscInt n    = L->cmap->n;
  PetscInt64    *count;
  PetscMPIInt    size, owner;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscCalloc1(2 * size, &count));
  PetscCall(PetscMalloc1(nghost, &S->length[0]));
  for (PetscInt k = 0; k < nghost; k++) {
    PetscCall(PetscLayoutFindOwner(L->cmap, ghost[k], &owner));
    S->length[0][k] = rowptr[n + k + 1] - rowptr[n + k];
    count[owner]++;
    count[size + owner] += S->length[0][k];
  }
  PetscCall(MatGPUCSRPeersCreate_Private(comm, count, &S->rows[0]));
  PetscCall(MatGPUCSRPeersReceive_Private(L, &S->rows[0], count, ghost, &S->rows[1], &S->row));
  PetscCall(PetscMalloc1(S->rows[1].offset[S->rows[1].n], &S->length[1]));
  PetscCall(MatGPUCSRPeersExchange_Private(L, &S->rows[0], S->length[0], &S->rows[1], S->length[1]));
  PetscCall(MatGPUCSRPeersCreate_Private(comm, count + size, &S->entries[0]));
  PetscCall(MatGPUCSRPeersReceive_Private(L, &S->entries[0], count + size, col + rowptr[n], &S->entries[1], &S->column));
  PetscCall(PetscFree(count));
  PetscCall(PetscMalloc1(rowptr[n + nghost] - rowptr[n], &S->index));
  for (PetscInt e = rowptr[n]; e < rowptr[n + nghost]; e++) S->index[e - rowptr[n]] = (int32_t)e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates `stacked`. columns: receives the global columns of C. */
static PetscErrorCode MatGPUCSRSumStack(const MatGPUCSRScatter *S, PetscInt n, const PetscInt rowptr[], const PetscInt col[], PetscInt start, PetscInt end, MatGPUCSRParallel *d, PetscInt *nc, PetscInt *ccolumn[])
{
  const PetscInt received = S->rows[1].offset[S->rows[1].n], all = d->own + S->entries[1].offset[S->entries[1].n];
  PetscInt      *rows, *columns;

  PetscFunctionBegin;
  PetscCheck((PetscInt64)all <= GP_OP_MOST, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A rank receives so many rows of a sparse product that it has %" PetscInt_FMT " nonzeros; it can hold at most %" PetscInt64_FMT ": use more processes", all,
             (PetscInt64)GP_OP_MOST);
  PetscCall(PetscMalloc2(n + received + 1, &rows, all, &columns));
  PetscCall(PetscArraycpy(rows, rowptr, n + 1));
  PetscCall(PetscArraycpy(columns, col, d->own));
  PetscCall(PetscArraycpy(columns + d->own, S->column, all - d->own));
  for (PetscInt k = 0; k < received; k++) rows[n + k + 1] = rows[n + k] + S->length[1][k];
  PetscCall(MatGPUCSRColumnsCreate_Private(start, end, all, columns, nc, ccolumn));
  PetscCall(MatGPUCSRColumnsRenumber_Private(start, end, *nc, *ccolumn, all, columns));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrCreate(d->dev, GP_F64, (int32_t)(n + received), (int32_t)*nc, (int32_t)all, &d->stacked));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrSetPattern(&d->stacked, rows, columns));
  PetscCall(PetscFree2(rows, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates `selection`: row i has ones in column i and in the columns of the received rows that belong to row i. */
static PetscErrorCode MatGPUCSRSumSelect(const MatGPUCSRScatter *S, PetscInt n, PetscInt first, MatGPUCSRParallel *d)
{
  const PetscInt received = S->rows[1].offset[S->rows[1].n];
  PetscInt      *rowptr, *col;
  double        *one;
  GpLoss         loss;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n + 2, &rowptr, n + received, &col, n + received, &one));
  PetscCall(PetscArrayzero(rowptr, n + 2));
  for (PetscInt i = 0; i < n; i++) rowptr[i + 2] = 1;
  for (PetscInt k = 0; k < received; k++) rowptr[S->row[k] - first + 2]++;
  for (PetscInt i = 0; i < n; i++) rowptr[i + 2] += rowptr[i + 1];
  for (PetscInt i = 0; i < n; i++) col[rowptr[i + 1]++] = i; /* rowptr[i+1] is where the next entry of row i goes */
  for (PetscInt k = 0; k < received; k++) col[rowptr[S->row[k] - first + 1]++] = n + k;
  for (PetscInt e = 0; e < n + received; e++) one[e] = 1;
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrCreate(d->dev, GP_F64, (int32_t)n, (int32_t)(n + received), (int32_t)(n + received), &d->selection));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrSetPattern(&d->selection, rowptr, col));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrSetValues(&d->selection, one, &loss));
  PetscCall(PetscFree3(rowptr, col, one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the pattern of C = L' X. column: global columns of X; start, end: columns of C that this rank owns; ccolumn: receives the global columns of the result. */
PetscErrorCode MatGPUCSRSumSymbolic_Private(Mat L, const GpCsr *x, PetscInt n, const PetscInt column[], PetscInt start, PetscInt end, MatGPUCSRParallel *d, PetscInt *nc, PetscInt *ccolumn[])
{
  const PetscInt   own = L->cmap->n;
  MatGPUCSRScatter S   = {0};
  PetscInt        *rowptr, *col;

  PetscFunctionBegin;
  PetscCheck(n == x->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Lists of columns differ");
  PetscCall(MatGPUCSRRowsCreate_Private(L, PETSC_TRUE, -1, NULL, &d->factor));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpDevAlloc(d->dev, (size_t)d->factor.csr.nnz * sizeof(int32_t), &d->perm));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpDevZero(d->dev, d->factor.csr.val, (size_t)d->factor.csr.nnz * sizeof(double)));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrTranspose(&d->factor.csr, &d->transpose, d->perm));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpSpgemmSymbolic(&d->transpose, x, &d->plan[1], &d->y));
  PetscCall(MatGPUCSRDownloadPattern_Private(&d->y, column, &rowptr, &col));
  d->own = rowptr[own];
  PetscCall(MatGPUCSRScatterPattern(L, d->factor.n - own, d->factor.column + own, rowptr, col, &S));
  PetscCall(MatGPUCSRSumStack(&S, own, rowptr, col, start, end, d, nc, ccolumn));
  PetscCall(MatGPUCSRSumSelect(&S, own, L->cmap->rstart, d));
  PetscCall(PetscFree2(rowptr, col));
  PetscCall(MatGPUCSRHaloCreateFromPeers_Private(L, S.entries, &S.index, &d->halo));
  PetscCall(MatGPUCSRScatterDestroy(&S));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpSpgemmSymbolic(&d->selection, &d->stacked, &d->plan[2], &d->result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRSumNumeric_Private(Mat L, const GpCsr *x, MatGPUCSRParallel *d)
{
  const PetscInt received = d->stacked.nnz - d->own;
  double        *y = (double *)d->y.val, *stacked = (double *)d->stacked.val;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRRowsRefresh_Private(L, &d->factor));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpCsrTransposeValues(&d->factor.csr, d->perm, &d->transpose));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpSpgemmNumeric(d->plan[1], &d->transpose, x, &d->y));
  PetscCall(MatGPUCSRHaloBegin_Private(d->halo, 1, &(MatGPUCSRVec){.device = y}, &y));
  if (d->own) PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpDevCopyWithin(d->dev, stacked, y, (size_t)d->own * sizeof(double)));
  PetscCall(MatGPUCSRHaloEnd_Private(d->halo));
  if (received) PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpDevCopyWithin(d->dev, stacked + d->own, d->halo->side[1].device, (size_t)received * sizeof(double)));
  PetscCallGp(d->dev, MAT_GPUCSR_ROWS_WHAT, GpSpgemmNumeric(d->plan[2], &d->selection, &d->stacked, &d->result));
  PetscFunctionReturn(PETSC_SUCCESS);
}
