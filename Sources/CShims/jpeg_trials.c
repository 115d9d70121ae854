#include "jpeg_trials.h"

#include "darkroom_processor.h"
#include "darkroom_quality.h"

#include <stdlib.h>
#include <string.h>

/* All processors must compute the same. */
#pragma STDC FP_CONTRACT OFF

enum { SIDE = DCTSIZE, STRIP = 2 * SIDE, MIDDLE = 128 };

/* The coefficients of a component, eight times as large as they are, block by block. */
typedef struct {
    int16_t *blocks;
    uint32_t wide, high;
    /* The quantisers of the trial: their reciprocals, and their halves. */
    float reciprocals[DCTSIZE2];
    int16_t halves[DCTSIZE2];
    /* Quantised rows of blocks, which libjpeg has until it asks for others. */
    JBLOCK *lent;
    JBLOCKROW rows[2];
} plane;

enum { LIGHT, COARSE_BLUE, COARSE_RED, FINE_BLUE, FINE_RED, PLANES };

struct darkroom_jpeg_trials {
    uint32_t width, height, row;
    bool is_gray, has_fine, has_coarse;
    /* Brightness and colours of the rows of 16, and the colours of 8 at half the resolution. Their rows have whole blocks. */
    uint8_t *strip[3], *half[2];
    size_t stride;
    plane planes[PLANES];
    /* Those that are written, which libjpeg takes for its arrays. */
    jvirt_barray_ptr written[3];
    /* Two rows of blocks as samples, and the memory of the similarity. */
    uint8_t *samples[2];
    void *ssim;
    /* All memory but this. */
    uint8_t *memory;
};

/* ---- Memory ---- */

static uint32_t blocks(uint32_t side) { return (side + SIDE - 1) / SIDE; }

/* The next piece of the memory; with no memory, only the sum grows. */
static void *piece(uint8_t *memory, uint64_t *used, uint64_t bytes)
{
    void *start = memory ? memory + *used : NULL;
    *used += (bytes + 63) / 64 * 64;
    return start;
}

static void lay_plane(plane *plane, uint32_t width, uint32_t height, uint8_t *memory, uint64_t *used)
{
    plane->wide = blocks(width);
    plane->high = blocks(height);
    plane->blocks = piece(memory, used, (uint64_t)plane->wide * plane->high * DCTSIZE2 * sizeof(int16_t));
    plane->lent = piece(memory, used, (uint64_t)2 * plane->wide * sizeof(JBLOCK));
}

/* Divides the memory. Returns its size. */
static uint64_t lay_out(darkroom_jpeg_trials *trials, uint8_t *memory)
{
    uint64_t used = 0;
    uint32_t width = trials->width, height = trials->height;
    trials->stride = ((size_t)width + STRIP - 1) / STRIP * STRIP;
    for (int i = 0; i < (trials->is_gray ? 1 : 3); i++)
        trials->strip[i] = piece(memory, &used, trials->stride * STRIP);
    lay_plane(&trials->planes[LIGHT], width, height, memory, &used);
    for (int i = 0; i < 2; i++) {
        trials->samples[i] = piece(memory, &used, trials->stride * SIDE);
        if (trials->has_coarse) {
            trials->half[i] = piece(memory, &used, trials->stride / 2 * SIDE);
            lay_plane(&trials->planes[COARSE_BLUE + i], (width + 1) / 2, (height + 1) / 2, memory, &used);
        }
        if (trials->has_fine)
            lay_plane(&trials->planes[FINE_BLUE + i], width, height, memory, &used);
    }
    trials->ssim = piece(memory, &used, darkroom_ssim_bytes(width));
    return used;
}

static darkroom_jpeg_trials empty(uint32_t width, uint32_t height, bool is_gray, bool has_fine, bool has_coarse)
{
    return (darkroom_jpeg_trials){
        .width = width, .height = height, .is_gray = is_gray, .has_fine = has_fine && !is_gray,
        .has_coarse = has_coarse && !is_gray};
}

uint64_t darkroom_jpeg_trials_bytes(uint32_t width, uint32_t height, bool is_gray, bool has_fine, bool has_coarse)
{
    darkroom_jpeg_trials trials = empty(width, height, is_gray, has_fine, has_coarse);
    return lay_out(&trials, NULL) + sizeof trials;
}

