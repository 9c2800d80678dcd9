/* Products with the rows of a sequential AIJ matrix: the results of MatMult() and MatMultTranspose() with less work, since rows without a slope
   and equal values are not read. */
#include "solvers/bmrm/bmrmimpl.h"

#define BMRM_ANEW   50  /* number of passes after which the accumulated product is computed anew */
#define BMRM_WINDOW 512 /* number of rows in a window of the order; the rows of a window fit into the cache */
#define BMRM_BESIDE 4   /* rows of equal length that are multiplied together */
#define BMRM_SHORT  16  /* largest mean number of entries per row up to which rows are ordered */

typedef struct {
  PetscInt           m, n;
  const PetscInt    *start, *column;
  const PetscScalar *value;
} Rows;

static PetscErrorCode BMRMRowsGet(Mat A, Rows *rows)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows->m, &rows->start, &rows->column, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MatGetRowIJ() gives no rows of a matrix of type %s", ((PetscObject)A)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(A, &rows->value));
  PetscCall(MatGetLocalSize(A, NULL, &rows->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRowsRestore(Mat A, Rows *rows)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(A, &rows->value));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows->m, &rows->start, &rows->column, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Decides whether to use the products of this file: only for MATSEQAIJ, since types derived from it have products of their own. Then orders the
  rows within windows, so that rows of equal length are consecutive, because processors mispredict the ends of rows of varying length. Long rows
  are not ordered: for them the jumps in memory cost more than the mispredictions.
*/
PetscErrorCode BMRMRowsSetUp(BMRM b)
{
  Rows      rows;
  PetscInt *length;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)b->A, MATSEQAIJ, &b->rows));
  if (!b->rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventGetId("MatMult", &b->product[0]));
  PetscCall(PetscLogEventGetId("MatMultTranspose", &b->product[1]));
  PetscCall(BMRMRowsGet(b->A, &rows));
  PetscCall(PetscMalloc1(rows.m, &b->order));
  PetscCall(PetscMalloc1(rows.m, &length));
  for (PetscInt i = 0; i < rows.m; i++) {
    b->order[i] = i;
    length[i]   = rows.start[i + 1] - rows.start[i];
  }
  for (PetscInt i = 0; i < rows.m && rows.start[rows.m] / BMRM_SHORT <= rows.m; i += BMRM_WINDOW) PetscCall(PetscSortIntWithArray(PetscMin(BMRM_WINDOW, rows.m - i), length + i, b->order + i));
  PetscCall(PetscFree(length));
  PetscCall(BMRMRowsRestore(b->A, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out whether all values are equal. The values then need not be read, which are two thirds of the data of a product. Repeated if the matrix
   has changed. */
static PetscErrorCode BMRMRowsCheckAlike(BMRM b, const Rows *rows)
{
  PetscObjectState state;
  const PetscInt   nz = rows->start[rows->m];
  PetscInt         k  = 1;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)b->A, &state));
  if (b->alike != BMRM_ALIKE_UNKNOWN && state == b->state) PetscFunctionReturn(PETSC_SUCCESS);
  while (k < nz && rows->value[k] == rows->value[0]) k++;
  b->alike = nz > 0 && k >= nz ? BMRM_ALIKE : BMRM_ALIKE_NOT;
  b->state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscInt BMRMRowsLength(const Rows *rows, PetscInt i)
{
  return rows->start[i + 1] - rows->start[i];
}

/* y[i] = <row i, x> for n rows of equal length at the same time, so that the sums are independent. If all values are equal, only entries of x are
   added. */
static inline void BMRMRowsDot(const Rows *rows, PetscInt n, const PetscInt i[], const PetscScalar x[], PetscBool alike, PetscScalar y[])
{
  const PetscInt     length = BMRMRowsLength(rows, i[0]);
  const PetscInt    *column[BMRM_BESIDE];
  const PetscScalar *value[BMRM_BESIDE];
  PetscScalar        sum[BMRM_BESIDE] = {0}, factor = alike ? rows->value[0] : 1;

  for (PetscInt l = 0; l < n; l++) {
    column[l] = rows->column + rows->start[i[l]];
    value[l]  = rows->value + rows->start[i[l]];
  }
  for (PetscInt k = 0; k < length; k++)
    for (PetscInt l = 0; l < n; l++) sum[l] += (alike ? 1 : value[l][k]) * x[column[l][k]];
  for (PetscInt l = 0; l < n; l++) y[i[l]] = factor * sum[l];
}

