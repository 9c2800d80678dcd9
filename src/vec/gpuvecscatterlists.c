/* The lists of a scatter with gpu vectors: taken from a PetscSF of the basic kind once it is set up, sorted where an entry receives more
   than once, and the PetscSF between packed buffers. */
#include "vec/gpuvecscatter.h"
#include <petscbt.h>

static PetscErrorCode IndexCreate(PetscInt n, VecGPUIndex *x)
{
  PetscFunctionBegin;
  x->n = n;
  PetscCall(PetscMalloc1(n, &x->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IndexDestroy(GpDev dev, VecGPUIndex *x)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(x->host));
  if (dev) GpDevFree(dev, &x->device, (size_t)x->n * sizeof(int32_t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IndexGet(GpDev dev, VecGPUIndex *x, PetscBool device, const int32_t **index)
{
  const size_t bytes = (size_t)x->n * sizeof(int32_t);

  PetscFunctionBegin;
  if (device && !x->device && x->n) {
    PetscCallGp(dev, "making room for a scatter's indices", GpDevAlloc(dev, bytes, &x->device));
    PetscCallGp(dev, "uploading a scatter's indices", GpDevUpload(dev, x->device, x->host, bytes));
  }
  *index = device ? x->device : x->host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the entries of the side from into a buffer */
PetscErrorCode VecGPUScatterGetPack_Private(VecGPUScatter s, int scope, int from, PetscBool device, GpVecMove *m)
{
  VecGPUIndex *edges = &s->edges[scope][from];

  PetscFunctionBegin;
  *m = (GpVecMove){.n = edges->n};
  PetscCall(IndexGet(s->dev, edges, device, &m->from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* into the entries of the side to, from those of the other side or from a buffer */
PetscErrorCode VecGPUScatterGetMove_Private(VecGPUScatter s, int scope, int to, PetscBool buffered, PetscBool device, GpVecMove *m)
{
  VecGPUSorted *sorted = &s->sorted[scope][to];

  PetscFunctionBegin;
  *m = (GpVecMove){0};
  if (sorted->sorted) {
    m->n = sorted->to.n;
    PetscCall(IndexGet(s->dev, &sorted->to, device, &m->to));
    PetscCall(IndexGet(s->dev, &sorted->start, device, &m->start));
    PetscCall(IndexGet(s->dev, buffered ? &sorted->place : &sorted->from, device, &m->from));
  } else {
    m->n = s->edges[scope][to].n;
    PetscCall(IndexGet(s->dev, &s->edges[scope][to], device, &m->to));
    if (!buffered) PetscCall(IndexGet(s->dev, &s->edges[scope][!to], device, &m->from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sorts the edges of a scope by the side that receives, unless every entry receives once; marks which do */
static PetscErrorCode Sort(VecGPUScatter s, int scope, int to, PetscInt range, PetscBT receives)
{
  const VecGPUIndex *dest = &s->edges[scope][to], *source = &s->edges[scope][!to];
  VecGPUSorted      *r = &s->sorted[scope][to];
  PetscInt          *count, n = 0, most = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(range + 1, &count));
  for (PetscInt j = 0; j < dest->n; j++) {
    const PetscInt k = dest->host[j];

    if (++count[k] == 1) n++;
    most = PetscMax(most, count[k]);
    if (!PetscBTLookupSet(receives, k)) s->covered[to]++;
  }
  r->sorted = (PetscBool)(most > 1);
  if (r->sorted) {
    PetscCall(IndexCreate(n, &r->to));
    PetscCall(IndexCreate(n + 1, &r->start));
    if (scope == LOCAL) PetscCall(IndexCreate(dest->n, &r->from));
    PetscCall(IndexCreate(dest->n, &r->place));
    r->start.host[0] = 0;
    n                = 0;
    for (PetscInt k = 0; k < range; k++) { /* count becomes the place of the entry's next edge */
      const PetscInt edges = count[k];

      count[k] = r->start.host[n];
      if (!edges) continue;
      r->to.host[n]        = (int32_t)k;
      r->start.host[n + 1] = (int32_t)(r->start.host[n] + edges);
      n++;
    }
    for (PetscInt j = 0; j < dest->n; j++) {
      const PetscInt at = count[dest->host[j]]++;

      if (scope == LOCAL) r->from.host[at] = source->host[j];
      r->place.host[at] = (int32_t)j;
    }
  }
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeLists(VecGPUScatter s)
{
  PetscFunctionBegin;
  for (int scope = 0; scope < 2; scope++)
    for (int side = 0; side < 2; side++) {
      VecGPUSorted *r = &s->sorted[scope][side];

      PetscCall(IndexDestroy(s->dev, &s->edges[scope][side]));
      PetscCall(IndexDestroy(s->dev, &r->to));
      PetscCall(IndexDestroy(s->dev, &r->start));
      PetscCall(IndexDestroy(s->dev, &r->from));
      PetscCall(IndexDestroy(s->dev, &r->place));
      r->sorted = PETSC_FALSE;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc lists first the edges of this rank to itself, if there are any, then those to other ranks, for both sides in one order */
static PetscErrorCode MakeLists(PetscSF sf, VecGPUScatter s)
{
  const PetscInt    *index[2], *offset[2];
  const PetscMPIInt *ranks[2];
  GpSFRanks          nranks[2];
  PetscInt           range[2] = {0, 0};
  PetscMPIInt        rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)sf), &rank));
  PetscCall(PetscSFGetLeafRanks(sf, &nranks[ROOT], &ranks[ROOT], &offset[ROOT], &index[ROOT]));
  PetscCall(PetscSFGetRootRanks(sf, &nranks[LEAF], &ranks[LEAF], &offset[LEAF], &index[LEAF], NULL));
  for (int side = 0; side < 2; side++) {
    const PetscInt own = nranks[side] && ranks[side][0] == rank ? offset[side][1] : 0, total = nranks[side] ? offset[side][nranks[side]] : 0;

    PetscCall(IndexCreate(own, &s->edges[LOCAL][side]));
    PetscCall(IndexCreate(total - own, &s->edges[REMOTE][side]));
    for (PetscInt j = 0; j < total; j++) {
      (j < own ? s->edges[LOCAL][side].host : s->edges[REMOTE][side].host - own)[j] = (int32_t)index[side][j];
      range[side]                                                                   = PetscMax(range[side], index[side][j] + 1);
    }
  }
  for (int side = 0; side < 2; side++) {
    PetscBT receives;

    s->covered[side] = 0;
    PetscCall(PetscBTCreate(range[side], &receives));
    for (int scope = 0; scope < 2; scope++) PetscCall(Sort(s, scope, side, range[side], receives));
    PetscCall(PetscBTDestroy(&receives));
  }
  s->remote = sf->remote;
  /* PETSc leaves these without a meaning, see VecGPUScatterUpdate_Private() */
  if (!sf->remote && s->edges[LOCAL][LEAF].n + s->edges[REMOTE][LEAF].n) sf->rremote[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecScatterRemap() puts other roots in the place of the former ones, changes nothing else, and tells nobody: it takes the list of
   remote roots away, and makes the sorted one unusable by negative numbers.  A rank without leaves has neither, and only what it sends. */
PetscErrorCode VecGPUScatterUpdate_Private(PetscSF sf, VecGPUScatter s)
{
  const PetscBool leaves = (PetscBool)(s->edges[LOCAL][LEAF].n + s->edges[REMOTE][LEAF].n > 0);
  PetscBool       same   = (PetscBool)(sf->remote == s->remote && (sf->remote || !leaves || sf->rremote[0] >= 0));

  PetscFunctionBegin;
  if (!leaves) {
    const PetscInt *root;

    PetscCall(PetscSFGetLeafRanks(sf, NULL, NULL, NULL, &root));
    for (PetscInt j = 0; same && j < s->edges[REMOTE][ROOT].n; j++) same = (PetscBool)(s->edges[REMOTE][ROOT].host[j] == root[j]);
  }
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGp(s->dev, "scatter", s->dev->ops->sync(s->dev));
  PetscCall(FreeLists(s));
  PetscCall(MakeLists(sf, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The PetscSF whose roots and leaves are the entries of the packed buffers, each of which has one partner.  A rank's leaves learn where
   their part of the buffer of roots begins. */
static PetscErrorCode CreateInner(PetscSF sf, VecGPUScatter s)
{
  MPI_Comm           comm = PetscObjectComm((PetscObject)sf);
  const PetscInt    *offset[2];
  const PetscMPIInt *ranks[2];
  GpSFRanks          nranks[2];
  PetscInt           first[2], *mine, *theirs;
  PetscMPIInt        rank, tag;
  MPI_Request       *requests;
  PetscSFNode       *remote;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscObjectGetNewTag((PetscObject)sf, &tag));
  PetscCall(PetscSFGetLeafRanks(sf, &nranks[ROOT], &ranks[ROOT], &offset[ROOT], NULL));
  PetscCall(PetscSFGetRootRanks(sf, &nranks[LEAF], &ranks[LEAF], &offset[LEAF], NULL, NULL));
  for (int side = 0; side < 2; side++) first[side] = nranks[side] && ranks[side][0] == rank ? 1 : 0;
  PetscCall(PetscMalloc3(nranks[ROOT], &mine, nranks[LEAF], &theirs, nranks[ROOT] + nranks[LEAF], &requests));
  for (PetscInt r = 0; r < nranks[ROOT] + nranks[LEAF]; r++) requests[r] = MPI_REQUEST_NULL;
  for (PetscInt r = first[LEAF]; r < nranks[LEAF]; r++) PetscCallMPI(MPI_Irecv(&theirs[r], 1, MPIU_INT, ranks[LEAF][r], tag, comm, &requests[r]));
  for (PetscInt r = first[ROOT]; r < nranks[ROOT]; r++) {
    mine[r] = offset[ROOT][r] - offset[ROOT][first[ROOT]];
    PetscCallMPI(MPI_Isend(&mine[r], 1, MPIU_INT, ranks[ROOT][r], tag, comm, &requests[nranks[LEAF] + r]));
  }
  PetscCallMPI(MPI_Waitall((PetscMPIInt)(nranks[ROOT] + nranks[LEAF]), requests, MPI_STATUSES_IGNORE));
  PetscCall(PetscMalloc1(s->edges[REMOTE][LEAF].n, &remote));
  for (PetscInt r = first[LEAF]; r < nranks[LEAF]; r++)
    for (PetscInt j = offset[LEAF][r]; j < offset[LEAF][r + 1]; j++) {
      remote[j - offset[LEAF][first[LEAF]]].rank  = ranks[LEAF][r];
      remote[j - offset[LEAF][first[LEAF]]].index = theirs[r] + j - offset[LEAF][r];
    }
  PetscCall(PetscFree3(mine, theirs, requests));
  PetscCall(PetscSFCreate(comm, &s->inner));
  PetscCall(PetscSFSetType(s->inner, PETSCSFBASIC));
  PetscCall(PetscSFSetGraph(s->inner, s->edges[REMOTE][ROOT].n, s->edges[REMOTE][LEAF].n, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(s->inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllocatePinned(VecGPUScatter s, PetscInt n, double **p)
{
  PetscFunctionBegin;
  if (n) PetscCallGp(s->dev, "making room for what a scatter sends", s->dev->ops->alloc_pinned(s->dev, (size_t)n * s->bs * sizeof(double), (void **)p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every rank comes here at the same time.  PETSc's own way is as good where the host's memory is the device's; and all ranks must go
   the same way. */
PetscErrorCode VecGPUScatterSetUp_Private(PetscSF sf, VecGPUScatter s, int bs, PetscBool shared)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)sf);
  PetscMPIInt    size;
  int            votes[2];
  const PetscInt entries = PetscMax(sf->nroots, sf->maxleaf + 1);

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice_Private(&s->dev));
  s->bs    = bs;
  votes[0] = !shared;
  votes[1] = (double)entries * bs > 0x7fffffff || (double)sf->nleaves * bs > 0x7fffffff; /* indices of 32 bits */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, votes, 2, MPI_INT, MPI_MAX, comm));
  s->built = PETSC_TRUE;
  s->plain = (PetscBool)(!votes[0] || votes[1]);
  if (s->plain) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MakeLists(sf, s));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCall(CreateInner(sf, s));
  for (int side = 0; side < 2; side++) PetscCall(AllocatePinned(s, s->edges[REMOTE][side].n, &s->buffer[side]));
  PetscCallGp(s->dev, "scatter", s->dev->ops->event_create(s->dev, &s->event));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUScatterReset_Private(VecGPUScatter s)
{
  PetscFunctionBegin;
  if (s->event) {
    PetscCallGp(s->dev, "scatter", s->dev->ops->sync(s->dev));
    s->dev->ops->event_destroy(s->dev, s->event);
  }
  PetscCall(FreeLists(s));
  PetscCall(PetscSFDestroy(&s->inner));
  for (int side = 0; side < 2; side++)
    if (s->buffer[side]) s->dev->ops->release_pinned(s->dev, s->buffer[side]);
  if (s->own) s->dev->ops->release_pinned(s->dev, s->own);
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
