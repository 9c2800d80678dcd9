/* Gives every row a team of lanes, sorts the rows by their teams and by the nonzeros of a lane, and lays them out in slices. */
#include "mat/impls/gpucsr/formats/gpteamrows.h"

#define TOGETHER 8 /* loads of a lane */

/* Where the slices begin: those whose first row has a key are neighbours and alike. */
typedef struct {
  GpTeams  T;
  GpCsr    C;
  int      fresh;                /* base and code are still to be written */
  uint32_t slice0[GP_TEAM_KEYS]; /* where slice 0 would begin if all were like these, modulo 2^32 */
  int32_t  end[GP_TEAM_CLASSES]; /* of a class */
  int32_t *spent;                /* [nspent] work space that is to be zero again; NULL: none */
  int32_t  nspent;
} Fill;

/* to[at], to[at + GP_WARP], ... = the values of j = from, from + 2^k, ..., count of them, then padding */
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

/* lane i of all, in slice s of class k, which begins at base and has so many slots a lane */
GP_INLINE void FillLane(const Fill *f, int64_t i, int32_t k, int32_t base, int32_t width)
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

#if defined(__CUDACC__)
static constexpr int BLOCK = 256;

/* the nonzeros of a lane, of all rows before one of key 0, by a whole warp */
__device__ static int32_t LongsBefore(const Fill &f, int32_t place)
{
  int32_t sum = 0;

  for (int32_t p = threadIdx.x % GP_WARP; p < place; p += GP_WARP) sum += GpTeamShare(GpTeamLength(&f.C, f.T.order[p]), f.T.most);
  return __reduce_add_sync(0xffffffffu, sum);
}

/* by a whole warp: rows of a class are sorted, so that the first of a slice has most nonzeros a lane */
__device__ static int32_t BaseOf(const Fill &f, int32_t s, int32_t k, int32_t *width)
{
  const int32_t place = GpTeamPlace(&f.T, k, s, 0);

  *width = 0;
  if (place >= f.T.end[k]) return f.end[k];
  const int32_t length = GpTeamLength(&f.C, f.T.order[place]), key = GpTeamKey(&f.T, length), more = k - GP_TEAM_SLICE;

  *width = GpTeamShare(length, k);
  return key ? (int32_t)(f.slice0[key] + (uint32_t)s * (uint32_t)*width) : (LongsBefore(f, place) << more) + (s & ((1 << more) - 1)) * *width;
}

__global__ static void __launch_bounds__(BLOCK) FillSlices(const __grid_constant__ Fill f)
{
  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
  const int32_t s = (int32_t)(i / GP_WARP), k = GpTeamClass(&f.T, s);
  int32_t       base, width;

  for (int64_t j = i; j < f.nspent; j += (int64_t)gridDim.x * BLOCK) f.spent[j] = 0;
  if (s >= f.T.nslices) return;
  if (f.fresh) base = BaseOf(f, s, k, &width);
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
  FillLane(&f, i, k, base, width);
}

