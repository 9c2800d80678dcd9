/* Painters of SVG, PDF and PNG files by the Cairo library, which is loaded at run time: only pictures need it, and the library gpucsr does not depend on it. */
#include "app/picture/apppainter.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define PNG_WIDTH 1600 /* pixels */

/* Types and constants of cairo.h, which have not changed since version 1.10 */
typedef int (*CairoWrite)(void *, const unsigned char *, unsigned);
typedef struct {
  double x_bearing, y_bearing, width, height, x_advance, y_advance;
} CairoExtents;
typedef struct {
  unsigned long index; /* 0: the font lacks the character */
  double        x, y;
} CairoGlyph;

enum {
  CAIRO_WRITE_ERROR     = 11,
  CAIRO_FORMAT_RGB24    = 1,
  CAIRO_BOLD            = 1,
  CAIRO_ROUND           = 1, /* caps and joins of lines */
  CAIRO_GRAY            = 2, /* antialiasing */
  CAIRO_OFF             = 1, /* hints of glyphs and of their widths */
  CAIRO_UNIT_PX         = 3,
  CAIRO_PDF_CREATE_DATE = 5
};

/* The functions of Cairo that are used: result, name, arguments */
#define CAIRO_FUNCTIONS(F) \
  F(void *, svg_surface_create_for_stream, (CairoWrite, void *, double, double)) \
  F(void *, pdf_surface_create_for_stream, (CairoWrite, void *, double, double)) \
  F(void *, image_surface_create, (int, int, int)) \
  F(int, surface_write_to_png_stream, (void *, CairoWrite, void *)) \
  F(void, surface_finish, (void *)) \
  F(int, surface_status, (void *)) \
  F(void, surface_destroy, (void *)) \
  F(const char *, status_to_string, (int)) \
  F(void *, create, (void *)) \
  F(int, status, (void *)) \
  F(void, destroy, (void *)) \
  F(void, save, (void *)) \
  F(void, restore, (void *)) \
  F(void, scale, (void *, double, double)) \
  F(void, rotate, (void *, double)) \
  F(void, translate, (void *, double, double)) \
  F(void, set_source_rgb, (void *, double, double, double)) \
  F(void, paint, (void *)) \
  F(void, set_line_width, (void *, double)) \
  F(void, set_line_cap, (void *, int)) \
  F(void, set_line_join, (void *, int)) \
  F(void, set_dash, (void *, const double *, int, double)) \
  F(void, move_to, (void *, double, double)) \
  F(void, line_to, (void *, double, double)) \
  F(void, close_path, (void *)) \
  F(void, stroke, (void *)) \
  F(void, fill, (void *)) \
  F(void, select_font_face, (void *, const char *, int, int)) \
  F(void, set_font_size, (void *, double)) \
  F(void, text_extents, (void *, const char *, CairoExtents *)) \
  F(void, show_text, (void *, const char *)) \
  F(void *, get_scaled_font, (void *)) \
  F(int, scaled_font_text_to_glyphs, (void *, double, double, const char *, int, CairoGlyph **, int *, void *, void *, void *)) \
  F(void, glyph_free, (CairoGlyph *)) \
  F(void *, font_options_create, (void)) \
  F(void, font_options_set_antialias, (void *, int)) \
  F(void, font_options_set_hint_style, (void *, int)) \
  F(void, font_options_set_hint_metrics, (void *, int)) \
  F(void, set_font_options, (void *, void *)) \
  F(void, font_options_destroy, (void *))

#define CAIRO_DECLARE(result, name, arguments) result(*name) arguments;
#define CAIRO_NAME(result, name, arguments)    "cairo_" #name,

static struct {
  CAIRO_FUNCTIONS(CAIRO_DECLARE)
  void *library;
  void (*svg_surface_set_document_unit)(void *, int);          /* since 1.16; NULL: missing */
  void (*pdf_surface_set_metadata)(void *, int, const char *); /* since 1.16 */
} Cairo;

static const char *const CairoNames[] = {CAIRO_FUNCTIONS(CAIRO_NAME)};

typedef struct {
  void     *surface, *cr;
  PetscBool lacks; /* the font lacks characters of some texts */
} CairoTarget;

