/* Transports for data in device memory between the ranks of a communicator: NCCL, whose communicator is stored as an attribute of the MPI
   communicator, or an MPI that accepts device pointers. */
/* MANSEC = Sys */
#include "sys/gpucsrexchange.h"

#if defined(OMPI_MAJOR_VERSION)
  #include <mpi-ext.h>
#endif

typedef struct _n_GpExchange *GpExchange;

struct _n_GpExchange {
  MPI_Comm   comm;
  GpNccl     nccl;
  char       why[512];
  GpExchange next;
};

/* what every rank sends to the others before NCCL connects them */
typedef struct {
  unsigned char uuid[16];
  int           ready;
} GpExchangeCard;

static PetscMPIInt Key   = MPI_KEYVAL_INVALID;
static GpExchange  First = NULL; /* list of the attributes of all communicators */

/* called by MPI when a communicator is freed */
static int MPIAPI PetscGPUCSRExchangeFree(MPI_Comm comm, PetscMPIInt key, void *attribute, void *extra)
{
  GpExchange E = (GpExchange)attribute, *link = &First;

  (void)comm;
  (void)key;
  (void)extra;
  while (*link && *link != E) link = &(*link)->next;
  if (*link) *link = E->next;
  GpNcclDestroy(&E->nccl);
  return PetscFree(E) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* Whether all ranks can connect. NCCL needs one GPU per rank, and waits forever for a missing rank. */
static PetscErrorCode PetscGPUCSRExchangeAgree(GpExchange E, GpDev dev, PetscMPIInt size, PetscBool *agreed)
{
  GpExchangeCard mine     = {.ready = 0}, *cards;
  char           why[256] = "";
  int            version;

  PetscFunctionBegin;
  *agreed = PETSC_TRUE;
  PetscCall(PetscMemcpy(mine.uuid, GpDevUUID(dev), sizeof(mine.uuid)));
  if (GpDevKindOf(dev) != GP_DEV_CUDA) PetscCall(PetscSNPrintf(E->why, sizeof(E->why), "NCCL needs GPUs; this is the host backend"));
  else if (GpNcclLoad(&version, why, sizeof(why))) PetscCall(PetscSNPrintf(E->why, sizeof(E->why), "%s", why));
  else {
    mine.ready = 1;
    PetscCall(PetscSNPrintf(E->why, sizeof(E->why), "NCCL %d.%d.%d", version / (version < 10000 ? 1000 : 10000), version / 100 % (version < 10000 ? 10 : 100), version % 100));
  }
  PetscCall(PetscMalloc1(size, &cards));
  PetscCallMPI(MPI_Allgather(&mine, (PetscMPIInt)sizeof(mine), MPI_BYTE, cards, (PetscMPIInt)sizeof(mine), MPI_BYTE, E->comm));
  for (PetscMPIInt r = 0; r < size && *agreed; r++) {
    if (!cards[r].ready) {
      *agreed = PETSC_FALSE;
      if (mine.ready) PetscCall(PetscSNPrintf(E->why, sizeof(E->why), "NCCL cannot be used on rank %d", r));
    }
    for (PetscMPIInt s = 0; s < r && *agreed; s++) {
      PetscBool same;

      PetscCall(PetscMemcmp(cards[s].uuid, cards[r].uuid, sizeof(mine.uuid), &same));
      if (!same) continue;
      *agreed = PETSC_FALSE;
      PetscCall(PetscSNPrintf(E->why, sizeof(E->why), "ranks %d and %d share a GPU; NCCL needs one GPU per rank", s, r));
    }
  }
  PetscCall(PetscFree(cards));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PetscGPUCSRExchangeConnect(GpExchange E, GpDev dev, PetscMPIInt size)
{
  unsigned char id[GP_NCCL_ID_BYTES] = {0};
  PetscMPIInt   rank;
  int           err = 0, worst;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(E->comm, &rank));
  if (!rank) err = GpNcclGetId(dev, id);
  PetscCallMPI(MPI_Bcast(&err, 1, MPI_INT, 0, E->comm));
  PetscCallMPI(MPI_Bcast(id, (PetscMPIInt)sizeof(id), MPI_BYTE, 0, E->comm));
  if (!err) err = GpNcclCreate(dev, size, rank, id, &E->nccl);
  PetscCallMPI(MPI_Allreduce(&err, &worst, 1, MPI_INT, MPI_MAX, E->comm));
  if (!worst) PetscFunctionReturn(PETSC_SUCCESS);
  GpNcclDestroy(&E->nccl);
  PetscCall(PetscSNPrintf(E->why, sizeof(E->why), "%s", err && GpDevError(dev)[0] ? GpDevError(dev) : "NCCL failed to connect on another rank"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscGPUCSRGetNCCL_Private(MPI_Comm comm, GpDev dev, GpNccl *nccl, const char **why)
{
  GpExchange  E;
  PetscMPIInt size, found;

  PetscFunctionBegin;
  if (Key == MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, PetscGPUCSRExchangeFree, &Key, NULL));
  PetscCallMPI(MPI_Comm_get_attr(comm, Key, (void *)&E, &found));
  if (!found) {
    PetscBool agreed;

    PetscCall(PetscNew(&E));
    E->comm = comm;
    PetscCallMPI(MPI_Comm_size(comm, &size));
    PetscCall(PetscGPUCSRExchangeAgree(E, dev, size, &agreed));
    if (agreed) PetscCall(PetscGPUCSRExchangeConnect(E, dev, size));
    E->next = First;
    First   = E;
    PetscCallMPI(MPI_Comm_set_attr(comm, Key, E));
  }
  *nccl = E->nccl;
  *why  = E->why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceConnectRanks - Connects the devices of all ranks of a communicator by NCCL, for `PetscGPUCSRDeviceSumRanks()`

  Collective

  Input Parameters:
+ comm - the communicator
- dev  - the device of this rank

  Output Parameters:
+ connected - whether NCCL connects the devices, the same on all ranks
- why       - the version of NCCL, or the reason why it does not connect them; valid until the communicator is freed

  Level: developer

  Note:
  NCCL needs a GPU for each rank. Only the first call for a communicator communicates.

.seealso: `PetscGPUCSRDeviceSumRanks()`, `VecGPUSumRanks()`
@*/
PetscErrorCode PetscGPUCSRDeviceConnectRanks(MPI_Comm comm, GpDev dev, PetscBool *connected, const char *why[])
{
  GpNccl nccl;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetNCCL_Private(comm, dev, &nccl, why));
  *connected = (PetscBool)(nccl != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceSumRanks - Sums 64-bit integers in device memory over the ranks of a communicator, in the order of the stream

  Collective

  Input Parameters:
+ comm - the communicator, whose devices `PetscGPUCSRDeviceConnectRanks()` has connected
. dev  - the device of this rank
. n    - number of integers, the same on all ranks
- from - the integers of this rank, in device memory

  Output Parameter:
. to - the sums, in device memory; it may be `from`

  Level: developer

  Note:
  The host does not wait, and a graph can capture the sum. All ranks must launch their sums over a communicator in the same order, and a graph with a sum equally often.

.seealso: `PetscGPUCSRDeviceConnectRanks()`, `PetscGPUCSRGraphCreate()`, `VecGPUSumRanks()`
@*/
PetscErrorCode PetscGPUCSRDeviceSumRanks(MPI_Comm comm, GpDev dev, PetscInt64 n, const int64_t from[], int64_t to[])
{
  GpNccl      nccl;
  const char *why;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetNCCL_Private(comm, dev, &nccl, &why));
  PetscCheck(nccl, comm, PETSC_ERR_ARG_WRONGSTATE, "NCCL does not connect the devices of the ranks: %s; call PetscGPUCSRDeviceConnectRanks() first", why);
  PetscCallGp(dev, "sum over the ranks", GpNcclSumIntegers(dev, nccl, n, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscGPUCSRFreeNCCL_Private(void)
{
  PetscFunctionBegin;
  while (First) PetscCallMPI(MPI_Comm_delete_attr(First->comm, Key));
  if (Key != MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_free_keyval(&Key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's option precedes the answer of MPI, because not every MPI answers. */
PetscErrorCode PetscGPUCSRIsMPIAware_Private(GpDev dev, PetscBool *aware, const char **why)
{
  PetscBool set;

  PetscFunctionBegin;
  *aware = PETSC_FALSE;
  *why   = "MPI does not report support for device pointers";
  if (GpDevKindOf(dev) == GP_DEV_HOST) {
    *aware = PETSC_TRUE;
    *why   = "the host backend uses host memory";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-use_gpu_aware_mpi", aware, &set));
  if (set) {
    *why = *aware ? "-use_gpu_aware_mpi 1" : "-use_gpu_aware_mpi 0";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(OMPI_HAVE_MPI_EXT_CUDA)
  *aware = (PetscBool)(MPIX_Query_cuda_support() == 1);
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  {
    int supported = 0;

    PetscCallMPI(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported));
    *aware = (PetscBool)supported;
  }
#endif
  if (*aware) *why = "MPI reports support for device pointers";
  PetscFunctionReturn(PETSC_SUCCESS);
}
