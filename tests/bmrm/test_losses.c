static char help[] = "Every loss with every regulariser: derivatives, cuts and line searches against differences, the trainer against nested searches.\n\n";

#include "bmrmimpl.h"
#include "nested.h"
#include <gpucsr.h>

#define MROWS 14
#define NCOLS 3

typedef struct {
  const char *name;
  PetscReal (*loss)(PetscReal z, PetscReal y);
  const char *labels; /* +-, real, count */
} Loss;

/* The losses by their definitions, with the parameters of the test. */
#define DEFINE(name, formula) \
  static PetscReal name(PetscReal z, PetscReal y) \
  { \
    return formula; \
  }
#define SQR(x)   ((x) * (x))
#define PLUS(x)  PetscMax(0, x)
#define QUANTILE 0.3
#define EPSILON  0.2
#define HUBER    0.4
#define RHO      0.7
DEFINE(hinge, PLUS(1 - y * z))
DEFINE(sqhinge, SQR(PLUS(1 - y * z)))
DEFINE(huberhinge, y *z < 1 - HUBER ? 1 - y * z : SQR(PLUS(1 + HUBER - y * z)) / (4 * HUBER))
DEFINE(logistic, log1p(PetscExpReal(-y *z)))
DEFINE(exponential, PetscExpReal(-y *z))
DEFINE(leastsquares, SQR(z - y) / 2)
DEFINE(absolute, PetscAbsReal(z - y))
DEFINE(quantile, PetscMax(QUANTILE *(y - z), (QUANTILE - 1) * (y - z)))
DEFINE(epsilon, PLUS(PetscAbsReal(y - z) - EPSILON))
DEFINE(sqepsilon, SQR(PLUS(PetscAbsReal(y - z) - EPSILON)))
DEFINE(huber, PetscAbsReal(z - y) < HUBER ? SQR(z - y) / 2 : HUBER * PetscAbsReal(z - y) - SQR(HUBER) / 2)
DEFINE(poisson, PetscExpReal(z) - y * z)
DEFINE(novelty, PLUS(RHO - z + 0 * y))

static const Loss losses[] = {{"hinge", hinge, "+-"},         {"sqhinge", sqhinge, "+-"},     {"huberhinge", huberhinge, "+-"}, {"logistic", logistic, "+-"},     {"exponential", exponential, "+-"}, {"leastsquares", leastsquares, "real"},
                              {"absolute", absolute, "real"}, {"quantile", quantile, "real"}, {"epsilon", epsilon, "real"},     {"sqepsilon", sqepsilon, "real"}, {"huber", huber, "real"},           {"poisson", poisson, "count"},
                              {"novelty", novelty, "real"}};

/* factors of the weights; with the last one zero the last weight is free; a group is the first two weights, or the last */
static const struct {
  const char *name, *type;
  PetscReal   square, absolute, group, factor[NCOLS];
} regularizers[] = {{"l2", "l2", 1, 0, 0, {1, 1, 1}},
                    {"l2 with factors", "l2", 1, 0, 0, {0.5, 2, 1}},
                    {"l2 with a free weight", "l2", 1, 0, 0, {1, 3, 0}},
                    {"elasticnet", "elasticnet", 0.7, 0.3, 0, {1, 1, 1}},
                    {"elasticnet with a free weight", "elasticnet", 0.7, 0.3, 0, {2, 1, 0}},
                    {"l1", "l1", 0, 1, 0, {1, 1, 1}},
                    {"l1 with factors and a free weight", "l1", 0, 1, 0, {0.5, 2, 0}},
                    {"grouplasso", "grouplasso", 0, 0, 1, {1, 1, 1}},
                    {"grouplasso with factors and a free weight", "grouplasso", 0, 0, 1, {2, 2, 0}}};

