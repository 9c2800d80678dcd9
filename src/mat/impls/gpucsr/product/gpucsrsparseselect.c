/* Which products of sparse matrices the device computes: options that select the host, and operands that the device can take. */
#include "mat/impls/gpucsr/product/gpucsrproduct.h"

/* The first part of the options of MatMatMult() and similar functions; NULL: the device does not compute this product. */
const char *MatGPUCSRSparseGetName_Private(MatProductType type)
{
  switch (type) {
  case MATPRODUCT_AB:
    return "-matmatmult";
  case MATPRODUCT_AtB:
    return "-mattransposematmult";
  case MATPRODUCT_ABt:
    return "-matmattransmult";
  case MATPRODUCT_PtAP:
    return "-matptap";
  case MATPRODUCT_RARt:
    return "-matrart";
  case MATPRODUCT_ABC:
    return "-matmatmatmult";
  default:
    return NULL;
  }
}

/* Tells whether the user has selected an algorithm of PETSc or the host. The options that select the host are those of PETSc's own types for GPUs. */
PetscErrorCode MatGPUCSRSparseUsesHost_Private(Mat C, PetscBool *host)
{
  const Mat_Product *product = C->product;
  const char        *name = MatGPUCSRSparseGetName_Private(product->type), *prefix = ((PetscObject)C)->prefix;
  PetscOptions       options = ((PetscObject)C)->options;
  char               via[64], backend[64];
  PetscBool          chosen, usual;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(via, sizeof(via), product->api_user ? "%s_via" : "-mat_product_algorithm", name));
  PetscCall(PetscSNPrintf(backend, sizeof(backend), "%s_backend_cpu", product->api_user ? name : "-mat_product_algorithm"));
  PetscCall(PetscStrcmp(product->alg, MATPRODUCTALGORITHMDEFAULT, &usual));
  PetscCall(PetscOptionsHasName(options, prefix, via, &chosen));
  *host = (PetscBool)(chosen || !usual);
  PetscOptionsBegin(PetscObjectComm((PetscObject)C), prefix, "Sparse product of gpucsr matrices", "Mat");
  PetscCall(PetscOptionsBool(backend, "Compute the product on the host", "MatProductSetFromOptions", *host, host, NULL));
  PetscOptionsEnd();
  *host = (PetscBool)(*host || chosen || !usual);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether the device can take an operand: a sequential gpucsr matrix whose indices fit 32 bits and that is not streamed. */
PetscErrorCode MatGPUCSRSparseTakes_Private(Mat A, PetscBool *takes)
{
  const Mat_SeqAIJGPUCSR *s = (const Mat_SeqAIJGPUCSR *)A->spptr;
  const PetscInt         *rowptr;

  PetscFunctionBegin;
  *takes = PETSC_FALSE;
  if (!MatGPUCSRIs_Private(A) || s->common.mpi || !A->assembled || A->factortype) PetscFunctionReturn(PETSC_SUCCESS);
#if PetscDefined(HAVE_DEVICE)
  if (A->boundtocpu) PetscFunctionReturn(PETSC_SUCCESS);
#endif
  if (s->common.options.stream == MAT_GPUCSR_STREAM_ALWAYS || (s->op && GpOpIsStreamed(s->op))) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &rowptr, NULL, NULL, NULL));
  *takes = (PetscBool)((PetscInt64)A->rmap->n <= GP_OP_MOST && (PetscInt64)A->cmap->n <= GP_OP_MOST && (!rowptr || (PetscInt64)rowptr[A->rmap->n] <= GP_OP_MOST));
  PetscFunctionReturn(PETSC_SUCCESS);
}
