/* The vector work of restarted GMRES with classical Gram-Schmidt orthogonalisation. The vectors u of the basis are not normalised; v = scale u are the normalised ones. All inner products of an iteration are one reduction. */
#include "vec/kernels/gpkrylovstep.h"

/* Applies the rotations to the new column h[0..k] and its last entry `norm`, and computes the next rotation and the norm of the residual, as KSPGMRES does. */
GP_INLINE void GpGmresFinishColumn(GpKrylovState *s, int32_t k, double *h, double norm, double *cosine, double *sine, double *residual, double *scale)
{
  double bound = fabs(norm / residual[k]), length;
  int    happy;

  if (!isfinite(norm)) {
    s->status = GP_KRYLOV_NAN;
    return;
  }
  if (bound > s->happy) bound = s->happy;
  happy = norm < bound;
  for (int32_t j = 0; j < k; j++) {
    const double t = h[j];

    h[j]     = cosine[j] * t + sine[j] * h[j + 1];
    h[j + 1] = cosine[j] * h[j + 1] - sine[j] * t;
  }
  s->it++;
  s->columns   = k + 1;
  scale[k + 1] = 1 / norm;
  length       = sqrt(h[k] * h[k] + norm * norm);
  if (happy) s->dp = 0;
  else if (length == 0) {
    s->columns = 0;
    s->status  = GP_KRYLOV_BREAKDOWN;
    GpKrylovStoreNorm(s);
    return;
  } else {
    cosine[k]       = h[k] / length;
    sine[k]         = norm / length;
    residual[k + 1] = -sine[k] * residual[k];
    residual[k]     = cosine[k] * residual[k];
    h[k]            = cosine[k] * h[k] + sine[k] * norm;
    s->dp           = fabs(residual[k + 1]);
  }
  GpKrylovStoreNorm(s);
  if (GpKrylovIsLast(s) || (s->norm != GP_KRYLOV_NORM_NONE && s->dp <= s->early)) s->status = GP_KRYLOV_NORM;
  else if (happy) s->status = GP_KRYLOV_HAPPY;
  else if (s->it >= s->max_it) s->status = GP_KRYLOV_MAX_IT;
}

/* Solves the triangular system for the coefficients of the columns. Sets `singular` to 1 if a diagonal entry is zero. each: number of the calling thread; count: number of threads; sync: statement that synchronises them. */
#define GP_GMRES_SOLVE(w, ncols, each, count, sync) \
  for (int32_t j = (each); j < (ncols); j += (count)) (w).y[j] = (w).residual[j]; \
  for (int32_t k = (ncols)-1; k >= 0; k--) { \
    const double *column = (w).columns + (int64_t)k * (w).restart, diagonal = column[k]; \
\
    sync; \
    if (diagonal == 0) singular = 1; \
    if ((each) == 0) (w).y[k] /= diagonal; \
    sync; \
    for (int32_t j = (each); j < k; j += (count)) (w).y[j] -= column[j] * (w).y[k]; \
  } \
  sync; \
  for (int32_t j = (each); j < (ncols); j += (count)) (w).y[j] *= (w).scale[j]

typedef struct {
  GpKrylovState *state;
  int            always;
  GpGmresWork    work;
  GpGmresStage   stage;
  const double  *r;
  double        *u;
} GpGmresBegin;

GP_INLINE void GpGmresBeginBegin(GpGmresBegin *a)
{
  (void)a;
}

GP_INLINE void GpGmresBeginEntry(GpGmresBegin *a, int64_t i, double *sum)
{
  const double r = a->r[i];

  a->u[i] = r;
  sum[0] += r * r;
}

