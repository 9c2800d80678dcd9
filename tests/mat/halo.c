static char help[] = "The halo exchange between ranks: all types give the same bits, the type can change between products, unsupported types are errors.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"

/* An n x n matrix. Every row has columns of several ranks, and all ranks need some entries of x. */
static PetscErrorCode Create(MPI_Comm comm, MatType type, PetscInt n, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 6, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 6, NULL, 6, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    const PetscInt column[] = {i, (i + 1) % n, (i + n / 3) % n, (7 * i + 2) % n, 0, n / 2};

    for (int k = 0; k < 6; k++) PetscCall(MatSetValue(*A, i, column[k], (1 + (i + 5 * k) % 29) / 16.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Close(const char what[], const char type[], Vec expected, Vec got)
{
  Vec       difference;
  PetscReal error;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(expected, &difference));
  PetscCall(VecWAXPY(difference, -1, expected, got));
  PetscCall(VecNorm(difference, NORM_INFINITY, &error));
  PetscCheck(error < 1e-12, PetscObjectComm((PetscObject)expected), PETSC_ERR_PLIB, "%s, halo type %s: differs by %g", what, type, (double)error);
  PetscCall(VecDestroy(&difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same(const char what[], const char type[], Vec first, Vec got)
{
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(VecEqual(first, got, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)first), PETSC_ERR_PLIB, "%s, halo type %s: not bitwise equal to the first type", what, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products with every halo type, compared with plain AIJ and with each other. */
static PetscErrorCode Products(MPI_Comm comm, PetscInt n)
{
  const MatGPUCSRHaloType types[] = {MAT_GPUCSR_HALO_HOST, MAT_GPUCSR_HALO_MPI, MAT_GPUCSR_HALO_NCCL, MAT_GPUCSR_HALO_AUTO, MAT_GPUCSR_HALO_HOST};
  const char *const       names[] = {"host", "mpi", "nccl", "auto", "host"};
  Mat                     A, G;
  Vec                     x, y, z, gy, gz, first[2];
  const char             *device;
  PetscBool               runtime;
  PetscMPIInt             size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscStrcmp(device, "host", &runtime));
  PetscCall(Create(comm, MATAIJ, n, &A));
  PetscCall(Create(comm, MATGPUCSR, n, &G));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecDuplicate(x, &gz));
  PetscCall(VecDuplicate(x, &first[0]));
  PetscCall(VecDuplicate(x, &first[1]));
  PetscCall(VecDuplicate(y, &gy));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMultTransposeAdd(A, x, y, z));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    MatGPUCSRInfo  info;
    PetscErrorCode error;
    PetscBool      as;

    PetscCall(MatGPUCSRSetHaloType(G, types[t]));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    error = MatMult(G, x, gy);
    PetscCall(PetscPopErrorHandler());
    if (error) { /* NCCL, a GPU for every rank, or an MPI with device support may be missing; the host backend has no NCCL */
      PetscCheck((PetscInt)error == PETSC_ERR_SUP_SYS && (types[t] == MAT_GPUCSR_HALO_NCCL || (types[t] == MAT_GPUCSR_HALO_MPI && !runtime)), comm, PETSC_ERR_PLIB, "Halo type %s: error %d", names[t], (int)error);
      continue;
    }
    PetscCheck(!runtime || size == 1 || types[t] != MAT_GPUCSR_HALO_NCCL, comm, PETSC_ERR_PLIB, "The halo type nccl was accepted on the host backend");
    PetscCall(MatGPUCSRGetInfo(G, &info));
    if (size == 1) PetscCheck(!info.halo, comm, PETSC_ERR_PLIB, "One rank, but the halo type is %s", info.halo);
    PetscCall(PetscStrcmp(info.halo, names[t], &as));
    PetscCheck(size == 1 || as || types[t] == MAT_GPUCSR_HALO_AUTO, comm, PETSC_ERR_PLIB, "Halo type %s was set, but MatGPUCSRGetInfo() returns %s", names[t], info.halo);
    PetscCall(MatMultTransposeAdd(G, x, gy, gz));
    PetscCall(Close("MatMult()", names[t], y, gy));
    PetscCall(Close("MatMultTransposeAdd()", names[t], z, gz));
    if (t) {
      PetscCall(Same("MatMult()", names[t], first[0], gy));
      PetscCall(Same("MatMultTransposeAdd()", names[t], first[1], gz));
    }
    PetscCall(VecCopy(gy, first[0]));
    PetscCall(VecCopy(gz, first[1]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&gy));
  PetscCall(VecDestroy(&gz));
  PetscCall(VecDestroy(&first[0]));
  PetscCall(VecDestroy(&first[1]));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  MPI_Comm    part;
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Products(PETSC_COMM_WORLD, 200));
  PetscCall(Products(PETSC_COMM_WORLD, 7)); /* few rows on each rank */
  if (size > 2) {                           /* one rank alone, the others together. With two ranks nothing would be exchanged, and the output of both would be mixed. */
    PetscCallMPI(MPI_Comm_split(PETSC_COMM_WORLD, rank > 0, rank, &part));
    PetscCall(Products(part, 90));
    PetscCallMPI(MPI_Comm_free(&part));
  }
  PetscCall(Products(PETSC_COMM_WORLD, 150));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all halo types give the same products\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: types
      nsize: {{2 3 4}}
      output_file: output/halo_types.out

   test:
      suffix: stream
      nsize: {{2 3 4}}
      args: -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 20000
      output_file: output/halo_types.out

   testset:
      nsize: 2
      args: -mat_view ::ascii_info -mat_gpucsr_halo_view -gpucsr_device host
      filter: sed -n "s|; microseconds.*||; /boundary\|sends/p"
      test:
         suffix: view_host
         args: -mat_gpucsr_halo_type host
      test:
         suffix: view_mpi
         args: -mat_gpucsr_halo_type mpi

TEST*/
