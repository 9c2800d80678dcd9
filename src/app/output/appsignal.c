/* Temporary files of outputs, and their removal when a signal ends the program. */
#define _GNU_SOURCE
#include "app/output/appoutputimpl.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TEMPORARIES 32

/* Every temporary file of this process. The signal handler reads the table, so entries change only while signals are blocked. */
static struct {
  volatile sig_atomic_t used;
  pid_t                 owner; /* a child process that inherits the table must not remove the files */
  int                   folder;
  int                   flags; /* of unlinkat(): AT_REMOVEDIR for a folder */
  char                  name[GP_APP_TEMPORARY_LEN];
} Temporaries[MAX_TEMPORARIES];

/* The thread that writes outputs. Other threads (of MPI, of BLAS) do not block signals while the table changes, so they hand a signal that reaches them to this thread. */
static pthread_t Writer;

/* Signals that end a program from outside: the handler leaves the rest to the default action, so that the exit status is 128 + n. */
static const int Ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
/* Signals of faults: the handler leaves the rest to the action that was there before, for instance PETSc's. */
static const int        Faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
static struct sigaction Before[sizeof(Faults) / sizeof(Faults[0])];

/* Removes all temporary files of this process. A program calls this before it ends without the usual way out.
   Only functions that are safe in a signal handler are called. */
void GpAppTemporariesRemove(void)
{
  const pid_t me   = getpid();
  const int   kept = errno;

  for (int folders = 0; folders < 2; folders++) { /* a folder must be empty before it is removed */
    for (int k = 0; k < MAX_TEMPORARIES; k++) {
      if (!Temporaries[k].used || Temporaries[k].owner != me || (Temporaries[k].flags != 0) != folders) continue;
      (void)unlinkat(Temporaries[k].folder, Temporaries[k].name, Temporaries[k].flags);
      Temporaries[k].used = 0;
    }
  }
  errno = kept;
}

static void SignalHandleEnding(int sig)
{
  if (!pthread_equal(pthread_self(), Writer)) {
    (void)pthread_kill(Writer, sig);
    return;
  }
  GpAppTemporariesRemove();
  (void)signal(sig, SIG_DFL);
  (void)raise(sig); /* takes effect when the handler returns, since the signal is blocked until then */
}

static void SignalHandleFault(int sig)
{
  GpAppTemporariesRemove();
  for (size_t k = 0; k < sizeof(Faults) / sizeof(Faults[0]); k++)
    if (Faults[k] == sig) (void)sigaction(sig, &Before[k], NULL);
  (void)raise(sig);
}

/* Makes a program remove its temporary files when a signal ends it. Call it after PetscInitialize(), whose handlers it replaces for the signals that end a program from outside,
   and from the thread that writes the outputs.
   A signal that is ignored stays ignored (nohup). SIGXFSZ is ignored, so that a file that grows beyond `ulimit -f` is an error with a message. The library never calls this:
   signals belong to the program. */
