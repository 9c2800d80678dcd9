/* Generators of the corpus with regular structure: stencils, meshes, bands, blocks. */
#include "bench/corpus.h"

/* Chooses a box with about this number of points and ratios of sides up to two.  z is 1 for a rectangle. */
static void Box(double points, int dimensions, uint64_t *seed, int64_t side[3])
{
  const double a = CorpusBetween(seed, 0.7, 1.4), b = CorpusBetween(seed, 0.7, 1.4), root = pow(points, 1.0 / dimensions);

  side[0] = (int64_t)ceil(root * a);
  side[1] = (int64_t)ceil(dimensions == 2 ? root / a : root * b);
  side[2] = dimensions == 2 ? 1 : (int64_t)ceil(root / (a * b));
  for (int d = 0; d < 3; d++)
    if (side[d] < 1) side[d] = 1;
}

/* Lists the neighbours of a stencil in ascending order of their numbers. */
static int Neighbours(int points, int shift[27][3])
{
  const int flat = points == 5 || points == 9, star = points == 5 || points == 7, reach = points == 13 ? 2 : 1;
  int       n = 0;

  for (int z = flat ? 0 : -reach; z <= (flat ? 0 : reach); z++) {
    for (int y = -reach; y <= reach; y++) {
      for (int x = -reach; x <= reach; x++) {
        const int away = abs(x) + abs(y) + abs(z), axis = (x != 0) + (y != 0) + (z != 0) <= 1;

        if ((star && away > 1) || (points == 13 && !axis)) continue;
        shift[n][0]   = x;
        shift[n][1]   = y;
        shift[n++][2] = z;
      }
    }
  }
  return n;
}

/* A stencil.  a: number of points; b: 0 constant coefficients, 1 variable, 2 two materials in bricks */
int CorpusStencil(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  int64_t          side[3], i      = 0;
  int              shift[27][3], n = Neighbours(job->a, shift);

  Box(job->nnz / n, job->a == 5 || job->a == 9 ? 2 : 3, &seed, side);
  CorpusBegin(A, side[0] * side[1] * side[2], side[0] * side[1] * side[2], job->nnz);
  for (int64_t z = 0; z < side[2]; z++) {
    for (int64_t y = 0; y < side[1]; y++) {
      for (int64_t x = 0; x < side[0]; x++, i++) {
        const double material = job->b == 2 && (x / 16 + y / 16 + z / 16) % 2 ? 8 : 1;

        for (int k = 0; k < n; k++) {
          const int64_t px = x + shift[k][0], py = y + shift[k][1], pz = z + shift[k][2];
          const int     centre = !(shift[k][0] || shift[k][1] || shift[k][2]);

          if (px < 0 || px >= side[0] || py < 0 || py >= side[1] || pz < 0 || pz >= side[2]) continue;
          CorpusPush(A, (pz * side[1] + py) * side[0] + px, (centre ? n : -1) * material);
        }
        CorpusEndRow(A, i);
      }
    }
  }
  CorpusEnd(A);
  if (job->b == 1) CorpusValues(A, CORPUS_FLOATS, seed);
  return 1;
}

/* A stencil of dense blocks.  a: points of the stencil; b: unknowns per node */
int CorpusDof(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  int64_t          side[3], node   = 0;
  int              shift[27][3], n = Neighbours(job->a, shift), b = job->b;

  Box(job->nnz / (n * b * b), job->a == 5 || job->a == 9 ? 2 : 3, &seed, side);
  CorpusBegin(A, b * side[0] * side[1] * side[2], b * side[0] * side[1] * side[2], job->nnz);
  for (int64_t z = 0; z < side[2]; z++) {
    for (int64_t y = 0; y < side[1]; y++) {
      for (int64_t x = 0; x < side[0]; x++, node++) {
        for (int r = 0; r < b; r++) {
          for (int k = 0; k < n; k++) {
            const int64_t px = x + shift[k][0], py = y + shift[k][1], pz = z + shift[k][2];

            if (px < 0 || px >= side[0] || py < 0 || py >= side[1] || pz < 0 || pz >= side[2]) continue;
            for (int c = 0; c < b; c++) CorpusPush(A, b * ((pz * side[1] + py) * side[0] + px) + c, 0);
          }
          CorpusEndRow(A, b * node + r);
        }
      }
    }
  }
  CorpusEnd(A);
  CorpusValues(A, CORPUS_FLOATS, seed);
  return 1;
}

