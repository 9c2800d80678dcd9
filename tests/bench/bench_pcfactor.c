static char help[] = "Times of ILU(0) and ICC(0) on the corpus: an application (MatSolve()), and a numeric factorisation with new values: CSV on standard output.\n\n\
  -types <type,...>  matrix types; default aijcusparse, if PETSc has it, gpucsr and gpucsr:single. gpucsr:single stores factors in single precision, gpucsr:isai solves approximately.\n\
                     Ratios are those of the first type to each other type: above 1 the other one is faster\n\
  -kinds <kind,...>  kinds of the corpus (bench_corpus --list); default stencil-few,stencil-variable,FEM,FEM-blocks,FEM-unordered\n\
  -matrices <n,...>  only the matrices with these names, whatever -every is\n\
  -every <n>         only every n-th of these matrices; default 1\n\
  -nonzeros <a,b>    only matrices with at least a and at most b nonzeros; default 1e5,1e9\n\
  -scale <s>         sizes of the members of the corpus; default 1\n\
  -repeats <n>       turns, of which the median is printed; default 7\n\
  -batch <n>         applications of a turn; default 5\n\
  -seconds <s>       begins no further matrix after this time; default 1e9\n\
The matrices have the patterns of the corpus and the values of a symmetric, diagonally dominant M-matrix. The storage of the library's matrices is double.\n\n";

#include "bench/corpus.h"
#include "bench/order.h"
#include "bench/pcmatrices.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscmat.h>

#define MAX 64

typedef struct {
  PetscInt       repeats, batch, every, nt, nk, nn;
  PetscReal      range[2], scale, seconds;
  char          *types[MAX], *kinds[MAX], *names[MAX];
  PetscLogDouble start;
  /* sums of logarithms of the ratios to the first type, for application and factorisation; numbers of ratios, and of those below 0.95 */
  double   sum[2][MAX];
  PetscInt n[MAX], below[2][MAX];
  double  *applications[MAX]; /* factorisation divided by application */
} Bench;

