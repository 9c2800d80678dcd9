/* Graphs in GML (M. Himsolt 1997): graph [ directed 0 node [ id 1 label "a" ] edge [ source 1 target 2 weight 0.5 ] ]. */
#include "app/graph/appgraphread.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct {
  const char *begin, *end; /* of a string without its quotes */
  char        kind;        /* 'w' a word, 'n' a number, 's' a string, '[', ']', 0 the end */
} Token;

typedef struct {
  PetscInt64 source, target, line; /* places among the names of the identities */
  double     weight;               /* NaN: none */
} Edge;

typedef struct {
  GpAppGraph     *G;
  GpAppComplaint *wrong;
  const char     *p, *end;
  PetscInt64      line;
  GpAppNames      id; /* identities of nodes */
  PetscBool      *isnode;
  char          **label; /* [capacity] */
  PetscInt64      capacity, nedges, edgecapacity;
  Edge           *edge;
  PetscBool       directed;
} Reader;

static Token Next(Reader *R)
{
  Token t = {R->p, R->p, 0};

  for (; R->p < R->end; R->p++) {
    if (*R->p == '\n') R->line++;
    else if (*R->p == '#') { /* a comment up to the end of the line */
      while (*R->p != '\n') R->p++;
      R->line++;
    } else if (!isspace((unsigned char)*R->p)) break;
  }
  t.begin = t.end = R->p;
  if (R->p >= R->end) return t;
  if (*R->p == '[' || *R->p == ']') {
    t.kind = *R->p++;
    t.end  = R->p;
  } else if (*R->p == '"') {
    t.begin = ++R->p;
    for (; R->p < R->end && *R->p != '"'; R->p++) R->line += *R->p == '\n';
    t.end  = R->p;
    t.kind = R->p < R->end ? 's' : '?';
    if (R->p < R->end) R->p++;
  } else {
    double v;

    while (R->p < R->end && !isspace((unsigned char)*R->p) && *R->p != '[' && *R->p != ']' && *R->p != '"') R->p++;
    t.end  = R->p;
    t.kind = GpAppScanReal(t.begin, &v) == t.end ? 'n' : 'w';
  }
  return t;
}

static PetscBool Is(const Token *t, const char word[])
{
  return (PetscBool)(t->kind == 'w' && (size_t)(t->end - t->begin) == strlen(word) && !strncasecmp(t->begin, word, strlen(word)));
}

static void Refuse(Reader *R, const Token *t, const char expected[])
{
  GpAppComplain(R->wrong, R->line, t->begin, t->end, expected);
}

/* steps over a value; a list with all that it holds */
static void Skip(Reader *R, Token t)
{
  PetscInt64 depth = 0;

  while (1) {
    if (t.kind == '[') depth++;
    else if (t.kind == ']') depth--;
    if (t.kind == 0 || t.kind == '?' || depth < 0) {
      Refuse(R, &t, "expected a value, and as many ] as [");
      return;
    }
    if (!depth) return;
    t = Next(R);
  }
}

