/* cuSPARSE, opened at run time. The library has hundreds of megabytes and need not be installed. */
#include "mat/impls/gpucsr/spmv/vendor/gpvendor.h"

#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>
#include <dlfcn.h>
#include <cstdio>

/* All cuSPARSE functions that are called; names and types are those of cusparse.h. */
#define FUNCTIONS(F) F(Create) F(SetStream) F(CreateCsr) F(CreateCoo) F(CreateSlicedEll) F(DestroySpMat) F(CreateDnVec) F(DestroyDnVec) F(DnVecSetValues) F(SpMV_bufferSize) F(SpMV_preprocess) F(SpMV) F(GetErrorString)

namespace {
struct Library {
#define F(name) decltype(&cusparse##name) name;
  FUNCTIONS(F)
#undef F
  cusparseHandle_t handle;
  char             why[200];
};

const double one = 1, zero = 0;

/* Opens cuSPARSE: the copy that PETSc or the program has loaded, else the one that the loader finds, else the one in the toolkit's usual place. */
void *Open(char *why, size_t len)
{
  char name[96];

  snprintf(name, sizeof(name), "libcusparse.so.%d", CUSPARSE_VER_MAJOR);
  if (void *lib = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) return lib;
  snprintf(why, len, "cuSPARSE is not available: %s", dlerror());
  snprintf(name, sizeof(name), "/usr/local/cuda/lib64/libcusparse.so.%d", CUSPARSE_VER_MAJOR);
  return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

bool Load(Library *L)
{
  void *lib = Open(L->why, sizeof(L->why));

  if (!lib) return false;
#define F(name) \
  L->name = (decltype(L->name))dlsym(lib, "cusparse" #name); \
  if (!L->name) { \
    snprintf(L->why, sizeof(L->why), "the installed cuSPARSE is too old: it has no cusparse" #name); \
    return false; \
  }
  FUNCTIONS(F)
#undef F
  const cusparseStatus_t status = L->Create(&L->handle);
  if (status != CUSPARSE_STATUS_SUCCESS) snprintf(L->why, sizeof(L->why), "cuSPARSE cannot be initialised: %s", L->GetErrorString(status));
  return status == CUSPARSE_STATUS_SUCCESS;
}

/* The library and its handle live until the process ends. A process uses one GPU. */
Library *library;
bool     available;

bool Available(const char **why)
{
  static Library L;

  if (!library) {
    library   = &L;
    available = Load(&L);
  }
  *why = L.why;
  return available;
}

GpErr Check(GpDev dev, cusparseStatus_t status, const char *what)
{
  return status == CUSPARSE_STATUS_SUCCESS ? GP_SUCCESS : GpDevFail(dev, GP_ERR_DEVICE, "cuSPARSE failed while %s: %s", what, library->GetErrorString(status));
}

cusparseSpMVAlg_t Algorithm(GpVendorAlg alg)
{
  const cusparseSpMVAlg_t algs[] = {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2, CUSPARSE_SPMV_COO_ALG1, CUSPARSE_SPMV_COO_ALG2, CUSPARSE_SPMV_SELL_ALG1};

  return algs[alg];
}

cusparseStatus_t CreateMatrix(GpVendor *V, const GpCsr *C)
{
  cusparseSpMatDescr_t     *A    = (cusparseSpMatDescr_t *)&V->matrix;
  const cudaDataType        type = C->prec == GP_F32 ? CUDA_R_32F : CUDA_R_64F;
  const cusparseIndexType_t i32  = CUSPARSE_INDEX_32I;
  const cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;

  if (V->alg == GP_VENDOR_SELL) return library->CreateSlicedEll(A, C->m, C->n, C->nnz, V->slots, GP_VENDOR_SLICE, V->slice, V->col, V->val, i32, i32, base, type);
  if (V->row) return library->CreateCoo(A, C->m, C->n, C->nnz, V->row, C->col, C->val, i32, base, type);
  return library->CreateCsr(A, C->m, C->n, C->nnz, C->rowptr, C->col, C->val, i32, i32, base, type);
}

/* Creates descriptors and the buffer, and runs the analysis. x and y need the right sizes; their contents do not matter. */
GpErr Prepare(GpVendor *V, const GpCsr *C, double *x, double *y)
{
  const cusparseOperation_t op   = CUSPARSE_OPERATION_NON_TRANSPOSE;
  cusparseSpMatDescr_t      A    = NULL;
  size_t                    size = 0;
  GpErr                     err  = Check(C->dev, CreateMatrix(V, C), "describing the matrix");

  A = (cusparseSpMatDescr_t)V->matrix;
  if (!err) err = Check(C->dev, library->CreateDnVec((cusparseDnVecDescr_t *)&V->x, C->n, x, CUDA_R_64F), "describing x");
  if (!err) err = Check(C->dev, library->CreateDnVec((cusparseDnVecDescr_t *)&V->y, C->m, y, CUDA_R_64F), "describing y");
  if (!err) err = Check(C->dev, library->SpMV_bufferSize(library->handle, op, &one, A, (cusparseDnVecDescr_t)V->x, &zero, (cusparseDnVecDescr_t)V->y, CUDA_R_64F, Algorithm(V->alg), &size), "sizing the buffer");
  V->buffersize = size > 0 ? size : 16;
  if (!err) err = GpDevAlloc(C->dev, V->buffersize, &V->buffer);
  if (!err) err = Check(C->dev, library->SpMV_preprocess(library->handle, op, &one, A, (cusparseDnVecDescr_t)V->x, &zero, (cusparseDnVecDescr_t)V->y, CUDA_R_64F, Algorithm(V->alg), V->buffer), "analysing the matrix");
  return err;
}
} // namespace

extern "C" GpErr GpVendorDescribe(GpVendor *V, const GpCsr *C)
{
  const size_t nx = (size_t)C->n * sizeof(double), ny = (size_t)C->m * sizeof(double);
  const char  *why;
  double      *x = NULL, *y = NULL;
  GpErr        err;

  if (!Available(&why)) return GpDevFail(C->dev, GP_ERR_ARGUMENT, "%s", why);
  if (!C->m || !C->n || !C->nnz) return GpDevFail(C->dev, GP_ERR_ARGUMENT, "cuSPARSE does not accept an empty matrix (%d x %d, %d nonzeros)", (int)C->m, (int)C->n, (int)C->nnz);
  err = Check(C->dev, library->SetStream(library->handle, (cudaStream_t)GpDevStream(C->dev)), "setting the stream");
  if (!err) err = GpDevAlloc(C->dev, nx, &x);
  if (!err) err = GpDevAlloc(C->dev, ny, &y);
  if (!err) err = Prepare(V, C, x, y);
  GpDevFree(C->dev, &x, nx);
  GpDevFree(C->dev, &y, ny);
  return err;
}

extern "C" void GpVendorForget(GpVendor *V, const GpCsr *C)
{
  if (V->matrix) library->DestroySpMat((cusparseSpMatDescr_t)V->matrix);
  if (V->x) library->DestroyDnVec((cusparseDnVecDescr_t)V->x);
  if (V->y) library->DestroyDnVec((cusparseDnVecDescr_t)V->y);
  GpDevFree(C->dev, &V->buffer, V->buffersize);
}

/* y = A x + z. cuSPARSE adds y by beta = 1, so z is first copied to y. */
extern "C" GpErr GpVendorMult(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpVendor *V   = (const GpVendor *)A->data;
  GpDev           dev = A->csr->dev;
  GpErr           err = Check(dev, library->SetStream(library->handle, (cudaStream_t)GpDevStream(dev)), "setting the stream");

  if (!err && z && z != y) err = GpDevCopyWithin(dev, y, z, (size_t)A->csr->m * sizeof(double));
  if (!err) err = Check(dev, library->DnVecSetValues((cusparseDnVecDescr_t)V->x, (void *)x), "setting x");
  if (!err) err = Check(dev, library->DnVecSetValues((cusparseDnVecDescr_t)V->y, y), "setting y");
  if (!err)
    err = Check(dev, library->SpMV(library->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, (cusparseSpMatDescr_t)V->matrix, (cusparseDnVecDescr_t)V->x, z ? &one : &zero, (cusparseDnVecDescr_t)V->y, CUDA_R_64F, Algorithm(V->alg), V->buffer),
                "multiplying");
  return err;
}
