/* Private header of KMeans: the object and the functions that its files share. */
#ifndef KMEANSIMPL_H
#define KMEANSIMPL_H

#include "kmeansdata.h"
#include "device/gpstream.h"
#include <gpucsrcompat.h>
#include <gpucsr.h>
#include <gpucsrdevice.h>
#include <gpucsrkmeans.h>
#include <petsc/private/petscimpl.h>

#define KMEANS_MAX_MONITORS 5
/* Selects a stream of random numbers. The odd factors are those of SplitMix64. */
#define KMeansRandomStream(km, restart, draw) (((uint64_t)(km)->seed * 0x9e3779b97f4a7c15 + (uint64_t)(restart)) * 0xbf58476d1ce4e5b9 + (uint64_t)(draw)*0x94d049bb133111eb)

/* PETSc without debugging checks no pointers. */
#define KMeansCheckPointer(p, arg) PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument %d", arg)

#define KMEANS_AUTO -1 /* variant to be chosen by KMeansSetUp() */

PETSC_EXTERN PetscLogEvent KMEANS_SolveEvent, KMEANS_StartEvent, KMEANS_AssignEvent, KMEANS_UpdateEvent, KMEANS_LoopEvent;

/* Solves of the same points that a GPU iterates together without the host. Everything is NULL before the first iterations. */
typedef struct {
  KMeans           km;
  PetscInt         solves; /* number of solves that the arrays hold */
  KMeansLoop      *loop;   /* [solves] device memory */
  KMeansFrame      frame;  /* device memory: [solves][d] and [solves] */
  KMeansData       data;   /* what the graph works on */
  PetscInt         assign; /* its assignment */
  PetscGPUCSRGraph graph;
} KMeansLooped;

/* How points are streamed. */
typedef struct {
  KMeansStream mode;
  PetscReal    chunk, resident;  /* bytes of a block, and of the blocks that stay on the device; negative: the default */
  PetscInt     buffers, threads; /* 0: the default */
} KMeansStreamOptions;

/* Dense points in host memory, in blocks of consecutive points that every pass transfers to the device. All members are zero if the points are on the device. */
typedef struct {
  GpStream       stream;
  PetscInt       n;           /* number of blocks */
  int32_t        points;      /* number of points of a block; the last one may have fewer */
  void         **memory;      /* [n] the values of a block, in host memory of its own */
  int           *pinned;      /* [n] 1: the memory is pinned */
  PetscLogDouble pin_seconds; /* to allocate and pin the memory */
} KMeansBlocks;

#define KMeansIsStreamed(P) ((PetscBool) !!(P)->blocks.stream) /* the same on all ranks */

/* The points of a matrix, with the sizes of its arrays on the device. */
typedef struct {
  KMeansData   data;
  PetscInt     N, first; /* number of points on all ranks; number of the first local point */
  PetscMPIInt  ranks;    /* number of ranks */
  size_t       values;   /* number of stored values on this rank */
  KMeansBlocks blocks;   /* the values if they are in host memory; then data.value is NULL */
  PetscInt     capacity; /* number of centroids that the arrays hold */
  PetscInt     summed;   /* number of clusters whose sums agree with data.summed; 0: none */
  int          bits;     /* number of bits of the integer of the largest value, chosen so that a sum of N such integers fits 64 bits */
  KMeansFixed *feature;  /* [d] the scales of data.feature on the host */

  KMeansLooped looped; /* iterations of one solve on a GPU without the host */

  PetscBool resident; /* data.centroid is newer than the centroids on the host (KMeansResidentStep_Private()) */

  GpDevEvent event[2]; /* recorded before and after an assignment; NULL before the first KMeansPass_Private() */
} KMeansPoints;

/* Statistics of the last solve. During a solve they are those of this rank. */
typedef struct {
  PetscLogDouble start, assign, update; /* seconds */
  PetscLogDouble bytes;                 /* copied between host and device */
  PetscLogDouble before;                /* bytes that the process had copied before the solve, or before the set-up */
  PetscBool      fresh;                 /* there was no solve since the set-up */
} KMeansStatistics;

/* The result of a restart. */
typedef struct {
  PetscInt              restart; /* its number; -1: none */
  PetscInt              it, kept;
  KMeansConvergedReason reason;
  PetscReal             inertia;
} KMeansOutcome;

