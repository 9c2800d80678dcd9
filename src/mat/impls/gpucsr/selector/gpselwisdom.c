#include "mat/impls/gpucsr/selector/gpselwisdom.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define GP_WISDOM_LINE 256 /* longest line of a file, with its end */
#define GP_WISDOM_HEAD "# gpucsr wisdom 1: GPU, values, product, rows, columns, nonzeros, hash of the features, fastest kernel, microseconds\n"

/* Identifies a measurement. Matrices with equal keys are taken to have the same features. */
typedef struct {
  char     gpu[96]; /* name of the device; blanks are underscores */
  GpPrec   prec;
  int      adds;
  int32_t  m, n, nnz;
  uint64_t hash;
} GpWisdomKey;

typedef struct {
  GpWisdomKey key;
  int         kernel;
} GpWisdom;

static char     *GpWisdomFile; /* NULL: none is in use */
static GpWisdom *GpWisdomKnown;
static size_t    GpWisdomNumber;

static const char *const GpWisdomValues[]   = {"single", "double"}; /* by GpPrec */
static const char *const GpWisdomProducts[] = {"mult", "multadd"};  /* by GpSelOptions.adds */

static uint64_t GpWisdomHash(uint64_t hash, const void *data, size_t bytes)
{
  const unsigned char *c = (const unsigned char *)data;

  for (size_t k = 0; k < bytes; k++) hash = (hash ^ c[k]) * UINT64_C(0x100000001b3); /* FNV-1a */
  return hash;
}

static void GpWisdomGetKey(const GpSelOptions *options, const GpCsr *A, const GpFeatures *F, GpWisdomKey *key)
{
  *key = (GpWisdomKey){.prec = A->prec, .adds = options->adds, .m = A->m, .n = A->n, .nnz = A->nnz};
  snprintf(key->gpu, sizeof(key->gpu), "%s", GpDevName(A->dev));
  for (char *c = key->gpu; *c; c++)
    if (*c <= ' ') *c = '_';
  key->hash = GpWisdomHash(UINT64_C(0xcbf29ce484222325), &F->counts, sizeof(F->counts));
  key->hash = GpWisdomHash(key->hash, &F->longest, sizeof(F->longest)); /* the host counts rows only */
  key->hash = GpWisdomHash(key->hash, &F->empty, sizeof(F->empty));
}

static int GpWisdomSame(const GpWisdomKey *a, const GpWisdomKey *b)
{
  return a->prec == b->prec && a->adds == b->adds && a->m == b->m && a->n == b->n && a->nnz == b->nnz && a->hash == b->hash && !strcmp(a->gpu, b->gpu);
}

static int GpWisdomFindName(const char *const names[2], const char name[])
{
  return !strcmp(name, names[0]) ? 0 : !strcmp(name, names[1]) ? 1 : -1;
}

/* Returns 1 if the line has the form of an entry. kernel is -1 if this version does not have the kernel. */
static int GpWisdomParse(const char line[], GpWisdom *w)
{
  char   values[16], product[16], hash[17], kernel[64], *rest;
  double us;
  int    end = 0, prec;

  *w = (GpWisdom){.kernel = -1};
  if (sscanf(line, "%95s %15s %15s %" SCNd32 " %" SCNd32 " %" SCNd32 " %16s %63s %lf %n", w->key.gpu, values, product, &w->key.m, &w->key.n, &w->key.nnz, hash, kernel, &us, &end) != 9 || line[end]) return 0;
  w->key.hash = strtoull(hash, &rest, 16);
  if (*rest) return 0;
  prec        = GpWisdomFindName(GpWisdomValues, values);
  w->key.adds = GpWisdomFindName(GpWisdomProducts, product);
  w->key.prec = prec == 1 ? GP_F64 : GP_F32;
  if (prec < 0 || w->key.adds < 0) return 0;
  for (int k = 0; k < GP_KERNELS && w->kernel < 0; k++)
    if (!strcmp(kernel, GpKernelTable[k].name)) w->kernel = k;
  return 1;
}

static int GpWisdomAppend(const GpWisdom *w)
{
  GpWisdom *more = (GpWisdom *)realloc(GpWisdomKnown, (GpWisdomNumber + 1) * sizeof(*more));

  if (!more) return 0;
  GpWisdomKnown                   = more;
  GpWisdomKnown[GpWisdomNumber++] = *w;
  return 1;
}

static void GpWisdomClose(void)
{
  free(GpWisdomFile);
  free(GpWisdomKnown);
  GpWisdomFile   = NULL;
  GpWisdomKnown  = NULL;
  GpWisdomNumber = 0;
}

