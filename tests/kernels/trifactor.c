static char help[] = "Incomplete factorisations of many shapes agree with a reference, with every number of lanes, and are repeatable; triangles get their values.\n\n";

#include "gpucsr.h"
#include "mat/impls/gpucsr/trisolve/gptrifactor.h"
#include "sys/gpucsrsys.h"
#include <petscsys.h>

typedef struct {
  const char *name;
  int32_t     n, band, length; /* rows; columns are at most `band` rows away; up to `length` entries on each side of the diagonal */
  int32_t     most;            /* every 50th row has up to this many entries on each side */
} Shape;

static const Shape Shapes[] = {
  {"none", 0, 1, 0, 0}, {"one", 1, 1, 1, 1}, {"diagonal", 100, 1, 0, 0}, {"chain", 700, 1, 1, 1}, {"narrow", 900, 20, 6, 6}, {"wide", 2000, 1600, 3, 3}, {"long", 800, 700, 30, 30}, {"skewed", 1300, 1250, 2, 1200}, {"dense", 150, 150, 150, 150},
};

typedef struct {
  GpTriPattern p;
  int32_t     *begin, *end, *lower;
  int32_t     *col, *from;
  double      *a;   /* values of A */
  float       *a32; /* the same in single precision */
  double      *val; /* the reference */
} Problem;

static uint32_t Next(uint32_t *s)
{
  *s = *s * 1664525u + 1013904223u;
  return *s >> 8;
}

/* Draws ascending columns on one side of row i. */
static int32_t Draw(const Shape *shape, int32_t i, int upper, uint32_t *seed, int32_t col[], int32_t at)
{
  const int32_t reach = PetscMin(upper ? shape->n - 1 - i : i, shape->band), length = i % 50 == 3 ? shape->most : shape->length;
  int32_t       column = upper ? i + 1 : i - reach;

  for (int32_t k = 0; k < reach; k++, column++) {
    if ((int64_t)(Next(seed) % (uint32_t)reach) < length) col[at++] = column;
  }
  return at;
}

