/*
 * Runs the kernels of CPixels by themselves, without Swift.
 *
 *     kernels compare        holds the scalar and the AVX2 path of each kernel against each other, at
 *                            odd widths and places. Built with sanitizers it also finds what reads or
 *                            writes beyond a row: every row is a block of memory of its own.
 *     kernels count LEVEL    runs each kernel once over rows of WIDTH pixels, under callgrind, which
 *                            writes a profile for each. LEVEL is scalar or avx2.
 *
 * To add a kernel, write a function that runs it on a job, and a line in `kernels`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "CPixels.h"

/* WIDTH: of the rows that are counted. RADIUS: of the blurs (that of sigma 2). */
enum { WIDTH = 4096, RADIUS = 8, ROWS = 30, LONG = 150 };

/* One call: rows of `pixels` pixels as input, and room for the result. */
struct job {
    size_t pixels;
    int channels, depth;
    void *rows[ROWS];
    /* The same numbers as floats of at most full scale. */
    float *floats[ROWS];
    void *out;
};

struct kernel {
    const char *name;
    int channels, depth;
    /* Bytes of the result for a pixel. */
    size_t out_bytes;
    void (*run)(const struct job *job);
};

static size_t samples(const struct job *job) { return job->pixels * (size_t)job->channels; }

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fputs("kernels: no memory\n", stderr);
        exit(2);
    }
    return memory;
}

/* What was done up to here was preparation, and is not counted. */
static void prepared(void) { CALLGRIND_ZERO_STATS; }

/* For kernels that work in place: the first row becomes the result. */
static void *copied(const struct job *job)
{
    memcpy(job->out, job->rows[0], samples(job) * (size_t)(job->depth / 8));
    prepared();
    return job->out;
}

/* ---- Colour ---------------------------------------------------------------------------------- */

static const double sepia[9] = {0.393, 0.769, 0.189, 0.349, 0.686, 0.168, 0.272, 0.534, 0.131};
/* Saturation at 40: large weights of both signs. */
static const double vivid[9] = {31.693, -27.885, -2.808, -8.307, 12.115, -2.808,
                                -8.307, -27.885, 37.192};
static const double mono[4] = {0.18071, 0.60792, 0.06137, 19.125};

static void matrix(const struct job *job)
{
    darkroom_matrix(copied(job), job->pixels, job->channels, job->depth, sepia);
}

static void vivid_matrix(const struct job *job)
{
    darkroom_matrix(copied(job), job->pixels, job->channels, job->depth, vivid);
}

static void luma(const struct job *job)
{
    darkroom_luma(job->rows[0], job->out, job->pixels, job->channels, job->depth, mono);
}

static void luma_in_place(const struct job *job)
{
    void *row = allocate(samples(job) * (size_t)(job->depth / 8));
    memcpy(row, job->rows[0], samples(job) * (size_t)(job->depth / 8));
    prepared();
    darkroom_luma(row, row, job->pixels, job->channels, job->depth, mono);
    memcpy(job->out, row, job->pixels * (size_t)(job->channels - 2) * (size_t)(job->depth / 8));
    free(row);
}

static void tint(const struct job *job)
{
    const double factors[3] = {1.351, 1.203, 0.937};
    darkroom_tint(job->rows[0], job->out, job->pixels, job->channels, job->depth, factors);
}

static void map(const struct job *job, int first, int count)
{
    static uint16_t sixteen[65536];
    static uint8_t eight[256];
    if (sixteen[0] == 0) {
        darkroom_affine_table(sixteen, 16, -0.7, 60000);
        darkroom_affine_table(eight, 8, -0.7, 250);
    }
    darkroom_map(
        copied(job), job->pixels, job->channels, job->depth, first, count,
        job->depth == 8 ? (const void *)eight : sixteen);
}

static void map_all(const struct job *job) { map(job, 0, job->channels); }
static void map_colour(const struct job *job) { map(job, 0, job->channels - 1); }
static void map_alpha(const struct job *job) { map(job, job->channels - 1, 1); }

/* ---- Rows of floats -------------------------------------------------------------------------- */

enum { CELLS = 512 };
/* A transfer function for tests: the square. */
struct light {
    float light[65536], thresholds[65536];
    uint16_t starts[CELLS + 1];
};

