/* Axes with round ticks. */
#include "app/picture/appaxes.h"
#include <math.h>

#define TICK_SIZE GP_APP_TEXT_SMALL
#define MINUS     "\342\210\222"
#define MARGIN    10 /* pixels between the edge of the picture and what is drawn */

/* Initialises an axis for data from low to high. Without a label (NULL) it has no ticks. A linear axis is a little longer than the data; a logarithmic one ends at round numbers. If there are no data, low > high. */
void GpAppAxisFit(GpAppAxis *a, const char label[], PetscBool log, double low, double high)
{
  *a       = (GpAppAxis){0};
  a->label = label;
  a->log   = log;
  if (!(low <= high)) low = log ? 1 : 0, high = log ? 10 : 1;
  if (log) {
    const double fine[] = {0, 0.30102999566398120, 0.69897000433601880, 1}; /* logarithms of 1, 2, 5 and 10 */
    const double from = log10(low), to = log10(high), eps = 1e-9;
    const int    n = to - from > 1.5 ? 1 : 3; /* ends at 1, 2 or 5 times a power of ten, or at powers of ten */

    a->low = a->high = floor(from);
    for (int k = 0; k < n; k++)
      if (a->low + fine[k] <= from + eps) a->high = floor(from) + fine[k];
    a->low  = a->high;
    a->high = ceil(to);
    for (int k = 2; k > 0 && n == 3; k--)
      if (ceil(to) - 1 + fine[k] >= to - eps) a->high = ceil(to) - 1 + fine[k];
    if (a->high <= a->low) a->high = ceil(a->low + 0.5);
    return;
  }
  if (high - low <= 1e-9 * fmax(fabs(low), fabs(high))) { /* one value: avoids steps below the rounding error */
    const double half = high != 0 ? fabs(high) / 2 : 0.5;

    low -= half;
    high += half;
  }
  a->low  = low - 0.04 * (high - low);
  a->high = high + 0.04 * (high - low);
}

/* Writes a power of ten. */
static void AxisWritePower(PetscBool plain, int power, char text[32])
{
  static const char *const digits[] = {"\342\201\260", "\302\271", "\302\262", "\302\263", "\342\201\264", "\342\201\265", "\342\201\266", "\342\201\267", "\342\201\270", "\342\201\271"};
  const int                size     = abs(power);

  if (plain) (void)snprintf(text, 32, "1e%d", power);
  else (void)snprintf(text, 32, "10%s%s%s%s", power < 0 ? "\342\201\273" : "", size > 99 ? digits[size / 100 % 10] : "", size > 9 ? digits[size / 10 % 10] : "", digits[size % 10]);
}

/* Gets tick k of an axis, counted from 0: its place between low and high, and its number. Returns PETSC_FALSE if there are fewer ticks. */
static PetscBool AxisGetTick(const GpAppAxis *a, PetscBool plain, int k, double *place, char number[32])
{
  static const double fine[] = {0, 0.30102999566398120, 0.69897000433601880};
  const double        eps    = 1e-9 * (a->high - a->low);

  if (!a->label) return PETSC_FALSE;
  if (a->log && a->step == 0) {
    const int first = 3 * (int)floor(a->low) - 3;
    int       at    = first;

    for (int found = -1;; at++) {
      *place = floor((at - first) / 3) + floor(a->low) - 1 + fine[(at - first) % 3];
      if (*place > a->high + eps) return PETSC_FALSE;
      if (*place >= a->low - eps && ++found == k) break;
    }
    (void)snprintf(number, 32, "%.6g", pow(10, *place - a->power));
    return PETSC_TRUE;
  }
  *place = (ceil(a->low / a->step - 1e-9) + k) * a->step;
  if (*place > a->high + eps) return PETSC_FALSE;
  if (fabs(*place) < 1e-6 * a->step) *place = 0; /* not -0 */
  if (!a->log) (void)snprintf(number, 32, "%s%.*f", *place >= 0 ? "" : plain ? "-" : MINUS, a->decimals, fabs(*place) * pow(10, -a->power));
  else if (a->low >= -4 && a->high <= 6) (void)snprintf(number, 32, "%g", pow(10, floor(*place + 0.5)));
  else AxisWritePower(plain, (int)floor(*place + 0.5), number);
  return PETSC_TRUE;
}

