/* Initial configurations: random, or classical scaling. */
#include "solvers/smacof/smacofimpl.h"
#include "app/program/apphash.h"
#include <petscblaslapack.h>

PetscFunctionList SMACOFEigensolverList = NULL;

/* Sets coordinates uniform in (-1, 1).  The scale does not matter, because the Guttman transform does not depend on it. */
PetscErrorCode SMACOFRandomStart_Private(PetscInt seed, PetscInt N, PetscInt dim, double x[])
{
  PetscFunctionBegin;
  for (size_t k = 0; k < (size_t)N * (size_t)dim; k++) x[k] = (double)(GpAppHash64(GpAppHash64((uint64_t)seed) ^ (uint64_t)k) >> 11) * 0x1p-52 - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Block Krylov iteration for the leading eigenvectors of -1/2 J D^2 J.  D^2 holds the squares of the dissimilarities, and J subtracts the mean.
   The operator is not formed; each product reads D once for a block of vectors. */
typedef struct {
  SMACOF   s;
  PetscInt N, block, most; /* numbers of points, of vectors of a block, of blocks of the basis */
  double  *q, *aq;         /* [(most + 1) * block][N] the orthonormal basis and its product with the operator */
} SMACOFKrylov;

static void SMACOFCentreVector(PetscInt N, double v[])
{
  double mean = 0;

  for (PetscInt i = 0; i < N; i++) mean += v[i];
  mean /= (double)N;
  for (PetscInt i = 0; i < N; i++) v[i] -= mean;
}

static double SMACOFKrylovDot(PetscInt N, const double a[], const double b[])
{
  double sum = 0;

  for (PetscInt i = 0; i < N; i++) sum += a[i] * b[i];
  return sum;
}

/* Computes y = -1/2 J D^2 x for n vectors with mean 0. */
static PetscErrorCode SMACOFMultiplyCentred(SMACOF s, PetscInt n, const double x[], double y[])
{
  const PetscInt N = s->D.N, m = s->D.last - s->D.first;
  double        *mine;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * m, &mine));
  PetscCall(SMACOFDevicePassMultiplySquares_Private(&s->device, n, x, mine));
  for (PetscInt k = 0; k < n * m; k++) mine[k] *= -0.5;
  PetscCall(SMACOFGather_Private(s->D.comm, m, n, m, mine, y));
  PetscCall(PetscFree(mine));
  for (PetscInt k = 0; k < n; k++) SMACOFCentreVector(N, y + (size_t)k * N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies by -1/2 J D^2 J.  The vectors are the same on every rank. */
static PetscErrorCode MatMult_SMACOFCentred(Mat A, Vec x, Vec y)
{
  const PetscScalar *from;
  PetscScalar       *to, *centred;
  PetscInt           N;
  SMACOF             s;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, (void *)&s));
  PetscCall(VecGetLocalSize(x, &N));
  PetscCall(PetscMalloc1(N, &centred));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(PetscArraycpy(centred, from, N));
  PetscCall(VecRestoreArrayRead(x, &from));
  SMACOFCentreVector(N, centred);
  PetscCall(VecGetArrayWrite(y, &to));
  PetscCall(SMACOFMultiplyCentred(s, 1, centred, to));
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(PetscFree(centred));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Orthonormalises vector n of the basis against the vectors before it and against constants.  A linearly dependent vector is replaced by a random
   one. */
