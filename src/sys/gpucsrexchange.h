/* Transports for data in device memory between the ranks of a communicator: NCCL, or an MPI that accepts device pointers. */
#ifndef GPUCSREXCHANGE_H
#define GPUCSREXCHANGE_H

#include "device/gpnccl.h"
#include "sys/gpucsrsys.h"

/* Collective. Returns the NCCL communicator that belongs to an MPI communicator; it is created by the first call and stored as an attribute. *nccl is
   NULL if NCCL cannot be used, and *why is the reason; otherwise *why is the version. The communicator owns both. */
PETSC_INTERN PetscErrorCode PetscGPUCSRGetNCCL_Private(MPI_Comm, GpDev, GpNccl *, const char **why);
PETSC_INTERN PetscErrorCode PetscGPUCSRFreeNCCL_Private(void); /* of all MPI communicators */

/* whether MPI accepts pointers to device memory */
PETSC_INTERN PetscErrorCode PetscGPUCSRIsMPIAware_Private(GpDev, PetscBool *, const char **why);

#endif
