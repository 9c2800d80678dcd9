/* Blocks of dissimilarities in host memory, from which passes stream them to the device: where they are cut, and their contents.  The cuts depend only on the ranges of the pass,
   on -smacof_stream_chunk, and on whether the device is a GPU. */
#include "solvers/smacof/smacofimpl.h"
#include "solvers/smacof/pass/passstream.h"

static PetscErrorCode SMACOFBlocksAdd(SMACOFBlocks *B, SMACOFBlock block)
{
  PetscFunctionBegin;
  if (B->n == B->most) {
    B->most = 2 * B->most + 16;
    PetscCall(PetscRealloc(sizeof(*B->block) * (size_t)B->most, &B->block));
  }
  B->block[B->n++] = block;
  B->largest       = PetscMax(B->largest, block.bytes);
  B->bytes += (double)block.bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts listed pairs: whole rows, as many as fit the size of a block, at least one. */
static PetscErrorCode SMACOFBlocksCutListed(SMACOFBlocks *B, const SMACOFPass *p, size_t chunk)
{
  PetscFunctionBegin;
  for (int64_t begin = 0, end; begin < p->rows; begin = end) {
    size_t bytes = 0, more;

    for (end = begin; end < p->rows; end++, bytes = more) {
      more = SMACOFGetListedBytes(p, end + 1 - begin, p->start[end + 1] - p->start[begin]);
      if (end > begin && more > chunk) break;
    }
    PetscCall(SMACOFBlocksAdd(B, (SMACOFBlock){.begin = begin, .end = end, .entries = p->start[end] - p->start[begin], .bytes = bytes}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts the tiles of the host implementation. */
static PetscErrorCode SMACOFBlocksCutTiles(SMACOFBlocks *B, const SMACOFPass *p, size_t chunk)
{
  const size_t each = p->single ? sizeof(float) : sizeof(double);

  PetscFunctionBegin;
  B->ntiles = SMACOFListTiles_Host(p, NULL);
  PetscCall(PetscMalloc1(B->ntiles, &B->tile));
  SMACOFListTiles_Host(p, B->tile);
  for (int64_t begin = 0, end; begin < B->ntiles; begin = end) {
    size_t bytes = 0, more;

    for (end = begin; end < B->ntiles; end++, bytes = more) {
      more = bytes + each * (size_t)B->tile[end].ld * (size_t)(B->tile[end].r1 - B->tile[end].r0);
      if (end > begin && more > chunk) break;
    }
    PetscCall(SMACOFBlocksAdd(B, (SMACOFBlock){.begin = begin, .end = end, .bytes = bytes}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts the units of each launch of the CUDA implementation. */
static PetscErrorCode SMACOFBlocksCutUnits(SMACOFBlocks *B, const SMACOFPass *p, size_t chunk)
{
  const size_t tile = (p->single ? sizeof(float) : sizeof(double)) * PASS_HEIGHT * PASS_UNIT;
  const int    most = (int)PetscMax(1, PetscMin(chunk / tile, 1 << 20));

  PetscFunctionBegin;
  B->n = (PetscInt)SMACOFListUnits(p, most, NULL);
  PetscCall(PetscCalloc1(B->n, &B->block));
  (void)SMACOFListUnits(p, most, B->block);
  for (PetscInt k = 0; k < B->n; k++) {
    SMACOFBlock *b = &B->block[k];

    b->bytes   = tile * (size_t)(b->end - b->begin + b->lead);
    B->largest = PetscMax(B->largest, b->bytes);
    B->bytes += (double)b->bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts the dissimilarities of a pass on host arrays into blocks of about `chunk` bytes, for the device. */
PetscErrorCode SMACOFBlocksCut_Private(GpDev dev, const SMACOFPass *p, size_t chunk, SMACOFBlocks *B)
{
  PetscFunctionBegin;
  *B = (SMACOFBlocks){.dev = dev};
  if (p->start) PetscCall(SMACOFBlocksCutListed(B, p, chunk));
  else if (SMACOFIsOnGPU(dev)) PetscCall(SMACOFBlocksCutUnits(B, p, chunk));
  else PetscCall(SMACOFBlocksCutTiles(B, p, chunk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the tiles of a block on the host. */
static void SMACOFBlockFill(const SMACOFBlocks *B, const SMACOFPass *p, const SMACOFRuns *s, SMACOFBlock *b)
{
  const size_t each = p->single ? sizeof(float) : sizeof(double);
  char        *to   = (char *)b->memory;

  if (p->start) {
    SMACOFFillListed(p, b, to);
    return;
  }
  for (int64_t k = b->begin - b->lead; k < b->end; k++) {
    const SMACOFTile t = s ? SMACOFGetUnitTile(s, (int)k) : B->tile[k];

    SMACOFFillTile(p, &t, to);
    to += each * (size_t)t.ld * (size_t)(s ? PASS_HEIGHT : t.r1 - t.r0);
  }
}

/* Computes the distances of a block on a GPU, in a buffer, and copies them to the host. */
static PetscErrorCode SMACOFBlockCompute(GpDev dev, const SMACOFPass *features, const SMACOFRuns *s, SMACOFBlock *b, void *buffer)
{
  PetscFunctionBegin;
  PetscCallGp(dev, "computing distances on the device", SMACOFStoreTiles_CUDA(dev, features, s, b, buffer));
  if (b->pinned) {
    PetscCallGp(dev, "computing distances on the device", GpDevCopyOut(dev, b->memory, buffer, b->bytes));
    PetscCall(PetscGPUCSRDeviceSynchronize(dev));
  } else PetscCallGp(dev, "computing distances on the device", GpDevDownload(dev, b->memory, buffer, b->bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFBlocksFillUnits(SMACOFBlocks *B, const SMACOFPass *p, const SMACOFPass *features, void *buffer)
{
  SMACOFRuns s      = {0};
  PetscInt   launch = -1;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < B->n; k++) {
    SMACOFBlock *b = &B->block[k];

    for (; launch < b->launch; launch++) (void)SMACOFRunsSetNext(&s, p, PASS_HEIGHT, 1);
    if (SMACOFIsOnGPU(B->dev) && buffer) PetscCall(SMACOFBlockCompute(B->dev, features, &s, b, buffer));
    else SMACOFBlockFill(B, p, &s, b);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the memory of the blocks, pinned if the system permits, and fills them from a pass on host arrays.  On a GPU, distances between features are computed there;
   features is the pass with features in device memory. */
PetscErrorCode SMACOFBlocksFill_Private(SMACOFBlocks *B, const SMACOFPass *p, const SMACOFPass *features)
{
  const char *what   = "allocating host memory for streamed dissimilarities";
  void       *buffer = NULL;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < B->n; k++) PetscCallGp(B->dev, what, GpDevAllocHost(B->dev, B->block[k].bytes, &B->block[k].memory, &B->block[k].pinned));
  if (p->start || B->tile) {
    for (PetscInt k = 0; k < B->n; k++) SMACOFBlockFill(B, p, NULL, &B->block[k]);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!p->delta) PetscCall(PetscGPUCSRDeviceMalloc(B->dev, "allocating a device buffer for distances that are streamed (a smaller -smacof_stream_chunk takes less memory)", B->largest, &buffer));
  PetscCall(SMACOFBlocksFillUnits(B, p, features, buffer));
  PetscCall(PetscGPUCSRDeviceFree(B->dev, B->largest, &buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the blocks. All transfers must be finished. */
PetscErrorCode SMACOFBlocksDestroy_Private(SMACOFBlocks *B)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < B->n; k++) {
    if (B->block[k].memory) GpDevFreeHost(B->dev, &B->block[k].memory, B->block[k].pinned);
  }
  PetscCall(PetscFree(B->block));
  PetscCall(PetscFree(B->tile));
  *B = (SMACOFBlocks){NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}
