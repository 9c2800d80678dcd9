static char help[] = "The object Network: calls in many orders, matrix types, prefixes, monitors, views and errors, compared with the definitions.\n\n";

#include <gpucsr.h>
#include <gpucsrnetwork.h>

/* Nodes 0 to n - 1 in a ring with links of weight 1 to the next node, and links of weight 2 from every third node to node 0. */
static PetscErrorCode CreateGraph(PetscInt n, Mat *A)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscCall(MatSetValue(*A, (i + 1) % n, i, 1.0, ADD_VALUES));
    if (i % 3 == 0) PetscCall(MatSetValue(*A, 0, i, 2.0, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Prints whether a result is as defined. */
static PetscErrorCode Check(const char what[], PetscReal difference, PetscReal tolerance)
{
  PetscFunctionBeginUser;
  if (difference <= tolerance) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: as defined\n", what));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: differs by %g\n", what, (double)difference));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetQuantity(Network nw, const char name[], PetscReal *value)
{
  const char *const *names;
  const PetscReal   *values;
  PetscInt           n;

  PetscFunctionBeginUser;
  *value = -1;
  PetscCall(NetworkGetQuantities(nw, &n, &names, &values));
  for (PetscInt k = 0; k < n; k++)
    if (!strcmp(names[k], name)) *value = values[k];
  PetscFunctionReturn(0);
}

/* Compares the centralities with their definitions. */
static PetscErrorCode TestCentralities(Network nw, Mat A)
{
  const Vec *x;
  PetscReal  value, norm;
  PetscInt   n;
  Vec        y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, NULL, &y));
  PetscCall(NetworkSetMeasure(nw, NETWORKEIGENVECTOR));
  PetscCall(NetworkSetScale(nw, NETWORK_SCALE_MAX));
  PetscCall(NetworkSolve(nw));
  PetscCall(NetworkGetResults(nw, &n, NULL, &x));
  PetscCall(GetQuantity(nw, "eigenvalue", &value));
  PetscCall(MatMult(A, x[0], y));
  PetscCall(VecAXPY(y, -value, x[0]));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(Check("eigenvector", norm, 1e-8));
  PetscCall(VecMax(x[0], NULL, &norm));
  PetscCall(Check("largest value", PetscAbsReal(norm - 1), 1e-14));

  PetscCall(NetworkSetMeasure(nw, NETWORKHITS));
  PetscCall(NetworkSetScale(nw, NETWORK_SCALE_NORM));
  PetscCall(NetworkSolve(nw));
  PetscCall(NetworkGetResults(nw, &n, NULL, &x));
  PetscCall(GetQuantity(nw, "singular_value", &value));
  PetscCall(MatMult(A, x[1], y));
  PetscCall(VecAXPY(y, -value, x[0]));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(Check("hits, two results", norm + PetscAbsInt(n - 2), 1e-8));

  PetscCall(NetworkSetMeasure(nw, NETWORKKATZ));
  PetscCall(NetworkSetScale(nw, NETWORK_SCALE_AUTO));
  PetscCall(NetworkSetAlpha(nw, 0.2));
  PetscCall(NetworkSolve(nw));
  PetscCall(NetworkGetResults(nw, &n, NULL, &x));
  PetscCall(NetworkGetResidual(nw, NULL, &value));
  PetscCall(MatMult(A, x[0], y));
  PetscCall(VecAXPBY(y, -1.0, 0.2, x[0]));
  PetscCall(VecShift(y, 1.0));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(Check("katz", norm, 1e-9));
  PetscCall(Check("katz, bound", value, 1e-9));
  PetscCall(NetworkSetAlpha(nw, 0));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static PetscErrorCode CountCalls(Network nw, PetscInt it, PetscReal value, void *calls)
{
  PetscFunctionBeginUser;
  ++*(PetscInt *)calls;
  PetscFunctionReturn(0);
}

