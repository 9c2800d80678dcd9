/* Balanced CSR: rows are packed into balanced rows of equal width, which are stored column by column with marks where a row or a part of a row
   starts. Rows are placed one after the other. A row that does not fit in the rest of its balanced row starts in the next one. Only a row longer
   than a balanced row is split. */
#include "mat/impls/gpucsr/spmv/published/gpseeds.h"

#include <stdlib.h>

#define GP_BALANCED_FILL 3 /* maximum number of slots per nonzero */

typedef struct {
  GpBalanced B;
  GpCsr      C;
} Fill;

/* Converts a slot number in row order to its position in memory. Slot q belongs to balanced row q / width. Slots are stored column by column, so
   that neighbouring threads, which take neighbouring balanced rows, read neighbouring slots. */
GP_INLINE int64_t GpBalancedGetSlot(const Fill *a, int64_t q)
{
  return q % GP_BALANCED_WIDTH * a->B.n + q / GP_BALANCED_WIDTH;
}

GP_STEP(FillFiller)
{
  const Fill *a = (const Fill *)args;

  a->B.col[i] = GP_BALANCED_FILLER;
}

GP_INLINE int32_t GpBalancedFindRow(const Fill *a, int64_t k)
{
  int32_t lo = 0, hi = a->C.m;

  while (hi - lo > 1) {
    const int32_t mid = lo + (hi - lo) / 2;

    if (a->C.rowptr[mid] <= k) lo = mid;
    else hi = mid;
  }
  return lo;
}

GP_STEP(FillColumn)
{
  const Fill    *a   = (const Fill *)args;
  const int32_t  row = GpBalancedFindRow(a, i), k = (int32_t)i - a->C.rowptr[row], parted = a->C.rowptr[row + 1] - a->C.rowptr[row] > GP_BALANCED_WIDTH;
  const uint32_t mark = parted ? (k % GP_BALANCED_WIDTH ? 0 : GP_BALANCED_PART) : k ? 0 : GP_BALANCED_ROW;

  a->B.col[GpBalancedGetSlot(a, a->B.start[row] + (int64_t)k)] = (uint32_t)a->C.col[i] | mark;
}

GP_STEP(FillValue)
{
  const Fill   *a   = (const Fill *)args;
  const int32_t row = GpBalancedFindRow(a, i);
  const int64_t to  = GpBalancedGetSlot(a, a->B.start[row] + (i - a->C.rowptr[row]));

  if (a->C.prec == GP_F32) ((float *)a->B.val)[to] = ((const float *)a->C.val)[i];
  else ((double *)a->B.val)[to] = ((const double *)a->C.val)[i];
}

static GpErr GpBalancedFill(GpBalanced *B, const GpCsr *C, int pattern)
{
  Fill  a   = {*B, *C};
  GpErr err = GP_SUCCESS;

  if (pattern) err = GP_EACH(C->dev, Fill, FillFiller, (int64_t)B->n * GP_BALANCED_WIDTH, &a);
  if (!err && pattern) err = GP_EACH(C->dev, Fill, FillColumn, C->nnz, &a);
  return err ? err : GP_EACH(C->dev, Fill, FillValue, C->nnz, &a);
}

/* Host copies of the arrays of GpBalanced, before their upload. */
typedef struct {
  int32_t *start, *first, *out, *span;
} Plan;

/* Records a start in the balanced row that contains the slot. All balanced rows up to it are begun. */
static void GpBalancedStart(GpBalanced *B, Plan *plan, int64_t slot, int32_t out)
{
  for (; B->n <= slot / GP_BALANCED_WIDTH; B->n++) plan->first[B->n] = B->nout;
  plan->out[B->nout++] = out;
}

static void GpBalancedPlan(GpBalanced *B, Plan *plan, int32_t m, const int32_t rowptr[])
{
  int64_t q = 0; /* the next free slot */

  for (int32_t i = 0; i < m; i++) {
    const int32_t length = rowptr[i + 1] - rowptr[i], left = (int32_t)(GP_BALANCED_WIDTH - q % GP_BALANCED_WIDTH), parts = length > GP_BALANCED_WIDTH || !length;

    if (length > left) q += left % GP_BALANCED_WIDTH;
    plan->start[i] = (int32_t)q;
    if (length && !parts) GpBalancedStart(B, plan, q, i);
    if (parts) {
      plan->span[3 * B->nspans]     = i;
      plan->span[3 * B->nspans + 1] = B->nparts;
      for (int32_t k = 0; k < length; k += GP_BALANCED_WIDTH) GpBalancedStart(B, plan, q + k, ~B->nparts++);
      plan->span[3 * B->nspans++ + 2] = B->nparts;
    }
    q += length;
  }
  plan->first[B->n] = B->nout;
}

