/* The vector work of one conjugate gradient iteration: direction, curvature, update. The block of a reduction that finishes last adds the partial
   sums in block order and computes the scalars that depend on them, so that they stay on the device. */
#include "vec/kernels/gpkrylovstep.h"

GP_INLINE double GpCgComputeNorm(int32_t norm, double zr, double zz, double rr)
{
  if (norm == GP_KRYLOV_NORM_PRECONDITIONED) return sqrt(zz);
  if (norm == GP_KRYLOV_NORM_UNPRECONDITIONED) return sqrt(rr);
  return norm == GP_KRYLOV_NORM_NATURAL ? sqrt(fabs(zr)) : 0.0;
}

GP_INLINE void GpCgFinishStart(GpKrylovState *s, double zr, double zz, double rr)
{
  s->beta    = zr;
  s->slope   = zr;
  s->dp      = GpCgComputeNorm(s->norm, zr, zz, rr);
  s->b       = 0;
  s->dpi     = 0;
  s->it      = 0;
  s->size    = sqrt(rr);
  s->pending = 0;
  s->status  = zr == 0 ? GP_KRYLOV_ZERO_BETA : GP_KRYLOV_RUNNING;
}

GP_INLINE void GpCgFinishCurvature(GpKrylovState *s, double dpi)
{
  const double before = s->dpi;

  s->dpi     = dpi;
  s->pending = 0; /* the direction kernel has updated x */
  s->it++;
  if (dpi == 0 || (s->it > 1 && dpi * before < 0)) s->status = GP_KRYLOV_INDEFINITE;
  else s->a = s->slope / dpi;
}

GP_INLINE void GpCgFinishUpdate(GpKrylovState *s, double zr, double zz, double rr)
{
  const double before = s->beta;

  s->pending = 1;
  s->dp      = GpCgComputeNorm(s->norm, zr, zz, rr);
  s->beta    = zr;
  s->slope   = zr;
  s->b       = zr / before;
  GpKrylovStoreNorm(s);
  if (GpKrylovIsLast(s)) s->status = GP_KRYLOV_NORM;
  else if (s->it >= s->max_it) s->status = GP_KRYLOV_MAX_IT;
  else if (zr == 0 || zr * before < 0) {
    s->it++; /* KSPCG detects this at the start of the next iteration */
    s->status = zr == 0 ? GP_KRYLOV_ZERO_BETA : GP_KRYLOV_INDEFINITE_PC;
  }
}

GP_INLINE void GpCgFinish(GpKrylovState *s, GpCgStage stage, double zr, double zz, double rr)
{
  if (stage == GP_CG_STARTS) GpCgFinishStart(s, zr, zz, rr);
  else GpCgFinishUpdate(s, zr, zz, rr);
}

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *p;
  double        *x;
  double         a;
} GpCgComplete;

GP_INLINE void GpCgCompleteBegin(GpCgComplete *a)
{
  a->a = a->state->pending ? a->state->a : 0;
}

GP_INLINE void GpCgCompleteEntry(GpCgComplete *a, int64_t i, double *sum)
{
  (void)sum;
  if (a->a != 0) a->x[i] += a->a * a->p[i];
}

GP_KRYLOV_MAP(GpCgComplete, FORWARD)

static GpErr GP_IMPL(GpCgComplete)(GpDev dev, int32_t n, GpKrylovState *s, const double *p, double *x)
{
  const GpCgComplete a = {s, 1, p, x, 0};

  return GpCgComplete_Launch(dev, n, a);
}

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *r, *z, *p, *w;
} GpCgReplace;

GP_INLINE void GpCgReplaceBegin(GpCgReplace *a)
{
  (void)a;
}

GP_INLINE void GpCgReplaceEntry(GpCgReplace *a, int64_t i, double *sum)
{
  const double r = a->r[i], z = a->z[i], p = a->p[i];

  sum[0] += z * r;
  sum[1] += z * z;
  sum[2] += r * r;
  sum[3] += z * a->w[i];
  sum[4] += p * r;
}

