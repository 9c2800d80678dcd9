/* Diagonals: all nonzeros whose column and row differ by one number, laid out by rows; rows without one have a hole (gphole.h). */
#ifndef GPDIA_H
#define GPDIA_H

#include "mat/impls/gpucsr/formats/gphole.h"
#include "mat/impls/gpucsr/formats/gpformat.h"

#define GP_DIA_MOST  128 /* a power of two */
#define GP_DIA_CROWD 40  /* warps on a multiprocessor that leave a thread 48 registers for what it reads ahead; up to there threads share rows */

typedef struct {
  int32_t n;                   /* diagonals */
  int32_t parts;               /* threads that share a row: each takes neighbouring diagonals */
  int64_t stride;              /* rows, rounded up to whole lines of memory */
  int32_t offset[GP_DIA_MOST]; /* column less row, ascending */
  void   *value;               /* [n * stride] */
} GpDia;

#endif
