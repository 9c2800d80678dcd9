/* Builds formats team and teamcluster on a GPU: gives every row a team of lanes, sorts the rows by class and by nonzeros per lane, and lays them out in
   slices. */
#include "mat/impls/gpucsr/spmv/team/gpteamrows.h"

#include <stdlib.h>

#define TOGETHER 8 /* number of loads of a lane that are in flight together */

/* Arguments of the filling step. Slices whose first row has the same key are adjacent and have the same width. */
typedef struct {
  GpTeams  T;
  GpCsr    C;
  int      fresh;                /* 1: base and code must be written too */
  uint32_t slice0[GP_TEAM_KEYS]; /* for each key: where slice 0 would begin if all slices had this key, modulo 2^32 */
  int32_t  end[GP_TEAM_CLASSES]; /* for each class: its end, in slots divided by 32 */
  int32_t *spent;                /* [nspent] workspace that must be set to zero again; NULL: none */
  int32_t  nspent;
} Fill;

/* Writes `value` for j = from, from + 2^k, ... (count of them) to to[at], to[at + GP_WARP], ..., then padding. */
#define FILL(Type, to, value) \
  for (int32_t e = 0; e < width; e += TOGETHER) { \
    Type kept[TOGETHER]; \
\
    for (int u = 0; u < TOGETHER; u++) { \
      const int64_t j = from + ((int64_t)(e + u) << k); \
\
      kept[u] = e + u < count ? (Type)(value) : (Type)0; \
    } \
    for (int u = 0; u < TOGETHER; u++) \
      if (e + u < width) ((Type *)(to))[at + (int64_t)(e + u) * GP_WARP] = kept[u]; \
  }

/* Fills lane i of all lanes. Its slice, of class k, begins at base and has `width` slots per lane. */
GP_INLINE void GpTeamsFillLane(const Fill *f, int64_t i, int32_t k, int32_t base, int32_t width)
{
  const GpTeams *T     = &f->T;
  const int32_t  place = GpTeamPlace(T, k, (int32_t)(i / GP_WARP), (int32_t)(i % GP_WARP)), row = place < T->end[k] ? T->order[place] : -1;
  const int32_t  rank = (int32_t)(i & (((int64_t)1 << k) - 1)), length = row < 0 ? 0 : GpTeamLength(&f->C, row);
  const int32_t  count = length > rank ? GpTeamShare(length - rank, k) : 0;
  const int64_t  from = row < 0 ? 0 : f->C.rowptr[row] + (int64_t)rank, at = (int64_t)base * GP_WARP + i % GP_WARP;

  if (f->fresh && T->codebytes == 2) FILL(uint16_t, T->code, 1 + f->C.col[j])
  else if (f->fresh) FILL(uint32_t, T->code, 1 + f->C.col[j])
  if (T->same) return;
  if (f->C.prec == GP_F32) FILL(float, T->val, ((const float *)f->C.val)[j])
  else FILL(double, T->val, ((const double *)f->C.val)[j])
}

static constexpr int BLOCK = 256;

/* Returns the nonzeros per lane, added over the rows of key 0 before index `place`. Called by a whole warp. */
__device__ static int32_t GpTeamsCountLongs(const Fill &f, int32_t place)
{
  int32_t sum = 0;

  for (int32_t p = threadIdx.x % GP_WARP; p < place; p += GP_WARP) sum += GpTeamShare(GpTeamLength(&f.C, f.T.order[p]), f.T.most);
  return __reduce_add_sync(0xffffffffu, sum);
}

/* Returns the start of a slice and sets its width. Rows of a class are sorted, so the first row of a slice has the most nonzeros per lane. Called
   by a whole warp. */
__device__ static int32_t GpTeamsGetBase(const Fill &f, int32_t s, int32_t k, int32_t *width)
{
  const int32_t place = GpTeamPlace(&f.T, k, s, 0);

  *width = 0;
  if (place >= f.T.end[k]) return f.end[k];
  const int32_t length = GpTeamLength(&f.C, f.T.order[place]), key = GpTeamKey(&f.T, length), more = k - GP_TEAM_SLICE;

  *width = GpTeamShare(length, k);
  return key ? (int32_t)(f.slice0[key] + (uint32_t)s * (uint32_t)*width) : (GpTeamsCountLongs(f, place) << more) + (s & ((1 << more) - 1)) * *width;
}

