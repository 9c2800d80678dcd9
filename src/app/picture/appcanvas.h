/* Drawing surface of the pictures, whose files are written by Cairo, by own code for SVG, or by PetscDraw. */
#ifndef GPUCSR_APPCANVAS_H
#define GPUCSR_APPCANVAS_H

#include "app/output/appoutput.h"
#include <petscdraw.h>

#define GP_APP_CANVAS_STYLES 35 /* number of different markers of groups */
#define GP_APP_CANVAS_IMAGES 3
#define GP_APP_CANVAS_TEXT   256 /* bytes of the longest text, with its terminating zero */

/* The colours of M. Okabe and K. Ito, which people with colour-blindness can tell apart, without yellow, which is pale on white. Then colours of text and lines. */
typedef enum {
  GP_APP_BLUE,
  GP_APP_VERMILLION,
  GP_APP_GREEN,
  GP_APP_ORANGE,
  GP_APP_PURPLE,
  GP_APP_SKY,
  GP_APP_BLACK,
  GP_APP_GREY,
  GP_APP_LIGHT,
  GP_APP_WHITE,
  GP_APP_COLOURS
} GpAppColour;

#define GP_APP_CANVAS_HUES 7 /* the colours of groups: the first of the enumeration */

typedef enum {
  GP_APP_CANVAS_START,
  GP_APP_CANVAS_MIDDLE,
  GP_APP_CANVAS_END,
  GP_APP_CANVAS_VERTICAL
} GpAppCanvasAnchor;

typedef enum {
  GP_APP_TEXT_SMALL,
  GP_APP_TEXT_NORMAL,
  GP_APP_TEXT_TITLE /* bold */
} GpAppTextSize;

typedef enum {
  GP_APP_LINE_SOLID,
  GP_APP_LINE_DASHED,
  GP_APP_LINE_DOTTED,
  GP_APP_LINES
} GpAppLine;

/* The edges of the area of a plot, in pixels from the upper left corner of the picture */
typedef struct {
  double left, top, right, bottom;
} GpAppFrame;

typedef struct _n_GpAppPainter GpAppPainter;

/* The target of a picture */
typedef struct {
  MPI_Comm            comm;
  char                path[PETSC_MAX_PATH_LEN];
  const char         *prefix;  /* of the options of PetscDraw; NULL: no window can be opened */
  const GpAppPainter *painter; /* what writes the picture */
  void               *data;    /* of the painter */
  GpAppOutput         out;     /* output file, unset for a window of PetscDraw */
  double              W, H;    /* width and height in pixels */
  PetscBool           there;   /* this is the first rank, which draws */
  PetscBool           open;    /* this is the first rank, and the canvas is open: drawing has an effect */
  PetscBool           window;  /* the picture goes to a window */
} GpAppCanvas;

PETSC_EXTERN PetscErrorCode GpAppCanvasProbe(MPI_Comm, const char file[]);
PETSC_EXTERN PetscErrorCode GpAppCanvasCreate(MPI_Comm, const char file[], const char prefix[], GpAppCanvas *);
PETSC_EXTERN PetscErrorCode GpAppCanvasOpen(GpAppCanvas *, double W, double H);
PETSC_EXTERN PetscErrorCode GpAppCanvasClose(GpAppCanvas *);

PETSC_EXTERN PetscErrorCode GpAppCanvasDrawCurve(GpAppCanvas *, PetscInt n, const double x[], const double y[], GpAppColour, double width, GpAppLine);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawLine(GpAppCanvas *, double x0, double y0, double x1, double y1, GpAppColour);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawMarkers(GpAppCanvas *, PetscInt n, const double x[], const double y[], double radius, int style);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawCrosses(GpAppCanvas *, PetscInt n, const double x[], const double y[], double radius);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawBackground(GpAppCanvas *, double left, double top, double right, double bottom);
PETSC_EXTERN PetscErrorCode GpAppCanvasDrawText(GpAppCanvas *, double x, double y, GpAppCanvasAnchor, GpAppTextSize, const char text[]);

PETSC_EXTERN PetscBool GpAppCanvasIsPlain(const GpAppCanvas *);
PETSC_EXTERN double    GpAppCanvasGetTextSize(GpAppTextSize);
PETSC_EXTERN double    GpAppCanvasMeasureText(const GpAppCanvas *, GpAppTextSize, const char text[]);
PETSC_EXTERN void      GpAppTextClean(const char text[], PetscBool plain, char clean[GP_APP_CANVAS_TEXT]);
PETSC_EXTERN void      GpAppTextShorten(const GpAppCanvas *, GpAppTextSize, double width, const char text[], char result[GP_APP_CANVAS_TEXT]);

#endif
