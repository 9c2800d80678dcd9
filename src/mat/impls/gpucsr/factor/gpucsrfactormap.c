/* Maps the values of a matrix to those of its factor. Several threads share the rows; the result does not depend on their number. */
#include "device/gpfillers.h"
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"

typedef struct {
  const MatGPUCSRFactorArrays *a;
  PetscBool                    cholesky;
  const PetscInt              *i, *j;   /* arrays of A */
  const PetscInt              *rows;    /* row of A of each row of the factor; NULL: the identity */
  const PetscInt              *inverse; /* column of the factor of each column of A; NULL: the identity */
  int32_t                     *from;
  PetscBool                    unsorted; /* the columns of a row of the factor do not ascend */
} MatGPUCSRFactorMapper;

static void MatGPUCSRFactorCheckColumns(void *context, int part, int64_t begin, int64_t end)
{
  MatGPUCSRFactorMapper       *m        = (MatGPUCSRFactorMapper *)context;
  const MatGPUCSRFactorArrays *a        = m->a;
  PetscBool                    unsorted = PETSC_FALSE;

  (void)part;
  for (PetscInt row = (PetscInt)begin; row < (PetscInt)end && !unsorted; row++) {
    for (int32_t k = m->cholesky ? 0 : a->lower[row]; !m->cholesky && k < a->lower[row + 1]; k++) {
      if (a->j[k] >= row || (k > a->lower[row] && a->j[k] <= a->j[k - 1])) unsorted = PETSC_TRUE;
    }
    for (int32_t k = a->begin[row]; k < a->end[row]; k++) {
      if (a->j[k] <= row || (k > a->begin[row] && a->j[k] <= a->j[k - 1])) unsorted = PETSC_TRUE;
    }
  }
  if (unsorted) __atomic_store_n(&m->unsorted, PETSC_TRUE, __ATOMIC_RELAXED); /* several threads check */
}

/* Finds a column in an ascending row of the factor.  hint: the position behind the column that was found last, because the columns of A usually ascend too.  Returns -1 if the row has no such column. */
static int32_t MatGPUCSRFactorFindColumn(const PetscInt j[], int32_t begin, int32_t end, PetscInt column, int32_t *hint)
{
  if (*hint < end && j[*hint] == column) return (*hint)++;
  while (begin < end) {
    const int32_t middle = begin + (end - begin) / 2;

    if (j[middle] == column) {
      *hint = middle + 1;
      return middle;
    }
    if (j[middle] < column) begin = middle + 1;
    else end = middle;
  }
  return -1;
}

/* Maps a row of A with ascending columns that has all entries of a row of the factor and no others, apart from those of L in a Cholesky factor.  Returns 0 if the row is another one. */
static PetscBool MatGPUCSRFactorMapSame(const MatGPUCSRFactorMapper *m, PetscInt row, int32_t lower, int32_t last)
{
  const MatGPUCSRFactorArrays *a     = m->a;
  const int32_t                begin = a->begin[row], end = a->end[row];
  PetscInt                     k = m->i[row], stop = m->i[row + 1];

  if (m->cholesky) {
    while (k < stop && m->j[k] < row) k++;
  }
  if (stop - k != last - lower + end - begin + 1) return PETSC_FALSE;
  for (int32_t e = lower; e < last; e++, k++) {
    if (m->j[k] != a->j[e]) return PETSC_FALSE;
    m->from[e] = (int32_t)k;
  }
  if (m->j[k] != row) return PETSC_FALSE;
  m->from[end] = (int32_t)k++;
  for (int32_t e = begin; e < end; e++, k++) {
    if (m->j[k] != a->j[e]) return PETSC_FALSE;
    m->from[e] = (int32_t)k;
  }
  return PETSC_TRUE;
}

/* Finds the index in the values of A of each value of some rows of the factor; -1: A has no such entry. */
static void MatGPUCSRFactorMapRows(void *context, int part, int64_t begin, int64_t end)
{
  const MatGPUCSRFactorMapper *m = (const MatGPUCSRFactorMapper *)context;
  const MatGPUCSRFactorArrays *a = m->a;

  (void)part;
  for (PetscInt row = (PetscInt)begin; row < (PetscInt)end; row++) {
    const int32_t  lower = m->cholesky ? 0 : a->lower[row], last = m->cholesky ? 0 : a->lower[row + 1];
    const PetscInt mine    = m->rows ? m->rows[row] : row;
    int32_t        hint[2] = {lower, a->begin[row]};

    if (!m->rows && !m->inverse && MatGPUCSRFactorMapSame(m, row, lower, last)) continue;
    for (int32_t k = lower; k < last; k++) m->from[k] = -1;
    for (int32_t k = a->begin[row]; k <= a->end[row]; k++) m->from[k] = -1;
    for (PetscInt k = m->i[mine]; k < m->i[mine + 1]; k++) {
      const PetscInt column = m->inverse ? m->inverse[m->j[k]] : m->j[k];
      int32_t        at     = a->end[row];

      if (column < row) at = MatGPUCSRFactorFindColumn(a->j, lower, last, column, &hint[0]);
      if (column > row) at = MatGPUCSRFactorFindColumn(a->j, a->begin[row], a->end[row], column, &hint[1]);
      if (at >= 0) m->from[at] = (int32_t)k;
    }
  }
}

/* Tells whether the columns of each row of the factor ascend, which the numeric phase on the device requires. */
PetscBool MatGPUCSRFactorIsSorted_Private(const MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a)
{
  MatGPUCSRFactorMapper m = {.a = a, .cholesky = f->cholesky};

  GpFillersRun(GpFillersParts(f->n, GP_TRI_GRAIN), f->n, MatGPUCSRFactorCheckColumns, &m);
  return (PetscBool)!m.unsorted;
}

/* Finds the index in the values of A of each value of a factor with ascending columns; -1: A has no such entry. i, j: arrays of A. The caller frees `from` by free(). */
PetscErrorCode MatGPUCSRFactorMapValues_Private(const MatGPUCSRFactor *f, const MatGPUCSRFactorArrays *a, const PetscInt i[], const PetscInt j[], int32_t **from)
{
  MatGPUCSRFactorMapper m       = {.a = a, .cholesky = f->cholesky, .i = i, .j = j};
  PetscInt             *inverse = NULL;
  const PetscInt       *columns;
  PetscBool             row, column;

  PetscFunctionBegin;
  *from = m.from = GpTriAllocate((size_t)a->nnz);
  PetscCheck(*from, PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of host memory for the indices of the %lld values of a factor", (long long)a->nnz);
  PetscCall(ISIdentity(f->row, &row));
  PetscCall(ISIdentity(f->column, &column));
  if (!row) PetscCall(ISGetIndices(f->row, &m.rows));
  if (!column) {
    PetscCall(ISGetIndices(f->column, &columns));
    PetscCall(PetscMalloc1(f->n, &inverse));
    for (PetscInt k = 0; k < f->n; k++) inverse[columns[k]] = k;
    PetscCall(ISRestoreIndices(f->column, &columns));
  }
  m.inverse = inverse;
  GpFillersRun(GpFillersParts(f->n, GP_TRI_GRAIN), f->n, MatGPUCSRFactorMapRows, &m);
  PetscCall(PetscFree(inverse));
  if (!row) PetscCall(ISRestoreIndices(f->row, &m.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
