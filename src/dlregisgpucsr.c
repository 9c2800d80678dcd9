/* Initialisation of the library: the entry point that PETSc calls after loading it (-dll_append), and PetscGPUCSRInitialize(), which a program that
   links the library calls. */
/* MANSEC = Sys */
#include "ksp/impls/gpukrylov/gpukrylov.h"
#include "ksp/impls/lmvm/gpulmvm.h"
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"
#include "mat/impls/gpucsr/type/gpucsrtype.h"
#include "pc/gpupc.h"
#include "vec/gpuvecimpl.h"
#include <petsctao.h>

PETSC_INTERN PetscErrorCode TaoCreate_LSBMRM(Tao);

static PetscBool  Registered = PETSC_FALSE;
static const char Citation[] = "@misc{gpucsr,\n  title = {gpucsr: a sparse matrix and its transpose on the GPU, for an unmodified PETSc},\n  author = {{gpucsr developers}},\n  year = {2026}\n}\n";

static PetscErrorCode PetscGPUCSRFinalize(void)
{
  PetscFunctionBegin;
  PetscCall(VecGPUFinalize_Private());
  PetscCall(PetscGPUCSRSetWisdom(NULL));
  PetscCall(PetscGPUCSRFreeNCCL_Private());
  PetscCall(PetscGPUCSRCloseDevice_Private());
  Registered = PETSC_FALSE; /* a program may call PetscInitialize() again */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that this PETSc has the version, scalar type, index size and CUDA support for which the library was compiled.  The layout of PETSc's
   private structures depends on them. */
static PetscErrorCode PetscGPUCSRCheckPETSc(void)
{
  PetscInt      major, minor, subminor;
  PetscDataType scalar;
  size_t        integer = 0;
  PetscBool     found, cuda;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, NULL));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libgpucsr was built for PETSc %d.%d and does not run with PETSc %" PetscInt_FMT ".%" PetscInt_FMT ".%" PetscInt_FMT "; build it again with PETSC_DIR set to this PETSc", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor, subminor);
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
  PetscCheck(found && scalar == PETSC_DOUBLE, PETSC_COMM_SELF, PETSC_ERR_LIB, "libgpucsr was built for PETSc with real scalars in double precision, but this PETSc has other scalars; use a PETSc with real scalars in double precision");
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &integer));
  PetscCheck(integer == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB, "libgpucsr was built for PETSc with %d-bit indices, but this PETSc has %d-bit indices; build it again with PETSC_DIR set to this PETSc", 8 * (int)sizeof(PetscInt),
             8 * (int)integer);
  PetscCall(PetscHasExternalPackage("cuda", &cuda));
  PetscCheck(cuda == (PetscBool)PetscDefined(HAVE_CUDA), PETSC_COMM_SELF, PETSC_ERR_LIB, "libgpucsr was built for PETSc %s CUDA, but this PETSc was configured %s it; build it again with PETSC_DIR set to this PETSc",
             PetscDefined(HAVE_CUDA) ? "with" : "without", cuda ? "with" : "without");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PetscGPUCSRInitialize - Initializes gpucsr: registers its types, log events and options

  Collective on `PETSC_COMM_WORLD`

  Level: beginner

  Notes:
  A program that links libgpucsr calls this function after `PetscInitialize()`. In other programs the option `-dll_append /path/to/libgpucsr.so`, on the
  command line, in `PETSC_OPTIONS` or in `.petscrc`, has the same effect. Further calls do nothing.

  The registered matrix types are `MATSEQAIJGPUCSR` and `MATMPIAIJGPUCSR`, with the common names `MATGPUCSR` and `MATAIJGPUCSR`, and `MATGPUCSRSTREAM`. The vector types
  are `VECSEQGPU` and `VECMPIGPU`, with the common name `VECGPU`. The solver types are `KSPGPU`, `KSPGPUCG`, `KSPGPUBCGS`, `KSPGPUGMRES` and `TAOLSBMRM`.

  The device is opened when the first matrix or vector of these types is created.

