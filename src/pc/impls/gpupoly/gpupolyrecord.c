/* The application of gpupoly in the graph of a Krylov method (gpurecord.h): products on the device, and one kernel for the vector operations of a step. */
#include "pc/impls/gpupoly/gpupoly.h"
#include "vec/kernels/gppoly.h"

#define PetscCallPoly(poly, ...) PetscCallGp((poly)->dev, "applying PC type gpupoly", __VA_ARGS__)

PetscErrorCode PCGPUPolyFreeRecorded_Private(PC_GPUPoly *poly)
{
  PetscFunctionBegin;
  if (poly->memory) PetscCall(PetscGPUCSRDeviceFree(poly->dev, 3 * (size_t)poly->entries * sizeof(double), &poly->memory));
  PetscCall(GpOpDestroy(&poly->narrow));
  poly->key     = (MatGPUCSRKey){0};
  poly->product = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes z, as PCApply() does. The memory holds the scaled diagonal and two vectors. */
static PetscErrorCode PCGPUPolyApplyRecorded(void *ctx, const double r[], double z[])
{
  PC_GPUPoly          *poly    = (PC_GPUPoly *)ctx;
  const GpPolyKernels *kernels = GpPolyKernelsOf(poly->dev);
  const int32_t        n       = (int32_t)poly->entries;
  const PetscInt       degree  = poly->degree;
  const double        *d       = poly->inverse ? poly->memory : NULL;
  double              *work[2] = {poly->memory + n, poly->memory + 2 * (size_t)n};
  double              *v = degree % 2 ? work[0] : z, *before = degree % 2 ? z : work[0], *w = before;

  PetscFunctionBegin;
  PetscCallPoly(poly, kernels->scale(poly->dev, n, d ? 1 : degree ? -poly->alpha[0] : poly->alpha[0], d, r, v));
  for (PetscInt k = 1; k <= degree; k++) {
    const double sign = k < degree ? 1 : -1, a = sign * (d ? poly->alpha[k] / poly->alpha[0] : -poly->alpha[k]);

    PetscCall(GpOpMult(poly->product, PETSC_FALSE, v, r, w));
    PetscCallPoly(poly, kernels->step(poly->dev, n, a, d, w, sign * poly->omega[k], v, k == 1 ? 0 : sign * (1 - poly->omega[k]), before));
    w      = v;
    v      = before;
    before = w;
    w      = work[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the operator of the products: that of the matrix, or a copy in single precision. */
static PetscErrorCode PCGPUPolyGetProduct(PC pc, PC_GPUPoly *poly, GpOp op)
{
  GpOpOptions  options = op->options;
  MatGPUCSRKey key     = {.owner = pc->pmat, .nonzerostate = pc->pmat->nonzerostate};
  PetscBool    refill, fits = PETSC_TRUE;

  PetscFunctionBegin;
  poly->product = op;
  if (poly->storage == MAT_GPUCSR_STORAGE_DOUBLE || options.prec == GP_F32) {
    PetscCall(GpOpDestroy(&poly->narrow));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &key.state));
  PetscCall(MatSeqAIJGetCSRAndMemType(pc->pmat, &key.rowptr, &key.col, NULL, NULL));
  key.nnz = op->side[0].csr.nnz;
  refill  = (PetscBool)(poly->narrow && poly->key.owner == key.owner && poly->key.nonzerostate == key.nonzerostate && poly->key.rowptr == key.rowptr && poly->key.col == key.col && poly->key.nnz == key.nnz);
  if (!refill || poly->key.state != key.state) {
    poly->key         = (MatGPUCSRKey){0};
    options.prec      = GP_F32;
    options.exact     = PETSC_FALSE;
    options.kernel    = -1;
    options.transpose = PETSC_FALSE;
    PetscCall(PetscLogEventBegin(MAT_GPUCSR_Upload, pc->pmat, 0, 0, 0));
    if (!poly->narrow) PetscCall(GpOpCreate(op->dev, &poly->narrow));
    if (refill) PetscCall(GpOpRefillCopy(poly->narrow, op, &fits));
    else PetscCall(GpOpSetUpCopy(poly->narrow, &options, op, key.rowptr, &fits));
    PetscCall(PetscLogEventEnd(MAT_GPUCSR_Upload, pc->pmat, 0, 0, 0));
    PetscCheck(fits, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "PC type gpupoly: single precision cannot store a value of the matrix; use -pc_gpupoly_storage double");
    poly->key = key;
  }
  poly->product = poly->narrow;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the scaled diagonal to the memory, which is allocated for the size of the matrix. */
static PetscErrorCode PCGPUPolyFillRecorded(PC pc, PC_GPUPoly *poly)
{
  const PetscInt n = pc->pmat->rmap->n;
  MatGPUCSRVec   v;

  PetscFunctionBegin;
  if (poly->memory && poly->entries != n) PetscCall(PetscGPUCSRDeviceFree(poly->dev, 3 * (size_t)poly->entries * sizeof(double), &poly->memory));
  poly->dev     = poly->product->dev;
  poly->entries = n;
  if (!poly->memory) PetscCall(PetscGPUCSRDeviceMalloc(poly->dev, "allocating the vectors of PC type gpupoly", 3 * (size_t)n * sizeof(double), &poly->memory));
  if (!poly->inverse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRVecGetRead_Private(pc->pmat, 0, poly->inverse, &v));
  PetscCallPoly(poly, GpDevCopyWithin(poly->dev, poly->memory, v.device, (size_t)n * sizeof(double)));
  PetscCall(MatGPUCSRVecRestoreArray_Private(poly->inverse, 'r', &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Offers the application to Krylov methods whose loop is recorded. The coefficients are part of the graph, so new ones need a new version. */
PetscErrorCode PCGPUPolyGetRecorded_GPUPoly(PC pc, PCGPURecorded *recorded)
{
  PC_GPUPoly    *poly = (PC_GPUPoly *)pc->data;
  PCGPUPolyGraph graph;
  PetscBool      same;
  GpOp           op;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&graph, sizeof(graph))); /* also the bytes between the members */
  if (!poly->ready) recorded->why = "a preconditioner whose set-up has failed";
  else if (!MatGPUCSRIs_Private(pc->pmat) || ((Mat_GPUCSR *)pc->pmat->spptr)->mpi) recorded->why = "gpupoly of a matrix that is not of type gpucsr";
  if (recorded->why) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRGetOperator_Private(pc->pmat, PETSC_FALSE, &op));
  if (GpOpIsStreamed(op)) {
    recorded->why = "gpupoly of a matrix that is streamed";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGPUPolyGetProduct(pc, poly, op));
  PetscCall(PCGPUPolyFillRecorded(pc, poly));
  graph.product = poly->product->version;
  graph.type    = poly->type;
  graph.degree  = poly->degree;
  graph.low     = poly->low;
  graph.high    = poly->high;
  graph.scaled  = (PetscBool)(poly->inverse != NULL);
  PetscCall(PetscMemcmp(&graph, &poly->graph, sizeof(graph), &same));
  if (!same) poly->version++;
  poly->graph       = graph;
  recorded->apply   = PCGPUPolyApplyRecorded;
  recorded->ctx     = poly;
  recorded->version = poly->version;
  recorded->flops   = (PetscLogDouble)poly->degree * (2.0 * poly->product->side[0].csr.nnz + (poly->inverse ? 6.0 : 5.0) * (PetscLogDouble)poly->entries) + (PetscLogDouble)poly->entries;
  PetscFunctionReturn(PETSC_SUCCESS);
}
