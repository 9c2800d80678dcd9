/* Groups of nodes: sums over the nodes with equal labels, and numbering of the groups by descending size. */
#include "networkimpl.h"
#include "app/text/appcollective.h"
#include <stdlib.h>

typedef struct {
  PetscInt label, size, member;
} NetworkGroup;

/* Adds values of the nodes of this process that have equal labels. sum[v][r] is the sum of value[v] over all nodes whose label is row r of this process.
   Nodes whose label is N or larger are left out. Each process first adds the values of its own nodes, so that it sends one number for each of its labels. */
PetscErrorCode NetworkSumByLabel_Private(Network nw, const PetscInt label[], PetscInt nvalues, const PetscReal *const value[], PetscReal *sum[])
{
  PetscInt   *used, nused = 0, *at;
  PetscLayout layout;
  PetscReal  *part;
  PetscSF     sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nw->n, &used, nw->n, &at, nw->n, &part));
  for (PetscInt k = 0; k < nw->n; k++)
    if (label[k] < nw->N) used[nused++] = label[k];
  PetscCall(PetscSortRemoveDupsInt(&nused, used));
  for (PetscInt k = 0; k < nw->n; k++) PetscCall(PetscFindInt(label[k], nused, used, &at[k]));
  PetscCall(MatGetLayouts(nw->links, &layout, NULL));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)nw), &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, nused, NULL, PETSC_OWN_POINTER, used));
  for (PetscInt v = 0; v < nvalues; v++) {
    PetscCall(PetscArrayzero(part, nused));
    for (PetscInt k = 0; k < nw->n; k++)
      if (at[k] >= 0) part[at[k]] += value[v][k];
    PetscCall(PetscArrayzero(sum[v], nw->n));
    PetscCall(PetscSFReduceBegin(sf, MPIU_REAL, part, sum[v], MPIU_SUM));
    PetscCall(PetscSFReduceEnd(sf, MPIU_REAL, part, sum[v], MPIU_SUM));
  }
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree3(used, at, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int NetworkCompareSizes(const void *a, const void *b)
{
  const NetworkGroup *p = (const NetworkGroup *)a, *q = (const NetworkGroup *)b;

  if (p->size != q->size) return p->size > q->size ? -1 : 1;
  return (p->member > q->member) - (p->member < q->member);
}

/* Merges the groups with equal labels in a list that is sorted by label. Returns the new length. */
static PetscInt NetworkMergeGroups(PetscInt64 n, NetworkGroup list[])
{
  PetscInt kept = 0;

  for (PetscInt64 k = 0; k < n; k++) {
    if (kept && list[kept - 1].label == list[k].label) {
      list[kept - 1].size += list[k].size;
      list[kept - 1].member = PetscMin(list[kept - 1].member, list[k].member);
    } else list[kept++] = list[k];
  }
  return kept;
}

static int NetworkCompareLabels(const void *a, const void *b)
{
  const NetworkGroup *p = (const NetworkGroup *)a, *q = (const NetworkGroup *)b;

  if (p->label != q->label) return p->label > q->label ? 1 : -1;
  return (p->member > q->member) - (p->member < q->member);
}

/* Creates the list of groups from the labels of the nodes of this process, and sets x to the number of the group of each node, counted from 1. */
PetscErrorCode NetworkGroupsCreate_Private(Network nw, const PetscInt label[], Vec x)
{
  NetworkGroup *mine, *all;
  PetscInt      n, *labels, *number;
  PetscInt64    total;
  PetscScalar  *a;

  PetscFunctionBegin;
  PetscCall(NetworkGroupsDestroy_Private(nw));
  PetscCall(PetscMalloc1(nw->n, &mine));
  for (PetscInt k = 0; k < nw->n; k++) mine[k] = (NetworkGroup){label[k], 1, nw->first + k};
  qsort(mine, (size_t)nw->n, sizeof(*mine), NetworkCompareLabels);
  PetscCall(GpAppAllgather(PetscObjectComm((PetscObject)nw), mine, NetworkMergeGroups(nw->n, mine), sizeof(*mine), &all, &total));
  PetscCall(PetscFree(mine));
  qsort(all, (size_t)total, sizeof(*all), NetworkCompareLabels);
  n = NetworkMergeGroups(total, all);
  qsort(all, (size_t)n, sizeof(*all), NetworkCompareSizes);
  PetscCall(PetscMalloc2(n, &nw->groups.size, n, &nw->groups.member));
  PetscCall(PetscMalloc2(n, &labels, n, &number));
  nw->groups.n = n;
  for (PetscInt g = 0; g < n; g++) {
    nw->groups.size[g]   = all[g].size;
    nw->groups.member[g] = all[g].member;
    labels[g]            = all[g].label;
    number[g]            = g + 1;
  }
  PetscCall(PetscFree(all));
  PetscCall(PetscSortIntWithArray(n, labels, number));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt k = 0; k < nw->n; k++) {
    PetscInt at;

    PetscCall(PetscFindInt(label[k], n, labels, &at));
    a[k] = (PetscScalar)number[at];
  }
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscCall(PetscFree2(labels, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NetworkGroupsDestroy_Private(Network nw)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(nw->groups.size, nw->groups.member));
  nw->groups.n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
