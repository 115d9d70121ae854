/* Joins pairs of literals in the table of a code, after the table has been made. */
#include "darkroom_cpu.h"
#include "inflate_state.h"

/* The entry of the second literal is a smaller one, which is still single; or, for 0, the same one. So the
 * table is processed from its end. There are no branches: their predictions would be random. */
static void join(uint32_t *table, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;) {
        const uint32_t entry = table[i];
        const uint32_t next = table[i >> BITS(entry)];
        const uint32_t bits = BITS(entry) + BITS(next);
        const uint32_t joined = (entry & 0xff0000) | (next & 0xff0000) << 8 | 2 * IS_LITERAL | bits;
        const bool fits = (entry & next & IS_LITERAL) != 0 && bits <= ROOT;
        table[i] = fits ? joined : entry;
    }
}

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi2,fma")))

/* Eight at a time: the entries that follow these precede all of them, except for the first eight. */
AVX2 static void join_avx2(uint32_t *table)
{
    const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i is_literal = _mm256_set1_epi32(IS_LITERAL);
    const __m256i literal = _mm256_set1_epi32(0xff0000);
    for (uint32_t i = 1u << ROOT; (i -= 8) > 0;) {
        const __m256i entry = _mm256_loadu_si256((const __m256i *)(table + i));
        const __m256i own = _mm256_and_si256(entry, _mm256_set1_epi32(BITS(~0u)));
        const __m256i place =
            _mm256_srlv_epi32(_mm256_add_epi32(_mm256_set1_epi32((int)i), steps), own);
        const __m256i next = _mm256_i32gather_epi32((const int *)table, place, sizeof *table);
        const __m256i bits =
            _mm256_add_epi32(own, _mm256_and_si256(next, _mm256_set1_epi32(BITS(~0u))));
        const __m256i joined = _mm256_or_si256(
            _mm256_or_si256(
                _mm256_and_si256(entry, literal),
                _mm256_slli_epi32(_mm256_and_si256(next, literal), 8)),
            _mm256_or_si256(_mm256_set1_epi32(2 * IS_LITERAL), bits));
        const __m256i are_literals = _mm256_cmpeq_epi32(
            _mm256_and_si256(_mm256_and_si256(entry, next), is_literal), is_literal);
        const __m256i is_too_long = _mm256_cmpgt_epi32(bits, _mm256_set1_epi32(ROOT));
        const __m256i fits = _mm256_andnot_si256(is_too_long, are_literals);
        _mm256_storeu_si256(
            (__m256i *)(table + i), _mm256_blendv_epi8(entry, joined, fits));
    }
    join(table, 8);
}

#endif

void darkroom_inflate_join_literals(uint32_t *length_table)
{
#if defined(__x86_64__)
    if (darkroom_cpu_level() >= DARKROOM_CPU_AVX2) {
        join_avx2(length_table);
        return;
    }
#endif
    join(length_table, 1u << ROOT);
}
