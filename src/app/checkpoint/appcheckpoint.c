/* The state of a computation in a file that is verified before any value of it is used. */
#define _GNU_SOURCE
#include "app/checkpoint/appcheckpoint.h"
#include "app/output/appoutputimpl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC        "gpucsrC1"
#define ORDER        0x01020304u
#define PIECE_VALUES 8192

typedef struct {
  char     magic[8];
  uint32_t order, version;
  char     program[16];
} Header;

typedef struct {
  uint64_t bytes, crc; /* length of the values; checksum of everything before the checksum */
} Trailer;

/* what may be wrong with a file as a whole */
typedef enum {
  FILE_WHOLE,
  FILE_UNOPENED,
  FILE_IRREGULAR,
  FILE_FOREIGN,
  FILE_OLD,
  FILE_OF_ANOTHER_PROGRAM,
  FILE_OF_ANOTHER_MACHINE,
  FILE_OF_ANOTHER_VERSION,
  FILE_DAMAGED
} Verdict;

static const char *const Reasons[] = {
  "",
  "",
  "is not a regular file: a checkpoint is read twice, which a pipe or a directory does not allow",
  "is not a checkpoint",
  "is a checkpoint of an older version of %s, which this version does not read: start the run again without it",
  "is a checkpoint of another program than %s",
  "is a checkpoint of a machine with another byte order",
  "is a checkpoint of another version of %s, which this version does not read: start the run again without it",
  "is damaged or truncated: its checksum does not match its contents",
};

static void FillHeader(const GpAppCheckpointKind *kind, Header *h)
{
  memset(h, 0, sizeof(*h));
  memcpy(h->magic, MAGIC, sizeof(h->magic));
  h->order   = ORDER;
  h->version = kind->version;
  (void)snprintf(h->program, sizeof(h->program), "%s", kind->program);
}

/* Appends bytes to the file on the first rank. GpAppCheckpointCommit() reports errors. */
static void Put(GpAppCheckpoint *ck, const void *data, size_t bytes)
{
  if (!ck->out.fp) return;
  ck->crc = GpAppChecksum(ck->crc, data, bytes);
  (void)fwrite(data, 1, bytes, ck->out.fp);
}

/* Reads bytes from the file on the first rank. After an error the bytes are zero, and GpAppCheckpointClose() reports the error. */
static void Take(GpAppCheckpoint *ck, void *data, size_t bytes)
{
  if (!ck->bad && fread(data, 1, bytes, ck->fp) != bytes) ck->bad = ferror(ck->fp) && errno ? errno : EIO;
  if (ck->bad) memset(data, 0, bytes);
}

