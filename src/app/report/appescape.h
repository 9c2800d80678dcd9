/* Escapes text in JSON, XML (SVG) and CSV, so that arbitrary bytes give a valid document. */
#ifndef GPUCSR_APPESCAPE_H
#define GPUCSR_APPESCAPE_H

#include <petscsys.h>
#include <stdio.h>

PETSC_EXTERN size_t GpAppEscapeMeasureCharacter(const unsigned char *);

PETSC_EXTERN void GpAppWriteXML(FILE *, const char[]);
PETSC_EXTERN void GpAppWriteJSON(FILE *, const char[]);
PETSC_EXTERN void GpAppWriteCSV(FILE *, const char[]);

#endif
