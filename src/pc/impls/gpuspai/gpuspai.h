/* The preconditioner type PCGPUSPAI. */
#ifndef GPUSPAI_H
#define GPUSPAI_H

#include "pc/impls/gpuspai/spai.h"
#include "pc/inverse/pcinverse.h"
#include "sys/gpurecord.h"

/* Options of the preconditioner.  PCGPUSPAISetOptions() compares them by PetscMemcmp().  Padding must therefore be equal: create this structure only by copying one that
   PetscNew() has zeroed. */
typedef struct {
  GpSpaiOptions    rows;
  PetscBool        local;   /* M is computed from the diagonal block of A */
  PetscBool        host;    /* the set-up runs on the host */
  PetscInt         threads; /* 0: the default */
  MatGPUCSRStorage storage;
} PCGPUSPAIOptions;

typedef struct {
  PCGPUSPAIOptions options;
  PCGPUInverse     inverse; /* the matrix is M */
  GpOp             op;      /* operator of M in recorded loops */
} PC_GPUSPAI;

PETSC_INTERN PetscLogEvent PC_GPUSPAI_SetUp;

PETSC_INTERN PetscErrorCode PCCreate_GPUSPAI(PC);
PETSC_INTERN PetscErrorCode PCReset_GPUSPAI(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_GPUSPAI(PC, GpOptionItems);

#endif
