/* CUDA implementation of `tensor`, and KMeansFuses() for all assignments. With up to KMEANS_DIRECT features kmeanssplit.cuh describes the method, otherwise kmeanstensor_cuda.cu. */
#include "kmeansdirect.cuh"
#include "kmeanssplit.cuh"
#include "solvers/kmeans/screen/kmeansscreen.cuh"

extern "C" int KMeansFuses_CUDA(const KMeansData *A, int assign)
{
  int has;

  if (assign == KMEANS_ASSIGN_direct) return KMeansDirectFuses_CUDA(A);
  if (assign == KMEANS_ASSIGN_cells) return KMeansCellsFuses_CUDA(A);
  return assign == KMEANS_ASSIGN_tensor && !KMeansHasTensor_CUDA(A->dev, &has) && has ? KMeansDirectFuses<KMeansSplit>(A) : 0;
}

extern "C" GpErr KMeansAssign_tensor_CUDA(const KMeansData *A)
{
  int   has;
  GpErr err = KMeansHasTensor_CUDA(A->dev, &has);

  if (!err && has && A->d <= KMEANS_DIRECT) return KMeansDirectAssign<KMeansSplit>(A);
  return err ? err : KMeansScreen_CUDA(A, has);
}
