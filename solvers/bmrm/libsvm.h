/* Examples read from a LIBSVM file, and the matrix and labels made of them. */
#ifndef BMRM_LIBSVM_H
#define BMRM_LIBSVM_H

#include <gpucsrbmrm.h>
#include <gpucsrcompat.h>
#include <petscmat.h>
#include "app/app.h"

#define BMRM_MAX_CLASSES 1000 /* so many different labels are told apart; more is an error wherever classes matter */

/* the rows of this rank in compressed form; what is said of all ranks is the same on all */
typedef struct {
  MPI_Comm     comm;
  char         file[PETSC_MAX_PATH_LEN];
  PetscInt     m, M;  /* examples on this rank, on all */
  PetscInt     N;     /* largest feature index on all ranks */
  PetscInt    *i, *j; /* where a row begins, features counted from 0 */
  PetscScalar *a;
  PetscReal   *label;
  PetscReal   *query;                         /* numbers after qid:, -1 for none */
  PetscBool    ranked;                        /* there are some, on any rank */
  PetscInt64   nnz;                           /* entries on all ranks */
  PetscInt     nclass;                        /* different labels on all ranks; BMRM_MAX_CLASSES + 1 stands for more */
  PetscReal    classes[BMRM_MAX_CLASSES + 1]; /* in ascending order */
  PetscInt64   classline[BMRM_MAX_CLASSES + 1];

  /* where examples are in the file, for messages */
  PetscBool   lined;  /* the examples are lines of text; else they are rows of a matrix */
  PetscInt64  before; /* lines of the file on the ranks before this one */
  PetscInt64  widest; /* line, on all ranks the same, that holds the largest feature index; 0: unknown */
  PetscInt    nskip, skipcap;
  char        what[512];                   /* the format and what else was understood, in words */
  char       *class_names, *feature_names; /* each with its final 0, classes in the order of their labels 0, 1, ...; NULL: there are none */
  PetscBool   unlabelled;                  /* the file has no labels */
  PetscInt64 *skip;                        /* [2 nskip] pairs: an example of this rank, and how many lines from the first one of this rank up to it hold none */
} BMRMExamples;

PETSC_EXTERN PetscErrorCode BMRMExamplesLoad(MPI_Comm, const char[], BMRMExamples *);
PETSC_EXTERN PetscErrorCode BMRMExamplesLoadAs(MPI_Comm, const char[], const char[], PetscBool, BMRMExamples *);
PETSC_EXTERN PetscErrorCode BMRMExamplesPrint(const BMRMExamples *);
PETSC_EXTERN PetscErrorCode BMRMExamplesSave(const BMRMExamples *, const char[]);
PETSC_EXTERN PetscErrorCode BMRMExamplesDestroy(BMRMExamples *);
PETSC_EXTERN PetscErrorCode BMRMExamplesGetClasses(const BMRMExamples *, PetscBool, PetscInt *, const PetscReal *[]);
PETSC_EXTERN PetscErrorCode BMRMExamplesCheckClasses(const BMRMExamples *, PetscInt, const PetscReal[], PetscBool *);
PETSC_EXTERN PetscErrorCode BMRMExamplesCheckFeatures(const BMRMExamples *, PetscInt);
PETSC_EXTERN PetscErrorCode BMRMExamplesCheckModel(const BMRMExamples *, PetscInt);
PETSC_EXTERN PetscErrorCode BMRMExamplesCheckLabels(const BMRMExamples *, BMRM);
PETSC_EXTERN PetscErrorCode BMRMExamplesNormalizeRows(BMRMExamples *);
PETSC_EXTERN PetscErrorCode BMRMExamplesScaleColumns(BMRMExamples *, PetscInt, PetscReal *[]);
PETSC_EXTERN PetscErrorCode BMRMExamplesAppendFeature(BMRMExamples *, PetscInt, PetscReal);
PETSC_EXTERN PetscErrorCode BMRMExamplesCreateMat(BMRMExamples *, PetscInt, MatType, Mat *);
PETSC_EXTERN PetscErrorCode BMRMExamplesCreateLabels(const BMRMExamples *, PetscInt, const PetscReal[], PetscBool, Mat, Vec *);
PETSC_EXTERN PetscErrorCode BMRMExamplesCreateQueries(const BMRMExamples *, Mat, Vec *);

/* groups.c */
PETSC_EXTERN PetscErrorCode BMRMGroupsLoad(const char[], Mat, PetscInt, Vec *);

/* the growing rows of a rank */
typedef struct {
  BMRMExamples  *ex;
  GpAppText      text;
  GpAppComplaint wrong;
  PetscInt       mcap, nzcap, nz;
} BMRMParser;

/* libsvmparse.c */
PETSC_INTERN void BMRMWantLargePages_Private(void *, size_t);
PETSC_INTERN void BMRMGiveBackPages_Private(void *, size_t);
#define BMRM_MOST_ENTRIES(bytes) ((PetscInt64)(bytes) / 4 + 1) /* of a text of that length: "1:1 " is the shortest */
PETSC_INTERN PetscErrorCode BMRMParserReserve(BMRMParser *, PetscInt64, PetscInt64);
PETSC_INTERN PetscErrorCode BMRMParseLines(BMRMParser *);
PETSC_INTERN void           BMRMExamplesNoteClass_Private(BMRMExamples *, PetscReal, PetscInt64);

/* bmrmlabels.c */
PETSC_INTERN PetscErrorCode BMRMLabelFits_Private(BMRM, PetscReal, PetscBool *, const char *[]);

/* examplescheck.c */
PETSC_INTERN PetscErrorCode BMRMExamplesNoteLine_Private(BMRMExamples *, PetscInt64);

/* libsvm.c */
PETSC_INTERN PetscErrorCode BMRMExamplesMergeClasses_Private(BMRMExamples *, PetscInt64);

/* examplestable.c */
PETSC_INTERN PetscErrorCode BMRMExamplesIsTable_Private(const BMRMExamples *, const GpAppText *, const char[], PetscBool *);
PETSC_INTERN PetscErrorCode BMRMExamplesLoadTable_Private(BMRMExamples *, GpAppText *, const char[], PetscBool);

/* examplesbinary.c */
PETSC_INTERN PetscErrorCode BMRMExamplesLoadBinary_Private(BMRMExamples *);

/* examplesmarket.c */
PETSC_INTERN PetscBool      BMRMExamplesIsMarket_Private(const char[]);
PETSC_INTERN PetscErrorCode BMRMExamplesLoadMarket_Private(BMRMExamples *);

#endif
