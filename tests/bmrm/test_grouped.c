static char help[] = "Losses of lists of examples: values by their definitions, cuts, slopes against differences, the trainer against nested searches.\n\n";

#include "bmrm/oracle.h"

#define MROWS   11
#define NCOLS   2
#define QUERIES 3
#define BETA    0.7
#define PLACES  2

typedef struct {
  const char *name;
  PetscReal (*risk)(const Oracle *p, const PetscReal z[]);
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

static PetscReal rocarea(const Oracle *p, const PetscReal z[])
{
  return PairRisk(z, p->y, -1, PETSC_FALSE);
}

static PetscReal ordinal(const Oracle *p, const PetscReal z[])
{
  return PairRisk(z, p->y, -1, PETSC_TRUE);
}

static PetscReal preference(const Oracle *p, const PetscReal z[])
{
  PetscReal sum = 0;

  for (PetscInt q = 0; q < QUERIES; q++) sum += PairRisk(z, p->y, q, PETSC_FALSE) / QUERIES;
  return sum;
}

/* over all labellings */
static PetscReal fbeta(const Oracle *p, const PetscReal z[])
{
  const PetscReal *y     = p->y;
  PetscReal        worst = 0;

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

static PetscReal ndcg(const Oracle *p, const PetscReal z[])
{
  const PetscReal *y   = p->y;
  PetscReal        sum = 0;

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

/* one group of both weights; and the second weight free */
static PetscReal OmegaGroup(const PetscReal w[], PetscInt n)
{
  return PetscSqrtReal(n * (w[0] * w[0] + w[1] * w[1]));
}

static PetscReal OmegaFree(const PetscReal w[], PetscInt n)
{
  return w[0] * w[0] / 2;
}

static const struct {
  const char *type;
  PetscReal (*omega)(const PetscReal w[], PetscInt n);
} regularizers[] = {{"l2", OmegaL2}, {"elasticnet", OmegaElasticNet}, {"l1", OmegaL1}, {"grouplasso", OmegaGroup}, {"l2", OmegaFree}};

static void Make(Oracle *p, const Loss *l, PetscInt seed)
{
  for (PetscInt i = 0; i < MROWS; i++) {
    PetscReal sum = 0.7 * Value(seed, i, 10);

    for (PetscInt k = 0; k < NCOLS; k++) {
      p->x[i * NCOLS + k] = PetscFloorReal(256 * Value(seed, i, k)) / 256;
      sum += p->x[i * NCOLS + k];
    }
    p->y[i] = l->labels == 2 ? (i % 5 == 0 || sum > 0.5 ? 1 : -1) : PetscFloorReal(PetscMin(0.999, PetscMax(0, 0.5 + 0.5 * sum)) * l->labels);
  }
}

int main(int argc, char **argv)
{
  char     type[64] = MATAIJ;
  PetscInt seeds = 5, cuts = 1;
  Oracle   p;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seeds", &seeds, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cuts", &cuts, NULL));
  p.m     = MROWS;
  p.n     = NCOLS;
  p.k     = 1;
  p.range = 40;
  p.width = 1e-9;
  for (size_t k = 0; k < sizeof(losses) / sizeof(losses[0]); k++) {
    const Loss *l = &losses[k];

    p.name = l->name;
    p.risk = l->risk;
    for (PetscInt seed = 0; seed < seeds; seed++) {
      PetscReal query[MROWS];
      Mat       X;
      Vec       y, q;
      BMRM      b;

      p.omega  = regularizers[seed % 5].omega;
      p.lambda = seed % 2 ? 0.005 : 0.03;
      Make(&p, l, seed + 17 * (PetscInt)k);
      for (PetscInt i = 0; i < MROWS; i++) query[i] = 100 - 7 * (i % QUERIES);
      PetscCall(CreateMat(&p, type, &X));
      PetscCall(MatCreateVecs(X, NULL, &y));
      PetscCall(VecDuplicate(y, &q));
      PetscCall(Fill(y, 1, p.y, 0, 0, 0));
      PetscCall(Fill(q, 1, query, 0, 0, 0));
      PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b));
      PetscCall(BMRMSetData(b, X, y));
      PetscCall(BMRMSetQueries(b, q));
      PetscCall(BMRMSetLossType(b, l->name));
      if (l->risk == fbeta) PetscCall(BMRMSetLossParameter(b, "beta", BETA));
      if (l->risk == ndcg) PetscCall(BMRMSetLossParameter(b, "places", PLACES));
      PetscCall(BMRMSetRegularizerType(b, regularizers[seed % 5].type));
      PetscCall(BMRMSetGroupSize(b, NCOLS));
      if (p.omega == OmegaFree) {
        const PetscReal factor[NCOLS] = {1, 0};
        Vec             w;

        PetscCall(MatCreateVecs(X, &w, NULL));
        PetscCall(Fill(w, 1, factor, 0, 0, 0));
        PetscCall(BMRMSetWeights(b, w));
        PetscCall(VecDestroy(&w));
      }
      PetscCall(BMRMSetLambda(b, p.lambda));
      PetscCall(BMRMSetCuts(b, PetscMin(cuts, l->parts)));
      for (PetscInt trial = 0; trial < 10; trial++) PetscCall(TestLoss(b, &p, l->parts, trial));
      PetscCall(TestSolve(b, &p));
      PetscCall(BMRMDestroy(&b));
      PetscCall(VecDestroy(&q));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDestroy(&X));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: right\n", l->name));
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
         nsize: 2
         args: -type dense -seeds 1 -cuts 3
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
         args: -type gpucsr -mat_gpucsr_vec_type gpu -vec_gpu_separate -seeds 1 -cuts 2

TEST*/
