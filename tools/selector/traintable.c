/* Reads the table of bench_corpus; columns are identified by their names. */
#include "tools/selector/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 640

typedef struct {
  char sort; /* f feature, b build, t traffic, k warm time, c cold time, m or d cuSPARSE time with float or double values; see TableParseColumnName() for the others */
  int  index;
} Column;

static const char *const Features[GP_FEATURES] = {
#define FEATURE(name, help) #name,
#include "mat/impls/gpucsr/selector/features.def"
#undef FEATURE
};

static int TableFindName(const char names[][48], int n, const char *name)
{
  for (int k = 0; k < n; k++)
    if (!strcmp(names[k], name)) return k;
  return -1;
}

/* whether a name is in a list separated by commas */
static int TableListContains(const char *list, const char *name)
{
  const size_t n = strlen(name);

  for (const char *at = list ? strstr(list, name) : NULL; at; at = strstr(at + 1, name))
    if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n])) return 1;
  return 0;
}

/* Tables recorded until November 2026 call the kernel and the format bsr "block". */
static const char *TableCurrentName(const char *name)
{
  return strcmp(name, "block") ? name : "bsr";
}

static int TableFormatIndex(Table *T, const char *name)
{
  for (int f = 0; f < T->formats; f++)
    if (!strcmp(T->format[f], name)) return f;
  snprintf(T->format[T->formats], sizeof(T->format[0]), "%.31s", name);
  return T->formats++;
}

static Column TableParseColumnName(Table *T, char *name, const char *excluded)
{
  char *colon = strchr(name, ':'), *format;

  if (!colon)
    return (Column){!strcmp(name, "matrix")      ? 'M'
                    : !strcmp(name, "family")    ? 'F'
                    : !strcmp(name, "kind")      ? 'K'
                    : !strcmp(name, "side")      ? 'S'
                    : !strcmp(name, "selection") ? 'C'
                    : !strcmp(name, "transpose") ? 'T'
                    : !strcmp(name, "m")         ? '1'
                    : !strcmp(name, "n")         ? '2'
                    : !strcmp(name, "nnz")       ? '3'
                                                 : ' ',
                    0};
  *colon++ = 0;
  if (!strcmp(name, "f")) {
    for (int f = 0; f < GP_FEATURES; f++) {
      if (strcmp(Features[f], colon)) continue;
      T->has[f] = 1;
      return (Column){'f', f};
    }
    return (Column){' ', 0}; /* a feature of an older version, which no model uses */
  }
  if (!strcmp(name, "b")) return (Column){'b', TableFormatIndex(T, TableCurrentName(colon))};
  if (!strcmp(name, "traffic")) return (Column){'t', TableFormatIndex(T, TableCurrentName(colon))};
  if (!strcmp(name, "r")) return (Column){strstr(colon, ":mixed") ? 'm' : 'd', 0};
  if (strcmp(name, "k") && strcmp(name, "c")) return (Column){' ', 0};
  format = strchr(colon, ':');
  if (!format) return (Column){' ', 0};
  *format++ = 0;
  colon     = (char *)TableCurrentName(colon);
  if (TableListContains(excluded, colon)) return (Column){' ', 0};
  if (TableFindName((const char(*)[48])T->kernel, T->kernels, colon) < 0) {
    snprintf(T->kernel[T->kernels], sizeof(T->kernel[0]), "%.47s", colon);
    T->formatof[T->kernels++] = TableFormatIndex(T, TableCurrentName(format));
  }
  return (Column){name[0], TableFindName((const char(*)[48])T->kernel, T->kernels, colon)};
}

static Case *TableAppendCase(Table *T)
{
  Case *c;

  if (T->cases == T->capacity) {
    T->capacity = T->capacity ? 2 * T->capacity : 1024;
    T->c        = (Case *)realloc(T->c, (size_t)T->capacity * sizeof(Case));
    if (!T->c) abort();
  }
  c = &T->c[T->cases++];
  memset(c, 0, sizeof(*c));
  c->warm = (double *)calloc(5 * TRAIN_NAMES, sizeof(double));
  if (!c->warm) abort();
  c->cold    = c->warm + TRAIN_NAMES;
  c->build   = c->cold + TRAIN_NAMES;
  c->traffic = c->build + TRAIN_NAMES;
  c->time    = c->traffic + TRAIN_NAMES;
  return c;
}

static void TableKeepSmallest(double *best, double value)
{
  if (value > 0 && (*best == 0 || value < *best)) *best = value;
}

static void TableReadCell(Case *c, Column column, const char *text)
{
  const double value = atof(text);
  char        *big;

  switch (column.sort) {
  case 'M':
    snprintf(c->name, sizeof(c->name), "%.63s", text);
    break;
  case 'F':
    snprintf(c->family, sizeof(c->family), "%.47s", text);
    big = strstr(c->family, "-big"); /* larger members from the same generator belong to the same family, so that cross-validation leaves them out together */
    if (big) *big = 0;
    break;
  case 'K':
    snprintf(c->kind, sizeof(c->kind), "%.47s", text);
    break;
  case 'S':
    snprintf(c->side, sizeof(c->side), "%.3s", text);
    break;
  case '1':
    c->m = value;
    break;
  case '2':
    c->n = value;
    break;
  case '3':
    c->nnz = value;
    break;
  case 'C':
    c->selection = value;
    break;
  case 'T':
    c->transpose = value;
    break;
  case 'f':
    c->input[column.index] = value;
    break;
  case 'b':
    c->build[column.index] = value;
    break;
  case 't':
    c->traffic[column.index] = value;
    break;
  case 'k':
    c->warm[column.index] = value;
    break;
  case 'c':
    c->cold[column.index] = value;
    break;
  case 'm':
    TableKeepSmallest(&c->mixed, value);
    break;
  case 'd':
    TableKeepSmallest(&c->dbl, value);
    break;
  }
}

