/* Adaptive patterns of the rows of a factorised sparse approximate inverse (fsai.h).

   Row i of G is sought as a multiple of (y, 1), where y belongs to the columns P before i.  Kaporin's condition number of GAG' is smallest if for every row the functional
   psi(y) = A(i,i) + 2 y'A(P,i) + y'A(P,P)y is smallest.  P grows by the columns for which the gradient of psi is largest.  The columns are kept in the order in which
   they were added, so that the Cholesky factor of A(P,P) grows by rows. */
#include "pc/impls/gpufsai/fsai.h"

#include <math.h>
#include <stdlib.h>

/* A row that grows.  scratch->list: P; scratch->g: y. */
typedef struct {
  GpInvScratch *scratch;
  PetscInt      row, m; /* i, and the number of columns in P */
  size_t        width;  /* distance of two rows of the Cholesky factor in scratch->L */
  double       *z;      /* solution of Lz = A(P,i), behind the factor */
  double        psi;
} GpFsaiGrowth;

/* Adds to sum the multiple of a row of A.  Returns the number of touched columns. */
static PetscInt GpFsaiAddGradient(GpInvScratch *s, PetscInt member, double factor, PetscInt row, PetscInt touched)
{
  const GpInvMatrix *A = s->A;

  for (PetscInt k = A->rowptr[member]; k < A->rowptr[member + 1]; k++) {
    const PetscInt c = A->col[k];

    if (c >= row || s->position[c] >= 0) continue;
    if (s->position[c] == -1) {
      s->position[c]        = -2;
      s->sum[c]             = 0;
      s->touched[touched++] = c;
    }
    s->sum[c] += factor * A->val[k];
  }
  s->flops += 2.0 * (A->rowptr[member + 1] - A->rowptr[member]);
  return touched;
}

/* Finds the columns with the largest gradient, in the scaling in which A has a unit diagonal.  If gradients are equal, the smaller column comes first.
   Returns the number of columns in chosen. */
static PetscInt GpFsaiFindLargest(GpInvScratch *s, PetscInt most, PetscInt touched, PetscInt chosen[])
{
  PetscInt n = 0;

  for (PetscInt t = 0; t < touched; t++) {
    const PetscInt c = s->touched[t];
    PetscInt       at;

    s->position[c] = -1;
    s->sum[c]      = s->A->root[c] > 0 ? fabs(s->sum[c]) / s->A->root[c] : 0;
    if (!(s->sum[c] > 0)) continue;
    for (at = n; at > 0; at--) {
      const PetscInt d = chosen[at - 1];

      if (s->sum[d] > s->sum[c] || (s->sum[d] == s->sum[c] && d < c)) break;
      if (at < most) chosen[at] = d;
    }
    if (at < most) chosen[at] = c;
    if (n < most) n++;
  }
  return n;
}

/* Appends a column to P, a row to the Cholesky factor, and an entry to z. */
static GpInvCode GpFsaiAppendColumn(GpFsaiGrowth *w, PetscInt column)
{
  GpInvScratch      *s = w->scratch;
  const GpInvMatrix *A = s->A;
  double            *l = s->L + w->width * (size_t)w->m, b = 0, pivot = A->diagonal[column];

  for (PetscInt a = 0; a < w->m; a++) l[a] = 0;
  for (PetscInt k = A->rowptr[column]; k < A->rowptr[column + 1]; k++) {
    if (A->col[k] == w->row) b = A->val[k];
    else if (s->position[A->col[k]] >= 0) l[s->position[A->col[k]]] = A->val[k];
  }
  for (PetscInt a = 0; a < w->m; a++) {
    const double *other = s->L + w->width * (size_t)a;

    for (PetscInt c = 0; c < a; c++) l[a] -= l[c] * other[c];
    l[a] /= other[a];
    pivot -= l[a] * l[a];
    b -= l[a] * w->z[a];
  }
  s->flops += (double)w->m * w->m;
  if (!GpFsaiIsPivot(pivot, w->m + 1, A->diagonal[column])) {
    s->pivot = pivot;
    return GP_INV_PIVOT;
  }
  l[w->m]    = sqrt(pivot);
  w->z[w->m] = b / l[w->m];
  w->psi -= w->z[w->m] * w->z[w->m];
  s->position[column] = w->m;
  s->list[w->m++]     = column;
  return GP_INV_SUCCESS;
}

