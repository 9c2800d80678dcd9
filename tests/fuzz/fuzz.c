static char help[] = "Feeds mutated files to all readers in one process, built with the sanitizers of addresses, of leaks and of undefined behaviour.\n\n";

#include "fuzz.h"
#include <gpucsr.h>
#include <dirent.h>
#include <errno.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VISIBLE       __attribute__((visibility("default"))) /* to the libraries of the sanitizers */
#define MOST_READERS  64
#define MOST_SEEDS    64
#define BATCH         512 /* inputs between two searches for leaks */
#define PATIENCE      20  /* seconds for an input */
#define MOST_FAILURES 10  /* end the run */

VISIBLE const char *__asan_default_options(void);
const char         *__asan_default_options(void)
{
  return "detect_leaks=1:leak_check_at_exit=0:allocator_may_return_null=1:max_allocation_size_mb=2048:handle_segv=1:detect_stack_use_after_return=0:quarantine_size_mb=32";
}
VISIBLE const char *__lsan_default_options(void);
const char         *__lsan_default_options(void)
{
  return "leak_check_at_exit=0:print_suppressions=0"; /* it is checked while the program runs */
}
VISIBLE const char *__ubsan_default_options(void);
const char         *__ubsan_default_options(void)
{
  return "print_stacktrace=1";
}

/* a reader with its seeds and what became of its inputs */
typedef struct {
  const FuzzReader *reader;
  FuzzSeed          seed[MOST_SEEDS];
  int               nseeds;
  long              accepted, refused;
} Lane;

static struct {
  Lane      lane[MOST_READERS];
  int       nlanes;
  char      work[PETSC_MAX_PATH_LEN], seeds[PETSC_MAX_PATH_LEN], program[PETSC_MAX_PATH_LEN];
  char      input[2 * PETSC_MAX_PATH_LEN], failed[2 * PETSC_MAX_PATH_LEN], message[1024];
  char      only[64];
  uint64_t  seed, choice;
  int       current;
  PetscBool single; /* search for leaks after every input */
} F;

/* Keeps the input at hand under another name and says how to read it again. Called after a crash, too. */
static void KeepInput(const char why[])
{
  char      text[6 * PETSC_MAX_PATH_LEN];
  const int n =
    snprintf(text, sizeof(text), "# %s: %s\n# again: %s -replay %s -input %s -choice %llu -seeds %s -work %s\n", F.lane[F.current].reader->name, why, F.program, F.lane[F.current].reader->name, F.failed, (unsigned long long)F.choice, F.seeds, F.work);

  (void)unlink(F.failed);
  (void)link(F.input, F.failed);
  if (n > 0 && write(STDOUT_FILENO, text, (size_t)n) < 0) _exit(1);
}

static void OnDeath(void)
{
  KeepInput("a crash or a report of a sanitizer");
}

static void OnAlarm(int number)
{
  KeepInput("the reader did not stop in time");
  __sanitizer_print_stack_trace();
  _exit(1);
}

static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *context)
{
  if (p == PETSC_ERROR_INITIAL) (void)snprintf(F.message, sizeof(F.message), "%s (%s:%d)", mess ? mess : "", file, line);
  return n;
}

