/* The host implementation of `tensor` is that of `tiled`: the host has no tensor cores. */
#include "solvers/kmeans/screen/kmeansscreen.h"

GpErr KMeansAssign_tensor_Host(const KMeansData *A)
{
  return KMeansScreen(A, 1);
}

GpErr KMeansHasTensor_Host(GpDev dev, int *has)
{
  *has = 0;
  return GP_SUCCESS;
}
