static char help[] = "How a pass of smacof on a GPU is cut into runs: every unit is one run's, every pair is in a unit, every partial sum has a place of its own.\n\n";

#include <petscsys.h>
#include "solvers/smacof/pass/passruns.h"
#include "gpucsrcompat.h"

#define SUMS 3

/* every unit is that of one run, and of the strip that it is found in; long runs come first, and are longer */
static PetscErrorCode CheckUnits(const SMACOFRuns *s)
{
  const int all = s->unit[s->strips], runs = SMACOFCountRuns(s);

  PetscFunctionBeginUser;
  PetscCheck(SMACOFGetRunBegin(s, 0) == 0 && SMACOFGetRunBegin(s, runs) == all, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d runs end at unit %d of %d", runs, SMACOFGetRunBegin(s, runs), all);
  PetscCheck(s->longs <= runs && (!s->longs || s->length > s->rest), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d long runs of %d, the rest of %d", s->longs, s->length, s->rest);
  for (int run = 0; run < runs; run++) {
    PetscCheck(SMACOFGetRunBegin(s, run) < SMACOFGetRunBegin(s, run + 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Run %d is empty", run);
    for (int unit = SMACOFGetRunBegin(s, run); unit < SMACOFGetRunBegin(s, run + 1); unit++) PetscCheck(SMACOFFindRun(s, unit) == run, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Unit %d is of run %d, not of %d", unit, run, SMACOFFindRun(s, unit));
  }
  for (int strip = 0; strip < s->strips; strip++)
    for (int unit = s->unit[strip]; unit < s->unit[strip + 1]; unit++) PetscCheck(SMACOFFindStrip(s, unit) == strip, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Unit %d is of strip %d, not of %d", unit, strip, SMACOFFindStrip(s, unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the parts are the rows that come next, of ranges of one kind; a strip's units reach from the first column to the last one of its rows, and no further than there is memory for the sums of their columns */
static PetscErrorCode CheckStrips(const SMACOFPass *p, const SMACOFRuns *s, int *range, int *row)
{
  int strip = 0;

  PetscFunctionBeginUser;
  for (int k = 0; k < s->parts; k++) {
    const SMACOFPart      *g  = &s->part[k];
    const SMACOFPassRange *of = &p->range[*range];

    PetscCheck(g->row0 == PetscMax(*row, of->r0) && g->row0 < g->row1 && g->row1 <= of->r1 && g->c0 == of->c0 && g->c1 == of->c1 && s->both == (of->kind != PASS_ROWS), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Part %d is not what comes next", k);
    PetscCheck(g->left <= g->c0 && g->left % PASS_UNIT == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Column %d comes before the first unit, at %d", g->c0, g->left);
    PetscCheck(s->point0 <= p->first + g->row0 && s->point1 >= p->first + g->row1 && (!s->both || (s->point0 <= g->c0 && s->point1 >= SMACOFGetPartRight(g))), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Part %d has other points than those from %d to %d", k,
               s->point0, s->point1 - 1);
    for (; strip < SMACOFGetPartEnd(s, g); strip++) {
      const int units = s->unit[strip + 1] - s->unit[strip], last = SMACOFGetStripBottom(s, g, strip) - 1, right = SMACOFGetStripRight(s, g, strip), end = PetscMin(g->c1, g->bound + last);

      PetscCheck(SMACOFFindPart(s, strip) == g, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Strip %d is not one of part %d", strip, k);
      PetscCheck(units > 0 && right >= end && g->left + PASS_UNIT * units >= right, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Strip %d has %d units, and columns up to %d", strip, units, end);
      PetscCheck(SMACOFGetColumnSums(s, SUMS, strip) + (size_t)units * PASS_UNIT * SUMS == SMACOFGetColumnSums(s, SUMS, strip + 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Sums of the columns of strip %d overlap others", strip);
    }
    PetscCheck(SMACOFGetStripBottom(s, g, strip - 1) == g->row1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The strips end at row %d of %d", SMACOFGetStripBottom(s, g, strip - 1), g->row1);
    *row = g->row1;
    if (*row < of->r1) continue;
    *row = 0;
    do ++*range;
    while (*range < p->nranges && p->range[*range].r0 >= p->range[*range].r1);
  }
  PetscCheck(strip == s->strips && strip <= PASS_STRIPS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "There are %d strips, not %d", strip, s->strips);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* runs and strips in their order: places for sums of rows grow, and stay within what is counted */
static PetscErrorCode CheckSums(const SMACOFRuns *s)
{
  const size_t each = (size_t)s->height * SUMS;
  size_t       free = 0;

  PetscFunctionBeginUser;
  for (int run = 0, strip = 0; run < SMACOFCountRuns(s); run++) {
    for (int unit = SMACOFGetRunBegin(s, run), end = SMACOFGetRunBegin(s, run + 1); unit < end; unit = s->unit[++strip]) {
      const size_t at = SMACOFGetRowSums(s, SUMS, run, strip);

      PetscCheck(at >= free && at + each <= SMACOFCountRowSums(s, SUMS), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Run %d and strip %d have sums of rows at %zu, free is %zu, all are %zu", run, strip, at, free, SMACOFCountRowSums(s, SUMS));
      free = at + each;
      if (s->unit[strip + 1] > end) break;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the passes of a rank between others; a range without rows or columns is none */
static PetscErrorCode Check(int N, int first, const SMACOFPassRange g[], int n, int height, int blocks, int *cuts)
{
  SMACOFPass p     = {.N = N, .first = first};
  SMACOFRuns s     = {0};
  int        range = 0, row = 0;

  PetscFunctionBeginUser;
  for (int k = 0; k < n; k++)
    if (g[k].r0 < g[k].r1 && g[k].c0 < g[k].c1) p.range[p.nranges++] = g[k];
  for (; SMACOFRunsSetNext(&s, &p, height, blocks); ++*cuts) {
    PetscCall(CheckUnits(&s));
    PetscCall(CheckStrips(&p, &s, &range, &row));
    PetscCall(CheckSums(&s));
  }
  PetscCheck(range == p.nranges && row == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The runs end in range %d of %d", range, p.nranges);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const int sizes[] = {1, 2, 5, 33, 515, 1100, 9001, 16384, 100000, 140000}, blocks[] = {1, 7, 264, 396};
  int       cuts = 0;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    for (size_t b = 0; b < PETSC_STATIC_ARRAY_LENGTH(blocks); b++) {
      const int             N = sizes[k], first = N / 3, rows = (N + 1) / 2, last = first + rows;
      const SMACOFPassRange all = {0, N, 0, N, PASS_TRIANGLE}, some[] = {{0, rows, first, last, PASS_TRIANGLE}, {0, rows, last, N, PASS_BOTH}, {0, rows, 0, first / 2, PASS_BOTH}, {rows / 2, rows, first / 2, first, PASS_BOTH}};
      const SMACOFPassRange mixed[] = {{0, rows, 0, N, PASS_ROWS}, {0, rows, first, last, PASS_ROWS}, {0, rows, last, N, PASS_BOTH}};

      for (int height = 256; height <= 512; height *= 2) {
        PetscCall(Check(N, 0, &all, 1, height, blocks[b], &cuts));
        for (int g = 0; g < 4; g++) PetscCall(Check(N, first, &some[g], 1, height, blocks[b], &cuts));
        PetscCall(Check(N, first, some, 4, height, blocks[b], &cuts));
        PetscCall(Check(N, first, mixed, 3, height, blocks[b], &cuts));
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d cuts of ranges: all units, strips and sums have their places\n", cuts));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 1

TEST*/