/* Begins a cycle. As KSPGMRES, the method stops if the residual is far from the one of the recursion, unless that is expected because the matrix of the recursion is rounded. */
GP_INLINE void GpGmresBeginFinish(GpGmresBegin *a, const double *sum)
{
  GpKrylovState *s    = a->state;
  const double   norm = sqrt(sum[0]), before = s->dp;

  if (a->stage == GP_GMRES_REPLACED && !GpKrylovMayReplace(s)) return;
  s->columns          = 0;
  a->work.scale[0]    = 1 / norm;
  a->work.residual[0] = norm;
  s->deviation        = a->stage == GP_GMRES_STARTS ? 0 : fabs(norm - before);
  s->drift            = a->stage == GP_GMRES_STARTS ? 0 : s->deviation / s->cycle;
  s->size             = norm;
  if (a->stage == GP_GMRES_STARTS) {
    s->it     = 0;
    s->status = GP_KRYLOV_RUNNING;
  }
  if (!isfinite(norm)) {
    s->dp     = norm;
    s->status = GP_KRYLOV_NAN;
    return;
  }
  if (a->stage == GP_GMRES_RESTARTS && !s->refines && s->deviation > s->far * s->cycle) {
    s->status = GP_KRYLOV_BREAKDOWN;
    return;
  }
  s->dp    = norm;
  s->cycle = norm;
  if (s->refines) s->early = norm * (s->drift > 0 ? fmax(10 * s->drift, 1e-7) : 1e-5);
  if (a->stage == GP_GMRES_REPLACED) GpKrylovFinishReplace(s);
  else if (a->stage == GP_GMRES_RESTARTS) {
    s->replaced = s->it;
    GpKrylovStoreNorm(s);
    if (GpKrylovIsLast(s)) s->status = GP_KRYLOV_NORM;
  }
}

GP_KRYLOV_STEP(GpGmresBegin, 1, FORWARD)

static GpErr GP_IMPL(GpGmresBegin)(GpDev dev, int32_t n, GpKrylovState *s, const GpGmresWork *w, double *partial, GpGmresStage stage, const double *r, double *u)
{
  const GpGmresBegin a = {s, stage != GP_GMRES_RESTARTS, *w, stage, r, u};

  return GpGmresBegin_Launch(dev, n, a, partial);
}

#if !defined(__CUDACC__)
static GpErr GpGmresOrthogonalise_Host(GpDev dev, int32_t n, GpKrylovState *s, const GpGmresWork *w, double *partial, int32_t k, const double *d, const double *basis, const double *x)
{
  (void)dev;
  (void)partial;
  if (s->status) return GP_SUCCESS;
  for (int32_t j = 0; j <= k; j++) {
    const double *u   = basis + (int64_t)j * n;
    double        sum = 0;

    for (int32_t i = 0; i < n; i++) sum += (d ? d[i] * x[i] : x[i]) * u[i];
    w->h[j] = w->scale[j] * w->scale[k] * sum;
  }
  return GP_SUCCESS;
}

static GpErr GpGmresUpdate_Host(GpDev dev, int32_t n, GpKrylovState *s, const GpGmresWork *w, double *partial, int32_t k, const double *d, double *basis, const double *x)
{
  double *next = basis + (int64_t)(k + 1) * n, *column = w->columns + (int64_t)k * w->restart, sum = 0;

  (void)dev;
  (void)partial;
  if (s->status) return GP_SUCCESS;
  for (int32_t i = 0; i < n; i++) next[i] = w->scale[k] * (d ? d[i] * x[i] : x[i]);
  for (int32_t j = 0; j <= k; j++) {
    const double *u = basis + (int64_t)j * n, c = w->h[j] * w->scale[j];

    for (int32_t i = 0; i < n; i++) next[i] -= c * u[i];
  }
  for (int32_t i = 0; i < n; i++) sum += next[i] * next[i];
  GpGmresFinishColumn(s, k, w->h, sqrt(sum), w->cosine, w->sine, w->residual, w->scale);
  for (int32_t j = 0; j <= k; j++) column[j] = w->h[j];
  return GP_SUCCESS;
}

