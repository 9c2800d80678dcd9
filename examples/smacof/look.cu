/* Sums and products of the newest configuration, both twins.  Each sum is made of parts, in an order that depends on the number of terms alone. */
#include "look.h"

#if !defined(__CUDACC__)
enum {
  LANES = 8
};

/* sums by lanes: quick, and closer to the true sum than one long chain; b NULL: of a alone */
static inline __attribute__((always_inline)) double Dot(size_t n, const double *a, const double *b)
{
  double lane[LANES] = {0};
  size_t i           = 0;

  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++) lane[l] += b ? a[i + (size_t)l] * b[i + (size_t)l] : a[i + (size_t)l];
  for (; i < n; i++) lane[0] += b ? a[i] * b[i] : a[i];
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) lane[l] += lane[l + half];
  return lane[0];
}

void LookSums_Host(const LookSums *q)
{
  q->sums[0] = q->told[0] = Dot(q->points, q->stress, NULL);
  q->sums[1] = q->told[1] = Dot(q->n, q->x, q->bx);
}

void LookNewest_Host(const LookNewest *q)
{
  const double scale = q->sums ? LookScale(0.5 * q->sums[0] / q->unit, q->sums[1] / q->unit) : 1;

  for (size_t i = 0; i < q->n; i++) {
    q->x[i] = scale * q->X[i];
    q->f[i] = q->gfactor * q->g[i] - q->x[i];
  }
  if (!q->lastx) return;
  for (size_t i = 0; i < q->n; i++) {
    q->dx[i] = q->x[i] - q->lastx[i];
    q->df[i] = q->f[i] - q->lastf[i];
  }
  for (int k = 0; k <= q->before; k++) {
    const double *u = k ? q->u[k - 1] : q->dx, *v = k ? q->v[k - 1] : q->df;

    q->told[3 * k]     = Dot(q->n, q->dx, u);
    q->told[3 * k + 1] = Dot(q->n, q->dx, v) + Dot(q->n, q->df, u);
    q->told[3 * k + 2] = Dot(q->n, q->f, u);
  }
}

#else
  #include "device/gplaunch.h"
  #include "device/gpreduce.h"
  #include "pass.h"

namespace {
constexpr int BLOCK = GP_REDUCE_BLOCK, ABREAST = 4; /* numbers that a thread has under way together: a few thousand threads must fetch what there is */
static_assert(LOOK_PARTS == 32, "a warp adds up the parts");

/* into pinned memory, where the host watches for it */
__device__ void Tell(volatile double *to, double sum)
{
  *to = __double_as_longlong(sum) == LOOK_NOTHING ? __longlong_as_double(LOOK_NOTHING ^ 1) : sum;
}

__global__ void __launch_bounds__(BLOCK) AddUp(const __grid_constant__ LookSums q)
{
  const size_t stride = (size_t)LOOK_PARTS * BLOCK;
  double       sum[2] = {};

  GpNextMayStart();
  GpWait();
  for (size_t first = (size_t)blockIdx.x * BLOCK + threadIdx.x; first < q.n; first += ABREAST * stride) {
    double x[ABREAST], bx[ABREAST], stress[ABREAST];

  #pragma unroll
    for (int k = 0; k < ABREAST; k++) {
      const size_t i = first + k * stride;

      x[k] = i < q.n ? q.x[i] : 0, bx[k] = i < q.n ? q.bx[i] : 0, stress[k] = i < q.points ? q.stress[i] : 0;
    }
  #pragma unroll
    for (int k = 0; k < ABREAST; k++) sum[0] += stress[k], sum[1] += x[k] * bx[k];
  }
  Together<GpReduceSums, 2, BLOCK>(sum);
  if (threadIdx.x) return;
  for (int k = 0; k < 2; k++) {
    q.sums[2 * blockIdx.x + k] = sum[k];
    Tell(q.told + 2 * blockIdx.x + k, sum[k]);
  }
}

/* the best scale of the configuration, to all threads of a block */
__device__ double Scale(const LookNewest &q)
{
  __shared__ double scale;

  if (!q.sums) return 1;
  if (threadIdx.x < 32) {
    double sum[2] = {q.sums[2 * threadIdx.x], q.sums[2 * threadIdx.x + 1]};

    for (int half = 16; half > 0; half /= 2) {
      for (int k = 0; k < 2; k++) sum[k] += __shfl_xor_sync(0xffffffffu, sum[k], half);
    }
    if (!threadIdx.x) scale = LookScale(0.5 * sum[0] / q.unit, sum[1] / q.unit);
  }
  __syncthreads();
  return scale;
}

/* a thread's numbers of the newest iterate and of its differences, computed and kept */
struct Newest {
  double x[ABREAST], f[ABREAST], dx[ABREAST], df[ABREAST];

