/* The plan of a product of sparse matrices. Files of this directory only include this header. */
#ifndef GPSPGEMMIMPL_H
#define GPSPGEMMIMPL_H

#include "mat/impls/gpucsr/spgemm/gpspgemm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Classes of rows. Rows of one class are computed by one kernel. In the numeric phase and for the columns of C, the class depends on the nonzeros of the row of C: the bound is the maximum. */
typedef enum {
  GP_SPGEMM_32,     /* 8 threads compute a row */
  GP_SPGEMM_64,     /* 8 threads */
  GP_SPGEMM_128,    /* a warp */
  GP_SPGEMM_256,    /* a warp */
  GP_SPGEMM_512,    /* columns: a thread block; values: a warp */
  GP_SPGEMM_MEDIUM, /* columns: a thread block, hash table in shared memory; values: a warp */
  GP_SPGEMM_LARGE,  /* a thread block, bitmap of the columns in shared memory */
  GP_SPGEMM_CLASSES
} GpSpgemmClass;

/* A row of C, or a part of it, that is computed without a map. */
typedef struct {
  int32_t row;
  int32_t begin, end; /* positions in the row */
} GpSpgemmItem;

/* Lists of items. Items of one list are computed by one kernel. The list depends on the size of the items: the bound is the maximum. */
typedef enum {
  GP_SPGEMM_ITEM_64,   /* 8 threads compute an item; the item is a whole row with few products */
  GP_SPGEMM_ITEM_256,  /* a warp */
  GP_SPGEMM_ITEM_512,  /* a warp */
  GP_SPGEMM_ITEM_1024, /* a warp */
  GP_SPGEMM_ITEM_LONG, /* a thread block; at most GP_SPGEMM_LONG entries */
  GP_SPGEMM_ITEMS
} GpSpgemmItemList;

#define GP_SPGEMM_LONG   8192                                  /* maximum size of an item that a thread block computes */
#define GP_SPGEMM_HASHED 2048                                  /* maximum number of nonzeros of a row of class GP_SPGEMM_MEDIUM */
#define GP_SPGEMM_SORTS  (GP_SPGEMM_CLASSES + GP_SPGEMM_ITEMS) /* classes of rows, then lists of items */

struct GpSpgemm_ {
  GpDev         dev;
  int32_t       m, k, n, annz, bnnz, nnz; /* A is m x k, B is k x n */
  int64_t       products;
  int           lanes;                   /* number of threads that read a row of B together, a power of two from 2 to 32 */
  int32_t       rows[GP_SPGEMM_CLASSES]; /* number of rows of each class */
  int32_t       items[GP_SPGEMM_ITEMS];  /* number of items of each list */
  int32_t      *row;                     /* [m] device memory: the rows, by class; NULL if one class has all rows */
  GpSpgemmItem *item;                    /* items, by list, in device memory */
  int64_t      *mapstart;                /* [m+1] device memory: position in the map of the first product of each row; -1: the row has no map. NULL: there is no map */
  uint8_t      *map;                     /* device memory: the position in the row of C of each product, in 1 byte if the row has at most 256 nonzeros, in 2 bytes otherwise */
  int64_t       mapped;                  /* size of the map in bytes */
  int64_t       placed;                  /* number of products of the rows with a map */
};

GP_PAIR(GpSpgemmFindPattern, const GpCsr *A, const GpCsr *B, GpSpgemm plan, GpCsr *C);
GP_PAIR(GpSpgemmAddProducts, GpSpgemm plan, const GpCsr *A, const GpCsr *B, GpCsr *C);

GpErr GpSpgemmRefuse(const GpCsr *A, const GpCsr *B, int64_t nnz); /* sets the error for a C with too many nonzeros */
GpErr GpSpgemmUnsorted(const GpCsr *B, int32_t row);               /* sets the error for a row of B whose columns do not ascend */

#if defined(__cplusplus)
}
#endif
#endif
