/* Links from text: SNAP edge lists and Matrix Market files, plain or compressed. */
#include "pagerank.h"
#include "app/appmarket.h"
#include "app/appscan.h"
#include <ctype.h>
#include <string.h>

/* room for more links, and for their weights */
PetscErrorCode LinksReserve(Links *L, PetscInt64 more, PetscBool weighted)
{
  const PetscBool grow = (PetscBool)(L->n + more > L->capacity);

  PetscFunctionBegin;
  if (grow) {
    L->capacity = PetscMax(L->n + more, 2 * L->capacity);
    PetscCall(PetscRealloc((size_t)L->capacity * sizeof(*L->from), &L->from));
    PetscCall(PetscRealloc((size_t)L->capacity * sizeof(*L->to), &L->to));
  }
  if (weighted && (grow || !L->weight)) PetscCall(PetscRealloc((size_t)L->capacity * sizeof(*L->weight), &L->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LinksDestroy(Links *L)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(L->from));
  PetscCall(PetscFree(L->to));
  PetscCall(PetscFree(L->weight));
  L->n = L->capacity = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *SkipBlanks(const char *p)
{
  while (*p == ' ' || *p == '\t' || *p == ',' || *p == '\r') p++;
  return p;
}

/* a whole number that is not negative; NULL: there is none, or it is too large */
static const char *ScanId(const char *p, PetscInt64 *id)
{
  const char *begin = p;
  PetscInt64  value = 0;

  for (; isdigit((unsigned char)*p); p++) {
    if (value > (INT64_MAX - (*p - '0')) / 10) return NULL;
    value = 10 * value + (*p - '0');
  }
  *id = value;
  return p == begin || !(isspace((unsigned char)*p) || *p == ',') ? NULL : p;
}

static const char *ScanWeight(const char *p, PetscReal *w)
{
  const char *end = GpAppScanReal(p, w);

  return end && (isspace((unsigned char)*end) || *end == ',') ? end : NULL;
}

/* a number that is followed by a blank or the end of the line, of so few digits that it cannot overflow; NULL: anything else */
static inline const char *ScanShortId(const char *p, PetscInt64 *id)
{
  const char *begin = p;
  uint64_t    value = 0;

  for (unsigned digit; (digit = (unsigned)(*p - '0')) < 10; p++) value = 10 * value + digit;
  *id = (PetscInt64)value;
  return p > begin && p - begin <= 18 && (unsigned char)*p <= ' ' ? p : NULL;
}

/* the line "<from> <to>", as nearly all are; its end, NULL: it is another one, for ReadLink() to judge */
static inline const char *ScanPair(const char *p, PetscInt64 *from, PetscInt64 *to)
{
  p = ScanShortId(p, from);
  if (!p || (*p != ' ' && *p != '\t')) return NULL;
  p = ScanShortId(p + 1, to);
  if (p && *p == '\r') p++;
  return p && *p == '\n' ? p : NULL;
}

/* one link; the number of lines is for complaints */
static PetscErrorCode ReadLink(const char *p, const char *eol, PetscInt64 line, PetscBool *weighted, Links *L, GpAppComplaint *C)
{
  PetscInt64  from = 0, to = 0;
  PetscReal   w     = 1;
  const char *token = p, *q = ScanId(p, &from);

  PetscFunctionBegin;
  if (!q) GpAppComplain(C, line, token, eol, "expected two node numbers, not negative and below 2^63");
  else if (!(q = ScanId(token = SkipBlanks(q), &to))) GpAppComplain(C, line, token, eol, "expected a second node number");
  else {
    token = SkipBlanks(q);
    if (token < eol) { /* a third column is a weight */
      q = ScanWeight(token, &w);
      if (!q || !(w >= 0) || w > PETSC_MAX_REAL) GpAppComplain(C, line, token, eol, "expected a weight that is finite and not negative");
      else if (SkipBlanks(q) < eol) GpAppComplain(C, line, SkipBlanks(q), eol, "expected <from> <to> [<weight>]");
      if (!*weighted) { /* those before had none, or none came before */
        if (L->n) GpAppComplain(C, line, token, eol, "lines before had no weight: expected the end of the line");
        *weighted = PETSC_TRUE;
      }
    } else if (*weighted) GpAppComplain(C, line, token, eol, "lines before had a weight: expected a weight");
  }
  if (C->line) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LinksReserve(L, 1, *weighted));
  L->from[L->n] = from;
  L->to[L->n]   = to;
  if (*weighted) L->weight[L->n] = w;
  L->n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ranks must agree on whether there are weights; one without lines follows the others */
static PetscErrorCode AgreeOnWeights(const GpAppText *T, PetscInt64 lines, PetscBool weighted, Links *L, GpAppComplaint *C)
{
  int mine[2] = {L->n && weighted, L->n && !weighted}, all[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, T->comm));
  if (all[0] && all[1] && !weighted && L->n) GpAppComplain(C, lines, "", "", "some lines of the file have a weight, others like this have none");
  if (all[0]) PetscCall(LinksReserve(L, 1, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the links of a Matrix Market file, nodes counted from 0 */
static PetscErrorCode ReadMarket(GpAppText *T, Links *L, PetscInt64 *nodes)
{
  GpAppMarket mk;

  PetscFunctionBegin;
  PetscCall(GpAppMarketParse(T, GP_MARKET_SQUARE | GP_MARKET_NONNEGATIVE | GP_MARKET_NONZERO, &mk));
  PetscCall(GpAppMarketExpand(&mk));
  *L     = (Links){mk.i, mk.j, mk.a, mk.n, mk.n};
  *nodes = mk.N;
  if (!mk.pattern) PetscCall(LinksReserve(L, 1, PETSC_TRUE)); /* a rank without lines has weights, too */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the links of an edge list */
static PetscErrorCode ReadList(GpAppText *T, Links *L)
{
  GpAppComplaint C        = {0};
  PetscBool      weighted = PETSC_FALSE;
  PetscInt64     line     = 0, counted[2];

  PetscFunctionBegin;
  PetscCall(LinksReserve(L, (PetscInt64)(T->length / 12) + 16, PETSC_FALSE)); /* most lines are longer */
  for (const char *p = T->text, *end = T->text + T->length, *eol; p < end && !C.line; p = eol + 1) {
    const char *q;
    PetscInt64  from, to;

    line++;
    if (!weighted && (eol = ScanPair(p, &from, &to))) {
      if (L->n == L->capacity) PetscCall(LinksReserve(L, 1, PETSC_FALSE));
      L->from[L->n] = from;
      L->to[L->n++] = to;
      continue;
    }
    q   = SkipBlanks(p);
    eol = (const char *)memchr(p, '\n', (size_t)(end - p));
    if (q == eol || *q == '#' || *q == '%') continue;
    if (T->before + line == 1 && (isalpha((unsigned char)*q) || *q == '"')) continue; /* a heading */
    PetscCall(ReadLink(q, eol, line, &weighted, L, &C));
  }
  PetscCall(AgreeOnWeights(T, line, weighted, L, &C));
  PetscCall(GpAppTextRaise(T, &C));
  counted[0] = L->n;
  PetscCallMPI(MPI_Allreduce(counted, counted + 1, 1, MPIU_INT64, MPI_SUM, T->comm));
  PetscCheck(counted[1] > 0, T->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file holds no links, expected lines of the form: <from> <to> [<weight>]", T->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GraphReadText - Reads links from a text file; every rank keeps those of its lines

  Collective

  Input Parameters:
+ comm - the communicator
- file - lines of <from> <to> [<weight>], separated by blanks, tabs or commas; lines that begin with # or % are comments, and the
         first line may be a heading in words.  Or a Matrix Market file, whose entry (i,j) is a link from i to j

  Output Parameters:
+ L     - the links, with identities as in the file, of Matrix Market counted from 0
- nodes - the number of nodes that a header gives, else 0: the nodes are those that have links
*/
PetscErrorCode GraphReadText(MPI_Comm comm, const char file[], Links *L, PetscInt64 *nodes)
{
  GpAppText      T;
  PetscBool      market;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *nodes = 0;
  PetscCall(GpAppTextRead(comm, file, &T));
  PetscCall(GpAppTextIsMarket(&T, &market));
  ierr = market ? ReadMarket(&T, L, nodes) : ReadList(&T, L);
  if (ierr) PetscCall(LinksDestroy(L));
  PetscCall(GpAppTextDestroy(&T));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one 64-bit number out of another, for links that are the same on any number of ranks (splitmix64, G. L. Steele et al. 2014) */
static uint64_t Mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* R-MAT (D. Chakrabarti, Y. Zhan, C. Faloutsos 2004) with the parameters of Graph500: every link falls through `scale` levels into
   one of four quarters with probabilities 0.57, 0.19, 0.19, 0.05 */
PetscErrorCode GraphMakeRMAT(MPI_Comm comm, PetscInt scale, PetscInt degree, PetscInt seed, Links *L)
{
  PetscMPIInt rank, size;
  PetscInt64  total, first, last;

  PetscFunctionBegin;
  PetscCheck(scale >= 1 && scale <= 30 && degree >= 1 && degree <= 4096, comm, PETSC_ERR_ARG_OUTOFRANGE, "R-MAT wants a scale from 1 to 30 and 1 to 4096 links a node, not %" PetscInt_FMT ",%" PetscInt_FMT, scale, degree);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  total = (PetscInt64)degree << scale;
  first = total / size * rank + PetscMin(total % size, rank);
  last  = total / size * (rank + 1) + PetscMin(total % size, rank + 1);
  PetscCall(LinksReserve(L, last - first, PETSC_FALSE));
  for (PetscInt64 e = first; e < last; e++) {
    uint64_t   state = Mix(Mix((uint64_t)seed) ^ (uint64_t)e);
    PetscInt64 from = 0, to = 0;

    for (PetscInt level = 0; level < scale; level++) {
      const uint32_t dice    = (uint32_t)((state = Mix(state)) >> 32);
      const int      quarter = (dice >= 2448131359u) + (dice >= 3264175145u) + (dice >= 4080218931u); /* 0.57, 0.76, 0.95 of 2^32 */

      from = 2 * from + (quarter >> 1);
      to   = 2 * to + (quarter & 1);
    }
    L->from[L->n] = from;
    L->to[L->n++] = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
