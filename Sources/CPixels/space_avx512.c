/*
 * The conversion between colour spaces, in AVX-512: 32 pixels at a time, with a register of 16-bit lanes for each
 * channel. A table of 256 words is eight registers; an instruction looks 32 lanes up in two of them.
 */
#include "space.h"

#include "avx512.h"

#if defined(__x86_64__)

enum { STEP = 32 };

AVX512_INLINE __m512i looked_up(const uint16_t *table, __m512i index)
{
    const __mmask32 is_odd = _mm512_test_epi16_mask(index, _mm512_set1_epi16(64));
    const __mmask32 is_late = _mm512_test_epi16_mask(index, _mm512_set1_epi16(128));
    __m512i part[4];
    for (int k = 0; k < 4; k++)
        part[k] = _mm512_permutex2var_epi16(
            _mm512_load_si512(table + 64 * k), index, _mm512_load_si512(table + 64 * k + 32));
    return _mm512_mask_blend_epi16(
        is_late, _mm512_mask_blend_epi16(is_odd, part[0], part[1]),
        _mm512_mask_blend_epi16(is_odd, part[2], part[3]));
}

struct channels {
    __m512i of[3];
};

AVX512_INLINE __m512i value_of(const struct space_curve *curve, __m512i light)
{
    const __mmask32 is_fine =
        _mm512_cmplt_epi16_mask(light, _mm512_set1_epi16(FINE_LIGHT));
    const __m512i coarse = _mm512_add_epi16(_mm512_srli_epi16(light, 8), _mm512_set1_epi16(128));
    const __m512i index =
        _mm512_mask_blend_epi16(is_fine, coarse, _mm512_srli_epi16(light, 4));
    /* In the upper byte, for the multiplication that keeps the upper half. */
    const __m512i part = _mm512_mask_blend_epi16(
        is_fine, _mm512_slli_epi16(light, 8), _mm512_slli_epi16(light, 12));
    const __m512i rise = _mm512_mulhi_epu16(looked_up(curve->rise, index), part);
    const __m512i value = _mm512_add_epi16(
        _mm512_add_epi16(looked_up(curve->start, index), rise),
        _mm512_set1_epi16(1 << (VALUE_SHIFT - 1)));
    return _mm512_srli_epi16(value, VALUE_SHIFT);
}

/* The weights of two channels, for all lanes. */
AVX512_INLINE __m512i pair(int16_t one, int16_t two)
{
    return _mm512_set1_epi32((int)((uint32_t)(uint16_t)two << 16 | (uint16_t)one));
}

AVX512_INLINE struct channels converted(
    struct channels from, const darkroom_space *space, const struct space_curve *curve)
{
    const __m512i one = _mm512_set1_epi16(1);
    for (int c = 0; c < 3; c++) from.of[c] = looked_up(space->light[c], from.of[c]);
    const __m512i low = _mm512_unpacklo_epi16(from.of[0], from.of[1]);
    const __m512i high = _mm512_unpackhi_epi16(from.of[0], from.of[1]);
    const __m512i low_rest = _mm512_unpacklo_epi16(from.of[2], one);
    const __m512i high_rest = _mm512_unpackhi_epi16(from.of[2], one);
    struct channels to;
    for (int c = 0; c < 3; c++) {
        const int16_t *row = space->matrix + 3 * c;
        const __m512i weights = pair(row[0], row[1]);
        /* And a half, for rounding. */
        const __m512i rest = pair(row[2], 1 << (MATRIX_SHIFT - 1));
        const __m512i first = _mm512_srai_epi32(
            _mm512_add_epi32(_mm512_madd_epi16(low, weights), _mm512_madd_epi16(low_rest, rest)),
            MATRIX_SHIFT);
        const __m512i second = _mm512_srai_epi32(
            _mm512_add_epi32(_mm512_madd_epi16(high, weights), _mm512_madd_epi16(high_rest, rest)),
            MATRIX_SHIFT);
        /* Packing stops at white. */
        const __m512i light =
            _mm512_max_epi16(_mm512_packs_epi32(first, second), _mm512_setzero_si512());
        to.of[c] = value_of(curve, light);
    }
    return to;
}

/* Which lane of the first two of three registers goes to each lane, and which of the third. */
struct places {
    __m512i first[3], then[3];
};

