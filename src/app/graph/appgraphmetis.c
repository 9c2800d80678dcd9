/* Graphs in the adjacency format of METIS and Chaco, and in that of DIMACS.  Ranks parse their own lines. */
#include "app/graph/appgraphread.h"
#include <string.h>

static const char *EndOfLine(const char *p, const char *end)
{
  return (const char *)memchr(p, '\n', (size_t)(end - p));
}

/* what the header says: every line has `skip` numbers before its neighbours, which come with weights or not */
typedef struct {
  PetscInt64 n, m;
  PetscInt64 skip;
  PetscBool  weighted;
} Header;

static PetscBool ReadHeader(const GpGraphForm *form, PetscInt64 bytes, Header *H, GpAppComplaint *C)
{
  const PetscInt64 fmt = form->nfirst > 2 ? form->first[2] : 0, ncon = form->nfirst > 3 ? form->first[3] : 1;

  H->n        = form->first[0];
  H->m        = form->first[1];
  H->weighted = (PetscBool)(fmt % 10 == 1);
  H->skip     = (fmt / 100 % 10 == 1) + (fmt / 10 % 10 == 1) * ncon;
  C->line     = form->line;
  C->code     = PETSC_ERR_FILE_UNEXPECTED;
  if (form->nfirst < 2 || H->n < 1) (void)snprintf(C->what, sizeof(C->what), "expected the header of METIS, <nodes> <edges> [<format> [<weights of a node>]]");
  else if (fmt > 111 || fmt % 10 > 1 || fmt / 10 % 10 > 1 || ncon > 1000) (void)snprintf(C->what, sizeof(C->what), "expected a format of METIS such as 0, 1, 10, 11 or 111, got %" PetscInt64_FMT, fmt);
  else if (H->m > bytes) (void)snprintf(C->what, sizeof(C->what), "%" PetscInt64_FMT " edges in a file of %" PetscInt64_FMT " bytes: it is truncated or damaged", H->m, bytes);
  else {
    C->code = 0;
    (void)GpGraphTooMany_Private(H->n, bytes, form->line, C);
  }
  if (!C->code) C->line = 0;
  return (PetscBool)!C->code;
}

