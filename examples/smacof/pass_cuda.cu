/* The pass over the dissimilarities, device twin.

   A block takes H rows and a range of columns, chunk after chunk. Of a chunk a warp takes 4 R rows at a time and 32 columns at a step: eight lanes share a row,
   four columns each, which is one load of 16 bytes; four lanes share a column. So a lane has R x 4 entries at hand, sums of its rows stay in registers
   for a chunk, sums of its columns for a step, and both are then added up between lanes that give away half of what they have (a sum costs about one
   exchange). Every sum in shared memory has one lane that adds to it, every partial sum in device memory one block that writes it, and a second kernel adds
   these in order: the result depends on shape and arithmetic alone, to the last bit. No atomics.

   What an entry costs, in dimension d, in instructions:
     difference d, square d, 1/sqrt 1, ratio, error and its square 3, sum of the row d; of the column too, if the entry stands for both: d + 1
   An H200 issues 132 x 128 float or 132 x 64 double instructions a cycle: at 1.98 GHz 33e12 and 17e12 a second. At its copy rate, 4.2e12 bytes a second, entries arrive at 1.05e12
   a second in float and 0.53e12 in double.
     all in double: d = 2 takes 11 + 5 of Newton's steps + 3 = 19: 0.9e12 entries a second at best, more than memory delivers of doubles.
     mixed, d = 2: 13 + 3 for exchanges and loads = 16: 2e12 entries a second at best.
   So dissimilarities in float are worked on in float, with what must not be in float kept from it:
     - coordinates are rounded to float after those of the first point have been taken away: the pass is that of a map whose points are moved by 2^-24 of its extent. Differences of
       such floats that are near are exact. At the points where iterations go, moving all points by b of the extent changes the stress by b^2;
     - what follows is products, quotients and one root of positive numbers: an entry's ratio and distance are right to 2^-21; the dissimilarity itself was rounded to 2^-24;
     - at most 128 entries are added in float (both kinds of sums), the rest in double.
   Relative errors b of the distances change the normalised stress by 2 b <delta - d, d> / <delta, delta>, in which a common b vanishes at the best scale of the map, and errors of
   M pairs that have nothing in common leave b sqrt(stress / M): 1e-11 for 4096 points. Stress-1 is right to b itself even where the fit is perfect: 5e-7, of the 1e-5 allowed.
   Points nearer to each other than 2^-24 of the map's extent count as one, which pulls at nothing. Few points take no time, and are worked on in double (see passdevice.c).

   The triangle read once moves half the bytes at 1.2 times the instructions an entry, and is the faster one; partial sums of rows and columns add (d + 1) (16 / W + 16 / H) bytes
   an entry: 0.1 of 4 for d = 2. */
#include "passentries.h"
#include <cuda_runtime.h>
#include <cstdio>

namespace {
constexpr int BLOCK = 256, WARPS = BLOCK / 32;
constexpr int BAND = 128; /* strips of rows between which partial sums are added up: a limit to their memory */

constexpr int Height(int dim)
{
  return dim > 4 ? 256 : 512;
}

template <int DIM, class Real>
struct Shape {
  static constexpr bool MIXED = sizeof(Real) == 4;
  static constexpr int  R     = DIM > (MIXED ? 5 : 2) ? 2 : 4;
  static constexpr int  H     = Height(DIM);
  static constexpr int  CHUNK = (MIXED ? 128 : 64) / (DIM > 4 ? 2 : 1);
  static constexpr int  BUSY  = !MIXED ? (DIM <= 5 ? 2 : 1) : DIM <= 2 ? 4 : DIM == 3 ? 3 : 2; /* blocks that shall fit a multiprocessor: measured, as R is */
};

/* columns c0 to c1 - 1 of the rows from row0 to row1 - 1; of row i those below bound + i */
struct Job {
  const void *delta, *x, *feature; /* x: Real [DIM][pitch], feature: Real [nfeature][ldfeature] */
  size_t      ld, pitch, ldsum, ldfeature;
  int         N, rows, first, nfeature, metric;
  int         row0, row1, c0, c1, width, bound, both;
  double     *rowpart, *colpart; /* [slot][DIM + 1][row1 - row0], [strip][DIM + 1][c1 - c0] */
};

/* what squares of distances begin with, so that points which coincide divide nothing by 0 */
template <class Real>
constexpr Real Tiny = sizeof(Real) == 4 ? (Real)1e-36 : (Real)1e-300;

__device__ float Inverse(float s)
{
  float y;

  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(s));
  return y;
}

