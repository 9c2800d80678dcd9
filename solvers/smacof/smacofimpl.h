/* Private header of the SMACOF solver: the object, and the functions that its files share.

   J. de Leeuw, "Applications of convex analysis to multidimensional scaling", 1977; J. de Leeuw, P. Mair, "Multidimensional scaling
   using majorization: SMACOF in R", J. Stat. Softw. 31 (2009); I. Borg, P. Groenen, "Modern multidimensional scaling", 2005. */
#ifndef SMACOFIMPL_H
#define SMACOFIMPL_H

#include <gpucsrdevice.h>
#include "solvers/smacof/pass/pass.h"
#include <gpucsrcompat.h>
#include <gpucsrsmacof.h>
#include <petsc/private/petscimpl.h>
#include <petscsf.h>

#define SMACOF_MAX_MONITORS 5
#define SMACOF_NAME_LEN     64

#define SMACOFCheckPointer(p, arg) PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument %d", arg)

PETSC_INTERN PetscLogEvent SMACOF_SolveEvent, SMACOF_StartEvent, SMACOF_PassEvent;

/* --- pairs/: the dissimilarities in the form that passes read ----------------------------------------------------------------------- */

/* Dissimilarities, in one of three forms: the local rows of a symmetric dense matrix, the local rows of a sparse matrix of listed pairs, or
   features whose distances they are. */
typedef struct {
  MPI_Comm     comm;        /* of the solver; MPI_COMM_NULL: the pairs are not set up */
  PetscInt     N;           /* number of points */
  PetscInt     first, last; /* the local rows are those of the points first to last - 1 */
  PetscBool    single;      /* delta and weight are float arrays, else double */
  PetscBool    complete;    /* all pairs are present with weight 1 */
  PetscBool    stored;      /* distances between features are to be stored, on the host or on a device */
  void        *delta;       /* complete: [last - first][N]; listed pairs: [start[last - first]]; NULL: computed from the features */
  int64_t     *start;       /* [last - first + 1] row offsets in CSR; each pair has an entry in both of its rows.  NULL for complete data */
  int         *column;      /* [start[last - first]] column indices */
  void        *weight;      /* [start[last - first]]; NULL: all weights are 1 */
  double      *feature;     /* [nfeature][N] features, replicated on every rank; NULL: none, or the distances are stored */
  PetscInt     nfeature;
  SMACOFMetric metric;
  PetscInt64   npairs;     /* global number of pairs, each counted once */
  PetscReal    sumsquares; /* weighted sum of squares of the dissimilarities; SMACOFSetUp() computes it for distances between features */
  PetscReal    sumweights; /* sum of the weights of all pairs */
} SMACOFPairs;

/* points with prescribed coordinates */
typedef struct {
  PetscInt   n, *point; /* ascending */
  PetscReal *x;         /* [n][dim] */
} SMACOFFixed;

PETSC_INTERN PetscErrorCode SMACOFPairsCreateFromMat_Private(SMACOF);
PETSC_INTERN PetscErrorCode SMACOFPairsCreateFromFeatures_Private(SMACOF);
PETSC_INTERN PetscErrorCode SMACOFPairsGetRow_Private(const SMACOFPairs *, PetscInt i, PetscInt *n, const int **columns, double delta[], double weight[]);
PETSC_INTERN PetscErrorCode SMACOFPairsStoreDistances_Private(SMACOFPairs *);
PETSC_INTERN PetscErrorCode SMACOFPairsDestroy_Private(SMACOFPairs *);
PETSC_INTERN PetscErrorCode SMACOFPairsCheckConnected_Private(const SMACOFPairs *, const SMACOFFixed *);
PETSC_INTERN PetscErrorCode SMACOFGather_Private(MPI_Comm, PetscInt n, PetscInt ncomponents, PetscInt ld, const double mine[], double all[]);
PETSC_INTERN PetscErrorCode SMACOFGatherFeatures_Private(Mat, SMACOFMetric, PetscInt *N, PetscInt *n, double **all);
PETSC_INTERN double         SMACOFGetDistance_Private(PetscInt N, PetscInt dim, const double x[], PetscInt i, PetscInt j);

/* --- pass/: passes over the pairs on the device of the vectors ----------------------------------------------------------------------- */

#define SMACOF_DEVICE_ARRAYS 5

typedef struct _p_SMACOFStreamed *SMACOFStreamed; /* dissimilarities that are streamed from the host (passstream.h) */

