/* Plots of curves as SVG pictures. */
#include "app/picture/appplot.h"
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

/* lines and numbers along an axis: every decade, or steps of 1, 2 or 5 times a power of ten */
static void PlotDrawTicks(FILE *fp, const Scale *s, PetscBool horizontal)
{
  const double decade = pow(10, floor(log10((s->high - s->low) / 4))), part = (s->high - s->low) / 4 / decade, step = s->log ? PetscMax(1, ceil((s->high - s->low) / 12)) : decade * (part >= 5 ? 5 : part >= 2 ? 2 : 1);

  for (double v = ceil(s->low / step) * step; v <= s->high + 1e-9 * step; v += step) {
    const double at = s->from + (v - s->low) / (s->high - s->low) * (s->to - s->from);

    if (horizontal) (void)fprintf(fp, "<path d=\"M%.1f %d V%d\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", at, TOP, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 20);
    else (void)fprintf(fp, "<path d=\"M%d %.1f H%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT, at, WIDTH - RIGHT, LEFT - 8, at + 4);
    if (s->log) (void)fprintf(fp, "10<tspan dy=\"-5\" font-size=\"9\">%d</tspan></text>\n", (int)v);
    else (void)fprintf(fp, "%g</text>\n", v);
  }
}

/* Writes curves as an SVG picture, over a linear or logarithmic x axis and a logarithmic y axis. Points that an axis cannot show are left out. GpAppOutputCommit() reports write
   errors. */
void GpAppPlotWrite(GpAppOutput *out, const char xlabel[], PetscBool xlog, const char ylabel[], int n, const GpAppCurve curves[])
{
  static const char *const colours[] = {"#0b62a4", "#b8860b", "#a61c1c"};
  const Scale              x = PlotComputeScale(n, curves, PETSC_TRUE, xlog, LEFT, WIDTH - RIGHT), y = PlotComputeScale(n, curves, PETSC_FALSE, PETSC_TRUE, HEIGHT - BOTTOM, TOP);
  FILE                    *fp = out->fp;

  if (!fp) return;
  (void)fprintf(fp, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", WIDTH, HEIGHT);
  PlotDrawTicks(fp, &x, PETSC_TRUE);
  PlotDrawTicks(fp, &y, PETSC_FALSE);
  for (int c = 0; c < n; c++) {
    const char *colour = colours[c % 3];

    (void)fprintf(fp, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour);
    for (PetscInt i = 0; i < curves[c].n; i++) {
      if (PlotShows(&x, curves[c].x[i]) && PlotShows(&y, curves[c].y[i])) (void)fprintf(fp, "%.1f,%.1f ", PlotGetPlace(&x, curves[c].x[i]), PlotGetPlace(&y, curves[c].y[i]));
    }
    (void)fprintf(fp, "\"/>\n");
    if (curves[c].name) (void)fprintf(fp, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"%s\">%s</text>\n", WIDTH - RIGHT - 8, TOP + 18 * (c + 1), colour, curves[c].name);
  }
  (void)fprintf(fp, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n<text transform=\"translate(24 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n</svg>\n", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 15, xlabel, (TOP + HEIGHT - BOTTOM) / 2,
                ylabel);
}
