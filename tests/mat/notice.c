static char help[] = "The notice that single storage rounded values although nobody requested single storage: printed once, with counts, and suppressed if requested.\n\n\
  -unset  : removes the option -gpucsr_notice, which the test harness sets\n\
  -self   : matrices on PETSC_COMM_SELF\n\
  -update : values are rounded by an operation on the device\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <math.h>

/* Creates a diagonal 12 x 12 matrix with one more entry, `corner`, in the last column of the first row. */
static PetscErrorCode Create(MPI_Comm comm, const char prefix[], const PetscScalar value[12], PetscScalar corner, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, 12, 12));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 2, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 2, NULL, 2, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) PetscCall(MatSetValue(*A, i, i, value[i], INSERT_VALUES));
  if (!start) PetscCall(MatSetValue(*A, 0, 11, corner, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply(const char what[], Mat A)
{
  Vec           x, y;
  MatGPUCSRInfo info;
  PetscInt64    count[3];

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PetscObjectComm((PetscObject)A), "%s\n", what));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  count[0] = info.values;
  count[1] = info.rounded;
  count[2] = info.lost;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 3, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCall(PetscPrintf(PetscObjectComm((PetscObject)A), "  %" PetscInt64_FMT " values, %" PetscInt64_FMT " rounded, %" PetscInt64_FMT " lost\n", count[0], count[1], count[2]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscScalar exact[12] = {1, 2, 3, 4, 5, 6, 7, 8, -0.5, 0, 0x1p-149, 0x1.fffffep127};
  const PetscScalar mixed[12] = {1, 0.1, 1.0 / 3, 1e-46, 1e-44, 1e-45, INFINITY, -0.1, 2, 3, 1e-40, 5};
  Mat               A, B;
  PetscBool         self = PETSC_FALSE, unset = PETSC_FALSE, update = PETSC_FALSE;
  MPI_Comm          comm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PETSC_STDERR = PETSC_STDOUT; /* so that the notice appears in order with the output of the test */
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-self", &self, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-unset", &unset, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-update", &update, NULL));
  if (unset) PetscCall(PetscOptionsClearValue(NULL, "-gpucsr_notice"));
  comm = self ? PETSC_COMM_SELF : PETSC_COMM_WORLD;
  PetscCall(Create(comm, NULL, exact, 0.25, &A));
  PetscCall(Multiply("values that single precision holds", A));
  if (update) {
    PetscCall(MatShift(A, 0.1));
    PetscCall(Multiply("shifted", A));
  }
  PetscCall(Create(comm, "a_", mixed, -0.7, &B));
  PetscCall(MatGPUCSRSetStorage(B, MAT_GPUCSR_STORAGE_SINGLE));
  PetscCall(Multiply("single storage set by the program", B));
  PetscCall(MatDestroy(&B));
  PetscCall(Create(comm, "b_", mixed, -0.7, &B));
  PetscCall(PetscGPUCSRSetNotice(PETSC_FALSE));
  PetscCall(Multiply("the program reports rounding itself", B));
  PetscCall(PetscGPUCSRSetNotice(PETSC_TRUE));
  PetscCall(MatDestroy(&B));
  PetscCall(MatScale(A, 0.3)); /* done on the image in place, unless values overflow, which leads to an upload */
  PetscCall(MatZeroEntries(A));
  PetscCall(Multiply("zeros", A));
  PetscCall(Create(comm, "c_", mixed, -0.7, &B));
  PetscCall(Multiply("values that single precision does not hold", B));
  PetscCall(Multiply("again", B));
  PetscCall(MatShift(A, 0.1));
  PetscCall(Multiply("another matrix", A));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      args: -unset
      nsize: {{1 3}}
      test:
         suffix: default
      # explicitly single, for all matrices or for one: the notice is then of another matrix, or there is none
      test:
         suffix: explicit
         args: -gpucsr_storage single
      test:
         suffix: prefix
         args: -c_mat_gpucsr_storage single
      test:
         suffix: double
         args: -gpucsr_storage double -a_mat_gpucsr_storage single
      test:
         suffix: update
         args: -update

   test:
      suffix: off
      nsize: {{1 3}}
      args: -gpucsr_notice 0
      output_file: output/notice_explicit.out

   # sequential matrices of several processes: each process tells of its own
   test:
      suffix: self
      nsize: 2
      args: -self -unset
      filter: grep gpucsr | sort

   # the option is stronger than the function
   test:
      suffix: on
      args: -gpucsr_notice 1

TEST*/
