/* Chunks of a program's matrices that are streamed to the device, for the summary and the report of the program. */
#include "app/report/appstreamed.h"
#include <gpucsr.h>

/* Adds the chunks of a matrix to the sums in s. The matrix may have any type, and has been used in products. The caller sets s to zero before the first call. Collective. */
PetscErrorCode GpAppStreamedAdd(Mat A, GpAppStreamed *s)
{
  MatGPUCSRStreamInfo info;
  PetscBool           ours;
  PetscReal           sum[4];

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &ours, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR, ""));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRGetStreamInfo(A, &info));
  sum[0] = (PetscReal)info.chunks;
  sum[1] = info.bytes;
  sum[2] = info.resident_bytes;
  sum[3] = info.moved;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  s->ours = PETSC_TRUE;
  s->chunks += sum[0];
  s->bytes += sum[1];
  s->resident += sum[2];
  s->moved += sum[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints one line of a summary, which begins with the text `start`. Prints nothing if no matrix was streamed. Collective. */
PetscErrorCode GpAppStreamedPrint(MPI_Comm comm, const char start[], const GpAppStreamed *s)
{
  PetscFunctionBegin;
  if (s->chunks > 0)
    PetscCall(PetscPrintf(comm, "%smatrix streamed from host memory: %.0f chunks of %.0f bytes, %.0f resident on the device, %.0f transferred in all products\n", start, (double)s->chunks, (double)s->bytes, (double)s->resident, (double)s->moved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes members of a JSON object: null if there was no matrix of type gpucsr, and 0 if none was streamed. */
void GpAppStreamedWrite(GpAppJSON *J, const GpAppStreamed *s)
{
  static const char *const keys[]   = {"mat_chunks", "mat_chunk_bytes", "mat_resident_bytes", "mat_transferred_bytes"};
  const PetscReal          values[] = {s->chunks, s->bytes, s->resident, s->moved};

  for (int k = 0; k < 4; k++) {
    if (s->ours) GpAppJSONWriteInt(J, keys[k], (PetscInt64)values[k]);
    else GpAppJSONWriteNull(J, keys[k]);
  }
}
