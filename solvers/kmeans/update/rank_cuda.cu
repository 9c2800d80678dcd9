/* Update by the irregular reduction of Dhanasekaran and Rubin (2011). Ranks depend on the order in which threads increment counts, so that the rounding errors of the
   sums differ from run to run. */
#include "kmeansrank.cuh"

extern "C" GpErr KMeansUpdate_rank_CUDA(const KMeansData *A)
{
  if (!A->n) return GP_SUCCESS;
  return A->single ? KMeansRankLaunch<float, false>(A) : KMeansRankLaunch<double, false>(A);
}
