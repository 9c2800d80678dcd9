/* Aggregation for algebraic multigrid, on plain arrays of one rank.  Every result is defined without an order of processing, so that an implementation on the device gives the same aggregates. */
#ifndef AMG_H
#define AMG_H

#include <petscsys.h>
#include "gpucsrcompat.h"

#define GP_AMG_DOMINATED 0.2 /* relaxation solves a row whose other entries add up to at most this fraction of its diagonal entry */

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
  PetscInt *of;  /* [n] number of the aggregate of each node; -1: none */
  PetscInt *ptr; /* [count + 1] */
  PetscInt *row; /* the nodes of aggregate a are row[ptr[a]], ..., row[ptr[a + 1] - 1], ascending */
} GpAmgAggregates;

/* The square matrix has n x n blocks of size block.  Nodes i and j are connected if |A(i,j)| or |A(j,i)| exceeds threshold sqrt(|A(i,i)| |A(j,j)|).  If no connection of node i does, the connections of
   more than half the largest strength are used, unless the sum of |A(i,j)|, j != i, is at most 0.2 |A(i,i)|. */
PETSC_INTERN PetscErrorCode GpAmgCreateGraph(PetscInt n, PetscInt block, const PetscInt rowptr[], const PetscInt col[], const PetscScalar val[], PetscReal threshold, GpAmgGraph *);
PETSC_INTERN PetscErrorCode GpAmgDestroyGraph(GpAmgGraph *);

/* first: global number of node 0.  skip: nodes that join no aggregate; all others do.  Nodes that are skipped have no connections. */
PETSC_INTERN PetscErrorCode GpAmgAggregate(const GpAmgGraph *, PetscInt first, const PetscBool skip[], GpAmgAggregates *);
PETSC_INTERN PetscErrorCode GpAmgDestroyAggregates(GpAmgAggregates *);

/* Q: [k][m] vectors of length m, overwritten by orthonormal ones with Q_in = Q_out R; R: [k][k], R[i * k + j] is row i, column j.  A vector that depends on those before it becomes zero, and so does
   its row of R. */
PETSC_INTERN void GpAmgOrthonormalize(PetscInt m, PetscInt k, PetscReal Q[], PetscReal R[]);

#endif
