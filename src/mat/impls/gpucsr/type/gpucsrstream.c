/* Public functions that set the options of a matrix that is streamed from host memory to the device, and the state of such a matrix. */
#include "mat/impls/gpucsr/type/gpucsrtype.h"

/*@
  MatGPUCSRSetStream - Sets whether a `MATGPUCSR` matrix stays in host memory, from which each product streams it to the device

  Logically Collective

  Input Parameters:
+ A      - the matrix
- stream - `MAT_GPUCSR_STREAM_AUTO` (default), `MAT_GPUCSR_STREAM_ALWAYS` or `MAT_GPUCSR_STREAM_NEVER`

  Options Database Key:
. -mat_gpucsr_stream <auto,always,never> - whether the matrix is streamed

  Level: intermediate

  Notes:
  A streamed matrix is cut into chunks of whole rows, which are encoded without loss in pinned host memory. Each product transfers the chunks to the device, decodes them there and
  multiplies. As many chunks as fit the free device memory stay there (`MatGPUCSRSetStreamResident()`). A product has the same bits whichever chunks stay there.

  The kernel of products with one vector is `csrscalar`, one of `csrvector2` to `csrvector32`, or `csrsegment`. The rule of `MAT_GPUCSR_SELECT_FIXED` chooses it, or `MatGPUCSRSetKernel()`
  sets it. If the kernel is the same, a streamed product has the same bits as a product that is not streamed. Products with the transpose are an exception with `MAT_GPUCSR_STREAM_TRANSPOSE_SHARED`.

  The kernel of products with several vectors is `mmsegment16`.

  A product with a streamed matrix cannot be captured in a CUDA graph. Solvers that use graphs launch their work from the host instead.

.seealso: `MATGPUCSR`, `MatGPUCSRGetStreamInfo()`, `MatGPUCSRSetStreamChunk()`, `MatGPUCSRSetStreamResident()`, `MatGPUCSRSetStreamBuffers()`, `MatGPUCSRSetStreamThreads()`, `MatGPUCSRSetStreamEncode()`, `MatGPUCSRSetStreamTranspose()`
@*/
PetscErrorCode MatGPUCSRSetStream(Mat A, MatGPUCSRStream stream)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_stream, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetStreamChunk - Sets an upper bound on the size of the chunks of a streamed `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A     - the matrix
- bytes - upper bound in bytes on the size of a chunk as compressed rows, before it is encoded; -1 (default): 32 MiB, or less if device memory is too small for the buffers (see Notes)

  Options Database Key:
. -mat_gpucsr_stream_chunk <bytes> - upper bound on the size of a chunk as compressed rows

  Level: advanced

  Notes:
  A row that takes more bytes is a chunk of its own.

  With `MAT_GPUCSR_STREAM_TRANSPOSE_SHARED`, and for a matrix of type `MATGPUCSRSTREAM`, the default is always 32 MiB, because results depend on the size.

.seealso: `MATGPUCSR`, `MatGPUCSRSetStream()`, `MatGPUCSRGetStreamInfo()`
@*/
PetscErrorCode MatGPUCSRSetStreamChunk(Mat A, PetscReal bytes)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetBytes_Private(A, MAT_GPUCSR_OPTION_stream_chunk, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetStreamResident - Sets how much of a streamed `MATGPUCSR` matrix may stay on the device

  Logically Collective

  Input Parameters:
+ A     - the matrix
- bytes - upper bound in bytes on the chunks that stay on the device, in each process; -1 (default): 90 percent of the free device memory, less the device buffers

  Options Database Key:
. -mat_gpucsr_stream_resident <bytes> - upper bound on the chunks that stay on the device

  Level: intermediate

  Note:
  The bound holds for the whole matrix: with its transpose, and with both blocks of a parallel matrix. These parts are encoded one after another. The bound of each part is reduced by the device memory
  (resident chunks, buffers, workspace) of the earlier parts.

.seealso: `MATGPUCSR`, `MatGPUCSRSetStream()`, `MatGPUCSRGetStreamInfo()`
@*/
PetscErrorCode MatGPUCSRSetStreamResident(Mat A, PetscReal bytes)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetBytes_Private(A, MAT_GPUCSR_OPTION_stream_resident, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetStreamBuffers - Sets the number of device buffers through which a `MATGPUCSR` matrix is streamed

  Logically Collective

  Input Parameters:
+ A       - the matrix
- buffers - number of device buffers; 0 (default): 3 buffers

  Options Database Key:
. -mat_gpucsr_stream_buffers <n> - number of device buffers

  Level: advanced

  Note:
  With one buffer, transfers and products alternate. With two, one chunk is transferred while the device multiplies by another.

.seealso: `MATGPUCSR`, `MatGPUCSRSetStream()`, `MatGPUCSRGetStreamInfo()`
@*/
PetscErrorCode MatGPUCSRSetStreamBuffers(Mat A, PetscInt buffers)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetCount_Private(A, MAT_GPUCSR_OPTION_stream_buffers, buffers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetStreamThreads - Sets the number of threads that encode a streamed `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A       - the matrix
- threads - number of threads; 0 (default): one for each core that the process may use, at most 8

  Options Database Key:
