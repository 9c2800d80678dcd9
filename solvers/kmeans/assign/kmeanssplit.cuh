/* The search of `tensor` for points with up to KMEANS_DIRECT features: scores by tensor cores from coordinates that are split into two numbers of half precision.
   Scores here are the negative scores of kmeansframe.cuh plus a shift that depends on the point alone. half(c) is |m*_c|^2 / 2, as in that file.

   A coordinate y of a point is split into h, which is y rounded to half precision, and l, which is y - h rounded to half precision. A coordinate of a centroid is split into
   mh and ml in the same way. The products h mh, l mh and h ml are computed. The product l ml is left out, as it is below 2^-22 of h mh.

   A step multiplies four features of 16 points and 8 centroids. Thread 4 r + q of the warp has feature q of points r and r + 8 and of centroid r. Each feature takes four
   products, in this order:

       row of a point          h   l   h   v
       column of a centroid    mh  mh  ml  w

   In the first step the product v w adds the shift if q = 0, and one of three parts of half(c) if q > 0. The shift is v, a number of half precision, times
   w = KMEANS_SPLIT_SHIFT. In further steps w is 0.

   The shift is at least |y|^2 / 2, so that scores are positive. Positive floats are ordered like the integers of their bits, and a minimum of three integers is one
   instruction instead of two. If rounding makes the least score negative nevertheless, the point counts as undecided.

   A thread has the scores of 2 centroids of each tile of 8 centroids. A group consists of these centroids of TILES tiles. A thread keeps the least score of its groups, the
   number of the group with this score, and the least score of its other groups. After the search, the four threads of a point combine these.

   Error of a score. Let N, M, u be as in kmeansframe.cuh. The parts of a coordinate have the error 2^-22 |y| if both are normal numbers. Tensor cores may treat
   smaller numbers, which are below 2^-14, as 0. So |y* - (h + l)| <= (2^-22 + u) N + sqrt(d) 2^-13, where y* is the exact coordinate. Centroids have the same bound with M in
   the place of N. The sum of all products l ml is at most 2^-22 N M + d 2^-26. The parts of half(c) have the error 2^-30 half(c). The additions have the error r P, where

       P = (1 + 2^-7) (N M + M^2 / 2 + N^2 / 2) + 1/2

   is above the sum of the absolute values of all products. Tensor cores align the products of an addition and the sum so far to the largest exponent, and truncate
   bits below 2^-23 of it. They truncate the result of the addition in the same way (kmeanstensor_cuda.cu has the source). At most 3 D + 4 products are not 0. A step has 16 products
   and an addition at least 4, so that a step has at most four additions, each with two more truncations: of the sum so far and of the result. So
   r = (3 D + 4 + 8 STEPS) 2^-23. A point with a norm above KMEANS_SPLIT_MOST is undecided, and all points are if a centroid has such a norm, so that no number overflows. */
#ifndef KMEANSSPLIT_CUH
#define KMEANSSPLIT_CUH

#include "kmeanswarp.cuh"
#include "solvers/kmeans/screen/kmeanscopy.cuh"

#define KMEANS_SPLIT_SHIFT 4096    /* the factor w of the shift */
#define KMEANS_SPLIT_MOST  0x1p13f /* largest norm of points and centroids. Scores are then below the score of a centroid that does not exist */
#define KMEANS_SPLIT_NONE  65504   /* this times KMEANS_SPLIT_SHIFT is the value half(c) of a centroid that does not exist, in the search */

/* Returns the two parts of a number: h in the low 16 bits of the word, l in the high 16 bits. */
__device__ static inline uint32_t KMeansSplitNumber(float y)
{
  const __half h = __float2half_rn(y), l = __float2half_rn(y - __half2float(h));

  return (uint32_t)__half_as_ushort(h) | (uint32_t)__half_as_ushort(l) << 16;
}

/* Returns the sum of the two parts of a number. */
__device__ static inline float KMeansSplitSum(uint32_t parts)
{
  return __half2float(__ushort_as_half((unsigned short)parts)) + __half2float(__ushort_as_half((unsigned short)(parts >> 16)));
}

/* Returns the factor v of part q of half(c), which is v w. Part 1 is the largest. */
__device__ static inline float KMeansSplitFactor(int q)
{
  return q == 1 ? KMEANS_SPLIT_SHIFT : q == 2 ? 2 : 0x1p-10f;
}

