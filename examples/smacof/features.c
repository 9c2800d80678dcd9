/* Feature vectors: every rank holds those of all points, for distances that are computed from them. */
#include "smacof.h"

const char *const Metrics[] = {"euclidean", "cosine", "manhattan", "Metric", "", NULL}; /* in the order of pass.h */

/*
  FeaturesRead - Reads feature vectors from CSV or LIBSVM

  Collective

  Input Parameters:
+ comm   - the communicator
. file   - a line for each point; a word before the numbers, or a LIBSVM label, is its name
- metric - how distances will be measured: cosine wants vectors of length 1

  Output Parameters:
+ F     - the vectors, on every rank
- names - on the first rank, NULL when there are none
*/
PetscErrorCode FeaturesRead(MPI_Comm comm, const char file[], PetscInt metric, Features *F, char **names)
{
  PetscReal *all;
  Table      T;

  PetscFunctionBegin;
  PetscCall(TableRead(comm, file, PETSC_FALSE, &T));
  PetscCheck(!T.market, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: features are read from CSV or LIBSVM, not from Matrix Market", file);
  PetscCheck(T.N < PETSC_MPI_INT_MAX, comm, PETSC_ERR_SUP, "%s: more points than a 32-bit index counts", file);
  PetscCall(TableGather(&T, &all));
  PetscCall(TableNames(&T, names));
  F->N = T.N;
  F->n = T.cols;
  PetscCall(PetscMalloc1((size_t)F->N * F->n, &F->value));
  for (PetscInt i = 0; i < F->N; i++) {
    PetscReal length = 0;

    for (PetscInt f = 0; f < F->n; f++) {
      const PetscReal v = all[(size_t)i * F->n + f];

      PetscCheck(!PetscIsNanReal(v), comm, PETSC_ERR_FILE_UNEXPECTED, "%s: feature %" PetscInt_FMT " of point %" PetscInt_FMT " (counted from 0) is missing; distances need all", file, f, i);
      length = PetscSqrtReal(length * length + v * v);
    }
    PetscCheck(metric != PASS_COSINE || length > 0, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: all features of point %" PetscInt_FMT " (counted from 0) are 0: it has no direction for -metric cosine", file, i);
    for (PetscInt f = 0; f < F->n; f++) F->value[(size_t)f * F->N + i] = all[(size_t)i * F->n + f] / (metric == PASS_COSINE ? length : 1);
  }
  PetscCall(PetscFree(all));
  PetscCall(TableDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FeaturesDestroy(Features *F)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(F->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
