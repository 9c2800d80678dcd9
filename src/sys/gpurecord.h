/* Preconditioners whose application is recorded in the graph of a Krylov method (src/ksp/impls/gpukrylov/). A PC type offers this by composing a function of type PCGPUGetRecordedFn
   under the name PC_GPU_GET_RECORDED. The function is called before every solve, on one process, after PCSetUp(). */
#ifndef GPURECORD_H
#define GPURECORD_H

#include <petscpc.h>
#include "gpucsrdevice.h"

#define PC_GPU_GET_RECORDED "PCGPUGetRecorded_C"

typedef struct {
  const char *why; /* what cannot be recorded, as the object of "does not support", for example "a factor that is streamed"; NULL: the preconditioner can be recorded */

  /* Launches z = M r on the current stream of the device. r and z are n doubles in device memory that do not overlap. It waits for nothing, downloads nothing and uses memory that stays allocated until the next
     call of the function that fills this structure returns another version. The launches are replayed with other values of r, and also after the method has stopped, when z is not used. */
  PetscErrorCode (*apply)(void *ctx, const double r[], double z[]);
  void *ctx;

  PetscInt64     version; /* The graph is recorded again if apply, ctx or version has changed. New values in the same device memory need no new version. */
  PetscLogDouble flops;   /* flops of one application */
} PCGPURecorded;

typedef PetscErrorCode (*PCGPUGetRecordedFn)(PC, PCGPURecorded *);

#endif
