/* Plans and fills one slice of sliced rows: a warp on the device, a loop over its lanes on the host. Sources: A. Monakov, A. Lokhmotov, A.
   Avetisyan (HiPEAC 2010); M. Kreutzer et al., "A unified sparse matrix data format for efficient general sparse matrix-vector multiplication on
   modern processors with wide SIMD units", SISC 2014. */
#ifndef GPSELLSLICE_H
#define GPSELLSLICE_H

#include "mat/impls/gpucsr/spmv/common/gplanes.h"
#include "mat/impls/gpucsr/spmv/sell/sell.h"

#define SAME      24   /* number of rows of a slice that must share an offset to make it a diagonal */
#define DIAGONALS 256  /* maximum number of diagonals of a slice */
#define WINDOW    1024 /* number of rows that are sorted by length together */
#define LONGEST   2047 /* longer rows are equal for the sort */

/* Position of a lane in its row and in the list of diagonals. */
typedef struct {
  int32_t row, k, end, d;
} Lane;

GP_LANEFN Lane Begin(const GpCsr *A, const int32_t *perm, int32_t slice, int l)
{
  const int64_t i    = (int64_t)slice * GP_SLICE + l;
  Lane          lane = {0, 0, 0, 0};

  if (i >= A->m) return lane;
  lane.row = perm ? perm[i] : (int32_t)i;
  lane.k   = A->rowptr[lane.row];
  lane.end = A->rowptr[lane.row + 1];
  return lane;
}

/* Lists the offsets that at least SAME rows of a slice share, ascending, and returns their number. Returns 0 if the columns of a row do not
   ascend, or if the search takes more than a few steps per slice column. */
GP_WARPFN int32_t FindDiagonals(const GpCsr *A, const int32_t *perm, int32_t slice, int32_t diagonal[])
{
  Lane    lane[GP_PER_LANE];
  int32_t offset[GP_PER_LANE], look[GP_PER_LANE], fault[GP_PER_LANE], turns, n = 0;

  GP_LANES(l)
  {
    lane[GP_AT(l)]  = Begin(A, perm, slice, l);
    look[GP_AT(l)]  = lane[GP_AT(l)].end - lane[GP_AT(l)].k;
    fault[GP_AT(l)] = 0;
  }
  for (turns = 2 * GpLanesMax(look) + GP_WARP; turns > 0; turns--) {
    int32_t least;

    GP_LANES(l)
    {
      const Lane *L = &lane[GP_AT(l)];

      offset[GP_AT(l)] = L->k < L->end ? A->col[L->k] - L->row : INT32_MAX;
    }
    least = GpLanesMin(offset);
    if (least == INT32_MAX) break;
    GP_LANES(l) look[GP_AT(l)] = offset[GP_AT(l)] == least;
    if (n < DIAGONALS && GpLanesCount(GpLanesBallot(look)) >= SAME) {
      GP_ONE_LANE(0) diagonal[n] = least;
      n++;
    }
    GP_LANES(l)
    {
      Lane *L = &lane[GP_AT(l)];

      if (look[GP_AT(l)]) {
        L->k++;
        fault[GP_AT(l)] |= L->k < L->end && A->col[L->k] <= A->col[L->k - 1];
      }
    }
  }
  GP_LANESYNC();
  return turns && !GpLanesBallot(fault) ? n : 0;
}

/* Advances a lane towards its next nonzero that is not on a diagonal. Returns the nonzero, -1 if the row has ended, or -2 if another step is
   needed. */
GP_LANEFN int32_t StepToOther(const GpCsr *A, Lane *lane, const int32_t diagonal[], int32_t n)
{
  int32_t offset;

  if (lane->k >= lane->end) return -1;
  offset = A->col[lane->k] - lane->row;
  if (lane->d == n || diagonal[lane->d] > offset) return lane->k++;
  lane->k += diagonal[lane->d++] == offset;
  return -2;
}

/* Finds the next slice column of others; k receives the nonzero of every lane. Returns 0, 1 or 2 for 8-, 16- or 32-bit indices, or -1 at the end
   of the slice. The lanes step together until each has found its nonzero. With a loop in each lane, nvcc 13.0 merged that loop with the one
   around this function, and the reductions missed lanes. */
