/* The graph of a PageRank object: the row blocks of the matrix of the links, the weights of the outgoing links, and the dangling nodes. */
#include "pagerankimpl.h"
#include "app/text/appcollective.h"

/* Takes the blocks of a MATNEST, or splits the rows of each process into blocks of about equal length. One block is the matrix itself. */
static PetscErrorCode PageRankGraphSplit(PageRank pr, PetscInt blocks)
{
  PetscBool nest;
  PetscInt  first, last, columns;
  IS        all, rows;
  Mat     **part;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pr->links, MATNEST, &nest));
  if (nest) PetscCall(MatNestGetSubMats(pr->links, &blocks, &columns, &part));
  PetscCheck(!nest || columns == 1, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_WRONG, "The MATNEST of the links has %" PetscInt_FMT " columns of blocks: expected one", columns);
  PetscCall(PetscCalloc2(blocks, &pr->A, blocks, &pr->rows));
  PetscCall(PetscCalloc1(blocks + 1, &pr->first));
  pr->nblocks = blocks;
  PetscCall(MatGetOwnershipRange(pr->links, &first, &last));
  PetscCall(ISCreateStride(PetscObjectComm((PetscObject)pr), pr->n, first, 1, &all));
  for (PetscInt b = 0; b < blocks; b++) {
    PetscInt n = pr->n / blocks + (b < pr->n % blocks);

    if (nest) PetscCall(MatGetLocalSize(part[b][0], &n, NULL));
    PetscCall(ISCreateStride(PetscObjectComm((PetscObject)pr), n, first + pr->first[b], 1, &rows));
    if (nest || blocks == 1) PetscCall(PetscObjectReference((PetscObject)(pr->A[b] = nest ? part[b][0] : pr->links)));
    else PetscCall(MatCreateSubMatrix(pr->links, rows, all, MAT_INITIAL_MATRIX, &pr->A[b]));
    pr->rows[b]      = rows;
    pr->first[b + 1] = pr->first[b] + n;
    pr->most         = PetscMax(pr->most, n);
  }
  PetscCall(ISDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the weights of the links of this process: sums holds a sum for each column, loops one for each row. bad: from and to of the first link whose
   weight is not valid; unchanged if there is none. badweight: its weight. */
static PetscErrorCode PageRankGraphSumLocal(PageRank pr, PetscInt start, PetscScalar sums[], PetscScalar loops[], PetscInt bad[2], PetscScalar *badweight)
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < pr->nblocks; b++) {
    PetscInt begin, end;

    PetscCall(MatGetOwnershipRange(pr->A[b], &begin, &end));
    for (PetscInt r = begin; r < end; r++) {
      const PetscInt     local = pr->first[b] + r - begin;
      const PetscInt    *column;
      const PetscScalar *weight;
      PetscInt           n;

      PetscCall(MatGetRow(pr->A[b], r, &n, &column, &weight));
      for (PetscInt k = 0; k < n; k++) {
        if (bad[0] < 0 && !(weight[k] >= 0 && weight[k] <= PETSC_MAX_REAL)) {
          bad[0]     = column[k];
          bad[1]     = start + local;
          *badweight = weight[k];
        }
        sums[column[k]] += weight[k];
        if (column[k] == start + local) loops[local] += weight[k];
      }
      PetscCall(MatRestoreRow(pr->A[b], r, &n, &column, &weight));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the vectors out and loops. */
static PetscErrorCode PageRankGraphSumWeights(PageRank pr)
{
  const MPI_Comm  comm = PetscObjectComm((PetscObject)pr);
  const PetscInt *ranges;
  PetscMPIInt     rank, size, first, *counts;
  PetscScalar    *sums, *out, *loops;
  PetscInt        bad[2]    = {-1, -1};
  PetscScalar     badweight = 0;
  PetscReal       most;
  PetscBool       found;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatCreateVecs(pr->A[0], &pr->out, NULL));
  PetscCall(VecDuplicate(pr->out, &pr->loops));
  PetscCall(VecSet(pr->loops, 0.0));
  PetscCall(VecGetOwnershipRanges(pr->out, &ranges));
  PetscCall(PetscMalloc1(size, &counts));
  for (PetscMPIInt p = 0; p < size; p++) PetscCall(PetscMPIIntCast(ranges[p + 1] - ranges[p], &counts[p]));
  PetscCall(PetscCalloc1(pr->N, &sums));
  PetscCall(VecGetArray(pr->loops, &loops));
  PetscCall(PageRankGraphSumLocal(pr, ranges[rank], sums, loops, bad, &badweight));
  PetscCall(VecRestoreArray(pr->loops, &loops));
  PetscCall(GpAppFindFirst(comm, (PetscBool)(bad[0] >= 0), &first, &found));
  if (found) {
    PetscCall(PetscFree(sums));
    PetscCall(PetscFree(counts));
    PetscCallMPI(MPI_Bcast(bad, 2, MPIU_INT, first, comm));
    PetscCallMPI(MPI_Bcast(&badweight, 1, MPIU_SCALAR, first, comm));
    SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE, "The link from node %" PetscInt_FMT " to node %" PetscInt_FMT " has the weight %g: it must be finite and not negative", bad[0], bad[1], (double)badweight);
  }
  PetscCall(VecGetArrayWrite(pr->out, &out));
  PetscCallMPI(MPI_Reduce_scatter(sums, out, counts, MPIU_SCALAR, MPIU_SUM, comm));
  PetscCall(VecRestoreArrayWrite(pr->out, &out));
  PetscCall(PetscFree(sums));
  PetscCall(PetscFree(counts));
  PetscCall(VecMax(pr->loops, NULL, &most));
  if (!(most > 0)) PetscCall(VecDestroy(&pr->loops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes scale, marks and ndangling. The scale of a node without links is 0. */
static PetscErrorCode PageRankGraphFindDangling(PageRank pr)
{
  const PetscScalar *out;
  PetscScalar       *scale, *marks, sum;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(pr->out, &pr->scale));
  PetscCall(VecDuplicate(pr->out, &pr->marks));
  PetscCall(VecGetLocalSize(pr->out, &n));
  PetscCall(VecGetArrayRead(pr->out, &out));
  PetscCall(VecGetArrayWrite(pr->scale, &scale));
  PetscCall(VecGetArrayWrite(pr->marks, &marks));
  for (PetscInt i = 0; i < n; i++) { /* not VecPointwiseDivide(), whose 0/0 depends on PETSc's release */
    marks[i] = out[i] == 0;
    scale[i] = out[i] == 0 ? 0 : 1 / out[i];
  }
  PetscCall(VecRestoreArrayWrite(pr->marks, &marks));
  PetscCall(VecRestoreArrayWrite(pr->scale, &scale));
  PetscCall(VecRestoreArrayRead(pr->out, &out));
  PetscCall(VecSum(pr->marks, &sum));
  pr->ndangling = (PetscInt)sum;
  if (!pr->ndangling) PetscCall(VecDestroy(&pr->marks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up the graph with this number of row blocks. A MATNEST has its own number. */
PetscErrorCode PageRankGraphSetUp_Private(PageRank pr, PetscInt blocks)
{
  PetscBool toomany;

  PetscFunctionBegin;
  PetscCall(MatGetSize(pr->links, &pr->N, NULL));
  PetscCall(MatGetLocalSize(pr->links, &pr->n, NULL));
  PetscCall(GpAppFindAny(PetscObjectComm((PetscObject)pr), (PetscBool)(pr->n > INT32_MAX), &toomany));
  PetscCheck(!toomany, PetscObjectComm((PetscObject)pr), PETSC_ERR_ARG_OUTOFRANGE, "A process has more than %d nodes, which is the maximum: use more processes", INT32_MAX);
  PetscCall(PageRankGraphSplit(pr, blocks));
  PetscCall(PageRankGraphSumWeights(pr));
  PetscCall(PageRankGraphFindDangling(pr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PageRankGraphDestroy_Private(PageRank pr)
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < pr->nblocks; b++) {
    PetscCall(MatDestroy(&pr->A[b]));
    PetscCall(ISDestroy(&pr->rows[b]));
  }
  PetscCall(PetscFree2(pr->A, pr->rows));
  PetscCall(PetscFree(pr->first));
  pr->nblocks = pr->most = 0;
  PetscCall(VecDestroy(&pr->out));
  PetscCall(VecDestroy(&pr->scale));
  PetscCall(VecDestroy(&pr->loops));
  PetscCall(VecDestroy(&pr->marks));
  PetscFunctionReturn(PETSC_SUCCESS);
}
