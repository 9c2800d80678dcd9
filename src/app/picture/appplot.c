/* Plots of curves as SVG pictures. */
#include "app/picture/appplot.h"
#include "app/picture/appcanvas.h"
#include <math.h>

#define WIDTH  640
#define HEIGHT 440
#define LEFT   90
#define RIGHT  20
#define TOP    20
#define BOTTOM 60

/* A scale maps values to positions, linearly or by the decimal logarithm. */
typedef struct {
  PetscBool log;
  double    low, high, from, to;
} Scale;

static double PlotGetValue(const Scale *s, double v)
{
  return s->log ? log10(v) : v;
}

static double PlotGetPlace(const Scale *s, double v)
{
  return s->from + (PlotGetValue(s, v) - s->low) / (s->high - s->low) * (s->to - s->from);
}

static PetscBool PlotShows(const Scale *s, double v)
{
  return (PetscBool)(isfinite(v) && (!s->log || v > 0));
}

/* Computes the scale of one coordinate over all points that it can show. A logarithmic scale covers whole decades. */
static Scale PlotComputeScale(int n, const GpAppCurve curves[], PetscBool ofx, PetscBool log, double from, double to)
{
  Scale s = {log, INFINITY, -INFINITY, from, to};

  for (int c = 0; c < n; c++) {
    for (PetscInt i = 0; i < curves[c].n; i++) {
      const double v = ofx ? curves[c].x[i] : curves[c].y[i];

      if (!PlotShows(&s, v)) continue;
      s.low  = fmin(s.low, log ? floor(log10(v)) : v);
      s.high = fmax(s.high, log ? ceil(log10(v)) : v);
    }
  }
  if (!(s.low <= s.high)) s.low = 0, s.high = 1;
  if (s.high - s.low <= 1e-12 * fmax(fabs(s.low), fabs(s.high))) s.high = s.low + fmax(1, 1e-9 * fabs(s.low)); /* avoids an endless loop with steps below the rounding error */
  return s;
}

/* Draws a curve without the points that an axis cannot show. */
static PetscErrorCode PlotDrawCurve(GpAppCanvas *C, const Scale *x, const Scale *y, const GpAppCurve *curve, int colour)
{
  double  *across, *down;
  PetscInt n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(curve->n, &across, curve->n, &down));
  for (PetscInt i = 0; i < curve->n; i++) {
    if (!PlotShows(x, curve->x[i]) || !PlotShows(y, curve->y[i])) continue;
    across[n] = PlotGetPlace(x, curve->x[i]);
    down[n++] = PlotGetPlace(y, curve->y[i]);
  }
  PetscCall(GpAppCanvasDrawCurve(C, n, across, down, colour));
  PetscCall(PetscFree2(across, down));
  if (!curve->name) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpAppCanvasDrawDisc(C, WIDTH - RIGHT - 8, TOP + 18 * (colour + 1), 5, colour, 1));
  PetscCall(GpAppCanvasDrawText(C, WIDTH - RIGHT - 20, TOP + 18 * (colour + 1) + 4, GP_APP_CANVAS_END, curve->name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes curves as an SVG picture, over a linear or logarithmic x axis and a logarithmic y axis. Points that an axis cannot show are left out. Collective. */
PetscErrorCode GpAppPlotWrite(MPI_Comm comm, const char file[], const char xlabel[], PetscBool xlog, const char ylabel[], int n, const GpAppCurve curves[])
{
  const GpAppFrame frame = {LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM};
  GpAppCanvas      C;
  Scale            x, y;

  PetscFunctionBegin;
  PetscCall(GpAppCanvasOpen(comm, file, NULL, WIDTH, HEIGHT, &C));
  if (C.there) {
    x = PlotComputeScale(n, curves, PETSC_TRUE, xlog, LEFT, WIDTH - RIGHT);
    y = PlotComputeScale(n, curves, PETSC_FALSE, PETSC_TRUE, HEIGHT - BOTTOM, TOP);
    PetscCall(GpAppCanvasDrawTicks(&C, &frame, x.low, x.high, x.log, PETSC_TRUE));
    PetscCall(GpAppCanvasDrawTicks(&C, &frame, y.low, y.high, y.log, PETSC_FALSE));
    for (int c = 0; c < n; c++) PetscCall(PlotDrawCurve(&C, &x, &y, &curves[c], c));
    PetscCall(GpAppCanvasDrawText(&C, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 15, GP_APP_CANVAS_MIDDLE, xlabel));
    PetscCall(GpAppCanvasDrawText(&C, 24, (TOP + HEIGHT - BOTTOM) / 2, GP_APP_CANVAS_VERTICAL, ylabel));
  }
  PetscCall(GpAppCanvasClose(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
