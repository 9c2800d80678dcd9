/* Recognises headings and row names of a table by its content.  docs/formats.md lists the rules in this order. */
#include "app/table/apptablefield.h"
#include <ctype.h>
#include <string.h>

/* Returns whether a field of the first line is a heading, by the column under it. */
static PetscBool GuessAbove(const GpAppTableFirst *f, const GpAppTableColumn *c)
{
  if (f->kind == GP_FIELD_WORD && (c->flags & GP_COLUMN_NUMBER) && !(c->flags & GP_COLUMN_WORD)) return PETSC_TRUE;
  return (PetscBool)(f->field.quoted && !f->empty && (c->flags & GP_COLUMN_UNQUOTED) && !(c->flags & GP_COLUMN_QUOTED));
}

/* Returns whether the fields are 0, 1, 2, ... or 1, 2, 3, ... */
static PetscBool GuessCounts(const GpAppTableFirst first[], PetscInt n)
{
  for (PetscInt j = 0; j < n; j++)
    if (first[j].kind != GP_FIELD_NUMBER || first[j].value != first[0].value + (double)j) return PETSC_FALSE;
  return (PetscBool)(n > 0 && (first[0].value == 0 || first[0].value == 1));
}

/* Returns whether column 0 counts the rows after the first line from 0 or 1. */
static PetscBool GuessCountsRows(const GpAppTableSurvey *S, PetscBool header)
{
  const double start = S->seqmin + (header ? 1 : 0);

  return (PetscBool)(S->seqmin == S->seqmax && (start == 0 || start == 1));
}

/* Recognises an empty field above row names, as R's write.csv() and pandas write it. */
static PetscBool GuessCorner(const GpAppTableSurvey *S)
{
  PetscBool plain = PETSC_TRUE;

  if (!S->field[0].empty || S->kfirst < 2 || S->kmin != S->kmax || S->kfirst != S->kmax || (S->column[0].flags & GP_COLUMN_MISSING)) return PETSC_FALSE;
  for (PetscInt j = 1; j < S->kfirst; j++) {
    if (S->field[j].kind == GP_FIELD_MISSING) return PETSC_FALSE;
    if (S->field[j].kind != GP_FIELD_NUMBER || S->field[j].field.quoted) plain = PETSC_FALSE;
  }
  return (PetscBool) !(plain && !S->field[0].field.quoted && S->diagonal); /* else a matrix without its diagonal */
}

/* Recognises a heading line without a field above the row names, as R's write.table() writes it. */
static PetscBool GuessShifted(const GpAppTableSpec *spec, const GpAppTableSurvey *S)
{
  if (S->kmin != S->kmax || S->kfirst != S->kmax - 1 || S->lines < 2) return PETSC_FALSE;
  if (spec->header == GP_TABLE_YES || S->repeats[0]) return PETSC_TRUE;
  if (spec->square && S->lines - 1 != S->kfirst) return PETSC_FALSE;
  if (!(S->column[0].flags & GP_COLUMN_WORD) && (S->column[0].flags & GP_COLUMN_UNQUOTED)) return PETSC_FALSE; /* numbers are names only in quotes */
  for (PetscInt j = 0; j < S->kfirst; j++)
    if (S->field[j].kind == GP_FIELD_WORD || S->field[j].field.quoted || GuessAbove(&S->field[j], &S->column[j + 1])) return PETSC_TRUE;
  return GuessCounts(S->field, S->kfirst);
}

static PetscBool GuessHeader(const GpAppTableSpec *spec, const GpAppTableSurvey *S)
{
  PetscBool numbers = PETSC_FALSE; /* numbers without quotes in columns 1, 2, ... */

  if (S->lines < 2) return PETSC_FALSE;
  if (GuessCorner(S)) return PETSC_TRUE;
  for (PetscInt j = 1; j < S->kfirst && j < S->kmax; j++) {
    if (GuessAbove(&S->field[j], &S->column[j])) return PETSC_TRUE;
    if (S->field[j].kind == GP_FIELD_NUMBER && !S->field[j].field.quoted) numbers = PETSC_TRUE;
  }
  if (S->repeats[1] && S->field[0].kind == GP_FIELD_WORD && !(S->column[0].flags & GP_COLUMN_WORD)) return PETSC_TRUE;
  if (!numbers && GuessAbove(&S->field[0], &S->column[0]) && (S->field[0].kind == GP_FIELD_WORD || S->kmax == 1)) return PETSC_TRUE;
  return (PetscBool)(spec->square && S->kmin == S->kmax && S->kfirst == S->kmax && S->lines == S->kmax + 1 && GuessCounts(S->field, S->kfirst));
}

