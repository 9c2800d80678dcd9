# gpucsr: the library, the apps, the tests.   make help   lists the targets.
#
#   PETSC_DIR, PETSC_ARCH   the PETSc to use; default: the one that pkg-config finds
#   CUDA_DIR                the CUDA toolkit; default: that of the nvcc on the PATH; CUDA_DIR=none builds without CUDA
#   CUDA_ARCHS              compute capabilities to compile for, default "80 90"
#   CUDA_PTX                0: no PTX code, which newer GPUs need; the library is smaller
#   SLEPC_DIR               SLEPc for `pagerank -method eps` and `smacof -smacof_eigensolver slepc`; default: the one that pkg-config finds for this PETSc; SLEPC_DIR=none builds without SLEPc
#   V=1                     show the commands
#   BUILD                   the folder of all build outputs, default build
#   LINEINFO=1              records source lines in the CUDA kernels, for profilers; doubles the size of the library
#   prefix, libdir, DESTDIR the destination of `make install`; PREFIX is another name of prefix (docs/install.md)
BUILD      ?= build
# Normalise the path: recorded dependencies refer to targets by name, so each folder must have one name.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
$(foreach v,CURDIR BUILD,$(if $(word 2,$($v)),$(error $v has a space, which make cannot handle: $($v). Use a folder without spaces)))
CUDA_ARCHS ?= 80 90
CUDA_PTX   ?= 1
prefix     ?= $(or $(PREFIX),/usr/local)
libdir     ?= $(prefix)/lib
DESTDIR    ?=
STRIP      ?= strip# STRIP=none keeps the debugging information of what is installed
OPT        ?= -O3 -g

# --- PETSc: its own record of the compiler and the include paths -------------------------------------------------------
ifeq ($(PETSC_DIR),)
  PETSC_DIR := $(firstword $(foreach pc,PETSc petsc,$(shell pkg-config --variable=prefix $(pc) 2>/dev/null)))
endif
petscdir  := $(PETSC_DIR)
petscarch := $(PETSC_ARCH)
petsc     := $(abspath $(petscdir)/$(petscarch))
petscvars := $(if $(petscdir),$(wildcard $(petsc)/lib/petsc/conf/petscvariables))

# --- CUDA: found before petscvariables is included, which may define a CUDA_DIR of its own -------------------------------------
ifeq ($(CUDA_DIR),)
  nvcc := $(shell command -v nvcc)
  cuda := $(if $(nvcc),$(abspath $(dir $(realpath $(nvcc)))..))
else ifneq ($(CUDA_DIR),none)
  cuda := $(abspath $(CUDA_DIR))
endif
nvcc     := $(if $(cuda),$(wildcard $(cuda)/bin/nvcc))
havecuda := $(if $(nvcc),1,0)
cudalib  := $(firstword $(wildcard $(cuda)/lib64 $(cuda)/targets/x86_64-linux/lib $(cuda)/lib))

CC := mpicc
ifneq ($(petscvars),)
  include $(petscvars)
endif
PETSC_DIR  := $(petscdir)
PETSC_ARCH := $(petscarch)
CUDA_DIR   := $(if $(nvcc),$(cuda),none)
HOSTCC     := cc

# --- SLEPc, for one method of pagerank and one of smacof --------------------------------------------------------------------------------
comma    := ,
slepcdir := $(SLEPC_DIR)
ifeq ($(slepcdir),)
  slepcdir := $(if $(filter $(petsc),$(abspath $(shell pkg-config --variable=prefix PETSc 2>/dev/null))),$(shell pkg-config --variable=prefix SLEPc 2>/dev/null))
endif
slepclib := $(firstword $(wildcard $(addprefix $(slepcdir)/$(petscarch)/lib/,libslepc.so libslepc_real.so)))
slepcinc := $(if $(slepclib),-DGP_HAVE_SLEPC -I$(slepcdir)/include -I$(slepcdir)/$(petscarch)/include)
slepclibs := $(if $(slepclib),$(slepclib) -Wl$(comma)-rpath$(comma)$(dir $(slepclib)))
pagerank_libs := $(slepclibs)
smacof_libs   := $(slepclibs)

