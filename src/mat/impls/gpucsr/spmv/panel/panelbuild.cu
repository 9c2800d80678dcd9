/* Builds format panel (panel.h): finds the part of each row in each panel, cuts the parts into pieces, sorts the pieces of each panel by length, and
   lays them out in slices. */
#include "mat/impls/gpucsr/spmv/panel/panel.h"

#include <stdlib.h>

typedef struct {
  GpPanel        P;
  int32_t        m, nnz;
  GpPrec         prec;
  const int32_t *rowptr, *col;
  const void    *val;
  int32_t       *seg;            /* [(npanels+1)*m] first nonzero of each segment, panel by panel; a segment is the part of a row in one panel */
  int32_t       *falls;          /* [2] number of columns smaller than the one before: all, and those at the start of a row */
  int32_t       *off;            /* [npanels*m+1] number of pieces before each segment, panel by panel */
  int32_t       *pos;            /* [npanels*m+1] number of pieces before each segment, row by row: the positions in GpPanel.part; the same array as off if there is one panel */
  int32_t       *first;          /* [npanels+1] number of pieces before each panel */
  int32_t       *weight;         /* [npanels+1] slots before each panel, divided by 32 */
  int32_t       *isspan;         /* [2m+1] flags of rows with few pieces, then flags of rows with many pieces */
  int32_t       *result;         /* [4] results for the host: pieces, spans with few pieces, all spans, 1 if the values differ */
  size_t         worked, pieced; /* bytes of `work` and of `pieces` */
  void          *work, *pieces;
  uint32_t      *key;
  int32_t       *piece;
} Build;

GP_STEP(CountFalls)
{
  const Build *a = (const Build *)args;

  if (i + 1 < a->nnz && a->col[i] > a->col[i + 1]) GP_COUNT(a->falls);
}

GP_STEP(CountRowEnds)
{
  const Build  *a = (const Build *)args;
  const int32_t k = a->rowptr[i];

  if (k > 0 && k < a->rowptr[i + 1] && a->col[k - 1] > a->col[k]) GP_COUNT(a->falls + 1);
}

GP_STEP(EnterPanel)
{
  const Build  *a   = (const Build *)args;
  const int32_t row = (int32_t)(i % a->m);
  const int64_t c   = i / a->m * a->P.width;
  int32_t       lo = a->rowptr[row], hi = a->rowptr[row + 1];

  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (a->col[mid] < c) lo = mid + 1;
    else hi = mid;
  }
  a->seg[i] = lo;
}

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
  const int32_t most = GP_WARP * b->P.longest;
  int32_t       lo = 0, hi = b->P.npanels * b->m, i, length; /* find the last segment whose pieces begin at or before q */
  Geometry      g;

  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (b->off[mid] <= q) lo = mid;
    else hi = mid;
  }
  i         = q - b->off[lo];
  g.segment = lo;
  g.from    = b->seg[lo] + i / GP_WARP * most;
  length    = b->seg[lo + b->m] - g.from;
  if (length > most) length = most;
  i %= GP_WARP;
  g.from += i;
  g.stride = length > b->P.longest ? Pieces(length, b->P.longest) : 1;
  g.count  = (length - i + g.stride - 1) / g.stride;
  return g;
}

GP_STEP(CountPieces)
{
  const Build  *b = (const Build *)args;
  const int32_t p = (int32_t)(i / b->m), row = (int32_t)(i % b->m);
  int32_t       k = Pieces(b->seg[i + b->m] - b->seg[i], b->P.longest);

  if (!k && b->P.npanels == 1) k = 1; /* an empty row has one piece without nonzeros */
  b->off[i]                               = k;
  b->pos[(int64_t)row * b->P.npanels + p] = k;
}

/* Computes the sort key of a piece: by panel, then by descending number of nonzeros. */
GP_STEP(KeyPieces)
{
  const Build   *b = (const Build *)args;
  const Geometry g = Locate(b, (int32_t)i);
  const uint32_t n = (uint32_t)b->P.longest + 1;

  b->key[i]   = (uint32_t)(g.segment / b->m) * n + (n - 1 - (uint32_t)g.count);
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
  const int32_t  lane = b->P.pslice[p] * GP_WARP + ((int32_t)i - b->first[p]);
  const int64_t  at   = (int64_t)row * b->P.npanels;
  const int32_t  part = b->pos[at + p] + (q - b->off[g.segment]);

  b->P.out[lane]   = b->pos[at + b->P.npanels] - b->pos[at] == 1 ? row : ~part;
  b->P.from[lane]  = g.from;
  b->P.shape[lane] = g.count | g.stride << 16;
}

