/* Graphs in Pajek's format (V. Batagelj, A. Mrvar): *Vertices with labels, *Arcs, *Edges, *Arcslist, *Edgeslist, *Matrix. */
#include "app/graph/appgraphread.h"
#include <string.h>
#include <strings.h>

typedef enum {
  SECTION_NONE,
  SECTION_VERTICES,
  SECTION_ARCS,
  SECTION_EDGES,
  SECTION_ARCSLIST,
  SECTION_EDGESLIST,
  SECTION_MATRIX
} Section;

typedef struct {
  GpAppGraph     *G;
  GpAppComplaint *wrong;
  PetscInt64      line, bytes;
  PetscInt64      n, rows; /* vertices; rows of the matrix so far */
  Section         section;
  char          **label; /* [n] NULL: none */
  PetscBool       arcs;
} Pajek;

static PetscBool Begins(const char *p, const char word[])
{
  const size_t n = strlen(word);

  return (PetscBool)(!strncasecmp(p, word, n) && (unsigned char)p[n] <= ' ');
}

/* a line that begins with a star */
static PetscErrorCode BeginSection(Pajek *P, const char *p, const char *eol)
{
  static const char *const words[] = {"", "*Vertices", "*Arcs", "*Edges", "*Arcslist", "*Edgeslist", "*Matrix"};

  PetscFunctionBegin;
  if (Begins(p, "*Network")) {
    P->section = SECTION_NONE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int s = SECTION_VERTICES; s <= SECTION_MATRIX; s++) {
    if (!Begins(p, words[s])) continue;
    if (s != SECTION_VERTICES && !P->n) break;
    P->section = (Section)s;
    P->arcs    = (PetscBool)(P->arcs || s == SECTION_ARCS || s == SECTION_ARCSLIST || s == SECTION_MATRIX);
    if (s != SECTION_VERTICES) PetscFunctionReturn(PETSC_SUCCESS);
    if (P->label || !GpGraphScanId(GpGraphSkipBlanks(p + strlen(words[s])), &P->n) || P->n < 1) {
      if (!P->label) P->n = 0; /* the labels of the first section are still to be freed */
      GpAppComplain(P->wrong, P->line, p, eol, "expected *Vertices <number>, once");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (GpGraphTooMany_Private(P->n, P->bytes, P->line, P->wrong)) P->n = 0;
    else PetscCall(PetscCalloc1(P->n, &P->label));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  GpAppComplain(P->wrong, P->line, p, eol, P->n ? "expected *Arcs, *Edges, *Arcslist, *Edgeslist or *Matrix" : "expected *Vertices <number>");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a vertex from 1 on; its place from 0 on, and where it ends; NULL: it is none */
static const char *ScanVertex(Pajek *P, const char *p, const char *eol, PetscInt64 *v)
{
  const char *q = GpGraphScanId(p, v);

  if (q && (GpAppIsBlank(*q) || *q == '\n') && *v >= 1 && *v <= P->n) {
    --*v;
    return GpGraphSkipBlanks(q);
  }
  GpAppComplain(P->wrong, P->line, p, eol, "expected a vertex, from 1 to their number");
  return NULL;
}

/* <number> ["label" or label] [coordinates and parameters, which mean nothing here] */
static PetscErrorCode ReadVertex(Pajek *P, const char *p, const char *eol)
{
  PetscInt64  v;
  const char *end;

  PetscFunctionBegin;
  p = ScanVertex(P, p, eol, &v);
  if (!p || p == eol) PetscFunctionReturn(PETSC_SUCCESS);
  if (*p == '"') {
    p++;
    end = (const char *)memchr(p, '"', (size_t)(eol - p));
    if (!end) {
      GpAppComplain(P->wrong, P->line, p - 1, eol, "expected a label that ends with a quote");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  } else
    for (end = p; end < eol && !GpAppIsBlank(*end);) end++;
  PetscCall(PetscFree(P->label[v]));
  PetscCall(PetscMalloc1((size_t)(end - p) + 1, &P->label[v]));
  memcpy(P->label[v], p, (size_t)(end - p));
  P->label[v][end - p] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* <from> <to> [<weight>] [parameters] */
static PetscErrorCode ReadLine(Pajek *P, const char *p, const char *eol)
{
  PetscInt64 i, j;
  double     w = NAN;

  PetscFunctionBegin;
  p = ScanVertex(P, p, eol, &i);
  if (p) p = ScanVertex(P, p, eol, &j);
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  if (p < eol && (GpAppIsDigit(*p) || strchr("+-.", *p))) {
    const char *q = GpAppScanReal(p, &w);

    if (!q || !(GpAppIsBlank(*q) || *q == '\n') || !(w >= 0 && w <= PETSC_MAX_REAL)) {
      GpAppComplain(P->wrong, P->line, p, eol, "expected a weight that is finite and not negative");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(GpGraphKeepEdge_Private(P->G, i, j, w, (PetscBool)(P->section == SECTION_EDGES)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* <from> <to> <to> ... */
static PetscErrorCode ReadList(Pajek *P, const char *p, const char *eol)
{
  PetscInt64 i, j;

  PetscFunctionBegin;
  p = ScanVertex(P, p, eol, &i);
  while (p && p < eol) {
    p = ScanVertex(P, p, eol, &j);
    if (p) PetscCall(GpGraphKeepEdge_Private(P->G, i, j, NAN, (PetscBool)(P->section == SECTION_EDGESLIST)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a row of the matrix of weights */
static PetscErrorCode ReadRow(Pajek *P, const char *p, const char *eol)
{
  PetscInt64 j = 0;

  PetscFunctionBegin;
  for (; p < eol && j < P->n; p = GpGraphSkipBlanks(p), j++) {
    double      w;
    const char *q = GpAppScanReal(p, &w);

    if (!q || !(GpAppIsBlank(*q) || *q == '\n') || !(w >= 0 && w <= PETSC_MAX_REAL)) {
      GpAppComplain(P->wrong, P->line, p, eol, "expected a weight that is finite and not negative");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (w != 0 && P->rows < P->n) PetscCall(GpGraphKeepEdge_Private(P->G, P->rows, j, w, PETSC_FALSE));
    p = q;
  }
  if (p < eol || j < P->n || P->rows >= P->n) GpAppComplain(P->wrong, P->line, p, eol, "expected a square matrix, a row for each vertex");
  P->rows++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpGraphReadPajek_Private(const GpAppText *T, GpAppGraph *G, GpAppComplaint *C)
{
  Pajek P = {G, C, 0, (PetscInt64)T->length, 0, 0, SECTION_NONE, NULL, PETSC_FALSE};

  PetscFunctionBegin;
  for (const char *p = T->text, *end = T->text + T->length, *eol; p < end && !C->code; p = eol + 1) {
    const char *q = GpGraphSkipBlanks(p);

    eol = (const char *)memchr(p, '\n', (size_t)(end - p));
    P.line++;
    if (q == eol || *q == '%') continue;
    if (*q == '*') PetscCall(BeginSection(&P, q, eol));
    else if (P.section == SECTION_VERTICES) PetscCall(ReadVertex(&P, q, eol));
    else if (P.section == SECTION_ARCS || P.section == SECTION_EDGES) PetscCall(ReadLine(&P, q, eol));
    else if (P.section == SECTION_ARCSLIST || P.section == SECTION_EDGESLIST) PetscCall(ReadList(&P, q, eol));
    else if (P.section == SECTION_MATRIX) PetscCall(ReadRow(&P, q, eol));
    else GpAppComplain(C, P.line, q, eol, "expected *Vertices <number>");
  }
  if (!C->code && (!P.n || (P.rows && P.rows != P.n))) {
    C->code = PETSC_ERR_FILE_UNEXPECTED;
    (void)snprintf(C->what, sizeof(C->what), P.n ? "the matrix has fewer rows than there are vertices: the file is truncated" : "the file has no vertices: expected *Vertices <number>");
  }
  if (!C->code) PetscCall(GpGraphSetLabels_Private(G, P.n, P.label, 1));
  G->undirected = (PetscBool)!P.arcs;
  for (PetscInt64 v = 0; v < P.n; v++) PetscCall(PetscFree(P.label[v]));
  PetscCall(PetscFree(P.label));
  PetscFunctionReturn(PETSC_SUCCESS);
}
