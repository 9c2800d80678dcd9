/* Host product with slabs (slab.h). It finds the entry of x of an index in the list of pieces and stages nothing. */
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"
#include "mat/impls/gpucsr/spmv/slab/slab.h"

GP_SPMV(slab)(const GpFmt *A, const double *x, const double *z, double *y)
{
  const GpSlab   *S   = (const GpSlab *)A->data;
  const GpScalar *val = (const GpScalar *)S->value;

  for (int64_t place = 0; place < (int64_t)S->nblocks * GP_SLAB_ROWS; place++) {
    const int64_t block = place / GP_SLAB_ROWS, slice = place / GP_WARP, row = block * GP_SLAB_ROWS + S->row[place];
    double        sum = 0;

    if (row >= A->csr->m) continue;
    for (int64_t c = S->start[slice]; c < S->start[slice + 1]; c++) {
      const int64_t at = c * GP_WARP + place % GP_WARP;
      const int32_t j  = S->index[at];

      if (!GpIsHole((double)val[at], sizeof(GpScalar) == sizeof(float))) sum += (double)val[at] * x[(int64_t)S->piece[S->first[block] + j / GP_SLAB_PIECE] * GP_SLAB_PIECE + j % GP_SLAB_PIECE];
    }
    y[row] = z ? z[row] + sum : sum;
  }
  return GP_SUCCESS;
}
