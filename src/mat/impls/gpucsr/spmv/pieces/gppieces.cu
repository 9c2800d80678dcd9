/* Builds rows in pieces (gppieces.h): cuts rows into pieces, sorts the pieces of each panel by cold and hot length, and lays them out in slices. */
#include "mat/impls/gpucsr/spmv/pieces/gppieces.h"
#include "mat/impls/gpucsr/spmv/common/gpsteps.h"

#include <stdlib.h>

typedef struct {
  GpPieces       P;
  int32_t        m;
  GpPrec         prec;
  const int32_t *begin, *end, *col, *map;
  const void    *val;
  int32_t       *off;            /* [npanels*m+1] number of pieces before each segment, panel by panel; a segment is the part of a row in one panel */
  int32_t       *pos;            /* [npanels*m+1] number of pieces before each segment, row by row: the positions in GpPieces.part; the same array as off if there is one panel */
  int32_t       *first;          /* [npanels+1] number of pieces before each panel */
  int32_t       *weight;         /* [npanels+2] slots before each panel, divided by 32; the last entry is the number of hot slots, divided by 32 */
  int32_t       *isspan;         /* [2m+1] flags of rows with few pieces, then flags of rows with many pieces */
  int32_t       *told;           /* [4] results for the host: pieces, spans with few pieces, all spans, 1 if the values differ */
  size_t         worked, pieced; /* bytes of `work` and of `pieces` */
  void          *work, *pieces;
  uint32_t      *key;
  int32_t       *piece;
  uint64_t      *mask; /* [npieces] hot nonzeros of each piece */
} Build;

/* One piece of a segment. A group of up to 32 pieces shares up to 32*longest nonzeros: piece i of k pieces takes nonzeros i, i + k, ..., so that
   neighbouring lanes read neighbouring nonzeros of a long row. */
typedef struct {
  int32_t segment, from, count, stride;
} Geometry;

GP_INLINE int32_t Pieces(int32_t length, int32_t longest)
{
  return (length + longest - 1) / longest;
}

GP_INLINE Geometry Locate(const Build *b, int32_t q)
{
  const int32_t most = GP_PIECE_LANES * b->P.longest;
  int32_t       lo = 0, hi = b->P.npanels * b->m, i, length; /* find the last segment whose pieces begin at or before q */
  Geometry      g;

  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (b->off[mid] <= q) lo = mid;
    else hi = mid;
  }
  i         = q - b->off[lo];
  g.segment = lo;
  g.from    = b->begin[lo] + i / GP_PIECE_LANES * most;
  length    = b->end[lo] - g.from;
  if (length > most) length = most;
  i %= GP_PIECE_LANES;
  g.from += i;
  g.stride = length > b->P.longest ? Pieces(length, b->P.longest) : 1;
  g.count  = (length - i + g.stride - 1) / g.stride;
  return g;
}

GP_STEP(CountPieces)
{
  const Build  *b = (const Build *)args;
  const int32_t p = (int32_t)(i / b->m), row = (int32_t)(i % b->m);
  int32_t       k = Pieces(b->end[i] - b->begin[i], b->P.longest);

  if (!k && b->P.npanels == 1) k = 1; /* an empty row has one piece without nonzeros */
  b->off[i]                               = k;
  b->pos[(int64_t)row * b->P.npanels + p] = k;
}

/* Computes the sort key of a piece: by panel, then by descending number of cold nonzeros, then by descending number of hot nonzeros if there are
   both kinds. */
GP_STEP(KeyPieces)
{
  const Build   *b    = (const Build *)args;
  const Geometry g    = Locate(b, (int32_t)i);
  const uint32_t n    = (uint32_t)b->P.longest + 1;
  uint32_t       hot  = 0;
  uint64_t       mask = 0;

  if (b->mask) {
    for (int32_t e = 0; e < g.count; e++) {
      if (b->map[b->col[g.from + e * g.stride]] >= b->P.hot) continue;
      mask |= (uint64_t)1 << e;
      hot++;
    }
    b->mask[i] = mask;
  }
  b->key[i]   = (uint32_t)(g.segment / b->m) * n + (n - 1 - ((uint32_t)g.count - hot));
  b->piece[i] = (int32_t)i;
  if (b->mask) b->key[i] = b->key[i] * n + (n - 1 - hot);
}

