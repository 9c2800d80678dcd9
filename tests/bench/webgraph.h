/* Graphs that have the sizes and the distributions of in- and out-degrees published of SNAP's web graphs.  They are not those graphs. */
#ifndef GPUCSR_BENCH_WEBGRAPH_H
#define GPUCSR_BENCH_WEBGRAPH_H

#include "bench/matrices.h"

typedef struct {
  const char *name;
  int32_t     nodes, links;
  double      out[5], in[5]; /* smallest degree, quartiles and largest degree, from the SuiteSparse Matrix Collection */
} WebProfile;

static const WebProfile WebProfiles[] = {{"web-Stanford", 281903, 2312497, {0, 2, 5, 9, 255}, {0, 1, 2, 4, 38606}},
                                         {"web-NotreDame", 325729, 1497134, {0, 0, 0, 4, 3445}, {1, 1, 1, 3, 10721}},
                                         {"web-BerkStan", 685230, 7600595, {0, 3, 6, 12, 249}, {0, 1, 2, 5, 84208}},
                                         {"web-Google", 875713, 5105039, {0, 1, 3, 9, 456}, {0, 1, 1, 4, 6326}}};

/* Returns the degree at the quantile u: linear between quartiles; in the last quarter a power law up to the largest degree. */
static inline double WebQuantile(const double q[5], double power, double u)
{
  const int    k = u < 0.75 ? (int)(4 * u) : 3;
  const double t = 4 * u - k;

  return k == 3 ? fmin(q[4], q[3] * pow(1 - t, -power)) : q[k] + (q[k + 1] - q[k]) * t;
}

static inline void WebShuffle(int32_t *list, int32_t n, uint64_t *seed)
{
  for (int32_t i = n - 1; i > 0; i--) {
    const int32_t j = (int32_t)(BenchUniform(seed) * (i + 1)), e = list[i];

    list[i] = list[j];
    list[j] = e;
  }
}

/* Draws the degrees of n nodes in random order.  Their sum is the number of links, except for rounding. */
static inline void WebDegrees(const double q[5], int32_t n, int32_t links, uint64_t *seed, int32_t *degree)
{
  double low = 0, high = 2, sum = 0;

  for (int step = 0; step < 30; step++) { /* finds the exponent that gives the sum */
    const double power = 0.5 * (low + high);

    sum = 0;
    for (int32_t i = 0; i < n; i++) sum += WebQuantile(q, power, (i + 0.5) / n);
    if (sum > links) high = power;
    else low = power;
  }
  sum = 0;
  for (int32_t i = 0; i < n; i++) { /* the rounding error of a node is added to the next one */
    const double before = floor(sum);

    sum += WebQuantile(q, low, (i + 0.5) / n);
    degree[i] = (int32_t)(floor(sum) - before);
  }
  WebShuffle(degree, n, seed);
}

/*
  WebGraph - Deals the ends of a profile's links out to each other

  Input Parameters:
+ p    - the profile
- near - the chance of an end to meet one of its own host, of neighbouring nodes, unless its node is a hub; 0: all links lead anywhere

  Output Parameters:
+ from, to - to be freed by the caller
- links    - how many there are, p->links but for rounding, some of them equal
*/
static inline void WebGraph(const WebProfile *p, double near, int32_t **from, int32_t **to, int32_t *links)
{
  enum {
    HOST = 256, /* nodes */
    HUB  = 64   /* links in */
  };
  const size_t n = (size_t)p->nodes, m = (size_t)p->links;
  int32_t     *memory = (int32_t *)malloc((2 * n + 4 * m) * sizeof(int32_t)), *out = memory, *in = memory + n, *source = in + n, *target = source + m, *far1 = target + m, *far2 = far1 + m;
  int32_t      nfar1 = 0, nfar2 = 0, found = 0;
  uint64_t     seed = 88172645463325252ULL;

  *from = (int32_t *)malloc(m * sizeof(int32_t));
  *to   = (int32_t *)malloc(m * sizeof(int32_t));
  if (!memory || !*from || !*to) abort();
  WebDegrees(p->out, p->nodes, p->links, &seed, out);
  WebDegrees(p->in, p->nodes, p->links, &seed, in);
  for (int32_t first = 0; first < p->nodes; first += HOST) {
    int32_t nsource = 0, ntarget = 0;

    for (int32_t i = first; i < first + HOST && i < p->nodes; i++) {
      for (int32_t d = 0; d < out[i]; d++) *(BenchUniform(&seed) < near ? &source[nsource++] : &far1[nfar1++]) = i;
      for (int32_t d = 0; d < in[i]; d++) *(in[i] < HUB && BenchUniform(&seed) < near ? &target[ntarget++] : &far2[nfar2++]) = i;
    }
    WebShuffle(source, nsource, &seed);
    for (; nsource > ntarget; nsource--) far1[nfar1++] = source[nsource - 1];
    for (; ntarget > nsource; ntarget--) far2[nfar2++] = target[ntarget - 1];
    for (int32_t k = 0; k < nsource; k++, found++) {
      (*from)[found] = source[k];
      (*to)[found]   = target[k];
    }
  }
  WebShuffle(far1, nfar1, &seed);
  for (int32_t k = 0; k < nfar1 && k < nfar2; k++, found++) {
    (*from)[found] = far1[k];
    (*to)[found]   = far2[k];
  }
  *links = found;
  free(memory);
}

#endif
