/* The CUDA backend. It links the CUDA runtime statically; with a PETSc that has CUDA it shares only the primary context. */
#include "device/gpdeviceimpl.h"
#include "device/gplaunch.h"

#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>

extern "C" GpErr GpDevCount(GpDevKind kind, int *count, char *why, size_t whylen)
{
  *count = 1;
  if (kind == GP_DEV_HOST) return GP_SUCCESS;
  int         driver = 0;
  cudaError_t code   = cudaGetDeviceCount(count);
  if (code == cudaSuccess && *count > 0) return GP_SUCCESS;
  *count = 0;
  (void)cudaGetLastError();
  /* A machine without a GPU has no driver, or a driver that lists no GPU. Any other failure is an error that the user must see. */
  cudaDriverGetVersion(&driver);
  const bool absent = code == cudaSuccess || code == cudaErrorNoDevice || driver == 0;
  if (why) snprintf(why, whylen, "no CUDA device: %s", driver == 0 ? "no driver is installed" : code == cudaSuccess ? "the driver lists none" : cudaGetErrorString(code));
  return absent ? GP_ERR_NO_DEVICE : GP_ERR_DEVICE;
}

/* Creates the memory pool of the device. The pool keeps freed memory up to 1/32 of the GPU's memory, because a cudaMalloc() of some megabytes
   takes as long as ten products of a matrix of that size. *pool is NULL if the driver has no pools. */
static GpErr GpDevMakePool(GpDev dev, int ordinal, size_t memory, cudaMemPool_t *pool)
{
  cudaMemPoolProps props = {};
  uint64_t         keep  = memory / 32;
  int              has   = 0;
  GpErr            err   = GpCheckCuda(dev, cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, ordinal), "checking for memory pools");

  *pool = NULL;
  if (err || !has) return err;
  props.allocType     = cudaMemAllocationTypePinned;
  props.handleTypes   = cudaMemHandleTypeNone;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id   = ordinal;
  err                 = GpCheckCuda(dev, cudaMemPoolCreate(pool, &props), "creating a memory pool");
  return err ? err : GpCheckCuda(dev, cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &keep), "setting up a memory pool");
}

static void GpDevClose_CUDA(GpDev dev)
{
  if (dev->pool) cudaMemPoolDestroy((cudaMemPool_t)dev->pool);
  if (dev->pool_stream) cudaStreamDestroy((cudaStream_t)dev->pool_stream);
  for (int k = 0; k < GP_DEV_STREAMS_OWN; k++) {
    if (dev->own[k]) cudaStreamDestroy((cudaStream_t)dev->own[k]);
  }
}

static GpErr GpDevCreateStreams(GpDev dev)
{
  int   least, greatest;
  GpErr err = GpCheckCuda(dev, cudaDeviceGetStreamPriorityRange(&least, &greatest), "reading the priorities of streams");

  for (int k = 0; !err && k < GP_DEV_STREAMS_OWN; k++) err = GpCheckCuda(dev, cudaStreamCreateWithPriority((cudaStream_t *)&dev->own[k], cudaStreamNonBlocking, k == GP_DEV_STREAM_SIDE ? greatest : least), "creating a stream");
  if (!err) err = GpCheckCuda(dev, cudaStreamCreateWithFlags((cudaStream_t *)&dev->pool_stream, cudaStreamNonBlocking), "creating a stream for memory allocation");
  return err;
}

static GpErr GpDevOpen_CUDA(GpDev dev, int ordinal)
{
  cudaDeviceProp prop;
  int            count;
  GpErr          err = GpDevCount(GP_DEV_CUDA, &count, dev->error, sizeof(dev->error));

  if (err) return err;
  if (ordinal < 0 || ordinal >= count) return GpDevFail(dev, GP_ERR_ARGUMENT, "GPU %d was asked for, but only %d can be used; GPUs are numbered from 0", ordinal, count);
  err = GpCheckCuda(dev, cudaSetDevice(ordinal), "selecting the GPU");
  if (!err) err = GpCheckCuda(dev, cudaGetDeviceProperties(&prop, ordinal), "reading the GPU's properties");
  if (!err) err = GpDevCreateStreams(dev);
  if (!err) err = GpDevMakePool(dev, ordinal, prop.totalGlobalMem, (cudaMemPool_t *)&dev->pool);
  if (err) {
    GpDevClose_CUDA(dev);
    return err;
  }
  snprintf(dev->name, sizeof(dev->name), "%.127s", prop.name);
  dev->ordinal        = ordinal;
  dev->compute_units  = prop.multiProcessorCount;
  dev->shared_bytes   = prop.sharedMemPerBlockOptin;
  dev->launches_early = prop.major >= 9;
  dev->cluster_blocks = prop.major >= 9 ? 8 : 0;
  dev->cache          = (double)prop.l2CacheSize;
  memcpy(dev->uuid, &prop.uuid, sizeof(dev->uuid));
  return GP_SUCCESS;
}

