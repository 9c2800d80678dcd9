/* Exact assignment of dense points on a GPU, Euclidean metric: scores in half or single precision, then distances in double precision. kmeansframe.cuh has the
   proof; kmeansbest.cuh what is kept of the scores. */
#ifndef KMEANSSCREEN_CUH
#define KMEANSSCREEN_CUH

#include "kmeansbest.cuh"

#define KMEANS_TENSOR_CENTROIDS 256 /* the number of converted centroids is a multiple of this */
#define KMEANS_TENSOR_FEATURES  16  /* the number of their features likewise */
#define KMEANS_TILED_CENTROIDS  128
#define KMEANS_TILED_FEATURES   8

/* Each function computes the scores of the points of S, and sets S->relative. */
GpErr KMeansScoresTensor(KMeansScores *S); /* centroids in half precision, a row each */
GpErr KMeansScoresTiled(KMeansScores *S);  /* centroids in single precision, a column each */

/* Sets label and distance of the points with one or two candidates, and of those in S->list. Adds the totals of all points to the tally. */
GpErr KMeansFinish(const KMeansScores *S);

/* Assigns all points. tensor: 1 to compute scores by tensor cores first. */
GpErr KMeansScreen_CUDA(const KMeansData *A, int tensor);

#endif
