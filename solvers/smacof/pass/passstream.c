/* Passes over dissimilarities that stay in host memory and are streamed to the device block by block. */
#include "solvers/smacof/smacofimpl.h"
#include "solvers/smacof/pass/passstream.h"
#include "device/gpfillers.h"
#include <gpucsr.h>

#define SMACOF_STREAMING "streaming the dissimilarities (a smaller -smacof_stream_chunk or fewer -smacof_stream_buffers take less memory)"

/* Tells whether the dissimilarities are streamed. With -smacof_stream auto they are if `bytes`, the size of the dissimilarities and of the workspace, exceeds the free device memory. */
PetscErrorCode SMACOFStreamedIsNeeded_Private(GpDev dev, const SMACOFStreamOptions *o, double bytes, PetscBool *needed)
{
  size_t available = 0;
  int    exceeds   = o->mode == SMACOF_STREAM_ALWAYS;

  PetscFunctionBegin;
  if (o->mode == SMACOF_STREAM_AUTO) {
    PetscCallGp(dev, "getting the free device memory", GpStreamIsNeeded(dev, bytes, &exceeds, &available));
    if (exceeds) PetscCall(PetscInfo(NULL, "gpucsr: dissimilarities are streamed: with the workspace they take %.0f bytes, and %zu are free on the device\n", bytes, available));
  }
  *needed = (PetscBool)exceeds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the blocks and the pipeline.  *p is the pass on host arrays, *features the pass with features in device memory.  later: size in bytes of the device memory that is allocated after
   this call. */
PetscErrorCode SMACOFStreamedCreate_Private(GpDev dev, const SMACOFPass *p, const SMACOFPass *features, const SMACOFStreamOptions *o, double later, SMACOFStreamed *streamed)
{
  GpStreamOptions option = {.buffers = (int)o->buffers, .threads = GpFillersCount((int)o->threads)};
  SMACOFStreamed  W;

  PetscFunctionBegin;
  PetscCall(PetscNew(&W));
  *streamed = W;
  W->dev    = dev;
  W->mixed  = -1;
  PetscCall(SMACOFBlocksCut_Private(dev, p, GpStreamGetItemBytes((double)o->chunk), &W->blocks));
  PetscCall(SMACOFBlocksFill_Private(&W->blocks, p, features));
  PetscCallGp(dev, SMACOF_STREAMING, GpStreamGetBudget(dev, (double)o->resident, W->blocks.bytes, (double)W->blocks.largest, option.buffers, later, &option.resident));
  PetscCallGp(dev, SMACOF_STREAMING, GpStreamCreate(dev, &option, &W->stream));
  for (PetscInt k = 0; k < W->blocks.n; k++) {
    const GpStreamItem item = {.bytes = W->blocks.block[k].bytes, .host = W->blocks.block[k].memory, .pinned = W->blocks.block[k].pinned};

    PetscCallGp(dev, SMACOF_STREAMING, GpStreamAdd(W->stream, &item));
  }
  PetscCallGp(dev, SMACOF_STREAMING, GpStreamSetUp(W->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFStreamedDestroyPlan(SMACOFStreamed W)
{
  SMACOFPlan *P = &W->plan;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRDeviceFree(W->dev, sizeof(SMACOFChunk) * (size_t)P->nchunks, &P->device));
  PetscCall(PetscGPUCSRDeviceFree(W->dev, W->rowsums, &P->rowsums));
  SMACOFPlanDestroy(P);
  W->mixed = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the plan of a pass on a GPU, unless it exists for this arithmetic. */
static PetscErrorCode SMACOFStreamedPlan(SMACOFStreamed W, const SMACOFPass *p, const SMACOFPassWork *work)
{
  SMACOFPlan *P = &W->plan;
  int         resident, units;
  void       *chunks;

  PetscFunctionBegin;
  if (W->mixed == work->mixed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SMACOFStreamedDestroyPlan(W));
  SMACOFGetTileShape_CUDA(W->dev, p, work, &resident, &units);
  PetscCheck(SMACOFPlanCreate(p, resident, units, W->blocks.n, W->blocks.block, P), PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of host memory for the plan of a pass over streamed dissimilarities; use more MPI ranks");
  PetscCall(PetscGPUCSRDeviceMalloc(W->dev, SMACOF_STREAMING, sizeof(SMACOFChunk) * (size_t)P->nchunks, &chunks));
  P->device  = (const SMACOFChunk *)chunks;
  W->rowsums = sizeof(double) * (size_t)P->largest * (size_t)(p->dim + 1) * PASS_HEIGHT;
  PetscCall(PetscGPUCSRDeviceMalloc(W->dev, SMACOF_STREAMING, W->rowsums, &P->rowsums));
  PetscCall(PetscGPUCSRDeviceCopyIn(W->dev, chunks, P->chunk, sizeof(SMACOFChunk) * (size_t)P->nchunks));
  PetscCall(PetscGPUCSRDeviceSynchronize(W->dev));
  W->mixed = work->mixed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n passes over the blocks; work has a workspace for each of them */
typedef struct {
  SMACOFStreamed        W;
  const SMACOFPass     *p;
  const SMACOFPassWork *work;
  PetscInt              n;
} SMACOFVisit;

/* Adds a block to the sums of all passes.  `memory` is where the device reads the block. */
static GpErr SMACOFVisitBlock(void *context, int64_t item, const void *memory, void *result)
{
  const SMACOFVisit  *v    = (const SMACOFVisit *)context;
  const SMACOFBlocks *B    = &v->W->blocks;
  const SMACOFBlock  *b    = &B->block[item];
  const int           last = item + 1 == B->n || B->block[item + 1].launch != b->launch;
  GpErr               err  = GP_SUCCESS;

  (void)result;
  if (B->tile) SMACOFAddTiles_Host(v->p, (int)v->n, B->tile + b->begin, b->end - b->begin, memory);
  for (PetscInt k = 0; k < v->n && !err && !B->tile; k++) {
    SMACOFPass rows;

    if (v->p[k].start) {
      SMACOFGetListedRows(v->p + k, b, memory, &rows);
      if (SMACOFIsOnGPU(B->dev)) err = SMACOFRunPassListed_CUDA(B->dev, &rows);
      else SMACOFAddListed_Host(&rows);
    } else if (SMACOFIsOnGPU(B->dev)) err = SMACOFAddTiles_CUDA(B->dev, v->p + k, v->work + k, &v->W->plan, b, memory, last);
  }
  return err;
}

/* Runs n passes.  Each block is transferred once for all of them. */
PetscErrorCode SMACOFStreamedRun_Private(SMACOFStreamed W, const SMACOFPass p[], const SMACOFPassWork work[], PetscInt n)
{
  const char *what = "running a pass over streamed dissimilarities";
  SMACOFVisit v    = {W, p, work, n};

  PetscFunctionBegin;
  if (!SMACOFIsOnGPU(W->dev)) SMACOFBeginPass_Host(p, (int)n);
  else if (!p->start) PetscCall(SMACOFStreamedPlan(W, p, work));
  for (PetscInt k = 0; SMACOFIsOnGPU(W->dev) && k < n; k++) {
    if (p->start) PetscCallGp(W->dev, what, SMACOFBeginListed_CUDA(W->dev, p + k));
    else PetscCallGp(W->dev, what, SMACOFBeginTiles_CUDA(W->dev, p + k, work + k));
  }
  PetscCallGp(W->dev, what, GpStreamVisit(W->stream, SMACOFVisitBlock, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFStreamedGetInfo_Private(SMACOFStreamed W, SMACOFInfo *info)
{
  GpStreamInfo stream;

  PetscFunctionBegin;
  if (!W) PetscFunctionReturn(PETSC_SUCCESS);
  GpStreamGetInfo(W->stream, &stream);
  info->streamed        = PETSC_TRUE;
  info->stream_blocks   = W->blocks.n;
  info->stream_bytes    = stream.bytes;
  info->stream_resident = stream.resident_bytes;
  info->stream_pageable = stream.pageable_bytes;
  info->stream_moved    = stream.moved_last;
  info->stream_rate     = stream.timed_seconds > 0 ? stream.timed_bytes / stream.timed_seconds : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFStreamedDestroy_Private(SMACOFStreamed *streamed)
{
  SMACOFStreamed W = *streamed;

  PetscFunctionBegin;
  if (!W) PetscFunctionReturn(PETSC_SUCCESS);
  GpStreamDestroy(&W->stream);
  PetscCall(SMACOFStreamedDestroyPlan(W));
  PetscCall(SMACOFBlocksDestroy_Private(&W->blocks));
  PetscCall(PetscFree(*streamed));
  PetscFunctionReturn(PETSC_SUCCESS);
}
