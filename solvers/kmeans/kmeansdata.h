/* Points, centroids and tallies of k-means on a device, and the tables of assignments and updates. Knows nothing of PETSc.

   The label of a point x is defined by sums in double precision in a fixed order, without fused multiply-adds:

   - dense, Euclidean: the least sum of (x_j - m_j)^2 over ascending features j
   - sparse, Euclidean: the least |m|^2 - 2 x.m, where x.m is summed over ascending nonzeros. |m|^2 is the sum of KMEANS_SQUARE_PARTS partial sums, in
     ascending order; feature j belongs to partial sum j modulo KMEANS_SQUARE_PARTS, which is summed over ascending features
   - cosine: the greatest x.m, summed over ascending features or nonzeros

   The centroid of the lowest number wins a tie. Every assignment returns these labels. */
#ifndef KMEANSDATA_H
#define KMEANSDATA_H

#include "device/gpsteps.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* A scale of fixed-point numbers. The integer of a value v is v * first, rounded to the nearest, ties to even. If second is not 0, a second integer
   holds what the first rounds away, times second. Both factors are powers of 2, so the products are exact. */
typedef struct {
  double first, second;
} KMeansFixed;

/* Lower bounds on distances, for assignments that skip centroids. Centroids are divided into groups of consecutive numbers. All arrays are device
   memory. */
typedef struct {
  int32_t group;      /* number of centroids in a group */
  int32_t capacity;   /* number of centroids that the arrays hold */
  double *lower;      /* [n][groups] lower bound on the distance (not squared) of a point to the centroids of a group, except that of its label */
  double *old;        /* [k][d] centroids of the previous assignment */
  double *moved;      /* [k] upper bound on the distance that each centroid has moved since the previous assignment */
  double *groupmoved; /* [groups] the largest `moved` of each group */
  double *half;       /* [k] lower bound on half the distance of a centroid to the nearest other centroid */
  double *largest;    /* [1] the largest |m|^2 */
} KMeansBounds;

/* Numbers of a frame (screen/kmeansframe.cuh). They are in device memory, because the device computes them. */
typedef struct {
  double spread;  /* largest |m_j - o_j| of the centroids for which the frame was chosen. It determines the scale */
  double largest; /* M: upper bound on the norms of the centroids, shifted and scaled, that were converted last */
  double error;   /* D: upper bound on the rounding errors of these centroids */
} KMeansFrameNumbers;

/* The frame of scores on a GPU (screen/kmeansframe.cuh). All arrays are device memory. */
typedef struct {
  double             *centre;  /* [d] the centre o; its values are single-precision numbers if the points are */
  KMeansFrameNumbers *numbers; /* [1] */
} KMeansFrame;

#define KMEANS_CELLS_FEATURES 4    /* largest number of features for the assignment `cells` */
#define KMEANS_CELLS_CLUSTERS 4096 /* largest number of clusters for it. Cluster numbers fit 16 bits */
#define KMEANS_CELLS_BITS     12   /* binary logarithm of the largest number of cells */
#define KMEANS_CELLS          (1 << KMEANS_CELLS_BITS)
#define KMEANS_CELLS_FEW      7  /* number of candidates of a cell in `few` */
#define KMEANS_CELLS_MORE     32 /* number of further candidates in `more` */

/* A grid of cells over the box of all points of all processes, for the assignment `cells` (assign/kmeanscells.h). */
typedef struct {
  double  low[KMEANS_CELLS_FEATURES], high[KMEANS_CELLS_FEATURES]; /* the box */
  double  width[KMEANS_CELLS_FEATURES];                            /* of a cell */
  float   inverse[KMEANS_CELLS_FEATURES];                          /* 1 / width; 0 if the box is not divided in this feature */
  int32_t bits[KMEANS_CELLS_FEATURES];                             /* binary logarithm of the number of cells in this feature */
} KMeansGrid;

