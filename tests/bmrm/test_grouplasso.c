static char help[] = "The group lasso: derivatives against differences, the trainer against nested searches.\n\n";

#include "bmrm/oracle.h"

#define MROWS 10

static PetscReal hinge(const Oracle *p, const PetscReal z[])
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < p->m; i++) sum += PetscMax(0, 1 - p->y[i] * z[i]) / p->m;
  return sum;
}

static PetscReal logistic(const Oracle *p, const PetscReal z[])
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < p->m; i++) sum += log1p(PetscExpReal(-p->y[i] * z[i])) / p->m;
  return sum;
}

static PetscReal softmax(const Oracle *p, const PetscReal z[])
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < p->m; i++) {
    PetscReal all = 0;

    for (PetscInt c = 0; c < p->k; c++) all += PetscExpReal(z[c * p->m + i]);
    sum += (PetscLogReal(all) - z[(PetscInt)p->y[i] * p->m + i]) / p->m;
  }
  return sum;
}

/* by their definition: groups of all weights, class by class, and their factors */
static PetscReal Apart(const PetscReal w[], PetscInt n)
{
  return PetscSqrtReal(2) * PetscSqrtReal(w[0] * w[0] + w[2] * w[2]) + PetscAbsReal(w[1]);
}

static PetscReal Factors(const PetscReal w[], PetscInt n)
{
  return 2 * PetscSqrtReal(2) * PetscSqrtReal(w[0] * w[0] + w[1] * w[1]) + 0.5 * PetscAbsReal(w[2]);
}

static PetscReal Free(const PetscReal w[], PetscInt n)
{
  return PetscSqrtReal(2) * PetscSqrtReal(w[0] * w[0] + w[1] * w[1]);
}

