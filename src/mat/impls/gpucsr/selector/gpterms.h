/* The terms of a kernel's law, made of a matrix's features: the same numbers for train and for the library. */
#ifndef GPTERMS_H
#define GPTERMS_H

#include "mat/impls/gpucsr/formats/gppieces.h"
#include "mat/impls/gpucsr/selector/gpfeatures.h"
#include <math.h>

enum {
#define TERM(name, value, help) GP_TERM_##name,
#define LIMIT(name, value, help)
#include "mat/impls/gpucsr/selector/terms.def"
#undef TERM
#undef LIMIT
  GP_TERMS_COST, /* behind the terms that cost time */
  GP_TERMS_BEFORE = GP_TERMS_COST - 1,
#define TERM(name, value, help)
#define LIMIT(name, value, help) GP_TERM_##name,
#include "mat/impls/gpucsr/selector/terms.def"
#undef TERM
#undef LIMIT
  GP_TERMS /* and behind what formats refuse */
};

#define GP_ASKED (GP_FEATURES + GP_TERMS) /* what is known of a matrix: the features, and behind them the terms */

#define GP_SEL_LEAST   0.1   /* microseconds: no law tells less */
#define GP_SEL_NEVER   1e9   /* microseconds of a kernel whose format refuses the matrix */
#define GP_SEL_STRIPES 129.0 /* diagonals that a law tells apart: no format of diagonals takes so many */
#define GP_SEL_POWER   0.75  /* laws add up powers of times */
#define GP_SEL_SHARED  29e3  /* entries of x that a thread block holds, on the GPUs that were measured */

/* What a product does gets in its own way: two parts of it that take a microsecond each take 2.5 together, not 2.  So laws add up the parts to the power
   GP_SEL_POWER, each coefficient and term to that power already; the time is the sum to its inverse.  Roots are cheaper than pow(). */
static inline double GpSelPart(double time)
{
  const double root = sqrt(fmax(time, 0));

  return root * sqrt(root);
}

static inline double GpSelWhole(double sum)
{
  return sum * cbrt(sum);
}

/* bytes of a nonzero in dense blocks over those in compressed rows, by the size that takes least; 1: formats of blocks refuse */
static inline double GpSelBlocked(double columns, const double share[4])
{
  static const int size[4] = {2, 3, 4, 6};
  double           least   = 1;

  for (int b = 0; b < 4; b++)
    if (share[b] > 0 && fmod(columns, size[b]) == 0) least = fmin(least, (0.5 + 0.5 / (size[b] * size[b])) / fmin(share[b], 1));
  return least;
}

/* fills the terms in behind the features; columns and nonzeros are those of the matrix: formats go by them, whatever the GPU */
static inline void GpSelAsk(double columns, double nonzeros, double asked[GP_ASKED])
{
#define FEATURE(name, help) const double name = asked[GP_SEL_##name];
#include "mat/impls/gpucsr/selector/features.def"
#undef FEATURE
  const double full    = rowsperunit * (1 - empty);
  const double stripes = fmin(diagonals, GP_SEL_STRIPES);
  const double work    = acache * (1 + 1.5 * rowsperunit / fmax(nnzperunit, 1e-9)) + xcache;                                                                       /* matrix, row pointers, x, y over the cache */
  const double vectors = xcache + acache * rowsperunit / fmax(nnzperunit, 1e-9), places = vectors + acache * rowsperunit * stripes / (2 * fmax(nnzperunit, 1e-9)); /* what formats of rows' codes and of diagonals keep there */
  const double crowded = work > 0.5 ? 1 - 0.5 / work : 0, crowdedvectors = vectors > 0.5 ? 1 - 0.5 / vectors : 0, crowdedplaces = places > 0.5 ? 1 - 0.5 / places : 0;

  /* what panels of columns that fit a thread block leave of rows: columns near the diagonal, or each other, stay together */
  const double panels  = ceil(columns / GP_SEL_SHARED);
  const double cuts    = panels > 1 ? full * fmin(panels, 1 + (1 - near) * mean * sectors / 32) : 0;
  const double blocked = GpSelBlocked(columns, asked + GP_SEL_block2), row = longest * mean;

  const int    piece  = GpPieceLongest((int64_t)nonzeros);
  const int    spans  = row > piece || empty > 0;            /* are there rows that are not one piece? */
  const double longer = piece < 32 ? 1 - upto8 : 1 - upto32; /* rows of several, nearly */

#define TERM(name, value, help)  asked[GP_FEATURES + GP_TERM_##name] = GpSelPart(value);
#define LIMIT(name, value, help) asked[GP_FEATURES + GP_TERM_##name] = (value);
#include "mat/impls/gpucsr/selector/terms.def"
#undef TERM
#undef LIMIT
#define FEATURE(name, help) (void)name;
#include "mat/impls/gpucsr/selector/features.def"
#undef FEATURE
}

static inline double GpSelLaw(const double law[GP_TERMS], const double asked[GP_ASKED])
{
  double sum = 0;

  for (int t = 0; t < GP_TERMS; t++) sum += law[t] * asked[GP_FEATURES + t];
  return fmax(GpSelWhole(sum), GP_SEL_LEAST);
}

#endif
