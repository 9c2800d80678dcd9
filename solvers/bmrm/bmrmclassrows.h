/* Template of a loss of several classes: defines its host or CUDA kernels from its formulas (see bmrmclasses.h). */
#ifndef BMRM_CLASSROWS_H
#define BMRM_CLASSROWS_H

#define BMRM_CLASS_NAME_(name, twin) BMRMClasses_##name##_##twin
#define BMRM_CLASS_NAME(name, twin)  BMRM_CLASS_NAME_(name, twin)

/* Computes the state. Returns 0, or NaN if a score is not finite, so that the caller's sums show it. */
FORMULA double Begin(const BMRMExample *x, double state[])
{
  double sum = 0;

  for (int c = 0; c < x->k; c++) sum += ClassScore(x, c);
  ClassState(x, state);
  return sum - sum;
}

FORMULA double Value(const BMRMExample *x)
{
  double       state[BMRM_CLASS_STATE], value = 0;
  const double bad = Begin(x, state);

  for (int c = 0; c < x->k; c++) value += ClassSlope(x, state, c) * ClassScore(x, c);
  return value + ClassOffset(x, state) + bad;
}

/* Stores the slopes of the cut of an example in r, and returns its offset. */
FORMULA double CutOf(const BMRMExample *x, double scale, double *r)
{
  double       state[BMRM_CLASS_STATE];
  const double bad = Begin(x, state);

  for (int c = 0; c < x->k; c++) r[c * x->m] = scale * ClassSlope(x, state, c) + bad;
  return ClassOffset(x, state) + bad;
}

FORMULA void SlopesOf(const BMRMExample *x, double *first, double *second)
{
  double       state[BMRM_CLASS_STATE], sum = 0;
  const double bad = Begin(x, state);

  for (int c = 0; c < x->k; c++) sum += ClassSlope(x, state, c) * ClassAlong(x, c);
  *first += sum + bad;
  *second += ClassCurvature(x, state);
}

#if !defined(__CUDACC__)
static GpErr Risk(BMRMWork *work, int64_t n, int k, const double p[], const double *f, const double *e, double s, const double *y)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++) {
    const BMRMExample x = {k, n, f + i, e + i, s, y + i, p};

    sum += Value(&x);
  }
  work->result[0] = sum;
  return GP_SUCCESS;
}

static GpErr Cut(BMRMWork *work, int64_t n, int64_t first, int nblock, int block, int k, const double p[], double scale, const double *f, const double *e, double s, const double *y, double *r)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++) {
    const BMRMExample x = {k, n, f + i, e + i, s, y + i, p};

    if ((first + i) % nblock == block) sum += CutOf(&x, scale, r + i);
    else
      for (int c = 0; c < k; c++) r[c * n + i] = 0;
  }
  work->result[0] = sum;
  return GP_SUCCESS;
}

static GpErr Slopes(BMRMWork *work, int64_t n, int k, const double p[], const double *f, const double *e, int nt, const double t[], const double *y)
{
  for (int j = 0; j < nt; j++) {
    work->result[2 * j] = work->result[2 * j + 1] = 0;
    for (int64_t i = 0; i < n; i++) {
      const BMRMExample x = {k, n, f + i, e + i, t[j], y + i, p};

      SlopesOf(&x, &work->result[2 * j], &work->result[2 * j + 1]);
    }
  }
  return GP_SUCCESS;
}

  #if CLASS_LINES
static void Line(const BMRMExample *x, int c, double *value, double *slope)
{
  ClassLine(x, c, value, slope);
}
  #else
    #define Line NULL
  #endif

  #if defined(LOSS_PARAMETER)
    #define LOSS_PARAMETERS {LOSS_PARAMETER}, 1
  #else
    #define LOSS_PARAMETERS {{0}}, 0
  #endif

extern const BMRMClasses BMRM_CLASS_NAME(LOSS, Host);

const BMRMClasses BMRM_CLASS_NAME(LOSS, Host) = {{Risk, Cut, Slopes}, LOSS_TASK, LOSS_PARAMETERS, Line};

#else
  #include "solvers/bmrm/bmrmsum.h"

/* Members that all rules have in common. */
struct Examples {
  Parameters    q;
  int           k;
  int64_t       n;
  const double *f, *e, *y;

  __device__ BMRMExample at(int64_t i, double s) const { return {k, n, f + i, e + i, s, y + i, q.p}; }
};

struct RiskRule {
  static constexpr int K = 1;
  Examples             of;
  double               s;
  __device__ void      take(double (&sum)[K], int64_t i) const
  {
    const BMRMExample x = of.at(i, s);

    sum[0] += Value(&x);
  }
};

struct CutRule {
  static constexpr int K = 1;
  Examples             of;
  double               s, scale;
  int64_t              first;
  int                  nblock, block;
  double              *r;
  __device__ void      take(double (&sum)[K], int64_t i) const
  {
    const BMRMExample x = of.at(i, s);

    if ((first + i) % nblock == block) sum[0] += CutOf(&x, scale, r + i);
    else
      for (int c = 0; c < of.k; c++) r[c * of.n + i] = 0;
  }
};

struct SlopesRule {
  static constexpr int K = 2 * BMRM_SLOPES;
  Examples             of;
  int                  nt;
  double               t[BMRM_SLOPES];
  __device__ void      take(double (&sum)[K], int64_t i) const
  {
  #pragma unroll
    for (int j = 0; j < BMRM_SLOPES; j++) {
      if (j >= nt) continue;
      const BMRMExample x = of.at(i, t[j]);

      SlopesOf(&x, &sum[2 * j], &sum[2 * j + 1]);
    }
  }
};

static GpErr Risk(BMRMWork *work, int64_t n, int k, const double p[], const double *f, const double *e, double s, const double *y)
{
  return Launch(work, n, RiskRule{{Keep(p), k, n, f, e, y}, s}, 1, "risk");
}

static GpErr Cut(BMRMWork *work, int64_t n, int64_t first, int nblock, int block, int k, const double p[], double scale, const double *f, const double *e, double s, const double *y, double *r)
{
  return Launch(work, n, CutRule{{Keep(p), k, n, f, e, y}, s, scale, first, nblock, block, r}, 1, "cut");
}

static GpErr Slopes(BMRMWork *work, int64_t n, int k, const double p[], const double *f, const double *e, int nt, const double t[], const double *y)
{
  SlopesRule rule = {{Keep(p), k, n, f, e, y}, nt, {}};

  for (int j = 0; j < nt; j++) rule.t[j] = t[j];
  return Launch(work, n, rule, 2 * nt, "slopes");
}

extern "C" const BMRMClassKernels BMRM_CLASS_NAME(LOSS, CUDA);
const BMRMClassKernels            BMRM_CLASS_NAME(LOSS, CUDA) = {Risk, Cut, Slopes};
#endif
#endif
