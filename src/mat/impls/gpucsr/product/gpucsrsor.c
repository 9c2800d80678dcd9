/* MatSOR() by colours.  The rows are renumbered such that those of one colour are consecutive.  As they are not coupled, all of them are relaxed at once, by products with
   the rows.  A sweep visits the colours in order, so that it is a sweep with the symmetrically permuted matrix. */
#include "mat/impls/gpucsr/product/gpucsrsor.h"

/* Vectors of a sweep, by positions. */
typedef struct {
  double *x, *b, *t, *u, *factor; /* t: b - L x with L the part in smaller colours; u: workspace */
} Vectors;

static PetscErrorCode MatGPUCSRSORMap(MatGPUCSRSOR s, GpVecMapId op, PetscInt n, double a, double b, const double *x, const double *y, double *z)
{
  const double scalars[3] = {a, b, 0};

  PetscFunctionBegin;
  PetscCallGp(s->dev, GpVecMapRows[op].name, GpVecKernelsOf(s->dev)->map[op](s->dev, n, scalars, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Relaxes colour c: x = (1 - omega) x + omega D^-1 (b - L x - U x).
   zero tells that x is zero in all colours that this sweep has not yet relaxed.  follows tells that t is current, because the preceding sweep in the other direction has computed it. */
static PetscErrorCode MatGPUCSRSORRelax(MatGPUCSRSOR s, const Vectors *v, PetscInt c, PetscBool backward, PetscBool zero, PetscBool follows)
{
  const PetscInt from = s->start[c], n = s->start[c + 1] - from;
  const GpOp     lower = s->part[c][0].op, upper = s->part[c][1].op;
  const double  *rest = lower ? v->t + from : v->b + from;

  PetscFunctionBegin;
  if (follows && !upper && s->omega == 1) PetscFunctionReturn(PETSC_SUCCESS); /* the same values again */
  if (zero && backward && lower) rest = v->b + from;                          /* smaller colours are zero */
  else if (lower && !follows) PetscCall(GpOpMult(lower, PETSC_FALSE, v->x, v->b + from, v->t + from));
  if (upper && !(zero && !backward)) {
    PetscCall(GpOpMult(upper, PETSC_FALSE, v->x, rest, v->u + from));
    rest = v->u + from;
  }
  if (zero || s->omega == 1) PetscCall(MatGPUCSRSORMap(s, GP_VEC_product, n, 0, 0, v->factor + from, rest, v->x + from));
  else {
    PetscCall(MatGPUCSRSORMap(s, GP_VEC_product, n, 0, 0, v->factor + from, rest, v->u + from));
    PetscCall(MatGPUCSRSORMap(s, GP_VEC_axpby, n, 1, 1 - s->omega, v->u + from, NULL, v->x + from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does `its` iterations with vectors by positions. */
static PetscErrorCode MatGPUCSRSORIterate(MatGPUCSRSOR s, const Vectors *v, MatSORType flag, PetscInt its)
{
  const PetscBool forward  = (PetscBool)((flag & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP)) != 0);
  const PetscBool backward = (PetscBool)((flag & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP)) != 0);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < its; k++) {
    const PetscBool zero = (PetscBool)(!k && (flag & SOR_ZERO_INITIAL_GUESS));

    for (PetscInt c = 0; forward && c < s->colors; c++) PetscCall(MatGPUCSRSORRelax(s, v, c, PETSC_FALSE, zero, PETSC_FALSE));
    for (PetscInt c = s->colors - 1; backward && c >= 0; c--) PetscCall(MatGPUCSRSORRelax(s, v, c, PETSC_TRUE, (PetscBool)(zero && !forward), forward));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the factors omega / (shift + diagonal), as AIJ does, which ignores a negative shift if omega is 1.  *valid: all are finite. */
static PetscErrorCode MatGPUCSRSORScale(Mat A, MatGPUCSRSOR s, PetscReal omega, PetscReal shift, double *factor, PetscBool *valid)
{
  const PetscReal added = omega == 1 && shift <= 0 ? 0 : shift;
  PetscScalar    *val;
  double         *work;
  GpErr           err;

  PetscFunctionBegin;
  *valid = PETSC_TRUE;
  if (s->scaled && s->omega == omega && s->shift == shift) PetscFunctionReturn(PETSC_SUCCESS);
  s->scaled = PETSC_FALSE;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, NULL, NULL, &val, NULL));
  PetscCall(PetscMalloc1(s->n, &work));
  for (PetscInt p = 0; p < s->n && *valid; p++) {
    const double d = s->diagonal[p] < 0 ? 0 : val[s->diagonal[p]];

    if (s->diagonal[p] < 0 || d + added == 0) *valid = PETSC_FALSE;
    else work[p] = omega / (d + added);
  }
  err = *valid ? GpDevUpload(s->dev, factor, work, (size_t)s->n * sizeof(double)) : GP_SUCCESS;
  PetscCall(PetscFree(work));
  PetscCallGp(s->dev, "uploading the diagonal", err);
  s->omega  = omega;
  s->shift  = shift;
  s->scaled = *valid;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies b and, if it is used, x to their positions, iterates, and copies x back. */
static PetscErrorCode MatGPUCSRSORApply(Mat A, MatGPUCSRSOR s, const Vectors *v, MatSORType flag, PetscInt its, const double *b, double *x)
{
  const GpVecMove     in = {s->n, NULL, s->index, NULL}, out = {s->n, s->index, NULL, NULL};
  const GpVecKernels *kernels = GpVecKernelsOf(s->dev);

  PetscFunctionBegin;
  if (!s->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallGp(s->dev, "sorting a vector by colours", kernels->move(s->dev, GP_VEC_REPLACE, 1, &in, b, v->b));
  if (!(flag & SOR_ZERO_INITIAL_GUESS)) PetscCallGp(s->dev, "sorting a vector by colours", kernels->move(s->dev, GP_VEC_REPLACE, 1, &in, x, v->x));
  PetscCall(MatGPUCSRSORIterate(s, v, flag, its));
  PetscCallGp(s->dev, "sorting a vector by rows", kernels->move(s->dev, GP_VEC_REPLACE, 1, &out, v->x, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps on the device.  *done is PETSC_FALSE if the diagonal does not allow it; then nothing has been done. */
static PetscErrorCode MatGPUCSRSORSweep(Mat A, Vec bb, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, Vec xx, PetscBool *done)
{
  const PetscBool zero = (PetscBool)((flag & SOR_ZERO_INITIAL_GUESS) != 0);
  MatGPUCSRSOR    s;
  MatGPUCSRVec    b, x, none;
  Vectors         v;
  PetscErrorCode  err;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRSORGet_Private(A, &s));
  v = (Vectors){s->work, s->work + s->n, s->work + 2 * s->n, s->work + 3 * s->n, s->work + 4 * s->n};
  PetscCall(MatGPUCSRSORScale(A, s, omega, shift, v.factor, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRVecGetRead_Private(A, 1, bb, &b));
  PetscCall(MatGPUCSRVecGetResult_Private(A, 0, xx, zero ? NULL : xx, &x, &none));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(s->dev));
  err = MatGPUCSRSORApply(A, s, &v, flag, its, b.device, x.device);
  PetscCall(PetscGPUCSRLogTimeEnd_Private(s->dev));
  PetscCall(MatGPUCSRVecRestoreResult_Private(A, xx, zero ? NULL : xx, &x, &none));
  PetscCall(MatGPUCSRVecRestoreArray_Private(bb, 'r', &b));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSOR_SeqAIJGPUCSR(Mat A, Vec bb, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, PetscInt lits, Vec xx)
{
  const Mat_GPUCSR *g    = (const Mat_GPUCSR *)A->spptr;
  PetscBool         done = PETSC_FALSE;

  PetscFunctionBegin;
  if (g && g->options.sor == MAT_GPUCSR_SOR_MULTICOLOR) {
    if (flag & (SOR_EISENSTAT | SOR_APPLY_UPPER | SOR_APPLY_LOWER)) PetscCall(PetscInfo(A, "SOR by colours does not support Eisenstat's trick and solves with one triangle: PETSc sweeps on the host, in the order of the rows\n"));
    else {
      PetscCheck(g->options.stream != MAT_GPUCSR_STREAM_ALWAYS, PETSC_COMM_SELF, PETSC_ERR_SUP, "SOR by colours does not support streamed matrices; use -mat_gpucsr_sor host");
      PetscCall(MatGPUCSRSORSweep(A, bb, omega, flag, shift, its * lits, xx, &done));
      if (!done) PetscCall(PetscInfo(A, "A diagonal entry plus the shift is zero, or a diagonal entry is missing: PETSc sweeps on the host, in the order of the rows\n"));
    }
  }
  if (!done) PetscCall((*MatGPUCSRBase_Private(A)->sor)(A, bb, omega, flag, shift, its, lits, xx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the operation of a sequential matrix.  A parallel matrix calls it on its diagonal block. */
PetscErrorCode MatGPUCSRSetSOROperation_Private(Mat A)
{
  PetscFunctionBegin;
  if (A->ops->sor) A->ops->sor = MatSOR_SeqAIJGPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}
