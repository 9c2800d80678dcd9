/* Linear systems for tests of algebraic multigrid. */
#ifndef AMGPROBLEMS_H
#define AMGPROBLEMS_H

#include "amgsolver.h"

/* Diffusion on n^3 points with Dirichlet conditions, or elasticity. */
typedef struct {
  const char *name;
  PetscInt    n;
  PetscBool   wide;       /* 27 points */
  PetscReal   jump;       /* coefficient in half of the boxes of n/4 points; 1 in the others */
  PetscReal   anisotropy; /* coupling in the first direction; 1 in the others */
  PetscBool   elasticity; /* three unknowns at each point, one face is clamped */
  PetscReal   scale;      /* all values are multiplied by this number */
} AmgProblem;

static PetscReal AmgCoefficient(const AmgProblem *p, const PetscInt at[3])
{
  const PetscInt box = PetscMax(p->n / 4, 1);

  return (at[0] / box + at[1] / box + at[2] / box) % 2 ? p->jump : 1;
}

/* Coupling of two points that differ by one in at least one direction; 0: none. */
static PetscReal AmgCoupling(const AmgProblem *p, const PetscInt at[3], const PetscInt step[3])
{
  const PetscInt  other[3] = {at[0] + step[0], at[1] + step[1], at[2] + step[2]}, distance = PetscAbsInt(step[0]) + PetscAbsInt(step[1]) + PetscAbsInt(step[2]);
  const PetscReal a = AmgCoefficient(p, at), b = AmgCoefficient(p, other);

  if (!p->wide && distance > 1) return 0;
  return p->scale * 2 * a * b / (a + b) * (step[0] ? p->anisotropy : 1);
}

static PetscErrorCode AmgSetRow(const AmgProblem *p, Mat A, PetscInt row)
{
  const PetscInt at[3]    = {row % p->n, row / p->n % p->n, row / p->n / p->n};
  PetscScalar    diagonal = 0;

  PetscFunctionBeginUser;
  for (PetscInt e = 0; e < 27; e++) {
    const PetscInt  step[3] = {e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1};
    const PetscReal c       = e == 13 ? 0 : AmgCoupling(p, at, step);
    PetscBool       inside  = PETSC_TRUE;

    if (c == 0) continue;
    diagonal += c;
    for (int d = 0; d < 3; d++) inside = (PetscBool)(inside && at[d] + step[d] >= 0 && at[d] + step[d] < p->n);
    if (inside) PetscCall(MatSetValue(A, row, row + step[0] + p->n * (step[1] + p->n * step[2]), -c, INSERT_VALUES));
  }
  PetscCall(MatSetValue(A, row, row, diagonal, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stiffness of a trilinear element, Poisson's ratio 0.3, by Gauss' rule with 2 points in each direction. */
static void AmgElement(PetscScalar K[24 * 24])
{
  const PetscReal lambda = 0.3 / (1.3 * 0.4), mu = 0.5 / 1.3, point[2] = {0.5 - 0.5 / PetscSqrtReal(3), 0.5 + 0.5 / PetscSqrtReal(3)};

  for (int k = 0; k < 24 * 24; k++) K[k] = 0;
  for (int q = 0; q < 8; q++) {
    const PetscReal at[3] = {point[q & 1], point[q >> 1 & 1], point[q >> 2]};
    PetscReal       g[8][3];

    for (int a = 0; a < 8; a++) {
      for (int d = 0; d < 3; d++) {
        g[a][d] = 1;
        for (int e = 0; e < 3; e++) g[a][d] *= e == d ? ((a >> e & 1) ? 1 : -1) : (a >> e & 1) ? at[e] : 1 - at[e];
      }
    }
    for (int a = 0; a < 8; a++) {
      for (int b = 0; b < 8; b++) {
        const PetscReal dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];

        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++) K[(3 * a + i) * 24 + 3 * b + j] += 0.125 * (lambda * g[a][i] * g[b][j] + mu * g[a][j] * g[b][i] + (i == j ? mu * dot : 0));
      }
    }
  }
}

/* The vectors of the near-null space: the rigid-body modes. */
static PetscErrorCode AmgSetRigidBodyModes(const AmgProblem *p, Mat A)
{
  MatNullSpace modes;
  Vec          coordinates;
  PetscInt     begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &coordinates, NULL));
  PetscCall(VecSetBlockSize(coordinates, 3));
  PetscCall(VecGetOwnershipRange(coordinates, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    const PetscInt at[3] = {i / 3 % p->n, i / 3 / p->n % p->n, i / 3 / p->n / p->n};

    PetscCall(VecSetValue(coordinates, i, at[i % 3], INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(coordinates));
  PetscCall(VecAssemblyEnd(coordinates));
  PetscCall(MatNullSpaceCreateRigidBody(coordinates, &modes));
  PetscCall(MatSetNearNullSpace(A, modes));
  PetscCall(MatNullSpaceDestroy(&modes));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmgCreateElasticity(const AmgProblem *p, MPI_Comm comm, const char type[], Mat *A)
{
  const PetscInt n = p->n;
  PetscScalar    K[24 * 24];
  PetscInt       begin, end, *clamped, count = 0;

  PetscFunctionBeginUser;
  PetscCall(AmgCreateMatrix(comm, type, n * n * n, 3, 81, A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  AmgElement(K);
  for (int k = 0; k < 24 * 24; k++) K[k] *= p->scale;
  for (PetscInt point = begin / 3; point < end / 3; point++) {
    const PetscInt at[3] = {point % n, point / n % n, point / n / n};
    PetscInt       node[8];

    if (PetscMax(at[0], PetscMax(at[1], at[2])) == n - 1) continue;
    for (int a = 0; a < 8; a++) node[a] = point + (a & 1) + n * ((a >> 1 & 1) + n * (a >> 2));
    PetscCall(MatSetValuesBlocked(*A, 8, node, 8, node, K, ADD_VALUES));
  }
  PetscCall(AmgAssemble(*A));
  PetscCall(PetscMalloc1(3 * n * n, &clamped));
  for (PetscInt k = PetscMax(begin, 0); k < PetscMin(end, 3 * n * n); k++) clamped[count++] = k;
  PetscCall(MatZeroRowsColumns(*A, count, clamped, p->scale, NULL, NULL));
  PetscCall(PetscFree(clamped));
  PetscCall(AmgSetRigidBodyModes(p, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the values of diffusion. */
static PetscErrorCode AmgSetValues(const AmgProblem *p, Mat A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) PetscCall(AmgSetRow(p, A, row));
  PetscCall(AmgAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AmgCreateProblem(const AmgProblem *p, MPI_Comm comm, const char type[], Mat *A)
{
  PetscFunctionBeginUser;
  if (p->elasticity) PetscCall(AmgCreateElasticity(p, comm, type, A));
  else {
    PetscCall(AmgCreateMatrix(comm, type, p->n * p->n * p->n, 1, p->wide ? 27 : 7, A));
    PetscCall(AmgSetValues(p, *A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with a right-hand side whose entries vary, and checks the true residual.  solution: NULL, or the solution for the caller. */
static PetscErrorCode AmgSolve(KSP ksp, const char what[], PetscInt *its, Vec *solution)
{
  Mat                A;
  Vec                x, b, r;
  PetscReal          norm, residual;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(AmgFillRightSide(b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s", what, KSPConvergedReasons[reason]);
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCheck(residual < 2e-4 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the true residual is %g", what, (double)(residual / norm));
  if (solution) *solution = x;
  else PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
