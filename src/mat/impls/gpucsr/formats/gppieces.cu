/* Cuts rows into pieces, sorts them within their panel by their cold and hot lengths, and lays them out in slices. */
#include "mat/impls/gpucsr/formats/gppieces.h"
#include "mat/impls/gpucsr/formats/gpsteps.h"

#include <stdlib.h>

typedef struct {
  GpPieces       P;
  int32_t        m;
  GpPrec         prec;
  const int32_t *begin, *end, *col, *map, *rank;
  const void    *val;
  int32_t       *off;    /* pieces before every segment, panel by panel */
  int32_t       *pos;    /* the same row by row: their places in part; with one panel it is off */
  int32_t       *first;  /* [npanels+1] pieces before every panel */
  int32_t       *weight; /* [npanels+1] slots before every panel, a 32nd */
  int32_t       *isspan; /* [m+1] */
  int            many;   /* spans of many pieces, or of few? */
  uint32_t      *key;
  int32_t       *piece;
} Build;

/* A short row is one piece.  Of a long one the hot nonzeros are cut, then the cold ones: groups of up to 32 pieces share up to
   32*longest nonzeros; piece i of k takes every k-th from the i-th on, so that neighbouring lanes read neighbours. */
typedef struct {
  int32_t segment, from, hot, cold, stride;
} Geometry;

GP_INLINE int32_t Pieces(int32_t length, int32_t longest)
{
  return (length + longest - 1) / longest;
}

GP_INLINE int32_t HotOf(const Build *b, int32_t v)
{
  if (b->rank) return b->rank[b->end[v]] - b->rank[b->begin[v]];
  return b->P.hot ? b->end[v] - b->begin[v] : 0;
}

GP_INLINE int32_t PiecesOf(const Build *b, int32_t v)
{
  const int32_t length = b->end[v] - b->begin[v], hot = HotOf(b, v);

  return length <= b->P.longest ? (length > 0 ? 1 : 0) : Pieces(hot, b->P.longest) + Pieces(length - hot, b->P.longest);
}

GP_INLINE Geometry Locate(const Build *b, int32_t q)
{
  const int32_t most = GP_SLICE * b->P.longest;
  int32_t       lo = 0, hi = b->P.npanels * b->m, length, hot, cut, at, i; /* the last segment whose pieces begin at or before q */
  Geometry      g = {0, 0, 0, 0, 1};

  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (b->off[mid] <= q) lo = mid;
    else hi = mid;
  }
  g.segment = lo;
  g.from    = b->begin[lo];
  length    = b->end[lo] - b->begin[lo];
  hot       = HotOf(b, lo);
  if (length <= b->P.longest) {
    g.hot  = hot;
    g.cold = length - hot;
    return g;
  }
  i   = q - b->off[lo];
  cut = Pieces(hot, b->P.longest); /* pieces of hot nonzeros */
  at  = i < cut ? 0 : hot;
  if (i >= cut) i -= cut;
  else length = hot;
  at += i / GP_SLICE * most;
  length -= at;
  if (length > most) length = most;
  i %= GP_SLICE;
  g.stride = Pieces(length, b->P.longest);
  g.from += at + i;
  length = (length - i + g.stride - 1) / g.stride;
  if (q - b->off[lo] < cut) g.hot = length;
  else g.cold = length;
  return g;
}

GP_STEP(CountPieces)
{
  const Build  *b = (const Build *)args;
  const int32_t p = (int32_t)(i / b->m), row = (int32_t)(i % b->m);
  int32_t       k = PiecesOf(b, (int32_t)i);

  if (!k && b->P.npanels == 1) k = 1; /* an empty row is a piece of no nonzeros */
  b->off[i]                               = k;
  b->pos[(int64_t)row * b->P.npanels + p] = k;
}

/* panels apart, long pieces first */
GP_STEP(KeyPieces)
{
  const Build   *b = (const Build *)args;
  const Geometry g = Locate(b, (int32_t)i);
  const uint32_t n = (uint32_t)b->P.longest + 1;

  b->key[i]   = ((uint32_t)(g.segment / b->m) * n + (n - 1 - (uint32_t)g.cold)) * n + (n - 1 - (uint32_t)g.hot);
  b->piece[i] = (int32_t)i;
}

GP_STEP(FirstOfPanel)
{
  const Build *b = (const Build *)args;

  b->first[i] = b->off[i * b->m];
}

GP_STEP(WeightOfPanel)
{
  const Build *b = (const Build *)args;

  b->weight[i] = b->P.base[b->P.pslice[i]];
}

