/* The pass over the dissimilarities, host implementation.  It processes tiles of rows and columns, in chunks of columns that the compiler
   vectorises. */
#include "passtiles.h"
#include <math.h>
#include <string.h>

#define NEAR   1e-150                                       /* lower bound on the distance in a quotient */
#define INLINE static inline __attribute__((always_inline)) /* so that the dimension is a constant in the loops */

enum {
  CHUNK = 64,               /* columns with separate partial sums, so that additions do not depend on each other */
  ROWS  = SMACOF_TILE_ROWS, /* rows of a tile of computed distances */
  COLS  = 256,              /* columns of a tile of computed distances; the features of as many points stay in the cache */
  WIDE  = 2048              /* columns of a tile of stored dissimilarities; as many coordinates stay in the cache */
};

typedef struct {
  const void *delta; /* points to row r0, column c0; the pitch is ld */
  size_t      ld;
  int         single, triangle, r0, r1, c0, c1;
} SMACOFTileTask;

/* Adds a tile to the sums of its rows, or of its rows and columns. */
INLINE void SMACOFAddTile(const int dim, const int single, const int both, const SMACOFPass *p, const SMACOFTileTask *t)
{
  const size_t N = (size_t)p->N, ld = p->ldsum;

  for (int i = t->r0; i < t->r1; i++) {
    const int end = t->triangle ? SMACOFMin(t->c1, p->first + i) : t->c1;
    double    sum[PASS_MAX_DIM + 1][CHUNK], xi[PASS_MAX_DIM], total;

    memset(sum, 0, sizeof(sum[0]) * (size_t)(dim + 1));
    for (int c = 0; c < dim; c++) xi[c] = p->xrow[c * p->ldrow + i];
    for (int j = t->c0; j < end; j += CHUNK) {
      const int    n  = SMACOFMin(CHUNK, end - j);
      const size_t at = (size_t)(i - t->r0) * t->ld + (size_t)(j - t->c0);
      double       ratio[CHUNK], square[CHUNK] = {0};

      for (int c = 0; c < dim; c++) {
        const double *x = p->x + c * N + j;

        for (int l = 0; l < n; l++) square[l] += (xi[c] - x[l]) * (xi[c] - x[l]);
      }
      for (int l = 0; l < n; l++) {
        const double d = sqrt(square[l]), delta = SMACOFGetStored(t->delta, single, at + l);

        ratio[l]  = delta / (d > NEAR ? d : NEAR); /* for points that coincide it is multiplied by a difference of 0 */
        square[l] = (delta - d) * (delta - d);
        sum[dim][l] += square[l];
      }
      for (int c = 0; c < dim; c++) {
        const double *x = p->x + c * N + j;

        for (int l = 0; l < n; l++) sum[c][l] += ratio[l] * (xi[c] - x[l]);
        if (!both) continue;
        for (int l = 0; l < n; l++) p->bx[c * ld + (size_t)(j + l)] -= ratio[l] * (xi[c] - x[l]);
      }
      for (int l = 0; both && l < n; l++) p->stress[j + l] += square[l];
    }
    for (int c = 0; c <= dim; c++) {
      total = 0;
      for (int l = 0; l < CHUNK; l++) total += sum[c][l];
      (c < dim ? p->bx + c * ld : p->stress)[p->first + i] += total;
    }
  }
}

INLINE void SMACOFAddListed(const int dim, const int single, const SMACOFPass *p, int r0, int r1)
{
  const size_t N = (size_t)p->N;

  for (int i = r0; i < r1; i++) {
    double sum[PASS_MAX_DIM + 1] = {0}, difference[PASS_MAX_DIM];

    for (int64_t k = p->start[i]; k < p->start[i + 1]; k++) {
      const double w = p->weight ? SMACOFGetStored(p->weight, single, (size_t)k) : 1, delta = SMACOFGetStored(p->delta, single, (size_t)k);
      double       d = 0;

      for (int c = 0; c < dim; c++) {
        difference[c] = p->xrow[c * p->ldrow + i] - p->x[c * N + p->column[k]];
        d += difference[c] * difference[c];
      }
      d = sqrt(d);
      for (int c = 0; c < dim; c++) sum[c] += w * delta / (d > NEAR ? d : NEAR) * difference[c];
      sum[dim] += w * (delta - d) * (delta - d);
    }
    for (int c = 0; c < dim; c++) p->bx[c * p->ldsum + (size_t)(p->first + i)] = sum[c];
    p->stress[p->first + i] = sum[dim];
  }
}

/* Instantiates the code for each dimension. */
#define EACH_DIM(what) \
  switch (p->dim) { \
    what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) \
  }

