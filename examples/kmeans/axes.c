/* The axes of a picture: two columns, or the principal axes of the points. Principal axes are eigenvectors of the weighted covariance matrix of all points, found by
   the Lanczos method, which needs products of the points with vectors only. Every rank computes the same bits, because sums over points are sums of integers. */
#include "rows.h"
#include "app/program/apphash.h"
#include <math.h>
#include <petscblaslapack.h>

#define AXES_STEPS 40 /* of the Lanczos method; with at most as many features the axes are exact */

static double AxesDot(PetscInt d, const double x[], const double y[])
{
  double sum = 0;

  for (PetscInt j = 0; j < d; j++) sum += x[j] * y[j];
  return sum;
}

double PictureAxesProject(const PictureAxes *A, int which, PetscInt n, const PetscInt col[], const double value[])
{
  double sum = -A->middle[which];

  if (!A->principal) {
    for (PetscInt e = 0; e < n; e++)
      if ((col ? col[e] : e) == A->column[which]) return value[e];
    return 0;
  }
  for (PetscInt e = 0; e < n; e++) sum += value[e] * A->axis[which][col ? col[e] : e];
  return sum;
}

/* z = C v for the covariance matrix C, but for the division by the sum of the weights. factor: workspace for a number for each local point. */
static PetscErrorCode AxesApply(const PointRows *R, const double weight[], const double mean[], const double v[], double factor[], double z[])
{
  const double middle = AxesDot(R->d, mean, v);
  double       total;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < R->n; i++) {
    double sum = -middle;

    for (PetscInt64 e = R->begin[i]; e < R->begin[i + 1]; e++) sum += R->value[e] * v[R->col ? R->col[e] : e - R->begin[i]];
    factor[i] = weight ? weight[i] * sum : sum;
  }
  PetscCall(PointRowsSum(R, factor, z, &total));
  for (PetscInt j = 0; j < R->d; j++) z[j] -= total * mean[j];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes v orthogonal to the n rows of Q, twice for accuracy, and returns its norm. */
static double AxesOrthogonalise(PetscInt d, PetscInt n, const double Q[], double v[])
{
  for (int pass = 0; pass < 2; pass++) {
    for (PetscInt s = 0; s < n; s++) {
      const double c = AxesDot(d, Q + (size_t)s * d, v);

      for (PetscInt j = 0; j < d; j++) v[j] -= c * Q[(size_t)s * d + j];
    }
  }
  return sqrt(AxesDot(d, v, v));
}

/* Runs n steps of the Lanczos method from a random vector. Q: [n][d] orthonormal rows. T: [n][n] the projection of the covariance matrix onto them. If the
   vectors span an invariant subspace, the method continues with another random vector. */
static PetscErrorCode AxesIterate(const PointRows *R, const double weight[], const double mean[], PetscInt n, double Q[], double T[])
{
  const PetscInt d = R->d;
  double        *factor, *z, norm = 0, largest = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(R->n, &factor, d, &z));
  PetscCall(PetscArrayzero(T, (size_t)n * n));
  for (PetscInt s = 0; s < n; s++) {
    double *q = Q + (size_t)s * d;

    if (s && norm > 1e-10 * largest) {
      T[s * n + s - 1] = T[(s - 1) * n + s] = norm;
      PetscCall(PetscArraycpy(q, z, d));
    } else {
      for (PetscInt j = 0; j < d; j++) q[j] = (double)(GpAppHash64(((uint64_t)s << 40) + (uint64_t)j) >> 11) * 0x1p-53 - 0.5;
      norm = AxesOrthogonalise(d, s, Q, q);
    }
    for (PetscInt j = 0; j < d; j++) q[j] /= norm;
    PetscCall(AxesApply(R, weight, mean, q, factor, z));
    T[s * n + s] = AxesDot(d, q, z);
    norm         = AxesOrthogonalise(d, s + 1, Q, z);
    largest      = PetscMax(largest, PetscMax(fabs(T[s * n + s]), norm));
  }
  PetscCall(PetscFree2(factor, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the axes to the eigenvectors of the two largest eigenvalues. The component of an axis with the largest absolute value is positive. */
static PetscErrorCode AxesSelect(PetscInt d, PetscInt n, const double Q[], double T[], double variance, PictureAxes *A)
{
  PetscBLASInt bn, lwork, info;
  double      *value, *work;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscBLASIntCast(8 * n, &lwork));
  PetscCall(PetscMalloc2(n, &value, 8 * n, &work));
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "U", &bn, T, &bn, value, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACKsyev failed with info %d", (int)info);
  for (int which = 0; which < 2; which++) {
    const double *combination = T + (size_t)(n - 1 - which) * n;
    double       *axis = A->axis[which], most = 0;

    for (PetscInt s = 0; s < n; s++)
      for (PetscInt j = 0; j < d; j++) axis[j] += combination[s] * Q[(size_t)s * d + j];
    for (PetscInt j = 0; j < d; j++)
      if (fabs(axis[j]) > fabs(most)) most = axis[j];
    for (PetscInt j = 0; j < d && most < 0; j++) axis[j] = -axis[j];
    A->middle[which] = AxesDot(d, axis, A->mean);
    A->share[which]  = variance > 0 ? PetscMin(1, PetscMax(0, value[n - 1 - which]) / variance) : 0;
  }
  PetscCall(PetscFree2(value, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the principal axes of points with at least three features. */
static PetscErrorCode AxesComputePrincipal(const PointRows *R, const double weight[], PictureAxes *A)
{
  const PetscInt d = R->d, n = PetscMin(d, AXES_STEPS);
  double        *factor, *Q, *T, mass, variance, square;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(R->n, &factor, (size_t)n * d, &Q, (size_t)n * n, &T));
  for (PetscInt i = 0; i < R->n; i++) factor[i] = weight ? weight[i] : 1;
  PetscCall(PointRowsSum(R, factor, A->mean, &mass));
  for (PetscInt j = 0; j < d; j++) A->mean[j] /= mass;
  square = AxesDot(d, A->mean, A->mean);
  for (PetscInt i = 0; i < R->n; i++) { /* weighted squared distance to the mean */
    double sum = square;

    for (PetscInt64 e = R->begin[i]; e < R->begin[i + 1]; e++) {
      const double mean = A->mean[R->col ? R->col[e] : e - R->begin[i]];

      sum += (R->value[e] - mean) * (R->value[e] - mean) - mean * mean;
    }
    factor[i] *= PetscMax(0, sum);
  }
  PetscCall(PointRowsSum(R, factor, NULL, &variance));
  PetscCall(AxesIterate(R, weight, A->mean, n, Q, T));
  PetscCall(AxesSelect(d, n, Q, T, variance, A));
  PetscCall(PetscFree3(factor, Q, T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the axes of a picture: the columns, if there are any, else the only two features, else principal axes. weight: of the local points, or NULL. Collective. */
PetscErrorCode PictureAxesCreate(const PointRows *R, const double weight[], PetscInt ncolumns, const PetscInt columns[], PictureAxes *A)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(A, sizeof(*A)));
  A->principal = (PetscBool)(!ncolumns && R->d > 2);
  for (int c = 0; c < 2; c++) A->column[c] = ncolumns ? columns[c] : c < R->d ? c : -1;
  if (!A->principal) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc3(R->d, &A->mean, R->d, &A->axis[0], R->d, &A->axis[1]));
  PetscCall(AxesComputePrincipal(R, weight, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PictureAxesDestroy(PictureAxes *A)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(A->mean, A->axis[0], A->axis[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
