/* Edge lists: <from> <to> [<weight>], nodes with numbers or names.  Ranks parse their own lines. */
#include "app/graph/appgraphread.h"
#include "app/table/apptablefield.h"
#include <string.h>

/* The lines of a rank while they are parsed */
typedef struct {
  const GpAppGraphForm *form;
  GpAppGraph           *G;
  GpAppComplaint       *wrong;
  GpAppLines            L;
  PetscBool             weighted; /* lines so far have weights */
} Reader;

static void EdgesRefuse(Reader *R, const char *token, const char *end, const char expected[])
{
  GpAppComplain(R->wrong, R->L.line, token, end, expected);
}

static PetscBool EdgesIsSeparator(char c)
{
  return (PetscBool)(GpAppIsBlank(c) || c == ',' || c == ';');
}

static const char *EdgesSkipSeparators(const char *p)
{
  while (EdgesIsSeparator(*p)) p++;
  return p;
}

/* Reads the line "<from> <to>", as nearly all are, and returns its end. NULL: it is another kind of line, for EdgesReadNumbers(). */
static inline const char *EdgesScanPair(const char *p, PetscInt64 *from, PetscInt64 *to)
{
  p = GpAppScanId(p, from);
  if (!p || (*p != ' ' && *p != '\t' && *p != ',')) return NULL;
  p = GpAppScanId(p + 1, to);
  return p && *p == '\n' ? p : NULL;
}

/* Reads the weight among networkx's attributes {...} at the end of a line; NaN: there is none. Returns false if the attributes are malformed. */
static PetscBool EdgesScanAttributes(const char *p, const char *eol, double *w)
{
  const char *last = eol;

  *w = NAN;
  while (last > p && GpAppIsBlank(last[-1])) last--;
  if (last - p < 2 || last[-1] != '}') return PETSC_FALSE;
  for (const char *q = p + 1; q + 8 < last; q++) {
    if ((*q != '\'' && *q != '"') || strncmp(q + 1, "weight", 6) || q[7] != *q) continue;
    q = GpAppSkipBlanks(q + 8);
    if (*q != ':') continue;
    q = GpAppSkipBlanks(q + 1);
    q = GpAppScanReal(q, w);
    return (PetscBool)(q && (GpAppIsBlank(*q) || *q == ',' || *q == '}'));
  }
  return PETSC_TRUE;
}

