/* Scanners of lines: lines, blanks, whole numbers, and decimal numbers with the results of strtod(). */
#ifndef GPUCSR_APPSCAN_H
#define GPUCSR_APPSCAN_H

#include <petscsys.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline PetscBool GpAppIsDigit(char c)
{
  return (PetscBool)((unsigned char)(c - '0') < 10);
}

static inline PetscBool GpAppIsBlank(char c)
{
  return (PetscBool)(c == ' ' || c == '\t' || c == '\r');
}

static inline const char *GpAppSkipBlanks(const char *p)
{
  while (GpAppIsBlank(*p)) p++;
  return p;
}

/* Whether a token ends before c. */
static inline PetscBool GpAppIsEnd(char c)
{
  return (PetscBool)(GpAppIsBlank(c) || c == '\n');
}

/* Lines of a text that ends with a newline */
typedef struct {
  const char *next, *end; /* rest of the text */
  const char *eol;        /* the newline of the current line */
  PetscInt64  line;       /* number of the current line, counted from 1 */
  PetscInt64  comments;   /* comment lines so far */
} GpAppLines;

/* Returns the beginning of the next line, NULL at the end. comment: characters that begin comment lines, which are skipped as blank lines are; NULL: no line is skipped. */
static inline const char *GpAppLinesNext(GpAppLines *L, const char comment[])
{
  while (L->next < L->end) {
    const char *p = L->next, *q = GpAppSkipBlanks(p);

    L->eol  = (const char *)memchr(p, '\n', (size_t)(L->end - p));
    L->next = L->eol + 1;
    L->line++;
    if (!comment || (*q != '\n' && !strchr(comment, *q))) return p;
    L->comments += *q != '\n';
  }
  return NULL;
}

/* Reads a whole number that is not negative. Returns where it ends; NULL: there is none, or it does not fit 63 bits. */
static inline const char *GpAppScanId(const char *p, PetscInt64 *id)
{
  const char *begin = p;
  uint64_t    value = 0;

  for (; GpAppIsDigit(*p); p++) value = 10 * value + (uint64_t)(*p - '0');
  *id = (PetscInt64)value;
  if (p - begin > 18) { /* it may have overflowed */
    errno = 0;
    *id   = (PetscInt64)strtoll(begin, NULL, 10);
    if (errno) return NULL;
  }
  return p == begin ? NULL : p;
}

/* Computes w 10^exp10 rounded to the next double. Returns false for values that are left to strtod().
   When w fits 53 bits and the power of ten is exact, one product or quotient rounds correctly (W. D. Clinger 1990). A negative power
   of up to 27 has a factor of five that fits 64 bits: a quotient of integers with at least 62 bits is exact but for its last bit,
   which says whether anything is left, and is rounded once, when it becomes a double. */
static inline PetscBool GpAppComposeReal(uint64_t w, int exp10, double *v)
{
  static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

  if (w <= (uint64_t)1 << 53 && exp10 >= -22 && exp10 <= 22) {
    *v = exp10 < 0 ? (double)w / powers[-exp10] : (double)w * powers[exp10];
    return PETSC_TRUE;
  }
#if defined(__SIZEOF_INT128__)
  __extension__ typedef unsigned __int128 Wide;

  if (w && exp10 >= -27 && exp10 <= 0) {
    uint64_t five = 1, quotient;
    int      up, down;
    Wide     dividend;
    union {
      uint64_t bits;
      double   value;
    } two;

    for (int k = 0; k < -exp10; k++) five *= 5;
    up       = __builtin_clzll(w);
    down     = __builtin_clzll(five);
    dividend = (Wide)(w << up) << 63;
    five <<= down;
    quotient = (uint64_t)(dividend / five); /* the upper half is less than the divisor: it fits */
    if ((Wide)quotient * five != dividend) quotient |= 1;
    two.bits = (uint64_t)(1023 + exp10 + down - up - 63) << 52;
    *v       = (double)quotient * two.value;
    return PETSC_TRUE;
  }
#endif
  return PETSC_FALSE;
}

/*
  GpAppScanReal - Reads a decimal number: [+-] digits [. digits] [(e|E) [+-] digits]

  Input Parameter:
. s - where it begins, in a buffer with some other character after the number

  Output Parameter:
. v - the double next to it; an infinity when it is too large for one

  Returns where it ends, NULL when there is none. Names such as nan and inf are none.

  Note:
  strtod() reads what has more than 19 digits or a large exponent, which a well-formed number can be trusted to.
*/
static inline const char *GpAppScanReal(const char *s, double *v)
{
  const char *p = s, *first, *last;
  uint64_t    w = 0;
  ptrdiff_t   digits;
  int         exp10 = 0;

  if (*p == '-' || *p == '+') p++;
  for (first = p; GpAppIsDigit(*p); p++) w = 10 * w + (uint64_t)(*p - '0'); /* what overflows is not used */
  digits = p - first;
  if (*p == '.') {
    for (last = ++p; GpAppIsDigit(*p); p++) w = 10 * w + (uint64_t)(*p - '0');
    digits += p - last;
    exp10 = (int)PetscMax(last - p, -99999);
  }
  if (!digits) return NULL;
  if (*p == 'e' || *p == 'E') {
    PetscBool neg = PETSC_FALSE;
    int       e   = 0;

    p++;
    if (*p == '-' || *p == '+') neg = (PetscBool)(*p++ == '-');
    if (!GpAppIsDigit(*p)) return NULL;
    for (; GpAppIsDigit(*p); p++) e = PetscMin(10 * e + (*p - '0'), 99999);
    exp10 += neg ? -e : e;
  }
  for (const char *c = first; digits > 19 && (*c == '0' || *c == '.'); c++) digits -= *c == '0';
  if (digits <= 19 && GpAppComposeReal(w, exp10, v)) {
    if (*s == '-') *v = -*v;
  } else *v = strtod(s, NULL);
  return p;
}

/* Reads a finite number that is not negative and ends its token. Returns where it ends; NULL: there is none. */
static inline const char *GpAppScanWeight(const char *p, double *w)
{
  const char *end = GpAppScanReal(p, w);

  return end && GpAppIsEnd(*end) && *w >= 0 && *w <= PETSC_MAX_REAL ? end : NULL;
}

#endif