/* The centroids that may be nearest to a point of each cell, in ascending order. few[cell][0] is their number, or KMEANS_CELLS_ALL if they do not fit. */
#define KMEANS_CELLS_ALL 0xffff
typedef struct {
  uint16_t few[KMEANS_CELLS][1 + KMEANS_CELLS_FEW];
  uint16_t more[KMEANS_CELLS][KMEANS_CELLS_MORE];
} KMeansCells;

#define KMeansGroups(k, group) (((k) + (group)-1) / (group))

/* State of iterations that a GPU executes without the host, in device memory. `reason` is a KMeansConvergedReason or KMEANS_LOOP_EMPTY. The iterations stop if it
   is not 0. */
#define KMEANS_LOOP_EMPTY 100 /* the last assignment left clusters without points. The host treats them; the centroids have not moved */
typedef struct {
  int32_t  reason, it, max_it; /* it: number of the present iteration */
  int32_t  keep;               /* 1: centroids without points stay */
  int32_t  differences;        /* 1: an iteration adds differences to the sums of the previous iteration; 0: it adds all points */
  int32_t  fresh;              /* 1: the sums contain no points yet */
  double   rtol, stol, previous, inertia;
  int64_t  counted, rechecked; /* totals KMEANS_COUNTED and KMEANS_RECHECK of all iterations */
  uint64_t loop;               /* handle of the graph */
  int32_t  running;            /* number of solves of the batch that have not stopped. Only that of the first solve is used */
} KMeansLoop;

/* Points of this process and centroids. All arrays are device memory. KMeansBatchPass() selects a part of the points by offsets to the arrays with an entry
   for each point. */
typedef struct KMeansData_ {
  GpDev          dev;
  int32_t        n, d, k;
  int            cosine;
  int            single;     /* 1: values are float; 0: double */
  const int32_t *row, *col;  /* sparse points: [n+1] and [row[n]], columns ascending in each row; NULL for dense points */
  const void    *value;      /* dense points: [n][d]; sparse points: [row[n]] */
  const double  *weight;     /* [n], or NULL: all weights are 1 */
  const void    *column;     /* [d][stride] dense points by columns, a copy of `value`; NULL unless the assignment reads it */
  int32_t        stride;     /* number of points in a column */
  double        *centroid;   /* [k][d] */
  double        *square;     /* [k] |m|^2, for sparse Euclidean points */
  int32_t       *label;      /* [n]; -1: none yet */
  double        *distance;   /* [n] squared distance to the centroid of the label; cosine: 1 minus the inner product; NULL: `direct` does not store it */
  KMeansFixed   *feature;    /* [d] scale of the sums of each feature */
  KMeansFixed    mass, cost; /* scales of the weights and of the inertia; `second` is 0 */
  int            words;      /* number of words of a sum of a feature: 1 or 2 */
  int64_t       *tally;      /* [KMeansTallySize()] the tally of this process */
  int64_t       *reduced;    /* [KMeansTallySize()] the tally summed over all processes; if there is one process, it is `tally` */
  KMeansBounds   bounds;
  int32_t       *summed;      /* [n] cluster whose sums in the tally contain the point, -1: none; NULL unless the update adds differences */
  int            unsummed;    /* 1: the sums in the tally contain no point */
  double        *pointsquare; /* [n] |x|^2 of sparse Euclidean points, summed over ascending nonzeros; otherwise NULL */
  int            coarse;      /* 1: `sparse` computes scores on a GPU in half precision; 0: in single precision */
  int32_t        longest;     /* upper bound on the number of nonzeros of a sparse point */
  KMeansFrame    frame;       /* the frame that `direct` uses on a GPU; if its pointers are NULL, `direct` chooses one */
  KMeansGrid    *grid;        /* the grid; NULL unless the assignment is `cells` */
  KMeansCells   *cells;       /* [solves] workspace of `cells`; NULL if there is no grid */
  KMeansLoop    *loop;        /* NULL, or the iterations to which this assignment belongs: `direct` does nothing after they have stopped */
  int32_t        solves;      /* number of solves that iterate together (KMeansOfSolve()), 0 counts as 1; it is above 1 only with `loop` */
  int            fuse;        /* 1: `direct` also adds the points to the tally, or moves them if loop->differences is set; requires KMeansFuses() */

  /* The same points in host memory, for KMEANS_ON_HOST if device memory is not host memory; otherwise NULL. Its labels are workspace. Its tally is in
     host memory, and the update sets all of it but the totals. */
  struct KMeansData_ *host;
} KMeansData;

