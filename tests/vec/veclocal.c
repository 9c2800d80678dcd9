static char help[] = "Local vectors of gpu vectors show the values of their original wherever these are, and all that is written through them.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petsc/private/petscimpl.h>
#include "tests/mat/refused.h"
#include "vec/gpuvecimpl.h"

#define LOCAL 12 /* entries of a rank */

typedef enum {
  ZERO, /* a new vector: nothing is stored */
  HOST,
  DEVICE,
  BOTH,
  WHERE
} Where; /* the memory that holds the current values of a gpu vector */

static PetscInt Differences = 0;

static PetscErrorCode Create(MPI_Comm comm, VecType type, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(comm, v));
  PetscCall(VecSetSizes(*v, LOCAL, PETSC_DETERMINE));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(Vec v, Where where)
{
  PetscScalar       *a;
  const PetscScalar *b;
  PetscMPIInt        rank;

  PetscFunctionBeginUser;
  if (where == ZERO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(VecGetArray(v, &a));
  for (int i = 0; i < LOCAL; i++) a[i] = 1 + i + 100 * rank;
  PetscCall(VecRestoreArray(v, &a));
  if (where == HOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScale(v, 0.5));
  if (where == DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(v, &b));
  PetscCall(VecRestoreArrayRead(v, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same(const char what[], Vec v, Vec expected)
{
  const PetscScalar *a, *b;
  PetscReal          norms[2];
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecNorm(v, NORM_2, &norms[0]));
  PetscCall(VecNorm(expected, NORM_2, &norms[1]));
  PetscCall(VecGetArrayRead(v, &a));
  PetscCall(VecGetArrayRead(expected, &b));
  for (PetscInt i = 0; i < n; i++)
    if (a[i] != b[i]) {
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: entry %" PetscInt_FMT " is %g, not %g\n", what, i, (double)a[i], (double)b[i]));
      Differences++;
      break;
    }
  if (PetscAbsReal(norms[0] - norms[1]) > 1e-13 * norms[1]) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: the norm is %g, not %g\n", what, (double)norms[0], (double)norms[1]));
    Differences++;
  }
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCall(VecRestoreArrayRead(expected, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- ways to use a local vector; all of them change all entries of w or none ---------------------------------------------------*/

static PetscErrorCode WriteArray(Vec w)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArray(w, &a));
  for (int i = 0; i < LOCAL; i++) a[i] = 3 * a[i] + i;
  PetscCall(VecRestoreArray(w, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReplaceArray(Vec w)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(w, &a));
  for (int i = 0; i < LOCAL; i++) a[i] = 20 - i;
  PetscCall(VecRestoreArrayWrite(w, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteDevice(Vec w)
{
  PetscFunctionBeginUser;
  PetscCall(VecScale(w, 3));
  PetscCall(VecShift(w, 0.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Set(Vec w)
{
  PetscFunctionBeginUser;
  PetscCall(VecSet(w, 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteValues(Vec w)
{
  PetscFunctionBeginUser;
  PetscCall(VecSetValue(w, 3, 9, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(w));
  PetscCall(VecAssemblyEnd(w));
  PetscCall(VecShift(w, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyAndSwap(Vec w)
{
  Vec u;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w, &u)); /* not a local vector of anything */
  PetscCall(VecCopy(w, u));
  PetscCall(VecShift(u, 2));
  PetscCall(VecSwap(u, w));
  PetscCall(VecAXPY(w, 2, u));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scatter(Vec w)
{
  Vec        u;
  IS         reversed, all;
  VecScatter scatter;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w, &u));
  PetscCall(VecCopy(w, u));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, LOCAL, LOCAL - 1, -1, &reversed));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, LOCAL, 0, 1, &all));
  PetscCall(VecScatterCreate(u, reversed, w, all, &scatter));
  PetscCall(VecScatterBegin(scatter, u, w, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, u, w, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterBegin(scatter, w, u, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter, w, u, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecAXPY(w, 1, u));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&reversed));
  PetscCall(ISDestroy(&all));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Subvector(Vec w)
{
  IS  is;
  Vec sub;

  PetscFunctionBeginUser;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 5, 4, 1, &is));
  PetscCall(VecGetSubVector(w, is, &sub));
  PetscCall(VecShift(sub, 3));
  PetscCall(VecRestoreSubVector(w, is, &sub));
  PetscCall(VecScale(w, 2));
  PetscCall(VecGetSubVector(w, is, &sub));
  PetscCall(VecSetValue(sub, 1, 17, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(sub));
  PetscCall(VecAssemblyEnd(sub));
  PetscCall(VecRestoreSubVector(w, is, &sub));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Nested(Vec w)
{
  Vec inner;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w, &inner));
  for (int round = 0; round < 2; round++) {
    PetscCall(VecGetLocalVector(w, inner));
    PetscCall(round ? WriteArray(inner) : WriteDevice(inner));
    PetscCall(VecRestoreLocalVector(w, inner));
    PetscCall(VecShift(w, 1));
  }
  PetscCall(VecDestroy(&inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*const Writes[])(Vec) = {WriteArray, ReplaceArray, WriteDevice, Set, WriteValues, CopyAndSwap, Scatter, Subvector, Nested};

/* Reads by two local vectors at a time.  The original and its state stay as they are. */
static PetscErrorCode Read(Vec v, Vec w, Vec expected)
{
  PetscObjectState before, after;
  Vec              second;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectStateGet((PetscObject)v, &before));
  PetscCall(VecDuplicate(w, &second));
  PetscCall(VecGetLocalVectorRead(v, w));
  PetscCall(VecGetLocalVectorRead(v, second));
  PetscCall(Same("read", w, expected));
  PetscCall(Same("second read", second, expected));
  PetscCall(VecRestoreLocalVectorRead(v, w));
  PetscCall(Same("read after a restore", second, expected));
  PetscCall(VecRestoreLocalVectorRead(v, second));
  PetscCall(PetscObjectStateGet((PetscObject)v, &after));
  PetscCheck(before == after, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A read access changed the object state of the vector");
  PetscCall(VecDestroy(&second));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v and w have the given types; the same is done to the standard vector plain. */
static PetscErrorCode TestTypes(VecType vtype, VecType wtype)
{
  PetscBool gpu;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(wtype, VECGPU, &gpu));
  for (Where where = ZERO; where < WHERE; where++)
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Writes); k++) {
      Vec       v, w, own, plain;
      PetscReal norm, got;

      PetscCall(Create(PETSC_COMM_WORLD, vtype, &v));
      PetscCall(Create(PETSC_COMM_SELF, wtype, &w));
      PetscCall(Create(PETSC_COMM_SELF, VECSTANDARD, &own));
      PetscCall(Create(PETSC_COMM_SELF, VECSTANDARD, &plain));
      PetscCall(Fill(v, where));
      PetscCall(Fill(plain, where));
      if (k % 2) PetscCall(VecSet(w, 7)); /* else w is new */
      PetscCall(VecSet(own, k % 2 ? 7 : 0));
      PetscCall(Read(v, w, plain));
      PetscCall(Same("the local vector's own values", w, own));
      for (int round = 0; round < 2; round++) {
        PetscCall(VecNorm(v, NORM_2, &norm)); /* PETSc caches it */
        PetscCall(VecGetLocalVector(v, w));
        PetscCall((*Writes[k])(w));
        PetscCall((*Writes[k])(plain));
        PetscCall(Same("the local vector", w, plain));
        PetscCall(VecRestoreLocalVector(v, w));
        PetscCall(VecGetLocalVectorRead(v, w));
        PetscCall(Same("the original", w, plain));
        PetscCall(VecRestoreLocalVectorRead(v, w));
        PetscCall(VecNorm(plain, NORM_2, &norm));
        norm *= norm;
        PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
        PetscCall(VecNorm(v, NORM_2, &got));
        PetscCheck(PetscAbsReal(got * got - norm) <= 1e-13 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The norm of the original is %g, not %g", (double)got, (double)PetscSqrtReal(norm));
        PetscCall(Same("the local vector's own values", w, own));
        if (gpu) PetscCall(VecShift(w, 1));
        if (gpu) PetscCall(VecShift(own, 1));
      }
      PetscCall(VecDestroy(&v));
      PetscCall(VecDestroy(&w));
      PetscCall(VecDestroy(&own));
      PetscCall(VecDestroy(&plain));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both vectors are used while the local vector is in use. */
static PetscErrorCode TestBothInUse(void)
{
  Vec       v, w, plain;
  PetscReal norms[2];
  PetscBool seq;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, VECGPU, &v));
  PetscCall(Create(PETSC_COMM_WORLD, VECSTANDARD, &plain));
  PetscCall(Fill(v, DEVICE));
  PetscCall(Fill(plain, DEVICE));
  PetscCall(VecCreateLocalVector(v, &w));
  PetscCall(PetscObjectTypeCompare((PetscObject)w, VECSEQGPU, &seq));
  PetscCheck(seq, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecCreateLocalVector() creates a vector of type %s", ((PetscObject)w)->type_name);
  PetscCall(VecGetLocalVector(v, w));
  for (int round = 0; round < 3; round++) {
    PetscScalar *a;

    PetscCall(VecShift(v, 1));
    PetscCall(VecShift(plain, 1));
    PetscCall(VecScale(w, 2));
    PetscCall(VecScale(plain, 2));
    PetscCall(VecNorm(v, NORM_2, &norms[0])); /* PETSc caches it */
    PetscCall(VecGetArray(w, &a));
    a[round] = 40;
    PetscCall(VecRestoreArray(w, &a));
    PetscCall(VecGetArray(plain, &a));
    a[round] = 40;
    PetscCall(VecRestoreArray(plain, &a));
    PetscCall(VecNorm(v, NORM_2, &norms[0]));
    PetscCall(VecNorm(plain, NORM_2, &norms[1]));
    PetscCheck(PetscAbsReal(norms[0] - norms[1]) < 1e-12 * norms[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "The norm is %g, not %g", (double)norms[0], (double)norms[1]);
  }
  PetscCall(VecRestoreLocalVector(v, w));
  PetscCall(Same("the original, used at the same time", v, plain));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Local vectors of a part of the entries, as those of several blocks; the other entries stay. */
static PetscErrorCode TestParts(void)
{
  const PetscInt start[] = {0, 5}, n[] = {5, 6};

  PetscFunctionBeginUser;
  for (Where where = ZERO; where < WHERE; where++)
    for (int way = 0; way < 2; way++) {
      Vec v, plain, part[2];

      PetscCall(Create(PETSC_COMM_WORLD, VECGPU, &v));
      PetscCall(Create(PETSC_COMM_WORLD, VECSTANDARD, &plain));
      PetscCall(Fill(v, where));
      PetscCall(Fill(plain, where));
      for (int k = 0; k < 2; k++) {
        PetscScalar *a;

        PetscCall(VecCreate(PETSC_COMM_SELF, &part[k]));
        PetscCall(VecSetSizes(part[k], n[k], n[k]));
        PetscCall(VecSetType(part[k], VECGPU));
        PetscCall(VecGPUBeginLocal_Private(v, start[k], part[k]));
        PetscCall(VecGetArray(plain, &a));
        for (PetscInt i = 0; i < n[k]; i++) a[start[k] + i] = 3 + k + (way == k) * i;
        PetscCall(VecRestoreArray(plain, &a));
        if (way == k) { /* on the host, then on the device */
          PetscCall(VecGetArray(part[k], &a));
          for (PetscInt i = 0; i < n[k]; i++) a[i] = 2 + k + i;
          PetscCall(VecRestoreArray(part[k], &a));
          PetscCall(VecShift(part[k], 1));
        } else PetscCall(VecSet(part[k], 3 + k));
      }
      PetscCall(Same("the original of two parts", v, plain));
      for (int k = 0; k < 2; k++) {
        PetscCall(VecGPUEndLocal_Private(part[k]));
        PetscCall(VecDestroy(&part[k]));
      }
      PetscCall(Same("the original after two parts", v, plain));
      PetscCall(VecDestroy(&v));
      PetscCall(VecDestroy(&plain));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A placed array receives what is written through the local vector. */
static PetscErrorCode TestPlaced(void)
{
  PetscScalar array[LOCAL];
  Vec         v, w, plain;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, VECGPU, &v));
  PetscCall(Create(PETSC_COMM_SELF, VECGPU, &w));
  PetscCall(Create(PETSC_COMM_WORLD, VECSTANDARD, &plain));
  PetscCall(Fill(v, DEVICE));
  PetscCall(Fill(plain, DEVICE));
  for (int i = 0; i < LOCAL; i++) array[i] = 50 + i;
  PetscCall(VecPlaceArray(v, array));
  PetscCall(VecGetLocalVector(v, w));
  PetscCall(VecScale(w, 3));
  PetscCall(VecRestoreLocalVector(v, w));
  PetscCall(VecResetArray(v));
  for (int i = 0; i < LOCAL; i++) PetscCheck(array[i] == 3 * (50 + i), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entry %d of the placed array is %g", i, (double)array[i]);
  PetscCall(Same("the original after VecResetArray()", v, plain));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The local vector has the owned entries of a ghosted vector; ghosts do not change. */
static PetscErrorCode TestGhosts(void)
{
#if GP_COMPAT_GHOSTS
  const PetscInt     ghosts[] = {0, 1};
  const PetscScalar *a;
  Vec                v, w, local;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecCreateGhost(PETSC_COMM_WORLD, LOCAL, PETSC_DETERMINE, 2, ghosts, &v));
  PetscCall(VecSetType(v, VECMPIGPU));
  PetscCall(VecSet(v, 2));
  PetscCall(VecGhostUpdateBegin(v, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGhostUpdateEnd(v, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecCreateLocalVector(v, &w));
  PetscCall(VecGetLocalVector(v, w));
  PetscCall(WriteDevice(w));
  PetscCall(WriteArray(w));
  PetscCall(WriteDevice(w));
  PetscCall(VecRestoreLocalVector(v, w));
  PetscCall(VecGhostGetLocalForm(v, &local));
  PetscCall(VecGetLocalSize(local, &n));
  PetscCheck(n == LOCAL + 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The local form has %" PetscInt_FMT " entries", n);
  PetscCall(VecGetArrayRead(local, &a));
  for (PetscInt i = 0; i < n; i++) PetscCheck(a[i] == (i < LOCAL ? 3 * (3 * 6.5 + i) + 0.5 : 2), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entry %" PetscInt_FMT " of the local form is %g", i, (double)a[i]);
  PetscCall(VecRestoreArrayRead(local, &a));
  PetscCall(VecGhostRestoreLocalForm(v, &local));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
#else
  PetscFunctionBeginUser;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors are destroyed, or change their type, before the local vector is restored. */
static PetscErrorCode TestDestroy(void)
{
  Vec v, w, u, plain;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_SELF, VECGPU, &v));
  PetscCall(Create(PETSC_COMM_SELF, VECGPU, &w));
  PetscCall(Create(PETSC_COMM_SELF, VECGPU, &u));
  PetscCall(Create(PETSC_COMM_SELF, VECSTANDARD, &plain));
  PetscCall(Fill(v, DEVICE));
  PetscCall(Fill(plain, DEVICE));
  PetscCall(VecGetLocalVector(v, w));
  PetscCall(VecShift(w, 1));
  PetscCall(VecShift(plain, 1));
  PetscCall(VecDestroy(&w));
  PetscCall(Same("the original after the end of its local vector", v, plain));
  PetscCall(VecGetLocalVector(v, u));
  PetscCall(VecShift(u, 1));
  PetscCall(VecShift(plain, 1));
  PetscCall(VecDestroy(&v)); /* u keeps it */
  PetscCall(Same("the local vector after the end of its original", u, plain));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRefused(void)
{
  PetscScalar array[LOCAL] = {0};
  Vec         v, w, other, plain;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, VECGPU, &v));
  PetscCall(Create(PETSC_COMM_WORLD, VECGPU, &other));
  PetscCall(Create(PETSC_COMM_SELF, VECGPU, &w));
  PetscCall(Create(PETSC_COMM_WORLD, VECSTANDARD, &plain));
  PetscCall(Fill(v, DEVICE));
  PetscCall(Fill(plain, DEVICE));
  Refused("cannot be its own local vector", VecGetLocalVector(v, v));
  Refused("not a local vector of the first one", VecRestoreLocalVector(v, w));
  PetscCall(VecGetLocalVector(v, w));
  Refused("in use as a local vector", VecGetLocalVector(v, w));
  Refused("in use as a local vector", VecGetLocalVectorRead(other, w));
  Refused("not a local vector of the first one", VecRestoreLocalVector(other, w));
  Refused("VecPlaceArray() on a vector with local vectors in use", VecPlaceArray(v, array));
  Refused("VecPlaceArray() on a local vector in use", VecPlaceArray(w, array));
  Refused("VecReplaceArray() on a vector with local vectors in use", VecReplaceArray(v, array));
  Refused("VecReplaceArray() on a local vector in use", VecReplaceArray(w, array));
  PetscCall(VecRestoreLocalVector(v, w));
  PetscCall(VecPlaceArray(w, array));
  Refused("VecPlaceArray() was called on the local vector", VecGetLocalVector(v, w));
  PetscCall(VecResetArray(w));
  PetscCall(VecPlaceArray(other, array));
  PetscCall(VecGetLocalVector(other, w));
  Refused("VecResetArray() on a vector with local vectors in use", VecResetArray(other));
  PetscCall(VecRestoreLocalVector(other, w));
  PetscCall(VecResetArray(other));
  PetscCall(Same("the vector after refused calls", v, plain));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&other));
  PetscCall(VecDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies of whole vectors on this rank so far. */
static PetscErrorCode Copies(PetscInt *copies)
{
  const char *const names[] = {"VecGPUUpload", "VecGPUDownload"};

  PetscFunctionBeginUser;
  *copies = 0;
  for (int k = 0; k < 2; k++) {
    PetscEventPerfInfo info;
    PetscLogEvent      event;

    PetscCall(PetscLogEventGetId(names[k], &event));
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
    *copies += (PetscInt)info.count;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations on the device copy nothing, and a value that both memories hold is not copied again. */
static PetscErrorCode TestCopies(void)
{
  Vec       x, y, xl, yl;
  PetscInt  before, after;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, VECGPU, &x));
  PetscCall(Create(PETSC_COMM_WORLD, VECGPU, &y));
  PetscCall(VecCreateLocalVector(x, &xl));
  PetscCall(VecCreateLocalVector(x, &yl));
  PetscCall(Fill(x, DEVICE));
  PetscCall(Copies(&before));
  for (int round = 0; round < 3; round++) {
    PetscCall(VecGetLocalVectorRead(x, xl));
    PetscCall(VecGetLocalVector(y, yl));
    PetscCall(VecAXPY(yl, 0.5, xl));
    PetscCall(VecRestoreLocalVectorRead(x, xl));
    PetscCall(VecRestoreLocalVector(y, yl));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(VecScale(y, 1 / norm));
  }
  PetscCall(Copies(&after));
  PetscCheck(after == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " copies of vectors whose values are on the device", after - before);
  PetscCall(Fill(x, HOST));
  PetscCall(Copies(&before));
  for (int round = 0; round < 2; round++) {
    PetscCall(VecGetLocalVectorRead(x, xl));
    PetscCall(VecCopy(xl, yl)); /* uploads x in the first round */
    PetscCall(VecRestoreLocalVectorRead(x, xl));
  }
  PetscCall(Copies(&after));
  PetscCheck(after - before <= 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " copies of a vector whose values were on the host", after - before);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&xl));
  PetscCall(VecDestroy(&yl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscLogDefaultBegin());
  PetscCall(TestTypes(VECGPU, VECGPU));
  PetscCall(TestTypes(VECGPU, VECSTANDARD));
  PetscCall(TestTypes(VECSTANDARD, VECGPU));
  PetscCall(TestBothInUse());
  PetscCall(TestParts());
  PetscCall(TestPlaced());
  PetscCall(TestGhosts());
  PetscCall(TestDestroy());
  PetscCall(TestRefused());
  PetscCall(TestCopies());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &Differences, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "local vectors: %s\n", Differences ? "FAILED" : "ok"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: local
      nsize: {{1 2 3}}
      args: -vec_gpu_separate {{0 1}}

TEST*/
