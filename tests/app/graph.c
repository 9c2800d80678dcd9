static char help[] = "The graph reader: every format is detected from the contents, and the message for an invalid file names the place.\n\n";

#include "app/graph/appgraph.h"
#include "checks.h"
#include <stdlib.h>

#define FILENAME "graph-test.txt"
#define SOURCE   "source,target,weight\n"
#define MARKET   "%%MatrixMarket matrix coordinate real general\n"
#define GML      "graph [ directed 1\n node [ id 5 label \"a b\" ]\n node [ id 7 label \"c\" ]\n"
#define XML      "<?xml version=\"1.0\"?>\n<graphml>\n<key id=\"d0\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n<graph edgedefault=\"undirected\">\n"

/* expected: the links, sorted, as "from>to" or "from>to=weight", nodes by name or identity */
static const struct {
  const char      *name, *text;
  GpAppGraphSpec   spec;
  GpAppGraphFormat format;
  PetscInt64       nodes; /* 0: those that have links */
  const char      *expected, *note;
} good[] = {
  {"blanks and tabs", "1 2\n2\t3\n 3  1 \n", {0}, GP_GRAPH_EDGES, 0, "1>2 2>3 3>1", "separated by"},
  {"no numbers of nodes", "10 20\n20 30\n30 10\n20 9\n", {0}, GP_GRAPH_EDGES, 0, "10>20 20>30 20>9 30>10", ""},
  {"commas and CRLF", "1,2\r\n2,3\r\n", {0}, GP_GRAPH_EDGES, 0, "1>2 2>3", "commas"},
  {"semicolons", "10;20;0.5\n20;30;2\n", {0}, GP_GRAPH_EDGES, 0, "10>20=0.5 20>30=2", "semicolons"},
  {"comments", "# a\n% b\n\n10 20\n# c\n20 30\n", {0}, GP_GRAPH_EDGES, 0, "10>20 20>30", ""},
  {"a byte-order mark", "\357\273\27710 20\n20 30\n", {0}, GP_GRAPH_EDGES, 0, "10>20 20>30", ""},
  {"an edge alone", "5 7\n", {0}, GP_GRAPH_EDGES, 0, "5>7", ""},
  {"weights", "10 20 1e-3\n20 30 0\n", {0}, GP_GRAPH_EDGES, 0, "10>20=0.001 20>30=0", ""},
  {"whole weights", "10 20 3\n20 30 4\n", {0}, GP_GRAPH_EDGES, 0, "10>20=3 20>30=4", ""},
  {"networkx, no data", "10 20 {}\n20 30 {}\n", {0}, GP_GRAPH_EDGES, 0, "10>20 20>30", ""},
  {"networkx, weights", "10 20 {'weight': 3}\n20 30 {'a': 'b c', 'weight': 0.5}\n", {0}, GP_GRAPH_EDGES, 0, "10>20=3 20>30=0.5", ""},
  {"networkx, names", "Ann Bob {'weight': 3}\nBob Cid {'weight': 4}\n", {0}, GP_GRAPH_EDGES, 3, "Ann>Bob=3 Bob>Cid=4", ""},
  {"names", "Paris,London,3\nLondon,New York,4.5\n", {0}, GP_GRAPH_EDGES, 3, "London>New York=4.5 Paris>London=3", "commas"},
  {"quoted names", "\"Paris, TX\",\"say \"\"hi\"\"\"\n\"b\",c\n", {0}, GP_GRAPH_EDGES, 4, "Paris, TX>say \"hi\" b>c", ""},
  {"names between tabs", "New York\tParis\nParis\tRome\n", {0}, GP_GRAPH_EDGES, 3, "New York>Paris Paris>Rome", "tabs"},
  {"quoted numbers", "\"10\",\"20\"\n\"20\",\"30\"\n", {0}, GP_GRAPH_EDGES, 0, "10>20 20>30", ""},
  {"headings over names", SOURCE "Paris,London,3\n", {0}, GP_GRAPH_EDGES, 2, "Paris>London=3", "headings"},
  {"decimal commas", "source;target;weight\nParis;London;1,5\n", {0}, GP_GRAPH_EDGES, 2, "Paris>London=1.5", "headings"},
  {"decimal commas of numbers", "1;2;1,5\n2;3;2\n", {0}, GP_GRAPH_EDGES, 0, "1>2=1.5 2>3=2", "semicolons"},
  {"headings over numbers", SOURCE "10,20,3\n", {0}, GP_GRAPH_EDGES, 0, "10>20=3", "headings"},
  {"unknown headings", "left right\n10 20\n", {0}, GP_GRAPH_EDGES, 0, "10>20", "headings"},
  {"columns by headings", "Weight,Target,Label,Source\n3,b,x,a\n4,c,y,b\n", {0}, GP_GRAPH_EDGES, 3, "a>b=3 b>c=4", "ignored columns: Label"},
  {"R's row numbers", "\"\",\"from\",\"to\"\n\"1\",\"a\",\"b\"\n\"2\",\"b\",\"c\"\n", {0}, GP_GRAPH_EDGES, 3, "a>b b>c", "headings"},
  {"no headings, forced", "from,to\na,b\n", {.heading = GP_GRAPH_CHOICE_NO}, GP_GRAPH_EDGES, 4, "a>b from>to", ""},
  {"names, forced", "1 2\n2 x\n", {.names = GP_GRAPH_CHOICE_YES}, GP_GRAPH_EDGES, 3, "1>2 2>x", ""},
  {"sizes", "4 3\n1 2\n2 3\n3 4\n", {0}, GP_GRAPH_EDGES, 4, "1>2 2>3 3>4", "first line '4 3' read as the numbers"},
  {"sizes, a cycle", "3 3\n1 2\n2 3\n3 1\n", {0}, GP_GRAPH_EDGES, 3, "1>2 2>3 3>1", "first line '3 3' read as the numbers"},
  {"sizes, from 0", "5 3\n0 1\n1 2\n2 3\n", {0}, GP_GRAPH_EDGES, 5, "0>1 1>2 2>3", "first line '5 3'"},
  {"sizes, forced away", "4 3\n1 2\n2 3\n3 4\n", {.sizes = GP_GRAPH_CHOICE_NO}, GP_GRAPH_EDGES, 0, "1>2 2>3 3>4 4>3", ""},
  {"no sizes", "4 2\n1 2\n2 3\n3 4\n", {0}, GP_GRAPH_EDGES, 0, "1>2 2>3 3>4 4>2", ""},
  {"sizes above weights", "3 2\n1 2 0.5\n2 3 0.25\n", {0}, GP_GRAPH_EDGES, 3, "1>2=0.5 2>3=0.25", "first line '3 2'"},
  {"smat", "3 3 2\n0 1 1\n2 1 4\n", {0}, GP_GRAPH_EDGES, 3, "0>1=1 2>1=4", "first line '3 3 2'"},
  {"JuliaGraphs, directed", "3,2,d,graph\n1,2\n2,3\n", {0}, GP_GRAPH_EDGES, 3, "1>2 2>3", ""},
  {"JuliaGraphs", "3,2,u,graph\n1,2\n2,3\n", {0}, GP_GRAPH_EDGES, 3, "1>2 2>1 2>3 3>2", ""},
  {"METIS", "% c\n4 3\n2 3\n1\n1 4\n3\n", {0}, GP_GRAPH_METIS, 4, "1>2 1>3 2>1 3>1 3>4 4>3", ""},
  {"METIS, a node alone", "4 2\n2\n1 3\n2\n\n", {0}, GP_GRAPH_METIS, 4, "1>2 2>1 2>3 3>2", ""},
  {"METIS, edge weights", "3 2 1\n2 5\n1 5 3 7\n2 7\n", {0}, GP_GRAPH_METIS, 3, "1>2=5 2>1=5 2>3=7 3>2=7", ""},
  {"METIS, node weights", "3 2 10 2\n9 9 2\n9 9 1 3\n9 9 2\n", {0}, GP_GRAPH_METIS, 3, "1>2 2>1 2>3 3>2", ""},
  {"METIS, all weights", "3 2 111 1\n4 9 2 5\n4 9 1 5 3 7\n4 9 2 7\n", {0}, GP_GRAPH_METIS, 3, "1>2=5 2>1=5 2>3=7 3>2=7", ""},
  {"a cycle, METIS", "3 3\n2 3\n1 3\n1 2\n", {.format = GP_GRAPH_METIS}, GP_GRAPH_METIS, 3, "1>2 1>3 2>1 2>3 3>1 3>2", ""},
  {"a cycle, edges", "3 3\n2 3\n1 3\n1 2\n", {.format = GP_GRAPH_EDGES}, GP_GRAPH_EDGES, 3, "1>2 1>3 2>3", ""},
  {"Pajek", "%c\n*Vertices 3\n1 \"a b\" 0.1 0.2\n2 \"c\"\n3 \"d\"\n*Arcs\n1 2 3.5\n*Edges\n2 3\n", {0}, GP_GRAPH_PAJEK, 3, "a b>c=3.5 c>d=1 d>c=1", ""},
  {"Pajek, no labels", "*vertices 4\r\n*edgeslist\r\n1 2 3\r\n*ARCSLIST\r\n4 1\r\n", {0}, GP_GRAPH_PAJEK, 4, "1>2 1>3 2>1 3>1 4>1", ""},
  {"Pajek, a matrix", "*Vertices 2\n*Matrix\n0 2\n0 3\n", {0}, GP_GRAPH_PAJEK, 2, "1>2=2 2>2=3", ""},
  {"GML", "Creator \"x\"\n" GML " edge [ source 5 target 7 value 2 ]\n edge [ source 7 target 5 graphics [ w 1 ] weight 3 ]\n]\n", {0}, GP_GRAPH_GML, 2, "a b>c=2 c>a b=3", ""},
  {"GML, references",
   "graph [ node [ id 1 label \"Z&#252;rich &amp; &#x4e2d;\" ] node [ id 2 label \"&quot;a&quot; &b; &#10;\" ] edge [ source 1 target 2 ] ]\n",
   {0},
   GP_GRAPH_GML,
   2,
   "\"a\" &b; &#10;>Z\303\274rich & \344\270\255 Z\303\274rich & \344\270\255>\"a\" &b; &#10;",
   ""},
  {"GML, undirected", "# c\ngraph\n[\nnode\n[\nid 1\n]\nnode [ id 2 ] edge [ source 1 target 2 ] ]\n", {0}, GP_GRAPH_GML, 2, "1>2 2>1", ""},
  {"GraphML",
   XML
   "<node id=\"n0\"><data key=\"d0\">A &amp; B</data></node>\n<node id=\"n1\"><data key=\"d0\">C</data></node>\n<edge source=\"n0\" target=\"n1\"><data key=\"w\">2.5</data></edge>\n<edge source=\"n0\" target=\"n0\" directed=\"true\"><data key=\"w\">1</data></edge>\n</graph></graphml>\n",
   {0},
   GP_GRAPH_GRAPHML,
   2,
   "A & B>A & B=1 A & B>C=2.5 C>A & B=2.5",
   ""},
  {"GraphML, no labels", XML "<node id=\"x\"/><node id=\"y\"/><edge source=\"x\" target=\"y\"/></graph></graphml>\n", {0}, GP_GRAPH_GRAPHML, 2, "x>y y>x", ""},
  {"DIMACS", "c a graph\np edge 3 2\ne 1 2\ne 2 3\n", {0}, GP_GRAPH_DIMACS, 3, "1>2 2>1 2>3 3>2", ""},
  {"DIMACS, arcs", "p sp 3 2\na 1 2 7\na 2 3 8\n", {0}, GP_GRAPH_DIMACS, 3, "1>2=7 2>3=8", ""},
  {"Matrix Market", MARKET "3 3 2\n1 2 0.5\n3 1 2\n", {0}, GP_GRAPH_MARKET, 3, "1>2=0.5 3>1=2", ""},
};

