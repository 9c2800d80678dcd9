/* Markers of groups of points, crosses, and the numbers along an axis. */
#include "app/picture/appcanvas.h"
#include <math.h>

#define COLOURS 7
#define SHAPES  5

/* The "bright" colours of P. Tol, which people with colour-blindness can tell apart, and the nearest ones of PetscDraw */
static const struct {
  const char *svg;
  int         draw;
} Palette[COLOURS] = {
  {"#4477aa", PETSC_DRAW_BLUE}, {"#ee6677", PETSC_DRAW_RED}, {"#228833", PETSC_DRAW_FORESTGREEN}, {"#ccbb44", PETSC_DRAW_GOLD}, {"#66ccee", PETSC_DRAW_CYAN}, {"#aa3377", PETSC_DRAW_VIOLET}, {"#bbbbbb", PETSC_DRAW_GRAY},
};

/* The corners of a shape, as multiples of the radius; down is positive. A disc has none. */
static const struct {
  int    n;
  double x[4], y[4];
} Shapes[SHAPES] = {
  {0, {0, 0, 0, 0}, {0, 0, 0, 0}}, {4, {-0.9, 0.9, 0.9, -0.9}, {-0.9, -0.9, 0.9, 0.9}}, {3, {-1.1, 1.1, 0, 0}, {0.9, 0.9, -1.2, 0}}, {4, {-1.2, 0, 1.2, 0}, {0, -1.2, 0, 1.2}}, {3, {-1.1, 0, 1.1, 0}, {-0.9, 1.2, -0.9, 0}},
};

static PetscErrorCode MarkersDraw(GpAppCanvas *C, double x, double y, double radius, int shape, int colour)
{
  double px[4], py[4];

  PetscFunctionBegin;
  x = PetscFloorReal(x); /* centres on whole pixels, so that all markers have equal size */
  y = PetscFloorReal(y);
  for (int c = 0; c < Shapes[shape].n; c++) {
    px[c] = x + radius * Shapes[shape].x[c];
    py[c] = C->H - (y + radius * Shapes[shape].y[c]);
  }
  if (!Shapes[shape].n && radius < 2)
    PetscCall(PetscDrawRectangle(C->draw, x - radius, C->H - y - radius, x + radius, C->H - y + radius, colour, colour, colour, colour)); /* PetscDrawEllipse() does not terminate for an ellipse smaller than a pixel */
  else if (!Shapes[shape].n) PetscCall(PetscDrawEllipse(C->draw, x, C->H - y, 2 * radius, 2 * radius, colour));
  for (int c = 2; c < Shapes[shape].n; c++) PetscCall(PetscDrawTriangle(C->draw, px[0], py[0], px[c - 1], py[c - 1], px[c], py[c], colour, colour, colour));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws n markers of one style. The styles 0 to 34 differ in colour or shape, then they repeat. */
PetscErrorCode GpAppCanvasDrawMarkers(GpAppCanvas *C, PetscInt n, const double x[], const double y[], double radius, int style)
{
  const int colour = style % COLOURS, shape = style % SHAPES;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n && C->draw; i++) PetscCall(MarkersDraw(C, x[i], y[i], radius, shape, Palette[colour].draw));
  if (C->draw || !n) PetscFunctionReturn(PETSC_SUCCESS);
  if (Shapes[shape].n) (void)fprintf(C->out.fp, "<path fill=\"%s\" d=\"", Palette[colour].svg);
  else (void)fprintf(C->out.fp, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linecap=\"round\" d=\"", Palette[colour].svg, 2 * radius); /* a disc is a line of length 0 with round ends */
  for (PetscInt i = 0; i < n; i++) {
    (void)fprintf(C->out.fp, "M%.1f %.1f", x[i] + radius * Shapes[shape].x[0], y[i] + radius * Shapes[shape].y[0]);
    for (int c = 1; c < Shapes[shape].n; c++) (void)fprintf(C->out.fp, "l%g %g", radius * (Shapes[shape].x[c] - Shapes[shape].x[c - 1]), radius * (Shapes[shape].y[c] - Shapes[shape].y[c - 1]));
    (void)fputs(Shapes[shape].n ? "z" : "h0", C->out.fp);
  }
  (void)fputs("\"/>\n", C->out.fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws n upright black crosses with a white border. */
PetscErrorCode GpAppCanvasDrawCrosses(GpAppCanvas *C, PetscInt n, const double x[], const double y[], double radius)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n && C->draw; i++) {
    for (int wide = 1; wide >= 0; wide--) {
      const double r = radius + wide, half = 0.5 + wide, px = PetscFloorReal(x[i]), py = C->H - PetscFloorReal(y[i]);
      const int    c = wide ? PETSC_DRAW_WHITE : PETSC_DRAW_BLACK;

      PetscCall(PetscDrawRectangle(C->draw, px - r, py - half, px + r, py + half, c, c, c, c));
      PetscCall(PetscDrawRectangle(C->draw, px - half, py - r, px + half, py + r, c, c, c, c));
    }
  }
  for (int wide = 1; wide >= 0 && !C->draw && n; wide--) {
    (void)fprintf(C->out.fp, "<path stroke=\"%s\" stroke-width=\"%g\" d=\"", wide ? "white" : "black", wide ? radius / 4 + 3 : radius / 4);
    for (PetscInt i = 0; i < n; i++) (void)fprintf(C->out.fp, "M%.1f %.1fh%gM%.1f %.1fv%g", x[i] - radius - wide, y[i], 2 * (radius + wide), x[i], y[i] - radius - wide, 2 * (radius + wide));
    (void)fputs("\"/>\n", C->out.fp);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws lines and numbers along an axis of a frame from low to high: steps of 1, 2 or 5 times a power of ten. log: low and high are decimal logarithms, and the
   steps are decades. */
PetscErrorCode GpAppCanvasDrawTicks(GpAppCanvas *C, const GpAppFrame *F, double low, double high, PetscBool log, PetscBool horizontal)
{
  const double decade = pow(10, floor(log10((high - low) / 4))), part = (high - low) / 4 / decade, step = log ? PetscMax(1, ceil((high - low) / 12)) : decade * (part >= 5 ? 5 : part >= 2 ? 2 : 1);
  const double from = horizontal ? F->left : F->bottom, to = horizontal ? F->right : F->top;

  PetscFunctionBegin;
  for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    const double at = from + (k * step - low) / (high - low) * (to - from);
    char         number[32];

    if (log) (void)snprintf(number, sizeof(number), "1e%d", (int)(k * step));
    else (void)snprintf(number, sizeof(number), "%g", k == 0 ? 0 : k * step); /* not -0 */
    if (horizontal) {
      PetscCall(GpAppCanvasDrawLine(C, at, F->top, at, F->bottom, PETSC_TRUE));
      PetscCall(GpAppCanvasDrawText(C, at, F->bottom + 20, GP_APP_CANVAS_MIDDLE, number));
    } else {
      PetscCall(GpAppCanvasDrawLine(C, F->left, at, F->right, at, PETSC_TRUE));
      PetscCall(GpAppCanvasDrawText(C, F->left - 8, at + 4, GP_APP_CANVAS_END, number));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
