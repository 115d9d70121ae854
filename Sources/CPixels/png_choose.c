/* PNG's row filters (chapter 9 of its specification): one pass over a row calculates the sums of all five, a
 * second pass applies the best one, or a given one. */
#include "darkroom_choose.h"
#include "darkroom_cpu.h"
#include "png_filters.h"
#include "samples.h"

/* Samples of 16 bits are swapped when they are laid out. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "for little-endian processors");

void darkroom_png_lay_out(
    const void *rows, size_t row_bytes, size_t count, int depth, uint8_t *out, size_t stride)
{
    const uint8_t *in = rows;
    for (size_t row = 0; row < count; row++) {
        memset(out - DARKROOM_PNG_MARGIN, 0, DARKROOM_PNG_MARGIN);
        if (depth == 16) {
            for (size_t i = 0; i + 1 < row_bytes; i += 2) {
                out[i] = in[i + 1];
                out[i + 1] = in[i];
            }
        } else {
            memcpy(out, in, row_bytes);
        }
        in += row_bytes;
        out += stride;
    }
}

/* ---- Plain C --------------------------------------------------------------------------------- */

/* The filters' predictions, from the byte to the left, the one above, and the one above to the left. `filter`
 * is a constant where this is inlined. */
INLINE uint8_t prediction(int filter, uint8_t left, uint8_t above, uint8_t corner)
{
    switch (filter) {
    case NONE: return 0;
    case SUB: return left;
    case UP: return above;
    case AVERAGE: return (uint8_t)((left + above) / 2);
    default: return paeth_of(left, above, corner);
    }
}

INLINE void filter_loop(
    int filter, const uint8_t *row, const uint8_t *above, size_t row_bytes, size_t step,
    uint8_t *out)
{
    const uint8_t *left = row - step, *corner = above - step;
    for (size_t i = 0; i < row_bytes; i++)
        out[i] = (uint8_t)(row[i] - prediction(filter, left[i], above[i], corner[i]));
}

INLINE uint64_t sum_loop(
    int filter, const uint8_t *row, const uint8_t *above, size_t row_bytes, size_t step)
{
    const uint8_t *left = row - step, *corner = above - step;
    uint64_t sum = 0;
    for (size_t i = 0; i < row_bytes; i++) {
        const uint8_t byte = (uint8_t)(row[i] - prediction(filter, left[i], above[i], corner[i]));
        sum += byte < 128 ? byte : 256u - byte;
    }
    return sum;
}

static int least(const uint64_t sums[FILTERS])
{
    int best = NONE;
    for (int filter = SUB; filter < FILTERS; filter++)
        if (sums[filter] < sums[best])
            best = filter;
    return best;
}

static void apply_plain(
    int filter, const uint8_t *row, const uint8_t *above, size_t row_bytes, size_t step,
    uint8_t *out)
{
    *out++ = (uint8_t)filter;
    switch (filter) {
    case NONE: memcpy(out, row, row_bytes); break;
    case SUB: filter_loop(SUB, row, above, row_bytes, step, out); break;
    case UP: filter_loop(UP, row, above, row_bytes, step, out); break;
    case AVERAGE: filter_loop(AVERAGE, row, above, row_bytes, step, out); break;
    default: filter_loop(PAETH, row, above, row_bytes, step, out); break;
    }
}

static void choose_plain(
    const uint8_t *row, const uint8_t *above, size_t row_bytes, size_t step, uint8_t *out)
{
    const uint64_t sums[FILTERS] = {
        sum_loop(NONE, row, above, row_bytes, step),
        sum_loop(SUB, row, above, row_bytes, step),
        sum_loop(UP, row, above, row_bytes, step),
        sum_loop(AVERAGE, row, above, row_bytes, step),
        sum_loop(PAETH, row, above, row_bytes, step),
    };
    apply_plain(least(sums), row, above, row_bytes, step, out);
}