static GpErr GpGmresCorrect_Host(GpDev dev, int32_t n, GpKrylovState *s, const GpGmresWork *w, int always, const double *basis, double *x)
{
  int singular = 0;

  (void)dev;
  if ((s->status && !always) || !s->columns) return GP_SUCCESS;
  GP_GMRES_SOLVE(*w, s->columns, 0, 1, );
  if (singular) {
    s->columns = 0;
    s->status  = GP_KRYLOV_BREAKDOWN;
  }
  for (int32_t j = 0; j < s->columns; j++) {
    const double *u = basis + (int64_t)j * n, c = w->y[j];

    for (int32_t i = 0; i < n; i++) x[i] += c * u[i];
  }
  return GP_SUCCESS;
}

const GpGmresKernels GpGmresKernels_Host = {GpGmresBegin_Host, GpGmresOrthogonalise_Host, GpGmresUpdate_Host, GpGmresCorrect_Host};

#else
static constexpr int WARPS = BLOCK / 32; /* warps of a block */

/* A block works on tiles of BLOCK * EACH entries. For long vectors EACH is large, so that each thread has several loads in flight. For short vectors it is small, so that all multiprocessors have blocks. */
static int GpGmresEach(GpDev dev, int32_t n)
{
  const int64_t threads = 4 * (int64_t)GpDevComputeUnits(dev) * BLOCK;

  return n <= threads ? 1 : n <= 2 * threads ? 2 : 8;
}

/* Number of blocks of the kernels that read the basis. It depends only on n and on the GPU. */
static unsigned GpGmresGrid(GpDev dev, int32_t n, int each)
{
  const int64_t most = 4 * (int64_t)GpDevComputeUnits(dev) < GP_DEV_PARTS ? 4 * (int64_t)GpDevComputeUnits(dev) : GP_DEV_PARTS, want = GpBlocks(n, BLOCK * each);

  return (unsigned)(want < 1 ? 1 : want < most ? want : most);
}

__device__ static inline double GpGmresAddWarp(double x)
{
  for (int half = 16; half > 0; half /= 2) x += __shfl_down_sync(0xffffffffu, x, half);
  return x;
}

/* h[j] = v_j'A v_k. A thread keeps its entries of x in registers while it reads the vectors of the basis one after the other. */
template <int EACH>
__global__ static void __launch_bounds__(BLOCK) GpGmresOrthogonaliseKernel(int32_t n, GpKrylovState *s, GpGmresWork w, double *partial, int32_t k, const double *d, const double *basis, const double *x)
{
  constexpr int            TILE = BLOCK * EACH;
  extern __shared__ double sums[]; /* [WARPS][k + 1] */
  __shared__ bool          last;
  const int64_t            tiles = ((int64_t)n + TILE - 1) / TILE;
  const int                lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  for (int i = threadIdx.x; i < WARPS * (k + 1); i += BLOCK) sums[i] = 0;
  GpNextMayStart();
  GpWait();
  if (s->status) return;
  __syncthreads();
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) { /* backward (gpkrylovstep.h explains the order) */
    const int64_t tile = (tiles - 1 - t) * TILE;
    double        mine[EACH];

  #pragma unroll
    for (int e = 0; e < EACH; e++) {
      const int64_t i = tile + e * BLOCK + threadIdx.x;

      mine[e] = i < n ? (d ? d[i] * x[i] : x[i]) : 0;
    }
  #pragma unroll 2
    for (int32_t j = 0; j <= k; j++) {
      const double *u   = basis + (int64_t)j * n;
      double        sum = 0;

  #pragma unroll
      for (int e = 0; e < EACH; e++) {
        const int64_t i = tile + e * BLOCK + threadIdx.x;

        if (i < n) sum += mine[e] * u[i];
      }
      sum = GpGmresAddWarp(sum);
      if (lane == 0) sums[warp * (k + 1) + j] += sum;
    }
  }
  __syncthreads();
  for (int32_t j = threadIdx.x; j <= k; j += BLOCK) {
    double sum = 0;

    for (int v = 0; v < WARPS; v++) sum += sums[v * (k + 1) + j];
    partial[(int64_t)j * GP_DEV_PARTS + blockIdx.x] = sum;
  }
  __threadfence(); /* the partial sums must be visible before the ticket */
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(&s->ticket, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (int32_t j = warp; j <= k; j += WARPS) {
    double sum = 0;

    for (unsigned b = lane; b < gridDim.x; b += 32) sum += __ldcg(partial + (int64_t)j * GP_DEV_PARTS + b);
    sum = GpGmresAddWarp(sum);
    if (lane == 0) w.h[j] = w.scale[j] * w.scale[k] * sum;
  }
  if (threadIdx.x == 0) s->ticket = 0;
}

