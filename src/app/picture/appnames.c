/* Names next to points, so that no name covers a point or another name. */
#include "app/picture/appaxes.h"
#include <math.h>
#include <string.h>

#define DIRECTIONS 16
#define RINGS      4 /* distances from the point; names of the outer rings are connected with the point by a line */
#define PLACES     (DIRECTIONS * RINGS)
#define PASSES     8

typedef struct {
  double left, top, right, bottom;
} Box;

typedef struct {
  const GpAppCanvas *canvas;
  const GpAppFrame  *frame;
  PetscInt           n;
  const double      *x, *y;
  double             radius, height;
  double            *width; /* [n] */
  Box               *box;   /* [n] boxes of the names */
  int               *place; /* [n]; -1: the name has no place yet, or is hidden */
} Names;

static PetscBool NamesOverlap(const Box *a, const Box *b)
{
  return (PetscBool)(a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom);
}

/* Returns the box of name i at a place: a direction, the preferred ones first, on a ring. */
static Box NamesGetBox(const Names *S, PetscInt i, int place)
{
  static const double u[DIRECTIONS][2] = {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {1, 1}, {-1, -1}, {-1, 1}, {0.5, -1}, {0.5, 1}, {-0.5, -1}, {-0.5, 1}, {1, -0.5}, {1, 0.5}, {-1, -0.5}, {-1, 0.5}};
  const double       *way = u[place % DIRECTIONS], away = S->radius + 2.5 + 9 * (place / DIRECTIONS);
  const double        x = S->x[i] + way[0] * (away + S->width[i] / 2), y = S->y[i] + way[1] * (away + S->height / 2);

  return (Box){x - S->width[i] / 2, y - S->height / 2, x + S->width[i] / 2, y + S->height / 2};
}

/* Returns whether the line from point i to its name, which is in box b, crosses box other. Names of the first ring have no line. */
static PetscBool NamesCrosses(const Names *S, PetscInt i, int place, const Box *b, const Box *other)
{
  const double x = PetscMax(b->left, PetscMin(b->right, S->x[i])), y = PetscMax(b->top, PetscMin(b->bottom, S->y[i])), dx = x - S->x[i], dy = y - S->y[i];
  double       from = 0, to = 1; /* the part of the line that is between the edges seen so far */

  if (place < DIRECTIONS) return PETSC_FALSE;
  for (int c = 0; c < 2; c++) {
    const double at = c ? S->y[i] : S->x[i], d = c ? dy : dx, low = c ? other->top : other->left, high = c ? other->bottom : other->right;

    if (d == 0) {
      if (at <= low || at >= high) return PETSC_FALSE;
      continue;
    }
    from = PetscMax(from, PetscMin((low - at) / d, (high - at) / d));
    to   = PetscMin(to, PetscMax((low - at) / d, (high - at) / d));
  }
  return (PetscBool)(from < to);
}

/* Returns whether name i at a place, which is box b, and name j disturb each other. */
static PetscBool NamesDisturb(const Names *S, PetscInt i, int place, const Box *b, PetscInt j)
{
  return (PetscBool)(NamesOverlap(b, &S->box[j]) || NamesCrosses(S, i, place, b, &S->box[j]) || NamesCrosses(S, j, S->place[j], &S->box[j], b));
}

/* Counts the points that name i at a place, which is box b, or its line covers, and one more if it leaves the frame. */
static int NamesCountCovered(const Names *S, PetscInt i, int place, const Box *b)
{
  const GpAppFrame *F     = S->frame;
  const double      r     = S->radius + 1;
  int               count = b->left < F->left + 2 || b->right > F->right - 2 || b->top < F->top + 2 || b->bottom > F->bottom - 2;

  for (PetscInt j = 0; j < S->n; j++) {
    const Box point = {S->x[j] - r, S->y[j] - r, S->x[j] + r, S->y[j] + r};

    count += NamesOverlap(b, &point) || (j != i && NamesCrosses(S, i, place, b, &point));
  }
  return count;
}

