/* CUDA implementation of `direct`. kmeansdirect.cuh describes the method. */
#include "kmeansdirect.cuh"
#include "kmeansfew.h"
#include "kmeanssingle.cuh"

int KMeansDirectFuses_CUDA(const KMeansData *A)
{
  return KMeansDirectFuses<KMeansSingle>(A);
}

extern "C" GpErr KMeansAssign_direct_CUDA(const KMeansData *A)
{
  if (A->n && KMeansFewIsPossible(A)) return KMeansFewAssign(A);
  return KMeansDirectAssign<KMeansSingle>(A);
}
