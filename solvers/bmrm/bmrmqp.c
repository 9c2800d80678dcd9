/* The inner QP of the bundle: an active-set method for a dense convex QP on the simplex. */
#include "bmrmimpl.h"

static PetscErrorCode BMRMQPReserve(BMRMQP *qp, PetscInt n)
{
  PetscInt cap;

  PetscFunctionBegin;
  if (n <= qp->cap) PetscFunctionReturn(PETSC_SUCCESS);
  cap = PetscMax(n, PetscMax(32, 2 * qp->cap));
  PetscCall(BMRMQPDestroy(qp));
  PetscCall(PetscMalloc5(cap, &qp->g, cap * cap, &qp->H, cap * cap, &qp->L, cap, &qp->d, cap, &qp->S));
  qp->cap = cap;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMQPDestroy(BMRMQP *qp)
{
  PetscFunctionBegin;
  PetscCall(PetscFree5(qp->g, qp->H, qp->L, qp->d, qp->S));
  qp->cap = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* g = G alpha / lambda - b; returns the objective alpha'G alpha / (2 lambda) - b'alpha, the duality gap and the steepest cut */
static PetscErrorCode QPGradient(BMRMQP *qp, PetscInt n, const PetscReal G[], PetscInt ld, const PetscReal b[], PetscReal lambda, const PetscReal alpha[], PetscReal *obj, PetscReal *gap, PetscInt *jmin)
{
  PetscReal *g = qp->g, ag = 0, ab = 0;
  PetscInt   j = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) g[i] = -b[i];
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal  a   = alpha[k] / lambda;
    const PetscReal *row = G + (size_t)k * ld;

    if (a == 0) continue;
    for (PetscInt i = 0; i < n; i++) g[i] += a * row[i];
    PetscCall(PetscLogFlops(2.0 * n));
  }
  for (PetscInt i = 0; i < n; i++) {
    ag += alpha[i] * g[i];
    ab += alpha[i] * b[i];
    if (g[i] < g[j]) j = i;
  }
  *obj  = 0.5 * (ag - ab);
  *gap  = ag - g[j];
  *jmin = j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscReal Dot(PetscInt n, const PetscReal x[], const PetscReal y[])
{
  PetscReal s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  PetscInt  i = 0;

  for (; i + 3 < n; i += 4) {
    s0 += x[i] * y[i];
    s1 += x[i + 1] * y[i + 1];
    s2 += x[i + 2] * y[i + 2];
    s3 += x[i + 3] * y[i + 3];
  }
  for (; i < n; i++) s0 += x[i] * y[i];
  return (s0 + s1) + (s2 + s3);
}

/* L L' = H + ridge I, lower triangles row after row; false where a pivot is not positive */
static PetscBool Factor(PetscInt n, const PetscReal H[], PetscReal ridge, PetscReal L[])
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal *h = H + (size_t)i * n;
    PetscReal       *l = L + (size_t)i * n, pivot;

    for (PetscInt j = 0; j < i; j++) {
      const PetscReal *lj = L + (size_t)j * n;

      l[j] = (h[j] - Dot(j, l, lj)) / lj[j];
    }
    pivot = h[i] + ridge - Dot(i, l, l);
    if (!(pivot > 0)) return PETSC_FALSE;
    l[i] = PetscSqrtReal(pivot);
  }
  return PETSC_TRUE;
}

/* d = (L L')^{-1} d */
static void Solve(PetscInt n, const PetscReal L[], PetscReal d[])
{
  for (PetscInt i = 0; i < n; i++) d[i] = (d[i] - Dot(i, L + (size_t)i * n, d)) / L[(size_t)i * n + i];
  for (PetscInt i = n - 1; i >= 0; i--) {
    const PetscReal *l = L + (size_t)i * n;

    d[i] /= l[i];
    for (PetscInt j = 0; j < i; j++) d[j] -= d[i] * l[j];
  }
}

