/* Mutations of files: bits, bytes, tokens, lines, numbers, splices. The same state gives the same file. */
#include "fuzz.h"
#include "app/program/apphash.h"
#include <ctype.h>
#include <string.h>

/* The next number of SplitMix64. */
uint64_t FuzzRandom(uint64_t *state)
{
  const uint64_t number = GpAppHash64(*state);

  *state += 0x9e3779b97f4a7c15u;
  return number;
}

static size_t Below(uint64_t *state, size_t n)
{
  return n ? (size_t)(FuzzRandom(state) % n) : 0;
}

static const char *const   Tokens[]   = {"nan",
                                         "NA",
                                         "inf",
                                         "-inf",
                                         "-1",
                                         "0",
                                         "1",
                                         "2",
                                         "2147483647",
                                         "2147483648",
                                         "-2147483649",
                                         "4294967296",
                                         "9223372036854775807",
                                         "18446744073709551616",
                                         "1e999",
                                         "1e308",
                                         "1e-320",
                                         "-0",
                                         "0x10",
                                         "1e",
                                         ".",
                                         "+",
                                         "#",
                                         "%",
                                         ":",
                                         ",",
                                         ";",
                                         "\t",
                                         " ",
                                         "\"",
                                         "\"\"",
                                         "'",
                                         "\n",
                                         "\r\n",
                                         "\r",
                                         "\n\n",
                                         "qid:",
                                         "{}",
                                         "[",
                                         "]",
                                         "<",
                                         ">",
                                         "</",
                                         "&amp;",
                                         "\357\273\277",
                                         "\377\376",
                                         "\037\213\010",
                                         "*",
                                         "end",
                                         "weights",
                                         "classes",
                                         "features 1000000",
                                         "%%MatrixMarket matrix coordinate real general\n",
                                         "*Vertices 3\n",
                                         "graph [",
                                         "1:1",
                                         "100000000000000000000",
                                         "\\",
                                         "\303\244",
                                         "99999999"};
static const unsigned char Words[][8] = {{0, 0, 0, 0, 0, 0, 0, 0},
                                         {255, 255, 255, 255, 255, 255, 255, 255},
                                         {127, 255, 255, 255, 255, 255, 255, 255},
                                         {128, 0, 0, 0, 0, 0, 0, 0},
                                         {0, 0, 0, 1, 0, 0, 0, 1},
                                         {127, 240, 0, 0, 0, 0, 0, 0},
                                         {127, 248, 0, 0, 0, 0, 0, 0},
                                         {0, 0, 0, 0, 0, 0, 240, 127},
                                         {0, 18, 123, 80, 0, 0, 0, 2},
                                         {1, 0, 0, 0, 0, 0, 0, 0},
                                         {0, 1, 0, 0, 64, 0, 0, 0}};

/* Replaces the bytes [at, at + out) by others. */
static size_t Splice(unsigned char *b, size_t n, size_t at, size_t out, const void *in, size_t bytes)
{
  if (at > n) at = n;
  if (out > n - at) out = n - at;
  if (n - out + bytes > FUZZ_MOST) return n;
  memmove(b + at + bytes, b + at + out, n - at - out);
  if (bytes) memcpy(b + at, in, bytes);
  return n - out + bytes;
}

/* Finds the line around a position. */
static void Line(const unsigned char *b, size_t n, size_t at, size_t *begin, size_t *end)
{
  for (*begin = at; *begin && b[*begin - 1] != '\n';) (*begin)--;
  for (*end = at; *end < n && b[*end] != '\n';) (*end)++;
  if (*end < n) (*end)++;
}

/* Finds a number at or behind a position; an empty one at the end. */
static void Number(const unsigned char *b, size_t n, size_t at, size_t *begin, size_t *end)
{
  for (*begin = at; *begin < n && !isdigit(b[*begin]);) (*begin)++;
  for (*end = *begin; *end < n && (isdigit(b[*end]) || b[*end] == '.');) (*end)++;
}

static size_t Once(uint64_t *state, const FuzzSeed seeds[], int nseeds, unsigned char *b, size_t n)
{
  const size_t    at    = Below(state, n + 1);
  const char     *token = Tokens[Below(state, sizeof(Tokens) / sizeof(Tokens[0]))];
  size_t          begin, end;
  const FuzzSeed *other = &seeds[Below(state, (size_t)nseeds)];
  unsigned char   copy[4096];

  switch (Below(state, 14)) {
  case 0:
    if (at < n) b[at] ^= (unsigned char)(1u << Below(state, 8));
    return n;
  case 1:
    if (at < n) b[at] = (unsigned char)Below(state, 256);
    return n;
  case 2:
    return Splice(b, n, at, 1 + Below(state, 8), NULL, 0);
  case 3:
    return Splice(b, n, at, 0, token, strlen(token));
  case 4:
    Number(b, n, at, &begin, &end);
    return Splice(b, n, begin, end - begin, token, strlen(token));
  case 5:
    Line(b, n, at, &begin, &end);
    return Splice(b, n, begin, end - begin, NULL, 0);
  case 6: /* a line twice */
    Line(b, n, at, &begin, &end);
    end = PetscMin(end, begin + sizeof(copy));
    memcpy(copy, b + begin, end - begin);
    return Splice(b, n, begin, 0, copy, end - begin);
  case 7:
    return at; /* cut off */
  case 8:
    if (other->n) {
      const size_t from = Below(state, other->n), bytes = Below(state, PetscMin(other->n - from, 512)) + 1;

      return Splice(b, n, at, Below(state, 2) ? bytes : 0, other->bytes + from, PetscMin(bytes, other->n - from));
    }
    return n;
  case 9:
  case 10: { /* a word of a binary file */
    const size_t width = Below(state, 2) ? 4 : 8, word = at / width * width;

    if (word + width <= n) memcpy(b + word, Words[Below(state, sizeof(Words) / sizeof(Words[0]))], width);
    return n;
  }
  case 11: /* a digit */
    Number(b, n, at, &begin, &end);
    if (begin < n) b[begin] = (unsigned char)('0' + Below(state, 10));
    return n;
  case 12: /* the same byte many times */
    memset(copy, at < n ? b[at] : '9', sizeof(copy));
    return Splice(b, n, at, 0, copy, Below(state, Below(state, 16) ? 40 : sizeof(copy)));
  default: /* two lines change places */
    Line(b, n, at, &begin, &end);
    if (end - begin <= sizeof(copy)) {
      const size_t bytes = end - begin;

      memcpy(copy, b + begin, bytes);
      n = Splice(b, n, begin, bytes, NULL, 0);
      Line(b, n, Below(state, n + 1), &begin, &end);
      n = Splice(b, n, begin, 0, copy, bytes);
    }
    return n;
  }
}

/* Makes an input of a seed by a few mutations, in one of 32 cases by none; returns its length. */
size_t FuzzMutate(uint64_t state, const FuzzSeed seeds[], int nseeds, int which, unsigned char b[FUZZ_MOST])
{
  size_t n     = PetscMin(seeds[which].n, FUZZ_MOST);
  int    times = Below(&state, 32) ? 1 << Below(&state, 4) : 0;

  if (n) memcpy(b, seeds[which].bytes, n);
  for (int k = 0; k < times; k++) n = Once(&state, seeds, nseeds, b, n);
  return n;
}
