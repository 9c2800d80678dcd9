/* Disparities: the function of the dissimilarities that approximates the distances of a configuration best.  This file fits linear
   combinations of a few basis functions: interval disparities and monotone splines.  Ordinal disparities are in ordinal.c.

   J. Ramsay, "Monotone regression splines in action", Stat. Sci. 3 (1988); C. Lawson, R. Hanson, "Solving least squares problems", 1974. */
#include "solvers/smacof/smacofimpl.h"
#include <petscblaslapack.h>

/* Solves a small symmetric system in place, in the least squares sense.  Singular values below 1e-14 of the largest count as zero. */
static PetscErrorCode SMACOFSolveLeastSquares(PetscInt m, PetscScalar matrix[], PetscScalar b[])
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
static void SMACOFEvaluateSplines(const SMACOFRegression *P, PetscReal delta, PetscReal value[])
{
  const PetscInt  p = P->degree, intervals = P->nfunctions - p;
  const PetscReal t = P->high > P->low ? (delta - P->low) / (P->high - P->low) * (PetscReal)intervals : 0; /* scaled so that the knots are integers */
  const PetscInt  s = PetscMax(0, PetscMin(intervals - 1, (PetscInt)t));
  PetscReal       b[SMACOF_MAX_DEGREE + 1];

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

/* what is computed from the local entries */
typedef enum {
  SMACOF_REGRESSION_LIMITS, /* the smallest and the largest dissimilarity */
  SMACOF_REGRESSION_MATRIX, /* the matrix of the normal equations */
  SMACOF_REGRESSION_RIGHT,  /* their right-hand side, from the distances at a configuration */
  SMACOF_REGRESSION_FILL    /* the disparities */
} SMACOFRegressionTask;

/* Computes a task from an entry.  Each pair has two entries, so each entry counts half in the normal equations. */
static void SMACOFRegressionAddEntry(SMACOFRegression *P, SMACOFRegressionTask task, double delta, double weight, double d, double *dhat)
{
  const PetscInt n = P->nfunctions;
  PetscReal      f[SMACOF_MAX_FUNCTIONS];

  if (task == SMACOF_REGRESSION_LIMITS) {
    P->low  = PetscMin(P->low, delta);
    P->high = PetscMax(P->high, delta);
    return;
  }
  SMACOFEvaluateSplines(P, delta, f);
  if (task == SMACOF_REGRESSION_FILL) *dhat = 0;
  for (PetscInt a = 0; a < n; a++) {
    if (task == SMACOF_REGRESSION_FILL) *dhat += P->coefficient[a] * f[a];
    else if (task == SMACOF_REGRESSION_RIGHT) P->right[a] += 0.5 * weight * f[a] * d;
    else
      for (PetscInt b = 0; b < n; b++) P->matrix[a * n + b] += 0.5 * weight * f[a] * f[b];
  }
}

/* Computes a task from all local entries.  x is the configuration of SMACOF_REGRESSION_RIGHT, else NULL. */
static PetscErrorCode SMACOFRegressionAddEntries(SMACOFRegression *P, SMACOFRegressionTask task, const double x[])
{
  const SMACOFPairs *D = P->D;
  const int         *column;
  PetscInt           n;

  PetscFunctionBegin;
  for (PetscInt i = D->first; i < D->last; i++) {
    const size_t at = D->start ? (size_t)D->start[i - D->first] : (size_t)(i - D->first) * (size_t)D->N;

    PetscCall(SMACOFPairsGetRow_Private(D, i - D->first, &n, &column, P->delta, P->weight));
    for (PetscInt k = 0; k < n; k++)
      if (column || k != i) SMACOFRegressionAddEntry(P, task, P->delta[k], P->weight[k], x ? SMACOFGetDistance_Private(D->N, P->dim, x, i, column ? column[k] : k) : 0, P->dhat + at + (size_t)k);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the nonnegative coefficients of the best fit by the active set method of Lawson and Hanson, on the normal equations. */
static PetscErrorCode SMACOFRegressionFitCoefficients(SMACOFRegression *P)
{
  const PetscInt n                          = P->nfunctions;
  PetscBool      free[SMACOF_MAX_FUNCTIONS] = {PETSC_FALSE};
  PetscReal      scale = 0, *c = P->coefficient;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(c, n));
  for (PetscInt a = 0; a < n; a++) scale = PetscMax(scale, PetscAbsReal(P->right[a]));
  for (PetscInt pass = 0; pass < 10 * n; pass++) {
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
      PetscScalar matrix[SMACOF_MAX_FUNCTIONS * SMACOF_MAX_FUNCTIONS], z[SMACOF_MAX_FUNCTIONS];
      PetscInt    index[SMACOF_MAX_FUNCTIONS], m = 0, stop = -1;
      PetscReal   step = 1;

      for (PetscInt a = 0; a < n; a++)
        if (free[a]) index[m++] = a;
      for (PetscInt a = 0; a < m; a++) {
        z[a] = P->right[index[a]];
        for (PetscInt b = 0; b < m; b++) matrix[a * m + b] = P->matrix[index[a] * n + index[b]];
      }
      PetscCall(SMACOFSolveLeastSquares(m, matrix, z));
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

/* Prepares the regression for the pairs of s, which must be stored in double precision.  Collective. */
PetscErrorCode SMACOFRegressionCreate_Private(SMACOF s, SMACOFRegression *P)
{
  const SMACOFPairs *D = &s->D;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(P, sizeof(*P)));
  P->D    = D;
  P->dim  = s->dim;
  P->type = s->disparity;
  PetscCheck(D->stored, D->comm, PETSC_ERR_USER_INPUT, "-smacof_disparity interval, spline and ordinal need stored dissimilarities; remove -matrix_free");
  PetscCheck(!D->single, D->comm, PETSC_ERR_ORDER, "The dissimilarities are already stored in single precision; call SMACOFSetDisparity() before SMACOFSetUp(), or set the data again");
  PetscCall(PetscMalloc3(D->N, &P->delta, D->N, &P->weight, D->start ? (size_t)D->start[D->last - D->first] : (size_t)(D->last - D->first) * (size_t)D->N, &P->dhat));
  if (!D->start)
    for (PetscInt i = 0; i < D->last - D->first; i++) P->dhat[(size_t)i * D->N + (size_t)(D->first + i)] = 0;
  if (s->disparity == SMACOF_DISPARITY_ORDINAL) {
    PetscCall(SMACOFOrdinalCreate_Private(D, s->ties, &P->ordinal));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  P->degree = s->disparity == SMACOF_DISPARITY_INTERVAL ? 1 : s->degree;
  P->low    = PETSC_MAX_REAL;
  P->high   = -PETSC_MAX_REAL;
  PetscCall(SMACOFRegressionAddEntries(P, SMACOF_REGRESSION_LIMITS, NULL));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &P->low, 1, MPIU_REAL, MPI_MIN, D->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &P->high, 1, MPIU_REAL, MPI_MAX, D->comm));
  P->nfunctions = P->degree + 1 + (s->disparity == SMACOF_DISPARITY_INTERVAL ? 0 : s->knots);
  if (!(P->high > P->low)) { /* all dissimilarities are equal, so one constant function remains */
    P->nfunctions = 1;
    P->degree     = 0;
  }
  PetscCall(SMACOFRegressionAddEntries(P, SMACOF_REGRESSION_MATRIX, NULL));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, P->matrix, (PetscMPIInt)(P->nfunctions * P->nfunctions), MPIU_REAL, MPI_SUM, D->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the disparities that approximate the distances of a configuration best, scaled to the sum of squares of the dissimilarities.  The admissible disparities form a
   cone, so the best fit, scaled, has the least stress at x among all with this sum of squares.  Collective. */
PetscErrorCode SMACOFRegressionFit_Private(SMACOFRegression *P, const double x[])
{
  const PetscInt n   = P->nfunctions;
  PetscReal      sum = 0, scale;

  PetscFunctionBegin;
  if (P->type == SMACOF_DISPARITY_ORDINAL) {
    PetscCall(SMACOFOrdinalFit_Private(&P->ordinal, P->dim, x, P->dhat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArrayzero(P->right, n));
  PetscCall(SMACOFRegressionAddEntries(P, SMACOF_REGRESSION_RIGHT, x));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, P->right, (PetscMPIInt)n, MPIU_REAL, MPI_SUM, P->D->comm));
  PetscCall(SMACOFRegressionFitCoefficients(P));
  for (PetscInt a = 0; a < n; a++)
    for (PetscInt b = 0; b < n; b++) sum += P->coefficient[a] * P->matrix[a * n + b] * P->coefficient[b];
  /* if all points coincide, all distances are 0: use a constant */
  if (!(sum > 0)) P->coefficient[0] = 1;
  scale = PetscSqrtReal(P->D->sumsquares / (sum > 0 ? sum : P->D->sumweights));
  for (PetscInt a = 0; a < n; a++) P->coefficient[a] *= scale;
  PetscCall(SMACOFRegressionAddEntries(P, SMACOF_REGRESSION_FILL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFRegressionDestroy_Private(SMACOFRegression *P)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(P->delta, P->weight, P->dhat));
  PetscCall(SMACOFOrdinalDestroy_Private(&P->ordinal));
  P->D = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
