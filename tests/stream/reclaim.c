static char help[] = "Resident chunks are freed when another allocation fails, also during a product, and products keep their bits; workspace is kept during a product.\n\n\
  -rows n : rows of the matrix\n\n";

#include "operator.h"

static int64_t Allocations; /* number of allocations in device memory */
static double  Peak;        /* largest number of bytes of device memory that were held after an allocation */

static GpErr CountAllocation(GpDev dev, size_t bytes, void **ptr)
{
  Allocations++;
  Peak = PetscMax(Peak, GpDevBytesHeld(dev) + (double)bytes);
  return Real->alloc_shared(dev, bytes, ptr);
}

/* Bounds the device memory to what is held now and some bytes more. */
static void LimitMore(GpDev dev, double bytes)
{
  GpDevSetMemoryLimit(dev, GpDevBytesHeld(dev) + bytes);
}

static double Resident(GpOpStream S)
{
  GpOpStreamInfo info;

  GpOpStreamGetInfo(S, &info);
  return info.stream.resident_bytes;
}

/* Measures the workspace in bytes that products with the operator of the matrix or of its transpose allocate and keep. It depends on the backend. */
static PetscErrorCode MeasureProducts(GpDev dev, Test *T, int t, const Vectors *V, double *bytes)
{
  const GpOpStreamOptions all = {.chunk = CHUNK, .resident = 1e15, .threads = 1};
  GpOpStreamInfo          before, after;
  GpOpStream              S;
  GpLoss                  loss;

  PetscFunctionBegin;
  PetscCallGp(dev, "an operator", Stream(dev, T, t, &all, -1, &S, &loss));
  GpOpStreamGetInfo(S, &before);
  PetscCall(Compare(dev, "without a bound", S, &T->csr[t], V));
  GpOpStreamGetInfo(S, &after);
  *bytes = after.device_bytes - before.device_bytes;
  GpOpStreamDestroy(&S);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other allocations take the memory of resident chunks: a plain allocation, a second operator, and one that cannot succeed. */
static PetscErrorCode CheckOthers(GpDev dev, Test *T, const Vectors *V)
{
  const GpOpStreamOptions all = {.chunk = CHUNK, .resident = 1e15, .threads = 1};
  GpOpStream              S[2];
  GpLoss                  loss;
  double                  before, after, workspace;
  void                   *other, *none;

  PetscFunctionBegin;
  PetscCall(MeasureProducts(dev, T, 1, V, &workspace));
  PetscCallGp(dev, "an operator", Stream(dev, T, 0, &all, -1, &S[0], &loss));
  PetscCall(Compare(dev, "all resident", S[0], &T->csr[0], V));
  before = Resident(S[0]);
  LimitMore(dev, 1000);
  PetscCallGp(dev, "another allocation", GpDevAlloc(dev, 100000, &other));
  after = Resident(S[0]);
  Check(after > 0 && after <= before - 99000, "%g of %g bytes are resident after an allocation of 100000 bytes", after, before);
  PetscCall(Compare(dev, "after an allocation", S[0], &T->csr[0], V));
  PetscCallGp(dev, "a second operator", Stream(dev, T, 1, &all, -1, &S[1], &loss));
  Check(Resident(S[0]) < after && Resident(S[0]) + Resident(S[1]) > 0, "%g bytes are resident after a second operator was created", Resident(S[0]));
  GpDevSetMemoryLimit(dev, dev->limit + workspace); /* on a GPU it is most of the memory of resident chunks */
  for (int repeat = 0; repeat < 2; repeat++) {
    for (int t = 0; t < 2; t++) PetscCall(Compare(dev, "two operators", S[t], &T->csr[t], V));
  }
  Check(GpDevAlloc(dev, 100000000, &none) == GP_ERR_MEMORY && strstr(GpDevError(dev), "100000000 bytes asked for"), "\"%s\"", GpDevError(dev));
  Check(!none && Resident(S[0]) == 0 && Resident(S[1]) == 0, "an allocation failed while %g bytes are resident", Resident(S[0]) + Resident(S[1]));
  for (int t = 1; t >= 0; t--) PetscCall(Compare(dev, "nothing resident", S[t], &T->csr[t], V));
  GpDevFree(dev, &other, 100000);
  for (int t = 0; t < 2; t++) GpOpStreamDestroy(&S[t]);
  PetscCallGp(dev, "memory after all operators are destroyed", GpDevAlloc(dev, 200000, &other));
  GpDevFree(dev, &other, 200000);
  GpDevSetMemoryLimit(dev, 1e15);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "other allocations: resident chunks are freed\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products with the transpose from the chunks of the matrix need workspace. */
static PetscErrorCode CheckWorkspace(GpDev dev, Test *T, const Vectors *V)
{
  const size_t            all = COLUMNS * V->length;
  const GpOpStreamOptions o   = {.chunk = CHUNK, .resident = 1e15, .threads = 1};
  GpOpStream              S;
  GpOpStreamInfo          info;
  GpLoss                  loss;
  double                 *first, before, peak[PRODUCTS];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(all, &first));
  PetscCallGp(dev, "an operator", Stream(dev, T, 0, &o, -1, &S, &loss));
  GpOpStreamGetInfo(S, &info);
  Shared = 1;
  for (int product = 0; product < PRODUCTS; product++) {
    PetscCall(Multiply(dev, (Product)product, S, NULL, 0, V, first));
    Allocations = 0;
    PetscCall(Multiply(dev, (Product)product, S, NULL, 0, V, V->now));
    Check(Allocations < 12 && info.stream.items > 20, "product %d with %d chunks has %d allocations", product, (int)info.stream.items, (int)Allocations);
    Check(!memcmp(first, V->now, all * sizeof(double)), "product %d has other bits", product);
  }
  GpOpStreamDestroy(&S);
  Shared = 0;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "workspace: kept during a product\n"));
  for (int run = 0; run < 2 * PRODUCTS; run++) {
    const int bounded = run % 2; /* 0: measures the memory of the product; 1: half of the resident chunks do not fit beside it */
    const int product = run / 2;

    PetscCallGp(dev, "an operator", Stream(dev, T, 0, &o, -1, &S, &loss));
    PetscCall(Compare(dev, "all resident", S, &T->csr[0], V));
    before = Resident(S);
    Peak   = 0;
    if (bounded) GpDevSetMemoryLimit(dev, peak[product] - before / 2);
    Shared = 1;
    for (int repeat = 0; repeat < 3; repeat++) {
      PetscCall(Multiply(dev, (Product)product, S, NULL, 0, V, repeat ? V->now : first));
      Check(!repeat || !memcmp(first, V->now, all * sizeof(double)), "product %d has other bits if memory is reclaimed", product);
    }
    Shared        = 0;
    peak[product] = Peak;
    if (bounded) Check(Resident(S) > 0 && Resident(S) <= before / 2, "%g of %g bytes are resident", Resident(S), before);
    else Check(Peak > before && Resident(S) == before, "%g of %g bytes are resident without a bound", Resident(S), before);
    PetscCall(Compare(dev, "after reclaiming", S, &T->csr[0], V));
    GpOpStreamDestroy(&S);
    GpDevSetMemoryLimit(dev, 1e15);
  }
  PetscCall(PetscFree(first));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "workspace: resident chunks are freed during a product\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the buffers do not fit, chunks become smaller unless the caller has set their size or results depend on it. */
