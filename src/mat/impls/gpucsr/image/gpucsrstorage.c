/* Precision of the values on the device: the decision of -mat_gpucsr_storage auto, and the notice that the default storage rounded values. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

/* Tells whether single precision holds every value of a sequential matrix exactly.  The answer is stored until the matrix changes. */
static PetscErrorCode MatGPUCSRFitsSingle(Mat A, PetscBool *fits)
{
  Mat_GPUCSR      *g = (Mat_GPUCSR *)A->spptr;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (g->fits.owner != A || g->fits.state != state || g->fits.nonzerostate != A->nonzerostate) {
    const PetscInt *rowptr, *col;
    PetscScalar    *val;
    PetscMemType    memtype;

    PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, &col, &val, &memtype));
    g->fits = (MatGPUCSRFits){A, state, A->nonzerostate, (PetscBool)(!rowptr || GpCsrFitsSingle((size_t)rowptr[A->rmap->n], val))};
  }
  *fits = g->fits.fits;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the precision of the next upload of a sequential matrix.  On one pattern, storage auto changes from single to double but never back;
   otherwise values that fit only sometimes would cost new formats at every change.
   refill: the image has the pattern of the matrix */
PetscErrorCode MatGPUCSRChoosePrecision_Private(Mat A, PetscBool refill, GpPrec *prec)
{
  Mat_GPUCSR *g      = (Mat_GPUCSR *)A->spptr;
  PetscBool   single = (PetscBool)(g->options.storage == MAT_GPUCSR_STORAGE_SINGLE);

  PetscFunctionBegin;
  if (g->options.storage == MAT_GPUCSR_STORAGE_AUTO && !g->wide && !(refill && g->op->options.prec == GP_F64)) PetscCall(MatGPUCSRFitsSingle(A, &single));
  *prec = single ? GP_F32 : GP_F64;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides storage auto of a parallel matrix: all blocks of all ranks use double precision if a value on one of them needs it.
   The ranks reduce only if the object state of the parallel matrix has changed, which is the same on all ranks.  A block that was changed through
   MatSeqAIJGetArray(), which leaves that state, decides for itself until the state changes. */
static PetscErrorCode MatGPUCSRAgreeOnPrecision(Mat A, Mat const block[2])
{
  Mat_GPUCSR      *g = (Mat_GPUCSR *)A->spptr;
  PetscObjectState state;
  int              mine = 0, any;

  PetscFunctionBegin;
  if (g->options.storage != MAT_GPUCSR_STORAGE_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (g->fits.owner == A && g->fits.state == state && g->fits.nonzerostate == A->nonzerostate) PetscFunctionReturn(PETSC_SUCCESS);
  if (g->fits.owner != A || g->fits.nonzerostate != A->nonzerostate || !g->wide) {
    for (int b = 0; b < 2 && !mine; b++) {
      PetscBool fits;

      PetscCall(MatGPUCSRFitsSingle(block[b], &fits));
      mine = !fits;
    }
    PetscCallMPI(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
    g->wide = (PetscBool)any;
  }
  g->fits = (MatGPUCSRFits){A, state, A->nonzerostate, (PetscBool)!g->wide};
  for (int b = 0; b < 2; b++) {
    Mat_GPUCSR *gb = (Mat_GPUCSR *)block[b]->spptr;

    gb->wide = g->wide;
    if (gb->op && gb->op->options.prec != (g->wide ? GP_F64 : GP_F32)) gb->key = (MatGPUCSRKey){0}; /* invalidates the image of the block */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRGetRounding_Private(Mat A, GpOp op, MatGPUCSRRounding *r)
{
  PetscFunctionBegin;
  if (op->loss.rounded < 0) { /* the values were changed on the device, where rounded values are not counted; count them on the host */
    const PetscScalar *val;

    PetscCall(MatSeqAIJGetArrayRead(A, &val));
    GpCsrCountRounded((size_t)op->side[0].csr.nnz, val, &op->loss);
    PetscCall(MatSeqAIJRestoreArrayRead(A, &val));
  }
  r->nnz += (double)op->side[0].csr.nnz;
  r->rounded += (double)op->loss.rounded;
  r->lost += (double)op->loss.lost;
  r->worst = PetscMax(r->worst, op->loss.worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool NoticeWanted = PETSC_TRUE, NoticeGiven = PETSC_FALSE; /* for this process */

/* Prints the notice.  who: empty, or the rank to which the numbers refer. */
static PetscErrorCode MatGPUCSRPrintNotice(Mat A, const char who[], const MatGPUCSRRounding *r)
{
  const char *prefix = ((PetscObject)A)->prefix;

  PetscFunctionBegin;
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "%sgpucsr: single storage (the default) rounded %.0f of %.0f values of a matrix%s%s; %.0f of them became zero or kept no correct digit; the largest relative change is %.2g.\n"
                         "%sgpucsr: use -gpucsr_storage double to store all values exactly, or -gpucsr_storage single or -gpucsr_notice 0 to suppress this notice.\n",
                         who, r->rounded, r->nnz, prefix ? " with the options prefix " : "", prefix ? prefix : "", r->lost, r->worst, who));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether a notice is wanted.  The answer is the same on all ranks of a parallel matrix. */
static PetscErrorCode MatGPUCSRIsNoticeWanted(Mat A, PetscBool *may)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  *may = NoticeWanted;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gpucsr_notice", may, NULL));
  if (!*may) g->noticed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define MatGPUCSRIsByDefault(g) ((g)->options.storage == MAT_GPUCSR_STORAGE_SINGLE && !((g)->options.given & MAT_GPUCSR_GIVEN(storage)))

static PetscErrorCode MatGPUCSRNotice_Seq(Mat A, GpOp op)
{
  Mat_GPUCSR       *g = (Mat_GPUCSR *)A->spptr;
  MatGPUCSRRounding r = {0};
  PetscBool         may;
  PetscMPIInt       rank, size;
  char              who[32] = "";

  PetscFunctionBegin;
  if (g->noticed || op->loss.at < 0 || !MatGPUCSRIsByDefault(g)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRIsNoticeWanted(A, &may));
  g->noticed = PETSC_TRUE;
  if (!may || NoticeGiven) PetscFunctionReturn(PETSC_SUCCESS);
  NoticeGiven = PETSC_TRUE;
  PetscCall(MatGPUCSRGetRounding_Private(A, op, &r));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) PetscCall(PetscSNPrintf(who, sizeof(who), "[%d] ", rank));
  PetscCall(MatGPUCSRPrintNotice(A, who, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the notice of a parallel matrix on its first rank, for all ranks.  Collective if the object state of the matrix has changed. */
static PetscErrorCode MatGPUCSRNotice_MPI(Mat A, Mat const block[2], GpOp const op[2])
{
  Mat_GPUCSR       *g = (Mat_GPUCSR *)A->spptr;
  MatGPUCSRRounding r = {0};
  PetscObjectState  state;
  PetscBool         may;
  PetscMPIInt       rank;

  PetscFunctionBegin;
  if (g->noticed || !MatGPUCSRIsByDefault(g)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (g->fits.owner == A && g->fits.state == state) PetscFunctionReturn(PETSC_SUCCESS); /* this state was examined before and no value was rounded */
  PetscCall(MatGPUCSRIsNoticeWanted(A, &may));
  if (!may) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < 2; b++) PetscCall(MatGPUCSRGetRounding_Private(block[b], op[b], &r));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r, 3, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r.worst, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)A)));
  g->fits = (MatGPUCSRFits){A, state, A->nonzerostate, (PetscBool) !(r.rounded > 0)};
  if (!(r.rounded > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  g->noticed = PETSC_TRUE;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  if (!rank && !NoticeGiven) PetscCall(MatGPUCSRPrintNotice(A, "", &r));
  NoticeGiven = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the current device image of a seq matrix, and prints the notice if it is due. */
PetscErrorCode MatGPUCSRGetOperator_Private(Mat A, PetscBool transpose, GpOp *op)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRRefresh_Private(A, transpose, op));
  PetscCall(MatGPUCSRNotice_Seq(A, *op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the current device images of both blocks of a parallel matrix.  Collective if the object state of the matrix has changed. */
PetscErrorCode MatGPUCSRGetBlockOperators_Private(Mat A, Mat const block[2], PetscBool transpose, GpOp op[2])
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRAgreeOnPrecision(A, block));
  for (int b = 0; b < 2; b++) PetscCall(MatGPUCSRRefresh_Private(block[b], transpose, &op[b]));
  PetscCall(MatGPUCSRNotice_MPI(A, block, op));
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
