/* The kernel of `direct` for few clusters. kmeansfew_cuda.cu describes it. */
#ifndef KMEANSFEW_H
#define KMEANSFEW_H

#include "solvers/kmeans/kmeansdata.h"

#define KMEANS_FEW          16                 /* largest number of clusters */
#define KMEANS_FEW_FEATURES 8                  /* largest number of features */
#define KMEANS_FEW_SUMS     ((size_t)32 << 10) /* largest number of bytes for the copies of the sums of a block */

/* Returns 1 if KMeansFewAssign() supports A. */
static inline int KMeansFewIsPossible(const KMeansData *A)
{
  return A->loop && A->fuse && A->k <= KMEANS_FEW && A->d <= KMEANS_FEW_FEATURES && !A->weight && !A->distance;
}

/* Assigns all points, and adds them to the tally. Only files that nvcc compiles may call it. */
GpErr KMeansFewAssign(const KMeansData *A);

#endif