/* Loads Cairo once. Returns NULL, or the reason that it is missing. The variable GPUCSR_CAIRO names another file of the library; none disables it. */
const char *GpAppCairoLoad(void)
{
  static char why[192];
  const char *name = getenv("GPUCSR_CAIRO"), *missing = NULL;
  void       *symbol[PETSC_STATIC_ARRAY_LENGTH(CairoNames)], *library;

  if (Cairo.library) return NULL;
  if (why[0]) return why;
  if (!name || !name[0]) name = "libcairo.so.2";
  if (!strcmp(name, "none")) {
    (void)snprintf(why, sizeof(why), "this format needs the library Cairo, and GPUCSR_CAIRO=none disables it");
    return why;
  }
  library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    (void)snprintf(why, sizeof(why), "this format needs the library Cairo, and %.80s cannot be loaded", name);
    return why;
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(CairoNames) && !missing; k++) {
    symbol[k] = dlsym(library, CairoNames[k]);
    if (!symbol[k]) missing = CairoNames[k];
  }
  if (missing) {
    (void)snprintf(why, sizeof(why), "this format needs the library Cairo, and %.60s lacks the function %.40s()", name, missing);
    (void)dlclose(library);
    return why;
  }
  memcpy(&Cairo, symbol, sizeof(symbol)); /* the first members, in the order of the names */
  *(void **)&Cairo.svg_surface_set_document_unit = dlsym(library, "cairo_svg_surface_set_document_unit");
  *(void **)&Cairo.pdf_surface_set_metadata      = dlsym(library, "cairo_pdf_surface_set_metadata");
  Cairo.library                                  = library;
  return NULL;
}

static int PaintCairoWrite(void *fp, const unsigned char *data, unsigned n)
{
  return fwrite(data, 1, n, (FILE *)fp) == n ? 0 : CAIRO_WRITE_ERROR;
}

static void PaintCairoSetColour(void *cr, GpAppColour colour)
{
  const unsigned long rgb = strtoul(GpAppPainterGetRGB(colour) + 1, NULL, 16);

  Cairo.set_source_rgb(cr, (double)(rgb >> 16) / 255, (double)(rgb >> 8 & 255) / 255, (double)(rgb & 255) / 255);
}

