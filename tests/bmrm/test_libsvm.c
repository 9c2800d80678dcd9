static char help[] = "The LIBSVM reader: numbers, good files, and every kind of bad file with the place in the message.\n\n";

#include "app/text/appscan.h"
#include "examples/bmrm/readers/examples.h"
#include <gpucsr.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 3000

static char message[1024]; /* of the last error */

static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *ctx)
{
  if (p == PETSC_ERROR_INITIAL) (void)snprintf(message, sizeof(message), "%s", mess);
  return n;
}

static PetscErrorCode Write(const char file[], const char text[], size_t length)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    FILE *fp = fopen(file, "wb");

    PetscCheck(fp && fwrite(text, 1, length, fp) == length, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", file);
    PetscCheck(!fclose(fp), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", file);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every number means what strtod() says, wherever that is defined. */
static PetscErrorCode TestNumbers(void)
{
  const char *good[] = {"0",
                        "-0",
                        "+1",
                        "1.",
                        ".5",
                        "-.5e1",
                        "1e22",
                        "1e23",
                        "123456789012345678901234567890",
                        "0.1",
                        "9007199254740993",
                        "1e-320",
                        "4.9e-324",
                        "2.2250738585072011e-308",
                        "1.7976931348623157e308",
                        "0.000000000000000000000000000001",
                        "1E+2",
                        "00012",
                        "3.141592653589793238462643383279502884",
                        "1e-22",
                        "8.5e-23",
                        "18446744073709551615",
                        "9999999999999999999e-27",
                        "9007199254740993e-1",
                        "90071992547409925e-1",
                        "0.5000000000000000277",
                        "4503599627370496.5",
                        "4503599627370497.5",
                        "0.000000000000000000012345678901234567",
                        "00000000000000000000000000012.5",
                        "9223372036854775808e-18",
                        "1e-27"};
  const char *bad[]  = {"", "+", "-", ".", "e5", "1e", "1e+", "nan", "inf", "-inf", "0x10", "--1", "abc"};
  uint64_t    s      = 42;

  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++) {
    double      v;
    const char *end = GpAppScanReal(good[k], &v);

    PetscCheck(end && !*end && v == strtod(good[k], NULL), PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s' was read as %.17g", good[k], v);
  }
  for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
    double      v;
    const char *end = GpAppScanReal(bad[k], &v);

    PetscCheck(!end || *end, PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s' passed as the number %.17g", bad[k], v);
  }
  for (int k = 0; k < 100000; k++) {
    char   text[64];
    double v = 0, expected;

    s = s * 6364136223846793005u + 1442695040888963407u;
    memcpy(&expected, &s, sizeof(expected));
    if (!(expected - expected == 0)) continue;
    (void)snprintf(text, sizeof(text), k % 3 ? "%.*g" : "%.*e", k % 18, k % 2 ? expected : (double)(int64_t)s * 1e-15);
    PetscCheck(GpAppScanReal(text, &v) == text + strlen(text) && v == strtod(text, NULL), PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s' was read as %.17g", text, v);
    (void)snprintf(text, sizeof(text), "%" PRIu64 "e-%d", s >> (s & 31), k % 28); /* all the digits there are, as dense as can be */
    PetscCheck(GpAppScanReal(text, &v) == text + strlen(text) && v == strtod(text, NULL), PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s' was read as %.17g", text, v);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "numbers are read to the last bit\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char *name, *text;
  PetscInt    M, N, nnz; /* of a good file */
  const char *error;     /* part of the message of a bad one */
} Case;

static const Case cases[] = {{"plain", "+1 1:0.5 3:-2\n-1 2:1e3\n", 2, 3, 3, NULL},
                             {"no final newline", "1 1:1\n2 2:1", 2, 2, 2, NULL},
                             {"carriage returns", "1 1:1 \r\n0 2:1\r\n", 2, 2, 2, NULL},
                             {"comments, blanks", "# head\n\n  1\t1:1   # tail 7:x\n   \n-1#\n#\n", 2, 1, 1, NULL},
                             {"qid is ignored", "1 qid:3 1:1\n-1 qid:4 2:1\n", 2, 2, 2, NULL},
                             {"empty rows", "1\n-1\n1\n", 3, 0, 0, NULL},
                             {"large index", "1 2147483647:1\n-1 1:1\n", 2, 2147483647, 2, NULL},
                             {"bad label", "1 1:1\nfoo 1:1\n", 0, 0, 0, ":2:1: expected a finite number as label, got 'foo'"},
                             {"missing label", "1 1:1\n3:1 4:1\n", 0, 0, 0, ":2:1: expected a finite number as label, got '3:1'"},
                             {"NaN label", "nan 1:1\n", 0, 0, 0, ":1:1: expected a finite number as label, got 'nan'"},
                             {"bad value", "1 1:1\n\n-1 1:1 2:x5 3:1\n", 0, 0, 0, ":3:10: expected a finite number as value, got 'x5'"},
                             {"missing value", "1 1:1\n-1 1:1 2: 3:1\n", 0, 0, 0, ":2:10: expected a finite number as value, got a blank"},
                             {"glued value", "1 1:1.5.2\n", 0, 0, 0, ":1:5: expected a finite number as value, got '1.5.2'"},
                             {"NaN value", "1 1:NaN\n", 0, 0, 0, ":1:5: expected a finite number as value, got 'NaN'"},
                             {"infinite value", "1 1:inf\n", 0, 0, 0, ":1:5: expected a finite number as value, got 'inf'"},
                             {"huge value", "1 1:1e999\n", 0, 0, 0, ":1:5: the value is too large for double precision, got '1e999'"},
                             {"no colon", "1 1:1 2\n", 0, 0, 0, ":1:7: expected <index>:<value>, got '2'"},
                             {"not an index", "1 -3:1\n", 0, 0, 0, ":1:3: expected <index>:<value>, got '-3:1'"},
                             {"index zero", "1 1:1\n1 0:1\n", 0, 0, 0, ":2:3: indices are counted from 1, got '0:1'"},
                             {"falling indices", "1 2:1 1:1\n", 0, 0, 0, ":1:7: indices must ascend within a line, got '1:1'"},
                             {"repeated index", "1 2:1 2:1\n", 0, 0, 0, ":1:7: indices must ascend within a line, got '2:1'"},
                             {"bad qid", "1 qid:x 2:1\n", 0, 0, 0, ":1:3: expected qid:<number>, got 'qid:x'"},
                             {"index too large", "1 1:1\n1 99999999999999999999:1\n", 0, 0, 0, ":2:3: the index does not fit PetscInt"},
                             {"unprintable", "1 \001\002:1\n", 0, 0, 0, ":1:3: expected <index>:<value>, got '?\?:1'"},
                             {"empty file", "", 0, 0, 0, "the file holds no examples"},
                             {"only comments", "# nothing\n\n", 0, 0, 0, "the file holds no examples"},
                             {"compressed", "\x1f\x8b\x08", 0, 0, 0, "gzip cannot decompress"}};

static PetscErrorCode TestCase(const Case *c)
{
  const char    *file = "test_libsvm.tmp";
  BMRMExamples   ex;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(Write(file, c->text, strlen(c->text)));
  message[0] = 0;
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = BMRMExamplesLoad(PETSC_COMM_WORLD, file, &ex);
  PetscCall(PetscPopErrorHandler());
  if (c->error) {
    PetscCheck(ierr, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: no error", c->name);
    PetscCheck(strstr(message, c->error) && strstr(message, file), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the message is '%s'", c->name, message);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", c->name, message));
  } else {
    PetscCheck(!ierr, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s", c->name, message);
    PetscCheck(ex.M == c->M && ex.N == c->N && ex.nnz == c->nnz, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " x %" PetscInt_FMT " with %" PetscInt64_FMT " entries", c->name, ex.M, ex.N, ex.nnz);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: read\n", c->name));
  }
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* row i has i mod 7 entries, but one row is longer than any buffer at first */
static PetscInt Length(PetscInt i)
{
  return i == MANY / 2 ? 40000 : i % 7;
}

/* The matrix holds what the rows hold, whatever its type, also after the examples have gone. */
static PetscErrorCode TestMat(BMRMExamples *ex)
{
  const MatType types[] = {MATAIJ, MATMPIAIJ, MATGPUCSR, MATBAIJ, MATDENSE};
  Mat           reference, X;
  PetscBool     same;

  PetscFunctionBegin;
  PetscCall(MatCreate(ex->comm, &reference));
  PetscCall(MatSetSizes(reference, ex->m, PETSC_DECIDE, ex->M, ex->N + 10));
  PetscCall(MatSetType(reference, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(reference, ex->i, ex->j, ex->a));
  PetscCall(MatMPIAIJSetPreallocationCSR(reference, ex->i, ex->j, ex->a));
  for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
    BMRMExamples again;

    PetscCall(BMRMExamplesLoad(ex->comm, "test_libsvm.tmp", &again));
    PetscCall(BMRMExamplesCreateMat(&again, ex->N + 10, types[t], &X)); /* padded */
    PetscCall(BMRMExamplesDestroy(&again));
    PetscCall(MatMultEqual(reference, X, 3, &same));
    PetscCheck(same, ex->comm, PETSC_ERR_PLIB, "type %s is another matrix", types[t]);
    PetscCall(MatDestroy(&X));
  }
  PetscCall(MatDestroy(&reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A file of many lines: every row arrives, once, in order, whichever rank reads it; with and without a bad line far inside. */
static PetscErrorCode TestMany(PetscInt bad)
{
  const char    *file = "test_libsvm.tmp";
  char          *text, expected[128];
  size_t         n = 0;
  BMRMExamples   ex;
  PetscErrorCode ierr;
  PetscInt       start = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(100 * MANY + 16 * 40000, &text));
  for (PetscInt i = 0; i < MANY; i++) {
    n += (size_t)sprintf(text + n, "%d", (int)(i % 2));
    for (PetscInt k = 0; k < Length(i); k++) n += (size_t)sprintf(text + n, " %d:%d.25", (int)(k * 2 + 1), (int)(i + k));
    n += (size_t)sprintf(text + n, i == bad ? " 1:oops\n" : i % 5 ? "\n" : " # five\n\n");
  }
  PetscCall(Write(file, text, n));
  PetscCall(PetscFree(text));
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = BMRMExamplesLoad(PETSC_COMM_WORLD, file, &ex);
  PetscCall(PetscPopErrorHandler());
  if (bad >= 0) {
    (void)snprintf(expected, sizeof(expected), ":%d:5: expected a finite number as value, got 'oops'", (int)(bad + 1 + (bad + 4) / 5));
    PetscCheck(ierr && strstr(message, expected), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the message is '%s', expected '%s'", message, expected);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a bad line among many: %s\n", message));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(!ierr, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s", message);
  PetscCallMPI(MPI_Scan(&ex.m, &start, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  start -= ex.m;
  PetscCheck(ex.M == MANY, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " rows", ex.M);
  for (PetscInt r = 0; r < ex.m; r++) {
    const PetscInt i = start + r;

    PetscCheck(ex.label[r] == i % 2 && ex.i[r + 1] - ex.i[r] == Length(i), PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %" PetscInt_FMT " is wrong", i);
    for (PetscInt k = 0; k < Length(i); k++) PetscCheck(ex.j[ex.i[r] + k] == 2 * k && PetscRealPart(ex.a[ex.i[r] + k]) == i + k + 0.25, PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %" PetscInt_FMT " is wrong", i);
  }
  PetscCall(TestMat(&ex));
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "many lines arrive in order\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of a file are what strtod() makes of their text, short ones above all: digits alone, with signs, fractions and exponents. */
static PetscErrorCode TestValues(void)
{
  const char  *file = "test_libsvm.tmp", *forms[] = {"%u", "-%u", "%u.", ".%u", "%u.5", "0.%05u", "%ue-3", "+%uE2"};
  const int    rows = 500, each = 40;
  char        *text, (*token)[24];
  size_t       n     = 0;
  uint64_t     s     = 7;
  PetscInt     start = 0;
  BMRMExamples ex;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)rows * (each * 32 + 8), &text, (size_t)rows * each, &token));
  for (int i = 0; i < rows; i++) {
    n += (size_t)sprintf(text + n, "%d", i % 10);
    for (int k = 0; k < each; k++) {
      static const unsigned limit[] = {10, 10, 100, 1000, 100000};

      s = s * 6364136223846793005u + 1442695040888963407u;
      (void)snprintf(token[i * each + k], sizeof(*token), forms[(s >> 40) % 2 ? 0 : (s >> 41) % (sizeof(forms) / sizeof(forms[0]))], (unsigned)(s >> 33) % limit[(s >> 50) % 5]);
      n += (size_t)sprintf(text + n, "%s%d:%s", (s >> 60) ? " " : "\t ", k + 1, token[i * each + k]);
    }
    n += (size_t)sprintf(text + n, "%s", i % 3 ? "\n" : i % 2 ? "#1:1\n" : "\r\n");
  }
  PetscCall(Write(file, text, n));
  PetscCall(BMRMExamplesLoad(PETSC_COMM_WORLD, file, &ex));
  PetscCallMPI(MPI_Scan(&ex.m, &start, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  start -= ex.m;
  PetscCheck(ex.M == rows && ex.nnz == rows * each, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " rows, %" PetscInt64_FMT " entries", ex.M, ex.nnz);
  for (PetscInt k = 0; k < ex.m * each; k++) {
    const char *value = token[start * each + k];

    PetscCheck(PetscRealPart(ex.a[k]) == (PetscReal)strtod(value, NULL) && ex.j[k] == k % each, PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s' was read as %.17g", value, (double)PetscRealPart(ex.a[k]));
  }
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscCall(PetscFree2(text, token));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "values of all forms are read to the last bit\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestClasses(const char text[], const char error[])
{
  const char      *file = "test_libsvm.tmp";
  BMRMExamples     ex;
  const PetscReal *classes = NULL;
  PetscInt         n       = 0;
  PetscErrorCode   ierr;

  PetscFunctionBegin;
  PetscCall(Write(file, text, strlen(text)));
  PetscCall(BMRMExamplesLoad(PETSC_COMM_WORLD, file, &ex));
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = BMRMExamplesGetClasses(&ex, PETSC_TRUE, &n, &classes);
  PetscCall(PetscPopErrorHandler());
  if (error) {
    PetscCheck(ierr && strstr(message, error), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the message is '%s'", message);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "classes: %s\n", message));
  } else {
    PetscCheck(!ierr && n == 2 && classes[0] < classes[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "two classes are not found");
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "classes: %g and %g\n", (double)classes[0], (double)classes[1]));
  }
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels as numbers of their classes, queries as they are. */
static PetscErrorCode TestQueries(void)
{
  const char *text = "3 qid:12 1:1\n# c\n-1 qid:7 1:2\n8 1:3\n3 qid:12\n", *file = "test_libsvm.tmp";
  const PetscReal class[] = {1, 0, 2, 1}, query[] = {12, 7, -1, 12};
  const PetscReal   *classes;
  const PetscScalar *a;
  BMRMExamples       ex;
  PetscInt           n, start, end;
  Mat                X;
  Vec                v[2];

  PetscFunctionBegin;
  PetscCall(Write(file, text, strlen(text)));
  PetscCall(BMRMExamplesLoad(PETSC_COMM_WORLD, file, &ex));
  PetscCall(BMRMExamplesGetClasses(&ex, PETSC_FALSE, &n, &classes));
  PetscCheck(n == 3 && classes[0] == -1 && classes[1] == 3 && classes[2] == 8, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "three classes are not found");
  PetscCall(BMRMExamplesCreateMat(&ex, PETSC_DECIDE, MATAIJ, &X));
  PetscCall(BMRMExamplesCreateLabels(&ex, n, classes, PETSC_FALSE, X, &v[0]));
  PetscCall(BMRMExamplesCreateQueries(&ex, X, &v[1]));
  PetscCall(VecGetOwnershipRange(v[0], &start, &end));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecGetArrayRead(v[k], &a));
    for (PetscInt i = start; i < end; i++) PetscCheck(PetscRealPart(a[i - start]) == (k ? query : class)[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s of example %" PetscInt_FMT ": %g", k ? "query" : "class", i, (double)PetscRealPart(a[i - start]));
    PetscCall(VecRestoreArrayRead(v[k], &a));
    PetscCall(VecDestroy(&v[k]));
  }
  PetscCall(MatDestroy(&X));
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "classes and queries\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  BMRMExamples   ex;
  PetscErrorCode ierr;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsSetValue(NULL, "-mat_gpucsr_storage", "double"));
  PetscCall(TestNumbers());
  for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) PetscCall(TestCase(&cases[k]));
  PetscCall(TestMany(-1));
  PetscCall(TestMany(0));
  PetscCall(TestMany(MANY - 18));
  PetscCall(TestValues());
  PetscCall(TestClasses("2 1:1\n1 1:1\n2 1:1\n1 1:1\n", NULL));
  PetscCall(TestClasses("+1 1:1\n-1 1:1\n-1.0 1:1\n", NULL));
  PetscCall(TestClasses("1 1:1\n1 2:1\n", "all labels are 1, expected two classes"));
  PetscCall(TestClasses("1 1:1\n3 1:1\n# c\n2 2:1\n", "expected two classes, got more: 1 (line 1), 2 (line 4), 3 (line 2)"));
  PetscCall(TestQueries());
  if (!rank) (void)remove("test_libsvm.tmp");
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = BMRMExamplesLoad(PETSC_COMM_WORLD, "test_libsvm.tmp", &ex);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "no error for a file that is not there");
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no file: %s\n", message));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: double !define(PETSC_USE_64BIT_INDICES)
      output_file: output/test_libsvm_1.out
      test:
         suffix: 1
      test:
         suffix: 3
         nsize: 3
      test:
         suffix: 5
         nsize: 5

TEST*/
