/* Diagonal, norms and sizes of a matrix of type gpucsrstream, computed on the host from the rows of the source. So no value is rounded. */
#include "mat/impls/gpucsr/type/streamed.h"
#include "mat/impls/gpucsr/spmv/stream/gpchunkcode.h"

/* What a pass over the rows computes. */
typedef struct {
  PetscInt     start;   /* global index of local row 0 */
  NormType     norm;    /* kind of norm */
  PetscReal    value;   /* sum of squares, or maximum of the row sums */
  PetscReal   *columns; /* [N] sums of the columns */
  PetscScalar *row;     /* one value for each row */
  PetscInt    *index;   /* column of each value, or NULL */
} MatGPUCSRValues;

/* Implements MatGPUCSRRowsUse: copies the diagonal. */
static GpErr MatGPUCSRAddDiagonal(void *context, const GpChunkSource *piece, char why[GP_CHUNK_WHY])
{
  MatGPUCSRValues *V = (MatGPUCSRValues *)context;

  (void)why;
  for (int64_t i = 0, k = 0; i < piece->m; i++) {
    const int64_t end = GpChunkRowPointer(piece, i + 1) - GpChunkRowPointer(piece, 0), row = piece->start + i;

    for (; k < end; k++)
      if (GpChunkColumn(piece, k) == V->start + row) V->row[row] = piece->val[k];
  }
  return GP_SUCCESS;
}

/* Implements MatGPUCSRRowsUse: finds the largest absolute value of each row. If several values are the largest, it takes the smallest column, as MATAIJ does. */
static GpErr MatGPUCSRAddRowMaximum(void *context, const GpChunkSource *piece, char why[GP_CHUNK_WHY])
{
  MatGPUCSRValues *V = (MatGPUCSRValues *)context;

  (void)why;
  for (int64_t i = 0, k = 0; i < piece->m; i++) {
    const int64_t end = GpChunkRowPointer(piece, i + 1) - GpChunkRowPointer(piece, 0), row = piece->start + i;

    for (; k < end; k++) {
      const PetscReal a = PetscAbsScalar(piece->val[k]), most = PetscRealPart(V->row[row]);
      const PetscInt  column = (PetscInt)GpChunkColumn(piece, k);

      if (!(a > most) && !(V->index && most > 0 && a == most && column < V->index[row])) continue;
      V->row[row] = a;
      if (V->index) V->index[row] = column;
    }
  }
  return GP_SUCCESS;
}

/* Implements MatGPUCSRRowsUse: adds to the norm. */
static GpErr MatGPUCSRAddNorm(void *context, const GpChunkSource *piece, char why[GP_CHUNK_WHY])
{
  MatGPUCSRValues *V = (MatGPUCSRValues *)context;

  (void)why;
  for (int64_t i = 0, k = 0; i < piece->m; i++) {
    const int64_t end = GpChunkRowPointer(piece, i + 1) - GpChunkRowPointer(piece, 0);
    PetscReal     sum = 0;

    for (; k < end; k++) {
      const PetscReal a = PetscAbsScalar(piece->val[k]);

      if (V->norm == NORM_1) V->columns[GpChunkColumn(piece, k)] += a;
      else sum += V->norm == NORM_FROBENIUS ? a * a : a;
    }
    V->value = V->norm == NORM_FROBENIUS ? V->value + sum : PetscMax(V->value, sum);
  }
  return GP_SUCCESS;
}

