static char help[] = "KMeans: assignments by scores in single precision, beside the definition, on points that such scores cannot tell apart.\n\n\
  -every n : tests one of n cases\n\n";

#include <gpucsr.h>
#include <gpucsrcompat.h>
#include <gpucsrkmeans.h>

/* Points of one case: value(i, j) of point i and feature j. Centroid c starts at value(n + c, j). */
typedef struct {
  const char *name;
  PetscInt    n, d, k;
  PetscReal (*value)(PetscInt, PetscInt);
  PetscBool rechecks; /* more than a tenth of the points have several candidates; else less than that */
} Case;

/* An assignment, the largest number of features that it supports, and whether its scores in single precision are those of centred and scaled points. */
typedef struct {
  const char *name;
  PetscInt    features;
  PetscBool   centred;
} Assign;

/* A number in [0, 1): the fraction of a multiple of an irrational number. */
static PetscReal Fraction(PetscInt i, PetscInt j)
{
  const PetscReal v = (PetscReal)(i + 1) * 0.6180339887498949 + (PetscReal)((i + 3) * (j + 1) % 1009) * 0.4142135623730951;

  return v - PetscFloorReal(v);
}

static PetscReal Ordinary(PetscInt i, PetscInt j)
{
  return Fraction(i, j) + 3 * (i % 5);
}

static PetscReal Grid(PetscInt i, PetscInt j)
{
  return (PetscReal)((i * 7 + j * 3 + (i * j) % 5) % 4);
}

/* Pairs of centroids differ by less than single precision resolves. */
static PetscReal Near(PetscInt i, PetscInt j)
{
  return Fraction(i / 2, j) + (i % 2 ? 1e-11 * (j + 1) : 0);
}

/* All centroids and points are equal but for the last bits of double precision. */
static PetscReal LastBits(PetscInt i, PetscInt j)
{
  return 1 + (PetscReal)((i * 31 + j * 17) % 64) * 0x1p-50;
}

static PetscReal Constant(PetscInt i, PetscInt j)
{
  return j % 3 ? 12345.678 : Ordinary(i, j);
}

static PetscReal Far(PetscInt i, PetscInt j)
{
  return 1e6 + 1e-3 * Ordinary(i, j);
}

static PetscReal FarSingle(PetscInt i, PetscInt j)
{
  return (float)(1e6 + Ordinary(i, j));
}

static PetscReal Huge(PetscInt i, PetscInt j)
{
  return 1e30 * Ordinary(i, j);
}

static PetscReal HugeSingle(PetscInt i, PetscInt j)
{
  return (float)(2e37 * (Ordinary(i, j) - 6));
}

static PetscReal Largest(PetscInt i, PetscInt j)
{
  return 1e145 * (Ordinary(i, j) - 6);
}

static PetscReal Tiny(PetscInt i, PetscInt j)
{
  return 1e-30 * Ordinary(i, j);
}

static PetscReal Subnormal(PetscInt i, PetscInt j)
{
  return (float)(1e-40 * Ordinary(i, j));
}

/* Squares of differences underflow in double precision. */
static PetscReal Underflow(PetscInt i, PetscInt j)
{
  return 1e-140 + 1e-156 * Ordinary(i, j) + (i ? 0 : 1e-100);
}

/* A few points lie far outside. */
static PetscReal Outliers(PetscInt i, PetscInt j)
{
  return Ordinary(i, j) * (i % 50 ? 1 : 1e7);
}

/* Some points are so far outside that the sums of clusters lose all other points. */
static PetscReal Beyond(PetscInt i, PetscInt j)
{
  return Ordinary(i, j) * (i % 50 ? 1 : 1e60);
}

/* Features of very different sizes, and a far centroid. */
static PetscReal Scales(PetscInt i, PetscInt j)
{
  return Fraction(i, j) * PetscPowReal(10, (PetscReal)(j % 9)) + (i % 41 ? 0 : 1e9);
}

