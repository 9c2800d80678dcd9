/* Incomplete factors in device memory: dependencies of the rows, slices, creation, values of triangles. */
#include "mat/impls/gpucsr/trisolve/gptrifactor.h"
#include "device/gpfillers.h"
#include "device/gpupload.h"
#include <stdint.h>
#include <stdlib.h>

/* The arrays of a factor, on the host. */
typedef struct {
  const GpTriPattern *p;
  const int32_t      *first, *dep, *segment; /* those of the pattern, or of the transpose of U */
  int32_t            *upper;
  const int32_t      *row, *slot; /* the order of the rows */
  int32_t            *length;     /* [n] number of entries of the row in each slot */
  GpTriFactorSlice   *slice;
  int64_t             products[GP_FILLERS_PARTS]; /* products and sums of each part of the rows */
} GpTriFactorArrays;

static void GpTriFactorFree(GpTriFactorArrays *a)
{
  free(a->upper);
  free(a->length);
  free(a->slice);
}

void GpTriFreeDeps(GpTriDeps *deps)
{
  GpTriFreeTransposed(&deps->transpose);
  GpTriFreeOrder(&deps->order);
}

/* --- dependencies ------------------------------------------------------------------------------------------------------------------------ */

static void GpTriFactorSetUpper(void *context, int part, int64_t begin, int64_t end)
{
  const GpTriFactorArrays *a = (const GpTriFactorArrays *)context;

  (void)part;
  for (int64_t i = begin; i < end; i++) {
    a->upper[2 * i]     = a->p->begin[i];
    a->upper[2 * i + 1] = a->p->end[i];
  }
}

/* Counts the products of each dependency: one for each entry of the row of U, from the entry in this column for ICC. */
static void GpTriFactorCountProducts(void *context, int part, int64_t begin, int64_t end)
{
  GpTriFactorArrays *a   = (GpTriFactorArrays *)context;
  int64_t            sum = 0;

  for (int32_t k = a->first[begin]; k < a->first[end]; k++) sum += a->p->end[a->dep[k]] - (a->segment ? a->segment[k] : a->p->begin[a->dep[k]]);
  a->products[part] = sum;
}

/* Finds the dependencies of all rows. Those of a row of ICC are the rows with an entry in its column, in ascending order. PETSc adds them in another order, which begins with the latest
   rows; a row would then have to wait before it can use the others. Counts the flops as PETSc does: a division and one product and sum for each entry of each dependency, and the inverse
   of the pivots. Returns 1 if host memory is exhausted. */
static int GpTriFactorFindDeps(const GpTriPattern *p, GpTriDeps *deps, GpTriFactor *F, GpTriFactorArrays *a)
{
  const int parts = GpFillersParts(p->n, GP_TRI_GRAIN);

  a->p     = p;
  a->upper = GpTriAllocate(2 * (size_t)p->n);
  if (!a->upper) return 1;
  if (p->icc) {
    if (GpTriTranspose(&(GpTriRows){p->n, 1, p->begin, p->end, p->col, NULL, NULL}, &deps->transpose)) return 1;
    a->first   = deps->transpose.begin;
    a->dep     = deps->transpose.col;
    a->segment = deps->transpose.source;
  } else {
    a->first = p->lower;
    a->dep   = p->col;
  }
  F->deps = a->first[p->n];
  GpFillersRun(parts, p->n, GpTriFactorSetUpper, a);
  GpFillersRun(parts, p->n, GpTriFactorCountProducts, a);
  F->flops = (double)p->n + (double)F->deps;
  for (int part = 0; part < parts; part++) F->flops += 2. * (double)a->products[part];
  return 0;
}

/* --- slices ------------------------------------------------------------------------------------------------------------------------------ */

static int GpTriFactorSelectLanes(double mean)
{
  return mean <= 4 ? 4 : mean <= 8 ? 8 : mean <= 16 ? 16 : 32;
}

static void GpTriFactorSetLengths(void *context, int part, int64_t begin, int64_t end)
{
  const GpTriFactorArrays *a = (const GpTriFactorArrays *)context;
  const GpTriPattern      *p = a->p;

  (void)part;
  for (int64_t i = begin; i < end; i++) a->length[a->slot[i]] = p->end[i] - p->begin[i] + 1 + (p->icc ? 0 : p->lower[i + 1] - p->lower[i]);
}

/* Divides the rows of each level into slices. A row that shared memory cannot hold has a slice of its own. */
static void GpTriFactorCut(const int32_t levelptr[], const GpTriFactorArrays *a, GpTriFactor *F)
{
  const int32_t most = 32 / F->lanes, held = GP_TRI_FACTOR_SHARED / most;

  for (int32_t l = 0; l < F->levels; l++) {
    for (int32_t s = levelptr[l]; s < levelptr[l + 1];) {
      GpTriFactorSlice c = {s, 0, 0, -1};

      for (; s < levelptr[l + 1] && c.rows < most; s++) {
        const int32_t length = a->length[s];

        if (length > held && c.rows) break;
        if (length > c.longest) c.longest = length;
        c.rows++;
        if (length > held) {
          c.scratch = (int32_t)F->scratches; /* at most nnz, which fits 32 bits */
          F->scratches += length;
          s++;
          break;
        }
      }
      if (c.scratch < 0 && c.longest > F->longest) F->longest = c.longest;
      a->slice[F->slices++] = c;
    }
  }
}

