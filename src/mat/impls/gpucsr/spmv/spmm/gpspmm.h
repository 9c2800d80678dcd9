/* Interface of the SpMM kernels, which multiply several vectors at once: the table made from spmm.def, and the macro that opens an implementation.

   Every kernel computes y_c = A x_c or y_c = A x_c + y_c for up to GP_SPMM_COLUMNS columns c, in a fixed order. Values have the storage precision;
   vectors and sums are double. Columns are given by pointers, so that dense matrices and arrays of vectors use the same kernels. Entries of a column
   are incx or incy apart. Files are compiled like SpMV kernels (gpkernel.h). */
#ifndef GPSPMM_H
#define GPSPMM_H

#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

#define GP_SPMM_COLUMNS 64

typedef struct {
  int32_t       k;          /* number of columns */
  int32_t       add;        /* 1: add to y; 0: overwrite y */
  int64_t       incx, incy; /* distance of consecutive entries of a column */
  const double *x[GP_SPMM_COLUMNS];
  double       *y[GP_SPMM_COLUMNS]; /* columns of y; no two may overlap, and none may overlap a column of x */
} GpColumns;

#define GP_SPMM_PASTE_(stem, runtime, value) GpSpmm_##stem##_##runtime##_##value
#define GP_SPMM_PASTE(stem, runtime, value)  GP_SPMM_PASTE_(stem, runtime, value)

/* opens the definition of an implementation: GP_SPMM(mmscalar8)(const GpFmt *A, const GpColumns *columns) */
#if defined(__CUDACC__)
  #define GP_SPMM(stem) extern "C" GpErr GP_SPMM_PASTE(stem, CUDA, GP_VALUE)
#else
  #define GP_SPMM(stem) GpErr GP_SPMM_PASTE(stem, Host, GP_VALUE)
#endif

typedef GpErr (*GpSpmmFn)(const GpFmt *A, const GpColumns *columns);

typedef struct {
  const char *name;
  GpFmtId     format;
  int         width;  /* columns of the widest panel; the matrix is read once per panel */
  int         fewest; /* fewest columns for which a panel is used; fewer are multiplied one by one */
  const char *help;
  GpSpmmFn    mult[GP_DEV_KINDS][GP_PRECISIONS]; /* implementations; NULL if the library was built without the backend */
} GpSpmmRow;

enum {
#define SPMM(name, format, width, fewest, help) GP_SPMM_##name,
#include "mat/impls/gpucsr/spmv/spmm/spmm.def"
#undef SPMM
  GP_SPMM_KERNELS
};

#if defined(__cplusplus)
extern "C" {
#endif
extern const GpSpmmRow GpSpmmTable[GP_SPMM_KERNELS];
int                    GpSpmmFind(const char name[]); /* index in GpSpmmTable, or -1 */
#if defined(__cplusplus)
}
#endif
#endif
