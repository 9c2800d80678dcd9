/* Loading: what PETSc calls after dlopen (-dll_append), and what a program that links the library calls itself. */
#include "ksp/impls/gpucg/gpucg.h"
#include "ksp/impls/lmvm/gpulmvm.h"
#include "mat/impls/gpucsr/gpucsrimpl.h"
#include "vec/gpuvecimpl.h"
#include <petsctao.h>

PETSC_INTERN PetscErrorCode TaoCreate_LSBMRM(Tao);

static PetscBool  Registered = PETSC_FALSE;
static const char Citation[] = "@misc{gpucsr,\n  title = {gpucsr: a sparse matrix and its transpose on the GPU, for an unmodified PETSc},\n  author = {{gpucsr developers}},\n  year = {2026}\n}\n";

static PetscErrorCode PetscGPUCSRFinalize(void)
{
  PetscFunctionBegin;
  PetscCall(VecGPUFinalize_Private());
  PetscCall(PetscGPUCSRFreeNCCL_Private());
  PetscCall(PetscGPUCSRCloseDevice_Private());
  Registered = PETSC_FALSE; /* a program may initialize PETSc again */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The layout of PETSc's structures, and the meaning of its integers and scalars, are compiled in. */
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
  PetscCheck(found && scalar == PETSC_DOUBLE, PETSC_COMM_SELF, PETSC_ERR_LIB, "libgpucsr was built for PETSc with real double scalars, which this PETSc has not; use a real double PETSc");
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &integer));
  PetscCheck(integer == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB, "libgpucsr was built for PETSc with %d-bit indices, this one has %d; build it again with PETSC_DIR set to this PETSc", 8 * (int)sizeof(PetscInt), 8 * (int)integer);
  PetscCall(PetscHasExternalPackage("cuda", &cuda));
  PetscCheck(cuda == (PetscBool)PetscDefined(HAVE_CUDA), PETSC_COMM_SELF, PETSC_ERR_LIB, "libgpucsr was built for PETSc %s CUDA, this one is %s; build it again with PETSC_DIR set to this PETSc", PetscDefined(HAVE_CUDA) ? "with" : "without",
             cuda ? "with" : "without");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PetscGPUCSRInitialize - Registers the matrix types `MATSEQAIJGPUCSR`, `MATMPIAIJGPUCSR` and their common names `MATGPUCSR` and `MATAIJGPUCSR`,
  and the vector types `VECSEQGPU`, `VECMPIGPU` and their common name `VECGPU`

  Collective on `PETSC_COMM_WORLD`

  Level: beginner

  Notes:
  Call it after `PetscInitialize()` in a program that links libgpucsr. `-dll_append /path/to/libgpucsr.so`, on the command line, in
  `PETSC_OPTIONS` or in `.petscrc`, does the same without a change to the program. Calling it again does nothing.

  The device is opened when the first matrix or vector is made.

.seealso: `MATGPUCSR`, `VECGPU`, `PetscGPUCSRGetDeviceName()`
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
  PetscCall(MatRegisterRootName(MATAIJGPUCSR, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR));
  PetscCall(MatRegisterRootName(MATGPUCSR, MATSEQAIJGPUCSR, MATMPIAIJGPUCSR));
  PetscCall(MatSeqAIJRegister(MATSEQAIJGPUCSR, MatConvert_SeqAIJ_SeqAIJGPUCSR));
  PetscCall(MatGPUCSRRegisterFactors_Private());
  PetscCall(KSPInitializePackage());
  PetscCall(KSPRegister(KSPGPUCG, KSPCreate_GPUCG));
  PetscCall(MatLMVMGPURegister_Private());
  PetscCall(TaoInitializePackage());
  PetscCall(TaoRegister(TAOLSBMRM, TaoCreate_LSBMRM));
  PetscCall(PetscLogEventRegister("GPUCSRUpload", MAT_CLASSID, &MAT_GPUCSR_Upload));
  PetscCall(PetscLogEventRegister("GPUCSRTranspose", MAT_CLASSID, &MAT_GPUCSR_Transpose));
  PetscCall(PetscLogEventRegister("GPUCSRHaloBegin", MAT_CLASSID, &MAT_GPUCSR_HaloBegin));
  PetscCall(PetscLogEventRegister("GPUCSRHaloEnd", MAT_CLASSID, &MAT_GPUCSR_HaloEnd));
  PetscCall(PetscLogEventRegister("GPUCSRUpdate", MAT_CLASSID, &MAT_GPUCSR_Update));
  PetscCall(PetscLogEventRegister("GPUCGLoop", KSP_CLASSID, &KSP_GPUCG_Loop));
  PetscCall(PetscLogEventRegister("GPUCSRMultMany", MAT_CLASSID, &MAT_GPUCSR_MultMany));
  /* ranks need not come to these together: a block's image is stale on some of them only */
  PetscCall(PetscLogEventSetCollective(MAT_GPUCSR_Upload, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_GPUCSR_Transpose, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_GPUCSR_Update, PETSC_FALSE));
  PetscCall(PetscCitationsRegister(Citation, NULL));
  PetscCall(PetscGPUCSRLogInitialize_Private());
  PetscCall(PetscGPUCSRSetUpDevice_Private());
  PetscCall(MatGPUCSRCheckOptions_Private());
  PetscCall(VecGPUInitialize_Private());
  PetscCall(PetscRegisterFinalize(PetscGPUCSRFinalize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the name that PETSc derives from the library's file name, libgpucsr.so */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_gpucsr(void)
{
  PetscFunctionBegin;
  PetscCall(PetscGPUCSRInitialize());
  PetscFunctionReturn(PETSC_SUCCESS);
}
