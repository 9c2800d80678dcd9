/* How fast LIBSVM text is read, and how much memory that takes beside the matrix.

   bench_load FILE [-mat_type T]: a CSV line of processor time and of the most that was resident, of the first rank */
static char help[] = "Reads a LIBSVM file and says how long that took and how much memory: bench_load FILE\n\n";

#include <gpucsr.h>
#include <petsctime.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "solvers/bmrm/libsvm.h"

static PetscErrorCode Usage(double *seconds, double *resident)
{
  struct rusage usage;

  PetscFunctionBegin;
  PetscCheck(!getrusage(RUSAGE_SELF, &usage), PETSC_COMM_SELF, PETSC_ERR_SYS, "getrusage() failed");
  *seconds  = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  *resident = 1024.0 * (double)usage.ru_maxrss;
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscCall(Usage(&seconds[0], &resident[0]));
  PetscCall(PetscTime(&begin));
  PetscCall(BMRMExamplesLoad(PETSC_COMM_WORLD, argv[1], &ex));
  PetscCall(Usage(&seconds[1], &resident[1]));
  matrix = (double)(ex.i[ex.m]) * (sizeof(PetscInt) + sizeof(PetscScalar)) + (double)ex.m * (sizeof(PetscInt) + sizeof(PetscReal)); /* and labels */
  PetscCall(BMRMExamplesCreateMat(&ex, PETSC_DECIDE, MATAIJ, &X));
  PetscCall(PetscTime(&end));
  PetscCall(Usage(&seconds[2], &resident[2]));
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
