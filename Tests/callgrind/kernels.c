/*
 * Runs the kernels of CPixels by themselves, without Swift.
 *
 *     kernels compare        holds the AVX2 and the AVX-512 path of each kernel against the scalar one,
 *                            at odd widths and places. Built with sanitizers it also finds what reads
 *                            or writes beyond a row: every row is a block of memory of its own.
 *     kernels count LEVEL    runs each kernel once over rows of WIDTH pixels, under callgrind, which
 *                            writes a profile for each. LEVEL is scalar or avx2.
 *
 * To add a kernel, write a function that runs it on a job, and a line in its file's table.
 */
#include <stdio.h>

#include "job.h"

static const struct kernel *const groups[] = {
    pixel_kernels, window_kernels, row_filter_kernels, colour_kernels};
enum { GROUPS = sizeof groups / sizeof *groups };

void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fputs("kernels: no memory\n", stderr);
        exit(2);
    }
    return memory;
}

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
        const char *different = NULL;
        for (int level = DARKROOM_CPU_AVX2; level <= DARKROOM_CPU_AVX512; level++) {
            uint8_t *wide = result(&job, kernel, (darkroom_cpu)level);
            if (memcmp(scalar, wide, pixels * kernel->out_bytes) != 0)
                different = level == DARKROOM_CPU_AVX2 ? "AVX2" : "AVX-512";
            free(wide);
        }
        free(scalar);
        end(&job, shift);
        if (different != NULL) {
            printf("FAIL %s: %s differs at %zu pixels\n", kernel->name, different, pixels);
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
    else if (darkroom_cpu_level() < DARKROOM_CPU_AVX512)
        puts("note: this processor has no AVX-512, so its paths are not compared");
    for (size_t group = 0; group < GROUPS; group++)
        for (const struct kernel *kernel = groups[group]; kernel->name; kernel++)
            good &= compare_widths(kernel);
    return good ? 0 : 1;
}

static void count_one(const struct kernel *kernel, darkroom_cpu level)
{
    struct job job;
    start(&job, kernel, WIDTH, 0);
    /* Once before, for tables that are made the first time. */
    free(result(&job, kernel, level));
    uint8_t *out = allocate(WIDTH * kernel->out_bytes);
    job.out = out;
    prepared();
    kernel->run(&job);
    CALLGRIND_DUMP_STATS_AT(kernel->name);
    free(out);
    end(&job, 0);
}

static int count(darkroom_cpu level)
{
    darkroom_cpu_limit(level);
    if (darkroom_cpu_level() != level) {
        fputs("kernels: this processor has not got that level\n", stderr);
        return 3;
    }
    for (size_t group = 0; group < GROUPS; group++)
        for (const struct kernel *kernel = groups[group]; kernel->name; kernel++)
            count_one(kernel, level);
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