static inline void BMRMRowsDotAll(const Rows *rows, const PetscInt order[], const PetscScalar x[], PetscBool alike, PetscScalar y[])
{
  for (PetscInt i = 0; i < rows->m;) {
    PetscInt n = 1;

    while (n < BMRM_BESIDE && i + n < rows->m && BMRMRowsLength(rows, order[i + n]) == BMRMRowsLength(rows, order[i])) n++;
    if (n == BMRM_BESIDE) BMRMRowsDot(rows, BMRM_BESIDE, order + i, x, alike, y);
    else
      for (PetscInt l = 0; l < n; l++) BMRMRowsDot(rows, 1, order + i + l, x, alike, y);
    i += n;
  }
}

/* y = A x */
static PetscErrorCode BMRMRowsMult(BMRM b, Vec x, Vec y)
{
  const Mat          A = b->A;
  Rows               rows;
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(b->product[0], A, x, y, 0));
  PetscCall(BMRMRowsGet(A, &rows));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  PetscCall(BMRMRowsCheckAlike(b, &rows));
  if (b->alike == BMRM_ALIKE) {
    BMRMRowsDotAll(&rows, b->order, xa, PETSC_TRUE, ya);
  } else {
    BMRMRowsDotAll(&rows, b->order, xa, PETSC_FALSE, ya);
  }
  PetscCall(PetscLogFlops(2.0 * rows.start[rows.m]));
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(BMRMRowsRestore(A, &rows));
  PetscCall(PetscLogEventEnd(b->product[0], A, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  y = z + A'(x - from), where z and from may be NULL. Rows with factor zero are not read: examples without loss, examples of other blocks, and
  examples whose slope is the same at both points.
*/
static PetscErrorCode BMRMRowsMultTranspose(BMRM b, Vec from, Vec x, Vec z, Vec y)
{
  const Mat          A = b->A;
  Rows               rows;
  const PetscScalar *xa, *fa = NULL;
  PetscScalar       *ya;
  PetscLogDouble     flops = 0;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(b->product[1], A, x, y, 0));
  PetscCall(BMRMRowsGet(A, &rows));
  PetscCall(BMRMRowsCheckAlike(b, &rows));
  if (!z) PetscCall(VecSet(y, 0));
  else if (z != y) PetscCall(VecCopy(z, y));
  PetscCall(VecGetArrayRead(x, &xa));
  if (from) PetscCall(VecGetArrayRead(from, &fa));
  PetscCall(VecGetArray(y, &ya));
  for (PetscInt i = 0; i < rows.m; i++) {
    const PetscScalar s   = fa ? xa[i] - fa[i] : xa[i];
    const PetscInt    end = rows.start[i + 1];

    if (s == (PetscScalar)0) continue;
    if (b->alike == BMRM_ALIKE) {
      for (PetscInt k = rows.start[i]; k < end; k++) ya[rows.column[k]] += s * rows.value[0];
    } else {
      for (PetscInt k = rows.start[i]; k < end; k++) ya[rows.column[k]] += s * rows.value[k];
    }
    flops += 2.0 * (end - rows.start[i]);
  }
  PetscCall(PetscLogFlops(flops));
  PetscCall(VecRestoreArray(y, &ya));
  if (from) PetscCall(VecRestoreArrayRead(from, &fa));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(BMRMRowsRestore(A, &rows));
  PetscCall(PetscLogEventEnd(b->product[1], A, x, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The subgradients of the cuts at the best point and past it. Between the previous and the present best point, and from there to the second point,
  the slopes of few examples change. The product is computed anew every BMRM_ANEW passes, so that rounding errors do not accumulate.
*/
static PetscErrorCode BMRMRowsMultPair(BMRM b)
{
  const PetscBool anew = (PetscBool)(!b->known || b->it % BMRM_ANEW == 0);
  Vec             swap = b->rbest;

  PetscFunctionBegin;
  PetscCall(BMRMRowsMultTranspose(b, anew ? NULL : b->rbest, b->r[0], anew ? NULL : b->gbest, b->gbest));
  PetscCall(VecCopy(b->gbest, b->a[0]));
  if (b->taken > 1) PetscCall(BMRMRowsMultTranspose(b, b->r[0], b->r[1], b->gbest, b->a[1]));
  b->rbest = b->r[0];
  b->r[0]  = swap;
  b->known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The products of a pass: e = A d, or with the transpose of A the subgradients of the cuts. */
PetscErrorCode BMRMRowsProducts(BMRM b, PetscBool transpose)
{
  PetscFunctionBegin;
  b->matmults += transpose ? b->set.ncut : 1; /* a pair costs hardly more than one product */
  if (!transpose) PetscCall(BMRMRowsMult(b, b->d, b->e));
  else if (b->pair) PetscCall(BMRMRowsMultPair(b));
  else {
    for (PetscInt k = 0; k < b->taken; k++) PetscCall(BMRMRowsMultTranspose(b, NULL, b->r[k], NULL, b->a[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