/* ---- AVX2 ------------------------------------------------------------------------------------ */

#if defined(__x86_64__)

enum { VECTOR = 32 };
_Static_assert(DARKROOM_PNG_OVERHANG >= VECTOR, "a vector may begin at a row's last byte");

AVX2 INLINE __m256i load(const uint8_t *bytes)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)bytes);
}

/* The mean, rounded down. The instruction rounds up. */
AVX2 INLINE __m256i average(__m256i left, __m256i above)
{
    const __m256i odd = _mm256_and_si256(_mm256_xor_si256(left, above), _mm256_set1_epi8(1));
    return _mm256_sub_epi8(_mm256_avg_epu8(left, above), odd);
}

/*
 * Paeth's predictor with only 8 bits. The distances of left + above - corner are |above - corner| to the left
 * byte and |left - corner| to the one above. To the corner it is the sum of the two, or their difference if
 * corner is between left and above. A saturated sum is still at least as large as each of the two.
 */
AVX2 INLINE __m256i paeth(__m256i left, __m256i above, __m256i corner)
{
    const __m256i low_above = _mm256_min_epu8(above, corner);
    const __m256i low_left = _mm256_min_epu8(left, corner);
    const __m256i left_error = _mm256_sub_epi8(_mm256_max_epu8(above, corner), low_above);
    const __m256i above_error = _mm256_sub_epi8(_mm256_max_epu8(left, corner), low_left);
    const __m256i between = _mm256_xor_si256(
        _mm256_cmpeq_epi8(low_above, corner), _mm256_cmpeq_epi8(low_left, corner));
    const __m256i sum = _mm256_adds_epu8(left_error, above_error);
    const __m256i nearer = _mm256_min_epu8(left_error, above_error);
    const __m256i difference =
        _mm256_sub_epi8(_mm256_max_epu8(left_error, above_error), nearer);
    const __m256i corner_error = _mm256_blendv_epi8(sum, difference, between);
    const __m256i smallest = _mm256_min_epu8(nearer, corner_error);
    const __m256i of_two =
        _mm256_blendv_epi8(corner, above, _mm256_cmpeq_epi8(above_error, smallest));
    return _mm256_blendv_epi8(of_two, left, _mm256_cmpeq_epi8(left_error, smallest));
}

AVX2 INLINE __m256i add_magnitudes(__m256i sum, __m256i bytes)
{
    const __m256i zero = _mm256_setzero_si256();
    return _mm256_add_epi64(sum, _mm256_sad_epu8(_mm256_abs_epi8(bytes), zero));
}

AVX2 INLINE uint64_t total(__m256i sum)
{
    uint64_t parts[4];
    memcpy(parts, &sum, sizeof parts);
    return parts[0] + parts[1] + parts[2] + parts[3];
}

AVX2 INLINE void add_all(
    __m256i sums[FILTERS], const uint8_t *row, const uint8_t *above, size_t step, __m256i mask)
{
    const __m256i byte = _mm256_and_si256(load(row), mask);
    const __m256i a = _mm256_and_si256(load(row - step), mask);
    const __m256i b = _mm256_and_si256(load(above), mask);
    const __m256i c = _mm256_and_si256(load(above - step), mask);
    sums[NONE] = add_magnitudes(sums[NONE], byte);
    sums[SUB] = add_magnitudes(sums[SUB], _mm256_sub_epi8(byte, a));
    sums[UP] = add_magnitudes(sums[UP], _mm256_sub_epi8(byte, b));
    sums[AVERAGE] = add_magnitudes(sums[AVERAGE], _mm256_sub_epi8(byte, average(a, b)));
    sums[PAETH] = add_magnitudes(sums[PAETH], _mm256_sub_epi8(byte, paeth(a, b, c)));
}

