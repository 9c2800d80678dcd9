static char help[] = "The Matrix Market reader: good files, and every kind of bad file with the place in the message.\n\n";

#include "app/market/appmarket.h"
#include "checks.h"
#include <math.h>

#define FILENAME "market-test.mtx"
#define HEAD     "%%MatrixMarket matrix coordinate real general\n"
#define ALL      (GP_MARKET_SQUARE | GP_MARKET_NONNEGATIVE)

/* sum: over the expanded entries of value x (2 row + 3 column + 1), rows and columns from 0 */
static const struct {
  const char *name, *text;
  int         wants;
  PetscInt64  M, N, entries, expanded;
  double      sum;
} good[] = {
  {"general", HEAD "3 4 2\n1 1 5\n3 4 2\n", 0, 3, 4, 2, 2, 5 + 2 * 14},
  {"comments, blanks, CRLF", HEAD "% a\r\n\r\n%b\n 3\t4 2 \r\n% c\n\n1 1 5\r\n\n3 4 2", 0, 3, 4, 2, 2, 5 + 2 * 14},
  {"capital letters", "%%matrixmarket MATRIX Coordinate Integer GENERAL\n2 2 1\n2 1 -7\n", 0, 2, 2, 1, 1, -7 * 3},
  {"pattern", "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n", 0, 2, 3, 2, 2, 7 + 3},
  {"symmetric", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 3\n", ALL, 3, 3, 3, 5, 1 + 2 * 7 + 3 * 17},
  {"skew-symmetric", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 2\n3 2 3\n", GP_MARKET_SQUARE, 3, 3, 2, 4, 2 * (3 - 4) + 3 * -1},
  {"an entry twice", HEAD "2 2 2\n1 1 1\n1 1 2\n", 0, 2, 2, 2, 2, 3},
  {"array", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", 0, 2, 3, 6, 6, 1 + 6 + 12 + 24 + 35 + 54},
  {"array without zeros", "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n4\n", GP_MARKET_NONZERO, 2, 2, 4, 2, 1 + 24},
  {"symmetric array", "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n4\n", 0, 2, 2, 3, 4, 1 + 2 * 7 + 24},
  {"skew-symmetric array", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n4\n", 0, 3, 3, 3, 6, 3 - 4 + 2 * (5 - 7) + 4 * (8 - 9)},
  {"no entries", HEAD "5 5 0\n", 0, 5, 5, 0, 0, 0},
};

static const struct {
  const char *name, *text;
  int         wants;
  const char *words;
} bad[] = {
  {"truncated symmetric", "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 4\n2 1\n3 2\n", 0, "the header says 4 entries, the file holds 2"},
  {"truncated general", HEAD "3 3 5\n1 2 1\n", 0, "the header says 5 entries, the file holds 1"},
  {"truncated array", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n", 0, "the header says 4 entries, the file holds 2"},
  {"an entry too many", HEAD "% c\n3 3 1\n\n1 2 1\n% c\n2 2 1\n", 0, ":7: entry 2 of a matrix whose header says 1"},
  {"truncated within", HEAD "3 3 2\n1 2 1\n2 ", 0, ":4: expected <row> <column> <value>, got the end of the line"},
  {"no sizes", HEAD "% nothing\n", 0, "expected the sizes of the matrix"},
  {"two sizes", HEAD "3 3\n1 1 1\n", 0, ":2: expected the sizes <rows> <columns> <entries>"},
  {"sizes of an array", "%%MatrixMarket matrix array real general\n2 2 4\n1\n", 0, ":2: expected the sizes <rows> <columns>"},
  {"a negative size", HEAD "3 -3 1\n1 1 1\n", 0, ":2: expected the sizes"},
  {"no rows", HEAD "0 0 0\n", 0, ":2: a matrix of 0 x 0"},
  {"not square", HEAD "3 4 1\n1 1 1\n", GP_MARKET_SQUARE, ":2: expected as many rows as columns, got 3 x 4"},
  {"symmetric, not square", "%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n1 1 1\n", 0, ":2: expected as many rows as columns"},
  {"huge sizes", HEAD "2147483646 2147483646 1\n1 2 1\n", 0, ":2: 2147483646 rows and 2147483646 columns in a file of"},
  {"huger sizes", HEAD "99999999999 99999999999 1\n1 2 1\n", 0, ":2: 99999999999 rows and 99999999999 columns "},
  {"sizes beyond 64 bits", HEAD "99999999999999999999 3 1\n1 2 1\n", 0, ":2: expected the sizes"},
  {"huge entries", HEAD "3 3 999999999999999999\n1 2 1\n", 0, ":2: 999999999999999999 entries in a file of"},
  {"a huge array", "%%MatrixMarket matrix array real general\n1000000 1000000\n1\n", 0, ":2: an array of 1000000 x 1000000 in a file of"},
  {"row 0", HEAD "3 3 1\n0 1 1\n", 0, ":3: expected a row from 1 to 3 and a column from 1 to 3, got '0'"},
  {"row 4 of 3", HEAD "3 3 1\n4 1 1\n", 0, ":3: expected a row from 1 to 3"},
  {"column 9 of 3", HEAD "3 3 2\n1 1 1\n1 9 1\n", 0, ":4: expected a row from 1 to 3 and a column from 1 to 3, got '9'"},
  {"a negative column", HEAD "3 3 1\n1 -1 1\n", 0, ":3: expected <row> <column> <value>, got '-1'"},
  {"a fractional row", HEAD "3 3 1\n1.5 1 1\n", 0, ":3: expected <row> <column> <value>, got '1.5'"},
  {"a word", HEAD "3 3 1\n1 1 x\n", 0, ":3: expected a finite value, got 'x'"},
  {"no value", HEAD "3 3 1\n1 1\n", 0, ":3: expected a finite value, got the end of the line"},
  {"a value of a pattern", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n", 0, ":3: expected the end of the line, got '1'"},
  {"two values", HEAD "3 3 1\n1 1 1 2\n", 0, ":3: expected the end of the line, got '2'"},
  {"nan", HEAD "3 3 1\n1 1 nan\n", 0, ":3: expected a finite value, got 'nan'"},
  {"an infinity", HEAD "3 3 1\n1 1 1e999\n", GP_MARKET_NAN, ":3: expected a finite value, got '1e999'"},
  {"a negative value", HEAD "3 3 1\n1 1 -1\n", GP_MARKET_NONNEGATIVE, ":3: expected a value that is finite and not negative"},
  {"half an integer", "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 0.5\n", 0, ":3: expected a whole number, got '0.5'"},
  {"a skew diagonal", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n1 1 2\n", 0, ":3: the diagonal of a skew-symmetric matrix is zero"},
  {"complex", "%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 1 2 3\n", 0, ":1: expected a real matrix, got 'complex'"},
  {"hermitian", "%%MatrixMarket matrix coordinate complex hermitian\n3 3 1\n1 1 2 3\n", 0, ":1: expected a real matrix"},
  {"another object", "%%MatrixMarket vector coordinate real general\n3 1\n1 2\n", 0, ":1: expected %%MatrixMarket matrix"},
  {"a banner cut off", "%%MatrixMarket matrix\n3 3 1\n1 1 1\n", 0, ":1: expected %%MatrixMarket matrix"},
  {"an array of patterns", "%%MatrixMarket matrix array pattern general\n3 3\n", 0, ":1: expected %%MatrixMarket matrix"},
  {"no banner", "3 3 1\n1 1 1\n", 0, "expected a Matrix Market file"},
  {"an empty file", "", 0, "expected a Matrix Market file"},
};

static PetscErrorCode TestGood(void)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++) {
    double      sum = 0;
    PetscInt64  n;
    GpAppMarket mk;

    PetscCall(WriteFile(FILENAME, good[k].text, strlen(good[k].text)));
    PetscCall(GpAppMarketRead(PETSC_COMM_WORLD, FILENAME, good[k].wants, &mk));
    PetscCall(GpAppMarketExpand(&mk));
    for (PetscInt64 e = 0; e < mk.n; e++) sum += (mk.pattern ? 1 : mk.a[e]) * (double)(2 * mk.i[e] + 3 * mk.j[e] + 1);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
    PetscCallMPI(MPI_Allreduce(&mk.n, &n, 1, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
    Verify(good[k].name, (PetscBool)(mk.M == good[k].M && mk.N == good[k].N && mk.entries == good[k].entries && n == good[k].expanded && sum == good[k].sum));
    PetscCall(GpAppMarketDestroy(&mk));
    PetscCall(RemoveFile(FILENAME));
  }
  PetscCall(Conclude("good files"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBad(void)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
    PetscErrorCode err;
    GpAppMarket    mk;

    PetscCall(WriteFile(FILENAME, bad[k].text, strlen(bad[k].text)));
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    err = GpAppMarketRead(PETSC_COMM_WORLD, FILENAME, bad[k].wants, &mk);
    PetscCall(PetscPopErrorHandler());
    Expect(bad[k].name, err, PETSC_ERR_FILE_UNEXPECTED, bad[k].words);
    PetscCall(RemoveFile(FILENAME));
  }
  PetscCall(Conclude("bad files"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a file that several ranks share: 20000 entries behind comments that fill the first rank's part, and one too many at the end */
static PetscErrorCode TestLarge(void)
{
  const PetscInt n = 20000;
  char          *text, *to;
  GpAppMarket    mk;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(40 * n + 200000, &text));
  to = text + sprintf(text, "%s", HEAD);
  for (int k = 0; k < 2000; k++) to += sprintf(to, "%% a comment of some length, to fill the first part of the file, line %d\n", k);
  to += sprintf(to, "%d %d %d\n", (int)n, (int)n, (int)n);
  for (PetscInt k = 1; k <= n; k++) to += sprintf(to, "%d %d %d\n", (int)k, (int)(n + 1 - k), (int)k);
  for (int more = 0; more < 2; more++) {
    PetscErrorCode err;

    PetscCall(WriteFile(FILENAME, text, (size_t)(to - text)));
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    err = GpAppMarketRead(PETSC_COMM_WORLD, FILENAME, ALL, &mk);
    PetscCall(PetscPopErrorHandler());
    if (!more) {
      PetscInt64 all;

      Expect("large", err, PETSC_SUCCESS, NULL);
      for (PetscInt64 e = 0; e < mk.n; e++) Verify("an entry", (PetscBool)(mk.i[e] + mk.j[e] == n - 1 && mk.a[e] == (double)mk.i[e] + 1));
      PetscCallMPI(MPI_Allreduce(&mk.n, &all, 1, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
      Verify("the number of entries", (PetscBool)(all == n));
      PetscCall(GpAppMarketDestroy(&mk));
    } else Expect("large, an entry too many", err, PETSC_ERR_FILE_UNEXPECTED, ":22003: entry 20001 of a matrix whose header says 20000");
    PetscCall(RemoveFile(FILENAME));
    to += sprintf(to, "1 1 1\n");
  }
  PetscCall(PetscFree(text));
  PetscCall(Conclude("a large file"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGood());
  PetscCall(TestBad());
  PetscCall(TestLarge());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2 4}}
TEST*/
