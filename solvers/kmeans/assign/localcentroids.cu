/* Step 3 of Gunarathne et al. (2013): the threads of a block copy centroids to local memory too. */
#include "kmeansmemory.h"

KMEANS_MEMORY_ASSIGN(localcentroids, KMEANS_LOCAL_POINTS | KMEANS_LOCAL_CENTROIDS)
