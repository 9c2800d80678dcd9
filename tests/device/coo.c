static char help[] = "MatSetValuesCOO() with values in host memory and with values in device memory gives the same matrix, and the same image as an upload.\n\n\
  -ignore : entries in rows of other ranks are ignored\n\
  -mixed  : only the first rank's values are on the device\n\n";

#include "device/gpdeviceimpl.h"
#include "gpucsr.h"
#include "sys/gpucsrsys.h"

#define N 40

static PetscBool    Ignore = PETSC_FALSE, Mixed = PETSC_FALSE;
static GpDevOps     Ops; /* operations of the device. On the host backend holds() is replaced, so that an array on the host passes for GPU memory. */
static PetscScalar *There;

static GpErr Holds(GpDev dev, const void *pointer, int *holds)
{
  *holds = pointer == There;
  return GP_SUCCESS;
}

/* Indices of the element matrices of a line with some long-range elements: repeated entries, rows of other ranks, and negative indices. */
static PetscErrorCode Indices(PetscCount *n, PetscInt **i, PetscInt **j)
{
  PetscMPIInt rank, size;
  PetscCount  k = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMalloc2(16 * N, i, 16 * N, j));
  for (PetscInt e = rank; e < N; e += size) {
    const PetscInt node[4] = {e, (e + 1) % N, (e + 2) % N, e % 5 ? (7 * e) % N : -1};

    for (int a = 0; a < 4; a++) {
      for (int b = 0; b < 4; b++) {
        (*i)[k]   = node[a];
        (*j)[k++] = node[b];
      }
    }
  }
  *n = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscCount n;
  PetscInt  *i, *j;

  PetscFunctionBeginUser;
  PetscCall(Indices(&n, &i, &j));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, type));
  if (Ignore) PetscCall(MatSetOption(*A, MAT_IGNORE_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatSetPreallocationCOO(*A, n, i, j));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares every column and row, computed by products with unit vectors, with those of a newly uploaded copy and of plain AIJ. */
static PetscErrorCode Same(const char what[], Mat A, Mat plain)
{
  Mat       copy;
  Vec       x, y[3];
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &copy));
  PetscCall(MatCreateVecs(plain, &x, &y[0]));
  for (int k = 1; k < 3; k++) PetscCall(VecDuplicate(y[0], &y[k]));
  for (PetscInt j = 0; j < N; j++) {
    const Mat B[3] = {A, copy, plain};

    PetscCall(VecSet(x, 0));
    PetscCall(VecSetValue(x, j, 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    for (int t = 0; t < 2; t++) {
      for (int k = 0; k < 3; k++) PetscCall(t ? MatMultTranspose(B[k], x, y[k]) : MatMult(B[k], x, y[k]));
      for (int k = 1; k < 3; k++) {
        PetscCall(VecEqual(y[0], y[k], &same));
        PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s %" PetscInt_FMT " of the image differs from %s", what, t ? "row" : "column", j, k == 1 ? "an upload" : "plain AIJ");
      }
    }
  }
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&y[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&copy));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: equal to plain AIJ\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Uploads(PetscInt *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("GPUCSRUpload", &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev           dev;
  const GpDevOps *real;
  Mat             A, plain;
  Vec             x, y;
  PetscCount      n;
  PetscInt       *i, *j, before, after;
  PetscScalar    *v;
  PetscMPIInt     rank;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-ignore", &Ignore, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mixed", &Mixed, NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscGPUCSRGetDevice(&dev));
  real = dev->ops;
  Ops  = *real;
  if (GpDevKindOf(dev) == GP_DEV_HOST) Ops.holds = Holds;
  dev->ops = &Ops;

  PetscCall(Indices(&n, &i, &j));
  PetscCall(PetscFree2(i, j));
  PetscCall(PetscMalloc1(n, &v));
  PetscCallGp(dev, "allocation", GpDevAlloc(dev, (size_t)n * sizeof(*v), &There));
  PetscCall(Create(MATAIJGPUCSR, &A));
  PetscCall(Create(MATAIJ, &plain));
  PetscCall(MatCreateVecs(plain, &x, &y));
  for (int round = 0; round < 6; round++) {
    const char *const what[] = {"from the host", "from the device", "again", "added from the host", "added from the device", "inserted once more"};
    const InsertMode  mode   = round == 3 || round == 4 ? ADD_VALUES : INSERT_VALUES;
    const PetscBool   host   = (PetscBool)(round == 0 || round == 3 || (Mixed && rank > 0));

    for (PetscCount k = 0; k < n; k++) v[k] = (PetscReal)((k * (7 + round)) % 64) / 8 - 3; /* multiples of 1/8, so that sums are exact in any order */
    PetscCallGp(dev, "upload", GpDevUpload(dev, There, v, (size_t)n * sizeof(*v)));
    PetscCallGp(dev, "sync", GpDevSync(dev));
    PetscCall(MatSetValuesCOO(plain, v, mode));
    PetscCall(Uploads(&before));
    PetscCall(MatSetValuesCOO(A, host ? v : There, mode));
    PetscCall(MatMult(A, x, y));
    PetscCall(Uploads(&after));
    PetscCheck(round != 2 || Mixed || after == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The values were assembled on the device, but uploaded nevertheless");
    PetscCall(Same(what[round], A, plain));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&plain));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscFree(v));
  GpDevFree(dev, &There, (size_t)n * sizeof(*v));
  dev->ops = real;
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/coo_1.out
      test:
         suffix: 1
         nsize: {{1 2 3}}
         args: -mat_gpucsr_storage {{single double}} -mat_gpucsr_transpose {{eager lazy}}
      test:
         suffix: mpi
         nsize: 4
         args: -mat_gpucsr_halo_type mpi -gpucsr_device host
      test:
         suffix: ignore
         nsize: {{2 4}}
         args: -ignore
      test:
         suffix: mixed
         nsize: {{2 4}}
         args: -mixed

TEST*/
