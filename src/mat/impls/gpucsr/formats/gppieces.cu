/* Cuts rows into pieces, sorts them within their panel by their cold and hot lengths, and lays them out in slices. */
#include "mat/impls/gpucsr/formats/gppieces.h"
#include "mat/impls/gpucsr/formats/gpsteps.h"

#include <stdlib.h>

typedef struct {
  GpPieces       P;
  int32_t        m;
  GpPrec         prec;
  const int32_t *begin, *end, *col, *map;
  const void    *val;
  int32_t       *off;    /* pieces before every segment, panel by panel */
  int32_t       *pos;    /* the same row by row: their places in part; with one panel it is off */
  int32_t       *first;  /* [npanels+1] pieces before every panel */
  int32_t       *weight; /* [npanels+1] slots before every panel, a 32nd */
  int32_t       *isspan; /* [m+1] */
  int            many;   /* spans of many pieces, or of few? */
  uint32_t      *key;
  int32_t       *piece;
  uint64_t      *mask; /* of every piece */
} Build;

/* Groups of up to 32 pieces share up to 32*longest nonzeros: piece i of k takes every k-th from the i-th on, so that neighbouring
   lanes read neighbouring nonzeros of a long row. */
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
  int32_t       lo = 0, hi = b->P.npanels * b->m, i, length; /* the last segment whose pieces begin at or before q */
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

  if (!k && b->P.npanels == 1) k = 1; /* an empty row is a piece of no nonzeros */
  b->off[i]                               = k;
  b->pos[(int64_t)row * b->P.npanels + p] = k;
}