darkroom_jpeg_trials *darkroom_jpeg_trials_new(
    uint32_t width, uint32_t height, bool is_gray, bool has_fine, bool has_coarse)
{
    darkroom_jpeg_trials *trials = malloc(sizeof *trials);
    if (trials == NULL)
        return NULL;
    *trials = empty(width, height, is_gray, has_fine, has_coarse);
    trials->memory = aligned_alloc(64, lay_out(trials, NULL));
    if (trials->memory == NULL) {
        free(trials);
        return NULL;
    }
    lay_out(trials, trials->memory);
    return trials;
}

void darkroom_jpeg_trials_free(darkroom_jpeg_trials *trials)
{
    if (trials == NULL)
        return;
    free(trials->memory);
    free(trials);
}

/* ---- Rows become brightness and colours, with the values of libjpeg ---- */

DARKROOM_FOR_PROCESSOR static void convert(
    const uint8_t *restrict row, uint32_t width, uint8_t *restrict light, uint8_t *restrict blue, uint8_t *restrict red)
{
    const int half = 1 << 15, zero = (MIDDLE << 16) + half - 1;
    for (uint32_t x = 0; x < width; x++) {
        int r = row[3 * x], g = row[3 * x + 1], b = row[3 * x + 2];
        light[x] = (uint8_t)((19595 * r + 38470 * g + 7471 * b + half) >> 16);
        blue[x] = (uint8_t)((-11059 * r - 21709 * g + 32768 * b + zero) >> 16);
        red[x] = (uint8_t)((32768 * r - 27439 * g - 5329 * b + zero) >> 16);
    }
}

/* The averages of 2 × 2 samples; their halves are rounded down and up in turn. */
DARKROOM_FOR_PROCESSOR static void halve(
    const uint8_t *restrict top, const uint8_t *restrict bottom, size_t count, uint8_t *restrict to)
{
    for (size_t x = 0; x < count; x++) {
        unsigned sum = top[2 * x] + top[2 * x + 1] + bottom[2 * x] + bottom[2 * x + 1];
        to[x] = (uint8_t)((sum + 1 + x % 2) >> 2);
    }
}

/* ---- The transform: libjpeg's accurate one, of eight rows or columns at once ---- */

static inline __attribute__((always_inline)) int descaled(int value, int bits)
{
    return (value + (1 << (bits - 1))) >> bits;
}

/* `d[k][i]` is number `k` of transform `i`. `is_second` ends with eight times the coefficients. */
static inline __attribute__((always_inline)) void transform_eight(int d[SIDE][SIDE], bool is_second)
{
    const int pass = 2, bits = is_second ? 13 + pass : 13 - pass;
    for (int i = 0; i < SIDE; i++) {
        int s0 = d[0][i] + d[7][i], s7 = d[0][i] - d[7][i], s1 = d[1][i] + d[6][i], s6 = d[1][i] - d[6][i];
        int s2 = d[2][i] + d[5][i], s5 = d[2][i] - d[5][i], s3 = d[3][i] + d[4][i], s4 = d[3][i] - d[4][i];
        int e0 = s0 + s3, e3 = s0 - s3, e1 = s1 + s2, e2 = s1 - s2;
        d[0][i] = is_second ? descaled(e0 + e1, pass) : (e0 + e1) * (1 << pass);
        d[4][i] = is_second ? descaled(e0 - e1, pass) : (e0 - e1) * (1 << pass);
        int z1 = (e2 + e3) * 4433;
        d[2][i] = descaled(z1 + e3 * 6270, bits);
        d[6][i] = descaled(z1 - e2 * 15137, bits);
        int z5 = (s4 + s6 + s5 + s7) * 9633;
        int z3 = z5 - (s4 + s6) * 16069, z4 = z5 - (s5 + s7) * 3196;
        int z2 = -(s5 + s6) * 20995;
        z1 = -(s4 + s7) * 7373;
        d[7][i] = descaled(s4 * 2446 + z1 + z3, bits);
        d[5][i] = descaled(s5 * 16819 + z2 + z4, bits);
        d[3][i] = descaled(s6 * 25172 + z2 + z3, bits);
        d[1][i] = descaled(s7 * 12299 + z1 + z4, bits);
    }
}

DARKROOM_FOR_PROCESSOR static void transform(const uint8_t *samples, size_t stride, uint32_t count, int16_t *to)
{
    for (uint32_t block = 0; block < count; block++, samples += SIDE, to += DCTSIZE2) {
        int rows[SIDE][SIDE], columns[SIDE][SIDE];
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                rows[x][y] = samples[(size_t)y * stride + (size_t)x] - MIDDLE;
        transform_eight(rows, false);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                columns[y][x] = rows[x][y];
        transform_eight(columns, true);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                to[y * SIDE + x] = (int16_t)columns[y][x];
    }
}

