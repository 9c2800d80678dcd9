/* Distribution of the ranges of a pass over the blocks of a GPU.

   - A strip is H rows of a range.
   - A unit is PASS_UNIT columns of a strip, up to the diagonal.  Units are numbered consecutively over all strips and ranges.
   - A run is a sequence of consecutive units, possibly of several strips.  One block processes one run.

   The first runs are long, one for each block that the GPU holds at once, and together hold seven eighths of all units.  The other runs are
   short and balance the load, because multiprocessors differ in speed and units at the diagonal have less work. */
#ifndef GPUCSR_SMACOF_PASSRUNS_H
#define GPUCSR_SMACOF_PASSRUNS_H

#include "pass.h"

#define PASS_UNIT   32
#define PASS_HEIGHT 512 /* rows of a strip in the CUDA implementation */
#define PASS_STRIPS 256 /* maximum number of strips of one launch; bounds the memory of the partial sums of rows and columns */

/* consecutive rows of a range */
typedef struct {
  int row0, row1;
  int c0, c1, left; /* columns c0 to c1 - 1; left is the first column of the first unit */
  int bound;        /* row i has only the columns below bound + i */
  int strip;        /* number of the first strip */
} SMACOFPart;

/* runs of one launch */
typedef struct {
  int        range, row;            /* range and row of the pass where the next launch begins */
  int        both;                  /* the pass adds to the sums of the columns too */
  int        point0, point1;        /* all points with contributions are in point0 to point1 - 1 */
  int        parts, strips, height; /* numbers of parts and of strips, rows of a strip */
  SMACOFPart part[PASS_MAX_RANGES];
  int        longs, length, rest;   /* number of long runs, their length and the length of the short runs in units */
  int        unit[PASS_STRIPS + 1]; /* first unit of each strip, then the number of units */
} SMACOFRuns;

static inline SMACOF_HOST_DEVICE int SMACOFMax(int a, int b)
{
  return a > b ? a : b;
}

/* Returns the part of a strip. */
static inline SMACOF_HOST_DEVICE const SMACOFPart *SMACOFFindPart(const SMACOFRuns *s, int strip)
{
  int k = 0;

  while (k + 1 < s->parts && s->part[k + 1].strip <= strip) k++;
  return &s->part[k];
}

/* SMACOFGetPartEnd() returns the end of the strips of a part, SMACOFGetPartRight() the end of its columns. */
static inline SMACOF_HOST_DEVICE int SMACOFGetPartEnd(const SMACOFRuns *s, const SMACOFPart *g)
{
  return g->strip + (g->row1 - g->row0 + s->height - 1) / s->height;
}

static inline SMACOF_HOST_DEVICE int SMACOFGetPartRight(const SMACOFPart *g)
{
  return SMACOFMin(g->c1, g->bound + g->row1);
}

/* Return the first row of a strip, the end of its rows, and the end of its columns. */
static inline SMACOF_HOST_DEVICE int SMACOFGetStripTop(const SMACOFRuns *s, const SMACOFPart *g, int strip)
{
  return g->row0 + (strip - g->strip) * s->height;
}

static inline SMACOF_HOST_DEVICE int SMACOFGetStripBottom(const SMACOFRuns *s, const SMACOFPart *g, int strip)
{
  return SMACOFMin(SMACOFGetStripTop(s, g, strip + 1), g->row1);
}

static inline SMACOF_HOST_DEVICE int SMACOFGetStripRight(const SMACOFRuns *s, const SMACOFPart *g, int strip)
{
  return SMACOFMin(g->c1, g->bound + SMACOFGetStripBottom(s, g, strip));
}

static inline SMACOF_HOST_DEVICE int SMACOFGetRunBegin(const SMACOFRuns *s, int run)
{
  return SMACOFMin(run < s->longs ? run * s->length : s->longs * s->length + (run - s->longs) * s->rest, s->unit[s->strips]);
}

