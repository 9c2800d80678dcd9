/* Painter of windows and images by PetscDraw. */
#include "app/picture/apppainter.h"
#include <errno.h>
#include <string.h>

/* temporary directory of an image, and the names that the image may have; the name depends on the version of PETSc */
typedef struct {
  PetscDraw    draw;
  GpAppScratch scratch;
  char         image[GP_APP_CANVAS_IMAGES][32];
} DrawTarget;

static const int Colours[GP_APP_COLOURS] = {PETSC_DRAW_BLUE, PETSC_DRAW_RED, PETSC_DRAW_FORESTGREEN, PETSC_DRAW_ORANGE, PETSC_DRAW_VIOLET, PETSC_DRAW_CYAN, PETSC_DRAW_BLACK, PETSC_DRAW_GRAY, PETSC_DRAW_POWDERBLUE, PETSC_DRAW_WHITE};

/* Returns the ending of a file name if PetscDraw writes this image format, else NULL. */
const char *GpAppDrawGetEnding(const char file[])
{
  static const char *const endings[] = {".ppm", ".gif", ".jpg"};
  const char              *dot       = strrchr(file, '.');

  for (size_t k = 0; dot && k < PETSC_STATIC_ARRAY_LENGTH(endings); k++)
    if (!strcmp(dot, endings[k])) return endings[k];
  return NULL;
}

