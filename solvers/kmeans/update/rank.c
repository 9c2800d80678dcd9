/* Update by the irregular reduction of Dhanasekaran and Rubin (2011) on the host: the steps of kmeansrank.cuh for one group of points after another. Ranks are in
   the order of the points. */
#include "kmeansfloat.h"

enum {
  KMEANS_RANK_GROUP = 256
};

/* A group of points. */
typedef struct {
  int32_t first, n;                 /* number of its first point, and of its points */
  int32_t used;                     /* number of places claimed */
  int32_t point[KMEANS_RANK_GROUP]; /* number of the point at each place */
  int32_t rank[KMEANS_RANK_GROUP];  /* its rank in its cluster */
  int32_t rest[KMEANS_RANK_GROUP];  /* number of points of its cluster from this place on */
} KMeansRankGroup;

/* Sorts the points of a group by cluster. count: [k] zeros, as on return; offset: [k] workspace. */
static void KMeansRankScatter(const KMeansData *A, KMeansRankGroup *G, int32_t count[], int32_t offset[])
{
  int32_t rank[KMEANS_RANK_GROUP];

  G->used = 0;
  for (int32_t t = 0; t < G->n; t++) rank[t] = count[A->label[G->first + t]]++;
  for (int32_t t = 0; t < G->n; t++) {
    const int32_t c = A->label[G->first + t];

    if (rank[t]) continue;
    offset[c] = G->used;
    G->used += count[c];
  }
  for (int32_t t = 0; t < G->n; t++) {
    const int32_t c = A->label[G->first + t], place = offset[c] + rank[t];

    G->point[place] = G->first + t;
    G->rank[place]  = rank[t];
    G->rest[place]  = count[c] - rank[t];
  }
  for (int32_t t = 0; t < G->n; t++) count[A->label[G->first + t]] = 0;
}

/* Adds column q of a group to the sums of the clusters. */
static void KMeansRankTree(const KMeansData *A, const KMeansRankGroup *G, int32_t q, double *sum)
{
  float value[KMEANS_RANK_GROUP];

  for (int32_t place = 0; place < G->n; place++) value[place] = KMeansFloatValue(A, G->point[place], q);
  for (int32_t step = 1; step < G->n; step *= 2) {
    for (int32_t place = 0; place < G->n; place++)
      if (G->rank[place] % (2 * step) == 0 && step < G->rest[place]) value[place] += value[place + step];
  }
  for (int32_t place = 0; place < G->n; place++)
    if (!G->rank[place]) sum[(int64_t)A->label[G->point[place]] * (A->d + 1) + q] += (double)value[place];
}

GpErr KMeansUpdate_rank_Host(const KMeansData *A)
{
  const size_t    counts = 2 * (size_t)A->k * sizeof(int32_t), sums = (size_t)A->k * (A->d + 1) * sizeof(double);
  int32_t        *count = NULL;
  double         *sum   = NULL;
  KMeansRankGroup G;
  GpErr           err = GpDevAlloc(A->dev, counts, &count);

  if (!err) err = GpDevAlloc(A->dev, sums, &sum);
  if (!err) {
    memset(count, 0, counts);
    memset(sum, 0, sums);
    for (G.first = 0; G.first < A->n; G.first += G.n) {
      G.n = A->n - G.first < KMEANS_RANK_GROUP ? A->n - G.first : KMEANS_RANK_GROUP;
      KMeansRankScatter(A, &G, count, count + A->k);
      for (int32_t q = 0; q <= A->d; q++) KMeansRankTree(A, &G, q, sum);
    }
    KMeansFloatAdd(A, sum);
  }
  GpDevFree(A->dev, &sum, sums);
  GpDevFree(A->dev, &count, counts);
  return err;
}
