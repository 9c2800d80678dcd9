static char help[] = "Options of MATGPUCSR: process-wide defaults, prefixes, functions, and values that are errors.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "refused.h"
#include "sys/gpucsrbytes.h"
#include <math.h>

static PetscErrorCode Create(const char prefix[], PetscBool fromoptions, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, 64, 64));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, MATGPUCSR));
  if (fromoptions) PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 2, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 2, NULL, 2, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(*A, i, i, 0.1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, 63 - i, 0.7, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(const char what[], Mat A)
{
  MatGPUCSRInfo info;
  VecType       type;
  Vec           x, y;

  PetscFunctionBeginUser;
  PetscCall(MatGPUCSRGetInfo(A, &info));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetType(x, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, %s, transpose %s, vectors %.3s, exchange %s\n", what, info.storage ? "double" : "single", info.kernel, info.kernel_transpose ? "eager" : "lazy", type + 3, info.halo ? info.halo : "none"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestDefaults(void)
{
  const char *const prefixes[] = {NULL, "a_", "b_"};
  Mat               A, T;

  PetscFunctionBeginUser;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(prefixes); p++) {
    for (int fromoptions = 0; fromoptions < 2; fromoptions++) {
      char what[64];

      PetscCall(PetscSNPrintf(what, sizeof(what), "prefix %s, MatSetFromOptions() %s", prefixes[p] ? prefixes[p] : "none", fromoptions ? "called" : "not called"));
      PetscCall(Create(prefixes[p], (PetscBool)fromoptions, &A));
      PetscCall(View(what, A));
      PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
      PetscCall(View("  its transpose, another matrix", T));
      PetscCall(MatDestroy(&T));
      PetscCall(MatDestroy(&A));
    }
  }
  /* a function call overrides the process-wide default; an option of the matrix overrides the function call */
  PetscCall(Create("a_", PETSC_TRUE, &A));
  PetscCall(MatGPUCSRSetStorage(A, MAT_GPUCSR_STORAGE_SINGLE));
  PetscCall(MatGPUCSRSetKernel(A, "csrvector4"));
  PetscCall(MatSetFromOptions(A));
  PetscCall(View("set by functions, then MatSetFromOptions()", A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsSetValue(NULL, "-gpucsr_kernel", "csrvector2"));
  PetscCall(Create(NULL, PETSC_FALSE, &A));
  PetscCall(View("the database changed by the program", A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets each invalid value by the option of the matrix, by the process-wide default, and by the function. */
static PetscErrorCode TestLimits(void)
{
  const char *const wrong[]  = {"nan", "inf", "-inf", "-2", "-0.5"};
  const PetscReal   number[] = {NAN, INFINITY, -INFINITY, -2, -0.5};
  Mat               A;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(wrong); k++) {
    PetscCall(PetscOptionsSetValue(NULL, "-a_mat_gpucsr_memory_limit", wrong[k]));
    Refused("-a_mat_gpucsr_memory_limit", Create("a_", PETSC_TRUE, &A));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscOptionsClearValue(NULL, "-a_mat_gpucsr_memory_limit"));
    PetscCall(PetscOptionsSetValue(NULL, "-gpucsr_memory_limit", wrong[k]));
    Refused("-gpucsr_memory_limit", Create("b_", PETSC_FALSE, &A));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscOptionsClearValue(NULL, "-gpucsr_memory_limit"));
    PetscCall(Create("c_", PETSC_TRUE, &A));
    Refused("give a number of bytes, 0 or at least 1, or -1 for the default", MatGPUCSRSetMemoryLimit(A, number[k]));
    PetscCall(MatGPUCSRSetMemoryLimit(A, 0));
    PetscCall(MatGPUCSRSetMemoryLimit(A, -1));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscOptionsSetValue(NULL, "-gpucsr_vec_type", "nosuch"));
  Refused("-gpucsr_vec_type nosuch: there is no such type of vectors", Create("d_", PETSC_TRUE, &A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsClearValue(NULL, "-gpucsr_vec_type"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of bytes with a suffix, and other texts. */
static PetscErrorCode TestBytes(void)
{
  const char *const text[]   = {"4096", "1k", "1K", "1.5M", "2G", "0.5T", "-1", "1e3k"};
  const PetscReal   number[] = {4096, 1024, 1024, 1572864, 2147483648.0, 549755813888.0, -1, 1024000};
  const char *const wrong[]  = {"k", "4GB", "12q", "4 G", " 4", "4,5", "1e400", "1e308T", "four"};
  Mat               A;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(text); k++) {
    PetscReal bytes = 0;

    PetscCheck(PetscGPUCSRParseBytes_Private(text[k], &bytes) && bytes == number[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s are %g bytes", text[k], (double)bytes);
    PetscCall(PetscOptionsSetValue(NULL, "-a_mat_gpucsr_stream_chunk", text[k]));
    PetscCall(Create("a_", PETSC_TRUE, &A));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatDestroy(&A));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(wrong); k++) {
    PetscCall(PetscOptionsSetValue(NULL, "-a_mat_gpucsr_stream_chunk", wrong[k]));
    Refused("give a number of bytes, which k, M, G or T may follow (1k is 1024 bytes), 0 or at least 1, or -1", Create("a_", PETSC_TRUE, &A));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-a_mat_gpucsr_stream_chunk"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc prints the help of a matrix once, when the type is set from the options. */
static PetscErrorCode TestHelp(void)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 4, 4, 4, 4));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool wrong = PETSC_FALSE, show = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-wrong", &wrong, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_type", &show));
  if (show) PetscCall(TestHelp());
  else if (wrong) {
    PetscCall(TestLimits());
    PetscCall(TestBytes());
  } else PetscCall(TestDefaults());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   # the matrix without a prefix has its own kernel, a_ its own storage; b_ has nothing but the defaults
   test:
      suffix: defaults
      nsize: {{1 2}}
      args: -gpucsr_storage double -gpucsr_kernel csrscalar -gpucsr_select fixed -gpucsr_transpose lazy -gpucsr_vec_type gpu -gpucsr_memory_limit 1e9 -gpucsr_halo_type host -mat_gpucsr_kernel csrvector8 -a_mat_gpucsr_storage single -a_mat_gpucsr_transpose eager -a_mat_gpucsr_vec_type standard
      filter: sed -e "s@exchange [a-z]*@exchange@"

   # an option without the prefix is that of the matrix without a prefix alone; on a GPU vectors are of another type
   test:
      suffix: unprefixed
      nsize: {{1 2}}
      args: -mat_gpucsr_storage double -mat_gpucsr_kernel csrvector16 -gpucsr_kernel csrscalar
      filter: sed -e "s@, vectors.*@@"

   test:
      suffix: exchange
      nsize: 2
      args: -gpucsr_halo_type mpi -b_mat_gpucsr_halo_type host -gpucsr_kernel csrscalar -gpucsr_device host
      filter: sed -n "s@^prefix \\([a-z_]*\\).*exchange@\\1: exchange@p"

   test:
      suffix: wrong
      args: -wrong

   # every row of the table has its lines
   test:
      suffix: help
      args: -help -mat_type gpucsr
      filter: grep -oE "^ *-(mat_)?gpucsr_(storage|transpose|kernel|select|memory_limit|stream(_[a-z]+)?|vec_type|factor_storage|factor_numeric|factor_host|trisolve(_sweeps)?|halo_type|halo_view|notice)\\b" | sed "s/ //g" | sort | uniq -c | sed "s@^ *@@"

TEST*/