/* Tells whether two nodes of a mesh share an element.  The result does not depend on the order of the nodes. */
static int Joined(int64_t p, int64_t q, uint64_t seed, double chance)
{
  uint64_t state = (uint64_t)(p < q ? p : q) * 0x9e3779b97f4a7c15ULL ^ (uint64_t)(p < q ? q : p) * 0xc2b2ae3d27d4eb4fULL ^ seed;

  if (!state) state = 1;
  BenchRandom(&state);
  return BenchUniform(&state) < chance;
}

/* An unstructured mesh.  a: neighbours of a node; b: unknowns per node, or -1 for one unknown and nodes numbered at random.  Nodes are the points of
   a box.  Neighbours are drawn from the 3^3 points around a node (5^3 for many neighbours), and windows of 64 numbers are shuffled. */
int CorpusMesh(const void *context, BenchMatrix *A)
{
  const CorpusJob *job = (const CorpusJob *)context;
  const int        b = abs(job->b), reach = job->a > 24 ? 2 : 1;
  const double     chance = (job->a - 1.0) / (reach == 2 ? 124 : 26);
  uint64_t         seed   = job->seed;
  int64_t          side[3], nodes;
  int32_t         *place, *at;

  Box(job->nnz / (job->a * b * b), 3, &seed, side);
  nodes = side[0] * side[1] * side[2];
  place = (int32_t *)malloc((size_t)nodes * sizeof(int32_t)); /* number of the node at each point */
  at    = (int32_t *)malloc((size_t)nodes * sizeof(int32_t)); /* point of each number */
  if (!place || !at) abort();
  for (int64_t i = 0; i < nodes; i++) at[i] = (int32_t)i;
  for (int64_t i = 0; i < nodes; i++) {
    const int64_t window = nodes - i / 64 * 64 < 64 ? nodes - i / 64 * 64 : 64, j = i / 64 * 64 + CorpusDraw(&seed, window);
    const int32_t t = at[i];

    at[i] = at[j];
    at[j] = t;
  }
  for (int64_t i = 0; i < nodes; i++) place[at[i]] = (int32_t)i;
  CorpusBegin(A, nodes * b, nodes * b, job->nnz);
  for (int64_t i = 0; i < nodes; i++) {
    const int64_t p = at[i], x = p % side[0], y = p / side[0] % side[1], z = p / (side[0] * side[1]);
    int32_t       found[125];
    int           n = 0;

    for (int64_t pz = z < reach ? 0 : z - reach; pz <= z + reach && pz < side[2]; pz++) {
      for (int64_t py = y < reach ? 0 : y - reach; py <= y + reach && py < side[1]; py++) {
        for (int64_t px = x < reach ? 0 : x - reach; px <= x + reach && px < side[0]; px++) {
          const int64_t q = (pz * side[1] + py) * side[0] + px;

          if (p == q || Joined(p, q, job->seed, chance)) found[n++] = place[q];
        }
      }
    }
    CorpusSort(found, n);
    for (int r = 0; r < b; r++) {
      for (int k = 0; k < n; k++)
        for (int c = 0; c < b; c++) CorpusPush(A, (int64_t)b * found[k] + c, 0);
      CorpusEndRow(A, i * b + r);
    }
  }
  CorpusEnd(A);
  free(place);
  free(at);
  if (job->b < 0) CorpusRename(A, seed, 1, 2);
  CorpusValues(A, CORPUS_FLOATS, seed);
  return 1;
}

/* Random matrices of El Zein's thesis.  a: 0 all entries have the same probability, 1 rows of equal length, 2 a window around the diagonal */
int CorpusRandom(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  const double     each = CorpusBetween(&seed, 3, job->nnz > 2e7 ? 32 : 150), shape = job->a == 2 ? 1 : CorpusBetween(&seed, 0.3, 3);
  const int64_t    m = (int64_t)(job->nnz / each) + 1, n = (int64_t)((double)m * shape) + 1;
  const int64_t    window = job->a == 2 ? (int64_t)(each * CorpusBetween(&seed, 1.3, 100)) + 2 : n;
  const int64_t    width  = window < n ? window : n;

  CorpusBegin(A, m, n, job->nnz);
  for (int64_t i = 0; i < m; i++) {
    const int64_t middle = i - width / 2, left = middle < 0 ? 0 : middle + width > n ? n - width : middle;
    int64_t       length = (int64_t)(each + 0.5);

    if (job->a != 1) { /* approximately Poisson: a sum of twelve uniform numbers is approximately normal */
      double normal = -6;

      for (int k = 0; k < 12; k++) normal += BenchUniform(&seed);
      length = (int64_t)fmax(0, each + sqrt(each) * normal + 0.5);
    }
    for (int64_t k = 0; k < length; k++) CorpusPush(A, left + CorpusDraw(&seed, width), 0);
    CorpusSortRow(A, i);
  }
  CorpusEnd(A);
  CorpusValues(A, CORPUS_FLOATS, seed);
  return 1;
}

