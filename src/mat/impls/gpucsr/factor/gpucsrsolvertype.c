/* The MatSolverType gpucsr: PETSc computes the pattern of the factor, the device the values of ILU and ICC, and the device solves. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"

static PetscErrorCode MatFactorGetSolverType_GPUCSR(Mat F, MatSolverType *type)
{
  PetscFunctionBegin;
  *type = MATSOLVERGPUCSR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees everything that depends on the pattern. */
static PetscErrorCode MatGPUCSRFactorReset(MatGPUCSRFactor *f)
{
  PetscFunctionBegin;
  MatGPUCSRFactorResetSides_Private(f);
  PetscCall(MatGPUCSRFactorResetApprox_Private(f));
  MatGPUCSRFactorResetNumeric_Private(f);
  PetscCall(MatGPUCSRFactorResetPattern_Private(f));
  for (int k = 0; k < 3; k++) {
    GpDevFree(f->dev, &f->vector[k].array, f->vector[k].n * sizeof(double));
    f->vector[k].n = 0;
  }
  PetscCall(ISDestroy(&f->row));
  PetscCall(ISDestroy(&f->column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides how to solve, and in which precision.  A factorisation that is meant to be exact, and the storage auto, which promises not to round, need double precision. */
static PetscErrorCode MatGPUCSRFactorSelect(Mat F, Mat A, MatGPUCSRFactor *f)
{
  const PetscBool exact = (PetscBool)(F->factortype == MAT_FACTOR_LU || F->factortype == MAT_FACTOR_CHOLESKY);

  PetscFunctionBegin;
  if (!MatGPUCSRIs_Private(A)) PetscFunctionReturn(PETSC_SUCCESS); /* as in the previous factorisation */
  const MatGPUCSROptions *o        = &((Mat_GPUCSR *)A->spptr)->options;
  const PetscBool         single   = (PetscBool)(!exact && (o->factor_storage == MAT_GPUCSR_FACTOR_STORAGE_SINGLE || (o->factor_storage == MAT_GPUCSR_FACTOR_STORAGE_MATRIX && o->storage == MAT_GPUCSR_STORAGE_SINGLE)));
  const MatGPUCSRTrisolve trisolve = exact ? MAT_GPUCSR_TRISOLVE_EXACT : o->trisolve;

  if (single != f->single || trisolve != f->trisolve) {
    MatGPUCSRFactorResetSides_Private(f);
    PetscCall(MatGPUCSRFactorResetApprox_Private(f));
  }
  f->single       = single;
  f->trisolve     = trisolve;
  f->numeric.type = o->factor_numeric;
  f->select       = (GpSelMode)o->select;
  f->allowhost    = o->factor_host;
  f->sweeps       = o->trisolve_sweeps ? o->trisolve_sweeps : trisolve == MAT_GPUCSR_TRISOLVE_JACOBI ? MAT_GPUCSR_SWEEPS_JACOBI : MAT_GPUCSR_SWEEPS_ISAI;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- numeric factorisation ------------------------------------------------------------------------------------------------------- */

static PetscErrorCode MatGPUCSRFactorNumeric(Mat F, Mat A, const MatFactorInfo *info, MatGPUCSRNumericFn numeric, MatGPUCSRFactor *f)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRFactorSelect(F, A, f));
  PetscCall(MatGPUCSRFactorCompute_Private(F, A, info, numeric, f));
  if (F->factorerrortype && f->numeric.host) PetscFunctionReturn(PETSC_SUCCESS); /* MatSolve() then does not solve */
  PetscCall(MatGPUCSRFactorSetSolves_Private(F, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define NUMERIC(Name, operation) \
  static PetscErrorCode Mat##Name##_SolverGPUCSR(Mat F, Mat A, const MatFactorInfo *info) \
  { \
    MatGPUCSRFactor *f; \
\
    PetscFunctionBegin; \
    PetscCall(MatGPUCSRFactorGet_Private(F, &f)); \
    PetscCall(MatGPUCSRFactorNumeric(F, A, info, f->host.operation, f)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
NUMERIC(LUFactorNumeric, lufactornumeric)
NUMERIC(CholeskyFactorNumeric, choleskyfactornumeric)

/* --- symbolic factorisation ------------------------------------------------------------------------------------------------------ */

/* Prepares the factor for a new pattern.  ILU(0) replaces the composed functions of the factor by those of the matrix. */
static PetscErrorCode MatGPUCSRFactorSymbolicEnd(Mat F, IS row, IS column, MatGPUCSRFactor *f)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)row));
  if (column) PetscCall(PetscObjectReference((PetscObject)column));
  PetscCall(MatGPUCSRFactorReset(f));
  f->row    = row;
  f->column = column;
  f->n      = F->rmap->n;
  if (F->ops->lufactornumeric && !f->cholesky) {
    f->host.lufactornumeric = F->ops->lufactornumeric;
    F->ops->lufactornumeric = MatLUFactorNumeric_SolverGPUCSR;
  }
  if (F->ops->choleskyfactornumeric && f->cholesky) {
    f->host.choleskyfactornumeric = F->ops->choleskyfactornumeric;
    F->ops->choleskyfactornumeric = MatCholeskyFactorNumeric_SolverGPUCSR;
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", MatFactorGetSolverType_GPUCSR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SYMBOLIC_LU(Name, operation) \
  static PetscErrorCode Mat##Name##_SolverGPUCSR(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info) \
  { \
    MatGPUCSRFactor *f; \
\
    PetscFunctionBegin; \
    PetscCall(MatGPUCSRFactorGet_Private(F, &f)); \
    PetscCall((*f->host.operation)(F, A, row, column, info)); \
    PetscCall(MatGPUCSRFactorSymbolicEnd(F, row, column, f)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
#define SYMBOLIC_CHOLESKY(Name, operation) \
  static PetscErrorCode Mat##Name##_SolverGPUCSR(Mat F, Mat A, IS permutation, const MatFactorInfo *info) \
  { \
    MatGPUCSRFactor *f; \
\
    PetscFunctionBegin; \
    PetscCall(MatGPUCSRFactorGet_Private(F, &f)); \
    PetscCall((*f->host.operation)(F, A, permutation, info)); \
    PetscCall(MatGPUCSRFactorSymbolicEnd(F, permutation, permutation, f)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
SYMBOLIC_LU(LUFactorSymbolic, lufactorsymbolic)
SYMBOLIC_LU(ILUFactorSymbolic, ilufactorsymbolic)
SYMBOLIC_CHOLESKY(CholeskyFactorSymbolic, choleskyfactorsymbolic)
SYMBOLIC_CHOLESKY(ICCFactorSymbolic, iccfactorsymbolic)

/* --- creation -------------------------------------------------------------------------------------------------------------------- */

static PetscErrorCode MatGPUCSRFactorDestroy(void *data)
{
  MatGPUCSRFactor *f = (MatGPUCSRFactor *)data;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRFactorReset(f));
  PetscCall(PetscFree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

GP_COMPAT_CONTAINER_DESTROY(MatGPUCSRFactorDestroyContainer, MatGPUCSRFactorDestroy)

static PetscErrorCode MatGPUCSRFactorCreate(Mat A, Mat F)
{
  MatGPUCSRFactor *f;
  PetscContainer   container;

  PetscFunctionBegin;
  PetscCall(PetscNew(&f));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, f));
  PetscCall(GpCompatContainerSetDestroy(container, MatGPUCSRFactorDestroyContainer));
  PetscCall(PetscObjectCompose((PetscObject)F, "MatGPUCSRFactor", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  f->dev      = ((Mat_GPUCSR *)A->spptr)->dev;
  f->host     = *F->ops;
  f->cholesky = (PetscBool)(F->factortype == MAT_FACTOR_CHOLESKY || F->factortype == MAT_FACTOR_ICC);
  if (F->ops->lufactorsymbolic) F->ops->lufactorsymbolic = MatLUFactorSymbolic_SolverGPUCSR;
  if (F->ops->ilufactorsymbolic) F->ops->ilufactorsymbolic = MatILUFactorSymbolic_SolverGPUCSR;
  if (F->ops->choleskyfactorsymbolic) F->ops->choleskyfactorsymbolic = MatCholeskyFactorSymbolic_SolverGPUCSR;
  if (F->ops->iccfactorsymbolic) F->ops->iccfactorsymbolic = MatICCFactorSymbolic_SolverGPUCSR;
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERGPUCSR, &F->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", MatFactorGetSolverType_GPUCSR));
  PetscCall(PetscFree(F->defaultvectype));
  PetscCall(PetscStrallocpy(A->defaultvectype, &F->defaultvectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetFactor_SeqAIJGPUCSR(Mat A, MatFactorType type, Mat *F)
{
  PetscErrorCode (*get)(Mat, MatFactorType, Mat *) = NULL;

  PetscFunctionBegin;
  PetscCall(MatSolverTypeGet(MATSOLVERPETSC, MATSEQAIJ, type, NULL, NULL, &get));
  PetscCheck(get, PETSC_COMM_SELF, PETSC_ERR_MISSING_FACTOR, "PETSc has no factorisation %s for the matrix type %s", MatFactorTypes[type], MATSEQAIJ);
  PetscCall((*get)(A, type, F));
  if (*F && MatGPUCSRIs_Private(A)) PetscCall(MatGPUCSRFactorCreate(A, *F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATSOLVERGPUCSR - MATSOLVERGPUCSR = "gpucsr" - Factors of a `MATSEQAIJGPUCSR` whose solves run on the device, for LU, ILU, Cholesky and ICC. The device also computes the values of ILU and ICC factors

  Options Database Keys:
+ -pc_factor_mat_solver_type <gpucsr,petsc>         - `gpucsr` (default), or `petsc`, which factorises and solves on the host
. -gpucsr_factor_solver <gpucsr,petsc>              - default solver type of all sequential gpucsr matrices; read when the library is loaded
. -mat_gpucsr_factor_storage <matrix,single,double> - precision of the values of ILU and ICC factors on the device
. -mat_gpucsr_factor_numeric <device,host>          - where the values of ILU and ICC factors are computed
. -mat_gpucsr_factor_host <bool>                    - if a factor does not fit the device memory, PETSc solves with it on the host
. -mat_gpucsr_trisolve <exact,jacobi,isai>          - how the device solves with the triangles of ILU and ICC factors
- -mat_gpucsr_trisolve_sweeps <n>                   - number of sweeps of approximate solves

  Level: beginner

  Notes:
  Up to rounding, the factor is the same as for `MATSEQAIJ`, with all options of the preconditioner. One exception: for ILU, PETSc replaces the shift type nonzero by inblocks. PETSc computes the pattern of each factor, and the values of LU and Cholesky factors, on the host.
  A factorisation in place and its solves also run on the host.

  `MatSolve()`, `MatSolveTranspose()`, `MatSolveAdd()`, `MatSolveTransposeAdd()`, `MatForwardSolve()`, `MatBackwardSolve()`, `MatMatSolve()` and `MatMatSolveTranspose()` run on the device.
  The first solve after a numeric factorisation copies the values to the triangles on the device.

  `MatView()` and `MatGetDiagonal()` copy a factor that the device has computed to the host.

.seealso: `MATGPUCSR`, `MatGPUCSRSetFactorNumeric()`, `MatGPUCSRSetFactorStorage()`, `MatGPUCSRSetTrisolve()`, `MATORDERINGMULTICOLOR`, `PCFactorSetMatSolverType()`, `MatGetFactor()`
M*/
PetscErrorCode MatGPUCSRRegisterSolver_Private(void)
{
  const char *const   solvers[] = {MATSOLVERGPUCSR, MATSOLVERPETSC};
  const MatFactorType types[]   = {MAT_FACTOR_LU, MAT_FACTOR_ILU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ICC};
  PetscInt            first     = 0;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "gpucsr options", "Mat");
  PetscCall(PetscOptionsEList("-gpucsr_factor_solver", "Default MatSolverType of sequential gpucsr matrices", "PCFactorSetMatSolverType", solvers, PETSC_STATIC_ARRAY_LENGTH(solvers), solvers[first], &first, NULL));
  PetscOptionsEnd();
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(types); k++) {
    PetscErrorCode (*get)(Mat, MatFactorType, Mat *) = NULL;

    /* By default PETSc takes the first solver type that is registered for exactly this Mat type. A solver type that is given by name is found by the beginning of the name of the Mat type. */
    PetscCall(MatSolverTypeGet(MATSOLVERPETSC, MATSEQAIJ, types[k], NULL, NULL, &get));
    if (get && first) PetscCall(MatSolverTypeRegister(MATSOLVERPETSC, MATSEQAIJGPUCSR, types[k], get));
    PetscCall(MatSolverTypeRegister(MATSOLVERGPUCSR, MATSEQAIJGPUCSR, types[k], MatGetFactor_SeqAIJGPUCSR));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
