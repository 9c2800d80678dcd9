/* Compares a value with the first one, for code that looks for matrices whose nonzeros all have one value. */
#ifndef GPSAME_H
#define GPSAME_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

/* Compares the bits. NaN and infinity always differ, since products with one common value do not handle them. */
GP_INLINE int GpValueDiffers(const GpCsr *C, int64_t i)
{
  if (C->prec == GP_F32) {
    const uint32_t *v = (const uint32_t *)C->val;

    return v[i] != v[0] || (v[i] & 0x7f800000u) == 0x7f800000u;
  } else {
    const uint64_t *v = (const uint64_t *)C->val, most = (uint64_t)0x7ff << 52;

    return v[i] != v[0] || (v[i] & most) == most;
  }
}

#endif
