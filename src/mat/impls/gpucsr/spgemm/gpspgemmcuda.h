/* Functions of the CUDA implementation of sparse products that several files call. They exist only if GP_HAVE_CUDA is set. All arrays are device memory. */
#ifndef GPSPGEMMCUDA_H
#define GPSPGEMMCUDA_H

#include "mat/impls/gpucsr/spgemm/gpspgemmimpl.h"

#define GP_SPGEMM_SOME 2048  /* 8 threads compute rows with at most this many products */
#define GP_SPGEMM_MANY 65536 /* a warp computes rows with at most this many products */

/* Results that the host reads between the steps of the symbolic phase. */
struct GpSpgemmCounts {
  unsigned long long total;                   /* number of products or of nonzeros */
  unsigned long long mapped;                  /* number of products in rows of at most 256 nonzeros */
  unsigned           number[GP_SPGEMM_SORTS]; /* number of rows of each class, and of items of each list */
  unsigned           taken[GP_SPGEMM_SORTS];  /* number of places of each list that have been written */
  unsigned           unsorted;                /* one more than the number of a row of B whose columns do not ascend; 0: there is none */
  unsigned           overflows;               /* number of rows with more than GP_SPGEMM_HASHED nonzeros */
};

/* spgemmclass_cuda.cu */
GpErr GpSpgemmCountProducts_CUDA(const GpCsr *A, const GpCsr *B, int64_t *products, GpSpgemmCounts *counts);
GpErr GpSpgemmCountClasses_CUDA(GpSpgemm P, const int64_t *products, const int32_t *count, GpSpgemmCounts *counts); /* count NULL: the numbers of nonzeros are not known yet */
GpErr GpSpgemmWriteLists_CUDA(GpSpgemm P, const int64_t *products, const int32_t *rowptr, const int32_t number[GP_SPGEMM_CLASSES], int32_t *row, GpSpgemmCounts *counts);
GpErr GpSpgemmScan_CUDA(GpDev dev, int64_t n, int64_t *inout);

/* spgemmcount_cuda.cu: the number of nonzeros of the rows of a class. Rows of class GP_SPGEMM_MEDIUM with more than GP_SPGEMM_HASHED nonzeros are appended to `overflow`; their numbers are not written. */
GpErr GpSpgemmCountRows_CUDA(GpSpgemm P, int kind, const GpCsr *A, const GpCsr *B, const int32_t *list, int32_t n, int32_t *count, int32_t *overflow, GpSpgemmCounts *counts);

/* spgemmfill_cuda.cu: the columns of the rows of a class, and the map */
GpErr GpSpgemmFillRows_CUDA(GpSpgemm P, int kind, const GpCsr *A, const GpCsr *B, const int32_t *list, int32_t n, GpCsr *C);

/* spgemmlarge_cuda.cu: rows of class GP_SPGEMM_LARGE. C NULL: counts the nonzeros; otherwise writes the columns. */
GpErr GpSpgemmLargeRows_CUDA(GpSpgemm P, const GpCsr *A, const GpCsr *B, const int32_t *list, int32_t n, int32_t *count, GpCsr *C);

#endif
