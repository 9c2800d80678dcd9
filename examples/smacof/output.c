/* What is kept of a map: coordinates as text and in PETSc's binary format, the stress of each point. */
#include "smacof.h"
#include <string.h>

/* the name of the next point, or its number */
static const char *Name(const char **names, PetscInt i, char number[32])
{
  const char *name = *names;

  if (name) *names += strlen(name) + 1;
  else (void)snprintf(number, 32, "%" PetscInt_FMT, i);
  return name ? name : number;
}

/* a line of name (or number) and coordinates for each point, under a heading */
PetscErrorCode WriteCoordinates(MPI_Comm comm, PetscInt N, PetscInt dim, const double x[], const char names[], const char file[])
{
  GpAppOutput out;
  char        number[32];

  PetscFunctionBegin;
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    (void)fprintf(out.fp, "point");
    for (PetscInt c = 0; c < dim; c++) (void)fprintf(out.fp, ",x%" PetscInt_FMT, c + 1);
    (void)fputc('\n', out.fp);
    for (PetscInt i = 0; i < N; i++) {
      (void)fprintf(out.fp, "%s", Name(&names, i, number));
      for (PetscInt c = 0; c < dim; c++) (void)fprintf(out.fp, ",%.17g", x[(size_t)c * N + i]);
      (void)fputc('\n', out.fp);
    }
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a dense matrix of N rows for MatLoad() */
PetscErrorCode WriteBinary(MPI_Comm comm, PetscInt N, PetscInt dim, const double x[], const char file[])
{
  GpAppOutput out;

  PetscFunctionBegin;
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    PetscViewer viewer;
    Mat         X;

    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, N, dim, (PetscScalar *)x, &X));
    PetscCall(PetscViewerCreate(PETSC_COMM_SELF, &viewer));
    PetscCall(PetscViewerSetType(viewer, PETSCVIEWERBINARY));
    PetscCall(PetscViewerFileSetMode(viewer, FILE_MODE_WRITE));
    PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
    PetscCall(PetscViewerFileSetName(viewer, out.aside));
    PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_NATIVE)); /* else rows of a sparse matrix */
    PetscCall(MatView(X, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(MatDestroy(&X));
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* name, raw stress of a point's pairs, and its share of the whole */
PetscErrorCode WritePoints(const Scaler *S, const char file[])
{
  const PetscInt     N     = S->D->N;
  const char        *names = S->D->names;
  double             total = 0;
  const PetscScalar *stress;
  GpAppOutput        out;
  char               number[32];

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(S->best.stress, &stress));
  PetscCall(GpAppOutputOpen(S->D->comm, file, &out));
  for (PetscInt i = 0; i < N; i++) total += stress[i];
  if (out.fp) {
    (void)fprintf(out.fp, "point,stress,percent\n");
    for (PetscInt i = 0; i < N; i++) (void)fprintf(out.fp, "%s,%.17g,%.10g\n", Name(&names, i, number), stress[i], total > 0 ? 100 * stress[i] / total : 0);
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(VecRestoreArrayRead(S->best.stress, &stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}