/*
  GpAppCheckpointCreate - Begins to write a checkpoint

  Collective

  Input Parameters:
+ comm - the communicator
. file - the file, which is replaced as a whole when the checkpoint is committed
- kind - program and version of the checkpoint

  Output Parameter:
. ck - the checkpoint; GpAppCheckpointCommit() reports a failure
*/
PetscErrorCode GpAppCheckpointCreate(MPI_Comm comm, const char file[], const GpAppCheckpointKind *kind, GpAppCheckpoint *ck)
{
  Header h;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(ck, sizeof(*ck)));
  ck->comm    = comm;
  ck->program = kind->program;
  ck->writing = PETSC_TRUE;
  PetscCall(PetscStrncpy(ck->file, file, sizeof(ck->file)));
  PetscCall(GpAppOutputTryOpen(comm, file, &ck->out));
  FillHeader(kind, &h);
  Put(ck, &h, sizeof(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppCheckpointCommit - Ends a checkpoint and gives the file its name

  Collective

  Input Parameter:
. ck - the checkpoint

  Output Parameter:
. written - whether it could be written, or NULL

  Note:
  A failure, for instance because the disk is full, is a warning and not an error, so that the computation continues. The previous checkpoint is kept.
*/
PetscErrorCode GpAppCheckpointCommit(GpAppCheckpoint *ck, PetscBool *written)
{
  Trailer end;

  PetscFunctionBegin;
  if (!ck->out.why[0]) {
    end.bytes = (uint64_t)ck->left;
    end.crc   = GpAppChecksum(ck->crc, &end.bytes, sizeof(end.bytes));
    Put(ck, &end, sizeof(end));
    PetscCall(GpAppOutputTryCommit(&ck->out));
  }
  if (ck->out.why[0]) PetscCall(PetscFPrintf(ck->comm, stderr, "%s: warning: the checkpoint %s was not written: %s; the run continues and tries again at the next checkpoint\n", ck->program, ck->file, ck->out.why));
  if (written) *written = (PetscBool)!ck->out.why[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the checksum of the whole file with the one at its end; bytes is the length of the file. */
static Verdict VerifyContents(FILE *fp, PetscInt64 bytes)
{
  PetscInt64 left = bytes - (PetscInt64)sizeof(uint64_t);
  uint64_t   crc  = 0;
  Trailer    end;
  char       piece[1 << 14];

  if (fseeko(fp, (off_t)(bytes - (PetscInt64)sizeof(end)), SEEK_SET) || fread(&end, sizeof(end), 1, fp) != 1) return FILE_DAMAGED;
  if (end.bytes != (uint64_t)(bytes - (PetscInt64)(sizeof(Header) + sizeof(end))) || fseeko(fp, 0, SEEK_SET)) return FILE_DAMAGED;
  while (left > 0) {
    const size_t n = (size_t)PetscMin(left, (PetscInt64)sizeof(piece));

    if (fread(piece, 1, n, fp) != n) return FILE_DAMAGED;
    crc = GpAppChecksum(crc, piece, n);
    left -= (PetscInt64)n;
  }
  if (crc != end.crc || fseeko(fp, (off_t)sizeof(Header), SEEK_SET)) return FILE_DAMAGED;
  return FILE_WHOLE;
}

/* Opens and verifies a file, on the first rank. */
static Verdict Verify(GpAppCheckpoint *ck, const GpAppCheckpointKind *kind, int *err)
{
  const int   fd = open(ck->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY); /* does not wait for the writer of a pipe */
  struct stat st;
  Header      is, want;

  *err = errno;
  if (fd < 0) return FILE_UNOPENED;
  ck->fp = fdopen(fd, "rb");
  *err   = errno;
  if (!ck->fp) (void)close(fd);
  if (!ck->fp || fstat(fd, &st)) return FILE_UNOPENED;
  if (!S_ISREG(st.st_mode)) return FILE_IRREGULAR;
  FillHeader(kind, &want);
  memset(&is, 0, sizeof(is));
  if (fread(&is, 1, sizeof(is), ck->fp) != sizeof(is)) return FILE_FOREIGN;
  if (!strncmp(is.magic, kind->program, PetscMin(strlen(kind->program), sizeof(is.magic)))) return FILE_OLD; /* a format of earlier versions began with the program's name */
  if (memcmp(is.magic, want.magic, sizeof(is.magic))) return FILE_FOREIGN;
  if (is.order != want.order) return FILE_OF_ANOTHER_MACHINE;
  if (memcmp(is.program, want.program, sizeof(is.program))) return FILE_OF_ANOTHER_PROGRAM;
  if (is.version != want.version) return FILE_OF_ANOTHER_VERSION;
  if (st.st_size < (off_t)(sizeof(Header) + sizeof(Trailer))) return FILE_DAMAGED;
  ck->left = (PetscInt64)st.st_size - (PetscInt64)(sizeof(Header) + sizeof(Trailer));
  return VerifyContents(ck->fp, (PetscInt64)st.st_size);
}

/*
  GpAppCheckpointOpen - Opens a checkpoint for reading, once all of it is verified

  Collective

  Input Parameters:
+ comm - the communicator
. file - the file
- kind - program and version that the checkpoint must have

  Output Parameter:
. ck - the checkpoint, with ck->left bytes of values

  Note:
  If the file is refused, the error is PETSC_ERR_FILE_OPEN or PETSC_ERR_FILE_UNEXPECTED with a message of one line, and nothing is left open or allocated.
*/
PetscErrorCode GpAppCheckpointOpen(MPI_Comm comm, const char file[], const GpAppCheckpointKind *kind, GpAppCheckpoint *ck)
{
  PetscInt64  found[3] = {FILE_WHOLE, 0, 0}; /* result of the check, an errno, bytes of values */
  PetscMPIInt rank;
  int         err = 0;
  char        why[256];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(ck, sizeof(*ck)));
  ck->comm    = comm;
  ck->program = kind->program;
  PetscCall(PetscStrncpy(ck->file, file, sizeof(ck->file)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    found[0] = Verify(ck, kind, &err);
    found[1] = err;
    found[2] = ck->left;
  }
  PetscCallMPI(MPI_Bcast(found, 3, MPIU_INT64, 0, comm));
  ck->left = found[2];
  if (found[0] == FILE_UNOPENED) PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_OPEN, "cannot be opened: %s", strerror((int)found[1])));
  if (found[0] != FILE_WHOLE) {
    (void)snprintf(why, sizeof(why), Reasons[found[0]], kind->program);
    PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "%s", why));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppCheckpointRefuse - Closes a checkpoint that is being read, and raises an error

  Logically Collective

  Input Parameters:
+ ck     - the checkpoint
. code   - the class of the error
- format - what is wrong, as for printf(); the name of the file comes before it
*/
PetscErrorCode GpAppCheckpointRefuse(GpAppCheckpoint *ck, PetscErrorCode code, const char format[], ...)
{
  char    why[512];
  va_list args;

  PetscFunctionBegin;
  va_start(args, format);
  (void)vsnprintf(why, sizeof(why), format, args);
  va_end(args);
  if (ck->fp) (void)fclose(ck->fp);
  ck->fp = NULL;
  SETERRQ(ck->comm, code, "%s: %s", ck->file, why);
}

/*
  GpAppCheckpointClose - Ends the reading of a checkpoint, all of whose values must have been read

  Collective

  Input Parameter:
. ck - the checkpoint

  Note:
  The values are valid only if this function succeeds: it reports read errors that occurred after the check.
*/
PetscErrorCode GpAppCheckpointClose(GpAppCheckpoint *ck)
{
  int bad = ck->bad;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&bad, 1, MPI_INT, 0, ck->comm));
  if (bad) PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_READ, "cannot be read: %s", strerror(bad)));
  if (ck->left) PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "holds %" PetscInt64_FMT " bytes more than its sizes say", ck->left));
  if (ck->fp) (void)fclose(ck->fp);
  ck->fp = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the bytes of values. Reading more than the file holds is an error. */
