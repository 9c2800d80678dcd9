/* Set-up on the device of preconditioners that multiply by approximate inverses (pcinverse.h).  Values of a new matrix on a known pattern reach the image of the inverse without the host: only
   kernels run, and the values are copied once to the matrix on the host, which is authoritative. */
#include "pc/inverse/pcinverse.h"
#include "device/gpupload.h"
#include "sys/gpucsrsys.h"

#include <stdlib.h>

/* Records why the host must compute the rows. */
static PetscErrorCode PCGPUInverseLeave(PCGPUInverse *V, const char why[])
{
  PetscFunctionBegin;
  PetscCall(PetscStrncpy(V->why, why, sizeof(V->why)));
  PetscCall(PetscInfo(V->matrix, "The approximate inverse is computed on the host: %s\n", V->why));
  PetscCall(PCGPUInverseDeviceFree_Private(V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the result of a step on the device.  If device memory is too small, or the device cannot do the step, lets the host compute the rows and returns from the function. */
#define PCGPUInverseCallOrLeave(V, what, ...) \
  do { \
    const GpErr err_leave_ = (__VA_ARGS__); \
\
    if (err_leave_ == GP_ERR_MEMORY || err_leave_ == GP_ERR_ARGUMENT) { \
      PetscCall(PCGPUInverseLeave(V, GpDevError((V)->device.dev))); \
      PetscFunctionReturn(PETSC_SUCCESS); \
    } \
    PetscCallGp((V)->device.dev, what, err_leave_); \
  } while (0)

/* Uploads the compressed rows of A. */
static PetscErrorCode PCGPUInverseUploadMatrix(PCGPUInverse *V, const GpInvMatrix *A)
{
  PCGPUInverseDevice *D = &V->device;
  GpLoss              loss;

  PetscFunctionBegin;
  PCGPUInverseCallOrLeave(V, "allocating device memory for the matrix", GpCsrCreate(D->dev, GP_F64, (int32_t)A->n, (int32_t)A->n, (int32_t)A->rowptr[A->n], &D->csr));
  PCGPUInverseCallOrLeave(V, "uploading the pattern of the matrix", GpCsrSetPattern(&D->csr, A->rowptr, A->col));
  PCGPUInverseCallOrLeave(V, "uploading the values of the matrix", GpCsrSetValues(&D->csr, A->val, &loss));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)D->csr.nnz * (sizeof(int32_t) + sizeof(double))));
  D->A.rowptr = D->csr.rowptr;
  D->A.col    = D->csr.col;
  D->A.val    = D->csr.val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uses the image of A.  Its values are used if they are those of the host; otherwise the values are uploaded in double precision. */
static PetscErrorCode PCGPUInverseUseImage(PCGPUInverse *V, GpOp op, const GpInvMatrix *A)
{
  PCGPUInverseDevice *D   = &V->device;
  const GpCsr        *csr = &op->side[0].csr;

  PetscFunctionBegin;
  D->A.rowptr = csr->rowptr;
  D->A.col    = csr->col;
  D->A.val    = csr->val;
  D->A.single = csr->prec == GP_F32;
  if (GpOpIsExact(op)) PetscFunctionReturn(PETSC_SUCCESS);
  D->bytes = (size_t)csr->nnz * sizeof(double);
  PCGPUInverseCallOrLeave(V, "allocating device memory for the values of the matrix", GpDevAlloc(D->dev, D->bytes, &D->uploaded));
  PCGPUInverseCallOrLeave(V, "uploading the values of the matrix", GpDevUploadByThreads(D->dev, 0, D->uploaded, D->bytes, NULL, (void *)(uintptr_t)A->val));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)D->bytes));
  D->A.val    = D->uploaded;
  D->A.single = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the image of A, if A is a gpucsr matrix with which the Krylov method multiplies, or if its image is current for another reason; else NULL.  Collective. */
