/* Public functions of the PC type gpupoly. */
/* MANSEC = PC */
#include "pc/impls/gpupoly/gpupoly.h"

/* Gets the data of pc, or NULL if pc has another type.  Setters then do nothing, like PETSc's type-specific setters. */
static PetscErrorCode PCGPUPolyGetData(PC pc, PC_GPUPoly **poly)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGPUPOLY, &same));
  *poly = same ? (PC_GPUPoly *)pc->data : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assigns an option.  If that changes it, the PC must be set up again. */
#define PC_GPUPOLY_ASSIGN(pc, member, value) \
  do { \
    if ((member) != (value)) { \
      (member)          = (value); \
      (pc)->setupcalled = 0; \
    } \
  } while (0)

/*@
  PCGPUPolySetType - Sets how `PCGPUPOLY` chooses its polynomial

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
- type - `PC_GPUPOLY_CHEBYSHEV` or `PC_GPUPOLY_LEASTSQUARES`

  Options Database Key:
. -pc_gpupoly_type <chebyshev> - chebyshev or leastsquares

  Level: intermediate

.seealso: `PCGPUPOLY`, `PCGPUPolyType`, `PCGPUPolySetDegree()`
@*/
PetscErrorCode PCGPUPolySetType(PC pc, PCGPUPolyType type)
{
  PC_GPUPoly *poly = NULL;

  PetscFunctionBegin;
  PetscCall(PCGPUPolyGetData(pc, &poly));
  PetscValidLogicalCollectiveEnum(pc, type, 2);
  if (poly) PC_GPUPOLY_ASSIGN(pc, poly->type, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUPolySetDegree - Sets the degree of the polynomial of `PCGPUPOLY`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner
- degree - the degree, which is the number of products with the matrix in one application; degree 0 gives a multiple of Jacobi's preconditioner

  Options Database Key:
. -pc_gpupoly_degree <8> - the degree

  Level: intermediate

.seealso: `PCGPUPOLY`, `PCGPUPolySetType()`
@*/
PetscErrorCode PCGPUPolySetDegree(PC pc, PetscInt degree)
{
  PC_GPUPoly *poly = NULL;

  PetscFunctionBegin;
  PetscCall(PCGPUPolyGetData(pc, &poly));
  PetscValidLogicalCollectiveInt(pc, degree, 2);
  if (!poly) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(degree >= 0 && degree <= 1000, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "The degree of the polynomial (-pc_gpupoly_degree) is %" PetscInt_FMT ", but must be from 0 to 1000", degree);
  PC_GPUPOLY_ASSIGN(pc, poly->degree, degree);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUPolySetScale - Sets the operator whose polynomial `PCGPUPOLY` applies

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- scale - `PC_GPUPOLY_SCALE_JACOBI` or `PC_GPUPOLY_SCALE_NONE`

  Options Database Key:
. -pc_gpupoly_scale <jacobi> - jacobi or none

  Level: intermediate

  Note:
  With `PC_GPUPOLY_SCALE_JACOBI` a zero on the diagonal is replaced by 1, as in `PCJACOBI`. If a diagonal entry is negative, the set-up fails.

.seealso: `PCGPUPOLY`, `PCGPUPolyScale`
@*/
PetscErrorCode PCGPUPolySetScale(PC pc, PCGPUPolyScale scale)
{
  PC_GPUPoly *poly = NULL;

  PetscFunctionBegin;
  PetscCall(PCGPUPolyGetData(pc, &poly));
  PetscValidLogicalCollectiveEnum(pc, scale, 2);
  if (poly) PC_GPUPOLY_ASSIGN(pc, poly->scale, scale);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUPolySetEigenvalues - Sets the bounds of the eigenvalues for `PCGPUPOLY`, instead of computing them

  Logically Collective

  Input Parameters:
+ pc   - the preconditioner
. low  - lower bound; at least 0, and greater than 0 for Chebyshev polynomials
- high - upper bound, greater than 0 and at least `low`

  Options Database Key:
. -pc_gpupoly_eigenvalues <low,high> - the bounds

  Level: intermediate

  Notes:
  The bounds are those of the eigenvalues of D^-1 A, where D is the diagonal of A. With `PC_GPUPOLY_SCALE_NONE`, they are those of A. They remain in effect until this function is called again, also
  for other matrices. If both are 0, `PCGPUPOLY` computes bounds again.

  A lower bound above the smallest eigenvalue is allowed: the preconditioner remains positive definite. The upper bound must not be below the largest eigenvalue. With an even degree a slightly
  smaller upper bound does no harm.

  For a matrix that is not symmetric, the bounds are those of the real parts of the eigenvalues.

.seealso: `PCGPUPOLY`, `PCGPUPolyGetEigenvalues()`, `PCGPUPolySetLanczosSteps()`, `PCGPUPolySetRatio()`
@*/
PetscErrorCode PCGPUPolySetEigenvalues(PC pc, PetscReal low, PetscReal high)
{
  PC_GPUPoly     *poly  = NULL;
  const PetscBool given = (PetscBool)(low != 0 || high != 0);

  PetscFunctionBegin;
  PetscCall(PCGPUPolyGetData(pc, &poly));
  PetscValidLogicalCollectiveReal(pc, low, 2);
  PetscValidLogicalCollectiveReal(pc, high, 3);
  if (!poly) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!given || (low >= 0 && high > 0 && low <= high && !PetscIsInfOrNanReal(high)), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The bounds of the eigenvalues (-pc_gpupoly_eigenvalues) are %g and %g, but must satisfy 0 <= lower <= upper and 0 < upper", (double)low, (double)high);
  PC_GPUPOLY_ASSIGN(pc, poly->given, given);
  PC_GPUPOLY_ASSIGN(pc, poly->given_low, low);
  PC_GPUPOLY_ASSIGN(pc, poly->given_high, high);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUPolyGetEigenvalues - Gets the bounds of the eigenvalues that `PCGPUPOLY` uses

  Not Collective

  Input Parameter:
. pc - the preconditioner, after `PCSetUp()`

  Output Parameters:
+ low  - lower bound
- high - upper bound

  Level: intermediate

.seealso: `PCGPUPOLY`, `PCGPUPolySetEigenvalues()`
@*/
PetscErrorCode PCGPUPolyGetEigenvalues(PC pc, PetscReal *low, PetscReal *high)
{
  PC_GPUPoly *poly = NULL;

  PetscFunctionBegin;
  PetscCall(PCGPUPolyGetData(pc, &poly));
  PetscAssertPointer(low, 2);
  PetscAssertPointer(high, 3);
  PetscCheck(poly, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG, "The preconditioner is not of type " PCGPUPOLY);
  PetscCheck(poly->ready, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER, "The bounds are not known before PCSetUp() has succeeded");
  *low  = poly->low;
  *high = poly->high;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUPolySetLanczosSteps - Sets the maximum number of Lanczos steps by which `PCGPUPOLY` computes bounds of the eigenvalues

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- steps - the number of steps, from 1 to 100

  Options Database Key:
. -pc_gpupoly_lanczos_steps <15> - the number of steps

  Level: advanced

  Note:
  A step takes one product and two reductions.

.seealso: `PCGPUPOLY`, `PCGPUPolySetEigenvalues()`, `PCGPUPolySetRatio()`
@*/
PetscErrorCode PCGPUPolySetLanczosSteps(PC pc, PetscInt steps)
{
  PC_GPUPoly *poly = NULL;

  PetscFunctionBegin;
  PetscCall(PCGPUPolyGetData(pc, &poly));
  PetscValidLogicalCollectiveInt(pc, steps, 2);
  if (!poly) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(steps >= 1 && steps <= PC_GPUPOLY_MOST_STEPS, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "The number of Lanczos steps (-pc_gpupoly_lanczos_steps) is %" PetscInt_FMT ", but must be from 1 to %d", steps,
             PC_GPUPOLY_MOST_STEPS);
  PC_GPUPOLY_ASSIGN(pc, poly->steps, steps);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUPolySetRatio - Sets the upper limit for the quotient of the upper and the lower bound that `PCGPUPOLY` computes

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- ratio - the quotient of upper and lower bound, at least 1; 0 for the default of the type

  Options Database Key:
. -pc_gpupoly_ratio <ratio> - the quotient

  Level: advanced

  Note:
  The lower bound is the larger of two numbers. One is the upper bound divided by `ratio`. The other one is the smallest Ritz value minus its residual; it is used only if the residual is at most half
  the Ritz value.

  The default is the smaller one of 300 and 1.5 (d + 1)^2 for Chebyshev polynomials of degree d. For least-squares polynomials the default lower bound is 0 unless the smallest Ritz value is accurate.

.seealso: `PCGPUPOLY`, `PCGPUPolySetEigenvalues()`, `PCGPUPolySetLanczosSteps()`
@*/
PetscErrorCode PCGPUPolySetRatio(PC pc, PetscReal ratio)
{
  PC_GPUPoly *poly = NULL;

  PetscFunctionBegin;
  PetscCall(PCGPUPolyGetData(pc, &poly));
  PetscValidLogicalCollectiveReal(pc, ratio, 2);
  if (!poly) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(ratio == 0 || (ratio >= 1 && !PetscIsInfOrNanReal(ratio)), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "The quotient of the bounds (-pc_gpupoly_ratio) is %g, but must be 0 or at least 1", (double)ratio);
  PC_GPUPOLY_ASSIGN(pc, poly->ratio, ratio);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGPUPolySetStorage - Sets the precision of the matrix in products of `PCGPUPOLY` within a Krylov method whose loop runs on the device

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- storage - `MAT_GPUCSR_STORAGE_SINGLE` (default): a copy of the matrix with values in single precision; `MAT_GPUCSR_STORAGE_DOUBLE` or `MAT_GPUCSR_STORAGE_AUTO`: the matrix as it is stored

  Options Database Key:
. -pc_gpupoly_storage <single,double,auto> - the precision

  Level: advanced

  Note:
  The setting has no effect on `PCApply()`, which multiplies by the matrix as it is stored.

.seealso: `PCGPUPOLY`, `MatGPUCSRSetStorage()`
@*/
PetscErrorCode PCGPUPolySetStorage(PC pc, MatGPUCSRStorage storage)
{
  PC_GPUPoly *poly = NULL;

  PetscFunctionBegin;
  PetscCall(PCGPUPolyGetData(pc, &poly));
  PetscValidLogicalCollectiveEnum(pc, storage, 2);
  if (!poly) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(storage >= MAT_GPUCSR_STORAGE_SINGLE && storage <= MAT_GPUCSR_STORAGE_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Unknown storage %d; use one of MatGPUCSRStorage", (int)storage);
  poly->storage = storage;
  PetscFunctionReturn(PETSC_SUCCESS);
}
