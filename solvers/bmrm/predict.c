/* What scores predict: agreement with the labels, and a file of predictions. */
#include "model.h"

/*@C
  BMRMConfusionCount - Counts how predictions and labels meet

  Collective

  Input Parameters:
+ f - scores; zero or more predicts +1
- y - labels, +1 or -1

  Output Parameter:
. c - true and false positives, true and false negatives, on all ranks

  Level: developer

.seealso: `BMRMConfusionAccuracy()`
@*/
PetscErrorCode BMRMConfusionCount(Vec f, Vec y, BMRMConfusion *c)
{
  const PetscScalar *fa, *ya;
  PetscInt           n, mine[4] = {0, 0, 0, 0}, all[4];

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(f, &n));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < n; i++) {
    const PetscBool plus = (PetscBool)(PetscRealPart(fa[i]) >= 0), right = (PetscBool)(plus == (PetscRealPart(ya[i]) > 0));

    mine[plus ? (right ? 0 : 1) : (right ? 2 : 3)]++;
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCallMPI(MPI_Allreduce(mine, all, 4, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)f)));
  c->tp = all[0];
  c->fp = all[1];
  c->tn = all[2];
  c->fn = all[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMConfusionAccuracy - The part of the examples that is predicted right

  Not Collective

  Input Parameter:
. c - the counts

  Level: developer

.seealso: `BMRMConfusionCount()`
@*/
PetscReal BMRMConfusionAccuracy(const BMRMConfusion *c)
{
  const PetscReal right = (PetscReal)c->tp + c->tn;

  return right / (right + c->fp + c->fn);
}

/*@C
  BMRMPredictionsWrite - Writes one predicted label a line, in the order of the examples

  Collective

  Input Parameters:
+ f       - scores
. classes - the labels of negative and positive scores
. scores  - write the score after the label
- file    - where to; it appears when it is complete

  Level: developer

.seealso: `BMRMModelScore()`
@*/
PetscErrorCode BMRMPredictionsWrite(Vec f, const PetscReal classes[2], PetscBool scores, const char file[])
{
  BMRMOutput         out;
  VecScatter         scatter;
  Vec                all;
  PetscInt           n;
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecScatterCreateToZero(f, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, f, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, f, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(all, &n));
  PetscCall(VecGetArrayRead(all, &a));
  PetscCall(BMRMOutputOpen(PetscObjectComm((PetscObject)f), file, &out));
  for (PetscInt i = 0; out.fp && i < n; i++) {
    (void)fprintf(out.fp, "%.17g", (double)classes[PetscRealPart(a[i]) >= 0]);
    if (scores) (void)fprintf(out.fp, " %.17g", (double)PetscRealPart(a[i]));
    (void)fprintf(out.fp, "\n");
  }
  PetscCall(BMRMOutputCommit(&out));
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
