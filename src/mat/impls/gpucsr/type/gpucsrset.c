/* Public functions that set the options of a gpucsr matrix. */
#include "mat/impls/gpucsr/type/gpucsrtype.h"

/*@
  MatGPUCSRSetStorage - Sets the precision of the values of a `MATGPUCSR` matrix on the device

  Logically Collective

  Input Parameters:
+ A       - the matrix
- storage - `MAT_GPUCSR_STORAGE_SINGLE` (default), `MAT_GPUCSR_STORAGE_DOUBLE` or `MAT_GPUCSR_STORAGE_AUTO`

  Options Database Keys:
+ -mat_gpucsr_storage <single,double,auto> - the precision of this matrix; the option of a matrix with a prefix is -<prefix>mat_gpucsr_storage
. -gpucsr_storage <single,double,auto>     - the default for all matrices, whatever their options prefix
- -gpucsr_notice <bool>                    - whether a notice on stderr reports that the default single storage rounded values

  Level: intermediate

  Notes:
  Vectors and sums are always in double precision. Single storage rounds each value once, with a relative error of at most 6e-8.
  `MatGPUCSRGetInfo()` and `-mat_view ::ascii_info` report the number of rounded values and the largest relative change. If a finite value would become infinite, the
  upload stops with an error that names its row and column. The values on the host do not change.

  Storage auto is single if single precision holds every value exactly, else double. The matrix and its transpose have the same storage, and so have all
  blocks of a parallel matrix on all ranks. New values on the same pattern can change the storage from single to double, but not back.

.seealso: `MATGPUCSR`, `MatGPUCSRGetStorage()`, `MatGPUCSRGetInfo()`, `PetscGPUCSRSetNotice()`
@*/
PetscErrorCode MatGPUCSRSetStorage(Mat A, MatGPUCSRStorage storage)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_storage, storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRGetStorage - Gets the requested precision of the values of a `MATGPUCSR` matrix on the device; `MatGPUCSRGetInfo()` gets the precision in effect

  Not Collective

  Input Parameter:
. A - the matrix

  Output Parameter:
. storage - the requested precision, which can be `MAT_GPUCSR_STORAGE_AUTO`

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
  MatGPUCSRSetSORType - Sets how `MatSOR()`, and with it `PCSOR`, sweeps over the rows of a `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A    - the matrix
- type - `MAT_GPUCSR_SOR_HOST` (default) or `MAT_GPUCSR_SOR_MULTICOLOR`

  Options Database Keys:
+ -mat_gpucsr_sor <host,multicolor> - the type for this matrix
- -gpucsr_sor <host,multicolor>     - the default for all matrices, whatever their options prefix

  Level: intermediate

  Notes:
  A sweep by colours relaxes the rows in another order than PETSc does, so the number of iterations differs. It equals a sweep of PETSc with the matrix whose rows and columns are ordered by
  colours. The colours are found by a greedy algorithm in the order of the rows, once for each pattern. At most 128 colours are supported.

  A parallel matrix sweeps over the rows of each rank, as `MATMPIAIJ` does. Eisenstat's trick (`PCEISENSTAT`), and a diagonal with a zero or a missing entry, use PETSc's sweep on the host; `-info` reports it.

.seealso: `MATGPUCSR`, `MatSOR()`, `PCSOR`, `MatGPUCSRSORType`
@*/
PetscErrorCode MatGPUCSRSetSORType(Mat A, MatGPUCSRSORType type)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_sor, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetFactorStorage - Sets the precision in which the device stores the values of ILU and ICC factors of a `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A       - the matrix
- storage - `MAT_GPUCSR_FACTOR_STORAGE_MATRIX` (default), `MAT_GPUCSR_FACTOR_STORAGE_SINGLE` or `MAT_GPUCSR_FACTOR_STORAGE_DOUBLE`

  Options Database Keys:
