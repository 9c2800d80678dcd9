static char help[] = "The aggregates of PCGPUAMG on graphs with random edges.\n\n";

#include "app/program/apphash.h"
#include "pc/impls/gpuamg/amg.h"
#include <petscmat.h>

/* A random symmetric matrix of n blocks with about `degree` neighbours each; every eleventh block is alone. */
static PetscErrorCode CreateRandom(PetscInt n, PetscInt block, PetscInt degree, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n * block, n * block, 4 * degree * block + block, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt d = 0; d < block; d++) PetscCall(MatSetValue(*A, i * block + d, i * block + d, 1, INSERT_VALUES));
    for (PetscInt e = 0; e < degree / 2 && i % 11; e++) {
      const uint64_t hash = GpAppHash64((uint64_t)(i * degree + e));
      const PetscInt j = (PetscInt)(hash % (uint64_t)n), a = i * block + (PetscInt)(hash >> 40) % block, b = j * block;

      if (i == j || !(j % 11)) continue;
      PetscCall(MatSetValue(*A, a, b, 0.5, INSERT_VALUES));
      PetscCall(MatSetValue(*A, b, a, 0.5, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An aggregate is a root, all its neighbours, and neighbours of those.  Every connected node is in one. */
static PetscErrorCode CheckAggregates(const GpAmgGraph *g, const GpAmgAggregates *a)
{
  PetscInt total = 0;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < a->count; c++) {
    PetscBool star = PETSC_FALSE;

    total += a->ptr[c + 1] - a->ptr[c];
    PetscCheck(a->ptr[c + 1] - a->ptr[c] >= 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Aggregate %" PetscInt_FMT " has fewer than two nodes", c);
    for (PetscInt e = a->ptr[c]; e < a->ptr[c + 1] && !star; e++) { /* is this node the root? */
      const PetscInt i = a->row[e];

      star = PETSC_TRUE;
      for (PetscInt k = g->rowptr[i]; k < g->rowptr[i + 1]; k++) star = (PetscBool)(star && a->of[g->col[k]] == c);
    }
    PetscCheck(star, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Aggregate %" PetscInt_FMT " has no node with all its neighbours", c);
  }
  for (PetscInt i = 0; i < g->n; i++) {
    const PetscBool alone = (PetscBool)(g->rowptr[i] == g->rowptr[i + 1]);

    PetscCheck(alone == (PetscBool)(a->of[i] < 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Node %" PetscInt_FMT " is in aggregate %" PetscInt_FMT, i, a->of[i]);
    if (alone) total++;
  }
  PetscCheck(total == g->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The aggregates have %" PetscInt_FMT " of %" PetscInt_FMT " nodes", total, g->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAggregates(void)
{
  const PetscInt sizes[] = {1, 50, 3000}, blocks[] = {1, 3}, degrees[] = {2, 6, 30};

  PetscFunctionBeginUser;
  for (int v = 0; v < 18; v++) {
    const PetscInt     n = sizes[v % 3], block = blocks[v / 3 % 2];
    const PetscInt    *rowptr, *col;
    const PetscScalar *val;
    PetscInt           rows;
    PetscBool         *skip, done;
    GpAmgGraph         g;
    GpAmgAggregates    a;
    Mat                A;

    PetscCall(CreateRandom(n, block, degrees[v / 6], &A));
    PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &rowptr, &col, &done));
    PetscCall(MatSeqAIJGetArrayRead(A, &val));
    PetscCall(GpAmgCreateGraph(n, block, rowptr, col, val, 0.02, &g));
    PetscCall(MatSeqAIJRestoreArrayRead(A, &val));
    PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &rowptr, &col, &done));
    PetscCall(PetscMalloc1(n, &skip));
    for (PetscInt i = 0; i < n; i++) skip[i] = (PetscBool)(g.rowptr[i] == g.rowptr[i + 1]);
    PetscCall(GpAmgAggregate(&g, 1000, skip, &a));
    PetscCall(CheckAggregates(&g, &a));
    PetscCall(PetscFree(skip));
    PetscCall(GpAmgDestroyAggregates(&a));
    PetscCall(GpAmgDestroyGraph(&g));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "aggregates: correct\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestAggregates());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: random

TEST*/
