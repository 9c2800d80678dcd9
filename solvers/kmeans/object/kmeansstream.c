/* Settings, options and state of points that are streamed from host memory to the device. */
#include "solvers/kmeans/kmeansimpl.h"

#include "app/program/appstream.h"

#define KMeansStreamed(km) (&(GpAppStreamed){(PetscObject)(km), &(km)->setup})

const char *const KMeansStreams[] = {"auto", "always", "never", "KMeansStream", "KMEANS_STREAM_", NULL};

/*@
  KMeansSetStream - Sets whether dense points stay in host memory, from which every iteration streams them to the device

  Logically Collective

  Input Parameters:
+ km     - the solver
- stream - `KMEANS_STREAM_AUTO` (default), `KMEANS_STREAM_ALWAYS` or `KMEANS_STREAM_NEVER`

  Options Database Key:
. -kmeans_stream <auto,always,never> - whether the points are streamed

  Level: intermediate

  Notes:
  Streamed points are kept in blocks in pinned host memory. Every pass over the points transfers the blocks. The device works on a block while the next blocks are transferred.
  As many blocks as fit the free device memory stay there (`KMeansSetStreamResident()`). Labels and distances, 12 bytes a point, are on the device.

  The result has the same bits as a solve with all points on the device.

  Sparse points, mini-batches, the assignments `cells`, `columns` and `localcolumns`, and the updates `host`, `rank`, `rankstable` and `onehot` are not streamed. With
  `KMEANS_STREAM_ALWAYS` they are an error.

.seealso: `KMeansSetStreamChunk()`, `KMeansSetStreamResident()`, `KMeansSetStreamBuffers()`, `KMeansSetStreamThreads()`, `KMeansGetStreamInfo()`
@*/
PetscErrorCode KMeansSetStream(KMeans km, KMeansStream stream)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(km, stream, 2);
  if (stream != km->stream.mode) km->setup = PETSC_FALSE;
  km->stream.mode = stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetStreamChunk - Sets an upper bound on the size of the blocks in which points are streamed

  Logically Collective

  Input Parameters:
+ km    - the solver
- bytes - upper bound in bytes on the size of a block; -1 (default): 32 MiB

  Options Database Key:
. -kmeans_stream_chunk <bytes> - upper bound on the size of a block

  Level: advanced

  Note:
  A block has at least one point.

