/* The readers of PNG and JPEG in a codec process, `darkroom-codec-basic`. Each call of a reader is one message, and so is
 * its answer. The state lies at the beginning of the memory that both processes share, rows and bytes lie behind it. Who
 * reads the state copies it first: the process may be hostile and change it at any time. */
#ifndef DARKROOM_REMOTE_H
#define DARKROOM_REMOTE_H

#include <stdint.h>

#include "darkroom_jpeg.h"
#include "darkroom_png.h"

/* Where rows and bytes begin in the shared memory. */
enum { DARKROOM_REMOTE_DATA = 16 << 10 };

enum {
    DARKROOM_REMOTE_TEXT = 256,
    DARKROOM_REMOTE_WARNINGS = 16,
    DARKROOM_REMOTE_NAMES = 48,
    DARKROOM_REMOTE_NAME = 8, /* of bytes, and zeros if there are fewer */
    DARKROOM_REMOTE_EXIFS = 4,
};

/* The functions of darkroom_png.h and darkroom_jpeg.h with these names. A message has the number of the function as its
 * bits, and these arguments. */
typedef enum {
    DARKROOM_REMOTE_PNG_NEW = 1, /* bytes: the largest allocation, offset: the largest ancillary chunk; first: keeps
                                  * damaged pictures */
    DARKROOM_REMOTE_PNG_PREFIX,  /* count; the bytes are in the data */
    DARKROOM_REMOTE_PNG_OPEN,
    DARKROOM_REMOTE_PNG_START, /* first: the decoder */
    DARKROOM_REMOTE_PNG_KEEP_INDICES,
    DARKROOM_REMOTE_PNG_KEEP_DATA,
    DARKROOM_REMOTE_PNG_TAKE_DATA, /* count, first: is the end; the bytes are in the data */
    DARKROOM_REMOTE_PNG_ROWS,      /* count; the data have the former rows of an interlaced picture, and then the rows */
    DARKROOM_REMOTE_PNG_FINISH,
    DARKROOM_REMOTE_PNG_FACT, /* first: darkroom_remote_fact, offset, count; the bytes are in the data */

    DARKROOM_REMOTE_JPEG_NEW, /* offset: the largest profile; first: keeps damaged pictures */
    DARKROOM_REMOTE_JPEG_OPEN,
    DARKROOM_REMOTE_JPEG_START, /* first: the decoder, count: the divisor */
    DARKROOM_REMOTE_JPEG_VIEWS, /* count; the divisors are in the data, with 32 bits each */
    DARKROOM_REMOTE_JPEG_STEP,  /* the rows of each view are in the data, each with room for the most rows of a step */
    DARKROOM_REMOTE_JPEG_ABSORB,
    DARKROOM_REMOTE_JPEG_ROWS, /* count, bytes: of a row; the rows are in the data */
    DARKROOM_REMOTE_JPEG_FINISH,
    DARKROOM_REMOTE_JPEG_FACT, /* as of a PNG */
} darkroom_remote_function;

/* Metadata that is asked for in pieces. */
typedef enum {
    DARKROOM_REMOTE_PROFILE = 0,
    DARKROOM_REMOTE_EXIF = 1, /* and the next numbers: further ones */
} darkroom_remote_fact;

/* What a reader tells after each call. */
typedef struct {
    int32_t result; /* darkroom_png_result or darkroom_jpeg_result */
    int32_t system_error;
    uint32_t last_count;
    /* What the function returns beside the result: a number of bytes, or whether something is so. */
    uint32_t value;
    darkroom_png_header png;
    darkroom_jpeg_header jpeg;
    /* Its pointers mean nothing here. */
    darkroom_png_colour colour;
    char profile_name[DARKROOM_REMOTE_TEXT];
    uint32_t profile_bytes, exif_bytes[DARKROOM_REMOTE_EXIFS];
    uint32_t has_transparency, has_extra_rows, is_reference;
    uint32_t palette_count;
    uint8_t palette[256][4];
    /* Of each view, or of the one size. */
    uint32_t widths[DARKROOM_JPEG_MOST_VIEWS], heights[DARKROOM_JPEG_MOST_VIEWS], rows[DARKROOM_JPEG_MOST_VIEWS];
    char message[DARKROOM_REMOTE_TEXT];
    uint32_t warning_count, name_count;
    char warnings[DARKROOM_REMOTE_WARNINGS][DARKROOM_REMOTE_TEXT];
    char names[DARKROOM_REMOTE_NAMES][DARKROOM_REMOTE_NAME]; /* of chunks or segments */
} darkroom_remote_state;

/* Its arrays, which would be tuples in Swift: of hundreds of elements, on which the compiler spends a minute. */
static inline const char *darkroom_remote_message(const darkroom_remote_state *state)
{
    return state->message;
}

static inline const char *darkroom_remote_warning(const darkroom_remote_state *state, uint32_t index)
{
    return state->warnings[index];
}

static inline const char *darkroom_remote_name(const darkroom_remote_state *state, uint32_t index)
{
    return state->names[index];
}

static inline const char *darkroom_remote_profile_name(const darkroom_remote_state *state)
{
    return state->profile_name;
}

static inline const uint8_t *darkroom_remote_palette(const darkroom_remote_state *state)
{
    return state->palette[0];
}

_Static_assert(sizeof(darkroom_remote_state) <= DARKROOM_REMOTE_DATA, "the state is before the data");

#endif
