/* Streaming of the dissimilarities: the blocks in host memory, and the pipeline that transfers them in each pass. */
#ifndef GPUCSR_SMACOF_PASSSTREAM_H
#define GPUCSR_SMACOF_PASSSTREAM_H

#include "passtiles.h"
#include "device/gpstream.h"
#include <petscsys.h>

/* the blocks of the local dissimilarities */
typedef struct {
  GpDev        dev;
  PetscInt     n;     /* number of blocks */
  PetscInt     most;  /* number of blocks for which block[] has space; 0 if block[] has exactly n entries */
  SMACOFBlock *block; /* [n] */
  SMACOFTile  *tile;  /* [ntiles] tiles of the host implementation; NULL on a GPU and for listed pairs */
  int64_t      ntiles;
  size_t       largest; /* size of the largest block */
  double       bytes;   /* size of all blocks */
} SMACOFBlocks;

PETSC_INTERN PetscErrorCode SMACOFBlocksCut_Private(GpDev, const SMACOFPass *, size_t chunk, SMACOFBlocks *);
PETSC_INTERN PetscErrorCode SMACOFBlocksFill_Private(SMACOFBlocks *, const SMACOFPass *, const SMACOFPass *features);
PETSC_INTERN PetscErrorCode SMACOFBlocksDestroy_Private(SMACOFBlocks *);

/* streamed dissimilarities */
struct _p_SMACOFStreamed {
  GpDev        dev;
  GpStream     stream;
  SMACOFBlocks blocks;
  SMACOFPlan   plan;    /* GPU, complete data: the chunks of a pass */
  size_t       rowsums; /* size of plan.rowsums in bytes */
  int          mixed;   /* value of SMACOFPassWork.mixed for which the plan was created; -1: there is no plan */
};

#endif