/*
  Opens an image in a folder of its own, since PetscDraw writes to a name that it makes up itself. After a failure nothing is drawn, and the output
  cannot be committed.
*/
static PetscErrorCode PaintDrawOpenImage(GpAppCanvas *C, DrawTarget *T)
{
  const char *const images[GP_APP_CANVAS_IMAGES] = {T->image[0], T->image[1], T->image[2]}, *ending = GpAppDrawGetEnding(C->path);
  PetscOptions      options;
  char              name[PETSC_MAX_PATH_LEN];
  int               err;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(T->image[0], sizeof(T->image[0]), "picture%s", ending));
  PetscCall(PetscSNPrintf(T->image[1], sizeof(T->image[1]), "picture_0%s", ending));
  PetscCall(PetscSNPrintf(T->image[2], sizeof(T->image[2]), "picture.%s", ending));
  err = GpAppScratchCreate(GP_APP_CANVAS_IMAGES, images, (size_t)(4 * C->W * C->H) + (1 << 16), &T->scratch);
  if (err) {
    PetscCall(PetscSNPrintf(C->out.failed, sizeof(C->out.failed), "no image in the directory for temporary files (TMPDIR or /tmp): %s", strerror(err)));
    C->open = PETSC_FALSE;
    PetscCall(PetscFPTrapPop());
    PetscCall(PetscFree(C->data));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "/proc/self/fd/%d/%s", T->scratch.folder, T->image[0])); /* PETSc takes all that follows the first dot for the ending, and TMPDIR may hold one */
  PetscCall(PetscDrawOpenImage(PETSC_COMM_SELF, name, (int)C->W, (int)C->H, &T->draw));
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsSetValue(options, "-draw_save_single_file", "1"));
  PetscCall(PetscObjectSetOptions((PetscObject)T->draw, options));
  PetscCall(PetscDrawSetFromOptions(T->draw));
  PetscCall(PetscObjectSetOptions((PetscObject)T->draw, NULL));
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintDrawOpen(GpAppCanvas *C)
{
  DrawTarget *T;

  PetscFunctionBegin;
  PetscCall(PetscNew(&T));
  C->data = T;
  if (C->window) {
    PetscCall(PetscDrawCreate(PETSC_COMM_SELF, NULL, NULL, PETSC_DECIDE, PETSC_DECIDE, (int)C->W, (int)C->H, &T->draw));
    PetscCall(PetscDrawSetOptionsPrefix(T->draw, C->prefix));
    PetscCall(PetscDrawSetFromOptions(T->draw));
  } else PetscCall(PaintDrawOpenImage(C, T));
  if (!C->open) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDrawSetCoordinates(T->draw, 0, 0, C->W, C->H));
  PetscCall(PetscDrawClear(T->draw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintDrawCurve(GpAppCanvas *C, PetscInt n, const double x[], const double y[], GpAppColour colour, double width, GpAppLine line)
{
  const PetscDraw draw = ((DrawTarget *)C->data)->draw;

  PetscFunctionBegin;
  for (PetscInt k = 1; k < n; k++) PetscCall(PetscDrawLine(draw, x[k - 1], C->H - y[k - 1], x[k], C->H - y[k], Colours[colour]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintDrawFill(GpAppCanvas *C, PetscInt n, const double across[], const double down[], const GpAppShape *shape, double radius, GpAppColour colour)
{
  const PetscDraw draw = ((DrawTarget *)C->data)->draw;
  const int       c    = Colours[colour];

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const double x = PetscFloorReal(across[i]), y = PetscFloorReal(down[i]); /* centres on whole pixels, so that all markers have equal size */
    double       px[4], py[4];

    for (int k = 0; k < shape->n; k++) {
      px[k] = x + radius * shape->x[k];
      py[k] = C->H - (y + radius * shape->y[k]);
    }
    if (!shape->n && radius < 2) PetscCall(PetscDrawRectangle(draw, x - radius, C->H - y - radius, x + radius, C->H - y + radius, c, c, c, c)); /* PetscDrawEllipse() does not terminate for an ellipse smaller than a pixel */
    else if (!shape->n) PetscCall(PetscDrawEllipse(draw, x, C->H - y, 2 * radius, 2 * radius, c));
    for (int k = 2; k < shape->n; k++) PetscCall(PetscDrawTriangle(draw, px[0], py[0], px[k - 1], py[k - 1], px[k], py[k], c, c, c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintDrawText(GpAppCanvas *C, double x, double y, GpAppCanvasAnchor anchor, GpAppTextSize size, const char text[])
{
  const PetscDraw draw = ((DrawTarget *)C->data)->draw;
  const double    n    = (double)strlen(text);
  PetscReal       width, height;

  PetscFunctionBegin;
  PetscCall(PetscDrawStringGetSize(draw, &width, &height));
  if (anchor == GP_APP_CANVAS_VERTICAL) PetscCall(PetscDrawStringVertical(draw, x, C->H - y + n * height / 2, PETSC_DRAW_BLACK, text));
  else PetscCall(PetscDrawString(draw, x - (anchor == GP_APP_CANVAS_MIDDLE ? n * width / 2 : anchor == GP_APP_CANVAS_END ? n * width : 0), C->H - y, PETSC_DRAW_BLACK, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the image that PetscDraw has written into the output. */
static PetscErrorCode PaintDrawCopyImage(GpAppCanvas *C, DrawTarget *T)
{
  char   name[PETSC_MAX_PATH_LEN], piece[1 << 14];
  size_t n;
  FILE  *fp = NULL;

  PetscFunctionBegin;
  for (int k = 0; k < GP_APP_CANVAS_IMAGES && !fp; k++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s/%s", T->scratch.path, T->image[k]));
    fp = fopen(name, "rb");
  }
  if (!fp) PetscCall(PetscSNPrintf(C->out.failed, sizeof(C->out.failed), "PetscDraw has written no image in %.60s", T->scratch.path));
  while (fp && (n = fread(piece, 1, sizeof(piece), fp)) > 0) (void)fwrite(piece, 1, n, C->out.fp);
  if (fp && ferror(fp)) PetscCall(PetscSNPrintf(C->out.failed, sizeof(C->out.failed), "the image that PetscDraw has written cannot be read: %s", strerror(errno)));
  if (fp) (void)fclose(fp);
  GpAppScratchRemove(&T->scratch);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintDrawClose(GpAppCanvas *C)
{
  DrawTarget *T = (DrawTarget *)C->data;

  PetscFunctionBegin;
  PetscCall(PetscDrawFlush(T->draw));
  PetscCall(PetscDrawSave(T->draw));
  if (C->window) PetscCall(PetscDrawPause(T->draw));
  PetscCall(PetscDrawDestroy(&T->draw));
  if (!C->window) PetscCall(PaintDrawCopyImage(C, T));
  PetscCall(PetscFree(C->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const GpAppPainter GpAppPainterDraw = {PETSC_TRUE, PaintDrawOpen, PaintDrawCurve, PaintDrawFill, PaintDrawText, PaintDrawClose};
