/* The main() of the programs. */
#include "app/app.h"
#include "app/apperror.h"
#include <gpucsr.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static PetscErrorCode MainWork(const GpAppProgram *program, PetscBool *converged)
{
  PetscBool help;

  PetscFunctionBegin;
  GpAppErrorSetAsking(PETSC_TRUE);
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRSetNotice(PETSC_FALSE)); /* the summaries and reports tell of rounding */
  PetscCall(program->request(PETSC_COMM_WORLD, program->context));
  PetscCall(PetscOptionsHasHelp(NULL, &help));
  if (help) {
    if (program->show) PetscCall(program->show(PETSC_COMM_WORLD, program->context));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(program->check(PETSC_COMM_WORLD, program->context));
  GpAppErrorSetAsking(PETSC_FALSE);
  PetscCall(program->run(PETSC_COMM_WORLD, program->context, converged));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the job after an error that all ranks have. An output that was open is not left behind. PETSc's objects of the failed work are still there: PetscFinalize() would complain about them, and is left out. */
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
  (void)snprintf(text, sizeof(text), "Cannot write to the standard output stream: %s", strerror(errno));
  GpAppErrorPrint(text);
  return GP_APP_OUTPUT;
}

/* Runs a program: reads its options, checks the request, does the work, and returns the exit code of the process. Called by main() and by nothing else. */
int GpAppMain(int argc, char **argv, const GpAppProgram *program)
{
  PetscBool      converged = PETSC_TRUE, failed;
  MPI_Comm       comm; /* of its own: messages of a rank that failed alone meet no others */
  int            provided, code;
  PetscErrorCode ierr;

  if (MPI_Init_thread(&argc, &argv, PETSC_MPI_THREAD_REQUIRED, &provided) || MPI_Comm_dup(MPI_COMM_WORLD, &comm)) return GP_APP_INTERNAL;
  ierr = GpAppErrorPush(program->name);
  if (!ierr) ierr = PetscInitialize(&argc, &argv, NULL, program->help);
  if (!ierr) ierr = GpAppSignalsInstall(); /* after PETSc's handlers, which would print a trace */
  if (!ierr) ierr = MainWork(program, &converged);
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
