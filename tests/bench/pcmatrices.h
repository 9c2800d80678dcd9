/* Linear systems for benchmarks of preconditioners: grids, elasticity, convection and diffusion, files.  Matrices of type seqaij in double precision. */
#ifndef GPUCSR_BENCH_PCMATRICES_H
#define GPUCSR_BENCH_PCMATRICES_H

#include "bench/matrices.h"
#include <petscmat.h>

/* Creates the matrix `name`: grid7-<n>, grid27-<n>, elasticity-<n>, convection-<n> with n points in each direction, or a file: Matrix Market if its name ends with .mtx or .mm, else PETSc's
   binary format.  corpus:<member> or corpus:<member>@<scale> is the pattern of a member of the corpus with the values of PCMatrixSetValues().
   *spd: the matrix is known to be, or in a file is taken to be, symmetric positive definite. */
PetscErrorCode PCMatrixCreate(const char name[], Mat *A, PetscBool *spd);

/* Replaces the values by those of a diagonally dominant M-matrix, which is symmetric if its pattern is.  Diagonal entries must be stored. */
void PCMatrixSetValues(BenchMatrix *);

PetscErrorCode PCMatrixCreateFromRows(const BenchMatrix *, Mat *);

/* Creates the stiffness matrix of linear elasticity, see pcelasticity.c */
PetscErrorCode PCMatrixCreateElasticity(PetscInt n, Mat *A);

#endif
