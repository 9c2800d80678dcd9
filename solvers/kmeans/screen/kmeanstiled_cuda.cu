/* Scores in single precision for any number of features.

   A block has 128 points, or 64 if S.points is a short list. It converts a panel of their features to shared memory, where the panel lies feature by feature. The
   centroids are copied in chunks to a ring of STAGES buffers. If all features fit, the panel is converted once, otherwise again for each tile of 128 centroids.
   A thread computes the scores of 8 points, or 4, and 8 centroids, which are a group of kmeansbest.cuh. KMeansMark() changes 3 bits of a score, less than 2^-20
   of its value. A score has d + 1 roundings. */
#include "kmeansscreen.cuh"
#include "kmeanscopy.cuh"
#include <gpucsrdevice.cuh>

namespace {

constexpr int POINTS = 128, CENTROIDS = KMEANS_TILED_CENTROIDS, THREADS = 256, CHUNK = KMEANS_TILED_FEATURES, STAGES = 4;
constexpr int STRIDE = POINTS + 4; /* distance of two features of a panel in values, a multiple of 16 bytes */
constexpr int HALVES = 2;          /* number of warps that share a point; each has half of the centroids of a tile */

size_t KMeansTiledBytes(int32_t panel, size_t real)
{
  return sizeof(float) * ((size_t)STRIDE * panel + STAGES * CHUNK * CENTROIDS + 2 * POINTS) + sizeof(KMeansBest) * HALVES * POINTS + real * panel;
}

/* Stores four coordinates of a point to a panel, feature by feature. */
struct KMeansStoreSingle {
  float *a;

  __device__ float operator()(int row, int32_t j, const float (&y)[4]) const
  {
#pragma unroll
    for (int e = 0; e < 4; e++) a[(j + e) * STRIDE + row] = y[e];
    return 0;
  }
};

/* Copies a chunk of a tile of centroids to shared memory: the features from j on. Each thread copies 16 bytes. */
__device__ __forceinline__ void KMeansTiledCopy(const KMeansFrameCentroids &C, float *b, int32_t tile, int32_t j)
{
  const int row = threadIdx.x / (CENTROIDS / 4), column = threadIdx.x % (CENTROIDS / 4) * 4;

  KMeansCopy16(b + row * CENTROIDS + column, (const float *)C.m + (j + row) * C.columnstep + (int64_t)tile * CENTROIDS + column);
}

/* Adds the products of a feature to the scores. */
template <int ROWS>
__device__ __forceinline__ void KMeansTiledStep(float (&sum)[ROWS][8], const float *a, const float *b)
{
  const float4 a0 = *(const float4 *)a, a1 = *(const float4 *)(a + (ROWS > 4 ? 16 : 0)), b0 = *(const float4 *)b, b1 = *(const float4 *)(b + 32);
  const float  x[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w}, m[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};

#pragma unroll
  for (int r = 0; r < ROWS; r++) {
#pragma unroll
    for (int c = 0; c < 8; c++) sum[r][c] = fmaf(x[r], m[c], sum[r][c]);
  }
}

/* Initialises the scores of a tile with minus half the squared norms of the centroids. */
template <int ROWS>
__device__ __forceinline__ void KMeansTiledStart(float (&sum)[ROWS][8], const float *half)
{
  const float4 h0 = *(const float4 *)half, h1 = *(const float4 *)(half + 32);
  const float  h[8] = {h0.x, h0.y, h0.z, h0.w, h1.x, h1.y, h1.z, h1.w};

#pragma unroll
  for (int r = 0; r < ROWS; r++) {
#pragma unroll
    for (int c = 0; c < 8; c++) sum[r][c] = -h[c];
  }
}

/* Merges the scores of a tile into the best scores. */
template <int ROWS>
__device__ __forceinline__ void KMeansTiledAdd(KMeansBestGroups (&best)[ROWS], const float (&sum)[ROWS][8], int32_t tile)
{
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    float score[8];

#pragma unroll
    for (int c = 0; c < 8; c++) score[c] = KMeansMark<3>(sum[r][c], c);
    KMeansBestAdd(best[r], score, tile);
  }
}

/* Computes the best scores of 16 * ROWS points, whose places in S.points begin at `place`, and stores the candidates. PANELS: the features of the points do not fit
   shared memory together. */
