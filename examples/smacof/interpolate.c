/* Placement of new points on a finished map.  The position of a new point minimises the stress of its distances to the points of the map. */
#include "solvers/smacof/smacofimpl.h"
#include <string.h>

/* Reads a matrix of dissimilarities with a row for each new point, on every rank.  Its headings are the names of the points of the map. */
static PetscErrorCode InterpolateLoadMatrix(const InterpolateOptions *o, Interpolation *Q, char **known)
{
  GpAppTable  T;
  PetscInt    row = -1, column = 0;
  PetscInt64 *lines, line      = 0;

  PetscFunctionBegin;
  PetscCall(GpAppTableRead(Q->comm, o->file, &o->table, &T));
  PetscCall(GpAppTablePrint(&T));
  PetscCall(GpAppTableGatherValues(&T, &Q->delta));
  PetscCall(GpAppTableGatherLines(&T, &lines));
  Q->n = T.N;
  Q->N = T.cols;
  for (PetscInt k = 0; k < Q->n && row < 0; k++)
    for (PetscInt j = 0; j < Q->N && row < 0; j++)
      if (!(Q->delta[(size_t)k * (size_t)Q->N + (size_t)j] >= 0)) {
        row    = k;
        column = j;
        line   = lines[k];
      }
  PetscCall(PetscFree(lines));
  if (row < 0) {
    PetscCall(GpAppTableGatherNames(&T, &Q->names));
    PetscCall(CopyHeadings(&T, known));
  } else PetscCall(PetscFree(Q->delta));
  PetscCall(GpAppTableDestroy(&T));
  PetscCheck(row < 0, Q->comm, PETSC_ERR_FILE_UNEXPECTED, "%s:%" PetscInt64_FMT ": the dissimilarity of new point %" PetscInt_FMT " to point %" PetscInt_FMT " (counted from 0) is missing or negative", o->file, line, row, column);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the dissimilarities of new points to the points of the map, or the features of both.  known are the names of the points of the map, or NULL. */
static PetscErrorCode InterpolateLoadPoints(const InterpolateOptions *o, Interpolation *Q, char **known)
{
  PetscInt n, f = 0;

  PetscFunctionBegin;
  if (!o->features[0]) {
    PetscCall(InterpolateLoadMatrix(o, Q, known));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FeaturesRead(Q->comm, o->features, o->metric, &o->table, &Q->known, known));
  PetscCall(FeaturesRead(Q->comm, o->file, o->metric, &o->table, &Q->added, &Q->names));
  Q->N = Q->known.N;
  Q->n = Q->added.N;
  n    = Q->known.n;
  if (n == Q->added.n) {
    const char *a = Q->known.names, *b = Q->added.names;
    char        text[64];

    /* columns are matched by place, so that headings in another order would mix up the features */
    while (f < n && a && b && !strcmp(a, b)) {
      a += strlen(a) + 1;
      b += strlen(b) + 1;
      f++;
    }
    if (f == n || !a || !b) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscSNPrintf(text, sizeof(text), "'%.20s', but '%.20s' in", b, a));
    PetscCall(PetscFree(*known));
    PetscCall(InterpolationDestroy(Q));
    SETERRQ(Q->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: feature %" PetscInt_FMT " (counted from 1) has the heading %s %s; write the same features in the same order", o->file, f + 1, text, o->features);
  }
  PetscCall(PetscFree(*known));
  PetscCall(InterpolationDestroy(Q));
  SETERRQ(Q->comm, PETSC_ERR_FILE_UNEXPECTED, "%s has %" PetscInt_FMT " features, but %s has %" PetscInt_FMT "; both need the same features", o->features, n, o->file, Q->added.n);
}

/* Sets the start of each new point: the point of the map with the smallest dissimilarity, plus a small random displacement. */
static PetscErrorCode InterpolateSetStart(const Interpolation *Q, const Pass *p, double x[])
{
  double *delta, reach = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(Q->N, &delta));
  for (PetscInt c = 0; c < Q->dim; c++)
    for (PetscInt j = 0; j < Q->N; j++) reach = PetscMax(reach, PetscAbsReal(Q->map[(size_t)c * Q->N + j] - Q->map[(size_t)c * Q->N]));
  for (PetscInt i = 0; i < p->rows; i++) {
    PetscInt nearest = 0;
    double   jitter[PASS_MAX_DIM];

    if (p->delta) PetscCall(PetscArraycpy(delta, (const double *)p->delta + (size_t)i * Q->N, Q->N));
    else PassDistances_Host(p, (int)i, 0, (int)Q->N, delta);
    for (PetscInt j = 1; j < Q->N; j++)
      if (delta[j] < delta[nearest]) nearest = j;
    PetscCall(StartRandom(Q->first + i, 1, Q->dim, jitter));
    for (PetscInt c = 0; c < Q->dim; c++) x[c * p->rows + i] = Q->map[(size_t)c * Q->N + nearest] + 1e-4 * reach * jitter[c];
  }
  PetscCall(PetscFree(delta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the pass over the dissimilarities of m new points to the map, without coordinates and sums of the new points. */
static Pass InterpolateGetPass(const Interpolation *Q, const InterpolateOptions *o, PetscInt m)
{
  const PassRange all = {0, (int)m, 0, (int)Q->N, PASS_ROWS};

  return (Pass){
    .N = (int)Q->N, .rows = (int)m, .dim = (int)o->dim, .ld = (size_t)Q->N, .ldsum = (size_t)m, .nranges = 1, .range = {all}, .x = Q->map, .ldrow = (size_t)m, .metric = (int)o->metric, .nfeature = (int)Q->known.n, .feature = Q->known.value};
}

/*
  Interpolate - Places new points on a map whose points are fixed

  Collective

  Input Parameters:
+ comm - the communicator; the new points are distributed over its ranks
- o    - files, metric, tolerance

  Output Parameter:
. Q - coordinates and raw stress of the new points, on every rank

  Note:
  New points are independent of each other. The Guttman transform of one point is the mean of the map plus (1/N) sum (delta / d) (x - x_j), which does not increase its
  stress. All points iterate together until no stress falls by more than eps times its value.
*/
PetscErrorCode Interpolate(MPI_Comm comm, const InterpolateOptions *o, Interpolation *Q)
{
  Pass     p = {0};
  double  *x, *frow, *before, mean[PASS_MAX_DIM] = {0};
  PetscInt m     = PETSC_DECIDE, last;
  Dissim   shape = {0}; /* only the distribution of the points is set, for DissimGather() */
  char    *known = NULL;
  PetscInt bad   = PETSC_MPI_INT_MAX; /* the first new point whose stress is not finite */

  PetscFunctionBegin;
  PetscCall(PetscMemzero(Q, sizeof(*Q)));
  Q->comm = comm;
  Q->dim  = o->dim;
  PetscCall(InterpolateLoadPoints(o, Q, &known));
  PetscCall(PetscMalloc3((size_t)Q->N * o->dim, &Q->map, (size_t)Q->n * o->dim, &Q->x, Q->n, &Q->stress));
  PetscCall(CoordinatesRead(comm, o->map, Q->N, o->dim, known, Q->map));
  PetscCall(PetscFree(known));
  PetscCall(PetscSplitOwnership(comm, &m, &Q->n));
  PetscCallMPI(MPI_Scan(&m, &last, 1, MPIU_INT, MPI_SUM, comm));
  Q->first = last - m;
  for (PetscInt c = 0; c < o->dim; c++)
    for (PetscInt j = 0; j < Q->N; j++) mean[c] += Q->map[(size_t)c * Q->N + j] / (double)Q->N;
  PetscCall(PetscMalloc2((size_t)m * o->dim, &x, m, &before));
  p      = InterpolateGetPass(Q, o, m);
  p.xrow = x;
  PetscCall(PetscMalloc2((size_t)m * o->dim, &p.bx, m, &p.stress));
  p.delta = Q->delta ? Q->delta + (size_t)Q->first * Q->N : NULL;
  PetscCall(PetscMalloc1((size_t)m * Q->added.n, &frow));
  for (PetscInt f = 0; f < Q->added.n; f++) PetscCall(PetscArraycpy(frow + (size_t)f * m, Q->added.value + (size_t)f * Q->n + Q->first, m));
  p.frow = frow;
  PetscCall(InterpolateSetStart(Q, &p, x));
  for (Q->iterations = 0; !Q->converged; Q->iterations++) {
    int moving = 0;

    Pass_Host(&p, 1);
    for (PetscInt i = 0; i < m; i++) {
      moving    = moving || !Q->iterations || before[i] - p.stress[i] > o->eps * (before[i] + PETSC_SMALL);
      before[i] = p.stress[i];
      if (!(PetscAbsReal(p.stress[i]) <= PETSC_MAX_REAL)) bad = PetscMin(bad, Q->first + i);
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &moving, 1, MPI_INT, MPI_MAX, comm));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_MIN, comm));
    if (bad < PETSC_MPI_INT_MAX) break;
    Q->converged = (PetscBool)!moving;
    if (Q->converged || Q->iterations >= o->max_it) break;
    for (PetscInt c = 0; c < o->dim; c++)
      for (PetscInt i = 0; i < m; i++) x[c * m + i] = mean[c] + p.bx[c * m + i] / (double)Q->N;
  }
  shape.comm  = comm;
  shape.N     = Q->n;
  shape.first = Q->first;
  shape.last  = last;
  PetscCall(DissimGather(&shape, o->dim, x, Q->x));
  PetscCall(DissimGather(&shape, 1, p.stress, Q->stress));
  PetscCall(PetscFree2(x, before));
  PetscCall(PetscFree(frow));
  PetscCall(PetscFree2(p.bx, p.stress));
  if (bad == PETSC_MPI_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(InterpolationDestroy(Q));
  SETERRQ(comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the stress of new point %" PetscInt_FMT " (counted from 0) is beyond the range of double precision: its features or dissimilarities are too large; scale them and the map", o->file, bad);
}

PetscErrorCode InterpolationDestroy(Interpolation *Q)
{
  PetscFunctionBegin;
  PetscCall(FeaturesDestroy(&Q->known));
  PetscCall(FeaturesDestroy(&Q->added));
  PetscCall(PetscFree(Q->delta));
  PetscCall(PetscFree(Q->names));
  PetscCall(PetscFree3(Q->map, Q->x, Q->stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}