__device__ double Inverse(double s)
{
  return rsqrt(s);
}

__device__ void Coordinates(const float *from, float (&to)[4])
{
  const float4 v = *(const float4 *)from;

  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ void Coordinates(const double *from, double (&to)[4])
{
  const double2 v = *(const double2 *)from, w = *((const double2 *)from + 1);

  to[0] = v.x, to[1] = v.y, to[2] = w.x, to[3] = w.y;
}

/* Lanes whose numbers differ in the bit MASK add up V sums: each keeps half of them, the first half where the bit is 0; a last one they keep both */
template <int V, int MASK, class Real>
__device__ void Share(Real *v)
{
  const bool upper = threadIdx.x & MASK;

  if (V == 1) v[0] += __shfl_xor_sync(0xffffffffu, v[0], MASK);
#pragma unroll
  for (int k = 0; k < V / 2; k++) {
    const Real keep = upper ? v[k + V / 2] : v[k], give = upper ? v[k] : v[k + V / 2];

    v[k] = keep + __shfl_xor_sync(0xffffffffu, give, MASK);
  }
}

template <class Stored, bool INSIDE>
struct Entries {
  template <int R, class Real>
  static __device__ void Get(const Job &q, int i, int j, Real (&delta)[R][4])
  {
#pragma unroll
    for (int r = 0; r < R; r++) {
      if (INSIDE || (i + r < q.row1 && (size_t)j < q.ld)) Load((const Stored *)q.delta + (size_t)(i + r) * q.ld + j, delta[r]);
      else delta[r][0] = delta[r][1] = delta[r][2] = delta[r][3] = 0;
    }
  }
};

template <bool INSIDE>
struct Entries<Computed, INSIDE> {
  template <int R, class Real>
  static __device__ void Get(const Job &q, int i, int j, Real (&delta)[R][4])
  {
    FromFeatures(q, (const Real *)q.feature, q.ldfeature, i, j, delta);
  }
};

/* A warp's rows, R from i on in each lane, and a chunk of columns from j0 to j1 - 1.  Inside: all of them count. */
template <int DIM, class Real, class Stored, bool BOTH, bool INSIDE>
__device__ __forceinline__ void Sweep(const Job &q, int i, int j0, int j1, double *row, Real *col)
{
  using T               = Shape<DIM, Real>;
  constexpr int R       = T::R;
  const Real   *x       = (const Real *)q.x;
  const int     lanecol = threadIdx.x % 8, lanerow = threadIdx.x % 32 / 8;
  Real          xi[R][DIM], across[DIM + 1][R]     = {};

#pragma unroll
  for (int r = 0; r < R; r++) {
#pragma unroll
    for (int c = 0; c < DIM; c++) xi[r][c] = x[c * q.pitch + q.first + min(i + r, q.row1 - 1)];
  }
#pragma unroll 1
  for (int step = 0; step < T::CHUNK && j0 + step < j1; step += 32) {
    const int j = j0 + step + 4 * lanecol;
    Real      delta[R][4], xj[DIM][4], down[DIM + 1][4] = {};

    Entries<Stored, INSIDE>::Get(q, i, j, delta);
#pragma unroll
    for (int c = 0; c < DIM; c++) Coordinates(x + c * q.pitch + j, xj[c]);
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int k = 0; k < 4; k++) {
        Real difference[DIM], square = Tiny<Real>;

#pragma unroll
        for (int c = 0; c < DIM; c++) {
          difference[c] = xi[r][c] - xj[c][k];
          square += difference[c] * difference[c];
        }
        const Real inverse = Inverse(square);
        const bool counts  = INSIDE || (i + r < q.row1 && j + k >= q.c0 && j + k < j1 && (!BOTH || j + k < q.bound + i + r));
        const Real ratio = counts ? delta[r][k] * inverse : 0, error = counts ? delta[r][k] - square * inverse : 0;

#pragma unroll
        for (int c = 0; c < DIM; c++) {
          across[c][r] += ratio * difference[c];
          if (BOTH) down[c][k] -= ratio * difference[c];
        }
        across[DIM][r] += error * error;
        if (BOTH) down[DIM][k] += error * error;
      }
    }
#pragma unroll
    for (int c = 0; BOTH && c <= DIM; c++) {
      Share<4, 16>(down[c]);
      Share<2, 8>(down[c]);
      col[c * T::CHUNK + step + 4 * lanecol + lanerow] += down[c][0];
    }
  }
