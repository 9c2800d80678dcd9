/* Measures the rate of reading LIBSVM text, and the memory that the reader needs in addition to the matrix.

   bench_load FILE [-mat_type T]: a CSV line with the processor time and the maximum resident memory of the first rank */
static char help[] = "Reads a LIBSVM file and says how long that took and how much memory: bench_load FILE\n\n";

#include "bmrm/loadcost.h"
#include <gpucsr.h>
#include <petsctime.h>
#include <string.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
  BMRMExamples   ex;
  Mat            X;
  Vec            y;
  double         seconds[3], resident[3], matrix;
  PetscLogDouble begin, end;
  struct stat    st;
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCheck(argc > 1 && !stat(argv[1], &st), PETSC_COMM_WORLD, PETSC_ERR_USER, "Usage: bench_load FILE");
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(LoadUsage(&seconds[0], &resident[0]));
  PetscCall(PetscTime(&begin));
  PetscCall(BMRMExamplesLoad(PETSC_COMM_WORLD, argv[1], &ex));
  PetscCall(LoadUsage(&seconds[1], &resident[1]));
  matrix = LoadedBytes(&ex);
  PetscCall(BMRMExamplesCreateMat(&ex, PETSC_DECIDE, MATAIJ, &X));
  PetscCall(PetscTime(&end));
  PetscCall(LoadUsage(&seconds[2], &resident[2]));
  PetscCall(BMRMExamplesCreateLabels(&ex, 0, NULL, PETSC_FALSE, X, &y));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "file,ranks,bytes,entries,cpu_parse_s,cpu_matrix_s,wall_s,megabytes_per_cpu_s,resident_per_matrix\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s,%d,%.0f,%" PetscInt64_FMT ",%.3f,%.3f,%.3f,%.0f,%.3f\n", strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1], size, (double)st.st_size, ex.nnz, seconds[1] - seconds[0], seconds[2] - seconds[1],
                        end - begin, 1e-6 * (double)st.st_size / size / (seconds[2] - seconds[0]), (resident[2] - resident[0]) / matrix));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&X));
  PetscCall(BMRMExamplesDestroy(&ex));
  PetscCall(PetscFinalize());
  return 0;
}
