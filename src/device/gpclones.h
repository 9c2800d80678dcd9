/* Functions of the host that are compiled for several instruction sets; the processor at hand selects one when the program is loaded. */
#ifndef GPCLONES_H
#define GPCLONES_H

/* Distributions compile for the x86-64 baseline, whose vectors hold two doubles. Functions with this attribute are compiled for AVX2 too. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
  #define GP_CLONES __attribute__((target_clones("avx2", "default")))
#else
  #define GP_CLONES
#endif

#endif
