/* Builds the format of the first candidate that suits the matrix, or measures the candidates. */
#include "mat/impls/gpucsr/selector/gpselect.h"
#include "mat/impls/gpucsr/selector/gpselwisdom.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GP_SEL_PRODUCTS 5 /* products between two events of a measurement */

static void GpSelAppendReason(GpChoice *choice, const char *format, ...)
{
  const size_t used = strlen(choice->why);
  va_list      args;

  va_start(args, format);
  vsnprintf(choice->why + used, sizeof(choice->why) - used, format, args);
  va_end(args);
}

/* Builds the format of a candidate and sets *built. If that fails, appends the reason to choice->why. Only a failure of the device is an error. */
static GpErr GpSelTry(const GpSelOptions *options, const GpCsr *A, const int32_t rowptr[], int kernel, GpChoice *choice, GpFmt *fmt, int *built)
{
  const GpKernelRow *row = &GpKernelTable[kernel];
  const GpErr        err = GpFmtBuild(fmt, row->format, A, rowptr);
  double             bytes;

  *built = !err;
  if (err == GP_ERR_DEVICE) return err;
  if (err) {
    GpSelAppendReason(choice, "; not %s: %s", row->name, GpDevError(A->dev));
    return GP_SUCCESS;
  }
  bytes = GpFmtBytes(fmt);
  if (options->budget >= 0 && bytes > 0 && bytes > options->budget) {
    GpSelAppendReason(choice, "; not %s: its %.0f bytes beyond CSR exceed -mat_gpucsr_memory_limit", row->name, bytes);
    GpFmtDestroy(fmt);
    *built = 0;
  }
  return GP_SUCCESS;
}

/* seconds of a product: the faster of two batches, after one product to warm up */
static GpErr GpSelTime(const GpFmt *fmt, int kernel, const GpDevEvent event[2], const double *x, double *y, double *seconds)
{
  GpDev          dev  = fmt->csr->dev;
  const GpSpmvFn mult = GpKernelTable[kernel].mult[GpDevKindOf(dev)][fmt->csr->prec];
  GpErr          err  = mult(fmt, x, NULL, y);

  for (int batch = 0; batch < 2 && !err; batch++) {
    double elapsed = 0;

    err = GpDevEventRecord(dev, event[0]);
    for (int p = 0; p < GP_SEL_PRODUCTS && !err; p++) err = mult(fmt, x, NULL, y);
    if (!err) err = GpDevEventRecord(dev, event[1]);
    if (!err) err = GpDevEventWait(dev, event[1]);
    if (!err) err = GpDevEventSeconds(dev, event[0], event[1], &elapsed);
    if (!batch || elapsed < *seconds * GP_SEL_PRODUCTS) *seconds = elapsed / GP_SEL_PRODUCTS;
  }
  return err;
}

/* builds and times the first candidates; keeps the fastest in fmt */
static GpErr GpSelMeasure(const GpSelOptions *options, const GpCsr *A, const int32_t rowptr[], const GpDevEvent event[2], const double *x, double *y, GpChoice *choice, GpFmt *fmt)
{
  int   best = -1, second = -1, timed = 0;
  GpErr err = GP_SUCCESS;

  GpSelAppendReason(choice, "; measured");
  for (int c = 0; c < choice->candidates && timed < GP_SEL_MEASURED && !err; c++) {
    const int kernel = choice->candidate[c];
    GpFmt     trial;
    int       built;

    err = GpSelTry(options, A, rowptr, kernel, choice, &trial, &built);
    if (err || !built) continue;
    err = GpSelTime(&trial, kernel, event, x, y, &choice->seconds[c]);
    GpSelAppendReason(choice, "%s %s %.3g us", timed++ ? "," : "", GpKernelTable[kernel].name, 1e6 * choice->seconds[c]);
    if (!err && (best < 0 || choice->seconds[c] < choice->seconds[best])) {
      if (best >= 0) GpFmtDestroy(fmt);
      *fmt   = trial;
      second = best;
      best   = c;
    } else {
      if (second < 0 || choice->seconds[c] < choice->seconds[second]) second = c;
      GpFmtDestroy(&trial);
    }
  }
  choice->kernel    = best < 0 ? -1 : choice->candidate[best];
  choice->runner_up = second < 0 ? -1 : choice->candidate[second];
  return err;
}

