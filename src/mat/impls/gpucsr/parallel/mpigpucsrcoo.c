/* MatSetValuesCOO() of a parallel matrix with values in device memory.  Entries in rows of other ranks are sent to these by the halo exchange of
   products.  Then each rank adds its own and the received entries of its two blocks on its device. */
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

/* Temporary data for setting up the exchange.  Index 0 of an array of two: entries to be sent; index 1: entries to be received. */
typedef struct {
  PetscMPIInt  size;     /* number of ranks; 0 if no rank sends entries */
  PetscMPIInt *owner;    /* [C->n] rank that owns the row of each entry; -1: this rank, or the entry is ignored */
  PetscMPIInt *count[2]; /* [size] number of entries sent to, or received from, each rank */
  PetscInt     n[2];     /* total number of entries */
  GpPeers      peers[2]; /* ranks with which entries are exchanged */
  int32_t     *index;    /* [n[0]] numbers of the entries to be sent, by rank */
  PetscInt    *ij[2];    /* [2 n] global row and column of each entry, alternating */
  PetscInt    *i, *j;    /* [C->n + n[1]] local rows and columns in a block */
  MPI_Request *request;  /* [peers[0].n + peers[1].n] */
} MatGPUCSRCooPlan;

static PetscErrorCode MatMPIAIJGPUCSRCooPlanDestroy(MatGPUCSRCooPlan *P)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(P->owner, P->count[0], P->count[1]));
  for (int s = 0; s < 2; s++) {
    PetscCall(PetscFree2(P->peers[s].rank, P->peers[s].offset));
    PetscCall(PetscFree(P->ij[s]));
  }
  PetscCall(PetscFree(P->index));
  PetscCall(PetscFree(P->request));
  PetscCall(PetscFree2(P->i, P->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMPIAIJGPUCSRCooCount(Mat A, MatGPUCSRCoo C, MatGPUCSRCooPlan *P)
{
  MPI_Comm   comm = PetscObjectComm((PetscObject)A);
  PetscInt64 n[2] = {0, 0};
  int        mine[2], most[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &P->size));
  PetscCall(PetscMalloc3(C->n, &P->owner, P->size, &P->count[0], P->size, &P->count[1]));
  PetscCall(PetscArrayzero(P->count[0], P->size));
  for (PetscCount e = 0; e < C->n; e++) {
    P->owner[e] = -1;
    if (C->i[e] < 0 || C->j[e] < 0 || (C->i[e] >= A->rmap->rstart && C->i[e] < A->rmap->rend)) continue;
    PetscCall(PetscLayoutFindOwner(A->rmap, C->i[e], &P->owner[e]));
    P->count[0][P->owner[e]]++;
  }
  PetscCallMPI(MPI_Alltoall(P->count[0], 1, MPI_INT, P->count[1], 1, MPI_INT, comm));
  for (int s = 0; s < 2; s++) {
    for (PetscMPIInt r = 0; r < P->size; r++) n[s] += P->count[s][r];
  }
  mine[0] = n[0] > 0;
  mine[1] = C->n + n[1] >= INT32_MAX;
  PetscCallMPI(MPI_Allreduce(mine, most, 2, MPI_INT, MPI_MAX, comm));
  C->never = (PetscBool)most[1];
  for (int s = 0; s < 2; s++) P->n[s] = most[1] ? 0 : (PetscInt)n[s];
  if (!most[0]) P->size = 0; /* no rank sends entries */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out whether MAT_IGNORE_OFF_PROC_ENTRIES is set, which PETSc has no function to query: lets PETSc assemble with value 1 for entries in
   rows of other ranks and 0 for all others.  If the result is zero, such entries are ignored. */
static PetscErrorCode MatMPIAIJGPUCSRCooIsIgnored(Mat A, MatGPUCSRCoo C, const MatGPUCSRCooPlan *P, Mat const block[2], PetscBool *ignored)
{
  PetscScalar *v;
  int          mine = 0, any;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(C->n, &v));
  for (PetscCount e = 0; e < C->n; e++) v[e] = P->owner[e] >= 0 ? 1 : 0;
  PetscCall((*((Mat_GPUCSR *)A->spptr)->setvaluescoo)(A, v, INSERT_VALUES));
  PetscCall(PetscFree(v));
  for (int b = 0; b < 2; b++) {
    PetscReal most;

    PetscCall(MatNorm(block[b], NORM_FROBENIUS, &most));
    if (most > 0) mine = 1;
  }
  PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  *ignored = (PetscBool)!any;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the ranks with which entries are exchanged in ascending order, and the entries for each in the order in which they were given. */
static PetscErrorCode MatMPIAIJGPUCSRCooSetPeers(MatGPUCSRCoo C, MatGPUCSRCooPlan *P)
{
  int32_t *next = P->count[0];

  PetscFunctionBegin;
  for (int s = 0; s < 2; s++) {
    GpPeers *peers = &P->peers[s];

    PetscCall(PetscMalloc2(P->size, &peers->rank, P->size + 1, &peers->offset));
    peers->offset[0] = 0;
    for (PetscMPIInt r = 0; r < P->size; r++) {
      if (!P->count[s][r]) continue;
      peers->rank[peers->n]       = r;
      peers->offset[peers->n + 1] = peers->offset[peers->n] + P->count[s][r];
      peers->n++;
    }
  }
  for (int p = 0; p < P->peers[0].n; p++) next[P->peers[0].rank[p]] = P->peers[0].offset[p];
  PetscCall(PetscMalloc1(P->n[0], &P->index));
  for (int s = 0; s < 2; s++) PetscCall(PetscMalloc1(2 * (size_t)P->n[s], &P->ij[s]));
  for (PetscCount e = 0; e < C->n; e++) {
    if (P->owner[e] < 0) continue;
    const int32_t k = next[P->owner[e]]++;

    P->index[k]         = (int32_t)e;
    P->ij[0][2 * k]     = C->i[e];
    P->ij[0][2 * k + 1] = C->j[e];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMPIAIJGPUCSRCooExchangeIndices(Mat A, MatGPUCSRCooPlan *P)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt tag, k = 0;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetNewTag((PetscObject)A, &tag));
  PetscCall(PetscMalloc1(P->peers[0].n + P->peers[1].n, &P->request));
  for (int s = 1; s >= 0; s--) {
    const GpPeers *peers = &P->peers[s];

    for (int p = 0; p < peers->n; p++) {
      PetscInt   *at = P->ij[s] + 2 * (size_t)peers->offset[p];
      PetscMPIInt n;

      PetscCall(GpCompatMPIIntCast(2 * (PetscInt64)(peers->offset[p + 1] - peers->offset[p]), &n));
      if (s) PetscCallMPI(MPI_Irecv(at, n, MPIU_INT, peers->rank[p], tag, comm, &P->request[k++]));
      else PetscCallMPI(MPI_Isend(at, n, MPIU_INT, peers->rank[p], tag, comm, &P->request[k++]));
    }
  }
  PetscCallMPI(MPI_Waitall(k, P->request, MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the local row and column in block b of an entry in a row of this rank; -1 if the entry is in the other block or ignored. */
static PetscErrorCode MatMPIAIJGPUCSRCooLocal(Mat A, int b, PetscInt ncolumns, const PetscInt columns[], PetscInt i, PetscInt j, PetscInt *row, PetscInt *column)
{
  const PetscBool diagonal = (PetscBool)(j >= A->cmap->rstart && j < A->cmap->rend);

  PetscFunctionBegin;
  *row = *column = -1;
  if (i < 0 || j < 0 || diagonal != (PetscBool)!b) PetscFunctionReturn(PETSC_SUCCESS);
  *row    = i - A->rmap->rstart;
  *column = j - A->cmap->rstart;
  if (b) PetscCall(PetscFindInt(j, ncolumns, columns, column));
  PetscCheck(*column >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "row %" PetscInt_FMT ", column %" PetscInt_FMT ": not in the pattern that MatSetPreallocationCOO() created; call it again after the pattern has changed", i, j);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMPIAIJGPUCSRCooSetBlocks(Mat A, MatGPUCSRCoo C, MatGPUCSRCooPlan *P, Mat const block[2], const PetscInt columns[])
{
  const PetscInt ncolumns = block[1]->cmap->n, n = (PetscInt)C->n;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n + P->n[1], &P->i, n + P->n[1], &P->j));
  for (int b = 0; b < 2; b++) {
    for (PetscInt e = 0; e < n; e++) PetscCall(MatMPIAIJGPUCSRCooLocal(A, b, ncolumns, columns, P->owner[e] < 0 ? C->i[e] : -1, C->j[e], &P->i[e], &P->j[e]));
    for (PetscInt e = 0; e < P->n[1]; e++) PetscCall(MatMPIAIJGPUCSRCooLocal(A, b, ncolumns, columns, P->ij[1][2 * e], P->ij[1][2 * e + 1], &P->i[n + e], &P->j[n + e]));
    PetscCall(MatSeqAIJGPUCSRCooSetUp_Private(block[b], n + P->n[1], P->i, P->j, &C->sum[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMPIAIJGPUCSRCooSetUp(Mat A, MatGPUCSRCoo C, MatGPUCSRCooPlan *P, Mat const block[2], const PetscInt columns[])
{
  PetscBool ignored = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGPUCSRCooCount(A, C, P));
  if (C->never) PetscFunctionReturn(PETSC_SUCCESS);
  if (P->size) PetscCall(MatMPIAIJGPUCSRCooIsIgnored(A, C, P, block, &ignored));
  if (ignored) P->size = P->n[0] = P->n[1] = 0;
  if (P->size) {
    PetscCall(MatMPIAIJGPUCSRCooSetPeers(C, P));
    PetscCall(MatMPIAIJGPUCSRCooExchangeIndices(A, P));
  }
  PetscCall(MatMPIAIJGPUCSRCooSetBlocks(A, C, P, block, columns));
  if (P->size) PetscCall(MatGPUCSRHaloCreateFromPeers_Private(A, P->peers, &P->index, &((Mat_MPIAIJGPUCSR *)A->spptr)->coohalo));
  C->ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetValuesCOO_MPIAIJGPUCSR_Device(Mat A, const PetscScalar entries[])
{
  Mat_MPIAIJGPUCSR *g = (Mat_MPIAIJGPUCSR *)A->spptr;
  MatGPUCSRCoo      C = g->common.coo;
  Mat               block[2];
  const PetscInt   *columns;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, &columns));
  if (!C->ready) {
    MatGPUCSRCooPlan P = {0};
    PetscErrorCode   err;

    PetscCall(MatGPUCSRHaloDestroy_Private(&g->coohalo)); /* of the previous indices */
    PetscCall(MatGPUCSRCooReset_Private(C));              /* frees what a failed attempt has left */
    err = MatMPIAIJGPUCSRCooSetUp(A, C, &P, block, columns);
    PetscCall(MatMPIAIJGPUCSRCooPlanDestroy(&P));
    PetscCall(err);
    PetscCall(PetscFree2(C->i, C->j));
    if (C->never) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (g->coohalo) {
    PetscCall(MatGPUCSRHaloBegin_Private(g->coohalo, 1, &(MatGPUCSRVec){.device = (double *)entries}, (double *const *)&entries));
    PetscCall(MatGPUCSRHaloEnd_Private(g->coohalo));
  }
  for (int b = 0; b < 2; b++) PetscCall(MatSeqAIJGPUCSRCooAssemble_Private(block[b], &C->sum[b], C->n, entries, g->coohalo ? g->coohalo->side[1].device : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
