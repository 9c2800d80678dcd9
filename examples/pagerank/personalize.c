/* Where bored walkers go, read from a file: one vector a line. */
#include "pagerank.h"
#include "app/appscan.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* one entry <node>[:<weight>]; NULL when it is malformed */
static const char *ScanEntry(const char *p, PetscInt64 *id, PetscReal *w)
{
  char *end;

  if (!isdigit((unsigned char)*p)) return NULL;
  *id = (PetscInt64)strtoll(p, &end, 10);
  *w  = 1;
  p   = end;
  if (*p == ':') { /* strtod() would look for a number beyond blanks and the end of the line */
    p = GpAppScanReal(p + 1, w);
    if (!p || !(*w >= 0) || *w > PETSC_MAX_REAL) return NULL;
  }
  return isspace((unsigned char)*p) ? p : NULL;
}

/* fills a vector with the weights of a line, scaled to sum 1 */
static PetscErrorCode ReadVector(const Graph *G, const char *p, const char *eol, PetscInt64 line, Vec v, GpAppComplaint *C)
{
  PetscInt  first, last, node;
  PetscReal sum;

  PetscFunctionBegin;
  PetscCall(VecSet(v, 0.0));
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  while (1) {
    const char *token;
    PetscInt64  id;
    PetscReal   w;

    while (p < eol && isspace((unsigned char)*p)) p++;
    if (p == eol) break;
    token = p;
    p     = ScanEntry(token, &id, &w);
    node  = -1;
    if (p) PetscCall(GraphFind(G, id, &node));
    if (node < 0) {
      GpAppComplain(C, line, token, eol, p ? "expected nodes of the graph" : "expected <node>[:<weight>], weights finite and not negative");
      break;
    }
    if (node >= first && node < last) PetscCall(VecSetValue(v, node, w, ADD_VALUES));
  }
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscCall(VecNorm(v, NORM_1, &sum));
  if (!C->line && !(sum > 0 && sum <= PETSC_MAX_REAL)) GpAppComplain(C, line, "", "", "the weights sum to 0 or to no finite number");
  if (!C->line) PetscCall(VecScale(v, 1 / sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* neither a comment nor blank */
static PetscBool HoldsVector(const char *line, const char *eol)
{
  return (PetscBool)(*line != '#' && strspn(line, " \t\r") < (size_t)(eol - line));
}

/*
  PersonalizeRead - Reads vectors of where walkers jump

  Collective

  Input Parameters:
+ G    - the graph
- file - a line for each vector: <node>[:<weight>] ..., nodes by their identity; lines that begin with # are comments

  Output Parameters:
+ n - how many vectors
- v - [n] the vectors, of sum 1; to be freed with VecDestroyVecs()
*/
PetscErrorCode PersonalizeRead(const Graph *G, const char file[], PetscInt *n, Vec **v)
{
  GpAppText      T;
  GpAppComplaint C    = {0};
  PetscInt64     line = 0;
  PetscInt       k    = 0;
  const char    *end;

  PetscFunctionBegin;
  PetscCall(GpAppTextReadAll(G->comm, file, &T));
  end = T.text + T.length;
  *n  = 0;
  for (const char *p = T.text, *eol; p < end; p = eol + 1) {
    eol = (const char *)memchr(p, '\n', (size_t)(end - p));
    *n += HoldsVector(p, eol);
  }
  PetscCheck(*n, G->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: no vectors, expected lines of the form: <node>[:<weight>] ...", file);
  PetscCall(VecDuplicateVecs(G->out, *n, v));
  for (const char *p = T.text, *eol; p < end && !C.line; p = eol + 1) {
    eol = (const char *)memchr(p, '\n', (size_t)(end - p));
    line++;
    if (HoldsVector(p, eol)) PetscCall(ReadVector(G, p, eol, line, (*v)[k++], &C));
  }
  PetscCall(GpAppTextRaise(&T, &C));
  PetscCall(GpAppTextDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}
