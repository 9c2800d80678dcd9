/* The check of the command line, before anything else is done, and the report of options that had no effect.

   Names are checked on the command line and in files that its -options_file names. The variable PETSC_OPTIONS and the files .petscrc serve several programs: options that this one does not have are
   skipped there. Values are checked wherever they come from. */
#include "app/program/appcommand.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The first file named by -options_file that cannot be read, or NULL. PetscInitialize() would stop on the first rank alone. */
const char *GpAppCommandFindMissing(int argc, char **argv)
{
  for (int k = 1; k + 1 < argc; k++) {
    if ((!strcasecmp(argv[k], "-options_file") || !strcasecmp(argv[k], "-options_file_yaml")) && access(argv[k + 1], R_OK)) return argv[k + 1];
  }
  return NULL;
}

/* Refuses a name that neither the program nor the library nor PETSc has. */
static PetscErrorCode CommandCheckName(MPI_Comm comm, const GpAppManual *manual, const char name[])
{
  const GpAppOption *nearest;

  PetscFunctionBegin;
  if (GpAppOptionIsKnown(manual, name)) PetscFunctionReturn(PETSC_SUCCESS);
  nearest = GpAppOptionFindNearest(manual, name);
  PetscCheck(!nearest, comm, PETSC_ERR_USER_INPUT, "unknown option %s; did you mean %s?", name, nearest->name);
  SETERRQ(comm, PETSC_ERR_USER_INPUT, "unknown option %s; -help lists all options", name);
}

