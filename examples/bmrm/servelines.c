/* The lines that the service of a model reads: LIBSVM, and fields separated by commas. */
#include "serve.h"
#include "app/table/apptablefield.h"
#include "app/text/appscan.h"
#include <string.h>

/* Appends a feature to a row. */
static PetscErrorCode ServeAppend(BMRMServeRow *row, PetscInt j, double a)
{
  PetscFunctionBegin;
  if (row->n == row->capacity) {
    row->capacity = 2 * row->capacity + 64;
    PetscCall(PetscRealloc((size_t)row->capacity * sizeof(*row->j), &row->j));
    PetscCall(PetscRealloc((size_t)row->capacity * sizeof(*row->a), &row->a));
  }
  row->j[row->n]   = j;
  row->a[row->n++] = (PetscScalar)a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool ServeEndsToken(char c)
{
  return (PetscBool)(GpAppIsEnd(c) || c == '#');
}

/* Returns whether the word at p is that of a feature, <index>:<value>. Otherwise it is a label. */
static PetscBool ServeIsFeature(const char *p)
{
  const char *q = p;

  while (GpAppIsDigit(*q)) q++;
  return (PetscBool)(q > p && *q == ':');
}

/* Reads <index>:<value> at p and returns the end of the word. If the word has another form, returns NULL and a description of the expected form. */
static const char *ServeScanFeature(const char *p, PetscInt last, PetscInt64 *index, double *value, const char **expected)
{
  const char *q = GpAppScanId(p, index), *end;

  *expected = "expected <index>:<value>";
  if (!q || *q != ':') return NULL;
  *expected = "indices are counted from 1 and must ascend within a line";
  if (*index <= last) return NULL;
  *expected = "expected <index>:<finite number>";
  end       = GpAppScanReal(q + 1, value);
  return end && ServeEndsToken(*end) && PetscAbsReal((PetscReal)*value) <= PETSC_MAX_REAL ? end : NULL;
}

/* Reads a label, which is not used. Returns where it ends. */
static const char *ServeScanLabel(const char *text, const char *p, PetscInt64 line, const char *eol, GpAppComplaint *C)
{
  double      label;
  const char *end = GpAppScanReal(p, &label);

  if (end && ServeEndsToken(*end)) return end;
  GpAppComplainAt(C, PETSC_ERR_FILE_UNEXPECTED, line, p - text + 1, p, eol, "expected a number as label, or <index>:<value>");
  return p;
}

/* Parses a line of LIBSVM: a label, which is ignored and may be missing, then features; a comment begins with #. */
PetscErrorCode BMRMServeParseLibsvm(const BMRMModel *model, PetscInt64 line, const char *text, const char *eol, BMRMServeRow *row, GpAppComplaint *C)
{
  const char *p = GpAppSkipBlanks(text);

  PetscFunctionBegin;
  row->n = 0;
  if (p == eol || *p == '#') GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, line, "the line holds no example, expected [<label>] <index>:<value> ...");
  else if (!ServeIsFeature(p)) p = ServeScanLabel(text, p, line, eol, C);
  for (p = GpAppSkipBlanks(p); !C->code && !strncmp(p, "qid:", 4); p = GpAppSkipBlanks(p))
    while (!ServeEndsToken(*p)) p++;
  while (!C->code && p < eol && *p != '#') {
    const PetscInt last = row->n ? row->j[row->n - 1] + 1 : 0;
    PetscInt64     index;
    double         value;
    const char    *expected, *end = ServeScanFeature(p, last, &index, &value, &expected);

    if (!end) GpAppComplainAt(C, PETSC_ERR_FILE_UNEXPECTED, line, p - text + 1, p, eol, expected);
    else if (index > model->n) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, line, "feature %" PetscInt64_FMT ", but the model has %" PetscInt_FMT " features", index, model->n);
    else PetscCall(ServeAppend(row, (PetscInt)(index - 1), value));
    if (end) p = GpAppSkipBlanks(end);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the name that follows a name in a list. */
static const char *ServeGetNext(const char *name)
{
  return name + strlen(name) + 1;
}

/* Gets the next field of a line. Returns PETSC_FALSE if its quotes are wrong. */
static PetscBool ServeGetField(const char *p, const char *eol, PetscInt64 line, GpAppField *f, GpAppComplaint *C)
{
  *f = GpAppFieldGet(p, eol, ',');
  if (f->quotes == GP_QUOTES_GOOD) return PETSC_TRUE;
  GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, line, f->quotes == GP_QUOTES_OPEN ? "a quote has no end" : "text follows the end of a quote, expected a comma");
  return PETSC_FALSE;
}

