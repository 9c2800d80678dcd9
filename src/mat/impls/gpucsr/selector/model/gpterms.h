/* The terms of the cost model as functions of the features. Used by train and by the library, so that both compute the same numbers. */
#ifndef GPTERMS_H
#define GPTERMS_H

#include "mat/impls/gpucsr/spmv/panel/panel.h"
#include "mat/impls/gpucsr/selector/gpfeatures.h"
#include <math.h>

enum {
#define TERM(name, value, help) GP_TERM_##name,
#define LIMIT(name, value, help)
#include "mat/impls/gpucsr/selector/model/terms.def"
#undef TERM
#undef LIMIT
  GP_TERMS_COST, /* number of terms that cost time */
  GP_TERMS_BEFORE = GP_TERMS_COST - 1,
#define TERM(name, value, help)
#define LIMIT(name, value, help) GP_TERM_##name,
#include "mat/impls/gpucsr/selector/model/terms.def"
#undef TERM
#undef LIMIT
  GP_TERMS /* number of all terms, including the limits of formats */
};

#define GP_SEL_INPUTS (GP_FEATURES + GP_TERMS) /* what is known of a matrix: first the features, then the terms */

#define GP_SEL_LEAST   0.1   /* microseconds; smallest predicted time */
#define GP_SEL_NEVER   1e9   /* microseconds; predicted time of a kernel whose format refuses the matrix */
#define GP_SEL_STRIPES 129.0 /* larger numbers of diagonals count as this one; no format of diagonals accepts as many */
#define GP_SEL_POWER   0.75  /* predicted times are sums of powers of times; this is the exponent */
#define GP_SEL_SHARED  29e3  /* entries of x that fit the shared memory of a thread block on the measured GPUs */

/* Parts of a product compete with each other: two parts of one microsecond each take 2.5 microseconds together, not 2. Therefore the model adds parts
   to the power GP_SEL_POWER. Coefficients and terms hold this power already, and the time is the sum to the inverse power. Square and cube roots are
   faster than pow(). */
static inline double GpSelToPower(double time)
{
  const double root = sqrt(fmax(time, 0));

  return root * sqrt(root);
}

static inline double GpSelFromPower(double sum)
{
  return sum * cbrt(sum);
}

/* Bytes per nonzero in dense blocks relative to CSR, for the best block size. 1: formats with blocks refuse the matrix. */
static inline double GpSelBlocked(double columns, const double share[4])
{
  static const int size[4] = {2, 3, 4, 6};
  double           least   = 1;

  for (int b = 0; b < 4; b++)
    if (share[b] > 0 && fmod(columns, size[b]) == 0) least = fmin(least, (0.5 + 0.5 / (size[b] * size[b])) / fmin(share[b], 1));
  return least;
}

/* Computes the terms and stores them after the features. `columns` and `nonzeros` are those of the matrix: limits of formats do not depend on the
   GPU. */
static inline void GpSelComputeTerms(double columns, double nonzeros, double input[GP_SEL_INPUTS])
{
#define FEATURE(name, help) const double name = input[GP_SEL_##name];
#include "mat/impls/gpucsr/selector/features.def"
#undef FEATURE
  const double full    = rowsperunit * (1 - empty);
  const double stripes = fmin(diagonals, GP_SEL_STRIPES);
  /* matrix, row pointers, x and y relative to the L2 cache */
  const double work = acache * (1 + 1.5 * rowsperunit / fmax(nnzperunit, 1e-9)) + xcache;
  /* relative to the L2 cache: x and y; x, y and the values of all diagonals */
  const double vectors = xcache + acache * rowsperunit / fmax(nnzperunit, 1e-9), places = vectors + acache * rowsperunit * stripes / (2 * fmax(nnzperunit, 1e-9));
  const double uncached = work > 0.5 ? 1 - 0.5 / work : 0, uncachedvectors = vectors > 0.5 ? 1 - 0.5 / vectors : 0, uncachedplaces = places > 0.5 ? 1 - 0.5 / places : 0;

  /* pieces of rows if the columns are cut into panels that fit the shared memory of a block; columns near the diagonal or near each other stay in one
     panel */
  const double panels  = ceil(columns / GP_SEL_SHARED);
  const double cuts    = panels > 1 ? full * fmin(panels, 1 + (1 - near) * mean * sectors / 32) : 0;
  const double blocked = GpSelBlocked(columns, input + GP_SEL_block2), row = longest * mean;

  const int    piece  = GpPieceLongest((int64_t)nonzeros);
  const int    spans  = row > piece || empty > 0;            /* whether some row is empty or has several pieces */
  const double longer = piece < 32 ? 1 - upto8 : 1 - upto32; /* approximate share of rows with several pieces */

#define TERM(name, value, help)  input[GP_FEATURES + GP_TERM_##name] = GpSelToPower(value);
#define LIMIT(name, value, help) input[GP_FEATURES + GP_TERM_##name] = (value);
#include "mat/impls/gpucsr/selector/model/terms.def"
#undef TERM
#undef LIMIT
#define FEATURE(name, help) (void)name;
#include "mat/impls/gpucsr/selector/features.def"
#undef FEATURE
}

static inline double GpSelPredict(const double coefficients[GP_TERMS], const double input[GP_SEL_INPUTS])
{
  double sum = 0;

  for (int t = 0; t < GP_TERMS; t++) sum += coefficients[t] * input[GP_FEATURES + t];
  return fmax(GpSelFromPower(sum), GP_SEL_LEAST);
}

#endif
