/* How a pass of the device shares out its ranges of dissimilarities among blocks: runs of units.

   The rows of a range are cut into strips of H, a strip into units of PASS_UNIT columns as far as the diagonal, and units are numbered through, strip after strip, range after range.  A run is
   some units that follow each other, and a block's work: from one strip it goes on into the next.  First comes a long run for each block that the GPU holds at once, together seven eighths of
   all, then short ones, which blocks begin as others end: so multiprocessors come to an end together, though they are not equally fast and units at the diagonal are less work. */
#ifndef GPUCSR_SMACOF_PASSRUNS_H
#define GPUCSR_SMACOF_PASSRUNS_H

#include "pass.h"

#if defined(__CUDACC__)
  #define PASS_BOTH_SIDES __host__ __device__
#else
  #define PASS_BOTH_SIDES
#endif

#define PASS_UNIT   32
#define PASS_STRIPS 256 /* strips between which partial sums are added up: a limit to their memory, which is what a run has for each of its strips, and a strip for each of its columns */

/* rows of a range */
typedef struct {
  int row0, row1;
  int c0, c1, left; /* columns, the first unit's beginning */
  int bound;        /* of row i the columns below bound + i */
  int strip;        /* the first one */
} PassPart;

typedef struct {
  int      range, row;     /* of the pass, where the next runs begin */
  int      both;           /* sums of columns too */
  int      point0, point1; /* those that get sums are among these */
  int      parts, strips, height;
  PassPart part[PASS_MAX_RANGES];
  int      longs, length, rest;
  int      unit[PASS_STRIPS + 1]; /* the first one of each strip; the end */
} PassRuns;

static inline PASS_BOTH_SIDES int PassRunsLeast(int a, int b)
{
  return a < b ? a : b;
}

static inline PASS_BOTH_SIDES int PassRunsMost(int a, int b)
{
  return a > b ? a : b;
}

/* the part that a strip is of */
static inline PASS_BOTH_SIDES const PassPart *PassPartOf(const PassRuns *s, int strip)
{
  int k = 0;

  while (k + 1 < s->parts && s->part[k + 1].strip <= strip) k++;
  return &s->part[k];
}

/* behind the part's last strip, its last column */
static inline PASS_BOTH_SIDES int PassPartEnd(const PassRuns *s, const PassPart *g)
{
  return g->strip + (g->row1 - g->row0 + s->height - 1) / s->height;
}

static inline PASS_BOTH_SIDES int PassPartRight(const PassPart *g)
{
  return PassRunsLeast(g->c1, g->bound + g->row1);
}

/* the rows where a part's strip begins and ends, and the column where it ends */
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

/* Where the sums of a run's rows in a strip stand, [sums][height], and those of a strip's columns, [sums][all units of the strip]: the first number; how many there are in all.
   From one run to the next, and from one strip to the next, the sum of their numbers grows. */
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

/* one more part: rows from row0 on, as many as there are strips left for */
static inline void PassRunsAdd(PassRuns *s, const Pass *p, const PassRange *g, int row0)
{
  PassPart *t = &s->part[s->parts++];

  t->row0  = row0;
  t->row1  = g->r1 - row0 < (PASS_STRIPS - s->strips) * s->height ? g->r1 : row0 + (PASS_STRIPS - s->strips) * s->height;
  t->c0    = g->c0;
  t->c1    = g->c1;
  t->left  = g->c0 / PASS_UNIT * PASS_UNIT; /* a unit of a row is as few of the memory's lines as it can be */
  t->bound = p->first + (g->kind == PASS_TRIANGLE ? 0 : p->N);
  t->strip = s->strips;
  for (; s->strips < PassPartEnd(s, t); s->strips++) s->unit[s->strips + 1] = s->unit[s->strips] + (PassStripRight(s, t, s->strips) - t->left + PASS_UNIT - 1) / PASS_UNIT;
  s->point0 = PassRunsLeast(s->point0, s->both ? PassRunsLeast(t->c0, p->first + t->row0) : p->first + t->row0);
  s->point1 = PassRunsMost(s->point1, s->both ? PassRunsMost(PassPartRight(t), p->first + t->row1) : p->first + t->row1);
}

/* The next strips of a pass, as many as there may be, for a GPU that holds so many blocks, zeroed memory before the first ones.  0: there are no more.  Ranges whose columns get sums come
   together, others come together */
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
  s->longs  = s->length < 8 ? 0 : blocks; /* too few to be divided further: equal runs */
  s->rest   = !s->longs ? (all + blocks - 1) / blocks : s->length < 64 ? 2 : s->length / 32;
  return 1;
}

#endif
