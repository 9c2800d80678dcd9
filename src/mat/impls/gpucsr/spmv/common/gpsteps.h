/* Header for builders of formats: the formats, and the parallel steps in which they are built. */
#ifndef GPFORMATSTEPS_H
#define GPFORMATSTEPS_H

#include "device/gpsteps.h"
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#endif
