/* Conversion of similarities to dissimilarities. */
#include "solvers/smacof/smacofimpl.h"
#include "app/text/appcollective.h"
#include <math.h>
#include <stdlib.h>

const char *const SMACOFSimilarities[] = {"corr", "reverse", "reciprocal", "ranks", "exp", "gaussian", "cooccurrence", "gravity", "confusion", "transition", "membership", "probability", "constant", "SMACOFSimilarity", "SMACOF_SIMILARITY_", NULL};

/* the range of the similarities that each conversion accepts; that of `constant` ends at the constant */
static const struct {
  PetscReal low, high;
} SMACOFSimilarityRanges[] = {{-1, 1}, {-PETSC_MAX_REAL, PETSC_MAX_REAL}, {0, PETSC_MAX_REAL}, {-PETSC_MAX_REAL, PETSC_MAX_REAL}, {0, PETSC_MAX_REAL}, {0, PETSC_MAX_REAL}, {0, PETSC_MAX_REAL}, {0, PETSC_MAX_REAL}, {0, 1}, {0, PETSC_MAX_REAL}, {0, 1},
                              {0, 1},  {-PETSC_MAX_REAL, PETSC_MAX_REAL}};

/* a conversion: the matrix, and what a dissimilarity depends on besides its similarity */
typedef struct {
  Mat              S, T; /* T is the transpose; NULL if it is not needed */
  SMACOFSimilarity type;
  PetscReal        constant;
  PetscBool        nan_missing, zero_missing;
  PetscInt         N, first, last;
  PetscReal       *value[2]; /* [N] entries (i, j) and (j, i) of a row i; NaN where they are missing */
  PetscInt        *column;   /* [n] columns of the row in which the matrix or its transpose has an entry */
  PetscInt         n;
  PetscReal        low, high;       /* the least and the greatest similarity */
  PetscReal       *rowsum, *colsum; /* [N] sums of the rows and of the columns */
  PetscReal        total;           /* sum of all similarities */
  PetscReal       *sorted;          /* [nsorted] all similarities in ascending order */
  PetscInt64       nsorted;
  char             what[256]; /* the first error on this rank; empty: there is none */
} SMACOFConversion;

/* Returns an entry, or NaN if it stands for a missing one.  Records an error if the entry is outside the range of the conversion. */
static PetscReal SMACOFConversionCheck(SMACOFConversion *X, PetscInt i, PetscInt j, PetscScalar entry)
{
  const PetscReal v = PetscRealPart(entry), low = SMACOFSimilarityRanges[X->type].low, high = X->type == SMACOF_SIMILARITY_CONSTANT && i != j ? X->constant : SMACOFSimilarityRanges[X->type].high;
  char            range[96] = "finite numbers";

  if ((PetscIsNanReal(v) && X->nan_missing) || (v == 0 && X->zero_missing)) return NAN;
  if (v >= low && v <= high && !PetscIsInfReal(v)) return v;
  if (!X->what[0]) {
    if (low > -PETSC_MAX_REAL && high < PETSC_MAX_REAL) (void)snprintf(range, sizeof(range), "numbers from %g to %g", (double)low, (double)high);
    else if (low > -PETSC_MAX_REAL) (void)snprintf(range, sizeof(range), "finite numbers of at least %g", (double)low);
    else if (high < PETSC_MAX_REAL) (void)snprintf(range, sizeof(range), "numbers of at most %g, the constant", (double)high);
    (void)snprintf(X->what, sizeof(X->what), "The similarity of points %" PetscInt_FMT " and %" PetscInt_FMT " (counted from 0) is %g: the conversion `%s` needs %s", i, j, (double)v, SMACOFSimilarities[X->type], range);
  }
  return NAN;
}

