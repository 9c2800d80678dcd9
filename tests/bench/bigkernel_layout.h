/* Layouts of the data of bench_bigkernel.c: what the pipeline transfers. */
#ifndef GPUCSR_BENCH_BIGKERNEL_LAYOUT_H
#define GPUCSR_BENCH_BIGKERNEL_LAYOUT_H

#include "bench/bigkernel.h"
#include "device/gpstream.h"
#include "mat/impls/gpucsr/operator/gpopchunks.h"

typedef enum {
  BK_RECORDS,
  BK_USED, /* the fields that are read, record after record */
  BK_COLUMNS,
  BK_ENCODED
} BkLayoutKind;

typedef struct {
  BkProgram      p;
  BkLayoutKind   kind;
  int            assembled; /* 1: threads gather the fields in each pass; nothing is stored */
  int64_t        items;
  int64_t       *first;  /* [items + 1] first record of each item */
  size_t        *offset; /* [items + 1] where each item begins in memory */
  unsigned char *memory; /* NULL if assembled or encoded; the data of the program if the layout is that of records */
  int            pinned;
  GpOpChunks     chunks; /* if encoded */
  void          *work;   /* device memory for a decoded chunk */
  double         bytes;  /* of all items */
  double         prepare_seconds, pin_seconds;
} BkLayout;

extern const char *const BkLayoutNames[];

/* item: upper bound in bytes on the size of an item; a group that takes more is an item of its own. */
void   BkLayoutCreate(BkProgram p, BkLayoutKind kind, int assembled, size_t item, BkLayout *L);
void   BkLayoutDestroy(BkLayout *L);
BkView BkLayoutView(const BkLayout *L, int64_t item, const void *base);
GpErr  BkLayoutOpen(const BkLayout *L, int buffers, GpStream *stream); /* creates a pipeline of all items */
GpErr  BkLayoutUse(const BkLayout *L, int64_t item, const void *device, void *result);

#endif
