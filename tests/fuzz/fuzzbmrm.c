/* The readers of bmrm: examples in three formats, models, groups, checkpoints. */
#include "fuzz.h"
#include <gpucsrbmrm.h>
#include "examples/bmrm/readers/examples.h"
#include "examples/bmrm/model.h"
#include <string.h>

static PetscErrorCode CheckExamples(const BMRMExamples *ex, char wrong[FUZZ_WRONG])
{
  PetscFunctionBegin;
  FUZZ_EXPECT(ex->m == ex->M && ex->m >= 1 && ex->N >= 0, "%lld of %lld examples, %lld features", (long long)ex->m, (long long)ex->M, (long long)ex->N);
  FUZZ_EXPECT(ex->i[0] == 0 && ex->i[ex->m] == ex->nnz, "rows end at %lld of %lld", (long long)ex->i[ex->m], (long long)ex->nnz);
  for (PetscInt r = 0; r < ex->m; r++) {
    FUZZ_EXPECT(!PetscIsInfOrNanReal(ex->label[r]), "label %lld is not finite", (long long)r);
    for (PetscInt k = ex->i[r]; k < ex->i[r + 1]; k++)
      FUZZ_EXPECT(ex->j[k] >= 0 && ex->j[k] < ex->N && (k == ex->i[r] || ex->j[k] > ex->j[k - 1]) && !PetscIsInfOrNanScalar(ex->a[k]), "row %lld, column %lld, value %g", (long long)r, (long long)ex->j[k], PetscRealPart(ex->a[k]));
  }
  for (PetscInt k = 1; k < ex->nclass; k++) FUZZ_EXPECT(ex->nclass > BMRM_MAX_CLASSES || ex->classes[k] > ex->classes[k - 1], "class %lld", (long long)k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads examples, and reads them again from the binary file that is made of them. */
static PetscErrorCode ReadExamples(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  char         copy[PETSC_MAX_PATH_LEN];
  BMRMExamples ex, again;

  PetscFunctionBegin;
  PetscCall(BMRMExamplesLoad(PETSC_COMM_SELF, file, &ex));
  PetscCall(CheckExamples(&ex, wrong));
  if (!ex.ranked && choice % 4 == 0) {
    (void)snprintf(copy, sizeof(copy), "%s.copy", file);
    PetscCall(BMRMExamplesSave(&ex, copy));
    PetscCall(BMRMExamplesLoad(PETSC_COMM_SELF, copy, &again));
    FUZZ_EXPECT(again.M == ex.M && again.N == ex.N && again.nnz == ex.nnz, "what was written has other sizes");
    if (!wrong[0] && ex.nnz)
      FUZZ_EXPECT(!memcmp(again.i, ex.i, (size_t)(ex.m + 1) * sizeof(*ex.i)) && !memcmp(again.j, ex.j, (size_t)ex.nnz * sizeof(*ex.j)) && !memcmp(again.a, ex.a, (size_t)ex.nnz * sizeof(*ex.a)) &&
                    !memcmp(again.label, ex.label, (size_t)ex.m * sizeof(*ex.label)),
                  "what was written is read as something else");
    PetscCall(BMRMExamplesDestroy(&again));
  }
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads examples from a table, with the column of labels by name, by number, or without it. */
static PetscErrorCode ReadTable(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  static const char *const labels[] = {"class", "1", "3", ""};
  const char              *at;
  BMRMExamples             ex;

  PetscFunctionBegin;
  PetscCall(BMRMExamplesLoadAs(PETSC_COMM_SELF, file, labels[choice % 4], (PetscBool)(choice / 4 % 2 || choice % 4 == 3), &ex));
  PetscCall(CheckExamples(&ex, wrong));
  at = ex.feature_names;
  for (PetscInt j = 0; at && j < ex.N; j++) at += strlen(at) + 1;
  at = ex.class_names;
  for (PetscInt k = 0; at && k < ex.nclass; k++) {
    FUZZ_EXPECT(ex.nclass > BMRM_MAX_CLASSES || ex.classes[k] == k, "the label of class %lld is %g", (long long)k, (double)ex.classes[k]);
    at += strlen(at) + 1;
  }
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareExamples(const char folder[])
{
  char         file[PETSC_MAX_PATH_LEN];
  BMRMExamples ex;

  PetscFunctionBegin;
  PetscCall(FuzzWriteText(folder, "text", "1 1:1 3:-2.5\n-1 2:0.5\n1\n-1 1:1 2:2 3:3\n"));
  (void)snprintf(file, sizeof(file), "%s/text", folder);
  PetscCall(BMRMExamplesLoad(PETSC_COMM_SELF, file, &ex));
  (void)snprintf(file, sizeof(file), "%s/seed-examples", folder);
  PetscCall(BMRMExamplesSave(&ex, file));
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels for the matrices of four rows among the seeds. */
static PetscErrorCode PrepareMarket(const char folder[])
{
  PetscFunctionBegin;
  PetscCall(FuzzWriteText(folder, "input.labels", "1\n-1\n1\n-1\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareLabels(const char folder[])
{
  PetscFunctionBegin;
  PetscCall(FuzzWriteText(folder, "input.mtx", "%%MatrixMarket matrix coordinate real general\n4 3 3\n1 1 1\n2 3 2.5\n4 2 -1\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadLabels(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  char matrix[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  (void)snprintf(matrix, sizeof(matrix), "%.*s.mtx", (int)(strlen(file) - strlen(".labels")), file);
  PetscCall(ReadExamples(matrix, choice, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool SameNames(const char *a, const char *b, PetscInt n)
{
  if (!a || !b) return (PetscBool)(a == b);
  for (PetscInt k = 0; k < n; k++) {
    if (strcmp(a, b)) return PETSC_FALSE;
    a += strlen(a) + 1;
    b += strlen(b) + 1;
  }
  return PETSC_TRUE;
}

/* Reads a model, and reads again what is written of it. */
static PetscErrorCode ReadModel(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  char      copy[PETSC_MAX_PATH_LEN];
  BMRMModel model, again;
  PetscInt  all;

  PetscFunctionBegin;
  PetscCall(BMRMModelRead(PETSC_COMM_SELF, file, &model));
  all = model.n * PetscMax(1, model.nclass);
  FUZZ_EXPECT(model.n >= 0 && (model.nclass == 0 || model.nclass >= 2) && model.lambda > 0, "%lld features, %lld classes, lambda %g", (long long)model.n, (long long)model.nclass, (double)model.lambda);
  for (PetscInt k = 0; k < all; k++) FUZZ_EXPECT(!PetscIsInfOrNanReal(model.w[k]), "weight %lld is not finite", (long long)k);
  for (PetscInt k = 1; k < model.nclass; k++) FUZZ_EXPECT(model.label[k] > model.label[k - 1], "label %lld", (long long)k);
  if (all < 100000) {
    (void)snprintf(copy, sizeof(copy), "%s.copy", file);
    PetscCall(BMRMModelWrite(PETSC_COMM_SELF, &model, copy));
    PetscCall(BMRMModelRead(PETSC_COMM_SELF, copy, &again));
    FUZZ_EXPECT(again.n == model.n && again.nclass == model.nclass && again.lambda == model.lambda && again.offset == model.offset && !strcmp(again.loss, model.loss) && again.classify == model.classify && again.order == model.order &&
                  again.unit_rows == model.unit_rows && again.probable == model.probable,
                "what was written is another model");
    if (!wrong[0]) FUZZ_EXPECT(SameNames(again.feature_names, model.feature_names, model.n) && SameNames(again.class_names, model.class_names, model.nclass ? model.nclass : 2), "what was written has other names");
    if (!wrong[0])
      for (PetscInt k = 0; k < all; k++) FUZZ_EXPECT(again.w[k] == model.w[k], "weight %lld is read as another number", (long long)k);
    PetscCall(BMRMModelDestroy(&again));
  }
  PetscCall(BMRMModelDestroy(&model));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadGroups(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  const PetscScalar *a;
  PetscErrorCode     ierr;
  Mat                X;
  Vec                groups = NULL;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 5, 0, NULL, &X));
  PetscCall(MatSetUp(X));
  ierr = BMRMGroupsLoad(file, X, 4, &groups);
  if (!ierr) {
    PetscCall(VecGetArrayRead(groups, &a));
    for (PetscInt k = 0; k < 5; k++) FUZZ_EXPECT(PetscRealPart(a[k]) >= 0 && PetscRealPart(a[k]) <= PETSC_MAX_INT && PetscRealPart(a[k]) == PetscFloorReal(PetscRealPart(a[k])), "group %lld is %g", (long long)k, PetscRealPart(a[k]));
    PetscCall(VecRestoreArrayRead(groups, &a));
    PetscCall(VecDestroy(&groups));
  }
  PetscCall(MatDestroy(&X));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a solver on six examples. */
static PetscErrorCode CreateSolver(BMRM *b)
{
  Mat X;
  Vec y;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 6, 3, 3, NULL, &X));
  for (PetscInt i = 0; i < 6; i++)
    for (PetscInt j = 0; j < 3; j++) PetscCall(MatSetValue(X, i, j, PetscCosReal((PetscReal)(7 * i + 3 * j)), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(X, NULL, &y));
  for (PetscInt i = 0; i < 6; i++) PetscCall(VecSetValue(y, i, i % 2 ? 1 : -1, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));
  PetscCall(BMRMCreate(PETSC_COMM_SELF, b));
  PetscCall(BMRMSetData(*b, X, y));
  PetscCall(BMRMSetLambda(*b, 1e-2));
  PetscCall(BMRMSetTolerances(*b, 1e-12, 1e-12, 6));
  PetscCall(MatDestroy(&X));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareCheckpoint(const char folder[])
{
  char file[PETSC_MAX_PATH_LEN];
  BMRM b;

  PetscFunctionBegin;
  (void)snprintf(file, sizeof(file), "%s/seed-checkpoint", folder);
  PetscCall(CreateSolver(&b));
  PetscCall(BMRMSetCheckpoint(b, file, 1));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Goes on from a checkpoint. */
static PetscErrorCode ReadCheckpoint(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  PetscReal      objective, lower;
  PetscErrorCode ierr;
  BMRM           b;

  PetscFunctionBegin;
  PetscCall(CreateSolver(&b));
  PetscCall(BMRMSetRestart(b, file));
  ierr = BMRMSolve(b);
  if (!ierr) {
    PetscCall(BMRMGetObjective(b, &objective, &lower));
    FUZZ_EXPECT(!PetscIsInfOrNanReal(objective) && !PetscIsNanReal(lower), "the objective is %g, the lower bound %g", (double)objective, (double)lower);
  }
  PetscCall(BMRMDestroy(&b));
  if (ierr == PETSC_ERR_PLIB) ierr = PETSC_ERR_USER_INPUT; /* with a forged checksum, the solver finds out that the bounds contradict each other */
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzReader FuzzBmrm[] = {{.name = "libsvm", .suffix = ".libsvm", .read = ReadExamples},
                               {.name = "bmrmtable", .suffix = ".csv", .read = ReadTable},
                               {.name = "bmrmmarket", .suffix = ".mtx", .prepare = PrepareMarket, .read = ReadExamples},
                               {.name = "bmrmlabels", .suffix = ".labels", .prepare = PrepareLabels, .read = ReadLabels},
                               {.name = "bmrmbinary", .suffix = ".bin", .prepare = PrepareExamples, .read = ReadExamples},
                               {.name = "model", .suffix = ".model", .read = ReadModel},
                               {.name = "groups", .suffix = ".groups", .read = ReadGroups},
                               {.name = "bmrmcheckpoint", .suffix = ".ck", .prepare = PrepareCheckpoint, .read = ReadCheckpoint, .repair = FuzzRepairCheckpoint},
                               {.name = NULL}};
