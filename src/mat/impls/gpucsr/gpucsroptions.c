/* The options of a gpucsr matrix: from the database when it is made, with help text in MatSetFromOptions(), by setters. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

static const char *const Storages[]   = {"single", "double"};
static const char *const Transposes[] = {"eager", "lazy"};
static const char *const Selects[]    = {"model", "measure", "fixed"}; /* MatGPUCSRSelect and GpSelMode */

/* "auto" and the kernels' names, in the table's order */
static const char *const Kernels[] = {
  "auto",
#define SPMV(name, format, lanes, help) #name,
#include "mat/impls/gpucsr/kernels/kernels.def"
#undef SPMV
};

/* an image made under other options is stale; what stays valid stays */
PetscErrorCode MatGPUCSRSetOptions_Private(Mat A, const MatGPUCSROptions *options)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  if (options->storage != g->options.storage || options->kernel != g->options.kernel || options->select != g->options.select || options->limit != g->options.limit) g->key = (MatGPUCSRKey){0};
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

/* what the database says, for matrices whose maker never calls MatSetFromOptions() */
PetscErrorCode MatGPUCSRGetOptions_Private(Mat A)
{
  MatGPUCSROptions options = {MAT_GPUCSR_STORAGE_SINGLE, MAT_GPUCSR_TRANSPOSE_EAGER, -1, MAT_GPUCSR_SELECT_MODEL, -1, MAT_GPUCSR_HALO_AUTO};
  PetscInt         storage = options.storage, transpose = options.transpose, kernel = 0, select = options.select, halo = options.halo;
  PetscObject      o = (PetscObject)A;
  char             type[256];
  PetscBool        set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(o->options, o->prefix, "-mat_gpucsr_vec_type", type, sizeof(type), &set));
  if (set) PetscCall(MatGPUCSRSetVecType(A, type));
  PetscCall(PetscOptionsGetEList(o->options, o->prefix, "-mat_gpucsr_storage", Storages, PETSC_STATIC_ARRAY_LENGTH(Storages), &storage, NULL));
  PetscCall(PetscOptionsGetEList(o->options, o->prefix, "-mat_gpucsr_transpose", Transposes, PETSC_STATIC_ARRAY_LENGTH(Transposes), &transpose, NULL));
  PetscCall(PetscOptionsGetEList(o->options, o->prefix, "-mat_gpucsr_kernel", Kernels, PETSC_STATIC_ARRAY_LENGTH(Kernels), &kernel, NULL));
  PetscCall(PetscOptionsGetEList(o->options, o->prefix, "-mat_gpucsr_select", Selects, PETSC_STATIC_ARRAY_LENGTH(Selects), &select, NULL));
  PetscCall(PetscOptionsGetReal(o->options, o->prefix, "-mat_gpucsr_memory_limit", &options.limit, NULL));
  PetscCall(PetscOptionsGetEList(o->options, o->prefix, "-mat_gpucsr_halo_type", MatGPUCSRHaloTypes_Private, PETSC_STATIC_ARRAY_LENGTH(MatGPUCSRHaloTypes_Private), &halo, NULL));
  options.storage   = (MatGPUCSRStorage)storage;
  options.transpose = (MatGPUCSRTranspose)transpose;
  options.kernel    = (int)kernel - 1;
  options.select    = (MatGPUCSRSelect)select;
  options.halo      = (MatGPUCSRHaloType)halo;
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetFromOptions_GPUCSR(Mat A, GpOptionItems PetscOptionsObject)
{
  Mat_GPUCSR      *g = (Mat_GPUCSR *)A->spptr;
  MatGPUCSROptions options;
  PetscInt         storage, transpose, kernel, select, halo;
  char             type[256];
  PetscBool        set;

  PetscFunctionBegin;
  if (MatGPUCSRBase_Private(A)->setfromoptions) PetscCall((*MatGPUCSRBase_Private(A)->setfromoptions)(A, PetscOptionsObject));
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  options   = g->options;
  storage   = options.storage;
  transpose = options.transpose;
  kernel    = options.kernel + 1;
  select    = options.select;
  halo      = options.halo;
  PetscOptionsHeadBegin(PetscOptionsObject, "gpucsr options");
  PetscCall(PetscOptionsEList("-mat_gpucsr_storage", "Precision of the values on the device", "MatGPUCSRSetStorage", Storages, PETSC_STATIC_ARRAY_LENGTH(Storages), Storages[storage], &storage, NULL));
  PetscCall(PetscOptionsEList("-mat_gpucsr_transpose", "When the transpose is built: with the upload, or by the first product that needs it", "MatGPUCSRSetTranspose", Transposes, PETSC_STATIC_ARRAY_LENGTH(Transposes), Transposes[transpose],
                              &transpose, NULL));
  PetscCall(PetscOptionsEList("-mat_gpucsr_kernel", "Kernel of the products; auto lets the selector choose", "MatGPUCSRSetKernel", Kernels, PETSC_STATIC_ARRAY_LENGTH(Kernels), Kernels[kernel], &kernel, NULL));
  PetscCall(PetscOptionsEList("-mat_gpucsr_select", "How the kernel is chosen: by a model learnt from measured times, by timing the model's leading candidates, by a fixed rule", "MatGPUCSRSetSelect", Selects, PETSC_STATIC_ARRAY_LENGTH(Selects),
                              Selects[select], &select, NULL));
  PetscCall(PetscOptionsReal("-mat_gpucsr_memory_limit", "Bytes on the device that no compressed format may pass; negative: any", "MatGPUCSRSetMemoryLimit", options.limit, &options.limit, NULL));
  PetscCall(PetscOptionsEList("-mat_gpucsr_halo_type", "How boundary entries cross between the GPUs of a parallel product", "MatGPUCSRSetHaloType", MatGPUCSRHaloTypes_Private, PETSC_STATIC_ARRAY_LENGTH(MatGPUCSRHaloTypes_Private),
                              MatGPUCSRHaloTypes_Private[halo], &halo, NULL));
  PetscCall(PetscOptionsName("-mat_gpucsr_halo_view", "Timeline of a parallel product on every rank, before the first one", "MatGPUCSRHaloView", &set));
  PetscCall(PetscOptionsString("-mat_gpucsr_vec_type", "Type of the vectors that MatCreateVecs() makes", "MatGPUCSRSetVecType", A->defaultvectype, type, sizeof(type), &set));
  if (set) PetscCall(MatGPUCSRSetVecType(A, type));
  PetscOptionsHeadEnd();
  options.storage   = (MatGPUCSRStorage)storage;
  options.transpose = (MatGPUCSRTranspose)transpose;
  options.kernel    = (int)kernel - 1;
  options.select    = (MatGPUCSRSelect)select;
  options.halo      = (MatGPUCSRHaloType)halo;
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetStorage - Sets the precision in which a `MATGPUCSR` matrix keeps its values on the device

  Logically Collective

  Input Parameters:
+ A       - the matrix
- storage - `MAT_GPUCSR_STORAGE_SINGLE` (default) or `MAT_GPUCSR_STORAGE_DOUBLE`

  Options Database Key:
. -mat_gpucsr_storage <single,double> - the precision

  Level: intermediate

  Notes:
  Vectors, products and sums are double in both. Single storage rounds every value once, by at most 6e-8 relative;
  `MatGPUCSRGetInfo()` and `-mat_view ::ascii_info` tell the largest change. A finite value that would become infinite is
  refused with its row and column when the matrix is uploaded. The values on the host stay as they are.

.seealso: `MATGPUCSR`, `MatGPUCSRGetStorage()`, `MatGPUCSRGetInfo()`
@*/
PetscErrorCode MatGPUCSRSetStorage(Mat A, MatGPUCSRStorage storage)
{
  MatGPUCSROptions options;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRBeginSet(A, &options));
  PetscCall(MatGPUCSRCheckChoice(A, "MatGPUCSRStorage", storage, PETSC_STATIC_ARRAY_LENGTH(Storages)));
  options.storage = storage;
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRGetStorage - Gets the precision in which a `MATGPUCSR` matrix keeps its values on the device

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
  PetscCall(MatGPUCSRCheckChoice(A, "MatGPUCSRTranspose", transpose, PETSC_STATIC_ARRAY_LENGTH(Transposes)));
  options.transpose = transpose;
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
  options.kernel = GpKernelFind(kernel);
  PetscCall(PetscStrcmp(kernel, "auto", &automatic));
  if (options.kernel < 0 && !automatic) {
    char names[1024] = "";

    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Kernels); k++) {
      PetscCall(PetscStrlcat(names, k ? ", " : "", sizeof(names)));
      PetscCall(PetscStrlcat(names, Kernels[k], sizeof(names)));
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
  PetscCall(MatGPUCSRCheckChoice(A, "MatGPUCSRSelect", select, PETSC_STATIC_ARRAY_LENGTH(Selects)));
  options.select = select;
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetMemoryLimit - Sets how much memory on the device the formats of a `MATGPUCSR` matrix may fill

  Logically Collective

  Input Parameters:
+ A     - the matrix
- bytes - on the device, of each process, for the matrix with its transpose; negative (default): no limit but the device's own

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
  options.limit = bytes;
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
  PetscCall(MatGPUCSRCheckChoice(A, "MatGPUCSRHaloType", type, PETSC_STATIC_ARRAY_LENGTH(MatGPUCSRHaloTypes_Private)));
  options.halo = type;
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}
