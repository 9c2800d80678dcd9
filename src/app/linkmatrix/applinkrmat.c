/* Generates the links of an R-MAT graph. src/app reads graphs from files. */
#include "app/linkmatrix/applinkmatrix.h"
#include "app/program/apphash.h"

/* R-MAT (D. Chakrabarti, Y. Zhan, C. Faloutsos 2004) with the parameters of Graph500. Each link descends `scale` levels of the adjacency matrix.
   On each level it enters one of the four quadrants, with probabilities 0.57, 0.19, 0.19 and 0.05. */
PetscErrorCode GpAppLinksMakeRMAT(MPI_Comm comm, PetscInt scale, PetscInt degree, PetscInt seed, GpAppLinks *L)
{
  PetscMPIInt rank, size;
  PetscInt64  total, first, last;

  PetscFunctionBegin;
  PetscCheck(scale >= 1 && scale <= 30 && degree >= 1 && degree <= 4096, comm, PETSC_ERR_ARG_OUTOFRANGE, "-rmat %" PetscInt_FMT ",%" PetscInt_FMT ": expected a scale from 1 to 30 and a degree from 1 to 4096", scale, degree);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  total = (PetscInt64)degree << scale;
  first = total / size * rank + PetscMin(total % size, rank);
  last  = total / size * (rank + 1) + PetscMin(total % size, rank + 1);
  PetscCall(GpAppLinksReserve(L, last - first, PETSC_FALSE));
  for (PetscInt64 e = first; e < last; e++) {
    uint64_t   state = GpAppHash64(GpAppHash64((uint64_t)seed) ^ (uint64_t)e);
    PetscInt64 from = 0, to = 0;

    for (PetscInt level = 0; level < scale; level++) {
      const uint32_t dice    = (uint32_t)((state = GpAppHash64(state)) >> 32);
      const int      quarter = (dice >= 2448131359u) + (dice >= 3264175145u) + (dice >= 4080218931u); /* thresholds: 0.57, 0.76 and 0.95 times 2^32 */

      from = 2 * from + (quarter >> 1);
      to   = 2 * to + (quarter & 1);
    }
    GpAppLinksAppend(L, from, to, 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
