/* Settings of the method.  A change of a setting that SMACOFSetUp() depends on invalidates what it created; the pairs stay. */
#include "solvers/smacof/smacofimpl.h"

#define SMACOFCheckRange(s, condition, ...) PetscCheck(condition, PetscObjectComm((PetscObject)(s)), PETSC_ERR_ARG_OUTOFRANGE, __VA_ARGS__)

/*@
  SMACOFSetDimension - Sets the number of dimensions of the configuration

  Logically Collective

  Input Parameters:
+ s   - the solver
- dim - the number of dimensions, 1 to `SMACOF_MAX_DIMENSION`; the default is 2

  Options Database Key:
. -smacof_dim <2> - number of dimensions

  Level: beginner

.seealso: `SMACOFSetFromOptions()`, `SMACOFSetFixedPoints()`
@*/
PetscErrorCode SMACOFSetDimension(SMACOF s, PetscInt dim)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveInt(s, dim, 2);
  SMACOFCheckRange(s, dim >= 1 && dim <= SMACOF_MAX_DIMENSION, "The dimension is %" PetscInt_FMT ", it must be from 1 to %d", dim, SMACOF_MAX_DIMENSION);
  PetscCheck(dim == s->dim || !s->fixed.n, PetscObjectComm((PetscObject)s), PETSC_ERR_ORDER, "The fixed points have %" PetscInt_FMT " coordinates: call SMACOFSetDimension() before SMACOFSetFixedPoints()", s->dim);
  if (dim != s->dim) s->setup = PETSC_FALSE;
  s->dim = dim;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetTolerances - Sets when the iteration stops

  Logically Collective

  Input Parameters:
+ s      - the solver
. eps    - tolerance on the decrease of the normalised stress in a step; initially 1e-6. `PETSC_DEFAULT` keeps the current value
- max_it - maximum number of iterations of each start; initially 1000. `PETSC_DEFAULT` keeps the current value

  Options Database Keys:
+ -smacof_eps <1e-6>    - tolerance
- -smacof_max_it <1000> - maximum number of iterations

  Level: beginner

