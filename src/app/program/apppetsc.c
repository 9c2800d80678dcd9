/* Which options belong to PETSc and SLEPc. Their objects register options as they are created, so that there is no list to compare with: the first words of the names decide.
   A prefix that does not end with an underscore, such as log, stands for whole words: -log_view, not -logistic. */
#include "app/program/appcommand.h"
#include <string.h>
#include <strings.h>

/* Options that PetscInitialize(), PetscFinalize() and PETSC_COMM_WORLD's services read. Some of them are read when the program has ended, so that they count as used. */
static const char SystemPrefixes[] = "binary_ blas_ build_twosided check citations container_ cuda cupm_ debug default_device device_ display dll_ draw_ error_output fp_trap "
                                     "get_total_flops h help hip history info kokkos log malloc memory_view mpi no_signal_handler nox objects_ omp_ on_error options_ petsc popen_ prefix_ "
                                     "psubcomm_ python random_ root_device saws shared_tmp not_shared_tmp skip_petscrc stack_view start_in_debugger stop_for_debugger sycl tmp "
                                     "use_gpu_aware_mpi use_tfloat32 viewer viewfromoptions x_virtual slepc version";
/* Classes of objects. Their options may have any prefix, as in -sub_pc_type. */
static const char ClassPrefixes[] = "ao_ bv_ dm_ ds_ eps_ fn_ is_ ksp_ lme_ mat_ mfn_ nep_ pc_ pep_ rg_ sf_ snes_ st_ svd_ tao_ ts_ vec_ vecscatter_ draw_ matcoarsen_ matmult_ matmatmult_ "
                                    "matptap_ mattransposematmult_ matproduct_ partitioning_";
/* Prefixes that PETSc's composed preconditioners and solvers give to the objects inside them. */
static const char NestedPrefixes[] = "sub_ mg_ fieldsplit_ gamg_ esteig_ inner_ redundant_ telescope_ npc_ coarse_ levels_ asm_ schur_";
/* Prefixes of the library itself, whose options are all in GpAppLibraryOptions[]. */
static const char LibraryPrefixes[] = "mat_gpucsr_ gpucsr_ vec_gpu_";

/* Whether a name begins with one of several prefixes that blanks separate. */
static PetscBool PetscNameBegins(const char name[], const char prefixes[])
{
  for (const char *p = prefixes; p && *p; p += strspn(p, " ")) {
    const size_t    length = strcspn(p, " ");
    const PetscBool open   = (PetscBool)(p[length - 1] == '_' || (length == 5 && !strncmp(p, "check", length)));

    if (!strncasecmp(name, p, length) && (name[length] ? open || name[length] == '_' : p[length - 1] != '_')) return PETSC_TRUE;
    p += length;
  }
  return PETSC_FALSE;
}

/* Whether an option, with its dash, may be one of PETSc or SLEPc. system: whether it is one that no object reads. */
PetscBool GpAppPetscKnows(const GpAppManual *manual, const char name[], PetscBool *system)
{
  const char *word = name + 1;

  *system = PETSC_FALSE;
  if (PetscNameBegins(word, manual->nested)) return PETSC_TRUE;
  if (manual->prefix[0] && !strncasecmp(word, manual->prefix, strlen(manual->prefix))) return PETSC_FALSE;
  if (PetscNameBegins(word, LibraryPrefixes)) return PETSC_FALSE;
  if (PetscNameBegins(word, SystemPrefixes)) {
    *system = PETSC_TRUE;
    return PETSC_TRUE;
  }
  if (PetscNameBegins(word, NestedPrefixes)) return PETSC_TRUE;
  for (; word; word = strchr(word, '_') ? strchr(word, '_') + 1 : NULL) {
    if (PetscNameBegins(word, ClassPrefixes)) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Whether the program, the library, or PETSc has an option. */
PetscBool GpAppOptionIsKnown(const GpAppManual *manual, const char name[])
{
  PetscBool system;

  return (PetscBool)(GpAppOptionFind(manual->options, name) || GpAppOptionFind(GpAppLibraryOptions, name) || GpAppPetscKnows(manual, name, &system));
}
