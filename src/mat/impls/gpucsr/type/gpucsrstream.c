/* Public functions of a matrix that stays in host memory and is streamed to the device: its options and its state. */
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
  The matrix is cut into chunks of whole rows, which are encoded without loss in pinned host memory. Each product transfers them, decodes them on the device
  and multiplies. Chunks that fit the free device memory stay there (`MatGPUCSRSetStreamResident()`). Which chunks these are changes no bit of a product.

  The kernel is chosen by the rule of `MAT_GPUCSR_SELECT_FIXED` among the kernels `csrscalar` and `csrvector2` to `csrvector32`, or by `MatGPUCSRSetKernel()`.
  A product has the bits of an ordinary product with this kernel.

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
  MatGPUCSRSetStreamChunk - Sets the size of the chunks of a streamed `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A     - the matrix
- bytes - size in bytes of the compressed rows of a chunk before they are encoded, at most; -1 (default): 32 MiB

  Options Database Key:
. -mat_gpucsr_stream_chunk <bytes> - the size

  Level: advanced

  Note:
  A row that takes more bytes is a chunk of its own.

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
- bytes - upper bound in bytes on these chunks in each process; -1 (default): the free memory less a tenth of it and the buffers

  Options Database Key:
. -mat_gpucsr_stream_resident <bytes> - the bound

  Level: intermediate

  Note:
  The bound is that of the matrix and its transpose, and of both blocks of a parallel matrix, together.

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
- buffers - the number; 0 (default): 3

  Options Database Key:
. -mat_gpucsr_stream_buffers <n> - the number

  Level: advanced

  Note:
  With one buffer, transfers and products take turns. With two, one chunk is transferred while another is multiplied.

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
- threads - the number; 0 (default): one for each core that the process may use, at most 8

  Options Database Key:
. -mat_gpucsr_stream_threads <n> - the number

  Level: advanced

  Note:
  If the system refuses to pin the chunks, these threads also copy them to pinned buffers in each product.

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
. -mat_gpucsr_stream_encode <auto,none> - the encoding

  Level: advanced

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
. -mat_gpucsr_stream_transpose <stored,shared> - how to multiply

  Level: intermediate

  Note:
  Chunks that are stored for the transpose take as much host memory as those of the matrix.

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
  info->encode_seconds += i.encode_seconds;
  info->pin_seconds += i.pin_seconds;
  info->wait_seconds += i.stream.wait_seconds;
}

/* Gets the state of the streamed operators in an array. */
void MatGPUCSRGetStreamInfo_Private(int n, GpOp const op[], MatGPUCSRStreamInfo *info)
{
  *info = (MatGPUCSRStreamInfo){.streamed = PETSC_FALSE};
  for (int k = 0; k < 2 * n; k++) {
    if (op[k / 2]->side[k % 2].stream) MatGPUCSRAddStream(op[k / 2]->side[k % 2].stream, info);
  }
}