static int CompareShifts(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

  return (x > y) - (x < y);
}

/* A band matrix.  a: 0 a full band, 1 a few full diagonals far apart */
int CorpusBanded(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  const int        n    = (int)CorpusBetween(&seed, 3, job->a ? 24 : 100);
  const int64_t    m    = (int64_t)(job->nnz / n) + 1;
  int64_t          shift[128];

  for (int k = 0; k < n; k++) shift[k] = job->a ? CorpusDraw(&seed, m) - m / 2 : k - n / 2;
  if (job->a) shift[0] = 0;
  qsort(shift, (size_t)n, sizeof(int64_t), CompareShifts);
  CorpusBegin(A, m, m, job->nnz);
  for (int64_t i = 0; i < m; i++) {
    for (int k = 0; k < n; k++)
      if (i + shift[k] >= 0 && i + shift[k] < m && (!k || shift[k] != shift[k - 1])) CorpusPush(A, i + shift[k], 0);
    CorpusEndRow(A, i);
  }
  CorpusEnd(A);
  CorpusValues(A, CORPUS_FLOATS, seed);
  return 1;
}

/* A diagonal matrix with a dense last row and column. */
int CorpusArrow(const void *context, BenchMatrix *A)
{
  const CorpusJob *job = (const CorpusJob *)context;
  const int64_t    m   = (int64_t)(job->nnz / 3) + 2;

  CorpusBegin(A, m, m, job->nnz);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = i < m - 1 ? i : 0; j < m; j = i < m - 1 && j < m - 1 ? m - 1 : j + 1) CorpusPush(A, j, 0);
    CorpusEndRow(A, i);
  }
  CorpusEnd(A);
  CorpusValues(A, CORPUS_FLOATS, job->seed);
  return 1;
}

int CorpusBlockDiagonal(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  const int64_t    size = (int64_t)CorpusBetween(&seed, 2, 200), m = (int64_t)(job->nnz / (double)(size * size) + 1) * size;

  CorpusBegin(A, m, m, job->nnz);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = i / size * size; j < i / size * size + size; j++) CorpusPush(A, j, 0);
    CorpusEndRow(A, i);
  }
  CorpusEnd(A);
  CorpusValues(A, CORPUS_FLOATS, seed);
  return 1;
}

/* Random columns.  a: 0 most rows are empty and the others short; 1 row lengths follow a power law */
int CorpusEmpty(const void *context, BenchMatrix *A)
{
  const CorpusJob *job   = (const CorpusJob *)context;
  uint64_t         seed  = job->seed;
  const double     share = CorpusBetween(&seed, 0.02, 0.4), each = CorpusBetween(&seed, 2, 40), power = 0.5 + 0.3 * BenchUniform(&seed);
  const int64_t    m = (int64_t)(job->a ? job->nnz / (each / (1 - power)) : job->nnz / (share * each)) + 1;

  CorpusBegin(A, m, m, job->nnz);
  for (int64_t i = 0; i < m; i++) {
    const double  u      = BenchUniform(&seed);
    const int64_t length = job->a ? (int64_t)fmin(each * pow(1 - u, -power), (double)m / 2) : u < share ? 1 + CorpusDraw(&seed, (int64_t)(2 * each)) : 0;

    for (int64_t k = 0; k < length; k++) CorpusPush(A, CorpusDraw(&seed, m), 0);
    CorpusSortRow(A, i);
  }
  CorpusEnd(A);
  CorpusValues(A, CORPUS_FLOATS, seed);
  return 1;
}

int CorpusDense(const void *context, BenchMatrix *A)
{
  const CorpusJob *job  = (const CorpusJob *)context;
  uint64_t         seed = job->seed;
  const double     fill = BenchUniform(&seed) < 0.4 ? 1 : 0.5 + 0.5 * BenchUniform(&seed), shape = CorpusBetween(&seed, 0.2, 5);
  const int64_t    m = (int64_t)sqrt(job->nnz / fill * shape) + 1, n = (int64_t)(job->nnz / fill / (double)m) + 1;

  CorpusBegin(A, m, n, job->nnz);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++)
      if (fill == 1 || BenchUniform(&seed) < fill) CorpusPush(A, j, 0);
    CorpusEndRow(A, i);
  }
  CorpusEnd(A);
  CorpusValues(A, CORPUS_FLOATS, seed);
  return 1;
}
