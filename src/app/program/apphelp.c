/* --help, --version, and the manual page, all from the table of options. */
#include "app/program/appcommand.h"
#include <gpucsr.h>
#include <stdio.h>
#include <string.h>

enum {
  HELP_COLUMN = 30, /* column at which the texts of --help begin */
  HELP_WIDTH  = 100
};

/* Prints the first `length` characters of a text for troff: hyphens stay as they are typed, and no line begins with a request. */
static void ManPrintPart(const char text[], size_t length)
{
  for (size_t k = 0; k < length; k++) {
    if (text[k] == '\\') (void)fputs("\\e", stdout);
    else if (text[k] == '-') (void)fputs("\\-", stdout);
    else if (text[k] == '|') (void)fputs("|\\:", stdout); /* a line may break here */
    else if (!k && (text[k] == '.' || text[k] == '\'')) (void)printf("\\&%c", text[k]);
    else (void)fputc(text[k], stdout);
  }
}

/* Prints the lines of a text, each after a first or another prefix. troff: for troff, whose escapes the prefixes may contain. */
static void HelpPrintLines(const char text[], const char first[], const char other[], PetscBool troff)
{
  for (const char *p = text; *p; p += strspn(p, "\n")) {
    const size_t length = strcspn(p, "\n");

    (void)fputs(p == text ? first : other, stdout);
    if (troff) ManPrintPart(p, length);
    else (void)fwrite(p, 1, length, stdout);
    (void)fputc('\n', stdout);
    p += length;
  }
}

/* The length of the first sentence of a text, without its full stop. */
static int HelpMeasureSentence(const char text[])
{
  const char *stop = strstr(text, ". ");
  const int   n    = stop ? (int)(stop - text) : (int)strlen(text);

  return n && text[n - 1] == '.' ? n - 1 : n;
}

/* Prints an option that --help lists. */
static void HelpPrintOption(const GpAppOption *o)
{
  char left[HELP_WIDTH], initial[32] = "";
  int  length = HelpMeasureSentence(o->text);

  if (o->argument && strlen(o->argument) > HELP_WIDTH / 2) (void)snprintf(left, sizeof(left), "%s <name>", o->name);
  else if (o->argument) (void)snprintf(left, sizeof(left), o->kind == GP_APP_CHOICE ? "%s %s" : "%s <%s>", o->name, o->argument);
  else (void)snprintf(left, sizeof(left), "%s", o->name);
  if (o->initial && o->kind != GP_APP_BOOL) (void)snprintf(initial, sizeof(initial), " [%s]", o->initial);
  if ((int)strlen(left) + 3 > HELP_COLUMN) (void)printf("  %s\n%*s%.*s%s\n", left, HELP_COLUMN, "", length, o->text, initial);
  else (void)printf("  %-*s%.*s%s\n", HELP_COLUMN - 2, left, length, o->text, initial);
}

static void HelpPrint(const char program[], const GpAppManual *m)
{
  char first[64], other[64];

  (void)snprintf(first, sizeof(first), "Usage: %s ", program);
  (void)snprintf(other, sizeof(other), "       %s ", program);
  (void)printf("%s - %s\n\n", program, m->title);
  HelpPrintLines(m->synopsis, first, other, PETSC_FALSE);
  (void)printf("\nMost used options, with their defaults:\n");
  for (const GpAppOption *o = m->options; o->name; o++) {
    if (o->often) HelpPrintOption(o);
  }
  (void)printf("\nExamples:\n");
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(m->example); k++) (void)printf("  %s %s\n      %s\n", program, m->example[k].command, m->example[k].text);
  (void)printf("\nExit status: 0 done, 1 internal error, 2 wrong option, 3 not converged, 4 input, 5 output, 6 memory.\n");
  (void)printf("All options of %s: man %s. With the options of PETSc: %s -help.\n", program, program, program);
}

static void HelpPrintVersion(const char program[])
{
  PetscInt major = 0, minor = 0, subminor = 0, release;

  (void)PetscGetVersionNumber(&major, &minor, &subminor, &release);
  (void)printf("%s (gpucsr %d.%d.%d), PETSc %d.%d.%d with %d-bit indices, %s\n", program, GPUCSR_VERSION_MAJOR, GPUCSR_VERSION_MINOR, GPUCSR_VERSION_PATCH, (int)major, (int)minor, (int)subminor, (int)(8 * sizeof(PetscInt)),
               GP_HAVE_CUDA ? "with CUDA" : "without CUDA");
}

/* Prints a text for troff between two requests or escapes. */
static void ManPrintText(const char before[], const char text[], const char after[])
{
  (void)fputs(before, stdout);
  ManPrintPart(text, strlen(text));
  (void)fputs(after, stdout);
}

static void ManPrintOption(const GpAppOption *o)
{
  if (o->name[0] != '-') {
    ManPrintText(".SS ", o->name, "\n");
    return;
  }
  ManPrintText(".TP\n\\fB", o->name, "\\fR");
  if (o->argument) ManPrintText(" \\fI", o->argument, "\\fR");
  ManPrintText("\n", o->text, "");
  if (o->range) (void)printf(" Range: %s.", o->range);
  if (o->initial) ManPrintText(" Default: ", o->initial, ".");
  (void)printf("\n");
}

