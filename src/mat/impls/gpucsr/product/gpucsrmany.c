/* Products with several vectors at once: the columns of a dense matrix or an array of vectors.  Columns in device memory are used in place.
   Columns in host memory are copied in batches; the host copies one batch while the device multiplies another. */
#include "mat/impls/gpucsr/product/gpucsrproduct.h"
#include "vec/gpuvecimpl.h"
#include <stdint.h>
#include <stdlib.h>

/* Copies the columns in host memory: those of x (which = 0) to the device, or those of y (which = 1) to the host.  One copy moves a run of columns that
   are contiguous. */
static PetscErrorCode MatGPUCSRBatchCopy(Mat_GPUCSR *g, int which, int slot, PetscInt k, size_t n, const MatGPUCSRVec v[])
{
  const PetscLogEvent event = which ? VEC_GPU_Download : VEC_GPU_Upload;

  PetscFunctionBegin;
  for (PetscInt c = 0, run; c < k; c += run) {
    double *column;
    size_t  bytes;

    run = 1;
    if (v[c].device || !n) continue;
    while (c + run < k && !v[c + run].device && v[c + run].host == v[c].host + run * n) run++;
    bytes  = run * n * sizeof(double);
    column = g->batch[which][slot].array + c * n;
    PetscCall(PetscLogEventBegin(event, 0, 0, 0, 0));
    if (which) PetscCallGp(g->dev, "downloading vectors", GpDevDownload(g->dev, v[c].host, column, bytes));
    else PetscCallGp(g->dev, "uploading vectors", GpDevUpload(g->dev, column, v[c].host, bytes));
    PetscCall(which ? PetscLogGpuToCpu((PetscLogDouble)bytes) : PetscLogCpuToGpu((PetscLogDouble)bytes));
    PetscCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the device address of each column of x (which = 0) or y (which = 1): that of the vector, or a place in the buffer. */
static PetscErrorCode MatGPUCSRBatchGetDevice(Mat_GPUCSR *g, int which, int slot, PetscInt k, size_t n, const MatGPUCSRVec v[], double *device[])
{
  MatGPUCSRBuffer *buffer = &g->batch[which][slot];

  PetscFunctionBegin;
  for (PetscInt c = 0; c < k; c++) {
    device[c] = v[c].device;
    if (device[c] || !n) continue;
    PetscCall(MatGPUCSRReserve_Private(g->dev, "allocating memory for vectors", n * MAT_GPUCSR_BATCH, buffer));
    device[c] = buffer->array + c * n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies with several vectors and logs the device time. */
PetscErrorCode MatGPUCSRMultOperatorMany_Private(GpOp op, PetscBool transpose, PetscInt k, PetscBool add, PetscInt incx, const double *const x[], PetscInt incy, double *const y[])
{
  PetscFunctionBegin;
  PetscCall(PetscGPUCSRLogTimeBegin_Private(op->dev));
  PetscCall(GpOpMultMany(op, transpose, k, add, incx, x, incy, y));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(op->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies one batch of columns of a sequential matrix, whose device addresses are dx and dy. */
PetscErrorCode MatSeqGPUCSRMultBatch_Private(Mat A, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], double *const dx[], double *const dy[])
{
  GpOp op;

  PetscFunctionBegin;
  PetscCall((*((Mat_GPUCSR *)A->spptr)->getoperators)(A, transpose, &op, NULL));
  PetscCall(MatGPUCSRMultOperatorMany_Private(op, transpose, k, PETSC_FALSE, 1, (const double *const *)dx, 1, dy));
  PetscCall(PetscGPUCSRLogFlops_Private(op->dev, 2.0 * (PetscLogDouble)op->nnz * k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the device addresses of a batch and uploads its columns. */
static PetscErrorCode MatGPUCSRBatchBegin(Mat_GPUCSR *g, int slot, PetscInt k, size_t nx, size_t ny, const MatGPUCSRVec x[], const MatGPUCSRVec y[], double *dx[], double *dy[])
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRBatchGetDevice(g, 0, slot, k, nx, x, dx));
  PetscCall(MatGPUCSRBatchGetDevice(g, 1, slot, k, ny, y, dy));
  PetscCall(MatGPUCSRBatchCopy(g, 0, slot, k, nx, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads and multiplies each batch before the result of the previous batch is downloaded, so that the device works while the host copies.  A rank of a parallel matrix that fails takes
   part in the exchanges of all later batches, unless all ranks know of the failure. */
static PetscErrorCode MatGPUCSRMultBatches(Mat A, PetscBool transpose, PetscInt k, PetscInt batch, const MatGPUCSRVec x[], const MatGPUCSRVec y[], double *dx[], double *dy[])
{
  Mat_GPUCSR    *g  = (Mat_GPUCSR *)A->spptr;
  const size_t   nx = (size_t)(transpose ? A->rmap->n : A->cmap->n), ny = (size_t)(transpose ? A->cmap->n : A->rmap->n);
  PetscErrorCode err = PETSC_SUCCESS;

  PetscFunctionBegin;
  for (PetscInt first = 0, slot = 0; first < k; first += batch, slot = 1 - slot) {
    const PetscInt now = PetscMin(k - first, batch);
    PetscErrorCode late;

    if (!err) err = MatGPUCSRBatchBegin(g, slot, now, nx, ny, x + first, y + first, dx, dy);
    if (err && !g->mpi) break;
    late = (*g->multbatch)(A, transpose, now, x + first, err ? NULL : dx, dy);
    if (!err) err = late;
    if (late && g->agrees) break;
    if (!err && first) err = MatGPUCSRBatchCopy(g, 1, 1 - slot, batch, ny, y + first - batch);
    if (!err && first + batch >= k) err = MatGPUCSRBatchCopy(g, 1, slot, now, ny, y + first);
  }
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes y_c = A x_c, or y_c = A' x_c, for k columns.  Collective for a parallel matrix. */
PetscErrorCode MatGPUCSRMultColumns_Private(Mat A, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], const MatGPUCSRVec y[])
{
  Mat_GPUCSR    *g     = (Mat_GPUCSR *)A->spptr;
  PetscInt       batch = k;
  double       **d;
  PetscErrorCode err;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  if (transpose) {
    PetscBool symmetric;

    PetscCall(MatGPUCSRIsSymmetric_Private(A, &symmetric));
    if (symmetric) transpose = PETSC_FALSE;
  }
  /* columns may be in host memory on some ranks and in device memory on others, but all ranks must exchange the same batches */
  if (g->mpi) batch = MAT_GPUCSR_BATCH;
  for (PetscInt c = 0; c < k; c++)
    if (!x[c].device || !y[c].device) batch = MAT_GPUCSR_BATCH;
  PetscCall(PetscMalloc1(2 * batch, &d));
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_MultMany, A, 0, 0, 0));
  err = MatGPUCSRMultBatches(A, transpose, k, batch, x, y, d, d + batch);
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_MultMany, A, 0, 0, 0));
  PetscCall(PetscFree(d));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRManyCheck(Mat A, PetscBool transpose, PetscInt k, const Vec x[], const Vec y[])
{
  const PetscInt nx = transpose ? A->rmap->n : A->cmap->n, ny = transpose ? A->cmap->n : A->rmap->n;

  PetscFunctionBegin;
  PetscCheck(k >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "Number of vectors %" PetscInt_FMT " must not be negative", k);
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

/* Address range of the array of a vector, or of the vector object. */
typedef struct {
  uintptr_t begin, end;
  PetscInt  which; /* number of the vector: c for x[c], k + c for y[c] */
} MatGPUCSRSpan;

static int MatGPUCSRCompareSpans(const void *a, const void *b)
{
  const MatGPUCSRSpan *s = (const MatGPUCSRSpan *)a, *t = (const MatGPUCSRSpan *)b;

  if (s->begin != t->begin) return s->begin < t->begin ? -1 : 1;
  return (s->which > t->which) - (s->which < t->which);
}

/* Raises an error if a y is one of the x, occurs twice, or shares memory with another vector.  The spans are sorted by their beginning.  It suffices to
   compare each with the x span and the y span, among its predecessors, that end last.
   v: the arrays of the vectors, or NULL: compares only the vector objects */
static PetscErrorCode MatGPUCSRManyCheckOverlap(Mat A, PetscInt k, const Vec x[], const Vec y[], const MatGPUCSRVec v[])
{
  MatGPUCSRSpan *span, *last[2] = {NULL, NULL};
  PetscInt       n = 0, first = -1, second = -1;

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
  qsort(span, (size_t)n, sizeof(*span), MatGPUCSRCompareSpans);
  for (PetscInt s = 0; s < n && first < 0; s++) {
    const int y = span[s].which >= k;

    for (int other = y ? 0 : 1; other < 2 && first < 0; other++) {
      if (last[other] && last[other]->end > span[s].begin) first = last[other]->which;
    }
    second = span[s].which;
    if (!last[y] || span[s].end > last[y]->end) last[y] = &span[s];
  }
  PetscCall(PetscFree(span));
  PetscCheck(first < 0, v ? PETSC_COMM_SELF : PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_IDN, "%c[%" PetscInt_FMT "] and %c[%" PetscInt_FMT "] %s: the results y must share nothing with the vectors x or with each other", first < k ? 'x' : 'y',
             first % k, second < k ? 'x' : 'y', second % k, v ? "overlap in memory" : "are the same vector");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies vector by vector with a matrix of another type. */
static PetscErrorCode MatGPUCSRMultManyOneByOne(Mat A, PetscBool transpose, PetscInt k, const Vec x[], const Vec y[])
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
. y - the products: y[i] = A x[i], or y[i] = A' x[i]. No y[i] may share memory with an x[j] or with another y[j]; this is checked

  Level: intermediate

  Notes:
  With a matrix of type `MATGPUCSR`, the GPU reads the matrix once for up to sixteen vectors; `MatMult()` reads it for every vector. Vectors of
  type `VECGPU`, and of type `VECCUDA` in a PETSc with CUDA, are used in place. Other vectors are copied to the device and back in batches.

  With a matrix of another type, this function calls `MatMult()` or `MatMultTranspose()` for every vector.

  For the columns of a dense matrix use `MatMatMult()` or `MatTransposeMatMult()`, which run the same kernels.

.seealso: `MATGPUCSR`, `MatMult()`, `MatMultTranspose()`, `MatMatMult()`, `MatTransposeMatMult()`
@*/
PetscErrorCode MatGPUCSRMultMany(Mat A, PetscBool transpose, PetscInt k, const Vec x[], Vec y[])
{
  MatGPUCSRVec  *v;
  Mat_GPUCSR    *g;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(MatGPUCSRManyCheck(A, transpose, k, x, y));
  PetscCall(MatGPUCSRManyCheckOverlap(A, k, x, y, NULL));
  if (!MatGPUCSRHasData_Private(A)) {
    PetscCall(MatGPUCSRMultManyOneByOne(A, transpose, k, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "Not for unassembled matrix");
  g = (Mat_GPUCSR *)A->spptr;
  PetscCall(PetscGPUCSRGetDevice(&g->dev));
  PetscCall(PetscMalloc1(2 * k, &v));
  for (PetscInt c = 0; c < k; c++) {
    PetscCall(MatGPUCSRVecGetArray_Private(g->dev, x[c], 'r', &v[c]));
    PetscCall(MatGPUCSRVecGetArray_Private(g->dev, y[c], 'w', &v[k + c]));
  }
  err = MatGPUCSRManyCheckOverlap(A, k, x, y, v);
  if (!err) err = MatGPUCSRMultColumns_Private(A, transpose, k, v, v + k);
  for (PetscInt c = 0; c < k; c++) {
    PetscCall(MatGPUCSRVecRestoreArray_Private(y[c], 'w', &v[k + c]));
    PetscCall(MatGPUCSRVecRestoreArray_Private(x[c], 'r', &v[c]));
  }
  PetscCall(PetscFree(v));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}
