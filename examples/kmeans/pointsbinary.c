/* Points in binary files without PETSc: idx (the format of MNIST) and the format of MineBench. Both may be compressed. */
#include "points.h"
#include "app/text/appcollective.h"
#include "app/text/appsource.h"
#include <string.h>

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
  for (int dim = 1; dim < p[3] && h->cols <= PETSC_MAX_INT; dim++) h->cols *= (PetscInt64)PointSetInteger(p + 4 + 4 * dim, 4, PETSC_FALSE);
  return (PetscBool)(h->rows > 0 && h->cols > 0 && h->cols < INT32_MAX);
}

/* Reads a header of MineBench: rows and columns as 32-bit integers. */
static PetscBool PointSetHeaderMineBench(const unsigned char *p, size_t n, PointSetHeader *h)
{
  if (n < 8) return PETSC_FALSE;
  *h = (PointSetHeader){(int32_t)PointSetInteger(p, 4, PETSC_TRUE), (int32_t)PointSetInteger(p + 4, 4, PETSC_TRUE), 8, MINEBENCH_FLOAT};
  return (PetscBool)(h->rows > 0 && h->cols > 0);
}

/* Recognises idx by its first bytes, and MineBench by a byte of 0, which no text has, behind a plausible number of columns. */
PetscErrorCode PointSetRecognise(MPI_Comm comm, const char file[], PointSetFormat *format)
{
  PetscMPIInt    rank;
  PointSetHeader h;

  PetscFunctionBegin;
  *format = POINTS_AUTO;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    GpAppSource   source;
    unsigned char begin[POINTS_HEADER];
    size_t        n = 0, got = 1;

    PetscCall(GpAppSourceOpen(file, &source));
    for (; n < sizeof(begin) && got; n += got) PetscCall(GpAppSourceRead(source, (char *)begin + n, sizeof(begin) - n, &got));
    PetscCall(GpAppSourceClose(&source));
    if (PointSetHeaderIdx(begin, n, &h)) *format = POINTS_IDX;
    else if (PointSetHeaderMineBench(begin, n, &h) && h.cols < 65536 && !begin[7]) *format = POINTS_MINEBENCH;
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

/* Reads a binary file on the first rank, which sends each rank its rows. */
PetscErrorCode PointSetReadBinary(MPI_Comm comm, const char file[], PointSetFormat format, Mat *X)
{
  unsigned char *bytes  = NULL;
  size_t         length = 0;
  PointSetHeader h      = {0};
  GpAppComplaint wrong  = {0};
  PetscMPIInt    rank;
  PetscInt64     shape[2];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    const char *name = format == POINTS_IDX ? "idx" : "MineBench";

    PetscCall(PointSetReadBytes(file, &bytes, &length, &wrong));
    if (!wrong.code && !(format == POINTS_IDX ? PointSetHeaderIdx(bytes, length, &h) : PointSetHeaderMineBench(bytes, length, &h))) GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, 0, "this is no %s file", name);
    else if (!wrong.code && (h.rows > PETSC_MAX_INT || h.cols > PETSC_MAX_INT || (length - (size_t)h.at) / PointSetValueBytes(h.type) / (size_t)h.cols < (size_t)h.rows))
      GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, 0, "the header says %" PetscInt64_FMT " points of %" PetscInt64_FMT " features, but the file ends after %zu bytes: it is truncated", h.rows, h.cols, length);
  }
  if (wrong.code) PetscCall(PetscFree(bytes));
  PetscCall(GpAppComplaintRaise(comm, file, &wrong));
  shape[0] = h.rows;
  shape[1] = h.cols;
  PetscCall(GpAppBroadcast(comm, shape, sizeof(shape), 0));
  PetscCall(MatCreateDense(comm, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)shape[0], (PetscInt)shape[1], NULL, X));
  if (!rank) {
    const size_t each = PointSetValueBytes(h.type);
    PetscScalar *row;
    PetscInt    *col;

    PetscCall(PetscMalloc2(h.cols, &row, h.cols, &col));
    for (PetscInt j = 0; j < h.cols; j++) col[j] = j;
    for (PetscInt i = 0; i < h.rows; i++) {
      for (PetscInt j = 0; j < h.cols; j++) row[j] = PointSetValue(bytes + h.at + ((size_t)i * (size_t)h.cols + (size_t)j) * each, h.type);
      PetscCall(MatSetValues(*X, 1, &i, (PetscInt)h.cols, col, row, INSERT_VALUES));
    }
    PetscCall(PetscFree2(row, col));
    PetscCall(PetscFree(bytes));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
