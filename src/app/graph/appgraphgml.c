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
  GpAppGraphParts parts;
  GpAppComplaint *wrong;
  const char     *p, *end;
  PetscInt64      line;
  PetscBool       directed;
} Reader;

static Token GMLReadToken(Reader *R)
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

static PetscBool GMLIsWord(const Token *t, const char word[])
{
  return (PetscBool)(t->kind == 'w' && (size_t)(t->end - t->begin) == strlen(word) && !strncasecmp(t->begin, word, strlen(word)));
}

static void GMLRefuse(Reader *R, const Token *t, const char expected[])
{
  GpAppComplain(R->wrong, R->line, t->begin, t->end, expected);
}

/* Skips a value, and a list with all its values. */
static void GMLSkipValue(Reader *R, Token t)
{
  PetscInt64 depth = 0;

  while (1) {
    if (t.kind == '[') depth++;
    else if (t.kind == ']') depth--;
    if (t.kind == 0 || t.kind == '?' || depth < 0) {
      GMLRefuse(R, &t, "expected a value, and as many ] as [");
      return;
    }
    if (!depth) return;
    t = GMLReadToken(R);
  }
}

static PetscErrorCode GMLFindNode(Reader *R, const Token *t, PetscInt64 *place)
{
  PetscFunctionBegin;
  if (t->kind != 'n' && t->kind != 's') GMLRefuse(R, t, "expected the identity of a node");
  else PetscCall(GpAppGraphPartsFind(&R->parts, t->begin, (size_t)(t->end - t->begin), place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a character as UTF-8 and returns the number of bytes.  A character reference is never shorter than this. */
static size_t GMLPutCharacter(unsigned long c, char *to)
{
  const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

  if (!more) to[0] = (char)c;
  else to[0] = (char)((0xFF00 >> (more + 1)) | (int)(c >> (6 * more)));
  for (int k = 1; k <= more; k++) to[k] = (char)(0x80 | ((c >> (6 * (more - k))) & 0x3F));
  return (size_t)more + 1;
}

/* Replaces references such as &quot; and &#252; in place, because GML is ASCII.  Unknown references and control characters remain as they are. */
static void GMLDecodeReferences(char *text)
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
      to += GMLPutCharacter(c, to);
      text = end;
    }
  }
  *to = 0;
}

static PetscErrorCode GMLReadNode(Reader *R)
{
  Token      id = {NULL}, label = {NULL}, t;
  PetscInt64 k = -1;

  PetscFunctionBegin;
  for (t = GMLReadToken(R); t.kind == 'w' && !R->wrong->code; t = GMLReadToken(R)) {
    Token v = GMLReadToken(R);

    if (GMLIsWord(&t, "id")) id = v;
    else if (GMLIsWord(&t, "label") || (GMLIsWord(&t, "name") && !label.begin)) label = v;
    GMLSkipValue(R, v);
  }
  if (R->wrong->code) PetscFunctionReturn(PETSC_SUCCESS);
  if (t.kind != ']') GMLRefuse(R, &t, "expected a key or ] in node");
  else if (!id.begin) GMLRefuse(R, &t, "expected an id in node");
  else PetscCall(GMLFindNode(R, &id, &k));
  if (R->wrong->code || k < 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (R->parts.declared[k]) GMLRefuse(R, &id, "expected an id that no other node has");
  R->parts.declared[k] = PETSC_TRUE;
  if (label.begin && label.kind != '[' && !R->parts.label[k]) {
    PetscCall(GpAppGraphCopyLabel(label.begin, (size_t)(label.end - label.begin), &R->parts.label[k]));
    GMLDecodeReferences(R->parts.label[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GMLReadEdge(Reader *R)
{
  GpAppGraphEdge e = {-1, -1, R->line, NAN, PETSC_FALSE};
  Token          t;

  PetscFunctionBegin;
  for (t = GMLReadToken(R); t.kind == 'w' && !R->wrong->code; t = GMLReadToken(R)) {
    const PetscBool weight = GMLIsWord(&t, "weight"), value = GMLIsWord(&t, "value");
    Token           v = GMLReadToken(R);

    if (GMLIsWord(&t, "source")) PetscCall(GMLFindNode(R, &v, &e.from));
    else if (GMLIsWord(&t, "target")) PetscCall(GMLFindNode(R, &v, &e.to));
    else if ((weight || (value && e.weight != e.weight)) && v.kind == 'n') {
      (void)GpAppScanReal(v.begin, &e.weight);
      if (!(e.weight >= 0 && e.weight <= PETSC_MAX_REAL)) GMLRefuse(R, &v, GP_GRAPH_EXPECTED_WEIGHT);
    } else if (weight) GMLRefuse(R, &v, "expected a number as weight");
    if (!R->wrong->code) GMLSkipValue(R, v);
  }
  if (R->wrong->code) PetscFunctionReturn(PETSC_SUCCESS);
  if (t.kind != ']') GMLRefuse(R, &t, "expected a key or ] in edge");
  else if (e.from < 0 || e.to < 0) GMLRefuse(R, &t, "expected source and target in edge");
  else PetscCall(GpAppGraphPartsAddEdge(&R->parts, &e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GMLReadGraph(Reader *R)
{
  Token t = GMLReadToken(R);

  PetscFunctionBegin;
  if (t.kind != '[') GMLRefuse(R, &t, "expected [ after graph");
  while (!R->wrong->code) {
    t = GMLReadToken(R);
    if (t.kind != 'w') break;
    if (GMLIsWord(&t, "node") || GMLIsWord(&t, "edge")) {
      const PetscBool node = GMLIsWord(&t, "node");

      t = GMLReadToken(R);
      if (t.kind != '[') GMLRefuse(R, &t, "expected [");
      else if (node) PetscCall(GMLReadNode(R));
      else PetscCall(GMLReadEdge(R));
    } else {
      Token v = GMLReadToken(R);

      if (GMLIsWord(&t, "directed")) R->directed = (PetscBool)(v.kind == 'n' && *v.begin == '1');
      GMLSkipValue(R, v);
    }
  }
  if (!R->wrong->code && t.kind != ']') GMLRefuse(R, &t, "expected a key or ] in graph");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppGraphReadGML(const GpAppText *T, GpAppGraph *G, GpAppComplaint *C)
{
  Reader    R     = {.wrong = C, .p = T->text, .end = T->text + T->length, .line = 1};
  PetscBool found = PETSC_FALSE;

  PetscFunctionBegin;
  while (!C->code && !found) {
    Token t = GMLReadToken(&R);

    found = GMLIsWord(&t, "graph");
    if (found) PetscCall(GMLReadGraph(&R));
    else if (t.kind != 'w') GMLRefuse(&R, &t, "expected graph [ ... ]");
    else GMLSkipValue(&R, GMLReadToken(&R)); /* Creator, Version */
  }
  if (!R.parts.id.n) GpAppComplain(C, R.line, "", "", "expected a graph with nodes");
  if (!C->code) PetscCall(GpAppGraphPartsFinish(&R.parts, (PetscBool)!R.directed, G, C));
  PetscCall(GpAppGraphPartsDestroy(&R.parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
