/* MatSetPreallocationCOO() and MatSetValuesCOO().  Values on the host are PETSc's business: it adds them up there in any case, and the
   next product uploads less than they are.  Values that a kernel of the user's left in device memory are added up there, and the
   sums brought to the host, which stays the truth. */
#include "mat/impls/gpucsr/gpucsrimpl.h"

/* What a sequential matrix remembers of the entries: their indices, until values come from the device for the first time; from then
   on which entries make up which nonzero. */
struct _n_MatGPUCSRCoo {
  PetscCount n;
  PetscInt  *i, *j;
  GpCoo      coo;
};

PetscErrorCode MatGPUCSRCooDestroy_Private(MatGPUCSRCoo *C)
{
  PetscFunctionBegin;
  if (!*C) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree2((*C)->i, (*C)->j));
  GpCooDestroy(&(*C)->coo);
  PetscCall(PetscFree(*C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetPreallocationCOO_GPUCSR(Mat A, PetscCount n, PetscInt i[], PetscInt j[])
{
  Mat_GPUCSR  *g = (Mat_GPUCSR *)A->spptr;
  MatGPUCSRCoo C;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRCooDestroy_Private(&g->coo));
  if (g->dev->ops->holds) { /* PETSc sorts the indices in place */
    PetscCall(PetscNew(&g->coo));
    C    = g->coo;
    C->n = n;
    if (!g->mpi) {
      PetscCall(PetscMalloc2(n, &C->i, n, &C->j));
      PetscCall(PetscArraycpy(C->i, i, n));
      PetscCall(PetscArraycpy(C->j, j, n));
    }
  }
  PetscCall((*g->preallocatecoo)(A, n, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* start, source: the entries of every nonzero, in the order in which they were given */
static PetscErrorCode MatGPUCSRCooFind(Mat A, MatGPUCSRCoo C, int32_t start[], int32_t source[], PetscInt place[])
{
  const PetscInt *rowptr, *col;
  PetscScalar    *val;
  PetscMemType    memtype;
  PetscInt        nnz;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, &col, &val, &memtype));
  nnz = rowptr[A->rmap->n];
  for (PetscInt k = 0; k <= nnz; k++) start[k] = 0;
  for (PetscCount e = 0; e < C->n; e++) {
    const PetscInt i = C->i[e], j = C->j[e];

    place[e] = -1;
    if (i < 0 || j < 0) continue;
    PetscCall(PetscFindInt(j, rowptr[i + 1] - rowptr[i], col + rowptr[i], &place[e]));
    PetscCheck(place[e] >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "row %" PetscInt_FMT ", column %" PetscInt_FMT ": not in the pattern that MatSetPreallocationCOO() made", i, j);
    place[e] += rowptr[i];
    start[place[e] + 1]++;
  }
  for (PetscInt k = 0; k < nnz; k++) start[k + 1] += start[k];
  for (PetscCount e = 0; e < C->n; e++) {
    if (place[e] >= 0) source[start[place[e]]++] = (int32_t)e;
  }
  for (PetscInt k = nnz; k > 0; k--) start[k] = start[k - 1]; /* each now stands where the next began */
  start[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRCooSetUp(Mat A, MatGPUCSRCoo C, PetscInt nnz)
{
  Mat_GPUCSR *g = (Mat_GPUCSR *)A->spptr;
  PetscInt   *place;
  int32_t    *start, *source;
  GpErr       err;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nnz + 1, &start, C->n, &source, C->n, &place));
  PetscCall(MatGPUCSRCooFind(A, C, start, source, place));
  err = GpCooCreate(g->dev, (int32_t)nnz, start, source, &C->coo);
  PetscCall(PetscFree3(start, source, place));
  PetscCallGp(g->dev, "making room for an assembly", err);
  PetscCall(PetscFree2(C->i, C->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the sums, made on the device, to the host and into the image */
static PetscErrorCode MatGPUCSRCooSum(Mat A, const PetscScalar entries[], double sum[], size_t bytes)
{
  Mat_GPUCSR  *g = (Mat_GPUCSR *)A->spptr;
  PetscScalar *val;

  PetscFunctionBegin;
  PetscCallGp(g->dev, "assembling", GpCooSum(&g->coo->coo, entries, sum));
  PetscCall(MatSeqAIJGetArray(A, &val));
  PetscCallGp(g->dev, "downloading the assembled values", GpDevDownload(g->dev, val, sum, bytes));
  PetscCall(MatSeqAIJRestoreArray(A, &val));
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  /* MatSetValuesCOO() will assemble, which raises the state by one where nothing is stashed */
  PetscCall(MatGPUCSRFollow_Private(A, &(GpCsrUpdate){.kind = GP_UPDATE_SET, .values = sum}, NULL, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetValuesCOO_SeqAIJGPUCSR_Device(Mat A, const PetscScalar entries[])
{
  Mat_GPUCSR    *g = (Mat_GPUCSR *)A->spptr;
  GpOp           op;
  double        *sum;
  size_t         bytes;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetCurrent_Private(A, &op));
  if (!op) PetscCall(MatGPUCSRGetOperator_Private(A, PETSC_FALSE, &op)); /* the pattern at least will stay */
  if (!g->coo->coo.dev) PetscCall(MatGPUCSRCooSetUp(A, g->coo, op->side[0].csr.nnz));
  bytes = (size_t)op->side[0].csr.nnz * sizeof(double);
  PetscCallGp(g->dev, "making room for the sums of an assembly", GpDevAlloc(g->dev, bytes, &sum));
  err = MatGPUCSRCooSum(A, entries, sum, bytes);
  GpDevFree(g->dev, &sum, bytes);
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* entries of other ranks, or values to be added to the host's: by way of the host */
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

static PetscErrorCode MatSetValuesCOO_GPUCSR(Mat A, const PetscScalar entries[], InsertMode mode)
{
  Mat_GPUCSR *g     = (Mat_GPUCSR *)A->spptr;
  int         there = 0;

  PetscFunctionBegin;
  PetscCall(PetscGPUCSRGetDevice_Private(&g->dev));
  if (g->coo && g->coo->n) PetscCallGp(g->dev, "looking for the values of an assembly", g->dev->ops->holds(g->dev, entries, &there));
  if (!there) PetscCall((*g->setvaluescoo)(A, entries, mode));
  else if (!g->mpi && mode == INSERT_VALUES && g->coo->n < INT32_MAX) PetscCall(MatSetValuesCOO_SeqAIJGPUCSR_Device(A, entries));
  else PetscCall(MatSetValuesCOO_GPUCSR_Host(A, entries, mode));
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
