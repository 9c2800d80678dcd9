/* Private declarations of the smacof program: its readers, reports and pictures.  The method is the SMACOF object of the library. */
#ifndef GPUCSR_EXAMPLES_SMACOF_H
#define GPUCSR_EXAMPLES_SMACOF_H

#include "app/app.h"
#include "app/graph/appgraph.h"
#include "app/picture/appcanvas.h"
#include "app/table/apptable.h"
#include <gpucsrsmacof.h>
#include <petscdraw.h>

/* Frees a table and raises an error, if the condition is false.  The condition must be the same on all ranks. */
#define TABLE_CHECK(T, condition, ...) \
  do { \
    if (!(condition)) { \
      PetscCall(GpAppTableDestroy(T)); \
      SETERRQ((T)->comm, PETSC_ERR_FILE_UNEXPECTED, __VA_ARGS__); \
    } \
  } while (0)

/* index of points by name */
typedef struct {
  PetscInt   n;        /* number of points */
  GpAppNames distinct; /* the names without repetitions */
  PetscInt  *point;    /* [distinct.n] the point of each name; -1: several points have it */
} Names;

PETSC_INTERN PetscErrorCode NamesCreate(PetscInt n, const char names[], Names *);
PETSC_INTERN PetscInt       NamesFind(const Names *, const char name[]);
PETSC_INTERN PetscErrorCode NamesDestroy(Names *);
PETSC_INTERN PetscErrorCode NamesFromNumbers(const GpAppTable *, PetscInt column, char **names);

/* the values of -missing */
typedef enum {
  MISSING_NONE,
  MISSING_NAN,
  MISSING_ZERO
} Missing;

/* the input of a run; an empty name means that there is no such file */
typedef struct {
  char           file[PETSC_MAX_PATH_LEN], pairs[PETSC_MAX_PATH_LEN], features[PETSC_MAX_PATH_LEN], weights[PETSC_MAX_PATH_LEN];
  SMACOFMetric   metric;
  Missing        missing; /* the value that means a missing dissimilarity, in addition to an empty field and NA */
  PetscBool      matrix_free, symmetrize;
  PetscInt       similarity; /* 0: the input has dissimilarities; else 1 + the SMACOFSimilarity */
  PetscReal      constant;   /* of SMACOF_SIMILARITY_CONSTANT */
  SMACOFStorage  storage;
  GpAppTableSpec table; /* -table_header, -table_names, -table_delimiter */
} InputOptions;

/* the points of the input.  Names are consecutive strings, on every rank; NULL if there are none */
typedef struct {
  PetscInt N, nfeatures;
  char    *names, *feature_names;
} Points;

PETSC_INTERN PetscErrorCode InputLoad(const InputOptions *, SMACOF, Points *);
PETSC_INTERN PetscErrorCode PointsDestroy(Points *);
PETSC_INTERN PetscErrorCode FeaturesRead(MPI_Comm, const char[], SMACOFMetric, const GpAppTableSpec *, Mat *, Points *);
PETSC_INTERN PetscErrorCode MatReadDissimilarities(MPI_Comm, const char file[], PetscBool pairs, PetscBool nan_missing, PetscBool similar, const GpAppTableSpec *, Mat *delta, Mat *weight, char **names, PetscBool *text);
PETSC_INTERN PetscErrorCode TableRaise(GpAppTable *, const GpAppComplaint *);
PETSC_INTERN PetscErrorCode MatCreateFromTable(GpAppTable *, Mat *, Points *);
PETSC_INTERN PetscErrorCode FixedRead(SMACOF, const char[], PetscInt N, const char names[]);
PETSC_INTERN PetscErrorCode CoordinatesRead(MPI_Comm, const char[], PetscInt N, PetscInt dim, const char names[], Vec *);
PETSC_INTERN PetscErrorCode TargetRead(MPI_Comm, const char[], const Points *, PetscInt dim, Vec *);
PETSC_INTERN PetscErrorCode LabelsRead(MPI_Comm, const char[], PetscInt N, char **labels);

PETSC_INTERN PetscErrorCode EigensolveSLEPc(SMACOF, Mat, PetscInt n, Vec q[], PetscReal value[]);

typedef struct {
  char           file[PETSC_MAX_PATH_LEN], map[PETSC_MAX_PATH_LEN]; /* new points, the map */
  GpAppTableSpec table;                                             /* of the new points */
} InterpolateOptions;

PETSC_INTERN PetscErrorCode InterpolateLoad(MPI_Comm, const InterpolateOptions *, const InputOptions *, Mat *known, Mat *data, Points *map, Points *added);

/* names of the output files; an empty name means that the output is not written */
typedef struct {
  char coordinates[PETSC_MAX_PATH_LEN], binary[PETSC_MAX_PATH_LEN], points[PETSC_MAX_PATH_LEN], report[PETSC_MAX_PATH_LEN];
  char scree[PETSC_MAX_PATH_LEN], map[PETSC_MAX_PATH_LEN], shepard[PETSC_MAX_PATH_LEN], shepard_data[PETSC_MAX_PATH_LEN];
} OutputOptions;

/* stress-1 by dimension */
typedef struct {
  PetscInt  low, high;                         /* the dimensions; 0: there are none */
  PetscReal stress1[SMACOF_MAX_DIMENSION + 1]; /* set from low to high */
  PetscBool converged[SMACOF_MAX_DIMENSION + 1];
} Scree;

PETSC_INTERN PetscErrorCode ScreeSetRange(MPI_Comm, PetscInt n, const PetscInt bound[], Scree *);
PETSC_INTERN PetscErrorCode ScreeSolve(SMACOF, Scree *);
PETSC_INTERN PetscErrorCode ScreeAddMap(SMACOF, Scree *);
PETSC_INTERN PetscErrorCode WriteScree(SMACOF, const Scree *, const char file[]);

/* what a run reports in addition to the results of the solver */
typedef struct {
  Points         points;
  PetscLogDouble load;                  /* seconds */
  GpAppRounding  rounding;              /* rounding errors of the Laplacian of the weights, if there is one */
  PetscBool      target;                /* the map was rotated to a target; else the next two members are unused */
  PetscReal      dilation, correlation; /* see SMACOFProcrustes() */
  Scree          scree;
} Summary;

PETSC_INTERN PetscErrorCode SummaryPrint(SMACOF, const Summary *);
PETSC_INTERN PetscErrorCode WriteReport(SMACOF, const Summary *, const char file[]);
PETSC_INTERN PetscErrorCode WriteCoordinates(MPI_Comm, PetscInt dim, Vec, const char names[], const char file[]);
PETSC_INTERN PetscErrorCode WriteBinary(MPI_Comm, PetscInt dim, Vec, const char file[]);
PETSC_INTERN PetscErrorCode WritePoints(SMACOF, const char names[], const char file[]);
PETSC_INTERN PetscErrorCode WriteMap(MPI_Comm, PetscInt dim, Vec, const char labels[], const char note[], const char file[]);
PETSC_INTERN PetscErrorCode PictureWriteStress(SMACOF, char note[], size_t length);
PETSC_INTERN PetscErrorCode WriteShepard(SMACOF, const char picture[], const char data[]);

#endif
