/* Output of a map: coordinates as a table and in PETSc's binary format, and the stress of each point. */
#include "smacof.h"
#include "app/report/appescape.h"
#include <string.h>

/* Writes the name of point i, or its number if there are no names, as a field of CSV, and advances *names. */
static void WriteName(FILE *fp, const char **names, PetscInt i)
{
  if (*names) {
    GpAppWriteCSV(fp, *names);
    *names += strlen(*names) + 1;
  } else (void)fprintf(fp, "%" PetscInt_FMT, i);
}

/* Writes a heading, then a line with name or number and coordinates for each point. */
PetscErrorCode WriteCoordinates(MPI_Comm comm, PetscInt dim, Vec v, const char names[], const char file[])
{
  const PetscScalar *x;
  PetscInt           N;
  GpAppOutput        out;

  PetscFunctionBegin;
  PetscCall(VecGetSize(v, &N));
  N /= dim;
  PetscCall(VecGetArrayRead(v, &x));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    (void)fprintf(out.fp, "point");
    for (PetscInt c = 0; c < dim; c++) (void)fprintf(out.fp, ",x%" PetscInt_FMT, c + 1);
    (void)fputc('\n', out.fp);
    for (PetscInt i = 0; i < N; i++) {
      WriteName(out.fp, &names, i);
      for (PetscInt c = 0; c < dim; c++) (void)fprintf(out.fp, ",%.17g", x[(size_t)c * N + i]);
      (void)fputc('\n', out.fp);
    }
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(VecRestoreArrayRead(v, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a dense matrix with a row for each point, for MatLoad(). */
PetscErrorCode WriteBinary(MPI_Comm comm, PetscInt dim, Vec v, const char file[])
{
  PetscInt           header[] = {MAT_FILE_CLASSID, 0, dim, MATRIX_BINARY_FORMAT_DENSE}, N;
  const PetscScalar *x;
  GpAppOutput        out;
  PetscScalar       *rows;
  PetscMPIInt        rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(VecGetSize(v, &N));
  N /= dim;
  header[1] = N;
  PetscCall(PetscMalloc1((size_t)N * dim, &rows));
  PetscCall(VecGetArrayRead(v, &x));
  for (PetscInt i = 0; i < N; i++) /* the format stores rows, x holds columns */
    for (PetscInt c = 0; c < dim; c++) rows[(size_t)i * dim + c] = x[(size_t)c * N + i];
  PetscCall(VecRestoreArrayRead(v, &x));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  PetscCall(GpAppOutputBinary(&out, header, rank ? 0 : 4, PETSC_INT));
  PetscCall(GpAppOutputBinary(&out, rows, rank ? 0 : N * dim, PETSC_SCALAR));
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes name, raw stress, and share of the total stress in percent for each point. */
PetscErrorCode WritePoints(SMACOF s, const char names[], const char file[])
{
  const PetscScalar *stress;
  double             total = 0;
  PetscInt           N;
  Vec                v;
  GpAppOutput        out;

  PetscFunctionBegin;
  PetscCall(SMACOFGetPointStress(s, &v));
  PetscCall(VecGetSize(v, &N));
  PetscCall(VecGetArrayRead(v, &stress));
  PetscCall(GpAppOutputOpen(PetscObjectComm((PetscObject)s), file, &out));
  for (PetscInt i = 0; i < N; i++) total += stress[i];
  if (out.fp) {
    (void)fprintf(out.fp, "point,stress,percent\n");
    for (PetscInt i = 0; i < N; i++) {
      WriteName(out.fp, &names, i);
      (void)fprintf(out.fp, ",%.17g,%.10g\n", stress[i], total > 0 ? 100 * stress[i] / total : 0);
    }
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(VecRestoreArrayRead(v, &stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}
