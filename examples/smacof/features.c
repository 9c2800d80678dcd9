/* Reader of feature vectors. */
#include "smacof.h"
#include "app/libsvm/applibsvm.h"
#include "app/market/appmarket.h"
#include "app/text/appcollective.h"
#include <string.h>

#define DENSE_FREE  ((double)(1 << 28)) /* size of the dense vectors in bytes that is always accepted */
#define DENSE_RATIO 1024.0              /* larger dense vectors may have at most this many bytes for each byte of the file */

/* Copies the headings of a table to consecutive strings, to be freed with PetscFree().  The result is NULL if the table has no headings. */
static PetscErrorCode CopyHeadings(const GpAppTable *T, char **names)
{
  const char *last;
  size_t      bytes;

  PetscFunctionBegin;
  *names = NULL;
  if (!T->heading) PetscFunctionReturn(PETSC_SUCCESS);
  last  = T->heading[T->cols - 1];
  bytes = (size_t)(last - T->heading[0]) + strlen(last) + 1; /* the table stores its headings one after another */
  PetscCall(PetscMalloc1(bytes, names));
  PetscCall(PetscArraycpy(*names, T->heading[0], bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a dense matrix with the rows of a table, which are points, and destroys the table.  Collective. */
PetscErrorCode MatCreateFromTable(GpAppTable *T, Mat *A, Points *P)
{
  PetscScalar *a;

  PetscFunctionBegin;
  P->N         = T->N;
  P->nfeatures = T->cols;
  PetscCall(GpAppTableGatherNames(T, &P->names));
  PetscCall(CopyHeadings(T, &P->feature_names));
  PetscCall(MatCreateDense(T->comm, T->rows, PETSC_DECIDE, T->N, T->cols, NULL, A));
  PetscCall(PetscObjectSetName((PetscObject)*A, T->file)); /* for error messages */
  PetscCall(MatDenseGetArrayWrite(*A, &a));
  for (PetscInt i = 0; i < T->rows; i++)
    for (PetscInt j = 0; j < T->cols; j++) a[(size_t)j * (size_t)T->rows + (size_t)i] = T->value[(size_t)i * (size_t)T->cols + (size_t)j];
  PetscCall(MatDenseRestoreArrayWrite(*A, &a));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(GpAppTableDestroy(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees a table and raises a complaint about it, if a rank has one.  Collective. */
PetscErrorCode TableRaise(GpAppTable *T, const GpAppComplaint *C)
{
  PetscBool any;

  PetscFunctionBegin;
  PetscCall(GpAppFindAny(T->comm, (PetscBool)(C->code != 0), &any));
  if (any) PetscCall(GpAppTableDestroy(T));
  PetscCall(GpAppComplaintRaise(T->comm, T->file, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Complains about the first row of this rank with a missing feature, or without a nonzero feature for the cosine metric. */
static void FeaturesCheck(const GpAppTable *T, SMACOFMetric metric, GpAppComplaint *C)
{
  for (PetscInt i = 0; i < T->rows; i++) {
    const double *v    = T->value + (size_t)i * (size_t)T->cols;
    PetscBool     zero = PETSC_TRUE;

    for (PetscInt f = 0; f < T->cols; f++) {
      zero = (PetscBool)(zero && v[f] == 0);
      if (!PetscIsNanReal(v[f])) continue;
      GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, T->line[i], "feature %" PetscInt_FMT "%s%.40s%s of point %" PetscInt_FMT " (counted from 0) is missing; distances need all features", f, T->heading ? " (" : "", T->heading ? T->heading[f] : "",
                         T->heading ? ")" : "", T->first + i);
    }
    if (zero && metric == SMACOF_METRIC_COSINE) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, T->line[i], "all features of point %" PetscInt_FMT " (counted from 0) are 0; -metric cosine needs a nonzero vector", T->first + i);
  }
}

/* Refuses dense vectors that are out of proportion to the bytes of the file: a feature number is probably wrong.  Collective. */
static PetscErrorCode FeaturesCheckSize(const GpAppRows *R)
{
  const double   dense = (double)R->N * (double)R->M * sizeof(double);
  GpAppComplaint C     = {0};

  PetscFunctionBegin;
  if (R->N >= PETSC_MPI_INT_MAX || dense > PetscMax(DENSE_FREE, DENSE_RATIO * (double)R->bytes))
    GpAppComplainAbout(&C, PETSC_ERR_FILE_UNEXPECTED, R->widest, "with feature %" PetscInt_FMT ", %" PetscInt_FMT " dense vectors take %.3g GB, too much for a file of %" PetscInt64_FMT " bytes: check the feature number", R->N, R->M, 1e-9 * dense,
                       R->bytes);
  PetscCall(GpAppComplaintRaise(R->comm, R->file, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a table with the rows, whose names become row names. */
static PetscErrorCode FeaturesCreateTable(GpAppRows *R, GpAppTable *T)
{
  PetscInt64 first;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(T, sizeof(*T)));
  PetscCall(GpAppSumBefore(R->comm, R->m, &first, NULL));
  T->comm      = R->comm;
  T->rows      = R->m;
  T->first     = (PetscInt)first;
  T->N         = R->M;
  T->cols      = R->N;
  T->named     = PETSC_TRUE;
  T->delimiter = ' ';
  T->label     = -1;
  T->words     = R->names;
  R->names     = NULL;
  PetscCall(PetscStrncpy(T->file, R->file, sizeof(T->file)));
  PetscCall(PetscCalloc1((size_t)T->rows * (size_t)T->cols, &T->value));
  PetscCall(PetscMalloc1(T->rows, &T->line));
  PetscCall(PetscMalloc1(T->rows, &T->name));
  for (PetscInt row = 0; row < T->rows; row++) {
    T->line[row] = GpAppRowLinesGet(&R->lines, row);
    T->name[row] = row ? T->name[row - 1] + strlen(T->name[row - 1]) + 1 : T->words;
    for (PetscInt k = R->i[row]; k < R->i[row + 1]; k++) T->value[(size_t)row * (size_t)T->cols + (size_t)R->j[k]] = PetscRealPart(R->a[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads LIBSVM text as a table, to be freed with GpAppTableDestroy(); labels are row names.  X was just opened, and is destroyed also if an error is raised.  Collective. */
static PetscErrorCode FeaturesReadLibsvm(GpAppText *X, GpAppTable *T)
{
  GpAppRows      R;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(GpAppLibsvmParse(X, GP_LIBSVM_NAMES, &R));
  ierr = FeaturesCheckSize(&R);
  if (!ierr) ierr = FeaturesCreateTable(&R, T);
  PetscCall(GpAppRowsDestroy(&R));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads feature vectors from a table or a file in LIBSVM's format, with a row for each point; its row name or label is the name of the point.  The points are to be freed with
   PointsDestroy().  Collective. */
PetscErrorCode FeaturesRead(MPI_Comm comm, const char file[], SMACOFMetric metric, const GpAppTableSpec *table, Mat *F, Points *P)
{
  int            libsvm;
  PetscBool      market;
  GpAppText      X;
  GpAppTable     T;
  GpAppComplaint C = {0};

  PetscFunctionBegin;
  PetscCall(GpAppTextOpen(comm, file, &X));
  PetscCall(GpAppTextIsMarket(&X, &market));
  if (market) PetscCall(GpAppTextDestroy(&X));
  PetscCheck(!market, comm, PETSC_ERR_FILE_UNEXPECTED, "%s:1: features in Matrix Market format are not supported; use a table or LIBSVM", file);
  PetscCall(GpAppTextGuessLibsvm(&X, &libsvm));
  if (libsvm > 0) {
    PetscCall(FeaturesReadLibsvm(&X, &T));
    PetscCall(PetscPrintf(comm, "%s: LIBSVM, %" PetscInt_FMT " rows, %" PetscInt_FMT " columns, labels are names of points\n", T.file, T.N, T.cols));
  } else {
    PetscCall(GpAppTextReadRest(&X));
    PetscCall(GpAppTableParse(&X, table, &T));
    PetscCall(GpAppTablePrint(&T));
  }
  FeaturesCheck(&T, metric, &C);
  PetscCall(TableRaise(&T, &C));
  PetscCall(MatCreateFromTable(&T, F, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointsDestroy(Points *P)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(P->names));
  PetscCall(PetscFree(P->feature_names));
  PetscFunctionReturn(PETSC_SUCCESS);
}
