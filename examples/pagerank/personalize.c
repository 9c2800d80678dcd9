/* Reads distributions over the nodes from a file, one a line: teleportation vectors, or the distribution of the rank of dangling nodes. */
#include "pagerank.h"
#include "app/text/appscan.h"
#include <ctype.h>

enum {
  NAME = 4096 /* length of the longest quoted name */
};

/* Scans a node with a quoted name, in which quotes are doubled, and its weight. Returns NULL if it is malformed. */
static const char *PersonalizeScanQuoted(const GpAppLinkMatrix *G, const char *p, const char *eol, PetscInt *row, PetscReal *w, PetscErrorCode *ierr)
{
  char   name[NAME];
  size_t n = 0;

  for (p++; p < eol && n < NAME && (*p != '"' || p[1] == '"'); p++) {
    name[n++] = *p;
    p += *p == '"';
  }
  if (p >= eol || n == NAME) return NULL;
  name[n] = 0;
  p++;
  *ierr = GpAppLinkMatrixFindNode(G, name, n, row);
  if (*p == ':') p = GpAppScanWeight(p + 1, w);
  return p && isspace((unsigned char)*p) ? p : NULL;
}

/* Scans an entry: the number or name of a node and its weight. Sets row to -1 if the graph has no such node. Returns NULL if the entry is malformed. */
static const char *PersonalizeScanEntry(const GpAppLinkMatrix *G, const char *p, const char *eol, PetscInt *row, PetscReal *w, PetscErrorCode *ierr)
{
  const char *end = p, *colon = NULL;

  *w   = 1;
  *row = -1;
  if (*p == '"') return PersonalizeScanQuoted(G, p, eol, row, w, ierr);
  for (; !isspace((unsigned char)*end); end++)
    if (*end == ':') colon = end;
  *ierr = GpAppLinkMatrixFindNode(G, p, (size_t)(end - p), row);
  if (*ierr || *row >= 0 || !colon) return end;
  end = GpAppScanWeight(colon + 1, w); /* a name may contain colons; the last colon begins the weight */
  if (end) *ierr = GpAppLinkMatrixFindNode(G, p, (size_t)(colon - p), row);
  return end;
}

/* Fills a vector with the weights of a line, scaled to sum 1. Equal nodes on the line add up. */
static PetscErrorCode PersonalizeReadVector(const GpAppLinkMatrix *G, const char *p, const char *eol, PetscInt64 line, Vec v, GpAppComplaint *C)
{
  PetscInt  first, last, node;
  PetscReal sum;

  PetscFunctionBegin;
  PetscCall(VecSet(v, 0.0));
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  while (1) {
    const char    *token;
    PetscErrorCode ierr = PETSC_SUCCESS;
    PetscReal      w;

    while (p < eol && isspace((unsigned char)*p)) p++;
    if (p == eol) break;
    token = p;
    p     = PersonalizeScanEntry(G, token, eol, &node, &w, &ierr);
    PetscCall(ierr);
    if (!p || node < 0) {
      GpAppComplain(C, line, token, eol, p ? "expected nodes of the graph" : "expected <node>[:<weight>], weights finite and not negative");
      break;
    }
    if (node >= first && node < last) PetscCall(VecSetValue(v, node, w, ADD_VALUES));
  }
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscCall(VecNorm(v, NORM_1, &sum));
  if (!C->line && !(sum > 0 && sum <= PETSC_MAX_REAL)) GpAppComplain(C, line, "", "", "the weights sum to 0 or to a number that is not finite");
  if (!C->line) PetscCall(VecScale(v, 1 / sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the beginning of the next line that is neither blank nor a comment, NULL at the end. */
static const char *PersonalizeFindLine(GpAppLines *L)
{
  const char *p;

  do p = GpAppLinesNext(L, "");
  while (p && *p == '#');
  return p;
}

/* Reads n vectors of sum 1 from a file. A line <node>[:<weight>] ... gives one vector. Nodes are numbers or names. Lines that begin with # are comments.
   The caller frees v with VecDestroyVecs(). */
PetscErrorCode PersonalizeRead(const GpAppLinkMatrix *G, const char file[], PetscInt *n, Vec **v)
{
  GpAppText      T;
  GpAppLines     all, L;
  GpAppComplaint C = {0};
  PetscErrorCode ierr;
  const char    *p;

  PetscFunctionBegin;
  PetscCall(GpAppTextReadAll(G->comm, file, &T));
  L = all = (GpAppLines){T.text, T.text + T.length};
  for (*n = 0; PersonalizeFindLine(&L);) ++*n;
  if (!*n) PetscCall(GpAppTextDestroy(&T));
  PetscCheck(*n, G->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: no vectors, expected lines of the form: <node>[:<weight>] ...", file);
  PetscCall(GpAppLinkMatrixCreateVecs(G, *n, v));
  L = all;
  for (PetscInt k = 0; !C.line && (p = PersonalizeFindLine(&L)); k++) PetscCall(PersonalizeReadVector(G, p, L.eol, L.line, (*v)[k], &C));
  ierr = GpAppTextRaise(&T, &C);
  if (ierr) PetscCall(VecDestroyVecs(*n, v));
  PetscCall(ierr);
  PetscCall(GpAppTextDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}
