/* What filtered rows look like, and so what pays. */
#ifndef DARKROOM_CONTENT_H
#define DARKROOM_CONTENT_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    /* A photograph: matches are not worth looking for. */
    DARKROOM_PHOTOGRAPHED,
    /* One whose channels depend on each other, as when it is toned with one colour: whole pixels
     * repeat. */
    DARKROOM_TONED,
    /* A drawing: much repeats itself. */
    DARKROOM_DRAWN,
} darkroom_content;

/* Rows without their filters' numbers. */
typedef struct {
    const uint8_t *first;
    size_t bytes;  /* of a row */
    size_t stride; /* from one row to the next */
    size_t count;
} darkroom_rows;

/* How many rows up deflate reaches. SIZE_MAX where that is less than two, or rows are too short to
 * tell by a piece of one whether it is the same. */
size_t darkroom_repeat_reach(size_t row_bytes);

/*
 * Whether most rows repeat one within reach, but further up than the last, as those of patterns and
 * tiles do: at distances that samples are too short for, and the row filters do not see. Exactly the
 * same bytes are no accident in a photograph. One row beyond the reach counts too, for its right end is
 * within. 0 where there are no more rows than that.
 */
int darkroom_has_repeated_rows(const darkroom_rows *rows);

/* Tells it from a few thousand of the bytes: of the rows as they are, and filtered, when `coded` is
 * how many bytes Huffman codes and runs need for all of them. */
darkroom_content darkroom_look(
    const darkroom_rows *plain, const darkroom_rows *filtered, int pixel_bytes, int depth,
    size_t coded);

#endif
