/* Distribution of the ranges of a pass over the blocks of a GPU.

   - A strip is H rows of a range.
   - A unit is PASS_UNIT columns of a strip, up to the diagonal.  Units are numbered consecutively over all strips and ranges.
   - A run is a sequence of consecutive units, possibly of several strips.  One block processes one run.

   The first runs are long, one for each block that the GPU holds at once, and together hold seven eighths of all units.  The other runs are
   short and balance the load, because multiprocessors differ in speed and units at the diagonal have less work. */
#ifndef GPUCSR_SMACOF_PASSRUNS_H
#define GPUCSR_SMACOF_PASSRUNS_H

#include "pass.h"

#if defined(__CUDACC__)
  #define PASS_BOTH_SIDES __host__ __device__
#else
  #define PASS_BOTH_SIDES
#endif

#define PASS_UNIT   32
#define PASS_STRIPS 256 /* maximum number of strips of one launch; bounds the memory of the partial sums of rows and columns */

/* consecutive rows of a range */
typedef struct {
  int row0, row1;
  int c0, c1, left; /* columns c0 to c1 - 1; left is the first column of the first unit */
  int bound;        /* row i has only the columns below bound + i */
  int strip;        /* number of the first strip */
} PassPart;

/* runs of one launch */
typedef struct {
  int      range, row;            /* range and row of the pass where the next launch begins */
  int      both;                  /* the pass adds to the sums of the columns too */
  int      point0, point1;        /* all points with contributions are in point0 to point1 - 1 */
  int      parts, strips, height; /* numbers of parts and of strips, rows of a strip */
  PassPart part[PASS_MAX_RANGES];
  int      longs, length, rest;   /* number of long runs, their length and the length of the short runs in units */
  int      unit[PASS_STRIPS + 1]; /* first unit of each strip, then the number of units */
} PassRuns;

static inline PASS_BOTH_SIDES int PassRunsLeast(int a, int b)
{
  return a < b ? a : b;
}

static inline PASS_BOTH_SIDES int PassRunsMost(int a, int b)
{
  return a > b ? a : b;
}

/* Returns the part of a strip. */
static inline PASS_BOTH_SIDES const PassPart *PassPartOf(const PassRuns *s, int strip)
{
  int k = 0;

  while (k + 1 < s->parts && s->part[k + 1].strip <= strip) k++;
  return &s->part[k];
}

/* PassPartEnd() returns the end of the strips of a part, PassPartRight() the end of its columns. */
static inline PASS_BOTH_SIDES int PassPartEnd(const PassRuns *s, const PassPart *g)
{
  return g->strip + (g->row1 - g->row0 + s->height - 1) / s->height;
}

static inline PASS_BOTH_SIDES int PassPartRight(const PassPart *g)
{
  return PassRunsLeast(g->c1, g->bound + g->row1);
}

/* Return the first row of a strip, the end of its rows, and the end of its columns. */
static inline PASS_BOTH_SIDES int PassStripTop(const PassRuns *s, const PassPart *g, int strip)
{
  return g->row0 + (strip - g->strip) * s->height;
}

static inline PASS_BOTH_SIDES int PassStripBottom(const PassRuns *s, const PassPart *g, int strip)
{
  return PassRunsLeast(PassStripTop(s, g, strip + 1), g->row1);
}

static inline PASS_BOTH_SIDES int PassStripRight(const PassRuns *s, const PassPart *g, int strip)
{
  return PassRunsLeast(g->c1, g->bound + PassStripBottom(s, g, strip));
}

static inline PASS_BOTH_SIDES int PassRunBegin(const PassRuns *s, int run)
{
  return PassRunsLeast(run < s->longs ? run * s->length : s->longs * s->length + (run - s->longs) * s->rest, s->unit[s->strips]);
}

static inline PASS_BOTH_SIDES int PassRunOf(const PassRuns *s, int unit)
{
  const int most = s->longs * s->length;

  return unit < most ? unit / s->length : s->longs + (unit - most) / s->rest;
}

