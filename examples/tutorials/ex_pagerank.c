static char help[] = "Ranks the nodes of a small graph by PageRank, and prints the five nodes of highest rank.\n\n";

/*
  Build it with the installed library:

    mpicc ex_pagerank.c -o ex_pagerank $(pkg-config --cflags --libs gpucsr) $(pkg-config --variable=rpath gpucsr) -lm

  Run it:

    ./ex_pagerank
    mpiexec -n 2 ./ex_pagerank -pagerank_method power -pagerank_damping 0.9 -pagerank_monitor
    ./ex_pagerank -mat_gpucsr_vec_type gpu -pagerank_view            # vectors and iteration on the GPU
*/
#include <gpucsr.h>
#include <gpucsrpagerank.h>

/* Every node k links to node k + 1 and to node k / 2. The last node has no links: it is a dangling node. */
static PetscErrorCode CreateGraph(MPI_Comm comm, PetscInt N, Mat *links)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, links));
  PetscCall(MatSetSizes(*links, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*links, MATGPUCSR)); /* any type of matrix will do: -mat_type aij */
  PetscCall(MatSetFromOptions(*links));
  PetscCall(MatSetUp(*links));
  PetscCall(MatGetOwnershipRange(*links, &first, &last));
  for (PetscInt k = first; k < PetscMin(last, N - 1); k++) { /* the entry of a link has the row of the node that it leads to */
    PetscCall(MatSetValue(*links, k + 1, k, 1.0, INSERT_VALUES));
    PetscCall(MatSetValue(*links, k / 2, k, 1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*links, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*links, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Prints the nodes of highest rank. The first process gets all ranks and sorts them. */
static PetscErrorCode PrintTop(Vec x, PetscInt top, PetscReal bound)
{
  const PetscScalar *a;
  PetscReal         *rank;
  PetscInt          *node, n;
  VecScatter         scatter;
  Vec                all;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToZero(x, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(all, &n));
  PetscCall(VecGetArrayRead(all, &a));
  PetscCall(PetscMalloc2(n, &rank, n, &node));
  for (PetscInt k = 0; k < n; k++) {
    rank[k] = -a[k]; /* the order is ascending */
    node[k] = k;
  }
  PetscCall(PetscSortRealWithPermutation(n, rank, node));
  for (PetscInt k = 0; k < PetscMin(top, n); k++) {
    const PetscBool certain = (PetscBool)(k + 1 == n || rank[node[k + 1]] - rank[node[k]] > bound); /* the error of a difference of two ranks is at most the bound */

    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT ": node %" PetscInt_FMT ", rank %.6f%s\n", k + 1, node[k], (double)-rank[node[k]], certain ? "" : " (the next may be higher)"));
  }
  PetscCall(PetscFree2(rank, node));
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PageRankConvergedReason reason;
  PetscInt                N = 100;
  PetscReal               bound;
  PageRank                pr;
  const Vec              *x;
  Mat                     links;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize()); /* registers the matrix type gpucsr */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-nodes", &N, NULL));
  PetscCall(CreateGraph(PETSC_COMM_WORLD, N, &links));

  PetscCall(PageRankCreate(PETSC_COMM_WORLD, &pr));
  PetscCall(PageRankSetGraph(pr, links));
  PetscCall(PageRankSetTolerances(pr, 1e-10, 1000)); /* the error in the 1-norm is at most 1e-10 */
  PetscCall(PageRankSetFromOptions(pr));
  PetscCall(PageRankSolve(pr));

  PetscCall(PageRankGetConvergedReason(pr, &reason));
  PetscCall(PageRankGetResidual(pr, NULL, &bound));
  PetscCall(PageRankGetRanks(pr, NULL, &x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", PageRankConvergedReasons[reason]));
  PetscCall(PrintTop(x[0], 5, bound));

  PetscCall(PageRankDestroy(&pr));
  PetscCall(MatDestroy(&links));
  PetscCall(PetscFinalize());
  return 0;
}