/* Splits half(c): sets part[q] to w of its part q, and part[0] to w of the shift. A number that tensor cores may treat as 0 is set to 0. */
__device__ static inline void KMeansSplitHalf(float half, __half (&part)[4])
{
  part[0] = __float2half_rn(KMEANS_SPLIT_SHIFT);
#pragma unroll
  for (int q = 1; q < 4; q++) {
    const float w = half / KMeansSplitFactor(q);

    part[q] = fabsf(w) < 0x1p-13f ? __float2half_rn(0) : __float2half_rn(w);
    half -= __half2float(part[q]) * KMeansSplitFactor(q);
  }
}

template <int D>
struct KMeansSplit {
  static constexpr int STEPS = (D + 3) / 4; /* number of steps of four features */
  static constexpr int TILES = 4, GROUP = 2 * TILES, UNIT = 8 * TILES;
  static constexpr int THREADS = STEPS == 1 ? 768 : STEPS == 2 ? 640 : 512; /* many warps keep many products in flight */

  /* A tile in shared memory, in words of 32 bits:

     - from 0 on: for each step, the parts mh and ml of feature q of centroid r at 4 r + q
     - from LAST on: for the first step, ml and w at 4 r + q
     - from HALF on: the values half(c)
     - from ROW on: the features of each centroid in single precision, PITCH words for each. With more than 8 features they would take too much memory and are left
       out (WIDE is 0)

     PITCH and the four words behind a unit distribute the rows that the threads of a warp read together over all banks. */
  static constexpr int LAST = 32 * STEPS, HALF = LAST + 32, ROW = HALF + 8, WIDE = STEPS <= 2, PITCH = STEPS == 1 ? 4 : 12;
  static constexpr int WORDS = ROW + (WIDE ? 8 * PITCH : 0), FLOATS = TILES * WORDS + 4;

  template <class Real>
  static constexpr int POINTS = STEPS <= 4 ? 2 : 1;

  /* Position of the tile of centroid c. */
  __device__ static int32_t place(int32_t c) { return c / UNIT * FLOATS + c % UNIT / 8 * WORDS; }

  __device__ static void load(const KMeansData &A, KMeansDirectFrame<D> &F, int32_t first, int32_t last, float *centroids)
  {
    for (int32_t c = threadIdx.x; c < (last - first) * UNIT; c += blockDim.x) {
      const int32_t number = first * UNIT + c;
      float        *tile = centroids + place(c), *row = tile + ROW + c % 8 * PITCH;
      uint32_t     *parts = (uint32_t *)tile + c % 8 * 4;
      const auto    store = [=](int j, double value) {
        parts[j / 4 * 32 + j % 4] = KMeansSplitNumber((float)value);
        if (WIDE) row[j] = (float)value;
      };

      const float half = number < A.k ? (float)KMeansDirectConvert(A, F, number, store) : KMEANS_FRAME_NONE;
      __half      part[4];

      for (int j = number < A.k ? D : 0; j < 4 * STEPS; j++) store(j, 0);
      KMeansSplitHalf(number < A.k ? half : (float)KMEANS_SPLIT_NONE * KMEANS_SPLIT_SHIFT, part);
      for (int q = 0; q < 4; q++) ((uint32_t *)tile)[LAST + c % 8 * 4 + q] = parts[q] >> 16 | (uint32_t)__half_as_ushort(part[q]) << 16;
      tile[HALF + c % 8] = half;
    }
  }

  __device__ static void bound(const KMeansData &A, KMeansDirectFrame<D> &F)
  {
    const double       M = __uint_as_float(F.most), r = (3 * D + 4 + 8 * STEPS) * 0x1p-23, grow = 1 + 0x1p-7, under = F.scale * 0x1p-537, tiny = sqrt((double)D) * 0x1p-13, q = (A.d + 6) * 0x1p-53;
    const double       part    = 0x1p-22 + 0x1p-23; /* relative error of the parts of a coordinate */
    const double       e[3]    = {r * (grow * 0.5 * M * M + 0.5) + 0x1p-24 * M * M + tiny * M + A.d * 0x1p-26 + 2 * q * M * M + A.d * under * under, (r * grow + 3 * part) * M + tiny, r * grow * 0.5 + 2 * q};
    KMeansFrameNumbers numbers = {};

    for (int t = 0; t < 3; t++) F.term[t] = M <= KMEANS_SPLIT_MOST && M + 0x1p130 < F.scale * 0x1p500 ? __double2float_ru(2 * (1 + 0x1p-8) * e[t]) : INFINITY;
    numbers.largest = M;
    numbers.error   = 2 * part * M + tiny;
    KMeansFrameErrorTerms(&numbers, A.d, F.scale, KMeansFrameRelative(D), F.again);
  }

