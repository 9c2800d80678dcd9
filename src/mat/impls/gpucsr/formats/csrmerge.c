/* Compressed sparse rows cut along the merge path: every tile has as many nonzeros and ends of rows together as any other. */
#include "mat/impls/gpucsr/formats/gpformat.h"

GpErr GpFmtBuild_csrmerge(GpFmt *A, const int32_t rowptr[])
{
  return GpCsrTileBuild(A, rowptr, GP_MERGE, 0);
}

GpErr GpFmtRefill_csrmerge(GpFmt *A)
{
  (void)A; /* the values are those of the rows */
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
