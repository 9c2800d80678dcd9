/* Assignment of dense points on a GPU by scores of tensor cores, then in single precision for points that these do not decide. */
#include "solvers/kmeans/screen/kmeansscreen.cuh"

extern "C" GpErr KMeansAssign_tensor_CUDA(const KMeansData *A)
{
  int   has;
  GpErr err = KMeansHasTensor_CUDA(A->dev, &has);

  return err ? err : KMeansScreen_CUDA(A, has);
}
