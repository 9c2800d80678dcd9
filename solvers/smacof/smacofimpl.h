/* Private declarations of the smacof program: multidimensional scaling by majorisation (SMACOF).  It finds points whose distances
   approximate given dissimilarities.

   J. de Leeuw, "Applications of convex analysis to multidimensional scaling", 1977; J. de Leeuw, P. Mair, "Multidimensional scaling
   using majorization: SMACOF in R", J. Stat. Softw. 31 (2009); I. Borg, P. Groenen, "Modern multidimensional scaling", 2005. */
#ifndef GPUCSR_SMACOF_H
#define GPUCSR_SMACOF_H

#include "app/app.h"
#include "app/appdevice.h"
#include "app/table/apptable.h"
#include "solvers/smacof/pass/pass.h"
#include <petscdraw.h>
#include <petscksp.h>
#include <petscsf.h>

/* Frees a table and raises an error, if the condition is false.  The condition must be the same on all ranks. */
#define TABLE_CHECK(T, condition, ...) \
  do { \
    if (!(condition)) { \
      PetscCall(GpAppTableDestroy(T)); \
      SETERRQ((T)->comm, PETSC_ERR_FILE_UNEXPECTED, __VA_ARGS__); \
    } \
  } while (0)

PETSC_INTERN PetscErrorCode LibsvmIs(const GpAppText *, PetscBool *);
PETSC_INTERN PetscErrorCode LibsvmParse(GpAppText *, GpAppTable *);

typedef struct {
  const char *name;
  PetscInt    point;
} NamedPoint;

/* index of points by name */
typedef struct {
  PetscInt    n;
  NamedPoint *sorted;
} Names;

PETSC_INTERN PetscErrorCode NamesCreate(PetscInt n, const char names[], Names *);
PETSC_INTERN PetscInt       NamesFind(const Names *, const char name[]);
PETSC_INTERN PetscErrorCode NamesDestroy(Names *);
PETSC_INTERN PetscErrorCode NamesNumber(PetscInt n, const char *const word[2], PetscInt point[], PetscInt *N, char **names);

/* feature vectors of all points, replicated on every rank */
typedef struct {
  PetscInt   N, n;  /* numbers of points and of features */
  PetscReal *value; /* [n][N] */
  char      *names; /* names of the features as consecutive strings, on every rank; NULL if they have no names */
} Features;

PETSC_INTERN PetscErrorCode FeaturesRead(MPI_Comm, const char[], PetscInt metric, const GpAppTableSpec *, Features *, char **names);
PETSC_INTERN PetscErrorCode FeaturesDestroy(Features *);
PETSC_INTERN PetscErrorCode CopyHeadings(const GpAppTable *, char **names);
extern const char *const    Metrics[];

typedef enum {
  MISSING_NONE,
  MISSING_NAN,
  MISSING_ZERO
} Missing;
extern const char *const Missings[];

typedef struct {
  char           file[PETSC_MAX_PATH_LEN], pairs[PETSC_MAX_PATH_LEN], features[PETSC_MAX_PATH_LEN], weights[PETSC_MAX_PATH_LEN];
  PetscInt       metric;
  Missing        missing; /* the value that means a missing dissimilarity, in addition to an empty field and NA */
  PetscBool      matrix_free, symmetrize, single;
  GpAppTableSpec table; /* -table_header, -table_names, -table_delimiter */
} DissimOptions;

/* Dissimilarities, in one of three forms: the local rows of a symmetric dense matrix, the local rows of a sparse matrix of listed pairs, or
   features whose distances they are. */
typedef struct {
  MPI_Comm   comm;
  PetscInt   N, first, last; /* number of points; the local rows are those of the points first to last - 1 */
  PetscBool  single;         /* delta and weight are float arrays, else double */
  PetscBool  complete;       /* all pairs are present with weight 1 */
  PetscBool  stored;         /* distances between features are to be stored, on the host or on a device */
  void      *delta;          /* complete: [last - first][N]; listed pairs: [start[last - first]]; NULL: computed from the features */
  int64_t   *start;          /* [last - first + 1] row offsets in CSR; each pair has an entry in both of its rows.  NULL for complete data */
  int       *column;         /* [start[last - first]] column indices */
  void      *weight;         /* [start[last - first]]; NULL: all weights are 1 */
  Features   features;
  PetscInt   metric;        /* metric of the distances between features, PASS_EUCLIDEAN and others */
  PetscInt64 npairs;        /* global number of pairs, each counted once */
  PetscReal  sumsquares;    /* weighted sum of squares of the dissimilarities; ScalerCreate() sets it for distances between features */
  PetscReal  sumweights;    /* sum of the weights of all pairs */
  char      *names;         /* names of the points as consecutive strings, on every rank; NULL if they have no names */
  char      *feature_names; /* names of the features, in the same form */
  PetscInt   nfeatures;
} Dissim;

