/* Canvas: selects the painter of a picture by the ending of its file. */
#include "app/picture/appcanvas.h"
#include "app/picture/apppainter.h"
#include <string.h>

#define SHAPES 5

/* Convex shapes. The areas are about equal. */
static const GpAppShape Shapes[SHAPES] = {
  {0, {0, 0, 0, 0}, {0, 0, 0, 0}}, {4, {-0.9, 0.9, 0.9, -0.9}, {-0.9, -0.9, 0.9, 0.9}}, {3, {-1.1, 1.1, 0, 0}, {0.9, 0.9, -1.2, 0}}, {4, {-1.2, 0, 1.2, 0}, {0, -1.2, 0, 1.2}}, {3, {-1.1, 0, 1.1, 0}, {-0.9, 1.2, -0.9, 0}},
};

static PetscBool CanvasEndsWith(const char file[], const char ending[])
{
  const size_t n = strlen(file), m = strlen(ending);

  return (PetscBool)(n > m && !strcmp(file + n - m, ending));
}

/* Selects the painter of a file. SVG is the format of names without a known ending. Returns NULL if the format needs Cairo, and *why is the reason that it is missing. */
static const GpAppPainter *CanvasSelectPainter(const char file[], const char **why)
{
  const char *missing = NULL;

  *why = NULL;
  if (GpAppDrawGetEnding(file)) return &GpAppPainterDraw;
  missing = GpAppCairoLoad();
  if (CanvasEndsWith(file, ".pdf") || CanvasEndsWith(file, ".png")) {
    *why = missing;
    if (missing) return NULL;
    return CanvasEndsWith(file, ".pdf") ? &GpAppPainterPDF : &GpAppPainterPNG;
  }
  return missing ? &GpAppPainterSVG : &GpAppPainterCairoSVG;
}

