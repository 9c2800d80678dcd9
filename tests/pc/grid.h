/* A matrix whose entries a formula gives, and dense references: patterns, linear systems, products. */
#ifndef GRID_H
#define GRID_H

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscpc.h>

/* A grid of n by n points with `block` unknowns each, numbered point by point.  The matrix is symmetric positive definite if shift and skew are 0. */
typedef struct {
  PetscInt  n, block, size; /* size: number of unknowns */
  PetscReal shift;          /* added to the diagonal */
  PetscReal wave;           /* changes the values, but not the pattern */
  PetscReal skew;           /* added to entries above the diagonal, and subtracted from those below */
  PetscInt  extra;          /* number of pairs of far entries in addition to the grid */
} Grid;

static Grid GridOf(PetscInt n, PetscInt block)
{
  return (Grid){.n = n, .block = block, .size = n * n * block, .wave = 1};
}

static PetscBool GridHas(const Grid *g, PetscInt i, PetscInt j)
{
  const PetscInt p = i / g->block, q = j / g->block, dx = PetscAbsInt(p % g->n - q % g->n), dy = PetscAbsInt(p / g->n - q / g->n);

  for (PetscInt e = 0; e < g->extra; e++) {
    if (PetscMin(i, j) == e && PetscMax(i, j) == g->size - 1 - 2 * e) return PETSC_TRUE;
  }
  return (PetscBool)(dx + dy <= 1);
}

static PetscReal GridValue(const Grid *g, PetscInt i, PetscInt j)
{
  const PetscInt a = PetscMin(i, j), b = PetscMax(i, j);

  if (!GridHas(g, i, j)) return 0;
  if (i == j) return 4.2 * g->block + (i % 7) / 3. + g->shift;
  return -0.65 - 0.3 * PetscSinReal(g->wave * (1 + a * 0.7 + b * 1.3)) + (i % g->block != j % g->block ? 0.55 : 0) + (i < j ? g->skew : -g->skew);
}

static PetscErrorCode GridCreate(const Grid *g, MPI_Comm comm, MatType type, Mat *A)
{
  PetscInt  begin, end;
  PetscBool upper;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, g->size, g->size));
  PetscCall(MatSetBlockSize(*A, g->block));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(PetscStrcmp(type, MATSBAIJ, &upper));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    for (PetscInt j = 0; j < g->size; j++) {
      if (GridHas(g, i, j) && (j / g->block >= i / g->block || !upper)) PetscCall(MatSetValue(*A, i, j, GridValue(g, i, j), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves M y = r of size m by elimination with pivots, and overwrites both.  M is stored row by row. */
static PetscErrorCode DenseSolve(PetscInt m, PetscReal *M, PetscReal *r)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < m; k++) {
    PetscInt best = k;

    for (PetscInt i = k + 1; i < m; i++) {
      if (PetscAbsReal(M[i * m + k]) > PetscAbsReal(M[best * m + k])) best = i;
    }
    for (PetscInt j = 0; best != k && j <= m; j++) {
      PetscReal *a = j < m ? &M[k * m + j] : &r[k], *b = j < m ? &M[best * m + j] : &r[best], t = *a;

      *a = *b;
      *b = t;
    }
    for (PetscInt i = k + 1; i < m; i++) {
      const PetscReal f = M[i * m + k] / M[k * m + k];

      for (PetscInt j = k; j < m; j++) M[i * m + j] -= f * M[k * m + j];
      r[i] -= f * r[k];
    }
  }
  for (PetscInt k = m - 1; k >= 0; k--) {
    for (PetscInt j = k + 1; j < m; j++) r[k] -= M[k * m + j] * r[j];
    r[k] /= M[k * m + k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns that `power` entries of A reach from a row, of those from `first` on and before `last`.  lower: only columns up to the diagonal.  threshold: smaller entries are not used. */
static PetscErrorCode GridPattern(const Grid *g, PetscInt power, PetscReal threshold, PetscBool lower, PetscInt first, PetscInt last, PetscInt row, PetscInt *m, PetscInt J[])
{
  PetscInt *distance;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(g->size, &distance));
  for (PetscInt j = 0; j < g->size; j++) distance[j] = j == row ? 0 : 1000;
  for (PetscInt d = 0; d < power; d++) {
    for (PetscInt i = first; i < last; i++) {
      for (PetscInt j = first; distance[i] == d && j < last; j++) {
        const PetscReal size = PetscAbsReal(GridValue(g, i, j)) / PetscSqrtReal(GridValue(g, i, i) * GridValue(g, j, j));

        if (distance[j] == 1000 && GridHas(g, i, j) && (threshold == 0 || size > threshold)) distance[j] = d + 1;
      }
    }
  }
  *m = 0;
  for (PetscInt j = 0; j < (lower ? row + 1 : g->size); j++) {
    if (distance[j] < 1000) J[(*m)++] = j;
  }
  PetscCall(PetscFree(distance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
