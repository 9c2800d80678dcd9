/* Graphs in GraphML (U. Brandes et al. 2002), parsed by the expat library, which is looked for at run time: only this format needs it. */
#include "app/graph/appgraphread.h"
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* what is used of expat; its interface has not changed since version 1.95 */
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
  GpAppGraph     *G;
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
  int        declaring; /* the key whose default may come, or -1 */
  PetscBool  collects, edgeboth, inedge;
  KeyKind    collecting;
  size_t     nvalue;
  char       value[VALUE];
  PetscInt64 node, from, to;
  double     weight;
  GpAppNames id;
  PetscBool *isnode;
  char     **label;
  PetscInt64 capacity;
  PetscInt64 nedges, edgecapacity;
  struct XMLEdge {
    PetscInt64 from, to, line;
    double     weight;
    PetscBool  both;
  } * edge;
} Reader;

/* opens the library; NULL where it is not there or lacks something */
static const Expat *OpenExpat(void)
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

static void Refuse(Reader *R, const char token[], const char expected[])
{
  GpAppComplain(R->wrong, (PetscInt64)R->expat->GetCurrentLineNumber(R->parser), token, token + strlen(token), expected);
  (void)R->expat->StopParser(R->parser, 0);
}

static const char *Attribute(const char **attributes, const char name[])
{
  for (; *attributes; attributes += 2)
    if (!strcmp(attributes[0], name)) return attributes[1];
  return NULL;
}

/* the name of an element without its namespace's prefix */
static const char *Local(const char *name)
{
  const char *colon = strrchr(name, ':');

  return colon ? colon + 1 : name;
}

