/* The eigenvector of a nonnegative operator for its largest eigenvalue, by restarted Arnoldi iterations.

   By the theorem of Perron and Frobenius the largest eigenvalue of a nonnegative matrix is real, no other eigenvalue has a larger real part, and its
   eigenvector can be chosen without negative entries. The iteration therefore looks for the Ritz value of the largest real part. A power iteration
   would not converge if the graph is bipartite, and would need many more products if the second eigenvalue is close to the first.

   W. Arnoldi 1951; Y. Saad, "Numerical Methods for Large Eigenvalue Problems", 2011, chapter 6. */
#include "networkimpl.h"
#include <petscblaslapack.h>

enum {
  CHECK = 4 /* steps between two estimates of the residual within a cycle */
};

/* The data of a cycle, that is, of the steps between two restarts. v: basis. h: projected matrix with m + 1 rows, stored by columns. */
typedef struct {
  PetscInt     m;
  Vec         *v;                               /* [m + 1] */
  PetscScalar *h, *dots;                        /* [(m + 1) * m], [m] */
  PetscScalar *copy, *wr, *wi, *vectors, *work; /* for LAPACK */
  PetscScalar *y;                               /* [m] coefficients of the Ritz vector in the basis */
} NetworkCycle;

static PetscErrorCode NetworkCycleCreate(Network nw, PetscInt m, NetworkCycle *C)
{
  PetscFunctionBegin;
  C->m = m;
  PetscCall(VecDuplicateVecs(nw->x[0], m + 1, &C->v));
  PetscCall(PetscCalloc3((m + 1) * m, &C->h, m, &C->dots, m, &C->y));
  PetscCall(PetscMalloc5(m * m, &C->copy, m, &C->wr, m, &C->wi, m * m, &C->vectors, 8 * m, &C->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NetworkCycleDestroy(NetworkCycle *C)
{
  PetscFunctionBegin;
  PetscCall(VecDestroyVecs(C->m + 1, &C->v));
  PetscCall(PetscFree3(C->h, C->dots, C->y));
  PetscCall(PetscFree5(C->copy, C->wr, C->wi, C->vectors, C->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes v[j + 1] = operator v[j], and orthogonalises it twice to v[0..j]. beta: its norm after that. */
static PetscErrorCode NetworkCycleExtend(Network nw, NetworkOperator op, NetworkCycle *C, PetscInt j, PetscReal *beta)
{
  PetscScalar *h = C->h + j * (C->m + 1);

  PetscFunctionBegin;
  PetscCall((*op)(nw, C->v[j], C->v[j + 1]));
  nw->it++;
  for (int pass = 0; pass < 2; pass++) {
    PetscCall(VecMDot(C->v[j + 1], j + 1, C->v, C->dots));
    for (PetscInt k = 0; k <= j; k++) {
      h[k]       = (pass ? h[k] : 0) + C->dots[k];
      C->dots[k] = -C->dots[k];
    }
    PetscCall(VecMAXPY(C->v[j + 1], j + 1, C->dots, C->v));
  }
  PetscCall(VecNorm(C->v[j + 1], NORM_2, beta));
  h[j + 1] = *beta;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the Ritz pair of the basis v[0..n-1]: the real Ritz value of the largest real part, and its vector y of norm 1. If no Ritz value
   is real, y is the real part of a vector. second: the largest real part of the other Ritz values, -1 if n is 1. */
static PetscErrorCode NetworkCycleFindRitz(NetworkCycle *C, PetscInt n, PetscReal *value, PetscReal *second)
{
  PetscBLASInt bn, ld, lwork, info, one = 1;
  PetscInt     best = -1;
  PetscScalar  none;
  PetscReal    norm = 0;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscBLASIntCast(8 * C->m, &lwork));
  ld = bn;
  for (PetscInt k = 0; k < n; k++) PetscCall(PetscArraycpy(C->copy + k * n, C->h + k * (C->m + 1), n));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  PetscCallBLAS("LAPACKgeev", LAPACKgeev_("N", "V", &bn, C->copy, &ld, C->wr, C->wi, &none, &one, C->vectors, &ld, C->work, &lwork, &info));
  PetscCall(PetscFPTrapPop());
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK geev: info %d", (int)info);
  for (PetscInt k = 0; k < n; k++) {
    const PetscBool better = (PetscBool)(best < 0 || (C->wi[k] == 0) > (C->wi[best] == 0) || ((C->wi[k] == 0) == (C->wi[best] == 0) && C->wr[k] > C->wr[best]));

    if (better && C->wi[k] >= 0) best = k; /* LAPACK lists the value with the positive imaginary part first, with the real part of the vector */
  }
  *value  = C->wr[best];
  *second = -1;
  for (PetscInt k = 0; k < n; k++)
    if (k != best) *second = PetscMax(*second, C->wr[k]);
  for (PetscInt k = 0; k < n; k++) norm += C->vectors[best * n + k] * C->vectors[best * n + k];
  for (PetscInt k = 0; k < n; k++) C->y[k] = C->vectors[best * n + k] / PetscSqrtReal(norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a cycle from v[0], which has norm 1, and replaces v[0] by the Ritz vector. Sets `pair` for v[0] as it is on entry. stop: v[0] is
   unchanged, because it has the wanted accuracy or the maximum number of iterations was reached. */
static PetscErrorCode NetworkCycleRun(Network nw, NetworkOperator op, PetscReal tolerance, NetworkCycle *C, NetworkEigenpair *pair, PetscBool *stop)
{
  PetscReal beta, value = 0, sum;
  PetscInt  n = 0;

  PetscFunctionBegin;
  *stop = PETSC_FALSE;
  while (n < C->m) {
    PetscCall(NetworkCycleExtend(nw, op, C, n, &beta));
    if (!n++) {
      pair->value     = C->h[0];
      pair->residual  = beta;
      pair->converged = (PetscBool)(pair->value > 0 && beta <= tolerance * pair->value);
      PetscCall(NetworkMonitor_Private(nw, nw->it, pair->value > 0 ? beta / pair->value : PETSC_MAX_REAL));
      *stop = (PetscBool)(pair->converged || nw->it >= nw->max_it);
      if (*stop) PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (n == C->m || n % CHECK == 0 || beta <= PETSC_MACHINE_EPSILON * PetscAbsReal(C->h[0]) || nw->it >= nw->max_it - 1) { /* the last product tests the result */
      PetscCall(NetworkCycleFindRitz(C, n, &value, &pair->second));
      if (beta * PetscAbsReal(C->y[n - 1]) <= 0.5 * tolerance * value || beta <= PETSC_MACHINE_EPSILON * PetscAbsReal(C->h[0]) || nw->it >= nw->max_it - 1) break;
    }
    PetscCall(VecScale(C->v[n], 1 / beta));
  }
  PetscCall(VecScale(C->v[0], C->y[0]));
  PetscCall(VecMAXPY(C->v[0], n - 1, C->y + 1, C->v + 1));
  PetscCall(VecSum(C->v[0], &sum));
  PetscCall(VecNorm(C->v[0], NORM_2, &beta));
  PetscCall(VecScale(C->v[0], (sum < 0 ? -1 : 1) / beta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the eigenvector x, of 2-norm 1, from the start vector of ones. If several eigenvectors belong to the largest eigenvalue, the result is the
   projection of the start vector onto their space. If the operator is 0, the eigenvalue is 0 and pair->converged is false. */
PetscErrorCode NetworkFindEigenpair_Private(Network nw, NetworkOperator op, Vec x, PetscReal tolerance, NetworkEigenpair *pair)
{
  NetworkCycle C;
  PetscBool    stop = PETSC_FALSE;

  PetscFunctionBegin;
  *pair = (NetworkEigenpair){.second = -1};
  PetscCall(NetworkCycleCreate(nw, PetscMin(nw->basis, nw->N), &C));
  PetscCall(VecSet(C.v[0], 1 / PetscSqrtReal((PetscReal)nw->N)));
  while (!stop) {
    PetscCall(NetworkCycleRun(nw, op, tolerance, &C, pair, &stop));
    if (pair->value == 0 && pair->residual == 0) break; /* the operator is 0 */
  }
  PetscCall(VecCopy(C.v[0], x));
  PetscCall(NetworkCycleDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
