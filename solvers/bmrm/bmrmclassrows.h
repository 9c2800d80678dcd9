/* Template of a loss of several classes: defines its host or CUDA kernels from its formulas (see bmrmclasses.h). */
#ifndef BMRM_CLASSROWS_H
#define BMRM_CLASSROWS_H

#define BMRM_NAME_(name, backend) BMRMClasses_##name##_##backend
#define BMRM_NAME(name, backend)  BMRM_NAME_(name, backend)

/* Computes the state. Returns 0, or NaN if a score is not finite, so that the caller's sums show it. */
FORMULA double ClassStart(const BMRMExample *x, double state[])
{
  double sum = 0;

  for (int c = 0; c < x->k; c++) sum += ClassScore(x, c);
  ClassState(x, state);
  return sum - sum;
}

FORMULA double ClassValue(const BMRMExample *x)
{
  double       state[BMRM_CLASS_STATE], value = 0;
  const double bad = ClassStart(x, state);

  for (int c = 0; c < x->k; c++) value += ClassSlope(x, state, c) * ClassScore(x, c);
  return value + ClassOffset(x, state) + bad;
}

/* Stores the slopes of the cut of an example in r, and returns its offset. */
FORMULA double ClassCut(const BMRMExample *x, double scale, double *r)
{
  double       state[BMRM_CLASS_STATE];
  const double bad = ClassStart(x, state);

  for (int c = 0; c < x->k; c++) r[c * x->m] = scale * ClassSlope(x, state, c) + bad;
  return ClassOffset(x, state) + bad;
}

FORMULA void ClassSlopes(const BMRMExample *x, double *first, double *second)
{
  double       state[BMRM_CLASS_STATE], sum = 0;
  const double bad = ClassStart(x, state);

  for (int c = 0; c < x->k; c++) sum += ClassSlope(x, state, c) * ClassAlong(x, c);
  *first += sum + bad;
  *second += ClassCurvature(x, state);
}

#if !defined(__CUDACC__)
  /* A loss may define faster host implementations of these functions. */
  #if !defined(CLASS_HOST_VALUE)
    #define CLASS_HOST_VALUE  ClassValue
    #define CLASS_HOST_CUT    ClassCut
    #define CLASS_HOST_SLOPES ClassSlopes
  #endif

static inline double BMRMClassesGetFactor(const BMRMScores *x, int64_t i)
{
  return x->v ? x->v[i] : 1;
}

static GpErr BMRMClassesRisk(BMRMWork *work, const BMRMScores *x, double s)
{
  double sum = 0;

  for (int64_t i = 0; i < x->n; i++) {
    const BMRMExample example = ClassGetExample(x, i, s);

    sum += BMRMClassesGetFactor(x, i) * CLASS_HOST_VALUE(&example);
  }
  work->result[0] = sum;
  return GP_SUCCESS;
}

static GpErr BMRMClassesCut(BMRMWork *work, const BMRMScores *x, double s, int64_t first, int nblock, int block, double scale, double *r)
{
  double sum = 0;

  for (int64_t i = 0; i < x->n; i++) {
    const BMRMExample example = ClassGetExample(x, i, s);

    if ((first + i) % nblock == block) sum += BMRMClassesGetFactor(x, i) * CLASS_HOST_CUT(&example, scale * BMRMClassesGetFactor(x, i), r + i);
    else
      for (int c = 0; c < x->k; c++) r[c * x->n + i] = 0;
  }
  work->result[0] = sum;
  return GP_SUCCESS;
}

static GpErr BMRMClassesSlopes(BMRMWork *work, const BMRMScores *x, int nt, const double t[])
{
  for (int j = 0; j < nt; j++) {
    work->result[2 * j] = work->result[2 * j + 1] = 0;
    for (int64_t i = 0; i < x->n; i++) {
      const BMRMExample example = ClassGetExample(x, i, t[j]);
      double            first = 0, second = 0;

      CLASS_HOST_SLOPES(&example, &first, &second);
      work->result[2 * j] += BMRMClassesGetFactor(x, i) * first;
      work->result[2 * j + 1] += BMRMClassesGetFactor(x, i) * second;
    }
  }
  return GP_SUCCESS;
}

  #if defined(LOSS_PARAMETER)
    #define BMRM_PARAMETERS {{LOSS_PARAMETER}}, 1
  #else
    #define BMRM_PARAMETERS {{NULL}}, 0
  #endif

  #if CLASS_LINES
static void BMRMClassesLine(const BMRMExample *x, int c, double *value, double *slope)
{
  ClassLine(x, c, value, slope);
}
  #else
    #define BMRMClassesLine NULL
  #endif

extern const BMRMClasses BMRM_NAME(LOSS, Host);

const BMRMClasses BMRM_NAME(LOSS, Host) = {{BMRMClassesRisk, BMRMClassesCut, BMRMClassesSlopes}, LOSS_TASK, BMRM_PARAMETERS, BMRMClassesLine};

#else
__device__ static double BMRMRowRisk(const BMRMScores &x, int64_t i, double s)
{
  const BMRMExample example = ClassGetExample(&x, i, s);

  return ClassValue(&example);
}

__device__ static double BMRMRowCut(const BMRMScores &x, int64_t i, double s, double scale, double *r)
{
  const BMRMExample example = ClassGetExample(&x, i, s);

  return ClassCut(&example, scale, r + i);
}

__device__ static void BMRMRowSlopes(const BMRMScores &x, int64_t i, int nt, const double (&t)[BMRM_SLOPES], double (&sum)[2 * BMRM_SLOPES])
{
  #pragma unroll
  for (int j = 0; j < BMRM_SLOPES; j++) {
    if (j >= nt) continue;
    const BMRMExample example = ClassGetExample(&x, i, t[j]);

    ClassSlopes(&example, &sum[2 * j], &sum[2 * j + 1]);
  }
}

  #include "solvers/bmrm/bmrmrows.h"
#endif
#endif
