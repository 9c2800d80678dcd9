static char help[] = "The format rowcode finds the grid of a stencil with constant coefficients.\n\n";

#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/spmv/rowcode/rowcode.h"
#include "sys/gpucsrsys.h"

static PetscErrorCode CheckGrid(GpDev dev, int points)
{
  BenchMatrix A;
  GpCsr       C;
  GpFmt       F;
  GpLoss      loss;
  PetscInt   *ri, *ci;

  PetscFunctionBegin;
  BenchConstantGrid(&A, points);
  PetscCall(PetscMalloc2(A.m + 1, &ri, A.nnz, &ci));
  for (int32_t i = 0; i <= A.m; i++) ri[i] = A.rowptr[i];
  for (int32_t k = 0; k < A.nnz; k++) ci[k] = A.col[k];
  for (int prec = 0; prec < GP_PRECISIONS; prec++) {
    PetscCallGp(dev, "rows", GpCsrCreate(dev, (GpPrec)prec, A.m, A.n, A.nnz, &C));
    PetscCallGp(dev, "pattern", GpCsrSetPattern(&C, ri, ci));
    PetscCallGp(dev, "values", GpCsrSetValues(&C, A.val, &loss));
    PetscCallGp(dev, "format", GpFmtBuild(&F, GP_FMT_ROWCODE, &C, A.rowptr));
    PetscCheck(((const GpRowCode *)F.data)->mask, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d points: the format rowcode did not find the grid", points);
    GpFmtDestroy(&F);
    GpCsrDestroy(&C);
  }
  PetscCall(PetscFree2(ri, ci));
  BenchMatrixDestroy(&A);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d points: the grid is found\n", points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const int points[] = {5, 9, 7, 13, 19, 27};
  GpDev     dev;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  for (int k = 0; k < 6; k++) PetscCall(CheckGrid(dev, points[k]));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:

TEST*/
