/* Data of the matrix type mpiaijgpucsr, and functions of its halo exchange, products and assembly. */
#ifndef MPIGPUCSR_H
#define MPIGPUCSR_H

#include <petscsf.h>
#include "mat/impls/gpucsr/product/gpucsrproduct.h"
#include "sys/gpucsrexchange.h"

/* One side of a halo exchange: the boundary entries or the ghost entries of this rank.
   The entries are stored by ascending rank of the peer, so that each message is contiguous.  A boundary entry that several ranks
   need is stored once for each of them. */
typedef struct {
  PetscInt n;      /* number of entries */
  GpPeers  peers;  /* ranks with which entries are exchanged, and the offset of the first entry of each */
  double  *host;   /* entries in pinned memory, one value per vector and entry; NULL unless the halo type is host */
  double  *device; /* entries in device memory, one value per vector and entry */
} MatGPUCSRHaloSide;

/* Points in the timeline of a parallel product.  Each is an event on the first or on the second stream of the device. */
typedef enum {
  MAT_GPUCSR_MARK_BEGIN,   /* first stream: start of the product */
  MAT_GPUCSR_MARK_PACKED,  /* first stream: the entries to be sent are packed */
  MAT_GPUCSR_MARK_OUT,     /* second stream, halo type host only: the packed entries are in pinned memory */
  MAT_GPUCSR_MARK_LOCAL,   /* first stream: the product with the diagonal block is complete */
  MAT_GPUCSR_MARK_ARRIVED, /* second stream: the received entries are in device memory */
  MAT_GPUCSR_MARK_END,     /* first stream: the whole product is complete */
  MAT_GPUCSR_MARKS
} MatGPUCSRMark;

/* How far the exchange of a product is. */
typedef enum {
  MAT_GPUCSR_EXCHANGE_NONE,   /* no message was sent */
  MAT_GPUCSR_EXCHANGE_POSTED, /* messages are being sent and received by MPI */
  MAT_GPUCSR_EXCHANGE_DONE    /* all messages were received, or passed to NCCL */
} MatGPUCSRExchange;

/* Halo exchange of a parallel product, for one pattern; or the exchange of entries by MatSetValuesCOO(). */
typedef struct _n_MatGPUCSRHalo {
  PetscObjectState   nonzerostate; /* nonzero state of the parallel matrix for which the exchange was created */
  PetscObjectId      offdiagonal;  /* object id of the off-diagonal block for which the exchange was created */
  MatGPUCSRHaloType  wanted, type; /* halo type that the option requests; halo type in use, never auto */
  char               why[512];     /* reason for the halo type in use */
  GpDev              dev;
  MPI_Comm           comm;
  PetscMPIInt        tag;
  GpNccl             nccl;
  MatGPUCSRHaloSide  side[2];              /* [0] boundary entries, [1] ghost entries */
  int32_t           *index, *device_index; /* [side[0].n] local indices in x of the boundary entries, in host memory and in device memory */
  MPI_Request       *request;              /* requests of the receives, then of the sends */
  PetscInt           capacity;             /* values per entry for which the buffers are allocated: the largest number of vectors exchanged together */
  MatGPUCSRHaloSide *from, *to;            /* exchange in progress: sides that are sent from and received into */
  PetscInt           many;                 /* exchange in progress: values per entry */
  PetscBool          onhost;               /* exchange in progress: the entries were packed on the host */
  MatGPUCSRExchange  progress;             /* exchange of the product in progress, which sets it to MAT_GPUCSR_EXCHANGE_NONE first */
  GpDevEvent         mark[MAT_GPUCSR_MARKS];
  PetscBool          timed; /* record all marks, not only those that order the streams */
} MatGPUCSRHalo;

/* The first invalid row of a file, or of arrays given for preallocation. */
typedef struct {
  PetscBool found, falls; /* whether there is an invalid row; whether its row pointers descend (otherwise a column index is out of range) */
  PetscInt  row, column;  /* global row; column index if that is out of range */
} MatGPUCSRDamage;

typedef struct {
  Mat_GPUCSR common;
  PetscErrorCode (*preallocate)(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[]);     /* function of the parent type */
  PetscErrorCode (*preallocatecsr)(Mat, const PetscInt[], const PetscInt[], const PetscScalar[]); /* function of the parent type */
  PetscErrorCode (*attachblock)(Mat);                                                             /* turns a MATSEQAIJ into a MATSEQAIJGPUCSR */
  MatGPUCSRDamage *loading;                                                                       /* while MatLoad() runs: receives the first invalid row of the file; otherwise NULL */
  MatGPUCSRHalo   *halo;                                                                          /* exchange of products */
  MatGPUCSRHalo   *coohalo;                                                                       /* exchange of the entries of MatSetValuesCOO() in rows of other ranks; NULL if no rank has any */
} Mat_MPIAIJGPUCSR;

