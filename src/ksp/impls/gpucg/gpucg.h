/* Declarations shared by the two files of the KSP type gpucg. */
#ifndef GPUCG_H
#define GPUCG_H

#include <petsc/private/kspimpl.h>
#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include "vec/kernels/gpcgkernel.h"

typedef struct {
  /* operations of KSPCG */
  PetscErrorCode (*solve)(KSP);
  PetscErrorCode (*setfromoptions)(KSP, GpOptionItems);
  PetscErrorCode (*view)(KSP, PetscViewer);
  PetscErrorCode (*reset)(KSP);
  PetscErrorCode (*destroy)(KSP);
  PetscErrorCode (*setradius)(KSP, PetscReal);
  PetscBool        radius;         /* a trust region was requested, which the loop does not support */
  PetscInt         batch;          /* number of iterations of a graph, after which the host reads the state */
  const char      *why;            /* why KSPCG did the last solve; NULL if the loop on the device did */
  GpDev            dev;            /* device of the memory below */
  PetscInt         n;              /* number of entries of the vectors; -1 if no memory is allocated */
  double          *vectors;        /* [VECTORS * n] device memory; VECTOR() gets one vector */
  double          *partial;        /* [GP_CG_PARTIAL] device memory for partial sums of the reductions */
  GpCgState       *state, *polled; /* state in device memory; [2] copies of it in pinned memory, used alternately */
  GpDevEvent       copied[2];      /* recorded after the copy to polled[0] and polled[1] */
  PetscGPUCSRGraph graph;          /* `batch` iterations */
  GpOp             op;             /* operator of the recorded product; NULL: record again */
  PetscInt64       version;        /* GpOp version of the operator when the graph was recorded */
  PetscBool        jacobi;         /* the graph applies the Jacobi preconditioner d */
  GpOp             factor;         /* operator of the factor G of PC type gpufsai, whose preconditioner G'G the graph applies; NULL: another preconditioner */
  PetscInt64       factored;       /* GpOp version of the factor when the graph was recorded */
} KSP_GPUCG;

/* x: solution, r: residual, p: direction, w = A p, z: preconditioned residual, d: Jacobi preconditioner, or G r for the factor G, b: right-hand side */
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
PETSC_INTERN PetscErrorCode KSPGPUCGRun_Private(KSP, KSP_GPUCG *, Mat, GpOp, PetscBool jacobi, GpOp factor);

#endif
