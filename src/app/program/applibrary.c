/* The options of the library, which every program has. tests/app/run_frontdoor.sh compares their names with the sources. */
#include "app/program/appcommand.h"

/* An option of matrices and its process-wide default */
#define MATRIX(name, kind, argument, initial, text) \
  {"-mat_gpucsr_" name, kind, argument, NULL, initial, PETSC_FALSE, text}, \
  { \
    "-gpucsr_" name, kind, argument, NULL, initial, PETSC_FALSE, "Default of -mat_gpucsr_" name " for matrices with any options prefix." \
  }

const GpAppOption GpAppLibraryOptions[] = {{"Where the work is done"},
                                           {"-gpucsr_device", GP_APP_CHOICE, "auto|cuda|host", NULL, "auto", PETSC_FALSE, "Device of the matrices and vectors. auto uses a GPU if there is one."},
                                           {"-gpucsr_device_memory", GP_APP_BYTES, "bytes", "[0,inf)", "0", PETSC_FALSE, "Upper bound on the device memory of this process. 0 sets no bound."},
                                           {"-mat_type", GP_APP_TEXT, "type", NULL, "gpucsr", PETSC_FALSE, "PETSc type of the matrices: gpucsr, aij, dense and others."},
                                           {"Matrices on the device"},
                                           MATRIX("storage", GP_APP_TEXT, "single|double|auto", "single", "Precision of the values on the device. auto is single if it holds every value exactly, else double. Vectors and sums are always double."),
                                           MATRIX("transpose", GP_APP_TEXT, "eager|lazy", NULL, "When the transpose is built: with the upload, or by the first product that needs it."),
                                           MATRIX("kernel", GP_APP_TEXT, "auto|kernel", "auto", "Kernel of the products. auto lets the selector choose."),
                                           MATRIX("select", GP_APP_TEXT, "model|measure|fixed", "model", "How the kernel is selected: by a cost model, by measured times, or by a fixed rule."),
                                           MATRIX("memory_limit", GP_APP_BYTES, "bytes", "-1", "Upper bound on the device memory of a format other than compressed rows. -1 sets no bound."),
                                           MATRIX("stream", GP_APP_TEXT, "auto|always|never", "auto", "Keeps a matrix in host memory and streams it to the device in each product. auto does so if it does not fit the device."),
                                           MATRIX("stream_chunk", GP_APP_BYTES, "bytes", "-1", "Streaming: upper bound on a chunk as compressed rows, before encoding. -1 is 32 MiB, or less if the buffers do not fit the device."),
                                           MATRIX("stream_resident", GP_APP_BYTES, "bytes", "-1", "Streaming: upper bound on the chunks that stay on the device. -1 is 90 percent of the free device memory, less the buffers."),
                                           MATRIX("stream_buffers", GP_APP_INT, "n", "0", "Streaming: number of device buffers. 0 selects 3 buffers."),
                                           MATRIX("stream_threads", GP_APP_INT, "n", "0", "Streaming: number of threads that encode the matrix, and that read or copy chunks in each product. 0 is one for each core, at most 8."),
                                           MATRIX("stream_encode", GP_APP_TEXT, "auto|none", "auto", "Streaming: encodes chunks, or stores them as compressed rows."),
                                           MATRIX("stream_file", GP_APP_TEXT, "prefix", NULL, "Streaming, type gpucsrstream: beginning of the names of files that hold the chunks instead of host memory."),
                                           {"-gpucsr_factor_solver", GP_APP_TEXT, "gpucsr|petsc", NULL, "gpucsr", PETSC_FALSE, "Default solver type of factorisations of sequential gpucsr matrices."},
                                           MATRIX("factor_storage", GP_APP_TEXT, "matrix|single|double", "matrix", "Precision of ILU and ICC factors on the device. matrix is single if the storage of the matrix is single, else double."),
                                           MATRIX("factor_numeric", GP_APP_TEXT, "device|host", "device", "Where ILU and ICC factors are computed: on the device, or by PETSc on the host."),
                                           MATRIX("factor_host", GP_APP_TEXT, "true|false", "false", "Solves on the host with a factor that does not fit the device memory, instead of stopping with an error."),
                                           MATRIX("trisolve", GP_APP_TEXT, "exact|jacobi|isai", "exact", "How the device solves with the triangles of ILU and ICC factors: by substitution, or approximately by products."),
                                           MATRIX("trisolve_sweeps", GP_APP_INT, "n", "0", "Number of sweeps of an approximate solve with a triangle. 0 is 5 for jacobi, 2 for isai."),
                                           MATRIX("sor", GP_APP_TEXT, "host|multicolor", "host", "How SOR sweeps: on the host in the order of the rows, or on the device by colours."),
                                           MATRIX("stream_transpose", GP_APP_TEXT, "stored|shared", "stored", "Streaming: stores chunks of the transpose on the host too, or transposes those of the matrix on the device."),
                                           MATRIX("vec_type", GP_APP_TEXT, "type", NULL, "Type of the vectors that a matrix creates."),
                                           MATRIX("halo_type", GP_APP_TEXT, "auto|host|nccl|mpi", "auto", "How the ranks of a parallel product exchange boundary entries."),
                                           {"-mat_gpucsr_halo_view", GP_APP_VIEWER, "viewer", NULL, NULL, PETSC_FALSE, "Prints a timeline of a parallel product on every rank, before the first product."},
                                           {"-gpucsr_notice", GP_APP_BOOL, NULL, NULL, NULL, PETSC_FALSE, "Prints a notice when the default storage rounds values."},
                                           {"-gpucsr_wisdom", GP_APP_TEXT, "file", NULL, NULL, PETSC_FALSE, "File that remembers the kernels that -mat_gpucsr_select measure found to be the fastest."},
                                           {"-vec_gpu_cuda", GP_APP_BOOL, NULL, NULL, NULL, PETSC_FALSE, "On a GPU, with a PETSc that has CUDA: creates PETSc's cuda vectors instead of gpu vectors."},
                                           {"-vec_gpu_separate", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE, "With -gpucsr_device host: keeps separate host and device copies of vectors. This finds missing transfers in tests."},
                                           {NULL}};
