/* Painter of SVG files without a library. */
#include "app/picture/apppainter.h"
#include "app/report/appescape.h"

static PetscErrorCode PaintSVGOpen(GpAppCanvas *C)
{
  PetscFunctionBegin;
  (void)fprintf(C->out.fp, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", C->W, C->H, C->W,
                C->H);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintSVGCurve(GpAppCanvas *C, PetscInt n, const double x[], const double y[], GpAppColour colour, double width, GpAppLine line)
{
  PetscFunctionBegin;
  (void)fprintf(C->out.fp, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"", GpAppPainterGetRGB(colour), width);
  if (GpAppDashes[line][0] > 0) (void)fprintf(C->out.fp, " stroke-dasharray=\"%g %g\"", width * GpAppDashes[line][0], width * GpAppDashes[line][1]);
  (void)fputs(" points=\"", C->out.fp);
  for (PetscInt k = 0; k < n; k++) (void)fprintf(C->out.fp, "%s%.1f,%.1f", k ? " " : "", x[k], y[k]);
  (void)fputs("\"/>\n", C->out.fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintSVGFill(GpAppCanvas *C, PetscInt n, const double x[], const double y[], const GpAppShape *shape, double radius, GpAppColour colour)
{
  PetscFunctionBegin;
  if (shape->n) (void)fprintf(C->out.fp, "<path fill=\"%s\" d=\"", GpAppPainterGetRGB(colour));
  else (void)fprintf(C->out.fp, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linecap=\"round\" d=\"", GpAppPainterGetRGB(colour), 2 * radius); /* a disc is a line of length 0 with round ends */
  for (PetscInt i = 0; i < n; i++) {
    (void)fprintf(C->out.fp, "M%.1f %.1f", x[i] + radius * shape->x[0], y[i] + radius * shape->y[0]);
    for (int c = 1; c < shape->n; c++) (void)fprintf(C->out.fp, "l%g %g", radius * (shape->x[c] - shape->x[c - 1]), radius * (shape->y[c] - shape->y[c - 1]));
    (void)fputs(shape->n ? "z" : "h0", C->out.fp);
  }
  (void)fputs("\"/>\n", C->out.fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintSVGText(GpAppCanvas *C, double x, double y, GpAppCanvasAnchor anchor, GpAppTextSize size, const char text[])
{
  static const char *const anchors[] = {"start", "middle", "end", "middle"};

  PetscFunctionBegin;
  (void)fprintf(C->out.fp, "<text transform=\"translate(%.1f %.1f)%s\" text-anchor=\"%s\" font-size=\"%g\"%s>", x, y, anchor == GP_APP_CANVAS_VERTICAL ? " rotate(-90)" : "", anchors[anchor], GpAppCanvasGetTextSize(size),
                size == GP_APP_TEXT_TITLE ? " font-weight=\"bold\"" : "");
  GpAppWriteXML(C->out.fp, text);
  (void)fputs("</text>\n", C->out.fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PaintSVGClose(GpAppCanvas *C)
{
  PetscFunctionBegin;
  (void)fputs("</svg>\n", C->out.fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const GpAppPainter GpAppPainterSVG = {PETSC_FALSE, PaintSVGOpen, PaintSVGCurve, PaintSVGFill, PaintSVGText, PaintSVGClose};
