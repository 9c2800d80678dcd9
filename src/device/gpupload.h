/* Copies of large arrays in pageable memory by several threads of the host. A single thread fills pinned buffers more slowly than the link to the device transfers them. */
#ifndef GPUPLOAD_H
#define GPUPLOAD_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Does the same as GpDevUploadFilled(). Several threads call fill() at once, each for another piece, so that it must not call functions of MPI, PETSc or GpDev. threads: their
   number; 0: the default of GpFillersCount(). fill: NULL: copies the array `context`. Small arrays, and all if the system refuses threads or pinned memory, take one thread. */
GpErr GpDevUploadByThreads(GpDev dev, int threads, void *device, size_t bytes, GpDevFill fill, void *context);

/* Does the same as GpDevDownload(). */
GpErr GpDevDownloadByThreads(GpDev dev, int threads, void *host, const void *device, size_t bytes);

#if defined(__cplusplus)
}
#endif
#endif
