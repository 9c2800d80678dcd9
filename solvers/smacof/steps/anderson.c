/* Anderson acceleration of the Guttman transform G: a Newton step in the span of the latest differences.

   The residual is f = G(x) - x.  Differences dx of iterates and df of residuals satisfy df = J dx approximately, where J is minus the Hessian of
   the stress up to a factor.  J is symmetric; with weights it is symmetric in another inner product, and the skew part is ignored.
   Let (value, q) be the Ritz pairs of J in the span of the differences.

   - If value < 0, the step along q is f'q / -value, which makes the residual along q zero.  This is Anderson's step.
   - If value > 0, Anderson's step would lead back to a saddle point.  The step has the same length in the opposite direction (Dauphin et al.).
   - The rest of f, outside the steps of the first kind, is followed by 2 f, twice as far as in Anderson's method.  The eigenvalues of the
     transform lie between 0 and 1, so those of the relaxed step y = x + 2 f lie around 0.

   D. Anderson, "Iterative procedures for nonlinear integral equations", J. ACM 12 (1965); H. Fang, Y. Saad, "Two classes of multisecant
   methods for nonlinear acceleration", Numer. Linear Algebra Appl. 16 (2009), type I; Y. Dauphin et al., "Identifying and
   attacking the saddle point problem in high-dimensional non-convex optimization" (2014). */
#include "solvers/smacof/smacofimpl.h"
#include <petscblaslapack.h>

#define FARTHEST  10    /* bound on the length of a step along a Ritz vector, relative to the residual; the linear model fails beyond */
#define DEPENDENT 1e-10 /* relative bound on eigenvalues of the Gram matrix of the normalised differences; smaller ones are dropped */

