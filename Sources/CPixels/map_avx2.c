/* Looks bytes up in a table with AVX2. */
#include "avx2.h"

#if defined(__x86_64__)

#include <stdint.h>

#include "colour.h"

/*
 * A table of 256 bytes is sixteen registers of 16. A shuffle looks 16 bytes up in one of them by their low
 * four bits, or returns 0 if the highest bit is set.
 *
 * For bytes below 128: step k looks up v - 16k. When that is negative, the lookups return 0. Until then they
 * add, by exclusive or, the difference between this part of the table and the previous one. So the sum of the
 * lookups up to the byte's own part is its entry. Bytes from 128 on are processed in the same way with the
 * upper half of the table. Each half returns 0 for the bytes of the other.
 */
AVX2_INLINE __m256i look_up(__m256i v, const __m256i steps[16])
{
    const __m256i sixteen = _mm256_set1_epi8(16);
    __m256i low = v;
    __m256i high = _mm256_xor_si256(v, _mm256_set1_epi8((char)0x80));
    __m256i found = _mm256_setzero_si256();
    for (int k = 0; k < 8; k++) {
        found = _mm256_xor_si256(
            found, _mm256_xor_si256(
                       _mm256_shuffle_epi8(steps[k], low),
                       _mm256_shuffle_epi8(steps[8 + k], high)));
        low = _mm256_subs_epi8(low, sixteen);
        high = _mm256_subs_epi8(high, sixteen);
    }
    return found;
}

AVX2 size_t darkroom_map_avx2(
    void *samples, size_t pixels, int channels, int first, int count, const void *table)
{
    __m256i steps[16];
    for (int k = 0; k < 16; k++) {
        const uint8_t *part = (const uint8_t *)table + 16 * k;
        __m128i step = load_16(part);
        if (k % 8 != 0)
            step = _mm_xor_si128(step, load_16(part - 16));
        steps[k] = _mm256_broadcastsi128_si256(step);
    }
    /* The bytes that change: the same in each 32, because a pixel has 1, 2 or 4. */
    uint8_t chosen[32];
    for (int i = 0; i < 32; i++) {
        const int channel = i % channels;
        chosen[i] = channel >= first && channel < first + count ? 0xff : 0;
    }
    const __m256i mask = load_32(chosen);
    const size_t bytes = pixels * (size_t)channels;
    uint8_t *at = samples;
    size_t i = 0;
    if (count == channels)
        for (; i + 32 <= bytes; i += 32)
            store_32(at + i, look_up(load_32(at + i), steps));
    for (; i + 32 <= bytes; i += 32) {
        const __m256i v = load_32(at + i);
        store_32(at + i, _mm256_blendv_epi8(v, look_up(v, steps), mask));
    }
    return i / (size_t)channels;
}

#endif