/* Finds the best place of name i, given those of the others. */
static void NamesPlace(Names *S, PetscInt i)
{
  double best = INFINITY;

  for (int place = 0; place < PLACES; place++) {
    const Box b    = NamesGetBox(S, i, place);
    double    cost = place + 1e4 * NamesCountCovered(S, i, place, &b);

    for (PetscInt j = 0; j < S->n && cost < best; j++)
      if (j != i && S->place[j] >= 0 && NamesDisturb(S, i, place, &b, j)) cost += 1e3;
    if (cost >= best) continue;
    best        = cost;
    S->place[i] = place;
    S->box[i]   = b;
  }
}

/* Returns whether name i covers a point, leaves the frame, or disturbs one of the names before `end` that are not hidden. */
static PetscBool NamesIsBad(const Names *S, PetscInt i, PetscInt end)
{
  if (NamesCountCovered(S, i, S->place[i], &S->box[i])) return PETSC_TRUE;
  for (PetscInt j = 0; j < end; j++)
    if (j != i && S->place[j] >= 0 && NamesDisturb(S, i, S->place[i], &S->box[i], j)) return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Hides each name that disturbs another one, then looks for places of the hidden names among the others. Returns the number of names that stay hidden. */
static PetscInt NamesHide(Names *S)
{
  PetscInt hidden = 0;

  for (PetscInt i = 0; i < S->n; i++)
    if (NamesIsBad(S, i, i)) S->place[i] = -1;
  for (PetscInt i = 0; i < S->n; i++) {
    if (S->place[i] >= 0) continue;
    NamesPlace(S, i);
    if (!NamesIsBad(S, i, S->n)) continue;
    S->place[i] = -1;
    hidden++;
  }
  return hidden;
}

/* Draws a name, and a line to its point if it is not next to it. */
static PetscErrorCode NamesDraw(GpAppCanvas *C, const Names *S, PetscInt i, const char text[])
{
  const Box   *b = &S->box[i];
  const double x = PetscMax(b->left, PetscMin(b->right, S->x[i])), y = PetscMax(b->top, PetscMin(b->bottom, S->y[i])), far = hypot(x - S->x[i], y - S->y[i]);

  PetscFunctionBegin;
  if (S->place[i] >= DIRECTIONS) PetscCall(GpAppCanvasDrawLine(C, S->x[i] + S->radius * (x - S->x[i]) / far, S->y[i] + S->radius * (y - S->y[i]) / far, x, y, GP_APP_GREY));
  PetscCall(GpAppCanvasDrawBackground(C, b->left, b->top, b->right, b->bottom));
  PetscCall(GpAppCanvasDrawText(C, (b->left + b->right) / 2, b->bottom - 0.24 * S->height, GP_APP_CANVAS_MIDDLE, GP_APP_TEXT_SMALL, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Draws the names of n points at pixels (x, y), whose markers have this radius; each name ends with a zero. Every name in turn takes the best of the places around its point,
  several times. A name without a free place is left out; their number is returned.
*/
PetscErrorCode GpAppNamesDraw(GpAppCanvas *C, const GpAppFrame *F, PetscInt n, const double x[], const double y[], double radius, const char names[], PetscInt *hidden)
{
  Names       S = {C, F, n, x, y, radius, GpAppCanvasGetTextSize(GP_APP_TEXT_SMALL) + 1};
  const char *name;
  char        text[GP_APP_CANVAS_TEXT];

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n, &S.width, n, &S.box, n, &S.place));
  name = names;
  for (PetscInt i = 0; i < n; i++, name += strlen(name) + 1) {
    GpAppTextShorten(C, GP_APP_TEXT_SMALL, 0.6 * (F->right - F->left), name, text);
    S.width[i] = GpAppCanvasMeasureText(C, GP_APP_TEXT_SMALL, text) + 2;
    S.place[i] = -1;
  }
  for (int pass = 0; pass < PASSES; pass++)
    for (PetscInt i = 0; i < n; i++) NamesPlace(&S, i);
  *hidden = NamesHide(&S);
  name    = names;
  for (PetscInt i = 0; i < n; i++, name += strlen(name) + 1) {
    if (S.place[i] < 0) continue;
    GpAppTextShorten(C, GP_APP_TEXT_SMALL, 0.6 * (F->right - F->left), name, text);
    PetscCall(NamesDraw(C, &S, i, text));
  }
  PetscCall(PetscFree3(S.width, S.box, S.place));
  PetscFunctionReturn(PETSC_SUCCESS);
}
