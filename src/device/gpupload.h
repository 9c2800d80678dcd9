/* Copies of large arrays in pageable memory by several threads of the host. A single thread fills pinned buffers more slowly than the link to the device transfers them. */
#ifndef GPUPLOAD_H
#define GPUPLOAD_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Like GpDevUploadFilled(), but several threads call fill() at the same time, each for another piece. fill() must not call functions of MPI, PETSc or GpDev. If fill is NULL, the array at
   `context` is copied. threads: number of threads; 0: one for each core that the process may use, at most 16. One thread copies if the array is small, or if the system refuses threads or pinned memory. */
GpErr GpDevUploadByThreads(GpDev dev, int threads, void *device, size_t bytes, GpDevFill fill, void *context);

/* Like GpDevDownload(), with several threads. threads: as above. */
GpErr GpDevDownloadByThreads(GpDev dev, int threads, void *host, const void *device, size_t bytes);

#if defined(__cplusplus)
}
#endif
#endif
