/* Set-up of the preconditioner type PCGPUFSAI: the rows of A, and the matrix G. */
#include "pc/impls/gpufsai/gpufsai.h"

#include <petsc/private/matimpl.h>
#include <petsctime.h>

/* The rows of A that a set-up reads, and the matrices from which they come. */
typedef struct {
  Mat          aij; /* the matrix, or a copy of type AIJ */
  Mat         *sub; /* rows of this and other ranks; NULL: the diagonal block is read */
  Mat          A;   /* sequential matrix whose arrays are in `rows` */
  GpFsaiMatrix rows;
} PCGPUFSAIRows;

/* Gets the rows of this and other ranks that patterns can reach. */
static PetscErrorCode PCGPUFSAIGetOverlap(PC pc, PCGPUFSAIRows *R)
{
  PC_GPUFSAI     *fsai = (PC_GPUFSAI *)pc->data;
  const PetscInt  far  = fsai->options.rows.adaptive ? fsai->options.rows.steps : fsai->options.rows.power;
  const PetscInt *row;
  PetscInt        begin, end, n, first = 0;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(R->aij, &begin, &end));
  if (!fsai->rows) {
    PetscCall(ISCreateStride(PETSC_COMM_SELF, end - begin, begin, 1, &fsai->rows));
    PetscCall(MatIncreaseOverlap(R->aij, 1, &fsai->rows, far));
    PetscCall(ISSort(fsai->rows));
  }
  PetscCall(MatCreateSubMatrices(R->aij, 1, &fsai->rows, &fsai->rows, MAT_INITIAL_MATRIX, &R->sub));
  R->A = R->sub[0];
  PetscCall(ISGetLocalSize(fsai->rows, &n));
  PetscCall(ISGetIndices(fsai->rows, &row));
  while (first < n && row[first] < begin) first++;
  PetscCall(ISRestoreIndices(fsai->rows, &row));
  R->rows.first = first;
  R->rows.rows  = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the diagonal, and finds the first row with a missing diagonal entry (bad[0]) and with columns that do not ascend (bad[1]), on any rank. */
