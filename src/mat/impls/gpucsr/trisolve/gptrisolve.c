/* Triangles in device memory: creation, values, and solves on the host. */
#include "device/gpfillers.h"
#include "device/gpupload.h"
#include "mat/impls/gpucsr/trisolve/gptrisolve.h"
#include <math.h>
#include <stdlib.h>

/* --- launch configuration (fitted to an H200) ------------------------------------------------------------------------------------- */

/* Selects the number of lanes and the batch of values by the mean number of entries of a row. */
static int GpTriSelectLanes(double mean, int *batch)
{
  *batch = mean <= 8 ? 4 : 8;
  return mean <= 4 ? 1 : mean <= 16 ? 2 : mean <= 32 ? 4 : mean <= 64 ? 8 : 32;
}

/* Selects the number of thread blocks; each is one warp. If levels are wide and rows are short, each slice has a block. Otherwise fewer blocks take the slices in turn, because warps
   that poll slow the warps that compute. */
static int32_t GpTriSelectBlocks(GpDev dev, const GpTriLayout *L)
{
  const double  width = L->levels ? (double)L->slices / L->levels : 1; /* mean number of slices of a level */
  const int32_t most  = 5 * GpDevComputeUnits(dev);
  double        blocks;

  if (L->lanes == 1 && width >= 2) return L->slices;
  blocks = 16 * width;
  if (blocks > most) blocks = most;
  if (blocks < 1) blocks = 1;
  return blocks < L->slices ? (int32_t)blocks : L->slices;
}

/* --- creation ---------------------------------------------------------------------------------------------------------------------------- */

static size_t GpTriValueBytes(const GpTri *T)
{
  return T->single ? sizeof(float) : sizeof(double);
}

void GpTriDestroy(GpTri *T)
{
  const GpTriLayout *L = &T->layout;

  if (T->dev) {
    GpDevFree(T->dev, &T->slice, (size_t)L->slices * sizeof(GpTriSlice));
    GpDevFree(T->dev, &T->col, (size_t)L->stored * sizeof(int32_t));
    GpDevFree(T->dev, &T->val, (size_t)L->stored * GpTriValueBytes(T));
    GpDevFree(T->dev, &T->diag, (size_t)L->n * sizeof(double));
    GpDevFree(T->dev, &T->source, (size_t)L->stored * sizeof(uint32_t));
    GpDevFree(T->dev, &T->row, (size_t)L->n * sizeof(int32_t));
  }
  GpTriFreeLayout(&T->layout);
  *T = (GpTri){0};
}

/* Creates the layout of a GPU. */
static GpErr GpTriCreateSlices(const GpTriRows *rows, GpTri *T)
{
  GpTriLayout *L = &T->layout;
  GpErr        err;

  L->align = GP_TRI_ALIGN;
  if (GpTriAnalyse(rows, L)) return GpDevFail(T->dev, GP_ERR_MEMORY, "out of host memory for the analysis of a triangle of %d rows", (int)rows->n);
  err = GpDevAlloc(T->dev, (size_t)L->slices * sizeof(GpTriSlice), &T->slice);
  if (!err) err = GpDevAlloc(T->dev, (size_t)L->stored * sizeof(int32_t), &T->col);
  if (!err) err = GpDevUploadByThreads(T->dev, 0, T->slice, (size_t)L->slices * sizeof(GpTriSlice), NULL, L->slice);
  if (!err) err = GpDevUploadByThreads(T->dev, 0, T->col, (size_t)L->stored * sizeof(int32_t), NULL, L->col);
  free(L->slice);
  free(L->col);
  L->slice = NULL;
  L->col   = NULL;
  return err;
}

/* Creates the layout of the host backend, whose device memory is host memory. */
static GpErr GpTriCreateRows(const GpTriRows *rows, GpTri *T)
{
  GpTriLayout *L = &T->layout;
  GpErr        err;

  L->align  = 1;
  L->slices = L->n;
  L->stored = L->nnz;
  L->row    = GpTriAllocate((size_t)L->n);
  L->source = (uint32_t *)GpTriAllocate((size_t)L->nnz);
  if (!L->row || !L->source) return GpDevFail(T->dev, GP_ERR_MEMORY, "out of host memory for the analysis of a triangle of %d rows and %lld nonzeros", (int)L->n, (long long)L->nnz);
  err = GpDevAlloc(T->dev, (size_t)L->slices * sizeof(GpTriSlice), &T->slice);
  if (!err) err = GpDevAlloc(T->dev, (size_t)L->stored * sizeof(int32_t), &T->col);
  if (!err) GpTriKeepRows(rows, L, T->slice, T->col);
  return err;
}

