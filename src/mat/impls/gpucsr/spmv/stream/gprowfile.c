/* Reads rows of sparse matrices in PETSc's binary format: the integers 1211216, rows, columns and nonzeros; the row lengths; the columns; the values. All numbers are
   big-endian. Integers have the width of PetscInt in the PETSc that wrote the file. */
#include "mat/impls/gpucsr/spmv/stream/gpchunkfilecode.h"
#include "mat/impls/gpucsr/spmv/stream/gprowsource.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GP_ROW_FILE_CLASS 1211216 /* MAT_FILE_CLASSID */
#define GP_ROW_FILE_STEP  65536   /* number of rows of a step; before[] has the number of nonzeros before each step */

#define GP_ROW_FILE_CHANGED "it has changed since it was opened; load the matrix again"

struct GpRowFile_ {
  int             fd;
  int             width;      /* bytes of an integer: 4 or 8 */
  uint64_t        size;       /* size of the file in bytes */
  struct timespec changed;    /* time of the last change of the file when it was opened */
  uint64_t        at[3];      /* offsets of row lengths, columns and values */
  int64_t         m, n, nnz;  /* numbers of rows, columns and nonzeros; nnz is the sum of the row lengths */
  int64_t         declared;   /* number of nonzeros in the header; -1: unknown, because the header has INT32_MAX, which PETSc writes for a number of more than 32 bits */
  GpPrec          prec;       /* precision to which the values are rounded when they are encoded */
  int64_t        *before;     /* [m / GP_ROW_FILE_STEP + 1] number of nonzeros before the first row of each step */
  void           *length;     /* [GP_ROW_FILE_STEP] row lengths of a step */
  int64_t        *rowptr;     /* row pointers of a piece */
  void           *col;        /* columns of a piece */
  double         *val;        /* values of a piece */
  size_t          size_of[3]; /* sizes in bytes of rowptr, col and val */
  char            name[GP_CHUNK_FILE_NAME];
};

static GpErr GpRowFileFail(GpRowFile f, const char *what, char *why, size_t whylen)
{
  (void)snprintf(why, whylen, "%s: %s", f->name, what);
  return GP_ERR_FILE;
}

/* --- numbers ------------------------------------------------------------------------------------------------------------------------ */

/* Converts n big-endian numbers in place. */
static void GpRowFileConvert(void *array, size_t n, int width)
{
  if (width == 4) {
    uint32_t *v = (uint32_t *)array;

    for (size_t k = 0; k < n; k++) v[k] = __builtin_bswap32(v[k]);
  } else {
    uint64_t *v = (uint64_t *)array;

    for (size_t k = 0; k < n; k++) v[k] = __builtin_bswap64(v[k]);
  }
}

/* Reads n numbers and converts them. */
static GpErr GpRowFileRead(GpRowFile f, void *to, size_t n, int width, uint64_t offset, char *why, size_t whylen)
{
  const size_t bytes = n * (size_t)width;
  size_t       done;
  const int    code = GpChunkFilePread(f->fd, to, bytes, offset, &done);

  if (code || done < bytes) {
    (void)snprintf(why, whylen, "%s: cannot read %zu bytes at offset %" PRIu64 ": %s; %s", f->name, bytes - done, offset + done, code ? strerror(code) : "the file ends there", code ? "check the disk, then repeat" : "copy it again");
    return GP_ERR_FILE;
  }
  GpRowFileConvert(to, n, width);
  return GP_SUCCESS;
}

static int64_t GpRowFileInteger(GpRowFile f, const void *array, int64_t k)
{
  return f->width == 8 ? ((const int64_t *)array)[k] : ((const int32_t *)array)[k];
}

/* Allocates an array, if the old one is too small. */
static GpErr GpRowFileGrow(GpRowFile f, void **array, int which, size_t bytes, char *why, size_t whylen)
{
  if (bytes <= f->size_of[which]) return GP_SUCCESS;
  free(*array);
  *array            = malloc(bytes);
  f->size_of[which] = *array ? bytes : 0;
  if (*array) return GP_SUCCESS;
  (void)snprintf(why, whylen, "%s: no memory for %zu bytes of rows; choose smaller chunks", f->name, bytes);
  return GP_ERR_MEMORY;
}

/* Returns 1 if the file has another size or was written since it was opened. A file that was renamed or removed is still the same. */
static int GpRowFileHasChanged(GpRowFile f)
{
  struct stat st;

  if (fstat(f->fd, &st)) return 1;
  return (uint64_t)st.st_size != f->size || st.st_mtim.tv_sec != f->changed.tv_sec || st.st_mtim.tv_nsec != f->changed.tv_nsec;
}

/* --- open ------------------------------------------------------------------------------------------------------------------------------ */

