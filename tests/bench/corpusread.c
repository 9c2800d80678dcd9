/* The real matrices of the corpus: Matrix Market, LIBSVM, edge lists and METIS graphs, unpacked by the system's tools. */
#include "bench/corpus.h"

#include <ctype.h>
#include <stdio.h>

#define LEAST 5000 /* nonzeros; products of smaller matrices do not fill a GPU */

typedef struct {
  int32_t i, j;
  double  v;
} Entry;

typedef struct {
  Entry  *entry;
  int64_t n, capacity;
  int64_t rows, cols;
} Entries;

static void Add(Entries *E, int64_t i, int64_t j, double v)
{
  if (E->n == E->capacity) {
    E->capacity = E->capacity ? 2 * E->capacity : 65536;
    E->entry    = (Entry *)realloc(E->entry, (size_t)E->capacity * sizeof(Entry));
    if (!E->entry) abort();
  }
  E->entry[E->n++] = (Entry){(int32_t)i, (int32_t)j, (double)(float)v};
  if (i >= E->rows) E->rows = i + 1;
  if (j >= E->cols) E->cols = j + 1;
}

static int EndsWith(const char *name, const char *end)
{
  const size_t n = strlen(name), k = strlen(end);

  return n >= k && !strcmp(name + n - k, end);
}

/* Reads a coordinate file.  A symmetric one holds the lower triangle. */
static int ReadMarket(FILE *file, char *line, size_t length, Entries *E)
{
  int    pattern, mirror = 1;
  long   rows, cols;
  double sign;

  if (!fgets(line, (int)length, file) || strncmp(line, "%%MatrixMarket matrix coordinate", 32)) return 0;
  pattern = !!strstr(line, "pattern");
  sign    = strstr(line, "skew") ? -1 : 1;
  mirror  = !strstr(line, "general");
  do {
    if (!fgets(line, (int)length, file)) return 0;
  } while (line[0] == '%' || isspace((unsigned char)line[0]));
  if (sscanf(line, "%ld %ld", &rows, &cols) != 2) return 0;
  while (fgets(line, (int)length, file)) {
    char      *c;
    const long i = strtol(line, &c, 10), j = strtol(c, &c, 10);

    if (i < 1 || j < 1 || i > rows || j > cols) continue;
    const double v = pattern ? 1 : strtod(c, NULL); /* the real part of a complex number */

    Add(E, i - 1, j - 1, v);
    if (mirror && i != j) Add(E, j - 1, i - 1, sign * v);
  }
  E->rows = rows;
  E->cols = cols;
  return 1;
}

/* Reads LIBSVM text: a label, then index:value pairs. */
static int ReadLibsvm(FILE *file, char *line, size_t length, Entries *E)
{
  int64_t i = 0;

  for (; fgets(line, (int)length, file); i++) {
    for (char *c = strchr(line, ':'); c; c = strchr(c + 1, ':')) {
      char *digit = c;

      while (digit > line && isdigit((unsigned char)digit[-1])) digit--;
      if (digit < c) Add(E, i, atol(digit), atof(c + 1));
    }
  }
  return i > 0;
}

/* Reads an edge list: two numbers per line, with any separator; the rest of a line is ignored.  header: the first line has sizes.  A first line that ends
   with the number of edges is such a line too. */
static int ReadEdges(FILE *file, char *line, size_t length, int header, double edges, Entries *E)
{
  while (fgets(line, (int)length, file)) {
    char *c = line;
    long  i, j;

    if (!isdigit((unsigned char)*c)) continue;
    i = strtol(c, &c, 10);
    while (*c && !isdigit((unsigned char)*c)) c++;
    if (!*c) continue;
    j = strtol(c, &c, 10);
    if (header || (!E->n && (double)j == edges)) header = 0;
    else if (i < (1 << 26) && j < (1 << 26)) Add(E, i, j, 1);
  }
  return E->n > 0;
}

/* Reads METIS: number of nodes, of edges, a format (tens: weights of nodes, ones: weights of edges), weights per node; then for each node a line of
   weights and neighbours. */