GpErr GpTriCreate(GpDev dev, const GpTriRows *rows, int lanes, int single, GpTri *T)
{
  const int    keep = !lanes && GpDevKindOf(dev) == GP_DEV_HOST;
  GpTriLayout *L    = &T->layout;
  int          selected;
  GpErr        err;

  *T = (GpTri){.dev = dev, .layout = {.n = rows->n}, .single = single};
  for (int32_t i = 0; i < rows->n; i++) L->nnz += rows->end[i] - rows->begin[i];
  selected  = GpTriSelectLanes(rows->n ? (double)L->nnz / rows->n : 0, &T->batch);
  L->lanes  = keep ? 1 : lanes ? lanes : selected;
  err       = keep ? GpTriCreateRows(rows, T) : GpTriCreateSlices(rows, T);
  T->blocks = GpTriSelectBlocks(dev, L);
  if (!err) err = GpDevAlloc(dev, (size_t)L->stored * GpTriValueBytes(T), &T->val);
  if (err) GpTriDestroy(T);
  return err;
}

/* A map of the rows that is uploaded in the order of the slots. */
typedef struct {
  const int32_t *map, *row;
} GpTriMap;

static GpErr GpTriFillMap(void *context, size_t offset, size_t bytes, void *destination)
{
  const GpTriMap *m  = (const GpTriMap *)context;
  const int32_t  *at = m->row + offset / sizeof(int32_t);
  int32_t        *to = (int32_t *)destination;

  for (size_t k = 0; k < bytes / sizeof(int32_t); k++) to[k] = m->map[at[k]];
  return GP_SUCCESS;
}

GpErr GpTriUploadMap(const GpTri *T, const int32_t map[], int32_t **device)
{
  const GpTriLayout *L     = &T->layout;
  const size_t       bytes = (size_t)L->n * sizeof(int32_t);
  GpTriMap           m     = {map, L->row};
  GpErr              err   = GpDevAlloc(T->dev, bytes, device);

  if (!err) err = GpDevUploadByThreads(T->dev, 0, *device, bytes, map ? GpTriFillMap : NULL, map ? (void *)&m : (void *)L->row);
  if (err) GpDevFree(T->dev, device, bytes);
  return err;
}

typedef struct {
  const int32_t *row;
  int32_t       *slot;
} GpTriInverter;

static void GpTriInvertRows(void *context, int part, int64_t begin, int64_t end)
{
  const GpTriInverter *v = (const GpTriInverter *)context;

  (void)part;
  for (int64_t k = begin; k < end; k++) v->slot[v->row[k]] = (int32_t)k;
}

void GpTriGetSlots(const GpTri *T, int32_t slot[])
{
  GpTriInverter v = {T->layout.row, slot};

  GpFillersRun(GpFillersParts(T->layout.n, GP_TRI_GRAIN), T->layout.n, GpTriInvertRows, &v);
}

/* --- values ------------------------------------------------------------------------------------------------------------------------------ */

typedef struct {
  const GpTri  *T;
  const double *values, *diagonal;
  double        sign;
  int           infinite; /* a finite value became infinite in single precision */
} GpTriFillContext;

static GpErr GpTriFillSingle(void *context, size_t offset, size_t bytes, void *destination)
{
  GpTriFillContext *c  = (GpTriFillContext *)context;
  float            *to = (float *)destination;
  const uint32_t   *at = c->T->layout.source + offset / sizeof(float);

  for (size_t k = 0; k < bytes / sizeof(float); k++) {
    const double v = at[k] == GP_TRI_NONE ? 0 : c->sign * c->values[at[k]];

    to[k] = (float)v;
    if (isinf(to[k]) && !isinf(v)) __atomic_store_n(&c->infinite, 1, __ATOMIC_RELAXED); /* several threads fill */
  }
  return GP_SUCCESS;
}

static GpErr GpTriFillDouble(void *context, size_t offset, size_t bytes, void *destination)
{
  const GpTriFillContext *c  = (const GpTriFillContext *)context;
  double                 *to = (double *)destination;
  const uint32_t         *at = c->T->layout.source + offset / sizeof(double);

  for (size_t k = 0; k < bytes / sizeof(double); k++) to[k] = at[k] == GP_TRI_NONE ? 0 : c->sign * c->values[at[k]];
  return GP_SUCCESS;
}

