/* From the examples of a file to the matrix and the labels of the trainer. */
#include "libsvm.h"

/*@C
  BMRMExamplesGetClasses - Gets the two labels of training data, the smaller one first

  Not Collective

  Input Parameter:
. ex - the examples

  Output Parameter:
. classes - the labels that stand for -1 and for +1

  Level: developer

.seealso: `BMRMExamplesCheckClasses()`, `BMRMExamplesCreateLabels()`
@*/
PetscErrorCode BMRMExamplesGetClasses(const BMRMExamples *ex, PetscReal classes[2])
{
  PetscFunctionBegin;
  PetscCheck(ex->nclass != 1, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: all labels are %.15g, expected two classes", ex->file, (double)ex->classes[0]);
  PetscCheck(ex->nclass == 2, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: expected two classes, got more: %.15g (line %" PetscInt64_FMT "), %.15g (line %" PetscInt64_FMT "), %.15g (line %" PetscInt64_FMT ")%s", ex->file, (double)ex->classes[0],
             ex->classline[0], (double)ex->classes[1], ex->classline[1], (double)ex->classes[2], ex->classline[2], ex->nclass > 3 ? ", ..." : "");
  classes[0] = ex->classes[0];
  classes[1] = ex->classes[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMExamplesCheckClasses - Checks that all labels are among the two of a model

  Not Collective

  Input Parameters:
+ ex      - the examples
- classes - the labels of the model

  Output Parameter:
. known - whether they are; when `NULL`, a label that is not is an error

  Level: developer

.seealso: `BMRMExamplesGetClasses()`
@*/
PetscErrorCode BMRMExamplesCheckClasses(const BMRMExamples *ex, const PetscReal classes[2], PetscBool *known)
{
  PetscFunctionBegin;
  if (known) *known = PETSC_TRUE;
  for (PetscInt k = 0; k < ex->nclass; k++) {
    if (ex->classes[k] == classes[0] || ex->classes[k] == classes[1]) continue;
    PetscCheck(known, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: line %" PetscInt64_FMT ", column 1: label %.15g is neither of the model's %.15g and %.15g", ex->file, ex->classline[k], (double)ex->classes[k], (double)classes[0], (double)classes[1]);
    *known = PETSC_FALSE;
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For types without a constructor from compressed rows: preallocate, then set row by row. */
static PetscErrorCode SetRows(const BMRMExamples *ex, Mat X)
{
  PetscInt rstart, cstart, cend, *dnnz, *onnz;

  PetscFunctionBegin;
  PetscCall(MatSetUp(X));
  PetscCall(MatGetOwnershipRange(X, &rstart, NULL));
  PetscCall(MatGetOwnershipRangeColumn(X, &cstart, &cend));
  PetscCall(PetscCalloc2(ex->m, &dnnz, ex->m, &onnz));
  for (PetscInt i = 0; i < ex->m; i++) {
    for (PetscInt k = ex->i[i]; k < ex->i[i + 1]; k++) {
      if (ex->j[k] >= cstart && ex->j[k] < cend) dnnz[i]++;
      else onnz[i]++;
    }
  }
  PetscCall(MatXAIJSetPreallocation(X, 1, dnnz, onnz, NULL, NULL));
  PetscCall(PetscFree2(dnnz, onnz));
  for (PetscInt i = 0; i < ex->m; i++) {
    const PetscInt row = rstart + i, k = ex->i[i];

    PetscCall(MatSetValues(X, 1, &row, ex->i[i + 1] - k, ex->j + k, ex->a + k, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMExamplesCreateMat - Creates the matrix with one example a row

  Collective

  Input Parameters:
+ ex   - the examples
. N    - number of columns, `PETSC_DECIDE` for the largest index; more than that pads with zeros
- type - Mat type to use where the options name none

  Output Parameter:
. X - the matrix

  Options Database Key:
. -mat_type <type> - the type

  Level: developer

.seealso: `BMRMExamplesLoad()`, `BMRMExamplesCreateLabels()`
@*/
PetscErrorCode BMRMExamplesCreateMat(const BMRMExamples *ex, PetscInt N, MatType type, Mat *X)
{
  PetscBool named, done;

  PetscFunctionBegin;
  if (N == PETSC_DECIDE) N = ex->N;
  PetscCheck(N >= ex->N, ex->comm, PETSC_ERR_ARG_SIZ, "%s has %" PetscInt_FMT " features, only %" PetscInt_FMT " are known", ex->file, ex->N, N);
  PetscCall(MatCreate(ex->comm, X));
  PetscCall(MatSetSizes(*X, ex->m, PETSC_DECIDE, ex->M, N));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_type", &named));
  if (!named) PetscCall(MatSetType(*X, type));
  PetscCall(MatSetFromOptions(*X));
  PetscCall(MatSeqAIJSetPreallocationCSR(*X, ex->i, ex->j, ex->a)); /* each acts on its own types only */
  PetscCall(MatMPIAIJSetPreallocationCSR(*X, ex->i, ex->j, ex->a));
  PetscCall(MatAssembled(*X, &done));
  if (!done) PetscCall(SetRows(ex, *X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMExamplesAppendFeature - Gives every example one feature more, the last, of the same value: a bias

  Collective

  Input Parameters:
+ ex    - the examples
. n     - features there are before it, at least as many as the largest index
- value - its value

  Level: developer

.seealso: `BMRMExamplesCreateMat()`
@*/
PetscErrorCode BMRMExamplesAppendFeature(BMRMExamples *ex, PetscInt n, PetscReal value)
{
  const PetscInt nz = ex->m ? ex->i[ex->m] : 0;

  PetscFunctionBegin;
  PetscCheck((PetscInt64)nz + ex->m < PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "More entries on a rank than PetscInt counts: use more ranks or a PETSc with 64-bit indices");
  PetscCall(PetscRealloc((size_t)(nz + ex->m) * sizeof(*ex->j), &ex->j));
  PetscCall(PetscRealloc((size_t)(nz + ex->m) * sizeof(*ex->a), &ex->a));
  for (PetscInt row = ex->m - 1; row >= 0; row--) { /* from behind: nothing is overwritten before it has moved */
    const PetscInt from = ex->i[row], length = ex->i[row + 1] - from, to = from + row;

    PetscCall(PetscArraymove(ex->j + to, ex->j + from, length));
    PetscCall(PetscArraymove(ex->a + to, ex->a + from, length));
    ex->j[to + length] = n;
    ex->a[to + length] = value;
  }
  for (PetscInt row = 1; row <= ex->m; row++) ex->i[row] += row;
  ex->N = n + 1;
  ex->nnz += ex->M;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMExamplesCreateLabels - Creates the vector of labels as the trainer wants them

  Collective

  Input Parameters:
+ ex      - the examples
. classes - the labels that stand for -1 and for +1, or `NULL` where labels are numbers
- X       - their matrix

  Output Parameter:
. y - +1 for the second class, -1 for the first, 0 for any other label; or the labels as they are

  Level: developer

.seealso: `BMRMExamplesGetClasses()`, `BMRMSetData()`
@*/
PetscErrorCode BMRMExamplesCreateLabels(const BMRMExamples *ex, const PetscReal classes[2], Mat X, Vec *y)
{
  PetscScalar *ya;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(X, NULL, y));
  PetscCall(VecGetArrayWrite(*y, &ya));
  for (PetscInt i = 0; i < ex->m; i++) ya[i] = classes ? (PetscScalar)(ex->label[i] == classes[1]) - (PetscScalar)(ex->label[i] == classes[0]) : (PetscScalar)ex->label[i];
  PetscCall(VecRestoreArrayWrite(*y, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}
