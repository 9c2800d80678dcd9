/* Builds format rowcode. Patterns are found by a hash of offsets and values. Then every row is compared with the pattern that it got, so that
   hash collisions are detected. */
#include "mat/impls/gpucsr/spmv/rowcode/rowcode.h"
#include "mat/impls/gpucsr/spmv/common/gpkeyset.h"

#define FEW     256   /* maximum number of patterns with 8-bit codes */
#define MANY    65536 /* maximum number of patterns */
#define SHARE   16    /* the patterns may hold at most one in so many of the nonzeros */
#define NO_MIND 4096  /* number of entries of patterns that is always accepted */
#define SAMPLE  4096  /* number of rows in the sample that is checked against the grid */
#define OTHERS  8     /* at most one in so many sampled rows may not belong to the grid */

GP_INLINE uint64_t GpRowCodeGetBits(const GpCsr *A, int32_t k)
{
  return A->prec == GP_F32 ? ((const uint32_t *)A->val)[k] : ((const uint64_t *)A->val)[k];
}

GP_INLINE uint64_t GpRowCodeHashRow(const GpCsr *A, int32_t row)
{
  uint64_t h = 0x9e3779b97f4a7c15ull;

  for (int32_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) h = GpMix(h + (uint32_t)(A->col[k] - row)) + 0x9e3779b97f4a7c15ull * GpRowCodeGetBits(A, k);
  h = GpMix(h);
  return h == GP_KEY_NONE ? 1 : h;
}

typedef struct {
  GpCsr          A;
  GpKeySet       set;
  GpRowCode      R;
  const int32_t *rows, *slots; /* [npatterns] first row of each pattern, and the slot of its hash */
  int32_t       *found;        /* [1] result of PutCode() or CountOther() */
} Build;

GP_STEP(TakeLength)
{
  const Build *b = (const Build *)args;

  b->R.start[i] = b->A.rowptr[b->rows[i] + 1] - b->A.rowptr[b->rows[i]];
}

/* Writes the entries of pattern i, and its number at the slot of its hash. */
GP_STEP(PutPattern)
{
  const Build  *b   = (const Build *)args;
  const GpCsr  *A   = &b->A;
  const int32_t row = b->rows[i];

  b->set.before[b->slots[i]] = (int32_t)i;
  for (int32_t k = A->rowptr[row], e = b->R.start[i]; k < A->rowptr[row + 1]; k++, e++) {
    b->R.entry[e].value  = A->prec == GP_F32 ? (double)((const float *)A->val)[k] : ((const double *)A->val)[k];
    b->R.entry[e].offset = A->col[k] - row;
    b->R.entry[e].unused = 0;
  }
}

GP_INLINE int GpRowCodeIsSameRow(const GpCsr *A, int32_t row, int32_t other)
{
  const int32_t first = A->rowptr[row], otherfirst = A->rowptr[other], n = A->rowptr[row + 1] - first;

  if (A->rowptr[other + 1] - otherfirst != n) return 0;
  for (int32_t k = 0; k < n; k++)
    if (A->col[first + k] - row != A->col[otherfirst + k] - other || GpRowCodeGetBits(A, first + k) != GpRowCodeGetBits(A, otherfirst + k)) return 0;
  return 1;
}

/* Writes the code of row i. Sets *found if the row differs from the pattern with its hash. */
GP_STEP(PutCode)
{
  const Build  *b    = (const Build *)args;
  const int32_t slot = GpKeySetFind(&b->set, GpRowCodeHashRow(&b->A, (int32_t)i)), p = slot < 0 ? 0 : b->set.before[slot];

  if (b->R.width == 1) ((uint8_t *)b->R.code)[i] = (uint8_t)p;
  else ((uint16_t *)b->R.code)[i] = (uint16_t)p;
  if (slot < 0 || !GpRowCodeIsSameRow(&b->A, (int32_t)i, b->rows[p])) *b->found = 1;
}

/* Counts row i of the sample if it does not belong to the grid. */
GP_STEP(CountOther)
{
  const Build *b = (const Build *)args;

  if (b->R.mask[((const uint8_t *)b->R.code)[i * b->A.m / SAMPLE]] == GP_ROWGRID_OTHER) GP_COUNT(b->found);
}

