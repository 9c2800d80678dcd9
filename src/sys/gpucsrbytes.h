/* Parses the value of an option that is a number of bytes. PETSc has no such type of option. */
#ifndef GPUCSRBYTES_H
#define GPUCSRBYTES_H

#include <petscsys.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GPUCSR_BYTES_FORM "a number of bytes, which k, M, G or T may follow (1k is 1024 bytes)"

/* Reads a number that k, M, G or T may follow, for 2^10, 2^20, 2^30 or 2^40. Returns PETSC_FALSE if the text is anything else. */
static inline PetscBool PetscGPUCSRParseBytes_Private(const char text[], PetscReal *bytes)
{
  const char *const units  = "kMGT";
  char             *end    = NULL;
  double            number = strtod(text, &end);

  if (end == text || isspace((unsigned char)text[0])) return PETSC_FALSE;
  if (*end) {
    const char *unit = strchr(units, *end == 'K' ? 'k' : *end);

    if (!unit || end[1]) return PETSC_FALSE;
    number = ldexp(number, 10 * (1 + (int)(unit - units)));
  }
  if (!isfinite(number)) return PETSC_FALSE;
  *bytes = (PetscReal)number;
  return PETSC_TRUE;
}

#endif
