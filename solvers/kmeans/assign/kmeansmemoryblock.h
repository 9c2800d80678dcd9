/* A block of points of kmeansmemory.h. No include guard: that file includes this one for each precision of the points, with KMEANS_REAL, the precision;
   KMEANS_NAME(), the names of the functions; and KMEANS_ADD_SQUARE(), which adds the square of a number to a sum. */

typedef struct {
  KMEANS_REAL least, second; /* the two least scores so far */
  int32_t     label;         /* centroid of the least score */
} KMEANS_NAME(KMeansFound);

/* Compares a point with `count` centroids at m, the first of which has the number c. Feature j of the point is x[j * step]. */
GP_INLINE void KMEANS_NAME(KMeansMemorySearch)(int32_t d, const KMEANS_REAL *x, const int64_t step, const KMEANS_REAL *m, int32_t c, int32_t count, KMEANS_NAME(KMeansFound) * found)
{
  for (int32_t q = 0; q < count; q++, m += d) {
    KMEANS_REAL score = 0;

    for (int32_t j = 0; j < d; j++) {
      const KMEANS_REAL difference = x[j * step] - m[j];

      score = KMEANS_ADD_SQUARE(score, difference);
    }
    if (score < found->least) {
      found->second = found->least;
      found->least  = score;
      found->label  = c + q;
    } else if (score < found->second) found->second = score;
  }
}

/* Finds the two least scores of the points of a block. first: number of its first point. `places` is a constant. */
GP_INLINE void KMEANS_NAME(KMeansMemoryBlock)(const KMeansMemoryArgs *a, const int places, int64_t first, KMEANS_REAL *local, KMEANS_NAME(KMeansFound) found[])
{
  const KMeansData  *A = &a->data;
  const int32_t      d = A->d, many = places & KMEANS_LOCAL_CENTROIDS ? a->many : A->k;
  const KMEANS_REAL *points = (const KMEANS_REAL *)(places & KMEANS_COLUMNS ? A->column : A->value);
  KMEANS_REAL       *kept   = local + (places & KMEANS_LOCAL_POINTS ? KMEANS_THREADS * d : 0); /* centroids in local memory */

  KMEANS_EACH_THREAD(t)
  {
    KMEANS_AT_THREAD(found, t).least = KMEANS_AT_THREAD(found, t).second = (KMEANS_REAL)HUGE_VAL;
    KMEANS_AT_THREAD(found, t).label                                     = 0;
    if (places & KMEANS_LOCAL_POINTS && first + t < A->n) {
      for (int32_t j = 0; j < d; j++) local[places & KMEANS_LOCAL_COLUMNS ? j * KMEANS_THREADS + t : t * d + j] = points[places & KMEANS_COLUMNS ? (int64_t)j * A->stride + first + t : (first + t) * d + j];
    }
  }
  for (int32_t c = 0; c < A->k; c += many) {
    const int32_t      count = A->k - c < many ? A->k - c : many;
    const KMEANS_REAL *m     = (const KMEANS_REAL *)a->m + (int64_t)c * d;

    if (places & KMEANS_LOCAL_CENTROIDS) {
      KMEANS_BARRIER(); /* all threads have read the previous centroids */
      KMEANS_EACH_THREAD(t)
      {
        for (int32_t e = t; e < count * d; e += KMEANS_THREADS) kept[e] = m[e];
      }
      KMEANS_BARRIER();
      m = kept;
    }
    KMEANS_EACH_THREAD(t)
    {
      if (first + t >= A->n) continue;
      if (!(places & KMEANS_LOCAL_POINTS)) KMEANS_NAME(KMeansMemorySearch)(d, points + (first + t) * d, 1, m, c, count, &KMEANS_AT_THREAD(found, t));
      else if (places & KMEANS_LOCAL_COLUMNS) KMEANS_NAME(KMeansMemorySearch)(d, local + t, KMEANS_THREADS, m, c, count, &KMEANS_AT_THREAD(found, t));
      else KMEANS_NAME(KMeansMemorySearch)(d, local + t * d, 1, m, c, count, &KMEANS_AT_THREAD(found, t));
    }
  }
}