static int ReadMetis(FILE *file, char *line, size_t length, Entries *E)
{
  int64_t i      = 0;
  int     format = 0, weights = 1;

  if (!fgets(line, (int)length, file) || sscanf(line, "%*d %*d %d %d", &format, &weights) == 0) return 0;
  for (; fgets(line, (int)length, file); i++) {
    char *c = line, *next;
    int   k = format / 10 % 10 ? -weights : 0;

    for (long j = strtol(c, &next, 10); next != c; j = strtol(c, &next, 10), k++) {
      if (j > 0 && k >= 0 && !(format % 10 && k % 2)) Add(E, i, j - 1, 1);
      c = next;
    }
  }
  return E->n > 0;
}

static int CompareEntries(const void *a, const void *b)
{
  const Entry *x = (const Entry *)a, *y = (const Entry *)b;

  return x->i != y->i ? (x->i > y->i) - (x->i < y->i) : (x->j > y->j) - (x->j < y->j);
}

static int Read(const void *context, BenchMatrix *A)
{
  const CorpusJob *job    = (const CorpusJob *)context;
  const char      *path   = (const char *)job->source;
  const size_t     length = (size_t)1 << 22;
  char            *line   = (char *)malloc(length), command[768];
  Entries          E      = {0};
  int              ok     = 0;
  FILE            *file;

  snprintf(command, sizeof(command), "%s '%s' 2>/dev/null", EndsWith(path, ".xz") ? "xzcat" : EndsWith(path, ".gz") ? "zcat" : EndsWith(path, ".bz2") ? "bzcat" : "cat", path);
  file = popen(command, "r");
  if (file && line) {
    if (strstr(path, ".mtx") || strstr(path, ".mm")) ok = ReadMarket(file, line, length, &E);
    else if (strstr(path, "/svm/")) ok = ReadLibsvm(file, line, length, &E);
    else if (strstr(path, ".graph")) ok = ReadMetis(file, line, length, &E);
    else ok = ReadEdges(file, line, length, !!strstr(path, ".smat"), job->nnz, &E);
  }
  if (file) pclose(file);
  free(line);
  if (ok && E.n) {
    if (strstr(path, "/graph/")) E.rows = E.cols = E.rows > E.cols ? E.rows : E.cols;
    qsort(E.entry, (size_t)E.n, sizeof(Entry), CompareEntries);
    CorpusBegin(A, E.rows, E.cols, (double)E.n);
    for (int64_t i = 0, k = 0; i < E.rows; i++) {
      for (; k < E.n && E.entry[k].i == i; k++)
        if (A->nnz == A->rowptr[i] || A->col[A->nnz - 1] != E.entry[k].j) CorpusPush(A, E.entry[k].j, E.entry[k].v);
      CorpusEndRow(A, i);
    }
    CorpusEnd(A);
  }
  free(E.entry);
  return ok && E.n;
}

void CorpusListReal(const char *data, CorpusJob **jobs, int *n, int *capacity)
{
  static char paths[512][512];
  static char line[4096];
  char        index[512];
  int         many = 0;
  FILE       *file;

  snprintf(index, sizeof(index), "%s/INDEX.tsv", data);
  file = fopen(index, "r");
  while (file && many < 512 && fgets(line, sizeof(line), file)) {
    char   name[256], category[64], what[256];
    double rows, cols, nnz;
    FILE  *there;

    if (sscanf(line, "%255[^\t]\t%63[^\t]\t%255[^\t]\t%lf\t%lf\t%lf", name, category, what, &rows, &cols, &nnz) != 6 || nnz < LEAST) continue;
    if (strcmp(category, "graph") && strcmp(category, "hypergraph") && strcmp(category, "lp") && strcmp(category, "matrix") && strcmp(category, "matrix-data") && strcmp(category, "svm")) continue;
    if (strstr(name, ".jlg") || strstr(name, ".tar") || strstr(name, ".hb") || strstr(name, ".rua") || strstr(name, ".rsa") || strstr(name, ".cua") || strstr(name, ".rb")) continue;
    snprintf(paths[many], sizeof(paths[many]), "%.200s/%.250s", data, name);
    there = fopen(paths[many], "r");
    if (!there) continue;
    fclose(there);
    CorpusJob *job = CorpusAppend(jobs, n, capacity);

    snprintf(job->name, sizeof(job->name), "%.50s", strchr(name, '/') ? strchr(name, '/') + 1 : name);
    for (char *c = job->name; *c; c++)
      if (*c == ',') *c = '_';
    job->family = "real";
    job->kind   = "real";
    job->nnz    = nnz;
    job->source = paths[many++];
    job->make   = Read;
  }
  if (file) fclose(file);
}