/* Reads the entries. The first entry of a key counts, so that all runs use the same kernel even if two processes have measured the same matrix. */
static GpErr GpWisdomRead(FILE *in, const char path[], char why[], size_t size)
{
  char     line[GP_WISDOM_LINE];
  GpWisdom w;

  for (int number = 1; fgets(line, sizeof(line), in); number++) {
    if (line[0] == '#' || line[0] == '\n') continue;
    if (!strchr(line, '\n') || !GpWisdomParse(line, &w)) {
      snprintf(why, size, "%s, line %d: not an entry of a wisdom file; delete the line", path, number);
      return GP_ERR_FILE;
    }
    if (w.kernel >= 0 && !GpWisdomAppend(&w)) {
      snprintf(why, size, "%s: out of host memory", path);
      return GP_ERR_MEMORY;
    }
  }
  if (!ferror(in)) return GP_SUCCESS;
  snprintf(why, size, "%s: %s", path, strerror(errno));
  return GP_ERR_FILE;
}

/* Checks that the file, or a new file in its folder, can be written, so that a wrong name is an error before a matrix is measured. */
static GpErr GpWisdomCheckWritable(const char path[], int exists, char why[], size_t size)
{
  const char *slash  = strrchr(path, '/');
  char       *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
  const int   fine   = folder && !access(exists ? path : folder, W_OK);

  if (!fine) snprintf(why, size, "%s cannot be written: %s", path, strerror(folder ? errno : ENOMEM));
  free(folder);
  return fine ? GP_SUCCESS : GP_ERR_FILE;
}

GpErr GpSelWisdomOpen(const char path[], char why[], size_t size)
{
  FILE *in;
  GpErr err = GP_SUCCESS;

  GpWisdomClose();
  if (!path) return GP_SUCCESS;
  in = fopen(path, "r");
  if (in) {
    err = GpWisdomRead(in, path, why, size);
    (void)fclose(in);
  } else if (errno != ENOENT) {
    snprintf(why, size, "%s: %s", path, strerror(errno));
    err = GP_ERR_FILE;
  }
  if (!err) err = GpWisdomCheckWritable(path, in != NULL, why, size);
  if (!err) GpWisdomFile = strdup(path);
  if (!err && !GpWisdomFile) {
    snprintf(why, size, "%s: out of host memory", path);
    err = GP_ERR_MEMORY;
  }
  if (err) GpWisdomClose();
  return err;
}

int GpSelWisdomFind(const GpSelOptions *options, const GpCsr *A, const GpFeatures *F)
{
  GpWisdomKey key;

  if (!GpWisdomFile) return -1;
  GpWisdomGetKey(options, A, F, &key);
  for (size_t k = 0; k < GpWisdomNumber; k++)
    if (GpWisdomSame(&key, &GpWisdomKnown[k].key)) return GpWisdomKnown[k].kernel;
  return -1;
}

/* Appends a text to the file, and before it the head if the file is new. Returns 1, or 0 with errno after an error, which leaves the file as it was. A lock lets only one process write at a time. */
static int GpWisdomWrite(const char text[])
{
  const int   fd   = open(GpWisdomFile, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  int         fine = fd >= 0 && !flock(fd, LOCK_EX), kept;
  struct stat before;
  char        both[sizeof(GP_WISDOM_HEAD) + GP_WISDOM_LINE];
  size_t      length;

  if (fine) fine = !fstat(fd, &before);
  if (fine) {
    snprintf(both, sizeof(both), "%s%s", before.st_size ? "" : GP_WISDOM_HEAD, text);
    length = strlen(both);
    errno  = ENOSPC; /* a short write sets nothing */
    fine   = write(fd, both, length) == (ssize_t)length;
    kept   = errno;
    if (!fine && ftruncate(fd, before.st_size)) kept = errno;
    if (!fine) errno = kept;
  }
  kept = errno;
  if (fd >= 0 && close(fd) && fine) return 0;
  errno = kept;
  return fine;
}

GpErr GpSelWisdomAdd(const GpSelOptions *options, const GpCsr *A, const GpFeatures *F, int kernel, double seconds)
{
  GpWisdom           w = {.kernel = kernel};
  const GpWisdomKey *k = &w.key;
  char               line[GP_WISDOM_LINE];

  if (!GpWisdomFile) return GP_SUCCESS;
  GpWisdomGetKey(options, A, F, &w.key);
  snprintf(line, sizeof(line), "%s %s %s %" PRId32 " %" PRId32 " %" PRId32 " %016" PRIx64 " %s %.3f\n", k->gpu, GpWisdomValues[k->prec == GP_F64], GpWisdomProducts[k->adds != 0], k->m, k->n, k->nnz, k->hash, GpKernelTable[kernel].name,
           1e6 * seconds);
  if (!GpWisdomWrite(line)) return GpDevFail(A->dev, GP_ERR_FILE, "cannot write %s: %s (-gpucsr_wisdom)", GpWisdomFile, strerror(errno));
  return GpWisdomAppend(&w) ? GP_SUCCESS : GpDevFail(A->dev, GP_ERR_MEMORY, "out of host memory for the entries of %s", GpWisdomFile);
}
