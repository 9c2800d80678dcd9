/* The vector work of one BiCGStab iteration. The scalars are those of KSPBCGS. */
#include "vec/kernels/gpkrylovstep.h"

/* Sets the scalars of the start. gamma, the coefficient of the old direction, is 0, so that the first direction is the residual. */
GP_INLINE void GpBcgsFinishStart(GpKrylovState *s, double rr)
{
  s->dp     = s->norm == GP_KRYLOV_NORM_NONE ? 0 : sqrt(rr);
  s->rho    = rr;
  s->alpha  = 1;
  s->omega  = 1;
  s->gamma  = 0;
  s->exact  = 0;
  s->it     = 0;
  s->size   = sqrt(rr);
  s->status = GP_KRYLOV_RUNNING;
}

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *r;
  double        *r0;
} GpBcgsStart;

GP_INLINE void GpBcgsStartBegin(GpBcgsStart *a)
{
  (void)a;
}

GP_INLINE void GpBcgsStartEntry(GpBcgsStart *a, int64_t i, double *sum)
{
  const double r = a->r[i];

  a->r0[i] = r;
  sum[0] += r * r;
}

GP_INLINE void GpBcgsStartFinish(GpBcgsStart *a, const double *sum)
{
  GpBcgsFinishStart(a->state, sum[0]);
}

GP_KRYLOV_STEP(GpBcgsStart, 1, FORWARD)

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *r, *v;
  double        *p;
  double         gamma, omega;
} GpBcgsDirection;

GP_INLINE void GpBcgsDirectionBegin(GpBcgsDirection *a)
{
  a->gamma = a->state->gamma;
  a->omega = -a->state->omega * a->gamma;
}

GP_INLINE void GpBcgsDirectionEntry(GpBcgsDirection *a, int64_t i, double *sum)
{
  (void)sum;
  a->p[i] = a->gamma == 0 ? a->r[i] : a->r[i] + a->omega * a->v[i] + a->gamma * a->p[i];
}

GP_KRYLOV_MAP(GpBcgsDirection, BACKWARD)

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *d, *r0;
  double        *v;
} GpBcgsShorten;

GP_INLINE void GpBcgsShortenBegin(GpBcgsShorten *a)
{
  (void)a;
}

GP_INLINE void GpBcgsShortenEntry(GpBcgsShorten *a, int64_t i, double *sum)
{
  const double v = a->d ? a->d[i] * a->v[i] : a->v[i];

  if (a->d) a->v[i] = v;
  sum[0] += v * a->r0[i];
}

GP_INLINE void GpBcgsShortenFinish(GpBcgsShorten *a, const double *sum)
{
  if (!isfinite(sum[0])) a->state->status = GP_KRYLOV_NAN;
  else if (sum[0] == 0) a->state->status = GP_KRYLOV_BREAKDOWN;
  else a->state->alpha = a->state->rho / sum[0];
}

GP_KRYLOV_STEP(GpBcgsShorten, 1, BACKWARD)

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *v;
  double        *r;
  double         alpha;
} GpBcgsHalf;

GP_INLINE void GpBcgsHalfBegin(GpBcgsHalf *a)
{
  a->alpha = a->state->alpha;
}

GP_INLINE void GpBcgsHalfEntry(GpBcgsHalf *a, int64_t i, double *sum)
{
  (void)sum;
  a->r[i] = a->r[i] - a->alpha * a->v[i];
}

GP_KRYLOV_MAP(GpBcgsHalf, BACKWARD)

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *d, *s;
  double        *t;
} GpBcgsStabilise;

GP_INLINE void GpBcgsStabiliseBegin(GpBcgsStabilise *a)
{
  (void)a;
}

GP_INLINE void GpBcgsStabiliseEntry(GpBcgsStabilise *a, int64_t i, double *sum)
{
  const double t = a->d ? a->d[i] * a->t[i] : a->t[i], s = a->s[i];

  if (a->d) a->t[i] = t;
  sum[0] += s * t;
  sum[1] += t * t;
  sum[2] += s * s;
}

/* omega cannot be computed if t is zero. If s is zero too, x + alpha p is the solution; otherwise the method breaks down. */
GP_INLINE void GpBcgsStabiliseFinish(GpBcgsStabilise *a, const double *sum)
{
  GpKrylovState *s = a->state;

  s->exact = sum[1] == 0 && sum[2] == 0;
  if (sum[1] == 0 && sum[2] != 0) s->status = GP_KRYLOV_BREAKDOWN;
  s->omega = sum[1] == 0 ? 0 : sum[0] / sum[1];
}

GP_KRYLOV_STEP(GpBcgsStabilise, 3, BACKWARD)

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *p, *t, *r0;
  double        *x, *r;
  double         alpha, omega;
} GpBcgsUpdate;

GP_INLINE void GpBcgsUpdateBegin(GpBcgsUpdate *a)
{
  a->alpha = a->state->alpha;
  a->omega = a->state->omega;
}

