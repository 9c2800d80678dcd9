/* The vector work of one conjugate gradient iteration: direction, curvature, update. The block of a reduction that finishes last adds the partial
   sums in block order and computes the scalars that depend on them, so that they stay on the device. */
#include "vec/kernels/gpcgkernel.h"
#include "device/gpsteps.h"

#include <math.h>

GP_INLINE double GpCgComputeNorm(int32_t norm, double zr, double zz, double rr)
{
  if (norm == GP_CG_NORM_PRECONDITIONED) return sqrt(zz);
  if (norm == GP_CG_NORM_UNPRECONDITIONED) return sqrt(rr);
  return norm == GP_CG_NORM_NATURAL ? sqrt(fabs(zr)) : 0.0;
}

GP_INLINE void GpCgFinishStart(GpCgState *s, double zr, double zz, double rr)
{
  s->beta   = zr;
  s->dp     = GpCgComputeNorm(s->norm, zr, zz, rr);
  s->b      = 0;
  s->dpi    = 0;
  s->it     = 0;
  s->status = zr == 0 ? GP_CG_ZERO_BETA : GP_CG_RUNNING;
}

GP_INLINE void GpCgFinishCurvature(GpCgState *s, double dpi)
{
  const double before = s->dpi;

  s->dpi = dpi;
  s->it++;
  if (dpi == 0 || (s->it > 1 && dpi * before < 0)) s->status = GP_CG_INDEFINITE;
  else s->a = s->beta / dpi;
}

GP_INLINE void GpCgFinishUpdate(GpCgState *s, double zr, double zz, double rr)
{
  const double before = s->beta;

  s->dp   = GpCgComputeNorm(s->norm, zr, zz, rr);
  s->beta = zr;
  s->b    = zr / before;
  if (s->norm != GP_CG_NORM_NONE && !(s->dp > s->small && s->dp < s->large)) s->status = GP_CG_NORM; /* this test is also true for a NaN */
  else if (s->it >= s->max_it) s->status = GP_CG_MAX_IT;
  else if (zr == 0 || zr * before < 0) {
    s->it++; /* KSPCG detects this at the start of the next iteration */
    s->status = zr == 0 ? GP_CG_ZERO_BETA : GP_CG_INDEFINITE_PC;
  }
}

#if !defined(__CUDACC__)
static GpErr GpCgStart_Host(GpDev dev, int32_t n, GpCgState *s, double *partial, const double *d, const double *b, const double *ax, double *r, double *z)
{
  double zr = 0, zz = 0, rr = 0;

  (void)dev;
  for (int32_t i = 0; i < n; i++) {
    r[i] = ax ? b[i] - ax[i] : b[i];
    if (d) z[i] = d[i] * r[i];
    zr += z[i] * r[i];
    zz += z[i] * z[i];
    rr += r[i] * r[i];
  }
  if (partial) GpCgFinishStart(s, zr, zz, rr);
  return GP_SUCCESS;
}

static GpErr GpCgDirection_Host(GpDev dev, int32_t n, const GpCgState *s, const double *z, double *p)
{
  (void)dev;
  if (s->status) return GP_SUCCESS;
  for (int32_t i = 0; i < n; i++) p[i] = s->it ? z[i] + s->b * p[i] : z[i];
  return GP_SUCCESS;
}

static GpErr GpCgCurvature_Host(GpDev dev, int32_t n, GpCgState *s, double *partial, const double *p, const double *w)
{
  double pw = 0;

  (void)dev;
  (void)partial;
  if (s->status) return GP_SUCCESS;
  for (int32_t i = 0; i < n; i++) pw += p[i] * w[i];
  GpCgFinishCurvature(s, pw);
  return GP_SUCCESS;
}

static GpErr GpCgUpdate_Host(GpDev dev, int32_t n, GpCgState *s, double *partial, const double *d, const double *p, const double *w, double *x, double *r, double *z)
{
  double zr = 0, zz = 0, rr = 0;

  (void)dev;
  if (s->status) return GP_SUCCESS;
  for (int32_t i = 0; i < n; i++) {
    x[i] += s->a * p[i];
    r[i] -= s->a * w[i];
    if (d) z[i] = d[i] * r[i];
    zr += z[i] * r[i];
    zz += z[i] * z[i];
    rr += r[i] * r[i];
  }
  if (partial) GpCgFinishUpdate(s, zr, zz, rr);
  return GP_SUCCESS;
}

static GpErr GpCgResidual_Host(GpDev dev, int32_t n, GpCgState *s, double *partial, int starts, const double *r, const double *z)
{
  double zr = 0, zz = 0, rr = 0;

  (void)dev;
  (void)partial;
  if (s->status && !starts) return GP_SUCCESS;
  for (int32_t i = 0; i < n; i++) {
    zr += z[i] * r[i];
    zz += z[i] * z[i];
    rr += r[i] * r[i];
  }
  if (starts) GpCgFinishStart(s, zr, zz, rr);
  else GpCgFinishUpdate(s, zr, zz, rr);
  return GP_SUCCESS;
}

const GpCgKernels GpCgKernels_Host = {GpCgStart_Host, GpCgDirection_Host, GpCgCurvature_Host, GpCgUpdate_Host, GpCgResidual_Host};

#else
  #include "vec/kernels/gpvecreduce.h"

/* Number of blocks: at least one, because the reduction must finish also for an empty vector. */
static unsigned GpCgGrid(GpDev dev, int32_t n)
{
  return n ? GpReduceGrid(dev, n) : 1;
}

