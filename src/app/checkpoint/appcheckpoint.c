/* The state of a computation in a file that is verified before any value of it is used. */
#define _GNU_SOURCE
#include "app/checkpoint/appcheckpoint.h"
#include "app/output/appoutputimpl.h"
#include "app/text/appcollective.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "gpucsrC1"
#define ORDER 0x01020304u

typedef struct {
  char     magic[8];
  uint32_t order, version;
  char     program[16];
} Header;

typedef struct {
  uint64_t bytes, crc; /* length of the values; checksum of everything before the checksum */
} Trailer;

static void CheckpointFillHeader(const GpAppCheckpointKind *kind, Header *h)
{
  *h = (Header){.order = ORDER, .version = kind->version};
  memcpy(h->magic, MAGIC, sizeof(h->magic));
  (void)snprintf(h->program, sizeof(h->program), "%s", kind->program);
}

/* Appends bytes to the file on the first rank. GpAppCheckpointCommit() reports errors. */
static void CheckpointPut(GpAppCheckpoint *ck, const void *data, size_t bytes)
{
  if (!ck->out.fp) return;
  ck->crc = GpAppChecksum(ck->crc, data, bytes);
  (void)fwrite(data, 1, bytes, ck->out.fp);
}

/* Reads bytes from the file on the first rank. After an error the bytes are zero, and GpAppCheckpointClose() reports the error. */
static void CheckpointTake(GpAppCheckpoint *ck, void *data, size_t bytes)
{
  if (!ck->bad && fread(data, 1, bytes, ck->fp) != bytes) ck->bad = ferror(ck->fp) && errno ? errno : EIO;
  if (ck->bad) memset(data, 0, bytes);
}

