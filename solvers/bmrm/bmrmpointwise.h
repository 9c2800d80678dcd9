/* Template of a loss that is a mean over the examples: defines its host or CUDA kernels from the formulas for one example.

   A file of losses/ defines the following for a score z, a label y and parameters p, and then includes this file:

        LossValue(z, y, p)            the loss
        LossSlope(z, y, p, side)      its derivative with respect to z: the right derivative for side > 0, the left derivative for side < 0
        LossCurvature(z, y, p, side)  its second derivative on that side
        LossOffset(u, y, p)           the largest c with u z + c <= loss(z) for every z, which is the negative conjugate at u
        LOSS                          the name
        LOSS_KINKS                    number of kinks of a piecewise quadratic loss; -1 for other losses
        LossKink(k, y, p)             a macro with three values: position of kink k in ascending order, and increase of slope and of curvature there
        LOSS_TASK                     meaning of the labels
   and optionally
        LOSS_PARAMETER                option, help, default and limits of p[0]
        LOSS_LABELS, LossLabelFits(y) description of the valid labels, and whether a label is valid, if these are not the labels of the task
        LOSS_LINEAR                   the loss is piecewise linear: instead of LossCurvature(), which is 0

   The offset of a cut is the conjugate of the slopes that were used, not a difference of values and products. There is no cancellation. Rounding
   errors of the products make a cut slightly less tight, but it remains a lower bound. Sums are added in an order that depends only on n and on
   the device. */
#ifndef BMRM_POINTWISE_H
#define BMRM_POINTWISE_H

#include "solvers/bmrm/bmrmformula.h"

#define BMRM_NAME_(name, backend) BMRMPointwise_##name##_##backend
#define BMRM_NAME(name, backend)  BMRM_NAME_(name, backend)

#if defined(LOSS_LINEAR)
FORMULA double LossCurvature(double z, double y, const double p[], double side)
{
  return 0;
}
#endif

#if !defined(__CUDACC__)
/* Formulas and sums are separate loops over chunks. Neither loop has branches or a serial dependence, so that compilers vectorise both. */
enum {
  BMRM_CHUNK = 256,
  BMRM_LANES = 8 /* independent partial sums */
};

/* The examples of a chunk */
typedef struct {
  int           m;
  const double *f, *e, *y;
} BMRMChunk;

static inline BMRMChunk BMRMGetChunk(const BMRMScores *x, int64_t start)
{
  const BMRMChunk chunk = {(int)(x->n - start < BMRM_CHUNK ? x->n - start : BMRM_CHUNK), x->f + start, x->e + start, x->y + start};

  return chunk;
}

static inline void BMRMAddToLanes(int m, const double u[], double sum[])
{
  int i = 0;

  for (; i + BMRM_LANES <= m; i += BMRM_LANES)
    for (int k = 0; k < BMRM_LANES; k++) sum[k] += u[i + k];
  for (; i < m; i++) sum[0] += u[i];
}

/* Multiplies values of the examples of a chunk by the factors of the examples. */
static inline void BMRMApplyFactors(const BMRMScores *x, int64_t start, int m, double u[])
{
  for (int i = 0; x->v && i < m; i++) u[i] *= x->v[start + i];
}

