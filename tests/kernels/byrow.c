static char help[] = "Kernels that add by rows: the product of a block of rows taken alone has the same bits as in the whole matrix.\n\n";

#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "sys/gpucsrsys.h"

static void Make(int which, BenchMatrix *A, const char **name)
{
  static const char *const names[] = {"7-point stencil", "text", "R-MAT", "mesh", "uneven rows"};

  *name = names[which];
  if (which == 0) BenchStencil(A, 23, 0, 1);
  else if (which == 1) BenchRows(A, 9000, 5000, 60, 1, 2);
  else if (which == 2) BenchRmat(A, 12, 9, 3);
  else if (which == 3) BenchMesh(A, 14, 4);
  else BenchUneven(A, 5);
}

/* Multiplies rows first to end - 1, as a matrix of its own, by all kernels that add by rows. Row k of y[] is the product of kernel k without a vector to
   add, then the one with z. */
static PetscErrorCode Multiply(GpDev dev, const BenchMatrix *A, GpPrec prec, int32_t first, int32_t end, const double *x, const double *z, double *y)
{
  const int32_t m = end - first, from = A->rowptr[first], nnz = A->rowptr[end] - from;
  const size_t  by = (size_t)m * sizeof(double);
  PetscInt     *ri, *ci;
  int32_t      *rowptr;
  double       *dy, *dz;
  GpCsr         C;
  GpLoss        loss;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(m + 1, &ri, nnz, &ci, m + 1, &rowptr));
  for (int32_t i = 0; i <= m; i++) ri[i] = rowptr[i] = A->rowptr[first + i] - from;
  for (int32_t k = 0; k < nnz; k++) ci[k] = A->col[from + k];
  PetscCallGp(dev, "rows", GpCsrCreate(dev, prec, m, A->n, nnz, &C));
  PetscCallGp(dev, "pattern", GpCsrSetPattern(&C, ri, ci));
  PetscCallGp(dev, "values", GpCsrSetValues(&C, A->val + from, &loss));
  PetscCallGp(dev, "y", GpDevAlloc(dev, by, &dy));
  PetscCallGp(dev, "z", GpDevAlloc(dev, by, &dz));
  PetscCallGp(dev, "z", GpDevUpload(dev, dz, z + first, by));
  for (int kernel = 0; kernel < GP_KERNELS; kernel++) {
    GpFmt F;

    if (!GpKernelTable[kernel].byrow) continue;
    PetscCallGp(dev, "format", GpFmtBuild(&F, GpKernelTable[kernel].format, &C, rowptr));
    for (int adds = 0; adds < 2; adds++) {
      PetscCallGp(dev, GpKernelTable[kernel].name, GpKernelTable[kernel].mult[GpDevKindOf(dev)][prec](&F, x, adds ? dz : NULL, dy));
      PetscCallGp(dev, "y", GpDevDownload(dev, y + (size_t)(2 * kernel + adds) * (size_t)A->m, dy, by));
    }
    GpFmtDestroy(&F);
  }
  GpCsrDestroy(&C);
  GpDevFree(dev, &dy, by);
  GpDevFree(dev, &dz, by);
  PetscCall(PetscFree3(ri, ci, rowptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares blocks of 1 to 500 rows with the whole matrix. */
static PetscErrorCode CheckMatrix(GpDev dev, const char *name, const BenchMatrix *A, GpPrec prec)
{
  const size_t bx = (size_t)A->n * sizeof(double), all = 2 * (size_t)GP_KERNELS * (size_t)A->m;
  uint64_t     seed = 11;
  double      *x, *z, *whole, *part, *dx;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(A->n, &x, A->m, &z, all, &whole, all, &part));
  for (int32_t j = 0; j < A->n; j++) x[j] = 2 * BenchUniform(&seed) - 1;
  for (int32_t i = 0; i < A->m; i++) z[i] = 2 * BenchUniform(&seed) - 1;
  PetscCallGp(dev, "x", GpDevAlloc(dev, bx, &dx));
  PetscCallGp(dev, "x", GpDevUpload(dev, dx, x, bx));
  PetscCall(Multiply(dev, A, prec, 0, A->m, dx, z, whole));
  for (int32_t first = 0, end; first < A->m; first = end) {
    const int32_t rows = 1 + (int32_t)(BenchUniform(&seed) * (BenchUniform(&seed) < 0.3 ? 4 : 500));

    end = first + rows < A->m ? first + rows : A->m;
    PetscCall(Multiply(dev, A, prec, first, end, dx, z, part));
    for (int row = 0; row < 2 * GP_KERNELS; row++) {
      const size_t at = (size_t)row * (size_t)A->m;

      if (!GpKernelTable[row / 2].byrow) continue;
      PetscCheck(!memcmp(part + at, whole + at + first, (size_t)(end - first) * sizeof(double)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s, %s%s: rows %d to %d alone give other bits than in the whole matrix", name, GpKernelTable[row / 2].name,
                 prec == GP_F32 ? "single" : "double", row % 2 ? ", with z" : "", first, end - 1);
    }
  }
  GpDevFree(dev, &dx, bx);
  PetscCall(PetscFree4(x, z, whole, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev dev;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  for (int which = 0; which < 5; which++) {
    BenchMatrix A;
    const char *name;

    Make(which, &A, &name);
    for (int prec = 0; prec < GP_PRECISIONS; prec++) PetscCall(CheckMatrix(dev, name, &A, (GpPrec)prec));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: blocks of rows have the bits of the whole matrix\n", name));
    BenchMatrixDestroy(&A);
  }
  for (int kernel = 0; kernel < GP_KERNELS; kernel++)
    if (GpKernelTable[kernel].byrow) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", GpKernelTable[kernel].name));
  PetscCheck(GpDevBytesHeld(dev) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: all

TEST*/
