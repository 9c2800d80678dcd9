/* Exact assignment of dense points on a GPU, Euclidean metric: scores in half or single precision, then distances in double precision. kmeansframe.cuh has the
   proof, and kmeansbest.cuh describes which scores are kept. */
#ifndef KMEANSSCREEN_CUH
#define KMEANSSCREEN_CUH

#include "kmeansbest.cuh"

#define KMEANS_TENSOR_CENTROIDS 256 /* the number of converted centroids is a multiple of this */
#define KMEANS_TENSOR_FEATURES  16  /* the number of features of converted centroids is a multiple of this */
#define KMEANS_TILED_CENTROIDS  128 /* number of centroids in a tile of KMeansScoresTiled() */
#define KMEANS_TILED_FEATURES   8   /* number of features in a chunk of KMeansScoresTiled() */

/* Each function computes the scores of the points of S, and sets S->relative. */
GpErr KMeansScoresTensor(KMeansScores *S); /* S->C: centroids in half precision, one row for each centroid */
GpErr KMeansScoresTiled(KMeansScores *S);  /* S->C: centroids in single precision, one column for each centroid */

/* Sets label and distance of the points with one or two candidates, and of those in S->list. Adds the totals of all points to the tally. */
GpErr KMeansFinish(const KMeansScores *S);

/* Assigns all points. tensor: 1: tensor cores compute scores first. */
GpErr KMeansScreen_CUDA(const KMeansData *A, int tensor);

#endif