/* Lane `lane` of part `part` is sample (lane + 32 part) of the row: the reverse of `apart`. */
AVX512_INLINE struct places together(void)
{
    struct places places;
    for (int part = 0; part < 3; part++) {
        uint16_t first[32], then[32];
        for (int lane = 0; lane < 32; lane++) {
            const int sample = lane + 32 * part, pixel = sample / 3, channel = sample % 3;
            first[lane] = (uint16_t)(channel == 2 ? 0 : pixel + 32 * channel);
            then[lane] = (uint16_t)(channel == 2 ? 32 + pixel : lane);
        }
        places.first[part] = _mm512_loadu_si512(first);
        places.then[part] = _mm512_loadu_si512(then);
    }
    return places;
}

AVX512_INLINE struct places apart(void)
{
    struct places places;
    for (int channel = 0; channel < 3; channel++) {
        uint16_t first[32], then[32];
        for (int lane = 0; lane < 32; lane++) {
            const int sample = 3 * lane + channel;
            first[lane] = (uint16_t)(sample < 64 ? sample : 0);
            then[lane] = (uint16_t)(sample < 64 ? lane : 32 + sample - 64);
        }
        places.first[channel] = _mm512_loadu_si512(first);
        places.then[channel] = _mm512_loadu_si512(then);
    }
    return places;
}

AVX512_INLINE struct channels moved(struct channels from, const struct places *places)
{
    struct channels to;
    for (int k = 0; k < 3; k++)
        to.of[k] = _mm512_permutex2var_epi16(
            _mm512_permutex2var_epi16(from.of[0], places->first[k], from.of[1]), places->then[k],
            from.of[2]);
    return to;
}

AVX512 static size_t rgb(uint8_t *samples, size_t pixels, const darkroom_space *space)
{
    const struct space_curve *curve = darkroom_space_curve();
    const struct places out = apart(), back = together();
    size_t done = 0;
    for (; done + STEP <= pixels; done += STEP, samples += 3 * STEP) {
        struct channels row;
        for (int k = 0; k < 3; k++)
            row.of[k] = _mm512_cvtepu8_epi16(
                _mm256_loadu_si256((const __m256i *)(const void *)(samples + 32 * k)));
        row = moved(converted(moved(row, &out), space, curve), &back);
        for (int k = 0; k < 3; k++)
            store_32(samples + 32 * k, _mm512_cvtepi16_epi8(row.of[k]));
    }
    return done;
}

AVX512 static size_t rgba(uint8_t *samples, size_t pixels, const darkroom_space *space)
{
    const struct space_curve *curve = darkroom_space_curve();
    const __m512i bytes = _mm512_set1_epi16(255);
    uint16_t lanes[32];
    for (int lane = 0; lane < 32; lane++) lanes[lane] = (uint16_t)(2 * lane);
    const __m512i even = _mm512_loadu_si512(lanes);
    const __m512i odd = _mm512_add_epi16(even, _mm512_set1_epi16(1));
    for (int lane = 0; lane < 32; lane++) lanes[lane] = (uint16_t)(lane / 2 + lane % 2 * 32);
    const __m512i first_half = _mm512_loadu_si512(lanes);
    const __m512i second_half = _mm512_add_epi16(first_half, _mm512_set1_epi16(16));
    size_t done = 0;
    for (; done + STEP <= pixels; done += STEP, samples += 4 * STEP) {
        const __m512i first = load_64(samples), second = load_64(samples + 64);
        const __m512i lower[2] = {_mm512_and_si512(first, bytes), _mm512_and_si512(second, bytes)};
        const __m512i upper[2] = {_mm512_srli_epi16(first, 8), _mm512_srli_epi16(second, 8)};
        struct channels row;
        row.of[0] = _mm512_permutex2var_epi16(lower[0], even, lower[1]);
        row.of[1] = _mm512_permutex2var_epi16(upper[0], even, upper[1]);
        row.of[2] = _mm512_permutex2var_epi16(lower[0], odd, lower[1]);
        const __m512i alpha = _mm512_permutex2var_epi16(upper[0], odd, upper[1]);
        row = converted(row, space, curve);
        const __m512i red_green = _mm512_or_si512(row.of[0], _mm512_slli_epi16(row.of[1], 8));
        const __m512i blue_alpha = _mm512_or_si512(row.of[2], _mm512_slli_epi16(alpha, 8));
        store_64(samples, _mm512_permutex2var_epi16(red_green, first_half, blue_alpha));
        store_64(samples + 64, _mm512_permutex2var_epi16(red_green, second_half, blue_alpha));
    }
    return done;
}

AVX512 size_t darkroom_space_8_avx512(
    uint8_t *samples, size_t pixels, int channels, const darkroom_space *space)
{
    return channels == 3 ? rgb(samples, pixels, space) : rgba(samples, pixels, space);
}

#endif
