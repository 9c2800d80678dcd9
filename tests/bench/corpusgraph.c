/* Generators of the corpus with irregular structure: graphs, circuits, linear programs, bags of words. */
#include "bench/corpus.h"

/* R-MAT: D. Chakrabarti, Y. Zhan, C. Faloutsos, SDM 2004.  a: symmetric, ones, nodes numbered at random (as the Graph500's); b: scale, 0: by the size */
int CorpusRmat(const void *context, BenchMatrix *A)
{
  const CorpusJob *job   = (const CorpusJob *)context;
  uint64_t         seed  = job->seed;
  const double     each  = job->b ? 0 : CorpusBetween(&seed, 4, 40);
  const int        scale = job->b ? job->b : (int)fmax(6, round(log2(job->nnz / each)));
  const int64_t    m = (int64_t)1 << scale, edges = (int64_t)(job->a ? job->nnz / 2 : job->nnz);
  int32_t         *from = (int32_t *)malloc((size_t)edges * 2 * sizeof(int32_t)), *to = from + edges;
  int64_t         *start = (int64_t *)calloc((size_t)m + 1, sizeof(int64_t));
  int32_t         *col;

  if (!from || !start) abort();
  for (int64_t e = 0; e < edges; e++) {
    int32_t i = 0, j = 0;

    for (int b = 0; b < scale; b += 4) { /* one random number of 64 bits gives four quadrants */
      uint64_t bits = BenchRandom(&seed);

      for (int q = b; q < b + 4 && q < scale; q++, bits >>= 16) {
        const unsigned u = (unsigned)(bits & 65535);

        i = 2 * i + (u >= 49807);                              /* 0.76 */
        j = 2 * j + ((u >= 37355 && u < 49807) || u >= 62259); /* 0.57, 0.95 */
      }
    }
    from[e] = i;
    to[e]   = j;
    start[i + 1]++;
    if (job->a) start[j + 1]++;
  }
  for (int64_t i = 0; i < m; i++) start[i + 1] += start[i];
  col = (int32_t *)malloc(((size_t)start[m] + 1) * sizeof(int32_t));
  if (!col) abort();
  for (int64_t e = 0; e < edges; e++) {
    col[start[from[e]]++] = to[e];
    if (job->a) col[start[to[e]]++] = from[e];
  }
  free(from);
  CorpusBegin(A, m, m, (double)start[m - 1]);
  for (int64_t i = 0, k = 0; i < m; i++) {
    for (; k < start[i]; k++) CorpusPush(A, col[k], 0);
    CorpusSortRow(A, i);
  }
  CorpusEnd(A);
  free(col);
  free(start);
  if (job->a) CorpusRename(A, seed, 1, 2);
  CorpusValues(A, job->a ? CORPUS_ONES : CORPUS_FLOATS, seed);
  return 1;
}

/* A web graph with hosts of a few hundred pages.  A page links to pages near it, to the first page of its host, to targets of the page before it, or
   to a popular page anywhere.  a: 1 keeps that order, 0 numbers pages at random; b: 1 values are 1 / length of the column, 0 ones */
int CorpusWeb(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  const double     each = CorpusBetween(&seed, 3, 24);
  const int64_t    m    = (int64_t)(job->nnz / (1.7 * each)) + 2;

  CorpusBegin(A, m, m, job->nnz);
  for (int64_t i = 0; i < m; i++) {
    const int64_t host = i / 256 * 256, before = i ? A->rowptr[i - 1] : 0, last = i ? A->rowptr[i] - before : 0;
    const int64_t length = (int64_t)fmin(each * 0.7 * pow(1 - BenchUniform(&seed), -0.6), (double)m / 3);

    for (int64_t k = 0; k < length; k++) {
      const double u = BenchUniform(&seed);
      int64_t      j;

      if (u < 0.35) j = host + CorpusZipf(&seed, 256);
      else if (u < 0.6) j = i + CorpusDraw(&seed, 65) - 32;
      else if (u < 0.85 && last) j = A->col[before + CorpusDraw(&seed, last)];
      else j = (CorpusZipf(&seed, m) * 40503 + 7) % m; /* popular pages have any number */
      if (j >= 0 && j < m) CorpusPush(A, j, 0);
    }
    CorpusSortRow(A, i);
  }
  CorpusEnd(A);
  if (!job->a) CorpusRename(A, seed, 1, 2);
  CorpusValues(A, job->b ? CORPUS_COLUMNS : CORPUS_ONES, seed);
  if (job->b) CorpusTurn(A); /* PageRank multiplies by the transpose */
  return 1;
}

