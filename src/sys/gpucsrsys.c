/* The device of this process: -gpucsr_device auto|cuda|host, opened at first use, closed by PetscFinalize(). */
/* MANSEC = Sys */
#include "sys/gpucsrsys.h"
#include "sys/gpucsrbytes.h"
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

/* Called when the library is loaded, on all ranks. Later no collective call is possible, because a matrix may be created on one rank alone. */
PetscErrorCode PetscGPUCSRSetUpDevice_Private(void)
{
  MPI_Comm  node;
  PetscBool limited;
  char      text[64];

  PetscFunctionBegin;
  Choice = AUTO;
  Limit  = 0;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "gpucsr options", "Mat");
  PetscCall(
    PetscOptionsEList("-gpucsr_device", "Device of gpucsr matrices and vectors; auto selects a GPU, and the host only if there is no GPU", "PetscGPUCSRGetDeviceName", Choices, PETSC_STATIC_ARRAY_LENGTH(Choices), Choices[Choice], &Choice, NULL));
  PetscCall(PetscOptionsString("-gpucsr_device_memory", "Upper bound on the device memory of a process, " GPUCSR_BYTES_FORM "; 0: no bound", "PetscGPUCSRGetDeviceName", "0", text, sizeof(text), &limited));
  PetscOptionsEnd();
  PetscCheck(!limited || (PetscGPUCSRParseBytes_Private(text, &Limit) && Limit >= 0), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-gpucsr_device_memory %s: expected " GPUCSR_BYTES_FORM ", or 0 for no bound", text);
  PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_rank(node, &NodeRank));
  PetscCallMPI(MPI_Comm_free(&node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens the GPU that PETSc uses if it has CUDA; otherwise the ranks of a node take its GPUs in turn. */
static PetscErrorCode PetscGPUCSROpenDevice(void)
{
  char     why[256] = "";
  int      count    = 0;
  GpErr    err      = GP_ERR_NO_DEVICE;
  PetscInt id;

  PetscFunctionBegin;
  if (Choice != HOST) err = GpDevCount(GP_DEV_CUDA, &count, why, sizeof(why));
  if (!err) {
    PetscCall(GpCompatGetDeviceId(&id));
    if (id < 0) id = NodeRank % count;
    err = GpDevOpen(GP_DEV_CUDA, (int)id, &GpDevice, why, sizeof(why));
    PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass(err), "opening GPU %d: %s", (int)id, why);
    PetscCall(PetscInfo(NULL, "gpucsr: rank %d of this node uses GPU %d of %d, %s\n", (int)NodeRank, (int)id, count, GpDevName(GpDevice)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* auto uses the host only if there is no GPU; a GPU that fails is an error */
  PetscCheck(Choice != CUDA && (err == GP_ERR_NO_DEVICE || err == GP_ERR_NOT_BUILT), PETSC_COMM_SELF, PetscGPUCSRErrorClass(err), "-gpucsr_device %s: %s; use -gpucsr_device host to run on the CPU", Choices[Choice], why);
  if (Choice == AUTO) PetscCall(PetscInfo(NULL, "gpucsr: %s; using the host backend\n", why));
  err = GpDevOpen(GP_DEV_HOST, 0, &GpDevice, why, sizeof(why));
  PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass(err), "opening the host backend: %s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscGPUCSRGetDevice - Gets the device that matrices of type `MATGPUCSR` and vectors of type `VECGPU` use in this process

  Not Collective

  Output Parameter:
. dev - the device, valid until `PetscFinalize()`

  Options Database Key:
. -gpucsr_device <auto,cuda,host> - the device, which the first call opens

  Level: developer

  Note:
  In a PETSc with CUDA the stream of the device becomes PETSc's current stream, unless `PetscGPUCSRDevicePushStream()` is in effect. No
  synchronisation is needed between PETSc and gpucsr.

.seealso: `GpDev`, `VecGPUGetRuntime()`, `PetscGPUCSRGetDeviceName()`, `PetscGPUCSRDevicePushStream()`
@*/
PetscErrorCode PetscGPUCSRGetDevice(GpDev *dev)
{
  PetscFunctionBegin;
  if (!GpDevice) {
    PetscCall(PetscGPUCSROpenDevice());
    GpDevSetMemoryLimit(GpDevice, (double)Limit);
  }
#if defined(PETSC_HAVE_CUDA)
  if (GpDevKindOf(GpDevice) == GP_DEV_CUDA) {
    void *stream = NULL;

    PetscCall(GpCompatGetStream(&stream));
    GpDevSetStream(GpDevice, stream);
  }
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
- -gpucsr_device_memory <bytes>   - upper bound on the device memory of this process; allocating more is an error. 4G is 4 x 2^30 bytes. 0 (default): no bound

  Level: intermediate

.seealso: `MATGPUCSR`, `MatGPUCSRGetInfo()`
@*/
PetscErrorCode PetscGPUCSRGetDeviceName(const char *name[])
{
  GpDev dev = NULL;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  *name = GpDevName(dev);
  PetscFunctionReturn(PETSC_SUCCESS);
}
