/* Free weights, whose factor in the regulariser is zero: their entries in distributed vectors, and weights of the cuts for which the model does not
   decrease without limit along them. */
#include "solvers/bmrm/bmrmimpl.h"

#define BMRM_FREE_ROUNDING 1e-14 /* relative size of a sum below which only rounding remains */

PetscErrorCode BMRMFreeReset_Private(BMRMRegularizer r)
{
  PetscFunctionBegin;
  PetscCall(VecScatterDestroy(&r->tofree));
  PetscCall(VecDestroy(&r->freepart));
  r->nfree = r->freestart = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records the free weights. like: a vector with the layout of the weights; index: global indices of the n free weights of this rank, ascending. Collective. */
PetscErrorCode BMRMFreeSetUp_Private(BMRMRegularizer r, Vec like, PetscInt n, const PetscInt index[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)like);
  IS             from;

  PetscFunctionBegin;
  PetscCall(BMRMFreeReset_Private(r));
  PetscCallMPI(MPI_Allreduce(&n, &r->nfree, 1, MPIU_INT, MPI_SUM, comm));
  if (!r->nfree) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreateMPI(comm, n, PETSC_DETERMINE, &r->freepart));
  PetscCall(VecGetOwnershipRange(r->freepart, &r->freestart, NULL));
  PetscCall(ISCreateGeneral(comm, n, index, PETSC_COPY_VALUES, &from));
  PetscCall(VecScatterCreate(like, from, r->freepart, NULL, &r->tofree));
  PetscCall(ISDestroy(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the entries of a vector at the free weights, the same on all ranks. Only these entries are copied from a device. */
PetscErrorCode BMRMFreeGet_Private(BMRMRegularizer r, Vec a, PetscReal z[])
{
  const PetscScalar *entry;
  PetscInt           n;

  PetscFunctionBegin;
  if (!r->nfree) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScatterBegin(r->tofree, a, r->freepart, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(r->tofree, a, r->freepart, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(PetscArrayzero(z, r->nfree));
  PetscCall(VecGetLocalSize(r->freepart, &n));
  PetscCall(VecGetArrayRead(r->freepart, &entry));
  for (PetscInt k = 0; k < n; k++) z[r->freestart + k] = PetscRealPart(entry[k]);
  PetscCall(VecRestoreArrayRead(r->freepart, &entry));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, z, (PetscMPIInt)r->nfree, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the entries of a vector at the free weights. */
PetscErrorCode BMRMFreeSet_Private(BMRMRegularizer r, const PetscReal z[], Vec a)
{
  PetscScalar *entry;
  PetscInt     n;

  PetscFunctionBegin;
  if (!r->nfree) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(r->freepart, &n));
  PetscCall(VecGetArrayWrite(r->freepart, &entry));
  for (PetscInt k = 0; k < n; k++) entry[k] = z[r->freestart + k];
  PetscCall(VecRestoreArrayWrite(r->freepart, &entry));
  PetscCall(VecScatterBegin(r->tofree, r->freepart, a, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(r->tofree, r->freepart, a, INSERT_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sum = Z'alpha: the entries of the weighted sum of cuts at the free weights. Returns the sum of their absolute values. */
PetscReal BMRMFreeSum_Private(const BMRMBundle *bu, const PetscReal alpha[], PetscReal sum[])
{
  PetscReal all = 0;

  for (PetscInt c = 0; c < bu->nfree; c++) sum[c] = 0;
  for (PetscInt i = bu->nblock; i < bu->n; i++) {
    for (PetscInt c = 0; alpha[i] != 0 && c < bu->nfree; c++) sum[c] += alpha[i] * bu->z[(size_t)i * bu->nfree + c];
  }
  for (PetscInt c = 0; c < bu->nfree; c++) all += PetscAbsReal(sum[c]);
  return all;
}

/* One free weight: mixes alpha with the cuts that have the extreme opposite entries at the free weight; if there are none, with the constant cuts,
   whose entries are 0. */
static void BMRMFreeBalanceOne(const BMRMBundle *bu, PetscReal sum, PetscReal range, PetscReal alpha[])
{
  PetscReal pull = 0, t;
  PetscInt  best[BMRM_MAX_BLOCKS];

  for (PetscInt k = 0; k < bu->nblock; k++) best[k] = k;
  for (PetscInt i = bu->nblock; i < bu->n; i++) {
    const PetscInt k = bu->block[i];

    if (sum > 0 ? bu->z[i] < bu->z[best[k]] : bu->z[i] > bu->z[best[k]]) best[k] = i;
  }
  for (PetscInt k = 0; k < bu->nblock; k++) pull += bu->z[best[k]];
  t = sum / (sum - pull);
  if (PetscAbsReal(sum) * range < t) return; /* BMRMModelRaiseBound() will subtract less than the mixture would lose */
  for (PetscInt i = 0; i < bu->n; i++) alpha[i] *= 1 - t;
  for (PetscInt k = 0; k < bu->nblock; k++) alpha[best[k]] += t;
}

/* The method of Lawson and Hanson for min ||Z'x + s|| over x >= 0 */
typedef struct {
  const BMRMBundle *bu;
  const PetscReal  *s;
  PetscInt          n, p;      /* number of cuts with positive x; number of rows of L that are valid */
  PetscInt         *cut;       /* these cuts */
  PetscBool        *in;        /* whether a cut is one of them, or is left out because it depends on them */
  PetscReal        *x, *trial; /* x of each cut; the minimiser without the bounds, in the order of cut */
  PetscReal        *L;         /* Cholesky factor of the Gram matrix of their rows of Z, row stride nfree */
  PetscReal        *rest;      /* Z'x + s */
} BMRMFreeCone;

static PetscReal BMRMFreeDot(const BMRMFreeCone *co, PetscInt i, const PetscReal v[])
{
  const PetscReal *z   = co->bu->z + (size_t)i * co->bu->nfree;
  PetscReal        sum = 0;

  for (PetscInt c = 0; c < co->bu->nfree; c++) sum += z[c] * v[c];
  return sum;
}

/* Extends the Cholesky factor to all n cuts. Returns whether their rows are independent; if not, the last cut depends on the others. */
static PetscBool BMRMFreeFactor(BMRMFreeCone *co)
{
  const PetscInt ld = co->bu->nfree;

  for (; co->p < co->n; co->p++) {
    PetscReal      *row    = co->L + (size_t)co->p * ld;
    const PetscReal square = BMRMFreeDot(co, co->cut[co->p], co->bu->z + (size_t)co->cut[co->p] * ld);
    PetscReal       left   = square;

    for (PetscInt j = 0; j < co->p; j++) {
      const PetscReal *other = co->L + (size_t)j * ld;

      row[j] = BMRMFreeDot(co, co->cut[co->p], co->bu->z + (size_t)co->cut[j] * ld);
      for (PetscInt l = 0; l < j; l++) row[j] -= row[l] * other[l];
      row[j] /= other[j];
      left -= row[j] * row[j];
    }
    if (!(left > 1e-12 * square)) return PETSC_FALSE;
    row[co->p] = PetscSqrtReal(left);
  }
  return PETSC_TRUE;
}

/* trial = x minus the solution of the normal equations for the residual: the minimiser without the bounds. */
static void BMRMFreeSolve(BMRMFreeCone *co)
{
  const PetscInt ld = co->bu->nfree;

  for (PetscInt i = 0; i < co->n; i++) {
    co->trial[i] = BMRMFreeDot(co, co->cut[i], co->rest);
    for (PetscInt j = 0; j < i; j++) co->trial[i] -= co->L[(size_t)i * ld + j] * co->trial[j];
    co->trial[i] /= co->L[(size_t)i * ld + i];
  }
  for (PetscInt i = co->n - 1; i >= 0; i--) {
    for (PetscInt j = i + 1; j < co->n; j++) co->trial[i] -= co->L[(size_t)j * ld + i] * co->trial[j];
    co->trial[i] /= co->L[(size_t)i * ld + i];
  }
  for (PetscInt i = 0; i < co->n; i++) co->trial[i] = co->x[co->cut[i]] - co->trial[i];
}

/* Moves x towards trial, up to the first bound. Cuts that reach it leave. Returns whether x has reached trial. */
static PetscBool BMRMFreeMove(BMRMFreeCone *co)
{
  PetscReal step = 1;
  PetscInt  n    = 0;

  for (PetscInt i = 0; i < co->n; i++) {
    const PetscReal x = co->x[co->cut[i]];

    if (co->trial[i] <= 0) step = PetscMin(step, x / (x - co->trial[i]));
  }
  for (PetscInt i = 0; i < co->n; i++) {
    PetscReal *x = &co->x[co->cut[i]];

    *x += step * (co->trial[i] - *x);
    if (step < 1 && co->trial[i] <= 0 && *x <= 1e-15 * PetscAbsReal(co->trial[i])) {
      *x                 = 0;
      co->in[co->cut[i]] = PETSC_FALSE;
    } else co->cut[n++] = co->cut[i];
  }
  if (n < co->n) co->p = 0;
  co->n = n;
  (void)BMRMFreeSum_Private(co->bu, co->x, co->rest);
  for (PetscInt c = 0; c < co->bu->nfree; c++) co->rest[c] += co->s[c];
  return (PetscBool)(step == 1);
}

/* Runs the method. The residual is rounding if 0 lies in the cone of the cuts around -s. */
static void BMRMFreeConeSolve(BMRMFreeCone *co)
{
  const BMRMBundle *bu   = co->bu;
  PetscReal         size = 0;

  for (PetscInt c = 0; c < bu->nfree; c++) size = PetscMax(size, PetscAbsReal(co->rest[c] = co->s[c]));
  for (PetscInt it = 0; it < 3 * bu->nfree + 20; it++) {
    PetscReal most = BMRM_FREE_ROUNDING * size;
    PetscInt  next = -1;

    for (PetscInt i = bu->nblock; i < bu->n; i++) { /* the cut with the steepest descent */
      const PetscReal norm = PetscSqrtReal(BMRMFreeDot(co, i, bu->z + (size_t)i * bu->nfree)), gain = co->in[i] || norm == 0 ? 0 : -BMRMFreeDot(co, i, co->rest) / norm;

      if (gain > most) {
        most = gain;
        next = i;
      }
    }
    if (next < 0 || co->n == bu->nfree) break;
    co->in[next]     = PETSC_TRUE;
    co->cut[co->n++] = next;
    if (!BMRMFreeFactor(co)) {
      co->n--; /* the mark keeps a dependent cut out */
      continue;
    }
    do {
      (void)BMRMFreeFactor(co);
      BMRMFreeSolve(co);
    } while (!BMRMFreeMove(co) && co->n);
  }
  for (PetscInt it = 0; it < 2 && co->n && BMRMFreeFactor(co); it++) { /* iterative refinement */
    BMRMFreeSolve(co);
    if (!BMRMFreeMove(co)) break;
  }
}

/* Several free weights: adds to alpha the smallest multiples of other cuts that balance the sum s, and divides by the new total. Constant cuts make
   the total of all blocks the same. If no multiples balance s, only the constant cuts remain. */
static PetscErrorCode BMRMFreeBalanceMany(const BMRMBundle *bu, const PetscReal s[], PetscReal size, PetscReal range, PetscReal alpha[])
{
  const PetscInt n = bu->n, m = bu->nfree;
  BMRMFreeCone   co                     = {.bu = bu, .s = s};
  PetscReal      total[BMRM_MAX_BLOCKS] = {0}, most = 0, rest = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc6(m + 1, &co.cut, n, &co.in, n, &co.x, m + 1, &co.trial, (size_t)(m + 1) * m, &co.L, m, &co.rest));
  BMRMFreeConeSolve(&co);
  for (PetscInt i = 0; i < n; i++) total[bu->block[i]] += co.x[i];
  for (PetscInt k = 0; k < bu->nblock; k++) most = PetscMax(most, total[k]);
  for (PetscInt c = 0; c < m; c++) rest += PetscAbsReal(co.rest[c]);
  if (size * range >= most / (1 + most) + rest * range) { /* otherwise BMRMModelRaiseBound() subtracts less than the mixture would lose */
    for (PetscInt k = 0; k < bu->nblock; k++) co.x[k] += most - total[k];
    for (PetscInt i = 0; i < n; i++) alpha[i] = (alpha[i] + co.x[i]) / (1 + most);
    size = rest;
  }
  if (size * range >= 1) {
    for (PetscInt i = 0; i < n; i++) alpha[i] = i < bu->nblock;
  }
  PetscCall(PetscFree6(co.cut, co.in, co.x, co.trial, co.L, co.rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Makes Z'alpha = 0 up to rounding, without which free weights could decrease the model without limit. range: absolute value of free weights up to
  which the lower bound holds; what remains of Z'alpha, times range, is to be subtracted from it.
*/
PetscErrorCode BMRMFreeBalance_Private(const BMRMBundle *bu, PetscReal range, PetscReal alpha[])
{
  PetscReal *sum, size;

  PetscFunctionBegin;
  if (!bu->nfree) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(bu->nfree, &sum));
  size = BMRMFreeSum_Private(bu, alpha, sum);
  if (size != 0 && bu->nfree == 1) BMRMFreeBalanceOne(bu, sum[0], range, alpha);
  else if (size != 0) PetscCall(BMRMFreeBalanceMany(bu, sum, size, range, alpha));
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}