+ -mat_gpucsr_factor_storage <matrix,single,double> - the precision for this matrix
- -gpucsr_factor_storage <matrix,single,double>     - the default for all matrices, whatever their options prefix

  Level: intermediate

  Notes:
  The setting has its effect at the next numeric factorisation. Factors of LU and Cholesky are always stored in double precision, and so are the diagonals of all factors.
  Vectors and sums are always in double precision.

  If a value of a factor exceeds the range of single precision, the first solve stops with an error.

.seealso: `MATGPUCSR`, `MATSOLVERGPUCSR`, `MatGPUCSRSetStorage()`
@*/
PetscErrorCode MatGPUCSRSetFactorStorage(Mat A, MatGPUCSRFactorStorage storage)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_factor_storage, storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetFactorNumeric - Sets where the values of ILU and ICC factors of a `MATGPUCSR` matrix are computed

  Logically Collective

  Input Parameters:
+ A    - the matrix
- type - `MAT_GPUCSR_FACTOR_NUMERIC_DEVICE` (default) or `MAT_GPUCSR_FACTOR_NUMERIC_HOST`

  Options Database Keys:
+ -mat_gpucsr_factor_numeric <device,host> - the setting for this matrix
- -gpucsr_factor_numeric <device,host>     - the default for all matrices, whatever their options prefix

  Level: advanced

  Notes:
  The factor must have the solver type `MATSOLVERGPUCSR`. The setting has its effect at the next numeric factorisation. PETSc always computes the pattern of the factor, and the values of
  LU and Cholesky factors, on the host. Both settings give the same factor up to rounding. `-ksp_view` prints where the factor was computed.

.seealso: `MATGPUCSR`, `MATSOLVERGPUCSR`, `MatGPUCSRSetFactorStorage()`, `MatGPUCSRSetFactorHost()`
@*/
PetscErrorCode MatGPUCSRSetFactorNumeric(Mat A, MatGPUCSRFactorNumericType type)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_factor_numeric, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetFactorHost - Sets what happens if a factor of a `MATGPUCSR` matrix does not fit the device memory

  Logically Collective

  Input Parameters:
+ A    - the matrix
- host - `PETSC_TRUE`: PETSc computes this factor and solves with it on the host; `PETSC_FALSE` (default): the factorisation or the first solve stops with an error, which says how many bytes were requested

  Options Database Keys:
+ -mat_gpucsr_factor_host <bool> - the setting for this matrix
- -gpucsr_factor_host <bool>     - the default for all matrices, whatever their options prefix

  Level: intermediate

  Notes:
  The factor must have the solver type `MATSOLVERGPUCSR`. The setting has its effect at the next numeric factorisation. Each numeric factorisation tries to use the device again.

  `-ksp_view` and `-info` report factors that stay on the host. There the values have double precision, and solves are exact.

