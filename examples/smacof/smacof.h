/* Multidimensional scaling by majorisation (SMACOF): points whose distances are like given dissimilarities.

   J. de Leeuw, "Applications of convex analysis to multidimensional scaling", 1977; J. de Leeuw, P. Mair, "Multidimensional scaling
   using majorization: SMACOF in R", J. Stat. Softw. 31 (2009); I. Borg, P. Groenen, "Modern multidimensional scaling", 2005. */
#ifndef GPUCSR_SMACOF_H
#define GPUCSR_SMACOF_H

#include "app/app.h"
#include "app/appdevice.h"
#include "app/apptable.h"
#include "pass.h"
#include <petscdraw.h>
#include <petscksp.h>
#include <petscsf.h>

/* Refuses a table on all ranks, with the same condition on all of them, after its memory is given back. */
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

/* points by name */
typedef struct {
  PetscInt    n;
  NamedPoint *sorted;
} Names;

PETSC_INTERN PetscErrorCode NamesCreate(PetscInt n, const char names[], Names *);
PETSC_INTERN PetscInt       NamesFind(const Names *, const char name[]);
PETSC_INTERN PetscErrorCode NamesDestroy(Names *);
PETSC_INTERN PetscErrorCode NamesNumber(PetscInt n, const char *const word[2], PetscInt point[], PetscInt *N, char **names);

/* feature vectors of all points, on every rank, one coordinate after another: [n][N] */
typedef struct {
  PetscInt   N, n;
  PetscReal *value;
  char      *names; /* of the features, one after another, on every rank; NULL: they have none */
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
  Missing        missing; /* what stands for a missing dissimilarity, beside an empty field and NA */
  PetscBool      matrix_free, symmetrize, single;
  GpAppTableSpec table; /* what the options say of the main table */
} DissimOptions;

/* The dissimilarities of all points: this rank's rows of the symmetric matrix, or of lists of pairs, or the features whose distances
   they are */
typedef struct {
  MPI_Comm   comm;
  PetscInt   N, first, last; /* points, this rank's range of them */
  PetscBool  single;         /* delta and weight are float, else double */
  PetscBool  complete;       /* all pairs, of weight 1 */
  PetscBool  stored;         /* distances between features shall be, here or on a device */
  void      *delta;          /* complete: [last - first][N]; else one for each entry; NULL: the distances between features */
  int64_t   *start;          /* [last - first + 1], lists in compressed rows, a pair stands in both its rows */
  int       *column;
  void      *weight; /* one for each entry; NULL: all 1 */
  Features   features;
  PetscInt   metric;
  PetscInt64 npairs;     /* each counted once */
  PetscReal  sumsquares; /* of dissimilarities, weighted; the distances between features the scaler adds up */
  PetscReal  sumweights;
  char      *names;         /* of the points, one after another, on every rank; NULL: they have none */
  char      *feature_names; /* the same of the features */
  PetscInt   nfeatures;
} Dissim;

