/* Examples read from a LIBSVM file, and the matrix and labels made of them. */
#ifndef BMRM_EXAMPLES_H
#define BMRM_EXAMPLES_H

#include <gpucsrbmrm.h>
#include <gpucsrcompat.h>
#include <petscmat.h>
#include "app/app.h"
#include "app/libsvm/applibsvm.h"

#define BMRM_MAX_CLASSES 1000 /* maximum number of different labels; more labels are an error if labels are classes */

/* Examples: the rows of this rank in compressed form. Members that describe all ranks are the same on all ranks. */
typedef struct {
  MPI_Comm     comm;
  char         file[PETSC_MAX_PATH_LEN];
  PetscInt     m, M;  /* examples on this rank, on all ranks */
  PetscInt     N;     /* largest feature index on all ranks */
  PetscInt    *i, *j; /* offset of each row; indices of features, counted from 0 */
  PetscScalar *a;
  PetscReal   *label;
  PetscReal   *query;                         /* numbers after qid:; -1 for an example without qid: */
  PetscBool    ranked;                        /* an example on any rank has a qid: */
  PetscInt64   nnz;                           /* entries on all ranks */
  PetscInt     nclass;                        /* number of different labels on all ranks; BMRM_MAX_CLASSES + 1 if there are more than BMRM_MAX_CLASSES */
  PetscReal    classes[BMRM_MAX_CLASSES + 1]; /* the different labels in ascending order */
  PetscInt64   classline[BMRM_MAX_CLASSES + 1];

  /* Positions of examples in the file, for messages */
  PetscBool     lined;  /* true: examples are lines of text; false: they are rows of a matrix */
  PetscInt64    widest; /* line that holds the largest feature index, the same on all ranks; 0: unknown */
  GpAppRowLines lines;

  char      what[512];                   /* description of the format, for BMRMExamplesPrint() */
  char     *class_names, *feature_names; /* zero-terminated names, one after another; classes in the order of their labels 0, 1, ...; NULL: no names */
  PetscBool unlabelled;                  /* the file has no labels */
} BMRMExamples;

PETSC_INTERN PetscErrorCode BMRMExamplesLoad(MPI_Comm, const char[], BMRMExamples *);
PETSC_INTERN PetscErrorCode BMRMExamplesLoadAs(MPI_Comm, const char[], const char[], PetscBool, BMRMExamples *);
PETSC_INTERN PetscErrorCode BMRMExamplesPrint(const BMRMExamples *);
PETSC_INTERN PetscErrorCode BMRMExamplesSave(const BMRMExamples *, const char[]);
PETSC_INTERN PetscErrorCode BMRMExamplesDestroy(BMRMExamples *);
PETSC_INTERN PetscErrorCode BMRMExamplesGetClasses(const BMRMExamples *, PetscBool, PetscInt *, const PetscReal *[]);
PETSC_INTERN PetscErrorCode BMRMExamplesCheckClasses(const BMRMExamples *, PetscInt, const PetscReal[], PetscBool *);
PETSC_INTERN PetscErrorCode BMRMExamplesCheckFeatures(const BMRMExamples *, PetscInt);
PETSC_INTERN PetscErrorCode BMRMExamplesCheckModel(const BMRMExamples *, PetscInt);
PETSC_INTERN PetscErrorCode BMRMExamplesCheckLabels(const BMRMExamples *, BMRM);
PETSC_INTERN PetscErrorCode BMRMExamplesNormalizeRows(BMRMExamples *);
PETSC_INTERN PetscErrorCode BMRMExamplesScaleColumns(BMRMExamples *, PetscInt, PetscReal *[]);
PETSC_INTERN PetscErrorCode BMRMExamplesAppendFeature(BMRMExamples *, PetscInt, PetscReal);
PETSC_INTERN PetscErrorCode BMRMExamplesCreateMat(BMRMExamples *, PetscInt, MatType, Mat *);
PETSC_INTERN PetscErrorCode BMRMExamplesCreateLabels(const BMRMExamples *, PetscInt, const PetscReal[], PetscBool, Mat, Vec *);
PETSC_INTERN PetscErrorCode BMRMExamplesCreateQueries(const BMRMExamples *, Mat, Vec *);

/* groups.c */
PETSC_INTERN PetscErrorCode BMRMGroupsLoad(const char[], Mat, PetscInt, Vec *);
PETSC_INTERN PetscErrorCode BMRMExampleWeightsLoad(const char[], Mat, Vec *);
PETSC_INTERN PetscErrorCode BMRMClassWeightsApply(const char[], PetscInt, const PetscReal[], const char[], PetscBool, Vec, Vec *);

/* examplesclasses.c */
PETSC_INTERN PetscInt       BMRMFindLabel(PetscReal, PetscInt, const PetscReal[]);
PETSC_INTERN void           BMRMExamplesNoteClass(BMRMExamples *, PetscReal, PetscInt64);
PETSC_INTERN PetscErrorCode BMRMExamplesMergeClasses(BMRMExamples *, PetscInt64);

/* examplestable.c */
PETSC_INTERN PetscErrorCode BMRMExamplesLoadTable(BMRMExamples *, GpAppText *, const char[], PetscBool);

/* examplesbinary.c */
PETSC_INTERN PetscErrorCode BMRMExamplesLoadBinary(BMRMExamples *);

/* examplesmarket.c */
PETSC_INTERN PetscBool      BMRMExamplesIsMarket(const char[]);
PETSC_INTERN PetscErrorCode BMRMExamplesLoadMarket(BMRMExamples *);

#endif