static const struct light *light_of(int depth)
{
    static struct light eight, sixteen;
    struct light *table = depth == 8 ? &eight : &sixteen;
    const unsigned max = depth == 8 ? 255 : 65535;
    if (table->light[max] > 0)
        return table;
    for (unsigned v = 0; v <= max; v++) {
        const float x = (float)v / (float)max;
        const float below = ((float)v - 0.5F) / (float)max;
        table->light[v] = x * x;
        table->thresholds[v] = v == 0 ? 0 : below * below;
    }
    unsigned sample = 0;
    for (unsigned i = 0; i <= CELLS; i++) {
        while (sample < max && (float)i / CELLS >= table->thresholds[sample + 1])
            sample++;
        table->starts[i] = (uint16_t)sample;
    }
    return table;
}

static void load(const struct job *job)
{
    darkroom_load(job->rows[0], job->out, job->pixels, job->channels, job->depth, NULL);
}

static void load_light(const struct job *job)
{
    darkroom_load(
        job->rows[0], job->out, job->pixels, job->channels, job->depth,
        light_of(job->depth)->light);
}

static void store(const struct job *job)
{
    darkroom_store(job->floats[0], job->out, job->pixels, job->channels, job->depth);
}

static void store_light(const struct job *job)
{
    const struct light *table = light_of(job->depth);
    darkroom_store_light(
        job->floats[0], job->out, job->pixels, job->channels, job->depth, table->thresholds,
        table->starts, CELLS);
}

/* ---- Resampling ------------------------------------------------------------------------------ */

static void convolve(const struct job *job, size_t longest)
{
    const size_t width = job->pixels;
    uint32_t *first = allocate(width * sizeof *first);
    size_t *offsets = allocate((width + 1) * sizeof *offsets);
    float *weights = allocate(width * longest * sizeof *weights);
    offsets[0] = 0;
    for (size_t i = 0; i < width; i++) {
        size_t taps = longest - i % 7;
        taps = taps < width ? taps : width;
        first[i] = (uint32_t)(i * (width - taps) / width);
        offsets[i + 1] = offsets[i] + taps;
        for (size_t k = 0; k < taps; k++)
            weights[offsets[i] + k] = (float)((i * 31 + k * 17) % 61) / 900.0F - 0.01F;
    }
    prepared();
    darkroom_convolve(job->floats[0], job->out, width, job->channels, first, offsets, weights);
    free(weights);
    free(offsets);
    free(first);
}

static void convolve_short(const struct job *job) { convolve(job, ROWS); }
static void convolve_long(const struct job *job) { convolve(job, LONG); }

static void blend_rows(const struct job *job, size_t count)
{
    const float *rows[LONG];
    float weights[LONG];
    for (size_t k = 0; k < count; k++) {
        rows[k] = job->floats[k % ROWS];
        weights[k] = (float)(k * 17 % 61) / 900.0F - 0.01F;
    }
    prepared();
    darkroom_blend(rows, weights, count, job->out, samples(job));
}

static void blend(const struct job *job) { blend_rows(job, ROWS); }
static void blend_odd(const struct job *job) { blend_rows(job, 7); }
static void blend_long(const struct job *job) { blend_rows(job, LONG); }

static void blend_bytes(const struct job *job, size_t count)
{
    int16_t weights[ROWS];
    for (size_t k = 0; k < count; k++)
        weights[k] = (int16_t)(k * 31 % 61 * 500 - 3000);
    darkroom_blend_8(
        (const uint8_t *const *)job->rows, weights, count, 17, job->out, samples(job));
}

static void blend_8(const struct job *job) { blend_bytes(job, ROWS); }
static void blend_8_odd(const struct job *job) { blend_bytes(job, 7); }

/* ---- Blur ------------------------------------------------------------------------------------ */

/* The Gaussian of sigma 2, in units of 2^-17 at 6, 7 and 8 pixels rounded to keep the sum. */
static const int16_t whole[RADIUS + 1] = {26148, 23076, 15858, 8488, 3538, 1149, 290, 57, 6};

static void real_weights(float weights[RADIUS + 1])
{
    for (int k = 0; k <= RADIUS; k++)
        weights[k] = (float)whole[k] * 0x1p-17F;
}

