/* Summary on the screen and report in JSON. */
#include "smacof.h"

PetscErrorCode SummaryPrint(SMACOF s, const Summary *sum)
{
  const MPI_Comm        comm = PetscObjectComm((PetscObject)s);
  SMACOFConvergedReason reason;
  SMACOFInfo            info;
  PetscReal             sigma;
  PetscInt              it;

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(s, &info));
  PetscCall(SMACOFGetStress(s, &sigma, NULL));
  PetscCall(SMACOFGetConvergedReason(s, &reason));
  PetscCall(SMACOFGetIterationNumber(s, &it));
  PetscCall(PetscPrintf(comm, "dissimilarities: %" PetscInt_FMT " points, %" PetscInt64_FMT " pairs%s, %s, loaded in %.2g s\n", info.points, info.pairs, info.weighted ? " with weights" : "",
                        info.stored ? (info.storage == SMACOF_STORAGE_SINGLE ? "single precision" : "double precision") : "computed in every pass", sum->load));
  if (info.streamed)
    PetscCall(PetscPrintf(comm, "streamed: %.3g GB in %" PetscInt_FMT " blocks, %.3g GB of them resident; a pass transfers %.3g GB\n", 1e-9 * info.stream_bytes, info.stream_blocks, 1e-9 * info.stream_resident, 1e-9 * info.stream_moved));
  PetscCall(GpAppRoundingPrint(comm, "", &sum->rounding));
  PetscCall(PetscPrintf(comm, "SMACOF, dimension %" PetscInt_FMT ": %s after %" PetscInt_FMT " iterations, start %.3g s, iterations %.3g s\n", info.dim, SMACOFConvergedReasons[reason], it, info.seconds_start, info.seconds_solve));
  PetscCall(PetscPrintf(comm, "stress-1 %.12g, normalised stress %.12g\n", (double)PetscSqrtReal(sigma), (double)sigma));
  if (sum->target) PetscCall(PetscPrintf(comm, "rotated to the target: correlation %.10g, best factor %.10g\n", (double)sum->correlation, (double)sum->dilation));
  if (reason < 0) PetscCall(PetscPrintf(comm, "The last step lowered the stress by -smacof_eps %g or more; raise -smacof_max_it to continue\n", (double)info.eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the results beyond stress and iterations: the part of each point in the stress, and the rotation to a target. */
static PetscErrorCode ReportWriteAnalysis(SMACOF s, const Summary *sum, GpAppJSON *J)
{
  const PetscScalar *stress;
  double             total = 0;
  PetscInt           N;
  Vec                v;

  PetscFunctionBegin;
  PetscCall(SMACOFGetPointStress(s, &v));
  PetscCall(VecGetSize(v, &N));
  PetscCall(VecGetArrayRead(v, &stress));
  for (PetscInt i = 0; i < N; i++) total += stress[i];
  GpAppJSONOpen(J, "stress_percent", '[', PETSC_FALSE);
  for (PetscInt i = 0; i < N; i++) GpAppJSONWriteReal(J, NULL, total > 0 ? 100 * stress[i] / total : 0);
  GpAppJSONClose(J);
  PetscCall(VecRestoreArrayRead(v, &stress));
  if (sum->target) {
    GpAppJSONOpen(J, "target", '{', PETSC_FALSE);
    GpAppJSONWriteReal(J, "correlation", (double)sum->correlation);
    GpAppJSONWriteReal(J, "dilation", (double)sum->dilation);
    GpAppJSONClose(J);
  } else GpAppJSONWriteNull(J, "target");
  GpAppJSONOpen(J, "scree", '[', PETSC_FALSE);
  for (PetscInt d = sum->scree.low; d && d <= sum->scree.high; d++) {
    GpAppJSONOpen(J, NULL, '{', PETSC_FALSE);
    GpAppJSONWriteInt(J, "dim", d);
    GpAppJSONWriteReal(J, "stress1", (double)sum->scree.stress1[d]);
    GpAppJSONWriteBool(J, "converged", sum->scree.converged[d]);
    GpAppJSONClose(J);
  }
  GpAppJSONClose(J);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WriteReport(SMACOF s, const Summary *sum, const char file[])
{
  const MPI_Comm        comm = PetscObjectComm((PetscObject)s);
  SMACOFConvergedReason reason;
  SMACOFInfo            info;
  PetscReal             sigma, raw;
  PetscInt              it;
  PetscMPIInt           size;
  GpAppOutput           out;
  GpAppJSON             J;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(SMACOFGetInfo(s, &info));
  PetscCall(SMACOFGetStress(s, &sigma, &raw));
  PetscCall(SMACOFGetConvergedReason(s, &reason));
  PetscCall(SMACOFGetIterationNumber(s, &it));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    GpAppJSONBegin(&J, out.fp);
    GpAppJSONWriteInt(&J, "points", info.points);
    GpAppJSONWriteInt(&J, "pairs", info.pairs);
    GpAppJSONWriteBool(&J, "complete", info.complete);
    GpAppJSONWriteBool(&J, "weighted", info.weighted);
    GpAppJSONWriteString(&J, "storage", info.stored ? SMACOFStorages[info.storage] : "none");
    GpAppJSONWriteInt(&J, "dim", info.dim);
    GpAppJSONWriteString(&J, "acceleration", SMACOFAccelerations[info.acceleration]);
    GpAppJSONWriteString(&J, "disparity", SMACOFDisparities[info.disparity]);
    GpAppJSONWriteString(&J, "reason", SMACOFConvergedReasons[reason]);
    GpAppJSONWriteBool(&J, "converged", (PetscBool)(reason > 0));
    GpAppJSONWriteInt(&J, "iterations", it);
    GpAppJSONWriteInt(&J, "rejected", info.rejected);
    GpAppJSONWriteInt(&J, "starts", info.starts);
    GpAppJSONWriteInt(&J, "best_start", info.best_start);
    GpAppJSONWriteReal(&J, "stress1", (double)PetscSqrtReal(sigma));
    GpAppJSONWriteReal(&J, "stress_normalised", (double)sigma);
    GpAppJSONWriteReal(&J, "stress_raw", (double)raw);
    GpAppJSONWriteReal(&J, "sum_of_squares", (double)info.sum_squares);
    GpAppJSONWriteInt(&J, "ksp_iterations", info.ksp_its);
    GpAppJSONWriteReal(&J, "seconds_load", sum->load);
    GpAppJSONWriteReal(&J, "seconds_start", info.seconds_start);
    GpAppJSONWriteReal(&J, "seconds_solve", info.seconds_solve);
    GpAppJSONWriteReal(&J, "bytes_crossed", info.bytes_copied);
    GpAppJSONWriteBool(&J, "streamed", info.streamed);
    GpAppJSONWriteInt(&J, "stream_blocks", info.stream_blocks);
    GpAppJSONWriteReal(&J, "stream_bytes", info.stream_bytes);
    GpAppJSONWriteReal(&J, "stream_resident", info.stream_resident);
    GpAppJSONWriteReal(&J, "stream_pageable", info.stream_pageable);
    GpAppJSONWriteReal(&J, "stream_moved", info.stream_moved);
    GpAppJSONWriteReal(&J, "stream_rate", info.stream_rate);
    GpAppJSONWriteInt(&J, "ranks", size);
    GpAppJSONWriteString(&J, "pass", info.pass);
    GpAppRoundingWrite(&J, &sum->rounding);
    PetscCall(ReportWriteAnalysis(s, sum, &J));
    GpAppJSONWriteNames(&J, "names", info.points, sum->points.names);
    GpAppJSONWriteNames(&J, "features", sum->points.nfeatures, sum->points.feature_names);
    GpAppJSONEnd(&J);
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