. -mat_gpucsr_stream_threads <n> - number of threads

  Level: advanced

  Note:
  In each product, this number of threads also reads chunks from files (`MatGPUCSRSetStreamFile()`), and copies to pinned buffers the chunks that the system refused to pin.

.seealso: `MATGPUCSR`, `MatGPUCSRSetStream()`, `MatGPUCSRGetStreamInfo()`
@*/
PetscErrorCode MatGPUCSRSetStreamThreads(Mat A, PetscInt threads)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetCount_Private(A, MAT_GPUCSR_OPTION_stream_threads, threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetStreamEncode - Sets how the chunks of a streamed `MATGPUCSR` matrix are stored

  Logically Collective

  Input Parameters:
+ A      - the matrix
- encode - `MAT_GPUCSR_STREAM_ENCODE_AUTO` (default) or `MAT_GPUCSR_STREAM_ENCODE_NONE`

  Options Database Key:
. -mat_gpucsr_stream_encode <auto,none> - how the chunks are stored

  Level: advanced

  Note:
  `MAT_GPUCSR_STREAM_ENCODE_AUTO` stores each chunk in its smallest lossless encoding. `MAT_GPUCSR_STREAM_ENCODE_NONE` stores columns in 32 bits and values in the precision of the
  storage (`MatGPUCSRSetStorage()`). Use it to measure what encoding saves.

.seealso: `MATGPUCSR`, `MatGPUCSRSetStream()`, `MatGPUCSRGetStreamInfo()`
@*/
PetscErrorCode MatGPUCSRSetStreamEncode(Mat A, MatGPUCSRStreamEncode encode)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_stream_encode, encode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetStreamTranspose - Sets how a streamed `MATGPUCSR` matrix multiplies by its transpose

  Logically Collective

  Input Parameters:
+ A         - the matrix
- transpose - `MAT_GPUCSR_STREAM_TRANSPOSE_STORED` (default) or `MAT_GPUCSR_STREAM_TRANSPOSE_SHARED`

  Options Database Key:
. -mat_gpucsr_stream_transpose <stored,shared> - whether the host stores chunks of the transpose

  Level: intermediate

  Notes:
  `MAT_GPUCSR_STREAM_TRANSPOSE_STORED` keeps chunks of the transpose in host memory. They take about as much memory as those of the matrix.

  `MAT_GPUCSR_STREAM_TRANSPOSE_SHARED` keeps no chunks of the transpose. In each product with the transpose, the device transposes the chunks of the matrix and adds their products in the order of the
  chunks. This takes more time on the device. The last bits of the product then depend on the size of the chunks (`MatGPUCSRSetStreamChunk()`).

.seealso: `MATGPUCSR`, `MatGPUCSRSetStream()`, `MatGPUCSRGetStreamInfo()`
@*/
PetscErrorCode MatGPUCSRSetStreamTranspose(Mat A, MatGPUCSRStreamTranspose transpose)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_stream_transpose, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void MatGPUCSRAddStream(GpOpStream S, MatGPUCSRStreamInfo *info)
{
  GpOpStreamInfo i;

  GpOpStreamGetInfo(S, &i);
  info->streamed = PETSC_TRUE;
  info->chunks += i.stream.items;
  info->products += i.stream.visits;
  info->row_bytes += i.row_bytes;
  info->bytes += i.stream.bytes;
  info->pageable_bytes += i.stream.pageable_bytes;
  info->resident_bytes += i.stream.resident_bytes;
  info->device_bytes += i.device_bytes;
  info->moved += i.stream.moved;
  info->moved_last += i.stream.moved_last;
  info->timed_bytes += i.stream.timed_bytes;
  info->timed_seconds += i.stream.timed_seconds;
  info->used_bytes += i.stream.used_bytes;
  info->used_seconds += i.stream.used_seconds;
  info->encode_seconds += i.encode_seconds;
  info->pin_seconds += i.pin_seconds;
  info->wait_seconds += i.stream.wait_seconds;
}

/* Adds the states of the streamed operators in an array of n operators. */
void MatGPUCSRGetStreamInfo_Private(int n, GpOp const op[], MatGPUCSRStreamInfo *info)
{
  *info = (MatGPUCSRStreamInfo){.streamed = PETSC_FALSE};
  for (int k = 0; k < 2 * n; k++) {
    if (op[k / 2]->side[k % 2].stream) MatGPUCSRAddStream(op[k / 2]->side[k % 2].stream, info);
  }
}
