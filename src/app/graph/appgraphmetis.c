/* Graphs in the adjacency format of METIS and Chaco, and in that of DIMACS. */
#include "app/graph/appgraphread.h"

/* Header of a METIS file: every line has `skip` numbers before its neighbours, which have weights or not. */
typedef struct {
  PetscInt64 n, m;
  PetscInt64 skip;
  PetscBool  weighted;
} Header;

static PetscBool MetisReadHeader(const GpAppGraphForm *form, PetscInt64 bytes, PetscInt64 line, Header *H, GpAppComplaint *C)
{
  const PetscInt64 fmt = form->nfirst > 2 ? form->first[2] : 0, ncon = form->nfirst > 3 ? form->first[3] : 1;
  const int        code = PETSC_ERR_FILE_UNEXPECTED;

  H->n        = form->first[0];
  H->m        = form->first[1];
  H->weighted = (PetscBool)(fmt % 10 == 1);
  H->skip     = (fmt / 100 % 10 == 1) + (fmt / 10 % 10 == 1) * ncon;
  if (form->nfirst < 2 || H->n < 1) GpAppComplainAbout(C, code, line, "expected the header of METIS, <nodes> <edges> [<format> [<weights of a node>]]");
  else if (fmt > 111 || fmt % 10 > 1 || fmt / 10 % 10 > 1 || ncon > 1000) GpAppComplainAbout(C, code, line, "expected a format of METIS such as 0, 1, 10, 11 or 111, got %" PetscInt64_FMT, fmt);
  else if (H->m > bytes) GpAppComplainAbout(C, code, line, "%" PetscInt64_FMT " edges in a file of %" PetscInt64_FMT " bytes: it is truncated or damaged", H->m, bytes);
  else (void)GpAppGraphRefuseNodes(H->n, bytes, line, C);
  return (PetscBool)!C->code;
}

