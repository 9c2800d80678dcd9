static char help[] = "Losses of lists of examples: values by their definitions, cuts, slopes against differences, the trainer against nested searches.\n\n";

#include "bmrmimpl.h"
#include <gpucsr.h>

#define MROWS   11
#define NCOLS   2
#define QUERIES 3
#define GOLDEN  0.61803398874989484820
#define BETA    0.7
#define PLACES  2

typedef struct {
  const char *name;
  PetscReal (*risk)(const PetscReal z[], const PetscReal y[]);
  PetscInt labels; /* so many different ones; 2 are -1 and +1 */
  PetscInt parts;  /* cuts a pass at most */
} Loss;

/* --- the losses by their definitions, with no regard to cost -------------------------------------------------------------------------- */

static PetscReal PairRisk(const PetscReal z[], const PetscReal y[], PetscInt query, PetscBool distance)
{
  PetscReal sum = 0, pairs = 0;

  for (PetscInt i = 0; i < MROWS; i++) {
    for (PetscInt j = 0; j < MROWS; j++) {
      if (!(y[i] > y[j]) || (query >= 0 && (i % QUERIES != query || j % QUERIES != query))) continue;
      pairs++;
      sum += (distance ? y[i] - y[j] : 1) * PetscMax(0, 1 - z[i] + z[j]);
    }
  }
  return pairs > 0 ? sum / pairs : 0;
}

static PetscReal rocarea(const PetscReal z[], const PetscReal y[])
{
  return PairRisk(z, y, -1, PETSC_FALSE);
}

static PetscReal ordinal(const PetscReal z[], const PetscReal y[])
{
  return PairRisk(z, y, -1, PETSC_TRUE);
}

static PetscReal preference(const PetscReal z[], const PetscReal y[])
{
  PetscReal sum = 0;

  for (PetscInt q = 0; q < QUERIES; q++) sum += PairRisk(z, y, q, PETSC_FALSE) / QUERIES;
  return sum;
}

/* over all labellings */
static PetscReal fbeta(const PetscReal z[], const PetscReal y[])
{
  PetscReal worst = 0;

  for (PetscInt other = 0; other < 1 << MROWS; other++) {
    PetscReal tp = 0, fp = 0, fn = 0, F, sum = 0;

    for (PetscInt i = 0; i < MROWS; i++) {
      const PetscReal yi = other >> i & 1 ? 1 : -1;

      if (yi > 0 && y[i] > 0) tp++;
      if (yi > 0 && y[i] < 0) fp++;
      if (yi < 0 && y[i] > 0) fn++;
      sum += 0.5 * (yi - y[i]) * z[i] / MROWS;
    }
    F     = (1 + BETA * BETA) * tp / ((1 + BETA * BETA) * tp + fp + BETA * BETA * fn);
    worst = PetscMax(worst, 1 - F + sum);
  }
  return worst;
}

/* what goes over all orders of the n examples of a query */
typedef struct {
  PetscInt  n, ideals, order[MROWS];
  PetscReal z[MROWS], y[MROWS];
  PetscReal ideal, worst, mean;
} Orders;

static void Gain(Orders *o, PetscReal *gain, PetscReal *sum, PetscBool *falls)
{
  *gain = *sum = 0;
  *falls       = PETSC_TRUE;
  for (PetscInt j = 0; j < o->n; j++) {
    const PetscInt i = o->order[j];

    if (j < PLACES) *gain += (PetscPowReal(2, o->y[i]) - 1) / (PetscLogReal(j + 2) / PetscLogReal(2));
    *sum += o->z[i] * PetscPowReal(j + 1, -0.25);
    if (j && o->y[i] > o->y[o->order[j - 1]]) *falls = PETSC_FALSE;
  }
}

/* The first time through finds the largest gain and the mean over the ideal orders, the second the worst order. */
static void Permute(Orders *o, PetscInt k, PetscBool again)
{
  PetscReal gain, sum;
  PetscBool falls;

  if (k < o->n) {
    for (PetscInt i = k; i < o->n; i++) {
      const PetscInt a = o->order[k], b = o->order[i];

      o->order[k] = b;
      o->order[i] = a;
      Permute(o, k + 1, again);
      o->order[k] = a;
      o->order[i] = b;
    }
    return;
  }
  Gain(o, &gain, &sum, &falls);
  if (!again) o->ideal = PetscMax(o->ideal, gain);
  else o->worst = PetscMax(o->worst, 1 - gain / o->ideal + sum);
  if (!again && falls) {
    o->mean += sum;
    o->ideals++;
  }
}

