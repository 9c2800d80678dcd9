/* Summary on the screen and report in JSON. */
#include "kmeansrun.h"
#include "app/output/appoutput.h"
#include "app/report/appjson.h"
#include <gpucsr.h>

/* Prints what was read, before the iteration, which may take long. */
PetscErrorCode KMeansPrintPoints(const KMeansRun *run)
{
  PetscInt N, d;

  PetscFunctionBegin;
  PetscCall(MatGetSize(run->points.X, &N, &d));
  PetscCall(PetscPrintf(run->comm, "points: %" PetscInt_FMT " with %" PetscInt_FMT " features, %s, loaded in %.2g s\n", N, d, run->points.source, run->load));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the result. */
PetscErrorCode KMeansPrintSummary(const KMeansRun *run)
{
  PetscReal             inertia;
  PetscInt              it, restarts, best;
  KMeansConvergedReason reason;
  const char           *device;

  PetscFunctionBegin;
  PetscCall(KMeansGetInertia(run->km, &inertia));
  PetscCall(KMeansGetIterationNumber(run->km, &it));
  PetscCall(KMeansGetConvergedReason(run->km, &reason));
  PetscCall(KMeansGetRestarts(run->km, &restarts, &best));
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  if (restarts > 1) PetscCall(PetscPrintf(run->comm, "k-means, %" PetscInt_FMT " clusters: the best of %" PetscInt_FMT " restarts is number %" PetscInt_FMT ", counted from 0\n", run->k, restarts, best));
  PetscCall(PetscPrintf(run->comm, "k-means, %" PetscInt_FMT " clusters: %s after %" PetscInt_FMT " iterations, %.3g s, on %s\ninertia %.12g\n", run->k, KMeansConvergedReasons[reason], it, run->solve, device, (double)inertia));
  if (run->sample && PetscIsNanReal(run->silhouette)) PetscCall(PetscPrintf(run->comm, "silhouette undefined: fewer than two clusters have points\n"));
  else if (run->sample) PetscCall(PetscPrintf(run->comm, "silhouette %.6g, the mean of %" PetscInt_FMT " points\n", (double)run->silhouette, run->sample));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes whether `auto` has changed the assignment during the solve. */
static PetscErrorCode KMeansWriteChange(const KMeansRun *run, GpAppJSON *J)
{
  const char *before;
  PetscInt    restart, it;

  PetscFunctionBegin;
  PetscCall(KMeansGetAssignChange(run->km, &before, &restart, &it));
  if (before) {
    GpAppJSONOpen(J, "assign_change", '{', PETSC_FALSE);
    GpAppJSONWriteString(J, "from", before);
    GpAppJSONWriteInt(J, "restart", restart);
    GpAppJSONWriteInt(J, "iteration", it);
    GpAppJSONClose(J);
  } else GpAppJSONWriteNull(J, "assign_change");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the part of the report that describes the result. */
static PetscErrorCode KMeansWriteResult(const KMeansRun *run, GpAppJSON *J)
{
  PetscReal             inertia;
  PetscInt              it, restarts;
  PetscInt64            distances, rechecked;
  KMeansConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(KMeansGetInertia(run->km, &inertia));
  PetscCall(KMeansGetIterationNumber(run->km, &it));
  PetscCall(KMeansGetConvergedReason(run->km, &reason));
  PetscCall(KMeansGetRestarts(run->km, &restarts, NULL));
  PetscCall(KMeansGetDistances(run->km, &distances, &rechecked));
  GpAppJSONWriteString(J, "reason", KMeansConvergedReasons[reason]);
  GpAppJSONWriteBool(J, "converged", (PetscBool)(reason > 0));
  GpAppJSONWriteInt(J, "iterations", it);
  GpAppJSONWriteInt(J, "restarts", restarts);
  GpAppJSONWriteReal(J, "inertia", (double)inertia);
  GpAppJSONOpen(J, "sizes", '[', PETSC_FALSE);
  for (PetscInt c = 0; c < run->k; c++) GpAppJSONWriteInt(J, NULL, run->size[c]);
  GpAppJSONClose(J);
  GpAppJSONWriteInt(J, "distances", distances);
  GpAppJSONWriteInt(J, "rechecked", rechecked);
  if (run->sample && !PetscIsNanReal(run->silhouette)) GpAppJSONWriteReal(J, "silhouette", (double)run->silhouette);
  else GpAppJSONWriteNull(J, "silhouette");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the state of streamed points, or null. */
static PetscErrorCode KMeansWriteStream(const KMeansStreamInfo *info, GpAppJSON *J)
{
  PetscFunctionBegin;
  if (info->streamed) {
    GpAppJSONOpen(J, "stream", '{', PETSC_FALSE);
    GpAppJSONWriteInt(J, "blocks", info->blocks);
    GpAppJSONWriteInt(J, "passes", info->passes);
    GpAppJSONWriteReal(J, "bytes", info->bytes);
    GpAppJSONWriteReal(J, "bytes_pageable", info->pageable_bytes);
    GpAppJSONWriteReal(J, "bytes_resident", info->resident_bytes);
    GpAppJSONWriteReal(J, "bytes_moved", info->moved);
    GpAppJSONWriteReal(J, "bytes_timed", info->timed_bytes);
    GpAppJSONWriteReal(J, "seconds_timed", info->timed_seconds);
    GpAppJSONWriteReal(J, "seconds_pin", info->pin_seconds);
    GpAppJSONWriteReal(J, "seconds_wait", info->wait_seconds);
    GpAppJSONClose(J);
  } else GpAppJSONWriteNull(J, "stream");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KMeansWriteReport(const KMeansRun *run, const char file[])
{
  PetscInt         N, d;
  PetscLogDouble   start, assign, update, bytes;
  KMeansStorage    storage;
  KMeansStart      how;
  KMeansStreamInfo stream;
  MatInfo          info;
  const char      *device, *assigner, *updater;
  PetscMPIInt      size;
  GpAppOutput      out;
  GpAppJSON        J;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(run->comm, &size));
  PetscCall(MatGetSize(run->points.X, &N, &d));
  PetscCall(MatGetInfo(run->points.X, MAT_GLOBAL_SUM, &info));
  PetscCall(KMeansGetStorage(run->km, &storage));
  PetscCall(KMeansGetStart(run->km, &how));
  PetscCall(KMeansGetAssign(run->km, &assigner));
  PetscCall(KMeansGetUpdate(run->km, &updater));
  PetscCall(KMeansGetTimes(run->km, &start, &assign, &update));
  PetscCall(KMeansGetBytesCopied(run->km, &bytes));
  PetscCall(KMeansGetStreamInfo(run->km, &stream));
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(GpAppOutputOpen(run->comm, file, &out));
  if (out.fp) {
    GpAppJSONBegin(&J, out.fp);
    GpAppJSONWriteInt(&J, "points", N);
    GpAppJSONWriteInt(&J, "features", d);
    GpAppJSONWriteInt(&J, "clusters", run->k);
    GpAppJSONWriteInt(&J, "nnz", (PetscInt64)info.nz_used);
    GpAppJSONWriteString(&J, "storage", KMeansStorages[storage]);
    GpAppJSONWriteString(&J, "start", KMeansStarts[how]);
    GpAppJSONWriteString(&J, "assign", assigner);
    PetscCall(KMeansWriteChange(run, &J));
    GpAppJSONWriteString(&J, "update", updater);
    PetscCall(KMeansWriteResult(run, &J));
    GpAppJSONWriteReal(&J, "seconds_load", run->load);
    GpAppJSONWriteReal(&J, "seconds_start", start);
    GpAppJSONWriteReal(&J, "seconds_assign", assign);
    GpAppJSONWriteReal(&J, "seconds_update", update);
    GpAppJSONWriteReal(&J, "seconds_solve", run->solve);
    GpAppJSONWriteReal(&J, "bytes_crossed", bytes);
    PetscCall(KMeansWriteStream(&stream, &J));
    GpAppJSONWriteInt(&J, "ranks", size);
    GpAppJSONWriteString(&J, "device", device);
    GpAppJSONEnd(&J);
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
