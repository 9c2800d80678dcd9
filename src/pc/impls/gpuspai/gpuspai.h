/* The preconditioner type PCGPUSPAI. */
#ifndef GPUSPAI_H
#define GPUSPAI_H

#include "pc/impls/gpuspai/spai.h"
#include "pc/inverse/pcinverse.h"

/* Values of the options.  Two values are compared byte by byte, so all of them are copies of one that PetscNew() has set to zero. */
typedef struct {
  GpSpaiOptions    rows;
  PetscBool        local;   /* M is computed from the diagonal block of A */
  PetscInt         threads; /* 0: the default */
  MatGPUCSRStorage storage;
} PCGPUSPAIOptions;

typedef struct {
  PCGPUSPAIOptions options;
  PCGPUInverse     inverse; /* the matrix is M */
} PC_GPUSPAI;

PETSC_INTERN PetscLogEvent PC_GPUSPAI_SetUp;

PETSC_INTERN PetscErrorCode PCCreate_GPUSPAI(PC);
PETSC_INTERN PetscErrorCode PCReset_GPUSPAI(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_GPUSPAI(PC, GpOptionItems);

#endif
