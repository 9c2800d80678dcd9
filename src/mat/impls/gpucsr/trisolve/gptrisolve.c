/* Triangles in device memory: creation, values, and solves on the host. */
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

GpErr GpTriCreate(GpDev dev, const GpTriRows *rows, int lanes, int single, GpTri *T)
{
  const int    keep = !lanes && GpDevKindOf(dev) == GP_DEV_HOST;
  GpTriLayout *L    = &T->layout;
  double       nnz  = 0;
  int          selected;
  GpErr        err;

  *T = (GpTri){.dev = dev, .single = single};
  for (int32_t i = 0; i < rows->n; i++) nnz += (double)(rows->end[i] - rows->begin[i]);
  selected = GpTriSelectLanes(rows->n ? nnz / rows->n : 0, &T->batch);
  if (GpTriAnalyse(rows, keep ? 1 : lanes ? lanes : selected, keep, L)) {
    *T = (GpTri){0};
    return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for the analysis of a triangle of %d rows and %.0f nonzeros", (int)rows->n, nnz);
  }
  T->blocks = GpTriSelectBlocks(dev, L);
  err       = GpDevAlloc(dev, (size_t)L->slices * sizeof(GpTriSlice), &T->slice);
  if (!err) err = GpDevAlloc(dev, (size_t)L->stored * sizeof(int32_t), &T->col);
  if (!err) err = GpDevAlloc(dev, (size_t)L->stored * GpTriValueBytes(T), &T->val);
  if (!err) err = GpDevUpload(dev, T->slice, L->slice, (size_t)L->slices * sizeof(GpTriSlice));
  if (!err) err = GpDevUpload(dev, T->col, L->col, (size_t)L->stored * sizeof(int32_t));
  if (err) GpTriDestroy(T);
  else {
    free(L->col);
    L->col = NULL;
  }
  return err;
}

GpErr GpTriUploadMap(const GpTri *T, const int32_t map[], int32_t **device)
{
  const GpTriLayout *L     = &T->layout;
  const size_t       bytes = (size_t)L->n * sizeof(int32_t);
  int32_t           *work  = map ? (int32_t *)malloc(bytes + 1) : NULL;
  GpErr              err;

  if (map && !work) return GpDevFail(T->dev, GP_ERR_MEMORY, "out of host memory for a permutation of %d rows", (int)L->n);
  for (int32_t k = 0; k < L->n && map; k++) work[k] = map[L->row[k]];
  err = GpDevAlloc(T->dev, bytes, device);
  if (!err) err = GpDevUpload(T->dev, *device, map ? work : L->row, bytes);
  if (err) GpDevFree(T->dev, device, bytes);
  free(work);
  return err;
}

void GpTriGetSlots(const GpTri *T, int32_t slot[])
{
  for (int32_t k = 0; k < T->layout.n; k++) slot[T->layout.row[k]] = k;
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
    if (isinf(to[k]) && !isinf(v)) c->infinite = 1;
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

  if (L->stored) err = GpDevUploadFilled(T->dev, T->val, (size_t)L->stored * GpTriValueBytes(T), T->single ? GpTriFillSingle : GpTriFillDouble, &c);
  if (!err && c.infinite) err = GpDevFail(T->dev, GP_ERR_ARGUMENT, GP_TRI_TOO_LARGE);
  if (!err && diagonal && !T->diag) err = GpDevAlloc(T->dev, bytes, &T->diag);
  if (!err && diagonal && bytes) err = GpDevUploadFilled(T->dev, T->diag, bytes, GpTriFillDiagonal, &c);
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
