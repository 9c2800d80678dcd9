/* Update on the host while a GPU assigns the points (Gunarathne et al., 2013): the labels are copied to the host, which adds up its own copy of the points.
   If device memory is host memory, it is the update `fixed`. */
#include "kmeansadd.h"

GP_PAIR(KMeansUpdate_fixed, const KMeansData *A);

GpErr KMeansUpdate_host_Host(const KMeansData *A)
{
  return KMeansUpdate_fixed_Host(A);
}

#if GP_HAVE_CUDA
GpErr KMeansUpdate_host_CUDA(const KMeansData *A)
{
  KMeansData host = *A->host;
  GpErr      err  = A->n ? GpDevDownload(A->dev, host.label, A->label, (size_t)A->n * sizeof(int32_t)) : GP_SUCCESS;

  if (err) return err;
  host.k = A->k;
  memset(host.tally, 0, (size_t)KMeansTallySize(A->k, A->d, A->words) * sizeof(int64_t));
  return KMeansUpdate_fixed_Host(&host);
}
#endif
