/* The MatOrdering multicolor: rows of one colour do not depend on each other, so that the triangles of an ILU(0) or ICC(0) factor have one level for each colour. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"

/* The graph of a matrix: the vertices are the rows, or groups of rows with one pattern that PETSc keeps together in its orderings. */
typedef struct {
  PetscInt        n;
  const PetscInt *i, *j;   /* rows */
  PetscInt       *ti, *tj; /* columns */
} Graph;

/* Builds the columns.  PETSc's own symmetric pattern (MatGetRowIJ() with symmetric = PETSC_TRUE) lacks the entries above the diagonal unless the matrix is known to be
   structurally symmetric, and a colouring without them would not be proper. */
static PetscErrorCode MatGPUCSROrderingTranspose(Mat A, Graph *g)
{
  const PetscInt n = g->n, nnz = n ? g->i[n] : 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n + 2, &g->ti));
  PetscCall(PetscMalloc1(nnz, &g->tj));
  for (PetscInt k = 0; k < nnz; k++) {
    PetscCheck(g->j[k] >= 0 && g->j[k] < n, PETSC_COMM_SELF, PETSC_ERR_SUP, "The ordering " MATORDERINGMULTICOLOR " needs a square sequential matrix; a matrix of type %s has column %" PetscInt_FMT " in %" PetscInt_FMT " rows",
               ((PetscObject)A)->type_name, g->j[k], n);
    g->ti[g->j[k] + 2]++;
  }
  for (PetscInt v = 0; v < n; v++) g->ti[v + 2] += g->ti[v + 1];
  for (PetscInt v = 0; v < n; v++) { /* ti[v + 1] is the next free place of column v, and in the end the first one of column v + 1 */
    for (PetscInt k = g->i[v]; k < g->i[v + 1]; k++) g->tj[g->ti[g->j[k] + 1]++] = v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives each vertex, in their natural order, the smallest colour that none of its neighbours has. */
static PetscErrorCode MatGPUCSROrderingColour(const Graph *g, PetscInt colour[], PetscInt *colours)
{
  PetscInt *seen; /* [n + 1] the last vertex that has a neighbour of this colour */

  PetscFunctionBegin;
  *colours = 0;
  PetscCall(PetscMalloc1(g->n + 1, &seen));
  for (PetscInt v = 0; v <= g->n; v++) seen[v] = -1;
  for (PetscInt v = 0; v < g->n; v++) {
    PetscInt c = 0;

    for (PetscInt k = g->i[v]; k < g->i[v + 1]; k++) {
      if (g->j[k] < v) seen[colour[g->j[k]]] = v;
    }
    for (PetscInt k = g->ti[v]; k < g->ti[v + 1] && g->tj[k] < v; k++) seen[colour[g->tj[k]]] = v;
    while (seen[c] == v) c++;
    colour[v] = c;
    *colours  = PetscMax(*colours, c + 1);
  }
  PetscCall(PetscFree(seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  MATORDERINGMULTICOLOR - MATORDERINGMULTICOLOR = "multicolor" - An ordering with few levels: the rows are sorted by their colours in a greedy colouring

  Options Database Key:
. -pc_factor_mat_ordering_type multicolor - uses this ordering for ILU, ICC, LU or Cholesky

  Level: intermediate

  Notes:
  No two rows of one colour are coupled by a nonzero of the matrix or of its transpose. The triangles of an ILU(0) or ICC(0) factor therefore have at most as many levels as there are
  colours: two for a 5-point or a 7-point stencil. Triangular solves on a GPU need time for each level. The factor is usually a weaker preconditioner than in the natural order.

  Each row, in the natural order, gets the smallest colour that none of its neighbours has. Rows of one colour keep their natural order. The permutations of rows and columns
  are equal. Consecutive rows with one pattern (`MatInodeGetInodeSizes()`) get one colour and stay together, as in PETSc's orderings. Their coupling adds levels.

  The ordering supports all sequential matrix types with `MatGetRowIJ()`, also those of PETSc.

.seealso: `MATSOLVERGPUCSR`, `MatGetOrdering()`, `PCFactorSetMatOrderingType()`, `MATORDERINGRCM`
M*/
static PetscErrorCode MatGetOrdering_Multicolor(Mat A, MatOrderingType type, IS *row, IS *column)
{
  Graph     g = {0};
  PetscInt *colour, *first, *order, colours;
  PetscBool done;

  PetscFunctionBegin;
  (void)type;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &g.n, &g.i, &g.j, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "The ordering " MATORDERINGMULTICOLOR " needs the rows of the matrix, which the type %s does not provide; convert the matrix to %s", ((PetscObject)A)->type_name, MATAIJ);
  PetscCall(PetscMalloc2(g.n, &colour, g.n, &order));
  PetscCall(MatGPUCSROrderingTranspose(A, &g));
  PetscCall(MatGPUCSROrderingColour(&g, colour, &colours));
  PetscCall(PetscCalloc1(colours + 2, &first));
  for (PetscInt v = 0; v < g.n; v++) first[colour[v] + 2]++;
  for (PetscInt c = 0; c < colours; c++) first[c + 2] += first[c + 1];
  for (PetscInt v = 0; v < g.n; v++) order[first[colour[v] + 1]++] = v;
  PetscCall(PetscInfo(A, "gpucsr: ordering multicolor: %" PetscInt_FMT " colours\n", colours));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, g.n, order, PETSC_COPY_VALUES, row));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, g.n, order, PETSC_COPY_VALUES, column));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &g.n, &g.i, &g.j, &done));
  PetscCall(PetscFree(first));
  PetscCall(PetscFree(g.ti));
  PetscCall(PetscFree(g.tj));
  PetscCall(PetscFree2(colour, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRRegisterOrdering_Private(void)
{
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGMULTICOLOR, MatGetOrdering_Multicolor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
