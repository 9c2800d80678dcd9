/* Kernels that several Krylov methods use. */
#include "vec/kernels/gpkrylovstep.h"

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *b;
  double        *r;
} GpKrylovResidual;

GP_INLINE void GpKrylovResidualBegin(GpKrylovResidual *a)
{
  (void)a;
}

GP_INLINE void GpKrylovResidualEntry(GpKrylovResidual *a, int64_t i, double *sum)
{
  (void)sum;
  a->r[i] = a->b[i] - a->r[i];
}

GP_KRYLOV_MAP(GpKrylovResidual, FORWARD)

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *x, *y;
  double        *z;
} GpKrylovMultiply;

GP_INLINE void GpKrylovMultiplyBegin(GpKrylovMultiply *a)
{
  (void)a;
}

GP_INLINE void GpKrylovMultiplyEntry(GpKrylovMultiply *a, int64_t i, double *sum)
{
  (void)sum;
  a->z[i] = a->x[i] * a->y[i];
}

GP_KRYLOV_MAP(GpKrylovMultiply, FORWARD)

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *x;
  double        *y;
} GpKrylovAdd;

GP_INLINE void GpKrylovAddBegin(GpKrylovAdd *a)
{
  (void)a;
}

GP_INLINE void GpKrylovAddEntry(GpKrylovAdd *a, int64_t i, double *sum)
{
  (void)sum;
  a->y[i] += a->x[i];
}

GP_KRYLOV_MAP(GpKrylovAdd, FORWARD)

typedef struct {
  GpKrylovState *state;
  int            always;
  const double  *replacement, *r;
} GpKrylovCompare;

GP_INLINE void GpKrylovCompareBegin(GpKrylovCompare *a)
{
  (void)a;
}

GP_INLINE void GpKrylovCompareEntry(GpKrylovCompare *a, int64_t i, double *sum)
{
  const double r = a->replacement[i], e = r - a->r[i];

  sum[0] += e * e;
  sum[1] += r * r;
}

/* A deviation above half the residual makes the old directions useless. */
GP_INLINE void GpKrylovCompareFinish(GpKrylovCompare *a, const double *sum)
{
  GpKrylovState *s = a->state;

  s->deviation = sqrt(sum[0]);
  s->drift     = s->size > 0 ? s->deviation / s->size : 1;
  s->restart   = !(s->deviation <= 0.5 * sqrt(sum[1]));
  s->size      = sqrt(sum[1]);
}

GP_KRYLOV_STEP(GpKrylovCompare, 2, FORWARD)

static GpErr GP_IMPL(GpKrylovResidual)(GpDev dev, int32_t n, const double *b, double *r)
{
  const GpKrylovResidual a = {NULL, 1, b, r};

  return GpKrylovResidual_Launch(dev, n, a);
}

static GpErr GP_IMPL(GpKrylovMultiply)(GpDev dev, int32_t n, const double *x, const double *y, double *z)
{
  const GpKrylovMultiply a = {NULL, 1, x, y, z};

  return GpKrylovMultiply_Launch(dev, n, a);
}

static GpErr GP_IMPL(GpKrylovAdd)(GpDev dev, int32_t n, const double *x, double *y)
{
  const GpKrylovAdd a = {NULL, 1, x, y};

  return GpKrylovAdd_Launch(dev, n, a);
}

static GpErr GP_IMPL(GpKrylovCompare)(GpDev dev, int32_t n, GpKrylovState *s, double *partial, const double *replacement, const double *r)
{
  const GpKrylovCompare a = {s, 1, replacement, r};

  return GpKrylovCompare_Launch(dev, n, a, partial);
}

GP_EXTERN const GpKrylovKernels GP_IMPL(GpKrylovKernels) = {GP_IMPL(GpKrylovResidual), GP_IMPL(GpKrylovMultiply), GP_IMPL(GpKrylovAdd), GP_IMPL(GpKrylovCompare)};
