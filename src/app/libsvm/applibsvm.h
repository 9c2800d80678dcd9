/* Sparse rows: read from LIBSVM text, and turned into an AIJ matrix. */
#ifndef GPUCSR_APPLIBSVM_H
#define GPUCSR_APPLIBSVM_H

#include "app/text/apptext.h"
#include <petscmat.h>

/* What the first word of a line has to be */
typedef enum {
  GP_LIBSVM_NUMBERS, /* a finite number, kept as label */
  GP_LIBSVM_NAMES,   /* any word, kept as name */
  GP_LIBSVM_IGNORED  /* any word, not kept */
} GpAppLibsvmLabels;

/* The lines of the file that hold the rows of this rank */
typedef struct {
  PetscInt64  before; /* lines of the file on the ranks before this one */
  PetscInt    n, capacity;
  PetscInt64 *skip; /* [2 n] pairs: a row, and the number of lines without a row between the first line of this rank and it */
} GpAppRowLines;

/* The rows of this rank in compressed form. Members that describe all ranks are the same on all ranks. */
typedef struct {
  MPI_Comm      comm;
  char          file[PETSC_MAX_PATH_LEN];
  PetscInt      m, M;  /* rows on this rank, on all ranks */
  PetscInt      N;     /* largest index on all ranks */
  PetscInt     *i, *j; /* offset of each row; indices of columns, counted from 0 and ascending within a row */
  PetscScalar  *a;
  PetscReal    *label, *query; /* [m] labels, and numbers after qid:, -1 without; NULL unless labels are numbers */
  char         *names;         /* first words of the lines, one after another, each with a final 0; NULL unless labels are names */
  size_t        named;         /* bytes at names */
  PetscBool     ranked;        /* a row on any rank has a qid: */
  PetscInt64    nnz;           /* entries on all ranks */
  PetscInt64    bytes;         /* length of the text on all ranks */
  PetscInt64    widest;        /* line that holds the largest index; 0: there is none */
  GpAppRowLines lines;
} GpAppRows;

/* A file that is much smaller than its number of features is treated as damaged, because dense vectors would take most of the memory. Up to
   max(accepted, 2^24) features are always accepted. */
static inline PetscBool GpAppFeaturesFit(PetscInt64 features, PetscInt64 entries, PetscInt64 accepted)
{
  return (PetscBool)(features <= PetscMax(accepted, 1 << 24) || features / 64 <= entries);
}

PETSC_EXTERN PetscErrorCode GpAppTextGuessLibsvm(const GpAppText *, int *votes);
PETSC_EXTERN PetscErrorCode GpAppLibsvmParse(GpAppText *, GpAppLibsvmLabels, GpAppRows *);
PETSC_EXTERN PetscErrorCode GpAppRowsCreateAIJ(GpAppRows *, PetscInt N, PetscBool mpi, Mat *);
PETSC_EXTERN PetscErrorCode GpAppRowsDestroy(GpAppRows *);

PETSC_EXTERN PetscErrorCode GpAppRowLinesNote(GpAppRowLines *, PetscInt row, PetscInt64 line);
PETSC_EXTERN PetscInt64     GpAppRowLinesGet(const GpAppRowLines *, PetscInt row);

PETSC_EXTERN void           GpAppWantLargePages(void *, size_t);
PETSC_EXTERN PetscErrorCode GpAppGrowArray(size_t used, size_t bytes, void *array);

#endif
