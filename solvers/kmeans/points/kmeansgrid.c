/* The grid over all points for the assignment `cells`. assign/kmeanscells.h describes it. */
#include "solvers/kmeans/kmeansimpl.h"

/* Divides the box into cells: halves the widest cells until there are KMEANS_CELLS. Cells whose width single precision cannot handle are not divided. */
static void KMeansGridDivide(KMeansGrid *G, int32_t d)
{
  for (int32_t j = 0; j < d; j++) {
    G->width[j] = G->high[j] - G->low[j];
    G->bits[j]  = 0;
  }
  for (int b = 0; b < KMEANS_CELLS_BITS; b++) {
    int32_t widest = 0;

    for (int32_t j = 1; j < d; j++) widest = G->width[j] > G->width[widest] ? j : widest;
    if (!(G->width[widest] > 0x1p-90 && G->width[widest] < 0x1p100)) break;
    G->width[widest] *= 0.5;
    G->bits[widest]++;
  }
  for (int32_t j = 0; j < d; j++) G->inverse[j] = G->bits[j] ? (float)(1 / G->width[j]) : 0;
}

/* Makes the grid of all points on all ranks, so that the lists of candidates do not depend on the number of ranks. */
PetscErrorCode KMeansPointsSetGrid_Private(MPI_Comm comm, KMeansPoints *P)
{
  KMeansData *A = &P->data;
  KMeansGrid  G;

  PetscFunctionBegin;
  if (A->grid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemzero(&G, sizeof(G)));
  PetscCallGp(A->dev, "Grid", GP_ON_DEVICE(A->dev, KMeansBox, A, G.low, G.high));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, G.low, A->d, MPI_DOUBLE, MPI_MIN, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, G.high, A->d, MPI_DOUBLE, MPI_MAX, comm));
  KMeansGridDivide(&G, A->d);
  PetscCallGp(A->dev, "Grid", GpDevAlloc(A->dev, sizeof(*A->grid), &A->grid));
  PetscCallGp(A->dev, "Grid", GpDevAlloc(A->dev, sizeof(*A->cells), &A->cells));
  PetscCallGp(A->dev, "Grid", GpDevUpload(A->dev, A->grid, &G, sizeof(G)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KMeansPointsFreeGrid_Private(KMeansPoints *P)
{
  KMeansData *A = &P->data;

  PetscFunctionBegin;
  if (A->grid) GpDevFree(A->dev, &A->grid, sizeof(*A->grid));
  if (A->cells) GpDevFree(A->dev, &A->cells, sizeof(*A->cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}
