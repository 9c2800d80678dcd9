static char help[] = "Products of MATGPUCSR, compared with those of MATAIJ: with and without a vector to add, A and its transpose, several numbers of ranks.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"

/* An m x n matrix with a band, a few entries far from it, some empty rows and one full row. All values are exact in single precision. */
static PetscErrorCode Fill(Mat A)
{
  PetscInt m, n, start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &m, &n));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    if (i % 7 == 3) continue;
    for (PetscInt k = 0; k < (i == m / 2 ? n : 6); k++) {
      const PetscInt    j = i == m / 2 ? k : (i + k * k * 5) % n;
      const PetscScalar v = (PetscScalar)(1 + (i * 31 + j * 17) % 97) / 64.0;

      PetscCall(MatSetValue(A, i, j, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MatType type, PetscInt m, PetscInt n, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, m, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, PetscMax(n, 6), NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, PetscMax(n, 6), NULL, PetscMax(n, 6), NULL));
  PetscCall(Fill(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same(const char what[], Vec expected, Vec got)
{
  PetscReal scale, error;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(got, NORM_2, &error)); /* must not be the cached norm from before the product */
  PetscCall(VecNorm(expected, NORM_INFINITY, &scale));
  PetscCall(VecAXPY(got, -1, expected));
  PetscCall(VecNorm(got, NORM_INFINITY, &error));
  PetscCheck(error <= 1e-13 * (1 + scale), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s differs by %g of %g", what, (double)error, (double)scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(Mat A, Mat G, PetscRandom random)
{
  Vec       u, v, ug, vg, zu, zv;
  PetscBool square;
  PetscInt  m, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &m, &n));
  square = (PetscBool)(m == n);
  PetscCall(MatCreateVecs(A, &u, &v));
  PetscCall(VecDuplicate(u, &ug));
  PetscCall(VecDuplicate(v, &vg));
  PetscCall(VecDuplicate(u, &zu));
  PetscCall(VecDuplicate(v, &zv));
  PetscCall(VecSetRandom(u, random));
  PetscCall(VecSetRandom(zu, random));
  PetscCall(VecSetRandom(zv, random));
  for (int pass = 0; pass < 2; pass++) { /* the second pass uploads nothing */
    PetscCall(MatMult(A, u, v));
    PetscCall(VecSet(vg, 7));
    PetscCall(MatMult(G, u, vg));
    PetscCall(Same("MatMult", v, vg));
    PetscCall(MatMultAdd(A, u, zv, v));
    PetscCall(MatMultAdd(G, u, zv, vg));
    PetscCall(Same("MatMultAdd", v, vg));
    PetscCall(VecCopy(zv, vg));
    PetscCall(MatMultAdd(G, u, vg, vg));
    PetscCall(Same("MatMultAdd in place", v, vg));
    PetscCall(VecCopy(zv, v));
    PetscCall(MatMultTranspose(A, v, zu));
    PetscCall(MatMultTranspose(G, v, ug));
    PetscCall(Same("MatMultTranspose", zu, ug));
    PetscCall(MatMultHermitianTranspose(G, v, ug));
    PetscCall(Same("MatMultHermitianTranspose", zu, ug));
    if (square) { /* for a rectangular matrix, MatMultTransposeAdd() needs vectors of other sizes */
      PetscCall(MatMultTransposeAdd(A, v, u, zu));
      PetscCall(MatMultTransposeAdd(G, v, u, ug));
      PetscCall(Same("MatMultTransposeAdd", zu, ug));
      PetscCall(MatMultHermitianTransposeAdd(G, v, u, ug));
      PetscCall(Same("MatMultHermitianTransposeAdd", zu, ug));
      PetscCall(VecCopy(u, ug));
      PetscCall(MatMultTransposeAdd(G, v, ug, ug));
      PetscCall(Same("MatMultTransposeAdd in place", zu, ug));
    }
    PetscCall(VecSetRandom(zu, random));
  }
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&ug));
  PetscCall(VecDestroy(&vg));
  PetscCall(VecDestroy(&zu));
  PetscCall(VecDestroy(&zv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt sizes[][2] = {{1, 1}, {2, 9}, {40, 40}, {57, 23}, {23, 57}, {600, 600}};
  PetscRandom    random;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetFromOptions(random));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++) {
    Mat A, G;

    PetscCall(Create(MATAIJ, sizes[s][0], sizes[s][1], &A));
    PetscCall(Create(MATGPUCSR, sizes[s][0], sizes[s][1], &G));
    PetscCall(Compare(A, G, random));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " x %" PetscInt_FMT ": the products agree\n", sizes[s][0], sizes[s][1]));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&G));
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/mult.out
      nsize: {{1 2 3 4}}
      test:
         suffix: kernels
         args: -mat_gpucsr_kernel {{auto csrscalar csrvector2 csrvector32 csrsplit csrlist team}}
      test:
         suffix: storage
         args: -mat_gpucsr_storage {{single double}} -mat_gpucsr_transpose {{eager lazy}}
      test:
         suffix: halo
         args: -mat_gpucsr_halo_type {{auto host}}
      test:
         suffix: stream
         args: -mat_gpucsr_stream always -mat_gpucsr_stream_chunk 16384 -mat_gpucsr_stream_resident {{0 20000 1e9}}
      test:
         suffix: mpi
         args: -mat_gpucsr_halo_type mpi -gpucsr_device host

TEST*/
