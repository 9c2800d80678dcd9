/* The options of the solver, and the names of their values. */
#include "solvers/smacof/smacofimpl.h"

const char *const SMACOFMetrics[]       = {"euclidean", "cosine", "manhattan", "SMACOFMetric", "SMACOF_METRIC_", NULL};
const char *const SMACOFStorages[]      = {"single", "double", "SMACOFStorage", "SMACOF_STORAGE_", NULL};
const char *const SMACOFDisparities[]   = {"ratio", "interval", "spline", "ordinal", "SMACOFDisparity", "SMACOF_DISPARITY_", NULL};
const char *const SMACOFTiesNames[]     = {"primary", "secondary", "SMACOFTies", "SMACOF_TIES_", NULL};
const char *const SMACOFAccelerations[] = {"none", "relaxed", "anderson", "SMACOFAcceleration", "SMACOF_ACCELERATION_", NULL};
const char *const SMACOFStarts[]        = {"auto", "torgerson", "random", "given", "SMACOFStart", "SMACOF_START_", NULL};
const char *const SMACOFArithmetics[]   = {"auto", "mixed", "double", "SMACOFArithmetic", "SMACOF_ARITHMETIC_", NULL};
const char *const SMACOFReadings[]      = {"halves", "rows", "SMACOFReading", "SMACOF_READING_", NULL};
const char *const SMACOFStreams[]       = {"auto", "always", "never", "SMACOFStream", "SMACOF_STREAM_", NULL};

static const char *const SMACOFConvergedReasons_Shifted[] = {"DIVERGED_ITS", "CONVERGED_ITERATING", "CONVERGED_STRESS"};
const char *const *const SMACOFConvergedReasons           = SMACOFConvergedReasons_Shifted + 1;

