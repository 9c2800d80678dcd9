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
  GpAppLines      lines;
  PetscInt64      bytes;
  PetscInt64      n, rows; /* vertices; rows of the matrix so far */
  Section         section;
  char          **label; /* [n] NULL: none */
  PetscBool       arcs;
} Pajek;

static PetscBool PajekBeginsWith(const char *p, const char word[])
{
  const size_t n = strlen(word);

  return (PetscBool)(!strncasecmp(p, word, n) && (unsigned char)p[n] <= ' ');
}

static void PajekRefuse(Pajek *P, const char *token, const char expected[])
{
  GpAppComplain(P->wrong, P->lines.line, token, P->lines.eol, expected);
}

/* Reads a line that begins with a star. */
static PetscErrorCode PajekBeginSection(Pajek *P, const char *p)
{
  static const char *const words[] = {"*Network", "*Vertices", "*Arcs", "*Edges", "*Arcslist", "*Edgeslist", "*Matrix"};

  PetscFunctionBegin;
  for (int s = SECTION_NONE; s <= SECTION_MATRIX; s++) {
    if (!PajekBeginsWith(p, words[s])) continue;
    if (s > SECTION_VERTICES && !P->n) break;
    P->section = (Section)s;
    P->arcs    = (PetscBool)(P->arcs || s == SECTION_ARCS || s == SECTION_ARCSLIST || s == SECTION_MATRIX);
    if (s != SECTION_VERTICES) PetscFunctionReturn(PETSC_SUCCESS);
    if (P->label || !GpAppScanId(GpAppSkipBlanks(p + strlen(words[s])), &P->n) || P->n < 1) {
      if (!P->label) P->n = 0; /* the labels of the first section are still to be freed */
      PajekRefuse(P, p, "expected *Vertices <number>, once");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (GpAppGraphRefuseNodes(P->n, P->bytes, P->lines.line, P->wrong)) P->n = 0;
    else PetscCall(PetscCalloc1(P->n, &P->label));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PajekRefuse(P, p, P->n ? "expected *Arcs, *Edges, *Arcslist, *Edgeslist or *Matrix" : "expected *Vertices <number>");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a vertex, counted from 1 in the file and from 0 in v. Returns the beginning of the next token; NULL: there is no vertex. */
static const char *PajekScanVertex(Pajek *P, const char *p, PetscInt64 *v)
{
  const char *q = GpAppScanId(p, v);

  if (q && GpAppIsEnd(*q) && *v >= 1 && *v <= P->n) {
    --*v;
    return GpAppSkipBlanks(q);
  }
  PajekRefuse(P, p, "expected a vertex, from 1 to their number");
  return NULL;
}

/* Reads a vertex: <number> ["label" or label] [coordinates and parameters, which are ignored]. */
static PetscErrorCode PajekReadVertex(Pajek *P, const char *p)
{
  PetscInt64  v;
  const char *end;

  PetscFunctionBegin;
  p = PajekScanVertex(P, p, &v);
  if (!p || p == P->lines.eol) PetscFunctionReturn(PETSC_SUCCESS);
  if (*p == '"') {
    p++;
    end = (const char *)memchr(p, '"', (size_t)(P->lines.eol - p));
    if (!end) {
      PajekRefuse(P, p - 1, "expected a label that ends with a quote");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  } else
    for (end = p; end < P->lines.eol && !GpAppIsBlank(*end);) end++;
  PetscCall(GpAppGraphCopyLabel(p, (size_t)(end - p), &P->label[v]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads an edge: <from> <to> [<weight>] [parameters]. */
static PetscErrorCode PajekReadEdge(Pajek *P, const char *p)
{
  PetscInt64 i, j;
  double     w = NAN;

  PetscFunctionBegin;
  p = PajekScanVertex(P, p, &i);
  if (p) p = PajekScanVertex(P, p, &j);
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  if (p < P->lines.eol && (GpAppIsDigit(*p) || strchr("+-.", *p))) {
    if (!GpAppScanWeight(p, &w)) {
      PajekRefuse(P, p, GP_GRAPH_EXPECTED_WEIGHT);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(GpAppGraphAddEdge(P->G, i, j, w, (PetscBool)(P->section == SECTION_EDGES)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a list of neighbours: <from> <to> <to> ... */
static PetscErrorCode PajekReadList(Pajek *P, const char *p)
{
  PetscInt64 i, j;

  PetscFunctionBegin;
  p = PajekScanVertex(P, p, &i);
  while (p && p < P->lines.eol) {
    p = PajekScanVertex(P, p, &j);
    if (p) PetscCall(GpAppGraphAddEdge(P->G, i, j, NAN, (PetscBool)(P->section == SECTION_EDGESLIST)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a row of the matrix of weights. */
static PetscErrorCode PajekReadRow(Pajek *P, const char *p)
{
  PetscInt64 j = 0;

  PetscFunctionBegin;
  for (; p < P->lines.eol && j < P->n; p = GpAppSkipBlanks(p), j++) {
    double      w;
    const char *q = GpAppScanWeight(p, &w);

    if (!q) {
      PajekRefuse(P, p, GP_GRAPH_EXPECTED_WEIGHT);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (w != 0 && P->rows < P->n) PetscCall(GpAppGraphAddEdge(P->G, P->rows, j, w, PETSC_FALSE));
    p = q;
  }
  if (p < P->lines.eol || j < P->n || P->rows >= P->n) PajekRefuse(P, p, "expected a square matrix, a row for each vertex");
  P->rows++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppGraphReadPajek(const GpAppText *T, GpAppGraph *G, GpAppComplaint *C)
{
  Pajek P = {.G = G, .wrong = C, .lines = {T->text, T->text + T->length}, .bytes = (PetscInt64)T->length};

  PetscFunctionBegin;
  for (const char *p; !C->code && (p = GpAppLinesNext(&P.lines, "%"));) {
    p = GpAppSkipBlanks(p);
    if (*p == '*') PetscCall(PajekBeginSection(&P, p));
    else if (P.section == SECTION_VERTICES) PetscCall(PajekReadVertex(&P, p));
    else if (P.section == SECTION_ARCS || P.section == SECTION_EDGES) PetscCall(PajekReadEdge(&P, p));
    else if (P.section == SECTION_ARCSLIST || P.section == SECTION_EDGESLIST) PetscCall(PajekReadList(&P, p));
    else if (P.section == SECTION_MATRIX) PetscCall(PajekReadRow(&P, p));
    else PajekRefuse(&P, p, "expected *Vertices <number>");
  }
  if (!P.n) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "the file has no vertices: expected *Vertices <number>");
  if (P.rows && P.rows != P.n) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "the matrix has fewer rows than there are vertices: the file is truncated");
  if (!C->code) PetscCall(GpAppGraphSetLabels(G, P.n, P.label, 1));
  G->undirected = (PetscBool)!P.arcs;
  for (PetscInt64 v = 0; v < P.n; v++) PetscCall(PetscFree(P.label[v]));
  PetscCall(PetscFree(P.label));
  PetscFunctionReturn(PETSC_SUCCESS);
}
