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
#include "passsweep.h"

namespace {
template <int DIM, class Real, class Stored, bool BOTH>
__global__ void __launch_bounds__(BLOCK, SMACOFShape<DIM, Real>::BUSY) SMACOFProcessRun(const __grid_constant__ SMACOFJob q)
{
  using T      = SMACOFShape<DIM, Real>;
  using Layout = SMACOFShared<DIM, Real, Stored, BOTH>;
  using Warps  = Real(*)[(DIM + 1) * T::CHUNK];
  extern __shared__ __align__(16) char shared[];
  double *const                        row = (double *)shared;
  SMACOFPrefetch<T, Stored, BOTH>      prefetch(shared + Layout::ROW + blockDim.x / 32 * Layout::COL, SMACOFPlace<Stored>{});
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

/* Launches the kernel of the runs and the kernel that adds their partial sums. */
template <int DIM, class Real, class Stored, bool BOTH>
GpErr SMACOFLaunchRuns(GpDev dev, const SMACOFPass *p, const SMACOFJob &q)
{
  using Layout = SMACOFShared<DIM, Real, Stored, BOTH>;
  int warps;

  if (GpErr err = SMACOFPrepareKernel<Layout>(dev, SMACOFProcessRun<DIM, Real, Stored, BOTH>, &warps)) return err;
  if (GpErr err = GpLaunchEarly(dev, "smacof pass", SMACOFProcessRun<DIM, Real, Stored, BOTH>, GpGrid{(unsigned)SMACOFCountRuns(&q.runs), 32u * (unsigned)warps, Layout::All(warps)}, q)) return err;
  return SMACOFLaunchSums<DIM>(dev, p, q);
}

template <int DIM, class Real, class Stored>
GpErr SMACOFRunPass(GpDev dev, const SMACOFPass *p, const SMACOFPassWork *w)
{
  using T              = SMACOFShape<DIM, Real>;
  const SMACOFMemory m = SMACOFDivideMemory(dev, p);
  SMACOFJob          q = SMACOFCreateJob(p, &m, w->memory);

  if (!p->delta && p->nfeature) {
    Real *const feature = (Real *)((char *)w->memory + m.feature);

    if (GpErr err = GpLaunchEarly(dev, "smacof pass", SMACOFConvertCoordinates<Real>, GpGrid{(unsigned)((q.pitch + PASS_CONVERT_THREADS - 1) / PASS_CONVERT_THREADS * p->nfeature), PASS_CONVERT_THREADS}, SMACOFPassForm{}, p->feature, p->N,
                                  p->nfeature, q.pitch, feature, (double *)nullptr, (double *)nullptr, (size_t)0))
      return err;
    q.feature   = feature;
    q.ldfeature = q.pitch;
  }
  if (GpErr err = SMACOFPrepareCoordinates<DIM, Real>(dev, p, q)) return err;
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
  if (GpErr err = SMACOFBeginListed_CUDA(dev, p)) return err;
  return p->rows ? SMACOFRunPassListed_CUDA(dev, p) : GP_SUCCESS;
}

/* Evaluates the linear combination and sets the sums of a pass to zero. */
extern "C" GpErr SMACOFBeginListed_CUDA(GpDev dev, const SMACOFPass *p)
{
  if (p->form.n) {
    const size_t n = (size_t)p->N * (size_t)p->dim;

    if (GpErr err = GpLaunchEarly(dev, "smacof coordinates", SMACOFCombineTerms, GpGrid{GpBlocks((int64_t)n, PASS_CONVERT_THREADS), PASS_CONVERT_THREADS}, p->form, n)) return err;
  }
  if (GpErr err = GpDevZero(dev, p->bx, sizeof(double) * p->ldsum * (size_t)p->dim)) return err;
  return GpDevZero(dev, p->stress, sizeof(double) * p->ldsum);
}
