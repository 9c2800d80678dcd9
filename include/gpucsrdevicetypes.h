/* The device as kernels and their callers see it. This header includes nothing of PETSc or CUDA: .c files, .cu files and C++ may include it. Programs
   with PETSc include gpucsrdevice.h, files with kernels gpucsrdevice.cuh. */
#ifndef GPUCSRDEVICETYPES_H
#define GPUCSRDEVICETYPES_H

/* MANSEC = Sys */

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
  #define GP_DEV_EXTERN extern "C" __attribute__((visibility("default")))
#else
  #define GP_DEV_EXTERN extern __attribute__((visibility("default")))
#endif

/* 1: this file is compiled for a program with CUDA kernels. 0 (default): the program has host implementations only. */
#if !defined(GP_HAVE_CUDA)
  #define GP_HAVE_CUDA 0
#endif

/*S
  GpDev - A device: a GPU with the streams, memory and error message of this process, or the host

  Level: developer

  Note:
  `GpDevKindOf()`, `GpDevStream()`, `GpDevComputeUnits()` and `GpDevError()` return its properties. They need no PETSc.

.seealso: `PetscGPUCSRGetDevice()`, `VecGPUGetRuntime()`, `GpErr`
S*/
typedef struct GpDev_ *GpDev;

/*E
  GpErr - Error code of the functions that do not depend on PETSc; `GpDevError()` returns the message

  Values:
+ `GP_SUCCESS`       - no error
. `GP_ERR_MEMORY`    - device memory, pinned memory or host memory is exhausted
. `GP_ERR_DEVICE`    - the CUDA runtime, NCCL or the operating system reported an error
. `GP_ERR_NO_DEVICE` - there is no GPU, or no driver for it
. `GP_ERR_NOT_BUILT` - this library was built without the requested backend, or NCCL cannot be opened
. `GP_ERR_ARGUMENT`  - a size or index that the function does not accept
- `GP_ERR_FILE`      - a file cannot be read or written, or it is damaged

  Level: developer

.seealso: `GpDev`, `PetscCallGp()`
E*/
typedef enum {
  GP_SUCCESS = 0,
  GP_ERR_MEMORY,
  GP_ERR_DEVICE,
  GP_ERR_NO_DEVICE,
  GP_ERR_NOT_BUILT,
  GP_ERR_ARGUMENT,
  GP_ERR_FILE
} GpErr;

/*E
  GpDevKind - Backend of a device

  Values:
+ `GP_DEV_HOST` - host memory and loops; every operation is complete when its call returns
- `GP_DEV_CUDA` - a GPU

  Level: developer

.seealso: `GpDev`, `PetscGPUCSRGetDevice()`
E*/
typedef enum {
  GP_DEV_HOST,
  GP_DEV_CUDA,
  GP_DEV_KINDS
} GpDevKind;

/*E
  GpLaunchRule - What a kernel writes, and when it may start

  Values:
+ `GP_LAUNCH_ANY`       - after all earlier work; it may write a matrix
. `GP_LAUNCH_VECTOR`    - after all earlier work; it writes vectors only
. `GP_LAUNCH_EARLY_ANY` - early; it may write data that a later kernel reads before its `GpWait()`
. `GP_LAUNCH_EARLY`     - early; it writes vectors only
- `GP_LAUNCH_PRODUCT`   - early unless an earlier kernel may have written a matrix; it writes vectors only

  Level: developer

  Note:
  A product reads its matrix before it waits for its predecessor. No kernel that may write a matrix may run at that time. The device ensures this by the
  rules of successive launches. The launch functions of `gpucsrdevice.cuh` set the rule.

.seealso: `GpHow`, `GpDev`
E*/
typedef enum {
  GP_LAUNCH_ANY,
  GP_LAUNCH_VECTOR,
  GP_LAUNCH_EARLY_ANY,
  GP_LAUNCH_EARLY,
  GP_LAUNCH_PRODUCT
} GpLaunchRule;

/*E
  GpHow - How a kernel is launched

  Values:
+ `GP_ALONE` - ordinary launch, after all earlier work
. `GP_EARLY` - early launch. The kernel lets its successor start after the main loop. Blocks of the successor that start earlier are distributed unevenly over the
              multiprocessors
- `GP_BRIEF` - early launch of few or short blocks. The kernel lets its successor start immediately

  Level: developer

.seealso: `GpLaunchRule`
E*/
typedef enum {
  GP_ALONE,
  GP_EARLY,
  GP_BRIEF
} GpHow;

#define GP_WATCH_EMPTY 0x7ff8dead5eedbeefLL /* a NaN in pinned memory: a kernel has not written the number yet (GpWatchWrite()) */

#define GP_DEV_PARTS 2112 /* maximum number of blocks of a reduction that is finished on the device; each block has one partial sum in device memory */

GP_DEV_EXTERN GpDevKind   GpDevKindOf(GpDev);
GP_DEV_EXTERN int         GpDevComputeUnits(GpDev);                     /* number of streaming multiprocessors; 1 on the host */
GP_DEV_EXTERN size_t      GpDevSharedBytes(GpDev);                      /* maximum shared memory of a block in bytes */
GP_DEV_EXTERN double      GpDevBytesIn(GpDev);                          /* bytes copied to the device since it was opened */
GP_DEV_EXTERN double      GpDevBytesOut(GpDev);                         /* bytes copied from the device */
GP_DEV_EXTERN void       *GpDevStream(GpDev);                           /* the cudaStream_t on which work is ordered now; NULL on the host */
GP_DEV_EXTERN const char *GpDevError(GpDev);                            /* message of the last failure: the operation, and what the runtime reported */
GP_DEV_EXTERN GpErr       GpDevZero(GpDev, void *device, size_t bytes); /* sets device memory to zero, in the order of the stream */
GP_DEV_EXTERN GpErr       GpDevFail(GpDev, GpErr code, const char *format, ...);

/* Decides how the next kernel is launched, and on which stream. The launch functions of gpucsrdevice.cuh call it once for each launch. `brief` says
   that all blocks take a short time, and about the same time. */
GP_DEV_EXTERN GpHow GpDevPlanLaunch(GpDev, GpLaunchRule, unsigned blocks, int brief, void **stream);

/* Selects between the host and the CUDA instance of one thing, such as a table of kernels. */
#if GP_HAVE_CUDA
  #define GpDevSelect(dev, host, cuda) (GpDevKindOf(dev) == GP_DEV_CUDA ? &(cuda) : &(host))
#else
  #define GpDevSelect(dev, host, cuda) ((void)(dev), &(host))
#endif

#endif
