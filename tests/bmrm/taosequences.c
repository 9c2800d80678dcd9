static char help[] = "Calls on a Tao of type lsbmrm in every order: the type set in code and by option, to and from other types, at every moment of the Tao's life.\n\
  Every sequence ends in solves whose minimiser is known.\n\n";

#include "bmrmimpl.h"
#include <gpucsr.h>
#include <petsctao.h>

#define STEPS  4
#define LAMBDA 0.5

/* The types that a Tao gets, one after the other.  A leading '-' stands for the option -tao_type and TaoSetFromOptions(). */
static const char *const Types[][STEPS] = {
  {"lsbmrm"},
  {"-lsbmrm"},
  {"lsbmrm", "lsbmrm"},
  {"lsbmrm", "-lsbmrm", "-lsbmrm"},
  {"lmvm", "-lsbmrm"},
  {"lmvm", "lsbmrm"},
  {"lsbmrm", "lmvm"},
  {"lsbmrm", "-lmvm"},
  {"lsbmrm", "lmvm", "lsbmrm"},
  {"bmrm", "-lsbmrm"},
  {"lsbmrm", "bmrm", "lsbmrm"},
  {"-lsbmrm", "bmrm", "lmvm", "-lsbmrm"},
  {"cg", "lsbmrm", "cg", "lsbmrm"},
};

/* what happens to the Tao after each type but the last */
typedef enum {
  NOTHING,
  FROMOPTIONS,
  SETUP,
  SOLVE,
  STRUCTURE,
  MOMENTS
} Moment;

static const char *const Moments[] = {"as created", "after TaoSetFromOptions()", "after TaoSetUp()", "after TaoSolve()", "after a BMRM"};

