/* Weights of the examples: from the file of -example_weights, and from the classes by -class_weights. */
#include "app/text/appscan.h"
#include "examples.h"
#include <string.h>

/* Reads the weights of the examples, one a line, into a vector with the layout of the rows of X. */
PetscErrorCode BMRMExampleWeightsLoad(const char file[], Mat X, Vec *weight)
{
  MPI_Comm       comm  = PetscObjectComm((PetscObject)X);
  GpAppComplaint wrong = {0};
  GpAppText      text;
  GpAppLines     lines;
  PetscInt64     all;
  PetscReal      sum = 0;
  PetscInt       M;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(GpAppTextRead(comm, file, &text));
  PetscCall(MatGetSize(X, &M, NULL));
  PetscCall(MatCreateVecs(X, NULL, weight));
  lines = (GpAppLines){text.text, text.text + text.length, NULL, 0, 0};
  for (const char *p = GpAppLinesNext(&lines, NULL), *q; p && !wrong.code; p = GpAppLinesNext(&lines, NULL)) {
    double v = 0;

    q = GpAppScanReal(GpAppSkipBlanks(p), &v);
    if (!q || GpAppSkipBlanks(q) != lines.eol || !(v >= 0 && v <= 1e100)) GpAppComplain(&wrong, lines.line, p, lines.eol, "expected the weight of an example, a number that is not negative, and nothing else");
    else if (text.before + lines.line <= M) PetscCall(VecSetValue(*weight, (PetscInt)(text.before + lines.line - 1), v, INSERT_VALUES));
    sum += wrong.code ? 0 : (PetscReal)v;
  }
  ierr = GpAppTextRaise(&text, &wrong);
  if (ierr) PetscCall(VecDestroy(weight));
  PetscCall(ierr);
  PetscCall(GpAppTextDestroy(&text));
  PetscCallMPI(MPI_Allreduce(&lines.line, &all, 1, MPIU_INT64, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPIU_SUM, comm));
  if (all != M || sum == 0) PetscCall(VecDestroy(weight));
  PetscCheck(all == M, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt64_FMT " lines with weights, but the data have %" PetscInt_FMT " examples: expected one line for each example", file, all, M);
  PetscCheck(sum > 0, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: all weights are zero: give at least one example a positive weight", file);
  PetscCall(VecAssemblyBegin(*weight));
  PetscCall(VecAssemblyEnd(*weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the class of a name, or of a number that is its label; -1 if there is none. */
static PetscInt BMRMClassWeightsFind(const char name[], PetscInt n, const PetscReal label[], const char names[])
{
  const char *end;
  double      v;

  for (PetscInt c = 0; names && c < n; c++, names += strlen(names) + 1)
    if (!strcmp(names, name)) return c;
  if (names) return -1;
  end = GpAppScanReal(name, &v);
  return end && !*end ? PetscMax(-1, BMRMFindLabel((PetscReal)v, n, label)) : -1;
}

/* Parses <class>:<weight>,... Classes that are not named have the weight 1. */
static PetscErrorCode BMRMClassWeightsParse(MPI_Comm comm, const char text[], PetscInt n, const PetscReal label[], const char names[], PetscReal factor[])
{
  char *copy, *next, *token;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < n; c++) factor[c] = 1;
  PetscCall(PetscStrallocpy(text, &copy));
  for (token = copy; token; token = next) {
    char       *colon;
    const char *end = NULL;
    PetscInt    c   = -1;
    double      v   = 0;

    next = strchr(token, ',');
    if (next) *next++ = 0;
    colon = strrchr(token, ':');
    if (colon) {
      *colon = 0;
      end    = GpAppScanReal(colon + 1, &v);
      c      = BMRMClassWeightsFind(token, n, label, names);
    }
    PetscCheck(end && !*end && v > 0 && v <= 1e100, comm, PETSC_ERR_USER_INPUT, "-class_weights %s: expected balanced, or <label>:<positive number> for some classes, separated by commas", text);
    PetscCheck(c >= 0, comm, PETSC_ERR_USER_INPUT, "-class_weights %s: the data have no class '%s': name a label of the data", text, token);
    factor[c] = (PetscReal)v;
  }
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies the weights of the examples by those of their classes. text: the value of -class_weights; y: the labels for the solver, +1 and -1 with signs, else
   numbers of classes. *weight: weights from a file, or NULL for ones; then it is created. balanced: the classes get equal sums of weights if all examples have
   the weight one. */
PetscErrorCode BMRMClassWeightsApply(const char text[], PetscInt n, const PetscReal label[], const char names[], PetscBool signs, Vec y, Vec *weight)
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)y);
  const PetscScalar *ya;
  PetscScalar       *va;
  PetscReal         *factor;
  PetscBool          balanced;
  PetscInt           m, M;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(text, "balanced", &balanced));
  PetscCall(VecGetLocalSize(y, &m));
  PetscCall(VecGetSize(y, &M));
  PetscCall(PetscCalloc1(n, &factor));
  if (!balanced) PetscCall(BMRMClassWeightsParse(comm, text, n, label, names, factor));
  if (!*weight) {
    PetscCall(VecDuplicate(y, weight));
    PetscCall(VecSet(*weight, 1));
  }
  PetscCall(VecGetArrayRead(y, &ya));
  if (balanced) {
    for (PetscInt i = 0; i < m; i++) factor[signs ? PetscRealPart(ya[i]) > 0 : (PetscInt)PetscRealPart(ya[i])]++;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, factor, (PetscMPIInt)n, MPIU_REAL, MPIU_SUM, comm));
    for (PetscInt c = 0; c < n; c++) factor[c] = M / (n * factor[c]);
  }
  PetscCall(VecGetArray(*weight, &va));
  for (PetscInt i = 0; i < m; i++) va[i] *= factor[signs ? PetscRealPart(ya[i]) > 0 : (PetscInt)PetscRealPart(ya[i])];
  PetscCall(VecRestoreArray(*weight, &va));
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(PetscFree(factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