static void Row(const Loss *l, PetscInt seed, PetscInt i, PetscReal x[NCOLS], PetscReal *y)
{
  PetscReal sum = Value(seed, i, NCOLS);

  for (PetscInt k = 0; k < NCOLS; k++) {
    x[k] = k == NCOLS - 1 ? 1 : Value(seed, i, k);
    sum += x[k];
  }
  *y = l->labels[0] == '+' ? (i % 7 == 0) != (sum > 0.5) ? 1 : -1 : l->labels[0] == 'r' ? sum : PetscFloorReal(PLUS(2 * sum));
}

/* what a test works on */
typedef struct {
  const Loss *loss;
  PetscInt    seed, reg;
  PetscReal   lambda, w[NCOLS], x[MROWS][NCOLS], y[MROWS];
} Problem;

static PetscReal Omega(PetscInt reg, const PetscReal w[NCOLS])
{
  const PetscReal *factor = regularizers[reg].factor;
  PetscReal        sum    = regularizers[reg].group * (factor[0] * PetscSqrtReal(2 * (SQR(w[0]) + SQR(w[1]))) + factor[2] * PetscAbsReal(w[2]));

  for (PetscInt k = 0; k < NCOLS; k++) sum += factor[k] * (regularizers[reg].square * SQR(w[k]) / 2 + regularizers[reg].absolute * PetscAbsReal(w[k]));
  return sum;
}

static PetscReal Objective(const void *problem)
{
  const Problem *p = (const Problem *)problem;
  PetscReal      J = 0;

  for (PetscInt i = 0; i < MROWS; i++) {
    PetscReal z = 0;

    for (PetscInt k = 0; k < NCOLS; k++) z += p->w[k] * p->x[i][k];
    J += (*p->loss->loss)(z, p->y[i]) / MROWS;
  }
  return J + p->lambda * Omega(p->reg, p->w);
}