#pragma unroll
  for (int c = 0; c <= DIM; c++) {
    Share<R, 4>(across[c]);
    Share<(R + 1) / 2, 2>(across[c]);
    Share<(R + 3) / 4, 1>(across[c]);
    if (lanecol % (8 / R) == 0) row[c * T::H + lanecol / (8 / R)] += (double)across[c][0];
  }
}

template <int DIM, class Real, class Stored, bool BOTH>
__global__ void __launch_bounds__(BLOCK, Shape<DIM, Real>::BUSY) Tiles(Job q)
{
  using T             = Shape<DIM, Real>;
  constexpr int     H = T::H, CHUNK = T::CHUNK, S = 4 * T::R;
  __shared__ double row[(DIM + 1) * H];
  __shared__ Real   col[WARPS][(DIM + 1) * CHUNK];
  const int         warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int         i0 = q.row0 + blockIdx.y * H, i1 = min(i0 + H, q.row1);
  const int         left = q.c0 / 4 * 4 + blockIdx.x * q.width, right = min(left + q.width, BOTH ? min(q.c1, q.bound + i1) : q.c1);

  if (left >= right) return; /* above the diagonal */
  for (int k = threadIdx.x; k < (DIM + 1) * H; k += BLOCK) row[k] = 0;
  __syncthreads();
  for (int j0 = left; j0 < right; j0 += CHUNK) {
    const int j1 = min(j0 + CHUNK, right);

    for (int k = lane; BOTH && k < (DIM + 1) * CHUNK; k += 32) col[warp][k] = 0;
    __syncwarp();
    for (int top = i0 + warp * S; top < i1; top += WARPS * S) {
      const int     i = top + lane / 8 * T::R;
      double *const r = row + (i - i0);

      if (BOTH && j0 >= q.bound + top + S) continue;
      if (top + S <= i1 && j0 >= q.c0 && j0 + CHUNK <= right && (!BOTH || j1 <= q.bound + top)) Sweep<DIM, Real, Stored, BOTH, true>(q, i, j0, j1, r, col[warp]);
      else Sweep<DIM, Real, Stored, BOTH, false>(q, i, j0, j1, r, col[warp]);
    }
    if (!BOTH) continue;
    __syncthreads();
    for (int k = threadIdx.x; k < (DIM + 1) * CHUNK; k += BLOCK) {
      const int j   = j0 + k % CHUNK;
      double    sum = 0;

      for (int w = 0; w < WARPS; w++) sum += (double)col[w][k];
      if (j >= q.c0 && j < j1) q.colpart[((size_t)blockIdx.y * (DIM + 1) + k / CHUNK) * (q.c1 - q.c0) + (j - q.c0)] = sum;
    }
    __syncthreads();
  }
  __syncthreads();
  for (int k = threadIdx.x; k < (DIM + 1) * H; k += BLOCK) {
    if (i0 + k % H < i1) q.rowpart[((size_t)blockIdx.x * (DIM + 1) + k / H) * (q.row1 - q.row0) + (i0 - q.row0 + k % H)] = row[k];
  }
}

/* how wide the slots are into which a range's columns are cut, each a block's for H rows; how many there are */
int Width(const PassRange *g, int dim)
{
  const double pairs = (double)(g->r1 - g->r0) * (g->c1 - g->c0) / (g->kind == PASS_TRIANGLE ? 2 : 1), want = pairs / Height(dim) / 2048; /* four rounds or more of what multiprocessors hold, so that the last one costs little */

  return want >= 2048 ? 2048 : (int)(want / 128 + 1) * 128;
}