static GpErr GpDevMemory_CUDA(GpDev dev, size_t *available, size_t *total)
{
  uint64_t reserved = 0, used = 0;
  GpErr    err = GpCheckCuda(dev, cudaMemGetInfo(available, total), "reading the GPU's free memory");

  if (!err && dev->pool) { /* memory that the pool keeps is available to later allocations */
    err = GpCheckCuda(dev, cudaMemPoolGetAttribute((cudaMemPool_t)dev->pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "reading the pool's memory");
    if (!err) err = GpCheckCuda(dev, cudaMemPoolGetAttribute((cudaMemPool_t)dev->pool, cudaMemPoolAttrUsedMemCurrent, &used), "reading the pool's memory");
    *available += (size_t)(reserved - used);
  }
  return err;
}

/* Allocates memory. If the allocation fails, the memory that the pool keeps is freed and the allocation is tried once more. */
static GpErr GpDevTake_CUDA(GpDev dev, size_t bytes, void **ptr, cudaError_t (*take)(GpDev, size_t, void **))
{
  size_t      available = 0, total = 0;
  cudaError_t code = take(dev, bytes, ptr);

  if (code == cudaSuccess) return GP_SUCCESS;
  (void)cudaGetLastError();
  if (dev->pool && cudaDeviceSynchronize() == cudaSuccess && cudaMemPoolTrimTo((cudaMemPool_t)dev->pool, 0) == cudaSuccess) code = take(dev, bytes, ptr);
  if (code == cudaSuccess) return GP_SUCCESS;
  (void)cudaGetLastError();
  *ptr = NULL;
  if (cudaMemGetInfo(&available, &total) != cudaSuccess || (code != cudaErrorMemoryAllocation && bytes <= total)) return GpCheckCuda(dev, code, "allocating device memory");
  return GpDevFail(dev, GP_ERR_MEMORY, "out of device memory on %s: %zu bytes asked for, %zu of %zu free", dev->name, bytes, available, total);
}

static cudaError_t GpDevTakeShared(GpDev, size_t bytes, void **ptr)
{
  return cudaMalloc(ptr, bytes);
}

/* Allocates memory for all streams. The pool's stream carries no other work, and release waits for all users of the memory. Freed memory is
   therefore available at once. */
static cudaError_t GpDevTakeLasting(GpDev dev, size_t bytes, void **ptr)
{
  cudaError_t code = cudaMallocFromPoolAsync(ptr, bytes, (cudaMemPool_t)dev->pool, (cudaStream_t)dev->pool_stream);

  return code == cudaSuccess ? cudaStreamSynchronize((cudaStream_t)dev->pool_stream) : code;
}

static cudaError_t GpDevTakeOrdered(GpDev dev, size_t bytes, void **ptr)
{
  return cudaMallocFromPoolAsync(ptr, bytes, (cudaMemPool_t)dev->pool, (cudaStream_t)dev->stream);
}

static GpErr GpDevAllocShared_CUDA(GpDev dev, size_t bytes, void **ptr)
{
  return GpDevTake_CUDA(dev, bytes, ptr, GpDevTakeShared);
}

static void GpDevReleaseShared_CUDA(GpDev, void *ptr)
{
  cudaFree(ptr);
}

static GpErr GpDevAlloc_CUDA(GpDev dev, size_t bytes, void **ptr)
{
  return GpDevTake_CUDA(dev, bytes, ptr, dev->pool ? GpDevTakeLasting : GpDevTakeShared);
}

static void GpDevRelease_CUDA(GpDev dev, void *ptr)
{
  if (dev->pool) {
    cudaDeviceSynchronize(); /* cudaFree() synchronises too */
    cudaFreeAsync(ptr, (cudaStream_t)dev->pool_stream);
  } else cudaFree(ptr);
}

static GpErr GpDevBorrow_CUDA(GpDev dev, size_t bytes, void **ptr)
{
  return GpDevTake_CUDA(dev, bytes, ptr, dev->pool ? GpDevTakeOrdered : GpDevTakeShared);
}

static void GpDevReturn_CUDA(GpDev dev, void *ptr)
{
  if (dev->pool) cudaFreeAsync(ptr, (cudaStream_t)dev->stream);
  else cudaFree(ptr);
}

static GpErr GpDevAllocPinned_CUDA(GpDev dev, size_t bytes, void **ptr)
{
  cudaError_t code = cudaMallocHost(ptr, bytes);

  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return GpDevFail(dev, GP_ERR_MEMORY, "out of pinned host memory: %zu bytes asked for", bytes);
  }
  return GpCheckCuda(dev, code, "allocating pinned host memory");
}

