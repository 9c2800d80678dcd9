/* The list of the members of the corpus, and functions with which its generators build matrices. */
#include "bench/corpus.h"

#include <stdio.h>

typedef struct {
  const char *name, *kind, *help;
  CorpusMake  make;
  int         a, b, count;
  double      lo, hi;
} Family;

static const Family Families[] = {
#define FAMILY(name, kind, generator, a, b, count, lo, hi, help) {name, kind, help, generator, a, b, count, lo, hi},
#include "bench/corpus.def"
#undef FAMILY
};
#define FAMILIES ((int)(sizeof(Families) / sizeof(Families[0])))

static uint64_t Seed(const char *text, uint64_t number)
{
  uint64_t state = 1469598103934665603ULL + number * 0x9e3779b97f4a7c15ULL; /* FNV-1a, then mixed */

  while (*text) state = (state ^ (uint64_t)(unsigned char)*text++) * 1099511628211ULL;
  for (int k = 0; k < 4; k++) BenchRandom(&state);
  return state | 1;
}

CorpusJob *CorpusAppend(CorpusJob **jobs, int *n, int *capacity)
{
  if (*n == *capacity) {
    *capacity = *capacity ? 2 * *capacity : 1024;
    *jobs     = (CorpusJob *)realloc(*jobs, (size_t)*capacity * sizeof(CorpusJob));
    if (!*jobs) abort();
  }
  memset(&(*jobs)[*n], 0, sizeof(CorpusJob));
  return &(*jobs)[(*n)++];
}

static int CompareSeeds(const void *a, const void *b)
{
  const uint64_t x = ((const CorpusJob *)a)->seed, y = ((const CorpusJob *)b)->seed;

  return (x > y) - (x < y);
}

const char *CorpusHelp(int family, const char **name)
{
  if (family >= FAMILIES) return NULL;
  *name = Families[family].name;
  return Families[family].help;
}

CorpusJob *CorpusList(const char *data, double scale, int *n)
{
  CorpusJob *jobs     = NULL;
  int        capacity = 0;

  *n = 0;
  for (int f = 0; f < FAMILIES; f++) {
    const Family *F = &Families[f];

    for (int k = 0; k < F->count; k++) {
      CorpusJob *job = CorpusAppend(&jobs, n, &capacity);

      snprintf(job->name, sizeof(job->name), "%s-%02d", F->name, k);
      job->family = F->name;
      job->kind   = F->kind;
      job->a      = F->a;
      job->b      = F->b;
      job->seed   = Seed(job->name, 0);
      job->nnz    = scale * pow(10.0, F->lo + (F->hi - F->lo) * (F->count > 1 ? (double)k / (F->count - 1) : 1.0));
      job->make   = F->make;
    }
  }
  CorpusListFitted(data, scale, &jobs, n, &capacity);
  CorpusListReal(data, &jobs, n, &capacity);
  for (int k = 0; k < *n; k++)
    if (!jobs[k].seed) jobs[k].seed = Seed(jobs[k].name, 1);
  qsort(jobs, (size_t)*n, sizeof(CorpusJob), CompareSeeds);
  return jobs;
}

/* --- Growing compressed rows: m+1 row pointers are allocated at the start, and the memory for entries doubles when it is full.  Meanwhile A->nnz counts the
   entries, and A->rowptr[m] holds their allocated number --- */
void CorpusBegin(BenchMatrix *A, int64_t m, int64_t n, double nnz)
{
  m = m < 1 ? 1 : m;
  n = n < 1 ? 1 : n;
  BenchMatrixCreate(A, (int32_t)m, (int32_t)n, (int64_t)(1.1 * nnz) + 64);
  A->rowptr[A->m] = (int32_t)(1.1 * nnz) + 64;
  A->nnz          = 0;
}

void CorpusPush(BenchMatrix *A, int64_t col, double val)
{
  if (A->nnz == A->rowptr[A->m]) {
    const int64_t capacity = A->nnz < (int32_t)1 << 30 ? 2 * (int64_t)A->nnz : INT32_MAX - 1;

    A->col = (int32_t *)realloc(A->col, ((size_t)capacity + 1) * sizeof(int32_t));
    A->val = (double *)realloc(A->val, ((size_t)capacity + 1) * sizeof(double));
    if (!A->col || !A->val || A->nnz == capacity) abort();
    A->rowptr[A->m] = (int32_t)capacity;
  }
  A->col[A->nnz]   = (int32_t)col;
  A->val[A->nnz++] = val;
}

void CorpusEndRow(BenchMatrix *A, int64_t i)
{
  if (i + 1 < A->m) A->rowptr[i + 1] = A->nnz;
}

void CorpusEnd(BenchMatrix *A)
{
  A->rowptr[A->m] = A->nnz;
}

