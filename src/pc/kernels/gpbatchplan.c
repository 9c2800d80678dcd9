/* Plans: the rows of a pattern, divided into classes by the size of their dense problem (gpbatch.h). */
#include "pc/kernels/gpbatchimpl.h"

#include <stdlib.h>

/* Upper bounds of the classes. */
static const struct {
  int32_t m, k;
} GpBatchBounds[2][GP_BATCH_CLASSES] = {
  [GP_BATCH_FSAI] = {{4, 0}, {8, 0}, {16, 0}, {32, 0}, {64, 0}, {128, 0}, {192, 0}, {GP_BATCH_FSAI_MOST, 0}},
  [GP_BATCH_SPAI] = {{32, 32}, {32, 64}, {32, 128}, {64, 256}, {GP_BATCH_SPAI_MOST, GP_BATCH_SPAI_COLUMNS}},
};

/* Returns the class of a row, or GP_BATCH_CLASSES if the row is too long. */
static int GpBatchGetClass(GpBatchKind kind, int32_t m, int32_t k)
{
  int c = 0;

  while (c < GP_BATCH_CLASSES && (m > GpBatchBounds[kind][c].m || k > GpBatchBounds[kind][c].k)) c++;
  return c;
}

/* Returns the number of floating-point operations of a row, as the host implementation counts them. */
static double GpBatchCountFlops(GpBatchKind kind, double m, double k)
{
  double flops = m * m;

  if (kind == GP_BATCH_FSAI) return flops + m * m * m / 3;
  for (int32_t a = 0; a < (int32_t)m; a++) flops += 4 * (k - a) * (m - a + 1);
  return flops;
}

/* Counts the rows of each class, their maximum sizes and the operations. */
static GpErr GpBatchCountClasses(GpBatchPlan *plan, int32_t rows, const int32_t rowptr[], const int32_t columns[])
{
  int32_t m = -1, k = -1;
  double  flops = 0;

  for (int32_t r = 0; r < rows; r++) {
    const int32_t mine = rowptr[r + 1] - rowptr[r], wide = columns ? columns[r] : 0;
    const int     c = GpBatchGetClass(plan->kind, mine, wide);
    GpBatchClass *part;

    if (c == GP_BATCH_CLASSES) {
      if (plan->kind == GP_BATCH_FSAI) return GpDevFail(plan->dev, GP_ERR_ARGUMENT, "a row has %d entries; the device computes rows of at most %d entries", (int)mine, GP_BATCH_FSAI_MOST);
      return GpDevFail(plan->dev, GP_ERR_ARGUMENT, "a row has a least-squares problem of %d x %d; the device solves problems of at most %d x %d", (int)wide, (int)mine, GP_BATCH_SPAI_COLUMNS, GP_BATCH_SPAI_MOST);
    }
    part = &plan->part[c];
    part->count++;
    if (mine > part->m) part->m = mine;
    if (wide > part->k) part->k = wide;
    if (mine != m || wide != k) flops = GpBatchCountFlops(plan->kind, mine, wide); /* successive rows often have one size */
    m = mine;
    k = wide;
    plan->flops += flops;
  }
  return GP_SUCCESS;
}

/* Uploads the list of the rows of a class. */
static GpErr GpBatchListRows(GpBatchPlan *plan, int c, int32_t rows, const int32_t rowptr[], const int32_t columns[], int32_t list[])
{
  GpBatchClass *part  = &plan->part[c];
  const size_t  bytes = (size_t)part->count * sizeof(int32_t);
  int32_t       n     = 0;
  GpErr         err;

  for (int32_t r = 0; r < rows; r++) {
    if (GpBatchGetClass(plan->kind, rowptr[r + 1] - rowptr[r], columns ? columns[r] : 0) == c) list[n++] = r;
  }
  err = GpDevAlloc(plan->dev, bytes, &part->row);
  return err ? err : GpDevUpload(plan->dev, part->row, list, bytes);
}

GpErr GpBatchCreatePlan(GpDev dev, GpBatchKind kind, int32_t rows, const int32_t rowptr[], const int32_t columns[], GpBatchPlan *plan)
{
  int32_t *list = NULL;
  GpErr    err;

  *plan = (GpBatchPlan){.dev = dev, .kind = kind};
  err   = GpBatchCountClasses(plan, rows, rowptr, columns);
  for (int c = 0; !err && c < GP_BATCH_CLASSES; c++) {
    if (!plan->part[c].count || plan->part[c].count == rows) continue;
    if (!list) list = (int32_t *)malloc((size_t)rows * sizeof(*list));
    err = list ? GpBatchListRows(plan, c, rows, rowptr, columns, list) : GpDevFail(dev, GP_ERR_MEMORY, "out of host memory");
  }
  free(list);
  if (err) GpBatchDestroyPlan(plan);
  return err;
}

void GpBatchDestroyPlan(GpBatchPlan *plan)
{
  if (!plan->dev) return;
  for (int c = 0; c < GP_BATCH_CLASSES; c++) GpDevFree(plan->dev, &plan->part[c].row, (size_t)plan->part[c].count * sizeof(int32_t));
  *plan = (GpBatchPlan){0};
}
