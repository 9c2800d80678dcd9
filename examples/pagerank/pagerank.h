/* PageRank: graphs as matrices, the Google operator on top of them, and the ways to its fixed point. */
#ifndef GPUCSR_PAGERANK_H
#define GPUCSR_PAGERANK_H

#include "app/app.h"
#include "app/appdevice.h"
#include "app/appgraph.h"
#include "step.h"
#include <gpucsr.h>
#include <petscksp.h>

/* what becomes of the rank that nodes without links hold */
typedef enum {
  DANGLING_TELEPORT, /* it jumps as the walker does who is bored */
  DANGLING_UNIFORM,  /* it jumps anywhere */
  DANGLING_VECTOR,   /* it follows a vector of its own */
  DANGLING_SELF,     /* it stays: the node links to itself */
  DANGLING_DROP      /* it is lost, as in the GAP benchmark; ranks then sum to less than one */
} Dangling;
extern const char *const Danglings[];

typedef enum {
  METHOD_POWER,
  METHOD_INNEROUTER,
  METHOD_GAUSSSEIDEL,
  METHOD_JACOBI,
  METHOD_KSP,
  METHOD_EPS
} Method;
extern const char *const Methods[];

typedef GpAppLinks Links; /* of a graph before they are a matrix; nodes by their identities, later by their numbers */

typedef struct {
  MPI_Comm    comm;
  char        file[PETSC_MAX_PATH_LEN];
  PetscInt    N;                            /* nodes */
  PetscInt64  M;                            /* links kept */
  PetscInt64 *id;                           /* [N] on every rank: the identity of each node; NULL: the number itself, counted from idbase */
  PetscInt64  idbase;                       /* 1 for Matrix Market, METIS and Pajek */
  GpAppNames  names;                        /* on every rank: the name of each node; none: identities are numbers */
  char        read[2 * PETSC_MAX_PATH_LEN]; /* what was understood of the file, in words */
  PetscInt   *row, *node;                   /* [N] on every rank: the row of each node in the order of identities, and the node of each row; NULL: the same numbers */
  PetscBool   weighted;
  PetscInt    blocks;
  Mat        *A;     /* [blocks] A(j,i): weight of the link from i to j, so that rank flows by A x; the rows of every rank are dealt to so many matrices */
  IS         *rows;  /* [blocks] theirs */
  Vec         out;   /* weight of all links that leave a node */
  Vec         loops; /* of those to itself; NULL: there are none, or one block */
} Graph;

typedef enum {
  ORDER_GIVEN, /* rows by ascending identity */
  ORDER_DEGREE /* by descending number of links out, so that what products read most often lies together */
} Order;
extern const char *const Orders[];

typedef struct {
  PetscBool      undirected, keep_loops, count_duplicates;
  Order          order;
  GpAppGraphSpec spec;   /* what the user knows of the file */
  PetscInt       blocks; /* of rows, neighbours in different ones; 1: rows stay as they are ordered */
} GraphOptions;

PETSC_INTERN PetscErrorCode GraphRegisterEvents(void);
PETSC_INTERN PetscErrorCode GraphMakeRMAT(MPI_Comm, PetscInt scale, PetscInt degree, PetscInt seed, Links *);
PETSC_INTERN PetscErrorCode GraphFromLinks(MPI_Comm, const GraphOptions *, Links *, PetscInt64 nodes, Graph *);
PETSC_INTERN PetscErrorCode GraphLoad(MPI_Comm, const char[], const GraphOptions *, Graph *);
PETSC_INTERN PetscErrorCode GraphCompress(Links *, PetscInt N, PetscInt first, PetscInt m, PetscInt **i, PetscInt **j, PetscScalar **a, PetscScalar sums[], PetscScalar loops[]);
PETSC_INTERN PetscErrorCode GraphRename(MPI_Comm, Links *, Graph *);
PETSC_INTERN PetscErrorCode GraphReorder(MPI_Comm, Links *, Graph *);
PETSC_INTERN PetscErrorCode GraphInterleave(PetscLayout, PetscInt blocks, Links *, Graph *);
PETSC_INTERN PetscErrorCode GraphMult(const Graph *, Vec x, Vec y);                                    /* y = A x */
PETSC_INTERN PetscErrorCode GraphPermute(const Graph *, PetscBool byrow, Vec x);                       /* entries by node become entries by row, or back */
PETSC_INTERN PetscErrorCode GraphFind(const Graph *, const char name[], size_t length, PetscInt *row); /* by name or number; -1: there is none */
PETSC_INTERN const char    *GraphName(const Graph *, PetscInt row, char number[24]);                   /* the name or the number of a node */
PETSC_INTERN void           GraphWriteName(FILE *, const char name[]);                                 /* in quotes where it needs them */
PETSC_INTERN PetscErrorCode GraphDestroy(Graph *);

