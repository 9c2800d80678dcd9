/* Fields of a line of a table: quotes, delimiters, numbers and what stands for a missing value. */
#include "app/table/apptablefield.h"
#include "app/text/appscan.h"
#include <string.h>
#include <strings.h>

#define NUMBER_MAX 512 /* longest number with a decimal comma */

/* Returns whether c is a blank around a field. A tab is none if it is the delimiter. */
static PetscBool FieldIsBlank(char c, char delimiter)
{
  return (PetscBool)(c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t'));
}

static PetscBool FieldIsDelimiter(char c, char delimiter)
{
  return delimiter == ' ' ? GpAppIsBlank(c) : (PetscBool)(c == delimiter);
}

/* Finds the field that begins at p: at the beginning of a line, or at `next` of the field before. eol: the newline that ends the line.
   Quotes follow RFC 4180: a quoted field begins with ", and "" inside it stands for one ". A newline inside quotes is not understood; the field is then GP_QUOTES_OPEN and ends
   with the line. */
GpAppField GpAppFieldGet(const char *p, const char *eol, char delimiter)
{
  GpAppField f = {NULL, NULL, NULL, PETSC_FALSE, GP_QUOTES_GOOD};

  while (p < eol && FieldIsBlank(*p, delimiter)) p++;
  f.begin = p;
  if (p < eol && *p == '"') {
    f.quoted = PETSC_TRUE;
    f.begin  = ++p;
    while (p < eol && (*p != '"' || (p + 1 < eol && p[1] == '"'))) p += *p == '"' ? 2 : 1;
    f.end = p;
    if (p == eol) f.quotes = GP_QUOTES_OPEN;
    else p++;
    if (p < eol && !FieldIsBlank(*p, delimiter) && !FieldIsDelimiter(*p, delimiter)) f.quotes = GP_QUOTES_INSIDE;
  }
  while (p < eol && !FieldIsDelimiter(*p, delimiter)) {
    if (f.quoted && !FieldIsBlank(*p, delimiter)) f.quotes = GP_QUOTES_INSIDE;
    p++;
  }
  if (!f.quoted) {
    for (f.end = p; f.end > f.begin && FieldIsBlank(f.end[-1], delimiter);) f.end--;
  }
  if (delimiter == '\n' && f.quotes != GP_QUOTES_GOOD) { /* a line that is one field needs no quotes: these are text */
    f.quoted = PETSC_FALSE;
    f.quotes = GP_QUOTES_GOOD;
    f.begin--;
    for (f.end = eol; f.end > f.begin && FieldIsBlank(f.end[-1], delimiter);) f.end--;
  }
  if (delimiter == ' ') {
    while (p < eol && GpAppIsBlank(*p)) p++;
    f.next = p < eol ? p : NULL;
  } else f.next = p < eol ? p + 1 : NULL;
  return f;
}

/* Returns whether the content is one of several words, in any case unless `exact`. */
PetscBool GpAppFieldIsAny(const GpAppField *f, const char *const words[], PetscBool exact)
{
  const size_t n = (size_t)(f->end - f->begin);

  for (; *words; words++)
    if (strlen(*words) == n && !(exact ? memcmp(f->begin, *words, n) : strncasecmp(f->begin, *words, n))) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Reads a decimal number that fills the field, if requested with a decimal comma. */
static PetscBool FieldNumber(const GpAppField *f, PetscBool decimal_comma, double *value)
{
  const size_t n = (size_t)(f->end - f->begin);
  char         copy[NUMBER_MAX];
  const char  *end;

  if (!(GpAppIsDigit(*f->begin) || *f->begin == '-' || *f->begin == '+' || *f->begin == '.' || (decimal_comma && *f->begin == ','))) return PETSC_FALSE;
  if (!decimal_comma || !memchr(f->begin, ',', n)) {
    end = GpAppScanReal(f->begin, value);
    return (PetscBool)(end == f->end);
  }
  if (n >= sizeof(copy) || memchr(f->begin, '.', n)) return PETSC_FALSE;
  memcpy(copy, f->begin, n);
  copy[n]                       = '\n';
  *(char *)memchr(copy, ',', n) = '.'; /* a second comma ends the number early */
  end                           = GpAppScanReal(copy, value);
  return (PetscBool)(end == copy + n);
}

/* Distinguishes numbers, missing values and words. Sets the value of a number, and NaN for all other fields. */
GpAppFieldKind GpAppFieldClassify(const GpAppField *f, PetscBool decimal_comma, double *value)
{
  static const char *const missing[]  = {"NA", "N/A", ".", "?", "null", "NULL", NULL};
  static const char *const nans[]     = {"NaN", "nan", "NAN", "-nan", "-NaN", NULL};
  static const char *const infinite[] = {"inf", "-inf", "+inf", "Inf", "-Inf", "INF", "-INF", "Infinity", "-Infinity", "infinity", "-infinity", NULL};

  *value = NAN;
  if (f->begin >= f->end) return GP_FIELD_MISSING;
  if (FieldNumber(f, decimal_comma, value)) return PetscAbsReal(*value) <= PETSC_MAX_REAL ? GP_FIELD_NUMBER : GP_FIELD_REFUSED;
  if (!decimal_comma && FieldNumber(f, PETSC_TRUE, value)) {
    *value = NAN;
    return GP_FIELD_REFUSED;
  }
  *value = NAN;
  if (GpAppFieldIsAny(f, missing, PETSC_TRUE)) return GP_FIELD_MISSING;
  if (GpAppFieldIsAny(f, nans, PETSC_TRUE)) return GP_FIELD_NAN;
  if (GpAppFieldIsAny(f, infinite, PETSC_TRUE)) return GP_FIELD_REFUSED;
  return GP_FIELD_WORD;
}

/* Copies the content with a final 0. A doubled quote becomes one. Returns the number of bytes written, at most end - begin + 1. */
size_t GpAppFieldCopy(const GpAppField *f, char *to)
{
  char *begin = to;

  for (const char *c = f->begin; c < f->end; c++) {
    *to++ = *c;
    if (f->quoted && *c == '"') c++;
  }
  *to++ = 0;
  return (size_t)(to - begin);
}

PetscBool GpAppFieldIsSame(const GpAppField *a, const GpAppField *b)
{
  return (PetscBool)(a->end - a->begin == b->end - b->begin && !memcmp(a->begin, b->begin, (size_t)(a->end - a->begin)));
}
