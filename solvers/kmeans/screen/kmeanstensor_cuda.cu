/* Scores by tensor cores: coordinates in half precision, sums in single precision.

   A block keeps the coordinates of its points in shared memory. It copies the centroids in chunks to a ring of STAGES buffers. A warp computes a tile of 32 points
   and 64 centroids. A thread has 4 points of the tile, and 16 scores of each, which are a group of kmeansbest.cuh. No score leaves the registers. With larger
   tiles a multiprocessor would load less from shared memory, but have fewer than 16 warps. It needs these so that some warps multiply while others compare
   scores.

   Half precision has as many significant bits as TF32, which are 11, and takes half the time and memory. The frame brings nearly all points into its range. The
   rounding error of any other point is infinite, so that all its scores are computed again in single precision.

   Error of the additions (r in kmeansframe.cuh). Tensor cores multiply exactly. They align the products of a step and the sum so far to the largest exponent,
   and truncate bits below 2^-23 of it (Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021). NVIDIA does not document this;
   the bound assumes only that a step has at least 4 products, and that truncation replaces rounding. Then q products take q + 2 truncations of at most 2^-23 P.
   For at most d + 15 products that is at most 0.75 (d + 15) 2^-22 P, so that (d + 16) 2^-22 P has a reserve of a quarter. KMeansMark() changes 4 bits, which adds
   2^-19 P. So r = (d + 32) 2^-22. */
#include "kmeansscreen.cuh"
#include "kmeanscopy.cuh"
#include <gpucsrdevice.cuh>

namespace {

/* The shape of a block. It has ACROSS x DOWN warps: DOWN for different points, ACROSS for different centroids. CHUNK: number of features in a chunk. BLOCKS: number of
   blocks of a multiprocessor. PANELS: the features of the points do not fit shared memory together. They are converted in panels, again for each tile of
   centroids. */
template <int DOWN_, int ACROSS_, int CHUNK_, int BLOCKS_, bool PANELS_>
struct KMeansTensorShape {
  static constexpr int  DOWN = DOWN_, ACROSS = ACROSS_, CHUNK = CHUNK_, BLOCKS = BLOCKS_;
  static constexpr bool PANELS = PANELS_;
  static constexpr int  STAGES = 4;
  static constexpr int  POINTS = 32 * DOWN, CENTROIDS = 64 * ACROSS, THREADS = 32 * DOWN * ACROSS;
  static constexpr int  STRIDE = CHUNK + 8;                       /* distance of two rows of a chunk in values. It is an odd multiple of 16 bytes, so that 8 rows are in different banks */
  static constexpr int  PIECES = CENTROIDS * CHUNK / 8 / THREADS; /* number of copies of 16 bytes that a thread executes for a chunk */

  static_assert(PIECES * THREADS * 8 == CENTROIDS * CHUNK && CENTROIDS <= KMEANS_TENSOR_CENTROIDS && (!PANELS || CHUNK % KMEANS_TENSOR_FEATURES == 0), "copies of a chunk, and panels of whole chunks");

  static size_t Bytes(int32_t panel, size_t real) { return sizeof(__half) * ((size_t)POINTS * (panel + 8) + (size_t)STAGES * CENTROIDS * STRIDE) + 2 * sizeof(float) * POINTS + real * panel; }
};

using KMeansTensorFew  = KMeansTensorShape<8, 1, 64, 2, false>; /* at most 128 features */
using KMeansTensorMore = KMeansTensorShape<8, 2, 32, 1, false>;
using KMeansTensorMost = KMeansTensorShape<4, 4, 32, 1, true>;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* Stores four coordinates of a point in half precision. */
struct KMeansStoreHalf {
  __half *a;
  int     stride;

