/* Calls of functions of src/device/ from programs. A failure becomes a PETSc error with the device's message: PETSC_ERR_MEM if memory does not suffice, otherwise PETSC_ERR_GPU. */
#ifndef GPUCSR_APPDEVICE_H
#define GPUCSR_APPDEVICE_H

#include "device/gpdevice.h"
#include <petscsys.h>

/* what: the operation of the program, for the message */
#define PetscCallDevice(dev, what, ...) \
  do { \
    const GpErr err_ = (__VA_ARGS__); \
    PetscCheck(!err_, PETSC_COMM_SELF, err_ == GP_ERR_MEMORY ? PETSC_ERR_MEM : PETSC_ERR_GPU, "%s on the device: %s", what, (dev)->error); \
  } while (0)

#endif