/* Quicksort; short parts are sorted by insertion. */
void CorpusSort(int32_t *first, int64_t n)
{
  while (n > 24) {
    const int32_t a = first[0], b = first[n / 2], c = first[n - 1], pivot = a < b ? (b < c ? b : (a < c ? c : a)) : (a < c ? a : (b < c ? c : b));
    int64_t       i = 0, j = n - 1;

    for (;; i++, j--) {
      while (first[i] < pivot) i++;
      while (first[j] > pivot) j--;
      if (i >= j) break;
      const int32_t t = first[i];

      first[i] = first[j];
      first[j] = t;
    }
    if (j + 1 < n - j - 1) { /* recursion for the smaller part, the loop for the other */
      CorpusSort(first, j + 1);
      first += j + 1;
      n -= j + 1;
    } else {
      CorpusSort(first + j + 1, n - j - 1);
      n = j + 1;
    }
  }
  for (int64_t i = 1; i < n; i++) {
    const int32_t t = first[i];
    int64_t       j = i;

    for (; j > 0 && first[j - 1] > t; j--) first[j] = first[j - 1];
    first[j] = t;
  }
}

void CorpusSortRow(BenchMatrix *A, int64_t i)
{
  const int32_t start = A->rowptr[i];
  int32_t       keep  = start;

  CorpusSort(A->col + start, A->nnz - start);
  for (int32_t k = start; k < A->nnz; k++)
    if (k == start || A->col[k] != A->col[k - 1]) A->col[keep++] = A->col[k];
  A->nnz = keep;
  CorpusEndRow(A, i);
}

void CorpusTurn(BenchMatrix *A)
{
  BenchMatrix At;

  BenchMatrixCreate(&At, A->n, A->m, A->nnz);
  for (int32_t k = 0; k < A->nnz; k++) At.rowptr[A->col[k] + 1]++;
  for (int32_t j = 0; j < A->n; j++) At.rowptr[j + 1] += At.rowptr[j];
  for (int32_t i = 0; i < A->m; i++) {
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      const int32_t to = At.rowptr[A->col[k]]++;

      At.col[to] = i;
      At.val[to] = A->val[k];
    }
  }
  memmove(At.rowptr + 1, At.rowptr, (size_t)At.m * sizeof(int32_t));
  At.rowptr[0] = 0;
  BenchMatrixDestroy(A);
  *A = At;
}

static int32_t *Shuffled(int32_t n, uint64_t seed)
{
  int32_t *p = (int32_t *)malloc(((size_t)n + 1) * sizeof(int32_t));

  if (!p) abort();
  for (int32_t i = 0; i < n; i++) p[i] = i;
  for (int32_t i = n - 1; i > 0; i--) {
    const int32_t j = (int32_t)CorpusDraw(&seed, i + 1), t = p[i];

    p[i] = p[j];
    p[j] = t;
  }
  return p;
}

void CorpusRename(BenchMatrix *A, uint64_t seed, int rows, int cols)
{
  int32_t    *r = rows ? Shuffled(A->m, seed) : NULL, *c = !cols ? NULL : cols == 2 ? r : Shuffled(A->n, seed + 2);
  BenchMatrix B;

  BenchMatrixCreate(&B, A->m, A->n, A->nnz);
  for (int32_t i = 0; i < A->m; i++) B.rowptr[(r ? r[i] : i) + 1] = A->rowptr[i + 1] - A->rowptr[i];
  for (int32_t i = 0; i < A->m; i++) B.rowptr[i + 1] += B.rowptr[i];
  for (int32_t i = 0; i < A->m; i++) {
    const int32_t length = A->rowptr[i + 1] - A->rowptr[i], to = B.rowptr[r ? r[i] : i];

    for (int32_t k = 0; k < length; k++) B.col[to + k] = c ? c[A->col[A->rowptr[i] + k]] : A->col[A->rowptr[i] + k];
    CorpusSort(B.col + to, length);
  }
  BenchMatrixDestroy(A); /* values are set later */
  if (c != r) free(c);
  free(r);
  *A = B;
}

void CorpusValues(BenchMatrix *A, int kind, uint64_t seed)
{
  int32_t *length = NULL;

  if (kind == CORPUS_COLUMNS) {
    length = (int32_t *)calloc((size_t)A->n, sizeof(int32_t));
    if (!length) abort();
    for (int32_t k = 0; k < A->nnz; k++) length[A->col[k]]++;
  }
  for (int32_t k = 0; k < A->nnz; k++) {
    if (kind == CORPUS_FLOATS) A->val[k] = BenchValue(&seed);
    else if (kind == CORPUS_ONES) A->val[k] = 1;
    else if (kind == CORPUS_SIGNS) A->val[k] = BenchRandom(&seed) >> 63 ? 1 : -1;
    else if (kind == CORPUS_COUNTS) A->val[k] = floor(fmin(pow(1.0 - BenchUniform(&seed), -0.5), 120.0));
    else A->val[k] = (double)(float)(1.0 / length[A->col[k]]);
  }
  free(length);
}
