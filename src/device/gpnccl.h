/* NVIDIA's NCCL, opened at run time. It exchanges data between GPUs in stream order, so that the host does not wait. */
#ifndef GPNCCL_H
#define GPNCCL_H

#include "device/gpdevice.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_NCCL_ID_BYTES 128

typedef void *GpNccl; /* communicator, an ncclComm_t */

/* The ranks with which this rank exchanges, and the part of a buffer that belongs to each. */
typedef struct {
  int      n;      /* number of ranks */
  int     *rank;   /* ranks in ascending order, n entries */
  int32_t *offset; /* start of each rank's part of the buffer, n + 1 entries */
} GpPeers;

/* Opens the library at the first call. On failure why holds the reason. */
GpErr GpNcclLoad(int *version, char *why, size_t whylen);
GpErr GpNcclGetId(GpDev dev, unsigned char id[GP_NCCL_ID_BYTES]); /* called by one rank, which sends the identifier to all others */
GpErr GpNcclCreate(GpDev dev, int size, int rank, const unsigned char id[GP_NCCL_ID_BYTES], GpNccl *nccl);
void  GpNcclDestroy(GpNccl *nccl);

/* Sends each rank in `to` its part of `from`, and receives the part of each rank in `by` into `into`, on dev->stream. Every entry has `many`
   values. */
GpErr GpNcclExchange(GpDev dev, GpNccl nccl, int many, const GpPeers *to, const double *from, const GpPeers *by, double *into);

/* Adds n arrays over all ranks, in place, on dev->stream. All ranks get the same bits. */
GpErr GpNcclSum(GpDev dev, GpNccl nccl, int n, double *const array[], const size_t count[]);

/* Adds an array of n integers over all ranks, on dev->stream. `to` receives the sums; it may be `from`. */
GpErr GpNcclSumIntegers(GpDev dev, GpNccl nccl, int64_t n, const int64_t *from, int64_t *to);

#if defined(__cplusplus)
}
#endif
#endif
