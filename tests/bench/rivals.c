/* cuSPARSE's formats, made on the host and uploaded. */
#include "bench/rivals.h"

#include <cuda_runtime_api.h>
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE     32
#define MOST_FILL 2.0 /* largest number of stored entries per nonzero of SELL and BSR */
#define CALL(call) \
  do { \
    if (call) goto fail; \
  } while (0)

typedef enum {
  CSR,
  COO,
  SELL,
  BSR
} Format;

static const struct {
  Format            format;
  cusparseSpMVAlg_t algorithm;
  int               block;
} Rows[RIVALS] = {
#define RIVAL(name, format, algorithm, block) {format, algorithm, block},
#include "bench/rivals.def"
#undef RIVAL
};

const char *const RivalNames[RIVALS] = {
#define RIVAL(name, format, algorithm, block) #name,
#include "bench/rivals.def"
#undef RIVAL
};

struct Rival_ {
  cusparseOperation_t  op;
  cusparseSpMVAlg_t    algorithm;
  cusparseSpMatDescr_t A;
  cusparseDnVecDescr_t x, y;
  void                *buffer, *part[3]; /* device memory: offsets or rows, columns, values */
};

static cusparseHandle_t handle;

static const double One = 1, Zero = 0;

int RivalRun(void *rival)
{
  const Rival R = (Rival)rival;

  return cusparseSpMV(handle, R->op, &One, R->A, R->x, &Zero, R->y, CUDA_R_64F, R->algorithm, R->buffer);
}

void RivalDestroy(Rival *pR)
{
  Rival R = *pR;

  if (!R) return;
  if (R->A) cusparseDestroySpMat(R->A);
  if (R->x) cusparseDestroyDnVec(R->x);
  if (R->y) cusparseDestroyDnVec(R->y);
  cudaFree(R->buffer);
  for (int p = 0; p < 3; p++) cudaFree(R->part[p]);
  free(R);
  *pR = NULL;
}

static int Upload(const void *host, size_t bytes, void **device)
{
  return cudaMalloc(device, bytes ? bytes : 16) || cudaMemcpy(*device, host, bytes, cudaMemcpyHostToDevice);
}

static int MakeCoo(Rival R, const GpCsr *A, const int32_t rowptr[], cudaDataType type)
{
  int32_t *row = (int32_t *)malloc(((size_t)A->nnz + 1) * sizeof(int32_t));
  int      err = !row;

  for (int32_t i = 0; i < A->m && !err; i++)
    for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) row[k] = i;
  err = err || Upload(row, (size_t)A->nnz * sizeof(int32_t), &R->part[0]) || cusparseCreateCoo(&R->A, A->m, A->n, A->nnz, R->part[0], A->col, A->val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type);
  free(row);
  return err;
}

/* Copies values in A's precision from the device to the positions to[].  All other positions are zero. */
static int Scatter(const GpCsr *A, const int64_t to[], int64_t entries, void **device)
{
  const size_t size = GpPrecBytes(A->prec);
  char        *from = (char *)malloc((size_t)A->nnz * size + 1), *val = (char *)calloc((size_t)entries + 1, size);
  int          err = !from || !val || cudaMemcpy(from, A->val, (size_t)A->nnz * size, cudaMemcpyDeviceToHost);

  for (int32_t k = 0; k < A->nnz && !err; k++) memcpy(val + (size_t)to[k] * size, from + (size_t)k * size, size);
  err = err || Upload(val, (size_t)entries * size, device);
  free(from);
  free(val);
  return err;
}

static int MakeSell(Rival R, const GpCsr *A, const int32_t rowptr[], const int32_t col[], cudaDataType type)
{
  const int64_t slices = ((int64_t)A->m + SLICE - 1) / SLICE;
  int32_t      *offset = (int32_t *)calloc((size_t)slices + 1, sizeof(int32_t)), *column = NULL;
  int64_t      *to = (int64_t *)malloc(((size_t)A->nnz + 1) * sizeof(int64_t)), entries = 0;
  int           err = !offset || !to;

  for (int64_t s = 0; s < slices && !err; s++) {
    int32_t width = 0;

    for (int64_t i = s * SLICE; i < (s + 1) * SLICE && i < A->m; i++)
      if (rowptr[i + 1] - rowptr[i] > width) width = rowptr[i + 1] - rowptr[i];
    for (int64_t i = s * SLICE; i < (s + 1) * SLICE && i < A->m; i++)
      for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) to[k] = entries + (int64_t)(k - rowptr[i]) * SLICE + i - s * SLICE;
    entries += (int64_t)width * SLICE;
    offset[s + 1] = (int32_t)entries;
    err           = (double)entries > MOST_FILL * A->nnz + 1024;
  }
  if (!err) column = (int32_t *)malloc((size_t)entries * sizeof(int32_t) + 1);
  err = err || !column;
  for (int64_t e = 0; e < entries && !err; e++) column[e] = -1;
  for (int32_t k = 0; k < A->nnz && !err; k++) column[to[k]] = col[k];
  err = err || Upload(offset, ((size_t)slices + 1) * sizeof(int32_t), &R->part[0]) || Upload(column, (size_t)entries * sizeof(int32_t), &R->part[1]) || Scatter(A, to, entries, &R->part[2]) ||
        cusparseCreateSlicedEll(&R->A, A->m, A->n, A->nnz, entries, SLICE, R->part[0], R->part[1], R->part[2], CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type);
  free(offset);
  free(column);
  free(to);
  return err;
}

