/* Checks of examples before their use, and the lines of the file that hold them, for messages. */
#include "examples.h"

/* Notes the line of the last example of this rank, counted from 1 on this rank. A pair is stored only where lines without an example, such as comments, come before it. */
PetscErrorCode BMRMExamplesNoteLine(BMRMExamples *ex, PetscInt64 line)
{
  const PetscInt64 skipped = line - 1 - ex->m;

  PetscFunctionBegin;
  if (skipped == (ex->nskip ? ex->skip[2 * ex->nskip - 1] : 0)) PetscFunctionReturn(PETSC_SUCCESS);
  if (ex->nskip == ex->skipcap) {
    ex->skipcap = PetscMax(64, 2 * ex->skipcap);
    PetscCall(PetscRealloc(2 * (size_t)ex->skipcap * sizeof(*ex->skip), &ex->skip));
  }
  ex->skip[2 * ex->nskip]     = ex->m;
  ex->skip[2 * ex->nskip + 1] = skipped;
  ex->nskip++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The line of the file that holds an example of this rank. */
static PetscInt64 BMRMExamplesGetLine(const BMRMExamples *ex, PetscInt row)
{
  PetscInt lo = 0, hi = ex->nskip; /* pairs before lo belong to this example or to earlier ones */

  while (lo < hi) {
    const PetscInt mid = lo + (hi - lo) / 2;

    if (ex->skip[2 * mid] <= row) lo = mid + 1;
    else hi = mid;
  }
  return ex->before + row + 1 + (lo ? ex->skip[2 * lo - 1] : 0);
}

/* The beginning of a message about a line of the file, or about the file. */
static PetscErrorCode BMRMExamplesPrintPlace(const BMRMExamples *ex, PetscInt64 line, char place[], size_t size)
{
  PetscFunctionBegin;
  if (line) PetscCall(PetscSNPrintf(place, size, "%s:%" PetscInt64_FMT ": ", ex->file, line));
  else PetscCall(PetscSNPrintf(place, size, "%s: ", ex->file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses a largest feature index that is out of proportion to the number of entries, unless as many features are accepted: a wrong index in a small
   file would ask for gigabytes of weights. */
PetscErrorCode BMRMExamplesCheckFeatures(const BMRMExamples *ex, PetscInt accepted)
{
  char place[PETSC_MAX_PATH_LEN + 32];

  PetscFunctionBegin;
  PetscCall(BMRMExamplesPrintPlace(ex, ex->widest, place, sizeof(place)));
  PetscCheck(BMRMFeaturesFit(ex->N, ex->nnz, accepted), ex->comm, PETSC_ERR_FILE_UNEXPECTED,
             "%sfeature %" PetscInt_FMT " in data of %" PetscInt64_FMT " entries: every vector of weights would take %.1f GiB; give -features %" PetscInt_FMT " if that is meant", place, ex->N, ex->nnz,
             (double)ex->N * (double)sizeof(PetscScalar) / 1073741824., ex->N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses examples with features that a model of n features does not have. */
PetscErrorCode BMRMExamplesCheckModel(const BMRMExamples *ex, PetscInt n)
{
  char place[PETSC_MAX_PATH_LEN + 32];

  PetscFunctionBegin;
  PetscCall(BMRMExamplesPrintPlace(ex, ex->widest, place, sizeof(place)));
  PetscCheck(ex->N <= n, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%sfeature %" PetscInt_FMT ", but the model has %" PetscInt_FMT " features: train with -features %" PetscInt_FMT ", or leave out the features that the model does not know", place, ex->N,
             n, ex->N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses labels that the loss of the solver cannot take as they are. */
PetscErrorCode BMRMExamplesCheckLabels(const BMRMExamples *ex, BMRM b)
{
  struct {
    PetscInt64 at; /* line, or row */
    double     label;
  } it            = {0, 0};
  PetscInt    bad = 0, start = 0;
  PetscBool   fits  = PETSC_TRUE;
  const char *wants = NULL, *loss;
  PetscMPIInt rank, size, mine, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(ex->comm, &rank));
  PetscCallMPI(MPI_Comm_size(ex->comm, &size));
  PetscCallMPI(MPI_Scan(&ex->m, &start, 1, MPIU_INT, MPI_SUM, ex->comm));
  start -= ex->m;
  PetscCall(BMRMCheckLabel(b, 0, &fits, &wants));
  for (fits = PETSC_TRUE; bad < ex->m; bad++) {
    PetscCall(BMRMCheckLabel(b, ex->label[bad], &fits, &wants));
    if (!fits) break;
  }
  if (!fits) {
    it.at    = ex->lined ? BMRMExamplesGetLine(ex, bad) : (PetscInt64)start + bad;
    it.label = (double)ex->label[bad];
  }
  mine = fits ? size : rank;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, ex->comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&it, (PetscMPIInt)sizeof(it), MPI_BYTE, first, ex->comm));
  PetscCall(BMRMGetLossType(b, &loss));
  PetscCheck(ex->lined, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: row %" PetscInt64_FMT ", counted from 0: label %.15g does not suit the loss %s, which wants %s", ex->file, it.at, it.label, loss, wants);
  SETERRQ(ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": label %.15g does not suit the loss %s, which wants %s", ex->file, it.at, it.label, loss, wants);
}
