static char help[] = "Tests output files: temporary names, permissions, verdicts on all ranks, removal by signals.\n";

#define _GNU_SOURCE
#include "app/app.h"
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char Folder[64];

static const char *PathOf(const char name[])
{
  static char path[512];

  (void)snprintf(path, sizeof(path), "%s/%s", Folder, name);
  return path;
}

/* the number of temporary files; the mode of the first one */
static int CountTemporaries(mode_t *mode)
{
  glob_t      found;
  struct stat st;
  int         n = 0;

  if (!glob(PathOf(".gpucsr-*.part"), 0, NULL, &found)) {
    n = (int)found.gl_pathc;
    if (mode && !stat(found.gl_pathv[0], &st)) *mode = st.st_mode & 07777;
    globfree(&found);
  }
  return n;
}

static PetscBool Holds(const char name[], const char text[])
{
  char   line[64] = "";
  FILE  *fp       = fopen(PathOf(name), "r");
  size_t n        = fp ? fread(line, 1, sizeof(line) - 1, fp) : 0;

  if (fp) (void)fclose(fp);
  line[n] = 0;
  return (PetscBool)!strcmp(line, text);
}

static void Fill(const char name[], const char text[], mode_t mode)
{
  FILE *fp = fopen(PathOf(name), "w");

  if (fp) {
    (void)fputs(text, fp);
    (void)fclose(fp);
    (void)chmod(PathOf(name), mode);
  }
}

static PetscErrorCode Expect(PetscBool holds, const char what[])
{
  PetscFunctionBegin;
  if (!holds) PetscCall(PetscPrintf(PETSC_COMM_SELF, "wrong: %s\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two outputs to one file at a time: each has a temporary file of its own, and the last commit holds. */
static PetscErrorCode TestTwoWriters(void)
{
  GpAppOutput a, b;
  struct stat st;
  mode_t      mode = 0;

  PetscFunctionBegin;
  Fill("secret", "old", 0600);
  PetscCall(GpAppOutputOpen(PETSC_COMM_SELF, PathOf("secret"), &a));
  PetscCall(Expect((PetscBool)(CountTemporaries(&mode) == 1 && mode == 0600), "the temporary file of a secret is as secret"));
  PetscCall(GpAppOutputOpen(PETSC_COMM_SELF, PathOf("secret"), &b));
  PetscCall(Expect((PetscBool)(CountTemporaries(NULL) == 2), "two writers have two temporary files"));
  (void)fputs("first", a.fp);
  (void)fputs("second", b.fp);
  PetscCall(GpAppOutputCommit(&a));
  PetscCall(Expect(Holds("secret", "first"), "the first commit"));
  PetscCall(GpAppOutputCommit(&b));
  PetscCall(Expect((PetscBool)(Holds("secret", "second") && !stat(PathOf("secret"), &st) && (st.st_mode & 07777) == 0600), "the second commit keeps the permissions"));
  PetscCall(Expect((PetscBool)(CountTemporaries(NULL) == 0), "no temporary file is left"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A process that a signal ends while an output is open, and while a scratch folder exists. */
static PetscErrorCode TestSignal(int sig)
{
  const char *const names[] = {"image"};
  GpAppOutput       out;
  GpAppScratch      scratch;
  glob_t            found;
  int               status = 0;
  char              what[64];
  pid_t             child;

  PetscFunctionBegin;
  Fill("kept", "old", 0644);
  (void)fflush(stdout);
  child = fork();
  if (!child) {
    (void)signal(sig, SIG_DFL); /* a shell may have left it ignored */
    (void)GpAppSignalsInstall();
    if (GpAppOutputOpen(PETSC_COMM_SELF, PathOf("kept"), &out) || GpAppScratchCreate(1, names, 4096, &scratch)) _exit(1);
    (void)fputs("new", out.fp);
    (void)fflush(out.fp);
    (void)raise(sig);
    _exit(2);
  }
  (void)waitpid(child, &status, 0);
  PetscCall(PetscSNPrintf(what, sizeof(what), "signal %d", sig));
  PetscCall(Expect((PetscBool)(WIFSIGNALED(status) && WTERMSIG(status) == sig), what));
  PetscCall(Expect((PetscBool)(CountTemporaries(NULL) == 0 && Holds("kept", "old") && glob(PathOf("gpucsr-*"), 0, NULL, &found) == GLOB_NOMATCH), what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An output that cannot be opened or written is the same verdict on all ranks. */
static PetscErrorCode TestVerdict(MPI_Comm comm, PetscMPIInt rank)
{
  GpAppOutput out;

  PetscFunctionBegin;
  PetscCall(GpAppOutputTryOpen(comm, "/nowhere/at/all", &out));
  PetscCall(Expect((PetscBool)!strcmp(out.why, "No such file or directory"), "a folder that is not there"));
  PetscCall(GpAppOutputTryOpen(comm, "/dev/full", &out));
  PetscCall(Expect((PetscBool)(!out.why[0] && out.direct), "a device is opened"));
  if (!rank) (void)fputs("text", out.fp);
  PetscCall(GpAppOutputTryCommit(&out));
  PetscCall(Expect((PetscBool)!strcmp(out.why, "No space left on device"), "a full device"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An output without a temporary folder, of the longest name that a file may have. */
static PetscErrorCode TestLongName(void)
{
  char        name[NAME_MAX + 2];
  GpAppOutput out;

  PetscFunctionBegin;
  memset(name, 'x', sizeof(name));
  name[NAME_MAX] = 0;
  PetscCall(GpAppOutputOpen(PETSC_COMM_SELF, PathOf(name), &out));
  (void)fputs("long", out.fp);
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(Expect(Holds(name, "long"), "a name of 255 characters"));
  name[NAME_MAX]     = 'x';
  name[NAME_MAX + 1] = 0;
  PetscCall(GpAppOutputTryOpen(PETSC_COMM_SELF, PathOf(name), &out));
  PetscCall(Expect((PetscBool)!strcmp(out.why, "File name too long"), "a name of 256 characters"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscStrncpy(Folder, "/tmp/gpucsr-test-XXXXXX", sizeof(Folder)));
  PetscCall(TestVerdict(PETSC_COMM_WORLD, rank));
  if (!rank) {
    char command[128];

    PetscCheck(mkdtemp(Folder) && !setenv("TMPDIR", Folder, 1), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No folder in /tmp");
    PetscCall(TestTwoWriters());
    PetscCall(TestLongName());
    PetscCall(TestSignal(SIGTERM));
    PetscCall(TestSignal(SIGINT));
    PetscCall(TestSignal(SIGHUP));
    PetscCall(PetscSNPrintf(command, sizeof(command), "rm -rf %s", Folder));
    PetscCheck(!system(command), PETSC_COMM_SELF, PETSC_ERR_SYS, "%s", command);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "done\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: files
    nsize: {{1 2}}
    output_file: output/output_files.out
TEST*/