  /* Returns a mask of the lowest bits of a score, which hold the number of a group. */
  __device__ static int32_t mask(int32_t k) { return (int32_t)(0xffffffffu >> __clz(4 * ((k + UNIT - 1) / UNIT) - 1)); }

  __device__ static int32_t centroid(int32_t group, int b) { return group / 4 * UNIT + b / 2 * 8 + group % 4 * 2 + b % 2; }

  /* Returns half(c) plus the products of the features of centroid r of a tile and of y, in single precision. */
  __device__ static float sum(const float *tile, int r, float half, const float (&y)[D])
  {
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      const float4 four    = *(const float4 *)(WIDE ? tile + ROW + r * PITCH + 4 * s : tile + 32 * s + r * 4);
      const float  word[4] = {four.x, four.y, four.z, four.w};

#pragma unroll
      for (int q = 0; q < 4; q++) {
        if (4 * s + q < D) half = __fmaf_rn(y[(4 * s + q) % D], WIDE ? word[q] : KMeansSplitSum(__float_as_uint(word[q])), half);
      }
    }
    return half;
  }

  __device__ static float score(const float *centroids, int32_t c, const float (&y)[D])
  {
    const float *tile = centroids + place(c);

    return sum(tile, c % 8, tile[HALF + c % 8], y);
  }

  __device__ static unsigned near(const float *centroids, int32_t group, const float (&y)[D], float limit)
  {
    const float *tile = centroids + group / 4 * FLOATS;
    const int    r    = group % 4 * 2;
    unsigned     set  = 0;

#pragma unroll
    for (int t = 0; t < TILES; t++, tile += WORDS) {
      const float2 half = *(const float2 *)(tile + HALF + r);

      set |= (unsigned)!(sum(tile, r, half.x, y) > limit) << 2 * t;
      set |= (unsigned)!(sum(tile, r + 1, half.y, y) > limit) << (2 * t + 1);
    }
    return set;
  }

  template <class Real, int P>
  struct Tile {
    static constexpr int BLOCKS = 2 * P; /* number of blocks of 16 points */

    uint32_t a[BLOCKS][STEPS][4];
    int32_t  best[BLOCKS][2], second[BLOCKS][2]; /* bits of the two least scores of points r and r + 8 of a block */

    __device__ void load(const KMeansDirectFrame<D> &F, int32_t d, KMeansDirectWarp<Real, D, P> *W)
    {
      const int    r = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
      const Real   scale  = KMeansDirectScale(F, Real());
      const __half factor = __float2half_rn(KMeansSplitFactor(q));
      Real         centre[STEPS];

      (void)d;
#pragma unroll
      for (int s = 0; s < STEPS; s++) centre[s] = 4 * s + q < D ? KMeansDirectCentre(F, 4 * s + q, Real()) : 0;
#pragma unroll
      for (int p = 0; p < BLOCKS; p++) {
#pragma unroll
        for (int side = 0; side < 2; side++) {
          const int slot = 16 * p + r + 8 * side;
          float     sum  = 0;
          __half    shift;

#pragma unroll
          for (int s = 0; s < STEPS; s++) {
            const int      j     = 4 * s + q;
            const float    y     = j < D ? -KMeansFrameCoordinate(W->value(slot, j), centre[s], scale) : 0;
            const uint32_t parts = KMeansSplitNumber(y);

            a[p][s][side]     = parts;
            a[p][s][2 + side] = parts & 0xffff;
            sum               = __fmaf_rn(y, y, sum);
          }
          sum += __shfl_xor_sync(0xffffffffu, sum, 1);
          sum += __shfl_xor_sync(0xffffffffu, sum, 2);
          shift = __float2half_ru(fmaxf(sum * ((0.5f + 0x1p-9f) / KMEANS_SPLIT_SHIFT), 0x1p-14f));
          a[p][0][2 + side] |= (uint32_t)__half_as_ushort(q ? factor : shift) << 16;
          W->shift[slot] = __half_as_ushort(shift);
          best[p][side] = second[p][side] = __float_as_int(INFINITY);
        }
      }
    }

    /* Computes the scores of a tile of centroids. Lowers `least` to the least of them, or sets it to that if start is 1. */
    __device__ void add(const float *tile, int start, int32_t (&least)[BLOCKS][2]) const
    {
      const int   lane    = threadIdx.x % 32;
      const float none[4] = {0, 0, 0, 0};
      uint32_t    m[STEPS][2];
      float       sum[BLOCKS][4];

#pragma unroll
      for (int s = 0; s < STEPS; s++) {
        const uint32_t parts = __float_as_uint(tile[32 * s + lane]);

        m[s][0] = __byte_perm(parts, 0, 0x1010);
        m[s][1] = s ? parts >> 16 : __float_as_uint(tile[LAST + lane]);
      }
#pragma unroll
      for (int s = 0; s < STEPS; s++) {
#pragma unroll
        for (int p = 0; p < BLOCKS; p++) {
          if (s) KMeansMultiplyMatrices(sum[p], a[p][s], m[s][0], m[s][1], sum[p]);
          else KMeansMultiplyMatrices(sum[p], a[p][0], m[0][0], m[0][1], none);
        }
      }
#pragma unroll
      for (int p = 0; p < BLOCKS; p++) {
#pragma unroll
        for (int side = 0; side < 2; side++) {
          const int32_t low = __float_as_int(sum[p][2 * side]), other = __float_as_int(sum[p][2 * side + 1]);

          least[p][side] = start ? min(low, other) : __vimin3_s32(least[p][side], low, other);
        }
      }
    }

    /* Merges the least scores of a group into those of all groups. */
    __device__ void take(int32_t number, int32_t mask, const int32_t (&least)[BLOCKS][2])
    {
#pragma unroll
      for (int p = 0; p < BLOCKS; p++) {
#pragma unroll
        for (int side = 0; side < 2; side++) {
          const int32_t marked = (least[p][side] & ~mask) | number;

          second[p][side] = min(second[p][side], max(best[p][side], marked));
          best[p][side]   = min(best[p][side], marked);
        }
      }
    }

    __device__ void search(int32_t k, int32_t first, int32_t last, const float *centroids)
    {
      const int32_t rest = (k + 7) / 8 % TILES, whole = rest && last == (k + UNIT - 1) / UNIT ? last - 1 : last; /* the last unit has `rest` tiles, unless that is 0 */
      const int32_t bits = mask(k);
      int32_t       least[BLOCKS][2];

#pragma unroll 1
      for (int32_t u = first; u < whole; u++, centroids += FLOATS) {
#pragma unroll
        for (int t = 0; t < TILES; t++) add(centroids + t * WORDS, t == 0, least);
        take(4 * u + threadIdx.x % 4, bits, least);
      }
      if (whole == last) return;
      add(centroids, 1, least);
#pragma unroll 1
      for (int t = 1; t < rest; t++) add(centroids + t * WORDS, 0, least);
      take(4 * whole + threadIdx.x % 4, bits, least);
    }

    __device__ void store(const KMeansDirectFrame<D> &F, KMeansDirectWarp<Real, D, P> *W) const
    {
      (void)F;
#pragma unroll
      for (int p = 0; p < BLOCKS; p++) {
#pragma unroll
        for (int side = 0; side < 2; side++) {
          const int slot = 16 * p + threadIdx.x % 32 / 4 + 8 * side;
          int32_t   low = best[p][side], next = second[p][side];

#pragma unroll
          for (int lanes = 1; lanes < 4; lanes *= 2) {
            const int32_t low2 = __shfl_xor_sync(0xffffffffu, low, lanes), next2 = __shfl_xor_sync(0xffffffffu, next, lanes);

            next = __vimin3_s32(next, next2, max(low, low2));
            low  = min(low, low2);
          }
          W->limit[slot] = __int_as_float(low); /* the four threads of a point write the same numbers */
          W->group[slot] = next;
        }
      }
    }
  };

  /* Returns the group that contains all candidates of a point, or -1 if there is none. limit: receives the largest score of a candidate in single precision, without the shift. */
  template <class Real, int P>
  __device__ static int32_t decide(const KMeansData &A, const KMeansDirectFrame<D> &F, const KMeansDirectWarp<Real, D, P> *W, int slot, const float (&y)[D], float *limit)
  {
    const int32_t bits = mask(A.k);
    const float   best = W->limit[slot], shift = __half2float(__ushort_as_half(W->shift[slot])) * KMEANS_SPLIT_SHIFT;
    float         square = 0, norm, most;

#pragma unroll
    for (int j = 0; j < D; j++) square = __fmaf_rn(y[j], y[j], square);
    norm   = KMeansFrameNormSingle(A.d, square);
    most   = norm <= KMEANS_SPLIT_MOST ? (best + KMeansDirectError(F.term, norm)) * (1 + 0x1p-21f * (float)(bits + 1)) : INFINITY;
    *limit = most - shift;
    return best >= 0 && __int_as_float(W->group[slot]) > most ? __float_as_int(best) & bits : -1;
  }
};

#endif
