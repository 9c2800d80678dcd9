/* The vector work of Lanczos steps. All scalars stay on the device: the block of a reduction that finishes last adds the partial sums in block order and computes the scalars that depend on them. */
#include "pc/aggregation/gpagg.h"
#include "pc/aggregation/aggstep.h"

#include <math.h>

/* A number from -1 to 1 that depends on the position only. */
GP_INLINE double GpLanczosStartValue(int64_t i)
{
  return (double)(GpAggHash((uint64_t)i) >> 11) * 0x1p-52 - 1;
}

GP_INLINE void GpLanczosFinishStart(GpLanczos *s, double square)
{
  s->norm   = sqrt(square);
  s->scale  = 0;
  s->steps  = 0;
  s->status = GP_LANCZOS_RUNNING;
}

GP_INLINE void GpLanczosFinishProduct(GpLanczos *s, int step, double along, double before)
{
  s->alpha[step] = along;
  s->component   = before;
}

GP_INLINE void GpLanczosFinishStep(GpLanczos *s, int step, double square)
{
  const double alpha = s->alpha[step], beta = sqrt(square);

  s->beta[step] = s->norm = beta;
  s->steps                = step + 1;
  s->scale                = fmax(s->scale, fmax(fabs(alpha), beta));
  if (!isfinite(alpha) || !isfinite(beta)) s->status = GP_LANCZOS_FAILED;
  else if (step && fabs(s->component - s->beta[step - 1]) > 1e-4 * s->scale) s->status = GP_LANCZOS_UNSYMMETRIC;
  else if (beta <= 1e-12 * s->scale) s->status = GP_LANCZOS_DONE;
}

#if !defined(__CUDACC__)
static GpErr GpLanczosStart_Host(const GpLanczosWork *work, double *v)
{
  double square = 0;

  for (int32_t i = 0; i < work->n; i++) {
    v[i] = GpLanczosStartValue(i);
    square += v[i] * v[i];
  }
  GpLanczosFinishStart(work->state, square);
  return GP_SUCCESS;
}

static GpErr GpLanczosScale_Host(const GpLanczosWork *work, double *v, double *scaled)
{
  const double factor = 1 / work->state->norm;

  if (work->state->status) return GP_SUCCESS;
  for (int32_t i = 0; i < work->n; i++) {
    v[i] *= factor;
    scaled[i] = work->root[i] * v[i];
  }
  return GP_SUCCESS;
}

static GpErr GpLanczosProduct_Host(const GpLanczosWork *work, int step, const double *v, const double *before, double *w)
{
  double sum[2] = {0, 0};

  if (work->state->status) return GP_SUCCESS;
  for (int32_t i = 0; i < work->n; i++) {
    w[i] *= work->root[i];
    sum[0] += w[i] * v[i];
    if (step) sum[1] += w[i] * before[i];
  }
  GpLanczosFinishProduct(work->state, step, sum[0], sum[1]);
  return GP_SUCCESS;
}

static GpErr GpLanczosOrthogonalize_Host(const GpLanczosWork *work, int step, const double *v, const double *before, double *w)
{
  double square = 0;

  if (work->state->status) return GP_SUCCESS;
  for (int32_t i = 0; i < work->n; i++) {
    w[i] -= work->state->alpha[step] * v[i];
    if (step) w[i] -= work->state->beta[step - 1] * before[i];
    square += w[i] * w[i];
  }
  GpLanczosFinishStep(work->state, step, square);
  return GP_SUCCESS;
}

const GpLanczosKernels GpLanczosKernels_Host = {GpLanczosStart_Host, GpLanczosScale_Host, GpLanczosProduct_Host, GpLanczosOrthogonalize_Host};

#else
static constexpr int BLOCK = GP_REDUCE_BLOCK;