__global__ static void __launch_bounds__(BLOCK) GpCgStartKernel(int32_t n, GpCgState *s, double *partial, const double *d, const double *b, const double *ax, double *r, double *z)
{
  double sum[3] = {0, 0, 0};

  GpNextMayStart();
  GpWait();
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * BLOCK) {
    const double ri = ax ? b[i] - ax[i] : b[i], zi = d ? d[i] * ri : ri;

    r[i] = ri;
    if (d) z[i] = zi;
    sum[0] += zi * ri;
    sum[1] += zi * zi;
    sum[2] += ri * ri;
  }
  if (partial && GpReduceAllBlocks<GpReduceSums, 3>(sum, partial, &s->ticket) && threadIdx.x == 0) GpCgFinishStart(s, sum[0], sum[1], sum[2]);
}

__global__ static void __launch_bounds__(BLOCK) GpCgDirectionKernel(int32_t n, const GpCgState *s, const double *z, double *p)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  GpNextMayStart();
  GpWait();
  if (s->status || i >= n) return;
  p[i] = s->it ? z[i] + s->b * p[i] : z[i];
}

__global__ static void __launch_bounds__(BLOCK) GpCgCurvatureKernel(int32_t n, GpCgState *s, double *partial, const double *p, const double *w)
{
  double sum[1] = {0};

  GpNextMayStart();
  GpWait();
  if (s->status) return; /* All blocks read the same status: only the block that finishes last writes it, after all blocks have arrived. */
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * BLOCK) sum[0] += p[i] * w[i];
  if (GpReduceAllBlocks<GpReduceSums, 1>(sum, partial, &s->ticket) && threadIdx.x == 0) GpCgFinishCurvature(s, sum[0]);
}

__global__ static void __launch_bounds__(BLOCK) GpCgUpdateKernel(int32_t n, GpCgState *s, double *partial, const double *d, const double *p, const double *w, double *x, double *r, double *z)
{
  double sum[3] = {0, 0, 0};

  GpNextMayStart();
  GpWait();
  if (s->status) return;
  const double a = s->a;
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * BLOCK) {
    const double ri = r[i] - a * w[i], zi = d ? d[i] * ri : ri;

    x[i] += a * p[i];
    r[i] = ri;
    if (d) z[i] = zi;
    sum[0] += zi * ri;
    sum[1] += zi * zi;
    sum[2] += ri * ri;
  }
  if (partial && GpReduceAllBlocks<GpReduceSums, 3>(sum, partial, &s->ticket) && threadIdx.x == 0) GpCgFinishUpdate(s, sum[0], sum[1], sum[2]);
}

__global__ static void __launch_bounds__(BLOCK) GpCgResidualKernel(int32_t n, GpCgState *s, double *partial, int starts, const double *r, const double *z)
{
  double sum[3] = {0, 0, 0};

  GpNextMayStart();
  GpWait();
  if (s->status && !starts) return;
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * BLOCK) {
    sum[0] += z[i] * r[i];
    sum[1] += z[i] * z[i];
    sum[2] += r[i] * r[i];
  }
  if (!GpReduceAllBlocks<GpReduceSums, 3>(sum, partial, &s->ticket) || threadIdx.x) return;
  if (starts) GpCgFinishStart(s, sum[0], sum[1], sum[2]);
  else GpCgFinishUpdate(s, sum[0], sum[1], sum[2]);
}

static GpErr GpCgStart_CUDA(GpDev dev, int32_t n, GpCgState *s, double *partial, const double *d, const double *b, const double *ax, double *r, double *z)
{
  return GpLaunchEarly(dev, "conjugate gradient start", GpCgStartKernel, GpGrid{GpCgGrid(dev, n), BLOCK}, n, s, partial, d, b, ax, r, z);
}

static GpErr GpCgDirection_CUDA(GpDev dev, int32_t n, const GpCgState *s, const double *z, double *p)
{
  if (!n) return GP_SUCCESS;
  return GpLaunchEarly(dev, "conjugate gradient direction", GpCgDirectionKernel, GpGrid{(unsigned)(((int64_t)n + BLOCK - 1) / BLOCK), BLOCK}, n, s, z, p);
}

static GpErr GpCgCurvature_CUDA(GpDev dev, int32_t n, GpCgState *s, double *partial, const double *p, const double *w)
{
  return GpLaunchEarly(dev, "conjugate gradient curvature", GpCgCurvatureKernel, GpGrid{GpCgGrid(dev, n), BLOCK}, n, s, partial, p, w);
}

static GpErr GpCgUpdate_CUDA(GpDev dev, int32_t n, GpCgState *s, double *partial, const double *d, const double *p, const double *w, double *x, double *r, double *z)
{
  return GpLaunchEarly(dev, "conjugate gradient update", GpCgUpdateKernel, GpGrid{GpCgGrid(dev, n), BLOCK}, n, s, partial, d, p, w, x, r, z);
}

static GpErr GpCgResidual_CUDA(GpDev dev, int32_t n, GpCgState *s, double *partial, int starts, const double *r, const double *z)
{
  return GpLaunchEarly(dev, "conjugate gradient residual", GpCgResidualKernel, GpGrid{GpCgGrid(dev, n), BLOCK}, n, s, partial, starts, r, z);
}

extern "C" const GpCgKernels GpCgKernels_CUDA = {GpCgStart_CUDA, GpCgDirection_CUDA, GpCgCurvature_CUDA, GpCgUpdate_CUDA, GpCgResidual_CUDA};
#endif
