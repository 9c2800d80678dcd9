/* Input of a run: dissimilarities or features for the solver, and new points with their map. */
#include "smacof.h"
#include <string.h>

/* Reads the file of -weights.  If it has row names, they must be those of the dissimilarities in the same order; otherwise what says what is wrong. */
static PetscErrorCode InputLoadWeights(MPI_Comm comm, const InputOptions *o, const Points *P, Mat *weight, char what[], size_t length)
{
  const char *a = P->names, *b;
  char       *names;
  Mat         none;
  PetscBool   text;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(MatReadDissimilarities(comm, o->weights, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, &o->table, weight, &none, &names, &text));
  PetscCall(MatGetSize(*weight, &n, NULL));
  if (n != P->N) PetscCall(PetscSNPrintf(what, length, "weights of %" PetscInt_FMT " points, but dissimilarities of %" PetscInt_FMT " points", n, P->N));
  b = names;
  for (PetscInt i = 0; i < n && a && b && !what[0]; i++, a += strlen(a) + 1, b += strlen(b) + 1)
    if (strcmp(a, b)) PetscCall(PetscSNPrintf(what, length, "row %" PetscInt_FMT " (counted from 1) is named '%.40s', but '%.40s' in the dissimilarities: write both in the same order", i + 1, b, a));
  PetscCall(PetscFree(names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the similarities of a file by dissimilarities.  Missing ones are NaN. */
static PetscErrorCode InputConvert(const InputOptions *o, PetscBool text, Mat *delta)
{
  const char *file;
  Mat         D;

  PetscFunctionBegin;
  PetscCall(SMACOFConvertSimilarities(*delta, (SMACOFSimilarity)(o->similarity - 1), o->constant, (PetscBool)(text || o->missing == MISSING_NAN), (PetscBool)(o->missing == MISSING_ZERO), &D));
  PetscCall(PetscObjectGetName((PetscObject)*delta, &file));
  PetscCall(PetscObjectSetName((PetscObject)D, file));
  PetscCall(MatDestroy(delta));
  *delta = D;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the dissimilarities, or the features that they are computed from, and gives them to the solver.  The points are to be freed with PointsDestroy().  Collective. */
PetscErrorCode InputLoad(const InputOptions *o, SMACOF s, Points *P)
{
  const MPI_Comm comm      = PetscObjectComm((PetscObject)s);
  const char    *file      = o->pairs[0] ? o->pairs : o->file;
  char           what[256] = "";
  Mat            delta, weight;
  PetscBool      text = PETSC_FALSE, both;

  PetscFunctionBegin;
  *P = (Points){0};
  if (o->features[0]) {
    PetscCall(FeaturesRead(comm, o->features, o->metric, &o->table, &delta, P));
    PetscCall(SMACOFSetFeatures(s, delta, o->metric));
    PetscCall(MatDestroy(&delta));
  } else {
    PetscCall(MatReadDissimilarities(comm, file, (PetscBool)(o->pairs[0] != 0), (PetscBool)(o->missing == MISSING_NAN), (PetscBool)(o->similarity > 0), &o->table, &delta, &weight, &P->names, &text));
    PetscCall(MatGetSize(delta, &P->N, NULL));
    both = (PetscBool)(o->weights[0] && weight);
    if (o->weights[0] && !both) PetscCall(InputLoadWeights(comm, o, P, &weight, what, sizeof(what)));
    if (!both && !what[0]) {
      PetscCall(PetscObjectSetName((PetscObject)delta, file)); /* for error messages */
      if (weight) PetscCall(PetscObjectSetName((PetscObject)weight, o->weights[0] ? o->weights : file));
      if (o->similarity) PetscCall(InputConvert(o, text, &delta));
      PetscCall(SMACOFSetDissimilarities(s, delta, weight));
    }
    PetscCall(MatDestroy(&delta));
    PetscCall(MatDestroy(&weight));
    if (both || what[0]) PetscCall(PointsDestroy(P));
    PetscCheck(!both, comm, PETSC_ERR_USER_INPUT, "-weights %s: the pairs of %s already have weights; remove the option or the fourth column", o->weights, file);
    PetscCheck(!what[0], comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %s", o->weights, what);
  }
  PetscCall(SMACOFSetMissing(s, (PetscBool)(text || o->similarity || o->missing == MISSING_NAN), (PetscBool)(!o->similarity && o->missing == MISSING_ZERO))); /* the reader of text files returns NaN for a missing number */
  PetscCall(SMACOFSetSymmetrize(s, o->symmetrize));
  PetscCall(SMACOFSetStorage(s, o->storage));
  PetscCall(SMACOFSetMatrixFree(s, o->matrix_free));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a matrix of dissimilarities with a row for each new point.  Its headings are the names of the points of the map. */
static PetscErrorCode InterpolateLoadMatrix(MPI_Comm comm, const InterpolateOptions *o, Mat *data, Points *map, Points *added)
{
  GpAppTable     T;
  GpAppComplaint C = {0};

  PetscFunctionBegin;
  PetscCall(GpAppTableRead(comm, o->file, &o->table, &T));
  PetscCall(GpAppTablePrint(&T));
  for (PetscInt k = 0; k < T.rows; k++)
    for (PetscInt j = 0; j < T.cols; j++)
      if (!(T.value[(size_t)k * (size_t)T.cols + (size_t)j] >= 0))
        GpAppComplainAbout(&C, PETSC_ERR_FILE_UNEXPECTED, T.line[k], "the dissimilarity of new point %" PetscInt_FMT " to point %" PetscInt_FMT " (counted from 0) is missing or negative", T.first + k, j);
  PetscCall(TableRaise(&T, &C));
  PetscCall(MatCreateFromTable(&T, data, added));
  map->N               = added->nfeatures;
  map->names           = added->feature_names;
  added->feature_names = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the features of the new points and of the points of the map, or the dissimilarities of the new points to the points of the map; known is NULL then.  Collective. */
PetscErrorCode InterpolateLoad(MPI_Comm comm, const InterpolateOptions *o, const InputOptions *in, Mat *known, Mat *data, Points *map, Points *added)
{
  const char *a, *b;

  PetscFunctionBegin;
  *known = NULL;
  *map = *added = (Points){0};
  if (!in->features[0]) {
    PetscCall(InterpolateLoadMatrix(comm, o, data, map, added));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FeaturesRead(comm, in->features, in->metric, &o->table, known, map));
  PetscCall(FeaturesRead(comm, o->file, in->metric, &o->table, data, added));
  PetscCheck(map->nfeatures == added->nfeatures, comm, PETSC_ERR_FILE_UNEXPECTED, "%s has %" PetscInt_FMT " features, but %s has %" PetscInt_FMT "; both need the same features", in->features, map->nfeatures, o->file, added->nfeatures);
  a = map->feature_names;
  b = added->feature_names;
  for (PetscInt f = 0; f < map->nfeatures && a && b; f++, a += strlen(a) + 1, b += strlen(b) + 1) /* columns are matched by place, so that headings in another order would mix up the features */
    PetscCheck(!strcmp(a, b), comm, PETSC_ERR_FILE_UNEXPECTED, "%s: feature %" PetscInt_FMT " (counted from 1) has the heading '%.20s', but '%.20s' in %s; write the same features in the same order", o->file, f + 1, b, a, in->features);
  PetscFunctionReturn(PETSC_SUCCESS);
}
