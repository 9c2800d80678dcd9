/* Row codes: rows that are alike but for their place share a pattern, the offsets of their columns from the row and their
   values; a row is the number of its pattern. */
#ifndef GPROWCODE_H
#define GPROWCODE_H

#include "mat/impls/gpucsr/formats/gpformat.h"

typedef struct {
  double  value;
  int32_t offset; /* column less row */
  int32_t unused;
} GpRowEntry;

typedef struct {
  int32_t     npatterns, nentries, width; /* bytes of a code: 1 or 2 */
  void       *code;                       /* [m] */
  int32_t    *start;                      /* [npatterns+1] */
  GpRowEntry *entry;                      /* [nentries] */
} GpRowCode;

#endif
