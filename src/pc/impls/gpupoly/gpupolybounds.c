/* Bounds of the eigenvalues for gpupoly, by Lanczos steps with D^(-1/2) A D^(-1/2). */
#include "pc/impls/gpupoly/gpupoly.h"
#include "app/program/apphash.h"
#include "device/gpfillers.h"
#include <petscblaslapack.h>

#define PC_GPUPOLY_GRAIN 65536 /* minimum number of entries that a thread fills */

PetscLogEvent PC_GPUPoly_Bounds;

/* The vectors and the tridiagonal matrix of the Lanczos steps. */
typedef struct {
  Vec       v, before, w, scaled;         /* last two Lanczos vectors, workspace */
  PetscReal alpha[PC_GPUPOLY_MOST_STEPS]; /* diagonal */
  PetscReal beta[PC_GPUPOLY_MOST_STEPS];  /* beta[j] is in rows j and j + 1; the last one is the norm of the remaining vector */
  PetscReal scale;                        /* largest entry so far */
} Lanczos;

/* Entries from `from` on. */
typedef struct {
  PetscInt     from;
  PetscScalar *a;
} PCGPUPolyStart;

static void PCGPUPolyFillPart(void *context, int part, int64_t begin, int64_t end)
{
  const PCGPUPolyStart *s = (const PCGPUPolyStart *)context;

  (void)part;
  for (int64_t i = begin; i < end; i++) s->a[i] = (PetscScalar)(GpAppHash64((uint64_t)(s->from + i)) >> 11) * 0x1p-52 - 1;
}

