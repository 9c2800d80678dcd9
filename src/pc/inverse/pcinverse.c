/* Set-up of preconditioners that multiply by approximate inverses (pcinverse.h). */
#include "pc/inverse/pcinverse.h"

#include <petsc/private/matimpl.h>
#include <petsctime.h>

#include <float.h>
#include <math.h>

/* Gets the rows of this and other ranks that rows of the inverse read. */
static PetscErrorCode PCGPUInverseGetOverlap(PCGPUInverse *V, PetscInt distance, PCGPUInverseRows *R)
{
  const PetscInt *row;
  PetscInt        begin, end, n;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(R->aij, &begin, &end));
  if (!V->overlap) {
    PetscCall(ISCreateStride(PETSC_COMM_SELF, end - begin, begin, 1, &V->overlap));
    PetscCall(MatIncreaseOverlap(R->aij, 1, &V->overlap, distance));
    PetscCall(ISSort(V->overlap));
  }
  PetscCall(MatCreateSubMatrices(R->aij, 1, &V->overlap, &V->overlap, MAT_INITIAL_MATRIX, &R->sub));
  R->A = R->sub[0];
  PetscCall(ISGetLocalSize(V->overlap, &n));
  PetscCall(ISGetIndices(V->overlap, &row));
  while (R->rows.first < n && row[R->rows.first] < begin) R->rows.first++;
  PetscCall(ISRestoreIndices(V->overlap, &row));
  R->rows.rows = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the diagonal on the host, and finds the first row with a missing diagonal entry (bad[0]) and with columns that do not ascend (bad[1]). */
