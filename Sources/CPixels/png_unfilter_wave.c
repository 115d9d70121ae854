#include "png_unfilter.h"

#if defined(__x86_64__)

#include <string.h>

#include "avx2.h"

/*
 * A wavefront: lane k of a register processes row k, one pixel behind row k - 1. Row k - 1 has finished the
 * pixel above one step earlier: it is the last result moved up by a lane. So no row waits for the end of
 * another one.
 *
 * Pixels of up to 4 bytes use eight lanes of 4 bytes, those of 6 and 8 bytes four lanes of 8. Steps are made
 * in chunks of as many as there are lanes: row k's next pixels are loaded and spread to whole lanes. Then the
 * block of rows × pixels is transposed, so that each register holds the data of one step, and transposed back
 * when it is finished.
 */
enum { MOST_LANES = 8, CHUNK_BYTES = 32 };

/* What is known of a wave's rows. */
typedef enum {
    ANY_FILTERS,
    NO_PAETH,
    ONLY_AVERAGE,
} mix;

typedef struct {
    const uint8_t *in[MOST_LANES]; /* behind the filter's number; unused lanes repeat the last row */
    uint8_t *out;                  /* of lane 0 */
    const uint8_t *above;          /* of lane 0 */
    size_t rows, row_bytes;
    __m256i is_none, is_sub, is_up, is_average, is_paeth; /* of each lane, all ones or zeros */
    __m256i spread, gather; /* shuffles: pixels to lanes and back, per half of a register */
    __m256i left, corner; /* of each lane, of the next step; the complements, 255 minus each byte */
} wave;

/*
 * The complement of the pixels of the lanes: the file's bytes plus the prediction of the row's filter.
 *
 * Average is half the sum of two bytes, rounded down. The processor's average rounds up. Of complements that is the
 * complement of the one that is needed, so all pixels of a wave are complements. The prediction of Paeth is then one too.
 *
 * The next step waits for this result, so everything possible is done early: for rows with other filters, Paeth's
 * candidates are 0 from the start.
 */
AVX2_INLINE __m256i undo_step(
    const wave *w, mix mix, __m256i residues, __m256i left, __m256i above, __m256i corner)
{
    const __m256i average = _mm256_avg_epu8(left, above);
    if (mix == ONLY_AVERAGE)
        return _mm256_sub_epi8(average, residues);
    const __m256i simple = _mm256_or_si256(
        _mm256_or_si256(
            _mm256_and_si256(left, w->is_sub), _mm256_and_si256(above, w->is_up)),
        _mm256_or_si256(_mm256_and_si256(average, w->is_average), w->is_none));
    if (mix == NO_PAETH)
        return _mm256_sub_epi8(simple, residues);

    /* Paeth's three distances in bytes. The distance to the corner, |(left - corner) + (above - corner)|, is
     * the difference of the other two if the signs differ. If not, it is their sum, which is at least as
     * large as both. Only that matters, and it also holds for their bitwise or. */
    const __m256i above_up = _mm256_subs_epu8(above, corner);
    const __m256i above_down = _mm256_subs_epu8(corner, above);
    const __m256i left_up = _mm256_subs_epu8(left, corner);
    const __m256i left_down = _mm256_subs_epu8(corner, left);
    const __m256i to_left = _mm256_or_si256(above_up, above_down);
    const __m256i to_above = _mm256_or_si256(left_up, left_down);
    const __m256i to_corner = _mm256_or_si256(
        _mm256_or_si256(
            _mm256_subs_epu8(above_up, left_down), _mm256_subs_epu8(left_down, above_up)),
        _mm256_or_si256(
            _mm256_subs_epu8(above_down, left_up), _mm256_subs_epu8(left_up, above_down)));
    const __m256i least = _mm256_min_epu8(_mm256_min_epu8(to_left, to_above), to_corner);
    const __m256i corner_or_above = _mm256_blendv_epi8(
        _mm256_and_si256(corner, w->is_paeth), _mm256_and_si256(above, w->is_paeth),
        _mm256_cmpeq_epi8(least, to_above));
    const __m256i nearest = _mm256_blendv_epi8(
        corner_or_above, _mm256_and_si256(left, w->is_paeth), _mm256_cmpeq_epi8(least, to_left));
    return _mm256_add_epi8(_mm256_sub_epi8(simple, residues), nearest);
}

