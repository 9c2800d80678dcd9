static char help[] = "The inner QP of the bundle against all supports of small problems, and its optimality conditions on larger ones.\n\n";

#include "bmrmimpl.h"

#define NMAX 80

static PetscErrorCode Random(PetscRandom rnd, PetscReal *v)
{
  PetscFunctionBegin;
  PetscCall(PetscRandomGetValueReal(rnd, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n cuts in dim dimensions; the first is zero, every fifth a copy of the one before when there are copies */
static PetscErrorCode Problem(PetscRandom rnd, PetscInt n, PetscInt dim, PetscBool copies, PetscReal G[], PetscReal b[])
{
  PetscReal a[NMAX][NMAX];

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = 0; k < dim; k++) PetscCall(Random(rnd, &a[i][k]));
    PetscCall(Random(rnd, &b[i]));
    b[i] = 0.5 + 0.5 * b[i];
    if (copies && i % 5 == 4) PetscCall(PetscArraycpy(a[i], a[i - 1], dim));
  }
  PetscCall(PetscArrayzero(a[0], dim));
  b[0] = 0;
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) {
      G[i * NMAX + j] = 0;
      for (PetscInt k = 0; k < dim; k++) G[i * NMAX + j] += a[i][k] * a[j][k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Objective(PetscInt n, const PetscReal G[], const PetscReal b[], PetscReal lambda, const PetscReal alpha[])
{
  PetscReal obj = 0;

  for (PetscInt i = 0; i < n; i++) {
    obj -= b[i] * alpha[i];
    for (PetscInt j = 0; j < n; j++) obj += 0.5 / lambda * alpha[i] * G[i * NMAX + j] * alpha[j];
  }
  return obj;
}

/* Solves the (k+1) x (k+1) system [Q 1; 1' 0] [alpha; nu] = [b; 1] by elimination with pivoting; false when it is singular. */
static PetscBool Equality(PetscInt k, PetscReal M[8][9], PetscReal x[])
{
  for (PetscInt c = 0; c <= k; c++) {
    PetscInt p = c;

    for (PetscInt r = c + 1; r <= k; r++) {
      if (PetscAbsReal(M[r][c]) > PetscAbsReal(M[p][c])) p = r;
    }
    if (PetscAbsReal(M[p][c]) < 1e-9) return PETSC_FALSE;
    for (PetscInt j = 0; j <= k + 1; j++) {
      const PetscReal t = M[c][j];

      M[c][j] = M[p][j];
      M[p][j] = t;
    }
    for (PetscInt r = 0; r <= k; r++) {
      const PetscReal f = M[r][c] / M[c][c];

      for (PetscInt j = c; r != c && j <= k + 1; j++) M[r][j] -= f * M[c][j];
    }
  }
  for (PetscInt c = 0; c <= k; c++) x[c] = M[c][k + 1] / M[c][c];
  return PETSC_TRUE;
}

/* The best objective over the minimisers of all supports that lie in the simplex. */
static PetscReal BruteForce(PetscInt n, const PetscReal G[], const PetscReal b[], PetscReal lambda)
{
  PetscReal best = PETSC_INFINITY;

  for (PetscInt set = 1; set < 1 << n; set++) {
    PetscReal M[8][9], x[8], alpha[8] = {0};
    PetscInt  S[8], k = 0;
    PetscBool inside = PETSC_TRUE;

    for (PetscInt i = 0; i < n; i++) {
      if (set >> i & 1) S[k++] = i;
    }
    for (PetscInt r = 0; r < k; r++) {
      for (PetscInt c = 0; c < k; c++) M[r][c] = G[S[r] * NMAX + S[c]] / lambda;
      M[r][k] = M[k][r] = 1;
      M[r][k + 1]       = b[S[r]];
    }
    M[k][k]     = 0;
    M[k][k + 1] = 1;
    if (!Equality(k, M, x)) continue;
    for (PetscInt r = 0; r < k; r++) {
      if (x[r] < 0) inside = PETSC_FALSE;
      alpha[S[r]] = x[r];
    }
    if (inside) best = PetscMin(best, Objective(n, G, b, lambda, alpha));
  }
  return best;
}

/* Every block in its simplex, and the cuts no steeper than the mean by more than tol in all; convexity makes this a proof. */
static PetscErrorCode CheckOptimal(PetscInt n, PetscInt nblock, const PetscReal G[], const PetscReal b[], PetscReal lambda, PetscReal tol, const PetscReal alpha[])
{
  PetscReal gap = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nblock; k++) {
    PetscReal sum = 0, mean = 0, least = PETSC_INFINITY;

    for (PetscInt i = k; i < n; i += nblock) {
      PetscReal g = -b[i];

      PetscCheck(alpha[i] >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "weight %" PetscInt_FMT " is %g", i, (double)alpha[i]);
      sum += alpha[i];
      for (PetscInt j = 0; j < n; j++) g += G[i * NMAX + j] * alpha[j] / lambda;
      mean += alpha[i] * g;
      least = PetscMin(least, g);
    }
    PetscCheck(PetscAbsReal(sum - 1) < 1e-13, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the weights of block %" PetscInt_FMT " sum to 1 + %g", k, (double)(sum - 1));
    gap += mean - least;
  }
  PetscCheck(gap <= tol, PETSC_COMM_SELF, PETSC_ERR_PLIB, "gap %g, tolerance %g", (double)gap, (double)tol);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  BMRMQP      qp = {0};
  BMRMQPData  q  = {0};
  PetscRandom rnd;
  PetscReal  *G, b[NMAX], alpha[NMAX], gap;
  PetscInt    its, one[NMAX] = {0}, block[NMAX];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscMalloc1(NMAX * NMAX, &G));
  q.nblock = 1;
  q.ld     = NMAX;
  q.block  = one;
  q.G      = G;
  q.b      = b;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rnd));
  PetscCall(PetscRandomSetType(rnd, PETSCRANDER48));
  PetscCall(PetscRandomSetInterval(rnd, -1, 1));
  for (PetscInt trial = 0; trial < 300; trial++) {
    const PetscInt  n      = 1 + trial % 7;
    const PetscReal lambda = PetscPowReal(10, -(PetscReal)(trial % 4));
    PetscReal       obj, best;

    PetscCall(Problem(rnd, n, 1 + trial % 9, PETSC_FALSE, G, b));
    PetscCall(PetscArrayzero(alpha, n));
    alpha[trial % n] = 1;
    q.n              = n;
    q.lambda         = lambda;
    PetscCall(BMRMQPSolve(&qp, &q, 1e-12, alpha, &gap, &its));
    PetscCall(CheckOptimal(n, 1, G, b, lambda, 1e-11, alpha));
    obj  = Objective(n, G, b, lambda, alpha);
    best = BruteForce(n, G, b, lambda);
    PetscCheck(PetscAbsReal(obj - best) < 1e-10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "trial %" PetscInt_FMT ": objective %.15g, the best support has %.15g", trial, (double)obj, (double)best);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "small problems agree with the best support\n"));

  /* one cut a block more at a time, started from the last weights, as in the bundle; dependent and equal cuts among them */
  for (PetscInt trial = 0; trial < 36; trial++) {
    const PetscReal lambda = PetscPowReal(10, -(PetscReal)(trial % 6)), tol = 1e-9;
    const PetscInt  dim = trial % 12 < 6 ? 6 : 60, nblock = trial < 12 ? 1 : trial < 24 ? 3 : 8;

    PetscCall(Problem(rnd, NMAX, dim, PETSC_TRUE, G, b));
    PetscCall(PetscArrayzero(alpha, NMAX));
    for (PetscInt i = 0; i < NMAX; i++) block[i] = i % nblock;
    for (PetscInt k = 0; k < nblock; k++) alpha[k] = 1;
    q.nblock = nblock;
    q.block  = block;
    q.lambda = lambda;
    for (PetscInt n = nblock; n <= NMAX; n += nblock) {
      q.n = n;
      PetscCall(BMRMQPSolve(&qp, &q, tol, alpha, &gap, &its));
      PetscCheck(gap <= tol, PETSC_COMM_SELF, PETSC_ERR_PLIB, "trial %" PetscInt_FMT ", %" PetscInt_FMT " cuts: gap %g, tolerance %g", trial, n, (double)gap, (double)tol);
      PetscCall(CheckOptimal(n, nblock, G, b, lambda, 2 * tol, alpha));
      PetscCheck(its <= 10 * n + 10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "trial %" PetscInt_FMT ", %" PetscInt_FMT " cuts: %" PetscInt_FMT " systems", trial, n, its);
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "growing problems are optimal at every size\n"));

  /* the tolerance is one on the gap: a loose one stops earlier and still keeps its word */
  for (PetscInt trial = 0; trial < 5; trial++) {
    PetscInt last = -1, first = -1;

    PetscCall(Problem(rnd, NMAX, 40, PETSC_FALSE, G, b));
    for (PetscReal tol = 100; tol > 1e-9; tol /= 2) {
      PetscCall(PetscArrayzero(alpha, NMAX));
      alpha[0] = 1;
      q.n      = NMAX;
      q.nblock = 1;
      q.block  = one;
      q.lambda = 0.01;
      PetscCall(BMRMQPSolve(&qp, &q, tol, alpha, &gap, &its));
      PetscCall(CheckOptimal(NMAX, 1, G, b, 0.01, tol + 1e-11, alpha));
      PetscCheck(its >= last, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " systems for a tighter tolerance, %" PetscInt_FMT " before", its, last);
      if (first < 0) first = its;
      last = its;
    }
    PetscCheck(first < last, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " systems whatever the tolerance", last);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "the tolerance bounds the gap\n"));
  PetscCall(PetscRandomDestroy(&rnd));
  PetscCall(BMRMQPDestroy(&qp));
  PetscCall(PetscFree(G));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      requires: double

TEST*/
