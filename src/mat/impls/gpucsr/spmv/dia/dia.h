/* Diagonals: all nonzeros with the same difference of column and row, stored by rows. Rows without a nonzero on a diagonal have a hole there
   (gphole.h). */
#ifndef GPDIA_H
#define GPDIA_H

#include "mat/impls/gpucsr/spmv/common/gphole.h"
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#define GP_DIA_MOST  128 /* maximum number of diagonals, a power of two */
#define GP_DIA_CROWD 40  /* maximum number of warps per multiprocessor with which a thread has 48 registers for prefetched loads; as long as there are not more, several threads share a row */

typedef struct {
  int32_t n;                   /* number of diagonals */
  int32_t parts;               /* number of threads that share a row; each takes consecutive diagonals */
  int64_t stride;              /* number of rows, rounded up to a multiple of 32 */
  int32_t offset[GP_DIA_MOST]; /* column minus row, ascending */
  void   *value;               /* [n * stride] float or double */
} GpDia;

#endif
