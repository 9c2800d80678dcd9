/* The rows of a parallel matrix as one sequential matrix in device memory: the operands of products of sparse parallel matrices. */
#ifndef MPIGPUCSRROWS_H
#define MPIGPUCSRROWS_H

#include "mat/impls/gpucsr/parallel/mpigpucsr.h"
#include "mat/impls/gpucsr/spgemm/gpspgemm.h"

#define MAT_GPUCSR_ROWS_WHAT "computing a product of sparse parallel matrices on the device (-mat_product_algorithm_backend_cpu or, for MatMatMult() and similar functions, -matmatmult_backend_cpu and similar options compute it on the host)"

/* Compressed rows in host memory. */
typedef struct {
  PetscInt  m;
  PetscInt *rowptr;   /* [m+1] */
  PetscInt *column;   /* [rowptr[m]] global columns, ascending in each row */
  int32_t  *position; /* [rowptr[m]] position of the value among those of the diagonal block, followed by those of the off-diagonal block, followed by received values */
} MatGPUCSRList;

/* The rows of this rank, followed by rows of other ranks, which are received. */
typedef struct {
  GpDev            dev;
  PetscObjectId    id; /* of the matrix */
  PetscObjectState nonzerostate;
  MatGPUCSRList    list;
  PetscInt         nnz[2];   /* number of nonzeros of the diagonal and of the off-diagonal block */
  PetscInt         received; /* number of nonzeros of the rows of other ranks */
  double          *source;   /* [nnz[0] + nnz[1] + received] device memory: values of the blocks, and received values */
  int32_t         *index;    /* device memory: list.position */
  PetscInt         n;        /* number of columns of csr */
  PetscInt        *column;   /* [n] global column of each column of csr. They ascend unless the columns are those of the blocks */
  GpCsr            csr;
  MatGPUCSRHalo   *halo; /* exchange of the values of the rows of other ranks; NULL: there are none on any rank */
} MatGPUCSRRows;

/* mpigpucsrrows.c. Arguments of MatGPUCSRRowsCreate_Private():
     blocks  PETSC_TRUE: the columns of csr are those of the diagonal block, then those of the off-diagonal block. PETSC_FALSE: they are the global columns that occur, renumbered.
     needed  global numbers of the rows of other ranks that are received, only with blocks PETSC_FALSE. nneeded -1: no rank receives any. */
PETSC_INTERN PetscErrorCode MatGPUCSRRowsCreate_Private(Mat, PetscBool blocks, PetscInt nneeded, const PetscInt needed[], MatGPUCSRRows *); /* collective */
PETSC_INTERN PetscErrorCode MatGPUCSRRowsRefresh_Private(Mat, MatGPUCSRRows *);                                                             /* gets the current values; collective */
PETSC_INTERN PetscErrorCode MatGPUCSRRowsDestroy_Private(MatGPUCSRRows *);
PETSC_INTERN PetscBool      MatGPUCSRRowsHavePattern_Private(Mat, const MatGPUCSRRows *);

/* mpigpucsrlists.c: exchanges of indices in host memory */
PETSC_INTERN PetscErrorCode MatGPUCSRPeersCreate_Private(MPI_Comm, const PetscInt64 count[], GpPeers *);                                                            /* ranks with nonzero counts */
PETSC_INTERN PetscErrorCode MatGPUCSRPeersExchange_Private(Mat, const GpPeers *to, const PetscInt from[], const GpPeers *by, PetscInt into[]);                      /* collective */
PETSC_INTERN PetscErrorCode MatGPUCSRPeersReceive_Private(Mat, const GpPeers *to, const PetscInt64 count[], const PetscInt from[], GpPeers *by, PetscInt *into[]);  /* collective: also finds out who sends */
PETSC_INTERN PetscErrorCode MatGPUCSRColumnsCreate_Private(PetscInt start, PetscInt end, PetscInt nother, const PetscInt other[], PetscInt *n, PetscInt *column[]); /* the columns start to end - 1 and others, which are sorted */
PETSC_INTERN PetscErrorCode MatGPUCSRColumnsRenumber_Private(PetscInt start, PetscInt end, PetscInt n, const PetscInt column[], PetscInt many, PetscInt columns[]); /* replaces global columns by their positions in column[] */
PETSC_INTERN PetscErrorCode MatGPUCSRListRows_Private(Mat, Mat block[2], const PetscInt ghost[], MatGPUCSRList *, PetscInt blockcolumn[]);

/* Data of a product. C = A B needs only the first step, C = A' B only the others, and C = P' A P all of them:

     X = left right                (or X = right)
     Y = transpose of factor, X    (rows of this rank and of others)
     C = selection stacked         (stacked: the rows of Y that belong to this rank, and those received; selection adds them, first its own, then those of other ranks in ascending order) */
typedef struct {
  void          *self; /* address of this structure. Depending on its version, PETSc passes the destructor this address or the address of a pointer with this value; dereferencing gives the structure in both cases */
  GpDev          dev;
  MatGPUCSRRows  left, right, factor;
  GpCsr          transpose, x, y, stacked, selection, result; /* result: the last product; empty if that is x */
  int32_t       *perm;                                        /* [factor.csr.nnz] device memory: permutation from the values of factor.csr to those of transpose */
  GpSpgemm       plan[3];
  MatGPUCSRHalo *halo;   /* exchange of the rows of Y of other ranks */
  PetscInt       own;    /* number of nonzeros of the rows of Y of this rank */
  PetscInt       nnz[2]; /* number of nonzeros of the blocks of C */
  int32_t       *split;  /* [nnz[0] + nnz[1]] positions in the result of the values of both blocks */
  double        *values; /* [nnz[0] + nnz[1]] device memory: values of both blocks */
} MatGPUCSRParallel;

/* mpigpucsrsum.c: the last two steps */
PETSC_INTERN PetscErrorCode MatGPUCSRSumSymbolic_Private(Mat L, const GpCsr *x, PetscInt n, const PetscInt column[], PetscInt start, PetscInt end, MatGPUCSRParallel *, PetscInt *nc, PetscInt *ccolumn[]); /* collective */
PETSC_INTERN PetscErrorCode MatGPUCSRSumNumeric_Private(Mat L, const GpCsr *x, MatGPUCSRParallel *);                                                                                                        /* collective */
PETSC_INTERN PetscErrorCode MatGPUCSRDownloadPattern_Private(const GpCsr *, const PetscInt column[], PetscInt **rowptr, PetscInt **col); /* with global columns; the caller frees both arrays by PetscFree2() */

/* mpigpucsrsparse.c */
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_MPIAIJGPUCSR_Sparse(Mat, PetscBool *found);

#endif
