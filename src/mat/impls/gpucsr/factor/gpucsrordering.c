/* The MatOrdering multicolor: rows of one colour do not depend on each other, so that the triangles of an ILU(0) or ICC(0) factor have one level for each colour. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"

/*MC
  MATORDERINGMULTICOLOR - MATORDERINGMULTICOLOR = "multicolor" - An ordering with few levels: the rows are sorted by their colours in a greedy colouring

  Options Database Key:
. -pc_factor_mat_ordering_type multicolor - uses this ordering for ILU, ICC, LU or Cholesky

  Level: intermediate

  Notes:
  No two rows of one colour are coupled by a nonzero of the matrix or of its transpose. The triangles of an ILU(0) or ICC(0) factor therefore have at most as many levels as there are
  colours: two for a 5-point or a 7-point stencil. A level is a set of rows that can be computed at the same time. The time of a triangular solve on a GPU grows with the number of levels. The factor is usually a weaker preconditioner than in the natural order.

  Each row, in the natural order, gets the smallest colour that none of its neighbours has. Rows of one colour keep their natural order. The permutations of rows and columns
  are equal. Consecutive rows with the same pattern (`MatInodeGetInodeSizes()`) get the same colour and stay together, as in PETSc's orderings. Such a group of b rows takes b levels.

  The ordering supports all sequential matrix types that provide `MatGetRowIJ()`, PETSc's own types too.

.seealso: `MATSOLVERGPUCSR`, `MatGetOrdering()`, `PCFactorSetMatOrderingType()`, `MATORDERINGRCM`
M*/
static PetscErrorCode MatGetOrdering_Multicolor(Mat A, MatOrderingType type, IS *row, IS *column)
{
  const PetscInt *i, *j;
  PetscInt       *order, *start, n, colours;
  PetscBool       done, aij, known, symmetric;

  PetscFunctionBegin;
  (void)type;
  /* PETSc's own symmetric pattern (symmetric = PETSC_TRUE) lacks the entries above the diagonal unless the matrix is known to be structurally symmetric, and a colouring without them
     would not be proper. */
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &n, &i, &j, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "The ordering " MATORDERINGMULTICOLOR " needs the rows of the matrix, which the type %s does not provide; convert the matrix to %s", ((PetscObject)A)->type_name, MATAIJ);
  for (PetscInt k = 0; n && k < i[n]; k++)
    PetscCheck(j[k] >= 0 && j[k] < n, PETSC_COMM_SELF, PETSC_ERR_SUP, "The ordering " MATORDERINGMULTICOLOR " needs a square sequential matrix; a matrix of type %s has column %" PetscInt_FMT " in %" PetscInt_FMT " rows", ((PetscObject)A)->type_name,
               j[k], n);
  PetscCall(PetscMalloc1(n, &order));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &aij)); /* other types may provide one half of a symmetric pattern */
  PetscCall(MatIsStructurallySymmetricKnown(A, &known, &symmetric));
  PetscCall(MatGPUCSRColorRows_Private(n, i, j, (PetscBool)(aij && known && symmetric), &colours, &start, order));
  PetscCall(PetscInfo(A, "gpucsr: ordering multicolor: %" PetscInt_FMT " colours\n", colours));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order, PETSC_COPY_VALUES, row));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order, PETSC_COPY_VALUES, column));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &n, &i, &j, &done));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRRegisterOrdering_Private(void)
{
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGMULTICOLOR, MatGetOrdering_Multicolor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
