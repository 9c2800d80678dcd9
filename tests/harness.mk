# Link commands of the test programs. Included by the copy of PETSc's gmakefile.test that tests/harness.sh makes.
#
# Tests in tests/mat/ link the shared library, as an application does.  All other tests call internal functions, so they link the static
# archives.  They must not link the shared library too, because the program would have two copies of all functions and data.
gp_lib      := $(GPUCSR_BUILD)/lib/libgpucsr.so
gp_archives := $(GPUCSR_BUILD)/lib/libbmrm_program.a $(GPUCSR_BUILD)/lib/libgpucsr_static.a
gp_outside  := $(filter $(TESTDIR)/mat/tests/mat/%,$(testexe.c))
gp_inside   := $(filter-out $(gp_outside),$(testexe.c))

$(gp_outside): $(gp_lib)
$(gp_inside): $(gp_archives)
$(gp_outside): PETSC_TEST_LIB = -Wl,-rpath,$(GPUCSR_BUILD)/lib $(GPUCSR_PETSC_LIB) -lm
$(gp_inside): PETSC_TEST_LIB = -Wl,--start-group $(gp_archives) -Wl,--end-group $(GPUCSR_PETSC_LIB) $(GPUCSR_CUDA_LIB) -lm
$(testsrcs.o): PCC_FLAGS += -Wall -std=gnu99 $(GPUCSR_CFLAGS) -O1 # -O1 even if PETSc was built without optimisation, because some tests compute an expensive reference