GP_WARPFN int NextColumn(const GpCsr *A, Lane lane[], const int32_t diagonal[], int32_t n, int32_t k[], int32_t *base)
{
  int32_t lo[GP_PER_LANE], hi[GP_PER_LANE], last;

  GP_LANES(l) k[GP_AT(l)] = -2;
  do {
    GP_LANES(l)
    {
      if (k[GP_AT(l)] == -2) k[GP_AT(l)] = StepToOther(A, &lane[GP_AT(l)], diagonal, n);
      hi[GP_AT(l)] = k[GP_AT(l)] == -2;
    }
  } while (GpLanesBallot(hi));
  GP_LANES(l)
  {
    const int32_t at = k[GP_AT(l)];

    lo[GP_AT(l)] = at >= 0 ? A->col[at] : INT32_MAX;
    hi[GP_AT(l)] = at >= 0 ? A->col[at] : -1;
  }
  last  = GpLanesMax(hi);
  *base = GpLanesMin(lo);
  return last < 0 ? -1 : last - *base < 1 << 8 ? 0 : last - *base < 1 << 16 ? 1 : 2;
}

GP_WARPFN GpSlice PlanSlice(const GpCsr *A, const int32_t *perm, int32_t slice, int32_t diagonal[])
{
  Lane    lane[GP_PER_LANE];
  int32_t k[GP_PER_LANE], base, bits, count[3] = {0, 0, 0};
  GpSlice S = {0, 0, 0, 0, 0, 0, 0, 0};

  S.diagonals                = FindDiagonals(A, perm, slice, diagonal);
  GP_LANES(l) lane[GP_AT(l)] = Begin(A, perm, slice, l);
  while ((bits = NextColumn(A, lane, diagonal, S.diagonals, k, &base)) >= 0) count[bits]++;
  S.n8     = count[0];
  S.n16    = count[1];
  S.others = count[0] + count[1] + count[2];
  return S;
}

GP_LANEFN GpSellExtent SliceExtent(GpSlice S)
{
  const GpSellExtent e = {GpSliceQuads(S.diagonals) + GpSliceQuads(S.others), S.diagonals + S.others, GpSliceQuads8(S) + 2 * GpSliceQuads16(S) + 4 * GpSliceQuads32(S)};

  return e;
}

/* Returns the code of a value: its position in the table of ascending bit patterns. */
GP_LANEFN uint8_t Code(const uint64_t bits[], uint64_t value)
{
  int32_t lo = 0, hi = GP_SELL_CODES_MOST - 1;

  while (lo < hi) {
    const int32_t mid = (lo + hi) / 2;

    if (bits[mid] < value) lo = mid + 1;
    else hi = mid;
  }
  return (uint8_t)lo;
}

/* Writes the value of nonzero k for lane l. `column` is the slice column counted from the first of the matrix, c the same counted from quad
   `quad`. */
GP_LANEFN void PutValue(const GpCsr *A, const GpSell *S, int64_t column, int32_t quad, int32_t c, int l, int32_t k)
{
  if (S->kind == GP_SELL_FULL) {
    if (A->prec == GP_F32) ((float *)S->value)[column * GP_SLICE + l] = ((const float *)A->val)[k];
    else ((double *)S->value)[column * GP_SLICE + l] = ((const double *)A->val)[k];
  } else {
    ((uint8_t *)S->value)[((int64_t)quad + c / 4) * 128 + 4 * l + c % 4] = Code(S->bits, A->prec == GP_F32 ? ((const uint32_t *)A->val)[k] : ((const uint64_t *)A->val)[k]);
  }
}

/* Writes the index for lane l in slice column c of the others. */
GP_LANEFN void PutIndex(const GpSell *S, const GpSlice *P, int32_t c, int l, uint32_t index)
{
  const int32_t quad = c / 4, e = 4 * l + c % 4, q8 = GpSliceQuads8(*P), q16 = GpSliceQuads16(*P);

  if (quad < q8) S->index[((int64_t)P->unit + quad) * 128 + e] = (uint8_t)index;
  else if (quad < q8 + q16) ((uint16_t *)S->index)[((int64_t)P->unit + q8 + 2 * (quad - q8)) * 64 + e] = (uint16_t)index;
  else ((uint32_t *)S->index)[((int64_t)P->unit + q8 + 2 * q16 + 4 * (quad - q8 - q16)) * 32 + e] = index;
}

