/* Template of a loss that is a mean over the examples: defines its host or CUDA kernels from the formulas for one example.

   A file of losses/ defines the following for a score z, a label y and parameters p, and then includes this file:

        LossValue(z, y, p)            the loss
        LossSlope(z, y, p, side)      its derivative with respect to z: the right derivative for side > 0, the left derivative for side < 0
        LossCurvature(z, y, p, side)  its second derivative on that side
        LossOffset(u, y, p)           the largest c with u z + c <= loss(z) for every z, which is the negative conjugate at u
        LossLabelFits(y)              whether the label is valid
        LOSS                          the name
        LOSS_KINKS                    number of kinks of a piecewise quadratic loss; -1 for other losses
        LossKink(k, y, p, &z, &jump, &bend)   position of kink k in ascending order, and the increase of slope and curvature there
        LOSS_TASK, LOSS_LABELS        meaning of the labels, and their description
        LOSS_PARAMETER                optional: option, help, default and limits of p[0]

   The offset of a cut is the conjugate of the slopes that were used, not a difference of values and products. There is no cancellation. Rounding
   errors of the products make a cut slightly less tight, but it remains a lower bound. Sums are added in an order that depends only on n and on
   the device. */
#ifndef BMRM_POINTWISE_H
#define BMRM_POINTWISE_H

#define BMRM_NAME_(name, twin) BMRMPointwise_##name##_##twin
#define BMRM_NAME(name, twin)  BMRM_NAME_(name, twin)

#if !defined(__CUDACC__)
/* Formulas and sums are separate loops over chunks. Neither loop has branches or a serial dependence, so that compilers vectorise both. */
enum {
  CHUNK = 256,
  LANES = 8 /* independent partial sums */
};

static inline void Add(int m, const double u[], double sum[])
{
  int i = 0;

  for (; i + LANES <= m; i += LANES)
    for (int k = 0; k < LANES; k++) sum[k] += u[i + k];
  for (; i < m; i++) sum[0] += u[i];
}

