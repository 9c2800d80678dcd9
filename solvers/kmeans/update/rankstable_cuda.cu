/* The update `rank` with ranks in the order of the points, so that it is repeatable on one GPU. */
#include "kmeansrank.cuh"

extern "C" GpErr KMeansUpdate_rankstable_CUDA(const KMeansData *A)
{
  if (!A->n) return GP_SUCCESS;
  return A->single ? KMeansRankLaunch<float, true>(A) : KMeansRankLaunch<double, true>(A);
}
