/* How the ranks of a communicator can exchange what lies on their devices. */
#ifndef GPUCSREXCHANGE_H
#define GPUCSREXCHANGE_H

#include "device/gpnccl.h"
#include "sys/gpucsrsys.h"

/* Collective: the communicator's NCCL, connected at first need and kept with it; NULL where it does not work, and then why says
   so, else which version it is.  Both belong to the communicator. */
PETSC_INTERN PetscErrorCode PetscGPUCSRGetNCCL_Private(MPI_Comm, GpDev, GpNccl *, const char **why);
PETSC_INTERN PetscErrorCode PetscGPUCSRFreeNCCL_Private(void); /* of all communicators */

/* does MPI take pointers to device memory? */
PETSC_INTERN PetscErrorCode PetscGPUCSRIsMPIAware_Private(GpDev, PetscBool *, const char **why);

#endif
