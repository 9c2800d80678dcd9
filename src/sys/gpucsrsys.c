/* The device that this process uses: -gpucsr_device auto|cuda|host, opened at first need, closed by PetscFinalize(). */
#include "sys/gpucsrsys.h"
#include "gpucsr.h"

enum {
  AUTO,
  CUDA,
  HOST
};

static const char *const Choices[] = {"auto", "cuda", "host"};
static PetscInt          Choice    = AUTO;
static GpDev             GpDevice  = NULL;
static PetscMPIInt       NodeRank  = 0;
static PetscReal         Limit     = 0; /* bytes of device memory; 0: as many as there are */
static GpDevOps          LimitedOps;    /* the device's own, but for two */
static const GpDevOps   *UnlimitedOps;

PetscErrorCode PetscGPUCSRErrorClass_Private(GpErr err)
{
  switch (err) {
  case GP_ERR_MEMORY:
    return PETSC_ERR_MEM;
  case GP_ERR_NOT_BUILT:
    return PETSC_ERR_SUP_SYS;
  case GP_ERR_ARGUMENT:
    return PETSC_ERR_ARG_OUTOFRANGE;
  default:
    return PETSC_ERR_GPU;
  }
}

/* What is asked at load, where all ranks are: a matrix may be made on one rank alone, where nothing collective is allowed. */
PetscErrorCode PetscGPUCSRSetUpDevice_Private(void)
{
  MPI_Comm  node;
  PetscBool limited;

  PetscFunctionBegin;
  Choice = AUTO;
  Limit  = 0;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "gpucsr options", "Mat");
  PetscCall(PetscOptionsEList("-gpucsr_device", "Where gpucsr matrices live; auto takes a GPU and falls to the host only when there is none", "PetscGPUCSRGetDeviceName", Choices, PETSC_STATIC_ARRAY_LENGTH(Choices), Choices[Choice], &Choice, NULL));
  PetscCall(PetscOptionsReal("-gpucsr_device_memory", "Bytes of device memory that a process may hold; 0 for all there is", "PetscGPUCSRGetDeviceName", Limit, &Limit, &limited));
  PetscOptionsEnd();
  PetscCheck(!limited || (!PetscIsInfOrNanReal(Limit) && Limit >= 0), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-gpucsr_device_memory %g: a number of bytes is wanted, or 0 for all there is", (double)Limit);
  PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_rank(node, &NodeRank));
  PetscCallMPI(MPI_Comm_free(&node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GpErr GpDevAlloc_Limited(GpDev dev, size_t bytes, void **ptr)
{
  const double left = PetscMax((double)Limit - dev->bytes_held, 0);

  if ((double)bytes > left) return GpDevFail(dev, GP_ERR_MEMORY, "out of device memory on %s: %zu bytes asked for, %.0f of %.0f free (raise -gpucsr_device_memory)", dev->name, bytes, left, (double)Limit);
  return UnlimitedOps->alloc_shared(dev, bytes, ptr);
}

static GpErr GpDevMemory_Limited(GpDev dev, size_t *available, size_t *total)
{
  GpErr err = UnlimitedOps->memory(dev, available, total);

  *available = (size_t)PetscMin((double)*available, PetscMax((double)Limit - dev->bytes_held, 0));
  *total     = (size_t)PetscMin((double)*total, (double)Limit);
  return err;
}

/* For a GPU that others use too, and for tests of what happens when it is full.  No pool: what is given back is there for the others. */
static void PetscGPUCSRLimitMemory(GpDev dev)
{
  UnlimitedOps     = dev->ops;
  LimitedOps       = *dev->ops;
  LimitedOps.alloc = LimitedOps.alloc_shared = LimitedOps.borrow = GpDevAlloc_Limited;
  LimitedOps.release = LimitedOps.give_back = LimitedOps.release_shared;
  LimitedOps.memory                         = GpDevMemory_Limited;
  dev->ops                                  = &LimitedOps;
}

/* the GPU that PETSc itself uses when it has CUDA, else the node's GPUs in turn */
static PetscErrorCode PetscGPUCSROpenCUDA(int count)
{
  char     why[256] = "";
  PetscInt id;
  GpErr    err;

  PetscFunctionBegin;
  PetscCall(GpCompatGetDeviceId(&id));
  if (id < 0) id = NodeRank % count;
  err = GpDevOpen(GP_DEV_CUDA, (int)id, &GpDevice, why, sizeof(why));
  PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass_Private(err), "opening GPU %d: %s", (int)id, why);
  PetscCall(PetscInfo(NULL, "gpucsr: rank %d of this node uses GPU %d of %d, %s\n", (int)NodeRank, (int)id, count, GpDevice->name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PetscGPUCSROpenDevice(void)
{
  char  why[256] = "";
  int   count    = 0;
  GpErr err      = GP_ERR_NO_DEVICE;

  PetscFunctionBegin;
  if (Choice != HOST) err = GpDevCount(GP_DEV_CUDA, &count, why, sizeof(why));
  if (!err) {
    PetscCall(PetscGPUCSROpenCUDA(count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* only the absence of a device lets auto fall back; a GPU that fails is for the user to see */
  PetscCheck(Choice != CUDA && (err == GP_ERR_NO_DEVICE || err == GP_ERR_NOT_BUILT), PETSC_COMM_SELF, PetscGPUCSRErrorClass_Private(err), "-gpucsr_device %s: %s; use -gpucsr_device host to run on the CPU", Choices[Choice], why);
  if (Choice == AUTO) PetscCall(PetscInfo(NULL, "gpucsr: %s; the host runtime takes its place\n", why));
  err = GpDevOpen(GP_DEV_HOST, 0, &GpDevice, why, sizeof(why));
  PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass_Private(err), "opening the host runtime: %s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscGPUCSRGetDevice_Private(GpDev *dev)
{
  PetscFunctionBegin;
  if (!GpDevice) {
    PetscCall(PetscGPUCSROpenDevice());
    if (Limit > 0) PetscGPUCSRLimitMemory(GpDevice);
  }
#if defined(PETSC_HAVE_CUDA)
  if (GpDevice->kind == GP_DEV_CUDA) PetscCall(GpCompatGetStream(&GpDevice->stream));
#endif
  *dev = GpDevice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscGPUCSRCloseDevice_Private(void)
{
  PetscFunctionBegin;
  GpDevClose(&GpDevice);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRGetDeviceName - Gets the name of the device that matrices of type `MATGPUCSR` use in this process

  Not Collective

  Output Parameter:
. name - `host`, or the name of the GPU; valid until `PetscFinalize()`

  Options Database Keys:
+ -gpucsr_device <auto,cuda,host> - the device; auto takes a GPU and falls to the host only when there is none
- -gpucsr_device_memory <bytes>   - of device memory that this process may hold, for a GPU that others use too; more is an error

  Level: intermediate

.seealso: `MATGPUCSR`, `MatGPUCSRGetInfo()`
@*/
PetscErrorCode PetscGPUCSRGetDeviceName(const char *name[])
{
  GpDev dev = NULL;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice_Private(&dev));
  *name = dev->name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceMalloc - Takes memory on a device, for kernels of a program's own

  Not Collective

  Input Parameters:
+ dev   - the device, from `VecGPUGetRuntime()`
. what  - the words that begin the error message if there is no room: what it is for, and what else can be done
- bytes - how many; 0 gives `NULL`

  Output Parameter:
. ptr - address of the pointer to it; the kernels of every stream may use it

  Options Database Key:
. -gpucsr_device_memory <bytes> - how much of the device's memory this process may hold, this and all others

  Level: developer

.seealso: `PetscGPUCSRDeviceFree()`, `VecGPUGetRuntime()`, `MatGPUCSRMultArray()`
@*/
PetscErrorCode PetscGPUCSRDeviceMalloc(GpDev dev, const char what[], size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  PetscCallGp(dev, what, GpDevAlloc(dev, bytes, ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRDeviceFree - Gives memory back to its device, when no kernel uses it any more

  Not Collective

  Input Parameters:
+ dev   - the device
. bytes - as many as `PetscGPUCSRDeviceMalloc()` was asked for
- ptr   - address of the pointer, which becomes `NULL`; nothing is done if it is that already

  Level: developer

.seealso: `PetscGPUCSRDeviceMalloc()`
@*/
PetscErrorCode PetscGPUCSRDeviceFree(GpDev dev, size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  GpDevFree(dev, ptr, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}