/* The matrix of PageRank: entry (j,i) is a link from i to j.  a: 0 pages in the order of hosts, 1 R-MAT, nodes with most outgoing links first;
   b: number of row blocks between which nodes alternate; the first block is generated, by which block Gauss-Seidel multiplies */
int CorpusRank(const void *context, BenchMatrix *A)
{
  CorpusJob     job    = *(const CorpusJob *)context;
  const int32_t blocks = job.b;
  const int     rmat   = job.a;
  int32_t      *name, *start, m, share;
  BenchMatrix   B;

  job.nnz *= blocks;
  job.a = !rmat;
  job.b = 0;
  (void)(rmat ? CorpusRmat(&job, A) : CorpusWeb(&job, A));
  m     = A->m;
  share = (m + blocks - 1) / blocks;
  name  = (int32_t *)malloc(((size_t)m + 1) * sizeof(int32_t));
  start = (int32_t *)calloc((size_t)m + 2, sizeof(int32_t)); /* offsets of the nodes with m, m - 1, ... outgoing links */
  if (!name || !start) abort();
  for (int32_t i = 0; i < m; i++) start[m - (A->rowptr[i + 1] - A->rowptr[i]) + 1]++;
  for (int32_t d = 0; d <= m; d++) start[d + 1] += start[d];
  for (int32_t i = 0; i < m; i++) {
    const int32_t at = rmat ? start[m - (A->rowptr[i + 1] - A->rowptr[i])]++ : i;

    name[i] = at % blocks * share + at / blocks; /* less than m, except in the last block, which is not kept if blocks do not divide m */
  }
  CorpusTurn(A);
  for (int32_t i = 0; i < m; i++) start[i] = -1; /* from here on: the node of a number */
  for (int32_t i = 0; i < m; i++)
    if (name[i] < share) start[name[i]] = i;
  CorpusBegin(&B, share, (int64_t)share * blocks, job.nnz / blocks);
  for (int32_t i = 0; i < share; i++) {
    const int32_t from = start[i];

    for (int32_t k = A->rowptr[from]; k < A->rowptr[from + 1]; k++) CorpusPush(&B, name[A->col[k]], 0);
    CorpusSortRow(&B, i);
  }
  CorpusEnd(&B);
  BenchMatrixDestroy(A);
  free(start);
  free(name);
  *A = B;
  CorpusValues(A, CORPUS_ONES, job.seed);
  return 1;
}

