/* The features of a matrix, counted in one pass on the device. Host and CUDA backend give the same numbers. */
#ifndef GPFEATURES_H
#define GPFEATURES_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#define GP_SEL_BINS      32   /* bins of row lengths; bin b: lengths from 2^(b-1)+1 to 2^b */
#define GP_SEL_SLICE     32   /* rows of a slice */
#define GP_SEL_TILE      2048 /* nonzeros of a tile */
#define GP_SEL_NEAR      4096 /* columns from the diagonal within which a nonzero counts as near */
#define GP_SEL_CLOSE     128  /* sampled tiles, and sampled slices: at least as many if there are as many, and fewer than twice as many */
#define GP_SEL_HUB       8    /* nonzeros in the sampled tiles from which a column is a hub: a share of 1/32768 */
#define GP_SEL_VALUES    256  /* limit up to which distinct values are counted */
#define GP_SEL_DIAGONALS 1024 /* limit up to which diagonals are counted */
#define GP_SEL_PATTERNS  4096 /* limit up to which row patterns are counted */
#define GP_SEL_ROW       64   /* longest row that is counted as a pattern */
#define GP_SEL_BLOCKS    4    /* number of block sizes */
#define GP_SEL_SPARSE    5    /* every fifth sampled nonzero is looked up in the rows above; 5 has no common divisor with a block size */

/* Counters; their values do not depend on the order of counting. Distinct values, diagonals and patterns are counted up to one more than their limit,
   and exactly below it. */
typedef struct {
  int64_t rows[GP_SEL_BINS], entries[GP_SEL_BINS]; /* numbers of nonempty rows and of their nonzeros, by bins of the row length */
  int64_t longest;                                 /* length of the longest row */
  int64_t padded;                                  /* entries of all slices, padded to their longest row */
  int64_t unsorted;                                /* nonzeros whose column is less than that of their left neighbour */
  int64_t adjoining, near;                         /* numbers of nonzeros; see features.def */
  int64_t diagonals, values, valuepatterns;
  int64_t groups, sectors;       /* sampled tiles: groups of up to 32 nonzeros, and sectors of x in these groups */
  int64_t steps, slicesectors;   /* sampled slices: steps, and sectors of x in these steps */
  int64_t sampled, tilesectors;  /* sampled tiles: nonzeros, and sectors of x in the tiles */
  int64_t hubs;                  /* sampled nonzeros in hub columns */
  int64_t lookups;               /* sampled nonzeros that were looked up in the rows above */
  int64_t blocks[GP_SEL_BLOCKS]; /* how many of these are the first nonzero of their block, by block size */
} GpSelCounts;

enum {
#define FEATURE(name, help) GP_SEL_##name,
#include "mat/impls/gpucsr/selector/features.def"
#undef FEATURE
  GP_FEATURES
};

typedef struct {
  GpDevKind   runtime;
  int         compute_units;
  double      cache; /* bytes of the L2 cache */
  int32_t     m, n, nnz;
  int32_t     longest, empty; /* length of the longest row; number of empty rows */
  double      mean;           /* mean length of the nonempty rows */
  GpSelCounts counts;
  double      value[GP_FEATURES];
} GpFeatures;

#if defined(__cplusplus)
extern "C" {
#endif
extern const char *const GpFeatureNames[GP_FEATURES], *const GpFeatureHelp[GP_FEATURES];
extern const int GpSelBlockSizes[GP_SEL_BLOCKS];

GpErr GpSelFeatures(const GpCsr *A, GpFeatures *F); /* calls GpSelFeaturesBegin() and GpSelFeaturesEnd() */
/* starts counting on the device; the host may do other work, but no GpDevFetchBegin(), before GpSelFeaturesEnd() */
GpErr GpSelFeaturesBegin(const GpCsr *A);
GpErr GpSelFeaturesEnd(const GpCsr *A, GpFeatures *F);                                   /* must follow every successful GpSelFeaturesBegin() */
void  GpSelRows(GpDev dev, int32_t m, int32_t n, const int32_t rowptr[], GpFeatures *F); /* sets only what the row pointers in host memory tell */
#if defined(__cplusplus)
}
#endif
#endif
