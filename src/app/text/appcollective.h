/* Collective operations of the readers and solvers. */
#ifndef GPUCSR_APPCOLLECTIVE_H
#define GPUCSR_APPCOLLECTIVE_H

#include <gpucsrcompat.h>
#include <petscsys.h>

PETSC_EXTERN PetscErrorCode GpAppSumBefore(MPI_Comm, PetscInt64 mine, PetscInt64 *before, PetscInt64 *all);
PETSC_EXTERN PetscErrorCode GpAppFindFirst(MPI_Comm, PetscBool mine, PetscMPIInt *first, PetscBool *found);
PETSC_EXTERN PetscErrorCode GpAppFindAny(MPI_Comm, PetscBool mine, PetscBool *any);
PETSC_EXTERN PetscErrorCode GpAppCheckLocalSize(MPI_Comm, const char what[], PetscInt size, PetscInt expected, const char remedy[]);
PETSC_EXTERN PetscErrorCode GpAppBroadcast(MPI_Comm, void *, size_t bytes, PetscMPIInt root);
PETSC_EXTERN PetscErrorCode GpAppAllgather(MPI_Comm, const void *mine, PetscInt64 n, size_t each, void *all, PetscInt64 *total);

#endif