static void Add(const SMACOFPass *p, const SMACOFTileTask *t, int both)
{
#define CASE(n) \
  case n: \
    if (t->single) both ? SMACOFAddTile(n, 1, 1, p, t) : SMACOFAddTile(n, 1, 0, p, t); \
    else both ? SMACOFAddTile(n, 0, 1, p, t) : SMACOFAddTile(n, 0, 0, p, t); \
    break;
  EACH_DIM(CASE)
#undef CASE
}

static void SMACOFAddListedRows(const SMACOFPass *p, int r0, int r1)
{
#define CASE(n) \
  case n: \
    p->single ? SMACOFAddListed(n, 1, p, r0, r1) : SMACOFAddListed(n, 0, p, r0, r1); \
    break;
  EACH_DIM(CASE)
#undef CASE
}

void SMACOFComputeDistances_Host(const SMACOFPass *p, int i, int c0, int c1, double distance[])
{
  const int n = c1 - c0;

  for (int l = 0; l < n; l++) distance[l] = 0;
  for (int f = 0; f < p->nfeature; f++) {
    const double  mine  = p->frow[f * p->ldrow + i];
    const double *their = p->feature + (size_t)f * p->N + c0;

    if (p->metric == PASS_COSINE) {
      for (int l = 0; l < n; l++) distance[l] += mine * their[l];
    } else if (p->metric == PASS_MANHATTAN) {
      for (int l = 0; l < n; l++) distance[l] += fabs(mine - their[l]);
    } else {
      for (int l = 0; l < n; l++) distance[l] += (mine - their[l]) * (mine - their[l]);
    }
  }
  if (p->metric == PASS_COSINE) {
    for (int l = 0; l < n; l++) distance[l] = distance[l] < 1 ? 1 - distance[l] : 0; /* the cosine may exceed 1 by rounding */
  } else if (p->metric == PASS_EUCLIDEAN) {
    for (int l = 0; l < n; l++) distance[l] = sqrt(distance[l]);
  }
}

static void SMACOFAddRange(const SMACOFPass *p, int n, const SMACOFPassRange *g)
{
  const int triangle = g->kind == PASS_TRIANGLE;
  const int height   = p->delta && n == 1 ? p->rows : ROWS; /* a tile stays in the cache for all n passes */
  double    distance[ROWS * COLS];

  for (int c = g->c0, cend; c < g->c1; c = cend) {
    cend = SMACOFMin(g->c1, c + (p->delta ? WIDE : COLS));
    for (int r = triangle ? c - p->first : g->r0, rend; r < g->r1; r = rend) {
      SMACOFTileTask t;

      rend = SMACOFMin(g->r1, r + height);
      t    = (SMACOFTileTask){distance, COLS, 0, triangle, r, rend, c, cend};
      if (p->delta) {
        t.single = p->single;
        t.ld     = p->ld;
        t.delta  = (const char *)p->delta + ((size_t)r * t.ld + (size_t)c) * (p->single ? sizeof(float) : sizeof(double));
      } else
        for (int i = r; i < rend; i++) SMACOFComputeDistances_Host(p, i, c, triangle ? SMACOFMin(cend, p->first + i) : cend, distance + (size_t)(i - r) * COLS);
      for (int k = 0; k < n; k++) Add(p + k, &t, g->kind != PASS_ROWS);
    }
  }
}

void SMACOFCombineTerms_Host(const SMACOFPass *p)
{
  const SMACOFPassForm *form = &p->form;

  for (size_t begin = 0, end, all = form->n ? (size_t)p->N * (size_t)p->dim : 0; begin < all; begin = end) {
    end = begin + WIDE < all ? begin + WIDE : all;
    for (size_t i = begin; i < end; i++) form->to[i] = form->factor[0] * form->term[0][i];
    for (int k = 1; k < form->n; k++) {
      const double factor = form->factor[k], *term = form->term[k];

      for (size_t i = begin; i < end; i++) form->to[i] += factor * term[i];
    }
  }
}

void SMACOFBeginPass_Host(const SMACOFPass *p, int n)
{
  for (int k = 0; k < n; k++) {
    SMACOFCombineTerms_Host(p + k);
    memset(p[k].bx, 0, sizeof(double) * p->ldsum * (size_t)p->dim);
    memset(p[k].stress, 0, sizeof(double) * p->ldsum);
  }
}

void SMACOFRunPass_Host(const SMACOFPass *p, int n)
{
  SMACOFBeginPass_Host(p, n);
  for (int r = 0; p->start && r < p->rows; r += ROWS)
    for (int k = 0; k < n; k++) SMACOFAddListedRows(p + k, r, SMACOFMin(p->rows, r + ROWS));
  for (int g = 0; !p->start && g < p->nranges; g++) SMACOFAddRange(p, n, &p->range[g]);
}

