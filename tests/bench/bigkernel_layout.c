/* Layouts of records, and the pipelines that transfer them (bigkernel_layout.h). */
#include "bench/bigkernel_layout.h"

#include <stdio.h>
#include <stdlib.h>

#define ALIGN ((size_t)256) /* each item begins at a multiple of this number of bytes, except items of whole records */

const char *const BkLayoutNames[] = {"records", "fields", "columns", "encoded"};

static size_t RecordBytes(const BkLayout *L)
{
  size_t bytes = 0;

  if (L->kind == BK_RECORDS) return L->p->bytes;
  for (int f = 0; f < L->p->fields; f++) bytes += L->p->size[f];
  return bytes;
}

BkView BkLayoutView(const BkLayout *L, int64_t item, const void *base)
{
  const int64_t n  = L->first[item + 1] - L->first[item];
  BkView        v  = {.n = n, .aligned = 1, .base = (const unsigned char *)base};
  size_t        at = 0;

  if (L->kind == BK_RECORDS) return BkRecords(L->p, base, n);
  for (int f = 0; f < L->p->fields; f++) {
    v.offset[f] = L->kind == BK_USED ? at : at * (size_t)n;
    v.stride[f] = L->kind == BK_USED ? RecordBytes(L) : L->p->size[f];
    if (v.offset[f] % L->p->size[f] || v.stride[f] % L->p->size[f]) v.aligned = 0;
    at += L->p->size[f];
  }
  return v;
}

/* --- gathering ---------------------------------------------------------------------------------------------------------------- */

static inline void GatherField(unsigned char *to, size_t tostride, const unsigned char *from, size_t fromstride, size_t size, int64_t n)
{
  if (size == 8) {
    for (int64_t i = 0; i < n; i++) memcpy(to + (size_t)i * tostride, from + (size_t)i * fromstride, 8);
  } else {
    for (int64_t i = 0; i < n; i++) memcpy(to + (size_t)i * tostride, from + (size_t)i * fromstride, 4);
  }
}

/* Writes the fields of an item. Blocks of records stay in the cache while their fields are gathered one after the other. */
static void GatherItem(const BkLayout *L, int64_t item, unsigned char *to)
{
  const BkProgram      p    = L->p;
  const BkView         v    = BkLayoutView(L, item, to);
  const unsigned char *from = p->data + (size_t)L->first[item] * p->bytes;

  for (int64_t i = 0; i < v.n; i += 256) {
    const int64_t n = v.n - i < 256 ? v.n - i : 256;

    for (int f = 0; f < p->fields; f++) GatherField(to + v.offset[f] + (size_t)i * v.stride[f], v.stride[f], from + (size_t)i * p->bytes + p->offset[f], p->bytes, p->size[f], n);
  }
}

static GpErr Fill(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  (void)why;
  (void)whylen;
  GatherItem((const BkLayout *)context, item, (unsigned char *)destination);
  return GP_SUCCESS;
}

static void GatherItems(void *context, int thread, int64_t begin, int64_t end)
{
  const BkLayout *L = (const BkLayout *)context;

  (void)thread;
  for (int64_t i = begin; i < end; i++) GatherItem(L, i, L->memory + L->offset[i]);
}

/* --- layouts ------------------------------------------------------------------------------------------------------------------ */

static void Cut(BkLayout *L, size_t item)
{
  const BkProgram p    = L->p;
  const size_t    each = RecordBytes(L);
  int64_t         most = (int64_t)(item / each), n = 0, group = 0;

  if (most < 1) most = 1;
  L->first  = (int64_t *)malloc(((size_t)p->records + 2) * sizeof(*L->first)); /* the system allocates only the pages that are written */
  L->offset = (size_t *)malloc(((size_t)p->records + 2) * sizeof(*L->offset));
  if (!L->first || !L->offset) BkFail(p->name, "out of memory");
  L->first[0] = 0;
  for (; L->first[n] < p->records; n++) {
    int64_t end = L->first[n] + most < p->records ? L->first[n] + most : p->records;

    if (p->group) {
      const int64_t begin = group;

      while (group < p->groups && (p->group[group + 1] <= end || group == begin)) group++;
      end = p->group[group];
    }
    L->first[n + 1] = end;
  }
  L->items     = n;
  L->offset[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    const size_t bytes = (size_t)(L->first[i + 1] - L->first[i]) * each;

    L->offset[i + 1] = L->offset[i] + (L->kind == BK_RECORDS ? bytes : (bytes + ALIGN - 1) / ALIGN * ALIGN);
    L->bytes += (double)bytes;
  }
}

typedef struct {
  BkView   v;
  int      colfield, valfield; /* valfield -1: all values are 1 */
  int      colbytes;           /* size of the field of columns */
  int32_t *col;
  double  *val;
} Nonzeros;