/* the first of the n rows of a rank, or its end, that is in block b of so many */
static inline PetscInt GraphBlockStart(PetscInt n, PetscInt blocks, PetscInt b)
{
  return b * (n / blocks) + PetscMin(b, n % blocks);
}

/* what a sweep has to know of them; leads: nobody else has a part of it */
static inline StepRows GraphBlockRows(PetscInt n, PetscInt blocks, PetscInt b, PetscBool leads)
{
  const PetscInt first = GraphBlockStart(n, blocks, b), end = GraphBlockStart(n, blocks, b + 1), last = end == n;

  return (StepRows){(int32_t)first, (int32_t)(end - first), (int32_t)GraphBlockStart(n, blocks, 1), (int)last, (int)(last && leads)};
}

typedef struct Loop_ Loop;

/* the walker's operator: G x = damping P x + (1 - damping) v, where P x = A D^-1 x + (rank of dangling nodes) u moves all rank x */
typedef struct {
  const Graph *graph;
  PetscReal    damping;
  Dangling     dangling;
  Vec          scale;      /* 1/out, 0 where nothing leaves */
  Vec          isdangling; /* 1 where nothing leaves, else 0; NULL: no such node, or their rank is dropped */
  Vec          v, u;       /* where the bored walker goes, where dangling rank goes; both sum to 1; u may be v, or NULL: it stays */
  Vec          z;          /* work */
  Vec          inverse;    /* Gauss-Seidel: 1/(1 - damping p) where the share p of a node's rank stays with it; NULL: none does */
  PetscBool    anywhere;   /* v is the same for all nodes */
  PetscInt     ndangling, matmults;
  Loop        *loop; /* iterations on the device, NULL: the host leads them */
} Google;

PETSC_INTERN PetscErrorCode GoogleCreate(const Graph *, PetscReal damping, Dangling, Vec v, Vec u, Google *);
PETSC_INTERN PetscErrorCode GooglePull(Google *, Vec x, Vec y);                               /* y = P x */
PETSC_INTERN PetscErrorCode GoogleResidual(Google *, Vec x, Vec px, Vec r, PetscReal *norm1); /* r = G x - x, given P x */
PETSC_INTERN PetscErrorCode GoogleDestroy(Google *);

typedef struct {
  Method    method;
  PetscReal tolerance; /* of the certified error in the 1-norm */
  PetscInt  max_it;
  PetscReal inner_damping, inner_tolerance; /* of inner-outer iterations */
  PetscInt  extrapolate;                    /* power: quadratic extrapolation every so many iterations, 0: never */
  PetscBool monitor, assemble;              /* assemble: the preconditioner sees the matrix I - damping A D^-1 */
  PetscBool warm;                           /* the ranks to start from may be good enough */
  PetscBool device_loop;                    /* power, Gauss-Seidel: the whole iteration on the device, where it has a place for that */
} SolveOptions;

typedef struct {
  PetscInt    iterations;
  PetscReal   residual, bound; /* |Gx - x|_1 of the x returned, and the bound on its distance to the fixed point */
  PetscReal   first;           /* bound before the first iteration */
  PetscBool   converged;
  const char *reason;
} SolveResult;