/* Sets *is to whether the option -gpucsr_device is given with this value. */
static PetscErrorCode IsDevice(const char value[], PetscBool *is)
{
  char device[16];

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-gpucsr_device", device, sizeof(device), is));
  if (*is) PetscCall(PetscStrcmp(device, value, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(MPI_Comm comm, const Case *test, PetscInt rows, PetscInt from, Mat *X)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreateDense(comm, PETSC_DECIDE, PETSC_DECIDE, rows, test->d, NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < test->d; j++) PetscCall(MatSetValue(*X, i, j, test->value(from + i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Three iterations by an assignment. `rechecked` is relative to the number of points. */
static PetscErrorCode Solve(MPI_Comm comm, const Case *test, Mat X, Mat M, const char assign[], KMeansStorage storage, PetscReal *inertia, Mat *centroids, IS *labels, PetscReal *rechecked)
{
  KMeans     km;
  PetscInt64 distances, again;
  PetscInt   it;

  PetscFunctionBegin;
  PetscCall(KMeansCreate(comm, &km));
  PetscCall(KMeansSetPoints(km, X));
  PetscCall(KMeansSetClusters(km, test->k));
  PetscCall(KMeansSetStartCentroids(km, M));
  PetscCall(KMeansSetEmpty(km, KMEANS_EMPTY_KEEP));
  PetscCall(KMeansSetTolerances(km, 0, 0, 3));
  PetscCall(KMeansSetAssign(km, assign));
  PetscCall(KMeansSetStorage(km, storage));
  PetscCall(KMeansSetFromOptions(km)); /* -kmeans_monitor: on a GPU the host takes part in each iteration */
  PetscCall(KMeansSolve(km));
  PetscCall(KMeansGetInertia(km, inertia));
  PetscCall(KMeansGetCentroids(km, centroids));
  PetscCall(KMeansGetLabels(km, labels));
  PetscCall(PetscObjectReference((PetscObject)*labels));
  PetscCall(KMeansGetDistances(km, &distances, &again));
  PetscCall(KMeansGetIterationNumber(km, &it));
  *rechecked = (PetscReal)again / (PetscReal)(test->n * (it + 1));
  PetscCall(KMeansDestroy(&km));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares assignments with the definition, for one storage of the points. only: name of the only assignment to compare, or empty. A GPU has wider bounds on
   the rounding error, so that it may evaluate more distances again. */
static PetscErrorCode CompareStored(MPI_Comm comm, const Case *test, Mat X, Mat M, const Assign assigns[], PetscInt nassigns, const char only[], KMeansStorage storage)
{
  Mat       expected;
  IS        label;
  PetscReal total, rechecked = 0;
  PetscBool host;

  PetscFunctionBegin;
  PetscCall(IsDevice("host", &host));
  PetscCall(Solve(comm, test, X, M, "brute", storage, &total, &expected, &label, &rechecked));
  for (PetscInt a = 0; a < nassigns; a++) {
    Mat       centroids;
    IS        labels;
    PetscReal inertia;
    PetscBool same, bits;

    if (test->d > assigns[a].features || (only[0] && strcmp(only, assigns[a].name))) continue;
    PetscCall(Solve(comm, test, X, M, assigns[a].name, storage, &inertia, &centroids, &labels, &rechecked));
    PetscCall(ISEqual(labels, label, &same));
    PetscCall(MatEqual(centroids, expected, &bits));
    PetscCheck(same && bits && inertia == total, comm, PETSC_ERR_PLIB, "%s, %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " clusters, %s: %s has %s labels, %s centroids and the inertia %.17g, not %.17g", test->name, test->n, test->d,
               test->k, KMeansStorages[storage], assigns[a].name, same ? "the same" : "other", bits ? "the same" : "other", (double)inertia, (double)total);
    if (assigns[a].centred && (host || test->rechecks) && storage == KMEANS_STORAGE_AUTO && test->k > 1 && test->n > test->k)
      PetscCheck((PetscBool)(rechecked > 0.1) == test->rechecks, comm, PETSC_ERR_PLIB, "%s: %s evaluates %g distances of a point again", test->name, assigns[a].name, (double)rechecked);
    if (host && test->value == Ordinary && test->k > 1 && test->n > test->k)
      PetscCheck(rechecked < 0.1, comm, PETSC_ERR_PLIB, "%s, %s: %s evaluates %g distances of a point again", test->name, KMeansStorages[storage], assigns[a].name, (double)rechecked);
    if (test->value == Outliers && assigns[a].centred && test->d > 32) /* far centroids do not widen the bounds of other points */
      PetscCheck(rechecked < 1, comm, PETSC_ERR_PLIB, "%s, %s: %s evaluates %g distances of a point again", test->name, KMeansStorages[storage], assigns[a].name, (double)rechecked);
    PetscCall(ISDestroy(&labels));
    PetscCall(MatDestroy(&centroids));
  }
  PetscCall(ISDestroy(&label));
  PetscCall(MatDestroy(&expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(MPI_Comm comm, const Case *test, const Assign assigns[], PetscInt nassigns, const char only[], PetscBool quiet)
{
  Mat X, M;

  PetscFunctionBegin;
  PetscCall(CreateMatrix(comm, test, test->n, 0, &X));
  PetscCall(CreateMatrix(PETSC_COMM_SELF, test, test->k, test->n, &M));
  PetscCall(CompareStored(comm, test, X, M, assigns, nassigns, only, KMEANS_STORAGE_AUTO));
  if (PetscAbsReal(test->value(0, 0)) < 1e38 || test->value == HugeSingle) PetscCall(CompareStored(comm, test, X, M, assigns, nassigns, only, KMEANS_STORAGE_SINGLE));
  if (!quiet) PetscCall(PetscPrintf(comm, "%s, %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " clusters: equal\n", test->name, test->n, test->d, test->k));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Case cases[] = {{"ordinary", 500, 9, 20, Ordinary, PETSC_FALSE},
                        {"ordinary", 257, 1, 3, Ordinary, PETSC_FALSE},
                        {"ordinary", 255, 31, 7, Ordinary, PETSC_FALSE},
                        {"ordinary", 128, 32, 5, Ordinary, PETSC_FALSE},
                        {"ordinary", 300, 32, 70, Ordinary, PETSC_FALSE},
                        {"ordinary", 129, 33, 6, Ordinary, PETSC_FALSE},
                        {"ordinary", 131, 256, 9, Ordinary, PETSC_FALSE},
                        {"ordinary", 130, 603, 10, Ordinary, PETSC_FALSE},
                        {"ordinary", 257, 160, 140, Ordinary, PETSC_FALSE},
                        {"one cluster", 100, 5, 1, Ordinary, PETSC_FALSE},
                        {"a cluster for each", 37, 5, 37, Ordinary, PETSC_FALSE},
                        {"one point", 1, 3, 1, Ordinary, PETSC_FALSE},
                        {"grid with ties", 400, 3, 30, Grid, PETSC_TRUE},
                        {"grid with ties", 400, 40, 30, Grid, PETSC_TRUE},
                        {"near centroids", 400, 6, 24, Near, PETSC_TRUE},
                        {"near centroids", 300, 300, 24, Near, PETSC_TRUE},
                        {"last bits", 200, 4, 12, LastBits, PETSC_FALSE},
                        {"constant features", 300, 10, 8, Constant, PETSC_FALSE},
                        {"far from the origin", 300, 7, 11, Far, PETSC_FALSE},
                        {"far, single", 300, 7, 11, FarSingle, PETSC_FALSE},
                        {"huge", 300, 7, 11, Huge, PETSC_FALSE},
                        {"huge, single", 300, 7, 11, HugeSingle, PETSC_FALSE},
                        {"largest", 300, 7, 11, Largest, PETSC_FALSE},
                        {"tiny", 300, 7, 11, Tiny, PETSC_FALSE},
                        {"subnormal, single", 300, 7, 11, Subnormal, PETSC_FALSE},
                        {"underflow of squares", 300, 7, 11, Underflow, PETSC_TRUE},
                        {"outliers", 300, 7, 11, Outliers, PETSC_FALSE},
                        {"outliers", 600, 40, 70, Outliers, PETSC_FALSE},
                        {"beyond single", 300, 7, 11, Beyond, PETSC_TRUE},
                        {"features of all sizes", 400, 18, 13, Scales, PETSC_FALSE},
                        {"few clusters", 5000, 2, 16, Ordinary, PETSC_FALSE},
                        {"few clusters", 5001, 4, 10, Ordinary, PETSC_FALSE},
                        {"few clusters", 3001, 6, 15, Ordinary, PETSC_FALSE},
                        {"few clusters", 3000, 8, 2, Ordinary, PETSC_FALSE},
                        {"few points", 5000, 8, 100, Ordinary, PETSC_FALSE},
                        {"grid with ties", 400, 2, 12, Grid, PETSC_TRUE},
                        {"near centroids", 400, 8, 16, Near, PETSC_TRUE},
                        {"last bits", 200, 2, 12, LastBits, PETSC_FALSE},
                        {"outliers", 300, 4, 11, Outliers, PETSC_FALSE},
                        {"huge, single", 300, 2, 11, HugeSingle, PETSC_FALSE},
                        {"subnormal, single", 300, 4, 16, Subnormal, PETSC_FALSE}};
  const Case many    = {"many points", 600000, 4, 40, Ordinary, PETSC_FALSE}; /* on a GPU only, where kernels depend on the number of points */

  const Assign assigns[] = {{"tiled", 1000, PETSC_TRUE},      {"tensor", 1000, PETSC_TRUE},        {"auto", 1000, PETSC_TRUE},   {"direct", 32, PETSC_TRUE},       {"naive", 1000, PETSC_FALSE},
                            {"localpoints", 32, PETSC_FALSE}, {"localcentroids", 32, PETSC_FALSE}, {"columns", 32, PETSC_FALSE}, {"localcolumns", 32, PETSC_FALSE}};
  char         only[32]  = "";
  PetscInt     every     = 1;
  PetscBool    cuda;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-assign", only, sizeof(only), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c += (size_t)every) PetscCall(Compare(PETSC_COMM_WORLD, &cases[c], assigns, PETSC_STATIC_ARRAY_LENGTH(assigns), only, PETSC_FALSE));
  PetscCall(IsDevice("cuda", &cuda));
  if (cuda && every == 1) PetscCall(Compare(PETSC_COMM_WORLD, &many, assigns, PETSC_STATIC_ARRAY_LENGTH(assigns), only, PETSC_TRUE));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     nsize: {{1 3}}

TEST*/
