/* Panels of pictures: frames with headings, and curves in them. */
#include "panels.h"

/* Draws the heading of a panel. top: the upper edge of the panel, then the lower edge of the heading. */
PetscErrorCode BMRMPanelDrawHeading(GpAppCanvas *C, const char heading[], double left, double right, double *top)
{
  char text[GP_APP_CANVAS_TEXT];

  PetscFunctionBegin;
  GpAppTextShorten(C, GP_APP_TEXT_NORMAL, right - left, heading, text);
  *top += 1.5 * GpAppCanvasGetTextSize(GP_APP_TEXT_NORMAL);
  PetscCall(GpAppCanvasDrawText(C, left, *top - 6, GP_APP_CANVAS_START, GP_APP_TEXT_NORMAL, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws heading, frame and axes between the pixels left and right. height: of the frame. bottom: the lower edge of the panel. */
PetscErrorCode BMRMPanelDraw(GpAppCanvas *C, BMRMPanel *P, double left, double right, double top, double height, double *bottom)
{
  PetscFunctionBegin;
  GpAppAxisSetTicks(C, &P->y, height, PETSC_FALSE);
  P->F.left  = left + GpAppAxesGetLeft(&P->y);
  P->F.right = right - BMRM_PANEL_RIGHT;
  P->F.top   = top;
  GpAppAxisSetTicks(C, &P->x, P->F.right - P->F.left, PETSC_TRUE);
  PetscCall(BMRMPanelDrawHeading(C, P->heading, P->F.left, P->F.right, &P->F.top));
  P->F.bottom = P->F.top + height;
  PetscCall(GpAppAxesDraw(C, &P->F, &P->x, &P->y, bottom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws a curve without the points that an axis cannot show. */
PetscErrorCode BMRMPanelDrawCurve(GpAppCanvas *C, const BMRMPanel *P, PetscInt n, const double x[], const double y[], const BMRMPanelCurve *curve)
{
  double  *across, *down;
  PetscInt m = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &across, n, &down));
  for (PetscInt i = 0; i < n; i++) {
    if (!GpAppAxisShows(&P->x, x[i]) || !GpAppAxisShows(&P->y, y[i])) continue;
    across[m] = GpAppAxisPlace(&P->x, P->F.left, P->F.right, x[i]);
    down[m++] = GpAppAxisPlace(&P->y, P->F.bottom, P->F.top, y[i]);
  }
  PetscCall(GpAppCanvasDrawCurve(C, m, across, down, (GpAppColour)(curve->style % GP_APP_CANVAS_HUES), 2, (GpAppLine)(curve->style % GP_APP_LINES)));
  if (curve->marked) PetscCall(GpAppCanvasDrawMarkers(C, m, across, down, 3.5, curve->style));
  PetscCall(PetscFree2(across, down));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws a dotted line of reference between two points. */
PetscErrorCode BMRMPanelDrawReference(GpAppCanvas *C, const BMRMPanel *P, const double x[2], const double y[2])
{
  double across[2], down[2];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    across[k] = GpAppAxisPlace(&P->x, P->F.left, P->F.right, x[k]);
    down[k]   = GpAppAxisPlace(&P->y, P->F.bottom, P->F.top, y[k]);
  }
  PetscCall(GpAppCanvasDrawCurve(C, 2, across, down, GP_APP_GREY, 1.5, GP_APP_LINE_DOTTED));
  PetscFunctionReturn(PETSC_SUCCESS);
}
