/* The pass over tiles, CUDA implementation (passtiles.h).  A thread block processes a chunk and writes its row sums.  For each run, a second kernel adds the row sums of the chunks in the order
   of the chunks.  SMACOFProcessRun() adds them in the same order, in shared memory.  With two dimensions and single precision, the row sums of a chunk have 5 percent of the size of its
   entries. */
#include "passtiles.h"
#include "passsweep.h"

namespace {
/* consecutive chunks that are launched together */
struct SMACOFChunks {
  const SMACOFChunk *chunk; /* [n] */
  int                n;
  const void        *tile;    /* first tile of the block */
  int                unit0;   /* unit of that tile */
  double            *rowsums; /* [n][DIM + 1][H] */
};

/* Processes the chunk blockIdx.x.  The kernel is not launched early, because it must not start before the transfer of the tiles has finished.  In such a launch GpWait() has no effect. */
template <int DIM, class Real, class Stored, bool BOTH>
__global__ void __launch_bounds__(BLOCK, SMACOFShape<DIM, Real>::BUSY) SMACOFProcessChunk(const __grid_constant__ SMACOFJob q, const __grid_constant__ SMACOFChunks c)
{
  using T      = SMACOFShape<DIM, Real>;
  using Tiles  = SMACOFTiled<Stored>;
  using Layout = SMACOFShared<DIM, Real, Tiles, BOTH>;
  using Warps  = Real(*)[(DIM + 1) * T::CHUNK];
  extern __shared__ __align__(16) char shared[];
  double *const                        row = (double *)shared;
  const SMACOFRuns                    &s   = q.runs;
  const SMACOFChunk                    a   = c.chunk[blockIdx.x];
  const SMACOFPart                     g   = *SMACOFFindPart(&s, a.strip);
  const int                            i0 = SMACOFGetStripTop(&s, &g, a.strip), i1 = SMACOFGetStripBottom(&s, &g, a.strip);
  const int                            left = g.left + PASS_UNIT * (a.unit - s.unit[a.strip]), right = min(left + PASS_UNIT * a.units, SMACOFGetStripRight(&s, &g, a.strip));
  const SMACOFPlace<Tiles>             place = {(const Stored *)c.tile + (size_t)(a.unit - c.unit0) * H * PASS_UNIT, left};
  SMACOFPrefetch<T, Tiles, BOTH>       prefetch(shared + Layout::ROW + blockDim.x / 32 * Layout::COL, place);

  GpNextMayStart();
  GpWait();
  prefetch.Begin(q, i0, i1, left, right, g.bound);
  for (int k = threadIdx.x; k < (DIM + 1) * H; k += blockDim.x) row[k] = 0;
  __syncthreads();
  SMACOFSweepColumns<DIM, Real, Tiles, BOTH>(q, g, prefetch, i0, i1, left, right, row, (Warps)(shared + Layout::ROW), q.colpart + SMACOFGetColumnSums(&s, DIM + 1, a.strip) + (left - g.left), PASS_UNIT * (s.unit[a.strip + 1] - s.unit[a.strip]));
  __syncthreads();
  for (int k = threadIdx.x; k < (DIM + 1) * H; k += blockDim.x) c.rowsums[(size_t)blockIdx.x * (DIM + 1) * H + k] = row[k];
}

/* Adds the row sums of the chunks to the partial row sums of their runs, in the order of the chunks.  A thread has one of the (DIM + 1) * H sums. */
__global__ void __launch_bounds__(BLOCK) SMACOFAddChunks(const __grid_constant__ SMACOFChunks c, int sums, double *rowpart)
{
  constexpr int AHEAD = 8; /* loads in flight */
  const int     k     = blockIdx.x * BLOCK + threadIdx.x;
  size_t        at    = 0;
  double        sum   = 0;

  GpNextMayStart();
  GpWait();
  if (k >= sums * H) return;
  for (int first = 0; first < c.n; first += AHEAD) {
    double      more[AHEAD];
    SMACOFChunk a[AHEAD];

#pragma unroll
    for (int l = 0; l < AHEAD; l++) {
      const int chunk = min(first + l, c.n - 1);

      a[l]    = c.chunk[chunk];
      more[l] = c.rowsums[(size_t)chunk * sums * H + k];
    }
#pragma unroll
    for (int l = 0; l < AHEAD; l++) {
      if (first + l >= c.n) break;
      if (a[l].first || first + l == 0) {
        if (first + l) rowpart[at] = sum;
        at  = (size_t)a[l].place * sums * H + k;
        sum = a[l].first ? 0 : rowpart[at];
      }
      sum += more[l];
    }
  }
  rowpart[at] = sum;
}

/* Computes the distances of the tiles of a block.  A thread has R rows and four columns, as in SMACOFStoreDistances(), so that the distances have the same bits. */
constexpr int R = 4, THREADS = H / R * PASS_UNIT / 4;

template <class Stored>
__global__ void __launch_bounds__(BLOCK) SMACOFStoreTiles(const __grid_constant__ SMACOFPass p, const __grid_constant__ SMACOFRuns s, int unit0, Stored *tile)
{
  const int         index = blockIdx.x * BLOCK + threadIdx.x, unit = unit0 + index / THREADS, strip = SMACOFFindStrip(&s, unit);
  const SMACOFPart &g = *SMACOFFindPart(&s, strip);
  const int         i = SMACOFGetStripTop(&s, &g, strip) + index % THREADS / (PASS_UNIT / 4) * R, column = index % (PASS_UNIT / 4) * 4, j = g.left + PASS_UNIT * (unit - s.unit[strip]) + column;
  Stored *const     to = tile + (size_t)(unit - unit0) * H * PASS_UNIT + (i - SMACOFGetStripTop(&s, &g, strip)) * PASS_UNIT + column;
  double            distance[R][4];

  SMACOFComputeFeatureDistances<false>(p, p.feature, p.N, i, j, distance);
  for (int r = 0; r < R; r++) {
    for (int k = 0; k < 4; k++) to[r * PASS_UNIT + k] = (Stored)(p.first + i + r == j + k ? 0 : distance[r][k]);
  }
}

template <int DIM, class Real, class Stored, bool BOTH>
GpErr SMACOFLaunchChunks(GpDev dev, const SMACOFJob &q, const SMACOFChunks &c)
{
  using Layout = SMACOFShared<DIM, Real, SMACOFTiled<Stored>, BOTH>;
  int warps;

  if (GpErr err = SMACOFPrepareKernel<Layout>(dev, SMACOFProcessChunk<DIM, Real, Stored, BOTH>, &warps)) return err;
  if (GpErr err = GpLaunchVector(dev, "smacof pass over tiles", SMACOFProcessChunk<DIM, Real, Stored, BOTH>, GpGrid{(unsigned)c.n, 32u * (unsigned)warps, Layout::All(warps)}, q, c)) return err;
  return GpLaunchVector(dev, "smacof pass over tiles", SMACOFAddChunks, GpGrid{(unsigned)(((DIM + 1) * H + BLOCK - 1) / BLOCK), BLOCK}, c, DIM + 1, q.rowpart);
}

/* one part of a pass over tiles; plan is NULL for the first part, which prepares the coordinates and the sums */
struct SMACOFTilesTask {
  const SMACOFPass     *p;
  const SMACOFPassWork *w;
  const SMACOFPlan     *plan;
  const SMACOFBlock    *block;
  const void           *memory;
  int                   last;
};

template <int DIM, class Real, class Stored>
GpErr SMACOFRunTiles(GpDev dev, const SMACOFTilesTask &t)
{
  const SMACOFMemory m = SMACOFDivideMemory(dev, t.p);
  SMACOFJob          q = SMACOFCreateJob(t.p, &m, t.w->memory);

  if (!t.plan) return SMACOFPrepareCoordinates<DIM, Real>(dev, t.p, q);
  const SMACOFChunks c = {t.plan->device + t.block->chunk0, t.block->chunk1 - t.block->chunk0, t.memory, (int)t.block->begin - t.block->lead, t.plan->rowsums};

  q.runs = t.plan->runs[t.block->launch];
  if (c.n) {
    if (GpErr err = q.runs.both ? SMACOFLaunchChunks<DIM, Real, Stored, true>(dev, q, c) : SMACOFLaunchChunks<DIM, Real, Stored, false>(dev, q, c)) return err;
  }
  return t.last ? SMACOFLaunchSums<DIM>(dev, t.p, q) : GP_SUCCESS;
}

template <int DIM>
GpErr SMACOFRunTilesAs(GpDev dev, const SMACOFTilesTask &t)
{
  if (!t.p->single) return SMACOFRunTiles<DIM, double, double>(dev, t);
  return t.w->mixed ? SMACOFRunTiles<DIM, float, float>(dev, t) : SMACOFRunTiles<DIM, double, float>(dev, t);
}

GpErr SMACOFRunTask(GpDev dev, const SMACOFTilesTask &t)
{
  static GpErr (*const run[PASS_MAX_DIM])(GpDev, const SMACOFTilesTask &) = {SMACOFRunTilesAs<1>, SMACOFRunTilesAs<2>, SMACOFRunTilesAs<3>, SMACOFRunTilesAs<4>, SMACOFRunTilesAs<5>, SMACOFRunTilesAs<6>, SMACOFRunTilesAs<7>, SMACOFRunTilesAs<8>};

  return run[t.p->dim - 1](dev, t);
}

template <int DIM>
void SMACOFGetShape(bool mixed, int *busy, int *chunk)
{
  *busy  = mixed ? SMACOFShape<DIM, float>::BUSY : SMACOFShape<DIM, double>::BUSY;
  *chunk = mixed ? SMACOFShape<DIM, float>::CHUNK : SMACOFShape<DIM, double>::CHUNK;
}
} // namespace

