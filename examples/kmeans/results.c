/* Labels and centroids, as text and in PETSc's binary format. */
#include "kmeansrun.h"
#include "app/output/appoutput.h"
#include "app/report/appescape.h"
#include <petscis.h>
#include <string.h>

/* Counts the points of each cluster on all ranks. */
PetscErrorCode KMeansCountPoints(KMeansRun *run)
{
  IS              labels;
  const PetscInt *label;
  PetscInt        n;
  PetscMPIInt     count;
  Mat             M;

  PetscFunctionBegin;
  PetscCall(KMeansGetCentroids(run->km, &M));
  PetscCall(MatGetSize(M, &run->k, NULL));
  PetscCall(MatDestroy(&M));
  PetscCall(PetscMPIIntCast(run->k, &count));
  PetscCall(PetscCalloc1(run->k, &run->size));
  PetscCall(KMeansGetLabels(run->km, &labels));
  PetscCall(ISGetLocalSize(labels, &n));
  PetscCall(ISGetIndices(labels, &label));
  for (PetscInt i = 0; i < n; i++) run->size[label[i]]++;
  PetscCall(ISRestoreIndices(labels, &label));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, run->size, count, MPIU_INT64, MPI_SUM, run->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the cluster of each point, under its name or number. */
PetscErrorCode KMeansWriteLabels(MPI_Comm comm, IS local, const char name[], const char file[])
{
  IS              all;
  const PetscInt *label;
  PetscInt        n;
  GpAppOutput     out;

  PetscFunctionBegin;
  PetscCall(ISAllGather(local, &all));
  PetscCall(ISGetSize(all, &n));
  PetscCall(ISGetIndices(all, &label));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    (void)fprintf(out.fp, "point,cluster\n");
    for (PetscInt i = 0; i < n; i++) {
      if (name) {
        GpAppWriteCSV(out.fp, name);
        name += strlen(name) + 1;
      } else (void)fprintf(out.fp, "%" PetscInt_FMT, i);
      (void)fprintf(out.fp, ",%" PetscInt_FMT "\n", label[i]);
    }
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(ISRestoreIndices(all, &label));
  PetscCall(ISDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes an index set for ISLoad(). */
PetscErrorCode KMeansWriteLabelsBinary(MPI_Comm comm, IS labels, const char file[])
{
  PetscInt        header[] = {IS_FILE_CLASSID, 0}, n;
  const PetscInt *label;
  GpAppOutput     out;
  PetscMPIInt     rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(ISGetSize(labels, &header[1]));
  PetscCall(ISGetLocalSize(labels, &n));
  PetscCall(GpAppOutputOpen(comm, file, &out));
  PetscCall(GpAppOutputBinary(&out, header, rank ? 0 : 2, PETSC_INT));
  PetscCall(ISGetIndices(labels, &label));
  PetscCall(GpAppOutputBinary(&out, label, n, PETSC_INT));
  PetscCall(ISRestoreIndices(labels, &label));
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the centroids row by row: row[k][d]. The caller frees it. */
static PetscErrorCode KMeansCopyCentroids(KMeans km, PetscInt *k, PetscInt *d, PetscScalar **row)
{
  Mat                M;
  const PetscScalar *m;
  PetscInt           lda;

  PetscFunctionBegin;
  PetscCall(KMeansGetCentroids(km, &M));
  PetscCall(MatGetSize(M, k, d));
  PetscCall(MatDenseGetLDA(M, &lda));
  PetscCall(PetscMalloc1((size_t)*k * *d, row));
  PetscCall(MatDenseGetArrayRead(M, &m));
  for (PetscInt c = 0; c < *k; c++)
    for (PetscInt j = 0; j < *d; j++) (*row)[(size_t)c * *d + j] = m[c + (size_t)j * lda];
  PetscCall(MatDenseRestoreArrayRead(M, &m));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the centroids as a table. Its headings are those of the points, or x0, x1, ... */
PetscErrorCode KMeansWriteCentroids(const KMeansRun *run, const char file[])
{
  const char  *heading = run->points.headings;
  PetscScalar *m;
  PetscInt     k, d;
  GpAppOutput  out;

  PetscFunctionBegin;
  PetscCall(KMeansCopyCentroids(run->km, &k, &d, &m));
  PetscCall(GpAppOutputOpen(run->comm, file, &out));
  if (out.fp) {
    for (PetscInt j = 0; j < d; j++) {
      if (j) (void)fputc(',', out.fp);
      if (heading) {
        GpAppWriteCSV(out.fp, heading);
        heading += strlen(heading) + 1;
      } else (void)fprintf(out.fp, "x%" PetscInt_FMT, j);
    }
    (void)fputc('\n', out.fp);
    for (PetscInt c = 0; c < k; c++)
      for (PetscInt j = 0; j < d; j++) (void)fprintf(out.fp, "%s%.17g%s", j ? "," : "", m[(size_t)c * d + j], j < d - 1 ? "" : "\n");
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the centroids as a dense matrix for MatLoad(). */
PetscErrorCode KMeansWriteCentroidsBinary(const KMeansRun *run, const char file[])
{
  PetscInt     k, d;
  PetscScalar *m;
  GpAppOutput  out;
  PetscMPIInt  rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(run->comm, &rank));
  PetscCall(KMeansCopyCentroids(run->km, &k, &d, &m));
  PetscCall(GpAppOutputOpen(run->comm, file, &out));
  {
    const PetscInt header[] = {MAT_FILE_CLASSID, k, d, MATRIX_BINARY_FORMAT_DENSE};

    PetscCall(GpAppOutputBinary(&out, header, rank ? 0 : 4, PETSC_INT));
  }
  for (PetscInt c = 0; c < k; c++) PetscCall(GpAppOutputBinary(&out, m + (size_t)c * d, rank ? 0 : d, PETSC_SCALAR));
  PetscCall(GpAppOutputCommit(&out));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}
