/* The tables of options: names and values. */
#include "app/program/appcommand.h"
#include "sys/gpucsrbytes.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
  OPTION_NAME_MAX = 64
};

/* The row of a name in a table, or NULL. PETSc ignores the case of options. */
const GpAppOption *GpAppOptionFind(const GpAppOption options[], const char name[])
{
  for (const GpAppOption *o = options; o->name; o++) {
    if (o->name[0] == '-' && !strcasecmp(o->name, name)) return o;
  }
  return NULL;
}

/* The text of an option, for PETSc's -help. */
const char *GpAppOptionGetText(const GpAppOption options[], const char name[])
{
  const GpAppOption *o = GpAppOptionFind(options, name);

  return o ? o->text : "";
}

/* A letter of an option's name as names are compared: case does not count, and a hyphen is as good as an underscore. */
static int OptionFold(char c)
{
  return c == '-' ? '_' : tolower((unsigned char)c);
}

/* The number of letters to insert, delete, replace or exchange with their neighbour to make one name the other. */
static int OptionDistance(const char a[], const char b[])
{
  int row[3][OPTION_NAME_MAX + 1];
  int n = (int)strlen(a), m = (int)strlen(b);

  if (n > OPTION_NAME_MAX || m > OPTION_NAME_MAX) return OPTION_NAME_MAX;
  for (int j = 0; j <= m; j++) row[0][j] = j;
  for (int i = 1; i <= n; i++) {
    int *above2 = row[(i + 1) % 3], *above = row[(i + 2) % 3], *here = row[i % 3];

    here[0] = i;
    for (int j = 1; j <= m; j++) {
      const int same = OptionFold(a[i - 1]) == OptionFold(b[j - 1]);

      here[j] = PetscMin(PetscMin(above[j], here[j - 1]) + 1, above[j - 1] + !same);
      if (i > 1 && j > 1 && OptionFold(a[i - 1]) == OptionFold(b[j - 2]) && OptionFold(a[i - 2]) == OptionFold(b[j - 1])) here[j] = PetscMin(here[j], above2[j - 2] + 1);
    }
  }
  return row[n % 3][m];
}

/* The option of the program or of the library whose name is nearest to a mistyped one, or NULL if none is near. A name that lacks the program's prefix counts as near. */
const GpAppOption *GpAppOptionFindNearest(const GpAppManual *manual, const char name[])
{
  const GpAppOption *const tables[] = {manual->options, GpAppLibraryOptions};
  const GpAppOption       *nearest  = NULL;
  const size_t             prefix   = strlen(manual->prefix);
  int                      least, distance;

  while (*name == '-') name++;
  least = 2 + (int)strlen(name) / 5; /* the first distance that is too far */
  if (strlen(name) < 3) least = (int)strlen(name);
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(tables); t++) {
    for (const GpAppOption *o = tables[t]; o->name; o++) {
      if (o->name[0] != '-') continue;
      distance = OptionDistance(name, o->name + 1);
      if (prefix && !strncmp(o->name + 1, manual->prefix, prefix)) distance = PetscMin(distance, OptionDistance(name, o->name + 1 + prefix));
      if (distance < least) {
        least   = distance;
        nearest = o;
      }
    }
  }
  return nearest;
}

/* Whether a number lies in an interval such as "[0,1)". */
static PetscBool OptionInRange(const char range[], double value)
{
  char  *end;
  double least, most;

  if (!range) return PETSC_TRUE;
  least = strtod(range + 1, &end);
  most  = strtod(end + 1, &end);
  if (range[0] == '[' ? value < least : value <= least) return PETSC_FALSE;
  return (PetscBool)(*end == ']' ? value <= most : value < most);
}

/* Puts an interval in words. */
static void OptionDescribeRange(const char what[], const char range[], size_t size, char text[])
{
  char       *end;
  double      least, most;
  const char *open;

  if (!range) {
    (void)snprintf(text, size, "%s", what);
    return;
  }
  least = strtod(range + 1, &end);
  most  = strtod(end + 1, &end);
  open  = range[0] == '(' ? "greater than" : "of at least";
  if (isinf(most)) (void)snprintf(text, size, "%s %s %.15g", what, open, least);
  else if (range[0] == '[' && *end == ']') (void)snprintf(text, size, "%s from %.15g to %.15g", what, least, most);
  else (void)snprintf(text, size, "%s %s %.15g and %s %.15g", what, open, least, *end == ']' ? "at most" : "less than", most);
}

