static char help[] = "How a pass of smacof on a GPU is cut into runs: every unit is one run's, every pair is in a unit, every partial sum has a place of its own.\n\n";

#include <petscsys.h>
#include "examples/smacof/passruns.h"
#include "gpucsrcompat.h"

#define SUMS 3

/* every unit is that of one run, and of the strip that it is found in; long runs come first, and are longer */
static PetscErrorCode CheckUnits(const PassRuns *s)
{
  const int all = s->unit[s->strips], runs = PassRunsCount(s);

  PetscFunctionBeginUser;
  PetscCheck(PassRunBegin(s, 0) == 0 && PassRunBegin(s, runs) == all, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d runs end at unit %d of %d", runs, PassRunBegin(s, runs), all);
  PetscCheck(s->longs <= runs && (!s->longs || s->length > s->rest), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d long runs of %d, the rest of %d", s->longs, s->length, s->rest);
  for (int run = 0; run < runs; run++) {
    PetscCheck(PassRunBegin(s, run) < PassRunBegin(s, run + 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Run %d is empty", run);
    for (int unit = PassRunBegin(s, run); unit < PassRunBegin(s, run + 1); unit++) PetscCheck(PassRunOf(s, unit) == run, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Unit %d is of run %d, not of %d", unit, run, PassRunOf(s, unit));
  }
  for (int strip = 0; strip < s->strips; strip++)
    for (int unit = s->unit[strip]; unit < s->unit[strip + 1]; unit++) PetscCheck(PassStripOf(s, unit) == strip, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Unit %d is of strip %d, not of %d", unit, strip, PassStripOf(s, unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a strip's units reach from the first column to the last one of its rows, and no further than there is memory for the sums of their columns */
static PetscErrorCode CheckStrips(const PassRuns *s)
{
  PetscFunctionBeginUser;
  PetscCheck(s->left <= s->c0 && s->left % PASS_UNIT == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Column %d comes before the first unit, at %d", s->c0, s->left);
  for (int strip = 0; strip < s->strips; strip++) {
    const int units = s->unit[strip + 1] - s->unit[strip], last = PassStripBottom(s, strip) - 1, end = PetscMin(s->c1, s->bound + last);

    PetscCheck(units > 0 && PassStripRight(s, strip) >= end && s->left + PASS_UNIT * units >= PassStripRight(s, strip), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Strip %d has %d units, and columns up to %d", strip, units, end);
    PetscCheck(PassColumnSums(s, SUMS, strip) + (size_t)units * PASS_UNIT * SUMS == PassColumnSums(s, SUMS, strip + 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Sums of the columns of strip %d overlap others", strip);
  }
  PetscCheck(PassStripBottom(s, s->strips - 1) == s->row1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The strips end at row %d of %d", PassStripBottom(s, s->strips - 1), s->row1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* runs and strips in their order: places for sums of rows grow, and stay within what is counted */
static PetscErrorCode CheckSums(const PassRuns *s)
{
  const size_t each = (size_t)s->height * SUMS;
  size_t       free = 0;

  PetscFunctionBeginUser;
  for (int run = 0, strip = 0; run < PassRunsCount(s); run++) {
    for (int unit = PassRunBegin(s, run), end = PassRunBegin(s, run + 1); unit < end; unit = s->unit[++strip]) {
      const size_t at = PassRowSums(s, SUMS, run, strip);

      PetscCheck(at >= free && at + each <= PassRowSumsCount(s, SUMS), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Run %d and strip %d have sums of rows at %zu, free is %zu, all are %zu", run, strip, at, free, PassRowSumsCount(s, SUMS));
      free = at + each;
      if (s->unit[strip + 1] > end) break;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(int N, int first, PassRange g, int height, int blocks, int *cuts)
{
  PassRuns s;

  PetscFunctionBeginUser;
  if (g.r0 >= g.r1 || g.c0 >= g.c1) PetscFunctionReturn(PETSC_SUCCESS);
  for (int row0 = g.r0; row0 < g.r1; row0 = s.row1, ++*cuts) {
    PassRunsMake(&s, &g, first, N, row0, height, blocks);
    PetscCall(CheckUnits(&s));
    PetscCall(CheckStrips(&s));
    PetscCall(CheckSums(&s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const int sizes[] = {1, 2, 5, 33, 515, 1100, 9001, 16384, 100000, 140000}, blocks[] = {1, 7, 264, 396};
  int       cuts = 0;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    for (size_t b = 0; b < PETSC_STATIC_ARRAY_LENGTH(blocks); b++) {
      const int N = sizes[k], first = N / 3, rows = (N + 1) / 2, last = first + rows;

      for (int height = 256; height <= 512; height *= 2) {
        PetscCall(Check(N, 0, (PassRange){0, N, 0, N, PASS_TRIANGLE}, height, blocks[b], &cuts));
        PetscCall(Check(N, first, (PassRange){0, rows, first, last, PASS_TRIANGLE}, height, blocks[b], &cuts));
        PetscCall(Check(N, first, (PassRange){0, rows, 0, N, PASS_ROWS}, height, blocks[b], &cuts));
        PetscCall(Check(N, first, (PassRange){0, rows, last, N, PASS_BOTH}, height, blocks[b], &cuts));
        PetscCall(Check(N, first, (PassRange){rows / 2, rows, first / 2, first, PASS_BOTH}, height, blocks[b], &cuts));
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d ranges are cut so that all units, strips and sums have their places\n", cuts));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 1

TEST*/