/* the place of an identity among all; new ones get memory for a label */
static PetscErrorCode FindId(Reader *R, const Token *t, PetscInt64 *k)
{
  PetscFunctionBegin;
  if (t->kind != 'n' && t->kind != 's') {
    Refuse(R, t, "expected the identity of a node");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpAppNamesAdd(&R->id, t->begin, (size_t)(t->end - t->begin), k));
  if (R->id.n > R->capacity) PetscCall(GpGraphGrowLabels_Private(&R->capacity, &R->label, &R->isnode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a character as UTF-8 and returns the number of bytes.  A character reference is never shorter than this. */
static size_t PutCharacter(unsigned long c, char *to)
{
  const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

  if (!more) to[0] = (char)c;
  else to[0] = (char)((0xFF00 >> (more + 1)) | (int)(c >> (6 * more)));
  for (int k = 1; k <= more; k++) to[k] = (char)(0x80 | ((c >> (6 * (more - k))) & 0x3F));
  return (size_t)more + 1;
}

/* Replaces references such as &quot; and &#252; in place, because GML is ASCII.  Unknown references and control characters remain as they are. */
static void DecodeReferences(char *text)
{
  static const struct {
    const char *name;
    char        value;
  } known[] = {{"&quot;", '"'}, {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&apos;", '\''}};
  char *to  = text;

  while (*text) {
    unsigned long c   = 0;
    char         *end = text;

    if (text[0] == '&' && text[1] == '#') {
      const PetscBool hex = (PetscBool)(text[2] == 'x' || text[2] == 'X');

      if (hex ? isxdigit((unsigned char)text[3]) : isdigit((unsigned char)text[2])) c = strtoul(text + (hex ? 3 : 2), &end, hex ? 16 : 10);
      end = *end == ';' && c >= 32 && c <= 0x10FFFF && (c < 127 || c > 159) && (c < 0xD800 || c > 0xDFFF) ? end + 1 : text;
    } else if (text[0] == '&') {
      for (size_t k = 0; k < sizeof(known) / sizeof(known[0]) && end == text; k++)
        if (!strncmp(text, known[k].name, strlen(known[k].name))) {
          c   = (unsigned long)known[k].value;
          end = text + strlen(known[k].name);
        }
    }
    if (end == text) *to++ = *text++;
    else {
      to += PutCharacter(c, to);
      text = end;
    }
  }
  *to = 0;
}

static PetscErrorCode ReadNode(Reader *R)
{
  Token      id = {NULL}, label = {NULL}, t;
  PetscInt64 k = -1;

  PetscFunctionBegin;
  for (t = Next(R); t.kind == 'w' && !R->wrong->code; t = Next(R)) {
    Token v = Next(R);

    if (Is(&t, "id")) id = v;
    else if (Is(&t, "label") || (Is(&t, "name") && !label.begin)) label = v;
    Skip(R, v);
  }
  if (R->wrong->code) PetscFunctionReturn(PETSC_SUCCESS);
  if (t.kind != ']') Refuse(R, &t, "expected a key or ] in node");
  else if (!id.begin) Refuse(R, &t, "expected an id in node");
  else PetscCall(FindId(R, &id, &k));
  if (R->wrong->code || k < 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (R->isnode[k]) Refuse(R, &id, "expected an id that no other node has");
  R->isnode[k] = PETSC_TRUE;
  if (label.begin && label.kind != '[' && !R->label[k]) {
    PetscCall(PetscMalloc1((size_t)(label.end - label.begin) + 1, &R->label[k]));
    memcpy(R->label[k], label.begin, (size_t)(label.end - label.begin));
    R->label[k][label.end - label.begin] = 0;
    DecodeReferences(R->label[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadEdge(Reader *R)
{
  Token t;
  Edge  e = {-1, -1, R->line, NAN};

  PetscFunctionBegin;
  for (t = Next(R); t.kind == 'w' && !R->wrong->code; t = Next(R)) {
    const PetscBool weight = Is(&t, "weight"), value = Is(&t, "value");
    Token           v = Next(R);

    if (Is(&t, "source")) PetscCall(FindId(R, &v, &e.source));
    else if (Is(&t, "target")) PetscCall(FindId(R, &v, &e.target));
    else if ((weight || (value && e.weight != e.weight)) && v.kind == 'n') {
      (void)GpAppScanReal(v.begin, &e.weight);
      if (!(e.weight >= 0 && e.weight <= PETSC_MAX_REAL)) Refuse(R, &v, "expected a weight that is finite and not negative");
    } else if (weight) Refuse(R, &v, "expected a number as weight");
    if (!R->wrong->code) Skip(R, v);
  }
  if (R->wrong->code) PetscFunctionReturn(PETSC_SUCCESS);
  if (t.kind != ']') Refuse(R, &t, "expected a key or ] in edge");
  else if (e.source < 0 || e.target < 0) Refuse(R, &t, "expected source and target in edge");
  if (R->wrong->code) PetscFunctionReturn(PETSC_SUCCESS);
  if (R->nedges == R->edgecapacity) {
    R->edgecapacity = PetscMax(64, 2 * R->edgecapacity);
    PetscCall(PetscRealloc((size_t)R->edgecapacity * sizeof(*R->edge), &R->edge));
  }
  R->edge[R->nedges++] = e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadGraph(Reader *R)
{
  Token t = Next(R);

  PetscFunctionBegin;
  if (t.kind != '[') Refuse(R, &t, "expected [ after graph");
  while (!R->wrong->code) {
    t = Next(R);
    if (t.kind != 'w') break;
    if (Is(&t, "node") || Is(&t, "edge")) {
      const PetscBool node = Is(&t, "node");

      t = Next(R);
      if (t.kind != '[') Refuse(R, &t, "expected [");
      else if (node) PetscCall(ReadNode(R));
      else PetscCall(ReadEdge(R));
    } else {
      Token v = Next(R);

      if (Is(&t, "directed")) R->directed = (PetscBool)(v.kind == 'n' && *v.begin == '1');
      Skip(R, v);
    }
  }
  if (!R->wrong->code && t.kind != ']') Refuse(R, &t, "expected a key or ] in graph");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* edges between nodes that are there; labels for names if they tell all nodes apart, else the identities */
static PetscErrorCode Finish(Reader *R)
{
  const PetscInt64 n = R->id.n;

  PetscFunctionBegin;
  for (PetscInt64 k = 0; k < R->nedges; k++) {
    const Edge *e = &R->edge[k];

    if (!R->isnode[e->source] || !R->isnode[e->target]) {
      const char *id = GpAppNamesGet(&R->id, R->isnode[e->source] ? e->target : e->source);

      GpAppComplain(R->wrong, e->line, id, id + strlen(id), "expected an edge between nodes of the graph");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(GpGraphKeepEdge_Private(R->G, e->source, e->target, e->weight, (PetscBool)!R->directed));
  }
  PetscCall(GpGraphSetLabels_Private(R->G, n, R->label, 0));
  if (!R->G->named) {
    R->G->names = R->id;
    R->id       = (GpAppNames){0};
    R->G->named = PETSC_TRUE;
  }
  R->G->undirected = (PetscBool)!R->directed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpGraphReadGML_Private(const GpAppText *T, GpAppGraph *G, GpAppComplaint *C)
{
  Reader    R     = {G, C, T->text, T->text + T->length, 1};
  PetscBool found = PETSC_FALSE;

  PetscFunctionBegin;
  while (!C->code && !found) {
    Token t = Next(&R);

    found = Is(&t, "graph");
    if (found) PetscCall(ReadGraph(&R));
    else if (t.kind != 'w') Refuse(&R, &t, "expected graph [ ... ]");
    else Skip(&R, Next(&R)); /* Creator, Version */
  }
  if (!C->code && !R.id.n) {
    Token none = {"", ""};

    Refuse(&R, &none, "expected a graph with nodes");
  }
  if (!C->code) PetscCall(Finish(&R));
  for (PetscInt64 k = 0; k < R.capacity; k++) PetscCall(PetscFree(R.label[k]));
  PetscCall(PetscFree(R.label));
  PetscCall(PetscFree(R.isnode));
  PetscCall(PetscFree(R.edge));
  PetscCall(GpAppNamesDestroy(&R.id));
  PetscFunctionReturn(PETSC_SUCCESS);
}
