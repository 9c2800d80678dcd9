/* The picture: a sample of the points in the colours of their clusters, and the centroids. */
#include "kmeansrun.h"
#include "rows.h"
#include "app/picture/appcanvas.h"
#include <string.h>

#define PICTURE_POINTS 3000 /* largest number of points that are drawn */
#define PICTURE_LEGEND 10   /* largest number of clusters with a legend */
#define PICTURE_SIDE   520  /* width of the plot in pixels */

/* What the first rank draws. Positions are coordinates, then pixels. */
typedef struct {
  PetscInt    n, k;         /* points, centroids */
  PetscInt   *label;        /* [n] */
  double     *x[2], *c[2];  /* [n], [k] */
  char        title[2][96]; /* of the axes */
  char        brief[32];    /* vertical title for PetscDraw, whose letters stand one below the other; empty: title[1] is as short */
  double      low[2], high[2];
  GpAppFrame  frame;
  GpAppCanvas canvas;
} Picture;

/* Gets the name of column j: its heading, or its number. */
static PetscErrorCode PictureGetColumnName(const KMeansRun *run, PetscInt j, char name[], size_t length)
{
  const char *heading = run->points.headings;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < j && heading; i++) heading += strlen(heading) + 1;
  if (heading) PetscCall(PetscSNPrintf(name, length, "%.60s", heading));
  else PetscCall(PetscSNPrintf(name, length, "column %" PetscInt_FMT, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the coordinates of the sampled points and gets them on all ranks. Collective. */
static PetscErrorCode PicturePlacePoints(const KMeansRun *run, const PointRows *R, const PictureAxes *A, Picture *P)
{
  IS              labels;
  const PetscInt *label;

  PetscFunctionBegin;
  PetscCall(KMeansGetLabels(run->km, &labels));
  PetscCall(ISGetIndices(labels, &label));
  for (PetscInt s = 0; s < P->n; s++) {
    const PetscInt i = PointRowsFindSample(R->N, P->n, s) - R->first;

    if (i < 0 || i >= R->n) continue;
    P->label[s] = label[i];
    for (int c = 0; c < 2; c++) P->x[c][s] = PictureAxesProject(A, c, (PetscInt)(R->begin[i + 1] - R->begin[i]), R->col ? R->col + R->begin[i] : NULL, R->value + R->begin[i]);
  }
  PetscCall(ISRestoreIndices(labels, &label));
  for (int c = 0; c < 2; c++) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, P->x[c], (PetscMPIInt)P->n, MPI_DOUBLE, MPI_SUM, R->comm)); /* one rank has each point, the others add zeros */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, P->label, (PetscMPIInt)P->n, MPIU_INT, MPI_SUM, R->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the coordinates of the centroids and the titles of the axes. */
static PetscErrorCode PicturePlaceCentroids(const KMeansRun *run, const PictureAxes *A, Picture *P)
{
  Mat                M;
  const PetscScalar *m;
  PetscInt           d, lda;
  double            *row;

  PetscFunctionBegin;
  PetscCall(KMeansGetCentroids(run->km, &M));
  PetscCall(MatGetSize(M, NULL, &d));
  PetscCall(MatDenseGetLDA(M, &lda));
  PetscCall(MatDenseGetArrayRead(M, &m));
  PetscCall(PetscMalloc1(d, &row));
  for (PetscInt k = 0; k < P->k; k++) {
    for (PetscInt j = 0; j < d; j++) row[j] = m[k + (size_t)j * lda];
    for (int c = 0; c < 2; c++) P->c[c][k] = PictureAxesProject(A, c, d, NULL, row);
  }
  PetscCall(PetscFree(row));
  PetscCall(MatDenseRestoreArrayRead(M, &m));
  PetscCall(MatDestroy(&M));
  if (A->principal) PetscCall(PetscSNPrintf(P->brief, sizeof(P->brief), "axis 2 (%.1f %%)", 100 * A->share[1]));
  for (int c = 0; c < 2; c++) {
    if (A->principal) PetscCall(PetscSNPrintf(P->title[c], sizeof(P->title[c]), "principal axis %d (%.1f %% of variance)", c + 1, 100 * A->share[c]));
    else if (A->column[c] >= 0) PetscCall(PictureGetColumnName(run, A->column[c], P->title[c], sizeof(P->title[c])));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses the ranges of the axes and the size of the plot. Both axes have the same scale unless one range is over four times the other. */
static void PictureChooseFrame(Picture *P, double *W, double *H)
{
  double range[2], height;

  for (int c = 0; c < 2; c++) {
    P->low[c] = P->high[c] = P->c[c][0];
    for (PetscInt k = 0; k < P->k; k++) {
      P->low[c]  = PetscMin(P->low[c], P->c[c][k]);
      P->high[c] = PetscMax(P->high[c], P->c[c][k]);
    }
    for (PetscInt s = 0; s < P->n; s++) {
      P->low[c]  = PetscMin(P->low[c], P->x[c][s]);
      P->high[c] = PetscMax(P->high[c], P->x[c][s]);
    }
    range[c] = 1.06 * (P->high[c] - P->low[c]);
    if (!(range[c] > 1e-12 * PetscMax(PetscAbsReal(P->low[c]), PetscAbsReal(P->high[c])))) range[c] = P->high[c] ? PetscAbsReal(P->high[c]) : 1;
  }
  height = PetscMin(PICTURE_SIDE, PetscMax(0.4 * PICTURE_SIDE, PICTURE_SIDE * range[1] / range[0]));
  if (PetscMax(range[0], range[1]) <= 4 * PetscMin(range[0], range[1])) {
    const double unit = PetscMax(range[0] / PICTURE_SIDE, range[1] / height); /* per pixel */

    range[0] = unit * PICTURE_SIDE;
    range[1] = unit * height;
  } else height = 0.75 * PICTURE_SIDE;
  for (int c = 0; c < 2; c++) {
    const double middle = P->low[c] + (P->high[c] - P->low[c]) / 2;

    P->low[c]  = middle - range[c] / 2;
    P->high[c] = middle + range[c] / 2;
  }
  P->frame = (GpAppFrame){90, 40, 90 + PICTURE_SIDE, 40 + height};
  *W       = P->frame.right + (P->k <= PICTURE_LEGEND ? 160 : 30);
  *H       = PetscMax(P->frame.bottom + 60, P->k <= PICTURE_LEGEND ? P->frame.top + 24 * (P->k + 3) : 0);
}

/* Converts coordinates to pixels. */
static void PictureConvert(const Picture *P, PetscInt n, double *const x[])
{
  for (PetscInt i = 0; i < n; i++) {
    x[0][i] = P->frame.left + (x[0][i] - P->low[0]) / (P->high[0] - P->low[0]) * (P->frame.right - P->frame.left);
    x[1][i] = P->frame.bottom - (x[1][i] - P->low[1]) / (P->high[1] - P->low[1]) * (P->frame.bottom - P->frame.top);
  }
}

/* Draws the numbers of points of the clusters. */
static PetscErrorCode PictureDrawLegend(const KMeansRun *run, Picture *P)
{
  const double left = P->frame.right + 20, right = left + 120;
  GpAppCanvas *C = &P->canvas;

  PetscFunctionBegin;
  PetscCall(GpAppCanvasDrawText(C, left, P->frame.top + 10, GP_APP_CANVAS_START, "cluster"));
  PetscCall(GpAppCanvasDrawText(C, right, P->frame.top + 10, GP_APP_CANVAS_END, "points"));
  for (PetscInt k = 0; k <= P->k; k++) {
    const double x = left + 8, y = P->frame.top + 34 + 24 * k;
    char         text[32];

    if (k == P->k) {
      PetscCall(GpAppCanvasDrawCrosses(C, 1, &x, &y, 7));
      PetscCall(GpAppCanvasDrawText(C, left + 24, y + 4, GP_APP_CANVAS_START, "centroid"));
      continue;
    }
    PetscCall(GpAppCanvasDrawMarkers(C, 1, &x, &y, 6, (int)k));
    PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT, k));
    PetscCall(GpAppCanvasDrawText(C, left + 24, y + 4, GP_APP_CANVAS_START, text));
    PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt64_FMT, run->size[k]));
    PetscCall(GpAppCanvasDrawText(C, right, y + 4, GP_APP_CANVAS_END, text));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the points. Large clusters come first, so that they do not hide small ones. */
static PetscErrorCode PictureDrawPoints(const KMeansRun *run, Picture *P)
{
  PetscInt  *order, *place, *key, *sample, n;
  PetscReal *size;
  double    *x[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(P->k, &order, P->k, &place, P->k, &size));
  PetscCall(PetscMalloc4(P->n, &key, P->n, &sample, P->n, &x[0], P->n, &x[1]));
  for (PetscInt k = 0; k < P->k; k++) {
    order[k] = k;
    size[k]  = -(PetscReal)run->size[k] + (PetscReal)k / (PetscReal)P->k; /* equal sizes by ascending number */
  }
  PetscCall(PetscSortRealWithArrayInt(P->k, size, order));
  for (PetscInt k = 0; k < P->k; k++) place[order[k]] = k;
  for (PetscInt s = 0; s < P->n; s++) {
    key[s]    = place[P->label[s]];
    sample[s] = s;
  }
  PetscCall(PetscSortIntWithArray(P->n, key, sample));
  for (PetscInt from = 0; from < P->n; from += n) {
    for (n = 0; from + n < P->n && key[from + n] == key[from]; n++)
      for (int c = 0; c < 2; c++) x[c][n] = P->x[c][sample[from + n]];
    PetscCall(GpAppCanvasDrawMarkers(&P->canvas, n, x[0], x[1], P->n > 2000 ? 2 : P->n > 400 ? 2.5 : 4, (int)(order[key[from]] % 35)));
  }
  PetscCall(PetscFree3(order, place, size));
  PetscCall(PetscFree4(key, sample, x[0], x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PictureDraw(const KMeansRun *run, Picture *P)
{
  const GpAppFrame *F = &P->frame;
  PetscInt          N;
  char              text[128], drawn[64] = "";

  PetscFunctionBegin;
  PetscCall(MatGetSize(run->points.X, &N, NULL));
  PetscCall(GpAppCanvasDrawTicks(&P->canvas, F, P->low[0], P->high[0], PETSC_FALSE, PETSC_TRUE));
  if (P->title[1][0]) PetscCall(GpAppCanvasDrawTicks(&P->canvas, F, P->low[1], P->high[1], PETSC_FALSE, PETSC_FALSE));
  PictureConvert(P, P->n, P->x);
  PictureConvert(P, P->k, P->c);
  PetscCall(PictureDrawPoints(run, P));
  PetscCall(GpAppCanvasDrawCrosses(&P->canvas, P->k, P->c[0], P->c[1], P->k <= 10 ? 7 : P->k <= 100 ? 5 : 3));
  if (P->k <= PICTURE_LEGEND) PetscCall(PictureDrawLegend(run, P));
  if (P->n < N) PetscCall(PetscSNPrintf(drawn, sizeof(drawn), "; %" PetscInt_FMT " points are drawn", P->n));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT " points in %" PetscInt_FMT " cluster%s%s", N, P->k, P->k == 1 ? "" : "s", drawn));
  PetscCall(GpAppCanvasDrawText(&P->canvas, F->left, F->top - 14, GP_APP_CANVAS_START, text));
  PetscCall(GpAppCanvasDrawText(&P->canvas, (F->left + F->right) / 2, F->bottom + 46, GP_APP_CANVAS_MIDDLE, P->title[0]));
  PetscCall(GpAppCanvasDrawText(&P->canvas, 22, (F->top + F->bottom) / 2, GP_APP_CANVAS_VERTICAL, P->canvas.draw && P->brief[0] ? P->brief : P->title[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the picture. Its bytes do not depend on the number of ranks. Collective. */
PetscErrorCode KMeansWritePicture(const KMeansRun *run, const PictureOptions *o)
{
  Picture            P = {0};
  PictureAxes        A;
  PointRows          R;
  KMeansMetric       metric;
  const PetscScalar *weight = NULL;
  double             W, H;

  PetscFunctionBegin;
  PetscCall(KMeansGetMetric(run->km, &metric));
  PetscCall(PointRowsCreate(run->points.X, metric, &R));
  if (run->weights) PetscCall(VecGetArrayRead(run->weights, &weight));
  PetscCall(PictureAxesCreate(&R, weight, o->ncolumns, o->columns, &A));
  if (run->weights) PetscCall(VecRestoreArrayRead(run->weights, &weight));
  P.n = PetscMin(R.N, PICTURE_POINTS);
  P.k = run->k;
  PetscCall(PetscCalloc5(P.n, &P.label, P.n, &P.x[0], P.n, &P.x[1], P.k, &P.c[0], P.k, &P.c[1]));
  PetscCall(PicturePlacePoints(run, &R, &A, &P));
  PetscCall(PicturePlaceCentroids(run, &A, &P));
  PetscCall(PictureAxesDestroy(&A));
  PetscCall(PointRowsDestroy(&R));
  PictureChooseFrame(&P, &W, &H);
  PetscCall(GpAppCanvasOpen(run->comm, o->file, "picture_", W, H, &P.canvas));
  if (P.canvas.there) PetscCall(PictureDraw(run, &P));
  PetscCall(GpAppCanvasClose(&P.canvas));
  PetscCall(PetscFree5(P.label, P.x[0], P.x[1], P.c[0], P.c[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