/* |x - c|^2 / 2 with c_i = 1 + i % 3 */
static PetscErrorCode Evaluate(Tao tao, Vec x, PetscReal *f, Vec g, void *ctx)
{
  PetscInt           from, to;
  const PetscScalar *values;
  PetscScalar       *gradient;
  PetscReal          sum = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &from, &to));
  PetscCall(VecGetArrayRead(x, &values));
  PetscCall(VecGetArrayWrite(g, &gradient));
  for (PetscInt i = 0; i < to - from; i++) {
    gradient[i] = values[i] - 1 - (from + i) % 3;
    sum += 0.5 * PetscRealPart(gradient[i] * gradient[i]);
  }
  PetscCall(VecRestoreArrayWrite(g, &gradient));
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscCallMPI(MPI_Allreduce(&sum, f, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* lsbmrm adds lambda |x|^2 / 2, so that its minimiser is c / (1 + lambda); bmrm, whose regulariser is PETSc's, is run and not compared */
static PetscErrorCode Solve(Tao tao, Vec x, const char what[], const char when[])
{
  TaoType            type;
  PetscBool          ours, bmrm;
  PetscInt           from, to;
  const PetscScalar *values;
  TaoConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 0.5));
  PetscCall(TaoSetSolution(tao, x));
  PetscCall(TaoSolve(tao));
  PetscCall(TaoGetType(tao, &type));
  PetscCall(PetscStrcmp(type, "lsbmrm", &ours));
  PetscCall(PetscStrcmp(type, "bmrm", &bmrm));
  if (bmrm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TaoGetConvergedReason(tao, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s: %s", what, when, TaoConvergedReasons[reason]);
  PetscCall(VecGetOwnershipRange(x, &from, &to));
  PetscCall(VecGetArrayRead(x, &values));
  for (PetscInt i = 0; i < to - from; i++) {
    const PetscScalar want = (1 + (from + i) % 3) / (ours ? 1 + LAMBDA : 1);

    PetscCheck(PetscAbsScalar(values[i] - want) <= 1e-3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s %s: %g at place %" PetscInt_FMT ", not %g", what, when, (double)values[i], from + i, (double)want);
  }
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a solve with a structured objective, for a type that knows it */
static PetscErrorCode SolveStructure(Tao tao, Vec w, BMRM b, const char what[], const char when[])
{
  TaoType   type;
  PetscBool ours;
  PetscReal J, want;

  PetscFunctionBeginUser;
  PetscCall(TaoGetType(tao, &type));
  PetscCall(PetscStrcmp(type, "lsbmrm", &ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TaoLSBMRMSetBMRM(tao, b));
  PetscCall(TaoSetSolution(tao, w));
  PetscCall(TaoSolve(tao));
  PetscCall(TaoGetSolutionStatus(tao, NULL, &J, NULL, NULL, NULL, NULL));
  PetscCall(BMRMSolve(b));
  PetscCall(BMRMGetObjective(b, &want, NULL));
  PetscCheck(PetscAbsReal(J - want) <= 1e-3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s: objective %g, not %g", what, when, (double)J, (double)want);
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  Vec  x[2]; /* of different sizes */
  BMRM b;
  Vec  w; /* its weights */
} Problem;

static PetscErrorCode ProblemCreate(Problem *p)
{
  Mat      X;
  Vec      y;
  PetscInt from, to;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(VecCreate(PETSC_COMM_WORLD, &p->x[k]));
    PetscCall(VecSetSizes(p->x[k], PETSC_DECIDE, k ? 17 : 8));
    PetscCall(VecSetType(p->x[k], k ? VECGPU : VECSTANDARD));
  }
  PetscCall(MatCreate(PETSC_COMM_WORLD, &X));
  PetscCall(MatSetSizes(X, PETSC_DECIDE, PETSC_DECIDE, 20, 5));
  PetscCall(MatSetType(X, MATGPUCSR));
  PetscCall(MatSetUp(X));
  PetscCall(MatCreateVecs(X, &p->w, &y));
  PetscCall(MatGetOwnershipRange(X, &from, &to));
  for (PetscInt i = from; i < to; i++) {
    for (PetscInt j = 0; j < 5; j++) PetscCall(MatSetValue(X, i, j, (3 * i + 7 * j) % 5 - 1.5, INSERT_VALUES));
    PetscCall(VecSetValue(y, i, i % 3 ? 1 : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(y));
  PetscCall(VecAssemblyEnd(y));
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &p->b));
  PetscCall(BMRMSetData(p->b, X, y));
  PetscCall(BMRMSetLambda(p->b, 0.1));
  PetscCall(MatDestroy(&X));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemDestroy(Problem *p)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&p->x[k]));
  PetscCall(VecDestroy(&p->w));
  PetscCall(BMRMDestroy(&p->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TaoMake(Tao *tao)
{
  PetscFunctionBeginUser;
  PetscCall(TaoCreate(PETSC_COMM_WORLD, tao));
  PetscCall(TaoSetObjectiveAndGradient(*tao, NULL, Evaluate, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* newer releases of PETSc give a new type its own tolerances */
static PetscErrorCode SetType(Tao tao, const char type[])
{
  PetscFunctionBeginUser;
  if (type[0] != '-') PetscCall(TaoSetType(tao, type));
  else {
    PetscCall(PetscOptionsSetValue(NULL, "-tao_type", type + 1));
    PetscCall(TaoSetFromOptions(tao));
    PetscCall(PetscOptionsClearValue(NULL, "-tao_type"));
  }
  PetscCall(TaoSetTolerances(tao, 1e-8, 0, 0));
  PetscCall(TaoSetMaximumIterations(tao, 1000));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Act(Tao tao, Moment moment, const Problem *p, const char what[])
{
  PetscFunctionBeginUser;
  switch (moment) {
  case FROMOPTIONS:
    PetscCall(TaoSetFromOptions(tao));
    break;
  case SETUP:
    PetscCall(TaoSetSolution(tao, p->x[0]));
    PetscCall(TaoSetUp(tao));
    break;
  case SOLVE:
    PetscCall(TaoSetFromOptions(tao)); /* lambda */
    PetscCall(Solve(tao, p->x[0], what, Moments[moment]));
    break;
  case STRUCTURE:
    PetscCall(SolveStructure(tao, p->w, p->b, what, Moments[moment]));
    PetscCall(TaoSetSolution(tao, p->x[0]));
    break;
  default:
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sequence(const char *const types[STEPS], Moment moment, const Problem *p)
{
  Tao         tao;
  TaoType     type;
  char        what[128] = "";
  const char *when      = Moments[moment];
  PetscBool   same, ours;

  PetscFunctionBeginUser;
  PetscCall(TaoMake(&tao));
  for (int t = 0; t < STEPS && types[t]; t++) {
    if (t) PetscCall(Act(tao, moment, p, what));
    PetscCall(PetscStrlcat(what, t ? " then " : "", sizeof(what)));
    PetscCall(PetscStrlcat(what, types[t], sizeof(what)));
    PetscCall(SetType(tao, types[t]));
    PetscCall(TaoGetType(tao, &type));
    PetscCall(PetscStrcmp(type, types[t] + (types[t][0] == '-'), &same));
    PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s: type %s", what, when, type);
  }
  PetscCall(TaoSetFromOptions(tao));
  PetscCall(TaoSetFromOptions(tao));
  PetscCall(PetscStrcmp(type, "lsbmrm", &ours));
  if (ours && moment == STRUCTURE) PetscCall(TaoLSBMRMSetBMRM(tao, NULL));
  /* a type of PETSc keeps its gradient from the solves of another type, which had another size */
  PetscCall(Solve(tao, p->x[0], what, when));
  PetscCall(Solve(tao, p->x[0], what, when));
  if (ours) {
    PetscCall(Solve(tao, p->x[1], what, when)); /* of another size and type, without TaoSetUp() */
    PetscCall(SolveStructure(tao, p->w, p->b, what, when));
    PetscCall(TaoLSBMRMSetBMRM(tao, NULL));
    PetscCall(Solve(tao, p->x[0], what, when));
    PetscCall(TaoSetOptionsPrefix(tao, "other_"));
    PetscCall(TaoSetFromOptions(tao));
    PetscCall(Solve(tao, p->x[1], what, when));
  }
  PetscCall(TaoDestroy(&tao));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* destroyed before use, and after each of its first steps */
static PetscErrorCode Abandon(const char *const types[STEPS], const Problem *p)
{
  PetscFunctionBeginUser;
  for (int m = 0; m < MOMENTS; m++) {
    Tao tao;

    PetscCall(TaoMake(&tao));
    for (int t = 0; t < STEPS && types[t]; t++) PetscCall(SetType(tao, types[t]));
    PetscCall(Act(tao, (Moment)m, p, types[0]));
    PetscCall(TaoDestroy(&tao));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(ProblemCreate(&p));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(Types); t++) {
    for (int m = 0; m < MOMENTS; m++) PetscCall(Sequence(Types[t], (Moment)m, &p));
    PetscCall(Abandon(Types[t], &p));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d sequences: the minimisers\n", (int)PETSC_STATIC_ARRAY_LENGTH(Types) * MOMENTS));
  PetscCall(ProblemDestroy(&p));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      nsize: {{1 2}}
      args: -tao_lsbmrm_lambda 0.5 -other_tao_lsbmrm_lambda 0.5
      output_file: output/taosequences.out

TEST*/
