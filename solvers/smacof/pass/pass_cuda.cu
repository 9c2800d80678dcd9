/* The pass over the dissimilarities, CUDA implementation.

   Work distribution.  A block processes a run: consecutive columns of strips of H rows (passruns.h), chunk after chunk.  In a chunk, a warp
   processes 4 R rows at a time and 32 columns in each step.  Eight lanes share a row, with four columns each (one load of 16 bytes), and four
   lanes share a column.  A lane holds R x 4 entries, which are copied to shared memory one step ahead (passprefetch.h).

   Reductions.  Row sums stay in registers for a chunk, column sums for a step.  Both are then reduced over lanes: each lane gives away half
   of its sums in each exchange, so a sum costs about one exchange.  Each sum in shared memory is updated by one lane, each partial sum in
   device memory is written by one block, and a second kernel adds the partial sums in order.  There are no atomics.  The result has the same
   bits for the same shape, arithmetic, number of multiprocessors and size of shared memory.

   Instructions for an entry in dimension d:
     differences d, square d, 1/sqrt 1, ratio, error and its square 3, row sums d; column sums d + 1, if the entry counts for its column too.
   An H200 issues 132 x 128 float or 132 x 64 double instructions in a cycle: 33e12 and 17e12 in a second at 1.98 GHz.  At its copy rate of
   4.2e12 bytes/s, memory delivers 1.05e12 float or 0.53e12 double entries in a second.
     double, d = 2: 11 + 5 for 1/sqrt + 3 = 19 instructions, at most 0.9e12 entries/s, more than memory delivers in double.
     mixed, d = 2: 13 + 5 for exchanges, copies and loads = 18 instructions as compiled, at most 1.8e12 entries/s.
   Dissimilarities in float are therefore processed in float, with these precautions ("mixed" arithmetic):
     - The first point is subtracted from the coordinates before they are rounded to float.  This displaces points by at most 2^-24 of the extent
       of the map.  Differences of nearby floats are exact.  Near a minimum, a displacement by b of the extent changes the stress by b^2.
     - The other operations are products, quotients and one square root of positive numbers.  The ratio and the distance of an entry have
       relative errors of 2^-21; the dissimilarity itself was rounded to 2^-24.
     - At most 128 entries are added in float, for row and column sums; all other additions are in double.
   Relative errors b of the distances change the normalised stress by 2 b <delta - d, d> / <delta, delta>.  An error common to all pairs
   vanishes at the best scale of the map.  Independent errors of M pairs leave b sqrt(stress / M), 1e-11 for 4096 points.  Stress-1 has an
   error of at most b = 5e-7 even for a perfect fit; the tolerance is 1e-5.  Points closer than 2^-24 of the extent of the map coincide in
   float and contribute nothing.  Below 4096 points double arithmetic is used, since a pass is short (passdevice.c).

   Memory traffic.  Reading each pair once moves half the bytes with 1.2 times as many instructions for an entry, and is faster.  Partial sums of
   columns add 16 (d + 1) / H bytes to each entry, 0.1 of 4 bytes for d = 2; those of rows are negligible.  For d = 2, eight warps have a step
   of 4 kB each in flight, and the two blocks of a multiprocessor 64 kB, twice what a latency of one microsecond requires.  A block of
   eight warps needs up to 107 kB of shared memory.  If the GPU offers less, a block has four or two warps. */
#include "passprefetch.h"
#include "passconvert.h"
#include "passreduce.h"
#include <gpucsrdevice.cuh>
#include <algorithm>