static void GpDevReleasePinned_CUDA(GpDev, void *ptr)
{
  cudaFreeHost(ptr);
}

/* A refusal is no failure of the device: the amount of memory that may be pinned is limited, and some memory, such as a file mapped for reading, cannot be pinned. */
static GpErr GpDevPin_CUDA(GpDev dev, void *memory, size_t bytes)
{
  const cudaError_t code = cudaHostRegister(memory, bytes, cudaHostRegisterDefault);

  if (code == cudaErrorMemoryAllocation || code == cudaErrorInvalidValue || code == cudaErrorHostMemoryAlreadyRegistered || code == cudaErrorNotSupported || code == cudaErrorOperatingSystem) {
    (void)cudaGetLastError();
    return GpDevFail(dev, GP_ERR_MEMORY, "%zu bytes of host memory cannot be pinned: %s", bytes, cudaGetErrorString(code));
  }
  return GpCheckCuda(dev, code, "pinning host memory");
}

static void GpDevUnpin_CUDA(GpDev, void *memory)
{
  cudaHostUnregister(memory);
}

static GpErr GpDevCopyIn_CUDA(GpDev dev, void *to, const void *from, size_t bytes)
{
  if (!bytes) return GP_SUCCESS;
  dev->bytes_in += (double)bytes;
  return GpCheckCuda(dev, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, (cudaStream_t)dev->stream), "copying to the GPU");
}

static GpErr GpDevCopyOut_CUDA(GpDev dev, void *to, const void *from, size_t bytes)
{
  if (!bytes) return GP_SUCCESS;
  dev->bytes_out += (double)bytes;
  return GpCheckCuda(dev, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, (cudaStream_t)dev->stream), "copying from the GPU");
}

static GpErr GpDevCopyWithin_CUDA(GpDev dev, void *to, const void *from, size_t bytes)
{
  if (!bytes) return GP_SUCCESS;
  return GpCheckCuda(dev, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, (cudaStream_t)dev->stream), "copying on the GPU");
}

/* Copies the words to pinned memory, then sets the flag that the host polls. One launch takes less time than a copy, an event and a wait for the
   event. */
__global__ static void GpDevDeliver(uint32_t *to, const uint32_t *from, unsigned words)
{
  GpWait();
  for (unsigned w = threadIdx.x; w < words; w += blockDim.x) to[w] = from[w];
  __syncthreads();
  if (threadIdx.x) return;
  __threadfence_system();
  *(volatile uint32_t *)(to + words) = 1;
}

static GpErr GpDevDeliver_CUDA(GpDev dev, void *to, const void *from, size_t bytes)
{
  dev->bytes_out += (double)bytes;
  return GpLaunchEarly(dev, "copying from the GPU", GpDevDeliver, GpGrid{1, 256}, (uint32_t *)to, (const uint32_t *)from, (unsigned)(bytes / sizeof(uint32_t)));
}

