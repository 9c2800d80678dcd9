static char help[] = "Ghosted vectors of type gpu, created in every way that PETSc offers and written on the host and on the device, give the values of standard vectors.\n";

#include <petscksp.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"

typedef enum {
  CREATE,
  BLOCK,
  BEFORE, /* VecMPISetGhost() on a vector of type gpu */
  AFTER,  /* VecMPISetGhost() before the vector gets the type gpu */
  WAYS
} Way;

static const char *const Ways[] = {"VecCreateGhost", "VecCreateGhostBlock", "VecMPISetGhost on the type", "VecMPISetGhost, then the type"};

enum {
  OWNED  = 6,
  GHOSTS = 2
};

static PetscErrorCode Make(Way way, VecType type, Vec *v)
{
  PetscInt    ghosts[GHOSTS], first;
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  first     = (rank + 1) % size * OWNED + 2 * rank; /* an entry of the next rank; even, because the block size is 2 */
  ghosts[0] = way == BLOCK ? first / 2 : first;
  ghosts[1] = first + 1;
  if (way == CREATE) PetscCall(VecCreateGhost(PETSC_COMM_WORLD, OWNED, PETSC_DECIDE, GHOSTS, ghosts, v));
  else if (way == BLOCK) PetscCall(VecCreateGhostBlock(PETSC_COMM_WORLD, 2, OWNED, PETSC_DECIDE, GHOSTS / 2, ghosts, v));
  else {
    PetscCall(VecCreate(PETSC_COMM_WORLD, v));
    PetscCall(VecSetSizes(*v, OWNED, PETSC_DECIDE));
    PetscCall(VecSetType(*v, way == BEFORE ? type : VECMPI));
    PetscCall(VecMPISetGhost(*v, GHOSTS, ghosts));
  }
  PetscCall(VecSet(*v, 5));
  PetscCall(VecGhostUpdateBegin(*v, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGhostUpdateEnd(*v, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends the entries of the local form, including ghosts, to keep. */
static PetscErrorCode Keep(Vec v, PetscInt *kept, PetscScalar keep[])
{
  const PetscScalar *values;
  Vec                local;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGhostGetLocalForm(v, &local));
  PetscCheck(local, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The vector has no local form");
  PetscCall(VecGetLocalSize(local, &n));
  PetscCheck(n == OWNED + GHOSTS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The local form has %" PetscInt_FMT " entries", n);
  PetscCall(VecGetArrayRead(local, &values));
  for (PetscInt i = 0; i < n; i++) keep[(*kept)++] = values[i];
  PetscCall(VecRestoreArrayRead(local, &values));
  PetscCall(VecGhostRestoreLocalForm(v, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations on the vector and on its local form in turn. Each must see the changes of the other. */
static PetscErrorCode Use(Vec original, PetscInt *kept, PetscScalar keep[])
{
  Vec                    v, local, copy, *more;
  PetscScalar           *values;
  ISLocalToGlobalMapping mapping;
  PetscInt               first, n;
  const PetscInt         place = OWNED;
  const PetscScalar      three = 3;

  PetscFunctionBeginUser;
  PetscCall(Keep(original, kept, keep));
  PetscCall(VecDuplicate(original, &v));
  PetscCall(VecDuplicateVecs(v, 2, &more));
  PetscCall(VecGetOwnershipRange(v, &first, NULL));
  for (PetscInt i = first; i < first + OWNED; i++) PetscCall(VecSetValue(v, i, 1. + i, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscCall(VecScale(v, 2)); /* the newest values are on the device now */
  PetscCall(VecGhostUpdateBegin(v, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGhostUpdateEnd(v, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecShift(v, 0.5)); /* changes the owned entries only */
  PetscCall(Keep(v, kept, keep));

  PetscCall(VecGhostGetLocalForm(v, &local)); /* the local form is written through its array and by operations */
  PetscCall(VecDuplicate(local, &copy));
  PetscCall(VecCopy(local, copy));
  PetscCall(VecScale(v, 3));
  PetscCall(VecAXPY(local, 1, copy));
  PetscCall(VecGetArray(local, &values));
  values[0]         = 100;
  values[OWNED + 1] = 200;
  PetscCall(VecRestoreArray(local, &values));
  PetscCall(VecDestroy(&copy));
  PetscCall(VecGhostRestoreLocalForm(v, &local));
  PetscCall(VecNorm(v, NORM_2, &keep[(*kept)++]));
  PetscCall(VecShift(v, 1));
  PetscCall(VecGhostUpdateBegin(v, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecGhostUpdateEnd(v, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(Keep(v, kept, keep));

  PetscCall(VecCopy(v, more[0]));
  PetscCall(VecWAXPY(more[1], 2, more[0], v));
  PetscCall(VecGhostUpdateBegin(more[1], INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGhostUpdateEnd(more[1], INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(Keep(more[1], kept, keep));
  PetscCall(VecGetLocalToGlobalMapping(more[1], &mapping));
  PetscCall(ISLocalToGlobalMappingGetSize(mapping, &n));
  keep[(*kept)++] = n;
  PetscCall(VecSetValuesLocal(more[1], 1, &place, &three, ADD_VALUES)); /* an entry of the next rank */
  PetscCall(VecAssemblyBegin(more[1]));
  PetscCall(VecAssemblyEnd(more[1]));
  PetscCall(VecSum(more[1], &keep[(*kept)++]));
  PetscCall(VecDestroyVecs(2, &more));

  PetscCall(PetscMalloc1(OWNED + GHOSTS, &values));
  for (PetscInt i = 0; i < OWNED + GHOSTS; i++) values[i] = 7 + i;
  PetscCall(VecPlaceArray(v, values));
  PetscCall(VecScale(v, 2));
  PetscCall(Keep(v, kept, keep));
  PetscCall(VecResetArray(v));
  PetscCall(PetscFree(values));
  PetscCall(Keep(v, kept, keep));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  for (int way = 0; way < WAYS; way++) {
#if GP_COMPAT_GHOSTS
    PetscScalar keep[2][64], worst = 0;
    PetscInt    kept[2] = {0, 0};
    Vec         v;
    PetscBool   is;

    for (int k = 0; k < 2; k++) {
      PetscCall(Make((Way)way, k ? VECMPIGPU : VECMPI, &v));
      PetscCall(PetscObjectTypeCompare((PetscObject)v, k ? VECMPIGPU : VECMPI, &is));
      PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "VecSetType() did not set the type");
      PetscCall(Use(v, &kept[k], keep[k]));
      PetscCall(VecDestroy(&v));
    }
    PetscCheck(kept[0] == kept[1] && kept[0] > 40, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " values against %" PetscInt_FMT, kept[1], kept[0]);
    for (PetscInt i = 0; i < kept[0]; i++) worst = PetscMax(worst, PetscAbs(keep[0][i] - keep[1][i]) / (1 + PetscAbs(keep[0][i])));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    PetscCheck(worst < 1e-14, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the types differ by %g", Ways[way], worst);
#else /* this PETSc supports ghosts in its own types only and must fail for others */
    PetscErrorCode failed;
    Vec            v;

    if (way == CREATE || way == BLOCK) continue;
    PetscCall(VecCreate(PETSC_COMM_WORLD, &v));
    PetscCall(VecSetSizes(v, OWNED, PETSC_DECIDE));
    PetscCall(VecSetType(v, VECMPIGPU));
    PetscCall(VecMPISetGhost(v, 0, NULL));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    failed = VecGhostUpdateBegin(v, INSERT_VALUES, SCATTER_FORWARD);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(failed == PETSC_ERR_ARG_WRONG, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "VecGhostUpdateBegin() did not fail for a vector without ghosts");
    PetscCall(VecDestroy(&v));
    (void)Make;
    (void)Use;
#endif
  }
  for (int way = 0; way < WAYS; way++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: equal to a standard vector, or not supported\n", Ways[way]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: 2
    output_file: output/vecghost_ghosts.out

    test:
      suffix: ghosts

    test:
      suffix: separate
      args: -vec_gpu_separate

TEST*/
