static char help[] = "Vectors of type gpu in device memory of the caller: operations, access by the host, VecPlaceArray(), VecReplaceArray(), products.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "gpucsrdevice.h"

#define LOCAL 50

typedef struct {
  GpDev  dev;
  double host[LOCAL], *device;
} Memory;

static PetscErrorCode MemoryCreate(Memory *M)
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscGPUCSRGetDevice(&M->dev));
  PetscCall(PetscGPUCSRDeviceMalloc(M->dev, "a test", sizeof(M->host), &M->device));
  for (int i = 0; i < LOCAL; i++) M->host[i] = 1 + rank + 0.25 * i;
  PetscCall(PetscGPUCSRDeviceCopyIn(M->dev, M->device, M->host, sizeof(M->host)));
  PetscCall(PetscGPUCSRDeviceSynchronize(M->dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the memory of the caller with the values of a standard vector. */
static PetscErrorCode Expect(const char *what, Memory *M, Vec v)
{
  const PetscScalar *a;
  double             b[LOCAL];

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRDeviceCopyOut(M->dev, b, M->device, sizeof(b)));
  PetscCall(PetscGPUCSRDeviceSynchronize(M->dev));
  PetscCall(VecGetArrayRead(v, &a));
  for (int i = 0; i < LOCAL; i++) PetscCheck(a[i] == b[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %d is %g in the memory of the caller, expected %g", what, i, b[i], a[i]);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectEqual(const char *what, Vec u, Vec v)
{
  const PetscScalar *a, *b;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(u, &a));
  PetscCall(VecGetArrayRead(v, &b));
  for (int i = 0; i < LOCAL; i++) PetscCheck(a[i] == b[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %d is %g, expected %g", what, i, a[i], b[i]);
  PetscCall(VecRestoreArrayRead(v, &b));
  PetscCall(VecRestoreArrayRead(u, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Memory *M, PetscBool mpi, Vec *v, Vec *standard)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MemoryCreate(M));
  if (mpi) PetscCall(VecCreateMPIGPUWithArray(PETSC_COMM_WORLD, 5, LOCAL, PETSC_DETERMINE, M->device, v));
  else PetscCall(VecCreateSeqGPUWithArray(PETSC_COMM_SELF, 5, LOCAL, M->device, v));
  PetscCall(VecCreateMPI(mpi ? PETSC_COMM_WORLD : PETSC_COMM_SELF, LOCAL, PETSC_DETERMINE, standard));
  PetscCall(VecGetArrayWrite(*standard, &a));
  PetscCall(PetscArraycpy(a, M->host, LOCAL));
  PetscCall(VecRestoreArrayWrite(*standard, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Memory *M, Vec *v, Vec *standard)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(v));
  PetscCall(Expect("VecDestroy()", M, *standard)); /* the memory of the caller outlives the vector */
  PetscCall(VecDestroy(standard));
  PetscCall(PetscGPUCSRDeviceFree(M->dev, sizeof(M->host), &M->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOperations(PetscBool mpi)
{
  Memory             M;
  Vec                v, w, s;
  const PetscScalar *there;
  PetscScalar       *write;
  PetscReal          norm[2];
  PetscInt           first, bs;

  PetscFunctionBeginUser;
  PetscCall(Create(&M, mpi, &v, &s));
  PetscCall(VecGetBlockSize(v, &bs));
  PetscCheck(bs == 5, PETSC_COMM_SELF, PETSC_ERR_PLIB, "block size %d", (int)bs);
  PetscCall(ExpectEqual("creation", v, s));
  PetscCall(VecNorm(v, NORM_1, &norm[0]));
  PetscCall(VecNorm(s, NORM_1, &norm[1]));
  PetscCheck(norm[0] == norm[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "norm %g, expected %g", (double)norm[0], (double)norm[1]);
  PetscCall(VecScale(v, 0.5));
  PetscCall(VecScale(s, 0.5));
  PetscCall(Expect("VecScale()", &M, s));
  PetscCall(VecDuplicate(v, &w));
  PetscCall(VecCopy(v, w));
  PetscCall(VecAXPY(w, 2, v));
  PetscCall(Expect("a duplicate", &M, s)); /* has memory of its own */
  PetscCall(VecDestroy(&w));
  PetscCall(VecGetOwnershipRange(v, &first, NULL));
  PetscCall(VecSetValue(v, first + 3, -7, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscCall(VecSetValue(s, first + 3, -7, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(s));
  PetscCall(VecAssemblyEnd(s));
  PetscCall(VecGPUGetDeviceArrayRead(v, &there)); /* brings what the host wrote */
  PetscCheck(there == M.device, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the values are in other memory");
  PetscCall(VecGPURestoreDeviceArrayRead(v, &there));
  PetscCall(Expect("VecSetValue()", &M, s));
  PetscCall(VecGPUGetDeviceArrayWrite(v, &write));
  PetscCall(PetscGPUCSRDeviceCopyIn(M.dev, M.device, M.host, sizeof(M.host))); /* the caller writes */
  PetscCall(PetscGPUCSRDeviceSynchronize(M.dev));
  PetscCall(VecGPURestoreDeviceArrayWrite(v, &write));
  PetscCall(VecScale(v, 2));
  for (int i = 0; i < LOCAL; i++) PetscCall(VecSetValue(s, first + i, 2 * M.host[i], INSERT_VALUES));
  PetscCall(VecAssemblyBegin(s));
  PetscCall(VecAssemblyEnd(s));
  PetscCall(ExpectEqual("a write by the caller", v, s));
  PetscCall(Destroy(&M, &v, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPlacedArrays(PetscBool mpi)
{
  Memory       M;
  Vec          v, s;
  PetscScalar *array, other[LOCAL];

  PetscFunctionBeginUser;
  PetscCall(Create(&M, mpi, &v, &s));
  for (int i = 0; i < LOCAL; i++) other[i] = 100 + i;
  PetscCall(VecPlaceArray(v, other));
  PetscCall(VecScale(v, 3)); /* on the device */
  PetscCall(Expect("VecPlaceArray()", &M, s));
  PetscCall(VecResetArray(v));
  for (int i = 0; i < LOCAL; i++) PetscCheck(other[i] == 3 * (100 + i), PETSC_COMM_SELF, PETSC_ERR_PLIB, "entry %d of the placed array is %g", i, (double)other[i]);
  PetscCall(ExpectEqual("VecResetArray()", v, s));
  PetscCall(VecShift(v, 1));
  PetscCall(VecShift(s, 1));
  PetscCall(Expect("VecShift()", &M, s));
  PetscCall(VecPlaceArray(v, other));
  PetscCall(VecSet(v, 1));
  PetscCall(VecResetArray(v));
  PetscCall(PetscMalloc1(LOCAL, &array));
  for (int i = 0; i < LOCAL; i++) array[i] = -i;
  PetscCall(VecReplaceArray(v, array)); /* the vector no longer uses the memory of the caller */
  PetscCall(VecScale(v, 2));
  PetscCall(Destroy(&M, &v, &s));
  /* destroyed while another array is placed */
  PetscCall(Create(&M, mpi, &v, &s));
  PetscCall(VecPlaceArray(v, other));
  PetscCall(VecScale(v, 2));
  PetscCall(Destroy(&M, &v, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product writes its result to the memory of the caller. */
static PetscErrorCode TestProduct(void)
{
  Memory   M;
  Mat      A;
  Vec      x, y, s;
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(Create(&M, PETSC_TRUE, &y, &s));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, LOCAL, LOCAL, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(A, MATGPUCSR));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end; i++) PetscCall(MatSetValue(A, i, i, 2, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(VecDuplicate(y, &x));
  PetscCall(VecSet(x, 1.5));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecSet(s, 3));
  PetscCall(Expect("MatMult()", &M, s));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(Destroy(&M, &y, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscErrorCode err;
  PetscMPIInt    size;
  Vec            v = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int mpi = size > 1; mpi < 2; mpi++) {
    PetscCall(TestOperations((PetscBool)mpi));
    PetscCall(TestPlacedArrays((PetscBool)mpi));
  }
  PetscCall(TestProduct());
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = VecCreateSeqGPUWithArray(PETSC_COMM_SELF, 1, LOCAL, NULL, &v);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err == PETSC_ERR_ARG_NULL && !v, PETSC_COMM_SELF, PETSC_ERR_PLIB, "NULL is no error");
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "vectors use the memory of the caller\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2}}
    args: -vec_gpu_separate {{0 1}}
TEST*/