/* creates the vectors and events of a measurement; x is zero, which does not change the time of a product */
static GpErr GpSelMeasureIn(const GpSelOptions *options, const GpCsr *A, const int32_t rowptr[], GpChoice *choice, GpFmt *fmt)
{
  GpDev        dev = A->dev;
  const size_t nx = (size_t)A->n * sizeof(double), ny = (size_t)A->m * sizeof(double);
  GpDevEvent   event[2] = {NULL, NULL};
  double      *x = NULL, *y = NULL;
  GpErr        err = GpDevAlloc(dev, nx, &x);

  if (!err) err = GpDevAlloc(dev, ny, &y);
  if (!err) err = GpDevZero(dev, x, nx);
  for (int e = 0; e < 2 && !err; e++) err = GpDevEventCreate(dev, &event[e]);
  if (!err) err = GpSelMeasure(options, A, rowptr, event, x, y, choice, fmt);
  for (int e = 0; e < 2; e++)
    if (event[e]) GpDevEventDestroy(dev, event[e]);
  GpDevFree(dev, &x, nx);
  GpDevFree(dev, &y, ny);
  return err;
}

/* Builds the kernel that an earlier measurement has found, or measures and remembers the fastest. */
static GpErr GpSelRememberOrMeasure(const GpSelOptions *options, const GpCsr *A, const int32_t rowptr[], const GpFeatures *F, GpChoice *choice, GpFmt *fmt)
{
  const int known = GpSelWisdomFind(options, A, F);
  int       built = 0;
  GpErr     err   = GP_SUCCESS;

  if (known >= 0) {
    GpSelAppendReason(choice, "; measured earlier (-gpucsr_wisdom)");
    err = GpSelTry(options, A, rowptr, known, choice, fmt, &built);
    if (built) {
      choice->kernel    = known;
      choice->runner_up = -1;
    }
    if (err || built) return err;
  }
  err = GpSelMeasureIn(options, A, rowptr, choice, fmt);
  if (!err && choice->kernel < 0) err = GpDevFail(A->dev, GP_ERR_MEMORY, "%s", choice->why);
  for (int c = 0; c < choice->candidates && !err && known < 0; c++) {
    if (choice->candidate[c] != choice->kernel) continue;
    err = GpSelWisdomAdd(options, A, F, choice->kernel, choice->seconds[c]);
    if (err) GpFmtDestroy(fmt);
    break;
  }
  return err;
}

GpErr GpSelBuild(const GpSelOptions *options, const GpCsr *A, const int32_t rowptr[], GpFeatures *F, GpChoice *choice, GpFmt *fmt)
{
  GpErr err   = GP_SUCCESS;
  int   built = 0;

  if (GpDevKindOf(A->dev) == GP_DEV_HOST) { /* there is no cost model for the host; the rule needs row lengths only */
    GpSelRows(A->dev, A->m, A->n, A->rowptr, F);
    GpSelChoose(options, F, choice);
  } else err = GpSelDecide(options, A, F, choice);
  if (err) return err;
  if (options->mode == GP_SELECT_MEASURE && options->kernel < 0) return GpSelRememberOrMeasure(options, A, rowptr, F, choice, fmt);
  for (int c = 0; c < choice->candidates && !built; c++) {
    err = GpSelTry(options, A, rowptr, choice->candidate[c], choice, fmt, &built);
    if (err) return err;
    choice->kernel    = choice->candidate[c];
    choice->runner_up = c + 1 < choice->candidates ? choice->candidate[c + 1] : -1;
  }
  return built ? GP_SUCCESS : GpDevFail(A->dev, GP_ERR_MEMORY, "%s", choice->why);
}
