/* The functions of KMeansScoreKernels. No include guard: kmeansscores.c includes this file for each instruction set, with KMEANS_TARGET, the attribute of
   the functions; KMEANS_LANES, the number of floats in a vector; and KMEANS_NAME(), their names. */

typedef float KMEANS_NAME(KMeansVector) __attribute__((vector_size(4 * KMEANS_LANES)));

/* The scores of 2 vectors of points and a tile of centroids stay in registers. */
KMEANS_TARGET static void KMEANS_NAME(KMeansScore)(int32_t count, const float *x, const float *m, int first, float *score)
{
  typedef KMEANS_NAME(KMeansVector) Vector;

  for (int32_t p = 0; p < KMEANS_BLOCK; p += 2 * KMEANS_LANES) {
    const float *from = x + p / KMEANS_GROUP * count * KMEANS_GROUP + p % KMEANS_GROUP;
    Vector       a[KMEANS_TILE], b[KMEANS_TILE];

    for (int c = 0; c < KMEANS_TILE; c++) {
      a[c] = first ? (Vector){0} : *(const Vector *)(score + c * KMEANS_BLOCK + p);
      b[c] = first ? (Vector){0} : *(const Vector *)(score + c * KMEANS_BLOCK + p + KMEANS_LANES);
    }
    for (int32_t j = 0; j < count; j++) {
      const Vector s = *(const Vector *)(from + j * KMEANS_GROUP), t = *(const Vector *)(from + j * KMEANS_GROUP + KMEANS_LANES);

      for (int c = 0; c < KMEANS_TILE; c++) {
        const Vector ds = s - m[j * KMEANS_TILE + c], dt = t - m[j * KMEANS_TILE + c];

        a[c] += ds * ds;
        b[c] += dt * dt;
      }
    }
    for (int c = 0; c < KMEANS_TILE; c++) {
      *(Vector *)(score + c * KMEANS_BLOCK + p)                = a[c];
      *(Vector *)(score + c * KMEANS_BLOCK + p + KMEANS_LANES) = b[c];
    }
  }
}

/* The comparisons are written so that they become minima and maxima of vectors. Scores that are not numbers do not change `least` and `label`. */
KMEANS_TARGET static void KMEANS_NAME(KMeansReduce)(int32_t c, const float *restrict score, float *restrict least, float *restrict second, int32_t *restrict label)
{
  for (int32_t p = 0; p < KMEANS_BLOCK; p++) {
    float   l = least[p], s = second[p];
    int32_t at = label[p];

    for (int q = 0; q < KMEANS_TILE; q++) {
      const float now = score[q * KMEANS_BLOCK + p], other = now > l ? now : l;

      s  = other < s ? other : s;
      at = now < l ? c + q : at;
      l  = now < l ? now : l;
    }
    least[p]  = l;
    second[p] = s;
    label[p]  = at;
  }
}

/* The factor 1 + 2^-40 covers the rounding errors of this function. */
KMEANS_TARGET static void KMEANS_NAME(KMeansLimit)(const KMeansLimits *limits, const float *restrict least, const double *restrict norm, double *restrict limit)
{
  const KMeansLimits L = *limits;

  for (int32_t p = 0; p < KMEANS_BLOCK; p++) {
    const double m = 2 * (L.unit * norm[p] + L.coordinate), r = (sqrt(least[p] * L.grow + L.score) + m) * (1 + 2 * L.unit);
    const double R = r * L.definition + 2 * L.underflow, root = (R * (1 + 3 * L.unit) + m) * (1 + 0x1p-40), T = root * root * L.grow + L.score;

    limit[p] = T < 0x1p120 ? T : HUGE_VAL;
  }
}

static const KMeansScoreKernels KMEANS_NAME(KMeansKernels) = {KMEANS_NAME(KMeansScore), KMEANS_NAME(KMeansReduce), KMEANS_NAME(KMeansLimit)};
