/* Cuts rows into pieces, sorts them by length within their panel, and lays them out in slices. */
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
  uint32_t      *key;
  int32_t       *piece;
} Build;

/* Groups of up to 32 pieces share up to 32*longest nonzeros: piece i of k takes every k-th from the i-th on, so that neighbouring
   lanes read neighbouring nonzeros of a long row. */
typedef struct {
  int32_t segment, from, count, stride, most;
} Geometry;

GP_INLINE int32_t Pieces(int32_t length, int32_t longest)
{
  return (length + longest - 1) / longest;
}

GP_INLINE Geometry Locate(const Build *b, int32_t q)
{
  int32_t  lo = 0, hi = b->P.npanels * b->m; /* the last segment whose pieces begin at or before q */
  Geometry g;

  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (b->off[mid] <= q) lo = mid;
    else hi = mid;
  }
  {
    const int32_t i = (q - b->off[lo]) % GP_SLICE, start = b->begin[lo] + (q - b->off[lo]) / GP_SLICE * GP_SLICE * b->P.longest;
    const int32_t left = b->end[lo] - start, length = left < GP_SLICE * b->P.longest ? left : GP_SLICE * b->P.longest, k = Pieces(length, b->P.longest);

    g.segment = lo;
    g.from    = start + i;
    g.stride  = k > 0 ? k : 1;
    g.count   = (length - i + g.stride - 1) / g.stride;
    g.most    = (length + g.stride - 1) / g.stride;
  }
  return g;
}

GP_STEP(CountPieces)
{
  const Build  *b = (const Build *)args;
  const int32_t p = (int32_t)(i / b->m), row = (int32_t)(i % b->m);
  int32_t       k = Pieces(b->end[i] - b->begin[i], b->P.longest);

  if (!k && b->P.npanels == 1) k = 1; /* an empty row is a piece of no nonzeros */
  b->off[i]                                  = k;
  b->pos[(int64_t)row * b->P.npanels + p] = k;
}

/* panels apart, long pieces first */
GP_STEP(KeyPieces)
{
  const Build   *b = (const Build *)args;
  const Geometry g = Locate(b, (int32_t)i);

  b->key[i]   = (uint32_t)(g.segment / b->m) * (uint32_t)(b->P.longest + 1) + (uint32_t)(b->P.longest - g.most);
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
  const Build   *b    = (const Build *)args;
  const int32_t  q    = b->piece[i];
  const Geometry g    = Locate(b, q);
  const int32_t  p    = g.segment / b->m, row = g.segment % b->m;
  const int32_t  lane = b->P.pslice[p] * GP_SLICE + ((int32_t)i - b->first[p]);
  const int64_t  at   = (int64_t)row * b->P.npanels;
  const int32_t  part = b->pos[at + p] + (q - b->off[g.segment]);

  b->P.out[lane]   = b->pos[at + b->P.npanels] - b->pos[at] == 1 ? row : ~part;
  b->P.from[lane]  = g.from;
  b->P.shape[lane] = g.count << 8 | g.stride;
  if (lane % GP_SLICE == 0) b->P.base[lane / GP_SLICE] = g.most;
}

GP_STEP(MarkSpans)
{
  const Build  *b  = (const Build *)args;
  const int64_t at = i * b->P.npanels;

  b->isspan[i] = b->pos[at + b->P.npanels] - b->pos[at] != 1;
}

GP_STEP(ListSpans)
{
  const Build  *b  = (const Build *)args;
  const int64_t at = i * b->P.npanels;
  int32_t      *s  = b->P.span + 3 * (int64_t)b->isspan[i];

  if (b->isspan[i + 1] == b->isspan[i]) return;
  s[0] = (int32_t)i;
  s[1] = b->pos[at];
  s[2] = b->pos[at + b->P.npanels];
}