/* Row `y` of the plane's blocks, of these samples. */
static void transform_row(const plane *plane, uint32_t y, const uint8_t *samples, size_t stride)
{
    if (y < plane->high)
        transform(samples, stride, plane->wide, plane->blocks + (size_t)y * plane->wide * DCTSIZE2);
}

/* The last one of `count` rows stands for those that are missing. */
static void repeat(uint8_t *rows, size_t stride, uint32_t count, uint32_t all)
{
    for (uint32_t y = count; y < all; y++)
        memcpy(rows + y * stride, rows + (size_t)(count - 1) * stride, stride);
}

/* The strip has `count` rows. */
static void transform_strip(darkroom_jpeg_trials *trials, uint32_t count)
{
    uint32_t y = (trials->row - 1) / STRIP;
    size_t stride = trials->stride;
    for (int i = 0; i < (trials->is_gray ? 1 : 3); i++)
        repeat(trials->strip[i], stride, count, STRIP);
    for (uint32_t part = 0; part < 2; part++) {
        size_t below = part * SIDE * stride;
        transform_row(&trials->planes[LIGHT], 2 * y + part, trials->strip[0] + below, stride);
        for (int i = 0; i < 2 && trials->has_fine; i++)
            transform_row(&trials->planes[FINE_BLUE + i], 2 * y + part, trials->strip[1 + i] + below, stride);
    }
    for (int i = 0; i < 2 && trials->has_coarse; i++) {
        for (size_t row = 0; row < (count + 1) / 2; row++)
            halve(trials->strip[1 + i] + 2 * row * stride, trials->strip[1 + i] + (2 * row + 1) * stride, stride / 2,
                trials->half[i] + row * stride / 2);
        repeat(trials->half[i], stride / 2, (count + 1) / 2, SIDE);
        transform_row(&trials->planes[COARSE_BLUE + i], y, trials->half[i], stride / 2);
    }
}

void darkroom_jpeg_trials_row(darkroom_jpeg_trials *trials, const uint8_t *row)
{
    size_t place = trials->row % STRIP * trials->stride;
    uint8_t *to[3] = {trials->strip[0] + place};
    if (trials->is_gray) {
        memcpy(to[0], row, trials->width);
    } else {
        to[1] = trials->strip[1] + place;
        to[2] = trials->strip[2] + place;
        convert(row, trials->width, to[0], to[1], to[2]);
    }
    for (int i = 0; i < (trials->is_gray ? 1 : 3); i++)
        memset(to[i] + trials->width, to[i][trials->width - 1], trials->stride - trials->width);
    trials->row++;
    if (trials->row % STRIP == 0 || trials->row == trials->height)
        transform_strip(trials, (trials->row - 1) % STRIP + 1);
}

/* ---- Trials ---- */

/* libjpeg rounds the quotient of |coefficient| and the quantiser, both eight times as large. They are whole and below
 * 2¹⁴, so the product with a reciprocal of 24 bits is on the right side of each whole number if half of one is
 * added. */
DARKROOM_FOR_PROCESSOR static void quantise(const int16_t *restrict from, const float *restrict reciprocals,
    const int16_t *restrict halves, size_t blocks, int16_t *restrict to)
{
    for (size_t block = 0; block < blocks; block++)
        for (int k = 0; k < DCTSIZE2; k++) {
            int value = from[block * DCTSIZE2 + (size_t)k];
            int size = (value < 0 ? -value : value) + halves[k];
            int quotient = (int)(((float)size + 0.5f) * reciprocals[k]);
            to[block * DCTSIZE2 + (size_t)k] = (int16_t)(value < 0 ? -quotient : quotient);
        }
}

static void prepare(plane *plane, const JQUANT_TBL *table)
{
    for (int k = 0; k < DCTSIZE2; k++) {
        plane->reciprocals[k] = 1.0f / (float)(table->quantval[k] * 8);
        plane->halves[k] = (int16_t)(table->quantval[k] * 4);
    }
}

static const int16_t *row_of(const plane *plane, uint32_t y)
{
    return plane->blocks + (size_t)y * plane->wide * DCTSIZE2;
}

static void quantise_row(plane *plane, uint32_t y, JBLOCK *to)
{
    quantise(row_of(plane, y), plane->reciprocals, plane->halves, plane->wide, (int16_t *)to);
}

/* Instead of libjpeg's function for its arrays: quantises the rows of blocks that it asks for. It may ask for one that
 * does not exist, and does not look at it. */
