/* Seeded generators of the matrices that the benchmarks and the kernel tests use, as compressed rows with 32-bit indices. */
#ifndef GPUCSR_BENCH_MATRICES_H
#define GPUCSR_BENCH_MATRICES_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int32_t  m, n, nnz;
  int32_t *rowptr, *col;
  double  *val;
} BenchMatrix;

/* xorshift64*: S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", TOMS 2016 */
static inline uint64_t BenchRandom(uint64_t *state)
{
  uint64_t x = *state;

  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * 2685821657736338717ULL;
}

static inline double BenchUniform(uint64_t *state) /* uniform in [0,1) */
{
  return (double)(BenchRandom(state) >> 11) * (1.0 / 9007199254740992.0);
}

/* A value that float holds exactly, so that both storages multiply the same matrix. */
static inline double BenchValue(uint64_t *state)
{
  return (double)(float)(2.0 * BenchUniform(state) - 1.0);
}

static inline void BenchMatrixCreate(BenchMatrix *A, int32_t m, int32_t n, int64_t nnz)
{
  A->m      = m;
  A->n      = n;
  A->nnz    = (int32_t)nnz;
  A->rowptr = (int32_t *)calloc((size_t)m + 1, sizeof(int32_t));
  A->col    = (int32_t *)malloc(((size_t)nnz + 1) * sizeof(int32_t));
  A->val    = (double *)malloc(((size_t)nnz + 1) * sizeof(double));
  if (!A->rowptr || !A->col || !A->val) abort();
}

static inline void BenchMatrixDestroy(BenchMatrix *A)
{
  free(A->rowptr);
  free(A->col);
  free(A->val);
  memset(A, 0, sizeof(*A));
}

/* k x k x k grid: 7 points, or 27 with wide; dof unknowns a point, coupled by dense blocks; constant: coefficients that depend
   on the offset alone */
static inline void BenchGrid(BenchMatrix *A, int k, int wide, int dof, int constant, uint64_t seed)
{
  const int32_t m   = k * k * k * dof;
  int32_t       nnz = 0;

  BenchMatrixCreate(A, m, m, (int64_t)m * dof * (wide ? 27 : 7));
  for (int32_t i = 0; i < m; i++) {
    const int32_t point = i / dof;
    const int     z = point / (k * k), y = point / k % k, x = point % k;

    for (int dz = -1; dz <= 1; dz++) {
      for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
          if (!wide && abs(dx) + abs(dy) + abs(dz) > 1) continue;
          if (z + dz < 0 || z + dz >= k || y + dy < 0 || y + dy >= k || x + dx < 0 || x + dx >= k) continue;
          for (int d = 0; d < dof; d++) {
            A->col[nnz] = (point + (dz * k + dy) * k + dx) * dof + d;
            if (A->col[nnz] == i) A->val[nnz] = wide ? 60.0 : 16.0;
            else A->val[nnz] = constant ? -1.0 - 0.125 * abs(dx + 2 * dy + 4 * dz) - 0.25 * d : (double)(float)(-1.0 - 0.5 * fabs(BenchValue(&seed)));
            nnz++;
          }
        }
      }
    }
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
}

static inline void BenchStencil(BenchMatrix *A, int k, int wide, uint64_t seed)
{
  BenchGrid(A, k, wide, 1, 0, seed);
}

/* A stencil with constant coefficients, of which no two neighbours are equal. Some rows have other coefficients or another pattern. points: 5 or 9 on
   a rectangle, 7, 13, 19 or 27 on a box. */
