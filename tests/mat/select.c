static char help[] = "Selection of the kernel of a MATGPUCSR: modes, memory limit, kernel set by name. The products are right and the selection is reported.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"

/* A 400 x 300 matrix with long and short rows, which simple formats do not support. */
static PetscErrorCode Create(Mat *A)
{
  PetscInt seed = 1;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, 400, 300, 400, 300));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 300, NULL));
  for (PetscInt i = 0; i < 400; i++) {
    for (PetscInt k = 0; k < (i % 100 == 7 ? 250 : i % 9); k++) {
      seed = (seed * 7919 + 13) % 100003;
      PetscCall(MatSetValue(*A, i, seed % 300, (PetscReal)(seed % 17) - 8.25, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The 2000 x 2000 matrix of the second difference: nearly all rows have the same pattern. */
static PetscErrorCode CreateConstant(Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, 2000, 2000, 2000, 2000));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 3, NULL));
  for (PetscInt i = 0; i < 2000; i++) {
    for (PetscInt j = PetscMax(i - 1, 0); j <= PetscMin(i + 1, 1999); j++) PetscCall(MatSetValue(*A, i, j, i == j ? 2 : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares both products with those of plain AIJ. */
static PetscErrorCode Compare(Mat A)
{
  Mat       B;
  Vec       x, y, u, v;
  PetscReal error[2], size;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecDuplicate(x, &u));
  PetscCall(VecDuplicate(y, &v));
  for (int t = 0; t < 2; t++) {
    PetscCall(VecSetRandom(t ? y : x, NULL));
    if (t) PetscCall(MatMultTranspose(A, y, x));
    else PetscCall(MatMult(A, x, y));
    if (t) PetscCall(MatMultTranspose(B, y, u));
    else PetscCall(MatMult(B, x, v));
    PetscCall(VecNorm(t ? u : v, NORM_2, &size));
    PetscCall(VecAXPY(t ? u : v, -1, t ? x : y));
    PetscCall(VecNorm(t ? u : v, NORM_2, &error[t]));
    PetscCheck(error[t] <= 1e-13 * size, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s differs by %g from AIJ", t ? "MatMultTranspose" : "MatMult", (double)(error[t] / size));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks whether the output of -mat_view ::ascii_info contains the words. */
static PetscErrorCode Told(Mat A, const char words[], PetscBool expected)
{
  PetscViewer viewer;
  char        text[16384], *found;
  FILE       *file = tmpfile();

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot create a temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerFlush(viewer));
  rewind(file);
  text[fread(text, 1, sizeof(text) - 1, file)] = 0;
  PetscCall(PetscViewerDestroy(&viewer));
  (void)fclose(file);
  PetscCall(PetscStrstr(text, words, &found));
  PetscCheck(!found == !expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The view %s '%s': %s", expected ? "does not contain" : "contains", words, text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets values that are all different. The pattern stays. */
static PetscErrorCode Spread(Mat A)
{
  PetscScalar    *val;
  const PetscInt *rowptr;
  PetscInt        m;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &rowptr, NULL, &done));
  PetscCall(MatSeqAIJGetArray(A, &val));
  for (PetscInt k = 0; k < rowptr[m]; k++) val[k] = 1 + k / 8192.0;
  PetscCall(MatSeqAIJRestoreArray(A, &val));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &m, &rowptr, NULL, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every option applies to the blocks of a parallel matrix, also after a product. */
static PetscErrorCode Parallel(void)
{
  Mat             A;
  MatGPUCSRInfo   info;
  const PetscReal limits[] = {1e9, 1, -1};
  const PetscBool fits[]   = {PETSC_TRUE, PETSC_FALSE, PETSC_TRUE};
  PetscErrorCode  failed;
  PetscBool       same;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, 400, 300, 400, 300));
  PetscCall(MatSetType(A, MATMPIAIJGPUCSR));
  PetscCall(MatMPIAIJSetPreallocation(A, 10, NULL, 0, NULL));
  for (PetscInt k = 0; k < 4000; k++) PetscCall(MatSetValue(A, k % 400, (k * 7 + k / 400 * 31) % 300, 1 + k % 3, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGPUCSRSetKernel(A, "csrsplit"));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(limits); k++) {
    PetscCall(MatGPUCSRSetMemoryLimit(A, limits[k]));
    PetscCall(MatGPUCSRGetInfo(A, &info));
    PetscCall(PetscStrcmp(info.kernel, "csrsplit", &same));
    PetscCheck(same == fits[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Limit %g: kernel %s", (double)limits[k], info.kernel);
  }
  PetscCall(MatGPUCSRSetKernel(A, "auto"));
  PetscCall(MatGPUCSRSetSelect(A, MAT_GPUCSR_SELECT_FIXED));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCall(Told(A, "measured", PETSC_FALSE));
  PetscCall(MatGPUCSRSetSelect(A, MAT_GPUCSR_SELECT_MEASURE));
  PetscCall(Told(A, "; measured ", PETSC_TRUE));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  failed = MatGPUCSRSetSelect(A, (MatGPUCSRSelect)3);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(failed == PETSC_ERR_ARG_OUTOFRANGE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatGPUCSRSetSelect() accepted an invalid mode");
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "options apply to a parallel matrix\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat           A;
  MatGPUCSRInfo info;
  PetscBool     same;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(Create(&A));
  PetscCall(Compare(A));
  PetscCall(MatGPUCSRSetSelect(A, MAT_GPUCSR_SELECT_FIXED));
  PetscCall(Compare(A));
  PetscCall(Told(A, "measured", PETSC_FALSE));
  PetscCall(Told(A, "model of", PETSC_FALSE));
  PetscCall(MatGPUCSRSetSelect(A, MAT_GPUCSR_SELECT_MEASURE));
  PetscCall(Compare(A));
  PetscCall(Told(A, "; measured ", PETSC_TRUE));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "model, fixed, measure: right products, selection reported\n"));

  PetscCall(MatGPUCSRSetKernel(A, "csrsplit"));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCall(PetscStrcmp(info.kernel, "csrsplit", &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Kernel %s", info.kernel);
  PetscCall(MatGPUCSRSetMemoryLimit(A, 1)); /* only compressed rows are allowed, and no memory beyond them */
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCall(PetscStrcmp(info.kernel, "csrsplit", &same));
  PetscCheck(!same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The tiles exceed the limit");
  PetscCall(Told(A, "not csrsplit: its", PETSC_TRUE));
  PetscCall(Compare(A));
  PetscCall(MatGPUCSRSetMemoryLimit(A, 1e9));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCall(PetscStrcmp(info.kernel, "csrsplit", &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The limit suffices, but the kernel is %s", info.kernel);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "a memory limit selects compressed rows and is reported\n"));

  PetscCall(MatDestroy(&A));
  PetscCall(CreateConstant(&A));
  PetscCall(MatGPUCSRSetKernel(A, "rowcode"));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCall(PetscStrcmp(info.kernel, "rowcode", &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Kernel %s", info.kernel);
  PetscCall(Compare(A));
  PetscCall(Spread(A));
  PetscCall(Compare(A));
  PetscCall(Told(A, "not rowcode: ", PETSC_TRUE));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "values that exceed the dictionary lead to a new selection\n"));
  PetscCall(MatDestroy(&A));
  PetscCall(Parallel());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      args: -mat_gpucsr_select {{model measure fixed}}
      output_file: output/select_1.out

TEST*/
