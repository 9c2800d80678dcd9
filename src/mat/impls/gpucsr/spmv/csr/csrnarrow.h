/* Uploads the arrays of an AIJ matrix: indices as 32 bits, values in the stored precision. Downloads indices. */
#ifndef GPCSRNARROW_H
#define GPCSRNARROW_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"
#include <petscsys.h>

/* Uploads pattern and values. GP_ERR_ARGUMENT if row pointers do not ascend from 0 or a column is out of range (*wrong is 1 then), or if a value overflows (loss->overflow). exact: 1: GP_ERR_ARGUMENT too if
   single precision rounds a value; loss->rounded is positive then. */
GpErr GpCsrSetArrays(GpCsr *A, const PetscInt rowptr[], const PetscInt col[], const double val[], int exact, GpLoss *loss, int *wrong);

GpErr GpCsrSetPattern(GpCsr *A, const PetscInt rowptr[], const PetscInt col[]);     /* GP_ERR_ARGUMENT if row pointers do not ascend from 0 or a column is out of range */
GpErr GpCsrGetIndices(GpDev dev, const int32_t device[], size_t n, PetscInt out[]); /* downloads row pointers or columns */
GpErr GpCsrSetValues(GpCsr *A, const double val[], GpLoss *loss);                   /* GP_ERR_ARGUMENT and loss->overflow if a value overflows */
/* Converts n values to single precision and updates *loss, whose positions count from `first`. Infinities and NaNs are kept as in AIJ. GP_ERR_ARGUMENT and
   loss->overflow if a finite value becomes infinite. */
GpErr GpCsrNarrow(int64_t first, size_t n, const double in[], float out[], GpLoss *loss);
/* Adds the rounding error of values that begin at position `from`. The order of the additions does not change the result. */
void GpCsrAddLoss(GpLoss *sum, const GpLoss *loss, int64_t from);
int  GpCsrFitsSingle(GpDev dev, size_t n, const double val[]);      /* returns 1 if single precision represents every value exactly */
void GpCsrCountRounded(size_t n, const double val[], GpLoss *loss); /* sets loss->rounded and loss->lost */

#endif
