/* Drawing surface of the pictures: an SVG file, or PetscDraw. */
#ifndef GPUCSR_APPCANVAS_H
#define GPUCSR_APPCANVAS_H

#include "app/output/appoutput.h"
#include <petscdraw.h>

#define GP_APP_CANVAS_COLOURS 12
#define GP_APP_CANVAS_IMAGES  3

typedef enum {
  GP_APP_CANVAS_START,
  GP_APP_CANVAS_MIDDLE,
  GP_APP_CANVAS_END,
  GP_APP_CANVAS_VERTICAL
} GpAppCanvasAnchor;

/* The edges of the area of a plot, in pixels from the upper left corner of the picture */
typedef struct {
  double left, top, right, bottom;
} GpAppFrame;

/* The target of a picture */
typedef struct {
  GpAppOutput out;   /* output file, unset for a window of PetscDraw */
  PetscDraw   draw;  /* NULL for SVG */
  double      W, H;  /* width and height in pixels */
  PetscBool   there; /* this is the first rank, which draws */
  PetscBool   file;  /* the picture goes to a file */

  /* temporary directory for PetscDraw, and the names that its image may have; the name depends on the version of PETSc */
  GpAppScratch scratch;
  char         image[GP_APP_CANVAS_IMAGES][32];
} GpAppCanvas;

PETSC_EXTERN PetscErrorCode GpAppCanvasProbe(MPI_Comm, const char file[]);
PETSC_EXTERN PetscErrorCode GpAppCanvasOpen(MPI_Comm, const char file[], const char prefix[], double W, double H, GpAppCanvas *);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawDisc(GpAppCanvas *, double x, double y, double radius, int colour, double opacity);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawLine(GpAppCanvas *, double x0, double y0, double x1, double y1, PetscBool light);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawText(GpAppCanvas *, double x, double y, GpAppCanvasAnchor, const char text[]);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawCurve(GpAppCanvas *, PetscInt n, const double x[], const double y[], int colour);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawMarkers(GpAppCanvas *, PetscInt n, const double x[], const double y[], double radius, int style);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawCrosses(GpAppCanvas *, PetscInt n, const double x[], const double y[], double radius);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawTicks(GpAppCanvas *, const GpAppFrame *, double low, double high, PetscBool log, PetscBool horizontal);
PETSC_EXTERN PetscErrorCode GpAppCanvasClose(GpAppCanvas *);

#endif
