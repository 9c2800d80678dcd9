/* The kernels of pagerankstep.h, host and CUDA implementations.

   The step kernel does all of a power iteration except the product: it computes the residual and its 1-norm, and writes the input of the next
   product, which holds the next ranks. It leaves the current ranks unchanged. If their residual stops the iteration, these are the ranks that are
   returned.

   The sweep kernel overwrites the ranks of its rows, so that the products of later blocks use the new ranks. If the state demands the residual
   (look), it changes no rank. */
#include "pagerankstep.h"

#include <math.h>

/* The rank x, given z. */
GP_STEP_DEVICE double StepGetRank(double z, double out)
{
  return out > 0 ? z * out : z;
}

/* z, the input of the product, given the rank x. */
GP_STEP_DEVICE double StepScaleRank(double x, double out)
{
  return out > 0 ? x / out : x;
}

/* Entry i of P x, given y = A D^-1 x. lost: total rank of the dangling nodes. */
GP_STEP_DEVICE double StepPullEntry(const StepOperator *G, double lost, int32_t i, double out, double y, double x)
{
  if (G->dangling == STEP_MOVES) return y + lost * (G->u ? G->u[i] : G->everywhere);
  return G->dangling == STEP_STAYS && !(out > 0) ? y + x : y;
}

/* Entry i of the residual G x - x. x holds the ranks times level. */
GP_STEP_DEVICE double StepComputeResidual(const StepOperator *G, double lost, double level, int32_t i, double out, double y, double x)
{
  return G->damping * StepPullEntry(G, lost, i, out, y, x) + (1 - G->damping) * level * (G->v ? G->v[i] : G->everywhere) - x;
}

/* One row of a sweep: returns the new z and adds the contributions of the row to the sums. */
GP_STEP_DEVICE double StepSweepRow(const StepOperator *G, const StepState *s, int32_t i, double out, double inverse, double y, double z, double sum[STEP_SUMS])
{
  const double x = StepGetRank(z, out), r = StepComputeResidual(G, s->lost, s->level, i, out, y, x), change = r * inverse;

  if (s->look) {
    sum[STEP_MOVED] += fabs(r);
    return z;
  }
  sum[STEP_MOVED] += fabs(change);
  sum[STEP_TOTAL] += x + change;
  if (!(out > 0)) sum[STEP_LOST] += x + change;
  return StepScaleRank(x + change, out);
}

/* Updates the state after a power iteration. */
GP_STEP_DEVICE void StepAfterIteration(StepState *s, double norm, double lost)
{
  s->norm = norm;
  s->products++;
  if (!(norm > s->target)) s->status = STEP_SMALL; /* this form of the comparison is true for NaN too */
  else if (s->it >= s->max_it) s->status = STEP_MAX_IT;
  else {
    s->it++;
    s->lost = lost;
  }
}

#if !defined(__CUDACC__)
enum {
  PART = 1024 /* rows of a partial sum */
};

static GpErr StepStart_Host(GpDev dev, const StepOperator *G, StepState begin, StepState *s, double *partial, const double *x, double *z)
{
  double lost = 0;

  (void)dev;
  (void)partial;
  for (int32_t i = 0; i < G->n; i++) {
    z[i] = StepScaleRank(x[i], G->out[i]);
    if (!(G->out[i] > 0)) lost += x[i];
  }
  *s      = begin;
  s->lost = lost;
  return GP_SUCCESS;
}

static GpErr StepIterate_Host(GpDev dev, const StepOperator *G, StepState *s, double *partial, const double *y, const double *z, double *next)
{
  double norm = 0, lost = 0;

  (void)dev;
  (void)partial;
  if (s->status) return GP_SUCCESS;
  for (int32_t i = 0; i < G->n; i++) {
    const double out = G->out[i], x = StepGetRank(z[i], out), r = StepComputeResidual(G, s->lost, 1, i, out, y[i], x);

    norm += fabs(r);
    next[i] = StepScaleRank(x + r, out);
    if (!(out > 0)) lost += x + r;
  }
  StepAfterIteration(s, norm, lost);
  return GP_SUCCESS;
}

