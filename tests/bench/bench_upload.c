static char help[] = "Time from an assembled AIJ matrix to the first products on the device, and of each step of the upload: CSV on standard output.\n\n\
  -nonzeros <n,...>    7-point stencils on cubes with about so many nonzeros, default 1e7,1e8\n\
  -storages <s,...>    single and double by default; auto is possible\n\
  -types <t,...>       gpucsr by default. aijcusparse is possible in a PETSc with CUDA\n\
  -constant            the values -1 and 6, which single precision holds exactly, instead of random ones\n\
  -steps <bool>        the steps of the upload too, default true\n\
  -repeats <n>         number of matrices; the first one also loads the kernels and allocates memory. Default 3\n\
The column link_ms is the time that the link needs for the bytes that were copied, at the rate of a copy from pinned memory that the program measures.\n\n";

#include "device/gpupload.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "sys/gpucsrsys.h"
#include "mat/impls/gpucsr/selector/gpselect.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"

#include <petscmat.h>
#include <petsctime.h>

#define CHECK(call) PetscCheck(!(call), PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", GpDevError(dev))

#define MOST 8

typedef struct {
  PetscInt     n, nnz; /* rows, nonzeros */
  PetscInt    *row, *col;
  PetscScalar *val;
} Stencil;

static GpDev  dev  = NULL;
static double rate = 0; /* bytes a second of a copy from pinned memory */

/* Milliseconds since *since; sets *since to now. */
static double Lap(PetscLogDouble *since)
{
  PetscLogDouble now, elapsed;

  if (PetscTime(&now)) return 0;
  elapsed = now - *since;
  *since  = now;
  return 1e3 * elapsed;
}