PETSC_INTERN PetscErrorCode DissimLoad(MPI_Comm, const DissimOptions *, Dissim *);
PETSC_INTERN PetscErrorCode DissimFromMat(MPI_Comm, Mat delta, Mat weight, PetscBool nan_missing, const DissimOptions *, Dissim *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode DissimRow(const Dissim *, PetscInt i, PetscInt *n, const int **columns, double delta[], double weight[]);
PETSC_INTERN PetscErrorCode DissimStore(Dissim *);
PETSC_INTERN PetscErrorCode DissimDestroy(Dissim *);
PETSC_INTERN PetscErrorCode MatReadDissim(MPI_Comm, const char file[], PetscBool pairs, PetscBool nan_missing, const GpAppTableSpec *, Mat *delta, Mat *weight, char **names, PetscBool *text);
PETSC_INTERN PetscErrorCode AgreeOnComplaint(MPI_Comm, GpAppComplaint *);

/* values of all points, on every rank, from those of each rank's points; to [ncomponents][N] from [ncomponents][last - first] */
PETSC_INTERN PetscErrorCode DissimGather(const Dissim *, PetscInt ncomponents, const double mine[], double all[]);

/* points that stay where they are */
typedef struct {
  PetscInt   n, *point; /* ascending */
  PetscReal *x;         /* [n][dim] */
} Fixed;

PETSC_INTERN PetscErrorCode FixedRead(MPI_Comm, const char[], PetscInt N, PetscInt dim, const char names[], Fixed *);
PETSC_INTERN PetscErrorCode FixedDestroy(Fixed *);

/* the Guttman transform: from B(X) X to the minimiser of the majorising function, V^+ B(X) X, where V is the Laplacian of the weights */
typedef struct {
  const Dissim *D;
  const Fixed  *fixed; /* NULL: none */
  PetscInt      dim;
  KSP           ksp; /* not of complete data, whose V^+ is known */
  Vec           b, x;
  double       *mine, *offset; /* [dim][last - first] work, what fixed points add to the right-hand side */
  PetscInt      its;           /* of the KSP so far */
} Guttman;

PETSC_INTERN PetscErrorCode GuttmanCreate(const Dissim *, PetscInt dim, const Fixed *, const char prefix[], Guttman *);
PETSC_INTERN PetscErrorCode GuttmanApply(Guttman *, Vec *bx, Vec x, Vec *g, PetscReal *factor);
PETSC_INTERN PetscErrorCode GuttmanDestroy(Guttman *);
PETSC_INTERN PetscErrorCode CheckConnected(const Dissim *, const Fixed *);

typedef enum {
  DISPARITY_RATIO, /* the dissimilarities themselves: the scale of the map is free anyway */
  DISPARITY_INTERVAL,
  DISPARITY_SPLINE,
  DISPARITY_ORDINAL
} DisparityType;
extern const char *const DisparityTypes[];

/* pairs of equal dissimilarity may have different disparities, or not */
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
  PetscInt      degree, knots; /* of splines, inside the range of the dissimilarities */
} DisparityOptions;

/* the pairs in the order of their dissimilarities; on the first rank, n is 0 on others */
typedef struct {
  const Dissim *D;
  PetscBool     primary;
  PetscSF       sf; /* from the entries of all ranks to their pairs */
  PetscInt      n, ties;
  PetscInt     *tie, *order, *begin; /* where each tie begins; work */
  double       *weight, *d, *dhat, *mean, *mass;
} Ordinal;

PETSC_INTERN PetscErrorCode OrdinalCreate(const Dissim *, Ties, Ordinal *);
PETSC_INTERN PetscErrorCode OrdinalUpdate(Ordinal *, PetscInt dim, const double x[], double dhat[]);
PETSC_INTERN PetscErrorCode OrdinalDestroy(Ordinal *);

