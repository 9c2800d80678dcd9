/* MatProduct of sequential gpucsr matrices on the device: A B, A' B, A B', P' A P, R A R', A B C.

   The device computes the pattern and the values in double precision, whatever the storage of the operands is. An operand with a device image in double precision is taken from there, after an upload
   if the image is stale. The arrays of any other operand are uploaded, and later only its values if they have changed.

   The result stays on the device with the plan. It is downloaded to the host arrays of C, which are authoritative. If C has a device image, the values are copied to it on the device. */
#include "mat/impls/gpucsr/product/gpucsrproduct.h"
#include "mat/impls/gpucsr/spgemm/gpspgemm.h"
#include "device/gpupload.h"

#define MAT_GPUCSR_SPARSE_WHAT "computing a sparse product on the device (-mat_product_algorithm_backend_cpu or, for MatMatMult() and similar functions, -matmatmult_backend_cpu and similar options compute it on the host)"

/* Identifies the pattern and the values of an operand. */
typedef struct {
  PetscObjectId    id;
  PetscObjectState state, nonzerostate;
} MatGPUCSRVersion;

/* A copy of an operand, or its transpose, in device memory. */
typedef struct {
  GpCsr            csr; /* empty: there is no copy */
  MatGPUCSRVersion version;
  int32_t         *perm; /* [nnz] a transpose: index in the operand of each nonzero */
} MatGPUCSRCopy;

typedef struct {
  void            *self; /* this structure; releases of PETSc pass the destructor either its address or the address of the pointer to it */
  GpDev            dev;
  MatGPUCSRCopy    copy[3]; /* of A, of B (P in P' A P, R in R A R'), and of C in A B C */
  MatGPUCSRCopy    transpose;
  MatGPUCSRVersion pattern[3]; /* of the operands in the symbolic phase */
  GpSpgemm         inner, outer;
  GpCsr            middle; /* A P in P' A P, A R' in R A R', B C in A B C */
  GpCsr            result;
} MatGPUCSRSparse;

/* Factors of the products that give C. */
typedef struct {
  const GpCsr *a, *b;        /* factors of `middle`; NULL: there is one product only */
  const GpCsr *left, *right; /* factors of C */
} MatGPUCSRFactors;

static PetscErrorCode MatGPUCSRGetVersion(Mat A, MatGPUCSRVersion *v)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &v->id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &v->state));
  v->nonzerostate = A->nonzerostate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool MatGPUCSRHasPattern(const MatGPUCSRVersion *v, const MatGPUCSRVersion *other)
{
  return (PetscBool)(v->id == other->id && v->nonzerostate == other->nonzerostate);
}

/* Gets the operands of the product C. Returns their number. */
static int MatGPUCSRSparseGetOperands(Mat C, Mat operand[3])
{
  operand[0] = C->product->A;
  operand[1] = C->product->B;
  operand[2] = C->product->type == MATPRODUCT_ABC ? C->product->C : NULL;
  return operand[2] ? 3 : 2;
}

/* --- operands ---------------------------------------------------------------------------------------------------------------------------------- */

static void MatGPUCSRCopyDestroy(GpDev dev, MatGPUCSRCopy *c)
{
  GpDevFree(dev, &c->perm, (size_t)c->csr.nnz * sizeof(int32_t));
  GpCsrDestroy(&c->csr);
  c->version = (MatGPUCSRVersion){0};
}

/* Gets an operand in device memory. */
static PetscErrorCode MatGPUCSRCopyGet(GpDev dev, Mat A, MatGPUCSRCopy *c, const GpCsr **csr)
{
  const PetscInt   none[1] = {0}, *rowptr, *col;
  MatGPUCSRVersion version;
  PetscScalar     *val;
  GpLoss           loss;
  GpOp             op;

  PetscFunctionBegin;
  op = MatGPUCSRIs_Private(A) && !((Mat_GPUCSR *)A->spptr)->mpi ? ((Mat_SeqAIJGPUCSR *)A->spptr)->op : NULL; /* the operand may have been converted or replaced since the symbolic phase */
  if (op && op->dev == dev && op->options.prec == GP_F64 && !GpOpIsStreamed(op)) PetscCall(MatSeqAIJGPUCSRUpload_Private(A, PETSC_FALSE, &op));
  if (op && op->dev == dev && op->options.prec == GP_F64 && !GpOpIsStreamed(op)) {
    MatGPUCSRCopyDestroy(dev, c);
    *csr = &op->side[0].csr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGPUCSRGetVersion(A, &version));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, &col, &val, NULL));
  if (!rowptr) rowptr = none;
  *csr = &c->csr;
  if (c->csr.dev && MatGPUCSRHasPattern(&c->version, &version) && c->version.state == version.state) PetscFunctionReturn(PETSC_SUCCESS);
  if (!c->csr.dev || !MatGPUCSRHasPattern(&c->version, &version)) {
    MatGPUCSRCopyDestroy(dev, c);
    PetscCallGp(dev, MAT_GPUCSR_SPARSE_WHAT, GpCsrCreate(dev, GP_F64, (int32_t)A->rmap->n, (int32_t)A->cmap->n, (int32_t)rowptr[A->rmap->n], &c->csr));
    PetscCallGp(dev, MAT_GPUCSR_SPARSE_WHAT, GpCsrSetPattern(&c->csr, rowptr, col));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)c->csr.nnz * sizeof(int32_t)));
  }
  PetscCallGp(dev, MAT_GPUCSR_SPARSE_WHAT, GpCsrSetValues(&c->csr, val, &loss));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)c->csr.nnz * sizeof(double)));
  c->version = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the transpose of an operand. */