static JBLOCKARRAY lend(
    j_common_ptr info, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count, boolean writable)
{
    (void)info, (void)writable;
    plane *plane = (void *)array;
    for (JDIMENSION i = 0; i < count && i < 2; i++) {
        plane->rows[i] = plane->lent + (size_t)i * plane->wide;
        if (first + i < plane->high)
            quantise_row(plane, first + i, plane->rows[i]);
    }
    return plane->rows;
}

void darkroom_jpeg_trials_start(darkroom_jpeg_trials *trials, j_compress_ptr info)
{
    bool is_coarse = info->comp_info[0].h_samp_factor == 2;
    for (int i = 0; i < info->num_components; i++) {
        plane *plane = &trials->planes[i == 0 ? LIGHT : (is_coarse ? COARSE_BLUE : FINE_BLUE) + i - 1];
        prepare(plane, info->quant_tbl_ptrs[info->comp_info[i].quant_tbl_no]);
        trials->written[i] = (void *)plane;
    }
    info->mem->access_virt_barray = lend;
    jpeg_write_coefficients(info, trials->written);
}

/* ---- What a decoder makes of the brightness ---- */

/* cos(n·π/16) / 2. */
static const float cosines[9] = {
    0.5f, 0.4903926402016152f, 0.46193976625564337f, 0.4157348061512726f, 0.3535533905932738f, 0.27778511650980114f,
    0.19134171618254492f, 0.09754516100806417f, 0};

/* Number `k` of the transform at place `x`. */
static float wave(int k, int x)
{
    if (k == 0)
        return cosines[4];
    int angle = (2 * x + 1) * k % 32;
    if (angle > 16)
        angle = 32 - angle;
    return angle <= 8 ? cosines[angle] : -cosines[16 - angle];
}

/* Blocks of coefficients become samples. Each coefficient is multiplied by its factor. */
DARKROOM_FOR_PROCESSOR static void restore(const int16_t *restrict from, const float *restrict factors,
    float waves[SIDE][SIDE], uint32_t count, uint8_t *restrict to, size_t stride)
{
    for (uint32_t block = 0; block < count; block++, from += DCTSIZE2, to += SIDE) {
        float values[SIDE][SIDE], middle[SIDE][SIDE], turned[SIDE][SIDE], result[SIDE][SIDE];
        for (int k = 0; k < DCTSIZE2; k++)
            values[k / SIDE][k % SIDE] = from[k] * factors[k];
        for (int y = 0; y < SIDE; y++) {
            float sums[SIDE] = {0};
            for (int k = 0; k < SIDE; k++)
                for (int i = 0; i < SIDE; i++)
                    sums[i] += waves[k][y] * values[k][i];
            for (int i = 0; i < SIDE; i++)
                middle[y][i] = sums[i];
        }
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                turned[x][y] = middle[y][x];
        for (int x = 0; x < SIDE; x++) {
            float sums[SIDE] = {0};
            for (int k = 0; k < SIDE; k++)
                for (int i = 0; i < SIDE; i++)
                    sums[i] += waves[k][x] * turned[k][i];
            for (int i = 0; i < SIDE; i++)
                result[x][i] = sums[i];
        }
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                float value = result[x][y] + (MIDDLE + 0.5f);
                value = value < 0 ? 0 : value > 255 ? 255 : value;
                to[(size_t)y * stride + (size_t)x] = (uint8_t)value;
            }
    }
}

double darkroom_jpeg_trials_similarity(darkroom_jpeg_trials *trials, const JQUANT_TBL *table)
{
    plane *light = &trials->planes[LIGHT];
    float whole[DCTSIZE2], factors[DCTSIZE2], waves[SIDE][SIDE];
    prepare(light, table);
    for (int k = 0; k < DCTSIZE2; k++) {
        whole[k] = 1.0f / 8;
        factors[k] = table->quantval[k];
        waves[k / SIDE][k % SIDE] = wave(k / SIDE, k % SIDE);
    }
    darkroom_ssim ssim;
    darkroom_ssim_begin(&ssim, trials->ssim, trials->width, trials->height);
    for (uint32_t y = 0; y < light->high; y++) {
        quantise_row(light, y, light->lent);
        restore(row_of(light, y), whole, waves, light->wide, trials->samples[0], trials->stride);
        restore((const int16_t *)light->lent, factors, waves, light->wide, trials->samples[1], trials->stride);
        for (uint32_t line = 0; line < SIDE && y * SIDE + line < trials->height; line++)
            darkroom_ssim_row(
                &ssim, trials->samples[0] + line * trials->stride, trials->samples[1] + line * trials->stride);
    }
    return darkroom_ssim_end(&ssim);
}
