/* Output files: a file is replaced as a whole or not at all; a device or pipe is written to. */
#define _GNU_SOURCE
#include "app/output/appoutputimpl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES  65536
#define FAILED_BEFORE -1 /* not a value of errno: the writer had no result to write */

/* An open output on the first rank. The stream writes through it, so that the cause of the first error is kept. */
struct _n_GpAppOutputFile {
  int         fd, err; /* the first errno of a write */
  int         folder, slot;
  char        temporary[GP_APP_TEMPORARY_LEN];
  GpAppTarget target;
};

static ssize_t OutputWrite(void *cookie, const char *data, size_t bytes)
{
  GpAppOutputFile f    = (GpAppOutputFile)cookie;
  size_t          done = 0;

  while (done < bytes && !f->err) {
    const ssize_t n = write(f->fd, data + done, bytes - done);

    if (n >= 0) done += (size_t)n;
    else if (errno != EINTR) f->err = errno ? errno : EIO;
  }
  return f->err ? 0 : (ssize_t)bytes; /* 0 is the error of this interface */
}

/* Opens a named pipe. If the pipe has no reader yet, prints a message and waits for one. */
static int OutputOpenPipe(const char path[])
{
  const int now = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

  if (now < 0 && errno == ENXIO) {
    (void)fprintf(stderr, "waiting for a reader of the pipe %s\n", path);
    return open(path, O_WRONLY | O_CLOEXEC);
  }
  if (now >= 0) (void)fcntl(now, F_SETFL, fcntl(now, F_GETFL) & ~O_NONBLOCK);
  return now;
}

