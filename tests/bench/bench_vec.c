static char help[] = "Times the operations of vector types through PETSc: nanoseconds a call, and the rate at which the vectors' values are read and written.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petsctime.h>
#include <petsc/private/vecimpl.h>

#define MANY 16
#define OPS  12

typedef struct {
  Vec         v[3], *many;
  PetscScalar alpha[MANY], result[MANY];
} Data;

static const char *const Names[OPS] = {"set", "copy", "scale", "axpy", "waxpy", "axpbypcz", "pmult", "maxpy16", "dot", "norm2", "mdot16", "max"};
static const int         Moves[OPS] = {1, 2, 2, 3, 3, 4, 3, MANY + 4, 2, 1, MANY + 2, 1}; /* number of vectors read or written; operations on many vectors work in batches of 8 */

static PetscErrorCode Call(Data *d, int op)
{
  PetscReal real;
  PetscInt  place;

  PetscFunctionBeginUser;
  switch (op) {
  case 0:
    PetscCall(VecSet(d->v[0], 1e-3));
    break;
  case 1:
    PetscCall(VecCopy(d->v[1], d->v[0]));
    break;
  case 2:
    PetscCall(VecScale(d->v[0], 0.9999999));
    break;
  case 3:
    PetscCall(VecAXPY(d->v[0], 1e-7, d->v[1]));
    break;
  case 4:
    PetscCall(VecWAXPY(d->v[0], 1e-7, d->v[1], d->v[2]));
    break;
  case 5:
    PetscCall(VecAXPBYPCZ(d->v[0], 1e-7, 0.5, 0.3, d->v[1], d->v[2]));
    break;
  case 6:
    PetscCall(VecPointwiseMult(d->v[0], d->v[1], d->v[2]));
    break;
  case 7:
    PetscCall(VecMAXPY(d->v[0], MANY, d->alpha, d->many));
    break;
  case 8:
    PetscCall(VecDot(d->v[1], d->v[2], d->result));
    break;
  case 9: /* PETSc caches the norm until the state of the vector increases */
    PetscCall(PetscObjectStateIncrease((PetscObject)d->v[1]));
    PetscCall(VecNorm(d->v[1], NORM_2, &real));
    break;
  case 10:
    PetscCall(VecMDot(d->v[1], MANY, d->many, d->result));
    break;
  default:
    PetscCall(VecMax(d->v[1], &place, &real));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the best of several rounds.  Each ends with a reduction, which waits for all earlier work. */
static PetscErrorCode Time(Data *d, int op, PetscInt n, double *seconds)
{
  const int calls = n > 1000000 ? 50 : n > 10000 ? 500 : 5000;

  PetscFunctionBeginUser;
  *seconds = PETSC_MAX_REAL;
  for (int round = 0; round < 5; round++) {
    PetscLogDouble begin, end;

    PetscCall(VecSet(d->v[0], 1e-3));
    PetscCall(VecDot(d->v[0], d->v[1], d->result));
    PetscCall(PetscTime(&begin));
    for (int k = 0; k < calls; k++) PetscCall(Call(d, op));
    PetscCall(VecDot(d->v[0], d->v[1], d->result));
    PetscCall(PetscTime(&end));
    *seconds = PetscMin(*seconds, (end - begin) / calls);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bench(const char type[], PetscInt n)
{
  Data     d;
  PetscInt N;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &d.v[0]));
  PetscCall(VecSetSizes(d.v[0], PETSC_DECIDE, n));
  PetscCall(VecSetType(d.v[0], type));
  PetscCall(VecDuplicate(d.v[0], &d.v[1]));
  PetscCall(VecDuplicate(d.v[0], &d.v[2]));
  PetscCall(VecDuplicateVecs(d.v[0], MANY, &d.many));
  for (int k = 0; k < 3; k++) PetscCall(VecSet(d.v[k], 0.5 + k));
  for (int k = 0; k < MANY; k++) {
    PetscCall(VecSet(d.many[k], 1e-3 * k));
    d.alpha[k] = 1e-9;
  }
  PetscCall(VecGetSize(d.v[0], &N));
  for (int op = 0; op < OPS; op++) {
    double seconds;

    PetscCall(Time(&d, op, N, &seconds));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s,%" PetscInt_FMT ",%s,%.0f,%.1f\n", type, N, Names[op], 1e9 * seconds, 8e-9 * Moves[op] * (double)N / seconds));
  }
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&d.v[k]));
  PetscCall(VecDestroyVecs(MANY, &d.many));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char     *types[8]  = {"standard", "gpu"};
  PetscInt  sizes[16] = {100, 100000, 10000000}, ntypes = 8, nsizes = 16;
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", types, &ntypes, &given));
  if (!given) ntypes = 2;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &nsizes, &given));
  if (!given) nsizes = 3;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "type,size,operation,nanoseconds,GB/s\n"));
  for (PetscInt s = 0; s < nsizes; s++)
    for (PetscInt t = 0; t < ntypes; t++) PetscCall(Bench(types[t], sizes[s]));
  PetscCall(PetscFinalize());
  return 0;
}