/* Reads the header and recognises the width of its integers. */
static GpErr GpRowFileReadHeader(GpRowFile f, uint64_t offset, char *why, size_t whylen)
{
  uint64_t head[4] = {0};
  int32_t  id[2]   = {0};
  GpErr    err     = GpRowFileRead(f, id, 2, 4, offset, why, whylen);

  if (err) return err;
  f->width = id[0] == GP_ROW_FILE_CLASS ? 4 : 8;
  if (f->width == 8 && (id[0] || id[1] != GP_ROW_FILE_CLASS)) return GpRowFileFail(f, "there is no matrix in PETSc's binary format; check the name", why, whylen);
  err = GpRowFileRead(f, head, 4, f->width, offset, why, whylen);
  if (err) return err;
  f->m        = GpRowFileInteger(f, head, 1);
  f->n        = GpRowFileInteger(f, head, 2);
  f->declared = GpRowFileInteger(f, head, 3);
  f->at[0]    = offset + 4 * (uint64_t)f->width;
  if (f->declared == -1) return GpRowFileFail(f, "the matrix is dense; convert it to MATAIJ before it is written", why, whylen);
  if (f->m < 0 || f->n < 0 || f->declared < 0 || (uint64_t)f->m > (f->size - f->at[0]) / (uint64_t)f->width) return GpRowFileFail(f, "the header is damaged or the file truncated; copy it again", why, whylen);
  if (f->n > GP_CHUNK_LIMIT) return GpRowFileFail(f, "the matrix has too many columns for 32-bit indices; distribute it over more ranks", why, whylen);
  if (f->width == 4 && f->declared == INT32_MAX) f->declared = -1;
  return GP_SUCCESS;
}

/* Reads the lengths of at most GP_ROW_FILE_STEP rows. */
static GpErr GpRowFileReadLengths(GpRowFile f, int64_t first, int64_t count, char *why, size_t whylen)
{
  GpErr err = GpRowFileRead(f, f->length, (size_t)count, f->width, f->at[0] + (uint64_t)first * (uint64_t)f->width, why, whylen);

  for (int64_t i = 0; !err && i < count; i++) {
    const int64_t n = GpRowFileInteger(f, f->length, i);

    if (n >= 0 && n <= f->n) continue;
    (void)snprintf(why, whylen, "%s: row %" PRId64 " of %" PRId64 " columns has %" PRId64 " nonzeros: the file is damaged; copy it again", f->name, first + i, f->n, n);
    err = GP_ERR_FILE;
  }
  return err;
}

/* Reads all row lengths and adds them. It stops when the sum is more than a file of this size can hold, so that the sum cannot overflow. */
static GpErr GpRowFileCount(GpRowFile f, char *why, size_t whylen)
{
  GpErr err = GP_SUCCESS;

  f->before = (int64_t *)malloc((size_t)(f->m / GP_ROW_FILE_STEP + 1) * sizeof(*f->before));
  f->length = malloc(GP_ROW_FILE_STEP * sizeof(int64_t));
  if (!f->length || !f->before) {
    (void)snprintf(why, whylen, "%s: no memory for the lengths of %" PRId64 " rows; free host memory", f->name, f->m);
    return GP_ERR_MEMORY;
  }
  for (int64_t first = 0; !err && first < f->m && (uint64_t)f->nnz <= f->size; first += GP_ROW_FILE_STEP) {
    const int64_t count = f->m - first < GP_ROW_FILE_STEP ? f->m - first : GP_ROW_FILE_STEP;

    f->before[first / GP_ROW_FILE_STEP] = f->nnz;
    err                                 = GpRowFileReadLengths(f, first, count, why, whylen);
    for (int64_t i = 0; !err && i < count; i++) f->nnz += GpRowFileInteger(f, f->length, i);
  }
  return err;
}

static GpErr GpRowFileOpenParts(GpRowFile f, const char *path, uint64_t offset, char *why, size_t whylen)
{
  GpErr       err = GpChunkFileOpenRegular(path, f->name, &f->fd, &f->size, why, whylen);
  struct stat st;

  if (!err && fstat(f->fd, &st)) err = GpRowFileFail(f, strerror(errno), why, whylen);
  if (!err) f->changed = st.st_mtim;
  if (!err) err = GpRowFileReadHeader(f, offset, why, whylen);
  if (!err) err = GpRowFileCount(f, why, whylen);
  if (err) return err;
  f->at[1] = f->at[0] + (uint64_t)f->m * (uint64_t)f->width;
  if ((uint64_t)f->nnz > (f->size - f->at[1]) / (uint64_t)(f->width + 8)) {
    (void)snprintf(why, whylen, "%s: %" PRIu64 " bytes are too few for %" PRId64 " nonzeros: the file is truncated; copy it again", f->name, f->size, f->nnz);
    return GP_ERR_FILE;
  }
  f->at[2] = f->at[1] + (uint64_t)f->nnz * (uint64_t)f->width;
  if (f->declared >= 0 && f->nnz != f->declared) {
    (void)snprintf(why, whylen, "%s: the row lengths add up to %" PRId64 ", the header says %" PRId64 " nonzeros: the file is damaged; copy it again", f->name, f->nnz, f->declared);
    return GP_ERR_FILE;
  }
  return GP_SUCCESS;
}