GP_STEP(WidthOfSlice)
{
  const Build *b     = (const Build *)args;
  int32_t      width = 0;

  for (int64_t lane = i * GP_WARP; lane < (i + 1) * GP_WARP; lane++) {
    const int32_t count = b->P.shape[lane] & 255;

    if (count > width) width = count;
  }
  b->P.base[i] = width;
}

GP_STEP(MarkSpans)
{
  const Build  *b  = (const Build *)args;
  const int64_t at = i * b->P.npanels;
  const int32_t k  = b->pos[at + b->P.npanels] - b->pos[at];

  b->isspan[i]        = k != 1 && k <= GP_PIECE_MANY;
  b->isspan[b->m + i] = k > GP_PIECE_MANY;
}

GP_STEP(ReportCounts)
{
  const Build *b = (const Build *)args;

  b->result[i] = i == 0 ? b->off[(int64_t)b->P.npanels * b->m] : i < 3 ? b->isspan[i * b->m] : 0;
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

/* Fills the codes of a lane, whose slots are padded to the width of the slice. */
GP_STEP(FillCodes)
{
  const Build  *b     = (const Build *)args;
  const int32_t count = b->P.shape[i] & 255, stride = b->P.shape[i] >> 16, width = b->P.base[i / GP_WARP + 1] - b->P.base[i / GP_WARP];
  uint16_t     *code = b->P.code + (int64_t)b->P.base[i / GP_WARP] * GP_WARP + i % GP_WARP;

  for (int32_t e = 0; e < width; e++) code[(int64_t)e * GP_WARP] = (uint16_t)(e < count ? 1 + b->col[b->P.from[i] + e * stride] % b->P.width : 0);
}

GP_INLINE void PutValue(const Build *b, int64_t to, int64_t k)
{
  if (b->prec == GP_F32) ((float *)b->P.val)[to] = k < 0 ? 0.0f : ((const float *)b->val)[k];
  else ((double *)b->P.val)[to] = k < 0 ? 0.0 : ((const double *)b->val)[k];
}

GP_STEP(FillValues)
{
  const Build  *b     = (const Build *)args;
  const int32_t count = b->P.shape[i] & 255, stride = b->P.shape[i] >> 16, width = b->P.base[i / GP_WARP + 1] - b->P.base[i / GP_WARP];
  const int64_t first = (int64_t)b->P.base[i / GP_WARP] * GP_WARP + i % GP_WARP;

  for (int32_t e = 0; e < width; e++) PutValue(b, first + (int64_t)e * GP_WARP, e < count ? b->P.from[i] + (int64_t)e * stride : -1);
}

/* With blocks = 0, computes the first slice of each panel from its pieces. With blocks = 1, computes the first thread block of each panel in
   proportion to its slots, and the number of slots. */
static GpErr SharePanels(Build *b, GpDev dev, int blocks)
{
  const int32_t np   = b->P.npanels;
  int32_t      *host = (int32_t *)malloc(2 * ((size_t)np + 1) * sizeof(int32_t)), *share = host + np + 1;
  const size_t  size = ((size_t)np + 1) * sizeof(int32_t);
  GpErr         err  = host ? GP_SUCCESS : GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for panels");

  if (!err && blocks) err = GpDevDownload(dev, host, b->weight, size);
  else if (!err && np > 1) err = GpDevDownload(dev, host, b->first, size);
  else if (!err) {
    host[0] = 0; /* one panel has all pieces */
    host[1] = b->P.npieces;
  }
  if (!err) {
    share[0] = 0;
    for (int32_t p = 0; p < np; p++) {
      const int64_t own  = (int64_t)host[p + 1] - host[p];
      const int64_t part = blocks ? GpDevComputeUnits(dev) * own / (host[np] > 0 ? host[np] : 1) : (own + GP_WARP - 1) / GP_WARP;

      share[p + 1] = share[p] + (int32_t)(blocks && part < 1 ? 1 : part);
    }
    if (blocks) {
      b->P.nblocks = share[np];
      b->P.slots   = (int64_t)host[np] * GP_WARP;
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

  *memory = at + GP_PANEL_ALIGN(bytes);
  return at;
}

static GpErr MakeWork(Build *b, GpDev dev)
{
  const size_t segments = ((size_t)b->P.npanels * (size_t)b->m + 1) * sizeof(int32_t), panels = ((size_t)b->P.npanels + 1) * sizeof(int32_t), rows = (2 * (size_t)b->m + 1) * sizeof(int32_t);
  const int    apart = b->P.npanels > 1;
  char        *at;
  GpErr        err;

  b->worked = (size_t)(1 + apart) * GP_PANEL_ALIGN(segments) + 2 * GP_PANEL_ALIGN(panels) + GP_PANEL_ALIGN(rows) + 4 * sizeof(int32_t);
  err       = GpDevBorrow(dev, b->worked, &b->work);
  if (err) return err;
  at        = (char *)b->work;
  b->off    = (int32_t *)Next(&at, segments);
  b->pos    = apart ? (int32_t *)Next(&at, segments) : b->off;
  b->first  = (int32_t *)Next(&at, panels);
  b->weight = (int32_t *)Next(&at, panels);
  b->isspan = (int32_t *)Next(&at, rows);
  b->result = (int32_t *)at;
  return err;
}

/* Counts the pieces and the rows with several pieces, and finds out whether all values are equal. The host waits for all these results at once. */
static GpErr Count(Build *b, GpDev dev, const GpCsr *C)
{
  const int64_t segments  = (int64_t)b->P.npanels * b->m;
  int32_t       result[4] = {0};
  GpErr         err       = GP_EACH(dev, Build, CountPieces, segments, b);

  if (!err) err = GP_IMPL(GpScan)(dev, segments, b->off);
  if (!err && b->pos != b->off) err = GP_IMPL(GpScan)(dev, segments, b->pos);
  if (!err) err = GP_EACH(dev, Build, MarkSpans, b->m, b);
  if (!err) err = GP_IMPL(GpScan)(dev, 2 * (int64_t)b->m, b->isspan);
  if (!err) err = GP_EACH(dev, Build, ReportCounts, 4, b);
  if (!err) err = GP_IMPL(GpCsrDiffers)(C, C->nnz < GP_SAME_FIRST ? C->nnz : GP_SAME_FIRST, b->result + 3);
  if (!err) err = GpDevDownload(dev, result, b->result, sizeof(result));
  b->P.npieces = result[0];
  b->P.nshort  = result[1];
  b->P.nspans  = result[2];
  if (!err && !result[3]) err = GpCsrSame(C, &b->P.same);
  return err;
}

/* Computes the pieces of all segments and sorts them. */
static GpErr Cut(Build *b, GpDev dev)
{
  const size_t each = (size_t)b->P.npieces * sizeof(int32_t);
  int          bits = 1;
  GpErr        err;

  b->pieced = GP_PANEL_ALIGN(each) + each;
  err       = GpDevBorrow(dev, b->pieced, &b->pieces);
  if (err) return err;
  b->key   = (uint32_t *)b->pieces;
  b->piece = (int32_t *)((char *)b->pieces + GP_PANEL_ALIGN(each));
  err      = GP_EACH(dev, Build, KeyPieces, b->P.npieces, b);
  while ((int64_t)1 << bits < (int64_t)b->P.npanels * (b->P.longest + 1)) bits++;
  if (!err) err = GP_IMPL(GpSort)(dev, b->P.npieces, bits, b->key, b->piece);
  if (!err) err = GP_EACH(dev, Build, FirstOfPanel, b->P.npanels + 1, b);
  return err;
}

/* Places the pieces in slices and allocates codes and values. */
static GpErr Place(Build *b, const GpCsr *C)
{
  GpDev    dev = C->dev;
  GpPanel *P   = &b->P;
  GpErr    err = GpDevAlloc(dev, 2 * ((size_t)P->npanels + 1) * sizeof(int32_t), &P->pslice);

  P->pblock = err ? NULL : P->pslice + P->npanels + 1;
  if (!err) err = SharePanels(b, dev, 0);
  if (!err) err = GpPanelAllocateLanes(P, dev);
  if (!err) err = GP_EACH(dev, Build, IdleLanes, (int64_t)P->nslices * GP_WARP, b);
  if (!err) err = GP_EACH(dev, Build, PlacePieces, P->npieces, b);
  if (!err) err = GP_EACH(dev, Build, WidthOfSlice, P->nslices, b);
  if (!err) err = GP_IMPL(GpScan)(dev, P->nslices, P->base);
  if (!err) err = GP_EACH(dev, Build, WeightOfPanel, P->npanels + 1, b);
  if (!err) err = SharePanels(b, dev, 1);
  return err ? err : GpPanelAllocateSlots(P, C);
}

/* Lists the spans (rows that are not one piece), those with few pieces first. */
static GpErr List(Build *b, GpDev dev)
{
  GpErr err = GpDevAlloc(dev, 3 * (size_t)b->P.nspans * sizeof(int32_t), &b->P.span);

  if (!err && b->P.nspans) err = GpDevAlloc(dev, (size_t)b->P.npieces * sizeof(double), &b->P.part);
  if (err || !b->P.nspans) return err;
  return GP_EACH(dev, Build, ListSpans, 2 * (int64_t)b->m, b);
}

static Build Begin(const GpPanel *P, const GpCsr *C)
{
  Build b = {*P, C->m, C->nnz, C->prec, C->rowptr, C->col, C->val};

  return b;
}

GpErr GP_IMPL(GpPanelPutValues)(const GpPanel *P, const GpCsr *C)
{
  Build b = Begin(P, C);

  return P->same ? GpDevCopyWithin(C->dev, P->val, C->val, GpPrecBytes(C->prec)) : GP_EACH(C->dev, Build, FillValues, (int64_t)P->nslices * GP_WARP, &b);
}

/* Finds the segments, and checks that the columns of all rows ascend. */
static GpErr FindSegments(Build *b, GpDev dev)
{
  int32_t falls[2] = {0, 0};
  GpErr   err      = GpDevBorrow(dev, sizeof(falls), &b->falls);

  if (!err) err = GpDevZero(dev, b->falls, sizeof(falls));
  if (!err) err = GP_EACH(dev, Build, CountFalls, b->nnz, b);
  if (!err) err = GP_EACH(dev, Build, CountRowEnds, b->m, b);
  if (!err) err = GpDevDownload(dev, falls, b->falls, sizeof(falls));
  if (!err && falls[0] != falls[1]) err = GpDevFail(dev, GP_ERR_ARGUMENT, "%d column indices do not ascend within their rows; panels of columns need sorted rows", (int)(falls[0] - falls[1]));
  GpDevReturn(dev, &b->falls, sizeof(falls));
  return err ? err : GP_EACH(dev, Build, EnterPanel, ((int64_t)b->P.npanels + 1) * b->m, b);
}

GpErr GP_IMPL(GpPanelBuild)(GpPanel *P, const GpCsr *C)
{
  GpDev         dev      = C->dev;
  const size_t  bytes    = ((size_t)P->npanels + 1) * (size_t)C->m * sizeof(int32_t);
  const int64_t segments = (int64_t)P->npanels * C->m, lanes = segments + C->nnz / 8 + (int64_t)GP_WARP * P->npanels;
  Build         b;
  GpErr         err;

  P->columns = C->n;
  P->longest = GpPieceLongest(C->nnz);
  if (lanes > INT32_MAX) return GpDevFail(dev, GP_ERR_ARGUMENT, "the rows need up to %lld pieces; the limit of this format is %d", (long long)lanes, INT32_MAX);
  b   = Begin(P, C);
  err = GpDevBorrow(dev, bytes, &b.seg);
  if (!err) err = FindSegments(&b, dev);
  if (!err) err = MakeWork(&b, dev);
  if (!err) err = Count(&b, dev, C);
  if (!err) err = Cut(&b, dev);
  if (!err) err = Place(&b, C);
  if (!err) err = List(&b, dev);
  if (!err) err = GP_EACH(dev, Build, FillCodes, (int64_t)b.P.nslices * GP_WARP, &b);
  if (!err) err = GP_IMPL(GpPanelPutValues)(&b.P, C);
  *P = b.P;
  GpDevReturn(dev, &b.seg, bytes);
  GpDevReturn(dev, &b.work, b.worked);
  GpDevReturn(dev, &b.pieces, b.pieced);
  return err;
}
