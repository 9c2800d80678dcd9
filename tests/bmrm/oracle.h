/* What the tests of losses share: numbers that depend on nothing but their place, a search that knows only convexity, and the checks that every
   loss has to pass against its definition. */
#ifndef BMRM_ORACLE_H
#define BMRM_ORACLE_H

#include "bmrmimpl.h"
#include "nested.h"
#include <gpucsr.h>

#define MOST_N  6  /* weights */
#define MOST_M  64 /* scores */
#define OBJECTS PETSC_COMM_WORLD, PETSC_ERR_PLIB

/* an objective by its definition */
typedef struct _Oracle Oracle;
struct _Oracle {
  const char *name;
  PetscInt    m, n, k;                                  /* examples, features, scores of an example */
  PetscReal (*risk)(const Oracle *, const PetscReal[]); /* of m k scores: those of the first class, those of the second, ... */
  PetscReal (*omega)(const PetscReal w[], PetscInt n);
  PetscReal lambda, x[MOST_M * MOST_N], y[MOST_M], w[MOST_N]; /* x row by row */
  PetscReal range, width;                                     /* the minimum is looked for in a cube, to a width */
};

static inline PetscReal OmegaL2(const PetscReal w[], PetscInt n)
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < n; i++) sum += w[i] * w[i] / 2;
  return sum;
}

static inline PetscReal OmegaL1(const PetscReal w[], PetscInt n)
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < n; i++) sum += PetscAbsReal(w[i]);
  return sum;
}

static inline PetscReal OmegaElasticNet(const PetscReal w[], PetscInt n)
{
  return 0.5 * OmegaL2(w, n) + 0.5 * OmegaL1(w, n);
}

static inline PetscReal Objective(const void *oracle)
{
  const Oracle *p = (const Oracle *)oracle;
  PetscReal     z[MOST_M];

  for (PetscInt c = 0; c < p->k; c++) {
    for (PetscInt i = 0; i < p->m; i++) {
      z[c * p->m + i] = 0;
      for (PetscInt j = 0; j < p->n; j++) z[c * p->m + i] += p->w[c * p->n + j] * p->x[i * p->n + j];
    }
  }
  return p->lambda * (*p->omega)(p->w, p->n * p->k) + (*p->risk)(p, z);
}

