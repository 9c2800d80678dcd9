/* Creation of the pairs in the form that passes read: validated, symmetric, in the selected precision. */
#include "solvers/smacof/smacofimpl.h"
#include "app/text/appcollective.h"
#include <float.h>
#include <limits.h>

/* the first error in the data of this rank */
typedef struct {
  char      what[256]; /* empty: there is none */
  PetscBool weight;    /* it is in the matrix of weights */
} SMACOFComplaint;

/* one row of a symmetric matrix, assembled from the row and the column of the matrix that the user gave */
typedef struct {
  Mat              A, T;
  PetscReal       *value;  /* [N], NaN where the row has no entry */
  PetscInt        *column; /* [n] columns with an entry, not sorted */
  PetscInt         n;
  PetscBool        nan_missing, zero_missing, symmetrize;
  PetscBool        is_weight;
  const char      *what;
  SMACOFComplaint *complaint;
} SMACOFRow;

static PetscErrorCode SMACOFRowCreate(SMACOF s, Mat A, const char what[], PetscBool zero_missing, SMACOFComplaint *complaint, SMACOFRow *R)
{
  PetscFunctionBegin;
  *R = (SMACOFRow){.A = A, .nan_missing = s->nan_missing, .zero_missing = zero_missing, .symmetrize = s->symmetrize, .is_weight = (PetscBool)(A == s->weights), .what = what, .complaint = complaint};
  if (!A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &R->T));
  PetscCall(PetscMalloc2(s->D.N, &R->value, s->D.N, &R->column));
  for (PetscInt j = 0; j < s->D.N; j++) R->value[j] = NAN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFRowDestroy(SMACOFRow *R)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(R->value, R->column));
  PetscCall(MatDestroy(&R->T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SMACOFRowComplain(SMACOFRow *R, PetscInt i, PetscInt j, PetscReal value, const char remedy[])
{
  if (R->complaint->what[0]) return;
  R->complaint->weight = R->is_weight;
  (void)snprintf(R->complaint->what, sizeof(R->complaint->what), "%s of points %" PetscInt_FMT " and %" PetscInt_FMT " (counted from 0) is %g: %s", R->what, i, j, (double)value, remedy);
}

/* Raises the complaint of the lowest rank that has one.  The message begins with the name of the matrix; that of a matrix that was read is its file. */
static PetscErrorCode SMACOFRaiseComplaint(SMACOF s, SMACOFComplaint *C)
{
  PetscMPIInt rank;
  PetscBool   found;
  const char *name;

  PetscFunctionBegin;
  PetscCall(GpAppFindFirst(s->D.comm, (PetscBool)(C->what[0] != 0), &rank, &found));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpAppBroadcast(s->D.comm, C, sizeof(*C), rank));
  name = ((PetscObject)(C->weight ? s->weights : s->dissimilarities))->name;
  SETERRQ(s->D.comm, name ? PETSC_ERR_FILE_UNEXPECTED : PETSC_ERR_ARG_WRONG, "%s%s%s", name ? name : "", name ? ": " : "", C->what);
}

/* Assembles row i.  A value on one side of the diagonal also counts for the other side if that has none. */
static PetscErrorCode SMACOFRowAssemble(SMACOFRow *R, PetscInt i)
{
  Mat                side[2] = {R->A, R->T};
  const PetscInt    *columns;
  const PetscScalar *values;
  PetscInt           n;

  PetscFunctionBegin;
  if (!R->A) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < R->n; k++) R->value[R->column[k]] = NAN;
  R->n = 0;
  for (int s = 0; s < 2; s++) {
    PetscCall(MatGetRow(side[s], i, &n, &columns, &values));
    for (PetscInt k = 0; k < n; k++) {
      const PetscInt  j = columns[k];
      const PetscReal v = PetscRealPart(values[k]);

      if (i == j) {
        if (v != 0 && !PetscIsNanReal(v)) SMACOFRowComplain(R, i, j, v, "the diagonal must be 0");
        continue;
      }
      if ((PetscIsNanReal(v) && R->nan_missing) || (v == 0 && R->zero_missing)) continue;
      if (!(v >= 0) || PetscIsInfReal(v)) SMACOFRowComplain(R, i, j, v, "it must be finite and not negative");
      if (PetscIsNanReal(R->value[j])) {
        R->column[R->n++] = j;
        R->value[j]       = v;
      } else {
        if (!R->symmetrize && PetscAbsReal(v - R->value[j]) > 1e-8 * PetscMax(v, R->value[j])) SMACOFRowComplain(R, i, j, R->value[j], "in the other order it has another value; -symmetrize takes the mean");
        R->value[j] = 0.5 * (v + R->value[j]);
      }
    }
    PetscCall(MatRestoreRow(side[s], i, &n, &columns, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the value of column j.  Complains if it overflows or underflows in single precision. */
static void SMACOFRowStore(SMACOFRow *R, void *a, PetscBool single, size_t k, PetscInt i, PetscInt j)
{
  const PetscReal v = R->value[j];

  if (single && (v > FLT_MAX || (v > 0 && v < FLT_MIN))) SMACOFRowComplain(R, i, j, v, "it does not fit single precision; use -storage double");
  if (single) ((float *)a)[k] = (float)v;
  else ((double *)a)[k] = v;
}

/* Allocates n values that are 0, as the diagonal of complete data is. */
static PetscErrorCode SMACOFPairsAllocate(const SMACOFPairs *D, size_t n, void **a)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc(n * (D->single ? sizeof(float) : sizeof(double)), a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets row i of the local pairs: n entries with their columns, dissimilarities and weights (or NULL).  Complete data have N entries with columns NULL, and weight 0 on
   the diagonal. */
PetscErrorCode SMACOFPairsGetRow_Private(const SMACOFPairs *D, PetscInt i, PetscInt *n, const int **columns, double delta[], double weight[])
{
  const size_t N = (size_t)D->N;

  PetscFunctionBegin;
  *n = D->start ? (PetscInt)(D->start[i + 1] - D->start[i]) : D->N;
  if (columns) *columns = D->start ? D->column + D->start[i] : NULL;
  if (!D->delta) {
    SMACOFPass p = {.N = (int)D->N, .ldrow = N, .feature = D->feature, .frow = D->feature + D->first, .nfeature = (int)D->nfeature, .metric = (int)D->metric};

    SMACOFComputeDistances_Host(&p, (int)i, 0, (int)D->N, delta);
    delta[D->first + i] = 0;
  } else {
    const size_t at = D->start ? (size_t)D->start[i] : (size_t)i * N;

    for (PetscInt k = 0; k < *n; k++) delta[k] = SMACOFGetStored(D->delta, D->single, at + (size_t)k);
  }
  if (!weight) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < *n; k++) weight[k] = D->weight ? SMACOFGetStored(D->weight, D->single, (size_t)(D->start[i] + k)) : 1;
  if (!D->start) weight[D->first + i] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the sums over all entries.  Complains if the sum of squares is outside the range of double precision. */
static PetscErrorCode SMACOFPairsComputeSums(SMACOFPairs *D, SMACOFComplaint *C)
{
  const int m      = (int)(D->last - D->first);
  PetscReal sum[2] = {0, 0}, largest = 0, *delta;
  double   *weight;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(D->N, &delta, D->N, &weight));
  for (PetscInt i = 0; i < m; i++) {
    PetscInt n;

    PetscCall(SMACOFPairsGetRow_Private(D, i, &n, NULL, delta, weight));
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
  (void)snprintf(C->what, sizeof(C->what), "the sum of the squares of the dissimilarities, of which the largest is %g, is beyond the range of double precision: scale them", (double)largest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the listed pairs, locally in each row and globally, and tells whether the data are complete. */
static PetscErrorCode SMACOFPairsCount(SMACOFRow *delta, SMACOFRow *weight, SMACOFPairs *D)
{
  const PetscInt m = D->last - D->first;
  PetscInt64     entries;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(m + 1, &D->start));
  for (PetscInt i = 0; i < m; i++) {
    PetscInt n = 0;

    PetscCall(SMACOFRowAssemble(delta, D->first + i));
    PetscCall(SMACOFRowAssemble(weight, D->first + i));
    for (PetscInt k = 0; k < delta->n; k++) n += !weight->A || !PetscIsNanReal(weight->value[delta->column[k]]);
    D->start[i + 1] = D->start[i] + n;
  }
  entries = D->start[m];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &entries, 1, MPIU_INT64, MPI_SUM, D->comm));
  D->npairs   = entries / 2;
  D->complete = (PetscBool)(!weight->A && entries == (PetscInt64)D->N * (D->N - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the dense rows of complete data, or the CSR arrays of listed pairs with sorted columns. */
static PetscErrorCode SMACOFPairsFill(SMACOFRow *delta, SMACOFRow *weight, SMACOFPairs *D)
{
  const PetscInt m = D->last - D->first;
  const size_t   N = (size_t)D->N;

  PetscFunctionBegin;
  if (D->complete) {
    PetscCall(PetscFree(D->start));
    PetscCall(SMACOFPairsAllocate(D, (size_t)m * N, &D->delta));
  } else {
    PetscCall(SMACOFPairsAllocate(D, (size_t)D->start[m], &D->delta));
    PetscCall(PetscMalloc1(D->start[m], &D->column));
    if (weight->A) PetscCall(SMACOFPairsAllocate(D, (size_t)D->start[m], &D->weight));
  }
  for (PetscInt i = 0; i < m; i++) {
    int64_t at = D->complete ? 0 : D->start[i];

    PetscCall(SMACOFRowAssemble(delta, D->first + i));
    PetscCall(SMACOFRowAssemble(weight, D->first + i));
    PetscCall(PetscSortInt(delta->n, delta->column));
    for (PetscInt k = 0; k < delta->n; k++) {
      const PetscInt j = delta->column[k];

      if (weight->A && PetscIsNanReal(weight->value[j])) continue;
      SMACOFRowStore(delta, D->delta, D->single, D->complete ? (size_t)i * N + (size_t)j : (size_t)at, D->first + i, j);
      if (D->complete) continue;
      if (weight->A) SMACOFRowStore(weight, D->weight, D->single, (size_t)at, D->first + i, j);
      D->column[at++] = (int)j;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the pairs from the matrices of SMACOFSetDissimilarities(). Collective. */
PetscErrorCode SMACOFPairsCreateFromMat_Private(SMACOF s)
{
  SMACOFPairs    *D = &s->D;
  SMACOFComplaint C = {""};
  SMACOFRow       delta, weight;

  PetscFunctionBegin;
  D->comm = PetscObjectComm((PetscObject)s);
  PetscCall(MatGetSize(s->dissimilarities, &D->N, NULL));
  PetscCheck(D->N < INT_MAX, D->comm, PETSC_ERR_USER_INPUT, "%" PetscInt_FMT " points exceed the range of 32-bit indices", D->N);
  PetscCall(MatGetOwnershipRange(s->dissimilarities, &D->first, &D->last));
  D->single = (PetscBool)(!s->in_double && s->disparity == SMACOF_DISPARITY_RATIO); /* other disparities are computed in double precision in every pass */
  D->stored = PETSC_TRUE;
  PetscCall(SMACOFRowCreate(s, s->dissimilarities, "The dissimilarity", s->zero_missing, &C, &delta));
  PetscCall(SMACOFRowCreate(s, s->weights, "The weight", PETSC_TRUE, &C, &weight));
  PetscCall(SMACOFPairsCount(&delta, &weight, D));
  if (!C.what[0]) PetscCall(SMACOFPairsFill(&delta, &weight, D));
  PetscCall(SMACOFRowDestroy(&delta));
  PetscCall(SMACOFRowDestroy(&weight));
  PetscCall(SMACOFRaiseComplaint(s, &C));
  PetscCall(SMACOFPairsComputeSums(D, &C));
  PetscCall(SMACOFRaiseComplaint(s, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes and stores distances between features on the host, if they are to be stored and are not yet.  Not collective. */
PetscErrorCode SMACOFPairsStoreDistances_Private(SMACOFPairs *D)
{
  const size_t m = (size_t)(D->last - D->first), N = (size_t)D->N;
  SMACOFPass   p = {.N = (int)D->N, .rows = (int)m, .first = (int)D->first, .single = D->single, .ld = N, .ldrow = N, .feature = D->feature, .frow = D->feature + D->first, .nfeature = (int)D->nfeature, .metric = (int)D->metric};

  PetscFunctionBegin;
  if (!D->stored || D->delta) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SMACOFPairsAllocate(D, m * N, &D->delta));
  SMACOFStoreDistances_Host(&p, D->delta);
  PetscCall(PetscFree(D->feature));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SMACOFPairsDestroy_Private(SMACOFPairs *D)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(D->delta));
  PetscCall(PetscFree(D->start));
  PetscCall(PetscFree(D->column));
  PetscCall(PetscFree(D->weight));
  PetscCall(PetscFree(D->feature));
  *D = (SMACOFPairs){.comm = MPI_COMM_NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}