PetscErrorCode SMACOFHistoryCreate_Private(Vec like, PetscInt most, SMACOFHistory *H)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(H, sizeof(*H)));
  H->most = most;
  PetscCall(SMACOFHistoryClear_Private(H));
  PetscCall(VecDuplicateVecs(like, 2 * most + 6, &H->dx));
  H->df     = H->dx + most;
  H->latest = H->df + most;
  H->next   = H->latest + 2;
  PetscCall(PetscCalloc4(most * most, &H->xx, most * most, &H->xf, most, &H->fx, 3 * most, &H->product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SMACOFSwapVecs(Vec *v, Vec *w)
{
  Vec swap = *v;

  *v = *w;
  *w = swap;
}

/* Accepts the iterate from SMACOFDifferencesBegin_Private() as the latest one.  Its differences replace the oldest ones if the history is full. */
PetscErrorCode SMACOFHistoryAdd_Private(SMACOFHistory *H)
{
  const PetscInt n = SMACOFHistoryGetNext(H);

  PetscFunctionBegin;
  SMACOFSwapVecs(&H->latest[0], &H->next[0]);
  SMACOFSwapVecs(&H->latest[1], &H->next[1]);
  if (H->any) {
    const PetscScalar *product = H->product;

    H->newest = n;
    H->have   = PetscMin(H->have + 1, H->most);
    SMACOFSwapVecs(&H->dx[n], &H->next[2]);
    SMACOFSwapVecs(&H->df[n], &H->next[3]);
    for (PetscInt k = -1; k < H->have; k++) { /* H->product starts with the products of the new pair with itself */
      const PetscInt with = k < 0 ? n : k;

      if (k == n) continue;
      H->xx[n * H->most + with] = H->xx[with * H->most + n] = product[0];
      H->xf[n * H->most + with] = H->xf[with * H->most + n] = 0.5 * product[1];
      H->fx[with]                                           = product[2];
      product += 3;
    }
  }
  H->any = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Drops all differences; the latest iterate stays. */
PetscErrorCode SMACOFHistoryClear_Private(SMACOFHistory *H)
{
  PetscFunctionBegin;
  H->have   = 0;
  H->newest = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the r Ritz pairs of J in the span of the differences.  Ritz vector a is the sum of z[a * have + k] dx_k over k. */
static PetscErrorCode SMACOFHistoryComputeRitz(const SMACOFHistory *H, PetscBLASInt *r, PetscReal value[], PetscScalar z[])
{
  const PetscInt    m   = H->have;
  const PetscScalar one = 1, zero = 0;
  PetscBLASInt      n, lwork, info;
  PetscScalar      *W, *A, *T, *work;
  PetscReal        *length;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(m, &n));
  lwork = 8 * n + 8;
  PetscCall(PetscMalloc5(m * m, &W, m * m, &A, m * m, &T, lwork, &work, m, &length));
  for (PetscInt a = 0; a < m; a++) length[a] = H->xx[a * H->most + a] > 0 ? PetscSqrtReal(H->xx[a * H->most + a]) : 1;
  for (PetscInt a = 0; a < m; a++) {
    for (PetscInt b = 0; b < m; b++) {
      W[a * m + b] = H->xx[a * H->most + b] / (length[a] * length[b]);
      A[a * m + b] = H->xf[a * H->most + b] / (length[a] * length[b]);
    }
  }
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "U", &n, W, &n, value, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACKsyev failed with info %d", (int)info);
  *r = 0;
  for (PetscInt a = 0; a < m; a++) { /* an orthonormal basis */
    if (!(value[a] > DEPENDENT * value[m - 1])) continue;
    for (PetscInt k = 0; k < m; k++) W[*r * m + k] = W[a * m + k] / PetscSqrtReal(value[a]);
    ++*r;
  }
  if (*r) {
    PetscCallBLAS("BLASgemm", BLASgemm_("N", "N", &n, r, &n, &one, A, &n, W, &n, &zero, T, &n));
    PetscCallBLAS("BLASgemm", BLASgemm_("T", "N", r, r, &n, &one, W, &n, T, &n, &zero, A, r));
    PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "U", r, A, r, value, work, &lwork, &info));
    PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACKsyev failed with info %d", (int)info);
    PetscCallBLAS("BLASgemm", BLASgemm_("N", "N", &n, r, r, &one, W, &n, A, r, &zero, z, &n));
  }
  for (PetscInt a = 0; a < *r; a++)
    for (PetscInt k = 0; k < m; k++) z[a * m + k] /= length[k];
  PetscCall(PetscFree5(W, A, T, work, length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes next = x + s + 2 (f + J s').  s is the step along the Ritz vectors, and s' its part for negative Ritz values. */
PetscErrorCode SMACOFHistoryExtrapolate_Private(const SMACOFHistory *H, SMACOFCombination *next)
{
  const PetscInt m = H->have;
  PetscScalar   *z;
  PetscReal     *value, *s = next->factor + 2, *end = s + m;
  PetscBLASInt   r;

  PetscFunctionBegin;
  *next = (SMACOFCombination){2 + 2 * m, {1, 2}, {H->latest[0], H->latest[1]}};
  for (PetscInt k = 0; k < m; k++) {
    next->term[2 + k]     = H->dx[k];
    next->term[2 + m + k] = H->df[k];
  }
  PetscCall(PetscMalloc2(m * m, &z, m, &value));
  PetscCall(SMACOFHistoryComputeRitz(H, &r, value, z));
  for (PetscInt a = 0; a < r; a++) {
    PetscScalar along = 0;

    for (PetscInt k = 0; k < m; k++) along += z[a * m + k] * H->fx[k];
    along *= FARTHEST * PetscAbsReal(value[a]) > 1 ? 1 / PetscAbsReal(value[a]) : FARTHEST;
    for (PetscInt k = 0; k < m; k++) {
      s[k] += along * z[a * m + k];
      if (value[a] < 0) end[k] += 2 * along * z[a * m + k];
    }
  }
  PetscCall(PetscFree2(z, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFHistoryDestroy_Private(SMACOFHistory *H)
{
  PetscFunctionBegin;
  PetscCall(VecDestroyVecs(2 * H->most + 6, &H->dx));
  PetscCall(PetscFree4(H->xx, H->xf, H->fx, H->product));
  PetscFunctionReturn(PETSC_SUCCESS);
}
