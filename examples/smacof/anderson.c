/* Anderson's combination of iterates of a fixed point map, in the form for a map that lowers a function: Newton's step in the space that the
   last differences span.

   With the residual f = G(x) - x, differences dx of iterates and df of residuals tell how f changes: df = J dx.  J is minus the Hessian of the
   stress, up to a factor, so it is symmetric (for weights in another inner product: what is not symmetric is left out).  Of its Ritz
   pairs in the span, J q = value q, Anderson's combination goes f'q / -value along q: to the point where the residual is 0.  Where
   value > 0 that is back to a saddle, which the iteration is about to leave; there the step goes as far ahead (Dauphin et al.), so that
   it doubles the way from the saddle.  What of f is left is followed twice as far as by Anderson: the eigenvalues of the
   transform lie between 0 and 1, those of a relaxed step, y = x + 2 f, about 0.

   D. Anderson, "Iterative procedures for nonlinear integral equations", J. ACM 12 (1965); H. Fang, Y. Saad, "Two classes of multisecant
   methods for nonlinear acceleration", Numer. Linear Algebra Appl. 16 (2009), type I; Y. Dauphin et al., "Identifying and
   attacking the saddle point problem in high-dimensional non-convex optimization" (2014). */
#include "smacof.h"
#include <petscblaslapack.h>

#define FARTHEST  10    /* times the residual that a step goes along a Ritz vector: beyond, the map is not linear enough */
#define DEPENDENT 1e-10 /* differences of length 1 that are so near to others' span are left out */

PetscErrorCode HistoryCreate(Vec like, PetscInt most, History *H)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(H, sizeof(*H)));
  H->most = most;
  PetscCall(HistoryForget(H));
  PetscCall(VecDuplicateVecs(like, most, &H->dx));
  PetscCall(VecDuplicateVecs(like, most, &H->df));
  PetscCall(VecDuplicate(like, &H->x));
  PetscCall(VecDuplicate(like, &H->f));
  PetscCall(PetscCalloc2(most * most, &H->xx, most * most, &H->xf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* inner products with the newest differences; those of dx with all the others at once */
static PetscErrorCode AddProducts(History *H)
{
  const PetscInt n = H->newest, have = H->have;
  PetscScalar   *product;
  Vec           *both;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(2 * have, &both, 2 * have, &product));
  for (PetscInt k = 0; k < have; k++) {
    both[k]        = H->dx[k];
    both[have + k] = H->df[k];
  }
  PetscCall(VecMDot(H->dx[n], 2 * have, both, product));
  for (PetscInt k = 0; k < have; k++) {
    H->xx[n * H->most + k] = H->xx[k * H->most + n] = product[k];
    H->xf[n * H->most + k]                          = product[have + k];
  }
  PetscCall(VecMDot(H->df[n], have, H->dx, product));
  for (PetscInt k = 0; k < have; k++) H->xf[k * H->most + n] = product[k];
  PetscCall(PetscFree2(both, product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an iterate and its image; the oldest difference gives way */
PetscErrorCode HistoryAdd(History *H, Vec x, Vec g)
{
  Vec before = H->f;

  PetscFunctionBegin;
  if (H->any) {
    H->newest = (H->newest + 1) % H->most;
    H->have   = PetscMin(H->have + 1, H->most);
    PetscCall(VecWAXPY(H->dx[H->newest], -1, H->x, x));
    H->f             = H->df[H->newest];
    H->df[H->newest] = before;
  }
  PetscCall(VecCopy(x, H->x));
  PetscCall(VecWAXPY(H->f, -1, x, g));
  if (H->any) {
    PetscCall(VecAYPX(H->df[H->newest], -1, H->f));
    PetscCall(AddProducts(H));
  }
  H->any = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* forgets all but the last iterate */
PetscErrorCode HistoryForget(History *H)
{
  PetscFunctionBegin;
  H->have   = 0;
  H->newest = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the Ritz pairs of J in the span of the differences: r of them, vector a is the sum of z[a * have + k] dx_k */
static PetscErrorCode Ritz(const History *H, PetscBLASInt *r, PetscReal value[], PetscScalar z[])
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
      A[a * m + b] = 0.5 * (H->xf[a * H->most + b] + H->xf[b * H->most + a]) / (length[a] * length[b]);
    }
  }
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "U", &n, W, &n, value, work, &lwork, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACKsyev: %d", (int)info);
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
    PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACKsyev: %d", (int)info);
    PetscCallBLAS("BLASgemm", BLASgemm_("N", "N", &n, r, r, &one, W, &n, A, r, &zero, z, &n));
  }
  for (PetscInt a = 0; a < *r; a++)
    for (PetscInt k = 0; k < m; k++) z[a * m + k] /= length[k];
  PetscCall(PetscFree5(W, A, T, work, length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* next = x + s + 2 (f + J s'), where s goes along the Ritz vectors, and s' is its part where the residual ends there */
PetscErrorCode HistoryExtrapolate(const History *H, Vec next)
{
  const PetscInt m = H->have;
  PetscScalar   *z, *dot, *s, *end;
  PetscReal     *value;
  PetscBLASInt   r;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(m * m, &z, m, &dot, m, &value));
  PetscCall(PetscCalloc2(m, &s, m, &end));
  PetscCall(VecMDot(H->f, m, H->dx, dot));
  PetscCall(Ritz(H, &r, value, z));
  for (PetscInt a = 0; a < r; a++) {
    PetscScalar along = 0;

    for (PetscInt k = 0; k < m; k++) along += z[a * m + k] * dot[k];
    along *= FARTHEST * PetscAbsReal(value[a]) > 1 ? 1 / PetscAbsReal(value[a]) : FARTHEST;
    for (PetscInt k = 0; k < m; k++) {
      s[k] += along * z[a * m + k];
      if (value[a] < 0) end[k] += 2 * along * z[a * m + k];
    }
  }
  PetscCall(VecWAXPY(next, 2, H->f, H->x));
  PetscCall(VecMAXPY(next, m, s, H->dx));
  PetscCall(VecMAXPY(next, m, end, H->df));
  PetscCall(PetscFree3(z, dot, value));
  PetscCall(PetscFree2(s, end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HistoryDestroy(History *H)
{
  PetscFunctionBegin;
  if (H->dx) PetscCall(VecDestroyVecs(H->most, &H->dx));
  if (H->df) PetscCall(VecDestroyVecs(H->most, &H->df));
  PetscCall(VecDestroy(&H->x));
  PetscCall(VecDestroy(&H->f));
  PetscCall(PetscFree2(H->xx, H->xf));
  PetscFunctionReturn(PETSC_SUCCESS);
}