/* Parses the headings of the columns, among which must be the names of all features of the model. */
PetscErrorCode BMRMServeParseHeading(const BMRMModel *model, PetscInt64 line, const char *text, const char *eol, BMRMServeColumns *co, GpAppComplaint *C)
{
  PetscInt    n = 1, *found;
  GpAppField  f;
  const char *name;
  char       *to;

  PetscFunctionBegin;
  for (const char *p = text; p < eol; p++) n += *p == ',';
  PetscCall(PetscMalloc1(n, &co->feature)); /* an upper bound: a comma may be inside quotes */
  PetscCall(PetscMalloc1((size_t)(eol - text) + (size_t)n + 1, &co->names));
  PetscCall(PetscCalloc1(model->n, &found));
  to = co->names;
  for (const char *p = text; p; p = f.next) {
    char *heading = to;

    if (!ServeGetField(p, eol, line, &f, C)) break;
    to += GpAppFieldCopy(&f, to);
    for (char *c = heading; *c; c++) *c = (unsigned char)*c < ' ' ? '?' : *c; /* as in the names of the model */
    co->feature[co->n] = -1;
    name               = model->feature_names;
    for (PetscInt j = 0; j < model->n; j++, name = ServeGetNext(name)) {
      if (strcmp(name, heading)) continue;
      if (found[j]++) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, line, "two columns have the heading '%.60s', a feature of the model", name);
      co->feature[co->n] = j;
      break;
    }
    co->n++;
  }
  name = model->feature_names;
  for (PetscInt j = 0; j < model->n; j++, name = ServeGetNext(name))
    if (!found[j]) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, line, "no column has the heading '%.60s', a feature of the model", name);
  PetscCall(PetscFree(found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends the value of a field to the row, or records an error in C. heading: the heading of the column, or NULL if there are no headings. */
static PetscErrorCode ServeParseField(const GpAppField *f, PetscInt column, const char heading[], PetscInt64 line, PetscInt feature, BMRMServeRow *row, GpAppComplaint *C)
{
  double               value;
  const GpAppFieldKind kind = GpAppFieldClassify(f, PETSC_FALSE, &value);
  char                 where[128];

  PetscFunctionBegin;
  if (kind == GP_FIELD_NUMBER) {
    if (value != 0) PetscCall(ServeAppend(row, feature, value));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  (void)snprintf(where, sizeof(where), "column %" PetscInt_FMT "%s%.60s", column + 1, heading ? ", " : "", heading ? heading : "");
  if (kind == GP_FIELD_MISSING || kind == GP_FIELD_NAN) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, line, "%s: the value is missing: bmrm needs all values", where);
  else {
    char expected[192];

    (void)snprintf(expected, sizeof(expected), "%s: expected a finite number", where);
    GpAppComplain(C, line, f->begin, f->end, expected);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parses a line of fields. */
PetscErrorCode BMRMServeParseFields(const BMRMModel *model, const BMRMServeColumns *co, PetscInt64 line, const char *text, const char *eol, BMRMServeRow *row, GpAppComplaint *C)
{
  PetscInt    n = 0;
  GpAppField  f;
  const char *heading = co->names;

  PetscFunctionBegin;
  row->n = 0;
  for (const char *p = text; p && !C->code; p = f.next, n++) {
    if (!ServeGetField(p, eol, line, &f, C)) break;
    if (n < co->n && co->feature[n] >= 0) PetscCall(ServeParseField(&f, n, heading, line, co->feature[n], row, C));
    if (heading && n < co->n) heading = ServeGetNext(heading);
  }
  if (n != co->n && !C->code) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, line, "the number of fields is %" PetscInt_FMT ", expected %" PetscInt_FMT, n, co->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}