static PetscReal ndcg(const PetscReal z[], const PetscReal y[])
{
  PetscReal sum = 0;

  for (PetscInt q = 0; q < QUERIES; q++) {
    Orders    o     = {0};
    PetscBool equal = PETSC_TRUE;

    o.worst = PETSC_NINFINITY;
    for (PetscInt i = q; i < MROWS; i += QUERIES) {
      o.z[o.n]     = z[i];
      o.y[o.n]     = y[i];
      o.order[o.n] = o.n;
      if (y[i] != y[q]) equal = PETSC_FALSE;
      o.n++;
    }
    if (equal) continue;
    Permute(&o, 0, PETSC_FALSE);
    Permute(&o, 0, PETSC_TRUE);
    sum += (o.worst - o.mean / o.ideals) / QUERIES;
  }
  return sum;
}

static const Loss losses[] = {{"rocarea", rocarea, 2, 1}, {"fbeta", fbeta, 2, 1}, {"ordinal", ordinal, 4, 1}, {"preference", preference, 3, QUERIES}, {"ndcg", ndcg, 3, QUERIES}};

static const struct {
  const char *type;
  PetscReal   square, absolute;
} regularizers[] = {{"l2", 1, 0}, {"elasticnet", 0.5, 0.5}, {"l1", 0, 1}};

/* --- problems ------------------------------------------------------------------------------------------------------------------------- */

/* a number in [-1, 1) that depends on nothing but its arguments */
static PetscReal Value(PetscInt seed, PetscInt i, PetscInt k)
{
  PetscInt64 s = 4711 + 15485863 * (PetscInt64)seed + 7919 * (PetscInt64)i + 104729 * (PetscInt64)k;

  for (int r = 0; r < 5; r++) s = (s * 1103515245 + 12345) & 0x7fffffff;
  return (PetscReal)s / (PetscReal)0x40000000 - 1;
}

typedef struct {
  const Loss *loss;
  PetscInt    reg;
  PetscReal   lambda, x[MROWS][NCOLS], y[MROWS], w[NCOLS];
} Problem;

/* Features with few digits, so that they are the same in single precision. */
static void Make(Problem *p, PetscInt seed)
{
  for (PetscInt i = 0; i < MROWS; i++) {
    PetscReal sum = 0.7 * Value(seed, i, 10);

    for (PetscInt k = 0; k < NCOLS; k++) {
      p->x[i][k] = PetscFloorReal(256 * Value(seed, i, k)) / 256;
      sum += p->x[i][k];
    }
    p->y[i] = p->loss->labels == 2 ? (i % 5 == 0 || sum > 0.5 ? 1 : -1) : PetscFloorReal(PetscMin(0.999, PetscMax(0, 0.5 + 0.5 * sum)) * p->loss->labels);
  }
}

static PetscReal Objective(const Problem *p)
{
  PetscReal z[MROWS], J = 0;

  for (PetscInt i = 0; i < MROWS; i++) {
    z[i] = 0;
    for (PetscInt k = 0; k < NCOLS; k++) z[i] += p->w[k] * p->x[i][k];
  }
  for (PetscInt k = 0; k < NCOLS; k++) J += p->lambda * (regularizers[p->reg].square * p->w[k] * p->w[k] / 2 + regularizers[p->reg].absolute * PetscAbsReal(p->w[k]));
  return J + (*p->loss->risk)(z, p->y);
}

/* The least objective over the weights from k on, by golden sections inside golden sections: no derivative, no model, only convexity. */
static PetscReal Least(Problem *p, PetscInt k)
{
  PetscReal lo = -40, hi = 40, at[2], J[2];

  if (k == NCOLS) return Objective(p);
  for (int s = 0; s < 2; s++) {
    at[s]   = s ? lo + GOLDEN * (hi - lo) : hi - GOLDEN * (hi - lo);
    p->w[k] = at[s];
    J[s]    = Least(p, k + 1);
  }
  while (hi - lo > 1e-9) {
    const int s = J[0] < J[1]; /* the end that goes: s = 1 the upper one */

    if (s) hi = at[1];
    else lo = at[0];
    at[s]     = at[1 - s];
    J[s]      = J[1 - s];
    at[1 - s] = s ? hi - GOLDEN * (hi - lo) : lo + GOLDEN * (hi - lo);
    p->w[k]   = at[1 - s];
    J[1 - s]  = Least(p, k + 1);
  }
  return PetscMin(J[0], J[1]);
}