/* Fills a vector with numbers from -1 to 1 that depend on the row number only, so that the bounds do not depend on the number of ranks. */
static PetscErrorCode PCGPUPolyFillStart(Vec v)
{
  PCGPUPolyStart s;
  PetscInt       to;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &s.from, &to));
  PetscCall(VecGetArrayWrite(v, &s.a));
  GpFillersRun(GpFillersParts(to - s.from, PC_GPUPOLY_GRAIN), to - s.from, PCGPUPolyFillPart, &s);
  PetscCall(VecRestoreArrayWrite(v, &s.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does step j.  done: the Lanczos vectors span an invariant subspace.  Sets poly->failure if a number is not finite.
   In a symmetric matrix the product with a Lanczos vector has the component beta[j - 1] along the vector before; another component tells that the matrix is not symmetric. */
static PetscErrorCode PCGPUPolyStep(Mat A, PC_GPUPoly *poly, Vec root, PetscInt j, Lanczos *L, PetscBool *done)
{
  Vec         both[2] = {L->v, L->before};
  PetscScalar dot[2];

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (root) {
    PetscCall(VecPointwiseMult(L->scaled, root, L->v));
    PetscCall(MatMult(A, L->scaled, L->w));
    PetscCall(VecPointwiseMult(L->w, root, L->w));
  } else PetscCall(MatMult(A, L->v, L->w));
  PetscCall(VecMDot(L->w, j ? 2 : 1, both, dot));
  if (j) PetscCall(VecAXPBYPCZ(L->w, -dot[0], -L->beta[j - 1], 1, L->v, L->before));
  else PetscCall(VecAXPY(L->w, -dot[0], L->v));
  PetscCall(VecNorm(L->w, NORM_2, &L->beta[j]));
  L->alpha[j] = dot[0];
  L->scale    = PetscMax(L->scale, PetscMax(PetscAbsReal(L->alpha[j]), L->beta[j]));
  if (PetscIsInfOrNanReal(L->alpha[j]) || PetscIsInfOrNanReal(L->beta[j])) poly->failure = "a Lanczos step gave a number that is not finite";
  else if (j && PetscAbsReal(dot[1] - L->beta[j - 1]) > 1e-4 * L->scale) poly->unsymmetric = PETSC_TRUE;
  *done = (PetscBool)(poly->failure || poly->unsymmetric || L->beta[j] <= 1e-12 * L->scale);
  if (*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScale(L->w, 1 / L->beta[j]));
  L->before = L->v;
  L->v      = L->w;
  L->w      = both[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the Ritz values, the eigenvalues of the tridiagonal matrix.  The residual of a Ritz value is the last entry of its eigenvector times the last beta. */
static PetscErrorCode PCGPUPolyGetRitz(Lanczos *L, PCGPUPolyRitz *ritz)
{
  const PetscReal rest = L->beta[ritz->steps - 1];
  PetscBLASInt    n, info;
  PetscScalar    *vectors;
  PetscReal      *work;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(ritz->steps, &n));
  PetscCall(PetscMalloc2(n * n, &vectors, 2 * n, &work));
  PetscCallBLAS("LAPACKsteqr", LAPACKsteqr_("I", &n, L->alpha, L->beta, vectors, &n, work, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's routine steqr returned info = %d", (int)info);
  ritz->low           = L->alpha[0]; /* steqr returns ascending eigenvalues in place of the diagonal */
  ritz->high          = L->alpha[n - 1];
  ritz->low_residual  = rest * PetscAbsScalar(vectors[n - 1]);
  ritz->high_residual = rest * PetscAbsScalar(vectors[n * n - 1]);
  PetscCall(PetscFree2(vectors, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does at most poly->steps Lanczos steps with A, or with root A root, where root is a diagonal.  Sets poly->ritz, poly->start, poly->failure and poly->unsymmetric, and overwrites poly->work. */
PetscErrorCode PCGPUPolyRunLanczos_Private(Mat A, PC_GPUPoly *poly, Vec root)
{
  Lanczos   L = {.scale = 0};
  Vec      *work;
  PetscInt  n;
  PetscReal norm;
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  if (!poly->start) {
    PetscCall(VecDuplicate(poly->work[0], &poly->start));
    PetscCall(PCGPUPolyFillStart(poly->start));
  }
  PetscCall(VecDuplicateVecs(poly->work[0], 2, &work));
  L.v      = poly->work[0];
  L.before = poly->work[1];
  L.w      = work[0];
  L.scaled = work[1];
  PetscCall(VecGetSize(L.v, &n));
  PetscCall(VecCopy(poly->start, L.v));
  PetscCall(VecNormalize(L.v, &norm));
  for (poly->ritz.steps = 0; poly->ritz.steps < PetscMin(n, poly->steps) && !done; poly->ritz.steps++) PetscCall(PCGPUPolyStep(A, poly, root, poly->ritz.steps, &L, &done));
  if (!poly->failure && !poly->unsymmetric) PetscCall(PCGPUPolyGetRitz(&L, &poly->ritz));
  PetscCall(VecDestroyVecs(2, &work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes bounds of the eigenvalues of the scaled operator from the Ritz values.

   Upper bound: within the residual of a Ritz value there is an eigenvalue.  For a random start vector the largest one is practically always within that of the largest Ritz
   value (Zhou and Li 2011 compare such bounds); 1 % is added.

   Lower bound: the smallest Ritz value less its residual, if that is at least half the Ritz value.  A few steps seldom find the smallest eigenvalues; else, or if that value is smaller,
   the lower bound is high / ratio, or 0.  With a ratio of 1.5 (degree + 1)^2 the residual of a Chebyshev polynomial is at most 1 / cosh(2 / sqrt(1.5)) = 0.38 on
   the interval.  With larger ratios it comes close to 1 in all parts of the interval. */
static PetscErrorCode PCGPUPolySetFromRitz(PC pc, PC_GPUPoly *poly)
{
  const PCGPUPolyRitz *ritz    = &poly->ritz;
  const PetscReal      ratio   = poly->ratio || poly->type != PC_GPUPOLY_CHEBYSHEV ? poly->ratio : PetscMin(PC_GPUPOLY_RATIO, 1.5 * (poly->degree + 1) * (poly->degree + 1));
  const PetscReal      trusted = ritz->low_residual <= ritz->low / 2 ? ritz->low - ritz->low_residual : 0;
  PetscReal            least;

  PetscFunctionBegin;
  poly->high       = (PetscReal)1.01 * (ritz->high + ritz->high_residual);
  least            = ratio ? poly->high / ratio : 0;
  poly->ratio_used = (PetscBool)(trusted <= least);
  poly->low        = PetscMax(trusted, least);
  if (ritz->high <= 0) poly->failure = "the largest Ritz value is not positive, so the matrix is not positive definite";
  else if (ritz->low < -1e-6 * ritz->high) poly->failure = "a Ritz value is negative, so the matrix is not positive definite";
  PetscCall(PetscInfo(pc, "%" PetscInt_FMT " Lanczos steps: Ritz values from %g (residual %g) to %g (residual %g), bounds [%g, %g]\n", ritz->steps, (double)ritz->low, (double)ritz->low_residual, (double)ritz->high, (double)ritz->high_residual,
                      (double)poly->low, (double)poly->high));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes bounds of the eigenvalues of the scaled operator.  root: D^(-1/2), or NULL if D is the identity. */
PetscErrorCode PCGPUPolyGetBounds_Private(PC pc, PC_GPUPoly *poly, Vec root)
{
  PetscInt n;

  PetscFunctionBegin;
  poly->low = poly->high = 1;
  PetscCall(VecGetSize(poly->work[0], &n));
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(PC_GPUPoly_Bounds, pc, pc->pmat, 0, 0));
  PetscCall(PCGPUPolyRunLanczos_Private(pc->pmat, poly, root));
  PetscCall(PetscLogEventEnd(PC_GPUPoly_Bounds, pc, pc->pmat, 0, 0));
  if (!poly->failure && !poly->unsymmetric) PetscCall(PCGPUPolySetFromRitz(pc, poly));
  PetscFunctionReturn(PETSC_SUCCESS);
}
