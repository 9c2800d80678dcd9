/* Option -pass of bench_streammat: y = A'(A x) by one pass over the chunks, against two products. */
#ifndef STREAMPASS_H
#define STREAMPASS_H

#include "sys/gpucsrsys.h"
#include "gpucsr.h"
#include "gpucsrdevice.h"

#include <petsctime.h>

typedef struct {
  GpDev        dev;
  PetscInt     rows, columns;
  PetscScalar *x, *w, *y; /* device memory */
} BenchNormal;

static PetscErrorCode BenchNormalUse(MatGPUCSRChunk chunk, void *ctx)
{
  const BenchNormal *N = (const BenchNormal *)ctx;
  PetscInt           first;

  PetscFunctionBeginUser;
  PetscCall(MatGPUCSRChunkGetRows(chunk, &first, NULL));
  PetscCall(MatGPUCSRChunkMult(chunk, N->x, N->w + first));
  PetscCall(MatGPUCSRChunkMultTransposeAdd(chunk, N->w + first, N->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes y = A'(A x) by one pass or by two products. */
static PetscErrorCode BenchNormalMultiply(Mat A, BenchNormal *N, PetscBool pass)
{
  PetscFunctionBeginUser;
  if (pass) {
    PetscCall(PetscGPUCSRDeviceZero(N->dev, N->y, (size_t)N->columns * sizeof(*N->y)));
    PetscCall(MatGPUCSRPass(A, BenchNormalUse, N));
  } else {
    PetscCall(MatGPUCSRMultArray(A, PETSC_FALSE, N->x, N->w));
    PetscCall(MatGPUCSRMultArray(A, PETSC_TRUE, N->w, N->y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times one way of computing y and copies y to the host. */
static PetscErrorCode BenchNormalTime(Mat A, BenchNormal *N, const char *name, PetscBool pass, PetscInt repeats, PetscScalar result[])
{
  MatGPUCSRStreamInfo before, after;
  double              seconds = 0, moved;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) PetscCall(BenchNormalMultiply(A, N, pass));
  PetscCall(MatGPUCSRGetStreamInfo(A, &before));
  PetscCallGp(N->dev, "waiting", GpDevSync(N->dev));
  PetscCall(PetscTimeSubtract(&seconds));
  for (PetscInt k = 0; k < repeats; k++) PetscCall(BenchNormalMultiply(A, N, pass));
  PetscCallGp(N->dev, "waiting", GpDevSync(N->dev));
  PetscCall(PetscTimeAdd(&seconds));
  PetscCall(MatGPUCSRGetStreamInfo(A, &after));
  moved = (after.moved - before.moved) / (double)repeats;
  seconds /= (double)repeats;
  PetscCall(PetscGPUCSRDeviceCopyOut(N->dev, result, N->y, (size_t)N->columns * sizeof(*result)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%.0f,%.0f,%.4f,%.2f\n", name, after.bytes, moved, 1e3 * seconds, 1e-9 * moved / seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times two products with stored and with shared transposes, and a pass. Raises an error if their results differ. */
static PetscErrorCode BenchNormalCompare(GpDev dev, Mat A, PetscInt repeats)
{
  const char  *name[] = {"two products stored", "two products shared", "pass"};
  BenchNormal  N      = {.dev = dev};
  size_t       bytes[2];
  PetscScalar *y[2];
  PetscReal    error = 0, norm = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &N.rows, &N.columns));
  bytes[0] = (size_t)N.columns * sizeof(PetscScalar);
  bytes[1] = (size_t)N.rows * sizeof(PetscScalar);
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "x", bytes[0], &N.x));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "w", bytes[1], &N.w));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "y", bytes[0], &N.y));
  PetscCall(PetscMalloc2(N.columns, &y[0], N.columns, &y[1]));
  for (PetscInt j = 0; j < N.columns; j++) y[0][j] = 1.0 / (PetscReal)(1 + j % 7);
  PetscCall(PetscGPUCSRDeviceCopyIn(dev, N.x, y[0], bytes[0]));
  PetscCall(MatGPUCSRSetStream(A, MAT_GPUCSR_STREAM_ALWAYS));
  PetscCall(MatGPUCSRSetStreamResident(A, 0));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "A'(A x),bytes,moved,ms,GB/s\n"));
  for (int c = 0; c < 3; c++) {
    PetscCall(MatGPUCSRSetStreamTranspose(A, c ? MAT_GPUCSR_STREAM_TRANSPOSE_SHARED : MAT_GPUCSR_STREAM_TRANSPOSE_STORED));
    PetscCall(BenchNormalTime(A, &N, name[c], (PetscBool)(c == 2), repeats, y[c != 0]));
    for (PetscInt j = 0; c && j < N.columns; j++) {
      error = PetscMax(error, PetscAbsScalar(y[1][j] - y[0][j]));
      norm  = PetscMax(norm, PetscAbsScalar(y[0][j]));
    }
  }
  PetscCheck(error <= 1e-12 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A'(A x) by a pass differs from two products by %g of %g", (double)error, (double)norm);
  PetscCall(PetscFree2(y[0], y[1]));
  PetscCall(PetscGPUCSRDeviceFree(dev, bytes[0], &N.x));
  PetscCall(PetscGPUCSRDeviceFree(dev, bytes[1], &N.w));
  PetscCall(PetscGPUCSRDeviceFree(dev, bytes[0], &N.y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
