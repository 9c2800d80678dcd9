static char help[] = "The wisdom file: a kernel is measured once for matrices with the same features. Damaged files, and a file that cannot be written.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <sys/stat.h>
#include <unistd.h>

#define WISDOM "wisdom.txt"

static PetscErrorCode Create(PetscInt n, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 9, NULL));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = 0; k <= i % 7; k++) PetscCall(MatSetValue(*A, i, (i + k * k) % n, 0.25 * (PetscReal)(1 + k), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGPUCSRSetSelect(*A, MAT_GPUCSR_SELECT_MEASURE));
  PetscCall(MatGPUCSRSetTranspose(*A, MAT_GPUCSR_TRANSPOSE_LAZY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a matrix and gets its kernel. */
static PetscErrorCode GetKernel(PetscInt n, MatGPUCSRStorage storage, char kernel[64])
{
  MatGPUCSRInfo info;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(Create(n, &A));
  PetscCall(MatGPUCSRSetStorage(A, storage));
  PetscCall(MatGPUCSRUpload(A));
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCall(PetscStrncpy(kernel, info.kernel, 64));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Read(char text[4096])
{
  FILE *file = fopen(WISDOM, "r");

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s does not exist", WISDOM);
  text[fread(text, 1, 4095, file)] = 0;
  (void)fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Write(const char text[])
{
  FILE *file = fopen(WISDOM, "w");

  PetscFunctionBeginUser;
  PetscCheck(file && fputs(text, file) >= 0 && !fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", WISDOM);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectLines(const char *what, int expected)
{
  char text[4096];
  int  lines = 0;

  PetscFunctionBeginUser;
  PetscCall(Read(text));
  for (const char *c = text; *c; c++) lines += *c == '\n';
  PetscCheck(lines == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d lines, expected %d: %s", what, lines, expected, text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the kernel in the last line of the file. */
static PetscErrorCode Rename(const char from[], const char to[])
{
  char text[4096], changed[4096], *at;

  PetscFunctionBeginUser;
  PetscCall(Read(text));
  PetscCall(PetscStrrstr(text, from, &at));
  PetscCheck(at, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is not in %s", from, text);
  *at = 0;
  PetscCall(PetscSNPrintf(changed, sizeof(changed), "%s%s%s", text, to, at + strlen(from)));
  PetscCall(Write(changed));
  PetscCall(PetscGPUCSRSetWisdom(WISDOM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refuse(const char text[], PetscErrorCode expected)
{
  PetscErrorCode err;

  PetscFunctionBeginUser;
  PetscCall(Write(text));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = PetscGPUCSRSetWisdom(WISDOM);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s': error code %d, expected %d", text, (int)err, (int)expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char           first[64], kernel[64];
  PetscErrorCode err;
  PetscBool      same;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  (void)remove(WISDOM);
  PetscCall(PetscGPUCSRSetWisdom(WISDOM));
  PetscCall(GetKernel(300, MAT_GPUCSR_STORAGE_SINGLE, first));
  PetscCall(ExpectLines("a matrix", 2)); /* and the head */
  PetscCall(GetKernel(300, MAT_GPUCSR_STORAGE_SINGLE, kernel));
  PetscCall(PetscStrcmp(first, kernel, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "kernels %s and %s", first, kernel);
  PetscCall(ExpectLines("the same features", 2));
  PetscCall(GetKernel(300, MAT_GPUCSR_STORAGE_DOUBLE, kernel));
  PetscCall(ExpectLines("other storage", 3));
  PetscCall(GetKernel(301, MAT_GPUCSR_STORAGE_SINGLE, first));
  PetscCall(ExpectLines("another size", 4));
  /* a run that reads the file: the kernel in the file is used, whichever is the fastest */
  PetscCall(PetscStrcmp(first, "csrvector32", &same));
  PetscCall(Rename(first, same ? "csrscalar" : "csrvector32"));
  PetscCall(GetKernel(301, MAT_GPUCSR_STORAGE_SINGLE, kernel));
  PetscCall(PetscStrcmp(kernel, same ? "csrscalar" : "csrvector32", &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "kernel %s is not that of the file", kernel);
  PetscCall(ExpectLines("a known matrix", 4));
  PetscCall(Rename(kernel, "kernelofanotherversion"));
  PetscCall(GetKernel(301, MAT_GPUCSR_STORAGE_SINGLE, kernel));
  PetscCall(ExpectLines("an unknown kernel", 5));
  PetscCall(PetscGPUCSRSetWisdom(NULL));
  PetscCall(GetKernel(302, MAT_GPUCSR_STORAGE_SINGLE, kernel));
  PetscCall(ExpectLines("no file", 5));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "kernels are measured once\n"));

  PetscCall(Refuse("host single mult 3 3 5 0 csrscalar 1.5", PETSC_ERR_FILE_READ)); /* the line does not end */
  PetscCall(Refuse("host single mult 3 3 5 csrscalar 1.5\n", PETSC_ERR_FILE_READ));
  PetscCall(Refuse("host half mult 3 3 5 0 csrscalar 1.5\n", PETSC_ERR_FILE_READ));
  PetscCall(Refuse("# a comment\n\nhost single multadd 3 3 5 0f csrscalar 1.5\n", PETSC_SUCCESS));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = PetscGPUCSRSetWisdom("nosuchfolder/wisdom.txt");
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a folder that does not exist is no error");
  /* the folder disappears after the check */
  PetscCheck(!mkdir("folder", 0777), PETSC_COMM_SELF, PETSC_ERR_SYS, "mkdir()");
  PetscCall(PetscGPUCSRSetWisdom("folder/wisdom.txt"));
  PetscCheck(!rmdir("folder"), PETSC_COMM_SELF, PETSC_ERR_SYS, "rmdir()");
  PetscCall(Create(303, &A));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = MatGPUCSRUpload(A);
  PetscCall(PetscPopErrorHandler());
  PetscCall(MatDestroy(&A));
  PetscCheck(err, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a file that cannot be written is no error");
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "damaged files are refused\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
TEST*/
