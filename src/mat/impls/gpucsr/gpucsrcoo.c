/* MatSetPreallocationCOO() and MatSetValuesCOO().  Values on the host are PETSc's business: it adds them up there in any case, and the
   next product uploads less than they are.  Values that a kernel of the user's left in device memory are added up there, and the
   sums brought to the host, which stays the truth. */
#include "mat/impls/gpucsr/gpucsrcoo.h"

PetscErrorCode MatGPUCSRCooReset_Private(MatGPUCSRCoo C)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) GpCooDestroy(&C->coo[b]);
  PetscCall(MatGPUCSRHaloDestroy_Private(&C->halo));
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
  if (g->dev->ops->holds) { /* PETSc sorts the indices in place */
    PetscCall(PetscMalloc2(n, &C->i, n, &C->j));
    PetscCall(PetscArraycpy(C->i, i, n));
    PetscCall(PetscArraycpy(C->j, j, n));
  }
  PetscCall((*g->preallocatecoo)(A, n, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* start, source: the entries of every nonzero, in the order in which they were given */
static PetscErrorCode MatGPUCSRCooFind(Mat A, PetscCount n, const PetscInt i[], const PetscInt j[], int32_t start[], int32_t source[], PetscInt place[])
{
  const PetscInt *rowptr, *col;
  PetscScalar    *val;
  PetscMemType    memtype;
  PetscInt        nnz;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, &col, &val, &memtype));
  nnz = rowptr[A->rmap->n];
  for (PetscInt k = 0; k <= nnz; k++) start[k] = 0;
  for (PetscCount e = 0; e < n; e++) {
    place[e] = -1;
    if (i[e] < 0 || j[e] < 0) continue;
    PetscCall(PetscFindInt(j[e], rowptr[i[e] + 1] - rowptr[i[e]], col + rowptr[i[e]], &place[e]));
    PetscCheck(place[e] >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "local row %" PetscInt_FMT ", column %" PetscInt_FMT ": not in the pattern that MatSetPreallocationCOO() made", i[e], j[e]);
    place[e] += rowptr[i[e]];
    start[place[e] + 1]++;
  }
  for (PetscInt k = 0; k < nnz; k++) start[k + 1] += start[k];
  for (PetscCount e = 0; e < n; e++) {
    if (place[e] >= 0) source[start[place[e]]++] = (int32_t)e;
  }
  for (PetscInt k = nnz; k > 0; k--) start[k] = start[k - 1]; /* each now stands where the next began */
  start[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRCooNonzeros(Mat A, PetscInt *nnz)
{
  const PetscInt *rowptr, *col;
  PetscScalar    *val;
  PetscMemType    memtype;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, &col, &val, &memtype));
  *nnz = rowptr[A->rmap->n];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the sums of a sequential matrix, or of a block: i, j are indices there, negative where an entry does not belong to it */
PetscErrorCode MatGPUCSRCooSetUp_Private(Mat A, PetscCount n, const PetscInt i[], const PetscInt j[], GpCoo *coo)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;
  PetscInt   *place, nnz = 0;
  int32_t    *start, *source;
  GpErr       err;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRCooNonzeros(A, &nnz));
  PetscCheck((PetscInt64)nnz <= GP_OP_MOST, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "local part of %" PetscInt_FMT " nonzeros: more than the %d that 32 bits count on a device; use more MPI ranks", nnz, GP_OP_MOST);
  PetscCall(PetscMalloc3(nnz + 1, &start, n, &source, n, &place));
  PetscCall(MatGPUCSRCooFind(A, n, i, j, start, source, place));
  err = GpCooCreate(g->dev, (int32_t)nnz, start, source, coo);
  PetscCall(PetscFree3(start, source, place));
  PetscCallGp(g->dev, "making room for an assembly", err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the sums, made on the device, to the host and into the image, if there is one of this pattern */
static PetscErrorCode MatGPUCSRCooSum(Mat A, const GpCoo *coo, PetscCount n, const PetscScalar entries[], const double more[], double *sum)
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
  /* MatSetValuesCOO() will assemble, which raises the state by one where nothing is stashed */
  if (g->op) PetscCall(MatGPUCSRFollow_Private(A, &(GpCsrUpdate){.kind = GP_UPDATE_SET, .values = sum}, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* entry k < n is entries[k], later ones are more[k - n] */
PetscErrorCode MatGPUCSRCooAssemble_Private(Mat A, const GpCoo *coo, PetscCount n, const PetscScalar entries[], const double more[])
{
  Mat_GPUCSR    *g     = (Mat_GPUCSR *)A->spptr;
  const size_t   bytes = (size_t)coo->nnz * sizeof(double);
  double        *sum;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCallGp(g->dev, "making room for the sums of an assembly", GpDevAlloc(g->dev, bytes, &sum));
  err = MatGPUCSRCooSum(A, coo, n, entries, more, sum);
  GpDevFree(g->dev, &sum, bytes);
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetValuesCOO_SeqAIJGPUCSR_Device(Mat A, const PetscScalar entries[])
{
  MatGPUCSRCoo C = ((Mat_GPUCSR *)A->spptr)->coo;

  PetscFunctionBegin;
  if (!C->coo[0].dev) {
    PetscCall(MatGPUCSRCooSetUp_Private(A, C->n, C->i, C->j, &C->coo[0]));
    PetscCall(PetscFree2(C->i, C->j));
  }
  PetscCall(MatGPUCSRCooAssemble_Private(A, &C->coo[0], C->n, entries, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values to be added to the host's, or that not all ranks have on the device: by way of the host */
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

/* Are the values, of all ranks that have any, in device memory?  here: those of this rank are. */
static PetscErrorCode MatGPUCSRCooThere(Mat A, const PetscScalar entries[], PetscBool *here, PetscBool *all)
{
  Mat_GPUCSR        *g     = (Mat_GPUCSR *)A->spptr;
  const MatGPUCSRCoo C     = g->coo;
  int                there = 0, mine[2], least[2];

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  if (C && C->n && g->dev->ops->holds) PetscCallGp(g->dev, "looking for the values of an assembly", g->dev->ops->holds(g->dev, entries, &there));
  *here = (PetscBool)there;
  *all  = (PetscBool)(there && C->n < INT32_MAX);
  if (!g->mpi) PetscFunctionReturn(PETSC_SUCCESS);
  mine[0] = *all || (C && !C->n && g->dev->ops->holds);
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
  PetscCall(MatGPUCSRCooThere(A, entries, &here, &all));
  if (all && mode == INSERT_VALUES && !g->coo->never) {
    PetscCall(g->mpi ? MatSetValuesCOO_MPIAIJGPUCSR_Device(A, entries) : MatSetValuesCOO_SeqAIJGPUCSR_Device(A, entries));
    if (!g->coo->never) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (here) PetscCall(MatSetValuesCOO_GPUCSR_Host(A, entries, mode));
  else PetscCall((*g->setvaluescoo)(A, entries, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRSetCOO_Private(Mat A)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;

  PetscFunctionBegin;
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
