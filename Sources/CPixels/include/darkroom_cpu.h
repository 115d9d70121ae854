/*
 * Which instructions the kernels may use.
 *
 * Kernels with a SIMD path ask darkroom_cpu_level() at each call (once for a band, not for a
 * pixel). Every path of a kernel gives the same bytes; the tests hold them against each other with
 * darkroom_cpu_limit.
 */
#ifndef DARKROOM_CPU_H
#define DARKROOM_CPU_H

/* Each level includes those below it. On processors other than x86-64 there is only the first. */
typedef enum {
    DARKROOM_CPU_SCALAR = 0, /* plain C */
    DARKROOM_CPU_AVX2 = 1,   /* AVX2, BMI2 and FMA: x86-64-v3 */
} darkroom_cpu;

/* What the processor has, or less where a limit is set. */
darkroom_cpu darkroom_cpu_level(void);

/* Lets the kernels use no more than `level` from the next call on, in all threads. For tests and
 * benchmarks. Beyond what the processor has nothing changes. */
void darkroom_cpu_limit(darkroom_cpu level);

#endif