/* A symmetric graph; both ends of an edge follow a power law, as in social networks. */
int CorpusSocial(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  const double     each = CorpusBetween(&seed, 6, 60), power = 1.3 + 0.7 * BenchUniform(&seed);
  const int64_t    m = (int64_t)(job->nnz / each) + 2, edges = (int64_t)(job->nnz / 2);
  BenchMatrix      B;

  CorpusBegin(A, m, m, job->nnz / 2);
  for (int64_t i = 0, left = edges; i < m; i++) {
    const int64_t length = (int64_t)fmin(fmin(each / 2 * (power - 1) / power * pow(1 - BenchUniform(&seed), -1 / power), (double)m / 4) + BenchUniform(&seed), (double)left);

    for (int64_t k = 0; k < length; k++) CorpusPush(A, (int64_t)((double)m * pow(BenchUniform(&seed), power)) % m, 0);
    left -= length;
    CorpusSortRow(A, i);
  }
  CorpusEnd(A);
  CorpusRename(A, seed, 1, 2);
  B = *A;
  BenchMatrixCreate(&B, A->m, A->n, A->nnz);
  memcpy(B.rowptr, A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t));
  memcpy(B.col, A->col, (size_t)A->nnz * sizeof(int32_t));
  CorpusTurn(&B);
  { /* A + A' */
    BenchMatrix C;

    CorpusBegin(&C, A->m, A->n, 2.0 * A->nnz);
    for (int32_t i = 0; i < A->m; i++) {
      for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) CorpusPush(&C, A->col[k], 0);
      for (int32_t k = B.rowptr[i]; k < B.rowptr[i + 1]; k++) CorpusPush(&C, B.col[k], 0);
      CorpusSortRow(&C, i);
    }
    CorpusEnd(&C);
    BenchMatrixDestroy(A);
    BenchMatrixDestroy(&B);
    *A = C;
  }
  CorpusValues(A, CORPUS_ONES, seed);
  return 1;
}

/* A circuit: a device connects a few nodes, most of them close to each other.  a: supply nets connect many nodes */
int CorpusCircuit(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  const double     each = CorpusBetween(&seed, 3, 8);
  const int        nets = job->a ? 1 + (int)CorpusBetween(&seed, 1, 30) : 0;
  const double     wide = CorpusBetween(&seed, 0.01, 0.6); /* share of the rows that the largest net connects */
  const int64_t    m    = (int64_t)(job->nnz / (1 + each + (job->a ? 2 * wide * log(nets + 1.0) : 0))) + 2;
  int64_t          net[64];

  for (int k = 0; k < nets; k++) net[k] = CorpusDraw(&seed, m);
  CorpusBegin(A, m, m, job->nnz);
  for (int64_t i = 0; i < m; i++) {
    const int64_t length = (int64_t)fmin(-log(1 - BenchUniform(&seed)) * each + 0.5, 100);

    CorpusPush(A, i, 0);
    for (int64_t k = 0; k < length; k++) {
      const double  u = BenchUniform(&seed);
      const int64_t j = u < 0.9 ? i + (int64_t)((BenchUniform(&seed) - 0.5) * 200 * pow(BenchUniform(&seed), 2)) : CorpusDraw(&seed, m);

      if (j >= 0 && j < m) CorpusPush(A, j, 0);
    }
    for (int k = 0; k < nets; k++) {
      if (BenchUniform(&seed) < wide / (k + 1)) CorpusPush(A, net[k], 0);
      if (net[k] != i) continue;
      for (int64_t j = 0; j < m; j++)
        if (BenchUniform(&seed) < wide / (k + 1)) CorpusPush(A, j, 0);
    }
    CorpusSortRow(A, i);
  }
  CorpusEnd(A);
  CorpusValues(A, CORPUS_FLOATS, seed);
  return 1;
}

/* A linear program, generated by columns and then transposed.  a: 0 few rows, many columns; 1 its transpose; 2 set cover; 3 a staircase with linking rows */
int CorpusLp(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  const double     each = job->a == 2 ? 10 : CorpusBetween(&seed, 2, 12);
  const int64_t    cols = (int64_t)(job->nnz / each) + 2, rows = (int64_t)((double)cols / CorpusBetween(&seed, job->a == 3 ? 1.2 : 3, job->a == 2 ? 300 : job->a == 3 ? 3 : 60)) + 2;
  const int64_t    links = 1 + rows / 200, stairs = 1 + cols / 400;

  CorpusBegin(A, cols, rows, job->nnz);
  for (int64_t i = 0; i < cols; i++) {
    const int64_t length = job->a == 2 ? 6 + CorpusDraw(&seed, 9) : 1 + CorpusDraw(&seed, (int64_t)(2 * each)), start = CorpusDraw(&seed, rows), stair = i * stairs / cols;

    for (int64_t k = 0; k < length; k++) {
      int64_t j = CorpusDraw(&seed, rows);

      if (job->a == 2) j = (start + (int64_t)(pow(BenchUniform(&seed), 3) * (double)rows)) % rows * (BenchUniform(&seed) < 0.7) + CorpusZipf(&seed, rows) / 4;
      else if (job->a == 3) j = BenchUniform(&seed) < 0.15 ? CorpusDraw(&seed, links) : (int64_t)((double)rows * ((double)stair + 1.3 * BenchUniform(&seed)) / (double)stairs);
      if (j < rows) CorpusPush(A, j, 0);
    }
    CorpusSortRow(A, i);
  }
  CorpusEnd(A);
  CorpusValues(A, job->a == 2 ? CORPUS_ONES : job->a == 3 ? CORPUS_FLOATS : CORPUS_SIGNS, seed);
  if (job->a != 1) CorpusTurn(A);
  return 1;
}