static PetscErrorCode Create(const Problem *p, MatType type, Mat *X, Vec *y, Vec *q)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, MROWS, NCOLS));
  PetscCall(MatSetType(*X, type));
  PetscCall(MatSetFromOptions(*X));
  PetscCall(MatSetUp(*X));
  PetscCall(MatCreateVecs(*X, NULL, y));
  PetscCall(VecDuplicate(*y, q));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt k = 0; k < NCOLS; k++) PetscCall(MatSetValue(*X, i, k, p->x[i][k], INSERT_VALUES));
    PetscCall(VecSetValue(*y, i, p->y[i], INSERT_VALUES));
    PetscCall(VecSetValue(*q, i, 100 - 7 * (i % QUERIES), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(*y));
  PetscCall(VecAssemblyEnd(*y));
  PetscCall(VecAssemblyBegin(*q));
  PetscCall(VecAssemblyEnd(*q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(Vec v, PetscInt seed, PetscInt k, PetscReal factor)
{
  PetscScalar *a;
  PetscInt     start, n;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &start, NULL));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArray(v, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = factor * Value(seed, start + i, k);
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Slope(BMRM b, PetscReal s, PetscReal *slope)
{
  PetscReal d[2];

  PetscFunctionBegin;
  PetscCall((*b->loss->ops->slopes)(b->loss, b->f, b->e, 1, &s, b->labels, d));
  PetscCallMPI(MPI_Allreduce(d, slope, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- tests ---------------------------------------------------------------------------------------------------------------------------- */

/* Values, cuts, slopes and the line search at scores that depend on the trial; the first trial has all scores equal. */
static PetscErrorCode TestLoss(BMRM b, const Problem *p, PetscInt trial)
{
  const PetscReal h = 1e-7, size = trial ? 2 : 0, at = trial % 2 ? 0.3 : 0;
  const char     *name  = p->loss->name;
  const PetscInt  parts = p->loss->parts;
  BMRMLoss        l;
  Vec             g, sum;
  PetscScalar     dot;
  PetscReal       z[MROWS], risk, other, expected, offset, total = 0, slope, up, down, t, lo = 0, hi = 1e3;

  PetscFunctionBegin;
  PetscCall(BMRMSetUp(b));
  l = b->loss;
  PetscCall(VecDuplicate(b->f, &g));
  PetscCall(VecDuplicate(b->f, &sum));
  PetscCall(Fill(b->f, trial, 10, size));
  PetscCall(Fill(b->e, trial, 11, 1));
  for (PetscInt i = 0; i < MROWS; i++) z[i] = size * Value(trial, i, 10) + at * Value(trial, i, 11);
  expected = (*p->loss->risk)(z, p->y);
  PetscCall((*l->ops->risk)(l, b->f, b->e, at, b->labels, &risk));
  PetscCheck(PetscAbsReal(risk - expected) < 1e-13 * (1 + expected), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: risk %.17g, by definition %.17g", name, (double)risk, (double)expected);

  /* the cuts of all parts touch the risk where they were taken, and lie below it elsewhere */
  PetscCall(VecSet(sum, 0));
  for (PetscInt k = 0; k < parts; k++) {
    PetscCall((*l->ops->cut)(l, b->f, b->e, at, b->labels, parts, k, g, &offset));
    PetscCall(VecAXPY(sum, 1, g));
    total += offset;
  }
  PetscCall(VecWAXPY(g, at, b->e, b->f));
  PetscCall(VecDot(g, sum, &dot));
  PetscCheck(PetscAbsReal(PetscRealPart(dot) + total - risk) < 1e-13 * (1 + risk), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the cut is %.17g where the risk is %.17g", name, (double)(PetscRealPart(dot) + total), (double)risk);
  for (PetscInt k = 0; k < 20; k++) {
    PetscCall(Fill(g, trial, 20 + k, k % 2 ? 3 : 0.5));
    PetscCall((*l->ops->risk)(l, g, b->e, 0, b->labels, &other));
    PetscCall(VecDot(g, sum, &dot));
    PetscCheck(PetscRealPart(dot) + total <= other + 1e-13 * (1 + other) && other >= 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the cut is %.17g where the risk is %.17g", name, (double)(PetscRealPart(dot) + total), (double)other);
  }

  /* the slope lies between the differences to both sides; where there is no kink they are one */
  PetscCall(Slope(b, at, &slope));
  PetscCall((*l->ops->risk)(l, b->f, b->e, at + h, b->labels, &up));
  PetscCall((*l->ops->risk)(l, b->f, b->e, at - h, b->labels, &down));
  PetscCheck(slope <= (up - risk) / h + 1e-7 && slope >= (risk - down) / h - 1e-7, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: slope %.12g, by differences %.12g and %.12g", name, (double)slope, (double)((risk - down) / h), (double)((up - risk) / h));
  PetscCall(VecDot(b->e, sum, &dot));
  PetscCheck(PetscAbsReal(slope - PetscRealPart(dot)) < 1e-13 * (1 + PetscAbsReal(slope)), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: slope %.12g, by the gradient %.12g", name, (double)slope, (double)PetscRealPart(dot));

  /* the line search, with the regulariser, against bisection on the derivative of both */
  PetscCall(Fill(b->w, trial, 13, 1));
  PetscCall(Fill(b->d, trial, 14, 1));
  PetscCall(BMRMLineSearch_Private(b, &t));
  for (int it = 0; it < 60; it++) {
    const PetscReal s = it ? 0.5 * (lo + hi) : 0;
    PetscReal       mine[2], both[2];

    PetscCall(Slope(b, s, &slope));
    PetscCall((*b->reg->ops->derivative)(b->reg, b->lambda, b->w, b->d, s, mine));
    PetscCallMPI(MPI_Allreduce(mine, both, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
    if (slope + both[0] < 0) lo = s;
    else hi = s;
    if (!it && slope + both[0] >= 0) break;
  }
  PetscCheck(PetscAbsReal(t - hi) <= 1e-9 * (1 + hi), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: step %.17g, bisection ends at %.17g", name, regularizers[p->reg].type, (double)t, (double)hi);
  PetscCall(VecDestroy(&sum));
  PetscCall(VecDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The optimum lies between bound and objective, at every pass. */
static PetscErrorCode Watch(BMRM b, PetscInt it, PetscReal J, PetscReal lower, void *ctx)
{
  const PetscReal optimum = *(const PetscReal *)ctx;

  PetscFunctionBegin;
  PetscCheck(lower <= optimum + 1e-9 && J >= optimum - 1e-9, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s, pass %" PetscInt_FMT ": the optimum %.15g is not between %.15g and %.15g", b->losstype, b->regtype, it, (double)optimum, (double)lower,
             (double)J);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolve(BMRM b, Problem *p)
{
  PetscReal           J, lower, optimum = Least(p, 0);
  BMRMConvergedReason reason;
  Vec                 w, all;
  VecScatter          scatter;
  const PetscScalar  *a;

  PetscFunctionBegin;
  PetscCall(BMRMSetTolerances(b, 1e-7, 0, 1000));
  PetscCall(BMRMMonitorSet(b, Watch, &optimum, NULL));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMMonitorCancel(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(BMRMGetObjective(b, &J, &lower));
  PetscCheck(reason == BMRM_CONVERGED_GAP_ATOL, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: %s, gap %g", p->loss->name, regularizers[p->reg].type, BMRMConvergedReasons[reason], (double)(J - lower));
  PetscCall(BMRMGetSolution(b, &w));
  PetscCall(VecScatterCreateToAll(w, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, w, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, w, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt k = 0; k < NCOLS; k++) p->w[k] = PetscRealPart(a[k]);
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCheck(PetscAbsReal(Objective(p) - J) < 1e-12 * (1 + PetscAbsReal(J)), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the solution has the objective %.17g, reported is %.17g", p->loss->name, (double)Objective(p), (double)J);
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char     type[64] = MATAIJ;
  PetscInt seeds = 4, cuts = 1;
  Problem  p;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seeds", &seeds, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cuts", &cuts, NULL));
  for (size_t k = 0; k < sizeof(losses) / sizeof(losses[0]); k++) {
    p.loss = &losses[k];
    for (PetscInt seed = 0; seed < seeds; seed++) {
      Mat  X;
      Vec  y, q;
      BMRM b;

      p.reg    = seed % 3;
      p.lambda = seed % 2 ? 0.005 : 0.03;
      Make(&p, seed + 17 * (PetscInt)k);
      PetscCall(Create(&p, type, &X, &y, &q));
      PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
      PetscCall(BMRMSetData(b, X, y));
      PetscCall(BMRMSetQueries(b, q));
      PetscCall(BMRMSetLossType(b, p.loss->name));
      if (p.loss->risk == fbeta) PetscCall(BMRMSetLossParameter(b, "beta", BETA));
      if (p.loss->risk == ndcg) PetscCall(BMRMSetLossParameter(b, "places", PLACES));
      PetscCall(BMRMSetRegularizerType(b, regularizers[p.reg].type));
      PetscCall(BMRMSetLambda(b, p.lambda));
      PetscCall(BMRMSetCuts(b, PetscMin(cuts, p.loss->parts)));
      for (PetscInt trial = 0; trial < 10; trial++) PetscCall(TestLoss(b, &p, trial));
      PetscCall(TestSolve(b, &p));
      PetscCall(BMRMDestroy(&b));
      PetscCall(VecDestroy(&q));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&X));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: right\n", losses[k].name));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: double
      output_file: output/test_grouped_1.out
      test:
         suffix: 1
      test:
         suffix: 2
         nsize: {{2 4}}
         args: -type {{aij dense}} -seeds 1 -cuts 3
      test:
         suffix: gpu
         args: -type gpucsr -mat_gpucsr_vec_type gpu -vec_gpu_separate -mat_gpucsr_storage {{single double}} -seeds 2
      test:
         suffix: gpu_2
         nsize: 2
         args: -type gpucsr -mat_gpucsr_vec_type gpu -vec_gpu_separate -seeds 1 -cuts 2

TEST*/