PETSC_INTERN PetscErrorCode DissimLoad(MPI_Comm, const DissimOptions *, Dissim *);
PETSC_INTERN PetscErrorCode DissimFromMat(MPI_Comm, Mat delta, Mat weight, PetscBool nan_missing, const DissimOptions *, Dissim *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode DissimRow(const Dissim *, PetscInt i, PetscInt *n, const int **columns, double delta[], double weight[]);
PETSC_INTERN PetscErrorCode DissimStore(Dissim *);
PETSC_INTERN PetscErrorCode DissimDestroy(Dissim *);
PETSC_INTERN PetscErrorCode MatReadDissim(MPI_Comm, const char file[], PetscBool pairs, PetscBool nan_missing, const GpAppTableSpec *, Mat *delta, Mat *weight, char **names, PetscBool *text);
PETSC_INTERN PetscErrorCode AgreeOnComplaint(MPI_Comm, GpAppComplaint *);

/* Gathers values of all points on every rank, from [ncomponents][last - first] to [ncomponents][N]. */
PETSC_INTERN PetscErrorCode DissimGather(const Dissim *, PetscInt ncomponents, const double mine[], double all[]);

/* points with prescribed coordinates */
typedef struct {
  PetscInt   n, *point; /* ascending */
  PetscReal *x;         /* [n][dim] */
} Fixed;

PETSC_INTERN PetscErrorCode FixedRead(MPI_Comm, const char[], PetscInt N, PetscInt dim, const char names[], Fixed *);
PETSC_INTERN PetscErrorCode FixedDestroy(Fixed *);

/* The Guttman transform V^+ B(X) X, the minimiser of the majorising function.  V is the Laplacian of the weights. */
typedef struct {
  const Dissim *D;
  const Fixed  *fixed; /* NULL if no points are fixed */
  PetscInt      dim;
  KSP           ksp;    /* NULL for complete data, whose V^+ has a closed form */
  Vec           b, x;   /* right-hand side and solution of the KSP */
  double       *mine;   /* [dim][last - first] workspace */
  double       *offset; /* [dim][last - first] contribution of the fixed points to the right-hand side */
  PetscInt      its;    /* KSP iterations so far */
} Guttman;

PETSC_INTERN PetscErrorCode GuttmanCreate(const Dissim *, PetscInt dim, const Fixed *, const char prefix[], Guttman *);
PETSC_INTERN PetscErrorCode GuttmanApply(Guttman *, Vec *bx, Vec x, Vec *g, PetscReal *factor);
PETSC_INTERN PetscErrorCode GuttmanDestroy(Guttman *);
PETSC_INTERN PetscErrorCode CheckConnected(const Dissim *, const Fixed *);

typedef enum {
  DISPARITY_RATIO, /* the dissimilarities themselves */
  DISPARITY_INTERVAL,
  DISPARITY_SPLINE,
  DISPARITY_ORDINAL
} DisparityType;
extern const char *const DisparityTypes[];

/* ordinal disparities: pairs of equal dissimilarity may have different disparities (primary) or must have equal ones (secondary) */
typedef enum {
  TIES_PRIMARY,
  TIES_SECONDARY
} Ties;
extern const char *const TiesNames[];

#define DISPARITY_MAX_DEGREE    4
#define DISPARITY_MAX_FUNCTIONS 24

typedef struct {
  DisparityType type;
  Ties          ties;
  PetscInt      degree, knots; /* splines: degree and number of interior knots */
} DisparityOptions;

/* State of ordinal disparities.  The first rank holds all pairs, sorted by dissimilarity; n is 0 on other ranks. */
typedef struct {
  const Dissim *D;
  PetscBool     primary;           /* TIES_PRIMARY */
  PetscSF       sf;                /* roots: the sorted pairs; leaves: the matrix entries of all ranks */
  PetscInt      n, ties;           /* numbers of pairs and of groups of equal dissimilarity */
  PetscInt     *tie;               /* [ties + 1] first pair of each group */
  PetscInt     *order;             /* [n] workspace: permutation of the pairs */
  PetscInt     *begin;             /* [n + 1] workspace: first pair of each block of the regression */
  double       *weight, *d, *dhat; /* [n] weight, distance and disparity of each pair */
  double       *mean, *mass;       /* [n] workspace: mean and total weight of each block */
} Ordinal;

PETSC_INTERN PetscErrorCode OrdinalCreate(const Dissim *, Ties, Ordinal *);
PETSC_INTERN PetscErrorCode OrdinalUpdate(Ordinal *, PetscInt dim, const double x[], double dhat[]);
PETSC_INTERN PetscErrorCode OrdinalDestroy(Ordinal *);

typedef struct {
  const Dissim *D;
  PetscInt      dim;
  DisparityType type;
  double       *dhat;           /* the disparities, in the layout of D->delta */
  double       *delta, *weight; /* [N] workspace for one row */
  Ordinal       ordinal;
  PetscInt      degree, nfunctions; /* degree of the B-splines, number of basis functions */
  PetscReal     low, high;          /* smallest and largest dissimilarity */
  /* normal equations of the fit, and the coefficients of the basis functions */
  PetscReal matrix[DISPARITY_MAX_FUNCTIONS * DISPARITY_MAX_FUNCTIONS], right[DISPARITY_MAX_FUNCTIONS], coefficient[DISPARITY_MAX_FUNCTIONS];
} Disparity;

PETSC_INTERN PetscErrorCode DisparityCreate(const Dissim *, PetscInt dim, const DisparityOptions *, Disparity *);
PETSC_INTERN PetscErrorCode DisparityUpdate(Disparity *, const double x[]);
PETSC_INTERN PetscErrorCode DisparityDestroy(Disparity *);
PETSC_INTERN PetscErrorCode SolveSmall(PetscInt n, PetscScalar matrix[], PetscScalar b[]);
PETSC_INTERN double         Distance(const Dissim *, PetscInt dim, const double x[], PetscInt i, PetscInt j);

typedef enum {
  ARITHMETIC_AUTO,
  ARITHMETIC_MIXED,
  ARITHMETIC_DOUBLE
} Arithmetic;
extern const char *const Arithmetics[];

typedef enum {
  READING_HALVES,
  READING_ROWS
} Reading;
extern const char *const Readings[];

typedef struct {
  Arithmetic arithmetic;
  Reading    reading;
} PassDeviceOptions;

#define PASS_DEVICE_ARRAYS 5

/* the local dissimilarities on the device of the vectors, and the device memory of a pass */
typedef struct {
  const Dissim *D;
  GpDev         dev; /* NULL if the pass runs on host arrays */
  Pass          p;   /* the pass with device pointers; coordinates and sums are not set */
  PassWork      work;
  void         *held[PASS_DEVICE_ARRAYS];  /* [nheld] device arrays to be freed */
  size_t        bytes[PASS_DEVICE_ARRAYS]; /* [nheld] their sizes */
  int           nheld;
} PassDevice;

PETSC_INTERN PetscErrorCode PassDeviceCreate(GpDev, const Dissim *, const Pass *, PassDevice *);
PETSC_INTERN PetscErrorCode PassDeviceChoose(PassDevice *, const PassDeviceOptions *);
PETSC_INTERN PetscErrorCode PassDeviceRun(const PassDevice *, const Pass[], PetscInt n);
PETSC_INTERN PetscErrorCode PassDeviceSquares(const PassDevice *, PetscInt n, const double v[], double y[]);
PETSC_INTERN PetscErrorCode PassDeviceDestroy(PassDevice *);

typedef enum {
  ACCELERATION_NONE,
  ACCELERATION_RELAXED,
  ACCELERATION_ANDERSON
} Acceleration;
extern const char *const Accelerations[];

typedef enum {
  EIGENSOLVER_BLOCK,
  EIGENSOLVER_SLEPC
} Eigensolver;
extern const char *const Eigensolvers[];

typedef enum {
  START_AUTO,
  START_TORGERSON,
  START_RANDOM,
  START_GIVEN
} Start;
extern const char *const Starts[];

typedef struct {
  PetscInt          dim, max_it, starts, batch, seed, history;
  PetscReal         eps, anderson_below;
  Acceleration      acceleration;
  Start             start;
  Eigensolver       eigensolver;
  PetscBool         monitor;
  PetscInt          checkpoint_every; /* passes between checkpoints; 0: none */
  char              checkpoint[PETSC_MAX_PATH_LEN];
  DisparityOptions  disparity;
  PassDeviceOptions device;
} ScaleOptions;

/* A configuration as a linear combination of vectors, which the pass evaluates.  n is 0 if the configuration is already stored. */
typedef struct {
  PetscInt  n;
  PetscReal factor[PASS_MAX_TERMS];
  Vec       term[PASS_MAX_TERMS];
} Combination;

/* history of an accelerated iteration: differences of the latest iterates x and of their residuals f */
typedef struct {
  PetscInt     most, have, newest;       /* capacity and number of the differences, position of the newest one */
  Vec         *dx, *df;                  /* [most] differences of iterates and of residuals */
  Vec          x, f;                     /* the latest accepted iterate and its residual */
  Vec          newx, newf, newdx, newdf; /* the iterate that was evaluated last, its residual and differences; it may be rejected */
  PetscScalar *xx;                       /* [most][most] inner products <dx_a, dx_b> */
  PetscScalar *xf;                       /* [most][most] symmetric part of the inner products <dx_a, df_b> */
  PetscScalar *fx;                       /* [most] inner products <f, dx_a> */
  PetscScalar *product;                  /* [most][3] inner products of newdx and newdf, from LookProducts() */
  PetscBool    any;                      /* x and f are set */
} History;

/* Returns the position of the next differences. */
static inline PetscInt HistoryNext(const History *H)
{
  return (H->newest + 1) % H->most;
}

/* Returns the number of pairs of differences whose inner products with the next pair are needed, including that pair itself. */
static inline PetscInt HistoryPairs(const History *H)
{
  return H->any ? PetscMin(H->have + 1, H->most) : 0;
}

PETSC_INTERN PetscErrorCode HistoryCreate(Vec like, PetscInt most, History *);
PETSC_INTERN PetscErrorCode HistoryAdd(History *);
PETSC_INTERN PetscErrorCode HistoryExtrapolate(const History *, Combination *next);
PETSC_INTERN PetscErrorCode HistoryForget(History *);
PETSC_INTERN PetscErrorCode HistoryDestroy(History *);

/* sums and inner products of the configuration that was evaluated last, computed where its vectors are */
typedef struct {
  GpDev   dev;   /* NULL if the vectors are on the host */
  int     parts; /* number of partial sums of each sum */
  double *sums;  /* [parts][2] partial sums in the memory of the vectors */
  double *told;  /* copy of sums, then the partial inner products, in memory that the host reads */
} Look;

PETSC_INTERN PetscErrorCode ArrayGet(GpDev, Vec, PetscBool write, const double **);
PETSC_INTERN PetscErrorCode ArrayRestore(GpDev, Vec, PetscBool write, const double **);
PETSC_INTERN PetscErrorCode LookCreate(GpDev, PetscInt history, Look *);
PETSC_INTERN PetscErrorCode LookBegin(Look *, Vec x, Vec bx, Vec stress);
PETSC_INTERN PetscErrorCode LookEnd(Look *, PetscScalar sum[2]);
PETSC_INTERN PetscErrorCode LookAtNewest(Look *, History *, Vec x, Vec g, PetscReal gfactor, PetscReal unit);
PETSC_INTERN PetscErrorCode LookProducts(Look *, PetscInt pairs, PetscScalar product[]);
PETSC_INTERN PetscErrorCode LookDestroy(Look *);

/* a configuration, replicated on every rank, and the results of a pass */
typedef struct {
  Vec       x, g;             /* [dim][N] configuration and its Guttman transform, without the factors below */
  PetscReal xfactor, gfactor; /* the configuration is xfactor * x, its transform gfactor * g; steps apply the factors */
  Vec       stress;           /* [N] raw stress of each point of x */
  PetscReal sigma;            /* normalised stress: raw stress divided by the sum of squares of the disparities */
  PetscReal rho;              /* <X, B(X) X> divided by the same sum; gives the best scale */
} Configuration;

/* steps of the iteration; a rejected step is followed by the next one of this list */
typedef enum {
  STEP_START,
  STEP_ANDERSON,
  STEP_RELAXED,
  STEP_PLAIN,
  STEP_LAST, /* a final plain step without rescaling, so that the stress of each point belongs to the result */
  STEP_NONE
} Step;

/* state of the iteration from one start */
typedef struct {
  PetscInt  start;        /* number of the start */
  PetscInt  it, rejected; /* passes after the first one; those whose step was rejected */
  Step      step;         /* the next step */
  PetscReal last;         /* normalised stress before the last accepted step */
  PetscReal below;        /* extrapolate if the last step lowered the normalised stress by less than this */
  PetscBool extrapolated; /* the last accepted step was an extrapolation */
  PetscBool converged;
} Progress;

/* the iteration from one start */
typedef struct {
  Progress      at;
  Configuration now, next; /* the current and the proposed configuration */
  Combination   form;      /* the linear combination that gives next.x */
  History       history;
  Vec           bx;   /* B(X) X of the configuration that was evaluated last */
  Look          look; /* sums and inner products of that configuration */
} Path;

typedef struct {
  const Dissim *D;
  ScaleOptions  o;
  const Fixed  *fixed;
  Guttman       guttman;
  Disparity     disparity; /* unused for DISPARITY_RATIO */
  Pass          shape;     /* the pass on host arrays; coordinates and sums are not set */
  PassDevice    device;    /* used for DISPARITY_RATIO only: other disparities change in every pass, and their pass runs on the host */
  PetscInt      npaths;    /* maximum number of starts that iterate together */
  Path         *path;      /* [npaths] */
  Path        **live;      /* [npaths] workspace: paths that have not stopped */
  Pass         *pass;      /* [npaths] workspace */
  Vec          *sum;       /* [2 npaths] workspace: vectors to be summed over the ranks */
  Configuration best;      /* result of the best start that has stopped */
  Progress      outcome;   /* state of that start when it stopped; its start is -1 before any has stopped */
  PetscReal     unit;      /* the sum of squares of the dissimilarities, which normalises the stress; 1 if they are all 0 */
  PetscLogEvent event;
  double        print[3]; /* fingerprint of the data, for checkpoints */
  PetscBool     printed;  /* print is set */
} Scaler;

/* Tells whether configurations are rescaled: nothing fixes their scale, and the iteration is accelerated. */
static inline PetscBool ScalerRescales(const Scaler *S)
{
  return (PetscBool)(!S->fixed && S->o.acceleration != ACCELERATION_NONE);
}

PETSC_INTERN PetscErrorCode ScalerCreate(Dissim *, const ScaleOptions *, const Fixed *, const char prefix[], Scaler *);
PETSC_INTERN PetscErrorCode ScalerEvaluate(Scaler *, PetscInt n); /* evaluates the next configurations of live[0] to live[n - 1] */
PETSC_INTERN const char    *ProgressReason(const Progress *);
PETSC_INTERN PetscErrorCode ScalerBegin(Scaler *, PetscInt first, PetscInt n);
PETSC_INTERN PetscErrorCode ScalerSolve(Scaler *, PetscInt n);
PETSC_INTERN PetscErrorCode ScalerDestroy(Scaler *);

PETSC_INTERN PetscErrorCode StartRandom(PetscInt seed, PetscInt N, PetscInt dim, double x[]);
PETSC_INTERN PetscErrorCode StartTorgerson(const Scaler *, double x[]);
PETSC_INTERN PetscErrorCode CentredMultiply(const Scaler *, PetscInt n, const double x[], double y[]);
PETSC_INTERN PetscErrorCode EigenvectorsSLEPc(const Scaler *, PetscInt n, double q[], double value[]);
PETSC_INTERN PetscErrorCode CoordinatesRead(MPI_Comm, const char[], PetscInt N, PetscInt dim, const char names[], double x[]);

/* names of the output files; an empty name means that the output is not written */
typedef struct {
  char coordinates[PETSC_MAX_PATH_LEN], binary[PETSC_MAX_PATH_LEN], points[PETSC_MAX_PATH_LEN], report[PETSC_MAX_PATH_LEN];
  char map[PETSC_MAX_PATH_LEN], shepard[PETSC_MAX_PATH_LEN], shepard_data[PETSC_MAX_PATH_LEN];
} OutputOptions;

#define CANVAS_COLOURS 12
#define CANVAS_IMAGES  3

typedef enum {
  CANVAS_START,
  CANVAS_MIDDLE,
  CANVAS_END,
  CANVAS_VERTICAL
} CanvasAnchor;

/* the target of a picture */
typedef struct {
  GpAppOutput out;   /* output file, unset for a window of PetscDraw */
  PetscDraw   draw;  /* NULL for SVG */
  double      W, H;  /* width and height in pixels */
  PetscBool   there; /* this is the first rank, which draws */
  PetscBool   file;  /* the picture goes to a file */

  /* temporary directory for PetscDraw, and the names that its image may have; the name depends on the version of PETSc */
  GpAppScratch scratch;
  char         image[CANVAS_IMAGES][32];
} Canvas;

PETSC_INTERN PetscErrorCode CanvasProbe(MPI_Comm, const char file[]);
PETSC_INTERN PetscErrorCode CanvasOpen(MPI_Comm, const char file[], const char prefix[], double W, double H, Canvas *);
PETSC_INTERN PetscErrorCode CanvasDisc(Canvas *, double x, double y, double radius, int colour, double opacity);
PETSC_INTERN PetscErrorCode CanvasLine(Canvas *, double x0, double y0, double x1, double y1);
PETSC_INTERN PetscErrorCode CanvasText(Canvas *, double x, double y, CanvasAnchor, const char text[]);
PETSC_INTERN PetscErrorCode CanvasClose(Canvas *);

PETSC_INTERN PetscErrorCode WriteCoordinates(MPI_Comm, PetscInt N, PetscInt dim, const double x[], const char names[], const char file[]);
PETSC_INTERN PetscErrorCode WriteBinary(MPI_Comm, PetscInt N, PetscInt dim, const double x[], const char file[]);
PETSC_INTERN PetscErrorCode WritePoints(const Scaler *, const char file[]);
PETSC_INTERN PetscErrorCode WriteMap(MPI_Comm, PetscInt N, PetscInt dim, const double x[], const char labels[], const char file[]);
PETSC_INTERN PetscErrorCode WriteShepard(Scaler *, const char picture[], const char data[]);
PETSC_INTERN PetscErrorCode LabelsRead(MPI_Comm, const char[], PetscInt N, char **labels);

typedef struct {
  char           file[PETSC_MAX_PATH_LEN], map[PETSC_MAX_PATH_LEN], features[PETSC_MAX_PATH_LEN]; /* new points, the map, the features of its points */
  PetscInt       dim, metric, max_it;
  PetscReal      eps;
  GpAppTableSpec table; /* -table_header, -table_names, -table_delimiter, for the table of new points */
} InterpolateOptions;

/* placement of n new points on a fixed map of N points */
typedef struct {
  MPI_Comm  comm;
  PetscInt  N, n, dim;
  PetscInt  first; /* first local new point */
  PetscInt  iterations;
  Features  known, added; /* features of the points of the map and of the new points */
  double   *delta;        /* [n][N] dissimilarities; NULL if they are computed from features */
  double   *map, *x;      /* [dim][N] the map, [dim][n] the new points */
  double   *stress;       /* [n] raw stress of the new points */
  char     *names;        /* names of the new points as consecutive strings, or NULL */
  PetscBool converged;
} Interpolation;

PETSC_INTERN PetscErrorCode Interpolate(MPI_Comm, const InterpolateOptions *, Interpolation *);
PETSC_INTERN PetscErrorCode InterpolationDestroy(Interpolation *);

PETSC_INTERN PetscErrorCode CheckpointWrite(Scaler *, PetscInt n, const char file[]);
PETSC_INTERN PetscErrorCode CheckpointRead(Scaler *, PetscInt *n, const char file[]);

#endif