/* Begins to write a checkpoint, which replaces the file when it is committed. GpAppCheckpointCommit() reports a failure. Collective. */
PetscErrorCode GpAppCheckpointCreate(MPI_Comm comm, const char file[], const GpAppCheckpointKind *kind, GpAppCheckpoint *ck)
{
  Header h;

  PetscFunctionBegin;
  *ck = (GpAppCheckpoint){.comm = comm, .program = kind->program, .writing = PETSC_TRUE};
  PetscCall(PetscStrncpy(ck->file, file, sizeof(ck->file)));
  PetscCall(GpAppOutputTryOpen(comm, file, &ck->out));
  CheckpointFillHeader(kind, &h);
  CheckpointPut(ck, &h, sizeof(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends a checkpoint and gives the file its name. written: whether that was possible, or NULL. Collective.
   A failure, for instance because the disk is full, is a warning and not an error, so that the computation continues. The previous checkpoint is kept. */
PetscErrorCode GpAppCheckpointCommit(GpAppCheckpoint *ck, PetscBool *written)
{
  Trailer end;

  PetscFunctionBegin;
  if (!ck->out.why[0]) {
    end.bytes = (uint64_t)ck->left;
    end.crc   = GpAppChecksum(ck->crc, &end.bytes, sizeof(end.bytes));
    CheckpointPut(ck, &end, sizeof(end));
    PetscCall(GpAppOutputTryCommit(&ck->out));
  }
  if (ck->out.why[0]) PetscCall(PetscFPrintf(ck->comm, stderr, "%s: warning: the checkpoint %s was not written: %s; the run continues and tries again at the next checkpoint\n", ck->program, ck->file, ck->out.why));
  if (written) *written = (PetscBool)!ck->out.why[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns whether the checksum at the end of the file is that of its contents; bytes is the length of the file. */
static PetscBool CheckpointIsWhole(FILE *fp, PetscInt64 bytes)
{
  PetscInt64 left = bytes - (PetscInt64)sizeof(uint64_t);
  uint64_t   crc  = 0;
  Trailer    end;
  char       piece[1 << 14];

  if (bytes < (PetscInt64)(sizeof(Header) + sizeof(end)) || fseeko(fp, (off_t)(bytes - (PetscInt64)sizeof(end)), SEEK_SET) || fread(&end, sizeof(end), 1, fp) != 1) return PETSC_FALSE;
  if (end.bytes != (uint64_t)(bytes - (PetscInt64)(sizeof(Header) + sizeof(end))) || fseeko(fp, 0, SEEK_SET)) return PETSC_FALSE;
  while (left > 0) {
    const size_t n = (size_t)PetscMin(left, (PetscInt64)sizeof(piece));

    if (fread(piece, 1, n, fp) != n) return PETSC_FALSE;
    crc = GpAppChecksum(crc, piece, n);
    left -= (PetscInt64)n;
  }
  return (PetscBool)(crc == end.crc && !fseeko(fp, (off_t)sizeof(Header), SEEK_SET));
}

/* Opens and verifies a file, on the first rank. Returns what is wrong with it, with %s for the program; NULL: nothing. err: an errno if the file cannot be opened. */
static const char *CheckpointVerify(GpAppCheckpoint *ck, const GpAppCheckpointKind *kind, int *err)
{
  const int   fd = open(ck->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY); /* does not wait for the writer of a pipe */
  struct stat st;
  Header      is, want;

  ck->fp = fd >= 0 ? fdopen(fd, "rb") : NULL;
  if (!ck->fp || fstat(fd, &st)) {
    *err = errno ? errno : EIO;
    if (fd >= 0 && !ck->fp) (void)close(fd);
    return "";
  }
  if (!S_ISREG(st.st_mode)) return "is not a regular file: a checkpoint is read twice, which a pipe or a directory does not allow";
  CheckpointFillHeader(kind, &want);
  memset(&is, 0, sizeof(is));
  if (fread(&is, 1, sizeof(is), ck->fp) != sizeof(is)) return "is not a checkpoint; give a file that an earlier run of %s wrote as a checkpoint";
  if (!strncmp(is.magic, kind->program, PetscMin(strlen(kind->program), sizeof(is.magic)))) /* a format of earlier versions began with the program's name */
    return "is a checkpoint of an older version of %s, which this version does not read: start the run again without it";
  if (memcmp(is.magic, want.magic, sizeof(is.magic))) return "is not a checkpoint; give a file that an earlier run of %s wrote as a checkpoint";
  if (is.order != want.order) return "is a checkpoint of a machine with another byte order: continue on such a machine, or start the run again without it";
  if (memcmp(is.program, want.program, sizeof(is.program))) return "is a checkpoint of another program than %s; give one of this program";
  if (is.version != want.version) return "is a checkpoint of another version of %s, which this version does not read: start the run again without it";
  if (!CheckpointIsWhole(ck->fp, (PetscInt64)st.st_size)) return "is damaged or truncated: its checksum does not match its contents; start the run again without it";
  ck->left = (PetscInt64)st.st_size - (PetscInt64)(sizeof(Header) + sizeof(Trailer));
  return NULL;
}

/* Opens a checkpoint for reading, once all of it is verified. Collective.
   If the file is refused, the error is PETSC_ERR_FILE_OPEN or PETSC_ERR_FILE_UNEXPECTED, and nothing is left open or allocated. */
PetscErrorCode GpAppCheckpointOpen(MPI_Comm comm, const char file[], const GpAppCheckpointKind *kind, GpAppCheckpoint *ck)
{
  PetscMPIInt rank;
  const char *wrong;
  int         err      = 0;
  char        why[256] = "";

  PetscFunctionBegin;
  *ck = (GpAppCheckpoint){.comm = comm, .program = kind->program};
  PetscCall(PetscStrncpy(ck->file, file, sizeof(ck->file)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank && (wrong = CheckpointVerify(ck, kind, &err))) {
    if (err) (void)snprintf(why, sizeof(why), "cannot be opened: %s", strerror(err));
    else (void)snprintf(why, sizeof(why), wrong, kind->program);
  }
  PetscCallMPI(MPI_Bcast(why, sizeof(why), MPI_CHAR, 0, comm));
  PetscCallMPI(MPI_Bcast(&err, 1, MPI_INT, 0, comm));
  PetscCallMPI(MPI_Bcast(&ck->left, 1, MPIU_INT64, 0, comm));
  if (why[0]) PetscCall(GpAppCheckpointRefuse(ck, err ? PETSC_ERR_FILE_OPEN : PETSC_ERR_FILE_UNEXPECTED, "%s", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Closes a checkpoint that is being read, and raises an error. format: what is wrong, as for printf(); the name of the file comes before it. Logically collective. */
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

/* Ends the reading of a checkpoint, all of whose values must have been read. The values are valid only if this function succeeds: it reports read errors that occurred after the
   check. Collective. */
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
static PetscErrorCode CheckpointCount(GpAppCheckpoint *ck, PetscInt64 n, size_t each)
{
  PetscFunctionBegin;
  if (!ck->writing && (n < 0 || n > ck->left / (PetscInt64)each)) PetscCall(GpAppCheckpointRefuse(ck, PETSC_ERR_FILE_UNEXPECTED, "holds fewer values than its sizes say"));
  ck->left += (ck->writing ? n : -n) * (PetscInt64)each;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes values of the first rank, or reads values for all ranks. Collective. */
PetscErrorCode GpAppCheckpointReplicated(GpAppCheckpoint *ck, void *data, size_t bytes)
{
  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckpointCount(ck, (PetscInt64)bytes, 1));
  if (ck->writing) CheckpointPut(ck, data, bytes);
  else if (ck->fp) CheckpointTake(ck, data, bytes);
  if (!ck->writing) PetscCall(GpAppBroadcast(ck->comm, data, bytes, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The context of CheckpointPassValues() */
typedef struct {
  GpAppCheckpoint *ck;
  size_t           each;
} ValuePass;

static PetscErrorCode CheckpointPassValues(void *ctx, void *values, PetscInt n)
{
  const ValuePass *pass = (const ValuePass *)ctx;

  PetscFunctionBegin;
  if (pass->ck->writing) CheckpointPut(pass->ck, values, (size_t)n * pass->each);
  else CheckpointTake(pass->ck, values, (size_t)n * pass->each);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes or reads an array that is distributed over the ranks, n values of `each` bytes here. Collective.
   The file holds the parts in the order of the ranks, so that another number of ranks can read them. */
PetscErrorCode GpAppCheckpointDistributed(GpAppCheckpoint *ck, void *values, PetscInt n, size_t each)
{
  ValuePass  pass = {ck, each};
  PetscInt64 all;

  PetscFunctionBegin;
  PetscCall(GpAppSumBefore(ck->comm, n, NULL, &all));
  PetscCall(CheckpointCount(ck, all, each));
  if (!ck->out.why[0]) PetscCall(GpAppPassInTurn_Private(ck->comm, values, n, each, ck->writing, CheckpointPassValues, &pass));
  PetscFunctionReturn(PETSC_SUCCESS);
}