template <class Real, bool PANELS, int ROWS>
__device__ __forceinline__ void KMeansTiledPoints(const KMeansScores &S, int32_t panel, int64_t place, int64_t many, unsigned char *memory)
{
  const KMeansFrameCentroids &C = S.C;

  const int     lane = threadIdx.x % 32, warp = threadIdx.x / 32, down = warp / HALVES * 4 * ROWS + lane / 8 * 4, across = warp % HALVES * 64 + lane % 8 * 4;
  const int32_t chunks = C.columns / CHUNK, steps = (S.A.k + CENTROIDS - 1) / CENTROIDS * chunks;
  float *const a = (float *)memory, *const b = a + STRIDE * panel, *const square = b + STAGES * CHUNK * CENTROIDS, *const error = square + POINTS;
  KMeansBest *const found  = (KMeansBest *)(error + POINTS); /* [HALVES][POINTS] */
  Real *const       centre = (Real *)(found + HALVES * POINTS);
  KMeansBestGroups  best[ROWS];
  float             sum[ROWS][8];
  int32_t           tile = 0, chunk = 0, nexttile = 0, nextchunk = 0;

#pragma unroll
  for (int r = 0; r < ROWS; r++) best[r] = KMeansBestGroups{{-HUGE_VALF, -HUGE_VALF, -HUGE_VALF}, {0, 0}};
  __syncthreads(); /* threads may still read the ring for the previous points */
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < steps) KMeansTiledCopy(C, b + s * CHUNK * CENTROIDS, nexttile, nextchunk * CHUNK);
    KMeansCopyCommit();
    if (++nextchunk == chunks) {
      nextchunk = 0;
      nexttile++;
    }
  }
  if (!PANELS) KMeansConvertPanel(S, place, many, 16 * ROWS, 0, C.columns, centre, true, square, error, KMeansStoreSingle{a});
  for (int32_t q = 0; q < steps; q++) {
    const int32_t j = chunk * CHUNK;
    const float  *m = b + q % STAGES * CHUNK * CENTROIDS + across;

    KMeansCopyWait<STAGES - 2>();
    __syncthreads(); /* the chunk has arrived, and all warps have finished the previous one */
    if (PANELS && j % panel == 0) KMeansConvertPanel(S, place, many, 16 * ROWS, j, C.columns - j < panel ? C.columns - j : panel, centre, tile == 0, square, error, KMeansStoreSingle{a});
    if (q + STAGES - 1 < steps) KMeansTiledCopy(C, b + (q + STAGES - 1) % STAGES * CHUNK * CENTROIDS, nexttile, nextchunk * CHUNK);
    KMeansCopyCommit();
    if (++nextchunk == chunks) {
      nextchunk = 0;
      nexttile++;
    }
    if (chunk == 0) KMeansTiledStart(sum, C.half + (int64_t)tile * CENTROIDS + across);
#pragma unroll
    for (int k = 0; k < CHUNK; k++) KMeansTiledStep(sum, a + ((PANELS ? j % panel : j) + k) * STRIDE + down, m + k * CENTROIDS);
    if (++chunk == chunks) {
      KMeansTiledAdd(best, sum, tile);
      chunk = 0;
      tile++;
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    KMeansBest X;

#pragma unroll
    for (int s = 0; s < 2; s++) {
      const int at = __float_as_int(best[r].score[s]) & 7;

      X.score[s] = best[r].score[s];
      X.c[s]     = best[r].group[s] * CENTROIDS + across + at / 4 * 32 + at % 4;
    }
    X.score[2] = best[r].score[2];
    KMeansBestReduce<8>(X);
    if (lane % 8 == 0) found[warp % HALVES * POINTS + down + r / 4 * 16 + r % 4] = X;
  }
  __syncthreads();
  if (threadIdx.x < 16 * ROWS) {
    const int64_t at   = place + threadIdx.x;
    const double  norm = KMeansFrameNorm(S.A.d, square[threadIdx.x]);
    KMeansBest    X    = found[threadIdx.x];

    KMeansBestMerge(X, found[POINTS + threadIdx.x]);
    KMeansDecide(S, at < many ? (int32_t)(S.points ? S.points[at] : at) : -1, X, norm, KMeansFrameRounding(S.A.d, norm));
  }
}

template <class Real, bool PANELS>
__global__ void __launch_bounds__(THREADS, 2) KMeansTiledKernel(KMeansScores S, int32_t panel)
{
  extern __shared__ __align__(16) unsigned char KMeansTiledMemory[];
  const int64_t                                 many = S.points ? *S.many : S.A.n, halves = (int64_t)gridDim.x * (POINTS / 2), waves = (many + halves - 1) / halves;

  if (S.points && waves % 2 && waves < 4) { /* the last blocks of 128 points would leave half of the GPU idle */
    for (int64_t place = (int64_t)blockIdx.x * (POINTS / 2); place < many; place += halves) KMeansTiledPoints<Real, PANELS, 4>(S, panel, place, many, KMeansTiledMemory);
  } else {
    for (int64_t place = (int64_t)blockIdx.x * POINTS; place < many; place += 2 * halves) KMeansTiledPoints<Real, PANELS, 8>(S, panel, place, many, KMeansTiledMemory);
  }
}

template <class Real, bool PANELS>
GpErr KMeansTiledLaunch(const KMeansScores *S, int32_t panel)
{
  const size_t   bytes = KMeansTiledBytes(panel, sizeof(Real));
  const unsigned tiles = GpBlocks(S->A.n, POINTS), busy = 2 * (unsigned)GpDevComputeUnits(S->A.dev);
  GpErr          err = GpCheckCuda(S->A.dev, cudaFuncSetAttribute(KMeansTiledKernel<Real, PANELS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "tiled: cannot set the shared memory of a thread block");

  return err ? err : GpLaunch(S->A.dev, "scores in single precision", KMeansTiledKernel<Real, PANELS>, GpGrid{S->points && busy < tiles ? busy : tiles, THREADS, bytes}, *S, panel);
}

template <class Real>
GpErr KMeansTiledScores(const KMeansScores *S)
{
  const size_t half  = GpDevSharedBytes(S->A.dev) / 2 - 1024; /* two blocks share a multiprocessor, which reserves 1 KiB for each */
  int32_t      panel = S->C.columns;

  for (int32_t panels = 2; panel > CHUNK && KMeansTiledBytes(panel, sizeof(Real)) > half; panels++) {
    panel = (S->C.columns + panels - 1) / panels;
    panel = (panel + CHUNK - 1) / CHUNK * CHUNK;
  }
  return panel < S->C.columns ? KMeansTiledLaunch<Real, true>(S, panel) : KMeansTiledLaunch<Real, false>(S, panel);
}

} // namespace

GpErr KMeansScoresTiled(KMeansScores *S)
{
  S->relative = KMeansFrameRelative(S->A.d) + 0x1p-19;
  return S->A.single ? KMeansTiledScores<float>(S) : KMeansTiledScores<double>(S);
}
