/* The picture of a path over lambda: quality with standard errors, and the number of nonzero weights. */
#include "model.h"
#include "panels.h"
#include <math.h>

#define WIDTH      600
#define HEIGHT     220
#define VALIDATION 0 /* styles of the curves */
#define TRAINING   1

/* What the picture shows. The numbers of lambda k are at place k. */
typedef struct {
  const BMRMPathPoint *point;
  PetscInt             n, best;
  PetscBool            accuracy, folds;
  double               lambda[BMRM_MAX_PATH], train[BMRM_MAX_PATH], validation[BMRM_MAX_PATH], nonzeros[BMRM_MAX_PATH];
  double               low, high; /* ends of the axis of the quality */
  GpAppHeader          header;
} PathPicture;

static void PathPictureFill(PathPicture *P)
{
  P->low  = INFINITY;
  P->high = -INFINITY;
  for (PetscInt k = 0; k < P->n; k++) {
    const BMRMPathPoint *p    = &P->point[k];
    const double         bar  = isfinite((double)p->deviation) ? (double)p->deviation : 0;
    const double         v[2] = {(double)p->train, (double)p->validation};

    P->lambda[k]     = (double)p->lambda;
    P->train[k]      = v[0];
    P->validation[k] = v[1];
    P->nonzeros[k]   = (double)p->nonzeros;
    for (int c = 0; c < 2; c++) {
      if (!isfinite(v[c])) continue;
      P->low  = fmin(P->low, v[c] - (c ? bar : 0));
      P->high = fmax(P->high, v[c] + (c ? bar : 0));
    }
  }
}

/* Draws a panel with a dotted line at the lambda of the model. */
static PetscErrorCode PathPictureDrawPanel(GpAppCanvas *C, const PathPicture *P, const char up[], double low, double high, double top, BMRMPanel *panel, double *bottom)
{
  PetscFunctionBegin;
  GpAppAxisFit(&panel->x, "lambda", PETSC_TRUE, P->lambda[P->n - 1], P->lambda[0]);
  GpAppAxisFit(&panel->y, up, PETSC_FALSE, low, high);
  PetscCall(BMRMPanelDraw(C, panel, 0, WIDTH, top, HEIGHT, bottom));
  PetscCall(BMRMPanelDrawReference(C, panel, (const double[]){P->lambda[P->best], P->lambda[P->best]}, (const double[]){panel->y.low, panel->y.high}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the standard errors as vertical lines with short lines at their ends. */
static PetscErrorCode PathPictureDrawErrors(GpAppCanvas *C, const PathPicture *P, const BMRMPanel *panel)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < P->n; k++) {
    const double v = P->validation[k], bar = (double)P->point[k].deviation, x = GpAppAxisPlace(&panel->x, panel->F.left, panel->F.right, P->lambda[k]);
    double       y[2];

    if (!isfinite(v) || !isfinite(bar)) continue;
    for (int end = 0; end < 2; end++) {
      y[end] = GpAppAxisPlace(&panel->y, panel->F.bottom, panel->F.top, end ? v + bar : v - bar);
      PetscCall(GpAppCanvasDrawLine(C, x - 3, y[end], x + 3, y[end], (GpAppColour)VALIDATION));
    }
    PetscCall(GpAppCanvasDrawLine(C, x, y[0], x, y[1], (GpAppColour)VALIDATION));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the panels one above the other, and computes the height of the picture. */
static PetscErrorCode PathPictureDraw(GpAppCanvas *C, const PathPicture *P, double *height)
{
  BMRMPanel panel = {P->accuracy ? "accuracy" : "error"};
  double    top, most = 1;

  PetscFunctionBegin;
  PetscCall(GpAppHeaderDraw(C, &P->header, 34, WIDTH - BMRM_PANEL_RIGHT, &top));
  if (P->low <= P->high) { /* a loss that predicts an order has no quality */
    PetscCall(PathPictureDrawPanel(C, P, P->accuracy ? "accuracy" : "root mean square error", P->low, P->high, top, &panel, &top));
    PetscCall(BMRMPanelDrawCurve(C, &panel, P->n, P->lambda, P->train, &(const BMRMPanelCurve){TRAINING, PETSC_TRUE}));
    if (P->folds) {
      PetscCall(PathPictureDrawErrors(C, P, &panel));
      PetscCall(BMRMPanelDrawCurve(C, &panel, P->n, P->lambda, P->validation, &(const BMRMPanelCurve){VALIDATION, PETSC_TRUE}));
    }
    top += 4;
  }
  for (PetscInt k = 0; k < P->n; k++) most = fmax(most, P->nonzeros[k]);
  panel.heading = "nonzero weights";
  PetscCall(PathPictureDrawPanel(C, P, "number of weights", 0, most, top, &panel, height));
  PetscCall(BMRMPanelDrawCurve(C, &panel, P->n, P->lambda, P->nonzeros, &(const BMRMPanelCurve){VALIDATION, PETSC_TRUE}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the picture of the path of a report, whose model was chosen by cross-validation in this number of folds; 0: the model is that of the last lambda. Collective. */
PetscErrorCode BMRMPathWritePicture(MPI_Comm comm, const BMRMReport *r, PetscBool accuracy, PetscInt folds, const char file[])
{
  const GpAppLegend legend[] = {{"training", GP_APP_LEGEND_LINE, TRAINING}, {"cross-validation, with standard errors", GP_APP_LEGEND_LINE, VALIDATION}};
  PathPicture       P        = {r->path, r->npath, r->best, accuracy, (PetscBool)(folds > 0)};
  double            height   = 0;
  GpAppCanvas       C;
  char              title[160], note[224], how[64] = "of the model, the last one";

  PetscFunctionBegin;
  PathPictureFill(&P);
  if (folds) PetscCall(PetscSNPrintf(how, sizeof(how), "chosen in %" PetscInt_FMT " folds", folds));
  PetscCall(PetscSNPrintf(title, sizeof(title), "Path of %" PetscInt_FMT " lambdas, %s loss, regulariser %s", r->npath, r->loss, r->regularizer));
  PetscCall(PetscSNPrintf(note, sizeof(note), "dotted line: lambda %.4g, %s", P.lambda[P.best], how));
  P.header = (GpAppHeader){title, note, "", P.low <= P.high ? 1 + P.folds : 0, legend};
  PetscCall(GpAppCanvasCreate(comm, file, NULL, &C));
  if (C.there) PetscCall(PathPictureDraw(&C, &P, &height)); /* before the canvas is open, this only computes the height */
  PetscCall(GpAppCanvasOpen(&C, WIDTH, height));
  if (C.there) PetscCall(PathPictureDraw(&C, &P, &height));
  PetscCall(GpAppCanvasClose(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
