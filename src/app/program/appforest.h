/* Union-find: the components of a graph as a forest, whose trees are components. parent[i] is the parent of vertex i; that of a root is the root itself. */
#ifndef GPUCSR_APPFOREST_H
#define GPUCSR_APPFOREST_H

#include <petscsys.h>

/* Returns the root of the tree of i, and halves the path to it. */
static inline PetscInt GpAppForestFindRoot(PetscInt parent[], PetscInt i)
{
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* Joins the trees of i and j. The root with the smaller number stays a root. */
static inline void GpAppForestJoin(PetscInt parent[], PetscInt i, PetscInt j)
{
  i                      = GpAppForestFindRoot(parent, i);
  j                      = GpAppForestFindRoot(parent, j);
  parent[PetscMax(i, j)] = PetscMin(i, j);
}

#endif
