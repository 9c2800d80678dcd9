/* Drawing surface of the pictures: an SVG file, or PetscDraw with an image file or with the target that its options select. */
#include "app/picture/appcanvas.h"
#include "app/report/appescape.h"
#include <errno.h>
#include <string.h>

static const struct {
  const char *svg;
  int         draw;
} Colours[GP_APP_CANVAS_COLOURS] = {
  {"#1f77b4", PETSC_DRAW_BLUE},     {"#d62728", PETSC_DRAW_RED},  {"#2ca02c", PETSC_DRAW_LIMEGREEN}, {"#ff7f0e", PETSC_DRAW_ORANGE}, {"#9467bd", PETSC_DRAW_VIOLET},   {"#8c564b", PETSC_DRAW_BROWN},
  {"#e377c2", PETSC_DRAW_DEEPPINK}, {"#17becf", PETSC_DRAW_CYAN}, {"#bcbd22", PETSC_DRAW_KHAKI},     {"#7f7f7f", PETSC_DRAW_GRAY},   {"#1a3a6b", PETSC_DRAW_NAVYBLUE}, {"#000000", PETSC_DRAW_BLACK},
};

/* Returns the extension of a file name if PetscDraw can write this image format, else NULL. */
static const char *CanvasGetImageEnding(const char file[])
{
  static const char *const endings[] = {".ppm", ".png", ".gif", ".jpg"};
  const char              *dot       = strrchr(file, '.');

  for (size_t k = 0; dot && k < sizeof(endings) / sizeof(endings[0]); k++)
    if (!strcmp(dot, endings[k])) return endings[k];
  return NULL;
}

static PetscBool CanvasIsDraw(const char file[])
{
  return (PetscBool)!strcmp(file, "draw");
}

