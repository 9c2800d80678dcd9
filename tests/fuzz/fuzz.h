/* What the fuzzing program shares: readers, each as a function that is called with a file, and mutations of files. */
#ifndef GPUCSR_FUZZ_H
#define GPUCSR_FUZZ_H

#include "app/app.h"
#include <stdint.h>

#define FUZZ_WRONG 256   /* bytes of a description of what is wrong */
#define FUZZ_MOST  65536 /* bytes of an input */

/* a reader of files */
typedef struct {
  const char *name;                                                                   /* its seeds are in seeds/<name>/; those whose names begin with good have to be accepted */
  const char *suffix;                                                                 /* of the name of its inputs */
  PetscErrorCode (*prepare)(const char folder[]);                                     /* writes what lies beside the inputs, and seeds named seed-*, into a folder; NULL: nothing */
  PetscErrorCode (*read)(const char file[], uint64_t choice, char wrong[FUZZ_WRONG]); /* reads a file in one of several ways; an error: it was refused */
  void (*repair)(unsigned char *, size_t);                                            /* makes checksums fit again; NULL: there are none */
  int rare;                                                                           /* only one of so many turns: the reader is slow; 0 stands for 1 */
} FuzzReader;

/* ended by one without a name */
extern const FuzzReader FuzzApp[], FuzzBmrm[], FuzzChunk[], FuzzKmeans[], FuzzPagerank[], FuzzSmacof[];

/* Notes that an accepted input does not satisfy a condition; the first one stays. */
#define FUZZ_EXPECT(condition, ...) \
  do { \
    if (!(condition) && !wrong[0]) (void)snprintf(wrong, FUZZ_WRONG, __VA_ARGS__); \
  } while (0)

/* a file in memory */
typedef struct {
  char           name[128];
  unsigned char *bytes;
  size_t         n;
} FuzzSeed;

void           FuzzRepairCheckpoint(unsigned char *, size_t);
uint64_t       FuzzRandom(uint64_t *state);
size_t         FuzzMutate(uint64_t state, const FuzzSeed seeds[], int nseeds, int which, unsigned char to[FUZZ_MOST]);
PetscErrorCode FuzzWrite(const char file[], const void *bytes, size_t n);
PetscErrorCode FuzzWriteText(const char folder[], const char name[], const char text[]);

#endif
