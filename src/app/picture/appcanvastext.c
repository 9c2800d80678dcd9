/* Texts of pictures: clean UTF-8, and widths. */
#include "app/picture/appcanvas.h"
#include "app/picture/apppainter.h"
#include "app/report/appescape.h"
#include <string.h>

#define PLAIN_WIDTH 6 /* pixels of a letter of PetscDraw */

/* Widths of the characters 32 to 126 of DejaVu Sans in thousandths of the size. This font is wider than most: a painter makes a wider font smaller. */
static const short Widths[95] = {318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
                                 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
                                 500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};

double GpAppCanvasGetTextSize(GpAppTextSize size)
{
  return size == GP_APP_TEXT_SMALL ? 12 : size == GP_APP_TEXT_NORMAL ? 13.5 : 15;
}

/* Returns the width of the character that begins with byte c, in units of the size; 0 for the following bytes of a character. */
static double TextGetWidth(unsigned char c)
{
  if (c < 0x20) return 1.03; /* is replaced */
  if (c < 0x7f) return 1e-3 * Widths[c - 0x20];
  if ((c & 0xc0) == 0x80) return 0;
  return c < 0xcc ? 0.79 : c < 0xd0 ? 0.85 : c < 0xe0 ? 1.08 : 1.05; /* accented Latin, Greek, Cyrillic and others, symbols and East Asian scripts */
}

/* Returns the width of a text in pixels, which what is drawn does not exceed. */
double GpAppCanvasMeasureText(const GpAppCanvas *C, GpAppTextSize size, const char text[])
{
  char   clean[GP_APP_CANVAS_TEXT];
  double width = 0;

  GpAppTextClean(text, C->painter->plain, clean);
  if (C->painter->plain) return PLAIN_WIDTH * (double)strlen(clean);
  for (const char *c = clean; *c; c++) width += TextGetWidth((unsigned char)*c);
  return width * GpAppCanvasGetTextSize(size) * (size == GP_APP_TEXT_TITLE ? 1.13 : 1);
}

/* Replaces bytes that are not UTF-8 and control characters by U+FFFD. plain: all that is not ASCII becomes a question mark. A longer text is cut. */
void GpAppTextClean(const char text[], PetscBool plain, char clean[GP_APP_CANVAS_TEXT])
{
  const unsigned char *c = (const unsigned char *)text;
  size_t               n = 0;

  while (*c) {
    const size_t given = GpAppEscapeMeasureCharacter(c), length = given ? given : 1;
    const char  *from = (const char *)c;
    size_t       m    = given;

    if (!given || *c < 0x20 || *c == 0x7f) from = "\357\277\275", m = 3;
    if (plain && m > 1) from = "?", m = 1;
    if (n + m >= GP_APP_CANVAS_TEXT) break;
    memcpy(clean + n, from, m);
    n += m;
    c += length;
  }
  clean[n] = 0;
}

/* Shortens a text by an ellipsis so that it fits into a width. */
void GpAppTextShorten(const GpAppCanvas *C, GpAppTextSize size, double width, const char text[], char result[GP_APP_CANVAS_TEXT])
{
  const char *dots = C->painter->plain ? "..." : "\342\200\246";
  size_t      n;

  GpAppTextClean(text, C->painter->plain, result);
  n = PetscMin(strlen(result), GP_APP_CANVAS_TEXT - 4);
  while (n > 1 && GpAppCanvasMeasureText(C, size, result) > width) {
    do n--;
    while (n > 1 && ((unsigned char)result[n] & 0xc0) == 0x80);
    strcpy(result + n, dots);
  }
}
