/* The interface of a painter, which writes what is drawn on a canvas. Its functions are called on the first rank only. */
#ifndef GPUCSR_APPPAINTER_H
#define GPUCSR_APPPAINTER_H

#include "app/picture/appcanvas.h"

/* The shape of a marker: its corners as multiples of the radius, down is positive. A disc has no corners. */
typedef struct {
  int    n;
  double x[4], y[4];
} GpAppShape;

struct _n_GpAppPainter {
  PetscBool plain; /* it draws only ASCII, in letters of equal width */
  PetscErrorCode (*open)(GpAppCanvas *);
  PetscErrorCode (*curve)(GpAppCanvas *, PetscInt n, const double x[], const double y[], GpAppColour, double width, GpAppLine);
  PetscErrorCode (*fill)(GpAppCanvas *, PetscInt n, const double x[], const double y[], const GpAppShape *, double radius, GpAppColour);
  PetscErrorCode (*text)(GpAppCanvas *, double x, double y, GpAppCanvasAnchor, GpAppTextSize, const char text[]); /* clean UTF-8 */
  PetscErrorCode (*close)(GpAppCanvas *);
};

/* lengths of dashes and gaps of a line in multiples of its width; 0: solid */
static const double GpAppDashes[GP_APP_LINES][2] = {{0, 0}, {4, 2}, {1, 1.5}};

PETSC_EXTERN const GpAppPainter GpAppPainterSVG, GpAppPainterDraw, GpAppPainterPDF, GpAppPainterPNG, GpAppPainterCairoSVG;

PETSC_EXTERN const char *GpAppCairoLoad(void);
PETSC_EXTERN const char *GpAppDrawGetEnding(const char file[]);
PETSC_EXTERN const char *GpAppPainterGetRGB(GpAppColour);

#endif