static const struct {
  const char *code, *text;
} ManExit[] = {{"0", "The results are written and have the requested accuracy."},
               {"1", "An internal error. The program prints PETSc's traceback. Please report it."},
               {"2", "An option, a value or a combination of options is wrong. No work was done."},
               {"3", "The results are written, but the iteration stopped before it converged."},
               {"4", "An input file is missing, unreadable or malformed."},
               {"5", "An output file or the standard output stream cannot be written."},
               {"6", "The host or the device has too little memory."},
               {"128 + n", "Signal n ended the program."}};

static void ManPrint(const char program[], const GpAppManual *m)
{
  const GpAppOption *const tables[] = {m->options, GpAppLibraryOptions};

  char command[64], next[80];

  (void)snprintf(command, sizeof(command), "\\fB%s\\fR ", program);
  (void)snprintf(next, sizeof(next), ".br\n%s", command);
  (void)printf(".TH %s 1 \"\" \"gpucsr %d.%d.%d\" \"gpucsr programs\"\n.SH NAME\n%s \\- ", program, GPUCSR_VERSION_MAJOR, GPUCSR_VERSION_MINOR, GPUCSR_VERSION_PATCH, program);
  ManPrintText("", m->title, "\n.SH SYNOPSIS\n");
  HelpPrintLines(m->synopsis, command, next, PETSC_TRUE);
  (void)printf(".br\n\\fBmpiexec \\-n\\fR \\fIranks\\fR \\fB%s\\fR ...\n", program);
  HelpPrintLines(m->description, ".SH DESCRIPTION\n", ".PP\n", PETSC_TRUE);
  (void)printf(".SH OPTIONS\nA word that begins with a dash and a letter is an option. The next word is its value.\nAn unknown option is an error. A value that the option does not accept is an error too.\n"
               ".TP\n\\fB\\-\\-help\\fR\nPrints the most used options and exits.\n.TP\n\\fB\\-\\-version\\fR\nPrints the versions of gpucsr and PETSc and exits.\n.TP\n\\fB\\-help\\fR\nPrints all options, also those of PETSc.\n");
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(tables); t++) {
    for (const GpAppOption *o = tables[t]; o->name; o++) ManPrintOption(o);
  }
  (void)printf(".SS PETSc and SLEPc\nOptions of PETSc and SLEPc are accepted by their prefixes, for example\n.BR \\-log_view ,\n.B \\-mat_view\nand\n.BR \\-ksp_rtol .\nA warning names the options that had no effect.\n.SH EXIT STATUS\n");
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(ManExit); k++) (void)printf(".TP\n.B %s\n%s\n", ManExit[k].code, ManExit[k].text);
  (void)printf(".SH ENVIRONMENT\n.TP\n.B PETSC_OPTIONS\nMore options. Unknown options are ignored here and in the files .petscrc.\n");
  if (m->files) HelpPrintLines(m->files, ".SH FILES\n", ".PP\n", PETSC_TRUE);
  (void)printf(".SH EXAMPLES\n");
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(m->example); k++) {
    (void)printf(".TP\n\\fB%s ", program);
    ManPrintText("", m->example[k].command, "\\fR\n");
    ManPrintText("", m->example[k].text, "\n");
  }
  (void)printf(".SH SEE ALSO\n%s\n", m->also);
}

/* Prints the table, a row a line, for the tests. */
static void HelpPrintTable(const GpAppOption options[])
{
  for (const GpAppOption *o = options; o->name; o++) {
    if (o->name[0] == '-') (void)printf("%s\t%d\t%s\t%s\t%s\n", o->name, (int)o->kind, o->argument ? o->argument : "", o->range ? o->range : "", o->initial ? o->initial : "");
  }
}

/* Whether a word is on the command line. */
static PetscBool HelpHas(int argc, char **argv, const char word[])
{
  for (int k = 1; k < argc; k++) {
    if (!strcmp(argv[k], word)) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* With --help-man prints the manual page, with --help-options the table of options. Needs no MPI, since makefiles and tests call it. */
PetscBool GpAppHelpForTools(const GpAppProgram *program, int argc, char **argv)
{
  if (HelpHas(argc, argv, "--help-man")) {
    ManPrint(program->name, program->manual);
    return PETSC_TRUE;
  }
  if (HelpHas(argc, argv, "--help-options")) {
    HelpPrintTable(program->manual->options);
    HelpPrintTable(GpAppLibraryOptions);
    return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Whether the command line asks for --help or --version; prints it if print is true. */
PetscBool GpAppHelp(const GpAppProgram *program, int argc, char **argv, PetscBool print)
{
  const PetscBool help = HelpHas(argc, argv, "--help"), version = (PetscBool)(HelpHas(argc, argv, "--version") || HelpHas(argc, argv, "-version"));

  if (print && help) HelpPrint(program->name, program->manual);
  else if (print && version) HelpPrintVersion(program->name);
  return (PetscBool)(help || version);
}
