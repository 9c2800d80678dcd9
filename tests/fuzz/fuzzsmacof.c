/* The readers of smacof: dissimilarities, features, fixed points, maps, labels, checkpoints. */
#include "examples/smacof/smacof.h"
#include "solvers/smacof/smacofimpl.h"
#include "fuzz.h"
#include <string.h>

#define POINTS 4
static const char PointNames[] = "a\0b\0c\0d"; /* of maps, labels and fixed points */

static PetscErrorCode CheckPairs(const SMACOFPairs *D, char wrong[FUZZ_WRONG])
{
  const int *column;
  double    *delta, *weight;
  PetscInt   n;

  PetscFunctionBegin;
  FUZZ_EXPECT(D->N >= 1 && D->first == 0 && D->last == D->N && D->npairs >= 0, "%lld points, %lld pairs", (long long)D->N, (long long)D->npairs);
  FUZZ_EXPECT(D->feature || (D->sumsquares >= 0 && !PetscIsInfOrNanReal(D->sumsquares)), "the sum of squares is %g", (double)D->sumsquares);
  if (D->N > 5000) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(D->N, &delta, D->N, &weight));
  for (PetscInt i = 0; i < D->N; i++) {
    PetscCall(SMACOFPairsGetRow_Private(D, i, &n, &column, delta, weight));
    for (PetscInt k = 0; k < n; k++) {
      const PetscInt j = column ? column[k] : k;

      FUZZ_EXPECT(j >= 0 && j < D->N, "row %lld, point %lld", (long long)i, (long long)j);
      if (j != i) FUZZ_EXPECT(delta[k] >= 0 && !PetscIsInfOrNanReal(delta[k]) && weight[k] >= 0 && !PetscIsInfOrNanReal(weight[k]), "points %lld and %lld: %g of weight %g", (long long)i, (long long)j, delta[k], weight[k]);
    }
  }
  PetscCall(PetscFree2(delta, weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads data and converts them to pairs. */
static PetscErrorCode LoadPairs(const InputOptions *o, SMACOF s, Points *P, char wrong[FUZZ_WRONG])
{
  PetscFunctionBegin;
  PetscCall(InputLoad(o, s, P));
  if (s->dissimilarities) PetscCall(SMACOFPairsCreateFromMat_Private(s));
  else PetscCall(SMACOFPairsCreateFromFeatures_Private(s));
  PetscCall(CheckPairs(&s->D, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Load(InputOptions *o, uint64_t choice, char wrong[FUZZ_WRONG])
{
  Points         P = {0};
  PetscErrorCode ierr;
  SMACOF         s;

  PetscFunctionBegin;
  o->missing    = (Missing)(choice % 3);
  o->symmetrize = (PetscBool)(choice / 3 % 2);
  o->storage    = choice / 6 % 2 ? SMACOF_STORAGE_SINGLE : SMACOF_STORAGE_DOUBLE;
  o->metric     = (SMACOFMetric)(choice / 12 % 3);
  PetscCall(SMACOFCreate(PETSC_COMM_SELF, &s));
  ierr = LoadPairs(o, s, &P, wrong);
  PetscCall(PointsDestroy(&P));
  PetscCall(SMACOFDestroy(&s));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadDissim(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  static InputOptions o;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(o.file, file, sizeof(o.file)));
  PetscCall(Load(&o, choice, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadPairs(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  static InputOptions o;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(o.pairs, file, sizeof(o.pairs)));
  PetscCall(Load(&o, choice, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadFeatures(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  static InputOptions o;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(o.features, file, sizeof(o.features)));
  PetscCall(Load(&o, choice, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadFixed(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  PetscErrorCode ierr;
  SMACOF         s;

  PetscFunctionBegin;
  PetscCall(SMACOFCreate(PETSC_COMM_SELF, &s));
  ierr = FixedRead(s, file, POINTS, choice % 2 ? PointNames : NULL);
  for (PetscInt k = 0; !ierr && k < s->fixed.n; k++) {
    FUZZ_EXPECT(s->fixed.point[k] >= 0 && s->fixed.point[k] < POINTS && (!k || s->fixed.point[k] > s->fixed.point[k - 1]), "fixed point %lld", (long long)s->fixed.point[k]);
    for (int c = 0; c < 2; c++) FUZZ_EXPECT(!PetscIsInfOrNanReal(s->fixed.x[2 * k + c]), "a coordinate is not finite");
  }
  PetscCall(SMACOFDestroy(&s));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadMap(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  const PetscScalar *x;
  Vec                v;

  PetscFunctionBegin;
  PetscCall(CoordinatesRead(PETSC_COMM_SELF, file, POINTS, 2, choice % 2 ? PointNames : NULL, &v));
  PetscCall(VecGetArrayRead(v, &x));
  for (int k = 0; k < 2 * POINTS; k++) FUZZ_EXPECT(!PetscIsInfOrNanReal(x[k]), "a coordinate is not finite");
  PetscCall(VecRestoreArrayRead(v, &x));
  PetscCall(VecDestroy(&v));
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

static char Data[PETSC_MAX_PATH_LEN]; /* dissimilarities of the solver whose checkpoints are read */

static PetscErrorCode CreateSolver(SMACOF *s)
{
  static InputOptions o;
  Points              P;

  PetscFunctionBegin;
  o.storage = SMACOF_STORAGE_DOUBLE;
  PetscCall(PetscStrncpy(o.file, Data, sizeof(o.file)));
  PetscCall(SMACOFCreate(PETSC_COMM_SELF, s));
  PetscCall(InputLoad(&o, *s, &P));
  PetscCall(PointsDestroy(&P));
  PetscCall(SMACOFSetTolerances(*s, 1e-9, 12));
  PetscCall(SMACOFSetStart(*s, SMACOF_START_RANDOM));
  PetscCall(SMACOFSetStarts(*s, 2, 2, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareCheckpoint(const char folder[])
{
  char   file[PETSC_MAX_PATH_LEN];
  SMACOF s;

  PetscFunctionBegin;
  PetscCall(FuzzWriteText(folder, "data.csv", "0,3,4,5,2\n3,0,5,4,6\n4,5,0,3,7\n5,4,3,0,1\n2,6,7,1,0\n"));
  (void)snprintf(Data, sizeof(Data), "%s/data.csv", folder);
  (void)snprintf(file, sizeof(file), "%s/seed-checkpoint", folder);
  PetscCall(CreateSolver(&s));
  PetscCall(SMACOFSetCheckpoint(s, file, 1));
  PetscCall(SMACOFSolve(s));
  PetscCall(SMACOFDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Goes on from a checkpoint. */
static PetscErrorCode ReadCheckpoint(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  PetscErrorCode ierr;
  PetscReal      stress;
  SMACOF         s;

  PetscFunctionBegin;
  PetscCall(CreateSolver(&s));
  PetscCall(SMACOFSetRestart(s, file));
  ierr = SMACOFSolve(s);
  if (!ierr) {
    PetscCall(SMACOFGetStress(s, &stress, NULL));
    FUZZ_EXPECT(!PetscIsInfOrNanReal(stress), "the stress is %g", (double)stress);
  }
  PetscCall(SMACOFDestroy(&s));
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
