static char help[] = "Stream auto: if an allocation of the ordinary set-up fails, the matrix is streamed and its products stay right.\n\n\
  -rows n : rows of the matrix\n\n";

#include "device/gpdeviceimpl.h"
#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

#define SMALL 40000 /* bytes of the allocations that never fail: vectors, and buffers of streamed matrices */

static GpDevOps        Ops;
static const GpDevOps *Real;
static size_t          Bound;     /* larger allocations fail */
static PetscInt        Countdown; /* number of allocations above SMALL before all of them fail; negative: they do not fail */
static PetscInt        Failures;

static GpErr Refuse(GpDev dev, size_t bytes, void **ptr, GpErr (*take)(GpDev, size_t, void **))
{
  const PetscBool fails = (PetscBool)(bytes > Bound || (bytes > SMALL && !Countdown));

  if (bytes > SMALL && Countdown > 0) Countdown--;
  if (!fails) return take(dev, bytes, ptr);
  Failures++;
  *ptr = NULL;
  return GpDevFail(dev, GP_ERR_MEMORY, "out of device memory: the test refuses %zu bytes", bytes);
}

static GpErr RefuseAlloc(GpDev dev, size_t bytes, void **ptr)
{
  return Refuse(dev, bytes, ptr, Real->alloc);
}

static GpErr RefuseBorrow(GpDev dev, size_t bytes, void **ptr)
{
  return Refuse(dev, bytes, ptr, Real->borrow);
}

static PetscErrorCode Same(const char *what, Mat A, Mat B, Vec v[4])
{
  PetscReal error, norm;

  PetscFunctionBeginUser;
  for (int t = 0; t < 2; t++) {
    Vec x = v[2 * t], y = v[2 * t + 1];

    PetscCall(t ? MatMultTranspose(A, x, y) : MatMult(A, x, y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(VecScale(y, -1));
    PetscCall(t ? MatMultTransposeAdd(B, x, y, y) : MatMultAdd(B, x, y, y));
    PetscCall(VecNorm(y, NORM_2, &error));
    PetscCheck(error <= 1e-13 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s%s: error %g of %g", what, t ? ", transpose" : "", (double)error, (double)norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products, a change of the values and products again. B is a plain copy of the matrix. */
static PetscErrorCode Use(Mat B, MatGPUCSRTranspose transpose, PetscBool *streamed)
{
  MatGPUCSRStreamInfo info;
  Mat                 A, C;
  Vec                 v[4];

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
  PetscCall(MatConvert(B, MATGPUCSR, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatGPUCSRSetTranspose(A, transpose));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_DOUBLE));
  PetscCall(MatGPUCSRSetStreamChunk(A, 4096));
  PetscCall(MatCreateVecs(B, &v[0], &v[1]));
  PetscCall(MatCreateVecs(B, &v[3], &v[2]));
  for (int k = 0; k < 4; k += 2) PetscCall(VecSetRandom(v[k], NULL));
  PetscCall(Same("products", A, C, v));
  for (int change = 0; change < 3; change++) {
    PetscCall(MatShift(A, 0.5));
    PetscCall(MatShift(C, 0.5));
    PetscCall(Same("new values", A, C, v));
    PetscCall(MatSetValue(A, 0, 0, 7.0 + change, INSERT_VALUES));
    PetscCall(MatSetValue(C, 0, 0, 7.0 + change, INSERT_VALUES));
    for (int k = 0; k < 2; k++) {
      PetscCall(MatAssemblyBegin(k ? A : C, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(k ? A : C, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(Same("assembled values", A, C, v));
  }
  PetscCall(MatGPUCSRGetStreamInfo(A, &info));
  *streamed = info.streamed;
  for (int k = 0; k < 4; k++) PetscCall(VecDestroy(&v[k]));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(PetscInt n, Mat *B)
{
  PetscRandom random;
  PetscInt    first, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 30, NULL, 30, NULL, B));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetFromOptions(random));
  PetscCall(MatGetOwnershipRange(*B, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    PetscCall(MatSetValue(*B, i, i, 3, INSERT_VALUES));
    for (PetscInt k = 0; k < 1 + i % 25; k++) {
      PetscReal v;

      PetscCall(PetscRandomGetValueReal(random, &v));
      PetscCall(MatSetValue(*B, i, (i * 31 + k * k * 67) % n, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal block of a parallel matrix keeps free what the off-diagonal block needs, in the precision of the storage. */
static PetscErrorCode CheckReserved(Mat B)
{
  Mat         A, block[2];
  GpOp        op[2];
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (int wide = 0; wide < 2; wide++) {
    double held;

    PetscCall(MatConvert(B, MATGPUCSR, MAT_INITIAL_MATRIX, &A));
    PetscCall(MatGPUCSRSetTranspose(A, MAT_GPUCSR_TRANSPOSE_LAZY));
    PetscCall(MatGPUCSRSetStorage(A, wide ? MAT_GPUCSR_STORAGE_DOUBLE : MAT_GPUCSR_STORAGE_SINGLE));
    PetscCall(MatMPIAIJGPUCSRGetBlocks_Private(A, block, NULL));
    PetscCall(MatMPIAIJGPUCSRGetOperators_Private(A, block, PETSC_FALSE, op));
    held = GpCsrBytes(&op[1]->side[0].csr);
    PetscCheck(((Mat_SeqAIJGPUCSR *)block[0]->spptr)->reserved_for_other >= held && held > 1000, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes are reserved for an off-diagonal block of %g", ((Mat_SeqAIJGPUCSR *)block[0]->spptr)->reserved_for_other,
               held);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev     dev;
  Mat       B;
  PetscInt  seen[2] = {0, 0}, rows = 4000;
  PetscBool streamed;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rows", &rows, NULL));
  PetscCall(Create(rows, &B));
  Bound      = SIZE_MAX;
  Countdown  = -1;
  Real       = dev->ops;
  Ops        = *Real;
  Ops.alloc  = RefuseAlloc;
  Ops.borrow = RefuseBorrow;
  dev->ops   = &Ops;
  PetscCall(CheckReserved(B));
  for (int transpose = MAT_GPUCSR_TRANSPOSE_EAGER; transpose <= (int)MAT_GPUCSR_TRANSPOSE_LAZY; transpose++) {
    for (Bound = SMALL; Bound < 3000000; Bound += Bound / 4) {
      PetscCall(Use(B, (MatGPUCSRTranspose)transpose, &streamed));
      seen[streamed]++;
    }
    Bound    = SIZE_MAX;
    Failures = 1;
    for (PetscInt k = 0; Failures; k++) {
      Failures  = 0;
      Countdown = k;
      PetscCall(Use(B, (MatGPUCSRTranspose)transpose, &streamed));
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &Failures, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
      seen[streamed]++;
    }
    Countdown = -1;
  }
  PetscCheck(seen[0] > 1 && seen[1] > 8, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%d matrices were streamed and %d were not", (int)seen[1], (int)seen[0]);
  dev->ops = Real;
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "whichever allocation fails, products are right\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: all
     nsize: {{1 2}}
     output_file: output/automatic_all.out

TEST*/
