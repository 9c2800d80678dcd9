/* The inner QP of the bundle method: an active-set method for a dense convex QP on a product of simplices. */
#include "solvers/bmrm/bmrmimpl.h"

#define BMRM_QP_PIVOT 0.1 /* a cut can be the pivot of its block if its weight is at least this fraction of the largest one */

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
  qp->cap = qp->rows = qp->clean = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* g = G alpha / lambda - b. Returns the objective alpha'G alpha / (2 lambda) - b'alpha, the duality gap of every block and of all blocks, and the
   steepest cut of every block. */
static PetscErrorCode BMRMQPGradient(BMRMQP *qp, const BMRMQPData *q, const PetscReal alpha[], PetscReal *obj, PetscReal *gap)
{
  const PetscInt n = q->n;
  PetscReal     *g = qp->g, ag = 0, ab = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) g[i] = -q->b[i];
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal  a   = alpha[k] / q->lambda;
    const PetscReal *row = q->G + (size_t)k * q->ld;

    if (a == 0) continue;
    for (PetscInt i = 0; i < n; i++) g[i] += a * row[i];
    PetscCall(PetscLogFlops(2.0 * n));
  }
  for (PetscInt k = 0; k < q->nblock; k++) {
    qp->steepest[k] = -1;
    qp->gap[k]      = 0;
  }
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt k = q->block[i];

    ag += alpha[i] * g[i];
    ab += alpha[i] * q->b[i];
    qp->gap[k] += alpha[i] * g[i];
    if (qp->steepest[k] < 0 || g[i] < g[qp->steepest[k]]) qp->steepest[k] = i;
  }
  *obj = 0.5 * (ag - ab);
  *gap = 0;
  for (PetscInt k = 0; k < q->nblock; k++) {
    qp->gap[k] -= g[qp->steepest[k]];
    *gap += qp->gap[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscReal BMRMQPDot(PetscInt n, const PetscReal x[], const PetscReal y[])
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

/* Factors L L' = H + ridge I, lower triangle, row stride ld; the first rows are done. Returns n, or the first row whose pivot is not positive. */
static PetscInt BMRMQPFactor(PetscInt done, PetscInt n, PetscInt ld, const PetscReal H[], PetscReal ridge, PetscReal L[])
{
  for (PetscInt i = done; i < n; i++) {
    const PetscReal *h = H + (size_t)i * ld;
    PetscReal       *l = L + (size_t)i * ld, pivot;

    for (PetscInt j = 0; j < i; j++) {
      const PetscReal *lj = L + (size_t)j * ld;

      l[j] = (h[j] - BMRMQPDot(j, l, lj)) / lj[j];
    }
    pivot = h[i] + ridge - BMRMQPDot(i, l, l);
    if (!(pivot > 0)) return i;
    l[i] = PetscSqrtReal(pivot);
  }
  return n;
}

/* d = (L L')^{-1} d */
static void BMRMQPSolveFactored(PetscInt n, PetscInt ld, const PetscReal L[], PetscReal d[])
{
  for (PetscInt i = 0; i < n; i++) d[i] = (d[i] - BMRMQPDot(i, L + (size_t)i * ld, d)) / L[(size_t)i * ld + i];
  for (PetscInt i = n - 1; i >= 0; i--) {
    const PetscReal *l = L + (size_t)i * ld;

    d[i] /= l[i];
    for (PetscInt j = 0; j < i; j++) d[j] -= d[i] * l[j];
  }
}

/* Deletes row and column r of the reduced Hessian and of the factor. The rows of the factor below r then have one entry too many, which Givens
   rotations of the columns eliminate. */
static PetscErrorCode BMRMQPDelete(BMRMQP *qp, PetscInt r)
{
  const PetscInt ld = qp->cap;
  PetscReal     *c, *s;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(qp->rows, &c, qp->rows, &s));
  for (PetscInt i = r; i + 1 < qp->rows; i++) {
    PetscReal *h = qp->H + (size_t)i * ld, *l = qp->L + (size_t)i * ld, *below = l + ld, x, y;

    PetscCall(PetscArraycpy(h, h + ld, r));
    PetscCall(PetscArraycpy(h + r, h + ld + r + 1, i + 1 - r));
    PetscCall(PetscArraycpy(l, below, r));
    x = below[r];
    for (PetscInt j = r; j < i; j++) {
      y    = below[j + 1];
      l[j] = c[j] * x + s[j] * y;
      x    = c[j] * y - s[j] * x;
    }
    y    = below[i + 1];
    l[i] = PetscSqrtReal(x * x + y * y);
    c[i] = x / l[i];
    s[i] = y / l[i];
  }
  PetscCall(PetscFree2(c, s));
  PetscCall(PetscLogFlops(3. * (qp->rows - r) * (qp->rows - r)));
  qp->rows--;
  qp->clean = PetscMin(qp->clean, r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the cut at a position of S. */
static PetscErrorCode BMRMQPRemove(BMRMQP *qp, const BMRMQPData *q, PetscInt at, PetscInt *size)
{
  PetscInt r = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < at; i++) r += qp->S[i] != qp->pivot[q->block[qp->S[i]]];
  if (r < qp->rows && qp->S[at] != qp->pivot[q->block[qp->S[at]]]) PetscCall(BMRMQPDelete(qp, r));
  (*size)--;
  for (PetscInt i = at; i < *size; i++) qp->S[i] = qp->S[i + 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes row r of the reduced Hessian, which belongs to the cut S[i]. Returns whether the row has changed. */
static PetscBool BMRMQPRow(BMRMQP *qp, const BMRMQPData *q, PetscInt i, PetscInt r)
{
  const PetscInt   ii = qp->S[i], pi = qp->pivot[q->block[ii]];
  const PetscReal *Gi = q->G + (size_t)ii * q->ld, *Gp = q->G + (size_t)pi * q->ld;
  PetscReal       *h       = qp->H + (size_t)r * qp->cap;
  PetscBool        changed = PETSC_FALSE;

  for (PetscInt j = 0, c = 0; j <= i; j++) {
    const PetscInt  jj = qp->S[j], pj = qp->pivot[q->block[jj]];
    const PetscReal entry = (Gi[jj] - Gi[pj] - Gp[jj] + Gp[pj]) / q->lambda;

    if (jj == pj) continue;
    if (r < qp->rows && !(entry == h[c])) changed = PETSC_TRUE; /* a NaN counts as a change */
    h[c++] = entry;
  }
  return changed;
}

/*
  The direction to the minimiser on the affine hull of the cuts S. The pivot p of every block is eliminated, since its weight is one minus the
  other weights of the block. The reduced Hessian is <a_i - a_p, a_j - a_p>/lambda.

  The cuts in S may be linearly dependent, for example if there are more cuts than features. A ridge of the size of the rounding errors makes the
  system definite. The step is then a proximal one, and a direction without curvature becomes long and is cut off by the bounds.

  Between two systems cuts leave S, and their rows are deleted; other cuts enter and come last. The rows of the factor above the first change
  remain valid.
*/
static PetscErrorCode BMRMQPDirection(BMRMQP *qp, const BMRMQPData *q, PetscInt k)
{
  const PetscInt n       = k - q->nblock;
  PetscReal      largest = 0, ridge;
  PetscInt       same    = qp->rows;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < q->n; i++) largest = PetscMax(largest, q->G[(size_t)i * q->ld + i] / q->lambda);
  for (PetscInt i = 0, r = 0; i < k; i++) {
    const PetscInt ii = qp->S[i], pi = qp->pivot[q->block[ii]];

    if (ii == pi) continue;
    if (BMRMQPRow(qp, q, i, r)) same = PetscMin(same, r);
    qp->d[r++] = qp->g[pi] - qp->g[ii];
  }
  ridge = PetscMax(1e-14 * largest, PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON);
  same  = ridge == qp->ridge ? PetscMin(same, n) : 0;
  while ((qp->rows = BMRMQPFactor(same, n, qp->cap, qp->H, ridge, qp->L)) < n) {
    ridge *= 100;
    same = 0;
    PetscCheck(ridge < PETSC_MAX_REAL, PETSC_COMM_SELF, PETSC_ERR_FP, "The QP of the bundle cannot be factored: the cuts hold a NaN or infinity; check the data for such values");
  }
  qp->ridge = ridge;
  if (qp->clean >= same) qp->clean = n;
  BMRMQPSolveFactored(n, qp->cap, qp->L, qp->d);
  PetscCall(PetscLogFlops((n - same) * (PetscLogDouble)n * (n + same) / 3. + 2. * n * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One step along the direction, up to the first weight that becomes zero; its cut leaves S. Returns whether it was a full step. */
static PetscErrorCode BMRMQPStep(BMRMQP *qp, const BMRMQPData *q, PetscInt *size, PetscReal alpha[], PetscBool *full)
{
  const PetscInt k                    = *size;
  PetscReal      sum[BMRM_MAX_BLOCKS] = {0}, others[BMRM_MAX_BLOCKS] = {0}, t = 1;
  PetscInt       block = -1, r = k - q->nblock;

  PetscFunctionBegin;
  for (PetscInt i = k - 1; i >= 0; i--) { /* expands the reduced direction to S, from the end */
    const PetscInt of = q->block[qp->S[i]];

    if (qp->S[i] != qp->pivot[of]) others[of] += qp->d[i] = qp->d[--r];
  }
  for (PetscInt i = 0; i < k; i++) {
    const PetscInt  of = q->block[qp->S[i]];
    const PetscReal a  = alpha[qp->S[i]];

    if (qp->S[i] == qp->pivot[of]) qp->d[i] = -others[of];
    if (a + t * qp->d[i] < 0) {
      t     = -a / qp->d[i];
      block = i;
    }
  }
  for (PetscInt i = 0; i < k; i++) {
    const PetscReal a = alpha[qp->S[i]] + t * qp->d[i];

    sum[q->block[qp->S[i]]] += alpha[qp->S[i]] = i == block ? 0 : PetscMax(a, 0);
  }
  for (PetscInt i = 0; i < k; i++) alpha[qp->S[i]] /= sum[q->block[qp->S[i]]];
  *full = (PetscBool)(block < 0);
  if (block >= 0) PetscCall(BMRMQPRemove(qp, q, block, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the cuts without weight from S, and adds the steepest cut of every block whose gap exceeds enter. */
static PetscErrorCode BMRMQPSupport(BMRMQP *qp, const BMRMQPData *q, const PetscReal alpha[], PetscReal enter, PetscInt *size)
{
  PetscFunctionBegin;
  for (PetscInt i = *size - 1; i >= 0; i--) {
    if (!(alpha[qp->S[i]] > 0)) PetscCall(BMRMQPRemove(qp, q, i, size));
  }
  for (PetscInt l = 0; l < q->nblock; l++) {
    if (qp->gap[l] > enter && !(alpha[qp->steepest[l]] > 0)) qp->S[(*size)++] = qp->steepest[l];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Initialises S with the cuts that have weight, in their order. Keeps only the rows of the factor that are the same as if this were the first
   problem. */
static PetscInt BMRMQPStart(BMRMQP *qp, const BMRMQPData *q, const PetscReal alpha[])
{
  PetscInt k = 0;

  for (PetscInt i = 0; i < q->n; i++) {
    if (alpha[i] > 0) qp->S[k++] = i;
  }
  for (PetscInt l = 0; l < q->nblock; l++) qp->pivot[l] = -1;
  qp->rows = qp->clean = PetscMin(qp->rows, qp->clean);
  return k;
}

/* Chooses the pivot of every block, which is eliminated: the oldest cut with a sufficient part of the weight, which rarely changes. A pivot stays
   as long as it has weight. */
static void BMRMQPPivots(BMRMQP *qp, const BMRMQPData *q, const PetscReal alpha[])
{
  PetscReal most[BMRM_MAX_BLOCKS] = {0};

  for (PetscInt i = 0; i < q->n; i++) most[q->block[i]] = PetscMax(most[q->block[i]], alpha[i]);
  for (PetscInt l = 0; l < q->nblock; l++) {
    if (qp->pivot[l] >= 0 && !(alpha[qp->pivot[l]] > 0)) qp->pivot[l] = -1;
  }
  for (PetscInt i = 0; i < q->n; i++) {
    const PetscInt of = q->block[i];

    if (qp->pivot[of] < 0 && !(alpha[i] < BMRM_QP_PIVOT * most[of])) qp->pivot[of] = i;
  }
}

/*
  BMRMQPSolve - minimises alpha'G alpha / (2 lambda) - b'alpha over a product of simplices: the dual of the bundle's model

  Not Collective, but the same arguments give the same result on every rank

  Input Parameters:
+ qp     - workspace
. q      - the problem: cuts in blocks; the weights of each block add up to one
. tol    - the duality gap to reach
- alpha  - a feasible initial point

  Output Parameters:
+ alpha - the solution, a feasible point
. gap   - its duality gap: the value of the model at -A alpha/lambda minus the dual value, which bounds the error of both
- its   - number of linear systems solved

  Notes:
  Every feasible alpha gives a valid lower bound, whatever its gap. Rounding may stop the method before tol is reached.

  A major step adds the steepest cut of every block that is not solved. Minor steps minimise on the affine hull of the cuts with weight, and remove cuts whose
  weight becomes zero, until the minimiser is feasible (Wolfe 1976, Kiwiel 1986).
*/
PetscErrorCode BMRMQPSolve(BMRMQP *qp, const BMRMQPData *q, PetscReal tol, PetscReal alpha[], PetscReal *gap, PetscInt *its)
{
  PetscReal obj, best = PETSC_INFINITY;
  PetscInt  k, idle   = 0;

  PetscFunctionBegin;
  *its = 0;
  PetscCall(BMRMQPReserve(qp, q->n));
  PetscCall(BMRMQPGradient(qp, q, alpha, &obj, gap));
  k = BMRMQPStart(qp, q, alpha);
  for (PetscInt major = 0; major < 20 * q->n + 100; major++) {
    PetscBool full = PETSC_FALSE;

    if (!(*gap > tol)) break;
    idle = obj < best - PETSC_MACHINE_EPSILON * PetscAbsReal(obj) ? 0 : idle + 1;
    if (idle > 3) break; /* rounding prevents further progress */
    best = PetscMin(best, obj);
    PetscCall(BMRMQPSupport(qp, q, alpha, 0.5 * tol / q->nblock, &k));
    while (!full && k > q->nblock) {
      BMRMQPPivots(qp, q, alpha);
      PetscCall(BMRMQPDirection(qp, q, k));
      PetscCall(BMRMQPStep(qp, q, &k, alpha, &full));
      PetscCall(BMRMQPGradient(qp, q, alpha, &obj, gap));
      (*its)++;
    }
  }
  if (*gap > tol) PetscCall(PetscInfo(NULL, "inner QP of %" PetscInt_FMT " cuts stopped at gap %g, tolerance %g, after %" PetscInt_FMT " systems\n", q->n, (double)*gap, (double)tol, *its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves the same QP on all ranks. Rank 0 broadcasts its weights, in case the arithmetic of the ranks differs. */
PetscErrorCode BMRMQPSolveAlike(MPI_Comm comm, BMRMQP *qp, const BMRMQPData *q, PetscReal tol, PetscReal alpha[])
{
  PetscReal   gap;
  PetscInt    its;
  PetscMPIInt n;

  PetscFunctionBegin;
  PetscCall(BMRMQPSolve(qp, q, tol, alpha, &gap, &its));
  PetscCall(PetscMPIIntCast(q->n, &n));
  PetscCallMPI(MPI_Bcast(alpha, n, MPIU_REAL, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