typedef struct {
  const Dissim *D;
  PetscInt      dim;
  DisparityType type;
  double       *dhat;           /* of the form of D->delta */
  double       *delta, *weight; /* work, a row */
  Ordinal       ordinal;
  PetscInt      degree, nfunctions; /* disparities as sums of functions: the B-splines' degree */
  PetscReal     low, high;          /* least and largest dissimilarity */
  PetscReal     matrix[DISPARITY_MAX_FUNCTIONS * DISPARITY_MAX_FUNCTIONS], right[DISPARITY_MAX_FUNCTIONS], coefficient[DISPARITY_MAX_FUNCTIONS];
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

/* this rank's dissimilarities on the device of its vectors, and what a pass over them needs there */
typedef struct {
  const Dissim *D;
  GpDev         dev; /* NULL: none are there */
  Pass          p;   /* with pointers of the device, without coordinates and sums */
  PassWork      work;
  void         *held[PASS_DEVICE_ARRAYS];
  size_t        bytes[PASS_DEVICE_ARRAYS];
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
  PetscInt          checkpoint_every; /* steps; 0: never */
  char              checkpoint[PETSC_MAX_PATH_LEN];
  DisparityOptions  disparity;
  PassDeviceOptions device;
} ScaleOptions;

/* what a pass is over: a sum of vectors, which it adds up; no terms: it is there */
typedef struct {
  PetscInt  n;
  PetscReal factor[PASS_MAX_TERMS];
  Vec       term[PASS_MAX_TERMS];
} Combination;

/* differences of the last iterates, for extrapolation */
typedef struct {
  PetscInt     most, have, newest;       /* differences kept */
  Vec         *dx, *df;                  /* [most] */
  Vec          x, f;                     /* the last iterate, its residual */
  Vec          newx, newf, newdx, newdf; /* of the configuration looked at last, which may be given up */
  PetscScalar *xx, *xf, *fx;             /* [most][most] inner products of dx, of dx and df, symmetric; [most] of f and dx */
  PetscScalar *product;                  /* [most][3] of the newest ones, as LookProducts() has them */
  PetscBool    any;
} History;

/* where the next differences go */
static inline PetscInt HistoryNext(const History *H)
{
  return (H->newest + 1) % H->most;
}

/* pairs of differences with which the next ones will be multiplied, their own among them */
static inline PetscInt HistoryPairs(const History *H)
{
  return H->any ? PetscMin(H->have + 1, H->most) : 0;
}

PETSC_INTERN PetscErrorCode HistoryCreate(Vec like, PetscInt most, History *);
PETSC_INTERN PetscErrorCode HistoryAdd(History *);
PETSC_INTERN PetscErrorCode HistoryExtrapolate(const History *, Combination *next);
PETSC_INTERN PetscErrorCode HistoryForget(History *);
PETSC_INTERN PetscErrorCode HistoryDestroy(History *);

/* sums and products of the newest configuration, on the device of its vectors */
typedef struct {
  GpDev   dev;   /* NULL: vectors are the host's */
  int     parts; /* of a sum */
  double *sums;  /* [parts][2] there */
  double *told;  /* for the host: the same, and products */
} Look;

PETSC_INTERN PetscErrorCode ArrayGet(GpDev, Vec, PetscBool write, const double **);
PETSC_INTERN PetscErrorCode ArrayRestore(GpDev, Vec, PetscBool write, const double **);
PETSC_INTERN PetscErrorCode LookCreate(GpDev, PetscInt history, Look *);
PETSC_INTERN PetscErrorCode LookBegin(Look *, Vec x, Vec bx, Vec stress);
PETSC_INTERN PetscErrorCode LookEnd(Look *, PetscScalar sum[2]);
PETSC_INTERN PetscErrorCode LookAtNewest(Look *, History *, Vec x, Vec g, PetscReal gfactor, PetscReal unit);
PETSC_INTERN PetscErrorCode LookProducts(Look *, PetscInt pairs, PetscScalar product[]);
PETSC_INTERN PetscErrorCode LookDestroy(Look *);

/* a configuration, on every rank, and what a pass tells of it */
typedef struct {
  Vec       x, g; /* [dim][N], its Guttman transform: both times a factor, which costs nothing where a step has one anyway */
  PetscReal xfactor, gfactor;
  Vec       stress; /* [N] raw stress of each point of x */
  PetscReal sigma;  /* normalised stress: divided by the sum of squares of the disparities */
  PetscReal rho;    /* <X, B(X) X> in the same unit; for steps whose scale is free */
} Configuration;

/* in the order in which they are tried */
typedef enum {
  STEP_START,
  STEP_ANDERSON,
  STEP_RELAXED,
  STEP_PLAIN,
  STEP_LAST, /* a plain one, whose scale is left as it is: the stress of each point belongs to it */
  STEP_NONE
} Step;

/* how far a start has come */
typedef struct {
  PetscInt  start, it, rejected; /* its number, passes after the first one, of these given up */
  Step      step;                /* the next one */
  PetscReal last;                /* before the last step */
  PetscReal below;               /* how little a step lowers the stress when extrapolations are tried */
  PetscBool extrapolated;        /* the last step was */
  PetscBool converged;
} Progress;

/* one of the starts that iterate together */
typedef struct {
  Progress      at;
  Configuration now, next;
  Combination   form; /* what next.x becomes */
  History       history;
  Vec           bx;   /* B(X) X of the configuration looked at last */
  Look          look; /* at that one */
} Path;

typedef struct {
  const Dissim *D;
  ScaleOptions  o;
  const Fixed  *fixed;
  Guttman       guttman;
  Disparity     disparity; /* unused for ratios */
  Pass          shape;     /* the pass over the dissimilarities or disparities on the host, without coordinates and sums */
  PassDevice    device;    /* of ratios alone: other disparities change in every pass */
  PetscInt      npaths;    /* starts that a pass serves */
  Path         *path;
  Path        **live; /* [npaths] work: those that a pass is for */
  Pass         *pass;
  Vec          *sum;  /* [2 npaths] work: what ranks add up */
  Configuration best; /* of all starts that have ended */
  Progress      outcome;
  PetscReal     unit; /* of the normalised stress: the sum of squares of the dissimilarities, 1 if they are all 0 */
  PetscLogEvent event;
  double        print[3]; /* numbers that tell data apart, for checkpoints */
  PetscBool     printed;  /* these are there */
} Scaler;

/* is the scale of the configurations free, and worth a look? */
static inline PetscBool ScalerRescales(const Scaler *S)
{
  return (PetscBool)(!S->fixed && S->o.acceleration != ACCELERATION_NONE);
}

PETSC_INTERN PetscErrorCode ScalerCreate(Dissim *, const ScaleOptions *, const Fixed *, const char prefix[], Scaler *);
PETSC_INTERN PetscErrorCode ScalerEvaluate(Scaler *, PetscInt n); /* the next configurations of the first n of live */
PETSC_INTERN const char    *ProgressReason(const Progress *);
PETSC_INTERN PetscErrorCode ScalerBegin(Scaler *, PetscInt first, PetscInt n);
PETSC_INTERN PetscErrorCode ScalerSolve(Scaler *, PetscInt n);
PETSC_INTERN PetscErrorCode ScalerDestroy(Scaler *);

PETSC_INTERN PetscErrorCode StartRandom(PetscInt seed, PetscInt N, PetscInt dim, double x[]);
PETSC_INTERN PetscErrorCode StartTorgerson(const Scaler *, double x[]);
PETSC_INTERN PetscErrorCode CentredMultiply(const Scaler *, PetscInt n, const double x[], double y[]);
PETSC_INTERN PetscErrorCode EigenvectorsSLEPc(const Scaler *, PetscInt n, double q[], double value[]);
PETSC_INTERN PetscErrorCode CoordinatesRead(MPI_Comm, const char[], PetscInt N, PetscInt dim, const char names[], double x[]);

/* what the user wants to keep; an empty name stands for nothing */
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

/* what a picture is drawn on, there on the first rank */
typedef struct {
  GpAppOutput out;  /* the file, if it goes to one */
  PetscDraw   draw; /* NULL: SVG */
  double      W, H;
  PetscBool   there, file;

  /* the image that PetscDraw writes: the name of its file depends on the version of PETSc */
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
PETSC_INTERN void           WriteNames(FILE *, const char key[], PetscInt n, const char names[]);
PETSC_INTERN PetscErrorCode WriteBinary(MPI_Comm, PetscInt N, PetscInt dim, const double x[], const char file[]);
PETSC_INTERN PetscErrorCode WritePoints(const Scaler *, const char file[]);
PETSC_INTERN PetscErrorCode WriteMap(MPI_Comm, PetscInt N, PetscInt dim, const double x[], const char labels[], const char file[]);
PETSC_INTERN PetscErrorCode WriteShepard(Scaler *, const char picture[], const char data[]);
PETSC_INTERN PetscErrorCode LabelsRead(MPI_Comm, const char[], PetscInt N, char **labels);

typedef struct {
  char           file[PETSC_MAX_PATH_LEN], map[PETSC_MAX_PATH_LEN], features[PETSC_MAX_PATH_LEN]; /* new points, the map, the features of its points */
  PetscInt       dim, metric, max_it;
  PetscReal      eps;
  GpAppTableSpec table; /* what the options say of the table of new points */
} InterpolateOptions;

/* new points on a map of N points that stay */
typedef struct {
  MPI_Comm  comm;
  PetscInt  N, n, dim, first, iterations;
  Features  known, added;
  double   *delta, *map, *x, *stress; /* [n][N], NULL: from features; [dim][N], [dim][n], [n] */
  char     *names;
  PetscBool converged;
} Interpolation;

PETSC_INTERN PetscErrorCode Interpolate(MPI_Comm, const InterpolateOptions *, Interpolation *);
PETSC_INTERN PetscErrorCode InterpolationDestroy(Interpolation *);

PETSC_INTERN PetscErrorCode CheckpointWrite(Scaler *, PetscInt n, const char file[]);
PETSC_INTERN PetscErrorCode CheckpointRead(Scaler *, PetscInt *n, const char file[]);

#endif