namespace {
constexpr int WARPS = 8, FEW = 2; /* warps of a block; minimum on a GPU with little shared memory.  Powers of two */
constexpr int BLOCK   = 32 * WARPS;
constexpr int H       = 512; /* rows of a strip */
constexpr int BUSIEST = 2;   /* maximum of Shape::BUSY over all shapes */
constexpr int PARTS   = 16;  /* warps of SMACOFAddPartialSums(), which add the partial sums in parallel; larger than the number of sums */

/* parameters for a dimension and an arithmetic, tuned on an H200: R and CHUNK are as large as registers and shared memory allow */
template <int DIM, class Real>
struct SMACOFShape {
  static constexpr bool MIXED  = sizeof(Real) == 4;
  static constexpr int  R      = MIXED ? (DIM <= 3 ? 8 : DIM <= 6 ? 4 : 2) : DIM <= 2 ? 4 : 2; /* rows of a lane */
  static constexpr int  CHUNK  = MIXED || DIM <= 5 ? 128 : 64;
  static constexpr int  STAGES = 2;                         /* steps in the ring buffer: in flight and in use */
  static constexpr int  BUSY   = MIXED || DIM <= 5 ? 2 : 1; /* blocks of a multiprocessor */
};

struct SMACOFJob {
  const void *delta, *x, *feature; /* x: Real [DIM][pitch], feature: Real [nfeature][ldfeature] */
  size_t      ld, pitch, ldsum, ldfeature;
  int         N, rows, first, nfeature, metric;
  double     *rowpart, *colpart;
  SMACOFRuns  runs;
};

/* Processes a warp's rows and a chunk of columns j0 to j1 - 1.  The strip has the rows i0 to i1 - 1; each lane has R rows from i on.
   INSIDE: all these entries count, so that no tests are needed. */
template <int DIM, class Real, class Stored, bool BOTH, bool INSIDE>
__device__ __forceinline__ void SMACOFSweepRows(const SMACOFJob &q, const SMACOFPart &g, SMACOFPrefetch<SMACOFShape<DIM, Real>, Stored, BOTH> &prefetch, int i0, int i1, int i, int j0, int j1, double *row, Real *col)
{
  using T               = SMACOFShape<DIM, Real>;
  constexpr int R       = T::R;
  const Real   *x       = (const Real *)q.x;
  const int     lanecol = threadIdx.x % 8, lanerow = threadIdx.x % 32 / 8;
  Real          xi[R][DIM], across[DIM + 1][R]     = {};

#pragma unroll
  for (int r = 0; r < R; r++) {
#pragma unroll
    for (int c = 0; c < DIM; c++) xi[r][c] = x[c * q.pitch + q.first + min(i + r, i1 - 1)];
  }
#pragma unroll 1
  for (int step = 0; step < T::CHUNK && j0 + step < j1; step += PASS_UNIT) {
    const int j = j0 + step + 4 * lanecol;
    Real      delta[R][4], xj[DIM][4], down[DIM + 1][4] = {};

    prefetch.Get(q, i0, i, j, delta);
#pragma unroll
    for (int c = 0; c < DIM; c++) SMACOFLoad<false>(x + c * q.pitch + j, xj[c]);
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int k = 0; k < 4; k++) {
        Real difference[DIM], square = SMACOFTiny<Real>;

#pragma unroll
        for (int c = 0; c < DIM; c++) {
          difference[c] = xi[r][c] - xj[c][k];
          square += difference[c] * difference[c];
        }
        const Real inverse = SMACOFInverseSqrt(square);
        const bool counts  = INSIDE || (i + r < i1 && j + k >= g.c0 && j + k < j1 && (!BOTH || j + k < g.bound + i + r));
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
      SMACOFReduceLanes<4, 16>(down[c]);
      SMACOFReduceLanes<2, 8>(down[c]);
      col[c * T::CHUNK + step + 4 * lanecol + lanerow] += down[c][0];
    }
  }
#pragma unroll
  for (int c = 0; c <= DIM; c++) {
    SMACOFReduceLanes<R, 4>(across[c]);
    SMACOFReduceLanes<(R + 1) / 2, 2>(across[c]);
    SMACOFReduceLanes<(R + 3) / 4, 1>(across[c]);
    if (lanecol % (8 / R) == 0) row[c * H + lanecol / (8 / R)] += (double)across[c][0];
  }
}