static const struct {
  const char    *name, *text;
  GpAppGraphSpec spec;
  const char    *words;
} bad[] = {
  {"an empty file", "", {0}, "the file holds no links"},
  {"comments only", "# a\n", {0}, "the file holds no links"},
  {"headings only", "from,to\n", {0}, "the file holds no links"},
  {"a word for a number", "1 2\n2 x\n", {0}, ":2: expected a second node number, got 'x'"},
  {"a name among numbers", "1 2\nx 2\n", {0}, "-graph_names yes reads all nodes as names), got 'x'"},
  {"one node", "1 2\n# c\n2\n", {0}, ":3: expected a second node number, got the end of the line"},
  {"a negative number", "1 2\n2 -3\n", {0}, ":2: expected a second node number, got '-3'"},
  {"beyond 63 bits", "1 2\n1 99999999999999999999\n", {0}, ":2: expected a second node number, got '99999999999999999999'"},
  {"some with weights", "1 2 0.5\n2 3\n", {0}, ":2: lines before had a weight"},
  {"some without weights", "1 2\n2 3\n3 4 5\n", {0}, ":3: lines before had no weight"},
  {"the first has no weight", "1 2\n2 3 0.5\n", {0}, ":1: '1 2': expected a weight, because the lines below have one"},
  {"the first has a weight", "1 2 7\n2 3\n3 4\n", {0}, ":1: '1 2 7': expected no weight"},
  {"a negative weight", "1 2 -3\n", {0}, ":1: expected a weight that is finite and not negative, got '-3'"},
  {"an infinite weight", "1 2 1e999\n", {0}, ":1: expected a weight that is finite"},
  {"four columns", "1 2 3 4.5\n2 3 4 5\n", {0}, ":1: expected <from> <to> [<weight>], got '4.5'"},
  {"an open brace", "1 2 {'weight': 3\n", {0}, ":1: expected attributes such as {}"},
  {"a negative attribute", "1 2 {'weight': -3}\n", {0}, ":1: expected attributes such as {}"},
  {"one name", "Paris,London\nRome\n", {0}, ":2: expected a node, got the end of the line"},
  {"a missing weight", "1,2,NA\n2,3,4\n", {0}, ":1: expected a weight that is finite and not negative, got 'NA'"},
  {"a decimal comma", SOURCE "Paris,London,\"1,5\"\n", {0}, ":2: expected a weight that is finite and not negative, got '1,5'"},
  {"an open quote", "Paris,London\n\"Rome,Oslo\n", {0}, ":2: expected a name in quotes that end"},
  {"a weight of a name", SOURCE "Paris,London,far\n", {0}, ":2: expected a weight that is finite and not negative, got 'far'"},
  {"sizes, forced", "4 4\n1 2\n2 3\n", {.sizes = GP_GRAPH_CHOICE_YES}, ":1: the numbers of nodes and edges, '4 4', do not match"},
  {"no sizes, forced", "a b\n1 2\n", {.sizes = GP_GRAPH_CHOICE_YES}, "expected the numbers of nodes and edges (-graph_sizes yes)"},
  {"JuliaGraphs, cut off", "3,2,d,graph\n1,2\n", {0}, ":1: the numbers of nodes and edges, '3 2', do not match"},
  {"METIS or edges", "3 3\n2 3\n1 3\n1 2\n", {0}, "choose by -graph_format metis or -graph_format edges"},
  {"METIS, cut off", "4 3\n2 3\n1\n1 4\n\n", {0}, "the header says 3 edges, each in the lines of both its nodes; the file holds 5"},
  {"METIS, node 9 of 4", "4 3\n2 3 4\n1\n1 9\n3\n", {0}, ":4: expected a neighbour, from 1 to the number of nodes, got '9'"},
  {"METIS, node 0", "3 2\n2\n1 0 3\n2\n", {.format = GP_GRAPH_METIS}, ":3: expected a neighbour"},
  {"METIS, a line too many", "2 1\n2\n1\n1\n", {.format = GP_GRAPH_METIS}, ":4: expected the end of the file"},
  {"METIS, huge", "2147483646 1\n2\n1\n", {.format = GP_GRAPH_METIS}, ":1: 2147483646 nodes in a file of"},
  {"METIS, no header", "x\n", {.format = GP_GRAPH_METIS}, "expected the header of METIS"},
  {"METIS, no weight", "2 1 1\n2 3\n1\n", {.format = GP_GRAPH_METIS}, ":3: expected the weight of an edge"},
  {"METIS, another format", "2 1 7\n2\n1\n", {.format = GP_GRAPH_METIS}, ":1: expected a format of METIS"},
  {"Pajek, vertex 4 of 3", "*Vertices 3\n*Arcs\n1 4\n", {0}, ":3: expected a vertex, from 1 to their number, got '4'"},
  {"Pajek, huge", "*Vertices 2147483646\n*Arcs\n1 2\n", {0}, ":1: 2147483646 nodes in a file of"},
  {"Pajek, no number", "*Vertices x\n", {0}, ":1: expected *Vertices <number>"},
  {"Pajek, a section", "*Vertices 3\n*Whatever\n", {0}, ":2: expected *Arcs, *Edges"},
  {"Pajek, an open label", "*Vertices 3\n1 \"a\n", {0}, ":2: expected a label that ends with a quote"},
  {"Pajek, a short matrix", "*Vertices 2\n*Matrix\n0 2\n", {0}, "the matrix has fewer rows than there are vertices"},
  {"Pajek, a negative weight", "*Vertices 2\n*Arcs\n1 2 -1\n", {0}, ":3: expected a weight that is finite and not negative, got '-1'"},
  {"GML, no end", GML, {0}, "expected a key or ] in graph"},
  {"GML, an unknown node", GML "edge [ source 5 target 9 ]\n]\n", {0}, ":4: expected an edge between nodes of the graph, got '9'"},
  {"GML, half an edge", GML "edge [ source 5 ]\n]\n", {0}, ":4: expected source and target in edge"},
  {"GML, a node twice", GML "node [ id 5 ]\n]\n", {0}, ":4: expected an id that no other node has"},
  {"GML, a negative weight", GML "edge [ source 5 target 7 weight -1 ]\n]\n", {0}, ":4: expected a weight that is finite and not negative, got '-1'"},
  {"GML, an open string", "graph [ node [ id 1 label \"a ] ]\n", {0}, "expected a value"},
  {"GraphML, cut off", XML "<node id=\"a\"/>\n", {0}, ": expected XML, got no element found"},
  {"GraphML, a wrong tag", XML "</graphml>\n", {0}, ":6: expected XML, got mismatched tag"},
  {"GraphML, an unknown node", XML "<node id=\"a\"/><edge source=\"a\" target=\"b\"/></graph></graphml>\n", {0}, ":6: expected an edge between nodes of the graph, got 'b'"},
  {"GraphML, an entity", "<?xml version=\"1.0\"?>\n<!DOCTYPE g [\n<!ENTITY a \"aaaa\">\n]>\n<graphml><graph><node id=\"a\"/></graph></graphml>\n", {0}, ":3: expected a document without entities of its own, got 'a'"},
  {"GraphML, a weight", XML "<node id=\"a\"/><edge source=\"a\" target=\"a\"><data key=\"w\">x</data></edge></graph></graphml>\n", {0}, ":6: expected a weight that is finite and not negative, got 'x'"},
  {"another XML", "<?xml version=\"1.0\"?>\n<gexf><graph><nodes><node id=\"a\"/></nodes></graph></gexf>\n", {0}, ":2: expected the first element of GraphML, graphml, got 'gexf'"},
  {"GraphML without a graph", "<?xml version=\"1.0\"?>\n<graphml/>\n", {0}, "expected GraphML with a graph that has nodes"},
  {"DIMACS, cut off", "p edge 3 2\ne 1 2\n", {0}, "line p says 2 edges, the file holds 1"},
  {"DIMACS, node 4 of 3", "p edge 3 1\ne 1 4\n", {0}, ":2: expected <e or a> <from> <to>"},
  {"Matrix Market, cut off", MARKET "3 3 2\n1 2 0.5\n", {0}, "the header says 2 entries, the file holds 1"},
  {"Matrix Market, forced", "1 2\n", {.format = GP_GRAPH_MARKET}, ":1: expected %%MatrixMarket"},
};