# --- sources and objects ----------------------------------------------------------------------------------------
# .c             compiled by the C compiler of PETSc
# .cu            compiled twice: the host implementation by cc, the CUDA implementation by nvcc
# *_cuda.cu      compiled by nvcc only; *_host.cu: by cc only
# *_kernel.cu    kernels of products, compiled by nvcc for each precision of the values
# *_host.c       below spmv/: products on the host, compiled by cc for each precision of the values
version  := $(shell cat $(petsc)/include/petscversion.h $(petscdir)/include/petscversion.h 2>/dev/null | sed -n 's/^.define PETSC_VERSION_\(MAJOR\|MINOR\|SUBMINOR\) *\([0-9]*\).*/\2/p' | head -3 | paste -sd.)
petsctag := $(version)-$(notdir $(petsc))
obj      := $(BUILD)/obj/$(petsctag)

hostproducts := $(sort $(wildcard src/mat/impls/gpucsr/spmv/*/*_host.c))
csrc     := $(filter-out $(hostproducts),$(sort $(shell find src solvers -name '*.c')))
cusrc    := $(sort $(shell find src solvers -name '*.cu'))
cudaonly := $(filter %_cuda.cu,$(cusrc))
hostonly := $(filter %_host.cu,$(cusrc))
twice    := $(filter %_kernel.cu,$(cusrc))
once     := $(filter-out $(cudaonly) $(hostonly) $(twice),$(cusrc))
examples := $(patsubst examples/%/main.c,%,$(wildcard examples/*/main.c))
cudabenches := bench_factor bench_kernels bench_spgemm bench_spmm bench_smacof bench_trisolve# these do not use PETSc; all but bench_smacof also time cuSPARSE
benches  := bench_corpus $(if $(nvcc),$(cudabenches)) $(filter-out bench_corpus $(cudabenches),$(patsubst tests/bench/%.c,%,$(wildcard tests/bench/bench_*.c)))

hostobj := $(csrc:%.c=$(obj)/%.o) $(patsubst %.cu,$(obj)/%.host.o,$(hostonly) $(once)) $(foreach p,f32 f64,$(hostproducts:%.c=$(obj)/%.$(p).o))
cudalibs := -lpthread -ldl
ifneq ($(nvcc),)
  cudaobj := $(patsubst %.cu,$(obj)/%.cuda.o,$(cudaonly) $(once)) $(foreach p,f32 f64,$(twice:%.cu=$(obj)/%.$(p).cuda.o))
  cudalibs := -L$(cudalib) -lcudart_static -lrt -lpthread -ldl -lstdc++
endif
srcobj  := $(hostobj) $(cudaobj)
apps    := $(examples)

release   := $(shell sed -n 's/^.define GPUCSR_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' include/gpucsr.h | paste -sd.)
soversion := 0# increases when a release breaks programs that are linked to an older one

lib  := $(BUILD)/lib/libgpucsr.so
alib := $(BUILD)/lib/libgpucsr_static.a
rlib := $(BUILD)/lib/libbmrm_program.a# readers and models of the program bmrm, for its tests

