/* The service of a trained model: a line with an answer for every line of standard input. */
#ifndef BMRM_SERVE_H
#define BMRM_SERVE_H

#include "app/text/appcomplaint.h"
#include "request.h"

/* The features of one line */
typedef struct {
  PetscInt     n, capacity;
  PetscInt    *j;
  PetscScalar *a;
} BMRMServeRow;

/* The meaning of the columns of a table */
typedef struct {
  PetscInt  n;
  PetscInt *feature; /* [n] feature of each column, -1 for a column that the model does not use */
  char     *names;   /* zero-terminated headings, NULL without them */
} BMRMServeColumns;

/* servelines.c. The text of a line must end with a newline character at eol. */
PETSC_INTERN PetscErrorCode BMRMServeParseLibsvm(const BMRMModel *, PetscInt64 line, const char *text, const char *eol, BMRMServeRow *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode BMRMServeParseHeading(const BMRMModel *, PetscInt64 line, const char *text, const char *eol, BMRMServeColumns *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode BMRMServeParseFields(const BMRMModel *, const BMRMServeColumns *, PetscInt64 line, const char *text, const char *eol, BMRMServeRow *, GpAppComplaint *);

PETSC_INTERN PetscErrorCode BMRMServe(MPI_Comm, const BMRMRequest *, const BMRMModel *);

#endif
