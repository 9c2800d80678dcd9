/* Device functions that load four consecutive dissimilarities or compute distances from features, and square roots. */
#ifndef GPUCSR_SMACOF_PASSENTRIES_H
#define GPUCSR_SMACOF_PASSENTRIES_H

#include "pass.h"

struct SMACOFComputed; /* used as the storage type if distances are computed */

/* Loads four consecutive numbers.  ONCE: they are not read again soon. */
template <bool ONCE, class Real>
__device__ inline void SMACOFLoad(const float *from, Real (&to)[4])
{
  const float4 v = ONCE ? __ldcs((const float4 *)from) : *(const float4 *)from;

  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

template <bool ONCE>
__device__ inline void SMACOFLoad(const double *from, double (&to)[4])
{
  const double2 v = ONCE ? __ldcs((const double2 *)from) : *(const double2 *)from, w = ONCE ? __ldcs((const double2 *)from + 1) : *((const double2 *)from + 1);

  to[0] = v.x, to[1] = v.y, to[2] = w.x, to[3] = w.y;
}

__device__ inline float SMACOFSqrt(float s)
{
  float y;

  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(s));
  return y;
}

__device__ inline double SMACOFSqrt(double s)
{
  return sqrt(s);
}

/* added to squares of distances, so that points that coincide cause no division by 0 */
template <class Real>
constexpr Real SMACOFTiny = sizeof(Real) == 4 ? (Real)1e-36 : (Real)1e-300;

__device__ inline float SMACOFInverseSqrt(float s)
{
  float y;

  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(s));
  return y;
}

/* Returns 1/sqrt(s) for a normal positive number, without tests for special cases: an approximation with relative error 2^-20, and one
   iteration of third order. */
__device__ inline double SMACOFInverseSqrt(double s)
{
  double y;

  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(s));
  const double e = fma(-s * y, y, 1.0);

  return fma(fma(e, 0.375, 0.5), e * y, y);
}

/* terms of the sum over the features; selected outside the loop */
enum {
  FEATURES_SQUARES,
  FEATURES_PRODUCTS,
  FEATURES_ABSOLUTE
};

template <int SUM, bool PADDED, int R, class Real, class SMACOFJob>
__device__ inline void SMACOFSumFeatures(const SMACOFJob &q, const Real *feature, size_t ld, int i, int j, Real (&sum)[R][4])
{
#pragma unroll
  for (int r = 0; r < R; r++) sum[r][0] = sum[r][1] = sum[r][2] = sum[r][3] = 0;
  for (int f = 0; f < q.nfeature; f++, feature += ld) {
    Real b[4];

    if (PADDED) SMACOFLoad<false>(feature + j, b);
#pragma unroll
    for (int k = 0; k < 4 && !PADDED; k++) b[k] = feature[min(j + k, q.N - 1)];
#pragma unroll
    for (int r = 0; r < R; r++) {
      const Real a = feature[q.first + min(i + r, q.rows - 1)];

#pragma unroll
      for (int k = 0; k < 4; k++) {
        if (SUM == FEATURES_PRODUCTS) sum[r][k] += a * b[k];
        else if (SUM == FEATURES_ABSOLUTE) sum[r][k] += fabs(a - b[k]);
        else sum[r][k] += (a - b[k]) * (a - b[k]);
      }
    }
  }
}

/* Computes the distances between R rows and four columns from features.  Component f of point j is feature[f * ld + j].  Job has the members
   nfeature, metric, N, rows and first of a Pass.
   PADDED: ld and j are multiples of four, and columns past the last point can be read.
   In float, cosine distances are computed from |a - b|^2 = 2 - 2 a'b for vectors of length 1, because 1 - a'b cancels if it is small. */
template <bool PADDED, int R, class Real, class SMACOFJob>
__device__ inline void SMACOFComputeFeatureDistances(const SMACOFJob &q, const Real *feature, size_t ld, int i, int j, Real (&delta)[R][4])
{
  constexpr bool differences = sizeof(Real) == 4;

  if (q.metric == PASS_MANHATTAN) {
    SMACOFSumFeatures<FEATURES_ABSOLUTE, PADDED>(q, feature, ld, i, j, delta);
    return;
  }
  if (q.metric == PASS_COSINE && !differences) SMACOFSumFeatures<FEATURES_PRODUCTS, PADDED>(q, feature, ld, i, j, delta);
  else SMACOFSumFeatures<FEATURES_SQUARES, PADDED>(q, feature, ld, i, j, delta);
#pragma unroll
  for (int r = 0; r < R; r++) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
      if (q.metric == PASS_EUCLIDEAN) delta[r][k] = SMACOFSqrt(delta[r][k]);
      else delta[r][k] = differences ? delta[r][k] * (Real)0.5 : fmax((Real)0, 1 - delta[r][k]);
    }
  }
}

#endif
