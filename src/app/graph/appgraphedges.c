/* Edge lists: <from> <to> [<weight>], nodes with numbers or names.  Ranks parse their own lines. */
#include "app/graph/appgraphread.h"
#include "app/table/apptablefield.h"
#include <string.h>

/* the lines of a rank while they are parsed */
typedef struct {
  const GpGraphForm *form;
  GpAppGraph        *G;
  GpAppComplaint    *wrong;
  PetscInt64         line;     /* counted from 1 on this rank */
  PetscBool          weighted; /* lines so far have weights */
} Reader;

static PetscBool IsSeparator(char c)
{
  return (PetscBool)(GpAppIsBlank(c) || c == ',' || c == ';');
}

static const char *SkipSeparators(const char *p)
{
  while (IsSeparator(*p)) p++;
  return p;
}

/* a number that is followed by a separator or the end of the line, of so few digits that it cannot overflow; NULL: anything else */
static inline const char *ScanShortId(const char *p, PetscInt64 *id)
{
  const char *begin = p;
  uint64_t    value = 0;

  for (unsigned digit; (digit = (unsigned)(*p - '0')) < 10; p++) value = 10 * value + digit;
  *id = (PetscInt64)value;
  return p > begin && p - begin <= 18 ? p : NULL;
}

/* the line "<from> <to>", as nearly all are; its end, NULL: it is another one, for ReadNumbers() to judge */
static inline const char *ScanPair(const char *p, PetscInt64 *from, PetscInt64 *to)
{
  p = ScanShortId(p, from);
  if (!p || (*p != ' ' && *p != '\t' && *p != ',')) return NULL;
  p = ScanShortId(p + 1, to);
  return p && *p == '\n' ? p : NULL;
}

/* networkx's attributes {...} at the end of a line: the weight among them, or NaN; false where they are not well-formed */
static PetscBool ScanAttributes(const char *p, const char *eol, double *w)
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

