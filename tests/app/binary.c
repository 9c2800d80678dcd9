static char help[] = "Matrices and vectors in PETSc's binary format: good ones, and every way in which a file can be damaged.\n\n";

#include "checks.h"

#define FILENAME "binary-test.bin"
#define DENSE    MATRIX_BINARY_FORMAT_DENSE

/* 3 x 3: (0,1) = 1, (1,0) = 2, (1,2) = 3, (2,2) = 4; then a vector of three entries */
static const PetscInt    header[] = {MAT_FILE_CLASSID, 3, 3, 4}, lengths[] = {1, 2, 1}, columns[] = {1, 0, 2, 2}, vectorheader[] = {VEC_FILE_CLASSID, 3};
static const PetscScalar values[] = {1, 2, 3, 4}, entries[] = {5, 6, 7};

typedef struct {
  unsigned char byte[512];
  size_t        n;
} Bytes;

static PetscErrorCode Append(Bytes *b, const void *what, PetscInt n, PetscDataType type)
{
  size_t each;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeGetSize(type, &each));
  PetscCall(PetscMemcpy(b->byte + b->n, what, each * (size_t)n));
#if !defined(PETSC_WORDS_BIGENDIAN)
  PetscCall(PetscByteSwap(b->byte + b->n, type, n));