static void blur_columns(const struct job *job)
{
    float weights[RADIUS + 1];
    real_weights(weights);
    darkroom_blur_columns(
        (const void *const *)job->rows, weights, RADIUS, job->out, job->pixels, job->channels,
        job->depth);
}

static void blur_row(const struct job *job)
{
    float weights[RADIUS + 1];
    real_weights(weights);
    const size_t end = RADIUS * (size_t)job->channels;
    float *padded = allocate((samples(job) + 2 * end) * sizeof *padded);
    for (size_t i = 0; i < samples(job) + 2 * end; i++)
        padded[i] = job->floats[0][i % samples(job)];
    prepared();
    darkroom_blur_row(padded, weights, RADIUS, job->out, job->pixels, job->channels);
    free(padded);
}

static void blur_columns_8(const struct job *job)
{
    darkroom_blur_columns_8(
        (const uint8_t *const *)job->rows, whole, RADIUS, 17, job->out, samples(job));
}

static int16_t *padded_8(const struct job *job)
{
    const size_t end = RADIUS * (size_t)job->channels;
    int16_t *padded = allocate((samples(job) + 2 * end) * sizeof *padded);
    for (size_t i = 0; i < samples(job) + 2 * end; i++)
        padded[i] = (int16_t)(((uint8_t *)job->rows[0])[i % samples(job)] * 64);
    prepared();
    return padded;
}

/* The weights of an odd radius are taken in pairs with one left over. */
static void blur_columns_8_odd(const struct job *job)
{
    darkroom_blur_columns_8(
        (const uint8_t *const *)job->rows, whole, RADIUS - 1, 17, job->out, samples(job));
}

static void blur_row_8_of(const struct job *job, size_t radius)
{
    int16_t *padded = padded_8(job);
    darkroom_blur_row_8(padded, whole, radius, 17, job->out, job->pixels, job->channels);
    free(padded);
}

static void blur_row_8(const struct job *job) { blur_row_8_of(job, RADIUS); }
static void blur_row_8_odd(const struct job *job) { blur_row_8_of(job, RADIUS - 1); }

static void blur_row_8_unrounded(const struct job *job)
{
    int16_t *padded = padded_8(job);
    darkroom_blur_row_8_unrounded(
        padded, whole, RADIUS, 17, job->out, job->pixels, job->channels);
    free(padded);
}

static void box_step(const struct job *job)
{
    const size_t widths[3] = {31, 32, 34};
    darkroom_box_start(job->out, job->rows[0], widths, job->pixels, job->channels, job->depth);
    prepared();
    darkroom_box_step(
        job->out, (const void *const *)job->rows, job->pixels, job->channels, job->depth);
}

static void sharpen(const struct job *job)
{
    darkroom_sharpen(
        job->rows[0], job->floats[1], job->out, job->pixels, job->channels, job->depth, 0.7, 2);
}

/* ---- The table ------------------------------------------------------------------------------- */

