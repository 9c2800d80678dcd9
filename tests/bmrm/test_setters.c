static char help[] = "Every setter of a BMRM does what its option does, which is not nothing; prefixes; a convergence test of the user's; the Tao hands out what it was given.\n\n";

#include "gpucsr.h"
#include "gpucsrbmrm.h"
#include "gpucsrcompat.h"
#include <petsctao.h>

#define ROWS    120
#define COLUMNS 15

/* how a solve went */
typedef struct {
  PetscInt  passes, products, cuts, active;
  PetscReal objective, bound;
} Course;

typedef struct {
  const char *option, *value;
  PetscErrorCode (*set)(BMRM);
} Setting;

static PetscErrorCode BestCut(BMRM b)
{
  return BMRMSetBestCut(b, PETSC_FALSE);
}

static PetscErrorCode Cuts(BMRM b)
{
  return BMRMSetCuts(b, 4);
}

static PetscErrorCode IdleAge(BMRM b)
{
  return BMRMSetIdleAge(b, 1);
}

static PetscErrorCode LineSearch(BMRM b)
{
  return BMRMSetLineSearch(b, PETSC_FALSE);
}

static PetscErrorCode MaxCuts(BMRM b)
{
  return BMRMSetMaxCuts(b, 20);
}

static PetscErrorCode Mu(BMRM b)
{
  return BMRMSetMu(b, 0.5, PETSC_TRUE);
}

static PetscErrorCode QPTolerance(BMRM b)
{
  return BMRMSetQPTolerance(b, 0.9);
}

static const Setting Settings[] = {
  {"-mine_bmrm_best_cut", "false", BestCut}, {"-mine_bmrm_cuts", "4", Cuts}, {"-mine_bmrm_idle_age", "1", IdleAge},      {"-mine_bmrm_line_search", "false", LineSearch},
  {"-mine_bmrm_max_cuts", "20", MaxCuts},    {"-mine_bmrm_mu", "0.5", Mu},   {"-mine_bmrm_qp_rtol", "0.9", QPTolerance},
};

