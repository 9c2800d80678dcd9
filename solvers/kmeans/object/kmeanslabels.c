/* The labels on the host. */
#include "solvers/kmeans/kmeansimpl.h"
#include "device/gpupload.h"

/* Copies the labels on the device to an array. */
PetscErrorCode KMeansLabelsCopy_Private(const KMeansData *A, PetscInt label[])
{
  const size_t bytes = (size_t)A->n * sizeof(int32_t);

  PetscFunctionBegin;
  if (sizeof(PetscInt) == sizeof(int32_t)) PetscCallGp(A->dev, "Labels", GpDevDownloadByThreads(A->dev, 0, label, A->label, bytes));
  else {
    GpDevAdviseHuge(label, (size_t)A->n * sizeof(*label));
    PetscCallGp(A->dev, "Labels", GpDevDownloadDrained(A->dev, 0, A->label, bytes, GpDevDrainWiden, label));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Forgets the results. */
PetscErrorCode KMeansLabelsDestroy_Private(KMeans km)
{
  PetscFunctionBegin;
  PetscCall(ISDestroy(&km->labels));
  PetscCall(PetscFree(km->label));
  km->solved = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the labels to the host. On several ranks, creating an index set is collective, while KMeansGetLabels() is not, so that it is created here. */
PetscErrorCode KMeansLabelsCreate_Private(KMeans km)
{
  const KMeansData *A = &km->points.data;

  PetscFunctionBegin;
  if (!km->label) PetscCall(PetscMalloc1(PetscMax(A->n, 1), &km->label));
  PetscCall(KMeansLabelsCopy_Private(A, km->label));
  km->solved = PETSC_TRUE;
  if (km->points.ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)km), A->n, km->label, PETSC_OWN_POINTER, &km->labels));
  km->label = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
