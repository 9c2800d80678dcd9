/* Pictures: the map, and the Shepard diagram of distances and disparities over dissimilarities; the data of the latter. */
#include "smacof.h"
#include <stdlib.h>
#include <string.h>

#define SAMPLE  20000 /* pairs of a Shepard diagram at most */
#define COLOURS 12
static const char *const colours[COLOURS] = {"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#7f7f7f", "#1a3a6b", "#000000"};

/* a frame in which values from low to high fill the picture */
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

static void Open(FILE *fp, const Frame *F)
{
  (void)fprintf(fp, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", F->W, F->H);
}

/* text, with what means something to XML written otherwise */
static void Text(FILE *fp, double x, double y, const char attributes[], const char text[])
{
  (void)fprintf(fp, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
  for (const char *c = text; *c; c++) {
    if (*c == '<') (void)fputs("&lt;", fp);
    else if (*c == '>') (void)fputs("&gt;", fp);
    else if (*c == '&') (void)fputs("&amp;", fp);
    else (void)fputc(*c, fp);
  }
  (void)fputs("</text>\n", fp);
}

static int CompareWords(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* the different labels in alphabetical order; none when there are more than colours */
static PetscErrorCode Legend(PetscInt N, const char labels[], const char *word[COLOURS], PetscInt *n)
{
  const char **all;

  PetscFunctionBegin;
  *n = 0;
  if (!labels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(N, &all));
  for (PetscInt i = 0; i < N; i++, labels += strlen(labels) + 1) all[i] = labels;
  qsort(all, (size_t)N, sizeof(*all), CompareWords);
  for (PetscInt i = 0; i < N && *n <= COLOURS; i++) {
    if (i && !strcmp(all[i], all[i - 1])) continue;
    if (*n < COLOURS) word[*n] = all[i];
    ++*n;
  }
  if (*n > COLOURS) *n = 0;
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first two dimensions, alike in scale; colours by label, names beside the points when there is room for them */
PetscErrorCode WriteMap(MPI_Comm comm, PetscInt N, PetscInt dim, const double x[], const char labels[], const char file[])
{
  Frame       F = {720, 640, 20, 20, 20, 20, {0, 0}, {0, 0}};
  const char *word[COLOURS], *label = labels;
  PetscInt    n;
  GpAppOutput out;
  double      half = 0;

  PetscFunctionBegin;
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    PetscCall(Legend(N, labels, word, &n));
    if (n) F.right = 120;
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
    Open(out.fp, &F);
    for (PetscInt i = 0; i < N; i++) {
      const double across = AcrossAt(&F, x[i]), down = DownAt(&F, dim > 1 ? x[N + i] : 0);
      PetscInt     k = 0;

      while (k < n - 1 && strcmp(word[k], label)) k++;
      (void)fprintf(out.fp, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"/>\n", across, down, N > 500 ? 2.0 : 3.5, colours[k]);
      if (labels && !n && N <= 200) Text(out.fp, across + 5, down + 4, "font-size=\"10\"", label);
      if (labels) label += strlen(label) + 1;
    }
    for (PetscInt k = 0; k < n; k++) {
      (void)fprintf(out.fp, "<circle cx=\"%g\" cy=\"%g\" r=\"5\" fill=\"%s\"/>\n", F.W - F.right + 20, F.top + 20 * (double)k, colours[k]);
      Text(out.fp, F.W - F.right + 32, F.top + 20 * (double)k + 4, "", word[k]);
    }
    (void)fputs("</svg>\n", out.fp);
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what is shown of a pair */
typedef struct {
  double i, j, delta, dhat, d;
} Shown;

/* every k-th pair of all ranks, on the first one */
static PetscErrorCode Sample(Scaler *S, PetscInt *n, Shown **all)
{
  const Dissim    *D    = S->D;
  const PetscInt   m    = D->last - D->first;
  const PetscInt64 k    = (D->npairs + SAMPLE - 1) / SAMPLE;
  PetscInt64       pair = 0, mine = 0;
  PetscMPIInt      size, rank, count, *counts, *displs;
  MPI_Datatype     type;
  const int       *column;
  Shown           *local;
  double          *delta;
  const double    *x;
  PetscInt         entries, got = 0;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(S->best.x, &x));
  if (S->o.disparity.type != DISPARITY_RATIO) PetscCall(DisparityUpdate(&S->disparity, x));
  PetscCall(PetscMalloc2(D->N, &delta, SAMPLE + 1, &local));
  for (PetscInt i = 0; i < m; i++) {
    if (!D->start) mine += D->first + i;
    else
      for (int64_t e = D->start[i]; e < D->start[i + 1]; e++) mine += D->column[e] < D->first + i;
  }
  PetscCallMPI(MPI_Exscan(&mine, &pair, 1, MPIU_INT64, MPI_SUM, D->comm));
  PetscCallMPI(MPI_Comm_rank(D->comm, &rank));
  PetscCallMPI(MPI_Comm_size(D->comm, &size));
  if (!rank) pair = 0;
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt p  = D->first + i;
    const size_t   at = D->start ? (size_t)D->start[i] : (size_t)i * D->N;

    PetscCall(DissimRow(D, i, &entries, &column, delta, NULL));
    for (PetscInt e = 0; e < entries; e++) {
      const PetscInt j = column ? column[e] : e;

      if (j >= p || pair++ % k) continue;
      local[got++] = (Shown){(double)p, (double)j, delta[e], S->o.disparity.type == DISPARITY_RATIO ? delta[e] : S->disparity.dhat[at + (size_t)e], Distance(D, S->o.dim, x, p, j)};
    }
  }
  PetscCall(VecRestoreArrayRead(S->best.x, &x));
  PetscCall(PetscMalloc2(size, &counts, size, &displs));
  PetscCall(PetscMPIIntCast(got, &count));
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, D->comm));
  displs[0] = 0;
  for (PetscMPIInt r = 1; r < size; r++) displs[r] = displs[r - 1] + counts[r - 1];
  *n = displs[size - 1] + counts[size - 1];
  PetscCall(PetscMalloc1(*n, all));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)sizeof(Shown), MPI_BYTE, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  PetscCallMPI(MPI_Gatherv(local, count, type, *all, counts, displs, type, 0, D->comm));
  PetscCallMPI(MPI_Type_free(&type));
  PetscCall(PetscFree2(counts, displs));
  PetscCall(PetscFree2(delta, local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void DrawShepard(FILE *fp, PetscInt n, const Shown all[])
{
  Frame F = {640, 480, 70, 20, 20, 50, {0, 0}, {0, 0}};

  for (PetscInt k = 0; k < n; k++) {
    F.high[0] = PetscMax(F.high[0], all[k].delta);
    F.high[1] = PetscMax(F.high[1], PetscMax(all[k].d, all[k].dhat));
  }
  for (int c = 0; c < 2; c++) F.high[c] = F.high[c] > 0 ? 1.03 * F.high[c] : 1;
  Open(fp, &F);
  for (int tick = 0; tick <= 4; tick++) {
    char number[32];

    (void)snprintf(number, sizeof(number), "%.3g", tick * F.high[0] / 4);
    Text(fp, AcrossAt(&F, tick * F.high[0] / 4), F.H - F.bottom + 18, "text-anchor=\"middle\"", number);
    (void)snprintf(number, sizeof(number), "%.3g", tick * F.high[1] / 4);
    Text(fp, F.left - 8, DownAt(&F, tick * F.high[1] / 4) + 4, "text-anchor=\"end\"", number);
  }
  (void)fprintf(fp, "<path d=\"M%g %g V%g H%g\" fill=\"none\" stroke=\"#888\"/>\n", F.left, F.top, F.H - F.bottom, F.W - F.right);
  for (PetscInt k = 0; k < n; k++) (void)fprintf(fp, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.2\" fill=\"#0b62a4\" fill-opacity=\"0.35\"/>\n", AcrossAt(&F, all[k].delta), DownAt(&F, all[k].d));
  for (PetscInt k = 0; k < n; k++) (void)fprintf(fp, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1\" fill=\"#d62728\"/>\n", AcrossAt(&F, all[k].delta), DownAt(&F, all[k].dhat));
  Text(fp, (F.left + F.W - F.right) / 2, F.H - 10, "text-anchor=\"middle\"", "dissimilarity");
  (void)fprintf(fp, "<text transform=\"translate(18 %g) rotate(-90)\" text-anchor=\"middle\">distance (blue), disparity (red)</text>\n</svg>\n", (F.top + F.H - F.bottom) / 2);
}

/* the Shepard diagram as SVG, its data as CSV; either name may be empty */
PetscErrorCode WriteShepard(Scaler *S, const char picture[], const char data[])
{
  GpAppOutput out;
  PetscInt    n   = 0;
  Shown      *all = NULL;

  PetscFunctionBegin;
  PetscCall(Sample(S, &n, &all));
  if (picture[0]) {
    PetscCall(GpAppOutputOpen(S->D->comm, picture, &out));
    if (out.fp) DrawShepard(out.fp, n, all);
    PetscCall(GpAppOutputCommit(&out));
  }
  if (data[0]) {
    PetscCall(GpAppOutputOpen(S->D->comm, data, &out));
    if (out.fp) {
      (void)fprintf(out.fp, "i,j,dissimilarity,disparity,distance\n");
      for (PetscInt k = 0; k < n; k++) (void)fprintf(out.fp, "%.0f,%.0f,%.17g,%.17g,%.17g\n", all[k].i, all[k].j, all[k].delta, all[k].dhat, all[k].d);
    }
    PetscCall(GpAppOutputCommit(&out));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
