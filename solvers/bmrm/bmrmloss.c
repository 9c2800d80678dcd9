/* The hinge loss: risk, and the cut that a point gives, from the products X w. */
#include "bmrmimpl.h"

/*
  BMRMHingeRisk - the mean of max(0, 1 - y_i (f_i + s e_i))

  Collective

  Input Parameters:
+ f - products X w
. e - products with a direction
. s - the step along it
. y - the labels, +1 or -1
- m - number of examples on all ranks

  Output Parameter:
. risk - the mean loss
*/
PetscErrorCode BMRMHingeRisk(Vec f, Vec e, PetscReal s, Vec y, PetscInt m, PetscReal *risk)
{
  const PetscScalar *fa, *ea, *ya;
  PetscInt           n;
  PetscReal          sum = 0, all;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(e, &ea));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal loss = 1 - PetscRealPart(ya[i] * (fa[i] + s * ea[i]));

    sum += !(loss <= 0) ? loss : 0; /* a NaN must not vanish */
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(e, &ea));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCallMPI(MPI_Allreduce(&sum, &all, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)y)));
  *risk = all / m;
  PetscCall(PetscLogFlops(4.0 * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  BMRMHingeCut - the derivative of the risk at the point whose products are f + s e, and the offset of its cut

  Collective

  Input Parameters:
+ f - products X w
. e - products with a direction
. s - the step along it
. y - the labels, +1 or -1
- m - number of examples on all ranks

  Output Parameters:
+ d - derivative of the risk by the products: -y_i/m where the margin is less than one, else 0
- b - offset of the cut <X'd, w> + b

  Note:
  With the active examples I, R(w) >= (1/m) sum_I (1 - y_i x_i'w) for every w and every set I, with equality at the
  point that I belongs to.  So b = |I|/m: nothing cancels, and rounding of the products makes a cut at worst
  a little less tight, never wrong.
*/
PetscErrorCode BMRMHingeCut(Vec f, Vec e, PetscReal s, Vec y, PetscInt m, Vec d, PetscReal *b)
{
  const PetscScalar *fa, *ea, *ya;
  PetscScalar       *da;
  const PetscReal    scale = 1. / m;
  PetscInt           n;
  PetscInt64         active = 0, all;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(e, &ea));
  PetscCall(VecGetArrayRead(y, &ya));
  PetscCall(VecGetArrayWrite(d, &da));
  for (PetscInt i = 0; i < n; i++) {
    const PetscBool in = (PetscBool)(PetscRealPart(ya[i] * (fa[i] + s * ea[i])) < 1);

    da[i] = in ? -ya[i] * scale : 0;
    active += in;
  }
  PetscCall(VecRestoreArrayWrite(d, &da));
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(e, &ea));
  PetscCall(VecRestoreArrayRead(f, &fa));
  PetscCallMPI(MPI_Allreduce(&active, &all, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)y)));
  *b = (PetscReal)all / m;
  PetscCall(PetscLogFlops(4.0 * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