/* Sorts the rows by level and divides them into slices. Returns 1 if host memory is exhausted. */
static int GpTriFactorAnalyse(const GpTriPattern *p, GpTriDeps *deps, GpTriFactor *F, GpTriFactorArrays *a)
{
  if (GpTriOrderRows(&(GpTriRows){p->n, 0, a->first, a->first + 1, a->dep, NULL, NULL}, &deps->order)) return 1;
  a->row    = deps->order.row;
  a->slot   = deps->order.slot;
  F->levels = deps->order.levels;
  a->length = GpTriAllocate((size_t)p->n);
  a->slice  = (GpTriFactorSlice *)malloc(((size_t)p->n + 1) * sizeof(GpTriFactorSlice));
  if (!a->length || !a->slice) return 1;
  GpFillersRun(GpFillersParts(p->n, GP_TRI_GRAIN), p->n, GpTriFactorSetLengths, a);
  GpTriFactorCut(deps->order.levelptr, a, F);
  return 0;
}

/* Selects the number of warps (fitted to an H200). As in a solve, warps that poll slow the warps that compute. Enough warps must load the next rows in the meantime. */
static int32_t GpTriFactorSelectWarps(const GpTriFactor *F)
{
  const double  width = F->levels ? (double)F->slices / F->levels : 1; /* mean number of slices of a level */
  const int32_t most  = (F->lanes == 4 ? 24 : 16) * GpDevComputeUnits(F->dev);
  double        warps = 8 * width;

  if (warps > most) warps = most;
  if (warps < 4) warps = 4;
  return warps < F->slices ? (int32_t)warps : F->slices;
}

/* --- creation ---------------------------------------------------------------------------------------------------------------------------- */

void GpTriFactorDestroy(GpTriFactor *F)
{
  const size_t n = (size_t)F->n, nnz = (size_t)F->nnz, deps = (size_t)F->deps, scratches = (size_t)F->scratches;

  if (F->dev) {
    if (F->icc) GpDevFree(F->dev, &F->dep, deps * sizeof(int32_t));
    GpDevFree(F->dev, &F->segment, deps * sizeof(int32_t));
    GpDevFree(F->dev, &F->slice, (size_t)F->slices * sizeof(GpTriFactorSlice));
    GpDevFree(F->dev, &F->row, n * sizeof(int32_t));
    GpDevFree(F->dev, &F->first, (n + 1) * sizeof(int32_t));
    GpDevFree(F->dev, &F->upper, 2 * n * sizeof(int32_t));
    GpDevFree(F->dev, &F->col, nnz * sizeof(int32_t));
    GpDevFree(F->dev, &F->from, nnz * sizeof(int32_t));
    GpDevFree(F->dev, &F->val, nnz * sizeof(double));
    GpDevFree(F->dev, &F->pivot, n * sizeof(double));
    GpDevFree(F->dev, &F->work, scratches * sizeof(double));
    GpDevFree(F->dev, &F->place, scratches * sizeof(int32_t));
    GpDevFree(F->dev, &F->status, sizeof(GpTriStatus));
  }
  *F = (GpTriFactor){0};
}

static GpErr GpTriFactorCopy(GpDev dev, const void *host, size_t bytes, void *device)
{
  GpErr err = GpDevAlloc(dev, bytes, device);

  return err ? err : GpDevUploadByThreads(dev, 0, *(void **)device, bytes, NULL, (void *)(uintptr_t)host);
}

/* Allocates all arrays and uploads those of the pattern. */
static GpErr GpTriFactorUpload(const GpTriPattern *p, const GpTriFactorArrays *a, GpTriFactor *F)
{
  const size_t n = (size_t)F->n, nnz = (size_t)F->nnz, deps = (size_t)F->deps;
  GpErr        err = GpTriFactorCopy(F->dev, a->first, (n + 1) * sizeof(int32_t), &F->first);

  if (!err) err = GpTriFactorCopy(F->dev, a->upper, 2 * n * sizeof(int32_t), &F->upper);
  if (!err) err = GpTriFactorCopy(F->dev, p->col, nnz * sizeof(int32_t), &F->col);
  if (!err && F->icc) err = GpTriFactorCopy(F->dev, a->dep, deps * sizeof(int32_t), &F->dep);
  if (!err && F->icc) err = GpTriFactorCopy(F->dev, a->segment, deps * sizeof(int32_t), &F->segment);
  if (!err && F->lanes) err = GpTriFactorCopy(F->dev, a->row, n * sizeof(int32_t), &F->row);
  if (!err && F->lanes) err = GpTriFactorCopy(F->dev, a->slice, (size_t)F->slices * sizeof(GpTriFactorSlice), &F->slice);
  if (!err && F->lanes) err = GpDevAlloc(F->dev, (size_t)F->scratches * sizeof(double), &F->work);
  if (!err && F->lanes) err = GpDevAlloc(F->dev, (size_t)F->scratches * sizeof(int32_t), &F->place);
  if (!err) err = GpDevAlloc(F->dev, nnz * sizeof(int32_t), &F->from);
  if (!err) err = GpDevAlloc(F->dev, nnz * sizeof(double), &F->val);
  if (!err) err = GpDevAlloc(F->dev, n * sizeof(double), &F->pivot);
  if (!err) err = GpDevAlloc(F->dev, sizeof(GpTriStatus), &F->status);
  if (!F->icc) F->dep = F->col;
  return err;
}

