/* What the files of the scatter share: the lists of a PetscSF's edges on both sides, and what is under way. */
#ifndef GPUVECSCATTER_H
#define GPUVECSCATTER_H

#include "vec/gpuvecimpl.h"
#include <petsc/private/sfimpl.h>

enum {
  ROOT,
  LEAF
};

enum {
  LOCAL, /* edges from this rank to itself */
  REMOTE
};

/* indices that the host has, and the device from its first need on */
typedef struct {
  PetscInt n;
  int32_t *host, *device;
} VecGPUIndex;

/* The edges of one scope, seen from the side that receives.  Where an entry receives more than once the edges are sorted by it,
   those of one entry in their order: the additions of PETSc, with no two threads at one entry. */
typedef struct {
  PetscBool   sorted;
  VecGPUIndex to, start, from, place; /* from: on the other side, of local edges; place: in the buffer, whose order is that of the edges */
} VecGPUSorted;

/* one side of a scatter under way: a Vec of ours, or an array of the host */
typedef struct {
  Vec       vec;
  PetscBool device; /* whether its values are to be used there */
  double   *values;
} VecGPUSide;

typedef struct _n_VecGPUScatter *VecGPUScatter;
struct _n_VecGPUScatter {
  GpDev              dev;
  int                bs;
  PetscBool          built, plain; /* plain: all ranks agreed to leave this one to PETSc */
  PetscSF            inner;        /* between the packed buffers */
  const PetscSFNode *remote;       /* of the SF when the lists were made */
  VecGPUIndex        edges[2][2];  /* [scope][side] */
  VecGPUSorted       sorted[2][2]; /* [scope][receiving side] */
  PetscInt           covered[2];   /* entries of a side that receive, each counted once */
  double            *buffer[2];    /* pinned: what crosses between ranks, at either side */
  double            *own;          /* pinned: local edges between a vector on the device and an array on the host */
  GpDevEvent         event;        /* the device has passed what was launched for the buffers */
  PetscBool          reading;      /* kernels may still read the buffers */

  /* between begin and end */
  PetscBool   busy, ours;
  VecGPUSide  from, to;
  const void *fromdata; /* as the caller gave them */
  void       *todata;
};

/* gpuvecscatterlists.c */
PETSC_INTERN PetscErrorCode VecGPUScatterSetUp_Private(PetscSF, VecGPUScatter, int bs, PetscBool shared); /* collective */
PETSC_INTERN PetscErrorCode VecGPUScatterUpdate_Private(PetscSF, VecGPUScatter);                          /* after VecScatterRemap() */
PETSC_INTERN PetscErrorCode VecGPUScatterReset_Private(VecGPUScatter);
PETSC_INTERN PetscErrorCode VecGPUScatterGetMove_Private(VecGPUScatter, int scope, int to, PetscBool buffered, PetscBool device, GpVecMove *);
PETSC_INTERN PetscErrorCode VecGPUScatterGetPack_Private(VecGPUScatter, int scope, int from, PetscBool device, GpVecMove *);

/* gpuvecscattermove.c: with both sides given; from roots to leaves or back, to says where */
PETSC_INTERN PetscErrorCode VecGPUScatterBegin_Private(PetscSF, VecGPUScatter, int to, MPI_Datatype, MPI_Op);
PETSC_INTERN PetscErrorCode VecGPUScatterEnd_Private(PetscSF, VecGPUScatter, int to, MPI_Datatype, MPI_Op);

#endif