static GpErr GpTriFillDiagonal(void *context, size_t offset, size_t bytes, void *destination)
{
  const GpTriFillContext *c  = (const GpTriFillContext *)context;
  double                 *to = (double *)destination;
  const int32_t          *at = c->T->layout.row + offset / sizeof(double);

  for (size_t k = 0; k < bytes / sizeof(double); k++) to[k] = c->diagonal[at[k]];
  return GP_SUCCESS;
}

GpErr GpTriSetValues(GpTri *T, const double values[], double sign, const double diagonal[])
{
  const GpTriLayout *L     = &T->layout;
  const size_t       bytes = (size_t)L->n * sizeof(double);
  GpTriFillContext   c     = {T, values, diagonal, sign, 0};
  GpErr              err   = GP_SUCCESS;

  if (L->stored) err = GpDevUploadByThreads(T->dev, 0, T->val, (size_t)L->stored * GpTriValueBytes(T), T->single ? GpTriFillSingle : GpTriFillDouble, &c);
  if (!err && c.infinite) err = GpDevFail(T->dev, GP_ERR_ARGUMENT, GP_TRI_TOO_LARGE);
  if (!err && diagonal && !T->diag) err = GpDevAlloc(T->dev, bytes, &T->diag);
  if (!err && diagonal && bytes) err = GpDevUploadByThreads(T->dev, 0, T->diag, bytes, GpTriFillDiagonal, &c);
  return err;
}

/* --- solves on the host -------------------------------------------------------------------------------------------------------------------- */

/* Returns the right-hand side less the sum over the entries of a row. The sum is taken in the order of the entries. */
#define GP_TRI_ROW(name, type) \
  static double name(const GpTri *T, const GpTriSlice *s, int32_t r, double sum, const double *w) \
  { \
    const int      lanes = T->layout.lanes; \
    const int64_t  start = (int64_t)s->start * T->layout.align + (int64_t)r * lanes, step = (int64_t)s->rows * lanes; \
    const int32_t *col = T->col + start; \
    const type    *val = (const type *)T->val + start; \
\
    for (int32_t q = 0; q < s->width; q++, col += step, val += step) { \
      for (int t = 0; t < lanes && col[t] >= 0; t++) sum -= (double)val[t] * w[col[t]]; \
    } \
    return sum; \
  }
GP_TRI_ROW(GpTriRowSingle, float)
GP_TRI_ROW(GpTriRowDouble, double)

static void GpTriSolve_Host(const GpTri *T, const GpTriVectors *v)
{
  for (int32_t k = 0; k < T->layout.slices; k++) {
    const GpTriSlice *s = &T->slice[k];

    for (int32_t r = 0; r < s->rows; r++) {
      const int32_t slot = s->slot + r;
      const double  d    = T->diag ? T->diag[slot] : 1;
      double        sum  = v->b[v->in[slot]];

      if (v->diagonal == GP_TRI_BEFORE) sum *= d;
      if (v->diagonal == GP_TRI_BEFORE_ROOT) sum *= sqrt(d);
      sum = T->single ? GpTriRowSingle(T, s, r, sum, v->w) : GpTriRowDouble(T, s, r, sum, v->w);
      if (v->diagonal == GP_TRI_AFTER) sum *= d;
      v->w[slot] = sum;
      if (v->diagonal == GP_TRI_OUT_ROOT) sum *= sqrt(d);
      if (v->x) v->x[v->out[slot]] = v->add ? sum + v->add[v->out[slot]] : sum;
    }
  }
}

GpErr GpTriReset(GpDev dev, double *w, int64_t n)
{
#if GP_HAVE_CUDA
  if (GpDevKindOf(dev) == GP_DEV_CUDA && n) return GpTriReset_CUDA(dev, w, n);
#endif
  return GP_SUCCESS; /* the host needs no flags: it computes the slots in ascending order */
}

GpErr GpTriSolve(const GpTri *T, const GpTriVectors *vectors)
{
#if GP_HAVE_CUDA
  if (GpDevKindOf(T->dev) == GP_DEV_CUDA) return T->layout.n ? GpTriSolve_CUDA(T, vectors) : GP_SUCCESS;
#endif
  GpTriSolve_Host(T, vectors);
  return GP_SUCCESS;
}
