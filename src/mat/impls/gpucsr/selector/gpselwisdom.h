/* The wisdom file: the kernels that measurements found to be the fastest, for the GPU, the storage and the features of a matrix. One file serves all matrices of a process. */
#ifndef GPSELWISDOM_H
#define GPSELWISDOM_H

#include "mat/impls/gpucsr/selector/gpselect.h"

/* Reads the file, which need not exist, and uses it from now on instead of an earlier one. After a failure no file is in use, and `why` has the reason. path NULL: no file. */
GpErr GpSelWisdomOpen(const char path[], char why[], size_t size);

/* Returns the kernel that was the fastest for such a matrix; -1 if none is known. */
int GpSelWisdomFind(const GpSelOptions *options, const GpCsr *A, const GpFeatures *F);

/* Appends the fastest kernel of a measurement to the file. Does nothing if no file is in use. */
GpErr GpSelWisdomAdd(const GpSelOptions *options, const GpCsr *A, const GpFeatures *F, int kernel, double seconds);

#endif
