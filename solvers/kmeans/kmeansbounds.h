/* Assignment with lower bounds, for hamerly.cu, yinyang.cu and elkan.cu, which differ in the number of centroids that share a bound.

   The labels are exact. Let s be a squared distance as KMeansCompare() computes it, and e a bound on its rounding error. A bound l is kept so that the
   exact distance of every skipped centroid is at least l. If sqrt(s + e) < l for the best centroid so far, the computed value of every skipped one
   is above s, so that the definition would not choose it either. */
#ifndef KMEANSBOUNDS_H
#define KMEANSBOUNDS_H

#include "solvers/kmeans/assign/kmeanseach.h"

/* An upper bound on the relative error of a sum of n products and of the few operations after it. */
GP_INLINE double KMeansRelativeError(int64_t n)
{
  return (double)(n + 16) * 0x1p-52;
}

/* A bound on the rounding error of the squared distance s of point i to any centroid. For the cosine metric it covers norms that differ from 1, by up to
   2^-23 for points that are rounded to single precision. */
GP_INLINE double KMeansError(const KMeansData *A, int64_t i, double s)
{
  if (!A->row && !A->cosine) return KMeansRelativeError(A->d) * s;
  if (A->cosine) return 4 * KMeansRelativeError(A->d) + (A->single ? 0x1p-21 : 0);
  return 4 * KMeansRelativeError(A->d) * (A->pointsquare[i] + A->bounds.largest[0]);
}

/* The squared Euclidean distance of a distance: for points of norm 1 it is twice 1 minus the inner product. */
GP_INLINE double KMeansSquared(const KMeansData *A, double distance)
{
  return A->cosine ? 2 * distance : distance;
}

/* A lower bound on the exact distance whose computed square is s, with a rounding error of at most e. */
GP_INLINE double KMeansBelow(double s, double e)
{
  return s > e ? sqrt(s - e) * (1 - 0x1p-50) : 0;
}

typedef struct {
  int32_t label;
  double  compared, squared;
} KMeansNearest;

/* Searches group g for a nearer centroid, and sets the lower bound of the group. `start` is the centroid of the label before the search. `best` is the nearest
   centroid so far. */
GP_INLINE void KMeansSearchGroup(const KMeansData *A, int64_t i, int32_t g, const KMeansNearest *start, KMeansNearest *best, int64_t *counted)
{
  const int32_t group = A->bounds.group, groups = KMeansGroups(A->k, group), from = g * group, to = A->k - from < group ? A->k : from + group;
  double       *lower = A->bounds.lower + i * groups, least = HUGE_VAL; /* least squared distance to the centroids of the group other than `best` */

  if (best->label != start->label && start->label / group == g) least = start->squared;
  for (int32_t c = from; c < to; c++) {
    double compared, squared;

    if (c == start->label) continue;
    compared = KMeansCompare(A, i, c);
    squared  = KMeansSquared(A, KMeansDistance(A, i, compared));
    (*counted)++;
    if (compared < best->compared || (compared == best->compared && c < best->label)) {
      const int32_t other = best->label / group;

      if (other == g) least = best->squared < least ? best->squared : least;
      else {
        const double below = KMeansBelow(best->squared, KMeansError(A, i, best->squared));

        if (below < lower[other]) lower[other] = below;
      }
      *best = (KMeansNearest){c, compared, squared};
    } else if (squared < least) least = squared;
  }
  lower[g] = least < HUGE_VAL ? KMeansBelow(least, KMeansError(A, i, least)) : HUGE_VAL;
}

/* The assignment of point i. */
GP_INLINE KMeansFound KMeansFindBounded(const KMeansData *A, int64_t i)
{
  const int32_t groups = KMeansGroups(A->k, A->bounds.group), label = A->label[i];
  double       *lower = A->bounds.lower + i * groups, below = HUGE_VAL, upper;
  int64_t       counted = 1;
  KMeansNearest start, best;

  start.label    = label < 0 ? 0 : label;
  start.compared = KMeansCompare(A, i, start.label);
  start.squared  = KMeansSquared(A, KMeansDistance(A, i, start.compared));
  best           = start;
  upper          = sqrt(start.squared + KMeansError(A, i, start.squared)) * (1 + 0x1p-50);
  for (int32_t g = 0; g < groups; g++) {
    const double bound = label < 0 ? 0 : (lower[g] - A->bounds.groupmoved[g]) * (1 - 0x1p-50);

    lower[g] = bound > 0 ? bound : 0;
    if (lower[g] < below) below = lower[g];
  }
  if (!(upper < below || upper < A->bounds.half[start.label])) {
    for (int32_t g = 0; g < groups; g++) {
      if (upper < lower[g]) continue;
      KMeansSearchGroup(A, i, g, &start, &best, &counted);
      upper = sqrt(best.squared + KMeansError(A, i, best.squared)) * (1 + 0x1p-50);
    }
  }
  return (KMeansFound){best.label, best.compared, counted};
}

#endif
