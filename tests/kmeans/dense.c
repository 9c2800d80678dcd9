static char help[] = "KMeans: dense points on the device, beside the matrix that they come from: every precision, order and number of threads.\n\n";

#include "solvers/kmeans/points/kmeansrows.h"

static const PetscInt features[] = {1, 2, 3, 4, 5, 6, 8, 40, 3000};

/* The numbers of values from which threads scan and upload points are below this one. */
#define MANY 2300000

/* Value (i, j), which single precision holds unless `odd`. */
static PetscScalar Value(PetscInt i, PetscInt j, PetscBool odd)
{
  return (PetscScalar)((i * 7919 + j * 104729) % 65537 - 30000) / 256. + (odd ? 1e-11 : 0);
}

static PetscErrorCode CreatePoints(MPI_Comm comm, PetscInt N, PetscInt d, PetscInt gap, PetscBool odd, Mat *X)
{
  PetscInt     start, end, n = PETSC_DECIDE;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(PetscSplitOwnership(comm, &n, &N));
  PetscCall(MatCreate(comm, X));
  PetscCall(MatSetSizes(*X, n, PETSC_DECIDE, N, d));
  PetscCall(MatSetType(*X, MATDENSE));
  PetscCall(MatDenseSetLDA(*X, PetscMax(n + gap, 1)));
  PetscCall(MatSetUp(*X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  PetscCall(MatDenseGetArrayWrite(*X, &a));
  for (PetscInt j = 0; j < d; j++)
    for (PetscInt i = start; i < end; i++) a[i - start + (size_t)j * PetscMax(n + gap, 1)] = Value(i, j, odd);
  PetscCall(MatDenseRestoreArrayWrite(*X, &a));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the values on the device with those of the matrix, in the order of the device. */
static PetscErrorCode CompareValues(const KMeansPoints *P, const PetscInt order[], PetscBool odd)
{
  const KMeansData *A    = &P->data;
  const size_t      size = A->single ? sizeof(float) : sizeof(double);
  char             *value;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(P->values * size, &value));
  PetscCallGp(A->dev, "values", GpDevDownload(A->dev, value, A->value, P->values * size));
  for (size_t v = 0; v < P->values; v++) {
    const PetscInt i = (PetscInt)(v / A->d), j = (PetscInt)(v % A->d);
    const double   expected = Value(P->first + (order ? order[i] : i), j, odd), stored = A->single ? (double)((float *)value)[v] : ((double *)value)[v];

    PetscCheck(stored == (A->single ? (double)(float)expected : expected), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d features: feature %" PetscInt_FMT " of point %" PetscInt_FMT " is %.17g instead of %.17g", (int)A->d, j, i, stored, expected);
  }
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scale of a feature multiplies the largest value, times its weight, to an integer of at most P->bits bits, but not of fewer than P->bits - 1 bits. */
static PetscErrorCode CompareScales(MPI_Comm comm, const KMeansPoints *P, PetscInt N, PetscBool weights, PetscBool odd)
{
  for (PetscInt j = 0; j < P->data.d; j++) {
    double large = 0, bits;

    for (PetscInt i = 0; i < N; i++) {
      const double value = Value(i, j, odd);

      large = PetscMax(large, fabs(P->data.single ? (double)(float)value : value) * (weights ? 1 + i % 3 : 1));
    }
    if (large == 0) continue;
    bits = log2(large * P->feature[j].first);
    PetscCheck(bits <= P->bits && bits >= P->bits - 1, comm, PETSC_ERR_PLIB, "%d features: the largest value %g of feature %" PetscInt_FMT " has %g bits instead of %d", (int)P->data.d, large, j, bits, P->bits);
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode Check(MPI_Comm comm, PetscInt N, PetscInt d, PetscBool odd, PetscBool permute, PetscBool weights, KMeansStorage storage)
{
  KMeans       km;
  KMeansPoints P;
  Mat          X;
  Vec          w = NULL;
  PetscInt     n, first, *order;

  PetscFunctionBegin;
  PetscCall(CreatePoints(comm, N, d, N % 3, odd, &X));
  PetscCall(MatGetLocalSize(X, &n, NULL));
  PetscCall(MatGetOwnershipRange(X, &first, NULL));
  PetscCall(PetscMalloc1(n, &order));
  for (PetscInt i = 0; i < n; i++) order[i] = n - 1 - i;
  if (weights) {
    PetscCall(MatCreateVecs(X, NULL, &w));
    for (PetscInt i = first; i < first + n; i++) PetscCall(VecSetValue(w, i, 1 + i % 3, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(w));
    PetscCall(VecAssemblyEnd(w));
  }
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetStorage(km, storage));
  PetscCall(KMeansPointsCreate_Private(km, X, w, permute ? order : NULL, 0, NULL, &P));
  PetscCheck(!P.data.single == (storage == KMEANS_STORAGE_DOUBLE || (storage == KMEANS_STORAGE_AUTO && odd)), comm, PETSC_ERR_PLIB, "The points are stored in %s precision", P.data.single ? "single" : "double");
  PetscCall(CompareValues(&P, permute ? order : NULL, odd));
  PetscCall(CompareScales(comm, &P, N, weights, odd));
  PetscCall(KMeansPointsDestroy_Private(&P));
  PetscCall(KMeansDestroy(&km));
  PetscCall(PetscFree(order));
  PetscCall(VecDestroy(&w));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A value in the last row that is not finite, or that single precision does not hold. */
static PetscErrorCode CheckLast(MPI_Comm comm, PetscInt N, PetscScalar value)
{
  KMeans         km;
  Mat            X;
  KMeansStorage  storage;
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscCall(CreatePoints(comm, N, 3, 0, PETSC_FALSE, &X));
  PetscCall(MatSetValue(X, N - 1, 1, value, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = KMeansSetUp(km);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!err == !PetscIsInfOrNanScalar(value), comm, PETSC_ERR_PLIB, "The set-up returned %d for the value %g", (int)err, (double)PetscRealPart(value));
  PetscCall(KMeansGetStorage(km, &storage));
  PetscCheck(err || storage == KMEANS_STORAGE_DOUBLE, comm, PETSC_ERR_PLIB, "Points of which single precision cannot hold the last one are stored in it");
  PetscCall(KMeansDestroy(&km));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  MPI_Comm comm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  comm = PETSC_COMM_WORLD;
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(features); f++) {
    const PetscInt d = features[f];

    PetscCall(Check(comm, MANY / d, d, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, KMEANS_STORAGE_AUTO));
    PetscCall(Check(comm, 7, d, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, KMEANS_STORAGE_AUTO));
    PetscCall(Check(comm, 1, d, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE, KMEANS_STORAGE_SINGLE)); /* a rank without points */
  }
  PetscCall(Check(comm, MANY / 7, 7, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, KMEANS_STORAGE_AUTO));
  PetscCall(Check(comm, MANY / 8, 8, PETSC_TRUE, PETSC_FALSE, PETSC_TRUE, KMEANS_STORAGE_SINGLE));
  PetscCall(Check(comm, MANY / 2, 2, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, KMEANS_STORAGE_DOUBLE));
  PetscCall(PetscPrintf(comm, "values and scales are those of the matrix\n"));
  PetscCall(CheckLast(comm, MANY / 3, INFINITY));
  PetscCall(CheckLast(comm, MANY / 3, NAN));
  PetscCall(CheckLast(comm, MANY / 3, 1e100));
  PetscCall(CheckLast(comm, MANY / 3, 1e-310));
  PetscCall(CheckLast(comm, 10, NAN));
  PetscCall(PetscPrintf(comm, "the last value is checked\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     nsize: {{1 2 4}}
     suffix: 1

TEST*/
