/* Losses over lists of examples: collects the scores of all lists in one memory space, and applies the functions of the loss to them. */
#include "bmrmkinds.h"
#include "solvers/bmrm/bmrmgrouped.h"
#include "device/gpsteps.h"
#include <stdlib.h>

/* A gathered vector, with the id and the state of its source, to avoid gathering it again. */
typedef struct {
  Vec              all;
  PetscObjectId    id;
  PetscObjectState state;
} Gathered;

/* Data of a loss over lists. Rank 0 alone holds the lists; on the other ranks they are empty. */
typedef struct {
  const BMRMGrouped *of;
  PetscBool          alone;   /* whether one rank has all scores */
  VecScatter         scatter; /* gathers the scores on rank 0 if there are several ranks */
  Gathered           f, e;
  GpDev              host; /* host backend, with the lists in host memory */
  BMRMLists          lists;
  GpDev              device; /* device of the scores, with a copy of the lists in its memory; NULL if there is none */
  BMRMLists          there;
  BMRMPlace          at;
} Grouped;

/* An example, for sorting. */
typedef struct {
  PetscReal query, label;
  PetscInt  row;
} Entry;

static int BMRMGroupedCompareEntries(const void *a, const void *b)
{
  const Entry *x = (const Entry *)a, *y = (const Entry *)b;

  if (x->query != y->query) return x->query < y->query ? -1 : 1;
  if (x->label != y->label) return x->label > y->label ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

/* Gathers the vector on rank 0, unless the gathered values are current. Collective. */
static PetscErrorCode BMRMGroupedGather(Grouped *gr, Vec v, Gathered *to)
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

/* Sets the pointers of the arrays of lists into one block of memory. Returns its size in bytes. */
static size_t BMRMGroupedSetPointers(BMRMLists *ls, void *memory)
{
  const size_t n = (size_t)ls->n, ngroup = (size_t)ls->ngroup;

  ls->y     = (double *)memory;
  ls->pairs = ls->y + n;
  ls->group = (int32_t *)(ls->pairs + ngroup);
  ls->rank  = ls->group + n;
  ls->row   = ls->rank + n;
  ls->begin = ls->row + n;
  return (n + ngroup) * sizeof(double) + (3 * n + ngroup + 1) * sizeof(int32_t);
}

static PetscErrorCode BMRMGroupedReset(Grouped *gr)
{
  PetscFunctionBegin;
  PetscCall(VecScatterDestroy(&gr->scatter));
  PetscCall(VecDestroy(&gr->f.all));
  PetscCall(VecDestroy(&gr->e.all));
  if (gr->device) GpDevFree(gr->device, &gr->there.y, BMRMGroupedSetPointers(&gr->there, gr->there.y));
  gr->device = NULL;
  PetscCall(PetscFree(gr->lists.y));
  gr->lists.n = gr->lists.ngroup = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts the examples by list and label, and fills the lists. count[0] = number of lists, count[1] = number of lists with two or more different
   labels. */
static PetscErrorCode BMRMGroupedSortExamples(Grouped *gr, PetscInt n, Entry *entry, PetscInt count[2])
{
  BMRMLists *ls = &gr->lists;
  char      *memory;

  PetscFunctionBegin;
  qsort(entry, (size_t)n, sizeof(*entry), BMRMGroupedCompareEntries);
  ls->n      = n;
  ls->ngroup = ls->nlabel = 0;
  ls->first               = 0;
  for (PetscInt i = 0; i < n; i++) ls->ngroup += !i || entry[i].query != entry[i - 1].query;
  PetscCall(PetscMalloc(BMRMGroupedSetPointers(ls, NULL), &memory));
  (void)BMRMGroupedSetPointers(ls, memory);
  count[0] = count[1] = 0;
  for (PetscInt i = 0, run = 0; i < n; i++) {
    const PetscBool begins = (PetscBool)(!i || entry[i].query != entry[i - 1].query), lower = (PetscBool)(!begins && entry[i].label != entry[i - 1].label);

    if (begins) {
      ls->begin[count[0]]   = (int32_t)i;
      ls->pairs[count[0]++] = 0;
    }
    if (begins || lower) run = i; /* first example of a run of equal labels */
    ls->y[i]     = entry[i].label;
    ls->row[i]   = (int32_t)entry[i].row;
    ls->group[i] = (int32_t)(count[0] - 1);
    ls->rank[i]  = begins ? 0 : ls->rank[i - 1] + lower;
    ls->nlabel   = PetscMax(ls->nlabel, ls->rank[i] + 1);
    ls->first += count[0] == 1 && !ls->rank[i];
    ls->pairs[count[0] - 1] += (double)(run - ls->begin[count[0] - 1]); /* number of examples of the list with a larger label */
    count[1] += lower && ls->rank[i] == 1;
  }
  ls->begin[count[0]] = (int32_t)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMLossSetUp_Grouped(BMRMLoss l, PetscInt m, Vec y)
{
  Grouped           *gr      = (Grouped *)l->data;
  const Vec          queries = gr->of->kind == BMRM_GROUP_QUERY ? l->queries : NULL;
  const PetscScalar *label, *query = NULL;
  Entry             *entry;
  PetscInt           n, N, count[2];
  PetscMPIInt        size;

  PetscFunctionBegin;
  PetscCall(BMRMGroupedReset(gr));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)y), &size));
  PetscCall(VecGetSize(y, &N));
  PetscCheck(N < PETSC_MPI_INT_MAX / 2, PetscObjectComm((PetscObject)y), PETSC_ERR_SUP, "%" PetscInt_FMT " examples are too many for a loss that compares examples with each other: the maximum is %d", N, PETSC_MPI_INT_MAX / 2);
  gr->alone = (PetscBool)(size == 1);
  if (!gr->host) PetscCheck(!GpDevOpen(GP_DEV_HOST, 0, &gr->host, NULL, 0), PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the host backend");
  PetscCall(BMRMGroupedGather(gr, y, &gr->f));
  if (queries) PetscCall(BMRMGroupedGather(gr, queries, &gr->e));
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
  PetscCall(BMRMGroupedSortExamples(gr, n, entry, count));
  PetscCall(PetscFree(entry));
  PetscCallMPI(MPI_Bcast(count, 2, MPIU_INT, 0, PetscObjectComm((PetscObject)y)));
  PetscCheck(count[1] > 0, PetscObjectComm((PetscObject)y), PETSC_ERR_ARG_WRONG, "All labels %sare equal: the loss needs examples with different labels", queries ? "of each query " : "");
  l->scale = (PetscReal)1 / count[0];
  l->parts = count[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the lists in the memory of a device; copies them there on first use. */
static PetscErrorCode BMRMGroupedGetLists(Grouped *gr, GpDev dev, BMRMLists *lists)
{
  const size_t bytes  = BMRMGroupedSetPointers(&gr->lists, gr->lists.y);
  char        *memory = NULL;

  PetscFunctionBegin;
  *lists = gr->lists;
  if (GpDevKindOf(dev) == GP_DEV_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  if (gr->device != dev) {
    gr->there = gr->lists;
    PetscCallGp(dev, "The loss on the device", GpDevAlloc(dev, bytes, &memory));
    gr->device = dev;
    (void)BMRMGroupedSetPointers(&gr->there, memory);
    PetscCallGp(dev, "The loss on the device", GpDevUpload(dev, memory, gr->lists.y, bytes));
  }
  *lists = gr->there;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arguments and results of an evaluation of the loss over the groups: step along the line, sums, slopes. */
typedef struct {
  PetscReal  s;
  PetscInt   n, block; /* groups g with g % n == block */
  PetscReal  value, offset, slope;
  PetscReal *r; /* slopes of all examples, or NULL if they are not required */
} Sweep;

/* Computes the cuts of all groups one after the other, for losses that are functions of one group. */
static PetscErrorCode BMRMGroupedCutEach(BMRMLoss l, const BMRMListScores *sc)
{
  Grouped *gr = (Grouped *)l->data;

  PetscFunctionBegin;
  for (int32_t k = 0; k < sc->of.ngroup; k++) {
    const PetscInt  begin = sc->of.begin[k], n = sc->of.begin[k + 1] - begin;
    const BMRMGroup g      = {n, sc->z + begin, sc->of.y + begin, l->value};
    PetscReal       offset = 0, sum = 0;

    for (PetscInt i = 0; i < n; i++) sum += g.z[i];
    if (PetscIsInfOrNanReal(sum)) PetscCall(PetscArrayzero(sc->u + begin, n)); /* scores that are not finite cannot be compared; the sums will show them */
    else PetscCall((*gr->of->cut)(&g, sc->u + begin, &offset));
    PetscCall(PetscArrayzero(sc->c + begin, n));
    sc->c[begin] = offset;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the scores f + s e, the cuts and their sums, with the workspace of sc. The results are valid after a synchronisation of the device. */
static PetscErrorCode BMRMGroupedCutAndSum(BMRMLoss l, BMRMWork *work, BMRMListsCut cut, const BMRMListScores *sc, const Sweep *sw)
{
  Grouped *gr = (Grouped *)l->data;

  PetscFunctionBegin;
  PetscCallGp(work->dev, "The loss on the device", GP_ON_DEVICE(work->dev, BMRMListsScores, work->dev, sc));
  if (gr->of->cut) PetscCall(BMRMGroupedCutEach(l, sc));
  else PetscCallGp(work->dev, "The loss on the device", (*cut)(work->dev, &sc->of, l->value, sc->z, sc->u, sc->c));
  PetscCallGp(work->dev, "The loss on the device", GP_ON_DEVICE(work->dev, BMRMListsSums, work, sc, (int)sw->n, (int)sw->block, l->scale, sw->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums value, offset and slope along e over the groups at f + s e, in the memory space of the scores. */
static PetscErrorCode BMRMGroupedEvaluate(BMRMLoss l, Sweep *sw)
{
  Grouped       *gr    = (Grouped *)l->data;
  BMRMListsCut   cut   = gr->of->sweep && !gr->at.device ? gr->of->sweep : gr->of->lists[gr->at.gpu];
  BMRMWork       work  = gr->at.work;
  const size_t   bytes = 3 * (size_t)gr->lists.n * sizeof(double);
  BMRMListScores sc    = {.f = gr->at.f, .e = gr->at.e, .s = sw->s};
  PetscErrorCode err;

  PetscFunctionBegin;
  if (!gr->at.device) work.dev = gr->host;
  PetscCall(BMRMGroupedGetLists(gr, work.dev, &sc.of));
  PetscCallGp(work.dev, "The loss on the device", GpDevBorrow(work.dev, bytes, &sc.z));
  sc.u = sc.z + sc.of.n;
  sc.c = sc.u + sc.of.n;
  err  = BMRMGroupedCutAndSum(l, &work, cut, &sc, sw);
  GpDevReturn(work.dev, &sc.z, bytes);
  PetscCall(err);
  PetscCallGp(work.dev, "The loss on the device", GpDevSync(work.dev));
  sw->value  = l->scale * work.result[0];
  sw->offset = l->scale * work.result[1];
  sw->slope  = l->scale * work.result[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the scores: in place if one rank has them all, otherwise gathered on rank 0. */
static PetscErrorCode BMRMGroupedGetScores(BMRMLoss l, Vec f, Vec e, Vec y)
{
  Grouped *gr = (Grouped *)l->data;

  PetscFunctionBegin;
  if (gr->alone) PetscCall(BMRMPlaceGet_Private(&gr->at, (PetscBool)(gr->of->lists[1] != NULL), f, e, y));
  else {
    PetscCall(BMRMGroupedGather(gr, f, &gr->f));
    PetscCall(BMRMGroupedGather(gr, e, &gr->e));
    PetscCall(BMRMPlaceGet_Private(&gr->at, PETSC_FALSE, gr->f.all, gr->e.all, gr->f.all));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMGroupedRestoreScores(BMRMLoss l, Vec f, Vec e, Vec y)
{
  Grouped *gr = (Grouped *)l->data;

  PetscFunctionBegin;
  if (gr->alone) PetscCall(BMRMPlaceRestore_Private(&gr->at, f, e, y, 10));
  else PetscCall(BMRMPlaceRestore_Private(&gr->at, gr->f.all, gr->e.all, gr->f.all, 10));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMLossRisk_Grouped(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscReal *risk)
{
  Sweep sw = {s, 1, 0, 0, 0, 0, NULL};

  PetscFunctionBegin;
  PetscCall(BMRMGroupedGetScores(l, f, e, y));
  PetscCall(BMRMGroupedEvaluate(l, &sw));
  PetscCall(BMRMGroupedRestoreScores(l, f, e, y));
  *risk = sw.value;
  PetscCallMPI(MPI_Bcast(risk, 1, MPIU_REAL, 0, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMLossCut_Grouped(BMRMLoss l, Vec f, Vec e, PetscReal s, Vec y, PetscInt n, PetscInt k, Vec r, PetscReal *offset)
{
  Grouped     *gr  = (Grouped *)l->data;
  Sweep        sw  = {s, n, k, 0, 0, 0, NULL};
  Vec          all = r;
  PetscScalar *ra;

  PetscFunctionBegin;
  PetscCall(BMRMGroupedGetScores(l, f, e, y));
  if (!gr->alone) PetscCall(VecDuplicate(gr->f.all, &all));
  PetscCall(BMRMPlaceGetWrite_Private(&gr->at, all, &ra));
  sw.r = ra;
  PetscCall(BMRMGroupedEvaluate(l, &sw));
  PetscCall(BMRMPlaceRestoreWrite_Private(&gr->at, all, &ra));
  PetscCall(BMRMGroupedRestoreScores(l, f, e, y));
  if (!gr->alone) {
    PetscCall(VecScatterBegin(gr->scatter, all, r, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(gr->scatter, all, r, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecDestroy(&all));
  }
  *offset = sw.offset;
  PetscCallMPI(MPI_Bcast(offset, 1, MPIU_REAL, 0, PetscObjectComm((PetscObject)f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMLossSlopes_Grouped(BMRMLoss l, Vec f, Vec e, PetscInt nt, const PetscReal t[], Vec y, PetscReal d[])
{
  PetscFunctionBegin;
  PetscCall(BMRMGroupedGetScores(l, f, e, y));
  for (PetscInt k = 0; k < nt; k++) {
    Sweep sw = {t[k], 1, 0, 0, 0, 0, NULL};

    PetscCall(BMRMGroupedEvaluate(l, &sw));
    d[2 * k]     = sw.slope;
    d[2 * k + 1] = 0;
  }
  PetscCall(BMRMGroupedRestoreScores(l, f, e, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMLossDestroy_Grouped(BMRMLoss l)
{
  Grouped *gr = (Grouped *)l->data;

  PetscFunctionBegin;
  PetscCall(BMRMGroupedReset(gr));
  PetscCall(BMRMPlaceDestroy_Private(&gr->at));
  GpDevClose(&gr->host);
  PetscCall(PetscFree(l->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMLossSetGrouped - Sets the operations of a loss that is a mean over lists of examples, whose scores are compared with each other

  Not Collective

  Input Parameters:
+ l  - the loss
- of - the functions and properties of the loss; not copied

  Level: developer

  Note:
  If one rank has all scores, the loss is evaluated in the memory space of the scores, provided that it has an implementation for it. Otherwise it is evaluated on the
  host, with several ranks on rank 0.

.seealso: `BMRMLossRegister()`, `BMRMLossSetPointwise()`, `BMRMSetQueries()`
@*/
PetscErrorCode BMRMLossSetGrouped(BMRMLoss l, const BMRMGrouped *of)
{
  Grouped *gr;

  PetscFunctionBegin;
  PetscCall(PetscNew(&gr));
  gr->of          = of;
  l->data         = gr;
  l->ops->setup   = BMRMLossSetUp_Grouped;
  l->ops->risk    = BMRMLossRisk_Grouped;
  l->ops->cut     = BMRMLossCut_Grouped;
  l->ops->least   = BMRMLossLeastZero_Private;
  l->ops->slopes  = BMRMLossSlopes_Grouped;
  l->ops->destroy = BMRMLossDestroy_Grouped;
  l->onebyone     = PETSC_TRUE;
  PetscCall(BMRMLossDescribe(l, of->task, of->fits, of->labels, of->nparameter, of->parameter));
  PetscFunctionReturn(PETSC_SUCCESS);
}