/* Restarts that a GPU iterates together. KMeansIterate_Private() takes their results one after another. */
typedef struct {
  KMeansLooped looped;
  KMeansData   data;         /* the points, with device arrays that hold all restarts (KMeansOfSolve()) */
  PetscInt     first, count; /* number of the first restart; number of restarts */
  PetscInt     most;         /* the largest number of restarts that the last solve has iterated together */
  double      *centroid;     /* [data.solves][k][d] on the host: the centroids before and after the iterations */
  KMeansLoop  *state;        /* [data.solves] on the host: the states after the iterations */
} KMeansRestarts;

/* Mini-batches. */
typedef struct {
  KMeansPoints points;   /* the points in the order of the batches */
  PetscInt     n;        /* number of batches in an epoch */
  PetscInt    *start;    /* [n+1] first local point of each batch */
  double      *count;    /* [k] weight of all points that each centroid has had */
  double      *origin;   /* [k][d] centroids at the beginning of the epoch */
  int64_t      cost;     /* sum of weight times distance over the epoch so far, in the scale of the points */
  double       previous; /* inertia of the previous epoch */
} KMeansBatches;

/* The change of the assignment that `auto` may make during a solve. */
typedef struct {
  PetscInt   before;      /* the assignment before the change; KMEANS_AUTO: there was no change */
  PetscInt   restart, it; /* the first iteration after the change */
  PetscInt   passes;      /* number of iterations of the present restart up to the change */
  PetscInt64 rechecked;   /* number of distances that these iterations evaluated again */
} KMeansAssignChange;

/* Contents of the next checkpoint: a description of the run, and the state before the present iteration. */
typedef struct {
  int64_t   *run;      /* numbers that identify points and settings */
  PetscInt   passes;   /* iterations since the last checkpoint */
  PetscBool  due;      /* a checkpoint is due after the present iteration */
  double    *centroid; /* [kept][d] */
  PetscInt   kept;
  PetscInt64 distances, rechecked;
} KMeansSavedState;

struct _p_KMeans {
  PETSCHEADER(int);
  Mat X;       /* points, one per row */
  Vec weights; /* of the points, or NULL */
  Mat given;   /* start centroids, or NULL */

  /* settings */
  PetscInt            k;              /* requested number of clusters */
  PetscInt            assign, update; /* indices of the tables, or KMEANS_AUTO */
  KMeansMetric        metric;
  KMeansStart         start;
  KMeansEmpty         empty;
  KMeansStorage       storage;
  KMeansReduce        reduce;
  PetscInt64          seed;
  PetscInt            restarts, max_it;
  PetscInt            together; /* largest number of restarts that a GPU iterates together; 0: chosen by KMeansSolve() */
  PetscInt            batch;    /* number of points in a batch; 0: all */
  KMeansStreamOptions stream;
  PetscReal           rtol, stol; /* tolerances on the relative decrease of the inertia and on the movement of the centroids */

  char     checkpoint[PETSC_MAX_PATH_LEN], resume[PETSC_MAX_PATH_LEN]; /* files of KMeansSetCheckpoint() and KMeansSetRestart(); empty: none */
  PetscInt checkpoint_every;

  /* state */
  KMeansPoints          points;
  KMeansBatches         batches;
  KMeansRestarts        ahead; /* restarts that have been iterated, or are being iterated */
  PetscBool             setup;
  PetscObjectState      states[3]; /* of points, weights and start centroids at the set-up */
  PetscInt              now[2];    /* variants in use: assignment, update */
  const char           *why;       /* reason of the choice of the assignment by `auto` */
  KMeansAssignChange    change;
  KMeansReduce          reducing;  /* how several ranks sum the tally; NCCL or MPI */
  const char           *reducewhy; /* reason of this choice, or the version of NCCL */
  PetscInt              kept;      /* number of clusters now: k less those that were dropped */
  double               *centroid;  /* [k][d] on the host, equal on all ranks */
  double               *best;      /* centroids of the best restart */
  int64_t              *tally;     /* on the host, summed over all ranks */
  PetscReal             inertia;
  PetscInt64            distances, rechecked; /* evaluated by the last solve on all ranks */
  PetscInt              done;                 /* number of restarts that have stopped */
  KMeansOutcome         outcome;              /* of the best restart; its centroids are `best` */
  KMeansStatistics      statistics;
  KMeansSavedState      saved;
  PetscInt              it;
  KMeansConvergedReason reason;
  PetscBool             solved; /* there are results */
  IS                    labels; /* NULL: KMeansGetLabels() makes it from `label`. ISCreateGeneral() reads all labels with one core */
  PetscInt             *label;

  PetscInt        nmonitors;
  KMeansMonitorFn monitor[KMEANS_MAX_MONITORS];
  void           *monitorctx[KMEANS_MAX_MONITORS];
  PetscErrorCode (*monitordestroy[KMEANS_MAX_MONITORS])(void **);
};