static PetscErrorCode PCGPUInverseGetDiagonal(PCGPUInverseRows *R, PetscInt bad[2])
{
  GpInvMatrix *A = &R->rows;
  PetscInt     begin;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(R->aij, &begin, NULL));
  PetscCall(PetscMalloc2(A->n, &A->diagonal, A->n, &A->root));
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUInverseGetRows(PC pc, PCGPUInverse *V, const PCGPUInverseType *type, PCGPUInverseRows *R)
{
  PetscObjectState state;
  PetscMPIInt      size;
  PetscBool        plain, square, done;

  PetscFunctionBegin;
  PetscCall(MatHasCongruentLayouts(pc->pmat, &square));
  PetscCheck(square, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ, "PC type %s needs a square matrix whose rows and columns are distributed in the same way", type->type);
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
  if (size > 1 && !type->local) PetscCall(PCGPUInverseGetOverlap(V, type->distance, R));
  else {
    PetscCall(MatGetDiagonalBlock(R->aij, &R->A));
    PetscCall(MatGetLocalSize(R->A, &R->rows.rows, NULL));
  }
  PetscCall(MatGetRowIJ(R->A, 0, PETSC_FALSE, PETSC_FALSE, &R->rows.n, &R->rows.rowptr, &R->rows.col, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "PC type %s cannot read the rows of a matrix of type %s; use one of type aij or gpucsr", type->type, ((PetscObject)pc->pmat)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(R->A, &R->rows.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGPUInverseRestoreRows(PCGPUInverseRows *R)
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

/* Finds out on all ranks whether a row has failed. */
static PetscErrorCode PCGPUInverseCheckPivots(PC pc, PCGPUInverse *V, const PCGPUInverseType *type, const GpInvReport *report)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscInt begin, first, mine;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &begin, NULL));
  mine = report->failed < 0 ? PETSC_MAX_INT : begin + report->failed;
  PetscCallMPI(MPI_Allreduce(&mine, &first, 1, MPIU_INT, MPI_MIN, comm));
  pc->failedreason = first < PETSC_MAX_INT ? PC_SUBPC_ERROR : PC_NOERROR;
  if (!pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!pc->erroriffailure, comm, PETSC_ERR_MAT_CH_ZRPVT, "PC type %s, row %" PetscInt_FMT ": %s; use another preconditioner", type->type, first, type->failure);
  PetscCall(PetscInfo(pc, "Row %" PetscInt_FMT ": %s\n", first, type->failure));
  if (mine == first) PetscCall(PetscInfo(pc, "Row %" PetscInt_FMT ": pivot %g\n", first, (double)report->pivot));
  PetscCall(PCGPUInverseReset_Private(V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the first row whose largest value single precision cannot store, or -1. */
static PetscInt PCGPUInverseFindRange(const GpInvRows *rows)
{
  for (PetscInt r = 0; r < rows->rows; r++) {
    PetscReal largest = 0;

    for (PetscInt k = rows->rowptr[r]; k < rows->rowptr[r + 1]; k++) largest = PetscMax(largest, PetscAbsScalar(rows->val[k]));
    if (largest < FLT_MIN || largest > FLT_MAX) return r;
  }
  return -1;
}

/* Checks that single precision can store the largest value of every row, so that no row becomes zero or infinite. */
static PetscErrorCode PCGPUInverseCheckRange(PC pc, const PCGPUInverseType *type, const GpInvReport *report)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscInt begin, first;

  PetscFunctionBegin;
  if (type->storage != MAT_GPUCSR_STORAGE_SINGLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(pc->pmat, &begin, NULL));
  first = report->range < 0 ? PETSC_MAX_INT : begin + report->range;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPIU_INT, MPI_MIN, comm));
  PetscCheck(first == PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE, "PC type %s: single precision cannot store the largest value of row %" PetscInt_FMT " of the approximate inverse or its factor; use -pc_%s_storage double", type->type, first,
             type->type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the rows of this rank on the device or on the host, unless a row of the matrix is bad: bad[0] has no diagonal entry; the columns of bad[1] do not ascend.  These two rows are those of all ranks. */
static PetscErrorCode PCGPUInverseComputeRows(PC pc, PCGPUInverse *V, const PCGPUInverseType *type, PetscInt bad[2], GpInvReport *report, PetscMPIInt *code)
{
  PCGPUInverseRows R = {0};
  PetscInt         mine[2];

  PetscFunctionBegin;
  *code = GP_INV_SUCCESS;
  PetscCall(PCGPUInverseGetRows(pc, V, type, &R));
  V->first = R.rows.first;
  PetscCall(PCGPUInverseDeviceBegin_Private(pc, V, type, &R, mine));
  if (!V->device.dev) PetscCall(PCGPUInverseGetDiagonal(&R, mine));
  PetscCallMPI(MPI_Allreduce(mine, bad, 2, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  if ((bad[0] == PETSC_MAX_INT || !type->diagonal) && bad[1] == PETSC_MAX_INT) {
    if (V->device.dev) PetscCall(PCGPUInverseDeviceCompute_Private(V, type, report));
    if (!V->device.dev) {
      if (!R.rows.diagonal) PetscCall(PCGPUInverseGetDiagonal(&R, mine));
      *code = (PetscMPIInt)GpInvCompute(&R.rows, type->row, type->options, (int)type->threads, &V->rows, report);
      PetscCall(PetscLogFlops(report->flops));
      report->range = !*code && type->storage == MAT_GPUCSR_STORAGE_SINGLE ? PCGPUInverseFindRange(&V->rows) : -1;
    }
  }
  PetscCall(PCGPUInverseRestoreRows(&R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the rows.  All ranks learn of a failure on one of them. */
static PetscErrorCode PCGPUInverseCompute(PC pc, PCGPUInverse *V, const PCGPUInverseType *type, PetscBool refill)
{
  MPI_Comm    comm   = PetscObjectComm((PetscObject)pc);
  GpInvReport report = {.failed = -1, .range = -1};
  PetscMPIInt code;
  PetscInt    bad[2], most[2];

  PetscFunctionBegin;
  PetscCall(PCGPUInverseComputeRows(pc, V, type, bad, &report, &code));
  PetscCheck(bad[0] == PETSC_MAX_INT || !type->diagonal, comm, PETSC_ERR_ARG_WRONGSTATE, "Matrix is missing diagonal entry %" PetscInt_FMT "; PC type %s needs a matrix whose diagonal is stored", bad[0], type->type);
  PetscCheck(bad[1] == PETSC_MAX_INT, comm, PETSC_ERR_ARG_WRONGSTATE, "The columns of row %" PetscInt_FMT " of the matrix do not ascend; PC type %s needs sorted rows", bad[1], type->type);
  if (code == GP_INV_PIVOT) code = GP_INV_SUCCESS;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(code != GP_INV_MEMORY, comm, PETSC_ERR_MEM, "Out of host memory for the set-up of PC type %s; %s", type->type, type->remedy);
  PetscCheck(code != GP_INV_RANGE, comm, PETSC_ERR_ARG_OUTOFRANGE, "PC type %s has more nonzeros than %d-bit indices can count; %s", type->type, 8 * (int)sizeof(PetscInt), type->remedy);
  PetscCall(PCGPUInverseCheckPivots(pc, V, type, &report));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGPUInverseCheckRange(pc, type, &report));
  V->measure = report.measure;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &V->measure, 1, MPIU_REAL, MPIU_SUM, comm));
  most[0] = refill ? V->longest : 0;
  most[1] = V->why[0] ? 1 : 0;
  for (PetscInt r = 0; !refill && r < V->rows.rows; r++) most[0] = PetscMax(most[0], V->rows.rowptr[r + 1] - V->rows.rowptr[r]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPIU_INT, MPI_MAX, comm));
  V->longest = most[0];
  V->hosted  = (PetscBool)(most[1] > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the matrix or copies the values to it. */
static PetscErrorCode PCGPUInverseFillMatrix(PC pc, PCGPUInverse *V, const PCGPUInverseType *type, PetscBool refill)
{
  PetscFunctionBegin;
  if (V->device.dev && refill && !V->overlap) PetscCall(PCGPUInverseDeviceRefill_Private(V));
  else {
    if (V->device.dev) PetscCall(PCGPUInverseDeviceDownload_Private(V));
    if (refill) PetscCall(PCGPUInverseRefillMatrix_Private(V));
    else PetscCall(PCGPUInverseCreateMatrix_Private(pc, V, type));
  }
  PetscCall(PCGPUInverseDeviceFree_Private(V));
  PetscCall(MatGPUCSRUpload(V->matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseSetUp_Private(PC pc, PCGPUInverse *V, const PCGPUInverseType *type)
{
  PetscLogDouble  begin, end;
  const PetscBool refill = (PetscBool)(V->matrix && pc->flag == SAME_NONZERO_PATTERN);

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  if (!refill) PetscCall(PCGPUInverseReset_Private(V));
  PetscCall(PCGPUInverseCompute(pc, V, type, refill));
  if (!pc->failedreason) {
    PetscCall(PCGPUInverseFillMatrix(pc, V, type, refill));
    V->setups++;
    V->refills += refill;
  }
  PetscCall(PetscTime(&end));
  V->seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseReset_Private(PCGPUInverse *V)
{
  PetscFunctionBegin;
  PetscCall(PCGPUInverseDeviceReset_Private(V));
  PetscCall(PCGPUInverseDestroyMatrix_Private(V));
  PetscCall(ISDestroy(&V->overlap));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a failed set-up y is infinite, so that a Krylov method stops. */
PetscErrorCode PCGPUInverseApply_Private(const PCGPUInverse *inverse, PetscBool transpose, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (!inverse->matrix) PetscCall(VecSet(y, HUGE_VAL));
  else if (transpose) PetscCall(MatMultTranspose(inverse->matrix, x, y));
  else PetscCall(MatMult(inverse->matrix, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the options that both types have. */
PetscErrorCode PCGPUInverseViewOptions_Private(PC pc, const char name[], PetscBool local, MatGPUCSRStorage storage, PetscViewer viewer)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "  the pattern of a row %s\n", local ? "stays on its rank" : "includes columns of other ranks"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  storage of the %s on the device: %s\n", name, MatGPUCSRStorages[storage]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseView_Private(PCGPUInverse *V, const char name[], PetscViewer viewer)
{
  MatInfo  info;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(V->matrix, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetSize(V->matrix, &n, NULL));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %.0f nonzeros, %.2f in a row, %" PetscInt_FMT " in the longest row\n", name, info.nz_used, n ? info.nz_used / n : 0., V->longest));
  if (V->hosted) PetscCall(PetscViewerASCIIPrintf(viewer, "  set-up on the host: %s\n", V->why[0] ? V->why : "on another rank; -info names the reason"));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  set-up on the device\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGPUInverseViewInfo_Private(PCGPUInverse *V, PetscViewer viewer)
{
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  last set-up: %.3g s; set-ups: %" PetscInt_FMT ", of which with the same pattern: %" PetscInt_FMT "\n", V->seconds, V->setups, V->refills));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(MatView(V->matrix, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