/* settings of streaming; negative or 0: the default */
typedef struct {
  SMACOFStream mode;
  PetscReal    chunk, resident; /* size of a block, and upper bound on the resident blocks, in bytes */
  PetscInt     buffers, threads;
} SMACOFStreamOptions;

PETSC_INTERN PetscErrorCode SMACOFStreamedIsNeeded_Private(GpDev, const SMACOFStreamOptions *, double bytes, PetscBool *);
PETSC_INTERN PetscErrorCode SMACOFStreamedCreate_Private(GpDev, const SMACOFPass *, const SMACOFPass *features, const SMACOFStreamOptions *, double later, SMACOFStreamed *);
PETSC_INTERN PetscErrorCode SMACOFStreamedRun_Private(SMACOFStreamed, const SMACOFPass[], const SMACOFPassWork[], PetscInt n);
PETSC_INTERN PetscErrorCode SMACOFStreamedGetInfo_Private(SMACOFStreamed, SMACOFInfo *);
PETSC_INTERN PetscErrorCode SMACOFStreamedDestroy_Private(SMACOFStreamed *);

/* the local pairs on the device of the vectors, and the device memory of a pass */
typedef struct {
  GpDev           dev; /* NULL if the pass runs on host arrays */
  SMACOFPass      p;   /* the pass; coordinates and sums are not set.  Pointers are device memory unless dev is NULL */
  SMACOFPassWork  work;
  SMACOFStreamed  streamed;                    /* NULL: the pairs are in device memory */
  PetscInt        npaths;                      /* streamed: maximum number of passes that share a transfer */
  SMACOFPassWork *works;                       /* streamed: [npaths] arithmetic and workspace of each of them */
  void           *held[SMACOF_DEVICE_ARRAYS];  /* [nheld] device arrays to be freed */
  size_t          bytes[SMACOF_DEVICE_ARRAYS]; /* [nheld] their sizes */
  int             nheld;
} SMACOFDevicePass;

PETSC_INTERN PetscErrorCode SMACOFDevicePassCreate_Private(GpDev, const SMACOFPairs *, const SMACOFPass *, const SMACOFStreamOptions *, PetscInt npaths, double later, SMACOFDevicePass *);
PETSC_INTERN PetscErrorCode SMACOFDevicePassSelectArithmetic_Private(SMACOFDevicePass *, const SMACOFPairs *, SMACOFArithmetic);
PETSC_INTERN PetscErrorCode SMACOFDevicePassRun_Private(const SMACOFDevicePass *, const SMACOFPass[], PetscInt n);
PETSC_INTERN PetscErrorCode SMACOFDevicePassMultiplySquares_Private(const SMACOFDevicePass *, PetscInt n, const double v[], double y[]);
PETSC_INTERN PetscErrorCode SMACOFDevicePassDestroy_Private(SMACOFDevicePass *);

/* --- steps/: the Guttman transform, and extrapolation -------------------------------------------------------------------------------- */

/* The Guttman transform V^+ B(X) X, the minimiser of the majorising function.  V is the Laplacian of the weights. */
typedef struct {
  const SMACOFPairs *D;
  const SMACOFFixed *fixed; /* NULL if no points are fixed */
  PetscInt           dim;
  KSP                ksp;    /* NULL for complete data, whose V^+ has a closed form */
  Vec                b, x;   /* right-hand side and solution of the KSP */
  double            *mine;   /* [dim][last - first] workspace */
  double            *offset; /* [dim][last - first] contribution of the fixed points to the right-hand side */
  PetscInt           its;    /* KSP iterations so far */
} SMACOFTransform;

PETSC_INTERN PetscErrorCode SMACOFTransformCreate_Private(const SMACOFPairs *, PetscInt dim, const SMACOFFixed *, const char prefix[], SMACOFTransform *);
PETSC_INTERN PetscErrorCode SMACOFTransformApply_Private(SMACOFTransform *, Vec *bx, Vec x, Vec *g, PetscReal *factor);
PETSC_INTERN PetscErrorCode SMACOFTransformDestroy_Private(SMACOFTransform *);

/* A configuration as a linear combination of vectors, which the pass evaluates.  n is 0 if the configuration is already stored. */
typedef struct {
  PetscInt  n;
  PetscReal factor[PASS_MAX_TERMS];
  Vec       term[PASS_MAX_TERMS];
} SMACOFCombination;

