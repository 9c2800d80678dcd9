/* Pictures: the map, and the Shepard diagram, which plots distances and disparities over dissimilarities.  Also the data of the diagram. */
#include "smacof.h"
#include <stdlib.h>
#include <string.h>

#define SAMPLE 20000 /* maximum number of pairs in a Shepard diagram */

/* coordinate system of a picture: values from low to high fill the area within the margins, in pixels */
typedef struct {
  double W, H, left, right, top, bottom, low[2], high[2];
} Frame;

static double AcrossAt(const Frame *F, double v)
{
  return F->left + (v - F->low[0]) / (F->high[0] - F->low[0]) * (F->W - F->left - F->right);
}

static double DownAt(const Frame *F, double v)
{
  return F->top + (F->high[1] - v) / (F->high[1] - F->low[1]) * (F->H - F->top - F->bottom);
}

static int CompareWords(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Gets the distinct labels in alphabetical order.  n is 0 if there are more labels than colours or if each point has its own label; there is no
   legend then, and the labels may be written next to the points. */
static PetscErrorCode PictureGetLegend(PetscInt N, const char labels[], const char *word[GP_APP_CANVAS_COLOURS], PetscInt *n)
{
  const char **all;

  PetscFunctionBegin;
  *n = 0;
  if (!labels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(N, &all));
  for (PetscInt i = 0; i < N; i++, labels += strlen(labels) + 1) all[i] = labels;
  qsort(all, (size_t)N, sizeof(*all), CompareWords);
  for (PetscInt i = 0; i < N && *n <= GP_APP_CANVAS_COLOURS; i++) {
    if (i && !strcmp(all[i], all[i - 1])) continue;
    if (*n < GP_APP_CANVAS_COLOURS) word[*n] = all[i];
    ++*n;
  }
  if (*n > GP_APP_CANVAS_COLOURS || *n == N) *n = 0;
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the frame of a map: its first two dimensions with equal scales. */
static Frame PictureGetMapFrame(PetscInt N, PetscInt dim, const double x[], PetscBool legend)
{
  Frame  F    = {720, 640, 20, legend ? 120 : 20, 20, 20, {0, 0}, {0, 0}};
  double half = 0;

  for (PetscInt c = 0; c < 2; c++) {
    F.low[c] = F.high[c] = c < dim ? x[(size_t)c * N] : 0;
    for (PetscInt i = 0; i < N && c < dim; i++) {
      F.low[c]  = PetscMin(F.low[c], x[(size_t)c * N + i]);
      F.high[c] = PetscMax(F.high[c], x[(size_t)c * N + i]);
    }
    half = PetscMax(half, 0.52 * (F.high[c] - F.low[c]));
  }
  if (half == 0) half = 1;
  for (PetscInt c = 0; c < 2; c++) {
    const double middle = 0.5 * (F.low[c] + F.high[c]), reach = c ? half : half * (F.W - F.left - F.right) / (F.H - F.top - F.bottom);

    F.low[c]  = middle - reach;
    F.high[c] = middle + reach;
  }
  return F;
}

static PetscErrorCode PictureDrawMap(GpAppCanvas *C, const Frame *F, PetscInt N, PetscInt dim, const double x[], const char labels[], PetscInt n, const char *word[])
{
  const char *label = labels;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < N; i++) {
    const double across = AcrossAt(F, x[i]), down = DownAt(F, dim > 1 ? x[N + i] : 0);
    int          k = 0;

    while (k < n - 1 && strcmp(word[k], label)) k++;
    PetscCall(GpAppCanvasDrawDisc(C, across, down, N > 500 ? 2.0 : 3.5, k, 1));
    if (labels && !n && N <= 200) PetscCall(GpAppCanvasDrawText(C, across + 5, down + 4, GP_APP_CANVAS_START, label));
    if (labels) label += strlen(label) + 1;
  }
  for (int k = 0; k < n; k++) {
    PetscCall(GpAppCanvasDrawDisc(C, F->W - F->right + 20, F->top + 20 * k, 5, k, 1));
    PetscCall(GpAppCanvasDrawText(C, F->W - F->right + 32, F->top + 20 * k + 4, GP_APP_CANVAS_START, word[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the picture of a map.  Labels select the colours, or are written next to the points if there are at most 200 points. */
PetscErrorCode WriteMap(MPI_Comm comm, PetscInt dim, Vec v, const char labels[], const char file[])
{
  const char        *word[GP_APP_CANVAS_COLOURS];
  const PetscScalar *x;
  PetscInt           n, N;
  Frame              F;
  GpAppCanvas        C;

  PetscFunctionBegin;
  PetscCall(VecGetSize(v, &N));
  N /= dim;
  PetscCall(VecGetArrayRead(v, &x));
  PetscCall(PictureGetLegend(N, labels, word, &n));
  F = PictureGetMapFrame(N, dim, x, (PetscBool)(n > 0));
  PetscCall(GpAppCanvasOpen(comm, file, "map_", F.W, F.H, &C));
  if (C.there) PetscCall(PictureDrawMap(&C, &F, N, dim, x, labels, n, word));
  PetscCall(GpAppCanvasClose(&C));
  PetscCall(VecRestoreArrayRead(v, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PictureDrawShepard(GpAppCanvas *C, PetscInt n, const SMACOFPair all[])
{
  Frame F = {C->W, C->H, 70, 20, 20, 50, {0, 0}, {0, 0}};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    F.high[0] = PetscMax(F.high[0], all[k].dissimilarity);
    F.high[1] = PetscMax(F.high[1], PetscMax(all[k].distance, all[k].disparity));
  }
  for (int c = 0; c < 2; c++) F.high[c] = F.high[c] > 0 ? 1.03 * F.high[c] : 1;
  for (int tick = 0; tick <= 4; tick++) {
    char number[32];

    PetscCall(PetscSNPrintf(number, sizeof(number), "%.3g", tick * F.high[0] / 4));
    PetscCall(GpAppCanvasDrawText(C, AcrossAt(&F, tick * F.high[0] / 4), F.H - F.bottom + 18, GP_APP_CANVAS_MIDDLE, number));
    PetscCall(PetscSNPrintf(number, sizeof(number), "%.3g", tick * F.high[1] / 4));
    PetscCall(GpAppCanvasDrawText(C, F.left - 8, DownAt(&F, tick * F.high[1] / 4) + 4, GP_APP_CANVAS_END, number));
  }
  PetscCall(GpAppCanvasDrawLine(C, F.left, F.top, F.left, F.H - F.bottom, PETSC_FALSE));
  PetscCall(GpAppCanvasDrawLine(C, F.left, F.H - F.bottom, F.W - F.right, F.H - F.bottom, PETSC_FALSE));
  for (PetscInt k = 0; k < n; k++) PetscCall(GpAppCanvasDrawDisc(C, AcrossAt(&F, all[k].dissimilarity), DownAt(&F, all[k].distance), 1.2, 0, 0.35));
  for (PetscInt k = 0; k < n; k++) PetscCall(GpAppCanvasDrawDisc(C, AcrossAt(&F, all[k].dissimilarity), DownAt(&F, all[k].disparity), 1, 1, 1));
  PetscCall(GpAppCanvasDrawText(C, (F.left + F.W - F.right) / 2, F.H - 10, GP_APP_CANVAS_MIDDLE, "dissimilarity"));
  PetscCall(GpAppCanvasDrawText(C, 18, (F.top + F.H - F.bottom) / 2, GP_APP_CANVAS_VERTICAL, "distance (blue), disparity (red)"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the Shepard diagram, and its data as CSV.  An empty name means that the file is not written. */
PetscErrorCode WriteShepard(SMACOF s, const char picture[], const char data[])
{
  GpAppOutput out;
  GpAppCanvas C;
  PetscInt    n    = 0;
  SMACOFPair *all  = NULL;
  MPI_Comm    comm = PetscObjectComm((PetscObject)s);

  PetscFunctionBegin;
  PetscCall(SMACOFGetSample(s, SAMPLE, &n, &all));
  if (picture[0]) {
    PetscCall(GpAppCanvasOpen(comm, picture, "shepard_", 640, 480, &C));
    if (C.there) PetscCall(PictureDrawShepard(&C, n, all));
    PetscCall(GpAppCanvasClose(&C));
  }
  if (data[0]) {
    PetscCall(GpAppOutputOpen(comm, data, &out));
    if (out.fp) {
      (void)fprintf(out.fp, "i,j,dissimilarity,disparity,distance\n");
      for (PetscInt k = 0; k < n; k++) (void)fprintf(out.fp, "%.0f,%.0f,%.17g,%.17g,%.17g\n", all[k].i, all[k].j, all[k].dissimilarity, all[k].disparity, all[k].distance);
    }
    PetscCall(GpAppOutputCommit(&out));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