/* Continues with a residual that was replaced. It is not orthogonal to the old direction p. Therefore the next direction z + b p is made conjugate to p by w = A p, and the step along it minimises the error. */
GP_INLINE void GpCgReplaceFinish(GpCgReplace *a, const double *sum)
{
  GpKrylovState *s = a->state;

  s->pending = 0; /* complete() was called before */
  if (!GpKrylovMayReplace(s)) return;
  if (s->status == GP_KRYLOV_ZERO_BETA && s->it) s->it--; /* GpCgFinishUpdate() has counted an iteration that does not take place */
  s->dp    = GpCgComputeNorm(s->norm, sum[0], sum[1], sum[2]);
  s->beta  = sum[0];
  s->b     = s->restart || s->dpi == 0 ? 0 : -sum[3] / s->dpi;
  s->slope = sum[0] + s->b * sum[4];
  GpKrylovFinishReplace(s);
}

GP_KRYLOV_STEP(GpCgReplace, 5, FORWARD)

static GpErr GP_IMPL(GpCgReplace)(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *r, const double *z, const double *p, const double *w)
{
  const GpCgReplace a = {s, 1, r, z, p, w};

  return GpCgReplace_Launch(dev, n, a, partial);
}

#if !defined(__CUDACC__)
static GpErr GpCgStart_Host(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *d, const double *b, const double *ax, double *r, double *z)
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

static GpErr GpCgDirection_Host(GpDev dev, int32_t n, const GpKrylovState *s, const double *z, double *p, double *x)
{
  (void)dev;
  if (s->status) return GP_SUCCESS;
  for (int32_t i = 0; i < n; i++) {
    if (s->pending) x[i] += s->a * p[i];
    p[i] = s->it ? z[i] + s->b * p[i] : z[i];
  }
  return GP_SUCCESS;
}

static GpErr GpCgCurvature_Host(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *p, const double *w)
{
  double pw = 0;

  (void)dev;
  (void)partial;
  if (s->status) return GP_SUCCESS;
  for (int32_t i = 0; i < n; i++) pw += p[i] * w[i];
  GpCgFinishCurvature(s, pw);
  return GP_SUCCESS;
}

static GpErr GpCgUpdate_Host(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *d, const double *w, double *r, double *z)
{
  double zr = 0, zz = 0, rr = 0;

  (void)dev;
  if (s->status) return GP_SUCCESS;
  for (int32_t i = 0; i < n; i++) {
    r[i] -= s->a * w[i];
    if (d) z[i] = d[i] * r[i];
    zr += z[i] * r[i];
    zz += z[i] * z[i];
    rr += r[i] * r[i];
  }
  if (partial) GpCgFinishUpdate(s, zr, zz, rr);
  return GP_SUCCESS;
}

static GpErr GpCgResidual_Host(GpDev dev, int32_t n, GpKrylovState *s, double *partial, GpCgStage stage, const double *r, const double *z)
{
  double zr = 0, zz = 0, rr = 0;

  (void)dev;
  (void)partial;
  if (s->status && stage == GP_CG_UPDATED) return GP_SUCCESS;
  for (int32_t i = 0; i < n; i++) {
    zr += z[i] * r[i];
    zz += z[i] * z[i];
    rr += r[i] * r[i];
  }
  GpCgFinish(s, stage, zr, zz, rr);
  return GP_SUCCESS;
}

const GpCgKernels GpCgKernels_Host = {GpCgStart_Host, GpCgDirection_Host, GpCgCurvature_Host, GpCgUpdate_Host, GpCgResidual_Host, GpCgComplete_Host, GpCgReplace_Host};

#else
__global__ static void __launch_bounds__(BLOCK) GpCgStartKernel(int32_t n, GpKrylovState *s, double *partial, const double *d, const double *b, const double *ax, double *r, double *z)
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

__global__ static void __launch_bounds__(BLOCK) GpCgDirectionKernel(int32_t n, const GpKrylovState *s, const double *z, double *p, double *x)
{
  const int64_t i = GpKrylovPlace<BACKWARD>((int64_t)blockIdx.x * BLOCK + threadIdx.x, n);

  GpNextMayStart();
  GpWait();
  if (s->status || i < 0) return;
  const double old = s->it ? p[i] : 0;
  if (s->pending) x[i] += s->a * old;
  p[i] = s->it ? z[i] + s->b * old : z[i];
}