/* Reads the neighbours of a node. */
static PetscErrorCode MetisReadNode(const char *p, const GpAppLines *L, const Header *H, PetscInt64 node, GpAppGraph *G, GpAppComplaint *C)
{
  PetscInt64 skip = H->skip;

  PetscFunctionBegin;
  for (p = GpAppSkipBlanks(p); p < L->eol; p = GpAppSkipBlanks(p)) {
    const char *token = p, *expected = "expected the weight of a node";
    PetscInt64  to = 0;
    double      w  = 1;

    if (skip) {
      p = GpAppScanReal(p, &w);
      if (p && !GpAppIsEnd(*p)) p = NULL;
    } else {
      expected = "expected a neighbour, from 1 to the number of nodes";
      p        = GpAppScanId(p, &to);
      if (p && (!GpAppIsEnd(*p) || to < 1 || to > H->n)) p = NULL;
      if (p && H->weighted) {
        expected = "expected the weight of an edge, finite and not negative";
        token    = GpAppSkipBlanks(p);
        p        = GpAppScanWeight(token, &w);
      }
    }
    if (!p) {
      GpAppComplain(C, L->line, token, L->eol, expected);
      break;
    }
    if (skip) skip--;
    else {
      PetscCall(GpAppLinksReserve(&G->links, 1, H->weighted));
      GpAppLinksAppend(&G->links, node, to - 1, w);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a METIS file: a line for every node, blank if it has no neighbours; lines that begin with % are comments. Ranks parse their own lines. */
PetscErrorCode GpAppGraphReadMetis(const GpAppText *T, const GpAppGraphForm *form, GpAppGraph *G, GpAppComplaint *C)
{
  const GpAppLines all  = {T->text, T->text + T->length};
  GpAppLines       L    = all;
  PetscInt64       mine = 0, node, bytes, neighbours;
  PetscBool        bad;
  Header           H;

  PetscFunctionBegin;
  PetscCall(GpAppSumBefore(G->comm, (PetscInt64)T->length, NULL, &bytes));
  if (!MetisReadHeader(form, bytes, form->line - T->before, &H, C)) PetscFunctionReturn(PETSC_SUCCESS); /* on all ranks */
  for (const char *p; (p = GpAppLinesNext(&L, NULL));) mine += T->before + L.line > form->line && *p != '%';
  PetscCall(GpAppSumBefore(G->comm, mine, &node, NULL));
  PetscCall(GpAppLinksReserve(&G->links, (PetscInt64)(T->length / 8) + 16, H.weighted));
  L = all;
  for (const char *p; !C->code && (p = GpAppLinesNext(&L, NULL));) {
    if (T->before + L.line <= form->line || *p == '%') continue;
    if (node < H.n) PetscCall(MetisReadNode(p, &L, &H, node, G, C));
    else if (GpAppSkipBlanks(p) < L.eol) GpAppComplain(C, L.line, p, L.eol, "expected the end of the file after a line for each node");
    node++;
  }
  PetscCall(GpAppSumBefore(G->comm, G->links.n, NULL, &neighbours));
  PetscCall(GpAppFindAny(G->comm, (PetscBool)(C->code != 0), &bad));
  if (!bad && neighbours != 2 * H.m)
    GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "the header says %" PetscInt64_FMT " edges, each in the lines of both its nodes; the file holds %" PetscInt64_FMT " neighbours: it is truncated or damaged", H.m, neighbours);
  G->nodes      = H.n;
  G->base       = 1;
  G->edges      = H.m;
  G->undirected = PETSC_TRUE;
  G->weighted   = H.weighted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the line "p <problem> <nodes> <edges>" of a DIMACS file. */
static void DimacsReadSizes(const char *p, const GpAppLines *L, PetscInt64 bytes, PetscInt64 *n, PetscInt64 *m, GpAppComplaint *C)
{
  const char *q = GpAppSkipBlanks(GpAppSkipBlanks(p) + 1);

  while (!GpAppIsEnd(*q)) q++;
  q = GpAppScanId(GpAppSkipBlanks(q), n);
  if (q) q = GpAppScanId(GpAppSkipBlanks(q), m);
  if (!q || *n < 1) GpAppComplain(C, L->line, p, L->eol, "expected p <problem> <nodes> <edges>");
  else if (*m > bytes) GpAppComplain(C, L->line, p, L->eol, "expected no more edges than the file has bytes");
  else (void)GpAppGraphRefuseNodes(*n, bytes, L->line, C);
}

/* Reads a DIMACS file: "c" comments, "p <problem> <nodes> <edges>", then "e <i> <j>" (undirected), or "a <i> <j> [<weight>]" (directed). Every rank has the text. */
PetscErrorCode GpAppGraphReadDimacs(const GpAppText *T, GpAppGraph *G, GpAppComplaint *C)
{
  GpAppLines L = {T->text, T->text + T->length};
  PetscInt64 n = 0, m = 0, count = 0;

  PetscFunctionBegin;
  for (const char *p; !C->code && (p = GpAppLinesNext(&L, "cnv"));) { /* n and v give values of nodes */
    const char *q    = GpAppSkipBlanks(p);
    const char  kind = *q;
    PetscInt64  i, j;
    double      w = NAN; /* none */

    if (kind == 'p') {
      DimacsReadSizes(p, &L, (PetscInt64)T->length, &n, &m, C);
      continue;
    }
    if (kind != 'e' && kind != 'a') {
      GpAppComplain(C, L.line, p, L.eol, "expected a line of DIMACS: c, p, e or a");
      break;
    }
    q = GpAppScanId(GpAppSkipBlanks(q + 1), &i);
    if (q) q = GpAppScanId(GpAppSkipBlanks(q), &j);
    if (!q || i < 1 || i > n || j < 1 || j > n) {
      GpAppComplain(C, L.line, p, L.eol, "expected <e or a> <from> <to> [<weight>], nodes from 1 to their number");
      break;
    }
    q = GpAppSkipBlanks(q);
    if (q < L.eol) {
      const char *r = GpAppScanWeight(q, &w);

      if (!r || GpAppSkipBlanks(r) < L.eol) {
        GpAppComplain(C, L.line, q, L.eol, GP_GRAPH_EXPECTED_WEIGHT);
        break;
      }
    }
    PetscCall(GpAppGraphAddEdge(G, i - 1, j - 1, w, (PetscBool)(kind == 'e')));
    G->undirected = (PetscBool)(kind == 'e');
    count++;
  }
  if (!n || count != m) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "line p says %" PetscInt64_FMT " edges, the file holds %" PetscInt64_FMT ": it is truncated or damaged", m, count);
  G->nodes = n;
  G->base  = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