static PetscReal Classes(const PetscReal w[], PetscInt n)
{
  return PetscSqrtReal(3) * PetscSqrtReal(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

static const struct {
  const char *name, *loss;
  PetscReal (*risk)(const Oracle *, const PetscReal[]);
  PetscReal (*omega)(const PetscReal w[], PetscInt n);
  PetscInt  n, k, size; /* features, classes, size of the groups, 0 when given one by one */
  PetscReal group[3], factor[3];
} cases[] = {{"groups that are not connected", "hinge", hinge, Apart, 3, 1, 0, {0, 1, 0}, {1, 1, 1}},
             {"groups of two, with factors", "logistic", logistic, Factors, 3, 1, 2, {0}, {2, 2, 0.5}},
             {"a free weight", "hinge", hinge, Free, 3, 1, 2, {0}, {1, 1, 0}},
             {"a feature of several classes", "softmax", softmax, Classes, 1, 3, 1, {0}, {1}}};

static PetscErrorCode Omega(BMRM b, PetscReal step, PetscReal *omega)
{
  PetscFunctionBegin;
  PetscCall(VecAXPY(b->w, step, b->d));
  PetscCall((*b->reg->ops->value)(b->reg, b->w, omega));
  PetscCall(VecAXPY(b->w, -step, b->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both derivatives along a line against differences; from zero the first one only. */
static PetscErrorCode TestDerivative(BMRM b, const Oracle *p, PetscInt trial)
{
  const PetscReal h = 1e-5;
  PetscReal       mine[2], d[2], at, up, down;

  PetscFunctionBegin;
  PetscCall(Fill(b->w, p->k, NULL, trial, 13, trial ? 1 : 0));
  PetscCall(Fill(b->d, p->k, NULL, trial, 14, 1));
  PetscCall((*b->reg->ops->derivative)(b->reg, 1, b->w, b->d, 0, mine));
  PetscCallMPI(MPI_Allreduce(mine, d, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(Omega(b, 0, &at));
  PetscCall(Omega(b, h, &up));
  PetscCall(Omega(b, -h, &down));
  if (trial) {
    PetscCheck(PetscAbsReal(d[0] - (up - down) / (2 * h)) < 1e-8, OBJECTS, "slope %.12g, by differences %.12g", (double)d[0], (double)((up - down) / (2 * h)));
    PetscCheck(PetscAbsReal(d[1] - (up - 2 * at + down) / (h * h)) < 1e-4, OBJECTS, "curvature %.12g, by differences %.12g", (double)d[1], (double)((up - 2 * at + down) / (h * h)));
  } else PetscCheck(PetscAbsReal(d[0] - (up - at) / h) < 1e-8, OBJECTS, "slope %.12g, by differences %.12g", (double)d[0], (double)((up - at) / h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Make(Oracle *p, PetscInt seed)
{
  for (PetscInt i = 0; i < p->m; i++) {
    PetscReal sum = 0.4 * Value(seed, i, 10);

    for (PetscInt j = 0; j < p->n; j++) {
      p->x[i * p->n + j] = PetscFloorReal(256 * Value(seed, i, j)) / 256;
      if (j == 0) sum += p->x[i * p->n];
    }
    p->y[i] = p->k == 1 ? (sum > 0.1 ? 1 : -1) : PetscFloorReal(PetscMin(0.999, PetscMax(0, 0.5 + 0.5 * sum)) * p->k);
  }
}

int main(int argc, char **argv)
{
  char     type[64] = MATAIJ;
  PetscInt seeds    = 2;
  Oracle   p;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seeds", &seeds, NULL));
  p.m     = MROWS;
  p.range = 30;
  p.width = 1e-9;
  for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
    p.name  = cases[k].name;
    p.risk  = cases[k].risk;
    p.omega = cases[k].omega;
    p.n     = cases[k].n;
    p.k     = cases[k].k;
    for (PetscInt seed = 0; seed < seeds; seed++) {
      Mat  X;
      Vec  y, group, factor;
      BMRM b;

      p.lambda = seed ? 0.15 : 0.03;
      Make(&p, seed + 5 * (PetscInt)k);
      PetscCall(CreateMat(&p, type, &X));
      PetscCall(MatCreateVecs(X, &group, &y));
      PetscCall(VecDuplicate(group, &factor));
      PetscCall(Fill(y, 1, p.y, 0, 0, 0));
      PetscCall(Fill(group, 1, cases[k].group, 0, 0, 0));
      PetscCall(Fill(factor, 1, cases[k].factor, 0, 0, 0));
      PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
      PetscCall(BMRMSetLossType(b, cases[k].loss));
      PetscCall(BMRMSetRegularizerType(b, "grouplasso"));
      if (cases[k].size) PetscCall(BMRMSetGroupSize(b, cases[k].size));
      else PetscCall(BMRMSetGroups(b, group));
      PetscCall(BMRMSetWeights(b, factor));
      PetscCall(BMRMSetLambda(b, p.lambda));
      PetscCall(BMRMSetData(b, X, y));
      PetscCall(BMRMSetUp(b));
      for (PetscInt trial = 0; trial < 10; trial++) {
        PetscCall(TestDerivative(b, &p, trial));
        PetscCall(Fill(b->f, p.k, NULL, trial, 10, 2));
        PetscCall(Fill(b->e, p.k, NULL, trial, 11, 1));
        PetscCall(TestLineSearch(b, &p, trial));
      }
      PetscCall(TestSolve(b, &p));
      PetscCall(BMRMDestroy(&b));
      PetscCall(VecDestroy(&factor));
      PetscCall(VecDestroy(&group));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&X));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: right\n", p.name));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: double
      output_file: output/test_grouplasso_1.out
      test:
         suffix: 1
      test:
         suffix: 2
         nsize: 2
         args: -type dense
      test:
         suffix: 4
         nsize: 4
         args: -type aij
      test:
         suffix: gpu
         nsize: {{1 2}}
         args: -type gpucsr -mat_gpucsr_vec_type gpu -vec_gpu_separate -mat_gpucsr_storage {{single double}}

TEST*/
