/* Assignment of dense points on a GPU by scores in single precision. */
#include "solvers/kmeans/screen/kmeansscreen.cuh"

extern "C" GpErr KMeansAssign_tiled_CUDA(const KMeansData *A)
{
  return KMeansScreen_CUDA(A, 0);
}