/* Opens an output that is not replaced: a device, a pipe, or a duplicate of an open descriptor, which shares the position in the file. */
static int OutputOpenDirect(GpAppOutputFile f)
{
  const GpAppTarget *t = &f->target;
  int                flags;

  if (t->descriptor < 0 && S_ISFIFO(t->st.st_mode)) f->fd = OutputOpenPipe(t->path);
  else if (t->descriptor < 0) f->fd = open(t->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  else {
    flags = fcntl(t->descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) return EACCES;
    (void)fflush(stdout); /* what the program has printed comes before the output */
    f->fd = fcntl(t->descriptor, F_DUPFD_CLOEXEC, 0);
  }
  return f->fd < 0 ? errno : 0;
}

/*
  The new file has the owner and the permissions of the one that it replaces. Where the group cannot be kept, members of the new group get no
  more than others.
*/
static int OutputCopyPermissions(int fd, const GpAppTarget *t)
{
  struct stat st;
  mode_t      mode = t->st.st_mode & 07777;

  if (fstat(fd, &st)) return errno;
  if ((st.st_uid != t->st.st_uid || st.st_gid != t->st.st_gid) && fchown(fd, t->st.st_uid, t->st.st_gid)) {
    mode &= 0777;
    if (st.st_gid != t->st.st_gid && fchown(fd, (uid_t)-1, t->st.st_gid)) mode = (mode & ~(mode_t)070) | (mode & 070 & ((mode & 07) << 3));
  }
  return fchmod(fd, mode) ? errno : 0;
}

/* Creates the temporary file beside the target. */
static int OutputOpenReplacement(GpAppOutputFile f)
{
  const GpAppTarget *t = &f->target;
  int                fd;

  f->folder = open(t->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (f->folder < 0) return errno;
  if (t->regular) { /* a file that may not be written is not replaced either */
    fd = openat(f->folder, t->name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno;
    (void)close(fd);
  }
  f->fd = GpAppTemporaryCreate_Private(f->folder, t->regular ? 0600 : 0666, &f->slot, f->temporary);
  if (f->fd < 0) return errno;
  return t->regular ? OutputCopyPermissions(f->fd, t) : 0;
}

/* Closes all, and gives the file its name; or removes it after an error. Returns the first error. */
static int OutputClose(GpAppOutputFile f, int err)
{
  if (f->fd >= 0 && close(f->fd) && !err) err = errno;
  if (!f->target.direct && !err && renameat(f->folder, f->temporary, f->folder, f->target.name)) err = errno;
  GpAppTemporaryForget_Private(f->slot, (PetscBool)(err != 0));
  if (f->folder >= 0) (void)close(f->folder);
  free(f);
  return err;
}

/* Begins with a path; sets errno if its target cannot be written. */
static GpAppOutputFile OutputResolve(const char path[], int *err)
{
  GpAppOutputFile f = (GpAppOutputFile)calloc(1, sizeof(*f));

  *err = ENOMEM;
  if (!f) return NULL;
  f->fd = f->folder = f->slot = -1;
  GpAppTargetResolve_Private(path, &f->target);
  *err = f->target.err;
  return f;
}

/* Opens an output on the first rank. */
static int OutputOpen(const char path[], GpAppOutput *out)
{
  const cookie_io_functions_t io = {NULL, OutputWrite, NULL, NULL};
  int                         err;
  GpAppOutputFile             f = OutputResolve(path, &err);

  if (!f) return err;
  if (!err) err = f->target.direct ? OutputOpenDirect(f) : OutputOpenReplacement(f);
  if (!err && !(out->fp = fopencookie(f, "w", io))) err = ENOMEM;
  if (err) return OutputClose(f, err);
  (void)setvbuf(out->fp, NULL, _IOFBF, BUFFER_BYTES);
  out->file   = f;
  out->direct = f->target.direct;
  return 0;
}

/* Broadcasts the cause of a failure from the first rank. why is empty if there was none. */
static PetscErrorCode OutputBroadcastError(GpAppOutput *out, int err)
{
  int direct = (int)out->direct;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(out->why, err == FAILED_BEFORE ? out->failed : err ? strerror(err) : "", sizeof(out->why)));
  PetscCallMPI(MPI_Bcast(out->why, (PetscMPIInt)sizeof(out->why), MPI_CHAR, 0, out->comm));
  PetscCallMPI(MPI_Bcast(&direct, 1, MPI_INT, 0, out->comm));
  out->direct = (PetscBool)direct;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens an output for writing by the first rank: a file, which is replaced when the output is committed; or a device, pipe or descriptor, which is written to. Collective.
   A failure is not raised: out->why is its cause on all ranks, else empty. */
PetscErrorCode GpAppOutputTryOpen(MPI_Comm comm, const char path[], GpAppOutput *out)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(out, sizeof(*out)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  out->comm = comm;
  PetscCall(PetscStrncpy(out->path, path, sizeof(out->path)));
  PetscCall(OutputBroadcastError(out, rank ? 0 : OutputOpen(path, out)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens an output for writing by the first rank; collective. See GpAppOutputTryOpen(). */
PetscErrorCode GpAppOutputOpen(MPI_Comm comm, const char path[], GpAppOutput *out)
{
  PetscFunctionBegin;
  PetscCall(GpAppOutputTryOpen(comm, path, out));
  PetscCheck(!out->why[0], comm, PETSC_ERR_FILE_WRITE, "cannot create %s: %s", path, out->why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that an output can be written. A pipe or device is not opened, because its reader would see the end of the input. */
static int OutputProbe(const char path[])
{
  int             err, flags;
  GpAppOutputFile f = OutputResolve(path, &err);

  if (!f) return err;
  if (!err && !f->target.direct) err = OutputOpenReplacement(f);
  else if (!err && f->target.descriptor >= 0) {
    flags = fcntl(f->target.descriptor, F_GETFL);
    err   = flags < 0 ? errno : (flags & O_ACCMODE) == O_RDONLY ? EACCES : 0;
  } else if (!err && S_ISSOCK(f->target.st.st_mode)) err = ENXIO;
  else if (!err && faccessat(AT_FDCWD, f->target.path, W_OK, AT_EACCESS)) err = errno;
  (void)OutputClose(f, err ? err : ECANCELED); /* ECANCELED: nothing is renamed */
  return err;
}

/* Checks that an output can be written, before the work whose result it is to hold; collective. */
PetscErrorCode GpAppOutputProbe(MPI_Comm comm, const char path[])
{
  GpAppOutput out = {.comm = comm};
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(OutputBroadcastError(&out, rank ? 0 : OutputProbe(path)));
  PetscCheck(!out.why[0], comm, PETSC_ERR_FILE_WRITE, "cannot create %s: %s", path, out.why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends an output and gives the file its name. Collective.
   If anything failed since the output was opened, out->why is the cause on all ranks, and the old file is as it was. A device or pipe may have received a part. */
PetscErrorCode GpAppOutputTryCommit(GpAppOutput *out)
{
  GpAppOutputFile f   = out->file;
  int             err = 0;

  PetscFunctionBegin;
  if (f) {
    if (fflush(out->fp)) err = f->err ? f->err : errno ? errno : EIO;
    if (!err) err = f->err ? f->err : ferror(out->fp) ? EIO : out->failed[0] ? FAILED_BEFORE : 0;
    if (fclose(out->fp) && !err) err = f->err ? f->err : EIO;
    if (!err && !f->target.direct && fsync(f->fd)) err = errno ? errno : EIO; /* some file systems report a full disk only here */
    err       = OutputClose(f, err);
    out->fp   = NULL;
    out->file = NULL;
  }
  PetscCall(OutputBroadcastError(out, err));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends an output and gives the file its name; collective. See GpAppOutputTryCommit(). */
PetscErrorCode GpAppOutputCommit(GpAppOutput *out)
{
  PetscFunctionBegin;
  PetscCall(GpAppOutputTryCommit(out));
  PetscCheck(!out->why[0], out->comm, PETSC_ERR_FILE_WRITE, "cannot write %s: %s%s", out->path, out->why, out->direct ? "" : "; the temporary file was removed");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Passes the values of all ranks, in the order of the ranks, through a function on the first rank. Collective.
   write: the function receives the values, and may change its copy; otherwise it supplies them. values: those of this rank, n of `each` bytes. */
PetscErrorCode GpAppPassInTurn_Private(MPI_Comm comm, void *values, PetscInt n, size_t each, PetscBool write, GpAppPass pass, void *ctx)
{
  const PetscInt most = 8192;
  PetscMPIInt    rank, size;
  char          *buffer;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1((size_t)most * each, &buffer));
  for (PetscMPIInt r = 0; r < size; r++) {
    PetscInt left = n;

    if (rank && rank != r) continue;
    if (r && rank) PetscCallMPI(MPI_Send(&left, 1, MPIU_INT, 0, 0, comm));
    if (r && !rank) PetscCallMPI(MPI_Recv(&left, 1, MPIU_INT, r, 0, comm, MPI_STATUS_IGNORE));
    for (PetscInt done = 0, now; done < left; done += now) {
      char  *mine = (char *)values + (size_t)done * each, *piece = rank ? mine : buffer;
      size_t bytes;

      now   = PetscMin(most, left - done);
      bytes = (size_t)now * each;
      if (!rank && !write) PetscCall((*pass)(ctx, piece, now));
      if (!r && write) PetscCall(PetscMemcpy(piece, mine, bytes));
      if (r && (rank != 0) == write) PetscCallMPI(MPI_Send(piece, (PetscMPIInt)bytes, MPI_BYTE, rank ? 0 : r, 0, comm));
      else if (r) PetscCallMPI(MPI_Recv(piece, (PetscMPIInt)bytes, MPI_BYTE, rank ? 0 : r, 0, comm, MPI_STATUS_IGNORE));
      if (!r && !write) PetscCall(PetscMemcpy(mine, piece, bytes));
      if (!rank && write) PetscCall((*pass)(ctx, piece, now));
    }
  }
  PetscCall(PetscFree(buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The context of OutputWriteBinary() */
typedef struct {
  GpAppOutput  *out;
  PetscDataType type;
  size_t        each;
} BinarySink;

static PetscErrorCode OutputWriteBinary(void *ctx, void *values, PetscInt n)
{
  const BinarySink *to = (const BinarySink *)ctx;

  PetscFunctionBegin;
#if !defined(PETSC_WORDS_BIGENDIAN)
  PetscCall(PetscByteSwap(values, to->type, n));
#endif
  (void)fwrite(values, to->each, (size_t)n, to->out->fp); /* GpAppOutputCommit() reports errors */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the values of all ranks, in the order of the ranks, in PETSc's binary format. Collective.
   PETSc's viewers open files by name and do not tell why a write failed. This function writes to files, pipes and devices alike, and GpAppOutputCommit() tells the cause. */
PetscErrorCode GpAppOutputBinary(GpAppOutput *out, const void *values, PetscInt n, PetscDataType type)
{
  BinarySink to = {out, type, 0};

  PetscFunctionBegin;
  PetscCall(PetscDataTypeGetSize(type, &to.each));
  PetscCall(GpAppPassInTurn_Private(out->comm, (void *)values, n, to.each, PETSC_TRUE, OutputWriteBinary, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}
