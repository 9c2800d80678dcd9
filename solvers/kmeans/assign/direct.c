/* Assignment of dense points with up to KMEANS_DIRECT features on the host. A block of points stays in the L1 cache while the centroids stream by, and
   the least score of each point is kept as they pass. */
#include "solvers/kmeans/screen/kmeansscreen.h"

GpErr KMeansAssign_direct_Host(const KMeansData *A)
{
  return KMeansScreen(A, 0);
}

int KMeansFuses_Host(const KMeansData *A, int assign)
{
  (void)A;
  (void)assign;
  return 0;
}
