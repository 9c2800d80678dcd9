/* Step 1 of Gunarathne et al. (2013): a thread reads its point and all centroids from global memory for every distance. */
#include "kmeansmemory.h"

KMEANS_MEMORY_ASSIGN(naive, 0)
