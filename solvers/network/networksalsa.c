/* Measure salsa: stationary distributions of a random walk that follows a link backwards and then a link forwards (authorities), or the reverse (hubs).

   Let s be the total weight of the links into a node. The authority chain goes from node j back to i with probability L(j,i) / s(j), and on to k in
   proportion to L(k,i). A component is here a set of nodes that the chain connects. The chain is reversible, so that its stationary distribution within a
   component is proportional to s. The walk starts with equal probability at every node with incoming links. Therefore the share of a component in the total is
   its share of these nodes. The same holds for hubs and outgoing links. R. Lempel, S. Moran, "SALSA: the stochastic approach for link-structure analysis", 2001. */
#include "networkimpl.h"

/* Computes the authorities, or the hubs. The score of a node is its total weight `strength`, divided by that of its component, times the share of the component
   in the nodes that have links. */
static PetscErrorCode NetworkSALSAScore(Network nw, const PetscInt label[], Vec strength, Vec x)
{
  const PetscScalar *s;
  PetscScalar       *a;
  PetscReal         *one, *sum[2], *mine;
  PetscLayout        layout;
  PetscInt          *from;
  PetscSF            sf;
  PetscInt64         local = 0, all;

  PetscFunctionBegin;
  PetscCall(PetscMalloc5(nw->n, &one, nw->n, &sum[0], nw->n, &sum[1], nw->n, &mine, nw->n, &from));
  PetscCall(VecGetArrayRead(strength, &s));
  for (PetscInt k = 0; k < nw->n; k++) {
    one[k]  = s[k] > 0;
    from[k] = label[k] < nw->N ? label[k] : -1;
    local += s[k] > 0;
  }
  PetscCallMPI(MPI_Allreduce(&local, &all, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)nw)));
  PetscCall(NetworkSumByLabel_Private(nw, label, 2, (const PetscReal *const[]){s, one}, sum));
  for (PetscInt k = 0; k < nw->n; k++) sum[0][k] = sum[0][k] > 0 ? sum[1][k] / sum[0][k] / (PetscReal)all : 0;
  PetscCall(MatGetLayouts(nw->links, &layout, NULL));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)nw), &sf));
  for (PetscInt k = 0; k < nw->n; k++)
    if (from[k] < 0) from[k] = nw->first + k; /* a node without links, whose score is 0 whatever it receives */
  PetscCall(PetscSFSetGraphLayout(sf, layout, nw->n, NULL, PETSC_OWN_POINTER, from));
  PetscCall(PetscSFBcastBegin(sf, MPIU_REAL, sum[0], mine, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_REAL, sum[0], mine, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt k = 0; k < nw->n; k++) a[k] = s[k] * mine[k];
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscCall(VecRestoreArrayRead(strength, &s));
  PetscCall(PetscFree5(one, sum[0], sum[1], mine, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = x / s, 0 where s is 0. */
static PetscErrorCode NetworkSALSADivide(Network nw, Vec x, Vec s, Vec y)
{
  const PetscScalar *a, *b;
  PetscScalar       *c;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(s, &b));
  PetscCall(VecGetArrayWrite(y, &c));
  for (PetscInt k = 0; k < nw->n; k++) c[k] = b[k] > 0 ? a[k] / b[k] : 0;
  PetscCall(VecRestoreArrayWrite(y, &c));
  PetscCall(VecRestoreArrayRead(s, &b));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the residual: the 1-norm of the change of the authorities in one step of the chain. */
static PetscErrorCode NetworkSALSACheck(Network nw, Vec in, Vec out)
{
  Vec u, v;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(in, &u));
  PetscCall(VecDuplicate(in, &v));
  PetscCall(NetworkSALSADivide(nw, nw->x[0], in, u));
  PetscCall(NetworkMultTranspose_Private(nw, u, v));
  PetscCall(NetworkSALSADivide(nw, v, out, u));
  PetscCall(NetworkMult_Private(nw, u, v));
  PetscCall(VecAXPY(v, -1.0, nw->x[0]));
  PetscCall(VecNorm(v, NORM_1, &nw->residual));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NetworkSolve_SALSA(Network nw)
{
  NetworkLocal G;
  PetscInt    *label;
  PetscReal    sum;
  Vec          one, in, out;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(nw->x[0], &one));
  PetscCall(VecDuplicate(nw->x[0], &in));
  PetscCall(VecDuplicate(nw->x[0], &out));
  PetscCall(VecSet(one, 1.0));
  PetscCall(NetworkMult_Private(nw, one, in));
  PetscCall(NetworkMultTranspose_Private(nw, one, out));
  PetscCall(NetworkLocalCreate_Private(nw, PETSC_FALSE, &G));
  PetscCall(PetscMalloc1(2 * G.n + G.nghost, &label));
  PetscCall(NetworkConnect_Private(nw, &G, PETSC_TRUE, label));
  PetscCall(NetworkSALSAScore(nw, label + G.n + G.nghost, in, nw->x[0]));
  PetscCall(NetworkSALSAScore(nw, label, out, nw->x[1]));
  PetscCall(NetworkLocalDestroy_Private(&G));
  PetscCall(PetscFree(label));
  PetscCall(NetworkSALSACheck(nw, in, out));
  PetscCall(VecNorm(nw->x[0], NORM_1, &sum));
  nw->reason = sum > 0 ? NETWORK_CONVERGED_EXACT : NETWORK_DIVERGED_ZERO;
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&in));
  PetscCall(VecDestroy(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
