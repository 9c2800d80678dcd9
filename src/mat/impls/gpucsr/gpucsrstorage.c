/* The precision of the values on the device: the decision of -mat_gpucsr_storage auto, and the notice when the default rounds values. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

/* Does single precision hold every value of a sequential matrix?  The answer is kept for the state of the matrix. */
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

/* The precision of the next upload of a sequential matrix.  On one pattern, storage auto changes from single to double and never back, so that
   values that fit now and then do not cost a new format each time.  refill: the image has the pattern of the matrix. */
PetscErrorCode MatGPUCSRChoosePrecision_Private(Mat A, PetscBool refill, GpPrec *prec)
{
  Mat_GPUCSR *g      = (Mat_GPUCSR *)A->spptr;
  PetscBool   single = (PetscBool)(g->options.storage == MAT_GPUCSR_STORAGE_SINGLE);

  PetscFunctionBegin;
  if (g->options.storage == MAT_GPUCSR_STORAGE_AUTO && !g->wide && !(refill && g->op->options.prec == GP_F64)) PetscCall(MatGPUCSRFitsSingle(A, &single));
  *prec = single ? GP_F32 : GP_F64;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Storage auto of a parallel matrix: all blocks of all ranks take double precision if a value of one of them needs it.  The ranks reduce only
   when the state of the parallel matrix has changed, which all of them see.  A block that is changed without the parallel matrix knowing,
   through MatSeqAIJGetArray(), decides for itself until then. */
static PetscErrorCode MatGPUCSRAgree(Mat A, Mat const block[2])
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
    if (gb->op && gb->op->options.prec != (g->wide ? GP_F64 : GP_F32)) gb->key = (MatGPUCSRKey){0}; /* its image is made anew */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRGetRounding_Private(Mat A, GpOp op, MatGPUCSRRounding *r)
{
  PetscFunctionBegin;
  if (op->loss.rounded < 0) { /* the values were changed on the device, where nothing counts them */
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

static PetscBool NoticeWanted = PETSC_TRUE, NoticeGiven = PETSC_FALSE; /* of this process */

/* who: empty, or the rank that speaks for itself alone */
static PetscErrorCode MatGPUCSRNotice(Mat A, const char who[], const MatGPUCSRRounding *r)
{
  const char *prefix = ((PetscObject)A)->prefix;

  PetscFunctionBegin;
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "%sgpucsr: single storage (the default) rounded %.0f of %.0f values of a matrix%s%s; %.0f of them became zero or kept no correct digit; the largest relative change is %.2g.\n"
                         "%sgpucsr: -gpucsr_storage double keeps every bit of every matrix; -gpucsr_storage single or -gpucsr_notice 0 silences this notice.\n",
                         who, r->rounded, r->nnz, prefix ? " with the options prefix " : "", prefix ? prefix : "", r->lost, r->worst, who));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is a notice possible for this matrix?  Parallel matrices get the same answer on all ranks. */
static PetscErrorCode MatGPUCSRMayNotice(Mat A, PetscBool *may)
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
  PetscCall(MatGPUCSRMayNotice(A, &may));
  g->noticed = PETSC_TRUE;
  if (!may || NoticeGiven) PetscFunctionReturn(PETSC_SUCCESS);
  NoticeGiven = PETSC_TRUE;
  PetscCall(MatGPUCSRGetRounding_Private(A, op, &r));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) PetscCall(PetscSNPrintf(who, sizeof(who), "[%d] ", rank));
  PetscCall(MatGPUCSRNotice(A, who, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective when the state of the parallel matrix has changed; the first rank speaks for all. */
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
  if (g->fits.owner == A && g->fits.state == state) PetscFunctionReturn(PETSC_SUCCESS); /* nothing was rounded then */
  PetscCall(MatGPUCSRMayNotice(A, &may));
  if (!may) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < 2; b++) PetscCall(MatGPUCSRGetRounding_Private(block[b], op[b], &r));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r, 3, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r.worst, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)A)));
  g->fits = (MatGPUCSRFits){A, state, A->nonzerostate, (PetscBool) !(r.rounded > 0)};
  if (!(r.rounded > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  g->noticed = PETSC_TRUE;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  if (!rank && !NoticeGiven) PetscCall(MatGPUCSRNotice(A, "", &r));
  NoticeGiven = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the device image of a seq matrix, as MatGPUCSRRefresh_Private() leaves it */
PetscErrorCode MatGPUCSRGetOperator_Private(Mat A, PetscBool transpose, GpOp *op)
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRRefresh_Private(A, transpose, op));
  PetscCall(MatGPUCSRNotice_Seq(A, *op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the device images of the two blocks of a parallel matrix; collective when the state of the matrix has changed */
PetscErrorCode MatGPUCSRGetBlockOperators_Private(Mat A, Mat const block[2], PetscBool transpose, GpOp op[2])
{
  PetscFunctionBegin;
  PetscCall(MatGPUCSRAgree(A, block));
  for (int b = 0; b < 2; b++) PetscCall(MatGPUCSRRefresh_Private(block[b], transpose, &op[b]));
  PetscCall(MatGPUCSRNotice_MPI(A, block, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PetscGPUCSRSetNotice - Sets whether gpucsr tells on stderr that single storage rounds the values of a matrix and nobody asked for single storage

  Logically Collective

  Input Parameter:
. notice - `PETSC_TRUE` (default) for one notice in each process; `PETSC_FALSE` for none, in a program that reports `MatGPUCSRGetInfo()` itself

  Options Database Key:
. -gpucsr_notice <bool> - overrides the function

  Level: intermediate

  Notes:
  The notice tells how many values of how many were rounded, how many of these became zero or kept no correct decimal digit (relative change
  above 0.1), and the largest relative change. The first rank of a parallel matrix tells it for all ranks.

  A matrix whose storage was set, by `MatGPUCSRSetStorage()`, `-mat_gpucsr_storage` or `-gpucsr_storage`, causes no notice.

.seealso: `MATGPUCSR`, `MatGPUCSRSetStorage()`, `MatGPUCSRGetInfo()`
@*/
PetscErrorCode PetscGPUCSRSetNotice(PetscBool notice)
{
  PetscFunctionBegin;
  NoticeWanted = notice;
  PetscFunctionReturn(PETSC_SUCCESS);
}