GP_STEP(FillCodes)
{
  const Build  *b     = (const Build *)args;
  const int32_t width = b->P.base[i / GP_SLICE + 1] - b->P.base[i / GP_SLICE], count = b->P.shape[i] >> 8, stride = b->P.shape[i] & 255;
  const int64_t slot = (int64_t)b->P.base[i / GP_SLICE] * GP_SLICE + i % GP_SLICE;

  for (int32_t j = 0; j < width; j++) {
    const int32_t c    = j < count ? b->col[b->P.from[i] + j * stride] : 0;
    const int32_t code = j < count ? (b->map ? b->map[c] : 1 + c % b->P.width) : 0;

    if (b->P.codebytes == 2) ((uint16_t *)b->P.code)[slot + (int64_t)j * GP_SLICE] = (uint16_t)code;
    else ((uint32_t *)b->P.code)[slot + (int64_t)j * GP_SLICE] = (uint32_t)code;
  }
}

GP_STEP(FillValues)
{
  const Build  *b     = (const Build *)args;
  const int32_t width = b->P.base[i / GP_SLICE + 1] - b->P.base[i / GP_SLICE], count = b->P.shape[i] >> 8, stride = b->P.shape[i] & 255;
  const int64_t slot = (int64_t)b->P.base[i / GP_SLICE] * GP_SLICE + i % GP_SLICE;

  for (int32_t j = 0; j < width; j++) {
    const int64_t k = b->P.from[i] + j * stride, to = slot + (int64_t)j * GP_SLICE;

    if (b->prec == GP_F32) ((float *)b->P.val)[to] = j < count ? ((const float *)b->val)[k] : 0.0f;
    else ((double *)b->P.val)[to] = j < count ? ((const double *)b->val)[k] : 0.0;
  }
}

/* slices of every panel, from its pieces; with weights also thread blocks, by its share of the slots */
static GpErr SharePanels(Build *b, GpDev dev)
{
  const int32_t np   = b->P.npanels;
  int32_t      *host = (int32_t *)malloc(2 * ((size_t)np + 1) * sizeof(int32_t)), *share = host + np + 1;
  const size_t  size = ((size_t)np + 1) * sizeof(int32_t);
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
  while ((int64_t)1 << bits < (int64_t)b->P.npanels * (b->P.longest + 1)) bits++;
  if (!err) err = GP_TWIN(GpSort)(dev, b->P.npieces, bits, b->key, b->piece);
  if (!err) err = GP_EACH(dev, Build, FirstOfPanel, b->P.npanels + 1, b);
  return err;
}

/* their places, and the room for their nonzeros */
static GpErr Place(Build *b, GpDev dev)
{
  GpPieces    *P   = &b->P;
  const size_t np1 = ((size_t)P->npanels + 1) * sizeof(int32_t);
  int32_t      total = 0;
  size_t       lanes;
  GpErr        err = GpDevAlloc(dev, np1, &P->pslice);

  if (!err) err = GpDevAlloc(dev, np1, &P->pblock);
  if (!err) err = SharePanels(b, dev);
  lanes = (size_t)P->nslices * GP_SLICE;
  if (!err) err = GpDevAlloc(dev, ((size_t)P->nslices + 1) * sizeof(int32_t), &P->base);
  if (!err) err = GpDevAlloc(dev, lanes * sizeof(int32_t), &P->out);
  if (!err) err = GpDevAlloc(dev, lanes * sizeof(int32_t), &P->from);
  if (!err) err = GpDevAlloc(dev, lanes * sizeof(int32_t), &P->shape);
  if (!err) err = GP_EACH(dev, Build, IdleLanes, (int64_t)lanes, b);
  if (!err) err = GP_EACH(dev, Build, PlacePieces, P->npieces, b);
  if (!err) err = GP_TWIN(GpScan)(dev, P->nslices, P->base);
  if (!err) err = GpDevAlloc(dev, np1, &b->weight);
  if (!err) err = GP_EACH(dev, Build, WeightOfPanel, P->npanels + 1, b);
  if (!err) err = SharePanels(b, dev);
  if (!err) err = GpDevDownload(dev, &total, P->base + P->nslices, sizeof(total));
  P->slots = (int64_t)total * GP_SLICE;
  if (!err) err = GpDevAlloc(dev, (size_t)P->slots * (size_t)P->codebytes, &P->code);
  if (!err) err = GpDevAlloc(dev, (size_t)P->slots * GpPrecBytes(b->prec), &P->val);
  return err;
}

