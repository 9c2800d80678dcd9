/* Points from text: a table, LIBSVM or Matrix Market. */
#include "points.h"
#include "app/libsvm/applibsvm.h"
#include "app/market/appmarket.h"
#include "app/text/appscan.h"
#include <string.h>

/* Finds the first value of this rank that is no number. A column that holds words consists of NaN in T->value. */
static void PointSetFindFault(const GpAppTable *T, const PointSetOptions *o, PetscInt n, const PetscInt columns[], GpAppComplaint *wrong)
{
  const char *remedy = o->all ? "remove the row" : "remove the row, or select other columns by -columns";

  for (PetscInt i = 0; i < T->rows && !wrong->code; i++)
    for (PetscInt c = 0; c < n && !wrong->code; c++) {
      const char *word = "", *end;
      double      value;

      if (!PetscIsNanReal(T->value[(size_t)i * T->cols + columns[c]])) continue;
      for (PetscInt t = 0; t < T->ntext; t++)
        if (T->text[t] == columns[c]) word = T->word[(size_t)i * T->ntext + t];
      end = GpAppScanReal(word, &value);
      if (!word[0]) GpAppComplainAbout(wrong, PETSC_ERR_FILE_UNEXPECTED, T->line[i], "the value in column %" PetscInt_FMT " (counted from 0) is missing or NaN; fill it in, or %s", columns[c], remedy);
      else if (!end || *end) GpAppComplainAbout(wrong, PETSC_ERR_FILE_UNEXPECTED, T->line[i], "column %" PetscInt_FMT " (counted from 0) holds '%.60s', which is no number; %s", columns[c], word, remedy);
    }
}

