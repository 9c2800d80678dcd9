/* Functions of the CUDA implementation of sparse products that several files call. They exist only if GP_HAVE_CUDA is set. All arrays are device memory. */
#ifndef GPSPGEMMCUDA_H
#define GPSPGEMMCUDA_H

#include "mat/impls/gpucsr/spgemm/gpspgemmimpl.h"

#define GP_SPGEMM_SOME  2048  /* 8 threads compute rows with at most this many products */
#define GP_SPGEMM_MANY  65536 /* a warp computes rows with at most this many products */
#define GP_SPGEMM_GROUP 24    /* maximum number of consecutive rows of A with equal patterns that share their work; a multiple of the usual block sizes */
#define GP_SPGEMM_RATIO 24    /* maximum size of the map in bytes for each nonzero of C: a map takes at most twice the memory of C */

/* Results that the host reads between the steps of the symbolic phase. */
struct GpSpgemmCounts {
  unsigned long long total;                   /* number of products or of nonzeros */
  unsigned long long placed;                  /* number of products of rows with a map */
  unsigned long long mapped;                  /* size of the map in bytes */
  unsigned           number[GP_SPGEMM_SORTS]; /* number of rows of each class, and of items of each list */
  unsigned           taken[GP_SPGEMM_SORTS];  /* number of places of each list that have been written */
  unsigned           unsorted;                /* one more than the number of a row of B whose columns do not ascend; 0: there is none */
  unsigned           overflows;               /* number of rows with more than GP_SPGEMM_HASHED nonzeros */
  unsigned           followers;               /* number of rows of A with the pattern of the previous row */
};

/* Workspace of the symbolic phase, in device memory. */
struct GpSpgemmWork {
  int64_t        *products; /* [m] */
  int32_t        *count;    /* [m+1] number of nonzeros of each row; then row starts */
  int32_t        *row;      /* [m] rows by class */
  uint8_t        *follows;  /* [m] 1: the row of A has the pattern of the previous row, so the row of C is a copy of the previous one (a follower). NULL: no row */
  int32_t        *overflow; /* rows of class GP_SPGEMM_MEDIUM that turned out to be large */
  GpSpgemmCounts *counts;
  int32_t         rows[GP_SPGEMM_CLASSES]; /* on the host: number of rows of each class */
};

/* spgemmclass_cuda.cu. counting 1, or rowptr NULL: the numbers of nonzeros are not known yet. The classes then come from the numbers of products, and followers are in no class. */
GpErr GpSpgemmCountProducts_CUDA(const GpCsr *A, const GpCsr *B, int64_t *products, GpSpgemmCounts *counts);
GpErr GpSpgemmCountClasses_CUDA(GpSpgemm P, const GpSpgemmWork *W, int counting);
GpErr GpSpgemmWriteLists_CUDA(GpSpgemm P, const GpSpgemmWork *W, const int32_t *rowptr, const int32_t number[GP_SPGEMM_CLASSES], int32_t *row);
GpErr GpSpgemmScan_CUDA(GpDev dev, int64_t n, int64_t *inout);

/* spgemmfollow_cuda.cu: rows of A with the pattern of the previous row */
GpErr GpSpgemmFindFollowers_CUDA(const GpCsr *A, const GpSpgemmWork *W);
GpErr GpSpgemmFollowCounts_CUDA(GpSpgemm P, const GpSpgemmWork *W);
GpErr GpSpgemmFollowColumns_CUDA(GpSpgemm P, const GpSpgemmWork *W, GpCsr *C);
GpErr GpSpgemmFinishMap_CUDA(GpSpgemm P, const GpSpgemmWork *W, const int32_t *rowptr);

/* spgemmcount_cuda.cu: the number of nonzeros of the rows of a class. Rows of class GP_SPGEMM_MEDIUM with more than GP_SPGEMM_HASHED nonzeros are appended to `overflow`; their numbers are not written. */
GpErr GpSpgemmCountRows_CUDA(GpSpgemm P, int kind, const GpCsr *A, const GpCsr *B, const int32_t *list, int32_t n, int32_t *count, int32_t *overflow, GpSpgemmCounts *counts);

/* spgemmfill_cuda.cu: the columns of the rows of a class except followers, and the map */
GpErr GpSpgemmFillRows_CUDA(GpSpgemm P, int kind, const GpCsr *A, const GpCsr *B, const uint8_t *follows, const int32_t *list, int32_t n, GpCsr *C);

/* spgemmlarge_cuda.cu: rows of class GP_SPGEMM_LARGE except followers. C NULL: counts the nonzeros; otherwise writes the columns. */
GpErr GpSpgemmLargeRows_CUDA(GpSpgemm P, const GpCsr *A, const GpCsr *B, const uint8_t *follows, const int32_t *list, int32_t n, int32_t *count, GpCsr *C);

/* spgemmlong_cuda.cu: values of the items of list GP_SPGEMM_ITEM_LONG */
GpErr GpSpgemmLongItems_CUDA(GpSpgemm P, const GpCsr *A, const GpCsr *B, const GpSpgemmItem *items, int32_t n, GpCsr *C);

#endif
