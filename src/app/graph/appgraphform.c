/* What the first lines of an edge list say: headings, sizes, names or numbers, columns; and whether the text is METIS instead. */
#include "app/graph/appgraphread.h"
#include "app/table/apptablefield.h"
#include <ctype.h>
#include <string.h>

enum {
  SAMPLE = 1000, /* lines that are looked at to tell METIS from an edge list */
  FIELDS = 64    /* columns of an edge list that are looked at */
};

static const char *const SourceWords[] = {"source", "src", "from", "fromnodeid", "from_id", "node1", "node_1", "id1", "id_1", "u", "start", "tail", "v1", "i", NULL};
static const char *const TargetWords[] = {"target", "dst", "dest", "destination", "to", "tonodeid", "to_id", "node2", "node_2", "id2", "id_2", "v", "end", "head", "v2", "j", NULL};
static const char *const WeightWords[] = {"weight", "weights", "w", "value", "strength", "count", NULL};

typedef struct {
  int        n;
  GpAppField field[FIELDS];
} Fields;

/* Finds the delimiter of a line: the first of ; tab , that occurs outside quotes and before braces, else blanks. */
static char FormFindDelimiter(const char *p, const char *eol)
{
  PetscBool quoted = PETSC_FALSE, comma = PETSC_FALSE, tab = PETSC_FALSE;

  for (; p < eol && (quoted || *p != '{'); p++) {
    if (*p == '"') quoted = (PetscBool)!quoted;
    if (quoted) continue;
    if (*p == ';') return ';';
    comma = (PetscBool)(comma || *p == ',');
    tab   = (PetscBool)(tab || *p == '\t');
  }
  return tab ? '\t' : comma ? ',' : ' ';
}

static void FormSplitLine(const char *p, const char *eol, char delimiter, Fields *F)
{
  for (F->n = 0; F->n < FIELDS && p; p = F->field[F->n++].next) F->field[F->n] = GpAppFieldGet(p, eol, delimiter);
  if (F->n && F->n < FIELDS && F->field[F->n - 1].begin == eol && F->n > 1 && !F->field[F->n - 1].quoted) F->n--; /* a delimiter that ends the line */
}

static PetscBool FormIsNumber(const GpAppField *f)
{
  double      v;
  const char *end = f->begin < f->end ? GpAppScanReal(f->begin, &v) : NULL;

  return (PetscBool)(end == f->end);
}

/* Can the field be a heading above weights?  A missing value, nan, or a number with a decimal comma is a weight, which a later check refuses or accepts. */
static PetscBool FormIsWeightHeading(const GpAppField *f)
{
  double v;

  return (PetscBool)(GpAppFieldClassify(f, PETSC_TRUE, &v) == GP_FIELD_WORD);
}

static int FormFindColumn(const Fields *F, const char *const words[])
{
  for (int k = 0; k < F->n; k++)
    if (GpAppFieldIsAny(&F->field[k], words, PETSC_FALSE)) return k;
  return -1;
}

/* Decides whether the first line is a heading: known words for the two nodes, or words above numbers. */
static PetscBool FormIsHeading(const Fields *first, const Fields *second)
{
  if (first->n < 2) return PETSC_FALSE;
  if (FormFindColumn(first, SourceWords) >= 0 && FormFindColumn(first, TargetWords) >= 0) return PETSC_TRUE;
  if (!second || second->n < 2) return PETSC_FALSE;
  for (int k = 2; k < PetscMin(first->n, second->n); k++)
    if (*second->field[k].begin != '{' && first->field[k].begin < first->field[k].end && FormIsWeightHeading(&first->field[k]) && FormIsNumber(&second->field[k])) return PETSC_TRUE;
  return (PetscBool)(!FormIsNumber(&first->field[0]) && !FormIsNumber(&first->field[1]) && FormIsNumber(&second->field[0]) && FormIsNumber(&second->field[1]));
}

