static char help[] = "Sequences of calls on a KSP of type gpucg: the type is set in code and by option, to and from other types, in every state of set-up and use.\n\
  Every sequence ends with solves that are compared with KSPCG on a plain AIJ matrix.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define STEPS 4

/* The types that a KSP gets, one after the other. A leading '-' means the option -ksp_type and KSPSetFromOptions(). */
static const char *const Types[][STEPS] = {
  {"gpucg"},
  {"-gpucg"},
  {"cg", "-gpucg"},
  {"cg", "gpucg"},
  {"gpucg", "gpucg"},
  {"gpucg", "-gpucg", "-gpucg"},
  {"-gpucg", "-gpucg"},
  {"gpucg", "cg"},
  {"gpucg", "-cg"},
  {"cg", "gpucg", "cg"},
  {"gpucg", "cg", "gpucg"},
  {"-gpucg", "cg", "-gpucg", "cg"},
  {"cr", "-gpucg"},
  {"gpucg", "cr", "gpucg"},
  {"gpucg", "gmres", "cg", "-gpucg"},
  {"gpucg", "preonly", "gpucg"},
};

/* calls on the KSP after each type except the last */
typedef enum {
  NOTHING,
  FROMOPTIONS,
  SETUP,
  SOLVE,
  SOLVE_RESET,
  SETUP_RESET,
  SOLVE_TWICE,
  RESET_RESET,
  MOMENTS
} Moment;

static const char *const Moments[] = {"as created", "after KSPSetFromOptions()", "after KSPSetUp()", "after KSPSolve()", "after KSPSolve() and KSPReset()", "after KSPSetUp() and KSPReset()", "after two matrices", "after KSPReset() twice"};

typedef struct {
  Mat      plain, ours;
  Vec      b, x;
  PetscInt its; /* iterations of KSPCG */
} System;