GP_STEP(FirstOfPanel)
{
  const Build *b = (const Build *)args;

  b->first[i] = b->off[i * b->m];
}

GP_STEP(WeightOfPanel)
{
  const Build *b = (const Build *)args;

  b->weight[i] = i <= b->P.npanels ? b->P.base[b->P.pslice[i]] : b->P.hbase[b->P.nslices];
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
  const int32_t  lane = b->P.pslice[p] * GP_PIECE_LANES + ((int32_t)i - b->first[p]);
  const int64_t  at   = (int64_t)row * b->P.npanels;
  const int32_t  part = b->pos[at + p] + (q - b->off[g.segment]);
  const int32_t  hot  = b->mask ? b->P.longest - (int32_t)(b->key[i] % (uint32_t)(b->P.longest + 1)) : b->P.hot ? g.count : 0;

  b->P.out[lane]  = b->pos[at + b->P.npanels] - b->pos[at] == 1 ? row : ~part;
  b->P.from[lane] = g.from;
  if (b->mask) b->P.mask[lane] = b->mask[q];
  b->P.shape[lane] = hot | (g.count - hot) << 8 | g.stride << 16;
}

GP_STEP(WidthOfSlice)
{
  const Build *b   = (const Build *)args;
  int32_t      hot = 0, cold = 0;

  for (int64_t lane = i * GP_PIECE_LANES; lane < (i + 1) * GP_PIECE_LANES; lane++) {
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

  b->isspan[i]        = k != 1 && k <= GP_PIECE_MANY;
  b->isspan[b->m + i] = k > GP_PIECE_MANY;
}

GP_STEP(Tell)
{
  const Build *b = (const Build *)args;

  b->told[i] = i == 0 ? b->off[(int64_t)b->P.npanels * b->m] : i < 3 ? b->isspan[i * b->m] : 0;
}

GP_STEP(ListSpans)
{
  const Build   *b  = (const Build *)args;
  const int64_t  at = i % b->m * b->P.npanels;
  int32_t *const s  = b->P.span + 3 * (int64_t)b->isspan[i];

  if (b->isspan[i + 1] == b->isspan[i]) return;
  s[0] = (int32_t)(i % b->m);
  s[1] = b->pos[at];
  s[2] = b->pos[at + b->P.npanels];
}

/* The slots of a lane: its hot and its cold nonzeros in their order, each padded to the width of the slice. */
typedef struct {
  int32_t count[2], width[2]; /* index 0: cold, index 1: hot */
  int64_t val[2], code[2];    /* first slots of values and of codes */
} Lane;

GP_INLINE Lane LaneOf(const Build *b, int64_t i)
{
  const int64_t s = i / GP_PIECE_LANES, h = b->P.hbase[s], v = b->P.base[s];
  Lane          l;

  l.count[1] = b->P.shape[i] & 255;
  l.count[0] = b->P.shape[i] >> 8 & 255;
  l.width[1] = (int32_t)(b->P.hbase[s + 1] - h);
  l.width[0] = (int32_t)(b->P.base[s + 1] - v) - l.width[1];
  l.val[1]   = v * GP_PIECE_LANES + i % GP_PIECE_LANES;
  l.val[0]   = l.val[1] + (int64_t)l.width[1] * GP_PIECE_LANES;
  l.code[1]  = h * GP_PIECE_LANES + i % GP_PIECE_LANES;
  l.code[0]  = (v - h) * GP_PIECE_LANES + i % GP_PIECE_LANES;
  return l;
}

GP_INLINE int IsHot(const Build *b, int64_t i, int32_t e)
{
  return b->P.mask ? (int)(b->P.mask[i] >> e & 1) : b->P.hot > 0;
}

GP_INLINE void PutCode(const Build *b, int hot, int64_t to, int32_t code)
{
  if (hot) b->P.hotcode[to] = (uint16_t)code;
  else if (b->P.codebytes == 2) ((uint16_t *)b->P.code)[to] = (uint16_t)code;
  else ((uint32_t *)b->P.code)[to] = (uint32_t)code;
}

GP_STEP(FillCodes)
{
  const Build  *b     = (const Build *)args;
  const Lane    l     = LaneOf(b, i);
  const int32_t count = l.count[0] + l.count[1], stride = b->P.shape[i] >> 16;
  int32_t       n[2] = {0, 0};

  for (int32_t e = 0; e < count; e++) {
    const int     hot = IsHot(b, i, e);
    const int32_t c   = b->col[b->P.from[i] + e * stride];

    PutCode(b, hot, l.code[hot] + (int64_t)n[hot]++ * GP_PIECE_LANES, b->map ? b->map[c] : 1 + c % b->P.width);
  }
  for (int hot = 0; hot < 2; hot++)
    for (int32_t j = n[hot]; j < l.width[hot]; j++) PutCode(b, hot, l.code[hot] + (int64_t)j * GP_PIECE_LANES, 0);
}

GP_INLINE void PutValue(const Build *b, int64_t to, int64_t k)
{
  if (b->prec == GP_F32) ((float *)b->P.val)[to] = k < 0 ? 0.0f : ((const float *)b->val)[k];
  else ((double *)b->P.val)[to] = k < 0 ? 0.0 : ((const double *)b->val)[k];
}

GP_STEP(FillValues)
{
  const Build  *b     = (const Build *)args;
  const Lane    l     = LaneOf(b, i);
  const int32_t count = l.count[0] + l.count[1], stride = b->P.shape[i] >> 16;
  int32_t       n[2] = {0, 0};

  for (int32_t e = 0; e < count; e++) {
    const int hot = IsHot(b, i, e);

    PutValue(b, l.val[hot] + (int64_t)n[hot]++ * GP_PIECE_LANES, b->P.from[i] + (int64_t)e * stride);
  }
  for (int hot = 0; hot < 2; hot++)
    for (int32_t j = n[hot]; j < l.width[hot]; j++) PutValue(b, l.val[hot] + (int64_t)j * GP_PIECE_LANES, -1);
}

/* With blocks = 0, computes the first slice of each panel from its pieces. With blocks = 1, computes the first thread block of each panel in
   proportion to its slots, and the number of slots. */
static GpErr SharePanels(Build *b, GpDev dev, int blocks)
{
  const int32_t np   = b->P.npanels;
  int32_t      *host = (int32_t *)malloc((2 * (size_t)np + 3) * sizeof(int32_t)), *share = host + np + 2;
  const size_t  size = ((size_t)np + 1) * sizeof(int32_t);
  GpErr         err  = host ? GP_SUCCESS : GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for panels");

  if (!err && blocks) err = GpDevDownload(dev, host, b->weight, size + sizeof(int32_t));
  else if (!err && np > 1) err = GpDevDownload(dev, host, b->first, size);
  else if (!err) {
    host[0] = 0; /* one panel has all pieces */
    host[1] = b->P.npieces;
  }
  if (!err) {
    share[0] = 0;
    for (int32_t p = 0; p < np; p++) {
      const int64_t own  = (int64_t)host[p + 1] - host[p];
      const int64_t part = blocks ? dev->compute_units * own / (host[np] > 0 ? host[np] : 1) : (own + GP_PIECE_LANES - 1) / GP_PIECE_LANES;

      share[p + 1] = share[p] + (int32_t)(blocks && part < 1 ? 1 : part);
    }
    if (blocks) {
      b->P.nblocks  = share[np];
      b->P.slots    = (int64_t)host[np] * GP_PIECE_LANES;
      b->P.hotslots = (int64_t)host[np + 1] * GP_PIECE_LANES;
    } else b->P.nslices = share[np];
    err = GpDevUpload(dev, blocks ? b->P.pblock : b->P.pslice, share, size);
  }
  free(host);
  return err;
}

/* Returns the next array of a common allocation and advances the address behind it. */
static void *Next(char **memory, size_t bytes)
{
  char *at = *memory;

  *memory = at + GP_PIECE_ALIGN(bytes);
  return at;
}

static GpErr MakeWork(Build *b, GpDev dev)
{
  const size_t segments = ((size_t)b->P.npanels * (size_t)b->m + 1) * sizeof(int32_t), panels = ((size_t)b->P.npanels + 2) * sizeof(int32_t), rows = (2 * (size_t)b->m + 1) * sizeof(int32_t);
  const int    apart = b->P.npanels > 1;
  char        *at;
  GpErr        err;

  b->worked = (size_t)(1 + apart) * GP_PIECE_ALIGN(segments) + 2 * GP_PIECE_ALIGN(panels) + GP_PIECE_ALIGN(rows) + 4 * sizeof(int32_t);
  err       = GpDevBorrow(dev, b->worked, &b->work);
  if (err) return err;
  at        = (char *)b->work;
  b->off    = (int32_t *)Next(&at, segments);
  b->pos    = apart ? (int32_t *)Next(&at, segments) : b->off;
  b->first  = (int32_t *)Next(&at, panels);
  b->weight = (int32_t *)Next(&at, panels);
  b->isspan = (int32_t *)Next(&at, rows);
  b->told   = (int32_t *)at;
  return err;
}

/* Counts the pieces and the rows with several pieces, and finds out whether all values are equal. The host waits for all these results at once. */
static GpErr Count(Build *b, GpDev dev, const GpCsr *C)
{
  const int64_t segments = (int64_t)b->P.npanels * b->m;
  int32_t       told[4]  = {0};
  GpErr         err      = GP_EACH(dev, Build, CountPieces, segments, b);

  if (!err) err = GP_IMPL(GpScan)(dev, segments, b->off);
  if (!err && b->pos != b->off) err = GP_IMPL(GpScan)(dev, segments, b->pos);
  if (!err) err = GP_EACH(dev, Build, MarkSpans, b->m, b);
  if (!err) err = GP_IMPL(GpScan)(dev, 2 * (int64_t)b->m, b->isspan);
  if (!err) err = GP_EACH(dev, Build, Tell, 4, b);
  if (!err) err = GP_IMPL(GpCsrDiffers)(C, C->nnz < GP_SAME_FIRST ? C->nnz : GP_SAME_FIRST, b->told + 3);
  if (!err) err = GpDevDownload(dev, told, b->told, sizeof(told));
  b->P.npieces = told[0];
  b->P.nshort  = told[1];
  b->P.nspans  = told[2];
  if (!err && !told[3]) err = GpCsrSame(C, &b->P.same);
  return err;
}

/* Computes the pieces of all segments and sorts them. */
static GpErr Cut(Build *b, GpDev dev)
{
  const size_t  each = (size_t)b->P.npieces * sizeof(int32_t), masks = b->map && b->P.hot ? (size_t)b->P.npieces * sizeof(uint64_t) : 0;
  const int64_t kinds = b->P.longest + 1;
  int           bits  = 1;
  char         *at;
  GpErr         err;

  b->pieced = GP_PIECE_ALIGN(masks) + GP_PIECE_ALIGN(each) + each;
  err       = GpDevBorrow(dev, b->pieced, &b->pieces);
  if (err) return err;
  at       = (char *)b->pieces;
  b->mask  = masks ? (uint64_t *)Next(&at, masks) : NULL;
  b->key   = (uint32_t *)Next(&at, each);
  b->piece = (int32_t *)at;
  err      = GP_EACH(dev, Build, KeyPieces, b->P.npieces, b);
  while ((int64_t)1 << bits < b->P.npanels * kinds * (masks ? kinds : 1)) bits++;
  if (!err) err = GP_IMPL(GpSort)(dev, b->P.npieces, bits, b->key, b->piece);
  if (!err) err = GP_EACH(dev, Build, FirstOfPanel, b->P.npanels + 1, b);
  return err;
}

/* Places the pieces in slices and allocates codes and values. */
static GpErr Place(Build *b, const GpCsr *C)
{
  GpDev     dev = C->dev;
  GpPieces *P   = &b->P;
  GpErr     err = GpDevAlloc(dev, 2 * ((size_t)P->npanels + 1) * sizeof(int32_t), &P->pslice);

  P->pblock = err ? NULL : P->pslice + P->npanels + 1;
  if (!err) err = SharePanels(b, dev, 0);
  if (!err) err = GpPiecesMakeLanes(P, dev, b->mask != NULL);
  if (!err) err = GP_EACH(dev, Build, IdleLanes, (int64_t)P->nslices * GP_PIECE_LANES, b);
  if (!err) err = GP_EACH(dev, Build, PlacePieces, P->npieces, b);
  if (!err) err = GP_EACH(dev, Build, WidthOfSlice, P->nslices, b);
  if (!err) err = GP_IMPL(GpScan)(dev, P->nslices, P->base);
  if (!err) err = P->hot ? GP_IMPL(GpScan)(dev, P->nslices, P->hbase) : dev->ops->zero(dev, P->hbase, ((size_t)P->nslices + 1) * sizeof(int32_t));
  if (!err) err = GP_EACH(dev, Build, WeightOfPanel, P->npanels + 2, b);
  if (!err) err = SharePanels(b, dev, 1);
  return err ? err : GpPiecesMakeSlots(P, C);
}

/* Lists the spans (rows that are not one piece), those with few pieces first. */
static GpErr List(Build *b, GpDev dev)
{
  GpErr err = GpDevAlloc(dev, 3 * (size_t)b->P.nspans * sizeof(int32_t), &b->P.span);

  if (!err && b->P.nspans) err = GpDevAlloc(dev, (size_t)b->P.npieces * sizeof(double), &b->P.part);
  if (err || !b->P.nspans) return err;
  return GP_EACH(dev, Build, ListSpans, 2 * (int64_t)b->m, b);
}

static GpErr PutValues(const Build *b, GpDev dev)
{
  return b->P.same ? dev->ops->copy_within(dev, b->P.val, b->val, GpPrecBytes(b->prec)) : GP_EACH(dev, Build, FillValues, (int64_t)b->P.nslices * GP_PIECE_LANES, b);
}

static Build Begin(const GpPieces *P, const GpCsr *C)
{
  Build b = {*P, C->m, C->prec, NULL, NULL, C->col, NULL, C->val};

  return b;
}

GpErr GP_IMPL(GpPiecesBuild)(GpPieces *P, const GpCsr *C, const int32_t *begin, const int32_t *end, const int32_t *map)
{
  GpDev         dev      = C->dev;
  const int64_t segments = (int64_t)P->npanels * C->m, lanes = segments + C->nnz / 8 + (int64_t)GP_PIECE_LANES * P->npanels;
  Build         b;
  GpErr         err;

  P->columns = C->n;
  P->longest = GpPieceLongest(C->nnz);
  if (lanes > INT32_MAX) return GpDevFail(dev, GP_ERR_ARGUMENT, "the rows need up to %lld pieces; the limit of this format is %d", (long long)lanes, INT32_MAX);
  b       = Begin(P, C);
  b.begin = begin;
  b.end   = end;
  b.map   = map;
  err     = MakeWork(&b, dev);
  if (!err) err = Count(&b, dev, C);
  if (!err) err = Cut(&b, dev);
  if (!err) err = Place(&b, C);
  if (!err) err = List(&b, dev);
  if (!err) err = GP_EACH(dev, Build, FillCodes, (int64_t)b.P.nslices * GP_PIECE_LANES, &b);
  if (!err) err = PutValues(&b, dev);
  *P = b.P;
  GpDevReturn(dev, &b.work, b.worked);
  GpDevReturn(dev, &b.pieces, b.pieced);
  return err;
}

GpErr GP_IMPL(GpPiecesRefill)(const GpPieces *P, const GpCsr *C)
{
  Build b   = Begin(P, C);
  GpErr err = P->same ? GpCsrStillSame(C) : GP_SUCCESS;

  return err ? err : PutValues(&b, C->dev);
}
