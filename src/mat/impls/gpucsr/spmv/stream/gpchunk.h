/* Chunks. A chunk is a number of whole consecutive rows of a matrix, encoded without loss in one contiguous block of bytes. Chunks are transferred to a device or stored in
   files. The device decodes a chunk to compressed rows. docs/streaming.md and docs/dev/streaming.md describe the encodings.

   The functions that plan, encode and check a chunk call neither PETSc nor the device, and keep no state. So several threads may encode chunks of one matrix.
   The numbers of rows and nonzeros of the matrix have 64 bits; those of a chunk have 32. */
#ifndef GPCHUNK_H
#define GPCHUNK_H

#include "device/gpstream.h"
#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define GP_CHUNK_BYTES GP_STREAM_BYTES                  /* default upper bound on the size of a chunk as compressed rows, before it is encoded */
#define GP_CHUNK_LIMIT (((int64_t)1 << 31) - (1 << 16)) /* maximum number of rows and of nonzeros of a chunk */
#define GP_CHUNK_BLOCK 512                              /* nonzeros of a block, which is decoded independently of other blocks */
#define GP_CHUNK_ALIGN 128                              /* each section of a chunk begins at a multiple of this number of bytes */
#define GP_CHUNK_CODES 256                              /* maximum number of distinct values in the table of a chunk */
#define GP_CHUNK_WHY   240                              /* size in bytes of the reason of an error */
#define GP_CHUNK_MAGIC 0x314b4e5548435047ull            /* "GPCHUNK1"; a big-endian machine reads another number */

/* Encodings of the values. Decoding gives the precision of the matrix (prec). */
typedef enum {
  GP_CHUNK_ONE,    /* all nonzeros have one value */
  GP_CHUNK_CODE,   /* 8-bit indices into a table of values */
  GP_CHUNK_SINGLE, /* float */
  GP_CHUNK_DOUBLE, /* double */
  GP_CHUNK_VALUES  /* number of encodings */
} GpChunkValueKind;

/* Encodings of the columns. An escape is a column that the code of its nonzero cannot express. A list holds the escapes in the order of their nonzeros. The lowest column of the
   chunk is subtracted from plain columns and from the escapes of offsets. */
typedef enum {
  GP_CHUNK_PLAIN,      /* 8, 16, 24 or 32 bits a nonzero */
  GP_CHUNK_OFFSET,     /* 16-bit offsets from the base of the block; 0xffff: an escape */
  GP_CHUNK_DIFFERENCE, /* 8-bit differences from the column of the preceding nonzero; 0xff: an escape. The list holds the difference modulo 2^(8 escapebytes) */
  GP_CHUNK_COLUMNS     /* number of encodings */
} GpChunkColumnKind;

/* Sections of a chunk, in this order. */
typedef enum {
  GP_CHUNK_AT_ROWS,    /* [m] row lengths, 8, 16 or 32 bits; 0 for a long row, whose length has more bits */
  GP_CHUNK_AT_LONG,    /* [2 nlong] for each long row, in ascending order: its row in the chunk and its length, 32 bits each */
  GP_CHUNK_AT_COLUMNS, /* [nnz] codes of the columns */
  GP_CHUNK_AT_BASES,   /* [blocks] 32-bit bases; empty unless columns are offsets */
  GP_CHUNK_AT_STARTS,  /* [blocks] number of escapes before each block, 32 bits; empty with plain columns */
  GP_CHUNK_AT_ESCAPES, /* [nescapes] list of escapes, 16, 24 or 32 bits */
  GP_CHUNK_AT_TABLE,   /* [nvalues] distinct values in the precision of the matrix */
  GP_CHUNK_AT_VALUES,  /* [nnz] codes of the values, or the values themselves */
  GP_CHUNK_SECTIONS    /* number of sections */
} GpChunkSection;

/* The first bytes of a chunk. All numbers are little-endian. */
typedef struct {
  uint64_t magic;
  uint32_t version;
  uint8_t  prec, values, columns;     /* GpPrec, GpChunkValueKind, GpChunkColumnKind */
  uint8_t  rowbytes;                  /* bytes of a row length: 1, 2 or 4 */
  uint8_t  colbytes;                  /* bytes of a column's code: 1 to 4 */
  uint8_t  escapebytes;               /* bytes of an escape: 2 to 4; 0 with plain columns */
  uint8_t  zero[6];                   /* reserved */
  int64_t  first;                     /* index of the first row in the matrix */
  int32_t  m, n, nnz;                 /* numbers of rows, of columns of the matrix, and of nonzeros */
  int32_t  lowest, highest;           /* lowest and highest column of a nonzero; lowest is 0 for plain columns of 32 bits */
  uint32_t nlong, nescapes, nvalues;  /* number of long rows, of escapes, and of values in the table */
  uint64_t bytes;                     /* size of the whole chunk, a multiple of GP_CHUNK_ALIGN */
  uint64_t checksum;                  /* checksum of the whole chunk, computed with checksum 0 */
  uint64_t offset[GP_CHUNK_SECTIONS]; /* offset in bytes of each section from the start of the chunk */
  uint8_t  rest[112];                 /* reserved */
} GpChunkHeader;