  __device__ float operator()(int row, int32_t j, const float (&y)[4]) const
  {
    const __half2 low = __floats2half2_rn(y[0], y[1]), high = __floats2half2_rn(y[2], y[3]);
    const float2  l = __half22float2(low), h = __half22float2(high);
    const float   e[4] = {y[0] - l.x, y[1] - l.y, y[2] - h.x, y[3] - h.y}; /* exact */
    __half2      *to   = (__half2 *)(a + row * stride + j);

    to[0] = low;
    to[1] = high;
    return fmaf(e[0], e[0], fmaf(e[1], e[1], fmaf(e[2], e[2], e[3] * e[3])));
  }
};

/* Copies a chunk of a tile of centroids to shared memory: the features from j on. */
template <class T>
__device__ __forceinline__ void KMeansTensorCopy(const KMeansFrameCentroids &C, __half *b, int32_t tile, int32_t j)
{
  #pragma unroll
  for (int p = 0; p < T::PIECES; p++) {
    const int piece = p * T::THREADS + threadIdx.x, row = piece / (T::CHUNK / 8), column = piece % (T::CHUNK / 8) * 8;

    if (j + column < C.columns) KMeansCopy16(b + row * T::STRIDE + column, (const __half *)C.m + ((int64_t)tile * T::CENTROIDS + row) * C.rowstep + j + column);
  }
}

/* Adds the products of 16 features to the sums of a tile. START: the sums begin with minus the values `half` of the centroids.
   a, b: addresses of this lane for ldmatrix; half: address of the first centroid of this lane. */
template <int STRIDE, bool START>
__device__ __forceinline__ void KMeansTensorStep(float (&sum)[2][8][4], const __half *a, int stride, const __half *b, const float *half)
{
  uint32_t x[2][4];

  #pragma unroll
  for (int r = 0; r < 2; r++) KMeansLoadMatrices(x[r], a + r * 16 * stride);
  #pragma unroll
  for (int c = 0; c < 8; c += 2) {
    uint32_t m[4];

    KMeansLoadMatrices(m, b + c * 8 * STRIDE);
  #pragma unroll
    for (int s = 0; s < 2; s++) {
      if (START) {
        const float2 h        = *(const float2 *)(half + (c + s) * 8);
        const float  start[4] = {-h.x, -h.y, -h.x, -h.y};

  #pragma unroll
        for (int r = 0; r < 2; r++) KMeansMultiplyMatrices(sum[r][c + s], x[r], m[2 * s], m[2 * s + 1], start);
      } else {
  #pragma unroll
        for (int r = 0; r < 2; r++) KMeansMultiplyMatrices(sum[r][c + s], x[r], m[2 * s], m[2 * s + 1], sum[r][c + s]);
      }
    }
  }
}

/* Merges the scores of a tile into the best scores. */
__device__ __forceinline__ void KMeansTensorAdd(KMeansBestGroups (&best)[4], const float (&sum)[2][8][4], int32_t tile)
{
  #pragma unroll
  for (int r = 0; r < 4; r++) {
    float score[16];

  #pragma unroll
    for (int s = 0; s < 16; s++) score[s] = KMeansMark<4>(sum[r / 2][s / 2][r % 2 * 2 + s % 2], s);
    KMeansBestAdd(best[r], score, tile);
  }
}
#endif

template <class T, class Real>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS) KMeansTensorKernel(KMeansScores S, int32_t panel)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) unsigned char KMeansTensorMemory[];
  const KMeansFrameCentroids                   &C = S.C;

  const int     lane = threadIdx.x % 32, warp = threadIdx.x / 32, down = warp % T::DOWN, across = warp / T::DOWN, stride = panel + 8;
  const int32_t chunks = (C.columns + T::CHUNK - 1) / T::CHUNK, steps = (S.A.k + T::CENTROIDS - 1) / T::CENTROIDS * chunks;
  const int64_t place = (int64_t)blockIdx.x * T::POINTS;
  __half *const a     = (__half *)KMeansTensorMemory; /* [POINTS][stride] */
  __half *const b     = a + T::POINTS * stride;       /* [STAGES][CENTROIDS][STRIDE] */
  float *const square = (float *)(b + T::STAGES * T::CENTROIDS * T::STRIDE), *const error = square + T::POINTS;
  Real *const      centre = (Real *)(error + T::POINTS);
  const __half    *mine   = a + (down * 32 + lane % 16) * stride + lane / 16 * 8;
  const int        row    = (across * 64 + lane / 16 * 8 + lane % 8) * T::STRIDE + lane / 8 % 2 * 8;
  KMeansBestGroups best[4];
  float            sum[2][8][4];
  int32_t          tile = 0, chunk = 0, nexttile = 0, nextchunk = 0;

  #pragma unroll
  for (int r = 0; r < 4; r++) best[r] = KMeansBestGroups{{-HUGE_VALF, -HUGE_VALF, -HUGE_VALF}, {0, 0}};
  for (int s = 0; s < T::STAGES - 1; s++) {
    if (s < steps) KMeansTensorCopy<T>(C, b + s * T::CENTROIDS * T::STRIDE, nexttile, nextchunk * T::CHUNK);
    KMeansCopyCommit();
    if (++nextchunk == chunks) {
      nextchunk = 0;
      nexttile++;
    }
  }
  if (!T::PANELS) KMeansConvertPanel(S, place, S.A.n, T::POINTS, 0, C.columns, centre, true, square, error, KMeansStoreHalf{a, stride});
  for (int32_t q = 0; q < steps; q++) {
    const int32_t j = chunk * T::CHUNK;
    const __half *m = b + q % T::STAGES * T::CENTROIDS * T::STRIDE + row, *x = mine + (T::PANELS ? j % panel : j);

    KMeansCopyWait<T::STAGES - 2>();
    __syncthreads(); /* the chunk has arrived, and all warps have finished the previous one */
    if (T::PANELS && j % panel == 0 && (q == 0 || panel < C.columns)) KMeansConvertPanel(S, place, S.A.n, T::POINTS, j, C.columns - j < panel ? C.columns - j : panel, centre, tile == 0, square, error, KMeansStoreHalf{a, stride});
    if (q + T::STAGES - 1 < steps) KMeansTensorCopy<T>(C, b + (q + T::STAGES - 1) % T::STAGES * T::CENTROIDS * T::STRIDE, nexttile, nextchunk * T::CHUNK);
    KMeansCopyCommit();
    if (++nextchunk == chunks) {
      nextchunk = 0;
      nexttile++;
    }
    if (chunk == 0) KMeansTensorStep<T::STRIDE, true>(sum, x, stride, m, C.half + (int64_t)tile * T::CENTROIDS + across * 64 + lane % 4 * 2);
    else KMeansTensorStep<T::STRIDE, false>(sum, x, stride, m, NULL);
    if (j + T::CHUNK <= C.columns) { /* a loop without tests, so that the loads of a step overlap the products of the previous step */
  #pragma unroll
      for (int k = 16; k < T::CHUNK; k += 16) KMeansTensorStep<T::STRIDE, false>(sum, x + k, stride, m + k, NULL);
    } else {
      for (int k = 16; j + k < C.columns; k += 16) KMeansTensorStep<T::STRIDE, false>(sum, x + k, stride, m + k, NULL);
    }
    if (++chunk == chunks) {
      KMeansTensorAdd(best, sum, tile);
      chunk = 0;
      tile++;
    }
  }
  KMeansCopyWait<0>();
  __syncthreads(); /* the best scores reuse the memory of the ring */
  #pragma unroll
  for (int r = 0; r < 4; r++) {
    KMeansBest X;

  #pragma unroll
    for (int s = 0; s < 2; s++) {
      const int at = __float_as_int(best[r].score[s]) & 15;

      X.score[s] = best[r].score[s];
      X.c[s]     = best[r].group[s] * T::CENTROIDS + across * 64 + at / 2 * 8 + lane % 4 * 2 + at % 2;
    }
    X.score[2] = best[r].score[2];
    KMeansBestReduce<4>(X);
    if (lane % 4 == 0) ((KMeansBest *)b)[across * T::POINTS + down * 32 + r / 2 * 16 + r % 2 * 8 + lane / 4] = X;
  }
  __syncthreads();
  for (int p = threadIdx.x; p < T::POINTS; p += T::THREADS) {
    const int32_t d        = S.A.d;
    const double  norm     = KMeansFrameNorm(d, square[p]);
    const double  rounding = KMeansFrameNorm(d, error[p]) + KMeansFrameRounding(d, norm) + sqrt((double)d) * 0x1p-14; /* tensor cores may treat numbers below 2^-14 as 0 */
    KMeansBest    X        = ((const KMeansBest *)b)[p];

    for (int w = 1; w < T::ACROSS; w++) KMeansBestMerge(X, ((const KMeansBest *)b)[w * T::POINTS + p]);
    KMeansDecide(S, place + p < S.A.n ? (int32_t)(place + p) : -1, X, norm, rounding);
  }
