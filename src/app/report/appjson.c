/* The JSON documents of the programs. Three reports of one object each need less code here than a library and its installation would. */
#include "app/report/appjson.h"
#include "app/report/appescape.h"
#include <math.h>
#include <string.h>

/* Writes what precedes a value: comma, line, key. */
static void JSONWriteKey(GpAppJSON *J, const char key[])
{
  const PetscBool lines = J->level[J->depth].lines;

  if (!J->depth) return;
  if (J->level[J->depth].some) (void)fputs(lines ? "," : ", ", J->fp);
  if (lines) (void)fprintf(J->fp, "\n%*s", 2 * J->depth, "");
  J->level[J->depth].some = PETSC_TRUE;
  if (!key) return;
  GpAppWriteJSON(J->fp, key);
  (void)fputs(": ", J->fp);
}

/* Opens an object, bracket '{', or an array, bracket '['. lines: each of its values has a line of its own. */
void GpAppJSONOpen(GpAppJSON *J, const char key[], char bracket, PetscBool lines)
{
  JSONWriteKey(J, key);
  (void)fputc(bracket, J->fp);
  if (J->depth + 1 < GP_APP_JSON_DEPTH) J->depth++;
  J->level[J->depth].close = bracket == '{' ? '}' : ']';
  J->level[J->depth].lines = lines;
  J->level[J->depth].some  = PETSC_FALSE;
}

/* Closes the object or array that was opened last. */
void GpAppJSONClose(GpAppJSON *J)
{
  if (J->level[J->depth].lines) (void)fprintf(J->fp, "\n%*s", 2 * (J->depth - 1), "");
  (void)fputc(J->level[J->depth--].close, J->fp);
}

/* Begins a document, which is an object. */
void GpAppJSONBegin(GpAppJSON *J, FILE *fp)
{
  memset(J, 0, sizeof(*J));
  J->fp = fp;
  GpAppJSONOpen(J, NULL, '{', PETSC_TRUE);
}

/* Ends a document. */
void GpAppJSONEnd(GpAppJSON *J)
{
  GpAppJSONClose(J);
  (void)fputc('\n', J->fp);
}

void GpAppJSONWriteNull(GpAppJSON *J, const char key[])
{
  JSONWriteKey(J, key);
  (void)fputs("null", J->fp);
}

void GpAppJSONWriteBool(GpAppJSON *J, const char key[], PetscBool value)
{
  JSONWriteKey(J, key);
  (void)fputs(value ? "true" : "false", J->fp);
}

void GpAppJSONWriteInt(GpAppJSON *J, const char key[], PetscInt64 value)
{
  JSONWriteKey(J, key);
  (void)fprintf(J->fp, "%" PetscInt64_FMT, value);
}

/* Writes a number with all its digits. JSON has no infinity and no NaN: they become null. */
void GpAppJSONWriteReal(GpAppJSON *J, const char key[], double value)
{
  JSONWriteKey(J, key);
  if (isfinite(value)) (void)fprintf(J->fp, "%.17g", value);
  else (void)fputs("null", J->fp);
}

/* Writes a string, or null if text is NULL. */
void GpAppJSONWriteString(GpAppJSON *J, const char key[], const char text[])
{
  JSONWriteKey(J, key);
  if (text) GpAppWriteJSON(J->fp, text);
  else (void)fputs("null", J->fp);
}

/* Writes an array of n strings that follow each other in memory, each with its final 0. Writes nothing if names is NULL. */
void GpAppJSONWriteNames(GpAppJSON *J, const char key[], PetscInt n, const char names[])
{
  if (!names) return;
  GpAppJSONOpen(J, key, '[', PETSC_FALSE);
  for (PetscInt k = 0; k < n; k++, names += strlen(names) + 1) GpAppJSONWriteString(J, NULL, names);
  GpAppJSONClose(J);
}