/* blocks in rows, row-major within; b^2 entries each.  The vectors must have whole blocks too, so only sizes that b divides */
static int MakeBsr(Rival R, const GpCsr *A, const int32_t rowptr[], const int32_t col[], int b, cudaDataType type)
{
  const int64_t rows = A->m / b, cols = A->n / b;
  int32_t      *offset, *column, *seen, blocks = 0;
  int64_t      *to;
  int           err;

  if (A->m % b || A->n % b) return 1;
  offset = (int32_t *)calloc((size_t)rows + 1, sizeof(int32_t));
  seen   = (int32_t *)malloc(((size_t)cols + 1) * sizeof(int32_t)); /* the latest block of a block column */
  column = (int32_t *)malloc(((size_t)A->nnz + 1) * sizeof(int32_t));
  to     = (int64_t *)malloc(((size_t)A->nnz + 1) * sizeof(int64_t));
  err    = !offset || !seen || !column || !to;
  for (int64_t j = 0; j < cols && !err; j++) seen[j] = -1;
  for (int64_t i = 0; i < A->m && !err; i++) {
    const int32_t start = offset[i / b];

    for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
      const int32_t j = col[k] / b;

      if (seen[j] < start) {
        seen[j]        = blocks;
        column[blocks] = j;
        blocks++;
      }
      to[k] = ((int64_t)seen[j] * b + i % b) * b + col[k] % b;
    }
    offset[i / b + 1] = blocks;
  }
  err = err || (double)blocks * b * b > MOST_FILL * A->nnz || Upload(offset, ((size_t)rows + 1) * sizeof(int32_t), &R->part[0]) || Upload(column, (size_t)blocks * sizeof(int32_t), &R->part[1]) ||
        Scatter(A, to, (int64_t)blocks * b * b, &R->part[2]) || cusparseCreateBsr(&R->A, rows, cols, blocks, b, b, R->part[0], R->part[1], R->part[2], CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type, CUSPARSE_ORDER_ROW);
  free(offset);
  free(seen);
  free(column);
  free(to);
  return err;
}

Rival RivalCreate(int which, const GpCsr *A, const int32_t rowptr[], const int32_t col[], int transpose, double *x, double *y)
{
  const cudaDataType type = A->prec == GP_F32 ? CUDA_R_32F : CUDA_R_64F;
  Rival              R    = (Rival)calloc(1, sizeof(*R));
  size_t             size = 0;

  if (!R || GpDevKindOf(A->dev) != GP_DEV_CUDA || !A->nnz || (transpose && Rows[which].format > COO)) goto fail;
  if (!handle) CALL(cusparseCreate(&handle));
  CALL(cudaDeviceSynchronize()); /* the next copies use another stream */
  CALL(cusparseSetStream(handle, (cudaStream_t)GpDevStream(A->dev)));
  R->op        = transpose ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
  R->algorithm = Rows[which].algorithm;
  if (Rows[which].format == CSR) CALL(cusparseCreateCsr(&R->A, A->m, A->n, A->nnz, A->rowptr, A->col, A->val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
  else if (Rows[which].format == COO) CALL(MakeCoo(R, A, rowptr, type));
  else if (Rows[which].format == SELL) CALL(MakeSell(R, A, rowptr, col, type));
  else CALL(MakeBsr(R, A, rowptr, col, Rows[which].block, type));
  CALL(cusparseCreateDnVec(&R->x, transpose ? A->m : A->n, x, CUDA_R_64F));
  CALL(cusparseCreateDnVec(&R->y, transpose ? A->n : A->m, y, CUDA_R_64F));
  CALL(cusparseSpMV_bufferSize(handle, R->op, &One, R->A, R->x, &Zero, R->y, CUDA_R_64F, R->algorithm, &size));
  CALL(cudaMalloc(&R->buffer, size ? size : 16));
  CALL(cudaDeviceSynchronize());
  CALL(cusparseSpMV_preprocess(handle, R->op, &One, R->A, R->x, &Zero, R->y, CUDA_R_64F, R->algorithm, R->buffer));
  return R;
fail:
  RivalDestroy(&R);
  (void)cudaGetLastError();
  return NULL;
}