static PetscErrorCode PCGPUFSAIGetDiagonal(PC pc, const PCGPUFSAIRows *R, PetscInt bad[2])
{
  const GpFsaiMatrix *A = &R->rows;
  PetscInt            begin;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(R->aij, &begin, NULL));
  bad[0] = bad[1] = PETSC_MAX_INT;
  for (PetscInt r = 0; r < A->n; r++) {
    const PetscBool mine  = (PetscBool)(r >= A->first && r < A->first + A->rows);
    PetscBool       found = PETSC_FALSE;

    A->diagonal[r] = 0;
    for (PetscInt k = A->rowptr[r]; k < A->rowptr[r + 1]; k++) {
      if (A->col[k] == r) {
        A->diagonal[r] = A->val[k];
        found          = PETSC_TRUE;
      }
      if (mine && k > A->rowptr[r] && A->col[k] <= A->col[k - 1]) bad[1] = PetscMin(bad[1], begin + r - A->first);
    }
    A->root[r] = PetscSqrtReal(PetscAbsReal(A->diagonal[r]));
    if (mine && !found) bad[0] = PetscMin(bad[0], begin + r - A->first);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bad, 2, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUFSAIGetRows(PC pc, PCGPUFSAIRows *R)
{
  PC_GPUFSAI      *fsai = (PC_GPUFSAI *)pc->data;
  PetscObjectState state;
  PetscMPIInt      size;
  PetscBool        plain, square, done;

  PetscFunctionBegin;
  PetscCall(MatHasCongruentLayouts(pc->pmat, &square));
  PetscCheck(square, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ, "PC type gpufsai needs a square matrix whose rows and columns are distributed in the same way");
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &plain, MATSEQAIJ, MATMPIAIJ, ""));
  if (plain) {
    PetscCall(PetscObjectReference((PetscObject)pc->pmat));
    R->aij = pc->pmat;
  } else { /* some conversions raise the state of the matrix that they read; PCSetUp() would take this for new values */
    PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
    PetscCall(MatConvert(pc->pmat, MATAIJ, MAT_INITIAL_MATRIX, &R->aij));
    PetscCall(PetscObjectStateSet((PetscObject)pc->pmat, state));
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size > 1 && !fsai->options.local) PetscCall(PCGPUFSAIGetOverlap(pc, R));
  else {
    PetscCall(MatGetDiagonalBlock(R->aij, &R->A));
    PetscCall(MatGetLocalSize(R->A, &R->rows.rows, NULL));
  }
  PetscCall(MatGetRowIJ(R->A, 0, PETSC_FALSE, PETSC_FALSE, &R->rows.n, &R->rows.rowptr, &R->rows.col, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "PC type gpufsai cannot read the rows of a matrix of type %s; use one of type aij or gpucsr", ((PetscObject)pc->pmat)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(R->A, &R->rows.val));
  PetscCall(PetscMalloc2(R->rows.n, &R->rows.diagonal, R->rows.n, &R->rows.root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUFSAIRestoreRows(PCGPUFSAIRows *R)
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(PetscFree2(R->rows.diagonal, R->rows.root));
  PetscCall(MatSeqAIJRestoreArrayRead(R->A, &R->rows.val));
  PetscCall(MatRestoreRowIJ(R->A, 0, PETSC_FALSE, PETSC_FALSE, &n, &R->rows.rowptr, &R->rows.col, &done));
  if (R->sub) PetscCall(MatDestroySubMatrices(1, &R->sub));
  PetscCall(MatDestroy(&R->aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates G from the factor. */
static PetscErrorCode PCGPUFSAICreateMatrix(PC pc)
{
  PC_GPUFSAI     *fsai = (PC_GPUFSAI *)pc->data;
  const PetscInt *row  = NULL;
  const char     *prefix;
  PetscInt        n, N, begin, *col = fsai->factor.col;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  PetscCall(MatGetSize(pc->pmat, &N, NULL));
  PetscCall(MatGetOwnershipRange(pc->pmat, &begin, NULL));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(MatDestroy(&fsai->G));
  PetscCall(VecDestroy(&fsai->work));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)pc), &fsai->G));
  PetscCall(MatSetSizes(fsai->G, n, n, N, N));
  PetscCall(MatSetOptionsPrefix(fsai->G, prefix));
  PetscCall(MatAppendOptionsPrefix(fsai->G, "pc_gpufsai_"));
  PetscCall(MatSetType(fsai->G, MATGPUCSR));
  PetscCall(MatGPUCSRSetStorage(fsai->G, fsai->options.storage));
  if (fsai->rows) PetscCall(ISGetIndices(fsai->rows, &row));
  if (row || begin) {
    PetscCall(PetscMalloc1(fsai->factor.rowptr[n], &col));
    for (PetscInt k = 0; k < fsai->factor.rowptr[n]; k++) col[k] = row ? row[fsai->factor.col[k]] : begin + fsai->factor.col[k];
  }
  if (fsai->rows) PetscCall(ISRestoreIndices(fsai->rows, &row));
  PetscCall(MatSeqAIJSetPreallocationCSR(fsai->G, fsai->factor.rowptr, col, fsai->factor.val));
  PetscCall(MatMPIAIJSetPreallocationCSR(fsai->G, fsai->factor.rowptr, col, fsai->factor.val));
  if (col != fsai->factor.col) PetscCall(PetscFree(col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of the factor to G.  In a row, columns of lower ranks precede those of the diagonal block; there are none of higher ranks. */
static PetscErrorCode PCGPUFSAIRefillMatrix(PC pc)
{
  PC_GPUFSAI         *fsai = (PC_GPUFSAI *)pc->data;
  const GpFsaiFactor *F    = &fsai->factor;
  Mat                 here = fsai->G, away = NULL;
  const PetscInt     *rowptr, *col;
  PetscScalar        *val, *other = NULL;
  PetscInt            n;
  PetscBool           mpi, done;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)fsai->G, MATMPIAIJGPUCSR, &mpi));
  if (mpi) {
    PetscCall(MatMPIAIJGetSeqAIJ(fsai->G, &here, &away, NULL));
    PetscCall(MatSeqAIJGetArrayWrite(away, &other));
  }
  PetscCall(MatGetRowIJ(here, 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  PetscCall(MatSeqAIJGetArrayWrite(here, &val));
  for (PetscInt r = 0, before = 0; r < F->rows; r++) { /* before: number of nonzeros of other ranks' columns in the rows above */
    const PetscInt inside = rowptr[r + 1] - rowptr[r], outside = F->rowptr[r + 1] - F->rowptr[r] - inside;

    if (outside) PetscCall(PetscArraycpy(other + before, F->val + F->rowptr[r], outside));
    PetscCall(PetscArraycpy(val + rowptr[r], F->val + F->rowptr[r] + outside, inside));
    before += outside;
  }
  PetscCall(MatSeqAIJRestoreArrayWrite(here, &val));
  PetscCall(MatRestoreRowIJ(here, 0, PETSC_FALSE, PETSC_FALSE, &n, &rowptr, &col, &done));
  if (mpi) {
    PetscCall(MatSeqAIJRestoreArrayWrite(away, &other));
    PetscCall(PetscObjectStateIncrease((PetscObject)fsai->G));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out on all ranks whether a row has failed. */
static PetscErrorCode PCGPUFSAICheckPivots(PC pc, const GpFsaiReport *report, PetscInt begin)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscInt first, mine = report->failed < 0 ? PETSC_MAX_INT : begin + report->failed;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPIU_INT, MPI_MIN, comm));
  pc->failedreason = first < PETSC_MAX_INT ? PC_SUBPC_ERROR : PC_NOERROR;
  if (!pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!pc->erroriffailure, comm, PETSC_ERR_MAT_CH_ZRPVT, "Row %" PetscInt_FMT " of the factorised sparse approximate inverse: the matrix is not positive definite on the row's pattern", first);
  PetscCall(PetscInfo(pc, "Row %" PetscInt_FMT ": the matrix is not positive definite on the pattern of the row\n", first));
  if (mine == first) PetscCall(PetscInfo(pc, "Row %" PetscInt_FMT ": pivot %g\n", first, (double)report->pivot));
  PetscCall(PCReset_GPUFSAI(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the factor.  All ranks learn of a failure on one of them. */
static PetscErrorCode PCGPUFSAICompute(PC pc)
{
  PC_GPUFSAI   *fsai   = (PC_GPUFSAI *)pc->data;
  MPI_Comm      comm   = PetscObjectComm((PetscObject)pc);
  PCGPUFSAIRows R      = {0};
  GpFsaiReport  report = {0};
  PetscMPIInt   code   = GP_FSAI_SUCCESS;
  PetscInt      begin, bad[2];

  PetscFunctionBegin;
  PetscCall(PCGPUFSAIGetRows(pc, &R));
  PetscCall(PCGPUFSAIGetDiagonal(pc, &R, bad));
  if (PetscMin(bad[0], bad[1]) == PETSC_MAX_INT) code = (PetscMPIInt)GpFsaiCompute(&R.rows, &fsai->options.rows, (int)fsai->options.threads, &fsai->factor, &report);
  PetscCall(PCGPUFSAIRestoreRows(&R));
  PetscCheck(bad[0] == PETSC_MAX_INT, comm, PETSC_ERR_ARG_WRONGSTATE, "Matrix is missing diagonal entry %" PetscInt_FMT "; PC type gpufsai needs a matrix whose diagonal is stored and positive", bad[0]);
  PetscCheck(bad[1] == PETSC_MAX_INT, comm, PETSC_ERR_ARG_WRONGSTATE, "The columns of row %" PetscInt_FMT " of the matrix do not ascend; PC type gpufsai needs sorted rows", bad[1]);
  PetscCall(PetscLogFlops(report.flops));
  if (code == GP_FSAI_PIVOT) code = GP_FSAI_SUCCESS;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(code != GP_FSAI_MEMORY, comm, PETSC_ERR_MEM, "Out of host memory for the set-up of PC type gpufsai; use a smaller -pc_gpufsai_power, or -pc_gpufsai_threshold");
  PetscCheck(code != GP_FSAI_RANGE, comm, PETSC_ERR_ARG_OUTOFRANGE, "The factor of PC type gpufsai has more nonzeros than %d-bit indices can count; use a smaller -pc_gpufsai_power, or -pc_gpufsai_threshold", 8 * (int)sizeof(PetscInt));
  PetscCall(MatGetOwnershipRange(pc->pmat, &begin, NULL));
  PetscCall(PCGPUFSAICheckPivots(pc, &report, begin));
  fsai->sum     = report.logarithm;
  fsai->longest = 0;
  for (PetscInt r = 0; r < fsai->factor.rows; r++) fsai->longest = PetscMax(fsai->longest, fsai->factor.rowptr[r + 1] - fsai->factor.rowptr[r]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fsai->sum, 1, MPIU_REAL, MPIU_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fsai->longest, 1, MPIU_INT, MPI_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetUp_GPUFSAI(PC pc)
{
  PC_GPUFSAI     *fsai = (PC_GPUFSAI *)pc->data;
  PetscLogDouble  begin, end;
  const PetscBool refill = (PetscBool)(fsai->G && pc->flag == SAME_NONZERO_PATTERN);

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(PetscLogEventBegin(PC_GPUFSAI_SetUp, pc, 0, 0, 0));
  if (!refill) PetscCall(PCReset_GPUFSAI(pc));
  PetscCall(PCGPUFSAICompute(pc));
  if (!pc->failedreason) {
    if (refill) PetscCall(PCGPUFSAIRefillMatrix(pc));
    else PetscCall(PCGPUFSAICreateMatrix(pc));
    GpFsaiFreeValues(&fsai->factor);
    PetscCall(MatGPUCSRUpload(fsai->G));
    fsai->setups++;
    fsai->refills += refill;
  }
  PetscCall(PetscLogEventEnd(PC_GPUFSAI_SetUp, pc, 0, 0, 0));
  PetscCall(PetscTime(&end));
  fsai->seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
