/*
 * The conversion between colour spaces, in AVX2: eight pixels at a time, with a register of 32-bit lanes for each
 * channel. Tables are looked up by gathers.
 */
#include "space.h"

#include "avx2.h"

#if defined(__x86_64__)

enum { STEP = 8 };

struct channels {
    __m256i of[3];
};

AVX2_INLINE __m256i light_of(const uint16_t *table, __m256i value)
{
    /* Two entries are read at once. The last one reads beyond the table, in the structure that it is part of. */
    return _mm256_and_si256(
        _mm256_i32gather_epi32((const int *)(const void *)table, value, 2),
        _mm256_set1_epi32(0xFFFF));
}

AVX2_INLINE __m256i value_of(const struct space_curve *curve, __m256i light)
{
    const __m256i is_fine = _mm256_cmpgt_epi32(_mm256_set1_epi32(FINE_LIGHT), light);
    const __m256i coarse = _mm256_add_epi32(_mm256_srli_epi32(light, 8), _mm256_set1_epi32(128));
    const __m256i index = _mm256_blendv_epi8(coarse, _mm256_srli_epi32(light, 4), is_fine);
    const __m256i part = _mm256_and_si256(
        _mm256_blendv_epi8(light, _mm256_slli_epi32(light, 4), is_fine), _mm256_set1_epi32(255));
    const __m256i both =
        _mm256_i32gather_epi32((const int *)(const void *)curve->both, index, 4);
    const __m256i rise =
        _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_srli_epi32(both, 16), part), 8);
    const __m256i start = _mm256_and_si256(both, _mm256_set1_epi32(0xFFFF));
    return _mm256_srli_epi32(
        _mm256_add_epi32(
            _mm256_add_epi32(start, rise), _mm256_set1_epi32(1 << (VALUE_SHIFT - 1))),
        VALUE_SHIFT);
}

AVX2_INLINE __m256i pair(int16_t one, int16_t two)
{
    return _mm256_set1_epi32((int)((uint32_t)(uint16_t)two << 16 | (uint16_t)one));
}

AVX2_INLINE struct channels converted(
    struct channels from, const darkroom_space *space, const struct space_curve *curve)
{
    for (int c = 0; c < 3; c++) from.of[c] = light_of(space->light[c], from.of[c]);
    const __m256i two = _mm256_or_si256(from.of[0], _mm256_slli_epi32(from.of[1], 16));
    const __m256i rest = _mm256_or_si256(from.of[2], _mm256_set1_epi32(1 << 16));
    struct channels to;
    for (int c = 0; c < 3; c++) {
        const int16_t *row = space->matrix + 3 * c;
        const __m256i sum = _mm256_add_epi32(
            _mm256_madd_epi16(two, pair(row[0], row[1])),
            _mm256_madd_epi16(rest, pair(row[2], 1 << (MATRIX_SHIFT - 1))));
        const __m256i light = _mm256_min_epi32(
            _mm256_max_epi32(_mm256_srai_epi32(sum, MATRIX_SHIFT), _mm256_setzero_si256()),
            _mm256_set1_epi32(LIGHT_MOST));
        to.of[c] = value_of(curve, light);
    }
    return to;
}

/* Eight pixels with a fourth byte that stays. */
AVX2_INLINE __m256i converted_pixels(
    __m256i pixels, const darkroom_space *space, const struct space_curve *curve)
{
    const __m256i byte = _mm256_set1_epi32(255);
    struct channels row;
    for (int c = 0; c < 3; c++) row.of[c] = _mm256_and_si256(_mm256_srli_epi32(pixels, 8 * c), byte);
    row = converted(row, space, curve);
    return _mm256_or_si256(
        _mm256_or_si256(row.of[0], _mm256_slli_epi32(row.of[1], 8)),
        _mm256_or_si256(
            _mm256_slli_epi32(row.of[2], 16), _mm256_andnot_si256(_mm256_set1_epi32(0xFFFFFF), pixels)));
}

AVX2 static size_t rgba(uint8_t *samples, size_t pixels, const darkroom_space *space)
{
    const struct space_curve *curve = darkroom_space_curve();
    size_t done = 0;
    for (; done + STEP <= pixels; done += STEP, samples += 4 * STEP) {
        __m256i *place = (__m256i *)(void *)samples;
        _mm256_storeu_si256(place, converted_pixels(_mm256_loadu_si256(place), space, curve));
    }
    return done;
}

AVX2 static size_t rgb(uint8_t *samples, size_t pixels, const darkroom_space *space)
{
    const struct space_curve *curve = darkroom_space_curve();
    const __m256i spread = _mm256_setr_epi8(
        0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,
        0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    const __m256i close = _mm256_setr_epi8(
        0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
        0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    size_t done = 0;
    /* Loads and stores of 16 bytes, of which 12 count. */
    for (; done + STEP + 2 <= pixels; done += STEP, samples += 3 * STEP) {
        const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)samples);
        const __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(samples + 12));
        __m256i row = _mm256_shuffle_epi8(_mm256_set_m128i(second, first), spread);
        row = _mm256_shuffle_epi8(converted_pixels(row, space, curve), close);
        const __m128i low = _mm256_castsi256_si128(row), high = _mm256_extracti128_si256(row, 1);
        _mm_storeu_si128((__m128i *)(void *)samples, _mm_or_si128(low, _mm_slli_si128(high, 12)));
        _mm_storel_epi64((__m128i *)(void *)(samples + 16), _mm_srli_si128(high, 4));
    }
    return done;
}

AVX2 size_t darkroom_space_8_avx2(
    uint8_t *samples, size_t pixels, int channels, const darkroom_space *space)
{
    return channels == 3 ? rgb(samples, pixels, space) : rgba(samples, pixels, space);
}

#endif
