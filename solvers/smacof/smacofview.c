/* Monitors and viewers. */
#include "solvers/smacof/smacofimpl.h"
#include <petscviewer.h>

static const char *const SMACOFSteps[] = {"start", "anderson", "relaxed", "plain", "plain, the last"};

/* The monitor of -smacof_monitor: prints a line for each accepted step. */
PetscErrorCode SMACOFMonitorDefault_Private(SMACOF s, PetscInt start, PetscInt it, PetscReal stress, SMACOFConvergedReason reason, void *ctx)
{
  const MPI_Comm        comm = PetscObjectComm((PetscObject)s);
  const SMACOFProgress *at   = &s->monitored->at;

  PetscFunctionBegin;
  if (reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->starts > 1) PetscCall(PetscPrintf(comm, "start %" PetscInt_FMT ": ", start));
  PetscCall(PetscPrintf(comm, "%5" PetscInt_FMT " stress-1 %.10f", it, (double)PetscSqrtReal(stress)));
  if (at->step != SMACOF_STEP_START) PetscCall(PetscPrintf(comm, " normalised stress falls by %.3e", (double)(at->last - stress)));
  PetscCall(PetscPrintf(comm, ", %s\n", SMACOFSteps[at->step]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls the monitors for a path. */
PetscErrorCode SMACOFMonitor_Private(SMACOF s, const SMACOFPath *P, SMACOFConvergedReason reason)
{
  PetscFunctionBegin;
  s->monitored = P;
  for (PetscInt k = 0; k < s->nmonitors; k++) PetscCall((*s->monitor[k])(s, P->at.start, P->at.it, P->now.sigma, reason, s->monitorctx[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SMACOFMonitorSet - Adds a monitor, which is called after every accepted step and when a start has stopped

  Logically Collective

  Input Parameters:
+ s       - the solver
. monitor - called with the solver, the number of the start, the iteration, the normalised stress, the reason (0\: the start has not stopped) and ctx
. ctx     - context of the monitor, or `NULL`
- destroy - frees the context, or `NULL`

  Options Database Key:
. -smacof_monitor <false> - print the stress of every iteration

  Level: intermediate

.seealso: `SMACOFMonitorCancel()`, `SMACOFSolve()`
@*/
PetscErrorCode SMACOFMonitorSet(SMACOF s, SMACOFMonitorFn monitor, void *ctx, PetscErrorCode (*destroy)(void **))
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(monitor, 2);
  PetscCheck(s->nmonitors < SMACOF_MAX_MONITORS, PetscObjectComm((PetscObject)s), PETSC_ERR_ARG_OUTOFRANGE, "The solver has %d monitors, which is the maximum; SMACOFMonitorCancel() removes them", SMACOF_MAX_MONITORS);
  s->monitor[s->nmonitors]          = monitor;
  s->monitorctx[s->nmonitors]       = ctx;
  s->monitordestroy[s->nmonitors++] = destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFMonitorCancel - Removes all monitors

  Logically Collective

  Input Parameter:
. s - the solver

  Level: intermediate

.seealso: `SMACOFMonitorSet()`
@*/
PetscErrorCode SMACOFMonitorCancel(SMACOF s)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  for (; s->nmonitors; s->nmonitors--)
    if (s->monitordestroy[s->nmonitors - 1]) PetscCall((*s->monitordestroy[s->nmonitors - 1])(&s->monitorctx[s->nmonitors - 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the blocks of streamed dissimilarities and their sizes, summed over the ranks, of which some may stream and others not. Prints nothing if none does. */
static PetscErrorCode SMACOFStreamedView(SMACOF s, PetscViewer viewer)
{
  SMACOFInfo info = {.dim = s->dim};

  PetscFunctionBegin;
  PetscCall(SMACOFStreamedGetInfo_Private(s->device.streamed, &info));
  PetscLogDouble sum[] = {(PetscLogDouble)info.stream_blocks, info.stream_bytes, info.stream_resident, info.stream_pageable, info.stream_moved};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, PETSC_STATIC_ARRAY_LENGTH(sum), MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)s)));
  if (sum[0] == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "streamed from host memory: %.0f blocks of %.0f bytes in all, %.0f resident on the device, %.0f transferred in the last pass\n", sum[0], sum[1], sum[2], sum[4]));
  if (sum[3] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "the system refused to pin %.0f bytes, which every pass copies to pinned buffers; see ulimit -l\n", sum[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SMACOFView - Prints the settings of the solver and, after a solve, its result

  Collective

  Input Parameters:
+ s      - the solver
- viewer - an ASCII viewer, or `NULL` for the standard output stream

  Options Database Key:
. -smacof_view [viewer] - view after the solve

  Level: beginner

.seealso: `SMACOFViewFromOptions()`, `SMACOFSolve()`
@*/
PetscErrorCode SMACOFView(SMACOF s, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)s), &viewer));
  PetscValidHeaderSpecific(viewer, PETSC_VIEWER_CLASSID, 2);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectPrintClassNamePrefixType((PetscObject)s, viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "dimension=%" PetscInt_FMT ", disparity=%s, acceleration=%s\n", s->dim, SMACOFDisparities[s->disparity], SMACOFAccelerations[s->acceleration]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "tolerance=%g, maximum iterations=%" PetscInt_FMT ", starts=%" PetscInt_FMT ", first start=%s\n", (double)s->eps, s->max_it, s->starts, SMACOFStarts[s->start]));
  if (s->setup)
    PetscCall(PetscViewerASCIIPrintf(viewer, "data: %" PetscInt_FMT " points, %" PetscInt64_FMT " pairs%s, %s\n", s->D.N, s->D.npairs, s->D.weight ? " with weights" : "",
                                     !s->D.stored  ? "computed in every pass"
                                     : s->D.single ? "single precision"
                                                   : "double precision"));
  PetscCall(SMACOFStreamedView(s, viewer));
  if (s->outcome.start >= 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s after %" PetscInt_FMT " iterations of start %" PetscInt_FMT ", stress-1=%.10g\n", SMACOFConvergedReasons[s->reason], s->outcome.it, s->outcome.start, (double)PetscSqrtReal(s->best.sigma)));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SMACOFViewFromOptions - Views the solver if an option asks for it

  Collective

  Input Parameters:
+ s    - the solver
. obj  - object whose options prefix is used, or `NULL` for the solver
- name - the option

  Level: intermediate

.seealso: `SMACOFView()`
@*/
PetscErrorCode SMACOFViewFromOptions(SMACOF s, PetscObject obj, const char name[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(PetscObjectViewFromOptions((PetscObject)s, obj, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}
