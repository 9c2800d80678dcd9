/* Tables in text: rows of fields, separated by commas, semicolons, tabs or blanks, with or without headings and row names.
   docs/formats.md documents the format and the rules by which headings and row names are found. */
#ifndef GPUCSR_APPTABLE_H
#define GPUCSR_APPTABLE_H

#include "app/text/apptext.h"

typedef enum {
  GP_TABLE_AUTO, /* decide by the content */
  GP_TABLE_YES,
  GP_TABLE_NO
} GpAppTableChoice;

/* Request of a caller. All zero: decide everything by the content, refuse words outside headings and row names, refuse nan. */
typedef struct {
  GpAppTableChoice header, names;
  char             delimiter;   /* ',', ';', '\t', ' ' (any number of blanks and tabs), '\n' (a line is one field), 0: decide by the content */
  PetscBool        square;      /* the caller wants a square matrix, which helps to recognise headings and names; a triangle is accepted */
  PetscBool        lines;       /* where neither commas, semicolons nor tabs separate fields, a line is one field */
  PetscBool        nan_missing; /* nan is a missing value; else it is refused */
  PetscBool        words;       /* any column may hold words */
  PetscInt         text_first;  /* the first text_first columns after the row names may hold words */
  const char      *label;       /* heading, or number counted from 1, of one more column that may hold words; NULL: none */
} GpAppTableSpec;

/* Triangle of a square matrix: row i has one number more than row i - 1. */
typedef enum {
  GP_TABLE_RECTANGLE,
  GP_TABLE_LOWER,        /* row i holds columns 0 to i, the diagonal included */
  GP_TABLE_STRICT_FROM1, /* row i holds columns 0 to i of row i + 1 of the matrix, whose row 0 is not in the file */
  GP_TABLE_STRICT_FROM0  /* row i holds columns 0 to i - 1; row 0 is a name alone */
} GpAppTableShape;

/* Each rank holds the rows of its part of the file. */
typedef struct {
  MPI_Comm        comm;
  char            file[PETSC_MAX_PATH_LEN];
  PetscInt        rows, first, N, cols; /* rows here, rows on the ranks before, rows of all ranks, columns without row names */
  GpAppTableShape shape;
  double         *value;         /* [rows][cols]; NaN where and only where a value is missing or the column holds text */
  PetscInt64     *line;          /* [rows] line of the file, counted from 1 */
  PetscInt64      missing;       /* missing values on all ranks */
  PetscBool       named;         /* rows have names */
  const char    **name;          /* [rows] row names, where rows have any */
  const char    **heading;       /* [cols] column headings, on every rank; NULL: none */
  const char     *corner;        /* heading of the row names, "" if it has none; NULL: no headings or no row names */
  PetscInt        ntext, *text;  /* columns that hold text, ascending */
  const char    **word;          /* [rows][ntext] fields of these columns */
  PetscInt        label;         /* column that spec.label selected; -1: none was asked for */
  char            delimiter;     /* as in GpAppTableSpec */
  PetscBool       decimal_comma; /* numbers are written 1,5 */
  PetscBool       quoted_names, quoted_numbers;
  PetscInt64      comments; /* comment lines of the file */

  /* storage that the pointers above refer to */
  char *headings, *words;
} GpAppTable;

PETSC_EXTERN PetscErrorCode GpAppTableRead(MPI_Comm, const char[], const GpAppTableSpec *, GpAppTable *);
PETSC_EXTERN PetscErrorCode GpAppTableParse(GpAppText *, const GpAppTableSpec *, GpAppTable *);
PETSC_EXTERN PetscErrorCode GpAppTableOptions(MPI_Comm, GpAppTableSpec *);
PETSC_EXTERN PetscErrorCode GpAppTablePrint(const GpAppTable *);
PETSC_EXTERN PetscErrorCode GpAppTableDescribe(const GpAppTable *, char[], size_t);
PETSC_EXTERN PetscErrorCode GpAppTableDestroy(GpAppTable *);

PETSC_EXTERN PetscErrorCode GpAppTableGatherValues(const GpAppTable *, double **);
PETSC_EXTERN PetscErrorCode GpAppTableGatherNames(const GpAppTable *, char **);
PETSC_EXTERN PetscErrorCode GpAppTableGatherWords(const GpAppTable *, PetscInt, char **);
PETSC_EXTERN PetscErrorCode GpAppTableGatherLines(const GpAppTable *, PetscInt64 **);
PETSC_EXTERN PetscErrorCode GpAppTableCategorize(GpAppTable *, PetscInt, PetscInt *, char **);

#endif
