static char help[] = "Times of set-up and application of the preconditioners gpufsai and gpuspai: CSV on standard output.\n\n\
  -grids <k,...>         k x k x k points, default 16,32\n\
  -wide <bool>           27-point stencils instead of 7-point stencils\n\
  -types <type/power,..> default gpufsai/1,gpufsai/2,gpufsai/3,gpuspai/1,gpuspai/2\n\
  -repeats <n>           set-ups with new values, of which the median is printed, default 7\n\
  -storage <single,double,auto>  storage of the matrix, default double\n\
  -host <bool>           the set-up runs on the host\n\
The column `reuse` is a set-up for new values on the same pattern, whose image on the device is current. `bytes` are those that it must move: the\n\
matrix and the pattern are read once, the values are written in double precision, and in single precision to the image and its transpose.\n\
`limit` is the fraction of the copy rate -rate (bytes a second, default 4.29e12, an H200) that it reaches with these bytes; the copy of the values\n\
to the host is not included in the bytes.\n\n";

#include "bench/matrices.h"
#include "bench/order.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "pc/impls/gpufsai/gpufsai.h"
#include "pc/impls/gpuspai/gpuspai.h"
#include <petscksp.h>

#define MAX 32

/* Creates a symmetric positive definite stencil whose values differ. */
static PetscErrorCode BenchCreateStencil(PetscInt k, PetscBool wide, MatGPUCSRStorage storage, Mat *A)
{
  BenchMatrix B;
  PetscInt   *rowptr, *col;
  Mat         aij;

  PetscFunctionBeginUser;
  BenchStencil(&B, (int)k, wide, 1);
  PetscCall(PetscMalloc2(B.m + 1, &rowptr, B.nnz, &col));
  for (int32_t i = 0; i <= B.m; i++) rowptr[i] = B.rowptr[i];
  for (int32_t i = 0; i < B.m; i++) {
    for (int32_t j = B.rowptr[i]; j < B.rowptr[i + 1]; j++) {
      const int32_t c = B.col[j], lo = PetscMin(i, c), hi = PetscMax(i, c);

      col[j]   = c;
      B.val[j] = c == i ? (wide ? 26.5 : 6.5) + 0.1 * (i % 7) : -0.8 - 0.2 * ((lo * 7 + hi * 13) % 101) / 101.;
    }
  }
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, B.m, B.n, rowptr, col, B.val, &aij));
  PetscCall(MatDuplicate(aij, MAT_COPY_VALUES, A)); /* owns its arrays */
  PetscCall(MatConvert(*A, MATGPUCSR, MAT_INPLACE_MATRIX, A));
  PetscCall(MatGPUCSRSetStorage(*A, storage));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatDestroy(&aij));
  PetscCall(PetscFree2(rowptr, col));
  BenchMatrixDestroy(&B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchTimeSetUp(PC pc, double *seconds)
{
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&begin));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Time of an application, in a loop whose end is a norm. */
static PetscErrorCode BenchTimeApply(PC pc, double *seconds)
{
  const PetscInt n = 50;
  Vec            x, y;
  PetscReal      norm;
  PetscLogDouble begin = 0, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(pc->pmat, &x, &y));
  PetscCall(VecSet(x, 1));
  for (PetscInt k = -5; k < n; k++) {
    if (!k) {
      PetscCall(VecNorm(y, NORM_2, &norm));
      PetscCall(PetscTime(&begin));
    }
    PetscCall(PCApply(pc, x, y));
  }
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(PetscTime(&end));
  *seconds = (end - begin) / (double)n;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchRun(PetscInt k, PetscBool wide, Mat A, const char spec[], PetscBool host, PetscInt repeats, PetscReal rate)
{
  char            type[32], *power;
  const PetscBool fsai = (PetscBool)(spec[3] == 'f');
  PC              pc;
  PCGPUInverse   *V;
  MatInfo         info, matrix;
  PetscInt        rows;
  double          first = 0, times[64], apply = 0, bytes;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(type, spec, sizeof(type)));
  PetscCall(PetscStrchr(type, '/', &power));
  PetscCheck(power, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "-types wants type/power, got %s", spec);
  *power++ = 0;
  PetscCall(PetscOptionsClearValue(NULL, fsai ? "-pc_gpufsai_host" : "-pc_gpuspai_host"));
  if (host) PetscCall(PetscOptionsSetValue(NULL, fsai ? "-pc_gpufsai_host" : "-pc_gpuspai_host", "1"));
  PetscCall(PetscOptionsSetValue(NULL, fsai ? "-pc_gpufsai_power" : "-pc_gpuspai_power", power));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(MatGPUCSRUpload(A));
  PetscCall(BenchTimeSetUp(pc, &first));
  for (PetscInt r = -2; r < repeats; r++) { /* the first set-ups with new values allocate what the others use again */
    double seconds = 0;

    PetscCall(MatScale(A, r % 2 ? 2 : 0.5));
    PetscCall(MatGPUCSRUpload(A));
    PetscCall(BenchTimeSetUp(pc, &seconds));
    if (r >= 0) times[r] = seconds;
  }
  qsort(times, (size_t)repeats, sizeof(double), CompareDoubles);
  PetscCall(BenchTimeApply(pc, &apply));
  V = fsai ? &((PC_GPUFSAI *)pc->data)->inverse : &((PC_GPUSPAI *)pc->data)->inverse;
  PetscCall(MatGetInfo(V->matrix, MAT_LOCAL, &info));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &matrix));
  PetscCall(MatGetLocalSize(A, &rows, NULL));
  bytes = matrix.nz_used * 12 + 8. * rows + info.nz_used * (4 + 8 + 8 + 4 + (fsai ? 4 + 4 + 4 : 0));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%s,%d,%" PetscInt_FMT ",%" PetscInt_FMT ",%.0f,%s,%.4f,%.6f,%.6f,%.0f,%.3f\n", type, power, wide ? 27 : 7, k, rows, info.nz_used, V->hosted ? V->why : "device", first, times[repeats / 2], apply, bytes,
                        bytes / rate / times[repeats / 2]));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt         grids[MAX] = {16, 32}, ng = MAX, nt = MAX, repeats = 7;
  PetscReal        rate    = 4.29e12;
  MatGPUCSRStorage storage = MAT_GPUCSR_STORAGE_DOUBLE;
  char            *types[MAX];
  const char      *defaults[] = {"gpufsai/1", "gpufsai/2", "gpufsai/3", "gpuspai/1", "gpuspai/2"}, *device;
  PetscBool        set, wide = PETSC_FALSE, host = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-grids", grids, &ng, &set));
  if (!set) ng = 2;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", types, &nt, &set));
  if (!set) {
    nt = PETSC_STATIC_ARRAY_LENGTH(defaults);
    for (PetscInt t = 0; t < nt; t++) PetscCall(PetscStrallocpy(defaults[t], &types[t]));
  }
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-wide", &wide, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-host", &host, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-rate", &rate, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-storage", MatGPUCSRStorages, (PetscEnum *)&storage, NULL));
  PetscCheck(repeats > 0 && repeats <= 64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeats must be 1 to 64");
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# gpucsr on %s, matrix in %s storage, median of %d set-ups; seconds\ntype,power,points,grid,rows,nonzeros,place,first,reuse,apply,bytes,limit\n", device, MatGPUCSRStorages[storage], (int)repeats));
  for (PetscInt g = 0; g < ng; g++) {
    Mat A;

    PetscCall(BenchCreateStencil(grids[g], wide, storage, &A));
    for (PetscInt t = 0; t < nt; t++) PetscCall(BenchRun(grids[g], wide, A, types[t], host, repeats, rate));
    PetscCall(MatDestroy(&A));
  }
  for (PetscInt t = 0; t < nt; t++) PetscCall(PetscFree(types[t]));
  PetscCall(PetscFinalize());
  return 0;
}
