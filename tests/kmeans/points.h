/* Reproducible numbers for points, and weights. */
#ifndef GPUCSR_TESTS_KMEANS_POINTS_H
#define GPUCSR_TESTS_KMEANS_POINTS_H

#include <gpucsrcompat.h>
#include <petscmat.h>

/* A pseudorandom number in [0, 1) of row i and column j. */
static inline PetscReal Uniform(PetscInt i, PetscInt j)
{
  uint64_t z = (uint64_t)i * 0x9e3779b97f4a7c15 + (uint64_t)j * 0xbf58476d1ce4e5b9 + 0x94d049bb133111eb;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (PetscReal)((z ^ z >> 31) >> 40) * 0x1p-24; /* a float, so that -kmeans_storage auto takes single precision */
}

/* Creates weights of the points X. Every eleventh weight is zero. */
static inline PetscErrorCode CreateWeights(Mat X, Vec *w)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(X, NULL, w));
  PetscCall(VecGetOwnershipRange(*w, &start, &end));
  for (PetscInt i = start; i < end; i++) PetscCall(VecSetValue(*w, i, i % 11 ? Uniform(i, -1) : 0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*w));
  PetscCall(VecAssemblyEnd(*w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