/* Prints the class of an error and goes on. */
static PetscErrorCode TestErrors(Mat A)
{
  NetworkConvergedReason reason;
  PetscErrorCode         ierr[5];
  Network                nw;
  Mat                    wide;
  PetscInt               n = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  PetscCall(NetworkCreate(PETSC_COMM_WORLD, &nw));
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 4, 8, 1.0, &wide));
  ierr[0] = NetworkSolve(nw);
  ierr[1] = NetworkSetMeasure(nw, "betweenness");
  ierr[2] = NetworkSetGraph(nw, wide);
  ierr[3] = NetworkSetTolerances(nw, 0.0, 10);
  ierr[4] = NetworkGetResults(nw, &n, NULL, NULL);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr[0] == PETSC_ERR_ORDER && ierr[1] == PETSC_ERR_ARG_UNKNOWN_TYPE && ierr[2] == PETSC_ERR_ARG_SIZ && ierr[3] == PETSC_ERR_ARG_OUTOFRANGE && ierr[4] == PETSC_ERR_ORDER, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Errors %d %d %d %d %d",
             (int)ierr[0], (int)ierr[1], (int)ierr[2], (int)ierr[3], (int)ierr[4]);
  PetscCall(NetworkSetGraph(nw, A));
  PetscCall(NetworkSetMeasure(nw, NETWORKKATZ));
  PetscCall(NetworkSetAlpha(nw, 10.0));
  PetscCall(NetworkSolve(nw));
  PetscCall(NetworkGetConvergedReason(nw, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "alpha 10: %s\n", NetworkConvergedReasons[reason]));
  PetscCall(NetworkDestroy(&nw));
  PetscCall(MatDestroy(&wide));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt        calls = 0, n, its;
  const PetscInt *size, *member;
  NetworkMeasure  measure;
  Network         nw, other;
  Mat             A, B;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(CreateGraph(20, &A));
  PetscCall(CreateGraph(7, &B));
  PetscCall(NetworkCreate(PETSC_COMM_WORLD, &nw));
  PetscCall(NetworkSetGraph(nw, A));
  PetscCall(NetworkSetFromOptions(nw));
  PetscCall(NetworkSetTolerances(nw, 1e-11, 1000));
  PetscCall(NetworkMonitorSet(nw, CountCalls, &calls, NULL));
  PetscCall(TestCentralities(nw, A));
  PetscCheck(calls >= 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The monitor was called %" PetscInt_FMT " times", calls);
  PetscCall(NetworkMonitorCancel(nw));

  PetscCall(NetworkSetGraph(nw, B)); /* another graph, and back */
  PetscCall(TestCentralities(nw, B));
  PetscCall(NetworkSetGraph(nw, A));
  PetscCall(NetworkSetMeasure(nw, NETWORKCOMPONENTS));
  PetscCall(NetworkSolve(nw));
  PetscCall(NetworkSolve(nw)); /* twice */
  PetscCall(NetworkGetGroups(nw, &n, &size, &member));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "components: %" PetscInt_FMT ", of %" PetscInt_FMT " nodes\n", n, size[0]));
  PetscCall(NetworkSetMeasure(nw, NETWORKCORE));
  PetscCall(NetworkSolve(nw));
  PetscCall(NetworkGetGroups(nw, &n, NULL, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "core: %" PetscInt_FMT " groups\n", n));
  PetscCall(NetworkView(nw, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(NetworkReset(nw));
  PetscCall(NetworkSetGraph(nw, A));
  PetscCall(NetworkSolve(nw));

  PetscCall(NetworkCreate(PETSC_COMM_WORLD, &other)); /* with a prefix of its own */
  PetscCall(NetworkSetOptionsPrefix(other, "other_"));
  PetscCall(NetworkSetFromOptions(other));
  PetscCall(NetworkGetMeasure(other, &measure));
  PetscCall(NetworkGetTolerances(other, NULL, &its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "prefix: %s, %" PetscInt_FMT " iterations\n", measure, its));
  PetscCall(NetworkSetGraph(other, A));
  PetscCall(NetworkSolve(other));
  PetscCall(NetworkDestroy(&other));
  PetscCall(TestErrors(A));
  PetscCall(NetworkDestroy(&nw));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: types
    nsize: {{1 2 4}}
    args: -mat_type {{gpucsr aij}} -other_measure katz -other_max_it 77 -other_ksp_type gmres -other_view
    filter: sed -e "s,) [124] MPI process.*,)," -e "s,residual=.*,residual," -e "s,error=.*,error," -e "s, after .*,,"
    output_file: output/networkapi_types.out

  test:
    suffix: double
    nsize: 2
    args: -mat_type gpucsr -mat_gpucsr_storage double -mat_gpucsr_vec_type gpu -vec_gpu_separate -other_measure katz -other_max_it 77 -other_ksp_type gmres -other_view
    filter: sed -e "s,) [124] MPI process.*,)," -e "s,residual=.*,residual," -e "s,error=.*,error," -e "s, after .*,,"
    output_file: output/networkapi_types.out
TEST*/
