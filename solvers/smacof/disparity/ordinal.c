/* Ordinal disparities: monotone regression of the distances on the order of the dissimilarities, computed on the first rank.

   J. Kruskal, "Nonmetric multidimensional scaling: a numerical method", Psychometrika 29 (1964). */
#include "solvers/smacof/smacofimpl.h"
#include <stdlib.h>

/* a matrix entry of some rank; each pair has two entries */
typedef struct {
  double   delta, weight;
  PetscInt low, high; /* the points of the pair, low < high */
  PetscInt number;    /* global number of the entry */
} SMACOFEntry;

/* Compares by dissimilarity, then by points, so that both entries of a pair are neighbours. */
static int SMACOFCompareEntries(const void *a, const void *b)
{
  const SMACOFEntry *p = (const SMACOFEntry *)a, *q = (const SMACOFEntry *)b;

  if (p->delta != q->delta) return p->delta < q->delta ? -1 : 1;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  return (p->high > q->high) - (p->high < q->high);
}

/* Gathers the entries of all ranks on the first rank and sorts the pairs by dissimilarity.  where[k] is the number of the pair of mine[k]. */
static PetscErrorCode SMACOFOrdinalSortPairs(SMACOFOrdinal *O, PetscInt n, SMACOFEntry mine[], PetscInt where[])
{
  PetscMPIInt  rank, size, count, *counts, *displs;
  PetscInt    *pair  = NULL;
  SMACOFEntry *all   = NULL;
  PetscInt64   total = 0;
  MPI_Datatype type;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(O->D->comm, &rank));
  PetscCallMPI(MPI_Comm_size(O->D->comm, &size));
  PetscCall(PetscMalloc2(size, &counts, size, &displs));
  PetscCall(PetscMPIIntCast(n, &count));
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, O->D->comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    PetscCall(GpCompatMPIIntCast(total, &displs[r]));
    total += counts[r];
  }
  PetscCheck(total < PETSC_MPI_INT_MAX, O->D->comm, PETSC_ERR_USER_INPUT, "-smacof_disparity ordinal supports at most 2^30 pairs, got %" PetscInt64_FMT, total / 2);
  for (PetscInt k = 0; k < n; k++) mine[k].number = displs[rank] + k;
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)sizeof(SMACOFEntry), MPI_BYTE, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  if (!rank) PetscCall(PetscMalloc2(total, &all, total, &pair));
  PetscCallMPI(MPI_Gatherv(mine, count, type, all, counts, displs, type, 0, O->D->comm));
  PetscCallMPI(MPI_Type_free(&type));
  if (!rank) {
    O->n = (PetscInt)(total / 2);
    qsort(all, (size_t)total, sizeof(*all), SMACOFCompareEntries);
    PetscCall(PetscMalloc7(O->n, &O->weight, O->n, &O->d, O->n, &O->dhat, O->n + 1, &O->tie, O->n, &O->order, O->n, &O->mean, O->n, &O->mass));
    PetscCall(PetscMalloc1(O->n + 1, &O->begin));
    O->ties = 0;
    for (PetscInt k = 0; k < O->n; k++) {
      O->weight[k]            = all[2 * k].weight;
      pair[all[2 * k].number] = pair[all[2 * k + 1].number] = k;
      if (!k || all[2 * k].delta > all[2 * k - 1].delta) O->tie[O->ties++] = k;
    }
    O->tie[O->ties] = O->n;
  }
  PetscCallMPI(MPI_Scatterv(pair, counts, displs, MPIU_INT, where, count, MPIU_INT, 0, O->D->comm));
  PetscCall(PetscFree2(all, pair));
  PetscCall(PetscFree2(counts, displs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFOrdinalCreate_Private(const SMACOFPairs *D, SMACOFTies ties, SMACOFOrdinal *O)
{
  const PetscInt m = D->last - D->first;
  const int     *column;
  PetscInt       n = 0, entries, *place, *where;
  double        *delta, *weight;
  PetscSFNode   *remote;
  SMACOFEntry   *mine;

  PetscFunctionBegin;
  O->D       = D;
  O->primary = (PetscBool)(ties == SMACOF_TIES_PRIMARY);
  PetscCall(PetscIntCast(D->start ? (PetscInt64)D->start[m] : (PetscInt64)m * D->N, &entries));
  PetscCall(PetscMalloc1(entries, &mine));
  PetscCall(PetscMalloc1(entries, &place));
  PetscCall(PetscMalloc3(entries, &where, D->N, &delta, D->N, &weight));
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt at = D->start ? (PetscInt)D->start[i] : i * D->N, p = D->first + i;
    PetscInt       count;

    PetscCall(SMACOFPairsGetRow_Private(D, i, &count, &column, delta, weight));
    for (PetscInt k = 0; k < count; k++) {
      const PetscInt j = column ? column[k] : k;

      if (j == p) continue;
      place[n]  = at + k;
      mine[n++] = (SMACOFEntry){delta[k], weight[k], PetscMin(p, j), PetscMax(p, j), 0};
    }
  }
  PetscCall(SMACOFOrdinalSortPairs(O, n, mine, where));
  PetscCall(PetscFree(mine));
  PetscCall(PetscMalloc1(n, &remote));
  for (PetscInt k = 0; k < n; k++) remote[k] = (PetscSFNode){0, where[k]};
  PetscCall(PetscSFCreate(D->comm, &O->sf));
  PetscCall(PetscSFSetGraph(O->sf, O->n, n, place, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(O->sf));
  PetscCall(PetscFree3(where, delta, weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the monotone regression by the pool adjacent violators algorithm.  The initial blocks are pairs, or groups of equal dissimilarity for
   secondary ties. */
static PetscErrorCode SMACOFOrdinalRegress(SMACOFOrdinal *O)
{
  const PetscInt runs = O->primary ? O->n : O->ties;
  PetscInt       n    = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < O->n; k++) O->order[k] = k;
  if (O->primary) /* within a group of equal dissimilarity, the order of the distances is used */
    for (PetscInt t = 0; t < O->ties; t++)
      if (O->tie[t + 1] - O->tie[t] > 1) PetscCall(PetscSortRealWithArrayInt(O->tie[t + 1] - O->tie[t], O->d + O->tie[t], O->order + O->tie[t]));
  for (PetscInt r = 0; r < runs; r++) {
    const PetscInt from = O->primary ? r : O->tie[r], to = O->primary ? r + 1 : O->tie[r + 1];
    double         mass = 0, sum = 0;

    for (PetscInt k = from; k < to; k++) {
      mass += O->weight[O->order[k]];
      sum += O->weight[O->order[k]] * O->d[k];
    }
    O->mean[n]  = sum / mass;
    O->mass[n]  = mass;
    O->begin[n] = from;
    for (n++; n > 1 && O->mean[n - 2] >= O->mean[n - 1]; n--) {
      const double both = O->mass[n - 2] + O->mass[n - 1];

      O->mean[n - 2] = (O->mass[n - 2] * O->mean[n - 2] + O->mass[n - 1] * O->mean[n - 1]) / both;
      O->mass[n - 2] = both;
    }
  }
  O->begin[n] = O->n;
  for (PetscInt b = 0; b < n; b++)
    for (PetscInt k = O->begin[b]; k < O->begin[b + 1]; k++) O->dhat[O->order[k]] = O->mean[b];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFOrdinalFit_Private(SMACOFOrdinal *O, PetscInt dim, const double x[], double dhat[])
{
  const SMACOFPairs *D   = O->D;
  const PetscInt     m   = D->last - D->first;
  double             sum = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; i++) { /* dhat holds the distances first */
    const PetscInt n = D->start ? (PetscInt)(D->start[i + 1] - D->start[i]) : D->N, at = D->start ? (PetscInt)D->start[i] : i * D->N;

    for (PetscInt k = 0; k < n; k++) dhat[at + k] = SMACOFGetDistance_Private(D->N, dim, x, D->first + i, D->start ? D->column[at + k] : k);
  }
  PetscCall(PetscSFReduceBegin(O->sf, MPI_DOUBLE, dhat, O->d, MPI_REPLACE)); /* both entries of a pair have the same distance */
  PetscCall(PetscSFReduceEnd(O->sf, MPI_DOUBLE, dhat, O->d, MPI_REPLACE));
  if (O->n) PetscCall(SMACOFOrdinalRegress(O));
  for (PetscInt k = 0; k < O->n; k++) sum += O->weight[k] * O->dhat[k] * O->dhat[k];
  for (PetscInt k = 0; k < O->n; k++) O->dhat[k] = sum > 0 ? O->dhat[k] * PetscSqrtReal(D->sumsquares / sum) : PetscSqrtReal(D->sumsquares / D->sumweights);
  PetscCall(PetscSFBcastBegin(O->sf, MPI_DOUBLE, O->dhat, dhat, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(O->sf, MPI_DOUBLE, O->dhat, dhat, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFOrdinalDestroy_Private(SMACOFOrdinal *O)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&O->sf));
  PetscCall(PetscFree7(O->weight, O->d, O->dhat, O->tie, O->order, O->mean, O->mass));
  PetscCall(PetscFree(O->begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}
