/* Graphs in GraphML (U. Brandes et al. 2002), parsed by the expat library, which is looked for at run time: only this format needs it. */
#include "app/graph/appgraphread.h"
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The functions of expat that are used. Its interface has not changed since version 1.95. */
typedef struct XML_ParserStruct *XML_Parser;

typedef struct {
  void *library;
  XML_Parser (*ParserCreate)(const char *);
  void (*ParserFree)(XML_Parser);
  void (*SetUserData)(XML_Parser, void *);
  void (*SetElementHandler)(XML_Parser, void (*)(void *, const char *, const char **), void (*)(void *, const char *));
  void (*SetCharacterDataHandler)(XML_Parser, void (*)(void *, const char *, int));
  void (*SetEntityDeclHandler)(XML_Parser, void (*)(void *, const char *, int, const char *, int, const char *, const char *, const char *, const char *));
  int (*Parse)(XML_Parser, const char *, int, int);
  int (*StopParser)(XML_Parser, unsigned char);
  int (*GetErrorCode)(XML_Parser);
  const char *(*ErrorString)(int);
  unsigned long (*GetCurrentLineNumber)(XML_Parser);
} Expat;

enum {
  VALUE = 1024, /* longest value, such as a label */
  KEYS  = 8     /* keys for labels of nodes or weights of edges */
};

typedef enum {
  KEY_NONE,
  KEY_LABEL,
  KEY_WEIGHT
} KeyKind;

typedef struct {
  GpAppComplaint *wrong;
  const Expat    *expat;
  XML_Parser      parser;
  PetscErrorCode  ierr;
  PetscBool       root, directed, arcs, graph; /* root: the element graphml has begun */
  int             nkeys;
  struct {
    char    id[64];
    KeyKind kind;
    double  otherwise; /* the default weight, or NaN */
  } key[KEYS];
  int             declaring; /* the key whose default may come, or -1 */
  PetscBool       collects, inedge;
  KeyKind         collecting;
  size_t          nvalue;
  char            value[VALUE];
  PetscInt64      node; /* the place of the current node; -1: none */
  GpAppGraphEdge  edge; /* the current edge */
  GpAppGraphParts parts;
} Reader;

/* Opens the library. Returns NULL if it is not installed or lacks a function. */
static const Expat *GraphMLOpenExpat(void)
{
  static const char *const names[] = {"XML_ParserCreate", "XML_ParserFree", "XML_SetUserData",  "XML_SetElementHandler", "XML_SetCharacterDataHandler", "XML_SetEntityDeclHandler",
                                      "XML_Parse",        "XML_StopParser", "XML_GetErrorCode", "XML_ErrorString",       "XML_GetCurrentLineNumber"};
  static Expat             E;
  void                    *symbol[sizeof(names) / sizeof(names[0])];

  if (E.library) return &E;
  E.library = dlopen("libexpat.so.1", RTLD_NOW | RTLD_LOCAL);
  for (size_t k = 0; E.library && k < sizeof(names) / sizeof(names[0]); k++) {
    symbol[k] = dlsym(E.library, names[k]);
    if (symbol[k]) continue;
    (void)dlclose(E.library);
    E.library = NULL;
  }
  if (!E.library) return NULL;
  memcpy((char *)&E + offsetof(Expat, ParserCreate), symbol, sizeof(symbol)); /* the members behind library, in the order of the names */
  return &E;
}

static void GraphMLRefuse(Reader *R, const char token[], const char expected[])
{
  GpAppComplain(R->wrong, (PetscInt64)R->expat->GetCurrentLineNumber(R->parser), token, token + strlen(token), expected);
  (void)R->expat->StopParser(R->parser, 0);
}

static const char *GraphMLFindAttribute(const char **attributes, const char name[])
{
  for (; *attributes; attributes += 2)
    if (!strcmp(attributes[0], name)) return attributes[1];
  return NULL;
}

/* Returns the name of an element without the prefix of its namespace. */
static const char *GraphMLGetLocalName(const char *name)
{
  const char *colon = strrchr(name, ':');

  return colon ? colon + 1 : name;
}

