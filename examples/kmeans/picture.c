/* The picture: a sample of the points in the colours of their clusters, and the centroids. */
#include "kmeansrun.h"
#include "rows.h"
#include "app/picture/appaxes.h"
#include <string.h>

#define PICTURE_POINTS 3000 /* largest number of points that are drawn */
#define PICTURE_LEGEND 12   /* largest number of clusters with a legend */
#define PICTURE_WIDTH  600  /* of the picture in pixels */
#define PICTURE_RIGHT  24   /* space at the right edge */

/* What the first rank draws. Positions are coordinates, then pixels. */
typedef struct {
  PetscInt    n, k;         /* points, centroids */
  PetscInt   *label;        /* [n] */
  double     *x[2], *c[2];  /* [n], [k] */
  char        title[2][96]; /* of the axes */
  char        brief[32];    /* vertical title for PetscDraw, whose letters stand one below the other; empty: title[1] is as short */
  GpAppAxis   axis[2];      /* horizontal, vertical */
  double      tall;         /* height of the plot in multiples of its width */
  GpAppFrame  frame;
  GpAppHeader header;
  char        text[2][160]; /* title and note of the picture */
  GpAppLegend legend[PICTURE_LEGEND + 1];
  char        entry[PICTURE_LEGEND][48];
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

/* Chooses the ranges of the axes and the shape of the plot. Both axes have the same scale unless one range is over four times the other. */
static void PictureFitAxes(Picture *P)
{
  double low[2], high[2], range[2];

  for (int c = 0; c < 2; c++) {
    low[c] = high[c] = P->c[c][0];
    for (PetscInt k = 0; k < P->k; k++) {
      low[c]  = PetscMin(low[c], P->c[c][k]);
      high[c] = PetscMax(high[c], P->c[c][k]);
    }
    for (PetscInt s = 0; s < P->n; s++) {
      low[c]  = PetscMin(low[c], P->x[c][s]);
      high[c] = PetscMax(high[c], P->x[c][s]);
    }
    range[c] = high[c] - low[c];
    if (!(range[c] > 1e-12 * PetscMax(PetscAbsReal(low[c]), PetscAbsReal(high[c])))) range[c] = high[c] ? PetscAbsReal(high[c]) : 1;
  }
  P->tall = PetscMin(1, PetscMax(0.4, range[1] / range[0]));
  if (PetscMax(range[0], range[1]) <= 4 * PetscMin(range[0], range[1])) {
    const double most = PetscMax(range[0], range[1] / P->tall);

    range[0] = most;
    range[1] = most * P->tall;
  } else P->tall = P->title[1][0] ? 0.75 : 0.25;
  for (int c = 0; c < 2; c++) {
    const double middle = low[c] + (high[c] - low[c]) / 2;

    GpAppAxisFit(&P->axis[c], P->title[c][0] ? P->title[c] : NULL, PETSC_FALSE, middle - range[c] / 2, middle + range[c] / 2);
  }
}

/* Writes title, note and legend: the result of the run, and the number of points of each cluster. */
static PetscErrorCode PictureWriteHeader(const KMeansRun *run, Picture *P)
{
  PetscReal             inertia;
  KMeansConvergedReason reason;
  PetscInt              N;
  char                  part[96];

  PetscFunctionBegin;
  PetscCall(MatGetSize(run->points.X, &N, NULL));
  PetscCall(KMeansGetInertia(run->km, &inertia));
  PetscCall(KMeansGetConvergedReason(run->km, &reason));
  PetscCall(PetscSNPrintf(P->text[0], sizeof(P->text[0]), "%" PetscInt_FMT " points in %" PetscInt_FMT " cluster%s", N, P->k, P->k == 1 ? "" : "s"));
  PetscCall(PetscSNPrintf(P->text[1], sizeof(P->text[1]), "inertia %.6g", (double)inertia));
  if (run->sample && !PetscIsNanReal(run->silhouette)) {
    PetscCall(PetscSNPrintf(part, sizeof(part), ", silhouette %.4g", (double)run->silhouette));
    PetscCall(PetscStrlcat(P->text[1], part, sizeof(P->text[1])));
  }
  if (reason <= 0) PetscCall(PetscStrlcat(P->text[1], ", not converged", sizeof(P->text[1])));
  if (P->n < N) {
    PetscCall(PetscSNPrintf(part, sizeof(part), "; a sample of %" PetscInt_FMT " points is drawn", P->n));
    PetscCall(PetscStrlcat(P->text[1], part, sizeof(P->text[1])));
  }
  P->header = (GpAppHeader){P->text[0], P->text[1], P->k <= PICTURE_LEGEND ? "cluster: points" : "", 0, P->legend};
  for (PetscInt k = 0; k < P->k && P->k <= PICTURE_LEGEND; k++) {
    PetscCall(PetscSNPrintf(P->entry[k], sizeof(P->entry[k]), "%" PetscInt_FMT ": %" PetscInt64_FMT, k, run->size[k]));
    P->legend[P->header.n++] = (GpAppLegend){P->entry[k], GP_APP_LEGEND_MARKER, (int)k};
  }
  P->legend[P->header.n++] = (GpAppLegend){"centroid", GP_APP_LEGEND_CROSS, 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts coordinates to pixels. */
static void PictureConvert(const Picture *P, PetscInt n, double *const from[], double *const x[])
{
  for (PetscInt i = 0; i < n; i++) {
    x[0][i] = GpAppAxisPlace(&P->axis[0], P->frame.left, P->frame.right, from[0][i]);
    x[1][i] = GpAppAxisPlace(&P->axis[1], P->frame.bottom, P->frame.top, from[1][i]);
  }
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
    PictureConvert(P, n, x, x);
    PetscCall(GpAppCanvasDrawMarkers(&P->canvas, n, x[0], x[1], P->n > 2000 ? 2.2 : P->n > 400 ? 2.7 : 4, (int)(order[key[from]] % GP_APP_CANVAS_STYLES)));
  }
  PetscCall(PetscFree3(order, place, size));
  PetscCall(PetscFree4(key, sample, x[0], x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the picture, and computes its height. */
static PetscErrorCode PictureDraw(const KMeansRun *run, Picture *P, double *height)
{
  GpAppCanvas *C = &P->canvas;
  GpAppFrame  *F = &P->frame;
  double      *x[2];

  PetscFunctionBegin;
  if (GpAppCanvasIsPlain(C) && P->brief[0]) P->axis[1].label = P->brief;
  GpAppAxisSetTicks(C, &P->axis[1], P->tall * 520, PETSC_FALSE);
  F->left  = GpAppAxesGetLeft(&P->axis[1]);
  F->right = PICTURE_WIDTH - PICTURE_RIGHT;
  GpAppAxisSetTicks(C, &P->axis[0], F->right - F->left, PETSC_TRUE);
  PetscCall(GpAppHeaderDraw(C, &P->header, F->left, F->right, &F->top));
  F->bottom = F->top + P->tall * (F->right - F->left);
  PetscCall(GpAppAxesDraw(C, F, &P->axis[0], &P->axis[1], height));
  PetscCall(PictureDrawPoints(run, P));
  PetscCall(PetscMalloc2(P->k, &x[0], P->k, &x[1]));
  PictureConvert(P, P->k, P->c, x);
  PetscCall(GpAppCanvasDrawCrosses(C, P->k, x[0], x[1], P->k <= 10 ? 7 : P->k <= 100 ? 5 : 3));
  PetscCall(PetscFree2(x[0], x[1]));
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
  double             height = 0;

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
  PictureFitAxes(&P);
  PetscCall(PictureWriteHeader(run, &P));
  PetscCall(GpAppCanvasCreate(run->comm, o->file, "picture_", &P.canvas));
  if (P.canvas.there) PetscCall(PictureDraw(run, &P, &height)); /* before the canvas is open, this only computes the height */
  PetscCall(GpAppCanvasOpen(&P.canvas, PICTURE_WIDTH, height));
  if (P.canvas.there) PetscCall(PictureDraw(run, &P, &height));
  PetscCall(GpAppCanvasClose(&P.canvas));
  PetscCall(PetscFree5(P.label, P.x[0], P.x[1], P.c[0], P.c[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
