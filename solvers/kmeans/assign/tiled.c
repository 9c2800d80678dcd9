/* Assignment of dense points with any number of features on the host. Points, centroids and features are divided into blocks. The scores of a block of
   points with all centroids are kept in memory; each block of features adds its squares to them. */
#include "solvers/kmeans/screen/kmeansscreen.h"

GpErr KMeansAssign_tiled_Host(const KMeansData *A)
{
  return KMeansScreen(A, 1);
}