/* Solves L'y = -z. */
static void GpFsaiSolveGrowth(GpFsaiGrowth *w)
{
  double *y = w->scratch->g;

  for (PetscInt a = 0; a < w->m; a++) y[a] = -w->z[a];
  for (PetscInt a = w->m - 1; a >= 0; a--) {
    const double *l = w->scratch->L + w->width * (size_t)a;

    y[a] /= l[a];
    for (PetscInt c = 0; c < a; c++) y[c] -= l[c] * y[a];
  }
  w->scratch->flops += (double)w->m * w->m;
}

/* Sorts the columns, with their values, by insertion, and adds the diagonal entry. */
static void GpFsaiFinishGrowth(GpFsaiGrowth *w)
{
  GpInvScratch *s     = w->scratch;
  const double  scale = 1 / sqrt(w->psi);

  for (PetscInt a = 0; a < w->m; a++) s->position[s->list[a]] = -1;
  s->position[w->row] = -1;
  for (PetscInt a = 1; a < w->m; a++) {
    const PetscInt column = s->list[a];
    const double   value  = s->g[a];
    PetscInt       at     = a;

    for (; at > 0 && s->list[at - 1] > column; at--) {
      s->list[at] = s->list[at - 1];
      s->g[at]    = s->g[at - 1];
    }
    s->list[at] = column;
    s->g[at]    = value;
  }
  for (PetscInt a = 0; a < w->m; a++) s->g[a] *= scale;
  s->list[w->m] = w->row;
  s->g[w->m++]  = scale;
}

/* Adds the columns of one step.  chosen: memory for step_size columns.  Returns through `grows` whether there may be another step. */
static GpInvCode GpFsaiGrow(GpFsaiGrowth *w, const GpFsaiOptions *o, PetscInt chosen[], PetscBool *grows)
{
  GpInvScratch *s       = w->scratch;
  const double  before  = w->psi;
  PetscInt      touched = GpFsaiAddGradient(s, w->row, 1, w->row, 0), n;
  GpInvCode     code    = GP_INV_SUCCESS;

  for (PetscInt a = 0; a < w->m; a++) touched = GpFsaiAddGradient(s, s->list[a], s->g[a], w->row, touched);
  n = GpFsaiFindLargest(s, o->step_size, touched, chosen);
  for (PetscInt c = 0; !code && c < n; c++) code = GpFsaiAppendColumn(w, chosen[c]);
  if (!code && !GpFsaiIsPivot(w->psi, w->m + 1, s->A->diagonal[w->row])) {
    s->pivot = w->psi;
    code     = GP_INV_PIVOT;
  }
  if (!code) GpFsaiSolveGrowth(w);
  *grows = (PetscBool)(!code && n && before - w->psi >= o->tolerance * before);
  return code;
}

GpInvCode GpFsaiAdaptiveRow(GpInvScratch *s, const GpFsaiOptions *o, PetscInt row, PetscInt *m)
{
  const size_t most = PetscMin((size_t)o->steps * (size_t)o->step_size, (size_t)row) + 1;
  GpFsaiGrowth w    = {.scratch = s, .row = row, .width = most, .psi = s->A->diagonal[row]};
  PetscInt    *chosen;
  PetscBool    grows = PETSC_TRUE;
  GpInvCode    code  = GpInvReserve(s, most, most * (most + 1)); /* one row more than the factor, for z */

  if (!code) code = GpInvReserveSums(s);
  if (code) return code;
  chosen = (PetscInt *)malloc((size_t)o->step_size * sizeof(*chosen));
  if (!chosen) return GP_INV_MEMORY;
  w.z = s->L + most * most;
  if (!GpFsaiIsPivot(w.psi, 1, w.psi)) {
    s->pivot = w.psi;
    code     = GP_INV_PIVOT;
  }
  for (PetscInt step = 0; !code && grows && step < o->steps; step++) code = GpFsaiGrow(&w, o, chosen, &grows);
  free(chosen);
  GpFsaiFinishGrowth(&w);
  *m = w.m;
  return code;
}