__global__ static void __launch_bounds__(BLOCK) GpLanczosStartKernel(GpLanczosWork work, double *v)
{
  double sum[1] = {0};

  GpNextMayStart();
  GpWait();
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < work.n; i += (int64_t)gridDim.x * BLOCK) {
    const double vi = GpLanczosStartValue(i);

    v[i] = vi;
    sum[0] += vi * vi;
  }
  if (GpReduceAllBlocks<GpReduceSums, 1>(sum, work.partial, &work.state->ticket) && threadIdx.x == 0) GpLanczosFinishStart(work.state, sum[0]);
}

__global__ static void __launch_bounds__(BLOCK) GpLanczosScaleKernel(GpLanczosWork work, double *v, double *scaled)
{
  GpNextMayStart();
  GpWait();
  if (work.state->status) return;
  const double factor = 1 / work.state->norm;

  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < work.n; i += (int64_t)gridDim.x * BLOCK) {
    const double vi = v[i] * factor;

    v[i]      = vi;
    scaled[i] = work.root[i] * vi;
  }
}

__global__ static void __launch_bounds__(BLOCK) GpLanczosProductKernel(GpLanczosWork work, int step, const double *v, const double *before, double *w)
{
  double sum[2] = {0, 0};

  GpNextMayStart();
  GpWait();
  if (work.state->status) return;
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < work.n; i += (int64_t)gridDim.x * BLOCK) {
    const double wi = w[i] * work.root[i];

    w[i] = wi;
    sum[0] += wi * v[i];
    if (step) sum[1] += wi * before[i];
  }
  if (GpReduceAllBlocks<GpReduceSums, 2>(sum, work.partial, &work.state->ticket) && threadIdx.x == 0) GpLanczosFinishProduct(work.state, step, sum[0], sum[1]);
}

__global__ static void __launch_bounds__(BLOCK) GpLanczosOrthogonalizeKernel(GpLanczosWork work, int step, const double *v, const double *before, double *w)
{
  double sum[1] = {0};

  GpNextMayStart();
  GpWait();
  if (work.state->status) return;
  const double alpha = work.state->alpha[step], beta = step ? work.state->beta[step - 1] : 0;

  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < work.n; i += (int64_t)gridDim.x * BLOCK) {
    double wi = w[i] - alpha * v[i];

    if (step) wi -= beta * before[i];
    w[i] = wi;
    sum[0] += wi * wi;
  }
  if (GpReduceAllBlocks<GpReduceSums, 1>(sum, work.partial, &work.state->ticket) && threadIdx.x == 0) GpLanczosFinishStep(work.state, step, sum[0]);
}

static GpGrid GpLanczosGrid(const GpLanczosWork *work)
{
  return GpGrid{work->n ? GpReduceGrid(work->dev, work->n) : 1, BLOCK};
}

static GpErr GpLanczosStart_CUDA(const GpLanczosWork *work, double *v)
{
  return GpLaunchEarly(work->dev, "starting Lanczos steps", GpLanczosStartKernel, GpLanczosGrid(work), *work, v);
}

static GpErr GpLanczosScale_CUDA(const GpLanczosWork *work, double *v, double *scaled)
{
  return GpLaunchEarly(work->dev, "a Lanczos step", GpLanczosScaleKernel, GpLanczosGrid(work), *work, v, scaled);
}

static GpErr GpLanczosProduct_CUDA(const GpLanczosWork *work, int step, const double *v, const double *before, double *w)
{
  return GpLaunchEarly(work->dev, "a Lanczos step", GpLanczosProductKernel, GpLanczosGrid(work), *work, step, v, before, w);
}

static GpErr GpLanczosOrthogonalize_CUDA(const GpLanczosWork *work, int step, const double *v, const double *before, double *w)
{
  return GpLaunchEarly(work->dev, "a Lanczos step", GpLanczosOrthogonalizeKernel, GpLanczosGrid(work), *work, step, v, before, w);
}

extern const GpLanczosKernels GpLanczosKernels_CUDA = {GpLanczosStart_CUDA, GpLanczosScale_CUDA, GpLanczosProduct_CUDA, GpLanczosOrthogonalize_CUDA};
#endif