/* Chooses steps of 1, 2 or 5 times a power of ten, or of whole decades, so that the numbers along an axis of this length have space. */
void GpAppAxisSetTicks(const GpAppCanvas *C, GpAppAxis *a, double length, PetscBool horizontal)
{
  const double size = fmax(fabs(a->low), fabs(a->high)), range = a->high - a->low, height = GpAppCanvasGetTextSize(TICK_SIZE);
  const int    e    = (int)floor(log10(size));
  int          rank = 0;

  a->power = 0;
  if (a->log && range < 2.1 && (a->low < -4 || a->high > 6)) a->power = (int)floor(a->low);
  else if (!a->log && (e > 4 || e < -3)) a->power = e;
  if (!a->log) rank = 3 * (int)floor(log10(range / 20));
  for (;; rank++) {
    const int decade = (int)floor(rank / 3.0), part = rank - 3 * decade;
    double    place, other;
    char      number[32];
    PetscBool fits;

    if (!a->log) {
      a->step     = (part == 0 ? 1 : part == 1 ? 2 : 5) * pow(10, decade);
      a->decimals = (int)fmax(0, a->power - decade);
    } else a->step = range < 2.1 ? 0 : rank + 1;
    a->widest = 0;
    for (int k = 0; AxisGetTick(a, GpAppCanvasIsPlain(C), k, &place, number); k++) a->widest = fmax(a->widest, GpAppCanvasMeasureText(C, TICK_SIZE, number));
    fits = (PetscBool)(!AxisGetTick(a, GpAppCanvasIsPlain(C), 1, &other, number) || !AxisGetTick(a, GpAppCanvasIsPlain(C), 0, &place, number));
    if (fits || (other - place) / range * length >= (horizontal ? fmax(a->widest + 16, 50) : 2.6 * height) || (a->log && a->step == 0)) break;
  }
}

PetscBool GpAppAxisShows(const GpAppAxis *a, double value)
{
  return (PetscBool)(isfinite(value) && (!a->log || value > 0));
}

/* Returns the pixel of a value, if low is at the pixel `from` and high at `to`. */
double GpAppAxisPlace(const GpAppAxis *a, double from, double to, double value)
{
  return from + ((a->log ? log10(value) : value) - a->low) / (a->high - a->low) * (to - from);
}

/* Returns the left edge of a plot, so that its numbers and its vertical label have space. */
double GpAppAxesGetLeft(const GpAppAxis *up)
{
  return MARGIN + (up->label && up->label[0] ? 24 : 0) + up->widest + 8;
}

/* Writes the label of an axis, with the power of ten of its numbers. */
static void AxisWriteLabel(const GpAppCanvas *C, const GpAppAxis *a, double length, char text[GP_APP_CANVAS_TEXT])
{
  char power[32] = "", unit[48] = "", name[GP_APP_CANVAS_TEXT];

  if (a->power) {
    AxisWritePower(GpAppCanvasIsPlain(C), a->power, power);
    (void)snprintf(unit, sizeof(unit), GpAppCanvasIsPlain(C) ? " (x %s)" : " (\303\227 %s)", power);
  }
  GpAppTextShorten(C, GP_APP_TEXT_NORMAL, length - GpAppCanvasMeasureText(C, GP_APP_TEXT_NORMAL, unit), a->label ? a->label : "", name);
  (void)snprintf(text, GP_APP_CANVAS_TEXT, "%.190s%s", name, unit);
}

/* Draws the frame of a plot, with lines at its ticks, their numbers, and the labels of the axes. bottom: the lower edge of what was drawn. */
PetscErrorCode GpAppAxesDraw(GpAppCanvas *C, const GpAppFrame *F, const GpAppAxis *across, const GpAppAxis *up, double *bottom)
{
  const PetscBool plain = GpAppCanvasIsPlain(C);
  const double    size  = GpAppCanvasGetTextSize(TICK_SIZE);
  double          place;
  char            text[GP_APP_CANVAS_TEXT];

  PetscFunctionBegin;
  for (int k = 0; AxisGetTick(across, plain, k, &place, text); k++) {
    const double x = F->left + (place - across->low) / (across->high - across->low) * (F->right - F->left);

    PetscCall(GpAppCanvasDrawLine(C, x, F->top, x, F->bottom, GP_APP_LIGHT));
    PetscCall(GpAppCanvasDrawText(C, x, F->bottom + size + 5, GP_APP_CANVAS_MIDDLE, TICK_SIZE, text));
  }
  for (int k = 0; AxisGetTick(up, plain, k, &place, text); k++) {
    const double y = F->bottom - (place - up->low) / (up->high - up->low) * (F->bottom - F->top);

    PetscCall(GpAppCanvasDrawLine(C, F->left, y, F->right, y, GP_APP_LIGHT));
    PetscCall(GpAppCanvasDrawText(C, F->left - 6, y + 0.36 * size, GP_APP_CANVAS_END, TICK_SIZE, text));
  }
  PetscCall(GpAppCanvasDrawCurve(C, 5, (const double[]){F->left, F->right, F->right, F->left, F->left}, (const double[]){F->top, F->top, F->bottom, F->bottom, F->top}, GP_APP_GREY, 1, GP_APP_LINE_SOLID));
  AxisWriteLabel(C, across, F->right - F->left, text);
  if (text[0]) PetscCall(GpAppCanvasDrawText(C, (F->left + F->right) / 2, F->bottom + size + 26, GP_APP_CANVAS_MIDDLE, GP_APP_TEXT_NORMAL, text));
  *bottom = F->bottom + size + (text[0] ? 36 : 14);
  AxisWriteLabel(C, up, plain ? 0.6 * (F->bottom - F->top) : F->bottom - F->top, text); /* plain letters stand one below the other */
  if (text[0]) PetscCall(GpAppCanvasDrawText(C, F->left - 6 - up->widest - 12, (F->top + F->bottom) / 2, GP_APP_CANVAS_VERTICAL, GP_APP_TEXT_NORMAL, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}
