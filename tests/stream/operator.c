static char help[] = "The operator that streams chunks: products with a matrix and its transpose have the bits of ordinary products, whatever is resident; refills and failures.\n\n\
  -every n : tests every n-th combination of matrices and options, and smaller matrices\n\n";

#include "operator.h"

#define MATRICES 6

static GpErr RefusePin(GpDev dev, void *memory, size_t bytes)
{
  return GpDevFail(dev, GP_ERR_MEMORY, "%zu bytes of host memory cannot be pinned: the test refuses", bytes);
}
/* The small matrices still have several chunks. */
static void Make(int which, int small, BenchMatrix *A, const char **name)
{
  static const char *const names[MATRICES] = {"7-point stencil", "text", "R-MAT", "uneven rows", "no nonzeros", "no rows"};

  *name = names[which];
  if (which == 0) BenchStencil(A, small ? 15 : 23, 0, 1);
  else if (which == 1) BenchRows(A, small ? 800 : 4000, 5000, 60, 1, 2);
  else if (which == 2) BenchRmat(A, small ? 10 : 12, 9, 3);
  else if (which == 3) BenchUneven(A, 5); /* a row of 5000 nonzeros is larger than a chunk */
  else BenchMatrixCreate(A, which == 4 ? 700 : 0, 80, 0);
}
/* Products with the transpose from the chunks of the matrix: near the ordinary ones, with the same bits whatever is resident. */
static PetscErrorCode CheckShared(GpDev dev, const char *name, Test *T, const Vectors *V)
{
  const size_t all = COLUMNS * V->length;
  double      *first;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(all, &first));
  for (int product = 0; product < PRODUCTS; product++) {
    for (int share = 0; share < 3; share++) {
      GpOpStreamOptions o = {.chunk = CHUNK, .resident = share == 2 ? 1e15 : share * 20000.0, .threads = 1};
      GpOpStream        S;
      GpLoss            loss;

      PetscCallGp(dev, name, Stream(dev, T, 0, &o, -1, &S, &loss));
      Shared = 1;
      PetscCall(Multiply(dev, (Product)product, S, NULL, 0, V, V->now));
      Shared = 0;
      PetscCall(Multiply(dev, (Product)product, NULL, &T->csr[1], GP_SPMV_csrscalar, V, V->whole));
      if (!share) PetscCall(PetscArraycpy(first, V->now, all));
      Check(!memcmp(first, V->now, all * sizeof(double)), "%s: product %d with the transpose: other bits with other resident chunks", name, product);
      for (size_t k = 0; k < all; k++) Check(fabs(V->now[k] - V->whole[k]) <= 1e-11 * (1 + fabs(V->whole[k])), "%s: product %d with the transpose: entry %zu is %g, not %g", name, product, k, V->now[k], V->whole[k]);
      GpOpStreamDestroy(&S);
    }
  }
  PetscCall(PetscFree(first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckInfo(GpDev dev, const char *what, GpOpStream S, const GpOpStreamOptions *o, int refused)
{
  GpOpStreamInfo info;
  double         resident;

  PetscFunctionBegin;
  GpOpStreamGetInfo(S, &info);
  resident = info.stream.resident_bytes;
  Check(!refused == !info.stream.pageable_bytes || !info.stream.bytes, "%s: %g bytes are pageable", what, info.stream.pageable_bytes);
  if (!GpDevHasMemory(dev)) PetscFunctionReturn(PETSC_SUCCESS);
  Check(resident <= o->resident, "%s: %g bytes are resident, not at most %g", what, resident, o->resident);
  Check(o->resident < 1e12 || resident == info.stream.bytes, "%s: only %g of %g bytes are resident", what, resident, info.stream.bytes);
  Check(info.stream.moved_last == info.stream.bytes - resident, "%s: the last product moved %g bytes", what, info.stream.moved_last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckMatrix(GpDev dev, const char *name, const BenchMatrix *A, GpPrec prec, int *combination, int every)
{
  const double share[]   = {0, 0.5, 1e6};
  const int    kernels[] = {-1, (int)GP_SPMV_csrvector8, (int)GP_SPMV_csrsplit, (int)GP_SPMV_csrsegment};
  Vectors      V;
  Test         T;

  PetscFunctionBegin;
  PetscCall(VectorsCreate(dev, A->m, A->n, &V));
  PetscCall(TestCreate(dev, A, prec, &T));
  for (int t = 0; t < 2; t++) {
    for (int c = 0; c < 24; c++) { /* resident chunks, buffers, encoding, pinning, kernels */
      const int         refused = c % 4 == 3;
      GpOpStreamOptions o       = {.chunk = CHUNK, .resident = share[c % 3] * GpCsrBytes(&T.csr[t]) / 2, .buffers = c % 5, .threads = c % 7, .plain = c % 8 > 5};
      GpOpStream        S;
      GpLoss            loss;
      char              what[128];

      if ((*combination)++ % every) continue;
      if (c % 3 == 2) o.resident = 1e15;
      (void)snprintf(what, sizeof(what), "%s%s, %s, case %d", name, t ? ", transpose" : "", prec == GP_F32 ? "single" : "double", c);
      Ops.pin = refused ? RefusePin : Real->pin;
      PetscCallGp(dev, what, Stream(dev, &T, t, &o, kernels[c / 6], &S, &loss));
      PetscCall(Compare(dev, what, S, &T.csr[t], &V));
      PetscCall(CheckInfo(dev, what, S, &o, refused));
      GpOpStreamDestroy(&S);
    }
  }
  Ops.pin = Real->pin;
  if (!(*combination / 48 % PetscMin(every, 4))) PetscCall(CheckShared(dev, name, &T, &V)); /* if not all combinations are tested, of one of four matrices */
  PetscCall(TestDestroy(&T));
  PetscCall(VectorsDestroy(dev, &V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- new values, failures -------------------------------------------------------------------------------------------------------------- */

/* New values of the same and of another encoding. The chunk of a small matrix has the same size with both. */
static PetscErrorCode CheckRefill(GpDev dev, BenchMatrix *A)
{
  const GpOpStreamOptions o    = {.chunk = CHUNK, .resident = 60000, .threads = 2};
  uint64_t                seed = 7;
  Vectors                 V;
  Test                    T;
  GpRowSource             rows;
  GpOpStream              S;
  GpLoss                  loss;

  PetscFunctionBegin;
  PetscCall(VectorsCreate(dev, A->m, A->n, &V));
  PetscCall(TestCreate(dev, A, GP_F32, &T));
  PetscCallGp(dev, "refill", Stream(dev, &T, 0, &o, -1, &S, &loss));
  GpOpRowsOfArrays(&T.source, &rows);
  for (int step = 0; step < 4; step++) {
    for (int32_t k = 0; k < A->nnz; k++) A->val[k] = step == 2 ? 3 : BenchUniform(&seed);
    PetscCallGp(dev, "values", GpCsrSetValues(&T.csr[0], A->val, &loss));
    PetscCallGp(dev, "refill", GpOpStreamRefill(S, &rows, &loss));
    Check((loss.rounded > A->nnz / 2 && loss.worst > 0 && loss.at >= 0) == (step != 2), "%d values were rounded", (int)loss.rounded);
    if (step != 2) {
      const double v = A->val[loss.at];

      Check(fabs((double)(float)v - v) / v == loss.worst, "the position of the largest rounding error is wrong");
    }
    PetscCall(Compare(dev, "refill", S, &T.csr[0], &V));
  }
  A->val[A->nnz - 10] = 1e300;
  Check(GpOpStreamRefill(S, &rows, &loss) == GP_ERR_ARGUMENT && loss.overflow == A->nnz - 10, "an overflow is at %d", (int)loss.overflow);
  GpOpStreamDestroy(&S);
  PetscCall(TestDestroy(&T));
  PetscCall(VectorsDestroy(dev, &V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFailures(GpDev dev)
{
  GpOpStreamOptions o = {.chunk = CHUNK};
  BenchMatrix       A;
  Test              T;
  GpOpStream        S;
  GpLoss            loss;

  PetscFunctionBegin;
  BenchUneven(&A, 5);
  PetscCall(TestCreate(dev, &A, GP_F32, &T));
  A.val[A.nnz / 2] = -1e39;
  Check(Stream(dev, &T, 0, &o, -1, &S, &loss) == GP_ERR_ARGUMENT && loss.overflow == A.nnz / 2 && !S && strstr(GpDevError(dev), "overflows single precision"), "\"%s\"", GpDevError(dev));
  A.val[A.nnz / 2] = 1;
  A.col[77]        = A.n;
  Check(Stream(dev, &T, 0, &o, -1, &S, &loss) == GP_ERR_ARGUMENT && loss.overflow < 0 && strstr(GpDevError(dev), "but the matrix has 40000 columns"), "\"%s\"", GpDevError(dev));
  A.col[77] = 0;
  T.rowptr[1500] -= 1000000;
  Check(Stream(dev, &T, 0, &o, -1, &S, &loss) == GP_ERR_ARGUMENT && strstr(GpDevError(dev), "the row pointer of row 1500 is less"), "\"%s\"", GpDevError(dev));
  T.rowptr[1500] += 1000000;
  if (GpDevHasMemory(dev)) {
    o.resident = 1e9;
    GpDevSetMemoryLimit(dev, GpDevBytesHeld(dev) + 60000); /* enough for the workspace, but not for three buffers */
    Check(Stream(dev, &T, 0, &o, -1, &S, &loss) == GP_ERR_MEMORY && strstr(GpDevError(dev), "bytes asked for (3 buffers of") && strstr(GpDevError(dev), "raise -gpucsr_device_memory"), "\"%s\"", GpDevError(dev));
    GpDevSetMemoryLimit(dev, 0);
  }
  PetscCall(TestDestroy(&T));
  BenchMatrixDestroy(&A);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "failures: reported\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAll(GpDev dev, int every)
{
  int combination = 0;

  PetscFunctionBegin;
  for (int which = 0; which < MATRICES; which++) {
    BenchMatrix A;
    const char *name;

    Make(which, every > 1, &A, &name);
    for (int prec = 0; prec < GP_PRECISIONS; prec++) PetscCall(CheckMatrix(dev, name, &A, (GpPrec)prec, &combination, every));
    BenchMatrixDestroy(&A);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: streamed products have the bits of ordinary ones\n", name));
  }
  for (int which = 0; which < 2; which++) {
    BenchMatrix A;

    if (which) BenchStencil(&A, 2, 0, 1);
    else BenchRows(&A, every > 1 ? 800 : 3000, 5000, 60, 1, 2);
    PetscCall(CheckRefill(dev, &A));
    BenchMatrixDestroy(&A);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "new values: encoded again\n"));
  PetscCall(CheckFailures(dev));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt every = 1;
  GpDev    dev;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  Real     = dev->ops;
  Ops      = *Real;
  dev->ops = &Ops;
  if (GpDevKindOf(dev) == GP_DEV_HOST) { /* chunks in place */
    int combination = 0;

    BenchMatrix A;

    BenchRmat(&A, every > 1 ? 10 : 12, 9, 3);
    PetscCall(CheckMatrix(dev, "in place", &A, GP_F32, &combination, (int)every));
    BenchMatrixDestroy(&A);
    Ops.holds = Holds;
  }
  PetscCall(TestAll(dev, (int)every));
  dev->ops = Real;
  Check(GpDevBytesHeld(dev) == 0, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: all

TEST*/
