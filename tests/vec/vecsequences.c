static char help[] = "All pairs of operations on a gpu vector, compared with the same operations on a standard vector.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscvec.h>

#define ENTRIES 37

static PetscErrorCode Fill(Vec v, PetscInt round)
{
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &from, &to));
  for (PetscInt i = from; i < to; i++) PetscCall(VecSetValue(v, i, 0.5 + (7 * i + 3 * round) % 11, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(PetscBool ours, PetscInt round, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, PETSC_DECIDE, ENTRIES));
  PetscCall(VecSetType(*v, ours ? VECGPU : VECSTANDARD));
  PetscCall(Fill(*v, round));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs operations, after which the newest values of a gpu vector are on the device. */
static PetscErrorCode Compute(Vec v)
{
  PetscFunctionBeginUser;
  PetscCall(VecScale(v, 0.5));
  PetscCall(VecShift(v, 0.25));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- operations: each is done to both vectors ---------------------------------------------------------------------------------*/

static PetscErrorCode Arithmetic(Vec *v, PetscBool ours)
{
  Vec       w;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(*v, &w));
  PetscCall(VecSet(w, 3));
  PetscCall(VecAXPY(w, 2, *v));
  PetscCall(VecNorm(w, NORM_2, &norm));
  PetscCall(VecAXPBY(*v, 1 / norm, 0.5, w));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteArray(Vec *v, PetscBool ours)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(*v, &n));
  PetscCall(VecGetArray(*v, &a));
  for (PetscInt i = 0; i < n; i += 3) a[i] += i;
  PetscCall(VecRestoreArray(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddValues(Vec *v, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(VecSetValue(*v, ENTRIES - 1, 2.5, ADD_VALUES)); /* every rank adds */
  PetscCall(VecAssemblyBegin(*v));
  PetscCall(VecAssemblyEnd(*v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DuplicateCopy(Vec *v, PetscBool ours)
{
  Vec w;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(*v, &w));
  PetscCall(VecCopy(*v, w));
  PetscCall(VecDestroy(v));
  *v = w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DuplicateMany(Vec *v, PetscBool ours)
{
  Vec              *w;
  const PetscScalar a[] = {1, -0.5, 0.25};

  PetscFunctionBeginUser;
  PetscCall(VecDuplicateVecs(*v, 3, &w));
  for (int k = 0; k < 3; k++) {
    PetscCall(VecCopy(*v, w[k]));
    PetscCall(VecShift(w[k], k));
  }
  PetscCall(VecMAXPY(*v, 3, a, w));
  PetscCall(VecDestroyVecs(3, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A duplicate is converted to the other type and back. */
static PetscErrorCode DuplicateOfOtherType(Vec *v, PetscBool ours)
{
  Vec w;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(*v, &w));
  PetscCall(VecSetType(w, VECSTANDARD));
  PetscCall(VecCopy(*v, w));
  PetscCall(VecScale(w, -1));
  PetscCall(VecCopy(w, *v));
  PetscCall(VecSetType(w, ours ? VECGPU : VECSTANDARD));
  PetscCall(VecCopy(*v, w));
  PetscCall(VecDestroy(v));
  *v = w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TypeTwice(Vec *v, PetscBool ours)
{
  VecType type;

  PetscFunctionBeginUser;
  PetscCall(VecGetType(*v, &type));
  PetscCall(VecSetType(*v, type));
  PetscCall(VecSetType(*v, ours ? VECGPU : VECSTANDARD));
  PetscCall(VecSetType(*v, ours ? VECGPU : VECSTANDARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OptionsTwice(Vec *v, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-vec_type", ours ? VECGPU : VECSTANDARD));
  PetscCall(VecSetFromOptions(*v));
  PetscCall(PetscOptionsClearValue(NULL, "-vec_type"));
  PetscCall(VecSetFromOptions(*v));
  PetscCall(VecSetOptionsPrefix(*v, "other_"));
  PetscCall(PetscOptionsSetValue(NULL, "-other_vec_type", ours ? VECGPU : VECSTANDARD));
  PetscCall(VecSetFromOptions(*v));
  PetscCall(PetscOptionsClearValue(NULL, "-other_vec_type"));
  PetscCall(VecSetOptionsPrefix(*v, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Older releases of PETSc lose the values if the type changes. */
static PetscErrorCode TypeToParentAndBack(Vec *v, PetscBool ours)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (ours) PetscCall(VecSetType(*v, size > 1 ? VECMPI : VECSEQ));
  PetscCall(Fill(*v, 1));
  PetscCall(Compute(*v));
  if (ours) PetscCall(VecSetType(*v, size > 1 ? VECMPIGPU : VECSEQGPU));
  PetscCall(Fill(*v, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The option -vec_type overrides VecSetType(), before and after the first use. */
static PetscErrorCode TypeByOption(Vec *v, PetscBool ours)
{
  PetscFunctionBeginUser;
  for (int used = 0; used < 2; used++) {
    PetscCall(VecDestroy(v));
    PetscCall(VecCreate(PETSC_COMM_WORLD, v));
    PetscCall(VecSetSizes(*v, PETSC_DECIDE, ENTRIES));
    PetscCall(VecSetType(*v, VECSTANDARD));
    if (used) PetscCall(Fill(*v, 2));
    if (ours) PetscCall(PetscOptionsSetValue(NULL, "-vec_type", VECGPU));
    PetscCall(VecSetFromOptions(*v));
    PetscCall(PetscOptionsClearValue(NULL, "-vec_type"));
  }
  PetscCall(Fill(*v, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TypeBeforeSizes(Vec *v, PetscBool ours)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(v));
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetType(*v, VECSTANDARD));
  if (ours) PetscCall(VecSetType(*v, VECGPU));
  PetscCall(VecSetSizes(*v, PETSC_DECIDE, ENTRIES));
  PetscCall(Fill(*v, 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceArray(Vec *v, PetscBool ours)
{
  PetscScalar *a;
  PetscInt     n;
  PetscReal    norm;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(*v, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = i - 2;
  PetscCall(VecPlaceArray(*v, a));
  PetscCall(VecScale(*v, 2));
  PetscCall(VecResetArray(*v));
  for (PetscInt i = 0; i < n; i++) PetscCheck(a[i] == 2 * i - 4, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The placed array has %g at place %" PetscInt_FMT, (double)a[i], i);
  PetscCall(PetscFree(a));
  PetscCall(VecNorm(*v, NORM_1, &norm));
  PetscCall(VecShift(*v, norm / ENTRIES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReplaceArray(Vec *v, PetscBool ours)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(*v, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = 3 * i + 1;
  PetscCall(VecReplaceArray(*v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubVector(Vec *v, PetscBool ours)
{
  IS       is;
  Vec      sub;
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(*v, &from, &to));
  for (PetscInt step = 1; step < 3; step++) {
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, (to - from) / 3, from + 1, step, &is));
    PetscCall(VecGetSubVector(*v, is, &sub));
    PetscCall(Compute(sub));
    PetscCall(VecRestoreSubVector(*v, is, &sub));
    PetscCall(ISDestroy(&is));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Swap(Vec *v, PetscBool ours)
{
  Vec w;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(*v, &w));
  PetscCall(Fill(w, 5));
  PetscCall(Compute(w));
  PetscCall(VecSwap(*v, w));
  PetscCall(VecAXPY(*v, 0.125, w));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OtherTypes(Vec *v, PetscBool ours)
{
  Vec w;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_FALSE, 6, &w));
  PetscCall(VecAXPY(*v, 2, w));
  PetscCall(VecAXPY(w, 3, *v));
  PetscCall(VecPointwiseMult(*v, w, *v));
  PetscCall(VecScale(*v, 1. / 64));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LocalVector(Vec *v, PetscBool ours)
{
  Vec      w;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(*v, &n));
  PetscCall(VecCreate(PETSC_COMM_SELF, &w));
  PetscCall(VecSetSizes(w, n, n));
  PetscCall(VecSetType(w, ours ? VECGPU : VECSTANDARD));
  PetscCall(VecGetLocalVector(*v, w));
  PetscCall(Compute(w));
  PetscCall(VecRestoreLocalVector(*v, w));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scatter(Vec *v, PetscBool ours)
{
  VecScatter scatter;
  Vec        all;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToAll(*v, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, *v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, *v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScale(all, -2));
  PetscCall(VecScatterBegin(scatter, all, *v, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter, all, *v, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Destroys vectors in every state of set-up and use. */
static PetscErrorCode Abandon(Vec *v, PetscBool ours)
{
  PetscFunctionBeginUser;
  for (int moment = 0; moment < 6; moment++) {
    Vec w;

    PetscCall(VecCreate(PETSC_COMM_WORLD, &w));
    if (moment > 0) PetscCall(VecSetType(w, ours ? VECGPU : VECSTANDARD));
    if (moment > 1) PetscCall(VecSetSizes(w, PETSC_DECIDE, ENTRIES));
    if (moment > 2) PetscCall(VecSetFromOptions(w));
    if (moment > 3) PetscCall(Fill(w, 7));
    if (moment > 4) PetscCall(Compute(w));
    PetscCall(VecDestroy(&w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  PetscErrorCode (*act)(Vec *, PetscBool ours);
} Actions[] = {
  {"arithmetic", Arithmetic},
  {"VecGetArray()", WriteArray},
  {"VecSetValue()", AddValues},
  {"VecDuplicate()", DuplicateCopy},
  {"VecDuplicateVecs()", DuplicateMany},
  {"VecDuplicate() of another type", DuplicateOfOtherType},
  {"VecSetType() twice", TypeTwice},
  {"VecSetFromOptions() twice", OptionsTwice},
  {"VecSetType() to parent and back", TypeToParentAndBack},
  {"-vec_type over VecSetType()", TypeByOption},
  {"VecSetType() before sizes", TypeBeforeSizes},
  {"VecPlaceArray()", PlaceArray},
  {"VecReplaceArray()", ReplaceArray},
  {"VecGetSubVector()", SubVector},
  {"VecSwap()", Swap},
  {"vectors of other types", OtherTypes},
  {"VecGetLocalVector()", LocalVector},
  {"VecScatter", Scatter},
  {"destruction", Abandon},
};

/* --- checks -------------------------------------------------------------------------------------------------------------------*/

/* Compares the norm and an inner product, computed on the device, and the values on the host. */
static PetscErrorCode Check(Vec v, Vec p, const char what[])
{
  const PetscScalar *a, *b;
  PetscReal          norm[2];
  PetscScalar        dot[2];
  PetscInt           n;
  PetscBool          is;
  VecType            type;

  PetscFunctionBeginUser;
  PetscCall(VecGetType(v, &type));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &is, VECSEQGPU, VECMPIGPU, ""));
  PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: type %s", what, type);
  PetscCall(VecNorm(v, NORM_2, &norm[0]));
  PetscCall(VecNorm(p, NORM_2, &norm[1]));
  PetscCall(VecDot(v, v, &dot[0]));
  PetscCall(VecDot(p, p, &dot[1]));
  PetscCheck(PetscAbsReal(norm[0] - norm[1]) <= 1e-12 * norm[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: norm %g, not %g", what, (double)norm[0], (double)norm[1]);
  PetscCheck(PetscAbsScalar(dot[0] - dot[1]) <= 1e-12 * PetscAbsScalar(dot[1]), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: inner product %g, not %g", what, (double)dot[0], (double)dot[1]);
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &a));
  PetscCall(VecGetArrayRead(p, &b));
  for (PetscInt i = 0; i < n; i++) PetscCheck(PetscAbsScalar(a[i] - b[i]) <= 1e-12 * (1 + PetscAbsScalar(b[i])), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g at place %" PetscInt_FMT ", not %g", what, (double)a[i], i, (double)b[i]);
  PetscCall(VecRestoreArrayRead(p, &b));
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs operation a, then b. between: the values are on the device before, and are checked after a. */
static PetscErrorCode Pair(size_t a, size_t b, PetscBool between)
{
  Vec  v, p;
  char what[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s%s then %s", Actions[a].name, between ? ", a check" : "", Actions[b].name));
  PetscCall(PetscInfo(NULL, "%s\n", what));
  PetscCall(Create(PETSC_TRUE, 0, &v));
  PetscCall(Create(PETSC_FALSE, 0, &p));
  if (between) {
    PetscCall(Compute(v));
    PetscCall(Compute(p));
  }
  PetscCall((*Actions[a].act)(&p, PETSC_FALSE));
  PetscCall((*Actions[a].act)(&v, PETSC_TRUE));
  if (between) PetscCall(Check(v, p, what));
  PetscCall((*Actions[b].act)(&p, PETSC_FALSE));
  PetscCall((*Actions[b].act)(&v, PETSC_TRUE));
  PetscCall(Check(v, p, what));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const size_t n = PETSC_STATIC_ARRAY_LENGTH(Actions);

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < n; b++) {
      PetscCall(Pair(a, b, PETSC_FALSE));
      PetscCall(Pair(a, b, PETSC_TRUE));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d operations in pairs: equal to a standard vector\n", (int)n));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      nsize: {{1 2}}
      output_file: output/vecsequences.out
      test:
         suffix: 1
      test:
         suffix: separate
         args: -vec_gpu_separate

TEST*/