/* The tally of an iteration. All entries are integers, so that sums over points, processes and blocks of points do not depend on an order:
   KMEANS_TALLY totals, the weight of each cluster, then for each cluster and feature the words of the sum of its points. */
enum {
  KMEANS_CHANGED, /* number of labels that changed */
  KMEANS_INERTIA, /* sum of weight times distance, in the scale `cost` */
  KMEANS_COUNTED, /* number of distances that were evaluated */
  KMEANS_RECHECK, /* number of distances that were evaluated again in double precision */
  KMEANS_TALLY
};

#define KMeansTallySize(k, d, words) (KMEANS_TALLY + (int64_t)(k) * (1 + (int64_t)(words) * (d)))

/* 1 if `fixed` is the fastest update of all points on this GPU: the points are sparse, or the sums fit the shared memory of a block. Otherwise it is `sort`. */
static inline int KMeansFixedIsFastest(const KMeansData *A)
{
  return A->row || (double)(KMeansTallySize(A->k | 1, A->d, A->words) - KMEANS_TALLY) * sizeof(int64_t) <= (double)GpDevSharedBytes(A->dev);
}

typedef GpErr (*KMeansFn)(const KMeansData *);

#define KMEANS_RANK_CLUSTERS 16384 /* largest number of clusters for the updates `rank` and `rankstable` on a GPU, which take 8 bytes of shared memory for each */

/* Properties of updates. */
enum {
  KMEANS_DIFFERENCES = 1, /* it adds differences to the sums of the previous pass */
  KMEANS_DENSE       = 2, /* it is for dense points only */
  KMEANS_FLOAT       = 4, /* its sums are rounded to single precision, so that the result depends on the device and on the ranks */
  KMEANS_ON_HOST     = 8  /* it adds on the host, from KMeansData.host */
};

/* A variant. An assignment sets label and distance of all points, and adds the four totals to the tally. An update adds weights and features of all
   points to the tally. */
typedef struct {
  const char *name, *help;
  int32_t     group;             /* assignments: number of centroids that share a lower bound, 0: no bounds; updates: 0 */
  int         properties;        /* updates: sum of the above; assignments: 0 */
  KMeansFn    run[GP_DEV_KINDS]; /* [kind of device]; NULL: there is no implementation */
} KMeansVariant;

#define KMEANS_SQUARE_PARTS 256 /* number of partial sums of |m|^2 */

#define KMEANS_DIRECT 32 /* largest number of features of assignments that keep a point in registers or in local memory */

enum {
#define KMEANS_VARIANT(name, group, where, help) KMEANS_ASSIGN_##name,
#include "assign.def"
#undef KMEANS_VARIANT
  KMEANS_ASSIGNS
};

enum {
#define KMEANS_VARIANT(name, group, where, help) KMEANS_UPDATE_##name,
#include "update.def"
#undef KMEANS_VARIANT
  KMEANS_UPDATES
};

extern const KMeansVariant KMeansAssignTable[KMEANS_ASSIGNS];
extern const KMeansVariant KMeansUpdateTable[KMEANS_UPDATES];

/* One draw of a point, with a probability proportional to weight times nearest. */
typedef struct {
  int32_t  centroid; /* the newest centroid, which may be nearer to a point than `nearest`; -1: none */
  int64_t  first;    /* number of the first local point */
  uint64_t stream;   /* selects the random numbers; equal streams give equal numbers */
  double  *nearest;  /* [n] device memory: distance of each point to the nearest centroid, updated; 0: the point is not drawn */
  int64_t *drawn;    /* [2] device memory: bits of the least key, and the number of the point that has it (the lowest if several) */
} KMeansDrawArgs;