static GpErr StepSweep_Host(GpDev dev, const StepOperator *G, StepState *s, double *partial, const double *y, double *z, StepRows rows)
{
  const int32_t end = rows.first + rows.n;

  (void)dev;
  (void)partial;
  if (s->status) return GP_SUCCESS;
  for (int32_t part = rows.first; part < end; part += PART) { /* partial sums keep the rounding error of the sum over many rows small */
    double sum[STEP_SUMS] = {0};

    for (int32_t i = part; i < end && i < part + PART; i++) z[i] = StepSweepRow(G, s, i, G->out[i], G->inverse ? G->inverse[i] : 1, y[i - rows.first], z[i], sum);
    for (int k = 0; k < STEP_SUMS; k++) s->gathered[k] += sum[k];
  }
  if (rows.leads) StepAfterSweep(G, s);
  return GP_SUCCESS;
}

static GpErr StepFinish_Host(GpDev dev, const StepOperator *G, const StepState *s, const double *even, const double *odd, double *x)
{
  const double *z = s->it % 2 ? odd : even;

  (void)dev;
  for (int32_t i = 0; s->status && i < G->n; i++) x[i] = StepGetRank(z[i], G->out[i]) / s->level;
  return GP_SUCCESS;
}

const StepKernels StepKernelsHost = {StepStart_Host, StepIterate_Host, StepSweep_Host, StepFinish_Host};

#else
  #include <gpucsrdevice.cuh>

static constexpr int BLOCK = GP_REDUCE_BLOCK;

static constexpr int AHEAD = 4, RESIDENT = 4; /* AHEAD: rows that a thread loads at once. RESIDENT: blocks per multiprocessor. */

__global__ static void __launch_bounds__(BLOCK) StepStartKernel(StepOperator G, StepState begin, StepState *s, double *partial, const double *x, double *z)
{
  double sum[1] = {0};

  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < G.n; i += (int64_t)gridDim.x * BLOCK) {
    const double out = G.out[i], xi = x[i];

    z[i] = StepScaleRank(xi, out);
    if (!(out > 0)) sum[0] += xi;
  }
  if (GpReduceAllBlocks<GpReduceSums, 1>(sum, partial, &s->ticket) && threadIdx.x == 0) {
    *s      = begin;
    s->lost = sum[0];
  }
}

/* The data of AHEAD rows of a thread that do not depend on the product. */
struct StepRowData {
  double z[AHEAD], out[AHEAD], inverse[AHEAD];
};

__device__ static void StepFetchRows(const StepOperator &G, const double *z, int64_t first, int64_t stride, int64_t end, StepRowData *rows)
{
  #pragma unroll
  for (int k = 0; k < AHEAD; k++) {
    const int64_t i = first + k * stride;

    rows->z[k]       = i < end ? z[i] : 0;
    rows->out[k]     = i < end ? G.out[i] : 0;
    rows->inverse[k] = i < end && G.inverse ? G.inverse[i] : 1;
  }
}

/* Calls visit(i, z, out, inverse, y) for rows of the n rows from `begin` on, until the threads of the grid have visited all. Returns false without any
   visit if the iteration has stopped. The kernels that call this function are launched early: before GpWait(), while the product still runs, they load
   data that the product does not write. */
