/* The update `rank` with ranks in the order of the points. On the host this is always their order. */
#include "solvers/kmeans/kmeansdata.h"

GP_PAIR(KMeansUpdate_rank, const KMeansData *A);

GpErr KMeansUpdate_rankstable_Host(const KMeansData *A)
{
  return KMeansUpdate_rank_Host(A);
}