#endif
}

template <class T, class Real>
GpErr KMeansTensorLaunch(const KMeansScores *S, int32_t panel)
{
  const size_t bytes = T::Bytes(panel, sizeof(Real));
  GpErr        err   = GpCheckCuda(S->A.dev, cudaFuncSetAttribute(KMeansTensorKernel<T, Real>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "tensor: cannot set the shared memory of a thread block");

  return err ? err : GpLaunch(S->A.dev, "scores by tensor cores", KMeansTensorKernel<T, Real>, GpGrid{GpBlocks(S->A.n, T::POINTS), T::THREADS, bytes}, *S, panel);
}

template <class Real>
GpErr KMeansTensorScores(const KMeansScores *S)
{
  const size_t  shared  = GpDevSharedBytes(S->A.dev);
  const int32_t columns = S->C.columns;
  int32_t       panel   = columns;

  if (columns <= 128 && KMeansTensorFew::Bytes(columns, sizeof(Real)) <= shared) return KMeansTensorLaunch<KMeansTensorFew, Real>(S, columns);
  if (KMeansTensorMore::Bytes(columns, sizeof(Real)) <= shared) return KMeansTensorLaunch<KMeansTensorMore, Real>(S, columns);
  for (int32_t panels = 2; KMeansTensorMost::Bytes(panel, sizeof(Real)) > shared; panels++) {
    panel = (columns + panels - 1) / panels;
    panel = (panel + KMeansTensorMost::CHUNK - 1) / KMeansTensorMost::CHUNK * KMeansTensorMost::CHUNK;
    if (panel == KMeansTensorMost::CHUNK) break;
  }
  return KMeansTensorLaunch<KMeansTensorMost, Real>(S, panel);
}

} // namespace

GpErr KMeansScoresTensor(KMeansScores *S)
{
  S->relative = (S->A.d + 32) * 0x1p-22;
  if (!(S->relative < 0.125)) S->relative = HUGE_VAL;
  return S->A.single ? KMeansTensorScores<float>(S) : KMeansTensorScores<double>(S);
}

extern "C" GpErr KMeansHasTensor_CUDA(GpDev dev, int *has)
{
  cudaFuncAttributes attributes = {};
  GpErr              err        = GpCheckCuda(dev, cudaFuncGetAttributes(&attributes, KMeansTensorKernel<KMeansTensorFew, float>), "tensor: cannot query a kernel");

  *has = attributes.ptxVersion >= 80 && attributes.binaryVersion >= 80;
  return err;
}
