/* The device that this process uses, as PETSc code sees it: chosen by -gpucsr_device, opened at first need. */
#ifndef GPUCSRSYS_H
#define GPUCSRSYS_H

#include "device/gpdevice.h"
#include "gpucsrcompat.h"

/* the device; on a PETSc with CUDA its stream is PETSc's current one, so that no synchronisation is needed in between */
PETSC_INTERN PetscErrorCode PetscGPUCSRGetDevice_Private(GpDev *);
PETSC_INTERN PetscErrorCode PetscGPUCSRSetUpDevice_Private(void); /* collective: reads the option, finds this rank's place on its node */
PETSC_INTERN PetscErrorCode PetscGPUCSRCloseDevice_Private(void);
PETSC_INTERN PetscErrorCode PetscGPUCSRErrorClass_Private(GpErr); /* the class of a failure below */

/* gpucsrlog.c: what -log_view says of the device */
PETSC_INTERN PetscErrorCode PetscGPUCSRLogInitialize_Private(void);
PETSC_INTERN PetscErrorCode PetscGPUCSRLogFlops_Private(GpDev, PetscLogDouble);
PETSC_INTERN PetscErrorCode PetscGPUCSRLogTimeBegin_Private(GpDev); /* around launches, with nothing of PETSc in between */
PETSC_INTERN PetscErrorCode PetscGPUCSRLogTimeEnd_Private(GpDev);

/* a call into rooms 0 to 3; a failure becomes a PETSc error with the device's own words and what it happened to */
#define PetscCallGp(dev, what, ...) \
  do { \
    GpErr gperr_ = (__VA_ARGS__); \
    PetscCheck(!gperr_, PETSC_COMM_SELF, PetscGPUCSRErrorClass_Private(gperr_), "%s: %s", what, (dev)->error); \
  } while (0)

#endif