AVX2 INLINE void filter_vectors(
    int filter, const uint8_t *row, const uint8_t *above, size_t row_bytes, size_t step,
    uint8_t *out)
{
    for (size_t i = 0; i < row_bytes; i += VECTOR) {
        __m256i byte = load(row + i);
        if (filter == SUB)
            byte = _mm256_sub_epi8(byte, load(row + i - step));
        else if (filter == UP)
            byte = _mm256_sub_epi8(byte, load(above + i));
        else if (filter == AVERAGE)
            byte = _mm256_sub_epi8(byte, average(load(row + i - step), load(above + i)));
        else if (filter == PAETH)
            byte = _mm256_sub_epi8(
                byte,
                paeth(load(row + i - step), load(above + i), load(above + i - step)));
        _mm256_storeu_si256((__m256i *)(void *)(out + i), byte);
    }
}

AVX2 static void apply_avx2(
    int filter, const uint8_t *row, const uint8_t *above, size_t row_bytes, size_t step,
    uint8_t *out)
{
    *out++ = (uint8_t)filter;
    switch (filter) {
    case NONE: filter_vectors(NONE, row, above, row_bytes, step, out); break;
    case SUB: filter_vectors(SUB, row, above, row_bytes, step, out); break;
    case UP: filter_vectors(UP, row, above, row_bytes, step, out); break;
    case AVERAGE: filter_vectors(AVERAGE, row, above, row_bytes, step, out); break;
    default: filter_vectors(PAETH, row, above, row_bytes, step, out); break;
    }
}

AVX2 static void choose_avx2(
    const uint8_t *row, const uint8_t *above, size_t row_bytes, size_t step, uint8_t *out)
{
    /* A vector of ones from `VECTOR - rest` on keeps the first `rest` bytes. */
    static const uint8_t masks[2 * VECTOR] = {
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    };
    __m256i sums[FILTERS];
    for (int filter = 0; filter < FILTERS; filter++)
        sums[filter] = _mm256_setzero_si256();
    const size_t rest = row_bytes % VECTOR;
    const size_t whole = row_bytes - rest;
    const __m256i everything = _mm256_set1_epi8(-1);
    for (size_t i = 0; i < whole; i += VECTOR)
        add_all(sums, row + i, above + i, step, everything);
    add_all(sums, row + whole, above + whole, step, load(masks + VECTOR - rest));
    uint64_t totals[FILTERS];
    for (int filter = 0; filter < FILTERS; filter++)
        totals[filter] = total(sums[filter]);
    apply_avx2(least(totals), row, above, row_bytes, step, out);
}
#endif

void darkroom_png_choose(
    const uint8_t *rows, size_t stride, size_t row_bytes, int pixel_bytes, size_t count,
    uint8_t *out)
{
    const size_t step = (size_t)pixel_bytes;
#if defined(__x86_64__)
    const int has_avx2 = darkroom_cpu_level() >= DARKROOM_CPU_AVX2;
#endif
    for (size_t row = 0; row < count; row++, rows += stride, out += row_bytes + 1) {
#if defined(__x86_64__)
        if (has_avx2) {
            choose_avx2(rows, rows - stride, row_bytes, step, out);
            continue;
        }
#endif
        choose_plain(rows, rows - stride, row_bytes, step, out);
    }
}

void darkroom_png_apply(
    const uint8_t *rows, size_t stride, size_t row_bytes, int pixel_bytes, size_t count, int filter,
    uint8_t *out)
{
    const size_t step = (size_t)pixel_bytes;
#if defined(__x86_64__)
    const int has_avx2 = darkroom_cpu_level() >= DARKROOM_CPU_AVX2;
#endif
    for (size_t row = 0; row < count; row++, rows += stride, out += row_bytes + 1) {
#if defined(__x86_64__)
        if (has_avx2) {
            apply_avx2(filter, rows, rows - stride, row_bytes, step, out);
            continue;
        }
#endif
        apply_plain(filter, rows, rows - stride, row_bytes, step, out);
    }
}
