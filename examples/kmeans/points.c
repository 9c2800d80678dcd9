/* Points from a file in any of the formats, or generated; selection of columns. */
#include "points.h"
#include "app/binary/appbinary.h"
#include "app/market/appmarket.h"
#include "app/program/apphash.h"
#include <stdlib.h>
#include <string.h>

const char *const PointSetFormats[] = {"auto", "table", "market", "petsc", "idx", "minebench", "PointSetFormat", "POINTS_", NULL};

static PetscErrorCode PointSetAssemble(Mat X)
{
  PetscFunctionBegin;
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points from a table in text. A missing value is refused with its line. */
static PetscErrorCode PointSetFromTable(GpAppText *text, const GpAppTableSpec *spec, PointSet *P)
{
  GpAppTable     T;
  GpAppComplaint wrong = {0};
  PetscInt      *col;
  MPI_Comm       comm = text->comm;
  char           file[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(GpAppTableParse(text, spec, &T));
  PetscCall(GpAppTableDescribe(&T, P->source, sizeof(P->source)));
  PetscCall(PetscStrncpy(file, T.file, sizeof(file)));
  PetscCall(MatCreateDense(T.comm, T.rows, PETSC_DECIDE, T.N, T.cols, NULL, &P->X));
  PetscCall(PetscMalloc1(T.cols, &col));
  for (PetscInt j = 0; j < T.cols; j++) col[j] = j;
  for (PetscInt i = 0; i < T.rows; i++) {
    const PetscInt row = T.first + i;

    PetscCall(MatSetValues(P->X, 1, &row, T.cols, col, T.value + (size_t)i * T.cols, INSERT_VALUES));
    for (PetscInt j = 0; j < T.cols && !wrong.code; j++)
      if (PetscIsNanReal(T.value[(size_t)i * T.cols + j])) GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, T.line[i], "the value in column %" PetscInt_FMT " is missing; fill it in, or leave out the row or the column", j);
  }
  PetscCall(PetscFree(col));
  PetscCall(PointSetAssemble(P->X));
  if (T.named) PetscCall(GpAppTableGatherNames(&T, &P->names));
  PetscCall(GpAppTableDestroy(&T));
  PetscCall(GpAppComplaintRaise(comm, file, &wrong)); /* lines of a table count from the beginning of the file */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points from a Matrix Market file: a sparse matrix, or a dense one from an array. */
static PetscErrorCode PointSetFromMarket(GpAppText *text, PointSet *P)
{
  GpAppMarket M;

  PetscFunctionBegin;
  PetscCall(GpAppMarketParse(text, 0, &M));
  PetscCall(GpAppMarketExpand(&M));
  PetscCall(GpAppMarketDescribe(&M, P->source, sizeof(P->source)));
  if (M.array) PetscCall(MatCreateDense(M.comm, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)M.M, (PetscInt)M.N, NULL, &P->X));
  else {
    PetscCall(MatCreate(M.comm, &P->X));
    PetscCall(MatSetSizes(P->X, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)M.M, (PetscInt)M.N));
    PetscCall(MatSetType(P->X, MATAIJ));
    PetscCall(MatSetUp(P->X));
    PetscCall(MatSetOption(P->X, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  }
  for (PetscInt64 k = 0; k < M.n; k++) PetscCall(MatSetValue(P->X, (PetscInt)M.i[k], (PetscInt)M.j[k], M.a ? M.a[k] : 1.0, ADD_VALUES));
  PetscCall(PointSetAssemble(P->X));
  PetscCall(GpAppMarketDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uniform points in the unit cube, of 24 bits, which single precision holds. They depend on the seed and on the number of the value, not on the number of ranks. */
static PetscErrorCode PointSetGenerate(MPI_Comm comm, const PointSetOptions *o, Mat *X)
{
  PetscInt     start, end, lda;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(MatCreateDense(comm, PETSC_DECIDE, PETSC_DECIDE, o->generate[0], o->generate[1], NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  PetscCall(MatDenseGetLDA(*X, &lda));
  PetscCall(MatDenseGetArrayWrite(*X, &a));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < o->generate[1]; j++) a[(i - start) + (size_t)j * lda] = (double)(GpAppHash64(((uint64_t)o->seed << 40) + ((uint64_t)i * (uint64_t)o->generate[1] + (uint64_t)j) * 0x9e3779b97f4a7c15) >> 40) * 0x1p-24;
  PetscCall(MatDenseRestoreArrayWrite(*X, &a));
  PetscCall(PointSetAssemble(*X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parses numbers and ranges such as 0,3-7. Every number is below d. */
static PetscErrorCode PointSetParseColumns(MPI_Comm comm, const char text[], PetscInt d, PetscInt *n, PetscInt **columns)
{
  const char *at = text;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscMalloc1(d, columns));
  while (*at) {
    char     *after;
    long long from = strtoll(at, &after, 10), to = from;
    PetscBool good = (PetscBool)(after > at);

    if (good && *after == '-') {
      at   = after + 1;
      to   = strtoll(at, &after, 10);
      good = (PetscBool)(after > at);
    }
    PetscCheck(good && (*after == ',' || !*after) && from >= 0 && to >= from && to < d && *n + (to - from) < d, comm, PETSC_ERR_USER_INPUT,
               "-columns %s: the points have columns 0 to %" PetscInt_FMT "; give each once, as numbers or ranges such as 0,3-7", text, d - 1);
    for (; from <= to; from++) (*columns)[(*n)++] = (PetscInt)from;
    at = *after ? after + 1 : after;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the columns that the option names. */
static PetscErrorCode PointSetSelectColumns(MPI_Comm comm, const char text[], Mat *X)
{
  PetscInt    n, *columns, d, start, end, local;
  PetscMPIInt rank, size;
  IS          rows, cols;
  Mat         Y;

  PetscFunctionBegin;
  PetscCall(MatGetSize(*X, NULL, &d));
  PetscCall(PointSetParseColumns(comm, text, d, &n, &columns));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  local = n / size + (rank < n % size);
  PetscCall(ISCreateStride(comm, end - start, start, 1, &rows));
  PetscCall(ISCreateGeneral(comm, local, columns + rank * (n / size) + PetscMin(rank, n % size), PETSC_COPY_VALUES, &cols));
  PetscCall(MatCreateSubMatrix(*X, rows, cols, MAT_INITIAL_MATRIX, &Y));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(PetscFree(columns));
  PetscCall(MatDestroy(X));
  *X = Y;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Recognises the format of the file. */
static PetscErrorCode PointSetFind(MPI_Comm comm, const PointSetOptions *o, PointSetFormat *format)
{
  PetscBool binary;

  PetscFunctionBegin;
  *format = o->format;
  if (*format != POINTS_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpAppIsBinary(comm, o->file, MAT_FILE_CLASSID, &binary, NULL));
  if (binary) *format = POINTS_PETSC;
  else if (strcmp(o->file, "-")) PetscCall(PointSetRecognise(comm, o->file, format)); /* standard input can be read once only, so it is text */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Loads or generates the points. Collective. */
PetscErrorCode PointSetLoad(MPI_Comm comm, const PointSetOptions *o, PointSet *P)
{
  PointSetFormat format;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(P, sizeof(*P)));
  if (o->ngenerate) {
    PetscCall(PointSetGenerate(comm, o, &P->X));
    PetscCall(PetscSNPrintf(P->source, sizeof(P->source), "uniform points in the unit cube, seed %" PetscInt_FMT, o->seed));
  } else {
    PetscCall(PointSetFind(comm, o, &format));
    if (format == POINTS_PETSC) {
      GpAppMatHeader h;

      PetscCall(GpAppMatReadHeader(comm, o->file, &h));
      PetscCall(GpAppMatLoad(comm, o->file, h.nnz == MATRIX_BINARY_FORMAT_DENSE ? MATDENSE : MATAIJ, &P->X));
      PetscCall(PetscSNPrintf(P->source, sizeof(P->source), "%s: PETSc binary", o->file));
    } else if (format == POINTS_IDX || format == POINTS_MINEBENCH) {
      PetscCall(PointSetReadBinary(comm, o->file, format, &P->X));
      PetscCall(PetscSNPrintf(P->source, sizeof(P->source), "%s: %s", o->file, format == POINTS_IDX ? "idx" : "MineBench binary"));
    } else {
      GpAppText text;
      PetscBool market;

      PetscCall(GpAppTextRead(comm, o->file, &text));
      PetscCall(GpAppTextIsMarket(&text, &market));
      if (format == POINTS_MARKET || (format == POINTS_AUTO && market)) PetscCall(PointSetFromMarket(&text, P));
      else PetscCall(PointSetFromTable(&text, &o->table, P));
    }
  }
  if (o->columns[0]) PetscCall(PointSetSelectColumns(comm, o->columns, &P->X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointSetDestroy(PointSet *P)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&P->X));
  PetscCall(PetscFree(P->names));
  PetscFunctionReturn(PETSC_SUCCESS);
}
