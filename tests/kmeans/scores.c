static char help[] = "KMeans: scores in single precision of every instruction set of this processor, beside double precision.\n\n";

#include <float.h>
#include <gpucsrcompat.h>
#include <petscsys.h>

#include "solvers/kmeans/screen/kmeansscores.c"

#define FEATURES 37
#define PART     20 /* features of the first of two calls */

/* The functions want vectors at multiples of 64 bytes. */
typedef struct {
  float   x[FEATURES * KMEANS_BLOCK], m[(FEATURES + 3) * KMEANS_TILE], score[KMEANS_TILE * KMEANS_BLOCK];
  float   least[KMEANS_BLOCK], second[KMEANS_BLOCK];
  double  norm[KMEANS_BLOCK], limit[KMEANS_BLOCK];
  int32_t label[KMEANS_BLOCK];
} Block;

static double Squared(double v)
{
  return v * v;
}

/* Feature j of point p. */
static float Value(const Block *B, int p, int j)
{
  const int count = j < PART ? PART : FEATURES - PART, from = j < PART ? 0 : PART * KMEANS_BLOCK;

  return B->x[from + (p / KMEANS_GROUP * count + j % PART) * KMEANS_GROUP + p % KMEANS_GROUP];
}

/* Scores of two blocks of features, against sums in double precision. */
static PetscErrorCode CheckScores(const char name[], const KMeansScoreKernels *K, Block *B)
{
  PetscFunctionBegin;
  for (int i = 0; i < FEATURES * KMEANS_BLOCK; i++) B->x[i] = (float)((i * 7919) % 1000) / 500 - 1;
  for (int i = 0; i < FEATURES * KMEANS_TILE; i++) B->m[i] = (float)((i * 104729) % 1000) / 500 - 1;
  K->Score(PART, B->x, B->m, 1, B->score);
  K->Score(FEATURES - PART, B->x + PART * KMEANS_BLOCK, B->m + PART * KMEANS_TILE, 0, B->score);
  for (int p = 0; p < KMEANS_BLOCK; p++) {
    for (int c = 0; c < KMEANS_TILE; c++) {
      const double score = B->score[c * KMEANS_BLOCK + p];
      double       sum   = 0;

      for (int j = 0; j < FEATURES; j++) sum += Squared((double)Value(B, p, j) - (double)B->m[j * KMEANS_TILE + c]);
      PetscCheck(fabs(score - sum) <= (FEATURES + 16) * 0x1p-24 * sum, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the score of point %d and centroid %d is %g, not %g", name, p, c, score, sum);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two tiles of scores with ties, infinite ones and NaN. */
static PetscErrorCode CheckReduce(const char name[], const KMeansScoreKernels *K, Block *B)
{
  PetscFunctionBegin;
  for (int p = 0; p < KMEANS_BLOCK; p++) {
    B->least[p] = B->second[p] = INFINITY;
    B->label[p]                = 0;
  }
  for (int t = 0; t < 2; t++) {
    for (int c = 0; c < KMEANS_TILE; c++)
      for (int p = 0; p < KMEANS_BLOCK; p++) B->score[c * KMEANS_BLOCK + p] = p == 5 ? NAN : p % 9 == 8 && c ? INFINITY : (float)((p * 13 + (4 * t + c) * 29) % 7);
    K->Reduce(t * KMEANS_TILE, B->score, B->least, B->second, B->label);
  }
  for (int p = 0; p < KMEANS_BLOCK; p++) {
    float least = INFINITY, second = INFINITY;
    int   label = 0;

    for (int c = 0; c < 2 * KMEANS_TILE && p != 5; c++) {
      const float score = p % 9 == 8 && c % KMEANS_TILE ? INFINITY : (float)((p * 13 + c * 29) % 7);

      if (score < least) {
        second = least;
        least  = score;
        label  = c;
      } else if (score < second) second = score;
    }
    PetscCheck(B->least[p] == least && B->second[p] == second && B->label[p] == label, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: point %d: least %g, second %g, label %d, not %g, %g, %d", name, p, (double)B->least[p], (double)B->second[p],
               (int)B->label[p], (double)least, (double)second, label);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The limit is above the least score, close to it, and infinite for scores that overflow. */
static PetscErrorCode CheckLimit(const char name[], const KMeansScoreKernels *K, Block *B)
{
  const KMeansLimits limits = {.grow = 1 + 2 * 25 * 0x1p-24, .unit = 0x1p-24, .score = 9 * 0x1p-124, .coordinate = 3 * 0x1p-124, .definition = 1 + 75 * 0x1p-52, .underflow = 3 * 0x1p-500};

  PetscFunctionBegin;
  for (int p = 0; p < KMEANS_BLOCK; p++) {
    B->least[p] = p ? (float)p : INFINITY;
    B->norm[p]  = 2 * sqrt(p);
  }
  K->Limit(&limits, B->least, B->norm, B->limit);
  PetscCheck(B->limit[0] > DBL_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the limit of an infinite score is %g", name, B->limit[0]);
  for (int p = 1; p < KMEANS_BLOCK; p++) {
    const double m = 2 * limits.unit * B->norm[p], r = sqrt(p * limits.grow) + m + limits.unit * sqrt(p), T = Squared(r + m + 3 * limits.unit * r) * limits.grow;

    PetscCheck(B->limit[p] >= T && B->limit[p] <= T * (1 + 0x1p-20), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the limit of point %d is %.17g, not a little above %.17g", name, p, B->limit[p], T);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const char name[], const KMeansScoreKernels *K)
{
  Block *B;

  PetscFunctionBegin;
  PetscCheck(!posix_memalign((void **)&B, 64, sizeof(*B)), PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of memory");
  PetscCall(CheckScores(name, K, B));
  PetscCall(CheckReduce(name, K, B));
  PetscCall(CheckLimit(name, K, B));
  free(B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Check("baseline", &KMeansKernels_Baseline));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) PetscCall(Check("AVX2", &KMeansKernels_AVX2));
  if (__builtin_cpu_supports("avx512f")) PetscCall(Check("AVX-512", &KMeansKernels_AVX512));
#endif
  PetscCall(Check("selected", KMeansGetScoreKernels()));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "scores within their bounds\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:

TEST*/
