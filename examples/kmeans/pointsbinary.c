#define _POSIX_C_SOURCE 200809L
/* Points in binary files without PETSc: idx (the format of MNIST) and the format of MineBench. Both may be compressed. */
#include "points.h"
#include "app/text/appcollective.h"
#include "app/text/appsource.h"
#include <string.h>
#include <sys/stat.h>

#define POINTS_HEADER 32 /* bytes that suffice to recognise every format */

/* A header: rows, columns, bytes of a value, and where the values begin. */
typedef struct {
  PetscInt64 rows, cols, at;
  int        type;
} PointSetHeader;

/* Types of idx values: the third byte of the file. */
enum {
  IDX_UBYTE  = 8,
  IDX_BYTE   = 9,
  IDX_SHORT  = 11,
  IDX_INT    = 12,
  IDX_FLOAT  = 13,
  IDX_DOUBLE = 14,
  MINEBENCH_FLOAT /* little-endian, as MineBench writes it */
};

static size_t PointSetValueBytes(int type)
{
  return type == IDX_SHORT ? 2 : type == IDX_INT || type == IDX_FLOAT || type == MINEBENCH_FLOAT ? 4 : type == IDX_DOUBLE ? 8 : 1;
}

/* An unsigned integer of n bytes. */
static uint64_t PointSetInteger(const unsigned char *p, size_t n, PetscBool little)
{
  uint64_t value = 0;

  for (size_t b = 0; b < n; b++) value = value << 8 | p[little ? n - 1 - b : b];
  return value;
}

static double PointSetValue(const unsigned char *p, int type)
{
  const size_t   n    = PointSetValueBytes(type);
  const uint64_t bits = PointSetInteger(p, n, (PetscBool)(type == MINEBENCH_FLOAT));
  const uint32_t half = (uint32_t)bits;
  float          single;
  double         value;

  switch (type) {
  case IDX_UBYTE:
    return (double)bits;
  case IDX_BYTE:
    return (double)(int8_t)bits;
  case IDX_SHORT:
    return (double)(int16_t)bits;
  case IDX_INT:
    return (double)(int32_t)half;
  case IDX_DOUBLE:
    memcpy(&value, &bits, sizeof(value));
    return value;
  default:
    memcpy(&single, &half, sizeof(single));
    return (double)single;
  }
}

/* Reads a header of idx. Dimensions after the first are features. */
static PetscBool PointSetHeaderIdx(const unsigned char *p, size_t n, PointSetHeader *h)
{
  if (n < 8 || p[0] || p[1] || p[2] < IDX_UBYTE || p[2] > IDX_DOUBLE || p[2] == 10 || p[3] < 1 || p[3] > 4 || n < 4 + 4 * (size_t)p[3]) return PETSC_FALSE;
  *h = (PointSetHeader){(PetscInt64)PointSetInteger(p + 4, 4, PETSC_FALSE), 1, 4 + 4 * p[3], p[2]};
  for (int dim = 1; dim < p[3] && h->cols < INT32_MAX; dim++) h->cols *= (PetscInt64)PointSetInteger(p + 4 + 4 * dim, 4, PETSC_FALSE);
  return PETSC_TRUE;
}

/* Reads a header of MineBench: rows and columns as 32-bit integers. */
static PetscBool PointSetHeaderMineBench(const unsigned char *p, size_t n, PointSetHeader *h)
{
  if (n < 8) return PETSC_FALSE;
  *h = (PointSetHeader){(int32_t)PointSetInteger(p, 4, PETSC_TRUE), (int32_t)PointSetInteger(p + 4, 4, PETSC_TRUE), 8, MINEBENCH_FLOAT};
  return PETSC_TRUE;
}

