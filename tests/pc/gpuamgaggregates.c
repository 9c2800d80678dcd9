static char help[] = "The aggregates of PCGPUAMG on graphs with random edges, and the same set-up on the device.\n\n";

#include "app/program/apphash.h"
#include "gpucsr.h"
#include "pc/aggregation/gpagg.h"
#include "pc/impls/gpuamg/amg.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "sys/gpucsrsys.h"
#include <petscmat.h>

/* A random matrix with symmetric pattern of n blocks with about `degree` neighbours each; every eleventh block is alone. */
static PetscErrorCode CreateRandom(PetscInt n, PetscInt block, PetscInt degree, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n * block, n * block, 4 * degree * block + block, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt d = 0; d < block; d++) PetscCall(MatSetValue(*A, i * block + d, i * block + d, 1, INSERT_VALUES));
    for (PetscInt e = 0; e < degree / 2 && i % 11; e++) {
      const uint64_t hash = GpAppHash64((uint64_t)(i * degree + e));
      const PetscInt j = (PetscInt)(hash % (uint64_t)n), a = i * block + (PetscInt)(hash >> 40) % block, b = j * block;

      if (i == j || !(j % 11)) continue;
      PetscCall(MatSetValue(*A, a, b, (hash >> 20 & 7) ? 0.1 * (double)(1 + (hash >> 20 & 7)) : 0.01, INSERT_VALUES));
      PetscCall(MatSetValue(*A, b, a, (hash >> 24 & 3) ? 0.5 : 0.01, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An aggregate is a root, all its neighbours, and neighbours of those.  Every connected node is in one. */
static PetscErrorCode CheckAggregates(const GpAmgGraph *g, const GpAmgAggregates *a)
{
  PetscInt total = 0;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < a->count; c++) {
    PetscBool star = PETSC_FALSE;

    total += a->ptr[c + 1] - a->ptr[c];
    PetscCheck(a->ptr[c + 1] - a->ptr[c] >= 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Aggregate %" PetscInt_FMT " has fewer than two nodes", c);
    for (PetscInt e = a->ptr[c]; e < a->ptr[c + 1] && !star; e++) { /* is this node the root? */
      const PetscInt i = a->row[e];

      star = PETSC_TRUE;
      for (PetscInt k = g->rowptr[i]; k < g->rowptr[i + 1]; k++) star = (PetscBool)(star && a->of[g->col[k]] == c);
    }
    PetscCheck(star, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Aggregate %" PetscInt_FMT " has no node with all its neighbours", c);
  }
  for (PetscInt i = 0; i < g->n; i++) {
    const PetscBool alone = (PetscBool)(g->rowptr[i] == g->rowptr[i + 1]);

    PetscCheck(alone == (PetscBool)(a->of[i] < 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Node %" PetscInt_FMT " is in aggregate %" PetscInt_FMT, i, a->of[i]);
    if (alone) total++;
  }
  PetscCheck(total == g->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The aggregates have %" PetscInt_FMT " of %" PetscInt_FMT " nodes", total, g->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The results of the set-up on a device, in host memory. */
typedef struct {
  int32_t      edges, count, columns, nnz;
  PetscInt    *rowptr, *col, *prowptr, *pcol; /* of the graph, of the tentative prolongator */
  int32_t     *of, *empty;
  double      *weight, *value, *next;
  GpAggMeasure sums;
} DeviceResult;

/* Downloads n items to new memory. */
static PetscErrorCode Fetch(GpDev dev, const void *device, size_t bytes, void *host)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(bytes, (void **)host));
  PetscCallGp(dev, "downloading", bytes ? GpDevDownload(dev, *(void **)host, device, bytes) : GP_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FetchIndices(GpDev dev, const int32_t *device, size_t n, PetscInt **host)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, host));
  PetscCallGp(dev, "downloading", n ? GpCsrGetIndices(dev, device, n, *host) : GP_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Near-null space: k vectors of which the last one is twice the first one on every third node. */
static void FillBasis(PetscInt n, PetscInt k, double B[])
{
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt v = 0; v < k; v++) B[i * k + v] = v && v == k - 1 && i % 3 == 0 ? 2 * B[i * k] : (double)(GpAppHash64((uint64_t)(i * k + v)) % 1000) / 500 - 1;
  }
}

static PetscErrorCode RunDevice(GpDev dev, PetscInt rows, PetscInt block, PetscInt k, const PetscInt rowptr[], const PetscInt col[], const PetscScalar val[], DeviceResult *r)
{
  GpCsr           A, graph, P0;
  GpAggAggregates a;
  GpLoss          loss;
  double         *B, *device, *next;
  int32_t        *empty;
  const size_t    n = (size_t)rows, bytes = n * (size_t)k * sizeof(double);

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n * (size_t)k, &B));
  FillBasis(rows, k, B);
  PetscCallGp(dev, "matrix", GpCsrCreate(dev, GP_F64, (int32_t)rows, (int32_t)rows, (int32_t)rowptr[rows], &A));
  PetscCallGp(dev, "pattern", GpCsrSetPattern(&A, rowptr, col));
  PetscCallGp(dev, "values", GpCsrSetValues(&A, val, &loss));
  PetscCallGp(dev, "memory", GpDevAlloc(dev, n * sizeof(double), &r->sums.diagonal));
  PetscCallGp(dev, "memory", GpDevAlloc(dev, n * sizeof(double), &r->sums.near));
  PetscCallGp(dev, "memory", GpDevAlloc(dev, bytes, &device));
  PetscCallGp(dev, "basis", GpDevUpload(dev, device, B, bytes));
  PetscCallGp(dev, "rows", GpAggMeasureRows(&A, &r->sums));
  PetscCallGp(dev, "graph", GpAggCreateGraph(&A, (int32_t)block, 0.02, &graph));
  PetscCallGp(dev, "aggregates", GpAggAggregate(&graph, &a));
  r->count   = a.count;
  r->columns = a.count * (int32_t)k;
  r->edges   = graph.nnz;
  PetscCallGp(dev, "memory", GpDevAlloc(dev, (size_t)r->columns * (size_t)k * sizeof(double), &next));
  PetscCallGp(dev, "memory", GpDevAlloc(dev, (size_t)r->columns * sizeof(int32_t), &empty));
  PetscCallGp(dev, "prolongator", GpAggCreateTentative(dev, &a, (int32_t)block, (int32_t)k, r->sums.near, device, next, empty, &P0));
  r->nnz = P0.nnz;
  PetscCall(FetchIndices(dev, graph.rowptr, n / (size_t)block + 1, &r->rowptr));
  PetscCall(FetchIndices(dev, graph.col, (size_t)graph.nnz, &r->col));
  PetscCall(Fetch(dev, graph.val, (size_t)graph.nnz * sizeof(double), &r->weight));
  PetscCall(Fetch(dev, a.of, n / (size_t)block * sizeof(int32_t), &r->of));
  PetscCall(FetchIndices(dev, P0.rowptr, n + 1, &r->prowptr));
  PetscCall(FetchIndices(dev, P0.col, (size_t)P0.nnz, &r->pcol));
  PetscCall(Fetch(dev, P0.val, (size_t)P0.nnz * sizeof(double), &r->value));
  PetscCall(Fetch(dev, next, (size_t)r->columns * (size_t)k * sizeof(double), &r->next));
  PetscCall(Fetch(dev, empty, (size_t)r->columns * sizeof(int32_t), &r->empty));
  GpDevFree(dev, &next, (size_t)r->columns * (size_t)k * sizeof(double));
  GpDevFree(dev, &empty, (size_t)r->columns * sizeof(int32_t));
  GpDevFree(dev, &device, bytes);
  GpDevFree(dev, &r->sums.diagonal, n * sizeof(double));
  GpDevFree(dev, &r->sums.near, n * sizeof(double));
  GpAggDestroyAggregates(dev, &a);
  GpCsrDestroy(&graph);
  GpCsrDestroy(&P0);
  GpCsrDestroy(&A);
  PetscCall(PetscFree(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeResult(DeviceResult *r)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(r->rowptr));
  PetscCall(PetscFree(r->col));
  PetscCall(PetscFree(r->prowptr));
  PetscCall(PetscFree(r->pcol));
  PetscCall(PetscFree(r->of));
  PetscCall(PetscFree(r->empty));
  PetscCall(PetscFree(r->weight));
  PetscCall(PetscFree(r->value));
  PetscCall(PetscFree(r->next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph and the aggregates of the device are those of amg.h, and its other results have the bits of the host backend. */
static PetscErrorCode CompareDevice(PetscInt rows, PetscInt block, PetscInt k, const PetscInt rowptr[], const PetscInt col[], const PetscScalar val[], const GpAmgGraph *g, const GpAmgAggregates *a)
{
  GpDev        dev, host;
  DeviceResult r, h;
  PetscBool    same = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCheck(!GpDevOpen(GP_DEV_HOST, 0, &host, NULL, 0), PETSC_COMM_SELF, PETSC_ERR_LIB, "The host device cannot be opened");
  PetscCall(RunDevice(dev, rows, block, k, rowptr, col, val, &r));
  PetscCall(RunDevice(host, rows, block, k, rowptr, col, val, &h));
  PetscCheck(r.edges == g->rowptr[g->n] && r.count == a->count, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The device has %d edges and %d aggregates, not %" PetscInt_FMT " and %" PetscInt_FMT, (int)r.edges, (int)r.count, g->rowptr[g->n], a->count);
  PetscCall(PetscArraycmp(r.rowptr, g->rowptr, g->n + 1, &same));
  if (same) PetscCall(PetscArraycmp(r.col, g->col, r.edges, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The graph of the device has another pattern");
  for (PetscInt e = 0; e < r.edges; e++) PetscCheck(r.weight[e] == (double)g->weight[e], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Edge %" PetscInt_FMT ": weight %.17g on the device, not %.17g", e, r.weight[e], (double)g->weight[e]);
  for (PetscInt i = 0; i < g->n; i++) PetscCheck(r.of[i] == a->of[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Node %" PetscInt_FMT " is in aggregate %d on the device, not %" PetscInt_FMT, i, (int)r.of[i], a->of[i]);
  PetscCheck(r.nnz == h.nnz && r.sums.norm == h.sums.norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The prolongator has %d nonzeros, on the host %d; norms %.17g and %.17g", (int)r.nnz, (int)h.nnz, r.sums.norm, h.sums.norm);
  PetscCall(PetscArraycmp(r.prowptr, h.prowptr, rows + 1, &same));
  if (same) PetscCall(PetscArraycmp(r.pcol, h.pcol, r.nnz, &same));
  if (same) PetscCall(PetscArraycmp(r.value, h.value, r.nnz, &same));
  if (same) PetscCall(PetscArraycmp(r.next, h.next, r.columns * k, &same));
  if (same) PetscCall(PetscArraycmp(r.empty, h.empty, r.columns, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The prolongator of the device differs from that of the host");
  PetscCall(FreeResult(&r));
  PetscCall(FreeResult(&h));
  GpDevClose(&host);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAggregates(void)
{
  const PetscInt sizes[] = {1, 50, 3000}, blocks[] = {1, 3}, degrees[] = {2, 6, 30};

  PetscFunctionBeginUser;
  for (int v = 0; v < 18; v++) {
    const PetscInt     n = sizes[v % 3], block = blocks[v / 3 % 2];
    const PetscInt    *rowptr, *col;
    const PetscScalar *val;
    PetscInt           rows;
    PetscBool         *skip, done;
    GpAmgGraph         g;
    GpAmgAggregates    a;
    Mat                A;

    PetscCall(CreateRandom(n, block, degrees[v / 6], &A));
    PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &rowptr, &col, &done));
    PetscCall(MatSeqAIJGetArrayRead(A, &val));
    PetscCall(GpAmgCreateGraph(n, block, rowptr, col, val, 0.02, &g));
    PetscCall(PetscMalloc1(n, &skip));
    for (PetscInt i = 0; i < n; i++) skip[i] = (PetscBool)(g.rowptr[i] == g.rowptr[i + 1]);
    PetscCall(GpAmgAggregate(&g, 1000, skip, &a));
    PetscCall(CheckAggregates(&g, &a));
    PetscCall(GpAmgDestroyAggregates(&a));
    PetscCall(GpAmgAggregate(&g, 0, skip, &a));
    PetscCall(CompareDevice(n * block, block, 1 + v % 4, rowptr, col, val, &g, &a));
    PetscCall(MatSeqAIJRestoreArrayRead(A, &val));
    PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &rowptr, &col, &done));
    PetscCall(PetscFree(skip));
    PetscCall(GpAmgDestroyAggregates(&a));
    PetscCall(GpAmgDestroyGraph(&g));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "aggregates: correct\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(TestAggregates());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: random

TEST*/
