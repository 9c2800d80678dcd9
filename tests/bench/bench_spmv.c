static char help[] = "MatMult() and MatMultTranspose() of several matrix types side by side, as a PETSc program sees them: CSV on standard output.\n\n\
  -matrices <name,...>   of tests/bench/matrices.h, or members of the corpus (bench_corpus --list), default stencil7-100\n\
  -scale <s>             sizes of generated members of the corpus, default 1\n\
  -types <type,...>      matrix types, default aij,gpucsr; gpucsr:double keeps doubles,\n\
                         aijcusparse:explicit forms the transpose (MAT_FORM_EXPLICIT_TRANSPOSE)\n\
  -repeats <n>           turns, of which the median is printed, default 11\n\
  -batch <n>             products a turn, default 10\n\
  -flush <MiB>           also times products with cold caches: this much memory is read before every product, and the time of the read is subtracted, default 0\n\n";

#include "bench/corpus.h"
#include "bench/order.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscmat.h>

#define MAX 128

typedef struct {
  PetscInt    repeats, batch;
  PetscReal   scale, flush;
  double      first[2]; /* seconds of the first matrix type, to which ratios refer */
  const char *name, *kind;
} Bench;

static PetscErrorCode Build(const BenchMatrix *B, const char spec[], Mat *A)
{
  PetscInt *ri, *ci;
  char      type[64];
  char     *colon;
  Mat       aij;
  PetscBool ours;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(type, spec, sizeof(type)));
  PetscCall(PetscStrchr(type, ':', &colon));
  if (colon) *colon = 0;
  PetscCall(PetscMalloc2(B->m + 1, &ri, B->nnz, &ci));
  for (int32_t i = 0; i <= B->m; i++) ri[i] = B->rowptr[i];
  for (int32_t k = 0; k < B->nnz; k++) ci[k] = B->col[k];
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, B->m, B->n, ri, ci, B->val, &aij));
  PetscCall(MatConvert(aij, type, MAT_INITIAL_MATRIX, A));
  PetscCall(MatDestroy(&aij));
  PetscCall(PetscFree2(ri, ci));
  PetscCall(PetscObjectTypeCompare((PetscObject)*A, MATSEQAIJGPUCSR, &ours));
  if (ours && colon) PetscCall(MatGPUCSRSetStorage(*A, strcmp(colon + 1, "double") ? MAT_GPUCSR_STORAGE_SINGLE : MAT_GPUCSR_STORAGE_DOUBLE));
  if (colon && !strcmp(colon + 1, "explicit")) PetscCall(MatSetOption(*A, MAT_FORM_EXPLICIT_TRANSPOSE, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the median of the seconds of a product; before each product flush is read, unless it is NULL.  If A is NULL, the reads alone are timed.
   The norm of the last result waits for the device and uses the result. */
static PetscErrorCode Time(const Bench *b, Mat A, PetscBool transpose, Vec flush, Vec x, Vec y, double *seconds, double *setup)
{
  double         times[1024];
  PetscReal      norm;
  PetscLogDouble t0, t1;

  PetscFunctionBeginUser;
  for (PetscInt r = -2; r < b->repeats; r++) {
    PetscInt batch = r < 0 ? 1 : b->batch;

    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    PetscCall(PetscTime(&t0));
    for (PetscInt k = 0; k < batch; k++) {
      if (flush) PetscCall(VecNorm(flush, NORM_2, &norm));
      if (A) PetscCall(transpose ? MatMultTranspose(A, x, y) : MatMult(A, x, y));
    }
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    PetscCall(PetscTime(&t1));
    if (r == -2 && setup) *setup = t1 - t0;
    if (r >= 0) times[r] = (t1 - t0) / (double)batch;
  }
  qsort(times, (size_t)b->repeats, sizeof(double), CompareDoubles);
  *seconds = times[b->repeats / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times products with cold caches: other data are read before each product, and the time of these reads is subtracted. */
static PetscErrorCode TimeCold(const Bench *b, Mat A, PetscBool transpose, Vec x, Vec y, double *seconds)
{
  double  reads;
  VecType type;
  Vec     flush;

  PetscFunctionBeginUser;
  PetscCall(VecGetType(x, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &flush));
  PetscCall(VecSetSizes(flush, (PetscInt)(b->flush * 131072), PETSC_DECIDE));
  PetscCall(VecSetType(flush, type));
  PetscCall(VecSet(flush, 1.0));
  PetscCall(Time(b, NULL, transpose, flush, x, y, &reads, NULL));
  PetscCall(Time(b, A, transpose, flush, x, y, seconds, NULL));
  *seconds -= reads;
  PetscCall(VecDestroy(&flush));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(Bench *b, const BenchMatrix *B, const char type[], PetscBool first)
{
  Mat         A;
  Vec         v[2];
  VecType     vectype;
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(Build(B, type, &A));
  PetscCall(MatCreateVecs(A, &v[0], &v[1]));
  PetscCall(VecGetType(v[0], &vectype));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetFromOptions(random));
  for (int t = 0; t < 2; t++) {
    double    seconds, setup, cold = 0;
    PetscReal norm;

    PetscCall(VecSetRandom(v[t], random));
    PetscCall(Time(b, A, (PetscBool)t, NULL, v[t], v[1 - t], &seconds, &setup));
    if (b->flush > 0) PetscCall(TimeCold(b, A, (PetscBool)t, v[t], v[1 - t], &cold));
    PetscCall(VecNorm(v[1 - t], NORM_2, &norm));
    if (first) b->first[t] = seconds;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%s,%s,%s,%.2f,%.0f,%.3f,%.12e,%s,%d,%d,%d,%.2f\n", b->name, type, vectype, t ? "MatMultTranspose" : "MatMult", 1e6 * seconds, 1e6 * setup, b->first[t] / seconds, (double)norm, b->kind, (int)B->m,
                          (int)B->n, (int)B->nnz, 1e6 * cold));
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecDestroy(&v[0]));
  PetscCall(VecDestroy(&v[1]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a matrix by its name in matrices.h or in the corpus.  Members of the corpus that are read from files are not found. */
static PetscErrorCode Named(Bench *b, const char name[], BenchMatrix *B)
{
  CorpusJob *jobs;
  int        n, found = 0;

  PetscFunctionBeginUser;
  b->name = name;
  b->kind = "-";
  if (BenchNamed(name, B)) PetscFunctionReturn(PETSC_SUCCESS);
  jobs = CorpusList("/nonexistent", (double)b->scale, &n);
  for (int k = 0; k < n && !found; k++) {
    if (strcmp(jobs[k].name, name)) continue;
    found   = jobs[k].make(&jobs[k], B);
    b->kind = jobs[k].kind;
  }
  free(jobs);
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "No matrix named %s in tests/bench/matrices.h or in the corpus", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench       b = {.repeats = 11, .batch = 10, .scale = 1};
  char       *matrices[MAX], *types[MAX];
  PetscInt    nm = MAX, nt = MAX;
  PetscBool   set;
  const char *device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &b.repeats, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-batch", &b.batch, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-scale", &b.scale, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-flush", &b.flush, NULL));
  PetscCheck(b.repeats > 0 && b.repeats <= 1024 && b.batch > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeats must be 1 to 1024 and -batch positive");
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-matrices", matrices, &nm, &set));
  if (!set) {
    nm = 1;
    PetscCall(PetscStrallocpy("stencil7-100", &matrices[0]));
  }
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", types, &nt, &set));
  if (!set) {
    nt = 2;
    PetscCall(PetscStrallocpy("aij", &types[0]));
    PetscCall(PetscStrallocpy("gpucsr", &types[1]));
  }
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# PETSc %d.%d.%d, gpucsr on %s, median of %d turns of %d products; first: the first product with its set-up; ratio: to the first type; cold_us: after %g MiB of others were read, which is taken off\n",
                        PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, device, (int)b.repeats, (int)b.batch, (double)b.flush));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "matrix,type,vector,operation,us,first_us,ratio,norm,kind,m,n,nnz,cold_us\n"));
  for (PetscInt i = 0; i < nm; i++) {
    BenchMatrix B;

    PetscCall(Named(&b, matrices[i], &B));
    for (PetscInt t = 0; t < nt; t++) PetscCall(Run(&b, &B, types[t], (PetscBool)(t == 0)));
    BenchMatrixDestroy(&B);
  }
  for (PetscInt i = 0; i < nm; i++) PetscCall(PetscFree(matrices[i]));
  for (PetscInt t = 0; t < nt; t++) PetscCall(PetscFree(types[t]));
  PetscCall(PetscFinalize());
  return 0;
}