static inline SMACOF_HOST_DEVICE int SMACOFFindRun(const SMACOFRuns *s, int unit)
{
  const int most = s->longs * s->length;

  return unit < most ? unit / s->length : s->longs + (unit - most) / s->rest;
}

static inline SMACOF_HOST_DEVICE int SMACOFCountRuns(const SMACOFRuns *s)
{
  return SMACOFFindRun(s, s->unit[s->strips] - 1) + 1;
}

static inline SMACOF_HOST_DEVICE int SMACOFFindStrip(const SMACOFRuns *s, int unit)
{
  int low = 0, high = s->strips - 1;

  while (low < high) {
    const int middle = (low + high + 1) / 2;

    if (s->unit[middle] <= unit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* SMACOFGetRowSums() returns the offset of the partial row sums of a run in a strip, [sums][height].  SMACOFGetColumnSums() returns the offset of the
   partial column sums of a strip, [sums][columns of its units].  SMACOFCountRowSums() returns the total number of partial row sums.
   run + strip is unique for each pair of a run and one of its strips, because it increases from each pair to the next. */
static inline SMACOF_HOST_DEVICE size_t SMACOFGetRowSums(const SMACOFRuns *s, int sums, int run, int strip)
{
  return (size_t)(run + strip) * (size_t)sums * (size_t)s->height;
}

static inline SMACOF_HOST_DEVICE size_t SMACOFGetColumnSums(const SMACOFRuns *s, int sums, int strip)
{
  return (size_t)s->unit[strip] * PASS_UNIT * (size_t)sums;
}

static inline size_t SMACOFCountRowSums(const SMACOFRuns *s, int sums)
{
  return SMACOFGetRowSums(s, sums, SMACOFCountRuns(s), s->strips - 1);
}

/* Adds a part: rows from row0 on, as many as fit the remaining strips. */
static inline void SMACOFRunsAddPart(SMACOFRuns *s, const SMACOFPass *p, const SMACOFPassRange *g, int row0)
{
  SMACOFPart *t = &s->part[s->parts++];

  t->row0  = row0;
  t->row1  = g->r1 - row0 < (PASS_STRIPS - s->strips) * s->height ? g->r1 : row0 + (PASS_STRIPS - s->strips) * s->height;
  t->c0    = g->c0;
  t->c1    = g->c1;
  t->left  = g->c0 / PASS_UNIT * PASS_UNIT; /* aligned, so that a unit of a row touches as few cache lines as possible */
  t->bound = p->first + (g->kind == PASS_TRIANGLE ? 0 : p->N);
  t->strip = s->strips;
  for (; s->strips < SMACOFGetPartEnd(s, t); s->strips++) s->unit[s->strips + 1] = s->unit[s->strips] + (SMACOFGetStripRight(s, t, s->strips) - t->left + PASS_UNIT - 1) / PASS_UNIT;
  s->point0 = SMACOFMin(s->point0, s->both ? SMACOFMin(t->c0, p->first + t->row0) : p->first + t->row0);
  s->point1 = SMACOFMax(s->point1, s->both ? SMACOFMax(SMACOFGetPartRight(t), p->first + t->row1) : p->first + t->row1);
}

/* Sets the runs of the next launch, for a GPU that holds `blocks` blocks at once.  Returns 0 if nothing is left.  *s must be zero before the
   first call.  A launch has either only ranges with column sums or only ranges without. */
static inline int SMACOFRunsSetNext(SMACOFRuns *s, const SMACOFPass *p, int height, int blocks)
{
  int all;

  s->parts = s->strips = 0;
  s->height            = height;
  s->point0            = p->N;
  s->point1            = 0;
  s->unit[0]           = 0;
  for (; s->range < p->nranges && s->strips < PASS_STRIPS; s->range++, s->row = 0) {
    const SMACOFPassRange *g = &p->range[s->range];

    if (g->r0 >= g->r1) continue;
    if (s->parts && s->both != (g->kind != PASS_ROWS)) break;
    s->both = g->kind != PASS_ROWS;
    SMACOFRunsAddPart(s, p, g, SMACOFMax(g->r0, s->row));
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