# --- flags ---------------------------------------------------------------------------------------------------------------
incs      = -Iinclude -Isrc -I.
defs     := -DGP_HAVE_CUDA=$(havecuda)
warn     := -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
deps      = -MMD -MP -MT $@ -MF $(@:.o=.d)
cflags    = -std=gnu99 $(OPT) -fPIC -fvisibility=hidden $(warn) $(incs) $(defs)
cudainc  := $(if $(nvcc),-I$(cuda)/include)
pincs     = $(PETSC_CC_INCLUDES) $(cudainc)
top      := $(lastword $(sort $(CUDA_ARCHS)))
ptx      := -gencode arch=compute_$(top),code=compute_$(top)
gencode  := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) $(if $(filter-out 0,$(CUDA_PTX)),$(ptx))
compress := $(if $(nvcc),$(shell $(nvcc) --help | grep -q compress-mode && echo --compress-mode=size))# CUDA 12.8 and above; the library then needs driver 550 or newer
nvflags  := -std=c++17 -O3 $(if $(LINEINFO),-lineinfo) $(compress) $(gencode) -Xcompiler -fPIC,-fvisibility=hidden,-Wall $(incs) $(defs)
petsclib  = -L$(petsc)/lib -Wl,-rpath,$(petsc)/lib $(PETSC_LIB_BASIC) $(BLASLAPACK_LIB)
ldflags  := $(LDFLAGS) -Wl,--enable-new-dtags -Wl,--no-undefined
rpath    := -Wl,-rpath,'$$ORIGIN/../lib'

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all man docs site demo check check-newest check-gpu check-packages conformance bench figures install uninstall lint format clean help client needs-petsc FORCE
export PETSC_DIR PETSC_ARCH BUILD CUDA_DIR

all: $(if $(petscvars),,needs-petsc) $(lib) $(alib) $(rlib) $(apps:%=$(BUILD)/bin/%) ## build the library and the apps

needs-petsc:
	@echo "No PETSc found: set PETSC_DIR (and PETSC_ARCH), or let tests/setup.sh install it" >&2; exit 1

# Commands are summarised; V=1 shows them.
ifneq ($(V),1)
  say = @printf '  %-4s %s\n' $(1) $@;
endif

# A stamp file changes if the commands change, so that other flags or another PETSc cause a rebuild.
define stamp
$(1): FORCE
	@mkdir -p $$(@D); echo '$$(subst ','\'',$(2))' | cmp -s - $$@ || echo '$$(subst ','\'',$(2))' >$$@
endef
$(eval $(call stamp,$(obj)/flags,$$(CC) $$(cflags) $$(pincs) $$(nvcc) $$(nvflags)))
$(eval $(call stamp,$(obj)/slepc,$$(slepcinc)))
$(eval $(call stamp,$(BUILD)/linked,$$(petsc) $$(petsctag) $$(CC) $$(soversion) $$(ldflags) $$(cudalibs)))

$(obj)/%.o: %.c $(obj)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(cflags) $(pincs) $(deps) -c $< -o $@
$(obj)/%.host.o: %.cu $(obj)/flags
	@mkdir -p $(@D)
	$(call say,HOST)$(HOSTCC) $(cflags) -fno-math-errno $(deps) -c -x c $< -o $@
$(obj)/%.f32.o: %.c $(obj)/flags
	@mkdir -p $(@D)
	$(call say,HOST)$(HOSTCC) $(cflags) -fno-math-errno -DGP_VALUE_F32 $(deps) -c $< -o $@
$(obj)/%.f64.o: %.c $(obj)/flags
	@mkdir -p $(@D)
	$(call say,HOST)$(HOSTCC) $(cflags) -fno-math-errno -DGP_VALUE_F64 $(deps) -c $< -o $@
$(obj)/%.cuda.o: %.cu $(obj)/flags
	@mkdir -p $(@D)
	$(call say,NVCC)$(nvcc) $(nvflags) $(deps) -c $< -o $@
$(obj)/%.f32.cuda.o: %.cu $(obj)/flags
	@mkdir -p $(@D)
	$(call say,NVCC)$(nvcc) $(nvflags) -DGP_VALUE_F32 $(deps) -c $< -o $@
$(obj)/%.f64.cuda.o: %.cu $(obj)/flags
	@mkdir -p $(@D)
	$(call say,NVCC)$(nvcc) $(nvflags) -DGP_VALUE_F64 $(deps) -c $< -o $@

