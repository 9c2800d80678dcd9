/* The program pagerank: the graph as a matrix (Graph...), the Google operator (Google...), the solvers (Solve..., Loop...) and the output of ranks
   (Ranks...). */
#ifndef GPUCSR_PAGERANK_H
#define GPUCSR_PAGERANK_H

#include "app/app.h"
#include "app/appdevice.h"
#include "app/graph/appgraph.h"
#include "pagerankstep.h"
#include <gpucsr.h>
#include <petscksp.h>

/* Where the random walk continues from a dangling node, that is, from a node without outgoing links. */
typedef enum {
  DANGLING_TELEPORT, /* at a node drawn from the teleportation vector v */
  DANGLING_UNIFORM,  /* at any node, with equal probability */
  DANGLING_VECTOR,   /* at a node drawn from a distribution of its own */
  DANGLING_SELF,     /* at the same node, as if the node linked to itself */
  DANGLING_DROP      /* nowhere: the rank is lost, as in the GAP benchmark, and the ranks sum to less than 1 */
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

/* The links of a graph before the matrix exists. GraphRename() replaces the identities of nodes by their numbers. */
typedef GpAppLinks Links;

typedef struct {
  MPI_Comm    comm;
  char        file[PETSC_MAX_PATH_LEN];
  PetscInt    N;                            /* number of nodes */
  PetscInt64  M;                            /* number of links in the matrix */
  PetscInt64 *id;                           /* [N], the same on every process: identity of each node. NULL: node k has the identity k + idbase. */
  PetscInt64  idbase;                       /* identity of the first node if id is NULL: 1 for Matrix Market, METIS and Pajek, else 0 */
  GpAppNames  names;                        /* the same on every process: name of each node. Empty if identities are numbers. */
  char        read[2 * PETSC_MAX_PATH_LEN]; /* one line about the file: its size and how it was read */
  PetscInt   *row, *node;                   /* [N], the same on every process: row of each node (nodes in the order of identities), and node of each row. NULL: the row is the node. */
  PetscBool   weighted;
  PetscInt    blocks; /* number of row blocks of each process */
  Mat        *A;      /* [blocks], one matrix for each row block. A(j,i) is the weight of the link from i to j, so that A D^-1 x moves rank along the links. */
  IS         *rows;   /* [blocks], global rows of each block */
  Vec         out;    /* total weight of the outgoing links of each node */
  Vec         loops;  /* weight of the links of each node to itself. NULL: no node has any, or blocks is 1. */
} Graph;

typedef enum {
  ORDER_GIVEN, /* rows by ascending identity of the node */
  ORDER_DEGREE /* rows by descending number of outgoing links, so that the entries of x that products read most often are neighbours */
} Order;
extern const char *const Orders[];

typedef struct {
  PetscBool      undirected, keep_loops, count_duplicates;
  Order          order;
  GpAppGraphSpec spec;   /* options about the format of the file */
  PetscInt       blocks; /* number of row blocks of each process, to which GraphInterleave() assigns the rows in turn. 1: the order of the rows stays. */
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
PETSC_INTERN PetscErrorCode GraphPermute(const Graph *, PetscBool byrow, Vec x);                       /* byrow: from node order to row order, else back */
PETSC_INTERN PetscErrorCode GraphFind(const Graph *, const char name[], size_t length, PetscInt *row); /* finds the row of a node by its name or number. -1: no such node. */
PETSC_INTERN const char    *GraphName(const Graph *, PetscInt row, char number[24]);                   /* name or number of the node of a row; number is the buffer */
PETSC_INTERN void           GraphWriteName(FILE *, const char name[]);                                 /* quoted if necessary */
PETSC_INTERN PetscErrorCode GraphDestroy(Graph *);

/* First row of block b, counted from the first of the n rows of a process. For b = blocks it is n. */
static inline PetscInt GraphBlockStart(PetscInt n, PetscInt blocks, PetscInt b)
{
  return b * (n / blocks) + PetscMin(b, n % blocks);
}

/* The rows of block b, as the sweep kernel takes them. leads: no other process takes part, so the kernel itself completes the state after the last
   block. */
static inline StepRows GraphBlockRows(PetscInt n, PetscInt blocks, PetscInt b, PetscBool leads)
{
  const PetscInt first = GraphBlockStart(n, blocks, b), end = GraphBlockStart(n, blocks, b + 1), last = end == n;

  return (StepRows){(int32_t)first, (int32_t)(end - first), (int32_t)GraphBlockStart(n, blocks, 1), (int)last, (int)(last && leads)};
}

typedef struct Loop_ Loop;

/* The Google operator: G x = damping P x + (1 - damping) v for ranks x of sum 1. P x = A D^-1 x + (rank of dangling nodes) u. */
typedef struct {
  const Graph *graph;
  PetscReal    damping;
  Dangling     dangling;
  Vec          scale;      /* diagonal of D^-1: 1/out, and 0 at dangling nodes */
  Vec          isdangling; /* 1 at dangling nodes, else 0. NULL: there is none, or their rank is dropped. */
  Vec          v, u;       /* teleportation vector v and distribution u of the rank of dangling nodes. Both sum to 1. u may be v. NULL: the rank stays at its node or is dropped. */
  Vec          z;          /* work vector */
  Vec          inverse;    /* Gauss-Seidel: 1/(1 - damping p), the inverse diagonal, if P moves the share p of a node's rank to the node itself. NULL: p is 0 for all nodes. */
  PetscBool    anywhere;   /* v has the same entry, 1/N, for all nodes */
  PetscInt     ndangling;  /* number of dangling nodes */
  PetscInt     matmults;   /* products with A so far */
  Loop        *loop;       /* device loop: the iteration runs on the device, stopping test included. NULL: the host controls the iteration. */
} Google;

PETSC_INTERN PetscErrorCode GoogleCreate(const Graph *, PetscReal damping, Dangling, Vec v, Vec u, Google *);
PETSC_INTERN PetscErrorCode GooglePull(Google *, Vec x, Vec y);                               /* y = P x */
PETSC_INTERN PetscErrorCode GoogleResidual(Google *, Vec x, Vec px, Vec r, PetscReal *norm1); /* r = G x - x, given P x */
PETSC_INTERN PetscErrorCode GoogleDestroy(Google *);

typedef struct {
  Method    method;
  PetscReal tolerance; /* upper bound on the error of the ranks in the 1-norm */
  PetscInt  max_it;
  PetscReal inner_damping, inner_tolerance; /* of inner-outer iterations: damping and tolerance of the inner system */
  PetscInt  extrapolate;                    /* power: iterations between two quadratic extrapolations. 0: no extrapolation. */
  PetscBool monitor, assemble;              /* assemble: the KSP gets the assembled matrix I - damping A D^-1 for its preconditioner */
  PetscBool warm;                           /* the user gave the initial ranks, so the residual is computed before the first sweep */
  PetscBool device_loop;                    /* power, Gauss-Seidel: use the device loop if LoopCreate() can create it */
} SolveOptions;

typedef struct {
  PetscInt    iterations;
  PetscReal   residual, bound; /* |G x - x|_1 of the returned x, and the bound on the error |x - exact|_1 that follows from it */
  PetscReal   first;           /* the first bound of the run, for the progress that the monitor prints */
  PetscBool   converged;
  const char *reason;
} SolveResult;

PETSC_INTERN PetscErrorCode SolveSetUp(Google *, const SolveOptions *); /* optional: does the set-up of Solve() in advance, and creates the device loop */
PETSC_INTERN PetscErrorCode Solve(Google *, const SolveOptions *, Vec x, SolveResult *);
PETSC_INTERN PetscErrorCode SolveGaussSeidel(Google *, const SolveOptions *, Vec x, SolveResult *);
PETSC_INTERN PetscErrorCode GaussSeidelSetUp(Google *);
PETSC_INTERN PetscErrorCode SolveKSP(Google *, const SolveOptions *, Vec x, SolveResult *);
PETSC_INTERN PetscErrorCode SolveBatch(Google *, PetscInt n, const Vec v[], const SolveOptions *, Vec x[], SolveResult *);
PETSC_INTERN PetscErrorCode SolveEPS(Google *, const SolveOptions *, Vec x, SolveResult *);
PETSC_INTERN PetscErrorCode SolveRound(Google *, const SolveOptions *, Vec x, Vec r, PetscReal *norm1, SolveResult *); /* residual and stopping test before each call of a KSP or EPS */
PETSC_INTERN PetscReal      SolveTarget(const Google *, const SolveOptions *);                                         /* largest 1-norm of a residual that SolveCheck() accepts */
PETSC_INTERN PetscErrorCode SolveCheck(Google *, const SolveOptions *, PetscReal norm1, SolveResult *);                /* records the residual, prints it, and sets R->reason if the iteration stops */

/* Functions that give the local entries of a Vec in the memory space of the kernels. */
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

/* A row of the list of highest ranks. certain: the exact rank of this node and of all nodes above is higher than that of all nodes below. node is a
   row. */
typedef struct {
  PetscReal rank;
  PetscInt  node;
  PetscBool certain;
} TopEntry;

PETSC_INTERN PetscErrorCode RanksTop(Vec x, PetscReal bound, PetscInt k, TopEntry top[], PetscInt *found); /* the result is on all processes */
PETSC_INTERN PetscErrorCode RanksSum(Vec x, PetscReal *sum);
PETSC_INTERN PetscErrorCode RanksWriteText(const Graph *, PetscInt n, const Vec x[], const char[]);
PETSC_INTERN PetscErrorCode RanksWriteBinary(const Graph *, PetscInt n, const Vec x[], const char[]);
PETSC_INTERN PetscErrorCode RanksWritePicture(Vec x, const char[]);

PETSC_INTERN PetscErrorCode PersonalizeRead(const Graph *, const char[], PetscInt *n, Vec **v);

#endif