static PetscErrorCode CreateMatrix(const BenchMatrix *B, const char spec[], Mat *A)
{
  char      type[64], *colon;
  Mat       aij;
  PetscBool ours;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(type, spec, sizeof(type)));
  PetscCall(PetscStrchr(type, ':', &colon));
  if (colon) *colon = 0;
  PetscCall(PCMatrixCreateFromRows(B, &aij));
  PetscCall(MatConvert(aij, type, MAT_INITIAL_MATRIX, A));
  PetscCall(MatDestroy(&aij));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscCall(PetscObjectTypeCompare((PetscObject)*A, MATSEQAIJGPUCSR, &ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRSetStorage(*A, MAT_GPUCSR_STORAGE_DOUBLE));
  if (colon && !strcmp(colon + 1, "single")) PetscCall(MatGPUCSRSetFactorStorage(*A, MAT_GPUCSR_FACTOR_STORAGE_SINGLE));
  if (colon && !strcmp(colon + 1, "isai")) PetscCall(MatGPUCSRSetTrisolve(*A, MAT_GPUCSR_TRISOLVE_ISAI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the seconds of an application, and of a numeric factorisation that an application follows.  The norm waits for the device. */
static PetscErrorCode Time(const Bench *b, PetscBool icc, Mat F, Mat A, const MatFactorInfo *info, Vec x, Vec y, double seconds[2])
{
  double         times[2][MAX];
  PetscReal      norm;
  PetscLogDouble t[3];

  PetscFunctionBeginUser;
  for (PetscInt r = -1; r < b->repeats; r++) {
    PetscScalar *values;

    PetscCall(MatSeqAIJGetArray(A, &values));
    PetscCall(MatSeqAIJRestoreArray(A, &values)); /* increases the object state */
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(PetscTime(&t[0]));
    if (icc) PetscCall(MatCholeskyFactorNumeric(F, A, info));
    else PetscCall(MatLUFactorNumeric(F, A, info));
    PetscCall(MatSolve(F, x, y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(PetscTime(&t[1]));
    for (PetscInt k = 0; k < b->batch; k++) PetscCall(MatSolve(F, x, y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(PetscTime(&t[2]));
    if (r < 0) continue;
    times[0][r] = (t[2] - t[1]) / (double)b->batch;
    times[1][r] = t[1] - t[0];
  }
  for (int k = 0; k < 2; k++) {
    qsort(times[k], (size_t)b->repeats, sizeof(double), CompareDoubles);
    seconds[k] = times[k][b->repeats / 2];
  }
  seconds[1] = PetscMax(seconds[1] - seconds[0], 1e-9);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factorises and times.  first: seconds of the symbolic and the first numeric phase with the first application. */
static PetscErrorCode Run(const Bench *b, Mat A, MatFactorType type, double seconds[2], double *first, PetscReal *norm)
{
  MatFactorInfo  info;
  IS             row, column;
  Vec            x, y;
  Mat            F;
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &y, &x));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y)); /* uploads the matrix */
  PetscCall(VecNorm(y, NORM_2, norm));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill      = 1;
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  PetscCall(PetscTime(&begin));
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &row, &column));
  PetscCall(MatGetFactor(A, NULL, type, &F));
  if (type == MAT_FACTOR_ICC) {
    PetscCall(MatICCFactorSymbolic(F, A, row, &info));
    PetscCall(MatCholeskyFactorNumeric(F, A, &info));
  } else {
    PetscCall(MatILUFactorSymbolic(F, A, row, column, &info));
    PetscCall(MatLUFactorNumeric(F, A, &info));
  }
  PetscCall(MatSolve(F, x, y));
  PetscCall(VecNorm(y, NORM_2, norm));
  PetscCall(PetscTime(&end));
  *first = end - begin;
  PetscCall(Time(b, (PetscBool)(type == MAT_FACTOR_ICC), F, A, &info, x, y, seconds));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&column));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureMatrix(Bench *b, const CorpusJob *job, const BenchMatrix *B)
{
  static const MatFactorType types[] = {MAT_FACTOR_ILU, MAT_FACTOR_ICC};

  PetscFunctionBeginUser;
  for (int f = 0; f < 2; f++) {
    double reference[2] = {0, 0};

    for (PetscInt t = 0; t < b->nt; t++) {
      double    seconds[2], first = 0;
      PetscReal norm;
      Mat       A;

      PetscCall(CreateMatrix(B, b->types[t], &A));
      PetscCall(Run(b, A, types[f], seconds, &first, &norm));
      PetscCall(MatDestroy(&A));
      for (int k = 0; k < 2; k++) {
        if (!t) reference[k] = seconds[k];
        b->sum[k][t] += log(reference[k] / seconds[k]);
        if (reference[k] < 0.95 * seconds[k]) b->below[k][t]++;
      }
      if (b->n[t] < 4096) b->applications[t][b->n[t]] = seconds[1] / seconds[0];
      b->n[t]++;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%s,%s,%d,%d,%s,%.2f,%.2f,%.1f,%.3f,%.3f,%.12e\n", job->name, job->kind, f ? "icc" : "ilu", (int)B->m, (int)B->nnz, b->types[t], 1e6 * seconds[0], 1e6 * seconds[1], 1e3 * first,
                            reference[0] / seconds[0], reference[1] / seconds[1], (double)norm));
      fflush(stdout);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureCorpus(Bench *b)
{
  int        n;
  PetscInt   number = 0;
  CorpusJob *jobs   = CorpusList("/nonexistent", (double)b->scale, &n);

  PetscFunctionBeginUser;
  for (int j = 0; j < n; j++) {
    PetscBool      chosen = PETSC_FALSE, named = PETSC_FALSE;
    PetscLogDouble now;
    BenchMatrix    B;

    for (PetscInt k = 0; k < b->nk; k++) chosen = (PetscBool)(chosen || !strcmp(b->kinds[k], jobs[j].kind));
    for (PetscInt k = 0; k < b->nn; k++) named = (PetscBool)(named || !strcmp(b->names[k], jobs[j].name));
    if (!chosen || jobs[j].nnz < b->range[0] || jobs[j].nnz > b->range[1] || (b->nn ? !named : number++ % b->every)) continue;
    PetscCall(PetscTime(&now));
    if (now - b->start > b->seconds) break;
    if (!jobs[j].make(&jobs[j], &B)) continue;
    PCMatrixSetValues(&B);
    PetscCall(MeasureMatrix(b, &jobs[j], &B));
    BenchMatrixDestroy(&B);
  }
  free(jobs);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetList(const char option[], const char *const initial[], PetscInt many, PetscInt *n, char *list[])
{
  PetscBool set;

  PetscFunctionBeginUser;
  *n = MAX;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, option, list, n, &set));
  if (!set) *n = many;
  for (PetscInt k = 0; !set && k < many; k++) PetscCall(PetscStrallocpy(initial[k], &list[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetOptions(Bench *b)
{
#if defined(PETSC_HAVE_CUDA)
  static const char *const types[] = {"aijcusparse", "gpucsr", "gpucsr:single"};
#else
  static const char *const types[] = {"gpucsr", "gpucsr:single"};
#endif
  static const char *const kinds[] = {"stencil-few", "stencil-variable", "FEM", "FEM-blocks", "FEM-unordered"};
  PetscInt                 two     = 2;

  PetscFunctionBeginUser;
  PetscCall(GetList("-types", types, PETSC_STATIC_ARRAY_LENGTH(types), &b->nt, b->types));
  PetscCall(GetList("-kinds", kinds, PETSC_STATIC_ARRAY_LENGTH(kinds), &b->nk, b->kinds));
  PetscCall(GetList("-matrices", NULL, 0, &b->nn, b->names));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &b->every, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &b->repeats, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-batch", &b->batch, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-scale", &b->scale, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &b->seconds, NULL));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-nonzeros", b->range, &two, NULL));
  PetscCheck(b->repeats > 0 && b->repeats <= MAX && b->batch > 0 && b->every > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeats must be 1 to %d, -batch and -every positive", MAX);
  for (PetscInt t = 0; t < b->nt; t++) PetscCall(PetscMalloc1(4096, &b->applications[t]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the geometric means, and frees the lists. */
static PetscErrorCode Summarise(Bench *b)
{
  PetscFunctionBeginUser;
  for (PetscInt t = 0; t < b->nt; t++) {
    const PetscInt n = b->n[t];

    if (n) {
      qsort(b->applications[t], (size_t)PetscMin(n, 4096), sizeof(double), CompareDoubles);
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "# %s: geometric mean of the ratios: application %.3f, factorisation %.3f; below 0.95: %d and %d of %d; a factorisation takes %.1f applications in the median\n", b->types[t], exp(b->sum[0][t] / (double)n),
                            exp(b->sum[1][t] / (double)n), (int)b->below[0][t], (int)b->below[1][t], (int)n, b->applications[t][PetscMin(n, 4096) / 2]));
    }
    PetscCall(PetscFree(b->types[t]));
    PetscCall(PetscFree(b->applications[t]));
  }
  for (PetscInt k = 0; k < b->nk; k++) PetscCall(PetscFree(b->kinds[k]));
  for (PetscInt k = 0; k < b->nn; k++) PetscCall(PetscFree(b->names[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench       b = {.repeats = 7, .batch = 5, .every = 1, .range = {1e5, 1e9}, .scale = 1, .seconds = 1e9};
  const char *device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(GetOptions(&b));
  PetscCall(PetscTime(&b.start));
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# PETSc %d.%d.%d, gpucsr on %s, median of %d turns\nmatrix,kind,factor,rows,nonzeros,type,apply_us,numeric_us,first_ms,apply_ratio,numeric_ratio,norm\n", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
                        PETSC_VERSION_SUBMINOR, device, (int)b.repeats));
  PetscCall(MeasureCorpus(&b));
  PetscCall(Summarise(&b));
  PetscCall(PetscFinalize());
  return 0;
}
