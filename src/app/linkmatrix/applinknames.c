/* Maps the identities and names of nodes in files to consecutive row numbers, and back. */
#include "app/linkmatrix/applinkmatrix.h"
#include "app/text/appcollective.h"
#include "app/text/appscan.h"
#include <stdlib.h>
#include <string.h>

/* Map from identities to node numbers: either a bit set of the identities that occur, or their sorted list. */
typedef struct {
  uint64_t   *bits;   /* [words] bit set. NULL: the sorted list is used. */
  PetscInt   *before; /* [words] number of nodes whose bits are in earlier words */
  PetscInt64  words;  /* number of 64-bit words */
  PetscInt64 *sorted; /* [n] ascending identities. NULL: the bit set is used. */
  PetscInt64  n;      /* number of nodes */
} Names;

/* Counts the bits that are set. The built-in function would be a call of libgcc, because the baseline instruction set lacks popcnt. */
static inline int NamesCountOnes(uint64_t w)
{
  w -= w >> 1 & 0x5555555555555555u;
  w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
  w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (int)(w * 0x0101010101010101u >> 56);
}

static int NamesCompare(const void *a, const void *b)
{
  const PetscInt64 x = *(const PetscInt64 *)a, y = *(const PetscInt64 *)b;

  return (x > y) - (x < y);
}

/* Sorts the list and removes duplicates. Returns the new length. */
static PetscInt64 NamesSortUnique(PetscInt64 *list, PetscInt64 n)
{
  PetscInt64 kept = 0;

  qsort(list, (size_t)n, sizeof(*list), NamesCompare);
  for (PetscInt64 k = 0; k < n; k++)
    if (!kept || list[kept - 1] != list[k]) list[kept++] = list[k];
  return kept;
}

/* Builds the bit set: the union over all processes, reduced in pieces whose length fits the int of MPI. */
static PetscErrorCode NamesBuildBits(MPI_Comm comm, const GpAppLinks *L, PetscInt64 largest, Names *names)
{
  const PetscInt64 piece = 1 << 27;

  PetscFunctionBegin;
  names->words = largest / 64 + 1;
  PetscCall(PetscCalloc2(names->words, &names->bits, names->words, &names->before));
  for (PetscInt64 k = 0; k < L->n; k++) {
    names->bits[L->from[k] >> 6] |= (uint64_t)1 << (L->from[k] & 63);
    names->bits[L->to[k] >> 6] |= (uint64_t)1 << (L->to[k] & 63);
  }
  for (PetscInt64 w = 0; w < names->words; w += piece) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, names->bits + w, (PetscMPIInt)PetscMin(piece, names->words - w), MPI_UINT64_T, MPI_BOR, comm));
  for (PetscInt64 w = 0; w < names->words; w++) {
    PetscCheck(names->n <= PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE, "The nodes do not fit PetscInt: use a PETSc with 64-bit indices");
    names->before[w] = (PetscInt)names->n;
    names->n += NamesCountOnes(names->bits[w]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds the sorted list: the union over all processes. */
static PetscErrorCode NamesBuildList(MPI_Comm comm, const GpAppLinks *L, Names *names)
{
  PetscInt64 *mine, total;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * L->n + 1, &mine));
  memcpy(mine, L->from, (size_t)L->n * sizeof(*mine));
  memcpy(mine + L->n, L->to, (size_t)L->n * sizeof(*mine));
  PetscCall(GpAppAllgather(comm, mine, NamesSortUnique(mine, 2 * L->n), sizeof(*mine), &names->sorted, &total));
  names->n = NamesSortUnique(names->sorted, total);
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt64 NamesFindSorted(const PetscInt64 sorted[], PetscInt64 n, PetscInt64 id)
{
  const PetscInt64 *at = (const PetscInt64 *)bsearch(&id, sorted, (size_t)n, sizeof(id), NamesCompare);

  return at ? at - sorted : -1;
}

static inline PetscInt64 NamesFind(const Names *names, PetscInt64 id)
{
  if (names->sorted) return NamesFindSorted(names->sorted, names->n, id);
  return names->before[id >> 6] + NamesCountOnes(names->bits[id >> 6] & (((uint64_t)1 << (id & 63)) - 1));
}

/* Numbers the nodes that occur in the links by ascending identity, and replaces the identities in the links by these numbers. */
PetscErrorCode GpAppLinkMatrixRename(MPI_Comm comm, GpAppLinks *L, GpAppLinkMatrix *G)
{
  Names      names   = {0};
  PetscInt64 mine[2] = {0, L->n}, largest = 0, total = 0;

  PetscFunctionBegin;
  for (PetscInt64 k = 0; k < L->n; k++) mine[0] = PetscMax(mine[0], PetscMax(L->from[k], L->to[k]));
  PetscCallMPI(MPI_Allreduce(mine, &largest, 1, MPIU_INT64, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(mine + 1, &total, 1, MPIU_INT64, MPI_SUM, comm));
  if (largest / 64 <= total + 65536) PetscCall(NamesBuildBits(comm, L, largest, &names)); /* the bit set takes no more memory than the links */
  else PetscCall(NamesBuildList(comm, L, &names));
  PetscCheck(names.n <= PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE, "%s: the nodes do not fit PetscInt: use a PETSc with 64-bit indices", G->file);
  G->N = (PetscInt)names.n;
  if (names.bits && names.n == largest + 1) { /* all identities from 0 to N - 1 occur, so the identity is the number */
    PetscCall(PetscFree2(names.bits, names.before));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt64 k = 0; k < L->n; k++) {
    L->from[k] = NamesFind(&names, L->from[k]);
    L->to[k]   = NamesFind(&names, L->to[k]);
  }
  if (names.sorted) G->id = names.sorted;
  else {
    PetscInt64 n = 0;

    PetscCall(PetscMalloc1(names.n + 1, &G->id));
    for (PetscInt64 w = 0; w < names.words; w++)
      for (uint64_t rest = names.bits[w]; rest; rest &= rest - 1) G->id[n++] = 64 * w + __builtin_ctzll(rest);
    PetscCall(PetscFree2(names.bits, names.before));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppLinkMatrixFindNode(const GpAppLinkMatrix *G, const char name[], size_t length, PetscInt *row)
{
  PetscInt64 node = -1;

  PetscFunctionBegin;
  if (G->names.n) node = GpAppNamesFind(&G->names, name, length);
  else {
    PetscInt64 id;

    if (GpAppScanId(name, &id) != name + length) node = -1;
    else if (G->id) node = NamesFindSorted(G->id, G->N, id);
    else if (id >= G->idbase && id - G->idbase < G->N) node = id - G->idbase;
  }
  *row = G->row && node >= 0 ? G->row[node] : (PetscInt)node;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *GpAppLinkMatrixGetName(const GpAppLinkMatrix *G, PetscInt row, char number[24])
{
  const PetscInt node = G->node ? G->node[row] : row;

  if (G->names.n) return GpAppNamesGet(&G->names, node);
  (void)snprintf(number, 24, "%" PetscInt64_FMT, G->id ? G->id[node] : node + G->idbase);
  return number;
}
