/* Stand-ins: matrices with the sizes and the distributions of row and column lengths that are published of matrices of the
   SuiteSparse collection, and a structure by their kind.  They are not those matrices. */
#include "bench/corpus.h"

#include <stdio.h>

#define FITTED 140 /* members from the published table, in addition to the named ones */

typedef struct {
  char   kind[64];
  double rows, cols, nnz;
  double row[6], col[6]; /* smallest, quartiles, largest, mean */
} Published;

static const struct {
  const char *name;
  Published   p;
} Named[] = {
#define STANDIN(name, kind, rows, cols, nnz, r0, r1, r2, r3, r4, rm, c0, c1, c2, c3, c4, cm) {name, {kind, rows, cols, nnz, {r0, r1, r2, r3, r4, rm}, {c0, c1, c2, c3, c4, cm}}},
#include "bench/standins.def"
#undef STANDIN
};

/* Returns the length at the quantile u: linear between quartiles; in the last quarter a power law up to the largest length that gives the mean. */
static double Quantile(const double q[6], double power, double u)
{
  const int    k = u < 0.75 ? (int)(4 * u) : 3;
  const double t = 4 * u - k;

  return q[k] + (q[k + 1] - q[k]) * (k == 3 ? pow(t, power) : t);
}

static double Power(const double q[6])
{
  const double first = (q[0] + 2 * q[1] + 2 * q[2] + q[3]) / 8, rest = 4 * (q[5] - first) - q[3]; /* mean of the last quarter beyond q[3] */

  return q[4] > q[3] && rest > 0 ? fmin(fmax((q[4] - q[3]) / rest - 1, 0.2), 1e6) : 1;
}

/* Draws the lengths of n rows in random order.  One of them is the largest length. */
static int32_t *Lengths(const double q[6], int64_t n, int64_t most, uint64_t *seed)
{
  const double power  = Power(q);
  int32_t     *length = (int32_t *)malloc(((size_t)n + 1) * sizeof(int32_t));

  if (!length) abort();
  for (int64_t i = 0; i < n; i++) length[i] = (int32_t)fmin(Quantile(q, power, BenchUniform(seed)) + BenchUniform(seed), (double)most);
  length[CorpusDraw(seed, n)] = (int32_t)fmin(q[4], (double)most);
  return length;
}

/* Returns where the nonzeros of a kind of matrix are: 1 near the diagonal and in runs, 2 mostly near it, 0 anywhere, by the lengths of the columns. */
static int Structure(const char *kind)
{
  static const char *const anywhere[] = {"graph", "linear programming", "combinatorial", "least squares", "bipartite", "statistical", "economic", "dense"};

  if (strstr(kind, "circuit") || strstr(kind, "optim") || strstr(kind, "power network") || strstr(kind, "chemical")) return 2;
  for (size_t k = 0; k < sizeof(anywhere) / sizeof(anywhere[0]); k++)
    if (strstr(kind, anywhere[k])) return 0;
  return 1;
}

