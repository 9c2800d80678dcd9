/* Gives every row a team of lanes, sorts the rows by their teams and by the nonzeros of a lane, and lays them out in slices. */
#include "mat/impls/gpucsr/formats/gpteam.h"
#include "mat/impls/gpucsr/formats/gpsteps.h"

typedef struct {
  GpTeams   T;
  GpCsr     C;
  uint32_t *key;
  int32_t  *upto; /* [GP_TEAM_CLASSES] rows of this class and of larger teams */
} Build;

/* nonzeros of a row, and of its first lane, which has most */
GP_INLINE int32_t Length(const Build *b, int32_t row)
{
  return b->C.rowptr[row + 1] - b->C.rowptr[row];
}

GP_INLINE int32_t Share(int32_t length, int32_t k)
{
  return length ? ((length - 1) >> k) + 1 : 0;
}

/* large teams first, then lanes with many nonzeros; in the largest teams the order does not matter */
GP_STEP(KeyRow)
{
  const Build  *b      = (const Build *)args;
  const int32_t length = Length(b, (int32_t)i);
  int32_t       k      = 0, share;

  while (k < b->T.most && Share(length, k) > b->T.longest) k++;
  share = Share(length, k);
  if (share > b->T.longest) share = b->T.longest;
  b->key[i]     = (uint32_t)((b->T.most - k) * (b->T.longest + 1) + b->T.longest - share);
  b->T.order[i] = (int32_t)i;
}

GP_STEP(CountRows)
{
  const Build   *b    = (const Build *)args;
  const uint32_t next = (uint32_t)((b->T.most - (int32_t)i + 1) * (b->T.longest + 1)); /* the least key of smaller teams */
  int32_t        lo = 0, hi = i > b->T.most ? 0 : b->C.m;

  while (lo < hi) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (b->key[mid] < next) lo = mid + 1;
    else hi = mid;
  }
  b->upto[i] = lo;
}

/* rows of a class are sorted, so that the first of a slice has most nonzeros a lane */
GP_STEP(WidthOfSlice)
{
  const Build  *b = (const Build *)args;
  const int32_t k = GpTeamClass(&b->T, (int32_t)i), place = GpTeamPlace(&b->T, k, (int32_t)i, 0);

  b->T.base[i] = place < b->T.end[k] ? Share(Length(b, b->T.order[place]), k) : 0;
}

/* the slots of a lane: its first nonzero, how many it has, their distance in the row, and the slots that there are */
typedef struct {
  int64_t from, at;
  int32_t count, k, width;
} Lane;

GP_INLINE Lane LaneOf(const Build *b, int64_t i)
{
  const int32_t s = (int32_t)(i / GP_WARP), k = GpTeamClass(&b->T, s), place = GpTeamPlace(&b->T, k, s, (int32_t)(i % GP_WARP));
  const int32_t r = (int32_t)(i & (((int64_t)1 << k) - 1)), row = place < b->T.end[k] ? b->T.order[place] : -1, length = row < 0 ? 0 : Length(b, row);
  Lane          l;

  l.from  = row < 0 ? 0 : b->C.rowptr[row] + (int64_t)r;
  l.at    = (int64_t)b->T.base[s] * GP_WARP + i % GP_WARP;
  l.count = length > r ? Share(length - r, k) : 0;
  l.k     = k;
  l.width = b->T.base[s + 1] - b->T.base[s];
  return l;
}

GP_STEP(FillCodes)
{
  const Build *b = (const Build *)args;
  const Lane   l = LaneOf(b, i);

  for (int32_t e = 0; e < l.width; e++) {
    const uint32_t code = e < l.count ? 1u + (uint32_t)b->C.col[l.from + ((int64_t)e << l.k)] : 0u;
    const int64_t  to   = l.at + (int64_t)e * GP_WARP;

    if (b->T.codebytes == 2) ((uint16_t *)b->T.code)[to] = (uint16_t)code;
    else ((uint32_t *)b->T.code)[to] = code;
  }
}

GP_STEP(FillValues)
{
  const Build *b = (const Build *)args;
  const Lane   l = LaneOf(b, i);

  for (int32_t e = 0; e < l.width; e++) {
    const int64_t from = l.from + ((int64_t)e << l.k), to = l.at + (int64_t)e * GP_WARP;

    if (b->C.prec == GP_F32) ((float *)b->T.val)[to] = e < l.count ? ((const float *)b->C.val)[from] : 0.0f;
    else ((double *)b->T.val)[to] = e < l.count ? ((const double *)b->C.val)[from] : 0.0;
  }
}

