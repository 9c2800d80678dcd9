/* Disparities: the function of the dissimilarities that approximates the distances of a configuration best.  This file fits linear
   combinations of a few basis functions: interval disparities and monotone splines.  Ordinal disparities are in ordinal.c.

   J. Ramsay, "Monotone regression splines in action", Stat. Sci. 3 (1988); C. Lawson, R. Hanson, "Solving least squares problems", 1974. */
#include "solvers/smacof/smacofimpl.h"
#include <petscblaslapack.h>

const char *const DisparityTypes[] = {"ratio", "interval", "spline", "ordinal", "DisparityType", "", NULL};
const char *const TiesNames[]      = {"primary", "secondary", "Ties", "", NULL};

/* Solves a small symmetric system in place, in the least squares sense.  Singular values below 1e-14 of the largest count as zero. */
PetscErrorCode SolveSmall(PetscInt m, PetscScalar matrix[], PetscScalar b[])
{
  PetscBLASInt n, one = 1, rank, lwork, info;
  PetscScalar *singular, *work;
  PetscReal    least = 1e-14;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(m, &n));
  lwork = 16 * n + 64;
  PetscCall(PetscMalloc2(m, &singular, lwork, &work));
  PetscCallBLAS("LAPACKgelss", LAPACKgelss_(&n, &n, &one, matrix, &n, b, &n, singular, &least, &rank, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACKgelss failed with info %d", (int)info);
  PetscCall(PetscFree2(singular, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Evaluates the basis functions at a dissimilarity.  Function k is the sum of the B-splines k, k + 1, ... on equidistant knots.  Each
   function is monotone, and the first one is constant, so a combination with nonnegative coefficients is monotone and nonnegative. */
static void DisparityEvaluateFunctions(const Disparity *P, PetscReal delta, PetscReal value[])
{
  const PetscInt  p = P->degree, intervals = P->nfunctions - p;
  const PetscReal t = P->high > P->low ? (delta - P->low) / (P->high - P->low) * (PetscReal)intervals : 0; /* scaled so that the knots are integers */
  const PetscInt  s = PetscMax(0, PetscMin(intervals - 1, (PetscInt)t));
  PetscReal       b[DISPARITY_MAX_DEGREE + 1];

  b[0] = 1; /* de Boor's recursion for the p + 1 splines that are not 0 in interval s; knots beyond an end coincide with it */
  for (PetscInt d = 1; d <= p; d++) {
    PetscReal saved = 0;

    for (PetscInt r = 0; r < d; r++) {
      const PetscReal right = (PetscReal)PetscMin(s + r + 1, intervals), left = (PetscReal)PetscMax(s + 1 - d + r, 0), term = b[r] / (right - left);

      b[r]  = saved + (right - t) * term;
      saved = (t - left) * term;
    }
    b[d] = saved;
  }
  for (PetscInt k = 0; k <= s; k++) value[k] = 1;
  for (PetscInt k = s + p + 1; k < P->nfunctions; k++) value[k] = 0;
  for (PetscInt k = p; k > 0; k--) value[s + k] = b[k] + (k < p ? value[s + k + 1] : 0);
}

/* Calls a function for every local entry, with its position in D->delta, dissimilarity, weight, and distance at x.  If x is NULL, the distance is 0. */
static PetscErrorCode DisparityForEachEntry(Disparity *P, const double x[], PetscErrorCode (*what)(Disparity *, size_t, double, double, double))
{
  const Dissim  *D = P->D;
  const PetscInt m = D->last - D->first;
  const int     *column;
  PetscInt       n;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; i++) {
    const size_t at = D->start ? (size_t)D->start[i] : (size_t)i * D->N;

    PetscCall(DissimRow(D, i, &n, &column, P->delta, P->weight));
    for (PetscInt k = 0; k < n; k++)
      if (column || k != D->first + i) PetscCall(what(P, at + (size_t)k, P->delta[k], P->weight[k], x ? Distance(D, P->dim, x, D->first + i, column ? column[k] : k) : 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DisparityAddLimits(Disparity *P, size_t at, double delta, double weight, double d)
{
  P->low  = PetscMin(P->low, delta);
  P->high = PetscMax(P->high, delta);
  return PETSC_SUCCESS;
}

/* Adds an entry to the matrix of the normal equations.  Each pair has two entries, so each entry counts half. */
static PetscErrorCode DisparityAddMatrix(Disparity *P, size_t at, double delta, double weight, double d)
{
  PetscReal f[DISPARITY_MAX_FUNCTIONS];

  DisparityEvaluateFunctions(P, delta, f);
  for (PetscInt a = 0; a < P->nfunctions; a++)
    for (PetscInt b = 0; b < P->nfunctions; b++) P->matrix[a * P->nfunctions + b] += 0.5 * weight * f[a] * f[b];
  return PETSC_SUCCESS;
}

static PetscErrorCode DisparityAddRight(Disparity *P, size_t at, double delta, double weight, double d)
{
  PetscReal f[DISPARITY_MAX_FUNCTIONS];

  DisparityEvaluateFunctions(P, delta, f);
  for (PetscInt a = 0; a < P->nfunctions; a++) P->right[a] += 0.5 * weight * f[a] * d;
  return PETSC_SUCCESS;
}

static PetscErrorCode DisparityFillEntry(Disparity *P, size_t at, double delta, double weight, double d)
{
  PetscReal f[DISPARITY_MAX_FUNCTIONS];

  DisparityEvaluateFunctions(P, delta, f);
  P->dhat[at] = 0;
  for (PetscInt a = 0; a < P->nfunctions; a++) P->dhat[at] += P->coefficient[a] * f[a];
  return PETSC_SUCCESS;
}

/* Computes the nonnegative coefficients of the best fit by the active set method of Lawson and Hanson, on the normal equations. */
static PetscErrorCode DisparityFitCoefficients(Disparity *P)
{
  const PetscInt n                             = P->nfunctions;
  PetscBool      free[DISPARITY_MAX_FUNCTIONS] = {PETSC_FALSE};
  PetscReal      scale = 0, *c = P->coefficient;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(c, n));
  for (PetscInt a = 0; a < n; a++) scale = PetscMax(scale, PetscAbsReal(P->right[a]));
  for (PetscInt round = 0; round < 10 * n; round++) {
    PetscInt  best = -1;
    PetscReal most = 1e-13 * scale;

    for (PetscInt a = 0; a < n; a++) { /* find the bound coefficient with the steepest descent */
      PetscReal slope = P->right[a];

      for (PetscInt b = 0; b < n; b++) slope -= P->matrix[a * n + b] * c[b];
      if (free[a] || slope <= most) continue;
      most = slope;
      best = a;
    }
    if (best < 0) break;
    free[best] = PETSC_TRUE;
    while (1) { /* minimise over the free coefficients; stop at the first one that becomes negative and bind it */
      PetscScalar matrix[DISPARITY_MAX_FUNCTIONS * DISPARITY_MAX_FUNCTIONS], z[DISPARITY_MAX_FUNCTIONS];
      PetscInt    index[DISPARITY_MAX_FUNCTIONS], m = 0, stop = -1;
      PetscReal   step = 1;

      for (PetscInt a = 0; a < n; a++)
        if (free[a]) index[m++] = a;
      for (PetscInt a = 0; a < m; a++) {
        z[a] = P->right[index[a]];
        for (PetscInt b = 0; b < m; b++) matrix[a * m + b] = P->matrix[index[a] * n + index[b]];
      }
      PetscCall(SolveSmall(m, matrix, z));
      for (PetscInt a = 0; a < m; a++) {
        const PetscReal reach = z[a] <= 0 ? c[index[a]] / (c[index[a]] - z[a] + PETSC_SMALL * PETSC_SMALL) : 1;

        if (z[a] > 0 || reach >= step) continue;
        step = reach;
        stop = a;
      }
      for (PetscInt a = 0; a < m; a++) c[index[a]] += step * (z[a] - c[index[a]]);
      if (stop < 0) break;
      c[index[stop]]    = 0;
      free[index[stop]] = PETSC_FALSE;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  DisparityCreate - Prepares disparities

  Collective

  Input Parameters:
+ D   - the dissimilarities, stored in double precision; referenced by the disparities
. dim - dimension of the configurations
- o   - type and parameters

  Output Parameter:
. P - the disparities, in the layout of the dissimilarities
*/
PetscErrorCode DisparityCreate(const Dissim *D, PetscInt dim, const DisparityOptions *o, Disparity *P)
{
  PetscReal limits[2];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(P, sizeof(*P)));
  P->D    = D;
  P->dim  = dim;
  P->type = o->type;
  PetscCheck(D->stored && !D->single, D->comm, PETSC_ERR_USER_INPUT, "-smacof_disparity interval, spline and ordinal need stored dissimilarities; remove -matrix_free");
  PetscCall(PetscMalloc3(D->N, &P->delta, D->N, &P->weight, D->start ? (size_t)D->start[D->last - D->first] : (size_t)(D->last - D->first) * (size_t)D->N, &P->dhat));
  if (!D->start)
    for (PetscInt i = 0; i < D->last - D->first; i++) P->dhat[(size_t)i * D->N + (size_t)(D->first + i)] = 0;
  if (o->type == DISPARITY_ORDINAL) {
    PetscCall(OrdinalCreate(D, o->ties, &P->ordinal));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  P->degree = o->type == DISPARITY_INTERVAL ? 1 : o->degree;
  P->low    = PETSC_MAX_REAL;
  P->high   = -PETSC_MAX_REAL;
  PetscCall(DisparityForEachEntry(P, NULL, DisparityAddLimits));
  limits[0] = -P->low;
  limits[1] = P->high;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, limits, 2, MPIU_REAL, MPI_MAX, D->comm));
  P->low        = -limits[0];
  P->high       = limits[1];
  P->nfunctions = P->degree + 1 + (o->type == DISPARITY_INTERVAL ? 0 : o->knots);
  if (!(P->high > P->low)) { /* all dissimilarities are equal, so one constant function remains */
    P->nfunctions = 1;
    P->degree     = 0;
  }
  PetscCall(DisparityForEachEntry(P, NULL, DisparityAddMatrix));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, P->matrix, (PetscMPIInt)(P->nfunctions * P->nfunctions), MPIU_REAL, MPI_SUM, D->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  DisparityUpdate - Computes the disparities that approximate the distances of a configuration best, scaled to the sum of squares of the dissimilarities

  Collective

  Note:
  The admissible disparities form a cone. The best fit, scaled, therefore has the least stress at `x` among all admissible disparities with this sum of squares.
*/
PetscErrorCode DisparityUpdate(Disparity *P, const double x[])
{
  const PetscInt n   = P->nfunctions;
  PetscReal      sum = 0, scale;

  PetscFunctionBegin;
  if (P->type == DISPARITY_ORDINAL) {
    PetscCall(OrdinalUpdate(&P->ordinal, P->dim, x, P->dhat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArrayzero(P->right, n));
  PetscCall(DisparityForEachEntry(P, x, DisparityAddRight));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, P->right, (PetscMPIInt)n, MPIU_REAL, MPI_SUM, P->D->comm));
  PetscCall(DisparityFitCoefficients(P));
  for (PetscInt a = 0; a < n; a++)
    for (PetscInt b = 0; b < n; b++) sum += P->coefficient[a] * P->matrix[a * n + b] * P->coefficient[b];
  /* if all points coincide, all distances are 0: use a constant */
  if (!(sum > 0)) P->coefficient[0] = 1;
  scale = PetscSqrtReal(P->D->sumsquares / (sum > 0 ? sum : P->D->sumweights));
  for (PetscInt a = 0; a < n; a++) P->coefficient[a] *= scale;
  PetscCall(DisparityForEachEntry(P, NULL, DisparityFillEntry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DisparityDestroy(Disparity *P)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(P->delta, P->weight, P->dhat));
  PetscCall(OrdinalDestroy(&P->ordinal));
  PetscFunctionReturn(PETSC_SUCCESS);
}
