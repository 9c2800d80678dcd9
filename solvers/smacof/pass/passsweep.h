/* Device code that the passes over stored rows and over tiles share: it computes the sums of a chunk of columns and adds partial sums.  pass_cuda.cu
   describes the distribution of the work. */
#ifndef GPUCSR_SMACOF_PASSSWEEP_H
#define GPUCSR_SMACOF_PASSSWEEP_H

#include "passprefetch.h"
#include "passconvert.h"
#include "passreduce.h"
#include <gpucsrdevice.cuh>
#include <algorithm>

namespace {
constexpr int WARPS = 8, FEW = 2; /* WARPS: warps of a thread block.  FEW: the minimum, on a GPU with little shared memory.  Both are powers of two */
constexpr int BLOCK   = 32 * WARPS;
constexpr int H       = PASS_HEIGHT;
constexpr int BUSIEST = 2;  /* maximum of Shape::BUSY over all shapes */
constexpr int PARTS   = 16; /* warps of SMACOFAddPartialSums(), which add the partial sums in parallel; larger than the number of sums */

/* parameters for a dimension and an arithmetic, tuned on an H200: R and CHUNK are as large as registers and shared memory allow */
template <int DIM, class Real>
struct SMACOFShape {
  static constexpr bool MIXED  = sizeof(Real) == 4;
  static constexpr int  R      = MIXED ? (DIM <= 3 ? 8 : DIM <= 6 ? 4 : 2) : DIM <= 2 ? 4 : 2; /* rows of a lane */
  static constexpr int  CHUNK  = MIXED || DIM <= 5 ? 128 : 64;
  static constexpr int  STAGES = 2;                         /* steps in the ring buffer: one in use, the others being copied */
  static constexpr int  BUSY   = MIXED || DIM <= 5 ? 2 : 1; /* resident thread blocks of a multiprocessor */
};

/* parameters of the kernels of a pass */
struct SMACOFJob {
  const void *delta, *x, *feature; /* x: Real [DIM][pitch], feature: Real [nfeature][ldfeature] */
  size_t      ld, pitch, ldsum, ldfeature;
  int         N, rows, first, nfeature, metric;
  double     *rowpart, *colpart;
  SMACOFRuns  runs;
};

/* Processes a warp's rows and a chunk of columns j0 to j1 - 1.  The strip has the rows i0 to i1 - 1; each lane has R rows from i on.
   INSIDE: every entry belongs to the range, so no entry is tested.
   The kernels of rows and of tiles must give the same bits. They call fma(), because the compiler contracts a product that is used twice in one kernel and not in the other. */
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
          square        = fma(difference[c], difference[c], square);
        }
        const Real inverse = SMACOFInverseSqrt(square);
        const bool counts  = INSIDE || (i + r < i1 && j + k >= g.c0 && j + k < j1 && (!BOTH || j + k < g.bound + i + r));
        const Real ratio = counts ? delta[r][k] * inverse : 0, error = counts ? fma(-square, inverse, delta[r][k]) : 0;

#pragma unroll
        for (int c = 0; c < DIM; c++) {
          across[c][r] = fma(ratio, difference[c], across[c][r]);
          if (BOTH) down[c][k] = fma(-ratio, difference[c], down[c][k]);
        }
        across[DIM][r] = fma(error, error, across[DIM][r]);
        if (BOTH) down[DIM][k] = fma(error, error, down[DIM][k]);
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

/* Shared memory of a thread block: the row sums of a strip; for each warp the column sums of a chunk and the ring buffer of dissimilarities. */
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

/* Adds the partial sums of rows and columns to the sums of the points, in a fixed order.  A thread block has 32 points, one for each lane.  Each of its
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
  m.rowpart = m.feature + (p->delta || p->as_stored ? 0 : sizeof(double) * (size_t)p->nfeature * SMACOFGetPitch(p));
  m.colpart = m.rowpart + rowpart;
  m.all     = m.colpart + colpart;
  return m;
}

/* Returns the number of warps of a thread block, as limited by the shared memory that a thread block may have; 0 if not even FEW warps fit. */
template <class Layout>
int SMACOFCountWarps(GpDev dev)
{
  int warps = WARPS;

  while (warps > FEW && Layout::All(warps) > GpDevSharedBytes(dev)) warps /= 2;
  return Layout::All(warps) > GpDevSharedBytes(dev) ? 0 : warps;
}

/* Sets the amount of shared memory of a kernel that processes chunks, and the number of warps of its thread blocks. */
template <class Layout, class... Parameters>
GpErr SMACOFPrepareKernel(GpDev dev, void (*kernel)(Parameters...), int *warps)
{
  *warps = SMACOFCountWarps<Layout>(dev);
  if (!*warps) return GpDevFail(dev, GP_ERR_ARGUMENT, "smacof pass: a block needs %zu bytes of shared memory, but this GPU allows %zu; use -smacof_vec_type seq", Layout::All(FEW), GpDevSharedBytes(dev));
  return GpCheckCuda(dev, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)Layout::All(*warps)), "shared memory of the smacof pass");
}

/* Returns the kernel parameters of a pass.  The converted coordinates and the partial sums are in `workspace`. */
inline SMACOFJob SMACOFCreateJob(const SMACOFPass *p, const SMACOFMemory *m, void *workspace)
{
  char *const memory = (char *)workspace;
  SMACOFJob   q      = {p->delta, memory + m->x, p->feature, p->ld, SMACOFGetPitch(p), p->ldsum, (size_t)p->N, p->N, p->rows, p->first, p->nfeature, p->metric};

  q.rowpart = (double *)(memory + m->rowpart);
  q.colpart = (double *)(memory + m->colpart);
  return q;
}

/* Converts the coordinates, evaluating their linear combination first, and sets the sums of the pass to zero. */
template <int DIM, class Real>
GpErr SMACOFPrepareCoordinates(GpDev dev, const SMACOFPass *p, const SMACOFJob &q)
{
  return GpLaunchEarly(dev, "smacof pass", SMACOFConvertCoordinates<Real>, GpGrid{(unsigned)((std::max(q.pitch, q.ldsum) + PASS_CONVERT_THREADS - 1) / PASS_CONVERT_THREADS * (DIM + 1)), PASS_CONVERT_THREADS}, p->form, p->x, p->N, DIM, q.pitch,
                       (Real *)q.x, p->bx, p->stress, q.ldsum);
}

/* Launches the kernel that adds the partial sums of the runs. */
template <int DIM>
GpErr SMACOFLaunchSums(GpDev dev, const SMACOFPass *p, const SMACOFJob &q)
{
  return GpLaunchEarly(dev, "smacof pass", SMACOFAddPartialSums<DIM>, GpGrid{(unsigned)((q.runs.point1 - q.runs.point0 + 31) / 32), 32 * PARTS}, q, p->bx, p->stress);
}
} // namespace

#endif
