/* Kernels for colour spaces. */
#include <math.h>

#include "job.h"

enum { KNOTS = 1024, STEPS = 9 };

/* As from Display P3 to sRGB: the dark and the light end are cut. */
static const darkroom_space *display_p3(void)
{
    static darkroom_space *space;
    if (space != NULL)
        return space;
    static double curve[KNOTS];
    for (int knot = 0; knot < KNOTS; knot++) curve[knot] = pow(knot / (KNOTS - 1.0), 2.2);
    const double *const curves[3] = {curve, curve, curve};
    const double matrix[9] = {1.2249, -0.2249, 0, -0.0421, 1.0421, 0, -0.0196, -0.0786, 1.0983};
    space = darkroom_space_new(curves, KNOTS, matrix);
    if (space == NULL)
        exit(2);
    return space;
}

static void space(const struct job *job)
{
    const darkroom_space *way = display_p3();
    memcpy(job->out, job->rows[0], samples(job) * (size_t)job->depth / 8);
    prepared();
    darkroom_convert_space(job->out, job->pixels, job->channels, job->depth, way);
}

/* For four channels at most. */
static const uint16_t *table_of_noise(void)
{
    static uint16_t table[STEPS * STEPS * STEPS * STEPS * 3];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        table[i] = (uint16_t)((state = state * 1664525 + 1013904223) >> 16);
    return table;
}

static void convert(const struct job *job, size_t out_step, int channels)
{
    const uint16_t *table = table_of_noise();
    prepared();
    darkroom_convert_table(
        job->rows[0], (size_t)job->channels, job->out, out_step, job->pixels, channels, job->depth, table, STEPS);
}

static void table_rgb(const struct job *job) { convert(job, (size_t)job->channels, 3); }
static void table_inks(const struct job *job) { convert(job, 3, 4); }

const struct kernel colour_kernels[] = {
    {"space-rgb8", 3, 8, 3, space},
    {"space-rgba8", 4, 8, 4, space},
    {"space-rgb16", 3, 16, 6, space},
    {"space-rgba16", 4, 16, 8, space},
    {"table-rgb8", 3, 8, 3, table_rgb},
    {"table-rgba8", 4, 8, 4, table_rgb},
    {"table-rgb16", 3, 16, 6, table_rgb},
    {"table-cmyk8", 4, 8, 3, table_inks},
    {"table-cmyk16", 4, 16, 6, table_inks},
    {NULL, 0, 0, 0, NULL},
};