static PetscErrorCode CreateStencil(double nonzeros, PetscBool constant, Stencil *S)
{
  PetscInt k = 2, at = 0;
  uint64_t state = 1;

  PetscFunctionBeginUser;
  while (7.0 * k * k * k - 6.0 * k * k < nonzeros) k++;
  S->n   = k * k * k;
  S->nnz = 7 * S->n - 6 * k * k;
  PetscCall(PetscMalloc3(S->n + 1, &S->row, S->nnz, &S->col, S->nnz, &S->val));
  for (PetscInt i = 0; i < S->n; i++) {
    const PetscInt x = i % k, y = i / k % k, z = i / k / k, near[] = {z ? i - k * k : -1, y ? i - k : -1, x ? i - 1 : -1, i, x < k - 1 ? i + 1 : -1, y < k - 1 ? i + k : -1, z < k - 1 ? i + k * k : -1};

    S->row[i] = at;
    for (int e = 0; e < 7; e++) {
      if (near[e] < 0) continue;
      state        = state * 6364136223846793005u + 1442695040888963407u;
      S->col[at]   = near[e];
      S->val[at++] = constant ? (e == 3 ? 6.0 : -1.0) : (double)(state >> 11) * 0x1p-53;
    }
  }
  S->row[S->n] = at;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures the link, and allocations of pinned memory. */
static PetscErrorCode MeasureLink(void)
{
  const size_t   bytes = (size_t)64 << 20, parts[] = {(size_t)1 << 20, (size_t)4 << 20, (size_t)16 << 20};
  void          *pinned, *device, *part[16];
  PetscLogDouble t;
  int            is;

  PetscFunctionBeginUser;
  for (int p = 0; p < 3; p++) {
    PetscCall(PetscTime(&t));
    for (size_t k = 0; k < parts[2] / parts[p]; k++) CHECK(GpDevAllocPinned(dev, parts[p], &part[k]));
    printf("# 16 MiB of pinned memory, allocated by %zu bytes: %.3f ms\n", parts[p], Lap(&t));
    for (size_t k = 0; k < parts[2] / parts[p]; k++) GpDevFreePinned(dev, part[k]);
  }
  PetscCall(PetscTime(&t));
  CHECK(GpDevAllocHost(dev, parts[2], &pinned, &is));
  printf("# 16 MiB of memory that is pinned in place: %.3f ms, pinned %d\n", Lap(&t), is);
  GpDevFreeHost(dev, &pinned, is);
  CHECK(GpDevAllocPinned(dev, bytes, &pinned));
  CHECK(GpDevAlloc(dev, bytes, &device));
  for (int trial = 0; trial < 5; trial++) {
    double seconds;

    PetscCall(PetscTime(&t));
    for (int c = 0; c < 4; c++) CHECK(GpDevCopyIn(dev, device, pinned, bytes));
    CHECK(GpDevSync(dev));
    seconds = 1e-3 * Lap(&t);
    rate    = PetscMax(rate, 4 * (double)bytes / seconds);
  }
  printf("# link: %.1f GB/s\n", 1e-9 * rate);
  GpDevFree(dev, &device, bytes);
  GpDevFreePinned(dev, pinned);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Milliseconds of a product. The norm waits for it. */
static PetscErrorCode TimeProduct(Mat A, PetscBool transpose, Vec x, Vec y, double *ms)
{
  PetscLogDouble t;
  PetscReal      norm;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&t));
  PetscCall(transpose ? MatMultTranspose(A, x, y) : MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  *ms = Lap(&t);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From AIJ to the first products. */
static PetscErrorCode TimeWhole(const Stencil *S, const char type[], const char storage[], PetscInt number)
{
  const double   before = GpDevBytesIn(dev);
  double         ms[6], bytes;
  PetscLogDouble t;
  PetscReal      norm;
  Vec            x, y;
  Mat            A;
  PetscBool      ours;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, MATGPUCSR, &ours));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_gpucsr_storage", storage));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, S->n, S->n, S->row, S->col, S->val, &A));
  PetscCall(PetscTime(&t));
  PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  ms[0] = Lap(&t);
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(VecSet(y, 1));
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(TimeProduct(A, PETSC_FALSE, x, y, &ms[1]));
  bytes = GpDevBytesIn(dev) - before;
  PetscCall(TimeProduct(A, PETSC_FALSE, x, y, &ms[2]));
  PetscCall(TimeProduct(A, PETSC_TRUE, x, y, &ms[3]));
  PetscCall(TimeProduct(A, PETSC_TRUE, x, y, &ms[4]));
  if (!ours) bytes = (double)S->nnz * (sizeof(double) + sizeof(int32_t)) + (S->n + 1.0) * sizeof(int32_t);
  printf("whole,%s,%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%.3f,%.3f,%.3f,%.3f,%.3f,%.0f,%.3f\n", type, ours ? storage : "double", S->nnz, number, ms[0], ms[1], ms[2], ms[3], ms[4], bytes, 1e3 * bytes / rate);
  fflush(stdout);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PrintStep(const Stencil *S, const char storage[], PetscInt number, const char step[], double ms, double bytes)
{
  printf("step,gpucsr,%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%s,%.3f,%.0f,%.3f\n", storage, S->nnz, number, step, ms, bytes, 1e3 * bytes / rate);
}

/* The selection and the format of a side. rows: the row pointers on the host, or NULL. */
static PetscErrorCode TimeSide(const Stencil *S, const char storage[], PetscInt number, const GpCsr *C, const int32_t rows[], const char side[])
{
  const GpSelOptions options = {GP_SELECT_MODEL, -1, -1, 0};
  GpFeatures         F;
  GpChoice           choice;
  GpFmt              fmt;
  PetscLogDouble     t;
  char               step[128];
  double             ms;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&t));
  CHECK(GpSelDecide(&options, C, &F, &choice));
  CHECK(GpDevSync(dev));
  ms = Lap(&t);
  PetscCall(PetscSNPrintf(step, sizeof(step), "features %s", side));
  PrintStep(S, storage, number, step, ms, 0);
  PetscCall(PetscTime(&t));
  CHECK(GpSelBuild(&options, C, rows, &F, &choice, &fmt));
  CHECK(GpDevSync(dev));
  PetscCall(PetscSNPrintf(step, sizeof(step), "features and format %s %s", GpKernelTable[choice.kernel].name, side));
  PrintStep(S, storage, number, step, Lap(&t), 0);
  GpFmtDestroy(&fmt);
  PetscCall(PetscSNPrintf(step, sizeof(step), "freeing the format %s", side));
  PrintStep(S, storage, number, step, Lap(&t), 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps, with a wait after each, which the upload does not have. */
static PetscErrorCode TimeSteps(const Stencil *S, const char storage[], PetscInt number)
{
  GpPrec         prec = GP_F32;
  const int32_t *rows = sizeof(PetscInt) == sizeof(int32_t) ? (const int32_t *)S->row : NULL;
  PetscLogDouble t;
  PetscBool      twice, fits;
  GpCsr          C, Ct;
  GpLoss         loss;
  int            wrong;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(storage, "double", &twice));
  PetscCall(PetscTime(&t));
  fits = (PetscBool)GpCsrFitsSingle(dev, (size_t)S->nnz, S->val);
  PrintStep(S, storage, number, fits ? "check: single holds all values" : "check: single rounds values", Lap(&t), 0);
  if (twice) prec = GP_F64;
  CHECK(GpCsrCreate(dev, prec, (int32_t)S->n, (int32_t)S->n, (int32_t)S->nnz, &C));
  PrintStep(S, storage, number, "allocation", Lap(&t), 0);
  CHECK(GpCsrSetPattern(&C, S->row, S->col));
  CHECK(GpDevSync(dev));
  PrintStep(S, storage, number, "pattern", Lap(&t), ((double)S->n + 1 + S->nnz) * sizeof(int32_t));
  CHECK(GpCsrSetValues(&C, S->val, &loss));
  CHECK(GpDevSync(dev));
  PrintStep(S, storage, number, "values", Lap(&t), (double)S->nnz * GpPrecBytes(prec));
  CHECK(GpCsrSetArrays(&C, S->row, S->col, S->val, 0, &loss, &wrong));
  CHECK(GpDevSync(dev));
  PrintStep(S, storage, number, "pattern and values together", Lap(&t), GpCsrBytes(&C));
  PetscCall(TimeSide(S, storage, number, &C, rows, "of the matrix"));
  PetscCall(PetscTime(&t));
  CHECK(GpCsrTranspose(&C, &Ct, NULL));
  CHECK(GpDevSync(dev));
  PrintStep(S, storage, number, "transpose", Lap(&t), 0);
  PetscCall(TimeSide(S, storage, number, &Ct, NULL, "of the transpose"));
  PetscCall(PetscTime(&t));
  GpCsrDestroy(&Ct);
  GpCsrDestroy(&C);
  PrintStep(S, storage, number, "freeing the matrices", Lap(&t), 0);
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetList(const char option[], const char first[], const char second[], PetscInt *n, char *list[])
{
  PetscBool set;

  PetscFunctionBeginUser;
  *n = MOST;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, option, list, n, &set));
  if (set) PetscFunctionReturn(PETSC_SUCCESS);
  *n = second ? 2 : 1;
  PetscCall(PetscStrallocpy(first, &list[0]));
  if (second) PetscCall(PetscStrallocpy(second, &list[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscReal nonzeros[MOST] = {1e7, 1e8};
  char     *storages[MOST], *types[MOST];
  PetscInt  nn = MOST, ns, nt, repeats = 3;
  PetscBool set, constant = PETSC_FALSE, steps = PETSC_TRUE, ours;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-nonzeros", nonzeros, &nn, &set));
  if (!set) nn = 2;
  PetscCall(GetList("-storages", "single", "double", &ns, storages));
  PetscCall(GetList("-types", MATGPUCSR, NULL, &nt, types));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-constant", &constant, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(MeasureLink());
  printf("whole,type,storage,nonzeros,matrix,convert_ms,first_product_ms,product_ms,first_transpose_ms,transpose_ms,bytes,link_ms\nstep,type,storage,nonzeros,matrix,step,ms,bytes,link_ms\n");
  for (PetscInt n = 0; n < nn; n++) {
    Stencil S;

    PetscCall(CreateStencil((double)nonzeros[n], constant, &S));
    for (PetscInt t = 0; t < nt; t++) {
      PetscCall(PetscStrcmp(types[t], MATGPUCSR, &ours));
      for (PetscInt s = 0; s < (ours ? ns : 1); s++) {
        for (PetscInt r = 0; r < repeats; r++) PetscCall(TimeWhole(&S, types[t], storages[s], r));
        for (PetscInt r = 0; r < repeats && ours && steps; r++) PetscCall(TimeSteps(&S, storages[s], r));
      }
    }
    PetscCall(PetscFree3(S.row, S.col, S.val));
  }
  for (PetscInt s = 0; s < ns; s++) PetscCall(PetscFree(storages[s]));
  for (PetscInt t = 0; t < nt; t++) PetscCall(PetscFree(types[t]));
  PetscCall(PetscFinalize());
  return 0;
}
