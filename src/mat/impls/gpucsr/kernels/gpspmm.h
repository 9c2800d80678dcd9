/* Products with several vectors at once: the table made from spmm.def, and the macro that opens a twin.

   Every kernel computes y_c = A x_c, or y_c = A x_c + y_c, for up to GP_SPMM_COLUMNS columns c, with the stored values, double
   vectors and double sums, in a fixed order.  Columns are pointers, so that those of a dense matrix and those of an array of
   vectors are one thing; their entries are incx and incy apart.  Files are compiled as SpMV kernels are (gpkernel.h). */
#ifndef GPSPMM_H
#define GPSPMM_H

#include "mat/impls/gpucsr/kernels/gpkernel.h"

#define GP_SPMM_COLUMNS 64

typedef struct {
  int32_t       k;          /* columns */
  int32_t       add;        /* to what y holds? */
  int64_t       incx, incy; /* from an entry to the next */
  const double *x[GP_SPMM_COLUMNS];
  double       *y[GP_SPMM_COLUMNS]; /* no two may overlap each other or an x */
} GpColumns;

#define GP_SPMM_PASTE_(stem, runtime, value) GpSpmm_##stem##_##runtime##_##value
#define GP_SPMM_PASTE(stem, runtime, value)  GP_SPMM_PASTE_(stem, runtime, value)

/* opens the definition of a twin: GP_SPMM(mmscalar8)(const GpFmt *A, const GpColumns *columns) */
#if defined(__CUDACC__)
  #define GP_SPMM(stem) extern "C" GpErr GP_SPMM_PASTE(stem, CUDA, GP_VALUE)
#else
  #define GP_SPMM(stem) GpErr GP_SPMM_PASTE(stem, Host, GP_VALUE)
#endif

typedef GpErr (*GpSpmmFn)(const GpFmt *A, const GpColumns *columns);

typedef struct {
  const char *name;
  GpFmtId     format;
  int         width;  /* columns of the widest panel: the matrix is read once for each */
  int         fewest; /* columns worth a panel; fewer are better multiplied one by one */
  const char *help;
  GpSpmmFn    mult[GP_DEV_KINDS][GP_PRECISIONS]; /* NULL where this library was built without the runtime */
} GpSpmmRow;

enum {
#define SPMM(name, format, width, fewest, help) GP_SPMM_##name,
#include "mat/impls/gpucsr/kernels/spmm.def"
#undef SPMM
  GP_SPMM_KERNELS
};

#if defined(__cplusplus)
extern "C" {
#endif
extern const GpSpmmRow GpSpmmTable[GP_SPMM_KERNELS];
int                    GpSpmmFind(const char name[]); /* its row, or -1 */
#if defined(__cplusplus)
}
#endif
#endif
