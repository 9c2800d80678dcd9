/* The device of this process: selected by -gpucsr_device, opened at first use. */
#ifndef GPUCSRSYS_H
#define GPUCSRSYS_H

#include "device/gpdevice.h"
#include "gpucsrcompat.h"
#include "gpucsrdevice.h"

/* Programs can get a NULL device from VecGPUGetRuntime(). */
#define PetscGPUCSRCheckDevice(dev) PetscCheck(dev, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "The device is NULL; get it by PetscGPUCSRGetDevice(). VecGPUGetRuntime() returns NULL for vectors in host memory")

PETSC_INTERN PetscErrorCode PetscGPUCSRSetUpDevice_Private(void); /* collective; reads the options and finds the rank within its node */
PETSC_INTERN PetscErrorCode PetscGPUCSRCloseDevice_Private(void);

/* gpucsrlog.c: what -log_view shows of the device */
PETSC_INTERN PetscErrorCode PetscGPUCSRLogInitialize_Private(void);
PETSC_INTERN PetscErrorCode PetscGPUCSRLogFlops_Private(GpDev, PetscLogDouble);
PETSC_INTERN PetscErrorCode PetscGPUCSRLogStage_Private(PetscLogEvent, PetscLogDouble seconds, PetscLogDouble bytes);
PETSC_INTERN PetscErrorCode PetscGPUCSRLogTimeBegin_Private(GpDev); /* both enclose launches; no PETSc operation may be between them */
PETSC_INTERN PetscErrorCode PetscGPUCSRLogTimeEnd_Private(GpDev);

#endif