PetscErrorCode GpAppSignalsInstall(void)
{
  struct sigaction ending, fault, old;

  PetscFunctionBegin;
  Writer = pthread_self();
  PetscCall(PetscMemzero(&ending, sizeof(ending)));
  (void)sigfillset(&ending.sa_mask);
  fault             = ending;
  ending.sa_handler = SignalHandleEnding;
  fault.sa_handler  = SignalHandleFault;
  for (size_t k = 0; k < sizeof(Ending) / sizeof(Ending[0]); k++) {
    if (!sigaction(Ending[k], NULL, &old) && old.sa_handler != SIG_IGN) (void)sigaction(Ending[k], &ending, NULL);
  }
  for (size_t k = 0; k < sizeof(Faults) / sizeof(Faults[0]); k++) {
    if (!sigaction(Faults[k], NULL, &old) && old.sa_handler != SignalHandleFault && !sigaction(Faults[k], &fault, NULL)) Before[k] = old;
  }
  (void)signal(SIGXFSZ, SIG_IGN);
  (void)atexit(GpAppTemporariesRemove);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Enters a name into the table; -1: the table is full. The caller has blocked all signals. */
static int TemporaryRegister(int folder, const char name[], int flags)
{
  for (int k = 0; k < MAX_TEMPORARIES; k++) {
    if (Temporaries[k].used) continue;
    Temporaries[k].owner  = getpid();
    Temporaries[k].folder = folder;
    Temporaries[k].flags  = flags;
    (void)snprintf(Temporaries[k].name, sizeof(Temporaries[k].name), "%s", name);
    Temporaries[k].used = 1;
    return k;
  }
  return -1;
}

/*
  Creates a file of a name that nobody can predict in a folder, and registers it. Returns its descriptor, or -1 and errno. The name does
  not depend on that of the output, whose length may be NAME_MAX.
*/
int GpAppTemporaryCreate_Private(int folder, mode_t mode, int *slot, char name[GP_APP_TEMPORARY_LEN])
{
  sigset_t all, kept;
  int      fd = -1, err = EEXIST;

  (void)sigfillset(&all);
  for (int attempt = 0; attempt < 100 && err == EEXIST; attempt++) {
    unsigned char random[10];

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
      errno = EAGAIN;
      return -1;
    }
    (void)snprintf(name, GP_APP_TEMPORARY_LEN, ".gpucsr-");
    for (size_t k = 0; k < sizeof(random); k++) (void)snprintf(name + 8 + 2 * k, 3, "%02x", random[k]);
    (void)snprintf(name + 8 + 2 * sizeof(random), 6, ".part");
    (void)sigprocmask(SIG_BLOCK, &all, &kept); /* no signal comes between the creation and the entry in the table */
    fd  = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    err = fd < 0 ? errno : 0;
    if (fd >= 0) *slot = TemporaryRegister(folder, name, 0);
    if (fd >= 0 && *slot < 0) {
      (void)unlinkat(folder, name, 0);
      (void)close(fd);
      fd  = -1;
      err = EMFILE;
    }
    (void)sigprocmask(SIG_SETMASK, &kept, NULL);
  }
  errno = err;
  return fd;
}

/* Removes an entry from the table, and the file too unless it was renamed. */
void GpAppTemporaryForget_Private(int slot, PetscBool remove)
{
  if (slot < 0) return;
  if (remove && Temporaries[slot].used) (void)unlinkat(Temporaries[slot].folder, Temporaries[slot].name, Temporaries[slot].flags);
  Temporaries[slot].used = 0;
}

/* Checks that the disk has space for a number of bytes. Returns an errno. */
static int ScratchCheckSpace(int folder, off_t bytes)
{
  const int fd  = openat(folder, "space", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int       err = fd < 0 ? errno : posix_fallocate(fd, 0, bytes);

  if (fd >= 0) (void)close(fd);
  (void)unlinkat(folder, "space", 0);
  return err;
}

/* Creates a folder for temporary files of at most `bytes` bytes with n names, in TMPDIR or /tmp. Returns 0, or an errno, for instance because the disk has no space for the files. */
int GpAppScratchCreate(int n, const char *const name[], size_t bytes, GpAppScratch *s)
{
  const char *parent = getenv("TMPDIR");
  sigset_t    all, kept;
  int         err = 0;

  if (!parent || !parent[0]) parent = "/tmp";
  *s = (GpAppScratch){.parent = -1, .folder = -1};
  if ((size_t)snprintf(s->path, sizeof(s->path), "%s/gpucsr-XXXXXX", parent) >= sizeof(s->path)) return ENAMETOOLONG;
  s->parent = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (s->parent < 0) return errno;
  (void)sigfillset(&all);
  (void)sigprocmask(SIG_BLOCK, &all, &kept);
  if (!mkdtemp(s->path)) err = errno;
  else if ((s->folder = open(s->path, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) err = errno;
  if (s->folder >= 0) {
    s->slot[s->nslots++] = TemporaryRegister(s->parent, strrchr(s->path, '/') + 1, AT_REMOVEDIR);
    s->slot[s->nslots++] = TemporaryRegister(s->folder, "space", 0);
    for (int k = 0; k < n && s->nslots < GP_APP_SCRATCH_FILES; k++) s->slot[s->nslots++] = TemporaryRegister(s->folder, name[k], 0);
  }
  (void)sigprocmask(SIG_SETMASK, &kept, NULL);
  if (!err) err = ScratchCheckSpace(s->folder, (off_t)bytes);
  if (err) GpAppScratchRemove(s);
  return err;
}

/* Removes the folder and the files whose names were given. */
void GpAppScratchRemove(GpAppScratch *s)
{
  while (s->nslots > 0) GpAppTemporaryForget_Private(s->slot[--s->nslots], PETSC_TRUE);
  if (s->folder >= 0) (void)close(s->folder);
  if (s->parent >= 0) (void)close(s->parent);
  s->folder = s->parent = -1;
}
