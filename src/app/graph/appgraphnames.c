/* Names of nodes: a hash table on each rank, whose numbers can be made the same on all ranks. */
#include "app/graph/appgraph.h"
#include <string.h>

/* FNV-1a (G. Fowler, L. C. Noll, P. Vo), its upper bits mixed into the lower ones that choose a slot */
static uint64_t NamesHash(const char *p, size_t length)
{
  uint64_t h = 0xcbf29ce484222325u;

  for (size_t k = 0; k < length; k++) h = (h ^ (unsigned char)p[k]) * 0x100000001b3u;
  return h ^ h >> 32;
}

/* Returns the slot of a name, or the empty slot for it. An empty slot always exists. */
static PetscInt64 NamesFindSlot(const GpAppNames *N, const char *p, size_t length)
{
  PetscInt64 s = (PetscInt64)(NamesHash(p, length) & (uint64_t)(N->nslots - 1));

  for (; N->slot[s]; s = (s + 1) & (N->nslots - 1)) {
    const char *name = GpAppNamesGet(N, N->slot[s] - 1);

    if (!strncmp(name, p, length) && !name[length]) break;
  }
  return s;
}

static PetscErrorCode NamesGrow(GpAppNames *N)
{
  PetscFunctionBegin;
  N->capacity = PetscMax(64, 2 * N->capacity);
  PetscCall(PetscRealloc((size_t)N->capacity * sizeof(*N->at), &N->at));
  N->nslots = 2 * N->capacity; /* a power of two, at most half full */
  PetscCall(PetscFree(N->slot));
  PetscCall(PetscCalloc1(N->nslots, &N->slot));
  for (PetscInt64 k = 0; k < N->n; k++) {
    const char *name = GpAppNamesGet(N, k);

    N->slot[NamesFindSlot(N, name, strlen(name))] = k + 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the number of a name, and adds a new name. A name contains no zero byte. */
PetscErrorCode GpAppNamesAdd(GpAppNames *N, const char name[], size_t length, PetscInt64 *number)
{
  PetscInt64 s;

  PetscFunctionBegin;
  if (N->n == N->capacity) PetscCall(NamesGrow(N));
  s = NamesFindSlot(N, name, length);
  if (!N->slot[s]) {
    if (N->length + length + 1 > N->size) {
      N->size = PetscMax(2 * N->size, N->length + length + 1024);
      PetscCall(PetscRealloc(N->size, &N->text));
    }
    N->at[N->n] = N->length;
    memcpy(N->text + N->length, name, length);
    N->text[N->length + length] = 0;
    N->length += length + 1;
    N->slot[s] = ++N->n;
  }
  *number = N->slot[s] - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 GpAppNamesFind(const GpAppNames *N, const char name[], size_t length)
{
  return N->n ? N->slot[NamesFindSlot(N, name, length)] - 1 : -1;
}

PetscErrorCode GpAppNamesDestroy(GpAppNames *N)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(N->text));
  PetscCall(PetscFree(N->at));
  PetscCall(PetscFree(N->slot));
  *N = (GpAppNames){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Merges the names of all ranks into one set on every rank. number: the new number of each name of this rank, to be freed with PetscFree(). Collective.
   Ranks that read a file in parts number names as one rank that reads all of it: by first occurrence. */
PetscErrorCode GpAppNamesMerge(MPI_Comm comm, GpAppNames *N, PetscInt64 **number)
{
  GpAppNames all = {0};
  PetscInt64 total;
  char      *text;

  PetscFunctionBegin;
  PetscCall(GpAppAllgather(comm, N->text, (PetscInt64)N->length, 1, &text, &total));
  for (const char *p = text, *end = text + total; p < end;) {
    const size_t length = strlen(p);
    PetscInt64   k;

    PetscCall(GpAppNamesAdd(&all, p, length, &k));
    p += length + 1;
  }
  PetscCall(PetscFree(text));
  PetscCall(PetscMalloc1(N->n, number));
  for (PetscInt64 k = 0; k < N->n; k++) {
    const char *name = GpAppNamesGet(N, k);

    (*number)[k] = GpAppNamesFind(&all, name, strlen(name));
  }
  PetscCall(GpAppNamesDestroy(N));
  *N = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}