static PetscErrorCode PCGPUInverseGetImage(PC pc, const PCGPUInverseRows *R, GpOp *op)
{
  PetscBool gpucsr;

  PetscFunctionBegin;
  *op = NULL;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc->pmat, &gpucsr, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  if (!gpucsr || R->sub) PetscFunctionReturn(PETSC_SUCCESS);
  if (pc->mat == pc->pmat) PetscCall(MatGPUCSRUpload(pc->pmat));
  if (MatGPUCSRIs_Private(R->A)) PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(R->A, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds a reason for which the host of every rank computes the rows, or NULL. */
static const char *PCGPUInverseGetReason(const PCGPUInverse *V, const PCGPUInverseType *type)
{
  if (!GpBatchIsSupported(V->device.dev)) return "host backend";
  if (type->host) return "as requested";
  return V->rows.rowptr ? NULL : type->byvalue;
}

/* Reads the diagonal on the device. */
static PetscErrorCode PCGPUInverseReadDiagonal(PCGPUInverse *V, PetscInt begin, PetscInt bad[2])
{
  PCGPUInverseDevice *D     = &V->device;
  const size_t        bytes = (size_t)D->A.n * sizeof(double);
  int32_t             missing, unsorted;

  PetscFunctionBegin;
  PCGPUInverseCallOrLeave(V, "allocating device memory for the diagonal", GpDevAlloc(D->dev, bytes, &D->A.diagonal));
  PCGPUInverseCallOrLeave(V, "allocating device memory for the diagonal", GpDevAlloc(D->dev, bytes, &D->A.root));
  PCGPUInverseCallOrLeave(V, "reading the diagonal", GpBatchGetDiagonal(&D->A, &missing, &unsorted));
  bad[0] = missing < 0 ? PETSC_MAX_INT : begin + missing;
  bad[1] = unsorted < 0 ? PETSC_MAX_INT : begin + unsorted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseDeviceBegin_Private(PC pc, PCGPUInverse *V, const PCGPUInverseType *type, const PCGPUInverseRows *R, PetscInt bad[2])
{
  PCGPUInverseDevice *D = &V->device;
  const GpInvMatrix  *A = &R->rows;
  PetscInt            begin;
  GpOp                op;
  const char         *why;

  PetscFunctionBegin;
  PetscCall(PCGPUInverseDeviceFree_Private(V));
  V->why[0] = 0;
  PetscCall(PetscGPUCSRGetDevice(&D->dev));
  why = PCGPUInverseGetReason(V, type);
  if (!why) {
    PetscCall(PCGPUInverseGetImage(pc, R, &op));
    if ((PetscInt64)A->n > GP_OP_MOST || (PetscInt64)A->rowptr[A->n] > GP_OP_MOST) why = "the matrix is too large for 32-bit indices";
  }
  if (why) PetscCall(PCGPUInverseLeave(V, why));
  if (!A->rows) PetscCall(PCGPUInverseDeviceFree_Private(V)); /* this rank has nothing to compute */
  if (!D->dev) PetscFunctionReturn(PETSC_SUCCESS);
  D->A = (GpBatchMatrix){.dev = D->dev, .n = (int32_t)A->n, .first = (int32_t)A->first, .rows = (int32_t)A->rows};
  PetscCall(MatGetOwnershipRange(R->aij, &begin, NULL));
  if (op) PetscCall(PCGPUInverseUseImage(V, op, A));
  else PetscCall(PCGPUInverseUploadMatrix(V, A));
  if (D->dev) PetscCall(PCGPUInverseReadDiagonal(V, begin, bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies indices from the device to a new array of the system's allocator. */
static PetscErrorCode PCGPUInverseDownloadIndices(GpDev dev, const int32_t device[], size_t n, PetscInt **indices)
{
  PetscFunctionBegin;
  *indices = (PetscInt *)malloc((n + 1) * sizeof(**indices));
  PetscCheck(*indices, PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of host memory for the pattern of an approximate inverse with %zu indices", n);
  PetscCallGp(dev, "copying the pattern of the approximate inverse to the host", GpCsrGetIndices(dev, device, n, *indices));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)(n * sizeof(int32_t))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the pattern of a new inverse on the device and copies it to the host. */
static PetscErrorCode PCGPUInverseCreatePattern(PCGPUInverse *V, const PCGPUInverseType *type)
{
  PCGPUInverseDevice *D = &V->device;

  PetscFunctionBegin;
  PCGPUInverseCallOrLeave(V, "finding the pattern of the approximate inverse", GpBatchCreatePattern(&D->A, (int)type->power, type->threshold, type->lower, &D->P));
  V->rows.rows = D->P.rows;
  PetscCall(PCGPUInverseDownloadIndices(D->dev, D->P.rowptr, (size_t)D->P.rows + 1, &V->rows.rowptr));
  PetscCall(PCGPUInverseDownloadIndices(D->dev, D->P.col, (size_t)D->P.nnz, &V->rows.col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the known pattern: that of the image of the inverse, or an upload. */
static PetscErrorCode PCGPUInverseGetPattern(PCGPUInverse *V)
{
  PCGPUInverseDevice *D    = &V->device;
  const GpInvRows    *rows = &V->rows;
  GpCsr               csr  = {0};
  GpOp                op   = NULL;
  Mat                 here, away;

  PetscFunctionBegin;
  PetscCall(PCGPUInverseGetBlocks_Private(V, &here, &away));
  if (!V->overlap && MatGPUCSRIs_Private(here)) PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(here, &op));
  D->shared = (PetscBool)(op != NULL);
  D->P      = (GpBatchPattern){.rows = (int32_t)rows->rows, .nnz = (int32_t)rows->rowptr[rows->rows]};
  if (op) {
    D->P.rowptr = op->side[0].csr.rowptr;
    D->P.col    = op->side[0].csr.col;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PCGPUInverseCallOrLeave(V, "allocating device memory for the pattern", GpDevAlloc(D->dev, ((size_t)D->P.rows + 1) * sizeof(int32_t), &D->P.rowptr));
  PCGPUInverseCallOrLeave(V, "allocating device memory for the pattern", GpDevAlloc(D->dev, (size_t)D->P.nnz * sizeof(int32_t), &D->P.col));
  csr = (GpCsr){.dev = D->dev, .prec = GP_F64, .m = D->P.rows, .n = D->A.n, .nnz = D->P.nnz, .rowptr = D->P.rowptr, .col = D->P.col};
  PCGPUInverseCallOrLeave(V, "uploading the pattern of the approximate inverse", GpCsrSetPattern(&csr, rows->rowptr, rows->col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the columns of the least-squares problems of all rows. */
static PetscErrorCode PCGPUInverseCountColumns(PCGPUInverse *V, int32_t columns[])
{
  PCGPUInverseDevice *D      = &V->device;
  const size_t        bytes  = (size_t)D->P.rows * sizeof(int32_t);
  int32_t            *device = NULL;
  GpErr               err;

  PetscFunctionBegin;
  err = GpDevAlloc(D->dev, bytes, &device);
  if (!err) err = GpBatchCountColumns(&D->A, &D->P, device);
  if (!err) err = GpDevDownload(D->dev, columns, device, bytes);
  GpDevFree(D->dev, &device, bytes);
  PCGPUInverseCallOrLeave(V, "counting the columns of the least-squares problems", err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the plan, which is kept for new values. */
static PetscErrorCode PCGPUInverseCreatePlan(PCGPUInverse *V, const PCGPUInverseType *type)
{
  const PetscInt n       = V->rows.rows;
  int32_t       *columns = NULL, *rowptr;
  GpErr          err     = GP_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n + 1, &rowptr));
  for (PetscInt r = 0; r <= n; r++) rowptr[r] = (int32_t)V->rows.rowptr[r];
  if (type->kind == GP_BATCH_SPAI) {
    PetscCall(PetscMalloc1(n, &columns));
    PetscCall(PCGPUInverseCountColumns(V, columns));
  }
  if (V->device.dev) err = GpBatchCreatePlan(V->device.dev, type->kind, (int32_t)n, rowptr, columns, &V->plan);
  PetscCall(PetscFree(rowptr));
  PetscCall(PetscFree(columns));
  if (V->device.dev) PCGPUInverseCallOrLeave(V, "listing the rows of the approximate inverse", err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseDeviceCompute_Private(PCGPUInverse *V, const PCGPUInverseType *type, GpInvReport *report)
{
  PCGPUInverseDevice *D     = &V->device;
  const PetscBool     fresh = (PetscBool)!V->rows.rowptr;
  GpBatchReport       batch = {.failed = -1};
  GpErr               err;

  PetscFunctionBegin;
  if (fresh) PetscCall(PCGPUInverseCreatePattern(V, type));
  else PetscCall(PCGPUInverseGetPattern(V));
  if (D->dev && !V->plan.dev) PetscCall(PCGPUInverseCreatePlan(V, type));
  if (!D->dev) {
    if (fresh) GpInvFree(&V->rows); /* the host computes the pattern, too */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PCGPUInverseCallOrLeave(V, "allocating device memory for the values of the approximate inverse", GpDevAlloc(D->dev, (size_t)D->P.nnz * sizeof(double), &D->val));
  PetscCall(PetscGPUCSRLogTimeBegin_Private(D->dev));
  err = GpBatchCompute(&V->plan, &D->A, &D->P, D->val, &batch);
  PetscCall(PetscGPUCSRLogTimeEnd_Private(D->dev));
  PCGPUInverseCallOrLeave(V, "computing the rows of the approximate inverse", err);
  PetscCall(PetscGPUCSRLogFlops_Private(D->dev, V->plan.flops));
  *report = (GpInvReport){.failed = batch.failed, .range = batch.range, .pivot = batch.pivot, .flops = V->plan.flops, .measure = batch.measure};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values to the array of the matrix on the host.  A large array is pinned, because it is filled again for each new matrix. */
static PetscErrorCode PCGPUInverseCopyOut(PCGPUInverse *V, PetscScalar *val)
{
  PCGPUInverseDevice *D      = &V->device;
  const size_t        bytes  = (size_t)D->P.nnz * sizeof(double);
  int                 pinned = V->pinned == val;

  PetscFunctionBegin;
  if (!pinned) {
    if (V->pinned) GpDevUnpin(D->dev, V->pinned);
    V->pinned = NULL;
    if (bytes >= GP_DEV_STAGE_BYTES) PetscCallGp(D->dev, "pinning the values of the approximate inverse", GpDevPin(D->dev, val, bytes, &pinned));
    if (pinned) V->pinned = val;
  }
  if (pinned) PetscCallGp(D->dev, "copying the values of the approximate inverse to the host", GpDevCopyOut(D->dev, val, D->val, bytes));
  else PetscCallGp(D->dev, "copying the values of the approximate inverse to the host", GpDevDownloadByThreads(D->dev, 0, val, D->val, bytes));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseDeviceRefill_Private(PCGPUInverse *V)
{
  PCGPUInverseDevice *D  = &V->device;
  GpOp                op = NULL;
  Mat                 here, away;
  PetscScalar        *val;

  PetscFunctionBegin;
  PetscCall(PCGPUInverseGetBlocks_Private(V, &here, &away));
  if (MatGPUCSRIs_Private(here)) PetscCall(MatSeqAIJGPUCSRGetCurrent_Private(here, &op));
  PetscCall(MatSeqAIJGetArrayWrite(here, &val));
  PetscCall(PCGPUInverseCopyOut(V, val));
  PetscCall(MatSeqAIJRestoreArrayWrite(here, &val));
  if (op) PetscCall(MatSeqAIJGPUCSRUpdate_Private(here, &(GpCsrUpdate){.kind = GP_UPDATE_SET, .values = D->val}, NULL, 0));
  PetscCallGp(D->dev, "waiting for the values of the approximate inverse", GpDevSync(D->dev));
  if (away) PetscCall(PetscObjectStateIncrease((PetscObject)V->matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseDeviceDownload_Private(PCGPUInverse *V)
{
  PCGPUInverseDevice *D = &V->device;

  PetscFunctionBegin;
  V->rows.val = (PetscScalar *)malloc(((size_t)D->P.nnz + 1) * sizeof(*V->rows.val));
  PetscCheck(V->rows.val, PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of host memory for the %d values of an approximate inverse", (int)D->P.nnz);
  PetscCallGp(D->dev, "copying the values of the approximate inverse to the host", GpDevDownloadByThreads(D->dev, 0, V->rows.val, D->val, (size_t)D->P.nnz * sizeof(double)));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)D->P.nnz * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseDeviceFree_Private(PCGPUInverse *V)
{
  PCGPUInverseDevice *D = &V->device;

  PetscFunctionBegin;
  if (!D->dev) PetscFunctionReturn(PETSC_SUCCESS);
  GpCsrDestroy(&D->csr);
  GpDevFree(D->dev, &D->uploaded, D->bytes);
  GpDevFree(D->dev, &D->A.diagonal, (size_t)D->A.n * sizeof(double));
  GpDevFree(D->dev, &D->A.root, (size_t)D->A.n * sizeof(double));
  GpDevFree(D->dev, &D->val, (size_t)D->P.nnz * sizeof(double));
  if (!D->shared) GpBatchDestroyPattern(D->dev, &D->P);
  *D = (PCGPUInverseDevice){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseDeviceReset_Private(PCGPUInverse *V)
{
  PetscFunctionBegin;
  if (V->pinned) GpDevUnpin(V->plan.dev, V->pinned);
  V->pinned = NULL;
  GpBatchDestroyPlan(&V->plan);
  PetscCall(PCGPUInverseDeviceFree_Private(V));
  PetscFunctionReturn(PETSC_SUCCESS);
}
