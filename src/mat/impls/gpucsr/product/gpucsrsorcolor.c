/* The parts of a matrix by colours, for SOR sweeps. */
#include "mat/impls/gpucsr/product/gpucsrsor.h"
#include <float.h>

PetscErrorCode MatGPUCSRSORDestroy_Private(MatGPUCSRSOR *sor)
{
  MatGPUCSRSOR s = *sor;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt c = 0; s->part && c < s->colors; c++) {
    for (int side = 0; side < 2; side++) {
      PetscCall(GpOpDestroy(&s->part[c][side].op));
      PetscCall(PetscFree(s->part[c][side].rowptr));
      PetscCall(PetscFree2(s->part[c][side].col, s->part[c][side].source));
    }
  }
  GpDevFree(s->dev, &s->index, (size_t)s->n * sizeof(int32_t));
  GpDevFree(s->dev, &s->work, 5 * (size_t)s->n * sizeof(double));
  PetscCall(PetscFree(s->part));
  PetscCall(PetscFree(s->start));
  PetscCall(PetscFree2(s->order, s->diagonal));
  PetscCall(PetscFree(*sor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up the pattern of one part of colour c. */
static PetscErrorCode MatGPUCSRSORSetPart(MatGPUCSRSOR s, const PetscInt rowptr[], const PetscInt col[], const PetscInt position[], PetscInt c, int side)
{
  MatGPUCSRSORPart *part = &s->part[c][side];
  const PetscInt    from = s->start[c], to = s->start[c + 1];
  PetscInt          nnz = 0;

  PetscFunctionBegin;
  for (int fill = 0; fill < 2; fill++) {
    if (fill) {
      PetscCall(PetscMalloc1(to - from + 1, &part->rowptr));
      PetscCall(PetscMalloc2(nnz, &part->col, nnz, &part->source));
      part->rowptr[0] = 0;
    }
    nnz = 0;
    for (PetscInt p = from; p < to; p++) {
      const PetscInt begin = nnz;

      for (PetscInt k = rowptr[s->order[p]]; k < rowptr[s->order[p] + 1]; k++) {
        const PetscInt q = position[col[k]];

        if (side ? q < to : q >= from) continue;
        if (fill) {
          part->col[nnz]    = q;
          part->source[nnz] = k;
        }
        nnz++;
      }
      if (!fill) continue;
      part->rowptr[p - from + 1] = nnz;
      PetscCall(PetscSortIntWithArray(nnz - begin, part->col + begin, part->source + begin));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Colours the matrix and sets up the patterns of all parts. */
static PetscErrorCode MatGPUCSRSORSetPattern(Mat A, MatGPUCSRSOR s, const PetscInt rowptr[], const PetscInt col[])
{
  PetscInt *position; /* the inverse of s->order */

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(s->n, &s->order, s->n, &s->diagonal));
  PetscCall(MatGPUCSRColorRows_Private(s->n, rowptr, col, PETSC_FALSE, &s->colors, &s->start, s->order));
  PetscCall(PetscInfo(A, "Multicolour SOR: %" PetscInt_FMT " colours for %" PetscInt_FMT " rows\n", s->colors, s->n));
  PetscCheck(s->colors <= MAT_GPUCSR_SOR_COLORS, PETSC_COMM_SELF, PETSC_ERR_SUP, "SOR by colours needs %" PetscInt_FMT " colours for this matrix, but at most %d are supported; use -mat_gpucsr_sor host", s->colors, MAT_GPUCSR_SOR_COLORS);
  PetscCall(PetscMalloc1(s->n, &position));
  for (PetscInt p = 0; p < s->n; p++) position[s->order[p]] = p;
  PetscCall(PetscCalloc1(s->colors, &s->part));
  for (PetscInt c = 0; c < s->colors; c++) {
    for (int side = 0; side < 2; side++) PetscCall(MatGPUCSRSORSetPart(s, rowptr, col, position, c, side));
  }
  for (PetscInt p = 0; p < s->n; p++) {
    const PetscInt i = s->order[p];

    s->diagonal[p] = -1;
    for (PetscInt k = rowptr[i]; k < rowptr[i + 1]; k++) {
      if (col[k] == i) s->diagonal[p] = k;
    }
  }
  PetscCall(PetscFree(position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates device memory and uploads the order. */
static PetscErrorCode MatGPUCSRSORAllocate(MatGPUCSRSOR s)
{
  int32_t *order;
  GpErr    err;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &order));
  for (PetscInt p = 0; p < s->n; p++) order[p] = (int32_t)s->order[p];
  err = GpDevAlloc(s->dev, (size_t)s->n * sizeof(int32_t), &s->index);
  if (!err) err = GpDevUpload(s->dev, s->index, order, (size_t)s->n * sizeof(int32_t));
  PetscCall(PetscFree(order));
  PetscCallGp(s->dev, "uploading the order of colours", err);
  PetscCallGp(s->dev, "allocating vectors for SOR", GpDevAlloc(s->dev, 5 * (size_t)s->n * sizeof(double), &s->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Uploads the values of one part: with its pattern, or only the values if the part has been uploaded before. */
static PetscErrorCode MatGPUCSRSORFillPart(Mat A, MatGPUCSRSOR s, const double val[], PetscInt c, int side)
{
  const MatGPUCSROptions *o    = &((Mat_GPUCSR *)A->spptr)->options;
  const GpOpPlace         none = {0, 0, NULL};
  MatGPUCSRSORPart       *part = &s->part[c][side];
  const PetscInt          rows = s->start[c + 1] - s->start[c], nnz = part->rowptr[rows];
  GpOpOptions             options = {.prec = s->prec, .kernel = -1, .mode = (GpSelMode)o->select, .limit = o->memory_limit, .adds = PETSC_TRUE, .exact = (PetscBool)(o->storage == MAT_GPUCSR_STORAGE_AUTO), .streaming = GP_OP_STREAM_NEVER};
  double                 *mine;

  PetscFunctionBegin;
  if (!nnz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(nnz, &mine));
  for (PetscInt k = 0; k < nnz; k++) {
    mine[k] = -val[part->source[k]];
    PetscCheck(s->prec == GP_F64 || PetscIsInfOrNanReal(mine[k]) || PetscAbsReal(mine[k]) <= FLT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "The value %g of the matrix exceeds the range of single precision; use -mat_gpucsr_storage auto or double", -mine[k]);
  }
  if (part->op) PetscCall(GpOpRefill(part->op, part->rowptr, part->col, mine, &none));
  else {
    PetscCall(GpOpCreate(s->dev, &part->op));
    PetscCall(GpOpSetUp(part->op, &options, rows, s->n, part->rowptr, part->col, mine, &none));
  }
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the precision of the parts: that of the matrix. */
static PetscErrorCode MatGPUCSRSORGetPrecision(Mat A, GpPrec *prec)
{
  const Mat_GPUCSR *g      = (const Mat_GPUCSR *)A->spptr;
  PetscBool         single = (PetscBool)(g->options.storage == MAT_GPUCSR_STORAGE_SINGLE);

  PetscFunctionBegin;
  if (g->options.storage == MAT_GPUCSR_STORAGE_AUTO && !g->wide) PetscCall(MatSeqAIJGPUCSRFitsSingle_Private(A, &single));
  *prec = single ? GP_F32 : GP_F64;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells whether the parts have the pattern and the precision of the matrix. */
static PetscBool MatGPUCSRSORMatches(const struct _n_MatGPUCSRSOR *s, const MatGPUCSRKey *key, GpPrec prec)
{
  const MatGPUCSRKey *k = &s->key;

  return (PetscBool)(k->owner == key->owner && k->nonzerostate == key->nonzerostate && k->rowptr == key->rowptr && k->col == key->col && k->nnz == key->nnz && s->prec == prec);
}

PetscErrorCode MatGPUCSRSORGet_Private(Mat A, MatGPUCSRSOR *sor)
{
  MatGPUCSRSOR *have = &((Mat_SeqAIJGPUCSR *)A->spptr)->sor, s;
  MatGPUCSRKey  key  = {.owner = A, .nonzerostate = A->nonzerostate};
  GpPrec        prec = GP_F64;
  PetscScalar  *val;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &key.state));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &key.rowptr, &key.col, &val, NULL));
  key.nnz = key.rowptr ? key.rowptr[A->rmap->n] : 0;
  PetscCall(MatGPUCSRSORGetPrecision(A, &prec));
  if (*have && !MatGPUCSRSORMatches(*have, &key, prec)) PetscCall(MatGPUCSRSORDestroy_Private(have));
  *sor = s = *have;
  if (s && s->key.state == key.state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(MAT_GPUCSR_Upload, A, 0, 0, 0));
  if (!s) {
    PetscCall(PetscNew(have));
    *sor = s = *have;
    s->n     = key.rowptr ? A->rmap->n : 0;
    s->prec  = prec;
    PetscCall(PetscGPUCSRGetDevice(&s->dev));
    if (s->n) PetscCall(MatGPUCSRSORSetPattern(A, s, key.rowptr, key.col));
    if (s->n) PetscCall(MatGPUCSRSORAllocate(s));
  }
  s->key    = (MatGPUCSRKey){0}; /* not valid if the upload fails */
  s->scaled = PETSC_FALSE;
  for (PetscInt c = 0; c < s->colors; c++) {
    for (int side = 0; side < 2; side++) PetscCall(MatGPUCSRSORFillPart(A, s, val, c, side));
  }
  s->key = key;
  PetscCall(PetscLogEventEnd(MAT_GPUCSR_Upload, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