/* u_(k + 1) = A v_k - sum of h[j] v_j */
template <int EACH>
__global__ static void __launch_bounds__(BLOCK) GpGmresUpdateKernel(int32_t n, GpKrylovState *s, GpGmresWork w, double *partial, int32_t k, const double *d, double *basis, const double *x)
{
  constexpr int            TILE = BLOCK * EACH;
  extern __shared__ double shared[]; /* [4 (k + 1) + 1]. c and h use the same memory, one after the other. */
  double                  *next = basis + (int64_t)(k + 1) * n, *c = shared, *h = shared, *cosine = shared + k + 1, *sine = shared + 2 * (k + 1), *residual = shared + 3 * (k + 1) /* [k + 2] */;
  double                   sum[1] = {0};

  GpNextMayStart();
  GpWait();
  if (s->status) return;
  for (int32_t j = threadIdx.x; j <= k; j += BLOCK) c[j] = w.h[j] * w.scale[j];
  __syncthreads();
  const double scale = w.scale[k];
  for (int64_t tile = (int64_t)blockIdx.x * TILE; tile < n; tile += (int64_t)gridDim.x * TILE) {
    double mine[EACH];

  #pragma unroll
    for (int e = 0; e < EACH; e++) {
      const int64_t i = tile + e * BLOCK + threadIdx.x;

      mine[e] = i < n ? scale * (d ? d[i] * x[i] : x[i]) : 0;
    }
  #pragma unroll 2
    for (int32_t j = 0; j <= k; j++) {
      const double *u  = basis + (int64_t)j * n;
      const double  cj = c[j];

  #pragma unroll
      for (int e = 0; e < EACH; e++) {
        const int64_t i = tile + e * BLOCK + threadIdx.x;

        if (i < n) mine[e] -= cj * u[i];
      }
    }
  #pragma unroll
    for (int e = 0; e < EACH; e++) {
      const int64_t i = tile + e * BLOCK + threadIdx.x;

      if (i < n) next[i] = mine[e];
      sum[0] += mine[e] * mine[e];
    }
  }
  if (!GpReduceAllBlocks<GpReduceSums, 1>(sum, partial, &s->ticket)) return;
  __syncthreads();
  for (int32_t j = threadIdx.x; j <= k; j += BLOCK) {
    h[j]        = w.h[j];
    cosine[j]   = j < k ? w.cosine[j] : 0;
    sine[j]     = j < k ? w.sine[j] : 0;
    residual[j] = w.residual[j];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    GpGmresFinishColumn(s, k, h, sqrt(sum[0]), cosine, sine, residual, w.scale);
    w.cosine[k]       = cosine[k];
    w.sine[k]         = sine[k];
    w.residual[k]     = residual[k];
    w.residual[k + 1] = residual[k + 1];
  }
  __syncthreads();
  for (int32_t j = threadIdx.x; j <= k; j += BLOCK) w.columns[(int64_t)k * w.restart + j] = h[j];
}

/* Computes the coefficients of the correction, in one block. */
__global__ static void __launch_bounds__(BLOCK) GpGmresSolveKernel(GpKrylovState *s, GpGmresWork w, int always)
{
  int     singular = 0;
  int32_t columns;

  GpNextMayStart();
  GpWait();
  if (s->status && !always) return;
  columns = s->columns;
  GP_GMRES_SOLVE(w, columns, (int32_t)threadIdx.x, BLOCK, __syncthreads());
  __syncthreads();
  if (singular && threadIdx.x == 0) {
    s->columns = 0;
    s->status  = GP_KRYLOV_BREAKDOWN;
  }
}

