/* Kernels that run before the iterations: storing distances between features, and products with the matrix of squared dissimilarities. */
#include "passentries.h"
#include <gpucsrdevice.cuh>

namespace {
constexpr int BLOCK = 256, WARPS = BLOCK / 32;
constexpr int R = 4; /* rows of a warp; they share the loads of the vectors */
constexpr int K = 5; /* vectors of a launch; Torgerson's start in three dimensions uses five */

template <class Stored>
struct SMACOFEntries {
  static __device__ void Get(const SMACOFPass &p, int i, int j, double (&delta)[R][4])
  {
#pragma unroll
    for (int r = 0; r < R; r++) SMACOFLoad<true>((const Stored *)p.delta + (size_t)min(i + r, p.rows - 1) * p.ld + j, delta[r]);
  }
};

template <>
struct SMACOFEntries<SMACOFComputed> {
  static __device__ void Get(const SMACOFPass &p, int i, int j, double (&delta)[R][4]) { SMACOFComputeFeatureDistances<false>(p, p.feature, p.N, i, j, delta); }
};

/* computed distances with the values that SMACOFStoreDistances() stores */
template <class Stored>
struct SMACOFRounded;

template <class Stored>
struct SMACOFEntries<SMACOFRounded<Stored>> {
  static __device__ void Get(const SMACOFPass &p, int i, int j, double (&delta)[R][4])
  {
    SMACOFComputeFeatureDistances<false>(p, p.feature, p.N, i, j, delta);
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int k = 0; k < 4; k++) delta[r][k] = p.first + i + r == j + k ? 0 : (double)(Stored)delta[r][k];
    }
  }
};

template <class Stored>
__global__ void __launch_bounds__(BLOCK) SMACOFMultiplySquares(SMACOFPass p, int n, const double *v, double *y)
{
  const int i = (blockIdx.x * WARPS + threadIdx.x / 32) * R, lane = threadIdx.x % 32;
  double    sum[R][K] = {};

  if (i >= p.rows) return;
  for (int j = 4 * lane; j < p.N; j += 128) {
    double delta[R][4];

    SMACOFEntries<Stored>::Get(p, i, j, delta);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      double b[K];

#pragma unroll
      for (int c = 0; c < K; c++) b[c] = c < n && j + k < p.N ? v[(size_t)c * p.N + j + k] : 0;
#pragma unroll
      for (int r = 0; r < R; r++) {
        const double square = j + k < p.N ? delta[r][k] * delta[r][k] : 0; /* entries between the last column and the pitch are undefined */

#pragma unroll
        for (int c = 0; c < K; c++) sum[r][c] += square * b[c];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < R; r++) {
#pragma unroll
    for (int c = 0; c < K; c++) {
      for (int half = 16; half > 0; half /= 2) sum[r][c] += __shfl_xor_sync(0xffffffffu, sum[r][c], half);
      if (lane == 0 && c < n && i + r < p.rows) y[(size_t)c * p.rows + i + r] = sum[r][c];
    }
  }
}

template <class Stored>
__global__ void __launch_bounds__(BLOCK) SMACOFStoreDistances(SMACOFPass p, Stored *delta)
{
  const int i = (blockIdx.y * WARPS + threadIdx.x / 32) * R, j = (blockIdx.x * 32 + threadIdx.x % 32) * 4;
  double    distance[R][4];

  if (i >= p.rows || j >= p.N) return;
  SMACOFComputeFeatureDistances<false>(p, p.feature, p.N, i, j, distance);
  for (int r = 0; r < R && i + r < p.rows; r++) {
    for (int k = 0; k < 4 && j + k < p.N; k++) delta[(size_t)(i + r) * p.ld + j + k] = (Stored)(p.first + i + r == j + k ? 0 : distance[r][k]);
  }
}
} // namespace

extern "C" GpErr SMACOFMultiplySquares_CUDA(GpDev dev, const SMACOFPass *p, int n, const double *v, double *y)
{
  const auto computed = !p->as_stored ? SMACOFMultiplySquares<SMACOFComputed> : p->single ? SMACOFMultiplySquares<SMACOFRounded<float>> : SMACOFMultiplySquares<SMACOFRounded<double>>;
  const auto kernel   = !p->delta ? computed : p->single ? SMACOFMultiplySquares<float> : SMACOFMultiplySquares<double>;

  for (int k = 0; p->rows && k < n; k += K) {
    const double *from = v + (size_t)k * p->N;
    double       *to   = y + (size_t)k * p->rows;

    if (GpErr err = GpLaunchVector(dev, "product with squares of dissimilarities", kernel, GpGrid{GpBlocks(p->rows, WARPS * R), BLOCK}, *p, n - k, from, to)) return err;
  }
  return GP_SUCCESS;
}

extern "C" GpErr SMACOFStoreDistances_CUDA(GpDev dev, const SMACOFPass *p, void *delta)
{
  const GpGrid grid = {dim3(GpBlocks(p->N, 128), GpBlocks(p->rows, WARPS * R)), BLOCK};

  if (!p->rows) return GP_SUCCESS;
  if (p->single) return GpLaunchVector(dev, "distances between features", SMACOFStoreDistances<float>, grid, *p, (float *)delta);
  return GpLaunchVector(dev, "distances between features", SMACOFStoreDistances<double>, grid, *p, (double *)delta);
}