GP_STEP(IdleLanes)
{
  const Build *b = (const Build *)args;

  b->P.out[i]   = GP_PIECE_IDLE;
  b->P.from[i]  = 0;
  b->P.shape[i] = 0;
}

GP_STEP(PlacePieces)
{
  const Build   *b = (const Build *)args;
  const int32_t  q = b->piece[i];
  const Geometry g = Locate(b, q);
  const int32_t  p = g.segment / b->m, row = g.segment % b->m;
  const int32_t  lane = b->P.pslice[p] * GP_SLICE + ((int32_t)i - b->first[p]);
  const int64_t  at   = (int64_t)row * b->P.npanels;
  const int32_t  part = b->pos[at + p] + (q - b->off[g.segment]);

  b->P.out[lane]   = b->pos[at + b->P.npanels] - b->pos[at] == 1 ? row : ~part;
  b->P.from[lane]  = g.from;
  b->P.shape[lane] = g.hot | g.cold << 8 | g.stride << 16;
}

GP_STEP(WidthOfSlice)
{
  const Build *b   = (const Build *)args;
  int32_t      hot = 0, cold = 0;

  for (int64_t lane = i * GP_SLICE; lane < (i + 1) * GP_SLICE; lane++) {
    const int32_t shape = b->P.shape[lane], h = shape & 255, c = shape >> 8 & 255;

    if (h > hot) hot = h;
    if (c > cold) cold = c;
  }
  b->P.hbase[i] = hot;
  b->P.base[i]  = hot + cold;
}

GP_STEP(MarkSpans)
{
  const Build  *b  = (const Build *)args;
  const int64_t at = i * b->P.npanels;
  const int32_t k  = b->pos[at + b->P.npanels] - b->pos[at];

  b->isspan[i] = k != 1 && (k > GP_PIECE_MANY) == b->many;
}

GP_STEP(ListSpans)
{
  const Build  *b  = (const Build *)args;
  const int64_t at = i * b->P.npanels;
  int32_t      *s  = b->P.span + 3 * ((int64_t)b->isspan[i] + (b->many ? b->P.nshort : 0));

  if (b->isspan[i + 1] == b->isspan[i]) return;
  s[0] = (int32_t)i;
  s[1] = b->pos[at];
  s[2] = b->pos[at + b->P.npanels];
}

/* where the slots of a lane are */
typedef struct {
  int32_t hot, cold, stride, nhot, ncold; /* of the lane, of the slice */
  int64_t val, hotcode, code;             /* first slots */
} Lane;

GP_INLINE Lane LaneOf(const Build *b, int64_t i)
{
  const int64_t s = i / GP_SLICE, h = b->P.hbase[s], v = b->P.base[s];
  Lane          l;

  l.hot     = b->P.shape[i] & 255;
  l.cold    = b->P.shape[i] >> 8 & 255;
  l.stride  = b->P.shape[i] >> 16;
  l.nhot    = (int32_t)(b->P.hbase[s + 1] - h);
  l.ncold   = (int32_t)(b->P.base[s + 1] - v) - l.nhot;
  l.val     = v * GP_SLICE + i % GP_SLICE;
  l.hotcode = h * GP_SLICE + i % GP_SLICE;
  l.code    = (v - h) * GP_SLICE + i % GP_SLICE;
  return l;
}

/* the nonzero in hot or cold column j of a lane, or -1 */
GP_INLINE int64_t Nonzero(const Build *b, const Lane *l, int64_t i, int32_t j)
{
  const int32_t e  = j < l->nhot ? j : l->hot + j - l->nhot;
  const int64_t at = b->P.from[i] + (int64_t)e * l->stride;

  if (j < l->nhot ? j >= l->hot : j - l->nhot >= l->cold) return -1;
  return b->P.perm ? b->P.perm[at] : at;
}

GP_STEP(FillCodes)
{
  const Build *b = (const Build *)args;
  const Lane   l = LaneOf(b, i);

  for (int32_t j = 0; j < l.nhot + l.ncold; j++) {
    const int64_t k = Nonzero(b, &l, i, j), to = l.code + (int64_t)(j - l.nhot) * GP_SLICE;
    const int32_t code = k < 0 ? 0 : b->map ? b->map[b->col[k]] : 1 + b->col[k] % b->P.width;

    if (j < l.nhot) b->P.hotcode[l.hotcode + (int64_t)j * GP_SLICE] = (uint16_t)code;
    else if (b->P.codebytes == 2) ((uint16_t *)b->P.code)[to] = (uint16_t)code;
    else ((uint32_t *)b->P.code)[to] = (uint32_t)code;
  }
}