/* Shared memory of a block: the row sums of a strip; for each warp the column sums of a chunk and the ring buffer of dissimilarities. */
template <int DIM, class Real, class Stored, bool BOTH>
struct SMACOFShared {
  using T                     = SMACOFShape<DIM, Real>;
  static constexpr size_t ROW = sizeof(double) * (DIM + 1) * H, COL = sizeof(Real) * (DIM + 1) * T::CHUNK, RING = SMACOFPrefetch<T, Stored, BOTH>::BYTES;

  static __host__ __device__ size_t All(int warps) { return ROW + (size_t)warps * (COL + RING); }
};

/* Processes the columns left to right - 1 of a strip, and writes their partial column sums. */
template <int DIM, class Real, class Stored, bool BOTH>
__device__ void SMACOFSweepColumns(const SMACOFJob &q, const SMACOFPart &g, SMACOFPrefetch<SMACOFShape<DIM, Real>, Stored, BOTH> &prefetch, int i0, int i1, int left, int right, double *row, Real (*col)[(DIM + 1) * SMACOFShape<DIM, Real>::CHUNK],
                                   double *sums, int pitch)
{
  using T             = SMACOFShape<DIM, Real>;
  constexpr int CHUNK = T::CHUNK, S = 4 * T::R;
  const int     warps = (int)blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  for (int j0 = left; j0 < right; j0 += CHUNK) {
    const int j1 = min(j0 + CHUNK, right);

    for (int k = lane; BOTH && k < (DIM + 1) * CHUNK; k += 32) col[warp][k] = 0;
    __syncwarp();
    for (int top = SMACOFGetFirstRows<T, BOTH>(g.bound, i0, j0); top < i1; top += warps * S) {
      const int     i = top + lane / 8 * T::R;
      double *const r = row + (i - i0);

      if (top + S <= i1 && j0 >= g.c0 && (j1 - j0) % PASS_UNIT == 0 && (!BOTH || j1 <= g.bound + top)) SMACOFSweepRows<DIM, Real, Stored, BOTH, true>(q, g, prefetch, i0, i1, i, j0, j1, r, col[warp]);
      else SMACOFSweepRows<DIM, Real, Stored, BOTH, false>(q, g, prefetch, i0, i1, i, j0, j1, r, col[warp]);
    }
    if (!BOTH) continue;
    __syncthreads();
    for (int k = threadIdx.x; k < (DIM + 1) * CHUNK; k += blockDim.x) {
      const int j   = j0 + k % CHUNK;
      double    sum = 0;

#pragma unroll WARPS
      for (int w = 0; w < warps; w++) sum += (double)col[w][k];
      if (j < j1) sums[(size_t)(k / CHUNK) * pitch + (j - left)] = sum;
    }
    __syncthreads();
  }
}