/* Returns whether the first heading stands above names, although they are numbers. */
static PetscBool GuessNamesHeading(const GpAppTableSurvey *S)
{
  static const char *const words[] = {"point", "id", "name", "names", "label", "index", "row", "node", "item", NULL};
  const GpAppField         f       = S->field[0].field;

  for (const char *const *w = words; *w; w++) {
    size_t n = 0;

    while (f.begin + n < f.end && (*w)[n] && tolower((unsigned char)f.begin[n]) == (*w)[n]) n++;
    if (f.begin + n == f.end && !(*w)[n]) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscBool GuessNames(const GpAppTableSpec *spec, const GpAppTableSurvey *S, const GpAppTableForm *form)
{
  const PetscInt64 k = S->lines > 1 ? S->kmax : S->kfirst, rows = S->lines - (form->header ? 1 : 0);
  GpAppTableColumn c     = {0};
  PetscBool        plain = PETSC_FALSE; /* fields without quotes behind column 0 */

  if (form->shifted) return PETSC_TRUE;
  if (S->lines > 1) c = S->column[0];
  if (!form->header) {
    c.flags |= (S->field[0].field.quoted ? GP_COLUMN_QUOTED : S->field[0].empty ? 0 : GP_COLUMN_UNQUOTED) | (S->field[0].kind == GP_FIELD_WORD ? GP_COLUMN_WORD : 0);
    c.words += S->field[0].kind == GP_FIELD_WORD;
  }
  if (form->shape != GP_TABLE_RECTANGLE) return (PetscBool)((c.flags & GP_COLUMN_WORD) || !(c.flags & GP_COLUMN_UNQUOTED));
  if (k < 2) return PETSC_FALSE;
  if (form->header && S->field[0].empty && !(c.flags & GP_COLUMN_MISSING)) return PETSC_TRUE;
  if (form->header && S->repeats[1]) return PETSC_TRUE;
  if (c.flags & GP_COLUMN_WORD) return (PetscBool)(!spec->square || rows != k || 2 * c.words >= rows); /* else a slip in a matrix of numbers */
  for (PetscInt64 j = 1; j < S->kmax; j++) plain = (PetscBool)(plain || (S->column[j].flags & GP_COLUMN_UNQUOTED));
  for (PetscInt j = 1; j < S->kfirst && !form->header; j++) plain = (PetscBool)(plain || (!S->field[j].field.quoted && !S->field[j].empty));
  if (plain && (c.flags & GP_COLUMN_QUOTED) && !(c.flags & GP_COLUMN_UNQUOTED)) return PETSC_TRUE;
  if (S->lines < 2) return PETSC_FALSE;
  if (spec->square && rows == k - 1) return (PetscBool)(!(c.flags & GP_COLUMN_UNQUOTED) || (form->header && (S->field[0].kind == GP_FIELD_WORD || GuessCountsRows(S, PETSC_TRUE))));
  return (PetscBool)(form->header && S->field[0].kind == GP_FIELD_WORD && GuessCountsRows(S, PETSC_TRUE) && GuessNamesHeading(S));
}

/* Recognises a triangle: every line has one field more than the line before. */
static void GuessTriangle(const GpAppTableSpec *spec, const GpAppTableSurvey *S, GpAppTableForm *form)
{
  const PetscInt k = S->kfirst;

  if (!spec->square || S->lines < 2 || S->smin != S->smax || form->shifted) return;
  if (S->kmin == S->kmax && S->kfirst == S->kmax) return;           /* two lines of a square */
  if (S->smin != k && spec->header == GP_TABLE_NO) return;          /* the first line has another length */
  if (S->kmin == S->kmax && (S->lines > 2 || S->smin != k)) return; /* a rectangle */
  form->shape  = GP_TABLE_LOWER;
  form->header = (PetscBool)(spec->header == GP_TABLE_YES || (spec->header == GP_TABLE_AUTO && S->smin != k));
  form->names  = spec->names == GP_TABLE_AUTO ? GuessNames(spec, S, form) : (PetscBool)(spec->names == GP_TABLE_YES);
  /* numbers of the first row of the triangle */
  switch (S->smin + (form->header ? 1 : 0) - (form->names ? 1 : 0)) {
  case 0:
    form->shape = GP_TABLE_STRICT_FROM0;
    break;
  case 1: {
    const PetscBool last = (PetscBool)(form->header || S->field[k - 1].kind == GP_FIELD_MISSING || S->field[k - 1].value == 0);

    if (!S->zeros || !last) form->shape = GP_TABLE_STRICT_FROM1;
    break;
  }
  default:
    form->shape = GP_TABLE_RECTANGLE; /* whose lines have different lengths, which is refused */
  }
}

/*
  GpAppTableGuessForm - Decides whether a table has headings and row names, and whether it is a triangle

  Not Collective; every rank finds the same
*/
PetscErrorCode GpAppTableGuessForm(const GpAppTableSpec *spec, const GpAppTableSurvey *S, GpAppTableForm *form)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(form, sizeof(*form)));
  form->shifted  = (PetscBool)(spec->header != GP_TABLE_NO && spec->names != GP_TABLE_NO && GuessShifted(spec, S));
  form->header   = (PetscBool)(form->shifted || spec->header == GP_TABLE_YES || (spec->header == GP_TABLE_AUTO && GuessHeader(spec, S)));
  form->names    = spec->names == GP_TABLE_AUTO ? GuessNames(spec, S, form) : (PetscBool)(spec->names == GP_TABLE_YES);
  form->expected = S->lines > 1 && form->shifted ? (PetscInt)S->kmax : S->kfirst;
  GuessTriangle(spec, S, form);
  PetscFunctionReturn(PETSC_SUCCESS);
}