static PetscErrorCode Count(GpAppCheckpoint *ck, PetscInt64 n, size_t each)
{
  PetscFunctionBegin;
  if (ck->writing) ck->left += n * (PetscInt64)each;
  else {
    if (n < 0 || n > ck->left / (PetscInt64)each) PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "holds fewer values than its sizes say"));
    ck->left -= n * (PetscInt64)each;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppCheckpointReplicated - Writes or reads values that all ranks have

  Collective

  Input Parameters:
+ ck    - the checkpoint
. data  - the values. The values of the first rank are written; all ranks receive the values that are read.
- bytes - their number
*/
PetscErrorCode GpAppCheckpointReplicated(GpAppCheckpoint *ck, void *data, size_t bytes)
{
  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Count(ck, (PetscInt64)bytes, 1));
  if (ck->writing) {
    Put(ck, data, bytes);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ck->fp) Take(ck, data, bytes);
  for (size_t at = 0; at < bytes; at += 1 << 30) PetscCallMPI(MPI_Bcast((char *)data + at, (PetscMPIInt)PetscMin(bytes - at, (size_t)1 << 30), MPI_BYTE, 0, ck->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a checkpoint and the size of the values at hand */
typedef struct {
  GpAppCheckpoint *ck;
  size_t           each;
} ValueSink;

static PetscErrorCode PutValues(void *ctx, void *values, PetscInt n)
{
  const ValueSink *to = (const ValueSink *)ctx;

  PetscFunctionBegin;
  Put(to->ck, values, (size_t)n * to->each);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the values of all ranks in the order of the ranks, piece by piece. */
static PetscErrorCode TakeInTurn(GpAppCheckpoint *ck, char values[], PetscInt n, size_t each)
{
  PetscMPIInt rank, size;
  char       *piece;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(ck->comm, &rank));
  PetscCallMPI(MPI_Comm_size(ck->comm, &size));
  PetscCall(PetscMalloc1(PIECE_VALUES * each, &piece));
  for (PetscMPIInt to = 0; to < size; to++) {
    PetscInt left = n;

    if (rank && rank != to) continue;
    if (to && rank) PetscCallMPI(MPI_Send(&left, 1, MPIU_INT, 0, 0, ck->comm));
    if (to && !rank) PetscCallMPI(MPI_Recv(&left, 1, MPIU_INT, to, 0, ck->comm, MPI_STATUS_IGNORE));
    for (PetscInt done = 0, now; done < left; done += now) {
      now = PetscMin(PIECE_VALUES, left - done);
      if (!rank) Take(ck, piece, (size_t)now * each);
      if (to && !rank) PetscCallMPI(MPI_Send(piece, (PetscMPIInt)((size_t)now * each), MPI_BYTE, to, 0, ck->comm));
      if (to && rank) PetscCallMPI(MPI_Recv(piece, (PetscMPIInt)((size_t)now * each), MPI_BYTE, 0, 0, ck->comm, MPI_STATUS_IGNORE));
      if (rank == to) PetscCall(PetscMemcpy(values + (size_t)done * each, piece, (size_t)now * each));
    }
  }
  PetscCall(PetscFree(piece));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppCheckpointDistributed - Writes or reads an array that is distributed over the ranks

  Collective

  Input Parameters:
+ ck     - the checkpoint
. values - the part of this rank
. n      - its number of values
- each   - bytes of a value

  Note:
  The file holds the parts in the order of the ranks, so that another number of ranks can read them.
*/
PetscErrorCode GpAppCheckpointDistributed(GpAppCheckpoint *ck, void *values, PetscInt n, size_t each)
{
  ValueSink  to   = {ck, each};
  PetscInt64 mine = n, all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPIU_INT64, MPI_SUM, ck->comm));
  PetscCall(Count(ck, all, each));
  if (!ck->writing) PetscCall(TakeInTurn(ck, (char *)values, n, each));
  else if (!ck->out.why[0]) PetscCall(GpAppGatherInTurn_Private(ck->comm, values, n, each, PutValues, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}
