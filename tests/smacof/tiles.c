static char help[] = "Tiles of streamed dissimilarities: every unit is in one chunk, chunks begin where those of an ordinary pass do, and a block has all tiles of its chunks.\n\n";

#include <petscsys.h>
#include "solvers/smacof/pass/passtiles.h"
#include "gpucsrcompat.h"

/* the chunks of the ordinary pass: each run divides its part of each strip, from the left */
static PetscErrorCode CheckChunks(const SMACOFRuns *s, int units, const SMACOFChunk *c, int *n)
{
  int strip = 0;

  PetscFunctionBeginUser;
  *n = 0;
  for (int run = 0; run < SMACOFCountRuns(s); run++) {
    for (int unit = SMACOFGetRunBegin(s, run), end = SMACOFGetRunBegin(s, run + 1); unit < end;) {
      const int until = PetscMin(end, s->unit[strip + 1]);

      for (int at = unit; at < until; at += units, ++*n, c++) {
        PetscCheck(c->unit == at && c->units == PetscMin(units, until - at) && c->strip == strip && c->place == run + strip && c->first == (at == unit), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                   "Chunk %d has the units from %d, %d of them, of strip %d, where those from %d of run %d and strip %d are expected", *n, c->unit, c->units, c->strip, at, run, strip);
      }
      unit = until;
      if (unit == s->unit[strip + 1]) strip++;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckBlocks(const SMACOFPass *p, int blocks, int units, int most)
{
  const int64_t n = SMACOFListUnits(p, most, NULL);
  SMACOFBlock  *block;
  SMACOFPlan    P;
  int           at = 0, before = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(n, &block));
  PetscCheck(SMACOFListUnits(p, most, block) == n && SMACOFPlanCreate(p, blocks, units, n, block, &P), PETSC_COMM_SELF, PETSC_ERR_PLIB, "No plan");
  for (int64_t k = 0; k < n; k++) {
    const SMACOFBlock *b    = &block[k];
    const int          next = k && b->launch == block[k - 1].launch;

    PetscCheck(b->begin == (next ? block[k - 1].end : 0) && b->end > b->begin && b->end - b->begin <= most && b->chunk0 == at, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Block %d does not follow the one before it", (int)k);
    PetscCheck(next || !k || block[k - 1].end == P.runs[block[k - 1].launch].unit[P.runs[block[k - 1].launch].strips], PETSC_COMM_SELF, PETSC_ERR_PLIB, "The blocks of a launch end early");
    for (; at < b->chunk1; at++) {
      const SMACOFChunk *c = &P.chunk[at];

      PetscCheck(c->unit >= b->begin - b->lead && c->unit + c->units <= b->end && c->unit + c->units > b->begin, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Block %d has no tiles of chunk %d", (int)k, at);
    }
    PetscCheck(b->chunk1 - b->chunk0 <= P.largest, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Block %d has %d chunks, more than %d", (int)k, b->chunk1 - b->chunk0, P.largest);
  }
  PetscCheck(at == P.nchunks, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The blocks have %d of %d chunks", at, P.nchunks);
  for (int l = 0, count; l < P.nlaunches; l++, before += count) PetscCall(CheckChunks(&P.runs[l], units, P.chunk + before, &count));
  PetscCheck(before == P.nchunks, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The launches have %d of %d chunks", before, P.nchunks);
  SMACOFPlanDestroy(&P);
  PetscCall(PetscFree(block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* every entry that a pass reads is in one tile, with its value */
static PetscErrorCode CheckContents(const SMACOFPass *p)
{
  SMACOFRuns s = {0};
  char      *seen;
  float     *tile;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1((size_t)p->rows * (size_t)p->N, &seen));
  PetscCall(PetscMalloc1(PASS_HEIGHT * PASS_UNIT, &tile));
  while (SMACOFRunsSetNext(&s, p, PASS_HEIGHT, 1)) {
    for (int unit = 0; unit < s.unit[s.strips]; unit++) {
      const SMACOFTile  t = SMACOFGetUnitTile(&s, unit);
      const SMACOFPart *g = SMACOFFindPart(&s, SMACOFFindStrip(&s, unit));

      SMACOFFillTile(p, &t, tile);
      for (int i = t.r0; i < t.r1; i++)
        for (int j = PetscMax(t.c0, g->c0); j < PetscMin(PetscMin(t.c1, g->c1), g->bound + i); j++) {
          const float value = ((const float *)p->delta)[(size_t)i * p->ld + (size_t)j];

          PetscCheck(!seen[(size_t)i * (size_t)p->N + (size_t)j]++ && tile[(i - t.r0) * t.ld + j - t.c0] == value, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entry %d, %d is in two tiles or has another value", i, j);
        }
    }
  }
  for (int k = 0; k < p->nranges; k++)
    for (int i = p->range[k].r0; i < p->range[k].r1; i++)
      for (int j = p->range[k].c0; j < (p->range[k].kind == PASS_TRIANGLE ? p->first + i : p->range[k].c1); j++) PetscCheck(seen[(size_t)i * (size_t)p->N + (size_t)j], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entry %d, %d is in no tile", i, j);
  PetscCall(PetscFree(seen));
  PetscCall(PetscFree(tile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the ranges of a rank between others, and those of a rank that reads its rows */
static void SetRanges(SMACOFPass *p, int reading_rows)
{
  const int N = p->N, first = p->first, rows = p->rows, last = first + rows;

  p->nranges = 0;
  if (reading_rows) {
    p->range[p->nranges++] = (SMACOFPassRange){0, rows, 0, N, PASS_ROWS};
    return;
  }
  p->range[p->nranges++] = (SMACOFPassRange){0, rows, first, last, PASS_TRIANGLE};
  if (last < N) p->range[p->nranges++] = (SMACOFPassRange){0, rows, last, N, PASS_BOTH};
  if (first > 1) p->range[p->nranges++] = (SMACOFPassRange){rows / 2, rows, first / 2, first, PASS_BOTH};
}

int main(int argc, char **argv)
{
  const int sizes[] = {1, 2, 33, 700, 1100, 9001, 40000, 140000}, blocks[] = {1, 7, 264}, most[] = {1, 3, 5, 64, 512};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    for (int kind = 0; kind < 3; kind++) {
      const int  N = sizes[k];
      SMACOFPass p = {.N = N, .first = kind ? N / 3 : 0, .rows = kind ? (N + 1) / 2 : N, .single = 1, .ld = (size_t)N};
      float     *delta;

      SetRanges(&p, kind == 2);
      for (size_t b = 0; b < PETSC_STATIC_ARRAY_LENGTH(blocks); b++)
        for (size_t m = N < 40000 ? 0 : 3; m < PETSC_STATIC_ARRAY_LENGTH(most); m++)
          for (int units = 2; units <= 4; units += 2) PetscCall(CheckBlocks(&p, blocks[b], units, most[m]));
      if (N > 1100) continue;
      PetscCall(PetscMalloc1((size_t)p.rows * (size_t)N, &delta));
      for (int i = 0; i < p.rows * N; i++) delta[i] = (float)i;
      p.delta = delta;
      PetscCall(CheckContents(&p));
      PetscCall(PetscFree(delta));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "all units, chunks and entries have their places\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 1

TEST*/
