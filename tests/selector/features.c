static char help[] = "Features of matrices counted on the device, compared with counts by simple loops.\n\n";

#include "device/gpdeviceimpl.h"
#include "bench/matrices.h"
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/selector/model/gpmodel.h"
#include "sys/gpucsrsys.h"

static int CompareKeys(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

/* Counts the distinct keys, at most limit + 1. Sorts the keys in place. */
static int64_t Distinct(int64_t n, uint64_t key[], int64_t limit)
{
  int64_t distinct = 0;

  qsort(key, (size_t)n, sizeof(uint64_t), CompareKeys);
  for (int64_t i = 0; i < n; i++) distinct += i == 0 || key[i] != key[i - 1];
  return distinct > limit ? limit + 1 : distinct;
}

static uint64_t Bits(double value, GpPrec prec)
{
  const float single = (float)value;
  uint32_t    small;
  uint64_t    bits;

  memcpy(&small, &single, sizeof(small));
  memcpy(&bits, &value, sizeof(bits));
  return prec == GP_F32 ? small : bits;
}

static int64_t Every(int64_t many)
{
  return many > 128 ? many / 128 : 1;
}

/* Counts over rows and slices. */
static PetscErrorCode CountRows(const BenchMatrix *A, GpPrec prec, GpSelCounts *C)
{
  uint64_t *whole, sector[32];
  PetscBool tooLong = PETSC_FALSE;
  int64_t   slices  = (A->m + 31) / 32;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->m, &whole));
  for (int32_t i = 0; i < A->m; i++) {
    const int32_t length = A->rowptr[i + 1] - A->rowptr[i];
    int           bin    = 0;

    if (length > 64) tooLong = PETSC_TRUE;
    whole[i] = (uint64_t)length; /* hash of the whole row: a polynomial in a large odd number */
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) whole[i] = (whole[i] * 0xc2b2ae3d27d4eb4fULL + (uint64_t)(A->col[k] - i + A->m)) * 0x9e3779b97f4a7c15ULL + Bits(A->val[k], prec);
    if (!length) continue;
    while ((1 << bin) < length) bin++;
    C->rows[bin]++;
    C->entries[bin] += length;
    C->longest = PetscMax(C->longest, length);
  }
  C->valuepatterns = tooLong ? GP_SEL_PATTERNS + 1 : Distinct(A->m, whole, GP_SEL_PATTERNS);
  for (int64_t s = 0; s < slices; s++) {
    int32_t longest = 0;

    for (int64_t i = 32 * s; i < 32 * s + 32 && i < A->m; i++) longest = PetscMax(longest, A->rowptr[i + 1] - A->rowptr[i]);
    C->padded += 32 * longest;
    for (int32_t step = 0; step < longest && step < 32 && s % Every(slices) == 0; step++) {
      int n = 0;

      for (int64_t i = 32 * s; i < 32 * s + 32 && i < A->m; i++)
        if (A->rowptr[i] + step < A->rowptr[i + 1]) sector[n++] = (uint64_t)A->col[A->rowptr[i] + step] / 4;
      C->steps++;
      C->slicesectors += Distinct(n, sector, n);
    }
  }
  PetscCall(PetscFree(whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether nonzero k of row i is the first of its b x b block: none in the rows above, none to the left. */
static PetscBool First(const BenchMatrix *A, int32_t i, int32_t k, int b)
{
  for (int32_t above = i / b * b; above <= i; above++)
    for (int32_t l = A->rowptr[above]; l < (above == i ? k : A->rowptr[above + 1]); l++)
      if (A->col[l] / b == A->col[k] / b) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Counts over nonzeros. */
static PetscErrorCode CountNonzeros(const BenchMatrix *A, GpPrec prec, GpSelCounts *C)
{
  uint64_t *value, *diagonal, *sector, *hit;
  int64_t   hits = 0, tiles = (A->nnz + 2047) / 2048, last = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(A->nnz + 1, &value, A->nnz + 1, &diagonal, A->nnz + 2048, &sector, A->nnz + 1, &hit));
  for (int32_t i = 0; i < A->m; i++) {
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      const int64_t centre = (int64_t)i * A->n / A->m;

      value[k]    = Bits(A->val[k], prec);
      diagonal[k] = (uint64_t)((int64_t)A->col[k] - i + A->m);
      C->near += A->col[k] >= centre - 4096 && A->col[k] <= centre + 4096;
      if (k > A->rowptr[i]) {
        C->unsorted += A->col[k] < A->col[k - 1];
        C->adjoining += A->col[k] == A->col[k - 1] + 1;
      }
      if (k / 2048 % Every(tiles)) continue;
      hit[hits++] = (uint64_t)A->col[k];
      if (k % 5) continue;
      C->lookups++;
      for (int b = 0; b < GP_SEL_BLOCKS; b++) C->blocks[b] += First(A, i, k, GpSelBlockSizes[b]);
    }
  }
  C->values    = Distinct(A->nnz, value, 256);
  C->diagonals = Distinct(A->nnz, diagonal, 1024);
  C->sampled   = hits;
  for (int64_t t = 0; t < tiles; t += Every(tiles)) {
    const int64_t n = PetscMin(2048, A->nnz - 2048 * t);

    for (int64_t g = 0; g < n; g += 32) {
      for (int64_t k = g; k < PetscMin(g + 32, n); k++) sector[k] = (uint64_t)A->col[2048 * t + k] / 4;
      C->groups++;
      C->sectors += Distinct(PetscMin(32, n - g), sector + g, 32);
    }
    for (int64_t k = 0; k < n; k++) sector[k] = (uint64_t)A->col[2048 * t + k] / 4;
    C->tilesectors += Distinct(n, sector, n);
  }
  qsort(hit, (size_t)hits, sizeof(uint64_t), CompareKeys);
  for (int64_t k = 0; k <= hits; k++) {
    if (k < hits && k > 0 && hit[k] == hit[k - 1]) continue;
    if (k - last >= 8) C->hubs += k - last;
    last = k;
  }
  PetscCall(PetscFree4(value, diagonal, sector, hit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel with the shortest predicted time on the GPU of the model. It depends on the features only, so it must not depend on the backend that
   counts them. */
static PetscErrorCode Expected(GpDev dev, const GpSelModel *model, const GpCsr *C, int *kernel)
{
  const int    units = GpDevComputeUnits(dev);
  const double cache = GpDevCacheBytes(dev);
  GpFeatures   F;
  double       us[GP_SEL_MODELLED];
  int          best = 0;

  PetscFunctionBegin;
  dev->compute_units = model->compute_units;
  dev->cache         = model->cache;
  PetscCallGp(dev, "features", GpSelFeatures(C, &F));
  dev->compute_units = units;
  dev->cache         = cache;
  GpSelModelTimes(model, &F, us);
  for (int k = 1; k < model->kernels; k++)
    if (us[k] < us[best]) best = k;
  *kernel = model->kernel[best];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char *name, GpDev dev, const BenchMatrix *A, GpPrec prec)
{
  GpSelCounts    expected, counts;
  GpCsr          C;
  GpLoss         loss;
  GpFeatures     F;
  const int64_t *e = (const int64_t *)&expected, *c = (const int64_t *)&counts;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&expected, sizeof(expected)));
  PetscCall(CountRows(A, prec, &expected));
  PetscCall(CountNonzeros(A, prec, &expected));
  if (!A->nnz) PetscCall(PetscMemzero(&expected, sizeof(expected)));
  if (expected.unsorted) { /* blocks are counted for ascending columns only, otherwise every nonzero is a block of its own */
    for (int b = 0; b < GP_SEL_BLOCKS; b++) expected.blocks[b] = expected.lookups;
  }
  PetscCallGp(dev, "rows", GpCsrCreate(dev, prec, A->m, A->n, A->nnz, &C));
  PetscCallGp(dev, "pattern", GpDevUpload(dev, C.rowptr, A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t)));
  PetscCallGp(dev, "pattern", GpDevUpload(dev, C.col, A->col, (size_t)A->nnz * sizeof(int32_t)));
  PetscCallGp(dev, "values", GpCsrSetValues(&C, A->val, &loss));
  PetscCallGp(dev, "features", GpSelFeatures(&C, &F));
  counts = F.counts;
  for (size_t k = 0; k < sizeof(counts) / sizeof(int64_t); k++)
    PetscCheck(e[k] == c[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s values: count %d is %lld, not %lld", name, prec == GP_F32 ? "single" : "double", (int)k, (long long)c[k], (long long)e[k]);
  for (int f = 0; f < GP_FEATURES; f++) PetscCheck(PetscIsNormalReal(F.value[f]) || F.value[f] == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: feature %s is %g", name, GpFeatureNames[f], F.value[f]);
  if (prec == GP_F32) {
    const GpFeatures  h200  = {.runtime = GP_DEV_CUDA, .compute_units = 132, .cache = 62914560};
    const GpSelModel *model = GpSelModelNearest(&h200);
    int               kernel;

    PetscCall(Expected(dev, model, &C, &kernel));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: mean %.3g, padding %.3g, diagonals %g, values %g, patterns %g, adjoining %.3g, blocks", name, F.value[GP_SEL_mean], F.value[GP_SEL_padding], F.value[GP_SEL_diagonals], F.value[GP_SEL_values],
                          F.value[GP_SEL_valuepatterns], F.value[GP_SEL_adjoining]));
    for (int b = 0; b < GP_SEL_BLOCKS; b++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %.2f", F.value[GP_SEL_block2 + b]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ", %s\n", GpKernelTable[kernel].name));
  }
  GpCsrDestroy(&C);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A chain of nodes with dense b x b blocks for neighbours, from which a fraction of the entries is missing. */
static void Blocks(BenchMatrix *A, int nodes, int b, double missing, uint64_t seed)
{
  int32_t nnz = 0;

  BenchMatrixCreate(A, nodes * b, nodes * b, (int64_t)3 * nodes * b * b);
  for (int32_t i = 0; i < nodes * b; i++) {
    for (int32_t j = PetscMax(i / b - 1, 0) * b; j < PetscMin(i / b + 2, nodes) * b; j++) {
      if (missing > 0 && BenchUniform(&seed) < missing) continue;
      A->col[nnz]   = j;
      A->val[nnz++] = BenchValue(&seed);
    }
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
}

/* Inserts empty rows: every n-th row has entries. */
static void Spread(BenchMatrix *A, int32_t every)
{
  int32_t *rowptr = (int32_t *)malloc(((size_t)A->m * every + 1) * sizeof(int32_t));

  for (int32_t i = 0; i <= A->m * every; i++) rowptr[i] = A->rowptr[(i + every - 1) / every];
  free(A->rowptr);
  A->rowptr = rowptr;
  A->m *= every;
}

static PetscErrorCode Case(int which, BenchMatrix *A, const char **name)
{
  PetscFunctionBegin;
  *name = NULL;
  if (which == 0) {
    *name = "7-point stencil, constant";
    BenchStencil(A, 30, 0, 1);
    for (int32_t i = 0; i < A->m; i++)
      for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) A->val[k] = A->col[k] == i ? 6 : -1;
  } else if (which == 1) {
    *name = "27-point stencil, variable";
    BenchStencil(A, 31, 1, 2);
  } else if (which == 2) {
    *name = "uniform rows";
    BenchRows(A, 3000, 200000, 32, 0, 3);
  } else if (which == 3) {
    *name = "Zipf columns";
    BenchRows(A, 20000, 5000, 40, 1, 4);
  } else if (which == 4) {
    *name = "R-MAT with repeats";
    BenchRmat(A, 14, 8, 5);
  } else if (which == 5) {
    *name = "blocks of 3";
    Blocks(A, 4000, 3, 0, 6);
  } else if (which == 6) {
    *name = "one dense row";
    BenchRows(A, 1, 100000, 20000, 0, 7); /* not larger, since the simple count compares all pairs */
  } else if (which == 7) {
    *name = "empty";
    BenchMatrixCreate(A, 50, 70, 0);
  } else if (which == 8) {
    *name = "one column";
    BenchRows(A, 70000, 1, 1, 0, 8);
  } else if (which == 9) {
    *name = "columns descending";
    BenchRows(A, 2000, 100000, 9, 0, 9);
    for (int32_t i = 0; i < A->m; i++)
      for (int32_t a = A->rowptr[i], b = A->rowptr[i + 1] - 1; a < b; a++, b--) {
        const int32_t t = A->col[a];

        A->col[a] = A->col[b];
        A->col[b] = t;
      }
  } else if (which == 10) {
    *name = "three a row"; /* far more patterns than the hash set can hold */
    BenchRows(A, 60000, 50000, 3, 0, 10);
  } else if (which == 11) {
    *name = "blocks of 4 with holes";
    Blocks(A, 3000, 4, 0.4, 11);
  } else if (which == 12) {
    *name = "blocks of 6 with holes";
    Blocks(A, 2000, 6, 0.2, 12);
  } else if (which == 13) {
    *name = "most rows empty";
    BenchRows(A, 3000, 40000, 20, 1, 13);
    Spread(A, 100);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpDev       dev;
  BenchMatrix A;
  const char *name;
  PetscInt    cases = PETSC_MAX_INT; /* sanitizers are slow and run the first cases only */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  for (int which = 0; which < cases; which++) {
    PetscCall(Case(which, &A, &name));
    if (!name) break;
    PetscCall(Compare(name, dev, &A, GP_F32));
    PetscCall(Compare(name, dev, &A, GP_F64));
    BenchMatrixDestroy(&A);
  }
  PetscCheck(GpDevBytesHeld(dev) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1

TEST*/
