/* Output of ranks: list of the highest ranks, text and binary files, picture of the distribution. */
#include "pagerank.h"
#include <stdlib.h>

/* Order of the list: descending rank, equal ranks by ascending row. This order does not depend on the number of processes. */
static int RanksComparePlaces(const void *a, const void *b)
{
  const TopEntry *p = (const TopEntry *)a, *q = (const TopEntry *)b;

  if (p->rank != q->rank) return p->rank > q->rank ? -1 : 1;
  return (p->node > q->node) - (p->node < q->node);
}

/* Inserts an entry into a sorted list of at most k entries. n is the current length. */
static void RanksInsertPlace(TopEntry *list, PetscInt k, PetscInt *n, TopEntry e)
{
  PetscInt at;

  if (*n == k && RanksComparePlaces(&e, &list[k - 1]) > 0) return;
  for (at = *n < k ? (*n)++ : k - 1; at > 0 && RanksComparePlaces(&e, &list[at - 1]) < 0; at--) list[at] = list[at - 1];
  list[at] = e;
}

/* Finds the k nodes of highest rank, on all processes. `found` is the length of the list.

   An error of at most b in the 1-norm changes the difference of two ranks by at most b. A place is certain if the next rank is lower by more than b.
   Then all nodes up to this place have higher exact ranks than all nodes after it. bound: the error of the ranks in the 1-norm. */
PetscErrorCode RanksTop(Vec x, PetscReal bound, PetscInt k, TopEntry top[], PetscInt *found)
{
  MPI_Comm           comm   = PetscObjectComm((PetscObject)x);
  const PetscInt     wanted = k + 1; /* one more than wanted, to decide whether the last place is certain */
  const PetscScalar *a;
  TopEntry          *mine, *all;
  PetscInt           first, m, n = 0;
  PetscInt64         total;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(wanted, &mine));
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < m; i++) RanksInsertPlace(mine, wanted, &n, (TopEntry){PetscRealPart(a[i]), first + i, PETSC_FALSE});
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(GpAppAllgather(comm, mine, n, sizeof(*mine), &all, &total));
  qsort(all, (size_t)total, sizeof(*all), RanksComparePlaces);
  *found = (PetscInt)PetscMin(k, total);
  for (PetscInt i = 0; i < *found; i++) {
    top[i]         = all[i];
    top[i].certain = (PetscBool)(i + 1 == total || all[i].rank - all[i + 1].rank > bound);
  }
  PetscCall(PetscFree(mine));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the sum of the ranks in extended precision. In double precision the sum of a million numbers may be wrong in the eleventh digit. */
PetscErrorCode RanksSum(Vec x, PetscReal *sum)
{
  const PetscScalar *a;
  long double        mine = 0, all;
  PetscInt           m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < m; i++) mine += PetscRealPart(a[i]);
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_LONG_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)x)));
  *sum = (PetscReal)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the whole vector to the first process. */
static PetscErrorCode RanksGather(Vec x, Vec *on0)
{
  VecScatter scatter;

  PetscFunctionBegin;
  PetscCall(VecScatterCreateToZero(x, &scatter, on0));
  PetscCall(VecScatterBegin(scatter, x, *on0, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, *on0, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a line for every node, in the order of identities: the name or number of the node, and its rank in each of the n vectors. */
PetscErrorCode RanksWriteText(const Graph *G, PetscInt n, const Vec x[], const char file[])
{
  GpAppOutput         out;
  Vec                *on0;
  const PetscScalar **a;
  char                number[24];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &on0, n, &a));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(RanksGather(x[k], &on0[k]));
    PetscCall(VecGetArrayRead(on0[k], &a[k]));
  }
  PetscCall(GpAppOutputOpen(G->comm, file, &out));
  for (PetscInt i = 0; i < G->N && out.fp; i++) {
    const PetscInt row = G->row ? G->row[i] : i;

    GraphWriteName(out.fp, GraphName(G, row, number));
    for (PetscInt k = 0; k < n; k++) (void)fprintf(out.fp, " %.17g", (double)PetscRealPart(a[k][row]));
    (void)fputc('\n', out.fp);
  }
  PetscCall(GpAppOutputCommit(&out));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecRestoreArrayRead(on0[k], &a[k]));
    PetscCall(VecDestroy(&on0[k]));
  }
  PetscCall(PetscFree2(on0, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the n vectors one after the other in PETSc's binary format, for VecLoad(). The entries are in the order of identities. */
PetscErrorCode RanksWriteBinary(const Graph *G, PetscInt n, const Vec x[], const char file[])
{
  GpAppOutput        out;
  Vec                bynode;
  const PetscScalar *a;
  const PetscInt     header[] = {VEC_FILE_CLASSID, G->N};
  PetscInt           m;
  PetscMPIInt        rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(G->comm, &rank));
  PetscCall(VecDuplicate(x[0], &bynode));
  PetscCall(VecGetLocalSize(bynode, &m));
  PetscCall(GpAppOutputOpen(G->comm, file, &out));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecCopy(x[k], bynode));
    PetscCall(GraphPermute(G, PETSC_FALSE, bynode));
    PetscCall(GpAppOutputBinary(&out, header, rank ? 0 : 2, PETSC_INT));
    PetscCall(VecGetArrayRead(bynode, &a));
    PetscCall(GpAppOutputBinary(&out, a, m, PETSC_SCALAR));
    PetscCall(VecRestoreArrayRead(bynode, &a));
  }
  PetscCall(VecDestroy(&bynode));
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int RanksCompareDescending(const void *a, const void *b)
{
  const PetscScalar x = *(const PetscScalar *)a, y = *(const PetscScalar *)b;

  return (x < y) - (x > y);
}

/* Writes a picture of the distribution of the ranks: rank over place, on logarithmic axes. A power law is a straight line there. note: the result in a few words. */
PetscErrorCode RanksWritePicture(Vec x, const char note[], const char file[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)x);

  Vec          on0;
  PetscScalar *a;
  PetscInt     N, points = 0;
  double      *place, *rank;
  char         title[64];

  PetscFunctionBegin;
  PetscCall(RanksGather(x, &on0));
  PetscCall(VecGetLocalSize(on0, &N));
  PetscCall(VecGetArray(on0, &a));
  PetscCall(PetscMalloc2(N, &place, N, &rank));
  qsort(a, (size_t)N, sizeof(*a), RanksCompareDescending);
  for (double p = 1; p <= N; p = PetscMax(p + 1, PetscFloorReal(p * 1.02))) {
    place[points]  = p;
    rank[points++] = PetscRealPart(a[(PetscInt)p - 1]);
  }
  PetscCall(VecGetSize(x, &N));
  PetscCall(PetscSNPrintf(title, sizeof(title), "PageRank of %" PetscInt_FMT " nodes", N));
  PetscCall(GpAppPlotWrite(comm, file, &(GpAppPlot){title, note, "place", "PageRank", PETSC_TRUE, 1, &(GpAppCurve){NULL, points, place, rank}}));
  PetscCall(PetscFree2(place, rank));
  PetscCall(VecRestoreArray(on0, &a));
  PetscCall(VecDestroy(&on0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