/* object/kmeanslabels.c */
PETSC_INTERN PetscErrorCode KMeansLabelsCopy_Private(const KMeansData *, PetscInt label[]);
PETSC_INTERN PetscErrorCode KMeansLabelsCreate_Private(KMeans); /* collective */
PETSC_INTERN PetscErrorCode KMeansLabelsDestroy_Private(KMeans);

/* points/kmeanspoints.c */
PETSC_INTERN PetscErrorCode KMeansPointsCreate_Private(KMeans, Mat, Vec, const PetscInt order[], PetscInt, const double[], KMeansPoints *);
PETSC_INTERN PetscErrorCode KMeansPointsDestroy_Private(KMeansPoints *);
PETSC_INTERN PetscErrorCode KMeansPointsGetRow_Private(KMeans, PetscInt, double[]); /* collective */
PETSC_INTERN PetscErrorCode KMeansPointsSetBounds_Private(KMeansPoints *, PetscInt);
PETSC_INTERN PetscErrorCode KMeansPointsSetColumns_Private(KMeansPoints *, PetscInt assign);
PETSC_INTERN PetscErrorCode KMeansPointsSetCentroids_Private(KMeansPoints *, PetscInt, const double[]);
PETSC_INTERN PetscErrorCode KMeansLoopedDestroy_Private(KMeansLooped *);

/* points/kmeansgrid.c */
PETSC_INTERN PetscErrorCode KMeansPointsSetGrid_Private(MPI_Comm, KMeansPoints *); /* collective */
PETSC_INTERN PetscErrorCode KMeansPointsFreeGrid_Private(KMeansPoints *);

/* points/kmeansblocks.c */
typedef GpErr (*KMeansBlockFn)(const KMeansData *, int64_t first, const void *ctx); /* submits work on a block, whose first point is local point `first` */
PETSC_INTERN PetscErrorCode KMeansBlocksVisit_Private(KMeansPoints *, const char what[], KMeansBlockFn, const void *ctx);
PETSC_INTERN PetscErrorCode KMeansPointsAssign_Private(KMeansPoints *, PetscInt assign, PetscInt update);
PETSC_INTERN PetscErrorCode KMeansBlocksGetRow_Private(const KMeansPoints *, PetscInt, double[]);
PETSC_INTERN PetscErrorCode KMeansBlocksDestroy_Private(KMeansPoints *);
PETSC_INTERN void           KMeansSelectPoints_Private(KMeansData *, size_t start, PetscInt n);

/* object/kmeansstream.c */
PETSC_INTERN PetscErrorCode KMeansStreamSetFromOptions_Private(KMeans, GpOptionItems);
PETSC_INTERN PetscErrorCode KMeansStreamView_Private(KMeans, PetscViewer);

/* solve/kmeanssums.c */
PETSC_INTERN PetscErrorCode KMeansPointsForgetLabels_Private(KMeansPoints *);
PETSC_INTERN PetscErrorCode KMeansPointsClearTally_Private(KMeansPoints *, PetscBool keep);
PETSC_INTERN PetscErrorCode KMeansPointsSquare_Private(KMeansPoints *, const int32_t row[], const double value[]);
PETSC_INTERN PetscErrorCode KMeansPointsKeepOnHost_Private(KMeansPoints *);
PETSC_INTERN PetscErrorCode KMeansPointsFreeSums_Private(KMeansPoints *);

/* start/kmeansstart.c */
PETSC_INTERN PetscErrorCode KMeansGetGiven_Private(KMeans, Mat, PetscInt *k, double **); /* [k][d] on all ranks, of norm 1 for the cosine metric; the caller frees it */
PETSC_INTERN PetscErrorCode KMeansCheckSize_Private(MPI_Comm, PetscInt k, PetscInt d);
PETSC_INTERN PetscErrorCode KMeansStartDrawn_Private(KMeans, PetscInt restart, PetscBool distances);

/* start/kmeansparallel.c */
PETSC_INTERN PetscErrorCode KMeansDrawCandidates_Private(KMeans, PetscInt restart, Mat *, Vec *);

/* solve/kmeanscentroids.c */
PETSC_INTERN PetscErrorCode KMeansMoveCentroids_Private(KMeans, PetscReal *shift, PetscBool *replaced);
PETSC_INTERN PetscErrorCode KMeansTreatEmpty_Private(KMeans, PetscBool *replaced);
PETSC_INTERN PetscErrorCode KMeansMoveByRates_Private(KMeans, double count[]);