/* Draws of all points of a start, when all points belong to this process. */
typedef struct {
  int32_t         many;      /* number of draws */
  int             distances; /* 0: all points that have not been drawn have the same `nearest` */
  int64_t         first;     /* number of the first local point */
  const uint64_t *stream;    /* [many] on the host: the stream of each draw */
  double         *centroid;  /* [many][d] device memory: the points that were drawn */
  int64_t        *point;     /* [many] device memory: their numbers, -1: there was no point left */
} KMeansDrawAllArgs;

GP_PAIR(KMeansHasTensor, GpDev dev, int *has);   /* 1 if the device has the tensor cores that the assignment `tensor` uses */
GP_PAIR(KMeansSquares, const KMeansData *A);     /* square[c] = |m_c|^2 */
GP_PAIR(KMeansCopyColumns, const KMeansData *A); /* sets column from value */
GP_PAIR(KMeansMoveBounds, const KMeansData *A);  /* sets all arrays of A->bounds except lower and old */
GP_PAIR(KMeansForget, const KMeansData *A);      /* sets all labels to -1 */
GP_PAIR(KMeansDraw, const KMeansData *A, const KMeansDrawArgs *draw);
GP_EXTERN GpErr KMeansDrawAll_CUDA(const KMeansData *A, const KMeansDrawAllArgs *starts);

/* The frame of scores on a GPU. Only files that nvcc compiles define these functions. */
GpErr KMeansFrameCreate(const KMeansData *A, KMeansFrame *F); /* workspace, which KMeansFrameDestroy() returns */
void  KMeansFrameDestroy(const KMeansData *A, KMeansFrame *F);
GpErr KMeansFrameChoose(const KMeansData *A, const KMeansFrame *F); /* sets centre and scale for the present centroids */

/* Sets the box of the points of this process, in host memory. Without points the lowest values are infinite, and the highest ones minus infinity. */
GP_PAIR(KMeansBox, const KMeansData *A, double low[KMEANS_CELLS_FEATURES], double high[KMEANS_CELLS_FEATURES]);

/* Sets *share to the probability that two points of this process lie in the same cell of A->grid, estimated from KMEANS_CELLS_SAMPLE points. */
#define KMEANS_CELLS_SAMPLE 65536
GP_EXTERN GpErr KMeansGridShare_CUDA(const KMeansData *A, double *share);

/* Returns 1 if an assignment can add the points to the tally while it assigns them: `direct`, `tensor` or `cells` on a GPU, for up to KMEANS_DIRECT features, if the sums fit
   shared memory. Otherwise returns 0. */
GP_EXTERN int KMeansFuses_Host(const KMeansData *A, int assign);
GP_EXTERN int KMeansFuses_CUDA(const KMeansData *A, int assign);

/* Ends an iteration of all solves of A->loop on a GPU: moves the centroids to the means of A->reduced, tests the criteria of KMeansIterate_Private(), and zeroes the
   tally of this process, or only its totals if loop->differences is set. */
GP_EXTERN GpErr KMeansMove_CUDA(const KMeansData *A);

/* What the host reads after an iteration whose centroids stay on the device. */
typedef struct {
  int64_t total[KMEANS_TALLY]; /* the totals of the tally */
  int64_t empty;               /* number of clusters without points */
  double  square;              /* sum of the squared movements of all centroids */
} KMeansMoved;

/* Moves the centroids to the means of A->reduced, and sets `square`, unless it is NULL, to their |m|^2 for sparse Euclidean points. keep: centroids of clusters without
   points stay; 0: if there is such a cluster, no centroid moves. moved: device memory. */
GP_PAIR(KMeansMoveMeans, const KMeansData *A, int keep, KMeansMoved *moved);

#if defined(__cplusplus)
}
#endif
#endif