static int Make(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  const Published *p    = (const Published *)job->source;
  uint64_t         seed = job->seed;
  const int64_t    m = (int64_t)p->rows, n = (int64_t)p->cols;
  const int        structure = Structure(p->kind);
  const int        run       = structure == 1 ? (fmod(p->row[2], 3) == 0 ? 3 : fmod(p->row[2], 2) == 0 ? 2 : 1) : 1;
  int32_t         *rows = Lengths(p->row, m, n, &seed), *cols = Lengths(p->col, n, m, &seed), *stub;
  int64_t          stubs = 0;

  for (int64_t j = 0; j < n; j++) stubs += cols[j];
  stub = (int32_t *)malloc(((size_t)stubs + 1) * sizeof(int32_t)); /* each column as often as it has entries */
  if (!stub) abort();
  for (int64_t j = 0, k = 0; j < n; j++)
    for (int32_t l = 0; l < cols[j]; l++) stub[k++] = (int32_t)j;
  CorpusBegin(A, m, n, p->nnz);
  for (int64_t i = 0; i < m; i++) {
    const int64_t length = rows[i], node = i / run * run;
    const double  centre = (double)i / (double)m * (double)n, reach = 3.0 * (double)length + 2 * sqrt((double)n);

    if (length > 0.3 * (double)n) { /* rows that are nearly full are not drawn at random, because most draws would repeat columns */
      for (int64_t j = 0; j < n; j++)
        if (BenchUniform(&seed) * (double)n < (double)length) CorpusPush(A, j, 0);
    } else if (run > 1 && i > node && A->nnz > A->rowptr[node]) { /* all unknowns of a node have the same columns */
      const int32_t first = A->rowptr[node], last = A->rowptr[node + 1];

      for (int32_t k = first; k < last; k++) CorpusPush(A, A->col[k], 0);
    } else {
      for (int64_t k = 0; k < length; k += run) {
        const double u = BenchUniform(&seed);
        int64_t      j;

        if (structure == 1 || (structure == 2 && u < 0.8)) j = (int64_t)(centre + reach * (BenchUniform(&seed) - 0.5) * BenchUniform(&seed));
        else j = stubs ? stub[CorpusDraw(&seed, stubs)] : CorpusDraw(&seed, n);
        j = j / run * run;
        for (int r = 0; r < run; r++)
          if (j + r >= 0 && j + r < n) CorpusPush(A, j + r, 0);
      }
    }
    CorpusSortRow(A, i);
  }
  CorpusEnd(A);
  free(stub);
  free(rows);
  free(cols);
  CorpusValues(A, strstr(p->kind, "unweighted") || strstr(p->kind, "combinatorial") ? CORPUS_ONES : CORPUS_FLOATS, seed);
  return 1;
}

static void Append(CorpusJob **jobs, int *n, int *capacity, const char *family, const char *name, const Published *p)
{
  CorpusJob *job = CorpusAppend(jobs, n, capacity);

  snprintf(job->name, sizeof(job->name), "like-%s", name);
  job->family = family;
  job->kind   = "stand-ins";
  job->nnz    = p->nnz;
  job->source = p;
  job->make   = Make;
}

/* Reads a line of the published table.  Returns 1 if it is complete and the size is in the range of the thesis. */
static int Parse(char *line, char name[64], Published *p)
{
  char *field[29] = {line}, *slash;
  int   n         = 1;

  for (char *c = line; *c && n < 29; c++) {
    if (*c != '\t') continue;
    *c         = 0;
    field[n++] = c + 1;
  }
  if (n < 26 || !*field[11] || !*field[20]) return 0;
  slash = strrchr(field[0], '/');
  snprintf(name, 64, "%.50s", slash ? slash + 1 : field[0]);
  snprintf(p->kind, sizeof(p->kind), "%.60s", field[10]);
  p->rows = atof(field[2]);
  p->cols = atof(field[3]);
  p->nnz  = atof(field[4]);
  for (int k = 0; k < 6; k++) {
    p->row[k] = atof(field[11 + k]);
    p->col[k] = atof(field[20 + k]);
  }
  return p->nnz >= 1e5 && p->nnz <= 1e7 && p->rows < 1e8 && p->cols < 1e8;
}

void CorpusListFitted(const char *data, double scale, CorpusJob **jobs, int *n, int *capacity)
{
  static Published kept[4096];
  static char      names[4096][64];
  char             command[512], line[4096];
  FILE            *file;
  int              many = 0;

  for (size_t k = 0; k < sizeof(Named) / sizeof(Named[0]); k++)
    if (Named[k].p.nnz * scale >= 100 && scale >= 0.1) Append(jobs, n, capacity, "named-standins", Named[k].name, &Named[k].p);
  if (scale < 0.1) return; /* the sizes of stand-ins cannot be scaled */
  snprintf(command, sizeof(command), "xzcat '%s/reference/suitesparse_stats.tsv.xz' 2>/dev/null", data);
  file = popen(command, "r");
  while (file && fgets(line, sizeof(line), file) && many < 4096)
    if (line[0] != '#' && Parse(line, names[many], &kept[many])) many++;
  if (file) pclose(file);
  for (int k = 0; k < FITTED && many >= FITTED; k++) {
    const int pick = (int)((int64_t)k * many / FITTED);

    Append(jobs, n, capacity, "standins", names[pick], &kept[pick]);
  }
}