template <int DIM, class Real, class Stored, bool BOTH>
__global__ void __launch_bounds__(BLOCK, SMACOFShape<DIM, Real>::BUSY) SMACOFProcessRun(const __grid_constant__ SMACOFJob q)
{
  using T      = SMACOFShape<DIM, Real>;
  using Layout = SMACOFShared<DIM, Real, Stored, BOTH>;
  using Warps  = Real(*)[(DIM + 1) * T::CHUNK];
  extern __shared__ __align__(16) char shared[];
  double *const                        row = (double *)shared;
  SMACOFPrefetch<T, Stored, BOTH>      prefetch(shared + Layout::ROW + blockDim.x / 32 * Layout::COL);
  const SMACOFRuns                    &s    = q.runs;
  const int                            end  = SMACOFGetRunBegin(&s, blockIdx.x + 1);
  int                                  unit = SMACOFGetRunBegin(&s, blockIdx.x);

  GpNextMayStart();
  for (int strip = SMACOFFindStrip(&s, unit), before = unit; unit < end; strip++) {
    const SMACOFPart g     = *SMACOFFindPart(&s, strip);
    const int        until = min(end, s.unit[strip + 1]), i0 = SMACOFGetStripTop(&s, &g, strip), i1 = SMACOFGetStripBottom(&s, &g, strip);
    const int        left = g.left + PASS_UNIT * (unit - s.unit[strip]), right = min(left + PASS_UNIT * (until - unit), SMACOFGetStripRight(&s, &g, strip));
    double *const    sums = q.colpart + SMACOFGetColumnSums(&s, DIM + 1, strip) + (left - g.left);

    prefetch.Begin(q, i0, i1, left, right, g.bound);
    for (int k = threadIdx.x; k < (DIM + 1) * H; k += blockDim.x) row[k] = 0;
    if (unit == before) GpWait(); /* the coordinates come from the preceding kernel; the dissimilarities do not change */
    __syncthreads();
    SMACOFSweepColumns<DIM, Real, Stored, BOTH>(q, g, prefetch, i0, i1, left, right, row, (Warps)(shared + Layout::ROW), sums, PASS_UNIT * (s.unit[strip + 1] - s.unit[strip]));
    __syncthreads();
    for (int k = threadIdx.x; k < (DIM + 1) * H; k += blockDim.x) q.rowpart[SMACOFGetRowSums(&s, DIM + 1, blockIdx.x, strip) + k] = row[k];
    unit = until;
  }
}

/* Adds the partial sums of rows and columns to the sums of the points, in a fixed order.  A block has 32 points, one for each lane.  Each of its
   PARTS warps adds every PARTS-th partial sum; then the warps' results are added. */
template <int DIM>
__global__ void __launch_bounds__(32 * PARTS) SMACOFAddPartialSums(const __grid_constant__ SMACOFJob q, double *bx, double *stress)
{
  __shared__ double part[DIM + 1][PARTS][32];
  const SMACOFRuns &s    = q.runs;
  const int         lane = threadIdx.x % 32, mine = threadIdx.x / 32, j = s.point0 + blockIdx.x * 32 + lane, i = j - q.first;
  bool              any          = false;
  double            sum[DIM + 1] = {};

  GpNextMayStart();
  GpWait();
  for (int k = 0; k < s.parts; k++) {
    const SMACOFPart &g = s.part[k];

    if (i >= g.row0 && i < g.row1) {
      const int strip = g.strip + (i - g.row0) / s.height, last = SMACOFFindRun(&s, s.unit[strip + 1] - 1);

      any = true;
#pragma unroll 4
      for (int run = SMACOFFindRun(&s, s.unit[strip]) + mine; run <= last; run += PARTS) {
        const double *from = q.rowpart + SMACOFGetRowSums(&s, DIM + 1, run, strip) + (i - g.row0) % s.height;

#pragma unroll
        for (int c = 0; c <= DIM; c++) sum[c] += from[c * s.height];
      }
    }
    if (s.both && j >= g.c0 && j < SMACOFGetPartRight(&g)) {
      any = true;
#pragma unroll 4
      for (int strip = g.strip + max(0, j - g.bound - g.row0) / s.height + mine; strip < SMACOFGetPartEnd(&s, &g); strip += PARTS) {
        const double *from = q.colpart + SMACOFGetColumnSums(&s, DIM + 1, strip) + (j - g.left);

#pragma unroll
        for (int c = 0; c <= DIM; c++) sum[c] += from[(size_t)c * PASS_UNIT * (size_t)(s.unit[strip + 1] - s.unit[strip])];
      }
    }
  }
#pragma unroll
  for (int c = 0; c <= DIM; c++) part[c][mine][lane] = sum[c];
  __syncthreads();
  if (mine > DIM || !any) return;
  double *const out = (mine < DIM ? bx + mine * q.ldsum : stress) + j;
  double        all = *out;

  for (int k = 0; k < PARTS; k++) all += part[mine][k][lane];
  *out = all;
}

