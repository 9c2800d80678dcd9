/* Resolves the target of an output: follows symbolic links, recognises the descriptors of /dev/stdout and /dev/fd, and distinguishes devices and pipes from files. */
#define _GNU_SOURCE
#include "app/output/appoutputimpl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40 /* the limit of the Linux kernel */

/* Copies text into a buffer; ENAMETOOLONG when it does not fit. */
static int TargetCopyText(char to[], size_t size, const char from[], size_t length)
{
  if (length >= size) return ENAMETOOLONG;
  memmove(to, from, length);
  to[length] = 0;
  return 0;
}

/* Splits a path into its folder and the last name. */
static int TargetSplitPath(const char path[], char folder[PETSC_MAX_PATH_LEN], char name[NAME_MAX + 1])
{
  const char *slash = strrchr(path, '/');
  int         err;

  if (!path[0]) return ENOENT;
  err = slash ? TargetCopyText(folder, PETSC_MAX_PATH_LEN, path, slash == path ? 1 : (size_t)(slash - path)) : TargetCopyText(folder, PETSC_MAX_PATH_LEN, ".", 1);
  if (!err) err = TargetCopyText(name, NAME_MAX + 1, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
  return err ? err : name[0] ? 0 : EISDIR;
}

/*
  The links in /proc/<process>/fd stand for open files and not for names: what they point to may be a pipe, or a file that is written to by
  others at this moment. Returns whether the folder is such a one; the descriptor is that of this process, or -1.
*/
static PetscBool TargetIsDescriptor(const char folder[], const char name[], int *descriptor)
{
  char real[PATH_MAX], own[64], *end;
  long n;

  *descriptor = -1;
  if (!realpath(folder, real) || strncmp(real, "/proc/", 6) || strlen(real) < 9 || strcmp(real + strlen(real) - 3, "/fd")) return PETSC_FALSE;
  (void)snprintf(own, sizeof(own), "/proc/%ld/fd", (long)getpid());
  n = strtol(name, &end, 10);
  if (!strcmp(real, own) && end != name && !*end && n >= 0 && n <= INT_MAX) *descriptor = (int)n;
  return PETSC_TRUE;
}

/* Replaces the path of a link by that of what it points to. */
static int TargetFollowLink(char path[PETSC_MAX_PATH_LEN], const char folder[])
{
  char          to[PETSC_MAX_PATH_LEN];
  const ssize_t n = readlink(path, to, sizeof(to));

  if (n < 0) return errno;
  if ((size_t)n >= sizeof(to)) return ENAMETOOLONG;
  to[n] = 0;
  if (to[0] == '/' || !strcmp(folder, ".")) return TargetCopyText(path, PETSC_MAX_PATH_LEN, to, (size_t)n);
  if (strlen(folder) + 1 + (size_t)n >= PETSC_MAX_PATH_LEN) return ENAMETOOLONG;
  (void)snprintf(path, PETSC_MAX_PATH_LEN, "%.*s/%.*s", (int)strlen(folder), folder, (int)n, to);
  return 0;
}

/* Classifies what is there, of a name that is no link. */
static int TargetExamine(GpAppTarget *t)
{
  if (S_ISDIR(t->st.st_mode)) return EISDIR;
  t->regular = (PetscBool)S_ISREG(t->st.st_mode);
  if (!t->regular) t->direct = PETSC_TRUE;
  return 0;
}

static int TargetResolve(GpAppTarget *t)
{
  int err;

  for (int links = 0; links <= MAX_LINKS; links++) {
    if ((err = TargetSplitPath(t->path, t->folder, t->name))) return err;
    if (TargetIsDescriptor(t->folder, t->name, &t->descriptor)) {
      t->direct = PETSC_TRUE;
      if (t->descriptor >= 0 ? fstat(t->descriptor, &t->st) : stat(t->path, &t->st)) return errno;
      return TargetExamine(t);
    }
    if (lstat(t->path, &t->st)) {
      if (errno != ENOENT) return errno;
    } else if (S_ISLNK(t->st.st_mode)) {
      if ((err = TargetFollowLink(t->path, t->folder))) return err;
      continue;
    } else if ((err = TargetExamine(t))) return err;
    return stat(t->folder, &t->folder_st) ? errno : 0;
  }
  return ELOOP;
}

/* Resolves the target of an output with this name. */
void GpAppTargetResolve_Private(const char path[], GpAppTarget *t)
{
  memset(t, 0, sizeof(*t));
  t->descriptor = -1;
  t->err        = TargetCopyText(t->path, sizeof(t->path), path, strlen(path));
  if (!t->err) t->err = TargetResolve(t);
}
