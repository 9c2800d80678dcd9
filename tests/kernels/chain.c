static char help[] = "A chain of products and vector operations, each of which reads what the one before it wrote. The results are bitwise equal whether or not the host waits after every operation.\n\n";

#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "sys/gpucsrsys.h"
#include "vec/kernels/gpveckernel.h"

#define TURNS  12
#define VALUES 2 /* turns between two changes of the values. If the format rejects the new values, the chain ends. */

typedef struct {
  GpDev     dev;
  GpCsr     csr;
  GpFmt     fmt;
  int       kernel;
  PetscBool waits; /* the host waits after each operation */
  double   *x, *y, *val[2];
  GpVecWork work;
  double    dot; /* sum of the inner products of all turns */
} Chain;

static PetscErrorCode Done(Chain *C, const char *what, GpErr err)
{
  PetscFunctionBegin;
  PetscCallGp(C->dev, what, err);
  if (C->waits) PetscCallGp(C->dev, what, GpDevSync(C->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Product(Chain *C, const double *x, const double *z, double *y)
{
  PetscFunctionBegin;
  PetscCall(Done(C, GpKernelTable[C->kernel].name, GpKernelTable[C->kernel].mult[GpDevKindOf(C->dev)][C->csr.prec](&C->fmt, x, z, y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Map(Chain *C, int row, double a, const double *x, double *z)
{
  const double scalars[3] = {a, 0, 0};

  PetscFunctionBegin;
  PetscCall(Done(C, "map", GpVecKernelsOf(C->dev)->map[row](C->dev, C->csr.m, scalars, x, NULL, z)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the chain: products after products, after vector operations, in place, and after new values. */
static PetscErrorCode Run(Chain *C, double *result)
{
  const size_t bytes = (size_t)C->csr.m * sizeof(double);
  GpLoss       loss;

  PetscFunctionBegin;
  C->dot = 0;
  PetscCall(Map(C, GP_VEC_set, 0.5, NULL, C->x));
  for (int turn = 0; turn < TURNS; turn++) {
    if (turn % VALUES == 0) {
      GpErr err;

      PetscCall(Done(C, "values", GpCsrSetValues(&C->csr, C->val[turn / VALUES % 2], &loss)));
      err = GpFmtRefill(&C->fmt);
      if (err == GP_ERR_ARGUMENT) break; /* the other run ends at the same turn */
      PetscCall(Done(C, "refill", err));
    }
    PetscCall(Product(C, C->x, NULL, C->y));
    PetscCall(Product(C, C->y, NULL, C->x));
    PetscCall(Product(C, C->x, C->y, C->y));
    PetscCall(Map(C, GP_VEC_axpy, -0.25, C->y, C->x));
    PetscCall(Product(C, C->x, NULL, C->y));
    PetscCall(Done(C, "dot", GpVecKernelsOf(C->dev)->reduce[GP_VEC_dot](&C->work, C->csr.m, C->y, C->x, 0)));
    PetscCall(Map(C, GP_VEC_scale, 1e-4, NULL, C->y));
    PetscCall(Map(C, GP_VEC_aypx, 1e-6, C->y, C->x));
    PetscCallGp(C->dev, "dot", GpVecWait(&C->work));
    C->dot += C->work.result[0];
  }
  PetscCallGp(C->dev, "result", GpDevDownload(C->dev, result, C->x, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckKernel(Chain *C, const BenchMatrix *A, const char *name)
{
  const size_t bytes = (size_t)A->m * sizeof(double);
  double      *result[2], dot[2];
  GpLoss       loss;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(A->m, &result[0], A->m, &result[1]));
  for (int waits = 0; waits < 2; waits++) {
    GpErr err;

    PetscCallGp(C->dev, "values", GpCsrSetValues(&C->csr, C->val[1], &loss));
    err = GpFmtBuild(&C->fmt, GpKernelTable[C->kernel].format, &C->csr, A->rowptr);
    if (err == GP_ERR_ARGUMENT) { /* the format does not support this matrix */
      PetscCall(PetscFree2(result[0], result[1]));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCallGp(C->dev, "format", err);
    C->waits = waits ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(Run(C, result[waits]));
    dot[waits] = C->dot;
    GpFmtDestroy(&C->fmt);
  }
  PetscCheck(!memcmp(result[0], result[1], bytes) && dot[0] == dot[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: the result differs if the host waits after every operation", name, GpKernelTable[C->kernel].name);
  PetscCheck(dot[0] != 0 && PetscIsNormalReal(dot[0]), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: the sum of the inner products is zero or not a normal number", name, GpKernelTable[C->kernel].name);
  PetscCall(PetscFree2(result[0], result[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckMatrix(GpDev dev, const BenchMatrix *A, const char *name, int only)
{
  Chain        C     = {.dev = dev};
  const size_t bytes = (size_t)A->m * sizeof(double);
  PetscInt    *ri, *ci;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(A->m + 1, &ri, A->nnz, &ci));
  PetscCall(PetscMalloc2(A->nnz, &C.val[0], A->nnz, &C.val[1]));
  for (int32_t i = 0; i <= A->m; i++) ri[i] = A->rowptr[i];
  for (int32_t k = 0; k < A->nnz; k++) {
    ci[k]       = A->col[k];
    C.val[0][k] = A->val[k];
    C.val[1][k] = 2 * A->val[k];
  }
  PetscCallGp(dev, "work", GpVecWorkCreate(dev, &C.work));
  PetscCallGp(dev, "x", GpDevAlloc(dev, bytes, &C.x));
  PetscCallGp(dev, "y", GpDevAlloc(dev, bytes, &C.y));
  for (int prec = 0; prec < GP_PRECISIONS; prec++) {
    PetscCallGp(dev, "rows", GpCsrCreate(dev, (GpPrec)prec, A->m, A->n, A->nnz, &C.csr));
    PetscCallGp(dev, "pattern", GpCsrSetPattern(&C.csr, ri, ci));
    for (C.kernel = 0; C.kernel < GP_KERNELS; C.kernel++)
      if (GpKernelTable[C.kernel].repeatable && GpKernelTable[C.kernel].mult[GpDevKindOf(dev)][prec] && (only < 0 || C.kernel == only)) PetscCall(CheckKernel(&C, A, name));
    GpCsrDestroy(&C.csr);
  }
  GpDevFree(dev, &C.x, bytes);
  GpDevFree(dev, &C.y, bytes);
  GpVecWorkDestroy(&C.work);
  PetscCall(PetscFree2(C.val[0], C.val[1]));
  PetscCall(PetscFree2(ri, ci));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: equal with and without waiting\n", name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  BenchMatrix A;
  GpDev       dev;
  char        one[64];
  PetscBool   set;
  int         only = -1, large;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kernel", one, sizeof(one), &set));
  if (set) {
    only = GpKernelFind(one);
    PetscCheck(only >= 0, PETSC_COMM_SELF, PETSC_ERR_USER, "-kernel %s: there is no such kernel", one);
  }
  large = GpDevKindOf(dev) == GP_DEV_CUDA; /* on a GPU the matrices are large enough that an operation could overtake the one before it */
  BenchStencil(&A, large ? 40 : 9, 0, 1);
  PetscCall(CheckMatrix(dev, &A, "7 points", only));
  BenchMatrixDestroy(&A);
  BenchGrid(&A, large ? 40 : 9, 1, 1, 1, 2);
  PetscCall(CheckMatrix(dev, &A, "27 points, constant", only));
  BenchMatrixDestroy(&A);
  BenchGrid(&A, large ? 16 : 5, 1, 3, 0, 3);
  PetscCall(CheckMatrix(dev, &A, "blocks of three", only));
  BenchMatrixDestroy(&A);
  BenchMesh(&A, large ? 24 : 7, 4);
  PetscCall(CheckMatrix(dev, &A, "mesh", only));
  BenchMatrixDestroy(&A);
  BenchRmat(&A, large ? 15 : 9, 8, 5);
  PetscCall(CheckMatrix(dev, &A, "R-MAT", only));
  BenchMatrixDestroy(&A);
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:

TEST*/