/* Finds the columns of nodes and weight by the headings or by their places. */
static void FormFindColumns(const Fields *heading, const Fields *data, GpAppGraphForm *form)
{
  int from = heading ? FormFindColumn(heading, SourceWords) : -1, to = heading ? FormFindColumn(heading, TargetWords) : -1, weight = heading ? FormFindColumn(heading, WeightWords) : -1;

  if (from < 0 || to < 0) {
    from = 0;
    to   = 1;
  }
  if (!heading && data->n == 3) weight = 2;
  form->column[0] = from;
  form->column[1] = to;
  form->column[2] = weight;
  for (int k = 0; heading && k < heading->n; k++) {
    const GpAppField *f = &heading->field[k];

    if (k == from || k == to || k == weight) continue;
    form->fields = PETSC_TRUE;
    if (!form->ignored[0] && f->begin < f->end) (void)snprintf(form->ignored, sizeof(form->ignored), "%.*s", (int)PetscMin(f->end - f->begin, 40), f->begin);
    else (void)snprintf(form->ignored + strlen(form->ignored), sizeof(form->ignored) - strlen(form->ignored), "%s", form->ignored[0] ? ", ..." : "a column without heading");
    if (strstr(form->ignored, ", ...")) break;
  }
  if (from != 0 || to != 1 || (weight >= 0 && weight != 2)) form->fields = PETSC_TRUE;
}

/* Reads the whole numbers of a line, at most 5, and returns how many. 0: the line holds other things. */
static int FormScanWholeNumbers(const char *p, const char *eol, PetscInt64 number[5])
{
  int n = 0;

  for (p = GpAppSkipBlanks(p); p < eol; p = GpAppSkipBlanks(p)) {
    if (n == 5) return 0;
    p = GpAppScanId(p, &number[n++]);
    if (!p || !(GpAppIsBlank(*p) || *p == '\n' || *p == ',' || *p == ';')) return 0;
    p = GpAppSkipBlanks(p);
    if (*p == ',' || *p == ';') p++;
  }
  return n;
}

/* Recognises the first line "nodes,edges,d or u,..." of a file of JuliaGraphs; returns d, u or 0. */
static int FormFindJulia(const Fields *F)
{
  const GpAppField *f = &F->field[2];

  return F->n >= 3 && FormIsNumber(&F->field[0]) && FormIsNumber(&F->field[1]) && f->end - f->begin == 1 && (*f->begin == 'd' || *f->begin == 'u') ? *f->begin : 0;
}

/* The lines after the first one, or a sample of them */
typedef struct {
  PetscInt64 comments, blank, trailing, filled; /* trailing: blank lines at the end */
  PetscBool  complete;                          /* the sample is the whole file */
  PetscBool  even;                              /* all lines that are not blank have two fields, or all three */
  PetscBool  valid;                             /* they could be neighbours of METIS, with the format of the header */
} Sample;

/* Counts the properties of lines that METIS would have. Returns false if a field is no number. */
static PetscBool FormSampleLines(const GpAppGraphForm *form, const char *p, const char *end, PetscInt64 rest, Sample *S)
{
  const PetscInt64 fmt = form->nfirst > 2 ? form->first[2] : 0, skip = (fmt / 100 % 10 == 1) + (fmt / 10 % 10 == 1) * (form->nfirst > 3 ? form->first[3] : 1);
  GpAppLines       L      = {p, end};
  PetscInt64       fields = -1;

  *S       = (Sample){0};
  S->even  = PETSC_TRUE;
  S->valid = PETSC_TRUE;
  while (L.line < SAMPLE && (p = GpAppLinesNext(&L, NULL))) {
    PetscInt64 n = 0;

    if (*p == '%') {
      S->comments++;
      continue;
    }
    for (p = GpAppSkipBlanks(p); *p != '\n'; p = GpAppSkipBlanks(p), n++) {
      double v;

      p = GpAppScanReal(p, &v);
      if (!p || !GpAppIsEnd(*p)) return PETSC_FALSE;
      if (n >= skip && ((n - skip) % (1 + fmt % 10) == 0) && !(v >= 1 && v <= (double)form->first[0] && v == PetscFloorReal((PetscReal)v))) S->valid = PETSC_FALSE;
    }
    S->trailing = n ? 0 : S->trailing + 1;
    S->blank += !n;
    S->filled += n > 0;
    if (!n) continue;
    S->valid = (PetscBool)(S->valid && n >= skip && (n - skip) % (1 + fmt % 10) == 0);
    S->even  = (PetscBool)(S->even && (n == 2 || n == 3) && (fields < 0 || n == fields));
    fields   = n;
  }
  S->complete = (PetscBool)(L.line == rest);
  return PETSC_TRUE;
}

