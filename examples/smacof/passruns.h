/* How a pass of the device shares out a range of dissimilarities among blocks: runs of units.

   The rows are cut into strips of H, a strip into units of PASS_UNIT columns as far as the diagonal, and units are numbered through, strip after strip.  A run is some units that follow
   each other, and a block's work: from one strip it goes on into the next.  First comes a long run for each block that the GPU holds at once, together seven eighths of all, then short
   ones, which blocks begin as others end: so multiprocessors come to an end together, though they are not equally fast and units at the diagonal are less work. */
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

typedef struct {
  int row0, row1, height; /* these rows in strips of so many */
  int c0, c1, left;       /* columns, the first unit's beginning */
  int bound;              /* of row i the columns below bound + i */
  int strips, longs, length, rest;
  int unit[PASS_STRIPS + 1]; /* the first one of each strip; the end */
} PassRuns;

static inline PASS_BOTH_SIDES int PassRunsLeast(int a, int b)
{
  return a < b ? a : b;
}

/* the row where a strip ends, and the column */
static inline PASS_BOTH_SIDES int PassStripBottom(const PassRuns *s, int strip)
{
  return PassRunsLeast(s->row0 + (strip + 1) * s->height, s->row1);
}

static inline PASS_BOTH_SIDES int PassStripRight(const PassRuns *s, int strip)
{
  return PassRunsLeast(s->c1, s->bound + PassStripBottom(s, strip));
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

/* the strips of a range from row0 on, as many as there may be, for a GPU that holds so many blocks; the points of rows begin with first, of N */
static inline void PassRunsMake(PassRuns *s, const PassRange *g, int first, int N, int row0, int height, int blocks)
{
  int all = 0;

  s->row0   = row0;
  s->row1   = g->r1 - row0 < PASS_STRIPS * height ? g->r1 : row0 + PASS_STRIPS * height;
  s->height = height;
  s->c0     = g->c0;
  s->c1     = g->c1;
  s->left   = g->c0 / PASS_UNIT * PASS_UNIT; /* a unit of a row is as few of the memory's lines as it can be */
  s->bound  = first + (g->kind == PASS_TRIANGLE ? 0 : N);
  s->strips = (s->row1 - row0 + height - 1) / height;
  for (int k = 0; k < s->strips; k++) {
    s->unit[k] = all;
    all += (PassStripRight(s, k) - s->left + PASS_UNIT - 1) / PASS_UNIT;
  }
  s->unit[s->strips] = all;
  s->length          = (int)((int64_t)all * 7 / 8 / blocks);
  s->longs           = s->length < 8 ? 0 : blocks; /* too few to be divided further: equal runs */
  s->rest            = !s->longs ? (all + blocks - 1) / blocks : s->length < 64 ? 2 : s->length / 32;
}

#endif
