/* The main() of the programs. */
#include "app/output/appoutput.h"
#include "app/program/appcommand.h"
#include <gpucsr.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static PetscErrorCode MainWork(const GpAppProgram *program, int argc, char **argv, PetscBool *converged)
{
  PetscBool help;

  PetscFunctionBegin;
  GpAppErrorSetAsking(PETSC_TRUE);
  PetscCall(GpAppCommandCheck(PETSC_COMM_WORLD, program->manual, argc, argv));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRSetNotice(PETSC_FALSE)); /* the summaries and reports of the programs show the rounding instead */
  PetscCall(program->request(PETSC_COMM_WORLD, program->context));
  PetscCall(PetscOptionsHasHelp(NULL, &help));
  if (help) {
    if (program->show) PetscCall(program->show(PETSC_COMM_WORLD, program->context));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(program->check(PETSC_COMM_WORLD, program->context));
  GpAppErrorSetAsking(PETSC_FALSE);
  PetscCall(program->run(PETSC_COMM_WORLD, program->context, converged));
  PetscCall(GpAppCommandReportUnused(PETSC_COMM_WORLD, program->manual, argc, argv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the job after an error that all ranks have. Temporary files of open outputs are removed. PetscFinalize() is not called, because it would report the PETSc objects of the failed work. */
static int MainFail(int code)
{
  GpAppTemporariesRemove();
  if (code == GP_APP_INTERNAL) (void)MPI_Abort(MPI_COMM_WORLD, code);
  (void)fflush(stdout);
  (void)MPI_Finalize();
  return code;
}

/* Writes out what is buffered for the standard output stream. */
static int MainFlush(int code)
{
  char text[256];

  if (!fflush(stdout) && !ferror(stdout)) return code;
  (void)snprintf(text, sizeof(text), "cannot write to the standard output stream: %s", strerror(errno));
  GpAppErrorPrint(text);
  return GP_APP_OUTPUT;
}

/* Initialises PETSc. The first lines of -help are those of --help. */
static PetscErrorCode MainInitialize(const GpAppProgram *program, int *argc, char ***argv)
{
  static char    help[2048];
  const char    *missing = GpAppCommandFindMissing(*argc, *argv);
  PetscErrorCode ierr;

  if (missing) {
    (void)snprintf(help, sizeof(help), "-options_file %s: the file cannot be read", missing);
    GpAppErrorSet(GP_APP_INPUT, help);
    return PETSC_ERR_FILE_OPEN;
  }
  (void)snprintf(help, sizeof(help), "%s: %s. Usage:\n%s\n%s --help prints the most used options.\n\n", program->name, program->manual->title, program->manual->synopsis, program->name);
  ierr = GpAppErrorPush();
  if (!ierr) ierr = PetscInitialize(argc, argv, NULL, help);
  return ierr;
}

/* Runs a program: reads its options, checks the request, does the work, and returns the exit code of the process. Called by main() and by nothing else. */
int GpAppMain(int argc, char **argv, const GpAppProgram *program)
{
  const int      level     = PETSC_MPI_THREAD_REQUIRED == PETSC_DECIDE ? MPI_THREAD_FUNNELED : PETSC_MPI_THREAD_REQUIRED; /* newer versions decide in PetscInitialize() */
  PetscBool      converged = PETSC_TRUE, failed;
  MPI_Comm       comm; /* a communicator of its own, so that messages after an error match no messages of the failed work */
  int            provided, rank, code;
  PetscErrorCode ierr;

  GpAppErrorSetProgram(program);
  if (GpAppHelpForTools(program, argc, argv)) return MainFlush(GP_APP_DONE);
  if (MPI_Init_thread(&argc, &argv, level, &provided) || MPI_Comm_dup(MPI_COMM_WORLD, &comm)) return GP_APP_INTERNAL;
  (void)MPI_Comm_rank(comm, &rank);
  if (GpAppHelp(program, argc, argv, (PetscBool)!rank)) {
    (void)MPI_Finalize();
    return MainFlush(GP_APP_DONE);
  }
  ierr = MainInitialize(program, &argc, &argv);
  if (!ierr) ierr = GpAppSignalsInstall(); /* after PETSc's handlers, which would print a trace */
  if (!ierr) ierr = MainWork(program, argc, argv, &converged);
  failed = (PetscBool)(ierr != PETSC_SUCCESS);
  code   = failed ? GpAppErrorGetExit() : converged ? GP_APP_DONE : GP_APP_UNCONVERGED;
  code   = GpAppErrorAgree(comm, &failed, code);
  if (failed) return MainFail(code);
  if (PetscFinalize()) return MainFail(GP_APP_INTERNAL);
  code = MainFlush(code);
  (void)MPI_Comm_free(&comm);
  (void)MPI_Finalize();
  return code;
}
