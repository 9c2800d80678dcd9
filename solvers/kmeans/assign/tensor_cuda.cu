/* Assignment of dense points on a GPU by scores of tensor cores, then in single precision for points that these do not decide. */
#include "kmeansdirect.cuh"
#include "kmeanssplit.cuh"
#include "solvers/kmeans/screen/kmeansscreen.cuh"

extern "C" int KMeansFuses_CUDA(const KMeansData *A, int assign)
{
  int has;

  if (assign == KMEANS_ASSIGN_direct) return KMeansDirectFuses_CUDA(A);
  return assign == KMEANS_ASSIGN_tensor && !KMeansHasTensor_CUDA(A->dev, &has) && has && KMeansDirectFuses<KMeansSplit>(A);
}

extern "C" GpErr KMeansAssign_tensor_CUDA(const KMeansData *A)
{
  int   has;
  GpErr err = KMeansHasTensor_CUDA(A->dev, &has);

  if (!err && has && A->d <= KMEANS_DIRECT) return KMeansDirectAssign<KMeansSplit>(A);
  return err ? err : KMeansScreen_CUDA(A, has);
}
