/* The preconditioner type PCGPUFSAI. */
#ifndef GPUFSAI_H
#define GPUFSAI_H

#include "pc/impls/gpufsai/fsai.h"
#include "pc/inverse/pcinverse.h"

/* Values of the options.  Two values are compared byte by byte, so all of them are copies of one that PetscNew() has set to zero. */
typedef struct {
  GpFsaiOptions    rows;
  PetscBool        local;   /* the pattern stays in the diagonal block of A */
  PetscInt         threads; /* 0: the default */
  MatGPUCSRStorage storage;
} PCGPUFSAIOptions;

typedef struct {
  PCGPUFSAIOptions options;
  PCGPUInverse     inverse; /* the matrix is G */
  Vec              work;    /* G r */
} PC_GPUFSAI;

PETSC_INTERN PetscLogEvent PC_GPUFSAI_SetUp;

PETSC_INTERN PetscErrorCode PCCreate_GPUFSAI(PC);
PETSC_INTERN PetscErrorCode PCReset_GPUFSAI(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_GPUFSAI(PC, GpOptionItems);
PETSC_INTERN PetscErrorCode PCGPUFSAISetDefaults_Private(PCGPUFSAIOptions *);

#endif