struct SMACOFMemory {
  size_t x, feature, rowpart, colpart; /* offsets in bytes */
  size_t all;                          /* total size in bytes */
};

size_t SMACOFGetPitch(const SMACOFPass *p)
{
  return ((size_t)p->N + 63) / 32 * 32; /* a step that begins at the last point does not exceed the pitch */
}

SMACOFMemory SMACOFDivideMemory(GpDev dev, const SMACOFPass *p)
{
  const int    sums    = p->dim + 1;
  size_t       rowpart = 0, colpart = 0;
  SMACOFMemory m = {};

  for (int busy = 1; busy <= BUSIEST; busy++) {
    for (SMACOFRuns s = {}; SMACOFRunsSetNext(&s, p, H, GpDevComputeUnits(dev) * busy);) {
      rowpart = std::max(rowpart, sizeof(double) * SMACOFCountRowSums(&s, sums));
      if (s.both) colpart = std::max(colpart, sizeof(double) * SMACOFGetColumnSums(&s, sums, s.strips));
    }
  }
  m.feature = sizeof(double) * (size_t)p->dim * SMACOFGetPitch(p);
  m.rowpart = m.feature + (p->delta ? 0 : sizeof(double) * (size_t)p->nfeature * SMACOFGetPitch(p));
  m.colpart = m.rowpart + rowpart;
  m.all     = m.colpart + colpart;
  return m;
}

/* Launches the kernel of the runs and the kernel that adds their partial sums. */
template <int DIM, class Real, class Stored, bool BOTH>
GpErr SMACOFLaunchRuns(GpDev dev, const SMACOFPass *p, const SMACOFJob &q)
{
  using Layout = SMACOFShared<DIM, Real, Stored, BOTH>;
  int warps    = WARPS;

  while (warps > FEW && Layout::All(warps) > GpDevSharedBytes(dev)) warps /= 2;
  const size_t shared = Layout::All(warps);

  if (shared > GpDevSharedBytes(dev)) return GpDevFail(dev, GP_ERR_ARGUMENT, "smacof pass: a block needs %zu bytes of shared memory, but this GPU allows %zu; use -smacof_vec_type seq", shared, GpDevSharedBytes(dev));
  if (GpErr err = GpCheckCuda(dev, cudaFuncSetAttribute(SMACOFProcessRun<DIM, Real, Stored, BOTH>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared), "shared memory of the smacof pass")) return err;
  if (GpErr err = GpLaunchEarly(dev, "smacof pass", SMACOFProcessRun<DIM, Real, Stored, BOTH>, GpGrid{(unsigned)SMACOFCountRuns(&q.runs), 32u * (unsigned)warps, shared}, q)) return err;
  return GpLaunchEarly(dev, "smacof pass", SMACOFAddPartialSums<DIM>, GpGrid{(unsigned)((q.runs.point1 - q.runs.point0 + 31) / 32), 32 * PARTS}, q, p->bx, p->stress);
}

