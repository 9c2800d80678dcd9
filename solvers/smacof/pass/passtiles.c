/* The tiles of a pass (passtiles.h): their order and contents, and the chunks in which a pass on a GPU adds them. */
#include "passtiles.h"
#include <stdlib.h>
#include <string.h>

/* --- chunks on a GPU ---------------------------------------------------------------------------------------------------------------- */

int64_t SMACOFListUnits(const SMACOFPass *p, int most, SMACOFBlock *block)
{
  SMACOFRuns s = {0};
  int64_t    n = 0;

  for (int launch = 0; SMACOFRunsSetNext(&s, p, PASS_HEIGHT, 1); launch++) {
    for (int begin = 0; begin < s.unit[s.strips]; begin += most, n++) {
      if (block) block[n] = (SMACOFBlock){.launch = launch, .lead = SMACOFMin(begin, SMACOF_TILE_LEAD), .begin = begin, .end = SMACOFMin(begin + most, s.unit[s.strips])};
    }
  }
  return n;
}

/* Lists the chunks of a launch.  Returns the number of chunks; chunk may be NULL. */
static int SMACOFListChunks(const SMACOFRuns *s, int chunk_units, SMACOFChunk *chunk)
{
  int n = 0;

  for (int strip = 0, run = 0, unit = 0; unit < s->unit[s->strips];) { /* unit is the first one of a run in a strip */
    const int end = SMACOFMin(SMACOFGetRunBegin(s, run + 1), s->unit[strip + 1]);

    for (int at = unit; at < end; at += chunk_units, n++) {
      if (chunk) chunk[n] = (SMACOFChunk){.unit = at, .units = SMACOFMin(chunk_units, end - at), .strip = strip, .place = run + strip, .first = at == unit};
    }
    unit = end;
    if (unit == s->unit[strip + 1]) strip++;
    if (unit == SMACOFGetRunBegin(s, run + 1)) run++;
  }
  return n;
}

/* Assigns the chunks of all launches to the blocks that have their last units. */
static void SMACOFAssignChunks(SMACOFPlan *P, const int *first, int64_t nblocks, SMACOFBlock *block)
{
  int at = 0;

  for (int64_t b = 0; b < nblocks; b++) {
    const int end = first[block[b].launch + 1];

    block[b].chunk0 = at;
    while (at < end && P->chunk[at].unit + P->chunk[at].units <= block[b].end) at++;
    block[b].chunk1 = at;
    P->largest      = SMACOFMax(P->largest, at - block[b].chunk0);
  }
}

int SMACOFPlanCreate(const SMACOFPass *p, int resident, int chunk_units, int64_t nblocks, SMACOFBlock *block, SMACOFPlan *P)
{
  SMACOFRuns s = {0};
  int       *first;

  *P = (SMACOFPlan){0};
  while (SMACOFRunsSetNext(&s, p, PASS_HEIGHT, resident)) {
    P->nlaunches++;
    P->nchunks += SMACOFListChunks(&s, chunk_units, NULL);
  }
  P->runs  = (SMACOFRuns *)malloc(sizeof(*P->runs) * (size_t)SMACOFMax(P->nlaunches, 1));
  P->chunk = (SMACOFChunk *)malloc(sizeof(*P->chunk) * (size_t)SMACOFMax(P->nchunks, 1));
  first    = (int *)calloc((size_t)P->nlaunches + 1, sizeof(*first));
  if (!P->runs || !P->chunk || !first) {
    free(first);
    SMACOFPlanDestroy(P);
    return 0;
  }
  s = (SMACOFRuns){0};
  for (int launch = 0; SMACOFRunsSetNext(&s, p, PASS_HEIGHT, resident); launch++) {
    P->runs[launch]   = s;
    first[launch + 1] = first[launch] + SMACOFListChunks(&s, chunk_units, P->chunk + first[launch]);
  }
  SMACOFAssignChunks(P, first, nblocks, block);
  free(first);
  return 1;
}

void SMACOFPlanDestroy(SMACOFPlan *P)
{
  free(P->runs);
  free(P->chunk);
  *P = (SMACOFPlan){0};
}

SMACOFTile SMACOFGetUnitTile(const SMACOFRuns *s, int unit)
{
  const int         strip = SMACOFFindStrip(s, unit);
  const SMACOFPart *g     = SMACOFFindPart(s, strip);
  const int         left  = g->left + PASS_UNIT * (unit - s->unit[strip]);

  return (SMACOFTile){.r0 = SMACOFGetStripTop(s, g, strip), .r1 = SMACOFGetStripBottom(s, g, strip), .c0 = left, .c1 = left + PASS_UNIT, .ld = PASS_UNIT};
}