GP_PAIR(GpRowCodeCollect, const GpCsr *, const GpKeySet *); /* adds the hashes of all rows to the set */
GP_PAIR(GpRowCodeLengths, const Build *);
GpErr GP_IMPL(GpRowCodeLengths)(const Build *b)
{
  return GP_EACH(b->A.dev, Build, TakeLength, b->R.npatterns, b);
}

GP_PAIR(GpRowCodeFill, const Build *);
GpErr GP_IMPL(GpRowCodeFill)(const Build *b)
{
  GpErr err = GP_EACH(b->A.dev, Build, PutPattern, b->R.npatterns, b);

  return err ? err : GP_EACH(b->A.dev, Build, PutCode, b->A.m, b);
}

GP_PAIR(GpRowCodeOthers, const Build *);
GpErr GP_IMPL(GpRowCodeOthers)(const Build *b)
{
  return GP_EACH(b->A.dev, Build, CountOther, SAMPLE, b);
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

GpErr GpRowCodeCollect_Host(const GpCsr *A, const GpKeySet *set)
{
  for (int32_t i = 0; i < A->m && set->list[0] <= set->limit; i++) GpKeySetAdd(set, GpRowCodeHashRow(A, i), i);
  return GP_SUCCESS;
}

typedef struct {
  int32_t row, slot;
} First;

static int GpRowCodeCompareFirsts(const void *a, const void *b)
{
  const int32_t x = ((const First *)a)->row, y = ((const First *)b)->row;

  return (x > y) - (x < y);
}

/* Uploads the patterns in the order of their first rows: rows[n], then their slots [n]. */
static GpErr GpRowCodeOrderPatterns(GpDev dev, const GpKeySet *H, int32_t n, int32_t *rows)
{
  First   *first = (First *)malloc((size_t)n * (sizeof(First) + 2 * sizeof(int32_t)));
  int32_t *both  = (int32_t *)(first + n);
  GpErr    err;

  if (!first) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for %d patterns of rows", (int)n);
  for (int32_t p = 0; p < n; p++) first[p] = (First){INT32_MAX - H->before[H->list[1 + p]], H->list[1 + p]};
  qsort(first, (size_t)n, sizeof(First), GpRowCodeCompareFirsts);
  for (int32_t p = 0; p < n; p++) {
    both[p]     = first[p].row;
    both[n + p] = first[p].slot;
  }
  err = GpDevUpload(dev, rows, both, 2 * (size_t)n * sizeof(int32_t));
  free(first);
  return err;
}

/* Computes start[] from the lengths of the patterns. */
static GpErr GpRowCodePlacePatterns(const GpCsr *A, GpRowCode *R, const int32_t *rows)
{
  const Build   b     = {.A = *A, .R = *R, .rows = rows};
  const int32_t n     = R->npatterns;
  int32_t      *start = (int32_t *)malloc(((size_t)n + 1) * sizeof(int32_t));
  GpErr         err;

  if (!start) return GpDevFail(A->dev, GP_ERR_MEMORY, "out of host memory for %d patterns of rows", (int)n);
  err = GP_ON_DEVICE(A->dev, GpRowCodeLengths, &b);
  if (!err) err = GpDevDownload(A->dev, start + 1, R->start, (size_t)n * sizeof(int32_t));
  if (!err) {
    int64_t total = 0;

    start[0] = 0;
    for (int32_t p = 0; p < n && total <= INT32_MAX; p++) {
      total += start[p + 1];
      start[p + 1] = (int32_t)total;
    }
    R->nentries = (int32_t)total;
    if (total > A->nnz / SHARE + NO_MIND) err = GpDevFail(A->dev, GP_ERR_ARGUMENT, "the %d distinct rows hold %lld of %d nonzeros; the limit is one in %d", (int)n, (long long)total, (int)A->nnz, SHARE);
  }
  if (!err) err = GpDevUpload(A->dev, R->start, start, ((size_t)n + 1) * sizeof(int32_t));
  free(start);
  return err;
}

/* Counts the sampled rows that do not belong to the grid. */
static GpErr GpRowCodeCountOthers(const GpCsr *A, const GpRowCode *R, int32_t *others)
{
  GpDev dev = A->dev;
  Build b   = {.A = *A, .R = *R};
  GpErr err = GpDevBorrow(dev, sizeof(int32_t), &b.found);

  if (!err) err = GpDevZero(dev, b.found, sizeof(int32_t));
  if (!err) err = GP_ON_DEVICE(dev, GpRowCodeOthers, &b);
  if (!err) err = GpDevDownload(dev, others, b.found, sizeof(int32_t));
  GpDevReturn(dev, &b.found, sizeof(int32_t));
  return err;
}

static void GpRowCodeClearGrid(const GpCsr *A, GpRowCode *R)
{
  const size_t n = (size_t)R->npatterns;

  GpDevFree(A->dev, &R->mask, n * sizeof(uint64_t));
  GpDevFree(A->dev, &R->value, n * (size_t)(R->grid.columns * R->grid.planes) * sizeof(double));
}

/* Computes the masks and grid values of all patterns, which are given in host memory. Drops the grid if too many sampled rows do not belong to
   it. */
static GpErr GpRowCodeFillGrid(const GpCsr *A, GpRowCode *R, const int32_t start[], const GpRowEntry entry[])
{
  GpDev        dev = A->dev;
  const size_t n = (size_t)R->npatterns, entries = (size_t)(R->grid.columns * R->grid.planes);
  double      *value  = (double *)calloc(n * entries, sizeof(double));
  int32_t      others = 0, any = 0;
  uint64_t     mask[FEW];
  GpErr        err;

  if (!value) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for %d patterns of a grid", (int)n);
  for (size_t p = 0; p < n; p++) {
    mask[p] = GpRowGridMask(&R->grid, entry + start[p], start[p + 1] - start[p], value + p * entries);
    any |= mask[p] == GP_ROWGRID_OTHER;
  }
  err = GpDevAlloc(dev, n * sizeof(uint64_t), &R->mask);
  if (!err) err = GpDevAlloc(dev, n * entries * sizeof(double), &R->value);
  if (!err) err = GpDevUpload(dev, R->mask, mask, n * sizeof(uint64_t));
  if (!err) err = GpDevUpload(dev, R->value, value, n * entries * sizeof(double));
  if (!err && any) err = GpRowCodeCountOthers(A, R, &others);
  if (others > SAMPLE / OTHERS) GpRowCodeClearGrid(A, R);
  free(value);
  return err;
}

/* Looks for a grid in the longest pattern. */
static GpErr GpRowCodeMakeGrid(const GpCsr *A, GpRowCode *R)
{
  GpDev       dev     = A->dev;
  int32_t     longest = 0, start[FEW + 1];
  GpRowEntry *entry;
  GpErr       err;

  if (R->width != 1 || !R->nentries) return GP_SUCCESS;
  entry = (GpRowEntry *)malloc((size_t)R->nentries * sizeof(GpRowEntry));
  if (!entry) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for %d entries of patterns", (int)R->nentries);
  err = GpDevDownload(dev, start, R->start, ((size_t)R->npatterns + 1) * sizeof(int32_t));
  if (!err) err = GpDevDownload(dev, entry, R->entry, (size_t)R->nentries * sizeof(GpRowEntry));
  if (!err) {
    for (int32_t p = 1; p < R->npatterns; p++)
      if (start[p + 1] - start[p] > start[longest + 1] - start[longest]) longest = p;
    R->grid.whole = longest;
    if (GpRowGridFind(entry + start[longest], start[longest + 1] - start[longest], &R->grid)) err = GpRowCodeFillGrid(A, R, start, entry);
  }
  free(entry);
  return err;
}

/* Allocates and fills the patterns and codes. */
static GpErr GpRowCodeMakePatterns(const GpCsr *A, GpRowCode *R, const GpKeySet *set, const GpKeySet *H)
{
  GpDev        dev   = A->dev;
  const size_t bytes = (2 * (size_t)H->list[0] + 1) * sizeof(int32_t);
  int32_t     *rows = NULL, wrong = 0;
  GpErr        err;

  R->npatterns = H->list[0];
  R->width     = R->npatterns <= FEW ? 1 : 2;
  err          = GpDevBorrow(dev, bytes, &rows);
  if (!err) err = GpDevAlloc(dev, (size_t)A->m * (size_t)R->width, &R->code);
  if (!err) err = GpDevAlloc(dev, ((size_t)R->npatterns + 1) * sizeof(int32_t), &R->start);
  if (!err) err = GpDevZero(dev, rows + 2 * (size_t)R->npatterns, sizeof(int32_t));
  if (!err) err = GpRowCodeOrderPatterns(dev, H, R->npatterns, rows);
  if (!err) err = GpRowCodePlacePatterns(A, R, rows);
  if (!err) err = GpDevAlloc(dev, (size_t)R->nentries * sizeof(GpRowEntry), &R->entry);
  if (!err) {
    const Build b = {*A, *set, *R, rows, rows + R->npatterns, rows + 2 * (size_t)R->npatterns};

    err = GP_ON_DEVICE(dev, GpRowCodeFill, &b);
    if (!err) err = GpDevDownload(dev, &wrong, b.found, sizeof(int32_t));
  }
  if (!err && wrong) err = GpDevFail(dev, GP_ERR_ARGUMENT, "two different rows have the same hash");
  if (!err) err = GpRowCodeMakeGrid(A, R);
  GpDevReturn(dev, &rows, bytes);
  return err;
}

static void GpRowCodeClear(const GpCsr *A, GpRowCode *R)
{
  GpDevFree(A->dev, &R->code, (size_t)A->m * (size_t)R->width);
  GpDevFree(A->dev, &R->start, ((size_t)R->npatterns + 1) * sizeof(int32_t));
  GpDevFree(A->dev, &R->entry, (size_t)R->nentries * sizeof(GpRowEntry));
  GpRowCodeClearGrid(A, R);
}

/* Builds all again, because new values may form other patterns. */
GpErr GpFmtRefill_rowcode(GpFmt *F)
{
  const GpCsr *A   = F->csr;
  GpRowCode   *R   = (GpRowCode *)F->data;
  GpErr        err = GP_SUCCESS;

  GpRowCodeClear(A, R);
  for (int32_t limit = FEW; A->m && !err && !R->code; limit = MANY) {
    GpKeySet set, H = {.key = NULL};

    err = GpKeySetCreate(A->dev, limit, &set);
    if (!err) err = GP_ON_DEVICE(A->dev, GpRowCodeCollect, A, &set);
    if (!err) err = GpKeySetDownload(A->dev, &set, &H);
    if (!err && H.list[0] <= limit) err = GpRowCodeMakePatterns(A, R, &set, &H);
    else if (!err && limit == MANY) err = GpDevFail(A->dev, GP_ERR_ARGUMENT, "the matrix has more than %d distinct rows", MANY);
    free(H.key);
    GpKeySetDestroy(A->dev, &set);
  }
  return err;
}

GpErr GpFmtBuild_rowcode(GpFmt *F, const int32_t rowptr[])
{
  (void)rowptr;
  F->data = calloc(1, sizeof(GpRowCode));
  return F->data ? GpFmtRefill_rowcode(F) : GpDevFail(F->csr->dev, GP_ERR_MEMORY, "out of host memory for row codes");
}

void GpFmtDestroy_rowcode(GpFmt *F)
{
  if (F->data) GpRowCodeClear(F->csr, (GpRowCode *)F->data);
  free(F->data);
}

double GpFmtBytes_rowcode(const GpFmt *F)
{
  const GpRowCode *R    = (const GpRowCode *)F->data;
  const double     grid = R->mask ? R->npatterns * (sizeof(uint64_t) + R->grid.columns * R->grid.planes * sizeof(double)) : 0;

  return (double)F->csr->m * R->width + (R->npatterns + 1.0) * sizeof(int32_t) + (double)R->nentries * sizeof(GpRowEntry) + grid;
}

double GpFmtTraffic_rowcode(const GpFmt *F)
{
  return GpFmtBytes_rowcode(F);
}

#else
static constexpr int BLOCK = 256;

/* Lanes of a warp with the same hash add it once. */
__global__ static void GpRowCodeCollectKernel(GpCsr A, GpKeySet set)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;

  if (__any_sync(0xffffffffu, *(volatile int32_t *)set.list > set.limit)) return;
  const uint64_t h    = i < A.m ? GpRowCodeHashRow(&A, (int32_t)i) : (uint64_t)GP_KEY_NONE;
  const unsigned same = __match_any_sync(0xffffffffu, (unsigned long long)h);
  if (h != GP_KEY_NONE && threadIdx.x % GP_WARP == __ffs(same) - 1) GpKeySetAdd(&set, h, (int32_t)i);
}

GpErr GpRowCodeCollect_CUDA(const GpCsr *A, const GpKeySet *set)
{
  return GpLaunch(A->dev, "hashes of rows", GpRowCodeCollectKernel, GpGrid{(unsigned)(((int64_t)A->m + BLOCK - 1) / BLOCK), BLOCK}, *A, *set);
}
#endif
