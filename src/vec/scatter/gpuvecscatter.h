/* Private declarations of scatters with gpu vectors: the index lists of the edges of a PetscSF, and the state between begin and end. */
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

/* an index list; the copy on the device is made at first need */
typedef struct {
  PetscInt n;
  int32_t *host, *device;
} VecGPUIndex;

/* The edges of one scope, ordered by the receiving entry; used only if an entry receives more than once.  The edges of one entry keep
   their order, so the sums have PETSc's order, and one thread adds all values of an entry.  Edges start[k] to start[k + 1] - 1 belong to
   entry to[k]. */
typedef struct {
  PetscBool   sorted;
  VecGPUIndex to, start;
  VecGPUIndex from;  /* local edges only: the sending entry */
  VecGPUIndex place; /* the position of the edge in the packed buffer, which has the original order of the edges */
} VecGPUSorted;

/* one side of a scatter between begin and end: a gpu Vec, or a host array if vec is NULL */
typedef struct {
  Vec       vec;
  PetscBool device; /* values is device memory */
  double   *values;
} VecGPUSide;

typedef struct _n_VecGPUScatter *VecGPUScatter;
struct _n_VecGPUScatter {
  GpDev              dev;
  int                bs;
  PetscBool          built;        /* VecGPUScatterSetUp_Private() has run */
  PetscBool          plain;        /* all ranks agreed that PETSc's functions run this scatter, with host arrays */
  PetscSF            inner;        /* exchange between the packed buffers; NULL on one rank */
  const PetscSFNode *remote;       /* sf->remote when the lists were made; used to detect VecScatterRemap() */
  VecGPUIndex        edges[2][2];  /* [scope][side]: local index of the entry of each edge */
  VecGPUSorted       sorted[2][2]; /* [scope][receiving side] */
  PetscInt           covered[2];   /* [receiving side]: number of distinct entries that receive */
  double            *buffer[2];    /* [side]: pinned buffer of the entries that are exchanged with other ranks */
  double            *own;          /* pinned buffer for local edges between a vector on the device and an array on the host */
  GpDevEvent         event;        /* recorded after the latest kernel that uses the buffers */
  PetscBool          reading;      /* kernels may still use the buffers; wait on the event first */

  /* state between begin and end */
  PetscBool   busy;     /* begin was called, end not yet */
  PetscBool   ours;     /* this file's functions run the scatter, not PETSc's */
  VecGPUSide  from, to; /* sending and receiving side */
  const void *fromdata; /* the array arguments of begin, by which end recognises its call */
  void       *todata;
};

/* gpuvecscatterlists.c */
PETSC_INTERN PetscErrorCode VecGPUScatterSetUp_Private(PetscSF, VecGPUScatter, int bs, PetscBool shared); /* collective on the PetscSF */
PETSC_INTERN PetscErrorCode VecGPUScatterUpdate_Private(PetscSF, VecGPUScatter);                          /* makes the lists again after VecScatterRemap() */
PETSC_INTERN PetscErrorCode VecGPUScatterReset_Private(VecGPUScatter);
PETSC_INTERN PetscErrorCode VecGPUScatterGetMove_Private(VecGPUScatter, int scope, int to, PetscBool buffered, PetscBool device, GpVecMove *);
PETSC_INTERN PetscErrorCode VecGPUScatterGetPack_Private(VecGPUScatter, int scope, int from, PetscBool device, GpVecMove *);

/* gpuvecscattermove.c: begin and end after both sides are set; to is the receiving side, ROOT or LEAF */
PETSC_INTERN PetscErrorCode VecGPUScatterBegin_Private(PetscSF, VecGPUScatter, int to, MPI_Datatype, MPI_Op);
PETSC_INTERN PetscErrorCode VecGPUScatterEnd_Private(PetscSF, VecGPUScatter, int to, MPI_Datatype, MPI_Op);

#endif