static PetscErrorCode CheckSmaller(GpDev dev, Test *T, const Vectors *V)
{
  GpOpStreamOptions o[] = {{.resident = 0}, {.resident = 0, .chunk = GP_CHUNK_BYTES}, {.resident = 0, .fixed = 1}};
  GpOpStream        S;
  GpOpStreamInfo    info;
  GpLoss            loss;
  double            workspace;

  PetscFunctionBegin;
  PetscCall(MeasureProducts(dev, T, 0, V, &workspace));
  for (double more = 30000; more < 750.0 * (double)T->A->m; more *= 4) {
    LimitMore(dev, more);
    PetscCallGp(dev, "smaller chunks", Stream(dev, T, 0, &o[0], -1, &S, &loss));
    GpOpStreamGetInfo(S, &info);
    Check(info.device_bytes <= more && info.chunk < (double)GP_CHUNK_BYTES && info.stream.items > 1, "%g bytes of device memory for %d chunks", info.device_bytes, (int)info.stream.items);
    GpDevSetMemoryLimit(dev, dev->limit + workspace); /* smaller chunks do not reduce it, because it holds packed columns */
    PetscCall(Compare(dev, "smaller chunks", S, &T->csr[0], V));
    GpOpStreamDestroy(&S);
    LimitMore(dev, more);
    for (int k = 1; k < 3; k++) Check(Stream(dev, T, 0, &o[k], -1, &S, &loss) == GP_ERR_MEMORY && !S && strstr(GpDevError(dev), "bytes asked for"), "\"%s\"", GpDevError(dev));
  }
  GpDevSetMemoryLimit(dev, 1e15);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "too little memory for buffers: chunks are smaller\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev       dev;
  BenchMatrix A;
  Vectors     V;
  Test        T;
  PetscInt    rows = 4000;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rows", &rows, NULL));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  Real     = dev->ops;
  Ops      = *Real;
  dev->ops = &Ops;
  if (GpDevKindOf(dev) == GP_DEV_HOST) Ops.holds = Holds;
  Ops.alloc_shared = CountAllocation;
  GpDevSetMemoryLimit(dev, 1e15); /* from here on, all memory is allocated as with a limit */
  BenchRows(&A, (int32_t)rows, (int32_t)rows + 1000, 60, 1, 2);
  PetscCall(VectorsCreate(dev, A.m, A.n, &V));
  PetscCall(TestCreate(dev, &A, GP_F32, &T));
  PetscCall(CheckOthers(dev, &T, &V));
  PetscCall(CheckWorkspace(dev, &T, &V));
  PetscCall(CheckSmaller(dev, &T, &V));
  PetscCall(TestDestroy(&T));
  PetscCall(VectorsDestroy(dev, &V));
  BenchMatrixDestroy(&A);
  Check(GpDevBytesHeld(dev) == 0, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  dev->ops = Real;
  GpDevSetMemoryLimit(dev, 0);
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: all

TEST*/
