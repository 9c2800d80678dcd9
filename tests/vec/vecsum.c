static char help[] = "VecGPUSumRanks() gives the known sums for vectors of type gpu and of PETSc's types, of several sizes in one call. All ranks get the same bits.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscvec.h>

#define VECTORS 3

/* A value that depends on the rank, the vector and the index. It is a multiple of 1/3, so that rounding makes the sum over three or more ranks depend
   on their order. */
static PetscScalar Entry(PetscMPIInt rank, PetscInt k, PetscInt i)
{
  return (1 + rank) * (1 + i % 7) / (PetscReal)(3 + k);
}

static PetscErrorCode Test(VecType type, PetscMPIInt rank, PetscMPIInt size)
{
  const PetscInt sizes[VECTORS] = {1000, 0, 31};
  Vec            v[VECTORS];
  PetscScalar   *a;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < VECTORS; k++) {
    PetscCall(VecCreate(PETSC_COMM_SELF, &v[k]));
    PetscCall(VecSetSizes(v[k], sizes[k], sizes[k]));
    PetscCall(VecSetType(v[k], type));
    PetscCall(VecSetFromOptions(v[k]));
    for (PetscInt i = 0; i < sizes[k]; i++) PetscCall(VecSetValue(v[k], i, 0.5 * Entry(rank, k, i), INSERT_VALUES));
    PetscCall(VecAssemblyBegin(v[k]));
    PetscCall(VecAssemblyEnd(v[k]));
    PetscCall(VecScale(v[k], 2)); /* the newest values are where the operations of the vector run */
  }
  PetscCall(VecGPUSumRanks(PETSC_COMM_WORLD, VECTORS, v));
  for (PetscInt k = 0; k < VECTORS; k++) {
    PetscCall(VecGetArray(v[k], &a));
    for (PetscInt i = 0; i < sizes[k]; i++) {
      const PetscReal sum   = PetscRealPart(Entry(0, k, i)) * size * (size + 1) / 2;
      PetscScalar     first = a[i];

      PetscCheck(PetscAbsReal(PetscRealPart(a[i]) - sum) <= 1e-14 * sum, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, vector %" PetscInt_FMT ": entry %" PetscInt_FMT " is %.17g, not %.17g", type, k, i, (double)PetscRealPart(a[i]), (double)sum);
      PetscCallMPI(MPI_Bcast(&first, 1, MPIU_SCALAR, 0, PETSC_COMM_WORLD));
      PetscCheck(first == a[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, vector %" PetscInt_FMT ": entry %" PetscInt_FMT " differs between ranks", type, k, i);
    }
    PetscCall(VecRestoreArray(v[k], &a));
    PetscCall(VecDestroy(&v[k]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the sums are right, and the same on all ranks\n", type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecGPUSumRanks() rejects a parallel vector. */
static PetscErrorCode TestRefused(PetscMPIInt size)
{
  PetscErrorCode err;
  Vec            v;

  PetscFunctionBeginUser;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 3, PETSC_DETERMINE, &v));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = VecGPUSumRanks(PETSC_COMM_WORLD, 1, &v);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(size == 1 ? !err : err == PETSC_ERR_ARG_WRONG, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "a parallel vector gives the error code %d", (int)err);
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Test(VECGPU, rank, size));
  PetscCall(Test(VECSEQ, rank, size));
  PetscCall(TestRefused(size));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/vecsum.out
      nsize: {{1 2 3}}
      test:
         suffix: 1
      test:
         suffix: separate
         args: -vec_gpu_separate

TEST*/
