/* The compressed rows of a matrix in device memory, for kernels of other libraries. */
/* MANSEC = Mat */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* Copies the values from the host to device memory in double precision, unless an earlier call has done so. */
static PetscErrorCode MatGPUCSRLendValues(Mat A, GpDev dev, MatGPUCSRLent *lent, size_t bytes)
{
  PetscScalar *host;
  GpErr        err;

  PetscFunctionBegin;
  if (lent->uses || !bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetCSRAndMemType(A, NULL, NULL, &host, NULL));
  PetscCallGp(dev, "The values of a matrix in double precision (-mat_gpucsr_storage double needs no copy)", GpDevAlloc(dev, bytes, &lent->val));
  lent->bytes = bytes;
  err         = GpDevUpload(dev, lent->val, host, bytes);
  if (err) GpDevFree(dev, &lent->val, bytes);
  PetscCallGp(dev, "The values of a matrix in double precision", err);
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRGetDeviceCSR - Gets the compressed rows of a matrix in device memory, with values in double precision

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATSEQAIJGPUCSR`

  Output Parameters:
+ rowptr - m + 1 row pointers, where m is the number of rows
. col    - columns of the nonzeros, in ascending order within a row
- val    - values of the nonzeros

  Level: developer

  Notes:
  The arrays are for reading only. `A` must not change before `MatGPUCSRRestoreDeviceCSR()`. Indices begin at 0 and have 32 bits, even if `PetscInt` has 64. On the host backend the arrays are in host memory.

  If the values are stored in single precision, this function copies the double-precision values from the host to the device, and `MatGPUCSRRestoreDeviceCSR()` frees the copy. With `-mat_gpucsr_storage double` nothing is
  copied. Kernels on a stream of the caller may start after `PetscGPUCSRDeviceSynchronize()`.

  For a parallel matrix, pass the blocks that `MatMPIAIJGetSeqAIJ()` returns. Streamed matrices and the type `gpucsrstream` are not supported.

.seealso: `MATGPUCSR`, `MatGPUCSRRestoreDeviceCSR()`, `MatGPUCSRUpload()`, `MatGPUCSRSetStorage()`, `VecCreateSeqGPUWithArray()`
@*/
PetscErrorCode MatGPUCSRGetDeviceCSR(Mat A, const int32_t **rowptr, const int32_t **col, const PetscScalar **val)
{
  Mat_SeqAIJGPUCSR *s;
  Mat_GPUCSR       *g;
  GpOp              op;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscCheck(!g->mpi, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "MatGPUCSRGetDeviceCSR() supports sequential matrices; pass the blocks that MatMPIAIJGetSeqAIJ() returns");
  PetscCheck(!g->fromrows, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "A matrix of type gpucsrstream is never as a whole in device memory; convert it to gpucsr");
  PetscCall(MatSeqAIJGPUCSRUpload_Private(A, PETSC_FALSE, &op));
  PetscCheck(!GpOpIsStreamed(op), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "The matrix is streamed, so that the device does not hold its compressed rows; use -mat_gpucsr_stream never");
  s = (Mat_SeqAIJGPUCSR *)g;
  if (op->side[0].csr.prec == GP_F64) *val = (const PetscScalar *)op->side[0].csr.val;
  else {
    PetscCall(MatGPUCSRLendValues(A, g->dev, &s->lent, (size_t)op->side[0].csr.nnz * sizeof(PetscScalar)));
    s->lent.uses++;
    *val = s->lent.val;
  }
  *rowptr = op->side[0].csr.rowptr;
  *col    = op->side[0].csr.col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRRestoreDeviceCSR - Ends the access that `MatGPUCSRGetDeviceCSR()` began

  Not Collective

  Input Parameters:
+ A      - the matrix
. rowptr - the row pointers; set to `NULL`
. col    - the columns; set to `NULL`
- val    - the values; set to `NULL`

  Level: developer

.seealso: `MatGPUCSRGetDeviceCSR()`
@*/
PetscErrorCode MatGPUCSRRestoreDeviceCSR(Mat A, const int32_t **rowptr, const int32_t **col, const PetscScalar **val)
{
  MatGPUCSRLent *lent;
  Mat_GPUCSR    *g;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscCheck(!g->mpi && !g->fromrows, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "Pass the matrix that was passed to MatGPUCSRGetDeviceCSR()");
  lent = &((Mat_SeqAIJGPUCSR *)g)->lent;
  if (*val == lent->val && lent->uses && !--lent->uses) GpDevFree(g->dev, &lent->val, lent->bytes);
  *rowptr = NULL;
  *col    = NULL;
  *val    = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
