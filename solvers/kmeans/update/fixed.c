/* Update by fixed-point sums on the host: the features of each point are added to the sums of its cluster. */
#include "kmeansadd.h"

GpErr KMeansUpdate_fixed_Host(const KMeansData *A)
{
  for (int32_t i = 0; i < A->n; i++) KMeansAddPoint(A, i);
  return GP_SUCCESS;
}
