/*
 * The instructions that the kernels may use.
 *
 * Kernels with a SIMD path check darkroom_cpu_level() at each call (once for a band, not for each pixel). All
 * paths of a kernel give the same bytes. The tests compare them with the help of darkroom_cpu_limit.
 */
#ifndef DARKROOM_CPU_H
#define DARKROOM_CPU_H

/* Each level includes the lower ones. Processors other than x86-64 have only the first. */
typedef enum {
    DARKROOM_CPU_SCALAR = 0, /* plain C */
    DARKROOM_CPU_AVX2 = 1,   /* AVX2, BMI2 and FMA: x86-64-v3 */
    DARKROOM_CPU_AVX512 = 2, /* AVX-512 F, BW, DQ and VL: x86-64-v4 */
} darkroom_cpu;

/* The processor's level, or a lower one if a limit is set. */
darkroom_cpu darkroom_cpu_level(void);

/* Lets the kernels use at most `level` from the next call on, in all threads. For tests and benchmarks. A
 * level above the processor's changes nothing. */
void darkroom_cpu_limit(darkroom_cpu level);

#endif