GpErr GpRowFileOpen(const char *path, uint64_t offset, GpRowFile *file, char *why, size_t whylen)
{
  GpRowFile f = (GpRowFile)calloc(1, sizeof(*f));
  GpErr     err;

  *file = NULL;
  if (!f) {
    (void)snprintf(why, whylen, "no memory for %zu bytes to open a matrix; free host memory", sizeof(*f));
    return GP_ERR_MEMORY;
  }
  GpChunkFileShorten(path, f->name);
  err = GpRowFileOpenParts(f, path, offset, why, whylen);
  if (err) GpRowFileClose(&f);
  *file = f;
  return err;
}

void GpRowFileClose(GpRowFile *file)
{
  GpRowFile f = *file;

  if (!f) return;
  if (f->fd >= 0) (void)close(f->fd);
  free(f->before);
  free(f->length);
  free(f->rowptr);
  free(f->col);
  free(f->val);
  free(f);
  *file = NULL;
}

/* --- rows ------------------------------------------------------------------------------------------------------------------------------ */

/* Computes the row pointers from the beginning of the step of row `first` to row `end`, because before[] has the number of nonzeros before a step only. They count from the first
   nonzero of the matrix. */
static GpErr GpRowFileGetPointers(GpRowFile f, int64_t first, int64_t end, char why[GP_CHUNK_WHY])
{
  const int64_t step = first / GP_ROW_FILE_STEP, begin = step * GP_ROW_FILE_STEP;
  GpErr         err = GpRowFileGrow(f, (void **)&f->rowptr, 0, ((size_t)(end - begin) + 1) * sizeof(int64_t), why, GP_CHUNK_WHY);

  if (err) return err;
  f->rowptr[0] = end > begin ? f->before[step] : f->nnz;
  for (int64_t row = begin; !err && row < end; row += GP_ROW_FILE_STEP) {
    const int64_t count = end - row < GP_ROW_FILE_STEP ? end - row : GP_ROW_FILE_STEP;
    int64_t      *to    = f->rowptr + (row - begin);

    err = GpRowFileReadLengths(f, row, count, why, GP_CHUNK_WHY);
    for (int64_t i = 0; !err && i < count; i++) to[i + 1] = to[i] + GpRowFileInteger(f, f->length, i);
    if (!err && (to[0] != f->before[row / GP_ROW_FILE_STEP] || to[count] > f->nnz)) err = GpRowFileFail(f, GP_ROW_FILE_CHANGED, why, GP_CHUNK_WHY);
  }
  return err;
}

static GpErr GpRowFileGetPiece(GpRowFile f, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY])
{
  const int64_t skipped = first % GP_ROW_FILE_STEP, *rowptr;
  size_t        count;
  GpErr         err = GpRowFileGetPointers(f, first, end, why);

  if (err) return err;
  rowptr = f->rowptr + skipped;
  count  = (size_t)(rowptr[end - first] - rowptr[0]);
  if (entries) {
    err = GpRowFileGrow(f, &f->col, 1, count * (size_t)f->width, why, GP_CHUNK_WHY);
    if (!err) err = GpRowFileGrow(f, (void **)&f->val, 2, count * sizeof(double), why, GP_CHUNK_WHY);
    if (!err) err = GpRowFileRead(f, f->col, count, f->width, f->at[1] + (uint64_t)rowptr[0] * (uint64_t)f->width, why, GP_CHUNK_WHY);
    if (!err) err = GpRowFileRead(f, f->val, count, 8, f->at[2] + (uint64_t)rowptr[0] * sizeof(double), why, GP_CHUNK_WHY);
  }
  *rows = (GpChunkSource){.start = first, .m = end - first, .n = (int32_t)f->n, .prec = f->prec, .rowbytes = 8, .colbytes = f->width, .rowptr = rowptr, .col = f->col, .val = f->val};
  return err;
}

/* The test for a changed file comes last, so that what was read is what the file had when it was opened. Of a changed file, other errors are consequences. */
static GpErr GpRowFileGet(void *context, int64_t first, int64_t end, int entries, GpChunkSource *rows, char why[GP_CHUNK_WHY])
{
  GpRowFile   f   = (GpRowFile)context;
  const GpErr err = GpRowFileGetPiece(f, first, end, entries, rows, why);

  return err != GP_ERR_MEMORY && GpRowFileHasChanged(f) ? GpRowFileFail(f, GP_ROW_FILE_CHANGED, why, GP_CHUNK_WHY) : err;
}

void GpRowFileGetRows(GpRowFile f, GpPrec prec, GpRowSource *rows)
{
  f->prec = prec;
  *rows   = (GpRowSource){f->m, (int32_t)f->n, prec, f, GpRowFileGet, f->name};
}

int64_t GpRowFileNonzeros(GpRowFile f)
{
  return f->nnz;
}

uint64_t GpRowFileGetEnd(GpRowFile f)
{
  return f->at[2] + (uint64_t)f->nnz * sizeof(double);
}