int Slots(const PassRange *g, int dim)
{
  const int width = Width(g, dim);

  return (g->c1 - g->c0 / 4 * 4 + width - 1) / width;
}

/* adds the partial sums of a band, in order, to those of its rows and, of both, of its columns; of the triangle these are the same points, one thread has both */
__global__ void __launch_bounds__(BLOCK) Finish(Job q, int dim, int H, double *bx, double *stress)
{
  const int x = blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y, m = q.row1 - q.row0, strips = (m + H - 1) / H, columns = q.both ? min(q.c1, q.bound + q.row1) - q.c0 : 0;
  const int j = q.c0 + x, i = x < columns ? j - q.first : q.row0 + x - columns;

  if (x >= columns + (q.bound == q.first ? 0 : m)) return;
  double *out = (c < dim ? bx + c * q.ldsum : stress) + q.first + i;
  double  sum = *out;

  for (int s = 0; i >= q.row0 && i < q.row1 && s < (q.c1 - q.c0 / 4 * 4 + q.width - 1) / q.width; s++) {
    if (q.both && q.c0 / 4 * 4 + s * q.width >= q.bound + min(q.row0 + ((i - q.row0) / H + 1) * H, q.row1)) break; /* above the diagonal */
    sum += q.rowpart[((size_t)s * (dim + 1) + c) * m + (i - q.row0)];
  }
  for (int s = j - q.bound < q.row0 ? 0 : (j - q.bound - q.row0) / H; x < columns && s < strips; s++) sum += q.colpart[((size_t)s * (dim + 1) + c) * (q.c1 - q.c0) + x];
  *out = sum;
}

/* coordinates as the kernels read them: in double, or in float from the first point on; 0 beyond the last point */
template <class Real>
__global__ void __launch_bounds__(BLOCK) Round(const double *x, int N, size_t pitch, Real *to)
{
  const size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x, c = blockIdx.y;

  if (i < pitch) to[c * pitch + i] = (Real)(i < (size_t)N ? x[c * N + i] - (sizeof(Real) == 4 ? x[c * N] : 0) : 0);
}

struct Memory {
  size_t x, feature, rowpart, colpart, all; /* where they begin; bytes */
};

size_t Pitch(const Pass *p)
{
  return ((size_t)p->N + 63) / 32 * 32; /* a step that begins at the last point stays within */
}

Memory Divide(const Pass *p)
{
  const size_t sums    = sizeof(double) * (size_t)(p->dim + 1);
  size_t       rowpart = 0, colpart = 0;
  Memory       m = {};

  for (int k = 0; k < p->nranges; k++) {
    const PassRange *g = &p->range[k];
    const int        H = Height(p->dim), strips = (g->r1 - g->r0 + H - 1) / H, band = strips < BAND ? strips : BAND;
    const size_t     row = sums * (size_t)Slots(g, p->dim) * (size_t)band * (size_t)H, col = g->kind == PASS_ROWS ? 0 : sums * (size_t)band * (size_t)(g->c1 - g->c0);

    rowpart = row > rowpart ? row : rowpart;
    colpart = col > colpart ? col : colpart;
  }
  m.feature = sizeof(double) * (size_t)p->dim * Pitch(p);
  m.rowpart = m.feature + (p->delta ? 0 : sizeof(float) * (size_t)p->nfeature * Pitch(p));
  m.colpart = m.rowpart + rowpart;
  m.all     = m.colpart + colpart;
  return m;
}