/* Rows in host memory that are cut and encoded. The nonzeros of row i are entries rowptr[i] - rowptr[0] to rowptr[i+1] - rowptr[0] - 1 of col and val. Columns of a row
   need not ascend. */
typedef struct {
  int64_t       start;              /* index in the matrix of row 0 of these rows */
  int64_t       m;                  /* number of rows */
  int32_t       n;                  /* number of columns */
  GpPrec        prec;               /* precision to which values are rounded before they are encoded */
  int           plain;              /* 1: columns take 32 bits, and values the precision of the matrix, so that kernels read both from the chunk without decoding */
  int           rowbytes, colbytes; /* bytes of an integer of rowptr and of col: 4 or 8 */
  const void   *rowptr, *col;
  const double *val;
} GpChunkSource;

/* The encodings that were chosen for rows first to end - 1 of a source. */
typedef struct {
  GpChunkHeader head; /* complete except for the checksum */
  GpLoss        loss; /* rounding error of single precision; its positions count from the first nonzero of the chunk */
  int64_t       first, end;
  int64_t       nonzero;                  /* first nonzero of the chunk in col and val of the source */
  int32_t       nkeys;                    /* number of distinct values; GP_CHUNK_CODES + 1: more than the table can hold */
  uint64_t      key[GP_CHUNK_CODES];      /* bits of the distinct values, in the order of their first occurrence */
  int16_t       slot[4 * GP_CHUNK_CODES]; /* hash table: 1 + index in key[], or 0 */
} GpChunkPlan;

/* Returns the end of the chunk that begins at row `first`. The chunk has as many rows as take at most `bytes` bytes as compressed rows, but at least one row.
   The end depends on the lengths of these rows, on the precision and on `bytes` alone. */
int64_t GpChunkEnd(const GpChunkSource *A, int64_t first, size_t bytes);

/* Cuts all rows into chunks. Chunk c begins at row (*first)[c]; the last entry is m. The caller frees *first by free(). */
GpErr GpChunkCut(const GpChunkSource *A, size_t bytes, int64_t *nchunks, int64_t **first, char why[GP_CHUNK_WHY]);

/* Chooses the smallest encoding of each part and sets P->head.bytes to the size of the chunk. Returns GP_ERR_ARGUMENT if row pointers descend, a column is out of range,
   the chunk has more than GP_CHUNK_LIMIT nonzeros, or a value overflows single precision. `why` then names the row, and the column if one is wrong. */
GpErr GpChunkPlanRows(const GpChunkSource *A, int64_t first, int64_t end, GpChunkPlan *P, char why[GP_CHUNK_WHY]);

/* Writes the chunk, of P->head.bytes bytes. The source must not have changed since it was planned. */
void GpChunkEncode(const GpChunkSource *A, const GpChunkPlan *P, void *chunk);

/* Checks the header of a chunk: if it is accepted, all sections lie in the first `available` bytes. */
GpErr GpChunkCheck(const void *chunk, size_t available, char why[GP_CHUNK_WHY]);

/* Checks the header and the checksum, and that decoding reads nothing outside the sections and gives columns of the matrix. */
GpErr GpChunkVerify(const void *chunk, size_t available, char why[GP_CHUNK_WHY]);

uint64_t GpChunkChecksum(const void *chunk); /* computes the checksum, which a valid chunk has in its header */

/* Decodes a chunk in device memory, on GpDevStream(). The address of the chunk must be a multiple of GP_CHUNK_ALIGN. `head` is a copy of its header in host memory,
   which GpChunkCheck() has accepted. `workspace` is device memory of GpChunkWorkspace() bytes whose address is a multiple of 256. The arrays of A are in the workspace, or in the chunk
   if a section needs no decoding. Neither memory may change before products with A are done. A owns no memory and must not be destroyed. */
size_t GpChunkWorkspace(const GpChunkHeader *head);
GpErr  GpChunkDecode(GpDev dev, const GpChunkHeader *head, const void *chunk, void *workspace, GpCsr *A);

#if defined(__cplusplus)
}
#endif
#endif