GpErr GpTriFactorCreate(GpDev dev, const GpTriPattern *p, int lanes, GpTriDeps *deps, GpTriFactor *F)
{
  const int         host = GpDevKindOf(dev) == GP_DEV_HOST;
  GpTriFactorArrays a    = {0};
  GpTriDeps         own  = {0};
  GpErr             err;
  int               failed;

  *F     = (GpTriFactor){.dev = dev, .icc = p->icc, .n = p->n, .nnz = p->nnz};
  failed = GpTriFactorFindDeps(p, &own, F, &a);
  if (!failed && !host) {
    F->lanes = lanes ? lanes : GpTriFactorSelectLanes(p->n ? (double)F->deps / p->n : 0);
    failed   = GpTriFactorAnalyse(p, &own, F, &a);
    F->warps = GpTriFactorSelectWarps(F);
  }
  if (failed) err = GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for the analysis of a factor of %d rows and %.0f nonzeros", (int)p->n, (double)p->nnz);
  else err = GpTriFactorUpload(p, &a, F);
  GpTriFactorFree(&a);
  if (err || !deps) GpTriFreeDeps(&own);
  else *deps = own;
  if (err) GpTriFactorDestroy(F);
  return err;
}

/* --- values ------------------------------------------------------------------------------------------------------------------------------ */

GpErr GpTriFactorSetSource(GpTriFactor *F, const int32_t from[])
{
  return GpDevUploadByThreads(F->dev, 0, F->from, (size_t)F->nnz * sizeof(int32_t), NULL, (void *)(uintptr_t)from);
}

GpErr GpTriFactorCompute(GpTriFactor *F, const void *values, int single, const GpTriPivots *pivots, GpTriStatus *status)
{
  GpErr err;

  *status = (GpTriStatus){F->n, -1, 0, 0, 0, 0};
  if (!F->n) return GP_SUCCESS;
#if GP_HAVE_CUDA
  if (GpDevKindOf(F->dev) == GP_DEV_CUDA) {
    err = GpTriFactorCompute_CUDA(F, values, single, pivots);
    return err ? err : GpDevDownload(F->dev, status, F->status, sizeof(*status));
  }
#endif
  err = GpTriFactorCompute_Host(F, values, single, pivots);
  if (!err) *status = *F->status;
  return err;
}

GpErr GpTriFactorGetPivot(const GpTriFactor *F, int32_t row, double *pivot)
{
  int32_t at  = 0;
  GpErr   err = GpDevDownload(F->dev, &at, F->upper + 2 * (int64_t)row + 1, sizeof(at));

  return err ? err : GpDevDownload(F->dev, pivot, F->val + at, sizeof(*pivot));
}

#if GP_HAVE_CUDA
/* Sets the values of a triangle on a GPU. */
static GpErr GpTriScatter(GpTri *T, const double values[], double sign, const double diagonal[])
{
  const GpTriLayout *L        = &T->layout;
  int32_t           *flag     = NULL;
  int32_t            infinite = 0;
  GpErr              err      = GP_SUCCESS;

  if (!T->source && L->stored) err = GpTriFactorCopy(T->dev, L->source, (size_t)L->stored * sizeof(uint32_t), &T->source);
  if (!err && !T->row) err = GpTriFactorCopy(T->dev, L->row, (size_t)L->n * sizeof(int32_t), &T->row);
  if (!err && diagonal && !T->diag) err = GpDevAlloc(T->dev, (size_t)L->n * sizeof(double), &T->diag);
  if (!err && T->single) err = GpDevBorrow(T->dev, sizeof(*flag), &flag);
  if (!err && flag) err = GpDevZero(T->dev, flag, sizeof(*flag));
  if (!err) err = GpTriScatter_CUDA(T, values, sign, diagonal, flag);
  if (!err && flag) err = GpDevDownload(T->dev, &infinite, flag, sizeof(infinite));
  if (flag) GpDevReturn(T->dev, &flag, sizeof(*flag));
  return err || !infinite ? err : GpDevFail(T->dev, GP_ERR_ARGUMENT, GP_TRI_TOO_LARGE);
}
#endif

GpErr GpTriSetDeviceValues(GpTri *T, const double values[], double sign, const double diagonal[])
{
#if GP_HAVE_CUDA
  if (GpDevKindOf(T->dev) == GP_DEV_CUDA) return T->layout.n ? GpTriScatter(T, values, sign, diagonal) : GP_SUCCESS;
#endif
  return GpTriSetValues(T, values, sign, diagonal);
}