template <int DIM, class Real, class Stored>
GpErr SMACOFRunPass(GpDev dev, const SMACOFPass *p, const SMACOFPassWork *w)
{
  using T                   = SMACOFShape<DIM, Real>;
  const SMACOFMemory m      = SMACOFDivideMemory(dev, p);
  char *const        memory = (char *)w->memory;
  Real *const        x      = (Real *)(memory + m.x);
  SMACOFJob          q      = {p->delta, x, p->feature, p->ld, SMACOFGetPitch(p), p->ldsum, (size_t)p->N, p->N, p->rows, p->first, p->nfeature, p->metric};

  q.rowpart = (double *)(memory + m.rowpart);
  q.colpart = (double *)(memory + m.colpart);
  if (!p->delta && p->nfeature) {
    Real *const feature = (Real *)(memory + m.feature);

    if (GpErr err = GpLaunchEarly(dev, "smacof pass", SMACOFConvertCoordinates<Real>, GpGrid{(unsigned)((q.pitch + PASS_CONVERT_THREADS - 1) / PASS_CONVERT_THREADS * p->nfeature), PASS_CONVERT_THREADS}, SMACOFPassForm{}, p->feature, p->N,
                                  p->nfeature, q.pitch, feature, (double *)nullptr, (double *)nullptr, (size_t)0))
      return err;
    q.feature   = feature;
    q.ldfeature = q.pitch;
  }
  if (GpErr err = GpLaunchEarly(dev, "smacof pass", SMACOFConvertCoordinates<Real>, GpGrid{(unsigned)((std::max(q.pitch, q.ldsum) + PASS_CONVERT_THREADS - 1) / PASS_CONVERT_THREADS * (DIM + 1)), PASS_CONVERT_THREADS}, p->form, p->x, p->N, DIM,
                                q.pitch, x, p->bx, p->stress, q.ldsum))
    return err;
  while (SMACOFRunsSetNext(&q.runs, p, H, GpDevComputeUnits(dev) * T::BUSY)) {
    if (GpErr err = q.runs.both ? SMACOFLaunchRuns<DIM, Real, Stored, true>(dev, p, q) : SMACOFLaunchRuns<DIM, Real, Stored, false>(dev, p, q)) return err;
  }
  return GP_SUCCESS;
}

template <int DIM>
GpErr SMACOFRunPassAs(GpDev dev, const SMACOFPass *p, const SMACOFPassWork *w)
{
  if (!p->delta) return w->mixed ? SMACOFRunPass<DIM, float, SMACOFComputed>(dev, p, w) : SMACOFRunPass<DIM, double, SMACOFComputed>(dev, p, w);
  if (!p->single) return SMACOFRunPass<DIM, double, double>(dev, p, w);
  return w->mixed ? SMACOFRunPass<DIM, float, float>(dev, p, w) : SMACOFRunPass<DIM, double, float>(dev, p, w);
}
} // namespace

extern "C" size_t SMACOFGetPassMemory_CUDA(GpDev dev, const SMACOFPass *p)
{
  return p->start ? 0 : SMACOFDivideMemory(dev, p).all;
}

extern "C" GpErr SMACOFRunPass_CUDA(GpDev dev, const SMACOFPass *p, const SMACOFPassWork *w)
{
  static GpErr (*const run[PASS_MAX_DIM])(GpDev, const SMACOFPass *, const SMACOFPassWork *) = {SMACOFRunPassAs<1>, SMACOFRunPassAs<2>, SMACOFRunPassAs<3>, SMACOFRunPassAs<4>,
                                                                                                SMACOFRunPassAs<5>, SMACOFRunPassAs<6>, SMACOFRunPassAs<7>, SMACOFRunPassAs<8>};

  if (p->delta && !p->start && p->ld % 4) return GpDevFail(dev, GP_ERR_ARGUMENT, "smacof pass: the pitch of the rows is not a multiple of four");
  if (p->rows && !p->start) return run[p->dim - 1](dev, p, w);
  if (p->form.n) {
    const size_t n = (size_t)p->N * (size_t)p->dim;

    if (GpErr err = GpLaunchEarly(dev, "smacof coordinates", SMACOFCombineTerms, GpGrid{GpBlocks((int64_t)n, PASS_CONVERT_THREADS), PASS_CONVERT_THREADS}, p->form, n)) return err;
  }
  if (GpErr err = GpDevZero(dev, p->bx, sizeof(double) * p->ldsum * (size_t)p->dim)) return err;
  if (GpErr err = GpDevZero(dev, p->stress, sizeof(double) * p->ldsum)) return err;
  return p->rows ? SMACOFRunPassListed_CUDA(dev, p) : GP_SUCCESS;
}
