/* The picture of the quality of predicted classes: confusion matrix, ROC and precision-recall curve, calibration. */
#include "quality.h"
#include "panels.h"
#include <math.h>
#include <string.h>

#define WIDTH   680
#define SIDE    232 /* height of the frame of a curve */
#define NAMED   12  /* largest number of classes whose names are shown */
#define COUNTED 34  /* least width of a cell that shows its number of examples */
#define NAMES   88  /* greatest width of the names of the true classes */
#define GRID    60  /* largest number of classes with lines between their cells */
#define POINTS  1000
#define CORRECT 21 /* marker: a blue square */
#define WRONG   1  /* marker: a vermillion square */

/* What the picture shows */
typedef struct {
  const BMRMDetails *de;
  const PetscReal   *label; /* of the classes */
  const char        *names; /* of the classes, or NULL */
  GpAppHeader        header;
} QualityPicture;

/* Writes the name of class c, or its label, in at most this width. */
static void QualityPictureGetName(const GpAppCanvas *C, const QualityPicture *P, PetscInt c, double width, char text[GP_APP_CANVAS_TEXT])
{
  const char *name = P->names;
  char        buffer[32];

  (void)snprintf(buffer, sizeof(buffer), "%.6g", (double)P->label[c]);
  for (PetscInt k = 0; name && k < c; k++) name += strlen(name) + 1;
  GpAppTextShorten(C, GP_APP_TEXT_SMALL, width, name ? name : buffer, text);
}

