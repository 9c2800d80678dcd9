/* Products of sparse matrices in device memory: C = A B.

   The symbolic phase computes the pattern of C, with ascending columns in each row, and a plan. The numeric phase computes the values. It can be repeated with new values on the same
   patterns. The pattern contains every entry to which a product of stored entries contributes, also if the sum is zero.

   The order of the additions to an entry of C is that of the entries in the row of A. Products and sums are rounded separately, so results have the same bits on every backend and in every run. */
#ifndef GPSPGEMM_H
#define GPSPGEMM_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_SPGEMM_MOST ((int64_t)INT32_MAX - 65536) /* upper bound on the number of nonzeros of C. The same bound holds for every matrix on the device. */

typedef struct GpSpgemm_ *GpSpgemm;

typedef struct {
  int64_t products; /* number of products of an entry of A and an entry of B */
  int64_t mapped;   /* number of products whose position in C the plan stores, in 1 or 2 bytes; consecutive rows of A with equal patterns share the positions */
  double  bytes;    /* device memory of the plan */
} GpSpgemmInfo;

/* Computes the pattern of C = A B, creates C and the plan. C has values in double precision, which are undefined until GpSpgemmNumeric(). Each row of B must have strictly ascending columns;
   otherwise the error is GP_ERR_ARGUMENT. The same error tells that C would have more than GP_SPGEMM_MOST nonzeros. After an error *plan is NULL and C is empty. */
GpErr GpSpgemmSymbolic(const GpCsr *A, const GpCsr *B, GpSpgemm *plan, GpCsr *C);

/* Computes the values of C. A and B have values in double precision and the patterns of the symbolic phase; only their sizes are checked. C has the pattern of the symbolic phase; it may be a
   copy. The host waits for nothing. */
GpErr GpSpgemmNumeric(GpSpgemm plan, const GpCsr *A, const GpCsr *B, GpCsr *C);

void GpSpgemmDestroy(GpSpgemm *plan);
void GpSpgemmGetInfo(GpSpgemm plan, GpSpgemmInfo *info);

#if defined(__cplusplus)
}
#endif
#endif