/* The reference, row by row in a dense row: PETSc's algorithm. */
static PetscErrorCode Factorise(Problem *P, double shift, double zero, double amount)
{
  const GpTriPattern *p = &P->p;
  double             *row, *pivot;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(p->n, &row, p->n, &pivot));
  for (int32_t i = 0; i < p->n; i++) {
    for (int32_t k = p->icc ? 0 : p->lower[i]; !p->icc && k < p->lower[i + 1]; k++) row[p->col[k]] = P->from[k] < 0 ? 0 : P->a[P->from[k]];
    for (int32_t k = p->begin[i]; k <= p->end[i]; k++) row[p->col[k]] = P->from[k] < 0 ? 0 : P->a[P->from[k]];
    row[i] += shift;
    for (int32_t k = p->icc ? 0 : p->lower[i]; !p->icc && k < p->lower[i + 1]; k++) {
      const int32_t other = p->col[k];

      row[other] *= pivot[other];
      for (int32_t e = p->begin[other]; e < p->end[other]; e++) row[p->col[e]] -= row[other] * P->val[e];
    }
    for (int32_t other = 0; other < i && p->icc; other++) { /* all earlier rows with an entry in column i */
      int32_t k = p->begin[other];

      while (k < p->end[other] && p->col[k] < i) k++;
      if (k == p->end[other] || p->col[k] > i) continue;
      for (int32_t e = k; e < p->end[other]; e++) row[p->col[e]] -= P->val[k] * pivot[other] * P->val[e];
    }
    if (PetscAbsReal(row[i]) <= zero) row[i] += amount;
    pivot[i] = 1 / row[i];
    for (int32_t k = p->icc ? 0 : p->lower[i]; !p->icc && k < p->lower[i + 1]; k++) P->val[k] = row[p->col[k]];
    for (int32_t k = p->begin[i]; k < p->end[i]; k++) P->val[k] = row[p->col[k]];
    P->val[p->end[i]] = pivot[i];
  }
  for (int32_t i = 0; i < p->n && p->icc; i++) {
    for (int32_t k = p->begin[i]; k < p->end[i]; k++) P->val[k] *= -pivot[i];
  }
  PetscCall(PetscFree2(row, pivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const Shape *shape, int icc, Problem *P)
{
  const int32_t n    = shape->n;
  const size_t  most = (size_t)n * 2 * (size_t)PetscMin(n, 2 * shape->length + 8) + (size_t)(n / 50 + 1) * 2 * (size_t)PetscMin(n, 2 * shape->most + 100) + (size_t)n;
  uint32_t      seed = 11;
  int32_t       at   = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(n, &P->begin, n, &P->end, n + 1, &P->lower, most, &P->col, most, &P->from));
  PetscCall(PetscMalloc3(most, &P->a, most, &P->a32, most, &P->val));
  for (int32_t i = 0; i < n && !icc; i++) {
    P->lower[i] = at;
    at          = Draw(shape, i, 0, &seed, P->col, at);
  }
  P->lower[n] = at;
  for (int32_t k = 0; k < n; k++) {
    const int32_t i = icc ? k : n - 1 - k; /* the order of PETSc's factors */

    P->begin[i]  = at;
    at           = Draw(shape, i, 1, &seed, P->col, at);
    P->end[i]    = at;
    P->col[at++] = i;
  }
  PetscCheck((size_t)at <= most, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %lld entries", shape->name, (long long)at);
  P->p = (GpTriPattern){n, icc, at, P->begin, P->end, P->lower, P->col};
  for (int32_t k = 0; k < at; k++) {
    P->from[k] = Next(&seed) % 10 ? (int32_t)(at - 1 - k) : -1;
    P->a32[k]  = (float)(0.1 + Next(&seed) % 1000 / 1000.) / (float)(4 + shape->length) * (k % 3 ? 1 : -1);
  }
  for (int32_t i = 0; i < n; i++) { /* every 50th row is long: the diagonal dominates the rows and the columns */
    P->from[P->end[i]]         = (int32_t)(at - 1 - P->end[i]);
    P->a32[at - 1 - P->end[i]] = (float)(i % 50 == 3 ? 4 + shape->most : 6 + n / 25) * (i % 7 || icc ? 1.f : -1.f);
  }
  for (int32_t k = 0; k < at; k++) P->a[k] = P->a32[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Problem *P)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree5(P->begin, P->end, P->lower, P->col, P->from));
  PetscCall(PetscFree3(P->a, P->a32, P->val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the factor on the device and downloads it. */
static PetscErrorCode Compute(GpDev dev, const Problem *P, GpTriFactor *F, int single, const GpTriPivots *pivots, GpTriStatus *status, double got[])
{
  const size_t bytes = (size_t)P->p.nnz * (single ? sizeof(float) : sizeof(double));
  void        *a;

  PetscFunctionBeginUser;
  PetscCallGp(dev, "allocate", GpDevAlloc(dev, bytes, &a));
  PetscCallGp(dev, "upload", GpDevUpload(dev, a, single ? (void *)P->a32 : (void *)P->a, bytes));
  PetscCallGp(dev, "factorise", GpTriFactorCompute(F, a, single, pivots, status));
  PetscCallGp(dev, "download", GpDevDownload(dev, got, F->val, (size_t)P->p.nnz * sizeof(double)));
  GpDevFree(dev, &a, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A triangle that gets its values from device memory has those that it gets from the host. */
static PetscErrorCode CompareTriangles(GpDev dev, const Problem *P, const GpTriFactor *F, const double val[], int single)
{
  const size_t size = single ? sizeof(float) : sizeof(double);
  GpTri        T[2];
  double      *diagonal;
  char        *got[2];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(P->p.n, &diagonal));
  for (int32_t i = 0; i < P->p.n; i++) diagonal[i] = val[P->p.end[i]];
  for (int k = 0; k < 2; k++) {
    PetscCallGp(dev, "create", GpTriCreate(dev, &(GpTriRows){P->p.n, 1, P->p.begin, P->p.end, P->p.col, NULL, NULL}, 0, single, &T[k]));
    for (int round = 0; round < 2; round++) {
      if (k) PetscCallGp(dev, "values", GpTriSetDeviceValues(&T[k], F->val, -1, F->pivot));
      else PetscCallGp(dev, "values", GpTriSetValues(&T[k], val, -1, diagonal));
    }
    PetscCall(PetscMalloc1((size_t)T[k].layout.stored * size + (size_t)P->p.n * sizeof(double), &got[k]));
    PetscCallGp(dev, "download", GpDevDownload(dev, got[k], T[k].val, (size_t)T[k].layout.stored * size));
    if (P->p.n) PetscCallGp(dev, "download", GpDevDownload(dev, got[k] + (size_t)T[k].layout.stored * size, T[k].diag, (size_t)P->p.n * sizeof(double)));
  }
  PetscCheck(!memcmp(got[0], got[1], (size_t)T[0].layout.stored * size + (size_t)P->p.n * sizeof(double)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The values of a triangle differ, single %d", single);
  for (int k = 0; k < 2; k++) {
    GpTriDestroy(&T[k]);
    PetscCall(PetscFree(got[k]));
  }
  PetscCall(PetscFree(diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(GpDev dev, const Shape *shape, int icc, int lanes)
{
  Problem     P = {0};
  GpTriFactor F;
  GpTriStatus status;
  double     *got, *again;

  PetscFunctionBeginUser;
  PetscCall(Create(shape, icc, &P));
  PetscCall(PetscMalloc2(P.p.nnz, &got, P.p.nnz, &again));
  PetscCallGp(dev, "create", GpTriFactorCreate(dev, &P.p, lanes, NULL, &F));
  PetscCallGp(dev, "source", GpTriFactorSetSource(&F, P.from));
  for (int round = 0; round < 4; round++) { /* new values and shifts each time; a small pivot, to which an amount is added, in the last */
    const GpTriPivots pivots = {round == 3 ? GP_TRI_PIVOT_INBLOCKS : GP_TRI_PIVOT_NONE, 1e-3, 5, round == 2 ? 0.25 : 0};
    double            error  = 0;

    for (int64_t k = 0; k < P.p.nnz && round == 1; k++) P.a[k] = P.a32[k] *= 1.5f;
    if (round == 3 && P.p.n) P.a[P.from[P.p.end[0]]] = P.a32[P.from[P.p.end[0]]] = 1e-4f;
    PetscCall(Factorise(&P, pivots.shift, pivots.zero, round == 3 ? pivots.amount : 0));
    PetscCall(Compute(dev, &P, &F, round % 2, &pivots, &status, got));
    PetscCall(Compute(dev, &P, &F, 0, &pivots, &status, again));
    for (int64_t k = 0; k < P.p.nnz; k++) error = PetscMax(error, PetscAbsReal(got[k] - P.val[k]) / (1e-3 + PetscAbsReal(P.val[k])));
    PetscCheck(error < 1e-11, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, icc %d, lanes %d, round %d: error %g", shape->name, icc, lanes, round, error);
    PetscCheck(!memcmp(got, again, (size_t)P.p.nnz * sizeof(double)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, icc %d, lanes %d, round %d: the second factor has other bits", shape->name, icc, lanes, round);
    PetscCheck(status.count == (round == 3 && P.p.n) && (!status.count || (status.first == 0 && status.last == 0)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, icc %d, lanes %d, round %d: %d small pivots, from row %d to row %d", shape->name, icc, lanes,
               round, (int)status.count, (int)status.first, (int)status.last);
    PetscCheck(status.negative == (!icc && P.p.n > (round == 3 ? 7 : 0)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, icc %d: negative pivots %d", shape->name, icc, (int)status.negative);
  }
  for (int single = 0; single < 2; single++) PetscCall(CompareTriangles(dev, &P, &F, got, single));
  GpTriFactorDestroy(&F);
  PetscCall(PetscFree2(got, again));
  PetscCall(Destroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pivots that are too small, and values that are no numbers: the rows are reported, and the kernel ends. */
static PetscErrorCode RunFaults(GpDev dev, int icc, int lanes)
{
  const Shape shape = {"faults", 900, 20, 6, 6};
  Problem     P     = {0};
  GpTriFactor F;
  GpTriStatus status;
  double     *got, pivot = -1;

  PetscFunctionBeginUser;
  PetscCall(Create(&shape, icc, &P));
  PetscCall(PetscMalloc1(P.p.nnz, &got));
  PetscCallGp(dev, "create", GpTriFactorCreate(dev, &P.p, lanes, NULL, &F));
  for (int64_t e = 0; e < P.p.nnz; e++) P.a[e] = PetscAbsReal(P.a[e]);
  for (int k = 0; k < 3; k++) { /* rows without a diagonal entry in A, which depend on no other row: all entries in their columns vanish */
    for (int64_t e = 0; e < P.p.nnz; e++) {
      if (P.p.col[e] == 100 + 300 * k) P.from[e] = -1;
    }
  }
  PetscCallGp(dev, "source", GpTriFactorSetSource(&F, P.from));
  for (int rule = 0; rule < 4; rule++) {
    const GpTriPivots pivots = {(GpTriPivotRule)rule, 1e-12, 3, 0};

    PetscCall(Compute(dev, &P, &F, 0, &pivots, &status, got));
    PetscCheck(status.first == 100 && status.count > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "icc %d, lanes %d, rule %d: %d small pivots, the first in row %d", icc, lanes, rule, (int)status.count, (int)status.first);
    PetscCheck(rule != GP_TRI_PIVOT_INBLOCKS || (status.count == 3 && status.last == 700), PETSC_COMM_SELF, PETSC_ERR_PLIB, "icc %d, lanes %d: %d small pivots, the last in row %d", icc, lanes, (int)status.count, (int)status.last);
    if (rule != GP_TRI_PIVOT_INBLOCKS) {
      PetscCallGp(dev, "pivot", GpTriFactorGetPivot(&F, 100, &pivot));
      PetscCheck(pivot == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "icc %d, lanes %d, rule %d: the pivot is %g", icc, lanes, rule, pivot);
    }
  }
  for (int64_t e = 0; e < P.p.nnz; e++) P.a[e] = e % 97 ? P.a[e] : NAN;
  PetscCall(Compute(dev, &P, &F, 0, &(GpTriPivots){GP_TRI_PIVOT_NONZERO, 1e-12, 0, 100}, &status, got));
  PetscCheck(status.count == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "icc %d, lanes %d: NaN counts as a small pivot", icc, lanes);
  GpTriFactorDestroy(&F);
  PetscCall(PetscFree(got));
  PetscCall(Destroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const int lanes[] = {0, 4, 8, 16, 32};
  PetscInt  every = 1, count = 0;
  GpDev     dev;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL)); /* runs every n-th case */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lanes); k++) {
    if (k && GpDevKindOf(dev) == GP_DEV_HOST) continue; /* the host computes row by row */
    for (int icc = 0; icc < 2; icc++) {
      for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Shapes); s++) {
        if (count++ % every == 0) PetscCall(Run(dev, &Shapes[s], icc, lanes[k]));
      }
      if (count++ % every == 0) PetscCall(RunFaults(dev, icc, lanes[k]));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "all factors agree\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: all

TEST*/