/* --- contents ----------------------------------------------------------------------------------------------------------------------- */

/* Writes entry k of a float or double array. */
static void SMACOFSetStored(void *a, int single, size_t k, double value)
{
  if (single) ((float *)a)[k] = (float)value;
  else ((double *)a)[k] = value;
}

/* Computes the distances between features of one row of a tile. */
static void SMACOFFillComputed(const SMACOFPass *p, int i, int c0, int c1, void *to, size_t at)
{
  double distance[PASS_UNIT];

  for (int c = c0; c < c1; c += PASS_UNIT) {
    const int end = SMACOFMin(c + PASS_UNIT, c1);

    SMACOFComputeDistances_Host(p, i, c, end, distance);
    for (int j = c; j < end; j++) SMACOFSetStored(to, p->single, at + (size_t)(j - c0), j == p->first + i ? 0 : distance[j - c]);
  }
}

void SMACOFFillTile(const SMACOFPass *p, const SMACOFTile *t, void *to)
{
  const size_t each = p->single ? sizeof(float) : sizeof(double);
  const int    c1   = SMACOFMin(t->c1, p->N);

  for (int i = t->r0; i < t->r1; i++) {
    const size_t at = (size_t)(i - t->r0) * (size_t)t->ld;

    if (p->delta) memcpy((char *)to + each * at, (const char *)p->delta + each * ((size_t)i * p->ld + (size_t)t->c0), each * (size_t)(c1 - t->c0));
    else SMACOFFillComputed(p, i, t->c0, c1, to, at);
    if (c1 < t->c1) memset((char *)to + each * (at + (size_t)(c1 - t->c0)), 0, each * (size_t)(t->c1 - c1));
  }
}

/* --- listed pairs ------------------------------------------------------------------------------------------------------------------- */

static size_t SMACOFAlign(size_t bytes)
{
  return (bytes + 7) / 8 * 8;
}

/* offsets in bytes of the parts of a block */
typedef struct {
  size_t column, delta, weight, all;
} SMACOFListedParts;

static SMACOFListedParts SMACOFGetListedParts(const SMACOFPass *p, int64_t rows, int64_t n)
{
  const size_t      values = SMACOFAlign((size_t)n * (p->single ? sizeof(float) : sizeof(double)));
  SMACOFListedParts at;

  at.column = sizeof(int64_t) * (size_t)(rows + 1);
  at.delta  = at.column + SMACOFAlign(sizeof(int) * (size_t)n);
  at.weight = at.delta + values;
  at.all    = at.weight + (p->weight ? values : 0);
  return at;
}

size_t SMACOFGetListedBytes(const SMACOFPass *p, int64_t rows, int64_t n)
{
  return SMACOFGetListedParts(p, rows, n).all;
}

void SMACOFFillListed(const SMACOFPass *p, const SMACOFBlock *b, void *to)
{
  const SMACOFListedParts part = SMACOFGetListedParts(p, b->end - b->begin, b->entries);
  const size_t            at = (size_t)p->start[b->begin], n = (size_t)b->entries, each = p->single ? sizeof(float) : sizeof(double);

  for (int64_t i = b->begin; i <= b->end; i++) ((int64_t *)to)[i - b->begin] = p->start[i] - p->start[b->begin];
  if (!n) return;
  memcpy((char *)to + part.column, p->column + at, sizeof(int) * n);
  memcpy((char *)to + part.delta, (const char *)p->delta + each * at, each * n);
  if (p->weight) memcpy((char *)to + part.weight, (const char *)p->weight + each * at, each * n);
}

void SMACOFGetListedRows(const SMACOFPass *p, const SMACOFBlock *b, const void *memory, SMACOFPass *rows)
{
  const SMACOFListedParts part = SMACOFGetListedParts(p, b->end - b->begin, b->entries);

  *rows        = *p;
  rows->rows   = (int)(b->end - b->begin);
  rows->first  = p->first + (int)b->begin;
  rows->xrow   = p->xrow + b->begin;
  rows->start  = (const int64_t *)memory;
  rows->column = (const int *)((const char *)memory + part.column);
  rows->delta  = (const char *)memory + part.delta;
  rows->weight = p->weight ? (const char *)memory + part.weight : NULL;
}
