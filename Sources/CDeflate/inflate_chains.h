/* Several decoders of one block. (inflate_chains.c) */
#ifndef DARKROOM_INFLATE_CHAINS_H
#define DARKROOM_INFLATE_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define TARGET "avx2,bmi,bmi2,lzcnt,popcnt,fma,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2"
#define AVX512 __attribute__((target(TARGET)))
#define AVX512_INLINE static inline __attribute__((always_inline, target(TARGET)))
#define UNLIKELY(condition) __builtin_expect((condition), 0)
#endif

enum {
    CHAINS = 4,
    BATCH = 12, /* steps between two looks at where the chains are; a multiple of 3 */
    MOST_BATCHES = 170,
    MOST_STEPS = MOST_BATCHES * BATCH,
};

typedef struct {
    /* The entries that each chain has met, one for each step. */
    uint32_t trace[CHAINS][MOST_STEPS];
    /* The chains' positions before each batch. */
    uint32_t marks[MOST_BATCHES + 1][CHAINS];
    uint32_t steps[CHAINS]; /* the length of each trace */
    uint32_t ends[CHAINS];  /* the position behind it */
    unsigned stopped;       /* a bit for each chain that met the end of the block, or no code */

    /* A trace divided into its literals and the parts of its matches: lengths and distances in turn. A place is the bits
     * before a part in its lower half, and the literals before it in the upper half. Vectors are stored with some
     * elements without meaning behind the last one. */
    uint8_t literals[2 * MOST_STEPS + 64];
    uint32_t parts[MOST_STEPS + 16];
    uint32_t places[MOST_STEPS + 16];
} darkroom_chains;

#endif
