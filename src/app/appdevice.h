/* Calls of the device room from programs: a failure becomes a PETSc error with the device's own words, and memory that is full is told from the rest. */
#ifndef GPUCSR_APPDEVICE_H
#define GPUCSR_APPDEVICE_H

#include "device/gpdevice.h"
#include <petscsys.h>

/* what: of the program, is done there */
#define PetscCallDevice(dev, what, ...) \
  do { \
    const GpErr err_ = (__VA_ARGS__); \
    PetscCheck(!err_, PETSC_COMM_SELF, err_ == GP_ERR_MEMORY ? PETSC_ERR_MEM : PETSC_ERR_GPU, "%s on the device: %s", what, (dev)->error); \
  } while (0)

#endif
