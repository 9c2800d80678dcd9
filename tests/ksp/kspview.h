/* The output of -ksp_view as a text. */
#ifndef KSPVIEW_H
#define KSPVIEW_H

#include "gpucsrcompat.h"
#include <petscksp.h>

/* text: receives the output on the first rank; on the others it is empty. */
static inline PetscErrorCode GetView(KSP ksp, size_t size, char text[])
{
  PetscViewer viewer;
  FILE       *file = tmpfile();

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot create a temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(PetscObjectComm((PetscObject)ksp), file, &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(PetscViewerFlush(viewer));
  rewind(file);
  text[fread(text, 1, size - 1, file)] = 0;
  PetscCall(PetscViewerDestroy(&viewer));
  (void)fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
