/* Solvers of the blocks of a preconditioner on this rank, whose vectors share the memory of parts of a gpu vector. */
#ifndef GPUPCBLOCKS_H
#define GPUPCBLOCKS_H

#include <petscksp.h>

typedef struct {
  PetscInt  n;     /* number of blocks of this rank */
  KSP      *ksp;   /* PETSc's array */
  Vec      *x, *y; /* [n] local vectors of the blocks */
  PetscBool gpu;   /* all of them are of type gpu */
} PCGPUBlocks;

/* Applies a block: y = f(x).  what: the argument of PCGPUBlocksApply_Private() */
typedef PetscErrorCode (*PCGPUBlockFn)(PC, int what, KSP, Vec x, Vec y);

PETSC_INTERN PetscErrorCode PCGPUBlocksCreate_Private(PetscInt n, KSP ksp[], PCGPUBlocks *);
PETSC_INTERN PetscErrorCode PCGPUBlocksDestroy_Private(PCGPUBlocks *); /* also of an empty structure, which it becomes */

/* Applies all blocks to the parts of x and y, which follow one another. */
PETSC_INTERN PetscErrorCode PCGPUBlocksApply_Private(PC, const PCGPUBlocks *, PCGPUBlockFn, int what, Vec x, Vec y);

#endif
