/* The public interface for loops on the device (gpucsrdevice.h): graphs, and numbers that the host polls. */
/* MANSEC = Sys */
#include "sys/gpucsrsys.h"

struct _p_PetscGPUCSRGraph {
  GpDev   dev;
  GpGraph graph; /* NULL on a device without graphs, and if the work cannot be captured */
  PetscErrorCode (*launch)(void *);
  void *ctx;
};

/*@C
  PetscGPUCSRGraphCreate - Captures the products and kernels that a function launches as a graph

  Not Collective

  Input Parameters:
+ dev     - the device
. repeats - `PETSC_TRUE`: one launch of the graph repeats the work until a kernel calls `GpLoopEnd()`
. launch  - the function. It launches work on the device and waits for nothing
- ctx     - its argument

  Output Parameter:
. graph - the graph; the work has not run. Free it with `PetscGPUCSRGraphDestroy()`

  Level: developer

  Notes:
  The function runs once during the capture. On a device without graphs, such as the host, it runs in each `PetscGPUCSRGraphLaunch()`.

  Run the function once before the capture, because the first launch of a kernel may load its code. Upload its matrices before by `MatGPUCSRUpload()`.

  Some drivers cannot repeat the work. Then one launch of the graph runs it once, and `PetscGPUCSRGraphGetLoop()` returns 0.

  A product with a matrix that is streamed (`MatGPUCSRSetStream()`) cannot be captured. Then the function runs in each `PetscGPUCSRGraphLaunch()` too, and
  `PetscGPUCSRGraphIsCaptured()` returns `PETSC_FALSE`.

.seealso: `PetscGPUCSRGraph`, `PetscGPUCSRGraphLaunch()`, `PetscGPUCSRGraphGetLoop()`, `PetscGPUCSRGraphIsCaptured()`, `MatGPUCSRMultArray()`
@*/
PetscErrorCode PetscGPUCSRGraphCreate(GpDev dev, PetscBool repeats, PetscErrorCode (*launch)(void *), void *ctx, PetscGPUCSRGraph *graph)
{
  PetscGPUCSRGraph g;
  PetscErrorCode   failed;
  GpErr            err;

  PetscFunctionBegin;
  PetscCheck(launch && graph, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: the function that launches the work and the graph are required");
  PetscGPUCSRCheckDevice(dev);
  *graph = NULL;
  PetscCall(PetscNew(&g));
  g->dev    = dev;
  g->launch = launch;
  g->ctx    = ctx;
  if (GpDevHasGraphs(dev)) {
    err    = GpGraphCaptureBegin(dev, repeats);
    failed = err ? PETSC_SUCCESS : launch(ctx);
    if (!err) err = GpGraphCaptureEnd(dev, failed ? NULL : &g->graph); /* after an error too: the stream must leave the capture */
    if (err || failed) PetscCall(PetscFree(g));
    PetscCall(failed);
    PetscCallGp(dev, "recording a graph", err);
    if (!g->graph) PetscCall(PetscInfo(NULL, "gpucsr: the host launches the work of a graph each time, because a matrix is streamed to the device\n"));
  }
  *graph = g;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRGraphGetLoop - Gets the handle with which a kernel ends the repetition of a graph by `GpLoopEnd()`

  Not Collective

  Input Parameter:
. graph - the graph

  Output Parameter:
. loop - the handle; 0 if one launch of the graph runs the work once

  Level: developer

.seealso: `PetscGPUCSRGraphCreate()`, `PetscGPUCSRGraphLaunch()`
@*/
PetscErrorCode PetscGPUCSRGraphGetLoop(PetscGPUCSRGraph graph, uint64_t *loop)
{
  PetscFunctionBegin;
  *loop = graph->graph ? GpGraphGetLoop(graph->graph) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRGraphIsCaptured - Tells whether the work of a graph was captured

  Not Collective

  Input Parameter:
. graph - the graph

  Output Parameter:
. captured - `PETSC_FALSE` if each launch calls the function that launches the work: on a device without graphs, or if a matrix is streamed

  Level: developer

.seealso: `PetscGPUCSRGraphCreate()`, `PetscGPUCSRGraphLaunch()`
@*/
PetscErrorCode PetscGPUCSRGraphIsCaptured(PetscGPUCSRGraph graph, PetscBool *captured)
{
  PetscFunctionBegin;
  *captured = (PetscBool)(graph->graph != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRGraphLaunch - Launches the work of a graph, after all earlier work on the stream

  Not Collective

  Input Parameter:
. graph - the graph

  Level: developer

.seealso: `PetscGPUCSRGraphCreate()`, `PetscGPUCSRWatchWait()`
@*/
PetscErrorCode PetscGPUCSRGraphLaunch(PetscGPUCSRGraph graph)
{
  PetscFunctionBegin;
  if (graph->graph) PetscCallGp(graph->dev, "launching a graph", GpGraphLaunch(graph->dev, graph->graph));
  else PetscCall(graph->launch(graph->ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRGraphDestroy - Frees a graph

  Not Collective

  Input Parameter:
. graph - address of the graph, which becomes `NULL`; if it is `NULL` already, nothing is done

  Level: developer

.seealso: `PetscGPUCSRGraphCreate()`
@*/
PetscErrorCode PetscGPUCSRGraphDestroy(PetscGPUCSRGraph *graph)
{
  PetscFunctionBegin;
  if (*graph) GpGraphDestroy((*graph)->dev, &(*graph)->graph);
  PetscCall(PetscFree(*graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRWatchReset - Marks numbers in pinned memory as not yet written

  Not Collective

  Input Parameters:
+ n      - how many, at least 0
- number - the numbers, in memory of `PetscGPUCSRDeviceMallocPinned()`. No kernel may still write them

  Level: developer

.seealso: `PetscGPUCSRWatchWait()`
@*/
PetscErrorCode PetscGPUCSRWatchReset(PetscInt n, double number[])
{
  PetscFunctionBegin;
  PetscCheck(n >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " numbers: expected a number of at least 0", n);
  GpWatchReset(number, (size_t)n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRWatchWait - Waits until kernels have written numbers by `GpWatchWrite()`

  Not Collective

  Input Parameters:
+ dev    - the device
. n      - how many
- number - the numbers, in memory of `PetscGPUCSRDeviceMallocPinned()`

  Level: developer

  Note:
  The host polls the memory. This is faster than to wait for the stream, on which later work may still run. Call `PetscGPUCSRWatchReset()` before the
  launch. It is an error if the device finishes all work without writing a number.

.seealso: `PetscGPUCSRWatchReset()`, `PetscGPUCSRDeviceSynchronize()`
@*/
PetscErrorCode PetscGPUCSRWatchWait(GpDev dev, PetscInt n, const double number[])
{
  PetscFunctionBegin;
  PetscGPUCSRCheckDevice(dev);
  for (PetscInt k = 0; k < n; k++) PetscCallGp(dev, "waiting for a number from the device", GpWatchWait(dev, number + k));
  PetscFunctionReturn(PETSC_SUCCESS);
}
