/* The matrix types: functions of the files in this directory that other files use. */
#ifndef GPUCSRTYPE_H
#define GPUCSRTYPE_H

#include "mat/impls/gpucsr/parallel/mpigpucsr.h"

/* gpucsr.c: creation of both types */
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJGPUCSR(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJGPUCSR(Mat);
PETSC_INTERN PetscErrorCode MatConvert_SeqAIJ_SeqAIJGPUCSR(Mat, MatType, MatReuse, Mat *);

/* gpucsrdetach.c: destruction, and the way back to the parent type */
PETSC_INTERN PetscInt       MatGPUCSRKeepPlain_Private; /* greater than 0: -mat_seqaij_type seqaijgpucsr leaves new matrices plain */
PETSC_INTERN PetscErrorCode MatGPUCSRDetach_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRFreeData_Private(Mat);
PETSC_INTERN PetscErrorCode MatDestroy_SeqAIJGPUCSR(Mat);

/* gpucsrderive.c: matrices that are derived from another one */
PETSC_INTERN PetscErrorCode MatGPUCSRSetDerived_Private(Mat);

/* gpucsroptions.c, gpucsrset.c: options from the database and from setters */
PETSC_INTERN const char *const MatGPUCSRKernels_Private[GP_KERNELS + 1]; /* "auto", then the names of the kernel table */
PETSC_INTERN PetscErrorCode    MatGPUCSRCheckOptions_Private(void);
PETSC_INTERN PetscErrorCode    MatGPUCSRReadOptions_Private(Mat);
PETSC_INTERN PetscErrorCode    MatGPUCSRApplyOptions_Private(const MatGPUCSROptions *, Mat);
PETSC_INTERN PetscErrorCode    MatGPUCSRSetEnum_Private(Mat, int option, PetscInt value);
PETSC_INTERN PetscErrorCode    MatGPUCSRSetBytes_Private(Mat, int option, PetscReal bytes);
PETSC_INTERN PetscErrorCode    MatGPUCSRSetCount_Private(Mat, int option, PetscInt count);
PETSC_INTERN PetscErrorCode    MatGPUCSRSetFlag_Private(Mat, int option, PetscBool flag);
PETSC_INTERN PetscErrorCode    MatGPUCSRSetPath_Private(Mat, int option, const char path[]); /* NULL: empty */
PETSC_INTERN PetscBool         MatGPUCSRIsLimit_Private(PetscReal bytes);
#define MAT_GPUCSR_COUNT_MOST   1024 /* maximum of an option of the kind COUNT */
#define MAT_GPUCSR_LIMIT_WANTED "give a number of bytes, 0 or at least 1, or -1 for the default"
PETSC_INTERN PetscErrorCode MatGPUCSRUseDeviceVectors_Private(Mat); /* lets MatCreateVecs() create vectors in device memory */
PETSC_INTERN PetscErrorCode MatSetFromOptions_GPUCSR(Mat, GpOptionItems);

/* gpucsrstream.c: a matrix that is streamed */
PETSC_INTERN void MatGPUCSRGetStreamInfo_Private(int n, GpOp const op[], MatGPUCSRStreamInfo *);

/* gpucsrload.c: MatLoad() and preallocation */
PETSC_INTERN PetscErrorCode MatLoad_GPUCSR(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatGPUCSRSetPreallocation_Private(Mat); /* mpi only */

/* gpucsrconvert.c, gpucsrfactor.c, gpucsrproduct.c, gpucsrview.c: MatConvert(), factorisations, MatProduct, views */
PETSC_INTERN PetscErrorCode MatConvert_GPUCSR(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatGPUCSRConvertToPlain_Private(Mat, MatType base, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatGPUCSRSetFactors_Private(Mat);
PETSC_INTERN PetscErrorCode MatGPUCSRRegisterFactors_Private(void);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_GPUCSR_AnyType(Mat);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_SeqAIJGPUCSR(Mat);
PETSC_INTERN PetscErrorCode MatProductSetFromOptions_MPIAIJGPUCSR(Mat);
PETSC_INTERN char          *MatGPUCSRExchangeTypeName_Private(Mat, char *name);
PETSC_INTERN PetscErrorCode MatView_GPUCSR(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatGPUCSRViewInfo_Private(Mat, PetscViewer);

/* streamed.c: the type gpucsrstream */
PETSC_INTERN PetscErrorCode MatCreate_GPUCSRStream(Mat);

#endif
