/* Where to start: random, given, or classical scaling. */
#include "smacof.h"
#include <petscblaslapack.h>

/* splitmix64 (G. L. Steele et al. 2014): numbers that depend on the seed and the place alone */
static uint64_t Mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* uniform in (-1, 1); the scale of a start does not matter, its Guttman transform has the right one */
PetscErrorCode StartRandom(PetscInt seed, PetscInt N, PetscInt dim, double x[])
{
  PetscFunctionBegin;
  for (size_t k = 0; k < (size_t)N * (size_t)dim; k++) x[k] = (double)(Mix(Mix((uint64_t)seed) ^ (uint64_t)k) >> 11) * 0x1p-52 - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  CoordinatesRead - Reads coordinates, a line for each point, from a text file

  Collective

  Note:
  A column before the coordinates, as -coordinates writes it, is a name.
*/
PetscErrorCode CoordinatesRead(MPI_Comm comm, const char file[], PetscInt N, PetscInt dim, double x[])
{
  PetscReal *all;
  PetscInt   first;
  Table      T;

  PetscFunctionBegin;
  PetscCall(TableRead(comm, file, PETSC_FALSE, &T));
  PetscCheck(T.N == N, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt_FMT " lines of coordinates for %" PetscInt_FMT " points", file, T.N, N);
  PetscCheck(T.cols == dim || T.cols == dim + 1, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: lines of %" PetscInt_FMT " numbers; expected %" PetscInt_FMT " coordinates, as -smacof_dim says, after a name or nothing", file, T.cols, dim);
  first = T.cols - dim;
  PetscCall(TableGather(&T, &all));
  for (PetscInt i = 0; i < N; i++)
    for (PetscInt c = 0; c < dim; c++) {
      x[(size_t)c * N + i] = all[(size_t)i * T.cols + first + c];
      PetscCheck(!PetscIsNanReal(x[(size_t)c * N + i]), comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a coordinate of point %" PetscInt_FMT " (counted from 0) is missing", file, i);
    }
  PetscCall(PetscFree(all));
  PetscCall(TableDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Block Krylov iterations for the first eigenvectors of -1/2 J D^2 J, where D^2 holds the squares of the dissimilarities and J takes
   the mean away; the operator is never formed, D is read once for a block of vectors. */
typedef struct {
  const Dissim *D;
  PetscInt      block, most; /* vectors of a block, blocks of a basis */
  double       *q, *aq;      /* [most * block][N] the basis, orthonormal, and its images */
  double       *mine, *delta;
} Krylov;

static void Centre(PetscInt N, double v[])
{
  double mean = 0;

  for (PetscInt i = 0; i < N; i++) mean += v[i];
  mean /= (double)N;
  for (PetscInt i = 0; i < N; i++) v[i] -= mean;
}

static double Dot(PetscInt N, const double a[], const double b[])
{
  double sum = 0;

  for (PetscInt i = 0; i < N; i++) sum += a[i] * b[i];
  return sum;
}

/* y = -1/2 J D^2 J x for a block of vectors, of which the mean is away already */
static PetscErrorCode Multiply(Krylov *K, const double x[], double y[])
{
  const Dissim  *D = K->D;
  const PetscInt N = D->N, m = D->last - D->first;
  double        *packed;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)K->block * N, &packed)); /* the block's values of a point beside each other */
  for (PetscInt j = 0; j < N; j++)
    for (PetscInt k = 0; k < K->block; k++) packed[j * K->block + k] = x[(size_t)k * N + j];
  for (PetscInt i = 0; i < m; i++) {
    double   sum[PASS_MAX_DIM + 2] = {0};
    PetscInt n;

    PetscCall(DissimRow(D, i, &n, NULL, K->delta, NULL));
    for (PetscInt j = 0; j < N; j++) {
      const double square = K->delta[j] * K->delta[j];

      for (PetscInt k = 0; k < K->block; k++) sum[k] += square * packed[j * K->block + k];
    }
    for (PetscInt k = 0; k < K->block; k++) K->mine[k * m + i] = -0.5 * sum[k];
  }
  PetscCall(PetscFree(packed));
  PetscCall(DissimGather(D, K->block, K->mine, y));
  for (PetscInt k = 0; k < K->block; k++) Centre(N, y + (size_t)k * N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* makes vector number n of the basis orthonormal to those before, and to a constant one; one that depends on them is replaced by a random one */
static PetscErrorCode Orthonormalize(Krylov *K, PetscInt n)
{
  const PetscInt N = K->D->N;
  double        *v = K->q + (size_t)n * N;

  PetscFunctionBegin;
  for (PetscInt attempt = 0; attempt < 4; attempt++) {
    const double length = PetscSqrtReal(Dot(N, v, v));
    double       before, after = length;

    do { /* again, as long as much of it goes away: what remains may be rounding */
      before = after;
      Centre(N, v);
      for (PetscInt k = 0; k < n; k++) {
        const double *q = K->q + (size_t)k * N, c = Dot(N, q, v);

        for (PetscInt i = 0; i < N; i++) v[i] -= c * q[i];
      }
      after = PetscSqrtReal(Dot(N, v, v));
    } while (after < 0.5 * before && after > 1e-10 * length);
    if (after > 1e-10 * length) {
      for (PetscInt i = 0; i < N; i++) v[i] /= after;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(StartRandom(1000 + 10 * n + attempt, N, 1, v));
  }
  PetscCall(PetscArrayzero(v, N)); /* the basis spans all there is */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rayleigh-Ritz: the first `block` vectors of basis and images become those of the largest values, which are returned in descending order */
static PetscErrorCode Ritz(Krylov *K, PetscInt n, double value[])
{
  const PetscInt N = K->D->N;
  PetscScalar   *S, *work, *eigenvalue;
  PetscBLASInt   bn, lwork, info;
  double        *row;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &bn));
  lwork = 8 * bn + 8;
  PetscCall(PetscMalloc4(n * n, &S, n, &eigenvalue, lwork, &work, 2 * K->block, &row));
  for (PetscInt a = 0; a < n; a++)
    for (PetscInt b = 0; b <= a; b++) S[a * n + b] = S[b * n + a] = 0.5 * (Dot(N, K->q + (size_t)a * N, K->aq + (size_t)b * N) + Dot(N, K->q + (size_t)b * N, K->aq + (size_t)a * N));
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "U", &bn, S, &bn, eigenvalue, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACKsyev: %d", (int)info);
  for (PetscInt i = 0; i < N; i++) {
    for (PetscInt k = 0; k < K->block; k++) {
      row[2 * k] = row[2 * k + 1] = 0;
      for (PetscInt a = 0; a < n; a++) {
        row[2 * k] += S[(n - 1 - k) * n + a] * K->q[(size_t)a * N + i];
        row[2 * k + 1] += S[(n - 1 - k) * n + a] * K->aq[(size_t)a * N + i];
      }
    }
    for (PetscInt k = 0; k < K->block; k++) {
      K->q[(size_t)k * N + i]  = row[2 * k];
      K->aq[(size_t)k * N + i] = row[2 * k + 1];
    }
  }
  for (PetscInt k = 0; k < K->block; k++) value[k] = eigenvalue[n - 1 - k];
  PetscCall(PetscFree4(S, eigenvalue, work, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* residuals of the first `wanted` Ritz pairs relative to the first value; they become the next block of the basis */
static double Residuals(Krylov *K, PetscInt n, PetscInt wanted, const double value[])
{
  const PetscInt N     = K->D->N;
  double         worst = 0;

  for (PetscInt k = 0; k < K->block; k++) {
    double *r = K->q + (size_t)(n + k) * N;

    for (PetscInt i = 0; i < N; i++) r[i] = K->aq[(size_t)k * N + i] - value[k] * K->q[(size_t)k * N + i];
    if (k < wanted) worst = PetscMax(worst, PetscSqrtReal(Dot(N, r, r)));
  }
  return value[0] > 0 ? worst / value[0] : 0;
}

/* the block's part of the basis from vector n on, and its images */
static PetscErrorCode Extend(Krylov *K, PetscInt n)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < K->block; k++) PetscCall(Orthonormalize(K, n + k));
  PetscCall(Multiply(K, K->q + (size_t)n * K->D->N, K->aq + (size_t)n * K->D->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  StartTorgerson - Classical scaling: the first eigenvectors of -1/2 J D^2 J, each as long as the square root of its eigenvalue

  Collective

  Input Parameters:
+ D    - the dissimilarities, complete
. dim  - of the configuration
- seed - of the random block that iterations begin with

  Output Parameter:
. x - [dim][N] the configuration, on every rank

  Note:
  A dimension without a positive eigenvalue is filled with small random numbers: SMACOF never leaves one of zeros.

  W. Torgerson, "Multidimensional scaling I: theory and method", Psychometrika 17 (1952).
*/
PetscErrorCode StartTorgerson(const Dissim *D, PetscInt dim, PetscInt seed, double x[])
{
  const PetscInt N = D->N, block = PetscMin(dim + 2, N), most = PetscMin(6, N / block);
  Krylov         K = {D, block, most, NULL, NULL, NULL, NULL};
  double         value[PASS_MAX_DIM + 2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc4((size_t)N * block * (most + 1), &K.q, (size_t)N * block * (most + 1), &K.aq, block * (D->last - D->first), &K.mine, N, &K.delta));
  PetscCall(StartRandom(seed, N, block, K.q));
  PetscCall(Extend(&K, 0));
  for (PetscInt n = block, applied = 1;; n += block, applied++) {
    if (n == most * block || n == block) { /* a full basis is restarted from its best block */
      PetscCall(Ritz(&K, n, value));
      n = block;
      if (Residuals(&K, n, PetscMin(dim, block), value) < 1e-7 || applied >= 100 || most < 2) break;
    } else PetscCall(PetscArraycpy(K.q + (size_t)n * N, K.aq + (size_t)(n - block) * N, (size_t)block * N));
    PetscCall(Extend(&K, n));
  }
  PetscCall(StartRandom(seed, N, dim, x));
  for (PetscInt c = 0; c < dim; c++) {
    const PetscBool there = (PetscBool)(c < block && value[c] > 1e-10 * value[0] && value[c] > 0);
    const double    scale = there ? PetscSqrtReal(value[c]) : 1e-3 * PetscSqrtReal(PetscMax(value[0], 0) / (double)N);

    for (PetscInt i = 0; i < N; i++) x[(size_t)c * N + i] = scale * (there ? K.q[(size_t)c * N + i] : x[(size_t)c * N + i]);
  }
  PetscCall(PetscFree4(K.q, K.aq, K.mine, K.delta));
  PetscFunctionReturn(PETSC_SUCCESS);
}