/* the neighbours of a node */
static PetscErrorCode ReadNode(const char *p, const char *eol, const Header *H, PetscInt64 node, PetscInt64 line, GpAppGraph *G, GpAppComplaint *C)
{
  PetscInt64 skip = H->skip;

  PetscFunctionBegin;
  for (p = GpGraphSkipBlanks(p); p < eol && !C->code; p = GpGraphSkipBlanks(p)) {
    PetscInt64  to;
    double      w = 1;
    const char *q;

    if (skip) {
      q = GpAppScanReal(p, &w);
      if (!q || !(GpAppIsBlank(*q) || *q == '\n')) GpAppComplain(C, line, p, eol, "expected the weight of a node");
      else p = q;
      skip--;
      continue;
    }
    q = GpGraphScanId(p, &to);
    if (!q || !(GpAppIsBlank(*q) || *q == '\n') || to < 1 || to > H->n) {
      GpAppComplain(C, line, p, eol, "expected a neighbour, from 1 to the number of nodes");
      break;
    }
    p = GpGraphSkipBlanks(q);
    if (H->weighted) {
      q = p < eol ? GpAppScanReal(p, &w) : NULL;
      if (!q || !(GpAppIsBlank(*q) || *q == '\n') || !(w >= 0 && w <= PETSC_MAX_REAL)) {
        GpAppComplain(C, line, p, eol, "expected the weight of an edge, finite and not negative");
        break;
      }
      p = q;
    }
    if (G->links.n == G->links.capacity) PetscCall(GpAppLinksReserve(&G->links, 1, H->weighted));
    G->links.from[G->links.n] = node;
    G->links.to[G->links.n]   = to - 1;
    if (H->weighted) G->links.weight[G->links.n] = w;
    G->links.n++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a line for every node, blank if it has no neighbours; lines that begin with % are comments */
PetscErrorCode GpGraphReadMetis_Private(const GpAppText *T, const GpGraphForm *form, GpAppGraph *G, GpAppComplaint *C)
{
  const char *end  = T->text + T->length;
  PetscInt64  mine = 0, node = 0, line, sums[2], all[2];
  PetscMPIInt rank;
  Header      H;
  int         header;

  PetscFunctionBegin;
  sums[0] = (PetscInt64)T->length;
  PetscCallMPI(MPI_Allreduce(sums, all, 1, MPIU_INT64, MPI_SUM, G->comm));
  if (!ReadHeader(form, all[0], &H, C)) { /* all ranks find the same */
    C->line -= T->before;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  line = T->before;
  for (const char *p = T->text; p < end; p = EndOfLine(p, end) + 1) mine += ++line > form->line && *p != '%';
  PetscCallMPI(MPI_Exscan(&mine, &node, 1, MPIU_INT64, MPI_SUM, G->comm));
  PetscCallMPI(MPI_Comm_rank(G->comm, &rank));
  if (!rank) node = 0;
  PetscCall(GpAppLinksReserve(&G->links, (PetscInt64)(T->length / 8) + 16, H.weighted));
  line = 0;
  for (const char *p = T->text, *eol; p < end && !C->code; p = eol + 1) {
    eol    = EndOfLine(p, end);
    header = T->before + ++line <= form->line;
    if (header || *p == '%') continue;
    if (node >= H.n && GpGraphSkipBlanks(p) < eol) GpAppComplain(C, line, p, eol, "expected the end of the file after a line for each node");
    else if (node < H.n) PetscCall(ReadNode(p, eol, &H, node, line, G, C));
    node++;
  }
  sums[0] = G->links.n;
  sums[1] = C->code != 0;
  PetscCallMPI(MPI_Allreduce(sums, all, 2, MPIU_INT64, MPI_SUM, G->comm));
  if (!all[1] && all[0] != 2 * H.m) {
    C->code = PETSC_ERR_FILE_UNEXPECTED;
    (void)snprintf(C->what, sizeof(C->what), "the header says %" PetscInt64_FMT " edges, each in the lines of both its nodes; the file holds %" PetscInt64_FMT " neighbours: it is truncated or damaged", H.m, all[0]);
  }
  G->nodes      = H.n;
  G->base       = 1;
  G->edges      = H.m;
  G->undirected = PETSC_TRUE;
  G->weighted   = H.weighted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DIMACS: "c" comments, "p <problem> <nodes> <edges>", then "e <i> <j>" (undirected), or "a <i> <j> [<weight>]" (directed) */
PetscErrorCode GpGraphReadDimacs_Private(const GpAppText *T, GpAppGraph *G, GpAppComplaint *C)
{
  PetscInt64 n = 0, m = 0, line = 0, count = 0;

  PetscFunctionBegin;
  for (const char *p = T->text, *end = T->text + T->length, *eol; p < end && !C->code; p = eol + 1) {
    const char *q    = GpGraphSkipBlanks(p);
    const char  kind = *q;
    PetscInt64  i, j;
    double      w = NAN; /* none */

    eol = EndOfLine(p, end);
    line++;
    if (q == eol || kind == 'c' || kind == 'n' || kind == 'v') continue; /* comments; values of nodes */
    if (kind == 'p') {
      q = GpGraphSkipBlanks(q + 1);
      while (q < eol && !GpAppIsBlank(*q)) q++;
      q = GpGraphScanId(GpGraphSkipBlanks(q), &n);
      if (q) q = GpGraphScanId(GpGraphSkipBlanks(q), &m);
      if (!q || n < 1) GpAppComplain(C, line, p, eol, "expected p <problem> <nodes> <edges>");
      else if (m > (PetscInt64)T->length) GpAppComplain(C, line, p, eol, "expected no more edges than the file has bytes");
      else (void)GpGraphTooMany_Private(n, (PetscInt64)T->length, line, C);
      continue;
    }
    if (kind != 'e' && kind != 'a') {
      GpAppComplain(C, line, p, eol, "expected a line of DIMACS: c, p, e or a");
      break;
    }
    q = GpGraphScanId(GpGraphSkipBlanks(q + 1), &i);
    if (q) q = GpGraphScanId(GpGraphSkipBlanks(q), &j);
    if (!q || i < 1 || i > n || j < 1 || j > n) {
      GpAppComplain(C, line, p, eol, "expected <e or a> <from> <to> [<weight>], nodes from 1 to their number");
      break;
    }
    q = GpGraphSkipBlanks(q);
    if (q < eol) {
      const char *r = GpAppScanReal(q, &w);

      if (!r || GpGraphSkipBlanks(r) < eol || !(w >= 0 && w <= PETSC_MAX_REAL)) {
        GpAppComplain(C, line, q, eol, "expected a weight that is finite and not negative");
        break;
      }
    }
    PetscCall(GpGraphKeepEdge_Private(G, i - 1, j - 1, w, (PetscBool)(kind == 'e')));
    G->undirected = (PetscBool)(kind == 'e');
    count++;
  }
  if (!C->code && (!n || count != m)) {
    C->code = PETSC_ERR_FILE_UNEXPECTED;
    (void)snprintf(C->what, sizeof(C->what), "line p says %" PetscInt64_FMT " edges, the file holds %" PetscInt64_FMT ": it is truncated or damaged", m, count);
  }
  G->nodes = n;
  G->base  = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
