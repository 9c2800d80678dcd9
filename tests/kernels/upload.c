static char help[] = "Uploads of large matrices: several threads give the arrays, rounding errors and refusals of one thread.\n\n";

#include "device/gpdeviceimpl.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include <gpucsr.h>
#include "gpucsrcompat.h"
#include <gpucsrdevice.h>
#include <string.h>

#define Check(condition, ...) PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)

#define ROWS 2500000 /* every array takes more than 8 MiB, so that threads fill it */

typedef struct {
  PetscInt *rowptr, *col; /* one or two nonzeros a row */
  double   *val;
  int32_t   nnz;
} Matrix;

static PetscErrorCode CreateMatrix(Matrix *A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(ROWS + 1, &A->rowptr, 2 * ROWS, &A->col, 2 * ROWS, &A->val));
  A->nnz = 0;
  for (PetscInt i = 0; i < ROWS; i++) {
    A->rowptr[i] = A->nnz;
    for (PetscInt k = 0; k < 1 + i % 3 / 2; k++, A->nnz++) {
      A->col[A->nnz] = (PetscInt)(((PetscInt64)i * 7919 + k) % ROWS);
      A->val[A->nnz] = i % 5 ? 1 + (double)(i % 4096) / 4096 : 1.0 / (double)(3 + i % 9973); /* exact; rounded */
    }
  }
  A->rowptr[ROWS] = A->nnz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares an array on the device with its conversion by one thread. */
static PetscErrorCode CompareArray(GpDev dev, const char what[], const void *device, const void *expected, size_t bytes)
{
  char *copy;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(bytes, &copy));
  PetscCallGp(dev, what, GpDevDownload(dev, copy, device, bytes));
  Check(!memcmp(copy, expected, bytes), "%s: the threads have uploaded other bytes", what);
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckArrays(GpCsr *C, const Matrix *A, GpPrec prec, int together)
{
  GpLoss   loss, one = {.at = -1, .overflow = -1};
  int      wrong = 0;
  int32_t *narrow;
  float   *single;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(2 * ROWS, &narrow, 2 * ROWS, &single));
  if (together) {
    PetscCallGp(C->dev, "arrays", GpDevZero(C->dev, C->rowptr, (size_t)GpCsrBytes(C)));
    PetscCallGp(C->dev, "arrays", GpCsrSetArrays(C, A->rowptr, A->col, A->val, 0, &loss, &wrong));
  } else {
    PetscCallGp(C->dev, "pattern", GpCsrSetPattern(C, A->rowptr, A->col));
    PetscCallGp(C->dev, "values", GpCsrSetValues(C, A->val, &loss));
  }
  Check(!wrong, "a pattern was refused");
  for (PetscInt i = 0; i <= ROWS; i++) narrow[i] = (int32_t)A->rowptr[i];
  PetscCall(CompareArray(C->dev, "row pointers", C->rowptr, narrow, ((size_t)ROWS + 1) * sizeof(*narrow)));
  for (PetscInt k = 0; k < A->nnz; k++) narrow[k] = (int32_t)A->col[k];
  PetscCall(CompareArray(C->dev, "columns", C->col, narrow, (size_t)A->nnz * sizeof(*narrow)));
  if (prec == GP_F32) PetscCallGp(C->dev, "one thread", GpCsrNarrow(0, (size_t)A->nnz, A->val, single, &one));
  PetscCall(CompareArray(C->dev, "values", C->val, prec == GP_F32 ? (const void *)single : A->val, (size_t)A->nnz * GpPrecBytes(prec)));
  Check(loss.worst == one.worst && loss.at == one.at && loss.overflow == -1 && (prec == GP_F64 || (one.at >= 0 && loss.rounded == one.rounded && loss.lost == one.lost)), "rounding error %g at %" PRId64 " and not %g at %" PRId64, loss.worst, loss.at,
        one.worst, one.at);
  PetscCall(PetscFree2(narrow, single));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of two values that overflow, the first one is reported. A column out of range and descending row pointers are refused. Afterwards the device works. */
static PetscErrorCode CheckRefusals(GpCsr *C, Matrix *A)
{
  const PetscInt at[]  = {A->nnz / 2, A->nnz - 1};
  const double   val[] = {A->val[at[0]], A->val[at[1]]};
  const PetscInt col = A->col[at[0]], row = A->rowptr[ROWS / 2];
  GpLoss         loss;
  int            wrong;

  PetscFunctionBeginUser;
  A->val[at[0]] = A->val[at[1]] = 1e200;
  Check(GpCsrSetValues(C, A->val, &loss) == GP_ERR_ARGUMENT && loss.overflow == at[0], "an overflow at %" PRId64 " and not %" PetscInt_FMT, loss.overflow, at[0]);
  Check(GpCsrSetArrays(C, A->rowptr, A->col, A->val, 0, &loss, &wrong) == GP_ERR_ARGUMENT && !wrong && loss.overflow == at[0], "an overflow at %" PRId64 " and not %" PetscInt_FMT ", together with the pattern", loss.overflow, at[0]);
  A->col[at[0]] = ROWS;
  Check(GpCsrSetArrays(C, A->rowptr, A->col, A->val, 0, &loss, &wrong) == GP_ERR_ARGUMENT && wrong, "a column out of range was accepted, together with values that overflow");
  for (int k = 0; k < 2; k++) A->val[at[k]] = val[k];
  Check(GpCsrSetPattern(C, A->rowptr, A->col) == GP_ERR_ARGUMENT, "a column out of range was accepted");
  A->col[at[0]]       = col;
  A->rowptr[ROWS / 2] = A->nnz;
  Check(GpCsrSetPattern(C, A->rowptr, A->col) == GP_ERR_ARGUMENT, "row pointers that descend were accepted");
  Check(GpCsrSetArrays(C, A->rowptr, A->col, A->val, 0, &loss, &wrong) == GP_ERR_ARGUMENT && wrong, "row pointers that descend were accepted, together with values");
  A->rowptr[ROWS / 2] = row;
  Check(GpCsrSetArrays(C, A->rowptr, A->col, A->val, 1, &loss, &wrong) == GP_ERR_ARGUMENT && !wrong && loss.rounded > 0, "rounded values were accepted as exact");
  PetscCall(CheckArrays(C, A, GP_F32, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev     dev;
  GpDevKind kind;
  Matrix    A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(CreateMatrix(&A));
  kind = dev->kind;
  for (int pinned = 0; pinned < (kind == GP_DEV_HOST ? 2 : 1); pinned++) {
    for (int prec = 0; prec < 2; prec++) {
      GpCsr C;

      PetscCallGp(dev, "memory", GpCsrCreate(dev, prec ? GP_F64 : GP_F32, ROWS, ROWS, A.nnz, &C));
      if (pinned) dev->kind = GP_DEV_CUDA; /* pinned buffers are used on the host backend too, as on a GPU */
      for (int together = 0; together < 2; together++) PetscCall(CheckArrays(&C, &A, C.prec, together));
      if (!prec) PetscCall(CheckRefusals(&C, &A));
      dev->kind = kind;
      GpCsrDestroy(&C);
    }
  }
  PetscCall(PetscFree3(A.rowptr, A.col, A.val));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "uploads by threads: the same\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: all

TEST*/