# files whose host and CUDA implementations must round alike
alike := src/mat/impls/gpucsr/spmv/csr/csrupdate $(patsubst %.cu,%,$(filter solvers/kmeans/% src/pc/aggregation/%,$(once)))
$(alike:%=$(obj)/%.host.o): private cflags += -ffp-contract=off
$(obj)/solvers/kmeans/%.o: private cflags += -ffp-contract=off -fno-math-errno
$(obj)/src/mat/impls/gpucsr/spgemm/%.o: private cflags += -ffp-contract=off
$(obj)/solvers/kmeans/screen/kmeansscores.o: private cflags += -ffp-contract=fast # the bound of these scores covers contraction
$(alike:%=$(obj)/%.cuda.o) $(patsubst %.cu,$(obj)/%.cuda.o,$(filter solvers/kmeans/%,$(cudaonly))): private nvflags += -fmad=false

# --- libraries and programs -----------------------------------------------------------------------------------------------
$(lib): $(srcobj) $(BUILD)/linked
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -shared -Wl,-soname,$(@F).$(soversion) $(ldflags) -Wl,--exclude-libs,ALL -o $@ $(srcobj) $(petsclib) $(cudalibs) -lm
	@ln -sf $(@F) $@.$(soversion)
$(alib): $(srcobj) $(BUILD)/linked
	@mkdir -p $(@D); rm -f $@
	$(call say,AR)ar rcs $@ $(srcobj)

# $(call program,name,objects): a program that finds the library in ../lib
define program
$(BUILD)/bin/$(1): $(2) $(lib)
	@mkdir -p $$(@D)
	$$(call say,LINK)$$(CC) $$(ldflags) -o $$@ $(2) -L$(BUILD)/lib -lgpucsr $$(rpath) $(3) $$(petsclib) -lm
endef
# The objects of an example. Of its .cu files, only nvcc compiles *_cuda.cu, and only the host compiler compiles *_host.cu.
define example
$(1)_cu   := $(wildcard examples/$(1)/*.cu examples/$(1)/*/*.cu)
$(1)_cuda := $(if $(nvcc),$$(patsubst %.cu,$(obj)/%.cuda.o,$$(filter-out %_host.cu,$$($(1)_cu))))
$(1)_host := $$(patsubst %.cu,$(obj)/%.host.o,$$(filter-out %_cuda.cu,$$($(1)_cu)))
$(1)_objs := $(patsubst %.c,$(obj)/%.o,$(wildcard examples/$(1)/*.c examples/$(1)/*/*.c)) $$($(1)_host) $$($(1)_cuda)
$(1)_all  := $($(1)_libs) $$(if $$($(1)_cuda),$(cudalibs))
endef
$(foreach e,$(examples),$(eval $(call example,$(e))))
$(foreach e,$(examples),$(eval $(call program,$(e),$($(e)_objs),$($(e)_all))))
$(rlib): $(filter-out %/main.o,$(bmrm_objs)) $(BUILD)/linked
	@mkdir -p $(@D); rm -f $@
	$(call say,AR)ar rcs $@ $(filter-out %/main.o,$(bmrm_objs))
