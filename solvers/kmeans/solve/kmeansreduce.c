/* The sum of the tally over the ranks. The entries of the tally are integers, so that the order of the additions does not change the bits of the sum. */
#include "solvers/kmeans/kmeansimpl.h"

/* Sums a tally by NCCL once during the set-up. NCCL connects the GPUs at the first sum of a size, which takes longer than many iterations. */
static PetscErrorCode KMeansReduceWarmUp(KMeans km)
{
  const KMeansData *A     = &km->points.data;
  const int64_t     count = KMeansTallySize(km->k, A->d, A->words);
  const size_t      bytes = (size_t)count * sizeof(int64_t);
  int64_t          *tally;

  PetscFunctionBegin;
  PetscCallGp(A->dev, "Sums", GpDevBorrow(A->dev, bytes, &tally));
  PetscCallGp(A->dev, "Sums", GpDevZero(A->dev, tally, bytes));
  PetscCall(PetscGPUCSRDeviceSumRanks(PetscObjectComm((PetscObject)km), A->dev, count, tally, tally));
  PetscCall(PetscGPUCSRDeviceSynchronize(A->dev));
  GpDevReturn(A->dev, &tally, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses between NCCL and MPI, with the same result on all ranks. */
PetscErrorCode KMeansReduceSetUp_Private(KMeans km)
{
  const MPI_Comm comm      = PetscObjectComm((PetscObject)km);
  PetscBool      connected = PETSC_FALSE;

  PetscFunctionBegin;
  km->reducing  = KMEANS_REDUCE_MPI;
  km->reducewhy = "the setting of -kmeans_reduce";
  if (km->points.ranks == 1 || km->reduce == KMEANS_REDUCE_MPI) PetscFunctionReturn(PETSC_SUCCESS);
  if (KMeansUpdateTable[km->now[1]].properties & KMEANS_ON_HOST) km->reducewhy = "the update adds on the host";
  else PetscCall(PetscGPUCSRDeviceConnectRanks(comm, km->points.data.dev, &connected, &km->reducewhy));
  PetscCheck(connected || km->reduce == KMEANS_REDUCE_AUTO, comm, PETSC_ERR_USER_INPUT, "-kmeans_reduce nccl: %s; use -kmeans_reduce auto or mpi", km->reducewhy);
  if (!connected) PetscFunctionReturn(PETSC_SUCCESS);
  km->reducing = KMEANS_REDUCE_NCCL;
  PetscCall(KMeansReduceWarmUp(km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums the tally over all ranks to km->tally. copied: number of entries that are copied from the device first; km->tally already has the remaining entries of this rank. */
static PetscErrorCode KMeansReduceByMPI(KMeans km, const KMeansData *A, int64_t copied)
{
  const int64_t count = KMeansTallySize(A->k, A->d, A->words);

  PetscFunctionBegin;
  PetscCheck(count <= PETSC_MPI_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP, "KMeans: %" PetscInt64_FMT " sums of clusters and features, more than MPI can count; ask for fewer clusters", (PetscInt64)count);
  PetscCallGp(A->dev, "Sums", GpDevDownload(A->dev, km->tally, A->tally, (size_t)copied * sizeof(int64_t)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, km->tally, (PetscMPIInt)count, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)km)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums the tally over all ranks to A->reduced, in device memory. */
PetscErrorCode KMeansReduceOnDevice_Private(KMeans km, const KMeansData *A)
{
  const int64_t count = KMeansTallySize(A->k, A->d, A->words);

  PetscFunctionBegin;
  if (A->reduced == A->tally) PetscFunctionReturn(PETSC_SUCCESS);
  if (km->reducing == KMEANS_REDUCE_NCCL) PetscCall(PetscGPUCSRDeviceSumRanks(PetscObjectComm((PetscObject)km), A->dev, count, A->tally, A->reduced));
  else {
    PetscCall(KMeansReduceByMPI(km, A, count));
    PetscCallGp(A->dev, "Sums", GpDevUpload(A->dev, A->reduced, km->tally, (size_t)count * sizeof(int64_t)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums the tally over all ranks to km->tally. totals: true if only the totals are on the device, and km->tally already has the other entries of this rank. */
PetscErrorCode KMeansReduceOnHost_Private(KMeans km, const KMeansData *A, PetscBool totals)
{
  const int64_t count = KMeansTallySize(A->k, A->d, A->words);

  PetscFunctionBegin;
  if (km->reducing == KMEANS_REDUCE_NCCL) {
    PetscCall(KMeansReduceOnDevice_Private(km, A));
    PetscCallGp(A->dev, "Sums", GpDevDownload(A->dev, km->tally, A->reduced, (size_t)count * sizeof(int64_t)));
  } else PetscCall(KMeansReduceByMPI(km, A, totals ? KMEANS_TALLY : count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