static inline PASS_BOTH_SIDES int PassRunsCount(const PassRuns *s)
{
  return PassRunOf(s, s->unit[s->strips] - 1) + 1;
}

static inline PASS_BOTH_SIDES int PassStripOf(const PassRuns *s, int unit)
{
  int low = 0, high = s->strips - 1;

  while (low < high) {
    const int middle = (low + high + 1) / 2;

    if (s->unit[middle] <= unit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* PassRowSums() returns the offset of the partial row sums of a run in a strip, [sums][height].  PassColumnSums() returns the offset of the
   partial column sums of a strip, [sums][columns of its units].  PassRowSumsCount() returns the total number of partial row sums.
   run + strip is unique for each pair of a run and one of its strips, because it increases from each pair to the next. */
static inline PASS_BOTH_SIDES size_t PassRowSums(const PassRuns *s, int sums, int run, int strip)
{
  return (size_t)(run + strip) * (size_t)sums * (size_t)s->height;
}

static inline PASS_BOTH_SIDES size_t PassColumnSums(const PassRuns *s, int sums, int strip)
{
  return (size_t)s->unit[strip] * PASS_UNIT * (size_t)sums;
}

static inline size_t PassRowSumsCount(const PassRuns *s, int sums)
{
  return PassRowSums(s, sums, PassRunsCount(s), s->strips - 1);
}

/* Adds a part: rows from row0 on, as many as fit the remaining strips. */
static inline void PassRunsAdd(PassRuns *s, const Pass *p, const PassRange *g, int row0)
{
  PassPart *t = &s->part[s->parts++];

  t->row0  = row0;
  t->row1  = g->r1 - row0 < (PASS_STRIPS - s->strips) * s->height ? g->r1 : row0 + (PASS_STRIPS - s->strips) * s->height;
  t->c0    = g->c0;
  t->c1    = g->c1;
  t->left  = g->c0 / PASS_UNIT * PASS_UNIT; /* aligned, so that a unit of a row touches as few cache lines as possible */
  t->bound = p->first + (g->kind == PASS_TRIANGLE ? 0 : p->N);
  t->strip = s->strips;
  for (; s->strips < PassPartEnd(s, t); s->strips++) s->unit[s->strips + 1] = s->unit[s->strips] + (PassStripRight(s, t, s->strips) - t->left + PASS_UNIT - 1) / PASS_UNIT;
  s->point0 = PassRunsLeast(s->point0, s->both ? PassRunsLeast(t->c0, p->first + t->row0) : p->first + t->row0);
  s->point1 = PassRunsMost(s->point1, s->both ? PassRunsMost(PassPartRight(t), p->first + t->row1) : p->first + t->row1);
}

/* Sets the runs of the next launch, for a GPU that holds `blocks` blocks at once.  Returns 0 if nothing is left.  *s must be zero before the
   first call.  A launch has either only ranges with column sums or only ranges without. */
static inline int PassRunsNext(PassRuns *s, const Pass *p, int height, int blocks)
{
  int all;

  s->parts = s->strips = 0;
  s->height            = height;
  s->point0            = p->N;
  s->point1            = 0;
  s->unit[0]           = 0;
  for (; s->range < p->nranges && s->strips < PASS_STRIPS; s->range++, s->row = 0) {
    const PassRange *g = &p->range[s->range];

    if (g->r0 >= g->r1) continue;
    if (s->parts && s->both != (g->kind != PASS_ROWS)) break;
    s->both = g->kind != PASS_ROWS;
    PassRunsAdd(s, p, g, PassRunsMost(g->r0, s->row));
    s->row = s->part[s->parts - 1].row1;
    if (s->row < g->r1) break;
  }
  if (!s->strips) return 0;
  all       = s->unit[s->strips];
  s->length = (int)((int64_t)all * 7 / 8 / blocks);
  s->longs  = s->length < 8 ? 0 : blocks; /* few units: runs of equal length */
  s->rest   = !s->longs ? (all + blocks - 1) / blocks : s->length < 64 ? 2 : s->length / 32;
  return 1;
}

#endif
