/* Rounding of values by the conversion to single precision, and the notice that the default storage has rounded values. */
/* MANSEC = Sys */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

static PetscBool NoticeWanted = PETSC_TRUE, NoticeGiven = PETSC_FALSE; /* for this process */

/* Adds the rounding of a seq matrix. */
PetscErrorCode MatGPUCSRAddRounding_Private(Mat A, GpOp op, MatGPUCSRRounding *r)
{
  PetscFunctionBegin;
  if (op->loss.rounded < 0) { /* the values were changed on the device, where rounded values are not counted; count them on the host */
    PetscScalar *val;

    PetscCall(MatSeqAIJGetCSRAndMemType(A, NULL, NULL, &val, NULL));
    GpCsrCountRounded((size_t)op->side[0].csr.nnz, val, &op->loss);
  }
  r->nnz += (double)op->nnz;
  r->rounded += (double)op->loss.rounded;
  r->lost += (double)op->loss.lost;
  r->worst = PetscMax(r->worst, op->loss.worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether a notice about a matrix is due if values were rounded.  The answer is the same on all ranks of a parallel matrix. */
PetscErrorCode MatGPUCSRIsNoticeDue_Private(Mat A, PetscBool *due)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  *due = PETSC_FALSE;
  if (g->noticed || g->options.storage != MAT_GPUCSR_STORAGE_SINGLE || g->options.given & MAT_GPUCSR_GIVEN(storage)) PetscFunctionReturn(PETSC_SUCCESS);
  *due = NoticeWanted;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gpucsr_notice", due, NULL));
  if (!*due) g->noticed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the notice unless this process has printed one, or another rank prints it.  who: empty, or the rank to which the numbers refer. */
PetscErrorCode MatGPUCSRPrintNotice_Private(Mat A, PetscBool here, const char who[], const MatGPUCSRRounding *r)
{
  const char     *prefix = ((PetscObject)A)->prefix;
  const PetscBool print  = (PetscBool)(here && !NoticeGiven);

  PetscFunctionBegin;
  ((Mat_GPUCSR *)A->spptr)->noticed = NoticeGiven = PETSC_TRUE;
  if (!print) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "%sgpucsr: single storage (the default) rounded %.0f of %.0f values of a matrix%s%s; %.0f of them became zero or kept no correct digit; the largest relative change is %.2g.\n"
                         "%sgpucsr: use -gpucsr_storage double to store all values exactly, or -gpucsr_storage single or -gpucsr_notice 0 to suppress this notice.\n",
                         who, r->rounded, r->nnz, prefix ? " with the options prefix " : "", prefix ? prefix : "", r->lost, r->worst, who));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the current device image of a seq matrix, and prints the notice if it is due. */
PetscErrorCode MatGPUCSRGetOperator_Private(Mat A, PetscBool transpose, GpOp *op)
{
  MatGPUCSRRounding r = {0};
  PetscBool         due;
  PetscMPIInt       rank, size;
  char              who[32] = "";

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGPUCSRUpload_Private(A, transpose, op));
  if ((*op)->loss.at < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRIsNoticeDue_Private(A, &due));
  if (!due) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRAddRounding_Private(A, *op, &r));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) PetscCall(PetscSNPrintf(who, sizeof(who), "[%d] ", rank));
  PetscCall(MatGPUCSRPrintNotice_Private(A, PETSC_TRUE, who, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PetscGPUCSRSetNotice - Sets whether gpucsr prints a notice on stderr if single storage, used by default, rounds values of a matrix

  Logically Collective

  Input Parameter:
. notice - `PETSC_TRUE` (default): one notice in each process; `PETSC_FALSE`: no notice, for programs that report the rounding themselves by `MatGPUCSRGetInfo()`

  Options Database Key:
. -gpucsr_notice <bool> - overrides the function

  Level: intermediate

  Notes:
  The notice contains the number of rounded values, the number of values that became zero or kept no correct decimal digit (relative change
  above 0.1), and the largest relative change. The first rank of a parallel matrix prints it for all ranks.

  A matrix whose storage was set by `MatGPUCSRSetStorage()`, `-mat_gpucsr_storage` or `-gpucsr_storage` causes no notice.

.seealso: `MATGPUCSR`, `MatGPUCSRSetStorage()`, `MatGPUCSRGetInfo()`
@*/
PetscErrorCode PetscGPUCSRSetNotice(PetscBool notice)
{
  PetscFunctionBegin;
  NoticeWanted = notice;
  PetscFunctionReturn(PETSC_SUCCESS);
}
