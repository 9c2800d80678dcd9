/* The rows of the matrix on the host, for measures that follow links instead of multiplying by them. */
#include "networkimpl.h"

/* Gets the sum of a row of A and of the same row of T, if T is not NULL, with ascending columns. Entries whose sum is 0 are left out. loops: whether loops
   are kept. */
static PetscErrorCode NetworkLocalMergeRow(Mat A, Mat T, PetscBool loops, PetscInt row, PetscInt *n, PetscInt j[], PetscReal w[])
{
  PetscInt           na, nt = 0, a = 0, t = 0;
  const PetscInt    *ja, *jt = NULL;
  const PetscScalar *wa, *wt = NULL;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(MatGetRow(A, row, &na, &ja, &wa));
  if (T) PetscCall(MatGetRow(T, row, &nt, &jt, &wt));
  while (a < na || t < nt) {
    const PetscInt column = t == nt || (a < na && ja[a] <= jt[t]) ? ja[a] : jt[t];
    PetscReal      sum    = 0;

    if (a < na && ja[a] == column) sum += PetscRealPart(wa[a++]);
    if (t < nt && jt[t] == column) sum += PetscRealPart(wt[t++]);
    if (sum == 0 || (!loops && column == row)) continue;
    j[*n]     = column;
    w[(*n)++] = sum;
  }
  if (T) PetscCall(MatRestoreRow(T, row, &nt, &jt, &wt));
  PetscCall(MatRestoreRow(A, row, &na, &ja, &wa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the entries of the rows of this process in both matrices together. most: number of entries of the longest row. */
static PetscErrorCode NetworkLocalCount(Network nw, Mat A, Mat T, PetscInt64 *total, PetscInt *most)
{
  PetscInt n;

  PetscFunctionBegin;
  *total = *most = 0;
  for (PetscInt r = nw->first; r < nw->first + nw->n; r++) {
    PetscInt all = 0;

    PetscCall(MatGetRow(A, r, &n, NULL, NULL));
    all += n;
    PetscCall(MatRestoreRow(A, r, &n, NULL, NULL));
    if (T) {
      PetscCall(MatGetRow(T, r, &n, NULL, NULL));
      all += n;
      PetscCall(MatRestoreRow(T, r, &n, NULL, NULL));
    }
    *total += all;
    *most = PetscMax(*most, all);
  }
  PetscCheck(*total <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Measures components, core, labels and salsa: the number of links of one process does not fit PetscInt; use more processes or a PETSc with 64-bit indices");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces global columns by local numbers, and creates the list of ghosts and the communication. */
static PetscErrorCode NetworkLocalRenumber(Network nw, NetworkLocal *G)
{
  const PetscInt nz = G->i[G->n];
  PetscLayout    layout;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nz + 1, &G->ghost));
  for (PetscInt k = 0; k < nz; k++)
    if (G->j[k] < G->first || G->j[k] >= G->first + G->n) G->ghost[G->nghost++] = G->j[k];
  PetscCall(PetscSortRemoveDupsInt(&G->nghost, G->ghost));
  for (PetscInt k = 0; k < nz; k++) {
    PetscInt at;

    if (G->j[k] >= G->first && G->j[k] < G->first + G->n) G->j[k] -= G->first;
    else {
      PetscCall(PetscFindInt(G->j[k], G->nghost, G->ghost, &at));
      G->j[k] = G->n + at;
    }
  }
  PetscCall(MatGetLayouts(nw->links, &layout, NULL));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)nw), &G->sf));
  PetscCall(PetscSFSetGraphLayout(G->sf, layout, G->nghost, NULL, PETSC_OWN_POINTER, G->ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the links of L into the nodes of this process. If undirected is true, gets those of L + L' without loops: the weight of a link is the sum of both
   directions. If the matrix is symmetric, that weight is halved. */
PetscErrorCode NetworkLocalCreate_Private(Network nw, PetscBool undirected, NetworkLocal *G)
{
  PetscInt64 total;
  PetscInt   most, *j, n;
  PetscReal *w;
  Mat        A, T = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(G, sizeof(*G)));
  G->n     = nw->n;
  G->first = nw->first;
  if (undirected && !nw->symmetric) { /* MATAIJ, because the transpose of another type might be copied to the device */
    PetscCall(MatConvert(nw->links, MATAIJ, MAT_INITIAL_MATRIX, &A));
    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  } else {
    A = nw->links;
    PetscCall(PetscObjectReference((PetscObject)A));
  }
  PetscCall(NetworkLocalCount(nw, A, T, &total, &most));
  PetscCall(PetscMalloc3(G->n + 1, &G->i, total, &G->j, total, &G->w));
  PetscCall(PetscMalloc2(most, &j, most, &w));
  G->i[0] = 0;
  for (PetscInt r = 0; r < G->n; r++) {
    PetscCall(NetworkLocalMergeRow(A, T, (PetscBool)!undirected, G->first + r, &n, j, w));
    PetscCall(PetscArraycpy(G->j + G->i[r], j, n));
    PetscCall(PetscArraycpy(G->w + G->i[r], w, n));
    G->i[r + 1] = G->i[r] + n;
  }
  PetscCall(PetscFree2(j, w));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&T));
  PetscCall(NetworkLocalRenumber(nw, G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the neighbours of the nodes and of the ghosts as compressed rows. For a ghost these are its neighbours among the nodes of this process. The caller frees
   i and j. */
PetscErrorCode NetworkLocalAddGhosts_Private(const NetworkLocal *G, PetscInt **i_, PetscInt **j_)
{
  const PetscInt all = G->n + G->nghost, nz = G->i[G->n];
  PetscInt      *i, *j, more = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nz; k++) more += G->j[k] >= G->n;
  PetscCall(PetscCalloc1(all + 2, &i));
  PetscCall(PetscMalloc1(nz + more, &j));
  for (PetscInt r = 0; r < G->n; r++) i[r + 1] = G->i[r + 1];
  PetscCall(PetscArraycpy(j, G->j, nz));
  for (PetscInt k = 0; k < nz; k++)
    if (G->j[k] >= G->n) i[G->j[k] + 2]++;
  for (PetscInt k = G->n; k <= all; k++) i[k + 1] += k == G->n ? nz : i[k];
  for (PetscInt r = 0; r < G->n; r++)
    for (PetscInt k = G->i[r]; k < G->i[r + 1]; k++)
      if (G->j[k] >= G->n) j[i[G->j[k] + 1]++] = r;
  *i_ = i;
  *j_ = j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NetworkLocalDestroy_Private(NetworkLocal *G)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(G->i, G->j, G->w));
  PetscCall(PetscFree(G->ghost));
  PetscCall(PetscSFDestroy(&G->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}
