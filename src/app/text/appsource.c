/* Opening, decompressing and reading a stream of bytes, on one rank. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "app/text/appsource.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_FOUND 127 /* the shell's exit code for a command that it cannot find */

extern char **environ;

/* Returns the program that decompresses a file with this beginning; NULL: the file is not compressed. */
static const char *SourceFindDecompressor(const char begin[], size_t n)
{
  if (n >= 3 && !memcmp(begin, "\037\213\010", 3)) return "gzip";
  if (n >= 6 && !memcmp(begin, "\3757zXZ", 6)) return "xz";
  if (n >= 4 && !memcmp(begin, "\050\265\057\375", 4)) return "zstd";
  if (n >= 10 && !memcmp(begin, "BZh", 3) && begin[3] >= '1' && begin[3] <= '9' && (!memcmp(begin + 4, "1AY&SY", 6) || !memcmp(begin + 4, "\027\162\105\070\120\220", 6))) return "bzip2";
  return NULL;
}

/* Starts the decompressor. The shell supplies the bytes that have been read already, so that an input need not be rewound, which a pipe does not allow. */
static void SourceStart(GpAppSource S)
{
  char                       command[256] = "{ printf '", option[] = "-c", shell[] = "sh", *argv[] = {shell, option, command, NULL};
  int                        out[2], err;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t          attributes;

  for (size_t k = 0; k < S->held; k++) (void)snprintf(command + strlen(command), sizeof(command) - strlen(command), "\\%03o", (unsigned)(unsigned char)S->buffer[k]);
  (void)snprintf(command + strlen(command), sizeof(command) - strlen(command), "'; exec cat; } | exec %s -dc", S->program);
  S->errors = tmpfile();
  if (!S->errors || pipe(out)) {
    GpAppComplainAbout(&S->wrong, PETSC_ERR_FILE_READ, 0, "%s", strerror(errno));
    return;
  }
  (void)fcntl(out[0], F_SETFD, FD_CLOEXEC);
  (void)fcntl(out[1], F_SETFD, FD_CLOEXEC);
  (void)posix_spawn_file_actions_init(&actions);
  (void)posix_spawn_file_actions_adddup2(&actions, S->fd, STDIN_FILENO);
  (void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  (void)posix_spawn_file_actions_adddup2(&actions, fileno(S->errors), STDERR_FILENO);
  (void)posix_spawnattr_init(&attributes);
  (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); /* so that GpAppSourceClose() ends all processes of the pipeline */
  err = posix_spawn(&S->pid, "/bin/sh", &actions, &attributes, argv, environ);
  (void)posix_spawnattr_destroy(&attributes);
  (void)posix_spawn_file_actions_destroy(&actions);
  (void)close(out[1]);
  (void)close(S->fd);
  S->fd   = out[0];
  S->held = 0;
  if (!err) return;
  S->pid = 0;
  GpAppComplainAbout(&S->wrong, PETSC_ERR_FILE_READ, 0, "the file is compressed and the shell that decompresses it cannot be started: %s", strerror(err));
}

/* Reads from the descriptor, whatever signals arrive; returns 0 at the end. */
static size_t SourceReadDescriptor(GpAppSource S, char to[], size_t n)
{
  ssize_t r;

  do r = read(S->fd, to, PetscMin(n, (size_t)1 << 30));
  while (r < 0 && errno == EINTR);
  if (r < 0) GpAppComplainAbout(&S->wrong, PETSC_ERR_FILE_READ, 0, "%s", strerror(errno));
  return r > 0 ? (size_t)r : 0;
}

/* Opens a file, a pipe or standard input (-) once, and finds out whether it is compressed. Close the source also if S->wrong says that it could not be opened. Not collective. */
PetscErrorCode GpAppSourceOpen(const char file[], GpAppSource *source)
{
  static PetscBool used = PETSC_FALSE;
  GpAppSource      S;

  PetscFunctionBegin;
  PetscCall(PetscNew(&S));
  *source = S;
  S->fd   = -1;
  if (!strcmp(file, "-")) {
    if (used) GpAppComplainAbout(&S->wrong, PETSC_ERR_FILE_OPEN, 0, "standard input has been read already: only one input can be '-'");
    else S->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    used = PETSC_TRUE;
  } else S->fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (S->fd < 0) GpAppComplainAbout(&S->wrong, PETSC_ERR_FILE_OPEN, 0, "%s", strerror(errno));
  if (S->wrong.code) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t got = 1; got && S->held < GP_APP_SOURCE_PEEK; S->held += got) got = SourceReadDescriptor(S, S->buffer + S->held, GP_APP_SOURCE_PEEK - S->held);
  S->program = SourceFindDecompressor(S->buffer, S->held);
  if (S->program && !S->wrong.code) SourceStart(S);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the decompressor. If it failed, its messages become an error. */
static void SourceFinish(GpAppSource S)
{
  char  said[160] = "";
  int   status    = 0;
  pid_t ended;

  do ended = waitpid(S->pid, &status, 0);
  while (ended < 0 && errno == EINTR);
  S->pid = 0;
  if (ended > 0 && WIFEXITED(status) && !WEXITSTATUS(status)) return;
  if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND)
    GpAppComplainAbout(&S->wrong, PETSC_ERR_FILE_READ, 0, "the file is compressed and the program %s that decompresses it cannot be started (%s): install it, or decompress the file", S->program, strerror(ENOENT));
  rewind(S->errors);
  for (size_t n = 0; n + 1 < sizeof(said);) { /* its messages in one line */
    const int c = getc(S->errors);

    if (c == EOF) break;
    if (c > ' ' || (n && said[n - 1] != ' ')) said[n++] = c < ' ' || c > '~' ? ' ' : (char)c;
  }
  for (size_t n = strlen(said); n && said[n - 1] == ' ';) said[--n] = 0;
  GpAppComplainAbout(&S->wrong, PETSC_ERR_FILE_READ, 0, "%s cannot decompress the file, which may be damaged or truncated%s%s", S->program, said[0] ? ": " : "", said);
}

/* Reads the next bytes, n at most. *got is 0 at the end, and after a failure that S->wrong tells. Not collective. */
PetscErrorCode GpAppSourceRead(GpAppSource S, char to[], size_t n, size_t *got)
{
  PetscFunctionBegin;
  *got = 0;
  if (S->wrong.code || (S->program && !S->pid)) PetscFunctionReturn(PETSC_SUCCESS);
  if (S->at < S->held) {
    *got = PetscMin(n, S->held - S->at);
    PetscCall(PetscMemcpy(to, S->buffer + S->at, *got));
    S->at += *got;
  } else *got = SourceReadDescriptor(S, to, n);
  if (!*got && S->pid && !S->wrong.code) SourceFinish(S);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Closes a stream, at its end or before. *source may be NULL. Not collective. */
PetscErrorCode GpAppSourceClose(GpAppSource *source)
{
  GpAppSource S = *source;

  PetscFunctionBegin;
  if (!S) PetscFunctionReturn(PETSC_SUCCESS);
  if (S->fd >= 0) (void)close(S->fd);
  if (S->pid) {
    (void)kill(-S->pid, SIGTERM);
    while (waitpid(S->pid, NULL, 0) < 0 && errno == EINTR) continue;
  }
  if (S->errors) (void)fclose(S->errors);
  PetscCall(PetscFree(*source));
  PetscFunctionReturn(PETSC_SUCCESS);
}