/*
  The direction to the minimiser on the affine hull of the cuts S: eliminate the heaviest cut p, whose weight is one
  less the others', and solve with the reduced Hessian <a_i - a_p, a_j - a_p>/lambda. The cuts in S may be linearly
  dependent (there can be more of them than features): a ridge at the level of rounding makes the system definite, the step a
  proximal one, and a direction without curvature a long one that the bounds cut off.
*/
static PetscErrorCode QPDirection(BMRMQP *qp, PetscInt k, PetscInt p, const PetscReal G[], PetscInt ld, PetscReal lambda)
{
  const PetscInt   ip = qp->S[p], n = k - 1;
  const PetscReal *Gp      = G + (size_t)ip * ld;
  PetscReal        largest = 0, ridge;

  PetscFunctionBegin;
  for (PetscInt i = 0, r = 0; i < k; i++) {
    const PetscInt   ii = qp->S[i];
    const PetscReal *Gi = G + (size_t)ii * ld;

    largest = PetscMax(largest, Gi[ii] / lambda);
    if (i == p) continue;
    for (PetscInt j = 0, c = 0; j <= i; j++) {
      if (j != p) qp->H[(size_t)r * n + c++] = (Gi[qp->S[j]] - Gi[ip] - Gp[qp->S[j]] + Gp[ip]) / lambda;
    }
    qp->d[r++] = qp->g[ip] - qp->g[ii];
  }
  ridge = PetscMax(1e-14 * largest, PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON);
  while (!Factor(n, qp->H, ridge, qp->L)) {
    ridge *= 100;
    PetscCheck(ridge < PETSC_MAX_REAL, PETSC_COMM_SELF, PETSC_ERR_FP, "The bundle QP cannot be factored: the cuts hold a NaN or infinity");
  }
  Solve(n, qp->L, qp->d);
  PetscCall(PetscLogFlops(n * (PetscLogDouble)n * (n / 3. + 2)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One step along the direction, cut off where a weight reaches zero; tells whether it was a full one. */
static PetscErrorCode QPStep(BMRMQP *qp, PetscInt k, PetscInt p, PetscReal alpha[], PetscBool *full)
{
  PetscReal dp = 0, t = 1, sum = 0;
  PetscInt  block = -1;

  PetscFunctionBegin;
  for (PetscInt i = k - 1; i > p; i--) qp->d[i] = qp->d[i - 1];
  qp->d[p] = 0;
  for (PetscInt i = 0; i < k; i++) dp -= qp->d[i];
  qp->d[p] = dp;
  for (PetscInt i = 0; i < k; i++) {
    const PetscReal d = qp->d[i], a = alpha[qp->S[i]];

    if (a + t * d < 0) {
      t     = -a / d;
      block = i;
    }
  }
  for (PetscInt i = 0; i < k; i++) {
    const PetscReal a = alpha[qp->S[i]] + t * qp->d[i];

    sum += alpha[qp->S[i]] = i == block ? 0 : PetscMax(a, 0);
  }
  for (PetscInt i = 0; i < k; i++) alpha[qp->S[i]] /= sum;
  *full = (PetscBool)(block < 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collects the cuts with weight, and cut j whatever its weight; returns their number and the place of the heaviest. */
static PetscInt QPSupport(BMRMQP *qp, PetscInt n, const PetscReal alpha[], PetscInt j, PetscInt *heaviest)
{
  PetscInt k = 0, p = 0;

  for (PetscInt i = 0; i < n; i++) {
    if (alpha[i] <= 0 && i != j) continue;
    qp->S[k] = i;
    if (alpha[i] > alpha[qp->S[p]]) p = k;
    k++;
  }
  *heaviest = p;
  return k;
}

/*
  BMRMQPSolve - minimises alpha'G alpha / (2 lambda) - b'alpha over the simplex: the dual of the bundle's model

  Not Collective, but the same arguments give the same result on every rank

  Input Parameters:
+ qp     - work space
. n      - number of cuts
. G      - their Gram matrix, row after row
. ld     - length of a row of G in memory
. b      - their offsets
. lambda - weight of the regulariser
. tol    - the duality gap to reach
- alpha  - a point of the simplex to start from

  Output Parameters:
+ alpha - the solution, a point of the simplex
. gap   - its duality gap: the model's value at -A alpha/lambda less the dual value, so a bound on the error of both
- its   - number of linear systems solved

  Notes:
  Every alpha of the simplex gives a valid lower bound, whatever its gap; rounding may end the method before tol is reached.

  A major step takes in the steepest cut; minor steps minimise on the affine hull of the cuts with weight and throw
  out those whose weight reaches zero, until the minimiser is inside (Wolfe 1976, Kiwiel 1986).
*/
PetscErrorCode BMRMQPSolve(BMRMQP *qp, PetscInt n, const PetscReal G[], PetscInt ld, const PetscReal b[], PetscReal lambda, PetscReal tol, PetscReal alpha[], PetscReal *gap, PetscInt *its)
{
  PetscReal obj, best = PETSC_INFINITY;
  PetscInt  j, k, p, idle = 0;

  PetscFunctionBegin;
  *its = 0;
  PetscCall(BMRMQPReserve(qp, n));
  PetscCall(QPGradient(qp, n, G, ld, b, lambda, alpha, &obj, gap, &j));
  for (PetscInt major = 0; major < 20 * n + 100; major++) {
    PetscBool full = PETSC_FALSE;

    if (!(*gap > tol)) break;
    idle = obj < best - PETSC_MACHINE_EPSILON * PetscAbsReal(obj) ? 0 : idle + 1;
    if (idle > 3) break; /* as far as rounding lets us go */
    best = PetscMin(best, obj);
    for (k = QPSupport(qp, n, alpha, j, &p); !full && k > 1; k = QPSupport(qp, n, alpha, -1, &p)) {
      PetscCall(QPDirection(qp, k, p, G, ld, lambda));
      PetscCall(QPStep(qp, k, p, alpha, &full));
      PetscCall(QPGradient(qp, n, G, ld, b, lambda, alpha, &obj, gap, &j));
      (*its)++;
    }
  }
  if (*gap > tol) PetscCall(PetscInfo(NULL, "inner QP of %" PetscInt_FMT " cuts ended at gap %g, tolerance %g, after %" PetscInt_FMT " systems\n", n, (double)*gap, (double)tol, *its));
  PetscFunctionReturn(PETSC_SUCCESS);
}
