/* Title, note and legend above a plot. */
#include "app/picture/appaxes.h"
#include <string.h>

#define ROW 20 /* pixels from one row of a legend to the next */

/* Draws a text in as many lines as it needs. bottom: the height above its first line, then that below its last. */
PetscErrorCode GpAppParagraphDraw(GpAppCanvas *C, double left, double right, GpAppTextSize size, const char text[], double *bottom)
{
  const double em                       = GpAppCanvasGetTextSize(size);
  char         line[GP_APP_CANVAS_TEXT] = "", next[2 * GP_APP_CANVAS_TEXT];

  PetscFunctionBegin;
  for (const char *word = text; *word;) {
    const size_t n = strcspn(word, " "), m = PetscMin(n, GP_APP_CANVAS_TEXT - 2);

    (void)snprintf(next, sizeof(next), "%s%s%.*s", line, line[0] ? " " : "", (int)m, word);
    if (line[0] && (strlen(next) >= sizeof(line) || GpAppCanvasMeasureText(C, size, next) > right - left)) {
      *bottom += 1.4 * em;
      PetscCall(GpAppCanvasDrawText(C, left, *bottom - 0.3 * em, GP_APP_CANVAS_START, size, line));
      (void)snprintf(next, sizeof(next), "%.*s", (int)m, word);
    }
    GpAppTextShorten(C, size, right - left, next, line); /* a word that is longer than a line */
    word += n;
    word += strspn(word, " ");
  }
  if (!line[0]) PetscFunctionReturn(PETSC_SUCCESS);
  *bottom += 1.4 * em;
  PetscCall(GpAppCanvasDrawText(C, left, *bottom - 0.3 * em, GP_APP_CANVAS_START, size, line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the sample of an entry of a legend, which is 24 pixels wide. */
static PetscErrorCode HeaderDrawSample(GpAppCanvas *C, const GpAppLegend *entry, double x, double y)
{
  const double middle = x + (entry->kind == GP_APP_LEGEND_LINE ? 12 : 9);

  PetscFunctionBegin;
  if (entry->kind == GP_APP_LEGEND_MARKER) PetscCall(GpAppCanvasDrawMarkers(C, 1, &middle, &y, 5, entry->style));
  else if (entry->kind == GP_APP_LEGEND_CROSS) PetscCall(GpAppCanvasDrawCrosses(C, 1, &middle, &y, 6));
  else PetscCall(GpAppCanvasDrawCurve(C, 2, (const double[]){x, x + 24}, (const double[]){y, y}, (GpAppColour)(entry->style % GP_APP_CANVAS_HUES), 2, (GpAppLine)(entry->style % GP_APP_LINES)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws what stands above a plot. bottom: the lower edge. */
PetscErrorCode GpAppHeaderDraw(GpAppCanvas *C, const GpAppHeader *H, double left, double right, double *bottom)
{
  double x = left;

  PetscFunctionBegin;
  *bottom = 8;
  PetscCall(GpAppParagraphDraw(C, left, right, GP_APP_TEXT_TITLE, H->title ? H->title : "", bottom));
  PetscCall(GpAppParagraphDraw(C, left, right, GP_APP_TEXT_SMALL, H->note ? H->note : "", bottom));
  if (H->n) {
    if (*bottom > 8) *bottom += 4;
    *bottom += ROW;
  }
  if (H->n && H->heading && H->heading[0]) {
    PetscCall(GpAppCanvasDrawText(C, x, *bottom - 6, GP_APP_CANVAS_START, GP_APP_TEXT_SMALL, H->heading));
    x += GpAppCanvasMeasureText(C, GP_APP_TEXT_SMALL, H->heading) + 14;
  }
  for (int k = 0; k < H->n; k++) {
    const double sample = H->legend[k].kind == GP_APP_LEGEND_LINE ? 30 : 20;
    double       width;
    char         text[GP_APP_CANVAS_TEXT];

    GpAppTextShorten(C, GP_APP_TEXT_SMALL, (right - left) / 2 - sample, H->legend[k].text, text);
    width = sample + GpAppCanvasMeasureText(C, GP_APP_TEXT_SMALL, text);
    if (x > left && x + width > right) {
      x = left;
      *bottom += ROW;
    }
    PetscCall(HeaderDrawSample(C, &H->legend[k], x, *bottom - 10));
    PetscCall(GpAppCanvasDrawText(C, x + sample, *bottom - 6, GP_APP_CANVAS_START, GP_APP_TEXT_SMALL, text));
    x += width + 18;
  }
  *bottom += 8;
  PetscFunctionReturn(PETSC_SUCCESS);
}
