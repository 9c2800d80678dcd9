/* Feature vectors of the points.  Every rank holds the vectors of all points, because distances are computed from them. */
#include "solvers/smacof/smacofimpl.h"
#include "app/market/appmarket.h"
#include <string.h>

const char *const Metrics[] = {"euclidean", "cosine", "manhattan", "Metric", "", NULL}; /* in the order of pass.h */

/* Transposes vectors [N][n] to [n][N], and normalises them to length 1 for the cosine metric.  On an error, row is the first invalid row and
   feature the missing feature, or n if the vector is zero.  Otherwise row is -1. */
static PetscErrorCode FeaturesTranspose(const double all[], PetscInt metric, Features *F, PetscInt *row, PetscInt *feature)
{
  PetscFunctionBegin;
  *row = -1;
  PetscCall(PetscMalloc1((size_t)F->N * (size_t)F->n, &F->value));
  for (PetscInt i = 0; i < F->N && *row < 0; i++) {
    const double *v      = all + (size_t)i * (size_t)F->n;
    PetscReal     length = 0;

    for (PetscInt f = 0; f < F->n && *row < 0; f++) {
      if (PetscIsNanReal(v[f])) {
        *row     = i;
        *feature = f;
      }
      length = hypot(length, v[f]);
    }
    if (*row < 0 && metric == PASS_COSINE && !(length > 0)) {
      *row     = i;
      *feature = F->n;
    }
    for (PetscInt f = 0; f < F->n; f++) F->value[(size_t)f * (size_t)F->N + (size_t)i] = v[f] / (metric == PASS_COSINE ? length : 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the headings of a table to consecutive strings, to be freed with PetscFree().  The result is NULL if the table has no headings. */
PetscErrorCode CopyHeadings(const GpAppTable *T, char **names)
{
  size_t bytes = 0;
  char  *to;

  PetscFunctionBegin;
  *names = NULL;
  if (!T->heading) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt j = 0; j < T->cols; j++) bytes += strlen(T->heading[j]) + 1;
  PetscCall(PetscMalloc1(bytes, names));
  to = *names;
  for (PetscInt j = 0; j < T->cols; j++) {
    const size_t n = strlen(T->heading[j]) + 1;

    memcpy(to, T->heading[j], n);
    to += n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  FeaturesRead - Reads feature vectors from a table or a file in LIBSVM's format

  Collective

  Input Parameters:
+ comm   - the communicator
. file   - a file with a row for each point; its row name or LIBSVM label is the name of the point
. metric - metric of the distances; vectors are normalised to length 1 for PASS_COSINE
- table  - options of the table format

  Output Parameters:
+ F     - the vectors, on every rank
- names - names of the points as consecutive strings, on every rank; NULL if there are none
*/
PetscErrorCode FeaturesRead(MPI_Comm comm, const char file[], PetscInt metric, const GpAppTableSpec *table, Features *F, char **names)
{
  double     *all;
  PetscBool   libsvm, market;
  PetscInt    row, feature = 0;
  PetscInt64 *lines, line;
  char        label[64] = "";
  GpAppText   X;
  GpAppTable  T;

  PetscFunctionBegin;
  PetscCall(GpAppTextRead(comm, file, &X));
  PetscCall(GpAppTextIsMarket(&X, &market));
  if (market) PetscCall(GpAppTextDestroy(&X));
  PetscCheck(!market, comm, PETSC_ERR_FILE_UNEXPECTED, "%s:1: features in Matrix Market format are not supported; use a table or LIBSVM", file);
  PetscCall(LibsvmIs(&X, &libsvm));
  if (libsvm) {
    PetscCall(LibsvmParse(&X, &T));
    PetscCall(PetscPrintf(comm, "%s: LIBSVM, %" PetscInt_FMT " rows, %" PetscInt_FMT " columns, labels are names of points\n", T.file, T.N, T.cols));
  } else {
    PetscCall(GpAppTableParse(&X, table, &T));
    PetscCall(GpAppTablePrint(&T));
  }
  F->N = T.N;
  F->n = T.cols;
  PetscCall(GpAppTableGatherValues(&T, &all));
  PetscCall(GpAppTableGatherLines(&T, &lines));
  PetscCall(FeaturesTranspose(all, metric, F, &row, &feature));
  line = row < 0 ? 0 : lines[row];
  PetscCall(PetscFree(all));
  PetscCall(PetscFree(lines));
  if (row < 0) {
    PetscCall(GpAppTableGatherNames(&T, names));
    PetscCall(CopyHeadings(&T, &F->names));
  } else {
    if (T.heading && feature < T.cols) PetscCall(PetscSNPrintf(label, sizeof(label), " (%.40s)", T.heading[feature]));
    PetscCall(PetscFree(F->value));
  }
  PetscCall(GpAppTableDestroy(&T));
  PetscCheck(row < 0 || feature == F->n, comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": feature %" PetscInt_FMT "%s of point %" PetscInt_FMT " (counted from 0) is missing; distances need all features", file, line, feature, label, row);
  PetscCheck(row < 0, comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": all features of point %" PetscInt_FMT " (counted from 0) are 0; -metric cosine needs a nonzero vector", file, line, row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FeaturesDestroy(Features *F)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(F->value));
  PetscCall(PetscFree(F->names));
  PetscFunctionReturn(PETSC_SUCCESS);
}