/* adds a link; w is NaN where the line has no weight, which must be so in all lines or in none */
static PetscErrorCode AddLink(Reader *R, PetscInt64 from, PetscInt64 to, double w, const char *token, const char *eol)
{
  GpAppLinks     *L   = &R->G->links;
  const PetscBool has = (PetscBool)(w == w);

  PetscFunctionBegin;
  if (has != R->weighted && L->n) {
    GpAppComplain(R->wrong, R->line, token, eol, has ? "lines before had no weight: expected the end of the line" : "lines before had a weight: expected a weight");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  R->weighted = has;
  if (L->n == L->capacity || (has && !L->weight)) PetscCall(GpAppLinksReserve(L, 1, has));
  L->from[L->n] = from;
  L->to[L->n]   = to;
  if (has) L->weight[L->n] = w;
  L->n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the weight or the attributes of a line; w: NaN where there are none */
static PetscBool ScanWeight(Reader *R, const char *token, const char *eol, double *w)
{
  const char *q;

  *w = NAN;
  if (token >= eol) return PETSC_TRUE;
  if (*token == '{') {
    if (ScanAttributes(token, eol, w) && (*w != *w || (*w >= 0 && *w <= PETSC_MAX_REAL))) return PETSC_TRUE;
    GpAppComplain(R->wrong, R->line, token, eol, "expected attributes such as {} or {'weight': 1.5}");
    return PETSC_FALSE;
  }
  q = GpAppScanReal(token, w);
  if (!q || !(IsSeparator(*q) || *q == '\n') || !(*w >= 0 && *w <= PETSC_MAX_REAL)) GpAppComplain(R->wrong, R->line, token, eol, "expected a weight that is finite and not negative");
  else if (SkipSeparators(q) < eol) GpAppComplain(R->wrong, R->line, SkipSeparators(q), eol, "expected <from> <to> [<weight>]");
  return (PetscBool)!R->wrong->code;
}

/* a line of numbers, whatever separates them */
static PetscErrorCode ReadNumbers(Reader *R, const char *p, const char *eol)
{
  PetscInt64  id[2];
  double      w;
  const char *token = p;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    const char *q = GpAppScanId(token, &id[k]);

    if (!q || !(IsSeparator(*q) || *q == '\n')) {
      if (k) GpAppComplain(R->wrong, R->line, token, eol, "expected a second node number");
      else GpAppComplain(R->wrong, R->line, token, eol, "expected two node numbers, not negative and below 2^63 (-graph_names yes reads all nodes as names)");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    token = SkipSeparators(q);
  }
  if (ScanWeight(R, token, eol, &w)) PetscCall(AddLink(R, id[0], id[1], w, token, eol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the brace that begins attributes, outside quotes; the end of the line where there is none */
static const char *FindBrace(const char *p, const char *eol)
{
  PetscBool quoted = PETSC_FALSE;

  for (; p < eol && (quoted || *p != '{'); p++) quoted = (PetscBool)(quoted != (*p == '"'));
  return p;
}

/* the number of a node, or that of its name */
static PetscErrorCode FindNode(Reader *R, const GpField *f, const char *eol, PetscInt64 *id)
{
  const size_t length = (size_t)(f->end - f->begin);
  char         copy[512];

  PetscFunctionBegin;
  if (f->begin == f->end || f->quotes != GP_QUOTES_GOOD) GpAppComplain(R->wrong, R->line, f->begin, eol, f->begin == f->end ? "expected a node" : "expected a name in quotes that end before the delimiter");
  else if (!R->form->named) {
    const char *q = GpAppScanId(f->begin, id);

    if (q != f->end) GpAppComplain(R->wrong, R->line, f->begin, f->end, "expected a node number, not negative and below 2^63 (-graph_names yes reads all nodes as names)");
  } else if (!f->quoted || !memchr(f->begin, '"', length)) PetscCall(GpAppNamesAdd(&R->G->names, f->begin, length, id));
  else if (length >= sizeof(copy)) GpAppComplain(R->wrong, R->line, f->begin, eol, "expected a name of at most 511 bytes");
  else PetscCall(GpAppNamesAdd(&R->G->names, copy, GpFieldCopy(f, copy) - 1, id));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a line of fields: names, chosen columns, quotes */
static PetscErrorCode ReadFields(Reader *R, const char *p, const char *eol)
{
  const int  *column = R->form->column, last = PetscMax(PetscMax(column[0], column[1]), column[2]);
  GpField     field[3] = {{eol, eol}, {eol, eol}, {eol, eol}};
  PetscInt64  id[2];
  double      w    = NAN;
  int         k    = 0;
  const char *stop = R->form->heading ? eol : FindBrace(p, eol);

  PetscFunctionBegin;
  for (const char *q = p; q && q < stop; k++) {
    GpField f = GpFieldGet(q, stop, R->form->delimiter);

    for (int c = 0; c < 3; c++)
      if (column[c] == k) field[c] = f;
    q = f.next;
    if (!R->form->ignored[0] && k > last && f.begin < f.end) {
      GpAppComplain(R->wrong, R->line, f.begin, eol, column[2] < 0 && k == 2 ? "lines before had no weight: expected the end of the line" : "expected <from> <to> [<weight>]");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  for (int c = 0; c < 2 && !R->wrong->code; c++) PetscCall(FindNode(R, &field[c], eol, &id[c]));
  if (R->wrong->code) PetscFunctionReturn(PETSC_SUCCESS);
  if (stop < eol) (void)ScanWeight(R, stop, eol, &w);
  else if (column[2] >= 0 && field[2].begin < field[2].end) {
    const GpFieldKind kind = GpFieldClassify(&field[2], GpTableCommas(R->form->delimiter), &w);

    if (kind != GP_FIELD_NUMBER || !(w >= 0 && w <= PETSC_MAX_REAL)) GpAppComplain(R->wrong, R->line, field[2].begin, field[2].end, "expected a weight that is finite and not negative");
  }
  if (!R->wrong->code) PetscCall(AddLink(R, id[0], id[1], w, eol, eol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the pairs of numbers from p on, up to another kind of line or `stop`; where that begins */
static PetscErrorCode ReadPairs(const char **begin, const char *stop, PetscInt64 *lines, GpAppLinks *L)
{
  const char      *p = *begin;
  PetscInt64       n = L->n, capacity = L->capacity, *from = L->from, *to = L->to;
  const PetscInt64 first = n;

  PetscFunctionBegin;
  for (const char *eol; p < stop; p = eol + 1) {
    if (n == capacity) {
      L->n = n;
      PetscCall(GpAppLinksReserve(L, 1, PETSC_FALSE));
      capacity = L->capacity;
      from     = L->from;
      to       = L->to;
    }
    eol = ScanPair(p, &from[n], &to[n]);
    if (!eol) break;
    n++;
  }
  L->n = n;
  *lines += n - first;
  *begin = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all lines of this rank but the first of the file, if that is to be judged later */
static PetscErrorCode ReadLines(const GpAppText *T, Reader *R)
{
  const PetscInt64 skip = R->form->heading || R->form->nfirst ? R->form->line - T->before : 0;
  const char      *end  = T->text + T->length;

  PetscFunctionBegin;
  PetscCall(GpAppLinksReserve(&R->G->links, (PetscInt64)(T->length / 12) + 16, PETSC_FALSE)); /* most lines are longer */
  for (const char *p = T->text, *eol; p < end && !R->wrong->code; p = eol + 1) {
    const char *q;

    if (!R->form->fields && !R->weighted && R->line >= skip) PetscCall(ReadPairs(&p, end, &R->line, &R->G->links));
    if (p == end) break;
    R->line++;
    q   = R->form->fields ? GpAppSkipBlanks(p) : SkipSeparators(p);
    eol = (const char *)memchr(p, '\n', (size_t)(end - p));
    if (q >= eol || *q == '#' || *q == '%' || R->line == skip) continue;
    if (R->form->fields) PetscCall(ReadFields(R, p, eol));
    else PetscCall(ReadNumbers(R, q, eol));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ranks must agree on whether there are weights. */
static PetscErrorCode AgreeOnWeights(Reader *R)
{
  const PetscBool some = (PetscBool)(R->G->links.n > 0);
  int             mine[2], all[2];

  PetscFunctionBegin;
  mine[0] = some && R->weighted;
  mine[1] = some && !R->weighted;
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, R->G->comm));
  if (all[0] && all[1] && mine[1]) GpAppComplain(R->wrong, R->line, "", "", "this line has no weight, but other lines have one");
  R->G->weighted = (PetscBool)all[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether the first line can hold the numbers of nodes and edges of what was read; base: the number of the first node */
static PetscErrorCode MatchSizes(const GpGraphForm *form, const GpAppGraph *G, PetscInt64 bytes, PetscBool *match, PetscInt64 *base)
{
  const GpAppLinks *L       = &G->links;
  PetscInt64        mine[2] = {INT64_MIN, 0}, all[2], edges = L->n, N = form->first[0]; /* less the least number, and the largest */
  GpAppComplaint    many = {0};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &edges, 1, MPIU_INT64, MPI_SUM, G->comm));
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
static PetscErrorCode JudgeFirst(const GpAppText *T, const GpAppGraphSpec *spec, Reader *R)
{
  const GpGraphForm *form  = R->form;
  GpAppGraph        *G     = R->G;
  PetscBool          match = PETSC_FALSE;
  PetscInt64         base = 0, bytes = (PetscInt64)T->length;
  char               first[128] = "";

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPIU_INT64, MPI_SUM, G->comm));
  for (int k = 0; k < form->nfirst; k++) (void)snprintf(first + strlen(first), sizeof(first) - strlen(first), "%s%" PetscInt64_FMT, k ? " " : "", form->first[k]);
  if (spec->sizes != GP_GRAPH_CHOICE_NO) PetscCall(MatchSizes(form, G, bytes, &match, &base));
  if (match) {
    G->nodes = form->first[0];
    G->base  = base;
    for (PetscInt64 k = 0; k < G->links.n && base; k++) {
      G->links.from[k] -= base;
      G->links.to[k] -= base;
    }
    if (!form->jlg) PetscCall(PetscSNPrintf(G->note, sizeof(G->note), "first line '%s' read as the numbers of nodes and edges (-graph_sizes no: an edge)", first));
  } else if (form->jlg || spec->sizes == GP_GRAPH_CHOICE_YES) {
    R->wrong->code = PETSC_ERR_FILE_UNEXPECTED; /* all ranks find the same */
    R->wrong->line = form->line - T->before;
    PetscCall(PetscSNPrintf(R->wrong->what, sizeof(R->wrong->what), "the numbers of nodes and edges, '%s', do not match the lines below: the file is truncated or damaged", first));
  } else if (form->line > T->before && form->line <= T->before + T->lines) { /* the rank that has the line; it belongs before its other edges, but their order means nothing */
    const PetscInt64 lines = R->line;

    if (!(form->nfirst == 2 || form->nfirst == 3)) {
      R->wrong->code = PETSC_ERR_FILE_UNEXPECTED;
      R->wrong->line = form->line - T->before;
      PetscCall(PetscSNPrintf(R->wrong->what, sizeof(R->wrong->what), "expected <from> <to> [<weight>], got '%s'", first));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (G->edges && G->weighted != (PetscBool)(form->nfirst == 3)) {
      R->wrong->code = PETSC_ERR_FILE_UNEXPECTED;
      R->wrong->line = form->line - T->before;
      PetscCall(PetscSNPrintf(R->wrong->what, sizeof(R->wrong->what), G->weighted ? "'%s': expected a weight, because the lines below have one" : "'%s': expected no weight, because the lines below have none", first));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    R->line = form->line - T->before;
    PetscCall(AddLink(R, form->first[0], form->first[1], form->nfirst == 3 ? (double)form->first[2] : NAN, "", ""));
    R->line     = lines;
    G->weighted = R->weighted;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* names become the numbers that they have on all ranks */
static PetscErrorCode NumberNames(GpAppGraph *G)
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

PetscErrorCode GpAppGraphReadEdges(const GpAppText *T, const GpAppGraphSpec *spec, const GpGraphForm *form, GpAppGraph *G, GpAppComplaint *C)
{
  Reader      R     = {form, G, C, 0, PETSC_FALSE};
  const char *comma = form->delimiter == ',' ? "commas" : form->delimiter == ';' ? "semicolons" : form->delimiter == '\t' ? "tabs" : "blanks";
  int         wrong;

  PetscFunctionBegin;
  PetscCall(ReadLines(T, &R));
  PetscCall(AgreeOnWeights(&R));
  PetscCallMPI(MPI_Allreduce(&G->links.n, &G->edges, 1, MPIU_INT64, MPI_SUM, G->comm));
  if (spec->sizes == GP_GRAPH_CHOICE_YES && !form->nfirst && form->line > T->before) GpAppComplain(C, form->line - T->before, "", "", "expected the numbers of nodes and edges (-graph_sizes yes)");
  wrong = C->code != 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, G->comm));
  if (!wrong && form->nfirst) PetscCall(JudgeFirst(T, spec, &R));
  wrong = C->code != 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, G->comm));
  if (wrong) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(&G->links.n, &G->edges, 1, MPIU_INT64, MPI_SUM, G->comm));
  if (!G->edges) {
    C->code = PETSC_ERR_FILE_UNEXPECTED;
    PetscCall(PetscStrncpy(C->what, "the file holds no links, expected lines of the form: <from> <to> [<weight>]", sizeof(C->what)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (form->named) PetscCall(NumberNames(G));
  if (form->jlg == 'u') PetscCall(GpAppLinksMirror(&G->links));
  G->undirected = (PetscBool)(form->jlg == 'u');
  PetscCall(PetscSNPrintf(G->note + strlen(G->note), sizeof(G->note) - strlen(G->note), "%sseparated by %s%s%s%s", G->note[0] ? ", " : "", comma, form->heading ? ", headings" : "", form->ignored[0] ? ", ignored columns: " : "", form->ignored));
  PetscFunctionReturn(PETSC_SUCCESS);
}
