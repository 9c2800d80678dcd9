/* Keys of random draws. Point i gets the key -log(u_i) / (weight_i nearest_i), where u_i depends on the stream and on the number of the point alone. The
   point with the least key is drawn. Its probability is proportional to weight times nearest (Efraimidis and Spirakis, 2006), and the result depends neither
   on the order of the points nor on their distribution over processes. */
#ifndef KMEANSDRAW_H
#define KMEANSDRAW_H

#include "solvers/kmeans/kmeanssteps.h"

/* Returns log(u) for 0 < u < 1, with the same bits on every processor: the series of atanh after reduction to [sqrt(1/2), sqrt(2)). The error is below 4 ulp. */
GP_INLINE double KMeansLog(double u)
{
  int    exponent;
  double m = frexp(u, &exponent), s, square, sum = 0;

  if (m < 0.70710678118654752) {
    m *= 2;
    exponent--;
  }
  s      = (m - 1) / (m + 1);
  square = s * s;
  for (int power = 21; power > 0; power -= 2) sum = sum * square + 1.0 / power;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

/* Returns the bits of the key of a point. share: weight times nearest; if it is 0, the key is infinite, and the point is not drawn. */
GP_INLINE int64_t KMeansKeyBits(uint64_t stream, int64_t point, double share)
{
  double  key = HUGE_VAL;
  int64_t bits;

  if (share > 0) key = -KMeansLog(KMeansRandom(stream, (uint64_t)point)) / share;
  memcpy(&bits, &key, sizeof(bits)); /* positive doubles are ordered like their bits */
  return bits;
}

#endif