static PetscErrorCode Create(Mat X, Vec y, BMRM *b)
{
  PetscFunctionBeginUser;
  PetscCall(BMRMCreate(PETSC_COMM_SELF, b));
  PetscCall(BMRMSetData(*b, X, y));
  PetscCall(BMRMSetLambda(*b, 1e-3));
  PetscCall(BMRMSetTolerances(*b, 1e-7, 0, 1000));
  PetscCall(BMRMSetOptionsPrefix(*b, "mine_"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* with a setting, by its function or by its option, or without any */
static PetscErrorCode Solve(Mat X, Vec y, const Setting *s, PetscBool option, Course *c)
{
  BMRM                b;
  BMRMConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  PetscCall(Create(X, y, &b));
  if (s && option) PetscCall(PetscOptionsSetValue(NULL, s->option, s->value));
  if (s && !option) PetscCall((*s->set)(b));
  PetscCall(BMRMSetFromOptions(b));
  if (s && option) PetscCall(PetscOptionsClearValue(NULL, s->option));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCheck(reason > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s", s ? s->option : "default", BMRMConvergedReasons[reason]);
  PetscCall(BMRMGetIterationNumber(b, &c->passes));
  PetscCall(BMRMGetMatMults(b, &c->products));
  PetscCall(BMRMGetCuts(b, &c->cuts, &c->active));
  PetscCall(BMRMGetObjective(b, &c->objective, &c->bound));
  PetscCall(BMRMDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSettings(Mat X, Vec y)
{
  Course plain, set, asked;

  PetscFunctionBeginUser;
  PetscCall(Solve(X, y, NULL, PETSC_FALSE, &plain));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Settings); k++) {
    PetscCall(Solve(X, y, &Settings[k], PETSC_FALSE, &set));
    PetscCall(Solve(X, y, &Settings[k], PETSC_TRUE, &asked));
    PetscCheck(!memcmp(&set, &asked, sizeof(set)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s %s: %" PetscInt_FMT " passes, by its function %" PetscInt_FMT, Settings[k].option, Settings[k].value, asked.passes, set.passes);
    PetscCheck(memcmp(&set, &plain, sizeof(set)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s %s changes nothing", Settings[k].option, Settings[k].value);
    PetscCheck(PetscAbsReal(set.objective - plain.objective) <= 2e-7, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s %s: objective %.12g, not %.12g", Settings[k].option, Settings[k].value, (double)set.objective, (double)plain.objective);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "setters do what their options do\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* stops after the fourth pass, if not before */
static PetscErrorCode AfterFour(BMRM b, PetscInt it, PetscReal J, PetscReal lower, BMRMConvergedReason *reason, void *calls)
{
  PetscFunctionBeginUser;
  ++*(PetscInt *)calls;
  PetscCall(BMRMConvergedDefault(b, it, J, lower, reason, NULL));
  if (*reason == BMRM_CONVERGED_ITERATING && it >= 4) *reason = BMRM_CONVERGED_USER;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestStop(Mat X, Vec y)
{
  BMRM                b;
  BMRMConvergedReason reason;
  PetscInt            calls = 0, passes;

  PetscFunctionBeginUser;
  PetscCall(Create(X, y, &b));
  PetscCall(BMRMSetConvergenceTest(b, AfterFour, &calls));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCall(BMRMGetIterationNumber(b, &passes));
  PetscCheck(reason == BMRM_CONVERGED_USER && passes == 4 && calls >= 4, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s after %" PetscInt_FMT " passes and %" PetscInt_FMT " calls", BMRMConvergedReasons[reason], passes, calls);
  PetscCall(BMRMSetConvergenceTest(b, NULL, NULL));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMGetConvergedReason(b, &reason));
  PetscCheck(reason == BMRM_CONVERGED_GAP_ATOL, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The default test ends with %s", BMRMConvergedReasons[reason]);
  PetscCall(BMRMDestroy(&b));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "a test of the user's stops\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestTao(Mat X, Vec y)
{
  BMRM b, there;
  Tao  tao;

  PetscFunctionBeginUser;
  PetscCall(Create(X, y, &b));
  PetscCall(TaoCreate(PETSC_COMM_SELF, &tao));
  PetscCall(TaoSetType(tao, TAOLSBMRM));
  PetscCall(TaoLSBMRMSetBMRM(tao, b));
  PetscCall(TaoLSBMRMGetBMRM(tao, &there));
  PetscCheck(there == b, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The Tao hands out another solver");
  PetscCall(TaoLSBMRMSetBMRM(tao, NULL));
  PetscCall(TaoLSBMRMGetBMRM(tao, &there));
  PetscCheck(!there, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The Tao hands out a solver that was taken from it");
  PetscCall(TaoDestroy(&tao));
  PetscCall(BMRMDestroy(&b));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "the Tao hands out what it was given\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom random;
  Mat         X;
  Vec         y;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, ROWS, COLUMNS, COLUMNS, NULL, &X));
  PetscCall(MatCreateVecs(X, NULL, &y));
  for (PetscInt i = 0; i < ROWS; i++) {
    PetscScalar sum = 0, value;

    for (PetscInt j = 0; j < COLUMNS; j++) {
      PetscCall(PetscRandomGetValue(random, &value));
      PetscCall(MatSetValue(X, i, j, value, INSERT_VALUES));
      sum += value * (PetscScalar)(j % 3 - 1);
    }
    PetscCall(PetscRandomGetValue(random, &value)); /* some labels are wrong */
    PetscCall(VecSetValue(y, i, PetscRealPart(sum + value) > 0 ? 1 : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));
  PetscCall(TestSettings(X, y));
  PetscCall(TestStop(X, y));
  PetscCall(TestTao(X, y));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatDestroy(&X));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1

TEST*/