/* Begins to draw on a surface, whose units are pixels divided by the scale. */
static PetscErrorCode PaintCairoBegin(GpAppCanvas *C, void *surface, double scale)
{
  CairoTarget *T;
  void        *options = Cairo.font_options_create();

  PetscFunctionBegin;
  PetscCall(PetscNew(&T));
  C->data    = T;
  T->surface = surface;
  T->cr      = Cairo.create(surface);
  Cairo.scale(T->cr, scale, scale);
  PaintCairoSetColour(T->cr, GP_APP_WHITE);
  Cairo.paint(T->cr);
  Cairo.font_options_set_antialias(options, CAIRO_GRAY);
  Cairo.font_options_set_hint_style(options, CAIRO_OFF);
  Cairo.font_options_set_hint_metrics(options, CAIRO_OFF); /* widths in proportion to the size */
  Cairo.set_font_options(T->cr, options);
  Cairo.font_options_destroy(options);
  Cairo.set_line_join(T->cr, CAIRO_ROUND);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintCairoOpenSVG(GpAppCanvas *C)
{
  void *surface = Cairo.svg_surface_create_for_stream(PaintCairoWrite, C->out.fp, C->W, C->H);

  PetscFunctionBegin;
  if (Cairo.svg_surface_set_document_unit) Cairo.svg_surface_set_document_unit(surface, CAIRO_UNIT_PX);
  PetscCall(PaintCairoBegin(C, surface, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A pixel of the layout is 0.75 points. */
static PetscErrorCode PaintCairoOpenPDF(GpAppCanvas *C)
{
  void *surface = Cairo.pdf_surface_create_for_stream(PaintCairoWrite, C->out.fp, 0.75 * C->W, 0.75 * C->H);

  PetscFunctionBegin;
  if (Cairo.pdf_surface_set_metadata) Cairo.pdf_surface_set_metadata(surface, CAIRO_PDF_CREATE_DATE, ""); /* equal results give equal bytes */
  PetscCall(PaintCairoBegin(C, surface, 0.75));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintCairoOpenPNG(GpAppCanvas *C)
{
  const double scale = PNG_WIDTH / C->W;

  PetscFunctionBegin;
  PetscCall(PaintCairoBegin(C, Cairo.image_surface_create(CAIRO_FORMAT_RGB24, PNG_WIDTH, (int)PetscCeilReal(scale * C->H)), scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintCairoCurve(GpAppCanvas *C, PetscInt n, const double x[], const double y[], GpAppColour colour, double width, GpAppLine line)
{
  void *const  cr     = ((CairoTarget *)C->data)->cr;
  const double dash[] = {width * GpAppDashes[line][0], width * GpAppDashes[line][1]};

  PetscFunctionBegin;
  PaintCairoSetColour(cr, colour);
  Cairo.set_line_width(cr, width);
  Cairo.set_line_cap(cr, 0);
  Cairo.set_dash(cr, dash, dash[0] > 0 ? 2 : 0, 0);
  for (PetscInt k = 0; k < n; k++) (k ? Cairo.line_to : Cairo.move_to)(cr, x[k], y[k]);
  Cairo.stroke(cr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintCairoFill(GpAppCanvas *C, PetscInt n, const double x[], const double y[], const GpAppShape *shape, double radius, GpAppColour colour)
{
  void *const cr = ((CairoTarget *)C->data)->cr;

  PetscFunctionBegin;
  PaintCairoSetColour(cr, colour);
  Cairo.set_line_width(cr, 2 * radius);
  Cairo.set_line_cap(cr, CAIRO_ROUND);
  Cairo.set_dash(cr, NULL, 0, 0);
  for (PetscInt i = 0; i < n; i++) {
    Cairo.move_to(cr, x[i] + radius * shape->x[0], y[i] + radius * shape->y[0]);
    for (int c = 1; c < shape->n; c++) Cairo.line_to(cr, x[i] + radius * shape->x[c], y[i] + radius * shape->y[c]);
    if (shape->n) Cairo.close_path(cr);
    else Cairo.line_to(cr, x[i], y[i]); /* a disc is a line of length 0 with round ends */
  }
  if (shape->n) Cairo.fill(cr);
  else Cairo.stroke(cr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns whether the font lacks a character of a text. */
static PetscBool PaintCairoLacks(void *cr, const char text[])
{
  CairoGlyph *glyph = NULL;
  int         n     = 0;
  PetscBool   lacks = PETSC_FALSE;

  if (Cairo.scaled_font_text_to_glyphs(Cairo.get_scaled_font(cr), 0, 0, text, -1, &glyph, &n, NULL, NULL, NULL)) return PETSC_FALSE;
  for (int k = 0; k < n; k++)
    if (!glyph[k].index) lacks = PETSC_TRUE;
  Cairo.glyph_free(glyph);
  return lacks;
}

/* Draws a text. A font that is wider than the layout expects is made smaller. */
static PetscErrorCode PaintCairoText(GpAppCanvas *C, double x, double y, GpAppCanvasAnchor anchor, GpAppTextSize size, const char text[])
{
  void *const  cr    = ((CairoTarget *)C->data)->cr;
  const double width = GpAppCanvasMeasureText(C, size, text);
  CairoExtents extents;

  PetscFunctionBegin;
  Cairo.save(cr);
  PaintCairoSetColour(cr, GP_APP_BLACK);
  Cairo.select_font_face(cr, "DejaVu Sans", 0, size == GP_APP_TEXT_TITLE ? CAIRO_BOLD : 0);
  Cairo.set_font_size(cr, GpAppCanvasGetTextSize(size));
  if (PaintCairoLacks(cr, text)) ((CairoTarget *)C->data)->lacks = PETSC_TRUE;
  Cairo.text_extents(cr, text, &extents);
  if (extents.x_advance > width) {
    Cairo.set_font_size(cr, GpAppCanvasGetTextSize(size) * width / extents.x_advance);
    extents.x_advance = width;
  }
  Cairo.translate(cr, x, y);
  if (anchor == GP_APP_CANVAS_VERTICAL) Cairo.rotate(cr, -PETSC_PI / 2);
  Cairo.move_to(cr, anchor == GP_APP_CANVAS_START ? 0 : anchor == GP_APP_CANVAS_END ? -extents.x_advance : -extents.x_advance / 2, 0);
  Cairo.show_text(cr, text);
  Cairo.restore(cr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the drawing. PNG is written now, the other formats as the surface is finished. */
static PetscErrorCode PaintCairoFinish(GpAppCanvas *C, PetscBool image)
{
  CairoTarget *T   = (CairoTarget *)C->data;
  int          err = Cairo.status(T->cr);

  PetscFunctionBegin;
  Cairo.destroy(T->cr);
  if (image && !err) err = Cairo.surface_write_to_png_stream(T->surface, PaintCairoWrite, C->out.fp);
  Cairo.surface_finish(T->surface);
  if (!err) err = Cairo.surface_status(T->surface);
  if (err && err != CAIRO_WRITE_ERROR) PetscCall(PetscSNPrintf(C->out.failed, sizeof(C->out.failed), "Cairo: %.100s", Cairo.status_to_string(err))); /* the output itself tells why a write failed */
  Cairo.surface_destroy(T->surface);
  if (T->lacks && !err)
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "warning: picture %s: the font lacks letters of some texts, which appear as boxes; set GPUCSR_CAIRO=none and use the ending .svg, so that the viewer chooses the fonts\n", C->path));
  PetscCall(PetscFree(C->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintCairoCloseVector(GpAppCanvas *C)
{
  PetscFunctionBegin;
  PetscCall(PaintCairoFinish(C, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintCairoCloseImage(GpAppCanvas *C)
{
  PetscFunctionBegin;
  PetscCall(PaintCairoFinish(C, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const GpAppPainter GpAppPainterCairoSVG = {PETSC_FALSE, PaintCairoOpenSVG, PaintCairoCurve, PaintCairoFill, PaintCairoText, PaintCairoCloseVector};
const GpAppPainter GpAppPainterPDF      = {PETSC_FALSE, PaintCairoOpenPDF, PaintCairoCurve, PaintCairoFill, PaintCairoText, PaintCairoCloseVector};
const GpAppPainter GpAppPainterPNG      = {PETSC_FALSE, PaintCairoOpenPNG, PaintCairoCurve, PaintCairoFill, PaintCairoText, PaintCairoCloseImage};
