/* The graph reader: recognises the format, calls its reader, and describes the result. */
#include "app/graph/appgraphread.h"
#include "app/binary/appbinary.h"
#include "app/market/appmarket.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *const        GpAppGraphFormats[] = {"auto", "edges", "metis", "pajek", "gml", "graphml", "dimacs", "market", "binary", "GpAppGraphFormat", "", NULL};
static const char *const Choices[]           = {"auto", "yes", "no", "GpAppGraphChoice", "", NULL};
static const char *const Words[]             = {"", "edge list", "METIS", "Pajek", "GML", "GraphML", "DIMACS", "Matrix Market", "PETSc binary"};

PetscErrorCode GpAppGraphDestroy(GpAppGraph *G)
{
  PetscFunctionBegin;
  PetscCall(GpAppLinksDestroy(&G->links));
  PetscCall(GpAppNamesDestroy(&G->names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns whether a text begins with a word of upper or lower case, after blanks and lines that begin with `comment`. */
static PetscBool GraphBeginsWith(const char *p, char comment, const char word[])
{
  for (; *p; p++) {
    if (isspace((unsigned char)*p)) continue;
    if (*p != comment) break;
    p += strcspn(p, "\n");
    if (!*p) break;
  }
  return (PetscBool)!strncasecmp(p, word, strlen(word));
}

/* Returns whether a text is DIMACS: comment lines c, then p <problem> <nodes> <edges>. */
static PetscBool GraphIsDimacs(const char begin[])
{
  char      problem[32];
  long long n, m;

  for (; *begin == 'c' && (begin[1] == ' ' || begin[1] == '\n' || begin[1] == '\t');) {
    begin += strcspn(begin, "\n");
    begin += *begin == '\n';
  }
  return (PetscBool)(begin[0] == 'p' && begin[1] == ' ' && sscanf(begin + 1, "%31s %lld %lld", problem, &n, &m) == 3 && isalpha((unsigned char)*problem));
}

/* Recognises the format by the first bytes of a text. Edge lists and METIS are distinguished later. */
static GpAppGraphFormat GraphFindFormat(const char begin[])
{
  const char *gml = begin;

  if (GraphBeginsWith(begin, 0, "%%MatrixMarket")) return GP_GRAPH_MARKET;
  if (GraphBeginsWith(begin, '%', "*Vertices") || GraphBeginsWith(begin, '%', "*Network")) return GP_GRAPH_PAJEK;
  if (GraphBeginsWith(begin, 0, "<?xml") || GraphBeginsWith(begin, 0, "<graphml") || GraphBeginsWith(begin, 0, "<!--")) return GP_GRAPH_GRAPHML;
  if (GraphIsDimacs(begin)) return GP_GRAPH_DIMACS;
  for (const char *key[] = {"Creator", "Version", "comment", "graph"}, **k = key; k < key + 4; k++) {
    if (!GraphBeginsWith(gml, '#', *k)) continue;
    gml = strstr(begin, "graph");
    for (; gml; gml = strstr(gml + 1, "graph"))
      if (gml[5 + strspn(gml + 5, " \t\r\n")] == '[') return GP_GRAPH_GML;
    gml = begin;
  }
  return GP_GRAPH_EDGES;
}

/* Reads a Matrix Market file. Entry (i,j) is the weight of the link from i to j. */
static PetscErrorCode GraphReadMarket(GpAppText *T, GpAppGraph *G)
{
  GpAppMarket mk;

  PetscFunctionBegin;
  PetscCall(GpAppMarketParse(T, GP_MARKET_SQUARE | GP_MARKET_NONNEGATIVE | GP_MARKET_NONZERO, &mk));
  PetscCall(GpAppMarketExpand(&mk));
  G->links      = (GpAppLinks){mk.i, mk.j, mk.a, mk.n, mk.n};
  G->nodes      = mk.N;
  G->base       = 1;
  G->edges      = mk.entries;
  G->weighted   = (PetscBool)!mk.pattern;
  G->undirected = mk.symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a matrix in PETSc's binary format. Entry (i,j) is the weight of the link from i to j. */
static PetscErrorCode GraphReadBinary(GpAppGraph *G)
{
  GpAppComplaint wrong = {0};
  GpAppLinks    *L     = &G->links;
  Mat            B;
  PetscInt       M, N, first, last;

  PetscFunctionBegin;
  PetscCall(GpAppMatLoad(G->comm, G->file, MATAIJ, &B));
  PetscCall(MatGetSize(B, &M, &N));
  PetscCall(MatGetOwnershipRange(B, &first, &last));
  for (PetscInt r = first; r < last && M == N; r++) {
    PetscInt           n;
    const PetscInt    *col;
    const PetscScalar *val;

    PetscCall(MatGetRow(B, r, &n, &col, &val));
    PetscCall(GpAppLinksReserve(L, n, PETSC_TRUE));
    for (PetscInt k = 0; k < n; k++) {
      if (!(PetscRealPart(val[k]) >= 0 && PetscRealPart(val[k]) <= PETSC_MAX_REAL))
        GpAppComplainAbout(&wrong, PETSC_ERR_FILE_UNEXPECTED, 0, "row %" PetscInt_FMT ", column %" PetscInt_FMT ": the weight of a link must be finite and not negative, got %g", r, col[k], (double)PetscRealPart(val[k]));
      GpAppLinksAppend(L, r, col[k], PetscRealPart(val[k]));
    }
    PetscCall(MatRestoreRow(B, r, &n, &col, &val));
  }
  PetscCall(MatDestroy(&B));
  PetscCheck(M == N && N > 0, G->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a graph needs a square matrix with at least one row; the matrix is %" PetscInt_FMT " x %" PetscInt_FMT, G->file, M, N);
  PetscCall(GpAppComplaintRaise(G->comm, G->file, &wrong));
  G->nodes    = N;
  G->weighted = PETSC_TRUE;
  PetscCall(GpAppSumBefore(G->comm, L->n, NULL, &G->edges));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a text of any format except Matrix Market. */
static PetscErrorCode GraphReadText(GpAppText *T, const GpAppGraphSpec *spec, GpAppGraph *G, GpAppComplaint *C)
{
  GpAppGraphForm form;

  PetscFunctionBegin;
  if (G->format >= GP_GRAPH_PAJEK) {
    PetscCall(GpAppTextGather(T));
    if (G->format == GP_GRAPH_PAJEK) PetscCall(GpAppGraphReadPajek(T, G, C));
    else if (G->format == GP_GRAPH_GML) PetscCall(GpAppGraphReadGML(T, G, C));
    else if (G->format == GP_GRAPH_GRAPHML) PetscCall(GpAppGraphReadGraphML(T, G, C));
    else PetscCall(GpAppGraphReadDimacs(T, G, C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpAppGraphFindForm(T, spec, &form));
  if (spec->format == GP_GRAPH_AUTO && form.metis == 1) G->format = GP_GRAPH_METIS;
  if (spec->format == GP_GRAPH_AUTO && form.metis == 2) {
    GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, 0, "the file can be read as METIS or as an edge list with sizes in its first line: choose by -graph_format metis or -graph_format edges"); /* on all ranks */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (G->format == GP_GRAPH_METIS) PetscCall(GpAppGraphReadMetis(T, &form, G, C));
  else PetscCall(GpAppGraphReadEdges(T, spec, &form, G, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives a rank without links an array of weights if other ranks have one. */
static PetscErrorCode GraphAgreeOnWeights(GpAppGraph *G)
{
  PetscFunctionBegin;
  PetscCall(GpAppFindAny(G->comm, G->weighted, &G->weighted));
  if (G->weighted) PetscCall(GpAppLinksReserve(&G->links, 1, PETSC_TRUE));
  else PetscCall(PetscFree(G->links.weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a file that is not in PETSc's binary format. The text is destroyed, also after an error. */
static PetscErrorCode GraphReadFile(GpAppText *T, const GpAppGraphSpec *spec, GpAppGraph *G)
{
  GpAppComplaint C = {0};
  PetscErrorCode ierr;
  char           begin[4096];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(G->file, T->file, sizeof(G->file)));
  PetscCall(GpAppTextBeginning(T, begin, sizeof(begin)));
  G->format = spec->format ? spec->format : GraphFindFormat(begin);
  if (G->format == GP_GRAPH_MARKET) {
    PetscBool is;

    PetscCall(GpAppTextIsMarket(T, &is));
    if (is) ierr = GraphReadMarket(T, G);
    else {
      GpAppComplain(&C, 1, begin, begin + strlen(begin), "expected %%MatrixMarket");
      ierr = GpAppTextRaise(T, &C);
    }
  } else {
    PetscCall(GraphReadText(T, spec, G, &C));
    ierr = GpAppTextRaise(T, &C);
  }
  PetscCall(GpAppTextDestroy(T));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppGraphOptions - Reads the options that describe a graph file

  Collective

  Options Database Keys:
+ -graph_format auto|edges|metis|pajek|gml|graphml|dimacs|market|binary - the format
. -graph_sizes auto|yes|no                                             - whether the first line of an edge list holds the numbers of nodes and edges
. -graph_header auto|yes|no                                            - whether it holds headings
- -graph_names auto|yes|no                                             - whether nodes of an edge list have names instead of numbers
*/
PetscErrorCode GpAppGraphOptions(MPI_Comm comm, GpAppGraphSpec *spec)
{
  PetscFunctionBegin;
  PetscOptionsBegin(comm, NULL, "Graphs in files", "GPUCSR");
  PetscCall(PetscOptionsEnum("-graph_format", "Format of the graph file", "", GpAppGraphFormats, (PetscEnum)spec->format, (PetscEnum *)&spec->format, NULL));
  PetscCall(PetscOptionsEnum("-graph_sizes", "Whether the first line of an edge list holds the numbers of nodes and edges", "", Choices, (PetscEnum)spec->sizes, (PetscEnum *)&spec->sizes, NULL));
  PetscCall(PetscOptionsEnum("-graph_header", "Whether the first line of an edge list holds headings", "", Choices, (PetscEnum)spec->heading, (PetscEnum *)&spec->heading, NULL));
  PetscCall(PetscOptionsEnum("-graph_names", "Whether the nodes of an edge list have names instead of numbers", "", Choices, (PetscEnum)spec->names, (PetscEnum *)&spec->names, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a graph from a file of any format of docs/formats.md. If the file is refused, all memory has been freed. Collective. */
PetscErrorCode GpAppGraphRead(MPI_Comm comm, const char file[], const GpAppGraphSpec *spec, GpAppGraph *G)
{
  PetscErrorCode ierr;
  PetscBool      binary = PETSC_FALSE;
  GpAppText      T;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(G, sizeof(*G)));
  G->comm = comm;
  PetscCall(PetscStrncpy(G->file, file, sizeof(G->file)));
  if (!spec->format) PetscCall(GpAppIsBinary(comm, file, MAT_FILE_CLASSID, &binary, NULL));
  if (binary || spec->format == GP_GRAPH_BINARY) {
    G->format = GP_GRAPH_BINARY;
    ierr      = GraphReadBinary(G);
  } else {
    PetscCall(GpAppTextRead(comm, file, &T));
    ierr = GraphReadFile(&T, spec, G);
  }
  if (ierr) PetscCall(GpAppGraphDestroy(G));
  PetscCall(ierr);
  PetscCall(GraphAgreeOnWeights(G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a description of the graph and its format. nodes: number of nodes. */
PetscErrorCode GpAppGraphDescribe(const GpAppGraph *G, PetscInt64 nodes, char words[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(words, size, "%s: %" PetscInt64_FMT " nodes%s, %" PetscInt64_FMT " %s%s, %s%s%s", G->file, nodes, G->named ? " with names" : "", G->edges, G->undirected ? "undirected edges" : "links", G->weighted ? " with weights" : "",
                          Words[G->format], G->note[0] ? ", " : "", G->note));
  PetscFunctionReturn(PETSC_SUCCESS);
}
