/* Step 2 of Gunarathne et al. (2013): a thread copies its point to local memory first. */
#include "kmeansmemory.h"

KMEANS_MEMORY_ASSIGN(localpoints, KMEANS_LOCAL_POINTS)