template <int EACH>
__global__ static void __launch_bounds__(BLOCK) GpGmresCorrectKernel(int32_t n, const GpKrylovState *s, GpGmresWork w, int always, const double *basis, double *x)
{
  constexpr int TILE = BLOCK * EACH;
  GpNextMayStart();
  GpWait();
  if (s->status && !always) return;
  const int32_t columns = s->columns;
  for (int64_t tile = (int64_t)blockIdx.x * TILE; tile < n && columns; tile += (int64_t)gridDim.x * TILE) {
    double mine[EACH];

  #pragma unroll
    for (int e = 0; e < EACH; e++) {
      const int64_t i = tile + e * BLOCK + threadIdx.x;

      mine[e] = i < n ? x[i] : 0;
    }
    for (int32_t j = 0; j < columns; j++) {
      const double *u = basis + (int64_t)j * n, c = w.y[j];

  #pragma unroll
      for (int e = 0; e < EACH; e++) {
        const int64_t i = tile + e * BLOCK + threadIdx.x;

        if (i < n) mine[e] += c * u[i];
      }
    }
  #pragma unroll
    for (int e = 0; e < EACH; e++) {
      const int64_t i = tile + e * BLOCK + threadIdx.x;

      if (i < n) x[i] = mine[e];
    }
  }
}

static GpErr GpGmresOrthogonalise_CUDA(GpDev dev, int32_t n, GpKrylovState *s, const GpGmresWork *w, double *partial, int32_t k, const double *d, const double *basis, const double *x)
{
  const int each = GpGmresEach(dev, n);

  return GpLaunchEarly(dev, "GMRES orthogonalisation",
                       each == 1   ? GpGmresOrthogonaliseKernel<1>
                       : each == 2 ? GpGmresOrthogonaliseKernel<2>
                                   : GpGmresOrthogonaliseKernel<8>,
                       GpGrid{GpGmresGrid(dev, n, each), BLOCK, WARPS * (size_t)(k + 1) * sizeof(double)}, n, s, *w, partial, k, d, basis, x);
}

static GpErr GpGmresUpdate_CUDA(GpDev dev, int32_t n, GpKrylovState *s, const GpGmresWork *w, double *partial, int32_t k, const double *d, double *basis, const double *x)
{
  const int each = GpGmresEach(dev, n);

  return GpLaunchEarly(dev, "GMRES update",
                       each == 1   ? GpGmresUpdateKernel<1>
                       : each == 2 ? GpGmresUpdateKernel<2>
                                   : GpGmresUpdateKernel<8>,
                       GpGrid{GpGmresGrid(dev, n, each), BLOCK, (4 * (size_t)(k + 1) + 1) * sizeof(double)}, n, s, *w, partial, k, d, basis, x);
}

static GpErr GpGmresCorrect_CUDA(GpDev dev, int32_t n, GpKrylovState *s, const GpGmresWork *w, int always, const double *basis, double *x)
{
  const int each = GpGmresEach(dev, n);
  GpErr     err  = GpLaunchEarly(dev, "GMRES solve", GpGmresSolveKernel, GpGrid{1, BLOCK}, s, *w, always);

  if (err) return err;
  return GpLaunchEarly(dev, "GMRES correction", each == 1 ? GpGmresCorrectKernel<1> : each == 2 ? GpGmresCorrectKernel<2> : GpGmresCorrectKernel<8>, GpGrid{GpGmresGrid(dev, n, each), BLOCK}, n, (const GpKrylovState *)s, *w, always, basis, x);
}

extern "C" const GpGmresKernels GpGmresKernels_CUDA = {GpGmresBegin_CUDA, GpGmresOrthogonalise_CUDA, GpGmresUpdate_CUDA, GpGmresCorrect_CUDA};
#endif
