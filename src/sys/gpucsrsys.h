/* The device of this process: selected by -gpucsr_device, opened at first use. */
#ifndef GPUCSRSYS_H
#define GPUCSRSYS_H

#include "device/gpdevice.h"
#include "gpucsrcompat.h"

/* Returns the device. In a PETSc with CUDA its stream is set to PETSc's current stream, so that no synchronisation is needed between PETSc and
   gpucsr. */
PETSC_INTERN PetscErrorCode PetscGPUCSRGetDevice_Private(GpDev *);
PETSC_INTERN PetscErrorCode PetscGPUCSRSetUpDevice_Private(void); /* collective; reads the options and finds the rank within its node */
PETSC_INTERN PetscErrorCode PetscGPUCSRCloseDevice_Private(void);
PETSC_INTERN PetscErrorCode PetscGPUCSRErrorClass_Private(GpErr); /* PETSc's error class for a GpErr */

/* gpucsrlog.c: what -log_view shows of the device */
PETSC_INTERN PetscErrorCode PetscGPUCSRLogInitialize_Private(void);
PETSC_INTERN PetscErrorCode PetscGPUCSRLogFlops_Private(GpDev, PetscLogDouble);
PETSC_INTERN PetscErrorCode PetscGPUCSRLogTimeBegin_Private(GpDev); /* both enclose launches; no PETSc operation may be between them */
PETSC_INTERN PetscErrorCode PetscGPUCSRLogTimeEnd_Private(GpDev);

/* Calls a function that returns a GpErr. A failure becomes a PETSc error whose message begins with `what` and ends with the device's message. */
#define PetscCallGp(dev, what, ...) \
  do { \
    GpErr gperr_ = (__VA_ARGS__); \
    PetscCheck(!gperr_, PETSC_COMM_SELF, PetscGPUCSRErrorClass_Private(gperr_), "%s: %s", what, (dev)->error); \
  } while (0)

#endif