/*@C
  SMACOFSetOptionsPrefix - Sets the prefix of the solver's options

  Logically Collective

  Input Parameters:
+ s      - the solver
- prefix - put before the names of all options, without a leading hyphen. Example: with my_ the option is -my_smacof_dim

  Level: advanced

.seealso: `SMACOFSetFromOptions()`
@*/
PetscErrorCode SMACOFSetOptionsPrefix(SMACOF s, const char prefix[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)s, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetFromOptions - Sets the solver's settings from the options database

  Collective

  Input Parameter:
. s - the solver

  Options Database Keys:
+ -smacof_dim <2>                 - number of dimensions
. -smacof_eps <1e-6>              - tolerance on the decrease of the normalised stress
. -smacof_max_it <1000>           - maximum number of iterations
. -smacof_acceleration <anderson> - none, relaxed or anderson
. -smacof_anderson_history <5>    - number of differences that an extrapolation combines
. -smacof_anderson_below <1e-2>   - extrapolate once a step lowers the normalised stress by less
. -smacof_start <auto>            - auto, torgerson, random or given
. -smacof_eigensolver <block>     - eigensolver of classical scaling
. -smacof_starts <1>              - number of starts
. -smacof_batch <8>               - number of starts that share a pass
. -smacof_seed <0>                - seed of random starts
. -smacof_disparity <ratio>       - ratio, interval, spline or ordinal
. -smacof_ties <primary>          - primary or secondary
. -smacof_spline_degree <2>       - degree of monotone splines
. -smacof_spline_knots <4>        - number of interior knots of monotone splines
. -smacof_arithmetic <auto>       - auto, mixed or double
. -smacof_reading <halves>        - halves or rows
. -smacof_stream <auto>           - whether stored dissimilarities stay in host memory\: auto, always or never
. -smacof_stream_chunk <bytes>    - streaming\: upper bound on the size of a block
. -smacof_stream_resident <bytes> - streaming\: upper bound on the blocks that stay on the device
. -smacof_stream_buffers <n>      - streaming\: number of device buffers
. -smacof_stream_threads <n>      - streaming\: number of threads that copy blocks in pageable memory
. -smacof_monitor <false>         - print the stress of every iteration
- -smacof_view [viewer]           - view the solver after the solve

  Level: beginner

  Note:
  The vectors of coordinates have options with the prefix smacof_vec_, the Laplacian of the weights with smacof_mat_, and its KSP with smacof_ksp_.

.seealso: `SMACOFCreate()`, `SMACOFSolve()`
@*/
PetscErrorCode SMACOFSetFromOptions(SMACOF s)
{
  PetscInt  dim = s->dim, max_it = s->max_it, history = s->history, starts = s->starts, batch = s->batch, seed = s->seed, degree = s->degree, knots = s->knots;
  PetscReal eps = s->eps, below = s->anderson_below;
  char      eigensolver[SMACOF_NAME_LEN];
  PetscBool monitor = PETSC_FALSE, set;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscObjectOptionsBegin((PetscObject)s);
  PetscCall(PetscOptionsInt("-smacof_dim", "number of dimensions", "SMACOFSetDimension", dim, &dim, NULL));
  PetscCall(PetscOptionsReal("-smacof_eps", "stop if a step lowers the normalised stress by less", "SMACOFSetTolerances", eps, &eps, NULL));
  PetscCall(PetscOptionsInt("-smacof_max_it", "maximum number of iterations", "SMACOFSetTolerances", max_it, &max_it, NULL));
  PetscCall(PetscOptionsEnum("-smacof_acceleration", "steps of the iteration", "SMACOFSetAcceleration", SMACOFAccelerations, (PetscEnum)s->acceleration, (PetscEnum *)&s->acceleration, NULL));
  PetscCall(PetscOptionsInt("-smacof_anderson_history", "number of differences that an extrapolation combines", "SMACOFSetAnderson", history, &history, NULL));
  PetscCall(PetscOptionsReal("-smacof_anderson_below", "extrapolate once a step lowers the normalised stress by less", "SMACOFSetAnderson", below, &below, NULL));
  PetscCall(PetscOptionsEnum("-smacof_start", "first configuration", "SMACOFSetStart", SMACOFStarts, (PetscEnum)s->start, (PetscEnum *)&s->start, NULL));
  PetscCall(PetscOptionsFList("-smacof_eigensolver", "eigensolver of classical scaling", "SMACOFSetEigensolver", SMACOFEigensolverList, s->eigensolver, eigensolver, sizeof(eigensolver), &set));
  if (set) PetscCall(SMACOFSetEigensolver(s, eigensolver));
  PetscCall(PetscOptionsInt("-smacof_starts", "number of starts; those after the first are random", "SMACOFSetStarts", starts, &starts, NULL));
  PetscCall(PetscOptionsInt("-smacof_batch", "number of starts that share a pass over the dissimilarities", "SMACOFSetStarts", batch, &batch, NULL));
  PetscCall(PetscOptionsInt("-smacof_seed", "seed of random starts", "SMACOFSetStarts", seed, &seed, NULL));
  PetscCall(PetscOptionsEnum("-smacof_disparity", "functions of the dissimilarities that the distances may approximate", "SMACOFSetDisparity", SMACOFDisparities, (PetscEnum)s->disparity, (PetscEnum *)&s->disparity, NULL));
  PetscCall(PetscOptionsEnum("-smacof_ties", "ordinal: treatment of equal dissimilarities", "SMACOFSetTies", SMACOFTiesNames, (PetscEnum)s->ties, (PetscEnum *)&s->ties, NULL));
  PetscCall(PetscOptionsInt("-smacof_spline_degree", "degree of monotone splines", "SMACOFSetSpline", degree, &degree, NULL));
  PetscCall(PetscOptionsInt("-smacof_spline_knots", "number of interior knots of monotone splines", "SMACOFSetSpline", knots, &knots, NULL));
  PetscCall(PetscOptionsEnum("-smacof_arithmetic", "arithmetic on a GPU for dissimilarities in single precision", "SMACOFSetArithmetic", SMACOFArithmetics, (PetscEnum)s->arithmetic, (PetscEnum *)&s->arithmetic, NULL));
  PetscCall(PetscOptionsEnum("-smacof_reading", "how often a pass reads each pair", "SMACOFSetReading", SMACOFReadings, (PetscEnum)s->reading, (PetscEnum *)&s->reading, NULL));
  PetscCall(PetscOptionsBool("-smacof_monitor", "print the stress of every iteration", "SMACOFMonitorSet", monitor, &monitor, NULL));
  PetscCall(SMACOFStreamSetFromOptions_Private(s, PetscOptionsObject));
  PetscOptionsEnd();
  s->setup = PETSC_FALSE;
  PetscCall(SMACOFSetDimension(s, dim));
  PetscCall(SMACOFSetTolerances(s, eps, max_it));
  PetscCall(SMACOFSetAnderson(s, history, below));
  PetscCall(SMACOFSetStarts(s, starts, batch, seed));
  PetscCall(SMACOFSetSpline(s, degree, knots));
  for (PetscInt k = 0; k < s->nmonitors; k++) monitor = (PetscBool)(monitor && s->monitor[k] != SMACOFMonitorDefault_Private); /* options that are read twice add one monitor */
  if (monitor) PetscCall(SMACOFMonitorSet(s, SMACOFMonitorDefault_Private, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
