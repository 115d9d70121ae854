/* Kernels that look at many pixels for each: resampling, blur and what goes with it. */
#include "job.h"

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

static void blend_planes(const struct job *job, size_t count)
{
    int16_t weights[ROWS];
    for (size_t k = 0; k < count; k++)
        weights[k] = (int16_t)(k * 31 % 61 * 300 - 3000);
    darkroom_blend_planes_8(
        (const uint8_t *const *)job->rows, weights, count, 17, job->out, job->pixels, job->pixels,
        job->channels);
}

static void blend_planes_8(const struct job *job) { blend_planes(job, ROWS); }
static void blend_planes_8_odd(const struct job *job) { blend_planes(job, 7); }

static void convolve_planes(const struct job *job, size_t taps)
{
    const size_t width = job->pixels, plane = width + taps;
    int16_t *in = allocate(plane * 3 * sizeof *in);
    uint32_t *first = allocate(width * sizeof *first);
    int16_t *weights = allocate(width * taps * sizeof *weights);
    for (size_t i = 0; i < plane * (size_t)job->channels; i++)
        in[i] = (int16_t)(((uint8_t *)job->rows[0])[i % samples(job)] * 64);
    for (size_t i = 0; i < width; i++) {
        first[i] = (uint32_t)(i * 31 % width);
        for (size_t k = 0; k < taps; k++)
            weights[i * taps + k] = (int16_t)((i * 31 + k * 17) % 61 * 200 - 3000);
    }
    prepared();
    darkroom_convolve_planes_8(
        in, plane, first, weights, taps, 15, job->out, width, job->channels);
    free(weights);
    free(first);
    free(in);
}

static void convolve_planes_16(const struct job *job) { convolve_planes(job, 16); }
static void convolve_planes_48(const struct job *job) { convolve_planes(job, 48); }

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

/* Memory for `numbers` doubles, as the cosines want it. */
static double *allocate_aligned(size_t numbers)
{
    double *memory = aligned_alloc(64, (numbers * sizeof *memory + 63) / 64 * 64);
    if (!memory)
        abort();
    return memory;
}

/* A window of 25 pixels. */
static void make_cosines(struct darkroom_cosines *kernel, size_t terms)
{
    const double weights[DARKROOM_COSINES_MANY] = {1.5, 0.6, 0.1, 0.02, 0.004, 1e-3, 1e-4, 1e-5};
    darkroom_cosines_make(kernel, 12, weights, terms);
}

static void cosine_step(const struct job *job, size_t terms)
{
    struct darkroom_cosines kernel;
    make_cosines(&kernel, terms);
    const size_t numbers = (samples(job) + 3) / 4 * 4;
    double *state = allocate_aligned(numbers * (2 + 2 * terms));
    double *out = allocate_aligned(numbers * DARKROOM_COSINE_ROWS);
    const void *const *rows = (const void *const *)job->rows;
    darkroom_cosine_start(state, &kernel, rows[0], job->pixels, job->channels, job->depth);
    prepared();
    darkroom_cosine_step(
        state, &kernel, rows, rows + 4, out, job->pixels, job->channels, job->depth);
    memcpy(job->out, out, samples(job) * DARKROOM_COSINE_ROWS * sizeof *out);
    free(out);
    free(state);
}

static void cosine_step_few(const struct job *job) { cosine_step(job, DARKROOM_COSINES_FEW); }
static void cosine_step_many(const struct job *job) { cosine_step(job, DARKROOM_COSINES_MANY); }

static void cosine_rows(const struct job *job, size_t terms)
{
    struct darkroom_cosines kernel;
    make_cosines(&kernel, terms);
    const size_t numbers = samples(job) * DARKROOM_COSINE_ROWS;
    double *in = allocate_aligned(numbers);
    double *out = allocate_aligned(numbers);
    for (size_t i = 0; i < numbers; i++)
        in[i] = (double)job->floats[i % DARKROOM_COSINE_ROWS][i / DARKROOM_COSINE_ROWS];
    prepared();
    darkroom_cosine_rows(in, &kernel, out, job->pixels, job->channels);
    darkroom_cosine_row(out, 1, job->out, samples(job));
    free(out);
    free(in);
}

static void cosine_rows_few(const struct job *job) { cosine_rows(job, DARKROOM_COSINES_FEW); }
static void cosine_rows_many(const struct job *job) { cosine_rows(job, DARKROOM_COSINES_MANY); }

static void sharpen(const struct job *job)
{
    darkroom_sharpen(
        job->rows[0], job->floats[1], job->out, job->pixels, job->channels, job->depth, 0.7, 2);
}

const struct kernel window_kernels[] = {
    {"convolve-gray", 1, 8, 4, convolve_short},
    {"convolve-graya", 2, 8, 8, convolve_short},
    {"convolve-rgb", 3, 8, 12, convolve_short},
    {"convolve-rgba", 4, 8, 16, convolve_short},
    {"convolve-long-rgb", 3, 8, 12, convolve_long},
    {"convolve-long-rgba", 4, 8, 16, convolve_long},
    {"blend-rgb", 3, 8, 12, blend},
    {"blend-odd-rgb", 3, 8, 12, blend_odd},
    {"blend-long-rgb", 3, 8, 12, blend_long},
    {"blend-8-rgb", 3, 8, 12, blend_8},
    {"blend-8-odd-gray", 1, 8, 4, blend_8_odd},
    {"blend-planes-8-gray", 1, 8, 2, blend_planes_8},
    {"blend-planes-8-rgb", 3, 8, 6, blend_planes_8},
    {"blend-planes-8-odd-rgb", 3, 8, 6, blend_planes_8_odd},
    {"convolve-planes-8-gray", 1, 8, 1, convolve_planes_16},
    {"convolve-planes-8-rgb", 3, 8, 3, convolve_planes_16},
    {"convolve-planes-8-long-rgb", 3, 8, 3, convolve_planes_48},
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
    {"cosine-step-rgb8", 3, 8, 96, cosine_step_few},
    {"cosine-step-graya16", 2, 16, 64, cosine_step_many},
    {"cosine-step-rgba16", 4, 16, 128, cosine_step_many},
    {"cosine-rows-rgb", 3, 8, 12, cosine_rows_few},
    {"cosine-rows-rgba", 4, 8, 16, cosine_rows_many},
    {"sharpen-gray8", 1, 8, 1, sharpen},
    {"sharpen-rgb8", 3, 8, 3, sharpen},
    {"sharpen-rgba8", 4, 8, 4, sharpen},
    {"sharpen-rgb16", 3, 16, 6, sharpen},
    {"sharpen-rgba16", 4, 16, 8, sharpen},
    {NULL, 0, 0, 0, NULL},
};
