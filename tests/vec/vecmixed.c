static char help[] = "Operations on vectors of type gpu and of type cuda together give the right results and copy no vector to the host.\n\n";

#include "gpucsr.h"
#include "sys/gpucsrsys.h"
#include <petscmat.h>

#define MANY  3
#define LOCAL 1000 /* entries on a process */

/* Bytes copied between host and device so far, by gpucsr and by PETSc. */
static PetscErrorCode Copied(double *bytes)
{
  GpDev dev = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  *bytes = (double)GpDevBytesIn(dev) + (double)GpDevBytesOut(dev);
#if defined(PETSC_HAVE_DEVICE)
  *bytes += petsc_ctog_sz + petsc_gtoc_sz;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const char *what, Vec v, PetscScalar value)
{
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = 0; i < n; i++) PetscCheck(PetscAbsScalar(a[i] - value) < 1e-12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %" PetscInt_FMT " is %g, not %g", what, i, (double)a[i], (double)value);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs an operation whose operands were set on the device. If `counted` is true it must copy no vector; a few numbers are allowed. */
#define Operation(result, value, ...) \
  do { \
    double before_, after_; \
\
    PetscCall(VecSet(x, 2)); \
    PetscCall(VecSet(y, 3)); \
    PetscCall(VecSet(z, 5)); \
    for (int j_ = 0; j_ < MANY; j_++) PetscCall(VecSet(many[j_], j_ + 1)); \
    PetscCall(Copied(&before_)); \
    PetscCall((__VA_ARGS__)); \
    PetscCall(Copied(&after_)); \
    PetscCheck(!counted || after_ - before_ < LOCAL, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s copies %g bytes between host and device", #__VA_ARGS__, after_ - before_); \
    PetscCall(Check(#__VA_ARGS__, result, value)); \
  } while (0)

#define Number(number, value, ...) \
  do { \
    number = 0; \
    Operation(x, 2, __VA_ARGS__); \
    PetscCheck(PetscAbsScalar(number - (value)) < 1e-10 * (value), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s gives %g, not %g", #__VA_ARGS__, (double)number, (double)(value)); \
  } while (0)

/* y is the vector whose operation PETSc calls, or which is written. */
static PetscErrorCode Operations(Vec x, Vec y, Vec z, Vec many[], PetscBool counted)
{
  PetscBool         counts      = counted, cuda;
  const PetscScalar alpha[MANY] = {1, 10, 100};
  PetscScalar       dot, dots[MANY];
  PetscReal         n;
  PetscInt          size;

  PetscFunctionBeginUser;
  PetscCall(VecGetSize(x, &size));
  n = (PetscReal)size;
  /* VecCopy() calls the operation of x, and that of a cuda vector copies to a vector of another type through the host */
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)y, &counted, VECSEQCUDA, VECMPICUDA, ""));
  counted = (PetscBool)(counts && (!cuda || counted));
  Operation(y, 2, VecCopy(x, y));
  counted = counts;
  Operation(y, 7, VecAXPY(y, 2, x));
  Operation(y, 8, VecAYPX(y, 2, x));
  Operation(y, 13, VecAXPBY(y, 2, 3, x));
  Operation(y, 9, VecWAXPY(y, 2, x, z));
  Operation(y, 23, VecAXPBYPCZ(y, 2, 2, 3, x, z));
  Operation(y, 324, VecMAXPY(y, MANY, alpha, many));
  Operation(y, 10, VecPointwiseMult(y, x, z));
  Operation(y, 0.4, VecPointwiseDivide(y, x, z));
  Operation(y, 5, VecPointwiseMax(y, x, z));
  Number(dot, 6 * n, VecDot(y, x, &dot));
  Number(dot, 6 * n, VecTDot(y, x, &dot));
  Number(dots[2], 9 * n, VecMDot(y, MANY, many, dots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVectors(VecType type, PetscInt n, Vec *v, Vec many[])
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, n, PETSC_DECIDE));
  PetscCall(VecSetType(*v, type));
  for (int j = 0; j < MANY; j++) PetscCall(VecDuplicate(*v, &many[j]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products and scatters use vectors of both types in place. A is three times the identity. */
static PetscErrorCode ProductAndScatter(Vec x, Vec y, Vec z, Vec many[], PetscBool counted)
{
  Mat        A;
  VecScatter scatter;
  IS         is;
  PetscInt   start, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &start, &end));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, end - start, end - start, PETSC_DECIDE, PETSC_DECIDE));
  PetscCall(MatSetType(A, MATGPUCSR));
  PetscCall(MatSetUp(A));
  for (PetscInt i = start; i < end; i++) PetscCall(MatSetValue(A, i, i, 3, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y)); /* uploads the matrix */
  Operation(y, 6, MatMult(A, x, y));
  Operation(y, 11, MatMultAdd(A, x, z, y));
  /* entries of the same process, so that nothing is communicated */
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - start) / 2, start, 2, &is));
  PetscCall(VecScatterCreate(x, is, y, is, &scatter));
  PetscCall(VecScatterBegin(scatter, x, y, INSERT_VALUES, SCATTER_FORWARD)); /* allocates its buffers */
  PetscCall(VecScatterEnd(scatter, x, y, INSERT_VALUES, SCATTER_FORWARD));
  Operation(x, 2, VecScatterBegin(scatter, x, y, INSERT_VALUES, SCATTER_FORWARD) || VecScatterEnd(scatter, x, y, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&is));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Vec       gpu, cuda, other[2], many[2][MANY];
  PetscBool one = PETSC_FALSE, own;
  VecType   type;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-vec_gpu_cuda", &one, NULL));
  PetscCall(CreateVectors(VECGPU, LOCAL, &gpu, many[0]));
  PetscCall(CreateVectors(VECCUDA, LOCAL, &cuda, many[1]));
  PetscCall(VecDuplicate(gpu, &other[0]));
  PetscCall(VecDuplicate(cuda, &other[1]));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)gpu, &own, VECSEQGPU, VECMPIGPU, ""));
  PetscCall(VecGetType(gpu, &type));
  PetscCheck(own != one, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecSetType() with the type gpu created a vector of type %s", type);

  /* operations of a gpu vector with cuda operands */
  PetscCall(Operations(cuda, gpu, other[1], many[1], PETSC_TRUE));
  PetscCall(Operations(cuda, gpu, other[0], many[0], PETSC_TRUE));
  PetscCall(ProductAndScatter(cuda, gpu, other[1], many[1], PETSC_TRUE));
  PetscCall(ProductAndScatter(gpu, cuda, other[0], many[0], PETSC_TRUE));
  /* operations of a cuda vector with gpu operands: PETSc copies operands of other types to the host */
  PetscCall(Operations(gpu, cuda, other[0], many[0], one));
  PetscCall(Operations(gpu, cuda, other[1], many[1], one));
  for (int k = 0; k < 2; k++) {
    for (int j = 0; j < MANY; j++) PetscCall(VecDestroy(&many[k][j]));
    PetscCall(VecDestroy(&other[k]));
  }
  PetscCall(VecDestroy(&gpu));
  PetscCall(VecDestroy(&cuda));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "gpu and cuda vectors work together on the device\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: device
      requires: cuda
      nsize: {{1 2}}
      args: -vec_gpu_cuda {{0 1}} -mat_gpucsr_halo_type host

TEST*/