static PetscErrorCode MatGPUCSRCopyTranspose(GpDev dev, Mat A, const GpCsr *csr, MatGPUCSRCopy *t)
{
  MatGPUCSRVersion version;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetVersion(A, &version));
  if (!t->csr.dev || !MatGPUCSRHasPattern(&t->version, &version)) {
    MatGPUCSRCopyDestroy(dev, t);
    PetscCallGp(dev, MAT_GPUCSR_SPARSE_WHAT, GpDevAlloc(dev, (size_t)csr->nnz * sizeof(int32_t), &t->perm));
    t->csr.nnz      = csr->nnz; /* the size of perm, if the next line fails */
    const GpErr err = GpCsrTranspose(csr, &t->csr, t->perm);

    if (err) {
      t->csr.nnz = csr->nnz;
      MatGPUCSRCopyDestroy(dev, t);
    }
    PetscCallGp(dev, MAT_GPUCSR_SPARSE_WHAT, err);
  } else if (t->version.state != version.state) PetscCallGp(dev, MAT_GPUCSR_SPARSE_WHAT, GpCsrTransposeValues(csr, t->perm, &t->csr));
  t->version = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- phases ------------------------------------------------------------------------------------------------------------------------------------- */

static void MatGPUCSRSparseReset(MatGPUCSRSparse *d)
{
  GpSpgemmDestroy(&d->inner);
  GpSpgemmDestroy(&d->outer);
  GpCsrDestroy(&d->middle);
  GpCsrDestroy(&d->result);
}