/* Creates a symmetric positive definite n x n system. */
static PetscErrorCode SystemCreate(PetscInt n, System *s)
{
  KSP         ksp;
  PC          pc;
  PetscInt    from, to;
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &s->plain));
  PetscCall(MatSetSizes(s->plain, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(s->plain, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(s->plain, 3, NULL));
  PetscCall(MatMPIAIJSetPreallocation(s->plain, 3, NULL, 2, NULL));
  PetscCall(MatGetOwnershipRange(s->plain, &from, &to));
  for (PetscInt i = from; i < to; i++) {
    PetscCall(MatSetValue(s->plain, i, i, 2.5 + i % 5, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(s->plain, i, i - 1, -1, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(s->plain, i, i + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(s->plain, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s->plain, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(s->plain, MATGPUCSR, MAT_INITIAL_MATRIX, &s->ours));
  PetscCall(MatCreateVecs(s->plain, &s->b, &s->x));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(s->b, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetOperators(ksp, s->plain, s->plain));
  PetscCall(KSPSolve(ksp, s->b, s->x));
  PetscCall(KSPGetIterationNumber(ksp, &s->its));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SystemDestroy(System *s)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&s->plain));
  PetscCall(MatDestroy(&s->ours));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves. The result is compared if the type is a conjugate gradient method. */
static PetscErrorCode Solve(KSP ksp, const System *s, PetscBool ours, const char what[], const char when[])
{
  Vec                x;
  PetscReal          error, scale;
  PetscInt           its;
  PetscBool          cg;
  KSPType            type;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPSetOperators(ksp, ours ? s->ours : s->plain, ours ? s->ours : s->plain));
  PetscCall(VecDuplicate(s->x, &x));
  PetscCall(KSPSolve(ksp, s->b, x));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &cg, KSPCG, KSPGPUCG, ""));
  if (cg) {
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCheck(reason > 0 && its == s->its, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s: %s in %" PetscInt_FMT " iterations, KSPCG takes %" PetscInt_FMT, what, when, KSPConvergedReasons[reason], its, s->its);
    PetscCall(VecNorm(s->x, NORM_INFINITY, &scale));
    PetscCall(VecAXPY(x, -1, s->x));
    PetscCall(VecNorm(x, NORM_INFINITY, &error));
    PetscCheck(error <= 1e-10 * scale, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s: type %s, the solution differs by %g of %g", what, when, type, (double)error, (double)scale);
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetType(KSP ksp, const char type[])
{
  const char *prefix;
  char        option[64];

  PetscFunctionBeginUser;
  if (type[0] != '-') {
    PetscCall(KSPSetType(ksp, type));
  } else {
    PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
    PetscCall(PetscSNPrintf(option, sizeof(option), "-%sksp_type", prefix ? prefix : ""));
    PetscCall(PetscOptionsSetValue(NULL, option, type + 1));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(PetscOptionsClearValue(NULL, option));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Act(KSP ksp, Moment moment, const System s[], const char what[])
{
  PetscFunctionBeginUser;
  switch (moment) {
  case FROMOPTIONS:
    PetscCall(KSPSetFromOptions(ksp));
    break;
  case SETUP:
  case SETUP_RESET:
    PetscCall(KSPSetOperators(ksp, s[0].ours, s[0].ours));
    PetscCall(KSPSetUp(ksp));
    break;
  case SOLVE:
  case SOLVE_RESET:
    PetscCall(Solve(ksp, &s[0], PETSC_TRUE, what, Moments[moment]));
    break;
  case SOLVE_TWICE: /* solves with a matrix of another type and with one of another size */
    PetscCall(Solve(ksp, &s[0], PETSC_FALSE, what, Moments[moment]));
    PetscCall(Solve(ksp, &s[0], PETSC_TRUE, what, Moments[moment]));
    PetscCall(KSPReset(ksp));
    PetscCall(Solve(ksp, &s[1], PETSC_TRUE, what, Moments[moment]));
    PetscCall(KSPReset(ksp));
    break;
  case RESET_RESET:
    PetscCall(KSPReset(ksp));
    break;
  default:
    break;
  }
  if (moment == SOLVE_RESET || moment == SETUP_RESET || moment == RESET_RESET) PetscCall(KSPReset(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sequence(const char *const types[STEPS], Moment moment, const System s[])
{
  KSP         ksp;
  PC          pc;
  char        what[128] = "";
  const char *when = Moments[moment], *last = NULL;
  KSPType     type;
  PetscBool   same;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  for (int t = 0; t < STEPS && types[t]; t++) {
    if (t) PetscCall(Act(ksp, moment, s, what));
    PetscCall(PetscStrlcat(what, t ? " then " : "", sizeof(what)));
    PetscCall(PetscStrlcat(what, types[t], sizeof(what)));
    PetscCall(SetType(ksp, types[t]));
    last = types[t] + (types[t][0] == '-');
    PetscCall(KSPGetType(ksp, &type));
    PetscCall(PetscStrcmp(type, last, &same));
    PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s %s: type %s", what, when, type);
  }
  /* The rest uses the last type: options, view, solves with three matrices, two of them of other sizes or types, and a new prefix. */
  PetscCall(Solve(ksp, &s[0], PETSC_TRUE, what, when));
  PetscCall(Solve(ksp, &s[0], PETSC_FALSE, what, when));
  PetscCall(KSPReset(ksp));
  PetscCall(Solve(ksp, &s[1], PETSC_TRUE, what, when));
  PetscCall(KSPSetOptionsPrefix(ksp, "other_"));
  PetscCall(PetscOptionsSetValue(NULL, "-other_ksp_gpu_batch", "3"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Solve(ksp, &s[1], PETSC_TRUE, what, when));
  PetscCall(PetscOptionsClearValue(NULL, "-other_ksp_gpu_batch"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Destroys the KSP before use, after KSPSetFromOptions() and after KSPSetUp(). */
static PetscErrorCode Abandon(const char *const types[STEPS], const System s[])
{
  const Moment moments[] = {NOTHING, FROMOPTIONS, SETUP, SOLVE, SETUP_RESET, SOLVE_RESET};

  PetscFunctionBeginUser;
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(moments); m++) {
    KSP ksp;

    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
    PetscCall(PetscOptionsSetValue(NULL, "-pc_type", "jacobi"));
    for (int t = 0; t < STEPS && types[t]; t++) PetscCall(SetType(ksp, types[t]));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(Act(ksp, moments[m], s, types[0]));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(PetscOptionsClearValue(NULL, "-pc_type"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  System s[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(SystemCreate(60, &s[0]));
  PetscCall(SystemCreate(97, &s[1]));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(Types); t++) {
    for (int m = 0; m < MOMENTS; m++) PetscCall(Sequence(Types[t], (Moment)m, s));
    PetscCall(Abandon(Types[t], s));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d sequences: equal to KSPCG\n", (int)PETSC_STATIC_ARRAY_LENGTH(Types) * MOMENTS));
  for (int k = 0; k < 2; k++) PetscCall(SystemDestroy(&s[k]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      nsize: {{1 2}}
      args: -mat_gpucsr_storage double
      output_file: output/kspsequences.out

   test:
      suffix: stream
      nsize: {{1 2}}
      args: -mat_gpucsr_storage double -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident {{0 20000}}
      output_file: output/kspsequences.out

   test:
      suffix: stream_4
      nsize: 4
      args: -mat_gpucsr_storage double -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 20000
      output_file: output/kspsequences.out

TEST*/
