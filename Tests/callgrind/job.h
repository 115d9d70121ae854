/* What the files of kernels share; see kernels.c. */
#ifndef JOB_H
#define JOB_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "CDarkroomPixels.h"

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

/* The kernels of each file; the last has no name. */
extern const struct kernel pixel_kernels[], window_kernels[], row_filter_kernels[], colour_kernels[];

/* Ends the program where there is no memory. */
void *allocate(size_t bytes);

static inline size_t samples(const struct job *job)
{
    return job->pixels * (size_t)job->channels;
}

/* What was done up to here was preparation, and is not counted. */
static inline void prepared(void) { CALLGRIND_ZERO_STATS; }

#endif
