/* NVIDIA's NCCL, found at run time: sends between GPUs that a stream orders and that no host waits for. */
#ifndef GPNCCL_H
#define GPNCCL_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_NCCL_ID_BYTES 128

typedef void *GpNccl; /* this process's part of a communicator */

/* the ranks with which this one exchanges, and where each one's share of a buffer begins */
typedef struct {
  int      n;
  int     *rank;   /* ascending */
  int32_t *offset; /* n + 1 of them */
} GpPeers;

/* Opens the library, once.  On failure why says what is missing. */
GpErr GpNcclLoad(int *version, char *why, size_t whylen);
GpErr GpNcclGetId(GpDev dev, unsigned char id[GP_NCCL_ID_BYTES]); /* by one rank, for all */
GpErr GpNcclCreate(GpDev dev, int size, int rank, const unsigned char id[GP_NCCL_ID_BYTES], GpNccl *nccl);
void  GpNcclDestroy(GpNccl *nccl);

/* sends every peer its share of one buffer and fills the other with theirs, many values an entry, on dev->stream */
GpErr GpNcclExchange(GpDev dev, GpNccl nccl, int many, const GpPeers *to, const double *from, const GpPeers *by, double *into);

/* adds up n arrays over all ranks, in place, on dev->stream; all ranks get the same bits */
GpErr GpNcclSum(GpDev dev, GpNccl nccl, int n, double *const array[], const size_t count[]);

#if defined(__cplusplus)
}
#endif
#endif
