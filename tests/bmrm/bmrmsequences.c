static char help[] = "Calls on a BMRM in every order: all pairs of operations, each followed by a solve whose objective a fresh solver confirms.\n\n";

#include "gpucsrbmrm.h"
#include <gpucsr.h>
#include "gpucsrcompat.h"

typedef struct {
  Mat X;
  Vec y;
} Data;

static Data Sets[2]; /* of different sizes, and of the types gpucsr and aij */

static PetscErrorCode DataCreate(PetscInt m, PetscInt n, MatType type, Data *d)
{
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &d->X));
  PetscCall(MatSetSizes(d->X, PETSC_DECIDE, PETSC_DECIDE, m, n));
  PetscCall(MatSetType(d->X, type));
  PetscCall(MatSetUp(d->X));
  PetscCall(MatCreateVecs(d->X, NULL, &d->y));
  PetscCall(MatGetOwnershipRange(d->X, &from, &to));
  for (PetscInt i = from; i < to; i++) {
    for (PetscInt j = 0; j < n; j++) PetscCall(MatSetValue(d->X, i, j, (3 * i + 7 * j + i * j) % 5 - 1.5, INSERT_VALUES));
    PetscCall(VecSetValue(d->y, i, (i * i) % 3 ? 1 : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(d->X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(d->X, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(d->y));
  PetscCall(VecAssemblyEnd(d->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- operations ---------------------------------------------------------------------------------------------------------------*/

static PetscErrorCode OtherLoss(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMSetLossType(*b, "logistic"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LossTwice(BMRM *b)
{
  const char *type;

  PetscFunctionBeginUser;
  PetscCall(BMRMGetLossType(*b, &type));
  PetscCall(BMRMSetLossType(*b, type));
  PetscCall(BMRMSetLossType(*b, "hinge"));
  PetscCall(BMRMSetLossType(*b, "hinge"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an option overrides the code */
static PetscErrorCode Options(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-bmrm_loss", "sqhinge"));
  PetscCall(PetscOptionsSetValue(NULL, "-bmrm_regularizer", "l1"));
  PetscCall(BMRMSetFromOptions(*b));
  PetscCall(BMRMSetFromOptions(*b));
  PetscCall(PetscOptionsClearValue(NULL, "-bmrm_loss"));
  PetscCall(PetscOptionsClearValue(NULL, "-bmrm_regularizer"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Prefix(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMSetOptionsPrefix(*b, "other_"));
  PetscCall(PetscOptionsSetValue(NULL, "-other_bmrm_lambda", "0.3"));
  PetscCall(BMRMSetFromOptions(*b));
  PetscCall(PetscOptionsClearValue(NULL, "-other_bmrm_lambda"));
  PetscCall(BMRMSetOptionsPrefix(*b, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OtherRegularizer(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMSetRegularizerType(*b, "l1"));
  PetscCall(BMRMSetRegularizerType(*b, "elasticnet"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Lambda(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMSetLambda(*b, 0.2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMSetUp(*b));
  PetscCall(BMRMSetUp(*b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMSolve(*b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WarmStart(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMSetWarmStart(*b, PETSC_TRUE));
  PetscCall(BMRMSolve(*b));
  PetscCall(BMRMSetLambda(*b, 0.7));
  PetscCall(BMRMSolve(*b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Reset(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMReset(*b));
  PetscCall(BMRMReset(*b));
  PetscCall(BMRMSetData(*b, Sets[0].X, Sets[0].y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OtherData(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMSetData(*b, Sets[1].X, Sets[1].y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OtherDataSolved(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMSetData(*b, Sets[1].X, Sets[1].y));
  PetscCall(BMRMSolve(*b));
  PetscCall(BMRMSetData(*b, Sets[0].X, Sets[0].y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Duplicate(BMRM *b)
{
  BMRM c;

  PetscFunctionBeginUser;
  PetscCall(BMRMDuplicate(*b, &c));
  PetscCall(BMRMDestroy(b));
  *b = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the matrix changes its type while it is in use */
static PetscErrorCode ConvertData(BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(Sets[0].X, MATAIJ, MAT_INPLACE_MATRIX, &Sets[0].X));
  PetscCall(BMRMSolve(*b));
  PetscCall(MatConvert(Sets[0].X, MATGPUCSR, MAT_INPLACE_MATRIX, &Sets[0].X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* weights of the examples are set and withdrawn */
static PetscErrorCode ExampleWeights(BMRM *b)
{
  Vec scores, weight;

  PetscFunctionBeginUser;
  PetscCall(BMRMSolve(*b));
  PetscCall(BMRMGetScores(*b, &scores));
  PetscCall(VecDuplicate(scores, &weight));
  PetscCall(VecSet(weight, 2));
  PetscCall(BMRMSetExampleWeights(*b, weight));
  PetscCall(BMRMSetExampleWeights(*b, weight));
  PetscCall(BMRMSolve(*b));
  PetscCall(BMRMSetExampleWeights(*b, NULL));
  PetscCall(VecDestroy(&weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* two weights are free for a while */
static PetscErrorCode FreeWeights(BMRM *b)
{
  Vec w, factor;

  PetscFunctionBeginUser;
  PetscCall(BMRMSolve(*b));
  PetscCall(BMRMGetSolution(*b, &w));
  PetscCall(VecDuplicate(w, &factor));
  PetscCall(VecSet(factor, 1));
  for (PetscInt j = 0; j < 2; j++) PetscCall(VecSetValue(factor, j, 0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(factor));
  PetscCall(VecAssemblyEnd(factor));
  PetscCall(BMRMSetWeights(*b, factor));
  PetscCall(BMRMSolve(*b));
  PetscCall(BMRMSetWeights(*b, NULL));
  PetscCall(VecDestroy(&factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* destroyed at every moment of a solver's life */
static PetscErrorCode Abandon(BMRM *b)
{
  PetscFunctionBeginUser;
  for (int moment = 0; moment < 5; moment++) {
    BMRM c;

    PetscCall(BMRMCreate(PETSC_COMM_WORLD, &c));
    if (moment > 0) PetscCall(BMRMSetLossType(c, "logistic"));
    if (moment > 1) PetscCall(BMRMSetFromOptions(c));
    if (moment > 2) PetscCall(BMRMSetData(c, Sets[0].X, Sets[0].y));
    if (moment > 3) PetscCall(BMRMSetUp(c));
    PetscCall(BMRMDestroy(&c));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  PetscErrorCode (*act)(BMRM *);
} Actions[] = {
  {"another loss", OtherLoss},
  {"the loss twice", LossTwice},
  {"BMRMSetFromOptions()", Options},
  {"BMRMSetOptionsPrefix()", Prefix},
  {"another regulariser", OtherRegularizer},
  {"BMRMSetLambda()", Lambda},
  {"BMRMSetUp()", SetUp},
  {"BMRMSolve()", Solve},
  {"BMRMSetWarmStart()", WarmStart},
  {"BMRMReset()", Reset},
  {"other data", OtherData},
  {"other data and the first", OtherDataSolved},
  {"BMRMDuplicate()", Duplicate},
  {"MatConvert() of the data", ConvertData},
  {"BMRMSetExampleWeights()", ExampleWeights},
  {"BMRMSetWeights()", FreeWeights},
  {"destruction", Abandon},
};

/* a fresh solver with what b is set to reaches the same objective */
static PetscErrorCode Check(BMRM b, const Data *d, const char what[])
{
  BMRM                fresh;
  const char         *loss, *regularizer;
  PetscReal           lambda, J[2];
  BMRMConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s", what, BMRMConvergedReasons[reason]);
  PetscCall(BMRMGetObjective(b, &J[0], NULL));
  PetscCall(BMRMGetLossType(b, &loss));
  PetscCall(BMRMGetRegularizerType(b, &regularizer));
  PetscCall(BMRMGetLambda(b, &lambda));
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &fresh));
  PetscCall(BMRMSetLossType(fresh, loss));
  PetscCall(BMRMSetRegularizerType(fresh, regularizer));
  PetscCall(BMRMSetLambda(fresh, lambda));
  PetscCall(BMRMSetTolerances(fresh, 1e-5, 0, 2000));
  PetscCall(BMRMSetData(fresh, d->X, d->y));
  PetscCall(BMRMSolve(fresh));
  PetscCall(BMRMGetObjective(fresh, &J[1], NULL));
  PetscCheck(PetscAbsReal(J[0] - J[1]) <= 3e-5, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: loss %s, regulariser %s, lambda %g: objective %.10g, not %.10g", what, loss, regularizer, (double)lambda, (double)J[0], (double)J[1]);
  PetscCall(BMRMDestroy(&fresh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* action a, then b; with a solve in between or without.  In the end the solver has the first data. */
static PetscErrorCode Pair(size_t a, size_t b, PetscBool between)
{
  BMRM bmrm;
  char what[256];
  PetscErrorCode (*act[2])(BMRM *) = {Actions[a].act, Actions[b].act};
  const Data *d                    = &Sets[0];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s%s then %s", Actions[a].name, between ? ", a solve" : "", Actions[b].name));
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &bmrm));
  PetscCall(BMRMSetTolerances(bmrm, 1e-5, 0, 2000));
  PetscCall(BMRMSetLambda(bmrm, 0.1));
  PetscCall(BMRMSetData(bmrm, Sets[0].X, Sets[0].y));
  for (int k = 0; k < 2; k++) {
    PetscCall((*act[k])(&bmrm));
    if (act[k] == OtherData) d = &Sets[1];
    if (act[k] == OtherDataSolved || act[k] == Reset) d = &Sets[0];
    if (k || between) PetscCall(Check(bmrm, d, what));
  }
  PetscCall(BMRMDestroy(&bmrm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const size_t n = PETSC_STATIC_ARRAY_LENGTH(Actions);

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(DataCreate(24, 4, MATGPUCSR, &Sets[0]));
  PetscCall(DataCreate(31, 6, MATAIJ, &Sets[1]));
  for (size_t a = 0; a < n; a++)
    for (size_t b = 0; b < n; b++) PetscCall(Pair(a, b, (PetscBool)((a + b) % 2)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d operations in pairs: the objectives of fresh solvers\n", (int)n));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&Sets[k].X));
    PetscCall(VecDestroy(&Sets[k].y));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      nsize: {{1 2}}
      output_file: output/bmrmsequences.out

TEST*/