static inline double Total(const double sum[])
{
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static GpErr Risk(BMRMWork *work, int64_t n, const double p[], const double *f, const double *e, double s, const double *y)
{
  double sum[LANES] = {0}, u[CHUNK];

  for (int64_t start = 0; start < n; start += CHUNK) {
    const int     m  = (int)(n - start < CHUNK ? n - start : CHUNK);
    const double *fs = f + start, *es = e + start, *ys = y + start;

    for (int i = 0; i < m; i++) u[i] = LossValue(fs[i] + s * es[i], ys[i], p);
    Add(m, u, sum);
  }
  work->result[0] = Total(sum);
  return GP_SUCCESS;
}

static GpErr Cut(BMRMWork *work, int64_t n, int64_t first, int nblock, int block, const double p[], double scale, const double *f, const double *e, double s, const double *y, double *r)
{
  double sum[LANES] = {0}, u[CHUNK], c[CHUNK];
  int    of         = (int)(first % nblock);

  for (int64_t start = 0; start < n; start += CHUNK) {
    const int     m  = (int)(n - start < CHUNK ? n - start : CHUNK);
    const double *fs = f + start, *es = e + start, *ys = y + start;

    for (int i = 0; i < m; i++) {
      u[i]         = LossSlope(fs[i] + s * es[i], ys[i], p, 1);
      c[i]         = LossOffset(u[i], ys[i], p);
      r[start + i] = scale * u[i];
    }
    for (int i = 0; nblock > 1 && i < m; i++) {
      if (of != block) c[i] = r[start + i] = 0;
      of = of + 1 == nblock ? 0 : of + 1;
    }
    Add(m, c, sum);
  }
  work->result[0] = Total(sum);
  return GP_SUCCESS;
}

static GpErr Slopes(BMRMWork *work, int64_t n, const double p[], const double *f, const double *e, int nt, const double t[], const double *y)
{
  double u[CHUNK], c[CHUNK];

  for (int k = 0; k < nt; k++) {
    double first[LANES] = {0}, second[LANES] = {0};

    for (int64_t start = 0; start < n; start += CHUNK) {
      const int     m  = (int)(n - start < CHUNK ? n - start : CHUNK);
      const double *fs = f + start, *es = e + start, *ys = y + start;

      for (int i = 0; i < m; i++) u[i] = LossSlope(fs[i] + t[k] * es[i], ys[i], p, es[i]);
      for (int i = 0; i < m; i++) c[i] = LossCurvature(fs[i] + t[k] * es[i], ys[i], p, es[i]);
      for (int i = 0; i < m; i++) { /* skip rows with e = 0: an infinite slope would make the product a NaN */
        const double slope = es[i] * u[i], bend = es[i] * es[i] * c[i];

        u[i] = es[i] == 0 ? 0 : slope;
        c[i] = es[i] == 0 ? 0 : bend;
      }
      Add(m, u, first);
      Add(m, c, second);
    }
    work->result[2 * k]     = Total(first);
    work->result[2 * k + 1] = Total(second);
  }
  return GP_SUCCESS;
}

  #if LOSS_KINKS > 0
static int64_t Pieces(int64_t n, const double p[], double scale, double end, const double *f, const double *e, const double *y, BMRMKink *kink)
{
  int64_t ahead = 0;

  for (int k = 0; k < LOSS_KINKS; k++) {
    for (int64_t i = 0; i < n; i++) {
      const double reach = end * e[i]; /* NaN if e is 0 and end is infinite */
      double       z, jump, bend, way;
      const int    on = (LossKink(k, y[i], p, &z, &jump, &bend), way = z - f[i], ((way > 0) & (way <= reach)) | ((way < 0) & (way >= reach)));

      if (!on) continue;
      kink[ahead].t      = way / e[i];
      kink[ahead].jump   = scale * fabs(e[i]) * jump;
      kink[ahead++].bend = scale * fabs(e[i]) * e[i] * bend; /* towards smaller z the increase has the opposite sign */
    }
  }
  return ahead;
}

/* Whether the slope is constant between kinks: no kink changes the curvature, and the curvature elsewhere is zero. */
static int Steps(const double p[])
{
  for (int k = 0; k < LOSS_KINKS; k++) {
    double z, jump, bend;

    LossKink(k, 1, p, &z, &jump, &bend);
    if (bend != 0) return 0;
  }
  return LossCurvature(0.5, 1, p, 1) == 0;
}
  #elif LOSS_KINKS == 0
static int64_t Pieces(int64_t n, const double p[], double scale, double end, const double *f, const double *e, const double *y, BMRMKink *kink)
{
  return 0;
}
  #else
    #define Pieces NULL
  #endif
  #if LOSS_KINKS <= 0
static int Steps(const double p[])
{
  return 0;
}
  #endif

static int Fits(double y)
{
  return LossLabelFits(y);
}

static double Offset(double u, double y, const double p[])
{
  return LossOffset(u, y, p);
}

  #if defined(LOSS_PARAMETER)
    #define LOSS_PARAMETERS {LOSS_PARAMETER}, 1
  #else
    #define LOSS_PARAMETERS {{0}}, 0
  #endif

extern const BMRMPointwise BMRM_NAME(LOSS, Host);

const BMRMPointwise BMRM_NAME(LOSS, Host) = {{Risk, Cut, Slopes}, LOSS_TASK, LOSS_LABELS, LOSS_PARAMETERS, Fits, Offset, Steps, LOSS_KINKS, Pieces};

#else
  #include "solvers/bmrm/bmrmsum.h"

struct RiskRule {
  static constexpr int K = 1;
  Parameters           q;
  const double        *f, *e, *y;
  double               s;
  __device__ void      take(double (&sum)[K], int64_t i) const { sum[0] += LossValue(f[i] + s * e[i], y[i], q.p); }
};

struct CutRule {
  static constexpr int K = 1;
  Parameters           q;
  const double        *f, *e, *y;
  double               s, scale;
  int64_t              first;
  int                  nblock, block;
  double              *r;
  __device__ void      take(double (&sum)[K], int64_t i) const
  {
    double u = 0;

    if ((first + i) % nblock == block) {
      u = LossSlope(f[i] + s * e[i], y[i], q.p, 1);
      sum[0] += LossOffset(u, y[i], q.p);
    }
    r[i] = scale * u;
  }
};

struct SlopesRule {
  static constexpr int K = 2 * BMRM_SLOPES;
  Parameters           q;
  const double        *f, *e, *y;
  int                  nt;
  double               t[BMRM_SLOPES];
  __device__ void      take(double (&sum)[K], int64_t i) const
  {
    const double fi = f[i], ei = e[i], yi = y[i];

    if (ei == 0) return; /* an infinite slope would make the product a NaN */
  #pragma unroll
    for (int k = 0; k < BMRM_SLOPES; k++) {
      const double z = fi + t[k] * ei;

      if (k >= nt) continue;
      sum[2 * k] += ei * LossSlope(z, yi, q.p, ei);
      sum[2 * k + 1] += ei * ei * LossCurvature(z, yi, q.p, ei);
    }
  }
};

static GpErr Risk(BMRMWork *work, int64_t n, const double p[], const double *f, const double *e, double s, const double *y)
{
  return Launch(work, n, RiskRule{Keep(p), f, e, y, s}, 1, "risk");
}

static GpErr Cut(BMRMWork *work, int64_t n, int64_t first, int nblock, int block, const double p[], double scale, const double *f, const double *e, double s, const double *y, double *r)
{
  return Launch(work, n, CutRule{Keep(p), f, e, y, s, scale, first, nblock, block, r}, 1, "cut");
}

static GpErr Slopes(BMRMWork *work, int64_t n, const double p[], const double *f, const double *e, int nt, const double t[], const double *y)
{
  SlopesRule rule = {Keep(p), f, e, y, nt, {}};

  for (int k = 0; k < nt; k++) rule.t[k] = t[k];
  return Launch(work, n, rule, 2 * nt, "slopes");
}

extern "C" const BMRMPointwiseKernels BMRM_NAME(LOSS, CUDA);
const BMRMPointwiseKernels            BMRM_NAME(LOSS, CUDA) = {Risk, Cut, Slopes};
#endif
#endif