corpus := corpus corpusgrid corpusgraph corpusfit corpusread
$(foreach b,$(filter-out bench_amg bench_beyond bench_bigkernel bench_bmrm bench_load bench_chunkfile bench_chunks bench_corpus bench_iterations bench_kmeans bench_pc bench_pcfactor bench_rank bench_refine bench_spmv bench_stream bench_streammat bench_upload $(cudabenches),$(benches)),$(eval $(call program,$(b),$(obj)/tests/bench/$(b).o)))
$(eval $(call program,bench_spmv,$(obj)/tests/bench/bench_spmv.o $(corpus:%=$(obj)/tests/bench/%.o)))
$(foreach b,bench_amg bench_iterations bench_pc bench_pcfactor bench_refine,$(eval $(call program,$(b),$(patsubst %,$(obj)/tests/bench/%.o,$(b) pcmatrices pcelasticity $(corpus)))))
$(foreach b,bench_bmrm bench_load,$(eval $(call program,$(b),$(obj)/tests/bench/$(b).o $(filter-out %/main.o,$(bmrm_objs)))))
$(BUILD)/bin/bench_rank: $(obj)/tests/bench/bench_rank.o $(filter-out %/main.o,$(pagerank_objs)) $(alib) # it uses events of the device, which the shared library does not export
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(pagerank_libs) $(petsclib) $(cudalibs) -lm
$(BUILD)/bin/bench_kmeans $(BUILD)/bin/bench_streammat $(BUILD)/bin/bench_upload: $(BUILD)/bin/%: $(obj)/tests/bench/%.o $(alib) # they copy to the device by functions that the shared library does not export
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(petsclib) $(cudalibs) -lm
$(cudabenches:%=$(BUILD)/bin/%): $(BUILD)/bin/%: $(obj)/tests/bench/%.o $(alib) # these time kernels without PETSc
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ -L$(cudalib) -lcusparse $(cudalibs) -lm
$(BUILD)/bin/bench_beyond $(BUILD)/bin/bench_chunkfile $(BUILD)/bin/bench_stream: $(BUILD)/bin/%: $(obj)/tests/bench/%.o $(alib) # time chunks, files of chunks and the pipeline of the device module without PETSc
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(cudalibs) -lm
bigkernel := $(patsubst tests/bench/%.c,$(obj)/tests/bench/%.o,$(wildcard tests/bench/bigkernel_*.c)) $(obj)/tests/bench/bigkernel_steps.host.o $(if $(nvcc),$(obj)/tests/bench/bigkernel_steps.cuda.o)
$(BUILD)/bin/bench_bigkernel: $(obj)/tests/bench/bench_bigkernel.o $(bigkernel) $(alib) # times the programs of BigKernel without PETSc
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(cudalibs) -lm
$(BUILD)/bin/bench_corpus: $(patsubst %,$(obj)/tests/bench/%.o,bench_corpus corpusqueue $(corpus) $(if $(nvcc),rivals)) $(alib) # measures the training data of the selector
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(if $(nvcc),-L$(cudalib) -lcusparse) $(cudalibs) -lm
$(BUILD)/bin/bench_chunks: $(obj)/tests/bench/bench_chunks.o $(corpus:%=$(obj)/tests/bench/%.o) $(alib) # encodes matrices without PETSc
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(cudalibs) -lm
$(BUILD)/bin/train: $(patsubst %.c,$(obj)/%.o,$(wildcard tools/selector/*.c)) # fits the selector's cost model to the tables of bench_corpus
	@mkdir -p $(@D)
	$(call say,LINK)$(HOSTCC) -o $@ $^ -lm
$(BUILD)/bin/textgen: $(obj)/tests/bench/textgen.o # generates data for the benchmarks of bmrm
	@mkdir -p $(@D)
	$(call say,LINK)$(HOSTCC) -o $@ $^ -lm
$(obj)/examples/pagerank/solveeps.o $(obj)/examples/smacof/eigensolver.o: private incs += $(slepcinc)
$(obj)/examples/pagerank/solveeps.o $(obj)/examples/smacof/eigensolver.o: $(obj)/slepc
$(obj)/tests/bench/%.o: private incs += -Itests # private, so that the flag does not apply to the stamp file that they depend on
$(obj)/tests/bench/%.cuda.o: private nvflags += -Itests

# --- fuzzing: the readers are compiled with the sanitizers; all other code comes from the libraries ------------------------------------------------------
sanitize := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
fuzzsrc  := $(wildcard tests/fuzz/*.c src/app/*/*.c src/mat/impls/gpucsr/spmv/stream/*.c) $(filter-out %/main.c,$(wildcard $(foreach e,$(examples),examples/$(e)/*.c examples/$(e)/*/*.c) solvers/pagerank/*.c solvers/smacof/*.c solvers/smacof/*/*.c)) solvers/bmrm/solve/bmrmcheckpoint.c
fuzzobj  := $(fuzzsrc:%.c=$(obj)/fuzz/%.o)
$(obj)/fuzz/%.o: %.c $(obj)/flags
	@mkdir -p $(@D)
	$(call say,FUZZ)$(CC) $(cflags) $(sanitize) $(pincs) $(deps) -c $< -o $@