/* Do the lines behind the first one list neighbours, as METIS does: no node its own, and each of two nodes the other one? For a sample that is complete and has two or three numbers a line.
   Other numbers than whole ones from 1 to the number of lines cannot come here. */
static PetscBool FormListsNeighbours(const char *p, const char *end)
{
  static int near[SAMPLE + 1][3]; /* 0: no such neighbour */
  GpAppLines L     = {p, end};
  int        nodes = 0;

  while (nodes < SAMPLE && (p = GpAppLinesNext(&L, NULL))) {
    int n = 0;

    if (*p == '%') continue;
    nodes++;
    near[nodes][0] = near[nodes][1] = near[nodes][2] = 0;
    for (p = GpAppSkipBlanks(p); *p != '\n'; p = GpAppSkipBlanks(p)) {
      double v = 0;

      p = GpAppScanReal(p, &v);
      if (n < 3) near[nodes][n++] = (int)v;
    }
  }
  for (int i = 1; i <= nodes; i++) {
    for (int k = 0; k < 3 && near[i][k]; k++) {
      const int j = near[i][k];

      if (j == i || j > nodes || (near[j][0] != i && near[j][1] != i && near[j][2] != i)) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* Returns 1 if the lines after the first one can only be METIS, 2 if they can be, 0 if they cannot. rest: the number of these lines, comments and blank lines included. */
static int FormFindMetis(const GpAppGraphForm *form, const char *p, const char *end, PetscInt64 rest)
{
  const PetscInt64 n = form->first[0], m = form->first[1];
  PetscBool        fits;
  Sample           S;

  if (form->nfirst < 2 || n < 1 || n > rest || (form->nfirst > 2 && form->first[2] > 111) || form->delimiter == ',' || form->delimiter == ';' || !FormSampleLines(form, p, end, rest, &S)) return 0;
  fits = (PetscBool)(S.complete ? n <= rest - S.comments && n >= rest - S.comments - S.trailing : n >= rest - rest / 8);
  if (!fits) return 0;
  if (!S.even) return 1;
  if (!S.valid) return 0;
  if (form->nfirst > 2) return n == m && form->first[2] == S.filled ? 0 : 1;
  if (S.complete && form->nfirst == 2 && !FormListsNeighbours(p, end)) return 0;
  return S.complete ? 2 * (m == S.filled) : 2 * (n == m || S.blank > 0);
}

/* Does field k exist and hold a comma?  Between semicolons that is a decimal comma, although all delimiters separate numbers elsewhere. */
static PetscBool FormHasDecimalComma(const Fields *F, int k)
{
  return (PetscBool)(k >= 0 && k < F->n && memchr(F->field[k].begin, ',', (size_t)(F->field[k].end - F->field[k].begin)) != NULL);
}

/* Determines the form by the first two lines of data, which this rank has, and by the lines after them. */
static void FormExamineLines(GpAppLines L, const GpAppGraphSpec *spec, const char *first, PetscInt64 rest, GpAppGraphForm *form)
{
  const char   *eol = L.eol, *second = GpAppLinesNext(&L, "#%"), *eol2 = L.eol;
  Fields        one, two;
  const Fields *data;
  PetscBool     comma;

  if (second) second = GpAppSkipBlanks(second);
  form->delimiter = FormFindDelimiter(first, eol);
  if (form->delimiter == ' ' && second) form->delimiter = FormFindDelimiter(second, eol2);
  FormSplitLine(first, eol, form->delimiter, &one);
  if (second) FormSplitLine(second, eol2, form->delimiter, &two);
  form->jlg     = spec->sizes == GP_GRAPH_CHOICE_NO ? 0 : FormFindJulia(&one);
  form->heading = (PetscBool)(!form->jlg && (spec->heading == GP_GRAPH_CHOICE_YES || (spec->heading == GP_GRAPH_CHOICE_AUTO && FormIsHeading(&one, second ? &two : NULL))));
  data          = (form->heading || form->jlg) && second ? &two : &one;
  FormFindColumns(form->heading ? &one : NULL, data, form);
  form->named = (PetscBool)(spec->names == GP_GRAPH_CHOICE_YES);
  for (int k = 0; k < 2 && spec->names == GP_GRAPH_CHOICE_AUTO; k++) form->named = (PetscBool)(form->named || (form->column[k] < data->n && data->n > 1 && !FormIsNumber(&data->field[form->column[k]])));
  if (data == &one && form->heading) form->named = PETSC_FALSE; /* nothing but headings */
  for (int k = 0; k < data->n; k++) form->fields = (PetscBool)(form->fields || (data->field[k].quoted && *data->field[k].begin != '{'));
  comma        = (PetscBool)(form->delimiter == ';' && FormHasDecimalComma(data, form->column[2]));
  form->fields = (PetscBool)(form->fields || form->named || comma);
  if (!form->heading && (!form->named || form->jlg) && !comma) form->nfirst = FormScanWholeNumbers(first, eol, form->first);
  if (form->jlg) {
    (void)GpAppScanId(one.field[0].begin, &form->first[0]);
    (void)GpAppScanId(one.field[1].begin, &form->first[1]);
    form->nfirst = 2;
  }
  form->metis = form->jlg || form->heading || form->named ? 0 : FormFindMetis(form, eol + 1, L.end, rest);
}

/* .graph, .metis, .chaco, also of a compressed file */
static PetscBool FormHasMetisName(const char file[])
{
  static const char *const endings[] = {".graph", ".metis", ".chaco"};
  const char              *name      = strrchr(file, '/') ? strrchr(file, '/') : file;

  for (int k = 0; k < 3; k++) {
    const char *at = strstr(name, endings[k]);

    if (at && (!at[strlen(endings[k])] || at[strlen(endings[k])] == '.')) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Determines the form of an edge list on the rank that has the first line of data, and broadcasts it. line 0: there is no data. Collective. */
PetscErrorCode GpAppGraphFindForm(const GpAppText *T, const GpAppGraphSpec *spec, GpAppGraphForm *form)
{
  GpAppLines  L     = {T->text, T->text + T->length};
  const char *first = GpAppLinesNext(&L, "#%");
  PetscMPIInt rank, owner;
  PetscInt64  lines;
  PetscBool   found;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(form, sizeof(*form)));
  PetscCallMPI(MPI_Comm_rank(T->comm, &rank));
  PetscCall(GpAppFindFirst(T->comm, (PetscBool)(first != NULL), &owner, &found));
  PetscCall(GpAppSumBefore(T->comm, T->lines, NULL, &lines));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  if (owner == rank) {
    form->line = T->before + L.line;
    FormExamineLines(L, spec, GpAppSkipBlanks(first), lines - form->line, form);
    if (form->metis == 2 && FormHasMetisName(T->file)) form->metis = 1;
  }
  PetscCallMPI(MPI_Bcast(form, (PetscMPIInt)sizeof(*form), MPI_BYTE, owner, T->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
