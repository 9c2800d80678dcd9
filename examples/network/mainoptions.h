/* The options and the manual page of the program network. Included by main.c alone. */
#ifndef NETWORK_MAINOPTIONS_H
#define NETWORK_MAINOPTIONS_H

#include "app/linkmatrix/applinkrequest.h"

static const GpAppOption options[] = {
  GP_APP_LINK_OPTIONS,
  {"Measure"},
  {"-measure", GP_APP_CHOICE, "hits|eigenvector|katz|salsa|components|core|labels", NULL, "hits", PETSC_TRUE, "What to compute. Centralities: hits, eigenvector, katz, salsa. Groups: components and labels (communities). core: core numbers."},
  {"-scale", GP_APP_CHOICE, "auto|none|sum|norm|max", NULL, "auto", PETSC_TRUE, "Scales centralities to sum 1, 2-norm 1 or maximum 1. auto: none for katz, else sum."},
  {"-alpha", GP_APP_REAL, "a", "[0,inf)", "0", PETSC_TRUE, "Measure katz: weight of a link in a walk. 0: -damping divided by the largest eigenvalue."},
  {"-damping", GP_APP_REAL, "d", "(0,1)", "0.85", PETSC_FALSE, "Measure katz: alpha times the largest eigenvalue, if -alpha is not given."},
  {"Method"},
  {"-tol", GP_APP_REAL, "tol", "(0,inf)", "1e-08", PETSC_TRUE, "Stops at this relative residual or error. katz: bound on the relative error of every value. hits, eigenvector: residual of the eigenpair divided by the eigenvalue."},
  {"-max_it", GP_APP_INT, "n", "[0,inf)", "10000", PETSC_TRUE, "Upper bound on the number of iterations."},
  {"-basis", GP_APP_INT, "n", "[2,1000]", "20", PETSC_FALSE, "Measures hits and eigenvector: number of basis vectors between two restarts."},
  {"Output"},
  {"-monitor", GP_APP_BOOL, NULL, NULL, "false", PETSC_TRUE, "Prints the progress. hits, eigenvector: the residual at every restart. katz: at every solve. labels: how many labels a sweep changed."},
  {"-topk", GP_APP_INT, "k", "[0,inf)", "10", PETSC_TRUE, "Prints the k nodes of highest value, or the k largest groups."},
  {"-values", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Values to write as text, a line <node> <value> for each node. hits and salsa: <node> <authority> <hub>."},
  {"-values_binary", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Values to write in PETSc's binary format."},
  {"-picture", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Picture to write, .svg, .pdf or .png: distribution of values or sizes."},
  {"-report", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Report of the run to write, in JSON."},
  {NULL}};

static const GpAppManual manual = {.title       = "centralities, components, cores and communities of the nodes of a graph",
                                   .synopsis    = "-f graph [-measure hits] [-values file] [options]\n-rmat scale,degree [options]",
                                   .description = "network computes a measure of the nodes of a graph: hubs and authorities, eigenvector centrality, Katz centrality, SALSA, weakly connected components, core numbers, or communities.\n"
                                                  "Centralities are computed by products with the matrix of the links, on GPUs if there are any. Katz centrality has a bound on the relative error of every value.",
                                   .files       = "The page formats.md of the documentation describes the formats of graphs, network.md those of results.",
                                   .prefix      = "network_",
                                   .nested      = "network_ksp_ network_pc_ network_sub_",
                                   .also        = ".BR pagerank (1)",
                                   .example     = {{"-f web.txt.gz -measure hits -values scores.txt", "Computes hubs and authorities of an edge list and writes them."},
                                                   {"-f friends.gml -measure katz -alpha 0.05 -topk 20", "Prints the 20 nodes of highest Katz centrality."},
                                                   {"-f friends.gml -measure labels -report run.json", "Finds communities and writes a report."}},
                                   .options     = options};

#endif