$(BUILD)/bin/fuzz: $(fuzzobj) $(alib)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(sanitize) -o $@ $(fuzzobj) $(alib) $(petsclib) $(cudalibs) -lm

-include $(shell find $(obj) -name '*.d' 2>/dev/null)

# manual pages and completions: the programs write those of their options, and comments in the sources those of the functions
man: $(apps:%=$(BUILD)/man/man1/%.1) $(apps:%=$(BUILD)/completion/%) $(BUILD)/man/man3/.complete ## write the manual pages and the completions for bash
$(BUILD)/man/man1/%.1: $(BUILD)/bin/%
	@mkdir -p $(@D)
	$(call say,MAN)$< --help-man >$@
$(BUILD)/completion/%: $(BUILD)/bin/% packaging/completion.bash
	@mkdir -p $(@D)
	$(call say,COMP)$< --help-options | cut -f 1-3 | sed -e 's/@program@/$*/' -e '/^@options@$$/{r /dev/stdin' -e 'd}' packaging/completion.bash >$@
$(BUILD)/man/man3/.complete: tools/manualpages.py $(wildcard include/*.h) $(filter src/% solvers/%,$(csrc))
	$(call say,MAN)python3 tools/manualpages.py --man $(@D) $(release) && touch $@

# --- targets for users -----------------------------------------------------------------------------------------------------
demo: ## set up what is missing, build, train a classifier on real data
	tests/setup.sh build
	$(MAKE) all
	tests/demo.sh

check: ## set up, build, run every test that needs no GPU; ends with: N passed, N failed, N skipped
	@tests/check.sh

check-newest: ## the same with the newest PETSc, with debugging and 64-bit indices, which is built first (6 minutes)
	@GPUCSR_CHECK_NEWEST=only tests/check.sh

check-gpu: ## the tests on the GPU of this machine
	@tests/check_gpu.sh

check-packages: ## build, check, install (in a namespace of its own), test and remove the Debian packages; check other recipes
	@tests/packages/check_packages.sh

conformance: all ## run PETSc's own tests of GPU matrices with gpucsr matrices; ARGS="pattern -j4 --storage double --newest ..." (tests/conformance/README.md)
	@tests/conformance/run_conformance.sh table $(ARGS)

bench: all $(benches:%=$(BUILD)/bin/%) $(BUILD)/bin/train ## measure the speedup over PETSc's own types (see tests/bench/README.md)
	tests/bench/run.sh

record ?= tests/bench/results/2026-11-21-h200/rehearsal
products ?= $(record)# folder of the tables of bench_spmv, if they were not recorded with the corpus
# Kernels whose columns of recorded tables are not read: those that were deleted (docs/performance/kernels.md), and those whose results differ from run to run.
unread := csrflag csrmerge csrshort2 csrshort4 csrshort8 csrshort16 csrshort32 sell sell8 ell dense bin hub coo csrvendorfast coovendorfast
core   := $(shell awk -F '[^a-z0-9]+' '/^SPMV.*, CORE, / {print $$2}' src/mat/impls/gpucsr/spmv/common/kernels.def)
empty  :=
list    = $(subst $(empty) $(empty),$(comma),$(strip $(1)))
figures: $(BUILD)/bin/train ## make the selector's model, its analysis, and the figures and tables of the documentation from recorded tables: record=tests/bench/results/<campaign>
	$< --exclude $(call list,$(unread)) --candidates $(call list,$(core)) --source "$(record), commit $$(cat $(record)/commit)" --model src/mat/impls/gpucsr/selector/model/model_h200.h \
	  --predictions $(BUILD)/predictions.csv $(wildcard $(record)/corpus*.csv $(record)/corpus*.csv.xz) >$(record)/analysis.md
	tests/bench/plot.py --corpus $(BUILD)/predictions.csv docs/selector.svg
	tests/bench/tables.py $(BUILD)/predictions.csv $(record)/analysis.md docs/performance/spmv.md docs/performance/selector.md README.md $(wildcard $(products)/spmv*.csv)
	$(if $(wildcard $(products)/spmv-families.csv),tests/bench/plot.py $(products)/spmv-families.csv docs/performance.svg)

docs: ## write manual pages of all public functions and types, as Markdown, into build/docs
	python3 tools/manualpages.py $(BUILD)/docs/manualpages

site: all ## write the documentation as a web site into build/site; needs Sphinx with MyST and Furo (tests/setup.sh)
	tools/site/build.py $(BUILD) $(release)

COUNT   ?= 100000
SECONDS ?= 600
SEED    ?= 1
fuzz: $(BUILD)/bin/fuzz ## feed mutated files to all readers, built with the sanitizers; COUNT=100000 SECONDS=600 SEED=1
	@mkdir -p $(BUILD)/fuzz
	LSAN_OPTIONS=suppressions=$(CURDIR)/tests/fuzz/suppressions.txt $< -count $(COUNT) -seconds $(SECONDS) -seed $(SEED) -work $(BUILD)/fuzz -no_signal_handler

lint: ## check the rules of the project: layers, tables, options, sizes, format, language
	@tests/lint/run_lint.sh

format: ## format the sources by clang-format
	clang-format -i $(shell git ls-files '*.c' '*.h' '*.cu' '*.cuh')

# what programs that link the library need of PETSc and MPI, for gpucsr.pc and CMake
mpishow       = $(or $(MPICC_SHOW),$(shell $(CC) -show 2>/dev/null))
client_cflags = $(addprefix -I,$(sort $(petscdir)/include $(petsc)/include)) $(filter -I% -pthread,$(MPI_INCLUDE) $(mpishow))
mpi_libs      = $(filter -L% -l% -Wl% -pthread,$(MPI_LIB) $(mpishow))
installation  = prefix='$(prefix)' libdir='$(libdir)' DESTDIR='$(DESTDIR)' STRIP='$(STRIP)' BUILD='$(BUILD)' programs_built='$(apps)' release='$(release)' soversion='$(soversion)' cc='$(CC)' cuda='$(havecuda)' \
  petsc_dir='$(petscdir)' petsc_arch='$(petscarch)' petsc_version='$(version)' petsc_library='$(PETSC_LIB_BASIC:-l%=$(petsc)/lib/lib%.so)' client_cflags='$(client_cflags)' client_libs='-L$(petsc)/lib $(PETSC_LIB_BASIC) $(mpi_libs)' mpi_libs='$(mpi_libs)'
install: all man ## install below prefix= (default /usr/local), in the folder DESTDIR= for packages
	@$(installation) packaging/install.sh install
uninstall: ## remove what make install installed with the same prefix= and DESTDIR=
	@$(installation) packaging/install.sh uninstall

clean: ## remove what was built (a PETSc built for the tests stays)
	rm -rf $(addprefix $(BUILD)/,obj lib bin man completion tests linked)

client: # compiles a program that uses the library, for the test scripts
	$(CC) $(pincs) $(SOURCE) -o $(TARGET) $(FLAGS) $(petsclib) -lm

print-%: # prints the value of a variable, for the test scripts
	@echo '$($*)'

help: ## this list
	@awk -F' *## *' '/^[a-z-]+:.*## /{split($$1, t, ":"); printf "make %-13s %s\n", t[1], $$2}' makefile
