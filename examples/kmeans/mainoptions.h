/* The options and the manual page of the program kmeans. Included by main.c alone. */
#ifndef KMEANS_MAINOPTIONS_H
#define KMEANS_MAINOPTIONS_H

#include "app/program/appoptions.h"

static const GpAppOption options[] = {{"Points"},
                                      {"-f", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_TRUE, "Points: table, LIBSVM, Matrix Market, PETSc binary, idx or MineBench. A row is a point."},
                                      {"-format", GP_APP_CHOICE, "auto|table|libsvm|market|petsc|idx|minebench", NULL, "auto", PETSC_FALSE, "Format of the points. auto recognises it by the content."},
                                      {"-columns", GP_APP_TEXT, "list", NULL, NULL, PETSC_TRUE, "Columns to use, counted from 0, as numbers and ranges: 0,3-7. Default: all columns."},
                                      {"-generate", GP_APP_INTS, "n,d", "[1,inf)", NULL, PETSC_FALSE, "Uses n uniform points with d features instead of a file."},
                                      {"-generate_seed", GP_APP_INT, "n", NULL, "0", PETSC_FALSE, "Seed of the generated points."},
                                      {"-weights", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "Weights of the points: a table of one column."},
                                      {"-kmeans_storage", GP_APP_CHOICE, "auto|single|double", NULL, "auto", PETSC_FALSE, "Precision of the points on the device. auto is single if no value changes. Sums are always double."},
                                      {"Tables in text"},
                                      {"-table_header", GP_APP_CHOICE, "auto|yes|no", NULL, "auto", PETSC_FALSE, "Whether the first line of the main table holds headings."},
                                      {"-table_names", GP_APP_CHOICE, "auto|yes|no", NULL, "auto", PETSC_FALSE, "Whether the first column of the main table holds row names."},
                                      {"-table_delimiter", GP_APP_CHOICE, "auto|comma|semicolon|tab|blank", NULL, "auto", PETSC_FALSE, "What separates the fields of the main table."},
                                      {"Clusters"},
                                      {"-kmeans_clusters", GP_APP_INT, "k", "[1,inf)", "8", PETSC_TRUE, "Number of clusters."},
                                      {"-kmeans_metric", GP_APP_CHOICE, "euclidean|cosine", NULL, "euclidean", PETSC_TRUE, "Distance of points and centroids."},
                                      {"-kmeans_start", GP_APP_CHOICE, "random|kmeans++|parallel|given", NULL, "kmeans++", PETSC_TRUE, "First centroids. Points drawn at random, by k-means++ or by k-means||, or given ones."},
                                      {"-start_file", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "First centroids: a table, as written by -centroids."},
                                      {"-kmeans_seed", GP_APP_INT, "n", NULL, "0", PETSC_FALSE, "Seed of the drawn points."},
                                      {"-kmeans_restarts", GP_APP_INT, "n", "[1,inf)", "1", PETSC_TRUE, "Number of starts. The result with the least inertia counts."},
                                      {"-kmeans_empty", GP_APP_CHOICE, "farthest|split|keep|drop|error", NULL, "farthest", PETSC_FALSE, "What happens to a cluster without points."},
                                      {"-kmeans_max_it", GP_APP_INT, "n", "[1,inf)", "300", PETSC_TRUE, "Upper bound on the number of iterations."},
                                      {"-kmeans_rtol", GP_APP_REAL, "fraction", "[0,1)", "0", PETSC_FALSE, "Stops when the inertia falls by less than this fraction. 0: when no label changes."},
                                      {"-kmeans_stol", GP_APP_REAL, "length", "[0,inf)", "0", PETSC_FALSE, "Stops when the centroids move by at most this length in the Frobenius norm. 0: never."},
                                      {"-kmeans_assign", GP_APP_CHOICE, "auto|brute|hamerly|yinyang|elkan|sparse", NULL, "auto", PETSC_FALSE, "Algorithm that finds the nearest centroids. All find the same."},
                                      {"-kmeans_update", GP_APP_CHOICE, "auto|fixed|changed", NULL, "auto", PETSC_FALSE, "Algorithm that adds up the points of each cluster."},
                                      {"-kmeans_monitor", GP_APP_VIEWER, "viewer", NULL, NULL, PETSC_FALSE, "Prints inertia and changed labels of every iteration."},
                                      {"-kmeans_view", GP_APP_VIEWER, "viewer", NULL, NULL, PETSC_FALSE, "Prints settings, algorithms and result of the solver."},
                                      {"Checkpoints"},
                                      {"-kmeans_checkpoint", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Checkpoint to write now and then."},
                                      {"-kmeans_checkpoint_every", GP_APP_INT, "n", "[1,inf)", "10", PETSC_FALSE, "Iterations between checkpoints."},
                                      {"-kmeans_restart", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "Checkpoint to continue from."},
                                      {"Output"},
                                      {"-labels", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Labels to write, in CSV. A line has name or number of the point, and the number of its cluster."},
                                      {"-centroids", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Centroids to write, as a table in CSV."},
                                      {"-report", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Report of the run to write, in JSON."},
                                      {NULL}};

static const GpAppManual manual = {.title       = "clusters of points (k-means)",
                                   .synopsis    = "-f points [-kmeans_clusters k] [-labels labels.csv] [-centroids means.csv] [options]",
                                   .description = "kmeans divides points into clusters. It moves every centroid to the mean of its points, and every point to the nearest centroid, until nothing changes.\n"
                                                  "Labels are exact for the stored points. The result has the same bits on the host, on a GPU and on any number of ranks.",
                                   .files       = "The pages kmeans.md and formats.md of the documentation describe the formats of points and results.",
                                   .prefix      = "kmeans_",
                                   .nested      = "",
                                   .also        = ".BR bmrm (1),\n.BR pagerank (1),\n.BR smacof (1)",
                                   .example     = {{"-f points.csv -kmeans_clusters 10 -labels labels.csv", "Divides the rows of a table into ten clusters."},
                                                   {"-f words.mtx -kmeans_metric cosine -kmeans_clusters 50 -kmeans_restarts 5", "Clusters sparse documents by the angles between them, the best of five starts."},
                                                   {"-f images-idx3-ubyte.gz -kmeans_start parallel -centroids means.csv", "Clusters images in the format of MNIST and writes the mean images."}},
                                   .options     = options};

#endif
