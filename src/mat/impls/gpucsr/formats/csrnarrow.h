/* Bringing an AIJ matrix's arrays to the device: indices to 32 bits, values to the stored precision. */
#ifndef GPCSRNARROW_H
#define GPCSRNARROW_H

#include "mat/impls/gpucsr/formats/gpformat.h"
#include <petscsys.h>

GpErr GpCsrSetPattern(GpCsr *A, const PetscInt rowptr[], const PetscInt col[]); /* GP_ERR_ARGUMENT when row pointers do not ascend from 0 or a column is out of range */
GpErr GpCsrSetValues(GpCsr *A, const double val[], GpLoss *loss);               /* GP_ERR_ARGUMENT and loss->overflow when one is too large */
int   GpCsrFitsSingle(size_t n, const double val[]);                            /* does single precision hold every value? */
void  GpCsrCountRounded(size_t n, const double val[], GpLoss *loss);            /* sets loss->rounded and loss->lost */

#endif
