/* One power iteration beside its product, in one kernel: the residual and its norm, the next ranks, what A multiplies next.  The ranks
   whose residual it is stay where they are, so that those are what is left when the norm stops the iteration. */
#include "step.h"

#include <math.h>

#if defined(__CUDACC__)
  #define DEVICE __device__ static inline
#else
  #define DEVICE static inline
#endif

/* P x, given y = A D^-1 x */
DEVICE double Pulled(const StepOperator *G, double lost, int32_t i, double scale, double y, double x)
{
  if (G->dangling == STEP_MOVES) return y + lost * (G->u ? G->u[i] : G->everywhere);
  return G->dangling == STEP_STAYS && scale == 0 ? y + x : y;
}

DEVICE double Residual(const StepOperator *G, double lost, int32_t i, double scale, double y, double x)
{
  return G->damping * Pulled(G, lost, i, scale, y, x) + (1 - G->damping) * (G->v ? G->v[i] : G->everywhere) - x;
}

DEVICE void AfterStep(StepState *s, double norm, double lost)
{
  s->norm = norm;
  if (!(norm > s->target)) s->status = STEP_SMALL; /* a NaN ends here too */
  else if (s->it >= s->max_it) s->status = STEP_MAX_IT;
  else {
    s->it++;
    s->lost = lost;
  }
}

#if !defined(__CUDACC__)
static GpErr Start_Host(GpDev dev, const StepOperator *G, StepState *s, double *partial, const double *ranks, double *x, double *z)
{
  double lost = 0;

  (void)dev;
  (void)partial;
  for (int32_t i = 0; i < G->n; i++) {
    x[i] = ranks[i];
    z[i] = G->scale[i] * x[i];
    if (G->scale[i] == 0) lost += x[i];
  }
  s->lost = lost;
  return GP_SUCCESS;
}

static GpErr Step_Host(GpDev dev, const StepOperator *G, StepState *s, double *partial, const double *y, const double *x, double *next, double *z)
{
  double norm = 0, lost = 0;

  (void)dev;
  (void)partial;
  if (s->status) return GP_SUCCESS;
  for (int32_t i = 0; i < G->n; i++) {
    const double r = Residual(G, s->lost, i, G->scale[i], y[i], x[i]), xi = x[i] + r;

    norm += fabs(r);
    next[i] = xi;
    z[i]    = G->scale[i] * xi;
    if (G->scale[i] == 0) lost += xi;
  }
  AfterStep(s, norm, lost);
  return GP_SUCCESS;
}

const StepKernels StepKernelsHost = {Start_Host, Step_Host};

#else
  #include "device/gpreduce.h"
  #include <stdio.h>

static constexpr int BLOCK = GP_REDUCE_BLOCK;

__global__ static void __launch_bounds__(BLOCK) Start(StepOperator G, StepState *s, double *partial, const double *ranks, double *x, double *z)
{
  double sum[1] = {0};

  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < G.n; i += (int64_t)gridDim.x * BLOCK) {
    const double scale = G.scale[i], xi = ranks[i];

    x[i] = xi;
    z[i] = scale * xi;
    if (scale == 0) sum[0] += xi;
  }
  if (Everyone<GpReduceSums, 1>(sum, partial, &s->ticket) && threadIdx.x == 0) s->lost = sum[0];
}

constexpr int AHEAD = 4; /* entries of a thread that are on their way at once */

__global__ static void __launch_bounds__(BLOCK) Step(StepOperator G, StepState *s, double *partial, const double *__restrict__ y, const double *__restrict__ x, double *__restrict__ next, double *__restrict__ z)
{
  const int64_t stride = (int64_t)gridDim.x * BLOCK;
  double        sum[2] = {0, 0};

  if (s->status) return; /* no block sees it change: only the last one does that, when all have come */
  const double lost = s->lost;
  for (int64_t first = (int64_t)blockIdx.x * BLOCK + threadIdx.x; first < G.n; first += AHEAD * stride) {
    double yi[AHEAD], xi[AHEAD], scale[AHEAD];

  #pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      const int64_t i = first + k * stride;

      yi[k]    = i < G.n ? y[i] : 0;
      xi[k]    = i < G.n ? x[i] : 0;
      scale[k] = i < G.n ? G.scale[i] : 0;
    }
  #pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      const int64_t i = first + k * stride;

      if (i < G.n) {
        const double r = Residual(&G, lost, (int32_t)i, scale[k], yi[k], xi[k]), stepped = xi[k] + r;

        sum[0] += fabs(r);
        next[i] = stepped;
        z[i]    = scale[k] * stepped;
        if (scale[k] == 0) sum[1] += stepped;
      }
    }
  }
  if (Everyone<GpReduceSums, 2>(sum, partial, &s->ticket) && threadIdx.x == 0) AfterStep(s, sum[0], sum[1]);
}

static GpErr Launched(GpDev dev, const char *kernel)
{
  const cudaError_t code = cudaGetLastError();

  if (code == cudaSuccess) return GP_SUCCESS;
  (void)snprintf(dev->error, sizeof(dev->error), "%s: %s", kernel, cudaGetErrorString(code));
  return GP_ERR_DEVICE;
}

static GpErr Start_CUDA(GpDev dev, const StepOperator *G, StepState *s, double *partial, const double *ranks, double *x, double *z)
{
  Start<<<GpReduceGrid(dev, G->n), BLOCK, 0, (cudaStream_t)dev->stream>>>(*G, s, partial, ranks, x, z);
  return Launched(dev, "start of power iterations");
}

static GpErr Step_CUDA(GpDev dev, const StepOperator *G, StepState *s, double *partial, const double *y, const double *x, double *next, double *z)
{
  Step<<<GpReduceGrid(dev, G->n), BLOCK, 0, (cudaStream_t)dev->stream>>>(*G, s, partial, y, x, next, z);
  return Launched(dev, "power iteration");
}

extern "C" const StepKernels StepKernelsCUDA = {Start_CUDA, Step_CUDA};
#endif
