/* Public interface for loops on the device: the stream, memory, graphs, and numbers that the host polls. Such a loop calls MatGPUCSRMultArray() and
   launches kernels of its own. The files of these kernels include gpucsrdevice.cuh. docs/dev/device.md describes the steps, and examples/deviceloop/
   is a complete program. */
#ifndef GPUCSRDEVICE_H
#define GPUCSRDEVICE_H

/* MANSEC = Sys */

#include "gpucsrdevicetypes.h"
#include <petscsys.h>

/*S
  PetscGPUCSRGraph - Work that was captured on a device, and that one call launches again

  Level: developer

  Note:
  On a device without graphs, such as the host, `PetscGPUCSRGraphLaunch()` calls the function that launches the work.

.seealso: `PetscGPUCSRGraphCreate()`, `PetscGPUCSRGraphLaunch()`, `PetscGPUCSRGraphDestroy()`
S*/
typedef struct _p_PetscGPUCSRGraph *PetscGPUCSRGraph;

/* Calls a function that returns a GpErr. A failure becomes a PETSc error whose message begins with `what` and ends with the device's message. */
#define PetscCallGp(dev, what, ...) \
  do { \
    GpErr gperr_ = (__VA_ARGS__); \
    PetscCheck(!gperr_, PETSC_COMM_SELF, PetscGPUCSRErrorClass(gperr_), "%s: %s", what, GpDevError(dev)); \
  } while (0)

PETSC_EXTERN PetscErrorCode PetscGPUCSRGetDevice(GpDev *);
PETSC_EXTERN PetscErrorCode PetscGPUCSRErrorClass(GpErr);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDevicePushStream(GpDev);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDevicePopStream(GpDev);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceSynchronize(GpDev);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceMalloc(GpDev, const char what[], size_t, void *ptr);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceFree(GpDev, size_t, void *ptr);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceMallocPinned(GpDev, size_t, void *ptr);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceFreePinned(GpDev, void *ptr);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceCopyIn(GpDev, void *, const void *, size_t);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceCopyOut(GpDev, void *, const void *, size_t);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceZero(GpDev, void *, size_t);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceConnectRanks(MPI_Comm, GpDev, PetscBool *, const char *[]);
PETSC_EXTERN PetscErrorCode PetscGPUCSRDeviceSumRanks(MPI_Comm, GpDev, PetscInt64, const int64_t[], int64_t[]);
PETSC_EXTERN PetscErrorCode PetscGPUCSRGraphCreate(GpDev, PetscBool, PetscErrorCode (*)(void *), void *, PetscGPUCSRGraph *);
PETSC_EXTERN PetscErrorCode PetscGPUCSRGraphGetLoop(PetscGPUCSRGraph, uint64_t *);
PETSC_EXTERN PetscErrorCode PetscGPUCSRGraphIsCaptured(PetscGPUCSRGraph, PetscBool *);
PETSC_EXTERN PetscErrorCode PetscGPUCSRGraphLaunch(PetscGPUCSRGraph);
PETSC_EXTERN PetscErrorCode PetscGPUCSRGraphDestroy(PetscGPUCSRGraph *);
PETSC_EXTERN PetscErrorCode PetscGPUCSRWatchReset(PetscInt, double[]);
PETSC_EXTERN PetscErrorCode PetscGPUCSRWatchWait(GpDev, PetscInt, const double[]);

#endif
