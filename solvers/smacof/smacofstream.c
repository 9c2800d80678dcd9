/* Settings of streaming.  Passes over streamed dissimilarities are in pass/passstream.c. */
#include "solvers/smacof/smacofimpl.h"

#include "app/program/appstream.h"

#define SMACOFStreamedSettings(s) (&(GpAppStreamed){(PetscObject)(s), &(s)->setup})

/*@
  SMACOFSetStream - Sets whether stored dissimilarities stay in host memory, from which each pass streams them to the device

  Logically Collective

  Input Parameters:
+ s      - the solver
- stream - `SMACOF_STREAM_AUTO` (default), `SMACOF_STREAM_ALWAYS` or `SMACOF_STREAM_NEVER`

  Options Database Key:
. -smacof_stream <auto,always,never> - whether stored dissimilarities are streamed

  Level: intermediate

  Notes:
  Streaming changes no bit of the results. Each pass transfers the dissimilarities once for all starts that iterate together.

  This setting has no effect if no dissimilarities are stored (`SMACOFSetMatrixFree()`), or if passes run on the host, which is so for disparities other than ratio and with
  -smacof_vec_type seq.

.seealso: `SMACOFSetStreamResident()`, `SMACOFSetStreamChunk()`, `SMACOFSetStreamBuffers()`, `SMACOFSetStreamThreads()`, `SMACOFGetInfo()`
@*/
PetscErrorCode SMACOFSetStream(SMACOF s, SMACOFStream stream)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(s, stream, 2);
  if (stream != s->stream.mode) s->setup = PETSC_FALSE;
  s->stream.mode = stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetStreamChunk - Sets an upper bound on the size of the blocks in which dissimilarities are streamed

  Logically Collective

  Input Parameters:
+ s     - the solver
- bytes - upper bound in bytes on the size of a block; -1 (default)\: 32 MiB

  Options Database Key:
. -smacof_stream_chunk <bytes> - upper bound on the size of a block

  Level: advanced

  Note:
  A block of complete data has whole tiles of the matrix, at least one. A block of listed pairs has whole rows, at least one. On a GPU a tile has 512 rows and 32 columns, which take 64 KiB
  in single precision. A block also repeats up to three tiles of the block before it, which the bound does not count.

.seealso: `SMACOFSetStream()`
@*/
PetscErrorCode SMACOFSetStreamChunk(SMACOF s, PetscReal bytes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(GpAppSetStreamBytes(SMACOFStreamedSettings(s), "-smacof_stream_chunk", bytes, 1, &s->stream.chunk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetStreamResident - Sets how much of streamed dissimilarities may stay on the device

  Logically Collective

  Input Parameters:
+ s     - the solver
- bytes - upper bound in bytes on the blocks that stay on the device, in each process; -1 (default)\: 90 percent of the free device memory, less the buffers and the vectors

  Options Database Key:
. -smacof_stream_resident <bytes> - upper bound on the blocks that stay on the device

  Level: intermediate

.seealso: `SMACOFSetStream()`
@*/
PetscErrorCode SMACOFSetStreamResident(SMACOF s, PetscReal bytes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(GpAppSetStreamBytes(SMACOFStreamedSettings(s), "-smacof_stream_resident", bytes, 0, &s->stream.resident));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetStreamBuffers - Sets the number of device buffers through which dissimilarities are streamed

  Logically Collective

  Input Parameters:
+ s       - the solver
- buffers - number of device buffers; 0 (default)\: 3 buffers

  Options Database Key:
. -smacof_stream_buffers <n> - number of device buffers

  Level: advanced

  Note:
  With one buffer, transfers and computation alternate. With two, one block is transferred while another is processed.

.seealso: `SMACOFSetStream()`
@*/
PetscErrorCode SMACOFSetStreamBuffers(SMACOF s, PetscInt buffers)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(GpAppSetStreamCount(SMACOFStreamedSettings(s), "-smacof_stream_buffers", buffers, &s->stream.buffers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetStreamThreads - Sets the number of threads that copy streamed dissimilarities which the system refused to pin

  Logically Collective

  Input Parameters:
+ s       - the solver
- threads - number of threads; 0 (default)\: one for each core that the process may use, at most 8

  Options Database Key:
. -smacof_stream_threads <n> - number of threads

  Level: advanced

  Note:
  Blocks in pinned memory are transferred directly and need no threads.

.seealso: `SMACOFSetStream()`
@*/
PetscErrorCode SMACOFSetStreamThreads(SMACOF s, PetscInt threads)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(GpAppSetStreamCount(SMACOFStreamedSettings(s), "-smacof_stream_threads", threads, &s->stream.threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called between PetscOptionsBegin() and PetscOptionsEnd(): PETSc prints the help of an object only once. */
PetscErrorCode SMACOFStreamSetFromOptions_Private(SMACOF s, GpOptionItems PetscOptionsObject)
{
  SMACOFStreamOptions o = s->stream;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-smacof_stream", "whether each pass streams stored dissimilarities from host memory", "SMACOFSetStream", SMACOFStreams, (PetscEnum)o.mode, (PetscEnum *)&o.mode, NULL));
  PetscCall(GpAppOptionsBytes(PetscOptionsObject, "-smacof_stream_chunk", "streaming: upper bound in bytes on the size of a block; -1: 32 MiB", "SMACOFSetStreamChunk", &o.chunk));
  PetscCall(GpAppOptionsBytes(PetscOptionsObject, "-smacof_stream_resident", "streaming: upper bound in bytes on the blocks that stay on the device; -1: 90 percent of the free memory, less the buffers and the vectors", "SMACOFSetStreamResident",
                              &o.resident));
  PetscCall(PetscOptionsInt("-smacof_stream_buffers", "streaming: number of device buffers; 0: 3 buffers", "SMACOFSetStreamBuffers", o.buffers, &o.buffers, NULL));
  PetscCall(PetscOptionsInt("-smacof_stream_threads", "streaming: number of threads that copy blocks in pageable memory; 0: one for each core, at most 8", "SMACOFSetStreamThreads", o.threads, &o.threads, NULL));
  PetscCall(SMACOFSetStream(s, o.mode));
  PetscCall(SMACOFSetStreamChunk(s, o.chunk));
  PetscCall(SMACOFSetStreamResident(s, o.resident));
  PetscCall(SMACOFSetStreamBuffers(s, o.buffers));
  PetscCall(SMACOFSetStreamThreads(s, o.threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}