/* The matrix of the features, which have few digits and so are the same in single precision, if that is how they were made. */
static inline PetscErrorCode CreateMat(const Oracle *p, MatType type, Mat *X)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, p->m, p->n));
  PetscCall(MatSetType(*X, type));
  PetscCall(MatSetFromOptions(*X));
  PetscCall(MatSetUp(*X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt j = 0; j < p->n; j++) PetscCall(MatSetValue(*X, i, j, p->x[i * p->n + j], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v = the numbers of an array of k columns, of which every rank holds a part of each; NULL for those of a seed, times a factor */
static inline PetscErrorCode Fill(Vec v, PetscInt k, const PetscReal from[], PetscInt seed, PetscInt which, PetscReal factor)
{
  PetscScalar *a;
  PetscInt     start, n, m;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &start, NULL));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetSize(v, &m));
  start /= k;
  n /= k;
  m /= k;
  PetscCall(VecGetArray(v, &a));
  for (PetscInt c = 0; c < k; c++) {
    for (PetscInt i = 0; i < n; i++) a[c * n + i] = from ? from[c * m + start + i] : factor * Value(seed, c * m + start + i, which);
  }
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Slopes(BMRM b, PetscReal s, PetscReal d[2])
{
  PetscReal mine[2];

  PetscFunctionBegin;
  PetscCall((*b->loss->ops->slopes)(b->loss, b->f, b->e, 1, &s, b->labels, mine));
  PetscCallMPI(MPI_Allreduce(mine, d, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cuts of all parts touch the risk where they were taken, and lie below it elsewhere. */
static inline PetscErrorCode TestCuts(BMRM b, const Oracle *p, PetscInt parts, PetscInt trial, PetscReal at, PetscReal risk, Vec sum)
{
  BMRMLoss    l = b->loss;
  Vec         g;
  PetscScalar dot;
  PetscReal   total = 0, offset, other;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b->f, &g));
  PetscCall(VecSet(sum, 0));
  for (PetscInt k = 0; k < parts; k++) {
    PetscCall((*l->ops->cut)(l, b->f, b->e, at, b->labels, parts, k, g, &offset));
    PetscCall(VecAXPY(sum, 1, g));
    total += offset;
  }
  PetscCall(VecWAXPY(g, at, b->e, b->f));
  PetscCall(VecDot(g, sum, &dot));
  PetscCheck(PetscAbsReal(PetscRealPart(dot) + total - risk) < 1e-13 * (1 + risk), OBJECTS, "%s: the cut is %.17g where the risk is %.17g", p->name, (double)(PetscRealPart(dot) + total), (double)risk);
  for (PetscInt k = 0; k < 20; k++) {
    PetscCall(Fill(g, p->k, NULL, trial, 20 + k, k % 2 ? 3 : 0.5));
    PetscCall((*l->ops->risk)(l, g, b->e, 0, b->labels, &other));
    PetscCall(VecDot(g, sum, &dot));
    PetscCheck(PetscRealPart(dot) + total <= other + 1e-13 * (1 + other) && other >= 0, OBJECTS, "%s: the cut is %.17g where the risk is %.17g", p->name, (double)(PetscRealPart(dot) + total), (double)other);
  }
  PetscCall(VecDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The line search, with the regulariser, against bisection on the derivative of both. */
static inline PetscErrorCode TestLineSearch(BMRM b, const Oracle *p, PetscInt trial)
{
  PetscReal t, lo = 0, hi = 1e3;

  PetscFunctionBegin;
  PetscCall(Fill(b->w, p->k, NULL, trial, 13, 1));
  PetscCall(Fill(b->d, p->k, NULL, trial, 14, 1));
  b->J = b->lower = 0; /* so it has to be exact */
  PetscCall(BMRMLineSearch_Private(b, &t));
  for (int it = 0; it < 60; it++) {
    const PetscReal s = it ? 0.5 * (lo + hi) : 0;
    PetscReal       d[2], mine[2], both[2];

    PetscCall(Slopes(b, s, d));
    PetscCall((*b->reg->ops->derivative)(b->reg, b->set.lambda, b->w, b->d, s, mine));
    PetscCallMPI(MPI_Allreduce(mine, both, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
    if (d[0] + both[0] < 0) lo = s;
    else hi = s;
    if (!it && d[0] + both[0] >= 0) break;
  }
  PetscCheck(PetscAbsReal(t - hi) <= 1e-8 * (1 + hi), OBJECTS, "%s, %s: step %.17g, bisection ends at %.17g", p->name, b->regtype, (double)t, (double)hi);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values, cuts, slopes and the line search at scores that depend on the trial; the first trial has all scores equal. */
static inline PetscErrorCode TestLoss(BMRM b, const Oracle *p, PetscInt parts, PetscInt trial)
{
  const PetscReal h = 1e-7, size = trial ? 2 : 0, at = trial % 2 ? 0.3 : 0;
  BMRMLoss        l;
  Vec             sum;
  PetscScalar     dot;
  PetscReal       z[MOST_M], risk, expected, d[2], up, down;

  PetscFunctionBegin;
  PetscCall(BMRMSetUp(b));
  l = b->loss;
  PetscCall(Fill(b->f, p->k, NULL, trial, 10, size));
  PetscCall(Fill(b->e, p->k, NULL, trial, 11, 1));
  for (PetscInt i = 0; i < p->m * p->k; i++) z[i] = size * Value(trial, i, 10) + at * Value(trial, i, 11);
  expected = (*p->risk)(p, z);
  PetscCall((*l->ops->risk)(l, b->f, b->e, at, b->labels, &risk));
  PetscCheck(PetscAbsReal(risk - expected) < 1e-13 * (1 + expected), OBJECTS, "%s: risk %.17g, by definition %.17g", p->name, (double)risk, (double)expected);
  PetscCall(VecDuplicate(b->f, &sum));
  PetscCall(TestCuts(b, p, parts, trial, at, risk, sum));

  /* the slope lies between the differences to both sides; where there is no kink they are one */
  PetscCall(Slopes(b, at, d));
  PetscCall((*l->ops->risk)(l, b->f, b->e, at + h, b->labels, &up));
  PetscCall((*l->ops->risk)(l, b->f, b->e, at - h, b->labels, &down));
  PetscCheck(d[0] <= (up - risk) / h + 1e-7 && d[0] >= (risk - down) / h - 1e-7, OBJECTS, "%s: slope %.12g, by differences %.12g and %.12g", p->name, (double)d[0], (double)((risk - down) / h), (double)((up - risk) / h));
  PetscCall(VecDot(b->e, sum, &dot));
  PetscCheck(PetscAbsReal(d[0] - PetscRealPart(dot)) < 1e-13 * (1 + PetscAbsReal(d[0])), OBJECTS, "%s: slope %.12g, by the gradient %.12g", p->name, (double)d[0], (double)PetscRealPart(dot));
  if (d[1] != 0) { /* smooth */
    PetscReal right[2], left[2], second;

    PetscCall(Slopes(b, at + 1e-5, right));
    PetscCall(Slopes(b, at - 1e-5, left));
    second = (right[0] - left[0]) / 2e-5;
    PetscCheck(PetscAbsReal(d[1] - second) < 1e-7 * (1 + second), OBJECTS, "%s: curvature %.12g, by differences %.12g", p->name, (double)d[1], (double)second);
  }
  PetscCall(TestLineSearch(b, p, trial));
  PetscCall(VecDestroy(&sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The optimum, w[0] here, lies between bound and objective, at every pass. */
static inline PetscErrorCode Watch(BMRM b, PetscInt it, PetscReal J, PetscReal lower, void *ctx)
{
  const Oracle   *p   = (const Oracle *)ctx;
  const PetscReal tol = p->width;

  PetscFunctionBegin;
  PetscCheck(lower <= p->w[0] + tol && J >= p->w[0] - tol, OBJECTS, "%s, %s, pass %" PetscInt_FMT ": the optimum %.15g is not between %.15g and %.15g", b->losstype, b->regtype, it, (double)p->w[0], (double)lower, (double)J);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The trainer against the nested search; its solution has the objective that it reports. */
static inline PetscErrorCode TestSolve(BMRM b, Oracle *p)
{
  const PetscScalar  *a;
  PetscReal           J, lower, mine[MOST_N] = {0};
  PetscInt            n, start;
  BMRMConvergedReason reason;
  Vec                 w;

  PetscFunctionBegin;
  p->w[0] = Least(p->w, p->n * p->k, p->range, p->width, Objective, p);
  PetscCall(BMRMSetTolerances(b, 1e-7, 0, 1000));
  PetscCall(BMRMMonitorSet(b, Watch, p, NULL));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMMonitorCancel(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(BMRMGetObjective(b, &J, &lower));
  PetscCheck(reason == BMRM_CONVERGED_GAP_ATOL, OBJECTS, "%s, %s: %s, gap %g", p->name, b->regtype, BMRMConvergedReasons[reason], (double)(J - lower));
  PetscCall(BMRMGetSolution(b, &w));
  PetscCall(VecGetLocalSize(w, &n));
  PetscCall(VecGetOwnershipRange(w, &start, NULL));
  PetscCall(VecGetArrayRead(w, &a));
  for (PetscInt i = 0; i < n; i++) mine[i / (n / p->k) * p->n + start / p->k + i % (n / p->k)] = PetscRealPart(a[i]);
  PetscCall(VecRestoreArrayRead(w, &a));
  PetscCallMPI(MPI_Allreduce(mine, p->w, (PetscMPIInt)(p->n * p->k), MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCheck(PetscAbsReal(Objective(p) - J) < 1e-12 * (1 + PetscAbsReal(J)), OBJECTS, "%s: the solution has the objective %.17g, reported is %.17g", p->name, (double)Objective(p), (double)J);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
