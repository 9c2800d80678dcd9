/* Work of several threads of the host: copies of large arrays in pageable memory, and loops. A single thread fills pinned buffers more slowly than the link to the device transfers them. The threads are
   created at the first use and kept until the device is closed. */
#ifndef GPUPLOAD_H
#define GPUPLOAD_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Like GpDevUploadFilled(), but several threads call fill() at the same time, each for another piece. fill() must not call functions of MPI, PETSc or GpDev. If fill is NULL, the array at
   `context` is copied. threads: number of threads; 0: one for each core that the process may use, at most 16. One thread copies if the array is small, or if the system refuses threads or pinned memory. */
GpErr GpDevUploadByThreads(GpDev dev, int threads, void *device, size_t bytes, GpDevFill fill, void *context);

#define GP_UPLOAD_PARTS 4 /* maximum number of arrays of GpDevUploadParts() */

typedef struct {
  void     *device;
  size_t    bytes;
  GpDevFill fill; /* not NULL */
  void     *context;
} GpDevPart;

/* Uploads several arrays, one after the other in this order, without a wait between them. If several pieces fail, the error of one of them is returned. All pieces before a failed one are filled. */
GpErr GpDevUploadParts(GpDev dev, int threads, int n, const GpDevPart part[]);

/* Like GpDevDownload(), with several threads. threads: as above. */
GpErr GpDevDownloadByThreads(GpDev dev, int threads, void *host, const void *device, size_t bytes);

/* Downloads an array piece by piece and calls drain(context, offset, bytes, source) for each piece. Several threads call drain() at the same time; the rules for fill() apply. threads: as above. */
typedef GpErr (*GpDevDrain)(void *context, size_t offset, size_t bytes, const void *source);
GpErr GpDevDownloadDrained(GpDev dev, int threads, const void *device, size_t bytes, GpDevDrain drain, void *context);

/* A GpDevDrain that converts 32-bit integers to 64-bit ones. wide: the array that receives them. offset and bytes count bytes of the 32-bit integers. */
GpErr GpDevDrainWiden(void *wide, size_t offset, size_t bytes, const void *source);

/* Copies to memory that this core will not read soon, such as a pinned buffer. The stores bypass the caches, so that the lines of the destination are not read first. */
void GpDevCopyPast(void *to, const void *from, size_t bytes);

/* Asks for huge pages in an array that is about to be written. New memory then takes fewer page faults. If the system has none, ordinary pages are used. */
void GpDevAdviseHuge(void *host, size_t bytes);

/* A loop over 0 to n - 1, divided into parts of equal size. Calls body() once for each part, several parts at the same time, and returns when all are done. body() must not call functions of MPI, PETSc
   or GpDev. */
typedef void (*GpDevLoopBody)(void *context, int part, int64_t begin, int64_t end);
int  GpDevLoopParts(int64_t n, int64_t grain); /* number of parts with at least `grain` iterations each, at most 4 for each thread, so that the threads finish at about the same time; at least 1 */
void GpDevLoop(GpDev dev, int parts, int64_t n, GpDevLoopBody body, void *context);

#if defined(__cplusplus)
}
#endif
#endif