/* Visits all rows. Raises an error on all ranks if one rank fails. */
static PetscErrorCode MatGPUCSRVisit(Mat A, MatGPUCSRRowsUse use, MatGPUCSRValues *V)
{
  PetscErrorCode err;

  PetscFunctionBegin;
  V->start = A->rmap->rstart;
  err      = MatGPUCSRRowsVisitAll_Private(&((Mat_GPUCSRStream *)A->spptr)->rows, use, V);
  PetscCall(MatGPUCSRAgree_Private(A, err, "Reading the rows of the matrix"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetDiagonal_GPUCSRStream(Mat A, Vec v)
{
  MatGPUCSRValues V = {0};
  PetscErrorCode  err;

  PetscFunctionBegin;
  PetscCall(VecSet(v, 0));
  PetscCall(VecGetArray(v, &V.row));
  err = MatGPUCSRVisit(A, MatGPUCSRAddDiagonal, &V);
  PetscCall(VecRestoreArray(v, &V.row));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetRowMaxAbs_GPUCSRStream(Mat A, Vec v, PetscInt index[])
{
  MatGPUCSRValues V = {.index = index};
  PetscErrorCode  err;

  PetscFunctionBegin;
  PetscCall(VecSet(v, 0));
  for (PetscInt i = 0; index && i < A->rmap->n; i++) index[i] = 0;
  PetscCall(VecGetArray(v, &V.row));
  err = MatGPUCSRVisit(A, MatGPUCSRAddRowMaximum, &V);
  PetscCall(VecRestoreArray(v, &V.row));
  PetscCall(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatNorm_GPUCSRStream(Mat A, NormType type, PetscReal *norm)
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)A);
  MatGPUCSRValues V    = {.norm = type};
  PetscMPIInt     n    = 1;
  PetscErrorCode  err;

  PetscFunctionBegin;
  PetscCheck(type == NORM_1 || type == NORM_FROBENIUS || type == NORM_INFINITY, comm, PETSC_ERR_SUP, "No %s norm of a matrix of type %s; the types are NORM_1, NORM_FROBENIUS and NORM_INFINITY", NormTypes[type], MATGPUCSRSTREAM);
  if (type == NORM_1) {
    PetscCall(GpCompatMPIIntCast(A->cmap->N, &n));
    PetscCall(PetscCalloc1(A->cmap->N, &V.columns));
  }
  err = MatGPUCSRVisit(A, MatGPUCSRAddNorm, &V);
  if (!err && type == NORM_1) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, V.columns, n, MPIU_REAL, MPIU_SUM, comm));
    for (PetscInt j = 0; j < A->cmap->N; j++) V.value = PetscMax(V.value, V.columns[j]);
  }
  PetscCall(PetscFree(V.columns));
  PetscCall(err);
  if (type != NORM_1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &V.value, 1, MPIU_REAL, type == NORM_FROBENIUS ? MPIU_SUM : MPIU_MAX, comm));
  *norm = type == NORM_FROBENIUS ? PetscSqrtReal(V.value) : V.value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums the row lengths of this rank. An error is raised on this rank only; the caller tells the other ranks. */
static PetscErrorCode MatGPUCSRCount(MatGPUCSRRows *R, PetscLogDouble *nonzeros)
{
  char  why[GP_CHUNK_WHY] = "";
  GpErr err               = GP_SUCCESS;

  PetscFunctionBegin;
  *nonzeros = 0;
  for (int64_t row = 0; !err && row < R->source.m; row += 65536) {
    GpChunkSource rows;

    err = R->source.get(R, row, PetscMin(row + 65536, R->source.m), 0, &rows, why);
    if (!err) *nonzeros += (PetscLogDouble)(GpChunkRowPointer(&rows, rows.m) - GpChunkRowPointer(&rows, 0));
  }
  PetscCall(MatGPUCSRRowsRaise_Private(R, err, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetInfo_GPUCSRStream(Mat A, MatInfoType type, MatInfo *info)
{
  Mat_GPUCSRStream *s        = (Mat_GPUCSRStream *)A->spptr;
  PetscLogDouble    value[2] = {0}; /* number of nonzeros; size of the chunks in bytes */
  PetscErrorCode    err;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  err = MatGPUCSRCount(&s->rows, &value[0]);
  if (type != MAT_LOCAL) PetscCall(MatGPUCSRAgree_Private(A, err, "Reading the row lengths of the matrix"));
  PetscCall(err);
  for (int b = 0; b < 2; b++) {
    GpOpStreamInfo i;

    if (!s->op[b] || !GpOpIsStreamed(s->op[b])) continue;
    GpOpStreamGetInfo(s->op[b]->side[0].stream, &i);
    value[1] += i.stream.bytes;
  }
  if (type != MAT_LOCAL) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, value, 2, MPIU_PETSCLOGDOUBLE, type == MAT_GLOBAL_MAX ? MPI_MAX : MPI_SUM, PetscObjectComm((PetscObject)A)));
  info->block_size = 1;
  info->nz_used = info->nz_allocated = value[0];
  info->memory                       = value[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}
