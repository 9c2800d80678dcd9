/* MatSetPreallocationCOO() and MatSetValuesCOO().

   Values in host memory are added by PETSc; the next product uploads the sums.  Values in device memory are added on the device.  The sums are
   copied to the host arrays, which are authoritative, and update the device image. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"

PetscErrorCode MatGPUCSRCooReset_Private(MatGPUCSRCoo C)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) GpCooDestroy(&C->sum[b]);
  C->ready = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRCooDestroy_Private(MatGPUCSRCoo *C)
{
  PetscFunctionBegin;
  if (!*C) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree2((*C)->i, (*C)->j));
  PetscCall(MatGPUCSRCooReset_Private(*C));
  PetscCall(PetscFree(*C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetPreallocationCOO_GPUCSR(Mat A, PetscCount n, PetscInt i[], PetscInt j[])
{
  Mat_GPUCSR  *g = (Mat_GPUCSR *)A->spptr;
  MatGPUCSRCoo C;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRCooDestroy_Private(&g->coo));
  PetscCall(PetscNew(&g->coo));
  C    = g->coo;
  C->n = n;
  if (GpDevHasMemory(g->dev)) { /* copy the indices, because PETSc sorts them in place */
    PetscCall(PetscMalloc2(n, &C->i, n, &C->j));
    PetscCall(PetscArraycpy(C->i, i, n));
    PetscCall(PetscArraycpy(C->j, j, n));
  }
  PetscCall((*g->preallocatecoo)(A, n, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the entries of each nonzero in the order in which they were given.
   start: [nnz + 1] offset in source of the first entry of each nonzero;
   source: [n] entry numbers;
   place: [n] nonzero of each entry, -1 if the entry is ignored */
static PetscErrorCode MatSeqAIJGPUCSRCooMapEntries(Mat A, PetscCount n, const PetscInt i[], const PetscInt j[], int32_t start[], int32_t source[], PetscInt place[])
{
  const PetscInt *rowptr, *col;
  PetscInt        nnz;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, &col, NULL, NULL));
  nnz = rowptr[A->rmap->n];
  for (PetscInt k = 0; k <= nnz; k++) start[k] = 0;
  for (PetscCount e = 0; e < n; e++) {
    place[e] = -1;
    if (i[e] < 0 || j[e] < 0) continue;
    PetscCall(PetscFindInt(j[e], rowptr[i[e] + 1] - rowptr[i[e]], col + rowptr[i[e]], &place[e]));
    PetscCheck(place[e] >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "local row %" PetscInt_FMT ", column %" PetscInt_FMT ": not in the pattern that MatSetPreallocationCOO() created; call it again after the pattern has changed", i[e], j[e]);
    place[e] += rowptr[i[e]];
    start[place[e] + 1]++;
  }
  for (PetscInt k = 0; k < nnz; k++) start[k + 1] += start[k];
  for (PetscCount e = 0; e < n; e++) {
    if (place[e] >= 0) source[start[place[e]]++] = (int32_t)e;
  }
  for (PetscInt k = nnz; k > 0; k--) start[k] = start[k - 1]; /* the loop above has moved each offset to the start of the next nonzero */
  start[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prepares the sums of a sequential matrix or of a block.
   i, j: [n] local row and column of each entry, negative if the entry does not belong to this block */
PetscErrorCode MatSeqAIJGPUCSRCooSetUp_Private(Mat A, PetscCount n, const PetscInt i[], const PetscInt j[], GpCoo *coo)
{
  Mat_GPUCSR     *g = (Mat_GPUCSR *)A->spptr;
  const PetscInt *rowptr;
  PetscInt       *place, nnz;
  int32_t        *start, *source;
  GpErr           err;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, NULL, NULL, NULL));
  nnz = rowptr[A->rmap->n];
  PetscCheck((PetscInt64)nnz <= GP_OP_MOST, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "local part has %" PetscInt_FMT " nonzeros; the device's 32-bit indices allow %d; use more MPI ranks", nnz, GP_OP_MOST);
  PetscCall(PetscMalloc3(nnz + 1, &start, n, &source, n, &place));
  PetscCall(MatSeqAIJGPUCSRCooMapEntries(A, n, i, j, start, source, place));
  err = GpCooCreate(g->dev, (int32_t)nnz, start, source, coo);
  PetscCall(PetscFree3(start, source, place));
  PetscCallGp(g->dev, "allocating memory for an assembly", err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the entries on the device, copies the sums to the host arrays, and updates the image if there is one. */
static PetscErrorCode MatSeqAIJGPUCSRCooSum(Mat A, const GpCoo *coo, PetscCount n, const PetscScalar entries[], const double more[], double *sum)
{
  Mat_GPUCSR  *g     = (Mat_GPUCSR *)A->spptr;
  const size_t bytes = (size_t)coo->nnz * sizeof(double);
  PetscScalar *val;

  PetscFunctionBegin;
  PetscCallGp(g->dev, "assembling", GpCooSum(coo, (int32_t)n, entries, more, sum));
  PetscCall(MatSeqAIJGetArray(A, &val));
  PetscCallGp(g->dev, "downloading the assembled values", GpDevDownload(g->dev, val, sum, bytes));
  PetscCall(MatSeqAIJRestoreArray(A, &val));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  /* MatSetValuesCOO() assembles after this function.  That increases the object state by one, because no entries are stashed. */
  if (((Mat_SeqAIJGPUCSR *)g)->op) PetscCall(MatSeqAIJGPUCSRUpdate_Private(A, &(GpCsrUpdate){.kind = GP_UPDATE_SET, .values = sum}, NULL, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles a sequential matrix or a block.  Entry k is entries[k] if k < n, and more[k - n] otherwise; both arrays are in device memory. */
PetscErrorCode MatSeqAIJGPUCSRCooAssemble_Private(Mat A, const GpCoo *coo, PetscCount n, const PetscScalar entries[], const double more[])
{
  Mat_GPUCSR    *g     = (Mat_GPUCSR *)A->spptr;
  const size_t   bytes = (size_t)coo->nnz * sizeof(double);
  double        *sum;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCallGp(g->dev, "allocating memory for the sums of an assembly", GpDevAlloc(g->dev, bytes, &sum));
  err = MatSeqAIJGPUCSRCooSum(A, coo, n, entries, more, sum);
  GpDevFree(g->dev, &sum, bytes);
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetValuesCOO_SeqAIJGPUCSR_Device(Mat A, const PetscScalar entries[])
{
  MatGPUCSRCoo C = ((Mat_GPUCSR *)A->spptr)->coo;

  PetscFunctionBegin;
  if (!C->sum[0].dev) {
    PetscCall(MatSeqAIJGPUCSRCooSetUp_Private(A, C->n, C->i, C->j, &C->sum[0]));
    PetscCall(PetscFree2(C->i, C->j));
  }
  PetscCall(MatSeqAIJGPUCSRCooAssemble_Private(A, &C->sum[0], C->n, entries, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values to the host and lets PETSc assemble: for ADD_VALUES, or if not all ranks pass device memory. */
static PetscErrorCode MatSetValuesCOO_GPUCSR_Host(Mat A, const PetscScalar entries[], InsertMode mode)
{
  Mat_GPUCSR    *g = (Mat_GPUCSR *)A->spptr;
  PetscScalar   *host;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->coo->n, &host));
  PetscCallGp(g->dev, "downloading the values of an assembly", GpDevDownload(g->dev, host, entries, (size_t)g->coo->n * sizeof(*host)));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)g->coo->n * sizeof(*host)));
  err = (*g->setvaluescoo)(A, host, mode);
  PetscCall(PetscFree(host));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds out where the values are.  here: the values of this rank are in device memory; all: so are the values of every other rank that has any,
   and no rank has too many for 32-bit indices */
static PetscErrorCode MatGPUCSRCooCheckMemory(Mat A, const PetscScalar entries[], PetscBool *here, PetscBool *all)
{
  Mat_GPUCSR        *g     = (Mat_GPUCSR *)A->spptr;
  const MatGPUCSRCoo C     = g->coo;
  int                there = 0, mine[2], least[2];

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice(&g->dev));
  if (C && C->n && GpDevHasMemory(g->dev)) PetscCallGp(g->dev, "querying the memory type of the values of an assembly", GpDevHolds(g->dev, entries, &there));
  *here = (PetscBool)there;
  *all  = (PetscBool)(there && C->n < INT32_MAX);
  if (!g->mpi) PetscFunctionReturn(PETSC_SUCCESS);
  mine[0] = *all || (C && !C->n && GpDevHasMemory(g->dev));
  mine[1] = !*all;
  PetscCallMPI(MPI_Allreduce(mine, least, 2, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  *all = (PetscBool)(least[0] && !least[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetValuesCOO_GPUCSR(Mat A, const PetscScalar entries[], InsertMode mode)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;
  PetscBool   here, all;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRCooCheckMemory(A, entries, &here, &all));
  if (all && mode == INSERT_VALUES && !g->coo->never) {
    PetscCall((*g->assemblecoo)(A, entries));
    if (!g->coo->never) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (here) PetscCall(MatSetValuesCOO_GPUCSR_Host(A, entries, mode));
  else PetscCall((*g->setvaluescoo)(A, entries, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the composed functions of both types.  A parallel matrix then replaces assemblecoo. */
PetscErrorCode MatGPUCSRSetCOO_Private(Mat A)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  g->assemblecoo = MatSetValuesCOO_SeqAIJGPUCSR_Device;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSetPreallocationCOO_C", &g->preallocatecoo));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSetValuesCOO_C", &g->setvaluescoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", MatSetPreallocationCOO_GPUCSR));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", MatSetValuesCOO_GPUCSR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRResetCOO_Private(Mat A)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", g->preallocatecoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", g->setvaluescoo));
  PetscFunctionReturn(PETSC_SUCCESS);
}
