/* The preconditioner type PCGPUFSAI. */
#ifndef GPUFSAI_H
#define GPUFSAI_H

#include <petsc/private/pcimpl.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "pc/impls/gpufsai/fsairows.h"

/* Values of the options.  Two values are compared byte by byte, so all of them are copies of one that PetscNew() has set to zero. */
typedef struct {
  GpFsaiOptions    rows;
  PetscBool        local;   /* the pattern stays in the diagonal block of A */
  PetscInt         threads; /* 0: the default */
  MatGPUCSRStorage storage;
} PCGPUFSAIOptions;

typedef struct {
  PCGPUFSAIOptions options;
  Mat              G;               /* NULL: not set up, or the set-up has failed */
  Vec              work;            /* G r */
  IS               rows;            /* if the pattern is not local: rows of A of this and other ranks that a set-up reads */
  GpFsaiFactor     factor;          /* pattern of the rows of G of this rank; values only during a set-up */
  PetscReal        sum;             /* sum of GpFsaiReport.logarithm over the ranks */
  PetscInt         longest;         /* number of nonzeros of the longest row of G on any rank */
  PetscLogDouble   seconds;         /* duration of the last set-up */
  PetscInt         setups, refills; /* number of set-ups, and of those that kept the pattern */
} PC_GPUFSAI;

PETSC_INTERN PetscLogEvent PC_GPUFSAI_SetUp;

PETSC_INTERN PetscErrorCode PCCreate_GPUFSAI(PC);
PETSC_INTERN PetscErrorCode PCReset_GPUFSAI(PC);
PETSC_INTERN PetscErrorCode PCSetUp_GPUFSAI(PC);
PETSC_INTERN PetscErrorCode PCSetFromOptions_GPUFSAI(PC, GpOptionItems);
PETSC_INTERN PetscErrorCode PCGPUFSAISetDefaults_Private(PCGPUFSAIOptions *);

#endif
