static char help[] = "Selection of a kernel: predicted times of a cost model, selection modes, candidates that are rejected, measurement.\n\n";

#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/selector/gpselect.h"
#include "sys/gpucsrsys.h"

/* A cost model with two kernels. The time of one depends on the rows. That of the other depends on the nonzeros, and it is excluded if the matrix has
   many diagonals. */
static PetscErrorCode TestTimes(void)
{
  static const short      kernels[]                = {GP_SPMV_csrvector4, GP_SPMV_csrsplit};
  static const double     coefficients[][GP_TERMS] = {{[GP_TERM_launch] = 1, [GP_TERM_rows] = 0.5}, {[GP_TERM_launch] = 2, [GP_TERM_nonzeros] = 0.25, [GP_TERM_columns] = 1, [GP_TERM_stripes] = 0.1, [GP_TERM_manydiagonals] = GP_SEL_NEVER}};
  static const GpSelModel model                    = {"a GPU", 100, 1e6, "this test", 2, kernels, coefficients};
  const struct {
    double rows, nonzeros, xcache, diagonals, sum[2];
  } cases[] = {
    {16, 81, 0, 16, {1 + 8 / 2., 2 + 27 / 4. + 0.8}},                                     /* 16^(3/4) = 8 and 81^(3/4) = 27 */
    {16, 81, 0, 1025, {1 + 8 / 2., GP_SEL_NEVER + 2 + 27 / 4. + 0.1 * pow(129, 3 / 4.)}}, /* too many diagonals; their number in the term is capped */
    {16, 81, 16, 81, {1 + 8 / 2., 2 + 27 / 4. + 8 + 2.7}},                                /* many columns */
    {0, 0, 0, 0, {1, 2}}                                                                  /* an empty matrix costs a launch */
  };

  PetscFunctionBegin;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    GpFeatures F = {.runtime = GP_DEV_CUDA};
    double     us[2];

    F.value[GP_SEL_rowsperunit] = cases[c].rows;
    F.value[GP_SEL_nnzperunit]  = cases[c].nonzeros;
    F.value[GP_SEL_xcache]      = cases[c].xcache;
    F.value[GP_SEL_diagonals]   = cases[c].diagonals;
    GpSelModelTimes(&model, &F, us);
    for (int k = 0; k < 2; k++)
      PetscCheck(PetscAbsReal(us[k] - pow(cases[c].sum[k], 4 / 3.)) <= 1e-12 * us[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Matrix %d: the predicted time is %g us for kernel %d, not %g", (int)c, us[k], k, pow(cases[c].sum[k], 4 / 3.));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "predicted times are right\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For random features, candidates exist, all of them differ, and at least one uses compressed rows. */
static PetscErrorCode TestCandidates(void)
{
  PetscFunctionBegin;
  for (int mode = GP_SELECT_MODEL; mode <= GP_SELECT_FIXED; mode++) {
    for (int runtime = GP_DEV_HOST; runtime <= (GP_HAVE_CUDA ? GP_DEV_CUDA : GP_DEV_HOST); runtime++) {
      for (int k = 0; k < 1000; k++) {
        GpSelOptions options = {(GpSelMode)mode, k % 10 ? -1 : GP_SPMV_csrvector16, -1};
        GpFeatures   F       = {.runtime = (GpDevKind)runtime, .compute_units = 132, .cache = 6e7, .m = 1000, .n = 1000, .nnz = 1000};
        GpChoice     choice;
        uint64_t     seed = (uint64_t)k + 1;
        int          rows = 0;

        for (int f = 0; f < GP_FEATURES; f++) F.value[f] = exp(16 * BenchUniform(&seed) - 6);
        F.mean    = F.value[GP_SEL_mean];
        F.longest = (int32_t)fmin(F.mean * F.value[GP_SEL_longest], 1e9);
        F.empty   = (int32_t)(1000 * BenchUniform(&seed));
        GpSelChoose(&options, &F, &choice);
        PetscCheck(choice.candidates > 1 && choice.kernel == choice.candidate[0] && choice.runner_up == choice.candidate[1] && choice.why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Mode %d, matrix %d: %d candidates", mode, k, choice.candidates);
        for (int c = k % 10 ? 0 : 1; c < choice.candidates; c++)
          PetscCheck(GpKernelTable[choice.candidate[c]].tier == GP_TIER_CORE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Mode %d, matrix %d: %s is not a core kernel", mode, k, GpKernelTable[choice.candidate[c]].name);
        PetscCheck(k % 10 || choice.kernel == GP_SPMV_csrvector16, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The kernel of the option is not the first candidate");
        for (int c = 0; c < choice.candidates; c++) {
          rows += GpKernelTable[choice.candidate[c]].format == GP_FMT_CSR;
          for (int d = 0; d < c; d++) PetscCheck(choice.candidate[c] != choice.candidate[d], PETSC_COMM_SELF, PETSC_ERR_PLIB, "A candidate is listed twice");
        }
        PetscCheck(rows, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Mode %d, matrix %d: no candidate on compressed rows", mode, k);
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "lists of candidates are valid\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The list of nonempty rows is selected only if most rows are empty and the product adds to its result, so that empty rows are not touched. */
static PetscErrorCode TestList(void)
{
  PetscFunctionBegin;
  for (int adds = 0; adds < 2; adds++) {
    for (int k = 0; k < 3; k++) {
      const GpSelOptions options = {.mode = GP_SELECT_MODEL, .kernel = -1, .budget = -1, .adds = adds};
      const GpFeatures   F       = {.runtime = GP_DEV_HOST, .compute_units = 132, .cache = 6e7, .m = 1000, .n = 1000, .nnz = 1000, .mean = 5, .longest = k == 1 ? 129 : 128, .empty = k == 2 ? 500 : 800};
      GpChoice           choice;

      GpSelChoose(&options, &F, &choice);
      PetscCheck((choice.kernel == GP_SPMV_csrlist) == (adds && !k), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Case %d, adds %d: %s", k, adds, choice.why);
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "the list of nonempty rows is selected\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Selects and builds with these options, and checks the product of the selected kernel. */
static PetscErrorCode Build(GpDev dev, const GpSelOptions *options, const BenchMatrix *A, GpChoice *choice)
{
  GpCsr      C;
  GpLoss     loss;
  GpFeatures F;
  GpFmt      fmt;
  double    *x, *y, *device_x, *device_y;
  uint64_t   seed = 5;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(A->n, &x, A->m, &y));
  for (int32_t j = 0; j < A->n; j++) x[j] = BenchValue(&seed);
  PetscCallGp(dev, "rows", GpCsrCreate(dev, GP_F32, A->m, A->n, A->nnz, &C));
  PetscCallGp(dev, "pattern", GpDevUpload(dev, C.rowptr, A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t)));
  PetscCallGp(dev, "pattern", GpDevUpload(dev, C.col, A->col, (size_t)A->nnz * sizeof(int32_t)));
  PetscCallGp(dev, "values", GpCsrSetValues(&C, A->val, &loss));
  PetscCallGp(dev, "choice", GpSelBuild(options, &C, A->rowptr, &F, choice, &fmt));
  PetscCheck(fmt.id == GpKernelTable[choice->kernel].format, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The format does not belong to the selected kernel");
  PetscCallGp(dev, "x", GpDevAlloc(dev, (size_t)A->n * sizeof(double), &device_x));
  PetscCallGp(dev, "y", GpDevAlloc(dev, (size_t)A->m * sizeof(double), &device_y));
  PetscCallGp(dev, "x", GpDevUpload(dev, device_x, x, (size_t)A->n * sizeof(double)));
  PetscCallGp(dev, "product", GpKernelTable[choice->kernel].mult[GpDevKindOf(dev)][GP_F32](&fmt, device_x, NULL, device_y));
  PetscCallGp(dev, "y", GpDevDownload(dev, y, device_y, (size_t)A->m * sizeof(double)));
  for (int32_t i = 0; i < A->m; i++) {
    double sum = 0, scale = 1e-300;

    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      sum += A->val[k] * x[A->col[k]];
      scale += PetscAbsReal(A->val[k] * x[A->col[k]]);
    }
    PetscCheck(PetscAbsReal(y[i] - sum) <= 1e-13 * scale, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %d of the product is %g, not %g", (int)i, y[i], sum);
  }
  GpFmtDestroy(&fmt);
  GpCsrDestroy(&C);
  GpDevFree(dev, &device_x, (size_t)A->n * sizeof(double));
  GpDevFree(dev, &device_y, (size_t)A->m * sizeof(double));
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Says(const GpChoice *choice, const char *words)
{
  char *found;

  PetscFunctionBegin;
  PetscCall(PetscStrstr(choice->why, words, &found));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The explanation '%s' does not contain '%s'", choice->why, words);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Requests every kernel, with and without a memory limit. It is built, or another kernel is selected with an explanation. */
static PetscErrorCode TestRefusals(GpDev dev, const BenchMatrix *A)
{
  PetscFunctionBegin;
  for (int k = 0; k < GP_KERNELS; k++) {
    for (int budget = -1; budget <= 0; budget++) {
      GpSelOptions options = {GP_SELECT_FIXED, k, budget};
      GpChoice     choice;
      char         words[64];

      PetscCall(Build(dev, &options, A, &choice));
      if (choice.kernel == k || !GpKernelTable[k].mult[GpDevKindOf(dev)][GP_F32]) continue;
      PetscCall(PetscSNPrintf(words, sizeof(words), "; not %s: ", GpKernelTable[k].name));
      PetscCall(Says(&choice, words));
      PetscCheck(budget == 0 || GpKernelTable[k].format > GP_FMT_CSRTILE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Kernel %s supports every matrix, but was not selected: %s", GpKernelTable[k].name, choice.why);
    }
  }
  {
    GpSelOptions options = {GP_SELECT_FIXED, GP_SPMV_csrsplit, 0}; /* its tiles need memory beyond compressed rows */
    GpChoice     choice;

    PetscCall(Build(dev, &options, A, &choice));
    PetscCall(Says(&choice, "beyond CSR exceed -mat_gpucsr_memory_limit"));
    PetscCheck(choice.kernel != GP_SPMV_csrsplit, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The memory limit was exceeded");
    options.budget = 1e6;
    PetscCall(Build(dev, &options, A, &choice));
    PetscCheck(choice.kernel == GP_SPMV_csrsplit, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", choice.why);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "rejected kernels are replaced and explained\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The selected kernel has the shortest measured time. */
static PetscErrorCode TestMeasure(GpDev dev, const BenchMatrix *A)
{
  GpSelOptions options = {GP_SELECT_MEASURE, -1, -1};
  GpChoice     choice;
  double       least = PETSC_MAX_REAL, kept = 0;
  int          timed = 0;

  PetscFunctionBegin;
  PetscCall(Build(dev, &options, A, &choice));
  for (int c = 0; c < choice.candidates; c++) {
    if (choice.seconds[c] <= 0) continue;
    timed++;
    least = PetscMin(least, choice.seconds[c]);
    if (choice.candidate[c] == choice.kernel) kept = choice.seconds[c];
  }
  PetscCheck(timed > 1 && timed <= GP_SEL_MEASURED && kept == least, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d candidates were measured; the selected one takes %g s, the fastest %g s", timed, kept, least);
  PetscCheck(choice.runner_up >= 0 && choice.runner_up != choice.kernel, PETSC_COMM_SELF, PETSC_ERR_PLIB, "There is no second candidate");
  PetscCall(Says(&choice, "; measured "));
  options.kernel = GP_SPMV_csrvector2; /* a kernel set by name is not measured */
  PetscCall(Build(dev, &options, A, &choice));
  PetscCheck(choice.kernel == GP_SPMV_csrvector2 && choice.seconds[0] == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A kernel set by name was measured or not selected");
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "the fastest is selected\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev       dev;
  BenchMatrix A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(TestTimes());
  PetscCall(TestCandidates());
  PetscCall(TestList());
  BenchRows(&A, 3000, 70000, 24, 1, 3);
  PetscCall(TestRefusals(dev, &A));
  PetscCall(TestMeasure(dev, &A));
  BenchMatrixDestroy(&A);
  BenchMatrixCreate(&A, 5, 3, 0);
  PetscCall(TestRefusals(dev, &A));
  BenchMatrixDestroy(&A);
  PetscCheck(GpDevBytesHeld(dev) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1

TEST*/