static PetscErrorCode SMACOFKrylovOrthonormalize(SMACOFKrylov *K, PetscInt n)
{
  const PetscInt N = K->N;
  double        *v = K->q + (size_t)n * N;

  PetscFunctionBegin;
  for (PetscInt attempt = 0; attempt < 4; attempt++) {
    const double length = PetscSqrtReal(SMACOFKrylovDot(N, v, v));
    double       before, after = length;

    do { /* repeat while the length shrinks by more than half, because of cancellation */
      before = after;
      SMACOFCentreVector(N, v);
      for (PetscInt k = 0; k < n; k++) {
        const double *q = K->q + (size_t)k * N, c = SMACOFKrylovDot(N, q, v);

        for (PetscInt i = 0; i < N; i++) v[i] -= c * q[i];
      }
      after = PetscSqrtReal(SMACOFKrylovDot(N, v, v));
    } while (after < 0.5 * before && after > 1e-10 * length);
    if (after > 1e-10 * length) {
      for (PetscInt i = 0; i < N; i++) v[i] /= after;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(SMACOFRandomStart_Private(1000 + 10 * n + attempt, N, 1, v));
  }
  PetscCall(PetscArrayzero(v, N)); /* the basis spans the whole space */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rayleigh-Ritz step: replaces the first block of the basis and of its products by the Ritz vectors of the largest values.  value receives these
   Ritz values in descending order. */
static PetscErrorCode SMACOFKrylovComputeRitz(SMACOFKrylov *K, PetscInt n, double value[])
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
    for (PetscInt b = 0; b <= a; b++) S[a * n + b] = S[b * n + a] = 0.5 * (SMACOFKrylovDot(N, K->q + (size_t)a * N, K->aq + (size_t)b * N) + SMACOFKrylovDot(N, K->q + (size_t)b * N, K->aq + (size_t)a * N));
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "U", &bn, S, &bn, eigenvalue, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACKsyev failed with info %d", (int)info);
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

/* Returns the largest residual of the first `wanted` Ritz pairs, relative to the first value.  The residuals become the next block of the basis. */
static double SMACOFKrylovComputeResiduals(SMACOFKrylov *K, PetscInt n, PetscInt wanted, const double value[])
{
  const PetscInt N     = K->N;
  double         worst = 0;

  for (PetscInt k = 0; k < K->block; k++) {
    double *r = K->q + (size_t)(n + k) * N;

    for (PetscInt i = 0; i < N; i++) r[i] = K->aq[(size_t)k * N + i] - value[k] * K->q[(size_t)k * N + i];
    if (k < wanted) worst = PetscMax(worst, PetscSqrtReal(SMACOFKrylovDot(N, r, r)));
  }
  return value[0] > 0 ? worst / value[0] : 0;
}

/* Orthonormalises the block of the basis from vector n on, and computes its products with the operator. */
static PetscErrorCode SMACOFKrylovExtend(SMACOFKrylov *K, PetscInt n)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < K->block; k++) PetscCall(SMACOFKrylovOrthonormalize(K, n + k));
  PetscCall(SMACOFMultiplyCentred(K->s, K->block, K->q + (size_t)n * K->N, K->aq + (size_t)n * K->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The eigensolver `block`: block Krylov iteration, which reads the dissimilarities once for a block of vectors. */
PetscErrorCode SMACOFEigensolveBlock_Private(SMACOF s, Mat A, PetscInt n, Vec q[], PetscReal value[])
{
  const PetscInt N = s->D.N, block = PetscMin(n + 2, N), most = PetscMin(6, N / block);
  SMACOFKrylov   K = {s, N, block, most, NULL, NULL};
  double         all[PASS_MAX_VECTORS];
  PetscScalar   *to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)N * block * (most + 1), &K.q, (size_t)N * block * (most + 1), &K.aq));
  PetscCall(SMACOFRandomStart_Private(s->seed, N, block, K.q));
  PetscCall(SMACOFKrylovExtend(&K, 0));
  for (PetscInt have = block, applied = 1;; have += block, applied++) {
    if (have == most * block || have == block) { /* restart a full basis from its best block */
      PetscCall(SMACOFKrylovComputeRitz(&K, have, all));
      have = block;
      if (SMACOFKrylovComputeResiduals(&K, have, n, all) < 1e-7 || applied >= 100 || most < 2) break;
    } else PetscCall(PetscArraycpy(K.q + (size_t)have * N, K.aq + (size_t)(have - block) * N, (size_t)block * N));
    PetscCall(SMACOFKrylovExtend(&K, have));
  }
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecGetArrayWrite(q[k], &to));
    PetscCall(PetscArraycpy(to, K.q + (size_t)k * N, N));
    PetscCall(VecRestoreArrayWrite(q[k], &to));
    value[k] = all[k];
  }
  PetscCall(PetscFree2(K.q, K.aq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the start of classical scaling, [dim][N] on every rank: the leading eigenvectors of -1/2 J D^2 J, scaled by the square roots of their eigenvalues.  The pairs must
   be complete.  A dimension without a positive eigenvalue gets small random numbers, because the iteration never changes a dimension of zeros.  Collective.

   W. Torgerson, "Multidimensional scaling I: theory and method", Psychometrika 17 (1952). */
PetscErrorCode SMACOFTorgersonStart_Private(SMACOF s, double x[])
{
  const PetscInt      N = s->D.N, n = PetscMin(s->dim, N);
  PetscReal           value[SMACOF_MAX_DIMENSION];
  Vec                 q[SMACOF_MAX_DIMENSION];
  SMACOFEigensolverFn solve;
  Mat                 A;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(SMACOFEigensolverList, s->eigensolver, &solve));
  PetscCheck(solve, s->D.comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "There is no eigensolver %s; SMACOFEigensolverRegister() adds one", s->eigensolver);
  PetscCall(SMACOFRandomStart_Private(s->seed, N, s->dim, x));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, N, N, N, N, s, &A));
  PetscCall(MatShellSetOperation(A, MATOP_MULT, (void (*)(void))MatMult_SMACOFCentred));
  for (PetscInt c = 0; c < n; c++) PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, N, x + (size_t)c * N, &q[c]));
  PetscCall((*solve)(s, A, n, q, value));
  for (PetscInt c = 0; c < n; c++) PetscCall(VecDestroy(&q[c]));
  PetscCall(MatDestroy(&A));
  for (PetscInt c = 0; c < s->dim; c++) {
    const PetscBool there = (PetscBool)(c < n && value[c] > 1e-10 * value[0] && value[c] > 0);
    const double    scale = there ? PetscSqrtReal(value[c]) : 1e-3 * PetscSqrtReal(PetscMax(value[0], 0) / (double)N);

    if (!there) PetscCall(SMACOFRandomStart_Private(s->seed + c, N, 1, x + (size_t)c * N));
    for (PetscInt i = 0; i < N; i++) x[(size_t)c * N + i] *= scale;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
