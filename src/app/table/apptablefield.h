/* Fields of a line of a table: where they begin and end, and whether they are numbers. For the table reader, and for programs that read single lines. */
#ifndef GPUCSR_APPTABLEFIELD_H
#define GPUCSR_APPTABLEFIELD_H

#include "app/table/apptable.h"
#include "app/text/appscan.h"

#define GP_TABLE_COMMENT "#%" /* characters that begin comment lines */

typedef enum {
  GP_FIELD_NUMBER,
  GP_FIELD_MISSING,
  GP_FIELD_NAN,     /* the word nan; a missing value where the caller says so */
  GP_FIELD_REFUSED, /* a number that is not read: inf, beyond the range of double precision, or a decimal comma where none is understood */
  GP_FIELD_WORD
} GpAppFieldKind;

typedef enum {
  GP_QUOTES_GOOD,
  GP_QUOTES_OPEN,  /* no closing quote on the line */
  GP_QUOTES_INSIDE /* text follows the closing quote */
} GpAppFieldQuotes;

typedef struct {
  const char      *begin, *end; /* content, without blanks and quotes around it */
  const char      *next;        /* beginning of the next field; NULL: this is the last field of the line */
  PetscBool        quoted;
  GpAppFieldQuotes quotes;
} GpAppField;

/* A field of the first data line */
typedef struct {
  GpAppField     field;
  GpAppFieldKind kind;
  double         value;
  PetscBool      empty;
} GpAppTableFirst;

/* Columns of the lines behind the first one. Ranks combine flags by bitwise or, words by addition; bytes stay local. */
enum {
  GP_COLUMN_NUMBER   = 1,
  GP_COLUMN_WORD     = 2,
  GP_COLUMN_MISSING  = 4,
  GP_COLUMN_QUOTED   = 8,
  GP_COLUMN_UNQUOTED = 16 /* fields that hold something */
};

typedef struct {
  PetscInt64 flags, words, bytes;
} GpAppTableColumn;

/* What the data lines of a file have in common. Data lines are all but blank lines and comments, numbered from 0 over all ranks. The first one may
   be a heading, so counts of fields and columns are those of all other data lines. */
typedef struct {
  char              delimiter;
  PetscInt64        lines, offset, comments; /* data lines, data lines on the ranks before, comment lines */
  char             *first;                   /* text of the first data line with its newline and a final 0, on every rank */
  PetscInt          kfirst;                  /* its number of fields */
  GpAppTableFirst  *field;                   /* [kfirst] its fields */
  const char       *here;                    /* the first data line in the text of the rank that holds it, else NULL */
  PetscInt64        kmin, kmax;              /* fewest and most fields of a line */
  PetscInt64        smin, smax;              /* least and largest difference of a line's fields and its number: equal for a triangle */
  GpAppTableColumn *column;                  /* [kmax] */
  PetscBool         repeats[2];              /* the fields of column 0 are those of the first line, without or with its first one left out */
  PetscBool         diagonal;                /* field i of line i is missing for all i >= 1 */
  PetscBool         zeros;                   /* the last field of every line is 0 or missing */
  double            seqmin, seqmax;          /* least and largest difference of the number in column 0 and the line's number; equal for a sequence */
  PetscBool         comma;                   /* a number has a decimal comma */
} GpAppTableSurvey;

/* Verdict on a table. */
typedef struct {
  PetscBool       header, names, shifted; /* shifted: the heading line has no field above the row names */
  GpAppTableShape shape;
  PetscInt        expected; /* fields of a line of a rectangle, row name included */
} GpAppTableForm;

PETSC_EXTERN GpAppField     GpAppFieldGet(const char *, const char *, char delimiter);
PETSC_EXTERN GpAppFieldKind GpAppFieldClassify(const GpAppField *, PetscBool decimal_comma, double *);
PETSC_EXTERN size_t         GpAppFieldCopy(const GpAppField *, char *);
PETSC_INTERN PetscBool      GpAppFieldIsAny(const GpAppField *, const char *const words[], PetscBool exact);
PETSC_INTERN PetscBool      GpAppFieldIsSame(const GpAppField *, const GpAppField *);
PETSC_INTERN PetscErrorCode GpAppTableSurveyLines(const GpAppText *, const GpAppTableSpec *, GpAppTableSurvey *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode GpAppTableGuessForm(const GpAppTableSpec *, const GpAppTableSurvey *, GpAppTableForm *);
PETSC_INTERN PetscErrorCode GpAppTableSurveyDestroy(GpAppTableSurvey *);

/* Returns whether numbers may have a decimal comma with this delimiter. */
static inline PetscBool GpAppTableTakesCommas(char delimiter)
{
  return (PetscBool)(delimiter == ';');
}

#endif
