/* CUDA implementation of `direct`. kmeansdirect.cuh describes the method. */
#include "kmeansdirect.cuh"
#include "kmeanssingle.cuh"

int KMeansDirectFuses_CUDA(const KMeansData *A)
{
  return KMeansDirectFuses<KMeansSingle>(A);
}

extern "C" GpErr KMeansAssign_direct_CUDA(const KMeansData *A)
{
  return KMeansDirectAssign<KMeansSingle>(A);
}