static GpErr ListLong(Build *b, GpDev dev)
{
  GpErr err = GpDevAlloc(dev, ((size_t)b->m + 1) * sizeof(int32_t), &b->isspan);

  if (!err) err = GP_EACH(dev, Build, MarkSpans, b->m, b);
  if (!err) err = GP_TWIN(GpScan)(dev, b->m, b->isspan);
  if (!err) err = GpDevDownload(dev, &b->P.nspans, b->isspan + b->m, sizeof(int32_t));
  if (!err) err = GpDevAlloc(dev, 3 * (size_t)b->P.nspans * sizeof(int32_t), &b->P.span);
  if (!err) err = GP_EACH(dev, Build, ListSpans, b->m, b);
  if (!err && b->P.nspans) err = GpDevAlloc(dev, (size_t)b->P.npieces * sizeof(double), &b->P.part);
  return err;
}

static Build Begin(const GpPieces *P, const GpCsr *C)
{
  Build b = {*P, C->m, C->prec, NULL, NULL, C->col, NULL, C->val, NULL, NULL, NULL, NULL, NULL, NULL, NULL};

  return b;
}

GP_EXTERN GpErr GP_TWIN(GpPiecesBuild)(GpPieces *P, const GpCsr *C, const int32_t *begin, const int32_t *end, const int32_t *map)
{
  GpDev         dev      = C->dev;
  const int64_t segments = (int64_t)P->npanels * C->m, lanes = segments + C->nnz / 8 + (int64_t)GP_SLICE * P->npanels;
  Build         b;
  GpErr         err;

  P->columns = C->n;
  P->longest = 8; /* short enough for many more slices than warps, long enough for few partial sums */
  while (P->longest < 64 && C->nnz >> 19 >= P->longest) P->longest *= 2;
  if (lanes > INT32_MAX) return GpDevFail(dev, GP_ERR_ARGUMENT, "%lld pieces of rows, more than the %d that this format can number", (long long)lanes, INT32_MAX);
  b       = Begin(P, C);
  b.begin = begin;
  b.end   = end;
  b.map   = map;
  err     = Cut(&b, dev);
  if (!err) err = Place(&b, dev);
  if (!err) err = ListLong(&b, dev);
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
  GpDevFree(C->dev, &P->out, lanes * sizeof(int32_t));
  GpDevFree(C->dev, &P->from, lanes * sizeof(int32_t));
  GpDevFree(C->dev, &P->shape, lanes * sizeof(int32_t));
  GpDevFree(C->dev, &P->pslice, np1 * sizeof(int32_t));
  GpDevFree(C->dev, &P->pblock, np1 * sizeof(int32_t));
  GpDevFree(C->dev, &P->span, 3 * (size_t)P->nspans * sizeof(int32_t));
  GpDevFree(C->dev, &P->pack, (size_t)P->packed * sizeof(int32_t));
  GpDevFree(C->dev, &P->code, (size_t)P->slots * (size_t)P->codebytes);
  GpDevFree(C->dev, &P->val, (size_t)P->slots * GpPrecBytes(C->prec));
  GpDevFree(C->dev, &P->xp, (size_t)P->packed * sizeof(double));
  GpDevFree(C->dev, &P->part, (size_t)P->npieces * sizeof(double));
}

double GpPiecesBytes(const GpPieces *P, const GpCsr *C)
{
  const double packed  = P->pack ? P->packed : 0.0;
  const double indices = P->nslices + 1.0 + 3.0 * P->nslices * GP_SLICE + 2.0 * P->npanels + 2.0 + 3.0 * P->nspans + packed;

  return sizeof(int32_t) * indices + (double)P->slots * (P->codebytes + GpPrecBytes(C->prec)) + sizeof(double) * (packed + (P->nspans ? P->npieces : 0.0));
}

/* codes and values, where the sums go, the partial sums twice, and x packed: once for all and staged by every block */
double GpPiecesTraffic(const GpPieces *P, const GpCsr *C)
{
  const double parts = P->npieces - ((double)C->m - P->nspans), packed = P->pack ? P->packed : 0.0;

  return (double)P->slots * (P->codebytes + GpPrecBytes(C->prec)) + sizeof(int32_t) * (P->nslices + (double)P->nslices * GP_SLICE + 3.0 * P->nspans + packed) + 2.0 * sizeof(double) * (parts + packed);
}
#endif