static PetscErrorCode CreateProblem(const Problem *p, MatType type, Mat *X, Vec *y)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, X));
  PetscCall(MatSetSizes(*X, PETSC_DECIDE, PETSC_DECIDE, MROWS, NCOLS));
  PetscCall(MatSetType(*X, type));
  PetscCall(MatSetFromOptions(*X));
  PetscCall(MatSetUp(*X));
  PetscCall(MatCreateVecs(*X, NULL, y));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt k = 0; k < NCOLS; k++) PetscCall(MatSetValue(*X, i, k, p->x[i][k], INSERT_VALUES));
    PetscCall(VecSetValue(*y, i, p->y[i], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(*y));
  PetscCall(VecAssemblyEnd(*y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Prepare(BMRM b, const Problem *p, PetscInt reg)
{
  const PetscReal *factor   = regularizers[reg].factor;
  PetscReal        values[] = {QUANTILE, EPSILON, HUBER, RHO};
  const char      *names[]  = {"quantile", "epsilon", "huber", "rho"};

  PetscFunctionBegin;
  PetscCall(BMRMSetLossType(b, p->loss->name));
  for (int k = 0; k < 4; k++) {
    PetscBool has = PETSC_FALSE;

    if (k == 0) has = (PetscBool)(p->loss->loss == quantile);
    if (k == 1) has = (PetscBool)(p->loss->loss == epsilon || p->loss->loss == sqepsilon);
    if (k == 2) has = (PetscBool)(p->loss->loss == huber || p->loss->loss == huberhinge);
    if (k == 3) has = (PetscBool)(p->loss->loss == novelty);
    if (has) PetscCall(BMRMSetLossParameter(b, names[k], values[k]));
  }
  PetscCall(BMRMSetRegularizerType(b, regularizers[reg].type));
  PetscCall(BMRMSetElasticNetRatio(b, 0.3));
  PetscCall(BMRMSetGroupSize(b, 2));
  if (factor[0] != 1 || factor[2] != 1) {
    Vec      w;
    PetscInt start, end;

    PetscCall(MatCreateVecs(b->X, &w, NULL));
    PetscCall(VecGetOwnershipRange(w, &start, &end));
    for (PetscInt k = start; k < end; k++) PetscCall(VecSetValue(w, k, factor[k], INSERT_VALUES));
    PetscCall(VecAssemblyBegin(w));
    PetscCall(VecAssemblyEnd(w));
    PetscCall(BMRMSetWeights(b, w));
    PetscCall(VecDestroy(&w));
  } else PetscCall(BMRMSetWeights(b, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* this rank's part of both derivatives of the risk at the step s, among those at other steps */
static PetscErrorCode Slopes(BMRM b, PetscReal s, PetscReal d[2])
{
  const PetscReal t[] = {s - 1, s, s + 2};
  PetscReal       all[6];

  PetscFunctionBegin;
  PetscCall((*b->loss->ops->slopes)(b->loss, b->f, b->e, 3, t, b->labels, all));
  d[0] = all[2];
  d[1] = all[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values, subgradients, cuts, derivatives along a line and the line search, at points that depend on the trial. */
static PetscErrorCode TestLoss(BMRM b, const Problem *p, PetscInt trial)
{
  const PetscReal h = 1e-6;
  BMRMLoss        l;
  Vec             f, e, r, g;
  PetscScalar    *fa, *ea, dot;
  PetscReal       risk, other, offset[5], sum = 0, d[2], all[2], up[2], down[2], t, at, lo = 0, hi = 1e3, expected = 0;
  PetscInt        start, n;

  PetscFunctionBegin;
  PetscCall(BMRMSetUp(b));
  l = b->loss;
  f = b->f;
  e = b->e;
  r = b->r[0];
  PetscCall(VecDuplicate(f, &g));
  PetscCall(VecGetOwnershipRange(f, &start, NULL));
  PetscCall(VecGetLocalSize(f, &n));
  PetscCall(VecGetArray(f, &fa));
  PetscCall(VecGetArray(e, &ea));
  for (PetscInt i = 0; i < n; i++) {
    fa[i] = 2 * Value(trial, start + i, 10);
    ea[i] = Value(trial, start + i, 11) + 0.2;
  }
  PetscCall(VecRestoreArray(f, &fa));
  PetscCall(VecRestoreArray(e, &ea));
  at = PLUS(Value(trial, 0, 12));
  for (PetscInt i = 0; i < MROWS; i++) expected += (*p->loss->loss)(2 * Value(trial, i, 10) + at * (Value(trial, i, 11) + 0.2), p->y[i]) / MROWS;
  PetscCall((*l->ops->risk)(l, f, e, at, b->labels, &risk));
  PetscCheck(PetscAbsReal(risk - expected) < 1e-13 * (1 + expected), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: risk %.17g, by definition %.17g", p->loss->name, (double)risk, (double)expected);

  /* the cut touches the risk where it was taken, and lies below it elsewhere */
  PetscCall(VecSet(r, 0));
  for (PetscInt k = 0; k < 5; k++) {
    PetscCall((*l->ops->cut)(l, f, e, at, b->labels, 5, k, g, &offset[k]));
    PetscCall(VecAXPY(r, 1, g));
    sum += offset[k];
  }
  PetscCall(VecWAXPY(g, at, e, f));
  PetscCall(VecDot(g, r, &dot));
  PetscCheck(PetscAbsReal(PetscRealPart(dot) + sum - risk) < 1e-12 * (1 + risk), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the cut is %.17g where the risk is %.17g", p->loss->name, (double)(PetscRealPart(dot) + sum), (double)risk);
  for (PetscInt k = 0; k < 20; k++) {
    PetscInt i0 = start;

    PetscCall(VecGetArray(g, &fa));
    for (PetscInt i = 0; i < n; i++) fa[i] = 3 * Value(trial, i0 + i, 20 + k);
    PetscCall(VecRestoreArray(g, &fa));
    PetscCall((*l->ops->risk)(l, g, e, 0, b->labels, &other));
    PetscCall(VecDot(g, r, &dot));
    PetscCheck(PetscRealPart(dot) + sum <= other + 1e-13 * (1 + other), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the cut is %.17g where the risk is %.17g", p->loss->name, (double)(PetscRealPart(dot) + sum), (double)other);
  }
  PetscCall((*l->ops->least)(l, b->labels, 5, offset));
  for (sum = 0, t = 0; t < 5; t++) sum += offset[(int)t];
  PetscCheck(sum <= risk, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the least risk is %g, but there is %g", p->loss->name, (double)sum, (double)risk);

  /* both derivatives along the line, and the gradient, against differences */
  PetscCall(Slopes(b, at, d));
  PetscCallMPI(MPI_Allreduce(d, all, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall((*l->ops->risk)(l, f, e, at + h, b->labels, &up[0]));
  PetscCall((*l->ops->risk)(l, f, e, at - h, b->labels, &down[0]));
  PetscCheck(PetscAbsReal(all[0] - (up[0] - down[0]) / (2 * h)) < 1e-8 * (1 + PetscAbsReal(all[0]) + all[1]), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: slope %.12g, by differences %.12g", p->loss->name, (double)all[0],
             (double)((up[0] - down[0]) / (2 * h)));
  PetscCall(VecDot(e, r, &dot));
  PetscCheck(PetscAbsReal(all[0] - PetscRealPart(dot)) < 1e-12 * (1 + PetscAbsReal(all[0])), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: slope %.12g, by the gradient %.12g", p->loss->name, (double)all[0], (double)PetscRealPart(dot));
  PetscCall(Slopes(b, at + h, d));
  PetscCallMPI(MPI_Allreduce(d, up, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(Slopes(b, at - h, d));
  PetscCallMPI(MPI_Allreduce(d, down, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCheck(PetscAbsReal(all[1] - (up[0] - down[0]) / (2 * h)) < 1e-7 * (1 + all[1]), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: curvature %.12g, by differences %.12g", p->loss->name, (double)all[1], (double)((up[0] - down[0]) / (2 * h)));

  /* the line search, with the regulariser, against bisection on the derivative of both */
  PetscCall(VecGetArray(b->w, &fa));
  PetscCall(VecGetArray(b->d, &ea));
  PetscCall(VecGetLocalSize(b->w, &n));
  PetscCall(VecGetOwnershipRange(b->w, &start, NULL));
  for (PetscInt i = 0; i < n; i++) {
    fa[i] = i % 2 ? Value(trial, start + i, 13) : 0;
    ea[i] = Value(trial, start + i, 14);
  }
  PetscCall(VecRestoreArray(b->w, &fa));
  PetscCall(VecRestoreArray(b->d, &ea));
  PetscCall(BMRMLineSearch_Private(b, &t));
  for (int it = 0; it < 60; it++) {
    const PetscReal s = it ? 0.5 * (lo + hi) : 0;
    PetscReal       mine[4];

    PetscCall(Slopes(b, s, mine));
    PetscCall((*b->reg->ops->derivative)(b->reg, b->set.lambda, b->w, b->d, s, mine + 2));
    mine[0] += mine[2];
    PetscCallMPI(MPI_Allreduce(mine, d, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
    if (d[0] < 0) lo = s;
    else hi = s;
    if (!it && d[0] >= 0) break;
  }
  PetscCheck(PetscAbsReal(t - hi) <= 1e-9 * (1 + hi), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: step %.17g, bisection ends at %.17g", p->loss->name, regularizers[p->reg].name, (double)t, (double)hi);
  PetscCall(VecDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The optimum lies between bound and objective, at every pass; the objective is that of the solution; the gap gets as small as asked. */
static PetscErrorCode Watch(BMRM b, PetscInt it, PetscReal J, PetscReal lower, void *ctx)
{
  const Problem  *p       = (const Problem *)ctx;
  const PetscReal optimum = p->w[0];

  PetscFunctionBegin;
  PetscCheck(lower <= optimum + 1e-9 * (1 + PetscAbsReal(optimum)), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s, pass %" PetscInt_FMT ": the lower bound %.15g is above the optimum %.15g", p->loss->name, regularizers[p->reg].name, it, (double)lower,
             (double)optimum);
  PetscCheck(J >= optimum - 1e-9 * (1 + PetscAbsReal(optimum)), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s, pass %" PetscInt_FMT ": the objective %.15g is below the optimum %.15g", p->loss->name, regularizers[p->reg].name, it, (double)J,
             (double)optimum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolve(BMRM b, Problem *p, PetscInt *passes)
{
  BMRMConvergedReason reason;
  PetscReal           J, lower;
  Vec                 w, all;
  VecScatter          scatter;
  const PetscScalar  *a;

  PetscFunctionBegin;
  p->w[0] = Least(p->w, NCOLS, 25, 1e-10, Objective, p);
  PetscCall(BMRMSetLambda(b, p->lambda));
  PetscCall(BMRMSetTolerances(b, 1e-7, 0, 3000));
  PetscCall(BMRMMonitorSet(b, Watch, p, NULL));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMMonitorCancel(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(BMRMGetObjective(b, &J, &lower));
  PetscCheck(reason == BMRM_CONVERGED_GAP_ATOL, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: %s, gap %g", p->loss->name, regularizers[p->reg].name, BMRMConvergedReasons[reason], (double)(J - lower));
  PetscCall(BMRMGetIterationNumber(b, passes));
  PetscCall(BMRMGetSolution(b, &w));
  PetscCall(VecScatterCreateToAll(w, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, w, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, w, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt k = 0; k < NCOLS; k++) p->w[k] = PetscRealPart(a[k]);
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCheck(PetscAbsReal(Objective(p) - J) < 1e-12 * (1 + PetscAbsReal(J)), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s, %s: the solution has the objective %.17g, reported is %.17g", p->loss->name, regularizers[p->reg].name, (double)Objective(p),
             (double)J);
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char     type[64] = MATAIJ;
  PetscInt every    = 1; /* slow runs take only some of the regularisers */
  Problem  p;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  for (size_t k = 0; k < sizeof(losses) / sizeof(losses[0]); k++) {
    PetscInt most = 0;

    p.loss = &losses[k];
    for (p.reg = 0; p.reg < (PetscInt)(sizeof(regularizers) / sizeof(regularizers[0])); p.reg += every) {
      Mat      X;
      Vec      y;
      BMRM     b;
      PetscInt passes;

      p.seed   = (PetscInt)k + 31 * p.reg;
      p.lambda = p.reg % 2 ? 0.02 : 0.1;
      for (PetscInt i = 0; i < MROWS; i++) Row(p.loss, p.seed, i, p.x[i], &p.y[i]);
      PetscCall(CreateProblem(&p, type, &X, &y));
      PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
      PetscCall(BMRMSetFromOptions(b));
      PetscCall(BMRMSetData(b, X, y));
      PetscCall(Prepare(b, &p, p.reg));
      for (PetscInt trial = 0; trial < 10; trial++) PetscCall(TestLoss(b, &p, trial));
      PetscCall(TestSolve(b, &p, &passes));
      most = PetscMax(most, passes);
      PetscCall(PetscInfo(b, "%s, %s: %" PetscInt_FMT " passes\n", losses[k].name, regularizers[p.reg].name, passes));
      PetscCall(BMRMDestroy(&b));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&X));
    }
    PetscCheck(most < 200, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s took %" PetscInt_FMT " passes", losses[k].name, most);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: right\n", losses[k].name));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: double
      output_file: output/test_losses_1.out
      test:
         suffix: 1
      test:
         suffix: 2
         nsize: 2
         args: -type dense -every 4
      test:
         suffix: 4
         nsize: 4
         args: -every 8
      test:
         suffix: cuts
         args: -bmrm_cuts 4 -type dense
      test:
         suffix: gpu
         args: -type gpucsr -mat_gpucsr_vec_type gpu -vec_gpu_separate -mat_gpucsr_storage double -bmrm_cuts 3 -every 3
      test:
         suffix: gpu_2
         nsize: 2
         args: -type gpucsr -mat_gpucsr_vec_type gpu -vec_gpu_separate -mat_gpucsr_storage double -every 4
      test:
         suffix: few
         args: -bmrm_max_cuts 8 -every 2
      test:
         suffix: cuts_2
         nsize: 2
         args: -bmrm_cuts 3 -bmrm_mu 0.1 -bmrm_mu_adapt 0 -every 3

TEST*/