GP_STEP(FillValues)
{
  const Build *b = (const Build *)args;
  const Lane   l = LaneOf(b, i);

  for (int32_t j = 0; j < l.nhot + l.ncold; j++) {
    const int64_t k = Nonzero(b, &l, i, j), to = l.val + (int64_t)j * GP_SLICE;

    if (b->prec == GP_F32) ((float *)b->P.val)[to] = k < 0 ? 0.0f : ((const float *)b->val)[k];
    else ((double *)b->P.val)[to] = k < 0 ? 0.0 : ((const double *)b->val)[k];
  }
}

/* slices of every panel, from its pieces; with weights also thread blocks, by its share of the slots */
static GpErr SharePanels(Build *b, GpDev dev)
{
  const int32_t np   = b->P.npanels;
  int32_t      *host = (int32_t *)malloc(2 * ((size_t)np + 1) * sizeof(int32_t)), *share = host + np + 1;
  const size_t  size   = ((size_t)np + 1) * sizeof(int32_t);
  const int     blocks = b->weight != NULL;
  GpErr         err    = host ? GpDevDownload(dev, host, blocks ? b->weight : b->first, size) : GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for panels");

  if (!err) {
    share[0] = 0;
    for (int32_t p = 0; p < np; p++) {
      const int64_t own  = (int64_t)host[p + 1] - host[p];
      const int64_t part = blocks ? dev->compute_units * own / (host[np] > 0 ? host[np] : 1) : (own + GP_SLICE - 1) / GP_SLICE;

      share[p + 1] = share[p] + (int32_t)(blocks && part < 1 ? 1 : part);
    }
    if (blocks) b->P.nblocks = share[np];
    else b->P.nslices = share[np];
    err = GpDevUpload(dev, blocks ? b->P.pblock : b->P.pslice, share, size);
  }
  free(host);
  return err;
}

/* the pieces of every segment, sorted */
static GpErr Cut(Build *b, GpDev dev)
{
  const int64_t segments = (int64_t)b->P.npanels * b->m;
  const size_t  np1      = ((size_t)b->P.npanels + 1) * sizeof(int32_t);
  int           bits     = 1;
  GpErr         err      = GpDevAlloc(dev, ((size_t)segments + 1) * sizeof(int32_t), &b->off);

  b->pos = b->off;
  if (!err && b->P.npanels > 1) err = GpDevAlloc(dev, ((size_t)segments + 1) * sizeof(int32_t), &b->pos);
  if (!err) err = GpDevAlloc(dev, np1, &b->first);
  if (!err) err = GP_EACH(dev, Build, CountPieces, segments, b);
  if (!err) err = GP_TWIN(GpScan)(dev, segments, b->off);
  if (!err && b->pos != b->off) err = GP_TWIN(GpScan)(dev, segments, b->pos);
  if (!err) err = GpDevDownload(dev, &b->P.npieces, b->off + segments, sizeof(int32_t));
  if (!err) err = GpDevAlloc(dev, (size_t)b->P.npieces * sizeof(uint32_t), &b->key);
  if (!err) err = GpDevAlloc(dev, (size_t)b->P.npieces * sizeof(int32_t), &b->piece);
  if (!err) err = GP_EACH(dev, Build, KeyPieces, b->P.npieces, b);
  while ((int64_t)1 << bits < (int64_t)b->P.npanels * (b->P.longest + 1) * (b->P.longest + 1)) bits++;
  if (!err) err = GP_TWIN(GpSort)(dev, b->P.npieces, bits, b->key, b->piece);
  if (!err) err = GP_EACH(dev, Build, FirstOfPanel, b->P.npanels + 1, b);
  return err;
}