PETSC_INTERN PetscErrorCode SolveSetUp(Google *, const SolveOptions *); /* what Solve() can do ahead; not needed */
PETSC_INTERN PetscErrorCode Solve(Google *, const SolveOptions *, Vec x, SolveResult *);
PETSC_INTERN PetscErrorCode SolveGaussSeidel(Google *, const SolveOptions *, Vec x, SolveResult *);
PETSC_INTERN PetscErrorCode GaussSeidelSetUp(Google *);
PETSC_INTERN PetscErrorCode SolveKSP(Google *, const SolveOptions *, Vec x, SolveResult *);
PETSC_INTERN PetscErrorCode SolveBatch(Google *, PetscInt n, const Vec v[], const SolveOptions *, Vec x[], SolveResult *);
PETSC_INTERN PetscErrorCode SolveEPS(Google *, const SolveOptions *, Vec x, SolveResult *);
PETSC_INTERN PetscErrorCode SolveRound(Google *, const SolveOptions *, Vec x, Vec r, PetscReal *norm1, SolveResult *); /* before every call of a solver */
PETSC_INTERN PetscReal      SolveTarget(const Google *, const SolveOptions *);                                         /* a residual that SolveCheck() finds small enough */
PETSC_INTERN PetscErrorCode SolveCheck(Google *, const SolveOptions *, PetscReal norm1, SolveResult *);                /* one more iteration: notes, monitors, decides */

/* how kernels come by the entries of this process */
typedef struct {
  PetscErrorCode (*get)(Vec, PetscScalar **), (*restore)(Vec, PetscScalar **);
  PetscErrorCode (*getread)(Vec, const PetscScalar **), (*restoreread)(Vec, const PetscScalar **);
} VecAccess;

static inline const VecAccess *VecAccessOf(GpDev dev)
{
  static const VecAccess host   = {VecGetArray, VecRestoreArray, VecGetArrayRead, VecRestoreArrayRead};
  static const VecAccess device = {VecGPUGetDeviceArray, VecGPURestoreDeviceArray, VecGPUGetDeviceArrayRead, VecGPURestoreDeviceArrayRead};

  return dev ? &device : &host;
}

PETSC_INTERN PetscErrorCode LoopGetOperator(const Google *, GpDev, StepOperator *);
PETSC_INTERN PetscErrorCode LoopRestoreOperator(const Google *, GpDev, StepOperator *);
PETSC_INTERN PetscErrorCode LoopMakeRoom(GpDev, double **partial, StepState **);
PETSC_INTERN PetscErrorCode LoopFreeRoom(GpDev, double **partial);
PETSC_INTERN PetscErrorCode LoopCreate(Google *, PetscBool sweeps);
PETSC_INTERN PetscErrorCode LoopRun(Google *, const SolveOptions *, Vec x, SolveResult *);
PETSC_INTERN PetscErrorCode LoopDestroy(Google *);

/* a node and its rank, and whether its place before the next one is certain */
typedef struct {
  PetscReal rank;
  PetscInt  node;
  PetscBool certain;
} TopEntry;

PETSC_INTERN PetscErrorCode RanksTop(Vec x, PetscReal bound, PetscInt k, TopEntry top[], PetscInt *found); /* on all ranks */
PETSC_INTERN PetscErrorCode RanksSum(Vec x, PetscReal *sum);
PETSC_INTERN PetscErrorCode RanksWriteText(const Graph *, PetscInt n, const Vec x[], const char[]);
PETSC_INTERN PetscErrorCode RanksWriteBinary(const Graph *, PetscInt n, const Vec x[], const char[]);
PETSC_INTERN PetscErrorCode RanksWritePicture(Vec x, const char[]);

PETSC_INTERN PetscErrorCode PersonalizeRead(const Graph *, const char[], PetscInt *n, Vec **v);

#endif
