static char help[] = "Time to change a matrix's values in place until the device has them: CSV on standard output.\n\n\
  -grid <k>         k x k x k 7-point stencil, default 100\n\
  -storages <s,...> single and double by default\n\
  -repeats <n>      of which the median is printed, default 5\n\
Columns: the operation on plain AIJ, on gpucsr, the upload that is left to do after it, and a whole refill of the image, in milliseconds.\n\n";

#include "bench/matrices.h"
#include "bench/order.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"

#define MAX 64

typedef enum {
  SCALE,
  DIAGONALSCALE,
  SHIFT,
  AXPY,
  ZERO,
  DIAGONAL,
  OPERATIONS
} Operation;

static const char *const Names[] = {"MatScale", "MatDiagonalScale", "MatShift", "MatAXPY", "MatZeroEntries", "MatGetDiagonal"};

static double Median(PetscInt n, double t[])
{
  qsort(t, (size_t)n, sizeof(double), CompareDoubles);
  return t[n / 2];
}

static PetscErrorCode Apply(Operation operation, Mat A, Mat X, Vec left, Vec right)
{
  PetscFunctionBeginUser;
  switch (operation) {
  case SCALE:
    PetscCall(MatScale(A, 2));
    break;
  case DIAGONALSCALE:
    PetscCall(MatDiagonalScale(A, left, right));
    break;
  case SHIFT:
    PetscCall(MatShift(A, 1));
    break;
  case AXPY:
    PetscCall(MatAXPY(A, 1, X, SAME_NONZERO_PATTERN));
    break;
  case ZERO:
    PetscCall(MatZeroEntries(A));
    break;
  default:
    PetscCall(MatGetDiagonal(A, left));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the milliseconds since *since, and sets *since to now. */
static double Lap(PetscLogDouble *since)
{
  PetscLogDouble now;

  (void)PetscTime(&now);
  const double lap = 1e3 * (now - *since);
  *since           = now;
  return lap;
}

static PetscErrorCode Run(Operation operation, Mat plain, const char storage[], PetscInt repeats)
{
  double          t[4][MAX];
  PetscScalar    *values;
  PetscLogDouble  since;
  PetscBool       twice;
  PetscInt        m, n;
  PetscMemType    memtype;
  const PetscInt *rowptr, *col;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(storage, "double", &twice));
  PetscCall(MatGetSize(plain, &m, &n));
  for (PetscInt r = 0; r < repeats; r++) {
    Mat A, B, X;
    Vec left, right;

    PetscCall(MatDuplicate(plain, MAT_COPY_VALUES, &B));
    PetscCall(MatSeqAIJGetCSRAndMemType(plain, &rowptr, &col, &values, &memtype));
    PetscCall(MatCreate(PETSC_COMM_SELF, &X)); /* created by type name, as in programs */
    PetscCall(MatSetSizes(X, m, n, m, n));
    PetscCall(MatSetType(X, MATGPUCSR));
    PetscCall(MatSeqAIJSetPreallocationCSR(X, rowptr, col, values));
    PetscCall(MatGPUCSRSetStorage(X, twice ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE));
    PetscCall(MatDuplicate(X, MAT_COPY_VALUES, &A));
    PetscCall(MatCreateVecs(A, &right, &left));
    PetscCall(VecSet(left, 2));
    PetscCall(VecSet(right, 0.25));
    PetscCall(MatGPUCSRUpload(X));
    PetscCall(MatGPUCSRUpload(A));
    for (int k = 0; k < 2; k++) { /* from the second time on, the permutation of the transpose exists */
      PetscCall(MatSeqAIJGetArray(A, &values));
      PetscCall(MatSeqAIJRestoreArray(A, &values));
      PetscCall(PetscTime(&since));
      PetscCall(MatGPUCSRUpload(A));
      t[3][r] = Lap(&since);
    }
    PetscCall(Apply(operation, B, plain, left, right));
    t[0][r] = Lap(&since);
    PetscCall(Apply(operation, A, X, left, right));
    t[1][r] = Lap(&since);
    PetscCall(MatGPUCSRUpload(A));
    t[2][r] = Lap(&since);
    PetscCall(VecDestroy(&left));
    PetscCall(VecDestroy(&right));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&X));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%s,%.2f,%.2f,%.2f,%.2f\n", Names[operation], storage, Median(repeats, t[0]), Median(repeats, t[1]), Median(repeats, t[2]), Median(repeats, t[3])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  BenchMatrix M;
  Mat         plain;
  PetscInt    grid = 100, repeats = 5, ns = 2, *ri, *ci;
  char       *storages[8];
  const char *device;
  PetscBool   set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-grid", &grid, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCheck(repeats > 0 && repeats <= MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeats must be 1 to %d", MAX);
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-storages", storages, &ns, &set));
  if (!set) {
    PetscCall(PetscStrallocpy("single", &storages[0]));
    PetscCall(PetscStrallocpy("double", &storages[1]));
    ns = 2;
  }
  BenchStencil(&M, (int)grid, 0, 1);
  PetscCall(PetscMalloc2(M.m + 1, &ri, M.nnz, &ci));
  for (int32_t i = 0; i <= M.m; i++) ri[i] = M.rowptr[i];
  for (int32_t k = 0; k < M.nnz; k++) {
    ci[k]    = M.col[k];
    M.val[k] = 1 + k % 8;
  }
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, M.m, M.n, ri, ci, M.val, &plain));
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# PETSc %d.%d.%d, gpucsr on %s, %d nonzeros, median of %d\noperation,storage,aij_ms,gpucsr_ms,then_upload_ms,refill_ms\n", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, device, (int)M.nnz,
                        (int)repeats));
  for (PetscInt s = 0; s < ns; s++) {
    for (int operation = 0; operation < OPERATIONS; operation++) PetscCall(Run((Operation)operation, plain, storages[s], repeats));
    PetscCall(PetscFree(storages[s]));
  }
  PetscCall(MatDestroy(&plain));
  PetscCall(PetscFree2(ri, ci));
  BenchMatrixDestroy(&M);
  PetscCall(PetscFinalize());
  return 0;
}
