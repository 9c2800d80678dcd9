/* Checks of examples before their use, and the lines of the file that hold them, for messages. */
#include "app/text/appcollective.h"
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

/* Refuses a largest feature index that is out of proportion to the number of entries, unless as many features are accepted: a wrong index in a small
   file would ask for gigabytes of weights. */
PetscErrorCode BMRMExamplesCheckFeatures(const BMRMExamples *ex, PetscInt accepted)
{
  GpAppComplaint wrong = {0};

  PetscFunctionBegin;
  if (!BMRMFeaturesFit(ex->N, ex->nnz, accepted))
    GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, ex->widest, "feature %" PetscInt_FMT " in data of %" PetscInt64_FMT " entries: every vector of weights would take %.1f GiB; give -features %" PetscInt_FMT " if that is meant", ex->N, ex->nnz,
                       (double)ex->N * (double)sizeof(PetscScalar) / 1073741824., ex->N);
  PetscCall(GpAppComplaintRaise(ex->comm, ex->file, &wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses examples with features that a model of n features does not have. */
PetscErrorCode BMRMExamplesCheckModel(const BMRMExamples *ex, PetscInt n)
{
  GpAppComplaint wrong = {0};

  PetscFunctionBegin;
  if (ex->N > n)
    GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, ex->widest, "feature %" PetscInt_FMT ", but the model has %" PetscInt_FMT " features: train with -features %" PetscInt_FMT ", or leave out the features that the model does not know", ex->N, n,
                       ex->N);
  PetscCall(GpAppComplaintRaise(ex->comm, ex->file, &wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses labels that the loss of the solver cannot take as they are. */
PetscErrorCode BMRMExamplesCheckLabels(const BMRMExamples *ex, BMRM b)
{
  GpAppComplaint wrong = {0};
  PetscInt64     start;
  PetscBool      fits = PETSC_TRUE;
  const char    *wants, *loss;

  PetscFunctionBegin;
  PetscCall(GpAppSumBefore(ex->comm, ex->m, &start, NULL));
  PetscCall(BMRMGetLossType(b, &loss));
  for (PetscInt i = 0; i < ex->m && fits; i++) {
    PetscCall(BMRMCheckLabel(b, ex->label[i], &fits, &wants));
    if (fits) continue;
    if (ex->lined) GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, BMRMExamplesGetLine(ex, i), "label %.15g does not suit the loss %s, which wants %s", (double)ex->label[i], loss, wants);
    else GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, 0, "row %" PetscInt64_FMT ", counted from 0: label %.15g does not suit the loss %s, which wants %s", start + i, (double)ex->label[i], loss, wants);
  }
  PetscCall(GpAppComplaintRaise(ex->comm, ex->file, &wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}
