/* One row of a factorised sparse approximate inverse: the dense matrix, its Cholesky factor, and the filter (fsai.h). */
#include "device/gpclones.h"
#include "pc/impls/gpufsai/fsai.h"

#include <math.h>

/* Copies the lower triangle of A(J,J) to L, column by column. */
static void GpFsaiGather(GpInvScratch *s, PetscInt m, const PetscInt J[])
{
  const GpInvMatrix *A = s->A;

  for (PetscInt a = 0; a < m; a++) s->position[J[a]] = a;
  for (PetscInt b = 0; b < m; b++) {
    for (PetscInt a = b; a < m; a++) s->L[a + (size_t)b * m] = 0;
  }
  for (PetscInt a = 0; a < m; a++) {
    for (PetscInt k = A->rowptr[J[a]]; k < A->rowptr[J[a] + 1] && A->col[k] <= J[a]; k++) {
      const PetscInt b = s->position[A->col[k]];

      if (b >= 0) s->L[a + (size_t)b * m] = A->val[k];
    }
  }
  for (PetscInt a = 0; a < m; a++) s->position[J[a]] = -1;
}

/* Overwrites column j, from its diagonal entry on, with the column minus the multiples of the j columns before it.  Four of these are combined, so that the column is
   loaded and stored less often. */
GP_CLONES static void GpFsaiUpdateColumn(PetscInt m, PetscInt j, double *L)
{
  double  *column = L + (size_t)j * m;
  PetscInt k      = 0;

  for (; k + 3 < j; k += 4) {
    const double *l0 = L + (size_t)k * m, *l1 = l0 + m, *l2 = l1 + m, *l3 = l2 + m;
    const double  f0 = l0[j], f1 = l1[j], f2 = l2[j], f3 = l3[j];

    for (PetscInt r = j; r < m; r++) column[r] -= f0 * l0[r] + f1 * l1[r] + f2 * l2[r] + f3 * l3[r];
  }
  for (; k < j; k++) {
    const double *l = L + (size_t)k * m, f = l[j];

    for (PetscInt r = j; r < m; r++) column[r] -= f * l[r];
  }
}

/* Replaces A(J,J) by its Cholesky factor.  For the few rows that J usually has, this loop takes a fifth to a third of the time of LAPACK's dpotrf, does not depend on its
   threads, and gives the same bits with every library. */
static GpInvCode GpFsaiFactorise(GpInvScratch *s, PetscInt m, const PetscInt J[])
{
  for (PetscInt j = 0; j < m; j++) {
    double *column = s->L + (size_t)j * m;
    double  inverse;

    GpFsaiUpdateColumn(m, j, s->L);
    if (!GpFsaiIsPivot(column[j], m, s->A->diagonal[J[j]])) {
      s->pivot = column[j];
      return GP_INV_PIVOT;
    }
    inverse = 1 / sqrt(column[j]);
    for (PetscInt r = j; r < m; r++) column[r] *= inverse;
  }
  s->flops += (double)m * m * m / 3;
  return GP_INV_SUCCESS;
}

static GpInvCode GpFsaiSolveRow(GpInvScratch *s, PetscInt m, const PetscInt J[])
{
  GpInvCode code = GpInvReserve(s, (size_t)m, (size_t)m * (size_t)m);

  if (!code) {
    GpFsaiGather(s, m, J);
    code = GpFsaiFactorise(s, m, J);
  }
  for (PetscInt a = m - 1; !code && a >= 0; a--) {
    const double *column = s->L + (size_t)a * m;
    double        sum    = a == m - 1;

    for (PetscInt b = a + 1; b < m; b++) sum -= column[b] * s->g[b];
    s->g[a] = sum / column[a];
    if (!isfinite(s->g[a])) {
      s->pivot = column[a];
      code     = GP_INV_PIVOT;
    }
  }
  s->flops += (double)m * m;
  return code;
}

/* Computes g'A(J,J)g. */
static double GpFsaiEnergy(GpInvScratch *s, PetscInt m, const PetscInt J[])
{
  const GpInvMatrix *A      = s->A;
  double             energy = 0;

  for (PetscInt a = 0; a < m; a++) s->position[J[a]] = a;
  for (PetscInt a = 0; a < m; a++) {
    double lower = 0;

    for (PetscInt k = A->rowptr[J[a]]; k < A->rowptr[J[a] + 1] && A->col[k] < J[a]; k++) {
      if (s->position[A->col[k]] >= 0) lower += A->val[k] * s->g[s->position[A->col[k]]];
    }
    energy += s->g[a] * (2 * lower + A->diagonal[J[a]] * s->g[a]);
  }
  for (PetscInt a = 0; a < m; a++) s->position[J[a]] = -1;
  return energy;
}

/* Entry j of row i is compared in the scaling in which A has a unit diagonal, so that the result does not depend on a diagonal scaling of A. */
static GpInvCode GpFsaiFilterRow(GpInvScratch *s, PetscReal filter, PetscInt *m, PetscInt J[])
{
  const PetscInt before = *m, last = before - 1;
  const double   bound = filter * s->g[last] * s->A->root[J[last]];
  PetscInt       kept  = 0;
  double         energy;

  if (filter <= 0) return GP_INV_SUCCESS;
  for (PetscInt a = 0; a < before; a++) {
    if (a < last && fabs(s->g[a]) * s->A->root[J[a]] <= bound) continue;
    s->g[kept] = s->g[a];
    J[kept++]  = J[a];
  }
  if (kept == before) return GP_INV_SUCCESS;
  *m     = kept;
  energy = GpFsaiEnergy(s, kept, J);
  if (!(energy > 0)) {
    s->pivot = energy;
    return GP_INV_PIVOT;
  }
  for (PetscInt a = 0; a < kept; a++) s->g[a] /= sqrt(energy);
  return GP_INV_SUCCESS;
}

GpInvCode GpFsaiRow(GpInvScratch *s, const void *options, PetscBool keep, PetscInt row, PetscInt *m)
{
  const GpFsaiOptions *o    = (const GpFsaiOptions *)options;
  GpInvCode            code = GP_INV_SUCCESS;

  if (o->adaptive && !keep) code = GpFsaiAdaptiveRow(s, o, row, m);
  else {
    if (!keep) *m = GpInvStaticPattern(s, o->power, o->threshold, PETSC_TRUE, row);
    code = GpFsaiSolveRow(s, *m, s->list);
  }
  if (!code && !keep) code = GpFsaiFilterRow(s, o->filter, m, s->list);
  if (!code) s->measure += log(s->g[*m - 1] * s->g[*m - 1] * s->A->diagonal[row]);
  return code;
}