/* Refuses a value that an option does not take. */
static PetscErrorCode CommandCheckValue(MPI_Comm comm, const GpAppManual *manual, const char name[], const char value[])
{
  const GpAppOption *o = GpAppOptionFind(manual->options, name);
  char               expected[512];

  PetscFunctionBegin;
  if (!o) o = GpAppOptionFind(GpAppLibraryOptions, name);
  PetscCheck(strcasecmp(name, "-mat_type") || !value || strcmp(value, "gpucsrstream"), comm, PETSC_ERR_USER_INPUT,
             "-mat_type gpucsrstream: the programs set values of their matrices, and this type is read-only; use -mat_type gpucsr -mat_gpucsr_stream always");
  if (!o || GpAppOptionCheck(o, value, sizeof(expected), expected)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(value && value[0], comm, PETSC_ERR_USER_INPUT, "%s needs a value: expected %s", o->name, expected);
  SETERRQ(comm, PETSC_ERR_USER_INPUT, "%s %s: expected %s", o->name, value, expected);
}

/* How many of the words that follow an option belong to it: 0 or 1. */
static PetscErrorCode CommandCountValues(const GpAppManual *manual, const char name[], const char next[], int *n)
{
  const GpAppOption *o = GpAppOptionFind(manual->options, name);
  PetscBool          key;

  PetscFunctionBegin;
  *n = 0;
  if (!next) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsValidKey(next, &key));
  if (key || !strcasecmp(name, "-prefix_pop")) PetscFunctionReturn(PETSC_SUCCESS);
  *n = o && o->kind == GP_APP_BOOL ? GpAppOptionIsBool(next) : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the names on the command line, and that every other word is the value of an option. Between -prefix_push and -prefix_pop names are parts of names and are not checked. */
static PetscErrorCode CommandCheckWords(MPI_Comm comm, const GpAppManual *manual, int argc, char **argv)
{
  int pushed = 0, n;

  PetscFunctionBegin;
  for (int k = 1; k < argc; k += 1 + n) {
    const GpAppOption *before; /* a switch, if its value is neither true nor false */
    PetscBool          key;

    n = 0;
    PetscCall(PetscOptionsValidKey(argv[k], &key));
    before = k > 1 ? GpAppOptionFind(manual->options, argv[k - 1]) : NULL;
    PetscCheck(key || !before, comm, PETSC_ERR_USER_INPUT, "%s %s: expected true or false, or another option", before->name, argv[k]);
    PetscCheck(key, comm, PETSC_ERR_USER_INPUT, "%s is a value without an option: write the option before it, for example -f %s", argv[k][0] ? argv[k] : "an empty argument", argv[k]);
    PetscCall(CommandCountValues(manual, argv[k], k + 1 < argc ? argv[k + 1] : NULL, &n));
    if (!strcasecmp(argv[k], "-prefix_push")) pushed++;
    else if (!strcasecmp(argv[k], "-prefix_pop")) pushed--;
    else if (pushed <= 0) PetscCall(CommandCheckName(comm, manual, argv[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the files that -options_file names on the command line into a database of their own. */
static PetscErrorCode CommandReadFiles(MPI_Comm comm, int argc, char **argv, PetscOptions *files)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(files));
  for (int k = 1; k + 1 < argc; k++) {
    if (!strcasecmp(argv[k], "-options_file")) PetscCall(PetscOptionsInsertFile(comm, *files, argv[k + 1], PETSC_TRUE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks names and values of the options. Called before any option is read: those that PETSc has not read yet are all that concern the program. Collective. */
PetscErrorCode GpAppCommandCheck(MPI_Comm comm, const GpAppManual *manual, int argc, char **argv)
{
  PetscOptions files;
  PetscInt     n;
  char       **names, **values, name[PETSC_MAX_OPTION_NAME + 1];

  PetscFunctionBegin;
  PetscCall(CommandCheckWords(comm, manual, argc, argv));
  PetscCall(CommandReadFiles(comm, argc, argv, &files));
  PetscCall(PetscOptionsLeftGet(files, &n, &names, &values));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "-%s", names[k]));
    PetscCall(CommandCheckName(comm, manual, name));
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscCall(PetscOptionsDestroy(&files));
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "-%s", names[k]));
    PetscCall(CommandCheckValue(comm, manual, name, values[k]));
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options that every matrix reads, but that have an effect on a type that the programs do not use. */
static const char *const CommandIdle[] = {"-mat_gpucsr_stream_file", "-gpucsr_stream_file"};

/* Prints one line about the options of the command line that nothing has read, instead of PETSc's paragraph at the end. Collective. */
PetscErrorCode GpAppCommandReportUnused(MPI_Comm comm, const GpAppManual *manual, int argc, char **argv)
{
  PetscOptions files;
  PetscInt     n, count = 0;
  PetscBool    asked, has, system;
  char       **names, **values, name[PETSC_MAX_OPTION_NAME + 1], list[1024] = "";

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-options_left", &asked));
  if (asked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CommandReadFiles(comm, argc, argv, &files));
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "-%s", names[k]));
    PetscCall(PetscOptionsHasName(files, NULL, name, &has));
    for (int word = 1; word < argc && !has; word++) has = (PetscBool)!strcasecmp(argv[word], name);
    if (!has || (GpAppPetscKnows(manual, name, &system) && system)) continue;
    if (count++) PetscCall(PetscStrlcat(list, ", ", sizeof(list)));
    PetscCall(PetscStrlcat(list, name, sizeof(list)));
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(CommandIdle); k++) {
    has = PETSC_FALSE;
    for (int word = 1; word < argc && !has; word++) has = (PetscBool)!strcasecmp(argv[word], CommandIdle[k]);
    if (!has || strstr(list, CommandIdle[k])) continue;
    if (count++) PetscCall(PetscStrlcat(list, ", ", sizeof(list)));
    PetscCall(PetscStrlcat(list, CommandIdle[k], sizeof(list)));
  }
  PetscCall(PetscOptionsDestroy(&files));
  if (count) PetscCall(PetscFPrintf(comm, stderr, "%s: warning: no effect in this run: %s\n", GpAppErrorGetProgram(), list));
  PetscCall(PetscOptionsSetValue(NULL, "-options_left", "no"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
