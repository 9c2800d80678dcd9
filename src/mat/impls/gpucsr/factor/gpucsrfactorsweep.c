/* Approximate solves with a factor: the sweeps. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"
#include "vec/kernels/gpveckernel.h"

#define WHAT "approximate triangular solve"

/* z = a x + b y, or another row of the table of vector kernels. */
static PetscErrorCode MatGPUCSRSweepMap(const MatGPUCSRFactor *f, GpVecMapId id, double a, double b, const double x[], const double y[], double z[])
{
  const double scalars[3] = {a, b, 0};

  PetscFunctionBegin;
  PetscCallGp(f->dev, WHAT, GpVecKernelsOf(f->dev)->map[id](f->dev, f->n, scalars, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRSweepGather(const MatGPUCSRFactor *f, const int32_t index[], const double x[], double y[])
{
  PetscFunctionBegin;
  PetscCallGp(f->dev, WHAT, GpVecKernelsOf(f->dev)->gather(f->dev, (int32_t)f->n, index, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with the unit triangle T = I - S: x = b + S x in each sweep but the first.  *x is the solution: b, one of the work vectors, or `out` unless that is NULL. */
static PetscErrorCode MatGPUCSRSweepJacobi(const MatGPUCSRFactor *f, const MatGPUCSRTriangle *t, PetscBool transpose, const double b[], double *out, const double **x)
{
  PetscFunctionBegin;
  *x = b;
  for (PetscInt k = 1; k < t->sweeps; k++) {
    double *next = out && k == t->sweeps - 1 ? out : f->approx.work[k % 2];

    PetscCall(GpOpMult(t->strict, transpose, *x, b, next));
    *x = next;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with M = I + R: x = b + R b in the first sweep. A further one computes s = b + S x, then the residual r = s - x of x, and s + R r = x + M r. */
static PetscErrorCode MatGPUCSRSweepISAI(const MatGPUCSRFactor *f, const MatGPUCSRTriangle *t, PetscBool transpose, const double b[], double *out, const double **x)
{
  double *now = f->approx.work[0], *next = f->approx.work[1];

  PetscFunctionBegin;
  if (out && t->sweeps == 1) now = out;
  PetscCall(GpOpMult(t->inverse, transpose, b, b, now));
  for (PetscInt k = 1; k < t->sweeps; k++) {
    double *swap = now, *to = out && k == t->sweeps - 1 ? out : next;

    PetscCall(GpOpMult(t->strict, transpose, now, b, next));
    PetscCall(MatGPUCSRSweepMap(f, GP_VEC_combine, 1, -1, next, now, now));
    PetscCall(GpOpMult(t->inverse, transpose, now, next, to));
    now  = to;
    next = swap;
  }
  *x = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRSweepTriangle(const MatGPUCSRFactor *f, int which, PetscBool transpose, const double b[], double *out, const double **x, PetscLogDouble *flops)
{
  const MatGPUCSRTriangle *t   = &f->approx.tri[which];
  const PetscLogDouble     nnz = (PetscLogDouble)t->i[f->n], further = (PetscLogDouble)(t->sweeps - 1);

  PetscFunctionBegin;
  if (f->trisolve == MAT_GPUCSR_TRISOLVE_ISAI) {
    PetscCall(MatGPUCSRSweepISAI(f, t, transpose, b, out, x));
    *flops += 2 * nnz + further * (4 * nnz + (PetscLogDouble)f->n);
  } else {
    PetscCall(MatGPUCSRSweepJacobi(f, t, transpose, b, out, x));
    *flops += further * 2 * nnz;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = D^-1 x, or D^-1/2 x for the solves with one triangle of a Cholesky factor.  y may be x; root is a work vector. */
static PetscErrorCode MatGPUCSRSweepDiagonal(const MatGPUCSRFactor *f, MatGPUCSRSolveKind kind, const double x[], double *root, double y[])
{
  const double *d = f->approx.diagonal;

  PetscFunctionBegin;
  if (kind != MAT_GPUCSR_SOLVE_BOTH) {
    PetscCall(MatGPUCSRSweepMap(f, GP_VEC_multiple, 1, 0, d, NULL, root));
    PetscCall(MatGPUCSRSweepMap(f, GP_VEC_sqrtabs, 0, 0, NULL, NULL, root));
    d = root;
  }
  PetscCall(MatGPUCSRSweepMap(f, GP_VEC_product, 0, 0, x, d, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the solution z to x, permuted by `index` unless that is NULL, and adds a vector unless `add` is NULL. */
static PetscErrorCode MatGPUCSRSweepFinish(const MatGPUCSRFactor *f, const int32_t *index, const double z[], const double add[], double x[])
{
  double *spare = f->approx.work[z == f->approx.work[0] ? 1 : 0];

  PetscFunctionBegin;
  if (index) {
    PetscCall(MatGPUCSRSweepGather(f, index, z, add ? spare : x));
    z = add ? spare : x;
  }
  if (add == x) PetscCall(MatGPUCSRSweepMap(f, GP_VEC_axpy, 1, 0, z, NULL, x));
  else if (add) PetscCall(MatGPUCSRSweepMap(f, GP_VEC_waxpy, 1, 0, z, add, x));
  else if (z != x) PetscCall(MatGPUCSRSweepMap(f, GP_VEC_multiple, 1, 0, z, NULL, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes x = F^-1 b, or x = F^-1 b + add.  add may be NULL or x.  The third work vector is the right-hand side of a triangle. */
static PetscErrorCode MatGPUCSRSweepBoth(MatGPUCSRFactor *f, PetscBool transpose, MatGPUCSRSolveKind kind, const int32_t *in, const int32_t *out, const double b[], const double add[], double x[], PetscLogDouble *flops)
{
  const PetscBool upper = (PetscBool)(transpose || f->cholesky); /* the first triangle is U' */
  double         *rhs   = f->approx.work[2];
  const double   *z     = b;

  PetscFunctionBegin;
  if (in) {
    PetscCall(MatGPUCSRSweepGather(f, in, b, rhs));
    z = rhs;
  }
  if (kind != MAT_GPUCSR_SOLVE_BACKWARD) PetscCall(MatGPUCSRSweepTriangle(f, upper ? 1 : 0, upper, z, NULL, &z, flops));
  PetscCall(MatGPUCSRSweepDiagonal(f, kind, z, f->approx.work[z == f->approx.work[0] ? 1 : 0], rhs));
  *flops += (PetscLogDouble)f->n;
  z = rhs;
  if (kind != MAT_GPUCSR_SOLVE_FORWARD) PetscCall(MatGPUCSRSweepTriangle(f, upper && !f->cholesky ? 0 : 1, (PetscBool)(transpose && !f->cholesky), z, add || out ? NULL : x, &z, flops));
  PetscCall(MatGPUCSRSweepFinish(f, out, z, add, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRFactorSweep_Private(MatGPUCSRFactor *f, PetscBool transpose, MatGPUCSRSolveKind kind, const double b[], const double add[], double x[])
{
  const int32_t *in = NULL, *out = NULL;
  PetscLogDouble flops = 0;

  PetscFunctionBegin;
  if (!f->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (kind == MAT_GPUCSR_SOLVE_FORWARD) PetscCall(MatGPUCSRFactorGetPerm_Private(f, MAT_GPUCSR_PERM_FIRST, &out));
  else if (kind == MAT_GPUCSR_SOLVE_BACKWARD) PetscCall(MatGPUCSRFactorGetPerm_Private(f, MAT_GPUCSR_PERM_LAST, &in));
  else if (transpose) PetscCall(MatGPUCSRFactorGetPerm_Private(f, MAT_GPUCSR_PERM_OUT, &out));
  else PetscCall(MatGPUCSRFactorGetPerm_Private(f, MAT_GPUCSR_PERM_IN, &in));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(f->dev));
  PetscCall(MatGPUCSRSweepBoth(f, transpose, kind, in, out, b, add, x, &flops));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(f->dev));
  PetscCall(PetscGPUCSRLogFlops_Private(f->dev, flops + (add ? (PetscLogDouble)f->n : 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
