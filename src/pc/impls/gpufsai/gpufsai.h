/* The preconditioner type PCGPUFSAI. */
#ifndef GPUFSAI_H
#define GPUFSAI_H

#include "pc/impls/gpufsai/fsai.h"
#include "pc/inverse/pcinverse.h"
#include "sys/gpurecord.h"

/* Options of the preconditioner.  PCGPUFSAISetOptions() compares them by PetscMemcmp().  Padding must therefore be equal: create this structure only by copying one that
   PetscNew() has zeroed. */
typedef struct {
  GpFsaiOptions    rows;
  PetscBool        local;   /* the pattern stays in the diagonal block of A */
  PetscBool        host;    /* the set-up runs on the host */
  PetscInt         threads; /* 0: the default */
  MatGPUCSRStorage storage;
} PCGPUFSAIOptions;

typedef struct {
  PCGPUFSAIOptions options;
  PCGPUInverse     inverse; /* the matrix is G */
  Vec              work;    /* G r */
  GpOp             factor;  /* operator of G in recorded loops */
  GpDev            dev;     /* of `between` */
  double          *between; /* [entries] device memory: G r in recorded loops; NULL: not allocated */
  PetscInt         entries;
} PC_GPUFSAI;

PETSC_INTERN PetscLogEvent PC_GPUFSAI_SetUp;

PETSC_INTERN PetscErrorCode PCCreate_GPUFSAI(PC);
PETSC_INTERN PetscErrorCode PCReset_GPUFSAI(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_GPUFSAI(PC, GpOptionItems);
PETSC_INTERN PetscErrorCode PCGPUFSAISetDefaults_Private(PCGPUFSAIOptions *);

#endif