.seealso: `SMACOFGetConvergedReason()`, `SMACOFSolve()`
@*/
PetscErrorCode SMACOFSetTolerances(SMACOF s, PetscReal eps, PetscInt max_it)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveReal(s, eps, 2);
  PetscValidLogicalCollectiveInt(s, max_it, 3);
  if (eps != (PetscReal)PETSC_DEFAULT) {
    SMACOFCheckRange(s, eps >= 0, "The tolerance is %g, it must not be negative", (double)eps);
    s->eps = eps;
  }
  if (max_it != PETSC_DEFAULT) {
    SMACOFCheckRange(s, max_it >= 0, "The maximum number of iterations is %" PetscInt_FMT ", it must not be negative", max_it);
    s->max_it = max_it;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetDisparity - Sets the functions of the dissimilarities that the distances may approximate

  Logically Collective

  Input Parameters:
+ s         - the solver
- disparity - the class of functions; the default is `SMACOF_DISPARITY_RATIO`

  Options Database Key:
. -smacof_disparity <ratio> - ratio, interval, spline or ordinal

  Level: beginner

  Note:
  Disparities other than ratio need dissimilarities in double precision. `SMACOFSetUp()` converts the data to single precision for ratio. To change from
  ratio to another disparity after that, set the data again or use `SMACOF_STORAGE_DOUBLE` from the beginning.

.seealso: `SMACOFSetTies()`, `SMACOFSetSpline()`
@*/
PetscErrorCode SMACOFSetDisparity(SMACOF s, SMACOFDisparity disparity)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(s, disparity, 2);
  if (disparity != s->disparity) s->setup = PETSC_FALSE;
  s->disparity = disparity;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetTies - Sets how ordinal disparities treat equal dissimilarities

  Logically Collective

  Input Parameters:
+ s    - the solver
- ties - the treatment; the default is `SMACOF_TIES_PRIMARY`

  Options Database Key:
. -smacof_ties <primary> - primary or secondary

  Level: intermediate

.seealso: `SMACOFSetDisparity()`
@*/
PetscErrorCode SMACOFSetTies(SMACOF s, SMACOFTies ties)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(s, ties, 2);
  if (ties != s->ties) s->setup = PETSC_FALSE;
  s->ties = ties;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetSpline - Sets degree and knots of monotone splines

  Logically Collective

  Input Parameters:
+ s      - the solver
. degree - the degree, 1 to 4; the default is 2
- knots  - number of interior knots, which are equidistant; the default is 4. The sum of degree and knots is at most 23

  Options Database Keys:
+ -smacof_spline_degree <2> - degree
- -smacof_spline_knots <4>  - number of interior knots

  Level: intermediate

.seealso: `SMACOFSetDisparity()`
@*/
PetscErrorCode SMACOFSetSpline(SMACOF s, PetscInt degree, PetscInt knots)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveInt(s, degree, 2);
  PetscValidLogicalCollectiveInt(s, knots, 3);
  SMACOFCheckRange(s, degree >= 1 && degree <= SMACOF_MAX_DEGREE && knots >= 0, "Splines of degree %" PetscInt_FMT " with %" PetscInt_FMT " knots: the degree must be from 1 to %d, and the number of knots not negative", degree, knots,
                   SMACOF_MAX_DEGREE);
  SMACOFCheckRange(s, knots + degree < SMACOF_MAX_FUNCTIONS, "-smacof_spline_knots %" PetscInt_FMT " and -smacof_spline_degree %" PetscInt_FMT ": their sum must be less than %d", knots, degree, SMACOF_MAX_FUNCTIONS);
  if (degree != s->degree || knots != s->knots) s->setup = PETSC_FALSE;
  s->degree = degree;
  s->knots  = knots;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetAcceleration - Sets the steps of the iteration

  Logically Collective

  Input Parameters:
+ s            - the solver
- acceleration - the steps; the default is `SMACOF_ACCELERATION_ANDERSON`

  Options Database Key:
. -smacof_acceleration <anderson> - none, relaxed or anderson

  Level: intermediate

.seealso: `SMACOFSetAnderson()`, `SMACOFSolve()`
@*/
PetscErrorCode SMACOFSetAcceleration(SMACOF s, SMACOFAcceleration acceleration)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(s, acceleration, 2);
  if (acceleration != s->acceleration) s->setup = PETSC_FALSE;
  s->acceleration = acceleration;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetAnderson - Sets the parameters of `SMACOF_ACCELERATION_ANDERSON`

  Logically Collective

  Input Parameters:
+ s       - the solver
. history - number of differences of iterates that an extrapolation combines, 1 to `SMACOF_MAX_HISTORY`; the default is 5
- below   - extrapolate once a step lowers the normalised stress by less than this; the default is 1e-2

  Options Database Keys:
+ -smacof_anderson_history <5>  - number of differences
- -smacof_anderson_below <1e-2> - decrease of the normalised stress

  Level: advanced

.seealso: `SMACOFSetAcceleration()`
@*/
PetscErrorCode SMACOFSetAnderson(SMACOF s, PetscInt history, PetscReal below)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveInt(s, history, 2);
  PetscValidLogicalCollectiveReal(s, below, 3);
  SMACOFCheckRange(s, history >= 1 && history <= SMACOF_MAX_HISTORY, "The history has %" PetscInt_FMT " differences, it must have 1 to %d", history, SMACOF_MAX_HISTORY);
  SMACOFCheckRange(s, below >= 0, "The decrease of the stress below which steps are extrapolated is %g, it must not be negative", (double)below);
  if (history != s->history) s->setup = PETSC_FALSE;
  s->history        = history;
  s->anderson_below = below;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetStart - Sets the first configuration of the first start

  Logically Collective

  Input Parameters:
+ s     - the solver
- start - the kind of configuration; the default is `SMACOF_START_AUTO`

  Options Database Key:
. -smacof_start <auto> - auto, torgerson, random or given

  Level: intermediate

.seealso: `SMACOFSetStarts()`, `SMACOFSetStartConfiguration()`, `SMACOFSetEigensolver()`
@*/
PetscErrorCode SMACOFSetStart(SMACOF s, SMACOFStart start)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(s, start, 2);
  s->start = start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetStarts - Sets the number of starts; all but the first are random, and the result with the least stress is kept

  Logically Collective

  Input Parameters:
+ s     - the solver
. n     - number of starts; the default is 1
. batch - number of starts that share a pass over the dissimilarities; the default is 8. It does not change the results
- seed  - seed of the random numbers; the default is 0

  Options Database Keys:
+ -smacof_starts <1> - number of starts
. -smacof_batch <8>  - number of starts that share a pass
- -smacof_seed <0>   - seed of the random numbers

  Level: intermediate

.seealso: `SMACOFSetStart()`
@*/
PetscErrorCode SMACOFSetStarts(SMACOF s, PetscInt n, PetscInt batch, PetscInt seed)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveInt(s, n, 2);
  PetscValidLogicalCollectiveInt(s, batch, 3);
  PetscValidLogicalCollectiveInt(s, seed, 4);
  SMACOFCheckRange(s, n >= 1 && batch >= 1, "%" PetscInt_FMT " starts, %" PetscInt_FMT " at once: both numbers must be positive", n, batch);
  if (PetscMin(n, batch) != PetscMin(s->starts, s->batch)) s->setup = PETSC_FALSE;
  s->starts = n;
  s->batch  = batch;
  s->seed   = seed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SMACOFSetEigensolver - Sets the eigensolver of classical scaling

  Logically Collective

  Input Parameters:
+ s    - the solver
- name - the name of a registered eigensolver; the default is block

  Options Database Key:
. -smacof_eigensolver <block> - name of the eigensolver

  Level: advanced

  Note:
  The solver `block` reads the dissimilarities once for a block of vectors. The program smacof registers `slepc`, an EPS of SLEPc.

.seealso: `SMACOFEigensolverRegister()`, `SMACOFSetStart()`
@*/
PetscErrorCode SMACOFSetEigensolver(SMACOF s, const char name[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(name, 2);
  PetscCall(PetscStrncpy(s->eigensolver, name, sizeof(s->eigensolver)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetArithmetic - Sets the arithmetic on a GPU for dissimilarities in single precision

  Logically Collective

  Input Parameters:
+ s          - the solver
- arithmetic - the arithmetic; the default is `SMACOF_ARITHMETIC_AUTO`

  Options Database Key:
. -smacof_arithmetic <auto> - auto, mixed or double

  Level: advanced

.seealso: `SMACOFSetStorage()`, `SMACOFSetReading()`
@*/
PetscErrorCode SMACOFSetArithmetic(SMACOF s, SMACOFArithmetic arithmetic)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(s, arithmetic, 2);
  if (arithmetic != s->arithmetic) s->setup = PETSC_FALSE;
  s->arithmetic = arithmetic;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetReading - Sets how often a pass reads each pair of complete data

  Logically Collective

  Input Parameters:
+ s       - the solver
- reading - how often; the default is `SMACOF_READING_HALVES`

  Options Database Key:
. -smacof_reading <halves> - halves or rows

  Level: advanced

.seealso: `SMACOFSetArithmetic()`
@*/
PetscErrorCode SMACOFSetReading(SMACOF s, SMACOFReading reading)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(s, reading, 2);
  if (reading != s->reading) s->setup = PETSC_FALSE;
  s->reading = reading;
  PetscFunctionReturn(PETSC_SUCCESS);
}