static GpErr GpDevZero_CUDA(GpDev dev, void *ptr, size_t bytes)
{
  if (!bytes) return GP_SUCCESS;
  return GpCheckCuda(dev, cudaMemsetAsync(ptr, 0, bytes, (cudaStream_t)dev->stream), "zeroing device memory");
}

static GpErr GpDevSync_CUDA(GpDev dev)
{
  return GpCheckCuda(dev, cudaStreamSynchronize((cudaStream_t)dev->stream), "waiting for the GPU");
}

static GpErr GpDevEventCreate_CUDA(GpDev dev, GpDevEvent *event)
{
  return GpCheckCuda(dev, cudaEventCreate((cudaEvent_t *)event), "creating an event");
}

static void GpDevEventDestroy_CUDA(GpDev, GpDevEvent event)
{
  cudaEventDestroy((cudaEvent_t)event);
}

static GpErr GpDevEventRecord_CUDA(GpDev dev, GpDevEvent event)
{
  return GpCheckCuda(dev, cudaEventRecord((cudaEvent_t)event, (cudaStream_t)dev->stream), "recording an event");
}

static GpErr GpDevEventWait_CUDA(GpDev dev, GpDevEvent event)
{
  return GpCheckCuda(dev, cudaEventSynchronize((cudaEvent_t)event), "waiting for an event");
}

static GpErr GpDevEventPoll_CUDA(GpDev dev, GpDevEvent event, int *done)
{
  const cudaError_t code = cudaEventQuery((cudaEvent_t)event);

  *done = code == cudaSuccess;
  if (code != cudaErrorNotReady) return GpCheckCuda(dev, code, "polling an event");
  (void)cudaGetLastError(); /* cudaErrorNotReady is no failure; it must not be reported by the check of the next launch */
  return GP_SUCCESS;
}

static GpErr GpDevEventOrder_CUDA(GpDev dev, GpDevEvent event)
{
  return GpCheckCuda(dev, cudaStreamWaitEvent((cudaStream_t)dev->stream, (cudaEvent_t)event, 0), "ordering two streams");
}

static GpErr GpDevEventSeconds_CUDA(GpDev dev, GpDevEvent begin, GpDevEvent end, double *seconds)
{
  float milliseconds = 0;
  GpErr err          = GpCheckCuda(dev, cudaEventElapsedTime(&milliseconds, (cudaEvent_t)begin, (cudaEvent_t)end), "timing two events");

  *seconds = 1e-3 * (double)milliseconds;
  return err;
}

static GpErr GpDevGraphBegin_CUDA(GpDev dev)
{
  return GpCheckCuda(dev, cudaStreamBeginCapture((cudaStream_t)dev->stream, cudaStreamCaptureModeThreadLocal), "beginning to record a graph");
}

#if CUDART_VERSION >= 12040
/* Builds a graph of one conditional node. The recorded work repeats until one of its kernels sets the condition to 0 (GpLoopEnd()). */
static cudaError_t GpDevBuildLoop(cudaGraph_t record, cudaGraph_t *loop, cudaGraphConditionalHandle *turn)
{
  cudaGraphNodeParams params = {};
  cudaGraphNode_t     node;
  cudaError_t         code = cudaGraphCreate(loop, 0);

  if (code == cudaSuccess) code = cudaGraphConditionalHandleCreate(turn, *loop, 1, cudaGraphCondAssignDefault);
  if (code != cudaSuccess) return code;
  params.type               = cudaGraphNodeTypeConditional;
  params.conditional.handle = *turn;
  params.conditional.type   = cudaGraphCondTypeWhile;
  params.conditional.size   = 1;
  #if CUDART_VERSION >= 13000
  code = cudaGraphAddNode(&node, *loop, NULL, NULL, 0, &params);
  #else
  code = cudaGraphAddNode(&node, *loop, NULL, 0, &params);
  #endif
  return code == cudaSuccess ? cudaGraphAddChildGraphNode(&node, params.conditional.phGraph_out[0], NULL, 0, record) : code;
}