static void GraphMLBeginKey(Reader *R, const char **attributes)
{
  const char *id = GraphMLFindAttribute(attributes, "id"), *name = GraphMLFindAttribute(attributes, "attr.name"), *of = GraphMLFindAttribute(attributes, "for");
  KeyKind     kind;

  R->declaring = -1;
  if (!id || !name || strlen(id) >= sizeof(R->key[0].id)) return;
  kind = (!of || strcmp(of, "edge")) && (!strcmp(name, "name") || !strcmp(name, "label")) ? KEY_LABEL : (!of || strcmp(of, "node")) && !strcmp(name, "weight") ? KEY_WEIGHT : KEY_NONE;
  if (kind == KEY_NONE || R->nkeys == KEYS) return;
  R->declaring = R->nkeys;
  memcpy(R->key[R->nkeys].id, id, strlen(id) + 1);
  R->key[R->nkeys].kind        = kind;
  R->key[R->nkeys++].otherwise = NAN;
}

static void GraphMLBeginValue(Reader *R, KeyKind kind)
{
  R->collects   = PETSC_TRUE;
  R->collecting = kind;
  R->nvalue     = 0;
}

static PetscErrorCode GraphMLBeginNode(Reader *R, const char **attributes)
{
  const char *id = GraphMLFindAttribute(attributes, "id");

  PetscFunctionBegin;
  if (!id || !*id) {
    GraphMLRefuse(R, "", "expected a node with an id");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpAppGraphPartsFind(&R->parts, id, strlen(id), &R->node));
  if (R->parts.declared[R->node]) GraphMLRefuse(R, id, "expected an id that no other node has");
  R->parts.declared[R->node] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphMLBeginEdge(Reader *R, const char **attributes)
{
  const char *source = GraphMLFindAttribute(attributes, "source"), *target = GraphMLFindAttribute(attributes, "target"), *directed = GraphMLFindAttribute(attributes, "directed");

  PetscFunctionBegin;
  if (!source || !target) {
    GraphMLRefuse(R, "", "expected an edge with source and target");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpAppGraphPartsFind(&R->parts, source, strlen(source), &R->edge.from));
  PetscCall(GpAppGraphPartsFind(&R->parts, target, strlen(target), &R->edge.to));
  R->edge.both   = (PetscBool)(directed ? strcmp(directed, "true") && strcmp(directed, "1") : !R->directed);
  R->edge.weight = NAN;
  R->arcs        = (PetscBool)(R->arcs || !R->edge.both);
  R->inedge      = PETSC_TRUE;
  for (int k = 0; k < R->nkeys; k++)
    if (R->key[k].kind == KEY_WEIGHT) R->edge.weight = R->key[k].otherwise;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void GraphMLBeginElement(void *context, const char *element, const char **attributes)
{
  Reader     *R    = (Reader *)context;
  const char *name = GraphMLGetLocalName(element);

  if (R->ierr || R->wrong->code) return;
  if (!R->root && strcmp(name, "graphml")) {
    GraphMLRefuse(R, name, "expected the first element of GraphML, graphml");
    return;
  }
  R->root = PETSC_TRUE;
  if (!strcmp(name, "graph")) {
    const char *direction = GraphMLFindAttribute(attributes, "edgedefault");

    R->graph    = PETSC_TRUE;
    R->directed = (PetscBool)(direction && !strcmp(direction, "directed"));
  } else if (!strcmp(name, "key")) GraphMLBeginKey(R, attributes);
  else if (!strcmp(name, "default") && R->declaring >= 0) GraphMLBeginValue(R, KEY_NONE);
  else if (!strcmp(name, "node")) R->ierr = GraphMLBeginNode(R, attributes);
  else if (!strcmp(name, "edge")) R->ierr = GraphMLBeginEdge(R, attributes);
  else if (!strcmp(name, "hyperedge")) GraphMLRefuse(R, "", "expected edges between two nodes, not hyperedges");
  else if (!strcmp(name, "data")) {
    const char *id = GraphMLFindAttribute(attributes, "key");

    for (int k = 0; id && k < R->nkeys; k++)
      if (!strcmp(R->key[k].id, id)) GraphMLBeginValue(R, R->key[k].kind);
  }
}

static void GraphMLAppendValue(void *context, const char *text, int length)
{
  Reader *R = (Reader *)context;

  if (!R->collects || R->ierr || R->wrong->code) return;
  if (R->nvalue + (size_t)length >= VALUE) {
    GraphMLRefuse(R, "", "expected a label or a weight of at most 1023 bytes");
    return;
  }
  memcpy(R->value + R->nvalue, text, (size_t)length);
  R->nvalue += (size_t)length;
}

static double GraphMLScanWeight(Reader *R)
{
  double      w   = NAN;
  const char *p   = GpAppSkipBlanks(R->value);
  const char *end = GpAppScanReal(p, &w);

  if (!end || *GpAppSkipBlanks(end) || !(w >= 0 && w <= PETSC_MAX_REAL)) GraphMLRefuse(R, p, GP_GRAPH_EXPECTED_WEIGHT);
  return w;
}

static void GraphMLEndElement(void *context, const char *element)
{
  Reader     *R    = (Reader *)context;
  const char *name = GraphMLGetLocalName(element);

  if (R->ierr || R->wrong->code) return;
  R->value[R->nvalue] = 0;
  if (!strcmp(name, "key")) R->declaring = -1;
  else if (!strcmp(name, "default") && R->collects && R->declaring >= 0) {
    if (R->key[R->declaring].kind == KEY_WEIGHT) R->key[R->declaring].otherwise = GraphMLScanWeight(R);
  } else if (!strcmp(name, "data") && R->collects) {
    if (R->collecting == KEY_WEIGHT && R->inedge) R->edge.weight = GraphMLScanWeight(R);
    else if (R->collecting == KEY_LABEL && R->node >= 0 && !R->inedge) R->ierr = GpAppGraphCopyLabel(R->value, R->nvalue, &R->parts.label[R->node]);
  } else if (!strcmp(name, "node")) R->node = -1;
  else if (!strcmp(name, "edge")) {
    R->edge.line = (PetscInt64)R->expat->GetCurrentLineNumber(R->parser);
    R->ierr      = GpAppGraphPartsAddEdge(&R->parts, &R->edge);
    R->inedge    = PETSC_FALSE;
  } else return;
  R->collects = PETSC_FALSE;
}

/* Entities of a document of its own can expand to any length. */
static void GraphMLRefuseEntity(void *context, const char *entity, int parameter, const char *value, int length, const char *base, const char *system, const char *id, const char *notation)
{
  GraphMLRefuse((Reader *)context, entity, "expected a document without entities of its own");
}

/* Parses the text by expat, whose error becomes a complaint. */
static PetscErrorCode GraphMLParse(Reader *R, const GpAppText *T)
{
  const Expat *E    = R->expat;
  int          good = 1;

  PetscFunctionBegin;
  R->parser = E->ParserCreate(NULL);
  PetscCheck(R->parser, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s: no memory for the XML parser", T->file);
  E->SetUserData(R->parser, R);
  E->SetElementHandler(R->parser, GraphMLBeginElement, GraphMLEndElement);
  E->SetCharacterDataHandler(R->parser, GraphMLAppendValue);
  E->SetEntityDeclHandler(R->parser, GraphMLRefuseEntity);
  for (size_t at = 0, now; good && at < T->length; at += now) {
    now  = PetscMin(T->length - at, (size_t)1 << 20);
    good = E->Parse(R->parser, T->text + at, (int)now, at + now == T->length);
  }
  if (!good && !R->ierr) GpAppComplainAbout(R->wrong, PETSC_ERR_FILE_UNEXPECTED, PetscMin((PetscInt64)E->GetCurrentLineNumber(R->parser), T->lines), "expected XML, got %s", E->ErrorString(E->GetErrorCode(R->parser)));
  E->ParserFree(R->parser);
  PetscCall(R->ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppGraphReadGraphML(const GpAppText *T, GpAppGraph *G, GpAppComplaint *C)
{
  const Expat   *expat = GraphMLOpenExpat();
  Reader        *R;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (!expat) {
    GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "GraphML is read by the expat library, libexpat.so.1, which is not installed (Debian: libexpat1)");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&R));
  R->wrong     = C;
  R->expat     = expat;
  R->node      = -1;
  R->declaring = -1;
  ierr         = GraphMLParse(R, T);
  if (!ierr && (!R->graph || !R->parts.id.n)) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "expected GraphML with a graph that has nodes");
  if (!ierr && !C->code) ierr = GpAppGraphPartsFinish(&R->parts, (PetscBool)!R->arcs, G, C);
  PetscCall(GpAppGraphPartsDestroy(&R->parts));
  PetscCall(PetscFree(R));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
