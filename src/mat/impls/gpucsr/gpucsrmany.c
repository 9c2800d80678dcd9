/* Products with several vectors at once, of a dense matrix's columns or of an array of vectors: where the device can reach the columns they
   are used in place, else they travel in batches, and the host copies one batch while the device multiplies another. */
#include "mat/impls/gpucsr/gpucsrmany.h"
#include "vec/gpuvecimpl.h"
#include <stdint.h>
#include <stdlib.h>

/* our device memory: two batches of columns of x, two of y */
static PetscErrorCode MatGPUCSRManyStage(Mat_GPUCSR *g, int which, size_t n, MatGPUCSRMany **many)
{
  PetscFunctionBegin;
  if (!g->many) PetscCall(PetscNew(&g->many));
  *many = g->many;
  if (n > g->many->nstaged[which]) {
    for (int slot = 0; slot < 2; slot++) GpDevFree(g->dev, &g->many->staged[which][slot], g->many->nstaged[which] * sizeof(double));
    g->many->nstaged[which] = 0;
    for (int slot = 0; slot < 2; slot++) {
      const GpErr err = GpDevAlloc(g->dev, n * sizeof(double), &g->many->staged[which][slot]);

      if (err) GpDevFree(g->dev, &g->many->staged[which][0], n * sizeof(double)); /* one without the other is of no use, and its size would be forgotten */
      PetscCallGp(g->dev, "making room for vectors", err);
    }
    g->many->nstaged[which] = n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRManyDestroy_Private(GpDev dev, MatGPUCSRMany **many)
{
  MatGPUCSRMany *M = *many;

  PetscFunctionBegin;
  if (!M) PetscFunctionReturn(PETSC_SUCCESS);
  for (int which = 0; which < 2; which++)
    for (int slot = 0; slot < 2; slot++) GpDevFree(dev, &M->staged[which][slot], M->nstaged[which] * sizeof(double));
  PetscCall(PetscFree(*many));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the columns from c on that follow each other on the host as they do on the device */
static PetscInt MatGPUCSRRun(PetscInt c, PetscInt k, size_t n, const MatGPUCSRVec v[])
{
  PetscInt run = 1;

  while (c + run < k && !v[c + run].device && v[c + run].host == v[c].host + run * n) run++;
  return run;
}

/* device[c]: where the columns are, or where they have been brought, or will be written */
static PetscErrorCode MatGPUCSRManyIn(Mat_GPUCSR *g, int which, int slot, PetscInt k, size_t n, const MatGPUCSRVec v[], double *device[])
{
  MatGPUCSRMany *many;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < k; c++) {
    device[c] = v[c].device;
    if (device[c] || !n) continue;
    PetscCall(MatGPUCSRManyStage(g, which, n * MAT_GPUCSR_BATCH, &many));
    device[c] = many->staged[which][slot] + c * n;
  }
  if (which) PetscFunctionReturn(PETSC_SUCCESS); /* y is written only */
  for (PetscInt c = 0, run; c < k; c += run) {
    run = 1;
    if (v[c].device || !n) continue;
    run = MatGPUCSRRun(c, k, n, v);
    PetscCall(PetscLogEventBegin(VEC_GPU_Upload, 0, 0, 0, 0));
    PetscCallGp(g->dev, "uploading vectors", GpDevUpload(g->dev, device[c], v[c].host, run * n * sizeof(double)));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)(run * n * sizeof(double))));
    PetscCall(PetscLogEventEnd(VEC_GPU_Upload, 0, 0, 0, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRManyOut(Mat_GPUCSR *g, int slot, PetscInt k, size_t n, const MatGPUCSRVec v[])
{
  PetscFunctionBegin;
  for (PetscInt c = 0, run; c < k; c += run) {
    run = 1;
    if (v[c].device || !n) continue;
    run = MatGPUCSRRun(c, k, n, v);
    PetscCall(PetscLogEventBegin(VEC_GPU_Download, 0, 0, 0, 0));
    PetscCallGp(g->dev, "downloading vectors", GpDevDownload(g->dev, v[c].host, g->many->staged[1][slot] + c * n, run * n * sizeof(double)));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)(run * n * sizeof(double))));
    PetscCall(PetscLogEventEnd(VEC_GPU_Download, 0, 0, 0, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* products whose time on the device is logged */
PetscErrorCode MatGPUCSRMultMany_Private(GpOp op, PetscBool transpose, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[])
{
  PetscFunctionBegin;
  PetscCall(PetscGPUCSRLogTimeBegin_Private(op->dev));
  PetscCall(GpOpMultMany(op, transpose, k, add, incx, x, incy, y));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(op->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRMultMany_Seq(Mat A, PetscBool transpose, PetscInt k, double *const x[], double *const y[])
{
  GpOp op;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetOperator_Private(A, transpose, &op));
  PetscCall(MatGPUCSRMultMany_Private(op, transpose, k, PETSC_FALSE, 1, (const double *const *)x, 1, y));
  PetscCall(PetscGPUCSRLogFlops_Private(op->dev, 2.0 * op->side[0].csr.nnz * k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Batch b is uploaded and multiplied before the result of the one before it is downloaded: the device works while the host copies. */
static PetscErrorCode MatGPUCSRManyBatches(Mat A, PetscBool transpose, PetscInt k, PetscInt batch, const MatGPUCSRVec x[], const MatGPUCSRVec y[], double *dx[], double *dy[])
{
  Mat_GPUCSR  *g  = (Mat_GPUCSR *)A->spptr;
  const size_t nx = (size_t)(transpose ? A->rmap->n : A->cmap->n), ny = (size_t)(transpose ? A->cmap->n : A->rmap->n);

  PetscFunctionBegin;
  for (PetscInt first = 0, slot = 0; first < k; first += batch, slot = 1 - slot) {
    const PetscInt now = PetscMin(k - first, batch);

    PetscCall(MatGPUCSRManyIn(g, 0, slot, now, nx, x + first, dx));
    PetscCall(MatGPUCSRManyIn(g, 1, slot, now, ny, y + first, dy));
    PetscCall(g->mpi ? MatGPUCSRMultMany_MPI_Private(A, transpose, now, x + first, dx, dy) : MatGPUCSRMultMany_Seq(A, transpose, now, dx, dy));
    if (first) PetscCall(MatGPUCSRManyOut(g, 1 - slot, batch, ny, y + first - batch));
    if (first + batch >= k) PetscCall(MatGPUCSRManyOut(g, slot, now, ny, y + first));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y_c = A x_c, or with the transpose; collective with a parallel matrix */
PetscErrorCode MatGPUCSRMultColumns_Private(Mat A, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], const MatGPUCSRVec y[])
{
  Mat_GPUCSR *g     = (Mat_GPUCSR *)A->spptr;
  PetscInt    batch = k;
  double    **d;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  if (transpose) {
    PetscBool symmetric;

    PetscCall(MatGPUCSRIsSymmetric_Private(A, &symmetric));
    if (symmetric) transpose = PETSC_FALSE;
  }
  /* ranks may find their columns in different places, but must exchange the same batches */
  if (g->mpi) batch = MAT_GPUCSR_BATCH;
  for (PetscInt c = 0; c < k; c++)
    if (!x[c].device || !y[c].device) batch = MAT_GPUCSR_BATCH;
  PetscCall(PetscMalloc1(2 * batch, &d));
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_MultMany, A, 0, 0, 0));
  PetscCall(MatGPUCSRManyBatches(A, transpose, k, batch, x, y, d, d + batch));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_MultMany, A, 0, 0, 0));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRManyCheck(Mat A, PetscBool transpose, PetscInt k, const Vec x[], const Vec y[])
{
  const PetscInt nx = transpose ? A->rmap->n : A->cmap->n, ny = transpose ? A->cmap->n : A->rmap->n;

  PetscFunctionBegin;
  PetscCheck(k >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " vectors", k);
  for (PetscInt c = 0; c < k; c++) {
    PetscInt mx, my;

    PetscValidHeaderSpecific(x[c], VEC_CLASSID, 4);
    PetscValidHeaderSpecific(y[c], VEC_CLASSID, 5);
    PetscCall(VecGetLocalSize(x[c], &mx));
    PetscCall(VecGetLocalSize(y[c], &my));
    PetscCheck(mx == nx && my == ny, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Local sizes %" PetscInt_FMT " of x[%" PetscInt_FMT "] and %" PetscInt_FMT " of y[%" PetscInt_FMT "] do not fit the matrix: %" PetscInt_FMT " and %" PetscInt_FMT " expected",
               mx, c, my, c, nx, ny);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* memory, or an object, that a vector stands for */
typedef struct {
  uintptr_t begin, end;
  PetscInt  which; /* c: x[c]; k + c: y[c] */
} MatGPUCSRSpan;

static int MatGPUCSRCompareSpans(const void *a, const void *b)
{
  const MatGPUCSRSpan *s = (const MatGPUCSRSpan *)a, *t = (const MatGPUCSRSpan *)b;

  if (s->begin != t->begin) return s->begin < t->begin ? -1 : 1;
  return (s->which > t->which) - (s->which < t->which);
}

/* Two spans that overlap, at least one of them of a y; *first is -1 if there are none.  Among the spans that begin before another one, only the
   one that ends last can tell, for the x and for the y. */
static void MatGPUCSRFindOverlap(PetscInt k, PetscInt n, MatGPUCSRSpan span[], PetscInt *first, PetscInt *second)
{
  const MatGPUCSRSpan *last[2] = {NULL, NULL};

  *first = -1;
  qsort(span, (size_t)n, sizeof(*span), MatGPUCSRCompareSpans);
  for (PetscInt s = 0; s < n; s++) {
    const int y = span[s].which >= k;

    for (int other = 0; other < 2; other++) {
      if (!last[other] || (!y && !other) || last[other]->end <= span[s].begin) continue;
      *first  = last[other]->which;
      *second = span[s].which;
      return;
    }
    if (!last[y] || span[s].end > last[y]->end) last[y] = &span[s];
  }
}

/* y must neither be one of the x, or a y twice, nor share memory with one.  v: the arrays; NULL: only the objects are compared. */
static PetscErrorCode MatGPUCSRManyCheckOverlap(Mat A, PetscInt k, const Vec x[], const Vec y[], const MatGPUCSRVec v[])
{
  MatGPUCSRSpan *span;
  PetscInt       n = 0, first, second;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * k, &span));
  for (PetscInt c = 0; c < 2 * k; c++) {
    const Vec vec = c < k ? x[c] : y[c - k];
    PetscInt  m   = 1;

    if (v) PetscCall(VecGetLocalSize(vec, &m));
    span[n]     = (MatGPUCSRSpan){.begin = v ? (uintptr_t)(v[c].device ? v[c].device : v[c].host) : (uintptr_t)vec, .which = c};
    span[n].end = span[n].begin + (uintptr_t)m * (v ? sizeof(double) : 1);
    if (m) n++;
  }
  MatGPUCSRFindOverlap(k, n, span, &first, &second);
  PetscCall(PetscFree(span));
  PetscCheck(first < 0, v ? PETSC_COMM_SELF : PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_IDN, "%c[%" PetscInt_FMT "] and %c[%" PetscInt_FMT "] %s: the results y must share nothing with the vectors x or with each other", first < k ? 'x' : 'y',
             first % k, second < k ? 'x' : 'y', second % k, v ? "overlap in memory" : "are the same vector");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of a matrix that is not ours */
static PetscErrorCode MatGPUCSRMultManyOther(Mat A, PetscBool transpose, PetscInt k, const Vec x[], const Vec y[])
{
  MatGPUCSRVec  *v;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(2 * k, &v));
  for (PetscInt c = 0; c < 2 * k; c++) PetscCall(VecGetArrayRead(c < k ? x[c] : y[c - k], (const PetscScalar **)&v[c].host));
  err = MatGPUCSRManyCheckOverlap(A, k, x, y, v);
  for (PetscInt c = 0; c < 2 * k; c++) PetscCall(VecRestoreArrayRead(c < k ? x[c] : y[c - k], (const PetscScalar **)&v[c].host));
  PetscCall(PetscFree(v));
  PetscCall(err);
  for (PetscInt c = 0; c < k; c++) PetscCall(transpose ? MatMultTranspose(A, x[c], y[c]) : MatMult(A, x[c], y[c]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRMultMany - Multiplies a matrix, or its transpose, by several vectors at once

  Neighbor-wise Collective

  Input Parameters:
+ A         - the matrix, of any type
. transpose - `PETSC_TRUE` for the products with the transpose
. k         - the number of vectors
- x         - the vectors to multiply by

  Output Parameter:
. y - the products: y[i] = A x[i], or A' x[i]. A y[i] that is one of the x, or another y, or shares memory with one, is an error

  Level: intermediate

  Notes:
  A matrix of type `MATGPUCSR` is read once for about sixteen vectors, where `MatMult()` reads it for each. Vectors of type `VECGPU`, and `VECCUDA` in a
  PETSc with CUDA, are used where they are; others are copied to the device and back in batches.

  With a matrix of another type this is a loop of `MatMult()` or `MatMultTranspose()`.

  For the columns of a dense matrix use `MatMatMult()` or `MatTransposeMatMult()`, which run the same kernels.

.seealso: `MATGPUCSR`, `MatMult()`, `MatMultTranspose()`, `MatMatMult()`, `MatTransposeMatMult()`
@*/
PetscErrorCode MatGPUCSRMultMany(Mat A, PetscBool transpose, PetscInt k, const Vec x[], Vec y[])
{
  PetscBool      is;
  MatGPUCSRVec  *v;
  Mat_GPUCSR    *g;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(MatGPUCSRManyCheck(A, transpose, k, x, y));
  PetscCall(MatGPUCSRManyCheckOverlap(A, k, x, y, NULL));
  PetscCall(MatGPUCSRIs_Private(A, &is));
  if (!is) {
    PetscCall(MatGPUCSRMultManyOther(A, transpose, k, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "Not for unassembled matrix");
  g = (Mat_GPUCSR *)A->spptr;
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  PetscCall(PetscMalloc1(2 * k, &v));
  for (PetscInt c = 0; c < k; c++) {
    PetscCall(MatGPUCSRVecGetArray_Private(g->dev, x[c], 'r', &v[c]));
    PetscCall(MatGPUCSRVecGetArray_Private(g->dev, y[c], 'w', &v[k + c]));
  }
  err = MatGPUCSRManyCheckOverlap(A, k, x, y, v);
  if (!err) PetscCall(MatGPUCSRMultColumns_Private(A, transpose, k, v, v + k));
  for (PetscInt c = 0; c < k; c++) {
    PetscCall(MatGPUCSRVecRestoreArray_Private(y[c], 'w', &v[k + c]));
    PetscCall(MatGPUCSRVecRestoreArray_Private(x[c], 'r', &v[c]));
  }
  PetscCall(PetscFree(v));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}