/* history of an accelerated iteration: differences of the latest iterates x and of their residuals f */
typedef struct {
  PetscInt     most, have, newest; /* capacity and number of the differences, position of the newest one */
  Vec         *dx, *df;            /* [most] differences of iterates and of residuals; dx is the first of all vectors of the history */
  Vec         *latest;             /* [2] the latest accepted iterate x and its residual f */
  Vec         *next;               /* [4] the iterate that was evaluated last, its residual, and their differences dx and df; it may be rejected */
  PetscScalar *xx;                 /* [most][most] inner products <dx_a, dx_b> */
  PetscScalar *xf;                 /* [most][most] symmetric part of the inner products <dx_a, df_b> */
  PetscScalar *fx;                 /* [most] inner products <f, dx_a> */
  PetscScalar *product;            /* [most][3] inner products of the next differences, from SMACOFDifferencesEnd_Private() */
  PetscBool    any;                /* latest is set */
} SMACOFHistory;

/* Returns the position of the next differences. */
static inline PetscInt SMACOFHistoryGetNext(const SMACOFHistory *H)
{
  return (H->newest + 1) % H->most;
}

/* Returns the number of pairs of differences whose inner products with the next pair are needed, including that pair itself. */
static inline PetscInt SMACOFHistoryCountPairs(const SMACOFHistory *H)
{
  return H->any ? PetscMin(H->have + 1, H->most) : 0;
}

PETSC_INTERN PetscErrorCode SMACOFHistoryCreate_Private(Vec like, PetscInt most, SMACOFHistory *);
PETSC_INTERN PetscErrorCode SMACOFHistoryAdd_Private(SMACOFHistory *);
PETSC_INTERN PetscErrorCode SMACOFHistoryExtrapolate_Private(const SMACOFHistory *, SMACOFCombination *next);
PETSC_INTERN PetscErrorCode SMACOFHistoryClear_Private(SMACOFHistory *);
PETSC_INTERN PetscErrorCode SMACOFHistoryDestroy_Private(SMACOFHistory *);

/* sums and inner products of the configuration that was evaluated last, computed where its vectors are (pass/) */
typedef struct {
  GpDev   dev;    /* NULL if the vectors are on the host */
  int     parts;  /* number of partial sums of each sum */
  double *sums;   /* [parts][2] partial sums in the memory of the vectors */
  double *result; /* copy of sums, then the partial inner products, in memory that the host reads */
} SMACOFSums;

PETSC_INTERN PetscErrorCode SMACOFGetArray_Private(GpDev, Vec, PetscBool write, const double **);
PETSC_INTERN PetscErrorCode SMACOFRestoreArray_Private(GpDev, Vec, PetscBool write, const double **);
PETSC_INTERN PetscErrorCode SMACOFSumsCreate_Private(GpDev, PetscInt history, SMACOFSums *);
PETSC_INTERN PetscErrorCode SMACOFSumsBegin_Private(SMACOFSums *, Vec x, Vec bx, Vec stress);
PETSC_INTERN PetscErrorCode SMACOFSumsEnd_Private(SMACOFSums *, PetscInt n, double *result, PetscScalar sum[]);
PETSC_INTERN PetscErrorCode SMACOFDifferencesBegin_Private(SMACOFSums *, SMACOFHistory *, Vec x, Vec g, PetscReal gfactor, PetscReal unit);
PETSC_INTERN PetscErrorCode SMACOFDifferencesEnd_Private(SMACOFSums *, PetscInt pairs, PetscScalar product[]);
PETSC_INTERN PetscErrorCode SMACOFSumsDestroy_Private(SMACOFSums *);

/* --- disparity/: the function of the dissimilarities that approximates the distances best --------------------------------------------- */

#define SMACOF_MAX_DEGREE    4
#define SMACOF_MAX_FUNCTIONS 24

/* State of ordinal disparities.  The first rank holds all pairs, sorted by dissimilarity; n is 0 on other ranks. */
typedef struct {
  const SMACOFPairs *D;
  PetscBool          primary;           /* SMACOF_TIES_PRIMARY */
  PetscSF            sf;                /* roots: the sorted pairs; leaves: the matrix entries of all ranks */
  PetscInt           n, ties;           /* numbers of pairs and of groups of equal dissimilarity */
  PetscInt          *tie;               /* [ties + 1] first pair of each group */
  PetscInt          *order;             /* [n] workspace: permutation of the pairs */
  PetscInt          *begin;             /* [n + 1] workspace: first pair of each block of the regression */
  double            *weight, *d, *dhat; /* [n] weight, distance and disparity of each pair */
  double            *mean, *mass;       /* [n] workspace: mean and total weight of each block */
} SMACOFOrdinal;

