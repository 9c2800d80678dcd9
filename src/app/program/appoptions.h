/* The table of a program's options, and the texts around it. The table drives the check of the command line, --help and the manual page. */
#ifndef GPUCSR_APPOPTIONS_H
#define GPUCSR_APPOPTIONS_H

#include <gpucsrcompat.h>
#include <petscsys.h>

/* The values that an option takes. */
typedef enum {
  GP_APP_BOOL,     /* true or false; without a value true */
  GP_APP_INT,      /* an integer in the option's range */
  GP_APP_REAL,     /* a finite number in the option's range */
  GP_APP_BYTES,    /* a number of bytes in the option's range; k, M, G or T may follow */
  GP_APP_INTS,     /* integers separated by commas */
  GP_APP_REALS,    /* numbers separated by commas */
  GP_APP_CHOICE,   /* one of the words of the option's argument */
  GP_APP_FILE_IN,  /* a file that must exist; - is the standard input stream */
  GP_APP_FILE_OUT, /* a file that is written */
  GP_APP_TEXT,     /* any text */
  GP_APP_VIEWER    /* a PetscViewer, or no value */
} GpAppKind;

/* An option. A row whose name has no dash is the heading of the rows that follow. A table ends with a row without a name. */
typedef struct {
  const char *name;
  GpAppKind   kind;
  const char *argument; /* what stands for the value in --help; the words of GP_APP_CHOICE, separated by | */
  const char *range;    /* an interval such as "(0,1]" or "[0,inf)"; NULL: all numbers */
  const char *initial;  /* the default; NULL: none */
  PetscBool   often;    /* listed by --help */
  const char *text;     /* sentences; --help prints the first one */
} GpAppOption;

/* An example of the command line and what it does. */
typedef struct {
  const char *command, *text;
} GpAppExample;

/* What --help and the manual page say. Paragraphs and lines are separated by newline characters. */
typedef struct {
  const char        *title;       /* half a line for the section NAME */
  const char        *synopsis;    /* one way to call the program a line, without its name */
  const char        *description; /* a paragraph a line */
  const char        *files;       /* a paragraph a line */
  const char        *prefix;      /* of the options that only this program has; a name that begins so is in the table or begins with one of nested */
  const char        *nested;      /* prefixes of options of PETSc's objects inside the program, separated by blanks */
  const char        *also;        /* the section SEE ALSO */
  GpAppExample       example[3];
  const GpAppOption *options;
} GpAppManual;

PETSC_EXTERN const char *GpAppOptionGetText(const GpAppOption options[], const char name[]);

#endif
