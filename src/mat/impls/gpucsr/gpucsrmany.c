/* Products with several vectors at once, of a dense matrix's columns or of an array of vectors: where the device can reach the columns they
   are used in place, else they travel in batches, and the host copies one batch while the device multiplies another. */
#include "mat/impls/gpucsr/gpucsrmany.h"

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
    PetscCallGp(g->dev, "uploading vectors", GpDevUpload(g->dev, device[c], v[c].host, run * n * sizeof(double)));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)(run * n * sizeof(double))));
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
    PetscCallGp(g->dev, "downloading vectors", GpDevDownload(g->dev, v[c].host, g->many->staged[1][slot] + c * n, run * n * sizeof(double)));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)(run * n * sizeof(double))));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRMultMany_Seq(Mat A, PetscBool transpose, PetscInt k, double *const x[], double *const y[])
{
  GpOp op;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetOperator_Private(A, transpose, &op));
  PetscCall(GpOpMultMany(op, transpose, k, PETSC_FALSE, 1, (const double *const *)x, 1, y));
  PetscCall(MatGPUCSRLogFlops_Private(op->dev, (2.0 * op->side[0].csr.nnz - (op->side[0].csr.m - op->side[0].features.empty)) * k));
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
    PetscCheck(x[c] != y[c], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_IDN, "x[%" PetscInt_FMT "] and y[%" PetscInt_FMT "] must be different vectors", c, c);
    PetscCall(VecGetLocalSize(x[c], &mx));
    PetscCall(VecGetLocalSize(y[c], &my));
    PetscCheck(mx == nx && my == ny, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Local sizes %" PetscInt_FMT " of x[%" PetscInt_FMT "] and %" PetscInt_FMT " of y[%" PetscInt_FMT "] do not fit the matrix: %" PetscInt_FMT " and %" PetscInt_FMT " expected",
               mx, c, my, c, nx, ny);
  }
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
. y - the products: y[i] = A x[i], or A' x[i]; none of them may be among the x or stand here twice

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
  PetscBool     is;
  MatGPUCSRVec *v;
  Mat_GPUCSR   *g;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(MatGPUCSRManyCheck(A, transpose, k, x, y));
  PetscCall(MatGPUCSRIs_Private(A, &is));
  if (!is) {
    for (PetscInt c = 0; c < k; c++) PetscCall(transpose ? MatMultTranspose(A, x[c], y[c]) : MatMult(A, x[c], y[c]));
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
  PetscCall(MatGPUCSRMultColumns_Private(A, transpose, k, v, v + k));
  for (PetscInt c = 0; c < k; c++) {
    PetscCall(MatGPUCSRVecRestoreArray_Private(y[c], 'w', &v[k + c]));
    PetscCall(MatGPUCSRVecRestoreArray_Private(x[c], 'r', &v[c]));
  }
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