/* Adds a link. w is NaN if the line has no weight. Either all lines have weights or none. */
static PetscErrorCode EdgesAddLink(Reader *R, PetscInt64 from, PetscInt64 to, double w, const char *token)
{
  GpAppLinks     *L   = &R->G->links;
  const PetscBool has = (PetscBool)(w == w);

  PetscFunctionBegin;
  if (has != R->weighted && L->n) {
    EdgesRefuse(R, token, R->L.eol, has ? "lines before had no weight: expected the end of the line" : "lines before had a weight: expected a weight");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  R->weighted = has;
  if (L->n == L->capacity || (has && !L->weight)) PetscCall(GpAppLinksReserve(L, 1, has));
  GpAppLinksAppend(L, from, to, w);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the weight or the attributes of a line; w is NaN if there are none. */
static PetscBool EdgesScanWeight(Reader *R, const char *token, double *w)
{
  const char *q;

  *w = NAN;
  if (token >= R->L.eol) return PETSC_TRUE;
  if (*token == '{') {
    if (EdgesScanAttributes(token, R->L.eol, w) && (*w != *w || (*w >= 0 && *w <= PETSC_MAX_REAL))) return PETSC_TRUE;
    EdgesRefuse(R, token, R->L.eol, "expected attributes such as {} or {'weight': 1.5}");
    return PETSC_FALSE;
  }
  q = GpAppScanReal(token, w);
  if (!q || !(EdgesIsSeparator(*q) || *q == '\n') || !(*w >= 0 && *w <= PETSC_MAX_REAL)) EdgesRefuse(R, token, R->L.eol, GP_GRAPH_EXPECTED_WEIGHT);
  else if (EdgesSkipSeparators(q) < R->L.eol) EdgesRefuse(R, EdgesSkipSeparators(q), R->L.eol, "expected <from> <to> [<weight>]");
  return (PetscBool)!R->wrong->code;
}

/* Reads a line of numbers with any separators. */
static PetscErrorCode EdgesReadNumbers(Reader *R, const char *p)
{
  PetscInt64  id[2];
  double      w;
  const char *token = p;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    const char *q = GpAppScanId(token, &id[k]);

    if (!q || !(EdgesIsSeparator(*q) || *q == '\n')) {
      if (k) EdgesRefuse(R, token, R->L.eol, "expected a second node number");
      else EdgesRefuse(R, token, R->L.eol, "expected two node numbers, not negative and below 2^63 (-graph_names yes reads all nodes as names)");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    token = EdgesSkipSeparators(q);
  }
  if (EdgesScanWeight(R, token, &w)) PetscCall(EdgesAddLink(R, id[0], id[1], w, token));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the brace outside quotes that begins attributes, or the end of the line. */
static const char *EdgesFindBrace(const char *p, const char *eol)
{
  PetscBool quoted = PETSC_FALSE;

  for (; p < eol && (quoted || *p != '{'); p++) quoted = (PetscBool)(quoted != (*p == '"'));
  return p;
}

/* Finds the number of a node or of its name. */
static PetscErrorCode EdgesFindNode(Reader *R, const GpAppField *f, PetscInt64 *id)
{
  const size_t length = (size_t)(f->end - f->begin);
  char         copy[512];

  PetscFunctionBegin;
  if (f->begin == f->end || f->quotes != GP_QUOTES_GOOD) EdgesRefuse(R, f->begin, R->L.eol, f->begin == f->end ? "expected a node" : "expected a name in quotes that end before the delimiter");
  else if (!R->form->named) {
    const char *q = GpAppScanId(f->begin, id);

    if (q != f->end) EdgesRefuse(R, f->begin, f->end, "expected a node number, not negative and below 2^63 (-graph_names yes reads all nodes as names)");
  } else if (!f->quoted || !memchr(f->begin, '"', length)) PetscCall(GpAppNamesAdd(&R->G->names, f->begin, length, id));
  else if (length >= sizeof(copy)) EdgesRefuse(R, f->begin, R->L.eol, "expected a name of at most 511 bytes");
  else PetscCall(GpAppNamesAdd(&R->G->names, copy, GpAppFieldCopy(f, copy) - 1, id));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a line of fields: names, chosen columns, quotes. */
static PetscErrorCode EdgesReadFields(Reader *R, const char *p, const char *eol)
{
  const int  *column = R->form->column, last = PetscMax(PetscMax(column[0], column[1]), column[2]);
  GpAppField  field[3] = {{eol, eol}, {eol, eol}, {eol, eol}};
  PetscInt64  id[2];
  double      w    = NAN;
  int         k    = 0;
  const char *stop = R->form->heading ? eol : EdgesFindBrace(p, eol);

  PetscFunctionBegin;
  for (const char *q = p; q && q < stop; k++) {
    GpAppField f = GpAppFieldGet(q, stop, R->form->delimiter);

    for (int c = 0; c < 3; c++)
      if (column[c] == k) field[c] = f;
    q = f.next;
    if (!R->form->ignored[0] && k > last && f.begin < f.end) {
      EdgesRefuse(R, f.begin, R->L.eol, column[2] < 0 && k == 2 ? "lines before had no weight: expected the end of the line" : "expected <from> <to> [<weight>]");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  for (int c = 0; c < 2 && !R->wrong->code; c++) PetscCall(EdgesFindNode(R, &field[c], &id[c]));
  if (R->wrong->code) PetscFunctionReturn(PETSC_SUCCESS);
  if (stop < eol) (void)EdgesScanWeight(R, stop, &w);
  else if (column[2] >= 0 && field[2].begin < field[2].end) {
    const GpAppFieldKind kind = GpAppFieldClassify(&field[2], GpAppTableTakesCommas(R->form->delimiter), &w);

    if (kind != GP_FIELD_NUMBER || !(w >= 0 && w <= PETSC_MAX_REAL)) EdgesRefuse(R, field[2].begin, field[2].end, GP_GRAPH_EXPECTED_WEIGHT);
  }
  if (!R->wrong->code) PetscCall(EdgesAddLink(R, id[0], id[1], w, R->L.eol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads lines that are pairs of numbers, up to another kind of line. */
static PetscErrorCode EdgesReadPairs(GpAppLines *lines, GpAppLinks *L)
{
  PetscFunctionBegin;
  for (const char *eol; lines->next < lines->end; lines->next = eol + 1) {
    if (L->n == L->capacity) PetscCall(GpAppLinksReserve(L, 1, PETSC_FALSE));
    eol = EdgesScanPair(lines->next, &L->from[L->n], &L->to[L->n]);
    if (!eol) break;
    L->n++;
    lines->line++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads all lines of this rank except headings and a line of sizes, which is judged later. */
static PetscErrorCode EdgesReadLines(const GpAppText *T, Reader *R)
{
  const PetscInt64 skip = R->form->heading || R->form->nfirst ? R->form->line - T->before : 0;

  PetscFunctionBegin;
  R->L = (GpAppLines){T->text, T->text + T->length};
  PetscCall(GpAppLinksReserve(&R->G->links, (PetscInt64)(T->length / 12) + 16, PETSC_FALSE)); /* most lines are longer */
  while (!R->wrong->code) {
    const char *p, *q;

    if (!R->form->fields && !R->weighted && R->L.line >= skip) PetscCall(EdgesReadPairs(&R->L, &R->G->links));
    p = GpAppLinesNext(&R->L, NULL);
    if (!p) break;
    q = R->form->fields ? GpAppSkipBlanks(p) : EdgesSkipSeparators(p);
    if (q >= R->L.eol || *q == '#' || *q == '%' || R->L.line == skip) continue;
    if (R->form->fields) PetscCall(EdgesReadFields(R, p, R->L.eol));
    else PetscCall(EdgesReadNumbers(R, q));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ranks must agree on whether there are weights. */
static PetscErrorCode EdgesAgreeOnWeights(Reader *R)
{
  const PetscBool some = (PetscBool)(R->G->links.n > 0);
  int             mine[2], all[2];

  PetscFunctionBegin;
  mine[0] = some && R->weighted;
  mine[1] = some && !R->weighted;
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, R->G->comm));
  if (all[0] && all[1] && mine[1]) EdgesRefuse(R, "", "", "this line has no weight, but other lines have one");
  R->G->weighted = (PetscBool)all[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides whether the first line can hold the numbers of nodes and edges of the lines read. base: the number of the first node. */
static PetscErrorCode EdgesMatchSizes(const GpAppGraphForm *form, const GpAppGraph *G, PetscInt64 bytes, PetscBool *match, PetscInt64 *base)
{
  const GpAppLinks *L       = &G->links;
  PetscInt64        mine[2] = {INT64_MIN, 0}, all[2], edges, N = form->first[0]; /* less the least number, and the largest */
  GpAppComplaint    many = {0};

  PetscFunctionBegin;
  PetscCall(GpAppSumBefore(G->comm, L->n, NULL, &edges));
  *match = (PetscBool)(edges > 0 && form->first[form->nfirst - 1] == edges && form->nfirst <= 3);
  if (!*match) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt64 k = 0; k < L->n; k++) {
    mine[0] = PetscMax(mine[0], -PetscMin(L->from[k], L->to[k]));
    mine[1] = PetscMax(mine[1], PetscMax(L->from[k], L->to[k]));
  }
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPIU_INT64, MPI_MAX, G->comm));
  *base  = all[0] == 0 ? 0 : 1;
  *match = (PetscBool)(all[1] - *base < N && !GpAppGraphRefuseNodes(N, bytes, 0, &many));
  if (form->nfirst == 3) *match = (PetscBool)(*match && form->first[1] == N && G->weighted); /* rows, columns, nonzeros */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first line holds sizes, or it is an edge like the others. */
static PetscErrorCode EdgesJudgeFirst(const GpAppText *T, const GpAppGraphSpec *spec, Reader *R)
{
  const GpAppGraphForm *form       = R->form;
  GpAppGraph           *G          = R->G;
  PetscBool             match      = PETSC_FALSE;
  const PetscInt64      line       = form->line - T->before;
  PetscInt64            base       = 0, bytes;
  char                  first[128] = "";

  PetscFunctionBegin;
  PetscCall(GpAppSumBefore(G->comm, (PetscInt64)T->length, NULL, &bytes));
  for (int k = 0; k < form->nfirst; k++) (void)snprintf(first + strlen(first), sizeof(first) - strlen(first), "%s%" PetscInt64_FMT, k ? " " : "", form->first[k]);
  if (spec->sizes != GP_GRAPH_CHOICE_NO) PetscCall(EdgesMatchSizes(form, G, bytes, &match, &base));
  if (match) {
    G->nodes = form->first[0];
    G->base  = base;
    for (PetscInt64 k = 0; k < G->links.n && base; k++) {
      G->links.from[k] -= base;
      G->links.to[k] -= base;
    }
    if (!form->jlg) PetscCall(PetscSNPrintf(G->note, sizeof(G->note), "first line '%s' read as the numbers of nodes and edges (-graph_sizes no: an edge)", first));
  } else if (form->jlg || spec->sizes == GP_GRAPH_CHOICE_YES) {
    GpAppComplainAbout(R->wrong, PETSC_ERR_FILE_UNEXPECTED, line, "the numbers of nodes and edges, '%s', do not match the lines below: the file is truncated or damaged", first); /* on all ranks */
  } else if (form->line > T->before && form->line <= T->before + T->lines) { /* the rank that has the line; it belongs before its other edges, but their order means nothing */
    if (form->nfirst != 2 && form->nfirst != 3) GpAppComplainAbout(R->wrong, PETSC_ERR_FILE_UNEXPECTED, line, "expected <from> <to> [<weight>], got '%s'", first);
    else if (G->edges && G->weighted != (PetscBool)(form->nfirst == 3))
      GpAppComplainAbout(R->wrong, PETSC_ERR_FILE_UNEXPECTED, line, G->weighted ? "'%s': expected a weight, because the lines below have one" : "'%s': expected no weight, because the lines below have none", first);
    if (R->wrong->code) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(EdgesAddLink(R, form->first[0], form->first[1], form->nfirst == 3 ? (double)form->first[2] : NAN, R->L.eol));
    G->weighted = R->weighted;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the numbers of names on this rank by those on all ranks. */
static PetscErrorCode EdgesNumberNames(GpAppGraph *G)
{
  PetscInt64 *number;

  PetscFunctionBegin;
  PetscCall(GpAppNamesMerge(G->comm, &G->names, &number));
  for (PetscInt64 k = 0; k < G->links.n; k++) {
    G->links.from[k] = number[G->links.from[k]];
    G->links.to[k]   = number[G->links.to[k]];
  }
  PetscCall(PetscFree(number));
  G->named = PETSC_TRUE;
  G->nodes = G->names.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppGraphReadEdges(const GpAppText *T, const GpAppGraphSpec *spec, const GpAppGraphForm *form, GpAppGraph *G, GpAppComplaint *C)
{
  Reader      R     = {.form = form, .G = G, .wrong = C};
  const char *comma = form->delimiter == ',' ? "commas" : form->delimiter == ';' ? "semicolons" : form->delimiter == '\t' ? "tabs" : "blanks";
  PetscBool   bad;

  PetscFunctionBegin;
  PetscCall(EdgesReadLines(T, &R));
  PetscCall(EdgesAgreeOnWeights(&R));
  PetscCall(GpAppSumBefore(G->comm, G->links.n, NULL, &G->edges));
  if (spec->sizes == GP_GRAPH_CHOICE_YES && !form->nfirst && form->line > T->before) GpAppComplain(C, form->line - T->before, "", "", "expected the numbers of nodes and edges (-graph_sizes yes)");
  PetscCall(GpAppFindAny(G->comm, (PetscBool)(C->code != 0), &bad));
  if (!bad && form->nfirst) PetscCall(EdgesJudgeFirst(T, spec, &R));
  PetscCall(GpAppFindAny(G->comm, (PetscBool)(C->code != 0), &bad));
  if (bad) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpAppSumBefore(G->comm, G->links.n, NULL, &G->edges));
  if (!G->edges) {
    GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "the file holds no links, expected lines of the form: <from> <to> [<weight>]");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (form->named) PetscCall(EdgesNumberNames(G));
  if (form->jlg == 'u') PetscCall(GpAppLinksMirror(&G->links));
  G->undirected = (PetscBool)(form->jlg == 'u');
  PetscCall(PetscSNPrintf(G->note + strlen(G->note), sizeof(G->note) - strlen(G->note), "%sseparated by %s%s%s%s", G->note[0] ? ", " : "", comma, form->heading ? ", headings" : "", form->ignored[0] ? ", ignored columns: " : "", form->ignored));
  PetscFunctionReturn(PETSC_SUCCESS);
}
