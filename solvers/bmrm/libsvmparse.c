/* One line of a LIBSVM file: label, features in ascending order, comment. */
#include "libsvm.h"
#include <ctype.h>
#include <stdlib.h>

static const double PowersOfTen[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline PetscBool IsDigit(char c)
{
  return (PetscBool)((unsigned char)(c - '0') < 10);
}

static inline PetscBool IsBlank(char c)
{
  return (PetscBool)(c == ' ' || c == '\t' || c == '\r');
}

/*
  BMRMScanReal - reads a decimal number: [+-] digits [. digits] [(e|E) [+-] digits]

  Input Parameter:
. s - where it begins, in a buffer with some other character after the number

  Output Parameter:
. v - the double next to it; an infinity when it is too large for one

  Returns where it ends, NULL when there is none. Names such as nan and inf are none.

  Note:
  When the digits fit 53 bits and the power of ten is exact, one product or quotient rounds correctly (Clinger 1990); strtod() does
  the rest, which a well-formed number can be trusted to.
*/
const char *BMRMScanReal(const char *s, double *v)
{
  const char *p       = s;
  uint64_t    digits  = 0;
  int         exp10   = 0;
  PetscBool   dropped = PETSC_FALSE, any = PETSC_FALSE;

  if (*p == '-' || *p == '+') p++;
  for (; IsDigit(*p); p++) {
    any = PETSC_TRUE;
    if (digits < 100000000000000000u) digits = 10 * digits + (uint64_t)(*p - '0');
    else dropped = PETSC_TRUE;
  }
  if (*p == '.') {
    for (p++; IsDigit(*p); p++) {
      any = PETSC_TRUE;
      if (digits < 100000000000000000u) {
        digits = 10 * digits + (uint64_t)(*p - '0');
        exp10--;
      } else dropped = PETSC_TRUE;
    }
  }
  if (!any) return NULL;
  if (*p == 'e' || *p == 'E') {
    PetscBool neg = PETSC_FALSE;
    int       e   = 0;

    p++;
    if (*p == '-' || *p == '+') neg = (PetscBool)(*p++ == '-');
    if (!IsDigit(*p)) return NULL;
    for (; IsDigit(*p); p++) e = PetscMin(10 * e + (*p - '0'), 99999);
    exp10 += neg ? -e : e;
  }
  if (!dropped && digits <= ((uint64_t)1 << 53) && exp10 >= -22 && exp10 <= 22) {
    const double d = (double)digits, x = exp10 < 0 ? d / PowersOfTen[-exp10] : d * PowersOfTen[exp10];

    *v = *s == '-' ? -x : x;
  } else *v = strtod(s, NULL);
  return p;
}

/* Notes what is wrong at p; the token there is quoted, its unprintable characters as question marks. */
static PetscErrorCode Complain(BMRMParser *ps, const char *line, const char *p, const char *eol, int code, const char what[])
{
  char token[32];
  int  n = 0;

  PetscFunctionBegin;
  for (const char *q = p; q < eol && !IsBlank(*q) && n < 24; q++) token[n++] = isprint((unsigned char)*q) ? *q : '?';
  token[n]       = 0;
  ps->err.code   = code;
  ps->err.line   = ps->lines;
  ps->err.column = p - line + 1;
  if (n) PetscCall(PetscSNPrintf(ps->err.what, sizeof(ps->err.what), "%s, got '%s'", what, token));
  else PetscCall(PetscSNPrintf(ps->err.what, sizeof(ps->err.what), "%s, got %s", what, p < eol ? "a blank" : "the end of the line"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes room for one more row and as many entries as the line can hold: "1:1 " is the shortest one. */
static PetscErrorCode Reserve(BMRMParser *ps, size_t length, PetscBool *fits)
{
  BMRMExamples    *ex   = ps->ex;
  const PetscInt64 need = ps->nz + (PetscInt64)((length + 1) / 4);

  PetscFunctionBegin;
  *fits = (PetscBool)(need < PETSC_MAX_INT && ex->m < PETSC_MAX_INT - 1);
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  if (need > ps->nzcap) {
    ps->nzcap = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, PetscMax(need, 2 * (PetscInt64)ps->nzcap));
    PetscCall(PetscRealloc((size_t)ps->nzcap * sizeof(*ex->j), &ex->j));
    PetscCall(PetscRealloc((size_t)ps->nzcap * sizeof(*ex->a), &ex->a));
  }
  if (ex->m + 1 >= ps->mcap) {
    ps->mcap = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, 2 * (PetscInt64)ps->mcap);
    PetscCall(PetscRealloc((size_t)ps->mcap * sizeof(*ex->i), &ex->i));
    PetscCall(PetscRealloc((size_t)ps->mcap * sizeof(*ex->label), &ex->label));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps a list of the different labels, and of the line where each came first. */
static void NoteClass(BMRMParser *ps, PetscReal label)
{
  BMRMExamples *ex = ps->ex;

  for (PetscInt k = 0; k < ex->nclass; k++) {
    if (ex->classes[k] == label) return;
  }
  if (ex->nclass > BMRM_MAX_CLASSES) return;
  ex->classes[ex->nclass]     = label;
  ex->classline[ex->nclass++] = ps->lines;
}

/* Reads the features from p to the end of the line or its comment. */
static PetscErrorCode ParseFeatures(BMRMParser *ps, const char *line, const char *p, const char *eol)
{
  PetscInt     last = 0, nz = ps->nz;
  PetscInt    *j = ps->ex->j;
  PetscScalar *a = ps->ex->a;

  PetscFunctionBegin;
  while (1) {
    const char *token, *q;
    PetscInt    index = 0;
    PetscBool   fits  = PETSC_TRUE;
    double      value;

    while (p < eol && IsBlank(*p)) p++;
    if (p == eol || *p == '#') break;
    for (token = p; IsDigit(*p) && fits; p++) {
      fits = (PetscBool)(index <= (PETSC_MAX_INT - (*p - '0')) / 10);
      if (fits) index = 10 * index + (*p - '0');
    }
    if (p == token) PetscFunctionReturn(Complain(ps, line, token, eol, PETSC_ERR_FILE_UNEXPECTED, "expected <index>:<value>"));
    if (!fits) PetscFunctionReturn(Complain(ps, line, token, eol, PETSC_ERR_ARG_OUTOFRANGE, "the index does not fit PetscInt (is this PETSc built with 32-bit indices?)"));
    if (*p != ':') PetscFunctionReturn(Complain(ps, line, token, eol, PETSC_ERR_FILE_UNEXPECTED, "expected <index>:<value>"));
    if (index == 0) PetscFunctionReturn(Complain(ps, line, token, eol, PETSC_ERR_FILE_UNEXPECTED, "indices are counted from 1"));
    if (index <= last) PetscFunctionReturn(Complain(ps, line, token, eol, PETSC_ERR_FILE_UNEXPECTED, "indices must rise within a line"));
    q = BMRMScanReal(++p, &value);
    if (!q || q > eol || !(q == eol || IsBlank(*q) || *q == '#')) PetscFunctionReturn(Complain(ps, line, p, eol, PETSC_ERR_FILE_UNEXPECTED, "expected a finite number as value"));
    if (PetscAbsReal((PetscReal)value) > PETSC_MAX_REAL) PetscFunctionReturn(Complain(ps, line, p, eol, PETSC_ERR_FILE_UNEXPECTED, "the value is too large for double precision"));
    j[nz]   = index - 1;
    a[nz++] = value;
    last    = index;
    p       = q;
  }
  ps->ex->N = PetscMax(ps->ex->N, last);
  ps->nz    = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  BMRMParseLine - appends the example of a line, if it holds one

  Input Parameters:
+ ps   - the rows so far
. line - its first character
- eol  - the newline that ends it, which can be read

  Note:
  What is wrong with the line is noted in ps->err; the return value tells of failures of another kind. A "qid:" token after
  the label is checked and ignored.
*/
PetscErrorCode BMRMParseLine(BMRMParser *ps, const char *line, const char *eol)
{
  BMRMExamples *ex = ps->ex;
  const char   *p  = line, *q;
  PetscBool     fits;
  double        label;

  PetscFunctionBegin;
  ps->lines++;
  while (p < eol && IsBlank(*p)) p++;
  if (p == eol || *p == '#') PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Reserve(ps, (size_t)(eol - line), &fits));
  if (!fits) PetscFunctionReturn(Complain(ps, line, p, eol, PETSC_ERR_ARG_OUTOFRANGE, "more entries on a rank than PetscInt counts: use more ranks or a PETSc with 64-bit indices"));
  q = BMRMScanReal(p, &label);
  if (!q || q > eol || !(q == eol || IsBlank(*q) || *q == '#')) PetscFunctionReturn(Complain(ps, line, p, eol, PETSC_ERR_FILE_UNEXPECTED, "expected a finite number as label"));
  if (PetscAbsReal((PetscReal)label) > PETSC_MAX_REAL) PetscFunctionReturn(Complain(ps, line, p, eol, PETSC_ERR_FILE_UNEXPECTED, "the label is too large for double precision"));
  for (p = q; p < eol && IsBlank(*p); p++)
    ;
  if (eol - p >= 4 && p[0] == 'q' && p[1] == 'i' && p[2] == 'd' && p[3] == ':') {
    for (q = p + 4; IsDigit(*q); q++)
      ;
    if (q == p + 4 || !(q == eol || IsBlank(*q) || *q == '#')) PetscFunctionReturn(Complain(ps, line, p, eol, PETSC_ERR_FILE_UNEXPECTED, "expected qid:<number>"));
    p = q;
  }
  PetscCall(ParseFeatures(ps, line, p, eol));
  if (ps->err.code) PetscFunctionReturn(PETSC_SUCCESS);
  NoteClass(ps, (PetscReal)label);
  ex->label[ex->m++] = (PetscReal)label;
  ex->i[ex->m]       = ps->nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}
