/* Checks of examples before their use. */
#include "app/text/appcollective.h"
#include "examples.h"

/* Refuses a largest feature index that is out of proportion to the number of entries, unless as many features are accepted: a wrong index in a small
   file would ask for gigabytes of weights. */
PetscErrorCode BMRMExamplesCheckFeatures(const BMRMExamples *ex, PetscInt accepted)
{
  GpAppComplaint wrong = {0};

  PetscFunctionBegin;
  if (!GpAppFeaturesFit(ex->N, ex->nnz, accepted))
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
    if (ex->lined) GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, GpAppRowLinesGet(&ex->lines, i), "label %.15g does not suit the loss %s, which wants %s", (double)ex->label[i], loss, wants);
    else GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, 0, "row %" PetscInt64_FMT ", counted from 0: label %.15g does not suit the loss %s, which wants %s", start + i, (double)ex->label[i], loss, wants);
  }
  PetscCall(GpAppComplaintRaise(ex->comm, ex->file, &wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}