/* Gets row i and column i.  An entry on one side of the diagonal also counts for the other side if that has none. */
static PetscErrorCode SMACOFConversionGetRow(SMACOFConversion *X, PetscInt i)
{
  const PetscInt    *columns;
  const PetscScalar *entries;
  PetscInt           n;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < X->n; k++) X->value[0][X->column[k]] = X->value[1][X->column[k]] = NAN;
  X->n = 0;
  for (int side = 0; side < 2; side++) {
    PetscCall(MatGetRow(side ? X->T : X->S, i, &n, &columns, &entries));
    for (PetscInt k = 0; k < n; k++) {
      const PetscInt  j = columns[k];
      const PetscReal v = SMACOFConversionCheck(X, side ? j : i, side ? i : j, entries[k]);

      if (PetscIsNanReal(v)) continue;
      if (PetscIsNanReal(X->value[0][j]) && PetscIsNanReal(X->value[1][j])) X->column[X->n++] = j;
      X->value[side][j] = v;
    }
    PetscCall(MatRestoreRow(side ? X->T : X->S, i, &n, &columns, &entries));
  }
  for (PetscInt k = 0; k < X->n; k++) {
    const PetscInt j = X->column[k];

    for (int side = 0; side < 2; side++)
      if (PetscIsNanReal(X->value[side][j])) X->value[side][j] = X->value[1 - side][j];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int SMACOFCompareReals(const void *a, const void *b)
{
  const PetscReal x = *(const PetscReal *)a, y = *(const PetscReal *)b;

  return (x > y) - (x < y);
}

/* Computes the sums of rows and columns, and for SMACOF_SIMILARITY_RANKS the sorted similarities.  Collective. */
static PetscErrorCode SMACOFConversionSurvey(SMACOFConversion *X)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)X->S);
  const PetscInt m    = X->last - X->first;
  PetscReal     *sum, *mine = NULL;
  PetscInt64     n = 0, most = 0;

  PetscFunctionBegin;
  PetscCall(MatTranspose(X->S, MAT_INITIAL_MATRIX, &X->T));
  PetscCall(PetscMalloc3(X->N, &X->value[0], X->N, &X->value[1], X->N, &X->column));
  for (PetscInt j = 0; j < X->N; j++) X->value[0][j] = X->value[1][j] = NAN;
  PetscCall(PetscCalloc1(2 * m, &sum));
  for (PetscInt i = 0; i < m; i++) {
    PetscCall(SMACOFConversionGetRow(X, X->first + i));
    PetscCall(PetscSortInt(X->n, X->column)); /* sums in the order of the columns do not depend on the number of ranks */
    for (PetscInt k = 0; k < X->n; k++) {
      sum[i] += X->value[0][X->column[k]];
      sum[m + i] += X->value[1][X->column[k]];
    }
    if (X->type != SMACOF_SIMILARITY_RANKS) continue;
    if (n + X->n > most) {
      most = 2 * (n + X->n);
      PetscCall(PetscRealloc((size_t)most * sizeof(*mine), &mine));
    }
    for (PetscInt k = 0; k < X->n; k++) mine[n++] = X->value[0][X->column[k]];
  }
  PetscCall(GpAppAllgather(comm, sum, m, sizeof(*sum), &X->rowsum, NULL));
  PetscCall(GpAppAllgather(comm, sum + m, m, sizeof(*sum), &X->colsum, NULL));
  for (PetscInt i = 0; i < X->N; i++) X->total += X->rowsum[i];
  if (X->type == SMACOF_SIMILARITY_RANKS) {
    PetscCall(GpAppAllgather(comm, mine, n, sizeof(*mine), &X->sorted, &X->nsorted));
    qsort(X->sorted, (size_t)X->nsorted, sizeof(*X->sorted), SMACOFCompareReals);
  }
  PetscCall(PetscFree(mine));
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the least and the greatest similarity, and checks all entries.  Collective. */
static PetscErrorCode SMACOFConversionFindEnds(SMACOFConversion *X)
{
  const PetscInt    *columns;
  const PetscScalar *entries;
  PetscReal          ends[2] = {-PETSC_MAX_REAL, -PETSC_MAX_REAL};
  PetscInt           n;

  PetscFunctionBegin;
  for (PetscInt i = X->first; i < X->last; i++) {
    PetscCall(MatGetRow(X->S, i, &n, &columns, &entries));
    for (PetscInt k = 0; k < n; k++) {
      const PetscReal v = SMACOFConversionCheck(X, i, columns[k], entries[k]);

      if (PetscIsNanReal(v)) continue;
      ends[0] = PetscMax(ends[0], -v);
      ends[1] = PetscMax(ends[1], v);
    }
    PetscCall(MatRestoreRow(X->S, i, &n, &columns, &entries));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPIU_REAL, MPI_MAX, PetscObjectComm((PetscObject)X->S)));
  X->low  = -ends[0];
  X->high = ends[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the rank of a similarity, of which the greatest has rank 1.  Equal similarities have their mean rank. */
static PetscReal SMACOFConversionRank(const SMACOFConversion *X, PetscReal v)
{
  PetscInt64 from[2];

  for (int c = 0; c < 2; c++) { /* from[0]: number of similarities below v; from[1]: number of those that are not above v */
    PetscInt64 a = 0, b = X->nsorted;

    while (a < b) {
      const PetscInt64 middle = a + (b - a) / 2;

      if (X->sorted[middle] < v || (c && X->sorted[middle] == v)) a = middle + 1;
      else b = middle;
    }
    from[c] = a;
  }
  return (PetscReal)(X->nsorted - from[1]) + 0.5 * (PetscReal)(from[1] - from[0] + 1);
}

/* Returns the dissimilarity of entry (i, j), or NaN if it is missing.  The formulas are those of the function sim2diss() of R's smacof. */
static PetscReal SMACOFConversionApply(SMACOFConversion *X, PetscInt i, PetscInt j, PetscScalar entry)
{
  const PetscReal eps = PETSC_MACHINE_EPSILON, v = SMACOFConversionCheck(X, i, j, entry);

  if (i == j) return 0;
  if (PetscIsNanReal(v)) return NAN;
  switch (X->type) {
  case SMACOF_SIMILARITY_CORR:
    return PetscSqrtReal(1 - v);
  case SMACOF_SIMILARITY_REVERSE:
    return X->high + X->low - v;
  case SMACOF_SIMILARITY_RECIPROCAL:
    return v > 0 ? 1 / v : NAN;
  case SMACOF_SIMILARITY_RANKS:
    return SMACOFConversionRank(X, v);
  case SMACOF_SIMILARITY_EXP:
    return PetscMax(0, -PetscLogReal((eps + v) / (eps + X->high)));
  case SMACOF_SIMILARITY_GAUSSIAN:
    return PetscSqrtReal(PetscMax(0, -PetscLogReal((eps + v) / (eps + X->high))));
  case SMACOF_SIMILARITY_COOCCURRENCE:
    return X->rowsum[i] > 0 && X->colsum[j] > 0 ? 1 / (1 + X->total * v / (X->rowsum[i] * X->colsum[j])) : NAN;
  case SMACOF_SIMILARITY_GRAVITY:
    return v > 0 ? PetscSqrtReal(X->rowsum[i] * X->colsum[j] / (X->total * v)) : NAN;
  case SMACOF_SIMILARITY_TRANSITION:
    return v > 0 ? 1 / PetscSqrtReal(v) : NAN;
  case SMACOF_SIMILARITY_PROBABILITY:
    return v > 0 ? 1 / PetscSqrtReal(PetscAsinReal(v)) : NAN;
  case SMACOF_SIMILARITY_CONSTANT:
    return X->constant - v;
  default: /* SMACOF_SIMILARITY_CONFUSION, SMACOF_SIMILARITY_MEMBERSHIP */
    return 1 - v;
  }
}

/* Creates the matrix of dissimilarities, with the layout and the pattern of that of similarities. */
static PetscErrorCode SMACOFConversionCreateMat(SMACOFConversion *X, Mat *D)
{
  const PetscInt    *columns;
  const PetscScalar *entries;
  PetscScalar       *row;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(X->N, &row));
  PetscCall(MatDuplicate(X->S, MAT_DO_NOT_COPY_VALUES, D));
  for (PetscInt i = X->first; i < X->last; i++) {
    PetscCall(MatGetRow(X->S, i, &n, &columns, &entries));
    for (PetscInt k = 0; k < n; k++) row[k] = SMACOFConversionApply(X, i, columns[k], entries[k]);
    PetscCall(MatSetValues(*D, 1, &i, n, columns, row, INSERT_VALUES));
    PetscCall(MatRestoreRow(X->S, i, &n, &columns, &entries));
  }
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFConvertSimilarities - Converts a matrix of similarities to dissimilarities

  Collective

  Input Parameters:
+ S            - a square matrix, dense, or sparse with the listed pairs
. type         - the conversion
. constant     - the constant of `SMACOF_SIMILARITY_CONSTANT`; other conversions ignore it
. nan_missing  - nan stands for a missing similarity; else it is an error
- zero_missing - 0 stands for a missing similarity

  Output Parameter:
. D - the dissimilarities, for `SMACOFSetDissimilarities()`. Missing ones are nan, so `SMACOFSetMissing()` must allow that

  Level: intermediate

  Notes:
  The diagonal of the similarities takes part in their least and greatest value, sums and ranks, as in R. An entry on one side of the diagonal also counts for the other side if that has none.

  The conversions `SMACOF_SIMILARITY_RECIPROCAL`, `SMACOF_SIMILARITY_GRAVITY`, `SMACOF_SIMILARITY_TRANSITION` and `SMACOF_SIMILARITY_PROBABILITY` make a similarity of 0 a missing one.

  With `SMACOF_SIMILARITY_RANKS` every rank holds all similarities.

.seealso: `SMACOFSetDissimilarities()`, `SMACOFSetMissing()`
@*/
PetscErrorCode SMACOFConvertSimilarities(Mat S, SMACOFSimilarity type, PetscReal constant, PetscBool nan_missing, PetscBool zero_missing, Mat *D)
{
  SMACOFConversion X    = {.S = S, .type = type, .constant = constant, .nan_missing = nan_missing, .zero_missing = zero_missing};
  const MPI_Comm   comm = PetscObjectComm((PetscObject)S);
  const char      *name = ((PetscObject)S)->name;
  PetscInt         columns;
  PetscMPIInt      rank;
  PetscBool        wrong;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(S, MAT_CLASSID, 1);
  SMACOFCheckPointer(D, 6);
  PetscCheck(type >= SMACOF_SIMILARITY_CORR && type <= SMACOF_SIMILARITY_CONSTANT, comm, PETSC_ERR_ARG_OUTOFRANGE, "There is no conversion of similarities with number %d", (int)type);
  PetscCall(MatGetSize(S, &X.N, &columns));
  PetscCheck(X.N == columns, comm, PETSC_ERR_ARG_SIZ, "%" PetscInt_FMT " rows and %" PetscInt_FMT " columns: similarities need a square matrix", X.N, columns);
  PetscCall(MatGetOwnershipRange(S, &X.first, &X.last));
  PetscCall(SMACOFConversionFindEnds(&X));
  PetscCall(GpAppFindFirst(comm, (PetscBool)(X.what[0] != 0), &rank, &wrong));
  if (wrong) PetscCall(GpAppBroadcast(comm, X.what, sizeof(X.what), rank));
  PetscCheck(!wrong, comm, name ? PETSC_ERR_FILE_UNEXPECTED : PETSC_ERR_ARG_WRONG, "%s%s%s", name ? name : "", name ? ": " : "", X.what);
  if (type == SMACOF_SIMILARITY_RANKS || type == SMACOF_SIMILARITY_COOCCURRENCE || type == SMACOF_SIMILARITY_GRAVITY) PetscCall(SMACOFConversionSurvey(&X));
  PetscCall(SMACOFConversionCreateMat(&X, D));
  PetscCall(MatDestroy(&X.T));
  PetscCall(PetscFree3(X.value[0], X.value[1], X.column));
  PetscCall(PetscFree(X.rowsum));
  PetscCall(PetscFree(X.colsum));
  PetscCall(PetscFree(X.sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}