__global__ static void __launch_bounds__(BLOCK) GpTeamsFillKernel(const __grid_constant__ Fill f)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const int32_t s = (int32_t)(i / GP_WARP), k = GpTeamClass(&f.T, s);
  int32_t       base, width;

  for (int64_t j = i; j < f.nspent; j += (int64_t)gridDim.x * BLOCK) f.spent[j] = 0;
  if (s >= f.T.nslices) return;
  if (f.fresh) base = GpTeamsGetBase(f, s, k, &width);
  else {
    base  = f.T.base[s];
    width = f.T.base[s + 1] - base;
  }
  if (f.fresh && i % GP_WARP == 0) f.T.base[s] = base;
  if (f.fresh && i == 0) {
    f.T.base[f.T.nslices] = f.end[0];
    if (f.T.same && f.C.prec == GP_F32) *(float *)f.T.val = *(const float *)f.C.val;
    else if (f.T.same) *(double *)f.T.val = *(const double *)f.C.val;
  }
  GpTeamsFillLane(&f, i, k, base, width);
}

static GpErr GpTeamsFill(const Fill *f)
{
  const int64_t lanes = (int64_t)f->T.nslices * GP_WARP;

  if (!lanes) return GP_SUCCESS;
  return GpLaunch(f->C.dev, "filling the slices of teams", GpTeamsFillKernel, GpGrid{(unsigned)((lanes + BLOCK - 1) / BLOCK), BLOCK}, *f);
}

/* Returns the maximum number of nonzeros of a lane, except in the largest teams. */
static int32_t GpTeamsChooseLongest(int64_t nnz)
{
  int32_t longest = GP_TEAM_LEAST;

  while (longest < GP_TEAM_LONGEST && nnz >> 17 >= longest) longest *= 2;
  return longest;
}

static int64_t GpTeamsRoundUp(int64_t n, int64_t multiple)
{
  return (n + multiple - 1) / multiple * multiple;
}

/* Returns the number of slices that the first n rows of a class need. */
static int64_t GpTeamsCountSlices(int64_t n, int32_t k)
{
  return GpTeamsRoundUp(n << k, GP_WARP) / GP_WARP;
}

/* Returns the first key of class k. For k - 1 this is the end of the keys of class k. */
static int32_t GpTeamsGetFirstKey(const GpTeams *T, int32_t k)
{
  return k < 0 ? T->most * (T->longest / 2) + T->longest + 1 : k > T->most ? 0 : (T->most - k) * (T->longest / 2);
}

/* Computes the positions of classes, of their slices, and of the rows of each key. Returns -1 if the lanes exceed 31 bits. */
static int GpTeamsLayOut(GpTeams *T, const GpTeamTally *tally, int32_t first[], Fill *f)
{
  int64_t at = 0, base = 0;

  first[0] = 0;
  for (int32_t key = 0; key < GpTeamsGetFirstKey(T, -1); key++) first[key + 1] = first[key] + tally->rows[key];
  for (int32_t k = GP_TEAM_MOST; k >= 0; k--) {
    if (k == GP_TEAM_BLOCK) {
      at        = GpTeamsRoundUp(at, (int64_t)GP_TEAM_SLICES * T->cluster);
      T->ngangs = (int32_t)(at / GP_TEAM_SLICES);
    }
    if (k == GP_TEAM_SLICE) {
      at       = GpTeamsRoundUp(at, GP_TEAM_SLICES);
      T->nbigs = (int32_t)(at / GP_TEAM_SLICES);
    }
    T->first[k] = (int32_t)at;
    T->begin[k] = first[GpTeamsGetFirstKey(T, k)];
    T->end[k]   = first[GpTeamsGetFirstKey(T, k - 1)];
    if (at + GpTeamsCountSlices(T->end[k] - T->begin[k], k) > INT32_MAX / GP_WARP) return -1;
    for (int32_t key = GpTeamsGetFirstKey(T, k); key < GpTeamsGetFirstKey(T, k - 1); key++) {
      const int64_t from = at + GpTeamsCountSlices(first[key] - T->begin[k], k), upto = at + GpTeamsCountSlices(first[key + 1] - T->begin[k], k);
      const int64_t width = T->longest - (key - GpTeamsGetFirstKey(T, k));

      f->slice0[key] = (uint32_t)(base - from * width);
      base += key ? (upto - from) * width : (int64_t)tally->longs << (T->most - GP_TEAM_SLICE);
    }
    f->end[k] = (int32_t)base;
    at += GpTeamsCountSlices(T->end[k] - T->begin[k], k);
  }
  T->nslices = (int32_t)at;
  T->slots   = base * GP_WARP;
  return 0;
}

