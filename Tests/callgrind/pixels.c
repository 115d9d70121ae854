/* Kernels that look at one pixel at a time. */
#include "job.h"

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
        while (sample < max && (float)i / (float)CELLS >= table->thresholds[sample + 1])
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

const struct kernel pixel_kernels[] = {
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
    {NULL, 0, 0, 0, NULL},
};
