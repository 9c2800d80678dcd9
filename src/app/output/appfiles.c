/* The files of a run: no output may be an input or the same file as another output, and all must be writable before the work begins. */
#define _GNU_SOURCE
#include "app/output/appoutputimpl.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 32

typedef struct {
  GpAppFileRole role;
  char          option[64], path[PETSC_MAX_PATH_LEN];
} File;

static File Files[MAX_FILES];
static int  NFiles = 0;

/* Registers a file that a run reads or writes, and the option that names it; an empty path is no file. GpAppFilesCheck() checks all registered files. Logically collective. */
PetscErrorCode GpAppFilesAdd(GpAppFileRole role, const char option[], const char path[])
{
  PetscFunctionBegin;
  if (!path[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(NFiles < MAX_FILES, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d files in a run", MAX_FILES);
  Files[NFiles].role = role;
  PetscCall(PetscStrncpy(Files[NFiles].option, option, sizeof(Files[NFiles].option)));
  PetscCall(PetscStrncpy(Files[NFiles++].path, path, sizeof(Files[0].path)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool FilesIsOutput(const File *f)
{
  return (PetscBool)(f->role == GP_APP_FILE_OUTPUT || f->role == GP_APP_FILE_CHECKPOINT);
}

/* Finds which file a name stands for; links are followed for inputs too. */
static void FilesIdentify(const File *f, GpAppTarget *t)
{
  GpAppTargetResolve_Private(f->path, t);
  if (!FilesIsOutput(f) && !strcmp(f->path, "-") && !fstat(0, &t->st)) {
    t->err     = 0;
    t->regular = (PetscBool)S_ISREG(t->st.st_mode);
  }
}

/* Returns whether two uses of files conflict: an output destroys the other file, or two inputs are standard input. */
static PetscBool FilesConflict(const File *f, const GpAppTarget *a, const File *g, const GpAppTarget *b)
{
  if (!FilesIsOutput(f) && !FilesIsOutput(g)) return (PetscBool)(!strcmp(f->path, "-") && !strcmp(g->path, "-"));
  if ((f->role == GP_APP_FILE_CHECKPOINT && g->role == GP_APP_FILE_RESTART) || (f->role == GP_APP_FILE_RESTART && g->role == GP_APP_FILE_CHECKPOINT)) return PETSC_FALSE;
  if (a->err || b->err) return PETSC_FALSE;
  if (a->descriptor >= 0 && b->descriptor >= 0) return PETSC_FALSE; /* both uses append to the same open file */
  if (a->regular && b->regular) return (PetscBool)(a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino);
  if (a->regular || b->regular || a->direct || b->direct) return PETSC_FALSE;
  return (PetscBool)(a->folder_st.st_dev == b->folder_st.st_dev && a->folder_st.st_ino == b->folder_st.st_ino && !strcmp(a->name, b->name)); /* neither file exists yet */
}

/* Finds the first pair of files that conflict. If one of them is an output, it is found[0]. */
static PetscErrorCode FilesFindConflict(int found[2])
{
  GpAppTarget *t;

  PetscFunctionBegin;
  found[0] = found[1] = -1;
  PetscCall(PetscMalloc1(NFiles, &t));
  for (int i = 0; i < NFiles; i++) FilesIdentify(&Files[i], &t[i]);
  for (int i = 0; i < NFiles && found[0] < 0; i++) {
    for (int k = i + 1; k < NFiles && found[0] < 0; k++) {
      const PetscBool swap = (PetscBool)(!FilesIsOutput(&Files[i]) && FilesIsOutput(&Files[k]));

      if (!FilesConflict(&Files[i], &t[i], &Files[k], &t[k])) continue;
      found[0] = swap ? k : i;
      found[1] = swap ? i : k;
    }
  }
  PetscCall(PetscFree(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the first input that cannot be read, and why. A file that goes with another of the same option may be missing: its reader knows whether it needs it. */
static int FilesFindUnreadable(int *err)
{
  for (int i = 0; i < NFiles; i++) {
    struct stat st;

    if (FilesIsOutput(&Files[i]) || !strcmp(Files[i].path, "-")) continue;
    if (i && !FilesIsOutput(&Files[i - 1]) && !strcmp(Files[i].option, Files[i - 1].option)) continue;
    *err = 0;
    if (stat(Files[i].path, &st) || access(Files[i].path, R_OK)) *err = errno;
    else if (S_ISDIR(st.st_mode)) *err = EISDIR;
    if (*err) return i;
  }
  return -1;
}

/* Refuses inputs that cannot be read, files of a run that would destroy each other, and outputs that cannot be written. Afterwards no files are registered. Collective.
   Two existing files are the same if device and inode agree after links have been resolved. Two files that do not exist yet are the same if folder and name agree. Devices and
   pipes may be named several times. */
PetscErrorCode GpAppFilesCheck(MPI_Comm comm)
{
  const int   n        = NFiles;
  int         found[2] = {-1, -1}, unreadable[2] = {-1, 0};
  PetscMPIInt rank;
  const File *f, *g;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    unreadable[0] = FilesFindUnreadable(&unreadable[1]);
    PetscCall(FilesFindConflict(found));
  }
  PetscCallMPI(MPI_Bcast(unreadable, 2, MPI_INT, 0, comm));
  PetscCallMPI(MPI_Bcast(found, 2, MPI_INT, 0, comm));
  NFiles = 0;
  PetscCheck(unreadable[0] < 0, comm, PETSC_ERR_FILE_OPEN, "%s: %s (given by %s)", Files[unreadable[0]].path, strerror(unreadable[1]), Files[unreadable[0]].option);
  if (found[0] >= 0) {
    f = &Files[found[0]];
    g = &Files[found[1]];
    PetscCheck(FilesIsOutput(f), comm, PETSC_ERR_USER_INPUT, "%s - and %s -: only one input can be standard input", f->option, g->option);
    PetscCheck(FilesIsOutput(g), comm, PETSC_ERR_USER_INPUT, "%s %s would overwrite the input of %s: choose another name for the output", f->option, f->path, g->option);
    SETERRQ(comm, PETSC_ERR_USER_INPUT, "%s %s and %s %s are the same file: choose another name for one of them", f->option, f->path, g->option, g->path);
  }
  for (int i = 0; i < n; i++) PetscCheck(!FilesIsOutput(&Files[i]) || strcmp(Files[i].path, "-"), comm, PETSC_ERR_USER_INPUT, "%s -: - is standard input only; name the standard output stream /dev/stdout, or a file ./-", Files[i].option);
  for (int i = 0; i < n; i++)
    if (FilesIsOutput(&Files[i])) PetscCall(GpAppOutputProbe(comm, Files[i].path));
  PetscFunctionReturn(PETSC_SUCCESS);
}
