/* The readers of kmeans: idx, MineBench and LIBSVM files, and points whose format is recognised. */
#include "examples/kmeans/points.h"
#include "fuzz.h"
#include <string.h>

#define HEADER 20 /* bytes of the longest header of a binary file */

/* Reads points, with some of their columns if the choice is odd, and checks them. */
static PetscErrorCode LoadPoints(const char file[], PointSetFormat format, uint64_t choice, PointSet *P, char wrong[FUZZ_WRONG])
{
  static const char *const columns[] = {"", "0", "", "1,0", "", "0-2", "", "2"};
  static PointSetOptions   o;
  const char              *at;
  PetscInt                 N, d;

  PetscFunctionBegin;
  o.format = format;
  PetscCall(PetscStrncpy(o.file, file, sizeof(o.file)));
  PetscCall(PetscStrncpy(o.columns, columns[choice % 8], sizeof(o.columns)));
  PetscCall(PointSetLoad(PETSC_COMM_SELF, &o, P));
  PetscCall(MatGetSize(P->X, &N, &d));
  FUZZ_EXPECT(N > 0 && d > 0 && (!o.columns[0] || d == (choice % 8 == 5 ? 3 : choice % 8 == 3 ? 2 : 1)), "%lld points, %lld features, columns '%s'", (long long)N, (long long)d, o.columns);
  for (PetscInt i = 0; i < N; i++) {
    const PetscInt    *j;
    const PetscScalar *a;
    PetscInt           n;

    PetscCall(MatGetRow(P->X, i, &n, &j, &a));
    for (PetscInt k = 0; k < n; k++) FUZZ_EXPECT(j[k] >= 0 && j[k] < d && (!k || j[k] > j[k - 1]) && !PetscIsInfOrNanScalar(a[k]), "row %lld, column %lld, value %g", (long long)i, (long long)j[k], PetscRealPart(a[k]));
    PetscCall(MatRestoreRow(P->X, i, &n, &j, &a));
  }
  at = P->names;
  for (PetscInt i = 0; at && i < N; i++) at += strlen(at) + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Value number k of a file whose values begin at p. type: as in idx, or 0 for MineBench. */
static double DecodeValue(const unsigned char *p, int type, size_t k)
{
  static const size_t sizes[] = {4, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 2, 4, 4, 8};
  const size_t        n       = sizes[type];
  unsigned char       b[8]    = {0};
  union {
    int8_t  i8;
    int16_t i16;
    int32_t i32;
    float   f32;
    double  f64;
  } u;

  for (size_t c = 0; c < n; c++) b[c] = p[k * n + (type ? n - 1 - c : c)]; /* now little-endian, as this machine */
  memcpy(&u, b, sizeof(u));
  return type == 8 ? b[0] : type == 9 ? u.i8 : type == 11 ? u.i16 : type == 12 ? u.i32 : type == 14 ? u.f64 : (double)u.f32;
}

/* Compares points with the bytes of the file. */
static PetscErrorCode CompareBytes(const char file[], PetscBool idx, Mat X, char wrong[FUZZ_WRONG])
{
  static unsigned char b[FUZZ_MOST];
  FILE                *fp = fopen(file, "rb");
  const size_t         n = fp ? fread(b, 1, sizeof(b), fp) : 0, at = idx ? 4 + 4 * (size_t)b[3] : 8;
  PetscInt             N, d;

  PetscFunctionBegin;
  if (fp) (void)fclose(fp);
  PetscCall(MatGetSize(X, &N, &d));
  if (b[0] == 0x1f || n < HEADER) PetscFunctionReturn(PETSC_SUCCESS); /* compressed, or too short for more than one value */
  FUZZ_EXPECT(N == (idx ? b[4] << 24 | b[5] << 16 | b[6] << 8 | b[7] : b[3] << 24 | b[2] << 16 | b[1] << 8 | b[0]), "%lld points", (long long)N);
  for (PetscInt i = 0; i < N && !wrong[0]; i++)
    for (PetscInt j = 0; j < d; j++) {
      PetscScalar a;

      PetscCall(MatGetValue(X, i, j, &a));
      FUZZ_EXPECT(PetscRealPart(a) == DecodeValue(b + at, idx ? b[2] : 0, (size_t)i * (size_t)d + (size_t)j), "row %lld, column %lld is %g", (long long)i, (long long)j, PetscRealPart(a));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadIdx(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  PointSet P;

  PetscFunctionBegin;
  PetscCall(LoadPoints(file, POINTS_IDX, choice, &P, wrong));
  if (choice % 2 == 0) PetscCall(CompareBytes(file, PETSC_TRUE, P.X, wrong));
  PetscCall(PointSetDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadMineBench(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  PointSet P;

  PetscFunctionBegin;
  PetscCall(LoadPoints(file, POINTS_MINEBENCH, choice, &P, wrong));
  if (choice % 2 == 0) PetscCall(CompareBytes(file, PETSC_FALSE, P.X, wrong));
  PetscCall(PointSetDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes sparse points as LIBSVM text. */
static PetscErrorCode WriteLibsvm(const char file[], Mat X)
{
  FILE    *fp = fopen(file, "w");
  PetscInt N;

  PetscFunctionBegin;
  PetscCheck(fp, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", file);
  PetscCall(MatGetSize(X, &N, NULL));
  for (PetscInt i = 0; i < N; i++) {
    const PetscInt    *j;
    const PetscScalar *a;
    PetscInt           n;

    (void)fprintf(fp, "0");
    PetscCall(MatGetRow(X, i, &n, &j, &a));
    for (PetscInt k = 0; k < n; k++) (void)fprintf(fp, " %lld:%.17g", (long long)j[k] + 1, PetscRealPart(a[k]));
    PetscCall(MatRestoreRow(X, i, &n, &j, &a));
    (void)fprintf(fp, "\n");
  }
  (void)fclose(fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads LIBSVM text, and reads it again from the text that is made of it. */
static PetscErrorCode ReadLibsvm(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  char      copy[PETSC_MAX_PATH_LEN];
  PetscBool same;
  PointSet  P, again;

  PetscFunctionBegin;
  PetscCall(LoadPoints(file, POINTS_LIBSVM, choice, &P, wrong));
  if (choice % 2 == 0) {
    (void)snprintf(copy, sizeof(copy), "%s.copy", file);
    PetscCall(WriteLibsvm(copy, P.X));
    PetscCall(LoadPoints(copy, POINTS_LIBSVM, 0, &again, wrong));
    PetscCall(MatEqual(P.X, again.X, &same));
    FUZZ_EXPECT(same, "what was written is read as something else");
    PetscCall(PointSetDestroy(&again));
  }
  PetscCall(PointSetDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads points of any format. */
static PetscErrorCode ReadAny(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  PointSet P;

  PetscFunctionBegin;
  PetscCall(LoadPoints(file, POINTS_AUTO, choice, &P, wrong));
  PetscCall(PointSetDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes points in PETSc's binary format, the integers of which have the width of PetscInt. */
static PetscErrorCode PreparePoints(const char folder[])
{
  char        file[PETSC_MAX_PATH_LEN];
  PetscViewer viewer;
  Mat         X, Y;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 4, 3, NULL, &X));
  for (PetscInt i = 0; i < 4; i++) PetscCall(MatSetValue(X, i, i % 3, 1.5 + (PetscReal)i, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(X, MATSEQAIJ, MAT_INITIAL_MATRIX, &Y));
  for (int sparse = 0; sparse < 2; sparse++) {
    (void)snprintf(file, sizeof(file), "%s/seed-%s", folder, sparse ? "sparse" : "dense");
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, file, FILE_MODE_WRITE, &viewer));
    PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_NATIVE));
    PetscCall(MatView(sparse ? Y : X, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    (void)snprintf(file, sizeof(file), "%s/seed-%s.info", folder, sparse ? "sparse" : "dense");
    (void)remove(file); /* where PETSc stores options: no seed */
  }
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzReader FuzzKmeans[] = {{.name = "idx", .suffix = ".idx", .read = ReadIdx},
                                 {.name = "minebench", .suffix = ".bin", .read = ReadMineBench},
                                 {.name = "pointslibsvm", .suffix = ".libsvm", .read = ReadLibsvm},
                                 {.name = "points", .suffix = ".points", .prepare = PreparePoints, .read = ReadAny},
                                 {.name = NULL}};
