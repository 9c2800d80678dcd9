/* Output files that are there completely or not at all: written aside, then renamed. */
#define _POSIX_C_SOURCE 200809L
#include "app/app.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOT_A_FILE -1 /* beside what errno can be */

/* raises on every rank what went wrong on the first one, if anything did */
static PetscErrorCode RaiseErrno(GpAppOutput *out, int err, const char doing[])
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&err, 1, MPI_INT, 0, out->comm));
  PetscCheck(!err, out->comm, PETSC_ERR_FILE_WRITE, "Cannot %s %s: %s; nothing was left behind", doing, out->path, err == NOT_A_FILE ? "it is there and no regular file" : strerror(err));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* opens a file for writing by the first rank, under a name that is not yet its own; collective */
PetscErrorCode GpAppOutputOpen(MPI_Comm comm, const char path[], GpAppOutput *out)
{
  PetscMPIInt rank;
  int         err = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  out->comm = comm;
  out->fp   = NULL;
  PetscCall(PetscStrncpy(out->path, path, sizeof(out->path)));
  PetscCall(PetscSNPrintf(out->aside, sizeof(out->aside), "%s.%ld.part", path, (long)getpid()));
  if (!rank) {
    struct stat st;

    if (!stat(path, &st) && !S_ISREG(st.st_mode)) err = NOT_A_FILE; /* a folder cannot be replaced later; a device such as /dev/null must not be */
    else out->fp = fopen(out->aside, "w");
    if (!err && !out->fp) err = errno ? errno : EIO;
  }
  PetscCall(RaiseErrno(out, err, "create"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* checks that a file can be created, before the work whose result it is to hold; collective */
PetscErrorCode GpAppOutputProbe(MPI_Comm comm, const char path[])
{
  GpAppOutput out;

  PetscFunctionBegin;
  PetscCall(GpAppOutputOpen(comm, path, &out));
  if (out.fp) {
    (void)fclose(out.fp);
    (void)unlink(out.aside);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* closes the file and gives it its name; removes it when anything failed since it was opened; collective */
PetscErrorCode GpAppOutputCommit(GpAppOutput *out)
{
  int err = 0;

  PetscFunctionBegin;
  if (out->fp) {
    if (fflush(out->fp) || fsync(fileno(out->fp))) err = errno ? errno : EIO;
    if (!err && ferror(out->fp)) err = EIO;
    if (fclose(out->fp) && !err) err = errno ? errno : EIO;
    out->fp = NULL;
    if (!err && rename(out->aside, out->path)) err = errno;
    if (err) (void)unlink(out->aside);
  }
  PetscCall(RaiseErrno(out, err, "write"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