.seealso: `MATGPUCSR`, `VECGPU`, `KSPGPUCG`, `PetscGPUCSRGetDeviceName()`
@*/
PetscErrorCode PetscGPUCSRInitialize(void)
{
  PetscFunctionBegin;
  if (Registered) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGPUCSRCheckPETSc());
  Registered = PETSC_TRUE;
  PetscCall(MatInitializePackage());
  PetscCall(VecRegister(VECGPU, VecCreate_GPU));
  PetscCall(VecRegister(VECSEQGPU, VecCreate_SeqGPU));
  PetscCall(VecRegister(VECMPIGPU, VecCreate_MPIGPU));
  PetscCall(MatRegister(MATSEQAIJGPUCSR, MatCreate_SeqAIJGPUCSR));
  PetscCall(MatRegister(MATMPIAIJGPUCSR, MatCreate_MPIAIJGPUCSR));
  PetscCall(MatRegister(MATGPUCSRSTREAM, MatCreate_GPUCSRStream));
  PetscCall(MatRegisterRootName(MATAIJGPUCSR, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR));
  PetscCall(MatRegisterRootName(MATGPUCSR, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR));
  PetscCall(MatSeqAIJRegister(MATSEQAIJGPUCSR, MatConvert_SeqAIJ_SeqAIJGPUCSR));
  PetscCall(MatGPUCSRRegisterFactors_Private());
  PetscCall(MatGPUCSRRegisterSolver_Private());
  PetscCall(MatGPUCSRRegisterOrdering_Private());
  PetscCall(KSPInitializePackage());
  PetscCall(KSPRegister(KSPGPU, KSPCreate_GPU));
  PetscCall(KSPRegister(KSPGPUCG, KSPCreate_GPUCG));
  PetscCall(KSPRegister(KSPGPUBCGS, KSPCreate_GPUBCGS));
  PetscCall(KSPRegister(KSPGPUGMRES, KSPCreate_GPUGMRES));
  PetscCall(MatLMVMGPURegister_Private());
  PetscCall(PCGPURegister_Private());
  PetscCall(TaoInitializePackage());
  PetscCall(TaoRegister(TAOLSBMRM, TaoCreate_LSBMRM));
  PetscCall(PetscLogEventRegister("GPUCSRUpload", MAT_CLASSID, &MAT_GPUCSR_Upload));
  PetscCall(PetscLogEventRegister("GPUCSRTranspose", MAT_CLASSID, &MAT_GPUCSR_Transpose));
  PetscCall(PetscLogEventRegister("GPUCSRHaloBegin", MAT_CLASSID, &MAT_GPUCSR_HaloBegin));
  PetscCall(PetscLogEventRegister("GPUCSRHaloEnd", MAT_CLASSID, &MAT_GPUCSR_HaloEnd));
  PetscCall(PetscLogEventRegister("GPUCSRUpdate", MAT_CLASSID, &MAT_GPUCSR_Update));
  PetscCall(PetscLogEventRegister("GPUKSPLoop", KSP_CLASSID, &KSP_GPU_Loop));
  PetscCall(PetscLogEventRegister("GPUCSRMultMany", MAT_CLASSID, &MAT_GPUCSR_MultMany));
  PetscCall(PetscLogEventRegister("GPUCSRFactor", MAT_CLASSID, &MAT_GPUCSR_Factor));
  PetscCall(PetscLogEventRegister("GPUCSRNumeric", MAT_CLASSID, &MAT_GPUCSR_Numeric));
  PetscCall(PetscLogEventRegister("GPUCSRSparse", MAT_CLASSID, &MAT_GPUCSR_Sparse));
  PetscCall(PetscLogEventRegister("GPUCSREncode", MAT_CLASSID, &GpOp_Encode));
  PetscCall(PetscLogEventRegister("GPUCSRPin", MAT_CLASSID, &GpOp_Pin));
  PetscCall(PetscLogEventRegister("GPUCSRFill", MAT_CLASSID, &GpOp_Fill));
  PetscCall(PetscLogEventRegister("GPUCSRTransfer", MAT_CLASSID, &GpOp_Transfer));
  PetscCall(PetscLogEventRegister("GPUCSRDecodeMult", MAT_CLASSID, &GpOp_Multiply));
  /* these events are not collective: the image of a block can be stale on some ranks only */
  PetscCall(PetscLogEventSetCollective(MAT_GPUCSR_Upload, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_GPUCSR_Transpose, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_GPUCSR_Update, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_GPUCSR_Factor, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_GPUCSR_Numeric, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_GPUCSR_Sparse, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(GpOp_Encode, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(GpOp_Pin, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(GpOp_Fill, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(GpOp_Transfer, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(GpOp_Multiply, PETSC_FALSE));
  PetscCall(PetscCitationsRegister(Citation, NULL));
  PetscCall(PetscGPUCSRLogInitialize_Private());
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(MatGPUCSRCheckOptions_Private());
  PetscCall(VecGPUInitialize_Private());
  PetscCall(PetscRegisterFinalize(PetscGPUCSRFinalize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc derives the name of this function from the file name libgpucsr.so. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_gpucsr(void)
{
  PetscFunctionBegin;
  PetscCall(PetscGPUCSRInitialize());
  PetscFunctionReturn(PETSC_SUCCESS);
}