extern "C" void SMACOFGetTileShape_CUDA(GpDev dev, const SMACOFPass *p, const SMACOFPassWork *w, int *blocks, int *chunk_units)
{
  static void (*const get[PASS_MAX_DIM])(bool, int *, int *) = {SMACOFGetShape<1>, SMACOFGetShape<2>, SMACOFGetShape<3>, SMACOFGetShape<4>, SMACOFGetShape<5>, SMACOFGetShape<6>, SMACOFGetShape<7>, SMACOFGetShape<8>};
  int busy, chunk;

  get[p->dim - 1](p->single && w->mixed, &busy, &chunk);
  static_assert(SMACOFShape<2, float>::CHUNK <= (SMACOF_TILE_LEAD + 1) * PASS_UNIT, "a block of tiles repeats all tiles of the chunk that ends in it");
  *blocks      = busy * GpDevComputeUnits(dev);
  *chunk_units = chunk / PASS_UNIT;
}

extern "C" GpErr SMACOFBeginTiles_CUDA(GpDev dev, const SMACOFPass *p, const SMACOFPassWork *w)
{
  return SMACOFRunTask(dev, {p, w, nullptr, nullptr, nullptr, 0});
}

extern "C" GpErr SMACOFAddTiles_CUDA(GpDev dev, const SMACOFPass *p, const SMACOFPassWork *w, const SMACOFPlan *plan, const SMACOFBlock *block, const void *memory, int last)
{
  return SMACOFRunTask(dev, {p, w, plan, block, memory, last});
}

extern "C" GpErr SMACOFStoreTiles_CUDA(GpDev dev, const SMACOFPass *p, const SMACOFRuns *s, const SMACOFBlock *block, void *memory)
{
  const int    unit0 = (int)block->begin - block->lead;
  const GpGrid grid  = {(unsigned)(((int)block->end - unit0) * (THREADS / BLOCK)), BLOCK};

  if (p->single) return GpLaunchVector(dev, "distances between features", SMACOFStoreTiles<float>, grid, *p, *s, unit0, (float *)memory);
  return GpLaunchVector(dev, "distances between features", SMACOFStoreTiles<double>, grid, *p, *s, unit0, (double *)memory);
}