/* Checks before the computation that PETSc can write such a picture.  Collective. */
PetscErrorCode GpAppCanvasProbe(MPI_Comm comm, const char file[])
{
  const char    *ending = CanvasGetImageEnding(file);
  char           name[16];
  PetscDraw      draw = NULL;
  PetscErrorCode err;

  PetscFunctionBegin;
  if (!file[0] || CanvasIsDraw(file)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!ending) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(name, sizeof(name), "probe%s", ending)); /* PETSc raises an error for formats that it was built without */
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = PetscDrawOpenImage(comm, name, 1, 1, &draw);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err != PETSC_ERR_SUP, comm, PETSC_ERR_USER_INPUT, "picture %s: this PETSc was built without support for %s; use the ending .svg or .ppm", file, ending);
  PetscCall(err);
  PetscCall(PetscDrawDestroy(&draw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Opens an image in a folder of its own, since PetscDraw writes to a name that it makes up itself. After a failure nothing is drawn, and the output
  cannot be committed.
*/
static PetscErrorCode CanvasOpenImage(GpAppCanvas *C, const char ending[])
{
  const char *const images[GP_APP_CANVAS_IMAGES] = {C->image[0], C->image[1], C->image[2]};
  PetscOptions      options;
  char              name[PETSC_MAX_PATH_LEN];
  int               err;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(C->image[0], sizeof(C->image[0]), "picture%s", ending));
  PetscCall(PetscSNPrintf(C->image[1], sizeof(C->image[1]), "picture_0%s", ending));
  PetscCall(PetscSNPrintf(C->image[2], sizeof(C->image[2]), "picture.%s", ending));
  err = GpAppScratchCreate(GP_APP_CANVAS_IMAGES, images, (size_t)(4 * C->W * C->H) + (1 << 16), &C->scratch);
  if (err) {
    PetscCall(PetscSNPrintf(C->out.failed, sizeof(C->out.failed), "no image in the directory for temporary files (TMPDIR or /tmp): %s", strerror(err)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "/proc/self/fd/%d/%s", C->scratch.folder, C->image[0])); /* PETSc takes all that follows the first dot for the ending, and TMPDIR may hold one */
  PetscCall(PetscDrawOpenImage(PETSC_COMM_SELF, name, (int)C->W, (int)C->H, &C->draw));
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsSetValue(options, "-draw_save_single_file", "1"));
  PetscCall(PetscObjectSetOptions((PetscObject)C->draw, options));
  PetscCall(PetscDrawSetFromOptions(C->draw));
  PetscCall(PetscObjectSetOptions((PetscObject)C->draw, NULL));
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins a picture of W x H pixels, whose origin is the upper left corner. PetscDraw writes files that end in .ppm, .png, .gif and .jpg; "draw" uses the target of PetscDraw's
   options with this prefix; any other name gives SVG. Without a prefix all names give SVG. The first rank draws. Collective. */
PetscErrorCode GpAppCanvasOpen(MPI_Comm comm, const char file[], const char prefix[], double W, double H, GpAppCanvas *C)
{
  const char *ending = prefix ? CanvasGetImageEnding(file) : NULL;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(C, sizeof(*C)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  C->W     = W;
  C->H     = H;
  C->there = (PetscBool)!rank;
  C->file  = (PetscBool)(!prefix || !CanvasIsDraw(file));
  if (C->file) PetscCall(GpAppOutputOpen(comm, file, &C->out));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  if (ending) PetscCall(CanvasOpenImage(C, ending));
  else if (!C->file) {
    PetscCall(PetscDrawCreate(PETSC_COMM_SELF, NULL, NULL, PETSC_DECIDE, PETSC_DECIDE, (int)W, (int)H, &C->draw));
    PetscCall(PetscDrawSetOptionsPrefix(C->draw, prefix));
    PetscCall(PetscDrawSetFromOptions(C->draw));
  }
  if (C->draw) {
    PetscCall(PetscDrawSetCoordinates(C->draw, 0, 0, W, H));
    PetscCall(PetscDrawClear(C->draw));
  } else (void)fprintf(C->out.fp, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", W, H, W, H);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppCanvasDrawDisc(GpAppCanvas *C, double x, double y, double radius, int colour, double opacity)
{
  const int c = Colours[colour].draw;

  PetscFunctionBegin;
  if (C->draw) { /* centres on whole pixels, so that all discs have equal size */
    x = PetscFloorReal(x);
    y = PetscFloorReal(y);
  }
  if (C->draw && radius < 2) PetscCall(PetscDrawRectangle(C->draw, x - radius, C->H - y - radius, x + radius, C->H - y + radius, c, c, c, c)); /* PetscDrawEllipse() does not terminate for an ellipse smaller than a pixel */
  else if (C->draw) PetscCall(PetscDrawEllipse(C->draw, x, C->H - y, 2 * radius, 2 * radius, c));
  else {
    (void)fprintf(C->out.fp, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"", x, y, radius, Colours[colour].svg);
    if (opacity < 1) (void)fprintf(C->out.fp, " fill-opacity=\"%g\"", opacity);
    (void)fputs("/>\n", C->out.fp);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppCanvasDrawLine(GpAppCanvas *C, double x0, double y0, double x1, double y1, PetscBool light)
{
  PetscFunctionBegin;
  if (C->draw) PetscCall(PetscDrawLine(C->draw, x0, C->H - y0, x1, C->H - y1, PETSC_DRAW_GRAY));
  else (void)fprintf(C->out.fp, "<path d=\"M%g %g L%g %g\" stroke=\"%s\"/>\n", x0, y0, x1, y1, light ? "#ddd" : "#888");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CanvasDrawString(GpAppCanvas *C, double x, double y, GpAppCanvasAnchor anchor, const char text[])
{
  const double n = (double)strlen(text);
  PetscReal    width, height;

  PetscFunctionBegin;
  PetscCall(PetscDrawStringGetSize(C->draw, &width, &height));
  if (anchor == GP_APP_CANVAS_VERTICAL) PetscCall(PetscDrawStringVertical(C->draw, x, C->H - y + n * height / 2, PETSC_DRAW_BLACK, text));
  else PetscCall(PetscDrawString(C->draw, x - (anchor == GP_APP_CANVAS_MIDDLE ? n * width / 2 : anchor == GP_APP_CANVAS_END ? n * width : 0), C->H - y, PETSC_DRAW_BLACK, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws text at (x, y): starting, centred or ending there, or vertical and centred there. */
PetscErrorCode GpAppCanvasDrawText(GpAppCanvas *C, double x, double y, GpAppCanvasAnchor anchor, const char text[])
{
  static const char *const anchors[] = {"start", "middle", "end", "middle"};

  PetscFunctionBegin;
  if (C->draw) {
    PetscCall(CanvasDrawString(C, x, y, anchor, text));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  (void)fprintf(C->out.fp, "<text transform=\"translate(%.1f %.1f)%s\" text-anchor=\"%s\">", x, y, anchor == GP_APP_CANVAS_VERTICAL ? " rotate(-90)" : "", anchors[anchor]);
  GpAppWriteXML(C->out.fp, text);
  (void)fputs("</text>\n", C->out.fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the image that PetscDraw has written into the output. */
static PetscErrorCode CanvasCopyImage(GpAppCanvas *C)
{
  char   name[PETSC_MAX_PATH_LEN], piece[1 << 14];
  size_t n;
  FILE  *fp = NULL;

  PetscFunctionBegin;
  for (int k = 0; k < GP_APP_CANVAS_IMAGES && !fp; k++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s/%s", C->scratch.path, C->image[k]));
    fp = fopen(name, "rb");
  }
  if (!fp) PetscCall(PetscSNPrintf(C->out.failed, sizeof(C->out.failed), "PetscDraw has written no image in %.60s", C->scratch.path));
  while (fp && (n = fread(piece, 1, sizeof(piece), fp)) > 0) (void)fwrite(piece, 1, n, C->out.fp);
  if (fp && ferror(fp)) PetscCall(PetscSNPrintf(C->out.failed, sizeof(C->out.failed), "the image that PetscDraw has written cannot be read: %s", strerror(errno)));
  if (fp) (void)fclose(fp);
  GpAppScratchRemove(&C->scratch);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws a curve through n points. */
PetscErrorCode GpAppCanvasDrawCurve(GpAppCanvas *C, PetscInt n, const double x[], const double y[], int colour)
{
  PetscFunctionBegin;
  for (PetscInt k = 1; k < n && C->draw; k++) PetscCall(PetscDrawLine(C->draw, x[k - 1], C->H - y[k - 1], x[k], C->H - y[k], Colours[colour].draw));
  if (C->draw) PetscFunctionReturn(PETSC_SUCCESS);
  (void)fprintf(C->out.fp, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", Colours[colour].svg);
  for (PetscInt k = 0; k < n; k++) (void)fprintf(C->out.fp, "%.1f,%.1f ", x[k], y[k]);
  (void)fputs("\"/>\n", C->out.fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finishes a picture.  Collective. */
PetscErrorCode GpAppCanvasClose(GpAppCanvas *C)
{
  PetscFunctionBegin;
  if (C->draw) {
    PetscCall(PetscDrawFlush(C->draw));
    PetscCall(PetscDrawSave(C->draw));
    if (!C->file) PetscCall(PetscDrawPause(C->draw));
    PetscCall(PetscDrawDestroy(&C->draw));
    if (C->file) PetscCall(CanvasCopyImage(C));
  } else if (C->there) (void)fputs("</svg>\n", C->out.fp);
  if (C->file) PetscCall(GpAppOutputCommit(&C->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
