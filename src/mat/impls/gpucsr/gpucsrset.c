/* The functions that set options of a gpucsr matrix. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

/* an image made under other options is stale; what stays valid stays */
PetscErrorCode MatGPUCSRSetOptions_Private(Mat A, const MatGPUCSROptions *options)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  if (options->storage != g->options.storage) {
    g->fits.owner = NULL;
    g->wide       = PETSC_FALSE;
  }
  if (options->storage != g->options.storage || options->kernel != g->options.kernel || options->select != g->options.select || options->memory_limit != g->options.memory_limit) g->key = (MatGPUCSRKey){0};
  g->options = *options; /* the blocks of a parallel matrix inherit them at the next product */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a setter's beginning: what stands so far, of which it changes one */
static PetscErrorCode MatGPUCSRBeginSet(Mat A, MatGPUCSROptions *options)
{
  Mat_GPUCSR *g = NULL;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  *options = g->options;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRCheckChoice(Mat A, const char type[], PetscInt choice, PetscInt choices)
{
  PetscFunctionBegin;
  PetscValidLogicalCollectiveInt(A, choice, 3);
  PetscCheck(choice >= 0 && choice < choices, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "Unknown %s %" PetscInt_FMT "; there are 0 to %" PetscInt_FMT, type, choice, choices - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -1, and nothing else below 0, means no limit; NaN and infinity are likely mistakes of the program that computed them */
PetscBool MatGPUCSRIsLimit_Private(PetscReal bytes)
{
  return (PetscBool)(!PetscIsInfOrNanReal(bytes) && (bytes >= 0 || bytes == -1));
}

/*@
  MatGPUCSRSetStorage - Sets the precision in which a `MATGPUCSR` matrix keeps its values on the device

  Logically Collective

  Input Parameters:
+ A       - the matrix
- storage - `MAT_GPUCSR_STORAGE_SINGLE` (default), `MAT_GPUCSR_STORAGE_DOUBLE` or `MAT_GPUCSR_STORAGE_AUTO`

  Options Database Keys:
+ -mat_gpucsr_storage <single,double,auto> - the precision of this matrix, which with a prefix has -<prefix>mat_gpucsr_storage
. -gpucsr_storage <single,double,auto>     - the default of all matrices, whatever their prefix
- -gpucsr_notice <bool>                    - whether the default single storage tells on stderr that it rounds values

  Level: intermediate

  Notes:
  Vectors, products and sums are double in all of them. Single storage rounds every value once, by at most 6e-8 relative;
  `MatGPUCSRGetInfo()` and `-mat_view ::ascii_info` tell how many values and the largest change. A finite value that would become infinite is
  refused with its row and column when the matrix is uploaded. The values on the host stay as they are.

  Storage auto is single where single precision holds every value exactly, else double. The matrix and its transpose, and all blocks on all ranks of a
  parallel matrix, have the same storage. New values on the same pattern can change it from single to double, but not back.

.seealso: `MATGPUCSR`, `MatGPUCSRGetStorage()`, `MatGPUCSRGetInfo()`, `PetscGPUCSRSetNotice()`
@*/
PetscErrorCode MatGPUCSRSetStorage(Mat A, MatGPUCSRStorage storage)
{
  MatGPUCSROptions options;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRBeginSet(A, &options));
  PetscCall(MatGPUCSRCheckChoice(A, "MatGPUCSRStorage", storage, MAT_GPUCSR_STORAGE_AUTO + 1));
  options.storage = storage;
  options.given |= MAT_GPUCSR_GIVEN(storage);
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRGetStorage - Gets the precision that was asked for the values of a `MATGPUCSR` matrix on the device; `MatGPUCSRGetInfo()` gives the one in effect

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. storage - the precision

  Level: intermediate

.seealso: `MATGPUCSR`, `MatGPUCSRSetStorage()`
@*/
PetscErrorCode MatGPUCSRGetStorage(Mat A, MatGPUCSRStorage *storage)
{
  Mat_GPUCSR *g = NULL;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  *storage = g->options.storage;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetTranspose - Sets when a `MATGPUCSR` matrix builds its transpose on the device

  Logically Collective

  Input Parameters:
+ A         - the matrix
- transpose - `MAT_GPUCSR_TRANSPOSE_EAGER` (default): with the upload; `MAT_GPUCSR_TRANSPOSE_LAZY`: by the first product that needs it

  Options Database Key:
. -mat_gpucsr_transpose <eager,lazy> - when

  Level: intermediate

  Note:
  A matrix known to be symmetric (`MatSetOption()` with `MAT_SYMMETRIC`) serves as its own transpose and never builds one.

.seealso: `MATGPUCSR`, `MatMultTranspose()`
@*/
PetscErrorCode MatGPUCSRSetTranspose(Mat A, MatGPUCSRTranspose transpose)
{
  MatGPUCSROptions options;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRBeginSet(A, &options));
  PetscCall(MatGPUCSRCheckChoice(A, "MatGPUCSRTranspose", transpose, MAT_GPUCSR_TRANSPOSE_LAZY + 1));
  options.transpose = transpose;
  options.given |= MAT_GPUCSR_GIVEN(transpose);
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRSetKernel - Sets the SpMV kernel of a `MATGPUCSR` matrix, instead of leaving the choice to the selector

  Logically Collective

  Input Parameters:
+ A      - the matrix
- kernel - `auto`, or a name from the table of kernels, which `-help` and the error for an unknown name list

  Options Database Key:
. -mat_gpucsr_kernel <auto,name> - the kernel

  Level: advanced

.seealso: `MATGPUCSR`, `MatGPUCSRGetInfo()`
@*/
PetscErrorCode MatGPUCSRSetKernel(Mat A, const char kernel[])
{
  MatGPUCSROptions options;
  PetscBool        automatic;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRBeginSet(A, &options));
  options.kernel = GpKernelFind(kernel) + 1;
  options.given |= MAT_GPUCSR_GIVEN(kernel);
  PetscCall(PetscStrcmp(kernel, "auto", &automatic));
  if (!options.kernel && !automatic) {
    char names[1024] = "";

    for (size_t k = 0; k <= GP_KERNELS; k++) {
      PetscCall(PetscStrlcat(names, k ? ", " : "", sizeof(names)));
      PetscCall(PetscStrlcat(names, MatGPUCSRKernels_Private[k], sizeof(names)));
    }
    SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_UNKNOWN_TYPE, "Unknown kernel %s; choose one of %s", kernel, names);
  }
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetSelect - Sets how the kernel of a `MATGPUCSR` matrix is chosen when none is named

  Logically Collective

  Input Parameters:
+ A      - the matrix
- select - `MAT_GPUCSR_SELECT_MODEL` (default): by the times that a model expects, which was learnt from measurements on the GPU most like this one;
           `MAT_GPUCSR_SELECT_MEASURE`: the model's leading candidates are timed and the fastest is kept; `MAT_GPUCSR_SELECT_FIXED`: by
           mean and longest row, among the kernels on compressed rows

  Options Database Key:
. -mat_gpucsr_select <model,measure,fixed> - how

  Level: intermediate

  Notes:
  The matrix and its transpose are looked at apart. A candidate whose format refuses the matrix leaves its place to the next, and
  `-mat_view ::ascii_info` and `-info` say so. On the host runtime there is no model: the rows are walked in order.

  A measurement costs about thirty products and the conversions, and may choose differently from run to run, which shows
  in the last bits of products; the other two always choose alike.

.seealso: `MATGPUCSR`, `MatGPUCSRSetKernel()`, `MatGPUCSRSetMemoryLimit()`
@*/
PetscErrorCode MatGPUCSRSetSelect(Mat A, MatGPUCSRSelect select)
{
  MatGPUCSROptions options;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRBeginSet(A, &options));
  PetscCall(MatGPUCSRCheckChoice(A, "MatGPUCSRSelect", select, MAT_GPUCSR_SELECT_FIXED + 1));
  options.select = select;
  options.given |= MAT_GPUCSR_GIVEN(select);
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetMemoryLimit - Sets how much memory on the device the formats of a `MATGPUCSR` matrix may fill

  Logically Collective

  Input Parameters:
+ A     - the matrix
- bytes - the limit for each process, for the matrix with its transpose: 0 or more, or -1 (default) for no limit but the device's own

  Options Database Key:
. -mat_gpucsr_memory_limit <bytes> - the limit

  Level: advanced

  Note:
  The compressed rows of the matrix, and of its transpose once it is needed, are always kept. A format beside them that would pass the
  limit, or does not fit the device, is not chosen.

.seealso: `MATGPUCSR`, `MatGPUCSRSetSelect()`, `MatGPUCSRSetTranspose()`
@*/
PetscErrorCode MatGPUCSRSetMemoryLimit(Mat A, PetscReal bytes)
{
  MatGPUCSROptions options;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRBeginSet(A, &options));
  PetscValidLogicalCollectiveReal(A, bytes, 2);
  PetscCheck(MatGPUCSRIsLimit_Private(bytes), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "Memory limit %g: " MAT_GPUCSR_LIMIT_WANTED, (double)bytes);
  options.memory_limit = bytes;
  options.given |= MAT_GPUCSR_GIVEN(memory_limit);
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetVecType - Sets the type of the vectors that `MatCreateVecs()` makes for a `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A    - the matrix
- type - a `VecType`, for example `standard` or, with a PETSc that has CUDA, `cuda`

  Options Database Key:
. -mat_gpucsr_vec_type <type> - the type

  Level: advanced

.seealso: `MATGPUCSR`, `MatCreateVecs()`
@*/
PetscErrorCode MatGPUCSRSetVecType(Mat A, VecType type)
{
  Mat_GPUCSR *g = NULL;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscCall(PetscFree(A->defaultvectype));
  PetscCall(PetscStrallocpy(type, &A->defaultvectype));
  PetscCall(PetscStrncpy(g->options.vec_type, type, sizeof(g->options.vec_type)));
  g->options.given |= MAT_GPUCSR_GIVEN(vec_type);
  g->setvectype = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetHaloType - Sets how the entries of a vector that other ranks need cross between the GPUs, in the products of a parallel
  `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A    - the matrix
- type - `MAT_GPUCSR_HALO_AUTO` (default), `MAT_GPUCSR_HALO_HOST`, `MAT_GPUCSR_HALO_NCCL` or `MAT_GPUCSR_HALO_MPI`

  Options Database Key:
. -mat_gpucsr_halo_type <auto,host,nccl,mpi> - the way

  Level: intermediate

  Notes:
  In all of them the entries are packed on the device and travel while the diagonal block multiplies.

  `MAT_GPUCSR_HALO_HOST` copies them to pinned memory on a stream of their own, sends them by MPI and copies what arrives to the device.
  `MAT_GPUCSR_HALO_NCCL` sends from GPU to GPU, ordered by streams, so that no host waits; it needs a GPU for every rank and `libnccl.so.2`, which is looked
  for when the first product runs. `MAT_GPUCSR_HALO_MPI` gives MPI the pointers to device memory; it needs an MPI that says that it takes them, or
  `-use_gpu_aware_mpi 1`.

  `MAT_GPUCSR_HALO_AUTO` takes the first of nccl, mpi, host that works on all ranks; `-info` and `-mat_view ::ascii_info` tell which, and
  why. What is asked for by name and does not work is an error of the first product.

.seealso: `MATGPUCSR`, `MatGPUCSRGetInfo()`, `MatGPUCSRHaloView()`
@*/
PetscErrorCode MatGPUCSRSetHaloType(Mat A, MatGPUCSRHaloType type)
{
  MatGPUCSROptions options;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRBeginSet(A, &options));
  PetscCall(MatGPUCSRCheckChoice(A, "MatGPUCSRHaloType", type, MAT_GPUCSR_HALO_MPI + 1));
  options.halo_type = type;
  options.given |= MAT_GPUCSR_GIVEN(halo_type);
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}