/* object/kmeansstatistics.c */
PETSC_INTERN PetscErrorCode KMeansStatisticsSetUp_Private(KMeans);
PETSC_INTERN PetscErrorCode KMeansStatisticsBegin_Private(KMeans);
PETSC_INTERN PetscErrorCode KMeansStatisticsEnd_Private(KMeans);

/* solve/kmeansreduce.c */
PETSC_INTERN PetscErrorCode KMeansReduceSetUp_Private(KMeans);
PETSC_INTERN PetscErrorCode KMeansReduceOnDevice_Private(KMeans, const KMeansData *);
PETSC_INTERN PetscErrorCode KMeansReduceOnHost_Private(KMeans, const KMeansData *, PetscBool totals);

/* solve/kmeansloop.c */
PETSC_INTERN PetscErrorCode KMeansLoop_Private(KMeans, PetscReal *previous);
PETSC_INTERN PetscErrorCode KMeansLoopIsPossible_Private(KMeans, PetscBool *);
PETSC_INTERN PetscErrorCode KMeansLoopRun_Private(KMeans, const KMeansData *, PetscInt count, PetscReal previous, KMeansLooped *, KMeansLoop state[]);
PETSC_INTERN PetscErrorCode KMeansLoopFinish_Private(KMeans, const KMeansLoop *, PetscReal *previous);

/* solve/kmeansrestarts.c */
PETSC_INTERN PetscErrorCode KMeansRestartsPrepare_Private(KMeans, PetscInt left, PetscInt *count);
PETSC_INTERN PetscErrorCode KMeansRestartsAdd_Private(KMeans, PetscInt restart);
PETSC_INTERN PetscErrorCode KMeansRestartsIterate_Private(KMeans);
PETSC_INTERN PetscErrorCode KMeansRestartsTake_Private(KMeans, PetscReal *previous, PetscBool *taken);
PETSC_INTERN PetscErrorCode KMeansRestartsDestroy_Private(KMeansRestarts *);

/* solve/kmeanspass.c */
PETSC_INTERN PetscErrorCode KMeansPass_Private(KMeans, KMeansPoints *, PetscBool update);
PETSC_INTERN PetscErrorCode KMeansPassBegin_Private(KMeans, KMeansPoints *, PetscBool update);
PETSC_INTERN PetscErrorCode KMeansPassEnd_Private(KMeans, KMeansPoints *, PetscLogDouble begin);

/* solve/kmeansresident.c */
PETSC_INTERN PetscBool      KMeansCanReside_Private(KMeans);
PETSC_INTERN PetscErrorCode KMeansResidentStep_Private(KMeans, PetscBool *stepped, PetscReal *shift, PetscBool *replaced);
PETSC_INTERN PetscErrorCode KMeansResidentEnd_Private(KMeans);

/* solve/kmeanscheckpoint.c */
PETSC_INTERN PetscErrorCode KMeansCheckpointSetUp_Private(KMeans);
PETSC_INTERN PetscErrorCode KMeansCheckpointBegin_Private(KMeans, PetscBool last);
PETSC_INTERN PetscErrorCode KMeansCheckpointEnd_Private(KMeans);
PETSC_INTERN PetscErrorCode KMeansCheckpointRead_Private(KMeans);

/* solve/kmeansbatch.c */
PETSC_INTERN PetscErrorCode KMeansBatchesCreate_Private(KMeans, PetscInt many, const double outside[]);
PETSC_INTERN PetscErrorCode KMeansBatchesDestroy_Private(KMeansBatches *);
PETSC_INTERN PetscErrorCode KMeansIterateBatches_Private(KMeans, PetscInt restarts, PetscBool resumed);

/* solve/kmeanschoose.c */
PETSC_INTERN PetscErrorCode KMeansChooseVariants_Private(KMeans);
PETSC_INTERN PetscErrorCode KMeansResetAssign_Private(KMeans);
PETSC_INTERN PetscErrorCode KMeansAdaptAssign_Private(KMeans);
PETSC_INTERN PetscInt       KMeansChooseOnce_Private(const KMeansPoints *); /* the assignment of a pass that follows no other pass of the same points */

/* solve/kmeansiterate.c */
PETSC_INTERN PetscErrorCode KMeansIterate_Private(KMeans, PetscInt restarts, PetscBool resumed);

/* object/kmeansview.c */
PETSC_INTERN PetscErrorCode KMeansMonitor_Private(KMeans, PetscInt64 changed);
PETSC_INTERN PetscErrorCode KMeansMonitorSetFromOptions_Private(KMeans, GpOptionItems);

#endif