/* Whether a text is a list of numbers in the option's range, separated by commas; of one number unless the option takes several. */
static PetscBool OptionIsNumbers(const GpAppOption *o, const char value[])
{
  const PetscBool integer = (PetscBool)(o->kind == GP_APP_INT || o->kind == GP_APP_INTS);
  const PetscBool several = (PetscBool)(o->kind == GP_APP_INTS || o->kind == GP_APP_REALS);
  const char     *p       = value;

  while (1) {
    char  *end;
    double number;

    if (isspace((unsigned char)*p)) return PETSC_FALSE;
    errno = 0;
    if (integer) {
      const long long n = strtoll(p, &end, 10);

      if (errno || n > PETSC_MAX_INT || n < PETSC_MIN_INT) return PETSC_FALSE;
      number = (double)n;
    } else number = strtod(p, &end);
    if (end == p || !isfinite(number) || !OptionInRange(o->range, number)) return PETSC_FALSE;
    if (!*end) return PETSC_TRUE;
    if (!several || *end != ',') return PETSC_FALSE;
    p = end + 1;
  }
}

/* Whether a number of a list, separated by commas, is too large for PetscInt. */
static PetscBool OptionExceedsInt(const char value[])
{
  for (const char *p = value; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
    if (strtod(p, NULL) > PETSC_MAX_INT) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Whether a text is one of the words of a choice. */
static PetscBool OptionIsWord(const char words[], const char value[])
{
  const size_t length = strlen(value);

  for (const char *w = words; w; w = strchr(w, '|') ? strchr(w, '|') + 1 : NULL) {
    if (!strncasecmp(w, value, length) && (w[length] == '|' || !w[length])) return (PetscBool)(length > 0);
  }
  return PETSC_FALSE;
}

/* Whether PETSc takes a text for true or false. */
PetscBool GpAppOptionIsBool(const char value[])
{
  return OptionIsWord("true|yes|1|on|false|no|0|off", value);
}

/* Whether an option takes a value, which is NULL for none; otherwise says which values it takes. */
PetscBool GpAppOptionCheck(const GpAppOption *o, const char value[], size_t size, char expected[])
{
  const PetscBool given = (PetscBool)(value && value[0]);
  PetscReal       bytes = 0;

  switch (o->kind) {
  case GP_APP_BOOL:
    (void)snprintf(expected, size, "true or false");
    return (PetscBool)(!given || GpAppOptionIsBool(value));
  case GP_APP_INT:
  case GP_APP_INTS:
    OptionDescribeRange(o->kind == GP_APP_INT ? "an integer" : "integers, separated by commas, each", o->range, size, expected);
    if (given && OptionExceedsInt(value)) (void)snprintf(expected + strlen(expected), size - strlen(expected), ", at most %" PetscInt_FMT, PETSC_MAX_INT);
    return (PetscBool)(given && OptionIsNumbers(o, value));
  case GP_APP_REAL:
  case GP_APP_REALS:
    OptionDescribeRange(o->kind == GP_APP_REAL ? "a number" : "numbers, separated by commas, each", o->range, size, expected);
    return (PetscBool)(given && OptionIsNumbers(o, value));
  case GP_APP_BYTES:
    OptionDescribeRange(o->range ? GPUCSR_BYTES_FORM "," : GPUCSR_BYTES_FORM, o->range, size, expected);
    return (PetscBool)(given && PetscGPUCSRParseBytes_Private(value, &bytes) && OptionInRange(o->range, (double)bytes));
  case GP_APP_CHOICE:
    (void)snprintf(expected, size, "one of %s", o->argument);
    return (PetscBool)(given && OptionIsWord(o->argument, value));
  case GP_APP_VIEWER:
    return PETSC_TRUE;
  default:
    (void)snprintf(expected, size, "%s", o->kind == GP_APP_TEXT ? "a value" : "the name of a file");
    return given;
  }
}
