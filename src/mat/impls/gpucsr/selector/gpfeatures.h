/* The features of a matrix: counted in one pass on the device, the same numbers on every runtime. */
#ifndef GPFEATURES_H
#define GPFEATURES_H

#include "mat/impls/gpucsr/formats/gpformat.h"

#define GP_SEL_BINS      32   /* bin b: lengths from 2^(b-1)+1 to 2^b */
#define GP_SEL_SLICE     32   /* rows */
#define GP_SEL_TILE      2048 /* nonzeros */
#define GP_SEL_NEAR      4096 /* columns */
#define GP_SEL_CLOSE     128  /* tiles, and as many slices, are looked at closely: at least so many where there are, less than twice */
#define GP_SEL_HUB       8    /* hits of a column in the sampled tiles: a share of 1/32768 */
#define GP_SEL_VALUES    256  /* distinct values are counted up to here */
#define GP_SEL_DIAGONALS 1024 /* likewise */
#define GP_SEL_PATTERNS  4096 /* likewise */
#define GP_SEL_ROW       64   /* longest row of a pattern */
#define GP_SEL_BLOCKS    4    /* block sizes */
#define GP_SEL_SPARSE    5    /* every fifth sampled nonzero is looked up in the rows above: no period of a block size */

/* Counts, so that their order does not matter.  Sets are counted to one more than their limit and are exact below it. */
typedef struct {
  int64_t rows[GP_SEL_BINS], entries[GP_SEL_BINS]; /* rows that are not empty by length, and their nonzeros */
  int64_t longest;                                 /* row */
  int64_t padded;                                  /* entries of slices padded to their longest row */
  int64_t unsorted;                                /* nonzeros not to the right of their left neighbour */
  int64_t adjoining, near;                         /* nonzeros: see features.def */
  int64_t diagonals, values, valuepatterns;
  int64_t groups, sectors;       /* of sampled tiles: groups of up to 32 nonzeros, their sectors */
  int64_t steps, slicesectors;   /* of sampled slices: steps, their sectors */
  int64_t sampled, tilesectors;  /* nonzeros of sampled tiles, the tiles' sectors */
  int64_t hubs;                  /* sampled nonzeros in hub columns */
  int64_t lookups;               /* sampled nonzeros that were looked up in the rows above */
  int64_t blocks[GP_SEL_BLOCKS]; /* those of them that are the first of their block */
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
  int32_t     longest, empty; /* row, rows */
  double      mean;           /* length of the rows that are not empty */
  GpSelCounts counts;
  double      value[GP_FEATURES];
} GpFeatures;

#if defined(__cplusplus)
extern "C" {
#endif
extern const char *const GpFeatureNames[GP_FEATURES], *const GpFeatureHelp[GP_FEATURES];
extern const int GpSelBlockSizes[GP_SEL_BLOCKS];

GpErr GpSelFeatures(const GpCsr *A, GpFeatures *F);                                      /* in two steps: */
GpErr GpSelFeaturesBegin(const GpCsr *A);                                                /* the device counts, and the host may do something else, but fetch nothing */
GpErr GpSelFeaturesEnd(const GpCsr *A, GpFeatures *F);                                   /* behind every beginning that did not fail */
void  GpSelRows(GpDev dev, int32_t m, int32_t n, const int32_t rowptr[], GpFeatures *F); /* what the host's row pointers tell, and no more */
#if defined(__cplusplus)
}
#endif
#endif
