/* The options and the manual page of the program pagerank. Included by main.c alone. */
#ifndef PAGERANK_MAINOPTIONS_H
#define PAGERANK_MAINOPTIONS_H

#include "app/linkmatrix/applinkrequest.h"

static const GpAppOption options[] = {GP_APP_LINK_OPTIONS,
                                      {"Ranks"},
                                      {"-damping", GP_APP_REAL, "d", "(0,1)", "0.85", PETSC_TRUE, "Probability of following a link."},
                                      {"-dangling", GP_APP_CHOICE, "teleport|uniform|vector|self|drop", NULL, "teleport", PETSC_FALSE, "Where the walk continues from a node without links."},
                                      {"-dangling_file", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "Distribution for -dangling vector, a line of <node>[:<weight>]."},
                                      {"-personalize", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_TRUE, "Distributions to restart from. A line <node>[:<weight>] ... gives one result."},
                                      {"-start", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "Ranks to start from, as written by -ranks_binary."},
                                      {"Method"},
                                      {"-method", GP_APP_CHOICE, "power|inner_outer|gauss_seidel|jacobi|ksp|eps", NULL, "gauss_seidel", PETSC_FALSE, "Iteration. ksp and eps are solvers of PETSc and SLEPc with the options prefix pagerank_."},
                                      {"-tol", GP_APP_REAL, "bound", "(0,inf)", "1e-08", PETSC_TRUE, "Stops when the error in the 1-norm is at most this."},
                                      {"-max_it", GP_APP_INT, "n", "[0,inf)", "10000", PETSC_TRUE, "Upper bound on the number of iterations."},
                                      {"-extrapolate", GP_APP_INT, "n", "[0,inf)", "0", PETSC_FALSE, "Method power: quadratic extrapolation every n iterations. 0 for never."},
                                      {"-blocks", GP_APP_INT, "n", "[1,inf)", "2", PETSC_FALSE, "Method gauss_seidel: blocks of rows of a process."},
                                      {"-inner_damping", GP_APP_REAL, "d", "(0,1)", "0.5", PETSC_FALSE, "Method inner_outer: damping of the inner iteration, less than -damping."},
                                      {"-inner_tol", GP_APP_REAL, "tol", "(0,inf)", "0.01", PETSC_FALSE, "Method inner_outer: tolerance of the inner iteration."},
                                      {"-assemble", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE, "Method ksp: gives the preconditioner the assembled matrix."},
                                      {"-device_loop", GP_APP_BOOL, NULL, NULL, "true", PETSC_FALSE, "Methods power and gauss_seidel on one process: keeps scalars and the stopping test on the device."},
                                      {"Output"},
                                      {"-monitor", GP_APP_BOOL, NULL, NULL, "false", PETSC_TRUE, "Prints residual and error bound of every iteration."},
                                      {"-topk", GP_APP_INT, "k", "[0,inf)", "10", PETSC_TRUE, "Prints the k nodes of highest rank."},
                                      {"-ranks", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Ranks to write as text, a line <node> <rank> for each node."},
                                      {"-ranks_binary", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Ranks to write in PETSc's binary format."},
                                      {"-picture", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Picture to write, .svg, .pdf or .png: the distribution of the ranks."},
                                      {"-report", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Report of the run to write, in JSON."},
                                      {NULL}};

static const GpAppManual manual = {.title       = "PageRank of the nodes of a graph with a bound on the error",
                                   .synopsis    = "-f graph [-damping 0.85] [-tol 1e-8] [-ranks file] [options]\n-rmat scale,degree [options]",
                                   .description = "pagerank computes the vector x of ranks that solves x = damping P x + (1 - damping) v, where P follows the links of the graph and v is the distribution to restart from.\n"
                                                  "The error of x in the 1-norm is at most the 1-norm of the residual, divided by 1 - damping. The program stops when this bound is at most -tol, and prints it.",
                                   .files       = "The page formats.md of the documentation describes the formats of graphs, pagerank.md those of results.",
                                   .prefix      = "pagerank_",
                                   .nested      = "pagerank_ksp_ pagerank_pc_ pagerank_sub_ pagerank_eps_ pagerank_st_ pagerank_bv_ pagerank_ds_ pagerank_mat_ pagerank_vec_",
                                   .also        = ".BR bmrm (1),\n.BR smacof (1)",
                                   .example     = {{"-f web.txt.gz -ranks ranks.txt", "Ranks the nodes of a compressed edge list and writes the ranks."},
                                                   {"-f web.mtx -personalize topics.txt -topk 20", "Ranks them for each distribution in topics.txt and prints 20 nodes each."},
                                                   {"-rmat 20,16 -tol 1e-10 -monitor", "Generates a graph of a million nodes and prints every iteration."}},
                                   .options     = options};

#endif
