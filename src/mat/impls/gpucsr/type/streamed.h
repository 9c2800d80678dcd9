/* Data of the matrix type gpucsrstream, and functions of the files streamed*.c. Such a matrix has no AIJ arrays. Its rows come from a function of the user or from a file, and are
   encoded as chunks. On several processes it has two blocks and a halo exchange like MATMPIAIJGPUCSR. */
#ifndef STREAMED_H
#define STREAMED_H

#include "mat/impls/gpucsr/parallel/mpigpucsr.h"
#include "mat/impls/gpucsr/spmv/stream/gprowsource.h"

/* The rows of this process, with global columns. get() of the member `source` returns them, and checks columns and values. Only the thread that calls PETSc may call get(). */
typedef struct {
  Mat              A;
  MatGPUCSRRowsFn *fn; /* the user's function; NULL: the rows are in `file` */
  void            *ctx;
  GpRowFile        file;
  GpRowSource      all;    /* all rows of the file */
  PetscBool        narrow; /* a value that overflows single precision is an error */
  PetscBool        plain;  /* chunks are not encoded */
  PetscErrorCode   code;   /* error that fn() has returned */
  PetscInt        *length; /* [mrows] row lengths of a piece */
  int64_t         *rowptr; /* [mrows + 1] row pointers of the piece */
  PetscInt        *col;    /* [mentries] columns of the piece */
  PetscScalar     *val;    /* [mentries] values of the piece */
  size_t           mrows, mentries;
  uint64_t        *mark; /* one bit for each global column, 0 between rows; NULL: the columns of all rows were ascending */
  GpRowSource      source;
} MatGPUCSRRows;

/* Uses a piece of rows, whose row numbers are local and whose columns are global. After a failure returns an error, and writes the reason to `why`. */
typedef GpErr (*MatGPUCSRRowsUse)(void *context, const GpChunkSource *piece, char why[GP_CHUNK_WHY]);

/* The rows of one block: those columns of all rows that belong to the block, in the numbering of the block. */
typedef struct {
  MatGPUCSRRows  *rows;
  PetscInt        start, end; /* global columns of this process */
  PetscBool       off;        /* the off-diagonal block */
  PetscInt        n;          /* number of columns of the block */
  const PetscInt *columns;    /* [n] global columns of the off-diagonal block, ascending */
  int64_t        *rowptr;     /* [m + 1] row pointers of the block */
  int32_t        *col;        /* [capacity] columns of a piece */
  double         *val;        /* [capacity] values of the piece */
  int64_t         capacity, used;
  GpRowSource     source;
} MatGPUCSRBlockRows;

typedef struct {
  Mat_GPUCSR         common;
  MatGPUCSRRows      rows;
  MatGPUCSRBlockRows block[2]; /* used on several processes */
  PetscInt          *columns;  /* global columns of the off-diagonal block; NULL: not known yet */
  GpOp               op[2];
  MatGPUCSRHalo     *halo;
  PetscBool          current; /* the chunks are encoded */
  PetscBool          viewed;  /* -mat_view has been obeyed for these rows */
  PetscBool          viewing; /* the program views the matrix; then -mat_view is obeyed later, in the next product */
  char              *file[2]; /* names of the files of chunks of the blocks, NULL: none */
} Mat_GPUCSRStream;

/* streamedrows.c: the rows of this process */
PETSC_INTERN void           MatGPUCSRRowsInit_Private(Mat, MatGPUCSRRows *);
PETSC_INTERN void           MatGPUCSRRowsReset_Private(MatGPUCSRRows *);
PETSC_INTERN GpErr          MatGPUCSRRowsVisit_Private(MatGPUCSRRows *, int64_t first, int64_t end, MatGPUCSRRowsUse, void *context, char why[GP_CHUNK_WHY]); /* calls use() for pieces of these rows, in order */
PETSC_INTERN PetscErrorCode MatGPUCSRRowsVisitAll_Private(MatGPUCSRRows *, MatGPUCSRRowsUse, void *context);
PETSC_INTERN PetscErrorCode MatGPUCSRRowsRaise_Private(MatGPUCSRRows *, GpErr, const char why[]);

/* streamedblocks.c: the blocks of a matrix on several processes */
PETSC_INTERN PetscErrorCode MatGPUCSRBlocksSetUp_Private(Mat); /* not collective; reads all rows */
PETSC_INTERN PetscErrorCode MatGPUCSRBlocksReset_Private(Mat);

/* streamedsetup.c: operators and exchange */
PETSC_INTERN PetscErrorCode MatGPUCSRStreamGetOperators_Private(Mat, PetscBool transpose, GpOp op[2], MatGPUCSRHalo **);
PETSC_INTERN PetscErrorCode MatGPUCSRStreamBegin_Private(Mat); /* marks the matrix as assembled, once it has a source of rows */
PETSC_INTERN PetscErrorCode MatGPUCSRStreamReset_Private(Mat); /* forgets the rows */

/* streamedfile.c: files of chunks */
PETSC_INTERN PetscErrorCode MatGPUCSRStreamWriteFile_Private(Mat, int block, const GpRowSource *, const GpOpOptions *, GpOpFile *); /* encodes rows into the file of a block, and opens this file */
PETSC_INTERN PetscErrorCode MatGPUCSRStreamRemoveFiles_Private(Mat);

/* streamedvalues.c: what is computed from the rows on the host */
PETSC_INTERN PetscErrorCode MatGetDiagonal_GPUCSRStream(Mat, Vec);
PETSC_INTERN PetscErrorCode MatGetRowMaxAbs_GPUCSRStream(Mat, Vec, PetscInt[]);
PETSC_INTERN PetscErrorCode MatNorm_GPUCSRStream(Mat, NormType, PetscReal *);
PETSC_INTERN PetscErrorCode MatGetInfo_GPUCSRStream(Mat, MatInfoType, MatInfo *);

/* streamedconvert.c, streamedload.c */
PETSC_INTERN PetscErrorCode MatConvert_GPUCSRStream(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatLoad_GPUCSRStream(Mat, PetscViewer);

#endif