GP_INLINE void GpBcgsUpdateEntry(GpBcgsUpdate *a, int64_t i, double *sum)
{
  const double s = a->r[i], r = s - a->omega * a->t[i];

  a->x[i] = a->alpha * a->p[i] + a->omega * s + a->x[i];
  a->r[i] = r;
  sum[0] += r * r;
  sum[1] += r * a->r0[i];
}

GP_INLINE void GpBcgsUpdateFinish(GpBcgsUpdate *a, const double *sum)
{
  GpKrylovState *s   = a->state;
  const double   old = s->rho;

  if (s->exact) {
    s->it++;
    s->dp = 0;
    GpKrylovStoreNorm(s);
    s->status = GP_KRYLOV_EXACT;
    return;
  }
  if (s->norm != GP_KRYLOV_NORM_NONE) s->dp = sqrt(sum[0]);
  if (!isfinite(s->dp)) {
    s->status = GP_KRYLOV_NAN;
    return;
  }
  s->it++;
  GpKrylovStoreNorm(s);
  s->rho   = sum[1];
  s->gamma = (s->rho / old) * (s->alpha / s->omega);
  if (GpKrylovIsLast(s)) s->status = GP_KRYLOV_NORM;
  else if (old == 0) s->status = GP_KRYLOV_BREAKDOWN;
  else if (s->it >= s->max_it) s->status = GP_KRYLOV_MAX_IT;
}

GP_KRYLOV_STEP(GpBcgsUpdate, 2, FORWARD)

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *replacement;
  double        *r, *r0;
  int            restart;
} GpBcgsAdopt;

GP_INLINE void GpBcgsAdoptBegin(GpBcgsAdopt *a)
{
  a->restart = a->state->restart || a->state->status == GP_KRYLOV_EXACT || a->state->rho == 0;
}

GP_INLINE void GpBcgsAdoptEntry(GpBcgsAdopt *a, int64_t i, double *sum)
{
  const double r = a->replacement[i];

  a->r[i] = r;
  if (a->restart) a->r0[i] = r;
  sum[0] += r * r;
  sum[1] += r * a->r0[i];
}

GP_INLINE void GpBcgsAdoptFinish(GpBcgsAdopt *a, const double *sum)
{
  GpKrylovState *s = a->state;

  if (!GpKrylovMayReplace(s)) return;
  if (s->norm != GP_KRYLOV_NORM_NONE) s->dp = sqrt(sum[0]);
  s->gamma = a->restart ? 0 : s->gamma * sum[1] / s->rho;
  s->rho   = sum[1];
  GpKrylovFinishReplace(s);
}

GP_KRYLOV_STEP(GpBcgsAdopt, 2, FORWARD)

static GpErr GP_IMPL(GpBcgsStart)(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *r, double *r0)
{
  const GpBcgsStart a = {s, 1, r, r0};

  return GpBcgsStart_Launch(dev, n, a, partial);
}

static GpErr GP_IMPL(GpBcgsDirection)(GpDev dev, int32_t n, GpKrylovState *s, const double *r, const double *v, double *p)
{
  const GpBcgsDirection a = {s, 0, r, v, p, 0, 0};

  return GpBcgsDirection_Launch(dev, n, a);
}

static GpErr GP_IMPL(GpBcgsShorten)(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *d, const double *r0, double *v)
{
  const GpBcgsShorten a = {s, 0, d, r0, v};

  return GpBcgsShorten_Launch(dev, n, a, partial);
}

static GpErr GP_IMPL(GpBcgsHalf)(GpDev dev, int32_t n, GpKrylovState *s, const double *v, double *r)
{
  const GpBcgsHalf a = {s, 0, v, r, 0};

  return GpBcgsHalf_Launch(dev, n, a);
}

static GpErr GP_IMPL(GpBcgsStabilise)(GpDev dev, int32_t n, GpKrylovState *state, double *partial, const double *d, const double *s, double *t)
{
  const GpBcgsStabilise a = {state, 0, d, s, t};

  return GpBcgsStabilise_Launch(dev, n, a, partial);
}

static GpErr GP_IMPL(GpBcgsUpdate)(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *p, const double *t, const double *r0, double *x, double *r)
{
  const GpBcgsUpdate a = {s, 0, p, t, r0, x, r, 0, 0};

  return GpBcgsUpdate_Launch(dev, n, a, partial);
}

static GpErr GP_IMPL(GpBcgsAdopt)(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *replacement, double *r, double *r0)
{
  const GpBcgsAdopt a = {s, 1, replacement, r, r0, 0};

  return GpBcgsAdopt_Launch(dev, n, a, partial);
}

GP_EXTERN const GpBcgsKernels GP_IMPL(GpBcgsKernels) = {GP_IMPL(GpBcgsStart), GP_IMPL(GpBcgsDirection), GP_IMPL(GpBcgsShorten), GP_IMPL(GpBcgsHalf), GP_IMPL(GpBcgsStabilise), GP_IMPL(GpBcgsUpdate), GP_IMPL(GpBcgsAdopt)};