PetscErrorCode FuzzWrite(const char file[], const void *bytes, size_t n)
{
  FILE *fp = fopen(file, "wb");

  PetscFunctionBegin;
  PetscCheck(fp && fwrite(bytes, 1, n, fp) == n, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s: %s", file, strerror(errno));
  PetscCheck(!fclose(fp), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s: %s", file, strerror(errno));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzWriteText(const char folder[], const char name[], const char text[])
{
  char file[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  (void)snprintf(file, sizeof(file), "%s/%s", folder, name);
  PetscCall(FuzzWrite(file, text, strlen(text)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int CompareSeeds(const void *a, const void *b)
{
  return strcmp(((const FuzzSeed *)a)->name, ((const FuzzSeed *)b)->name);
}

/* Reads a file as a seed. */
static PetscErrorCode AddSeed(Lane *L, const char folder[], const char name[])
{
  FuzzSeed *s = &L->seed[L->nseeds];
  char      file[2 * PETSC_MAX_PATH_LEN];
  FILE     *fp;

  PetscFunctionBegin;
  PetscCheck(L->nseeds < MOST_SEEDS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: more than %d seeds", folder, MOST_SEEDS);
  (void)snprintf(file, sizeof(file), "%s/%s", folder, name);
  fp = fopen(file, "rb");
  PetscCheck(fp, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: %s", file, strerror(errno));
  PetscCall(PetscStrncpy(s->name, name, sizeof(s->name)));
  PetscCall(PetscMalloc1(FUZZ_MOST, &s->bytes));
  s->n = fread(s->bytes, 1, FUZZ_MOST, fp);
  (void)fclose(fp);
  L->nseeds++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the files of a folder whose names begin so, in the order of their names. */
static PetscErrorCode AddSeeds(Lane *L, const char folder[], const char begin[])
{
  const int      first = L->nseeds;
  DIR           *dir   = opendir(folder);
  struct dirent *e;

  PetscFunctionBegin;
  while (dir && (e = readdir(dir)))
    if (e->d_name[0] != '.' && !strncmp(e->d_name, begin, strlen(begin))) PetscCall(AddSeed(L, folder, e->d_name));
  if (dir) (void)closedir(dir);
  qsort(L->seed + first, (size_t)(L->nseeds - first), sizeof(*L->seed), CompareSeeds);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddReaders(const FuzzReader list[], const char only[])
{
  PetscFunctionBegin;
  for (const FuzzReader *r = list; r->name; r++) {
    Lane *L = &F.lane[F.nlanes];
    char  folder[2 * PETSC_MAX_PATH_LEN];

    if (only[0] && strcmp(only, r->name)) continue;
    PetscCheck(F.nlanes < MOST_READERS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d readers", MOST_READERS);
    F.nlanes++;
    L->reader = r;
    (void)snprintf(folder, sizeof(folder), "%s/%s", F.work, r->name);
    (void)mkdir(folder, 0777);
    if (r->prepare) PetscCall((*r->prepare)(folder));
    PetscCall(AddSeeds(L, folder, "seed-"));
    (void)snprintf(folder, sizeof(folder), "%s/%s", F.seeds, r->name);
    PetscCall(AddSeeds(L, folder, ""));
    PetscCheck(L->nseeds, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: no seeds for the reader %s", folder, r->name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the file that lies there as input; *bad tells whether anything about it is wrong. */
static PetscErrorCode ReadInput(int lane, uint64_t choice, PetscBool must, PetscBool *bad)
{
  Lane          *L = &F.lane[lane];
  const char    *name;
  char           wrong[FUZZ_WRONG] = "", why[2 * FUZZ_WRONG + sizeof(F.message)];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  F.current    = lane;
  F.choice     = choice;
  F.message[0] = 0;
  (void)alarm(PATIENCE);
  ierr = (*L->reader->read)(F.input, choice, wrong);
  (void)alarm(0);
  if (ierr) L->refused++;
  else L->accepted++;
  name   = "/input."; /* or of the file beside it that belongs to it */
  why[0] = 0;
  if (!ierr && wrong[0]) (void)snprintf(why, sizeof(why), "accepted, but %s", wrong);
  else if (ierr && must) (void)snprintf(why, sizeof(why), "a good file was refused: %s", F.message);
  else if (ierr && wrong[0]) (void)snprintf(why, sizeof(why), "%s; %s", wrong, F.message);
  else if (ierr && ierr != PETSC_ERR_FILE_OPEN && ierr != PETSC_ERR_FILE_READ && ierr != PETSC_ERR_FILE_UNEXPECTED && ierr != PETSC_ERR_USER_INPUT) (void)snprintf(why, sizeof(why), "refused by an error of class %d: %s", (int)ierr, F.message);
  else if (ierr && !strstr(F.message, name) && ierr != PETSC_ERR_USER_INPUT) (void)snprintf(why, sizeof(why), "the refusal does not name the file: %s", F.message);
  *bad = (PetscBool)(why[0] != 0);
  if (*bad) KeepInput(why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetNames(int lane, const char label[])
{
  PetscFunctionBegin;
  (void)snprintf(F.input, sizeof(F.input), "%s/%s/input%s", F.work, F.lane[lane].reader->name, F.lane[lane].reader->suffix);
  (void)snprintf(F.failed, sizeof(F.failed), "%s/failed-%s-%s%s", F.work, F.lane[lane].reader->name, label, F.lane[lane].reader->suffix);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes input number i and reads it. */
static PetscErrorCode RunInput(uint64_t i, PetscBool *bad)
{
  static unsigned char b[FUZZ_MOST];
  uint64_t             state = F.seed * 1000003 + i, choice;
  const int            lane  = (int)(i % (uint64_t)F.nlanes);
  Lane                *L     = &F.lane[lane];
  char                 label[32];
  size_t               n;

  PetscFunctionBegin;
  *bad   = PETSC_FALSE;
  choice = FuzzRandom(&state) >> 34; /* fits an option */
  if (L->reader->rare && FuzzRandom(&state) % (uint64_t)L->reader->rare) PetscFunctionReturn(PETSC_SUCCESS);
  n = FuzzMutate(FuzzRandom(&state), L->seed, L->nseeds, (int)(FuzzRandom(&state) % (uint64_t)L->nseeds), b);
  if (L->reader->repair && FuzzRandom(&state) % 4) (*L->reader->repair)(b, n);
  (void)snprintf(label, sizeof(label), "%llu", (unsigned long long)i);
  PetscCall(SetNames(lane, label));
  PetscCall(FuzzWrite(F.input, b, n));
  PetscCall(ReadInput(lane, choice, PETSC_FALSE, bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All seeds as they are; the good ones must be accepted. */
static PetscErrorCode RunSeeds(int *failures)
{
  PetscFunctionBegin;
  for (int lane = 0; lane < F.nlanes; lane++)
    for (int s = 0; s < F.lane[lane].nseeds; s++) {
      const FuzzSeed *seed = &F.lane[lane].seed[s];
      PetscBool       bad;

      PetscCall(SetNames(lane, seed->name));
      PetscCall(FuzzWrite(F.input, seed->bytes, seed->n));
      PetscCall(ReadInput(lane, 0, (PetscBool)(!strncmp(seed->name, "good", 4) || !strncmp(seed->name, "seed-", 5)), &bad));
      *failures += bad;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int OpenFiles(void)
{
  DIR *dir = opendir("/proc/self/fd");
  int  n   = 0;

  while (dir && readdir(dir)) n++;
  if (dir) (void)closedir(dir);
  return n;
}

/* Searches for memory and files that the inputs [first, end) have left behind. If there are any, another process reads these again, one by one: a leak is reported for ever once it is there. */
static PetscErrorCode SearchLeaks(uint64_t first, uint64_t end, int files, int *failures)
{
  char command[6 * PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  if (OpenFiles() <= files && !__lsan_do_recoverable_leak_check()) PetscFunctionReturn(PETSC_SUCCESS);
  *failures = MOST_FAILURES;
  if (F.single) KeepInput(OpenFiles() > files ? "a file was left open" : "memory was left behind");
  if (F.single || first == end) PetscFunctionReturn(PETSC_SUCCESS);
  (void)snprintf(command, sizeof(command), "ASAN_OPTIONS=fast_unwind_on_malloc=0 '%s' -single -first %llu -count %llu -seed %llu -reader '%s' -seeds '%s' -work '%s' -no_signal_handler", F.program, (unsigned long long)first,
                 (unsigned long long)(end - first), (unsigned long long)F.seed, F.only, F.seeds, F.work);
  (void)printf("# leaks among inputs %llu to %llu, which are read again one by one: %s\n", (unsigned long long)first, (unsigned long long)end - 1, command);
  if (!system(command)) (void)printf("# no leak was found then\n");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Report(uint64_t inputs, double seconds, int failures)
{
  PetscFunctionBegin;
  (void)printf("# %-18s %9s %9s  seeds\n", "reader", "accepted", "refused");
  for (int k = 0; k < F.nlanes; k++) {
    (void)printf("# %-18s %9ld %9ld  %d\n", F.lane[k].reader->name, F.lane[k].accepted, F.lane[k].refused, F.lane[k].nseeds);
    for (int s = 0; s < F.lane[k].nseeds; s++) PetscCall(PetscFree(F.lane[k].seed[s].bytes));
  }
  (void)printf("# %llu inputs in %.1f s, seed %llu: %d failures\n", (unsigned long long)inputs, seconds, (unsigned long long)F.seed, failures);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads inputs until there are enough, or time is up, or too many have failed. */
static PetscErrorCode RunAll(uint64_t first, uint64_t count, double seconds, int *failures)
{
  const time_t   begin = time(NULL);
  const uint64_t batch = F.single ? 1 : BATCH;
  const int      files = OpenFiles();
  uint64_t       total = 0, from = first, i = first;
  PetscBool      bad;

  PetscFunctionBegin;
  if (!F.single) PetscCall(RunSeeds(failures));
  PetscCall(SearchLeaks(0, 0, files, failures));
  for (; total < count && difftime(time(NULL), begin) < seconds && *failures < MOST_FAILURES; i++) {
    PetscCall(RunInput(i, &bad));
    *failures += bad;
    if (i + 1 - from == batch) {
      PetscCall(SearchLeaks(from, i + 1, files, failures));
      from = i + 1;
    }
    for (int k = total = 0; k < F.nlanes; k++) total += (uint64_t)(F.lane[k].accepted + F.lane[k].refused);
    if (F.single) total = i + 1 - first;
  }
  if (*failures < MOST_FAILURES) PetscCall(SearchLeaks(from, i, files, failures));
  PetscCall(Report(total, difftime(time(NULL), begin), *failures));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Main(const char program[], int *failures)
{
  const FuzzReader *lists[] = {FuzzApp, FuzzBmrm, FuzzChunk, FuzzKmeans, FuzzPagerank, FuzzSmacof};
  PetscInt          first = 0, count = 10000, seconds = 60, seed = 1, choice = 0;
  char              replay[PETSC_MAX_PATH_LEN] = "";
  struct sigaction  action                     = {.sa_handler = OnAlarm};
  PetscBool         bad;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(F.program, program, sizeof(F.program)));
  PetscCall(PetscStrncpy(F.work, "build/fuzz", sizeof(F.work)));
  PetscCall(PetscStrncpy(F.seeds, "tests/fuzz/seeds", sizeof(F.seeds)));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-count", &count, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &first, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-single", &F.single, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-choice", &choice, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-work", F.work, sizeof(F.work), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-seeds", F.seeds, sizeof(F.seeds), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-replay", F.only, sizeof(F.only), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-reader", F.only, sizeof(F.only), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-input", replay, sizeof(replay), NULL));
  PetscCall(PetscGPUCSRInitialize());
  F.seed = (uint64_t)seed;
  (void)mkdir(F.work, 0777);
  for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) PetscCall(AddReaders(lists[k], F.only));
  PetscCheck(F.nlanes, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "No reader %s", F.only);
  PETSC_STDOUT = fopen("/dev/null", "w");
  (void)sigaction(SIGALRM, &action, NULL);
  __sanitizer_set_death_callback(OnDeath);
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  if (replay[0]) {
    PetscCall(AddSeed(&F.lane[0], replay[0] == '/' ? "/" : ".", replay));
    PetscCall(SetNames(0, "again"));
    PetscCall(FuzzWrite(F.input, F.lane[0].seed[F.lane[0].nseeds - 1].bytes, F.lane[0].seed[F.lane[0].nseeds - 1].n));
    PetscCall(ReadInput(0, (uint64_t)choice, PETSC_FALSE, &bad));
    *failures = bad || __lsan_do_recoverable_leak_check();
    (void)printf("# %s: %s\n", F.lane[0].refused ? "refused" : "accepted", F.message);
  } else PetscCall(RunAll((uint64_t)first, (uint64_t)count, (double)seconds, failures));
  PetscCall(PetscPopErrorHandler());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int failures = 0;

  (void)setvbuf(stdout, NULL, _IOLBF, 0);
  __lsan_disable(); /* what MPI and PETSc keep until the end */
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  __lsan_enable();
  PetscCall(Main(argv[0], &failures));
  PetscCall(PetscFinalize());
  (void)fflush(stdout);
  _exit(failures != 0); /* what MPI keeps until the end is no leak */
}
