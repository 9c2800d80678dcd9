/* Step 4 of Gunarathne et al. (2013): neighbouring threads read neighbouring addresses of global memory, where the points lie by columns. */
#include "kmeansmemory.h"

KMEANS_MEMORY_ASSIGN(columns, KMEANS_LOCAL_POINTS | KMEANS_LOCAL_CENTROIDS | KMEANS_COLUMNS)