/* Copies columns of a table into a dense matrix. Blocks of rows stay in the cache. */
static PetscErrorCode PointSetCopyTable(const GpAppTable *T, const PointSetOptions *o, PetscInt n, const PetscInt columns[], Mat *X)
{
  const PetscInt block = 64;
  PetscBool      nan   = PETSC_FALSE;
  GpAppComplaint wrong = {0};
  PetscScalar   *a;
  PetscInt       lda;

  PetscFunctionBegin;
  PetscCall(MatCreateDense(T->comm, T->rows, PETSC_DECIDE, T->N, n, NULL, X));
  PetscCall(MatDenseGetLDA(*X, &lda));
  PetscCall(MatDenseGetArrayWrite(*X, &a));
  for (PetscInt begin = 0; begin < T->rows; begin += block)
    for (PetscInt c = 0; c < n; c++)
      for (PetscInt i = begin; i < PetscMin(begin + block, T->rows); i++) {
        const double value = T->value[(size_t)i * T->cols + columns[c]];

        a[i + (size_t)c * lda] = value;
        nan                    = (PetscBool)(nan || value != value);
      }
  PetscCall(MatDenseRestoreArrayWrite(*X, &a));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  if (nan) PointSetFindFault(T, o, n, columns, &wrong);
  PetscCall(GpAppComplaintRaise(T->comm, T->file, &wrong)); /* lines of a table count from the beginning of the file */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the headings of n columns, one after another. */
static PetscErrorCode PointSetCopyHeadings(const GpAppTable *T, PetscInt n, const PetscInt columns[], char **headings)
{
  size_t length = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < n; c++) length += strlen(T->heading[columns[c]]) + 1;
  PetscCall(PetscMalloc1(length, headings));
  length = 0;
  for (PetscInt c = 0; c < n; c++) {
    const size_t each = strlen(T->heading[columns[c]]) + 1;

    PetscCall(PetscArraycpy(*headings + length, T->heading[columns[c]], each));
    length += each;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points from a table. Only columns that the option leaves out may hold words, missing values or NaN. */
static PetscErrorCode PointSetFromTable(GpAppText *text, const PointSetOptions *o, PointSet *P)
{
  GpAppTableSpec spec = o->table;
  char           all[32];
  PetscInt       n, *columns = NULL;
  GpAppTable     T;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  spec.words       = PETSC_TRUE; /* PointSetCopyTable() refuses words and missing values in a selected column, and names -columns */
  spec.nan_missing = PETSC_TRUE;
  PetscCall(GpAppTextReadRest(text));
  PetscCall(GpAppTableParse(text, &spec, &T));
  if (!T.cols) PetscCall(GpAppTableDestroy(&T));
  PetscCheck(T.cols, T.comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file holds no numbers", T.file);
  PetscCall(PetscSNPrintf(all, sizeof(all), "0-%" PetscInt_FMT, T.cols - 1));
  ierr = PointSetParseColumns(T.comm, o->columns[0] ? o->columns : all, T.cols, &n, &columns);
  if (!ierr) ierr = PointSetCopyTable(&T, o, n, columns, &P->X);
  if (!ierr) ierr = GpAppTableDescribe(&T, P->source, sizeof(P->source));
  if (!ierr && T.named) ierr = GpAppTableGatherNames(&T, &P->names);
  if (!ierr && T.heading) ierr = PointSetCopyHeadings(&T, n, columns, &P->headings);
  PetscCall(PetscFree(columns));
  PetscCall(GpAppTableDestroy(&T));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sparse points from LIBSVM text. Labels are ignored. */
static PetscErrorCode PointSetFromLibsvm(GpAppText *text, const PointSetOptions *o, PointSet *P)
{
  GpAppRows      R;
  GpAppComplaint wrong = {0};
  PetscErrorCode ierr;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCall(GpAppLibsvmParse(text, GP_LIBSVM_IGNORED, &R));
  if (!R.N) GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, 0, "no line has a feature");
  else if (!GpAppFeaturesFit(R.N, R.nnz, 0))
    GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, R.widest, "feature %" PetscInt_FMT " in data of %" PetscInt64_FMT " entries: every centroid would take %.1f GiB; check the index", R.N, R.nnz,
                       (double)R.N * (double)sizeof(PetscScalar) / 1073741824.);
  ierr = GpAppComplaintRaise(R.comm, R.file, &wrong);
  PetscCallMPI(MPI_Comm_size(R.comm, &size));
  if (!ierr) ierr = PetscSNPrintf(P->source, sizeof(P->source), "%" PetscInt_FMT " rows, %" PetscInt_FMT " columns, %" PetscInt64_FMT " entries, LIBSVM, labels ignored", R.M, R.N, R.nnz);
  if (!ierr) ierr = GpAppRowsCreateAIJ(&R, PetscMax(R.N, o->features), (PetscBool)(size > 1), &P->X);
  PetscCall(GpAppRowsDestroy(&R));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points from a Matrix Market file: a sparse matrix, or a dense one from an array. */
static PetscErrorCode PointSetFromMarket(GpAppText *text, PointSet *P)
{
  GpAppMarket M;

  PetscFunctionBegin;
  PetscCall(GpAppTextReadRest(text));
  PetscCall(GpAppMarketParse(text, 0, &M));
  PetscCall(GpAppTextDestroy(text));
  PetscCall(GpAppMarketDescribe(&M, P->source, sizeof(P->source)));
  PetscCall(GpAppMarketExpand(&M));
  if (M.array) {
    PetscCall(MatCreateDense(M.comm, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)M.M, (PetscInt)M.N, NULL, &P->X));
    for (PetscInt64 k = 0; k < M.n; k++) PetscCall(MatSetValue(P->X, (PetscInt)M.i[k], (PetscInt)M.j[k], M.a[k], INSERT_VALUES));
    PetscCall(MatAssemblyBegin(P->X, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(P->X, MAT_FINAL_ASSEMBLY));
  } else PetscCall(GpAppMarketCreateAIJ(&M, &P->X));
  PetscCall(GpAppMarketDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points from text, whose format is recognised unless the options give it. */
PetscErrorCode PointSetReadText(MPI_Comm comm, const PointSetOptions *o, PointSet *P)
{
  PointSetFormat format = o->format;
  GpAppText      text;
  PetscBool      market;
  int            votes;

  PetscFunctionBegin;
  PetscCall(GpAppTextOpen(comm, o->file, &text));
  PetscCall(GpAppTextIsMarket(&text, &market));
  PetscCall(GpAppTextGuessLibsvm(&text, &votes));
  if (format == POINTS_AUTO) format = market ? POINTS_MARKET : votes > 0 ? POINTS_LIBSVM : POINTS_TABLE;
  if (format == POINTS_TABLE) {
    PetscCall(PointSetFromTable(&text, o, P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (format == POINTS_MARKET) PetscCall(PointSetFromMarket(&text, P));
  else PetscCall(PointSetFromLibsvm(&text, o, P));
  PetscCall(PointSetSelectColumns(comm, o, &P->X));
  PetscFunctionReturn(PETSC_SUCCESS);
}