static inline double BMRMSumLanes(const double sum[])
{
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static GpErr BMRMPointwiseRisk(BMRMWork *work, const BMRMScores *x, double s)
{
  double sum[BMRM_LANES] = {0}, u[BMRM_CHUNK];

  for (int64_t start = 0; start < x->n; start += BMRM_CHUNK) {
    const BMRMChunk c = BMRMGetChunk(x, start);

    for (int i = 0; i < c.m; i++) u[i] = LossValue(c.f[i] + s * c.e[i], c.y[i], x->p);
    BMRMApplyFactors(x, start, c.m, u);
    BMRMAddToLanes(c.m, u, sum);
  }
  work->result[0] = BMRMSumLanes(sum);
  return GP_SUCCESS;
}

static GpErr BMRMPointwiseCut(BMRMWork *work, const BMRMScores *x, double s, int64_t first, int nblock, int block, double scale, double *r)
{
  double sum[BMRM_LANES] = {0}, u[BMRM_CHUNK], offset[BMRM_CHUNK];
  int    of              = (int)(first % nblock);

  for (int64_t start = 0; start < x->n; start += BMRM_CHUNK) {
    const BMRMChunk c = BMRMGetChunk(x, start);

    for (int i = 0; i < c.m; i++) {
      u[i]         = LossSlope(c.f[i] + s * c.e[i], c.y[i], x->p, 1);
      offset[i]    = LossOffset(u[i], c.y[i], x->p);
      r[start + i] = scale * u[i];
    }
    for (int i = 0; nblock > 1 && i < c.m; i++) {
      if (of != block) offset[i] = r[start + i] = 0;
      of = of + 1 == nblock ? 0 : of + 1;
    }
    BMRMApplyFactors(x, start, c.m, offset);
    BMRMApplyFactors(x, start, c.m, r + start);
    BMRMAddToLanes(c.m, offset, sum);
  }
  work->result[0] = BMRMSumLanes(sum);
  return GP_SUCCESS;
}

static GpErr BMRMPointwiseSlopes(BMRMWork *work, const BMRMScores *x, int nt, const double t[])
{
  double u[BMRM_CHUNK], v[BMRM_CHUNK];

  for (int k = 0; k < nt; k++) {
    double first[BMRM_LANES] = {0}, second[BMRM_LANES] = {0};

    for (int64_t start = 0; start < x->n; start += BMRM_CHUNK) {
      const BMRMChunk c = BMRMGetChunk(x, start);

      for (int i = 0; i < c.m; i++) u[i] = LossSlope(c.f[i] + t[k] * c.e[i], c.y[i], x->p, c.e[i]);
      for (int i = 0; i < c.m; i++) v[i] = LossCurvature(c.f[i] + t[k] * c.e[i], c.y[i], x->p, c.e[i]);
      for (int i = 0; i < c.m; i++) { /* skip rows with e = 0: an infinite slope would make the product a NaN */
        const double slope = c.e[i] * u[i], bend = c.e[i] * c.e[i] * v[i];

        u[i] = c.e[i] == 0 ? 0 : slope;
        v[i] = c.e[i] == 0 ? 0 : bend;
      }
      BMRMApplyFactors(x, start, c.m, u);
      BMRMApplyFactors(x, start, c.m, v);
      BMRMAddToLanes(c.m, u, first);
      BMRMAddToLanes(c.m, v, second);
    }
    work->result[2 * k]     = BMRMSumLanes(first);
    work->result[2 * k + 1] = BMRMSumLanes(second);
  }
  return GP_SUCCESS;
}

  #if LOSS_KINKS < 0
    #define BMRMPointwisePieces NULL
  #else
static int64_t BMRMPointwisePieces(const BMRMScores *x, double scale, double end, BMRMKink kink[])
{
  int64_t ahead = 0;

    #if LOSS_KINKS > 0
  for (int k = 0; k < LOSS_KINKS; k++) {
    for (int64_t i = 0; i < x->n; i++) {
      const double   e = x->e[i], reach = end * e; /* NaN if e is 0 and end is infinite */
      const double   size = scale * (x->v ? x->v[i] : 1) * fabs(e);
      const BMRMKink at   = {LossKink(k, x->y[i], x->p)};
      const double   way  = at.t - x->f[i];
      const int      on   = ((way > 0) & (way <= reach)) | ((way < 0) & (way >= reach));

      if (!on) continue;
      kink[ahead].t      = way / e;
      kink[ahead].jump   = size * at.jump;
      kink[ahead++].bend = size * e * at.bend; /* towards smaller z the increase has the opposite sign */
    }
  }
    #endif
  return ahead;
}
  #endif

/* Whether the slope is constant between kinks: no kink changes the curvature, and the curvature elsewhere is zero. */
static int BMRMPointwiseSteps(const double p[])
{
  #if LOSS_KINKS > 0
  for (int k = 0; k < LOSS_KINKS; k++) {
    const BMRMKink at = {LossKink(k, 1, p)};

    if (at.bend != 0) return 0;
  }
  return LossCurvature(0.5, 1, p, 1) == 0;
  #else
  return 0;
  #endif
}

  #if defined(LOSS_PARAMETER)
    #define BMRM_PARAMETERS {{LOSS_PARAMETER}}, 1
  #else
    #define BMRM_PARAMETERS {{NULL}}, 0
  #endif

  #if defined(LOSS_LABELS)
static int BMRMPointwiseFits(double y)
{
  return LossLabelFits(y);
}
  #else
    #define BMRMPointwiseFits NULL
    #define LOSS_LABELS       NULL
  #endif

static double BMRMPointwiseOffset(double u, double y, const double p[])
{
  return LossOffset(u, y, p);
}

extern const BMRMPointwise BMRM_NAME(LOSS, Host);

const BMRMPointwise BMRM_NAME(LOSS, Host) = {{BMRMPointwiseRisk, BMRMPointwiseCut, BMRMPointwiseSlopes}, LOSS_TASK, LOSS_LABELS, BMRM_PARAMETERS, BMRMPointwiseFits, BMRMPointwiseOffset, BMRMPointwiseSteps, LOSS_KINKS, BMRMPointwisePieces};

#else
__device__ static double BMRMRowRisk(const BMRMScores &x, int64_t i, double s)
{
  return LossValue(x.f[i] + s * x.e[i], x.y[i], x.p);
}

__device__ static double BMRMRowCut(const BMRMScores &x, int64_t i, double s, double scale, double *r)
{
  const double u = LossSlope(x.f[i] + s * x.e[i], x.y[i], x.p, 1);

  r[i] = scale * u;
  return LossOffset(u, x.y[i], x.p);
}

__device__ static void BMRMRowSlopes(const BMRMScores &x, int64_t i, int nt, const double (&t)[BMRM_SLOPES], double (&sum)[2 * BMRM_SLOPES])
{
  const double fi = x.f[i], ei = x.e[i], yi = x.y[i];

  if (ei == 0) return; /* an infinite slope would make the product a NaN */
  #pragma unroll
  for (int k = 0; k < BMRM_SLOPES; k++) {
    const double z = fi + t[k] * ei;

    if (k >= nt) continue;
    sum[2 * k] += ei * LossSlope(z, yi, x.p, ei);
    sum[2 * k + 1] += ei * ei * LossCurvature(z, yi, x.p, ei);
  }
}

  #include "solvers/bmrm/bmrmrows.h"
#endif
#endif
