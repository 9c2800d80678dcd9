/* Losses of lists of examples: from vectors on any number of ranks to the list of each group on the first one. */
#include "bmrmimpl.h"
#include "bmrmgrouped.h"
#include <stdlib.h>

/* a vector as it was last gathered */
typedef struct {
  Vec              all;
  PetscObjectId    id;
  PetscObjectState state;
} Gathered;

/* The arrays are those of the first rank, the others have no groups. */
typedef struct {
  const BMRMGrouped *of;
  VecScatter         scatter;
  Gathered           f, e;
  PetscInt           ngroup, *begin; /* where in the next two the groups begin, and where the last one ends */
  PetscInt          *row;            /* examples, ordered by group and falling label */
  PetscReal         *y;              /* their labels */
  PetscReal         *z, *d, *u;      /* scores, their derivatives along the line, slopes of one group */
} Grouped;

/* an example as it is sorted */
typedef struct {
  PetscReal query, label;
  PetscInt  row;
} Entry;

static int CompareEntries(const void *a, const void *b)
{
  const Entry *x = (const Entry *)a, *y = (const Entry *)b;

  if (x->query != y->query) return x->query < y->query ? -1 : 1;
  if (x->label != y->label) return x->label > y->label ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

typedef struct {
  PetscReal z;
  PetscInt  place;
} Score;

static int CompareScores(const void *a, const void *b)
{
  const Score *x = (const Score *)a, *y = (const Score *)b;

  if (x->z != y->z) return x->z < y->z ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

PetscErrorCode BMRMGroupSort(const BMRMGroup *g, PetscInt from, PetscInt to, PetscInt order[])
{
  Score *s;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(to - from, &s));
  for (PetscInt i = from; i < to; i++) {
    s[i - from].z     = g->z[i];
    s[i - from].place = i;
  }
  qsort(s, (size_t)(to - from), sizeof(*s), CompareScores);
  for (PetscInt i = 0; i < to - from; i++) order[i] = s[i].place;
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All of the vector on the first rank, unless that is what is there already; collective. */
static PetscErrorCode Gather(Grouped *gr, Vec v, Gathered *to)
{
  PetscObjectId    id;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)v, &id));
  PetscCall(PetscObjectStateGet((PetscObject)v, &state));
  if (to->all && to->id == id && to->state == state) PetscFunctionReturn(PETSC_SUCCESS);
  if (!gr->scatter) PetscCall(VecScatterCreateToZero(v, &gr->scatter, &to->all));
  else if (!to->all) PetscCall(VecDuplicate(gr->f.all, &to->all));
  PetscCall(VecScatterBegin(gr->scatter, v, to->all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(gr->scatter, v, to->all, INSERT_VALUES, SCATTER_FORWARD));
  to->id    = id;
  to->state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Reset(Grouped *gr)
{
  PetscFunctionBegin;
  PetscCall(VecScatterDestroy(&gr->scatter));
  PetscCall(VecDestroy(&gr->f.all));
  PetscCall(VecDestroy(&gr->e.all));
  PetscCall(PetscFree3(gr->begin, gr->row, gr->y));
  PetscCall(PetscFree3(gr->z, gr->d, gr->u));
  gr->ngroup = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Orders the examples by group and label; returns on all ranks the number of groups, and of those with two different labels. */
static PetscErrorCode SortEntries(Grouped *gr, PetscInt n, Entry *entry, PetscInt count[2])
{
  PetscInt most = 0;

  PetscFunctionBegin;
  qsort(entry, (size_t)n, sizeof(*entry), CompareEntries);
  PetscCall(PetscMalloc3(n + 1, &gr->begin, n, &gr->row, n, &gr->y));
  for (PetscInt i = 0; i < n; i++) {
    if (!i || entry[i].query != entry[i - 1].query) gr->begin[gr->ngroup++] = i;
    gr->row[i] = entry[i].row;
    gr->y[i]   = entry[i].label;
  }
  gr->begin[gr->ngroup] = n;
  count[0]              = gr->ngroup;
  count[1]              = 0;
  for (PetscInt g = 0; g < gr->ngroup; g++) {
    most = PetscMax(most, gr->begin[g + 1] - gr->begin[g]);
    count[1] += gr->y[gr->begin[g]] > gr->y[gr->begin[g + 1] - 1];
  }
  PetscCall(PetscMalloc3(most, &gr->z, most, &gr->d, most, &gr->u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp_Grouped(BMRMLoss l, PetscInt m, Vec y)
{
  Grouped           *gr      = (Grouped *)l->data;
  const Vec          queries = gr->of->kind == BMRM_GROUP_QUERY ? l->queries : NULL;
  const PetscScalar *label, *query = NULL;
  Entry             *entry;
  PetscInt           n, count[2];

  PetscFunctionBegin;
  PetscCall(Reset(gr));
  PetscCall(Gather(gr, y, &gr->f));
  if (queries) PetscCall(Gather(gr, queries, &gr->e));
  PetscCall(VecGetLocalSize(gr->f.all, &n));
  PetscCall(PetscMalloc1(n, &entry));
  PetscCall(VecGetArrayRead(gr->f.all, &label));
  if (queries) PetscCall(VecGetArrayRead(gr->e.all, &query));
  for (PetscInt i = 0; i < n; i++) {
    entry[i].query = query ? PetscRealPart(query[i]) : 0;
    entry[i].label = PetscRealPart(label[i]);
    entry[i].row   = i;
  }
  if (queries) PetscCall(VecRestoreArrayRead(gr->e.all, &query));
  PetscCall(VecRestoreArrayRead(gr->f.all, &label));
  PetscCall(SortEntries(gr, n, entry, count));
  PetscCall(PetscFree(entry));
  PetscCallMPI(MPI_Bcast(count, 2, MPIU_INT, 0, PetscObjectComm((PetscObject)y)));
  PetscCheck(count[1] > 0, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_WRONG, "The labels %sare all the same: there is nothing to tell apart", queries ? "of every query " : "");
  l->scale = (PetscReal)1 / count[0];
  l->parts = count[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a sweep over groups: the place on the line, and what is wanted */
typedef struct {
  PetscReal  s;
  PetscInt   n, block; /* groups with g % n == block */
  PetscReal  value, offset, slope;
  PetscReal *r; /* slopes of all examples, or NULL */
} Sweep;

/* Adds up value, offset and slope along e over the groups, at f + s e. */
static PetscErrorCode SweepGroups(BMRMLoss l, Sweep *sw)
{
  Grouped           *gr = (Grouped *)l->data;
  const PetscScalar *fa, *ea;

  PetscFunctionBegin;
  sw->value = sw->offset = sw->slope = 0;
  PetscCall(VecGetArrayRead(gr->f.all, &fa));
  PetscCall(VecGetArrayRead(gr->e.all, &ea));
  for (PetscInt k = sw->block; k < gr->ngroup; k += sw->n) {
    const PetscInt  n = gr->begin[k + 1] - gr->begin[k], *row = gr->row + gr->begin[k];
    const BMRMGroup g      = {n, gr->z, gr->y + gr->begin[k], l->value};
    PetscReal       offset = 0, value = 0, slope = 0, sum = 0;

    for (PetscInt i = 0; i < n; i++) {
      gr->d[i] = PetscRealPart(ea[row[i]]);
      gr->z[i] = PetscRealPart(fa[row[i]]) + sw->s * gr->d[i];
      sum += gr->z[i];
    }
    if (PetscIsInfOrNanReal(sum)) { /* must not vanish, and cannot be sorted */
      offset = sum - sum;
      for (PetscInt i = 0; i < n; i++) gr->u[i] = offset;
    } else PetscCall((*gr->of->cut)(&g, gr->u, &offset));
    for (PetscInt i = 0; i < n; i++) {
      value += gr->u[i] * gr->z[i];
      slope += gr->u[i] * gr->d[i];
      if (sw->r) sw->r[row[i]] = l->scale * gr->u[i];
    }
    sw->value += l->scale * (value + offset);
    sw->offset += l->scale * offset;
    sw->slope += l->scale * slope;
  }
  PetscCall(VecRestoreArrayRead(gr->e.all, &ea));
  PetscCall(VecRestoreArrayRead(gr->f.all, &fa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GatherScores(BMRMLoss l, Vec f, Vec e)
{
  Grouped *gr = (Grouped *)l->data;

  PetscFunctionBegin;
  PetscCall(Gather(gr, f, &gr->f));
  PetscCall(Gather(gr, e, &gr->e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Risk_Grouped(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk)
{
  Sweep sw = {s, 1, 0, 0, 0, 0, NULL};

  PetscFunctionBegin;
  PetscCall(GatherScores(l, f, e));
  PetscCall(SweepGroups(l, &sw));
  *risk = sw.value;
  PetscCallMPI(MPI_Bcast(risk, 1, MPIU_REAL, 0, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cut_Grouped(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscInt n, PetscInt k, Vec r, PetscReal *offset)
{
  Grouped     *gr = (Grouped *)l->data;
  Sweep        sw = {s, n, k, 0, 0, 0, NULL};
  Vec          all;
  PetscScalar *ra;

  PetscFunctionBegin;
  PetscCall(GatherScores(l, f, e));
  PetscCall(VecDuplicate(gr->f.all, &all));
  PetscCall(VecSet(all, 0));
  PetscCall(VecGetArray(all, &ra));
  sw.r = ra;
  PetscCall(SweepGroups(l, &sw));
  PetscCall(VecRestoreArray(all, &ra));
  PetscCall(VecScatterBegin(gr->scatter, all, r, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(gr->scatter, all, r, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecDestroy(&all));
  *offset = sw.offset;
  PetscCallMPI(MPI_Bcast(offset, 1, MPIU_REAL, 0, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Least_Grouped(BMRMLoss l, Vec y, PetscInt n, PetscReal least[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(least, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Slopes_Grouped(BMRMLoss l, Vec f, Vec e, PetscInt nt, const PetscReal t[], Vec y, PetscReal d[])
{
  PetscFunctionBegin;
  PetscCall(GatherScores(l, f, e));
  for (PetscInt k = 0; k < nt; k++) {
    Sweep sw = {t[k], 1, 0, 0, 0, 0, NULL};

    PetscCall(SweepGroups(l, &sw));
    d[2 * k]     = sw.slope;
    d[2 * k + 1] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy_Grouped(BMRMLoss l)
{
  PetscFunctionBegin;
  PetscCall(Reset((Grouped *)l->data));
  PetscCall(PetscFree(l->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMLossSetGrouped - Makes a loss a mean over lists of examples, whose scores are compared with each other

  Not Collective

  Input Parameters:
+ l  - the loss
- of - what it is; not copied

  Level: developer

  Note:
  It is evaluated on the first rank, on the host.

.seealso: `BMRMLossRegister()`, `BMRMLossSetPointwise()`, `BMRMSetQueries()`
@*/
PetscErrorCode BMRMLossSetGrouped(BMRMLoss l, const BMRMGrouped *of)
{
  Grouped *gr;

  PetscFunctionBegin;
  PetscCall(PetscNew(&gr));
  gr->of          = of;
  l->data         = gr;
  l->ops->setup   = SetUp_Grouped;
  l->ops->risk    = Risk_Grouped;
  l->ops->cut     = Cut_Grouped;
  l->ops->least   = Least_Grouped;
  l->ops->slopes  = Slopes_Grouped;
  l->ops->destroy = Destroy_Grouped;
  l->onebyone     = PETSC_TRUE;
  PetscCall(BMRMLossDescribe(l, of->task, of->fits, of->labels, of->nparameter, of->parameter));
  PetscFunctionReturn(PETSC_SUCCESS);
}
