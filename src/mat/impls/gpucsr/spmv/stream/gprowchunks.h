/* Functions that cut the rows of a source into chunks, and encode chunks on several threads. Files of chunks and streamed matrices share them. */
#ifndef GPROWCHUNKS_H
#define GPROWCHUNKS_H

#include "device/gpfillers.h"
#include "mat/impls/gpucsr/spmv/stream/gprowsource.h"

/* Chunk c of a matrix has rows first[c] to first[c + 1] - 1. */
typedef struct {
  int64_t  nchunks, capacity;   /* number of chunks; number of entries for which first[] has memory */
  int64_t *first;               /* [nchunks + 1]; NULL: no chunks */
  int64_t  nnz, longest, empty; /* number of nonzeros, length of the longest row, and number of rows without nonzeros */
} GpRowChunks;

/* Cuts all rows into chunks of at most `bytes` bytes as compressed rows, as GpChunkCut() does, but needs only a part of the row pointers at a time. The caller frees C->first by free(),
   after a failure too. */
GpErr GpRowSourceCut(const GpRowSource *rows, size_t bytes, GpRowChunks *C, char why[GP_CHUNK_WHY]);

/* Takes the result of an item. err is the result of the first item that failed, this one included. Returns err, or the code of a failure of its own and its reason in why. */
typedef GpErr (*GpRowTake)(void *context, int64_t item, GpErr err, char *why, size_t whylen);

/* Calls encode(context, item, NULL, ...) for items 0 to n - 1 on the threads. The calling thread calls take() for each item, in ascending order, while the threads work on later
   items. take may be NULL. Returns the first failure, whose reason is in why. n must not exceed the slots of the threads. */
GpErr GpRowRunThreads(GpFillers threads, int64_t n, GpStreamFill encode, GpRowTake take, void *context, char *why, size_t whylen);

#endif
