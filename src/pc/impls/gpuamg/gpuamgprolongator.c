/* Prolongators of PCGPUAMG: near-null space, aggregation, tentative prolongator, smoothing. */
#include "pc/impls/gpuamg/gpuamg.h"
#include "pc/impls/gpuamg/amg.h"
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

PetscLogEvent PC_GPUAMG_Aggregate;

/* Sets the storage and the options prefix of a matrix that belongs to the preconditioner. */
PetscErrorCode PCGPUAMGSetMatrix_Private(PC pc, Mat A)
{
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(MatSetOptionsPrefix(A, prefix));
  PetscCall(MatAppendOptionsPrefix(A, "pc_gpuamg_"));
  if (!MatGPUCSRIs_Private(A)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRSetStorage(A, ((PC_GPUAMG *)pc->data)->options.storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the vectors of MatSetNearNullSpace(), by default one constant vector for each component of a block. */
PetscErrorCode PCGPUAMGGetNearNullSpace_Private(PC pc, PetscInt *vectors, PetscReal **B)
{
  PC_GPUAMG   *amg = (PC_GPUAMG *)pc->data;
  MatNullSpace space;
  const Vec   *vecs     = NULL;
  PetscBool    constant = PETSC_FALSE;
  PetscInt     n, m = 0, k, first, size;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(amg->level[0].A, &n, NULL));
  PetscCall(MatGetNearNullSpace(pc->pmat, &space));
  if (space) PetscCall(MatNullSpaceGetVecs(space, &constant, &m, &vecs));
  first = constant ? 1 : 0;
  k     = first + m;
  if (!k) k = amg->level[0].block;
  *vectors = k;
  PetscCall(PetscIntMultError(n, k, &size));
  PetscCall(PetscCalloc1(size, B));
  for (PetscInt i = 0; i < n; i++) {
    if (constant) (*B)[i * k] = 1;
    else if (!m) (*B)[i * k + i % k] = 1;
  }
  for (PetscInt v = 0; v < m; v++) {
    const PetscScalar *x;

    PetscCall(VecGetArrayRead(vecs[v], &x));
    for (PetscInt i = 0; i < n; i++) (*B)[i * k + first + v] = PetscRealPart(x[i]);
    PetscCall(VecRestoreArrayRead(vecs[v], &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aggregates the nodes of this rank.  A node without connections joins no aggregate, because the smoother solves its equations.  However, if its rows have large entries in columns of other ranks, it is an
   aggregate by itself. */
static PetscErrorCode PCGPUAMGAggregate(PC pc, PetscInt level, const PCGPUAMGRows *R, GpAmgAggregates *a)
{
  PC_GPUAMG         *amg       = (PC_GPUAMG *)pc->data;
  PCGPUAMGLevel     *L         = &amg->level[level];
  const PetscReal    threshold = amg->options.threshold / PetscPowRealInt(2, (int)level);
  Mat                A;
  const PetscInt    *rowptr, *col;
  const PetscScalar *val;
  GpAmgGraph         g;
  PetscBool         *skip, done;
  PetscInt           n, begin;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_GPUAMG_Aggregate, pc, 0, 0, 0));
  PetscCall(MatGetOwnershipRange(L->A, &begin, NULL));
  PetscCall(MatGetDiagonalBlock(L->A, &A));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &val));
  PetscCall(GpAmgCreateGraph(n / L->block, L->block, rowptr, col, val, threshold, &g));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &val));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  PetscCall(PetscMalloc1(g.n, &skip));
  for (PetscInt i = 0; i < g.n; i++) {
    skip[i] = (PetscBool)(g.rowptr[i] == g.rowptr[i + 1]);
    for (PetscInt r = i * L->block; r < (i + 1) * L->block; r++) {
      if (R->far[r] > GP_AMG_DOMINATED * R->diagonal[r]) skip[i] = PETSC_FALSE;
    }
  }
  PetscCall(GpAmgAggregate(&g, begin / L->block, skip, a));
  PetscCall(PetscFree(skip));
  PetscCall(GpAmgDestroyGraph(&g));
  PetscCall(PetscLogEventEnd(PC_GPUAMG_Aggregate, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the near-null space of an aggregate to Q: [k][m], where m is the number of unknowns of the aggregate.  Unknowns whose row has no entry besides the diagonal get zeros. */
static void PCGPUAMGGatherBasis(const GpAmgAggregates *a, PetscInt c, PetscInt block, const PCGPUAMGRows *R, PetscInt k, const PetscReal B[], PetscReal Q[])
{
  const PetscInt m = (a->ptr[c + 1] - a->ptr[c]) * block;

  for (PetscInt e = 0; e < m; e++) {
    const PetscInt row = a->row[a->ptr[c] + e / block] * block + e % block;

    for (PetscInt v = 0; v < k; v++) Q[v * m + e] = R->near[row] + R->far[row] > 0 ? B[row * k + v] : 0;
  }
}

/* Computes an orthonormal basis of the near-null space on each aggregate.  val: [rows][k] receives the bases.  next: [aggregates][k][k] receives the near-null space of the next level. */
static PetscErrorCode PCGPUAMGComputeBases(PCGPUAMGLevel *L, const GpAmgAggregates *a, const PCGPUAMGRows *R, PetscInt k, const PetscReal B[], PetscScalar val[], PetscReal next[])
{
  PetscInt   most = 0;
  PetscReal *Q;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < a->count; c++) most = PetscMax(most, (a->ptr[c + 1] - a->ptr[c]) * L->block);
  PetscCall(PetscMalloc1(most * k, &Q));
  for (PetscInt c = 0; c < a->count; c++) {
    const PetscInt m = (a->ptr[c + 1] - a->ptr[c]) * L->block;

    PCGPUAMGGatherBasis(a, c, L->block, R, k, B, Q);
    GpAmgOrthonormalize(m, k, Q, next + c * k * k);
    for (PetscInt e = 0; e < m; e++) {
      const PetscInt row = a->row[a->ptr[c] + e / L->block] * L->block + e % L->block;

      for (PetscInt v = 0; v < k; v++) val[row * k + v] = Q[v * m + e];
    }
  }
  PetscCall(PetscFree(Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the tentative prolongator P0, with the type of the operator.  The columns of a row are the k columns of its aggregate.  val: [rows][k] bases; the values are moved together in place. */
static PetscErrorCode PCGPUAMGCreateTentative(PCGPUAMGLevel *L, const GpAmgAggregates *a, const PCGPUAMGRows *R, PetscInt k, PetscScalar val[], Mat *P)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)L->A);
  PetscInt n, columns = a->count * k, first = 0, *rowptr, *col, used = 0;
  MatType  type;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(L->A, &n, NULL));
  PetscCall(MatGetType(L->A, &type));
  PetscCallMPI(MPI_Scan(&columns, &first, 1, MPIU_INT, MPI_SUM, comm));
  first -= columns;
  PetscCall(PetscMalloc2(n + 1, &rowptr, n * k, &col));
  rowptr[0] = 0;
  for (PetscInt row = 0; row < n; row++) {
    const PetscInt c = a->of[row / L->block];

    for (PetscInt v = 0; v < k && c >= 0 && R->near[row] + R->far[row] > 0; v++) {
      col[used] = first + c * k + v;
      val[used] = val[row * k + v];
      used++;
    }
    rowptr[row + 1] = used;
  }
  PetscCall(MatCreate(comm, P));
  PetscCall(MatSetSizes(*P, n, columns, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSizes(*P, L->block, k));
  PetscCall(MatSetType(*P, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*P, rowptr, col, val));
  PetscCall(MatMPIAIJSetPreallocationCSR(*P, rowptr, col, val));
  PetscCall(PetscFree2(rowptr, col));
  PetscCall(MatConvert(*P, type, MAT_INPLACE_MATRIX, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes P = (I - damping / high D^-1 A) P0.  A stores the diagonal entry of each row in which P0 has entries.  The pattern of A P0 therefore includes the pattern of P0. */
static PetscErrorCode PCGPUAMGSmooth(PC pc, PCGPUAMGLevel *L, Mat P0, Vec inverse, Mat *P)
{
  Vec scale;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGSetMatrix_Private(pc, P0));
  PetscCall(MatMatMult(L->A, P0, MAT_INITIAL_MATRIX, PETSC_DEFAULT, P));
  PetscCall(MatProductClear(*P));
  PetscCall(VecDuplicate(inverse, &scale));
  PetscCall(VecCopy(inverse, scale));
  PetscCall(VecScale(scale, -((PC_GPUAMG *)pc->data)->options.damping / L->high));
  PetscCall(MatDiagonalScale(*P, scale, NULL));
  PetscCall(MatAXPY(*P, 1, P0, SUBSET_NONZERO_PATTERN));
  PetscCall(VecDestroy(&scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the rows of the next operator that would be zero, because the vector of their column in the basis of an aggregate is zero. */
static PetscErrorCode PCGPUAMGListEmpty(PCGPUAMGLevel *next, PetscInt count, PetscInt k, const PetscReal B[])
{
  PetscFunctionBegin;
  next->nempty = 0;
  PetscCall(PetscMalloc1(count * k, &next->empty));
  for (PetscInt i = 0; i < count * k; i++) {
    if (B[i * k + i % k] == 0) next->empty[next->nempty++] = i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUAMGCreateProlongator_Private(PC pc, PetscInt level, const PCGPUAMGRows *R, PetscInt k, PetscReal **B, Vec inverse)
{
  PC_GPUAMG      *amg = (PC_GPUAMG *)pc->data;
  PCGPUAMGLevel  *L   = &amg->level[level];
  GpAmgAggregates a;
  PetscReal      *next;
  PetscScalar    *val;
  PetscInt        n, total;
  Mat             P0;

  PetscFunctionBegin;
  PetscCall(PCGPUAMGAggregate(pc, level, R, &a));
  total = a.count * k;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCall(PetscInfo(pc, "Level %" PetscInt_FMT ": %" PetscInt_FMT " rows, %" PetscInt_FMT " on the next level\n", level, L->rows, total));
  if (!total || total > 0.8 * L->rows) {
    PetscCall(GpAmgDestroyAggregates(&a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetLocalSize(L->A, &n, NULL));
  PetscCall(PetscMalloc1(n * k, &val));
  PetscCall(PetscMalloc1(a.count * k * k, &next));
  PetscCall(PCGPUAMGComputeBases(L, &a, R, k, *B, val, next));
  PetscCall(PCGPUAMGCreateTentative(L, &a, R, k, val, &P0));
  PetscCall(PetscFree(val));
  PetscCall(PetscFree(*B));
  *B = next;
  PetscCall(PCGPUAMGListEmpty(L + 1, a.count, k, next));
  L[1].block = k;
  PetscCall(GpAmgDestroyAggregates(&a));
  PetscCall(PCGPUAMGSmooth(pc, L, P0, inverse, &L->P));
  PetscCall(MatDestroy(&P0));
  PetscCall(PCGPUAMGSetMatrix_Private(pc, L->P));
  PetscFunctionReturn(PETSC_SUCCESS);
}