/* Returns the number of partial sums of blocks in device memory. */
static size_t GpTeamsCountParts(const GpTeams *T)
{
  return T->cluster > 1 ? 0 : (size_t)T->ngangs;
}

static void *GpTeamsTakePiece(const GpTeams *T, size_t *at, size_t bytes)
{
  void *piece = T->memory && bytes ? (char *)T->memory + *at : NULL;

  *at += (size_t)GpTeamsRoundUp((int64_t)bytes, 256);
  return piece;
}

/* Sets the addresses of all arrays in the common allocation, if it exists, and returns its size in bytes. */
static size_t GpTeamsSetArrays(GpTeams *T, const GpCsr *C)
{
  size_t at = 0;

  T->order  = (int32_t *)GpTeamsTakePiece(T, &at, (size_t)C->m * sizeof(int32_t));
  T->base   = (int32_t *)GpTeamsTakePiece(T, &at, ((size_t)T->nslices + 1) * sizeof(int32_t));
  T->code   = GpTeamsTakePiece(T, &at, (size_t)T->slots * (size_t)T->codebytes);
  T->val    = GpTeamsTakePiece(T, &at, GpTeamsValues(T) * GpPrecBytes(C->prec));
  T->zero   = (double *)GpTeamsTakePiece(T, &at, sizeof(double));
  T->part   = (double *)GpTeamsTakePiece(T, &at, GpTeamsCountParts(T) * sizeof(double));
  T->ticket = (uint32_t *)GpTeamsTakePiece(T, &at, GpTeamsCountParts(T) * sizeof(uint32_t));
  return at;
}

/* Lays out, allocates and fills the format from the counts of keys. `spent` is the size of the counting workspace in bytes. If it is zero again
   at the end, *clean is set to that size. */
static GpErr GpTeamsAllocate(GpTeams *T, const GpTeamTally *tally, GpTeamPlaces *P, size_t spent, size_t *clean)
{
  const GpCsr *C = &P->R.C;
  Fill         f = {};
  GpErr        err;

  f.C      = *C;
  f.fresh  = 1;
  f.spent  = &P->R.tally->other;
  f.nspent = (int32_t)(spent / sizeof(int32_t));
  T->same  = C->nnz && !tally->other;
  if (GpTeamsLayOut(T, tally, P->first, &f)) return GpDevFail(C->dev, GP_ERR_ARGUMENT, "%d rows need more than %d lanes, the limit of this format", (int)C->m, INT32_MAX);
  T->bytes = GpTeamsSetArrays(T, C);
  err      = GpDevAlloc(C->dev, T->bytes, &T->memory);
  if (err) return err;
  GpTeamsSetArrays(T, C);
  P->R.T = f.T = *T;
  err          = GpTeamsPlace(P);
  if (!err) err = GpTeamsFill(&f);
  if (!err && T->nslices) *clean = spent;
  return err;
}