  __device__ Newest(const LookNewest &q, double scale, size_t first, size_t stride)
  {
  #pragma unroll
    for (int k = 0; k < ABREAST; k++) {
      const size_t i  = first + k * stride;
      const bool   is = i < q.n, any = is && q.lastx;

      x[k] = is ? scale * q.X[i] : 0, f[k] = is ? q.gfactor * q.g[i] - x[k] : 0;
      dx[k] = any ? x[k] - q.lastx[i] : 0, df[k] = any ? f[k] - q.lastf[i] : 0;
    }
  }

  __device__ void Keep(const LookNewest &q, size_t first, size_t stride)
  {
  #pragma unroll
    for (int k = 0; k < ABREAST; k++) {
      const size_t i = first + k * stride;

      if (i >= q.n) break;
      q.x[i] = x[k], q.f[i] = f[k];
      if (q.lastx) q.dx[i] = dx[k], q.df[i] = df[k];
    }
  }
};

__global__ void __launch_bounds__(BLOCK) Meet(const __grid_constant__ LookNewest q)
{
  __shared__ double all[LOOK_ROW];
  const size_t      stride = (size_t)LOOK_PARTS * BLOCK;

  GpNextMayStart();
  GpWait();
  const double scale = Scale(q);

  for (int batch = 0; batch == 0 || batch < LookBatches(q.before); batch++) {
    double sum[LOOK_ROW] = {};

    for (size_t first = (size_t)blockIdx.x * BLOCK + threadIdx.x; first < q.n; first += ABREAST * stride) {
      Newest mine(q, scale, first, stride);

  #pragma unroll
      for (int p = 0; p < LOOK_BATCH; p++) {
        const int  pair = batch * LOOK_BATCH + p; /* 0: the newest itself */
        const bool is   = pair && pair <= q.before;

  #pragma unroll
        for (int k = 0; k < ABREAST; k++) {
          const size_t i = first + k * stride;
          const double u = !pair ? mine.dx[k] : is && i < q.n ? q.u[pair - 1][i] : 0, v = !pair ? mine.df[k] : is && i < q.n ? q.v[pair - 1][i] : 0;

          sum[3 * p] += mine.dx[k] * u;
          sum[3 * p + 1] += mine.dx[k] * v + mine.df[k] * u;
          sum[3 * p + 2] += mine.f[k] * u;
        }
      }
      if (!batch) mine.Keep(q, first, stride);
    }
    if (!q.lastx) return;
    Together<GpReduceSums, LOOK_ROW, BLOCK>(sum);
    if (!threadIdx.x) {
  #pragma unroll
      for (int k = 0; k < LOOK_ROW; k++) all[k] = sum[k];
    }
    __syncthreads();
    if (threadIdx.x < LOOK_ROW) Tell(q.told + (batch * LOOK_PARTS + blockIdx.x) * LOOK_ROW + threadIdx.x, all[threadIdx.x]);
  }
}

template <class Look>
GpErr Launch(GpDev dev, void (*kernel)(Look), const Look *q, const char *what)
{
  if (GpErr err = PassCheck_CUDA(dev, cudaSetDevice(dev->ordinal), "choosing the GPU")) return err;
  GpLaunchNext(dev, kernel, LOOK_PARTS, BLOCK, 0, *q);
  return PassCheck_CUDA(dev, cudaGetLastError(), what);
}
} // namespace

extern "C" GpErr LookSums_CUDA(GpDev dev, const LookSums *q)
{
  return Launch(dev, AddUp, q, "smacof sums");
}

extern "C" GpErr LookNewest_CUDA(GpDev dev, const LookNewest *q)
{
  return Launch(dev, Meet, q, "smacof differences");
}
#endif
