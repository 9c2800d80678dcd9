/* Squared distances by the definition, of several points at a time. */
#ifndef KMEANSEXACT_H
#define KMEANSEXACT_H

#include "solvers/kmeans/kmeansdata.h"

/* compared[p] = KMeansCompare() of point first + p and centroid label[p], for dense points and the Euclidean metric. */
void KMeansExact(const KMeansData *A, int64_t first, int32_t points, const int32_t label[], double compared[]);

#endif