/* Builds a graph that repeats the recorded work. Some drivers cannot repeat every kind of launch. Then *loop stays 0, and dev->error holds the reason. */
static GpErr GpDevRepeatGraph(GpDev dev, cudaGraph_t record, void **exec, uint64_t *loop)
{
  cudaGraphConditionalHandle handle = 0;
  cudaGraph_t                outer  = NULL;
  int                        driver = 0;
  GpErr                      err    = GpCheckCuda(dev, cudaDriverGetVersion(&driver), "reading the driver's version");

  if (err || driver < 12040) return err;
  if (!GpCheckCuda(dev, GpDevBuildLoop(record, &outer, &handle), "building a loop graph") && !GpCheckCuda(dev, cudaGraphInstantiate((cudaGraphExec_t *)exec, outer, 0), "preparing a graph")) *loop = handle;
  else *exec = NULL;
  if (outer) cudaGraphDestroy(outer);
  return GP_SUCCESS;
}
#else
static GpErr GpDevRepeatGraph(GpDev, cudaGraph_t, void **, uint64_t *)
{
  return GP_SUCCESS;
}
#endif

static GpErr GpDevGraphEnd_CUDA(GpDev dev, int repeats, void **exec, uint64_t *loop)
{
  cudaGraph_t record = NULL;
  GpErr       err    = GpCheckCuda(dev, cudaStreamEndCapture((cudaStream_t)dev->stream, &record), "recording a graph");

  *exec = NULL;
  *loop = 0;
  if (!err && repeats) err = GpDevRepeatGraph(dev, record, exec, loop);
  if (!err && !*exec) err = GpCheckCuda(dev, cudaGraphInstantiate((cudaGraphExec_t *)exec, record, 0), "preparing a graph");
  if (!err && repeats) err = GpCheckCuda(dev, cudaGraphUpload((cudaGraphExec_t)*exec, (cudaStream_t)dev->stream), "uploading a graph");
  if (record) cudaGraphDestroy(record);
  return err;
}

static GpErr GpDevGraphLaunch_CUDA(GpDev dev, void *graph)
{
  return GpCheckCuda(dev, cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)dev->stream), "launching a graph");
}

static void GpDevGraphDestroy_CUDA(GpDev, void *graph)
{
  cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

static GpErr GpDevPoll_CUDA(GpDev dev, int *idle)
{
  cudaError_t code = cudaStreamQuery((cudaStream_t)dev->stream);

  *idle = code == cudaSuccess;
  if (code != cudaErrorNotReady) return GpCheckCuda(dev, code, "working on the GPU");
  (void)cudaGetLastError(); /* cudaErrorNotReady is no failure; it must not be reported by the check of the next launch */
  return GP_SUCCESS;
}

static GpErr GpDevHolds_CUDA(GpDev dev, const void *pointer, int *holds)
{
  cudaPointerAttributes attributes;

  *holds = cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess && attributes.type == cudaMemoryTypeDevice;
  (void)cudaGetLastError(); /* a pointer unknown to CUDA is host memory; clear the error */
  return *holds ? GpCheckCuda(dev, cudaDeviceSynchronize(), "waiting for values on the GPU") : GP_SUCCESS;
}

extern "C" const GpDevOps GpDevOpsCUDA = {
  GpDevOpen_CUDA,        GpDevClose_CUDA,         GpDevAlloc_CUDA,        GpDevRelease_CUDA,     GpDevAllocShared_CUDA, GpDevReleaseShared_CUDA, GpDevBorrow_CUDA,      GpDevReturn_CUDA,
  GpDevAllocPinned_CUDA, GpDevReleasePinned_CUDA, GpDevPin_CUDA,          GpDevUnpin_CUDA,       GpDevCopyIn_CUDA,      GpDevCopyOut_CUDA,       GpDevCopyWithin_CUDA,  GpDevZero_CUDA,
  GpDevSync_CUDA,        GpDevEventCreate_CUDA,   GpDevEventDestroy_CUDA, GpDevEventRecord_CUDA, GpDevEventWait_CUDA,   GpDevEventPoll_CUDA,     GpDevEventOrder_CUDA,  GpDevEventSeconds_CUDA,
  GpDevMemory_CUDA,      GpDevPoll_CUDA,          GpDevDeliver_CUDA,      GpDevHolds_CUDA,       GpDevGraphBegin_CUDA,  GpDevGraphEnd_CUDA,      GpDevGraphLaunch_CUDA, GpDevGraphDestroy_CUDA,
};
