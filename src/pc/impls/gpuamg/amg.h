/* Aggregation for algebraic multigrid, on plain arrays of one rank.  Results do not depend on the order in which nodes are processed, so an implementation on the device can compute the same aggregates. */
#ifndef AMG_H
#define AMG_H

#include <petscsys.h>
#include "gpucsrcompat.h"

#define GP_AMG_DOMINATED 0.2 /* the smoother solves a row whose other entries have a sum of absolute values of at most this fraction of the diagonal entry */

/* The strong connections of n nodes: a symmetric graph without loops, as compressed rows with ascending columns. */
typedef struct {
  PetscInt   n;
  PetscInt  *rowptr; /* [n + 1] */
  PetscInt  *col;
  PetscReal *weight; /* |A(i,j)| / sqrt(|A(i,i)| |A(j,j)|), where |.| is the Frobenius norm of a block */
} GpAmgGraph;

/* Disjoint sets of nodes. */
typedef struct {
  PetscInt  n, count;
  PetscInt *of;  /* [n] number of the aggregate of each node; -1: the node is in no aggregate */
  PetscInt *ptr; /* [count + 1] first position of each aggregate in row */
  PetscInt *row; /* the nodes of aggregate a are row[ptr[a]], ..., row[ptr[a + 1] - 1], ascending */
} GpAmgAggregates;

/* The square matrix has n x n blocks of size block x block.  Nodes i and j are connected if |A(i,j)| or |A(j,i)| exceeds threshold sqrt(|A(i,i)| |A(j,j)|).  If no block of row i exceeds this bound,
   there are two cases.  If the sum of |A(i,j)|, j != i, is at most GP_AMG_DOMINATED |A(i,i)|, row i adds no connections.  Otherwise its blocks of more than half the largest weight are connections. */
PETSC_INTERN PetscErrorCode GpAmgCreateGraph(PetscInt n, PetscInt block, const PetscInt rowptr[], const PetscInt col[], const PetscScalar val[], PetscReal threshold, GpAmgGraph *);
PETSC_INTERN PetscErrorCode GpAmgDestroyGraph(GpAmgGraph *);

/* first: global number of node 0.  skip: [n] whether a node joins no aggregate; every other node joins one.  Nodes that are skipped must have no connections. */
PETSC_INTERN PetscErrorCode GpAmgAggregate(const GpAmgGraph *, PetscInt first, const PetscBool skip[], GpAmgAggregates *);
PETSC_INTERN PetscErrorCode GpAmgDestroyAggregates(GpAmgAggregates *);

/* Q: [k][m] k vectors of length m; on return they are orthonormal.  R: [k][k], R[i * k + j] is row i, column j.  If the vectors are the columns of a matrix, the former matrix is the product of the new one
   and R.  A vector that depends linearly on the vectors before it becomes zero, and its row of R is zero. */
PETSC_INTERN void GpAmgOrthonormalize(PetscInt m, PetscInt k, PetscReal Q[], PetscReal R[]);

#endif
