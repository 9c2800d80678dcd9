/* Matrices and vectors in PETSc's binary format, checked before PETSc reads them: an optimised PETSc trusts what the file says.
   Integers of the format are as wide as those of the PETSc that wrote them. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "app/binary/appbinary.h"
#include "app/text/appcollective.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
  PIECE = 65536 /* number of integers in one read */
};

/* Returns whether a file begins with an object in PETSc's binary format, of the class MAT_FILE_CLASSID or VEC_FILE_CLASSID, and its length in bytes unless that is NULL.
   Collective.
   A file of a PETSc with another size of PetscInt is an error. A file that cannot be opened is not binary: the reader of text reports the cause. Only a regular file is opened,
   because PETSc opens it again, which would lose the first bytes of a pipe. */
PetscErrorCode GpAppIsBinary(MPI_Comm comm, const char file[], int classid, PetscBool *binary, PetscInt64 *bytes)
{
  const int   bits  = 8 * (int)sizeof(PetscInt);
  PetscInt64  at[2] = {0, 0}; /* bits of an integer (0: another format), bytes of the file */
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    const unsigned char id[8]    = {0, 0, 0, 0, (unsigned char)(classid >> 24), (unsigned char)(classid >> 16), (unsigned char)(classid >> 8), (unsigned char)classid};
    unsigned char       begin[8] = {0};
    struct stat         st;
    FILE               *fp = stat(file, &st) || !S_ISREG(st.st_mode) ? NULL : fopen(file, "rb");

    if (fp && fread(begin, 1, sizeof(begin), fp) >= 4) {
      at[0] = !memcmp(begin, id + 4, 4) ? 32 : !memcmp(begin, id, 8) ? 64 : 0;
      at[1] = (PetscInt64)st.st_size;
    }
    if (fp) (void)fclose(fp);
  }
  PetscCallMPI(MPI_Bcast(at, 2, MPIU_INT64, 0, comm));
  PetscCheck(!at[0] || at[0] == bits, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file was written by a PETSc with %d-bit indices, but this PETSc has %d-bit indices: write the file again with this PETSc", file, (int)at[0], bits);
  *binary = (PetscBool)(at[0] != 0);
  if (bytes) *bytes = at[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads n integers; returns false if the file has fewer. */
PetscErrorCode GpAppBinaryReadInts_Private(FILE *fp, PetscInt n, PetscInt v[], PetscBool *whole)
{
  PetscFunctionBegin;
  *whole = (PetscBool)(fread(v, sizeof(*v), (size_t)n, fp) == (size_t)n);
#if !defined(PETSC_WORDS_BIGENDIAN)
  if (*whole) PetscCall(PetscByteSwap(v, PETSC_INT, n));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens the file at an offset on one rank; a failure is recorded in the complaint. */
FILE *GpAppBinaryOpenAt_Private(const char file[], PetscInt64 at, GpAppComplaint *C)
{
  FILE *fp = fopen(file, "rb");

  if (fp && !fseeko(fp, (off_t)at, SEEK_SET)) return fp;
  GpAppComplainAbout(C, PETSC_ERR_FILE_OPEN, 0, "%s", strerror(errno));
  if (fp) (void)fclose(fp);
  return NULL;
}

/* Returns where a matrix ends in the file: after row lengths, columns and values if it is sparse. -1: the file is shorter. */
static PetscInt64 BinaryFindEnd(PetscInt64 bytes, PetscInt64 M, PetscInt64 N, PetscInt64 nnz)
{
  const PetscInt64 each = (PetscInt64)(sizeof(PetscInt) + sizeof(PetscScalar)), begin = 4 * (PetscInt64)sizeof(PetscInt);
  PetscInt64       left = bytes - begin;

  if (nnz == MATRIX_BINARY_FORMAT_DENSE) {
    if (N && M > left / (PetscInt64)sizeof(PetscScalar) / N) return -1;
    return begin + M * N * (PetscInt64)sizeof(PetscScalar);
  }
  if (M > left / (PetscInt64)sizeof(PetscInt)) return -1;
  left -= M * (PetscInt64)sizeof(PetscInt);
  if (nnz > left / each) return -1;
  return bytes - left + nnz * each;
}

/* Returns whether the file ends at `at`, or another PETSc object begins there. */
static PetscErrorCode BinaryCheckEnd(FILE *fp, PetscInt64 at, PetscInt64 bytes, PetscBool *good)
{
  PetscInt id = 0;

  PetscFunctionBegin;
  *good = (PetscBool)(at == bytes);
  if (*good || fseeko(fp, (off_t)at, SEEK_SET)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpAppBinaryReadInts_Private(fp, 1, &id, good));
  *good = (PetscBool)(*good && id >= REAL_FILE_CLASSID && id < REAL_FILE_CLASSID + 100);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads and checks the header on the first rank. */
static PetscErrorCode BinaryExamineHeader(const char file[], GpAppMatHeader *H, GpAppComplaint *C)
{
  const int   code      = PETSC_ERR_FILE_UNEXPECTED;
  PetscInt    header[4] = {0};
  PetscBool   whole = PETSC_FALSE, follows = PETSC_FALSE;
  struct stat st;
  FILE       *fp = GpAppBinaryOpenAt_Private(file, 0, C);

  PetscFunctionBegin;
  if (!fp) PetscFunctionReturn(PETSC_SUCCESS);
  if (fstat(fileno(fp), &st)) st.st_size = 0;
  PetscCall(GpAppBinaryReadInts_Private(fp, 4, header, &whole));
  H->bytes = (PetscInt64)st.st_size;
  H->M     = header[1];
  H->N     = header[2];
  H->nnz   = header[3];
  H->end   = whole && H->M >= 0 && H->N >= 0 && H->nnz >= MATRIX_BINARY_FORMAT_DENSE ? BinaryFindEnd(H->bytes, H->M, H->N, H->nnz) : -1;
  if (!whole || header[0] != MAT_FILE_CLASSID) GpAppComplainAbout(C, code, 0, "the file does not hold the header of a PETSc binary matrix: it is truncated or has another format");
  else if (H->M < 0 || H->N < 0 || H->nnz < MATRIX_BINARY_FORMAT_DENSE)
    GpAppComplainAbout(C, code, 0, "the header describes a matrix of %" PetscInt_FMT " x %" PetscInt_FMT " with %" PetscInt64_FMT " nonzeros: the file is damaged", H->M, H->N, H->nnz);
  else if (H->end < 0) GpAppComplainAbout(C, code, 0, "the file has %" PetscInt64_FMT " bytes, too few for a %" PetscInt_FMT " x %" PetscInt_FMT " matrix%s: it is truncated or damaged", H->bytes, H->M, H->N, H->nnz < 0 ? " in dense format" : "");
  else PetscCall(BinaryCheckEnd(fp, H->end, H->bytes, &follows));
  if (!follows) GpAppComplainAbout(C, code, 0, "%" PetscInt64_FMT " bytes after the matrix of %" PetscInt_FMT " x %" PetscInt_FMT " are not a PETSc object: the file is damaged", H->bytes - H->end, H->M, H->N);
  (void)fclose(fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the header of a matrix in PETSc's binary format, and checks it against the length of the file, so that memory can be allocated. Collective.
   Other objects, such as vectors, may follow the matrix. */
PetscErrorCode GpAppMatReadHeader(MPI_Comm comm, const char file[], GpAppMatHeader *H)
{
  GpAppComplaint C = {0};
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(H, sizeof(*H)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) PetscCall(BinaryExamineHeader(file, H, &C));
  PetscCall(GpAppComplaintRaise(comm, file, &C));
  PetscCallMPI(MPI_Bcast(H, (PetscMPIInt)sizeof(*H), MPI_BYTE, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks n column indices of a row and records the first error; returns true if they are valid. last: the column before these, -1 if there is none. */
PetscBool GpAppMatCheckColumns(const GpAppMatHeader *H, PetscInt row, PetscInt n, const PetscInt column[], PetscInt last, GpAppComplaint *C)
{
  for (PetscInt k = 0; k < n; last = column[k++]) {
    if (column[k] > last && column[k] < H->N) continue;
    if (column[k] < 0 || column[k] >= H->N)
      GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "row %" PetscInt_FMT ": column index %" PetscInt_FMT " of a %" PetscInt_FMT " x %" PetscInt_FMT " matrix; columns are counted from 0: the file is damaged", row, column[k], H->M, H->N);
    else GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "row %" PetscInt_FMT ": column index %" PetscInt_FMT " after %" PetscInt_FMT "; columns must ascend: write the matrix by MatView() of an assembled matrix", row, column[k], last);
    return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Records the first invalid one of m row lengths, and returns their sum, which cannot overflow. */
PetscInt64 GpAppMatCheckLengths(const GpAppMatHeader *H, PetscInt start, PetscInt m, const PetscInt length[], GpAppComplaint *C)
{
  PetscInt64 sum = 0;

  for (PetscInt r = 0; r < m; sum += length[r++]) {
    if (length[r] >= 0 && length[r] <= H->N && length[r] <= H->nnz - sum) continue;
    GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "row %" PetscInt_FMT " has %" PetscInt_FMT " nonzeros, in a matrix of %" PetscInt_FMT " x %" PetscInt_FMT " with %" PetscInt64_FMT ": the file is damaged", start + r, length[r], H->M, H->N,
                       H->nnz);
    break;
  }
  return sum;
}

/* Raises errors in row lengths. Their sum must equal the number of nonzeros in the header. before: nonzeros on lower ranks. Collective. */
PetscErrorCode GpAppMatSumLengths(MPI_Comm comm, const char file[], const GpAppMatHeader *H, PetscInt64 mine, const GpAppComplaint *lengths, PetscInt64 *before)
{
  PetscInt64 all;

  PetscFunctionBegin;
  PetscCall(GpAppComplaintRaise(comm, file, lengths));
  PetscCall(GpAppSumBefore(comm, mine, before, &all));
  PetscCheck(all == H->nnz, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the lengths of the rows add up to %" PetscInt64_FMT ", the header says %" PetscInt64_FMT " nonzeros: the file is damaged", file, all, H->nnz);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads n integers that the file has according to its header. */
static PetscErrorCode BinaryReadOrComplain(FILE *fp, PetscInt n, PetscInt v[], const char what[], GpAppComplaint *C)
{
  PetscBool whole;

  PetscFunctionBegin;
  PetscCall(GpAppBinaryReadInts_Private(fp, n, v, &whole));
  if (!whole) GpAppComplainAbout(C, PETSC_ERR_FILE_READ, 0, "the %s cannot be read: %s", what, ferror(fp) ? strerror(errno) : "the file has become shorter");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the columns of the rows of this rank, piece by piece. */
static PetscErrorCode BinaryCheckColumns(const GpAppMatHeader *H, FILE *fp, PetscInt start, PetscInt m, const PetscInt length[], PetscInt piece[], GpAppComplaint *C)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < m && !C->code; r++) {
    for (PetscInt rest = length[r], last = -1, now; rest && !C->code; rest -= now) {
      now = PetscMin(rest, PIECE);
      PetscCall(BinaryReadOrComplain(fp, now, piece, "columns", C));
      if (!C->code && GpAppMatCheckColumns(H, start + r, now, piece, last, C)) last = piece[now - 1];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the rows of a sparse matrix in PETSc's binary format: their lengths, and that columns ascend and are in range. Each rank checks some of the rows. Collective. */
PetscErrorCode GpAppMatCheck(MPI_Comm comm, const char file[], const GpAppMatHeader *H)
{
  GpAppComplaint C = {0};
  PetscMPIInt    rank, size;
  PetscInt       start, m, *length, *piece;
  PetscInt64     sum, before;
  PetscErrorCode ierr;
  FILE          *fp;

  PetscFunctionBegin;
  if (H->nnz < 0) PetscFunctionReturn(PETSC_SUCCESS); /* the check of the header is sufficient for a dense matrix */
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  start = H->M / size * rank + PetscMin(H->M % size, rank);
  m     = H->M / size + (rank < H->M % size);
  PetscCall(PetscCalloc1(m, &length));
  PetscCall(PetscMalloc1(PIECE, &piece));
  fp = GpAppBinaryOpenAt_Private(file, (4 + (PetscInt64)start) * (PetscInt64)sizeof(PetscInt), &C);
  if (fp) PetscCall(BinaryReadOrComplain(fp, m, length, "lengths of the rows", &C));
  sum  = GpAppMatCheckLengths(H, start, m, length, &C);
  ierr = GpAppMatSumLengths(comm, file, H, sum, &C, &before);
  if (!ierr) {
    if (fseeko(fp, (off_t)((4 + (PetscInt64)H->M + before) * (PetscInt64)sizeof(PetscInt)), SEEK_SET)) GpAppComplainAbout(&C, PETSC_ERR_FILE_READ, 0, "%s", strerror(errno));
    PetscCall(BinaryCheckColumns(H, fp, start, m, length, piece, &C));
    ierr = GpAppComplaintRaise(comm, file, &C);
  }
  if (fp) (void)fclose(fp);
  PetscCall(PetscFree(length));
  PetscCall(PetscFree(piece));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
