/* Assignment of sparse points on the host: nonzeros times dense centroids, with the minimum fused, so that no n x k matrix is stored.

   The centroids are divided into blocks of at most 32. A block is stored by features, [d][lanes], so that a nonzero x_j adds x_j m_j to the inner products
   with all its centroids at once. Each lane of a SIMD register belongs to one centroid. Every inner product is thus summed and rounded as its
   definition says. The inner products of a block stay in registers. All points pass through one block before the next is stored, so that the block stays in
   the cache. */
#include "device/gpclones.h"
#include "solvers/kmeans/kmeanssteps.h"

#define KMEANS_LANES   4 /* centroids in a vector */
#define KMEANS_VECTORS 8 /* largest number of vectors in a block */

/* The compiler splits vectors that are longer than the registers. */
typedef double  KMeansVector __attribute__((vector_size(KMEANS_LANES * sizeof(double))));
typedef int64_t KMeansMask __attribute__((vector_size(KMEANS_LANES * sizeof(int64_t))));

/* A block of centroids. */
typedef struct {
  int32_t       first;                  /* number of its first centroid */
  int           vectors;                /* number of vectors that hold one feature of its centroids */
  KMeansVector *feature;                /* [d][vectors] the centroids; 0 beyond the last */
  KMeansVector  offset[KMEANS_VECTORS]; /* offset - factor * x.m is compared; the offset is infinite beyond the last centroid */
  double        factor;
  int32_t      *label; /* [n] the nearest centroid of the blocks so far; A->distance holds what it was compared by */
} KMeansBlock;

/* Finds the nearest centroid of a block. sum: inner products of a point. least: what the nearest centroid so far is compared by. */
static inline __attribute__((always_inline)) void KMeansBlockMinimum(const KMeansBlock *B, const int vectors, const KMeansVector sum[], double *least, int32_t *label)
{
  KMeansVector best = B->offset[0] - B->factor * sum[0];
  KMeansMask   at   = {0};

  for (int v = 1; v < vectors; v++) {
    const KMeansVector compared = B->offset[v] - B->factor * sum[v];
    const KMeansMask   nearer   = compared < best;

    best = (KMeansVector)((nearer & (KMeansMask)compared) | (~nearer & (KMeansMask)best));
    at   = (nearer & v) | (~nearer & at);
  }
  for (int lane = 0; lane < KMEANS_LANES; lane++) {
    const int32_t c = B->first + (int32_t)at[lane] * KMEANS_LANES + lane;

    /* The lanes do not ascend with the centroids. A centroid of an earlier block has a lower number than c. */
    if (best[lane] < *least || (best[lane] == *least && c < *label)) {
      *least = best[lane];
      *label = c;
    }
  }
}

/* Compares all points with the centroids of a block. Constants for `single` and `vectors` make the loops over vectors straight code. */
static inline __attribute__((always_inline)) void KMeansBlockPoints(const KMeansData *A, const KMeansBlock *B, const int single, const int vectors)
{
  for (int32_t i = 0; i < A->n; i++) {
    KMeansVector sum[KMEANS_VECTORS] = {{0}};
    double       least               = B->first ? A->distance[i] : HUGE_VAL;
    int32_t      label               = B->first ? B->label[i] : 0;

    for (int32_t e = A->row[i]; e < A->row[i + 1]; e++) {
      const double        x = single ? (double)((const float *)A->value)[e] : ((const double *)A->value)[e];
      const KMeansVector *m = B->feature + (int64_t)A->col[e] * vectors;

      for (int v = 0; v < vectors; v++) sum[v] += x * m[v];
    }
    KMeansBlockMinimum(B, vectors, sum, &least, &label);
    A->distance[i] = least;
    B->label[i]    = label;
  }
}

#define KMEANS_BLOCK_CASE(vectors) \
  case 2 * (vectors): \
    KMeansBlockPoints(A, B, 0, vectors); \
    break; \
  case 2 * (vectors) + 1: \
    KMeansBlockPoints(A, B, 1, vectors); \
    break

GP_CLONES static void KMeansBlockAssign(const KMeansData *A, const KMeansBlock *B)
{
  switch (2 * B->vectors + (A->single ? 1 : 0)) {
    KMEANS_BLOCK_CASE(1);
    KMEANS_BLOCK_CASE(2);
    KMEANS_BLOCK_CASE(3);
    KMEANS_BLOCK_CASE(4);
    KMEANS_BLOCK_CASE(5);
    KMEANS_BLOCK_CASE(6);
    KMEANS_BLOCK_CASE(7);
    KMEANS_BLOCK_CASE(8);
  }
}

/* Transposes the centroids of a block: B->feature has them by features. Eight features at a time keep the rows of the centroids in the cache. */
static void KMeansBlockStore(const KMeansData *A, KMeansBlock *B)
{
  const int     width = B->vectors * KMEANS_LANES;
  const int32_t many  = A->k - B->first < width ? A->k - B->first : width;
  double       *to = (double *)B->feature, *offset = (double *)B->offset;

  for (int32_t from = 0; from < A->d; from += 8) {
    const int32_t end = A->d - from < 8 ? A->d : from + 8;

    for (int32_t c = 0; c < width; c++) {
      const double *m = A->centroid + (int64_t)(B->first + c) * A->d;

      for (int32_t j = from; j < end; j++) to[(int64_t)j * width + c] = c < many ? m[j] : 0;
    }
  }
  for (int32_t c = 0; c < width; c++) offset[c] = c >= many ? HUGE_VAL : A->cosine ? 0 : A->square[B->first + c];
}

GpErr KMeansAssign_sparse_Host(const KMeansData *A)
{
  const int32_t vectors = (A->k + KMEANS_LANES - 1) / KMEANS_LANES, blocks = (vectors + KMEANS_VECTORS - 1) / KMEANS_VECTORS;
  KMeansBlock   B     = {.vectors = (vectors + blocks - 1) / blocks, .factor = A->cosine ? 1 : 2};
  const size_t  bytes = (size_t)A->d * B.vectors * sizeof(KMeansVector), labels = (size_t)A->n * sizeof(int32_t);
  GpErr         err = GpDevAlloc(A->dev, labels, &B.label);

  if (err) return err;
  err = GpDevAlloc(A->dev, bytes, &B.feature);
  for (; !err && B.first < A->k; B.first += B.vectors * KMEANS_LANES) {
    KMeansBlockStore(A, &B);
    KMeansBlockAssign(A, &B);
  }
  for (int32_t i = 0; !err && i < A->n; i++) KMeansPut(A, i, B.label[i], A->distance[i], A->k);
  GpDevFree(A->dev, &B.feature, bytes);
  GpDevFree(A->dev, &B.label, labels);
  return err;
}
