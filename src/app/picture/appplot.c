/* Plots of curves. */
#include "app/picture/appplot.h"
#include "app/picture/appaxes.h"
#include <math.h>

#define WIDTH   560
#define HEIGHT  300 /* of the plot without title and labels */
#define RIGHT   24
#define CURVES  7
#define MARKERS 60 /* a curve with at most so many points has markers */

/* Fits one coordinate of all points that an axis can show. */
static void PlotFitAxis(const GpAppPlot *plot, PetscBool across, GpAppAxis *a)
{
  double low = INFINITY, high = -INFINITY;

  GpAppAxisFit(a, across ? plot->xlabel : plot->ylabel, (PetscBool)(!across || plot->xlog), low, high);
  for (int c = 0; c < plot->n; c++) {
    for (PetscInt i = 0; i < plot->curves[c].n; i++) {
      const double v = across ? plot->curves[c].x[i] : plot->curves[c].y[i];

      if (!GpAppAxisShows(a, v)) continue;
      low  = fmin(low, v);
      high = fmax(high, v);
    }
  }
  GpAppAxisFit(a, a->label, a->log, low, high);
}

/* Draws a curve without the points that an axis cannot show. */
static PetscErrorCode PlotDrawCurve(GpAppCanvas *C, const GpAppFrame *F, const GpAppAxis *x, const GpAppAxis *y, const GpAppCurve *curve, int style)
{
  double  *across, *down;
  PetscInt n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(curve->n, &across, curve->n, &down));
  for (PetscInt i = 0; i < curve->n; i++) {
    if (!GpAppAxisShows(x, curve->x[i]) || !GpAppAxisShows(y, curve->y[i])) continue;
    across[n] = GpAppAxisPlace(x, F->left, F->right, curve->x[i]);
    down[n++] = GpAppAxisPlace(y, F->bottom, F->top, curve->y[i]);
  }
  PetscCall(GpAppCanvasDrawCurve(C, n, across, down, (GpAppColour)(style % GP_APP_CANVAS_HUES), 2, (GpAppLine)(style % GP_APP_LINES)));
  if (n <= MARKERS) PetscCall(GpAppCanvasDrawMarkers(C, n, across, down, n == 1 ? 4 : 2.5, style));
  PetscCall(PetscFree2(across, down));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the plot, and computes the height of the picture. */
static PetscErrorCode PlotDraw(GpAppCanvas *C, const GpAppPlot *plot, double *height)
{
  GpAppLegend legend[CURVES];
  GpAppHeader header = {plot->title, plot->note, "", 0, legend};
  GpAppFrame  F      = {0, 0, WIDTH - RIGHT, 0};
  GpAppAxis   x, y;

  PetscFunctionBegin;
  for (int c = 0; c < plot->n && c < CURVES; c++)
    if (plot->curves[c].name) legend[header.n++] = (GpAppLegend){plot->curves[c].name, GP_APP_LEGEND_LINE, c};
  PlotFitAxis(plot, PETSC_TRUE, &x);
  PlotFitAxis(plot, PETSC_FALSE, &y);
  GpAppAxisSetTicks(C, &y, HEIGHT, PETSC_FALSE);
  F.left = GpAppAxesGetLeft(&y);
  GpAppAxisSetTicks(C, &x, F.right - F.left, PETSC_TRUE);
  PetscCall(GpAppHeaderDraw(C, &header, F.left, F.right, &F.top));
  F.bottom = F.top + HEIGHT;
  PetscCall(GpAppAxesDraw(C, &F, &x, &y, height));
  for (int c = plot->n - 1; c >= 0; c--) PetscCall(PlotDrawCurve(C, &F, &x, &y, &plot->curves[c], c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks before the computation that a plot can be written to this file. Collective. */
PetscErrorCode GpAppPlotProbe(MPI_Comm comm, const char file[])
{
  PetscFunctionBegin;
  PetscCall(GpAppCanvasProbe(comm, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a plot in the format of the ending of the file. Points that an axis cannot show are left out. Collective. */
PetscErrorCode GpAppPlotWrite(MPI_Comm comm, const char file[], const GpAppPlot *plot)
{
  GpAppCanvas C;
  double      height = 0;

  PetscFunctionBegin;
  PetscCall(GpAppCanvasCreate(comm, file, NULL, &C));
  if (C.there) PetscCall(PlotDraw(&C, plot, &height)); /* before the canvas is open, this only computes the height */
  PetscCall(GpAppCanvasOpen(&C, WIDTH, height));
  if (C.there) PetscCall(PlotDraw(&C, plot, &height));
  PetscCall(GpAppCanvasClose(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