PETSC_INTERN PetscErrorCode SMACOFOrdinalCreate_Private(const SMACOFPairs *, SMACOFTies, SMACOFOrdinal *);
PETSC_INTERN PetscErrorCode SMACOFOrdinalFit_Private(SMACOFOrdinal *, PetscInt dim, const double x[], double dhat[]);
PETSC_INTERN PetscErrorCode SMACOFOrdinalDestroy_Private(SMACOFOrdinal *);

typedef struct {
  const SMACOFPairs *D;
  PetscInt           dim;
  SMACOFDisparity    type;
  double            *dhat;           /* the disparities, in the layout of D->delta */
  double            *delta, *weight; /* [N] workspace for one row */
  SMACOFOrdinal      ordinal;
  PetscInt           degree, nfunctions; /* degree of the B-splines, number of basis functions */
  PetscReal          low, high;          /* smallest and largest dissimilarity */
  /* normal equations of the fit, and the coefficients of the basis functions */
  PetscReal matrix[SMACOF_MAX_FUNCTIONS * SMACOF_MAX_FUNCTIONS], right[SMACOF_MAX_FUNCTIONS], coefficient[SMACOF_MAX_FUNCTIONS];
} SMACOFRegression;

PETSC_INTERN PetscErrorCode SMACOFRegressionCreate_Private(SMACOF, SMACOFRegression *);
PETSC_INTERN PetscErrorCode SMACOFRegressionFit_Private(SMACOFRegression *, const double x[]);
PETSC_INTERN PetscErrorCode SMACOFRegressionDestroy_Private(SMACOFRegression *);

/* --- the iteration ---------------------------------------------------------------------------------------------------------------------- */

/* a configuration, replicated on every rank, and the results of a pass */
typedef struct {
  Vec       x, g;             /* [dim][N] configuration and its Guttman transform, without the factors below */
  PetscReal xfactor, gfactor; /* the configuration is xfactor * x, its transform gfactor * g; steps apply the factors */
  Vec       stress;           /* [N] raw stress of each point of x */
  PetscReal sigma;            /* normalised stress: raw stress divided by the sum of squares of the disparities */
  PetscReal rho;              /* <X, B(X) X> divided by the same sum; gives the best scale */
} SMACOFConfiguration;

/* steps of the iteration; a rejected step is followed by the next one of this list */
typedef enum {
  SMACOF_STEP_START,
  SMACOF_STEP_ANDERSON,
  SMACOF_STEP_RELAXED,
  SMACOF_STEP_PLAIN,
  SMACOF_STEP_LAST, /* a final plain step without rescaling, so that the stress of each point belongs to the result */
  SMACOF_STEP_NONE
} SMACOFStep;

/* state of the iteration from one start */
typedef struct {
  PetscInt   start;        /* number of the start */
  PetscInt   it, rejected; /* passes after the first one; those whose step was rejected */
  SMACOFStep step;         /* the next step */
  PetscReal  last;         /* normalised stress before the last accepted step */
  PetscReal  below;        /* extrapolate if the last step lowered the normalised stress by less than this */
  PetscBool  extrapolated; /* the last accepted step was an extrapolation */
  PetscBool  converged;
} SMACOFProgress;

/* the iteration from one start */
typedef struct {
  SMACOFProgress      at;
  SMACOFConfiguration now, next; /* the current and the proposed configuration */
  SMACOFCombination   form;      /* the linear combination that gives next.x */
  SMACOFHistory       history;
  Vec                 bx;   /* B(X) X of the configuration that was evaluated last */
  SMACOFSums          sums; /* sums and inner products of that configuration */
} SMACOFPath;

struct _p_SMACOF {
  PETSCHEADER(int);
  /* data: SMACOFSetUp() copies the matrices into the pairs and drops them */
  Mat         dissimilarities, weights, features;
  PetscBool   matrix_free, in_double;                /* compute distances in every pass; store in double precision */
  PetscBool   nan_missing, zero_missing, symmetrize; /* what stands for a missing dissimilarity, besides an absent entry */
  SMACOFPairs D;
  SMACOFFixed fixed; /* fixed.n is 0 if no points are fixed */
  Vec         given; /* the first configuration, or NULL */

