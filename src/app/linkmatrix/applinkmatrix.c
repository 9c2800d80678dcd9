/* Assembles the matrix of a graph from its links, on any number of processes. */
#include "app/linkmatrix/applinkmatrix.h"
#include <gpucsr.h>

enum {
  PIECES   = 1 << 16, /* upper bound on the number of pieces of rows that LinkMatrixPartitionRows() assigns to processes */
  ROW_COST = 4        /* cost of a row in links: the vector operations of an iteration take as long for a row as the product for this many links */
};

static PetscLogEvent GraphRead, GraphNames, GraphRows, GraphMatrix;

/* Registers the events of loading, for -log_view. */
PetscErrorCode GpAppLinkMatrixRegisterEvents(void)
{
  PetscClassId id;

  PetscFunctionBegin;
  PetscCall(PetscClassIdRegister("Graph", &id));
  PetscCall(PetscLogEventRegister("GraphRead", id, &GraphRead));
  PetscCall(PetscLogEventRegister("GraphNames", id, &GraphNames));
  PetscCall(PetscLogEventRegister("GraphRows", id, &GraphRows));
  PetscCall(PetscLogEventRegister("GraphMatrix", id, &GraphMatrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assigns consecutive rows to each process, so that all processes have about the same work. Equal numbers of rows would not do: in graphs with a
   power law few rows have most of the links, and in R-MAT graphs these rows are neighbours. */
static PetscErrorCode LinkMatrixPartitionRows(MPI_Comm comm, const GpAppLinks *L, PetscInt N, PetscLayout *layout)
{
  const PetscInt rows = N / PIECES + 1, pieces = (N + rows - 1) / rows;
  PetscInt64    *work, before = 0, total = 0;
  PetscMPIInt    rank, size;
  PetscInt       m = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscCalloc1(pieces, &work));
  for (PetscInt64 k = 0; k < L->n && size > 1; k++) work[L->to[k] / rows]++;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, work, (PetscMPIInt)pieces, MPIU_INT64, MPI_SUM, comm));
  for (PetscInt p = 0; p < pieces; p++) total += work[p] += ROW_COST * PetscMin(rows, N - p * rows);
  for (PetscInt p = 0; p < pieces; before += work[p++])
    if ((before + work[p] / 2) * size / total == rank) m += PetscMin(rows, N - p * rows);
  PetscCall(PetscFree(work));
  PetscCall(PetscLayoutCreateFromSizes(comm, m, N, 1, layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends every link to the process that owns its row. The row of a link is the node it leads to. */
static PetscErrorCode LinkMatrixExchangeLinks(MPI_Comm comm, PetscLayout layout, GpAppLinks *L)
{
  const PetscBool weighted = (PetscBool)(L->weight != NULL);
  GpAppLinks      mine = {0}, out = {0};
  PetscMPIInt     size, *nsend, *sendat, *nrecv, *recvat, *owner;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc5(size, &nsend, size + 1, &sendat, size, &nrecv, size + 1, &recvat, L->n + 1, &owner));
  PetscCall(GpAppLinksReserve(&out, L->n + 1, weighted));
  PetscCall(PetscArrayzero(nsend, size));
  for (PetscInt64 k = 0; k < L->n; k++) {
    PetscCall(PetscLayoutFindOwner(layout, (PetscInt)L->to[k], &owner[k]));
    PetscCheck(nsend[owner[k]] < PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "More than 2^31 - 1 links to send from one process to another: use more processes");
    nsend[owner[k]]++;
  }
  PetscCallMPI(MPI_Alltoall(nsend, 1, MPI_INT, nrecv, 1, MPI_INT, comm));
  sendat[0] = recvat[0] = 0;
  for (PetscMPIInt r = 0; r < size; r++) {
    PetscCall(GpCompatMPIIntCast((PetscInt64)sendat[r] + nsend[r], &sendat[r + 1]));
    PetscCall(GpCompatMPIIntCast((PetscInt64)recvat[r] + nrecv[r], &recvat[r + 1]));
  }
  for (PetscInt64 k = 0; k < L->n; k++) {
    const PetscMPIInt at = sendat[owner[k]]++;

    out.from[at] = L->from[k];
    out.to[at]   = L->to[k];
    if (weighted) out.weight[at] = L->weight[k];
  }
  for (PetscMPIInt r = 0; r < size; r++) sendat[r] -= nsend[r];
  PetscCall(GpAppLinksDestroy(L));
  PetscCall(GpAppLinksReserve(&mine, PetscMax(recvat[size], 1), weighted));
  mine.n = recvat[size];
  PetscCallMPI(MPI_Alltoallv(out.from, nsend, sendat, MPIU_INT64, mine.from, nrecv, recvat, MPIU_INT64, comm));
  PetscCallMPI(MPI_Alltoallv(out.to, nsend, sendat, MPIU_INT64, mine.to, nrecv, recvat, MPIU_INT64, comm));
  if (weighted) PetscCallMPI(MPI_Alltoallv(out.weight, nsend, sendat, MPIU_REAL, mine.weight, nrecv, recvat, MPIU_REAL, comm));
  *L = mine;
  PetscCall(PetscFree5(nsend, sendat, nrecv, recvat, owner));
  PetscCall(GpAppLinksDestroy(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a matrix of the type that the options select. The default is double storage if single precision would change a weight. */
static PetscErrorCode LinkMatrixCreateMatrix(MPI_Comm comm, PetscInt m, PetscInt n, PetscInt N, const PetscInt i[], const PetscInt j[], const PetscScalar a[], Mat *A)
{
  PetscMPIInt rounds = 0, any;
  PetscBool   assembled, ours;
  PetscInt    first;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < i[m] && !rounds; k++) rounds = (PetscScalar)(float)a[k] != a[k];
  PetscCallMPI(MPI_Allreduce(&rounds, &any, 1, MPI_INT, MPI_MAX, comm));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, m, n, PETSC_DETERMINE, N));
  PetscCall(MatSetType(*A, MATGPUCSR));
  if (any) PetscCall(MatGPUCSRSetStorage(*A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)*A, &ours, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  if (ours) PetscCall(MatGPUCSRSetTranspose(*A, MAT_GPUCSR_TRANSPOSE_LAZY)); /* PageRank does not multiply by the transpose */
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, i, j, a));                      /* each of these two calls applies to its own types and is ignored by all others */
  PetscCall(MatMPIAIJSetPreallocationCSR(*A, i, j, a));
  PetscCall(MatAssembled(*A, &assembled));
  if (ours) PetscCall(MatGPUCSRUpload(*A));
  if (assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, NULL));
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt row = first + r;

    PetscCall(MatSetValues(*A, 1, &row, i[r + 1] - i[r], j + i[r], a + i[r], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a matrix for each row block from the local compressed rows. */
static PetscErrorCode LinkMatrixCreateBlocks(PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[], GpAppLinkMatrix *G)
{
  PetscInt *begin;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(G->blocks, &G->A));
  PetscCall(PetscMalloc1(m + 1, &begin));
  for (PetscInt b = 0; b < G->blocks; b++) {
    const PetscInt first = GpAppLinkBlockStart(m, G->blocks, b), n = GpAppLinkBlockStart(m, G->blocks, b + 1) - first;

    for (PetscInt k = 0; k <= n; k++) begin[k] = i[first + k] - i[first];
    PetscCall(LinkMatrixCreateMatrix(G->comm, n, m, G->N, begin, j + i[first], a + i[first], &G->A[b]));
  }
  PetscCall(PetscFree(begin));
  G->links = G->A[0];
  if (G->blocks > 1) PetscCall(MatCreateNest(G->comm, G->blocks, NULL, 1, NULL, G->A, &G->links));
  else PetscCall(PetscObjectReference((PetscObject)G->links));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies -count_duplicates, -undirected and -loops to the links. */
static PetscErrorCode LinkMatrixApplyOptions(const GpAppLinkOptions *options, GpAppLinks *L)
{
  const PetscInt64 n = L->n;

  PetscFunctionBegin;
  if (options->count_duplicates && !L->weight) {
    PetscCall(GpAppLinksReserve(L, 1, PETSC_TRUE));
    for (PetscInt64 k = 0; k < n; k++) L->weight[k] = 1.0;
  }
  if (options->undirected) PetscCall(GpAppLinksMirror(L));
  if (!options->keep_loops) {
    const PetscInt64 all = L->n;

    L->n = 0;
    for (PetscInt64 k = 0; k < all; k++)
      if (L->from[k] != L->to[k]) GpAppLinksAppend(L, L->from[k], L->to[k], L->weight ? L->weight[k] : 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the matrices of a graph from the links of all processes, and frees the links. nodes: number of nodes, if the links number them from 0. 0: the
   nodes are the identities that occur in the links. On entry G->file is set, and G->idbase if nodes is not 0. */
PetscErrorCode GpAppLinkMatrixCreate(MPI_Comm comm, const GpAppLinkOptions *options, GpAppLinks *L, PetscInt64 nodes, GpAppLinkMatrix *G)
{
  PetscInt64   local;
  PetscLayout  layout;
  PetscInt     first, m, *i, *j;
  PetscScalar *a;

  PetscFunctionBegin;
  G->comm = comm;
  if (nodes) {
    PetscCheck(nodes <= PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE, "%s: %" PetscInt64_FMT " nodes do not fit PetscInt: use a PETSc with 64-bit indices", G->file, nodes);
    G->N = (PetscInt)nodes;
  } else {
    PetscCall(PetscLogEventBegin(GraphNames, 0, 0, 0, 0));
    PetscCall(GpAppLinkMatrixRename(comm, L, G));
    PetscCall(PetscLogEventEnd(GraphNames, 0, 0, 0, 0));
  }
  PetscCall(PetscLogEventBegin(GraphRows, 0, 0, 0, 0));
  PetscCall(LinkMatrixApplyOptions(options, L));
  if (options->order == GP_LINK_ORDER_DEGREE) PetscCall(GpAppLinkMatrixReorder(comm, L, G));
  G->weighted = (PetscBool)(L->weight != NULL);
  PetscCall(LinkMatrixPartitionRows(comm, L, G->N, &layout));
  PetscCall(PetscLayoutGetRange(layout, &first, NULL));
  PetscCall(PetscLayoutGetLocalSize(layout, &m));
  PetscCheck(m <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s: %" PetscInt_FMT " nodes, of which %" PetscInt_FMT " belong to one process, but a process can have at most %d: use more processes", G->file, G->N, m, INT32_MAX);
  G->blocks = PetscMax(options->blocks, 1);
  if (G->blocks > 1) PetscCall(GpAppLinkMatrixInterleave(layout, G->blocks, L, G));
  PetscCall(LinkMatrixExchangeLinks(comm, layout, L));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(GpAppLinksCompress(L, G->N, first, m, &i, &j, &a));
  PetscCall(PetscLogEventEnd(GraphRows, 0, 0, 0, 0));
  local = i[m];
  PetscCallMPI(MPI_Allreduce(&local, &G->M, 1, MPIU_INT64, MPI_SUM, comm));
  PetscCall(PetscLogEventBegin(GraphMatrix, 0, 0, 0, 0));
  PetscCall(LinkMatrixCreateBlocks(m, i, j, a, G));
  PetscCall(PetscLogEventEnd(GraphMatrix, 0, 0, 0, 0));
  PetscCall(PetscFree2(j, a));
  PetscCall(PetscFree(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a graph from a file and creates its matrices. */
PetscErrorCode GpAppLinkMatrixLoad(MPI_Comm comm, const char file[], const GpAppLinkOptions *options, GpAppLinkMatrix *G)
{
  GpAppGraph R;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(G, sizeof(*G)));
  PetscCall(PetscStrncpy(G->file, file, sizeof(G->file)));
  PetscCall(PetscLogEventBegin(GraphRead, 0, 0, 0, 0));
  PetscCall(GpAppGraphRead(comm, file, &options->spec, &R));
  PetscCall(PetscLogEventEnd(GraphRead, 0, 0, 0, 0));
  G->idbase = R.base;
  if (R.named) G->names = R.names;
  PetscCall(GpAppLinkMatrixCreate(comm, options, &R.links, R.nodes, G));
  PetscCall(GpAppGraphDescribe(&R, G->N, G->read, sizeof(G->read)));
  if (!R.named) PetscCall(GpAppNamesDestroy(&R.names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppLinkMatrixCreateVecs(const GpAppLinkMatrix *G, PetscInt n, Vec **x)
{
  Vec v;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(G->A[0], &v, NULL));
  PetscCall(VecDuplicateVecs(v, n, x));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppLinkMatrixDestroy(GpAppLinkMatrix *G)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(G->id));
  PetscCall(GpAppNamesDestroy(&G->names));
  PetscCall(PetscFree2(G->row, G->node));
  PetscCall(MatDestroy(&G->links));
  for (PetscInt b = 0; b < G->blocks; b++) PetscCall(MatDestroy(&G->A[b]));
  PetscCall(PetscFree(G->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