/* their places, and the room for their nonzeros */
static GpErr Place(Build *b, GpDev dev)
{
  GpPieces    *P     = &b->P;
  const size_t np1   = ((size_t)P->npanels + 1) * sizeof(int32_t);
  int32_t      total = 0, hot = 0;
  size_t       lanes;
  GpErr        err = GpDevAlloc(dev, np1, &P->pslice);

  if (!err) err = GpDevAlloc(dev, np1, &P->pblock);
  if (!err) err = SharePanels(b, dev);
  lanes = (size_t)P->nslices * GP_SLICE;
  if (!err) err = GpDevAlloc(dev, ((size_t)P->nslices + 1) * sizeof(int32_t), &P->base);
  if (!err) err = GpDevAlloc(dev, ((size_t)P->nslices + 1) * sizeof(int32_t), &P->hbase);
  if (!err) err = GpDevAlloc(dev, lanes * sizeof(int32_t), &P->out);
  if (!err) err = GpDevAlloc(dev, lanes * sizeof(int32_t), &P->from);
  if (!err) err = GpDevAlloc(dev, lanes * sizeof(int32_t), &P->shape);
  if (!err) err = GP_EACH(dev, Build, IdleLanes, (int64_t)lanes, b);
  if (!err) err = GP_EACH(dev, Build, PlacePieces, P->npieces, b);
  if (!err) err = GP_EACH(dev, Build, WidthOfSlice, P->nslices, b);
  if (!err) err = GP_TWIN(GpScan)(dev, P->nslices, P->base);
  if (!err) err = GP_TWIN(GpScan)(dev, P->nslices, P->hbase);
  if (!err) err = GpDevAlloc(dev, np1, &b->weight);
  if (!err) err = GP_EACH(dev, Build, WeightOfPanel, P->npanels + 1, b);
  if (!err) err = SharePanels(b, dev);
  if (!err) err = GpDevDownload(dev, &total, P->base + P->nslices, sizeof(total));
  if (!err) err = GpDevDownload(dev, &hot, P->hbase + P->nslices, sizeof(hot));
  P->slots    = (int64_t)total * GP_SLICE;
  P->hotslots = (int64_t)hot * GP_SLICE;
  if (!err) err = GpDevAlloc(dev, (size_t)P->hotslots * sizeof(uint16_t), &P->hotcode);
  if (!err) err = GpDevAlloc(dev, (size_t)(P->slots - P->hotslots) * (size_t)P->codebytes, &P->code);
  if (!err) err = GpDevAlloc(dev, (size_t)P->slots * GpPrecBytes(b->prec), &P->val);
  return err;
}

/* rows that are not one piece: those of few pieces first */
static GpErr List(Build *b, GpDev dev)
{
  int32_t counts[2] = {0, 0};
  GpErr   err       = GpDevAlloc(dev, ((size_t)b->m + 1) * sizeof(int32_t), &b->isspan);

  for (b->many = 0; b->many < 2; b->many++) {
    if (!err) err = GP_EACH(dev, Build, MarkSpans, b->m, b);
    if (!err) err = GP_TWIN(GpScan)(dev, b->m, b->isspan);
    if (!err) err = GpDevDownload(dev, &counts[b->many], b->isspan + b->m, sizeof(int32_t));
  }
  b->P.nshort = counts[0];
  b->P.nspans = counts[0] + counts[1];
  if (!err) err = GpDevAlloc(dev, 3 * (size_t)b->P.nspans * sizeof(int32_t), &b->P.span);
  if (!err && b->P.nspans) err = GpDevAlloc(dev, (size_t)b->P.npieces * sizeof(double), &b->P.part);
  for (b->many = 1; b->many >= 0; b->many--) {
    if (!err && !b->many) err = GP_EACH(dev, Build, MarkSpans, b->m, b);
    if (!err && !b->many) err = GP_TWIN(GpScan)(dev, b->m, b->isspan);
    if (!err) err = GP_EACH(dev, Build, ListSpans, b->m, b);
  }
  return err;
}

static Build Begin(const GpPieces *P, const GpCsr *C)
{
  Build b = {*P, C->m, C->prec, NULL, NULL, C->col, NULL, NULL, C->val, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL};

  return b;
}

GP_EXTERN GpErr GP_TWIN(GpPiecesBuild)(GpPieces *P, const GpCsr *C, const int32_t *begin, const int32_t *end, const int32_t *map, const int32_t *rank)
{
  GpDev         dev      = C->dev;
  const int64_t segments = (int64_t)P->npanels * C->m, lanes = 2 * segments + C->nnz / 8 + (int64_t)GP_SLICE * P->npanels;
  Build         b;
  GpErr         err;

  P->columns = C->n;
  P->longest = 8; /* short enough for many more slices than warps, long enough for few partial sums */
  while (P->longest < 64 && C->nnz >> 18 >= P->longest) P->longest *= 2;
  if (lanes > INT32_MAX) return GpDevFail(dev, GP_ERR_ARGUMENT, "%lld pieces of rows, more than the %d that this format can number", (long long)lanes, INT32_MAX);
  b       = Begin(P, C);
  b.begin = begin;
  b.end   = end;
  b.map   = map;
  b.rank  = rank;
  err     = Cut(&b, dev);
  if (!err) err = Place(&b, dev);
  if (!err) err = List(&b, dev);
  if (!err) err = GP_EACH(dev, Build, FillCodes, (int64_t)b.P.nslices * GP_SLICE, &b);
  if (!err) err = GP_EACH(dev, Build, FillValues, (int64_t)b.P.nslices * GP_SLICE, &b);
  *P = b.P;
  if (b.pos != b.off) GpDevFree(dev, &b.pos, ((size_t)segments + 1) * sizeof(int32_t));
  GpDevFree(dev, &b.off, ((size_t)segments + 1) * sizeof(int32_t));
  GpDevFree(dev, &b.first, ((size_t)P->npanels + 1) * sizeof(int32_t));
  GpDevFree(dev, &b.weight, ((size_t)P->npanels + 1) * sizeof(int32_t));
  GpDevFree(dev, &b.isspan, ((size_t)C->m + 1) * sizeof(int32_t));
  GpDevFree(dev, &b.key, (size_t)P->npieces * sizeof(uint32_t));
  GpDevFree(dev, &b.piece, (size_t)P->npieces * sizeof(int32_t));
  return err;
}