/* mpigpucsrblocks.c: the two local blocks, of type seqaijgpucsr, and their device images */
PETSC_INTERN PetscErrorCode MatMPIAIJGPUCSRGetBlocks_Private(Mat, Mat block[2], const PetscInt *columns[]);
PETSC_INTERN PetscErrorCode MatMPIAIJGPUCSRGetOperators_Private(Mat, Mat const block[2], PetscBool transpose, GpOp op[2]); /* collective */

/* mpigpucsrhalo.c: creates the halo exchange */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloGet_Private(Mat, Mat offdiagonal, const PetscInt columns[], PetscBool *created, MatGPUCSRHalo **); /* collective */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloCreateFromColumns_Private(Mat, PetscInt nghosts, const PetscInt columns[], MatGPUCSRHalo **);      /* collective: of the entries of x in these global columns, which ascend */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloCreateFromPeers_Private(Mat, GpPeers peers[2], int32_t **index, MatGPUCSRHalo **);                 /* collective: of entries that are no vector's; takes over the arrays */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloReserve_Private(MatGPUCSRHalo *, PetscInt many, PetscBool onhost);                                 /* waits until the buffers may be overwritten; onhost: also those on the host */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloDestroy_Private(MatGPUCSRHalo **);

/* mpigpucsrexchange.c: communication of a halo exchange.

   HaloBegin() packs the boundary entries of `many` vectors: all values of the first entry, then all values of the next one.  x has the arrays of
   the vectors, dx their device addresses.  For x = NULL it sends the ghost entries that are in device memory.  The caller then launches the product
   with the diagonal block.  HaloEnd() communicates while that product runs.  Work that is launched on the first stream after HaloEnd() sees the
   received entries.  If this rank fails before HaloEnd() returns, HaloAbandon() completes the exchange, so that no other rank waits for this one. */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloAbandon_Private(MatGPUCSRHalo *, PetscInt many, PetscBool transpose);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloBegin_Private(MatGPUCSRHalo *, PetscInt many, const MatGPUCSRVec x[], double *const dx[]);
PETSC_INTERN PetscErrorCode MatGPUCSRHaloEnd_Private(MatGPUCSRHalo *);
PETSC_INTERN PetscErrorCode MatGPUCSRReduceError_Private(Mat, PetscErrorCode mine, PetscErrorCode *worst, PetscMPIInt *where); /* collective */
PETSC_INTERN PetscErrorCode MatGPUCSRAgree_Private(Mat, PetscErrorCode mine, const char what[]);                               /* collective: raises an error on all ranks if one rank passes an error */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloMark_Private(MatGPUCSRHalo *, MatGPUCSRMark);

/* mpigpucsrview.c: views of the exchange */
PETSC_INTERN PetscErrorCode MatMPIAIJGPUCSRGetHalo_Private(Mat, Mat block[2], MatGPUCSRHalo **); /* gets the blocks and the exchange; processes -mat_gpucsr_halo_view if it is new */
PETSC_INTERN PetscErrorCode MatGPUCSRHaloViewLine_Private(const MatGPUCSRHalo *, PetscViewer);

/* mpigpucsrmult.c, mpigpucsrcoo.c, mpigpucsrupdate.c */
PETSC_INTERN PetscErrorCode MatMPIAIJGPUCSRGetOperatorsAndHalo_Private(Mat, PetscBool transpose, GpOp op[2], MatGPUCSRHalo **);
PETSC_INTERN PetscErrorCode MatMPIGPUCSRMult_Private(Mat, PetscBool transpose, Vec x, Vec z, Vec y);
PETSC_INTERN PetscErrorCode MatMPIGPUCSRMultBatch_Private(Mat, PetscBool transpose, PetscInt k, const MatGPUCSRVec x[], double *const dx[], double *const dy[]);
PETSC_INTERN PetscErrorCode MatSetValuesCOO_MPIAIJGPUCSR_Device(Mat, const PetscScalar entries[]);
PETSC_INTERN PetscErrorCode MatShift_MPIAIJGPUCSR(Mat, PetscScalar);
PETSC_INTERN PetscErrorCode MatSOR_MPIAIJGPUCSR(Mat, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec);
PETSC_INTERN PetscErrorCode MatDiagonalScale_MPIAIJGPUCSR(Mat, Vec left, Vec right);
PETSC_INTERN PetscErrorCode MatBindToCPU_MPIAIJGPUCSR(Mat, PetscBool);

#endif
