static char help[] = "Losses of several classes: values by their definitions, cuts, slopes against differences, the trainer against nested searches, also with a free bias of each class.\n\n";

#include "bmrm/oracle.h"

#define MROWS    9
#define DISTANCE 1.5

/* --- the losses by their definitions ---------------------------------------------------------------------------------------------------- */

static PetscReal Cost(const Oracle *p, PetscInt i, PetscInt c)
{
  return c == p->y[i] ? 0 : PetscPowReal(PetscAbsReal(c - p->y[i]), DISTANCE);
}

static PetscReal multiclass(const Oracle *p, const PetscReal z[])
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < p->m; i++) {
    PetscReal most = 0;

    for (PetscInt c = 0; c < p->k; c++) most = PetscMax(most, Cost(p, i, c) + z[c * p->m + i] - z[(PetscInt)p->y[i] * p->m + i]);
    sum += most / p->m;
  }
  return sum;
}

static PetscReal slackmulticlass(const Oracle *p, const PetscReal z[])
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < p->m; i++) {
    PetscReal most = 0;

    for (PetscInt c = 0; c < p->k; c++) most = PetscMax(most, Cost(p, i, c) * (1 + z[c * p->m + i] - z[(PetscInt)p->y[i] * p->m + i]));
    sum += most / p->m;
  }
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

static PetscReal multilabel(const Oracle *p, const PetscReal z[])
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < p->m; i++) {
    PetscReal most = 0;

    for (PetscInt c = 0; c < p->k; c++) {
      for (PetscInt d = 0; d < p->k; d++) {
        if (p->y[c * p->m + i] > 0 && p->y[d * p->m + i] < 0) most = PetscMax(most, 1 + z[d * p->m + i] - z[c * p->m + i]);
      }
    }
    sum += most / p->m;
  }
  return sum;
}

static const struct {
  const char *name;
  PetscReal (*risk)(const Oracle *, const PetscReal[]);
} losses[] = {{"multiclass", multiclass}, {"slackmulticlass", slackmulticlass}, {"softmax", softmax}, {"multilabel", multilabel}};

/* of two classes by two features with factors: a feature's weights are a group */
static PetscReal OmegaGroups(const PetscReal w[], PetscInt n)
{
  return PetscSqrtReal(2) * (0.5 * PetscSqrtReal(w[0] * w[0] + w[2] * w[2]) + 2 * PetscSqrtReal(w[1] * w[1] + w[3] * w[3]));
}

/* of two classes by a feature and a free bias */
static PetscReal OmegaFreeL2(const PetscReal w[], PetscInt n)
{
  const PetscReal v[] = {w[0], w[2]};

  return OmegaL2(v, 2);
}

static PetscReal OmegaFreeL1(const PetscReal w[], PetscInt n)
{
  const PetscReal v[] = {w[0], w[2]};

  return OmegaL1(v, 2);
}

static const struct {
  const char *type;
  PetscReal (*omega)(const PetscReal w[], PetscInt n);
  PetscReal factor[2]; /* of the features' weights */
} regularizers[] = {{"l2", OmegaL2, {1, 1}}, {"l1", OmegaL1, {1, 1}}, {"elasticnet", OmegaElasticNet, {1, 1}}, {"grouplasso", OmegaGroups, {0.5, 2}}, {"l2", OmegaFreeL2, {1, 0}}, {"l1", OmegaFreeL1, {1, 0}}};

/* Whether the second feature is a bias, whose weights are free. */
static PetscBool IsFree(PetscInt seed)
{
  return (PetscBool)(seed >= 4);
}