/* panels apart, pieces with many cold nonzeros first, then those with many hot ones */
GP_STEP(KeyPieces)
{
  const Build   *b    = (const Build *)args;
  const Geometry g    = Locate(b, (int32_t)i);
  const uint32_t n    = (uint32_t)b->P.longest + 1;
  uint32_t       hot  = b->P.hot && !b->mask ? (uint32_t)g.count : 0;
  uint64_t       mask = 0;

  if (b->mask) {
    for (int32_t e = 0; e < g.count; e++) {
      if (b->map[b->col[g.from + e * g.stride]] >= b->P.hot) continue;
      mask |= (uint64_t)1 << e;
      hot++;
    }
    b->mask[i] = mask;
  }
  b->key[i]   = ((uint32_t)(g.segment / b->m) * n + (n - 1 - ((uint32_t)g.count - hot))) * n + (n - 1 - hot);
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
  const int32_t  lane = b->P.pslice[p] * GP_PIECE_LANES + ((int32_t)i - b->first[p]);
  const int64_t  at   = (int64_t)row * b->P.npanels;
  const int32_t  part = b->pos[at + p] + (q - b->off[g.segment]);
  const int32_t  hot  = b->P.longest - (int32_t)(b->key[i] % (uint32_t)(b->P.longest + 1));

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

/* the slots of a lane: its hot and its cold nonzeros in their order, and nothing up to the width of the slice */
typedef struct {
  int32_t count[2], width[2]; /* cold, hot */
  int64_t val[2], code[2];    /* the first slots */
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
      const int64_t part = blocks ? dev->compute_units * own / (host[np] > 0 ? host[np] : 1) : (own + GP_PIECE_LANES - 1) / GP_PIECE_LANES;

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
  if (!err && b->map && b->P.hot) err = GpDevAlloc(dev, (size_t)b->P.npieces * sizeof(uint64_t), &b->mask);
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
  lanes = (size_t)P->nslices * GP_PIECE_LANES;
  if (!err) err = GpDevAlloc(dev, ((size_t)P->nslices + 1) * sizeof(int32_t), &P->base);
  if (!err) err = GpDevAlloc(dev, ((size_t)P->nslices + 1) * sizeof(int32_t), &P->hbase);
  if (!err) err = GpDevAlloc(dev, lanes * sizeof(int32_t), &P->out);
  if (!err) err = GpDevAlloc(dev, lanes * sizeof(int32_t), &P->from);
  if (!err) err = GpDevAlloc(dev, lanes * sizeof(int32_t), &P->shape);
  if (!err && b->mask) err = GpDevAlloc(dev, lanes * sizeof(uint64_t), &P->mask);
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
  P->slots    = (int64_t)total * GP_PIECE_LANES;
  P->hotslots = (int64_t)hot * GP_PIECE_LANES;
  if (!err) err = GpDevAlloc(dev, (size_t)P->hotslots * sizeof(uint16_t), &P->hotcode);
  if (!err) err = GpDevAlloc(dev, (size_t)(P->slots - P->hotslots) * (size_t)P->codebytes, &P->code);
  if (!err) err = GpDevAlloc(dev, (size_t)P->slots * GpPrecBytes(b->prec), &P->val);
  return err;
}

/* numbers the rows that are not one piece and have few, or many */
static GpErr Number(Build *b, GpDev dev, int many, int32_t *count)
{
  GpErr err;

  b->many = many;
  err     = GP_EACH(dev, Build, MarkSpans, b->m, b);
  if (!err) err = GP_TWIN(GpScan)(dev, b->m, b->isspan);
  return err ? err : GpDevDownload(dev, count, b->isspan + b->m, sizeof(*count));
}

static GpErr List(Build *b, GpDev dev)
{
  int32_t many = 0;
  GpErr   err  = GpDevAlloc(dev, ((size_t)b->m + 1) * sizeof(int32_t), &b->isspan);

  if (!err) err = Number(b, dev, 1, &many);
  if (!err) err = Number(b, dev, 0, &b->P.nshort);
  b->P.nspans = b->P.nshort + many;
  if (!err) err = GpDevAlloc(dev, 3 * (size_t)b->P.nspans * sizeof(int32_t), &b->P.span);
  if (!err && b->P.nspans) err = GpDevAlloc(dev, (size_t)b->P.npieces * sizeof(double), &b->P.part);
  if (!err) err = GP_EACH(dev, Build, ListSpans, b->m, b);
  if (!err && many) err = Number(b, dev, 1, &many);
  return err || !many ? err : GP_EACH(dev, Build, ListSpans, b->m, b);
}

static Build Begin(const GpPieces *P, const GpCsr *C)
{
  Build b = {*P, C->m, C->prec, NULL, NULL, C->col, NULL, C->val, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL};

  return b;
}

GP_EXTERN GpErr GP_TWIN(GpPiecesBuild)(GpPieces *P, const GpCsr *C, const int32_t *begin, const int32_t *end, const int32_t *map)
{
  GpDev         dev      = C->dev;
  const int64_t segments = (int64_t)P->npanels * C->m, lanes = segments + C->nnz / 8 + (int64_t)GP_PIECE_LANES * P->npanels;
  Build         b;
  GpErr         err;

  P->columns = C->n;
  P->longest = GpPieceLongest(C->nnz);
  if (lanes > INT32_MAX) return GpDevFail(dev, GP_ERR_ARGUMENT, "%lld pieces of rows, more than the %d that this format can number", (long long)lanes, INT32_MAX);
  b       = Begin(P, C);
  b.begin = begin;
  b.end   = end;
  b.map   = map;
  err     = Cut(&b, dev);
  if (!err) err = Place(&b, dev);
  if (!err) err = List(&b, dev);
  if (!err) err = GP_EACH(dev, Build, FillCodes, (int64_t)b.P.nslices * GP_PIECE_LANES, &b);
  if (!err) err = GP_EACH(dev, Build, FillValues, (int64_t)b.P.nslices * GP_PIECE_LANES, &b);
  *P = b.P;
  if (b.pos != b.off) GpDevFree(dev, &b.pos, ((size_t)segments + 1) * sizeof(int32_t));
  GpDevFree(dev, &b.off, ((size_t)segments + 1) * sizeof(int32_t));
  GpDevFree(dev, &b.first, ((size_t)P->npanels + 1) * sizeof(int32_t));
  GpDevFree(dev, &b.weight, ((size_t)P->npanels + 1) * sizeof(int32_t));
  GpDevFree(dev, &b.isspan, ((size_t)C->m + 1) * sizeof(int32_t));
  GpDevFree(dev, &b.key, (size_t)P->npieces * sizeof(uint32_t));
  GpDevFree(dev, &b.piece, (size_t)P->npieces * sizeof(int32_t));
  GpDevFree(dev, &b.mask, (size_t)P->npieces * sizeof(uint64_t));
  return err;
}

GP_EXTERN GpErr GP_TWIN(GpPiecesRefill)(const GpPieces *P, const GpCsr *C)
{
  Build b = Begin(P, C);

  return GP_EACH(C->dev, Build, FillValues, (int64_t)P->nslices * GP_PIECE_LANES, &b);
}
