/* The readers of smacof: dissimilarities, features, fixed points, maps, labels, checkpoints. */
#include "solvers/smacof/smacofimpl.h"
#include "fuzz.h"
#include <string.h>

#define POINTS 4
static const char PointNames[] = "a\0b\0c\0d"; /* of maps, labels and fixed points */

static PetscErrorCode CheckDissim(const Dissim *D, char wrong[FUZZ_WRONG])
{
  const int *column;
  double    *delta, *weight;
  PetscInt   n;

  PetscFunctionBegin;
  FUZZ_EXPECT(D->N >= 1 && D->first == 0 && D->last == D->N && D->npairs >= 0, "%lld points, %lld pairs", (long long)D->N, (long long)D->npairs);
  FUZZ_EXPECT(D->features.value || (D->sumsquares >= 0 && !PetscIsInfOrNanReal(D->sumsquares)), "the sum of squares is %g", (double)D->sumsquares);
  if (D->N > 5000) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(D->N, &delta, D->N, &weight));
  for (PetscInt i = 0; i < D->N; i++) {
    PetscCall(DissimRow(D, i, &n, &column, delta, weight));
    for (PetscInt k = 0; k < n; k++) {
      const PetscInt j = column ? column[k] : k;

      FUZZ_EXPECT(j >= 0 && j < D->N, "row %lld, point %lld", (long long)i, (long long)j);
      if (j != i) FUZZ_EXPECT(delta[k] >= 0 && !PetscIsInfOrNanReal(delta[k]) && weight[k] >= 0 && !PetscIsInfOrNanReal(weight[k]), "points %lld and %lld: %g of weight %g", (long long)i, (long long)j, delta[k], weight[k]);
    }
  }
  PetscCall(PetscFree2(delta, weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Load(DissimOptions *o, uint64_t choice, char wrong[FUZZ_WRONG])
{
  Dissim D = {0};

  PetscFunctionBegin;
  o->missing    = (Missing)(choice % 3);
  o->symmetrize = (PetscBool)(choice / 3 % 2);
  o->single     = (PetscBool)(choice / 6 % 2);
  o->metric     = (PetscInt)(choice / 12 % 3);
  PetscCall(DissimLoad(PETSC_COMM_SELF, o, &D));
  PetscCall(CheckDissim(&D, wrong));
  PetscCall(DissimDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadDissim(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  static DissimOptions o;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(o.file, file, sizeof(o.file)));
  PetscCall(Load(&o, choice, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadPairs(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  static DissimOptions o;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(o.pairs, file, sizeof(o.pairs)));
  PetscCall(Load(&o, choice, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadFeatures(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  static DissimOptions o;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(o.features, file, sizeof(o.features)));
  PetscCall(Load(&o, choice, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadFixed(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  Fixed fixed = {0};

  PetscFunctionBegin;
  PetscCall(FixedRead(PETSC_COMM_SELF, file, POINTS, 2, choice % 2 ? PointNames : NULL, &fixed));
  for (PetscInt k = 0; k < fixed.n; k++) {
    FUZZ_EXPECT(fixed.point[k] >= 0 && fixed.point[k] < POINTS && (!k || fixed.point[k] > fixed.point[k - 1]), "fixed point %lld", (long long)fixed.point[k]);
    for (int c = 0; c < 2; c++) FUZZ_EXPECT(!PetscIsInfOrNanReal(fixed.x[2 * k + c]), "a coordinate is not finite");
  }
  PetscCall(FixedDestroy(&fixed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadMap(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  double x[2 * POINTS];

  PetscFunctionBegin;
  PetscCall(CoordinatesRead(PETSC_COMM_SELF, file, POINTS, 2, choice % 2 ? PointNames : NULL, x));
  for (int k = 0; k < 2 * POINTS; k++) FUZZ_EXPECT(!PetscIsInfOrNanReal(x[k]), "a coordinate is not finite");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadLabels(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  const char *at;
  char       *labels;

  PetscFunctionBegin;
  PetscCall(LabelsRead(PETSC_COMM_SELF, file, POINTS, &labels));
  at = labels;
  for (int k = 0; k < POINTS; k++) at += strlen(at) + 1;
  PetscCall(PetscFree(labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the scaling whose checkpoints are read */
typedef struct {
  Dissim       D;
  Scaler       S;
  ScaleOptions o;
} Scaling;

static char Data[PETSC_MAX_PATH_LEN]; /* its dissimilarities */

static PetscErrorCode CreateScaling(const char checkpoint[], Scaling *s)
{
  static DissimOptions o;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(PetscStrncpy(o.file, Data, sizeof(o.file)));
  PetscCall(DissimLoad(PETSC_COMM_SELF, &o, &s->D));
  s->o        = (ScaleOptions){2, 12, 2, 2, 0, 5, 1e-9, 1e-2, ACCELERATION_ANDERSON, START_RANDOM, EIGENSOLVER_BLOCK, PETSC_FALSE, checkpoint ? 1 : 0, "", {DISPARITY_RATIO, TIES_PRIMARY, 2, 4}};
  s->o.device = (PassDeviceOptions){ARITHMETIC_DOUBLE};
  if (checkpoint) PetscCall(PetscStrncpy(s->o.checkpoint, checkpoint, sizeof(s->o.checkpoint)));
  PetscCall(ScalerCreate(&s->D, &s->o, NULL, "smacof_", &s->S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyScaling(Scaling *s)
{
  PetscFunctionBegin;
  PetscCall(ScalerDestroy(&s->S));
  PetscCall(DissimDestroy(&s->D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareCheckpoint(const char folder[])
{
  char         file[PETSC_MAX_PATH_LEN];
  PetscScalar *x;
  Scaling      s;

  PetscFunctionBegin;
  PetscCall(FuzzWriteText(folder, "data.csv", "0,3,4,5,2\n3,0,5,4,6\n4,5,0,3,7\n5,4,3,0,1\n2,6,7,1,0\n"));
  (void)snprintf(Data, sizeof(Data), "%s/data.csv", folder);
  (void)snprintf(file, sizeof(file), "%s/seed-checkpoint", folder);
  PetscCall(CreateScaling(file, &s));
  for (PetscInt k = 0; k < PetscMin(2, s.S.npaths); k++) {
    PetscCall(VecGetArrayWrite(s.S.path[k].next.x, &x));
    PetscCall(StartRandom(k, s.D.N, 2, x));
    PetscCall(VecRestoreArrayWrite(s.S.path[k].next.x, &x));
  }
  PetscCall(ScalerBegin(&s.S, 0, PetscMin(2, s.S.npaths)));
  PetscCall(ScalerSolve(&s.S, PetscMin(2, s.S.npaths)));
  PetscCall(DestroyScaling(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Goes on from a checkpoint. */
static PetscErrorCode ReadCheckpoint(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  PetscInt       n = 0;
  PetscErrorCode ierr;
  Scaling        s;

  PetscFunctionBegin;
  PetscCall(CreateScaling(NULL, &s));
  ierr = CheckpointRead(&s.S, &n, file);
  if (!ierr) {
    FUZZ_EXPECT(n >= 1 && n <= s.S.npaths, "%lld starts", (long long)n);
    if (!wrong[0]) PetscCall(ScalerSolve(&s.S, n));
    FUZZ_EXPECT(!PetscIsInfOrNanReal(s.S.best.sigma), "the stress is %g", (double)s.S.best.sigma);
  }
  PetscCall(DestroyScaling(&s));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzReader FuzzSmacof[] = {{.name = "dissimilarities", .suffix = ".csv", .read = ReadDissim},
                                 {.name = "pairs", .suffix = ".csv", .read = ReadPairs},
                                 {.name = "features", .suffix = ".csv", .read = ReadFeatures},
                                 {.name = "fixed", .suffix = ".csv", .read = ReadFixed},
                                 {.name = "map", .suffix = ".csv", .read = ReadMap},
                                 {.name = "labels", .suffix = ".csv", .read = ReadLabels},
                                 {.name = "smacofcheckpoint", .suffix = ".ck", .prepare = PrepareCheckpoint, .read = ReadCheckpoint, .repair = FuzzRepairCheckpoint},
                                 {.name = NULL}};
