/* How device code gets at dissimilarities: four that are stored beside each other, or distances computed from features. */
#ifndef GPUCSR_SMACOF_PASSENTRIES_H
#define GPUCSR_SMACOF_PASSENTRIES_H

#include "pass.h"

struct Computed; /* instead of the type of what is stored */

__device__ inline void Load(const float *from, float (&to)[4])
{
  const float4 v = __ldcs((const float4 *)from);

  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ inline void Load(const float *from, double (&to)[4])
{
  const float4 v = __ldcs((const float4 *)from);

  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ inline void Load(const double *from, double (&to)[4])
{
  const double2 v = __ldcs((const double2 *)from), w = __ldcs((const double2 *)from + 1);

  to[0] = v.x, to[1] = v.y, to[2] = w.x, to[3] = w.y;
}

/* distances between features of R rows and four columns; q has the members of a pass that tell of them */
template <int R, class Job>
__device__ inline void FromFeatures(const Job &q, int i, int j, double (&delta)[R][4])
{
#pragma unroll
  for (int r = 0; r < R; r++) delta[r][0] = delta[r][1] = delta[r][2] = delta[r][3] = 0;
  for (int f = 0; f < q.nfeature; f++) {
    const double *feature = q.feature + (size_t)f * q.N;
    double        b[4];

#pragma unroll
    for (int k = 0; k < 4; k++) b[k] = feature[min(j + k, q.N - 1)];
#pragma unroll
    for (int r = 0; r < R; r++) {
      const double a = feature[q.first + min(i + r, q.rows - 1)];

#pragma unroll
      for (int k = 0; k < 4; k++) delta[r][k] += q.metric == PASS_COSINE ? a * b[k] : q.metric == PASS_MANHATTAN ? fabs(a - b[k]) : (a - b[k]) * (a - b[k]);
    }
  }
#pragma unroll
  for (int r = 0; r < R; r++) {
#pragma unroll
    for (int k = 0; k < 4; k++) delta[r][k] = q.metric == PASS_COSINE ? fmax(0., 1 - delta[r][k]) : q.metric == PASS_MANHATTAN ? delta[r][k] : sqrt(delta[r][k]);
  }
}

#endif
