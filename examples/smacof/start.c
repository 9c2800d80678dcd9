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

/* Block Krylov iterations for the first eigenvectors of -1/2 J D^2 J, where D^2 holds the squares of the dissimilarities and J takes
   the mean away; the operator is never formed, D is read once for a block of vectors. */
typedef struct {
  const Scaler *S;
  PetscInt      N, block, most; /* points; vectors of a block, blocks of a basis */
  double       *q, *aq;         /* [most * block][N] the basis, orthonormal, and its images */
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

/* y = -1/2 J D^2 x for n vectors, of which the mean is away already */
PetscErrorCode CentredMultiply(const Scaler *S, PetscInt n, const double x[], double y[])
{
  const Dissim  *D = S->D;
  const PetscInt N = D->N, m = D->last - D->first;
  double        *mine;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * m, &mine));
  if (S->device.dev) PetscCall(PassDeviceSquares(&S->device, n, x, mine));
  else PassSquares_Host(&S->shape, (int)n, x, mine);
  for (PetscInt k = 0; k < n * m; k++) mine[k] *= -0.5;
  PetscCall(DissimGather(D, n, mine, y));
  PetscCall(PetscFree(mine));
  for (PetscInt k = 0; k < n; k++) Centre(N, y + (size_t)k * N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* makes vector number n of the basis orthonormal to those before, and to a constant one; one that depends on them is replaced by a random one */
static PetscErrorCode Orthonormalize(Krylov *K, PetscInt n)
{
  const PetscInt N = K->N;
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
  const PetscInt N = K->N;
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
  const PetscInt N     = K->N;
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
  PetscCall(CentredMultiply(K->S, K->block, K->q + (size_t)n * K->N, K->aq + (size_t)n * K->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the eigenvectors of the largest values, in descending order, by block Krylov iterations */
static PetscErrorCode EigenvectorsBlock(const Scaler *S, PetscInt n, double q[], double value[])
{
  const PetscInt N = S->D->N, block = PetscMin(n + 2, N), most = PetscMin(6, N / block);
  Krylov         K = {S, N, block, most, NULL, NULL};
  double         all[PASS_MAX_VECTORS];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)N * block * (most + 1), &K.q, (size_t)N * block * (most + 1), &K.aq));
  PetscCall(StartRandom(S->o.seed, N, block, K.q));
  PetscCall(Extend(&K, 0));
  for (PetscInt have = block, applied = 1;; have += block, applied++) {
    if (have == most * block || have == block) { /* a full basis is restarted from its best block */
      PetscCall(Ritz(&K, have, all));
      have = block;
      if (Residuals(&K, have, n, all) < 1e-7 || applied >= 100 || most < 2) break;
    } else PetscCall(PetscArraycpy(K.q + (size_t)have * N, K.aq + (size_t)(have - block) * N, (size_t)block * N));
    PetscCall(Extend(&K, have));
  }
  PetscCall(PetscArraycpy(q, K.q, (size_t)n * N));
  PetscCall(PetscArraycpy(value, all, n));
  PetscCall(PetscFree2(K.q, K.aq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  StartTorgerson - Classical scaling: the first eigenvectors of -1/2 J D^2 J, each as long as the square root of its eigenvalue

  Collective

  Input Parameter:
. S - the scaler, of complete dissimilarities

  Output Parameter:
. x - [dim][N] the configuration, on every rank

  Note:
  A dimension without a positive eigenvalue is filled with small random numbers: SMACOF never leaves one of zeros.

  W. Torgerson, "Multidimensional scaling I: theory and method", Psychometrika 17 (1952).
*/
PetscErrorCode StartTorgerson(const Scaler *S, double x[])
{
  const PetscInt N = S->D->N, dim = S->o.dim, n = PetscMin(dim, N);
  double         value[PASS_MAX_DIM];

  PetscFunctionBegin;
  PetscCall(StartRandom(S->o.seed, N, dim, x));
  if (S->o.eigensolver == EIGENSOLVER_SLEPC) PetscCall(EigenvectorsSLEPc(S, n, x, value));
  else PetscCall(EigenvectorsBlock(S, n, x, value));
  for (PetscInt c = 0; c < dim; c++) {
    const PetscBool there = (PetscBool)(c < n && value[c] > 1e-10 * value[0] && value[c] > 0);
    const double    scale = there ? PetscSqrtReal(value[c]) : 1e-3 * PetscSqrtReal(PetscMax(value[0], 0) / (double)N);

    if (!there) PetscCall(StartRandom(S->o.seed + c, N, 1, x + (size_t)c * N));
    for (PetscInt i = 0; i < N; i++) x[(size_t)c * N + i] *= scale;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
