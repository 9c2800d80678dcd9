/* A writer of JSON documents. Write errors are those of the stream. */
#ifndef GPUCSR_APPJSON_H
#define GPUCSR_APPJSON_H

#include <petscsys.h>
#include <stdio.h>

#define GP_APP_JSON_DEPTH 8

/* A document that is being written. The fields are private to the module. */
typedef struct {
  FILE *fp;
  int   depth; /* number of open objects and arrays */
  struct {
    char      close; /* the bracket that closes the object or array */
    PetscBool lines; /* each value has a line of its own */
    PetscBool some;  /* a value has been written */
  } level[GP_APP_JSON_DEPTH];
} GpAppJSON;

/* The key is the name of a value in an object. It is NULL in an array. */
PETSC_EXTERN void GpAppJSONBegin(GpAppJSON *, FILE *);
PETSC_EXTERN void GpAppJSONOpen(GpAppJSON *, const char key[], char bracket, PetscBool lines);
PETSC_EXTERN void GpAppJSONClose(GpAppJSON *);
PETSC_EXTERN void GpAppJSONEnd(GpAppJSON *);
PETSC_EXTERN void GpAppJSONWriteNull(GpAppJSON *, const char key[]);
PETSC_EXTERN void GpAppJSONWriteBool(GpAppJSON *, const char key[], PetscBool);
PETSC_EXTERN void GpAppJSONWriteInt(GpAppJSON *, const char key[], PetscInt64);
PETSC_EXTERN void GpAppJSONWriteReal(GpAppJSON *, const char key[], double);
PETSC_EXTERN void GpAppJSONWriteString(GpAppJSON *, const char key[], const char text[]);
PETSC_EXTERN void GpAppJSONWriteNames(GpAppJSON *, const char key[], PetscInt n, const char names[]);

#endif