void SMACOFAddListed_Host(const SMACOFPass *rows)
{
  SMACOFAddListedRows(rows, 0, rows->rows);
}

/* The tiles of a range are ordered by rows first.  Each sum gets its terms in the same order as in SMACOFAddRange(), where they are ordered by columns first: a row gets those of
   its tiles from left to right, and then, as a column, those of the rows below it. */
int64_t SMACOFListTiles_Host(const SMACOFPass *p, SMACOFTile *tile)
{
  int64_t n = 0;

  for (int k = 0; k < p->nranges; k++) {
    const SMACOFPassRange *g        = &p->range[k];
    const int              triangle = g->kind == PASS_TRIANGLE;

    for (int r = g->r0, rend; r < g->r1; r = rend) {
      rend = SMACOFMin(g->r1, r + ROWS);
      for (int c = g->c0; c < g->c1; c += WIDE) {
        const int r0 = triangle && c - p->first > r ? c - p->first : r, c1 = SMACOFMin(SMACOFMin(g->c1, c + WIDE), triangle ? p->first + rend - 1 : p->N);

        if (r0 >= rend || c >= c1) continue;
        if (tile) tile[n] = (SMACOFTile){r0, rend, c, c1, c1 - c, g->kind};
        n++;
      }
    }
  }
  return n;
}

void SMACOFAddTiles_Host(const SMACOFPass *p, int n, const SMACOFTile *tile, int64_t ntiles, const void *memory)
{
  const char *at = (const char *)memory;

  for (int64_t i = 0; i < ntiles; i++) {
    const SMACOFTile    *s = &tile[i];
    const SMACOFTileTask t = {at, (size_t)s->ld, p->single, s->kind == PASS_TRIANGLE, s->r0, s->r1, s->c0, s->c1};

    for (int k = 0; k < n; k++) Add(p + k, &t, s->kind != PASS_ROWS);
    at += (p->single ? sizeof(float) : sizeof(double)) * t.ld * (size_t)(s->r1 - s->r0);
  }
}

/* Gives the distances of row i to the columns c0 to c1 - 1 the values that SMACOFStoreDistances_Host() stores. */
static void SMACOFRoundDistances(const SMACOFPass *p, int i, int c0, int c1, double distance[])
{
  if (p->first + i >= c0 && p->first + i < c1) distance[p->first + i - c0] = 0;
  for (int l = 0; p->single && l < c1 - c0; l++) distance[l] = (float)distance[l];
}

void SMACOFMultiplySquares_Host(const SMACOFPass *p, int n, const double *v, double *y)
{
  const size_t N = (size_t)p->N, m = (size_t)p->rows;
  double       beside[COLS * PASS_MAX_VECTORS], distance[COLS];

  memset(y, 0, sizeof(double) * m * (size_t)n);
  for (int c = 0; c < p->N; c += COLS) {
    const int end = SMACOFMin(p->N, c + COLS);

    for (int l = 0; l < end - c; l++)
      for (int k = 0; k < n; k++) beside[l * n + k] = v[k * N + (size_t)(c + l)];
    for (int i = 0; i < p->rows; i++) {
      double sum[PASS_MAX_VECTORS] = {0};

      if (p->delta)
        for (int l = 0; l < end - c; l++) distance[l] = SMACOFGetStored(p->delta, p->single, (size_t)i * p->ld + (size_t)(c + l));
      else SMACOFComputeDistances_Host(p, i, c, end, distance);
      if (!p->delta && p->as_stored) SMACOFRoundDistances(p, i, c, end, distance);
      for (int l = 0; l < end - c; l++)
        for (int k = 0; k < n; k++) sum[k] += distance[l] * distance[l] * beside[l * n + k];
      for (int k = 0; k < n; k++) y[k * m + (size_t)i] += sum[k];
    }
  }
}

void SMACOFStoreDistances_Host(const SMACOFPass *p, void *delta)
{
  double distance[COLS];

  for (int i = 0; i < p->rows; i++) {
    for (int c = 0; c < p->N; c += COLS) {
      const int    end = SMACOFMin(p->N, c + COLS);
      const size_t at  = (size_t)i * p->ld + (size_t)c;

      SMACOFComputeDistances_Host(p, i, c, end, distance);
      SMACOFRoundDistances(p, i, c, end, distance);
      for (int l = 0; l < end - c; l++) p->single ? (void)(((float *)delta)[at + l] = (float)distance[l]) : (void)(((double *)delta)[at + l] = distance[l]);
    }
  }
}
