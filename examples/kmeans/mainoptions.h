/* The options and the manual page of the program kmeans. Included by main.c alone. */
#ifndef KMEANS_MAINOPTIONS_H
#define KMEANS_MAINOPTIONS_H

#include "app/program/appoptions.h"

/* The names of the algorithms, from the tables of the solver. */
#define KMEANS_VARIANT(name, ...) "|" #name
static const char assigns[] = "auto"
#include "solvers/kmeans/assign.def"
  ;
static const char updates[] = "auto"
#include "solvers/kmeans/update.def"
  ;
#undef KMEANS_VARIANT

static const GpAppOption options[] = {{"Points"},
                                      {"-f", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_TRUE, "Points: table, LIBSVM, Matrix Market, PETSc binary, idx or MineBench. A row is a point."},
                                      {"-format", GP_APP_CHOICE, "auto|table|libsvm|market|petsc|idx|minebench", NULL, "auto", PETSC_FALSE, "Format of the points. auto recognises it by the content."},
                                      {"-columns", GP_APP_TEXT, "list", NULL, NULL, PETSC_TRUE, "Columns to use, counted from 0, as numbers and ranges: 0,3-7. Row names do not count. Default: all columns."},
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
                                      {"-kmeans_start", GP_APP_CHOICE, "random|kmeans++|parallel|given", NULL, "kmeans++", PETSC_TRUE, "First centroids. Points drawn at random, by k-means++ or by k-means||, or those of -start_file (given)."},
                                      {"-start_file", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "First centroids, as written by -centroids or -centroids_binary. Sets -kmeans_start given."},
                                      {"-kmeans_seed", GP_APP_INT, "n", NULL, "0", PETSC_FALSE, "Seed of the random numbers that draw the first centroids and order the batches."},
                                      {"-kmeans_restarts", GP_APP_INT, "n", "[1,inf)", "1", PETSC_TRUE, "Number of starts. The result with the least inertia is kept."},
                                      {"-kmeans_restart_batch", GP_APP_TEXT, "auto|n", NULL, "auto", PETSC_FALSE, "Largest number of restarts that a GPU iterates together. The result does not depend on it."},
                                      {"-kmeans_empty", GP_APP_CHOICE, "farthest|split|keep|drop|error", NULL, "farthest", PETSC_FALSE, "What happens to a cluster without points."},
                                      {"-kmeans_max_it", GP_APP_INT, "n", "[1,inf)", "300", PETSC_TRUE, "Upper bound on the number of iterations."},
                                      {"-kmeans_batch", GP_APP_INT, "points", "[0,inf)", "0", PETSC_FALSE, "Number of points in an iteration (mini-batches). 0 uses all points in every iteration."},
                                      {"-kmeans_rtol", GP_APP_REAL, "fraction", "[0,1)", "0", PETSC_FALSE, "The run stops when the inertia falls by less than this fraction. It also stops when no label changes."},
                                      {"-kmeans_stol", GP_APP_REAL, "length", "[0,inf)", "0", PETSC_FALSE, "Stops when the centroids move by at most this length in the Frobenius norm. 0: never."},
                                      {"-kmeans_assign", GP_APP_CHOICE, assigns, NULL, "auto", PETSC_FALSE, "Algorithm that finds the nearest centroids. All return the same labels."},
                                      {"-kmeans_update", GP_APP_CHOICE, updates, NULL, "auto", PETSC_FALSE, "Algorithm that adds up the points of each cluster."},
                                      {"-kmeans_reduce", GP_APP_CHOICE, "auto|nccl|mpi", NULL, "auto", PETSC_FALSE, "How several ranks add their sums. nccl needs one GPU for each rank. auto is nccl if it can be used, otherwise mpi."},
                                      {"-kmeans_stream", GP_APP_CHOICE, "auto|always|never", NULL, "auto", PETSC_FALSE, "Whether dense points stay in host memory, from which every iteration streams them. auto: if they do not fit the device."},
                                      {"-kmeans_stream_chunk", GP_APP_BYTES, "bytes", "(0,inf)", NULL, PETSC_FALSE, "Upper bound on the size of a block of streamed points. Default: 32 MiB."},
                                      {"-kmeans_stream_resident", GP_APP_BYTES, "bytes", "[0,inf)", NULL, PETSC_FALSE, "Upper bound on the streamed points that stay on the device. Default: what fits."},
                                      {"-kmeans_stream_buffers", GP_APP_INT, "n", "[0,1024]", "0", PETSC_FALSE, "Number of device buffers of streamed points. 0: 3 buffers."},
                                      {"-kmeans_stream_threads", GP_APP_INT, "n", "[0,1024]", "0", PETSC_FALSE, "Number of threads that copy streamed points to blocks. 0: one for each core, at most 8."},
                                      {"-kmeans_monitor", GP_APP_VIEWER, "viewer", NULL, NULL, PETSC_FALSE, "Prints inertia and changed labels of every iteration. draw plots the inertia."},
                                      {"-kmeans_view", GP_APP_VIEWER, "viewer", NULL, NULL, PETSC_FALSE, "Prints settings, algorithms and result of the solver."},
                                      {"Checkpoints"},
                                      {"-kmeans_checkpoint", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Checkpoint to write after every -kmeans_checkpoint_every iterations."},
                                      {"-kmeans_checkpoint_every", GP_APP_INT, "n", "[1,inf)", "10", PETSC_FALSE, "Iterations between checkpoints."},
                                      {"-kmeans_restart", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "Checkpoint to continue from, with the same points and settings. -kmeans_restarts is the number of starts."},
                                      {"Output"},
                                      {"-labels", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Labels to write, in CSV. A line has name or number of the point, and the number of its cluster."},
                                      {"-labels_binary", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Labels to write in PETSc's binary format, as an index set."},
                                      {"-centroids", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Centroids to write, as a table in CSV."},
                                      {"-centroids_binary", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Centroids to write in PETSc's binary format, as a dense matrix."},
                                      {"-picture", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Picture of the clusters to write: .svg, .pdf, .png or .ppm. The name draw opens a window, with the options prefix picture_."},
                                      {"-picture_columns", GP_APP_INTS, "i,j", "[0,inf)", NULL, PETSC_FALSE, "Columns on the axes of the picture, counted from 0 among those used. Default: principal axes, or the only two columns."},
                                      {"-silhouette", GP_APP_INT, "m", "[0,inf)", "0", PETSC_FALSE, "Computes the mean silhouette of a sample of m points. Each is compared with all points. 0: no silhouette."},
                                      {"-report", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_TRUE, "Report of the run to write, in JSON."},
                                      {"New points"},
                                      {"-predict", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_FALSE, "New points to assign to the centroids found, or, without -f, to those of -start_file."},
                                      {"-predictions", GP_APP_FILE_OUT, "file", NULL, NULL, PETSC_FALSE, "Clusters of the new points to write, in CSV as by -labels."},
                                      {NULL}};

static const GpAppManual manual = {.title       = "clusters of points (k-means)",
                                   .synopsis    = "-f points [-kmeans_clusters k] [-labels labels.csv] [-centroids means.csv] [options]\n-predict new -start_file means.csv -predictions out.csv [options]",
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