#endif
  b->n += each * (size_t)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Whole(Bytes *b)
{
  PetscFunctionBegin;
  b->n = 0;
  PetscCall(Append(b, header, 4, PETSC_INT));
  PetscCall(Append(b, lengths, 3, PETSC_INT));
  PetscCall(Append(b, columns, 4, PETSC_INT));
  PetscCall(Append(b, values, 4, PETSC_SCALAR));
  PetscCall(Append(b, vectorheader, 2, PETSC_INT));
  PetscCall(Append(b, entries, 3, PETSC_SCALAR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the file with integer number `at` replaced: 0 to 3 the header, 4 to 6 the lengths, 7 to 10 the columns */
static const struct {
  const char *name;
  int         at;
  PetscInt    value;
  const char *words;
} damages[] = {
  {"column 7 of 3", 10, 7, "row 2: column index 7 of a 3 x 3 matrix"},
  {"column 1e8 of 3", 10, 100000000, "row 2: column index 100000000 of a 3 x 3 matrix"},
  {"a negative column", 10, -5, "row 2: column index -5 of a 3 x 3 matrix"},
  {"a negative first column", 7, -1, "row 0: column index -1 of a 3 x 3 matrix"},
  {"a column twice", 9, 0, "row 1: column index 0 after 0; columns must ascend"},
  {"a row longer than a row", 4, 4, "row 0 has 4 nonzeros, in a matrix of 3 x 3 with 4"},
  {"a negative length", 5, -2, "row 1 has -2 nonzeros"},
  {"a huge length", 5, PETSC_MAX_INT, "row 1 has "},
  {"lengths add up to less", 5, 1, "the lengths of the rows add up to 3, the header says 4 nonzeros"},
  {"fewer nonzeros", 3, 3, "bytes after the matrix of 3 x 3 are not a PETSc object"},
  {"more nonzeros", 3, 2000, "too few for a 3 x 3 matrix"},
  {"as many as can be said", 3, PETSC_MAX_INT, "too few for a"},
  {"nonzeros below -1", 3, -2, "the header describes a matrix of 3 x 3 with -2 nonzeros"},
  {"negative rows", 1, -3, "the header describes a matrix of -3 x 3"},
  {"rows beyond the file", 1, PETSC_MAX_INT, "too few for a"},
  {"negative columns", 2, -3, "the header describes a matrix of 3 x -3"},
  {"too few columns", 2, 2, "row 1: column index 2 of a 3 x 2 matrix"},
  {"another kind of object", 0, VEC_FILE_CLASSID, "the file does not hold the header of a PETSc binary matrix"},
};

static PetscErrorCode Refused(const char name[], const Bytes *b, MatType type, const char words[])
{
  PetscErrorCode err;
  Mat            A;

  PetscFunctionBegin;
  PetscCall(WriteFile(FILENAME, b->byte, b->n));
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  err = GpAppMatLoad(PETSC_COMM_WORLD, FILENAME, type, &A);
  PetscCall(PetscPopErrorHandler());
  Expect(name, err, PETSC_ERR_FILE_UNEXPECTED, words);
  Expect(name, err, PETSC_ERR_FILE_UNEXPECTED, FILENAME ":");
  PetscCall(RemoveFile(FILENAME));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGood(void)
{
  const MatType type[] = {MATAIJ, NULL};
  PetscInt      first, last;
  PetscReal     norm;
  Bytes         b;
  Mat           A;
  Vec           x;

  PetscFunctionBegin;
  PetscCall(Whole(&b));
  PetscCall(WriteFile(FILENAME, b.byte, b.n));
  for (int k = 0; k < 2; k++) {
    PetscCall(GpAppMatLoad(PETSC_COMM_WORLD, FILENAME, type[k], &A));
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt r = first; r < last; r++) {
      PetscInt           n, at = r == 0 ? 0 : r == 1 ? 1 : 3;
      const PetscInt    *col;
      const PetscScalar *val;

      PetscCall(MatGetRow(A, r, &n, &col, &val));
      Verify("a good row", (PetscBool)(n == lengths[r]));
      for (PetscInt j = 0; j < n; j++) Verify("a good entry", (PetscBool)(col[j] == columns[at + j] && val[j] == values[at + j]));
      PetscCall(MatRestoreRow(A, r, &n, &col, &val));
    }
    PetscCall(MatDestroy(&A));
  }
  /* a vector alone, two of them, and one that is asked for too many */
  b.n = 0;
  for (int k = 0; k < 2; k++) {
    PetscCall(Append(&b, vectorheader, 2, PETSC_INT));
    PetscCall(Append(&b, entries, 3, PETSC_SCALAR));
  }
  PetscCall(WriteFile(FILENAME, b.byte, b.n));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, 3, &x));
  PetscCall(GpAppVecLoad(FILENAME, 1, &x));
  PetscCall(VecNorm(x, NORM_1, &norm));
  Verify("a good vector", (PetscBool)(norm == 18));
  PetscCall(VecDestroy(&x));
  PetscCall(RemoveFile(FILENAME));
  PetscCall(Conclude("good files"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestDamaged(void)
{
  Bytes b;

  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(damages) / sizeof(damages[0]); k++) {
    Bytes word = {.n = 0};

    PetscCall(Whole(&b));
    PetscCall(Append(&word, &damages[k].value, 1, PETSC_INT));
    PetscCall(PetscMemcpy(b.byte + (size_t)damages[k].at * sizeof(PetscInt), word.byte, word.n));
    PetscCall(Refused(damages[k].name, &b, MATAIJ, damages[k].words));
  }
  PetscCall(Whole(&b));
  for (size_t cut = 4 * sizeof(PetscInt); cut < b.n - 3 * sizeof(PetscScalar) - 2 * sizeof(PetscInt); cut += 3) {
    Bytes part = b;

    part.n = cut;
    PetscCall(Refused("cut off", &part, MATAIJ, "too few for a 3 x 3 matrix"));
  }
  b.n = 3 * sizeof(PetscInt);
  PetscCall(Refused("cut off within the header", &b, MATAIJ, "does not hold the header"));
  PetscCall(Conclude("damaged sparse matrices"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestDense(void)
{
  PetscInt    size[] = {MAT_FILE_CLASSID, 2, 2, DENSE}, m, n;
  PetscMPIInt rank;
  Bytes       b = {.n = 0};
  Mat         A;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(Append(&b, size, 4, PETSC_INT));
  PetscCall(Append(&b, values, 4, PETSC_SCALAR));
  PetscCall(WriteFile(FILENAME, b.byte, b.n));
  PetscCall(GpAppMatLoad(PETSC_COMM_WORLD, FILENAME, NULL, &A));
  PetscCall(MatGetSize(A, &m, &n));
  Verify("the size of a dense matrix", (PetscBool)(m == 2 && n == 2));
  PetscCall(MatDestroy(&A));
  PetscCall(Refused("dense where sparse is expected", &b, MATAIJ, "dense format where a sparse one is expected"));
  b.n -= 8;
  PetscCall(Refused("dense, cut off", &b, NULL, "too few for a 2 x 2 matrix in dense format"));
  size[1] = size[2] = PETSC_MAX_INT; /* whose product overflows */
  b.n               = 0;
  PetscCall(Append(&b, size, 4, PETSC_INT));
  PetscCall(Append(&b, values, 4, PETSC_SCALAR));
  PetscCall(Refused("dense, sizes that overflow", &b, NULL, "in dense format"));
  PetscCall(Conclude("dense matrices"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefusedVector(const char name[], const Bytes *b, PetscInt many, const char words[])
{
  PetscErrorCode err;
  Vec           *x, first;

  PetscFunctionBegin;
  PetscCall(WriteFile(FILENAME, b->byte, b->n));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, 3, &first));
  PetscCall(VecDuplicateVecs(first, many, &x));
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  err = GpAppVecLoad(FILENAME, many, x);
  PetscCall(PetscPopErrorHandler());
  Expect(name, err, PETSC_ERR_FILE_UNEXPECTED, words);
  PetscCall(VecDestroyVecs(many, &x));
  PetscCall(VecDestroy(&first));
  PetscCall(RemoveFile(FILENAME));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestVectors(void)
{
  const PetscInt other[] = {VEC_FILE_CLASSID, 4}, huge[] = {VEC_FILE_CLASSID, PETSC_MAX_INT};
  Bytes          b = {.n = 0};

  PetscFunctionBegin;
  PetscCall(Append(&b, vectorheader, 2, PETSC_INT));
  PetscCall(Append(&b, entries, 3, PETSC_SCALAR));
  PetscCall(RefusedVector("one vector where two are expected", &b, 2, "the file ends before vector 2 of 2"));
  b.n -= 1;
  PetscCall(RefusedVector("a vector cut off", &b, 1, "ends within vector 1"));
  b.n = 0;
  PetscCall(Append(&b, other, 2, PETSC_INT));
  PetscCall(Append(&b, values, 4, PETSC_SCALAR));
  PetscCall(RefusedVector("a vector of another size", &b, 1, "vector 1 has 4 entries, expected 3"));
  b.n = 0;
  PetscCall(Append(&b, huge, 2, PETSC_INT));
  PetscCall(RefusedVector("a vector of a huge size", &b, 1, "expected 3"));
  PetscCall(Whole(&b));
  PetscCall(RefusedVector("a matrix where a vector is expected", &b, 1, "in PETSc's binary format, found other data"));
  PetscCall(Conclude("vectors"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGood());
  PetscCall(TestDamaged());
  PetscCall(TestDense());
  PetscCall(TestVectors());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2 4}}
TEST*/