__global__ static void __launch_bounds__(BLOCK) GpCgCurvatureKernel(int32_t n, GpKrylovState *s, double *partial, const double *p, const double *w)
{
  double sum[1] = {0};

  GpNextMayStart();
  GpWait();
  if (s->status) return; /* All blocks read the same status: only the block that finishes last writes it, after all blocks have arrived. */
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * BLOCK) {
    const int64_t at = GpKrylovPlace<BACKWARD>(i, n);

    sum[0] += p[at] * w[at];
  }
  if (GpReduceAllBlocks<GpReduceSums, 1>(sum, partial, &s->ticket) && threadIdx.x == 0) GpCgFinishCurvature(s, sum[0]);
}

__global__ static void __launch_bounds__(BLOCK) GpCgUpdateKernel(int32_t n, GpKrylovState *s, double *partial, const double *d, const double *w, double *r, double *z)
{
  double sum[3] = {0, 0, 0};

  GpNextMayStart();
  GpWait();
  if (s->status) return;
  const double a = s->a;
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * BLOCK) {
    const double ri = r[i] - a * w[i], zi = d ? d[i] * ri : ri;

    r[i] = ri;
    if (d) z[i] = zi;
    sum[0] += zi * ri;
    sum[1] += zi * zi;
    sum[2] += ri * ri;
  }
  if (partial && GpReduceAllBlocks<GpReduceSums, 3>(sum, partial, &s->ticket) && threadIdx.x == 0) GpCgFinishUpdate(s, sum[0], sum[1], sum[2]);
}

__global__ static void __launch_bounds__(BLOCK) GpCgResidualKernel(int32_t n, GpKrylovState *s, double *partial, GpCgStage stage, const double *r, const double *z)
{
  double sum[3] = {0, 0, 0};

  GpNextMayStart();
  GpWait();
  if (s->status && stage == GP_CG_UPDATED) return;
  for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * BLOCK) {
    sum[0] += z[i] * r[i];
    sum[1] += z[i] * z[i];
    sum[2] += r[i] * r[i];
  }
  if (GpReduceAllBlocks<GpReduceSums, 3>(sum, partial, &s->ticket) && threadIdx.x == 0) GpCgFinish(s, stage, sum[0], sum[1], sum[2]);
}

static GpErr GpCgStart_CUDA(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *d, const double *b, const double *ax, double *r, double *z)
{
  return GpLaunchEarly(dev, "conjugate gradient start", GpCgStartKernel, GpGrid{GpKrylovGrid(dev, n), BLOCK}, n, s, partial, d, b, ax, r, z);
}

static GpErr GpCgDirection_CUDA(GpDev dev, int32_t n, const GpKrylovState *s, const double *z, double *p, double *x)
{
  if (!n) return GP_SUCCESS;
  return GpLaunchEarly(dev, "conjugate gradient direction", GpCgDirectionKernel, GpGrid{(unsigned)(((int64_t)n + BLOCK - 1) / BLOCK), BLOCK}, n, s, z, p, x);
}

static GpErr GpCgCurvature_CUDA(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *p, const double *w)
{
  return GpLaunchEarly(dev, "conjugate gradient curvature", GpCgCurvatureKernel, GpGrid{GpKrylovGrid(dev, n), BLOCK}, n, s, partial, p, w);
}

static GpErr GpCgUpdate_CUDA(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *d, const double *w, double *r, double *z)
{
  return GpLaunchEarly(dev, "conjugate gradient update", GpCgUpdateKernel, GpGrid{GpKrylovGrid(dev, n), BLOCK}, n, s, partial, d, w, r, z);
}

static GpErr GpCgResidual_CUDA(GpDev dev, int32_t n, GpKrylovState *s, double *partial, GpCgStage stage, const double *r, const double *z)
{
  return GpLaunchEarly(dev, "conjugate gradient residual", GpCgResidualKernel, GpGrid{GpKrylovGrid(dev, n), BLOCK}, n, s, partial, stage, r, z);
}

extern "C" const GpCgKernels GpCgKernels_CUDA = {GpCgStart_CUDA, GpCgDirection_CUDA, GpCgCurvature_CUDA, GpCgUpdate_CUDA, GpCgResidual_CUDA, GpCgComplete_CUDA, GpCgReplace_CUDA};
#endif
