/* Escapes text in JSON, XML (SVG) and CSV, so that arbitrary bytes give a valid document. */
#include "app/report/appescape.h"
#include "app/table/apptablefield.h"
#include <string.h>

static const char Replacement[] = "\357\277\275"; /* U+FFFD in UTF-8 */

/* Returns the length of the UTF-8 character at s, 0 if it is not one that JSON and XML allow. The caller handles control characters. */
size_t GpAppEscapeMeasureCharacter(const unsigned char *s)
{
  const size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

  for (size_t k = 1; k < n; k++)
    if ((s[k] & 0xc0) != 0x80) return 0;                                               /* the terminating zero of the string also stops the loop here */
  if (n == 3 && (s[0] == 0xe0 ? s[1] < 0xa0 : s[0] == 0xed && s[1] >= 0xa0)) return 0; /* overlong encoding, or half of a surrogate pair */
  if (n == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe) return 0;                /* U+FFFE, U+FFFF: no characters */
  if (n == 4 && (s[0] == 0xf0 ? s[1] < 0x90 : s[0] == 0xf4 && s[1] >= 0x90)) return 0;
  return n;
}

/* Writes text as the content of an XML element or of an attribute in double quotes. Bytes that are not UTF-8, and control characters, which XML cannot represent, become U+FFFD. */
void GpAppWriteXML(FILE *fp, const char text[])
{
  const unsigned char *c = (const unsigned char *)text;

  while (*c) {
    const size_t n = GpAppEscapeMeasureCharacter(c);

    if (*c == '<') (void)fputs("&lt;", fp);
    else if (*c == '>') (void)fputs("&gt;", fp);
    else if (*c == '&') (void)fputs("&amp;", fp);
    else if (*c == '"') (void)fputs("&quot;", fp);
    else if (!n || (*c < 0x20 && *c != '\t') || *c == 0x7f) (void)fputs(Replacement, fp);
    else (void)fwrite(c, 1, n, fp);
    c += n ? n : 1;
  }
}

/* Writes text as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void GpAppWriteJSON(FILE *fp, const char text[])
{
  const unsigned char *c = (const unsigned char *)text;

  (void)fputc('"', fp);
  while (*c) {
    const size_t n = GpAppEscapeMeasureCharacter(c);

    if (*c == '"' || *c == '\\') (void)fprintf(fp, "\\%c", *c);
    else if (!n) (void)fputs(Replacement, fp);
    else if (*c < 0x20) (void)fprintf(fp, "\\u%04x", (unsigned)*c);
    else (void)fwrite(c, 1, n, fp);
    c += n ? n : 1;
  }
  (void)fputc('"', fp);
}

/* Writes text as a field of CSV that the table reader reads as the same text. Text is quoted if it contains a delimiter, a quote or a blank, begins like a comment, is empty, or
   looks like a number or a missing value. */
void GpAppWriteCSV(FILE *fp, const char text[])
{
  const size_t     length = strlen(text);
  const GpAppField f      = {text, text + length, NULL, PETSC_FALSE, GP_QUOTES_GOOD};
  double           value;

  if (length && !strpbrk(text, "\",; \t\r") && *text != '#' && *text != '%' && GpAppFieldClassify(&f, PETSC_TRUE, &value) == GP_FIELD_WORD) {
    (void)fputs(text, fp);
    return;
  }
  (void)fputc('"', fp);
  for (const char *c = text; *c; c++) {
    if (*c == '"') (void)fputc('"', fp);
    (void)fputc(*c, fp);
  }
  (void)fputc('"', fp);
}