template <int DIM, class Real, class Stored>
GpErr Run(GpDev dev, const Pass *p, const PassWork *w)
{
  const cudaStream_t stream = (cudaStream_t)dev->stream;
  constexpr int      H      = Height(DIM);
  const Memory       m      = Divide(p);
  char *const        memory = (char *)w->memory;
  Real *const        x      = (Real *)(memory + m.x);
  Job                q      = {p->delta, x, p->feature, p->ld, Pitch(p), p->ldsum, (size_t)p->N, p->N, p->rows, p->first, p->nfeature, p->metric};

  q.rowpart = (double *)(memory + m.rowpart);
  q.colpart = (double *)(memory + m.colpart);
  Round<Real><<<dim3((unsigned)((q.pitch + BLOCK - 1) / BLOCK), DIM), BLOCK, 0, stream>>>(p->x, p->N, q.pitch, x);
  if (!p->delta && sizeof(Real) == 4 && p->nfeature) {
    Real *const feature = (Real *)(memory + m.feature);

    Round<Real><<<dim3((unsigned)((q.pitch + BLOCK - 1) / BLOCK), (unsigned)p->nfeature), BLOCK, 0, stream>>>(p->feature, p->N, q.pitch, feature);
    q.feature   = feature;
    q.ldfeature = q.pitch;
  }
  for (int k = 0; k < p->nranges; k++) {
    const PassRange *g = &p->range[k];

    q.c0    = g->c0;
    q.c1    = g->c1;
    q.width = Width(g, DIM);
    q.both  = g->kind != PASS_ROWS;
    q.bound = p->first + (g->kind == PASS_TRIANGLE ? 0 : p->N);
    for (q.row0 = g->r0; q.row0 < g->r1; q.row0 = q.row1) {
      q.row1 = g->r1 - q.row0 < BAND * H ? g->r1 : q.row0 + BAND * H;
      const dim3     grid((unsigned)Slots(g, DIM), (unsigned)((q.row1 - q.row0 + H - 1) / H));
      const unsigned points = (unsigned)(q.both ? q.c1 - q.c0 : 0) + (unsigned)(q.row1 - q.row0);

      if (q.both) Tiles<DIM, Real, Stored, true><<<grid, BLOCK, 0, stream>>>(q);
      else Tiles<DIM, Real, Stored, false><<<grid, BLOCK, 0, stream>>>(q);
      Finish<<<dim3((points + BLOCK - 1) / BLOCK, DIM + 1), BLOCK, 0, stream>>>(q, DIM, H, p->bx, p->stress);
    }
  }
  return PassCheck_CUDA(dev, cudaGetLastError(), "smacof pass");
}

template <int DIM>
GpErr RunAs(GpDev dev, const Pass *p, const PassWork *w)
{
  if (!p->delta) return w->mixed ? Run<DIM, float, Computed>(dev, p, w) : Run<DIM, double, Computed>(dev, p, w);
  if (!p->single) return Run<DIM, double, double>(dev, p, w);
  return w->mixed ? Run<DIM, float, float>(dev, p, w) : Run<DIM, double, float>(dev, p, w);
}
} // namespace

extern "C" size_t PassMemory_CUDA(const Pass *p)
{
  return p->start ? 0 : Divide(p).all;
}

/* the program has a CUDA runtime of its own beside the library's, on the same context */
extern "C" GpErr PassCheck_CUDA(GpDev dev, int code, const char *what)
{
  if (code == cudaSuccess) return GP_SUCCESS;
  snprintf(dev->error, sizeof(dev->error), "%s: %s", what, cudaGetErrorString((cudaError_t)code));
  return GP_ERR_DEVICE;
}

extern "C" GpErr Pass_CUDA(GpDev dev, const Pass *p, const PassWork *w)
{
  static GpErr (*const run[PASS_MAX_DIM])(GpDev, const Pass *, const PassWork *) = {RunAs<1>, RunAs<2>, RunAs<3>, RunAs<4>, RunAs<5>, RunAs<6>, RunAs<7>, RunAs<8>};

  if (p->delta && !p->start && p->ld % 4) {
    snprintf(dev->error, sizeof(dev->error), "smacof pass: the pitch of the rows is no multiple of four");
    return GP_ERR_ARGUMENT;
  }
  if (GpErr err = PassCheck_CUDA(dev, cudaSetDevice(dev->ordinal), "choosing the GPU")) return err;
  if (GpErr err = dev->ops->zero(dev, p->bx, sizeof(double) * p->ldsum * (size_t)p->dim)) return err;
  if (GpErr err = dev->ops->zero(dev, p->stress, sizeof(double) * p->ldsum)) return err;
  if (!p->rows) return GP_SUCCESS;
  return p->start ? PassListed_CUDA(dev, p) : run[p->dim - 1](dev, p, w);
}