/* Draws a text whose middle is at x. Its anchor is its start, which distinguishes it from a number along an axis. */
static PetscErrorCode QualityPictureDrawCentred(GpAppCanvas *C, double x, double y, const char text[])
{
  PetscFunctionBegin;
  PetscCall(GpAppCanvasDrawText(C, x - GpAppCanvasMeasureText(C, GP_APP_TEXT_SMALL, text) / 2, y, GP_APP_CANVAS_START, GP_APP_TEXT_SMALL, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the names of the classes: those of the rows at the left, those of the columns below. */
static PetscErrorCode QualityPictureDrawNames(GpAppCanvas *C, const QualityPicture *P, const GpAppFrame *F, double cell)
{
  const double size = GpAppCanvasGetTextSize(GP_APP_TEXT_SMALL);
  char         text[GP_APP_CANVAS_TEXT];

  PetscFunctionBegin;
  for (PetscInt c = 0; c < P->de->k; c++) {
    QualityPictureGetName(C, P, c, NAMES, text);
    PetscCall(GpAppCanvasDrawText(C, F->left - 6 - GpAppCanvasMeasureText(C, GP_APP_TEXT_SMALL, text), F->top + (c + 0.5) * cell + 0.36 * size, GP_APP_CANVAS_START, GP_APP_TEXT_SMALL, text));
    QualityPictureGetName(C, P, c, cell - 4, text);
    PetscCall(QualityPictureDrawCentred(C, F->left + (c + 0.5) * cell, F->bottom + size + 5, text));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the cells: a square whose area is the fraction of the examples of the true class, and for few classes the number of examples. */
static PetscErrorCode QualityPictureDrawCells(GpAppCanvas *C, const QualityPicture *P, const GpAppFrame *F, double cell)
{
  const PetscInt k    = P->de->k;
  const double   size = GpAppCanvasGetTextSize(GP_APP_TEXT_SMALL);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < k; i++) {
    double row = 0;

    for (PetscInt j = 0; j < k; j++) row += (double)P->de->confusion[i * k + j];
    for (PetscInt j = 0; j < k; j++) {
      const PetscInt64 count = P->de->confusion[i * k + j];
      const double     x = F->left + (j + 0.5) * cell, y = F->top + (i + 0.5) * cell;
      const double     side = count ? 0.45 * cell * PetscSqrtReal((double)count / row) : 0; /* half a side of the square */
      char             text[32];
      double           half;

      if (count) PetscCall(GpAppCanvasDrawMarkers(C, 1, &x, &y, side / 0.9, i == j ? CORRECT : WRONG));
      (void)snprintf(text, sizeof(text), "%lld", (long long)count);
      half = GpAppCanvasMeasureText(C, GP_APP_TEXT_SMALL, text) / 2;
      if (cell < COUNTED || 2 * half > cell - 2) continue;
      if (!count || side > half + 3) {
        PetscCall(GpAppCanvasDrawBackground(C, x - half - 1, y - 0.5 * size - 1, x + half + 1, y + 0.5 * size + 1));
        PetscCall(QualityPictureDrawCentred(C, x, y + 0.36 * size, text));
      } else PetscCall(QualityPictureDrawCentred(C, x, y + PetscMin(side + size, 0.5 * cell - 2), text)); /* below the square */
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode QualityPictureDrawConfusion(GpAppCanvas *C, const QualityPicture *P, double left, double right, double top, double *bottom)
{
  const PetscInt  k     = P->de->k;
  const PetscBool named = (PetscBool)(k <= NAMED);
  const double    size  = GpAppCanvasGetTextSize(GP_APP_TEXT_SMALL);
  GpAppFrame      F     = {0, top, right - BMRM_PANEL_RIGHT, 0};
  double          cell, widest = 0;
  char            text[GP_APP_CANVAS_TEXT];

  PetscFunctionBegin;
  for (PetscInt c = 0; named && c < k; c++) {
    QualityPictureGetName(C, P, c, NAMES, text);
    widest = PetscMax(widest, GpAppCanvasMeasureText(C, GP_APP_TEXT_SMALL, text));
  }
  F.left  = left + 34 + widest + 8;
  F.right = PetscMin(F.right, F.left + SIDE);
  PetscCall(BMRMPanelDrawHeading(C, "confusion matrix", F.left, F.right, &F.top));
  F.bottom = F.top + F.right - F.left;
  cell     = (F.right - F.left) / k;
  for (PetscInt c = 1; c < k && k <= GRID; c++) {
    PetscCall(GpAppCanvasDrawLine(C, F.left + c * cell, F.top, F.left + c * cell, F.bottom, GP_APP_LIGHT));
    PetscCall(GpAppCanvasDrawLine(C, F.left, F.top + c * cell, F.right, F.top + c * cell, GP_APP_LIGHT));
  }
  PetscCall(QualityPictureDrawCells(C, P, &F, cell));
  PetscCall(GpAppCanvasDrawCurve(C, 5, (const double[]){F.left, F.right, F.right, F.left, F.left}, (const double[]){F.top, F.top, F.bottom, F.bottom, F.top}, GP_APP_GREY, 1, GP_APP_LINE_SOLID));
  if (named) PetscCall(QualityPictureDrawNames(C, P, &F, cell));
  PetscCall(GpAppCanvasDrawText(C, F.left - widest - 18, (F.top + F.bottom) / 2, GP_APP_CANVAS_VERTICAL, GP_APP_TEXT_NORMAL, "true class"));
  PetscCall(GpAppCanvasDrawText(C, (F.left + F.right) / 2, F.bottom + size + 26, GP_APP_CANVAS_MIDDLE, GP_APP_TEXT_NORMAL, "predicted class"));
  *bottom = F.bottom + size + 36;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the ROC curve, or the precision-recall curve, from at most POINTS + 2 points. */
static PetscErrorCode QualityPictureDrawCurve(GpAppCanvas *C, const QualityPicture *P, PetscBool roc, double left, double right, double top, double *bottom)
{
  const BMRMDetails *de       = P->de;
  const PetscInt     step     = (de->npoint + POINTS - 1) / POINTS;
  const double       positive = (double)(de->confusion[2] + de->confusion[3]), all = positive + (double)(de->confusion[0] + de->confusion[1]);
  BMRMPanel          panel;
  double            *x, *y;
  PetscInt           n = 0;
  char               heading[64];

  PetscFunctionBegin;
  if (isfinite((double)(roc ? de->auc : de->average_precision))) (void)snprintf(heading, sizeof(heading), roc ? "ROC, area %.4f" : "average precision %.4f", (double)(roc ? de->auc : de->average_precision));
  else (void)snprintf(heading, sizeof(heading), roc ? "ROC" : "precision and recall"); /* a class has no examples */
  panel.heading = heading;
  GpAppAxisFit(&panel.x, roc ? "false positive rate" : "recall", PETSC_FALSE, 0, 1);
  GpAppAxisFit(&panel.y, roc ? "true positive rate" : "precision", PETSC_FALSE, 0, 1);
  PetscCall(BMRMPanelDraw(C, &panel, left, right, top, SIDE, bottom));
  PetscCall(BMRMPanelDrawReference(C, &panel, (const double[]){0, 1}, (const double[]){roc ? 0 : positive / all, roc ? 1 : positive / all}));
  PetscCall(PetscMalloc2(POINTS + 2, &x, POINTS + 2, &y));
  if (roc) x[n] = y[n] = 0, n++;
  for (PetscInt i = 0; i < de->npoint; i++) {
    const BMRMCurvePoint *p = &de->point[i];

    if ((i + 1) % step && i + 1 < de->npoint) continue;
    x[n]   = (double)(roc ? p->fpr : p->tpr);
    y[n++] = (double)(roc ? p->tpr : p->precision);
  }
  PetscCall(BMRMPanelDrawCurve(C, &panel, n, x, y, &(const BMRMPanelCurve){0, PETSC_FALSE}));
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode QualityPictureDrawCalibration(GpAppCanvas *C, const QualityPicture *P, double left, double right, double top, double *bottom)
{
  const PetscBool two = (PetscBool)(P->de->point != NULL);
  BMRMPanel       panel;
  double          x[BMRM_BINS], y[BMRM_BINS];
  PetscInt        n = 0;
  char            heading[64];

  PetscFunctionBegin;
  (void)snprintf(heading, sizeof(heading), "calibration, error %.4f", (double)P->de->calibration_error);
  panel.heading = heading;
  GpAppAxisFit(&panel.x, two ? "probability of the larger label" : "highest probability", PETSC_FALSE, 0, 1);
  GpAppAxisFit(&panel.y, two ? "observed fraction" : "fraction of right predictions", PETSC_FALSE, 0, 1);
  PetscCall(BMRMPanelDraw(C, &panel, left, right, top, SIDE, bottom));
  PetscCall(BMRMPanelDrawReference(C, &panel, (const double[]){0, 1}, (const double[]){0, 1}));
  for (PetscInt b = 0; b < BMRM_BINS; b++) {
    const BMRMBin *bin = &P->de->bin[b];

    if (!(bin->count > 0)) continue;
    x[n]   = (double)(bin->probability / bin->count);
    y[n++] = (double)(bin->right / bin->count);
  }
  PetscCall(BMRMPanelDrawCurve(C, &panel, n, x, y, &(const BMRMPanelCurve){0, PETSC_TRUE}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the panels in two columns, and computes the height of the picture. */
static PetscErrorCode QualityPictureDraw(GpAppCanvas *C, const QualityPicture *P, double *height)
{
  const PetscBool two    = (PetscBool)(P->de->point != NULL); /* only the first rank draws, and has the points */
  double          bottom = 0, next = 0, top;
  int             n = 0;

  PetscFunctionBegin;
  PetscCall(GpAppHeaderDraw(C, &P->header, 34, WIDTH - BMRM_PANEL_RIGHT, &top));
  for (int what = 0; what < 4; what++) {
    const double left = n % 2 ? WIDTH / 2 : 0, right = left + WIDTH / 2;

    if (((what == 1 || what == 2) && !two) || (what == 3 && !P->de->likely)) continue;
    if (n == 2) top = bottom + 6;
    if (!what) PetscCall(QualityPictureDrawConfusion(C, P, left, right, top, &next));
    else if (what < 3) PetscCall(QualityPictureDrawCurve(C, P, (PetscBool)(what == 1), left, right, top, &next));
    else PetscCall(QualityPictureDrawCalibration(C, P, left, right, top, &next));
    bottom = PetscMax(n == 2 ? 0 : bottom, next);
    n++;
  }
  *height = bottom + 2;
  PetscCall(GpAppParagraphDraw(C, 34, WIDTH - BMRM_PANEL_RIGHT, GP_APP_TEXT_SMALL, "Confusion matrix: the area of a square is the fraction of the examples of the true class. Blue squares are right predictions.", height));
  *height += 8;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the picture of the details. label: labels of the classes; names: their names, or NULL. Collective. */
PetscErrorCode BMRMDetailsWritePicture(MPI_Comm comm, const BMRMDetails *de, const PetscReal label[], const char names[], const char file[])
{
  QualityPicture P      = {de, label, names, {NULL, NULL, "", 0, NULL}};
  double         height = 0, right = 0, all = 0;
  GpAppCanvas    C;
  char           title[PETSC_MAX_PATH_LEN + 32], note[224], likely[64] = "";

  PetscFunctionBegin;
  for (PetscInt i = 0; i < de->k * de->k; i++) {
    all += (double)de->confusion[i];
    if (i / de->k == i % de->k) right += (double)de->confusion[i];
  }
  if (de->likely) (void)snprintf(likely, sizeof(likely), ", log loss %.4f, Brier score %.4f", (double)de->log_loss, (double)de->brier);
  (void)snprintf(title, sizeof(title), "Quality on %s", de->file);
  (void)snprintf(note, sizeof(note), "%.0f examples of %lld classes; accuracy %.2f %%%s", all, (long long)de->k, 100 * right / all, likely);
  P.header.title = title;
  P.header.note  = note;
  PetscCall(GpAppCanvasCreate(comm, file, NULL, &C));
  if (C.there) PetscCall(QualityPictureDraw(&C, &P, &height)); /* before the canvas is open, this only computes the height */
  PetscCall(GpAppCanvasOpen(&C, WIDTH, height));
  if (C.there) PetscCall(QualityPictureDraw(&C, &P, &height));
  PetscCall(GpAppCanvasClose(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
