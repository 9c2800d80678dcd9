/* What the two files of the KSP type gpucg share. */
#ifndef GPUCG_H
#define GPUCG_H

#include <petsc/private/kspimpl.h>
#include "mat/impls/gpucsr/gpucsrimpl.h"
#include "vec/kernels/gpcgkernel.h"

typedef struct {
  PetscErrorCode (*solve)(KSP); /* these are KSPCG's */
  PetscErrorCode (*setfromoptions)(KSP, GpOptionItems);
  PetscErrorCode (*view)(KSP, PetscViewer);
  PetscErrorCode (*reset)(KSP);
  PetscErrorCode (*destroy)(KSP);
  PetscErrorCode (*setradius)(KSP, PetscReal);
  PetscBool   radius; /* a trust region was asked for: KSPCG's business */
  PetscInt    batch;  /* iterations between two looks at the state */
  const char *why;    /* KSPCG did the last solve; NULL: the loop did */
  GpDev       dev;
  PetscInt    n;            /* that memory was made for */
  double     *vectors;      /* x, r, p, w, z, d, b on the device */
  double     *partial;      /* of the reductions */
  GpCgState  *state, *look; /* on the device, and two pinned copies that take turns */
  GpDevEvent  looked[2];
  GpDevGraph  graph;
  GpOp        op;      /* that the graph multiplies by */
  PetscInt64  version; /* of its memory */
  PetscBool   jacobi;  /* whether the graph applies d */
} KSP_GPUCG;

enum {
  X,
  R,
  P,
  W,
  Z,
  D,
  B,
  VECTORS
};

#define VECTOR(cg, which) ((cg)->vectors + (size_t)(which) * (size_t)(cg)->n)

PETSC_INTERN PetscLogEvent  KSP_GPUCG_Loop;
PETSC_INTERN PetscErrorCode KSPCreate_GPUCG(KSP);
PETSC_INTERN PetscErrorCode KSPGPUCGFree_Private(KSP_GPUCG *);
PETSC_INTERN PetscErrorCode KSPGPUCGRun_Private(KSP, KSP_GPUCG *, Mat, GpOp, PetscBool jacobi);

#endif