/* rows in order, upto: how many of the classes from each on */
GP_EXTERN GpErr GP_TWIN(GpTeamsSort)(GpTeams *T, const GpCsr *C, int32_t upto[]);
GP_EXTERN GpErr GP_TWIN(GpTeamsSort)(GpTeams *T, const GpCsr *C, int32_t upto[])
{
  GpDev        dev   = C->dev;
  Build        b     = {*T, *C, NULL, NULL};
  const size_t bytes = (size_t)C->m * sizeof(uint32_t), classes = GP_TEAM_CLASSES * sizeof(int32_t);
  int          bits = 1;
  GpErr        err  = GpDevBorrow(dev, bytes, &b.key);

  while (1 << bits < GP_TEAM_CLASSES * (T->longest + 1)) bits++;
  if (!err) err = GpDevBorrow(dev, classes, &b.upto);
  if (!err) err = GP_EACH(dev, Build, KeyRow, C->m, &b);
  if (!err) err = GP_TWIN(GpSort)(dev, C->m, bits, b.key, b.T.order);
  if (!err) err = GP_EACH(dev, Build, CountRows, GP_TEAM_CLASSES, &b);
  if (!err) err = GpDevDownload(dev, upto, b.upto, classes);
  GpDevReturn(dev, &b.upto, classes);
  GpDevReturn(dev, &b.key, bytes);
  return err;
}

GP_EXTERN GpErr GP_TWIN(GpTeamsWidths)(const GpTeams *T, const GpCsr *C);
GP_EXTERN GpErr GP_TWIN(GpTeamsWidths)(const GpTeams *T, const GpCsr *C)
{
  Build b   = {*T, *C, NULL, NULL};
  GpErr err = GP_EACH(C->dev, Build, WidthOfSlice, T->nslices, &b);

  return err ? err : GP_TWIN(GpScan)(C->dev, T->nslices, T->base);
}

GP_EXTERN GpErr GP_TWIN(GpTeamsFill)(const GpTeams *T, const GpCsr *C, int codes);
GP_EXTERN GpErr GP_TWIN(GpTeamsFill)(const GpTeams *T, const GpCsr *C, int codes)
{
  Build         b     = {*T, *C, NULL, NULL};
  const int64_t lanes = (int64_t)T->nslices * GP_WARP;
  GpErr         err   = codes ? GP_EACH(C->dev, Build, FillCodes, lanes, &b) : GP_SUCCESS;

  if (err) return err;
  return T->same ? C->dev->ops->copy_within(C->dev, T->val, C->val, GpPrecBytes(C->prec)) : GP_EACH(C->dev, Build, FillValues, lanes, &b);
}

#if !defined(__CUDACC__)
  #include <stdlib.h>

GpErr GpTeamsSort_CUDA(GpTeams *T, const GpCsr *C, int32_t upto[]);
GpErr GpTeamsWidths_CUDA(const GpTeams *T, const GpCsr *C);
GpErr GpTeamsFill_CUDA(const GpTeams *T, const GpCsr *C, int codes);

/* most nonzeros of a lane, except in the largest teams */
static int32_t Longest(int64_t nnz)
{
  int32_t longest = GP_TEAM_LEAST;

  while (longest < GP_TEAM_LONGEST && nnz >> 17 >= longest) longest *= 2;
  return longest;
}

static int64_t Up(int64_t n, int64_t multiple)
{
  return (n + multiple - 1) / multiple * multiple;
}

/* where the classes stand; -1: too many slices for 31 bits of lanes */
static int GpTeamsLayOut(GpTeams *T, const int32_t upto[])
{
  int64_t at = 0;

  for (int k = GP_TEAM_MOST; k >= 0; k--) {
    if (k == GP_TEAM_BLOCK) {
      at        = Up(at, (int64_t)GP_TEAM_SLICES * T->cluster);
      T->ngangs = (int32_t)(at / GP_TEAM_SLICES);
    }
    if (k == GP_TEAM_SLICE) {
      at       = Up(at, GP_TEAM_SLICES);
      T->nbigs = (int32_t)(at / GP_TEAM_SLICES);
    }
    T->first[k] = (int32_t)at;
    T->begin[k] = k < GP_TEAM_MOST ? upto[k + 1] : 0;
    T->end[k]   = upto[k];
    at += Up((int64_t)(T->end[k] - T->begin[k]) << k, GP_WARP) / GP_WARP;
    if (at > INT32_MAX / GP_WARP) return -1;
  }
  T->nslices = (int32_t)at;
  return 0;
}

/* sums of blocks that pass through memory */
static size_t Parts(const GpTeams *T)
{
  return T->cluster > 1 ? 0 : (size_t)T->ngangs;
}

