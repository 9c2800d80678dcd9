/* The device of this process: -gpucsr_device auto|cuda|host, opened at first use, closed by PetscFinalize(). */
/* MANSEC = Sys */
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
static PetscReal         Limit     = 0; /* -gpucsr_device_memory: bound in bytes; 0: no bound */
static GpDevOps          LimitedOps;    /* the device's operations, with those replaced that concern memory */
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

/* Called when the library is loaded, on all ranks. Later no collective call is possible, because a matrix may be created on one rank alone. */
PetscErrorCode PetscGPUCSRSetUpDevice_Private(void)
{
  MPI_Comm  node;
  PetscBool limited;

  PetscFunctionBegin;
  Choice = AUTO;
  Limit  = 0;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "gpucsr options", "Mat");
  PetscCall(
    PetscOptionsEList("-gpucsr_device", "Device of gpucsr matrices and vectors; auto selects a GPU, and the host only if there is no GPU", "PetscGPUCSRGetDeviceName", Choices, PETSC_STATIC_ARRAY_LENGTH(Choices), Choices[Choice], &Choice, NULL));
  PetscCall(PetscOptionsReal("-gpucsr_device_memory", "Upper bound in bytes on the device memory of a process; 0: no bound", "PetscGPUCSRGetDeviceName", Limit, &Limit, &limited));
  PetscOptionsEnd();
  PetscCheck(!limited || (!PetscIsInfOrNanReal(Limit) && Limit >= 0), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-gpucsr_device_memory %g: expected a number of bytes, or 0 for no bound", (double)Limit);
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

/* Replaces the memory operations by ones that respect the limit. They use no memory pool, so that other processes can use what is freed. */
static void PetscGPUCSRLimitMemory(GpDev dev)
{
  UnlimitedOps     = dev->ops;
  LimitedOps       = *dev->ops;
  LimitedOps.alloc = LimitedOps.alloc_shared = LimitedOps.borrow = GpDevAlloc_Limited;
  LimitedOps.release = LimitedOps.give_back = LimitedOps.release_shared;
  LimitedOps.memory                         = GpDevMemory_Limited;
  dev->ops                                  = &LimitedOps;
}

/* opens the GPU that PETSc uses if it has CUDA; otherwise the ranks of a node take its GPUs in turn */
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
  /* auto uses the host only if there is no GPU; a GPU that fails is an error */
  PetscCheck(Choice != CUDA && (err == GP_ERR_NO_DEVICE || err == GP_ERR_NOT_BUILT), PETSC_COMM_SELF, PetscGPUCSRErrorClass_Private(err), "-gpucsr_device %s: %s; use -gpucsr_device host to run on the CPU", Choices[Choice], why);
  if (Choice == AUTO) PetscCall(PetscInfo(NULL, "gpucsr: %s; using the host backend\n", why));
  err = GpDevOpen(GP_DEV_HOST, 0, &GpDevice, why, sizeof(why));
  PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass_Private(err), "opening the host backend: %s", why);
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
+ -gpucsr_device <auto,cuda,host> - the device; auto selects a GPU, and the host only if there is no GPU
- -gpucsr_device_memory <bytes>   - upper bound on the device memory of this process; allocating more is an error. 0 (default): no bound

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
  PetscGPUCSRDeviceMalloc - Allocates device memory for the kernels of a program

  Not Collective

  Input Parameters:
+ dev   - the device, from `VecGPUGetRuntime()`
. what  - beginning of the error message if there is too little memory: the purpose of the memory, and a remedy
- bytes - size in bytes; 0 gives `NULL`

  Output Parameter:
. ptr - address of the pointer to the memory, which kernels of every stream may use

  Options Database Key:
. -gpucsr_device_memory <bytes> - upper bound on the device memory of this process

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
  PetscGPUCSRDeviceFree - Frees device memory after the last kernel that uses it

  Not Collective

  Input Parameters:
+ dev   - the device
. bytes - the size given to `PetscGPUCSRDeviceMalloc()`
- ptr   - address of the pointer, which becomes `NULL`; if it is `NULL` already, nothing is done

  Level: developer

.seealso: `PetscGPUCSRDeviceMalloc()`
@*/
PetscErrorCode PetscGPUCSRDeviceFree(GpDev dev, size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  GpDevFree(dev, ptr, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}