static PetscErrorCode MatGPUCSRSparseDestroy(void *context)
{
  MatGPUCSRSparse *d = *(MatGPUCSRSparse **)context;

  PetscFunctionBegin;
  MatGPUCSRSparseReset(d);
  for (int k = 0; k < 3; k++) MatGPUCSRCopyDestroy(d->dev, &d->copy[k]);
  MatGPUCSRCopyDestroy(d->dev, &d->transpose);
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the operands with their current values. */
static PetscErrorCode MatGPUCSRSparseGetFactors(Mat C, MatGPUCSRSparse *d, MatGPUCSRFactors *f)
{
  const MatProductType type = C->product->type;
  Mat                  A = C->product->A, B = C->product->B;
  const GpCsr         *a, *b, *c;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRCopyGet(d->dev, A, &d->copy[0], &a));
  b = a;
  if (B != A) PetscCall(MatGPUCSRCopyGet(d->dev, B, &d->copy[1], &b));
  if (type == MATPRODUCT_ABC) {
    PetscCall(MatGPUCSRCopyGet(d->dev, C->product->C, &d->copy[2], &c));
    *f = (MatGPUCSRFactors){b, c, a, &d->middle};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (type == MATPRODUCT_AtB) PetscCall(MatGPUCSRCopyTranspose(d->dev, A, a, &d->transpose));
  else if (type != MATPRODUCT_AB) PetscCall(MatGPUCSRCopyTranspose(d->dev, B, b, &d->transpose));
  switch (type) {
  case MATPRODUCT_AB:
    *f = (MatGPUCSRFactors){NULL, NULL, a, b};
    break;
  case MATPRODUCT_AtB:
    *f = (MatGPUCSRFactors){NULL, NULL, &d->transpose.csr, b};
    break;
  case MATPRODUCT_ABt:
    *f = (MatGPUCSRFactors){NULL, NULL, a, &d->transpose.csr};
    break;
  case MATPRODUCT_PtAP:
    *f = (MatGPUCSRFactors){a, b, &d->transpose.csr, &d->middle};
    break;
  default: /* R A R' */
    *f = (MatGPUCSRFactors){a, &d->transpose.csr, b, &d->middle};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the pattern of the result. */
static PetscErrorCode MatGPUCSRSparseFindPattern(Mat C, MatGPUCSRSparse *d, const MatGPUCSRFactors *f)
{
  Mat       operand[3];
  const int n = MatGPUCSRSparseGetOperands(C, operand);

  PetscFunctionBegin;
  MatGPUCSRSparseReset(d);
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Sparse, C, 0, 0, 0));
  if (f->a) PetscCallGp(d->dev, MAT_GPUCSR_SPARSE_WHAT, GpSpgemmSymbolic(f->a, f->b, &d->inner, &d->middle));
  PetscCallGp(d->dev, MAT_GPUCSR_SPARSE_WHAT, GpSpgemmSymbolic(f->left, f->right, &d->outer, &d->result));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Sparse, C, 0, 0, 0));
  for (int k = 0; k < n; k++) PetscCall(MatGPUCSRGetVersion(operand[k], &d->pattern[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Downloads the pattern of the result. The caller frees both arrays by PetscFree2(). */
static PetscErrorCode MatGPUCSRSparseDownloadPattern(const MatGPUCSRSparse *d, PetscInt **rowptr, PetscInt **col)
{
  const size_t m = (size_t)d->result.m, nnz = (size_t)d->result.nnz;
  GpErr        err;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m + 1, rowptr, nnz, col));
  err = GpCsrGetIndices(d->dev, d->result.rowptr, m + 1, *rowptr);
  if (!err) err = GpCsrGetIndices(d->dev, d->result.col, nnz, *col);
  if (err) PetscCall(PetscFree2(*rowptr, *col));
  PetscCallGp(d->dev, MAT_GPUCSR_SPARSE_WHAT, err);
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)(m + nnz) * sizeof(int32_t)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the pattern again after that of an operand has changed. It must be that of C. */
static PetscErrorCode MatGPUCSRSparseRenew(Mat C, MatGPUCSRSparse *d, const MatGPUCSRFactors *f)
{
  const PetscInt *rowptr, *col;
  PetscInt       *rows, *columns;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRSparseFindPattern(C, d, f));
  PetscCall(MatSeqAIJGetCSRAndMemType(C, &rowptr, &col, NULL, NULL));
  PetscCall(MatGPUCSRSparseDownloadPattern(d, &rows, &columns));
  PetscCall(PetscArraycmp(rowptr, rows, d->result.m + 1, &same));
  if (same) PetscCall(PetscArraycmp(col, columns, d->result.nnz, &same));
  PetscCall(PetscFree2(rows, columns));
  if (!same) d->pattern[0].id = 0; /* the next call tries again */
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The pattern of an operand has changed, so that the product has other nonzeros; create the product again");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the values of the result and downloads them to the host array of C. */
static PetscErrorCode MatGPUCSRSparseComputeValues(Mat C, MatGPUCSRSparse *d, const MatGPUCSRFactors *f)
{
  GpSpgemmInfo inner = {0}, outer;
  PetscScalar *val;
  GpErr        err;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Sparse, C, 0, 0, 0));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(d->dev));
  if (f->a) PetscCallGp(d->dev, MAT_GPUCSR_SPARSE_WHAT, GpSpgemmNumeric(d->inner, f->a, f->b, &d->middle));
  PetscCallGp(d->dev, MAT_GPUCSR_SPARSE_WHAT, GpSpgemmNumeric(d->outer, f->left, f->right, &d->result));
  PetscCall(PetscGPUCSRLogTimeEnd_Private(d->dev));
  if (f->a) GpSpgemmGetInfo(d->inner, &inner);
  GpSpgemmGetInfo(d->outer, &outer);
  PetscCall(PetscLogGpuFlops(2.0 * ((PetscLogDouble)inner.products + (PetscLogDouble)outer.products)));
  PetscCall(MatSeqAIJGetArrayWrite(C, &val));
  err = d->result.nnz ? GpDevDownloadByThreads(d->dev, 0, val, d->result.val, (size_t)d->result.nnz * sizeof(double)) : GP_SUCCESS;
  PetscCall(MatSeqAIJRestoreArrayWrite(C, &val));
  PetscCallGp(d->dev, MAT_GPUCSR_SPARSE_WHAT, err);
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)d->result.nnz * sizeof(double)));
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Sparse, C, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_SeqAIJGPUCSR(Mat C)
{
  MatGPUCSRSparse *d = (MatGPUCSRSparse *)C->product->data;
  MatGPUCSRFactors f;
  Mat              operand[3];
  const int        n    = MatGPUCSRSparseGetOperands(C, operand);
  PetscBool        same = PETSC_TRUE;

  PetscFunctionBegin;
  for (int k = 0; k < n; k++) PetscCheck(operand[k]->assembled, PetscObjectComm((PetscObject)C), PETSC_ERR_ARG_WRONGSTATE, "Not for unassembled matrix");
  PetscCall(MatGPUCSRSparseGetFactors(C, d, &f));
  for (int k = 0; k < n; k++) {
    MatGPUCSRVersion now;

    PetscCall(MatGPUCSRGetVersion(operand[k], &now));
    same = (PetscBool)(same && MatGPUCSRHasPattern(&now, &d->pattern[k]));
  }
  if (!same) PetscCall(MatGPUCSRSparseRenew(C, d, &f));
  PetscCall(MatGPUCSRSparseComputeValues(C, d, &f));
  /* MatProductNumeric() increases the object state by one after this function */
  if (MatGPUCSRIs_Private(C) && ((Mat_SeqAIJGPUCSR *)C->spptr)->op) PetscCall(MatSeqAIJGPUCSRUpdate_Private(C, &(GpCsrUpdate){.kind = GP_UPDATE_SET, .values = (const double *)d->result.val}, NULL, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets sizes, block sizes, type and pattern of C. */
static PetscErrorCode MatGPUCSRSparseSetUpResult(Mat C, const MatGPUCSRSparse *d)
{
  const MatProductType type = C->product->type;
  Mat                  A = C->product->A, B = C->product->B;
  const PetscInt       m = d->result.m, n = d->result.n;
  PetscInt             arows, acolumns, brows, bcolumns, rows, columns, *rowptr, *col;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSizes(A, &arows, &acolumns));
  PetscCall(MatGetBlockSizes(type == MATPRODUCT_ABC ? C->product->C : B, &brows, &bcolumns));
  columns = type == MATPRODUCT_ABt || type == MATPRODUCT_RARt ? brows : bcolumns;
  rows    = type == MATPRODUCT_AtB ? acolumns : type == MATPRODUCT_AB || type == MATPRODUCT_ABt || type == MATPRODUCT_ABC ? arows : columns;
  PetscCall(MatSetSizes(C, m, n, m, n));
  PetscCall(MatSetBlockSizes(C, rows, columns));
  PetscCall(MatSetType(C, ((PetscObject)A)->type_name));
  PetscCall(MatGPUCSRSparseDownloadPattern(d, &rowptr, &col));
  PetscCall(MatSeqAIJSetPreallocationCSR(C, rowptr, col, NULL));
  PetscCall(PetscFree2(rowptr, col));
  PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE)); /* as the products of PETSc */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_SeqAIJGPUCSR(Mat C)
{
  Mat_Product     *product = C->product;
  MatGPUCSRSparse *d;
  MatGPUCSRFactors f;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  d->self          = d;
  product->data    = d;
  product->destroy = (__typeof__(product->destroy))(void (*)(void))MatGPUCSRSparseDestroy;
  PetscCall(PetscGPUCSRGetDevice(&d->dev));
  PetscCall(MatGPUCSRSparseGetFactors(C, d, &f));
  PetscCall(MatGPUCSRSparseFindPattern(C, d, &f));
  PetscCall(MatGPUCSRSparseSetUpResult(C, d));
  C->ops->productsymbolic = MatProductSymbolic_SeqAIJGPUCSR; /* MatSetType() has reset it */
  C->ops->productnumeric  = MatProductNumeric_SeqAIJGPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- selection ---------------------------------------------------------------------------------------------------------------------------------- */

/* Sets the functions of C if the device computes it. */
PetscErrorCode MatProductSetFromOptions_GPUCSR_Sparse(Mat C, PetscBool *found)
{
  Mat       operand[3];
  const int n     = MatGPUCSRSparseGetOperands(C, operand);
  PetscBool takes = PETSC_TRUE, host;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  if (!MatGPUCSRSparseGetName_Private(C->product->type)) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < n && takes; k++) PetscCall(MatGPUCSRSparseTakes_Private(operand[k], &takes));
  if (!takes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRSparseUsesHost_Private(C, &host));
  if (host) PetscFunctionReturn(PETSC_SUCCESS);
  C->ops->productsymbolic = MatProductSymbolic_SeqAIJGPUCSR;
  *found                  = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
