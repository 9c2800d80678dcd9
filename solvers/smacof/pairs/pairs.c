/* Creation of the dissimilarities in the form that passes read: validated, symmetric, in the selected precision. */
#include "solvers/smacof/smacofimpl.h"
#include <float.h>
#include <limits.h>
#include <string.h>

const char *const Missings[] = {"none", "nan", "zero", "Missing", "", NULL};

/* Broadcasts the complaint with the smallest line number to all ranks.  If no rank has one, C->code stays 0. */
PetscErrorCode AgreeOnComplaint(MPI_Comm comm, GpAppComplaint *C)
{
  PetscInt64  mine = C->code ? C->line : INT64_MAX, first;
  PetscMPIInt rank, holder;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPIU_INT64, MPI_MIN, comm));
  if (first == INT64_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  rank = mine == first ? rank : PETSC_MPI_INT_MAX;
  PetscCallMPI(MPI_Allreduce(&rank, &holder, 1, MPI_INT, MPI_MIN, comm));
  PetscCallMPI(MPI_Bcast(C, (PetscMPIInt)sizeof(*C), MPI_BYTE, holder, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one row of a symmetric matrix, assembled from the row and the column of the matrix that was read */
typedef struct {
  Mat         A, T;
  PetscReal  *value;  /* [N], NaN where the row has no entry */
  PetscInt   *column; /* [n] columns with an entry, not sorted */
  PetscInt    n;
  PetscBool   nan_missing, zero_missing, symmetrize;
  const char *what;
} Row;

static PetscErrorCode RowCreate(Mat A, const char what[], PetscBool nan_missing, PetscBool zero_missing, PetscBool symmetrize, Row *R)
{
  PetscInt N;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(R, sizeof(*R)));
  R->A            = A;
  R->nan_missing  = nan_missing;
  R->zero_missing = zero_missing;
  R->symmetrize   = symmetrize;
  R->what         = what;
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &R->T));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(PetscMalloc2(N, &R->value, N, &R->column));
  for (PetscInt j = 0; j < N; j++) R->value[j] = NAN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowDestroy(Row *R)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(R->value, R->column));
  PetscCall(MatDestroy(&R->T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void DissimComplain(GpAppComplaint *C, PetscInt i, PetscInt j, const char what[], PetscReal value, const char remedy[])
{
  if (C->code) return;
  C->code = PETSC_ERR_FILE_UNEXPECTED;
  C->line = (PetscInt64)i + 1; /* this is a row of the matrix, not a line of the file */
  (void)snprintf(C->what, sizeof(C->what), "%s of points %" PetscInt_FMT " and %" PetscInt_FMT " (counted from 0) is %g: %s", what, i, j, (double)value, remedy);
}

/* Assembles row i.  A value on one side of the diagonal also counts for the other side if that has none. */
static PetscErrorCode RowGet(Row *R, PetscInt i, GpAppComplaint *C)
{
  Mat                side[2] = {R->A, R->T};
  const PetscInt    *columns;
  const PetscScalar *values;
  PetscInt           n;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < R->n; k++) R->value[R->column[k]] = NAN;
  R->n = 0;
  for (int s = 0; s < 2; s++) {
    PetscCall(MatGetRow(side[s], i, &n, &columns, &values));
    for (PetscInt k = 0; k < n; k++) {
      const PetscInt  j = columns[k];
      const PetscReal v = PetscRealPart(values[k]);

      if (i == j) {
        if (v != 0 && !PetscIsNanReal(v)) DissimComplain(C, i, j, R->what, v, "the diagonal must be 0");
        continue;
      }
      if ((PetscIsNanReal(v) && R->nan_missing) || (v == 0 && R->zero_missing)) continue;
      if (!(v >= 0) || PetscIsInfReal(v)) DissimComplain(C, i, j, R->what, v, "it must be finite and not negative");
      if (PetscIsNanReal(R->value[j])) {
        R->column[R->n++] = j;
        R->value[j]       = v;
      } else {
        if (!R->symmetrize && PetscAbsReal(v - R->value[j]) > 1e-8 * PetscMax(v, R->value[j])) DissimComplain(C, i, j, R->what, R->value[j], "in the other order it has another value; -symmetrize takes the mean");
        R->value[j] = 0.5 * (v + R->value[j]);
      }
    }
    PetscCall(MatRestoreRow(side[s], i, &n, &columns, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double DissimGetStored(const void *a, PetscBool single, size_t k)
{
  return single ? (double)((const float *)a)[k] : ((const double *)a)[k];
}

/* Stores a value.  Complains if it overflows or underflows in single precision. */
static void DissimSetStored(void *a, PetscBool single, size_t k, PetscReal v, const char what[], PetscInt i, PetscInt j, GpAppComplaint *C)
{
  if (single) {
    if (v > FLT_MAX || (v > 0 && v < FLT_MIN)) DissimComplain(C, i, j, what, v, "it does not fit single precision; use -storage double");
    ((float *)a)[k] = (float)v;
  } else ((double *)a)[k] = v;
}

static PetscErrorCode DissimAllocate(const Dissim *D, size_t n, void **a)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc(n * (D->single ? sizeof(float) : sizeof(double)), a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the sums over all entries.  Complains if the sum of squares is outside the range of double precision. */
static PetscErrorCode DissimComputeSums(Dissim *D, GpAppComplaint *C)
{
  const int m      = (int)(D->last - D->first);
  PetscReal sum[2] = {0, 0}, largest = 0, *delta;
  double   *weight;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(D->N, &delta, D->N, &weight));
  for (PetscInt i = 0; i < m; i++) {
    PetscInt n;

    PetscCall(DissimRow(D, i, &n, NULL, delta, weight));
    for (PetscInt k = 0; k < n; k++) {
      sum[0] += 0.5 * weight[k] * delta[k] * delta[k];
      sum[1] += 0.5 * weight[k];
      if (weight[k] > 0) largest = PetscMax(largest, delta[k]);
    }
  }
  PetscCall(PetscFree2(delta, weight));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_REAL, MPI_SUM, D->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPI_MAX, D->comm));
  D->sumsquares = sum[0];
  D->sumweights = sum[1];
  if (!PetscIsInfOrNanReal(sum[0]) && (sum[0] >= DBL_MIN || !(largest > 0))) PetscFunctionReturn(PETSC_SUCCESS);
  C->code = PETSC_ERR_FILE_UNEXPECTED;
  (void)snprintf(C->what, sizeof(C->what), "the sum of the squares of the dissimilarities, of which the largest is %g, is beyond the range of double precision: scale them", (double)largest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the listed pairs, locally in each row and globally, and tells whether the data are complete. */
static PetscErrorCode DissimCountPairs(Row *delta, Row *weight, Dissim *D, GpAppComplaint *C)
{
  const PetscInt m = D->last - D->first;
  PetscInt64     entries;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(m + 1, &D->start));
  for (PetscInt i = 0; i < m; i++) {
    PetscInt n = 0;

    PetscCall(RowGet(delta, D->first + i, C));
    if (weight) PetscCall(RowGet(weight, D->first + i, C));
    for (PetscInt k = 0; k < delta->n; k++) n += !weight || !PetscIsNanReal(weight->value[delta->column[k]]);
    D->start[i + 1] = D->start[i] + n;
  }
  entries = D->start[m];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &entries, 1, MPIU_INT64, MPI_SUM, D->comm));
  D->npairs   = entries / 2;
  D->complete = (PetscBool)(!weight && entries == (PetscInt64)D->N * (D->N - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the dense rows of complete data, or the CSR arrays of listed pairs with sorted columns. */
static PetscErrorCode DissimFillPairs(Row *delta, Row *weight, Dissim *D, GpAppComplaint *C)
{
  const PetscInt m = D->last - D->first;
  const size_t   N = (size_t)D->N;

  PetscFunctionBegin;
  if (D->complete) {
    PetscCall(PetscFree(D->start));
    PetscCall(DissimAllocate(D, (size_t)m * N, &D->delta));
  } else {
    PetscCall(DissimAllocate(D, (size_t)D->start[m], &D->delta));
    PetscCall(PetscMalloc1(D->start[m], &D->column));
    if (weight) PetscCall(DissimAllocate(D, (size_t)D->start[m], &D->weight));
  }
  for (PetscInt i = 0; i < m; i++) {
    int64_t at = D->complete ? 0 : D->start[i];

    PetscCall(RowGet(delta, D->first + i, C));
    if (weight) PetscCall(RowGet(weight, D->first + i, C));
    if (D->complete) DissimSetStored(D->delta, D->single, (size_t)i * N + (size_t)(D->first + i), 0, NULL, i, i, C);
    PetscCall(PetscSortInt(delta->n, delta->column));
    for (PetscInt k = 0; k < delta->n; k++) {
      const PetscInt j = delta->column[k];

      if (weight && PetscIsNanReal(weight->value[j])) continue;
      DissimSetStored(D->delta, D->single, D->complete ? (size_t)i * N + (size_t)j : (size_t)at, delta->value[j], delta->what, D->first + i, j, C);
      if (D->complete) continue;
      if (weight) DissimSetStored(D->weight, D->single, (size_t)at, weight->value[j], weight->what, D->first + i, j, C);
      D->column[at++] = (int)j;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  DissimFromMat - Takes dissimilarities from a matrix

  Collective

  Input Parameters:
+ comm        - communicator of the matrices
. delta       - a dense matrix, or a sparse one with the listed pairs; a pair may have an entry on one side of the diagonal only
. weight      - weights of the pairs; pairs with weight 0 or without an entry are left out. NULL: all weights are 1
. nan_missing - whether NaN means a missing dissimilarity
- o           - other values that mean a missing one, whether to symmetrise, precision

  Output Parameters:
+ D - the dissimilarities; empty if there is a complaint
- C - the first error in the data, the same on all ranks; C->code is 0 if there is none
*/
PetscErrorCode DissimFromMat(MPI_Comm comm, Mat delta, Mat weight, PetscBool nan_missing, const DissimOptions *o, Dissim *D, GpAppComplaint *C)
{
  Row rdelta, rweight;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(D, sizeof(*D)));
  PetscCall(PetscMemzero(C, sizeof(*C)));
  D->comm = comm;
  PetscCall(MatGetSize(delta, &D->N, NULL));
  PetscCheck(D->N < INT_MAX, D->comm, PETSC_ERR_USER_INPUT, "%" PetscInt_FMT " points exceed the range of 32-bit indices", D->N);
  PetscCall(MatGetOwnershipRange(delta, &D->first, &D->last));
  D->single = o->single;
  PetscCall(RowCreate(delta, "The dissimilarity", nan_missing, (PetscBool)(o->missing == MISSING_ZERO), o->symmetrize, &rdelta));
  if (weight) PetscCall(RowCreate(weight, "The weight", nan_missing, PETSC_TRUE, o->symmetrize, &rweight));
  PetscCall(DissimCountPairs(&rdelta, weight ? &rweight : NULL, D, C));
  PetscCall(AgreeOnComplaint(comm, C));
  D->stored = PETSC_TRUE;
  if (!C->code) PetscCall(DissimFillPairs(&rdelta, weight ? &rweight : NULL, D, C));
  PetscCall(AgreeOnComplaint(comm, C));
  PetscCall(RowDestroy(&rdelta));
  if (weight) PetscCall(RowDestroy(&rweight));
  if (!C->code) PetscCall(DissimComputeSums(D, C));
  if (C->code) PetscCall(DissimDestroy(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DissimFromFeatures(MPI_Comm comm, const DissimOptions *o, Dissim *D)
{
  PetscInt m = PETSC_DECIDE;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(D, sizeof(*D)));
  D->comm   = comm;
  D->metric = o->metric;
  PetscCall(FeaturesRead(comm, o->features, o->metric, &o->table, &D->features, &D->names));
  D->N              = D->features.N;
  D->nfeatures      = D->features.n;
  D->feature_names  = D->features.names;
  D->features.names = NULL; /* the features may be freed before the report is written */
  PetscCall(PetscSplitOwnership(comm, &m, &D->N));
  PetscCallMPI(MPI_Scan(&m, &D->last, 1, MPIU_INT, MPI_SUM, comm));
  D->first      = D->last - m;
  D->complete   = PETSC_TRUE;
  D->npairs     = (PetscInt64)D->N * (D->N - 1) / 2;
  D->sumweights = (PetscReal)D->npairs;
  D->stored     = (PetscBool)!o->matrix_free;
  D->single     = o->single;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  DissimStore - Computes and stores distances between features on the host, if they are to be stored and are not yet

  Not Collective
*/
PetscErrorCode DissimStore(Dissim *D)
{
  const size_t m = (size_t)(D->last - D->first), N = (size_t)D->N;
  Pass         p = {.N = (int)D->N, .rows = (int)m, .first = (int)D->first, .single = D->single, .ld = N, .ldrow = N, .nfeature = (int)D->features.n, .metric = (int)D->metric};

  PetscFunctionBegin;
  if (!D->stored || D->delta) PetscFunctionReturn(PETSC_SUCCESS);
  p.feature = D->features.value;
  p.frow    = p.feature + D->first;
  PetscCall(DissimAllocate(D, m * N, &D->delta));
  PassStore_Host(&p, D->delta);
  PetscCall(FeaturesDestroy(&D->features));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the file of -weights.  If it has row names, they must be those of the dissimilarities in the same order. */
static PetscErrorCode DissimLoadWeights(MPI_Comm comm, const DissimOptions *o, PetscInt N, const char names[], Mat *weight, char what[], size_t room)
{
  const char *a = names, *b;
  char       *wnames;
  Mat         none;
  PetscBool   text;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(MatReadDissim(comm, o->weights, PETSC_FALSE, PETSC_FALSE, &o->table, weight, &none, &wnames, &text));
  PetscCall(MatGetSize(*weight, &n, NULL));
  if (n != N) PetscCall(PetscSNPrintf(what, room, "weights of %" PetscInt_FMT " points, but dissimilarities of %" PetscInt_FMT " points", n, N));
  b = wnames;
  for (PetscInt i = 0; i < N && n == N && a && b && !what[0]; i++, a += strlen(a) + 1, b += strlen(b) + 1)
    if (strcmp(a, b)) PetscCall(PetscSNPrintf(what, room, "row %" PetscInt_FMT " (counted from 1) is named '%.40s', but '%.40s' in the dissimilarities: write both in the same order", i + 1, b, a));
  PetscCall(PetscFree(wnames));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  DissimLoad - Reads the dissimilarities, or the features that they are computed from, as the options say

  Collective
*/
PetscErrorCode DissimLoad(MPI_Comm comm, const DissimOptions *o, Dissim *D)
{
  const char    *file = o->pairs[0] ? o->pairs : o->file, *bad = file;
  Mat            delta, weight;
  PetscBool      text, both;
  PetscInt       N;
  char          *names;
  GpAppComplaint C = {0};

  PetscFunctionBegin;
  if (o->features[0]) {
    PetscCall(DissimFromFeatures(comm, o, D));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatReadDissim(comm, file, (PetscBool)(o->pairs[0] != 0), (PetscBool)(o->missing == MISSING_NAN), &o->table, &delta, &weight, &names, &text));
  both = (PetscBool)(o->weights[0] && weight);
  PetscCall(MatGetSize(delta, &N, NULL));
  if (o->weights[0] && !both) {
    PetscCall(DissimLoadWeights(comm, o, N, names, &weight, C.what, sizeof(C.what)));
    bad = o->weights;
  }
  /* the reader of text files returns NaN for a missing number */
  if (!both && !C.what[0]) {
    PetscCall(DissimFromMat(comm, delta, weight, (PetscBool)(text || o->missing == MISSING_NAN), o, D, &C));
    if (strncmp(C.what, "The weight", 10)) bad = file;
  }
  PetscCall(MatDestroy(&delta));
  PetscCall(MatDestroy(&weight));
  if (both || C.what[0]) PetscCall(PetscFree(names));
  PetscCheck(!both, comm, PETSC_ERR_USER_INPUT, "-weights %s: the pairs of %s already have weights; remove the option or the fourth column", o->weights, file);
  PetscCheck(!C.what[0], comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %s", bad, C.what);
  D->names = names;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  DissimRow - Gets one row of the dissimilarities

  Not Collective

  Input Parameters:
+ D - the dissimilarities
- i - the point, a local row

  Output Parameters:
+ n       - number of entries; N for complete data, where the diagonal entry has dissimilarity 0 and weight 0
. columns - [n] column indices; NULL for complete data, whose columns are 0 to N - 1
. delta   - [n] dissimilarities
- weight  - [n] weights; may be NULL
*/
PetscErrorCode DissimRow(const Dissim *D, PetscInt i, PetscInt *n, const int **columns, double delta[], double weight[])
{
  const size_t N = (size_t)D->N;

  PetscFunctionBegin;
  *n = D->start ? (PetscInt)(D->start[i + 1] - D->start[i]) : D->N;
  if (columns) *columns = D->start ? D->column + D->start[i] : NULL;
  if (!D->delta) {
    Pass p = {.N = (int)D->N, .ldrow = N, .feature = D->features.value, .frow = D->features.value + D->first, .nfeature = (int)D->features.n, .metric = (int)D->metric};

    PassDistances_Host(&p, (int)i, 0, (int)D->N, delta);
    delta[D->first + i] = 0;
  } else {
    const size_t at = D->start ? (size_t)D->start[i] : (size_t)i * N;

    for (PetscInt k = 0; k < *n; k++) delta[k] = DissimGetStored(D->delta, D->single, at + (size_t)k);
  }
  if (!weight) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < *n; k++) weight[k] = D->weight ? DissimGetStored(D->weight, D->single, (size_t)(D->start[i] + k)) : 1;
  if (!D->start) weight[D->first + i] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DissimDestroy(Dissim *D)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(D->delta));
  PetscCall(PetscFree(D->start));
  PetscCall(PetscFree(D->column));
  PetscCall(PetscFree(D->weight));
  PetscCall(PetscFree(D->names));
  PetscCall(PetscFree(D->feature_names));
  PetscCall(FeaturesDestroy(&D->features));
  PetscFunctionReturn(PETSC_SUCCESS);
}