/* A bag of words, documents x words.  a: 0 counts, 1 any values, 2 few documents and many words */
int CorpusText(const void *context, BenchMatrix *A)
{
  const CorpusJob *job   = (const CorpusJob *)context;
  uint64_t         seed  = job->seed;
  const double     each  = job->a == 2 ? CorpusBetween(&seed, 150, 800) : CorpusBetween(&seed, 20, 200);
  const int64_t    m     = (int64_t)(1.25 * job->nnz / each) + 2;
  const int64_t    words = (int64_t)(job->a == 2 ? (double)m * CorpusBetween(&seed, 5, 80) : CorpusBetween(&seed, 5e3, 2e5));

  CorpusBegin(A, m, words, job->nnz);
  for (int64_t i = 0; i < m; i++) {
    const int64_t length = (int64_t)(each * (0.2 - 0.8 * log(1 - BenchUniform(&seed)))) + 1;

    for (int64_t k = 0; k < length; k++) CorpusPush(A, CorpusZipf(&seed, words), 0);
    CorpusSortRow(A, i);
  }
  CorpusEnd(A);
  if (BenchUniform(&seed) < 0.5) CorpusRename(A, seed, 0, 1); /* half of the matrices keep the words in the order of frequency */
  CorpusValues(A, job->a == 0 ? CORPUS_COUNTS : CORPUS_FLOATS, seed);
  return 1;
}

/* Samples x features; some features have a value in every sample. */
int CorpusTall(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  const int64_t    n    = (int64_t)CorpusBetween(&seed, 50, 500);
  const double     fill = CorpusBetween(&seed, 0.04, 0.6);
  const int64_t    m    = (int64_t)(job->nnz / (fill * (double)n)) + 2;
  double           chance[512];

  for (int64_t j = 0; j < n; j++) chance[j] = fmin(1, fill * 2 * BenchUniform(&seed));
  CorpusBegin(A, m, n, job->nnz);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++)
      if (BenchUniform(&seed) < chance[j]) CorpusPush(A, j, 0);
    CorpusEndRow(A, i);
  }
  CorpusEnd(A);
  CorpusValues(A, BenchUniform(&seed) < 0.4 ? CORPUS_ONES : CORPUS_FLOATS, seed);
  return 1;
}

/* A small matrix of one of the other families. */
int CorpusTiny(const void *context, BenchMatrix *A)
{
  static const struct {
    CorpusMake make;
    int        a, b;
  } one[]       = {{CorpusStencil, 5, 0}, {CorpusStencil, 7, 1}, {CorpusMesh, 15, 1}, {CorpusDof, 9, 3},  {CorpusRmat, 0, 0},   {CorpusWeb, 1, 0},
                   {CorpusCircuit, 1, 0}, {CorpusLp, 0, 0},      {CorpusLp, 1, 0},    {CorpusText, 1, 0}, {CorpusRandom, 0, 0}, {CorpusBanded, 0, 0}};
  CorpusJob job = *(const CorpusJob *)context;
  const int k   = (int)(job.seed / 7 % (sizeof(one) / sizeof(one[0])));

  job.a = one[k].a;
  job.b = one[k].b;
  return one[k].make(&job, A);
}
