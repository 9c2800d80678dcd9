/* Rounding of the values of a program's matrices by the storage on the device, for the summary and the report of the program. */
#include "app/report/approunding.h"
#include <gpucsr.h>
#include <math.h>

/* Adds the values of a matrix of any type that has been multiplied to the sums in r, whose bits are all zero at first. Collective. */
PetscErrorCode GpAppRoundingAdd(Mat A, GpAppRounding *r)
{
  MatGPUCSRInfo info;
  PetscBool     ours;
  PetscInt64    count[3];
  PetscReal     change;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &ours, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRGetInfo(A, &info));
  count[0] = info.values;
  count[1] = info.rounded;
  count[2] = info.lost;
  change   = info.loss;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 3, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  r->values += count[0];
  r->rounded += count[1];
  r->lost += count[2];
  r->change  = PetscMax(r->change, change);
  r->storage = !r->storage || (r->storage[0] == 's') == (info.storage == MAT_GPUCSR_STORAGE_SINGLE) ? (info.storage == MAT_GPUCSR_STORAGE_SINGLE ? "single" : "double") : "mixed";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints one line of a summary, which begins with the words in start; nothing if there was no matrix of type gpucsr. Collective. */
PetscErrorCode GpAppRoundingPrint(MPI_Comm comm, const char start[], const GpAppRounding *r)
{
  PetscFunctionBegin;
  if (!r->storage) PetscFunctionReturn(PETSC_SUCCESS);
  if (r->rounded)
    PetscCall(PetscPrintf(comm, "%smatrix values in %s precision: %" PetscInt64_FMT " of %" PetscInt64_FMT " rounded, %" PetscInt64_FMT " lost, largest relative change %.2e (-gpucsr_storage double stores all values exactly)\n", start, r->storage,
                          r->rounded, r->values, r->lost, (double)r->change));
  else PetscCall(PetscPrintf(comm, "%smatrix values in %s precision: all %" PetscInt64_FMT " exact\n", start, r->storage, r->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes members of a JSON object: null if there was no matrix of type gpucsr. */
void GpAppRoundingWrite(GpAppJSON *J, const GpAppRounding *r)
{
  static const char *const keys[]   = {"mat_values", "mat_rounded", "mat_lost"};
  const PetscInt64         values[] = {r->values, r->rounded, r->lost};

  GpAppJSONWriteString(J, "mat_storage", r->storage);
  for (int k = 0; k < 3; k++) {
    if (r->storage) GpAppJSONWriteInt(J, keys[k], values[k]);
    else GpAppJSONWriteNull(J, keys[k]);
  }
  GpAppJSONWriteReal(J, "largest_relative_change", r->storage ? (double)r->change : NAN);
}
