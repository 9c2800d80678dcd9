static char help[] = "Maps cities from the table of their distances by road.\n\
  -cities_disparity ratio|ordinal: fit the distances themselves, or only their order\n\n";

/* Build it against an installed gpucsr:

     mpicc ex_smacof.c -o ex_smacof $(pkg-config --cflags --libs gpucsr) $(pkg-config --variable=rpath gpucsr) -lm

   Options of the solver are those of SMACOFSetFromOptions(), for example -smacof_monitor or -smacof_dim 1. */
#include <gpucsr.h>
#include <gpucsrsmacof.h>

#define CITIES 10

static const char *const Cities[CITIES] = {"Amsterdam", "Athens", "Berlin", "Lisbon", "London", "Madrid", "Paris", "Rome", "Stockholm", "Vienna"};

/* distances by road in kilometres, below the diagonal */
static const int Kilometres[CITIES * (CITIES - 1) / 2] = {
  2945,                                                /* Athens */
  649,  2552,                                          /* Berlin */
  2280, 4578, 2886,                                    /* Lisbon */
  494,  3099, 1101, 2210,                              /* London */
  1782, 3940, 2364, 638,  1704,                        /* Madrid */
  514,  3140, 1094, 1817, 414,  1268,                  /* Paris */
  1835, 2551, 1588, 2737, 1912, 2097, 1417,            /* Rome */
  1440, 3365, 1086, 3687, 1914, 3187, 1894, 2550,      /* Stockholm */
  1196, 1886, 666,  2894, 1491, 2504, 1285, 1196, 1745 /* Vienna */
};

/* Creates the matrix of distances.  An entry on one side of the diagonal is enough. */
static PetscErrorCode CreateDistances(MPI_Comm comm, Mat *D)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, D));
  PetscCall(MatSetSizes(*D, PETSC_DECIDE, PETSC_DECIDE, CITIES, CITIES));
  PetscCall(MatSetType(*D, MATAIJ));
  PetscCall(MatSetUp(*D));
  PetscCall(MatGetOwnershipRange(*D, &first, &last)); /* each rank sets its rows */
  for (PetscInt i = first; i < last; i++)
    for (PetscInt j = 0; j < i; j++) PetscCall(MatSetValue(*D, i, j, Kilometres[i * (i - 1) / 2 + j], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Prints the coordinates, which every rank holds: coordinate c of city i is entry c * CITIES + i. */
static PetscErrorCode PrintMap(SMACOF s)
{
  const PetscScalar *x;
  SMACOFInfo         info;
  Vec                map;

  PetscFunctionBeginUser;
  PetscCall(SMACOFGetInfo(s, &info));
  PetscCall(SMACOFGetConfiguration(s, &map)); /* the solver owns the vector */
  PetscCall(VecGetArrayRead(map, &x));
  for (PetscInt i = 0; i < CITIES; i++) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s", Cities[i]));
    for (PetscInt c = 0; c < info.dim; c++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %8.1f", (double)PetscRealPart(x[c * CITIES + i])));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscCall(VecRestoreArrayRead(map, &x));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  SMACOFConvergedReason reason;
  SMACOFDisparity       disparity = SMACOF_DISPARITY_RATIO;
  PetscReal             stress;
  PetscInt              it;
  SMACOF                s;
  Mat                   D;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-cities_disparity", SMACOFDisparities, (PetscEnum *)&disparity, NULL));
  PetscCall(CreateDistances(PETSC_COMM_WORLD, &D));

  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &s));
  PetscCall(SMACOFSetDissimilarities(s, D, NULL)); /* without weights */
  PetscCall(MatDestroy(&D));                       /* the solver keeps what it needs */
  PetscCall(SMACOFSetDisparity(s, disparity));
  PetscCall(SMACOFSetTolerances(s, 1e-10, PETSC_DEFAULT));
  PetscCall(SMACOFSetFromOptions(s));
  PetscCall(SMACOFSolve(s));

  PetscCall(SMACOFGetConvergedReason(s, &reason));
  PetscCall(SMACOFGetIterationNumber(s, &it));
  PetscCall(SMACOFGetStress(s, &stress, NULL));
  PetscCall(PrintMap(s));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %" PetscInt_FMT " iterations, stress-1 %.4f\n", SMACOFConvergedReasons[reason], it, (double)PetscSqrtReal(stress)));
  PetscCall(SMACOFDestroy(&s));
  PetscCall(PetscFinalize());
  return 0;
}
