/* Format csrmerge: compressed rows cut along the merge path. In every tile the number of nonzeros plus the number of row ends is the same. */
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

GpErr GpFmtBuild_csrmerge(GpFmt *A, const int32_t rowptr[])
{
  return GpCsrTileBuild(A, rowptr, GP_MERGE, 0);
}

GpErr GpFmtRefill_csrmerge(GpFmt *A)
{
  (void)A; /* the values are those of the compressed rows */
  return GP_SUCCESS;
}

void GpFmtDestroy_csrmerge(GpFmt *A)
{
  GpFmtDestroy_csrtile(A);
}

double GpFmtBytes_csrmerge(const GpFmt *A)
{
  return GpFmtBytes_csrtile(A);
}

double GpFmtTraffic_csrmerge(const GpFmt *A)
{
  return GpFmtTraffic_csrtile(A);
}