static inline void BenchConstantGrid(BenchMatrix *A, int points)
{
  const int flat = points == 5 || points == 9, reach = points == 13 ? 2 : 1, most = points == 9 ? 2 : points == 19 ? 2 : points == 27 ? 3 : 1;
  const int nx = flat ? 67 : 9, ny = flat ? 11 : 8, nz = flat ? 1 : 7;
  int32_t   nnz = 0;

  BenchMatrixCreate(A, nx * ny * nz, nx * ny * nz, points * nx * ny * nz);
  for (int32_t i = 0; i < A->m; i++) {
    const int x = i % nx, y = i / nx % ny, z = i / (nx * ny);
    int       number = 0;

    for (int dz = flat ? 0 : -reach; dz <= (flat ? 0 : reach); dz++) {
      for (int dy = -reach; dy <= reach; dy++) {
        for (int dx = -reach; dx <= reach; dx++) {
          if ((dx != 0) + (dy != 0) + (dz != 0) > most) continue;
          number++;
          if (i % 59 == 3 || x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny || z + dz < 0 || z + dz >= nz) continue;
          A->col[nnz]   = i + (dz * ny + dy) * nx + dx;
          A->val[nnz++] = i % 41 == 7 ? 0.25 : number - 5.5;
        }
      }
    }
    if (i % 59 == 3) {
      A->col[nnz]   = A->m - 1 - i;
      A->val[nnz++] = 2;
    }
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
}

static inline int BenchCompare(const void *a, const void *b)
{
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

  return (x > y) - (x < y);
}

/* Sorts the columns of a row, removes duplicates and sets the values.  Returns the end of the row. */
static inline int32_t BenchFinishRow(BenchMatrix *A, int32_t start, int32_t end, uint64_t *state)
{
  int32_t keep = start;

  qsort(A->col + start, (size_t)(end - start), sizeof(int32_t), BenchCompare);
  for (int32_t k = start; k < end; k++) {
    if (k > start && A->col[k] == A->col[k - 1]) continue;
    A->col[keep] = A->col[k];
    A->val[keep] = BenchValue(state);
    keep++;
  }
  return keep;
}

/* Rows of about `each` nonzeros.  Columns are uniform, or follow Zipf's law with exponent one: column j has the weight 1/(j+2). */
static inline void BenchRows(BenchMatrix *A, int32_t m, int32_t n, int each, int zipf, uint64_t seed)
{
  int32_t nnz = 0;

  BenchMatrixCreate(A, m, n, (int64_t)m * each);
  for (int32_t i = 0; i < m; i++) {
    const int32_t start = nnz;

    for (int k = 0; k < each; k++) {
      const double u = BenchUniform(&seed);
      int32_t      j = zipf ? (int32_t)(exp(u * log((double)n + 1.0)) - 1.0) : (int32_t)(u * n);

      A->col[nnz++] = j < n ? j : n - 1;
    }
    nnz              = BenchFinishRow(A, start, nnz, &seed);
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
}

/* Rows of 0 to 5000 nonzeros with uniform columns. */
static inline void BenchUneven(BenchMatrix *A, uint64_t seed)
{
  int32_t nnz = 0;

  BenchMatrixCreate(A, 3000, 40000, 400000);
  for (int32_t i = 0; i < A->m; i++) {
    const int32_t length = i % 1000 == 500 ? 5000 : i % 100 == 3 ? 700 : (int32_t)(40 * BenchUniform(&seed)) * (i % 4 > 0), start = nnz;

    for (int32_t k = 0; k < length; k++) A->col[nnz++] = (int32_t)(BenchUniform(&seed) * A->n);
    nnz              = BenchFinishRow(A, start, nnz, &seed);
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
}

/* a mesh without structure: the points of a k x k x k grid, numbered anew at random within each 512 of them; each is coupled to
   itself and to three of five of the 74 points around it */
static inline void BenchMesh(BenchMatrix *A, int k, uint64_t seed)
{
  const int32_t m  = k * k * k;
  int32_t      *to = (int32_t *)malloc((size_t)m * sizeof(int32_t)), *from = (int32_t *)malloc((size_t)m * sizeof(int32_t));
  int32_t       nnz = 0;

  if (!to || !from) abort();
  for (int32_t i = 0; i < m; i++) from[i] = i;
  for (int32_t i = 0; i < m; i++) {
    const int32_t first = i / 512 * 512, last = first + 512 < m ? first + 512 : m, j = i + (int32_t)(BenchUniform(&seed) * (last - i)), t = from[i];

    from[i] = from[j];
    from[j] = t;
  }
  for (int32_t i = 0; i < m; i++) to[from[i]] = i;
  BenchMatrixCreate(A, m, m, (int64_t)m * 75);
  for (int32_t i = 0; i < m; i++) {
    const int32_t point = from[i], start = nnz;
    const int     z = point / (k * k), y = point / k % k, x = point % k;

    for (int dz = -1; dz <= 1; dz++) {
      for (int dy = -2; dy <= 2; dy++) {
        for (int dx = -2; dx <= 2; dx++) {
          if (z + dz < 0 || z + dz >= k || y + dy < 0 || y + dy >= k || x + dx < 0 || x + dx >= k) continue;
          if ((dx || dy || dz) && BenchUniform(&seed) > 0.6) continue;
          A->col[nnz++] = to[point + (dz * k + dy) * k + dx];
        }
      }
    }
    nnz              = BenchFinishRow(A, start, nnz, &seed);
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
  free(to);
  free(from);
}

/* R-MAT with 2^scale nodes (0.57, 0.19, 0.19, 0.05): D. Chakrabarti, Y. Zhan, C. Faloutsos, SDM 2004; repeated edges stay */
static inline void BenchRmat(BenchMatrix *A, int scale, int each, uint64_t seed)
{
  const int32_t m     = (int32_t)1 << scale;
  const int64_t edges = (int64_t)m * each;
  int32_t      *from = (int32_t *)malloc((size_t)edges * sizeof(int32_t)), *to = (int32_t *)malloc((size_t)edges * sizeof(int32_t));

  if (!from || !to) abort();
  BenchMatrixCreate(A, m, m, edges);
  for (int64_t e = 0; e < edges; e++) {
    int32_t i = 0, j = 0;

    for (int b = 0; b < scale; b++) {
      const double u = BenchUniform(&seed);

      i = 2 * i + (u >= 0.76);
      j = 2 * j + ((u >= 0.57 && u < 0.76) || u >= 0.95);
    }
    from[e] = i;
    to[e]   = j;
    A->rowptr[i + 1]++;
  }
  for (int32_t i = 0; i < m; i++) A->rowptr[i + 1] += A->rowptr[i];
  for (int64_t e = 0; e < edges; e++) A->col[A->rowptr[from[e]]++] = to[e];
  for (int32_t i = m; i > 0; i--) A->rowptr[i] = A->rowptr[i - 1];
  A->rowptr[0] = 0;
  for (int32_t i = 0; i < m; i++) qsort(A->col + A->rowptr[i], (size_t)(A->rowptr[i + 1] - A->rowptr[i]), sizeof(int32_t), BenchCompare);
  for (int64_t e = 0; e < edges; e++) A->val[e] = BenchValue(&seed);
  free(from);
  free(to);
}

/* Names of the matrices of the benchmarks, and what they are. */
typedef struct {
  const char *name, *what;
} BenchName;

static const BenchName BenchNames[] = {
  {"stencil7-100", "7-point stencil on 100^3"},
  {"stencil7-128", "7-point stencil on 128^3"},
  {"stencil7-200", "7-point stencil on 200^3"},
  {"stencil27-96", "27-point stencil on 96^3"},
  {"uniform-32", "1,000,000 x 1,000,000, 32 a row, uniform columns"},
  {"rmat-20", "R-MAT with 2^20 nodes, 8 a row"},
  {"rmat-22", "R-MAT with 2^22 nodes, 16 a row"},
  {"text", "bag of words: 800,000 x 47,236, 64 drawn a row, Zipf columns"},
  {"text-wide", "bag of words: 20,000 x 1,360,000, 360 drawn a row, Zipf columns"},
  {"poisson7-128", "7-point stencil on 128^3, constant coefficients"},
  {"poisson27-96", "27-point stencil on 96^3, constant coefficients"},
  {"elastic-48", "27-point stencil on 48^3, dense blocks of 3"},
  {"dense-5k", "5,000 x 5,000, 86 % of all places"},
  {"dense-wide", "60 x 500,000, 86 % of all places"},
  {"mesh-64", "64^3 points in local disorder, 45 a row"},
  {"tall", "500,000 x 54, 17 drawn a row"},
};

static inline int BenchNamed(const char *name, BenchMatrix *A)
{
  if (!strcmp(name, "stencil7-100")) BenchStencil(A, 100, 0, 1);
  else if (!strcmp(name, "stencil7-128")) BenchStencil(A, 128, 0, 1);
  else if (!strcmp(name, "stencil7-200")) BenchStencil(A, 200, 0, 1);
  else if (!strcmp(name, "stencil27-96")) BenchStencil(A, 96, 1, 1);
  else if (!strcmp(name, "uniform-32")) BenchRows(A, 1000000, 1000000, 32, 0, 1);
  else if (!strcmp(name, "rmat-20")) BenchRmat(A, 20, 8, 1);
  else if (!strcmp(name, "rmat-22")) BenchRmat(A, 22, 16, 1);
  else if (!strcmp(name, "text")) BenchRows(A, 800000, 47236, 64, 1, 1);
  else if (!strcmp(name, "text-wide")) BenchRows(A, 20000, 1360000, 360, 1, 1);
  else if (!strcmp(name, "poisson7-128")) BenchGrid(A, 128, 0, 1, 1, 1);
  else if (!strcmp(name, "poisson27-96")) BenchGrid(A, 96, 1, 1, 1, 1);
  else if (!strcmp(name, "elastic-48")) BenchGrid(A, 48, 1, 3, 0, 1);
  else if (!strcmp(name, "dense-5k")) BenchRows(A, 5000, 5000, 10000, 0, 1);
  else if (!strcmp(name, "dense-wide")) BenchRows(A, 60, 500000, 1000000, 0, 1);
  else if (!strcmp(name, "mesh-64")) BenchMesh(A, 64, 1);
  else if (!strcmp(name, "tall")) BenchRows(A, 500000, 54, 17, 0, 1);
  else return 0;
  return 1;
}

#endif
