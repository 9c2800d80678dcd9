/* The features of a matrix: the counters of gpselscan.c, scaled so that small and large matrices compare. */
#include "mat/impls/gpucsr/selector/gpselscan.h"

#include <math.h>
#include <string.h>

const char *const GpFeatureNames[GP_FEATURES] = {
#define FEATURE(name, help) #name,
#include "mat/impls/gpucsr/selector/features.def"
#undef FEATURE
};

const char *const GpFeatureHelp[GP_FEATURES] = {
#define FEATURE(name, help) help,
#include "mat/impls/gpucsr/selector/features.def"
#undef FEATURE
};

const int GpSelBlockSizes[GP_SEL_BLOCKS] = {2, 3, 4, 6};

static double Share(double part, double whole)
{
  return whole > 0 ? part / whole : 0.0;
}

/* the sum over the bins from, ..., to-1 */
static int64_t Bins(const int64_t bins[], int from, int to)
{
  int64_t sum = 0;

  for (int b = from; b < to; b++) sum += bins[b];
  return sum;
}

static void GpSelDerive(GpFeatures *F)
{
  const GpSelCounts *C = &F->counts;
  const double       m = F->m, n = F->n, nnz = F->nnz, units = F->compute_units, full = (double)Bins(C->rows, 0, GP_SEL_BINS), mean = Share(nnz, full);
  double            *value = F->value;

  F->longest                  = (int32_t)C->longest;
  F->empty                    = (int32_t)(m - full);
  F->mean                     = mean;
  value[GP_SEL_rowsperunit]   = m / units;
  value[GP_SEL_nnzperunit]    = nnz / units;
  value[GP_SEL_xcache]        = Share(n * sizeof(double), F->cache);
  value[GP_SEL_acache]        = Share(nnz * (sizeof(int32_t) + sizeof(float)), F->cache);
  value[GP_SEL_mean]          = mean;
  value[GP_SEL_longest]       = Share((double)C->longest, mean);
  value[GP_SEL_empty]         = Share(m - full, m);
  value[GP_SEL_upto4]         = Share((double)Bins(C->rows, 0, 3), full);
  value[GP_SEL_upto8]         = Share((double)Bins(C->rows, 0, 4), full);
  value[GP_SEL_upto32]        = Share((double)Bins(C->rows, 0, 6), full);
  value[GP_SEL_upto64]        = Share((double)Bins(C->rows, 0, 7), full);
  value[GP_SEL_beyond64]      = Share((double)Bins(C->entries, 7, GP_SEL_BINS), nnz);
  value[GP_SEL_padding]       = Share((double)C->padded, nnz);
  value[GP_SEL_adjoining]     = Share((double)C->adjoining, nnz);
  value[GP_SEL_near]          = Share((double)C->near, nnz);
  value[GP_SEL_sectors]       = Share((double)C->sectors, (double)C->groups);
  value[GP_SEL_slicesectors]  = Share((double)C->slicesectors, (double)C->steps);
  value[GP_SEL_tilesectors]   = Share((double)C->tilesectors, (double)C->sampled);
  value[GP_SEL_hubs]          = Share((double)C->hubs, (double)C->sampled);
  value[GP_SEL_diagonals]     = (double)C->diagonals;
  value[GP_SEL_diagonalfill]  = Share(nnz, m * (double)C->diagonals);
  value[GP_SEL_values]        = (double)C->values;
  value[GP_SEL_valuepatterns] = (double)C->valuepatterns;
  for (int b = 0; b < GP_SEL_BLOCKS; b++) value[GP_SEL_block2 + b] = Share((double)C->lookups, (double)C->blocks[b] * GpSelBlockSizes[b] * GpSelBlockSizes[b]);
}

static int64_t Capped(int64_t count, int64_t limit)
{
  return count > limit ? limit + 1 : count;
}

GpErr GpSelFeaturesBegin(const GpCsr *A)
{
  GpDev        dev    = A->dev;
  const size_t places = sizeof(GpSelCounts), sets = GP_SET_SLOTS * sizeof(uint64_t), hits = ((size_t)A->n + 1) / 2 * 2 * sizeof(int32_t), bits = (((size_t)A->m + A->n) / 32 + 1) * sizeof(uint32_t), bytes = places + GP_SETS * sets + hits + bits;
  char        *memory;
  GpSelWork    W;
  GpErr        err;

  if (!A->nnz) return GP_SUCCESS;
  err = GpDevBorrowClean(dev, bytes, &memory);
  if (err) return err;
  W.counts = (GpSelCounts *)memory;
  for (int s = 0; s < GP_SETS; s++) W.set[s] = (uint64_t *)(memory + places + (size_t)s * sets);
  W.hits     = (int32_t *)(memory + places + GP_SETS * sets);
  W.diagonal = (uint32_t *)(memory + places + GP_SETS * sets + hits);
  err        = GP_ON_DEVICE(dev, GpSelScan, A, &W);
  if (!err) err = GpDevFetchBegin(dev, W.counts, sizeof(*W.counts));
  GpDevReturnClean(dev, &memory, bytes, 0);
  return err;
}

GpErr GpSelFeaturesEnd(const GpCsr *A, GpFeatures *F)
{
  GpDev        dev    = A->dev;
  GpSelCounts *counts = &F->counts;
  GpErr        err;

  *F  = (GpFeatures){.runtime = GpDevKindOf(dev), .compute_units = GpDevComputeUnits(dev), .cache = GpDevCacheBytes(dev), .m = A->m, .n = A->n, .nnz = A->nnz};
  err = A->nnz ? GpDevFetchEnd(dev, counts, sizeof(*counts)) : GP_SUCCESS;
  if (err) return err;
  /* the search for blocks needs ascending columns; without them report that there are no blocks */
  for (int b = 0; b < GP_SEL_BLOCKS && counts->unsorted; b++) counts->blocks[b] = counts->lookups;
  counts->values        = Capped(counts->values, GP_SEL_VALUES);
  counts->diagonals     = Capped(counts->diagonals, GP_SEL_DIAGONALS);
  counts->valuepatterns = Capped(counts->valuepatterns, GP_SEL_PATTERNS);
  GpSelDerive(F);
  return GP_SUCCESS;
}

GpErr GpSelFeatures(const GpCsr *A, GpFeatures *F)
{
  const GpErr err = GpSelFeaturesBegin(A);

  return err ? err : GpSelFeaturesEnd(A, F);
}

void GpSelRows(GpDev dev, int32_t m, int32_t n, const int32_t rowptr[], GpFeatures *F)
{
  *F = (GpFeatures){.runtime = GpDevKindOf(dev), .compute_units = GpDevComputeUnits(dev), .cache = GpDevCacheBytes(dev), .m = m, .n = n, .nnz = rowptr[m]};
  for (int32_t i = 0; i < m; i++) {
    const int32_t length = rowptr[i + 1] - rowptr[i];

    if (length > F->longest) F->longest = length;
    F->empty += length == 0;
  }
  F->mean = m > F->empty ? (double)rowptr[m] / (m - F->empty) : 0.0;
}
