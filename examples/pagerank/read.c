/* Links from files, which src/app reads, and links that are drawn at random. */
#include "pagerank.h"

/* one 64-bit number out of another, for links that are the same on any number of ranks (splitmix64, G. L. Steele et al. 2014) */
static uint64_t Mix(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* R-MAT (D. Chakrabarti, Y. Zhan, C. Faloutsos 2004) with the parameters of Graph500: every link falls through `scale` levels into
   one of four quarters with probabilities 0.57, 0.19, 0.19, 0.05 */
PetscErrorCode GraphMakeRMAT(MPI_Comm comm, PetscInt scale, PetscInt degree, PetscInt seed, Links *L)
{
  PetscMPIInt rank, size;
  PetscInt64  total, first, last;

  PetscFunctionBegin;
  PetscCheck(scale >= 1 && scale <= 30 && degree >= 1 && degree <= 4096, comm, PETSC_ERR_ARG_OUTOFRANGE, "R-MAT wants a scale from 1 to 30 and 1 to 4096 links a node, not %" PetscInt_FMT ",%" PetscInt_FMT, scale, degree);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  total = (PetscInt64)degree << scale;
  first = total / size * rank + PetscMin(total % size, rank);
  last  = total / size * (rank + 1) + PetscMin(total % size, rank + 1);
  PetscCall(GpAppLinksReserve(L, last - first, PETSC_FALSE));
  for (PetscInt64 e = first; e < last; e++) {
    uint64_t   state = Mix(Mix((uint64_t)seed) ^ (uint64_t)e);
    PetscInt64 from = 0, to = 0;

    for (PetscInt level = 0; level < scale; level++) {
      const uint32_t dice    = (uint32_t)((state = Mix(state)) >> 32);
      const int      quarter = (dice >= 2448131359u) + (dice >= 3264175145u) + (dice >= 4080218931u); /* 0.57, 0.76, 0.95 of 2^32 */

      from = 2 * from + (quarter >> 1);
      to   = 2 * to + (quarter & 1);
    }
    L->from[L->n] = from;
    L->to[L->n++] = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
