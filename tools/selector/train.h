/* Interface between the files of the program train: the table of measured times, and the model that is computed from it. Of the library, train uses
   only the features and the terms. */
#ifndef TRAIN_H
#define TRAIN_H

#include "mat/impls/gpucsr/selector/model/gpmodel.h"
#include "mat/impls/gpucsr/selector/model/gpterms.h"

#include <stddef.h>

#define TRAIN_NAMES 96   /* most columns of each kind */
#define TRAIN_WORST 20.0 /* kernels slower than the best one by this factor or more count alike */
#define TRAIN_CLOSE 0.15 /* relative error of a predicted time below which errors count alike */

/* one matrix or its transpose */
typedef struct {
  char    name[64], family[48], kind[48], side[4];
  int     familyof;
  double  m, n, nnz, selection, transpose;
  double  input[GP_SEL_INPUTS]; /* features, then terms */
  double *warm, *cold;          /* [kernels] microseconds; 0: not measured */
  double *build;                /* [formats] microseconds; 0: the format refused the matrix */
  double *traffic;              /* [formats] bytes */
  double *time;                 /* [kernels] the time that the model is fitted to; TRAIN_WORST times the best for kernels too slow to be timed; 0: refused */
  double  best;                 /* smallest entry of time */
  double  mixed, dbl;           /* microseconds of the best cuSPARSE kernel, warm, with float and with double values; 0: not measured */
} Case;

typedef struct {
  char   gpu[128];
  int    units, cases, capacity, kernels, formats, families;
  double cache, copyrate;
  int    has[GP_FEATURES]; /* whether the table has a column of this feature */
  char   kernel[TRAIN_NAMES][48], format[TRAIN_NAMES][32], familyname[TRAIN_NAMES][48];
  int    formatof[TRAIN_NAMES]; /* format of each kernel */
  int    barred[TRAIN_NAMES];   /* 1: the kernel may not become a candidate */
  int    fixed;                 /* 1: all others become candidates */
  Case  *c;
} Table;

/* traintable.c. excluded: names of kernels to leave out, separated by commas. candidates: names of those that may become candidates; NULL: all. mix: 0 uses warm times, 1 cold times, other values their weighted
   geometric mean */
int         TableRead(Table *T, const char *file, const char *excluded); /* returns 0 if the file cannot be read; several files are concatenated */
const char *TablePrepare(Table *T, double mix, const char *candidates);  /* returns NULL, or what is wrong with the table */
void        TableFree(Table *T);
void        TrainSort(double value[], int n);

/* trainsets.c: analysis of small sets of kernels, and selection of the candidates */
void SetsPrint(const Table *T, int largest);
int  SetSelectCandidates(const Table *T, const int which[], int n, int print, int set[GP_SEL_MODELLED]); /* returns the number of candidates */

typedef struct {
  int    candidates, candidate[GP_SEL_MODELLED];
  double coefficients[GP_SEL_MODELLED][GP_TERMS];
} Model;

void FitKernel(const Table *T, const int which[], int n, int kernel, double coefficients[GP_TERMS]); /* trainfit.c: fits the coefficients of one kernel to its times */
/* weight of a time in the fit: 1 for the fastest kernel of a matrix, 0 if not measured */
double FitWeight(const Case *c, int kernel);
void   FitJointly(Model *M, const Table *T, const int which[], int n); /* trainjoint.c: adjusts all coefficients to reduce the loss of the selection */

/* trainmodel.c */
void ModelTrain(Model *M, const Table *T, const int which[], int n, int together);
int  ModelSelect(const Model *M, const Case *c, int *refused); /* the kernel that the selector would run; *refused: number of formats that refuse the matrix before it */

/* traincross.c */
typedef struct {
  /* speed relative to the best kernel: geometric mean and minimum; loss of speed: mean, median, share of losses over 10 %; mean number of refused
     formats */
  double mean, worst, loss, median, over10, refused;
} Score;

Score ScoreSummarise(double share[], int n); /* of relative speeds, which it sorts */
Score ScoreSelection(const Table *T, const int chosen[], const int refused[]);
Score CrossValidate(const Table *T, int together, int kinds, int chosen[]); /* cross-validation that leaves out one family, or one kind, at a time */

int ModelWrite(const Model *M, const Table *T, const char *path, const char *source); /* trainwrite.c; returns 0 if the file cannot be written */

#endif
