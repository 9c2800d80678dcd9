/* Exchanges of indices between ranks, and lists of rows and columns, for products of sparse parallel matrices. */
#include "mat/impls/gpucsr/parallel/mpigpucsrrows.h"

/* Creates the list of the ranks with which this rank exchanges entries. count: number of entries of each rank of the communicator. */
PetscErrorCode MatGPUCSRPeersCreate_Private(MPI_Comm comm, const PetscInt64 count[], GpPeers *peers)
{
  PetscMPIInt size;
  PetscInt64  sum = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  *peers = (GpPeers){0};
  PetscCall(PetscMalloc2(size, &peers->rank, size + 1, &peers->offset));
  peers->offset[0] = 0;
  for (PetscMPIInt r = 0; r < size; r++) {
    if (!count[r]) continue;
    sum += count[r];
    PetscCheck(sum <= GP_OP_MOST, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "This rank would exchange %" PetscInt64_FMT " nonzeros with others for a sparse product; it can exchange at most %" PetscInt64_FMT ": use more processes", sum,
               (PetscInt64)GP_OP_MOST);
    peers->rank[peers->n]     = r;
    peers->offset[++peers->n] = (int32_t)sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends to the peers `to` what `from` has for them, and receives from the peers `by`. */
PetscErrorCode MatGPUCSRPeersExchange_Private(Mat A, const GpPeers *to, const PetscInt from[], const GpPeers *by, PetscInt into[])
{
  MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  MPI_Request *request;
  PetscMPIInt  tag, k = 0;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetNewTag((PetscObject)A, &tag));
  PetscCall(PetscMalloc1(to->n + by->n, &request));
  for (int p = 0; p < by->n; p++) PetscCallMPI(MPI_Irecv(into + by->offset[p], by->offset[p + 1] - by->offset[p], MPIU_INT, by->rank[p], tag, comm, &request[k++]));
  for (int p = 0; p < to->n; p++) PetscCallMPI(MPI_Isend(from + to->offset[p], to->offset[p + 1] - to->offset[p], MPIU_INT, to->rank[p], tag, comm, &request[k++]));
  PetscCallMPI(MPI_Waitall(k, request, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree(request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out which ranks send to this rank, and receives. count: number of entries for each rank, those of `to`. */
PetscErrorCode MatGPUCSRPeersReceive_Private(Mat A, const GpPeers *to, const PetscInt64 count[], const PetscInt from[], GpPeers *by, PetscInt *into[])
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt size;
  PetscInt64 *other;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(size, &other));
  PetscCallMPI(MPI_Alltoall(count, 1, MPIU_INT64, other, 1, MPIU_INT64, comm));
  PetscCall(MatGPUCSRPeersCreate_Private(comm, other, by));
  PetscCall(PetscFree(other));
  PetscCall(PetscMalloc1(by->offset[by->n], into));
  PetscCall(MatGPUCSRPeersExchange_Private(A, to, from, by, *into));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the ascending list of the columns `start` to end - 1 and of the others outside this range. */
PetscErrorCode MatGPUCSRColumnsCreate_Private(PetscInt start, PetscInt end, PetscInt nother, const PetscInt other[], PetscInt *n, PetscInt *column[])
{
  PetscInt *outside, many = 0, at = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nother, &outside));
  for (PetscInt k = 0; k < nother; k++) {
    if (other[k] < start || other[k] >= end) outside[many++] = other[k];
  }
  PetscCall(PetscSortRemoveDupsInt(&many, outside));
  *n = many + end - start;
  PetscCheck(*n <= GP_OP_MOST, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The rows of this rank in a sparse product have %" PetscInt_FMT " columns; they can have at most %" PetscInt64_FMT ": use more processes", *n, (PetscInt64)GP_OP_MOST);
  PetscCall(PetscMalloc1(*n, column));
  while (at < many && outside[at] < start) {
    (*column)[at] = outside[at];
    at++;
  }
  for (PetscInt j = start; j < end; j++) (*column)[at + j - start] = j;
  for (PetscInt k = at; k < many; k++) (*column)[k + end - start] = outside[k];
  PetscCall(PetscFree(outside));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRColumnsRenumber_Private(PetscInt start, PetscInt end, PetscInt n, const PetscInt column[], PetscInt many, PetscInt columns[])
{
  PetscInt before = 0;

  PetscFunctionBegin;
  while (before < n && column[before] < start) before++;
  for (PetscInt k = 0; k < many; k++) {
    const PetscInt j = columns[k];

    if (j >= start && j < end) columns[k] = before + j - start;
    else PetscCall(PetscFindInt(j, n, column, &columns[k]));
    PetscCheck(columns[k] >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Column %" PetscInt_FMT " is missing", j);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the rows of both blocks with ascending global columns. ghost: global columns of the off-diagonal block. blockcolumn: receives the columns in the blocks, those of the off-diagonal block after
   those of the diagonal block; or NULL. */
PetscErrorCode MatGPUCSRListRows_Private(Mat A, Mat block[2], const PetscInt ghost[], MatGPUCSRList *L, PetscInt blockcolumn[])
{
  const PetscInt *rowptr[2], *col[2], start = A->cmap->rstart, n = A->cmap->n, m = A->rmap->n, none[1] = {0};
  PetscInt        to = 0;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) {
    PetscCall(MatSeqAIJGetCSRAndMemType(block[b], &rowptr[b], &col[b], NULL, NULL));
    if (!m) rowptr[b] = none;
  }
  L->m         = m;
  L->rowptr[0] = 0;
  for (PetscInt i = 0; i < m; i++) {
    PetscInt o = rowptr[1][i];

    for (PetscInt d = rowptr[0][i]; d <= rowptr[0][i + 1]; d++) { /* the last pass has the columns after the diagonal block */
      const PetscBool last = (PetscBool)(d == rowptr[0][i + 1]);

      for (; o < rowptr[1][i + 1] && (last || ghost[col[1][o]] < start); o++) {
        L->column[to]   = ghost[col[1][o]];
        L->position[to] = (int32_t)(rowptr[0][m] + o);
        if (blockcolumn) blockcolumn[to] = n + col[1][o];
        to++;
      }
      if (last) break;
      L->column[to]   = start + col[0][d];
      L->position[to] = (int32_t)d;
      if (blockcolumn) blockcolumn[to] = col[0][d];
      to++;
    }
    L->rowptr[i + 1] = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
