/* Linear elasticity on a box of n^3 points, trilinear hexahedra, three unknowns at each point; one face is clamped. */
#include "bench/pcmatrices.h"
#include "gpucsrcompat.h"

#define POISSON 0.3

/* Gradients of the eight trilinear functions of the unit cube at a point. */
static void ElasticityGradients(const PetscReal at[3], PetscReal gradient[8][3])
{
  for (int a = 0; a < 8; a++) {
    for (int d = 0; d < 3; d++) {
      gradient[a][d] = 1;
      for (int e = 0; e < 3; e++) {
        const int far = a >> e & 1;

        gradient[a][d] *= e == d ? (far ? 1 : -1) : far ? at[e] : 1 - at[e];
      }
    }
  }
}

/* The stiffness of one element by Gauss' rule with 2 points in each direction. */
static void ElasticityElement(PetscScalar K[24 * 24])
{
  const PetscReal lambda = POISSON / ((1 + POISSON) * (1 - 2 * POISSON)), mu = 0.5 / (1 + POISSON), point[2] = {0.5 - 0.5 / PetscSqrtReal(3), 0.5 + 0.5 / PetscSqrtReal(3)};

  for (int k = 0; k < 24 * 24; k++) K[k] = 0;
  for (int q = 0; q < 8; q++) {
    const PetscReal at[3] = {point[q & 1], point[q >> 1 & 1], point[q >> 2]};
    PetscReal       g[8][3];

    ElasticityGradients(at, g);
    for (int a = 0; a < 8; a++) {
      for (int b = 0; b < 8; b++) {
        const PetscReal dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];

        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++) K[(3 * a + i) * 24 + 3 * b + j] += 0.125 * (lambda * g[a][i] * g[b][j] + mu * g[a][j] * g[b][i] + (i == j ? mu * dot : 0));
      }
    }
  }
}

PetscErrorCode PCMatrixCreateElasticity(PetscInt n, Mat *A)
{
  PetscScalar K[24 * 24];
  PetscInt   *clamped;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, 3 * n * n * n, 3 * n * n * n, 3 * n * n * n, 3 * n * n * n));
  PetscCall(MatSetBlockSize(*A, 3));
  PetscCall(MatSetType(*A, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*A, 81, NULL));
  ElasticityElement(K);
  for (PetscInt z = 0; z < n - 1; z++) {
    for (PetscInt y = 0; y < n - 1; y++) {
      for (PetscInt x = 0; x < n - 1; x++) {
        PetscInt node[8];

        for (int a = 0; a < 8; a++) node[a] = ((z + (a >> 2)) * n + y + (a >> 1 & 1)) * n + x + (a & 1);
        PetscCall(MatSetValuesBlocked(*A, 8, node, 8, node, K, ADD_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscMalloc1(3 * n * n, &clamped));
  for (PetscInt k = 0; k < 3 * n * n; k++) clamped[k] = k;
  PetscCall(MatZeroRowsColumns(*A, 3 * n * n, clamped, 1, NULL, NULL));
  PetscCall(PetscFree(clamped));
  PetscFunctionReturn(PETSC_SUCCESS);
}
