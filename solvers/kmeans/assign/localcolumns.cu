/* Step 5 of Gunarathne et al. (2013): neighbouring threads read neighbouring banks of local memory, where the points lie by columns too. */
#include "kmeansmemory.h"

KMEANS_MEMORY_ASSIGN(localcolumns, KMEANS_LOCAL_POINTS | KMEANS_LOCAL_CENTROIDS | KMEANS_COLUMNS | KMEANS_LOCAL_COLUMNS)
