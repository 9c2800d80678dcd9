/* Declarations that the files of this directory share. */
#ifndef GPBATCHIMPL_H
#define GPBATCHIMPL_H

#include "pc/kernels/gpbatch.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Results that kernels combine, in device memory. A row is recorded as INT32_MAX - row, so that zero means none and a maximum finds the first row. */
typedef struct {
  uint32_t           failed, range;      /* rows of GpBatchReport */
  uint32_t           missing, unsorted;  /* rows of GpBatchGetDiagonal() */
  uint32_t           longest, overflows; /* maximum number of entries of a row of a pattern; 1 if a row has visited too many columns */
  unsigned long long nnz;                /* number of nonzeros of a pattern */
  double             pivot, measure;     /* of GpBatchReport */
  uint32_t           ticket, unused;     /* for GpReduceAllBlocks() */
} GpBatchStatus;

static inline int32_t GpBatchFirstRow(uint32_t recorded)
{
  return recorded ? INT32_MAX - (int32_t)recorded : -1;
}

/* Arguments of the kernels that compute the rows of a class. */
typedef struct {
  GpBatchMatrix  A;
  GpBatchPattern P;
  GpBatchClass   part;
  double        *val;
  double        *measure; /* [rows] the row's summand of GpBatchReport.measure; of a row that fails, its pivot */
  GpBatchStatus *status;
} GpBatchWork;

/* Classes. The last one of each kind keeps the dense matrices in global memory. */
enum {
  GP_BATCH_FSAI_TILE4,
  GP_BATCH_FSAI_TILE8,
  GP_BATCH_FSAI_TILE16,
  GP_BATCH_FSAI_TILE32,
  GP_BATCH_FSAI_64,
  GP_BATCH_FSAI_128,
  GP_BATCH_FSAI_192,
  GP_BATCH_FSAI_GLOBAL
};

enum {
  GP_BATCH_SPAI_32,
  GP_BATCH_SPAI_64,
  GP_BATCH_SPAI_128,
  GP_BATCH_SPAI_BLOCK,
  GP_BATCH_SPAI_GLOBAL
};

#define GP_BATCH_WORKSPACE ((size_t)1 << 29) /* maximum size in bytes of dense matrices in global memory */

#if GP_HAVE_CUDA
GpErr GpBatchScanRows_CUDA(const GpBatchMatrix *A, GpBatchStatus *status); /* diagonal, root, missing, unsorted */
GpErr GpBatchFinish_CUDA(const GpBatchWork *work, double *partial);        /* range, pivot and the sum of measure */
GpErr GpBatchCountPattern_CUDA(const GpBatchMatrix *A, int power, double threshold, int lower, int reach, int32_t *count, GpBatchStatus *status);
GpErr GpBatchFillPattern_CUDA(const GpBatchMatrix *A, int power, double threshold, int lower, int reach, const GpBatchPattern *P);
GpErr GpBatchCountColumns_CUDA(const GpBatchMatrix *A, const GpBatchPattern *P, int reach, int32_t *columns, GpBatchStatus *status);
GpErr GpBatchFsai_CUDA(const GpBatchWork *work, int part);
GpErr GpBatchFsaiBlock_CUDA(const GpBatchWork *work, int part);
GpErr GpBatchSpai_CUDA(const GpBatchWork *work, int part);
#endif

#if defined(__cplusplus)
}
#endif
#endif