static GpErr GpBalancedUpload(GpDev dev, const int32_t *host, size_t n, int32_t **device)
{
  GpErr err = GpDevAlloc(dev, n * sizeof(int32_t), device);

  return err ? err : GpDevUpload(dev, *device, host, n * sizeof(int32_t));
}

extern "C" GpErr GpFmtBuild_balanced(GpFmt *A, const int32_t rowptr[])
{
  const GpCsr *C   = A->csr;
  GpDev        dev = C->dev;
  const size_t m = (size_t)C->m, starts = m + (size_t)C->nnz / GP_BALANCED_WIDTH + 1;
  GpBalanced  *B = (GpBalanced *)calloc(1, sizeof(*B));
  int32_t     *work;
  Plan         plan;
  GpErr        err;

  A->data = B;
  if (!B) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a format");
  if ((uint32_t)C->n > GP_BALANCED_COLUMN || (int64_t)C->nnz > INT32_MAX / GP_BALANCED_FILL)
    return GpDevFail(dev, GP_ERR_ARGUMENT, "%d columns, %d nonzeros: balanced rows support column indices of 30 bits and at most %d nonzeros", (int)C->n, (int)C->nnz, INT32_MAX / GP_BALANCED_FILL);
  work = (int32_t *)malloc((4 * m + 2 * starts + 1) * sizeof(int32_t));
  if (!work) return GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for balanced rows");
  plan.start = work;
  plan.span  = plan.start + m;
  plan.first = plan.span + 3 * m;
  plan.out   = plan.first + starts + 1;
  GpBalancedPlan(B, &plan, C->m, rowptr);
  err = GpBalancedUpload(dev, plan.start, m, &B->start);
  if (!err) err = GpBalancedUpload(dev, plan.first, (size_t)B->n + 1, &B->first);
  if (!err) err = GpBalancedUpload(dev, plan.out, (size_t)B->nout, &B->out);
  if (!err) err = GpBalancedUpload(dev, plan.span, 3 * (size_t)B->nspans, &B->span);
  free(work);
  if (!err) err = GpDevAlloc(dev, (size_t)B->n * GP_BALANCED_WIDTH * sizeof(uint32_t), &B->col);
  if (!err) err = GpDevAlloc(dev, (size_t)B->n * GP_BALANCED_WIDTH * GpPrecBytes(C->prec), &B->val);
  if (!err) err = GpDevAlloc(dev, (size_t)B->nparts * sizeof(double), &B->part);
  return err ? err : GpBalancedFill(B, C, 1);
}

extern "C" GpErr GpFmtRefill_balanced(GpFmt *A)
{
  return GpBalancedFill((GpBalanced *)A->data, A->csr, 0);
}

extern "C" void GpFmtDestroy_balanced(GpFmt *A)
{
  GpBalanced *B   = (GpBalanced *)A->data;
  GpDev       dev = A->csr->dev;

  if (!B) return;
  GpDevFree(dev, &B->start, (size_t)A->csr->m * sizeof(int32_t));
  GpDevFree(dev, &B->first, ((size_t)B->n + 1) * sizeof(int32_t));
  GpDevFree(dev, &B->out, (size_t)B->nout * sizeof(int32_t));
  GpDevFree(dev, &B->span, 3 * (size_t)B->nspans * sizeof(int32_t));
  GpDevFree(dev, &B->col, (size_t)B->n * GP_BALANCED_WIDTH * sizeof(uint32_t));
  GpDevFree(dev, &B->val, (size_t)B->n * GP_BALANCED_WIDTH * GpPrecBytes(A->csr->prec));
  GpDevFree(dev, &B->part, (size_t)B->nparts * sizeof(double));
  free(B);
}

extern "C" double GpFmtBytes_balanced(const GpFmt *A)
{
  const GpBalanced *B = (const GpBalanced *)A->data;

  return sizeof(int32_t) * ((double)A->csr->m + B->n + 1 + B->nout + 3.0 * B->nspans) + (double)B->n * GP_BALANCED_WIDTH * (sizeof(uint32_t) + GpPrecBytes(A->csr->prec)) + sizeof(double) * (double)B->nparts;
}

extern "C" double GpFmtTraffic_balanced(const GpFmt *A)
{
  const GpBalanced *B = (const GpBalanced *)A->data;

  return GpFmtBytes_balanced(A) - sizeof(int32_t) * (double)A->csr->m + sizeof(double) * (double)B->nparts; /* partial sums are written and then read */
}