/* Recognises idx by its first bytes, and MineBench by a byte of 0, which no text has, behind a plausible number of columns. */
PetscErrorCode PointSetRecognise(MPI_Comm comm, const char file[], PointSetFormat *format)
{
  PetscMPIInt    rank;
  PointSetHeader h;
  struct stat    st;

  PetscFunctionBegin;
  *format = POINTS_AUTO;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank && !stat(file, &st) && S_ISREG(st.st_mode)) { /* the bytes of a pipe could not be read again */
    GpAppSource   source;
    unsigned char begin[POINTS_HEADER];
    size_t        n = 0, got = 1;

    PetscCall(GpAppSourceOpen(file, &source));
    for (; n < sizeof(begin) && got; n += got) PetscCall(GpAppSourceRead(source, (char *)begin + n, sizeof(begin) - n, &got));
    PetscCall(GpAppSourceClose(&source));
    if (PointSetHeaderIdx(begin, n, &h) && h.rows > 0 && h.cols > 0) *format = POINTS_IDX;
    else if (PointSetHeaderMineBench(begin, n, &h) && h.rows > 0 && h.cols > 0 && h.cols < 65536 && !begin[7]) *format = POINTS_MINEBENCH;
  }
  PetscCall(GpAppBroadcast(comm, format, sizeof(*format), 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads all bytes of a file, decompressed, on one rank. */
static PetscErrorCode PointSetReadBytes(const char file[], unsigned char **bytes, size_t *length, GpAppComplaint *wrong)
{
  GpAppSource source;
  size_t      capacity = 1 << 16, got = 1;

  PetscFunctionBegin;
  *length = 0;
  PetscCall(PetscMalloc1(capacity, bytes));
  PetscCall(GpAppSourceOpen(file, &source));
  while (got) {
    if (*length == capacity) {
      capacity *= 2;
      PetscCall(PetscRealloc(capacity, bytes));
    }
    PetscCall(GpAppSourceRead(source, (char *)*bytes + *length, capacity - *length, &got));
    *length += got;
  }
  *wrong = source->wrong;
  PetscCall(GpAppSourceClose(&source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the header with the length of the file, before memory is allocated for the points. */
static void PointSetCheckHeader(const PointSetHeader *h, size_t length, GpAppComplaint *wrong)
{
  const int    code = PETSC_ERR_FILE_UNEXPECTED;
  const size_t left = length - (size_t)h->at, each = PointSetValueBytes(h->type);

  if (h->rows < 1 || h->cols < 1) GpAppComplainAbout(wrong, code, 0, "the header says %" PetscInt64_FMT " points of %" PetscInt64_FMT " features: expected at least one of each", h->rows, h->cols);
  else if (h->rows > PETSC_MAX_INT || h->cols >= INT32_MAX) GpAppComplainAbout(wrong, code, 0, "the header says %" PetscInt64_FMT " points of %" PetscInt64_FMT " features, which do not fit PetscInt", h->rows, h->cols);
  else if (left / each / (size_t)h->cols < (size_t)h->rows)
    GpAppComplainAbout(wrong, code, 0, "the header says %" PetscInt64_FMT " points of %" PetscInt64_FMT " features, but the file ends after %zu bytes: it is truncated", h->rows, h->cols, length);
  else if (left != each * (size_t)h->cols * (size_t)h->rows)
    GpAppComplainAbout(wrong, code, 0, "the header says %" PetscInt64_FMT " points of %" PetscInt64_FMT " features, but the file has %zu bytes, more than they take: it is damaged or has another format", h->rows, h->cols, length);
}

/* Sends every rank the bytes of its rows, which lie at `bytes` on the first rank. */
static PetscErrorCode PointSetScatterRows(Mat X, size_t row, const unsigned char *bytes, unsigned char **mine)
{
  const size_t    most = (size_t)1 << 30; /* counts of MPI are int */
  MPI_Comm        comm = PetscObjectComm((PetscObject)X);
  const PetscInt *range;
  PetscMPIInt     rank, size;
  size_t          n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatGetOwnershipRanges(X, &range));
  n = row * (size_t)(range[rank + 1] - range[rank]);
  PetscCall(PetscMalloc1(rank ? n : 0, mine));
  for (PetscMPIInt r = 1; r < size && !rank; r++)
    for (size_t at = row * (size_t)range[r], end = row * (size_t)range[r + 1]; at < end; at += most) PetscCallMPI(MPI_Send(bytes + at, (PetscMPIInt)PetscMin(most, end - at), MPI_BYTE, r, 0, comm));
  for (size_t at = 0; at < n && rank; at += most) PetscCallMPI(MPI_Recv(*mine + at, (PetscMPIInt)PetscMin(most, n - at), MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the rows of this rank. Blocks of rows stay in the cache. */
static PetscErrorCode PointSetFillRows(const PointSetHeader *h, const unsigned char *bytes, Mat X)
{
  const size_t   each  = PointSetValueBytes(h->type);
  const PetscInt block = 16;
  PetscScalar   *a;
  PetscInt       m, lda;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(X, &m, NULL));
  PetscCall(MatDenseGetLDA(X, &lda));
  PetscCall(MatDenseGetArrayWrite(X, &a));
  for (PetscInt begin = 0; begin < m; begin += block)
    for (PetscInt j = 0; j < (PetscInt)h->cols; j++)
      for (PetscInt i = begin; i < PetscMin(begin + block, m); i++) a[i + (size_t)j * lda] = PointSetValue(bytes + ((size_t)i * (size_t)h->cols + (size_t)j) * each, h->type);
  PetscCall(MatDenseRestoreArrayWrite(X, &a));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a binary file on the first rank, which sends each rank its rows. */
PetscErrorCode PointSetReadBinary(MPI_Comm comm, const char file[], PointSetFormat format, Mat *X)
{
  unsigned char *bytes  = NULL, *mine;
  size_t         length = 0;
  PointSetHeader h      = {0};
  GpAppComplaint wrong  = {0};
  PetscErrorCode ierr;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    PetscCall(PointSetReadBytes(file, &bytes, &length, &wrong));
    if (!wrong.code && !(format == POINTS_IDX ? PointSetHeaderIdx(bytes, length, &h) : PointSetHeaderMineBench(bytes, length, &h)))
      GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, 0, "this is no %s file", format == POINTS_IDX ? "idx" : "MineBench");
    else if (!wrong.code) PointSetCheckHeader(&h, length, &wrong);
  }
  ierr = GpAppComplaintRaise(comm, file, &wrong);
  if (ierr) PetscCall(PetscFree(bytes));
  PetscCall(ierr);
  PetscCall(GpAppBroadcast(comm, &h, sizeof(h), 0));
  PetscCall(MatCreateDense(comm, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)h.rows, (PetscInt)h.cols, NULL, X));
  PetscCall(PointSetScatterRows(*X, (size_t)h.cols * PointSetValueBytes(h.type), rank ? NULL : bytes + h.at, &mine));
  PetscCall(PointSetFillRows(&h, rank ? mine : bytes + h.at, *X));
  PetscCall(PetscFree(mine));
  PetscCall(PetscFree(bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