static PetscErrorCode FindId(Reader *R, const char *id, PetscInt64 *k)
{
  PetscFunctionBegin;
  PetscCall(GpAppNamesAdd(&R->id, id, strlen(id), k));
  if (R->id.n > R->capacity) PetscCall(GpGraphGrowLabels_Private(&R->capacity, &R->label, &R->isnode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void BeginKey(Reader *R, const char **attributes)
{
  const char *id = Attribute(attributes, "id"), *name = Attribute(attributes, "attr.name"), *of = Attribute(attributes, "for");
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

static void Collect(Reader *R, KeyKind kind)
{
  R->collects   = PETSC_TRUE;
  R->collecting = kind;
  R->nvalue     = 0;
}

static PetscErrorCode BeginNode(Reader *R, const char **attributes)
{
  const char *id = Attribute(attributes, "id");

  PetscFunctionBegin;
  if (!id || !*id) {
    Refuse(R, "", "expected a node with an id");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindId(R, id, &R->node));
  if (R->isnode[R->node]) Refuse(R, id, "expected an id that no other node has");
  R->isnode[R->node] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BeginEdge(Reader *R, const char **attributes)
{
  const char *source = Attribute(attributes, "source"), *target = Attribute(attributes, "target"), *directed = Attribute(attributes, "directed");

  PetscFunctionBegin;
  if (!source || !target) {
    Refuse(R, "", "expected an edge with source and target");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindId(R, source, &R->from));
  PetscCall(FindId(R, target, &R->to));
  R->edgeboth = (PetscBool)(directed ? strcmp(directed, "true") && strcmp(directed, "1") : !R->directed);
  R->arcs     = (PetscBool)(R->arcs || !R->edgeboth);
  R->inedge   = PETSC_TRUE;
  R->weight   = NAN;
  for (int k = 0; k < R->nkeys; k++)
    if (R->key[k].kind == KEY_WEIGHT) R->weight = R->key[k].otherwise;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void BeginElement(void *context, const char *element, const char **attributes)
{
  Reader     *R    = (Reader *)context;
  const char *name = Local(element);

  if (R->ierr || R->wrong->code) return;
  if (!R->root && strcmp(name, "graphml")) {
    Refuse(R, name, "expected the first element of GraphML, graphml");
    return;
  }
  R->root = PETSC_TRUE;
  if (!strcmp(name, "graph")) {
    const char *direction = Attribute(attributes, "edgedefault");

    R->graph    = PETSC_TRUE;
    R->directed = (PetscBool)(direction && !strcmp(direction, "directed"));
  } else if (!strcmp(name, "key")) BeginKey(R, attributes);
  else if (!strcmp(name, "default") && R->declaring >= 0) Collect(R, KEY_NONE);
  else if (!strcmp(name, "node")) R->ierr = BeginNode(R, attributes);
  else if (!strcmp(name, "edge")) R->ierr = BeginEdge(R, attributes);
  else if (!strcmp(name, "hyperedge")) Refuse(R, "", "expected edges between two nodes, not hyperedges");
  else if (!strcmp(name, "data")) {
    const char *id = Attribute(attributes, "key");

    for (int k = 0; id && k < R->nkeys; k++)
      if (!strcmp(R->key[k].id, id)) Collect(R, R->key[k].kind);
  }
}

static void Characters(void *context, const char *text, int length)
{
  Reader *R = (Reader *)context;

  if (!R->collects || R->ierr || R->wrong->code) return;
  if (R->nvalue + (size_t)length >= VALUE) {
    Refuse(R, "", "expected a label or a weight of at most 1023 bytes");
    return;
  }
  memcpy(R->value + R->nvalue, text, (size_t)length);
  R->nvalue += (size_t)length;
}

static double Weight(Reader *R)
{
  double      w   = NAN;
  const char *p   = GpGraphSkipBlanks(R->value);
  const char *end = GpAppScanReal(p, &w);

  if (!end || *GpGraphSkipBlanks(end) || !(w >= 0 && w <= PETSC_MAX_REAL)) Refuse(R, p, "expected a weight that is finite and not negative");
  return w;
}

static PetscErrorCode EndEdge(Reader *R)
{
  PetscFunctionBegin;
  if (R->nedges == R->edgecapacity) {
    R->edgecapacity = PetscMax(64, 2 * R->edgecapacity);
    PetscCall(PetscRealloc((size_t)R->edgecapacity * sizeof(*R->edge), &R->edge));
  }
  R->edge[R->nedges++] = (struct XMLEdge){R->from, R->to, (PetscInt64)R->expat->GetCurrentLineNumber(R->parser), R->weight, R->edgeboth};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetLabel(Reader *R)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(R->label[R->node]));
  PetscCall(PetscMalloc1(R->nvalue + 1, &R->label[R->node]));
  memcpy(R->label[R->node], R->value, R->nvalue + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void EndElement(void *context, const char *element)
{
  Reader     *R    = (Reader *)context;
  const char *name = Local(element);

  if (R->ierr || R->wrong->code) return;
  R->value[R->nvalue] = 0;
  if (!strcmp(name, "key")) R->declaring = -1;
  else if (!strcmp(name, "default") && R->collects && R->declaring >= 0) {
    if (R->key[R->declaring].kind == KEY_WEIGHT) R->key[R->declaring].otherwise = Weight(R);
  } else if (!strcmp(name, "data") && R->collects) {
    if (R->collecting == KEY_WEIGHT && R->inedge) R->weight = Weight(R);
    else if (R->collecting == KEY_LABEL && R->node >= 0 && !R->inedge) R->ierr = SetLabel(R);
  } else if (!strcmp(name, "node")) R->node = -1;
  else if (!strcmp(name, "edge")) {
    R->ierr   = EndEdge(R);
    R->inedge = PETSC_FALSE;
  } else return;
  R->collects = PETSC_FALSE;
}

/* Entities of a document of its own can expand to any length. */
static void Entity(void *context, const char *entity, int parameter, const char *value, int length, const char *base, const char *system, const char *id, const char *notation)
{
  Refuse((Reader *)context, entity, "expected a document without entities of its own");
}

/* edges between nodes that are there; labels for names if they tell all nodes apart, else the identities */
static PetscErrorCode Finish(Reader *R)
{
  const PetscInt64 n = R->id.n;

  PetscFunctionBegin;
  for (PetscInt64 k = 0; k < R->nedges; k++) {
    const struct XMLEdge *e = &R->edge[k];

    if (!R->isnode[e->from] || !R->isnode[e->to]) {
      const char *id = GpAppNamesGet(&R->id, R->isnode[e->from] ? e->to : e->from);

      GpAppComplain(R->wrong, e->line, id, id + strlen(id), "expected an edge between nodes of the graph");
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(GpGraphKeepEdge_Private(R->G, e->from, e->to, e->weight, e->both));
  }
  PetscCall(GpGraphSetLabels_Private(R->G, n, R->label, 0));
  if (!R->G->named) {
    R->G->names = R->id;
    R->id       = (GpAppNames){0};
    R->G->named = PETSC_TRUE;
  }
  R->G->undirected = (PetscBool)!R->arcs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* feeds the text to expat; what that finds wrong becomes a complaint */
static PetscErrorCode Parse(Reader *R, const GpAppText *T)
{
  const Expat *E    = R->expat;
  int          good = 1;

  PetscFunctionBegin;
  R->parser = E->ParserCreate(NULL);
  PetscCheck(R->parser, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s: no memory for the XML parser", T->file);
  E->SetUserData(R->parser, R);
  E->SetElementHandler(R->parser, BeginElement, EndElement);
  E->SetCharacterDataHandler(R->parser, Characters);
  E->SetEntityDeclHandler(R->parser, Entity);
  for (size_t at = 0, now; good && at < T->length; at += now) {
    now  = PetscMin(T->length - at, (size_t)1 << 20);
    good = E->Parse(R->parser, T->text + at, (int)now, at + now == T->length);
  }
  if (!good && !R->wrong->code && !R->ierr) {
    R->wrong->code = PETSC_ERR_FILE_UNEXPECTED;
    R->wrong->line = PetscMin((PetscInt64)E->GetCurrentLineNumber(R->parser), T->lines);
    (void)snprintf(R->wrong->what, sizeof(R->wrong->what), "expected XML, got %s", E->ErrorString(E->GetErrorCode(R->parser)));
  }
  E->ParserFree(R->parser);
  PetscCall(R->ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpGraphReadGraphML_Private(const GpAppText *T, GpAppGraph *G, GpAppComplaint *C)
{
  Reader        *R;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (!OpenExpat()) {
    C->code = PETSC_ERR_FILE_UNEXPECTED;
    (void)snprintf(C->what, sizeof(C->what), "GraphML is read by the expat library, libexpat.so.1, which is not installed (Debian: libexpat1)");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&R));
  R->G         = G;
  R->wrong     = C;
  R->expat     = OpenExpat();
  R->node      = -1;
  R->declaring = -1;
  ierr         = Parse(R, T);
  if (!ierr && !C->code && (!R->graph || !R->id.n)) {
    C->code = PETSC_ERR_FILE_UNEXPECTED;
    (void)snprintf(C->what, sizeof(C->what), "expected GraphML with a graph that has nodes");
  }
  if (!ierr && !C->code) ierr = Finish(R);
  for (PetscInt64 k = 0; k < R->capacity; k++) PetscCall(PetscFree(R->label[k]));
  PetscCall(PetscFree(R->label));
  PetscCall(PetscFree(R->isnode));
  PetscCall(PetscFree(R->edge));
  PetscCall(GpAppNamesDestroy(&R->id));
  PetscCall(PetscFree(R));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
