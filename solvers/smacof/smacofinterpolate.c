/* Placement of new points on a finished map.  The position of a new point minimises the stress of its distances to the points of the map. */
#include "solvers/smacof/smacofimpl.h"
#include <gpucsr.h>

/* placement of the local new points */
typedef struct {
  PetscInt   N, n, m, first; /* numbers of points of the map, of new points, and of local new points; the first of these */
  PetscInt   dim, nfeature;
  double    *known, *added; /* features of both, [nfeature][N] and [nfeature][n] */
  double    *delta;         /* [m][N] dissimilarities; NULL if they are computed from features */
  double    *x, *before;    /* local new points: component c of point i is x[c * n + i]; [m] their stress before the last iteration */
  double     mean[SMACOF_MAX_DIMENSION];
  SMACOFPass p;
} SMACOFPlacement;

/* Copies the dissimilarities or features of the local new points. */
static PetscErrorCode SMACOFPlacementSetData(Mat known, Mat data, SMACOFMetric metric, SMACOFPlacement *P)
{
  const PetscScalar *a;
  PetscInt           cols, ld;

  PetscFunctionBegin;
  PetscCall(MatGetSize(data, &P->n, &cols));
  PetscCall(MatGetOwnershipRange(data, &P->first, &P->m));
  P->m -= P->first;
  if (known) {
    PetscErrorCode err;

    PetscCall(SMACOFGatherFeatures_Private(known, metric, &ld, &P->nfeature, &P->known));
    err = SMACOFGatherFeatures_Private(data, metric, &P->n, &cols, &P->added);
    if (err) PetscCall(PetscFree(P->known));
    PetscCall(err);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1((size_t)P->m * P->N, &P->delta));
  PetscCall(MatDenseGetLDA(data, &ld));
  PetscCall(MatDenseGetArrayRead(data, &a));
  for (PetscInt i = 0; i < P->m; i++)
    for (PetscInt j = 0; j < P->N; j++) P->delta[(size_t)i * P->N + j] = PetscRealPart(a[(size_t)j * ld + i]);
  PetscCall(MatDenseRestoreArrayRead(data, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the start of each new point: the point of the map with the smallest dissimilarity, plus a small random displacement. */
static PetscErrorCode SMACOFPlacementSetStart(const double map[], SMACOFPlacement *P)
{
  const PetscInt N = P->N;
  double        *delta, reach = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(N, &delta));
  for (PetscInt c = 0; c < P->dim; c++)
    for (PetscInt j = 0; j < N; j++) {
      reach = PetscMax(reach, PetscAbsReal(map[(size_t)c * N + j] - map[(size_t)c * N]));
      P->mean[c] += map[(size_t)c * N + j] / (double)N;
    }
  for (PetscInt i = 0; i < P->m; i++) {
    PetscInt nearest = 0;
    double   displacement[SMACOF_MAX_DIMENSION];

    if (P->delta) PetscCall(PetscArraycpy(delta, P->delta + (size_t)i * N, N));
    else SMACOFComputeDistances_Host(&P->p, (int)i, 0, (int)N, delta);
    for (PetscInt j = 1; j < N; j++)
      if (delta[j] < delta[nearest]) nearest = j;
    PetscCall(SMACOFRandomStart_Private(P->first + i, 1, P->dim, displacement));
    for (PetscInt c = 0; c < P->dim; c++) P->x[c * P->n + i] = map[(size_t)c * N + nearest] + 1e-4 * reach * displacement[c];
  }
  PetscCall(PetscFree(delta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates until no stress falls by more than eps times its value.  bad is the first new point whose stress is not finite, or n. */
static PetscErrorCode SMACOFPlacementIterate(SMACOF s, SMACOFPlacement *P, PetscInt *bad)
{
  const PetscInt m = P->m;

  PetscFunctionBegin;
  *bad       = P->n;
  s->outcome = (SMACOFProgress){.start = -1};
  for (s->outcome.it = 0;; s->outcome.it++) {
    PetscInt state[2] = {P->n, 0}; /* the first bad point; minus the number of ranks with a stress that falls */

    SMACOFRunPass_Host(&P->p, 1);
    for (PetscInt i = 0; i < m; i++) {
      if (!s->outcome.it || P->before[i] - P->p.stress[i] > s->eps * (P->before[i] + PETSC_SMALL)) state[1] = -1;
      P->before[i] = P->p.stress[i];
      if (!(PetscAbsReal(P->p.stress[i]) <= PETSC_MAX_REAL)) state[0] = PetscMin(state[0], P->first + i);
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, state, 2, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)s)));
    *bad      = state[0];
    s->reason = state[1] ? SMACOF_DIVERGED_ITS : SMACOF_CONVERGED_STRESS;
    if (*bad < P->n || s->reason > 0 || s->outcome.it >= s->max_it) break;
    for (PetscInt c = 0; c < P->dim; c++)
      for (PetscInt i = 0; i < m; i++) P->x[c * P->n + i] = P->mean[c] + P->p.bx[c * m + i] / (double)P->N;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFInterpolate - Places new points on a finished map, whose points stay

  Collective

  Input Parameters:
+ s      - the solver, whose dimension and tolerances are used. It needs no data
. map    - a sequential vector, the same on every rank, with coordinate c of point j of the map at position c N + j
. known  - a dense matrix of the features of the N points of the map, or `NULL`
. data   - a dense matrix with a row for each of n new points\: its features, or if known is `NULL`, its dissimilarities to the points of the map, which must not be negative
- metric - the distance of features; ignored if known is `NULL`

  Output Parameters:
+ x      - a sequential vector with coordinate c of new point i at position c n + i, on every rank; destroy it with `VecDestroy()`
- stress - a sequential vector with the raw stress of each new point; destroy it with `VecDestroy()`

  Level: intermediate

  Notes:
  `SMACOFGetIterationNumber()` returns the number of iterations, and `SMACOFGetConvergedReason()` whether they converged. The result of an earlier `SMACOFSolve()` is lost.

  New points are independent of each other. The Guttman transform of one point is the mean of the map plus (1/N) sum (delta / d) (x - x_j), which does not increase its
  stress. All points iterate together until no stress falls by more than the tolerance times its value.

.seealso: `SMACOFSolve()`, `SMACOFSetFeatures()`
@*/
PetscErrorCode SMACOFInterpolate(SMACOF s, Vec map, Mat known, Mat data, SMACOFMetric metric, Vec *x, Vec *stress)
{
  SMACOFPlacement P = {0};
  MPI_Comm        comm;
  PetscInt        length, rows, cols, bad;
  PetscScalar    *to, *sums;
  Vec             result[2];
  const char     *name;
  const double   *a;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  PetscValidHeaderSpecific(map, VEC_CLASSID, 2);
  if (known) PetscValidHeaderSpecific(known, MAT_CLASSID, 3);
  PetscValidHeaderSpecific(data, MAT_CLASSID, 4);
  SMACOFCheckPointer(x, 6);
  SMACOFCheckPointer(stress, 7);
  comm = PetscObjectComm((PetscObject)s);
  PetscCall(VecGetSize(map, &length));
  PetscCall(VecGetLocalSize(map, &rows));
  PetscCheck(length > 0 && rows == length, comm, PETSC_ERR_ARG_SIZ, "The map has %" PetscInt_FMT " coordinates, %" PetscInt_FMT " of them on this process: expected a sequential vector that is not empty", length, rows);
  P.dim = s->dim;
  P.N   = length / P.dim;
  PetscCall(MatGetSize(known ? known : data, &rows, &cols));
  PetscCheck(length == P.N * P.dim && P.N == (known ? rows : cols), comm, PETSC_ERR_ARG_SIZ, "A map of %" PetscInt_FMT " coordinates in dimension %" PetscInt_FMT ", but %s of %" PetscInt_FMT " points", length, P.dim,
             known ? "features" : "dissimilarities to the points of a map", known ? rows : cols);
  if (known) {
    PetscCall(MatGetSize(data, NULL, &rows));
    PetscCheck(cols == rows, comm, PETSC_ERR_ARG_SIZ, "The points of the map have %" PetscInt_FMT " features, the new points %" PetscInt_FMT, cols, rows);
  }
  PetscCall(SMACOFPlacementSetData(known, data, metric, &P));
  PetscCall(PetscMalloc2(P.m, &P.before, (size_t)P.m * P.dim, &P.p.bx));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, P.dim * P.n, &result[0])); /* both vectors are 0 except for the local new points */
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, P.n, &result[1]));
  PetscCall(VecGetArray(result[0], &to));
  PetscCall(VecGetArray(result[1], &sums));
  P.x = to + P.first;
  PetscCall(VecGetArrayRead(map, &a));
  P.p = (SMACOFPass){.N        = (int)P.N,
                     .rows     = (int)P.m,
                     .dim      = (int)P.dim,
                     .ld       = (size_t)P.N,
                     .ldsum    = (size_t)P.m,
                     .nranges  = 1,
                     .range    = {{0, (int)P.m, 0, (int)P.N, PASS_ROWS}},
                     .x        = a,
                     .xrow     = P.x,
                     .ldrow    = (size_t)P.n,
                     .metric   = (int)metric,
                     .nfeature = (int)P.nfeature,
                     .feature  = P.known,
                     .frow     = P.added ? P.added + P.first : NULL,
                     .delta    = P.delta,
                     .bx       = P.p.bx,
                     .stress   = sums + P.first};
  PetscCall(SMACOFPlacementSetStart(a, &P));
  PetscCall(SMACOFPlacementIterate(s, &P, &bad));
  PetscCall(VecRestoreArrayRead(map, &a));
  PetscCall(VecRestoreArray(result[0], &to));
  PetscCall(VecRestoreArray(result[1], &sums));
  PetscCall(VecGPUSumRanks(comm, 2, result));
  PetscCall(PetscFree2(P.before, P.p.bx));
  PetscCall(PetscFree(P.known));
  PetscCall(PetscFree(P.added));
  PetscCall(PetscFree(P.delta));
  *x      = result[0];
  *stress = result[1];
  if (bad == P.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDestroy(x));
  PetscCall(VecDestroy(stress));
  name = ((PetscObject)data)->name;
  SETERRQ(comm, PETSC_ERR_FILE_UNEXPECTED, "%s%sthe stress of new point %" PetscInt_FMT " (counted from 0) is beyond the range of double precision: its features or dissimilarities are too large; scale them and the map", name ? name : "",
          name ? ": " : "", bad);
}