AVX2_INLINE __m256i complement(__m256i bytes)
{
    return _mm256_xor_si256(bytes, _mm256_set1_epi8(-1));
}

/* One step for all lanes; `first` is lane 0's pixel above. */
AVX2_INLINE __m256i step(wave *w, mix mix, int lanes, __m256i residues, __m256i first)
{
    __m256i above;
    first = complement(first);
    if (lanes == 8) {
        const __m256i up = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
        above = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(w->left, up), first, 0x01);
    } else {
        above = _mm256_blend_epi32(_mm256_permute4x64_epi64(w->left, 0x93), first, 0x03);
    }
    w->left = undo_step(w, mix, residues, w->left, above, w->corner);
    w->corner = above;
    return complement(w->left);
}

/* Transposes the eight lanes of eight registers. */
AVX2_INLINE void turn_8(__m256i v[8])
{
    __m256i a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm256_unpacklo_epi32(v[i], v[i + 1]);
        a[i + 1] = _mm256_unpackhi_epi32(v[i], v[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        b[i] = _mm256_unpacklo_epi64(a[i], a[i + 2]);
        b[i + 1] = _mm256_unpackhi_epi64(a[i], a[i + 2]);
        b[i + 2] = _mm256_unpacklo_epi64(a[i + 1], a[i + 3]);
        b[i + 3] = _mm256_unpackhi_epi64(a[i + 1], a[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x20);
        v[i + 4] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x31);
    }
}

/* The four lanes of four registers. */
AVX2_INLINE void turn_4(__m256i v[4])
{
    const __m256i a = _mm256_unpacklo_epi64(v[0], v[1]);
    const __m256i b = _mm256_unpackhi_epi64(v[0], v[1]);
    const __m256i c = _mm256_unpacklo_epi64(v[2], v[3]);
    const __m256i d = _mm256_unpackhi_epi64(v[2], v[3]);
    v[0] = _mm256_permute2x128_si256(a, c, 0x20);
    v[1] = _mm256_permute2x128_si256(b, d, 0x20);
    v[2] = _mm256_permute2x128_si256(a, c, 0x31);
    v[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

AVX2_INLINE __m128i load_half(const uint8_t *bytes)
{
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

/* A chunk of `lanes` pixels, each in a lane. Reads up to 12 bytes after them. */
AVX2_INLINE __m256i load_chunk(const wave *w, const uint8_t *bytes, int lanes, int pixel)
{
    const __m256i both =
        _mm256_set_m128i(load_half(bytes + lanes / 2 * pixel), load_half(bytes));
    return _mm256_shuffle_epi8(both, w->spread);
}

/* The reverse. Writes up to 12 bytes without meaning after them. */
AVX2_INLINE void store_chunk(
    const wave *w, uint8_t *bytes, __m256i chunk, int lanes, int pixel)
{
    const __m256i both = _mm256_shuffle_epi8(chunk, w->gather);
    _mm_storeu_si128((__m128i *)(void *)bytes, _mm256_castsi256_si128(both));
    _mm_storeu_si128(
        (__m128i *)(void *)(bytes + lanes / 2 * pixel), _mm256_extracti128_si256(both, 1));
}

AVX2_INLINE __m256i load_first(const uint8_t *bytes, int lanes)
{
    if (lanes == 8) {
        int32_t pixel;
        memcpy(&pixel, bytes, sizeof pixel);
        return _mm256_set1_epi32(pixel);
    }
    int64_t pixel;
    memcpy(&pixel, bytes, sizeof pixel);
    return _mm256_set1_epi64x(pixel);
}

/* The steps of a chunk. `above` is for lane 0's first pixel. If lane k begins with step k, at the left edge,
 * everything before is kept 0. */
AVX2_INLINE void advance(
    wave *w, mix mix, __m256i v[], const uint8_t *above, int lanes, int pixel, bool is_first)
{
    if (lanes == 8)
        turn_8(v);
    else
        turn_4(v);
    const __m256i numbers = lanes == 8 ? _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
                                       : _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    for (int t = 0; t < lanes; t++) {
        v[t] = step(w, mix, lanes, v[t], load_first(above + t * pixel, lanes));
        if (is_first) {
            w->left = _mm256_or_si256(
                _mm256_cmpgt_epi32(numbers, _mm256_set1_epi32(t)), w->left);
            v[t] = complement(w->left);
        }
    }
    if (lanes == 8)
        turn_8(v);
    else
        turn_4(v);
}

/* A chunk in which the pixels of some lanes are beyond the row's ends. `start` is lane 0's first byte. */
AVX2_INLINE void edge_chunk(wave *w, mix mix, size_t start, int lanes, int pixel)
{
    uint8_t bytes[CHUNK_BYTES + 16] = {0};
    const size_t size = (size_t)(lanes * pixel);
    const size_t end = w->row_bytes;
    __m256i v[MOST_LANES];
    /* For row k the bytes from start - k·pixel on, without those before 0 and from `end` on. */
    for (int k = 0; k < lanes; k++) {
        const size_t behind = (size_t)(k * pixel);
        const size_t from = start < behind ? behind - start : 0;
        const size_t to = start + size <= end + behind ? size
            : start < end + behind                     ? end + behind - start
                                                       : 0;
        memset(bytes, 0, sizeof bytes);
        if (from < to)
            memcpy(bytes + from, w->in[k] + (start + from - behind), to - from);
        v[k] = load_chunk(w, bytes, lanes, pixel);
    }
    memset(bytes, 0, sizeof bytes);
    if (start < end)
        memcpy(bytes, w->above + start, start + size <= end ? size : end - start);
    advance(w, mix, v, bytes, lanes, pixel, start == 0);
    for (int k = 0; k < lanes && (size_t)k < w->rows; k++) {
        const size_t behind = (size_t)(k * pixel);
        const size_t from = start < behind ? behind - start : 0;
        const size_t to = start + size <= end + behind ? size
            : start < end + behind                     ? end + behind - start
                                                       : 0;
        if (from >= to)
            continue;
        store_chunk(w, bytes, v[k], lanes, pixel);
        memcpy(
            w->out + (size_t)k * w->row_bytes + (start + from - behind), bytes + from, to - from);
    }
}

/* A chunk that is within the row for all lanes, including the additional bytes that are read and written. */
AVX2_INLINE void inner_chunk(wave *w, mix mix, size_t start, int lanes, int pixel)
{
    __m256i v[MOST_LANES];
    for (int k = 0; k < lanes; k++)
        v[k] = load_chunk(w, w->in[k] + start - (size_t)(k * pixel), lanes, pixel);
    advance(w, mix, v, w->above + start, lanes, pixel, false);
    for (int k = 0; k < lanes; k++)
        if ((size_t)k < w->rows)
            store_chunk(
                w, w->out + (size_t)k * w->row_bytes + start - (size_t)(k * pixel), v[k], lanes,
                pixel);
}

AVX2_INLINE void run_wave(wave *w, mix mix, int lanes, int pixel)
{
    const size_t size = (size_t)(lanes * pixel);
    const size_t last = w->row_bytes + (w->rows - 1) * (size_t)pixel; /* the last row's end */
    const size_t inner = w->row_bytes < size + 16 ? 0 : w->row_bytes - size - 16;
    w->left = w->corner = _mm256_set1_epi8(-1);
    size_t start = 0;
    for (; start < last; start += size) {
        if (start >= size && start <= inner)
            inner_chunk(w, mix, start, lanes, pixel);
        else
            edge_chunk(w, mix, start, lanes, pixel);
    }
}

/* The shuffles between `pixel` bytes and lanes of `lane` bytes. */
AVX2_INLINE void set_shuffles(wave *w, int lane, int pixel, int flip)
{
    int8_t spread[32], gather[32];
    memset(spread, -1, sizeof spread);
    memset(gather, -1, sizeof gather);
    for (int i = 0; i < 16 / lane; i++) {
        for (int j = 0; j < pixel; j++) {
            spread[i * lane + j] = (int8_t)(i * pixel + (j ^ flip));
            gather[i * pixel + j] = (int8_t)(i * lane + j);
        }
    }
    memcpy(spread + 16, spread, 16);
    memcpy(gather + 16, gather, 16);
    w->spread = _mm256_loadu_si256((const __m256i *)(const void *)spread);
    w->gather = _mm256_loadu_si256((const __m256i *)(const void *)gather);
}

AVX2_INLINE __m256i filter_mask(const uint8_t filters[MOST_LANES], int lanes, uint8_t filter)
{
    int32_t lane[8];
    for (int i = 0; i < 8; i++)
        lane[i] = filters[lanes == 8 ? i : i / 2] == filter ? -1 : 0;
    return _mm256_loadu_si256((const __m256i *)(const void *)lane);
}

static mix mix_of(const uint8_t filters[MOST_LANES], int lanes)
{
    mix mix = ONLY_AVERAGE;
    for (int k = 0; k < lanes; k++) {
        if (filters[k] == PAETH)
            return ANY_FILTERS;
        if (filters[k] != AVERAGE)
            mix = NO_PAETH;
    }
    return mix;
}

AVX2_INLINE void run_waves(
    const uint8_t *filtered, size_t rows, size_t row_bytes, int pixel, int flip,
    const uint8_t *above, uint8_t *out)
{
    const int lanes = pixel <= 4 ? 8 : 4;
    wave w;
    w.row_bytes = row_bytes;
    set_shuffles(&w, 32 / lanes, pixel, flip);
    while (rows > 0) {
        w.rows = rows < (size_t)lanes ? rows : (size_t)lanes;
        uint8_t filters[MOST_LANES] = {0};
        for (size_t k = 0; k < (size_t)lanes; k++) {
            const uint8_t *row = filtered + (k < w.rows ? k : w.rows - 1) * (row_bytes + 1);
            filters[k] = row[0];
            w.in[k] = row + 1;
        }
        w.is_none = filter_mask(filters, lanes, NONE);
        w.is_sub = filter_mask(filters, lanes, SUB);
        w.is_up = filter_mask(filters, lanes, UP);
        w.is_average = filter_mask(filters, lanes, AVERAGE);
        w.is_paeth = filter_mask(filters, lanes, PAETH);
        w.above = above;
        w.out = out;
        switch (mix_of(filters, lanes)) {
        case ANY_FILTERS: run_wave(&w, ANY_FILTERS, lanes, pixel); break;
        case NO_PAETH: run_wave(&w, NO_PAETH, lanes, pixel); break;
        case ONLY_AVERAGE: run_wave(&w, ONLY_AVERAGE, lanes, pixel); break;
        }
        filtered += w.rows * (row_bytes + 1);
        out += w.rows * row_bytes;
        above = out - row_bytes;
        rows -= w.rows;
    }
}

AVX2 void darkroom_undo_in_waves(
    const uint8_t *filtered, size_t rows, size_t row_bytes, int pixel_bytes, bool swaps,
    const uint8_t *above, uint8_t *out)
{
    const int flip = swaps ? 1 : 0;
    switch (pixel_bytes) {
    case 1: run_waves(filtered, rows, row_bytes, 1, 0, above, out); break;
    case 2: run_waves(filtered, rows, row_bytes, 2, flip, above, out); break;
    case 3: run_waves(filtered, rows, row_bytes, 3, 0, above, out); break;
    case 4: run_waves(filtered, rows, row_bytes, 4, flip, above, out); break;
    case 6: run_waves(filtered, rows, row_bytes, 6, flip, above, out); break;
    default: run_waves(filtered, rows, row_bytes, 8, flip, above, out); break;
    }
}

#endif