static const struct kernel kernels[] = {
    {"matrix-rgb8", 3, 8, 3, matrix},
    {"matrix-rgba8", 4, 8, 4, matrix},
    {"matrix-rgb16", 3, 16, 6, matrix},
    {"matrix-rgba16", 4, 16, 8, matrix},
    {"vivid-rgb8", 3, 8, 3, vivid_matrix},
    {"vivid-rgba8", 4, 8, 4, vivid_matrix},
    {"luma-rgb8", 3, 8, 1, luma},
    {"luma-rgba8", 4, 8, 2, luma},
    {"luma-rgb16", 3, 16, 2, luma},
    {"luma-rgba16", 4, 16, 4, luma},
    {"luma-in-place-rgb8", 3, 8, 1, luma_in_place},
    {"luma-in-place-rgba8", 4, 8, 2, luma_in_place},
    {"luma-in-place-rgb16", 3, 16, 2, luma_in_place},
    {"luma-in-place-rgba16", 4, 16, 4, luma_in_place},
    {"tint-gray8", 1, 8, 3, tint},
    {"tint-graya8", 2, 8, 4, tint},
    {"tint-gray16", 1, 16, 6, tint},
    {"tint-graya16", 2, 16, 8, tint},
    {"map-gray8", 1, 8, 1, map_all},
    {"map-rgb8", 3, 8, 3, map_all},
    {"map-rgb16", 3, 16, 6, map_all},
    {"map-colour-graya8", 2, 8, 2, map_colour},
    {"map-colour-rgba8", 4, 8, 4, map_colour},
    {"map-colour-rgba16", 4, 16, 8, map_colour},
    {"map-alpha-graya8", 2, 8, 2, map_alpha},
    {"map-alpha-rgba8", 4, 8, 4, map_alpha},
    {"load-gray8", 1, 8, 4, load},
    {"load-graya8", 2, 8, 8, load},
    {"load-rgb8", 3, 8, 12, load},
    {"load-rgba8", 4, 8, 16, load},
    {"load-rgb16", 3, 16, 12, load},
    {"load-rgba16", 4, 16, 16, load},
    {"load-light-rgb8", 3, 8, 12, load_light},
    {"load-light-rgba16", 4, 16, 16, load_light},
    {"store-gray8", 1, 8, 1, store},
    {"store-graya8", 2, 8, 2, store},
    {"store-rgb8", 3, 8, 3, store},
    {"store-rgba8", 4, 8, 4, store},
    {"store-rgb16", 3, 16, 6, store},
    {"store-rgba16", 4, 16, 8, store},
    {"store-light-rgb8", 3, 8, 3, store_light},
    {"store-light-rgba16", 4, 16, 8, store_light},
    {"convolve-gray", 1, 8, 4, convolve_short},
    {"convolve-graya", 2, 8, 8, convolve_short},
    {"convolve-rgb", 3, 8, 12, convolve_short},
    {"convolve-rgba", 4, 8, 16, convolve_short},
    {"convolve-long-rgb", 3, 8, 12, convolve_long},
    {"blend-rgb", 3, 8, 12, blend},
    {"blend-odd-rgb", 3, 8, 12, blend_odd},
    {"blend-long-rgb", 3, 8, 12, blend_long},
    {"blend-8-rgb", 3, 8, 12, blend_8},
    {"blend-8-odd-gray", 1, 8, 4, blend_8_odd},
    {"blur-columns-gray16", 1, 16, 4, blur_columns},
    {"blur-columns-graya8", 2, 8, 8, blur_columns},
    {"blur-columns-rgb16", 3, 16, 12, blur_columns},
    {"blur-columns-rgba8", 4, 8, 16, blur_columns},
    {"blur-columns-rgba16", 4, 16, 16, blur_columns},
    {"blur-row-rgb", 3, 8, 12, blur_row},
    {"blur-row-rgba", 4, 8, 16, blur_row},
    {"blur-columns-8-gray", 1, 8, 2, blur_columns_8},
    {"blur-columns-8-rgb", 3, 8, 6, blur_columns_8},
    {"blur-row-8-gray", 1, 8, 1, blur_row_8},
    {"blur-row-8-rgb", 3, 8, 3, blur_row_8},
    {"blur-columns-8-odd-rgb", 3, 8, 6, blur_columns_8_odd},
    {"blur-row-8-odd-rgb", 3, 8, 3, blur_row_8_odd},
    {"blur-row-8-unrounded-rgb", 3, 8, 12, blur_row_8_unrounded},
    {"box-step-rgb8", 3, 8, 72, box_step},
    {"box-step-rgba16", 4, 16, 96, box_step},
    {"sharpen-gray8", 1, 8, 1, sharpen},
    {"sharpen-rgb8", 3, 8, 3, sharpen},
    {"sharpen-rgba8", 4, 8, 4, sharpen},
    {"sharpen-rgb16", 3, 16, 6, sharpen},
    {"sharpen-rgba16", 4, 16, 8, sharpen},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* The generator SplitMix64. */
static uint64_t noise(void)
{
    static uint64_t state = 1;
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

/* Noise in which the ends of the scale are frequent. */
static unsigned noisy_sample(int depth)
{
    const unsigned max = depth == 8 ? 255 : 65535;
    const uint64_t random = noise();
    switch (random % 8) {
    case 0: return 0;
    case 1: return max;
    default: return (unsigned)(random >> 8) & max;
    }
}

/* Each row ends where its memory ends, and begins `shift` samples after its beginning. */
static void start(struct job *job, const struct kernel *kernel, size_t pixels, size_t shift)
{
    job->pixels = pixels;
    job->channels = kernel->channels;
    job->depth = kernel->depth;
    const size_t count = samples(job);
    const size_t bytes = (size_t)job->depth / 8;
    for (int k = 0; k < ROWS; k++) {
        job->rows[k] = (uint8_t *)allocate((count + shift) * bytes) + shift * bytes;
        job->floats[k] = (float *)allocate((count + shift) * sizeof(float)) + shift;
        for (size_t i = 0; i < count; i++) {
            const unsigned v = noisy_sample(job->depth);
            if (job->depth == 8)
                ((uint8_t *)job->rows[k])[i] = (uint8_t)v;
            else
                ((uint16_t *)job->rows[k])[i] = (uint16_t)v;
            /* A fraction, and a little beyond the ends of the scale. */
            job->floats[k][i] = (float)v * 1.01F - (float)(noise() % 16) / 13;
        }
    }
    job->out = NULL;
}

static void end(struct job *job, size_t shift)
{
    for (int k = 0; k < ROWS; k++) {
        free((uint8_t *)job->rows[k] - shift * (size_t)(job->depth / 8));
        free(job->floats[k] - shift);
    }
}

/* ---- What is done with them ------------------------------------------------------------------ */

/* The result of a job at a level; the caller frees it. */
static uint8_t *result(struct job *job, const struct kernel *kernel, darkroom_cpu level)
{
    const size_t bytes = job->pixels * kernel->out_bytes;
    uint8_t *out = allocate(bytes);
    memset(out, 0xA5, bytes);
    job->out = out;
    darkroom_cpu_limit(level);
    kernel->run(job);
    return out;
}

static int compare_widths(const struct kernel *kernel)
{
    for (size_t width = 1; width <= 69; width++) {
        /* The last two are beyond the blocks in which some kernels work. */
        const size_t pixels = width <= 67 ? width : width == 68 ? 515 : 1031;
        struct job job;
        const size_t shift = width % 5;
        start(&job, kernel, pixels, shift);
        uint8_t *scalar = result(&job, kernel, DARKROOM_CPU_SCALAR);
        uint8_t *wide = result(&job, kernel, DARKROOM_CPU_AVX2);
        const int same = memcmp(scalar, wide, pixels * kernel->out_bytes) == 0;
        free(wide);
        free(scalar);
        end(&job, shift);
        if (!same) {
            printf("FAIL %s: AVX2 differs at %zu pixels\n", kernel->name, pixels);
            return 0;
        }
    }
    printf("ok %s\n", kernel->name);
    return 1;
}

static int compare(void)
{
    int good = 1;
    if (darkroom_cpu_level() < DARKROOM_CPU_AVX2)
        puts("note: this processor has no AVX2, so nothing is compared");
    for (size_t k = 0; k < KERNELS; k++)
        good &= compare_widths(&kernels[k]);
    return good ? 0 : 1;
}

static int count(darkroom_cpu level)
{
    darkroom_cpu_limit(level);
    if (darkroom_cpu_level() != level) {
        fputs("kernels: this processor has not got that level\n", stderr);
        return 3;
    }
    for (size_t k = 0; k < KERNELS; k++) {
        struct job job;
        start(&job, &kernels[k], WIDTH, 0);
        /* Once before, for tables that are made the first time. */
        free(result(&job, &kernels[k], level));
        uint8_t *out = allocate(WIDTH * kernels[k].out_bytes);
        job.out = out;
        prepared();
        kernels[k].run(&job);
        CALLGRIND_DUMP_STATS_AT(kernels[k].name);
        free(out);
        end(&job, 0);
    }
    return 0;
}

int main(int arguments, char **argument)
{
    if (arguments == 2 && strcmp(argument[1], "compare") == 0)
        return compare();
    if (arguments == 3 && strcmp(argument[1], "count") == 0)
        return count(
            strcmp(argument[2], "scalar") == 0 ? DARKROOM_CPU_SCALAR : DARKROOM_CPU_AVX2);
    fputs("usage: kernels compare | count scalar|avx2\n", stderr);
    return 64;
}
