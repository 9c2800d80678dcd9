/* Format teamcluster: a team of lanes for each row; the largest teams are thread block clusters. */
#include "mat/impls/gpucsr/spmv/team/gpteam.h"

GpErr GpFmtBuild_teamcluster(GpFmt *A, const int32_t rowptr[])
{
  const GpDev dev     = A->csr->dev;
  const int   cluster = 1 << (GP_TEAM_CLUSTER - GP_TEAM_BLOCK);
  GpErr       err;

  (void)rowptr;
  if (dev->cluster_blocks < cluster) return GpDevFail(dev, GP_ERR_ARGUMENT, "clusters of %d thread blocks need compute capability 9.0", cluster);
  err = GpTeamsBuild(A, GP_TEAM_CLUSTER, cluster);
  if (err || ((const GpTeams *)A->data)->ngangs) return err;
  return GpDevFail(dev, GP_ERR_ARGUMENT, "no row needs more than one thread block; use kernel team, which needs no clusters");
}

GpErr GpFmtRefill_teamcluster(GpFmt *A)
{
  return GpFmtRefill_team(A);
}

void GpFmtDestroy_teamcluster(GpFmt *A)
{
  GpFmtDestroy_team(A);
}

double GpFmtBytes_teamcluster(const GpFmt *A)
{
  return GpFmtBytes_team(A);
}

double GpFmtTraffic_teamcluster(const GpFmt *A)
{
  return GpFmtTraffic_team(A);
}