.seealso: `KMeansSetStream()`, `KMeansGetStreamInfo()`
@*/
PetscErrorCode KMeansSetStreamChunk(KMeans km, PetscReal bytes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(GpAppSetStreamBytes(KMeansStreamed(km), "-kmeans_stream_chunk", bytes, 1, &km->stream.chunk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetStreamResident - Sets how many bytes of streamed points may stay on the device

  Logically Collective

  Input Parameters:
+ km    - the solver
- bytes - upper bound in bytes on the blocks that stay on the device, in each process; -1 (default): 90 percent of the free device memory, less the buffers and the other arrays of a solve

  Options Database Key:
. -kmeans_stream_resident <bytes> - upper bound on the blocks that stay on the device

  Level: intermediate

  Notes:
  Results do not depend on which blocks stay on the device. If an allocation of device memory fails, such blocks are freed and the allocation is tried again.

  The host backend reads the blocks in place, so this bound has no effect there.

.seealso: `KMeansSetStream()`, `KMeansGetStreamInfo()`
@*/
PetscErrorCode KMeansSetStreamResident(KMeans km, PetscReal bytes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(GpAppSetStreamBytes(KMeansStreamed(km), "-kmeans_stream_resident", bytes, 0, &km->stream.resident));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetStreamBuffers - Sets the number of device buffers through which points are streamed

  Logically Collective

  Input Parameters:
+ km      - the solver
- buffers - number of device buffers; 0 (default): 3 buffers

  Options Database Key:
. -kmeans_stream_buffers <n> - number of device buffers

  Level: advanced

  Note:
  With one buffer, transfers and computation alternate. With two, one block is transferred while the device works on another.

.seealso: `KMeansSetStream()`, `KMeansGetStreamInfo()`
@*/
PetscErrorCode KMeansSetStreamBuffers(KMeans km, PetscInt buffers)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(GpAppSetStreamCount(KMeansStreamed(km), "-kmeans_stream_buffers", buffers, &km->stream.buffers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KMeansSetStreamThreads - Sets the number of threads that copy points to the blocks in host memory

  Logically Collective

  Input Parameters:
+ km      - the solver
- threads - number of threads; 0 (default): one for each core that the process may use, at most 8

  Options Database Key:
. -kmeans_stream_threads <n> - number of threads

  Level: advanced

  Note:
  If the system refuses to pin blocks, this number of threads copies them to pinned buffers in every pass.

.seealso: `KMeansSetStream()`, `KMeansGetStreamInfo()`
@*/
PetscErrorCode KMeansSetStreamThreads(KMeans km, PetscInt threads)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  PetscCall(GpAppSetStreamCount(KMeansStreamed(km), "-kmeans_stream_threads", threads, &km->stream.threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called between PetscOptionsBegin() and PetscOptionsEnd(). */
PetscErrorCode KMeansStreamSetFromOptions_Private(KMeans km, GpOptionItems PetscOptionsObject)
{
  KMeansStreamOptions o = km->stream;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-kmeans_stream", "whether dense points stay in host memory, from which every iteration streams them", "KMeansSetStream", KMeansStreams, (PetscEnum)o.mode, (PetscEnum *)&o.mode, NULL));
  PetscCall(GpAppOptionsBytes(PetscOptionsObject, "-kmeans_stream_chunk", "upper bound in bytes on the size of a block, -1 for 32 MiB", "KMeansSetStreamChunk", &o.chunk));
  PetscCall(GpAppOptionsBytes(PetscOptionsObject, "-kmeans_stream_resident", "upper bound in bytes on the blocks that stay on the device, -1 for what fits", "KMeansSetStreamResident", &o.resident));
  PetscCall(PetscOptionsInt("-kmeans_stream_buffers", "number of device buffers, 0 for the default", "KMeansSetStreamBuffers", o.buffers, &o.buffers, NULL));
  PetscCall(PetscOptionsInt("-kmeans_stream_threads", "number of threads that copy points to the blocks, 0 for the default", "KMeansSetStreamThreads", o.threads, &o.threads, NULL));
  PetscCall(KMeansSetStream(km, o.mode));
  PetscCall(KMeansSetStreamChunk(km, o.chunk));
  PetscCall(KMeansSetStreamResident(km, o.resident));
  PetscCall(KMeansSetStreamBuffers(km, o.buffers));
  PetscCall(KMeansSetStreamThreads(km, o.threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KMeansGetStreamInfo - Gets the state of streamed points, summed over all ranks

  Collective

  Input Parameter:
. km - the solver

  Output Parameter:
. info - the state; all members are 0 if the points are not streamed, or before `KMeansSetUp()`

  Level: intermediate

  Note:
  `timed_bytes` divided by `timed_seconds` is the mean rate of the transfers of a rank.

.seealso: `KMeansStreamInfo`, `KMeansSetStream()`
@*/
PetscErrorCode KMeansGetStreamInfo(KMeans km, KMeansStreamInfo *info)
{
  const KMeansBlocks *B = &km->points.blocks;
  GpStreamInfo        s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(km, KMEANS_CLASSID, 1);
  KMeansCheckPointer(info, 2);
  PetscCall(PetscMemzero(info, sizeof(*info)));
  if (!km->setup || !B->stream) PetscFunctionReturn(PETSC_SUCCESS);
  GpStreamGetInfo(B->stream, &s);
  {
    double own[] = {(double)B->n, s.bytes, s.pageable_bytes, s.resident_bytes, s.device_bytes, s.moved, s.moved_last, s.timed_bytes, s.timed_seconds, B->pin_seconds, s.wait_seconds};

    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, own, PETSC_STATIC_ARRAY_LENGTH(own), MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)km)));
    *info = (KMeansStreamInfo){.streamed       = PETSC_TRUE,
                               .blocks         = (PetscInt64)own[0],
                               .passes         = s.visits,
                               .bytes          = own[1],
                               .pageable_bytes = own[2],
                               .resident_bytes = own[3],
                               .device_bytes   = own[4],
                               .moved          = own[5],
                               .moved_last     = own[6],
                               .timed_bytes    = own[7],
                               .timed_seconds  = own[8],
                               .pin_seconds    = own[9],
                               .wait_seconds   = own[10]};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the lines of KMeansView() on streamed points. */
PetscErrorCode KMeansStreamView_Private(KMeans km, PetscViewer viewer)
{
  KMeansStreamInfo info;

  PetscFunctionBegin;
  PetscCall(KMeansGetStreamInfo(km, &info));
  if (!info.streamed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  streamed from host memory: %" PetscInt64_FMT " blocks of %.0f bytes in all, %.0f resident on the device\n", info.blocks, info.bytes, info.resident_bytes));
  if (info.pageable_bytes > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  the system refused to pin %.0f bytes, which every pass copies to pinned buffers; see ulimit -l\n", info.pageable_bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