static int CompareWords(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* the links of all ranks in words, sorted; on the first rank */
static PetscErrorCode Tell(const GpAppGraph *G, char told[], size_t size)
{
  char        mine[2048] = "", all[8][2048], *word[128], *to = mine;
  PetscMPIInt ranks;
  int         n = 0;

  PetscFunctionBegin;
  for (PetscInt64 k = 0; k < G->links.n; k++) {
    char end[2][64];

    for (int e = 0; e < 2; e++) {
      const PetscInt64 id = e ? G->links.to[k] : G->links.from[k];

      if (G->named) PetscCall(PetscStrncpy(end[e], GpAppNamesGet(&G->names, id), sizeof(end[e])));
      else PetscCall(PetscSNPrintf(end[e], sizeof(end[e]), "%" PetscInt64_FMT, id + (G->nodes ? G->base : 0)));
    }
    to += sprintf(to, "%s>%s", end[0], end[1]);
    if (G->links.weight) to += sprintf(to, "=%g", (double)G->links.weight[k]);
    *to++ = '\n';
    *to   = 0;
  }
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCallMPI(MPI_Gather(mine, sizeof(mine), MPI_CHAR, all, sizeof(mine), MPI_CHAR, 0, PETSC_COMM_WORLD));
  told[0] = 0;
  for (PetscMPIInt r = 0; r < ranks; r++)
    for (char *p = strtok(all[r], "\n"); p && n < 128; p = strtok(NULL, "\n")) word[n++] = p;
  qsort(word, (size_t)n, sizeof(word[0]), CompareWords);
  for (int k = 0; k < n; k++) (void)snprintf(told + strlen(told), size - strlen(told), "%s%s", k ? " " : "", word[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGood(void)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++) {
    char           told[4096];
    GpAppGraph     G;
    PetscErrorCode err;

    PetscCall(WriteFile(FILENAME, good[k].text, strlen(good[k].text)));
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    err = GpAppGraphRead(PETSC_COMM_WORLD, FILENAME, &good[k].spec, &G);
    PetscCall(PetscPopErrorHandler());
    Expect(good[k].name, err, PETSC_SUCCESS, NULL);
    PetscCall(RemoveFile(FILENAME));
    if (err) continue;
    PetscCall(Tell(&G, told, sizeof(told)));
    if (!rank && (strcmp(told, good[k].expected) || G.format != good[k].format || G.nodes != good[k].nodes || !strstr(G.note, good[k].note))) {
      (void)fprintf(stderr, "%s: %s, %d nodes, %s, '%s'\n", good[k].name, GpAppGraphFormats[G.format], (int)G.nodes, told, G.note);
      wrong++;
    }
    PetscCall(GpAppGraphDestroy(&G));
  }
  PetscCall(Conclude("good files"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBad(void)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
    PetscErrorCode err;
    GpAppGraph     G;

    PetscCall(WriteFile(FILENAME, bad[k].text, strlen(bad[k].text)));
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    err = GpAppGraphRead(PETSC_COMM_WORLD, FILENAME, &bad[k].spec, &G);
    PetscCall(PetscPopErrorHandler());
    Expect(bad[k].name, err, PETSC_ERR_FILE_UNEXPECTED, bad[k].words);
    if (!err) PetscCall(GpAppGraphDestroy(&G));
    PetscCall(RemoveFile(FILENAME));
  }
  PetscCall(Conclude("bad files"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* files that several ranks share: names get the same numbers on any number of ranks, sizes and METIS are recognised */
static PetscErrorCode TestLarge(void)
{
  const int            n   = 20000;
  const GpAppGraphSpec any = {0};
  char                *text, *to;
  GpAppGraph           G;
  PetscInt64           links;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(64 * n, &text));
  for (int form = 0; form < 3; form++) {
    to = text;
    if (form) to += sprintf(to, "%d %d\n", n, n - 1 + (form == 1));
    for (int k = 0; k < n; k++) {
      if (form == 0) to += sprintf(to, "node %d,node %d\n", k, (k + 1) % n);
      else if (form == 1) to += sprintf(to, "%d %d\n", k, (k + 1) % n);
      else to += sprintf(to, k == 0 ? "2\n" : k == n - 1 ? "%d\n" : "%d %d\n", k, k + 2);
    }
    PetscCall(WriteFile(FILENAME, text, (size_t)(to - text)));
    PetscCall(GpAppGraphRead(PETSC_COMM_WORLD, FILENAME, &any, &G));
    PetscCallMPI(MPI_Allreduce(&G.links.n, &links, 1, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
    Verify("nodes", (PetscBool)(G.nodes == n));
    Verify("links", (PetscBool)(links == (form == 2 ? 2 * n - 2 : n)));
    Verify("format", (PetscBool)(G.format == (form == 2 ? GP_GRAPH_METIS : GP_GRAPH_EDGES)));
    for (PetscInt64 k = 0; k < G.links.n; k++) {
      const PetscInt64 step = G.links.to[k] - G.links.from[k];

      Verify("a link", (PetscBool)(step == 1 || (step == 1 - n && form < 2) || (step == -1 && form == 2)));
    }
    for (PetscInt64 k = 0; k < G.names.n; k++) {
      char name[32];

      (void)snprintf(name, sizeof(name), "node %d", (int)k);
      Verify("a name", (PetscBool)!strcmp(name, GpAppNamesGet(&G.names, k)));
    }
    PetscCall(GpAppGraphDestroy(&G));
    PetscCall(RemoveFile(FILENAME));
  }
  PetscCall(PetscFree(text));
  PetscCall(Conclude("large files"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGood());
  PetscCall(TestBad());
  PetscCall(TestLarge());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2 4}}
TEST*/