static GpErr GpTeamsBuild(GpFmt *A, int32_t most, int32_t cluster)
{
  const GpCsr  *C     = A->csr;
  GpTeams      *T     = (GpTeams *)calloc(1, sizeof(*T));
  const int64_t turns = GpTeamsRoundUp(C->m, GP_TEAM_THREADS) / GP_TEAM_THREADS, each = GpTeamsRoundUp(turns, GpDevComputeUnits(C->dev)) / GpDevComputeUnits(C->dev);
  GpTeamPlaces  P = {};
  GpTeamRows   *R = &P.R;
  GpTeamTally   tally;
  size_t        bytes, clean = 0;
  GpErr         err;

  A->data = T;
  if (!T) return GpDevFail(C->dev, GP_ERR_MEMORY, "out of host memory for a format");
  R->C         = *C;
  T->longest   = GpTeamsChooseLongest(C->nnz);
  T->most      = most;
  T->cluster   = cluster;
  T->codebytes = C->n < UINT16_MAX ? 2 : 4;
  R->T         = *T;
  R->keys      = GpTeamsGetFirstKey(T, -1);
  R->tiles     = turns ? (int32_t)(GpTeamsRoundUp(turns, each) / each) : 1;
  R->many      = (int32_t)(each * GP_TEAM_THREADS);
  bytes        = sizeof(tally) + (size_t)R->keys * (size_t)R->tiles * sizeof(int32_t);
  err          = GpDevBorrowClean(C->dev, bytes, &R->tally);
  if (err) return err;
  R->rows = (int32_t *)(R->tally + 1);
  err     = GpTeamsCount(R);
  if (!err) err = GpDevDownload(C->dev, &tally, R->tally, offsetof(GpTeamTally, rows) + (size_t)R->keys * sizeof(int32_t));
  if (!err) err = GpTeamsAllocate(T, &tally, &P, bytes, &clean);
  GpDevReturnClean(C->dev, &R->tally, bytes, clean);
  return err;
}

extern "C" GpErr GpFmtBuild_team(GpFmt *A, const int32_t rowptr[])
{
  (void)rowptr;
  return GpTeamsBuild(A, GP_TEAM_MOST, 1);
}

extern "C" GpErr GpFmtRefill_team(GpFmt *A)
{
  const GpTeams *T   = (const GpTeams *)A->data;
  const GpCsr   *C   = A->csr;
  const Fill     f   = {*T, *C};
  GpErr          err = T->same ? GpCsrStillSame(C) : GP_SUCCESS;

  if (err) return err;
  return T->same ? GpDevCopyWithin(C->dev, T->val, C->val, GpPrecBytes(C->prec)) : GpTeamsFill(&f);
}

extern "C" void GpFmtDestroy_team(GpFmt *A)
{
  GpTeams *T = (GpTeams *)A->data;

  if (!T) return;
  GpDevFree(A->csr->dev, &T->memory, T->bytes);
  free(T);
}

extern "C" double GpFmtBytes_team(const GpFmt *A)
{
  return (double)((const GpTeams *)A->data)->bytes;
}

/* Partial sums of blocks are written and then read. */
extern "C" double GpFmtTraffic_team(const GpFmt *A)
{
  const GpTeams *T = (const GpTeams *)A->data;

  return (double)T->slots * T->codebytes + (double)GpTeamsValues(T) * GpPrecBytes(A->csr->prec) + sizeof(int32_t) * ((double)A->csr->m + T->nslices + 1.0) + (2 * sizeof(double) + sizeof(uint32_t)) * (double)GpTeamsCountParts(T) + sizeof(double);
}

extern "C" GpErr GpFmtBuild_teamcluster(GpFmt *A, const int32_t rowptr[])
{
  const GpDev dev     = A->csr->dev;
  const int   cluster = 1 << (GP_TEAM_CLUSTER - GP_TEAM_BLOCK);
  GpErr       err;

  (void)rowptr;
  if (GpDevClusterBlocks(dev) < cluster) return GpDevFail(dev, GP_ERR_ARGUMENT, "clusters of %d thread blocks need compute capability 9.0", cluster);
  err = GpTeamsBuild(A, GP_TEAM_CLUSTER, cluster);
  if (err || ((const GpTeams *)A->data)->ngangs) return err;
  return GpDevFail(dev, GP_ERR_ARGUMENT, "no row needs more than one thread block; use kernel team, which needs no clusters");
}

extern "C" GpErr GpFmtRefill_teamcluster(GpFmt *A)
{
  return GpFmtRefill_team(A);
}

extern "C" void GpFmtDestroy_teamcluster(GpFmt *A)
{
  GpFmtDestroy_team(A);
}

extern "C" double GpFmtBytes_teamcluster(const GpFmt *A)
{
  return GpFmtBytes_team(A);
}

extern "C" double GpFmtTraffic_teamcluster(const GpFmt *A)
{
  return GpFmtTraffic_team(A);
}
