static char help[] =
  "Sizes near 2^31: tiles of a matrix with so many nonzeros, errors for sizes that are too large, and every format of a matrix with so many columns. Memory is limited, so that formats that need an array of that many entries must fail with a message.\n\n";

#include "device/gpdeviceimpl.h"
#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/operator/gpoperator.h"
#include "mat/impls/gpucsr/selector/gpselect.h"
#include "sys/gpucsrsys.h"
#include <sys/mman.h>

#define ROWS  600
#define EACH  6
#define LIMIT ((size_t)256 << 20)

static const GpDevOps *unlimited;

static GpErr LimitedAlloc(GpDev dev, size_t bytes, void **p)
{
  return bytes > LIMIT ? GpDevFail(dev, GP_ERR_MEMORY, "%.0f bytes exceed the memory limit of this test", (double)bytes) : unlimited->alloc(dev, bytes, p);
}

static GpErr LimitedBorrow(GpDev dev, size_t bytes, void **p)
{
  return bytes > LIMIT ? GpDevFail(dev, GP_ERR_MEMORY, "%.0f bytes exceed the memory limit of this test", (double)bytes) : unlimited->borrow(dev, bytes, p);
}

/* Cuts a matrix of 2^31-1 nonzeros into tiles. Only its row pointers exist. */
static PetscErrorCode TestTiles(GpDev dev)
{
  const int32_t tiles[][2] = {{GP_TILE, GP_TILE_ROWS}, {GP_PANEL_TILE, GP_PANEL_ROWS}};
  int32_t       rowptr[ROWS + 1];
  GpCsr         A = {dev, GP_F32, ROWS, 1000, INT32_MAX, NULL, NULL, NULL};

  PetscFunctionBegin;
  for (int32_t i = 0; i <= ROWS; i++) rowptr[i] = (int32_t)((int64_t)INT32_MAX * (i / 3) / (ROWS / 3)); /* two of three rows are empty */
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(tiles); c++) {
    GpCsrTile T = {0, 0, NULL, NULL, NULL, NULL, NULL, NULL};
    int32_t  *start, *row;

    PetscCallGp(dev, "tiles", GpCsrTileCreate(&A, rowptr, tiles[c][0], tiles[c][1], &T));
    PetscCall(PetscMalloc2(T.ntiles + 1, &start, T.ntiles + 1, &row));
    PetscCallGp(dev, "start", GpDevDownload(dev, start, T.start, ((size_t)T.ntiles + 1) * sizeof(int32_t)));
    PetscCallGp(dev, "row", GpDevDownload(dev, row, T.row, ((size_t)T.ntiles + 1) * sizeof(int32_t)));
    PetscCheck(start[0] == 0 && row[0] == 0 && start[T.ntiles] == INT32_MAX && row[T.ntiles] == ROWS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Tiles %d end at nonzero %d, row %d", (int)c, (int)start[T.ntiles], (int)row[T.ntiles]);
    for (int32_t t = 0; t < T.ntiles; t++) {
      PetscCheck(start[t + 1] >= start[t] && start[t + 1] - start[t] <= tiles[c][0] && row[t + 1] >= row[t], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Tiles %d: %d has nonzeros %d to %d, rows %d to %d", (int)c, (int)t, (int)start[t], (int)start[t + 1],
                 (int)row[t], (int)row[t + 1]);
      for (int32_t i = row[t]; i < row[t + 1]; i++) PetscCheck(rowptr[i] >= start[t] && rowptr[i] <= start[t + 1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Tiles %d: row %d does not start in %d", (int)c, (int)i, (int)t);
    }
    PetscCheck(T.nspans == ROWS / 3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Tiles %d: %d rows span several tiles, not %d", (int)c, (int)T.nspans, ROWS / 3);
    GpCsrTileDestroy(dev, &T);
    PetscCall(PetscFree2(start, row));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "2^31-1 nonzeros are cut into tiles\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes that 32-bit indices cannot count are rejected before any array except the row pointers is read. */
static PetscErrorCode TestTooMany(GpDev dev)
{
  const GpOpOptions options  = {.prec = GP_F32, .kernel = -1};
  const PetscInt    empty[2] = {0, 0}, full[2] = {0, GP_OP_MOST + 1};
  PetscErrorCode    errors[2];
  GpOp              op;

  PetscFunctionBegin;
  PetscCall(GpOpCreate(dev, &op));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  errors[0] = GpOpSetUp(op, &options, 1, GP_OP_MOST + 1, empty, NULL, NULL, NULL);
  errors[1] = GpOpSetUp(op, &options, 1, 1, full, NULL, NULL, NULL);
  PetscCall(PetscPopErrorHandler());
  for (int k = 0; k < 2; k++) PetscCheck(errors[k] == PETSC_ERR_ARG_OUTOFRANGE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "One %s too many gives the error code %d", k ? "nonzero" : "column", (int)errors[k]);
  PetscCall(GpOpDestroy(&op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Column k of row i, ascending in k: on diagonals at the beginning, in the middle and at the end of the columns. */
static int32_t Column(int32_t n, int32_t i, int k)
{
  return k < 2 ? i + k : k == 2 ? n / 2 + i : n - ROWS - 4 + i + k - 2;
}

/* Allocates x with n entries, of which few are used. On the host only the pages that are written take memory. */
static PetscErrorCode GetX(GpDev dev, size_t n, double **x)
{
  void *p;

  PetscFunctionBegin;
  *x = NULL;
  if (GpDevKindOf(dev) == GP_DEV_HOST) {
    p = mmap(NULL, n * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) *x = (double *)p;
  } else if (!unlimited->alloc(dev, n * sizeof(double), &p)) *x = (double *)p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckKernel(GpDev dev, const GpFmt *F, int kernel, const double *x, double *y, const double gold[])
{
  double host[ROWS];

  PetscFunctionBegin;
  for (int32_t i = 0; i < ROWS; i++) host[i] = NAN;
  PetscCallGp(dev, "y", GpDevUpload(dev, y, host, sizeof(host)));
  PetscCallGp(dev, GpKernelTable[kernel].name, GpKernelTable[kernel].mult[GpDevKindOf(dev)][F->csr->prec](F, x, NULL, y));
  PetscCallGp(dev, "y", GpDevDownload(dev, host, y, sizeof(host)));
  for (int32_t i = 0; i < ROWS; i++) PetscCheck(fabs(host[i] - gold[i]) <= 1e-13 * EACH, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d is %.17g, not %.17g", GpKernelTable[kernel].name, (int)i, host[i], gold[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every kernel on a matrix of 2^31-2 columns gives the right product, or its format fails with a message. */
static PetscErrorCode TestColumns(GpDev dev)
{
  const int32_t n = INT32_MAX - 1, nnz = ROWS * EACH;
  PetscInt      ri[ROWS + 1], ci[ROWS * EACH];
  double        val[ROWS * EACH], gold[ROWS], *x, *y;
  int32_t       rowptr[ROWS + 1];
  uint64_t      seed  = 31;
  int           right = 0, refused = 0;
  GpCsr         C;
  GpLoss        loss;
  GpFeatures    F;

  PetscFunctionBegin;
  PetscCall(GetX(dev, (size_t)n, &x));
  if (!x) {
    PetscCall(PetscInfo(NULL, "not enough memory for a vector of 2^31-2 entries\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallGp(dev, "y", GpDevAlloc(dev, sizeof(gold), &y));
  for (int32_t i = 0; i < ROWS; i++) {
    rowptr[i] = i * EACH;
    gold[i]   = 0;
    for (int k = 0; k < EACH; k++) {
      const int32_t j     = Column(n, i, k);
      const double  value = 1.0 / 1024 * (j % 1021) - 0.5; /* value of x in column j, which may occur several times */

      ci[i * EACH + k]  = j;
      val[i * EACH + k] = BenchValue(&seed);
      gold[i] += val[i * EACH + k] * value;
      PetscCallGp(dev, "x", GpDevUpload(dev, x + j, &value, sizeof(value)));
    }
  }
  rowptr[ROWS] = nnz;
  for (int32_t i = 0; i <= ROWS; i++) ri[i] = rowptr[i];
  PetscCallGp(dev, "rows", GpCsrCreate(dev, GP_F32, ROWS, n, nnz, &C));
  PetscCallGp(dev, "pattern", GpCsrSetPattern(&C, ri, ci));
  PetscCallGp(dev, "values", GpCsrSetValues(&C, val, &loss));
  PetscCheck(GpSelFeatures(&C, &F) == GP_ERR_MEMORY && strstr(GpDevError(dev), "limit"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "GpSelFeatures() needs an array with an entry for every column, but did not report the memory limit: %s", GpDevError(dev));
  for (int kernel = 0; kernel < GP_KERNELS; kernel++) {
    GpFmt fmt;
    GpErr err = GpFmtBuild(&fmt, GpKernelTable[kernel].format, &C, rowptr);

    PetscCheck(!err || err == GP_ERR_ARGUMENT || err == GP_ERR_MEMORY, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", GpKernelTable[kernel].name, GpDevError(dev));
    if (err) {
      PetscCall(PetscInfo(NULL, "%s: %s\n", GpKernelTable[kernel].name, GpDevError(dev)));
      refused++;
      continue;
    }
    PetscCall(PetscInfo(NULL, "%s: built\n", GpKernelTable[kernel].name));
    PetscCall(CheckKernel(dev, &fmt, kernel, x, y, gold));
    right++;
    GpFmtDestroy(&fmt);
  }
  PetscCheck(right >= 18 && refused, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d kernels gave the right product, %d formats were rejected; expected at least 18 and 1", right, refused);
  GpCsrDestroy(&C);
  GpDevFree(dev, &y, sizeof(gold));
  if (GpDevKindOf(dev) == GP_DEV_HOST) munmap(x, (size_t)n * sizeof(double));
  else unlimited->release(dev, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev    dev;
  GpDevOps limited;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  unlimited      = dev->ops;
  limited        = *dev->ops;
  limited.alloc  = LimitedAlloc;
  limited.borrow = LimitedBorrow;
  dev->ops       = &limited;
  PetscCall(TestTiles(dev));
  PetscCall(TestTooMany(dev));
  PetscCall(TestColumns(dev));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "2^31-2 columns: every kernel is right or its format is rejected\n"));
  dev->ops = unlimited;
  PetscCheck(GpDevBytesHeld(dev) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:

TEST*/
