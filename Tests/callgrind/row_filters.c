/* PNG's row filters, undone and chosen. */
#include "job.h"

/* Ten rows make two rounds of the wavefront, the second not full. */
enum { FILTERED = 10 };

/* The rows one after the other, with `lead` bytes before each, all zero, and `tail` after the last. */
static uint8_t *laid_out(const struct job *job, size_t lead, size_t tail)
{
    const size_t row_bytes = samples(job) * (size_t)(job->depth / 8);
    uint8_t *rows = allocate(FILTERED * (lead + row_bytes) + tail);
    memset(rows, 0, FILTERED * (lead + row_bytes) + tail);
    for (size_t k = 0; k < FILTERED; k++)
        memcpy(rows + k * (lead + row_bytes) + lead, job->rows[k], row_bytes);
    return rows;
}

/* All five filters, and each after another than itself. */
static void unfilter(const struct job *job)
{
    const int pixel_bytes = job->channels * job->depth / 8;
    const size_t row_bytes = job->pixels * (size_t)pixel_bytes;
    uint8_t *filtered = laid_out(job, 1, 0);
    for (size_t k = 0; k < FILTERED; k++)
        filtered[k * (row_bytes + 1)] = (uint8_t)(k * 3 % 5);
    prepared();
    darkroom_unfilter(
        filtered, FILTERED, row_bytes, pixel_bytes, job->depth == 16, job->rows[FILTERED],
        job->out);
    free(filtered);
}

/* Filters all rows but the first, which is the one above the others: by one filter after the other, or, if
 * there is none, by those that are chosen. */
static void filter_rows(const struct job *job, const int *filters, size_t count)
{
    const int pixel_bytes = job->channels * job->depth / 8;
    const size_t row_bytes = job->pixels * (size_t)pixel_bytes;
    const size_t stride = row_bytes + DARKROOM_PNG_MARGIN;
    uint8_t *rows = laid_out(job, DARKROOM_PNG_MARGIN, DARKROOM_PNG_OVERHANG);
    const uint8_t *first = rows + stride + DARKROOM_PNG_MARGIN;
    uint8_t *filtered = allocate(FILTERED * (row_bytes + 1) + DARKROOM_PNG_OVERHANG);
    prepared();
    if (count == 0)
        darkroom_png_choose(first, stride, row_bytes, pixel_bytes, FILTERED - 1, filtered);
    for (size_t i = 0; i < count; i++)
        darkroom_png_apply(
            first, stride, row_bytes, pixel_bytes, FILTERED - 1, filters[i], filtered);
    memcpy(job->out, filtered, (FILTERED - 1) * (row_bytes + 1));
    free(filtered);
    free(rows);
}

static void choose(const struct job *job) { filter_rows(job, NULL, 0); }

/* Sub, Up and Average. */
static void apply(const struct job *job)
{
    static const int filters[] = {1, 2, 3};
    filter_rows(job, filters, 3);
}

const struct kernel row_filter_kernels[] = {
    {"unfilter-gray8", 1, 8, FILTERED, unfilter},
    {"unfilter-rgb8", 3, 8, 3 * FILTERED, unfilter},
    {"unfilter-rgba8", 4, 8, 4 * FILTERED, unfilter},
    {"unfilter-rgb16", 3, 16, 6 * FILTERED, unfilter},
    {"choose-gray8", 1, 8, 2 * FILTERED, choose},
    {"choose-rgb8", 3, 8, 4 * FILTERED, choose},
    {"choose-rgba8", 4, 8, 5 * FILTERED, choose},
    {"choose-rgb16", 3, 16, 7 * FILTERED, choose},
    {"apply-gray8", 1, 8, 2 * FILTERED, apply},
    {"apply-rgb8", 3, 8, 4 * FILTERED, apply},
    {NULL, 0, 0, 0, NULL},
};
