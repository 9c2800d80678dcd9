/* Pictures: the map, and the Shepard diagram, which plots distances and disparities over dissimilarities.  Also the data of the diagram. */
#include "smacof.h"
#include "app/picture/appaxes.h"
#include <stdlib.h>
#include <string.h>

#define SAMPLE 20000 /* maximum number of pairs in a Shepard diagram */
#define GROUPS 12    /* maximum number of groups with a legend */
#define NAMES  200   /* maximum number of points with names */
#define WIDTH  600   /* of a picture in pixels */
#define RIGHT  24    /* space at the right edge */

/* What a picture of a map shows */
typedef struct {
  PetscInt      N, dim;
  const double *x; /* [dim][N] */
  const char   *labels;
  PetscInt      n; /* number of groups; 0: the labels are names of points */
  const char   *word[GROUPS];
  int          *group; /* [N] */
  GpAppHeader   header;
} MapPicture;

static int PictureCompareWords(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Gets the groups, which are the distinct labels in alphabetical order. There are none if they are more than GROUPS, or more than half of the points: the
   labels are written next to the points then. */
static PetscErrorCode PictureGetGroups(MapPicture *P)
{
  const char **all, *label = P->labels;

  PetscFunctionBegin;
  P->n = 0;
  PetscCall(PetscCalloc1(P->N, &P->group));
  if (!P->labels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(P->N, &all));
  for (PetscInt i = 0; i < P->N; i++, label += strlen(label) + 1) all[i] = label;
  qsort(all, (size_t)P->N, sizeof(*all), PictureCompareWords);
  for (PetscInt i = 0; i < P->N && P->n <= GROUPS; i++) {
    if (i && !strcmp(all[i], all[i - 1])) continue;
    if (P->n < GROUPS) P->word[P->n] = all[i];
    P->n++;
  }
  if (P->n > GROUPS || 2 * P->n > P->N) P->n = 0;
  PetscCall(PetscFree(all));
  label = P->labels;
  for (PetscInt i = 0; i < P->N && P->n; i++, label += strlen(label) + 1)
    while (P->group[i] < P->n - 1 && strcmp(P->word[P->group[i]], label)) P->group[i]++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws dimensions `across` and `up` of a map into a frame. */
static PetscErrorCode PictureDrawPanel(GpAppCanvas *C, const MapPicture *P, const GpAppFrame *F, PetscInt across, PetscInt up, const GpAppAxis axis[], PetscInt *hidden, double *bottom)
{
  const double radius = P->N > 1000 ? 2 : P->N > NAMES ? 2.5 : 4;
  double      *x, *y, *part[2];

  PetscFunctionBegin;
  PetscCall(GpAppAxesDraw(C, F, &axis[0], &axis[1], bottom));
  PetscCall(PetscMalloc4(P->N, &x, P->N, &y, P->N, &part[0], P->N, &part[1]));
  for (PetscInt i = 0; i < P->N; i++) {
    x[i] = GpAppAxisPlace(&axis[0], F->left, F->right, P->x[(size_t)across * P->N + i]);
    y[i] = GpAppAxisPlace(&axis[1], F->bottom, F->top, up < P->dim ? P->x[(size_t)up * P->N + i] : 0);
  }
  for (int k = 0; k < PetscMax(1, P->n); k++) {
    PetscInt m = 0;

    for (PetscInt i = 0; i < P->N; i++) {
      if (P->group[i] != k) continue;
      part[0][m]   = x[i];
      part[1][m++] = y[i];
    }
    PetscCall(GpAppCanvasDrawMarkers(C, m, part[0], part[1], radius, k));
  }
  *hidden = 0;
  if (P->labels && !P->n && P->N <= NAMES) PetscCall(GpAppNamesDraw(C, F, P->N, x, y, radius, P->labels, hidden));
  PetscCall(PetscFree4(x, y, part[0], part[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the least and the greatest coordinate of a dimension; 0 for one that does not exist. */
static void PictureGetEnds(const MapPicture *P, PetscInt d, double *low, double *high)
{
  *low = *high = d < P->dim ? P->x[(size_t)d * P->N] : 0;
  for (PetscInt i = 0; i < P->N && d < P->dim; i++) {
    *low  = PetscMin(*low, P->x[(size_t)d * P->N + i]);
    *high = PetscMax(*high, P->x[(size_t)d * P->N + i]);
  }
}

/* Fits the axis of a dimension to a range around the middle of its coordinates. A dimension that does not exist has no ticks. */
static void PictureFitAxis(const MapPicture *P, PetscInt d, double range, GpAppAxis *a)
{
  static const char *const names[] = {"dimension 1", "dimension 2", "dimension 3"};
  double                   low, high, middle;

  PictureGetEnds(P, d, &low, &high);
  middle = low + (high - low) / 2;
  GpAppAxisFit(a, d < P->dim ? names[d] : NULL, PETSC_FALSE, middle - range / 2, middle + range / 2);
}

/* Draws a map of one or two dimensions, or the three views of the first three dimensions. All axes have the same scale. Computes the height of the picture. */
static PetscErrorCode PictureDrawMap(GpAppCanvas *C, const MapPicture *P, double *height)
{
  const int      views = P->dim > 2 ? 3 : 1, view[3][2] = {{0, 1}, {2, 1}, {0, 2}}; /* front, side and top */
  const PetscInt m    = PetscMin(P->dim, 3);
  PetscInt       most = 0, hidden;
  double         low, high, range = 0, top, side = 0, bottom = 0, share = 1;
  char           text[64];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < m; d++) {
    PictureGetEnds(P, d, &low, &high);
    range = PetscMax(range, high - low);
  }
  if (range <= 0) range = 1;
  if (m < 3) share = PetscMax(m < 2 ? 0.3 : 0.5, (m < 2 ? 0 : high - low) / range);
  if (P->labels && !P->n) range *= 1.08; /* space for names */
  for (int v = 0; v < views; v++) {
    GpAppAxis  axis[2];
    GpAppFrame F;

    for (int c = 0; c < 2; c++) PictureFitAxis(P, view[v][c], c ? share * range : range, &axis[c]);
    GpAppAxisSetTicks(C, &axis[1], views > 1 ? 200 : share * 480, PETSC_FALSE);
    F.left = GpAppAxesGetLeft(&axis[1]) + (v == 1 ? WIDTH / 2 - 6 : 0);
    if (!v) side = (views > 1 ? WIDTH / 2 - 6 : WIDTH - RIGHT) - F.left;
    F.right = F.left + side;
    GpAppAxisSetTicks(C, &axis[0], side, PETSC_TRUE);
    if (!v) PetscCall(GpAppHeaderDraw(C, &P->header, F.left, WIDTH - RIGHT, &top));
    F.top    = v == 2 ? bottom + 12 : top;
    F.bottom = F.top + share * side;
    PetscCall(PictureDrawPanel(C, P, &F, view[v][0], view[v][1], axis, &hidden, &bottom));
    most    = PetscMax(most, hidden);
    *height = bottom;
  }
  if (most) {
    PetscCall(PetscSNPrintf(text, sizeof(text), "For lack of space, %" PetscInt_FMT " name%s left out%s.", most, most == 1 ? " is" : "s are", views > 1 ? " in a view" : ""));
    PetscCall(GpAppParagraphDraw(C, 12, WIDTH - RIGHT, GP_APP_TEXT_SMALL, text, height));
    *height += 6;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the picture of a map.  Labels select markers, or are written next to the points if there are at most 200 points. */
PetscErrorCode WriteMap(MPI_Comm comm, PetscInt dim, Vec v, const char labels[], const char note[], const char file[])
{
  const PetscScalar *x;
  MapPicture         P = {0};
  GpAppLegend        legend[GROUPS];
  GpAppCanvas        C;
  double             height = 0;
  char               title[96];

  PetscFunctionBegin;
  PetscCall(VecGetSize(v, &P.N));
  P.dim = dim;
  P.N /= dim;
  P.labels = labels;
  PetscCall(VecGetArrayRead(v, &x));
  P.x = x;
  PetscCall(PictureGetGroups(&P));
  for (PetscInt k = 0; k < P.n; k++) legend[k] = (GpAppLegend){P.word[k], GP_APP_LEGEND_MARKER, (int)k};
  if (dim > 3) PetscCall(PetscSNPrintf(title, sizeof(title), "Map of %" PetscInt_FMT " points, the first 3 of %" PetscInt_FMT " dimensions", P.N, dim));
  else PetscCall(PetscSNPrintf(title, sizeof(title), "Map of %" PetscInt_FMT " points in %" PetscInt_FMT " dimension%s", P.N, dim, dim == 1 ? "" : "s"));
  P.header = (GpAppHeader){title, note, "", (int)P.n, legend};
  PetscCall(GpAppCanvasCreate(comm, file, "map_", &C));
  if (C.there) PetscCall(PictureDrawMap(&C, &P, &height)); /* before the canvas is open, this only computes the height */
  PetscCall(GpAppCanvasOpen(&C, WIDTH, height));
  if (C.there) PetscCall(PictureDrawMap(&C, &P, &height));
  PetscCall(GpAppCanvasClose(&C));
  PetscCall(PetscFree(P.group));
  PetscCall(VecRestoreArrayRead(v, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the diagram, and computes the height of the picture. */
static PetscErrorCode PictureDrawShepard(GpAppCanvas *C, PetscInt n, const SMACOFPair all[], const char note[], double *height)
{
  const GpAppLegend legend[] = {{"distance", GP_APP_LEGEND_MARKER, 0}, {"disparity", GP_APP_LEGEND_MARKER, 1}};
  const GpAppHeader header   = {"Shepard diagram", note, "", 2, legend};
  GpAppFrame        F        = {0, 0, WIDTH - RIGHT, 0};
  GpAppAxis         axis[2];
  double            most[2] = {0, 0}, *x, *y;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    most[0] = PetscMax(most[0], all[k].dissimilarity);
    most[1] = PetscMax(most[1], PetscMax(all[k].distance, all[k].disparity));
  }
  for (int c = 0; c < 2; c++) GpAppAxisFit(&axis[c], c ? "distance, disparity" : "dissimilarity", PETSC_FALSE, 0, most[c] > 0 ? most[c] : 1);
  GpAppAxisSetTicks(C, &axis[1], 380, PETSC_FALSE);
  F.left = GpAppAxesGetLeft(&axis[1]);
  GpAppAxisSetTicks(C, &axis[0], F.right - F.left, PETSC_TRUE);
  PetscCall(GpAppHeaderDraw(C, &header, F.left, F.right, &F.top));
  F.bottom = F.top + 380;
  PetscCall(GpAppAxesDraw(C, &F, &axis[0], &axis[1], height));
  PetscCall(PetscMalloc2(n, &x, n, &y));
  for (int what = 0; what < 2; what++) {
    for (PetscInt k = 0; k < n; k++) {
      x[k] = GpAppAxisPlace(&axis[0], F.left, F.right, all[k].dissimilarity);
      y[k] = GpAppAxisPlace(&axis[1], F.bottom, F.top, what ? all[k].disparity : all[k].distance);
    }
    PetscCall(GpAppCanvasDrawMarkers(C, n, x, y, (n > 2000 ? 1.5 : n > 200 ? 2.5 : 4) * (what ? 0.6 : 1), what));
  }
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the result of a fit in a few words. */
PetscErrorCode PictureWriteStress(SMACOF s, char note[], size_t length)
{
  SMACOFConvergedReason reason;
  SMACOFInfo            info;
  PetscReal             sigma;

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(s, &info));
  PetscCall(SMACOFGetStress(s, &sigma, NULL));
  PetscCall(SMACOFGetConvergedReason(s, &reason));
  PetscCall(PetscSNPrintf(note, length, "stress-1 %.4g, %s disparities%s", (double)PetscSqrtReal(sigma), SMACOFDisparities[info.disparity], reason > 0 ? "" : ", not converged"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the Shepard diagram. */
static PetscErrorCode PictureWriteShepard(SMACOF s, PetscInt n, const SMACOFPair all[], const char file[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)s);
  GpAppCanvas    C;
  SMACOFInfo     info;
  double         height = 0;
  char           note[192], sample[64] = "";

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(s, &info));
  PetscCall(PictureWriteStress(s, note, sizeof(note)));
  if (n < info.pairs) PetscCall(PetscSNPrintf(sample, sizeof(sample), "; a sample of %" PetscInt_FMT " pairs", n));
  PetscCall(PetscStrlcat(note, sample, sizeof(note)));
  PetscCall(GpAppCanvasCreate(comm, file, "shepard_", &C));
  if (C.there) PetscCall(PictureDrawShepard(&C, n, all, note, &height));
  PetscCall(GpAppCanvasOpen(&C, WIDTH, height));
  if (C.there) PetscCall(PictureDrawShepard(&C, n, all, note, &height));
  PetscCall(GpAppCanvasClose(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the Shepard diagram, and its data as CSV.  An empty name means that the file is not written. */
PetscErrorCode WriteShepard(SMACOF s, const char picture[], const char data[])
{
  GpAppOutput out;
  PetscInt    n   = 0;
  SMACOFPair *all = NULL;

  PetscFunctionBegin;
  PetscCall(SMACOFGetSample(s, SAMPLE, &n, &all));
  if (picture[0]) PetscCall(PictureWriteShepard(s, n, all, picture));
  if (data[0]) {
    PetscCall(GpAppOutputOpen(PetscObjectComm((PetscObject)s), data, &out));
    if (out.fp) {
      (void)fprintf(out.fp, "i,j,dissimilarity,disparity,distance\n");
      for (PetscInt k = 0; k < n; k++) (void)fprintf(out.fp, "%.0f,%.0f,%.17g,%.17g,%.17g\n", all[k].i, all[k].j, all[k].dissimilarity, all[k].disparity, all[k].distance);
    }
    PetscCall(GpAppOutputCommit(&out));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
