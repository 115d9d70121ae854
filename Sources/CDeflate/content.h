/* The kind of filtered rows, which decides which compression is useful. */
#ifndef DARKROOM_CONTENT_H
#define DARKROOM_CONTENT_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    /* A photograph: a search for matches is not useful. */
    DARKROOM_PHOTOGRAPHED,
    /* A photograph whose channels depend on each other, for example because it is toned with one colour, or
     * with few colours: whole pixels repeat. */
    DARKROOM_TONED,
    /* A blurred or enlarged photograph, or a gradient: it repeats only in its differences. */
    DARKROOM_SMOOTH,
    /* A drawing with many repetitions. */
    DARKROOM_DRAWN,
} darkroom_content;

/* Rows without the numbers of their filters. */
typedef struct {
    const uint8_t *first;
    size_t bytes;  /* of a row */
    size_t stride; /* from one row to the next */
    size_t count;
} darkroom_rows;

/* How many rows up deflate can refer to. SIZE_MAX if this is fewer than two, or if rows are too short to
 * compare them by a piece of one. */
size_t darkroom_repeat_reach(size_t row_bytes);

/*
 * Whether most rows repeat a row within reach, but above the previous one, as in patterns and tiles. Samples
 * are too short for such distances, and the row filters do not see them. Equal bytes are no accident in a
 * photograph. One row beyond the reach counts too, because its right end is within reach. Returns 0 if there
 * are no more rows than that.
 */
int darkroom_has_repeated_rows(const darkroom_rows *rows);

/* How often the value of a channel can be predicted, in `told` attempts: none if pixels have fewer than three
 * channels of 8 bits. */
typedef struct {
    unsigned told;
    unsigned foretold; /* it is what it was when the channel before it last had this value */
    unsigned repeated; /* it is what it was in the last pixel */
    /* The pixels have few colours, as those of a palette: they repeat, but not their differences. */
    int has_few_colours;
} darkroom_foresight;

/* Examines pieces of rows from the whole strip: of the unfiltered rows, and of the filtered ones. */
darkroom_foresight darkroom_foresee(
    const darkroom_rows *plain, const darkroom_rows *filtered, int pixel_bytes, int depth);

/* Whether the channels depend on each other so much, or the colours are so few, that a sample is worth its time. */
int darkroom_may_be_toned(darkroom_foresight seen);

/* Whether the filtered rows repeat themselves, by a few thousand of their bytes. */
int darkroom_repeats_in_differences(const darkroom_rows *filtered, int pixel_bytes);

/* Determines the kind from a few thousand of the bytes of the unfiltered rows. `repeats` is what the function above
 * returns, and `coded` is the number of bytes that Huffman codes and runs need for all of the filtered rows. */
darkroom_content darkroom_look(
    const darkroom_rows *plain, const darkroom_rows *filtered, int pixel_bytes,
    darkroom_foresight seen, int repeats, size_t coded);

#endif