/* 3 classes by one feature, or 2 classes by two, so that a nested search can find the optimum */
static void Make(Oracle *p, PetscInt seed)
{
  const PetscBool two = (PetscBool)(IsFree(seed) || seed % 2);

  p->m     = MROWS;
  p->n     = two ? 2 : 1;
  p->k     = two ? 2 : 3;
  p->range = 20;
  p->width = two ? 1e-6 : 1e-8;
  for (PetscInt i = 0; i < p->m; i++) {
    PetscReal sum = 0.4 * Value(seed, i, 10);

    for (PetscInt j = 0; j < p->n; j++) {
      p->x[i * p->n + j] = IsFree(seed) && j ? 1 : PetscFloorReal(256 * Value(seed, i, j)) / 256;
      if (!IsFree(seed) || !j) sum += p->x[i * p->n + j];
    }
    if (p->risk == multilabel) {
      for (PetscInt c = 0; c < p->k; c++) p->y[c * p->m + i] = Value(seed, i, 20 + c) + (c - 1) * sum > 0 ? 1 : -1;
    } else p->y[i] = i == 0 ? p->k - 1 : PetscFloorReal(PetscMin(0.999, PetscMax(0, 0.5 + 0.5 * sum)) * p->k);
  }
}

int main(int argc, char **argv)
{
  char     type[64] = MATAIJ;
  PetscInt seeds = 4, cuts = 1;
  Oracle   p;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seeds", &seeds, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cuts", &cuts, NULL));
  for (size_t k = 0; k < sizeof(losses) / sizeof(losses[0]); k++) {
    p.name = losses[k].name;
    p.risk = losses[k].risk;
    for (PetscInt seed = 0; seed < 4 + seeds / 2; seed = seed + 1 == seeds ? 4 : seed + 1) {
      Mat      X;
      Vec      y, factor;
      BMRM     b;
      PetscInt ny, n;

      p.omega  = regularizers[seed].omega;
      p.lambda = 0.05;
      Make(&p, seed);
      ny = p.risk == multilabel ? p.k : 1;
      PetscCall(CreateMat(&p, type, &X));
      PetscCall(MatGetLocalSize(X, &n, NULL));
      PetscCall(VecCreateMPI(PETSC_COMM_WORLD, n * ny, PETSC_DECIDE, &y));
      PetscCall(Fill(y, ny, p.y, 0, 0, 0));
      PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
      PetscCall(BMRMSetData(b, X, y));
      PetscCall(BMRMSetLossType(b, p.name));
      if (p.risk == multiclass || p.risk == slackmulticlass) PetscCall(BMRMSetLossParameter(b, "distance", DISTANCE));
      PetscCall(BMRMSetRegularizerType(b, regularizers[seed].type));
      PetscCall(MatCreateVecs(X, &factor, NULL));
      PetscCall(Fill(factor, 1, regularizers[seed].factor, 0, 0, 0));
      if (p.n == 2) PetscCall(BMRMSetWeights(b, factor));
      PetscCall(VecDestroy(&factor));
      PetscCall(BMRMSetLambda(b, p.lambda));
      PetscCall(BMRMSetCuts(b, cuts));
      PetscCall(BMRMSetUp(b));
      PetscCall(BMRMGetClasses(b, &n));
      PetscCheck(n == p.k, OBJECTS, "%s: %" PetscInt_FMT " classes, there are %" PetscInt_FMT, p.name, n, p.k);
      for (PetscInt trial = 0; trial < 10; trial++) PetscCall(TestLoss(b, &p, 4, trial));
      PetscCall(TestSolve(b, &p));
      PetscCall(BMRMDestroy(&b));
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
      output_file: output/test_classes_1.out
      test:
         suffix: 1
      test:
         suffix: 2
         nsize: 2
         args: -type dense -seeds 2 -cuts 3
      test:
         suffix: 4
         nsize: 4
         args: -type aij -seeds 1 -cuts 3
      test:
         suffix: gpu
         args: -type gpucsr -mat_gpucsr_vec_type gpu -vec_gpu_separate -mat_gpucsr_storage {{single double}} -seeds 2
      test:
         suffix: gpu_2
         nsize: 2
         args: -type gpucsr -mat_gpucsr_vec_type gpu -vec_gpu_separate -seeds 2 -cuts 2

TEST*/