template <class Visit>
__device__ static bool StepVisitRows(const StepOperator &G, int32_t status, const double *y, const double *z, int64_t begin, int64_t n, Visit visit)
{
  const int64_t stride = (int64_t)gridDim.x * BLOCK, end = begin + n;
  int64_t       first = begin + (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  StepRowData   rows;

  StepFetchRows(G, z, first, stride, end, &rows);
  GpWait();
  if (status) return false;
  for (; first < end; first += AHEAD * stride) {
    double yi[AHEAD];

  #pragma unroll
    for (int k = 0; k < AHEAD; k++) yi[k] = first + k * stride < end ? y[first - begin + k * stride] : 0;
  #pragma unroll
    for (int k = 0; k < AHEAD; k++)
      if (first + k * stride < end) visit((int32_t)(first + k * stride), rows.z[k], rows.out[k], rows.inverse[k], yi[k]);
    StepFetchRows(G, z, first + AHEAD * stride, stride, end, &rows);
  }
  return true;
}

__global__ static void __launch_bounds__(BLOCK, RESIDENT) StepIterateKernel(StepOperator G, StepState *s, double *partial, const double *y, const double *z, double *next)
{
  const int32_t status = s->status; /* only the block that finishes last changes the status, after all blocks have read it */
  const double  lost   = s->lost;
  double        sum[2] = {0, 0};

  const bool visited = StepVisitRows(G, status, y, z, 0, G.n, [&](int32_t i, double zi, double out, double, double yi) {
    const double x = StepGetRank(zi, out), r = StepComputeResidual(&G, lost, 1, i, out, yi, x);

    sum[0] += fabs(r);
    next[i] = StepScaleRank(x + r, out);
    if (!(out > 0)) sum[1] += x + r;
  });
  if (visited && GpReduceAllBlocks<GpReduceSums, 2>(sum, partial, &s->ticket) && threadIdx.x == 0) {
    StepAfterIteration(s, sum[0], sum[1]);
    if (s->status) GpLoopEnd(s->turn);
  }
}

/* Every thread block adds its sums to its own partial sums. The kernel for the last rows of the sweep reduces them over all thread blocks. */
__global__ static void __launch_bounds__(BLOCK, RESIDENT) StepSweepKernel(StepOperator G, StepState *s, double *partial, const double *y, double *z, StepRows at)
{
  const StepState now            = *s;
  double          sum[STEP_SUMS] = {0};

  if (threadIdx.x == 0 && at.first)
    for (int k = 0; k < STEP_SUMS; k++) sum[k] = partial[(int64_t)k * GP_DEV_PARTS + blockIdx.x];
  const bool visited = StepVisitRows(G, now.status, y, z, at.first, at.n, [&](int32_t i, double zi, double out, double inverse, double yi) {
    const double next = StepSweepRow(&G, &now, i, out, inverse, yi, zi, sum);

    if (!now.look) z[i] = next;
  });
  if (!visited) return;
  if (!at.last) GpReduceToPart<GpReduceSums, STEP_SUMS>(sum, partial);
  else if (GpReduceAllBlocks<GpReduceSums, STEP_SUMS>(sum, partial, &s->ticket) && threadIdx.x == 0) {
    for (int k = 0; k < STEP_SUMS; k++) s->gathered[k] = sum[k];
    if (at.leads) StepAfterSweep(&G, s);
    if (s->status) GpLoopEnd(s->turn);
  }
}

__global__ static void __launch_bounds__(BLOCK) StepFinishKernel(StepOperator G, const StepState *s, const double *even, const double *odd, double *x)
{
  const double *z = s->it % 2 ? odd : even;

  if (!s->status) return;
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < G.n; i += (int64_t)gridDim.x * BLOCK) x[i] = StepGetRank(z[i], G.out[i]) / s->level;
}

/* Number of thread blocks: at most as many as can be resident at once, so that all of them are resident when the product ends. */
static unsigned StepGetGrid(GpDev dev, int64_t n)
{
  const unsigned most = RESIDENT * (unsigned)GpDevComputeUnits(dev), want = GpReduceGrid(dev, n);

  return want < most ? want : most;
}

static GpErr StepStart_CUDA(GpDev dev, const StepOperator *G, StepState begin, StepState *s, double *partial, const double *x, double *z)
{
  return GpLaunch(dev, "kernel Start of pagerank", StepStartKernel, GpGrid{GpReduceGrid(dev, G->n), BLOCK}, *G, begin, s, partial, x, z);
}

static GpErr StepIterate_CUDA(GpDev dev, const StepOperator *G, StepState *s, double *partial, const double *y, const double *z, double *next)
{
  return GpLaunchEarlyStep(dev, "kernel Step of pagerank", StepIterateKernel, GpGrid{StepGetGrid(dev, G->n), BLOCK}, *G, s, partial, y, z, next);
}

static GpErr StepSweep_CUDA(GpDev dev, const StepOperator *G, StepState *s, double *partial, const double *y, double *z, StepRows rows)
{
  return GpLaunchEarlyStep(dev, "kernel Sweep of pagerank", StepSweepKernel, GpGrid{StepGetGrid(dev, rows.most), BLOCK}, *G, s, partial, y, z, rows);
}

static GpErr StepFinish_CUDA(GpDev dev, const StepOperator *G, const StepState *s, const double *even, const double *odd, double *x)
{
  return GpLaunch(dev, "kernel Finish of pagerank", StepFinishKernel, GpGrid{GpReduceGrid(dev, G->n), BLOCK}, *G, s, even, odd, x);
}

extern "C" const StepKernels StepKernelsCUDA = {StepStart_CUDA, StepIterate_CUDA, StepSweep_CUDA, StepFinish_CUDA};
#endif