.seealso: `MATGPUCSR`, `MATSOLVERGPUCSR`, `MatGPUCSRSetFactorStorage()`
@*/
PetscErrorCode MatGPUCSRSetFactorHost(Mat A, PetscBool host)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetFlag_Private(A, MAT_GPUCSR_OPTION_factor_host, host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetTrisolve - Sets how the device solves with the triangles of ILU and ICC factors of a `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A        - the matrix
- trisolve - `MAT_GPUCSR_TRISOLVE_EXACT` (default), `MAT_GPUCSR_TRISOLVE_JACOBI` or `MAT_GPUCSR_TRISOLVE_ISAI`

  Options Database Keys:
+ -mat_gpucsr_trisolve <exact,jacobi,isai> - how to solve with factors of this matrix
- -gpucsr_trisolve <exact,jacobi,isai>     - the default for all matrices, whatever their options prefix

  Level: intermediate

  Notes:
  The factor must have the solver type `MATSOLVERGPUCSR`. The setting has its effect at the next numeric factorisation. Solves with LU and Cholesky factors are always exact.

  An approximate solve consists of products of sparse matrices with vectors, whose number does not depend on the number of levels of the triangle. The preconditioner is the same linear operator
  in every application. `MatSolveTranspose()` is its exact transpose, and it is symmetric and positive definite for ICC factors.

  `MAT_GPUCSR_TRISOLVE_JACOBI`, for a triangle T with the diagonal D and the strict triangle N: the first sweep computes x = D^-1 b, each further one x = D^-1 (b - N x).

  `MAT_GPUCSR_TRISOLVE_ISAI`: M has the pattern of T, and M T is the identity on this pattern. The first sweep computes x = M b, each further one x = x + M (b - T x).

.seealso: `MATGPUCSR`, `MATSOLVERGPUCSR`, `MatGPUCSRSetTrisolveSweeps()`, `MatGPUCSRSetFactorStorage()`
@*/
PetscErrorCode MatGPUCSRSetTrisolve(Mat A, MatGPUCSRTrisolve trisolve)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_trisolve, trisolve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetTrisolveSweeps - Sets the number of sweeps of approximate solves with the triangles of ILU and ICC factors

  Logically Collective

  Input Parameters:
+ A      - the matrix
- sweeps - the number of sweeps, at most 1024; 0 (default): 5 for `MAT_GPUCSR_TRISOLVE_JACOBI`, 2 for `MAT_GPUCSR_TRISOLVE_ISAI`

  Options Database Keys:
+ -mat_gpucsr_trisolve_sweeps <n> - the number of sweeps for factors of this matrix
- -gpucsr_trisolve_sweeps <n>     - the default for all matrices, whatever their options prefix

  Level: intermediate

  Note:
  A triangle with l levels is solved exactly by l sweeps of `MAT_GPUCSR_TRISOLVE_JACOBI`, or by half as many of `MAT_GPUCSR_TRISOLVE_ISAI`. Further sweeps are omitted.

.seealso: `MATGPUCSR`, `MATSOLVERGPUCSR`, `MatGPUCSRSetTrisolve()`
@*/
PetscErrorCode MatGPUCSRSetTrisolveSweeps(Mat A, PetscInt sweeps)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetCount_Private(A, MAT_GPUCSR_OPTION_trisolve_sweeps, sweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetTranspose - Sets when a `MATGPUCSR` matrix builds its transpose on the device

  Logically Collective

  Input Parameters:
+ A         - the matrix
- transpose - `MAT_GPUCSR_TRANSPOSE_EAGER` (default): with the upload; `MAT_GPUCSR_TRANSPOSE_LAZY`: before the first product that needs it

  Options Database Key:
. -mat_gpucsr_transpose <eager,lazy> - when to build the transpose

  Level: intermediate

  Note:
  A matrix that is known to be symmetric (`MatSetOption()` with `MAT_SYMMETRIC`) is used as its own transpose, which is then never built.

.seealso: `MATGPUCSR`, `MatMultTranspose()`
@*/
PetscErrorCode MatGPUCSRSetTranspose(Mat A, MatGPUCSRTranspose transpose)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_transpose, transpose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRSetKernel - Sets the SpMV kernel of a `MATGPUCSR` matrix, which is otherwise selected automatically

  Logically Collective

  Input Parameters:
+ A      - the matrix
- kernel - `auto` (default), or the name of a kernel; `-help` lists the names

  Options Database Key:
. -mat_gpucsr_kernel <auto,name> - the kernel

  Level: advanced

.seealso: `MATGPUCSR`, `MatGPUCSRGetInfo()`
@*/
PetscErrorCode MatGPUCSRSetKernel(Mat A, const char kernel[])
{
  Mat_GPUCSR      *g = NULL;
  MatGPUCSROptions options;
  PetscBool        automatic;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  options        = g->options;
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
  MatGPUCSRSetSelect - Sets how the kernel of a `MATGPUCSR` matrix is selected if none is named

  Logically Collective

  Input Parameters:
+ A      - the matrix
- select - `MAT_GPUCSR_SELECT_MODEL` (default): the kernel with the smallest time predicted by a cost model, whose coefficients were fitted to
           measurements on a similar GPU; `MAT_GPUCSR_SELECT_MEASURE`: times the candidates with the smallest predicted times and takes the
           fastest; `MAT_GPUCSR_SELECT_FIXED`: a rule that uses the mean and the longest row length and selects a kernel on compressed rows

  Options Database Key:
. -mat_gpucsr_select <model,measure,fixed> - how to select

  Level: intermediate

  Notes:
  The kernels of the matrix and of its transpose are selected separately. If the format of a candidate cannot store the matrix, the next candidate is
  tried; `-mat_view ::ascii_info` and `-info` report this. The host backend has no cost model and uses the fixed rule.

  `MAT_GPUCSR_SELECT_MEASURE` takes the time of about thirty products and of building the formats. It may select another kernel in the next run, which
  changes the last bits of products, unless a file remembers the choice (`PetscGPUCSRSetWisdom()`). The other two always select the same kernel.

.seealso: `MATGPUCSR`, `MatGPUCSRSetKernel()`, `MatGPUCSRSetMemoryLimit()`, `PetscGPUCSRSetWisdom()`
@*/
PetscErrorCode MatGPUCSRSetSelect(Mat A, MatGPUCSRSelect select)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_select, select));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetMemoryLimit - Sets an upper bound on the device memory of a `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A     - the matrix
- bytes - the bound in bytes in each process, for the matrix and its transpose together: 0 or more, or -1 (default) for no bound

  Options Database Key:
. -mat_gpucsr_memory_limit <bytes> - the bound

  Level: advanced

  Note:
  The compressed rows of the matrix, and of its transpose once it is needed, are always stored, even if they exceed the bound. A kernel that needs
  another format is not selected if that format would exceed the bound or does not fit the device memory.

.seealso: `MATGPUCSR`, `MatGPUCSRSetSelect()`, `MatGPUCSRSetTranspose()`
@*/
PetscErrorCode MatGPUCSRSetMemoryLimit(Mat A, PetscReal bytes)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetBytes_Private(A, MAT_GPUCSR_OPTION_memory_limit, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetHaloType - Sets how the ranks exchange boundary entries in products of a parallel `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A    - the matrix
- type - `MAT_GPUCSR_HALO_AUTO` (default), `MAT_GPUCSR_HALO_HOST`, `MAT_GPUCSR_HALO_NCCL` or `MAT_GPUCSR_HALO_MPI`

  Options Database Key:
. -mat_gpucsr_halo_type <auto,host,nccl,mpi> - the halo type

  Level: intermediate

  Notes:
  Boundary entries are the entries of a vector that other ranks need. They are packed on the device and communicated while the diagonal block
  multiplies.

  `MAT_GPUCSR_HALO_HOST` copies the packed entries to pinned memory on a second stream, sends them by MPI, and copies the received entries to the device.
  `MAT_GPUCSR_HALO_NCCL` sends from GPU to GPU on a stream, so that the host does not wait. It needs one GPU per rank and `libnccl.so.2`, which is
  opened when the first product runs. `MAT_GPUCSR_HALO_MPI` passes pointers to device memory to MPI. It needs an MPI that reports support for
  them, or the option `-use_gpu_aware_mpi 1`.

  `MAT_GPUCSR_HALO_AUTO` uses the first of nccl, mpi, host that works on all ranks; `-info` and `-mat_view ::ascii_info` print the type in use and
  the reason. If a type that was requested by name does not work, the first product raises an error.

.seealso: `MATGPUCSR`, `MatGPUCSRGetInfo()`, `MatGPUCSRHaloView()`
@*/
PetscErrorCode MatGPUCSRSetHaloType(Mat A, MatGPUCSRHaloType type)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRSetEnum_Private(A, MAT_GPUCSR_OPTION_halo_type, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}
