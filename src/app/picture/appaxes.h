/* Axes of a plot with round ticks; title, note and legend above it; names next to points. */
#ifndef GPUCSR_APPAXES_H
#define GPUCSR_APPAXES_H

#include "app/picture/appcanvas.h"

/* An axis. The members behind log are set by GpAppAxisSetTicks(). */
typedef struct {
  const char *label;     /* NULL: the axis has no ticks and no numbers */
  double      low, high; /* the ends; with a logarithmic axis their decimal logarithms */
  PetscBool   log;
  double      step;     /* between ticks; 0: ticks of a logarithmic axis at 1, 2 and 5 times the powers of ten */
  int         power;    /* the numbers along the axis are multiples of this power of ten */
  int         decimals; /* of the numbers */
  double      widest;   /* width of the widest number in pixels */
} GpAppAxis;

PETSC_EXTERN void           GpAppAxisFit(GpAppAxis *, const char label[], PetscBool log, double low, double high);
PETSC_EXTERN void           GpAppAxisSetTicks(const GpAppCanvas *, GpAppAxis *, double length, PetscBool horizontal);
PETSC_EXTERN PetscBool      GpAppAxisShows(const GpAppAxis *, double value);
PETSC_EXTERN double         GpAppAxisPlace(const GpAppAxis *, double from, double to, double value);
PETSC_EXTERN double         GpAppAxesGetLeft(const GpAppAxis *);
PETSC_EXTERN PetscErrorCode GpAppAxesDraw(GpAppCanvas *, const GpAppFrame *, const GpAppAxis *across, const GpAppAxis *up, double *bottom);

typedef enum {
  GP_APP_LEGEND_MARKER,
  GP_APP_LEGEND_LINE,
  GP_APP_LEGEND_CROSS
} GpAppLegendKind;

/* An entry of a legend */
typedef struct {
  const char     *text;
  GpAppLegendKind kind;
  int             style; /* of the marker; of a line: its colour and, modulo GP_APP_LINES, its dashes */
} GpAppLegend;

/* What stands above a plot. Empty texts are left out. */
typedef struct {
  const char        *title, *note, *heading; /* heading: before the legend */
  int                n;
  const GpAppLegend *legend; /* [n] */
} GpAppHeader;

PETSC_EXTERN PetscErrorCode GpAppHeaderDraw(GpAppCanvas *, const GpAppHeader *, double left, double right, double *bottom);
PETSC_EXTERN PetscErrorCode GpAppParagraphDraw(GpAppCanvas *, double left, double right, GpAppTextSize, const char text[], double *bottom);
PETSC_EXTERN PetscErrorCode GpAppNamesDraw(GpAppCanvas *, const GpAppFrame *, PetscInt n, const double x[], const double y[], double radius, const char names[], PetscInt *hidden);

#endif
