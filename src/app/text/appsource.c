/* Opening, decompressing and reading a stream of bytes, on one rank. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "app/text/appsource.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define GP_APP_SOURCE_BUFFER 65536

extern char **environ;

static PetscErrorCode GpAppSourceFail(GpAppSource S, int code, const char what[])
{
  PetscFunctionBegin;
  if (S->code) PetscFunctionReturn(PETSC_SUCCESS); /* the first failure is the cause of the others */
  S->code = code;
  PetscCall(PetscStrncpy(S->what, what, sizeof(S->what)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the program that decompresses a file with this beginning; NULL for a file that is not compressed */
static const char *GpAppSourceFindDecompressor(const char begin[], size_t n)
{
  if (n >= 3 && !memcmp(begin, "\037\213\010", 3)) return "gzip";
  if (n >= 6 && !memcmp(begin, "\3757zXZ", 6)) return "xz";
  if (n >= 4 && !memcmp(begin, "\050\265\057\375", 4)) return "zstd";
  if (n >= 10 && !memcmp(begin, "BZh", 3) && begin[3] >= '1' && begin[3] <= '9' && (!memcmp(begin + 4, "1AY&SY", 6) || !memcmp(begin + 4, "\027\162\105\070\120\220", 6))) return "bzip2";
  return NULL;
}

static void GpAppSourceCloseDescriptor(int *fd)
{
  if (*fd >= 0) (void)close(*fd);
  *fd = -1;
}

/* Makes a pair of connected descriptors that no program started later inherits. */
static PetscBool GpAppSourceConnect(PetscBool sockets, int pair[2])
{
  if (sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, pair) : pipe(pair)) return PETSC_FALSE;
  (void)fcntl(pair[0], F_SETFD, FD_CLOEXEC);
  (void)fcntl(pair[1], F_SETFD, FD_CLOEXEC);
  return PETSC_TRUE;
}

/* Starts the decompressor. An input that can be rewound becomes its standard input; any other is fed to it, since its first bytes have been read already.
   A socket is fed rather than a pipe: only send() can be told not to raise SIGPIPE when the decompressor has stopped. */
static PetscErrorCode GpAppSourceStart(GpAppSource S)
{
  const PetscBool            rewound = (PetscBool)(lseek(S->fd, -(off_t)S->held, SEEK_CUR) >= 0);
  int                        in[2] = {-1, -1}, out[2] = {-1, -1}, err;
  char                       c[] = "-dc", name[16], *argv[] = {name, c, NULL}, what[256];
  posix_spawn_file_actions_t actions;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(name, S->program, sizeof(name)));
  S->errors = tmpfile();
  if (!S->errors || (!rewound && !GpAppSourceConnect(PETSC_TRUE, in)) || !GpAppSourceConnect(PETSC_FALSE, out)) {
    PetscCall(GpAppSourceFail(S, PETSC_ERR_FILE_READ, strerror(errno)));
    for (int k = 0; k < 2; k++) GpAppSourceCloseDescriptor(&in[k]);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  (void)posix_spawn_file_actions_init(&actions);
  (void)posix_spawn_file_actions_adddup2(&actions, rewound ? S->fd : in[0], STDIN_FILENO);
  (void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  (void)posix_spawn_file_actions_adddup2(&actions, fileno(S->errors), STDERR_FILENO);
  err = posix_spawnp(&S->pid, S->program, &actions, NULL, argv, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  GpAppSourceCloseDescriptor(&in[0]);
  GpAppSourceCloseDescriptor(&out[1]);
  S->feed   = in[1];
  S->output = out[0];
  if (rewound) {
    S->held = 0;
    GpAppSourceCloseDescriptor(&S->fd);
  }
  if (err) {
    S->pid = 0;
    PetscCall(PetscSNPrintf(what, sizeof(what), "the file is compressed and the program %s that decompresses it cannot be started (%s): install it, or decompress the file", S->program, strerror(err)));
    PetscCall(GpAppSourceFail(S, PETSC_ERR_FILE_READ, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads from a descriptor, whatever signals arrive; 0 at the end. */
static PetscErrorCode GpAppSourceReadDescriptor(GpAppSource S, int fd, char to[], size_t n, size_t *got)
{
  ssize_t r;

  PetscFunctionBegin;
  do r = read(fd, to, PetscMin(n, (size_t)1 << 30));
  while (r < 0 && errno == EINTR);
  *got = r > 0 ? (size_t)r : 0;
  if (r < 0) PetscCall(GpAppSourceFail(S, PETSC_ERR_FILE_READ, strerror(errno)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppSourceOpen - Opens a file, a pipe or standard input once, and finds out whether it is compressed

  Not Collective

  Input Parameter:
. file - the name; `-` is standard input

  Output Parameter:
. source - the stream, to be closed by GpAppSourceClose() even when source->code says that it could not be opened

  Note:
  The first bytes are read here and handed on by GpAppSourceRead(), so that a pipe is opened and read only once.
*/
PetscErrorCode GpAppSourceOpen(const char file[], GpAppSource *source)
{
  static PetscBool used = PETSC_FALSE;
  GpAppSource      S;

  PetscFunctionBegin;
  PetscCall(PetscNew(&S));
  *source = S;
  S->fd = S->feed = S->output = -1;
  if (!strcmp(file, "-")) {
    if (used) PetscCall(GpAppSourceFail(S, PETSC_ERR_FILE_OPEN, "standard input has been read already: only one input can be '-'"));
    else S->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    used = PETSC_TRUE;
  } else S->fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (S->fd < 0) PetscCall(GpAppSourceFail(S, PETSC_ERR_FILE_OPEN, strerror(errno)));
  if (S->code) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(GP_APP_SOURCE_BUFFER, &S->buffer));
  for (size_t got = 1; got && S->held < GP_APP_SOURCE_PEEK; S->held += got) PetscCall(GpAppSourceReadDescriptor(S, S->fd, S->buffer + S->held, GP_APP_SOURCE_PEEK - S->held, &got));
  S->program = GpAppSourceFindDecompressor(S->buffer, S->held);
  if (S->program && !S->code) PetscCall(GpAppSourceStart(S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends the decompressor as much as it takes at once. */
static PetscErrorCode GpAppSourceFeed(GpAppSource S)
{
  ssize_t sent;

  PetscFunctionBegin;
  if (S->at == S->held) {
    S->at = 0;
    PetscCall(GpAppSourceReadDescriptor(S, S->fd, S->buffer, GP_APP_SOURCE_BUFFER, &S->held));
  }
  sent = S->held ? send(S->feed, S->buffer + S->at, S->held - S->at, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
  if (sent > 0) S->at += (size_t)sent;
  else if (!S->held || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) GpAppSourceCloseDescriptor(&S->feed); /* the input has ended, or the decompressor has stopped */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the decompressor and asks whether all went well. */
static PetscErrorCode GpAppSourceFinish(GpAppSource S)
{
  char  said[160] = "", what[256];
  int   status    = 0;
  pid_t ended;

  PetscFunctionBegin;
  do ended = waitpid(S->pid, &status, 0);
  while (ended < 0 && errno == EINTR);
  S->pid = 0;
  if (ended > 0 && WIFEXITED(status) && !WEXITSTATUS(status)) PetscFunctionReturn(PETSC_SUCCESS);
  rewind(S->errors);
  for (size_t n = 0; n + 1 < sizeof(said);) { /* its messages in one line */
    const int c = getc(S->errors);

    if (c == EOF) break;
    if (c > ' ' || (n && said[n - 1] != ' ')) said[n++] = c < ' ' || c > '~' ? ' ' : (char)c;
  }
  for (size_t n = strlen(said); n && said[n - 1] == ' ';) said[--n] = 0;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s cannot decompress the file, which may be damaged or truncated%s%s", S->program, said[0] ? ": " : "", said));
  PetscCall(GpAppSourceFail(S, PETSC_ERR_FILE_READ, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppSourceRead - Reads the next bytes

  Not Collective

  Input Parameters:
+ S - the stream
. n - how many bytes at most

  Output Parameters:
+ to  - the bytes
- got - how many they are; 0 at the end or when they cannot be read, which S->code tells
*/
PetscErrorCode GpAppSourceRead(GpAppSource S, char to[], size_t n, size_t *got)
{
  PetscFunctionBegin;
  *got = 0;
  while (S->pid && !S->code) {
    struct pollfd p[2] = {{S->output, POLLIN, 0}, {S->feed, POLLOUT, 0}};

    if (poll(p, S->feed >= 0 ? 2 : 1, -1) < 0) {
      if (errno != EINTR) PetscCall(GpAppSourceFail(S, PETSC_ERR_FILE_READ, strerror(errno)));
      continue;
    }
    if (S->feed >= 0 && p[1].revents) PetscCall(GpAppSourceFeed(S));
    if (!p[0].revents) continue;
    PetscCall(GpAppSourceReadDescriptor(S, S->output, to, n, got));
    if (!*got && !S->code) PetscCall(GpAppSourceFinish(S));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (S->program || S->code) PetscFunctionReturn(PETSC_SUCCESS);
  if (S->at < S->held) {
    *got = PetscMin(n, S->held - S->at);
    PetscCall(PetscMemcpy(to, S->buffer + S->at, *got));
    S->at += *got;
  } else PetscCall(GpAppSourceReadDescriptor(S, S->fd, to, n, got));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppSourceClose - Closes a stream, at its end or before

  Not Collective

  Input Parameter:
. source - the stream, or a pointer to NULL
*/
PetscErrorCode GpAppSourceClose(GpAppSource *source)
{
  GpAppSource S = *source;

  PetscFunctionBegin;
  if (!S) PetscFunctionReturn(PETSC_SUCCESS);
  GpAppSourceCloseDescriptor(&S->output);
  GpAppSourceCloseDescriptor(&S->feed);
  GpAppSourceCloseDescriptor(&S->fd);
  if (S->pid) {
    (void)kill(S->pid, SIGTERM);
    while (waitpid(S->pid, NULL, 0) < 0 && errno == EINTR) continue;
  }
  if (S->errors) (void)fclose(S->errors);
  PetscCall(PetscFree(S->buffer));
  PetscCall(PetscFree(*source));
  PetscFunctionReturn(PETSC_SUCCESS);
}
