/* One row of a sparse approximate inverse: a dense least-squares problem, solved by Householder's method (spai.h). */
#include "device/gpclones.h"
#include "pc/impls/gpuspai/spai.h"

#include <math.h>

/* The least-squares problem: the norm of By - r is minimised. */
typedef struct {
  PetscInt k, m; /* B has k rows, the columns that rows J of A have, and m columns, the rows J of A */
  double  *B;    /* [k m] column by column; column a is row J[a] of A */
  double  *r;    /* [k] right-hand side */
  double  *norm; /* [m] norms of the columns of B */
} GpSpaiProblem;

/* Numbers the columns of A that the rows J have.  Returns their number; touched lists them. */
static PetscInt GpSpaiNumberColumns(GpInvScratch *s, PetscInt m)
{
  const GpInvMatrix *A = s->A;
  PetscInt           k = 0;

  for (PetscInt a = 0; a < m; a++) {
    for (PetscInt e = A->rowptr[s->list[a]]; e < A->rowptr[s->list[a] + 1]; e++) {
      const PetscInt c = A->col[e];

      if (s->position[c] >= 0) continue;
      s->position[c]  = k;
      s->touched[k++] = c;
    }
  }
  return k;
}

/* Sets up the problem for row `row`, whose pattern is in list.  If no row of the pattern has an entry in column `row`, there is no better row than zero, which is a failure. */
static GpInvCode GpSpaiGather(GpInvScratch *s, PetscInt row, PetscInt m, GpSpaiProblem *P)
{
  const GpInvMatrix *A    = s->A;
  const PetscInt     k    = GpSpaiNumberColumns(s, m);
  const size_t       size = (size_t)k * (size_t)m;
  GpInvCode          code = GpInvReserve(s, (size_t)m, size + (size_t)k + (size_t)m);

  *P = (GpSpaiProblem){.k = k, .m = m, .B = s->L, .r = s->L + size, .norm = s->L + size + k};
  for (size_t e = 0; !code && e < size + (size_t)k; e++) s->L[e] = 0;
  if (!code && s->position[row] >= 0) P->r[s->position[row]] = 1;
  else if (!code) {
    s->pivot = 0;
    code     = GP_INV_PIVOT;
  }
  for (PetscInt a = 0; !code && a < m; a++) {
    double *column = P->B + (size_t)a * k, sum = 0;

    for (PetscInt e = A->rowptr[s->list[a]]; e < A->rowptr[s->list[a] + 1]; e++) {
      column[s->position[A->col[e]]] = A->val[e];
      sum += A->val[e] * A->val[e];
    }
    P->norm[a] = sqrt(sum);
  }
  for (PetscInt c = 0; c < k; c++) s->position[s->touched[c]] = -1;
  return code;
}

/* Subtracts from x the multiple of v that a reflection with v and the factor `scale` subtracts. */
GP_CLONES static void GpSpaiReflect(PetscInt n, const double v[], double scale, double x[])
{
  double sum = 0;

  for (PetscInt r = 0; r < n; r++) sum += v[r] * x[r];
  sum *= scale;
  for (PetscInt r = 0; r < n; r++) x[r] -= sum * v[r];
}

/* Reduces B to an upper triangle by reflections, which also change r.  The diagonal of the triangle replaces the norms.  A column whose remainder is below the rounding error of its norm
   depends on the columns before it. */
static GpInvCode GpSpaiTriangulate(GpInvScratch *s, GpSpaiProblem *P)
{
  for (PetscInt a = 0; a < P->m; a++) {
    double  *v   = P->B + (size_t)a * P->k + a;
    PetscInt n   = P->k - a;
    double   sum = 0, alpha;

    for (PetscInt r = 0; r < n; r++) sum += v[r] * v[r];
    alpha = sqrt(sum);
    if (!(alpha > P->k * PETSC_MACHINE_EPSILON * P->norm[a])) {
      s->pivot = alpha;
      return GP_INV_PIVOT;
    }
    if (v[0] > 0) alpha = -alpha;
    P->norm[a] = alpha;
    sum -= alpha * v[0]; /* half the squared norm of the reflection's vector */
    v[0] -= alpha;
    for (PetscInt b = a + 1; b < P->m; b++) GpSpaiReflect(n, v, 1 / sum, v + (size_t)(b - a) * P->k);
    GpSpaiReflect(n, v, 1 / sum, P->r + a);
    s->flops += 4.0 * n * (P->m - a + 1);
  }
  return GP_INV_SUCCESS;
}

/* Solves with the triangle.  Adds the squared norm of the residual to the measure. */
static GpInvCode GpSpaiSolve(GpInvScratch *s, const GpSpaiProblem *P)
{
  for (PetscInt a = P->m - 1; a >= 0; a--) {
    double sum = P->r[a];

    for (PetscInt b = a + 1; b < P->m; b++) sum -= P->B[a + (size_t)b * P->k] * s->g[b];
    s->g[a] = sum / P->norm[a];
    if (!isfinite(s->g[a])) {
      s->pivot = P->norm[a];
      return GP_INV_PIVOT;
    }
  }
  for (PetscInt r = P->m; r < P->k; r++) s->measure += P->r[r] * P->r[r];
  s->flops += (double)P->m * P->m;
  return GP_INV_SUCCESS;
}

static PetscInt GpSpaiFilter(GpInvScratch *s, PetscReal filter, PetscInt m)
{
  double   largest = 0;
  PetscInt kept    = 0;

  for (PetscInt a = 0; a < m; a++) largest = PetscMax(largest, fabs(s->g[a]));
  for (PetscInt a = 0; a < m; a++) {
    if (fabs(s->g[a]) <= filter * largest) continue;
    s->g[kept]      = s->g[a];
    s->list[kept++] = s->list[a];
  }
  return kept;
}

GpInvCode GpSpaiRow(GpInvScratch *s, const void *options, PetscBool keep, PetscInt row, PetscInt *m)
{
  const GpSpaiOptions *o    = (const GpSpaiOptions *)options;
  GpInvCode            code = GpInvReserveSums(s);
  GpSpaiProblem        P;

  if (code) return code;
  if (!keep) *m = GpInvStaticPattern(s, o->power, o->threshold, PETSC_FALSE, row);
  code = GpSpaiGather(s, row, *m, &P);
  if (!code) code = GpSpaiTriangulate(s, &P);
  if (!code) code = GpSpaiSolve(s, &P);
  if (!code && !keep && o->filter > 0) *m = GpSpaiFilter(s, o->filter, *m);
  return code;
}