static GpErr GpTeamsRoom(GpTeams *T, const GpCsr *C)
{
  GpDev   dev = C->dev;
  int32_t slots;
  GpErr   err = GpDevAlloc(dev, ((size_t)T->nslices + 1) * sizeof(int32_t), &T->base);

  if (!err) err = GP_ON_DEVICE(dev, GpTeamsWidths, T, C);
  if (!err) err = GpDevDownload(dev, &slots, T->base + T->nslices, sizeof(slots));
  if (!err) T->slots = (int64_t)slots * GP_WARP;
  if (!err) err = GpDevAlloc(dev, (size_t)T->slots * (size_t)T->codebytes, &T->code);
  if (!err) err = GpDevAlloc(dev, GpTeamsValues(T) * GpPrecBytes(C->prec), &T->val);
  if (!err) err = GpDevAlloc(dev, sizeof(double), &T->zero);
  if (!err) err = dev->ops->zero(dev, T->zero, sizeof(double));
  if (!err) err = GpDevAlloc(dev, Parts(T) * sizeof(double), &T->part);
  if (!err) err = GpDevAlloc(dev, Parts(T) * sizeof(uint32_t), &T->ticket);
  if (!err && T->ticket) err = dev->ops->zero(dev, T->ticket, Parts(T) * sizeof(uint32_t));
  return err;
}

GpErr GpTeamsBuild(GpFmt *A, int32_t most, int32_t cluster)
{
  const GpCsr *C                     = A->csr;
  GpTeams     *T                     = (GpTeams *)calloc(1, sizeof(*T));
  int32_t      upto[GP_TEAM_CLASSES] = {0};
  GpErr        err;

  A->data = T;
  if (!T) return GpDevFail(C->dev, GP_ERR_MEMORY, "out of host memory for a format");
  T->longest   = Longest(C->nnz);
  T->most      = most;
  T->cluster   = cluster;
  T->codebytes = C->n < UINT16_MAX ? 2 : 4;
  err          = GpCsrSame(C, &T->same);
  if (!err) err = GpDevAlloc(C->dev, (size_t)C->m * sizeof(int32_t), &T->order);
  if (!err) err = GP_ON_DEVICE(C->dev, GpTeamsSort, T, C, upto);
  if (err) return err;
  if (GpTeamsLayOut(T, upto)) return GpDevFail(C->dev, GP_ERR_ARGUMENT, "%d rows, whose lanes are more than the %d that this format can number", (int)C->m, INT32_MAX);
  err = GpTeamsRoom(T, C);
  return err ? err : GP_ON_DEVICE(C->dev, GpTeamsFill, T, C, 1);
}

GpErr GpFmtBuild_team(GpFmt *A, const int32_t rowptr[])
{
  (void)rowptr;
  return GpTeamsBuild(A, GP_TEAM_MOST, 1);
}

GpErr GpFmtRefill_team(GpFmt *A)
{
  const GpTeams *T   = (const GpTeams *)A->data;
  GpErr          err = T->same ? GpCsrStillSame(A->csr) : GP_SUCCESS;

  return err ? err : GP_ON_DEVICE(A->csr->dev, GpTeamsFill, T, A->csr, 0);
}

void GpFmtDestroy_team(GpFmt *A)
{
  GpTeams     *T = (GpTeams *)A->data;
  const GpCsr *C = A->csr;

  if (!T) return;
  GpDevFree(C->dev, &T->order, (size_t)C->m * sizeof(int32_t));
  GpDevFree(C->dev, &T->base, ((size_t)T->nslices + 1) * sizeof(int32_t));
  GpDevFree(C->dev, &T->code, (size_t)T->slots * (size_t)T->codebytes);
  GpDevFree(C->dev, &T->val, GpTeamsValues(T) * GpPrecBytes(C->prec));
  GpDevFree(C->dev, &T->zero, sizeof(double));
  GpDevFree(C->dev, &T->part, (size_t)T->ngangs * sizeof(double));
  GpDevFree(C->dev, &T->ticket, (size_t)T->ngangs * sizeof(uint32_t));
  free(T);
}

double GpFmtBytes_team(const GpFmt *A)
{
  const GpTeams *T = (const GpTeams *)A->data;

  return (double)T->slots * T->codebytes + (double)GpTeamsValues(T) * GpPrecBytes(A->csr->prec) + sizeof(int32_t) * ((double)A->csr->m + T->nslices + 1.0) + (sizeof(double) + sizeof(uint32_t)) * (double)Parts(T) + sizeof(double);
}

/* the sums of blocks are written, then read */
double GpFmtTraffic_team(const GpFmt *A)
{
  return GpFmtBytes_team(A) + sizeof(double) * (double)Parts((const GpTeams *)A->data);
}
#endif