extern "C" GpErr GpTeamsFill_CUDA(const Fill *f)
{
  const int64_t lanes = (int64_t)f->T.nslices * GP_WARP;

  if (!lanes) return GP_SUCCESS;
  FillSlices<<<(unsigned)((lanes + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)f->C.dev->stream>>>(*f);
  return GpDevCheckLaunch(f->C.dev, "filling the slices of teams");
}

#else
  #include <stdlib.h>
  #include <string.h>

GpErr GpTeamsFill_CUDA(const Fill *f);

static GpErr GpTeamsFill_Host(const Fill *f)
{
  const GpTeams *T  = &f->T;
  int32_t        at = 0;

  if (f->fresh && T->same) memcpy(T->val, f->C.val, GpPrecBytes(f->C.prec));
  for (int32_t s = 0; s < T->nslices; s++) {
    const int32_t k = GpTeamClass(T, s), place = GpTeamPlace(T, k, s, 0), width = place < T->end[k] ? GpTeamShare(GpTeamLength(&f->C, T->order[place]), k) : 0;

    for (int l = 0; l < GP_WARP; l++) FillLane(f, (int64_t)s * GP_WARP + l, k, at, width);
    if (f->fresh) T->base[s] = at;
    at += width;
  }
  if (f->fresh) T->base[T->nslices] = at;
  return GP_SUCCESS;
}

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

/* slices of a class whose first row is one of its first n */
static int64_t Slices(int64_t n, int32_t k)
{
  return Up(n << k, GP_WARP) / GP_WARP;
}

/* the first key of a class, which is behind the last of the next larger */
static int32_t FirstKey(const GpTeams *T, int32_t k)
{
  return k < 0 ? T->most * (T->longest / 2) + T->longest + 1 : k > T->most ? 0 : (T->most - k) * (T->longest / 2);
}

/* where classes, their slices and the rows of each key stand; -1: too many slices for 31 bits of lanes */
static int GpTeamsLayOut(GpTeams *T, const GpTeamTally *tally, int32_t first[], Fill *f)
{
  int64_t at = 0, base = 0;

  first[0] = 0;
  for (int32_t key = 0; key < FirstKey(T, -1); key++) first[key + 1] = first[key] + tally->rows[key];
  for (int32_t k = GP_TEAM_MOST; k >= 0; k--) {
    if (k == GP_TEAM_BLOCK) {
      at        = Up(at, (int64_t)GP_TEAM_SLICES * T->cluster);
      T->ngangs = (int32_t)(at / GP_TEAM_SLICES);
    }
    if (k == GP_TEAM_SLICE) {
      at       = Up(at, GP_TEAM_SLICES);
      T->nbigs = (int32_t)(at / GP_TEAM_SLICES);
    }
    T->first[k] = (int32_t)at;
    T->begin[k] = first[FirstKey(T, k)];
    T->end[k]   = first[FirstKey(T, k - 1)];
    if (at + Slices(T->end[k] - T->begin[k], k) > INT32_MAX / GP_WARP) return -1;
    for (int32_t key = FirstKey(T, k); key < FirstKey(T, k - 1); key++) {
      const int64_t from = at + Slices(first[key] - T->begin[k], k), upto = at + Slices(first[key + 1] - T->begin[k], k);
      const int64_t width = T->longest - (key - FirstKey(T, k));

      f->slice0[key] = (uint32_t)(base - from * width);
      base += key ? (upto - from) * width : (int64_t)tally->longs << (T->most - GP_TEAM_SLICE);
    }
    f->end[k] = (int32_t)base;
    at += Slices(T->end[k] - T->begin[k], k);
  }
  T->nslices = (int32_t)at;
  T->slots   = base * GP_WARP;
  return 0;
}

/* sums of blocks that pass through memory */
static size_t Parts(const GpTeams *T)
{
  return T->cluster > 1 ? 0 : (size_t)T->ngangs;
}

static void *Piece(const GpTeams *T, size_t *at, size_t bytes)
{
  void *piece = T->memory && bytes ? (char *)T->memory + *at : NULL;

  *at += (size_t)Up((int64_t)bytes, 256);
  return piece;
}

/* all arrays in one piece of memory, once there is one; returns its bytes */
static size_t GpTeamsArrays(GpTeams *T, const GpCsr *C)
{
  size_t at = 0;

  T->order  = (int32_t *)Piece(T, &at, (size_t)C->m * sizeof(int32_t));
  T->base   = (int32_t *)Piece(T, &at, ((size_t)T->nslices + 1) * sizeof(int32_t));
  T->code   = Piece(T, &at, (size_t)T->slots * (size_t)T->codebytes);
  T->val    = Piece(T, &at, GpTeamsValues(T) * GpPrecBytes(C->prec));
  T->zero   = (double *)Piece(T, &at, sizeof(double));
  T->part   = (double *)Piece(T, &at, Parts(T) * sizeof(double));
  T->ticket = (uint32_t *)Piece(T, &at, Parts(T) * sizeof(uint32_t));
  return at;
}

/* The keys are counted: everything finds its place.  spent: bytes of what counted them, which come out zero if *clean says so. */
static GpErr GpTeamsLay(GpTeams *T, const GpTeamTally *tally, GpTeamPlaces *P, size_t spent, size_t *clean)
{
  const GpCsr *C = &P->R.C;
  Fill         f = {.C = *C, .fresh = 1, .spent = &P->R.tally->other, .nspent = (int32_t)(spent / sizeof(int32_t))};
  GpErr        err;

  T->same = C->nnz && !tally->other;
  if (GpTeamsLayOut(T, tally, P->first, &f)) return GpDevFail(C->dev, GP_ERR_ARGUMENT, "%d rows, whose lanes are more than the %d that this format can number", (int)C->m, INT32_MAX);
  T->bytes = GpTeamsArrays(T, C);
  err      = GpDevAlloc(C->dev, T->bytes, &T->memory);
  if (err) return err;
  GpTeamsArrays(T, C);
  P->R.T = f.T = *T;
  err          = GP_ON_DEVICE(C->dev, GpTeamsPlace, P);
  if (!err) err = GP_ON_DEVICE(C->dev, GpTeamsFill, &f);
  if (!err && T->nslices) *clean = spent;
  return err;
}

GpErr GpTeamsBuild(GpFmt *A, int32_t most, int32_t cluster)
{
  const GpCsr  *C     = A->csr;
  GpTeams      *T     = (GpTeams *)calloc(1, sizeof(*T));
  const int64_t turns = Up(C->m, GP_TEAM_THREADS) / GP_TEAM_THREADS, each = Up(turns, C->dev->compute_units) / C->dev->compute_units;
  GpTeamPlaces  P = {.R = {.C = *C}};
  GpTeamRows   *R = &P.R;
  GpTeamTally   tally;
  size_t        bytes, clean = 0;
  GpErr         err;

  A->data = T;
  if (!T) return GpDevFail(C->dev, GP_ERR_MEMORY, "out of host memory for a format");
  T->longest   = Longest(C->nnz);
  T->most      = most;
  T->cluster   = cluster;
  T->codebytes = C->n < UINT16_MAX ? 2 : 4;
  R->T         = *T;
  R->keys      = FirstKey(T, -1);
  R->tiles     = turns ? (int32_t)(Up(turns, each) / each) : 1;
  R->many      = (int32_t)(each * GP_TEAM_THREADS);
  bytes        = sizeof(tally) + (size_t)R->keys * (size_t)R->tiles * sizeof(int32_t);
  err          = GpDevBorrowClean(C->dev, bytes, &R->tally);
  if (err) return err;
  R->rows = (int32_t *)(R->tally + 1);
  err     = GP_ON_DEVICE(C->dev, GpTeamsCount, R);
  if (!err) err = GpDevDownload(C->dev, &tally, R->tally, offsetof(GpTeamTally, rows) + (size_t)R->keys * sizeof(int32_t));
  if (!err) err = GpTeamsLay(T, &tally, &P, bytes, &clean);
  GpDevReturnClean(C->dev, &R->tally, bytes, clean);
  return err;
}

GpErr GpFmtBuild_team(GpFmt *A, const int32_t rowptr[])
{
  (void)rowptr;
  return GpTeamsBuild(A, GP_TEAM_MOST, 1);
}

GpErr GpFmtRefill_team(GpFmt *A)
{
  const GpTeams *T   = (const GpTeams *)A->data;
  const GpCsr   *C   = A->csr;
  const Fill     f   = {.T = *T, .C = *C};
  GpErr          err = T->same ? GpCsrStillSame(C) : GP_SUCCESS;

  if (err) return err;
  return T->same ? C->dev->ops->copy_within(C->dev, T->val, C->val, GpPrecBytes(C->prec)) : GP_ON_DEVICE(C->dev, GpTeamsFill, &f);
}

void GpFmtDestroy_team(GpFmt *A)
{
  GpTeams *T = (GpTeams *)A->data;

  if (!T) return;
  GpDevFree(A->csr->dev, &T->memory, T->bytes);
  free(T);
}

double GpFmtBytes_team(const GpFmt *A)
{
  return (double)((const GpTeams *)A->data)->bytes;
}

/* the sums of blocks are written, then read */
double GpFmtTraffic_team(const GpFmt *A)
{
  const GpTeams *T = (const GpTeams *)A->data;

  return (double)T->slots * T->codebytes + (double)GpTeamsValues(T) * GpPrecBytes(A->csr->prec) + sizeof(int32_t) * ((double)A->csr->m + T->nslices + 1.0) + (2 * sizeof(double) + sizeof(uint32_t)) * (double)Parts(T) + sizeof(double);
}
#endif