GP_EXTERN GpErr GP_TWIN(GpPiecesRefill)(const GpPieces *P, const GpCsr *C);
GP_EXTERN GpErr GP_TWIN(GpPiecesRefill)(const GpPieces *P, const GpCsr *C)
{
  Build b = Begin(P, C);

  return GP_EACH(C->dev, Build, FillValues, (int64_t)P->nslices * GP_SLICE, &b);
}

#if !defined(__CUDACC__)
GpErr GpPiecesRefill_CUDA(const GpPieces *P, const GpCsr *C);

GpErr GpPiecesRefill(const GpPieces *P, const GpCsr *C)
{
  return GP_ON_DEVICE(C->dev, GpPiecesRefill, P, C);
}

void GpPiecesDestroy(GpPieces *P, const GpCsr *C)
{
  const size_t lanes = (size_t)P->nslices * GP_SLICE, np1 = (size_t)P->npanels + 1;

  GpDevFree(C->dev, &P->base, ((size_t)P->nslices + 1) * sizeof(int32_t));
  GpDevFree(C->dev, &P->hbase, ((size_t)P->nslices + 1) * sizeof(int32_t));
  GpDevFree(C->dev, &P->out, lanes * sizeof(int32_t));
  GpDevFree(C->dev, &P->from, lanes * sizeof(int32_t));
  GpDevFree(C->dev, &P->shape, lanes * sizeof(int32_t));
  GpDevFree(C->dev, &P->perm, (size_t)C->nnz * sizeof(int32_t));
  GpDevFree(C->dev, &P->pslice, np1 * sizeof(int32_t));
  GpDevFree(C->dev, &P->pblock, np1 * sizeof(int32_t));
  GpDevFree(C->dev, &P->span, 3 * (size_t)P->nspans * sizeof(int32_t));
  GpDevFree(C->dev, &P->pack, (size_t)P->packed * sizeof(int32_t));
  GpDevFree(C->dev, &P->hotcode, (size_t)P->hotslots * sizeof(uint16_t));
  GpDevFree(C->dev, &P->code, (size_t)(P->slots - P->hotslots) * (size_t)P->codebytes);
  GpDevFree(C->dev, &P->val, (size_t)P->slots * GpPrecBytes(C->prec));
  GpDevFree(C->dev, &P->xp, (size_t)P->packed * sizeof(double));
  GpDevFree(C->dev, &P->part, (size_t)P->npieces * sizeof(double));
}

/* of codes and values */
static double GpPiecesSlots(const GpPieces *P, const GpCsr *C)
{
  return (double)P->slots * GpPrecBytes(C->prec) + (double)P->hotslots * sizeof(uint16_t) + (double)(P->slots - P->hotslots) * P->codebytes;
}

double GpPiecesBytes(const GpPieces *P, const GpCsr *C)
{
  const double packed  = P->pack ? P->packed : 0.0;
  const double indices = 2.0 * P->nslices + 2.0 + 3.0 * P->nslices * GP_SLICE + 2.0 * P->npanels + 2.0 + 3.0 * P->nspans + packed + (P->perm ? C->nnz : 0.0);

  return GpPiecesSlots(P, C) + sizeof(int32_t) * indices + sizeof(double) * (packed + (P->nspans ? P->npieces : 0.0));
}

/* codes and values, where the sums go, the partial sums twice, and x packed: written and read */
double GpPiecesTraffic(const GpPieces *P, const GpCsr *C)
{
  const double parts = P->npieces - ((double)C->m - P->nspans), packed = P->pack ? P->packed : 0.0;

  return GpPiecesSlots(P, C) + sizeof(int32_t) * (2.0 * P->nslices + (double)P->nslices * GP_SLICE + 3.0 * P->nspans + packed) + 2.0 * sizeof(double) * (parts + packed);
}
#endif
