static char help[] = "The state of a VECGPU is separate from the data of its parent type, whatever their size, and from data that other libraries attach to the vector.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petsc/private/vecimpl.h>

#define LARGE 16384 /* bytes; more than the data of any release of PETSc */

static PetscErrorCode (*CreateParent)(Vec);

/* The parent type as a later release might have it: its data are larger, and all of them are used. */
static PetscErrorCode CreateLargeParent(Vec v)
{
  PetscFunctionBeginUser;
  PetscCall((*CreateParent)(v));
  PetscCall(PetscRealloc(LARGE, &v->data));
  PetscCall(PetscMemzero((char *)v->data + 512, LARGE - 512));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckParentData(Vec v)
{
  PetscFunctionBeginUser;
  for (size_t i = 512; i < LARGE; i++) PetscCheck(!((char *)v->data)[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Byte %d of the parent's data was changed", (int)i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(Vec v, PetscScalar value)
{
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt i = 0; i < n; i++) PetscCheck(a[i] == value, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entry %" PetscInt_FMT " is %g, not %g", i, (double)a[i], (double)value);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another library attaches its own data before and after gpucsr. They are so many that PETSc reallocates its tables. */
static PetscErrorCode AttachMany(Vec v, PetscBool write)
{
  static PetscInt ids[25], done = 0;

  PetscFunctionBeginUser;
  for (; done < 25; done++) PetscCall(PetscObjectComposedDataRegister(&ids[done]));
  for (int k = 0; k < 25; k++) {
    PetscInt *data = NULL;
    PetscBool current;

    if (write) {
      PetscCall(PetscMalloc1(1, &data));
      *data = 1000 + k;
      PetscCall(PetscObjectComposedDataSetIntstar((PetscObject)v, ids[k], data));
    } else {
      PetscCall(PetscObjectComposedDataGetIntstar((PetscObject)v, ids[k], data, current));
      (void)current;
      PetscCheck(data && *data == 1000 + k, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The data with number %d attached by another library were changed", k);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Vec         v, w, *many;
  PetscMPIInt size;
  PetscBool   gpu;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscFunctionListFind(VecList, size == 1 ? VECSEQ : VECMPI, &CreateParent));
  PetscCall(VecRegister(size == 1 ? VECSEQ : VECMPI, CreateLargeParent));

  PetscCall(VecCreate(PETSC_COMM_WORLD, &v));
  PetscCall(VecSetSizes(v, 40, PETSC_DECIDE));
  PetscCall(VecSetType(v, VECGPU));
  PetscCall(VecSet(v, 2));
  PetscCall(VecDuplicate(v, &w));
  PetscCall(AttachMany(v, PETSC_TRUE));
  PetscCall(VecSet(w, 3)); /* the duplicate has its own memory */
  PetscCall(VecAXPY(v, 2, w));
  PetscCall(Check(v, 8));
  PetscCall(Check(w, 3));
  PetscCall(CheckParentData(v));
  PetscCall(CheckParentData(w));
  PetscCall(AttachMany(v, PETSC_FALSE));

  PetscCall(VecDuplicateVecs(v, 3, &many));
  for (int k = 0; k < 3; k++) PetscCall(VecSet(many[k], k + 1));
  PetscCall(VecMAXPY(v, 3, (PetscScalar[]){1, 10, 100}, many));
  PetscCall(Check(v, 329));
  for (int k = 0; k < 3; k++) PetscCall(Check(many[k], k + 1));
  PetscCall(VecDestroyVecs(3, &many));

  /* to another type and back: the state of gpu is destroyed with the type, the data of other libraries stay */
  PetscCall(VecSetType(v, VECSTANDARD));
  PetscCall(AttachMany(v, PETSC_FALSE));
  PetscCall(VecSet(v, 5));
  PetscCall(VecSetType(v, VECGPU));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &gpu, VECSEQGPU, VECMPIGPU, ""));
  PetscCheck(gpu, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecSetType() did not restore the type");
  PetscCall(VecSet(v, 6));
  PetscCall(VecAXPY(v, 1, w));
  PetscCall(Check(v, 9));
  PetscCall(CheckParentData(v));
  PetscCall(AttachMany(v, PETSC_FALSE));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&v));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the state of gpu vectors is separate from other data\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: apart
      nsize: {{1 2}}
      args: -vec_gpu_separate {{0 1}}

TEST*/
