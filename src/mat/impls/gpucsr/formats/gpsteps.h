/* What the builders of formats include: the formats, and steps to build them in. */
#ifndef GPFORMATSTEPS_H
#define GPFORMATSTEPS_H

#include "device/gpsteps.h"
#include "mat/impls/gpucsr/formats/gpformat.h"

#endif