  /* settings */
  SMACOFMetric        metric;
  PetscInt            dim, max_it, starts, batch, seed, history, degree, knots;
  PetscReal           eps, anderson_below;
  SMACOFAcceleration  acceleration;
  SMACOFStart         start;
  SMACOFDisparity     disparity;
  SMACOFTies          ties;
  SMACOFArithmetic    arithmetic;
  SMACOFReading       reading;
  SMACOFStreamOptions stream;
  char                eigensolver[SMACOF_NAME_LEN];
  char                checkpoint[PETSC_MAX_PATH_LEN], restart[PETSC_MAX_PATH_LEN];
  PetscInt            checkpoint_every; /* passes between checkpoints */
  PetscInt            nmonitors;
  SMACOFMonitorFn     monitor[SMACOF_MAX_MONITORS];
  void               *monitorctx[SMACOF_MAX_MONITORS];
  PetscErrorCode (*monitordestroy[SMACOF_MAX_MONITORS])(void **);

  /* what SMACOFSetUp() creates for the data and the settings */
  PetscBool             setup;
  SMACOFTransform       transform;
  SMACOFRegression      regression; /* unused for SMACOF_DISPARITY_RATIO */
  SMACOFDevicePass      device;     /* dev is NULL unless the disparity is ratio: other disparities change in every pass, which runs on the host */
  PetscInt              npaths;     /* maximum number of starts that iterate together */
  SMACOFPath           *path;       /* [npaths] */
  SMACOFPath          **active;     /* [npaths] workspace: paths that have not stopped */
  SMACOFPass           *pass;       /* [npaths] workspace */
  Vec                  *sum;        /* [2 npaths] workspace: vectors to be summed over the ranks */
  SMACOFConfiguration   best;       /* result of the best start that has stopped */
  SMACOFProgress        outcome;    /* state of that start when it stopped; its start is -1 before any has stopped */
  SMACOFConvergedReason reason;
  PetscReal             unit;      /* the sum of squares of the dissimilarities, which normalises the stress; 1 if they are all 0 */
  const SMACOFPath     *monitored; /* the path that monitors are called for */
  double                print[3];  /* fingerprint of the data, for checkpoints */
  PetscBool             printed;   /* print is set */
  PetscLogDouble        seconds_start, seconds_solve, bytes_copied;
};

/* Tells whether configurations are rescaled: nothing fixes their scale, and the iteration is accelerated. */
static inline PetscBool SMACOFRescales(SMACOF s)
{
  return (PetscBool)(!s->fixed.n && s->acceleration != SMACOF_ACCELERATION_NONE);
}

PETSC_INTERN PetscErrorCode SMACOFStreamSetFromOptions_Private(SMACOF, GpOptionItems);
PETSC_INTERN PetscErrorCode SMACOFRandomStart_Private(PetscInt seed, PetscInt N, PetscInt dim, double x[]);
PETSC_INTERN PetscErrorCode SMACOFTorgersonStart_Private(SMACOF, double x[]);
PETSC_INTERN PetscErrorCode SMACOFEigensolveBlock_Private(SMACOF, Mat, PetscInt n, Vec q[], PetscReal value[]);
PETSC_INTERN PetscErrorCode SMACOFRunPass_Private(SMACOF, PetscInt n, SMACOFPath *active[]);
PETSC_INTERN PetscErrorCode SMACOFEvaluate_Private(SMACOF, PetscInt n); /* evaluates the next configurations of active[0] to active[n - 1] */
PETSC_INTERN PetscErrorCode SMACOFWorkDestroy_Private(SMACOF);
PETSC_INTERN PetscErrorCode SMACOFMonitor_Private(SMACOF, const SMACOFPath *, SMACOFConvergedReason);
PETSC_INTERN PetscErrorCode SMACOFMonitorDefault_Private(SMACOF, PetscInt start, PetscInt it, PetscReal stress, SMACOFConvergedReason, void *);
PETSC_INTERN PetscErrorCode SMACOFCheckpointWrite_Private(SMACOF, PetscInt n);
PETSC_INTERN PetscErrorCode SMACOFCheckpointRead_Private(SMACOF, PetscInt *n);
extern PetscFunctionList    SMACOFEigensolverList;

#endif