/* opens a plain table, or one compressed by xz */
static FILE *TableOpen(const char *file, int *packed)
{
  const size_t n = strlen(file);
  char         command[1024];

  *packed = n > 3 && !strcmp(file + n - 3, ".xz");
  if (!*packed) return fopen(file, "r");
  snprintf(command, sizeof(command), "xzcat '%.1000s'", file);
  return popen(command, "r");
}

int TableRead(Table *T, const char *file, const char *excluded)
{
  const size_t length = (size_t)1 << 17;
  char        *line   = (char *)malloc(length);
  Column       column[COLUMNS];
  int          columns = 0;
  int          packed;
  FILE        *in = TableOpen(file, &packed);

  if (!in || !line) {
    free(line);
    return 0;
  }
  while (fgets(line, (int)length, in)) {
    char *next = line;
    int   head;

    line[strcspn(line, "\r\n")] = 0;
    if (line[0] == '#') { /* # GPU, n multiprocessors, cache b bytes, copy rate r bytes/s, ... */
      char   gpu[128];
      int    units;
      double cache, copyrate;

      if (sscanf(line, "# %127[^,], %d multiprocessors, cache %lf bytes, copy rate %lf", gpu, &units, &cache, &copyrate) == 4) {
        snprintf(T->gpu, sizeof(T->gpu), "%s", gpu);
        T->units    = units;
        T->cache    = cache;
        T->copyrate = copyrate;
      }
      continue;
    }
    head = !strncmp(line, "matrix,", 7);
    if (head) columns = 0;
    else if (!columns || !strchr(line, ',')) continue;
    Case *c = head ? NULL : TableAppendCase(T);

    for (int k = 0; next && k < COLUMNS; k++) {
      char *cell  = next;
      char *comma = strchr(cell, ',');

      if (comma) *comma = 0;
      next = comma ? comma + 1 : NULL;
      if (head) column[columns++] = TableParseColumnName(T, cell, excluded);
      else if (k < columns) TableReadCell(c, column[k], cell);
    }
  }
  free(line);
  return (packed ? pclose(in) : fclose(in)) == 0;
}

static int TableCompareCases(const void *a, const void *b)
{
  const Case *x = (const Case *)a, *y = (const Case *)b;
  const int   d = strcmp(x->family, y->family), e = d ? d : strcmp(x->name, y->name);

  return e ? e : strcmp(x->side, y->side);
}

const char *TablePrepare(Table *T, double mix, const char *candidates)
{
  static char wrong[96];
  int         keep = 0;

  for (int f = 0; f < GP_FEATURES; f++)
    if (!T->has[f]) {
      snprintf(wrong, sizeof(wrong), "because the table has no column of the feature %s; run bench_corpus again", Features[f]);
      return wrong;
    }
  for (int k = 0; k < T->kernels; k++) T->barred[k] = candidates && !TableListContains(candidates, T->kernel[k]);
  qsort(T->c, (size_t)T->cases, sizeof(Case), TableCompareCases);
  for (int i = 0; i < T->cases; i++) {
    Case *c = &T->c[i];

    for (int k = 0; k < T->kernels; k++) {
      c->time[k] = c->warm[k] > 0 && c->cold[k] > 0 ? pow(c->warm[k], 1 - mix) * pow(c->cold[k], mix) : c->warm[k];
      if (c->time[k] > 0 && c->cold[k] > 0 && (c->best == 0 || c->time[k] < c->best)) c->best = c->time[k];
    }
    for (int k = 0; k < T->kernels; k++)
      if (c->time[k] == 0 && c->build[T->formatof[k]] > 0) c->time[k] = TRAIN_WORST * c->best;
    if (c->best > 0) T->c[keep++] = *c;
    else free(c->warm);
  }
  T->cases = keep;
  for (int i = 0; i < keep; i++) {
    Case *c = &T->c[i];

    GpSelComputeTerms(c->n, c->nnz, c->input);
    for (c->familyof = 0; c->familyof < T->families && strcmp(T->familyname[c->familyof], c->family); c->familyof++) {}
    if (c->familyof == TRAIN_NAMES) return "because there are too many families; increase TRAIN_NAMES in train.h";
    if (c->familyof == T->families) snprintf(T->familyname[T->families++], sizeof(T->familyname[0]), "%s", c->family);
  }
  return NULL;
}

void TableFree(Table *T)
{
  for (int i = 0; i < T->cases; i++) free(T->c[i].warm);
  free(T->c);
}

static int TrainCompareDoubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

void TrainSort(double value[], int n)
{
  qsort(value, (size_t)n, sizeof(double), TrainCompareDoubles);
}