static void GetNonzeros(void *context, int thread, int64_t begin, int64_t end)
{
  const Nonzeros *x = (const Nonzeros *)context;

  (void)thread;
  for (int64_t i = begin; i < end; i++) {
    x->col[i] = (int32_t)BkBits(&x->v, x->colfield, i, x->colbytes);
    x->val[i] = x->valfield < 0 ? 1 : BkDouble(&x->v, x->valfield, i);
  }
}

static void Encode(BkLayout *L, size_t item)
{
  const BkProgram p = L->p;
  const size_t    n = (size_t)p->records;
  Nonzeros        x = {BkRecords(p, p->data, p->records), p->colfield, p->valfield, (int)p->size[p->colfield], (int32_t *)BkAlloc(n * sizeof(int32_t)), (double *)BkAlloc(n * sizeof(double))};
  GpChunkSource   A = {.m = p->groups, .n = p->columns, .prec = GP_F32, .rowbytes = 8, .colbytes = 4, .rowptr = p->group, .col = x.col, .val = x.val};
  GpRowSource     rows;

  BkParallel(p->threads, p->records, GetNonzeros, &x);
  GpOpRowsOfArrays(&A, &rows);
  if (GpOpChunksCreate(p->dev, &rows, item, 0, p->threads, &L->chunks)) BkFail(p->name, GpDevError(p->dev));
  BkFree(x.col, n * sizeof(int32_t));
  BkFree(x.val, n * sizeof(double));
  if (GpDevAlloc(p->dev, L->chunks.work, &L->work)) BkFail(p->name, GpDevError(p->dev));
  L->items       = L->chunks.table.nchunks;
  L->bytes       = L->chunks.bytes;
  L->pin_seconds = L->chunks.pin_seconds;
  L->pinned      = 1;
  for (int64_t c = 0; c < L->items; c++) L->pinned = L->pinned && L->chunks.pinned[c];
}

void BkLayoutCreate(BkProgram p, BkLayoutKind kind, int assembled, size_t item, BkLayout *L)
{
  *L                 = (BkLayout){.p = p, .kind = kind, .assembled = assembled};
  L->prepare_seconds = -BkNow();
  if (kind == BK_ENCODED) Encode(L, item);
  else {
    Cut(L, item);
    if (kind == BK_RECORDS) L->memory = p->data;
    else if (!assembled) {
      L->memory = (unsigned char *)BkAlloc(L->offset[L->items]);
      BkParallel(p->threads, L->items, GatherItems, L);
    }
    L->pin_seconds = -BkNow();
    if (L->memory && GpDevPin(p->dev, L->memory, L->offset[L->items], &L->pinned)) BkFail(p->name, GpDevError(p->dev));
    L->pin_seconds += BkNow();
  }
  L->prepare_seconds += BkNow() - L->pin_seconds;
  if (!L->pinned && !assembled) fprintf(stderr, "%s: the layout %s is not pinned: %s\n", p->name, BkLayoutNames[kind], GpDevError(p->dev));
}

void BkLayoutDestroy(BkLayout *L)
{
  if (L->kind == BK_ENCODED) GpDevFree(L->p->dev, &L->work, L->chunks.work);
  if (L->kind == BK_ENCODED) GpOpChunksDestroy(&L->chunks);
  else if (L->memory && L->pinned) GpDevUnpin(L->p->dev, L->memory);
  if (L->kind != BK_RECORDS && L->memory) BkFree(L->memory, L->offset[L->items]);
  free(L->first);
  free(L->offset);
}

GpErr BkLayoutOpen(const BkLayout *L, int buffers, GpStream *stream)
{
  const BkProgram       p   = L->p;
  const GpStreamOptions o   = {.buffers = buffers, .threads = p->threads};
  GpErr                 err = GpStreamCreate(p->dev, &o, stream);

  for (int64_t i = 0; !err && i < L->items; i++) {
    GpStreamItem item = {.pinned = L->pinned};

    if (L->kind == BK_ENCODED) {
      item.bytes  = L->chunks.head[i].bytes;
      item.host   = L->chunks.chunk[i];
      item.pinned = L->chunks.pinned[i];
    } else {
      item.bytes = (size_t)(L->first[i + 1] - L->first[i]) * RecordBytes(L);
      item.host  = L->assembled ? NULL : L->memory + L->offset[i];
      if (L->assembled) {
        item.fill    = Fill;
        item.context = (void *)L;
      }
      item.back_bytes = (size_t)(L->first[i + 1] - L->first[i]) * p->back;
      if (p->back) item.back = p->labels + L->first[i];
    }
    err = GpStreamAdd(*stream, &item);
  }
  return err ? err : GpStreamSetUp(*stream);
}

GpErr BkLayoutUse(const BkLayout *L, int64_t item, const void *device, void *result)
{
  const BkProgram p = L->p;

  if (L->kind == BK_ENCODED) {
    GpCsr       A;
    const GpErr err = GpChunkDecode(p->dev, &L->chunks.head[item], device, L->work, &A);

    return err ? err : p->useRows(p, &A, L->chunks.head[item].first);
  } else {
    const BkView v = BkLayoutView(L, item, device);

    return p->use(p, &v, result);
  }
}
