/* Pictures of all kinds of one format, made by its library (BMP by hand), with what a reader must find in them. They are
 * seeds for fuzzing, and the measure for the decoders. */
#ifndef DARKROOM_TESTS_SAMPLES_H
#define DARKROOM_TESTS_SAMPLES_H

#include "inside.h"

typedef struct {
    /* Of this: the size, colour, channels, depth and orientation. */
    darkroom_codec_header header;
    /* NULL if any will do. */
    const uint8_t *pixels;
    /* How much a sample may differ, in steps of 8 bits. */
    unsigned tolerance;
    /* An encoder may write less or more bits than it gets. */
    bool may_have_other_depth;
    /* The bits per sample in the file; 0 if any will do. */
    uint32_t stored_depth;
    /* From 1. */
    uint32_t page;
    /* How reading must fail; 0 if it must not. */
    darkroom_codec_result failure;
} sample_picture;

/* Each codec has its own: makes all kinds with this size. */
void samples_make(uint32_t width, uint32_t height);
/* Whether the library keeps nothing between pictures, so that all that one leaves in memory can be freed. */
extern const bool samples_leave_nothing;
/* The encoder's choices to try; without an encoder, none. */
extern const darkroom_codec_options sample_options[];
extern const size_t sample_options_count;

/* Who wants the samples has this. */
void sample_say(const char *name, const uint8_t *bytes, size_t count, const sample_picture *picture);

/* ---- Tools ---- */

/* The sample of a channel: blocks of random values from 0 to `most`. */
uint32_t sample_value(uint32_t x, uint32_t y, unsigned channel, uint32_t most);
/* One of a smooth picture with 8 bits, for lossy formats. */
uint8_t sample_smooth(uint32_t x, uint32_t y, unsigned channel);
/* A picture of this kind without pixels. Orientation 1. */
sample_picture sample_of(uint32_t width, uint32_t height, darkroom_codec_colour colour, bool has_alpha, uint32_t depth);
/* Its rows, of sample_value or of sample_smooth. */
uint8_t *sample_rows(const sample_picture *picture, bool is_smooth);
/* malloc that ends the process. */
void *sample_allocate(size_t count, size_t size);

/* A file in memory that grows. */
typedef struct {
    uint8_t *bytes;
    size_t count, room;
} sample_file;

void sample_put(sample_file *file, const void *bytes, size_t count);
/* Least byte first. */
void sample_put_number(sample_file *file, uint32_t value, unsigned bytes);

#endif