/* Checks that this format of PetscDraw is supported: PETSc raises an error for formats that it was built without. */
static PetscErrorCode CanvasProbeDraw(MPI_Comm comm, const char file[], const char ending[])
{
  PetscDraw      draw = NULL;
  char           name[16];
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "probe%s", ending));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = PetscDrawOpenImage(comm, name, 1, 1, &draw);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err != PETSC_ERR_SUP, comm, PETSC_ERR_USER_INPUT, "picture %s: this PETSc was built without support for %s; use the ending .svg, .pdf or .png", file, ending);
  PetscCall(err);
  PetscCall(PetscDrawDestroy(&draw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks before the computation that a picture of this name can be drawn. An empty name is no picture. Collective. */
PetscErrorCode GpAppCanvasProbe(MPI_Comm comm, const char file[])
{
  static const char *const unknown[] = {".eps", ".ps", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".emf"};
  const char              *ending    = GpAppDrawGetEnding(file), *why;
  PetscMPIInt              rank, missing = 0;

  PetscFunctionBegin;
  if (!file[0] || !strcmp(file, "draw")) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(unknown); k++) PetscCheck(!CanvasEndsWith(file, unknown[k]), comm, PETSC_ERR_USER_INPUT, "picture %s: the format %s is not supported; use the ending .svg, .pdf or .png", file, unknown[k]);
  if (ending) PetscCall(CanvasProbeDraw(comm, file, ending));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) missing = !CanvasSelectPainter(file, &why);
  PetscCallMPI(MPI_Bcast(&missing, 1, MPI_INT, 0, comm)); /* only the first rank draws, and only its machine needs the library */
  if (!missing) PetscFunctionReturn(PETSC_SUCCESS);
  if (rank) why = "";
  PetscCheck(PETSC_FALSE, comm, PETSC_ERR_USER_INPUT, "picture %s: %s; install Cairo (Debian: libcairo2), or use the ending .svg", file, why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Selects the target of a picture. Endings that PetscDraw writes are .ppm, .gif and .jpg. "draw" opens a window of PetscDraw, whose options have this prefix; without a prefix it
   is the name of a file. The first rank draws. Nothing is drawn, but texts can be measured, until the canvas is open. Collective. */
PetscErrorCode GpAppCanvasCreate(MPI_Comm comm, const char file[], const char prefix[], GpAppCanvas *C)
{
  const char *why;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(C, sizeof(*C)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  C->there  = (PetscBool)!rank;
  C->comm   = comm;
  C->prefix = prefix;
  PetscCall(PetscStrncpy(C->path, file, sizeof(C->path)));
  C->window  = (PetscBool)(prefix && !strcmp(file, "draw"));
  C->painter = C->window ? &GpAppPainterDraw : CanvasSelectPainter(file, &why);
  if (!C->painter) C->painter = &GpAppPainterSVG; /* only on ranks that do not draw: the probe has checked the first */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins a picture of W x H pixels, whose origin is the upper left corner. Collective. */
PetscErrorCode GpAppCanvasOpen(GpAppCanvas *C, double W, double H)
{
  PetscFunctionBegin;
  C->W = PetscCeilReal(W);
  C->H = PetscCeilReal(H);
  if (!C->window) PetscCall(GpAppOutputOpen(C->comm, C->path, &C->out));
  if (!C->there) PetscFunctionReturn(PETSC_SUCCESS);
  C->open = PETSC_TRUE;
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF)); /* libraries may divide by zero on purpose */
  PetscCall((*C->painter->open)(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finishes a picture. Collective. */
PetscErrorCode GpAppCanvasClose(GpAppCanvas *C)
{
  PetscFunctionBegin;
  if (C->open) {
    PetscCall((*C->painter->close)(C));
    PetscCall(PetscFPTrapPop());
  }
  C->open = PETSC_FALSE;
  if (!C->window) PetscCall(GpAppOutputCommit(&C->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws a curve through n points. */
PetscErrorCode GpAppCanvasDrawCurve(GpAppCanvas *C, PetscInt n, const double x[], const double y[], GpAppColour colour, double width, GpAppLine line)
{
  PetscFunctionBegin;
  if (C->open && n) PetscCall((*C->painter->curve)(C, n, x, y, colour, width, line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppCanvasDrawLine(GpAppCanvas *C, double x0, double y0, double x1, double y1, GpAppColour colour)
{
  PetscFunctionBegin;
  PetscCall(GpAppCanvasDrawCurve(C, 2, (const double[]){x0, x1}, (const double[]){y0, y1}, colour, 1, GP_APP_LINE_SOLID));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws n markers of one style. The styles 0 to GP_APP_CANVAS_STYLES - 1 differ in colour or shape, then they repeat. */
PetscErrorCode GpAppCanvasDrawMarkers(GpAppCanvas *C, PetscInt n, const double x[], const double y[], double radius, int style)
{
  PetscFunctionBegin;
  if (C->open && n) PetscCall((*C->painter->fill)(C, n, x, y, &Shapes[style % SHAPES], radius, (GpAppColour)(style % GP_APP_CANVAS_HUES)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws n upright black crosses with a white border. */
PetscErrorCode GpAppCanvasDrawCrosses(GpAppCanvas *C, PetscInt n, const double x[], const double y[], double radius)
{
  PetscFunctionBegin;
  for (int wide = 1; wide >= 0 && C->open && n; wide--) {
    const double     r = 1 + wide / radius, half = (PetscMax(1, radius / 6) + wide) / radius;
    const GpAppShape across = {4, {-r, r, r, -r}, {-half, -half, half, half}}, down = {4, {-half, half, half, -half}, {-r, -r, r, r}};

    PetscCall((*C->painter->fill)(C, n, x, y, &across, radius, wide ? GP_APP_WHITE : GP_APP_BLACK));
    PetscCall((*C->painter->fill)(C, n, x, y, &down, radius, wide ? GP_APP_WHITE : GP_APP_BLACK));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws a white rectangle, before a text that shall not be crossed by lines. */
PetscErrorCode GpAppCanvasDrawBackground(GpAppCanvas *C, double left, double top, double right, double bottom)
{
  const GpAppShape box = {4, {left, right, right, left}, {top, top, bottom, bottom}};

  PetscFunctionBegin;
  if (C->open) PetscCall((*C->painter->fill)(C, 1, (const double[]){0}, (const double[]){0}, &box, 1, GP_APP_WHITE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws text at (x, y), the height of its base line: starting, centred or ending there, or vertical and centred there. */
PetscErrorCode GpAppCanvasDrawText(GpAppCanvas *C, double x, double y, GpAppCanvasAnchor anchor, GpAppTextSize size, const char text[])
{
  char clean[GP_APP_CANVAS_TEXT];

  PetscFunctionBegin;
  if (!C->open || !text[0]) PetscFunctionReturn(PETSC_SUCCESS);
  GpAppTextClean(text, C->painter->plain, clean);
  PetscCall((*C->painter->text)(C, x, y, anchor, size, clean));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns whether the target draws only ASCII. */
PetscBool GpAppCanvasIsPlain(const GpAppCanvas *C)
{
  return C->painter->plain;
}