GP_WARPFN void PutHead(const GpSell *S, int32_t quad, int32_t c, int32_t base, uint32_t mask)
{
  GP_ONE_LANE(0)
  {
    S->head[GpSliceBase(quad, c)] = base;
    S->head[GpSliceMask(quad, c)] = (int32_t)mask;
  }
}

GP_WARPFN void FillDiagonals(const GpCsr *A, const GpSell *S, const GpSlice *P, int32_t slice, const int32_t diagonal[])
{
  Lane    lane[GP_PER_LANE];
  int32_t on[GP_PER_LANE];

  GP_LANES(l) lane[GP_AT(l)] = Begin(A, S->perm, slice, l);
  for (int32_t c = 0; c < P->diagonals; c++) {
    GP_LANES(l)
    {
      Lane *L = &lane[GP_AT(l)];

      while (L->k < L->end && A->col[L->k] - L->row < diagonal[c]) L->k++;
      on[GP_AT(l)] = L->k < L->end && A->col[L->k] - L->row == diagonal[c];
      if (on[GP_AT(l)]) PutValue(A, S, (int64_t)P->column + c, P->quad, c, l, L->k);
    }
    const uint32_t mask = GpLanesBallot(on);

    PutHead(S, P->quad, c, diagonal[c], mask);
  }
}

GP_WARPFN void FillOthers(const GpCsr *A, const GpSell *S, const GpSlice *P, int32_t slice, const int32_t diagonal[])
{
  const int32_t first    = P->quad + GpSliceQuads(P->diagonals);
  int32_t       place[3] = {0, P->n8, P->n8 + P->n16}; /* next slice column with 8-, 16- and 32-bit indices */
  Lane          lane[GP_PER_LANE];
  int32_t       k[GP_PER_LANE], has[GP_PER_LANE], base, bits;

  GP_LANES(l) lane[GP_AT(l)] = Begin(A, S->perm, slice, l);
  while ((bits = NextColumn(A, lane, diagonal, P->diagonals, k, &base)) >= 0) {
    const int32_t c = place[bits]++;

    GP_LANES(l)
    {
      const int32_t at = k[GP_AT(l)];

      has[GP_AT(l)] = at >= 0;
      if (at >= 0) {
        PutIndex(S, P, c, l, (uint32_t)(A->col[at] - base));
        PutValue(A, S, (int64_t)P->column + P->diagonals + c, first, c, l, at);
      }
    }
    const uint32_t mask = GpLanesBallot(has);

    PutHead(S, first, c, base, mask);
  }
}

GP_WARPFN void FillSlice(const GpCsr *A, const GpSell *S, int32_t slice, int32_t diagonal[])
{
  const GpSlice P = S->slice[slice];

  if (P.diagonals) {
    FindDiagonals(A, S->perm, slice, diagonal);
    FillDiagonals(A, S, &P, slice, diagonal);
  }
  FillOthers(A, S, &P, slice, diagonal);
}

/* Returns the length of the longest row of a slice, the width of a plain padded slice. */
GP_WARPFN int32_t SliceWidth(const GpCsr *A, const int32_t *perm, int32_t slice)
{
  int32_t length[GP_PER_LANE];

  GP_LANES(l)
  {
    const Lane lane = Begin(A, perm, slice, l);

    length[GP_AT(l)] = lane.end - lane.k;
  }
  return GpLanesMax(length);
}

/* Returns the sort key of a row: by window, then by descending length. */
GP_LANEFN uint32_t SortKey(const GpCsr *A, int32_t i)
{
  const int32_t length = A->rowptr[i + 1] - A->rowptr[i];

  return (uint32_t)(i / WINDOW) * (LONGEST + 1) + (uint32_t)(length < LONGEST ? LONGEST - length : 0);
}

#endif
