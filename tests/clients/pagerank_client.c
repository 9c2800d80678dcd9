static char help[] = "The sequences of calls of a PageRank object, by a program that sees the installed headers only.\n\n";

#include <gpucsr.h>
#include <gpucsrpagerank.h>

/* The cycle 0 -> 1 -> ... -> N - 1 -> 0, whose ranks are all 1/N, with a further link from node 0 to node 2 if `shortcut` is set. Node N - 1 has no link if `open` is set. */
static PetscErrorCode CreateCycle(PetscInt N, PetscBool shortcut, PetscBool open, Mat *links)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, links));
  PetscCall(MatSetSizes(*links, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*links, MATGPUCSR));
  PetscCall(MatSetFromOptions(*links));
  PetscCall(MatSetUp(*links));
  PetscCall(MatGetOwnershipRange(*links, &first, &last));
  for (PetscInt k = first; k < last; k++) {
    if (!open || k < N - 1) PetscCall(MatSetValue(*links, (k + 1) % N, k, 3.0, INSERT_VALUES));
  }
  if (shortcut && !first) PetscCall(MatSetValue(*links, 2, 0, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*links, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*links, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Solves, and checks the residual of vector k of the ranks: r = d P x + (1 - d) v - x with P x computed here. u: distribution of the rank of dangling nodes, or NULL. */
static PetscErrorCode SolveAndCheck(PageRank pr, Mat links, Vec v, Vec u, const char what[])
{
  PageRankConvergedReason reason;
  PetscReal               damping, bound, norm, tolerance;
  PetscScalar             sum, lost;
  const Vec              *x;
  Vec                     ones, out, z, y;

  PetscFunctionBeginUser;
  PetscCall(PageRankSolve(pr));
  PetscCall(PageRankGetConvergedReason(pr, &reason));
  PetscCall(PageRankGetResidual(pr, NULL, &bound));
  PetscCall(PageRankGetTolerances(pr, &tolerance, NULL));
  PetscCall(PageRankGetDamping(pr, &damping));
  PetscCall(PageRankGetRanks(pr, NULL, &x));
  PetscCall(MatCreateVecs(links, &z, &y));
  PetscCall(VecDuplicate(z, &ones));
  PetscCall(VecDuplicate(z, &out));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(MatMultTranspose(links, ones, out));
  PetscCall(VecPointwiseDivide(z, x[0], out)); /* 0 where out is 0 */
  PetscCall(MatMult(links, z, y));
  PetscCall(VecPointwiseMult(z, z, out));
  PetscCall(VecAYPX(z, -1.0, x[0])); /* the rank of the dangling nodes */
  PetscCall(VecSum(z, &lost));
  if (u) PetscCall(VecAXPY(y, lost, u));
  PetscCall(VecAXPBYPCZ(y, 1 - damping, -1.0, damping, v, x[0]));
  PetscCall(VecNorm(y, NORM_1, &norm));
  PetscCall(VecSum(x[0], &sum));
  PetscCheck(reason == PAGERANK_CONVERGED_ERROR_BOUND && bound <= tolerance && norm / (1 - damping) <= 2 * tolerance && PetscAbsScalar(sum - 1) <= 2 * tolerance, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s, residual %g, bound %g, sum %g", what,
             PageRankConvergedReasons[reason], (double)norm, (double)bound, (double)sum);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: at the ranks\n", what));
  PetscCall(VecDestroy(&ones));
  PetscCall(VecDestroy(&out));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* A method outside the library: power iterations. */
static PetscErrorCode SolveMine(PageRank pr, Vec x)
{
  PetscReal damping;
  PetscBool stop;
  Vec       v, y;

  PetscFunctionBeginUser;
  PetscCall(PageRankGetDamping(pr, &damping));
  PetscCall(PageRankGetTeleportation(pr, &v));
  PetscCall(VecDuplicate(x, &y));
  for (PetscInt its = 0;; its = 2) {
    PetscCall(PageRankCheckRanks(pr, its, x, &stop));
    if (stop) break;
    for (int k = 0; k < 4; k++) {
      PetscCall(PageRankMult(pr, x, y));
      PetscCall(VecAXPBYPCZ(x, damping, 1 - damping, 0.0, y, v));
    }
  }
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static PetscErrorCode CountCalls(PageRank pr, PetscInt it, PetscReal residual, PetscReal change, void *context)
{
  PetscFunctionBeginUser;
  PetscCheck((residual < 0) != (change < 0), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "iteration %" PetscInt_FMT ": residual %g, change %g", it, (double)residual, (double)change);
  ++*(PetscInt *)context;
  PetscFunctionReturn(0);
}

/* A call that must fail. */
static PetscErrorCode ExpectError(PetscErrorCode ierr, const char what[])
{
  PetscFunctionBeginUser;
  PetscCheck(ierr, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: no error", what);
  PetscFunctionReturn(0);
}

/* A method that returns without a result. */
static PetscErrorCode SolveNothing(PageRank pr, Vec x)
{
  PetscFunctionBeginUser;
  PetscFunctionReturn(0);
}

static PetscErrorCode TestErrors(void)
{
  const Vec *x;
  Vec        none = NULL;
  PageRank   pr;
  Mat        wide, negative;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 4, 8, 0, NULL, 0, NULL, &wide));
  PetscCall(MatAssemblyBegin(wide, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(wide, MAT_FINAL_ASSEMBLY));
  PetscCall(CreateCycle(7, PETSC_TRUE, PETSC_FALSE, &negative));
  PetscCall(MatScale(negative, -1));
  PetscCall(PageRankCreate(PETSC_COMM_WORLD, &pr));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  PetscCall(ExpectError(PageRankSetUp(pr), "a set-up without a graph"));
  PetscCall(ExpectError(PageRankGetRanks(pr, NULL, &x), "ranks before the solve"));
  PetscCall(ExpectError(PageRankSetDamping(pr, 1), "damping 1"));
  PetscCall(ExpectError(PageRankSetMethod(pr, "nosuch"), "an unknown method"));
  PetscCall(ExpectError(PageRankSetBlocks(pr, 0), "no blocks"));
  PetscCall(ExpectError(PageRankSetTolerances(pr, 0, 1), "tolerance 0"));
  PetscCall(ExpectError(PageRankSetGraph(pr, wide), "a graph that is not square"));
  PetscCall(ExpectError(PageRankGetResidual(pr, NULL, NULL), "the residual before the solve"));
  PetscCall(ExpectError(PageRankSetMethod(pr, NULL), "no method"));
  PetscCall(ExpectError(PageRankMonitorSet(pr, NULL, NULL, NULL), "no monitor"));
  PetscCall(ExpectError(PageRankSetPersonalizations(pr, -1, NULL), "a negative number of vectors"));
  PetscCall(ExpectError(PageRankSetPersonalizations(pr, 1, NULL), "no array of vectors"));
  PetscCall(ExpectError(PageRankSetInitialRanks(pr, 1, &none), "no vector"));
  PetscCall(PageRankSetGraph(pr, negative));
  PetscCall(ExpectError(PageRankSolve(pr), "negative weights"));
  PetscCall(ExpectError(PageRankSolve(pr), "negative weights, again"));
  PetscCall(MatScale(negative, -1));
  PetscCall(PageRankSetMethod(pr, "nothing"));
  PetscCall(PageRankSetGraph(pr, negative));
  PetscCall(ExpectError(PageRankSolve(pr), "a method without a result"));
  PetscCall(PageRankSetMethod(pr, PAGERANKPOWER));
  PetscCall(PageRankSolve(pr));
  PetscCall(PageRankSetMethod(pr, PAGERANKGAUSSSEIDEL));
  PetscCall(PageRankSetUp(pr));
  PetscCall(ExpectError(PageRankGetRanks(pr, NULL, &x), "ranks after a set-up with other settings"));
  PetscCall(PageRankReset(pr));
  PetscCall(PetscPopErrorHandler());
  PetscCall(PageRankDestroy(&pr)); /* before any solve */
  PetscCall(PageRankDestroy(&pr)); /* twice */
  PetscCall(MatDestroy(&wide));
  PetscCall(MatDestroy(&negative));
  PetscFunctionReturn(0);
}

/* The settings one after the other, each followed by a solve of the same object. */
static PetscErrorCode TestSettings(PageRank pr, Mat links, Vec uniform, Vec topic)
{
  const char *const methods[] = {PAGERANKPOWER, PAGERANKINNEROUTER, PAGERANKJACOBI, PAGERANKKSP, "mine", PAGERANKGAUSSSEIDEL};
  PetscInt          calls     = 0, its, n;
  PetscReal         bound, bound2;
  const Vec        *x;
  Vec               both[2], copy;
  KSP               ksp;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < sizeof(methods) / sizeof(*methods); k++) {
    PetscCall(PageRankSetMethod(pr, methods[k]));
    PetscCall(SolveAndCheck(pr, links, uniform, uniform, methods[k]));
  }
  PetscCall(PageRankSetBlocks(pr, 3));
  PetscCall(SolveAndCheck(pr, links, uniform, uniform, "three blocks"));
  PetscCall(PageRankMonitorSet(pr, CountCalls, &calls, NULL));
  PetscCall(SolveAndCheck(pr, links, uniform, uniform, "a monitor"));
  PetscCall(PageRankGetIterationNumber(pr, &its));
  PetscCheck(calls > its && its > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " calls of the monitor in %" PetscInt_FMT " iterations", calls, its);
  PetscCall(PageRankMonitorCancel(pr));
  PetscCall(PageRankGetResidual(pr, NULL, &bound));
  PetscCall(PageRankSetDamping(pr, 0.6));
  PetscCall(PageRankGetResidual(pr, NULL, &bound2));
  PetscCheck(bound == bound2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The bound %g of a solve becomes %g with the damping of the next", (double)bound, (double)bound2);
  PetscCall(PageRankSetPersonalizations(pr, 1, &topic));
  PetscCall(SolveAndCheck(pr, links, topic, topic, "a personalisation"));
  PetscCall(PageRankSetDangling(pr, PAGERANK_DANGLING_UNIFORM, NULL));
  PetscCall(SolveAndCheck(pr, links, topic, uniform, "uniform policy"));
  PetscCall(PageRankSetDangling(pr, PAGERANK_DANGLING_VECTOR, uniform));
  PetscCall(SolveAndCheck(pr, links, topic, uniform, "a vector for dangling nodes"));
  both[0] = uniform;
  both[1] = topic;
  PetscCall(PageRankSetPersonalizations(pr, 2, both));
  PetscCall(SolveAndCheck(pr, links, uniform, uniform, "two personalisations, one after the other"));
  PetscCall(PageRankSetMethod(pr, PAGERANKPOWER));
  PetscCall(SolveAndCheck(pr, links, uniform, uniform, "two personalisations together"));
  PetscCall(PageRankGetRanks(pr, &n, &x));
  PetscCheck(n == 2, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " vectors of ranks", n);
  PetscCall(VecDuplicate(x[1], &copy));
  PetscCall(VecCopy(x[1], copy));
  PetscCall(PageRankSetPersonalizations(pr, 1, &topic));
  PetscCall(PageRankSetInitialRanks(pr, 1, &copy));
  PetscCall(SolveAndCheck(pr, links, topic, uniform, "initial ranks"));
  PetscCall(PageRankGetIterationNumber(pr, &its));
  PetscCheck(its == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations from the solution", its);
  PetscCall(PageRankSetInitialRanks(pr, 0, NULL));
  PetscCall(PageRankSetExtrapolation(pr, 4));
  PetscCall(SolveAndCheck(pr, links, topic, uniform, "extrapolation"));
  PetscCall(PageRankSetMethod(pr, PAGERANKKSP));
  PetscCall(PageRankSetAssemble(pr, PETSC_TRUE));
  PetscCall(PageRankGetKSP(pr, &ksp));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(SolveAndCheck(pr, links, topic, uniform, "an assembled preconditioner"));
  PetscCall(PageRankSetAssemble(pr, PETSC_FALSE));
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(0);
}

/* The rows of the graph as two blocks of a MATNEST, with the numbers of their local rows that PageRankSetBlocks() would choose. */
static PetscErrorCode CreateNest(Mat links, Mat *nest)
{
  PetscInt first, last, half;
  IS       rows[2], columns;
  Mat      part[2];

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(links, &first, &last));
  half = (last - first + 1) / 2;
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, half, first, 1, &rows[0]));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, last - first - half, first + half, 1, &rows[1]));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, last - first, first, 1, &columns));
  for (int k = 0; k < 2; k++) PetscCall(MatCreateSubMatrix(links, rows[k], columns, MAT_INITIAL_MATRIX, &part[k]));
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 1, NULL, part, nest));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&part[k]));
    PetscCall(ISDestroy(&rows[k]));
  }
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt products;
  PageRank pr;
  Mat      small, large, nest;
  Vec      uniform, topic;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PageRankRegister("mine", SolveMine));
  PetscCall(PageRankRegister("nothing", SolveNothing));
  PetscCall(TestErrors());
  PetscCall(CreateCycle(7, PETSC_TRUE, PETSC_TRUE, &small));
  PetscCall(CreateCycle(40, PETSC_TRUE, PETSC_FALSE, &large));
  PetscCall(MatCreateVecs(small, &uniform, &topic));
  PetscCall(VecSet(uniform, 1.0 / 7));
  PetscCall(VecSet(topic, 0.0));
  PetscCall(VecSetValue(topic, 1, 0.25, INSERT_VALUES));
  PetscCall(VecSetValue(topic, 5, 0.75, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(topic));
  PetscCall(VecAssemblyEnd(topic));

  PetscCall(PageRankCreate(PETSC_COMM_WORLD, &pr));
  PetscCall(PageRankSetFromOptions(pr));
  PetscCall(PageRankSetGraph(pr, small));
  PetscCall(PageRankSetTolerances(pr, 1e-10, 1000));
  PetscCall(PageRankSetFromOptions(pr)); /* options read twice */
  PetscCall(SolveAndCheck(pr, small, uniform, uniform, "defaults"));
  PetscCall(SolveAndCheck(pr, small, uniform, uniform, "a second solve"));
  PetscCall(TestSettings(pr, small, uniform, topic));

  PetscCall(PageRankReset(pr));
  PetscCall(PageRankReset(pr));
  PetscCall(PageRankSetDangling(pr, PAGERANK_DANGLING_TELEPORT, NULL));
  PetscCall(PageRankSetMethod(pr, PAGERANKGAUSSSEIDEL));
  PetscCall(PageRankSetGraph(pr, small));
  PetscCall(PageRankSetUp(pr));
  PetscCall(SolveAndCheck(pr, small, uniform, uniform, "after a reset"));
  PetscCall(PageRankGetMatMults(pr, &products));
  PetscCheck(products > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "no products");
  PetscCall(CreateNest(small, &nest));
  PetscCall(PageRankSetGraph(pr, nest));
  PetscCall(SolveAndCheck(pr, small, uniform, uniform, "a MATNEST"));
  PetscCall(PageRankSetMethod(pr, PAGERANKPOWER));
  PetscCall(SolveAndCheck(pr, small, uniform, uniform, "a MATNEST by power iterations"));
  PetscCall(MatDestroy(&nest));
  PetscCall(VecDestroy(&uniform));
  PetscCall(VecDestroy(&topic));

  PetscCall(MatCreateVecs(large, &uniform, NULL));
  PetscCall(VecSet(uniform, 1.0 / 40));
  PetscCall(PageRankSetGraph(pr, large)); /* another matrix, of another size */
  PetscCall(PageRankSetMethod(pr, PAGERANKGAUSSSEIDEL));
  PetscCall(SolveAndCheck(pr, large, uniform, uniform, "another graph"));
  PetscCall(PageRankView(pr, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PageRankDestroy(&pr));

  PetscCall(PageRankCreate(PETSC_COMM_WORLD, &pr));
  PetscCall(PageRankSetGraph(pr, large));
  PetscCall(PageRankSetUp(pr));
  PetscCall(PageRankDestroy(&pr)); /* after the set-up */
  PetscCall(VecDestroy(&uniform));
  PetscCall(MatDestroy(&small));
  PetscCall(MatDestroy(&large));
  PetscCall(PetscFinalize());
  return 0;
}
