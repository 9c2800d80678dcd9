/* Set-up of a scatter with gpu vectors.  The index lists are taken from a PetscSF of type basic or neighbor after its set-up, and sorted if an entry
   receives more than once.  A second PetscSF exchanges the packed buffers. */
#include "vec/scatter/gpuvecscatter.h"
#include <petscbt.h>

static PetscErrorCode VecGPUIndexCreate(PetscInt n, VecGPUIndex *x)
{
  PetscFunctionBegin;
  x->n = n;
  PetscCall(PetscMalloc1(n, &x->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUIndexDestroy(GpDev dev, VecGPUIndex *x)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(x->host));
  if (dev) GpDevFree(dev, &x->device, (size_t)x->n * sizeof(int32_t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecGPUIndexGetArray(GpDev dev, VecGPUIndex *x, PetscBool device, const int32_t **index)
{
  const size_t bytes = (size_t)x->n * sizeof(int32_t);

  PetscFunctionBegin;
  if (device && !x->device && x->n) {
    PetscCallGp(dev, "allocating device memory for the indices of a scatter", GpDevAlloc(dev, bytes, &x->device));
    PetscCallGp(dev, "uploading the indices of a scatter", GpDevUpload(dev, x->device, x->host, bytes));
  }
  *index = device ? x->device : x->host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the index list that packs the entries of side from into a buffer. */
PetscErrorCode VecGPUScatterGetPack_Private(VecGPUScatter s, int scope, int from, PetscBool device, GpVecMove *m)
{
  VecGPUIndex *edges = &s->edges[scope][from];

  PetscFunctionBegin;
  *m = (GpVecMove){.n = edges->n};
  PetscCall(VecGPUIndexGetArray(s->dev, edges, device, &m->from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the index lists that write the entries of side to, from a packed buffer or from the entries of the other side. */
PetscErrorCode VecGPUScatterGetMove_Private(VecGPUScatter s, int scope, int to, PetscBool buffered, PetscBool device, GpVecMove *m)
{
  VecGPUSorted *sorted = &s->sorted[scope][to];

  PetscFunctionBegin;
  *m = (GpVecMove){0};
  if (sorted->sorted) {
    m->n = sorted->to.n;
    PetscCall(VecGPUIndexGetArray(s->dev, &sorted->to, device, &m->to));
    PetscCall(VecGPUIndexGetArray(s->dev, &sorted->start, device, &m->start));
    PetscCall(VecGPUIndexGetArray(s->dev, buffered ? &sorted->place : &sorted->from, device, &m->from));
  } else {
    m->n = s->edges[scope][to].n;
    PetscCall(VecGPUIndexGetArray(s->dev, &s->edges[scope][to], device, &m->to));
    if (!buffered) PetscCall(VecGPUIndexGetArray(s->dev, &s->edges[scope][!to], device, &m->from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts the edges of a scope by the receiving entry, unless every entry receives at most once.  Sets the bits of the receiving entries. */
static PetscErrorCode VecGPUScatterSortEdges(VecGPUScatter s, int scope, int to, PetscInt range, PetscBT receives)
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
    PetscCall(VecGPUIndexCreate(n, &r->to));
    PetscCall(VecGPUIndexCreate(n + 1, &r->start));
    if (scope == LOCAL) PetscCall(VecGPUIndexCreate(dest->n, &r->from));
    PetscCall(VecGPUIndexCreate(dest->n, &r->place));
    r->start.host[0] = 0;
    n                = 0;
    for (PetscInt k = 0; k < range; k++) { /* count[k] becomes the position of the next edge of entry k */
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

static PetscErrorCode VecGPUScatterDestroyLists(VecGPUScatter s)
{
  PetscFunctionBegin;
  for (int scope = 0; scope < 2; scope++)
    for (int side = 0; side < 2; side++) {
      VecGPUSorted *r = &s->sorted[scope][side];

      PetscCall(VecGPUIndexDestroy(s->dev, &s->edges[scope][side]));
      PetscCall(VecGPUIndexDestroy(s->dev, &r->to));
      PetscCall(VecGPUIndexDestroy(s->dev, &r->start));
      PetscCall(VecGPUIndexDestroy(s->dev, &r->from));
      PetscCall(VecGPUIndexDestroy(s->dev, &r->place));
      r->sorted = PETSC_FALSE;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the lists.  PETSc lists the edges from this rank to itself first and then those of other ranks, in the same order on both sides. */
static PetscErrorCode VecGPUScatterCreateLists(PetscSF sf, VecGPUScatter s)
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

    PetscCall(VecGPUIndexCreate(own, &s->edges[LOCAL][side]));
    PetscCall(VecGPUIndexCreate(total - own, &s->edges[REMOTE][side]));
    for (PetscInt j = 0; j < total; j++) {
      (j < own ? s->edges[LOCAL][side].host : s->edges[REMOTE][side].host - own)[j] = (int32_t)index[side][j];
      range[side]                                                                   = PetscMax(range[side], index[side][j] + 1);
    }
  }
  for (int side = 0; side < 2; side++) {
    PetscBT receives;

    s->covered[side] = 0;
    PetscCall(PetscBTCreate(range[side], &receives));
    for (int scope = 0; scope < 2; scope++) PetscCall(VecGPUScatterSortEdges(s, scope, side, range[side], receives));
    PetscCall(PetscBTDestroy(&receives));
  }
  s->remote = sf->remote;
  /* After a remap PETSc leaves negative numbers here and never reads them again.  Zero marks that these lists are current, see
     VecGPUScatterUpdate_Private(). */
  if (!sf->remote && s->edges[LOCAL][LEAF].n + s->edges[REMOTE][LEAF].n) sf->rremote[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the lists again if VecScatterRemap() has replaced the roots.  It gives no notice, but it frees sf->remote and writes negative
   numbers to sf->rremote.  A rank without leaves has neither, and compares the indices of the roots that it sends. */
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
  PetscCallGp(s->dev, "scatter", GpDevSync(s->dev));
  PetscCall(VecGPUScatterDestroyLists(s));
  PetscCall(VecGPUScatterCreateLists(sf, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the PetscSF between the packed buffers, in which each root has one leaf.  The rank of the roots sends each partner the offset
   of its part in the buffer of roots. */
static PetscErrorCode VecGPUScatterCreateInnerSF(PetscSF sf, VecGPUScatter s)
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

/* Collective.  All ranks must agree on one path.  PETSc's functions run the scatter if host memory serves as device memory on all ranks,
   because nothing would be gained, or if an index does not fit 32 bits on some rank. */
PetscErrorCode VecGPUScatterSetUp_Private(PetscSF sf, VecGPUScatter s, int bs, PetscBool shared)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)sf);
  PetscMPIInt    size;
  int            votes[2];
  const PetscInt entries = PetscMax(sf->nroots, sf->maxleaf + 1);

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&s->dev));
  s->bs    = bs;
  votes[0] = !shared;
  votes[1] = (double)entries * bs > 0x7fffffff || (double)sf->nleaves * bs > 0x7fffffff; /* kernels use 32-bit indices */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, votes, 2, MPI_INT, MPI_MAX, comm));
  s->built = PETSC_TRUE;
  s->plain = (PetscBool)(!votes[0] || votes[1]);
  if (s->plain) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGPUScatterCreateLists(sf, s));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCall(VecGPUScatterCreateInnerSF(sf, s));
  for (int side = 0; side < 2; side++) {
    const size_t bytes = (size_t)s->edges[REMOTE][side].n * s->bs * sizeof(double);

    if (bytes) PetscCallGp(s->dev, "allocating pinned buffers for a scatter", GpDevAllocPinned(s->dev, bytes, (void **)&s->buffer[side]));
  }
  PetscCallGp(s->dev, "scatter", GpDevEventCreate(s->dev, &s->event));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGPUScatterReset_Private(VecGPUScatter s)
{
  PetscFunctionBegin;
  if (s->event) {
    PetscCallGp(s->dev, "scatter", GpDevSync(s->dev));
    GpDevEventDestroy(s->dev, s->event);
  }
  PetscCall(VecGPUScatterDestroyLists(s));
  PetscCall(PetscSFDestroy(&s->inner));
  for (int side = 0; side < 2; side++) PetscCall(PetscGPUCSRDeviceFreePinned(s->dev, &s->buffer[side]));
  PetscCall(PetscGPUCSRDeviceFreePinned(s->dev, &s->own));
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
